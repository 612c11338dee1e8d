//! Calls whose arguments stand apart, each a key and a value of JSON.

use std::sync::Arc;

use crate::support::deriving::turns;
use obverse::derive::{Derivation, Verdict};
use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

/// The arguments of the calls in a response, by the response template that was derived.
fn arguments(derivation: &Derivation, response: &str) -> Vec<String> {
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    let message = parse_response(response, Arc::new(template), "", &[]).unwrap();
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let calls = calls.unwrap_or_default().iter();
    let arguments =
        calls.map(|call| json::to_string(call.get("function").unwrap().get("arguments").unwrap()));
    arguments.collect()
}

fn proved(template: &str) -> Derivation {
    let derivation = turns(template, "<bot>");
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    derivation
}

/// The members of an object within an argument look like arguments, and its lists and objects nest.
#[test]
fn an_object_is_one_value_whatever_its_members() {
    let derivation = proved(
        "{{ m.content }}\n{% for c in m.tool_calls %}{{ dict({'@': c.function.name}, **c.function.arguments) | tojson }}\n{% endfor %}",
    );
    let deep = r#"{"wide": {"fast": true, "via": ["A", {"b": null, "c": [[1], {}]}]}, "last": [{"x": 1}, "}"]}"#;
    let response = format!(
        r#"{{"@": "plan", {}<end>"#,
        deep.replacen('{', "", 1) + "\n"
    );
    assert_eq!(arguments(&derivation, &response), [deep]);
}

/// What stands behind a name may stand within one: a value of JSON has to follow.
#[test]
fn names_with_the_sign_that_ends_them() {
    let derivation = proved(
        "{{ m.content }}{% for c in m.tool_calls %}\n[tools {{ c.function.name }}{% for k, v in c.function.arguments.items() %} {{ k }}:{{ v | tojson }}{% endfor %}]{% endfor %}",
    );
    let response = r#"[tools f a:b:"x y:1" c[]:[1, 2] d:{"e:f": null}]<end>"#;
    let read = r#"{"a:b": "x y:1", "c[]": [1, 2], "d": {"e:f": null}}"#;
    assert_eq!(arguments(&derivation, response), [read]);
}

/// All calls stand in one section, lines are continued by a backslash, and a text may have what closes a call.
#[test]
fn lines_that_a_backslash_continues() {
    for sign in ["\\", "\\\\"] {
        let derivation = proved(
            &r"{{ m.content }}{% if m.tool_calls %}
```sh
{% for c in m.tool_calls %}{{ c.function.name }}{% for k, v in c.function.arguments.items() %} SIGN
  --{{ k }} {{ v | tojson }}{% endfor %};
{{ '\n' if not loop.last }}{% endfor %}```{% endif %}"
                .replace("SIGN", sign),
        );
        let response = "\n```sh\nf SIGN\n  --a [\"x;\", 1] SIGN\n  --b \"y;\\\"\";\n\ng SIGN\n  --c 2;\n```<end>";
        let read = [r#"{"a": ["x;", 1], "b": "y;\""}"#, r#"{"c": 2}"#];
        assert_eq!(
            arguments(&derivation, &response.replace("SIGN", sign)),
            read
        );
    }
}

/// A name or an id behind the arguments is looked for ahead, past the texts and lists that have the like of it.
#[test]
fn names_and_ids_behind_arguments_are_found_past_their_like() {
    let derivation = proved(
        "{{ m.content }}{% for c in m.tool_calls %}(let ({% for k, v in c.function.arguments.items() %}({{ k }} {{ v | tojson }}){% endfor %}) ({{ c.function.name }})){% endfor %}",
    );
    let response = r#"(let ((a "x) (g))") (b [") (h))"])) (f))<end>"#;
    assert_eq!(
        arguments(&derivation, response),
        [r#"{"a": "x) (g))", "b": [") (h))"]}"#]
    );
    let derivation = proved(
        "{{ m.content }}{% for c in m.tool_calls %}\n[{{ c.function.name | tojson }}, {{ c.function.arguments | tojson }}, {{ c.id | default('') | tojson }}]{% endfor %}",
    );
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    let response = r#"["f", {"a": ["x", "y"], "b": [["z", "w"]]}, "call_1"]<end>"#;
    let message = parse_response(response, Arc::new(template), "", &[]).unwrap();
    let calls = message.get("tool_calls").and_then(Value::as_array).unwrap();
    assert_eq!(calls[0].get("id").and_then(Value::as_str), Some("call_1"));
}
