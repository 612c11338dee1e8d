//! Markers of a conversation format: the constant texts that begin and end messages or introduce tools, looked for in texts of messages.
//!
//! A reading that hides one in a text is doubted, and many readings of a text are tried; so the searches are made once for a reader.

use memchr::memmem::Finder;

use super::{Connection, ConnectionPart, ConversationFormat, Holds};
use crate::value::Value;

/// The texts that begin or end messages, or introduce definitions of tools, to be looked for in texts of messages.
#[derive(Debug)]
pub(crate) struct Markers(Vec<Finder<'static>>);

impl Markers {
    /// Those of a format that are long enough to tell something where they stand in a text.
    pub(crate) fn of(format: &ConversationFormat) -> Self {
        let all = constants(format);
        let introductions = introductions(format, &all);
        let is_telling =
            |marker: &&String| marker.chars().filter(|c| !c.is_whitespace()).count() > 2;
        let telling = all.iter().chain(&introductions).filter(is_telling);
        Self(
            telling
                .map(|marker| Finder::new(marker).into_owned())
                .collect(),
        )
    }

    /// How many of the texts in these values hold one of them.
    pub(crate) fn hidden_in<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> usize {
        values.into_iter().map(|value| self.hidden(value)).sum()
    }

    fn hidden(&self, value: &Value) -> usize {
        match value {
            Value::String(text) => {
                let is_held = |marker: &Finder<'_>| marker.find(text.as_bytes()).is_some();
                usize::from(self.0.iter().any(is_held))
            }
            Value::Array(items) => self.hidden_in(items),
            Value::Object(members) => self.hidden_in(members.iter().map(|(_, value)| value)),
            _ => 0,
        }
    }
}

/// The constant texts that begin and end messages.
pub(crate) fn constants(format: &ConversationFormat) -> Vec<String> {
    let texts = format.steps.iter().flat_map(|step| {
        let both = [&step.end, &step.header];
        both.map(|parts| {
            parts
                .iter()
                .filter_map(ConnectionPart::text)
                .collect::<String>()
        })
    });
    let mut all: Vec<String> = texts.filter(|text| !text.trim().is_empty()).collect();
    all.sort();
    all.dedup();
    all
}

/// The constant texts that introduce definitions of tools.
fn introductions(format: &ConversationFormat, markers: &[String]) -> Vec<String> {
    let leads_to_definition = |step: &Connection| {
        let before = step.before.and_then(|at| format.places.get(at));
        before.is_some_and(|place| matches!(place.holds, Holds::Definition | Holds::Definitions))
    };
    // A text that swallows definitions may begin behind the last header before them.
    let tail = |text: &str| {
        let ends = markers
            .iter()
            .filter_map(|marker| Some(text.rfind(marker.as_str())? + marker.len()));
        let tail = &text[ends.max().unwrap_or(0)..];
        (!tail.trim().is_empty()).then(|| tail.to_owned())
    };
    let found = format.steps.iter().filter_map(|step| {
        let parts: Vec<&ConnectionPart> = step.parts().collect();
        let at = parts.iter().position(|part| part.is_definitions());
        let at = at.or(leads_to_definition(step).then_some(parts.len()))?;
        parts.get(at.checked_sub(1)?)?.text().and_then(tail)
    });
    found.collect()
}
