//! Learning from responses that were written by hand, as models write them.

mod forms;
mod tags;

use std::sync::Arc;

use super::{Recorded, Responses};
use crate::chat_template;
use crate::derive::compare::pattern;
use crate::derive::{Derivation, Options, derive};
use crate::parser::parse_response;
use crate::response_template::{Delimiter, Engine, ResponseTemplate};
use crate::value::{Value, json};

/// A chat template in a format that no model has.
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
        "@ponder\nI need the weather.\n@invoke get_weather with {\"city\": \"Paris\"} @invoked\nSo it goes.@stop\n",
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
    assert_eq!(taught.filter(|one| one.decision == "response").count(), 6);
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
    // A token at which an engine stops needs no response that shows it.
    source.tokens.end = vec!["~eot".to_owned()];
    let ended = derive(&source, &options(&[])).unwrap();
    let content = |derivation: &Derivation| derivation.document.fields["content"].clone();
    assert_eq!(content(&ended), content(&known));
    // What ends where the turn does ends there as well.
    let (message_of, parsed) = ("@ponderHm.@invoke f with {}@invoked~eot", "");
    assert!(!message(&ended, parsed, message_of).contains("~eot"));
    let codes = ended.report.findings.iter().map(|finding| finding.code);
    assert!(codes.into_iter().any(|code| code == "end-token"));
}

/// Where nothing ends the last answer, what ends the others does, and so does the tokenizer's own end, unless that is only assumed.
#[test]
fn what_ends_earlier_answers_ends_the_last_one() {
    let template = |end: &str| {
        format!(
            "{{%- for m in messages -%}}<{{{{ m.role }}}}>{{{{ m.content }}}}{{{{ '{end}' if not loop.last or m.role == 'user' }}}}{{%- endfor -%}}\
            {{%- if add_generation_prompt -%}}<assistant>{{%- endif -%}}"
        )
    };
    let ended = chat_template::from_text("it", &template("<end>")).unwrap();
    let ended = derive(&ended, &Options::default()).unwrap();
    let bye = r#"{"role": "assistant", "content": "Bye."}"#;
    assert_eq!(message(&ended, "", "Bye.<end>\n"), bye);
    let open = template("");
    let mut open = chat_template::from_text("it", &open).unwrap();
    let unknown = derive(&open, &Options::default()).unwrap();
    // What begins the next message is an end where the response ends with it.
    let next = Delimiter::pattern("(?:<user>|<tool>)\\s*\\Z");
    assert_eq!(
        unknown.document.fields["content"].close.as_ref(),
        Some(&next)
    );
    open.special_tokens
        .insert("eos_token".to_owned(), Value::from("</s>"));
    let known = derive(&open, &Options::default()).unwrap();
    assert_eq!(message(&known, "", "Bye.</s>"), bye);
    open.assumed_tokens = vec!["eos_token".to_owned()];
    let assumed = derive(&open, &Options::default()).unwrap();
    assert_eq!(
        assumed.document.fields["content"].close.as_ref(),
        Some(&next)
    );
}

/// A kwarg that may be any text is left at its default where a message is lost under it, and that is told.
#[test]
fn a_kwarg_that_takes_any_text_is_left_alone_where_messages_are_lost() {
    let template = "{%- for m in messages -%}<{{ m.role }}>{%- if m.thinking -%}(h){{ m.thinking }}(/h){%- endif -%}{{ m.content }}<end>{%- endfor -%}\
        {%- if add_generation_prompt -%}{{ '<assistant' + (' name=' + bot if bot else '') + '>' }}{%- endif -%}";
    let source = chat_template::from_text("it", template).unwrap();
    let derived = derive(&source, &Options::default()).unwrap();
    let findings = &derived.report.findings;
    assert_eq!(derived.report.rounds.failed, 0, "{findings:?}");
    let is_told = findings.iter().any(|one| {
        ["kwarg-not-proved", "prompt-not-shown"].contains(&one.code) && one.text.contains("bot")
    });
    assert!(is_told, "{findings:?}");
}

/// A call that ends where the turn does ends at such a token, too.
#[test]
fn a_token_at_which_an_engine_stops_ends_a_call_that_the_end_of_the_turn_ends() {
    let template = "{%- for m in messages -%}<{{ m.role }}>{% for c in m.tool_calls or [] %}{\"f\": \"{{ c.function.name }}\", \"with\": {{ c.function.arguments | tojson }}}\
        {%- else %}{{ m.content }}{% endfor %}<end>{%- endfor -%}{%- if add_generation_prompt -%}<assistant>{%- endif -%}";
    let mut source = chat_template::from_text("it", template).unwrap();
    source.tokens.end = vec!["<stop>".to_owned()];
    let derived = derive(&source, &Options::default()).unwrap();
    let read = |end: &str| {
        let response = format!("{{\"f\": \"owl\", \"with\": {{\"a\": [1]}}}}{end}");
        message(&derived, "", &response)
    };
    assert!(read("<end>").contains("owl"), "{}", read("<end>"));
    for end in ["<stop>", ""] {
        assert_eq!(read(end), read("<end>"));
    }
}

/// The owl's format without the calls.
fn silent() -> String {
    let start = OWL.find("{% for c in").unwrap();
    let end = OWL.find("{% endfor %}@stop").unwrap();
    format!("{}{}", &OWL[..start], &OWL[end + "{% endfor %}".len()..])
}

fn calls(of: &[(&str, &str)]) -> String {
    let calls = of.iter().map(|(name, arguments)| {
        format!(
            r#"{{"type": "function", "function": {{"name": "{name}", "arguments": {arguments}}}}}"#
        )
    });
    let calls: Vec<String> = calls.collect();
    format!(
        r#"{{"role": "assistant", "tool_calls": [{}]}}"#,
        calls.join(", ")
    )
}

#[test]
fn calls_that_no_render_shows_are_learnt_with_their_messages() {
    let one = calls(&[("get_weather", r#"{"city": "Paris"}"#)]);
    let two = calls(&[
        ("get_weather", r#"{"city": "Oslo"}"#),
        ("get_time", r#"{"zone": "UTC", "hours": 24}"#),
    ]);
    // Arguments by themselves, an object behind the name, and one around it.
    for (first, second, other) in [
        (
            "@do get_weather: city is \"Paris\"; @done@stop\n",
            "@do get_weather: city is \"Oslo\" & get_time: zone is \"UTC\", hours is 24; @done@stop\n",
            "Well.\n@do get_time: zone is \"it \\\" is\", hours is 7; @done@stop\n",
        ),
        (
            "@do get_weather -> {\"city\": \"Paris\"} @done@stop\n",
            "@do get_weather -> {\"city\": \"Oslo\"} @then get_time -> {\"zone\": \"UTC\", \"hours\": 24} @done@stop\n",
            "Well.\n@do get_time -> {\"hours\": 7, \"zone\": \"it \\\" is\"} @done@stop\n",
        ),
        (
            "@do {\"fn\": \"get_weather\", \"with\": {\"city\": \"Paris\"}} @done@stop\n",
            "@do {\"fn\": \"get_weather\", \"with\": {\"city\": \"Oslo\"}} @then {\"fn\": \"get_time\", \"with\": {\"zone\": \"UTC\", \"hours\": 24}} @done@stop\n",
            "Well.\n@do {\"fn\": \"get_time\", \"with\": {\"zone\": \"it \\\" is\", \"hours\": 7}} @done@stop\n",
        ),
    ] {
        let given = [recorded(first, Some(&one)), recorded(second, Some(&two))];
        let derivation = learn(&silent(), &given, &[]);
        let report = derivation.report.responses.as_ref().unwrap();
        assert_eq!((report.right_before, report.right), (0, 2), "{report:#?}");
        let added: Vec<&str> = report.added.iter().map(|one| one.field.as_str()).collect();
        assert_eq!(added, ["tool_calls"]);
        assert!(report.widenings.is_empty(), "{report:#?}");
        // Nothing that the chat template renders proves it, and the report says so.
        assert!(!derivation.report.verified);
        let read = message(&derivation, "@owl\n", other);
        let hours = match read.contains(r#""hours": 7, "zone""#) {
            true => r#"{"hours": 7, "zone": "it \" is"}"#,
            false => r#"{"zone": "it \" is", "hours": 7}"#,
        };
        let expected = calls(&[("get_time", hours)]);
        let expected =
            expected.replace(r#", "tool_calls""#, r#", "content": "Well.", "tool_calls""#);
        let (read, expected) = (json::parse(&read).unwrap(), json::parse(&expected).unwrap());
        assert_eq!(read, expected, "{other}");
    }
}

#[test]
fn a_reasoning_that_no_render_shows_is_learnt_with_its_message() {
    let start = OWL.find("{% if m.reasoning_content %}").unwrap();
    let end = OWL.find("{% if m.content %}").unwrap();
    let chat = format!("{}{}", &OWL[..start], &OWL[end..]);
    let expected = r#"{"role": "assistant", "thinking": "First this.", "content": "Then that."}"#;
    let given = [recorded(
        "@hm First this. @ok\nThen that.@stop\n",
        Some(expected),
    )];
    let derivation = learn(&chat, &given, &[]);
    let report = derivation.report.responses.as_ref().unwrap();
    assert_eq!((report.right_before, report.right), (0, 1), "{report:#?}");
    assert_eq!(
        message(
            &derivation,
            "@owl\n",
            "@hm So. @ok\nIt is.\n@invoke get_weather with {\"city\": \"Paris\"} @invoked@stop\n"
        ),
        format!(r#"{{"role": "assistant", "thinking": "So.", "content": "It is.", {CALL}}}"#)
    );
}

#[test]
fn other_delimiters_of_a_reasoning_are_learnt_together() {
    let expected = r#"{"reasoning_content": "It rains.", "content": "Hi."}"#;
    let response = "@muse\nIt rains.\n@mused\nHi.@stop\n";
    let (derivation, report) = from(&[recorded(response, Some(expected))]);
    assert_eq!(report.right, 1, "{report:?}");
    let read = message(&derivation, "@owl\n", "@muse\nI go.\n@mused\nYes.@stop");
    assert!(read.contains(r#""reasoning_content": "I go.""#), "{read}");
}

#[test]
fn prose_beside_what_is_expected_is_no_marker() {
    let expected = r#"{"role": "assistant", "content": "Yes."}"#;
    let (derivation, report) = from(&[recorded(
        "Yes. So I said to them all@stop\n",
        Some(expected),
    )]);
    assert_eq!(
        (report.right, report.widenings.len()),
        (0, 0),
        "{report:#?}"
    );
    let prose = "Yes. So I said to them all";
    assert_eq!(
        message(&derivation, "@owl\n", &format!("{prose}@stop\n")),
        format!(r#"{{"role": "assistant", "content": "{prose}"}}"#)
    );
}

#[test]
fn ids_that_the_chat_template_makes_are_read_where_it_writes_them_again() {
    let counted = OWL
        .replace("{%- for m in messages -%}", "{%- set n = namespace(calls=0, last='') -%}{%- for m in messages -%}")
        .replace("@invoke {{ c.function.name }}", "{% set n.calls = n.calls + 1 %}{% set n.last = c.function.name ~ '#' ~ n.calls %}@invoke {{ n.last }}");
    let again = counted.replace(
        "{{ m.content }}@stop\n{% endif -%}",
        "{% if m.role == 'tool' %}of {{ n.last }}: {% endif %}{{ m.content }}@stop\n{% endif -%}",
    );
    let derived = |chat: &str| learn(chat, &[], &[]);
    let response = "@invoke get_weather#3 with {\"city\": \"Paris\"} @invoked@stop\n";
    let with_id = CALL.replace(
        r#""function", "function""#,
        r#""function", "id": "get_weather#3", "function""#,
    );
    for (chat, expected) in [(&counted, CALL), (&again, with_id.as_str())] {
        let derivation = derived(chat);
        assert!(
            derivation.report.verified,
            "{:#?}",
            derivation.report.findings
        );
        // White space around an id is no part of it.
        let spaced = response.replace("get_weather#3", " get_weather#3 ");
        for response in [response, &spaced] {
            assert_eq!(
                message(&derivation, "@owl\n", response),
                format!(r#"{{"role": "assistant", {expected}}}"#)
            );
        }
    }
}

#[test]
fn text_outside_of_a_wrapped_content_goes_to_the_content() {
    let wrapped = "{%- for m in messages -%}[{{ m.role }}]{% if m.role == 'assistant' %}<say>{{ m.content }}</say>{% else %}{{ m.content }}{% endif %}[end]{% endfor -%}\
                   {%- if add_generation_prompt %}[assistant]{% endif -%}";
    let derivation = learn(wrapped, &[], &[]);
    assert!(
        derivation.report.verified,
        "{:#?}",
        derivation.report.findings
    );
    assert_eq!(derivation.report.unclaimed.lost(), 0);
    assert!(derivation.report.unclaimed.renders.tried > 0);
    let has = |code: &str| {
        let mut findings = derivation.report.findings.iter();
        findings.any(|finding| finding.code == code)
    };
    assert!(has("claimed") && !has("text-unclaimed"));
    for (response, content) in [
        ("<say>Hello</say>[end]", "Hello"),
        ("Well. <say>Hello</say>[end]", "Well.Hello"),
        ("Hello", "Hello"),
    ] {
        assert_eq!(
            message(&derivation, "[assistant]", response),
            format!(r#"{{"role": "assistant", "content": "{content}"}}"#)
        );
    }
}

/// Each part of an answer is a line of its own that names whom it is for, and a call begins as a text may: `=> so`.
#[test]
fn what_opens_a_call_may_be_said_where_text_outside_is_claimed() {
    let chat = "{% for m in messages %}[{{ m.role }}]{% if m.role == 'assistant' %}{% if m.content %}=> all\n{{ m.content }}{% endif %}\
        {% for c in m.tool_calls or [] %}=> {{ c.function.name + '\n' + c.function.arguments }}{% endfor %}\
        {% else %}{{ m.content }}{% endif %}[end]{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";
    let derivation = learn(chat, &[], &[]);
    assert!(derivation.report.verified);
    let unclaimed = &derivation.report.unclaimed;
    assert_eq!(unclaimed.lost(), 0, "{unclaimed:?}");
    for (response, expected) in [
        (
            "=> all\nHello[end][end]",
            r#"{"role": "assistant", "content": "Hello"}"#,
        ),
        ("Hello", r#"{"role": "assistant", "content": "Hello"}"#),
        (
            "=> all\n1 => so[end]",
            r#"{"role": "assistant", "content": "1 => so"}"#,
        ),
        (
            "=> f\n{}[end]",
            r#"{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]}"#,
        ),
    ] {
        assert_eq!(message(&derivation, "[assistant]", response), expected);
    }
}

/// Constants beside the texts of the message are markers: those of a reasoning are told from the thought between them.
#[test]
fn markers_are_told_from_the_texts_of_the_message() {
    let said = r#"{"role": "assistant", "reasoning_content": "I think.", "content": "Hello"}"#;
    for (response, side) in [
        ("@muse\nI think.\n@pondered\nHello@stop\n", "open"),
        ("@ponder\nI think.\n@mused\nHello@stop\n", "close"),
    ] {
        let (_, report) = from(&[recorded(response, Some(said))]);
        assert_eq!((report.right, report.short.len()), (1, 0), "{response}");
        let mut taught = report.widenings.iter();
        assert!(taught.any(|one| one.side == side), "{response}");
    }
}

/// A widening that helps no response to be read right goes again.
#[test]
fn what_reads_nothing_right_is_not_kept() {
    let other =
        r#"{"role": "assistant", "reasoning_content": "Never said.", "content": "Nor this"}"#;
    let response = recorded("@muse\nI think.\n@pondered\nHello@stop\n", Some(other));
    let (derivation, report) = from(&[response]);
    assert_eq!((report.right, report.widenings.len()), (0, 0));
    assert_eq!(derivation.document, learn(OWL, &[], &[]).document);
}

/// A chat template that wraps all that the model says.
const WRAPPED: &str = "{%- for m in messages -%}{%- if m.role == 'assistant' -%}<bot>{% if m.thinking %}<t>{{ m.thinking }}</t>{% endif %}<say>{{ m.content }}</say><end>\
    {%- else -%}<{{ m.role }}>{{ m.content }}<end>{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}<bot>{%- endif -%}";

/// Text outside of all parts is claimed whatever was learnt, and what ends the turn opens nothing.
#[test]
fn text_is_claimed_beside_what_is_learnt() {
    let response = "<say>Hello</say><end><stop>";
    let said = r#"{"role": "assistant", "content": "Hello"}"#;
    for expected in [Some(said), None] {
        let document = learn(WRAPPED, &[recorded(response, expected)], &[]).document;
        let mut fields = document.fields.values();
        assert!(fields.any(|field| field.open.is_none()), "{document:?}");
        let opens = document
            .fields
            .values()
            .filter_map(|field| field.open.as_ref());
        let opens: Vec<String> = opens
            .map(|open| pattern::takes(&open.as_pattern()))
            .collect();
        assert!(
            opens.iter().all(|open| !open.contains("<end>")),
            "{opens:?}"
        );
    }
}

/// A chat template whose calls are objects between two marks.
const MOTH: &str = r#"
{%- for m in messages -%}
{%- if m.role == "assistant" -%}@moth
{% if m.reasoning_content %}<<hm>>{{ m.reasoning_content }}<</hm>>
{% endif %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}
<<call>>{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}<</call>>{% endfor %}@end
{% else -%}@{{ m.role }}
{{ m.content }}@end
{% endif -%}
{%- endfor -%}
{%- if tools %}{% for t in tools %}@tool {{ t | tojson }}{% endfor %}{% endif -%}
{%- if add_generation_prompt -%}@moth
{% endif -%}
"#;

fn moth(responses: &[Recorded]) -> (Derivation, Responses) {
    let derivation = learn(MOTH, responses, &[]);
    let report = derivation.report.responses.clone().unwrap();
    assert!(derivation.report.verified, "{report:?}");
    (derivation, report)
}

#[test]
fn members_of_a_call_with_other_names_are_learnt_apart_and_read_together() {
    let called = format!("{{{CALL}}}");
    let given = [
        r#"<<call>>{"name": "get_weather", "parameters": {"city": "Paris"}}<</call>>@end"#,
        r#"<<call>>{"name": "functions.get_weather", "arguments": {"city": "Paris"}}<</call>>@end"#,
        r#"<<tool>>{"name": "get_weather", "arguments": {"city": "Paris"}}<</tool>>@end"#,
    ];
    let given = given.map(|response| recorded(response, Some(&called)));
    let (derivation, report) = moth(&given);
    assert_eq!((report.right_before, report.right), (0, 3), "{report:#?}");
    // All at once, in another order, and with one more member.
    for response in [
        r#"<<tool>>{"name": "functions.get_weather", "parameters": {"city": "Paris"}}<</tool>>@end"#,
        r#"<<call>>{"id": "a", "parameters": {"city": "Paris"}, "name": "functions.get_weather"}<</call>>@end"#,
        r#"<<call>>{"name": "get_weather", "arguments": {"city": "Paris"}}<</call>>@end"#,
    ] {
        let expected = format!(r#"{{"role": "assistant", {CALL}}}"#);
        assert_eq!(message(&derivation, "", response), expected);
    }
}

#[test]
fn what_stands_around_names_is_learnt_beside_other_tags() {
    let chat = MOTH.replace(
        r#"<<call>>{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}<</call>>"#,
        "<<call>><<which>>{{ c.function.name }}<</which>><<with>>{{ c.function.arguments | tojson }}<</with>><</call>>",
    );
    let chat = chat
        .replace(
            "{% for c in m.tool_calls or [] %}\n",
            "{% if m.tool_calls %}<<calls>>{% for c in m.tool_calls %}",
        )
        .replace(
            "<</call>>{% endfor %}",
            "<</call>>{% endfor %}<</calls>>{% endif %}",
        );
    let response = |which: &str, with: &str, name: &str| {
        let called =
            format!("<<{which}>>{name}<</{which}>><<{with}>>{{\"city\": \"Paris\"}}<</{with}>>");
        format!("<<calls>><<call>>{called}<</call>><</calls>>@end")
    };
    let given = [
        response("which", "with", "functions.get_weather"),
        response("what", "with", "get_weather"),
        response("which", "args", "get_weather"),
    ];
    let derivation = learn(&chat, &given.map(|one| recorded(&one, None)), &[]);
    let report = derivation.report.responses.clone().unwrap();
    assert_eq!((report.right_before, report.right), (0, 3), "{report:#?}");
    let both = response("what", "args", "functions.get_weather");
    let expected = format!(r#"{{"role": "assistant", {CALL}}}"#);
    assert_eq!(message(&derivation, "@moth\n", &both), expected);
}

#[test]
fn a_program_that_one_response_has_is_no_marker() {
    // The message says nothing of the call to a tool that is none of the functions.
    let run = recorded(
        "Wait.\n<<run>>list 'all' --now@end",
        Some(r#"{"content": "Wait."}"#),
    );
    let (derivation, report) = moth(&[run]);
    assert_eq!(report.right, 0, "{report:#?}");
    let patterns = json::to_string(&derivation.document.to_value());
    assert!(!patterns.contains("list"), "{patterns}");
}

#[test]
fn a_call_that_is_only_quoted_stays_a_text() {
    let called = format!("{{{CALL}}}");
    let bare = recorded(
        r#"{"name": "get_weather", "arguments": {"city": "Paris"}}@end"#,
        Some(&called),
    );
    let (derivation, _) = moth(&[bare]);
    let quoting =
        r#"One may say {"name": "get_weather", "arguments": {"city": "Paris"}} and wait."#;
    let read = message(&derivation, "", &format!("{quoting}@end"));
    assert!(!read.contains("tool_calls"), "{read}");
}

#[test]
fn a_call_that_lands_in_a_text_is_not_read_right() {
    // Nobody says which message comes of these, and the format is none of the chat template's.
    let texts = [
        r#"<|python|>{"name": "get_weather", "parameters": {"city": "Paris"}}<|eom|>@end"#,
        r#"Write {"name": "get_weather", "parameters": {"city": "Paris"}} there."#,
    ];
    let (_, report) = moth(&texts.map(|response| recorded(response, None)));
    let short: Vec<&str> = report.short.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(short, [texts[0]], "{report:#?}");
    assert!(
        report.short[0].why.contains("1 calls are not read"),
        "{report:#?}"
    );
}

#[test]
fn other_tags_are_learnt_without_messages() {
    let chat = MOTH.replace(
        r#"{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}"#,
        r#"{{ c.function.name }}{% for k, v in c.function.arguments.items() %}<arg {{ k }}>{{ v }}</arg>{% endfor %}"#,
    );
    let response = |city: &str| format!("<<call>>get_weather<item city>{city}</item><</call>>@end");
    let derivation = learn(&chat, &[recorded(&response("Oslo"), None)], &[]);
    let report = derivation.report.responses.clone().unwrap();
    assert_eq!((report.right_before, report.right), (0, 1), "{report:#?}");
    let expected = format!(r#"{{"role": "assistant", {CALL}}}"#);
    assert_eq!(
        message(&derivation, "@moth\n", &response("Paris")),
        expected
    );
}
