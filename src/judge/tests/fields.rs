//! A text comes back in the field under which it went in, and appended it renders as it did.

use super::*;

fn thinking_as(key: &str) -> String {
    THINKING.replace("thinking", key)
}

#[test]
fn a_reasoning_comes_back_under_a_key_that_renders_as_its_own() {
    let only = |key: &str| THOUGHT.replace("thinking", key);
    let either = "{% set t = m.musing or m.thinking %}{% if t %}<r>{{ t }}</r>{% endif %}";
    let unlike = "{% if m.thinking %}<r>{{ m.thinking }}</r>{% elif m.musing %}<r>{{ m.musing }}\n</r>{% endif %}";
    for (answer, key, holds) in [
        (only("thinking"), "thinking", true),
        (only("thinking"), "musing", false),
        (only("musing"), "musing", true),
        (only("musing"), "thinking", false),
        (either.to_owned(), "musing", true),
        (either.to_owned(), "thinking", true),
        (unlike.to_owned(), "thinking", true),
        (unlike.to_owned(), "musing", false),
    ] {
        let chat = chat(&format!("{answer}{SAID}"), "");
        let judgement = judged(&chat, &fields(&[&thinking_as(key), CONTENT]));
        assert_eq!(fails(&judgement, Kind::Reasoning), !holds, "{answer} {key}");
        assert_eq!(
            holds,
            super::holds(&judgement, Kind::Reasoning),
            "{answer} {key}"
        );
    }
}

/// Transformers hands a reasoning on under the names that it knows.
#[test]
fn a_name_that_transformers_hands_on_is_an_alias() {
    let chat = chat(
        &[&THOUGHT.replace("thinking", "reasoning_content"), SAID].concat(),
        "",
    );
    let judgement = judged(&chat, &fields(&[&thinking_as("thinking"), CONTENT]));
    let is_handed_on = chat_template::REASONING_KEYS.contains(&"thinking");
    assert_eq!(
        holds(&judgement, Kind::Reasoning),
        is_handed_on,
        "{:#?}",
        judgement.failures.first()
    );
}

#[test]
fn a_field_that_is_renamed_is_renamed_before_it_is_appended() {
    let chat = chat(&[&THOUGHT.replace("thinking", "musing"), SAID].concat(), "");
    let response = fields(&[&thinking_as("thinking"), CONTENT]);
    let renamed = Setting {
        reasoning_field: Some("thinking"),
        ..Setting::default()
    };
    assert_all_back(&renamed.judge(&chat, &response));
    let judgement = judged(&chat, &response);
    assert_kinds(&judgement, &[Kind::Reasoning], &[Kind::Content]);
    let first = judgement.failures.first().unwrap();
    assert!(first.found.expected.get("musing").is_some());
}

#[test]
fn a_nested_reasoning_is_no_field() {
    let nested = "{% if m.extra and m.extra.thought %}<r>{{ m.extra.thought }}</r>{% endif %}";
    let chat = chat(&[nested, SAID].concat(), "");
    for key in ["thought", "extra", "extra.thought"] {
        let judgement = judged(&chat, &fields(&[&thinking_as(key), CONTENT]));
        assert_kinds(&judgement, &[Kind::Reasoning], &[Kind::Content]);
        let row = row(&judgement, Kind::Reasoning).unwrap();
        assert_eq!(row.manner, "reasoning under `extra.thought`");
    }
}

/// An object with a name and arguments is a call that is given otherwise, and no call is one of its texts.
#[test]
fn a_call_under_another_key_is_no_text() {
    let one = "{% if m.act %}<r>{{ m.act.name }}:{{ m.act.arguments }}</r>{% endif %}";
    let judgement = judged(&chat(&[one, SAID].concat(), ""), &fields(&[CONTENT]));
    assert!(holds(&judgement, Kind::Content));
    assert!(row(&judgement, Kind::Reasoning).is_none());
    let shown = one.replace("m.act.name", "m.act.title");
    let judgement = judged(&chat(&[&shown, SAID].concat(), ""), &fields(&[CONTENT]));
    assert!(row(&judgement, Kind::Reasoning).is_some());
}

#[test]
fn a_reasoning_in_a_part_comes_back_in_any_field() {
    let parts = "{% if m.content is string %}<t>{{ m.content }}</t>{% else %}{% for p in m.content %}\
        {% if p.type == 'thinking' %}<r>{{ p.thinking }}</r>{% elif p.type == 'text' %}<t>{{ p.text }}</t>{% endif %}\
        {% endfor %}{% endif %}";
    let chat = chat(parts, "");
    let judgement = judged(&chat, &fields(&[THINKING, CONTENT]));
    assert_all_back(&judgement);
    assert!(holds(&judgement, Kind::Reasoning));
    let manner = &row(&judgement, Kind::Reasoning).unwrap().manner;
    assert_eq!(
        manner,
        "reasoning under `thinking` of a part of type `thinking`"
    );
    assert_kinds(
        &judged(&chat, &fields(&[CONTENT])),
        &[Kind::Reasoning],
        &[Kind::Content],
    );
}

#[test]
fn texts_under_two_keys_at_once_each_come_back() {
    let musing = "{% if m.musing %}<u>{{ m.musing }}</u>{% endif %}";
    let chat = chat(&[THOUGHT, musing, SAID].concat(), "");
    let field = |key: &str, character: &str| {
        format!(r#""{key}": {{"open": "<{character}>", "close": "</{character}>"}}"#)
    };
    use Kind::{Content, FurtherTexts, Reasoning};
    let right = judged(&chat, &fields(&[THINKING, &field("musing", "u"), CONTENT]));
    assert_all_back(&right);
    assert_kinds(&right, &[], &[Content, FurtherTexts, Reasoning]);
    let lost = judged(&chat, &fields(&[THINKING, CONTENT]));
    assert_kinds(&lost, &[FurtherTexts], &[Content, Reasoning]);
    // The texts under a further key do not all begin with the same letter.
    for letter in 'A'..='Z' {
        let begun = format!(r#""open_pattern": "<u>(?={letter})""#);
        let begun = field("musing", "u").replace(r#""open": "<u>""#, &begun);
        let judgement = judged(&chat, &fields(&[THINKING, &begun, CONTENT]));
        assert_kinds(&judgement, &[FurtherTexts], &[]);
    }
    let swapped = judged(
        &chat,
        &fields(&[&field("musing", "r"), &field("thinking", "u"), CONTENT]),
    );
    assert_kinds(&swapped, &[FurtherTexts, Reasoning], &[Content]);
}

/// Two texts that are written alike are no other names of one text, if a message may have both.
#[test]
fn texts_that_are_written_alike_under_two_keys_are_two() {
    let musing = THOUGHT.replace("thinking", "musing");
    let response = THINKING.replace(r#""open""#, r#""repeats": true, "join": "", "open""#);
    let response = fields(&[&response, CONTENT]);
    let judgement = judged(&chat(&[THOUGHT, &musing, SAID].concat(), ""), &response);
    assert_kinds(&judgement, &[Kind::FurtherTexts], &[Kind::Reasoning]);
    let either = "{% set t = m.thinking or m.musing %}{% if t %}<r>{{ t }}</r>{% endif %}";
    let judgement = judged(&chat(&[either, SAID].concat(), ""), &response);
    assert_all_back(&judgement);
    assert!(row(&judgement, Kind::FurtherTexts).is_none());
}

#[test]
fn what_stands_in_the_header_is_no_text_of_the_message() {
    let headed = "{% for m in messages %}{% if m.role == 'assistant' %}<bot{% if m.recipient %} to {{ m.recipient }}{% endif %}>\
        <t>{{ m.content }}</t>{% else %}<{{ m.role }}>{{ m.content }}{% endif %}<end>{% endfor %}\
        {% if add_generation_prompt %}<bot>{% endif %}";
    let judgement = judged(headed, &fields(&[CONTENT]));
    assert_all_back(&judgement);
    assert!(row(&judgement, Kind::Reasoning).is_none());
}

/// A prompt that closes an empty reasoning ends as a header with a text in it would. That another prompt ends where the text begins tells them apart.
#[test]
fn what_a_prompt_leaves_to_the_model_is_in_no_header() {
    let answer =
        "<bot><r>{{ m.thinking if kept and m.thinking else '' }}</r><t>{{ m.content }}</t>";
    let prompted = |prompt: &str| turns(answer, &asked(prompt));
    let response = fields(&[THINKING, CONTENT]);
    let open = prompted("<bot><r>{{ '' if eager else '</r>' }}");
    let judgement = judged(&open, &response);
    assert_all_back(&judgement);
    assert!(row(&judgement, Kind::Reasoning).is_some());
    let closed = judged(&prompted("<bot><r></r>"), &response);
    assert!(row(&closed, Kind::Reasoning).is_none());
}

#[test]
fn appended_to_the_conversation_the_message_renders_as_it_did() {
    let turned = CALLS.replace(
        r#""{content}""#,
        r#"{"name": "{content.name}", "arguments": {"bucket": "{content.arguments.bucket}", "orchard": "{content.arguments.orchard}"}}"#,
    );
    let chat = chat(&[SAID, CALLED].concat(), "");
    let judgement = judged(&chat, &fields(&[CONTENT, &turned]));
    assert_kinds(&judgement, &[Kind::IntegerArgument], &[Kind::Content]);
    let is_told = judgement.failures.iter().any(|failure| {
        let error = failure.found.error.as_deref();
        error.is_some_and(|error| error.contains("renders differently"))
    });
    assert!(is_told, "{:#?}", judgement.failures.first());
}

/// A chat template may take calls as the text that is written of them, between the markers of calls. That is no reasoning.
#[test]
fn the_text_of_calls_under_a_key_of_its_own_is_no_reasoning() {
    let written = "{% if m.written %}<all>{{ m.written }}</all>{% elif m.tool_calls %}<all>CALLED</all>{% endif %}";
    let written = written.replace("CALLED", CALLED);
    let slots = |answer: &[&str]| {
        let chat = chat(&answer.concat(), "");
        Setting::default().ask(&chat, &fields(&[CONTENT]), |judge, _| {
            let [own, of_calls] = [judge.slots(), judge.slots_of_calls()]
                .map(|slots| slots.iter().map(|slot| slot.name()).collect::<Vec<_>>());
            (own, of_calls)
        })
    };
    let of_calls = vec!["written".to_owned()];
    assert_eq!(slots(&[SAID, &written]), (vec![], of_calls.clone()));
    let thinks = slots(&[THOUGHT, SAID, &written]);
    assert_eq!(thinks, (vec!["thinking".to_owned()], of_calls.clone()));
    // Between other markers it may be anything.
    let apart = written.replacen("<all>", "<note>", 1);
    assert_eq!(slots(&[SAID, &apart]), (of_calls, vec![]));
}

/// Calls before which no header stands where nothing is said beside them are rendered with an answer that is taken out.
#[test]
fn calls_without_a_header_are_read_as_behind_the_prompt() {
    let headless =
        format!("{{% if m.content %}}<bot><t>{{{{ m.content }}}}</t>{{% endif %}}{CALLED}");
    let chat = turns(&headless, &asked("<bot>"));
    let judgement = judged(&chat, &fields(&[CONTENT, CALLS]));
    let kind = |wanted: Kind| {
        let mut kinds = judgement.kinds.iter();
        kinds.find(|kind| kind.kind == wanted).unwrap()
    };
    // The empty answer's markers stand there, which no render without the answer has.
    assert!(kind(Kind::Call).came_back > 0, "{:?}", judgement.kinds);
    assert!(kind(Kind::Call).manner.contains("taken out"));
    assert!(judgement.failures.is_empty(), "{:?}", judgement.failures[0]);
    let without = judged(&chat, &fields(&[CONTENT]));
    assert!(!without.failures.is_empty(), "the calls are lost");
}
