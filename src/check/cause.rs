//! The likely cause of a message that is not the expected one.
//!
//! Nearly always it is a delimiter: one that the response does not spell as the response template does, or that does not match where it
//! should.

use std::ops::Range;

use super::fixture::Fixture;
use super::near::nearest;
use super::replay::Setting;
use crate::diagnostic::Label;
use crate::parser::Event;
use crate::pattern::{Pattern, fixed_texts};
use crate::response_template::{Field, ResponseTemplate};
use crate::value::{Path, Value, json};

/// A likely cause.
#[derive(Debug, Default)]
pub(super) struct Cause {
    /// Where in the response it shows.
    pub(super) span: Option<Range<usize>>,
    /// A label for that place.
    pub(super) label: Option<Label>,
    /// The delimiter, by its path in the document.
    pub(super) delimiter: Option<Path>,
    /// The cause, said of that delimiter.
    pub(super) text: String,
}

/// One delimiter of a response template.
struct Delimiter<'t> {
    path: Path,
    /// Its role, such as "the close of `content`".
    role: String,
    pattern: &'t Pattern,
}

impl<'t> Delimiter<'t> {
    fn new(path: Path, key: &str, role: String, pattern: &'t Pattern) -> Self {
        let key = match pattern.as_literals() {
            Some(_) => key.to_owned(),
            None => format!("{key}_pattern"),
        };
        Self {
            path: path.key(&key),
            role,
            pattern,
        }
    }

    fn of(field: &'t Field, key: &str) -> Option<Self> {
        let pattern = match key {
            "open" => field.open.as_ref()?,
            _ => field.close.as_ref()?,
        };
        let path = Path::default().key("fields").key(&field.name);
        let role = format!("the {key} of `{}`", field.name);
        Some(Self::new(path, key, role, pattern))
    }

    fn anchor(template: &'t ResponseTemplate) -> Self {
        let role = "the start anchor".to_owned();
        Self::new(Path::default(), "start_anchor", role, template.anchor())
    }

    /// As the document has it: its literals, or the pattern.
    fn spelled(&self) -> String {
        let literals = self.pattern.quoted_literals();
        literals.unwrap_or_else(|| json::quote(self.pattern.source()))
    }

    /// Returns true if it does not match behind that byte.
    fn is_absent(&self, text: &str, from: usize) -> bool {
        matches!(self.pattern.search(text, from), Ok(None))
    }
}

impl Cause {
    /// The likeliest cause; `None` where nothing stands out.
    pub(super) fn find(setting: &Setting<'_>, fixture: &Fixture) -> Option<Self> {
        without_anchor(setting)
            .or_else(|| Self::misspelt(setting, &fixture.response))
            .or_else(|| {
                let begun = setting.template.after_last_anchor(setting.prefix).ok()?;
                let cause = misspelt(setting, begun, "the prompt", Known::All)?;
                // Its place is not one in the response.
                Some(Self {
                    span: None,
                    label: None,
                    ..cause
                })
            })
            .or_else(|| unclosed_or_unopened(setting, fixture))
            .or_else(|| misspelt(setting, &fixture.response, "the response", Known::Own))
    }

    /// A delimiter that the response nearly has.
    pub(super) fn misspelt(setting: &Setting<'_>, response: &str) -> Option<Self> {
        misspelt(setting, response, "the response", Known::All)
    }
}

fn without_anchor(setting: &Setting<'_>) -> Option<Cause> {
    let anchor = Delimiter::anchor(setting.template);
    if setting.prefix.is_empty() || !anchor.is_absent(setting.prefix, 0) {
        return None;
    }
    Some(Cause {
        text: format!(
            "{}, {}, does not stand in the prompt, all of which is taken for the response",
            anchor.role,
            anchor.spelled()
        ),
        delimiter: Some(anchor.path),
        ..Cause::default()
    })
}

/// The delimiters whose exact text is not taken for a misspelling of another delimiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    All,
    /// Only the delimiter itself, since a marker may stand in several delimiters and be misspelt in one of them.
    Own,
}

/// Finds a delimiter that a text nearly has. `name` is what the text is called in the cause.
fn misspelt(setting: &Setting<'_>, text: &str, name: &str, known: Known) -> Option<Cause> {
    let fields = setting.template.fields().iter();
    let delimiters: Vec<Delimiter<'_>> = fields
        .flat_map(|field| ["open", "close"].map(|key| Delimiter::of(field, key)))
        .flatten()
        .collect();
    let texts = |delimiter: &Delimiter<'_>| fixed_texts(delimiter.pattern);
    let all: Vec<String> = match known {
        Known::All => delimiters.iter().flat_map(texts).collect(),
        Known::Own => Vec::new(),
    };
    let mut best: Option<(usize, Range<usize>, &Delimiter<'_>, String)> = None;
    for delimiter in &delimiters {
        let own = texts(delimiter);
        let known = if all.is_empty() { &own } else { &all };
        for wanted in &own {
            let most = wanted.chars().count() / 3;
            if most == 0 || text.contains(wanted.as_str()) {
                continue;
            }
            let Some((span, cost)) = nearest(wanted, text, most) else {
                continue;
            };
            // A text that another delimiter has exactly is that delimiter.
            let found = &text[span.clone()];
            let is_another = known.iter().any(|known| known.contains(found));
            if !is_another && best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, span, delimiter, wanted.clone()));
            }
        }
    }
    let (_, span, delimiter, wanted) = best?;
    let (found, wanted) = (json::quote(&text[span.clone()]), json::quote(&wanted));
    Some(Cause {
        label: Some(Label {
            span: span.clone(),
            text: format!("nearly {wanted}"),
        }),
        text: format!("{name} has {found} where {} has {wanted}", delimiter.role),
        delimiter: Some(delimiter.path.clone()),
        span: Some(span),
    })
}

/// A region that nothing closed, or one that nothing opened.
fn unclosed_or_unopened(setting: &Setting<'_>, fixture: &Fixture) -> Option<Cause> {
    let response = &fixture.response;
    let trace = Trace::of(setting, response)?;
    let close = trace.unclosed.and_then(|(field, from)| {
        let close = Delimiter::of(setting.template.field(&field)?, "close")?;
        close
            .is_absent(response, from)
            .then_some((field, from, close))
    });
    if let Some((field, from, close)) = close {
        let span = from..response.len();
        return Some(Cause {
            span: Some(span.clone()),
            label: Some(Label {
                span,
                text: format!("the region of `{field}` lasts to the end"),
            }),
            text: format!(
                "nothing closes the region of `{field}`: its close, {}, does not match in what follows",
                close.spelled()
            ),
            delimiter: Some(close.path),
        });
    }
    let expected = fixture.expected.as_ref().and_then(Value::as_object)?;
    setting.template.fields().iter().find_map(|field| {
        let open = Delimiter::of(field, "open")?;
        let wanted = expected.get(&field.name)?.is_truthy();
        let text = format!(
            "no region of `{}` opens: its open, {}, does not match in the response",
            field.name,
            open.spelled()
        );
        (wanted && !trace.opened.iter().any(|name| *name == field.name)).then(|| Cause {
            text,
            delimiter: Some(open.path),
            ..Cause::default()
        })
    })
}

/// Which regions there were.
#[derive(Debug, Default)]
struct Trace {
    opened: Vec<String>,
    /// The field whose region was open when the response ended, and how many bytes had been read when it was opened.
    unclosed: Option<(String, usize)>,
}

impl Trace {
    fn of(setting: &Setting<'_>, response: &str) -> Option<Self> {
        let mut parser = setting.parser().ok()?;
        let mut trace = Self::default();
        let mut note = |event: &Event<'_>, at: usize| match event {
            Event::RegionOpen { field } => {
                trace.opened.push(field.to_string());
                trace.unclosed = Some((field.to_string(), at));
            }
            Event::RegionChunk { .. } => {}
            Event::RegionClose { .. } | Event::RegionError { .. } => trace.unclosed = None,
        };
        for event in parser.initial_events() {
            note(event, 0);
        }
        for (at, c) in response.char_indices() {
            let end = at + c.len_utf8();
            parser
                .feed_with(&response[at..end], &mut |event| note(&event, end))
                .ok()?;
        }
        Some(trace)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// The cause, the delimiter, and what is marked in the response.
    fn cause(fields: &str, prefix: &str, response: &str, expected: &str) -> Option<[String; 3]> {
        let document = format!(r#"{{"start_anchor": "A:", "fields": {fields}}}"#);
        let template = Arc::new(ResponseTemplate::from_json(&document).unwrap());
        let setting = Setting::new(&template, prefix, &[]);
        let fixture = Fixture {
            response: response.to_owned(),
            expected: Some(json::parse(expected).unwrap()),
            ..Fixture::default()
        };
        let cause = Cause::find(&setting, &fixture)?;
        let delimiter = cause.delimiter.map(|path| path.to_string());
        let marked = cause.span.map(|span| response[span].to_owned());
        Some([
            cause.text,
            delimiter.unwrap_or_default(),
            marked.unwrap_or_default(),
        ])
    }

    const FIELDS: &str = r#"{"thinking": {"open": "<think>", "close_pattern": "</thnk>\\s*"}, "content": {"close_pattern": "<end>\\s*"}}"#;

    #[test]
    fn a_delimiter_that_is_nearly_there_is_the_cause() {
        let expected = r#"{"thinking": "a", "content": "b"}"#;
        let misspelt = [
            r#"the response has "</think>" where the close of `thinking` has "</thnk>""#,
            "$.fields.thinking.close_pattern",
            "</think>",
        ]
        .map(str::to_owned);
        assert_eq!(
            cause(FIELDS, "A:", "<think>a</think>b<end>", expected),
            Some(misspelt)
        );
        let [text, _, marked] = cause(FIELDS, "A:<think></think>", "b<end>", expected).unwrap();
        assert!(text.starts_with("the prompt has \"</think>\""), "{text}");
        assert_eq!(marked, "");
    }

    #[test]
    fn a_delimiter_that_is_another_one_is_no_misspelling() {
        let fields = r#"{"calls": {"open": "<calls>", "close": "</calls>"}, "call": {"open": "<call>"}, "content": {}}"#;
        let found = cause(fields, "A:", "<call>x", r#"{"calls": "x"}"#).unwrap();
        assert_eq!(found[1], "$.fields.calls.open", "{found:?}");
        assert!(
            found[0].starts_with("no region of `calls` opens"),
            "{found:?}"
        );
    }

    #[test]
    fn a_prompt_without_the_anchor_is_the_cause() {
        let [text, path, _] = cause(FIELDS, "B:", "b<end>", r#"{"content": "b"}"#).unwrap();
        assert!(
            text.starts_with("the start anchor, \"A:\", does not stand"),
            "{text}"
        );
        assert_eq!(path, "$.start_anchor");
    }

    #[test]
    fn a_close_that_the_end_of_the_response_holds_back_is_none() {
        let fields = r#"{"content": {"close_pattern": "<end>\\s*"}}"#;
        assert_eq!(cause(fields, "A:", "b<end>", r#"{"content": "c"}"#), None);
    }
}
