//! Saving fixtures and templates, each after a look at what changes.

use std::path::Path;

use insta::assert_snapshot;

use crate::bench::{Bench, Memory, TRAP, debugger, press, screen, setup, status};
use obverse::tui::{Debugger, Theme};

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
      Hello<|im_end|>                              │ nothing yet: → feeds a chunk
                                                   │
                                                   │
                                                   │
                                                   │
      ┌ save this fixture? y n ──────────────────────────────────────────────────┐
      │cases/hello/response.txt (new)                                            │──
      │+Hello<|im_end|>                                                          │
      │cases/hello/expected.json (new)                                           │l…
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
    ✗ a line feed behind "<|im_end|>" opens "conte…│
      r repairs it: let it take the white space be…│
    y save  n do not  ↓↑ scroll  ? help
    "#);
    press(&mut bench, "n");
    assert_eq!(files(&bench), "");
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
fn what_cannot_be_written_is_told() {
    let host = Memory {
        is_full: true,
        ..Memory::default()
    };
    let mut bench = Debugger::new(setup(TRAP, "Hi"), Theme { color: false }, host);
    press(&mut bench, "s<enter>y");
    assert!(status(&mut bench).contains("the disk is full"));
}
