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

/// Several calls may stand in a section and be indented there, which a call alone is not.
#[test]
fn several_calls_are_indented_otherwise_than_one() {
    let call = "SPACE<do {{ c.function.name }}>{% for k, v in c.function.arguments.items() %}{{ '\n' }}SPACE <p {{ k }}>{{ v | tojson }}</p>{% endfor %}{{ '\n' }}SPACE</do>";
    let each = |space: &str| {
        let call = call.replace("SPACE", space);
        format!("{{% for c in m.tool_calls %}}{{{{ '\n' }}}}{call}{{% endfor %}}")
    };
    let derivation = proved(&format!(
        "{{{{ m.content }}}}{{% if m.tool_calls | length == 1 %}}{}{{% elif m.tool_calls %}}{{{{ '\n' }}}}<all>{}{{{{ '\n' }}}}</all>{{% endif %}}",
        each(""),
        each("  ")
    ));
    let one = "\n<do f>\n <p a>\"x\"</p>\n <p b>[1]</p>\n</do>";
    let read = r#"{"a": "x", "b": [1]}"#;
    assert_eq!(arguments(&derivation, &format!("{one}<end>")), [read]);
    let two = "\n<all>\n  <do f>\n   <p a>\"x\"</p>\n   <p b>[1]</p>\n  </do>\n  <do g>\n  </do>\n</all><end>";
    assert_eq!(arguments(&derivation, two), [read, "{}"]);
}

/// What closes a number stands in a list and in an object as well; another marker closes a text. And a name may have in it what ends names.
#[test]
fn lists_beside_raw_texts_are_taken_as_a_whole() {
    let derivation = proved(
        "{{ m.content }}{% for c in m.tool_calls %}\n<do {{ c.function.name }}>\n{% for k, v in c.function.arguments.items() %}{{ k }}: {% if v is string %}r~{{ v }}~r{% else %}{{ v | tojson }}{% endif %},\n{% endfor %}</do>{% endfor %}",
    );
    let response = "\n<do f>\na:b: r~x, y: 1,~r,\nc: {\"d\": 1, \"e\": [2, 3]},\n</do><end>";
    assert_eq!(
        arguments(&derivation, response),
        [r#"{"a:b": "x, y: 1,", "c": "{\"d\": 1, \"e\": [2, 3]}"}"#]
    );
}

/// A word before the name tells the type of the value.
#[test]
fn a_word_before_a_name_may_be_another() {
    let derivation = proved(
        r#"{{ m.content }}{% for c in m.tool_calls %}<do {{ c.function.name }}>{% for k, v in c.function.arguments.items() %}{% if v is string %}<p is="text" of="{{ k }}">[[{{ v }}]]</p>{% else %}<p is="json" of="{{ k }}">{{ v | tojson }}</p>{% endif %}{% endfor %}</do>{% endfor %}"#,
    );
    let response = r#"<do f><p is="text" of="a">[[x]]</p><p is="json" of="b">[1, 2]</p></do><end>"#;
    assert_eq!(
        arguments(&derivation, response),
        [r#"{"a": "x", "b": "[1, 2]"}"#]
    );
}

/// What closes a value may stand in it, but on no line of its own.
#[test]
fn a_text_ends_on_a_line_of_its_own() {
    let derivation = proved(
        "{{ m.content }}{% for c in m.tool_calls %}{{ '\n' }}@@ {{ c.function.name }}{% for k, v in c.function.arguments.items() %}{{ '\n' }}-{{ k }} <<~~\n{{ v if v is string else v | tojson }}\n~~{% endfor %}{{ '\n' }}@@{% endfor %}",
    );
    let response = "\n@@ f\n-a <<~~\ncat <<~~ x\n~~\n-b <<~~\ny\n~~\n@@<end>";
    assert_eq!(
        arguments(&derivation, response),
        [r#"{"a": "cat <<~~ x", "b": "y"}"#]
    );
}

/// The line is the name's, and the next ones are the value's.
#[test]
fn a_name_ends_with_its_line() {
    let derivation = proved(
        "{{ m.content }}{% for c in m.tool_calls %}\n%%do {{ c.function.name }}{% for k, v in c.function.arguments.items() %}\n%%with {{ k }}\n{{ v if v is string else v | tojson }}\n%%thus{% endfor %}\n%%done{% endfor %}",
    );
    let response = "\n%%do f\n%%with a b\nx\ny\n%%thus\n%%done<end>";
    assert_eq!(arguments(&derivation, response), [r#"{"a b": "x\ny"}"#]);
}

/// The white space before what stands before arguments is all that ends a call without any.
#[test]
fn a_line_ends_a_call_without_arguments() {
    let derivation = proved(
        "{{ m.content }}{% if m.tool_calls %}\ncalls:\n{% for c in m.tool_calls %}- do: {{ c.function.name }}\n{% if c.function.arguments %}  with:\n{% for k, v in c.function.arguments.items() %}    {{ k }}: {{ v | tojson }}\n{% endfor %}{% endif %}{% endfor %}{% endif %}",
    );
    let response = "\ncalls:\n- do: f\n- do: g\n  with:\n    a: 1\n<end>";
    assert_eq!(arguments(&derivation, response), ["{}", r#"{"a": 1}"#]);
}

/// Where nothing stands in the place of an id, what follows is no id.
#[test]
fn an_id_behind_a_name_may_be_left_out() {
    let derivation = proved(
        "{{ m.content }}{% for c in m.tool_calls %}\n~~~call {{ c.function.name }} {{ c.id }}\n{{ c.function.arguments | tojson }}\n~~~{% endfor %}",
    );
    for id in ["", "call_1"] {
        let response = format!("\n~~~call f {id}\n{{\"a\": 1}}\n~~~<end>");
        let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
        let message = parse_response(&response, Arc::new(template), "", &[]).unwrap();
        let call = &message.get("tool_calls").and_then(Value::as_array).unwrap()[0];
        assert_eq!(
            call.get("id").and_then(Value::as_str).unwrap_or_default(),
            id
        );
        let function = call.get("function").map(json::to_string);
        assert_eq!(
            function.as_deref(),
            Some(r#"{"name": "f", "arguments": {"a": 1}}"#)
        );
    }
}
