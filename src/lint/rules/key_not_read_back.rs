//! Fields that the chat template does not render again.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::chat::ReadBack;
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::value::json::quote;

use super::Kind;

pub(super) static RULE: Rule = Rule {
    code: "key-not-read-back",
    severity: Severity::Warning,
    summary: "the chat template does not render what the response template writes under a key",
    why: "A message that was parsed is appended to the conversation and rendered with the next prompt. What stands under a key that \
          the chat template does not read is gone from the model's view.",
    remedy: "Write the key that the chat template reads. Reasoning that a chat template drops on purpose is an info only.",
    example: Example {
        bad: r#"{"defaults": {"role": "assistant"}, "start_anchor": "<assistant>", "fields": {
  "plan": {"open": "[", "close": "]"}, "content": {}
}}"#,
        good: r#"{"defaults": {"role": "assistant"}, "start_anchor": "<assistant>", "fields": {
  "reasoning_content": {"open": "[", "close": "]"}, "content": {}
}}"#,
        chat: Some(
            "{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}[{{ m.reasoning_content }}]{% endif %}{{ m.content }}{% endfor %}",
        ),
        shows: Shows::Rendered {
            response: "[Greet.]Hello!",
            bad: r#""<user>Hi<assistant>Hello!""#,
            good: r#""<user>Hi<assistant>[Greet.]Hello!""#,
        },
    },
    check,
};

/// The keys that transformers takes for one another when it renders.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let Some(chat) = subject.chat() else { return };
    for view in subject.fields() {
        let name = view.field.name.as_str();
        let is_known = name == "tool_calls" || Kind::of(view) == Kind::Text;
        if !is_known || chat.reads_back(name) != ReadBack::No {
            continue;
        }
        let message = format!("the chat template does not render {} back", quote(name));
        let mut diagnostic = subject.at_key(&RULE, &subject.path(view), message);
        if REASONING.contains(&name) {
            diagnostic.severity = Severity::Info;
        } else {
            diagnostic.hint = Some("write the key that it reads".to_owned());
        }
        found.push(diagnostic);
    }
}
