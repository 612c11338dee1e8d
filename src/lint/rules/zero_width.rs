//! Delimiters that match nothing.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::pattern::facts::{Emptiness, Facts};

pub(super) static RULE: Rule = Rule {
    code: "zero-width",
    severity: Severity::Error,
    summary: "a delimiter matches the empty string where that ends the parse or repeats for ever",
    why: "A close of the implicit field that takes no text, met before the field has any, ends the parse: the rest of the \
          response is lost. An open and a close of one field that both take no text follow each other without end. An \
          explicit region whose close matches nothing is always empty. A close that takes nothing at the end of the response \
          (`\\Z`) is harmless, and so is an open that only looks ahead, as long as the close takes text.",
    remedy: "Give the delimiter text to match.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"content": {"close_pattern": "(?:</bot>)?\\s*"}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"content": {"close_pattern": "</bot>\\s*"}}}"#,
        chat: None,
        shows: Shows::Message {
            response: "Hello",
            bad: "{}",
            good: r#"{"content": "Hello"}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let anchor = Facts::of(subject.template().anchor());
    if anchor.emptiness() == Emptiness::Everywhere {
        let path = subject.root().key("start_anchor_pattern");
        let message = "the anchor also matches nothing, at the end of every prompt, so that no prefix is ever read";
        found.push(subject.at(&RULE, &path, message));
    }
    for delimiter in subject.delimiters() {
        let implicit = subject.template().implicit() == Some(delimiter.field);
        let (message, severity) = match (delimiter.facts.emptiness(), delimiter.side) {
            (Emptiness::Everywhere, Side::Open) => (
                "the open also matches nothing, so that the region opens everywhere",
                Severity::Error,
            ),
            (Emptiness::Everywhere, Side::Close) if implicit => (
                "the close also matches nothing, which ends the parse where the field has no text yet",
                Severity::Error,
            ),
            (Emptiness::Everywhere, Side::Close) => (
                "the close also matches nothing, so that the region ends where it begins",
                Severity::Error,
            ),
            (Emptiness::Sometimes, Side::Close) if implicit => (
                "where the close takes no text and the field has none yet, the parse ends and the rest is lost",
                Severity::Warning,
            ),
            _ => continue,
        };
        let mut diagnostic = subject
            .at(&RULE, &delimiter.path, message)
            .with_hint("give it text to match");
        diagnostic.severity = severity;
        found.push(diagnostic);
    }
    for view in subject.explicit() {
        let empties = |side| {
            subject
                .delimiter(view, side)
                .map(|delimiter| delimiter.facts.emptiness())
        };
        if let (Some(Emptiness::Sometimes), Some(Emptiness::Sometimes)) =
            (empties(Side::Open), empties(Side::Close))
        {
            let message =
                "open and close can both match nothing, and then follow each other without end";
            found.push(
                subject
                    .at_key(&RULE, &subject.path(view), message)
                    .with_hint("let one of them take text"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;

    const CODE: &str = "zero-width";

    #[test]
    fn it_depends_on_the_place() {
        let content = |close: &str| {
            format!(
                r#"{{"start_anchor": "a", "fields": {{"content": {{"close_pattern": "{close}"}}}}}}"#
            )
        };
        let field = |open: &str, close: &str| {
            format!(
                r#"{{"start_anchor": "a", "fields": {{"f": {{"open_pattern": "{open}", "close_pattern": "{close}"}}}}}}"#
            )
        };
        for (text, count) in [
            (content(r"</b>|\\Z"), 0),
            (content("</b>|(?=<c>)"), 1),
            (field("(?=.)", "</b>"), 0),
            (field("<b>", "</b>|(?=<c>)"), 0),
            (field("(?=<b>)", "(?=<c>)"), 1),
            (field("b?", "(?=<c>)"), 1),
            (field("<b>", r"\\s*"), 1),
        ] {
            assert_eq!(found(CODE, &text).len(), count, "{text}");
        }
        let anchor = r#"{"start_anchor_pattern": "x*", "fields": {"f": {}}}"#;
        assert_eq!(found(CODE, anchor).len(), 1);
    }
}
