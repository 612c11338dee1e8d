//! A group named `content`.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};

pub(super) static RULE: Rule = Rule {
    code: "shadowed-capture",
    severity: Severity::Warning,
    summary: "a group named `content` is hidden by the region's own content",
    why: "In a transform's scope `{content}` is what the region holds. What a group of that name captured cannot be had.",
    remedy: "Give the group another name.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "<call:(?P<content>\\w+)>", "close": "</call>", "content": "json", "repeats": true,
                 "transform": {"name": "{content}"}}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "<call:(?P<name>\\w+)>", "close": "</call>", "content": "json", "repeats": true,
                 "transform": {"name": "{name}"}}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<call:look>1</call>",
            bad: r#"{"tool_calls": [{"name": 1}]}"#,
            good: r#"{"tool_calls": [{"name": "look"}]}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject.fields().filter(|view| !view.field.transform_each) {
        let Some(open) = subject.delimiter(view, Side::Open) else {
            continue;
        };
        if open
            .pattern
            .group_names()
            .iter()
            .any(|name| name == "content")
        {
            let message = "the group `content` is hidden by the region's own content";
            found.push(
                subject
                    .at(&RULE, &open.path, message)
                    .with_hint("give the group another name"),
            );
        }
    }
}
