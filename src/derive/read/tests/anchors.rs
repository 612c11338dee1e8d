//! Tests of where the turn begins.

use super::super::analysis::Unreadable;
use super::super::anchor::Anchor;
use super::{analysis, analysis_with, read, turns};
use crate::derive::choice::{DecisionId, Preference};
use crate::derive::compare::pieces::Pieces;

fn anchor(answer: &str, prompt: &str) -> Vec<String> {
    read(answer, prompt).anchor.literals
}

#[test]
fn it_begins_where_the_prompt_ends() {
    assert_eq!(anchor("<bot>{{ m.content }}<end>", "<bot>"), ["<bot>"]);
    assert_eq!(anchor("bot:{{ m.content }}\n", "bot:"), ["bot:"]);
    // The text with which a prompt goes on belongs to the turn.
    let closed = "<bot><t></t>{{ m.content }}<end>";
    assert_eq!(anchor(closed, "<bot><t></t>"), ["<bot><t></t>"]);
}

#[test]
fn what_opens_a_reasoning_is_not_where_it_begins() {
    let answer = "<bot>{% if m.reasoning_content %}<t>{{ m.reasoning_content }}</t>{% endif %}{{ m.content }}<end>";
    assert_eq!(anchor(answer, "<bot><t>"), ["<bot>"]);
    // Where the two are never seen apart nothing says that they are two.
    let always = "<bot><t>{{ m.reasoning_content }}</t>{{ m.content }}<end>";
    assert_eq!(anchor(always, "<bot><t>"), ["<bot><t>"]);
}

/// A turn that begins with what stands on both sides of a reasoning has its beginning there, and not its end.
#[test]
fn what_opens_a_reasoning_and_closes_it_as_well_is_not_where_it_begins() {
    let fenced = |open: &str| {
        let answer = format!(
            "<bot>{{% if m.reasoning_content %}}{open}{{{{ m.reasoning_content }}}}~~~{{% endif %}}{{{{ m.content }}}}<end>"
        );
        anchor(&answer, "<bot>{{ '~~~' if deep }}")
    };
    assert_eq!(fenced("~~~"), ["<bot>"]);
    assert_eq!(fenced("<r>"), ["<bot>", "<bot>~~~"]);
}

#[test]
fn where_prompts_differ_it_begins_where_they_part() {
    let prompt = "<bot>{% if fast %}<f>{% else %}<s>{% endif %}";
    assert_eq!(anchor("<bot>{{ m.content }}<end>", prompt), ["<bot>"]);
}

/// Where prompts and answers have other white space, too, nothing but the markers is the same in them.
#[test]
fn where_prompts_are_spaced_otherwise_it_begins_with_a_marker_of_all() {
    let begins = |prompt: &str| {
        let chat = turns(
            "{{ '    <bot>' }}   {{ '</t>  ' ~ m.content }}<end>",
            prompt,
        );
        // Nothing ends what was said before, so that nothing stands between it and the white space.
        let chat = chat.replace("{{ m.content }}<end>{%- endif", "{{ m.content }}{%- endif");
        analysis(&chat).unwrap().anchor.literals
    };
    let some = "{{ '  <bot>' }}{{ '    <t>' if deep else '    </t>' }}";
    assert_eq!(begins(some), ["<bot>"]);
}

#[test]
fn without_a_prompt_it_begins_with_the_last_marker_before_an_answer() {
    assert_eq!(anchor("<bot>{{ m.content }}<end>", ""), ["<bot>"]);
}

#[test]
fn after_a_tools_result_it_may_begin_otherwise() {
    let answer = "{{ '<next>' if messages[loop.index0 - 1].role == 'tool' else '<bot>' }}{{ m.content or '' }}\
                  {% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}<end>";
    let prompt = "{{ '<next>' if messages[-1].role == 'tool' else '<bot>' }}";
    assert_eq!(anchor(answer, prompt), ["<bot>", "<next>"]);
}

/// The prompt after a result has `</rs>`, and so has an answer; a call has not, and begins behind `</r>`.
#[test]
fn a_call_after_a_tools_result_may_begin_before_what_the_prompt_has() {
    let calling = |header: &str| {
        let answer = format!(
            "{{%- set after = messages[loop.index0 - 1].role == 'tool' -%}}\
             {{%- if m.tool_calls -%}}{{{{ '{header}' if after else '<bot>' }}}}\
             {{%- for c in m.tool_calls -%}}<call>{{{{ c.function | tojson }}}}</call>{{%- endfor -%}}\
             {{%- else -%}}{{{{ '</rs>' if after else '<bot>' }}}}{{{{ m.content }}}}{{%- endif -%}}</bot>"
        );
        anchor(
            &answer,
            "{{ '</rs>' if messages[-1].role == 'tool' else '<bot>' }}",
        )
    };
    assert_eq!(calling(""), ["<bot>", "</rs>", "<end>"]);
    assert_eq!(calling("</rs>"), ["<bot>", "</rs>"]);
}

/// Nothing is asked for: the user's message ends with what begins the turn, and every answer has a reasoning, which may be empty.
#[test]
fn without_a_prompt_it_may_begin_where_the_users_message_ends() {
    let chat = "{% for m in messages %}{% if m.role == 'user' %}<user>{{ m.content }}<bot>\
                {% else %}<r>{{ m.reasoning_content or '' }}</r>{{ m.content }}<end>{% endif %}{% endfor %}";
    let begun = |name: &str| {
        let wanted = Preference {
            decision: DecisionId::Anchor,
            name: name.to_owned(),
        };
        let read = analysis_with(chat, vec![wanted]).unwrap();
        (
            read.anchor.literals[0].clone(),
            read.reasoning.map(|one| one.close),
        )
    };
    let after = |literal: &str, close: Option<&str>| (literal.to_owned(), close.map(str::to_owned));
    assert_eq!(begun("the last marker"), after("</r>", None));
    let whole = begun("what the conversation ends with");
    assert_eq!(whole, after("<bot>", Some("</r>")));
}

#[test]
fn where_nothing_marks_it_nothing_is_read() {
    let none = analysis("{%- for m in messages -%}{{ m.content }}{%- endfor -%}");
    assert_eq!(none.unwrap_err(), Unreadable::NoAnchor);
    let users = "{%- for m in messages if m.role == 'user' -%}<u>{{ m.content }}{%- endfor -%}";
    let none = analysis(users);
    assert!(matches!(none, Err(Unreadable::NoTurn { .. })));
}

#[test]
fn the_last_of_its_literals_counts() {
    let anchor = Anchor::of(["<a>".to_owned(), "<b>".to_owned()]);
    assert_eq!(anchor.after_last("<a>1<b>2<a>3"), Some("3"));
    assert_eq!(anchor.after_last("<a>1<b>2"), Some("2"));
    assert_eq!(anchor.after_last("1"), None);
    assert_eq!(anchor.turn("<a>x<b>said<a>", "said"), Some("said<a>"));
    assert_eq!(anchor.turn("<a>x said", "other"), None);
    assert!(anchor.begins_after("said <a>", "said"));
    assert!(!anchor.begins_after("<a> said", "said"));
}

#[test]
fn a_turn_follows_where_its_end_and_then_a_beginning_stands() {
    let anchor = Anchor::of(["<a>".to_owned()]);
    assert!(anchor.follows("x<end>\n<a>y", "<end>\n"));
    assert!(!anchor.follows("x<end>y<a>", "<end>"));
    assert!(!anchor.follows("x<a>", " "), "nothing ends it");
}

#[test]
fn its_last_token_can_be_left_out_unless_it_is_all() {
    let pieces = Pieces::of([], ["<a>", "<t>"]);
    let anchor = |literal: &str| Anchor::of([literal.to_owned()]);
    let shorter = anchor("<a><t>\n").without_last_token(&pieces);
    assert_eq!(shorter, Some(anchor("<a>")));
    assert_eq!(anchor("<a>\n").without_last_token(&pieces), None);
}
