//! Errors as Python's exceptions, which are classes of `obverse.errors`.

use obverse::chat_template::LoadError;
use obverse::derive::DeriveError;
use obverse::diagnostic::Diagnostic;
use obverse::parser::ParseError;
use obverse::response_template::Invalid;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::convert;
use crate::written;

/// What a function of `obverse.errors` makes of its arguments.
fn made<'py>(
    py: Python<'py>,
    function: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyErr {
    let module = py.import(intern!(py, "obverse.errors"));
    match module.and_then(|module| module.getattr(function)?.call1(arguments)) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception for a response that does not parse.
pub(crate) fn parse(py: Python<'_>, error: &ParseError) -> PyErr {
    match convert::dict(py, &error.to_map()) {
        Ok(members) => made(py, "of_response", (members,)),
        Err(error) => error,
    }
}

/// The same for one of several responses, of which it tells the place among them; in its message where it is raised, and stands for all of them.
pub(crate) fn parse_of(py: Python<'_>, error: &ParseError, index: usize, is_raised: bool) -> PyErr {
    let exception = parse(py, error);
    match exception
        .value(py)
        .call_method1(intern!(py, "_is_of"), (index, is_raised))
    {
        Ok(_) => exception,
        Err(error) => error,
    }
}

/// The exception for a document that is no response template.
pub(crate) fn template(py: Python<'_>, invalid: &Invalid) -> PyErr {
    diagnosed(py, &invalid.to_string(), invalid.diagnostics())
}

/// The exception for a document of which these are the mistakes.
pub(crate) fn diagnosed(py: Python<'_>, message: &str, diagnostics: &[Diagnostic]) -> PyErr {
    match findings(py, diagnostics) {
        Ok(findings) => made(py, "of_template", (message, findings)),
        Err(error) => error,
    }
}

/// Why nothing can be done with a source: in words, and with the code that the command gives it.
pub(crate) struct Problem {
    code: String,
    message: String,
}

impl Problem {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
        }
    }
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Self {
        let code = match &error {
            LoadError::Unreadable { .. } => "unreadable",
            LoadError::NotUtf8 { .. } => "invalid-utf8",
            LoadError::InvalidJson { .. } => "json-syntax",
            LoadError::NoTemplate { .. } => "no-chat-template",
            LoadError::Template { error, .. } => error.diagnostic.code,
            _ => "unreadable",
        };
        Self::new(code, error.to_string())
    }
}

impl From<DeriveError> for Problem {
    fn from(error: DeriveError) -> Self {
        let code = match &error {
            DeriveError::Render(_) => "not-rendered",
            DeriveError::Preference(_) | DeriveError::UnknownDecision { .. } => "no-decision",
            DeriveError::Invalid(_) => "invalid-draft",
            _ => "not-derived",
        };
        Self::new(code, error.to_string())
    }
}

/// The exception for a document that has what JSON has not, which is an error of the type as well.
pub(crate) fn document(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) {
        made(py, "of_foreign", (error.value(py).to_string(),))
    } else {
        error
    }
}

/// The exception for a chat template that cannot be loaded, or that nothing can be derived from.
pub(crate) fn source(py: Python<'_>, problem: &Problem) -> PyErr {
    made(py, "of_source", (&problem.message, &problem.code))
}

/// The exception for a conversation that a chat template does not render.
pub(crate) fn render(py: Python<'_>, message: &str) -> PyErr {
    made(py, "of_render", (message,))
}

/// Diagnostics as dicts.
pub(crate) fn findings<'py>(
    py: Python<'py>,
    diagnostics: &[Diagnostic],
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for diagnostic in diagnostics {
        list.append(written(py, diagnostic)?)?;
    }
    Ok(list)
}

/// The exception for work that ended in a panic, on a thread of its own.
pub(crate) fn panicked() -> PyErr {
    PyRuntimeError::new_err(
        "the work ended in a panic, which is a mistake in Obverse: please report it",
    )
}
