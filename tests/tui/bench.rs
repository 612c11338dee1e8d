//! A debugger without a terminal, whose files are in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use obverse::chunking::Chunking;
use obverse::tui::{Debugger, Derivation, Host, Sample, Setup, Template, Theme};

/// A response template with the kinds of fields that there are.
pub(crate) const TEMPLATE: &str = r#"{
  "defaults": {"role": "assistant"},
  "start_anchor": "<assistant>",
  "fields": {
    "thinking": {"open": "<think>", "close": "</think>"},
    "content": {"close_pattern": "<end>\\s*"},
    "tool_calls": {
      "open_pattern": "<call (?P<name>\\w+)>",
      "close": "</call>",
      "repeats": true,
      "content": "json",
      "transform": {"name": "{name}", "arguments": "{content}"}
    }
  }
}
"#;

/// One whose content closes at a literal, which loses what stands before trailing space.
pub(crate) const TRAP: &str = r#"{
  "start_anchor": "<|im_start|>assistant\n",
  "fields": {
    "content": {"close": "<|im_end|>"}
  }
}
"#;

pub(crate) const RESPONSE: &str = "<think>Whether to call.</think>Let me look.\n<call look>{\"at\": [1, 2]}</call>\
     <call look>{\"at\": oops}</call><end>\n";

/// Files in memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) files: BTreeMap<PathBuf, String>,
    pub(crate) clipboard: Vec<String>,
    pub(crate) is_full: bool,
}

impl Host for Memory {
    fn read(&mut self, path: &Path) -> Result<Option<String>, String> {
        Ok(self.files.get(path).cloned())
    }

    fn write(&mut self, path: &Path, text: &str) -> Result<(), String> {
        if self.is_full {
            return Err("the disk is full".to_owned());
        }
        self.files.insert(path.to_owned(), text.to_owned());
        Ok(())
    }

    fn remove(&mut self, path: &Path) -> Result<(), String> {
        self.files.remove(path);
        Ok(())
    }

    fn copy(&mut self, text: &str) {
        self.clipboard.push(text.to_owned());
    }
}

pub(crate) type Bench = Debugger<Memory>;

pub(crate) fn setup(template: &str, response: &str) -> Setup {
    let template = Template::load(template, Some("template.json".into())).expect("a template");
    Setup::new(template, vec![Sample::new("sample.txt", response)])
}

/// A debugger in colour.
pub(crate) fn debugger(template: &str, response: &str) -> Bench {
    open(setup(template, response))
}

pub(crate) fn open(setup: Setup) -> Bench {
    Debugger::new(setup, Theme { color: true }, Memory::default())
}

/// The one that most tests use: in single characters, and with a derivation.
pub(crate) fn calls() -> Bench {
    open(Setup {
        chunking: Chunking::Characters(4),
        ..setup(TEMPLATE, RESPONSE)
    })
}

pub(crate) fn press(bench: &mut Bench, keys: &str) {
    bench.type_keys(keys).expect("keys");
}

/// The screen at 80x24.
pub(crate) fn screen(bench: &mut Bench) -> String {
    bench.screen(80, 24).to_text()
}

/// A pane alone, without its heading and without the rows of a message below it.
pub(crate) fn pane(bench: &mut Bench, number: u8) -> String {
    press(bench, &format!("{number}z"));
    let text = bench.screen(76, 22).to_text();
    press(bench, "z1");
    let lines: Vec<&str> = text.lines().skip(2).collect();
    let message = lines.iter().position(|line| line.starts_with("! "));
    let end = message.unwrap_or(lines.len() - 1);
    lines[..end].join("\n").trim_end().to_owned()
}

/// The message in the last line of a screen that is wide enough for any, without the keys behind it; or the keys, where there is none.
pub(crate) fn status(bench: &mut Bench) -> String {
    let text = bench.screen(200, 24).to_text();
    let last = text.lines().last().unwrap_or_default();
    let message = last.split("   ? help").next().unwrap_or_default();
    message.to_owned()
}

/// The first line.
pub(crate) fn title(bench: &mut Bench) -> String {
    let text = screen(bench);
    text.lines().next().unwrap_or_default().to_owned()
}

pub(crate) fn derivation() -> Derivation {
    Derivation::of_json(
        r#"{"source": "chat.jinja", "verified": true, "evidence": [
            {"question": "anchor", "marker": "<assistant>", "reading": "what precedes the answer",
             "left": {"variant": "without a prompt", "text": "<user>Hi\n"},
             "right": {"variant": "with one", "text": "<user>Hi\n<assistant>"}},
            {"question": "reasoning close", "marker": "</think>", "reading": "what stands between both",
             "left": {"variant": "reasoning", "text": "<think>Hm</think>Yes"},
             "right": {"variant": "none", "text": "Yes"},
             "places": [{"line": 2, "column": 9, "start": 30, "end": 38, "text": "</think>"}]}
        ]}"#,
    )
    .expect("a report")
}
