//! The answer of a server that does not stream: what a client puts together of the events that would have been streamed.

use super::Protocol;
use crate::value::{Map, Value, json};

/// Puts together the answer that is sent at once.
///
/// ```
/// use obverse::deltas::encode::{Encoder, Ending, Protocol, Reply, Whole};
///
/// let mut encoder = Encoder::new(Protocol::OpenAi, Reply::default());
/// let mut whole = Whole::new(Protocol::OpenAi);
/// for event in encoder.begin().into_iter().chain(encoder.end(Ending::Complete)) {
///     whole.add(event);
/// }
/// let answer = whole.finish();
/// assert_eq!(answer.get("object").unwrap().as_str(), Some("chat.completion"));
/// ```
#[derive(Debug, Clone)]
pub struct Whole {
    protocol: Protocol,
    /// The reply as far as it is there: the answer, or for growth the list of its steps.
    answer: Value,
    /// The message of Chat Completions, or the content of Messages.
    message: Map,
    content: Vec<Value>,
    /// The text of the input of the last block of Messages.
    input: String,
}

impl Whole {
    /// For a reply that has not begun.
    pub fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            answer: Value::Null,
            message: Map::new(),
            content: Vec::new(),
            input: String::new(),
        }
    }

    /// Takes the next event.
    pub fn add(&mut self, event: Value) {
        match self.protocol {
            Protocol::Growth => self.content.push(event),
            Protocol::OpenAi => self.add_chunk(event),
            // The last event has everything.
            Protocol::Responses => {
                if let Some(response) = event.get("response") {
                    self.answer = response.clone();
                }
            }
            Protocol::Anthropic => self.add_message_event(&event),
        }
    }

    /// The answer.
    pub fn finish(mut self) -> Value {
        match self.protocol {
            Protocol::Growth => return Value::Array(self.content),
            Protocol::Responses => return self.answer,
            Protocol::OpenAi => {
                // A message that is nothing but calls has no content.
                let is_empty = self.message.get("content").and_then(Value::as_str) == Some("");
                if is_empty && self.message.contains_key("tool_calls") {
                    self.message.insert("content", Value::Null);
                }
                if let Some(Value::Array(calls)) = self.message.get_mut("tool_calls") {
                    for call in calls {
                        if let Value::Object(call) = call {
                            call.shift_remove("index");
                        }
                    }
                }
                let message = Value::Object(self.message);
                if let Value::Object(answer) = &mut self.answer
                    && let Some(Value::Array(choices)) = answer.get_mut("choices")
                    && let Some(Value::Object(choice)) = choices.first_mut()
                {
                    choice.shift_remove("delta");
                    choice.shift_insert(1, "message", message);
                }
            }
            Protocol::Anthropic => {
                if let Value::Object(answer) = &mut self.answer {
                    answer.insert("content", Value::Array(self.content));
                }
            }
        }
        self.answer
    }

    fn add_chunk(&mut self, event: Value) {
        let choice = event
            .get("choices")
            .and_then(|choices| choices.as_array()?.first());
        if let Some(delta) = choice.and_then(|choice| choice.get("delta")?.as_object()) {
            for (key, value) in delta {
                merge(&mut self.message, key, value);
            }
        }
        let has_choice = choice.is_some();
        let Value::Object(mut event) = event else {
            return;
        };
        event.insert("object", Value::from("chat.completion"));
        match &mut self.answer {
            Value::Object(answer) => {
                // The event of the usage has no choice, and the one before it has the reason for the end.
                if !has_choice {
                    event.shift_remove("choices");
                }
                answer.extend(event);
            }
            answer => *answer = Value::Object(event),
        }
    }

    fn add_message_event(&mut self, event: &Value) {
        let member = |key: &str| event.get(key).cloned().unwrap_or_default();
        let kind = event
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        match kind {
            "message_start" => self.answer = member("message"),
            "content_block_start" => self.content.push(member("content_block")),
            "content_block_delta" => {
                let (Some(delta), Some(Value::Object(block))) = (
                    event.get("delta").and_then(Value::as_object),
                    self.content.last_mut(),
                ) else {
                    return;
                };
                for (key, value) in delta {
                    match (key.as_str(), value) {
                        ("type", _) => {}
                        ("partial_json", Value::String(text)) => self.input.push_str(text),
                        _ => merge(block, key, value),
                    }
                }
            }
            "content_block_stop" => {
                let input = std::mem::take(&mut self.input);
                if let Some(Value::Object(block)) = self.content.last_mut()
                    && !input.is_empty()
                {
                    // Arguments that are no JSON stand there as what was written.
                    let input = json::parse(&input).unwrap_or(Value::from(input));
                    block.insert("input", input);
                }
            }
            "message_delta" => {
                let Value::Object(answer) = &mut self.answer else {
                    return;
                };
                if let Value::Object(delta) = member("delta") {
                    answer.extend(delta);
                }
                if let (Value::Object(usage), Some(Value::Object(told))) =
                    (member("usage"), answer.get_mut("usage"))
                {
                    told.extend(usage);
                }
            }
            _ => {}
        }
    }
}

/// Adds a member of a delta to the object that grows: texts are joined, and calls are found by their number.
fn merge(grown: &mut Map, key: &str, value: &Value) {
    match (grown.get_mut(key), value) {
        (Some(Value::String(before)), Value::String(text)) if joins(key) => before.push_str(text),
        (Some(Value::Object(before)), Value::Object(members)) => {
            for (key, value) in members {
                merge(before, key, value);
            }
        }
        (Some(Value::Array(before)), Value::Array(calls)) if key == "tool_calls" => {
            for call in calls {
                let same = |other: &&mut Value| other.get("index") == call.get("index");
                match (before.iter_mut().find(same), call) {
                    (Some(Value::Object(before)), Value::Object(members)) => {
                        for (key, value) in members {
                            merge(before, key, value);
                        }
                    }
                    _ => before.push(call.clone()),
                }
            }
        }
        (_, value) => {
            grown.insert(key.to_owned(), value.clone());
        }
    }
}

fn joins(key: &str) -> bool {
    !matches!(key, "role" | "type" | "id" | "name" | "index")
}
