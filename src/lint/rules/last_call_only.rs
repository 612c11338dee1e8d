//! Tool calls that are one value instead of a list.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::response_template::Field;
use crate::value::Value;

use super::Kind;

pub(super) static RULE: Rule = Rule {
    code: "last-call-only",
    severity: Severity::Warning,
    summary: "`tool_calls` becomes one call, the last, instead of a list",
    why: "Without `repeats` every call replaces the one before, and what is left is an object where chat templates and clients \
          expect a list.",
    remedy: "Add `\"repeats\": true`, or, where one region holds a list of all calls, `\"transform_each\": true`.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close": "</call>", "content": "json",
                 "transform": {"type": "function", "function": "{content}"}}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close": "</call>", "content": "json", "repeats": true,
                 "transform": {"type": "function", "function": "{content}"}}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: r#"<call>{"name": "a"}</call><call>{"name": "b"}</call>"#,
            bad: r#"{"tool_calls": {"type": "function", "function": {"name": "b"}}}"#,
            good: r#"{"tool_calls": [{"type": "function", "function": {"name": "a"}}, {"type": "function", "function": {"name": "b"}}]}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject.explicit() {
        let Field { name, repeats, .. } = view.field;
        if name != "tool_calls" || *repeats || matches!(Kind::of(view), Kind::List | Kind::Unknown)
        {
            continue;
        }
        let mut diagnostic = subject
            .at_key(
                &RULE,
                &subject.path(view),
                "each call replaces the one before, and what is left is no list",
            )
            .with_hint("add \"repeats\": true");
        diagnostic.fix = subject
            .add_member(view, "repeats", &Value::Bool(true), "collect all calls")
            .filter(|_| !view.members.contains_key("repeats"));
        found.push(diagnostic);
    }
}
