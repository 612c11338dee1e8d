//! Rendering conversations in the form in which a chat template takes them.

use crate::chat_template::{
    ChatTemplate, ChatTemplateSource, Clock, Inputs, RenderError, Rules, Traced,
};
use crate::conversation::format::Handing;
use crate::value::{Map, Value, json};

/// A conversation to render: messages as people hand them to a server, and what stands beside them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Talk {
    pub(crate) messages: Vec<Value>,
    pub(crate) tools: Vec<Value>,
    pub(crate) kwargs: Map,
    /// True if the model is asked to go on.
    pub(crate) prompt: bool,
}

/// A chat template, and how it takes messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Renderer<'a> {
    pub(crate) source: &'a ChatTemplateSource,
    pub(crate) clock: Option<Clock>,
    pub(crate) handing: Handing,
}

#[cfg(test)]
impl Talk {
    /// A conversation of these messages, a list in JSON, and nothing beside it.
    pub(crate) fn of_json(messages: &str) -> Self {
        let messages = json::parse(messages).expect("JSON");
        Self {
            messages: messages.as_array().expect("a list").to_vec(),
            ..Self::default()
        }
    }
}

impl<'a> Renderer<'a> {
    /// A chat template that takes messages as most do.
    pub(crate) fn new(source: &'a ChatTemplateSource, clock: Option<Clock>) -> Self {
        Self {
            source,
            clock,
            handing: Handing::default(),
        }
    }

    /// The text of a conversation.
    pub(crate) fn text(&self, talk: &Talk) -> Result<String, RenderError> {
        self.with(talk, |template, inputs| {
            let mut steps = crate::chat_template::MAX_STEPS;
            template.render_borrowed(inputs, &mut steps)
        })
    }

    /// The text with the origin of every character.
    pub(crate) fn traced(&self, talk: &Talk) -> Result<Traced, RenderError> {
        self.with(talk, |template, inputs| {
            let mut steps = crate::chat_template::MAX_STEPS;
            template.render_borrowed_traced(inputs, &mut steps)
        })
    }

    fn with<T>(
        &self,
        talk: &Talk,
        render: impl FnOnce(&ChatTemplate, &Inputs<'_>) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let template = self.template(!talk.tools.is_empty())?;
        let messages: Vec<Value> = talk.messages.iter().map(|one| self.hand(one)).collect();
        let inputs = Inputs {
            messages: &messages,
            tools: (!talk.tools.is_empty()).then_some(talk.tools.as_slice()),
            documents: None,
            add_generation_prompt: talk.prompt,
            kwargs: &talk.kwargs,
            clock: self.clock,
            rules: Rules {
                keep_nulls: self.handing.null_content,
                list_methods: self.handing.list_methods,
            },
            printed_tools: None,
        };
        render(template, &inputs)
    }

    /// The chat template that is used with tools or without.
    pub(crate) fn template(&self, with_tools: bool) -> Result<&'a ChatTemplate, RenderError> {
        let selected = self.source.select(with_tools);
        selected.map_err(|error| RenderError::Raised {
            message: error.to_string(),
        })
    }

    /// A message in the form that the chat template takes.
    pub(crate) fn hand(&self, message: &Value) -> Value {
        let Value::Object(members) = message else {
            return message.clone();
        };
        let mut members = members.clone();
        let has_calls = members.contains_key(CALLS);
        let no_content = members
            .get("content")
            .is_none_or(|content| !content.is_truthy());
        if has_calls && no_content {
            members.shift_remove("content");
            let content = match self.handing {
                Handing {
                    empty_content: true,
                    ..
                } => Some(Value::from("")),
                Handing {
                    null_content: true, ..
                } => Some(Value::Null),
                _ => None,
            };
            if let Some(content) = content {
                members.shift_insert(1.min(members.len()), "content", content);
            }
        }
        if self.handing.arguments_as_text
            && let Some(Value::Array(calls)) = members.get_mut(CALLS)
        {
            calls.iter_mut().for_each(arguments_to_text);
        }
        if self.handing.parts
            && let Some(content @ Value::String(_)) = members.get_mut("content")
        {
            let text = std::mem::take(content);
            let part: Map = [
                ("type".to_owned(), Value::from("text")),
                ("text".to_owned(), text),
            ]
            .into_iter()
            .collect();
            *content = Value::Array(vec![Value::Object(part)]);
        }
        Value::Object(members)
    }
}

/// The key of the calls of a message.
pub(crate) const CALLS: &str = "tool_calls";

fn arguments_to_text(call: &mut Value) {
    if let Value::Object(call) = call
        && let Some(Value::Object(function)) = call.get_mut("function")
        && let Some(arguments @ Value::Object(_)) = function.get_mut("arguments")
    {
        *arguments = Value::from(json::to_string(arguments));
    }
}

/// An object from pairs.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter();
    Value::Object(
        members
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}
