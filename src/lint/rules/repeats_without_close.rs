//! Regions that repeat but do not end.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};

pub(super) static RULE: Rule = Rule {
    code: "repeats-without-close",
    severity: Severity::Warning,
    summary: "a field repeats, but nothing closes its region, so that there is only ever one",
    why: "Within an explicit region only its own close counts, not the opens of other fields nor its own. Without a close the \
          first region lasts to the end of the response and holds all others as text.",
    remedy: "Close the region before what opens the next, by looking ahead for it.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"notes": {"open": "<note>", "repeats": true}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"notes": {"open": "<note>", "close_pattern": "(?=<note>)|\\Z", "repeats": true}}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<note>a<note>b",
            bad: r#"{"notes": ["a<note>b"]}"#,
            good: r#"{"notes": ["a", "b"]}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject.explicit().filter(|view| view.field.repeats) {
        if subject.delimiter(view, Side::Close).is_none() {
            let path = subject.path(view).key("repeats");
            found.push(
                subject
                    .at_key(
                        &RULE,
                        &path,
                        "nothing closes the region, so that there is only ever one",
                    )
                    .with_hint("close it before what opens the next, by looking ahead for it"),
            );
        }
    }
}
