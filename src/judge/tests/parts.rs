//! Whatever can be seen of a message must come back, with its type, and nothing else may.

use super::super::NOT_SHOWN;
use super::*;

fn whole() -> String {
    chat(&[THOUGHT, SAID, CALLED].concat(), "")
}

#[test]
fn what_brings_back_every_part_is_accused_of_nothing() {
    let judgement = judged(&whole(), &fields(&[THINKING, CONTENT, CALLS]));
    assert_all_back(&judgement);
    let not_shown = [Kind::FurtherTexts, Kind::Ids];
    let shown = Kind::ALL
        .into_iter()
        .filter(|kind| !not_shown.contains(kind));
    assert_kinds(&judgement, &[], &shown.collect::<Vec<_>>());
    assert!(
        not_shown
            .iter()
            .all(|kind| row(&judgement, *kind).is_none())
    );
    assert_eq!(judgement.unproved, []);
    assert_all_back(&judged(
        &chat(&[THOUGHT, SAID, TAGGED].concat(), ""),
        &fields(&[THINKING, CONTENT, TAGS]),
    ));
}

#[test]
fn a_part_that_is_lost_fails_its_kind_and_no_other() {
    let lone = CALLS.replace("\"repeats\": true,", "").replace(
        r#"{"type": "function", "function": "{content}"}"#,
        r#"[{"type": "function", "function": "{content}"}]"#,
    );
    let beside = CALLS.replace(r#""open": "<c>""#, r#""open_pattern": "(?<!</t>)<c>""#);
    let nameless = CALLS.replace(
        r#""{content}""#,
        r#"{"name": "one", "arguments": "{content.arguments}"}"#,
    );
    let bare = CALLS.replace(
        r#""{content}""#,
        r#"{"name": "{content.name}", "arguments": {}}"#,
    );
    use Kind::{Call, Calls, Content, ContentWithCalls, NoArguments, Reasoning, StringArgument};
    for (response, failing, holding) in [
        (
            fields(&[THINKING, CALLS]),
            vec![Content, Reasoning, ContentWithCalls],
            vec![Call, Calls],
        ),
        (
            fields(&[CONTENT, CALLS]),
            vec![Reasoning],
            vec![Content, Call, ContentWithCalls],
        ),
        (
            fields(&[THINKING, CONTENT]),
            vec![Call, Calls, ContentWithCalls],
            vec![Content, Reasoning],
        ),
        (
            fields(&[THINKING, CONTENT, &lone]),
            vec![Calls],
            vec![Call, Content],
        ),
        (
            fields(&[THINKING, CONTENT, &beside]),
            vec![ContentWithCalls],
            vec![Call, Content],
        ),
        (
            fields(&[THINKING, CONTENT, &nameless]),
            vec![Call],
            vec![Content],
        ),
        (
            fields(&[THINKING, CONTENT, &bare]),
            vec![StringArgument],
            vec![NoArguments],
        ),
    ] {
        let judgement = judged(&whole(), &response);
        assert_kinds(&judgement, &failing, &holding);
        assert!(judgement.rounds.failed > 0, "{response}");
        let smallest = &row(&judgement, failing[0]).unwrap().smallest;
        assert!(smallest.is_some(), "{response}");
    }
}

#[test]
fn what_cannot_be_seen_need_not_come_back() {
    let without_reasoning = judged(
        &chat(&[SAID, CALLED].concat(), ""),
        &fields(&[CONTENT, CALLS]),
    );
    assert_all_back(&without_reasoning);
    assert!(row(&without_reasoning, Kind::Reasoning).is_none());

    let beside_calls = chat(
        &format!("{{% if not m.tool_calls %}}{THOUGHT}{SAID}{{% endif %}}{CALLED}"),
        "",
    );
    let judgement = judged(&beside_calls, &fields(&[THINKING, CONTENT, CALLS]));
    assert_all_back(&judgement);
    assert_kinds(&judgement, &[], &[Kind::Call, Kind::Calls, Kind::Reasoning]);
    for kind in [Kind::ContentWithCalls, Kind::ReasoningWithCalls] {
        let row = row(&judgement, kind).expect("it was meant to be rendered");
        assert!(!row.rendered && row.tried == 0);
        assert_eq!(row.left_out[0].why, NOT_SHOWN);
    }

    let nulls = chat(
        &[
            SAID,
            &TAGGED.replace(".items() %}", ".items() if v is not none %}"),
        ]
        .concat(),
        "",
    );
    let judgement = judged(&nulls, &fields(&[CONTENT, TAGS]));
    assert_all_back(&judgement);
    let nulls = row(&judgement, Kind::NullArgument).expect("it was meant to be rendered");
    assert!(!nulls.rendered && nulls.left_out[0].why == NOT_SHOWN);
}

/// Where a null is written, a response template that does not read it loses something.
#[test]
fn an_argument_that_holds_nothing_must_come_back_where_it_can_be_seen() {
    let tags = TAGS.replace("(?P<value>.*?)", "(?P<value>(?!null<).*?)");
    let judgement = judged(
        &chat(&[SAID, TAGGED].concat(), ""),
        &fields(&[CONTENT, &tags]),
    );
    assert_kinds(&judgement, &[Kind::NullArgument], &[Kind::ArrayArgument]);
}

#[test]
fn nothing_else_may_come_back() {
    let every = [THINKING, CONTENT, CALLS];
    use Kind::{Call, Content};
    for (defaults, failing, holding) in [
        (r#", "mood": """#, vec![], vec![Content, Call]),
        (r#", "content": """#, vec![], vec![Content, Call]),
        (r#", "mood": "good""#, vec![Content, Call], vec![]),
        (r#", "content": "Oh""#, vec![Call], vec![Content]),
        (
            r#", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}]"#,
            vec![Content],
            vec![],
        ),
        (r#", "tool_calls": "none""#, vec![Content], vec![]),
    ] {
        let judgement = judged(&whole(), &with_defaults(defaults, &every));
        assert_kinds(&judgement, &failing, &holding);
    }
    for role in ["user", "tool"] {
        let response = fields(&every).replace("\"assistant\"", &format!("\"{role}\""));
        assert_kinds(&judged(&whole(), &response), &[Content, Call], &[]);
    }
    // A key that the response fills although the message has none.
    let ended = r#""ended": {"open_pattern": "<(?=end>)", "close": ">"}"#;
    let judgement = judged(&whole(), &fields(&[THINKING, CONTENT, CALLS, ended]));
    assert_kinds(&judgement, &[Content, Call], &[]);
}

#[test]
fn a_call_is_what_it_was_and_nothing_more() {
    let of = |call: &str| CALLS.replace(r#"{"type": "function", "function": "{content}"}"#, call);
    let function = |more: &str| {
        format!(
            r#""function": {{"name": "{{content.name}}", "arguments": "{{content.arguments}}"{more}}}"#
        )
    };
    for (call, holds) in [
        (format!(r#"{{{}}}"#, function("")), true),
        (format!(r#"{{"type": "function", {}}}"#, function("")), true),
        (format!(r#"{{"type": "tool", {}}}"#, function("")), false),
        (format!(r#"{{"id": "x1", {}}}"#, function("")), false),
        (format!(r#"{{"index": 0, {}}}"#, function("")), false),
        (format!(r#"{{{}}}"#, function(r#", "strict": true"#)), false),
        (r#"{"type": "function"}"#.to_owned(), false),
        (r#""{content.name}""#.to_owned(), false),
        (
            r#"{"function": {"name": "{content.name}"}}"#.to_owned(),
            false,
        ),
    ] {
        let judgement = judged(&whole(), &fields(&[THINKING, CONTENT, &of(&call)]));
        assert_eq!(fails(&judgement, Kind::Call), !holds, "{call}");
    }
    let greedy = TAGS.replace("<a:", "<[az]:");
    let tagged = chat(&[SAID, TAGGED].concat(), "");
    let judgement = judged(&tagged, &fields(&[CONTENT, &greedy]));
    assert_kinds(
        &judgement,
        &[Kind::Call, Kind::NoArguments],
        &[Kind::Content],
    );
}

#[test]
fn ids_come_back_where_they_can_be_seen() {
    let chat = chat(
        &[
            SAID,
            &CALLED.replace("<c>", "<c>{% if c.id %}{{ c.id }}{% endif %}|"),
        ]
        .concat(),
        "",
    );
    let open = |pattern: &str| {
        CALLS.replace(
            r#""open": "<c>""#,
            &format!(r#""open_pattern": "{pattern}""#),
        )
    };
    let with = |id: &str| {
        open(r"<c>(?P<id>[^|]+)?\\|").replace(r#"{"type""#, &format!(r#"{{"id": "{id}", "type""#))
    };
    for (calls, holds) in [
        (open(r"<c>[^|]*\\|"), false),
        (with("{id}"), true),
        (with("x1"), false),
    ] {
        let judgement = judged(&chat, &fields(&[CONTENT, &calls]));
        assert_eq!(
            fails(&judgement, Kind::Ids),
            !holds,
            "{calls}: {:#?}",
            judgement.kinds
        );
    }
    // The call without an id has none that could come back; an empty one is none.
    let empty = with("{id}").replace(r"(?P<id>[^|]+)?", r"(?P<id>[^|]*)");
    let judgement = judged(&chat, &fields(&[CONTENT, &empty]));
    assert!(!fails(&judgement, Kind::Call) && !fails(&judgement, Kind::Ids));
    let judgement = judged(&chat, &fields(&[CONTENT, &with("made up")]));
    assert!(fails(&judgement, Kind::Call) && fails(&judgement, Kind::Ids));
}

/// Two calls of a message may differ in their ids alone, and each must come back with its own.
#[test]
fn equal_calls_are_told_apart_by_their_ids() {
    let called = "{% for c in m.tool_calls or [] %}<c:{{ c.function.name }}>{{ c.function.arguments | tojson }}§{{ c.id }}§</c>{% endfor %}";
    let calls = |ahead: &str| {
        let open = format!(r#""open_pattern": "<c:(?P<name>[^>]*)>(?={ahead}§(?P<id>[^§]*)§)""#);
        let transform = r#"{"type": "function", "id": "{id}", "function": {"name": "{name}", "arguments": "{content}"}}"#;
        format!(
            r#""tool_calls": {{{open}, "close_pattern": "§[^§]*§</c>", "content": "json", "repeats": true, "transform": {transform}}}"#
        )
    };
    let judged = |ahead: &str| {
        judged(
            &chat(&[SAID, called].concat(), ""),
            &fields(&[CONTENT, &calls(ahead)]),
        )
    };
    assert_all_back(&judged("[^§]*"));
    // The id behind the last call of that name.
    let last = judged("[^§]*(?:.*<c:(?P=name)>[^§]*)?");
    assert_kinds(&last, &[Kind::Calls], &[Kind::Call]);
    let twice = |failure: &super::super::Failure| {
        failure.found.response.matches("<c:count_sparrows>").count() == 2
    };
    assert!(last.failures.iter().all(twice), "{:#?}", last.failures[0]);
}

#[test]
fn names_need_not_be_words() {
    let tagged = chat(&[SAID, TAGGED].concat(), "");
    for key in ["[^>]*", r"[\\w.-]*", r"[\\w -]*", r"[\\w .]*"] {
        let tags = TAGS.replace("(?P<key>[^>]*)", &format!("(?P<key>{key})"));
        let judgement = judged(&tagged, &fields(&[CONTENT, &tags]));
        assert_eq!(fails(&judgement, Kind::OddNames), key != "[^>]*", "{key}");
        assert!(!fails(&judgement, Kind::IntegerArgument));
    }
    let tags = TAGS.replace("(?P<name>[^>]*)", r"(?P<name>\\w*)");
    let judgement = judged(&tagged, &fields(&[CONTENT, &tags]));
    assert_kinds(&judgement, &[Kind::OddNames], &[Kind::ArrayArgument]);
}

/// The template writes a list like a text, and the list with one text in it like that text: no parser tells them apart by their
/// looks, yet the schema of the tool names the type.
#[test]
fn a_list_that_comes_back_as_text_is_no_list() {
    let listed = TAGGED.replace(
        "v | tojson",
        "v | join(', ') if v is sequence else v | tojson",
    );
    let judgement = judged(
        &chat(&[SAID, &listed].concat(), ""),
        &fields(&[CONTENT, TAGS]),
    );
    assert_kinds(&judgement, &[Kind::ArrayArgument], &[Kind::IntegerArgument]);
    assert!(judgement.excused.is_none(), "types are no excuse");
}

/// A chat template may leave out arguments that are false to Python. Those that hold nothing may then be missing; a false one says
/// something.
#[test]
fn only_arguments_that_hold_nothing_may_be_missing() {
    let truthy = TAGGED.replace(".items() %}", ".items() if v %}");
    let judgement = judged(
        &chat(&[SAID, &truthy].concat(), ""),
        &fields(&[CONTENT, TAGS]),
    );
    assert_kinds(
        &judgement,
        &[Kind::BooleanArgument],
        &[Kind::ArrayArgument, Kind::ObjectArgument],
    );
    let wrong = judgement
        .failures
        .iter()
        .filter(|failure| !failure.found.response.contains("<a:bucket>"));
    assert_eq!(wrong.count(), 0);
    let lost = judgement
        .failures
        .iter()
        .map(|failure| crate::value::json::to_string(&failure.found.expected));
    assert!(lost.clone().count() > 0 && lost.clone().all(|expected| expected.contains("false")));
    // An empty text that is left out is not asked for, rather than excused.
    assert!(judgement.excused.is_none(), "{:#?}", judgement.excused);
}

#[test]
fn a_name_that_is_not_written_need_not_come_back_and_one_that_is_changed_must() {
    let nameless = CALLED.replace("c.function |", "c.function.arguments |");
    let calls = |function: &str| CALLS.replace(r#""{content}""#, function);
    for function in [
        r#"{"arguments": "{content}"}"#,
        r#"{"name": "any", "arguments": "{content}"}"#,
    ] {
        let judgement = judged(
            &chat(&[SAID, &nameless].concat(), ""),
            &fields(&[CONTENT, &calls(function)]),
        );
        assert_kinds(&judgement, &[], &[Kind::Content, Kind::Call]);
    }
    let shouted = TAGGED.replace("c.function.name", "c.function.name | upper");
    let judgement = judged(
        &chat(&[SAID, &shouted].concat(), ""),
        &fields(&[CONTENT, TAGS]),
    );
    assert_kinds(
        &judgement,
        &[Kind::Call, Kind::NoArguments],
        &[Kind::Content],
    );
}

/// Names may be those of lists, within a namespace, or of schemas; and functions may have dots in their names.
#[test]
fn names_have_signs_in_them() {
    let chat = chat(&[SAID, TAGGED].concat(), "");
    let keyed = |key: &str| TAGS.replace("<a:(?P<key>[^>]*)>", &format!("<a:(?P<key>{key})>"));
    for (key, lost) in [
        (r"[\\w@\\[\\]. -]+", "orchard:gate"),
        (r"[\\w@:. -]+", "orchard[]"),
        (r"[\\w:\\[\\]. -]+", "@orchard"),
    ] {
        let judgement = judged(&chat, &fields(&[CONTENT, &keyed(key)]));
        assert_kinds(&judgement, &[Kind::OddNames], &[Kind::Content]);
        let responses = judgement.failures.iter();
        let mut responses = responses.map(|failure| &failure.found.response);
        assert!(responses.all(|response| response.contains(lost)), "{lost}");
    }
    let undotted = TAGS.replace("<c:(?P<name>[^>]*)>", "<c:(?P<name>[^>.]*)>");
    let judgement = judged(&chat, &fields(&[CONTENT, &undotted]));
    assert_kinds(&judgement, &[Kind::OddNames], &[Kind::Content]);
}

/// Texts within a list that is an argument may contain the text between two arguments.
#[test]
fn a_list_may_hold_what_parts_arguments() {
    let calls = "{% for c in m.tool_calls or [] %}<c>{{ c.function.name }}(\
        {% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %})</c>{% endfor %}";
    let chat = chat(&[SAID, calls].concat(), "");
    let keywords = |value: &str| {
        format!(
            r#""tool_calls": {{"open_pattern": "<c>(?P<name>[\\w.-]+)\\(", "close": ")</c>", "content": "xml-inline", "repeats": true,
            "content_args": {{"tag_pattern": "(?P<key>[^\\s=,\"][^=,\"]*)=(?P<value>{value})(?=\\Z|, ?[^=,\"]+=)", "value_parser": {{"name": "json"}}}},
            "transform": {{"type": "function", "function": {{"name": "{{name}}", "arguments": "{{content}}"}}}}}}"#
        )
    };
    let whole_texts_alone = keywords(r#"\"(?:[^\"\\\\]|\\\\.)*\"|.*?"#);
    let judgement = judged(&chat, &fields(&[CONTENT, &whole_texts_alone]));
    let mut failures = judgement.failures.iter();
    assert!(failures.any(|failure| failure.found.response.contains("=[\"")));
    let texts_anywhere = keywords(r#"(?:\"(?:[^\"\\\\]|\\\\.)*\"|[^\"])*?"#);
    assert_all_back(&judged(&chat, &fields(&[CONTENT, &texts_anywhere])));
}

/// A line separator that a chat template takes for the end of a line breaks what is JSON otherwise.
#[test]
fn texts_have_line_separators() {
    let indented = CALLED.replace(
        "c.function | tojson",
        "c.function | tojson(indent=2) | indent(4)",
    );
    let judgement = judged(
        &chat(&[SAID, &indented].concat(), ""),
        &fields(&[CONTENT, CALLS]),
    );
    assert_kinds(&judgement, &[Kind::StringArgument], &[Kind::Content]);
    let mut failures = judgement.failures.iter();
    assert!(
        failures.all(
            |failure| crate::value::json::to_string(&failure.found.message).contains('\u{2028}')
        )
    );
}

/// A model may be stopped behind its reasoning.
#[test]
fn a_reasoning_may_come_alone() {
    let needy = r#""thinking": {"open": "<r>", "close_pattern": "</r>(?=<t>)"}"#;
    let chat = chat(&[THOUGHT, SAID].concat(), "");
    let judgement = judged(&chat, &fields(&[needy, CONTENT]));
    assert_kinds(&judgement, &[Kind::Reasoning], &[Kind::Content]);
    assert_all_back(&judged(&chat, &fields(&[THINKING, CONTENT])));
}

/// A word for each call before all of them must be read for more calls than a few.
#[test]
fn five_calls_come_back_as_two_do() {
    let listed = "{% if m.tool_calls %}<all{% for c in m.tool_calls %},r{% endfor %}>{% endif %}";
    let chat = chat(&["{{ m.content or '' }}", listed, CALLED].concat(), "");
    let judged = |times: &str| {
        let open = format!(r#""open_pattern": "(?:<all(?:,r){times}>)?<c>""#);
        let calls = CALLS.replace(r#""open": "<c>""#, &open);
        judged(&chat, &fields(&[&calls, REST]))
    };
    let up_to_three = judged("{0,3}");
    assert_kinds(&up_to_three, &[Kind::Calls], &[Kind::Call]);
    let of_five =
        |failure: &super::super::Failure| failure.found.response.matches("<c>").count() == 5;
    let failures = &up_to_three.failures;
    assert!(failures.iter().all(of_five), "{:#?}", failures[0]);
    assert_all_back(&judged("*"));
}

/// The name of a call that is not written may be that of a call before it, which is.
#[test]
fn a_call_of_the_same_name_as_one_before_it_is_not_seen_with_that() {
    let first = CALLED.replace("in m.tool_calls or []", "in (m.tool_calls or [])[:1]");
    assert_all_back(&judged(
        &chat(&[SAID, &first].concat(), ""),
        &fields(&[CONTENT, CALLS]),
    ));
}

/// Where a name is written for the first of several calls alone, the others have it as well.
#[test]
fn a_name_that_is_written_once_for_several_calls_is_that_of_each() {
    let named = "{% if not loop.previtem or loop.previtem.function.name != c.function.name %}{{ c.function.name }}{% else %}same{% endif %}";
    let called = TAGGED.replace("{{ c.function.name }}", named);
    let judgement = judged(
        &chat(&[SAID, &called].concat(), ""),
        &fields(&[CONTENT, TAGS]),
    );
    assert_kinds(&judgement, &[Kind::Calls], &[Kind::Call]);
}

/// Chat templates that cut ids write their last characters, which is all that a parser can read of them.
#[test]
fn of_an_id_that_is_cut_the_part_that_is_written_comes_back() {
    let called = "{% for c in m.tool_calls or [] %}<c id={{ c.id[-5:] }}>{{ c.function | tojson }}</c>{% endfor %}";
    let chat = chat(&[SAID, called].concat(), "");
    let with = CALLS
        .replace(
            r#""open": "<c>""#,
            r#""open_pattern": "<c id=(?P<id>[^>]*)>""#,
        )
        .replace(r#""type""#, r#""id": "{id}", "type""#);
    let judgement = judged(&chat, &fields(&[CONTENT, &with]));
    assert_all_back(&judgement);
    assert!(holds(&judgement, Kind::Ids));
    let without = CALLS.replace(r#""open": "<c>""#, r#""open_pattern": "<c id=[^>]*>""#);
    assert!(!holds(
        &judged(&chat, &fields(&[CONTENT, &without])),
        Kind::Ids
    ));
}
