//! A close that JSON is made of.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::value::json::quote;

pub(super) static RULE: Rule = Rule {
    code: "close-in-json",
    severity: Severity::Warning,
    summary: "the close of a JSON region is itself a piece of JSON",
    why: "The content parser sees the region only once it is closed. A close of brackets, commas or white space alone is met \
          within the first nested value, and what is cut off there is no JSON.",
    remedy: "Take the marker that follows into the close, or leave the close out where the region lasts to the end.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"call": {"open": "<call>", "close": "}", "content": "json"}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"call": {"open": "<call>", "content": "json"}}}"#,
        chat: None,
        shows: Shows::Message {
            response: r#"<call>{"a": {"b": 1}}"#,
            bad: r#"error: field 'call': the region is not JSON: expected `,` or the closing bracket"#,
            good: r#"{"call": {"a": {"b": 1}}}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject
        .fields()
        .filter(|view| view.field.content.name() == "json")
    {
        let Some(close) = subject.delimiter(view, Side::Close) else {
            continue;
        };
        // A close that matches at the end of the response alone is not met within it.
        let goes_on = |text: &str| {
            let longer = format!("{text},");
            matches!(close.pattern.search(&longer, 0), Ok(Some(found)) if found.span.start == 0)
        };
        let is_json = |text: &String| {
            text.chars()
                .all(|c| "{}[],:\"".contains(c) || c.is_whitespace())
                && goes_on(text)
        };
        if let Some(sample) = close.samples().into_iter().find(is_json) {
            let message = format!("{} also stands within JSON", quote(&sample));
            found.push(
                subject
                    .at(&RULE, &close.path, message)
                    .with_hint("take the marker that follows into the close"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;

    #[test]
    fn what_needs_the_end_is_not_met_within() {
        for (close, count) in [
            (r"\\s*\\}\\s*(?:<e>|\\Z)", 0),
            (r"\\s*\\}\\s*(?:<e>)?", 1),
            (r"\\}<e>", 0),
        ] {
            let text = format!(
                r#"{{"start_anchor": "a", "fields": {{"f": {{"open": "<", "close_pattern": "{close}", "content": "json"}}}}}}"#
            );
            assert_eq!(found("close-in-json", &text).len(), count, "{text}");
        }
    }
}
