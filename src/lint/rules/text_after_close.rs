//! Text behind the close of the implicit field opens it again.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::value::json::quote;

pub(super) static RULE: Rule = Rule {
    code: "text-after-close",
    severity: Severity::Warning,
    summary: "text behind the close of the implicit field, even a line feed, replaces what the field had",
    why: "The close of the implicit field ends its region, but what follows is text that no region claims, so it opens the \
          field again. Without `repeats` the last region counts: of a response that ends with the close and a line feed \
          nothing is left.",
    remedy: "Let the close take the white space behind it.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"content": {"close": "</bot>"}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"content": {"close_pattern": "</bot>\\s*"}}}"#,
        chat: None,
        shows: Shows::Message {
            response: "Hello</bot>\n",
            bad: r#"{}"#,
            good: r#"{"content": "Hello"}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let Some(implicit) = subject.implicit().filter(|view| !view.field.repeats) else {
        return;
    };
    let Some(close) = subject.delimiter(implicit, Side::Close) else {
        return;
    };
    let Some(sample) = close.leaves_space() else {
        return;
    };
    let message = format!(
        "a line feed behind {} opens {} again and replaces its text",
        quote(&sample),
        quote(&implicit.field.name)
    );
    found.push(subject.at_close_that_leaves_space(&RULE, close, message));
}
