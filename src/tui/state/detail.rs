//! The details of one thing, when a row has no room for them.

use std::fmt::Write as _;

use super::State;
use crate::deltas::Growth;
use crate::diagnostic::Diagnostic;
use crate::parser::{ParseError, Unclaimed, UnclaimedCause};
use crate::replay::EntryKind;
use crate::value::json::{self, Format};
use crate::value::{Path, Value};

/// Columns of a text or a value that a row shows at most.
pub(crate) const SHOWN: usize = 200;

/// The details of the chosen event, when something went wrong with it.
pub(crate) fn explain(state: &State) -> Option<String> {
    let now = state.now();
    let entry = now.entries().get(state.chosen()?)?;
    let timeline = now.timeline;
    let region = timeline.regions().get(entry.region);
    match entry.kind {
        EntryKind::Error => region?.error.as_ref().map(|error| error.message.clone()),
        EntryKind::Close => {
            let region = region?;
            let prefix = timeline.prefix();
            let inside = |lost: &&Unclaimed| {
                lost.cause == UnclaimedCause::PassedOver
                    && region.text.start <= prefix + lost.span.start
                    && prefix + lost.span.end <= region.text.end
            };
            if let Some(lost) = timeline.unclaimed().find(inside) {
                let text = short(&Value::from(lost.text.as_str()));
                return Some(format!("{}: {text}", lost.fate()));
            }
            let before = &timeline.regions()[region.replaces?];
            let name = timeline.field_name(region.field);
            let what = if before.close.is_some() && region.open.is_none() {
                format!("text behind its close opened {name} again")
            } else {
                format!("{name} was opened again")
            };
            let (last, lost) = (region.value.as_ref()?, before.value.as_ref()?);
            Some(format!(
                "{what}: {} counts, not {}",
                short(last),
                short(lost)
            ))
        }
        EntryKind::Unclaimed => {
            Some("no field takes this text, and it is not in the message".to_owned())
        }
        _ => None,
    }
}

/// The chosen event: its name, and all there is of it.
pub(crate) fn of_event(state: &State) -> Option<(String, String)> {
    let now = state.now();
    let entry = now.entries().get(state.chosen()?)?;
    let timeline = now.timeline;
    let field = timeline.entry_field(entry);
    let name = field.map_or("", |field| timeline.field_name(field));
    let title = format!("{} {name}", entry.kind.name());
    let place = |at: usize| at.saturating_sub(timeline.prefix());
    let span = now.span_of(entry);
    let mut text = format!("bytes {} to {}", place(span.start), place(span.end));
    if span.start < timeline.prefix() {
        text.push_str(", begun in the prefix");
    }
    text.push_str("\n\n");
    if let Some(explained) = explain(state) {
        let _ = writeln!(text, "{explained}\n");
    }
    let region = timeline.regions().get(entry.region);
    match entry.kind {
        EntryKind::Open | EntryKind::Text | EntryKind::Stray | EntryKind::Unclaimed => {
            text.push_str(&timeline.text()[span]);
        }
        EntryKind::Close => {
            let value = region.and_then(|region| region.value.as_ref())?;
            text.push_str(&in_full(value));
        }
        EntryKind::Error => error(&mut text, region?.error.as_ref()?),
        EntryKind::Failure => error(&mut text, timeline.failure()?),
    }
    Some((title, text))
}

/// The chosen step of the message's growth: its name, and all there is of it.
pub(crate) fn of_growth(state: &State) -> Option<(String, String)> {
    let (growth, text) = state.now().told().get(state.chosen_growth()?)?;
    let title = growth.type_name().replace('_', " ");
    Some(match growth {
        Growth::Text { path, .. } => (format!("{title} {}", grown_path(path)), text.to_owned()),
        Growth::Arguments { index, .. } => (format!("{title} of call {index}"), text.to_owned()),
        other => (
            title,
            Format::indented(2).write(&Value::Object(other.to_map())),
        ),
    })
}

/// A place in the message, as a row of the growth names it: `content`, `tool_calls[0]`.
pub(crate) fn grown_path(path: &Path) -> String {
    let text = path.to_string();
    text.strip_prefix("$.").unwrap_or(&text).to_owned()
}

fn error(text: &mut String, error: &ParseError) {
    text.push_str(&error.message);
    for more in [error.hint.as_deref(), error.raw.as_deref()]
        .into_iter()
        .flatten()
    {
        let _ = write!(text, "\n\n{more}");
    }
}

/// All that there is to say of the template.
pub(crate) fn of_template(state: &State) -> Option<String> {
    let found = &state.template.diagnostics;
    let texts = found
        .iter()
        .map(|diagnostic| of_diagnostic(state, diagnostic));
    (!found.is_empty()).then(|| texts.collect::<Vec<_>>().join("\n"))
}

fn of_diagnostic(state: &State, diagnostic: &Diagnostic) -> String {
    let mut text = format!("{}: {}\n", diagnostic.code, diagnostic.message);
    if let Some(span) = &diagnostic.place.span {
        let before = state.template.text().get(..span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let _ = writeln!(text, "  in line {line}");
    }
    if let Some(hint) = &diagnostic.hint {
        let _ = writeln!(text, "  {hint}");
    }
    if let Some(fix) = &diagnostic.fix {
        let _ = writeln!(text, "  r repairs it: {}", fix.message);
    }
    text
}

/// A value as one would write it: text as it is, the rest as JSON.
pub(crate) fn in_full(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| Format::indented(2).write(value), str::to_owned)
}

/// A value on one line.
pub(crate) fn short(value: &Value) -> String {
    match value {
        // Of a long text the beginning is enough, and is not made whole first.
        Value::String(text) if text.len() > SHOWN * 4 => {
            let cut: String = text.chars().take(SHOWN).collect();
            format!("{}…", json::quote(&cut))
        }
        Value::Array(items) if items.len() > SHOWN => format!("[{} items]", items.len()),
        Value::Object(members) if members.len() > SHOWN => format!("{{{} members}}", members.len()),
        value => json::to_string(value),
    }
}
