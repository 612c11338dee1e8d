//! What a server's client is told, as the debugger shows it.

use std::sync::Arc;

use insta::assert_snapshot;
use obverse::chunking::Chunking;
use obverse::deltas::{DeltaParser, DeltaTemplate};
use obverse::response_template::ResponseTemplate;
use obverse::tui::Setup;

use crate::bench::{open, pane, press, setup, title};

const TAGS: &str = r#"{"start_anchor": "A:", "fields": {
    "thinking": {"open": "<think>", "close": "</think>"},
    "content": {},
    "tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json",
        "transform": {"type": "function", "function": "{content}"}}}}"#;

const CALL: &str =
    "<think>hm</think>Sure.<call>{\"name\": \"find\", \"arguments\": {\"city\": \"Paris\"}}</call>";

#[test]
fn they_stand_beside_the_events() {
    let mut bench = open(Setup {
        chunking: Chunking::Characters(20),
        ..setup(TAGS, CALL)
    });
    press(&mut bench, "<right><right><right><right>7");
    assert_snapshot!(bench.screen(80, 24).to_text(), @r#"
    template.json · sample.txt · 20                            chunk 4/5 byte 80/83
    ─1 Response, 4 bytes held ─────────────────────│─2 Events ──────────────────────
    t <think>hm</think>Sure.<call>{"name": "find", │ close thinking "hm"
    o ·"arguments": {"city": "Paris"}}</call>      │ open  content
                                                   │ text  content Sure.
                                                   │ close content "Sure."
                                                   │ open  tool_calls <call>
                                                   │›text  tool_calls {"name": "fin…
                                                   │▶7 Deltas ──────────────────────
                                                   │ text  thinking hm
                                                   │ text  content Sure.
                                                   │ call  #0 find
                                                   │›args  #0 {"city": "Paris"}
    ─5 Template ───────────────────────────────────│
      {"start_anchor": "A:", "fields": {           │
          "thinking": {"open": "<think>", "close": │─4 Message ─────────────────────
       "</think>"},                                │   thinking "hm"
          "content": {},                           │   content "Sure."
    ▶     "tool_calls": {"open": "<call>", "close" │
    ✗ : "</call>", "repeats": true, "content": "js │
    ▌ on",                                         │ tool_calls is open
    ✗ a line feed behind "</call>" replaces what … │ raw    …ts": {"city": "Paris"}}
      r repairs it: let it take the white space …  │ parsed {"type": "function", "f…
    ? help  q quit  →← chunk  ][ event  x problem  Tab pane  e edit  s fixture
    "#);
    press(&mut bench, "G");
    assert_snapshot!(bench.screen(100, 42).to_text(), @r#"
    template.json · sample.txt · 20                                                      end byte 83/83
    ─1 Response ───────────────────────────────────────────────│─2 Events ──────────────────────────────
    t <think>hm</think>Sure.<call>{"name": "find", "arguments" │ open  thinking <think>
    o : {"city": "Paris"}}</call>                              │ text  thinking hm
                                                               │ close thinking "hm"
                                                               │ open  content
                                                               │ text  content Sure.
                                                               │ close content "Sure."
                                                               │ open  tool_calls <call>
                                                               │ text  tool_calls {"name": "find", "arg…
                                                               │›close tool_calls {"type": "function", …
                                                               │▶7 Deltas ──────────────────────────────
                                                               │ text  thinking hm
                                                               │ text  content Sure.
                                                               │ call  #0 find
                                                               │ args  #0 {"city": "Paris"}
                                                               │›done  #0
                                                               │
                                                               │
                                                               │
                                                               │
                                                               │─3 State ───────────────────────────────
                                                               │ the response is over
    ─5 Template ───────────────────────────────────────────────│
      {"start_anchor": "A:", "fields": {                       │
          "thinking": {"open": "<think>", "close": "</think>"} │
      ,                                                        │
    ▌     "content": {},                                       │
    ✗     "tool_calls": {"open": "<call>", "close": "</call>", │
       "repeats": true, "content": "json",                     │
              "transform": {"type": "function", "function": "{ │
      content}"}}}}                                            │─4 Message ─────────────────────────────
                                                               │   thinking "hm"
                                                               │   content "Sure."
                                                               │*▾ tool_calls [1]
                                                               │*  ▾ 0 {2}
                                                               │*      type "function"
    ✗ a line feed behind "</call>" replaces what "content" had │*    ▾ function {2}
      before the region                                        │*        name "find"
      r repairs it: let it take the white space behind it:     │*      ▾ arguments {1}
      `\s*` at its end                                         │*          city "Paris"
    ? help  q quit  →← chunk  ][ event  x problem  Tab pane  e edit  s fixture  S template  Space play
    "#);
}

#[test]
fn the_keys_of_the_pane_go_to_where_each_is_told_and_back() {
    let mut bench = open(Setup {
        chunking: Chunking::Whole,
        ..setup(TAGS, CALL)
    });
    let mut titles = Vec::new();
    for _ in 0..5 {
        press(&mut bench, "7<down>");
        titles.push((title(&mut bench), pane(&mut bench, 7)));
    }
    let bytes = titles.iter().map(|(title, _)| title.rsplit(' ').next());
    let bytes: Vec<&str> = bytes.flatten().collect();
    assert_snapshot!(bytes.join(" "), @"9/83 22/83 43/83 75/83 83/83");
    for expected in titles.iter().rev().skip(1) {
        press(&mut bench, "7<up>");
        assert_eq!((title(&mut bench), pane(&mut bench, 7)), *expected);
    }
    press(&mut bench, "7<down><down><enter>");
    assert!(bench.screen(80, 24).to_text().contains("┌ call"));
}

#[test]
fn what_is_taken_back_is_told() {
    let mut bench = open(setup(
        TAGS,
        "<call>{\"name\": \"find\", \"arguments\": {]</call>",
    ));
    press(&mut bench, "G");
    assert_snapshot!(pane(&mut bench, 7), @r#"
     call  #0 find
     args  #0 {
    ›drop  #0 is not in the message
    "#);
}

#[test]
fn they_are_those_of_the_delta_parser_at_every_place() {
    let template = ResponseTemplate::from_json(TAGS).expect("a template");
    let template = Arc::new(DeltaTemplate::new(template));
    let mut bench = open(Setup {
        chunking: Chunking::Characters(1),
        ..setup(TAGS, CALL)
    });
    let mut parser = DeltaParser::new(template, "", &[]).expect("a parser");
    let (mut text, mut arguments) = (String::new(), String::new());
    for c in CALL.chars() {
        press(&mut bench, "<right>");
        for growth in parser.feed(&c.to_string()).expect("it parses") {
            match growth {
                obverse::deltas::Growth::Text { text: more, .. } => text.push_str(&more),
                obverse::deltas::Growth::Arguments { text: more, .. } => arguments.push_str(&more),
                _ => {}
            }
        }
        let shown = pane(&mut bench, 7);
        for row in shown.lines() {
            if let Some((_, told)) = row.split_once("args  #0 ") {
                assert_eq!(told.trim_end(), arguments.trim_end());
            }
            if let Some((_, told)) = row.split_once("text  content ") {
                assert!(text.trim_end().ends_with(told.trim_end()), "{told} {text}");
            }
        }
        assert_eq!(shown.contains("args "), !arguments.is_empty());
    }
    assert_eq!(arguments, r#"{"city": "Paris"}"#);
}
