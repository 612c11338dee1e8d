//! The reference, transformers as pinned in `tests/reference/requirements.txt`, run beside Obverse.
//!
//! A test asks a script in `tests/reference/` one JSON line at a time. Where there is no Python with the reference the
//! test is skipped and says so; in CI it fails.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The Python that has the reference installed: `OBVERSE_REFERENCE_PYTHON`, or `.venv/bin/python` of this checkout.
///
/// # Panics
///
/// In CI (`CI` set in the environment) when there is none.
pub fn python() -> Option<PathBuf> {
    let found = std::env::var_os("OBVERSE_REFERENCE_PYTHON")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/python")))
        .filter(|path| path.exists());
    if found.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "CI must have the reference: `.ci/run` installs it"
        );
        eprintln!("skipped: no reference; `tests/reference/install` sets one up");
    }
    found
}

/// The same for response schemas, which have a reference of their own: `.venv-schema/bin/python`.
///
/// # Panics
///
/// In CI when there is none.
pub fn schema_python() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv-schema/bin/python");
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "CI must have the reference for response schemas: `.ci/run` installs it"
    );
    eprintln!("skipped: no reference; `tests/reference/install-schema` sets one up");
    None
}

/// The Python with the engines that take grammars: `.venv-grammar/bin/python`.
///
/// # Panics
///
/// In CI when there is none.
pub fn grammar_python() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv-grammar/bin/python");
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "CI must have the engines that take grammars: `.ci/run` installs them"
    );
    eprintln!("skipped: no engines for grammars; `tests/reference/install-grammar` sets them up");
    None
}

/// The answer of `tests/reference/SCRIPT` to each of the lines; `None` where there is no reference.
///
/// # Panics
///
/// When the script ends before it has answered all of them.
pub fn ask(script: &str, lines: &[String]) -> Option<Vec<String>> {
    Some(ask_with(&python()?, script, lines))
}

/// [`ask`] with the Python at that path. The scripts answer each line by itself, so that one which has answered waits for whoever asks it next: to
/// start Python with the reference takes half a second, which is more than most questions do.
///
/// # Panics
///
/// As [`ask`].
pub fn ask_with(python: &Path, script: &str, lines: &[String]) -> Vec<String> {
    type Idle = HashMap<(PathBuf, String), Vec<Session>>;
    static IDLE: LazyLock<Mutex<Idle>> = LazyLock::new(Mutex::default);
    // A test that failed while it held them has done nothing to them.
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (python.to_owned(), script.to_owned());
    let waiting = idle().get_mut(&key).and_then(Vec::pop);
    let mut session = waiting.unwrap_or_else(|| Session::start_with(python, script));
    let answers = session.ask(lines);
    idle().entry(key).or_default().push(session);
    answers
}

fn start(script: &str) -> Option<Child> {
    Some(start_with(&python()?, script))
}

fn start_with(python: &Path, script: &str) -> Child {
    Command::new(python)
        // transformers' warnings about missing frameworks are not for the tests.
        .env("TRANSFORMERS_VERBOSITY", "error")
        // The servers that a script asks are on this machine.
        .env("NO_PROXY", "*")
        .arg(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/reference")
                .join(script),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the reference starts")
}

/// A script that stays, to be asked again and again.
pub struct Session {
    child: Child,
    /// Gone when the script is to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Session {
    /// Starts `tests/reference/SCRIPT`; `None` where there is no reference.
    pub fn start(script: &str) -> Option<Self> {
        start(script).map(Self::of)
    }

    /// Starts `tests/reference/SCRIPT` with the Python at that path.
    pub fn start_with(python: &Path, script: &str) -> Self {
        Self::of(start_with(python, script))
    }

    fn of(mut child: Child) -> Self {
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self {
            child,
            input,
            output,
        }
    }

    /// The answer to each line, without the line feed.
    ///
    /// # Panics
    ///
    /// When the script ends before it has answered all of them.
    pub fn ask(&mut self, lines: &[String]) -> Vec<String> {
        let input = self.input.as_mut().expect("the script is there");
        let output = &mut self.output;
        std::thread::scope(|scope| {
            // Neither side waits for the other to have room.
            scope.spawn(move || {
                for line in lines {
                    writeln!(input, "{line}").expect("the reference reads");
                }
                input.flush().expect("the reference reads");
            });
            lines
                .iter()
                .map(|_| {
                    let mut answer = String::new();
                    output
                        .read_line(&mut answer)
                        .expect("the reference answers");
                    assert_eq!(answer.pop(), Some('\n'), "the reference ended early");
                    answer
                })
                .collect()
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The script ends with its input.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
