//! Deltas: what the clients of a chat server are sent while a response is read.

use obverse::deltas::encode::{Encoder, Ending, Protocol, Reply};
use obverse::deltas::{self, Growth};
use obverse::parser::ParseError;
use obverse::value::Value;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{self, Foreign};
use crate::{errors, parser, template, threads};

/// A parser that tells how its message grows: what a chat server sends to a client while the model writes, tool arguments included.
///
/// `form` is `"openai"` (chunks of Chat Completions), `"responses"` (events of OpenAI's Responses), `"anthropic"` (events of Anthropic's
/// Messages) or `"growth"`, the steps as they are. `prefix`, `tools` and `on_error` are as for `Parser`. With `certain` all is held
/// that can still turn out otherwise. `id`, `model`, `created` (seconds since 1970) and `reasoning_key` (of Chat Completions) are what
/// the events say of the reply.
#[pyclass(name = "DeltaParser", module = "obverse")]
pub(crate) struct DeltaParser {
    parser: deltas::DeltaParser,
    encoder: Encoder,
    protocol: Protocol,
    initial: Py<PyList>,
}

#[pymethods]
impl DeltaParser {
    #[new]
    #[pyo3(signature = (template, prefix = "", *, form = "growth", tools = None, on_error = "raise", certain = false, id = "reply", model = "model", created = 0, reasoning_key = "reasoning_content"))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        template: &Bound<'_, PyAny>,
        prefix: &str,
        form: &str,
        tools: Option<&Bound<'_, PyAny>>,
        on_error: &str,
        certain: bool,
        id: &str,
        model: &str,
        created: i64,
        reasoning_key: &str,
    ) -> PyResult<Self> {
        let py = template.py();
        let protocol: Protocol =
            form.parse()
                .map_err(|unknown: deltas::encode::UnknownProtocol| {
                    PyValueError::new_err(unknown.to_string())
                })?;
        let template = template::growing(template)?;
        let mut options = deltas::Options::default();
        options.parser = options.parser.on_error(parser::on_error_of(on_error)?);
        options.certain = certain;
        let tools = parser::schemas(tools)?;
        let parser = deltas::DeltaParser::with_options(template, prefix, &tools, options)
            .map_err(|error| errors::parse(py, &error))?;
        let mut reply = Reply::default();
        id.clone_into(&mut reply.id);
        model.clone_into(&mut reply.model);
        reply.created = created;
        reasoning_key.clone_into(&mut reply.reasoning_key);
        let mut encoder = Encoder::new(protocol, reply);
        let mut events = encoder.begin();
        events.extend(encoded(&mut encoder, protocol, parser.initial_growth()));
        Ok(Self {
            initial: list(py, &events)?.unbind(),
            parser,
            encoder,
            protocol,
        })
    }

    /// What is sent before the response: how a reply begins, and what the prefix had already written into the message.
    #[getter]
    fn initial_events(&self, py: Python<'_>) -> Py<PyList> {
        self.initial.clone_ref(py)
    }

    /// Reads more of the response and returns the events that it brings, in the protocol's form.
    ///
    /// Raises `ParseError` for a region that does not parse; the same call may be made again with `""` to go on after it.
    fn feed<'py>(slf: &Bound<'py, Self>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let this = &mut *threads::lent_mut(slf)?;
        let fed = py.detach(|| {
            let growth = this.parser.feed(text)?;
            Ok(encoded(&mut this.encoder, this.protocol, &growth))
        });
        list(
            py,
            &fed.map_err(|error: ParseError| errors::parse(py, &error))?,
        )
    }

    /// Ends the response: the message, and the last events. `ending` says whether the model had written all, or as much as it was allowed to.
    #[pyo3(signature = (ending = "complete"))]
    fn finalize<'py>(
        slf: &Bound<'py, Self>,
        ending: &str,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyList>)> {
        let ending = match ending {
            "complete" => Ending::Complete,
            "length" => Ending::Length,
            other => {
                let message = format!("ending must be 'complete' or 'length', not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        let py = slf.py();
        let this = &mut *threads::lent_mut(slf)?;
        let ended = py.detach(|| {
            let (message, growth) = this.parser.finalize()?;
            let mut events = encoded(&mut this.encoder, this.protocol, &growth);
            events.extend(this.encoder.end(ending));
            Ok((message, events))
        });
        let (message, events) = ended.map_err(|error: ParseError| errors::parse(py, &error))?;
        Ok((convert::dict(py, &message)?, list(py, &events)?))
    }

    /// The event as a server-sent event, with the empty line behind it.
    fn frame(&self, event: &Bound<'_, PyAny>) -> PyResult<String> {
        let event = convert::from_python(event, Foreign::Refuse)?;
        Ok(self.protocol.frame(&event))
    }

    /// What is sent behind the last event, such as `data: [DONE]`; may be empty.
    #[getter]
    fn last_frame(&self) -> &'static str {
        self.protocol.last_frame()
    }

    /// The message so far: defaults and closed regions.
    #[getter]
    fn message<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let this = threads::lent(slf)?;
        convert::dict(slf.py(), this.parser.parser().message())
    }
}

/// The growth in the protocol's form.
fn encoded(encoder: &mut Encoder, protocol: Protocol, growth: &[Growth<'_>]) -> Vec<Value> {
    let mut events = Vec::new();
    for one in growth {
        match protocol {
            Protocol::Growth => events.push(one.to_map().into()),
            _ => events.extend(encoder.grow(one)),
        }
    }
    events
}

fn list<'py>(py: Python<'py>, values: &[Value]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for value in values {
        list.append(convert::to_python(py, value)?)?;
    }
    Ok(list)
}
