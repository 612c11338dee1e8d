//! A folder with files, and the binary run in it.

use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

/// A response template with the kinds of fields that there are.
pub(crate) const TEMPLATE: &str = r#"{
  "defaults": {"role": "assistant"},
  "start_anchor": "<assistant>",
  "fields": {
    "thinking": {"open": "<think>", "close": "</think>"},
    "content": {"close_pattern": "</assistant>\\s*"},
    "tool_calls": {
      "open": "<call>",
      "close": "</call>",
      "repeats": true,
      "content": "json",
      "transform": {"type": "function", "function": "{content}"}
    }
  }
}
"#;

/// A chat template whose response template is proved.
pub(crate) const CHAT: &str = "\
{%- for message in messages -%}
<{{ message.role }}>{{ message.content }}</{{ message.role }}>
{%- endfor -%}
{%- if add_generation_prompt -%}<assistant>{%- endif -%}
";

/// The variables by which whoever runs the tests may have set up the Hub's client.
const HUB: [&str; 9] = [
    "HF_ENDPOINT",
    "HF_TOKEN",
    "HF_TOKEN_PATH",
    "HF_HUB_CACHE",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN",
    "HUGGINGFACE_HUB_CACHE",
    "HUGGING_FACE_HUB_TOKEN",
    "TRANSFORMERS_OFFLINE",
    "XDG_CACHE_HOME",
];

/// The variables that name proxies.
const PROXIES: [&str; 6] = [
    "ALL_PROXY",
    "all_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
];

/// A folder of its own for one test.
#[derive(Debug)]
pub(crate) struct Bench {
    folder: TempDir,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bench {
    /// A folder with `template.json` and `chat.jinja`.
    pub(crate) fn new() -> Self {
        let bench = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        bench
            .file("template.json", TEMPLATE)
            .file("chat.jinja", CHAT)
    }

    /// Puts a file there, and the folders that its path names.
    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    /// The names of the files in a folder, in order.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.path(name))
            .expect("a folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .collect();
        names.sort();
        names
    }

    /// Runs the binary with arguments that have no spaces, and nothing on standard input.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_with(arguments, "")
    }

    pub(crate) fn run_with(&self, arguments: &str, input: impl AsRef<[u8]>) -> Run {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        self.run_all(&arguments, input)
    }

    pub(crate) fn run_all(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
        Run::of(self.command().args(arguments).write_stdin(input.as_ref()))
    }

    /// The binary, running until it is told to end.
    pub(crate) fn live(&self, arguments: &[&str]) -> Live {
        let mut child = std::process::Command::new(binary())
            .current_dir(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let lines = Box::new(lines_of(child.stdout.take().expect("a pipe")));
        Live { child, lines }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(binary());
        command
            .current_dir(self.folder.path())
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE");
        for (name, value) in surroundings(&self.path("no-hub")) {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }
}

/// The variables by which no test asks the real Hub, whatever name of a file it makes up; those without a value are taken away.
pub(crate) fn surroundings(home: &Path) -> Vec<(&'static str, Option<OsString>)> {
    let taken_away = HUB.iter().chain(&PROXIES).map(|name| (*name, None));
    let set = [
        // Servers of the tests are on this machine.
        ("NO_PROXY", "*".into()),
        ("HF_HUB_OFFLINE", "1".into()),
        ("HF_HOME", home.into()),
    ];
    let set = set.into_iter().map(|(name, value)| (name, Some(value)));
    taken_away.chain(set).collect()
}

/// The binary while it runs.
pub(crate) struct Live {
    child: Child,
    lines: Box<dyn FnMut() -> String>,
}

impl Live {
    /// The next line of its results.
    pub(crate) fn line(&mut self) -> String {
        (self.lines)()
    }

    /// What Ctrl-C does. Returns the exit status.
    #[cfg(unix)]
    pub(crate) fn interrupt(mut self) -> i32 {
        let pid = self.child.id().to_string();
        let told = std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status();
        assert!(told.expect("a signal").success());
        self.child
            .wait()
            .expect("it ends")
            .code()
            .expect("an exit status")
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_obverse"))
}

/// Gives the lines of a running program one by one, and fails when the next one does not come soon. The program's output
/// is closed at the first line after nobody asks any more.
pub(crate) fn lines_of(output: impl Read + Send + 'static) -> impl FnMut() -> String {
    let (sender, receiver) = mpsc::sync_channel(0);
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            if sender.send(line.expect("UTF-8")).is_err() {
                break;
            }
        }
    });
    move || {
        receiver
            .recv_timeout(Duration::from_secs(20))
            .expect("a line, soon")
    }
}

impl Run {
    /// Runs the binary with a command of one's own, made of [`Bench::command`].
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary runs");
        Self {
            status: output.status.code().expect("an exit status"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// Asserts that all is well, and that people were told nothing.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{self}");
        self.stdout
    }

    /// Asserts that all is well, whatever people were told.
    #[track_caller]
    pub(crate) fn done_quietly(self) -> String {
        assert_eq!(self.status, 0, "{self}");
        self.stdout
    }

    /// Asserts the exit status, and that no result was written. Returns what people were told.
    #[track_caller]
    pub(crate) fn refused(self, status: i32) -> String {
        assert_eq!((self.status, self.stdout.as_str()), (status, ""), "{self}");
        self.stderr
    }

    /// The same run with the numbers of rounds left out, which change with every variant that is tried.
    pub(crate) fn without_counts(mut self) -> Self {
        self.stderr = without_counts(&self.stderr);
        self
    }
}

pub(crate) fn without_counts(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| match line.split_once("rounds: ") {
            Some((before, counts)) => {
                let words: String = counts.chars().filter(|c| !c.is_ascii_digit()).collect();
                format!("{before}rounds:{}", words.replace("  ", " "))
            }
            None => line.to_owned(),
        })
        .collect();
    lines.join("\n")
}

/// All of it, for a snapshot.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "exit {}\n--- stdout\n{}--- stderr\n{}",
            self.status, self.stdout, self.stderr
        )
    }
}
