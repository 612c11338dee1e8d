//! Where a chat template can be read in several ways: what is taken, and why the others lose.

use crate::support::deriving::{derive_text, findings, turns};
use obverse::chat_template;
use obverse::derive::{
    Case, Decision, Derivation, Fate, Options, ReportedCandidate, ToolsMode, Verdict, derive,
};
use obverse::parser::parse_response;
use obverse::response_template::{Engine, ResponseTemplate};
use obverse::value::{Map, Value, json};

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
        .find(|decision| decision.name == question)
        .unwrap_or_else(|| panic!("nothing was decided of {question}: {decisions:#?}"))
}

fn taken(decision: &Decision) -> &ReportedCandidate {
    let taken: Vec<&ReportedCandidate> = decision
        .candidates
        .iter()
        .filter(|option| option.fate == Fate::Taken)
        .collect();
    assert_eq!(taken.len(), 1, "{decision:#?}");
    taken[0]
}

fn with_alternatives(text: &str) -> Derivation {
    let source = chat_template::from_text("test", text).expect("a template");
    let options = Options::default().alternatives(true);
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
        taken(form).name,
        "the name in a marker, each argument with its key apart",
        "{form:#?}"
    );
    let first = &form.candidates[0];
    assert_eq!(
        (first.name.as_str(), first.fate),
        (
            "the name in a marker, the arguments in a dialect of JSON",
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
    let json = NEARLY_JSON
        .replace("'{{ value }}'", "{{ value | tojson }}")
        .replace("{{ key }}:", "{{ key | tojson }}: ");
    let derivation = turns(&json, "<bot>");
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert_eq!(report.tools.mode, ToolsMode::TagWithJson);
    let close = decision(&derivation, "call close");
    assert_eq!(close.candidates[0].fate, Fate::Taken);
    assert!(!findings(&derivation).contains(&"corrected"));
    for decision in &report.decisions {
        for option in &decision.candidates[1..] {
            assert_eq!(option.fate, Fate::NotTried, "{}", decision.name);
            assert!(!option.because.is_empty());
            assert!(option.counterexample.is_none() && option.why.is_none());
        }
    }
}

/// A question of which the way with the best evidence failed, and the one that was taken.
fn corrected<'d>(
    derivation: &'d Derivation,
    question: &str,
) -> (&'d ReportedCandidate, &'d ReportedCandidate) {
    let decision = decision(derivation, question);
    let taken = taken(decision);
    let first = &decision.candidates[0];
    assert_eq!(first.fate, Fate::Fails, "{question}: {decision:#?}");
    assert_ne!(first.name, taken.name);
    let shown = first.counterexample.is_some() || first.why.is_some();
    assert!(shown, "nothing says why it lost: {first:#?}");
    assert!(findings(derivation).contains(&"corrected"));
    (first, taken)
}

/// The derivation is proved, and transformers reads its responses the same.
fn proved(derivation: &Derivation) {
    come_to(derivation, Verdict::Proved);
}

/// The derivation comes to the verdict, and transformers reads its responses the same.
fn come_to(derivation: &Derivation, verdict: Verdict) {
    let report = &derivation.report;
    assert_eq!(report.verdict, verdict, "{:#?}", report.findings);
    let template = derivation.document.to_value();
    let question = |case: &Case| {
        let question = Map::from_iter([
            ("template".to_owned(), template.clone()),
            ("prefix".to_owned(), Value::from(case.prefix.as_str())),
            ("response".to_owned(), Value::from(case.response.as_str())),
            ("tools".to_owned(), Value::from(case.tools.clone())),
        ]);
        json::to_string(&Value::Object(question))
    };
    let questions: Vec<String> = derivation.cases.iter().map(question).collect();
    let answers = crate::support::reference::ask("parse.py", &questions).unwrap_or_default();
    for (answer, case) in answers.iter().zip(&derivation.cases) {
        let answer = json::parse(answer).expect("JSON");
        assert_eq!(
            answer.get("message"),
            Some(&case.message),
            "{answer:?}\n{case:#?}"
        );
    }
}

/// A template that drops the reasoning and takes a label before a colon off an answer as well: its first constant at which it
/// cuts is no end of a reasoning, which has colons of its own.
#[test]
fn an_answer_is_cut_at_more_than_one_constant() {
    let assistant = "{{ m.content.split(':')[-1].split('<answer>')[-1] }}";
    let derivation = turns(assistant, "<bot><thought>");
    come_to(&derivation, Verdict::ProvedInPart);
    let reasoning = &derivation.report.reasoning;
    assert_eq!(
        (reasoning.open.as_str(), reasoning.close.as_str()),
        ("<thought>", "<answer>")
    );
    let (first, _) = corrected(&derivation, "reasoning");
    assert_eq!(first.means, "\"<thought>\" … \":\"");
    let found = first.counterexample.as_ref().expect("a message");
    let thought = |message: &Value| {
        let thought = message.get("thinking").and_then(Value::as_str);
        thought.map(str::to_owned)
    };
    let expected = thought(&found.expected).expect("a reasoning");
    assert!(
        expected.contains(':'),
        "the smallest has a colon: {expected}"
    );
    assert_ne!(thought(&found.parsed), Some(expected));
}

/// The end of a reasoning says the word of its beginning again; what opens the content is no end of it.
#[test]
fn of_the_constants_that_says_the_word_again() {
    let assistant = "<msg>{{ m.content.split('<msg>')[-1].split('</think>')[-1] }}";
    let derivation = turns(assistant, "<bot><think>");
    come_to(&derivation, Verdict::ProvedInPart);
    assert_eq!(derivation.report.reasoning.close, "</think>");
    assert_eq!(derivation.report.content.open, "<msg>");
    let means = |option: &ReportedCandidate| option.means.clone();
    let options = &decision(&derivation, "reasoning").candidates;
    assert_eq!(
        options.iter().map(means).collect::<Vec<_>>(),
        [
            "\"<think>\" … \"</think>\"",
            "\"<think>\" … \"<msg>\"",
            "no reasoning"
        ]
    );
}

/// Nothing but the template's own constants says that there is a reasoning: what stands between two of them is cut out.
#[test]
fn a_reasoning_that_is_cut_out_of_an_answer() {
    let assistant =
        "{%- for part in m.content.split('<out>') %}{{ part.split('<in>')[0] }}{%- endfor %}";
    let derivation = turns(assistant, "<bot>");
    come_to(&derivation, Verdict::ProvedInPart);
    let reasoning = &derivation.report.reasoning;
    assert_eq!(
        (reasoning.open.as_str(), reasoning.close.as_str()),
        ("<in>", "<out>")
    );
    assert!(derivation.report.rounds.injected > 0);
    assert_eq!(taken(decision(&derivation, "reasoning")).name, "as cut out");
    // A text that is only taken off the end of an answer is none.
    let derivation = turns("{{ m.content.split('<in>')[0] }}", "<bot>");
    assert_eq!(derivation.report.reasoning.open, "");
}

/// A name in brackets before an answer looks like a reasoning to whoever gives it one, and like a part of an answer that has
/// brackets to whoever does not.
#[test]
fn what_looks_like_a_reasoning_may_be_none() {
    let assistant = "{% if m.name %}({{ m.name }}) {% endif %}{{ m.content }}";
    let derivation = turns(assistant, "<bot>");
    proved(&derivation);
    assert_eq!(derivation.report.reasoning.open, "");
    let (first, taken) = corrected(&derivation, "reasoning");
    assert_eq!(first.means, "\"(\" … \")\"");
    assert_eq!(taken.name, "none");
    let found = first.counterexample.as_ref().expect("a message");
    assert!(found.expected.get("thinking").is_none());
    let content = found.expected.get("content").and_then(Value::as_str);
    assert!(content.is_some_and(|content| content.contains('(')));
}

#[test]
fn a_key_of_all_messages_is_no_reasoning() {
    let text = "{% for m in messages %}<{{ m.role }}>{% if m.name %}[{{ m.name }}]{% endif %}\
        {% if m.thought %}<t>{{ m.thought }}</t>{% endif %}{{ m.content }}<end>\n{% endfor %}\
        {% if add_generation_prompt %}<assistant>{% endif %}";
    // Where only assistants have a thought, a name is the likelier none of both.
    let text = text.replace(
        "{% if m.thought %}",
        "{% if m.role == 'assistant' and m.thought %}",
    );
    let derivation = derive_text(&text).expect("derived");
    proved(&derivation);
    assert_eq!(derivation.report.reasoning.key.as_deref(), Some("thought"));
    let options = &decision(&derivation, "reasoning key").candidates;
    assert_eq!(options[1].name, "name");
}

/// No prompt says where a turn begins, and the last marker before an answer opens content alone.
#[test]
fn what_begins_a_turn_with_content_may_not_begin_one_with_calls() {
    let assistant = "{% if m.content %}<say>{{ m.content }}</say>{% endif %}\
        {%- for call in m.tool_calls or [] %}<call>{{ call.function | tojson }}</call>{%- endfor %}";
    let derivation = turns(assistant, "");
    proved(&derivation);
    assert_eq!(derivation.report.start_anchor, ["<bot>"]);
    assert_eq!(derivation.report.tools.mode, ToolsMode::JsonNative);
    assert_eq!(derivation.report.content.open, "<say>");
    let (first, _) = corrected(&derivation, "anchor");
    assert_eq!(first.means, "\"<say>\"");
    let why = first.why.as_deref().expect("a reason");
    assert!(why.contains("nothing before them"), "{why}");
}

/// After a tool's result the prompt opens a reasoning that an answer without one has as well, but empty.
#[test]
fn what_begins_a_turn_after_a_tool_may_open_a_reasoning() {
    let text = "{%- for m in messages %}{%- set after = loop.index0 > 0 and messages[loop.index0 - 1].role == 'tool' %}\
        {%- if m.role == 'assistant' %}{{ '<again>' if after else '<bot>' }}\
        {%- if m.thinking %}<think>{{ m.thinking }}</think>{% elif after %}<think></think>{% endif %}{{ m.content }}\
        {%- for call in m.tool_calls or [] %}<call>{{ call.function | tojson }}</call>{%- endfor %}<end>\
        {%- else %}<{{ m.role }}>{{ m.content }}<end>{%- endif %}{%- endfor %}\
        {%- if add_generation_prompt %}{{ '<again><think>' if messages[-1].role == 'tool' else '<bot>' }}{%- endif %}";
    let derivation = derive_text(text).expect("derived");
    proved(&derivation);
    assert_eq!(derivation.report.start_anchor, ["<bot>", "<again>"]);
    let (first, _) = corrected(&derivation, "anchor after a tool's result");
    assert_eq!(first.means, "\"<again><think>\"");
    let found = first.counterexample.as_ref().expect("a message");
    assert!(found.prefix.ends_with("<again><think>"), "{found:?}");
}

/// No two prompts begin a turn with the same.
#[test]
fn each_prompt_may_begin_a_turn_in_its_own_words() {
    let text = "{%- set bot = '<thinker>' if think else '<bot>' %}{%- for m in messages %}\
        {{- bot if m.role == 'assistant' else '<user>' }}{{ m.content }}<end>{%- endfor %}\
        {%- if add_generation_prompt %}{{ bot }}{%- endif %}";
    let derivation = derive_text(text).expect("derived");
    proved(&derivation);
    assert_eq!(derivation.report.start_anchor, ["<bot>", "<thinker>"]);
    let anchor = decision(&derivation, "anchor");
    assert_eq!(taken(anchor).name, "as each prompt has it");
    assert_eq!(anchor.candidates[1].name, "the last marker");
}

/// A turn without a reasoning says so where the reasoning would stand, before what opens the content.
#[test]
fn of_what_stands_before_the_content_the_last_may_open_it() {
    let assistant = "{% if m.thinking %}<think>{{ m.thinking }}</think>{% else %}<no-think>{% endif %}\
        <say>{{ m.content }}</say>";
    let derivation = turns(assistant, "<bot>");
    proved(&derivation);
    let (first, taken) = corrected(&derivation, "content open");
    assert_eq!(
        (first.means.as_str(), taken.means.as_str()),
        ("\"<no-think><say>\"", "\"<say>\"")
    );
    let found = first.counterexample.as_ref().expect("a message");
    assert!(found.expected.get("thinking").is_some(), "{found:?}");
}

/// What stands before a reasoning says how long it may be, and something else under another setting.
#[test]
fn of_what_stands_before_the_reasoning_the_last_may_open_it() {
    let assistant = "{% if m.thinking %}<effort={% if effort == 'high' %}high{% else %}none{% endif %}><think>{{ m.thinking }}</think>{% endif %}\
        <say>{{ m.content }}</say>";
    let derivation = turns(assistant, "<bot>");
    proved(&derivation);
    let (first, taken) = corrected(&derivation, "reasoning open");
    assert_eq!(
        (first.means.as_str(), taken.means.as_str()),
        ("\"<effort=none><think>\"", "\"<think>\"")
    );
}

/// Markers that number the calls or say how many there are.
#[test]
fn numbers_around_calls_may_count_them() {
    for assistant in [
        "{%- for call in m.tool_calls or [] %}<call {{ loop.index }}>{{ call.function | tojson }}</call>{%- endfor %}",
        "{%- if m.tool_calls %}<calls n={{ m.tool_calls | length }}>{%- for call in m.tool_calls %}<call>\
            {{- call.function | tojson }}</call>{%- endfor %}</calls>{%- endif %}",
    ] {
        let derivation = turns(&format!("{{{{ m.content }}}}{assistant}"), "<bot>");
        proved(&derivation);
        let tools = &derivation.report.tools;
        let markers = format!("{}{}", tools.section_open, tools.open);
        assert!(markers.contains("NUMBER"), "{markers}");
    }
    // A number that is always the same is a part of its marker.
    let plain = "{{ m.content }}{%- for call in m.tool_calls or [] %}<call v2>{{ call.function | tojson }}</call>{%- endfor %}";
    let derivation = turns(plain, "<bot>");
    proved(&derivation);
    assert_eq!(derivation.report.tools.open, "<call v2>");
}

/// Nothing but the marker between two calls says where the second begins.
#[test]
fn a_marker_between_calls_opens_the_next_one() {
    let assistant = "{{ m.content }}{%- if m.tool_calls %}<calls>{%- for call in m.tool_calls %}\
        {{- call.function.name }}{{ call.function.arguments | tojson }}{{ '<sep>' if not loop.last }}\
        {%- endfor %}</calls>{%- endif %}";
    let derivation = turns(assistant, "<bot>");
    proved(&derivation);
    assert_eq!(derivation.report.tools.mode, ToolsMode::TagWithJson);
}

/// An id before, between and behind what else a call has, with a marker around the call and without.
#[test]
fn an_id_is_read_wherever_it_stands() {
    for call in [
        "{\"id\": \"ID\", \"name\": \"NAME\", \"arguments\": ARGUMENTS}\n",
        "{\"name\": \"NAME\", \"id\": \"ID\", \"arguments\": ARGUMENTS}\n",
        "{\"name\": \"NAME\", \"arguments\": ARGUMENTS, \"id\": \"ID\"}\n",
        "<call id=ID>NAME|ARGUMENTS</call>",
        "<call>NAME<id>ID</id>ARGUMENTS</call>",
        "<call>NAME|ARGUMENTS|ID</call>",
        "<call>NAMETAGS<id>ID</id></call>",
    ] {
        let tags = "{%- for key, value in call.function.arguments.items() %}<arg={{ key }}>\
            {{- value if value is string else value | tojson }}</arg>{%- endfor %}";
        let call = call
            .replace("ID", "{{ call.id }}")
            .replace("NAME", "{{ call.function.name }}")
            .replace("ARGUMENTS", "{{ call.function.arguments | tojson }}")
            .replace("TAGS", tags);
        let assistant = format!(
            "{{{{ m.content }}}}{{%- for call in m.tool_calls or [] %}}{call}{{%- endfor %}}"
        );
        let derivation = turns(&assistant, "<bot>");
        proved(&derivation);
        let with_calls = derivation.cases.iter().filter_map(|case| {
            let calls = case.message.get("tool_calls").and_then(Value::as_array)?;
            Some(calls.iter().all(|call| call.get("id").is_some()))
        });
        let with_calls: Vec<bool> = with_calls.collect();
        assert!(
            !with_calls.is_empty() && with_calls.iter().all(|has| *has),
            "{assistant}"
        );
    }
}

fn one_object_each(members: &str) -> String {
    format!(
        "{{{{ m.content }}}}{{%- for call in m.tool_calls or [] %}}<call>{members}</call>{{%- endfor %}}"
    )
}

/// In the first call of a message two members are the same, of which one is another call's in the others.
#[test]
fn a_part_of_a_call_may_stand_twice() {
    let group = "{\"group\": \"{{ m.tool_calls[0].id }}\", \"id\": \"{{ call.id }}\", \
        \"name\": \"{{ call.function.name }}\", \"arguments\": {{ call.function.arguments | tojson }}}";
    let first = "{\"first\": \"{{ m.tool_calls[0].function.name }}\", \"name\": \"{{ call.function.name }}\", \
        \"arguments\": {{ call.function.arguments | tojson }}}";
    let known = "{\"name\": \"{{ call.function.name }}\", \"known\": {{ m.tool_calls[0].function.arguments | tojson }}, \
        \"arguments\": {{ call.function.arguments | tojson }}}";
    for (members, question, wrong, right) in [
        (group, "place of the id", "group", "id"),
        (first, "place of the name", "first", "name"),
        (known, "place of the arguments", "known", "arguments"),
    ] {
        let derivation = turns(&one_object_each(members), "<bot>");
        proved(&derivation);
        let (first, taken) = corrected(&derivation, question);
        assert_eq!((first.name.as_str(), taken.name.as_str()), (wrong, right));
        let found = first.counterexample.as_ref().expect("a message");
        let calls = found.expected.get("tool_calls").and_then(Value::as_array);
        assert_eq!(calls.map(<[Value]>::len), Some(2), "one call tells nothing");
    }
}

/// A name that is said again around a call does not hide the object that is the call.
#[test]
fn a_name_may_be_said_before_and_after_its_call() {
    for around in [
        "<call:NAME>OBJECT</call:NAME>",
        "<use> NAME with <call>OBJECT</call>",
        "<call>OBJECT</call> (NAME)",
    ] {
        let call = around
            .replace("NAME", "{{ call.function.name }}")
            .replace("OBJECT", "{{ call.function | tojson }}");
        let assistant = format!(
            "{{{{ m.content }}}}{{%- for call in m.tool_calls or [] %}}{call}{{%- endfor %}}"
        );
        let derivation = turns(&assistant, "<bot>");
        proved(&derivation);
        assert_eq!(
            derivation.report.tools.name.as_deref(),
            Some("name"),
            "{around}"
        );
    }
}

#[test]
fn a_list_of_calls_may_be_wrapped() {
    let assistant = "{{ m.content }}{%- if m.tool_calls %}<calls>{\"tool_calls\": [\
        {%- for call in m.tool_calls %}{{ call.function | tojson }}{{ ', ' if not loop.last }}{%- endfor %}]}</calls>{%- endif %}";
    let derivation = turns(assistant, "<bot>");
    proved(&derivation);
    assert!(derivation.report.tools.array);
}

/// One call is written in one way and several in another, of which a response template reads one.
#[test]
fn several_calls_may_be_written_otherwise_than_one() {
    let assistant = "{{ m.content }}{%- if m.tool_calls and m.tool_calls | length == 1 %}\
        <call>{{ m.tool_calls[0].function.name }}({{ m.tool_calls[0].function.arguments | tojson }})</call>\
        {%- elif m.tool_calls %}<calls>[{%- for call in m.tool_calls %}{{ call.function | tojson }}\
        {{- ', ' if not loop.last }}{%- endfor %}]</calls>{%- endif %}";
    let derivation = turns(assistant, "<bot>");
    assert!(!derivation.report.verified);
    assert_eq!(
        taken(decision(&derivation, "several calls")).name,
        "as one is"
    );
    let rounds = derivation.report.rounds;
    assert!(rounds.passed > rounds.failed, "{rounds:?}");
    let calls = |counterexample: &obverse::derive::Counterexample| {
        let calls = counterexample.expected.get("tool_calls");
        calls.and_then(Value::as_array).map_or(0, <[Value]>::len)
    };
    let shown: Vec<usize> = derivation
        .report
        .findings
        .iter()
        .filter_map(|finding| {
            finding
                .counterexample
                .as_ref()
                .filter(|_| finding.code == "not-inverted")
        })
        .map(calls)
        .collect();
    assert!(
        !shown.is_empty() && shown.iter().all(|count| *count > 1),
        "{shown:?}"
    );
}

/// What opens a call is like any other tag, but for the arguments behind it.
#[test]
fn a_call_opens_where_arguments_follow() {
    let assistant = "{{ m.content }}{%- for call in m.tool_calls or [] %}{{ '\\n' }}\
        <{{ call.function.name }}>{{ call.function.arguments | tojson }}</{{ call.function.name }}>{%- endfor %}";
    let derivation = turns(assistant, "<bot>");
    proved(&derivation);
    let document = derivation.document.to_value();
    let template =
        obverse::response_template::ResponseTemplate::from_value(&document).expect("valid");
    for text in ["a <b>bold</b> word", "if a < b and c > d"] {
        let response = format!("{text}<end>");
        let message = obverse::parser::parse_response(
            &response,
            std::sync::Arc::new(template.clone()),
            "",
            &[],
        )
        .expect("parsed");
        assert_eq!(message.get("content").and_then(Value::as_str), Some(text));
    }
}

/// What closes a list of calls stands in the lists among their arguments too.
#[test]
fn calls_in_a_list_may_be_known_without_it() {
    let assistant = "{{ m.content if not m.tool_calls }}{%- if m.tool_calls %}{{ '\\n' }}[{%- for call in m.tool_calls %}\
        {{- call.function.name }}<args>{{ call.function.arguments | tojson }}</args>{{ ', ' if not loop.last }}\
        {%- endfor %}]{%- endif %}";
    let source = format!(
        "{{%- for m in messages %}}{{%- if m.role == 'assistant' %}}<bot>{assistant}<end>\
         {{%- else %}}<{{{{ m.role }}}}>{{{{ m.content }}}}<end>{{%- endif %}}{{%- endfor %}}\
         {{%- if add_generation_prompt %}}<bot>{{%- endif %}}"
    );
    let source = chat_template::from_text("test", &source).expect("a template");
    let derived = |engines: &[Engine]| {
        let options = Options::default().thorough(true).engines(engines.to_vec());
        derive(&source, &options).expect("derived")
    };
    let derivation = derived(&[]);
    proved(&derivation);
    assert_eq!(
        taken(decision(&derivation, "calls in a list")).name,
        "in the list"
    );
    // A server that looks at nothing behind takes the pattern of one call alone.
    let (first, taken) = {
        let served = derived(&[Engine::Vllm]);
        let decision = decision(&served, "calls in a list");
        (decision.candidates[0].clone(), taken(decision).name.clone())
    };
    assert_eq!((first.fate, taken.as_str()), (Fate::Fails, "each apart"));
}

/// A list of calls with nothing around it begins as no other text does: with the bracket and a member of its first call, whichever comes first.
#[test]
fn a_list_of_calls_that_nothing_stands_before() {
    let assistant = "{{ m.content }}{%- if m.tool_calls %}[{%- for call in m.tool_calls %}\
        {{- call.function | tojson }}{{ ', ' if not loop.last }}{%- endfor %}]{%- endif %}";
    let derivation = turns(assistant, "<bot>");
    proved(&derivation);
    let form = taken(decision(&derivation, "call form"));
    assert_eq!(form.name, "one JSON array of all calls");
    for call in [
        r#"{"name": "f", "arguments": {"a": [1, "}]"]}}"#,
        r#"{"arguments": {"a": [1, "}]"]}, "name": "f"}"#,
    ] {
        let template = ResponseTemplate::from_value(&derivation.document.to_value());
        let response = format!("See [1]. [{call}, {call}]");
        let message = parse_response(&response, template.expect("valid"), "", &[]);
        let message = message.expect("a message");
        let calls = message.get("tool_calls").and_then(Value::as_array);
        assert_eq!(calls.map(<[Value]>::len), Some(2), "{message:?}");
        assert_eq!(message.get("content"), Some(&Value::from("See [1].")));
    }
}

/// What stands at the end of all, and is gone before the next message, ends the last message where nothing else does.
#[test]
fn an_end_of_all_may_be_an_end_of_messages() {
    let text = "{%- for m in messages %}<{{ m.role }}>{{ m.content }}{{ '<eos>' if loop.last }}{%- endfor %}\
        {%- if add_generation_prompt %}<assistant>{%- endif %}";
    let derivation = derive_text(text).expect("derived");
    proved(&derivation);
    assert_eq!(derivation.report.content.close, "<eos>");
    let taken = taken(decision(&derivation, "trailer"));
    assert_eq!(taken.name, "the last message's end");
}

/// What begins the conversation and follows every message is not a part of the prompt that is written unasked.
#[test]
fn an_unasked_prompt_leaves_an_end_to_the_answer() {
    let text =
        "<sep>{%- for m in messages %}{{ m.role }}: {{ m.content }}<sep>{%- endfor %}assistant: ";
    let derivation = derive_text(text).expect("derived");
    proved(&derivation);
    assert_eq!(derivation.report.content.close, "<sep>");
    assert_eq!(derivation.report.start_anchor, ["assistant: "]);
    let candidates = &decision(&derivation, "unasked prompt").candidates;
    assert_eq!(candidates.len(), 3);
}

#[test]
fn losers_say_why_where_they_are_tried() {
    let text = "{% for m in messages %}<{{ m.role }}>\
        {% if m.thinking %}[R]{{ m.thinking }}[/R][A]{% endif %}{{ m.content.split('[/R]') | last }}<end>\n{% endfor %}\
        {% if add_generation_prompt %}<assistant>{% endif %}";
    let plain = derive_text(text).expect("derived");
    let derivation = with_alternatives(text);
    assert!(derivation.report.verified);
    assert_eq!(derivation.document, plain.document);
    let close = decision(&derivation, "reasoning close");
    assert_eq!(taken(close).means, "\"[/R][A]\"");
    let none = &decision(&derivation, "reasoning").candidates[1];
    assert_eq!(
        (none.means.as_str(), none.fate),
        ("no reasoning", Fate::Fails)
    );
    let found = none.counterexample.as_ref().expect("a message");
    let text =
        |message: &Value, key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
    assert_eq!(
        text(&found.expected, "thinking").as_deref(),
        Some("Lantern wharf")
    );
    assert_eq!(text(&found.parsed, "thinking"), None);
    for decision in &derivation.report.decisions {
        for option in &decision.candidates {
            let shown = option.counterexample.is_some() || option.why.is_some();
            assert_ne!(option.fate, Fate::NotTried, "{}", decision.name);
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
    assert_eq!(taken(values).name, "as JSON", "{values:#?}");
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
    assert_eq!(taken(values).name, "as text", "{values:#?}");
}

/// A delimiter that is written and that the model writes again counts once, unless somebody prefers that it is text.
#[test]
fn a_delimiter_written_again_may_be_text() {
    const DECISION: &str = "delimiter written again";
    let text = "{% for m in messages %}<{{ m.role }}>\
        {% if m.role == 'assistant' %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}<end>{% endfor %}\
        {% if add_generation_prompt %}<assistant><think>{% endif %}";
    let source = chat_template::from_text("test", text).expect("a template");
    let preferring = |candidate: &str| {
        let prefer = vec![(DECISION.to_owned(), candidate.to_owned())];
        derive(&source, &Options::default().prefer(prefer))
    };
    let thought = |derivation: &Derivation| {
        let template = ResponseTemplate::from_value(&derivation.document.to_value());
        let message = parse_response(
            "<think>Hm</think>Yes<end>",
            template.expect("a response template"),
            "<user>Hi<end><assistant><think>",
            &[],
        )
        .expect("parsed");
        message["reasoning_content"].as_str().map(str::to_owned)
    };
    let free = derive(&source, &Options::default()).expect("derived");
    let made = decision(&free, DECISION);
    assert_eq!(taken(made).name, "counts once");
    assert!(
        made.candidates
            .iter()
            .all(|one| one.because.contains("<think>")),
        "each shows the smallest response: {made:#?}"
    );
    assert_eq!(thought(&free).as_deref(), Some("Hm"));
    let kept = preferring("text").expect("derived");
    proved(&kept);
    assert_eq!(taken(decision(&kept, DECISION)).name, "text");
    assert_eq!(thought(&kept).as_deref(), Some("<think>Hm"));
    assert!(!findings(&kept).contains(&"written-again"));
    assert!(findings(&free).contains(&"written-again"));
    let chosen = preferring("counts once").expect("derived");
    assert_eq!(chosen.document.to_value(), free.document.to_value());

    // Where there is neither a reasoning nor a call, there is none.
    let plain = text
        .replace("<assistant><think>", "<assistant>")
        .replace("<think>{{ m.reasoning_content }}</think>", "");
    let plain = chat_template::from_text("test", &plain);
    let prefer = vec![(DECISION.to_owned(), "text".to_owned())];
    let error = derive(
        &plain.expect("a template"),
        &Options::default().prefer(prefer),
    );
    let error = error.expect_err("nothing is written again");
    assert!(
        error.to_string().contains("is not to be decided here"),
        "{error}"
    );
}

/// A text that anybody writes is no reasoning, unless somebody prefers to find markers wherever they stand. What nobody writes in prose is found there in any case.
#[test]
fn an_ordinary_text_is_no_marker() {
    const DECISION: &str = "ordinary text";
    let text = "{% for m in messages %}[{{ m.role }}]\n\
        {% if m.reasoning_content %}(({{ m.reasoning_content }}))\n{% endif %}{{ m.content }}<end>{% endfor %}\
        {% if add_generation_prompt %}[assistant]\n{% endif %}";
    let derived = |text: &str, prefer: &[(&str, &str)]| {
        let source = chat_template::from_text("test", text).expect("a template");
        let owned = |(decision, candidate): &(&str, &str)| {
            ((*decision).to_owned(), (*candidate).to_owned())
        };
        let prefer: Vec<(String, String)> = prefer.iter().map(owned).collect();
        derive(&source, &Options::default().prefer(prefer))
    };
    let thought = |derivation: &Derivation, response: &str| {
        let template = ResponseTemplate::from_value(&derivation.document.to_value());
        let template = template.expect("a response template");
        let message = parse_response(response, template, "[user]\nHi<end>[assistant]\n", &[]);
        let message = message.expect("parsed");
        let thought = message.get("reasoning_content").and_then(Value::as_str);
        thought.map(str::to_owned)
    };
    let sum = "It is ((1 + 2)) * 3.<end>";
    let real = "((so))\nYes.<end>";

    // What opens a reasoning is also text behind a text, unless that is preferred otherwise.
    let behind_text = ("reasoning behind text", "is a reasoning");
    let strict = derived(text, &[behind_text]).expect("derived");
    proved(&strict);
    assert_eq!(taken(decision(&strict, DECISION)).name, "is no marker");
    assert!(findings(&strict).contains(&"narrowed"));
    assert_eq!(thought(&strict, sum), None);
    assert_eq!(thought(&strict, real).as_deref(), Some("so"));

    let anywhere = [(DECISION, "may be a marker"), behind_text];
    let free = derived(text, &anywhere).expect("derived");
    proved(&free);
    assert_eq!(taken(decision(&free, DECISION)).name, "may be a marker");
    assert!(!findings(&free).contains(&"narrowed"));
    assert_eq!(thought(&free, sum).as_deref(), Some("1 + 2"));

    // Of markers that no ordinary text has, the other candidate is had already.
    let renamed = text.replace("((", "<so>").replace("))", "</so>");
    let found = derived(&renamed, &anywhere).expect("derived");
    proved(&found);
    let mut names = found.report.decisions.iter().map(|one| one.name);
    assert!(names.all(|name| name != DECISION));
    assert_eq!(
        thought(&found, "Yes. <so>it is</so> no.<end>").as_deref(),
        Some("it is")
    );

    let error = derived(text, &[(DECISION, "never")]).expect_err("no such candidate");
    let told = "`ordinary text` has no candidate `never`";
    assert!(error.to_string().contains(told), "{error}");
}
