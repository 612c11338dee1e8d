//! Calls in a list, with nothing before each of them that only a call has: `[a(x), b(y)]` between the section's markers.
//!
//! What opens the list opens its first call, and a marker between two calls the next one. That a comma, a word and a bracket open
//! another one, and are no prose, only what stands before them tells: the list was opened and not yet closed.

use super::super::tool_calls::ToolCalls;
use super::super::{slot, text};
use crate::response_template::Delimiter;

/// What lists and objects are written with; no marker by itself.
const PUNCTUATION: [char; 4] = ['{', '[', '(', '"'];

/// What opens and closes a call, whose name `name` captures; `None` where a call has a marker of its own.
pub(super) fn delimiters(calls: &ToolCalls, name: &str) -> Option<(Delimiter, Delimiter)> {
    let (section_open, section_close) = (calls.section.0.trim(), calls.section.1.trim());
    let close = calls.call.1.trim();
    let own = calls.call.0.trim();
    let is_marked = !own.chars().all(|c| PUNCTUATION.contains(&c));
    if is_marked || name.is_empty() || section_open.is_empty() {
        return None;
    }
    if close.is_empty() {
        return between_markers(calls, name);
    }
    let next = super::next_call(calls, name);
    let name = format!("{}{name}", slot::pattern(own));
    let list = slot::pattern(section_open);
    let close = slot::pattern(close);
    let end = slot::pattern(section_close);
    if !calls.parallel {
        let close = format!("{close}\\s*{end}\\s*");
        return Some((
            Delimiter::pattern(format!("{list}\\s*{name}")),
            Delimiter::pattern(close),
        ));
    }
    let separator = format!("\\s*{}\\s*", slot::pattern(calls.separator.trim()));
    let inside = if end.is_empty() {
        format!("(?<={list}.*)")
    } else {
        format!("(?<={list}(?:(?!{end}).)*)")
    };
    Some((
        Delimiter::pattern(format!(
            "(?:{list}\\s*|(?<={close}){separator}){name}{inside}"
        )),
        Delimiter::pattern(format!("{close}(?:\\s*{end}\\s*|(?={separator}{next}))")),
    ))
}

/// The same where nothing closes a call either, but a marker stands between two.
fn between_markers(calls: &ToolCalls, name: &str) -> Option<(Delimiter, Delimiter)> {
    let (section_open, section_close) = (calls.section.0.trim(), calls.section.1.trim());
    let separator = calls.separator.trim();
    if !text::is_bracketed(separator) || section_close.is_empty() {
        return None;
    }
    let own = slot::pattern(calls.call.0.trim());
    let [list, separator, end] = [section_open, separator, section_close].map(slot::pattern);
    Some((
        Delimiter::pattern(format!("(?:{list}|{separator})\\s*{own}{name}")),
        Delimiter::pattern(format!("{end}\\s*|(?={separator})")),
    ))
}
