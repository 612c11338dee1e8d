//! Prompts that begin the turn, or a part of it, otherwise than the answers of the history do.

use std::sync::Arc;

use crate::support::deriving::{derive_text, told};
use obverse::derive::{Derivation, Verdict};
use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::Value;

/// A chat template in which `prompt` is the prompt, and every answer begins with `<bot>`.
fn prompted(prompt: &str) -> Derivation {
    let text = format!(
        "{{%- for m in messages -%}}<{{{{ 'bot' if m.role == 'assistant' else m.role }}}}>{{{{ m.content }}}}<end>{{%- endfor -%}}\
         {{%- if add_generation_prompt -%}}{prompt}{{%- endif -%}}"
    );
    derive_text(&text).expect("derived")
}

/// The answer is read behind the prompt as it is behind what answers begin with, though nothing proves that it is written so.
#[test]
fn a_prompt_that_begins_the_turn_with_another_header() {
    let derivation = prompted("<assistant>");
    assert_eq!(derivation.report.verdict, Verdict::ProvedInPart);
    for code in ["prompt-not-shown", "prompt-header"] {
        assert!(
            told(&derivation, code).contains("\"<assistant>\""),
            "{code}"
        );
    }
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    let message = parse_response("Hello<end>", template, "<user>Hi<end><assistant>", &[]);
    assert_eq!(message.unwrap().get("content"), Some(&Value::from("Hello")));
    // What stands behind the whole header is the prompt's as well, whatever it opens.
    let opening = prompted("<bot><plan>");
    assert_eq!(opening.report.start_anchor, ["<bot>", "<bot><plan>"]);
    let template = ResponseTemplate::from_value(&opening.document.to_value()).unwrap();
    let message = parse_response("Hello<end>", template, "<user>Hi<end><bot><plan>", &[]);
    assert_eq!(message.unwrap().get("content"), Some(&Value::from("Hello")));
}

#[test]
fn prompts_that_only_some_conversations_have_are_tried() {
    for (prompt, of) in [
        ("{{ '<cited>' if documents }}", "documents="),
        (
            "{{ '<as>' ~ response_format.type if response_format }}",
            "response_format={\"type\": ",
        ),
        (
            "{{ '<as>' if (options or {}).get('mode') == 'list' }}",
            "options={\"mode\": \"list\"}",
        ),
        ("{{ '<long>' if budget and budget > 2000 }}", "budget=2001"),
        ("{{ '<long>' if messages | length > 5 }}", "the prompt ends"),
        (
            "{{ '<deep>' if 'deeply' in messages[0].content }}",
            "the prompt ends",
        ),
        (
            "{{ '<deep>' if messages[0].content == 'think' }}",
            "the prompt ends",
        ),
    ] {
        let derivation = prompted(&format!("<bot>{prompt}"));
        let told = told(&derivation, "prompt-not-shown");
        assert_eq!(derivation.report.verdict, Verdict::ProvedInPart, "{prompt}");
        assert!(told.contains(of), "{prompt}: {told}");
    }
    assert_eq!(prompted("<bot>").report.verdict, Verdict::Proved);
}

/// Without the kwarg the prompt adds nothing to the conversation, and the model begins right behind it.
#[test]
fn a_prompt_to_which_only_a_kwarg_adds() {
    let text = "{%- for m in messages -%}{%- if m.role == 'assistant' -%}\
        {{- '<think>' + (m.thinking or '') + '</think>' -}}{{ m.content }}<stop>\
        {%- else -%}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{%- endif -%}{%- endfor -%}\
        {%- if add_generation_prompt and thinking is defined -%}{{ '<think>' if thinking else '<think></think>' }}{%- endif -%}";
    let derivation = derive_text(text).expect("derived");
    let found = &derivation.report.findings;
    assert_eq!(derivation.report.verdict, Verdict::Proved, "{found:#?}");
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).unwrap();
    let template = Arc::new(template);
    for (prompt, response) in [
        ("<user>Hi</user>", "<think>Hm</think>Hello<stop>"),
        ("<user>Hi</user><think>", "Hm</think>Hello<stop>"),
    ] {
        let message = parse_response(response, template.clone(), prompt, &[]).unwrap();
        let [thought, said] = ["thinking", "content"].map(|key| message.get(key).cloned());
        assert_eq!(
            (thought, said),
            (Some(Value::from("Hm")), Some(Value::from("Hello"))),
            "{prompt}"
        );
    }
}

/// The thinking and the content of a response behind a prompt.
fn read(derivation: &Derivation, prompt: &str, response: &str) -> [Option<String>; 2] {
    let template = ResponseTemplate::from_value(&derivation.document.to_value()).expect("valid");
    let message = parse_response(response, template, prompt, &[]).expect("parsed");
    ["thinking", "content"].map(|key| message.get(key).and_then(Value::as_str).map(str::to_owned))
}

/// A prompt need not open the reasoning as the history has it. What it writes before that is its own, what it writes into the marker is, and what it writes behind is the
/// beginning of the reasoning.
#[test]
fn prompts_that_open_the_reasoning_in_their_own_way() {
    for (prompt, tail, thought) in [
        ("<muse slowly>", "<muse slowly>", "Hm"),
        (
            "{{ '<muse depth=' ~ depth ~ '>' if depth else '<muse>' }}",
            "<muse depth=97>",
            "Hm",
        ),
        ("{{ '<calm>' if calm }}<muse>", "<calm><muse>", "Hm"),
        (
            "{{ '<mood ' ~ mood ~ '>' if mood }}<muse>",
            "<mood odd><muse>",
            "Hm",
        ),
        ("<muse>Briefly: ", "<muse>Briefly: ", "Briefly: Hm"),
    ] {
        let derivation = derive_text(&format!(
            "{{%- for m in messages -%}}{{%- if m.role == 'assistant' -%}}<bot>\
             {{%- if m.thinking -%}}<muse>{{{{ m.thinking }}}}</muse>{{%- endif -%}}{{{{ m.content }}}}<end>\
             {{%- else -%}}<{{{{ m.role }}}}>{{{{ m.content }}}}<end>{{%- endif -%}}{{%- endfor -%}}\
             {{%- if add_generation_prompt -%}}<bot>{prompt}{{%- endif -%}}"
        ))
        .expect("derived");
        let found = read(
            &derivation,
            &format!("<user>Hi<end><bot>{tail}"),
            "Hm</muse>Hello<end>",
        );
        let expected = [thought, "Hello"].map(|text| Some(text.to_owned()));
        assert_eq!(
            found,
            expected,
            "{prompt}: {:?}",
            derivation.document.to_value()
        );
        // Nothing of that changes how the history is read.
        let found = read(&derivation, "<bot>", "<muse>Hm</muse>Hello<end>");
        assert_eq!(
            found,
            ["Hm", "Hello"].map(|text| Some(text.to_owned())),
            "{prompt}"
        );
    }
}

/// Where something is switched off, what looks like the reasoning's marker is not taken for it.
#[test]
fn a_prompt_that_switches_the_reasoning_off_opens_none() {
    let derivation = derive_text(
        "{%- for m in messages -%}{%- if m.role == 'assistant' -%}<bot>\
         {%- if m.thinking -%}<muse>{{ m.thinking }}</muse>{%- endif -%}{{ m.content }}<end>\
         {%- else -%}<{{ m.role }}>{{ m.content }}<end>{%- endif -%}{%- endfor -%}\
         {%- if add_generation_prompt -%}<bot>{{ '<muse off>' if muse is defined and not muse }}{%- endif -%}",
    )
    .expect("derived");
    let found = read(&derivation, "<user>Hi<end><bot><muse off>", "Hello<end>");
    assert_eq!(found, [None, Some("Hello".to_owned())]);
}

/// The line feed that an engine keeps behind the end of the turn takes the place of nothing.
#[test]
fn a_reasoning_that_nothing_opens_stays_where_text_follows_the_answer() {
    let derivation = derive_text(
        "{%- for m in messages -%}{%- if m.role == 'assistant' -%}<bot>{{ m.thinking or '' }}<say>{{ m.content }}<end>\
         {%- else -%}<{{ m.role }}>{{ m.content }}<end>{%- endif -%}{%- endfor -%}\
         {%- if add_generation_prompt -%}<bot>{%- endif -%}",
    )
    .expect("derived");
    assert_eq!(derivation.report.verdict, Verdict::Proved);
    for behind in ["", "\n", "<end>"] {
        let found = read(&derivation, "<bot>", &format!("Hm<say>Hello<end>{behind}"));
        assert_eq!(found[0].as_deref(), Some("Hm"), "{behind}");
    }
}

/// Whoever calls the chat template may sign the answers with any name, so that none of the names that are tried is a marker.
#[test]
fn a_value_that_a_kwarg_writes_into_the_answer_is_no_marker() {
    let derivation = derive_text(
        "{%- for m in messages -%}<{{ m.role }}>{{ m.content }}\
         {{- ' ' ~ signature if signature and m.role == 'assistant' else '' }}<end>{%- endfor -%}\
         {%- if add_generation_prompt -%}<assistant>{%- endif -%}",
    )
    .expect("derived");
    assert!(told(&derivation, "lost-under-kwargs").contains("signature="));
    let found = read(&derivation, "<assistant>", "A zircon is a gem.<end>");
    assert_eq!(found, [None, Some("A zircon is a gem.".to_owned())]);
}
