//! Tests of the beginning and end of turns: prompts, anchors, and the text at the end of a conversation.

use super::super::{PromptTail, UNMARKED, Unproved};
use super::*;

fn tails(judgement: &Judgement) -> Vec<(&str, Vec<&str>)> {
    let tail = |unproved: &'_ Unproved| matches!(unproved, Unproved::PromptTail(_));
    let tails = judgement.unproved.iter().filter(|unproved| tail(unproved));
    tails
        .map(|unproved| match unproved {
            Unproved::PromptTail(PromptTail { tail, kwargs, .. }) => (
                tail.as_str(),
                kwargs.keys().map(AsRef::<str>::as_ref).collect(),
            ),
            _ => unreachable!("only these are left"),
        })
        .collect()
}

/// Asserts that all failures are in that place, whatever comes before the conversation or with it.
#[track_caller]
fn assert_failing_only(judgement: &Judgement, place: &str) {
    let other = judgement
        .failures
        .iter()
        .find(|failure| !failure.place.ends_with(place));
    assert!(other.is_none(), "{other:#?}");
}

#[test]
fn a_reasoning_that_the_prompt_opens_comes_back() {
    let chat = chat(&["<r>{{ m.thinking }}</r>", SAID].concat(), "<r>");
    assert_all_back(&judged(&chat, &fields(&[THINKING, CONTENT])));
    // Behind an anchor that has it in, nothing is opened.
    let late = fields(&[THINKING, CONTENT]).replace("<bot>", "<bot><r>");
    assert_kinds(&judged(&chat, &late), &[Kind::Reasoning], &[]);
    let told = judged(
        &chat,
        &late.replace(r#""open": "<r>""#, r#""open_pattern": "(?<=<bot>)<r>""#),
    );
    assert_kinds(&told, &[Kind::Reasoning], &[]);
}

/// Where a prompt is written unasked, a turn begins behind the anchor alone.
#[test]
fn a_turn_behind_an_unasked_prompt_begins_behind_the_anchor() {
    let unasked = turns("<bot><t>{{ m.content }}</t>", "");
    assert_all_back(&judged(&unasked, &fields(&[CONTENT])));
    for anchor in ["<robot>", "<user>"] {
        let other = fields(&[CONTENT]).replace("<bot>", anchor);
        let judgement = judged(&unasked, &other);
        assert_eq!(
            (judgement.rounds.passed, holds(&judgement, Kind::Content)),
            (0, false),
            "{anchor}"
        );
        assert_eq!(
            first_error(&judgement),
            "nothing before the message is the start anchor"
        );
    }
}

/// Text that ends every conversation is what the model reads last. Where no answer goes on from it, nothing shows what is written there.
#[test]
fn an_unasked_prompt_that_no_answer_goes_on_from_is_told() {
    let judged = |behind: &str| {
        let chat = turns("<bot><t>{{ m.content }}</t>", behind);
        judged(&chat, &fields(&[CONTENT]))
    };
    assert_eq!(tails(&judged("")), []);
    assert_eq!(tails(&judged("<judge>")), [("<judge>", vec![])]);
}

#[test]
fn the_anchor_is_met_in_every_turn() {
    let anchored = fields(&[CONTENT]);
    let later = turns(
        "{{ '<again>' if loop.index > 3 and messages[loop.index0 - 1].role == 'user' else '<bot>' }}<t>{{ m.content }}</t>",
        "",
    );
    let judgement = judged(&later, &anchored);
    assert_kinds(&judgement, &[Kind::Content], &[]);
    assert!(judgement.rounds.passed > 0);
    assert_failing_only(&judgement, "in a later turn");

    let after_tool = turns(
        &format!(
            "{{{{ '<again>' if messages[loop.index0 - 1].role == 'tool' else '<bot>' }}}}{SAID}{CALLED}"
        ),
        "",
    );
    let judgement = judged(&after_tool, &fields(&[CONTENT, CALLS]));
    assert!(fails(&judgement, Kind::AfterToolResult));
    assert_failing_only(&judgement, "after a tool's result");
    let both = fields(&[CONTENT, CALLS]).replace(r#""<bot>""#, r#"["<bot>", "<again>"]"#);
    assert_all_back(&judged(&after_tool, &both));
}

/// A chat template that renders no calls may render their results, and what the model says to them is an answer.
#[test]
fn results_are_answered_where_no_calls_are_rendered() {
    let behind = "{{ '<again>' if messages[loop.index0 - 1].role == 'tool' else '<bot>' }}";
    let chat = turns(&format!("{behind}{SAID}"), "");
    let judgement = judged(&chat, &fields(&[CONTENT]));
    assert!(fails(&judgement, Kind::AfterToolResult));
    assert_failing_only(&judgement, "after a tool's result");
    let both = fields(&[CONTENT]).replace(r#""<bot>""#, r#"["<bot>", "<again>"]"#);
    assert_all_back(&judged(&chat, &both));
    // Results that are not shown are no place of their own.
    let unseen = chat.replace(
        "{% for m in messages",
        "{% for m in messages if m.role != 'tool'",
    );
    assert!(row(&judged(&unseen, &fields(&[CONTENT])), Kind::AfterToolResult).is_none());
}

/// A prompt that is written otherwise before its end, which stands before the message as well, is one that the model goes on from.
#[test]
fn a_turn_goes_on_from_a_prompt_that_begins_it_otherwise() {
    let chat = turns(&["<line><bot>", SAID, CALLED].concat(), &asked("<bot>"));
    assert_all_back(&judged(&chat, &fields(&[CONTENT, CALLS])));
    // Behind what ends the question the rest of the prompt is read as a part of the answer.
    let early = fields(&[r#""content": {"close": "<end>"}"#]).replace("<bot>", "<end>");
    let judgement = judged(
        &turns("<line><bot>{{ m.content }}", &asked("<bot>")),
        &early,
    );
    assert!(fails(&judgement, Kind::Content));
    assert_eq!(judgement.rounds.passed, 0, "{:#?}", judgement.cases.first());
}

/// The value of a kwarg in the header of a prompt is no text of the answer, whatever stands in its place in the history.
#[test]
fn what_is_given_in_the_header_of_a_prompt_is_read_over() {
    let given = "<bot{% if lang %} {{ lang }}{% endif %}>";
    for header in ["<bot>", "<bot {{ named or 'en' }}>"] {
        let chat = turns(&[header, "{{ m.content }}"].concat(), &asked(given));
        let content = r#""content": {"close": "<end>"}"#;
        let early = fields(&[content]).replace("<bot>", "<bot");
        assert!(fails(&judged(&chat, &early), Kind::Content), "{header}");
        let late = early.replace(
            r#""start_anchor": "<bot""#,
            r#""start_anchor_pattern": "<bot[^>]*>""#,
        );
        assert_all_back(&judged(&chat, &late));
    }
}

/// A kwarg that is nothing but a text is set to one, unless that is not wanted.
#[test]
fn a_kwarg_that_may_be_any_text_is_set() {
    let header = "{{ '<bot:' + (lang or 'en') + '>' }}";
    let chat = turns(&[header, SAID].concat(), &asked(header));
    let narrow = fields(&[CONTENT]).replace("<bot>", "<bot:en>");
    let judgement = judged(&chat, &narrow);
    assert!(fails(&judgement, Kind::Content));
    let wide = fields(&[CONTENT]).replace(
        r#""start_anchor": "<bot>""#,
        r#""start_anchor_pattern": "<bot:[^>]*>""#,
    );
    assert_all_back(&judged(&chat, &wide));
}

/// With a prompt that the turn goes on from, an anchor that the prompt lacks leaves the whole conversation to be read.
#[test]
fn an_anchor_that_no_prompt_has_is_none() {
    let chat = chat(&[SAID, CALLED].concat(), "");
    let judgement = judged(
        &chat,
        &fields(&[CONTENT, CALLS]).replace("<bot>", "<robot>"),
    );
    assert_eq!(judgement.rounds.passed, 0, "{:#?}", judgement.cases.first());
    // One that is met only behind the prompt is none either, and one that is met in the prompt is, whatever follows it.
    let before = |what: &str| {
        fields(&[CONTENT, CALLS]).replace(
            r#""start_anchor": "<bot>""#,
            &format!(r#""start_anchor_pattern": "<bot>{what}""#),
        )
    };
    assert_all_back(&judged(&chat, &before("")));
    assert_all_back(&judged(&chat, &before("(?!<)")));
    let judgement = judged(&chat, &before("(?=<)"));
    assert_eq!(judgement.rounds.passed, 0, "{:#?}", judgement.cases.first());
}

#[test]
fn a_turn_is_unmarked_where_its_prompt_has_what_it_lacks() {
    let answer = format!(
        "{{% if messages[loop.index0 - 1].role != 'tool' %}}<bot>{{% endif %}}{SAID}{CALLED}"
    );
    let lacking = turns(&answer, &asked("<bot>"));
    let judgement = judged(&lacking, &fields(&[CONTENT, CALLS]));
    assert!(
        judgement.failures.is_empty(),
        "{:#?}",
        judgement.failures.first()
    );
    assert_eq!(judgement.unproved, [Unproved::Unmarked]);
    let row_after = row(&judgement, Kind::AfterToolResult).unwrap();
    assert!(!row_after.rendered);
    assert_eq!(row_after.left_out[0].why, UNMARKED);
    // Where neither has it, the anchor is missing, and that is a failure.
    let neither = turns(
        &answer,
        &asked("{% if messages[-1].role != 'tool' %}<bot>{% endif %}"),
    );
    let judgement = judged(&neither, &fields(&[CONTENT, CALLS]));
    assert!(fails(&judgement, Kind::AfterToolResult));
    assert_failing_only(&judgement, "after a tool's result");
    assert!(!judgement.unproved.contains(&Unproved::Unmarked));
}

/// Messages are joined with nothing between them but what ends a question, and a call has to have a content. Nobody means a result to be answered there, and
/// nothing would tell the answer from it.
#[test]
fn a_result_behind_which_nothing_marks_a_turn_is_told() {
    let joined = |question: &str| {
        format!(
            "{{% for m in messages %}}{{{{ m.content + ('{question}' if m.role == 'user' else '<end>' if m.role == 'assistant' else '') }}}}{{% endfor %}}"
        )
    };
    let judgement = judged(
        &joined("<bot>"),
        &fields(&[r#""content": {"close": "<end>"}"#]),
    );
    assert_eq!(judgement.unproved, [Unproved::UnmarkedResult]);
    assert!(holds(&judgement, Kind::Content));
}

/// The like of a text of the message may stand before the header as well, in what the chat template writes behind the tool's result.
#[test]
fn a_turn_is_marked_where_a_text_stands_before_its_header_too() {
    let result = "{% if m.role == 'tool' %}null{% endif %}";
    let lacking = turns(&format!("<bot>{SAID}{CALLED}"), &asked("<bot>"))
        .replace("<end>{% endif %}", &format!("{result}<end>{{% endif %}}"));
    assert!(lacking.contains(result));
    let judgement = judged(&lacking, &fields(&[CONTENT, CALLS]));
    assert_all_back(&judgement);
    assert_eq!(judgement.unproved, []);
}

#[test]
fn what_stands_at_the_end_of_every_conversation_is_not_the_messages() {
    let ended = |end: &str| {
        chat("{{ m.content }}", "").replace("{% endfor %}", &format!("{end}{{% endfor %}}"))
    };
    let every = format!(
        "{}{{% if not add_generation_prompt %}}<stop>{{% endif %}}",
        chat("{{ m.content }}", "")
    );
    let own = ended("{% if loop.last and m.role == 'assistant' %}<stop>{% endif %}");
    let with_stop = r#""content": {"close_pattern": "<end>(?:<stop>|<[^>]*\\Z)?"}"#;
    assert_all_back(&judged(&every, &fields(&[REST])));
    assert_all_back(&judged(&every, &fields(&[with_stop])));
    assert_kinds(&judged(&own, &fields(&[REST])), &[Kind::Content], &[]);
    assert_all_back(&judged(&own, &fields(&[with_stop])));
}

/// The end of a turn is the turn's, although the next message is written with a beginning that looks like it.
#[test]
fn an_end_that_stays_when_the_conversation_goes_on_is_the_messages() {
    let chat = chat("{{ m.content }}", "");
    assert_all_back(&judged(&chat, &fields(&[REST])));
    let unended = judged(&chat, &fields(&[r#""content": {}"#]));
    assert_kinds(&unended, &[Kind::Content], &[]);
}

#[test]
fn what_a_prompt_opens_and_no_render_shows_is_told() {
    let plain = judged(
        &chat("{{ m.content }}", "<r>\n"),
        &fields(&[THINKING, REST]),
    );
    assert_eq!(tails(&plain), [("<bot><r>\n", vec![])]);
    assert!(plain.failures.is_empty());
    // A prompt that nothing was left out of is shown, and so is one that an answer with reasoning goes on from.
    for (answer, prompt) in [
        ("{{ m.content }}", ""),
        ("<r>{{ m.thinking }}</r>{{ m.content }}", "<r>"),
        (
            "{% if m.thinking %}<r>{{ m.thinking }}</r>{% endif %}{{ m.content }}",
            "<r>",
        ),
    ] {
        let judgement = judged(&chat(answer, prompt), &fields(&[THINKING, REST]));
        assert_eq!(tails(&judgement), [], "{answer}");
    }
}

#[test]
fn a_prompt_that_closes_an_empty_reasoning_is_shown_around_a_reasoning() {
    let answer = [THOUGHT, "{{ m.content }}"].concat();
    let chat = chat(
        &answer,
        "{% if think is defined and not think %}<r></r>{% endif %}",
    );
    let judgement = judged(&chat, &fields(&[THINKING, REST]));
    assert_all_back(&judgement);
    assert_eq!(tails(&judgement), []);
    // A response template that does not read an empty reasoning brings nothing back behind that prompt.
    let filled = THINKING.replace(r#""close": "</r>""#, r#""close_pattern": "(?<!<r>)</r>""#);
    let judgement = judged(&chat, &fields(&[&filled, REST]));
    assert_eq!(tails(&judgement), [("<r></r>", vec!["think"])]);
}

#[test]
fn a_prompt_may_close_two_empty_texts_before_a_content_that_is_opened() {
    let planned = "{% if m.plan %}<p>{{ m.plan }}</p>{% endif %}";
    let plan = r#""plan": {"open": "<p>", "close": "</p>"}"#;
    let filled = CONTENT.replace(r#""open": "<t>""#, r#""open_pattern": "(?<!<r></r>)<t>""#);
    // Messages with calls are told in the same conversations, and none of them has such a text.
    for called in ["", CALLED] {
        let chat = chat(
            &[planned, THOUGHT, SAID, called].concat(),
            "{% if think is defined and not think %}<p></p><r></r>{% endif %}",
        );
        let judgement = judged(&chat, &fields(&[plan, THINKING, CONTENT, CALLS]));
        assert_all_back(&judgement);
        assert_eq!(tails(&judgement), [], "{called}");
        let judgement = judged(&chat, &fields(&[plan, THINKING, &filled, CALLS]));
        assert_eq!(tails(&judgement).len(), 1, "{called}");
    }
    // Calls must come back behind the prompt, too.
    let chat = chat(
        &[planned, THOUGHT, SAID, CALLED].concat(),
        "{% if think is defined and not think %}<p></p><r></r>{% endif %}",
    );
    let calls = CALLS.replace(r#""open": "<c>""#, r#""open_pattern": "(?<!<r></r>)<c>""#);
    let judgement = judged(&chat, &fields(&[plan, THINKING, CONTENT, &calls]));
    assert_all_back(&judgement);
    assert_eq!(tails(&judgement).len(), 1);
}

/// Deep thought is opened by the prompt and left out of the history; shallow thought is in the history.
#[test]
fn what_one_prompt_opens_another_answer_may_show() {
    let answer = format!(
        "{{{{ 'a.' if deep }}}}{{% if m.thinking and not deep %}}<r>{{{{ m.thinking }}}}</r>{{% endif %}}{SAID}"
    );
    let chat = chat(&answer, "{{ 'a.<r>' if deep }}");
    let judgement = judged(&chat, &fields(&[THINKING, CONTENT]));
    assert_eq!(tails(&judgement), []);
    assert_all_back(&judgement);
    // What the shallow answer shows must come back behind the deep prompt too.
    let shallow = THINKING.replace(r#""open": "<r>""#, r#""open_pattern": "(?<!a\\.)<r>""#);
    let judgement = judged(&chat, &fields(&[&shallow, CONTENT]));
    assert!(judgement.failures.is_empty());
    assert_eq!(tails(&judgement), [("a.<r>", vec!["deep"])]);
}

#[test]
fn the_value_of_a_kwarg_in_a_prompt_is_no_opened_part() {
    let chat = |prompt: &str| chat(SAID, prompt);
    let response = fields(&[CONTENT]);
    let value = judged(
        &chat("{% if mood == 'calmly' %}{{ mood }}{% endif %}"),
        &response,
    );
    assert_eq!(tails(&value), []);
    let other = judged(
        &chat("{% if mood == 'calmly' %}softly{% endif %}"),
        &response,
    );
    assert_eq!(tails(&other), [("softly", vec!["mood"])]);
}

/// The turn begins behind the list of the tools, which may stand behind the user's words, under kwargs that change the prompt as well.
#[test]
fn tools_may_be_listed_behind_the_users_words() {
    let listed =
        "{% if tools and m.role == 'user' %}<turn of host>{{ tools | tojson }}<end>{% endif %}";
    let chat = format!(
        "{{% for m in messages %}}{{% if m.role == 'assistant' %}}<turn of bot>{THOUGHT}{SAID}{CALLED}<end>\
         {{% else %}}<{{{{ m.role }}}}>{{{{ m.content }}}}<end>{listed}{{% endif %}}{{% endfor %}}{}",
        asked("<turn of bot>{% if mute %}<r></r>{% endif %}")
    );
    let response = fields(&[THINKING, CONTENT, CALLS]).replace("<bot>", "<turn of bot>");
    let judgement = judged(&chat, &response);
    assert_all_back(&judgement);
    assert_kinds(&judgement, &[], &[Kind::Call, Kind::Calls, Kind::Content]);
}

/// A reasoning may be closed by a word, and by another one where a call follows and nothing is said between.
#[test]
fn a_word_that_stands_before_calls_alone_is_a_marker() {
    let thought = "{% if m.thinking %}musing{{ m.thinking }}\
                   {% if m.tool_calls and m.content %}andalso{% elif m.tool_calls %}thereupon{% else %}enough{% endif %}{% endif %}";
    let thinking = r#""thinking": {"open": "musing", "close_pattern": "andalso|thereupon|enough"}"#;
    let chat = chat(&format!("{thought}{SAID}{CALLED}"), "");
    assert_all_back(&judged(&chat, &fields(&[thinking, CONTENT, CALLS])));
    // The word is one of its markers all the same: a response template without it does not pass.
    let without = thinking.replace("|thereupon", "");
    let judgement = judged(&chat, &fields(&[&without, CONTENT, CALLS]));
    assert!(fails(&judgement, Kind::ReasoningWithCalls));
}
