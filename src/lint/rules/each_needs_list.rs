//! `transform_each` over what is no list.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};

pub(super) static RULE: Rule = Rule {
    code: "each-needs-list",
    severity: Severity::Error,
    summary: "`transform_each` is set, but the content parser never gives a list",
    why: "`transform_each` is for a region that holds a list of objects, which only the content parser `json` can give. Every \
          region fails.",
    remedy: "Leave `transform_each` out, or parse the content as `json`.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close": "</call>", "content": "kv-lines", "repeats": true,
                 "transform": {"name": "{name}"}, "transform_each": true}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close": "</call>", "content": "kv-lines", "repeats": true,
                 "transform": {"name": "{content.name}"}}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<call>name: look</call>",
            bad: "error: field 'tool_calls': transform_each needs a list, but the content is dict",
            good: r#"{"tool_calls": [{"name": "look"}]}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject.fields() {
        let parser = view.field.content.name();
        if view.field.transform_each && parser != "json" {
            let path = subject.path(view).key("transform_each");
            let message =
                format!("the content parser `{parser}` gives no list: every region fails");
            found.push(
                subject
                    .at_key(&RULE, &path, message)
                    .with_hint("leave transform_each out to transform the content as a whole"),
            );
        }
    }
}
