//! Text that no field takes, as the debugger shows it.

use insta::assert_snapshot;
use obverse::chunking::Chunking;
use obverse::tui::Setup;

use crate::bench::{open, pane, press, setup, status, title};

const TAGS: &str = r#"{"start_anchor": "A:", "fields": {
    "thinking": {"open": "<think>", "close": "</think>"},
    "content": {"open": "<say>", "close_pattern": "</say>\\s*"}}}"#;

const LOSES: &str = "<think>hm</think>\n\nSo: <say>Hi</say>\n<tool>x</tool>\n";

#[test]
fn it_is_marked_counted_and_listed() {
    let mut bench = open(Setup {
        chunking: Chunking::Characters(5),
        ..setup(TAGS, LOSES)
    });
    press(&mut bench, "G");
    assert_snapshot!(bench.screen(80, 24).to_text(), @r#"
    template.json · sample.txt · 5                                   end byte 52/52
    ▶1 Response, 21 bytes unclaimed ───────────────│─2 Events ──────────────────────
    t <think>hm</think>⏎                           │ close thinking "hm"
      ⏎                                            │ unclaimed ⏎⏎So:
     !So: <say>Hi</say>⏎                           │ open  content <say>
     !<tool>x</tool>⏎                              │ text  content Hi
                                                   │ close content "Hi"
                                                   │›unclaimed <tool>x</tool>⏎
                                                   │─3 State ───────────────────────
                                                   │ the response is over
                                                   │
                                                   │
                                                   │
    ─5 Template ───────────────────────────────────│
    ✗ {"start_anchor": "A:", "fields": {  ← every …│
          "thinking": {"open": "<think>", "close": │─4 Message ─────────────────────
       "</think>"},                                │*  thinking "hm"
          "content": {"open": "<say>", "close_patt │*  content "Hi"
      ern": "</say>\\s*"}}}                        │
                                                   │
                                                   │
    ✗ every field has an open: text outside the …  │
      let one field have no open: it takes what …  │
    ! no field takes this text, and it is not in the message   ? help  q quit
    "#);
}

#[test]
fn the_keys_for_what_went_wrong_go_there() {
    for chunking in [Chunking::Whole, Chunking::Characters(1), Chunking::Bytes(3)] {
        let mut bench = open(Setup {
            chunking,
            ..setup(TAGS, LOSES)
        });
        press(&mut bench, "x");
        assert!(
            title(&mut bench).contains("byte 23/"),
            "{}",
            title(&mut bench)
        );
        assert!(status(&mut bench).contains("no field takes this text"));
        press(&mut bench, "x");
        assert!(pane(&mut bench, 2).contains("unclaimed <tool>x</tool>"));
        let at_second = title(&mut bench);
        press(&mut bench, "xX");
        assert!(title(&mut bench).contains("byte 23/"), "{at_second}");
    }
}

#[test]
fn every_place_shows_it_the_same_from_both_sides() {
    let mut bench = open(Setup {
        chunking: Chunking::Characters(1),
        ..setup(TAGS, LOSES)
    });
    let look = |bench: &mut _| (pane(bench, 1), pane(bench, 2));
    let mut seen = Vec::new();
    while !title(&mut bench).contains(" end ") {
        seen.push(look(&mut bench));
        press(&mut bench, "<right>");
    }
    for expected in seen.into_iter().rev() {
        press(&mut bench, "<left>");
        assert_eq!(look(&mut bench), expected);
    }
}

#[test]
fn what_a_stalled_parser_does_not_read_is_marked_too() {
    let stalling = r#"{"start_anchor": "A:", "fields": {"content": {"close_pattern": "(?=<)"}}}"#;
    let mut bench = open(Setup {
        chunking: Chunking::Characters(2),
        ..setup(stalling, "Hi<b> there")
    });
    press(&mut bench, "G");
    assert!(pane(&mut bench, 2).contains("unclaimed <b> there"));
    let screen = bench.screen(80, 24).to_text();
    assert!(screen.contains("Response, 9 bytes unclaimed"), "{screen}");
}

#[test]
fn a_marker_in_the_text_of_a_field_is_marked_too_once_its_region_has_ended() {
    let mut bench = open(Setup {
        chunking: Chunking::Characters(5),
        ..setup(TAGS, "<say>Hi</think> there</say>")
    });
    let title_of = |bench: &mut _, key: &str| {
        press(bench, key);
        let screen = bench.screen(80, 24).to_text();
        screen.lines().nth(1).unwrap_or_default().to_owned()
    };
    let last = title_of(&mut bench, "G");
    assert!(last.contains("Response, a marker in text"), "{last}");
    assert!(pane(&mut bench, 1).contains("!<say>Hi</think> there</say>"));
    let before = title_of(&mut bench, "g");
    assert!(!before.contains("marker"), "{before}");
}
