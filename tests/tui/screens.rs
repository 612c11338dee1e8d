//! What is on the screen, at the sizes that people have.

use insta::assert_snapshot;
use obverse::chunking::Chunking;
use obverse::tui::{Debugger, Setup, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use crate::bench::{Memory, RESPONSE, TEMPLATE, calls, derivation, open, press, setup};

/// For each cell a letter that tells its look: the color's, or what modifies it.
fn looks(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let mut text = String::new();
    for row in buffer.content.chunks(width) {
        let line: String = row
            .iter()
            .map(|cell| {
                let has = |modifier| cell.modifier.contains(modifier);
                let letter = match cell.fg {
                    Color::Green => 'g',
                    Color::Blue => 'b',
                    Color::Magenta => 'm',
                    Color::Cyan => 'c',
                    Color::Yellow => 'y',
                    Color::Red => 'r',
                    _ => '.',
                };
                match letter {
                    _ if has(Modifier::REVERSED) => '#',
                    '.' if has(Modifier::DIM) => '-',
                    '.' if has(Modifier::BOLD | Modifier::UNDERLINED) => '=',
                    '.' if has(Modifier::UNDERLINED) => '_',
                    '.' if has(Modifier::BOLD) => '*',
                    letter if has(Modifier::BOLD) => letter.to_ascii_uppercase(),
                    letter => letter,
                }
            })
            .collect();
        text.push_str(line.trim_end_matches('.'));
        text.push('\n');
    }
    text
}

fn looks_at(color: bool, keys: &str) -> String {
    let setup = Setup {
        chunking: Chunking::Characters(4),
        ..setup(TEMPLATE, RESPONSE)
    };
    let mut debugger = Debugger::new(setup, Theme { color }, Memory::default());
    press(&mut debugger, keys);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    terminal
        .draw(|frame| debugger.draw(frame))
        .expect("a frame");
    looks(terminal.backend().buffer())
}

/// To where a call's delimiter is under way.
const HELD: &str = ":48<enter>";

#[test]
fn at_80_by_24() {
    let mut bench = calls();
    press(&mut bench, HELD);
    assert_snapshot!(bench.screen(80, 24).to_text(), @r#"
    template.json · sample.txt · 4                          chunk 12/28 byte 48/112
    ▶1 Response, 4 bytes held ─────────────────────│─2 Events ──────────────────────
    t <think>Whether to call.</think>Let me look.⏎ │ open  thinking <think>
      <call look>{"at": [1, 2]}</call><call look>{ │ text  thinking Whether to call.
      "at": oops}</call><end>⏎                     │ close thinking "Whether to cal…
                                                   │ open  content
                                                   │›text  content Let me look.⏎
                                                   │
                                                   │─3 State ───────────────────────
                                                   │ in content since byte 31, 13 B
                                                   │ holds 4 B <cal
                                                   │ ● open tool_calls /<call (?P<n…
                                                   │   perhaps 4 B from byte 44: th…
    ─5 Template ───────────────────────────────────│     last bytes may be the
      {                                            │     beginning of it           ↓
        "defaults": {"role": "assistant"},         │─4 Message ─────────────────────
        "start_anchor": "<assistant>",             │   role "assistant"
        "fields": {                                │*  thinking "Whether to call."
          "thinking": {"open": "<think>", "close": │
       "</think>"},                                │
    ▌     "content": {"close_pattern": "<end>\\s*" │ content is open
    ✗ a line feed behind "</call>" replaces what … │ raw    Let me look.⏎
      r repairs it: let it take the white space …  │ parsed "Let me look."
    ? help  q quit  →← chunk  ][ event  x problem  Tab pane  e edit  s fixture
    "#);
}

#[test]
fn at_120_by_40() {
    let mut bench = calls();
    press(&mut bench, "G");
    assert_snapshot!(bench.screen(120, 40).to_text(), @r#"
    template.json · sample.txt · 4                                                                         end byte 112/112
    ▶1 Response ───────────────────────────────────────────────────────────│─2 Events ──────────────────────────────────────
    t <think>Whether to call.</think>Let me look.⏎                         │ close content "Let me look."
    o <call look>{"at": [1, 2]}</call><call look>{"at": oops}</call><end>⏎ │ open  tool_calls <call look>
                                                                           │ text  tool_calls {"at": [1, 2]}
                                                                           │ close tool_calls {"name": "look", "arguments":…
                                                                           │ open  tool_calls <call look>
                                                                           │ text  tool_calls {"at": oops}
                                                                           │ error tool_calls field 'tool_calls': the regio…
                                                                           │›stray content closes nothing: <end>⏎
                                                                           │─7 Deltas ──────────────────────────────────────
                                                                           │ text  role assistant
                                                                           │ text  thinking Whether to call.
                                                                           │ text  content Let me look.
                                                                           │›value tool_calls[0] {"name": "look", "argument…
                                                                           │
                                                                           │
                                                                           │
                                                                           │
                                                                           │
                                                                           │─3 State ───────────────────────────────────────
                                                                           │ the response is over
    ─5 Template ───────────────────────────────────────────────────────────│
      {                                                                    │
        "defaults": {"role": "assistant"},                                 │
        "start_anchor": "<assistant>",                                     │
        "fields": {                                                        │
          "thinking": {"open": "<think>", "close": "</think>"},            │
    ▌     "content": {"close_pattern": "<end>\\s*"},                       │
          "tool_calls": {                                                  │─4 Message ─────────────────────────────────────
            "open_pattern": "<call (?P<name>\\w+)>",                       │   role "assistant"
    ✗       "close": "</call>",  ← a line feed behind "</call>" replaces w…│*  thinking "Whether to call."
            "repeats": true,                                               │*  content "Let me look."
            "content": "json",                                             │*▾ tool_calls [1]
            "transform": {"name": "{name}", "arguments": "{content}"}      │*  ▾ 0 {2}
          }                                                                │*      name "look"
    ✗ a line feed behind "</call>" replaces what "content" had before the  │*    ▾ arguments {1}
      region                                                               │*      ▾ at [2]
      r repairs it: let it take the white space behind it: `\s*` at its end│*          0 1
    ? help  q quit  →← chunk  ][ event  x problem  Tab pane  e edit  s fixture  S template  Space play
    "#);
}

#[test]
fn at_40_by_12() {
    let mut bench = calls();
    press(&mut bench, HELD);
    assert_snapshot!(bench.screen(40, 12).to_text(), @r#"
    template.json … chunk 12/28 byte 48/112
    ▶1 Response, 4 bytes held ──────────────
    t <think>Whether to call.</think>Let me
    c ·look.⏎
      <call look>{"at": [1, 2]}</call><call
      ·look>{"at": oops}</call><end>⏎





    ? help  q quit  →← chunk  ][ event
    "#);
    press(&mut bench, "3");
    assert_snapshot!(bench.screen(40, 12).to_text(), @r#"
    template.json … chunk 12/28 byte 48/112
    ▶3 State ───────────────────────────────
     in content since byte 31, 13 B
     holds 4 B <cal
     ● open tool_calls /<call (?P<name>\w+)…
       perhaps 4 B from byte 44: the last
         bytes may be the beginning of it
     ○ open thinking "<think>" literal
     ○ close content /<end>\s*/ automaton


    ? help  q quit  →← chunk  ][ event
    "#);
}

#[test]
fn looks_in_colour() {
    assert_snapshot!(looks_at(true, HELD), @r"
    ################################################################################
    CCCCCCCCCCCCCCCCCCCCCCCCCC------------------------------------------------------
    g.GGGGGGGggggggggggggggggGGGGGGGGbbbbbbbbbbbbb.-*ggggggggggggggg
    ..yyyy#---------------------------------------.-*ggggggggggggggg
    ..------------------------.....................-*ggggggggggggggg
    ...............................................-*bbbbbbbbbbbbbb
    ...............................................-*bbbbbbbbbbbbbb
    ...............................................-
    ...............................................---------------------------------
    ...............................................-....bbbbbbb
    ...............................................-...........yyyy
    ...............................................-...mmmmmmmmmmmmmmmm
    ...............................................-.YYYYYYYYYYYYYYYYYYYYYYYYYYYYYYY
    ------------------------------------------------.YYYYYYYYYYYYYYYYYYYYYYYYYY
    ...............................................-.YYYYYYYYYYYYYYYYYYY...........-
    ...............................................---------------------------------
    ...............................................-Y--*****
    ...............................................-Y--YYYYYYYYY
    ...............................................-
    ...............................................-
    b.....bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.-bbbbbbbbbbbbbbbb
    YYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYY.---------
    ---------------------------------------------..---------
    *-----..*-----..**------..**------..*--------..***-----..*-----..*--------
    ");
}

#[test]
fn looks_without_colour() {
    let plain = looks_at(false, HELD);
    assert!(
        !plain.contains(|c: char| c.is_ascii_alphabetic()),
        "no colour: {plain}"
    );
    assert_snapshot!(plain, @r"
    ################################################################################
    **************************------------------------------------------------------
    ..=======................========..............-*
    ..____#---------------------------------------.-*
    ..------------------------.....................-*
    ...............................................-*
    ...............................................-*
    ...............................................-
    ...............................................---------------------------------
    ...............................................-
    ...............................................-...........____
    ...............................................-
    ...............................................-.*******************************
    ------------------------------------------------.**************************
    ...............................................-.*******************...........-
    ...............................................---------------------------------
    ...............................................-*--*****
    ...............................................-*--*********
    ...............................................-
    ...............................................-
    ...............................................-
    **********************************************.---------
    ---------------------------------------------..---------
    *-----..*-----..**------..**------..*--------..***-----..*-----..*--------
    ");
}

#[test]
fn without_colour_everything_is_still_there() {
    for (width, height) in [(80, 24), (120, 40), (40, 12)] {
        for keys in [
            HELD,
            "x",
            "G",
            "6",
            "4",
            "5e",
            "?",
            "s<enter>",
            "/call<enter>",
        ] {
            let shown = |color| {
                let setup = Setup {
                    derivation: Some(derivation()),
                    ..setup(TEMPLATE, RESPONSE)
                };
                let mut debugger = Debugger::new(setup, Theme { color }, Memory::default());
                press(&mut debugger, keys);
                let mut terminal =
                    Terminal::new(TestBackend::new(width, height)).expect("a terminal");
                let drawn = terminal.draw(|frame| debugger.draw(frame));
                drawn.expect("a frame");
                terminal.backend().buffer().clone()
            };
            let (plain, coloured) = (shown(false), shown(true));
            for (plain, coloured) in plain.content.iter().zip(&coloured.content) {
                assert_eq!(plain.symbol(), coloured.symbol());
                assert_eq!((plain.fg, plain.bg), (Color::Reset, Color::Reset));
                // Colour is never all that tells: what has one has a modifier or a sign of its own, too.
                assert_eq!(plain.modifier, coloured.modifier);
            }
        }
    }
}

#[test]
fn the_help_names_every_key() {
    let mut bench = calls();
    press(&mut bench, "?");
    let screen = bench.screen(100, 90).to_text();
    assert_snapshot!(screen, @r"
    template.json · sample.txt · 4                                                chunk 0/28 byte 0/112
    ▶1┌ keys ────────────────────────────────────────────────────────────────────────────────────────┐──
      │Moving                                                                                        │
      │  → ←     a chunk on, a chunk back (also l h)                                                 │
      │  . ,     a character                                                                         │
      │  ] [     an event (also ↓ ↑ in Response and Events)                                          │
      │  } {     a region (also PgDn PgUp there)                                                     │
      │  g G     to the start, to the end (also Home End)                                            │
      │  x X     to what went wrong next, and why; to the last one                                   │
      │  f       to a region of a field that is asked for                                            │
      │  ; '     to the next region of that field, the last one                                      │
      │  :       to a byte                                                                           │
      │  / n N   search, the next, the last one                                                      │
      │Running                                                                                       │
      │  Space   play, pause                                                                         │
      │  + -     faster, slower                                                                      │
      │  b       breakpoints                                                                         │
      │  c C     on to the next breakpoint, back to the last one                                     │
      │  K       how the response is cut into chunks                                                 │
      │  o       another sample                                                                      │
      │Changing                                                                                      │
      │  e       edit the template (when it has the focus) or the response                           │
      │  p       edit the prefix                                                                     │
      │  r       repair in the template what the linter knows how to                                 │──
      │  s       save the sample and its message as a fixture                                        │
      │  S ^S    save the template                                                                   │
      │Looking                                                                                       │
      │  Tab     the next pane (Shift-Tab the last one)                                              │
      │  1…7     Response, Events, State, Message, Template, Derivation, Deltas                      │
      │  z       the pane alone, or all of them                                                      │
      │  ↓ ↑     in the pane (also j k)                                                              │
      │  PgDn    a page (and PgUp)                                                                   │
      │  Enter   fold, show in full, go to the marker's place                                        │
      │  m       from the delimiter at the cursor to its marker                                      │
      │  w       show every space                                                                    │
      │  a       in State: what the grammar allows next                                              │
      │  H       the bytes around the place, in hexadecimal                                          │
      │  y Y     copy the value, its JSON path                                                       │
      │  ? F1    this help (F1 also where ? is text)                                                 │
      │  Esc     back                                                                                │
      │  q ^C    quit                                                                                │
      │Editing                                                                                       │
      │  Esc     done (the parse runs along with every valid edit)                                   │
      │  ^Z ^Y   undo, redo                                                                          │
      │  ^S      save: the template to its file, the response as a fixture                           │
      │  ^← ^→   by words; ^A ^E, Home End: in the line; ^Home ^End: in the text                     │──
      │  ^W ^U ^K  remove the word before the cursor, the line before it, behind it                  │
      │Answering                                                                                     │
      │  Enter   that is it                                                                          │
    ─5│  Esc     leave it                                                                            │)…
      │  chunks are whole, words, recorded, random:SEED, 3 (characters), 3b (bytes),                 │
      │  tokens:FILE (a tokenizer.json)                                                              │
      │  breakpoints are field NAME, event KIND, text TEXT; kinds are open, text,                    │
      │  close, error, stray, unclaimed, failure                                                     │
      │Choosing                                                                                      │
      │  ↓ ↑     up and down (also j k PgDn PgUp Home End)                                           │
    ▌ │  Enter   choose; a breakpoint is turned on or off                                            │
      │  /       the samples that have a text in them                                                │
      │  a       another one: a breakpoint, a chunking                                               │
    ✗ │  d       delete a breakpoint                                                                 │
      │  Esc     back                                                                                │
      │Saving                                                                                        │
      │  y       save what is shown (also Enter)                                                     │
      │  n       save nothing (also Esc)                                                             │
      │  ↓ ↑     in what changes                                                                     │
      │Quitting                                                                                      │
      │  y       quit, and lose what is not saved (also ^C)                                          │
      │  s       save it first                                                                       │──
      │  n       do not quit (also Esc)                                                              │
      │Reading                                                                                       │
      │  ↓ ↑     in the text (also PgDn PgUp Home)                                                   │
      │  y       copy it                                                                             │
      │  Esc     back                                                                                │
      │The mouse                                                                                     │
      │  a click chooses a pane, a place in the response, an event, a member of the                  │
      │  message, a marker, a row of a list; a second one does what Enter does                       │
      │  the wheel moves what lies under it                                                          │
      │How it looks                                                                                  │
      │  bold, underlined   a delimiter                                                              │
      │  underlined         held back: it may be a delimiter                                         │
      │  reversed           the next character to arrive                                             │
      │  dim                not yet arrived                                                          │
      │  crossed out, red   unclaimed: no field takes it; ! marks such rows                          │
      │  italic, red        a marker that stands in a field's text; so are these                     │
      │  the letter before a row is the field that it begins in                                      │
    ✗ │  ⏎ ⇥ · ⟨202E⟩      characters that cannot be seen                                            │
      │                                                                                              │
      └──────────────────────────────────────────────────────────────────────────────────────────────┘
      `\s*` at its end                                         │
    Esc back  ↓↑ scroll
    ");
    press(&mut bench, "<esc>");
    assert!(!bench.screen(100, 89).to_text().contains("Looking"));
}

#[test]
fn every_screen_has_help_and_comes_back() {
    for (keys, help, heading) in [
        ("", "?", "Moving"),
        ("", "<f1>", "Moving"),
        ("e", "<f1>", "Editing"),
        ("5e", "<f1>", "Editing"),
        ("p", "<f1>", "Editing"),
        (":12", "<f1>", "Answering"),
        ("/?", "<f1>", "Answering"),
        ("b", "<f1>", "Answering"),
        ("bfield content<enter>b", "?", "Choosing"),
        ("K", "?", "Choosing"),
        ("o", "?", "Choosing"),
        ("f", "?", "Choosing"),
        ("s<enter>", "?", "Saving"),
        ("5e <esc>S", "?", "Saving"),
        ("G4<enter>", "?", "Reading"),
        ("z", "?", "Moving"),
    ] {
        let mut bench = calls();
        press(&mut bench, keys);
        let before = bench.screen(80, 24).to_text();
        let last = before.lines().last().unwrap_or_default();
        press(&mut bench, help);
        let shown = bench.screen(80, 24).to_text();
        let first = shown.lines().nth(1).unwrap_or_default();
        assert!(first.contains(heading), "{keys:?}:\n{shown}");
        press(&mut bench, "?");
        assert_eq!(
            bench.screen(80, 24).to_text(),
            before,
            "{keys:?} comes back"
        );
        // The last line says how to get help, unless it asks something itself.
        assert!(
            last.contains("help") || heading == "Answering",
            "{keys:?}: {last}"
        );
    }
}

#[test]
fn a_derivation_shows_its_evidence() {
    let mut bench = open(Setup {
        derivation: Some(derivation()),
        ..setup(TEMPLATE, RESPONSE)
    });
    press(&mut bench, "6z<down>");
    assert_snapshot!(bench.screen(72, 16).to_text(), @r#"
    template.json · sample.txt · words                chunk 0/12 byte 0/112
    ▶6 Derivation ──────────────────────────────────────────────────────────
     anchor           "<assistant>"
    ›reasoning close  "</think>"


     what stands between both
     written at chat.jinja:2:9  "</think>"
    reasoning                          │none
    [<think>Hm</think>]Yes             │Yes
                                       │
                                       │
                                       │
                                       │
                                       │
    ? help  q quit  →← chunk  ][ event  x problem  Tab pane  e edit
    "#);
    // From the marker to its place, and back.
    press(&mut bench, "<enter>z");
    assert!(bench.screen(80, 24).to_text().contains("byte 31/"));
    press(&mut bench, "1<up>6<up>1m");
    assert!(bench.screen(80, 24).to_text().contains("▶6 Derivation"));
}

#[test]
fn every_size_can_be_drawn() {
    let mut bench = open(Setup {
        derivation: Some(derivation()),
        ..setup(TEMPLATE, RESPONSE)
    });
    for keys in [
        "",
        "G",
        "2",
        "3",
        "4",
        "5",
        "6",
        "1e",
        "<esc>5ex",
        "<esc>?",
        "<esc>:12",
        "<esc>k",
        "<esc>s<enter>",
    ] {
        press(&mut bench, keys);
        for width in 1..=64 {
            for height in 1..=18 {
                bench.screen(width, height);
            }
        }
        for (width, height) in [(200, 60), (1, 60), (200, 1), (100, 14), (60, 14), (61, 15)] {
            bench.screen(width, height);
        }
    }
}

#[test]
fn a_picture_has_the_text_escaped() {
    let svg = calls().screen(80, 24).to_svg();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("&lt;") && !svg.contains("<think>"));
}

/// On a wide screen the panes on the right have what the response does not need.
#[test]
fn a_wide_screen_is_used() {
    let mut bench = calls();
    press(&mut bench, "G");
    let text = bench.screen(200, 50).to_text();
    let heading = text
        .lines()
        .nth(1)
        .and_then(|line| line.split_once("─2 Events "))
        .expect("the events");
    assert_eq!(
        heading.1.chars().count() + "─2 Events ".chars().count(),
        100
    );
}

/// How to get out is told at every width at which something is told.
#[test]
fn how_to_quit_is_told() {
    for width in [20, 40, 60, 80, 120] {
        let mut bench = calls();
        let text = bench.screen(width, 24).to_text();
        let hints = text.lines().last().expect("a line").to_owned();
        assert!(hints.contains("q quit"), "{width}: {hints}");
        assert!(!hints.contains('…'), "{width}: {hints}");
    }
}

/// A message stays until the next key, so that it may not hide which keys there are.
#[test]
fn the_keys_stand_beside_every_message() {
    for (width, height) in [(40, 12), (80, 24), (120, 40), (200, 50)] {
        let mut bench =
            crate::bench::debugger(TEMPLATE, "<think>Hm</think>Hi<call look>{oops</call>");
        for (keys, told) in [
            ("x", "the region is not JSON"),
            ("bfield no<enter>", "the template has no field no"),
            ("/nowhere<enter>", "not found further on"),
        ] {
            press(&mut bench, keys);
            for pane in 1..=5 {
                let text = bench.screen(width, height).to_text();
                let read = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(
                    text.contains("? help  q quit"),
                    "{width}x{height} {keys}\n{text}"
                );
                assert!(
                    read.contains(told) || pane > 1,
                    "{width}x{height} {keys}\n{text}"
                );
                press(&mut bench, &pane.to_string());
            }
        }
    }
}
