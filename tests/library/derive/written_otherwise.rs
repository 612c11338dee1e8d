//! Calls that models write otherwise than the chat template does: without an id, or as JSON where it writes none.

use std::sync::Arc;

use crate::support::deriving::derive_text;
use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

/// The response template of a chat template that writes calls so.
fn derived(call: &str) -> Arc<ResponseTemplate> {
    let chat = format!(
        "{{%- for m in messages -%}}<{{{{ m.role }}}}>{{{{ m.content or '' }}}}{{%- for c in m.tool_calls or [] -%}}{call}{{%- endfor -%}}<end>{{%- endfor -%}}\
         {{%- if add_generation_prompt -%}}<assistant>{{%- endif -%}}"
    );
    let derivation = derive_text(&chat).unwrap();
    assert!(derivation.report.verified);
    Arc::new(ResponseTemplate::from_value(&derivation.document.to_value()).unwrap())
}

/// The id and the arguments of the calls of a response, and its content.
fn parsed(template: &Arc<ResponseTemplate>, response: &str) -> (Vec<String>, String) {
    let message = parse_response(response, Arc::clone(template), "<assistant>", &[]).unwrap();
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let calls = calls.into_iter().flatten().map(|call| {
        let function = call.get("function").unwrap();
        let arguments = json::to_string(function.get("arguments").unwrap());
        format!(
            "{} {arguments}",
            json::to_string(call.get("id").unwrap_or(&Value::Null))
        )
    });
    let content = message.get("content").and_then(Value::as_str);
    (calls.collect(), content.unwrap_or_default().to_owned())
}

#[test]
fn an_id_that_stands_before_the_arguments_may_be_missing() {
    let template = derived(
        "<call>{\"id\": \"{{ c.id }}\", \"name\": \"{{ c.function.name }}\", \"with\": {{ c.function.arguments | tojson }}}</call>",
    );
    for (id, expected) in [("\"id\": \"a1\", ", "\"a1\""), ("", "\"\"")] {
        let one = format!("<call>{{{id}\"name\": \"f\", \"with\": {{\"a\": 1}}}}</call>");
        let call = format!("{expected} {{\"a\": 1}}");
        assert_eq!(
            parsed(&template, &format!("{one}<end>")),
            (vec![call.clone()], String::new())
        );
        let twice = parsed(&template, &format!("{one}{one}"));
        assert_eq!(twice, (vec![call.clone(), call], String::new()));
    }
}

#[test]
fn json_in_the_place_of_a_name_is_no_call() {
    let template = derived(
        "<call>{{ c.function.name }}{%- for k, v in c.function.arguments.items() -%}<k>{{ k }}</k><v>{{ v if v is string else v | tojson }}</v>{%- endfor -%}</call>",
    );
    let call = "<call>{\"name\":\"f\",\"with\":{\"a\":\"b\"}}</call>";
    assert_eq!(
        parsed(&template, &format!("{call}<end>")),
        (Vec::new(), call.to_owned())
    );
    let said = "<call>f<k>a</k><v>so </call> b</v></call><end>";
    let expected = "null {\"a\": \"so </call> b\"}".to_owned();
    assert_eq!(parsed(&template, said), (vec![expected], String::new()));
}

/// The first marker of a call may be missing where it is an envelope around the call. Where it only begins what opens one, a text has the rest of that.
#[test]
fn the_first_marker_of_a_call_may_be_missing_where_another_closes_it() {
    let arguments = "{%- for k, v in c.function.arguments.items() -%}<k>{{ k }}</k><v>{{ v if v is string else v | tojson }}</v>{%- endfor -%}";
    let enveloped = derived(&format!(
        "<call>\n<do={{{{ c.function.name }}}}>{arguments}</do>\n</call>"
    ));
    let call = "<do=f><k>a</k><v>b</v></do>\n</call>";
    let expected = (vec!["null {\"a\": \"b\"}".to_owned()], String::new());
    for before in ["<call>\n", ""] {
        assert_eq!(
            parsed(&enveloped, &format!("{before}{call}<end>")),
            expected
        );
    }
    let begun = derived(
        "~~~assistant {{ c.function.name }}({%- for k, v in c.function.arguments.items() -%}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{%- endfor -%})~~~",
    );
    let said = "So the assistant f(a=\"b\") is meant.";
    let none = (Vec::new(), said.to_owned());
    assert_eq!(parsed(&begun, &format!("{said}<end>")), none);
    let call = "~~~assistant f(a=\"b\")~~~<end>";
    assert_eq!(parsed(&begun, call), expected);
}

/// An argument may have the name of a tag that the chat template writes itself.
#[test]
fn an_argument_may_be_named_as_a_tag_of_the_call() {
    let template = derived(
        "<tool><name>{{ c.function.name }}</name>{%- for k, v in c.function.arguments.items() -%}<{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>{%- endfor -%}</tool>",
    );
    let call = "<tool><name>f</name><city>Rome</city><name>Bob</name></tool><end>";
    let expected = "null {\"city\": \"Rome\", \"name\": \"Bob\"}".to_owned();
    assert_eq!(parsed(&template, call), (vec![expected], String::new()));
}

/// An engine keeps to itself what ends the turn, which may be a part of what closes a call.
#[test]
fn a_call_ends_without_what_ends_the_turn() {
    let template = derived(
        "{%- if not loop.first -%}<assistant>{%- endif -%}<call>{{ c.function | tojson }}</call>{%- if not loop.last -%}<end>{%- endif -%}",
    );
    let call = "<call>{\"name\": \"f\", \"arguments\": {\"a\": \"</call>\"}}</call>";
    let expected = "null {\"a\": \"</call>\"}".to_owned();
    for end in ["", "\n", "<end>"] {
        assert_eq!(
            parsed(&template, &format!("{call}{end}")),
            (vec![expected.clone()], String::new()),
            "{end:?}"
        );
    }
    let two = parsed(&template, &format!("{call}<end><assistant>{call}"));
    assert_eq!(two, (vec![expected.clone(), expected], String::new()));
}

/// An empty answer and none at all are the same message. A chat template may write the markers of an answer for the first alone, which no response template can give back in
/// one response and not in the other.
#[test]
fn a_text_that_is_empty_is_none_though_markers_are_written_for_it() {
    let chat = "{%- for m in messages -%}<{{ m.role }}>{%- if m.role == 'assistant' -%}\
        {%- if m.thinking -%}<think>{{ m.thinking }}</think>{%- endif -%}\
        {%- if m.content is string -%}<say>{{ m.content }}</say>{%- endif -%}\
        {%- else -%}{{ m.content }}{%- endif -%}<end>{%- endfor -%}{%- if add_generation_prompt -%}<assistant>{%- endif -%}";
    let derivation = derive_text(chat).unwrap();
    assert!(derivation.report.verified, "{:#?}", derivation.missed);
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    let response = "<think>Hm.</think><say></say><end>";
    let message = parse_response(response, Arc::new(template), "<assistant>", &[]).unwrap();
    let expected = r#"{"role": "assistant", "thinking": "Hm."}"#;
    assert_eq!(json::to_string(&Value::Object(message)), expected);
}
