//! The state machine: regions open and close at delimiters, and their text becomes the message.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::error::{ErrorKind, ParseError};
use super::event::Event;
use super::limits::Limits;
use super::watch::{Next, Side, Watch, next_delimiter};
use crate::content::{ToolSchemas, process};
use crate::pattern::{Captures, Window};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// Delimiters that may follow each other at one place without taking any text before the parse is given up. A zero-width
/// open and close would otherwise alternate for ever, as they do in the reference.
const MAX_IDLE_DELIMITERS: usize = 64;

/// Text before the position is dropped once there is this much of it.
const TRIM_BYTES: usize = 4096;

type Sink<'s> = &'s mut dyn FnMut(Event<'_>);

/// The parser proper; see [`super::ResponseParser`].
#[derive(Debug)]
pub(super) struct Machine {
    template: Arc<ResponseTemplate>,
    tools: ToolSchemas,
    message: Map,
    /// The text from byte `base` on: what is left of the prefix past the anchor, then the response.
    buffer: String,
    base: usize,
    /// Up to here everything is accounted for.
    position: usize,
    /// How much of the text is the prefix's.
    prefix_len: usize,
    watches: Vec<Watch>,
    /// The watches outside explicit regions: every open, and the implicit field's close.
    outside: Vec<usize>,
    /// How far back from the position a delimiter may look.
    lookbehind: usize,
    region: Region,
    /// Delimiters since the position last moved.
    idle: usize,
    limits: Limits,
    /// Regions that were closed.
    closed: usize,
    /// A zero-width close met a region without text: the reference reads no further.
    stalled: bool,
    /// The limit that ended the parse.
    ended: Option<ParseError>,
    finalized: bool,
}

/// The stretch of text that is being read.
#[derive(Debug, Default)]
struct Region {
    /// The field; `None` discards the text (there is no implicit field).
    field: Option<usize>,
    /// Whether its `region_open` has been reported.
    opened: bool,
    captures: Map,
    body: String,
    /// Where the body begins.
    start: usize,
}

impl Machine {
    pub(super) fn new(template: Arc<ResponseTemplate>, tools: &[Value], limits: Limits) -> Self {
        let fields = template.fields();
        let mut by_name: Vec<usize> = (0..fields.len()).collect();
        by_name.sort_by(|&a, &b| fields[a].name.cmp(&fields[b].name));
        let mut watches = Vec::new();
        let mut outside = Vec::new();
        for (rank, &index) in by_name.iter().enumerate() {
            let field = &fields[index];
            if let Some(open) = &field.open {
                outside.push(watches.len());
                watches.push(Watch::new(Side::Open, index, rank, open));
            }
            if let Some(close) = &field.close {
                if template.implicit() == Some(index) {
                    outside.push(watches.len());
                }
                watches.push(Watch::new(Side::Close, index, rank, close));
            }
        }
        let lookbehind = watches.iter().map(Watch::lookbehind).max().unwrap_or(0);
        let region = Region {
            field: template.implicit(),
            ..Region::default()
        };
        Self {
            tools: ToolSchemas::from_tools(tools),
            message: template.defaults().clone(),
            template,
            buffer: String::new(),
            base: 0,
            position: 0,
            prefix_len: 0,
            watches,
            outside,
            lookbehind,
            region,
            idle: 0,
            limits,
            closed: 0,
            stalled: false,
            ended: None,
            finalized: false,
        }
    }

    pub(super) fn message(&self) -> &Map {
        &self.message
    }

    pub(super) fn read_prefix(&mut self, prefix: &str, sink: Sink<'_>) -> Result<(), ParseError> {
        let template = Arc::clone(&self.template);
        let rest = template
            .after_last_anchor(prefix)
            .map_err(|error| ParseError::new(ErrorKind::Limit, error.to_string()))?;
        self.prefix_len = rest.len();
        self.buffer.push_str(rest);
        self.run(sink, false)
    }

    pub(super) fn feed(&mut self, text: &str, sink: Sink<'_>) -> Result<(), ParseError> {
        self.refuse_if_finalized()?;
        self.trim();
        // What is never read is not kept.
        if !self.stalled && self.ended.is_none() {
            self.buffer.push_str(text);
        }
        self.run(sink, false)
    }

    pub(super) fn finalize(&mut self, sink: Sink<'_>) -> Result<Map, ParseError> {
        self.refuse_if_finalized()?;
        self.run(sink, true)?;
        let fields = self.template.fields();
        let missing: Vec<&str> = fields
            .iter()
            .filter(|field| !field.optional && !self.message.contains_key(&field.name))
            .map(|field| field.name.as_str())
            .collect();
        if !missing.is_empty() {
            return Err(ParseError::new(
                ErrorKind::Required,
                format!(
                    "required by the response template, but not in the response: {}",
                    missing.join(", ")
                ),
            ));
        }
        let defaults = self.template.defaults();
        self.message
            .retain(|name, value| defaults.contains_key(name) || !is_empty(value));
        self.finalized = true;
        Ok(self.message.clone())
    }

    fn refuse_if_finalized(&self) -> Result<(), ParseError> {
        if self.finalized {
            return Err(ParseError::new(
                ErrorKind::Finalized,
                "the response has already been finalized; use a new parser for the next one",
            ));
        }
        Ok(())
    }

    /// Reads as far as the text allows; with `complete`, to its end. After a limit there is nothing but that.
    fn run(&mut self, sink: Sink<'_>, complete: bool) -> Result<(), ParseError> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        let result = self.read(sink, complete);
        if let Err(error) = &result
            && error.kind == ErrorKind::Limit
        {
            self.ended = Some(error.clone());
        }
        result
    }

    fn read(&mut self, sink: Sink<'_>, complete: bool) -> Result<(), ParseError> {
        while !self.stalled {
            let own_close;
            let indices = match self.region.field {
                Some(field) if self.template.implicit() != Some(field) => {
                    own_close = self
                        .watches
                        .iter()
                        .position(|watch| watch.side == Side::Close && watch.field == field);
                    own_close.as_slice()
                }
                _ => &self.outside,
            };
            let window = Window {
                text: &self.buffer,
                start: self.base,
                complete,
            };
            match next_delimiter(&mut self.watches, indices, &window, self.position)
                .map_err(|error| self.limit(error.to_string()))?
            {
                Next::Delimiter { watch, captures } => self.pass(watch, &captures, sink)?,
                Next::None { hold } => {
                    self.read_to(hold, sink)?;
                    if complete {
                        return self.close(sink);
                    }
                    return self.check_held();
                }
            }
        }
        Ok(())
    }

    /// Takes the text up to a delimiter, and the delimiter.
    fn pass(
        &mut self,
        watch: usize,
        captures: &Captures,
        sink: Sink<'_>,
    ) -> Result<(), ParseError> {
        let Range { start, end } = captures.span;
        self.read_to(start, sink)?;
        self.position = end;
        self.idle = if end > start { 0 } else { self.idle + 1 };
        if self.idle > MAX_IDLE_DELIMITERS {
            let error = self.limit(format!(
                "{MAX_IDLE_DELIMITERS} delimiters in a row match at byte {} without taking any text",
                self.in_response(end)
            ));
            return Err(ParseError {
                hint: Some("give the open or the close text to match".to_owned()),
                ..error
            });
        }
        match self.watches[watch].side {
            Side::Open => {
                let groups = self.captured(captures);
                let field = self.watches[watch].field;
                let closed = self.close(sink);
                self.region = Region {
                    field: Some(field),
                    opened: true,
                    captures: groups,
                    body: String::new(),
                    start: end,
                };
                sink(Event::RegionOpen {
                    field: Cow::Borrowed(&self.template.fields()[field].name),
                });
                closed
            }
            Side::Close => {
                self.stalled = !self.region.opened && start == end;
                self.close(sink)
            }
        }
    }

    /// Gives the text up to `end` to the open region.
    fn read_to(&mut self, end: usize, sink: Sink<'_>) -> Result<(), ParseError> {
        if end <= self.position {
            return Ok(());
        }
        self.idle = 0;
        let text = &self.buffer[self.position - self.base..end - self.base];
        if let Some(index) = self.region.field {
            let field = &self.template.fields()[index];
            if !self.region.opened {
                self.region.opened = true;
                self.region.start = self.position;
                sink(Event::RegionOpen {
                    field: Cow::Borrowed(&field.name),
                });
            }
            if self.region.body.len() + text.len() > self.limits.region_bytes {
                return Err(self.limit(format!(
                    "the region is longer than {} bytes",
                    self.limits.region_bytes
                )));
            }
            self.region.body.push_str(text);
            sink(Event::RegionChunk {
                field: Cow::Borrowed(&field.name),
                text: Cow::Borrowed(text),
                dirty: !field.content.is_streamable(),
            });
        }
        self.position = end;
        Ok(())
    }

    fn check_held(&self) -> Result<(), ParseError> {
        let kept = self.position.saturating_sub(self.lookbehind).max(self.base);
        if self.base + self.buffer.len() - kept > self.limits.held_bytes {
            return Err(ParseError {
                hint: Some(
                    "let its pattern match less: one that can match any text holds all of it"
                        .to_owned(),
                ),
                ..self.limit(format!(
                    "more than {} bytes are held for a delimiter that may be under way",
                    self.limits.held_bytes
                ))
            });
        }
        Ok(())
    }

    /// The error of a limit that was reached in the open region.
    fn limit(&self, message: String) -> ParseError {
        let region = &self.region;
        let field = region.field.filter(|_| region.opened);
        let name = field.map(|field| self.template.fields()[field].name.clone());
        let start = self.in_response(region.start);
        let end = self.in_response(region.start + region.body.len());
        ParseError {
            span: field.map(|_| start..end),
            raw: field.map(|_| region.body.as_str().into()),
            field: name,
            ..ParseError::new(ErrorKind::Limit, message)
        }
    }

    /// Ends the open region and returns to the implicit field; its value goes into the message.
    fn close(&mut self, sink: Sink<'_>) -> Result<(), ParseError> {
        let region = std::mem::replace(
            &mut self.region,
            Region {
                field: self.template.implicit(),
                ..Region::default()
            },
        );
        let (Some(index), true) = (region.field, region.opened) else {
            return Ok(());
        };
        let template = Arc::clone(&self.template);
        let field = &template.fields()[index];
        self.closed += 1;
        let span =
            self.in_response(region.start)..self.in_response(region.start + region.body.len());
        let broken = |error: ParseError| ParseError {
            field: Some(field.name.clone()),
            span: Some(span.clone()),
            raw: Some(region.body.as_str().into()),
            ..error
        };
        if self.closed > self.limits.regions {
            return Err(broken(ParseError::new(
                ErrorKind::Limit,
                format!("there are more than {} regions", self.limits.regions),
            )));
        }
        let value = process(
            &region.body,
            &field.content,
            field.transform.as_ref(),
            field.transform_each,
            &region.captures,
        )
        .map_err(|error| broken(ParseError::content(&field.name, &error)))?;
        let value = self.tools.coerce(value);
        let previous = self.message.get_mut(&field.name);
        match merge(
            previous,
            value.clone(),
            field.repeats,
            field.join.as_deref(),
        ) {
            Ok(Some(merged)) => {
                self.message.insert(field.name.clone(), merged);
            }
            Ok(None) => {}
            Err(message) => {
                let message = format!("field '{}': {message}", field.name);
                return Err(broken(ParseError::new(ErrorKind::Merge, message)));
            }
        }
        sink(Event::RegionClose {
            field: Cow::Borrowed(&field.name),
            value: Cow::Owned(value),
        });
        Ok(())
    }

    fn captured(&self, captures: &Captures) -> Map {
        captures
            .groups
            .iter()
            .filter_map(|(name, span)| {
                let span = span.as_ref()?;
                let text = &self.buffer[span.start - self.base..span.end - self.base];
                Some((name.clone(), Value::from(text)))
            })
            .collect()
    }

    fn in_response(&self, offset: usize) -> usize {
        offset.saturating_sub(self.prefix_len)
    }

    /// Drops text that no delimiter can look at any more.
    fn trim(&mut self) {
        let keep = self.position.saturating_sub(self.lookbehind);
        let mut excess = keep.saturating_sub(self.base);
        if excess < TRIM_BYTES.max(self.buffer.len() / 2) {
            return;
        }
        while !self.buffer.is_char_boundary(excess) {
            excess -= 1;
        }
        self.buffer.drain(..excess);
        self.base += excess;
    }
}

/// Adds a region's value to what the message has of the field. Returns the value to store, or `None` when it was
/// appended in place.
fn merge(
    previous: Option<&mut Value>,
    value: Value,
    repeats: bool,
    join: Option<&str>,
) -> Result<Option<Value>, String> {
    if let Some(separator) = join {
        let Value::String(text) = &value else {
            return Err(format!(
                "'join' needs each region to parse to a string, not to a {}; use a text content parser or drop 'join'",
                value.type_name()
            ));
        };
        return match previous {
            None | Some(Value::Null) => Ok(Some(value)),
            Some(Value::String(before)) => {
                before.push_str(separator);
                before.push_str(text);
                Ok(None)
            }
            Some(other) => Err(format!(
                "'join' cannot append to the default, a {}",
                other.type_name()
            )),
        };
    }
    if !repeats {
        return Ok(Some(value));
    }
    match previous {
        None => Ok(Some(Value::Array(vec![value]))),
        Some(Value::Array(items)) => {
            items.push(value);
            Ok(None)
        }
        Some(other) => Err(format!(
            "'repeats' cannot append to the default, a {}; make it a list",
            other.type_name()
        )),
    }
}

/// What the reference drops from a message: none, and empty strings, lists and objects.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}
