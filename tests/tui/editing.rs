//! Editing while the parse runs along.

use insta::assert_snapshot;
use obverse::tui::{Sample, Setup, session};

use crate::bench::{
    Bench, TEMPLATE, TRAP, debugger, derivation, open, pane, press, screen, setup, status, title,
};

#[test]
fn the_template_reruns_with_every_valid_edit() {
    let mut bench = debugger(TRAP, "Hello<|im_end|>\n");
    press(&mut bench, "G");
    assert!(pane(&mut bench, 2).contains("loses \"Hello\" for \"\""));
    // The cursor is at the field's close.
    press(&mut bench, "5e<end>");
    press(&mut bench, "<left><left><left><backspace>");
    assert!(screen(&mut bench).contains("editing"));
    press(&mut bench, "<c-z><esc>");
    assert_eq!(title(&mut bench).matches('*').count(), 0);
    // With a close that takes the space behind it nothing is lost.
    press(&mut bench, &format!("e{}_pattern", "<right>".repeat(6)));
    press(
        &mut bench,
        &format!("{}\\\\{}\\\\", "<right>".repeat(5), "<right>".repeat(7)),
    );
    press(&mut bench, "<right><right>\\\\s*<esc>1");
    assert!(!pane(&mut bench, 2).contains("loses"));
    assert!(pane(&mut bench, 4).contains("content \"Hello\""));
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let mut bench = debugger(TRAP, "Hello<|im_end|>\n");
    press(&mut bench, "G5e<home>x<esc>");
    press(&mut bench, "z");
    assert_snapshot!(bench.screen(76, 14).to_text(), @r#"
    template.json* · sample.txt · words                          end byte 16/16
    ▶5 Template (not saved) ────────────────────────────────────────────────────
      {
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
    ✗ x    "content": {"close": "<|im_end|>"}  ← not JSON: expected a key in do…
        }
      }


    ✗ not JSON: expected a key in double quotes
      the last valid template keeps running
    ! text behind its close opened content again: "" counts, not "Hello"
    ? help  q quit  →← chunk  ][ event  x problem  Tab pane  e edit  s fixture
    "#);
    // The last valid template keeps running.
    press(&mut bench, "z1");
    assert!(pane(&mut bench, 2).contains("close content"));
    press(&mut bench, "S");
    assert!(status(&mut bench).contains("not valid"));
}

#[test]
fn the_cursor_stays_at_its_byte() {
    let mut bench = debugger(TEMPLATE, "<think>a</think>b<end>");
    press(&mut bench, "K<home><enter>.........");
    assert!(title(&mut bench).contains("byte 9/"));
    press(&mut bench, "Kwords<esc>Ka1<enter>");
    assert!(title(&mut bench).contains("byte 9/"));
    press(&mut bench, "5e<end><enter><esc>");
    assert!(
        title(&mut bench).contains("byte 9/"),
        "{}",
        title(&mut bench)
    );
}

#[test]
fn the_response_is_edited_where_it_is_shown() {
    let mut bench = debugger(TEMPLATE, "Hi<end>");
    press(&mut bench, "Ge<c-home>");
    press(&mut bench, "<lt>think>hm<lt>/think><esc>");
    assert!(pane(&mut bench, 4).contains("thinking \"hm\""));
    press(&mut bench, "e<c-z><c-z><c-z><c-z><c-z><c-z><c-z><c-z><esc>");
    assert!(!pane(&mut bench, 4).contains("thinking"));
}

#[test]
fn the_prefix_is_edited_too() {
    let mut bench = debugger(TEMPLATE, "hm</think>Hi");
    press(&mut bench, "p<lt>assistant><lt>think><esc>G");
    assert!(pane(&mut bench, 4).contains("thinking \"hm\""));
    assert!(pane(&mut bench, 1).contains("<think>hm</think>Hi"));
}

#[test]
fn a_session_is_opened_as_it_was() {
    let mut bench = open(Setup {
        breakpoints: vec!["field thinking".to_owned()],
        derivation: Some(derivation()),
        ..setup(TEMPLATE, "<think>a</think>b<end>")
    });
    press(&mut bench, ":9<enter>5e<end> <esc>");
    let session = session::read(&bench.session())
        .expect("a session")
        .expect("one that opens");
    let mut again = open(session);
    for number in [1, 2, 3, 5, 6] {
        assert_eq!(pane(&mut again, number), pane(&mut bench, number));
    }
    press(&mut again, "gc");
    assert!(title(&mut again).contains("byte 7/"));
}

#[test]
fn a_session_in_the_middle_of_an_edit_is_opened_there() {
    let mut bench = debugger(TRAP, "Hello<|im_end|>\n");
    press(&mut bench, "G5e<home>x");
    let again = session::read(&bench.session()).expect("a session");
    let mut again = open(again.expect("one that opens"));
    press(&mut bench, "<esc>");
    assert!(pane(&mut again, 5).contains("not JSON"));
    // One of them tells of the chosen event besides, for which its pane is lower.
    let written = |bench: &mut Bench| {
        let text = pane(bench, 5);
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(written(&mut again), written(&mut bench));
    // The last valid one runs on in both.
    press(&mut again, "G");
    assert!(pane(&mut again, 2).contains("close content"));
}

#[test]
fn what_is_expected_and_is_not_so_is_told() {
    let mut sample = Sample::new("s", "Hello<|im_end|>\n");
    sample.expected = Some(obverse::value::json::parse(r#"{"content": "Hello"}"#).expect("JSON"));
    let mut setup = setup(TRAP, "");
    setup.samples = vec![sample];
    let mut bench = open(setup);
    let at_120 = bench.screen(130, 24).to_text();
    assert!(at_120.contains("differs from what is expected"), "{at_120}");
}
