//! The rules, one file each, and what several of them ask.

mod anchor_not_rendered;
mod arguments_wait;
mod bad_arguments;
mod close_capture;
mod close_in_json;
mod close_in_string;
mod dialect;
mod dollar;
mod duplicate_key;
mod each_needs_list;
mod holds_back;
mod key_not_read_back;
mod last_call_only;
mod last_text_only;
mod loses_text;
mod matches_prose;
mod merge_fails;
mod never_matches;
mod optional_capture;
mod pattern_in_literal;
mod repeats_without_close;
mod required_but_empty;
mod shadowed_capture;
mod space_after_region;
mod text_after_close;
mod unknown_argument;
mod unknown_placeholder;
mod zero_width;

use super::Rule;
use super::subject::{FieldView, comes_later};
use crate::value::Value;

/// All rules: what loses text, what fails, what waits, what the chat template and other programs see.
pub(super) const ALL: &[&Rule] = &[
    &text_after_close::RULE,
    &space_after_region::RULE,
    &last_text_only::RULE,
    &last_call_only::RULE,
    &loses_text::RULE,
    &dollar::RULE,
    &zero_width::RULE,
    &pattern_in_literal::RULE,
    &duplicate_key::RULE,
    &never_matches::RULE,
    &matches_prose::RULE,
    &close_in_json::RULE,
    &close_in_string::RULE,
    &repeats_without_close::RULE,
    &close_capture::RULE,
    &unknown_placeholder::RULE,
    &optional_capture::RULE,
    &shadowed_capture::RULE,
    &each_needs_list::RULE,
    &merge_fails::RULE,
    &bad_arguments::RULE,
    &unknown_argument::RULE,
    &required_but_empty::RULE,
    &holds_back::RULE,
    &arguments_wait::RULE,
    &anchor_not_rendered::RULE,
    &key_not_read_back::RULE,
    &dialect::RULE,
];

/// The type of a region's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    List,
    /// A number, a truth value or an object.
    Other,
    /// A value whose type depends on the text.
    Unknown,
}

impl Kind {
    fn of(view: FieldView<'_>) -> Self {
        if view.field.transform_each {
            return Self::List;
        }
        match view.members.get("transform") {
            None | Some(Value::Null) => match view.field.content.name() {
                "text" => Self::Text,
                "json" => Self::Unknown,
                _ => Self::Other,
            },
            Some(Value::String(_)) => Self::Unknown,
            Some(Value::Array(_)) => Self::List,
            Some(_) => Self::Other,
        }
    }
}

#[cfg(test)]
use crate::diagnostic::Diagnostic;

/// The findings of one rule.
#[cfg(test)]
fn found(code: &str, text: &str) -> Vec<Diagnostic> {
    let mut found = super::lint(text, &super::Options::default());
    found.retain(|diagnostic| diagnostic.code == code);
    found
}

/// The text with all fixes applied.
#[cfg(test)]
fn fixed(text: &str) -> String {
    super::fix(text, &super::Options::default()).text
}

#[cfg(test)]
mod tests {
    use super::super::{Options, fix, lint};
    use super::*;
    use crate::chat_template;

    /// Every rule's example: found where it is bad, not where it is good, and what comes of them is what it says.
    #[test]
    fn examples_show_what_they_say() {
        let mut failures = Vec::new();
        let mut wrong = |is: bool, code: &str, what: &str, seen: &dyn std::fmt::Debug| {
            if is {
                failures.push(format!("{code}: {what}: {seen:?}"));
            }
        };
        for rule in ALL {
            let example = rule.example;
            let chat = example
                .chat
                .map(|chat| chat_template::from_text("example", chat).expect("a chat template"));
            let options = Options {
                chat: chat.as_ref(),
                ..Options::default()
            };
            let code = rule.code;
            let found = |text: &str| {
                let found = lint(text, &options).into_iter();
                let found: Vec<_> = found.filter(|diagnostic| diagnostic.code == code).collect();
                found
            };
            let bad = found(example.bad);
            let placed = bad.iter().all(|diagnostic| {
                diagnostic.place.span.is_some() && diagnostic.severity <= rule.severity
            });
            wrong(
                bad.is_empty() || !placed,
                code,
                "the bad one is found",
                &bad,
            );
            let good = found(example.good);
            wrong(!good.is_empty(), code, "the good one is clean", &good);
            if let Some((outcome, said, _)) = example.outcome(example.bad) {
                wrong(outcome != said, code, "what comes of the bad one", &outcome);
            }
            if let Some((outcome, _, said)) = example.outcome(example.good) {
                wrong(
                    outcome != said,
                    code,
                    "what comes of the good one",
                    &outcome,
                );
            }
            if bad.iter().all(|diagnostic| diagnostic.fix.is_some()) {
                let fixed = fix(example.bad, &options).text;
                let left = found(&fixed);
                wrong(
                    !left.is_empty(),
                    code,
                    "the fixed one is clean",
                    &(&fixed, left),
                );
                if let Some((outcome, _, said)) = example.outcome(&fixed) {
                    wrong(
                        outcome != said,
                        code,
                        "what comes of the fixed one",
                        &(&fixed, outcome),
                    );
                }
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn codes_are_told_apart() {
        let mut codes: Vec<&str> = ALL.iter().map(|rule| rule.code).collect();
        codes.extend(super::super::other_codes().map(|known| known.code));
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }
}
