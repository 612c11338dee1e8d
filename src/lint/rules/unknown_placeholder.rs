//! Placeholders that nothing supplies.

use crate::content::placeholders;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::response_template::nearest::nearest;
use crate::value::Value;

pub(super) static RULE: Rule = Rule {
    code: "unknown-placeholder",
    severity: Severity::Error,
    summary: "a placeholder of a transform names what neither a group of the open nor the content supplies",
    why: "In a transform's scope are the named groups of the open and `content`; with `transform_each` the groups and the \
          members of the item, but not `content`. A placeholder for anything else, or for a member of what is text, fails \
          with the first region.",
    remedy: "Name a group of the open, `content`, or a member of it.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "<call:(?P<name>\\w+)>", "close": "</call>", "content": "json", "repeats": true,
                 "transform": {"name": "{nmae}", "arguments": "{content}"}}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "<call:(?P<name>\\w+)>", "close": "</call>", "content": "json", "repeats": true,
                 "transform": {"name": "{name}", "arguments": "{content}"}}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<call:look>{}</call>",
            bad: "error: field 'tool_calls': {nmae} of the transform names nothing: there is no `nmae`",
            good: r#"{"tool_calls": [{"name": "look", "arguments": {}}]}"#,
        },
    },
    check,
};

const CONTENT: &str = "content";

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject.fields() {
        let transform = view.members.get("transform").unwrap_or(&Value::Null);
        let open = subject.delimiter(view, Side::Open);
        let captured = open.map_or(&[][..], |open| open.pattern.group_names());
        let closing = subject.delimiter(view, Side::Close);
        let closing = closing.map_or(&[][..], |close| close.pattern.group_names());
        for placeholder in placeholders(transform) {
            let Some((root, keys)) = placeholder.names.split_first() else {
                continue;
            };
            let is_captured = captured.contains(root);
            let name = placeholder.names.join(".");
            let (message, hint) = if view.field.transform_each {
                if root != CONTENT || is_captured {
                    continue;
                }
                (
                    format!(
                        "{{{name}}} is not in scope: with transform_each the item's members are, not `content`"
                    ),
                    Some("name the member itself, as in {name}".to_owned()),
                )
            } else if !is_captured && root != CONTENT {
                // Another rule reports that a group of the close does not count.
                if closing.contains(root) {
                    continue;
                }
                let mut known: Vec<&str> = captured.iter().map(String::as_str).collect();
                known.push(CONTENT);
                let hint = match nearest(root, &known) {
                    Some(near) => format!("did you mean {{{near}}}?"),
                    None => format!("there are {}", known.join(", ")),
                };
                (
                    format!("{{{name}}} names nothing: every region fails"),
                    Some(hint),
                )
            } else if keys.is_empty() {
                continue;
            } else if root == CONTENT {
                if !view.field.content.is_streamable() {
                    continue;
                }
                let parser = view.field.content.name();
                (
                    format!(
                        "{{{name}}} looks for a key in what the content parser `{parser}` gives, which has none"
                    ),
                    Some("use a content parser that gives an object, such as json".to_owned()),
                )
            } else {
                (
                    format!("{{{name}}} looks for a key in the text that a group captured"),
                    None,
                )
            };
            let path = subject.path(view).key("transform").join(&placeholder.path);
            let mut diagnostic = subject.at(&RULE, &path, message);
            diagnostic.hint = hint;
            if view.field.transform_each {
                diagnostic.severity = Severity::Warning;
            }
            found.push(diagnostic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;

    #[test]
    fn what_is_in_scope_depends_on_the_field() {
        let field = |rest: &str| {
            format!(
                r#"{{"start_anchor": "a", "fields": {{"f": {{"open_pattern": "<(?P<n>.)>", "close": "</>", {rest}}}}}}}"#
            )
        };
        for (rest, count) in [
            (r#""content": "json", "transform": "{content.a.b}""#, 0),
            (r#""content": "text", "transform": "{content.a}""#, 1),
            (
                r#""content": "json", "transform": ["{n}", "{n.a}", "{m}"]"#,
                2,
            ),
            (
                r#""content": "json", "transform_each": true, "transform": {"a": "{n}", "b": "{m.x}"}"#,
                0,
            ),
            (
                r#""content": "json", "transform_each": true, "transform": {"a": "{content}"}"#,
                1,
            ),
        ] {
            let text = field(rest);
            assert_eq!(found("unknown-placeholder", &text).len(), count, "{text}");
        }
    }
}
