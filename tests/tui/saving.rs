//! Saving fixtures and templates, each after a look at what changes.

use std::path::Path;

use insta::assert_snapshot;

use crate::bench::{Bench, Memory, TRAP, debugger, press, screen, setup, status};
use obverse::tui::{Conversation, Debugger, Host, Sample, Theme};

fn files(bench: &Bench) -> String {
    let files = bench.host().files.iter();
    files
        .map(|(path, text)| format!("{}: {}\n", path.display(), text.escape_debug()))
        .collect()
}

#[test]
fn a_fixture_is_saved_after_a_look() {
    let mut bench = debugger(TRAP, "Hello<|im_end|>");
    press(&mut bench, "s");
    assert!(status(&mut bench).contains("fixtures/sample"));
    press(&mut bench, "<c-u>cases/hello<enter>");
    assert_snapshot!(screen(&mut bench), @r#"
    template.json · sample.txt · words                          chunk 0/1 byte 0/15
    ▶1 Response ───────────────────────────────────│─2 Events ──────────────────────
      Hello<|im_end|>                              │ a response, parsed as it comes:
                                                   │ → feeds a chunk, ← undoes that,
                                                   │ x goes to what went wrong, and
                                                   │ says why; e edits, ? helps
                                                   │
      ┌ save this fixture? y n ──────────────────────────────────────────────────┐
      │cases/hello/response.txt (new)                                            │──
      │+Hello<|im_end|>                                                          │
      │cases/hello/expected.json (new)                                           │
      │+{                                                                        │
      │+  "content": "Hello"                                                     │
    ─5│+}                                                                        │
      └──────────────────────────────────────────────────────────────────────────┘
        "start_anchor": "<|im_start|>assistant\n", │─4 Message ─────────────────────
        "fields": {                                │ nothing yet
    ✗     "content": {"close": "<|im_end|>"}       │
        }                                          │
      }                                            │
                                                   │
    ✗ a line feed behind "<|im_end|>" opens …      │
      r repairs it: let it take the white space …  │
    y save  n do not  ↓↑ scroll  ? help
    "#);
    press(&mut bench, "n");
    assert_eq!(files(&bench), "");
    press(&mut bench, "s<c-u>cases.jsonl<enter>");
    assert!(status(&mut bench).contains("the name of a suite"));
    press(&mut bench, "s<c-u>cases/hello<enter>n");
    press(&mut bench, "s<enter>y");
    assert!(status(&mut bench).contains("saved cases/hello"));
    assert_snapshot!(files(&bench), @r#"
    cases/hello/expected.json: {\n  \"content\": \"Hello\"\n}\n
    cases/hello/response.txt: Hello<|im_end|>
    "#);
    press(&mut bench, "s<enter>");
    assert!(status(&mut bench).contains("nothing has changed"));
}

#[test]
fn a_template_is_saved_after_a_look() {
    let mut host = Memory::default();
    host.files.insert("template.json".into(), TRAP.to_owned());
    let mut bench = Debugger::new(setup(TRAP, "Hi"), Theme { color: false }, host);
    press(&mut bench, "5e<end> <esc>");
    assert!(screen(&mut bench).contains("(not saved)"));
    press(&mut bench, "S");
    assert!(screen(&mut bench).contains("save this template?"));
    press(&mut bench, "y");
    assert!(!screen(&mut bench).contains("(not saved)"));
    assert_ne!(bench.host().files[Path::new("template.json")], TRAP);
}

#[test]
fn unsaved_edits_are_not_lost_without_a_question() {
    let open = || {
        let mut host = Memory::default();
        host.files.insert("template.json".into(), TRAP.to_owned());
        Debugger::new(setup(TRAP, "Hi"), Theme { color: false }, host)
    };
    for (keys, quits) in [
        ("q", true),
        ("5e<c-c>", true),
        ("5e <esc>q", false),
        ("5e <c-c>", false),
        ("r<c-c>", false),
        ("5e <c-z><esc>q", true),
        ("eHo<esc>q", false),
        ("eH<c-z><esc>q", true),
        ("pA<esc>q", false),
        ("pA<esc>qn", false),
        ("pA<esc>qy", true),
        ("pA<esc>qq", false),
        ("pA<esc><c-c><c-c>", true),
        ("pA<esc>s<enter>yq", true),
        ("5e <esc>qsyq", true),
        ("5e <esc>1eH<esc>qsyq", false),
        ("5e <esc>1eH<esc>qsyqs<enter>yq", true),
    ] {
        let mut bench = open();
        press(&mut bench, keys);
        assert_eq!(bench.has_quit(), quits, "{keys}");
    }
    let mut bench = open();
    press(&mut bench, "5e <esc>1eHo<esc>q");
    assert_snapshot!(screen(&mut bench), @r#"
    template.json* · sample.txt · words                                end byte 4/4
    ▶1 Response ───────────────────────────────────│─2 Events ──────────────────────
    c HoHi                                         │ open  content
                                                   │ text  content HoHi
                                                   │›close content "HoHi"
                                                   │
                                                   │
                                                   │
                                                   │─3 State ───────────────────────
                             ┌ not saved; quit? y n ─────┐esponse is over
                             │the template, template.json│
                             │the response of sample.txt │
                             └───────────────────────────┘
    ─5 Template (not saved) ───────────────────────│
      {                                            │
        "start_anchor": "<|im_start|>assistant\n", │─4 Message ─────────────────────
        "fields": {                                │*  content "HoHi"
    ✗     "content": { "close": "<|im_end|>"}      │
        }                                          │
      }                                            │
                                                   │
    ✗ a line feed behind "<|im_end|>" opens …      │
      r repairs it: let it take the white space …  │
    y quit  s save  n stay  ? help
    "#);
    press(&mut bench, "<esc>");
    assert!(!screen(&mut bench).contains("quit? y n"));
}

/// Somebody else writes the file while the difference is shown.
#[test]
fn what_changed_since_it_was_shown_is_not_overwritten() {
    struct Racy(Memory);
    impl Host for Racy {
        fn read(&mut self, path: &Path) -> Result<Option<String>, String> {
            let read = self.0.read(path);
            self.0.files.insert(path.to_owned(), "newer".to_owned());
            read
        }
        fn write(&mut self, path: &Path, text: &str) -> Result<(), String> {
            self.0.write(path, text)
        }
        fn remove(&mut self, path: &Path) -> Result<(), String> {
            self.0.remove(path)
        }
        fn copy(&mut self, text: &str) {
            self.0.copy(text);
        }
    }
    let mut host = Memory::default();
    host.files.insert("template.json".into(), TRAP.to_owned());
    let mut bench = Debugger::new(setup(TRAP, "Hi"), Theme { color: false }, Racy(host));
    bench.type_keys("5e <esc>Sy").expect("keys");
    let shown = bench.screen(80, 24).to_text();
    assert!(shown.contains("has changed since it was shown"), "{shown}");
    assert_eq!(bench.host().0.files[Path::new("template.json")], "newer");
}

#[test]
fn what_cannot_be_written_is_told() {
    let host = Memory {
        is_full: true,
        ..Memory::default()
    };
    let mut bench = Debugger::new(setup(TRAP, "Hi"), Theme { color: false }, host);
    press(&mut bench, "s<enter>y");
    assert!(status(&mut bench).contains("the disk is full"));
}

#[test]
fn of_a_fixture_that_was_there_nothing_is_left_that_does_not_hold() {
    let mut host = Memory::default();
    for (file, text) in [
        ("response.txt", "Old"),
        ("error.json", "{\"kind\": \"json\"}"),
        ("messages.json", "[]"),
        ("events.jsonl", "{}"),
        ("notes.md", "kept"),
    ] {
        host.files
            .insert(Path::new("old").join(file), text.to_owned());
    }
    let mut sample = Sample::new("old", "Hi");
    sample.folder = Some("old".into());
    sample.records_events = true;
    sample.conversation = Some(Conversation {
        messages: obverse::value::json::parse("[]").expect("JSON"),
        rendered: String::new(),
    });
    let mut setup = setup(TRAP, "");
    setup.samples = vec![sample];
    let mut bench = Debugger::new(setup, Theme { color: false }, host);
    press(&mut bench, "s<enter>");
    let shown = screen(&mut bench);
    assert!(shown.contains("old/error.json (removed)"), "{shown}");
    press(&mut bench, "y");
    assert_snapshot!(files(&bench), @r#"
    old/events.jsonl: {\"type\": \"region_open\", \"field\": \"content\"}\n{\"type\": \"region_chunk\", \"field\": \"content\", \"text\": \"Hi\", \"dirty\": false}\n{\"type\": \"region_close\", \"field\": \"content\", \"value\": \"Hi\"}\n
    old/expected.json: {\n  \"content\": \"Hi\"\n}\n
    old/messages.json: []\n
    old/notes.md: kept
    old/response.txt: Hi
    "#);
    // With another prefix it is no longer the conversation's.
    press(&mut bench, "pA<esc>s<enter>y");
    assert!(bench.host().files.contains_key(Path::new("old/prefix.txt")));
    assert!(
        !bench
            .host()
            .files
            .contains_key(Path::new("old/messages.json"))
    );
}

#[test]
fn a_fixture_that_is_saved_is_what_is_expected() {
    let mut setup = setup(TRAP, "Hello<|im_end|>");
    setup.samples[0].expected = Some(obverse::value::json::parse("{}").expect("JSON"));
    let mut bench = Debugger::new(setup, Theme { color: false }, Memory::default());
    let differs = |bench: &mut Bench| bench.screen(130, 24).to_text().contains("differs from");
    assert!(differs(&mut bench));
    press(&mut bench, "s<enter>y<right>");
    assert!(!differs(&mut bench));
}
