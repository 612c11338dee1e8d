//! What ends a turn otherwise than renders at the end of a conversation do: tokens that only the tokenizer names, and pieces of an end.

use std::sync::Arc;

use obverse::chat_template::{self, ChatTemplateSource};
use obverse::derive::{self, Derivation, Options};
use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value};

/// The derivation from a chat template whose answers are written so, behind messages that end with `<end>`, and whose conversations end with `over`. The engine stops
/// at the tokens `stops`, and fills shorter responses with `pad`.
fn derived(answer: &str, over: &str, stops: &[&str], pad: Option<&str>) -> Derivation {
    let chat = format!(
        "{{%- for m in messages -%}}{{%- if m.role == 'assistant' -%}}<bot>{answer}\
         {{%- else -%}}<{{{{ m.role }}}}>{{{{ m.content }}}}<end>{{%- endif -%}}{{%- endfor -%}}\
         {{%- if add_generation_prompt -%}}<bot>{{%- else -%}}{over}{{%- endif -%}}"
    );
    let mut source = chat_template::from_text("chat.jinja", &chat).unwrap();
    source.tokens.end = stops.iter().map(|stop| (*stop).to_owned()).collect();
    source.tokens.special = source.tokens.end.clone();
    if let Some(pad) = pad {
        source = source
            .with_special_tokens(Map::from_iter([("pad_token".to_owned(), Value::from(pad))]));
    }
    derive::derive(&source, &Options::default()).unwrap()
}

/// The content, and the names of the calls, to which a response is parsed.
fn parsed(derivation: &Derivation, response: &str) -> (String, Vec<String>) {
    let template = derivation.document.to_value();
    let template = ResponseTemplate::from_value(&template).unwrap();
    let message = parse_response(response, template, "<bot>", &[]).unwrap();
    let content = message.get("content").and_then(Value::as_str);
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let names = calls.into_iter().flatten().map(|call| {
        let function = call.get("function").unwrap_or(call);
        function
            .get("name")
            .and_then(Value::as_str)
            .unwrap()
            .to_owned()
    });
    (content.unwrap_or_default().to_owned(), names.collect())
}

#[test]
fn a_token_that_renders_have_at_the_end_alone_is_an_end_by_itself() {
    let derivation = derived("{{ m.content }}<end>", "<over>", &["<end>", "<over>"], None);
    for end in ["<end>", "<over>", "<end><over>", ""] {
        let (content, _) = parsed(&derivation, &format!("Hi.{end}"));
        assert_eq!(content, "Hi.", "{end}");
    }
}

#[test]
fn what_fills_shorter_responses_is_no_content() {
    let answer = "{{ m.content or '' }}{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}<end>";
    let derivation = derived(answer, "", &["<end>"], Some("<pad>"));
    let (content, _) = parsed(&derivation, "Hi.<end><pad><pad><pad>");
    assert_eq!(content, "Hi.");
    let call = r#"<call>{"name": "f", "arguments": {}}</call>"#;
    let (content, calls) = parsed(&derivation, &format!("{call}<end><pad><pad>"));
    assert_eq!((content.as_str(), calls), ("", vec!["f".to_owned()]));
}

/// An engine keeps the token to itself at which it stops, and the source has it in one constant with what closes the calls. The tokenizer tells the two apart.
#[test]
fn calls_end_without_the_token_that_ends_their_turn() {
    let answer = "{{ m.content or '' }}{% if m.tool_calls %}<calls>{{ m.tool_calls | map(attribute='function') | list | tojson }}</calls><pause>{% else %}<end>{% endif %}";
    let derivation = derived(answer, "", &["<end>", "<pause>"], None);
    let calls = r#"<calls>[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]"#;
    for end in ["</calls><pause>", "</calls>", "</calls><end>", ""] {
        let (content, names) = parsed(&derivation, &format!("Hm.{calls}{end}"));
        assert_eq!(
            (content.as_str(), names.join(" ")),
            ("Hm.", "f g".to_owned()),
            "{end}"
        );
    }
}

/// Nothing ends a turn, and nothing closes a call but the bracket of its JSON.
#[test]
fn a_call_that_its_bracket_closes_may_have_an_end_token_behind_it() {
    let answer = "{{ m.content or '' }}{% for c in m.tool_calls or [] %}{{ c.function | tojson }}{% endfor %}";
    let call = r#"{"name": "f", "arguments": {"a": "b}"}}"#;
    for stops in [&["<stop>"][..], &[]] {
        let derivation = derived(answer, "", stops, None);
        for end in stops.iter().copied().chain([""]) {
            let (content, names) = parsed(&derivation, &format!("{call}{call}{end}"));
            assert_eq!(
                (content.as_str(), names.join(" ")),
                ("", "f f".to_owned()),
                "{end}"
            );
        }
    }
}

/// The response template that is derived from a chat template.
fn template_of(source: &ChatTemplateSource) -> Arc<ResponseTemplate> {
    let derivation = derive::derive(source, &Options::default()).unwrap();
    let template = ResponseTemplate::from_value(&derivation.document.to_value());
    Arc::new(template.unwrap())
}

/// Nothing ends a turn, and the tokenizer's own end is that of other texts: the model stops where the next message begins.
#[test]
fn what_begins_the_next_message_ends_a_turn_beside_the_tokenizers_end() {
    let chat = "{%- for m in messages -%}<{{ m.role }}>{{ m.content }}{%- endfor -%}\
                {%- if add_generation_prompt -%}<assistant>{%- endif -%}";
    let source = chat_template::from_text("chat.jinja", chat).unwrap();
    let token = ("eos_token".to_owned(), Value::from("<eos>"));
    let source = source.with_special_tokens(Map::from_iter([token]));
    let template = template_of(&source);
    for end in ["<user>", "<eos>", ""] {
        let message = parse_response(
            &format!("Hi.{end}"),
            Arc::clone(&template),
            "<assistant>",
            &[],
        );
        let message = message.unwrap();
        assert_eq!(message.get("content"), Some(&Value::from("Hi.")), "{end}");
    }
}

/// The marker that ends an answer stands right before the one that ends a turn, in every turn of the model. What ends the user's turn tells the two apart.
#[test]
fn an_end_that_is_made_of_the_role_is_a_marker_of_its_own() {
    let chat = "{%- for m in messages -%}<{{ m.role }}>\
                {%- if m.role == 'assistant' -%}<answer>{{ m.content }}</answer>{%- else -%}{{ m.content }}{%- endif -%}\
                </{{ m.role }}>{%- endfor -%}{%- if add_generation_prompt -%}<assistant>{%- endif -%}";
    let source = chat_template::from_text("chat.jinja", chat).unwrap();
    let template = template_of(&source);
    for end in [
        "</answer></assistant>",
        "</answer>\n</assistant>",
        "</answer>",
    ] {
        let response = format!("<answer>Hi.{end}");
        let message = parse_response(&response, Arc::clone(&template), "<assistant>", &[]).unwrap();
        assert_eq!(message.get("content"), Some(&Value::from("Hi.")), "{end}");
    }
}

/// With tools a turn of calls ends with another marker than without, right behind what closes the call.
#[test]
fn a_call_ends_where_its_turn_is_cut_before_an_end_that_only_calls_have() {
    let chat = "{%- if tools -%}[tools]{{ tools | tojson }}[end]{%- endif -%}{%- for m in messages -%}[{{ m.role }}]\
                {%- for c in m.tool_calls or [] -%}[call]{{ c.function.name }}[with]{{ c.function.arguments | tojson }}[/call]{%- endfor -%}\
                {{- '' if m.tool_calls else m.content }}{{ '[wait]' if m.tool_calls and tools is not none else '[end]' }}{%- endfor -%}\
                {%- if add_generation_prompt -%}[assistant]{%- endif -%}";
    let source = chat_template::from_text("chat.jinja", chat).unwrap();
    let template = template_of(&source);
    for end in [
        "[/call][wait]",
        "[/call][end]",
        "[/call]\n[wait]",
        "[/call]",
    ] {
        let response = format!("[call]f[with]{{\"a\": \"b\"}}{end}");
        let message = parse_response(&response, Arc::clone(&template), "[assistant]", &[]).unwrap();
        let call = &message.get("tool_calls").and_then(Value::as_array).unwrap()[0];
        let arguments = call
            .get("function")
            .and_then(|it| it.get("arguments"))
            .unwrap();
        assert_eq!(arguments.get("a"), Some(&Value::from("b")), "{end}");
        assert!(
            message
                .get("content")
                .is_none_or(|content| !content.is_truthy()),
            "{end}: {message:?}"
        );
    }
}
