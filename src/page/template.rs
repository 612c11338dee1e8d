//! A response template as a page shows it: its findings with their places, and its delimiters with what they were read from.

use serde::Serialize;

use super::utf16::Units;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lint;
use crate::parser::Edge;
use crate::pattern::Pattern;
use crate::replay::spelled;
use crate::response_template::ResponseTemplate;
use crate::value::Path;
use crate::value::json::{self, Places};

/// A response template, looked at. Offsets count UTF-16 code units of [`TemplateView::text`].
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TemplateView {
    /// The text of the document.
    pub text: String,
    /// True if it is a response template.
    pub valid: bool,
    /// The things that are wrong with it, or will go wrong.
    pub findings: Vec<PageFinding>,
    /// Its delimiters, the start anchor first; none where it is not valid.
    pub delimiters: Vec<PageDelimiter>,
}

/// A finding about a text.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PageFinding {
    /// The weight of it.
    pub severity: Severity,
    /// The code, a stable name.
    pub code: String,
    /// A sentence: what is wrong.
    pub message: String,
    /// Advice on how to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The path of the value that it speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The place in the text, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<[usize; 2]>,
}

/// A delimiter of a response template.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PageDelimiter {
    /// The field; absent for the start anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The side of the region: `anchor`, `open` or `close`.
    pub side: &'static str,
    /// The delimiter, for people: literals in quotes, a pattern between slashes.
    pub text: String,
    /// The way in which it is searched.
    pub engine: &'static str,
    /// The place in the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<[usize; 2]>,
    /// The evidence that it was read from, each by its index in the report's list.
    pub evidence: Vec<usize>,
}

/// A piece of evidence, as far as a delimiter is found by it.
#[derive(Debug, Clone)]
pub(super) struct Marker {
    pub(super) decision: String,
    pub(super) text: String,
}

impl TemplateView {
    /// Looks at a response template's text.
    pub(super) fn of(text: &str, markers: &[Marker]) -> Self {
        let units = Units::of(text);
        let (template, diagnostics) = match ResponseTemplate::from_json(text) {
            Ok(template) => {
                let found = lint::lint(text, &lint::Options::default());
                (Some(template), found)
            }
            Err(invalid) => (None, invalid.into_diagnostics()),
        };
        let findings = diagnostics.into_iter();
        Self {
            text: text.to_owned(),
            valid: template.is_some(),
            findings: findings
                .map(|found| PageFinding::of(found, &units))
                .collect(),
            delimiters: template
                .as_ref()
                .map(|template| delimiters(template, text, &units, markers))
                .unwrap_or_default(),
        }
    }
}

impl PageFinding {
    fn of(found: Diagnostic, units: &Units) -> Self {
        Self {
            severity: found.severity,
            code: found.code.to_owned(),
            message: found.message,
            hint: found.hint,
            path: found.place.path,
            span: found.place.span.as_ref().map(|span| units.span(span)),
        }
    }
}

fn delimiters(
    template: &ResponseTemplate,
    text: &str,
    units: &Units,
    markers: &[Marker],
) -> Vec<PageDelimiter> {
    let places = json::parse_with_places(text).map(|(_, places)| places);
    let places = places.unwrap_or_default();
    let made = |path: &Path, side: Option<Edge>, field: Option<&str>, pattern: &Pattern| {
        let key = side.map_or("start_anchor", Edge::name);
        PageDelimiter {
            field: field.map(str::to_owned),
            side: side.map_or("anchor", Edge::name),
            text: spelled(pattern),
            engine: pattern.engine().name(),
            span: place(&places, path, key, units),
            evidence: evidence(pattern, side.is_none(), markers),
        }
    };
    let mut found = vec![made(&Path::default(), None, None, template.anchor())];
    for field in template.fields() {
        let path = Path::default().key("fields").key(&field.name);
        let sides = [(Edge::Open, &field.open), (Edge::Close, &field.close)];
        for (edge, pattern) in sides {
            if let Some(pattern) = pattern {
                found.push(made(&path, Some(edge), Some(&field.name), pattern));
            }
        }
    }
    found
}

/// The place of a delimiter, which is written as literals or as a pattern.
fn place(places: &Places, path: &Path, key: &str, units: &Units) -> Option<[usize; 2]> {
    let spans = places.get(&path.key(key));
    let spans = spans.or_else(|| places.get(&path.key(&format!("{key}_pattern"))))?;
    let start = spans
        .key
        .as_ref()
        .map_or(spans.value.start, |key| key.start);
    Some(units.span(&(start..spans.value.end)))
}

/// The evidence whose marker the delimiter spells, or is spelled by. A marker of white space alone would be spelled by all.
fn evidence(pattern: &Pattern, is_anchor: bool, markers: &[Marker]) -> Vec<usize> {
    let spellings: Vec<String> = match pattern.as_literals() {
        Some(literals) => literals.to_vec(),
        None => vec![unescaped(pattern.source())],
    };
    let is_spelled = |marker: &Marker| {
        let text = marker.text.trim();
        !text.is_empty()
            && (marker.decision == "anchor") == is_anchor
            && spellings.iter().any(|spelling| {
                let spelling = spelling.trim();
                spelling.contains(text) || (!spelling.is_empty() && text.contains(spelling))
            })
    };
    let found = markers.iter().enumerate();
    let found = found.filter(|(_, marker)| is_spelled(marker));
    found.map(|(index, _)| index).collect()
}

/// The source of a pattern without the backslashes before punctuation.
fn unescaped(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('n')) => {
                chars.next();
                text.push('\n');
            }
            ('\\', Some(next)) if !next.is_alphanumeric() => text.extend(chars.next()),
            (c, _) => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(decision: &str, text: &str) -> Marker {
        Marker {
            decision: decision.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_delimiter_has_its_place_and_its_evidence() {
        let text = r#"{"start_anchor": "é<a>", "fields": {"content": {"close_pattern": "\\s*<\\|end\\|>"}}}"#;
        let markers = [
            marker("turn end", "<|end|>\n"),
            marker("anchor", "é<a>"),
            marker("content open", " "),
        ];
        let view = TemplateView::of(text, &markers);
        assert!(view.valid);
        let [anchor, close] = view.delimiters.as_slice() else {
            panic!("{view:?}");
        };
        assert_eq!(
            (anchor.side, anchor.evidence.as_slice()),
            ("anchor", &[1][..])
        );
        assert_eq!((close.side, close.evidence.as_slice()), ("close", &[0][..]));
        let [start, end] = close.span.expect("a place");
        let units: Vec<u16> = text.encode_utf16().collect();
        let shown = String::from_utf16(&units[start..end]).expect("whole characters");
        assert_eq!(shown, r#""close_pattern": "\\s*<\\|end\\|>""#);
    }

    #[test]
    fn what_is_no_response_template_has_findings_alone() {
        let view = TemplateView::of("{", &[]);
        assert!(!view.valid);
        assert_eq!(view.findings.len(), 1);
        assert!(view.delimiters.is_empty());
    }
}
