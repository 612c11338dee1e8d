//! Tests of how calls are written.

use super::super::arguments::Style;
use super::super::calls::ToolCalls;
use super::super::cut::Body;
use super::super::unread::Unread;
use super::{analysis, analysis_of, analysis_with, read, turns};
use crate::chat_template;
use crate::derive::choice::{DecisionId, Preference};
use crate::derive::compare::slot;
use crate::derive::probe::Assistant;
use crate::value::Value;

/// The calls that are read where they are written so, behind the content.
fn calls(calls: &str) -> Option<ToolCalls> {
    let answer = format!("<bot>{{{{ m.content or '' }}}}{calls}<end>");
    read(&answer, "<bot>").calls
}

/// The calls that are read where each is written so.
fn each(call: &str) -> ToolCalls {
    calls(&format!(
        "{{%- for c in m.tool_calls or [] -%}}{call}{{%- endfor -%}}"
    ))
    .unwrap()
}

fn trimmed((open, close): &(String, String)) -> (&str, &str) {
    (open.trim(), close.trim())
}

#[test]
fn without_any_none_are_read() {
    assert_eq!(calls(""), None);
}

#[test]
fn a_call_may_be_one_object() {
    let found = each("<call>{{ c.function | tojson }}</call>");
    let Body::Object(members) = &found.body else {
        panic!("{found:?}")
    };
    assert_eq!(
        (&members.name, &members.arguments),
        (&vec!["name".to_owned()], &vec!["arguments".to_owned()])
    );
    assert!(members.id.is_none() && !members.is_text && !found.has_id());
    assert_eq!(trimmed(&found.call), ("<call>", "</call>"));
    assert_eq!(trimmed(&found.section), ("", ""));
    assert!(found.parallel);
}

#[test]
fn its_parts_may_have_other_keys_deep_within_it() {
    let call = r#"<call>{{ {"do": {"tool": c.function.name, "with": c.function.arguments}, "ref": c.id} | tojson }}</call>"#;
    let Body::Object(members) = each(call).body else {
        panic!("no object")
    };
    assert_eq!(members.name, ["do", "tool"]);
    assert_eq!(members.arguments, ["do", "with"]);
    assert_eq!(members.id.as_deref(), Some(&["ref".to_owned()][..]));
}

#[test]
fn all_calls_may_be_one_array() {
    let found = calls(
        "{%- if m.tool_calls -%}<calls>{{ m.tool_calls | map(attribute='function') | list | tojson }}</calls>{%- endif -%}",
    );
    let found = found.unwrap();
    assert!(matches!(found.body, Body::Array(_)), "{found:?}");
    assert_eq!(trimmed(&found.call), ("<calls>", "</calls>"));
}

#[test]
fn the_name_may_stand_before_the_arguments() {
    let found = each("<call {{ c.function.name }}>{{ c.function.arguments | tojson }}</call>");
    assert_eq!(found.body, Body::Json);
    let open = format!("<call {}>", slot::NAME);
    assert_eq!(trimmed(&found.call), (open.as_str(), "</call>"));
}

#[test]
fn the_id_may_stand_before_or_behind_them() {
    let before =
        each("<call {{ c.id }} {{ c.function.name }}>{{ c.function.arguments | tojson }}</call>");
    assert!(before.call.0.contains(slot::ID) && before.has_id());
    let behind =
        each("<call {{ c.function.name }}>{{ c.function.arguments | tojson }}<{{ c.id }}>");
    assert!(behind.call.1.contains(slot::ID) && behind.id_behind);
}

#[test]
fn what_is_written_once_is_the_sections() {
    let found = calls(
        "{%- if m.tool_calls -%}<calls>{%- for c in m.tool_calls -%}<call>{{ c.function | tojson }}</call>{%- endfor -%}</calls>{%- endif -%}",
    );
    let found = found.unwrap();
    assert_eq!(trimmed(&found.section), ("<calls>", "</calls>"));
    assert_eq!(trimmed(&found.call), ("<call>", "</call>"));
}

/// A flag before the calls may say that there are several.
#[test]
fn one_word_before_all_calls_may_be_another_before_several() {
    let section = |flag: &str| {
        let found = calls(&format!(
            "{{%- if m.tool_calls -%}}<calls several={flag}>{{%- for c in m.tool_calls -%}}<call>{{{{ c.function | tojson }}}}</call>{{%- endfor -%}}</calls>{{%- endif -%}}"
        ));
        let found = found.unwrap();
        assert!(found.parallel);
        found.section.0
    };
    let word = format!("<calls several={}>", slot::WORD);
    assert_eq!(section("{{ m.tool_calls | length > 1 }}"), word);
    // Where more than a word differs, only the calls of one of the two are read.
    let other = section("{{ '(yes)' if m.tool_calls | length > 1 else 'no' }}");
    assert_eq!(other, "<calls several=(yes)>");
}

/// The last call may say that it is, in a word that others have another for. That is tried where messages do not come back otherwise.
#[test]
fn one_word_behind_the_last_call_may_be_another() {
    let wanted = Preference {
        decision: DecisionId::AroundCall,
        name: "what begins each, but for a word".to_owned(),
    };
    let call =
        "<c>{{ c.function.name }}|{{ c.function.arguments | tojson }}|last {{ loop.last }};</c>";
    let answer = format!(
        "<bot>{{{{ m.content or '' }}}}{{%- for c in m.tool_calls or [] -%}}{call}{{%- endfor -%}}<end>"
    );
    let found = analysis_with(&turns(&answer, "<bot>"), vec![wanted]).unwrap();
    let close = format!("|last {};</c>", slot::WORD);
    assert_eq!(found.calls.unwrap().call.1, close);
}

#[test]
fn what_stands_between_two_calls_alone_parts_them() {
    let found = calls(
        "{%- if m.tool_calls -%}<calls>{%- for c in m.tool_calls -%}{{ c.function | tojson }}{{ ' ; ' if not loop.last }}{%- endfor -%}</calls>{%- endif -%}",
    );
    assert_eq!(found.unwrap().separator.trim(), ";");
}

/// TOML writes a name in quotes that has a dot in it, and no other one.
#[test]
fn names_that_are_no_words_may_stand_in_quotes() {
    let quotes = |key: &str| {
        let call = format!(
            "<call {{{{ c.function.name }}}}>\n{{% for k, v in c.function.arguments.items() %}}{key} = {{{{ v | tojson }}}}\n{{% endfor %}}</call>"
        );
        match each(&call).body {
            Body::Pairs(pairs) => pairs.name_quotes,
            other => panic!("{other:?}"),
        }
    };
    let quoted = quotes("{{ k | tojson if '.' in k else k }}");
    assert_eq!(quoted, Some(("\"".to_owned(), "\"".to_owned())));
    assert_eq!(quotes("{{ k }}"), None);
    assert_eq!(quotes("{{ k | tojson }}"), None);
}

/// Which quotes stand around a text depends on those in it.
#[test]
fn texts_may_stand_between_quotes_of_several_kinds() {
    let value = "{%- if '\"' not in v -%}\"{{ v }}\"{%- elif \"'\" not in v -%}'{{ v }}'{%- elif '`' not in v -%}`{{ v }}`{%- else -%}\"\"\"{{ v }}\"\"\"{%- endif -%}";
    let found = each(&format!(
        "<call {{{{ c.function.name }}}}>{{% for k, v in c.function.arguments.items() %}}<{{{{ k }}}}=\
         {{%- if v is string -%}}{value}{{%- else -%}}{{{{ v | tojson }}}}{{%- endif -%}}>{{% endfor %}}</call>"
    ));
    let Body::Pairs(pairs) = &found.body else {
        panic!("{found:?}")
    };
    let mut around: Vec<(&str, &str)> = pairs
        .value
        .iter()
        .map(|one| (one.between.as_str(), one.close.as_str()))
        .collect();
    around.sort_unstable();
    let expected = [
        ("=", ">"),
        ("=\"", "\">"),
        ("=\"\"\"", "\"\"\">"),
        ("='", "'>"),
        ("=`", "`>"),
    ];
    assert_eq!(around, expected);
}

#[test]
fn arguments_may_stand_apart() {
    let pairs = |value: &str| {
        let call = format!(
            "<call {{{{ c.function.name }}}}>{{% for k, v in c.function.arguments.items() %}}<arg {{{{ k }}}}>{value}</arg>{{% endfor %}}</call>"
        );
        match each(&call).body {
            Body::Pairs(pairs) => pairs,
            other => panic!("{other:?}"),
        }
    };
    let json = pairs("{{ v | tojson }}");
    assert!(
        matches!(json.style, Style::Json { is_whole: true, .. }),
        "{json:?}"
    );
    assert!(json.open.starts_with("<arg"), "{json:?}");
    let text = pairs("{{ v if v is string else v | tojson }}");
    assert_eq!(text.style, Style::Text);
    assert!(json.are_json() && !text.are_json());
    assert_eq!(text.unread, Unread::default());
    let python = pairs("{{ v if v is none else v | tojson }}");
    assert!(
        matches!(
            python.style,
            Style::Json {
                is_whole: false,
                ..
            }
        ),
        "{python:?}"
    );
    assert_eq!(python.unread, Unread::default());
    // A word may tell the type of each.
    let typed = pairs("{{ 'text' if v is string else 'other' }}:{{ v | tojson }}");
    let Style::Json {
        around,
        is_whole: true,
    } = &typed.style
    else {
        panic!("{typed:?}")
    };
    assert_eq!(around.between, format!(">{}:", slot::WORD));
    let foreign = pairs("{{ 'NULL' if v is none else v | tojson }}");
    assert_eq!(foreign.unread.nulls.as_deref(), Some("NULL"));
    assert_eq!(foreign.unread.booleans, None);
    let escaped = pairs("{{ v | replace('\\\\', '\\\\\\\\') if v is string else v | tojson }}");
    assert!(escaped.unread.texts.is_some(), "{escaped:?}");
}

#[test]
fn a_message_may_have_one_call_alone() {
    let found = calls(
        "{%- if m.tool_calls -%}<call>{{ m.tool_calls[0].function | tojson }}</call>{%- endif -%}",
    );
    assert!(!found.unwrap().parallel);
}

#[test]
fn calls_may_end_the_turn_otherwise() {
    let answer = "<bot>{{ m.content or '' }}{%- for c in m.tool_calls or [] -%}<call>{{ c.function | tojson }}</call>{%- endfor -%}\
                  {{ '<wait>' if m.tool_calls else '<end>' }}";
    let found = read(answer, "<bot>");
    let calls = found.calls.unwrap();
    // Nothing tells whether it is the end of the calls or of the turn.
    assert_eq!(calls.ending().trim(), "<wait>");
    assert_eq!(found.turn_end.marker().trim(), "<end>");
}

/// A call without arguments may lack what stands before those of others, and may end otherwise.
#[test]
fn a_call_without_arguments_may_have_a_form_of_its_own() {
    let form = |call: &str| each(call).no_arguments;
    let read = |call: &str| {
        let found = form(call).unwrap_or_else(|| panic!("none in {call}"));
        let shared = slot::show(&found.shared);
        (shared, found.before_arguments, found.end, found.is_close)
    };
    let line = "-> {{ c.function.name }}{% for k, v in c.function.arguments.items() %}{{ '?' if loop.first else '&' }}{{ k }}={{ v | tojson }}{% endfor %}{{ '\\n' }}";
    let (shared, before_arguments, end, is_close) = read(line);
    assert_eq!(shared, "-> NAME");
    assert_eq!(
        (before_arguments.as_str(), end.trim(), is_close),
        ("?", "", false)
    );
    let with = |none: &str, some: &str| {
        format!(
            "<do {{{{ c.function.name }}}}{{% if c.function.arguments %}}{some}{{% for k, v in c.function.arguments.items() %}}<p {{{{ k }}}}>{{{{ v | tojson }}}}</p>{{% endfor %}}</do>{{% else %}}{none}{{% endif %}}"
        )
    };
    let (shared, before_arguments, end, is_close) = read(&with(" />", " with>"));
    assert_eq!(shared, "<do NAME ");
    assert_eq!(
        (before_arguments.as_str(), end.as_str(), is_close),
        ("with>", "/>", true)
    );
    // Both are closed alike.
    let (_, before_arguments, end, is_close) = read(&with("</do>", ":"));
    assert_eq!(
        (before_arguments.as_str(), end.as_str(), is_close),
        (":", "</do>", false)
    );
    assert_eq!(form(&with("></do>", ">")), None);
}

/// An object without quotes around its names has names that the format's JSON does not read.
#[test]
fn what_no_parser_reads_is_among_the_limits() {
    let named = |name: &str| {
        let mut call = crate::derive::probe::call(0);
        call.arguments = std::iter::once((name.to_owned(), Value::Null)).collect();
        Assistant::calling([call])
    };
    let call = "<call {{ c.function.name }}>{ {%- for k, v in c.function.arguments.items() %}{{ k }}: {{ v | tojson }}{{ ', ' if not loop.last }}{% endfor -%} }</call>";
    let limits = each(call).limits();
    let is_lost = |name: &str| limits.iter().any(|limit| limit.is_in(&named(name)));
    assert!(is_lost("two words") && !is_lost("one_word"), "{limits:?}");
    assert!(
        each("<call>{{ c.function | tojson }}</call>")
            .limits()
            .is_empty()
    );
}

/// Where a result follows, the turn ends otherwise than at the end of the conversation; an id that is only then written is no end.
#[test]
fn a_turn_of_calls_may_end_otherwise_before_a_result() {
    let call = "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}:{{ c.function.arguments | tojson }}CLOSE{% endfor %}";
    let waits = "loop.nextitem is defined and loop.nextitem.role == 'tool'";
    let before_results = |close: &str, end: &str| {
        let call = call.replace("CLOSE", close);
        let answer = format!("<bot>{{{{ m.content or '' }}}}{call}{end}");
        read(&answer, "<bot>").turn_end.before_results
    };
    let ends = format!("{{{{ '<wait>' if {waits} else '<end>' }}}}");
    assert_eq!(before_results("</call>", &ends), ["<wait>"]);
    assert_eq!(before_results("</call>", "<end>"), Vec::<String>::new());
    let with_id = "{{ '<id>' ~ c.id if messages[-1].role == 'tool' }}</call>";
    assert_eq!(before_results(with_id, "<end>"), Vec::<String>::new());
}

/// A system message is always written, and ends as every message does. So what stands before a question is not all of its header.
#[test]
fn the_end_of_a_system_message_is_the_end_of_a_turn() {
    let chat = "<sys>Be kind.<end>{%- for m in messages -%}{%- if m.role == 'assistant' -%}<bot><say>{{ m.content }}</say><end>\
         {%- else -%}<{{ m.role }}>{{ m.content }}<end>{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}<bot>{%- endif -%}";
    assert_eq!(analysis(chat).unwrap().turn_end.marker(), "</say><end>");
}

/// No render shows where the one marker ends and the other begins; the tokenizer has one of them.
#[test]
fn a_token_parts_what_closes_calls_from_the_end_of_their_turn() {
    let answer = "<bot>{{ m.content or '' }}{% if m.tool_calls %}<calls>{{ m.tool_calls | map(attribute='function') | list | tojson }}</calls><pause>{% else %}<end>{% endif %}";
    let read = |tokens: &[&str]| {
        let mut source = chat_template::from_text("it", &turns(answer, "<bot>")).unwrap();
        source.tokens.special = tokens.iter().map(|token| (*token).to_owned()).collect();
        let calls = analysis_of(&source, Vec::new()).unwrap().calls;
        calls.unwrap().turn_end
    };
    assert_eq!(read(&["<pause>"]), "<pause>");
    assert_eq!(read(&[]), "");
}
