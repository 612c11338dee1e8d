//! What the grammar allows at the cursor, as the debugger shows it.

use obverse::chat_template;
use obverse::chunking::Chunking;
use obverse::tui::Setup;
use obverse::value::json;

use crate::bench::{open, pane, press, setup};

const CHAT: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}\
    <call>{\"name\": {{ c.function.name | tojson }}, \"arguments\": {{ c.function.arguments | tojson }}}</call>{% endfor %}</s>{% endfor %}\
    {% if add_generation_prompt %}<assistant>{% endif %}";

const TEMPLATE: &str = r#"{"start_anchor": "<assistant>", "fields": {
    "content": {"close": "</s>"},
    "tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json",
        "transform": {"type": "function", "function": "{content}"}}}}"#;

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "find", "parameters":
    {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}}}]"#;

fn with_grammar(response: &str, chat: Option<&str>) -> Setup {
    let mut setup = setup(TEMPLATE, response);
    setup.chunking = Chunking::Characters(7);
    let tools = json::parse(TOOLS).expect("JSON");
    setup.samples[0].tools = tools.as_array().expect("a list").to_vec();
    setup.samples[0].prefix = "<user>Where?</s><assistant>".to_owned();
    setup.chat_template =
        chat.map(|chat| chat_template::from_text("chat", chat).expect("a chat template"));
    setup
}

/// The rows of the state that the grammar has: the heading, and what may come next.
fn told(bench: &mut crate::bench::Bench) -> Vec<String> {
    let text = pane(bench, 3);
    let rows = text.lines().skip_while(|row| !row.contains("grammar"));
    let rows = rows.enumerate();
    let own = rows.take_while(|(at, row)| *at == 0 || row.starts_with("   "));
    own.map(|(_, row)| row.trim().to_owned()).collect()
}

#[test]
fn what_may_come_next_is_shown_at_every_step_both_ways() {
    let response = "Now:<call>{\"name\": \"lose\"}</call></s>";
    let mut bench = open(with_grammar(response, Some(CHAT)));
    assert!(
        told(&mut bench).is_empty(),
        "it is shown when it is asked for"
    );
    press(&mut bench, "a");
    let mut seen = vec![told(&mut bench)];
    for _ in 0..4 {
        press(&mut bench, "<right>");
        seen.push(told(&mut bench));
    }
    let seen_rows: Vec<String> = seen.iter().map(|rows| rows.join("\n  ")).collect();
    insta::assert_snapshot!(seen_rows.join("\n"), @r#"
    the grammar allows next
      "</s>"
      "<call>{\"name\": \"find\", \"arguments\": {"
      text
      the end
    the grammar allows next
      "</s>"
      "<call>{\"name\": \"find\", \"arguments\": {"
      "ll>{\"name\": \"find\", \"arguments\": {"
      text
      the end
    the grammar allows next
      "me\": \"find\", \"arguments\": {"
    the grammar does not allow byte 20, where might stand
      "find\", \"arguments\": {"
    the grammar does not allow byte 20, where might stand
      "find\", \"arguments\": {"
    "#);
    for earlier in seen.iter().rev().skip(1) {
        press(&mut bench, "<left>");
        assert_eq!(told(&mut bench), *earlier);
    }
    press(&mut bench, "a");
    assert!(told(&mut bench).is_empty(), "and hidden when it is not");
}

#[test]
fn without_a_chat_template_it_is_that_of_the_response_template_as_it_is_edited() {
    let mut bench = open(with_grammar("Now:</s>", None));
    press(&mut bench, "a<right><right>");
    assert_eq!(
        told(&mut bench).first().map(String::as_str),
        Some("the grammar allows next")
    );
    // The end of the answer becomes another one.
    press(&mut bench, "5e<c-home>");
    for _ in 0
        .."{\"start_anchor\": \"<assistant>\", \"fields\": {\n    \"content\": {\"close\": \"<"
            .chars()
            .count()
    {
        press(&mut bench, "<right>");
    }
    press(&mut bench, "x<esc>1");
    let next = told(&mut bench);
    assert!(next.iter().any(|row| row.contains("<x/s>")), "{next:?}");
}
