//! Text that would do something to a terminal.

use insta::assert_snapshot;
use obverse::tui::{Debugger, Derivation, Sample, Setup, Template, Theme};

use crate::bench::{Bench, Memory, TEMPLATE, TRAP, calls, open, pane, press, setup};

/// Escape sequences, marks that turn the direction, a NUL, what has no width, marks upon marks, wide characters.
pub(crate) const HOSTILE: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\0\r\u{202e}abc\u{2066}\u{200d}e\u{301}\u{301}\u{301}\u{301}\
     \u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}漢字\u{fe0f}👍🏽\u{feff}\u{7f}\u{e0041}<end>";

/// Whether no character would do something to a terminal, or to its reader.
pub(crate) fn is_harmless(text: &str) -> bool {
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
            "left": {{"variant": {0}, "text": {0}}}, "right": {{"variant": {0}, "text": "x"}},
            "places": [{{"template": {0}, "line": 1, "column": 1, "start": 0, "end": 1, "text": {0}}},
                {{"input": [{0}, 1], "text": {0}}}]}}]}}"#,
        obverse::value::json::quote(HOSTILE)
    ));
    let mut sample = Sample::new(format!("name{HOSTILE}"), HOSTILE);
    sample.prefix = HOSTILE.to_owned();
    let mut bench = open(Setup {
        samples: vec![sample, Sample::new(HOSTILE, format!("<think>{HOSTILE}"))],
        derivation,
        ..setup(&template, "")
    });
    let keys = [
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
    walk(&mut bench, &keys);
}

/// Presses keys step by step, and looks at every screen.
fn walk(bench: &mut Bench, walk: &[&str]) {
    for keys in walk {
        press(bench, keys);
        for (width, height) in [(80, 24), (120, 40), (40, 12), (7, 5)] {
            let screen = bench.screen(width, height);
            let text = screen.to_text();
            assert!(is_harmless(&text), "after {keys:?}: {text}");
            assert!(is_harmless(&screen.to_svg()), "after {keys:?}");
        }
    }
}

#[test]
fn keys_of_values_names_of_files_and_what_is_told_are_harmless() {
    let bad = "\u{1b}[2J\u{9b}3J\u{202e}\0\u{200b}漢e\u{301}";
    let quoted = obverse::value::json::quote(bad);
    // The keys and values of a call, its name, an error of one that does not parse, and text that no field takes.
    let response = format!(
        "<call x>{{{quoted}: [{quoted}, {{{quoted}: 1}}]}}</call><call y>{bad}</call>{bad}<end>{bad}"
    );
    let name = format!("t{bad}.json");
    let mut host = Memory::default();
    host.files.insert(name.clone().into(), bad.to_owned());
    host.files
        .insert(format!("{bad}/response.txt").into(), bad.to_owned());
    host.files
        .insert(format!("{bad}/error.json").into(), bad.to_owned());
    host.files
        .insert(format!("{bad}.json").into(), bad.to_owned());
    let template = Template::load(TEMPLATE, Some(name.into())).expect("a template");
    let mut sample = Sample::new(bad, response);
    sample.folder = Some(bad.into());
    sample.trouble = Some(bad.to_owned());
    sample.expected = Some(bad.into());
    let mut bench = Debugger::new(
        Setup::new(template, vec![sample]),
        Theme { color: true },
        host,
    );
    walk(
        &mut bench,
        &[
            "",
            "x",
            "<enter>",
            "<esc>G<enter>",
            "<esc>2<enter>",
            "<esc>3<enter>",
            "<esc>4",
            "<down>",
            "Y",
            "y",
            "<down><down>Y",
            "<enter>",
            "<esc>m",
            "s",
            "<enter>",
            "?",
            "<esc>y",
            "5e \u{1b}<esc>",
            "<enter>",
            "<esc>S",
            "eu\u{202e}<f1>",
            "<esc><esc>katokens:",
            &format!("{bad}.json<enter>"),
            "ka\u{1b}[2J<enter>",
            "btext \u{9b}<enter>b",
            "<esc>/\u{9b}<enter>",
        ],
    );
    assert!(
        bench
            .host()
            .clipboard
            .iter()
            .any(|text| text.contains("[2J"))
    );
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
