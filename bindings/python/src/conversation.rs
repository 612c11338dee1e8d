//! Conversations: rendered, and which of their characters belong to whom.

use std::path::PathBuf;

use obverse::chat_template::{ChatTemplateSource, RenderInput};
use obverse::conversation::spans::{self, Spans};
use obverse::value::{Map, Value, json};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{self, Foreign};
use crate::{chat, errors, threads};

/// The chat templates of a source, compiled.
#[pyclass(module = "obverse._native", frozen)]
pub(crate) struct Chat {
    source: ChatTemplateSource,
}

/// What is told of a conversation: its text, its spans, and the ranges that the model wrote, in characters.
type Told<'py> = (String, Bound<'py, PyList>, Vec<(usize, usize)>);

#[pymethods]
impl Chat {
    #[new]
    #[pyo3(signature = (*, path = None, text = None, name = None, special_tokens = None))]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        text: Option<String>,
        name: Option<String>,
        special_tokens: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let tokens = chat::tokens(special_tokens)?;
        let source =
            chat::open(path, text, name, tokens).map_err(|problem| errors::source(py, &problem))?;
        Ok(Self { source })
    }

    /// All that it was made of, as the text of a `tokenizer_config.json`, and its name.
    fn config(&self) -> (String, String) {
        let templates = self.source.templates.iter().map(|(name, template)| {
            Value::Object(Map::from_iter([
                ("name".to_owned(), Value::from(name.as_str())),
                ("template".to_owned(), Value::from(template.source())),
            ]))
        });
        let mut config = self.source.special_tokens.clone();
        config.insert("chat_template", Value::Array(templates.collect()));
        (
            json::to_string(&Value::Object(config)),
            self.source.name.clone(),
        )
    }

    /// The text of a conversation, an object with `messages` and what else `apply_chat_template` takes.
    fn render(&self, conversation: &Bound<'_, PyAny>) -> PyResult<String> {
        let py = conversation.py();
        let input = input(conversation)?;
        let rendered = py.detach(|| {
            let template = self.template(&input)?;
            template.render(&input).map_err(|error| error.to_string())
        });
        rendered.map_err(|message: String| errors::render(py, &message))
    }

    /// What is told of each of these conversations, on so many threads.
    fn spans<'py>(
        &self,
        py: Python<'py>,
        conversations: Vec<Bound<'py, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Vec<Told<'py>>> {
        let inputs = conversations.iter().map(input);
        let inputs: Vec<RenderInput> = inputs.collect::<PyResult<_>>()?;
        let is_one = inputs.len() == 1;
        let find = |index: usize| {
            let input = &inputs[index];
            let found = spans::of_messages(self.template(input)?, input);
            found.map_err(|error| error.to_string())
        };
        let found = threads::spread(py, inputs.len(), threads, true, &find)?;
        found
            .into_iter()
            .enumerate()
            .map(|(index, found)| match found {
                Ok(found) => told(py, found),
                Err(message) if is_one => Err(errors::render(py, &message)),
                Err(message) => Err(errors::render(
                    py,
                    &format!("conversation {index}: {message}"),
                )),
            })
            .collect()
    }
}

impl Chat {
    pub(crate) fn template(
        &self,
        input: &RenderInput,
    ) -> Result<&obverse::chat_template::ChatTemplate, String> {
        let chosen = self.source.select(input.tools.is_some());
        chosen.map_err(|error| error.to_string())
    }
}

/// The input that a dict spells.
fn input(conversation: &Bound<'_, PyAny>) -> PyResult<RenderInput> {
    match convert::from_python(conversation, Foreign::Plain)? {
        Value::Object(members) => input_of(members).map_err(PyTypeError::new_err),
        _ => Err(PyTypeError::new_err(
            "a conversation is a dict with `messages`",
        )),
    }
}

/// The input that such members spell.
pub(crate) fn input_of(mut members: Map) -> Result<RenderInput, String> {
    let list = |name: &str, value: Option<Value>| match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(format!("{name} must be a list, not {}", other.type_name())),
    };
    let objects = |name: &str, value: Option<Value>| {
        let items = list(name, value)?;
        let other = items.iter().flatten().enumerate();
        match other.clone().find(|(_, item)| item.as_object().is_none()) {
            None => Ok(items),
            Some((index, other)) => Err(format!(
                "{name}[{index}] must be an object with members, not {}",
                other.type_name()
            )),
        }
    };
    let messages = objects("messages", members.shift_remove("messages"))?;
    let kwargs = match members.shift_remove("kwargs") {
        Some(Value::Object(kwargs)) => kwargs,
        _ => Map::new(),
    };
    let mut input = RenderInput::new(messages.unwrap_or_default());
    input.tools = list("tools", members.shift_remove("tools"))?;
    input.documents = objects("documents", members.shift_remove("documents"))?;
    input.add_generation_prompt = members
        .shift_remove("add_generation_prompt")
        .is_some_and(|value| value.is_truthy());
    input.kwargs = kwargs;
    Ok(input)
}

fn told(py: Python<'_>, found: Spans) -> PyResult<Told<'_>> {
    let characters = Characters::of(&found.text);
    let spans = PyList::empty(py);
    for span in &found.spans {
        let dict = PyDict::new(py);
        dict.set_item("message", span.message)?;
        dict.set_item("role", &span.role)?;
        dict.set_item("part", span.part.name())?;
        dict.set_item("call", span.call)?;
        dict.set_item("start", characters.before(span.start))?;
        dict.set_item("end", characters.before(span.end))?;
        spans.append(dict)?;
    }
    let generated = found.generated.iter();
    let generated = generated
        .map(|(start, end)| (characters.before(*start), characters.before(*end)))
        .collect();
    Ok((found.text, spans, generated))
}

/// Offsets in characters.
pub(crate) struct Characters {
    /// The byte at which each character starts; nothing where each is a byte.
    starts: Option<Vec<usize>>,
}

impl Characters {
    pub(crate) fn of(text: &str) -> Self {
        let starts = || text.char_indices().map(|(at, _)| at).collect();
        Self {
            starts: (!text.is_ascii()).then(starts),
        }
    }

    /// How many characters start before a byte.
    pub(crate) fn before(&self, at: usize) -> usize {
        match &self.starts {
            None => at,
            Some(starts) => starts.partition_point(|start| *start < at),
        }
    }
}
