//! Tests of how reasoning is written.

use super::super::thought::{Opener, Reasoning};
use super::{analysis, analysis_of, analysis_with, read, turns};
use crate::chat_template;
use crate::derive::choice::{DecisionId, Preference};
use crate::judge::slot::Slot;

fn reasoning(answer: &str, prompt: &str) -> Option<Reasoning> {
    read(answer, prompt).reasoning
}

/// An answer with a reasoning, if the message has one.
const KEPT: &str = "<bot>{% if m.reasoning_content %}<t>{{ m.reasoning_content }}</t>{% endif %}{{ m.content }}<end>";

#[test]
fn it_stands_between_its_markers() {
    let found = reasoning(KEPT, "<bot>").unwrap();
    assert_eq!((found.open.as_str(), found.close.as_str()), ("<t>", "</t>"));
    assert_eq!(found.opened_by, Opener::Model);
    assert!(!found.spaced && found.space.is_empty());
}

#[test]
fn white_space_around_what_closes_it_is_told() {
    let found = reasoning(&KEPT.replace("</t>", "\n</t>\n\n"), "<bot>").unwrap();
    assert_eq!(found.close, "</t>");
    assert!(found.spaced);
    assert_eq!(found.space, "\n");
}

#[test]
fn a_prompt_may_open_it() {
    let opened = |prompt| {
        let turn = "<bot><t>{{ m.reasoning_content }}</t>{{ m.content }}<end>";
        let found = reasoning(turn, prompt).expect("a reasoning");
        (found.opened_by, found.opened_where)
    };
    assert_eq!(opened("<bot><t>"), (Opener::Prompt, None));
    let under = Some("under deep=true".to_owned());
    assert_eq!(
        opened("<bot>{% if deep %}<t>{% endif %}"),
        (Opener::Prompt, under)
    );
    assert_eq!(opened("<bot>"), (Opener::Model, None));
}

#[test]
fn where_it_is_dropped_prompts_and_cuts_tell_of_it() {
    let cut = "<bot>{{ m.content.split('</t>')[-1] }}<end>";
    let found = reasoning(cut, "<bot><t>").unwrap();
    assert_eq!((found.open.as_str(), found.close.as_str()), ("<t>", "</t>"));
    assert_eq!(found.opened_by, Opener::Prompt);
}

/// No constant says how it begins. What closes it has more signs before its word than behind it.
#[test]
fn the_cut_alone_may_tell_of_it() {
    let cut = "<bot>{{ m.content.split('</t>')[-1] }}<end>";
    let found = reasoning(cut, "<bot>").unwrap();
    assert_eq!((found.open.as_str(), found.close.as_str()), ("<t>", "</t>"));
    assert_eq!((found.opened_by, found.is_rendered), (Opener::Model, false));
    assert!(reasoning(&cut.replace("</t>", "<t>"), "<bot>").is_none());

    // The last answer is left whole, and so are all where no prompt is asked for.
    let older = "<bot>{{ m.content if loop.last or loop.index0 >= messages|length - 2 or not add_generation_prompt else m.content.split('</t>')[-1] }}<end>";
    let found = reasoning(older, "<bot>").unwrap();
    assert_eq!((found.open.as_str(), found.close.as_str()), ("<t>", "</t>"));
}

/// The tokenizer has a token of which the chat template says nothing.
#[test]
fn a_token_with_the_same_word_may_open_or_close_it() {
    let markers = |answer: &str, prompt: &str, tokens: &[&str]| {
        let mut source = chat_template::from_text("it", &turns(answer, prompt)).unwrap();
        source.tokens.ordinary = tokens.iter().map(|token| (*token).to_owned()).collect();
        let found = analysis_of(&source, Vec::new()).unwrap().reasoning;
        found.map(|found| (found.open, found.close))
    };
    let both = |open: &str, close: &str| Some((open.to_owned(), close.to_owned()));
    let cut = "<bot>{{ m.content.split('|t|')[-1] }}<end>";
    assert_eq!(markers(cut, "<bot>", &["<t>"]), both("<t>", "|t|"));
    assert_eq!(markers(cut, "<bot>", &["<u>"]), None);
    let plain = "<bot>{{ m.content }}<end>";
    assert_eq!(
        markers(plain, "<bot><t>", &["|t|", "<t>"]),
        both("<t>", "|t|")
    );
    assert_eq!(markers(plain, "<bot><t>", &[]), None);
}

/// Only beside a reasoning does something open the content, which a model may leave out there as well.
#[test]
fn what_opens_the_content_on_the_next_line_closes_no_reasoning() {
    let apart = "<bot>{% if m.reasoning_content %}<t>{{ m.reasoning_content }}</t>\n<say>{{ m.content }}</say>{% else %}{{ m.content }}{% endif %}<end>";
    assert_eq!(reasoning(apart, "<bot>").unwrap().close, "</t>");
}

/// The history has what closes it alone, since the prompt has opened it.
#[test]
fn a_prompt_may_open_it_that_renders_do_not() {
    let unopened = "<bot>{% if m.reasoning_content %}{{ m.reasoning_content }}</t>{% endif %}{{ m.content }}<end>";
    let found = reasoning(unopened, "<bot><t>").unwrap();
    assert_eq!((found.open.as_str(), found.close.as_str()), ("<t>", "</t>"));
    assert_eq!(found.opened_by, Opener::Prompt);
    let key = Slot::Key(vec!["reasoning_content".to_owned()]);
    assert_eq!((found.is_rendered, found.unopened), (false, Some(key)));
}

/// A constant that begins as another prompt ends is parted there.
#[test]
fn one_prompt_tells_where_the_other_closes_it() {
    let answer = "<bot>{{ m.content }}<end>";
    let found = reasoning(answer, "<bot>{{ '<t></t>' if fast else '<t>' }}").unwrap();
    assert_eq!((found.open.as_str(), found.close.as_str()), ("<t>", "</t>"));
    assert_eq!(reasoning(answer, "<bot>{{ '<t></t>' if fast }}"), None);
}

/// The end of a marker is none by itself, though a constant that stands behind a name is the same.
#[test]
fn the_end_of_a_marker_closes_nothing() {
    let answer = "<bot>{{ m.content }}{% for c in m.tool_calls or [] %}<call {{ c.function.name }}>{{ c.function.arguments | tojson }}</call>{% endfor %}<end>";
    assert_eq!(reasoning(answer, "<bot><muse>"), None);
    let closed = reasoning(answer, "<bot>{{ '<muse></muse>' if fast else '<muse>' }}").unwrap();
    assert_eq!(
        (closed.open.as_str(), closed.close.as_str()),
        ("<muse>", "</muse>")
    );
}

#[test]
fn without_one_none_is_read() {
    assert_eq!(reasoning("<bot>{{ m.content }}<end>", "<bot>"), None);
}

#[test]
fn it_is_read_wherever_messages_have_it() {
    let nested =
        "<bot>{% if m.meta and m.meta.why %}<t>{{ m.meta.why }}</t>{% endif %}{{ m.content }}<end>";
    let found = read(nested, "<bot>");
    assert_eq!(found.reasoning.unwrap().open, "<t>");
    let slot = Slot::Key(vec!["meta".to_owned(), "why".to_owned()]);
    assert_eq!(found.dialect.reasoning, Some(slot));
}

#[test]
fn it_may_stand_behind_the_content() {
    let behind = "<bot>{{ m.content }}{% if m.reasoning_content %}<t>{{ m.reasoning_content }}</t>{% endif %}<end>";
    let found = reasoning(behind, "<bot>").unwrap();
    assert_eq!((found.open.as_str(), found.close.as_str()), ("<t>", "</t>"));
}

/// Behind the content it may be the last of a turn that only the next header ends; and its header may begin as the turn's does.
#[test]
fn behind_the_content_it_may_have_no_close_and_a_header_that_begins_as_the_turn_does() {
    let thought = "{% if m.reasoning_content %}\nwhy: {{ m.reasoning_content }}{% endif %}";
    let unended = format!("bot: {{{{ m.content }}}}{thought}\n");
    let chat = format!(
        "{{% for m in messages %}}{{% if m.role == 'user' %}}usr: {{{{ m.content }}}}\n{{% else %}}{unended}{{% endif %}}{{% endfor %}}\
         {{{{ 'bot:' if add_generation_prompt }}}}"
    );
    let found = analysis(&chat).unwrap().reasoning.unwrap();
    assert_eq!((found.open.as_str(), found.close.as_str()), ("why:", ""));

    let part = |header: &str, key: &str| {
        format!("{{% if m.{key} %}}<bot {header}>{{{{ m.{key} }}}}{{% endif %}}")
    };
    let parts = [part("says", "content"), part("thinks", "reasoning_content")].concat();
    let found = reasoning(&format!("{parts}<bot rests>"), "<bot ").unwrap();
    assert_eq!(
        (found.open.as_str(), found.close.as_str()),
        ("thinks>", "<bot rests>")
    );
}

#[test]
fn what_it_says_around_nothing_is_left_out() {
    let one = reasoning(KEPT, "<bot>").unwrap();
    assert_eq!(one.strip("<t>\n</t>\n<call>"), "<call>");
    assert_eq!(one.strip("x<t></t> y"), "xy");
    assert_eq!(one.strip("</t><t>"), "</t><t>");
    let unopened = Reasoning {
        open: String::new(),
        ..one
    };
    assert_eq!(unopened.strip("a</t>\n b"), "b");
    assert_eq!(unopened.strip("a b"), "a b");
}

/// A reasoning that nothing opens is a turn of its own, whether there is one or not: what ends it does not open the answer.
#[test]
fn a_reasoning_without_an_opening_is_closed_by_what_stands_behind_it() {
    let answer = "<bot>{% if m.reasoning_content %}{{ m.reasoning_content }}\n{% endif %}<rest>\n\
                  {% if m.content %}<say>{{ m.content }}<rest>{% endif %}<end>";
    let wanted = Preference {
        decision: DecisionId::Reasoning,
        name: "from the beginning".to_owned(),
    };
    let found = analysis_with(&turns(answer, "<bot>"), vec![wanted]).unwrap();
    let reasoning = found.reasoning.unwrap();
    assert_eq!(
        (reasoning.open.as_str(), reasoning.close.as_str()),
        ("", "<rest>")
    );
    assert_eq!(found.content.open.as_deref(), Some("<say>"));
}

/// The texts under further keys: their keys, their markers, whether they are JSON, and whether they end the content.
fn further(answer: &str) -> Vec<(String, String, String, bool, bool)> {
    let wanted = Preference {
        decision: DecisionId::FurtherTexts,
        name: "as fields".to_owned(),
    };
    let found = analysis_with(&turns(answer, "<bot>"), vec![wanted]).unwrap();
    let found = found.further.into_iter();
    let told = found.map(|text| {
        let (open, close) = (text.markers.open, text.markers.close);
        (
            text.slot.to_string(),
            open,
            close,
            text.is_json,
            text.ends_content,
        )
    });
    told.collect()
}

#[test]
fn a_text_under_a_further_key_may_stand_behind_the_content() {
    let text = |content: &str, source: &str| {
        KEPT.replace(
            "{{ m.content }}",
            &format!("{content}{{% if m.source %}}{source}{{% endif %}}"),
        )
    };
    let all = |open: &str, close: &str, is_json, ends_content| {
        let [open, close] = [open, close].map(str::to_owned);
        vec![("`source`".to_owned(), open, close, is_json, ends_content)]
    };
    let bare = text("{{ m.content }}", "<s>{{ m.source }}</s>");
    assert_eq!(further(&bare), all("<s>", "</s>", false, true));
    // They are left out unless messages do not come back without them.
    assert!(read(&bare, "<bot>").further.is_empty());
    let json = text("{{ m.content }}", "<s>{{ m.source | tojson }}</s>");
    assert_eq!(further(&json), all("<s>", "</s>", true, true));
    // What closes the content opens nothing.
    let wrapped = text("<a>{{ m.content }}</a>", "<s>{{ m.source }}</s>");
    assert_eq!(further(&wrapped), all("<s>", "</s>", false, false));
    // The end of the turn closes it.
    let unclosed = text("{{ m.content }}", "<s>{{ m.source }}");
    assert_eq!(further(&unclosed), all("<s>", "<end>", false, true));
}

/// Of sections with a heading each, the next heading ends the one before it, and so does the end of the turn.
#[test]
fn a_text_under_a_further_key_may_end_where_the_next_part_begins() {
    let part = |key: &str| format!("{{% if m.{key} %}}%{key}%\n{{{{ m.{key} }}}}\n{{% endif %}}");
    let answer = ["thinking", "plan", "content"].map(part).concat();
    let text = ("`plan`".to_owned(), "%plan%".to_owned(), String::new());
    let found = further(&format!("<bot>{answer}<end>"));
    let found = found
        .into_iter()
        .map(|(key, open, close, ..)| (key, open, close));
    assert_eq!(Vec::from_iter(found), [text]);
}
