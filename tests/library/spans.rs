//! Spans of conversations, and marks in chat templates: what decides them, each with a chat template made up for it.

use obverse::chat_template::{ChatTemplate, RenderInput};
use obverse::conversation::annotate::{AnnotateError, annotate};
use obverse::conversation::spans::{self, Part, Spans};
use obverse::value::{Value, json};

const TALK: &str = r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": "a", "reasoning_content": "r"},
    {"role": "user", "content": "p"}, {"role": "assistant", "content": "b", "reasoning_content": "s"}]"#;

fn found(source: &str, messages: &str) -> Spans {
    let template = ChatTemplate::new(source).expect(source);
    let messages = json::parse(messages).expect("JSON");
    let input = RenderInput::new(messages.as_array().expect("a list").to_vec());
    spans::of_messages(&template, &input).expect(source)
}

/// The text with brackets around what is generated.
fn generated(source: &str, messages: &str) -> String {
    let found = found(source, messages);
    let (mut out, mut at) = (String::new(), 0);
    for (start, end) in &found.generated {
        out += &format!("{}⟦{}⟧", &found.text[at..*start], &found.text[*start..*end]);
        at = *end;
    }
    out + &found.text[at..]
}

/// A chat template whose loop has that body, and that asks with that prompt.
fn chat(body: &str, prompt: &str) -> String {
    format!(
        "{{% for m in messages %}}{body}{{% endfor %}}{{% if add_generation_prompt %}}{prompt}{{% endif %}}"
    )
}

#[test]
fn the_model_begins_where_its_prompt_ends() {
    for (body, prompt, wanted) in [
        // One constant with the header, cut where the content begins.
        (
            "<{{ m.role }}>{{ m.content }}.",
            "<assistant>",
            "<user>q.<assistant>⟦a.⟧<user>p.<assistant>⟦b.⟧",
        ),
        // The prompt opens the reasoning.
        (
            "<{{ m.role }}>{% if m.thinking %}[{{ m.thinking }}]{% endif %}{{ m.content }}.",
            "<assistant>[",
            "<user>q.<assistant>[⟦r]a.⟧<user>p.<assistant>[⟦s]b.⟧",
        ),
        // The reasoning of earlier turns is dropped, and with it what the prompt opened.
        (
            "<{{ m.role }}>{% if m.thinking and loop.last %}[{{ m.thinking }}]{% endif %}{{ m.content }}.",
            "{{ '<assistant>[' }}",
            "<user>q.<assistant>⟦a.⟧<user>p.<assistant>[⟦s]b.⟧",
        ),
        // What follows instead begins as what was opened does.
        (
            "<{{ m.role }}>{% if m.thinking and loop.last %}[think]{{ m.thinking }}{% else %}[-]{% endif %}{{ m.content }}.",
            "<assistant>{{ '[think]' }}",
            "<user>[-]q.<assistant>⟦[-]a.⟧<user>[-]p.<assistant>[think]⟦sb.⟧",
        ),
        // The header stands at the end of the message before.
        (
            "{% if m.role == 'user' %}<user>{{ m.content }}.<assistant>{% else %}{{ m.content }};{% endif %}",
            "",
            "<user>q.<assistant>⟦a;⟧<user>p.<assistant>⟦b;⟧",
        ),
        // A line end behind the end of the turn belongs to it.
        (
            "<{{ m.role }}>{{ m.content }}.\n\n",
            "<assistant>",
            "<user>q.\n\n<assistant>⟦a.\n\n⟧<user>p.\n\n<assistant>⟦b.\n\n⟧",
        ),
    ] {
        assert_eq!(generated(&chat(body, prompt), TALK), wanted, "{body}");
    }
}

#[test]
fn where_no_turn_is_ended_the_next_header_ends_it() {
    let source = chat("<{{ m.role }}>\n{{ m.content }}", "<assistant>\n");
    assert_eq!(
        generated(&source, TALK),
        "<user>\nq<assistant>\n⟦a<user>⟧\np<assistant>\n⟦b⟧"
    );
    // The end is written with the next message, before its header.
    let source = chat(
        "{% if not loop.first %}{{ ';' }}{% endif %}<{{ m.role }}>{{ m.content }}",
        "{{ ';' }}<assistant>",
    );
    assert_eq!(
        generated(&source, TALK),
        "<user>q;<assistant>⟦a;⟧<user>p;<assistant>⟦b⟧"
    );
}

const CALLS: &str = r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": "c", "tool_calls": [
    {"function": {"name": "f", "arguments": {"k": 1}}}, {"function": {"name": "g", "arguments": {}}}]},
    {"role": "tool", "content": "t"}, {"role": "assistant", "content": "b"}]"#;

#[test]
fn results_within_the_turn_are_not_generated() {
    let source = chat(
        "{% set at = loop.index0 %}{% if m.role == 'tool' %}{% else %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}({{ c.function.name }}){% endfor %}\
         {% for k in range(at + 1, messages | length) %}{% if messages[k].role == 'tool' and m.tool_calls %}={{ messages[k].content }}={% endif %}{% endfor %}.{% endif %}",
        "<assistant>",
    );
    assert_eq!(
        generated(&source, CALLS),
        "<user>q.<assistant>⟦c(f)(g)⟧=t=⟦.⟧<assistant>⟦b.⟧"
    );
}

#[test]
fn a_turn_that_nobody_asked_for_has_the_usual_header() {
    let source = chat(
        "<{{ m.role }}>{{ m.content }}.",
        "{% if messages[-1].role != 'assistant' %}<assistant>{% endif %}",
    );
    let messages = r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]"#;
    assert_eq!(
        generated(&source, messages),
        "<user>q.<assistant>⟦a.⟧<assistant>⟦b.⟧"
    );
    // The first turn begins with what begins the conversation.
    let source = chat(
        "{% if loop.first %}^{% endif %}<{{ m.role }}>{{ m.content }}.",
        "<assistant>",
    );
    let messages = r#"[{"role": "assistant", "content": "a"}, {"role": "user", "content": "q"}]"#;
    assert_eq!(generated(&source, messages), "^<assistant>⟦a.⟧<user>q.");
}

#[test]
fn messages_have_parts() {
    let source = chat(
        "<{{ m.role }}>{% if m.thinking %}[{{ m.thinking }}]{% endif %}{{ m.content }}{% for c in m.tool_calls %}({{ c.function.name }}:{{ c.function.arguments | tojson }}){% endfor %}.",
        "<assistant>",
    );
    let found = found(&source, CALLS);
    let told: Vec<(usize, Part, Option<usize>, &str)> = found
        .spans
        .iter()
        .filter(|span| span.message == 1)
        .map(|span| {
            (
                span.message,
                span.part,
                span.call,
                &found.text[span.start..span.end],
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (1, Part::Message, None, "<assistant>c(f:{\"k\": 1})(g:{})."),
            (1, Part::Header, None, "<assistant>"),
            (1, Part::Content, None, "c"),
            (1, Part::Call, Some(0), "(f:{\"k\": 1})"),
            (1, Part::Call, Some(1), "(g:{})"),
            (1, Part::End, None, "."),
        ]
    );
    // The stretches cover the text, and the mask is of those that are generated.
    let mut at = 0;
    for stretch in found.stretches() {
        assert_eq!(stretch.start, at);
        at = stretch.end;
        let is = found.mask(&[(stretch.start, stretch.end)]);
        assert_eq!(is, [stretch.is_generated]);
    }
    assert_eq!(at, found.text.len());
    assert_eq!(found.mask(&[(0, 0)]), [false]);
}

/// What is in the annotated source and not in the source, which must be all there.
fn marks(source: &str) -> String {
    let template = ChatTemplate::new(source).expect(source);
    let annotation = annotate(&template).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert!(annotation.proved > 20, "{}", annotation.proved);
    annotation.source
}

#[test]
fn marks_take_no_more_white_space_than_their_nodes() {
    for (source, wanted) in [
        (
            "{% for m in messages %}{% if m.role == 'assistant' %}<a>{{ m.content }}.\n{% else %}<u>{{ m.content }}.\n{% endif %}{% endfor %}{% if add_generation_prompt %}<a>{% endif %}",
            "<a>{% generation %}{{ m.content }}.\n{% endgeneration %}{% else %}",
        ),
        (
            "{%- for m in messages -%}\n  {%- if m.role == 'assistant' -%}\n    {{- '<a>' -}}\n    {{- m.content -}}\n    {{- '.\\n' -}}\n  {%- else -%}\n    {{- '<u>' + m.content -}}\n  {%- endif -%}\n{%- endfor -%}\n{%- if add_generation_prompt -%}{{ '<a>' }}{%- endif -%}",
            "    {%- generation %}{{- m.content -}}\n    {{- '.\\n' -}}{% endgeneration -%}\n",
        ),
        (
            "{% for m in messages %}{% if m.role == 'assistant' %}{{ '<a>\\n' + m.content + '.' }}\n{% else %}{{ '<u>' + m.content }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<a>\\n' }}{% endif %}",
            "{{ '<a>\\n' }}{% generation %}{{ '' + m.content + '.' }}\n{% endgeneration %}{% else %}",
        ),
    ] {
        let marked = marks(source);
        assert!(marked.contains(wanted), "{marked}");
    }
}

#[test]
fn nodes_of_all_roles_are_marked_for_one() {
    let marked = marks(&chat(
        "{{ '<' + m.role + '>' + m.content + '.' }}",
        "<assistant>",
    ));
    assert!(
        marked.contains("m['role'] == 'assistant'") || marked.contains("m['role'] != 'assistant'"),
        "{marked}"
    );
    // A macro writes the whole turn.
    let marked = marks(&format!(
        "{{% macro turn(m) %}}<{{{{ m.role }}}}>{{{{ m.content }}}}.{{% endmacro %}}{}",
        chat("{{ turn(m) }}", "<assistant>")
    ));
    assert!(marked.contains(".startswith('<assistant>')"), "{marked}");
}

#[test]
fn what_cannot_be_marked_is_said() {
    let refused = |source: &str| {
        let template = ChatTemplate::new(source).expect(source);
        annotate(&template).expect_err(source)
    };
    assert_eq!(refused("{{ messages[0].content }}"), AnnotateError::Nothing);
    let ends = chat("<{{ m.role }}>\n{{ m.content }}", "<assistant>\n");
    assert!(matches!(refused(&ends), AnnotateError::InTheWay(_)));
    let wrong = chat(
        "{% generation %}<{{ m.role }}>{{ m.content }}.{% endgeneration %}",
        "<assistant>",
    );
    let AnnotateError::NotProved(counterexample) = refused(&wrong) else {
        panic!("it is not right");
    };
    assert!(
        counterexample.difference.contains("<user>"),
        "{counterexample}"
    );
    assert!(
        counterexample
            .messages
            .iter()
            .all(|message| message.get("role").and_then(Value::as_str).is_some())
    );
}
