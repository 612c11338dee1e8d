//! Chat templates that write something otherwise in conversations, under kwargs or for calls of which few make a difference.

use obverse::derive::{Derivation, Verdict};

use crate::support::deriving::{derive_text, told};

/// A chat template with this before and behind the content, and before the calls; `calls` is written for each of them.
fn template(before: &str, behind: &str, calls: &str) -> Derivation {
    derive_text(&format!(
        "{{%- for m in messages %}}{{{{- '<|' + m.role + '|>' }}}}\
         {{%- if m.role == 'assistant' %}}{before}{{%- endif %}}{{{{- m.content or '' }}}}\
         {{%- if m.role == 'assistant' %}}{{%- if m.tool_calls %}}{calls}{{%- endif %}}{behind}{{%- endif %}}{{{{- '<|end|>' }}}}{{%- endfor %}}\
         {{%- if add_generation_prompt %}}{{{{- '<|assistant|>' }}}}{{%- endif %}}"
    ))
    .expect("derived")
}

const CALLS: &str =
    "{%- for c in m.tool_calls %}<call>{{ c.function | tojson }}</call>{%- endfor %}";

/// Returns true if the response template reads the response as the content and a call, or none.
fn reads(derivation: &Derivation, response: &str, content: &str, calls: usize) -> bool {
    let document = derivation.document.to_value();
    let Ok(template) = obverse::response_template::ResponseTemplate::from_value(&document) else {
        return false;
    };
    let parsed = obverse::parser::parse_response(
        response,
        std::sync::Arc::new(template),
        "<|assistant|>",
        &[],
    );
    parsed.is_ok_and(|message| {
        let said = message.get("content").and_then(|text| text.as_str());
        let called = message.get("tool_calls").and_then(|calls| calls.as_array());
        said.unwrap_or_default() == content && called.map_or(0, <[_]>::len) == calls
    })
}

/// What stands beside the content in such a conversation alone is read as a marker, or nothing is called proved.
#[test]
fn conversations_in_which_two_things_come_together() {
    let system = "messages[0].role == 'system'";
    for test in [
        &format!("{system} and tools"),
        &format!("{system} and loop.index0 > 3"),
        "messages[0].role == 'developer'",
        "messages[loop.index0 - 1].role == 'tool' and messages[loop.index0 - 3].role == 'tool'",
        "loop.index0 > 1 and messages[1].thinking",
        "'\\n' in messages[loop.index0 - 1].content",
    ] {
        let behind = format!("{{{{- '<|note|>' if loop.index0 > 0 and {test} else '' }}}}");
        let thought = "{%- if m.thinking %}{{- '<think>' + m.thinking + '</think>' }}{%- endif %}";
        let derivation = template(thought, &behind, CALLS);
        let is_read = reads(&derivation, "Yes<|note|><|end|>", "Yes", 0);
        let is_proved = derivation.report.verdict == Verdict::Proved;
        assert!(is_read || !is_proved, "{test}: {:?}", derivation.document);
    }
}

#[test]
fn calls_in_such_conversations() {
    for test in [
        "messages[0].role == 'system'",
        "loop.index0 > 2",
        "tools and tools | length == 1",
    ] {
        let calls = format!("{{{{- '<calls>' if {test} else '' }}}}{CALLS}");
        let derivation = template("", "", &calls);
        let response = r#"<calls><call>{"name": "f", "arguments": {"a": "b"}}</call><|end|>"#;
        let is_read = reads(&derivation, response, "", 1);
        let is_proved = derivation.report.verdict == Verdict::Proved;
        assert!(is_read || !is_proved, "{test}: {:?}", derivation.document);
    }
}

/// A kwarg may make a difference in some conversation, or to several calls, alone.
#[test]
fn kwargs_that_matter_in_few_conversations() {
    for (test, response, content) in [
        (
            "cited and messages[0].role == 'system'",
            "<|note|>Yes<|end|>",
            "Yes",
        ),
        ("more and loop.index0 > 2", "<|note|>Yes<|end|>", "Yes"),
        (
            "version and version.startswith('v2')",
            "<|note|>Yes<|end|>",
            "Yes",
        ),
    ] {
        let before = format!("{{{{- '<|note|>' if {test} else '' }}}}");
        let derivation = template(&before, "", CALLS);
        let is_read = reads(&derivation, response, content, 0);
        let is_proved = derivation.report.verdict == Verdict::Proved;
        assert!(is_read || !is_proved, "{test}: {:?}", derivation.document);
    }
    let several =
        format!("{{{{- '<all>' if parallel and m.tool_calls | length > 1 else '' }}}}{CALLS}");
    let derivation = template("", "", &several);
    let call = r#"<call>{"name": "f", "arguments": {}}</call>"#;
    let response = format!("<all>{call}{call}<|end|>");
    let is_proved = derivation.report.verdict == Verdict::Proved;
    assert!(reads(&derivation, &response, "", 2) || !is_proved);
}

/// Two kwargs that do together what neither does alone are tried; those whose effects stand side by side are none.
#[test]
fn kwargs_that_come_together() {
    let open = |marker: &str| {
        let before = format!(
            "{{%- if m.thinking and think %}}{marker}{{{{- m.thinking + '</think>' }}}}{{%- endif %}}"
        );
        template(&before, "", CALLS)
    };
    let both = open("{{- '<deep>' if effort == 'high' else '<think>' }}");
    let is_read = reads(&both, "<deep>Hm</think>Yes<|end|>", "Yes", 0);
    assert!(is_read || both.report.verdict != Verdict::Proved);
    let beside = template(
        "{{- '<a>' if first else '' }}",
        "{{- '<b>' if second else '' }}",
        CALLS,
    );
    assert_eq!(
        beside.report.verdict,
        Verdict::Proved,
        "{:?}",
        beside.report.findings
    );
}

#[test]
fn calls_with_what_the_chat_template_asks_for() {
    let by_id = "{%- for c in m.tool_calls %}<call>{{ '[' + c.id + ']' if c.id and c.id.startswith('call_') else '' }}{{ c.function | tojson }}</call>{%- endfor %}";
    let derivation = template("", "", by_id);
    assert_eq!(derivation.report.verdict, Verdict::ProvedInPart);
    assert!(told(&derivation, "id-not-read").contains("\"call_\""));
    let by_argument = "{%- for c in m.tool_calls %}<call {{ c.function.name }}>{%- for k, v in c.function.arguments.items() %}<{{ k }}>{{ '``' + v + '``' if k == 'code' else v }}</{{ k }}>{%- endfor %}</call>{%- endfor %}";
    let derivation = template("", "", by_argument);
    assert_ne!(derivation.report.verdict, Verdict::Proved);
    assert!(told(&derivation, "argument-not-read").contains("`code`"));
    // Asked for without a comparison: as the only argument of any function, and as one of several of a certain one.
    let alone = "(c.function.arguments | length == 1 and c.function.arguments.code is defined)";
    let of_one = "(c.function.name == 'run' and c.function.arguments.code is defined)";
    for (asked, tells) in [
        (alone, "an argument `code` otherwise"),
        (of_one, "an argument `code` of `run`"),
    ] {
        let calls = format!(
            "{{%- for c in m.tool_calls %}}{{% if {asked} %}}<code>{{{{ c.function.arguments.code }}}}</code>{{% else %}}<call>{{{{ c.function | tojson }}}}</call>{{% endif %}}{{%- endfor %}}"
        );
        let derivation = template("", "", &calls);
        assert_eq!(derivation.report.verdict, Verdict::ProvedInPart);
        assert!(told(&derivation, "argument-not-read").contains(tells));
    }
    assert_eq!(template("", "", CALLS).report.verdict, Verdict::Proved);
}

/// A chat template that writes the question into the header of an answer, with `around` for the answer and `calls` for each call.
fn quoting(header: &str, around: (&str, &str), calls: &str) -> Derivation {
    let (before, behind) = around;
    derive_text(&format!(
        "{{%- for m in messages -%}}\
         {{%- if m.role == 'assistant' -%}}{header}{before}{{{{ m.content or '' }}}}{behind}{{%- for c in m.tool_calls or [] -%}}{calls}{{%- endfor -%}}\
         {{%- else -%}}[{{{{ m.role }}}}]{{{{ m.content }}}}{{%- endif -%}}[end]{{%- endfor -%}}\
         {{%- if add_generation_prompt -%}}{header}{{%- endif -%}}"
    ))
    .expect("derived")
}

#[test]
fn the_question_in_a_header_is_no_part_of_the_start_anchor() {
    let call = "<call>{{ c.function | tojson }}</call>";
    let header = "[bot re=\"{{ messages[0].content }}\"]";
    let derivation = quoting(header, ("", ""), call);
    assert_eq!(derivation.report.start_anchor, ["\"]"]);
    assert_eq!(derivation.report.verdict, Verdict::Proved);
}

#[test]
fn a_delimiter_with_the_question_in_it_proves_nothing() {
    let call = "<call for=\"{{ messages[0].content }}\">{{ c.function | tojson }}</call>";
    let derivation = quoting("[bot]", ("", ""), call);
    assert_eq!(derivation.report.verdict, Verdict::NotProved);
    let told = told(&derivation, "text-in-delimiter");
    assert!(told.contains("of the messages that were tried"), "{told}");
    // The chat template's own constants may have the same words.
    let own = call.replace("{{ messages[0].content }}", "Cinder");
    let derivation = quoting("[bot]", ("", ""), &own);
    assert_eq!(derivation.report.verdict, Verdict::Proved);
}

/// Without the argument that it asks for, the chat template renders no call of the function at all.
#[test]
fn an_argument_without_which_a_call_is_refused_is_tried() {
    for (name, asks) in [
        ("run_code", "c.function.name == 'run_code'"),
        ("browser.peek", "c.function.name.startswith('browser.')"),
    ] {
        let calls = format!(
            "{{%- for c in m.tool_calls %}}{{%- if {asks} %}}{{{{ '<run>' + c.function.arguments.code + '</run>' }}}}{{%- else %}}<call>{{{{ c.function | tojson }}}}</call>{{%- endif %}}{{%- endfor %}}"
        );
        let derivation = template("", "", &calls);
        assert_eq!(derivation.report.verdict, Verdict::ProvedInPart, "{name}");
        let told = told(&derivation, "argument-not-read");
        assert!(told.contains("`code`") && told.contains(name), "{told}");
    }
}
