//! Where a chat template can be read in several ways: what is taken, and why the others lose.

mod support;

use obverse::chat_template;
use obverse::derive::{Alternative, Decision, Derivation, Fate, Options, ToolsMode, derive};
use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};
use support::deriving::{derive_text, findings, turns};

/// Calls whose arguments look like a dialect of JSON with strings in single quotes, which nothing escapes: a string with
/// such a quote in it is not read so, but it is read as a value that ends where the next key begins.
const NEARLY_JSON: &str = "{{ m.content }}\
    {%- for call in m.tool_calls or [] %}<call>{{ call.function.name }}{{ '{' }}\
    {%- for key, value in call.function.arguments.items() -%}\
    {{ key }}:{% if value is string %}'{{ value }}'{% else %}{{ value | tojson }}{% endif %}{{ ',' if not loop.last }}\
    {%- endfor %}{{ '}' }}</call>{% endfor %}";

fn decision<'d>(derivation: &'d Derivation, question: &str) -> &'d Decision {
    let decisions = &derivation.report.decisions;
    decisions
        .iter()
        .find(|decision| decision.question == question)
        .unwrap_or_else(|| panic!("nothing was decided of {question}: {decisions:#?}"))
}

fn taken(decision: &Decision) -> &Alternative {
    let taken: Vec<&Alternative> = decision
        .options
        .iter()
        .filter(|option| option.fate == Fate::Taken)
        .collect();
    assert_eq!(taken.len(), 1, "{decision:#?}");
    taken[0]
}

fn with_alternatives(text: &str) -> Derivation {
    let source = chat_template::from_text("test", text).expect("a template");
    let options = Options {
        alternatives: true,
        ..Options::default()
    };
    derive(&source, &options).expect("derived")
}

#[test]
fn a_counterexample_corrects_the_first_reading() {
    let derivation = turns(NEARLY_JSON, "<bot>");
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert_eq!(report.tools.mode, ToolsMode::TagWithTagged);
    let form = decision(&derivation, "call form");
    assert_eq!(
        taken(form).way,
        "the name in a tag, each argument in tags",
        "{form:#?}"
    );
    let first = &form.options[0];
    assert_eq!(
        (first.way.as_str(), first.fate),
        (
            "the name in a tag, the arguments in a dialect of JSON",
            Fate::Fails
        )
    );
    let found = first.counterexample.as_ref().expect("a message");
    let call = json::to_string(found.expected.get("tool_calls").expect("calls"));
    assert!(call.contains('\''), "the smallest has a quote: {call}");
    assert!(found.parsed.get("tool_calls").is_none(), "{found:?}");
    assert!(found.response.len() < 60, "{:?}", found.response);
    assert!(findings(&derivation).contains(&"corrected"));
}

/// The first reading is the right one where strings have their quotes escaped; the other is then not even tried.
#[test]
fn what_is_not_needed_is_not_tried() {
    let json = NEARLY_JSON.replace("'{{ value }}'", "{{ value | tojson }}");
    let derivation = turns(&json, "<bot>");
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert_eq!(report.tools.mode, ToolsMode::TagWithJson);
    let form = decision(&derivation, "call form");
    assert_eq!(form.options[0].fate, Fate::Taken);
    assert!(!findings(&derivation).contains(&"corrected"));
    for decision in &report.decisions {
        for option in &decision.options[1..] {
            assert_eq!(option.fate, Fate::NotTried, "{}", decision.question);
            assert!(!option.because.is_empty());
            assert!(option.counterexample.is_none() && option.why.is_none());
        }
    }
}

#[test]
fn losers_say_why_where_they_are_tried() {
    let text = "{% for m in messages %}<{{ m.role }}>\
        {% if m.thinking %}[R]{{ m.thinking }}[/R][A]{% endif %}{{ m.content }}<end>\n{% endfor %}\
        {% if add_generation_prompt %}<assistant>{% endif %}";
    let plain = derive_text(text).expect("derived");
    let derivation = with_alternatives(text);
    assert!(derivation.report.verified);
    assert_eq!(derivation.document, plain.document);
    let close = decision(&derivation, "reasoning close");
    assert_eq!(taken(close).means, "\"[/R][A]\"");
    let first_marker = &close.options[1];
    assert_eq!(
        (first_marker.means.as_str(), first_marker.fate),
        ("\"[/R]\"", Fate::Fails)
    );
    let found = first_marker.counterexample.as_ref().expect("a message");
    // What would then open the content is not there without a reasoning.
    assert_eq!(
        found
            .expected
            .get("content")
            .and_then(|value| value.as_str()),
        Some("Zephyr wold")
    );
    assert_eq!(found.parsed.get("content"), None);
    for decision in &derivation.report.decisions {
        for option in &decision.options {
            let shown = option.counterexample.is_some() || option.why.is_some();
            assert_ne!(option.fate, Fate::NotTried, "{}", decision.question);
            assert_eq!(option.fate == Fate::Fails, shown, "{option:#?}");
        }
    }
}

/// Calls with keyword arguments, as Python prints them.
const KEYWORDS: &str = "{{ m.content }}\
    {%- for call in m.tool_calls or [] %}<call>{{ call.function.name }}(\
    {%- for key, value in call.function.arguments.items() -%}\
    {{ key }}={% if value is string %}'{{ value }}'{% elif value is mapping %}{{ value | tojson }}{% else %}{{ value }}{% endif %}{{ ', ' if not loop.last }}\
    {%- endfor %})</call>{% endfor %}";

#[test]
fn lists_of_texts_in_quotes_are_read_as_json() {
    let derivation = turns(KEYWORDS, "<bot>");
    let values = decision(&derivation, "argument values");
    assert_eq!(taken(values).way, "as JSON", "{values:#?}");
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).expect("valid");
    let response = "<call>f(a=['x', 'it'], b='7', c=7, d='say 'x' twice', e={\"k\": [true]}, g='')</call><end>";
    let message =
        parse_response(response, std::sync::Arc::new(template), "", &[]).expect("a message");
    let message = Value::Object(message);
    let calls = message
        .get("tool_calls")
        .and_then(Value::as_array)
        .expect("calls");
    let function = calls[0].get("function").expect("a function");
    assert_eq!(
        json::to_string(function.get("arguments").expect("arguments")),
        r#"{"a": ["x", "it"], "b": "7", "c": 7, "d": "say 'x' twice", "e": {"k": [true]}, "g": ""}"#
    );
    // Where lists are JSON as they are, the schemas of the tools type them, and nothing more is needed.
    let plain = KEYWORDS.replace("{% else %}{{ value }}", "{% else %}{{ value | tojson }}");
    let derivation = turns(&plain, "<bot>");
    assert!(
        derivation.report.verified,
        "{:#?}",
        derivation.report.findings
    );
    let values = decision(&derivation, "argument values");
    assert_eq!(taken(values).way, "as text", "{values:#?}");
}
