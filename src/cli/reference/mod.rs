//! The reference beside Obverse: one Python with transformers, asked a line at a time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use obverse::check::reference::{Answer, Question};
use obverse::value::{Value, json};

use super::problem::Problem;
use super::{escape, input, output};

/// The script that Python runs.
const SCRIPT: &str = include_str!("reference.py");

/// The version of transformers that Obverse is measured against.
const MEASURED: &str = "5.23.0";

/// How long Python may take to import transformers.
const STARTING: Duration = Duration::from_mins(2);

/// How long it may take for one fixture.
const ANSWERING: Duration = Duration::from_secs(20);

/// The choice to run transformers as well, and the Python to run it with.
#[derive(Debug, clap::Args)]
pub(crate) struct ReferenceArgs {
    /// Run the installed transformers beside it, and report where it disagrees
    #[arg(long)]
    reference: bool,

    /// The Python that has transformers; by default that of .venv, here or beside obverse.toml, else python3
    #[arg(long, value_name = "PATH", requires = "reference")]
    python: Option<PathBuf>,
}

/// A Python with transformers. It is started again after a question that it did not answer.
pub(crate) struct Reference {
    python: PathBuf,
    session: Mutex<Option<Session>>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    /// It takes too long.
    #[error("transformers is still at work after {} seconds", ANSWERING.as_secs())]
    TooSlow,
    /// It is gone, or says what nobody understands.
    #[error("Python ended without an answer")]
    Gone,
}

/// A script that is running.
struct Session {
    child: Child,
    /// Gone when the script is to end.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl ReferenceArgs {
    /// Returns true if it is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.reference
    }

    /// The reference, if it is asked for; `root` is where `obverse.toml` lies. Tells which version it is.
    pub(crate) fn start(&self, root: Option<&Path>) -> Result<Option<Reference>, Problem> {
        if !self.reference {
            return Ok(None);
        }
        let python = match &self.python {
            Some(path) => path.clone(),
            None => found_python(root),
        };
        let name = input::name(&python);
        let (session, about) = Session::start(&python).map_err(|why| none(&name, &why))?;
        let text = |key: &str| about.get(key).and_then(Value::as_str);
        let version = text("transformers");
        if let Some(missing) = text("missing") {
            let why = match version {
                Some(version) => {
                    format!("its transformers {version} has no response templates ({missing})")
                }
                None => format!("it has no transformers ({missing})"),
            };
            return Err(none(&name, &why));
        }
        let version = version.unwrap_or("of an unknown version");
        let measured = if version == MEASURED {
            String::new()
        } else {
            format!("; Obverse is measured against {MEASURED}")
        };
        output::tell(&format!(
            "reference: transformers {}, {name}{measured}\n",
            escape::line(version)
        ));
        Ok(Some(Reference {
            python,
            session: Mutex::new(Some(session)),
        }))
    }
}

/// The Python of the nearest `.venv`, or the one that the path has.
fn found_python(root: Option<&Path>) -> PathBuf {
    let inside = if cfg!(windows) {
        ".venv/Scripts/python.exe"
    } else {
        ".venv/bin/python"
    };
    [Some(Path::new("")), root]
        .into_iter()
        .flatten()
        .map(|folder| folder.join(inside))
        .find(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from("python3"))
}

fn none(python: &str, why: &str) -> Problem {
    let message = format!("there is no reference to compare with: {python}: {why}");
    Problem::failed("no-reference", message).with_hint(format!(
        "install it with `python3 -m venv .venv && .venv/bin/pip install transformers=={MEASURED}`, or name a Python that has it with \
         --python"
    ))
}

impl Reference {
    /// Asks the reference a question.
    pub(crate) fn ask(&self, question: &Question<'_>) -> Result<Answer, Unanswered> {
        let mut held = self.session.lock().map_err(|_| Unanswered::Gone)?;
        let mut session = match held.take() {
            Some(session) => session,
            None => {
                Session::start(&self.python)
                    .map_err(|_| Unanswered::Gone)?
                    .0
            }
        };
        let answer = session.ask(&json::to_string(&question.to_value()))?;
        let answer = Answer::from_value(&answer).ok_or(Unanswered::Gone)?;
        *held = Some(session);
        Ok(answer)
    }
}

impl Session {
    /// Starts the script and returns what it says of itself.
    fn start(python: &Path) -> Result<(Self, Value), String> {
        let mut child = Command::new(python)
            .args(["-c", SCRIPT])
            // Modules are not looked for in the current folder, and nothing is looked for in the network.
            .env("PYTHONSAFEPATH", "1")
            .env("HF_HUB_OFFLINE", "1")
            .env("TRANSFORMERS_VERBOSITY", "error")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("it does not start: {error}"))?;
        let input = child.stdin.take();
        let (sender, lines) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut lines = BufReader::new(output).lines();
                while let Some(Ok(line)) = lines.next() {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let mut session = Self {
            child,
            input,
            lines,
        };
        let about = session.answer(STARTING).map_err(|error| match error {
            Unanswered::TooSlow => "it takes too long to import transformers".to_owned(),
            Unanswered::Gone => "it ends at once".to_owned(),
        })?;
        Ok((session, about))
    }

    fn ask(&mut self, question: &str) -> Result<Value, Unanswered> {
        let input = self.input.as_mut().ok_or(Unanswered::Gone)?;
        writeln!(input, "{question}")
            .and_then(|()| input.flush())
            .map_err(|_| Unanswered::Gone)?;
        self.answer(ANSWERING)
    }

    fn answer(&mut self, patience: Duration) -> Result<Value, Unanswered> {
        let line = self
            .lines
            .recv_timeout(patience)
            .map_err(|error| match error {
                RecvTimeoutError::Timeout => Unanswered::TooSlow,
                RecvTimeoutError::Disconnected => Unanswered::Gone,
            })?;
        json::parse(&line).map_err(|_| Unanswered::Gone)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The script ends with its input, unless it is at work and may be so for ever.
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
