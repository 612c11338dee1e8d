//! Several calls within one pair of markers.
//!
//! Renders have the markers around each call, as in `<call>{..}</call><call>{..}</call>`, and the model writes `<call>{..}, {..}</call>`. The text between the two calls
//! tells that one ends before it and the next begins behind it ([`Several`]). Both have to be told from the arguments, which may have a list of objects in them: so the text
//! counts only behind the end of an object, and where a whole beginning of a call follows, up to its arguments.
//!
//! It takes one pass over the gaps of a response; the patterns grow by the length of what renders have before the arguments of a call.

use super::changes::{Change, tokens};
use super::gaps::{Gap, Part};
use super::split::source;
use crate::derive::compare::pattern::SPACE;
use crate::derive::compare::text::{escape, escape_loosely};
use crate::derive::probe::CALLS_KEY;
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document};
use crate::value::python;

/// Two calls of which renders have each within markers of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Several {
    /// The text between them, without white space at its ends; empty where there is nothing but white space.
    between: String,
    /// The end of a call in front of that text.
    end: String,
    /// The tokens of the marker before a call.
    marker: Vec<String>,
    /// A pattern for the beginning of a call behind that marker, up to its arguments.
    beginning: String,
}

impl Several {
    /// The text between two calls of a response, where that is not the one of renders.
    pub(super) fn of(gaps: &[Gap], changes: &[Change], known: &[Gap]) -> Option<Self> {
        let is_between = |before, behind| before == Part::Arguments && behind == Part::Name;
        let mut changes = changes.iter();
        let change = changes.find(|one| is_between(one.before, one.behind))?;
        let mut gaps = gaps.iter();
        let gap = gaps.find(|one| is_between(one.before, one.behind))?;
        let firsts = known.iter().filter(|gap| gap.behind == Part::Name);
        let mut markers = firsts.filter_map(|gap| {
            let tokens: Vec<String> = tokens(&gap.text)
                .iter()
                .map(|one| one.text.to_owned())
                .collect();
            let marker = tokens.strip_suffix(change.right.as_slice())?;
            let is_own = !marker.is_empty() && change.was.ends_with(marker);
            (is_own && gap.before != Part::Arguments).then(|| marker.to_vec())
        });
        let marker = markers.next()?;
        let mut known = known.iter();
        let behind_name =
            known.find(|gap| gap.before == Part::Name && gap.behind == Part::Arguments)?;
        let first = behind_name
            .text
            .trim_start_matches(python::is_space)
            .chars()
            .next()?;
        let has_space = gap.text.contains(python::is_space);
        (has_space || !change.now.is_empty()).then(|| Self {
            between: change.now.clone(),
            end: change
                .left
                .last()
                .cloned()
                .unwrap_or_else(|| "}".to_owned()),
            marker,
            beginning: format!(
                "{}[^\\s{}]+{SPACE}{}",
                spaced(&change.right),
                escape(&first.to_string()),
                spaced(
                    &tokens(&behind_name.text)
                        .iter()
                        .map(|one| one.text.to_owned())
                        .collect::<Vec<_>>()
                ),
            ),
        })
    }

    /// Says in words what is different.
    pub(super) fn told(&self) -> String {
        match self.between.as_str() {
            "" => "white space alone may stand between two calls".to_owned(),
            between => format!(
                "{} may stand between two calls",
                crate::value::json::quote(between)
            ),
        }
    }

    pub(super) fn has(&self, text: &str) -> bool {
        self.between.contains(text)
    }

    pub(super) fn size(&self) -> usize {
        self.between.len() + 1
    }

    /// The document with calls of which several may stand within their markers; `None` where what opens a call has no place for that.
    pub(super) fn apply(&self, document: &Document) -> Option<Document> {
        let mut changed = document.clone();
        let field = changed
            .fields
            .get_mut(CALLS_KEY)
            .filter(|field| field.repeats && !field.transform_each)?;
        let open = source(field.open.as_ref()?);
        let close = source(field.close.as_ref()?);
        let behind = format!("(?<={})", escape(&self.end));
        let between = match self.between.as_str() {
            "" => "\\s+".to_owned(),
            between => format!("{SPACE}{}{SPACE}", escape_loosely(between)),
        };
        let next = format!("{behind}{between}(?={})", self.beginning);
        let marker = escape(&self.marker.concat());
        let open = match open.strip_prefix(&marker) {
            Some(rest) => format!("(?:{marker}|{next}){rest}"),
            // A group has its name once.
            None if open.contains("(?P<") => return None,
            None => format!("(?:{open}|{next})"),
        };
        let close = format!("(?:{close}|{behind}(?={between}{}))", self.beginning);
        Pattern::regex(&open).ok()?;
        Pattern::regex(&close).ok()?;
        field.open = Some(Delimiter::pattern(open));
        field.close = Some(Delimiter::pattern(close));
        Some(changed)
    }
}

/// A pattern for the tokens, with any white space between and behind them.
fn spaced(tokens: &[String]) -> String {
    tokens
        .iter()
        .map(|token| format!("{}{SPACE}", escape(token)))
        .collect()
}
