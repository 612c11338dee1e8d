//! The input of a render: a conversation, and the message that an assistant adds to it.

use std::rc::Rc;

use crate::derive::compare::text;
use crate::value::{Map, Value};

/// The conversation before the model's turn, and how it is rendered.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::derive) struct Context {
    pub(in crate::derive) history: Vec<Value>,
    pub(in crate::derive) tools: Option<Rc<[Value]>>,
    pub(in crate::derive) kwargs: Map,
}

/// A message rendered in its context, up to the end of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::derive) struct Turn {
    /// The prompt: the context with the generation prompt.
    pub(in crate::derive) prompt: String,
    /// The context and the message.
    pub(in crate::derive) full: String,
}

impl Turn {
    /// Bytes that prompt and full render share.
    pub(in crate::derive) fn shared(&self) -> usize {
        text::common_prefix(&self.prompt, &self.full)
    }
}

impl Context {
    /// Returns the context with one more message.
    pub(in crate::derive) fn and(&self, message: Value) -> Self {
        let mut next = self.clone();
        next.history.push(message);
        next
    }

    /// Returns the context with other kwargs.
    pub(in crate::derive) fn under(&self, kwargs: &Map) -> Self {
        Self {
            kwargs: kwargs.clone(),
            ..self.clone()
        }
    }
}
