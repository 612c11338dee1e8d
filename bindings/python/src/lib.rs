//! Obverse for Python: arguments in, results out. What is nicer said in Python is in the package `obverse` around it.

mod arrow;
mod chat;
mod conversation;
mod convert;
mod deltas;
mod errors;
mod grammar;
mod parser;
mod reader;
mod template;
mod threads;

use std::ffi::OsString;

use obverse::value::json;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// What serializes to JSON, as Python's objects.
fn written<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let failed = |error: String| PyValueError::new_err(error);
    let text = serde_json::to_string(value).map_err(|error| failed(error.to_string()))?;
    let value = json::parse(&text).map_err(|error| failed(error.message()))?;
    convert::to_python(py, &value)
}

/// The command line: what the binary does with the arguments, of which the first is the program's name. Returns the exit status.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| obverse::cli::run(arguments))
}

/// The native part of the package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrow::{arrow_masks, arrow_parse, arrow_spans};
    #[pymodule_export]
    use super::chat::{derive_from, inspect_from, lint_text};
    #[pymodule_export]
    use super::conversation::Chat;
    #[pymodule_export]
    use super::deltas::DeltaParser;
    #[pymodule_export]
    use super::grammar::{WrittenGrammar, grammar_from};
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::parser::{Parser, coerce, parse, parse_many};
    #[pymodule_export]
    use super::reader::{Derived, StrictReader};
    #[pymodule_export]
    use super::template::Template;
}
