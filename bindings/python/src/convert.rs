//! Values to and from Python's.

use obverse::value::{Integer, Map, Path, Step, Value, json};
use pyo3::exceptions::{PyRecursionError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// What becomes of an object that JSON does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It is an error.
    Refuse,
    /// It is null: nobody asks for its value.
    Ignore,
    /// It is shown as transformers shows it to a chat template.
    Plain,
}

/// The reason why an object is no value.
enum Refusal {
    /// Ours, with the way to the object, which is written from its end.
    Type(String, Vec<Step>),
    /// One that is told as it is.
    Other(PyErr),
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self::Other(error)
    }
}

impl Refusal {
    fn under(mut self, step: impl FnOnce() -> Step) -> Self {
        if let Self::Type(_, path) = &mut self {
            path.push(step());
        }
        self
    }

    fn told(self) -> PyErr {
        match self {
            Self::Other(error) => error,
            Self::Type(message, steps) if steps.is_empty() => PyTypeError::new_err(message),
            Self::Type(message, steps) => {
                let mut path = Path::default();
                steps.into_iter().rev().for_each(|step| path.push(step));
                PyTypeError::new_err(format!("{path}: {message}"))
            }
        }
    }
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
    value(object, foreign, 0).map_err(Refusal::told)
}

fn value(object: &Bound<'_, PyAny>, foreign: Foreign, depth: usize) -> Result<Value, Refusal> {
    if depth > json::MAX_DEPTH {
        let message = format!(
            "lists and dicts nest deeper than the limit of {}",
            json::MAX_DEPTH
        );
        return Err(PyRecursionError::new_err(message).into());
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
                    let name = name.to_str()?;
                    let item = value(&item, foreign, depth + 1);
                    let item =
                        item.map_err(|refusal| refusal.under(|| Step::Key(name.to_owned())))?;
                    map.insert(name, item);
                }
                Err(_) if foreign == Foreign::Ignore => {}
                Err(_) => {
                    let message = format!("the keys of a dict must be strings, not {}", kind(&key));
                    return Err(Refusal::Type(message, Vec::new()));
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
        Foreign::Plain => {
            let module = object
                .py()
                .import(intern!(object.py(), "obverse._conversation"))?;
            let plain = module.call_method1(intern!(object.py(), "_plain"), (object,))?;
            value(&plain, foreign, depth + 1)
        }
        Foreign::Refuse => {
            let message = format!(
                "JSON has no objects of the type {}: it has dict, list, str, int, float, bool and None",
                kind(object)
            );
            Err(Refusal::Type(message, Vec::new()))
        }
    }
}

fn list<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    foreign: Foreign,
    depth: usize,
) -> Result<Value, Refusal> {
    let items = items.enumerate().map(|(index, item)| {
        let item = value(&item, foreign, depth + 1);
        item.map_err(|refusal| refusal.under(|| Step::Index(index)))
    });
    Ok(Value::Array(items.collect::<Result<_, _>>()?))
}

/// The name of an object's type, for a message.
pub(crate) fn kind(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name();
    name.map_or_else(|_| "unknown".to_owned(), |name| name.to_string())
}
