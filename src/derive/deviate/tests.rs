//! Deviations of formats that are small enough to see what each must come to.

use std::sync::Arc;

use super::marked::Marked;
use super::unclaimed::{Readings, UnclaimedCount};
use super::{Deviation, DeviationVerdict, Markers, change};
use crate::chat_template;
use crate::derive::compare::pieces::Pieces;
use crate::derive::{Options, Report, derive};
use crate::judge::Case;
use crate::parser::parse_response;
use crate::response_template::ResponseTemplate;
use crate::value::{Value, json};

/// Reasoning, content and calls, each between markers; `{CALLS}` stands for what writes the calls.
const CHAT: &str = r#"
{%- if tools %}<tools>{{ tools | tojson }}<end>{% endif -%}
{%- for m in messages -%}<{{ m.role }}>
{%- if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif -%}
{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}{CALLS}{% endfor -%}
<end>{%- endfor -%}
{%- if add_generation_prompt %}<assistant>{% endif -%}
"#;

const NAME_OUTSIDE: &str = "<call {{ c.function.name }}>{{ c.function.arguments | tojson }}</call>";

const ALL_INSIDE: &str = r#"<call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</call>"#;

fn report(calls: &str, end: Option<&str>) -> Report {
    let mut source = chat_template::from_text("it", &CHAT.replace("{CALLS}", calls)).unwrap();
    source.tokens.end = end.map(str::to_owned).into_iter().collect();
    derive(&source, &Options::default()).unwrap().report
}

fn verdict(report: &Report, deviation: Deviation) -> Option<&DeviationVerdict> {
    let mut all = report.deviations.iter();
    all.find(|verdict| verdict.deviation == deviation)
}

fn is_borne(report: &Report, deviation: Deviation) -> bool {
    let verdict =
        verdict(report, deviation).unwrap_or_else(|| panic!("{deviation:?} was not tried"));
    verdict.tried == verdict.came_back
}

#[test]
fn what_a_format_bears_is_told() {
    let report = report(NAME_OUTSIDE, None);
    assert!(report.verified);
    for borne in [
        Deviation::EndMissing,
        Deviation::EndTwice,
        Deviation::SpaceAdded,
        Deviation::ReasoningEmpty,
        Deviation::ReasoningMissing,
        Deviation::ReasoningUnclosed,
        Deviation::ReasoningUnclosedBeforeCall,
        Deviation::ReasoningOpenedTwice,
        Deviation::ReasoningClosedTwice,
        Deviation::TextBeforeCalls,
        Deviation::TextBetweenCalls,
        Deviation::JsonIndented,
        Deviation::JsonReordered,
    ] {
        assert!(
            is_borne(&report, borne),
            "{borne:?}: {:#?}",
            report.deviations
        );
    }
    let lost = verdict(&report, Deviation::CallOpenedTwice).unwrap();
    let smallest = lost.smallest.as_ref().unwrap();
    assert!(lost.came_back < lost.tried, "{lost:?}");
    assert_ne!(smallest.expected, smallest.parsed);
    // The arguments are all that the JSON has, and nothing names a token or an id.
    for none in [
        Deviation::JsonMember,
        Deviation::ArgumentsAsText,
        Deviation::EndToken,
        Deviation::IdsMissing,
    ] {
        assert_eq!(verdict(&report, none), None, "{none:?}");
    }
}

/// Nothing closes these calls but the next one and the end of the turn.
const UNENDED: &str = "<call>{{ c.function.name }}<of>{{ c.function.arguments | tojson }}";

#[test]
fn calls_that_nothing_closes_are_told_from_what_stands_beside_them() {
    let report = report(UNENDED, None);
    assert!(report.verified);
    for borne in [
        Deviation::ReasoningUnclosedBeforeCall,
        Deviation::ReasoningQuotesCall,
        Deviation::TextBetweenCalls,
    ] {
        assert!(
            is_borne(&report, borne),
            "{borne:?}: {:#?}",
            report.deviations
        );
    }
}

/// Where nothing ends a turn, an engine stops at what begins the next message, and behind a call that is in no reasoning.
#[test]
fn a_call_ends_a_reasoning_where_the_next_message_begins() {
    let chat = CHAT.replace("<end>", "").replace("{CALLS}", NAME_OUTSIDE);
    let source = chat_template::from_text("it", &chat).unwrap();
    let report = derive(&source, &Options::default()).unwrap().report;
    for borne in [
        Deviation::ReasoningUnclosedBeforeCall,
        Deviation::ReasoningQuotesCall,
    ] {
        assert!(is_borne(&report, borne), "{borne:?}");
    }
}

/// Where only answers that a message follows have an end, calls that nothing closes end with it, too.
#[test]
fn an_end_that_the_last_answer_lacks_ends_calls() {
    let chat = CHAT.replace(
        "<end>{%- endfor",
        "{{ '<end>' if not loop.last }}{%- endfor",
    );
    let chat = chat.replace("%}<assistant>", "%}<end><assistant>");
    let each = "[CALL]{{ c.function.name }}{{ c.function.arguments | tojson }}";
    for calls in [each, IN_A_LIST] {
        let text = chat.replace("{CALLS}", calls);
        let source = chat_template::from_text("it", &text).unwrap();
        let report = derive(&source, &Options::default()).unwrap().report;
        let borne = is_borne(&report, Deviation::EndToken);
        assert!(report.verified && borne, "{calls}");
    }
}

/// A reasoning that the prompt opens and that no history has is written into turns by hand, and deviates as others do.
#[test]
fn a_reasoning_that_is_not_rendered_deviates_as_others_do() {
    let dropped = CHAT
        .replace("{{ m.reasoning_content }}", "")
        .replace("<think></think>", "");
    let dropped = dropped.replace("m.content or ''", "(m.content or '').split('</think>')[-1]");
    let opened = dropped.replace("%}<assistant>", "%}<assistant><think>");
    let text = opened.replace("{CALLS}", NAME_OUTSIDE);
    let source = chat_template::from_text("it", &text).unwrap();
    let report = derive(&source, &Options::default()).unwrap().report;
    for borne in [
        Deviation::ReasoningMissing,
        Deviation::ReasoningOpenedTwice,
        Deviation::ReasoningClosedTwice,
        Deviation::ReasoningUnclosedBeforeCall,
    ] {
        assert!(is_borne(&report, borne), "{borne:?}");
    }
}

const ID_FIRST: &str =
    "<call>{{ c.id }}<of>{{ c.function.name }}<with>{{ c.function.arguments | tojson }}</call>";

const ID_BEHIND_NAME: &str =
    "<call>{{ c.function.name }}<id>{{ c.id }}<with>{{ c.function.arguments | tojson }}</call>";

/// An id that stands before the name is missing by itself, and one behind it with what parts the two.
#[test]
fn ids_are_missing_in_what_opens_a_call() {
    let first = report(ID_FIRST, None);
    assert!(first.verified && is_borne(&first, Deviation::IdsMissing));
    let behind = report(ID_BEHIND_NAME, None);
    let missing = verdict(&behind, Deviation::IdsMissing).unwrap();
    let smallest = missing.smallest.as_ref().unwrap();
    assert!(behind.verified && !smallest.response.contains("<id>"));
}

/// All calls of a turn are members of one list, with their ids.
const IN_A_LIST: &str = r#"{{ '<calls>[' if loop.first else ', ' }}{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}, "id": "{{ c.id }}"}{{ ']' if loop.last }}"#;

#[test]
fn ids_are_missing_in_a_list_of_calls() {
    let report = report(IN_A_LIST, None);
    assert!(report.verified, "{:#?}", report.findings);
    for borne in [Deviation::IdsMissing, Deviation::CallOpenedTwice] {
        assert!(is_borne(&report, borne), "{borne:?}");
    }
}

/// The chat template counts the calls, whatever ids they have, and tells of which one a result is.
const MADE_UP: &str = r#"
{%- set calls = namespace(n=0, answered=0) -%}
{%- for m in messages -%}<{{ m.role }}>
{%- if m.role == 'tool' %}to no{{ calls.answered }}: {% set calls.answered = calls.answered + 1 %}{% endif -%}
{{ m.content or '' }}
{%- for c in m.tool_calls or [] -%}
{{ '<calls>[' if loop.first else ', ' }}{"no": "no{{ calls.n }}", "name": "{{ c.function.name }}", "with": {{ c.function.arguments | tojson }}}{{ ']' if loop.last }}
{%- set calls.n = calls.n + 1 -%}
{%- endfor -%}
<end>{%- endfor -%}
{%- if add_generation_prompt %}<assistant>{% endif -%}
"#;

#[test]
fn ids_that_the_chat_template_makes_up_may_be_missing() {
    let source = chat_template::from_text("it", MADE_UP).unwrap();
    let derivation = derive(&source, &Options::default()).unwrap();
    assert!(
        derivation.report.verified,
        "{:#?}",
        derivation.report.findings
    );
    let written = derivation.document.to_value();
    assert!(json::to_string(&written).contains(r#""id": "{no}""#));
    assert!(is_borne(&derivation.report, Deviation::IdsMissing));
}

/// All that the model says stands between markers, and several of them end its turn.
#[test]
fn the_last_of_several_markers_at_the_end_may_be_missing() {
    let text = "{%- for m in messages -%}{%- if m.role == 'assistant' -%}<bot>\
        {%- if m.content %}<say>{{ m.content }}</say>{% endif -%}\
        {%- for c in m.tool_calls or [] %}<call {{ c.function.name }}>{{ c.function.arguments | tojson }}</call>{% endfor -%}\
        {{ '</turn>' }}{{ '<eos>' }}{%- else -%}<{{ m.role }}>{{ m.content }}</turn>{%- endif -%}{%- endfor -%}\
        {%- if add_generation_prompt -%}<bot>{%- endif -%}";
    let source = chat_template::from_text("it", text).unwrap();
    let derivation = derive(&source, &Options::default()).unwrap();
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert!(is_borne(report, Deviation::LastEndMissing));
    let template = Arc::new(ResponseTemplate::from_value(&derivation.document.to_value()).unwrap());
    for (response, content) in [
        ("<say>Hi</say></turn>", "Hi"),
        ("<say>Hi</turn> there</say></turn>", "Hi</turn> there"),
        ("<call f>{}</call></turn>", ""),
    ] {
        let message = parse_response(response, Arc::clone(&template), "<bot>", &[]).unwrap();
        let said = message.get("content").and_then(Value::as_str);
        assert_eq!(said.unwrap_or_default(), content, "{response}");
    }
}

#[test]
fn a_call_on_a_line_may_begin_with_its_arguments() {
    let calls = "{% if loop.first %}<calls>\n{% endif %}{\"name\": {{ c.function.name | tojson }}, \"arguments\": {{ c.function.arguments | tojson }}}\n{% if loop.last %}</calls>{% endif %}";
    let report = report(calls, None);
    assert!(report.verified, "{:#?}", report.findings);
    assert!(is_borne(&report, Deviation::JsonReordered));
}

const TAGS: &str = "<call {{ c.function.name }}>{% for k, v in c.function.arguments.items() %}<arg {{ k }}>{{ v if v is string else v | tojson }}</arg>{% endfor %}</call>";

#[test]
fn calls_are_opened_and_closed_otherwise() {
    let report = report(TAGS, None);
    assert!(report.verified);
    assert!(is_borne(&report, Deviation::ParametersReordered));
    // A call in tags ends where the next one begins.
    assert!(is_borne(&report, Deviation::CallUnclosed));
    // The second open stands between tags then, where nothing of the call is lost with it.
    assert!(is_borne(&report, Deviation::CallOpenedTwice));
    assert_eq!(report.unclaimed.renders.lost, 0, "{:?}", report.unclaimed);
    let reordered = report_of_two_tags();
    assert_eq!(
        reordered,
        Some("<call f><arg b>2</arg><arg a>1</arg></call><end>".to_owned())
    );
    // JSON has an order of its own.
    let json = self::report(NAME_OUTSIDE, None);
    assert_eq!(verdict(&json, Deviation::ParametersReordered), None);
}

/// A call with two tags, as it is changed.
fn report_of_two_tags() -> Option<String> {
    let document = r#"{"start_anchor": "<assistant>", "fields": {"tool_calls": {"open_pattern": "<call \\w+>", "close": "</call>",
        "repeats": true, "content": "xml-inline", "content_args": {"tag_pattern": "<arg (?P<key>\\w+)>(?P<value>.*?)</arg>"}},
        "content": {"close": "<end>"}}}"#;
    let template = Arc::new(ResponseTemplate::from_json(document).unwrap());
    let case = Case {
        prefix: "<assistant>".to_owned(),
        response: "<call f><arg a>1</arg><arg b>2</arg></call><end>".to_owned(),
        tools: Vec::new(),
        message: Value::Null,
    };
    let marked = Marked::of(&template, &case, "thinking")?;
    let all = [marked.clone()];
    let changed = change::changed(
        Deviation::ParametersReordered,
        &marked,
        &all,
        Markers {
            ends: &[],
            pieces: &Pieces::of([], []),
            behind_object: None,
        },
        &template,
    );
    changed.map(|case| case.response)
}

#[test]
fn a_call_ends_a_reasoning_where_that_is_preferred() {
    let source = chat_template::from_text("it", &CHAT.replace("{CALLS}", NAME_OUTSIDE)).unwrap();
    let prefer = |decision: &str, candidate: &str| Options {
        prefer: vec![(decision.to_owned(), candidate.to_owned())],
        ..Options::default()
    };
    let call = "<call f>{}</call>";
    for (candidate, at_end, without_end, amid) in [
        ("ends at the last calls", true, false, false),
        ("goes on", false, false, false),
        ("ends at calls that end the response", true, true, false),
        ("ends at a call", true, true, true),
    ] {
        let derived = derive(&source, &prefer("unclosed reasoning", candidate)).unwrap();
        let borne = is_borne(&derived.report, Deviation::ReasoningUnclosedBeforeCall);
        assert_eq!(borne, at_end, "{candidate}");
        let template = ResponseTemplate::from_value(&derived.document.to_value()).unwrap();
        let template = Arc::new(template);
        let is_call = |response: String| {
            let parsed = parse_response(&response, Arc::clone(&template), "", &[]).unwrap();
            parsed.contains_key("tool_calls")
        };
        assert_eq!(is_call(format!("<think>So.\n{call}<end>")), at_end);
        assert_eq!(is_call(format!("<think>So.\n{call}")), without_end);
        assert_eq!(is_call(format!("<think>So.\n{call} would do")), amid);
        assert!(is_call(format!(
            "<think>So.\n{call} would do</think>But no.{call}"
        )));
        let spoken = format!("<think>So.\n{call} would do</think>But no.<end>");
        assert_eq!(is_call(spoken), amid);
    }
    for (decision, candidate, wanted) in [
        ("unclosed", "ends at a call", "`unclosed reasoning`"),
        (
            "unclosed reasoning",
            "ends",
            "`ends at the last calls`, `goes on`, `ends at calls that end the response`, `ends at a call`",
        ),
    ] {
        let error = derive(&source, &prefer(decision, candidate)).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn json_around_a_call_is_changed_where_it_is() {
    let report = report(ALL_INSIDE, Some("<eot>"));
    assert!(report.verified);
    assert!(is_borne(&report, Deviation::JsonReordered));
    assert!(is_borne(&report, Deviation::EndToken));
    let text = verdict(&report, Deviation::ArgumentsAsText).unwrap();
    let smallest = text.smallest.as_ref().unwrap();
    assert!(
        smallest.response.contains(r#""arguments": "{"#),
        "{smallest:?}"
    );
    // The call stands as a whole in the message, and so does one more member of it.
    assert!(is_borne(&report, Deviation::JsonMember));
    assert!(is_borne(&report, Deviation::CallOpenedTwice));
}

/// A response comes up in several cases, and is read by what a parser has read before it and by the tools' types.
#[test]
fn a_reading_is_kept_with_its_prompt_and_its_tools() {
    let document = r#"{"start_anchor": "A:", "fields": {
        "tool_calls": {"open_pattern": "<(?P<name>f) ", "close": ">", "repeats": true, "content": "xml-inline",
            "content_args": {"tag_pattern": "(?P<key>\\w)=(?P<value>\\d)"},
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}},
        "content": {"close": "<end>"}}}"#;
    let template = Arc::new(ResponseTemplate::from_json(document).unwrap());
    let tools = |kind: &str| {
        let tool = format!(
            r#"[{{"type": "function", "function": {{"name": "f",
                "parameters": {{"type": "object", "properties": {{"n": {{"type": "{kind}"}}}}}}}}}}]"#
        );
        json::parse(&tool).unwrap().as_array().unwrap().to_vec()
    };
    let mut readings = Readings::by(&template);
    let mut read = |prefix: &str, tools: Vec<Value>| {
        let case = Case {
            prefix: prefix.to_owned(),
            response: "<f n=1>Hi<end>".to_owned(),
            tools,
            message: Value::Null,
        };
        let reading = UnclaimedCount::default().count(&mut readings, &case, &case.response);
        let reading = reading.unwrap();
        assert!(reading.is_whole);
        json::to_string(&reading.message)
    };
    for _ in 0..2 {
        let number = read("A:", tools("integer"));
        assert!(number.contains(r#"{"n": 1}"#), "{number}");
        assert_eq!(read("more A:", tools("integer")), number);
        let text = read("A:", tools("string"));
        assert!(text.contains(r#"{"n": "1"}"#), "{text}");
        let behind = read("A:<f n=2>", tools("integer"));
        assert!(behind.contains(r#"{"n": 2}"#), "{behind}");
    }
}
