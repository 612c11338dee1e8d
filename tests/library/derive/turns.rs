//! Chat templates whose turns have their parts, or their beginning and end, elsewhere than most.

use std::sync::Arc;

use crate::support::deriving::{derive_text, findings, told, turns, turns_with};
use obverse::derive::{ContentMode, Derivation, Options, ReasoningMode, Verdict};
use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::Value;

/// Calls in a dialect of JSON, with their arguments in the order of the alphabet. `null` is written as the expression.
fn dialect(null: &str) -> String {
    format!(
        "{{%- macro write(v) -%}}\
         {{%- if v is string -%}}<q>{{{{ v }}}}</q>\
         {{%- elif v is none -%}}{null}\
         {{%- elif v is mapping -%}}{{{{ '{{' }}}}{{%- for k, x in v | dictsort -%}}{{{{ k }}}}:{{{{ write(x) }}}}{{{{ ',' if not loop.last }}}}{{%- endfor -%}}{{{{ '}}' }}}}\
         {{%- elif v is sequence -%}}[{{%- for x in v -%}}{{{{ write(x) }}}}{{{{ ',' if not loop.last }}}}{{%- endfor -%}}]\
         {{%- else -%}}{{{{ v | tojson }}}}{{%- endif -%}}\
         {{%- endmacro -%}}\
         {{% for c in m.tool_calls %}}<call>do:{{{{ c.function.name }}}}{{{{ write(c.function.arguments) }}}}</call>{{% endfor %}}"
    )
}

fn has_two_calls(derivation: &Derivation) -> bool {
    derivation.cases.iter().any(|case| {
        let calls = case.message.get("tool_calls").and_then(Value::as_array);
        calls.is_some_and(|calls| calls.len() == 2)
    })
}

#[test]
fn arguments_in_another_order_than_given() {
    let derivation = turns(&format!("{{{{ m.content }}}}{}", dialect("null")), "<bot>");
    let report = &derivation.report;
    // Names without quotes can have no dash in them, as the format reads such JSON.
    only_inexpressible(report, &["names of arguments stand without quotes"]);
    assert!(has_two_calls(&derivation));
}

/// Nothing fails but what no response template reads, for these reasons.
fn only_inexpressible(report: &obverse::derive::Report, reasons: &[&str]) {
    assert_eq!(
        report.verdict,
        Verdict::Inexpressible,
        "{:#?}",
        report.findings
    );
    assert_eq!(report.rounds.failed, 0);
    let told = |reason: &&str| {
        let mut findings = report.findings.iter();
        findings.any(|finding| finding.text.contains(reason))
    };
    assert!(reasons.iter().all(told), "{:#?}", report.findings);
}

#[test]
fn signs_that_are_written_otherwise_are_told() {
    let told = |reasoning: &str, content: &str| {
        let turn = format!("{{% if m.thinking %}}[R]{reasoning}[/R]{{% endif %}}{content}");
        turns(&turn, "<bot>").report
    };
    let escaped = told("{{ m.thinking | e }}", "{{ m.content | e }}");
    only_inexpressible(
        &escaped,
        &[
            "characters of the content otherwise than they are (& < > ' \")",
            "characters of a reasoning otherwise than they are (& < > ' \")",
        ],
    );
    let left_out = told("{{ m.thinking }}", "{{ m.content | replace('*', '') }}");
    only_inexpressible(
        &left_out,
        &["characters of the content otherwise than they are (*)"],
    );
    let as_they_are = told("{{ m.thinking }}", "{{ m.content }}");
    assert_eq!(as_they_are.verdict, Verdict::Proved);
}

/// The role stands behind each message, so that an answer begins behind another text where it answers a tool's result.
#[test]
fn results_are_answered_where_no_calls_are_rendered() {
    let derivation =
        derive_text("{%- for m in messages -%}{{ m.content }} -- {{ m.role }};\n{%- endfor -%}")
            .expect("derived");
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    let begins = |role: &str| {
        let anchors = report.start_anchor.iter();
        anchors.filter(|anchor| anchor.contains(role)).count()
    };
    assert_eq!((begins("user"), begins("tool")), (1, 1), "{report:#?}");
}

/// A number that is counted is told by its name, and not by what stands for it within.
#[test]
fn counted_numbers_are_told_in_markers() {
    let derivation = derive_text(
        "{%- for m in messages %}[{{ loop.index }}|{{ m.role }}]\
         {%- if m.thinking %}<t{{ loop.index }}>{{ m.thinking }}</t{{ loop.index }}>{% endif %}{{ m.content }}[end]\
         {%- endfor %}\
         {%- if add_generation_prompt %}[{{ messages | length + 1 }}|assistant]{% endif %}",
    )
    .expect("derived");
    let report = &derivation.report;
    assert_eq!(report.start_anchor, ["[NUMBER|assistant]"]);
    assert_eq!(report.reasoning.open, "<tNUMBER>");
    assert_eq!(report.reasoning.close, "</tNUMBER>");
}

#[test]
fn a_word_that_is_not_json_is_told() {
    let derivation = turns(&format!("{{{{ m.content }}}}{}", dialect("None")), "<bot>");
    let report = &derivation.report;
    only_inexpressible(
        report,
        &["names of arguments stand without quotes", "bare word None"],
    );
    assert!(has_two_calls(&derivation));
}

/// The content after the calls has an end of its own, which also ends a turn of calls alone.
#[test]
fn content_after_calls() {
    let derivation = derive_text(
        "{%- for m in messages %}\
         {%- if m.role == 'assistant' %}<bot>\
         {%- for c in m.tool_calls %}<call>{{ c.function | tojson }}</call>{% endfor %}{{ m.content }}\
         {{- '<wait>' if m.tool_calls else '<end>' }}\
         {%- else %}<{{ m.role }}>{{ m.content }}<end>{%- endif %}\
         {%- endfor %}\
         {%- if add_generation_prompt %}<bot>{% endif %}",
    )
    .expect("derived");
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    assert!(report.supports.content_with_calls);
    let both = derivation.cases.iter().find(|case| {
        case.message.get("content").is_some() && case.message.get("tool_calls").is_some()
    });
    assert!(both.expect("a case").response.ends_with(" thicket<wait>"));
}

/// Reasoning is rendered only in a turn with calls, with and without an empty one where there is none.
#[test]
fn reasoning_beside_calls_only() {
    let optional = "{% if m.plan %}<why>{{ m.plan }}</why>{% endif %}";
    let always = "<why>{{ m.plan }}</why>";
    for plan in [optional, always] {
        let derivation = turns(
            &format!(
                "{{% if m.tool_calls %}}{plan}{{% for c in m.tool_calls %}}<call>{{{{ c.function | tojson }}}}</call>{{% endfor %}}\
                 {{% else %}}{{{{ m.content }}}}{{% endif %}}"
            ),
            "<bot>",
        );
        let report = &derivation.report;
        assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
        assert_eq!(report.reasoning.mode, ReasoningMode::TagBased);
        assert_eq!(
            (
                report.reasoning.open.as_str(),
                report.reasoning.close.as_str()
            ),
            ("<why>", "</why>")
        );
        let planned = derivation.cases.iter().any(|case| {
            case.message.get("plan").is_some() && case.message.get("tool_calls").is_some()
        });
        assert!(planned, "no case of a plan and calls");
        // Beside content it is left out, which is said.
        assert!(findings(&derivation).contains(&"not-rendered"));
    }
}

/// After a tool's result the prompt ends without the header that the answered conversation then has.
#[test]
fn a_header_that_only_the_answered_conversation_has() {
    let derivation = derive_text(
        "{%- for m in messages %}\
         {%- if m.role == 'assistant' %}<bot>{{ m.content }}{% for c in m.tool_calls %}<call>{{ c.function | tojson }}</call>{% endfor %}<end>\
         {%- elif m.role == 'tool' %}<result>{{ m.content }}</result>\
         {%- else %}<{{ m.role }}>{{ m.content }}<end>{%- endif %}\
         {%- endfor %}\
         {%- if add_generation_prompt and messages[-1].role != 'tool' %}<bot>{% endif %}",
    )
    .expect("derived");
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    assert_eq!(report.start_anchor, ["<bot>", "</result>"]);
    let with_header = |case: &&obverse::derive::Case| case.response.starts_with("<bot>");
    assert!(derivation.cases.iter().any(|case| with_header(&case)));
}

/// Content and calls have wrappers of their own, which stand there without content too, and what wraps the reasoning begins as
/// they do.
#[test]
fn every_part_in_a_wrapper_that_begins_alike() {
    let wrap = |part: &str, body: &str| format!("<in>{part}<sep>{body}<out>{part}<sep>");
    let assistant = format!(
        "{{% if thinking | default(true) %}}{}{{% endif %}}{}{{% if m.tool_calls %}}{}{{% endif %}}<out>turn<sep>",
        wrap("think", "{{ m.reasoning_content }}"),
        wrap("say", "{{ m.content }}"),
        wrap(
            "tools",
            "{% for c in m.tool_calls %}<in>call {{ c.function.name }}<sep>{% for k, v in c.function.arguments.items() %}<in>{{ k }} {{ 'string' if v is string else 'null' if v is none else 'other' }}<sep>{{ v if v is string else v | tojson }}<out>{{ k }}<sep>{% endfor %}<out>call<sep>{% endfor %}"
        ),
    );
    let prompt = "<bot><in>{{ 'think' if thinking | default(true) else 'say' }}<sep>";
    let derivation = turns(&assistant, prompt);
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    // A text that every part begins with belongs to each of them.
    assert_eq!(report.start_anchor, ["<bot>"]);
    assert_eq!(report.reasoning.open, "<in>think<sep>");
    assert_eq!(report.content.open, "<in>say<sep>");
}

/// An answer without reasoning begins with the end of one, which the prompt leaves to the model.
/// Between the end of a section of calls and that of the turn a model may write white space that no render has there.
#[test]
fn white_space_before_the_end_of_a_turn_whose_parts_are_wrapped() {
    let turn = "{% if m.content %}<say>{{ m.content }}</say>{% endif %}\
                {% for c in m.tool_calls or [] %}{{ '<acts>' if loop.first }}<call {{ c.function.name }}>{{ c.function.arguments | tojson }}</call>{{ '</acts>' if loop.last }}{% endfor %}";
    let derivation = turns(turn, "<bot>");
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    let response = r#"<acts><call f>{"a": 1}</call></acts>{SPACE}<end>"#;
    let template = Arc::new(template);
    let read = |space: &str| {
        let response = response.replace("{SPACE}", space);
        parse_response(&response, Arc::clone(&template), "<bot>", &[]).unwrap()
    };
    assert_eq!(read("\n"), read(""));
    assert!(
        read("\n")
            .get("content")
            .is_none_or(|text| !text.is_truthy())
    );
}

#[test]
fn reasoning_that_is_closed_without_being_opened() {
    let derivation = turns(
        "{% if m.reasoning_content %}<r>{{ m.reasoning_content }}{% endif %}</r>{{ m.content }}",
        "<bot>{{ '<r>' if thinking }}",
    );
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    let model_closes = derivation
        .cases
        .iter()
        .any(|case| case.prefix.ends_with("<bot>") && case.response.starts_with("</r>"));
    assert!(model_closes, "no such response was tried");
}

#[test]
fn arguments_that_are_left_out_where_they_are_null() {
    let derivation = turns(
        "{{ m.content }}{% for c in m.tool_calls %}<call {{ c.function.name }}>{% for k, v in c.function.arguments.items() if v is not none %}<{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>{% endfor %}</call>{% endfor %}",
        "<bot>",
    );
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert!(findings(&derivation).contains(&"not-rendered"));
}

/// The prompt stands at the end of every conversation, and what it writes into the turn is not what an answer begins with.
#[test]
fn a_prompt_that_nobody_asked_for() {
    let derivation = derive_text(
        "<s>{%- for m in messages %}<turn>\
         {%- if m.role == 'assistant' %}<bot>\
         {%- if m.tool_calls %}<why>{{ m.plan }}</why><do>{{ m.tool_calls | map(attribute='function') | list | tojson }}</do>\
         {%- else %}<say>{{ m.content }}</say>{% endif %}\
         {%- else %}<{{ m.role }}>{{ m.content }}{%- endif %}</turn>\
         {%- endfor %}<turn><bot><why></why>",
    )
    .expect("derived");
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    assert_eq!(report.start_anchor, ["<turn><bot>"]);
    assert_eq!(report.content.open, "<say>");
    assert_eq!(report.content.close, "</say></turn>");
    assert!(has_two_calls(&derivation));
}

/// The last marker of a turn is the one at which engines stop, and they may leave it out.
#[test]
fn a_turn_that_is_stopped_at_its_last_marker() {
    let derivation = turns("<say>{{ m.content }}</say>", "<bot>");
    assert_eq!(derivation.report.content.close, "</say><end>");
    let document = derivation.document.to_value();
    let template = Arc::new(ResponseTemplate::from_value(&document).expect("valid"));
    for response in ["<say>Hello</say><end>", "<say>Hello</say>"] {
        let message = parse_response(response, template.clone(), "", &[]).expect("parsed");
        assert_eq!(
            message.get("content").and_then(Value::as_str),
            Some("Hello"),
            "{response}"
        );
    }
}

/// After a tool's result the prompt writes white space and a reasoning, begun or empty, and the answer no header.
#[test]
fn a_turn_that_white_space_begins() {
    let derivation = derive_text(
        "{%- for m in messages %}\
         {%- if m.role == 'assistant' %}\
         {%- if messages[loop.index0 - 1].role != 'tool' %}<bot>{% else %}{{ '\n\n' }}{% endif %}\
         {%- if think and loop.last %}[R]{{ m.thinking }}{% endif %}[/R]{{ m.content }}\
         {%- for c in m.tool_calls %}<call>{{ c.function | tojson }}</call>{% endfor %}<end>\
         {%- elif m.role == 'tool' %}<result>{{ m.content }}</result>\
         {%- else %}<{{ m.role }}>{{ m.content }}<end>{%- endif %}\
         {%- endfor %}\
         {%- if add_generation_prompt %}{{ '\n\n' if messages[-1].role == 'tool' else '<bot>' }}[R]{{ '' if think else '[/R]' }}{% endif %}",
    )
    .expect("derived");
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    let after_result = "</result>\n\n".to_owned();
    assert!(
        report.start_anchor.contains(&after_result),
        "{:?}",
        report.start_anchor
    );
    assert!(!findings(&derivation).contains(&"turn-not-marked"));
}

/// Under one setting the template writes no prompt, which says nothing of where a turn begins.
#[test]
fn a_setting_that_silences_the_prompt() {
    let derivation = turns(
        "[R]{{ m.thinking }}[/R]{{ m.content }}",
        "{% if mode != 'retry' %}<bot>{{ '[R]' if mode == 'high' else '[R][/R]' }}{% endif %}",
    );
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    assert_eq!(report.start_anchor, ["<bot>"]);
    assert_eq!(report.reasoning.open, "[R]");
}

/// Some texts are quoted as a whole, the others stand as they are.
#[test]
fn texts_that_are_quoted_only_where_they_have_to_be() {
    let derivation = turns(
        "{{ m.content }}{% for c in m.tool_calls %}<call={{ c.function.name }}>\
         {%- for k, v in c.function.arguments.items() -%}\
         <p={{ k }}>{%- if v is string and ('<' in v or '\n' in v) -%}<raw>{{ v }}</raw>{%- else -%}{{ v if v is string else v | tojson }}{%- endif -%}</p>\
         {%- endfor -%}</call>{% endfor %}",
        "<bot>",
    );
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    let quoted = |case: &&obverse::derive::Case| case.response.contains("<raw>two\nlines</raw>");
    assert!(derivation.cases.iter().any(|case| quoted(&case)));
}

/// Each call is an object whose one key is the name: nothing that a text could not have as well, but for the list around.
#[test]
fn calls_in_a_list_with_their_names_for_keys() {
    let derivation = turns(
        "{{ m.content }}{% if m.tool_calls %}<calls>[{% for c in m.tool_calls %}{{ '{\"' }}{{ c.function.name }}\": {{ c.function.arguments | tojson }}{{ '}' }}{{ ', ' if not loop.last }}{% endfor %}]</calls>{% endif %}",
        "<bot>",
    );
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    assert!(has_two_calls(&derivation));
    let prose = |case: &&obverse::derive::Case| case.response.contains("{\"json\": [1, 2]}");
    assert!(derivation.cases.iter().any(|case| prose(&case)));
}

/// Some templates end every conversation with an instruction, which stands before the generation prompt.
#[test]
fn what_only_stands_before_a_prompt_is_not_the_model_s() {
    let text = "{%- for m in messages %}<start><{{ m.role }}>{{ m.content }}\
        {%- for call in m.tool_calls or [] %}Do: {{ call.function | tojson }}!{% endfor %}\
        {{- '<end>' if not m.tool_calls }}{% endfor %}\
        {{- '<start><system>Say what to do.<end>' }}\
        {%- if add_generation_prompt %}<start><assistant>{% endif %}";
    let derivation = derive_text(text).expect("derived");
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert_eq!(report.start_anchor, ["<start><assistant>"]);
    assert_eq!(report.content.close, "<end>");
    // An argument may have `}!` in it, so that what closes a call counts only where the calls end or go on.
    assert_eq!(report.tools.close, "!");
    assert!(findings(&derivation).contains(&"trailer"));
    let document = derivation.document.to_json();
    assert!(!document.contains("Say what"), "{document}");
    let instructed = "<start><system>Say what to do.<end><start><assistant>";
    assert!(
        derivation
            .cases
            .iter()
            .any(|case| case.prefix.ends_with(instructed)),
        "the response after the prompt is proved as well"
    );
}

/// Content and reasoning have a channel each, calls a third one, in which a text may stand as well although none is rendered.
#[test]
fn a_channel_in_which_only_calls_are_rendered() {
    let derive = |result: &str| {
        let text = "{%- for m in messages %}\
             {%- if m.role == 'assistant' %}\
             {%- if m.thinking %}<s>bot<c>muse<m>{{ m.thinking }}<end>{% endif %}\
             {%- if m.content %}<s>bot<c>tell<m>{{ m.content }}{{ '<stop>' if loop.last and not m.tool_calls else '<end>' }}{% endif %}\
             {%- for c in m.tool_calls or [] %}<s>bot to={{ c.function.name }}<c>ask json<m>{{ c.function.arguments | tojson }}<call>{% endfor %}\
             {%- elif m.role == 'tool' %}<s>tool RESULT{{ m.content }}<end>\
             {%- else %}<s>{{ m.role }}<m>{{ m.content }}<end>{%- endif %}\
             {%- endfor %}\
             {%- if add_generation_prompt %}<s>bot{% endif %}";
        derive_text(&text.replace("RESULT", result)).expect("derived")
    };
    let derivation = derive("<c>ask<m>");
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    let evidence = report
        .evidence
        .iter()
        .find(|found| found.marker == "<c>ask<m>");
    assert_eq!(evidence.expect("evidence").decision, "content channel");
    let code = "content-in-other-channel";
    assert!(
        findings(&derivation).contains(&code),
        "{:#?}",
        report.findings
    );
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).expect("valid");
    let response = "<c>muse<m>So.<end><s>bot<c>ask<m>I will look.<end><s>bot to=look<c>ask json<m>{\"a\": 1}<call>";
    let message = parse_response(response, template, "<s>bot", &[]).expect("it parses");
    assert_eq!(message["thinking"].as_str(), Some("So."));
    assert_eq!(message["content"].as_str(), Some("I will look."));
    assert_eq!(
        message["tool_calls"].as_array().map(<[Value]>::len),
        Some(1)
    );

    let without = derive("<m>");
    assert_eq!(without.report.verdict, Verdict::Proved);
    assert!(!findings(&without).contains(&code));
}

/// What ends a reasoning or calls says what follows. No two renders of plain parts show all of it, and the messages that do not come back by them do.
#[test]
fn delimiters_that_are_others_beside_some_parts() {
    let calls = "{% for c in m.tool_calls %}[do {{ c.function.name }}]{{ c.function.arguments | tojson }}[did]{% endfor %}";
    let closed = format!(
        "{{% if m.thinking %}}[why]{{{{ m.thinking }}}}{{{{ '[so I do]' if m.tool_calls and not m.content else '[so I do and say]' if m.tool_calls else '[so I say]' }}}}{{% endif %}}\
         {{{{ m.content }}}}{calls}"
    );
    let behind = "{{ m.content }}{% for c in m.tool_calls %}|do {{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}\
        {% if m.thinking %}|since {{ m.thinking }}{% endif %}|";
    for template in [closed.as_str(), behind] {
        let derivation = turns(template, "<bot>");
        let report = &derivation.report;
        assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
        assert!(findings(&derivation).contains(&"widened"), "{template}");
        let taught = report
            .evidence
            .iter()
            .filter(|one| one.decision == "response");
        assert!(taught.count() > 0, "{template}");
    }
    // Where all comes back nothing is widened, and nothing is where somebody has chosen a delimiter.
    let plain = turns("{{ m.content }}", "<bot>");
    assert!(!findings(&plain).contains(&"widened"));
    let chosen = ("reasoning close delimiter".to_owned(), "literal".to_owned());
    let chosen = turns_with(&closed, &Options::default().prefer(vec![chosen]));
    assert!(!findings(&chosen).contains(&"widened"));
    assert_eq!(chosen.report.verdict, Verdict::NotProved);
}

/// Content stands in tags beside a reasoning, and nowhere else; what closes a reasoning stands there without a content, too.
#[test]
fn content_in_tags_beside_a_reasoning_alone() {
    let template = "{% if m.thinking %}<why>{{ m.thinking }}</why>{% if m.content %}\n<say>{{ m.content }}</say>{% endif %}{% else %}{{ m.content }}{% endif %}\
        {% if m.tool_calls %}<calls>{% set all = namespace(list=[]) %}{% for c in m.tool_calls %}\
        {% set all.list = all.list + [{'name': c.function.name, 'arguments': c.function.arguments}] %}{% endfor %}{{ all.list | tojson }}{% endif %}";
    let derivation = turns(template, "<bot>");
    let report = &derivation.report;
    assert_eq!(report.verdict, Verdict::Proved, "{:#?}", report.findings);
    assert_eq!(report.reasoning.close, "</why>");
    assert_eq!(report.content.mode, ContentMode::WrappedWithReasoning);
    assert_eq!(report.content.open, "<say>");
}

/// A word that ends turns on a line of its own ends none within a longer word, and four dashes are not a part of five.
#[test]
fn a_marker_that_is_a_word_is_no_part_of_a_longer_one() {
    for (end, text) in [("OVER", "HANOVER is far"), ("----", "a ------ b")] {
        let chat = format!(
            "{{%- for m in messages %}}<{{{{ m.role }}}}>\n{{{{ m.content }}}}{{{{ '\n{end}\n' }}}}{{%- endfor %}}\
             {{%- if add_generation_prompt %}}<assistant>{{{{ '\n' }}}}{{%- endif %}}"
        );
        let derivation = derive_text(&chat).expect("derived");
        assert!(findings(&derivation).contains(&"narrowed"), "{end}");
        let document = derivation.document.to_value();
        let template = Arc::new(ResponseTemplate::from_value(&document).expect("valid"));
        let response = format!("{text}\n{end}\n");
        let message = parse_response(&response, template, "", &[]).expect("parsed");
        let content = message.get("content").and_then(Value::as_str);
        assert_eq!(content, Some(text), "{:?}", document);
    }
}

/// What only some tools change of a call: the name of the function, and how many there are.
#[test]
fn calls_that_are_written_otherwise_with_some_tools() {
    let calls = |test: &str| {
        let one = "{{ call.function | tojson }}";
        turns(
            &format!(
                "{{{{ m.content or '' }}}}{{% for call in m.tool_calls or [] %}}{{% if {test} %}}<run>{one}</run>{{% else %}}<call>{one}</call>{{% endif %}}{{% endfor %}}"
            ),
            "<bot>",
        )
    };
    let named = calls("call.function.name == 'python'");
    assert_eq!(named.report.verdict, Verdict::ProvedInPart);
    assert!(told(&named, "function-not-read").contains("`python`"));
    let given = calls("tools and 'python' in (tools | map(attribute='function.name'))");
    let many = calls("tools and tools | length > 6");
    for derivation in [given, many] {
        let findings = &derivation.report.findings;
        assert_ne!(derivation.report.verdict, Verdict::Proved, "{findings:#?}");
    }
    assert_eq!(calls("false").report.verdict, Verdict::Proved);
}

/// Texts of a few hundred characters may be written in another way than short ones; the marker is learnt from those that do not come back.
#[test]
fn a_long_reasoning_that_is_written_otherwise() {
    let thought = |open: &str| {
        let turn = format!(
            "{{% if m.thinking %}}{open}{{{{ m.thinking }}}}</t>{{% endif %}}{{{{ m.content }}}}"
        );
        let derivation = turns(&turn, "<bot>");
        assert_eq!(derivation.report.rounds.failed, 0);
        let open = derivation.document.fields["thinking"].open.clone();
        open.map(|open| format!("{open:?}")).unwrap_or_default()
    };
    assert!(!thought("<t>").contains("<long>"));
    let long = thought("{{ '<long>' if m.thinking | length > 300 else '<t>' }}");
    assert!(long.contains("<long>") && long.contains("<t>"), "{long}");
}
