//! Operations that change a text, or take parts of it, and what becomes of the origins of its characters.

use super::fault::Fault;
use super::object::Py;
use super::text_rules::Ends;
use super::trace::{Taint, Text, Written};
use super::{MAX_VALUE, Render};
use crate::chat_template::error::Limit;

impl Render<'_> {
    /// Returns the text after it was stripped. `kept`, borrowed from it, is the part that stays, and `taint` are the inputs of what was to
    /// be stripped.
    pub(super) fn stripped(&self, text: &Text, kept: &str, ends: Ends, taint: Taint) -> Text {
        if self.trace.is_some() {
            let range = text.range_of(kept).unwrap_or(0..0);
            self.trimmed(text, &range, ends);
            if taint != self.text_taint(text) {
                self.decided_by(taint);
            }
        }
        if kept.len() == text.len() {
            return text.clone();
        }
        self.found_part(text, kept)
    }

    /// `str.replace`. The new text comes from the inputs of the text that it stands for as well. What is replaced also depends on the
    /// inputs `taint`.
    pub(super) fn replaced(
        &mut self,
        text: &Text,
        old: &Text,
        new: &Text,
        count: i64,
        taint: Taint,
    ) -> Result<Py, Fault> {
        let limit = usize::try_from(count).unwrap_or(usize::MAX);
        let old: &str = old;
        let found = text.matches(old).take(limit).count();
        if text.len().saturating_add(found.saturating_mul(new.len())) > MAX_VALUE {
            return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
        }
        let Some(trace) = self.trace.clone() else {
            return self.string(text.replacen(old, new, limit));
        };
        // A single character is found where it stands. Finding a longer text depends on all of the text.
        let is_local = old.chars().count() == 1 && count < 0;
        if is_local {
            self.decided_by(taint);
        } else {
            self.cut_by(text, taint);
        }
        if found == 0 {
            self.pay_for(text.len())?;
            return Ok(Py::Str(text.clone()));
        }
        let new_is_input = !trace.inputs_of_all(new.pieces()).is_none();
        let mut out = self.written();
        let mut at = 0;
        for (start, part) in text.match_indices(old).take(limit) {
            let end = start + part.len();
            out.push_part(text, at..start);
            let mut replaced = Taint::NONE;
            text.each_in(&(start..end), |piece| {
                replaced = trace.join(replaced, trace.inputs_of(&piece));
            });
            if new_is_input || replaced.is_none() {
                out.push_because(new, replaced);
            } else {
                out.push_instead(new, text, start..end, Taint::NONE);
            }
            at = end;
        }
        out.push_part(text, at..text.len());
        self.text(out)
    }

    /// A text in another case.
    pub(super) fn recased(&self, text: &Text, shown: &str, name: &str) -> Written {
        let mut out = self.written();
        if self.trace.is_none() {
            out.buffer().push_str(shown);
            return out;
        }
        // What becomes of a character may depend on its neighbours.
        let depends = match name {
            "title" | "capitalize" => true,
            "lower" | "casefold" => text.contains('Σ'),
            _ => false,
        };
        if depends {
            self.cut_by(text, self.text_taint(text));
        }
        // One character may become several (`ß` becomes `SS`). How long its own change is says which characters of the result come from it.
        let mut rest = shown;
        let mut parts = Vec::new();
        for (at, c) in text.char_indices() {
            let candidates = [
                c.to_string(),
                c.to_lowercase().to_string(),
                c.to_uppercase().to_string(),
                c.to_lowercase().to_string().replace('ß', "ss"),
                "ς".to_owned(),
            ];
            let found = candidates
                .iter()
                .filter(|candidate| rest.starts_with(candidate.as_str()))
                .max_by_key(|candidate| candidate.len());
            let Some(found) = found else { break };
            parts.push((at..at + c.len_utf8(), found.clone()));
            rest = &rest[found.len()..];
        }
        if !rest.is_empty() || parts.len() != text.chars().count() {
            out.push_of(shown, self.text_taint(text));
            return out;
        }
        let mut parts = parts.into_iter();
        out.push_mapped(text, |c, changed| {
            if let Some((_, part)) = parts.next() {
                changed.push_str(&part);
            }
            changed.len() != c.len_utf8() || !changed.starts_with(c)
        });
        out
    }
}
