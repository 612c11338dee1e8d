//! Tests of the search, over chat templates whose first candidate is right, is wrong, or leads nowhere.

use crate::chat_template;
use crate::derive::{Derivation, DeriveError, Fate, Options, ReportedCandidate, Verdict, derive};
use crate::parser::parse_response;
use crate::response_template::ResponseTemplate;
use crate::value::Value;

/// A chat template whose answers are written so, between `<bot>` and `<end>`.
fn chat(answer: &str) -> String {
    format!(
        "{{%- for m in messages -%}}{{%- if m.role == 'assistant' -%}}<bot>{answer}<end>\
         {{%- else -%}}<{{{{ m.role }}}}>{{{{ m.content }}}}<end>{{%- endif -%}}{{%- endfor -%}}\
         {{%- if add_generation_prompt -%}}<bot>{{%- endif -%}}"
    )
}

fn tried(template: &str, options: &Options) -> Result<Derivation, DeriveError> {
    derive(&chat_template::from_text("it", template).unwrap(), options)
}

fn derived(template: &str) -> Derivation {
    tried(template, &Options::default()).unwrap()
}

/// The derivation of a chat template of which everything comes back.
fn verified(template: &str) -> Derivation {
    let derivation = derived(template);
    assert!(
        derivation.report.verified,
        "{:#?}",
        derivation.report.findings
    );
    derivation
}

/// The candidates of a decision, with the fate of each.
fn candidates<'d>(derivation: &'d Derivation, name: &str) -> &'d [ReportedCandidate] {
    let mut decisions = derivation.report.decisions.iter();
    let decision = decisions.find(|decision| decision.name == name);
    &decision
        .unwrap_or_else(|| panic!("{name} was not asked"))
        .candidates
}

fn fate(derivation: &Derivation, name: &str, candidate: &str) -> Fate {
    let mut candidates = candidates(derivation, name).iter();
    let candidate = candidates.find(|one| one.name == candidate);
    candidate
        .unwrap_or_else(|| panic!("no such candidate of {name}"))
        .fate
}

fn fates(derivation: &Derivation) -> Vec<Fate> {
    fates_but(derivation, &[])
}

/// The fates of the candidates of all decisions but those of these names.
fn fates_but(derivation: &Derivation, names: &[&str]) -> Vec<Fate> {
    let decisions = derivation.report.decisions.iter();
    let decisions = decisions.filter(|decision| !names.contains(&decision.name));
    let options = decisions.flat_map(|decision| &decision.candidates);
    options.map(|option| option.fate).collect()
}

const REASONED: &str = "{%- if m.reasoning_content -%}<think>{{ m.reasoning_content }}</think>{%- endif -%}{{ m.content }}";

#[test]
fn where_everything_comes_back_nothing_else_is_tried() {
    let derivation = verified(&chat(REASONED));
    // What models write otherwise is decided behind the search.
    let late = ["delimiter written again", "reasoning behind text"];
    let fates = fates_but(&derivation, &late);
    assert!(fates.contains(&Fate::NotTried));
    let is_left = |fate: &Fate| matches!(fate, Fate::Taken | Fate::NotTried);
    assert!(fates.iter().all(is_left), "{fates:?}");
}

#[test]
fn what_is_asked_for_is_tried_and_nothing_is_taken_for_it() {
    let template = chat(REASONED);
    let options = Options {
        alternatives: true,
        ..Options::default()
    };
    let all = tried(&template, &options).unwrap();
    assert_eq!(all.document, derived(&template).document);
    let fates = fates(&all);
    assert!(!fates.contains(&Fate::NotTried), "{fates:?}");
    assert!(fates.contains(&Fate::Fails) && fates.contains(&Fate::NoBetter));
    // A reading that loses messages shows one of them.
    let none = candidates(&all, "reasoning")
        .iter()
        .find(|candidate| candidate.name == "none");
    let lost = none.and_then(|none| none.counterexample.as_ref()).unwrap();
    assert_ne!(lost.expected, lost.parsed);
    assert!(lost.response.contains("<think>"), "{lost:?}");
}

/// Words are markers here, which prose has as well: only what stands around them tells.
const WORDS: &str = "{%- for m in messages -%}{{ m.role }}\n{% if m.reasoning_content %}think\n{{ m.reasoning_content }}\nanswer\n{% endif %}\
                     {{ m.content }}\nend\n{% endfor -%}{%- if add_generation_prompt %}assistant\n{% endif -%}";

#[test]
fn a_reading_with_which_more_comes_back_takes_the_place_of_the_first() {
    let derivation = verified(WORDS);
    let options = candidates(&derivation, "content close");
    let (first, taken) = (
        &options[0],
        options
            .iter()
            .find(|candidate| candidate.fate == Fate::Taken),
    );
    assert_eq!(first.fate, Fate::Fails);
    assert_ne!(taken.map(|taken| &taken.name), Some(&first.name));
    let shown = first
        .counterexample
        .as_ref()
        .expect("a message that is lost");
    assert_ne!(shown.expected, shown.parsed);
    let mut findings = derivation.report.findings.iter();
    assert!(findings.any(|finding| finding.code == "corrected"));
}

/// The name of the candidate that was taken for a decision.
fn taken<'d>(derivation: &'d Derivation, name: &str) -> &'d str {
    let mut candidates = candidates(derivation, name).iter();
    let taken = candidates.find(|candidate| candidate.fate == Fate::Taken);
    &taken.expect("one is taken").name
}

/// A reasoning may end with `]]>`, which is the first of the two markers that close it.
#[test]
fn all_markers_close_a_text_that_may_end_with_the_first_of_them() {
    let template = chat(
        "{%- if m.reasoning_content -%}<muse><![CDATA[{{ m.reasoning_content }}]]></muse>{%- endif -%}<say>{{ m.content }}</say>\
         {%- for c in m.tool_calls or [] -%}<do {{ c.function.name }}>{%- for k, v in c.function.arguments.items() -%}\
         <put {{ k }}><![CDATA[{{ v | tojson | replace(']]>', ']]\\\\u003e') }}]]></put>{%- endfor -%}</do>{%- endfor -%}",
    );
    let derivation = verified(&template);
    let close = "reasoning close delimiter";
    assert_eq!(taken(&derivation, close), "all markers");
    assert_eq!(fate(&derivation, close, "the first marker"), Fate::Fails);
}

/// A content alone may have a fence in it, and one beside calls stands in a fence of its own.
#[test]
fn what_stands_around_content_behind_calls_alone_is_passed_over_where_it_ends() {
    let template = chat(
        "{%- if m.tool_calls -%}{%- for c in m.tool_calls -%}{{ '\\ndo ' ~ c.function.name ~ ' with ' ~ c.function.arguments|tojson }}{%- endfor -%}\
         {%- if m.content -%}{{ '\\n```text\\n' ~ m.content ~ '\\n```\\n' }}{%- endif -%}{%- else -%}{{ m.content }}{%- endif -%}",
    );
    let derivation = verified(&template);
    assert_eq!(
        taken(&derivation, "content close"),
        "where the turn ends or a call begins"
    );
}

/// Nothing closes a call but what opens the content behind it, which is a word that stands at the beginning of a line.
#[test]
fn a_call_ends_where_the_content_behind_it_is_opened() {
    for call in [
        "{{ '\\ndo ' ~ c.function.name ~ ' ' ~ c.function.arguments|tojson }}",
        "{{ '\\ndo ' ~ c.function.name }}{%- for k, v in c.function.arguments.items() -%}{{ '\\n  ' ~ k ~ ' = ' ~ v|tojson }}{%- endfor -%}",
    ] {
        let template = chat(&format!(
            "{{%- for c in m.tool_calls or [] -%}}{call}{{%- endfor -%}}{{%- if m.content -%}}{{{{ '\\nsay ' ~ m.content }}}}{{%- endif -%}}{{{{ '\\n' }}}}"
        ));
        verified(&template);
    }
}

#[test]
fn what_somebody_has_chosen_stays_although_less_comes_back() {
    let wanted = |candidate: &str| Options {
        prefer: vec![("content close".to_owned(), candidate.to_owned())],
        ..Options::default()
    };
    let kept = tried(WORDS, &wanted("pattern")).unwrap();
    assert!(!kept.report.verified);
    assert_eq!(fate(&kept, "content close", "pattern"), Fate::Taken);
    let fates: Vec<Fate> = candidates(&kept, "content close")
        .iter()
        .map(|candidate| candidate.fate)
        .collect();
    assert!(
        !fates.contains(&Fate::Fails),
        "no other is tried: {fates:?}"
    );
}

#[test]
fn what_cannot_be_chosen_is_told_with_what_can() {
    let wanted = |name: &str, candidate: &str| {
        let options = Options {
            prefer: vec![(name.to_owned(), candidate.to_owned())],
            ..Options::default()
        };
        tried(&chat(REASONED), &options).unwrap_err().to_string()
    };
    let unknown = wanted("weather", "fair");
    assert!(
        unknown.contains("`weather`") && unknown.contains("`content close`"),
        "{unknown}"
    );
    let unknown = wanted("content close", "fair");
    assert!(
        unknown.contains("`fair`") && unknown.contains("`literal`"),
        "{unknown}"
    );
}

#[test]
fn a_reading_that_is_no_better_does_not_take_the_place_of_the_first() {
    // The text says nothing of its content's end: both ways to write it are the same to every message.
    let options = Options {
        alternatives: true,
        ..Options::default()
    };
    let derivation = tried(&chat("{{ m.content }}"), &options).unwrap();
    assert!(derivation.report.verified);
    for decision in &derivation.report.decisions {
        assert_eq!(decision.candidates[0].fate, Fate::Taken, "{decision:#?}");
    }
}

#[test]
fn what_no_reading_brings_back_is_shown_with_the_least_that_is_lost() {
    // Two paragraphs are a reasoning and a content, or a content alone.
    let joined = "{%- if m.reasoning_content -%}{{ m.reasoning_content ~ '\\n\\n' }}{%- endif -%}{{ m.content }}";
    let derivation = derived(&chat(joined));
    assert!(!derivation.report.verified);
    let rounds = derivation.report.rounds;
    assert!(rounds.failed + rounds.inexpressible > 0, "{rounds:?}");
    let mut findings = derivation.report.findings.iter();
    let shown = findings
        .find_map(|finding| finding.counterexample.as_ref())
        .unwrap();
    assert_ne!(shown.expected, shown.parsed);
    assert!(shown.response.contains("\n\n"), "{shown:?}");
}

#[test]
fn the_same_is_settled_each_time() {
    let (one, other) = (derived(WORDS), derived(WORDS));
    assert_eq!(one.document, other.document);
    assert_eq!(fates(&one), fates(&other));
}

/// Whole, responses of this chat template are read right by candidates that transformers, fed one character at a time, reads otherwise.
#[test]
fn what_only_pieces_show_to_be_wrong_is_searched_in_pieces() {
    let template = include_str!("../../../tests/invented/call_triples.jinja");
    let derivation = verified(template);
    let decisions = derivation.report.decisions.iter();
    let tried = decisions.flat_map(|decision| &decision.candidates);
    let mut errors =
        tried.filter_map(|candidate| candidate.counterexample.as_ref()?.error.as_ref());
    assert!(errors.any(|error| error.contains("one character at a time")));
    let fates = fates(&derivation);
    assert!(!fates.contains(&Fate::NotTried), "{fates:?}");
}

/// The indented lines of the reasoning are read by an amendment. What is left then, an argument's name with a colon in it, is mended by a candidate
/// that brings back none of the messages that failed before.
#[test]
fn the_search_goes_on_where_amendments_leave_messages() {
    let template = include_str!("../../../tests/invented/reasoning_restructured.jinja");
    let derivation = verified(template);
    let taken = |name: &str| {
        let candidates = candidates(&derivation, name).iter();
        let mut taken = candidates.filter(|one| one.fate == Fate::Taken);
        taken.next().map(|one| one.name.as_str())
    };
    assert_eq!(taken("names of arguments"), Some("before all of it"));
}

/// A reasoning, which may be empty, stands behind a word that is one with the anchor, and another word always closes it. That word may as well open
/// the content. To take it for the close of the reasoning asks where the reasoning begins, and the first candidate for that fails: only the two
/// changes together help.
#[test]
fn a_candidate_is_tried_with_those_of_the_decisions_that_it_brings_up() {
    let template = "{%- for m in messages -%}{%- if m.role == 'assistant' -%}bot: muse\
                    {%- if m.reasoning_content %}\n{{ m.reasoning_content }}\n{% endif -%}enough\
                    {%- if m.content %}\n{{ m.content }}{% endif -%}\
                    {%- for call in m.tool_calls or [] %}\n<do {{ call.function.name }}>{{ call.function.arguments | tojson }}</do>\
                    {%- endfor -%}<end>\
                    {%- else -%}{{ m.role }}: {{ m.content }}<end>{%- endif -%}{%- endfor -%}\
                    {%- if add_generation_prompt -%}bot: muse{%- if think %}\n{% else -%}enough{%- endif -%}{%- endif -%}";
    let derivation = verified(template);
    let reasoning = "reasoning open delimiter";
    assert_eq!(
        fate(&derivation, reasoning, "from the beginning"),
        Fate::Taken
    );
}

/// The prompt and an answer without reasoning have the beginning of one marker in common, `(thinking: `, with which the turn does not begin. To begin
/// it sooner reads all in it anew, and the first candidate for what opens the content fails then.
#[test]
fn where_the_turn_begins_is_tried_with_what_is_read_anew() {
    let template = include_str!("../../../tests/invented/reasoning_effort_off.jinja");
    let derivation = verified(template);
    let anchor = fate(&derivation, "anchor", "without its last token");
    assert_eq!(anchor, Fate::Taken);
    assert_eq!(taken(&derivation, "content open"), "plain");
}

/// A reasoning is closed by another marker where calls follow it, behind which stand all the constants of a call.
#[test]
fn a_marker_is_learnt_before_a_long_stretch_of_constants() {
    let answer = "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}\
                  {% if m.tool_calls and m.content %}<both>{% elif m.tool_calls %}<act>{% else %}<speak>{% endif %}{% endif %}\
                  {% if m.content %}<t>{{ m.content }}</t>{% endif %}\
                  {% for c in m.tool_calls or [] %}<c>{{ c.function | tojson }}</c>{% endfor %}";
    verified(&chat(answer));
}

/// A text may have what closes a call in it, on a line of its own as well; what ends an argument stands before each that closes one.
#[test]
fn a_call_is_closed_behind_the_end_of_an_argument() {
    let template = include_str!("../../../tests/invented/call_python_triple.jinja");
    let derivation = verified(template);
    assert_eq!(
        taken(&derivation, "call close"),
        "behind the end of an argument"
    );
}

/// A reasoning is closed by two words, of which the first stands elsewhere as well, and a line of a text may begin with it.
#[test]
fn all_words_close_a_reasoning_where_one_would_do_otherwise() {
    let template = include_str!("../../../tests/invented/turn_end_named_words.jinja");
    let derivation = verified(template);
    assert_eq!(
        taken(&derivation, "reasoning close delimiter"),
        "all markers"
    );
}

/// Texts of every day have words and punctuation within a line that a format has on a line of its own.
#[test]
fn markers_on_a_line_of_their_own_are_told_from_those_within_a_line() {
    let content = "{{ m.content or '' }}";
    let open = "{% for c in m.tool_calls or [] %}{{ '\nuse ' }}{{ c.function.name }}\n{{ c.function.arguments | tojson }}\n{% endfor %}";
    let derivation = verified(&chat(&format!("{content}{open}")));
    assert_eq!(taken(&derivation, "call open"), "where arguments follow");
    // Nothing closes what is thought but the next part, or the end of the turn.
    let derivation = verified(include_str!(
        "../../../tests/invented/call_items_with.jinja"
    ));
    assert_eq!(
        taken(&derivation, "reasoning close delimiter"),
        "what follows, where a line begins"
    );
    let template = include_str!("../../../tests/invented/call_turns_of_their_own.jinja");
    assert_eq!(
        taken(&verified(template), "content close"),
        "with the white space before it"
    );
}

/// A number begins each call, and a value may look like the beginning of another one but for where it stands; and so may a word within a text look
/// like the one that ends all calls.
#[test]
fn a_number_begins_a_call_only_where_a_line_begins() {
    let answer = "{% if m.tool_calls %}errands\n{% for c in m.tool_calls %}  {{ loop.index }}. {{ c.function.name }}\n\
                  {% for k, v in c.function.arguments.items() %}     - {{ k }}: {{ v | tojson }}\n{% endfor %}{% endfor %}done\n{% endif %}\
                  {% if m.content %}words\n{{ m.content }}\nspoken\n{% endif %}";
    for (end, expected) in [
        ("<done>", "where the next begins a line or the turn ends"),
        ("done", "where the next or the end of all begins a line"),
    ] {
        let derivation = verified(&chat(&answer.replace("done", end)));
        assert_eq!(taken(&derivation, "call close"), expected, "{end}");
    }
}

/// A text that stands before the content only where there is no reasoning opens nothing.
#[test]
fn what_stands_for_no_reasoning_is_passed_over() {
    let answer = "{%- if m.reasoning_content -%}<think>{{ m.reasoning_content }}</think>{%- else -%}<skip>{%- endif -%}{{ m.content }}";
    let derivation = verified(&chat(answer));
    let taken = fate(&derivation, "content open", "without a reasoning alone");
    assert_eq!(taken, Fate::Taken);
}

/// Paragraphs of a reasoning that each stand between markers are put together as the message has them, with the white space at their ends.
#[test]
fn a_reasoning_in_parts_is_joined_as_it_was_parted() {
    let parts = |at: &str| {
        let answer = format!(
            "{{%- for part in (m.reasoning_content or '').split('{at}') if m.reasoning_content -%}}<step>{{{{ part }}}}</step>{{%- endfor -%}}{{{{ m.content }}}}"
        );
        let derivation = verified(&chat(&answer));
        derivation.document.fields["reasoning_content"].join.clone()
    };
    assert_eq!(parts("\\n\\n").as_deref(), Some("\n\n"));
    assert_eq!(parts("\\n").as_deref(), Some("\n"));
    let whole = verified(&chat(REASONED));
    let join = whole.document.fields["reasoning_content"].join.as_deref();
    assert_eq!(join, Some(""));
}

/// A recipient that the message names stands where another word stands without it.
#[test]
fn a_text_in_the_place_of_a_word_is_told_from_it() {
    let template = "{%- for m in messages -%}{%- if m.role == 'assistant' -%}\
        {%- if m.reasoning_content -%}<bot>to=me|{{ m.reasoning_content }}<end>{%- endif -%}\
        <bot>to={{ m.recipient or 'you' }}|{{ m.content }}<end>\
        {%- else -%}<{{ m.role }}>{{ m.content }}<end>{%- endif -%}{%- endfor -%}\
        {%- if add_generation_prompt -%}<bot>{%- endif -%}";
    let derivation = verified(template);
    assert_eq!(fate(&derivation, "further texts", "as fields"), Fate::Taken);
    let apart = fate(&derivation, "parts that begin alike", "told apart");
    assert_eq!(apart, Fate::Taken);
    assert!(derivation.document.fields.contains_key("recipient"));
    // Within an answer it opens nothing.
    let template =
        crate::response_template::ResponseTemplate::from_value(&derivation.document.to_value());
    let response = "to=you|Set to=5|6.<end>";
    let message = crate::parser::parse_response(response, template.unwrap(), "", &[]).unwrap();
    assert_eq!(message["content"], crate::value::Value::from("Set to=5|6."));
}

/// Some servers put the names of calls into their ids, and the chat template then writes the ids alone.
#[test]
fn names_of_calls_are_read_from_ids_where_nothing_else_has_them() {
    let calls = "{{ m.content or '' }}{% for c in m.tool_calls or [] %}<call {{ c.id }}>\
                 {{ c.function.arguments | tojson }}</call>{% endfor %}";
    let derivation = derived(&chat(calls));
    assert_eq!(derivation.report.verdict, Verdict::ProvedInPart);
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    for (id, name) in [
        ("functions.find:0", "find"),
        ("find", "find"),
        ("a1b2", "a1b2"),
    ] {
        let response = format!("Ok.<call {id}>{{\"a\": 1}}</call><end>");
        let message = parse_response(&response, template.clone(), "", &[]).unwrap();
        let call = &message["tool_calls"].as_array().unwrap()[0];
        assert_eq!(call.get("id").and_then(Value::as_str), Some(id));
        let function = call.get("function").unwrap();
        assert_eq!(function.get("name").and_then(Value::as_str), Some(name));
    }
}

/// A chat template with one call in a message, the markers of which are between these signs.
fn one_call(open: &str, close: &str, behind: &str) -> String {
    let template = format!(
        r#"{{%- for m in messages -%}}
{{%- if m.role == 'assistant' -%}}
{{{{ 'Lbot_R' }}}}
{{%- if m.tool_calls -%}}
{{%- set call = m.tool_calls[0].function -%}}
{{{{ '{{"do": "' + call.name + '", "with": ' + (call.arguments | tojson) + '}}' }}}}{behind}
{{%- else -%}}
{{{{ m.content + 'LendR' }}}}
{{%- endif -%}}
{{%- else -%}}
{{{{ 'L' + m.role + 'R' + m.content + 'LnextR' }}}}
{{%- endif -%}}
{{%- endfor -%}}
{{%- if add_generation_prompt -%}}{{{{ 'Lbot_R' }}}}{{%- endif -%}}"#
    );
    template.replace('L', open).replace('R', close)
}

/// A marker that ends with the character that closes a call is found like any other.
#[test]
fn a_marker_may_end_with_what_closes_a_call() {
    for behind in [
        "{{- 'LstopR' if brief is defined and brief else 'LendR' -}}",
        "{{- 'LdoneRLoverR' -}}",
    ] {
        let document = |open: &str, close: &str| {
            let derivation = verified(&one_call(open, close, behind));
            derivation.document.fields["tool_calls"].clone()
        };
        let (one, other) = (document("<", ">"), document("{", "}"));
        assert_eq!(one.transform, other.transform);
        assert_eq!(one.content, other.content);
    }
}

/// The message to which the response parses behind `<bot>`.
fn parsed(derivation: &Derivation, response: &str) -> Value {
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    Value::Object(parse_response(response, template, "<bot>", &[]).unwrap())
}

/// The names of the calls of a message, and its content.
fn calls_and_content(message: &Value) -> (Vec<String>, String) {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let names = calls.unwrap_or_default().iter().filter_map(|call| {
        let name = call.get("function")?.get("name")?.as_str()?;
        Some(name.to_owned())
    });
    let content = message.get("content").and_then(Value::as_str);
    (names.collect(), content.unwrap_or_default().to_owned())
}

/// Of a section and its first call in one constant, the call's beginning is told by what stands between two calls.
#[test]
fn what_begins_each_call_may_be_the_end_of_a_constant() {
    let calls = "{{ m.content or '' }}{% for c in m.tool_calls or [] %}{{ '<calls><call>' if loop.first else '<call>' }}{{ c.function.name }}<with>{{ c.function.arguments | tojson }}</call>{{ '</calls>' if loop.last }}{% endfor %}";
    let derivation = verified(&chat(calls));
    let response = r#"<calls><call>f<with>{"a": 1}</call>So.<call>g<with>{}</call></calls><end>"#;
    let expected = (vec!["f".to_owned(), "g".to_owned()], "So.".to_owned());
    assert_eq!(calls_and_content(&parsed(&derivation, response)), expected);
    let without_section = r#"<call>f<with>{"a": 1}</call><end>"#;
    assert_eq!(
        calls_and_content(&parsed(&derivation, without_section)).0,
        ["f"]
    );
}

/// A turn with calls may end otherwise than one without; either ends the content.
#[test]
fn what_ends_a_turn_with_calls_ends_the_content() {
    let source = "{%- for m in messages -%}{%- if m.role == 'assistant' -%}<bot>{{ m.content or '' }}{% for c in m.tool_calls or [] %}<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>{% endfor %}{{ '<eom>' if m.tool_calls else '<eot>' }}{%- else -%}<{{ m.role }}>{{ m.content }}<eot>{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}<bot>{%- endif -%}";
    let derivation = verified(source);
    for (response, names, content) in [
        ("Hi<eom>", &[][..], "Hi"),
        ("<call>f {}</call>\nWait.<eom>", &["f"], "Wait."),
    ] {
        let (found, text) = calls_and_content(&parsed(&derivation, response));
        assert_eq!(found, names, "{response}");
        assert_eq!(text.trim(), content, "{response}");
    }
}

/// One constant may close one marker and open the next, with white space between them.
#[test]
fn white_space_may_part_a_key_from_its_value_within_a_constant() {
    let calls = "{{ m.content or '' }}{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}{% for k, v in c.function.arguments.items() %}<key>{{ k }}</key><value>{{ v if v is string else v | tojson }}</value>{% endfor %}</call>{% endfor %}";
    let derivation = verified(&chat(calls));
    let response = "<call>f<key>a</key>\n<value>x</value></call><end>";
    let message = parsed(&derivation, response);
    let calls = message.get("tool_calls").and_then(Value::as_array).unwrap();
    let arguments = calls[0].get("function").unwrap().get("arguments").unwrap();
    assert_eq!(arguments.get("a").and_then(Value::as_str), Some("x"));
}

/// The end of a list of calls may stand in a text of an earlier call.
#[test]
fn the_end_of_a_list_of_calls_may_stand_in_a_text() {
    let calls = "{{ m.content or '' }}{% if m.tool_calls %}``run\n{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %})\n{% endfor %}``{% endif %}";
    let derivation = verified(&chat(calls));
    let response = "``run\nwrite(text=\"``\")\nread()\n``<end>";
    let (names, _) = calls_and_content(&parsed(&derivation, response));
    assert_eq!(names, ["write", "read"]);
}

/// Other members with plain values may stand before the name in an object.
#[test]
fn a_call_that_is_an_object_may_begin_with_another_member() {
    let calls = "{% if m.tool_calls %}{% for c in m.tool_calls %}{% if not loop.first %}{{ raise_exception('one call') }}{% endif %}{\"name\": \"{{ c.function.name }}\", \"with\": {{ c.function.arguments | tojson }}}{% endfor %}{% else %}{{ m.content }}{% endif %}";
    let derivation = derived(&chat(calls));
    for response in [
        r#"{"type": "function", "name": "f", "with": {"a": 1}}<end>"#,
        r#"{"name": "f", "with": {"a": 1}}<end>"#,
    ] {
        let (names, _) = calls_and_content(&parsed(&derivation, response));
        assert_eq!(names, ["f"], "{response}");
    }
}

/// Nothing ends a turn, so that the model writes what begins the next message, where engines stop.
#[test]
fn a_turn_that_nothing_ends_ends_where_the_next_message_begins() {
    let source = "{%- for m in messages -%}{{ '<bot>' if m.role == 'assistant' else '<~' ~ m.role ~ '~>' }}{{ m.content or '' }}{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}{%- endfor -%}{%- if add_generation_prompt -%}<bot>{%- endif -%}";
    let derivation = verified(source);
    let call = "<call>{\"name\": \"f\", \"arguments\": {}}</call><~tool~>";
    for (response, names, content) in [
        ("Hi<~user~>", &[][..], "Hi"),
        ("Hi<~user~> is said", &[], "Hi<~user~> is said"),
        (call, &["f"], ""),
    ] {
        let (found, text) = calls_and_content(&parsed(&derivation, response));
        assert_eq!(found, names, "{response}");
        assert_eq!(text, content, "{response}");
    }
    // A response may end with a word, and with what begins a line elsewhere.
    let lines = "{%- for m in messages -%}{{ '<bot>' if m.role == 'assistant' else 'Q: ' }}{{ m.content }}\n{% endfor %}{%- if add_generation_prompt -%}<bot>{%- endif -%}";
    let derivation = verified(lines);
    for (response, content) in [("Read the FAQ:", "Read the FAQ:"), ("Hi\nQ:", "Hi")] {
        let (_, text) = calls_and_content(&parsed(&derivation, response));
        assert_eq!(text, content, "{response}");
    }
    let derivation = derived(&source.replace("'<~' ~ m.role ~ '~>'", "m.role"));
    let (_, text) = calls_and_content(&parsed(&derivation, "Ask the user"));
    assert_eq!(text, "Ask the user");
}

/// A word in a system message has the prompt close a reasoning that the chat template drops from every answer.
#[test]
fn a_prompt_may_show_the_reasoning_behind_a_message_with_a_word() {
    let source = "{%- set quiet = namespace(it=false) -%}{%- for m in messages -%}{{ '<bot>' if m.role == 'assistant' else '<' ~ m.role ~ '>' }}{%- if m.role == 'system' and '/quiet' in m.content -%}{%- set quiet.it = true -%}{%- endif -%}{{ m.content.split('</muse>')[-1].lstrip() if m.role == 'assistant' else m.content }}<end>{%- endfor -%}{%- if add_generation_prompt -%}<bot>{{ '<muse>\n\n</muse>\n\n' if quiet.it }}{%- endif -%}";
    let message = parsed(&derived(source), "<muse>\nHm.\n</muse>\n\nHi<end>");
    let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
    assert_eq!((text("thinking").trim(), text("content")), ("Hm.", "Hi"));
}

/// The text that is rendered between markers stands under a key that no reasoning has, and the prompt opens another.
#[test]
fn a_prompt_may_open_a_reasoning_beside_another_text() {
    let source = "{%- for m in messages -%}{{ '<bot>' if m.role == 'assistant' else '<' ~ m.role ~ '>' }}{{ m.content or '' }}{%- if m.deeds -%}<deeds>{{ m.deeds }}</deeds>{%- endif -%}<end>{%- endfor -%}{%- if add_generation_prompt -%}<bot><muse>{%- endif -%}";
    let derivation = derived(source);
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    let response = "Hm.</muse>Hi<deeds>run()</deeds><end>";
    let message = parse_response(response, template, "<bot><muse>", &[]).unwrap();
    let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
    assert_eq!(
        ["thinking", "content", "deeds"].map(text),
        ["Hm.", "Hi", "run()"]
    );
}

/// A reasoning has a marker behind it, and a message without one has none.
#[test]
fn a_reasoning_that_nothing_opens_may_be_missing() {
    let template =
        chat("{%- if m.thinking -%}{{ m.thinking }}</think>{%- endif -%}{{ m.content }}");
    let derivation = verified(&template);
    let open = "reasoning open delimiter";
    assert_eq!(
        taken(&derivation, open),
        "from the beginning, where something closes it"
    );
}

/// An engine keeps to itself what ends the turn, and every reasoning before a call is left open.
#[test]
fn a_reasoning_that_renders_leave_open_ends_at_the_last_call() {
    let template = chat(
        "{%- if m.thinking -%}Thought: {{ m.thinking }}{{ '\\n' }}{%- if m.content -%}Answer: {% endif -%}{%- endif -%}{{ m.content }}\
         {%- for c in m.tool_calls or [] -%}<call>{{ c.function | tojson }}</call>{%- endfor -%}",
    );
    let derivation = verified(&template);
    assert_eq!(
        taken(&derivation, "unclosed reasoning"),
        "ends at calls that end the response"
    );
}

/// The first form of calls leaves both the calls and the content without anything that opens them; the reasoning is not to blame for that.
#[test]
fn a_draft_that_gives_up_the_reasoning_leads_on_last() {
    let template = chat(
        "{%- if m.thinking and loop.last -%}<r>{{ m.thinking }}</r>{%- elif loop.last -%}<r></r>{%- endif -%}{{ m.content }}\
         {%- for c in m.tool_calls or [] -%}{{ c.function | tojson }}{%- endfor -%}",
    );
    let derivation = verified(&template);
    assert_ne!(taken(&derivation, "reasoning"), "none");
}

/// The end of the turn is a delimiter only where the content is what is left, and tells then what closes a call from the same in a text.
#[test]
fn delimiters_are_told_from_texts_where_the_content_is_what_is_left() {
    verified(&chat(
        "{%- if m.content -%}<say>{{ m.content }}</say>{%- endif -%}{%- for c in m.tool_calls or [] -%}<call {{ c.function.name }}\
         {%- for k, v in c.function.arguments.items() %} {{ k }}={{ v | tojson }}{% endfor -%}/>{%- if not loop.last -%}{{ '\\n' }}{%- endif -%}{%- endfor -%}",
    ));
}

/// An answer in a fence may have a fence in it.
#[test]
fn the_last_of_several_markers_tells_the_first_from_a_text() {
    let derivation = verified(&chat("{{ '```final\\n' ~ m.content ~ '\\n```\\n' }}"));
    assert_eq!(
        taken(&derivation, "content close"),
        "all markers, or the first where the response ends"
    );
}
