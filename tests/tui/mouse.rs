//! What the mouse points at.

use crossterm::event::{Event, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use obverse::tui::{Incoming, Sample, Setup};

use crate::bench::{
    Bench, RESPONSE, TEMPLATE, calls, derivation, open, press, screen, setup, title,
};

const CLICK: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const DOWN: MouseEventKind = MouseEventKind::ScrollDown;
const UP: MouseEventKind = MouseEventKind::ScrollUp;

/// Does something where a text stands on the screen: in the column of its first character, which must be there once.
#[track_caller]
fn at(bench: &mut Bench, kind: MouseEventKind, text: &str) {
    let shown = screen(bench);
    let mut found = shown.lines().enumerate().filter_map(|(row, line)| {
        let before = &line[..line.find(text)?];
        Some((before.chars().count(), row))
    });
    let (column, row) = found
        .next()
        .unwrap_or_else(|| panic!("no {text:?}:\n{shown}"));
    assert!(
        found.next().is_none(),
        "{text:?} stands there more than once:\n{shown}"
    );
    let mouse = MouseEvent {
        kind,
        column: u16::try_from(column).expect("a column"),
        row: u16::try_from(row).expect("a row"),
        modifiers: KeyModifiers::NONE,
    };
    bench.take(Incoming::Terminal(Event::Mouse(mouse)));
}

#[test]
fn a_click_goes_to_a_place_an_event_or_a_pane() {
    let mut bench = calls();
    press(&mut bench, "G");
    at(&mut bench, CLICK, "ook.⏎");
    assert!(
        title(&mut bench).contains("byte 39/"),
        "{}",
        title(&mut bench)
    );
    press(&mut bench, "G");
    at(&mut bench, CLICK, "text  tool_calls {\"at\": [1");
    assert!(
        title(&mut bench).contains("byte 69/"),
        "{}",
        title(&mut bench)
    );
    assert!(screen(&mut bench).contains("▶2 Events"));
    at(&mut bench, CLICK, "3 State");
    assert!(screen(&mut bench).contains("▶3 State"));
}

#[test]
fn a_second_click_folds_a_member_and_shows_a_value() {
    let mut bench = calls();
    press(&mut bench, "G");
    at(&mut bench, CLICK, "tool_calls [1]");
    assert!(screen(&mut bench).contains("▾ tool_calls"));
    at(&mut bench, CLICK, "tool_calls [1]");
    assert!(screen(&mut bench).contains("▸ tool_calls"));
    at(&mut bench, CLICK, "thinking \"Whether to call.\"");
    at(&mut bench, CLICK, "thinking \"Whether to call.\"");
    assert!(screen(&mut bench).contains("┌ $.thinking"));
}

#[test]
fn the_wheel_moves_what_lies_under_it() {
    let long = "a line\n".repeat(60);
    let mut bench = open(setup(TEMPLATE, &format!("<think>{long}the end")));
    at(&mut bench, DOWN, "1 Response");
    assert!(
        title(&mut bench).contains("byte 0/"),
        "scrolling is not stepping"
    );
    for _ in 0..40 {
        at(&mut bench, DOWN, "1 Response");
    }
    assert!(screen(&mut bench).contains("the end"));
    at(&mut bench, DOWN, "2 Events");
    at(&mut bench, DOWN, "2 Events");
    assert!(screen(&mut bench).contains("text  thinking"));
    at(&mut bench, UP, "2 Events");
    assert!(!screen(&mut bench).contains("text  thinking"));
    press(&mut bench, "?");
    let top = screen(&mut bench);
    at(&mut bench, DOWN, "Moving");
    assert_ne!(screen(&mut bench), top);
}

#[test]
fn a_list_is_chosen_from() {
    let mut setup = setup(TEMPLATE, RESPONSE);
    setup.samples.push(Sample::new("the other", "Hi<end>"));
    let mut bench = open(setup);
    press(&mut bench, "o");
    at(&mut bench, CLICK, "the other");
    assert!(screen(&mut bench).contains("› the other"));
    at(&mut bench, CLICK, "the other");
    assert!(title(&mut bench).contains("the other 2/2"));
    press(&mut bench, "o");
    at(&mut bench, UP, "1 Response");
    press(&mut bench, "<enter>");
    assert!(title(&mut bench).contains("sample.txt 1/2"));
}

#[test]
fn a_marker_is_chosen_and_found() {
    let mut bench = open(Setup {
        derivation: Some(derivation()),
        ..setup(TEMPLATE, RESPONSE)
    });
    press(&mut bench, "6");
    at(&mut bench, CLICK, "reasoning close");
    assert!(screen(&mut bench).contains("›reasoning close"));
    at(&mut bench, CLICK, "reasoning close");
    assert!(
        title(&mut bench).contains("byte 31/"),
        "{}",
        title(&mut bench)
    );
}

#[test]
fn a_click_puts_the_cursor_of_an_edit() {
    let mut bench = open(setup(TEMPLATE, "one two"));
    press(&mut bench, "e");
    at(&mut bench, CLICK, "two");
    press(&mut bench, "and ");
    assert!(screen(&mut bench).contains("one and two"));
}
