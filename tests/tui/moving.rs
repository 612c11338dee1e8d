//! Moving through a parse.

use std::time::Duration;

use insta::assert_snapshot;
use obverse::chunking::Chunking;
use obverse::tui::{Sample, Setup};

use crate::bench::{
    RESPONSE, TEMPLATE, calls, debugger, open, pane, press, screen, setup, status, title,
};

/// Where the cursor is, by the first line.
fn byte(bench: &mut crate::bench::Bench) -> usize {
    let title = title(bench);
    let (_, rest) = title.rsplit_once("byte ").expect("a byte");
    let (byte, _) = rest.split_once('/').expect("a length");
    byte.parse().expect("a number")
}

#[test]
fn chunks_go_both_ways() {
    let mut bench = calls();
    press(&mut bench, "<right><right><right>");
    assert_eq!(byte(&mut bench), 12);
    press(&mut bench, "<left>");
    assert_eq!(byte(&mut bench), 8);
    press(&mut bench, "<left><left><left><left>");
    assert_eq!(byte(&mut bench), 0);
}

#[test]
fn every_place_looks_the_same_from_both_sides() {
    let mut bench = calls();
    let mut seen = Vec::new();
    while !title(&mut bench).contains(" end ") {
        seen.push((
            pane(&mut bench, 1),
            pane(&mut bench, 3),
            pane(&mut bench, 2),
        ));
        press(&mut bench, "<right>");
    }
    assert_eq!(seen.len(), RESPONSE.len().div_ceil(4) + 1);
    for expected in seen.into_iter().rev() {
        press(&mut bench, "<left>");
        assert_eq!(
            (
                pane(&mut bench, 1),
                pane(&mut bench, 3),
                pane(&mut bench, 2)
            ),
            expected
        );
    }
}

#[test]
fn an_event_back_from_within_a_text_goes_back() {
    let mut bench = calls();
    press(&mut bench, ":10<enter>");
    assert_eq!(byte(&mut bench), 10);
    press(&mut bench, "[");
    assert_eq!(byte(&mut bench), 7);
}

#[test]
fn characters_go_into_a_chunk() {
    let mut bench = open(Setup {
        chunking: Chunking::Whole,
        ..setup(TEMPLATE, "<think>é</think>Hi")
    });
    press(&mut bench, "........");
    assert_eq!(byte(&mut bench), 9);
    assert!(title(&mut bench).contains("in chunk 1/1"));
    press(&mut bench, ",");
    assert_eq!(byte(&mut bench), 7);
    press(&mut bench, "<right>");
    assert_eq!(byte(&mut bench), 19);
}

#[test]
fn events_are_stepped_over_in_whatever_chunks() {
    let mut places = Vec::new();
    for chunking in [Chunking::Whole, Chunking::Characters(1), Chunking::Bytes(3)] {
        let mut bench = open(Setup {
            chunking: chunking.clone(),
            ..setup(TEMPLATE, RESPONSE)
        });
        let mut bytes = Vec::new();
        for _ in 0..13 {
            press(&mut bench, "]");
            bytes.push(byte(&mut bench));
        }
        let mut back: Vec<usize> = Vec::new();
        for _ in 0..12 {
            press(&mut bench, "[");
            back.push(byte(&mut bench));
        }
        back.reverse();
        assert_eq!(bytes[..12], back[..], "{chunking}");
        places.push(bytes);
    }
    assert_eq!(places[0], places[1]);
    assert_eq!(places[0], places[2]);
    assert_snapshot!(format!("{:?}", places[0]), @"[7, 23, 31, 32, 44, 56, 56, 69, 76, 88, 99, 106, 112]");
}

#[test]
fn the_events_and_what_was_lost_are_listed() {
    let mut bench = calls();
    press(&mut bench, "G");
    assert_snapshot!(pane(&mut bench, 2), @r#"
     open  thinking <think>
     text  thinking Whether to call.
     close thinking "Whether to call."
     open  content
     text  content Let me look.⏎
     close content "Let me look."
     open  tool_calls <call look>
     text  tool_calls {"at": [1, 2]}
     close tool_calls {"name": "look", "arguments": {"at": [1, 2]}}
     open  tool_calls <call look>
     text  tool_calls {"at": oops}
     error tool_calls field 'tool_calls': the region is not JSON: expected a va…
    ›stray content closes nothing: <end>⏎
    "#);
}

#[test]
fn errors_fields_bytes_and_texts_are_found() {
    let mut bench = calls();
    press(&mut bench, "x");
    assert!(
        pane(&mut bench, 2)
            .lines()
            .last()
            .is_some_and(|line| line.contains("error tool_calls"))
    );
    press(&mut bench, "x");
    assert!(status(&mut bench).contains("no more errors"));
    press(&mut bench, "gf<down><down><enter>");
    assert_eq!(byte(&mut bench), 56);
    press(&mut bench, ";");
    assert_eq!(byte(&mut bench), 88);
    press(&mut bench, "'");
    assert_eq!(byte(&mut bench), 56);
    press(&mut bench, ":7<enter>");
    assert_eq!(byte(&mut bench), 7);
    press(&mut bench, "/call<enter>");
    assert_eq!(byte(&mut bench), 22);
    press(&mut bench, "n");
    assert_eq!(byte(&mut bench), 49);
    press(&mut bench, "N");
    assert_eq!(byte(&mut bench), 22);
    press(&mut bench, "/nowhere<enter>");
    assert!(status(&mut bench).contains("not found"));
}

#[test]
fn breakpoints_stop_playing_and_going_on() {
    let mut bench = calls();
    press(&mut bench, "bfield tool_calls<enter>batext oops<enter>c");
    assert_eq!(byte(&mut bench), 56);
    press(&mut bench, "c");
    assert_eq!(byte(&mut bench), 88);
    press(&mut bench, "c");
    assert_eq!(byte(&mut bench), 98);
    press(&mut bench, "C");
    assert_eq!(byte(&mut bench), 88);
    press(&mut bench, "g ");
    for _ in 0..200 {
        bench.pass(Duration::from_millis(100));
    }
    assert_eq!(byte(&mut bench), 56);
    assert!(status(&mut bench).contains("breakpoint"));
    press(&mut bench, "baevent nothing<enter>");
    assert!(status(&mut bench).contains("events are open, text"));
    press(&mut bench, "b<enter>");
    assert!(screen(&mut bench).contains("○ field tool_calls"));
}

#[test]
fn playing_goes_at_its_speed_to_the_end() {
    let mut bench = calls();
    press(&mut bench, " ");
    bench.pass(Duration::from_millis(500));
    assert_eq!(byte(&mut bench), 40);
    press(&mut bench, "+");
    bench.pass(Duration::from_millis(100));
    assert_eq!(byte(&mut bench), 60);
    press(&mut bench, " ");
    bench.pass(Duration::from_secs(9));
    assert_eq!(byte(&mut bench), 60);
    press(&mut bench, " ");
    bench.pass(Duration::from_secs(9));
    assert!(title(&mut bench).contains(" end "));
    assert!(!title(&mut bench).contains('▶'));
}

#[test]
fn the_state_says_why_it_waits() {
    let mut bench = calls();
    press(&mut bench, ":48<enter>");
    assert_snapshot!(pane(&mut bench, 3), @r#"
    in content since byte 31, 13 B
    holds 4 B <cal
    ● open tool_calls /<call (?P<name>\w+)>/ automaton
      perhaps 4 B from byte 44: the last bytes may be the beginning of it
    ○ open thinking "<think>" literal
    ○ close content /<end>\s*/ automaton
    "#);
    press(&mut bench, ":70<enter>");
    assert_snapshot!(pane(&mut bench, 3), @r#"
    in tool_calls since byte 55, 14 B
    holds 1 B <
    ● close tool_calls "</call>" literal
      perhaps 1 of 7 B from byte 69: the last bytes are the beginning of it
    captured name = "look"
    "#);
}

#[test]
fn the_message_folds_and_shows_what_is_open() {
    let mut bench = calls();
    press(&mut bench, ":70<enter>");
    assert_snapshot!(pane(&mut bench, 4), @r#"
       role "assistant"
    *  thinking "Whether to call."
    *  content "Let me look."













     tool_calls is open
     raw    {"at": [1, 2]}
     parsed {"name": "look", "arguments": {"at": [1, 2]}}
    "#);
    press(&mut bench, "G4<down><down><down><enter>");
    assert_snapshot!(pane(&mut bench, 4), @r#"
       role "assistant"
       thinking "Whether to call."
       content "Let me look."
    *▸ tool_calls [{"name": "look", "arguments": {"at": [1, 2]}}]
    "#);
    press(&mut bench, "4yY");
    assert_eq!(bench.host().clipboard[1], "$.tool_calls");
    assert!(bench.host().clipboard[0].starts_with("[\n"));
}

#[test]
fn samples_and_chunkings_can_be_chosen() {
    let mut setup = setup(TEMPLATE, "Hi<end>");
    setup.samples.push(Sample::new("other", "<think>x</think>"));
    let mut bench = open(setup);
    press(&mut bench, "o<down><enter>");
    assert!(title(&mut bench).contains("other 2/2"));
    press(&mut bench, "K<home><enter><right>");
    assert!(title(&mut bench).contains("whole"));
    assert!(title(&mut bench).contains("chunk 1/1"));
    press(&mut bench, "Ka3b<enter>");
    assert!(title(&mut bench).contains("· 3b"));
    press(&mut bench, "Kanonsense<enter>");
    assert!(status(&mut bench).contains("is no chunking"));
}

#[test]
fn a_byte_of_a_character_is_not_fed() {
    let mut bench = open(Setup {
        chunking: Chunking::Bytes(1),
        ..setup(TEMPLATE, "é")
    });
    press(&mut bench, "<right>");
    assert!(screen(&mut bench).contains("1 byte of a character"));
    press(&mut bench, "<right>");
    assert!(pane(&mut bench, 2).contains("text  content é"));
}

#[test]
fn an_empty_response_is_no_trouble() {
    let mut bench = debugger(TEMPLATE, "");
    press(&mut bench, "<right>]].,[{}xXnNcC;'<left> GgS");
    assert!(title(&mut bench).contains("byte 0/0"));
}

#[test]
fn playing_goes_at_the_chosen_speed_and_pauses() {
    let mut bench = calls();
    press(&mut bench, " ");
    assert!(title(&mut bench).contains("▶20/s"));
    bench.pass(Duration::from_millis(100));
    assert_eq!(
        byte(&mut bench),
        8,
        "two chunks of four in a tenth of a second"
    );
    press(&mut bench, "-");
    assert!(status(&mut bench).contains("10 chunks a second"));
    bench.pass(Duration::from_millis(60));
    assert_eq!(byte(&mut bench), 8, "not yet");
    bench.pass(Duration::from_millis(60));
    assert_eq!(byte(&mut bench), 12);
    press(&mut bench, "++");
    assert!(title(&mut bench).contains("▶50/s"));
    press(&mut bench, " ");
    bench.pass(Duration::from_secs(9));
    assert_eq!(byte(&mut bench), 12, "it pauses");
    press(&mut bench, " ");
    bench.pass(Duration::from_secs(9));
    assert!(title(&mut bench).contains("end byte 112/112"));
    assert!(!title(&mut bench).contains('▶'), "at the end it stops");
    press(&mut bench, " ");
    assert!(title(&mut bench).contains("byte 0/"), "and begins again");
}

#[test]
fn the_limits_in_effect_are_shown_and_what_reaches_one() {
    let limits = obverse::parser::Limits::default().region_bytes(20);
    let mut bench = open(Setup {
        options: obverse::parser::Options::default().limits(limits),
        ..setup(TEMPLATE, "<think>far more than twenty bytes</think>")
    });
    press(&mut bench, "<right><right>");
    assert!(
        pane(&mut bench, 3).contains("region bytes: 8 of 20"),
        "{}",
        pane(&mut bench, 3)
    );
    press(&mut bench, "x");
    assert!(pane(&mut bench, 3).contains("a limit ended the parse"));
    assert!(status(&mut bench).contains("20"), "{}", status(&mut bench));
}

#[test]
fn what_has_no_room_is_shown_in_full() {
    let mut bench = calls();
    press(&mut bench, "x<enter>");
    assert!(screen(&mut bench).contains("┌ error tool_calls"));
    assert!(
        screen(&mut bench).contains("{\"at\": oops}"),
        "{}",
        screen(&mut bench)
    );
    press(&mut bench, "y<esc>");
    assert!(bench.host().clipboard[0].contains("oops"));
    press(&mut bench, "g]]]2<enter>");
    assert!(screen(&mut bench).contains("┌ close thinking"));
    assert!(screen(&mut bench).contains("bytes 23 to 31"));
    press(&mut bench, "<esc>5<enter>");
    let shown = screen(&mut bench);
    assert!(
        shown.contains("┌ what is wrong") && shown.contains("r repairs it"),
        "{shown}"
    );
    press(&mut bench, "<esc>");
    assert!(!screen(&mut bench).contains("what is wrong"));
}

#[test]
fn delimiters_inside_json_strings_need_not_count() {
    let response = "<call a>{\"x\": \"</call>\"}</call>";
    let mut bench = open(setup(TEMPLATE, response));
    press(&mut bench, "x");
    assert!(pane(&mut bench, 2).contains("error tool_calls"));
    let mut bench = open(Setup {
        options: obverse::parser::Options::default().skip_json_strings(true),
        ..setup(TEMPLATE, response)
    });
    press(&mut bench, "x");
    assert!(status(&mut bench).contains("no more errors"));
    // A session keeps it.
    let session = obverse::tui::session::read(&bench.session());
    assert!(
        session
            .expect("a session")
            .expect("one")
            .options
            .skip_json_strings
    );
}

#[test]
fn text_between_delimiters_stands_where_it_is() {
    for chunking in ["whole", "words", "1", "2b", "random:5"] {
        let mut bench = open(Setup {
            chunking: chunking.parse().expect("a chunking"),
            ..setup(TEMPLATE, "ab<end><end>cd<think></think>é<end><end><end>")
        });
        press(&mut bench, "G");
        let shown = pane(&mut bench, 2);
        let events = shown
            .lines()
            .map(|line| line.trim_start_matches(['\u{203a}', ' ']));
        let expected = [
            "open  content",
            "text  content ab",
            "close content \"ab\"",
            "stray content closes nothing: <end>",
            "open  content",
            "text  content cd",
            "close content loses \"ab\" for \"cd\"",
            "open  thinking <think>",
            "close thinking \"\"",
            "open  content",
            "text  content \u{e9}",
            "close content loses \"cd\" for \"\u{e9}\"",
            "stray content closes nothing: <end>",
            "stray content closes nothing: <end>",
        ];
        for (event, expected) in events.clone().zip(expected) {
            assert!(event.starts_with(expected), "{chunking}: {shown}");
        }
        assert_eq!(events.count(), expected.len(), "{chunking}: {shown}");
    }
}

#[test]
fn letters_move_as_arrows_do() {
    for (letters, arrows) in [
        ("lll", "<right><right><right>"),
        ("llh", "<right><right><left>"),
        ("G2kk", "G2<up><up>"),
        ("G2kkj", "G2<up><up><down>"),
        ("5jjk", "5<down><down><up>"),
    ] {
        let (mut one, mut other) = (calls(), calls());
        press(&mut one, letters);
        press(&mut other, arrows);
        assert_eq!(screen(&mut one), screen(&mut other), "{letters}");
    }
}

#[test]
fn a_breakpoint_is_for_a_field_that_there_is() {
    let mut bench = calls();
    press(&mut bench, "bfield thoughts<enter>");
    assert_eq!(
        status(&mut bench),
        "! the template has no field thoughts; it has thinking, content, tool_calls"
    );
    press(&mut bench, "bfield thinking<enter>");
    assert!(status(&mut bench).contains("c goes on"));
}

/// A message is what one looks for, so that on a screen without room for both it stands in the place of the keys.
#[test]
fn a_message_is_seen_on_a_small_screen() {
    for (width, height, begin) in [
        (20, 8, "! the template has"),
        (12, 6, "! the templ"),
        (10, 3, "! the tem"),
        (40, 8, "! the template has"),
    ] {
        let mut bench = calls();
        press(&mut bench, "bfield thoughts<enter>");
        let text = bench.screen(width, height).to_text();
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with(begin), "{width}x{height}: {text}");
    }
}

#[test]
fn samples_are_found_by_what_is_in_them() {
    let mut setup = setup(TEMPLATE, "<think>one</think>Hi");
    setup
        .samples
        .push(Sample::new("second", "a kite in the wind"));
    setup.samples.push(Sample::new("third", "a tern"));
    let mut bench = open(setup);
    press(&mut bench, "o");
    assert!(screen(&mut bench).contains("second  a kite in the wind"));
    press(&mut bench, "/TERN<enter>");
    let found = screen(&mut bench);
    assert!(
        found.contains("third") && !found.contains("second"),
        "{found}"
    );
    press(&mut bench, "<enter>");
    assert!(title(&mut bench).contains("third 3/3"));
    press(&mut bench, "o/gull<enter>");
    assert_eq!(status(&mut bench), "! no sample has \"gull\" in it");
}

/// Nothing raises an error, and the message is still not what it should be: that too is what went wrong.
#[test]
fn x_goes_to_a_message_that_is_not_expected() {
    let mut setup = setup(TEMPLATE, "Hi there");
    setup.samples[0].expected = Some(
        obverse::value::json::parse(r#"{"role": "assistant", "content": "Hi"}"#).expect("JSON"),
    );
    let mut bench = open(setup);
    press(&mut bench, "x");
    assert!(
        title(&mut bench).contains("end byte 8/8"),
        "{}",
        title(&mut bench)
    );
    assert_eq!(
        status(&mut bench),
        "! expected \"Hi\", found \"Hi there\", at $.content"
    );
}

#[test]
fn bytes_are_shown_on_request() {
    let mut bench = open(setup(TEMPLATE, "Hi \u{e9}\u{200b}x"));
    press(&mut bench, "...H");
    let shown = screen(&mut bench);
    assert!(
        shown.contains("000000  48 69 20>c3 a9 e2 80 8b 78"),
        "{shown}"
    );
    assert!(shown.contains("Hi .....x"), "{shown}");
    press(&mut bench, "<esc>");
    assert!(!screen(&mut bench).contains("000000"));
}

#[test]
fn limits_that_nobody_set_are_not_shown() {
    let mut bench = calls();
    press(&mut bench, "<right>z3");
    assert!(!screen(&mut bench).contains("held bytes"));
    let mut setup = setup(TEMPLATE, "Hi");
    setup.options.limits.held_bytes = 10;
    let mut bench = open(setup);
    assert!(screen(&mut bench).contains("held bytes: 0 of 10"));
}
