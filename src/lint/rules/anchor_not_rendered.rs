//! An anchor that the chat template does not render.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::chat::Prompt;
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};

pub(super) static RULE: Rule = Rule {
    code: "anchor-not-rendered",
    severity: Severity::Error,
    summary: "behind the last anchor of a prompt there is still text of the conversation",
    why: "The parser is given the prompt and reads on behind the last match of the anchor. Where the chat template renders no \
          anchor, or none after the last message, the conversation itself is parsed as if the model had written it.",
    remedy: "Let the anchor match whatever a prompt of the chat template ends its last message with: after a user's message and \
             after a tool's result.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"content": {}}}"#,
        good: r#"{"start_anchor": "<assistant>", "fields": {"content": {}}}"#,
        chat: Some(
            "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
        ),
        shows: Shows::Prompted {
            response: "Hello!",
            bad: r#"{"content": "<user>Hi<assistant>Hello!"}"#,
            good: r#"{"content": "Hello!"}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let Some(chat) = subject.chat() else { return };
    let wrong: Vec<&str> = chat
        .prompts
        .iter()
        .filter(|prompt| {
            subject
                .template()
                .after_last_anchor(&prompt.text)
                .is_ok_and(Prompt::has_conversation)
        })
        .map(|prompt| prompt.of)
        .collect();
    if wrong.is_empty() {
        return;
    }
    let literal = subject.root().key("start_anchor");
    let path = if subject.template().anchor().as_literals().is_some() {
        literal
    } else {
        subject.root().key("start_anchor_pattern")
    };
    let everywhere = wrong.len() == chat.prompts.len();
    let message = if everywhere {
        "no prompt of the chat template has it behind the last message".to_owned()
    } else {
        format!(
            "the chat template's prompt for {} does not have it behind the last message",
            wrong.join(" and ")
        )
    };
    let mut diagnostic = subject
        .at(&RULE, &path, message)
        .with_hint("give the text with which prompts end; if they end in several ways, `start_anchor` takes a list of texts");
    if !everywhere {
        diagnostic.severity = Severity::Warning;
    }
    found.push(diagnostic);
}
