//! White space behind an explicit region is text of the implicit field.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::value::json::quote;

use super::comes_later;

pub(super) static RULE: Rule = Rule {
    code: "space-after-region",
    severity: Severity::Warning,
    summary: "white space behind a region replaces the text that the implicit field had before it",
    why: "Between two tool calls, or behind the last one, models write a line feed. It is text that no region claims, so it \
          becomes the implicit field's, and without `repeats` it replaces what stood there before the call.",
    remedy: "Let the close take the white space behind it.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json"},
  "content": {}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close_pattern": "</call>\\s*", "repeats": true, "content": "json"},
  "content": {}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "Let me look.<call>1</call>\n<call>2</call>",
            bad: r#"{"tool_calls": [1, 2]}"#,
            good: r#"{"content": "Let me look.", "tool_calls": [1, 2]}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let Some(implicit) = subject.implicit().filter(|view| !view.field.repeats) else {
        return;
    };
    for view in subject.explicit().filter(|view| comes_later(view.field)) {
        let Some(close) = subject.delimiter(view, Side::Close) else {
            continue;
        };
        let Some(sample) = close.leaves_space() else {
            continue;
        };
        let message = format!(
            "a line feed behind {} replaces what {} had before the region",
            quote(&sample),
            quote(&implicit.field.name)
        );
        found.push(subject.at_close_that_leaves_space(&RULE, close, message));
    }
}
