//! Ids that a chat template makes up itself.
//!
//! Some chat templates write no id that a message has, but one of their own: they count the calls, and write `functions.f:0`. What
//! they write so, they may refer to where a tool's result stands (`Return of functions.f:0`), and then it is what the model knows the
//! call by. Nothing of a message tells such an id from other text; the second place does. So an id is what stands with a call's name, or as
//! a member of its object, has a digit in it, differs from call to call, and is written again with the tool's result.

use super::calls;
use super::widening::{Edit, How};
use crate::derive::probe::CALLS_KEY;
use crate::value::{Value, json, python};

/// How far what belongs to an id may reach on each side of the name, in bytes.
const MAX_AROUND: usize = 40;

/// The ways in which an id may stand in a conversation with calls of these names and their results, the longest id first.
pub(super) fn edits(conversation: &str, names: &[&str]) -> Vec<Edit> {
    let mut edits: Vec<(usize, Edit)> = Vec::new();
    for name in names {
        for (at, _) in conversation.match_indices(name) {
            let span = at..at + name.len();
            if let Some(body) = calls::enclosing(conversation, &span) {
                edits.extend(members(&conversation[body], conversation));
            }
            edits.extend(around(conversation, span));
        }
    }
    edits.sort_by_key(|(length, edit)| (std::cmp::Reverse(*length), edit.text.clone()));
    let mut found: Vec<Edit> = Vec::new();
    for (_, edit) in edits {
        if !found.contains(&edit) {
            found.push(edit);
        }
    }
    found
}

/// The members of a call's object that are written again.
fn members(object: &str, conversation: &str) -> Vec<(usize, Edit)> {
    let object = json::parse(object).unwrap_or(Value::Null);
    let members = object.as_object().into_iter().flatten();
    let made = members.filter_map(|(key, value)| {
        let id = value
            .as_str()
            .filter(|id| is_made(id, conversation, Ends::Apart))?;
        let edit = Edit::open(CALLS_KEY, key.as_str(), How::IdMember);
        Some((id.len(), edit))
    });
    made.collect()
}

/// The texts around a name with which it is written again.
fn around(conversation: &str, name: std::ops::Range<usize>) -> Vec<(usize, Edit)> {
    let behind = &conversation[name.end..];
    let signs = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let digits = behind[signs..].find(|c: char| !c.is_ascii_digit());
    let end = digits.map_or(behind.len(), |digits| signs + digits);
    let behind = &behind[..end];
    if behind.is_empty() || end > MAX_AROUND || behind.contains(python::is_space) {
        return Vec::new();
    }
    let before = &conversation[..name.start];
    let starts = before.char_indices().map(|(at, _)| at).rev();
    let starts = std::iter::once(name.start).chain(starts);
    let starts = starts.take_while(|at| {
        name.start - at <= MAX_AROUND && !before[*at..].contains(python::is_space)
    });
    let all: Vec<usize> = starts.collect();
    // Where what stands around the id is written in letters, too, nothing but its being written again tells where it ends.
    let longest = [Ends::Apart, Ends::Anywhere].iter().find_map(|ends| {
        let is_one =
            |at: &&usize| is_made(&conversation[**at..name.end + end], conversation, *ends);
        all.iter().rfind(is_one).copied()
    });
    let edit = longest.map(|at| {
        let behind = behind.to_owned();
        let edit = Edit::open(CALLS_KEY, &before[at..], How::IdAround { behind });
        (name.end + end - at, edit)
    });
    edit.into_iter().collect()
}

/// Where an id may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Where no letter or digit stands beside it.
    Apart,
    /// Wherever no digit goes on from it.
    Anywhere,
}

/// Returns true if the id is written at least twice in the conversation, and not within something longer.
fn is_made(id: &str, conversation: &str, ends: Ends) -> bool {
    let is_word = |c: char| c.is_alphanumeric() && (ends == Ends::Apart || c.is_ascii_digit());
    let all = conversation.match_indices(id).filter(|(at, _)| {
        let (before, behind) = (&conversation[..*at], &conversation[at + id.len()..]);
        !before.ends_with(is_word) && !behind.starts_with(is_word)
    });
    id.contains(|c: char| c.is_ascii_digit()) && all.count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_written_again_with_the_result() {
        let said = "<call>functions.find:0{\"a\": 1}</call><result>of functions.find:0: 7</result>";
        let found = edits(said, &["find"]);
        let behind = ":0".to_owned();
        assert_eq!(
            found,
            [Edit::open(
                CALLS_KEY,
                "functions.",
                How::IdAround { behind }
            )]
        );
        assert_eq!(
            edits(&said.replace("of functions.find:0", "of it"), &["find"]),
            []
        );
        let wordy = said
            .replace("<call>", "kupa")
            .replace("{\"a\": 1}", "lom{}");
        assert_eq!(edits(&wordy, &["find"]), found, "letters stand around it");
        let said = r#"[{"no": "a1", "name": "find", "with": {"x": "b2"}}] {"no": "a1", "is": 3}"#;
        let found = edits(said, &["find"]);
        assert_eq!(found, [Edit::open(CALLS_KEY, "no", How::IdMember)]);
    }
}
