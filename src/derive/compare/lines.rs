//! The lines of renders as the constants of which the chat template makes them, and which of these make one marker together.
//!
//! How the source divides white space among constants counts for nothing: `'<a>'`, `' '` and `'<b>'` may be three constants, or `'<a>'` and
//! `' <b>'` two. So white space between two constants is put to the first of them, and it counts that it is there, not how much it is.

use std::collections::{BTreeSet, HashMap};

use super::text::is_part_of_word;
use crate::chat_template::{InputStep, Origin, Traced};
use crate::value::python;

/// The writer of a stretch of a render: the chat template, or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// The chat template, or an input that is the same for all messages of a kind: a role, a token that is given.
    Constant,
    /// A message's text, or a tool's.
    Text,
}

fn writer(origin: &Origin) -> Writer {
    let Origin::Input { path, .. } = origin else {
        return Writer::Constant;
    };
    match (path.first(), path.last()) {
        (Some(InputStep::Key(first)), Some(InputStep::Key(last))) if first == "messages" => {
            if last == "role" {
                Writer::Constant
            } else {
                Writer::Text
            }
        }
        (Some(InputStep::Key(first)), _) if first != "tools" && first != "documents" => {
            Writer::Constant
        }
        _ => Writer::Text,
    }
}

/// The constants of one line of a render in order; `None` stands for any text of a message, and for the text that may follow a render.
pub(super) type Line = Vec<Option<String>>;

/// The lines of a render.
pub(super) fn lines(render: &Traced) -> Vec<Line> {
    let mut lines: Vec<Line> = vec![Vec::new()];
    for run in &render.runs {
        let writer = writer(&run.origin);
        let text = &render.text[run.start..run.end];
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut().filter(|_| !part.is_empty()) {
                line.push((writer == Writer::Constant).then(|| part.to_owned()));
            }
        }
    }
    // Behind a prompt stands what the model writes.
    if let Some(line) = lines.last_mut().filter(|line| !line.is_empty()) {
        line.push(None);
    }
    lines.into_iter().map(spaced).collect()
}

/// The line with the white space between two constants at the end of the first of them. Between two texts it is left out.
fn spaced(line: Line) -> Line {
    let mut moved = Line::new();
    let mut blank = String::new();
    for constant in line {
        let Some(constant) = constant else {
            blank.clear();
            moved.push(None);
            continue;
        };
        let rest = constant.trim_start_matches(python::is_space);
        let space = &constant[..constant.len() - rest.len()];
        match moved.last_mut() {
            Some(Some(before)) => {
                before.push_str(space);
                if !rest.is_empty() {
                    moved.push(Some(rest.to_owned()));
                }
            }
            _ if rest.is_empty() => blank.push_str(space),
            _ => moved.push(Some(std::mem::take(&mut blank) + &constant)),
        }
    }
    moved
}

/// The constant with one space for the white space at each of its ends.
fn key(constant: &str) -> String {
    let space = |is: bool| if is { " " } else { "" };
    let core = constant.trim_matches(python::is_space);
    let before = space(constant.starts_with(python::is_space));
    let behind = space(constant.ends_with(python::is_space));
    format!("{before}{core}{behind}")
}

/// The constants that go on directly with a letter of another one or with a text, and those that go on from one.
pub(super) fn touching(lines: &[Line]) -> [BTreeSet<String>; 2] {
    let [mut on, mut from] = <[BTreeSet<String>; 2]>::default();
    for (one, other) in lines
        .iter()
        .flat_map(|line| line.iter().zip(line.iter().skip(1)))
    {
        let is_behind = other
            .as_ref()
            .is_none_or(|other| other.starts_with(is_part_of_word));
        let is_before = one
            .as_ref()
            .is_none_or(|one| one.ends_with(is_part_of_word));
        on.extend(
            one.clone()
                .filter(|one| is_behind && one.ends_with(is_part_of_word)),
        );
        from.extend(
            other
                .clone()
                .filter(|other| is_before && other.starts_with(is_part_of_word)),
        );
    }
    [on, from]
}

/// Returns true if the place, in bytes of the text, is between two characters of a word.
pub(super) fn is_amid_word(text: &str, at: usize) -> bool {
    text[..at].ends_with(is_part_of_word) && text[at..].starts_with(is_part_of_word)
}

/// Returns the constants that another constant always follows, and never a text or the end of a line.
pub(super) fn open(lines: &[Line]) -> BTreeSet<String> {
    let all = lines.iter().flatten().flatten();
    let mut open: BTreeSet<String> = all.map(|constant| key(constant)).collect();
    for line in lines {
        for (index, constant) in line.iter().enumerate() {
            let is_followed = line.get(index + 1).is_some_and(Option::is_some);
            if let Some(constant) = constant.as_deref().filter(|_| !is_followed) {
                open.remove(&key(constant));
            }
        }
    }
    open
}

/// Returns the constants that are seen with no constant before them and that need none behind them. They are markers, and what stands
/// beside one of them in a longer constant is a marker, too.
pub(super) fn alone(lines: &[Line], open: &BTreeSet<String>) -> BTreeSet<String> {
    let starts = first(lines).into_iter();
    starts.filter(|one| !open.contains(one)).collect()
}

/// Returns the constants that are seen with no constant before them. A marker begins where one of them does, wherever it ends.
pub(super) fn first(lines: &[Line]) -> BTreeSet<String> {
    let starts = lines.iter().flat_map(|line| {
        let starts = line.iter().enumerate().filter(|(index, _)| {
            let before = index.checked_sub(1).map(|before| &line[before]);
            before.is_none_or(Option::is_none)
        });
        starts.filter_map(|(_, constant)| constant.as_deref().map(key))
    });
    starts.collect()
}

/// Joins each constant in `open` with the one that follows it, if that is in `open` as well, if the two are only ever seen together, or if
/// the first was joined to the one before it already. `<|`, a role and `|>` become one, since no role is seen without its `|>`. `<bot>`
/// stays a marker of its own although `<think>` or `</think>` always follows it.
pub(super) fn joined(lines: &[Line], open: &BTreeSet<String>) -> Vec<Line> {
    let mut after: HashMap<String, BTreeSet<String>> = HashMap::new();
    let mut before: HashMap<String, BTreeSet<Option<String>>> = HashMap::new();
    for line in lines {
        for (index, constant) in line.iter().enumerate() {
            let Some(constant) = constant.as_deref().map(key) else {
                continue;
            };
            let previous = index
                .checked_sub(1)
                .and_then(|index| line[index].as_deref().map(key));
            if let Some(Some(next)) = line.get(index + 1) {
                let all = after.entry(constant.clone()).or_default();
                all.insert(key(next));
            }
            before.entry(constant).or_default().insert(previous);
        }
    }
    let alone = alone(lines, open);
    let are_inseparable = |one: &str, other: &str| {
        after.get(one).is_some_and(|all| all.len() == 1)
            && before.get(other).is_some_and(|all| all.len() == 1)
    };
    let is_one = |one: &str, other: &str, was_joined: bool| {
        let (one, other) = (&key(one), &key(other));
        let may_go_on = was_joined || !alone.contains(other);
        let goes_on = was_joined || open.contains(other) || are_inseparable(one, other);
        open.contains(one) && may_go_on && goes_on
    };
    let join = |line: &Line| {
        let mut joined: Line = Vec::new();
        let mut last: Option<&String> = None;
        let mut was_joined = false;
        for constant in line {
            match (last, constant, joined.last_mut()) {
                (Some(one), Some(other), Some(Some(whole))) if is_one(one, other, was_joined) => {
                    whole.push_str(other);
                    was_joined = true;
                }
                _ => {
                    joined.push(constant.clone());
                    was_joined = false;
                }
            }
            last = constant.as_ref();
        }
        joined
    };
    lines.iter().map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of a render whose texts are `?`, and the others constants.
    fn seen(constants: &[&str]) -> Line {
        let line = constants
            .iter()
            .map(|one| (*one != "?").then(|| (*one).to_owned()));
        spaced(line.collect())
    }

    /// The constants that others always follow, those that are seen alone, and the lines with constants joined to markers.
    fn told(lines: &[Line]) -> (BTreeSet<String>, BTreeSet<String>, Vec<Line>) {
        let open = open(lines);
        (open.clone(), alone(lines, &open), joined(lines, &open))
    }

    #[test]
    fn white_space_may_be_a_constant_by_itself_or_a_part_of_one() {
        let apart = [
            seen(&[
                "?", "   ", "<bot>", " ", "   ", "<think>", " ", "?", " ", "<end>",
            ]),
            seen(&["?", "   ", "<bot>", " ", " ", "</think>", " ", "?"]),
        ];
        let together = [
            seen(&["?", "   <bot> ", "   <think> ", "?", " <end>"]),
            seen(&["?", "   <bot> ", " </think> ", "?"]),
        ];
        let (open, _, lines) = told(&apart);
        assert_eq!(open, [" <bot> ".to_owned()].into(), "one key for both");
        assert_eq!(lines, apart, "two constants follow it");
        assert_eq!(told(&apart), told(&together));
    }

    #[test]
    fn signs_around_a_role_are_told_apart_by_the_white_space_behind_one() {
        let lines = [
            seen(&["|", "bot", "| ", "?"]),
            seen(&["|", "user", "|", " ", "?"]),
        ];
        let whole = |role: &str| vec![Some(format!("|{role}| ")), None];
        assert_eq!(told(&lines).2, ["bot", "user"].map(whole));
    }

    #[test]
    fn white_space_between_constants_stays_in_a_longer_marker() {
        let lines = [seen(&["to", " ", "=", " all", "?"])];
        assert_eq!(told(&lines).2, [[Some("to = all".to_owned()), None]]);
    }
}
