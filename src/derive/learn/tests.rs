//! Learning from responses that were written by hand, as models write them.

use std::sync::Arc;

use super::{Recorded, Responses};
use crate::chat_template;
use crate::derive::{Derivation, Options, derive};
use crate::parser::parse_response;
use crate::response_template::{Engine, ResponseTemplate};
use crate::value::{Value, json};

/// A format that no model has.
const OWL: &str = r#"
{%- for m in messages -%}
{%- if m.role == "assistant" -%}@owl
{% if m.reasoning_content %}@ponder
{{ m.reasoning_content }}
@pondered
{% endif %}{% if m.content %}{{ m.content }}{% endif %}{% for c in m.tool_calls or [] %}
@invoke {{ c.function.name }} with {{ c.function.arguments | tojson }} @invoked{% endfor %}@stop
{% else -%}@{{ m.role }}
{{ m.content }}@stop
{% endif -%}
{%- endfor -%}
{%- if tools %}{% for t in tools %}@tool {{ t | tojson }}{% endfor %}{% endif -%}
{%- if add_generation_prompt -%}@owl
{% endif -%}
"#;

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "get_weather", "description": "It.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]"#;

fn tools() -> Vec<Value> {
    let tools = json::parse(TOOLS).unwrap();
    tools.as_array().unwrap().to_vec()
}

fn recorded(response: &str, expected: Option<&str>) -> Recorded {
    Recorded {
        name: response.to_owned(),
        response: response.to_owned(),
        prefix: None,
        tools: tools(),
        expected: expected.map(|text| json::parse(text).unwrap()),
    }
}

fn learn(chat: &str, responses: &[Recorded], engines: &[Engine]) -> Derivation {
    let source = chat_template::from_text("it", chat).unwrap();
    let options = Options {
        responses: responses.to_vec(),
        engines: engines.to_vec(),
        ..Options::default()
    };
    derive(&source, &options).unwrap()
}

fn from(responses: &[Recorded]) -> (Derivation, Responses) {
    let derivation = learn(OWL, responses, &[]);
    let report = derivation.report.responses.clone().unwrap();
    // Whatever is learnt, what the renders prove stays proved.
    assert!(derivation.report.verified, "{report:?}");
    (derivation, report)
}

fn message(derivation: &Derivation, prefix: &str, response: &str) -> String {
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    let parsed = parse_response(response, Arc::new(template), prefix, &tools()).unwrap();
    json::to_string(&Value::Object(parsed))
}

const CALL: &str = r#""tool_calls": [{"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]"#;

#[test]
fn six_deviations_are_learnt_and_generalise() {
    let responses = [
        "@ponder\nI need the weather.\n@invoke get_weather with {\"city\": \"Paris\"} @invoked@stop\n",
        "@call get_weather using {\"city\": \"Paris\"} @invoked@stop\n",
        "Sure.\n@invoke get_weather with {\"city\": \"Paris\"} @done@stop\n",
        "@ponder\n@ponder\nTwice.\n@pondered\nHi.@stop\n",
    ]
    .map(|response| recorded(response, None));
    let known = [
        ("Bye.@eot", r#"{"content": "Bye."}"#),
        (
            "@ponder\nHm.\n@pondered\n@answer\nHello.@stop\n",
            r#"{"reasoning_content": "Hm.", "content": "Hello."}"#,
        ),
    ];
    let known = known.map(|(response, expected)| recorded(response, Some(expected)));
    let (derivation, report) = from(&[&responses[..], &known[..]].concat());
    assert_eq!((report.given, report.right), (6, 6), "{report:#?}");
    assert_eq!(report.right_before, 0);
    assert_eq!(report.widenings.len(), 6, "{report:#?}");
    for widening in &report.widenings {
        assert_eq!(widening.taught_by.len(), 1, "{widening:#?}");
        assert_ne!(widening.was, widening.now);
    }
    let taught = derivation.report.evidence.iter();
    assert_eq!(taught.filter(|one| one.question == "response").count(), 6);
    // Responses that were not among them deviate in several ways at once.
    let response =
        "@ponder\n@ponder\nNow.\n@call get_weather using {\"city\": \"Paris\"} @done@eot";
    let expected = format!(r#"{{"role": "assistant", "reasoning_content": "Now.", {CALL}}}"#);
    assert_eq!(message(&derivation, "", response), expected);
}

#[test]
fn what_a_model_says_is_not_taken_for_a_marker() {
    let responses = [
        "Let me look. get_weather takes {\"city\": \"Paris\"} as arguments.@stop\n",
        "See @invoke in the docs.@stop\n",
        "Hello.@stop\n",
    ]
    .map(|response| recorded(response, None));
    let (derivation, report) = from(&responses);
    assert!(report.widenings.is_empty(), "{report:#?}");
    // That it speaks of a marker cannot be told from a marker that was not read, and so is told.
    assert_eq!((report.right, report.short.len()), (2, 1));
    assert!(report.short[0].why.contains("\"@invoke\""), "{report:#?}");
    let plain = learn(OWL, &[], &[]);
    assert_eq!(derivation.document, plain.document);
    assert_eq!(plain.report.responses, None);
}

#[test]
fn what_renders_prove_is_not_given_up() {
    // What closes an answer here would cut every answer short that has an `e` in it.
    let wrong = recorded(
        "Hello.@stop\n",
        Some(r#"{"content": "H", "thinking": "llo."}"#),
    );
    let (derivation, report) = from(std::slice::from_ref(&wrong));
    assert_eq!((report.right, report.widenings.len()), (0, 0));
    assert!(
        report.short[0].why.contains("another message"),
        "{report:#?}"
    );
    assert!(derivation.responses.is_empty());
}

#[test]
fn calls_of_the_published_harmony_format_are_learnt() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/chat_templates/gpt_oss.jinja");
    let chat = std::fs::read_to_string(path).unwrap();
    let call = r#"{"city": "Paris"}<|call|>"#;
    let responses = [
        format!("<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{call}"),
        format!(" to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{call}"),
        format!("<|channel|>commentary to=functions.get_weather<|message|>{call}"),
        format!("<|channel|>analysis to=functions.get_weather code<|message|>{call}"),
        format!(
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{call}"
        ),
    ]
    .map(|response| recorded(&response, None));
    let derivation = learn(&chat, &responses, &[]);
    let plain = learn(&chat, &[], &[]);
    let report = derivation.report.responses.clone().unwrap();
    assert_eq!((report.right_before, report.right), (0, 5), "{report:#?}");
    assert_eq!(derivation.report.rounds.passed, plain.report.rounds.passed);
    assert_eq!(derivation.report.verdict, plain.report.verdict);
    assert_eq!(derivation.responses.len(), 5);
    // A header that none of them has.
    let response =
        format!("<|channel|>analysis to=functions.get_weather <|constrain|>json<|message|>{call}");
    let expected = format!(r#"{{"role": "assistant", "content": "", {CALL}}}"#);
    assert_eq!(message(&derivation, "", &response), expected);
}

#[test]
fn engines_are_not_given_what_they_refuse() {
    let response = "@call get_weather using {\"city\": \"Paris\"} @invoked@stop\n";
    let response = recorded(response, None);
    let derivation = learn(OWL, std::slice::from_ref(&response), &[Engine::Vllm]);
    assert!(Engine::Vllm.check(&derivation.document).is_empty());
}

#[test]
fn a_special_token_is_a_marker_whatever_it_looks_like() {
    let mut source = chat_template::from_text("it", OWL).unwrap();
    let options = |responses: &[Recorded]| Options {
        responses: responses.to_vec(),
        ..Options::default()
    };
    let response = [recorded("Bye.~eot", None)];
    let unknown = derive(&source, &options(&response)).unwrap();
    assert_eq!(
        message(&unknown, "", "Bye.~eot"),
        r#"{"role": "assistant", "content": "Bye.~eot"}"#
    );
    source.tokens.special = vec!["~eot".to_owned()];
    let known = derive(&source, &options(&response)).unwrap();
    assert_eq!(
        message(&known, "", "Bye.~eot"),
        r#"{"role": "assistant", "content": "Bye."}"#
    );
    // What an engine stops at needs no response.
    source.tokens.end = vec!["~eot".to_owned()];
    let ended = derive(&source, &options(&[])).unwrap();
    assert_eq!(ended.document, known.document);
    let codes = ended.report.findings.iter().map(|finding| finding.code);
    assert!(codes.into_iter().any(|code| code == "end-token"));
}
