//! Things that no render shows are reported, and things that a render shows are not.

use super::super::Unproved;
use super::*;

#[test]
fn a_field_that_no_message_fills_is_told() {
    let response = fields(&[THINKING, CONTENT]);
    let judgement = judged(&chat(SAID, ""), &response);
    assert_eq!(judgement.unproved, [Unproved::Field("thinking".to_owned())]);
    assert_eq!(
        judged(&chat(&[THOUGHT, SAID].concat(), ""), &response).unproved,
        []
    );
    // A default is no text that came back.
    let defaulted = with_defaults(r#", "thinking": """#, &[THINKING, CONTENT]);
    assert_eq!(
        judged(&chat(SAID, ""), &defaulted).unproved,
        [Unproved::Field("thinking".to_owned())]
    );
}

#[test]
fn calls_that_are_asked_for_and_not_shown_are_told() {
    let response = fields(&[CONTENT]);
    let judged = |answer: &str| judged(&chat(&[SAID, answer].concat(), ""), &response).unproved;
    assert_eq!(
        judged("{% if m.tool_calls %}[called]{% endif %}"),
        [Unproved::Calls(None)]
    );
    let refused = judged("{% if m.tool_calls %}{{ raise_exception('No calls.') }}{% endif %}");
    let [Unproved::Calls(Some(words))] = refused.as_slice() else {
        panic!("{refused:?}")
    };
    assert!(words.contains("No calls."));
    assert_eq!(judged(""), [], "calls are not asked for");
}

/// A chat template may take the last answer off, and append it without its calls. They are read where another message follows.
#[test]
fn calls_that_only_earlier_turns_have_are_read_there() {
    let last = "{% set kept = namespace(said='') %}{% if messages[-1].role == 'assistant' %}{% set kept.said = messages[-1].content %}\
        {% set messages = messages[:-1] %}{% endif %}";
    let append = "{% if kept.said %}<bot><t>{{ kept.said }}</t><end>{% endif %}";
    let chat = [last, &chat(&[SAID, CALLED].concat(), ""), append].concat();
    let judgement = judged(&chat, &fields(&[CONTENT, CALLS]));
    assert_eq!(judgement.unproved, []);
    assert!(judgement.failures.is_empty(), "{:?}", judgement.failures[0]);
    let mut kinds = judgement.kinds.iter();
    assert!(kinds.any(|kind| kind.kind == Kind::Calls && kind.came_back > 0));
    let without = judged(&chat, &fields(&[CONTENT]));
    assert!(!without.failures.is_empty(), "the calls are lost");
}

/// Calls that stand only before a tool's result are told of.
#[test]
fn calls_that_only_results_bring_out_are_told() {
    let followed = CALLED.replace(
        "{% for",
        "{% if not loop.last and messages[loop.index].role == 'tool' %}{% for",
    ) + "{% endif %}";
    let judgement = judged(&chat(&[SAID, &followed].concat(), ""), &fields(&[CONTENT]));
    let [Unproved::Calls(Some(words))] = judgement.unproved.as_slice() else {
        panic!("{:?}", judgement.unproved)
    };
    assert_eq!(words, "it renders them only where their results follow");
}

#[test]
fn a_reasoning_that_is_asked_for_and_not_shown_is_told() {
    let response = fields(&[CONTENT]);
    let asked = "{% if m.reasoning_content %}{% endif %}";
    let judgement = judged(&chat(&[asked, SAID].concat(), ""), &response);
    assert_eq!(
        judgement.unproved,
        [Unproved::Reasoning("reasoning_content".to_owned())]
    );
    let unknown = asked.replace("reasoning_content", "humour");
    assert_eq!(
        judged(&chat(&[&unknown, SAID].concat(), ""), &response).unproved,
        []
    );
    let shown = "{% if m.reasoning_content %}<r>{{ m.reasoning_content }}</r>{% endif %}";
    let response = fields(&[&THINKING.replace("thinking", "reasoning_content"), CONTENT]);
    assert_eq!(
        judged(&chat(&[shown, SAID].concat(), ""), &response).unproved,
        []
    );
}

/// The constant at which an answer is cut is the shortest one, whatever longer one has it in it.
#[test]
fn an_answer_that_is_cut_is_told_with_the_marker_alone() {
    let said = "<t>{{ '[bot]</muse>' if m.odd }}{{ m.content.split('</muse>')[-1] }}</t>";
    let judgement = judged(&chat(said, ""), &fields(&[CONTENT]));
    assert_eq!(judgement.unproved, [Unproved::Cut("</muse>".to_owned())]);
    // A marker may be one character.
    let judgement = judged(
        &chat(&said.replace("</muse>", "☲"), ""),
        &fields(&[CONTENT]),
    );
    assert_eq!(judgement.unproved, [Unproved::Cut("☲".to_owned())]);
}
