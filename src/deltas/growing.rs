//! The message while it grows: its regions so far, and the parts of them that were passed on.

use std::borrow::Cow;
use std::sync::Arc;

use super::calls::Tell;
use super::region::{Region, Spare};
use super::shape::Shape;
use super::{DeltaTemplate, Growth, Step, push_joined};
use crate::content::ToolSchemas;
use crate::parser::{Event, Listener};
use crate::response_template::{Field, ResponseTemplate};
use crate::value::{Map, Path, Step as PathStep, Value};

pub(super) type Sink<'s> = &'s mut dyn FnMut(Growth<'_>);

#[derive(Debug, Clone)]
pub(super) struct Growing {
    template: Arc<DeltaTemplate>,
    tools: ToolSchemas,
    /// True if nothing may be taken back.
    certain: bool,
    /// The state of each field; none while it is as the defaults leave it.
    fields: Vec<Past>,
    region: Option<Region>,
    /// The number of the next call.
    next: usize,
    /// The reader of the last region with calls.
    spare: Option<Spare>,
}

/// The beginning of all messages of a template: the state in which the defaults leave the fields, and the growth that tells of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Beginning {
    fields: Vec<Past>,
    /// The number of the first call.
    next: usize,
    pub(super) growth: Vec<Growth<'static>>,
}

/// The state in which earlier regions have left a field.
#[derive(Debug, Clone, Default)]
struct Past {
    /// How many items the field's list has.
    items: usize,
    /// True if the field has a text to which the next one is joined.
    joined: bool,
    /// True if the field's value is passed on at the end of the response.
    at_end: bool,
    /// True if a text or value of the field was passed on that a later one would replace.
    replaceable: bool,
    /// The numbers of those calls of the field that the calls of a later region would replace.
    calls: Vec<usize>,
    /// The place in the message where the value of its last region stands; empty before there was a region.
    place: Path,
}

impl Past {
    /// The place where the next region's value will stand.
    fn next_place(&mut self, field: &Field) -> Path {
        let mut place = std::mem::take(&mut self.place);
        if place.steps().is_empty() {
            place.push(PathStep::Key(field.name.to_string()));
        } else {
            while place.steps().len() > 1 {
                place.pop();
            }
        }
        if !keeps_last(field) && field.join.is_none() {
            place.push(PathStep::Index(self.items));
        }
        place
    }
}

/// Returns true if a field has the value of its last region alone.
pub(super) fn keeps_last(field: &Field) -> bool {
    !field.repeats && field.join.is_none()
}

impl Growing {
    pub(super) fn new(template: Arc<DeltaTemplate>, tools: ToolSchemas, certain: bool) -> Self {
        Self {
            next: template.beginning(certain).next,
            fields: Vec::new(),
            template,
            tools,
            certain,
            region: None,
            spare: None,
        }
    }

    /// Returns the growth by the defaults.
    pub(super) fn begun(&self) -> &[Growth<'static>] {
        &self.template.beginning(self.certain).growth
    }

    /// Opens a region of the field. If the region before has not closed, it has failed.
    fn open(&mut self, field: usize, captures: &Map, sink: Sink<'_>) {
        self.fail(sink);
        if self.fields.is_empty() {
            self.fields
                .clone_from(&self.template.beginning(self.certain).fields);
        }
        let template = Arc::clone(&self.template);
        let Some(description) = template.template.fields().get(field) else {
            return;
        };
        let waits = template.waits_for_end(self.certain, field);
        let past = &mut self.fields[field];
        let mut tell = Tell {
            sink,
            next: &mut self.next,
            tools: &self.tools,
        };
        let base = past.next_place(description);
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
            // A region that nothing can be joined to has an error at its end.
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

    /// Closes the open region. Its value is in the message already.
    fn close(&mut self, value: &Value, sink: Sink<'_>) {
        let Some(mut region) = self.region.take() else {
            return;
        };
        let index = region.field;
        let template = Arc::clone(&self.template);
        let field = &template.template.fields()[index];
        let waits = template.waits_for_end(self.certain, index);
        let past = &mut self.fields[index];
        past.at_end = waits;
        if !waits {
            let mut tell = Tell {
                sink,
                next: &mut self.next,
                tools: &self.tools,
            };
            past.close(
                &mut region,
                field,
                &template.shapes[index],
                value,
                &mut tell,
            );
        }
        let (place, spare) = region.into_parts();
        past.place = place;
        if spare.is_some() {
            self.spare = spare;
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
            let field = region.field;
            (self.fields[field].place, _) = region.into_parts();
        }
    }

    /// Ends the response, which has this message.
    pub(super) fn end(&mut self, message: &Map, sink: Sink<'_>) {
        self.fail(sink);
        let template = Arc::clone(&self.template);
        let fields = match self.fields.as_slice() {
            [] => &template.beginning(self.certain).fields,
            fields => fields,
        };
        for (past, field) in fields.iter().zip(template.template.fields()) {
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

impl Past {
    /// Closes a region of the field with this value.
    fn close(
        &mut self,
        region: &mut Region,
        field: &Field,
        shape: &Shape,
        value: &Value,
        tell: &mut Tell<'_>,
    ) {
        let in_pieces = region.is_text();
        if keeps_last(field) {
            if self.replaceable && !in_pieces {
                (tell.sink)(Growth::Restart {
                    path: Cow::Borrowed(&region.base),
                });
            }
            for index in self.calls.drain(..) {
                (tell.sink)(Growth::CallDropped { index });
            }
            self.replaceable =
                super::calls::as_call(value).is_none() && (region.has_text || !in_pieces);
        } else if field.join.is_some() {
            if self.joined && !in_pieces {
                tell.text(&region.base, field.join.as_deref().unwrap_or_default());
            }
            self.joined = true;
        } else {
            self.items += 1;
        }
        if in_pieces && !region.has_text && field.repeats && field.join.is_none() {
            (tell.sink)(Growth::Value {
                path: Cow::Borrowed(&region.base),
                value: Cow::Borrowed(value),
            });
        }
        match value {
            // An empty text adds nothing to a text that it is joined to. Where it replaces one, it is passed on.
            Value::String(text) if text.is_empty() && field.join.is_some() => {}
            value => region.close(shape, value, tell, &mut self.calls),
        }
        if !keeps_last(field) {
            self.calls.clear();
        }
    }
}

impl Beginning {
    /// Finds the state in which the defaults leave each field, and the growth by those defaults that no region can replace.
    pub(super) fn new(template: &ResponseTemplate, waits_for_end: impl Fn(usize) -> bool) -> Self {
        let fields = template.fields();
        let mut beginning = Self {
            fields: vec![Past::default(); fields.len()],
            ..Self::default()
        };
        let Self {
            fields: past,
            next,
            growth,
        } = &mut beginning;
        let mut tell = Tell {
            sink: &mut |one| push_joined(growth, one),
            next,
            tools: &ToolSchemas::default(),
        };
        for (name, value) in template.defaults() {
            let path = Path::default().key(name);
            let Some(index) = fields.iter().position(|field| field.name == *name) else {
                tell.value(&path, value, &mut Vec::new());
                continue;
            };
            let past = &mut past[index];
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
        for (index, past) in past.iter_mut().enumerate() {
            past.at_end |= waits_for_end(index);
        }
        beginning
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

    fn chunk(&mut self, field: &Field, text: &str) {
        match &mut self.out {
            Out::Growth(sink) => self.growing.feed(text, *sink),
            Out::Steps(sink) => {
                let grow = &mut |growth: Growth<'_>| sink(Step::Growth(growth));
                self.growing.feed(text, grow);
                sink(Step::Event(Event::RegionChunk {
                    field: Cow::Borrowed(&field.name),
                    text: Cow::Borrowed(text),
                    dirty: !field.content.is_streamable(),
                }));
            }
        }
    }

    fn opens(&mut self, field: usize, captures: &Map) {
        self.tell(|growing, sink| growing.open(field, captures, sink));
    }
}
