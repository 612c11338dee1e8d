//! The subject of the rules: the response template as it is written and as it is compiled, with the places of both.

use std::cell::OnceCell;

use crate::chat_template::ChatTemplateSource;
use crate::diagnostic::{Diagnostic, Edit, Fix, Label, Place};
use crate::pattern::Pattern;
use crate::pattern::facts::Facts;
use crate::response_template::config::Loaded;
use crate::response_template::{Field, ResponseTemplate};
use crate::value::json::{self, Format, MemberSpans};
use crate::value::{Map, Path, Value};

use super::Rule;
use super::chat::Chat;

/// One response template under inspection.
pub(super) struct Subject<'a> {
    text: &'a str,
    loaded: &'a Loaded,
    chat: Option<&'a ChatTemplateSource>,
    rendered: OnceCell<Option<Chat>>,
    delimiters: Vec<Delimiter<'a>>,
}

/// One field as it is written and as it is compiled.
#[derive(Clone, Copy)]
pub(super) struct FieldView<'a> {
    pub(super) index: usize,
    pub(super) field: &'a Field,
    pub(super) members: &'a Map,
}

/// Which of a field's two delimiters; opens win over closes where both match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Open,
    Close,
}

/// A delimiter that opens or closes a field's region.
pub(super) struct Delimiter<'a> {
    pub(super) side: Side,
    /// The index of its field.
    pub(super) field: usize,
    pub(super) pattern: &'a Pattern,
    pub(super) facts: Facts,
    /// The key of the delimiter, such as `close_pattern`, and the path to its value.
    pub(super) key: &'static str,
    pub(super) path: Path,
}

impl Delimiter<'_> {
    /// Texts that it matches as a whole.
    pub(super) fn samples(&self) -> Vec<String> {
        match self.pattern.as_literals() {
            Some(literals) => literals.to_vec(),
            None => self.facts.samples(self.pattern),
        }
    }

    /// The one of its samples behind which a line feed is left standing. Of a text that was meant as a pattern it is not asked.
    pub(super) fn leaves_space(&self) -> Option<String> {
        let mistaken = |literal: &String| sign_of_pattern(literal).is_some();
        if !self.key.ends_with("_pattern")
            && self
                .pattern
                .as_literals()
                .is_some_and(|texts| texts.iter().any(mistaken))
        {
            return None;
        }
        self.samples().into_iter().find(|sample| {
            let text = format!("{sample}\n");
            matches!(self.pattern.search(&text, 0), Ok(Some(found)) if found.span.end == sample.len())
        })
    }

    /// The source of a pattern that also takes the white space behind a match.
    pub(super) fn with_space(&self) -> Option<String> {
        let source = match self.pattern.as_literals() {
            Some(literals) => {
                let trimmed: Vec<String> = literals
                    .iter()
                    .map(|literal| literal.trim_end().to_owned())
                    .collect();
                Pattern::literals(&trimmed).ok()?.source().to_owned()
            }
            None => self.pattern.source().to_owned(),
        };
        let source = plainly(&source);
        let spaced = crate::pattern::facts::with_space(&source)?;
        // Before a `$` at the end of the whole pattern white space is as good, and is plainer.
        match source.strip_suffix('$') {
            Some(head) if spaced.starts_with(&source) && Pattern::regex(head).is_ok() => {
                Some(format!(r"{head}\s*$"))
            }
            _ => Some(spaced),
        }
    }
}

/// Returns true if the field's regions may come behind text: calls do, reasoning comes first.
pub(super) fn comes_later(field: &Field) -> bool {
    field.repeats || field.transform.is_some() || !field.content.is_streamable()
}

/// The part of a text by which it is known as a pattern that stands where a text is wanted. What markers are made of is no sign: a brace,
/// a bar, or a backslash before a word, as in `\boxed{`.
pub(super) fn sign_of_pattern(text: &str) -> Option<&str> {
    for (at, _) in text.match_indices('\\') {
        let mut behind = text[at + 1..].chars();
        let escape = behind.next()?;
        let is_word = behind
            .next()
            .is_some_and(|next| next.is_ascii_alphanumeric());
        if escape == '|' || "sSwWdDbBAZnrt".contains(escape) && !is_word {
            return Some(&text[at..at + 2]);
        }
    }
    let signs = [
        ".*", ".+?", "[^", "(?:", "(?P", "(?=", "(?!", "(?<", "(?i", "(?s",
    ];
    let mut signs = signs.into_iter().filter(|sign| text.contains(sign));
    signs
        .next()
        .or_else(|| text.ends_with("|$").then_some("|$"))
}

/// The source without backslashes that change nothing.
fn plainly(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && "<>/:;=,!@%&'\"`~_".contains(*next) => {}
            Some(next) if c == '\\' => {
                out.push(c);
                out.push(*next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

impl<'a> Subject<'a> {
    pub(super) fn new(
        text: &'a str,
        loaded: &'a Loaded,
        chat: Option<&'a ChatTemplateSource>,
    ) -> Self {
        let mut subject = Self {
            text,
            loaded,
            chat,
            rendered: OnceCell::new(),
            delimiters: Vec::new(),
        };
        subject.delimiters = subject.find_delimiters();
        subject
    }

    fn find_delimiters(&self) -> Vec<Delimiter<'a>> {
        let mut found = Vec::new();
        for view in self.fields() {
            let sides = [
                (Side::Open, &view.field.open, ["open", "open_pattern"]),
                (Side::Close, &view.field.close, ["close", "close_pattern"]),
            ];
            for (side, pattern, [literal, source]) in sides {
                let Some(pattern) = pattern else { continue };
                let key = if view.members.contains_key(source) {
                    source
                } else {
                    literal
                };
                found.push(Delimiter {
                    side,
                    field: view.index,
                    pattern,
                    facts: Facts::of(pattern),
                    key,
                    path: self.path(view).key(key),
                });
            }
        }
        found
    }

    /// The text that the document stands in.
    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    pub(super) fn template(&self) -> &'a ResponseTemplate {
        &self.loaded.template
    }

    /// The document as it is written.
    pub(super) fn document(&self) -> &'a Value {
        &self.loaded.document
    }

    /// The path to the document from the root of the text.
    pub(super) fn root(&self) -> &Path {
        &self.loaded.path
    }

    /// The fields in the order of the document.
    pub(super) fn fields(&self) -> impl Iterator<Item = FieldView<'a>> + use<'a> {
        let written = self.document().get("fields").and_then(Value::as_object);
        let fields = self.template().fields().iter().enumerate();
        fields.filter_map(move |(index, field)| {
            let members = written?.get(&field.name)?.as_object()?;
            Some(FieldView {
                index,
                field,
                members,
            })
        })
    }

    /// The field that nothing opens.
    pub(super) fn implicit(&self) -> Option<FieldView<'a>> {
        let index = self.template().implicit()?;
        self.fields().find(|view| view.index == index)
    }

    /// The fields that something opens.
    pub(super) fn explicit(&self) -> impl Iterator<Item = FieldView<'a>> + use<'a> {
        let implicit = self.template().implicit();
        self.fields()
            .filter(move |view| Some(view.index) != implicit)
    }

    /// The path to a field.
    pub(super) fn path(&self, view: FieldView<'_>) -> Path {
        self.root().key("fields").key(&view.field.name)
    }

    /// All delimiters of all fields.
    pub(super) fn delimiters(&self) -> &[Delimiter<'a>] {
        &self.delimiters
    }

    /// One delimiter of a field.
    pub(super) fn delimiter(&self, view: FieldView<'_>, side: Side) -> Option<&Delimiter<'a>> {
        self.delimiters
            .iter()
            .find(|delimiter| delimiter.field == view.index && delimiter.side == side)
    }

    /// The name of a delimiter's field.
    pub(super) fn name(&self, delimiter: &Delimiter<'_>) -> &'a str {
        &self.template().fields()[delimiter.field].name
    }

    /// The chat template's renders; `None` without one, or when it renders nothing.
    pub(super) fn chat(&self) -> Option<&Chat> {
        self.rendered
            .get_or_init(|| self.chat.and_then(Chat::of))
            .as_ref()
    }

    fn spans(&self, path: &Path) -> Option<&MemberSpans> {
        self.loaded.places.get(path)
    }

    /// The place of the value at `path`, or of a whole field its name.
    pub(super) fn place(&self, path: &Path) -> Place {
        let is_field = path.steps().len() == self.root().steps().len() + 2;
        let span = self.spans(path).map(|spans| match &spans.key {
            Some(key) if is_field => key.clone(),
            _ => spans.value.clone(),
        });
        Place {
            path: Some(path.to_string()),
            span,
        }
    }

    /// A finding about the value at `path`.
    pub(super) fn at(&self, rule: &Rule, path: &Path, message: impl Into<String>) -> Diagnostic {
        let span = self.spans(path).map(|spans| spans.value.clone());
        self.found(rule, path, span, message)
    }

    /// A finding about the key at `path`, or where it has none the value.
    pub(super) fn at_key(
        &self,
        rule: &Rule,
        path: &Path,
        message: impl Into<String>,
    ) -> Diagnostic {
        let span = self
            .spans(path)
            .map(|spans| spans.key.clone().unwrap_or_else(|| spans.value.clone()));
        self.found(rule, path, span, message)
    }

    fn found(
        &self,
        rule: &Rule,
        path: &Path,
        span: Option<std::ops::Range<usize>>,
        message: impl Into<String>,
    ) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(rule.code, message).with_path(path.to_string());
        diagnostic.severity = rule.severity;
        diagnostic.place.span = span;
        diagnostic
    }

    /// A label at the value of `path`, for a finding about another place.
    pub(super) fn label(&self, path: &Path, text: impl Into<String>) -> Option<Label> {
        Some(Label {
            span: self.spans(path)?.value.clone(),
            text: text.into(),
        })
    }

    /// A finding about a close behind which white space stays, with what mends it: the close that takes the space.
    pub(super) fn at_close_that_leaves_space(
        &self,
        rule: &Rule,
        close: &Delimiter<'_>,
        message: impl Into<String>,
    ) -> Diagnostic {
        let mut diagnostic = self
            .at(rule, &close.path, message)
            .with_hint(r"let it take the white space behind it: `\s*` at its end");
        diagnostic.fix = close.with_space().and_then(|source| {
            self.replace_delimiter(close, &source, "take the white space behind the close")
        });
        diagnostic
    }

    /// The fix that puts a pattern in the place of a delimiter.
    pub(super) fn replace_delimiter(
        &self,
        delimiter: &Delimiter<'_>,
        source: &str,
        message: impl Into<String>,
    ) -> Option<Fix> {
        let spans = self.spans(&delimiter.path)?;
        let written = self.written(&Value::from(source), &self.text[spans.value.clone()]);
        let mut edits = vec![Edit {
            span: spans.value.clone(),
            text: written,
        }];
        if !delimiter.key.ends_with("_pattern") {
            edits.insert(
                0,
                Edit {
                    span: spans.key.clone()?,
                    text: json::quote(&format!("{}_pattern", delimiter.key)),
                },
            );
        }
        Some(Fix {
            message: message.into(),
            edits,
        })
    }

    /// The fix that gives a field a further member, which comes last.
    pub(super) fn add_member(
        &self,
        view: FieldView<'_>,
        key: &str,
        value: &Value,
        message: impl Into<String>,
    ) -> Option<Fix> {
        let path = self.path(view);
        let object = self.spans(&path)?.value.clone();
        let mut members: Vec<&MemberSpans> = self.loaded.places.members(&path).collect();
        members.sort_by_key(|spans| spans.value.start);
        let (first, last) = (members.first()?, members.last()?);
        let key_span = first.key.clone()?;
        let before = &self.text[object.start + 1..key_span.start];
        // On one line what stands between members is a space, if the file has any.
        let colon = &self.text[key_span.end..first.value.start];
        let gap = match before {
            "" if colon.ends_with(' ') => " ",
            gap => gap,
        };
        let written = self.written(value, "");
        Some(Fix {
            message: message.into(),
            edits: vec![Edit {
                span: last.value.end..last.value.end,
                text: format!(",{gap}{}{colon}{written}", json::quote(key)),
            }],
        })
    }

    /// The fix that puts one key in the place of another.
    pub(super) fn rename(&self, path: &Path, key: &str, message: impl Into<String>) -> Option<Fix> {
        Some(Fix {
            message: message.into(),
            edits: vec![Edit {
                span: self.spans(path)?.key.clone()?,
                text: json::quote(key),
            }],
        })
    }

    /// A value as JSON, escaped beyond ASCII where the literal in its place is.
    fn written(&self, value: &Value, before: &str) -> String {
        let format = Format {
            ensure_ascii: before.is_ascii() && before.contains("\\u"),
            ..Format::default()
        };
        format.write(value)
    }
}
