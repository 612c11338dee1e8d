//! The state machine: regions open and close at delimiters, and their text becomes the message.

mod closing;
mod memory;
mod rare;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::error::{ErrorKind, ParseError};
use super::event::Event;
use super::leaked::{Leaked, Markers};
use super::listener::Listener;
use super::merge::is_empty;
use super::options::Options;
use super::region::Region;
use super::snapshot::{Edge, OpenRegion, Passed, Snapshot, Status, Usage};
use super::unclaimed::Unclaimed;
use super::watch::{Next, Watch, next_delimiter};
use crate::content::{JsonStrings, ToolSchemas, Whereabouts};
use crate::pattern::{ByteSet, Window};
use crate::response_template::{ResponseTemplate, Sought};
use crate::value::Map;

use rare::Rare;

/// Delimiters that may follow each other at one place without taking any text before the parse is given up. A zero-width
/// open and close would otherwise alternate for ever, as they do in the reference.
const MAX_IDLE_DELIMITERS: usize = 64;

/// Text before the position is dropped once there is this much of it.
const TRIM_BYTES: usize = 4096;

type Sink<'s> = &'s mut dyn Listener;

/// The parser proper; see [`super::ResponseParser`].
#[derive(Debug, Clone)]
pub(super) struct Machine {
    template: Arc<ResponseTemplate>,
    tools: ToolSchemas,
    /// `None` while it is the template's defaults.
    message: Option<Map>,
    /// The text from byte `base` on that is needed again: what may belong to a delimiter, and what one may look back at.
    buffer: String,
    base: usize,
    /// Up to here everything is accounted for.
    position: usize,
    /// How much of the text is the prefix's.
    prefix_len: usize,
    /// One for each delimiter of the template's plan; none before any is asked for.
    watches: Vec<Watch>,
    region: Region,
    fast_path: FastPath,
    /// Delimiters since the position last moved.
    idle: usize,
    options: Options,
    /// The part that most parses do without.
    rare: Option<Box<Rare>>,
    /// Regions that were closed.
    closed: usize,
    /// A zero-width close met a region without text: the reference reads no further.
    stalled: bool,
    finalized: bool,
}

/// The fast path: which text can be taken without asking the delimiters.
#[derive(Debug, Clone)]
enum FastPath {
    /// None.
    Not,
    /// Nothing is kept, and nothing under way: text in which no delimiter begins is the region's.
    Passing,
    /// Text is held, and stays so as long as none of these bytes comes.
    Holding(Box<ByteSet>),
}

impl Machine {
    // To move a new parser costs more than to make it, so what makes one is inlined.
    #[inline]
    pub(super) fn new(
        template: Arc<ResponseTemplate>,
        tools: ToolSchemas,
        options: Options,
    ) -> Self {
        let region = Region {
            field: template.implicit(),
            ..Region::default()
        };
        let mut machine = Self {
            template,
            tools,
            message: None,
            watches: Vec::new(),
            buffer: String::new(),
            base: 0,
            position: 0,
            prefix_len: 0,
            region,
            fast_path: FastPath::Not,
            idle: 0,
            options,
            rare: None,
            closed: 0,
            stalled: false,
            finalized: false,
        };
        machine.fast_path = machine.passing();
        machine
    }

    fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(Rare::NOTHING)
    }

    fn rare_mut(&mut self) -> &mut Rare {
        Rare::of(&mut self.rare)
    }

    pub(super) fn template(&self) -> &ResponseTemplate {
        &self.template
    }

    pub(super) fn message(&self) -> &Map {
        self.message.as_ref().unwrap_or(self.template.defaults())
    }

    pub(super) fn malformed(&self) -> &[ParseError] {
        &self.rare().malformed
    }

    pub(super) fn unclaimed(&self) -> &[Unclaimed] {
        self.rare().unclaimed.stretches()
    }

    pub(super) fn find_leaked(&mut self, markers: Arc<Markers>) {
        self.rare_mut().markers = Some(markers);
    }

    pub(super) fn leaked(&self) -> &[Leaked] {
        &self.rare().leaked
    }

    pub(super) fn take_passed(&mut self) -> Vec<Passed> {
        let rare = self.rare.as_mut();
        rare.map(|rare| std::mem::take(&mut rare.passed))
            .unwrap_or_default()
    }

    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        let fields = self.template.fields();
        let plan = self.template.plan();
        let region = &self.region;
        // Text that is never read is not kept either.
        let fed = self.position.max(self.base + self.buffer.len());
        let held = self.position - self.base;
        Snapshot {
            status: match () {
                () if self.finalized => Status::Finalized,
                () if self.rare().ended.is_some() => Status::Ended,
                () if self.stalled => Status::Stalled,
                () => Status::Reading,
            },
            prefix_bytes: self.prefix_len,
            fed,
            position: self.position,
            held: self.buffer.get(held..).unwrap_or_default(),
            region: region
                .field
                .filter(|_| region.opened)
                .map(|field| OpenRegion {
                    field,
                    name: &fields[field].name,
                    captures: &region.captures,
                    span: region.start..region.end,
                }),
            watched: plan
                .counting(region.field)
                .iter()
                .map(|&index| {
                    let watch = self.watches.get(index);
                    Watch::snapshot(watch, &plan.sought[index], fields, self.position..fed)
                })
                .collect(),
            usage: Usage {
                region_bytes: region.end - region.start,
                held_bytes: fed
                    - self
                        .position
                        .saturating_sub(self.template.plan().lookbehind)
                        .max(self.base),
                regions: self.closed,
            },
            limits: self.options.limits,
        }
    }

    /// Reads the prefix. A region of it that does not parse is the error of the next call.
    ///
    /// # Errors
    ///
    /// When the anchor's pattern reaches a limit.
    #[inline]
    pub(super) fn read_prefix(&mut self, prefix: &str, sink: Sink<'_>) -> Result<(), ParseError> {
        match prefix.is_empty() {
            true => Ok(()),
            false => self.read_anchored(prefix, sink),
        }
    }

    fn read_anchored(&mut self, prefix: &str, sink: Sink<'_>) -> Result<(), ParseError> {
        let template = Arc::clone(&self.template);
        let rest = template
            .after_last_anchor(prefix)
            .map_err(|error| ParseError::new(ErrorKind::Limit, error.to_string()))?;
        self.prefix_len = rest.len();
        if !rest.is_empty()
            && let Err(error) = self.take(rest, sink)
        {
            self.rare_mut().deferred = Some(error);
            self.fast_path = FastPath::Not;
        }
        Ok(())
    }

    pub(super) fn feed(&mut self, text: &str, sink: Sink<'_>) -> Result<(), ParseError> {
        match &self.fast_path {
            FastPath::Passing if self.begins_nothing(text) => self.pass_over(text, sink),
            FastPath::Holding(bytes) if self.changes_nothing(text, bytes) => {
                self.buffer.push_str(text)
            }
            _ => {
                self.refuse_if_finalized()?;
                if let Some(error) = self.take_deferred() {
                    if self.is_reading() {
                        self.buffer.push_str(text);
                    } else if self.stalled {
                        // A limit that this reaches is the error of the next call.
                        let _ = self.leave_unread(text);
                    }
                    return Err(error);
                }
                return self.take(text, sink);
            }
        }
        Ok(())
    }

    /// Reads more text, from where it is if nothing before it is needed.
    fn take(&mut self, text: &str, sink: Sink<'_>) -> Result<(), ParseError> {
        self.fast_path = FastPath::Not;
        if self.stalled {
            return self.leave_unread(text);
        }
        if self.buffer.is_empty() {
            let result = self.run(text, sink, false);
            if self.is_reading() {
                let kept = self.kept(text);
                self.buffer.push_str(&text[kept - self.base..]);
                self.base = kept;
            }
            return result;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        // What is never read is not kept.
        if self.is_reading() {
            buffer.push_str(text);
        }
        let result = self.run(&buffer, sink, false);
        let excess = self.kept(&buffer) - self.base;
        if excess == buffer.len() {
            buffer.clear();
            self.base += excess;
        } else if excess >= TRIM_BYTES.max(buffer.len() / 2) {
            buffer.drain(..excess);
            self.base += excess;
        }
        self.buffer = buffer;
        result
    }

    fn is_reading(&self) -> bool {
        !self.stalled && self.rare().ended.is_none()
    }

    /// The error that the prefix ended in, if it has not been returned.
    fn take_deferred(&mut self) -> Option<ParseError> {
        self.rare.as_mut()?.deferred.take()
    }

    /// From where on the text, which begins at `base`, may still be looked at.
    fn kept(&self, text: &str) -> usize {
        let strings = self.region.strings.as_deref();
        let mut kept = self
            .position
            .saturating_sub(self.template.plan().lookbehind)
            .min(strings.map_or(usize::MAX, JsonStrings::read))
            .max(self.base);
        while !text.is_char_boundary(kept - self.base) {
            kept -= 1;
        }
        kept
    }

    /// Returns true if no delimiter that counts now can begin in the text, and the region has room for it.
    fn begins_nothing(&self, text: &str) -> bool {
        let starts = self.template.plan().starts(self.region.field);
        let kept = match self.region.field {
            Some(_) => self.region.given + self.region.body.len(),
            None => self.rare().unclaimed.length_until(self.position),
        };
        !text.is_empty()
            && starts.is_some_and(|starts| starts.find(text.as_bytes()).is_none())
            && kept + text.len() <= self.options.limits.region_bytes
    }

    /// Returns true if the text can be held like what is held, of which only `bytes` would change anything.
    fn changes_nothing(&self, text: &str, bytes: &ByteSet) -> bool {
        bytes.find(text.as_bytes()).is_none()
            && self.buffer.len() + text.len() <= self.options.limits.held_bytes
    }

    /// Gives text to the open region in which no delimiter begins.
    fn pass_over(&mut self, text: &str, sink: Sink<'_>) {
        self.idle = 0;
        let start = self.position;
        self.position += text.len();
        self.base = self.position;
        if let Some(index) = self.region.field {
            let field = &self.template.fields()[index];
            if !self.region.opened {
                self.region.opened = true;
                self.region.start = start;
                sink.opens(index, &self.region.captures);
                sink.event(Event::RegionOpen {
                    field: Cow::Borrowed(&field.name),
                });
            }
            match self.forgets(index) {
                true => self.region.give_up(text),
                false => self.region.keep(text),
            }
            self.region.end = self.position;
            sink.chunk(field, text);
        } else {
            let prefix_len = self.prefix_len;
            self.rare_mut().unclaimed.add(start, text, prefix_len);
        }
    }

    pub(super) fn into_message(self) -> Map {
        self.message
            .unwrap_or_else(|| self.template.defaults().clone())
    }

    pub(super) fn finalize(&mut self, sink: Sink<'_>) -> Result<(), ParseError> {
        self.refuse_if_finalized()?;
        if let Some(error) = self.take_deferred() {
            return Err(error);
        }
        self.fast_path = FastPath::Not;
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.run(&buffer, sink, true);
        self.buffer = buffer;
        result?;
        let fields = self.template.fields();
        let missing: Vec<&str> = fields
            .iter()
            .filter(|field| !field.optional && !self.message().contains_key(&field.name))
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
        if let Some(message) = &mut self.message {
            message.retain(|name, value| !is_empty(value) || defaults.contains_key(name));
        }
        self.finalized = true;
        Ok(())
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
    fn run(&mut self, text: &str, sink: Sink<'_>, complete: bool) -> Result<(), ParseError> {
        if let Some(error) = &self.rare().ended {
            return Err(error.clone());
        }
        if self.watches.is_empty() {
            // The text so far was passed over without asking any, as each takes it.
            self.watches = self.template.plan().sought.iter().map(Watch::new).collect();
        }
        let window = Window {
            text,
            start: self.base,
            complete,
        };
        let result = self.read(&window, sink);
        // The window is gone after this.
        let forgets = self.region.field.is_some_and(|index| self.forgets(index));
        let region = &mut self.region;
        if region.field.is_some() && region.opened {
            let rest = window.slice(region.kept_to()..region.end);
            match forgets {
                true => region.give_up(rest),
                false => region.keep(rest),
            }
        }
        if let Err(error) = &result
            && error.kind == ErrorKind::Limit
        {
            self.rare_mut().ended = Some(error.clone());
        }
        result
    }

    fn read(&mut self, window: &Window<'_>, sink: Sink<'_>) -> Result<(), ParseError> {
        while !self.stalled {
            let plan = self.template.plan();
            let counting = plan.counting(self.region.field);
            match next_delimiter(
                &mut self.watches,
                &plan.sought,
                counting,
                window,
                self.position,
            )
            .map_err(|error| self.limit(window, error.to_string()))?
            {
                Next::Delimiter { watch, span } => {
                    let start = span.start;
                    self.read_to(window, start, sink)?;
                    match self.place_in_strings(window, start) {
                        Whereabouts::Outside => self.pass(window, watch, span, sink)?,
                        Whereabouts::Inside(end) => self.read_to(window, end, sink)?,
                        Whereabouts::NotArrived => return self.hold(window, start, sink),
                    }
                }
                Next::None { hold } if window.complete => {
                    self.read_to(window, hold, sink)?;
                    return self.close(window, sink);
                }
                Next::None { hold } => return self.hold(window, hold, sink),
            }
        }
        Ok(())
    }

    /// Takes the text up to `end`, and waits for more.
    fn hold(&mut self, window: &Window<'_>, end: usize, sink: Sink<'_>) -> Result<(), ParseError> {
        self.read_to(window, end, sink)?;
        self.check_held(window)?;
        self.fast_path = self.fast_path(window, end);
        Ok(())
    }

    /// Where in the open region's strings the place is, if they count.
    fn place_in_strings(&mut self, window: &Window<'_>, place: usize) -> Whereabouts {
        let region = &mut self.region;
        let Some((strings, field)) = region.strings.as_mut().zip(region.field) else {
            return Whereabouts::Outside;
        };
        let dialect = self.template.fields()[field].content.string_delims();
        strings.place(dialect.unwrap_or_default(), window, place)
    }

    /// For a region of the field that begins here: what reads its strings, if they count.
    fn strings(&self, field: usize, start: usize) -> Option<JsonStrings> {
        let content = &self.template.fields()[field].content;
        let count = self.options.skip_json_strings && content.string_delims().is_some();
        count.then(|| JsonStrings::new(start))
    }

    /// Takes a delimiter; the text up to it is read.
    fn pass(
        &mut self,
        window: &Window<'_>,
        watch: usize,
        span: Range<usize>,
        sink: Sink<'_>,
    ) -> Result<(), ParseError> {
        let Range { start, end } = span;
        self.position = end;
        let Sought { field, opens, .. } = self.template.plan().sought[watch];
        if self.options.keep_delimiters {
            let side = if opens { Edge::Open } else { Edge::Close };
            let span = start..end;
            self.rare_mut().passed.push(Passed { field, side, span });
        }
        self.idle = if end > start { 0 } else { self.idle + 1 };
        if self.idle > MAX_IDLE_DELIMITERS {
            let error = self.limit(window, format!(
                "{MAX_IDLE_DELIMITERS} delimiters in a row match at byte {} without taking any text",
                self.in_response(end)
            ));
            return Err(ParseError {
                hint: Some("give the open or the close text to match".to_owned()),
                ..error
            });
        }
        if !opens {
            self.stalled = !self.region.opened && start == end;
            if self.stalled {
                return self.leave(end, window.slice(end..window.end()));
            }
            return self.close(window, sink);
        }
        let captures = self.watches[watch].captures(&self.template.plan().sought[watch], window);
        let closed = self.close(window, sink);
        self.region.captures = captures;
        self.open_region(field, end);
        sink.opens(field, &self.region.captures);
        sink.event(Event::RegionOpen {
            field: Cow::Borrowed(&self.template.fields()[field].name),
        });
        closed
    }

    /// Opens a region of the field; the one before has ended.
    fn open_region(&mut self, field: usize, start: usize) {
        if self.options.skip_json_strings {
            self.region.strings = self.strings(field, start).map(Box::new);
        }
        let region = &mut self.region;
        region.field = Some(field);
        region.opened = true;
        region.start = start;
        region.end = start;
    }

    /// Gives the text up to `end` to the open region.
    fn read_to(
        &mut self,
        window: &Window<'_>,
        end: usize,
        sink: Sink<'_>,
    ) -> Result<(), ParseError> {
        if end <= self.position {
            return Ok(());
        }
        self.idle = 0;
        let text = window.slice(self.position..end);
        if let Some(index) = self.region.field {
            if !self.region.opened {
                self.open_region(index, self.position);
                sink.opens(index, &self.region.captures);
                sink.event(Event::RegionOpen {
                    field: Cow::Borrowed(&self.template.fields()[index].name),
                });
            }
            let field = &self.template.fields()[index];
            if end - self.region.start > self.options.limits.region_bytes {
                let most = self.options.limits.region_bytes;
                return Err(self.limit(window, format!("the region is longer than {most} bytes")));
            }
            self.region.end = end;
            sink.chunk(field, text);
        } else {
            self.leave(self.position, text)?;
        }
        self.position = end;
        self.place_in_strings(window, end);
        Ok(())
    }

    /// Returns true if the text of the field's regions is told in pieces and needed no more after that.
    fn forgets(&self, field: usize) -> bool {
        self.options.forget && self.rare().markers.is_none() && {
            let field = &self.template.fields()[field];
            field.content.is_text() && field.transform.is_none()
        }
    }

    /// Puts text to the account of what no field takes.
    fn leave(&mut self, start: usize, text: &str) -> Result<(), ParseError> {
        let most = self.options.limits.region_bytes;
        let unclaimed = &mut self.rare_mut().unclaimed;
        if unclaimed.length_until(start) + text.len() > most {
            let message = format!("a text that no field takes is longer than {most} bytes");
            return Err(ParseError::new(ErrorKind::Limit, message));
        }
        let prefix_len = self.prefix_len;
        self.rare_mut().unclaimed.add(start, text, prefix_len);
        Ok(())
    }

    /// Accounts for text that comes when the parser reads no further.
    fn leave_unread(&mut self, text: &str) -> Result<(), ParseError> {
        let rare = self.rare();
        if let Some(error) = &rare.ended {
            return Err(error.clone());
        }
        let left = self.leave(self.position.max(rare.unclaimed.end()), text);
        self.rare_mut().ended = left.clone().err();
        left
    }

    fn check_held(&self, window: &Window<'_>) -> Result<(), ParseError> {
        let kept = self
            .position
            .saturating_sub(self.template.plan().lookbehind)
            .max(self.base);
        if window.end() - kept > self.options.limits.held_bytes {
            return Err(ParseError {
                hint: Some(
                    "let its pattern match less: one that can match any text holds all of it"
                        .to_owned(),
                ),
                ..self.limit(
                    window,
                    format!(
                        "more than {} bytes are held for a delimiter that may be under way",
                        self.options.limits.held_bytes
                    ),
                )
            });
        }
        Ok(())
    }

    /// The error of a limit that was reached in the open region.
    fn limit(&self, window: &Window<'_>, message: String) -> ParseError {
        let region = &self.region;
        let field = region.field.filter(|_| region.opened);
        let name = field.map(|field| self.template.fields()[field].name.to_string());
        let start = self.in_response(region.start);
        let end = self.in_response(region.end);
        ParseError {
            span: field.map(|_| start..end),
            raw: field.map(|_| region.text(window).into()),
            field: name,
            ..ParseError::new(ErrorKind::Limit, message)
        }
    }

    /// The fast path for the text that follows, when everything up to `hold` has been read.
    fn fast_path(&self, window: &Window<'_>, hold: usize) -> FastPath {
        if hold == window.end() {
            return self.passing();
        }
        let plan = self.template.plan();
        let field = self.region.field;
        if field.is_some_and(|field| self.strings(field, hold).is_some()) {
            return FastPath::Not;
        }
        let counting = plan.counting(self.region.field).iter();
        let bytes =
            counting.map(|&index| self.watches[index].waits_for(&plan.sought[index], window.end()));
        bytes
            .reduce(|all, bytes| Some(all?.union(&bytes?)))
            .flatten()
            .map_or(FastPath::Not, |bytes| FastPath::Holding(Box::new(bytes)))
    }

    /// The fast path for the text that follows where nothing is held.
    fn passing(&self) -> FastPath {
        let counts = |field| self.strings(field, self.position).is_some();
        if self.template.plan().lookbehind > 0 || self.region.field.is_some_and(counts) {
            FastPath::Not
        } else {
            FastPath::Passing
        }
    }

    fn in_response(&self, offset: usize) -> usize {
        offset.saturating_sub(self.prefix_len)
    }
}
