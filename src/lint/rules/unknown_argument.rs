//! Arguments that a content parser does not read.

use crate::content::arguments;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::response_template::nearest::nearest;
use crate::value::json::quote;
use crate::value::{Path, Value};

pub(super) static RULE: Rule = Rule {
    code: "unknown-argument",
    severity: Severity::Warning,
    summary: "`content_args` has an argument that the content parser does not read",
    why: "Unlike the keys of a field, arguments are not checked. One that is misspelt, or meant for another content parser, does \
          nothing.",
    remedy: "Spell it as the content parser reads it, or leave it out.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"content": {"content_args": {"stirp": false}}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"content": {"content_args": {"strip": false}}}}"#,
        chat: None,
        shows: Shows::Message {
            response: "  indented",
            bad: r#"{"content": "indented"}"#,
            good: r#"{"content": "  indented"}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject.fields() {
        let path = subject.path(view).key("content_args");
        if let Some(args) = view.members.get("content_args") {
            unknown(subject, view.field.content.name(), args, &path, found);
        }
    }
}

fn unknown(
    subject: &Subject<'_>,
    parser: &str,
    args: &Value,
    path: &Path,
    found: &mut Vec<Diagnostic>,
) {
    let Some(members) = args.as_object() else {
        return;
    };
    let known = arguments(parser);
    for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
        let path = path.key(key);
        let message = format!(
            "the content parser `{parser}` reads no argument {}",
            quote(key)
        );
        let mut diagnostic = subject.at_key(&RULE, &path, message);
        let near = nearest(key, known).filter(|near| !members.contains_key(near));
        diagnostic.hint = Some(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it reads {}", known.join(", ")),
        });
        diagnostic.fix =
            near.and_then(|near| subject.rename(&path, near, format!("spell it `{near}`")));
        found.push(diagnostic);
    }
    let values = members.get("value_parser").and_then(Value::as_object);
    if let Some(values) = values
        && let Some(args) = values.get("args")
        && known.contains(&"value_parser")
    {
        let name = values.get("name").and_then(Value::as_str).unwrap_or("text");
        let path = path.key("value_parser").key("args");
        unknown(subject, name, args, &path, found);
    }
}
