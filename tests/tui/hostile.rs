//! Text that would do something to a terminal.

use insta::assert_snapshot;
use obverse::tui::{Derivation, Sample, Setup};

use crate::bench::{TEMPLATE, TRAP, calls, open, pane, press, setup};

/// Escape sequences, marks that turn the direction, a NUL, what has no width, marks upon marks, wide characters.
const HOSTILE: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\0\r\u{202e}abc\u{2066}\u{200d}e\u{301}\u{301}\u{301}\u{301}\
     \u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}漢字\u{fe0f}👍🏽\u{feff}\u{7f}\u{e0041}<end>";

fn is_harmless(text: &str) -> bool {
    !text.chars().any(|c| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
                | '\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    })
}

#[test]
fn nothing_reaches_the_screen_unescaped() {
    let template = TEMPLATE
        .replace("assistant", "assistant\\u001b[2J")
        .replace("\"thinking\"", "\"th\\u202e\\u001bx\"");
    let derivation = Derivation::of_json(&format!(
        r#"{{"source": "\u001b", "verified": true, "evidence": [{{"question": "\u001bq", "marker": {0}, "reading": {0},
            "left": {{"variant": {0}, "text": {0}}}, "right": {{"variant": {0}, "text": "x"}}}}]}}"#,
        obverse::value::json::quote(HOSTILE)
    ));
    let mut sample = Sample::new(format!("name{HOSTILE}"), HOSTILE);
    sample.prefix = HOSTILE.to_owned();
    let mut bench = open(Setup {
        samples: vec![sample, Sample::new(HOSTILE, format!("<think>{HOSTILE}"))],
        derivation,
        ..setup(&template, "")
    });
    let walk = [
        "",
        "<right>",
        "]",
        "]",
        "G",
        "2",
        "3",
        "4",
        "4<down><enter>",
        "<esc>5",
        "6",
        "e",
        "<esc>1e",
        "<esc>p",
        "<esc>o",
        "<esc>/",
        "\u{1b}[31m",
        "<esc>b",
        "text \u{1b}<enter>",
        "b",
        "<esc>s",
        "<c-u>\u{1b}x<enter>",
        "<esc>o<down><enter>G5ex",
        "<esc>k",
    ];
    for keys in walk {
        press(&mut bench, keys);
        for (width, height) in [(80, 24), (120, 40), (40, 12), (7, 5)] {
            let screen = bench.screen(width, height);
            assert!(
                is_harmless(&screen.to_text()),
                "after {keys:?}: {}",
                screen.to_text()
            );
            assert!(is_harmless(&screen.to_svg()));
        }
    }
}

#[test]
fn what_cannot_be_seen_is_spelled() {
    let mut bench = open(setup(TRAP, HOSTILE));
    press(&mut bench, "G");
    assert_snapshot!(pane(&mut bench, 1), @r#"
    c ␛[31mred␛]0;title␇⟨9B⟩2J␀␍⟨202E⟩abc⟨2066⟩⟨200D⟩é́́́́́́́́́́漢字⟨FE0F⟩👍⟨1F3FD⟩⟨FEFF⟩
    c ␡⟨E0041⟩<end>
    "#);
}

#[test]
fn spaces_can_be_seen() {
    let mut bench = open(setup(TRAP, "a b  c \n\td\u{a0}e"));
    assert_snapshot!(pane(&mut bench, 1), @r#"
    a b··c·⏎
    ⇥d⟨A0⟩e
    "#);
    press(&mut bench, "w");
    assert!(pane(&mut bench, 1).contains("a·b··c·⏎"));
}

#[test]
fn a_paste_is_text_and_not_keys() {
    use obverse::tui::Incoming;
    let mut bench = calls();
    let paste = crossterm::event::Event::Paste("q".to_owned());
    bench.take(Incoming::Terminal(paste));
    assert!(!bench.has_quit());
}
