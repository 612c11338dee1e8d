//! What is done with chat templates: deriving, inspecting, linting.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use obverse::chat_template::{self, ChatTemplateSource};
use obverse::derive::{self, Options};
use obverse::lint;
use obverse::response_template::Engine;
use obverse::value::{Map, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{self, Foreign};
use crate::errors::{self, Problem};
use crate::reader::Derived;
use crate::written;

/// The stack of the work, in bytes: the threads of Python may have little.
const STACK: usize = 16 << 20;

/// How often Python is asked whether somebody wants to interrupt.
const PATIENCE: Duration = Duration::from_millis(50);

/// The chat templates at a path, or of a text; with a name for them where the path says nothing.
pub(crate) fn open(
    path: Option<PathBuf>,
    text: Option<String>,
    name: Option<String>,
    tokens: Map,
) -> Result<ChatTemplateSource, Problem> {
    let mut name = name;
    let mut path = path;
    if let Some(source) = &path
        && let Some(folder) =
            obverse::cli::model_folder(source).map_err(|(code, told)| Problem::new(&code, told))?
    {
        // Reports are to say the same on every machine.
        name = name.or_else(|| Some(source.to_string_lossy().into_owned()));
        path = Some(folder);
    }
    let loaded = match (&path, &text) {
        (Some(path), None) => chat_template::load(path),
        (None, Some(text)) => chat_template::from_text("chat_template", text),
        _ => return Err(Problem::new("usage", "either a path or a text is needed")),
    };
    let mut source = loaded?.assuming_tokens().with_special_tokens(tokens);
    if let Some(name) = name {
        source.path = Path::new(&name).to_owned();
        source.name = name;
    }
    Ok(source)
}

fn engines(names: &[String]) -> PyResult<Vec<Engine>> {
    let engine = |name: &String| {
        Engine::from_str(name).map_err(|error| PyValueError::new_err(error.to_string()))
    };
    names.iter().map(engine).collect()
}

/// Special tokens by their names.
pub(crate) fn tokens(given: Option<&Bound<'_, PyDict>>) -> PyResult<Map> {
    let Some(given) = given else {
        return Ok(Map::new());
    };
    match convert::from_python(given.as_any(), Foreign::Refuse)? {
        Value::Object(tokens) => Ok(tokens),
        _ => Ok(Map::new()),
    }
}

/// Does the work on a thread of its own with the interpreter released, and asks Python meanwhile whether to go on. Work that
/// is interrupted ends on its own, unheard.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::channel();
    thread::Builder::new().stack_size(STACK).spawn(move || {
        // Whoever was interrupted does not listen any more.
        let _ = sender.send(work());
    })?;
    loop {
        let receiver = &mut receiver;
        match py.detach(move || receiver.recv_timeout(PATIENCE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(errors::panicked()),
        }
    }
}

/// The response template, the report, and what the derivation knows beyond them.
#[pyfunction]
#[pyo3(signature = (*, path = None, text = None, name = None, special_tokens = None, engines = Vec::new(), thorough = false, prefer = Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn derive_from<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    text: Option<String>,
    name: Option<String>,
    special_tokens: Option<&Bound<'py, PyDict>>,
    engines: Vec<String>,
    thorough: bool,
    prefer: Vec<(String, String)>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Derived)> {
    let options = Options::default()
        .engines(self::engines(&engines)?)
        .thorough(thorough)
        .prefer(prefer);
    let tokens = tokens(special_tokens)?;
    let derived = interruptible(py, move || {
        let source = open(path, text, name, tokens)?;
        Ok(derive::derive(&source, &options)?)
    })?;
    let derivation = derived.map_err(|problem: Problem| errors::source(py, &problem))?;
    let document = convert::to_python(py, &derivation.document.to_value())?;
    let report = written(py, &derivation.report)?;
    Ok((document, report, Derived::new(derivation)))
}

/// What chat templates support.
#[pyfunction]
#[pyo3(signature = (*, path = None, text = None, name = None, special_tokens = None))]
pub(crate) fn inspect_from<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    text: Option<String>,
    name: Option<String>,
    special_tokens: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let tokens = tokens(special_tokens)?;
    let inspected = interruptible(py, move || {
        let source = open(path, text, name, tokens)?;
        Ok(derive::inspect::inspect(&source, &Options::default()))
    })?;
    let inspection = inspected.map_err(|problem: Problem| errors::source(py, &problem))?;
    written(py, &inspection)
}

/// What will go wrong with the response template in a text.
#[pyfunction]
#[pyo3(signature = (document, *, path = None, text = None, special_tokens = None, engines = Vec::new()))]
pub(crate) fn lint_text<'py>(
    py: Python<'py>,
    document: String,
    path: Option<PathBuf>,
    text: Option<String>,
    special_tokens: Option<&Bound<'py, PyDict>>,
    engines: Vec<String>,
) -> PyResult<Bound<'py, PyList>> {
    let engines = self::engines(&engines)?;
    let tokens = tokens(special_tokens)?;
    let found = interruptible(py, move || {
        let chat = match (&path, &text) {
            (None, None) => None,
            _ => Some(open(path, text, None, tokens)?),
        };
        let options = lint::Options::default()
            .chat(chat.as_ref())
            .engines(&engines);
        Ok(lint::lint(&document, &options))
    })?;
    let found = found.map_err(|problem: Problem| errors::source(py, &problem))?;
    errors::findings(py, &found)
}
