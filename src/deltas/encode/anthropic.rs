//! Anthropic's Messages: content blocks, one open at a time.

use super::{Ending, Part, Reply, added, call_id, object, tokens};
use crate::deltas::Growth;
use crate::value::{Key, Value};

#[derive(Debug, Clone)]
pub(super) struct Messages {
    pub(super) reply: Reply,
    /// How many blocks have begun.
    blocks: usize,
    open: Option<Block>,
    has_calls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Text(Part),
    /// A call, by its number.
    Call(usize),
}

impl Messages {
    pub(super) fn new(reply: Reply) -> Self {
        Self {
            reply,
            blocks: 0,
            open: None,
            has_calls: false,
        }
    }

    pub(super) fn begin(&mut self) -> Vec<Value> {
        let usage = object([
            ("input_tokens", Value::count(0)),
            ("output_tokens", Value::count(0)),
        ]);
        let message = object([
            ("id", Value::from(self.reply.id.as_str())),
            ("type", Value::from("message")),
            ("role", Value::from("assistant")),
            ("model", Value::from(self.reply.model.as_str())),
            ("content", Value::Array(Vec::new())),
            ("stop_reason", Value::Null),
            ("stop_sequence", Value::Null),
            ("usage", usage),
        ]);
        vec![object([
            ("type", Value::from("message_start")),
            ("message", message),
        ])]
    }

    pub(super) fn grow(&mut self, growth: &Growth<'_>) -> Vec<Value> {
        let mut events = Vec::new();
        match growth {
            Growth::Call {
                index, id, name, ..
            } => {
                self.has_calls = true;
                let id = call_id(&self.reply, id.as_deref(), *index);
                let block = object([
                    ("type", Value::from("tool_use")),
                    ("id", Value::from(id)),
                    ("name", Value::from(name.as_ref())),
                    ("input", object([])),
                ]);
                self.open(Block::Call(*index), block, &mut events);
            }
            Growth::Arguments { index, text } if self.open == Some(Block::Call(*index)) => {
                let delta = object([
                    ("type", Value::from("input_json_delta")),
                    ("partial_json", Value::from(text.as_ref())),
                ]);
                events.push(self.delta(delta));
            }
            growth => {
                if let Some((part, text)) = added(growth) {
                    self.text(part, text, &mut events);
                }
            }
        }
        events
    }

    fn text(&mut self, part: Part, text: &str, events: &mut Vec<Value>) {
        let (kind, key) = match part {
            Part::Content => ("text", "text"),
            Part::Reasoning => ("thinking", "thinking"),
        };
        if self.open != Some(Block::Text(part)) {
            let mut block = vec![("type", Value::from(kind)), (key, Value::from(""))];
            if part == Part::Reasoning {
                block.push(("signature", Value::from("")));
            }
            let members = block
                .into_iter()
                .map(|(key, value)| (Key::from(key), value));
            self.open(Block::Text(part), Value::Object(members.collect()), events);
        }
        let delta = object([
            ("type", Value::from(format!("{kind}_delta"))),
            (key, Value::from(text)),
        ]);
        events.push(self.delta(delta));
    }

    pub(super) fn end(&mut self, ending: Ending) -> Vec<Value> {
        let mut events = Vec::new();
        self.close(&mut events);
        let reason = match ending {
            Ending::Length => "max_tokens",
            Ending::Complete if self.has_calls => "tool_use",
            Ending::Complete => "end_turn",
        };
        let delta = object([
            ("stop_reason", Value::from(reason)),
            ("stop_sequence", Value::Null),
        ]);
        events.push(object([
            ("type", Value::from("message_delta")),
            ("delta", delta),
            ("usage", self.usage()),
        ]));
        events.push(object([("type", Value::from("message_stop"))]));
        events
    }

    /// The prompt's tokens are known at the end at the earliest.
    fn usage(&self) -> Value {
        let [input, output, _] = tokens(self.reply.usage.as_ref());
        match self.reply.usage {
            None => object([("output_tokens", output)]),
            Some(_) => object([("input_tokens", input), ("output_tokens", output)]),
        }
    }

    fn open(&mut self, kind: Block, block: Value, events: &mut Vec<Value>) {
        self.close(events);
        events.push(object([
            ("type", Value::from("content_block_start")),
            ("index", Value::count(self.blocks)),
            ("content_block", block),
        ]));
        self.blocks += 1;
        self.open = Some(kind);
    }

    fn close(&mut self, events: &mut Vec<Value>) {
        if self.open.take().is_some() {
            events.push(object([
                ("type", Value::from("content_block_stop")),
                ("index", Value::count(self.blocks.saturating_sub(1))),
            ]));
        }
    }

    fn delta(&self, delta: Value) -> Value {
        object([
            ("type", Value::from("content_block_delta")),
            ("index", Value::count(self.blocks.saturating_sub(1))),
            ("delta", delta),
        ])
    }
}
