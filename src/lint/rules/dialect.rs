//! Patterns that other engines read differently.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::pattern::dialect::foreign;
use crate::value::{Path, Value};

pub(super) static RULE: Rule = Rule {
    code: "dialect",
    severity: Severity::Info,
    summary: "a pattern means something else, or nothing, to regular expressions of other programs",
    why: "Patterns are in the syntax of Python's `regex`. Programs in Rust, Go, Java or JavaScript that read response templates \
          translate them or take them as they are, and then these differ: an end (`\\Z`, `$`) that means another place, a set \
          within a set, and what engines without backtracking refuse: look-around, back-references, atomic groups.",
    remedy: "Write it so that all read it alike, where that is possible.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"x": {"open_pattern": "[[<]x>", "close": "</x>"}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"x": {"open_pattern": "[\\[<]x>", "close": "</x>"}}}"#,
        chat: None,
        shows: Shows::Elsewhere,
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let mut look = |path: &Path, source: &str| {
        let notes = foreign(source);
        if !notes.is_empty() {
            let message = format!("other engines differ: {}", notes.join("; "));
            found.push(subject.at(&RULE, path, message));
        }
    };
    let anchor = subject.template().anchor();
    if anchor.as_literals().is_none() {
        look(&subject.root().key("start_anchor_pattern"), anchor.source());
    }
    for delimiter in subject.delimiters() {
        if delimiter.pattern.as_literals().is_none() {
            look(&delimiter.path, delimiter.pattern.source());
        }
    }
    for view in subject.fields() {
        let args = view.members.get("content_args");
        let tag = args.and_then(|args| args.get("tag_pattern"));
        if let Some(source) = tag.and_then(Value::as_str) {
            let path = subject.path(view).key("content_args").key("tag_pattern");
            look(&path, source);
        }
    }
}
