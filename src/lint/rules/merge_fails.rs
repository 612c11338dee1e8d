//! Values that cannot be collected.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::value::Value;

use super::Kind;

pub(super) static RULE: Rule = Rule {
    code: "merge-fails",
    severity: Severity::Error,
    summary: "`join` or `repeats` meets a value or a default that it cannot add to",
    why: "`join` puts strings together, and `repeats` appends to a list. A field whose values are something else, or whose \
          default is, fails with its first region.",
    remedy: "Leave `join` out for values that are no text; give a field that repeats a list as its default, or none.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"n": {"open": "<n>", "close": "</n>", "content": "int", "repeats": true, "join": ","}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"n": {"open": "<n>", "close": "</n>", "content": "int", "repeats": true}}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<n>1</n><n>2</n>",
            bad: "error: field 'n': 'join' needs each region to parse to a string, not to a int; use a text content parser or drop 'join'",
            good: r#"{"n": [1, 2]}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject.fields() {
        let default = subject.template().defaults().get(&view.field.name);
        let joins = view.field.join.is_some();
        if joins && !matches!(Kind::of(view), Kind::Text | Kind::Unknown) {
            let path = subject.path(view).key("join");
            found.push(
                subject
                    .at_key(
                        &RULE,
                        &path,
                        "the field's values are no text, so that every region fails",
                    )
                    .with_hint("leave join out to collect them in a list"),
            );
        }
        let wrong = match default {
            Some(Value::Null | Value::String(_)) | None if joins => None,
            Some(_) if joins => Some("`join` adds to a text"),
            Some(Value::Array(_)) | None => None,
            Some(_) if view.field.repeats => Some("`repeats` appends to a list"),
            Some(_) => None,
        };
        if let Some(wrong) = wrong {
            let path = subject.root().key("defaults").key(&view.field.name);
            let message = format!("{wrong}, which this default is not: every region fails");
            found.push(subject.at(&RULE, &path, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;

    #[test]
    fn defaults_are_what_they_are_added_to() {
        for (default, rest, count) in [
            ("[]", r#""repeats": true"#, 0),
            ("null", r#""repeats": true"#, 1),
            ("{}", r#""repeats": true"#, 1),
            ("[]", r#""repeats": true, "join": """#, 1),
            ("\"\"", r#""repeats": true, "join": """#, 0),
            ("5", r#""optional": true"#, 0),
        ] {
            let text = format!(
                r#"{{"defaults": {{"f": {default}}}, "start_anchor": "a", "fields": {{"f": {{{rest}}}}}}}"#
            );
            assert_eq!(found("merge-fails", &text).len(), count, "{text}");
        }
    }
}
