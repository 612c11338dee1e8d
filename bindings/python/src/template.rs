//! Response templates, compiled.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use obverse::response_template::{ResponseTemplate, config};
use obverse::value::{Value, json};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::convert::{self, Foreign};
use crate::errors;

/// How many compiled documents are kept, so that a dict that is given again and again is compiled once.
const KEPT: usize = 64;

/// What was compiled, by the document's text.
static COMPILED: Mutex<Option<HashMap<String, Arc<ResponseTemplate>>>> = Mutex::new(None);

/// A response template, validated and compiled.
#[pyclass(name = "ResponseTemplate", module = "obverse", frozen)]
#[derive(Debug)]
pub(crate) struct Template {
    document: Value,
    template: Arc<ResponseTemplate>,
}

#[pymethods]
impl Template {
    #[new]
    fn new(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        let value = convert::from_python(document, Foreign::Refuse)?;
        let template = compiled(document.py(), &value)?;
        Ok(Self {
            document: value,
            template,
        })
    }

    /// The template of a JSON text: the document, or a tokenizer_config.json that holds it.
    #[staticmethod]
    fn from_json(text: &Bound<'_, PyString>) -> PyResult<Self> {
        let loaded = config::load_any(text.to_str()?)
            .map_err(|invalid| errors::template(text.py(), &invalid))?;
        Ok(Self {
            document: loaded.document,
            template: Arc::new(loaded.template),
        })
    }

    /// The template of a file: the document, or a tokenizer_config.json that holds it.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let text = std::fs::read_to_string(path)?;
        let loaded = config::load_any(&text).map_err(|invalid| errors::template(py, &invalid))?;
        Ok(Self {
            document: loaded.document,
            template: Arc::new(loaded.template),
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
            self.template
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

    fn __repr__(&self) -> String {
        let names = self.template.fields().iter();
        let names: Vec<&str> = names.map(|field| field.name.as_str()).collect();
        format!("<ResponseTemplate of {}>", names.join(", "))
    }
}

/// The compiled form of what Python gives for a response template: a dict, or one that was compiled before.
pub(crate) fn given(object: &Bound<'_, PyAny>) -> PyResult<Arc<ResponseTemplate>> {
    if let Ok(template) = object.cast::<Template>() {
        return Ok(Arc::clone(&template.get().template));
    }
    if object.cast::<PyDict>().is_err() {
        let message = format!(
            "response_template must be a dict or a ResponseTemplate, got {}",
            convert::kind(object)
        );
        return Err(PyTypeError::new_err(message));
    }
    let value = convert::from_python(object, Foreign::Refuse)?;
    compiled(object.py(), &value)
}

/// The compiled form of a document, which is kept.
fn compiled(py: Python<'_>, document: &Value) -> PyResult<Arc<ResponseTemplate>> {
    let key = json::to_string(document);
    let known = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(template) = known().as_ref().and_then(|all| all.get(&key)) {
        return Ok(Arc::clone(template));
    }
    let template =
        ResponseTemplate::from_value(document).map_err(|invalid| errors::template(py, &invalid))?;
    let template = Arc::new(template);
    let mut all = known();
    let all = all.get_or_insert_default();
    if all.len() >= KEPT {
        all.clear();
    }
    all.insert(key, Arc::clone(&template));
    Ok(template)
}
