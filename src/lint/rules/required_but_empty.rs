//! `optional: false` that anything satisfies.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};

pub(super) static RULE: Rule = Rule {
    code: "required-but-empty",
    severity: Severity::Warning,
    summary: "a field is required, but an empty region or a default satisfies that",
    why: "Whether a required field is there is asked before empty values are dropped: an empty region satisfies it, and then \
          the message lacks the field after all. A field that `defaults` names is always there.",
    remedy: "`optional: false` does not guarantee a text that is not empty. Use either a default or a requirement, not both.",
    example: Example {
        bad: r#"{"defaults": {"content": ""}, "start_anchor": "<bot>", "fields": {"content": {"close": "</bot>", "optional": false}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"content": {"close": "</bot>", "optional": false}}}"#,
        chat: None,
        shows: Shows::Message {
            response: "</bot>",
            bad: r#"{"content": ""}"#,
            good: "error: required by the response template, but not in the response: content",
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let defaults = subject.template().defaults();
    for view in subject.fields().filter(|view| !view.field.optional) {
        let path = subject.path(view).key("optional");
        let implicit = subject.template().implicit() == Some(view.index);
        let text = view.field.content.name() == "text" && view.field.transform.is_none();
        if defaults.contains_key(&view.field.name) {
            let mut diagnostic = subject.at_key(
                &RULE,
                &path,
                "the field has a default, so that it is never missing",
            );
            let default = subject.root().key("defaults").key(&view.field.name);
            diagnostic
                .labels
                .extend(subject.label(&default, "the default"));
            found.push(diagnostic);
        } else if text && !implicit {
            let message = "an empty region satisfies this, and the message then lacks the field";
            let mut diagnostic = subject.at_key(&RULE, &path, message);
            diagnostic.severity = Severity::Info;
            found.push(diagnostic);
        }
    }
}
