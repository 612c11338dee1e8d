//! Texts that have the very characters in them that the chat template writes next to texts.

use super::*;

/// Returns true if a message failed with this text in its response.
fn fails_with(judgement: &Judgement, text: &str) -> bool {
    let mut responses = judgement
        .failures
        .iter()
        .map(|failure| &failure.found.response);
    responses.any(|response| response.contains(text))
}

/// Jinja source of a reasoning between these markers.
fn thought_between(open: &str, close: &str) -> String {
    format!("{{% if m.thinking %}}{open}{{{{ m.thinking }}}}{close}{{% endif %}}{SAID}")
}

fn thinking_between(open: &str, close: &str) -> String {
    THINKING.replace("<r>", open).replace("</r>", close)
}

#[test]
fn a_text_of_the_character_alone_comes_back() {
    let chat = chat(&thought_between("***", "***"), "");
    let judgement = judged(&chat, &fields(&[&thinking_between("***", "***"), CONTENT]));
    assert_kinds(&judgement, &[Kind::Reasoning], &[Kind::Content]);
    assert!(fails_with(&judgement, "*******"));
    let last = thinking_between("***", "")
        .replace(r#""close": """#, r#""close_pattern": "\\*\\*\\*(?!\\*)""#);
    assert_all_back(&judged(&chat, &fields(&[&last, CONTENT])));
}

#[test]
fn a_text_may_begin_with_the_sign_that_stands_before_it() {
    let chat = chat(&thought_between("<r>", "</r>"), "");
    let greedy = r#""content": {"open_pattern": "<t>+", "close": "</t>"}"#;
    let judgement = judged(&chat, &fields(&[THINKING, greedy]));
    assert_kinds(&judgement, &[Kind::Content], &[]);
    assert!(fails_with(&judgement, "<t>>Marigold"));
    let greedy = THINKING.replace(r#""open": "<r>""#, r#""open_pattern": "<r>+""#);
    let judgement = judged(&chat, &fields(&[&greedy, CONTENT]));
    assert_kinds(&judgement, &[Kind::Reasoning], &[Kind::Content]);
    assert!(judgement.rounds.passed > 0);
}

#[test]
fn a_text_may_end_with_the_sign_that_stands_behind_it() {
    let calls = "{% for c in m.tool_calls or [] %}>>>{{ c.function.name }} {{ c.function.arguments | tojson }}{% endfor %}";
    let chat = chat(&["{{ m.content or '' }}", calls].concat(), "");
    let fields = |name: &str| {
        fields(&[
            &format!(
                r#""tool_calls": {{"open_pattern": ">>>(?P<name>{name}) ", "close_pattern": "(?=>>>\\w+ |<end>)",
                "content": "json", "repeats": true, "transform": {{"type": "function", "function": {{"name": "{{name}}",
                "arguments": "{{content}}"}}}}}}"#
            ),
            REST,
        ])
    };
    // It renders to the same text, but there is no function of that name.
    let judgement = judged(&chat, &fields(r"[^\\s{]+"));
    assert_kinds(
        &judgement,
        &[Kind::ContentWithCalls],
        &[Kind::Call, Kind::Content],
    );
    assert!(fails_with(&judgement, "thicket>>>>count_sparrows"));
    assert_all_back(&judged(&chat, &fields(r"[\\w.-]+")));
}

/// Text that stands within calls may stand in any text.
#[test]
fn signs_of_calls_stand_in_answers() {
    let calls = "{% for c in m.tool_calls or [] %}{{ c.function.name }}|{{ c.function.arguments | tojson }}<c>{% endfor %}";
    let answer =
        format!("{{% if m.tool_calls %}}{calls}{{% else %}}{{{{ m.content }}}}{{% endif %}}");
    let chat = chat(&answer, "");
    let fields = |open: &str| {
        fields(&[
            &format!(
                r#""tool_calls": {{"open_pattern": "{open}", "close": "<c>", "content": "json", "repeats": true,
                "transform": {{"type": "function", "function": {{"name": "{{name}}", "arguments": "{{content}}"}}}}}}"#
            ),
            REST,
        ])
    };
    let judgement = judged(&chat, &fields(r"(?P<name>[\\w.-]+)\\|"));
    assert_kinds(&judgement, &[Kind::Content], &[Kind::Call, Kind::Calls]);
    assert!(fails_with(&judgement, "Marigold|thicket"));
    assert_all_back(&judged(
        &chat,
        &fields(r#"(?P<name>[\\w.-]+)\\|(?=\\{\\}|\\{\"[\\w@])"#),
    ));
}

/// Two characters are less than a marker where more stands there.
#[test]
fn two_signs_that_begin_a_marker_stand_in_texts() {
    let calls = CALLED.replace("</c>", "/></c>");
    let chat = chat(&["{{ m.content or '' }}", calls.as_str()].concat(), "");
    let closed = |pattern: &str| {
        let calls = CALLS.replace(
            r#""close": "</c>""#,
            &format!(r#""close_pattern": "{pattern}""#),
        );
        fields(&[&calls, REST])
    };
    // Text that ends in this and in no more.
    let judgement = judged(&chat, &closed(r"\\}/>(?:</c>)?"));
    assert_kinds(&judgement, &[], &[Kind::Content]);
    assert!(!judgement.failures.is_empty());
}

#[test]
fn an_argument_may_end_with_the_sign_that_stands_behind_it() {
    let chat = chat(&[SAID, TAGGED].concat(), "");
    assert_all_back(&judged(&chat, &fields(&[CONTENT, TAGS])));
    let greedy = TAGS.replace("</a>", "<+/a>");
    let judgement = judged(&chat, &fields(&[CONTENT, &greedy]));
    assert_kinds(&judgement, &[Kind::StringArgument], &[Kind::Content]);
    assert!(fails_with(&judgement, "<</a>"));
}

#[test]
fn arguments_have_code_between_fences_and_markup_in_them() {
    let failing = [("```", "```"), ("<c ", "/>"), ("<c>", "</c>")].map(|(open, close)| {
        let own = |text: &str| text.replace("<c>", open).replace("</c>", close);
        let chat = chat(&[SAID, &own(CALLED)].concat(), "");
        let judgement = judged(&chat, &fields(&[CONTENT, &own(CALLS)]));
        assert!(holds(&judgement, Kind::Content));
        fails(&judgement, Kind::StringArgument)
    });
    assert_eq!(failing, [true, true, false]);
}
