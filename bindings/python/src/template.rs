//! Response templates, compiled.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use obverse::deltas::DeltaTemplate;
use obverse::response_template::{ResponseTemplate, config};
use obverse::value::{Value, json};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::convert::{self, Foreign};
use crate::errors;

/// How many compiled documents are kept, so that a dict that is given again and again is compiled once.
const KEPT: usize = 64;

/// What was compiled, by the document's text.
static COMPILED: Mutex<Option<HashMap<String, Arc<Compiled>>>> = Mutex::new(None);

/// The compiled forms of a document.
#[derive(Debug)]
struct Compiled {
    template: Arc<ResponseTemplate>,
    /// For deltas; made when it is first needed.
    growing: OnceLock<Arc<DeltaTemplate>>,
}

impl Compiled {
    fn new(template: ResponseTemplate) -> Arc<Self> {
        Arc::new(Self {
            template: Arc::new(template),
            growing: OnceLock::new(),
        })
    }
}

/// A response template, validated and compiled; it can be given wherever the document can, and pickled.
///
/// Raises `TemplateError` for a document that is no response template, with everything that is wrong with it.
#[pyclass(name = "ResponseTemplate", module = "obverse", frozen)]
#[derive(Debug)]
pub(crate) struct Template {
    document: Value,
    compiled: Arc<Compiled>,
}

#[pymethods]
impl Template {
    #[new]
    fn new(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = document.py();
        let value = convert::from_python(document, Foreign::Refuse)
            .map_err(|error| errors::document(py, error))?;
        let compiled = compiled(py, &value)?;
        Ok(Self {
            document: value,
            compiled,
        })
    }

    /// The template of a JSON text: the document, or a `tokenizer_config.json` that holds it.
    #[staticmethod]
    fn from_json(text: &Bound<'_, PyString>) -> PyResult<Self> {
        let loaded = config::load_any(text.to_str()?)
            .map_err(|invalid| errors::template(text.py(), &invalid))?;
        Ok(Self {
            document: loaded.document,
            compiled: Compiled::new(loaded.template),
        })
    }

    /// The template of a file: the document, or a `tokenizer_config.json` that holds it.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let text = std::fs::read_to_string(path)?;
        let loaded = config::load_any(&text).map_err(|invalid| errors::template(py, &invalid))?;
        Ok(Self {
            document: loaded.document,
            compiled: Compiled::new(loaded.template),
        })
    }

    /// The document, as a new dict.
    #[getter]
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.document)
    }

    /// The names of the fields, in the document's order.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(
            py,
            self.compiled
                .template
                .fields()
                .iter()
                .map(|field| field.name.as_str()),
        )
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let document = slf.get().document(slf.py())?;
        Ok((slf.get_type().into_any(), (document,)))
    }

    /// It cannot be changed, so that it is its own copy.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    /// By the text of the document: the order of the fields is that of a message's members.
    fn __eq__(&self, other: &Self) -> bool {
        json::to_string(&self.document) == json::to_string(&other.document)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        json::to_string(&self.document).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let names = self.compiled.template.fields().iter();
        let names: Vec<&str> = names.map(|field| field.name.as_str()).collect();
        format!("<ResponseTemplate of {}>", names.join(", "))
    }
}

/// The compiled form of what Python gives for a response template: a dict, or one that was compiled before.
pub(crate) fn given(object: &Bound<'_, PyAny>) -> PyResult<Arc<ResponseTemplate>> {
    Ok(Arc::clone(&compiled_of(object)?.template))
}

/// The same for deltas.
pub(crate) fn growing(object: &Bound<'_, PyAny>) -> PyResult<Arc<DeltaTemplate>> {
    let compiled = compiled_of(object)?;
    let make = || Arc::new(DeltaTemplate::new(Arc::clone(&compiled.template)));
    Ok(Arc::clone(compiled.growing.get_or_init(make)))
}

fn compiled_of(object: &Bound<'_, PyAny>) -> PyResult<Arc<Compiled>> {
    if let Ok(template) = object.cast::<Template>() {
        return Ok(Arc::clone(&template.get().compiled));
    }
    if object.cast::<PyDict>().is_err() {
        // A derivation has one, and so has a tokenizer.
        if let Ok(held) = object.getattr(intern!(object.py(), "response_template"))
            && (held.cast::<PyDict>().is_ok() || held.cast::<Template>().is_ok())
        {
            return compiled_of(&held);
        }
        let message = format!(
            "response_template must be a dict, a ResponseTemplate or a Derivation, got {}",
            convert::kind(object)
        );
        return Err(PyTypeError::new_err(message));
    }
    let value = convert::from_python(object, Foreign::Refuse)
        .map_err(|error| errors::document(object.py(), error))?;
    compiled(object.py(), &value)
}

/// The compiled form of a document, which is kept.
fn compiled(py: Python<'_>, document: &Value) -> PyResult<Arc<Compiled>> {
    let key = json::to_string(document);
    let known = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(template) = known().as_ref().and_then(|all| all.get(&key)) {
        return Ok(Arc::clone(template));
    }
    let template =
        ResponseTemplate::from_value(document).map_err(|invalid| errors::template(py, &invalid))?;
    let template = Compiled::new(template);
    let mut all = known();
    let all = all.get_or_insert_default();
    if all.len() >= KEPT {
        all.clear();
    }
    all.insert(key, Arc::clone(&template));
    Ok(template)
}
