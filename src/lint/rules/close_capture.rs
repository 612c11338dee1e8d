//! Named groups of a close.

use crate::content::placeholders;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::pattern::facts;

pub(super) static RULE: Rule = Rule {
    code: "close-capture",
    severity: Severity::Error,
    summary: "a named group of a close is never in the transform's scope",
    why: "A transform sees what the open captured and what the region holds. The groups of the close pass validation, but \
          nothing ever sees them: a placeholder for one fails with the first region.",
    remedy: "Capture it in the open, with a look ahead where it stands behind, or make the group unnamed.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close_pattern": "</call:(?P<name>\\w+)>", "content": "json", "repeats": true,
                 "transform": {"name": "{name}", "arguments": "{content}"}}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "<call>(?=[^<]*</call:(?P<name>\\w+)>)", "close_pattern": "</call:\\w+>",
                 "content": "json", "repeats": true,
                 "transform": {"name": "{name}", "arguments": "{content}"}}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: r#"<call>{}</call:look>"#,
            bad: "error: field 'tool_calls': {name} of the transform names nothing: there is no `name`",
            good: r#"{"tool_calls": [{"name": "look", "arguments": {}}]}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject.fields() {
        let Some(close) = subject.delimiter(view, Side::Close) else {
            continue;
        };
        let transform = view.members.get("transform");
        let asked: Vec<String> = transform
            .map(placeholders)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|placeholder| placeholder.names.into_iter().next())
            .collect();
        let open = subject.delimiter(view, Side::Open);
        let captured = open.map_or(&[][..], |open| open.pattern.group_names());
        let names = close.pattern.group_names();
        let all_unused = !names.iter().any(|name| asked.contains(name));
        for name in names {
            let fails =
                asked.contains(name) && !captured.contains(name) && !view.field.transform_each;
            let message = if fails {
                format!(
                    "`{name}` is captured by the close, which no transform sees: every region fails"
                )
            } else {
                format!("`{name}` is captured by the close, which no transform sees")
            };
            let mut diagnostic = subject
                .at(&RULE, &close.path, message)
                .with_hint("capture it in the open, or make the group unnamed with (?:...)");
            if !fails {
                diagnostic.severity = Severity::Warning;
            }
            if all_unused {
                diagnostic.fix = facts::without_names(close.pattern.source()).and_then(|source| {
                    subject.replace_delimiter(close, &source, "make the groups unnamed")
                });
            }
            found.push(diagnostic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{fixed, found};
    use crate::diagnostic::Severity;

    #[test]
    fn a_group_that_nothing_asks_for_is_made_unnamed() {
        let text = r#"{"start_anchor": "a", "fields": {"f": {"open": "<", "close_pattern": "(?P<x>>)\\s*", "transform": "{content}"}}}"#;
        let diagnostics = found("close-capture", text);
        assert_eq!(diagnostics[0].severity, Severity::Warning);
        assert_eq!(fixed(text), text.replace("?P<x>", "?:"));
    }
}
