//! The state machine: regions open and close at delimiters, and their text becomes the message.

mod closing;
mod fast_path;
mod memory;
mod rare;
mod reading;

use std::sync::Arc;

use super::error::{ErrorKind, LimitKind, ParseError};
use super::leaked::{Leaked, Markers};
use super::listener::Listener;
use super::merge::is_empty;
use super::options::Options;
use super::region::Region;
use super::snapshot::{OpenRegion, Passed, Snapshot, Status, Usage};
use super::unclaimed::Unclaimed;
use super::unended::Unended;
use super::watch::Watch;
use crate::content::{JsonStrings, ToolSchemas};
use crate::response_template::ResponseTemplate;
use crate::value::Map;

use fast_path::FastPath;
use rare::Rare;

/// Text before the position is dropped once there is this much of it.
const TRIM_BYTES: usize = 4096;

type Sink<'s> = &'s mut dyn Listener;

/// The parser proper; see [`super::ResponseParser`].
#[derive(Debug, Clone)]
pub(super) struct Machine {
    template: Arc<ResponseTemplate>,
    tools: ToolSchemas,
    /// The message so far; `None` as long as it is the template's defaults.
    message: Option<Map>,
    /// The text from byte `base` on that is needed again: what may belong to a delimiter, and what one may look back at.
    buffer: String,
    base: usize,
    /// The offset up to which all text is accounted for.
    position: usize,
    /// How many bytes of the text belong to the prefix.
    prefix_len: usize,
    /// One watch for each delimiter of the template's plan; none before the first delimiter is looked for.
    watches: Vec<Watch>,
    region: Region,
    fast_path: FastPath,
    /// How many delimiters were read since the position last moved.
    idle: usize,
    options: Options,
    /// The part of the state that most parses do without.
    rare: Option<Box<Rare>>,
    /// How many regions were closed.
    closed: usize,
    /// True if a close without text met a region without text. The reference reads no further then, and neither does this parser.
    stalled: bool,
    finalized: bool,
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

    pub(super) fn unended(&self) -> Option<&Unended> {
        self.rare().unended.as_ref()
    }

    pub(super) fn unclaimed(&self) -> &[Unclaimed] {
        self.rare().unclaimed.stretches()
    }

    pub(super) fn take_unclaimed(&mut self) -> Vec<Unclaimed> {
        let rare = self.rare.as_mut();
        rare.map(|rare| rare.unclaimed.take()).unwrap_or_default()
    }

    pub(super) fn take_leaked(&mut self) -> Vec<Leaked> {
        let rare = self.rare.as_mut();
        rare.map(|rare| std::mem::take(&mut rare.leaked))
            .unwrap_or_default()
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
        // Text that arrives after the parser stopped reading is not kept, and so does not count.
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
        let rest = template.after_last_anchor(prefix).map_err(|error| {
            ParseError::new(ErrorKind::Limit(LimitKind::Steps), error.to_string())
        })?;
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
                        // If this reaches a limit, the next call returns that error.
                        let _ = self.leave_unread(text);
                    }
                    return Err(error);
                }
                return self.take(text, sink);
            }
        }
        Ok(())
    }

    /// Reads more text. It is read where it stands, without being copied into the buffer, if nothing before it is needed.
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
        // Text that will not be read is not kept.
        if self.is_reading() {
            buffer.push_str(text);
        }
        let result = self.run(&buffer, sink, false);
        self.buffer = self.trimmed(buffer);
        result
    }

    /// The buffer without the text that is not looked at again, if that is all of it or enough to be worth moving the rest.
    fn trimmed(&mut self, mut buffer: String) -> String {
        let excess = self.kept(&buffer) - self.base;
        if excess == buffer.len() {
            buffer.clear();
            self.base += excess;
        } else if excess >= TRIM_BYTES.max(buffer.len() / 2) {
            buffer.drain(..excess);
            self.base += excess;
        }
        buffer
    }

    fn is_reading(&self) -> bool {
        !self.stalled && self.rare().ended.is_none()
    }

    /// The error that the prefix ended in, if it has not been returned.
    fn take_deferred(&mut self) -> Option<ParseError> {
        self.rare.as_mut()?.deferred.take()
    }

    /// Returns the offset from which on the text may still be looked at. `text` begins at the offset `base`.
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

    fn in_response(&self, offset: usize) -> usize {
        offset.saturating_sub(self.prefix_len)
    }
}
