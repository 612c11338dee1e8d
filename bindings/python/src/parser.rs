//! Parsing: whole responses, as they arrive, and many at once.

use std::sync::Arc;

use obverse::content::ToolSchemas;
use obverse::parser::{self, Event, OnError, Options, ParseError, ResponseParser};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList, PyString};

use crate::convert::{self, Foreign};
use crate::{errors, template, threads};

/// From this size on, in bytes, a text is read with the interpreter released: below it, releasing it takes longer than reading.
const RELEASED: usize = 4096;

/// The names of a template's fields as Python's strings, made once.
struct Names(Vec<(Box<str>, Py<PyString>)>);

impl Names {
    fn of(py: Python<'_>, template: &ResponseTemplate) -> Self {
        let name = |name: &str| (name.into(), PyString::new(py, name).unbind());
        Self(
            template
                .fields()
                .iter()
                .map(|field| name(&field.name))
                .collect(),
        )
    }

    fn get<'py>(&self, py: Python<'py>, name: &str) -> Bound<'py, PyString> {
        let known = self.0.iter().find(|(known, _)| **known == *name);
        match known {
            Some((_, name)) => name.bind(py).clone(),
            None => PyString::new(py, name),
        }
    }

    /// The event as the reference's dict.
    fn event<'py>(&self, py: Python<'py>, event: &Event<'_>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let kind = match event {
            Event::RegionOpen { .. } => intern!(py, "region_open"),
            Event::RegionChunk { .. } => intern!(py, "region_chunk"),
            Event::RegionClose { .. } => intern!(py, "region_close"),
            other => &PyString::new(py, other.type_name()),
        };
        dict.set_item(intern!(py, "type"), kind)?;
        dict.set_item(intern!(py, "field"), self.get(py, event.field()))?;
        match event {
            Event::RegionChunk { text, dirty, .. } => {
                dict.set_item(intern!(py, "text"), PyString::new(py, text))?;
                dict.set_item(intern!(py, "dirty"), *dirty)?;
            }
            Event::RegionClose { value, .. } => {
                dict.set_item(intern!(py, "value"), convert::to_python(py, value)?)?;
            }
            Event::RegionError { error, .. } => {
                dict.set_item(intern!(py, "error"), convert::dict(py, &error.to_map())?)?;
            }
            _ => {}
        }
        Ok(dict)
    }
}

/// A parser that reads a response as it arrives.
///
/// `prefix` is the prompt that the model was given, of which what follows the last match of the template's anchor is read; `""`
/// says that the response holds the whole message. `tools` are JSON schemas of tools, or functions, by which the arguments of calls
/// are typed. With `on_error="keep"` a region that does not parse raises nothing: `malformed` lists it, and an event
/// `region_error` stands where its `region_close` would. With `skip_json_strings` delimiters inside strings of JSON do not count.
#[pyclass(name = "Parser", module = "obverse", subclass)]
pub(crate) struct Parser {
    parser: ResponseParser,
    names: Names,
    initial: Py<PyList>,
    /// Events that came before an error; the next call begins with them.
    undelivered: Option<Py<PyList>>,
}

#[pymethods]
impl Parser {
    #[new]
    #[pyo3(signature = (template, prefix = "", *, tools = None, on_error = "raise", skip_json_strings = false))]
    fn new(
        template: &Bound<'_, PyAny>,
        prefix: &str,
        tools: Option<&Bound<'_, PyAny>>,
        on_error: &str,
        skip_json_strings: bool,
    ) -> PyResult<Self> {
        let py = template.py();
        let template = template::given(template)?;
        let options = Options::default()
            .on_error(on_error_of(on_error)?)
            .skip_json_strings(skip_json_strings);
        let tools = schemas(tools)?;
        let names = Names::of(py, &template);
        let parser = ResponseParser::with_options(template, prefix, &tools, options)
            .map_err(|error| errors::parse(py, &error))?;
        let initial = PyList::empty(py);
        for event in parser.initial_events() {
            initial.append(names.event(py, event)?)?;
        }
        Ok(Self {
            parser,
            names,
            initial: initial.unbind(),
            undelivered: None,
        })
    }

    /// The events of what the prefix had already written into the message.
    #[getter]
    fn initial_events(&self, py: Python<'_>) -> Py<PyList> {
        self.initial.clone_ref(py)
    }

    /// Reads more of the response and returns the events, in the order in which they happened.
    ///
    /// Each is a dict: `{"type": "region_open", "field"}`, `{"type": "region_chunk", "field", "text", "dirty"}` (`dirty` says that it
    /// is raw text of a structured region) or `{"type": "region_close", "field", "value"}`. The message does not depend on how the
    /// response was cut.
    ///
    /// Raises `ParseError` for a region that does not parse. It is left out, and the same call may be made again with `""` to go on
    /// after it; events that came before the error are returned by the next call.
    fn feed<'py>(
        slf: &Bound<'py, Self>,
        text: Option<&Bound<'py, PyString>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let this = &mut *threads::lent_mut(slf)?;
        let text = match text {
            Some(text) => text.to_str()?,
            None => "",
        };
        let events = this.begun(py);
        let result = if text.len() < RELEASED {
            this.feed_here(py, text, &events)?
        } else {
            let parser = &mut this.parser;
            let (result, told) = py.detach(|| {
                let mut told = Vec::new();
                let result = parser.feed_with(text, &mut |event: Event<'_>| {
                    told.push(event.into_owned());
                });
                (result, told)
            });
            this.add(py, &told, &events)?;
            result
        };
        this.deliver(py, events, result)
    }

    /// Ends the response: closes what is open and returns the message and the last events.
    fn finalize<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyList>)> {
        let py = slf.py();
        let this = &mut *threads::lent_mut(slf)?;
        let events = this.begun(py);
        let parser = &mut this.parser;
        let (result, told) = py.detach(|| {
            let mut told = Vec::new();
            let result =
                parser.finalize_with(&mut |event: Event<'_>| told.push(event.into_owned()));
            (result, told)
        });
        this.add(py, &told, &events)?;
        let events = this.deliver(py, events, result)?;
        Ok((convert::dict(py, this.parser.message())?, events))
    }

    /// The message so far: defaults and closed regions.
    #[getter]
    fn message<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let py = slf.py();
        let this = threads::lent(slf)?;
        convert::dict(py, this.parser.message())
    }

    /// The text of the response that is in no field of the message, so far: dicts of `start`, `end` (bytes of its UTF-8) and `text`; where a field took it and dropped it, with the `cause` and the `field`.
    #[getter]
    fn unclaimed<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let this = threads::lent(slf)?;
        maps(
            py,
            this.parser
                .unclaimed()
                .iter()
                .map(parser::Unclaimed::to_map),
        )
    }

    /// The regions that did not parse, with `on_error="keep"`: dicts of `kind`, `message`, `field`, `span`, `raw` and `hint`.
    #[getter]
    fn malformed<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let this = threads::lent(slf)?;
        maps(py, this.parser.malformed().iter().map(ParseError::to_map))
    }
}

impl Parser {
    /// The list of a call's events, which begins with those that no call could return.
    fn begun<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyList> {
        match self.undelivered.take() {
            Some(events) => events.into_bound(py),
            None => PyList::empty(py),
        }
    }

    /// Feeds without releasing the interpreter, so that no event needs to be kept.
    fn feed_here(
        &mut self,
        py: Python<'_>,
        text: &str,
        events: &Bound<'_, PyList>,
    ) -> PyResult<Result<(), ParseError>> {
        let mut failed = None;
        let names = &self.names;
        let result = self.parser.feed_with(text, &mut |event: Event<'_>| {
            let added = names
                .event(py, &event)
                .and_then(|event| events.append(event));
            if let Err(error) = added {
                failed.get_or_insert(error);
            }
        });
        failed.map_or(Ok(result), Err)
    }

    fn add(
        &self,
        py: Python<'_>,
        told: &[Event<'static>],
        events: &Bound<'_, PyList>,
    ) -> PyResult<()> {
        told.iter()
            .try_for_each(|event| events.append(self.names.event(py, event)?))
    }

    fn deliver<'py>(
        &mut self,
        py: Python<'py>,
        events: Bound<'py, PyList>,
        result: Result<(), ParseError>,
    ) -> PyResult<Bound<'py, PyList>> {
        match result {
            Ok(()) => Ok(events),
            Err(error) => {
                self.undelivered = Some(events.unbind());
                Err(errors::parse(py, &error))
            }
        }
    }
}

fn maps<'py>(py: Python<'py>, maps: impl Iterator<Item = Map>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for map in maps {
        list.append(convert::dict(py, &map)?)?;
    }
    Ok(list)
}

pub(crate) fn on_error_of(name: &str) -> PyResult<OnError> {
    match name {
        "raise" => Ok(OnError::Return),
        "keep" => Ok(OnError::Keep),
        other => {
            let message = format!("on_error must be 'raise' or 'keep', not {other:?}");
            Err(PyValueError::new_err(message))
        }
    }
}

/// The JSON schemas of tools: dicts as they are, and of functions what transformers makes of them.
pub(crate) fn schemas(tools: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Value>> {
    let mut schemas = Vec::new();
    let Some(tools) = tools.filter(|tools| !tools.is_none()) else {
        return Ok(schemas);
    };
    let py = tools.py();
    let refused = || {
        let message = format!(
            "tools must be a list of JSON schemas or functions, not {}",
            convert::kind(tools)
        );
        PyTypeError::new_err(message)
    };
    // These can be gone through, but what comes is no tool.
    if tools.is_instance_of::<PyDict>() || tools.is_instance_of::<PyString>() {
        return Err(refused());
    }
    let is_iterable = tools.hasattr(intern!(py, "__iter__"))?;
    let tools = match is_iterable || tools.hasattr(intern!(py, "__getitem__"))? {
        true => tools.try_iter()?,
        false => return Err(refused()),
    };
    for tool in tools {
        let mut tool = tool?;
        if tool.is_callable() && tool.cast::<PyDict>().is_err() {
            let module = py.import(intern!(py, "obverse._tools"))?;
            tool = module.call_method1(intern!(py, "schema"), (tool,))?;
        }
        schemas.push(convert::from_python(&tool, Foreign::Ignore)?);
    }
    Ok(schemas)
}

/// The types of tools' arguments, applied to a value.
#[pyfunction]
pub(crate) fn coerce<'py>(
    value: &Bound<'py, PyAny>,
    tools: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let tools = ToolSchemas::from_tools(&schemas(Some(tools))?);
    let value = convert::from_python(value, Foreign::Refuse)?;
    convert::to_python(py, &tools.coerce(value))
}

/// The message of a whole response.
///
/// `prefix` and `tools` are as for `Parser`. From 4096 bytes on the interpreter is free while it is parsed. Raises `ParseError`
/// for the first region that does not parse, and for a required field that is missing.
#[pyfunction]
#[pyo3(signature = (response, template, *, prefix = "", tools = None))]
pub(crate) fn parse<'py>(
    response: &Bound<'py, PyString>,
    template: &Bound<'py, PyAny>,
    prefix: &str,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = response.py();
    let template = template::given(template)?;
    let tools = schemas(tools)?;
    let response = response.to_str()?;
    let parsed = if response.len() < RELEASED {
        parser::parse_response(response, template, prefix, &tools)
    } else {
        py.detach(|| parser::parse_response(response, template, prefix, &tools))
    };
    match parsed {
        Ok(message) => convert::dict(py, &message),
        Err(error) => Err(errors::parse(py, &error)),
    }
}

/// The messages of whole responses, in their order, parsed on all cores (or `threads` of them) with the interpreter free.
///
/// `prefix` is one for all or one for each response. With `errors="return"` the list has a `ParseError` in the place of a message
/// that could not be parsed; otherwise the first is raised.
#[pyfunction]
#[pyo3(signature = (responses, template, *, prefix = None, tools = None, errors = "raise", threads = None))]
pub(crate) fn parse_many<'py>(
    py: Python<'py>,
    responses: &Bound<'py, PyAny>,
    template: &Bound<'py, PyAny>,
    prefix: Option<&Bound<'py, PyAny>>,
    tools: Option<&Bound<'py, PyAny>>,
    errors: &str,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyList>> {
    if !["raise", "return"].contains(&errors) {
        let message = format!("errors must be 'raise' or 'return', not {errors:?}");
        return Err(PyValueError::new_err(message));
    }
    // A text is a sequence of texts to Python, each of one character.
    if responses.is_instance_of::<PyString>() {
        let message = "responses must be a list of texts, not one text: parse takes that";
        return Err(PyTypeError::new_err(message));
    }
    let responses: Vec<PyBackedStr> = responses.extract()?;
    let template = template::given(template)?;
    let tools = schemas(tools)?;
    let prefixes = prefixes(prefix, responses.len())?;
    let parse = |index: usize| {
        let prefix = match prefixes.as_slice() {
            [] => "",
            [one] => one,
            several => &several[index],
        };
        parser::parse_response(&responses[index], Arc::clone(&template), prefix, &tools)
    };
    let stops = errors == "raise";
    let parsed = threads::spread(py, responses.len(), threads, stops, &parse)?;
    let list = PyList::empty(py);
    for (index, one) in parsed.into_iter().enumerate() {
        match one {
            Ok(message) => list.append(convert::dict(py, &message)?)?,
            Err(error) if stops => return Err(crate::errors::parse_of(py, &error, index, true)),
            Err(error) => {
                list.append(crate::errors::parse_of(py, &error, index, false).into_value(py))?
            }
        }
    }
    Ok(list)
}

/// The prefixes: none, one for all, or one for each response.
fn prefixes(given: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<PyBackedStr>> {
    let Some(given) = given.filter(|given| !given.is_none()) else {
        return Ok(Vec::new());
    };
    if given.cast::<PyString>().is_ok() {
        return Ok(vec![given.extract()?]);
    }
    let prefixes: Vec<PyBackedStr> = given.extract()?;
    if prefixes.len() != count {
        let message = format!(
            "there are {count} responses and {} prefixes",
            prefixes.len()
        );
        return Err(PyValueError::new_err(message));
    }
    Ok(prefixes)
}
