//! The message while it grows: its regions so far, and the parts of them that were passed on.

use std::borrow::Cow;
use std::sync::Arc;

use super::calls::Tell;
use super::json_calls::JsonCalls;
use super::region::Region;
use super::shape::Shape;
use super::{DeltaTemplate, Growth, Step};
use crate::content::ToolSchemas;
use crate::parser::{Event, Listener};
use crate::response_template::Field;
use crate::value::{Map, Path, Value};

pub(super) type Sink<'s> = &'s mut dyn FnMut(Growth<'_>);

#[derive(Debug, Clone)]
pub(super) struct Growing {
    template: Arc<DeltaTemplate>,
    tools: ToolSchemas,
    /// True if nothing may be taken back.
    certain: bool,
    /// The state of each field.
    fields: Vec<Past>,
    region: Option<Region>,
    /// The number of the next call.
    next: usize,
    /// The reader of the last region with JSON, kept for its memory.
    spare: Option<Box<JsonCalls>>,
}

/// The state in which earlier regions have left a field.
#[derive(Debug, Clone, Default)]
struct Past {
    /// How many items the field's list has.
    items: usize,
    /// True if the field has a text to which more is joined.
    joined: bool,
    /// True if the field's value is passed on at the end of the response.
    at_end: bool,
    /// True if a text or value of the field was passed on that another would replace.
    replaceable: bool,
    /// The numbers of the field's calls that another region's would replace.
    calls: Vec<usize>,
}

/// Returns true if a field has the value of its last region alone.
fn keeps_last(field: &Field) -> bool {
    !field.repeats && field.join.is_none()
}

impl Growing {
    pub(super) fn new(template: Arc<DeltaTemplate>, tools: ToolSchemas, certain: bool) -> Self {
        Self {
            fields: vec![Past::default(); template.shapes.len()],
            template,
            tools,
            certain,
            region: None,
            next: 0,
            spare: None,
        }
    }

    /// Passes on the defaults that no region can replace.
    pub(super) fn begin(&mut self, sink: Sink<'_>) {
        let template = Arc::clone(&self.template.template);
        let fields = template.fields();
        for (name, value) in template.defaults() {
            let mut tell = Tell {
                sink: &mut *sink,
                next: &mut self.next,
                tools: &self.tools,
            };
            let path = Path::default().key(name);
            let Some(index) = fields.iter().position(|field| field.name == *name) else {
                tell.value(&path, value, &mut Vec::new());
                continue;
            };
            let past = &mut self.fields[index];
            match value {
                Value::Null if fields[index].join.is_some() => {}
                Value::String(text) if fields[index].join.is_some() => {
                    tell.text(&path, text);
                    past.joined = true;
                }
                Value::Array(items) if fields[index].join.is_none() && fields[index].repeats => {
                    for (place, item) in items.iter().enumerate() {
                        tell.value(&path.index(place), item, &mut Vec::new());
                    }
                    past.items = items.len();
                }
                _ => past.at_end = true,
            }
        }
        for (index, field) in fields.iter().enumerate() {
            self.fields[index].at_end |= self.waits_for_end(index, field);
        }
    }

    /// Returns true if the field's value is passed on at the end of the response, whatever comes.
    fn waits_for_end(&self, index: usize, field: &Field) -> bool {
        self.certain && keeps_last(field) && !self.template.comes_once[index]
    }

    /// Opens a region of the field. If the one before has not closed, it has failed.
    fn open(&mut self, field: usize, captures: &Map, sink: Sink<'_>) {
        self.fail(sink);
        let template = Arc::clone(&self.template);
        let Some(description) = template.template.fields().get(field) else {
            return;
        };
        let waits = self.waits_for_end(field, description);
        let past = &mut self.fields[field];
        let mut tell = Tell {
            sink,
            next: &mut self.next,
            tools: &self.tools,
        };
        let mut base = Path::default().key(&description.name);
        if !keeps_last(description) && description.join.is_none() {
            base = base.index(past.items);
        }
        let mut shape = &template.shapes[field];
        let is_text = matches!(shape, Shape::Text { .. });
        if waits || !is_text && self.certain {
            shape = &Shape::Whole;
        } else if is_text {
            if past.replaceable {
                past.replaceable = false;
                (tell.sink)(Growth::Restart {
                    path: Cow::Borrowed(&base),
                });
            }
            // What cannot be joined to has an error at its end.
            let joins = description.join.as_deref().filter(|_| !past.at_end);
            match joins {
                Some(separator) if past.joined => tell.text(&base, separator),
                None if !keeps_last(description) && past.at_end => shape = &Shape::Whole,
                _ => {}
            }
        }
        let spare = &mut self.spare;
        self.region = Some(Region::new(field, base, shape, captures, spare, &mut tell));
    }

    #[inline]
    fn feed(&mut self, text: &str, sink: Sink<'_>) {
        let Some(region) = &mut self.region else {
            return;
        };
        let mut tell = Tell {
            sink,
            next: &mut self.next,
            tools: &self.tools,
        };
        region.feed(&self.template.shapes[region.field], text, &mut tell);
    }

    /// Closes the open region with this value, which is in the message.
    fn close(&mut self, value: &Value, sink: Sink<'_>) {
        let Some(region) = self.region.take() else {
            return;
        };
        let index = region.field;
        let template = Arc::clone(&self.template);
        let field = &template.template.fields()[index];
        let waits = self.waits_for_end(index, field);
        let past = &mut self.fields[index];
        past.at_end = waits;
        if waits {
            return;
        }
        let mut tell = Tell {
            sink,
            next: &mut self.next,
            tools: &self.tools,
        };
        let mut calls = Vec::new();
        let shape = &template.shapes[index];
        let in_pieces = region.is_text();
        if keeps_last(field) {
            if past.replaceable && !in_pieces {
                (tell.sink)(Growth::Restart {
                    path: Cow::Borrowed(&region.base),
                });
            }
            for index in past.calls.drain(..) {
                (tell.sink)(Growth::CallDropped { index });
            }
            past.replaceable =
                super::calls::as_call(value).is_none() && (region.has_text || !in_pieces);
        } else if field.join.is_some() {
            if past.joined && !in_pieces {
                tell.text(&region.base, field.join.as_deref().unwrap_or_default());
            }
            past.joined = true;
        } else {
            past.items += 1;
        }
        if in_pieces && !region.has_text && field.repeats && field.join.is_none() {
            (tell.sink)(Growth::Value {
                path: Cow::Borrowed(&region.base),
                value: Cow::Borrowed(value),
            });
        }
        match value {
            // To a text nothing is added, where a value would take its place.
            Value::String(text) if text.is_empty() && field.join.is_some() => {}
            value => self.spare = region.close(shape, value, &mut tell, &mut calls),
        }
        if keeps_last(field) {
            past.calls = calls;
        }
    }

    /// Closes the open region, if there is one, without a value.
    pub(super) fn fail(&mut self, sink: Sink<'_>) {
        if let Some(region) = self.region.take() {
            let mut tell = Tell {
                sink,
                next: &mut self.next,
                tools: &self.tools,
            };
            region.drop_calls(&mut tell);
        }
    }

    /// Ends the response with this message.
    pub(super) fn end(&mut self, message: &Map, sink: Sink<'_>) {
        self.fail(sink);
        let template = Arc::clone(&self.template.template);
        for (past, field) in self.fields.iter_mut().zip(template.fields()) {
            let value = message.get(&field.name).filter(|_| past.at_end);
            if let Some(value) = value {
                let mut tell = Tell {
                    sink: &mut *sink,
                    next: &mut self.next,
                    tools: &self.tools,
                };
                let path = Path::default().key(&field.name);
                tell.value(&path, value, &mut Vec::new());
            }
        }
    }
}

/// A listener to a parse, which tells the growth of its message.
pub(super) struct Listening<'l> {
    growing: &'l mut Growing,
    out: Out<'l>,
}

/// The receiver of the growth.
pub(super) enum Out<'l> {
    Growth(Sink<'l>),
    /// A receiver of the events as well.
    Steps(&'l mut dyn FnMut(Step<'_>)),
}

impl<'l> Listening<'l> {
    pub(super) fn new(growing: &'l mut Growing, out: Out<'l>) -> Self {
        Self { growing, out }
    }

    fn tell(&mut self, what: impl FnOnce(&mut Growing, Sink<'_>)) {
        match &mut self.out {
            Out::Growth(sink) => what(self.growing, *sink),
            Out::Steps(sink) => what(self.growing, &mut |growth| sink(Step::Growth(growth))),
        }
    }
}

impl Listener for Listening<'_> {
    fn event(&mut self, event: Event<'_>) {
        // Nearly all that happens.
        if let (Event::RegionChunk { text, .. }, Out::Growth(sink)) = (&event, &mut self.out) {
            return self.growing.feed(text, *sink);
        }
        self.tell(|growing, sink| match &event {
            Event::RegionOpen { .. } => {}
            Event::RegionChunk { text, .. } => growing.feed(text, sink),
            Event::RegionClose { value, .. } => growing.close(value, sink),
            Event::RegionError { .. } => growing.fail(sink),
        });
        if let Out::Steps(sink) = &mut self.out {
            sink(Step::Event(event));
        }
    }

    fn opens(&mut self, field: usize, captures: &Map) {
        self.tell(|growing, sink| growing.open(field, captures, sink));
    }
}
