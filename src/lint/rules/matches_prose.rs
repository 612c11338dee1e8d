//! Delimiters that ordinary sentences hold.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::pattern::facts::Emptiness;
use crate::value::json::quote;

pub(super) static RULE: Rule = Rule {
    code: "matches-prose",
    severity: Severity::Error,
    summary: "a delimiter matches in ordinary sentences",
    why: "An open that is made of optional parts and of what any word has begins its region in the middle of an answer. What \
          the linter searches is a short text of plain sentences.",
    remedy: "Let the pattern need a marker that ordinary text does not have.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "(?:<call>)?(?P<name>\\w+)\\s*", "close": "</call>", "repeats": true,
                 "transform": {"name": "{name}", "arguments": "{content}"}},
  "content": {}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "<call>(?P<name>\\w+)\\s*", "close": "</call>", "repeats": true,
                 "transform": {"name": "{name}", "arguments": "{content}"}},
  "content": {}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "Hello!",
            bad: r#"{"tool_calls": [{"name": "Hello", "arguments": "!"}]}"#,
            good: r#"{"content": "Hello!"}"#,
        },
    },
    check,
};

/// Texts that any model may answer with.
const PROSE: &str = "Certainly! Here is what I found. It has 2 parts, and the first one is short:\n\nWell, that's all (for now). \
                     Let me know if you'd like more.";

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let implicit = subject.template().implicit();
    // Without an implicit field there are no sentences outside the regions.
    if implicit.is_none() {
        return;
    }
    for delimiter in subject.delimiters() {
        let outside = delimiter.side == Side::Open || implicit == Some(delimiter.field);
        // Patterns that match nothing are the matter of another rule.
        if !outside || delimiter.facts.emptiness() == Emptiness::Everywhere {
            continue;
        }
        let matched = match delimiter.pattern.search(PROSE, 0) {
            Ok(Some(found)) if !found.span.is_empty() => &PROSE[found.span],
            _ => continue,
        };
        let message = format!(
            "the pattern matches in ordinary sentences, such as {}",
            quote(matched)
        );
        found.push(
            subject
                .at(&RULE, &delimiter.path, message)
                .with_hint("let it need a marker that ordinary text does not have"),
        );
    }
}
