//! Calls whose arguments cannot be passed on while they are written.

use crate::deltas::{ArgumentsCome, DeltaTemplate};
use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::value::Value;

pub(super) static RULE: Rule = Rule {
    code: "arguments-wait",
    severity: Severity::Info,
    summary: "the arguments of a call reach a client only when they are whole",
    why: "The client of a server is told the name and the `id` of a call before its arguments. Where the format writes one of them behind \
          the arguments, all of these wait for it; where a transform puts a call together, or a tag's pattern does not come apart at its \
          value, they wait for their own end. The message is the same, but nothing streams, and a long argument looks like a server that hangs.",
    remedy: "Where the format is yours to choose, write name and `id` first. A tag's value can be streamed if its pattern is `.*?` \
             and the closing marker refers back to nothing but the key.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open": "<call>", "close": "</call>", "content": "json", "repeats": true,
                 "transform": {"type": "function", "function": "{content}"}}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "tool_calls": {"open_pattern": "<call (?P<name>\\w+)>", "close": "</call>", "content": "json", "repeats": true,
                 "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}
}}"#,
        chat: Some(
            r#"{% for m in messages %}<bot>{{ m.content }}{% for c in m.tool_calls or [] %}<call>{"arguments": {{ c.function.arguments | tojson }}, "name": "{{ c.function.name }}"}</call>{% endfor %}{% endfor %}"#,
        ),
        shows: Shows::Elsewhere,
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let deltas = DeltaTemplate::new(subject.template().clone());
    for view in subject.explicit() {
        // That a transform makes calls is seen from what it writes.
        let transform = view.members.get("transform");
        let makes_calls = transform
            .and_then(|transform| transform.get("function"))
            .is_some();
        let why = match deltas.arguments_come(view.index) {
            Some(ArgumentsCome::AsWritten) => continue,
            Some(ArgumentsCome::WhenWhole) => {
                "each argument waits for its end: the pattern of its tag does not come apart at the value"
            }
            Some(ArgumentsCome::Behind { name, id }) => {
                let order = subject.chat().and_then(|chat| chat.order_of_call());
                match order {
                    Some(order) if name && order.argument < order.name => {
                        "the chat template writes the name of a call behind its arguments, which wait for it"
                    }
                    Some(order) if id && order.id.is_some_and(|id| order.argument < id) => {
                        "the chat template writes the `id` of a call behind its arguments, which wait for it"
                    }
                    _ => continue,
                }
            }
            None if makes_calls && matches!(transform, Some(Value::Object(_))) => {
                "the calls are put together when their region ends, and their arguments wait for that"
            }
            None => continue,
        };
        found.push(subject.at_key(&RULE, &subject.path(view), why));
    }
}

#[cfg(test)]
mod tests {
    use crate::chat_template;
    use crate::lint::{Options, lint};

    /// The words that are found for a field with a chat template.
    fn found(field: &str, call: &str) -> Vec<String> {
        let text = format!(r#"{{"start_anchor": "<bot>", "fields": {{"tool_calls": {field}}}}}"#);
        let source = format!(
            "{{% for m in messages %}}<bot>{{{{ m.content }}}}{{% for c in m.tool_calls or [] %}}{call}{{% endfor %}}{{% endfor %}}"
        );
        let chat = chat_template::from_text("example", &source).expect("a chat template");
        let options = Options {
            chat: Some(&chat),
            ..Options::default()
        };
        let found = lint(&text, &options).into_iter();
        let found = found.filter(|diagnostic| diagnostic.code == "arguments-wait");
        found.map(|diagnostic| diagnostic.message).collect()
    }

    #[test]
    fn the_order_is_the_chat_template_s() {
        let json = |id: &str| {
            format!(
                r#"{{"open": "<c>", "close": "</c>", "repeats": true, "content": "json", "transform": {{"type": "function"{id}, "function": {{"name": "{{content.name}}", "arguments": "{{content.args}}"}}}}}}"#
            )
        };
        let (plain, with_id) = (json(""), json(r#", "id": "{content.id}""#));
        let first = r#"<c>{"id": "{{ c.id }}", "name": "{{ c.function.name }}", "args": {{ c.function.arguments | tojson }}}</c>"#;
        let behind = r#"<c>{"name": "{{ c.function.name }}", "args": {{ c.function.arguments | tojson }}, "id": "{{ c.id }}"}</c>"#;
        assert_eq!(found(&with_id, first), [""; 0]);
        assert_eq!(found(&plain, behind), [""; 0], "the `id` is not asked for");
        let words = found(&with_id, behind);
        assert!(
            words.len() == 1 && words[0].contains("the `id` of a call behind"),
            "{words:?}"
        );
    }

    #[test]
    fn tags_that_do_not_come_apart_wait() {
        let tags = |pattern: &str| {
            format!(
                r#"{{"open_pattern": "<c (?P<name>\\w+)>", "close": "</c>", "repeats": true, "content": "xml-inline", "content_args": {{"tag_pattern": "{pattern}"}},
                "transform": {{"type": "function", "function": {{"name": "{{name}}", "arguments": "{{content}}"}}}}}}"#
            )
        };
        for apart in [
            r"<p (?P<key>\\w+)>(?P<value>.*?)</p>",
            r"<(?P<key>\\w+)>(?P<value>.*?)</(?P=key)>",
        ] {
            assert_eq!(found(&tags(apart), "x"), [""; 0], "{apart}");
        }
        let words = found(&tags(r"<(?P<key>\\w+)>(?P<value>[^<]*)</p>"), "x");
        assert!(
            words.len() == 1 && words[0].contains("does not come apart"),
            "{words:?}"
        );
    }
}
