//! `$` in a delimiter.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::pattern::facts;

pub(super) static RULE: Rule = Rule {
    code: "dollar",
    severity: Severity::Warning,
    summary: "`$` in a delimiter also matches before a final line feed, and streaming meets many of those",
    why: "To Python `$` is the end of the text or the place before a line feed that ends it. While a response arrives every line \
          feed is the last for a moment: transformers then closes the region there, and a streamed response gives another \
          message than the same response at once. At once the final line feed is not the region's.",
    remedy: r"Write `\Z`, the very end. Where a region lasts to the end anyway, no close is needed for it.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "content": {"close_pattern": "</bot>\\s*|$", "content_args": {"strip": false}}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "content": {"close_pattern": "</bot>\\s*|\\Z", "content_args": {"strip": false}}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "Hello\n",
            bad: r#"{"content": "Hello"}"#,
            good: r#"{"content": "Hello\n"}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for delimiter in subject.delimiters() {
        if !delimiter.facts.has_dollar() {
            continue;
        }
        let mut diagnostic = subject
            .at(
                &RULE,
                &delimiter.path,
                "`$` also matches before a final line feed",
            )
            .with_hint(r"`\Z` matches at the very end alone");
        diagnostic.fix = facts::without_dollar(delimiter.pattern.source())
            .and_then(|source| subject.replace_delimiter(delimiter, &source, r"write `\Z`"));
        found.push(diagnostic);
    }
}
