//! What is derived from chat templates small enough to be read here.

mod circumstances;
mod decisions;
mod ends;
mod engines;
mod inputs;
mod pairs;
mod prompts;
mod renamed;
mod turns;
mod written_otherwise;

use crate::support::deriving::{derive_text, findings, turns};
use obverse::derive::inspect::Lifetime;
use obverse::derive::{
    ContentMode, DeriveError, History, Opener, ReasoningMode, ToolsMode, Verdict,
};
use obverse::diagnostic::Severity;
use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

#[test]
fn plain_content() {
    let derivation = turns("{{ m.content }}", "<bot>");
    let report = &derivation.report;
    assert!(report.verified, "{:?}", report.findings);
    assert_eq!(report.start_anchor, ["<bot>"]);
    assert_eq!(report.reasoning.mode, ReasoningMode::None);
    assert_eq!(
        (report.content.mode, report.content.close.as_str()),
        (ContentMode::Plain, "<end>")
    );
    assert_eq!(report.tools.mode, ToolsMode::None);
    assert_eq!(
        json::to_string(&derivation.document.to_value()),
        r#"{"defaults": {"role": "assistant"}, "start_anchor": "<bot>", "fields": {"content": {"close_pattern": "<end>\\s*", "repeats": true, "join": "", "content": "text"}}}"#
    );
}

#[test]
fn reasoning_goes_to_the_key_that_the_template_reads() {
    for key in ["thinking", "reasoning_content", "thought"] {
        let derivation = turns(
            &format!(
                "{{% if m.{key} %}}[R]{{{{ m.{key} }}}}[/R]\n{{% endif %}}{{{{ m.content }}}}"
            ),
            "<bot>",
        );
        let report = &derivation.report;
        assert!(report.verified, "{:?}", report.findings);
        assert_eq!(
            (
                report.reasoning.open.as_str(),
                report.reasoning.close.as_str()
            ),
            ("[R]", "[/R]")
        );
        assert!(
            derivation.document.fields.contains_key(key),
            "{key}: {:?}",
            derivation.document
        );
    }
}

#[test]
fn a_marker_of_several_parts_is_opened_by_the_prompt_too() {
    let derivation = turns(
        "{% if think != false %}<o>R<s>{{ m.reasoning }}<c>R<s>{% endif %}<o>T<s>{{ m.content }}",
        "<bot>{% if think != false %}<o>R<s>{% else %}<o>T<s>{% endif %}",
    );
    let report = &derivation.report;
    assert!(report.verified, "{:?}", report.findings);
    assert_eq!(report.reasoning.open, "<o>R<s>");
    assert_eq!(report.reasoning.opened_by, Some(Opener::Prompt));
}

#[test]
fn reasoning_that_only_the_prompt_opens_and_the_history_cuts_off() {
    let derivation = turns("{{ m.content.split('[/R]')[-1] }}", "<bot>[R]\n");
    let report = &derivation.report;
    assert_eq!(
        report.verdict,
        Verdict::ProvedInPart,
        "{:?}",
        report.findings
    );
    assert!(findings(&derivation).contains(&"prompt-not-shown"));
    assert_eq!(
        (
            report.reasoning.open.as_str(),
            report.reasoning.close.as_str()
        ),
        ("[R]", "[/R]")
    );
    assert_eq!(report.reasoning.opened_by, Some(Opener::Prompt));
    assert_eq!(report.reasoning.history, Some(History::Dropped));
    assert!(report.rounds.injected > 0, "{:?}", report.rounds);
    assert!(findings(&derivation).contains(&"reasoning-not-rendered"));
}

#[test]
fn reasoning_that_the_anchor_seems_to_open() {
    let derivation = turns(
        "[WHY]{{ m.thinking }}[/WHY]{{ m.content.split('[/WHY]')[-1] }}",
        "<bot>[WHY]",
    );
    let report = &derivation.report;
    assert!(report.verified, "{:?}", report.findings);
    assert_eq!(report.start_anchor, ["<bot>"]);
    assert_eq!(report.reasoning.open, "[WHY]");
}

/// Such a template writes the last turn as if its content were reasoning, which no response template can undo; the earlier
/// turns it writes as the model does.
#[test]
fn reasoning_that_the_last_turn_is_prefilled_with() {
    let derivation = turns(
        "{{ '[R]\n' if loop.last }}{{ m.content.split('[/R]')[-1] }}",
        "<bot>[R]\n",
    );
    let report = &derivation.report;
    assert_eq!(report.start_anchor, ["<bot>"]);
    assert_eq!(
        (
            report.reasoning.open.as_str(),
            report.reasoning.close.as_str()
        ),
        ("[R]", "[/R]")
    );
    assert_eq!(
        report.verdict,
        Verdict::ProvedInPart,
        "{:#?}",
        report.findings
    );
    let finding = report
        .findings
        .iter()
        .find(|finding| finding.code == "last-turn-as-reasoning")
        .expect("a finding");
    let smallest = finding.counterexample.as_ref().expect("an example");
    assert_eq!(smallest.response.trim_start(), "Marigold thicket<end>");
    let content = smallest.parsed.get("content");
    assert!(content.is_none_or(|content| content.as_str() == Some("")));
    // An earlier turn shows the first of these; the second is the same with a reasoning written in by hand.
    let cases = &derivation.cases;
    assert!(
        cases
            .iter()
            .any(|case| case.response == "Marigold thicket<end>")
    );
    assert!(report.rounds.injected > 0, "{:?}", report.rounds);
}

#[test]
fn wrapped_content() {
    let derivation = turns("<say>{{ m.content }}</say>", "<bot>");
    let report = &derivation.report;
    assert!(report.verified, "{:?}", report.findings);
    assert_eq!(
        (report.content.mode, report.content.open.as_str()),
        (ContentMode::AlwaysWrapped, "<say>")
    );
}

/// Calls in each of the shapes that are read, as a block over `m.tool_calls`.
#[test]
fn calls_in_every_shape() {
    let shapes = [
        (
            "json objects",
            ToolsMode::JsonNative,
            "{% for c in m.tool_calls %}<call>{{ c.function | tojson }}</call>\n{% endfor %}",
        ),
        (
            "a json array",
            ToolsMode::JsonNative,
            "{% if m.tool_calls %}<calls>[{% for c in m.tool_calls %}{\"do\": {{ c.function.name | tojson }}, \"with\": {{ c.function.arguments | tojson }}}{{ ', ' if not loop.last }}{% endfor %}]{% endif %}",
        ),
        (
            "a name in a tag, and the id",
            ToolsMode::TagWithJson,
            "{% for c in m.tool_calls %}<call {{ c.id }}|{{ c.function.name }}>{{ c.function.arguments | tojson }}</call>{% endfor %}",
        ),
        (
            "arguments as the text of an object",
            ToolsMode::TagWithJson,
            "{% for c in m.tool_calls %}<call {{ c.function.name }}>{{ c.function.arguments + '' }}</call>{% endfor %}",
        ),
        (
            "calls that only the next one ends",
            ToolsMode::TagWithJson,
            "{% for c in m.tool_calls %}[CALL]{{ c.function.name }}[WITH]{{ c.function.arguments | tojson }}{% endfor %}",
        ),
        (
            "arguments in tags",
            ToolsMode::TagWithTagged,
            "{% for c in m.tool_calls %}<call={{ c.function.name }}>{% for k, v in c.function.arguments.items() %}<{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>{% endfor %}</call>{% endfor %}",
        ),
        (
            "the name twice",
            ToolsMode::TagWithTagged,
            "{% for c in m.tool_calls %}<to {{ c.function.name }}><call {{ c.function.name }}>{% for k, v in c.function.arguments.items() %}<{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>{% endfor %}</call>{% endfor %}",
        ),
        (
            "keywords, in a list without a marker for each call",
            ToolsMode::TagWithTagged,
            "{% if m.tool_calls %}<calls>[{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={% if v is string %}'{{ v }}'{% else %}{{ v | tojson }}{% endif %}{{ ', ' if not loop.last }}{% endfor %}){{ ', ' if not loop.last }}{% endfor %}]</calls>{% endif %}",
        ),
    ];
    for (what, mode, calls) in shapes {
        // Text that ends like a call of such a list is read as one, so that no message here says something before its calls.
        let said = match what.contains("without a marker") {
            true => "{{ m.content if not m.tool_calls }}",
            false => "{{ m.content }}",
        };
        let derivation = turns(&format!("{said}{calls}"), "<bot>");
        let report = &derivation.report;
        assert!(report.verified, "{what}: {:#?}", report.findings);
        assert_eq!(report.tools.mode, mode, "{what}");
        let calling = |case: &&obverse::derive::Case| {
            let calls = case.message.get("tool_calls").and_then(Value::as_array);
            calls.is_some_and(|calls| calls.len() == 2)
        };
        assert!(
            derivation.cases.iter().any(|case| calling(&case)),
            "{what}: no case of two calls"
        );
    }
}

/// The anchor ends with what opens each call, and content is addressed like a call of that name.
#[test]
fn recipients_by_line() {
    let derivation = turns(
        "@@@{% if m.content %}all\n{{ m.content }}{{ '\n@@@' if m.tool_calls }}{% endif %}{% for c in m.tool_calls %}{{ c.function.name }}\n{{ c.function.arguments | tojson }}{{ '@@@' if not loop.last }}{% endfor %}",
        "<bot>@@@",
    );
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert_eq!(report.start_anchor, ["<bot>"]);
    assert_eq!(report.tools.mode, ToolsMode::TagWithJson);
    assert!(report.supports.parallel_calls && report.supports.content_with_calls);
}

/// `f(a, b)` in prose or code opens no call, though in a list of calls it does; nor does what stands between two calls, right before the list.
#[test]
fn prose_is_no_call_in_a_list() {
    for (open, close) in [("[[", "]]"), ("Calls[", "]Done")] {
        let derivation = turns(
            &format!(
                "{{{{ m.content }}}}{{% if m.tool_calls %}}{open}{{% for c in m.tool_calls %}}{{{{ c.function.name }}}}({{% for k, v in c.function.arguments.items() %}}{{{{ k }}}}={{{{ v | tojson }}}}{{{{ ', ' if not loop.last }}}}{{% endfor %}}){{{{ ', ' if not loop.last }}}}{{% endfor %}}{close}{{% endif %}}"
            ),
            "<bot>",
        );
        let template =
            ResponseTemplate::from_value(&derivation.document.to_value()).expect("valid");
        for said in ["f(a=1), g(b=2)", "f(a=1),"] {
            let response = format!("{said} {open}f(a=1), g(){close}<end>");
            let message = parse_response(&response, template.clone(), "", &[]).expect("parsed");
            assert_eq!(
                json::to_string(&Value::Object(message)),
                format!(
                    r#"{{"role": "assistant", "content": "{said}", "tool_calls": [{{"type": "function", "function": {{"name": "f", "arguments": {{"a": 1}}}}}}, {{"type": "function", "function": {{"name": "g", "arguments": {{}}}}}}]}}"#
                )
            );
        }
    }
}

#[test]
fn arguments_in_words_that_no_parser_knows_are_inexpressible() {
    let calls = |value: &str| {
        format!(
            "{{{{ m.content }}}}{{% for c in m.tool_calls %}}<call {{{{ c.function.name }}}}>{{% for k, v in c.function.arguments.items() %}}<{{{{ k }}}}>{{{{ {value} }}}}</{{{{ k }}}}>{{% endfor %}}</call>{{% endfor %}}"
        )
    };
    for (value, lost) in [
        (
            "('\"' ~ v ~ '\"') if v is string else v | string",
            r#"["larch", "basin"]"#,
        ),
        (
            "v | replace('\\\\', '\\\\\\\\') | replace('\\n', '\\\\n') if v is string else v | tojson",
            r"\n",
        ),
    ] {
        let report = turns(&calls(value), "<bot>").report;
        assert_eq!(
            report.verdict,
            Verdict::Inexpressible,
            "{value}: {report:#?}"
        );
        let shown = report.findings.iter().any(|finding| {
            finding.code == "inexpressible"
                && finding
                    .counterexample
                    .as_ref()
                    .is_some_and(|example| json::to_string(&example.message).contains(lost))
        });
        assert!(shown, "{value}: {:#?}", report.findings);
    }
}

#[test]
fn a_template_that_loses_something_is_not_proved() {
    let derivation = turns("{{ m.content | replace('\"', '') }}", "<bot>");
    assert!(!derivation.report.verified);
    let finding = derivation
        .report
        .findings
        .iter()
        .find(|finding| finding.severity == Severity::Error)
        .expect("a finding");
    let found = finding.counterexample.as_ref().expect("a counterexample");
    let content = found
        .message
        .get("content")
        .and_then(Value::as_str)
        .expect("content");
    assert!(content.contains('"'), "{content}");
    assert!(content.split_whitespace().count() <= 3, "shrunk: {content}");
    assert_ne!(found.expected, found.parsed);
}

#[test]
fn a_template_that_takes_one_call_only() {
    let derivation = turns(
        "{{ m.content }}{% if m.tool_calls %}{% if m.tool_calls | length > 1 %}{{ raise_exception('one call') }}{% endif %}<call>{{ m.tool_calls[0].function | tojson }}</call>{% endif %}",
        "<bot>",
    );
    assert!(
        derivation.report.verified,
        "{:?}",
        derivation.report.findings
    );
    assert!(!derivation.report.supports.parallel_calls);
    assert!(findings(&derivation).contains(&"refused"));
}

#[test]
fn calls_that_are_not_understood_are_no_proof() {
    let derivation = turns(
        "{{ m.content }}{% for c in m.tool_calls %}<call>{{ c.function.name }} to {{ c.function.arguments.values() | join(' and ') }}</call>{% endfor %}",
        "<bot>",
    );
    assert!(!derivation.report.verified);
    assert!(findings(&derivation).contains(&"calls-not-understood"));
}

#[test]
fn templates_from_which_nothing_can_be_read() {
    let refused = derive_text("{{ raise_exception('never') }}").expect_err("it refuses everything");
    assert!(matches!(refused, DeriveError::Render(_)), "{refused}");
    let silent =
        derive_text("{% for m in messages %}<{{ m.role }}>{% endfor %}").expect_err("no content");
    assert!(matches!(silent, DeriveError::Unreadable(_)), "{silent}");
}

#[test]
#[ignore = "a hundred million steps; `.ci/run` runs it"]
fn an_endless_template_ends_at_a_limit() {
    let endless = derive_text(
        "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}",
    )
    .expect_err("it never ends");
    assert!(endless.to_string().contains("limit"), "{endless}");
}

#[test]
#[ignore = "millions of steps; `.ci/run` runs it"]
fn a_slow_template_exhausts_the_steps_of_all_renders() {
    let slow = "{% for a in range(90000) %}{% for b in range(100) %}{% endfor %}{% endfor %}\
                {% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}\
                {% if add_generation_prompt %}<assistant>{% endif %}";
    let Err(slow) = derive_text(slow) else {
        panic!("every render takes millions of steps");
    };
    assert!(matches!(slow, DeriveError::Exhausted { .. }), "{slow}");
}

#[test]
fn reasoning_is_kept_for_as_long_as_it_is_rendered() {
    let reasoned = "{% if m.thinking %}[R]{{ m.thinking }}[/R]{% endif %}{{ m.content }}";
    let last_only = reasoned.replace("m.thinking %", "m.thinking and loop.last %");
    for (template, history) in [
        (reasoned, Lifetime::Kept),
        (last_only.as_str(), Lifetime::LastMessage),
    ] {
        let report = turns(template, "<bot>").report;
        assert!(report.verified, "{:?}", report.findings);
        let rendered = History::Rendered(history);
        assert_eq!(report.reasoning.history, Some(rendered));
        // The report has it in the words of `inspect`.
        assert_eq!(
            serde_json::to_string(&rendered).ok(),
            serde_json::to_string(&history).ok()
        );
    }
    let cut = turns("{{ m.content.split('</t>')[-1] }}", "<bot><t>").report;
    assert_eq!(cut.reasoning.history, Some(History::Dropped));
}

/// A reasoning that only an amendment reads, since no two delimiters stand around it, is reported all the same.
#[test]
fn reasoning_that_is_read_by_lines_is_reported() {
    let report = turns(
        "{% if m.thinking %}> {{ m.thinking | replace('\n', '\n> ') }}\n\n{% endif %}{{ m.content }}",
        "<bot>",
    )
    .report;
    assert!(report.verified, "{:?}", report.findings);
    let reasoning = &report.reasoning;
    assert_eq!(reasoning.mode, ReasoningMode::TagBased);
    assert_eq!(reasoning.key.as_deref(), Some("thinking"));
    assert!(reasoning.open.contains("> "), "{}", reasoning.open);
    assert_eq!(report.supports.reasoning.as_deref(), Some("thinking"));
}

/// Content that something closes beside a reasoning alone, with what opens it part of what closes the reasoning.
#[test]
fn content_that_is_wrapped_beside_reasoning_only() {
    let derivation = turns(
        "{% if m.thinking %}<think>{{ m.thinking }}</think><say>{{ m.content }}</say>{% else %}{{ m.content }}{% endif %}",
        "<bot>",
    );
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert_eq!(report.content.mode, ContentMode::WrappedWithReasoning);
    let found = report.evidence.iter().find(|one| one.marker == "</say>");
    let found = found.expect("evidence");
    assert!(found.right.text.contains("</say>") && !found.left.text.contains("</say>"));
}

/// Every marker that a report names was read from two renders that differ.
#[test]
fn every_marker_has_evidence() {
    for derived in crate::support::derived::own() {
        let name = &derived.name;
        let derivation = derived.expect();
        let report = &derivation.report;
        for evidence in &report.evidence {
            assert_ne!(evidence.left.text, evidence.right.text, "{name}");
        }
        let has = |marker: &str| {
            let marker = marker.trim();
            report
                .evidence
                .iter()
                .any(|one| one.marker.contains(marker))
        };
        let tools = &report.tools;
        let markers = [
            &report.reasoning.open,
            &report.reasoning.close,
            &report.content.open,
            &report.content.close,
            &tools.section_open,
            &tools.section_close,
            &tools.open,
            &tools.close,
        ];
        for marker in markers.into_iter().chain(&report.start_anchor) {
            assert!(has(marker), "{name}: {marker}");
        }
        // What stands around values of several types is listed in one.
        for marker in tools
            .argument
            .iter()
            .flatten()
            .flat_map(|all| all.split(' '))
        {
            assert!(has(marker), "{name}: {marker}");
        }
    }
}

/// What looks like the next call may stand in an argument: in a text, and in a list of objects.
#[test]
fn what_looks_like_the_next_call_in_an_argument() {
    let python = "{{ m.content if not m.tool_calls }}{% if m.tool_calls %}<c>[{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={% if v is string %}'{{ v }}'{% else %}{{ v }}{% endif %}{{ ', ' if not loop.last }}{% endfor %}){{ ', ' if not loop.last }}{% endfor %}]</c>{% endif %}";
    let keyed = "{{ m.content }}{% if m.tool_calls %}<c>[{% for c in m.tool_calls %}{ {{- c.function.name | tojson }}: {{ c.function.arguments | tojson -}} }{{ ', ' if not loop.last }}{% endfor %}]</c>{% endif %}";
    for (assistant, response, arguments) in [
        (
            python,
            "<c>[f(code='run(1), g(x=2)'), g()]</c><end>",
            r#"{"code": "run(1), g(x=2)"}"#,
        ),
        // The closes may stand apart, and the last may be what the engine stops at.
        (
            python,
            "<c> [\n  f(l=[{'k': {'a': 1}}, {'k': {}}]),\n  g()\n]\n",
            r#"{"l": [{"k": {"a": 1}}, {"k": {}}]}"#,
        ),
        (
            keyed,
            "<c>[{\"f\": {\"l\": [{\"k\": {\"a\": \"5\\\" [\"}}, {\"k\": {}}]}},\n { \"g\" : {}}]</",
            r#"{"l": [{"k": {"a": "5\" ["}}, {"k": {}}]}"#,
        ),
    ] {
        let derivation = turns(assistant, "<bot>");
        assert_ne!(derivation.report.verdict, Verdict::NotProved);
        let document = derivation.document.to_value();
        let template = ResponseTemplate::from_value(&document).expect("valid");
        let message = parse_response(response, template, "", &[]).expect("parsed");
        let calls = message["tool_calls"].as_array().expect("calls");
        let calls: Vec<String> = calls.iter().map(json::to_string).collect();
        let call = |name: &str, arguments: &str| {
            format!(
                r#"{{"type": "function", "function": {{"name": "{name}", "arguments": {arguments}}}}}"#
            )
        };
        assert_eq!(calls, [call("f", arguments), call("g", "{}")], "{response}");
    }
}

/// White space that models vary: around the parts of a call's markers, around the name, between the characters of JSON, after the end.
#[test]
fn white_space_that_models_vary() {
    let each = |call: &str| {
        format!("{{{{ m.content }}}}{{% for c in m.tool_calls %}}{call}{{% endfor %}}")
    };
    let name = "{{ c.function.name }}";
    let arguments = "{{ c.function.arguments | tojson }}";
    let tags = "{% for k, v in c.function.arguments.items() %}<k>{{ k }}</k><v>{{ v if v is string else v | tojson }}</v>{% endfor %}";
    let in_list = format!(
        "{{{{ m.content }}}}{{% if m.tool_calls %}}<c>[{{% for c in m.tool_calls %}}{{{{ '{{' }}}}\"{name}\": {arguments}{{{{ '}}' }}}}{{{{ ', ' if not loop.last }}}}{{% endfor %}}]</c>{{% endif %}}"
    );
    for (assistant, response) in [
        (
            each(&format!("<c>{name}<a>{arguments}</c>")),
            "Hi\n<c>\nf\n<a>\n{\n  \"a\": \"1\"\n}\n</c>\n\n<end>\n",
        ),
        (
            each(&format!("[CALL]{name}[ARGS]{arguments}")),
            "Hi [CALL] f [ARGS] {\"a\":\"1\"} <end>",
        ),
        (
            each(&format!("<c>{name}{tags}</c>")),
            "Hi<c> f\n<k>a</k><v>1</v>\n</c>",
        ),
        (
            each("Call:\n```json\n{{ c.function | tojson }}\n```</c>"),
            "Hi\nCall: ```json {\"name\": \"f\", \"arguments\": {\"a\": \"1\"}}```</c><end>",
        ),
        (
            in_list,
            "Hi\n<c>\n[\n  { \"f\" : {\"a\": \"1\"} }\n]\n</c>\n<end>",
        ),
    ] {
        let derivation = turns(&assistant, "<bot>");
        let report = &derivation.report;
        assert!(report.verified, "{assistant}: {:#?}", report.findings);
        let document = derivation.document.to_value();
        let template = ResponseTemplate::from_value(&document).expect("valid");
        let message = parse_response(response, template, "", &[]).expect("parsed");
        assert_eq!(message["content"].as_str(), Some("Hi"), "{response}");
        assert_eq!(
            json::to_string(&message["tool_calls"]),
            r#"[{"type": "function", "function": {"name": "f", "arguments": {"a": "1"}}}]"#,
            "{response}"
        );
    }
}
