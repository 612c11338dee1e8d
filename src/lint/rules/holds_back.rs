//! Patterns that keep text waiting.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::pattern::facts::Hold;

pub(super) static RULE: Rule = Rule {
    code: "holds-back",
    severity: Severity::Warning,
    summary: "a delimiter's pattern keeps a streamed response from being handed on",
    why: "Text that may belong to a delimiter is held until that is known. A pattern that begins with any text holds all of the \
          response, one that goes on without end holds everything from its first match, and one that looks ahead without end \
          holds what it looks through. The message is the same, but nothing is streamed.",
    remedy: "Begin the pattern with what distinguishes it, end it with its last literal, and leave look-ahead to where the text \
             itself does not tell.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "thinking": {"open": "<think>", "close": "</think>"},
  "content": {"close_pattern": "[^<]*?</bot>"}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "thinking": {"open": "<think>", "close": "</think>"},
  "content": {"close_pattern": "</bot>"}
}}"#,
        chat: None,
        shows: Shows::Streamed {
            response: "Hello, how are you?",
            bad: r#""""#,
            good: r#""Hello, how are you?""#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for delimiter in subject.delimiters() {
        let (message, hint) = match delimiter.facts.hold() {
            None => continue,
            Some(Hold::FromAnywhere) => (
                "any text may be the beginning of a match, so that all of it is held back",
                "begin the pattern with what distinguishes it",
            ),
            Some(Hold::ToTheEnd) => (
                "once a match has begun it can always become longer, so that everything from there on is held back",
                "let the repetition be lazy, with a literal behind it",
            ),
            Some(Hold::Ahead) => (
                "once a match has begun, all text that it looks through is held back",
                "where the text itself tells, leave the look ahead out",
            ),
        };
        found.push(subject.at(&RULE, &delimiter.path, message).with_hint(hint));
    }
}
