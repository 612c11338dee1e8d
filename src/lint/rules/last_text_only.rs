//! Of the text around a region only the last piece is kept.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::value::json::quote;

use super::comes_later;

pub(super) static RULE: Rule = Rule {
    code: "last-text-only",
    severity: Severity::Info,
    summary: "of text before and text behind a region only the last is kept",
    why: "A field without `repeats` keeps its last region only. A model that writes on behind a tool call loses what it wrote \
          before it. Most models end their turn with the calls, so most response templates can live with that.",
    remedy: "Where the model writes on, let the field repeat and join its pieces. The servers vLLM and SGLang do not take \
             `join` on text.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close_pattern": "</call>\\s*", "repeats": true, "content": "json"},
  "content": {}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close_pattern": "</call>\\s*", "repeats": true, "content": "json"},
  "content": {"repeats": true, "join": "\n"}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "Let me look.<call>1</call>That was it.",
            bad: r#"{"content": "That was it.", "tool_calls": [1]}"#,
            good: r#"{"content": "Let me look.\nThat was it.", "tool_calls": [1]}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let Some(implicit) = subject.implicit().filter(|view| !view.field.repeats) else {
        return;
    };
    let between = subject
        .explicit()
        .find(|view| comes_later(view.field) && subject.delimiter(*view, Side::Close).is_some());
    let Some(between) = between else { return };
    let message = format!(
        "of {} before and behind {} only the last text is kept",
        quote(&implicit.field.name),
        quote(&between.field.name)
    );
    found.push(
        subject
            .at_key(&RULE, &subject.path(implicit), message)
            .with_hint(
                "where the model writes text on both sides: \"repeats\": true with a \"join\"",
            ),
    );
}
