//! Characters of a text that a chat template writes otherwise than they are: `<` as `&lt;`, or not at all, or a line feed with an indentation behind it.
//!
//! No content parser of the format takes that back, but for the escapes of JSON, and texts that are written as JSON are read before. So a
//! text with such a character in it is lost, whatever the response template. Each character is tried between two words. First all of them are
//! tried in one text, which is written as it is by nearly every chat template: that costs one render, and one more for each character
//! where it is not.

use super::limit::{Limit, Lost, Part};
use crate::derive::probe::{self, Assistant};

/// The characters that are tried: those of ASCII, and a line feed.
const TRIED: &str = "!#$%&()*+,-./:;<=>?@[]^_`\n{|}~\\'\"";

/// The characters beside a line feed at which Python takes a text apart into lines.
const OTHER_LINE_ENDS: [char; 9] = [
    '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}',
];

fn ends_line(sign: char) -> bool {
    sign == '\n' || OTHER_LINE_ENDS.contains(&sign)
}

/// Characters that are written otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct Escaped {
    pub(in crate::derive) signs: String,
    /// The text that is written for the first of them.
    pub(in crate::derive) example: String,
}

impl Escaped {
    /// Finds the characters that are written otherwise between two words. `written` is what the chat template writes for a text; `None` where that
    /// is not found, from which nothing follows.
    pub(in crate::derive) fn find(
        words: [&str; 2],
        written: impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let [before, behind] = words;
        let between = |signs: &str| {
            let text = written(&format!("{before} {signs} {behind}"))?;
            let text = text.strip_prefix(before)?.strip_suffix(behind)?;
            Some(text.trim().to_owned())
        };
        if between(TRIED).is_some_and(|written| written == TRIED) {
            return None;
        }
        let mut found: Option<Self> = None;
        // What takes a text apart at its line feeds may do so where other lines end, too.
        for sign in TRIED.chars().chain(OTHER_LINE_ENDS) {
            // Where a line ends is tried between two digits: at the ends of a text white space may be taken off.
            let tried = match ends_line(sign) {
                true => format!("1{sign}2"),
                false => sign.to_string(),
            };
            let Some(example) = between(&tried).filter(|written| *written != tried) else {
                continue;
            };
            let found = found.get_or_insert(Self {
                signs: String::new(),
                example,
            });
            found.signs.push(sign);
        }
        found
    }

    /// The limit that they are in such a part of a message.
    pub(in crate::derive) fn limit(&self, part: Part) -> Limit {
        let Self { signs, example } = self;
        let what = match part {
            Part::Content => "the content",
            Part::Reasoning => "a reasoning",
            Part::Arguments => "the text of an argument",
        };
        let visible = signs.chars().filter(|sign| !ends_line(*sign));
        let line_end = signs.contains(ends_line).then(|| "line ends".to_owned());
        let signs: Vec<String> = visible.map(String::from).chain(line_end).collect();
        Limit {
            text: format!(
                "the chat template writes characters of {what} otherwise than they are ({}), like {example:?}, which no content parser undoes",
                signs.join(" ")
            ),
            lost: Lost::Signs(part, self.signs.clone()),
        }
    }
}

/// Returns the limits of a content and of a reasoning, if the chat template takes one. `turn` is the turn that it writes for a message.
pub(in crate::derive) fn limits(
    takes_reasoning: bool,
    turn: impl Fn(&Assistant, &str) -> Option<String>,
) -> Vec<Limit> {
    let find = |probe: &str, message: &dyn Fn(&str) -> Assistant| {
        let (before, behind) = probe.split_once(' ')?;
        Escaped::find([before, behind], |text| {
            let turn = turn(&message(text), before)?;
            let from = turn.find(before)?;
            let to = from + turn[from..].find(behind)? + behind.len();
            Some(turn[from..to].to_owned())
        })
    };
    let thinking = |text: &str| Assistant::saying(probe::CONTENT).thinking(text);
    let content = find(probe::CONTENT, &Assistant::saying);
    let reasoning = takes_reasoning.then(|| find(probe::REASONING, &thinking));
    let content = content.map(|found| found.limit(Part::Content));
    let reasoning = reasoning
        .flatten()
        .map(|found| found.limit(Part::Reasoning));
    content.into_iter().chain(reasoning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_that_are_written_as_they_are_cost_one_render() {
        let renders = std::cell::Cell::new(0);
        let found = Escaped::find(["opal", "drift"], |text| {
            renders.set(renders.get() + 1);
            Some(text.to_owned())
        });
        assert_eq!((found, renders.get()), (None, 1));
    }

    #[test]
    fn signs_that_are_escaped_or_left_out_are_found() {
        let written = |text: &str| Some(text.replace('<', "&lt;").replace('*', ""));
        let found = Escaped::find(["opal", "drift"], written).unwrap();
        assert_eq!((found.signs.as_str(), found.example.as_str()), ("*<", ""));
        // Where a text is not found with a character, the chat template may take it for something else.
        let cut = |text: &str| (!text.contains('<')).then(|| text.replace('&', "&amp;"));
        let found = Escaped::find(["opal", "drift"], cut).unwrap();
        assert_eq!(
            (found.signs.as_str(), found.example.as_str()),
            ("&", "&amp;")
        );
    }

    #[test]
    fn a_line_feed_with_an_indentation_is_found() {
        let written = |text: &str| Some(text.lines().collect::<Vec<_>>().join("\n  "));
        let found = Escaped::find(["opal", "drift"], written).unwrap();
        assert_eq!(
            (found.signs.as_str(), found.example.as_str()),
            ("\n", "1\n  2")
        );
        let limit = found.limit(Part::Content);
        assert!(limit.text.contains("(line ends)"), "{}", limit.text);
        // Python takes a text apart at other characters, too.
        let separated = |text: &str| Some(text.replace(['\n', '\u{2028}'], "\n  "));
        let found = Escaped::find(["opal", "drift"], separated).unwrap();
        assert_eq!(found.signs, "\n\u{2028}");
    }

    #[test]
    fn texts_are_found_in_turns() {
        let turn = |message: &Assistant, _: &str| {
            let content = message.content.as_deref()?.replace('&', "&amp;");
            Some(match &message.reasoning {
                Some(reasoning) => format!("<t>{reasoning}</t>{content}."),
                None => format!("{content}."),
            })
        };
        let parts = |takes_reasoning| {
            let limits = limits(takes_reasoning, turn).into_iter();
            limits.map(|limit| limit.text).collect::<Vec<_>>()
        };
        let [only] = parts(true).try_into().unwrap();
        assert!(only.contains("of the content otherwise"), "{only}");
        assert!(only.contains("(&), like \"&amp;\""), "{only}");
        assert_eq!(parts(false), [only]);
    }

    #[test]
    fn a_message_is_lost_by_the_signs_of_its_own_part() {
        let escaped = Escaped {
            signs: "<".to_owned(),
            example: "&lt;".to_owned(),
        };
        let limit = escaped.limit(Part::Content);
        assert!(limit.is_in(&Assistant::saying("a < b")));
        assert!(!limit.is_in(&Assistant::saying("a > b")));
        assert!(!limit.is_in(&Assistant::saying("a").thinking("a < b")));
    }
}
