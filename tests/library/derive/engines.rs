//! What is derived for the engines that are to run it.

use crate::support::deriving::{findings, turns, turns_for};
use obverse::derive::{Derivation, Fate, Verdict};
use obverse::parser::parse_response;
use obverse::response_template::{Engine, ResponseTemplate};
use obverse::value::Value;

/// The message that a derived template parses a response to.
fn parsed(derivation: &Derivation, response: &str) -> Value {
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).expect("valid");
    Value::Object(parse_response(response, template, "", &[]).expect("it parses"))
}

const REASONED_CALLS: &str = "{% if m.reasoning_content %}[R]{{ m.reasoning_content }}[/R]{% endif %}{{ m.content }}\
    {% for c in m.tool_calls %}<call>{{ c.function | tojson }}</call>{% endfor %}";

#[test]
fn text_before_and_after_a_call_is_kept() {
    let derivation = turns(REASONED_CALLS, "<bot>");
    assert!(
        derivation.report.verified,
        "{:?}",
        derivation.report.findings
    );
    let call = r#"<call>{"name": "f", "arguments": {}}</call>"#;
    let content = |response: &str| parsed(&derivation, response).get("content").cloned();
    assert_eq!(
        content(&format!("One.{call}Two.<end>")),
        Some(Value::from("One.Two."))
    );
    assert_eq!(
        content(&format!("One.\n{call}\n<end>\n")),
        Some(Value::from("One."))
    );
    assert_eq!(
        content(&format!("\n{call}\nTwo.")),
        Some(Value::from("Two."))
    );
}

#[test]
fn a_template_for_servers_keeps_to_what_they_take() {
    for engines in [&[Engine::Vllm][..], &[Engine::Sglang], &Engine::ALL] {
        let derivation = turns_for(engines, REASONED_CALLS);
        assert!(
            derivation.report.verified,
            "{:?}",
            derivation.report.findings
        );
        let fields: Vec<&str> = derivation
            .document
            .fields
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(fields, ["thinking", "tool_calls", "content"]);
        assert_eq!(derivation.document.fields["content"].join, None);
        assert!(findings(&derivation).contains(&"reasoning-renamed"));
        for engine in engines {
            assert_eq!(engine.check(&derivation.document), []);
        }
    }
}

#[test]
fn a_default_that_servers_refuse_is_left_to_whoever_appends() {
    // Without a content, be it an empty one, such a template renders no calls.
    let assistant = "{{ m.content + '' }}{% for c in m.tool_calls %}<call>{{ c.function | tojson }}</call>{% endfor %}";
    let plain = turns(assistant, "<bot>");
    assert_eq!(
        plain.document.defaults.get("content"),
        Some(&Value::from(""))
    );
    let served = turns_for(&[Engine::Sglang], assistant);
    assert!(served.report.verified, "{:?}", served.report.findings);
    assert_eq!(served.document.defaults.get("content"), None);
    assert!(findings(&served).contains(&"content-left-out"));
}

#[test]
fn what_an_engine_cannot_take_is_reported() {
    let assistant = "{{ m.content }}{% for c in m.tool_calls %}[CALL]{{ c.function.name }}[WITH]{{ c.function.arguments | tojson }}{% endfor %}";
    let derivation = turns_for(&[Engine::Vllm, Engine::Sglang], assistant);
    assert_eq!(derivation.report.verdict, Verdict::Inexpressible);
    assert!(!derivation.report.verified);
    let refusals: Vec<&str> = derivation
        .report
        .findings
        .iter()
        .filter(|finding| finding.code == "refused-by-engine")
        .map(|finding| finding.text.as_str())
        .collect();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert!(
        refusals[0].starts_with("$.fields.tool_calls.close_pattern: vllm "),
        "{refusals:?}"
    );
    assert_eq!(
        turns_for(&[Engine::Sglang], assistant).report.verdict,
        Verdict::Proved
    );
}

#[test]
fn the_end_of_the_text_is_said_as_the_engine_understands_it() {
    let assistant = "{{ m.content }}{% if m.tool_calls | length > 1 %}{{ raise_exception('one') }}{% endif %}\
        {% for c in m.tool_calls %}{{ c.function | tojson }}{% endfor %}";
    let derivation = turns_for(&[Engine::Vllm], assistant);
    assert_eq!(
        Engine::Vllm.check(&derivation.document),
        [],
        "{}",
        derivation.document.to_json()
    );
    let cut = parsed(
        &derivation,
        "{\"name\": \"f\", \"arguments\": {\"a\": {}}}\n",
    );
    assert!(cut.get("tool_calls").is_some(), "{cut:?}");
}

/// An id behind the arguments is read by looking ahead, which one of the servers refuses: for that it is left out.
#[test]
fn what_an_engine_refuses_gives_way_to_nothing_that_loses_more() {
    let assistant = "{{ m.content }}{%- for call in m.tool_calls or [] %}\
        <call>{{ call.function.name }}|{{ call.function.arguments | tojson }}|<id>{{ call.id }}</id></call>{%- endfor %}";
    let taken = |engines: &[Engine]| {
        let derivation = turns_for(engines, assistant);
        let expected = match engines {
            [] => Verdict::Proved,
            _ => Verdict::Inexpressible,
        };
        assert_eq!(
            derivation.report.verdict, expected,
            "{:#?}",
            derivation.report.findings
        );
        let mut decisions = derivation.report.decisions.into_iter();
        let decision = decisions.find(|one| one.name == "id behind a call");
        let mut options = decision.expect("a question").candidates.into_iter();
        options
            .find(|one| one.fate == Fate::Taken)
            .map(|one| one.name)
    };
    assert_eq!(taken(&[]).as_deref(), Some("looked for ahead"));
    // Without look-ahead the id would be lost, which is in the text: nothing that vLLM takes brings it back.
    assert_eq!(taken(&[Engine::Vllm]).as_deref(), Some("looked for ahead"));
}
