//! The strict reader: messages by a grammar, for formats that no response template can say.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use obverse::derive::Derivation;
use obverse::grammar;
use obverse::grammar::reader::{Reader, Template};
use obverse::parser::{Event, ParseError};
use obverse::value::{Map, Value, json};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::convert::{self, Foreign};
use crate::errors::{self, Problem};
use crate::{chat, parser};

/// A derivation, for what is asked of it later.
#[pyclass(module = "obverse._native", frozen)]
pub(crate) struct Derived(Arc<Derivation>);

impl Derived {
    pub(crate) fn new(derivation: Derivation) -> Self {
        Self(Arc::new(derivation))
    }
}

#[pymethods]
impl Derived {
    /// The strict reader of the format.
    fn strict_reader(&self, py: Python<'_>) -> PyResult<StrictReader> {
        let derivation = Arc::clone(&self.0);
        let made = chat::interruptible(py, move || grammar::StrictReader::of(&derivation))?;
        let Some(made) = made else {
            let message = "no response that came back shows how the format is written, so there is no grammar of it";
            return Err(errors::source(py, &Problem::new("no-grammar", message)));
        };
        let tried = [
            ("of", made.of),
            ("read", made.read),
            ("read_of_missed", made.read_of_missed),
        ];
        Ok(StrictReader {
            document: made.template.to_value(),
            template: made.template,
            tried: Some(tried),
        })
    }
}

/// Reads messages by a grammar, of formats that no response template can say: Python literals, escapes within texts, tags within tags.
///
/// `document` is a grammar (a PEG): that of `Derivation.strict_reader`, which makes a reader of it already, or the text of
/// `grammar(..., format="peg")` as a dict. A reader cannot be changed; it can be pickled and shared by threads.
///
/// Raises `TemplateError` for a document that is no grammar.
#[pyclass(name = "StrictReader", module = "obverse", frozen)]
pub(crate) struct StrictReader {
    document: Value,
    template: Template,
    tried: Option<[(&'static str, usize); 3]>,
}

#[pymethods]
impl StrictReader {
    #[new]
    fn new(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = document.py();
        let document = convert::from_python(document, Foreign::Refuse)
            .map_err(|error| errors::document(py, error))?;
        let template = Template::from_value(&document).map_err(|invalid| {
            errors::diagnosed(py, &invalid.to_string(), invalid.diagnostics())
        })?;
        Ok(Self {
            document,
            template,
            tried: None,
        })
    }

    /// How far the reader of a derivation was seen to read: `of` the messages that it was tried on those that it `read`, and of those that the response template
    /// misses `read_of_missed`. None where it was made of a document.
    #[getter]
    fn tried<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(tried) = self.tried else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        for (name, count) in tried {
            dict.set_item(name, count)?;
        }
        Ok(Some(dict))
    }

    /// The grammar, as a new dict: what `obverse derive --grammar` writes and `obverse parse` takes.
    #[getter]
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.document)
    }

    /// The message of a whole response.
    ///
    /// `prefix` and `tools` are as for `parse`. A value between tags is taken for what it looks like, `5` for a number, unless `tools` say
    /// of which type it is. Raises `ParseError` where the response does not match the grammar to its end.
    #[pyo3(signature = (response, *, prefix = "", tools = None))]
    fn parse<'py>(
        &self,
        response: &Bound<'py, PyString>,
        prefix: &str,
        tools: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = response.py();
        let tools = parser::schemas(tools)?;
        let response = response.to_str()?;
        match py.detach(|| self.read(response, prefix, &tools)) {
            Ok(message) => convert::dict(py, &message),
            Err(error) => Err(errors::parse(py, &error)),
        }
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let document = slf.get().document(slf.py())?;
        Ok((slf.get_type().into_any(), (document,)))
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.text() == other.text()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.text().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let rules = self.document.get("rules").and_then(Value::as_object);
        format!(
            "<StrictReader of {} rules>",
            rules.map_or(0, |rules| rules.iter().count())
        )
    }
}

impl StrictReader {
    fn read(&self, response: &str, prefix: &str, tools: &[Value]) -> Result<Map, ParseError> {
        let mut reader = Reader::new(&self.template).tools(tools);
        let sink = &mut |_: Event<'_>| ();
        reader.read_prefix(prefix, sink);
        reader.feed(response.as_bytes(), sink);
        reader.finish(sink);
        match reader.take_errors().into_iter().next() {
            Some(error) => Err(error),
            None => Ok(reader.into_message()),
        }
    }

    fn text(&self) -> String {
        json::to_string(&self.document)
    }
}
