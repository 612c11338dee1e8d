//! OpenAI's Responses: output items, one open at a time. Its last event has all of them again, so an encoder keeps what it has sent.

use super::{Ending, Part, Reply, added, call_id, object, tokens};
use crate::deltas::Growth;
use crate::value::{Integer, Key, Map, Value};

#[derive(Debug, Clone)]
pub(super) struct Responses {
    pub(super) reply: Reply,
    /// The number of the next event.
    number: usize,
    /// The items that are whole.
    output: Vec<Value>,
    open: Option<Item>,
}

#[derive(Debug, Clone)]
struct Item {
    kind: Kind,
    /// The text of the item, or its arguments.
    text: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Text(Part),
    Call {
        index: usize,
        call_id: String,
        name: String,
    },
}

impl Responses {
    pub(super) fn new(reply: Reply) -> Self {
        Self {
            reply,
            number: 0,
            output: Vec::new(),
            open: None,
        }
    }

    pub(super) fn begin(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        for name in ["response.created", "response.in_progress"] {
            let response = self.response("in_progress", Value::Null);
            self.event(name, vec![("response", response)], &mut events);
        }
        events
    }

    pub(super) fn grow(&mut self, growth: &Growth<'_>) -> Vec<Value> {
        let mut events = Vec::new();
        match growth {
            Growth::Call {
                index, id, name, ..
            } => {
                let kind = Kind::Call {
                    index: *index,
                    call_id: call_id(&self.reply, id.as_deref(), *index),
                    name: name.clone().into_owned(),
                };
                self.open(kind, &mut events);
            }
            Growth::Arguments { index, text } => {
                let is_open = matches!(&self.open, Some(Item { kind: Kind::Call { index: open, .. }, .. }) if open == index);
                if is_open {
                    self.delta(
                        "response.function_call_arguments.delta",
                        false,
                        text,
                        &mut events,
                    );
                }
            }
            growth => {
                if let Some((part, text)) = added(growth) {
                    let kind = Kind::Text(part);
                    if self.open.as_ref().is_none_or(|item| item.kind != kind) {
                        self.open(kind, &mut events);
                    }
                    let name = match part {
                        Part::Content => "response.output_text.delta",
                        Part::Reasoning => "response.reasoning_text.delta",
                    };
                    self.delta(name, true, text, &mut events);
                }
            }
        }
        events
    }

    pub(super) fn end(&mut self, ending: Ending) -> Vec<Value> {
        let mut events = Vec::new();
        self.close(&mut events);
        let (name, status, details) = match ending {
            Ending::Complete => ("response.completed", "completed", Value::Null),
            Ending::Length => {
                let details = object([("reason", Value::from("max_output_tokens"))]);
                ("response.incomplete", "incomplete", details)
            }
        };
        let mut response = self.response(status, details);
        if let (Some(usage), Value::Object(members)) = (&self.reply.usage, &mut response) {
            members.insert("usage", told_usage(usage));
        }
        self.event(name, vec![("response", response)], &mut events);
        events
    }

    fn open(&mut self, kind: Kind, events: &mut Vec<Value>) {
        self.close(events);
        let is_text = matches!(kind, Kind::Text(_));
        let item = Item {
            kind,
            text: String::new(),
        };
        let begun = self.item(&item, "in_progress", false);
        let index = Value::count(self.output.len());
        let members = vec![("output_index", index), ("item", begun)];
        self.event("response.output_item.added", members, events);
        if is_text {
            let part = vec![("part", text_part(&item))];
            let members = self.in_item(true, part);
            self.event("response.content_part.added", members, events);
        }
        self.open = Some(item);
    }

    fn close(&mut self, events: &mut Vec<Value>) {
        let Some(item) = self.open.take() else { return };
        let text = Value::from(item.text.as_str());
        match &item.kind {
            Kind::Text(part) => {
                let (name, members) = match part {
                    Part::Content => {
                        let logprobs = ("logprobs", Value::Array(Vec::new()));
                        ("response.output_text.done", vec![("text", text), logprobs])
                    }
                    Part::Reasoning => ("response.reasoning_text.done", vec![("text", text)]),
                };
                let members = self.in_item(true, members);
                self.event(name, members, events);
                let members = self.in_item(true, vec![("part", text_part(&item))]);
                self.event("response.content_part.done", members, events);
            }
            Kind::Call { name, .. } => {
                let members = vec![("name", Value::from(name.as_str())), ("arguments", text)];
                let members = self.in_item(false, members);
                self.event("response.function_call_arguments.done", members, events);
            }
        }
        let done = self.item(&item, "completed", true);
        let index = Value::count(self.output.len());
        let members = vec![("output_index", index), ("item", done.clone())];
        self.event("response.output_item.done", members, events);
        self.output.push(done);
    }

    fn delta(&mut self, name: &str, in_part: bool, text: &str, events: &mut Vec<Value>) {
        if let Some(item) = &mut self.open {
            item.text.push_str(text);
        }
        let mut members = vec![("delta", Value::from(text))];
        if name == "response.output_text.delta" {
            members.push(("logprobs", Value::Array(Vec::new())));
        }
        let members = self.in_item(in_part, members);
        self.event(name, members, events);
    }

    /// The members of an event that is about the open item, the next of the output.
    fn in_item<'k>(&self, in_part: bool, more: Vec<(&'k str, Value)>) -> Vec<(&'k str, Value)> {
        let mut members = vec![
            ("item_id", Value::from(self.item_id())),
            ("output_index", Value::count(self.output.len())),
        ];
        if in_part {
            members.push(("content_index", Value::count(0)));
        }
        members.extend(more);
        members
    }

    fn item_id(&self) -> String {
        format!("item_{}_{}", self.reply.id, self.output.len())
    }

    fn item(&self, item: &Item, status: &str, whole: bool) -> Value {
        let content = || {
            let parts = if whole {
                vec![text_part(item)]
            } else {
                Vec::new()
            };
            ("content", Value::Array(parts))
        };
        let id = ("id", Value::from(self.item_id()));
        let status = ("status", Value::from(status));
        match &item.kind {
            Kind::Text(Part::Content) => object([
                id,
                ("type", Value::from("message")),
                ("role", Value::from("assistant")),
                status,
                content(),
            ]),
            Kind::Text(Part::Reasoning) => object([
                id,
                ("type", Value::from("reasoning")),
                ("summary", Value::Array(Vec::new())),
                status,
                content(),
            ]),
            Kind::Call { call_id, name, .. } => object([
                id,
                ("type", Value::from("function_call")),
                ("call_id", Value::from(call_id.as_str())),
                ("name", Value::from(name.as_str())),
                ("arguments", Value::from(item.text.as_str())),
                status,
            ]),
        }
    }

    fn response(&self, status: &str, incomplete_details: Value) -> Value {
        object([
            ("id", Value::from(self.reply.id.as_str())),
            ("object", Value::from("response")),
            ("created_at", Value::Int(Integer::from(self.reply.created))),
            ("status", Value::from(status)),
            ("error", Value::Null),
            ("incomplete_details", incomplete_details),
            ("model", Value::from(self.reply.model.as_str())),
            ("output", Value::Array(self.output.clone())),
            ("parallel_tool_calls", Value::Bool(true)),
            ("tool_choice", Value::from("auto")),
            ("tools", Value::Array(Vec::new())),
        ])
    }

    fn event(&mut self, name: &str, members: Vec<(&str, Value)>, events: &mut Vec<Value>) {
        let mut event = Map::new();
        event.insert("type", Value::from(name));
        event.insert("sequence_number", Value::count(self.number));
        self.number += 1;
        event.extend(
            members
                .into_iter()
                .map(|(key, value)| (Key::from(key), value)),
        );
        events.push(Value::Object(event));
    }
}

fn told_usage(usage: &Value) -> Value {
    let [input, output, total] = tokens(Some(usage));
    let detail = |of: &str, key: &str| {
        let number = usage.get(of).and_then(|details| details.get(key));
        number.cloned().unwrap_or_else(|| Value::count(0))
    };
    let cached = detail("prompt_tokens_details", "cached_tokens");
    let reasoning = detail("completion_tokens_details", "reasoning_tokens");
    object([
        ("input_tokens", input),
        ("input_tokens_details", object([("cached_tokens", cached)])),
        ("output_tokens", output),
        (
            "output_tokens_details",
            object([("reasoning_tokens", reasoning)]),
        ),
        ("total_tokens", total),
    ])
}

fn text_part(item: &Item) -> Value {
    let text = ("text", Value::from(item.text.as_str()));
    match item.kind {
        Kind::Text(Part::Reasoning) => object([("type", Value::from("reasoning_text")), text]),
        _ => object([
            ("type", Value::from("output_text")),
            text,
            ("annotations", Value::Array(Vec::new())),
            ("logprobs", Value::Array(Vec::new())),
        ]),
    }
}
