//! The open region: the parts of it that are passed on before it ends, and the rest that its end adds.

use super::Growth;
use super::calls::{Call, Known, Slot, Tell, as_call, holds_call};
use super::json_calls::JsonCalls;
use super::lines::LineReader;
use super::shape::{Body, Shape, Source};
use super::tags::TagReader;
use super::text::Stripped;
use crate::value::{Map, Path, Value};

#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) field: usize,
    /// The place in the message where its value will stand.
    pub(super) base: Path,
    stream: Stream,
    /// True if any of its text was passed on.
    pub(super) has_text: bool,
}

#[derive(Debug, Clone)]
enum Stream {
    /// Nothing is passed on before its end.
    Whole,
    Text(Stripped),
    Json(Box<JsonCalls>),
    /// One call, of which the delimiter gives all but the arguments.
    Call(Box<Call>, Arguments),
}

/// The arguments of a call.
#[derive(Debug, Clone)]
enum Arguments {
    Text(Stripped),
    Tags(Box<TagReader>),
    Lines(LineReader),
}

impl Region {
    pub(super) fn new(
        field: usize,
        base: Path,
        shape: &Shape,
        captures: &Map,
        spare: &mut Option<Box<JsonCalls>>,
        tell: &mut Tell<'_>,
    ) -> Self {
        let stream = match shape {
            Shape::Whole => Stream::Whole,
            Shape::Text { .. } => Stream::Text(Stripped::default()),
            Shape::Calls(shape) => {
                let mut call = Call {
                    id: known(&shape.id, captures, Known::Nothing),
                    // A call without a name is none.
                    name: known(&shape.name, captures, Known::Nothing),
                    ..Call::default()
                };
                if let Body::Json(json) = &shape.body {
                    let mut calls = match spare.take() {
                        Some(mut calls) => {
                            calls.reset(json, call);
                            calls
                        }
                        None => Box::new(JsonCalls::new(json, call)),
                    };
                    calls.begin(&base, tell);
                    Stream::Json(calls)
                } else {
                    call.open_if_known(|| base.clone(), tell);
                    let arguments = match &shape.body {
                        Body::Tags(tags) => Arguments::Tags(Box::new(TagReader::new(tags))),
                        Body::Lines(_) => Arguments::Lines(LineReader::default()),
                        Body::Text { .. } | Body::Json(_) => Arguments::Text(Stripped::default()),
                    };
                    Stream::Call(Box::new(call), arguments)
                }
            }
        };
        Self {
            field,
            base,
            stream,
            has_text: false,
        }
    }

    /// Adds more of the region's text.
    #[inline]
    pub(super) fn feed(&mut self, shape: &Shape, text: &str, tell: &mut Tell<'_>) {
        match (&mut self.stream, shape) {
            (Stream::Text(stripped), Shape::Text { strip }) => {
                let (base, has_text) = (&self.base, &mut self.has_text);
                stripped.push(*strip, text, &mut |text| {
                    *has_text = true;
                    tell.text(base, text);
                });
            }
            (Stream::Json(calls), Shape::Calls(shape)) => {
                if let Body::Json(json) = &shape.body {
                    calls.feed(json, &self.base, text, tell);
                }
            }
            (Stream::Call(call, arguments), Shape::Calls(shape)) => {
                match (arguments, &shape.body) {
                    (Arguments::Text(stripped), Body::Text { strip }) => {
                        stripped.push(*strip, text, &mut |text| call.write(text, tell));
                    }
                    (Arguments::Tags(tags), Body::Tags(shape)) => {
                        tags.feed(shape, text, call, tell);
                    }
                    (Arguments::Lines(lines), Body::Lines(shape)) => {
                        lines.feed(shape, text, call, tell);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Ends the region with this value; the numbers of its calls are added to `calls`. Gives back the reader of JSON, for the next region.
    pub(super) fn close(
        mut self,
        shape: &Shape,
        value: &Value,
        tell: &mut Tell<'_>,
        calls: &mut Vec<usize>,
    ) -> Option<Box<JsonCalls>> {
        let slots = match (&mut self.stream, shape) {
            (Stream::Text(_), _) => return None,
            (Stream::Json(reader), Shape::Calls(shape)) => match &shape.body {
                Body::Json(json) => reader.finish(json, &self.base, tell),
                _ => None,
            },
            (Stream::Call(call, arguments), Shape::Calls(shape)) => {
                let whole = match (arguments, &shape.body) {
                    (Arguments::Tags(tags), Body::Tags(shape)) => tags.finish(shape, call, tell),
                    (Arguments::Lines(lines), Body::Lines(shape)) => {
                        lines.finish(shape, call, tell)
                    }
                    _ => true,
                };
                call.complete = true;
                whole.then(|| vec![call.slot()])
            }
            _ => Some(Vec::new()),
        };
        let slots = slots.filter(|slots| agree(slots, value));
        let Some(slots) = slots else {
            self.drop_calls(tell);
            tell.value(&self.base, value, calls);
            return None;
        };
        let mut settle = |path: &Path, value: &Value, slot: Slot| match slot.index {
            Some(index) => {
                (tell.sink)(Growth::CallDone { index });
                calls.push(index);
            }
            None => tell.value(path, value, calls),
        };
        match value {
            Value::Array(items) if holds_call(value) => {
                for (place, item) in items.iter().enumerate() {
                    let slot = slots.get(place).copied().unwrap_or_default();
                    settle(&self.base.index(place), item, slot);
                }
            }
            value => settle(
                &self.base,
                value,
                slots.first().copied().unwrap_or_default(),
            ),
        }
        match self.stream {
            Stream::Json(reader) => Some(reader),
            _ => None,
        }
    }

    /// Returns true if its text is passed on as it comes.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.stream, Stream::Text(_))
    }

    /// Ends the region without a value: the calls that were passed on are dropped.
    pub(super) fn drop_calls(&self, tell: &mut Tell<'_>) {
        let passed: Vec<usize> = match &self.stream {
            Stream::Json(calls) => calls.passed().collect(),
            Stream::Call(call, _) => call.slot().index.into_iter().collect(),
            Stream::Whole | Stream::Text(_) => Vec::new(),
        };
        for index in passed {
            (tell.sink)(Growth::CallDropped { index });
        }
    }
}

/// Returns true if the calls that were passed on are those of the value, and whole.
fn agree(slots: &[Slot], value: &Value) -> bool {
    let agrees = |slot: &Slot, value: Option<&Value>| {
        slot.index.is_none() || slot.complete && value.is_some_and(|value| as_call(value).is_some())
    };
    match value {
        Value::Array(items) => slots
            .iter()
            .enumerate()
            .all(|(place, slot)| agrees(slot, items.get(place))),
        value => slots.len() <= 1 && slots.iter().all(|slot| agrees(slot, Some(value))),
    }
}

/// Returns the knowledge that the delimiter gives of a member of a call.
fn known(source: &Source, captures: &Map, none: Known) -> Known {
    match source {
        Source::Absent => none,
        Source::Literal(text) => Known::Text(text.clone()),
        Source::Capture(name) => match captures.get(name).and_then(Value::as_str) {
            Some(text) => Known::Text(text.to_owned()),
            None => none,
        },
        Source::Content => Known::NotYet,
    }
}
