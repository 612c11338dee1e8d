//! The open region: the parts of it that are passed on before it ends, and the rest that its end adds.

use super::Growth;
use super::calls::{Call, Known, Slot, Tell, as_call, holds_call};
use super::json_calls::JsonCalls;
use super::lines::LineReader;
use super::shape::{Body, Shape, Source};
use super::tags::TagReader;
use super::text::Stripped;
use crate::value::{Key, Map, Path, Value};

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
    Call(Box<OneCall>),
}

/// One call, of which the delimiter gives all but the arguments.
#[derive(Debug, Clone)]
struct OneCall {
    call: Call,
    arguments: Arguments,
}

/// The arguments of a call.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "it stands in a box with its call, which one region after the other uses"
)]
enum Arguments {
    Text(Stripped),
    Tags(TagReader),
    Lines(LineReader),
}

impl Arguments {
    fn new(shape: &Body) -> Self {
        match shape {
            Body::Tags(tags) => Self::Tags(TagReader::new(tags)),
            Body::Lines(_) => Self::Lines(LineReader::default()),
            Body::Text { .. } | Body::Json(_) => Self::Text(Stripped::default()),
        }
    }

    /// Begins another region of the same field.
    fn reset(&mut self, shape: &Body) {
        match (self, shape) {
            (Self::Text(stripped), _) => stripped.reset(),
            (Self::Tags(tags), Body::Tags(shape)) => tags.reset(shape),
            (Self::Lines(lines), _) => lines.reset(),
            (Self::Tags(_), _) => {}
        }
    }
}

impl OneCall {
    /// Begins another call, of which this is known.
    fn begin(&mut self, id: Known, name: Known, base: &Path, tell: &mut Tell<'_>) {
        self.call.reset(id, name);
        self.call.open_if_known(|| base.clone(), tell);
    }
}

/// The reader of a region with calls that has ended, kept for its memory: the next region of its field begins with it.
#[derive(Debug, Clone)]
pub(super) struct Spare {
    field: usize,
    stream: Stream,
}

impl Spare {
    /// The reader, if it is the field's.
    fn stream(spare: &mut Option<Self>, field: usize) -> Option<Stream> {
        spare
            .take_if(|spare| spare.field == field)
            .map(|spare| spare.stream)
    }
}

impl Region {
    pub(super) fn new(
        field: usize,
        base: Path,
        shape: &Shape,
        captures: &Map,
        spare: &mut Option<Spare>,
        tell: &mut Tell<'_>,
    ) -> Self {
        let stream = match shape {
            Shape::Whole => Stream::Whole,
            Shape::Text { .. } => Stream::Text(Stripped::default()),
            Shape::Calls(shape) => {
                let id = known(&shape.id, captures, Known::Nothing);
                // A call without a name is none.
                let name = known(&shape.name, captures, Known::Nothing);
                match (Spare::stream(spare, field), &shape.body) {
                    (Some(Stream::Json(mut calls)), Body::Json(json)) => {
                        calls.reset(json, id, name);
                        calls.begin(&base, tell);
                        Stream::Json(calls)
                    }
                    (_, Body::Json(json)) => {
                        let mut calls = Box::new(JsonCalls::new(json, id, name));
                        calls.begin(&base, tell);
                        Stream::Json(calls)
                    }
                    (Some(Stream::Call(mut one)), body) => {
                        one.arguments.reset(body);
                        one.begin(id, name, &base, tell);
                        Stream::Call(one)
                    }
                    (_, body) => {
                        let mut one = Box::new(OneCall {
                            call: Call::default(),
                            arguments: Arguments::new(body),
                        });
                        one.begin(id, name, &base, tell);
                        Stream::Call(one)
                    }
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
                stripped.push(*strip, text, |text| {
                    *has_text = true;
                    tell.text(base, text);
                });
            }
            (Stream::Json(calls), Shape::Calls(shape)) => {
                if let Body::Json(json) = &shape.body {
                    calls.feed(json, &self.base, text, tell);
                }
            }
            (Stream::Call(one), Shape::Calls(shape)) => {
                let OneCall { call, arguments } = &mut **one;
                match (arguments, &shape.body) {
                    (Arguments::Text(stripped), Body::Text { strip }) => {
                        stripped.push(*strip, text, |text| call.write(text, tell));
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

    /// Ends the region with this value; the numbers of its calls are added to `calls`.
    pub(super) fn close(
        &mut self,
        shape: &Shape,
        value: &Value,
        tell: &mut Tell<'_>,
        calls: &mut Vec<usize>,
    ) {
        if self.is_text() {
            return;
        }
        let whole = self.finish(shape, tell);
        let slots = self.slots();
        if !whole || !agree(slots, value) {
            self.drop_calls(tell);
            tell.value_in_place_of(self.slots(), &self.base, value, calls);
            return;
        }
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
    }

    /// Ends its text, and returns true if the text is of the shape that it was taken for.
    fn finish(&mut self, shape: &Shape, tell: &mut Tell<'_>) -> bool {
        match (&mut self.stream, shape) {
            (Stream::Json(reader), Shape::Calls(shape)) => match &shape.body {
                Body::Json(json) => reader.finish(json, &self.base, tell),
                _ => false,
            },
            (Stream::Call(one), Shape::Calls(shape)) => {
                let OneCall { call, arguments } = &mut **one;
                let whole = match (arguments, &shape.body) {
                    (Arguments::Tags(tags), Body::Tags(shape)) => tags.finish(shape, call, tell),
                    (Arguments::Lines(lines), Body::Lines(shape)) => {
                        lines.finish(shape, call, tell)
                    }
                    _ => true,
                };
                call.slot.complete = true;
                whole
            }
            _ => true,
        }
    }

    /// The outcomes of its calls, once it has ended.
    fn slots(&self) -> &[Slot] {
        match &self.stream {
            Stream::Json(calls) => calls.slots(),
            Stream::Call(one) => std::slice::from_ref(&one.call.slot),
            Stream::Whole | Stream::Text(_) => &[],
        }
    }

    /// Gives back its place in the message, and its reader where the next region can use it.
    pub(super) fn into_parts(self) -> (Path, Option<Spare>) {
        let field = self.field;
        let spare = match self.stream {
            stream @ (Stream::Json(_) | Stream::Call(_)) => Some(Spare { field, stream }),
            Stream::Whole | Stream::Text(_) => None,
        };
        (self.base, spare)
    }

    /// Returns true if its text is passed on as it comes.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.stream, Stream::Text(_))
    }

    /// Ends the region without a value: the calls that were passed on are dropped.
    pub(super) fn drop_calls(&self, tell: &mut Tell<'_>) {
        let mut drop = |index| (tell.sink)(Growth::CallDropped { index });
        match &self.stream {
            Stream::Json(calls) => calls.passed().for_each(drop),
            Stream::Call(one) => one.call.slot.index.into_iter().for_each(&mut drop),
            Stream::Whole | Stream::Text(_) => {}
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
            Some(text) => Known::Text(Key::new(text)),
            None => none,
        },
        Source::Content => Known::NotYet,
    }
}
