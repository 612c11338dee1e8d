//! Groups that need not take part.

use crate::content::placeholders;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::value::Value;

pub(super) static RULE: Rule = Rule {
    code: "optional-capture",
    severity: Severity::Warning,
    summary: "a transform needs a group that does not take part in every match of the open",
    why: "A group that took no part in the match, because it stands in an optional part or in another alternative, is not in \
          scope at all: the transform fails for that region.",
    remedy: "Let the group itself match nothing instead of leaving it out, or name the same group in every alternative.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "<call(?: id=(?P<id>\\d+))?>", "close": "</call>", "content": "json", "repeats": true,
                 "transform": {"id": "{id}", "function": "{content}"}}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "<call(?: id=)?(?P<id>\\d*)>", "close": "</call>", "content": "json", "repeats": true,
                 "transform": {"id": "{id}", "function": "{content}"}}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<call>1</call>",
            bad: "error: field 'tool_calls': {id} of the transform names nothing: there is no `id`",
            good: r#"{"tool_calls": [{"id": "", "function": 1}]}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    // With transform_each an item may have what the group does not.
    for view in subject.fields().filter(|view| !view.field.transform_each) {
        let Some(open) = subject.delimiter(view, Side::Open) else {
            continue;
        };
        let transform = view.members.get("transform").unwrap_or(&Value::Null);
        let asked = placeholders(transform);
        for name in open.pattern.group_names() {
            let Some(placeholder) = asked
                .iter()
                .find(|placeholder| placeholder.names.first() == Some(name) && name != "content")
            else {
                continue;
            };
            if open.facts.takes_part(name) {
                continue;
            }
            let message =
                format!("`{name}` does not take part in every match, and then the transform fails");
            let mut diagnostic = subject
                .at(&RULE, &open.path, message)
                .with_hint("let the group match nothing instead of leaving it out");
            let path = subject.path(view).key("transform").join(&placeholder.path);
            diagnostic
                .labels
                .extend(subject.label(&path, "needed here"));
            found.push(diagnostic);
        }
    }
}
