//! OpenAI's Chat Completions: `chat.completion.chunk`.

use super::{Ending, Part, Reply, added, call_id, object};
use crate::deltas::Growth;
use crate::value::{Integer, Key, Value};

#[derive(Debug, Clone)]
pub(super) struct Chat {
    pub(super) reply: Reply,
    /// True if the client was sent a call, which it keeps whatever becomes of it.
    has_calls: bool,
}

impl Chat {
    pub(super) fn new(reply: Reply) -> Self {
        Self {
            reply,
            has_calls: false,
        }
    }

    pub(super) fn begin(&mut self) -> Vec<Value> {
        let delta = object([
            ("role", Value::from("assistant")),
            ("content", Value::from("")),
        ]);
        vec![self.chunk(delta, Value::Null)]
    }

    pub(super) fn grow(&mut self, growth: &Growth<'_>) -> Vec<Value> {
        let call = |index: usize, members: Vec<(&str, Value)>| {
            let index = ("index", Value::count(index));
            let members = std::iter::once(index).chain(members);
            let call = members
                .map(|(key, value)| (Key::from(key), value))
                .collect();
            object([("tool_calls", Value::Array(vec![Value::Object(call)]))])
        };
        let delta = match growth {
            Growth::Call {
                index, id, name, ..
            } => {
                self.has_calls = true;
                let id = call_id(&self.reply, id.as_deref(), *index);
                let function = object([
                    ("name", Value::from(name.as_ref())),
                    ("arguments", Value::from("")),
                ]);
                let members = vec![
                    ("id", Value::from(id)),
                    ("type", Value::from("function")),
                    ("function", function),
                ];
                call(*index, members)
            }
            Growth::Arguments { index, text } => {
                let function = object([("arguments", Value::from(text.as_ref()))]);
                call(*index, vec![("function", function)])
            }
            growth => match added(growth) {
                Some((Part::Content, text)) => object([("content", Value::from(text))]),
                Some((Part::Reasoning, text)) => {
                    object([(self.reply.reasoning_key.as_str(), Value::from(text))])
                }
                None => return Vec::new(),
            },
        };
        vec![self.chunk(delta, Value::Null)]
    }

    pub(super) fn end(&mut self, ending: Ending) -> Vec<Value> {
        let reason = match ending {
            Ending::Length => "length",
            Ending::Complete if self.has_calls => "tool_calls",
            Ending::Complete => "stop",
        };
        let mut events = vec![self.chunk(object([]), Value::from(reason))];
        if let Some(usage) = self.reply.usage.clone() {
            let mut event = self.chunk(object([]), Value::Null);
            if let Value::Object(members) = &mut event {
                members.insert("choices", Value::Array(Vec::new()));
                members.insert("usage", usage);
            }
            events.push(event);
        }
        events
    }

    fn chunk(&self, delta: Value, finish_reason: Value) -> Value {
        let choice = object([
            ("index", Value::count(0)),
            ("delta", delta),
            ("finish_reason", finish_reason),
        ]);
        object([
            ("id", Value::from(self.reply.id.as_str())),
            ("object", Value::from("chat.completion.chunk")),
            ("created", Value::Int(Integer::from(self.reply.created))),
            ("model", Value::from(self.reply.model.as_str())),
            ("choices", Value::Array(vec![choice])),
        ])
    }
}
