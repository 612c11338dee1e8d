//! Values to and from Python's.

use obverse::value::{Integer, Map, Value, json};
use pyo3::exceptions::{PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// What becomes of an object that JSON does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It is an error.
    Refuse,
    /// It is null: nobody asks for its value.
    Ignore,
}

/// The Python object that the value stands for.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Int(value) => integer(py, value)?,
        Value::Float(value) => PyFloat::new(py, *value).into_any(),
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(members) => dict(py, members)?.into_any(),
    })
}

/// A dict with the members in their order.
pub(crate) fn dict<'py>(py: Python<'py>, members: &Map) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in members {
        dict.set_item(key.as_str(), to_python(py, value)?)?;
    }
    Ok(dict)
}

fn integer<'py>(py: Python<'py>, value: &Integer) -> PyResult<Bound<'py, PyAny>> {
    match value.as_i64() {
        Some(small) => Ok(PyInt::new(py, small).into_any()),
        // Hexadecimal digits would have no limit, but need arithmetic that is not there; `int` refuses above its own limit.
        None => py.get_type::<PyInt>().call1((value.to_string(),)),
    }
}

/// The value of a Python object; tuples are lists.
///
/// # Errors
///
/// For what JSON does not have, unless it is to be ignored, and for what nests too deep.
pub(crate) fn from_python(object: &Bound<'_, PyAny>, foreign: Foreign) -> PyResult<Value> {
    value(object, foreign, 0)
}

fn value(object: &Bound<'_, PyAny>, foreign: Foreign, depth: usize) -> PyResult<Value> {
    if depth > json::MAX_DEPTH {
        let message = format!(
            "lists and dicts nest deeper than the limit of {}",
            json::MAX_DEPTH
        );
        return Err(PyRecursionError::new_err(message));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::from(text.to_str()?));
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if let Ok(number) = object.cast::<PyInt>() {
        if let Ok(small) = number.extract::<i64>() {
            return Ok(Value::from(small));
        }
        let digits = number.str()?;
        if let Some(big) = Integer::from_digits(digits.to_str()?) {
            return Ok(Value::Int(big));
        }
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        return Ok(Value::Float(number.value()));
    }
    if let Ok(members) = object.cast::<PyDict>() {
        let mut map = Map::with_capacity(members.len());
        for (key, item) in members {
            match key.cast::<PyString>() {
                Ok(name) => {
                    map.insert(name.to_str()?, value(&item, foreign, depth + 1)?);
                }
                Err(_) if foreign == Foreign::Ignore => {}
                Err(_) => {
                    let message = format!("the keys of a dict must be strings, not {}", kind(&key));
                    return Err(PyTypeError::new_err(message));
                }
            }
        }
        return Ok(Value::Object(map));
    }
    if let Ok(items) = object.cast::<PyList>() {
        return list(items.iter(), foreign, depth);
    }
    if let Ok(items) = object.cast::<PyTuple>() {
        return list(items.iter(), foreign, depth);
    }
    match foreign {
        Foreign::Ignore => Ok(Value::Null),
        Foreign::Refuse => {
            let message = format!("JSON has no objects of the type {}", kind(object));
            Err(PyTypeError::new_err(message))
        }
    }
}

fn list<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    foreign: Foreign,
    depth: usize,
) -> PyResult<Value> {
    let items = items.map(|item| value(&item, foreign, depth + 1));
    Ok(Value::Array(items.collect::<PyResult<_>>()?))
}

/// The name of an object's type, for a message.
pub(crate) fn kind(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name();
    name.map_or_else(|_| "unknown".to_owned(), |name| name.to_string())
}
