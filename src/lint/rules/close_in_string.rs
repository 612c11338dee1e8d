//! A close that a JSON string may hold.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::value::json::quote;

pub(super) static RULE: Rule = Rule {
    code: "close-in-string",
    severity: Severity::Info,
    summary: "a string of a JSON region may hold the region's close",
    why: "The region ends at the first text that its close matches, in a string or not. A model that writes about its own \
          markers, in the argument of a tool that edits prompts for instance, cuts its call in two. With a marker that is a \
          special token this does not happen, as long as text is never turned into one.",
    remedy: "Let the close look back for what ends the JSON. The region is then cut wrongly only if a string contains \
             both the end of the JSON and the close.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"call": {"open": "<call>", "close": "</call>", "content": "json"}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"call": {"open": "<call>", "close_pattern": "(?<=[}\\]])</call>", "content": "json"}}}"#,
        chat: None,
        shows: Shows::Message {
            response: r#"<call>{"a": "</call>"}</call>"#,
            bad: r#"error: field 'call': the region is not JSON: the string that begins here does not end"#,
            good: r#"{"call": {"a": "</call>"}}"#,
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
        let fits = |text: &String| {
            !text.contains(['"', '\\']) && !text.chars().any(|c| u32::from(c) < 0x20)
        };
        if !close.facts.is_plain() {
            continue;
        }
        if let Some(sample) = close.samples().into_iter().find(fits) {
            let message = format!(
                "a JSON string may hold {}, which ends the region",
                quote(&sample)
            );
            found.push(
                subject
                    .at(&RULE, &close.path, message)
                    .with_hint(r"where it may: `(?<=[}\]])` in front of it"),
            );
        }
    }
}
