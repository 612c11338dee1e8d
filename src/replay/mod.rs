//! A parse, recorded: what happened at each step of it, so that going back is an index and not a rerun.
//!
//! A response of a quarter of a million chunks has as many steps, so a [`Step`] holds numbers only: how far the parse had come
//! in the lists of entries, regions and delimiters, which are recorded once for all steps.

mod recorder;
mod told;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use recorder::Recorder;
pub(crate) use told::Growths;

use crate::parser::{Edge, Limits, Options, ParseError, Status, Unclaimed, add_to_message};
use crate::pattern::Pattern;
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// A place in a parse: so many bytes of the response have arrived, and whether it is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    pub(crate) byte: usize,
    pub(crate) over: bool,
}

/// The record of one step: after the prefix, after each chunk, and after the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The bytes of the response that had arrived, and those that the parser was given: whole characters.
    arrived: u32,
    fed: u32,
    /// Up to where the text was accounted for.
    position: u32,
    /// How much there was of each list.
    entries: u32,
    closed: u32,
    watches: u32,
    /// How many bytes of text no field took.
    lost: u32,
    /// How many markers were found in the text of regions.
    leaked: u32,
    /// The open region, counted from one.
    open: u32,
    /// How much of the message's growth had been told.
    told: told::Mark,
    status: Status,
}

/// One line of the list of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: EntryKind,
    /// The region that it speaks of; for one that speaks of none, the number of regions before it.
    pub(crate) region: usize,
    /// Its text: of a delimiter, of the region's text, or of the whole region.
    pub(crate) span: Range<usize>,
    /// The steps at which it first and last happened; a text grows from step to step.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EntryKind {
    Open,
    /// All the text of a region, however many events brought it.
    Text,
    Close,
    /// The region did not parse.
    Error,
    /// A close delimiter where no region was open: no event tells of it.
    Stray,
    /// Text that no field takes, and that is not white space alone: no event tells of it.
    Unclaimed,
    /// The parse ended: a limit, or a required field that is missing.
    Failure,
}

/// A stretch of text that was given to a field.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    pub(crate) field: usize,
    /// Its opening delimiter; the implicit field has none.
    pub(crate) open: Option<Range<usize>>,
    pub(crate) text: Range<usize>,
    pub(crate) close: Option<Range<usize>>,
    pub(crate) captures: Map,
    pub(crate) value: Option<Value>,
    pub(crate) error: Option<ParseError>,
    /// The region whose value was replaced by this one's.
    pub(crate) replaces: Option<usize>,
}

/// The state of a delimiter that was under way at a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watch {
    pub(crate) field: usize,
    pub(crate) side: Edge,
    /// The bytes that may be it, or that it matched.
    pub(crate) span: Range<usize>,
    pub(crate) matched: bool,
    pub(crate) reason: &'static str,
}

/// How many messages are kept, from which those of other steps are built.
const CHECKPOINTS: usize = 32;

/// A parse, recorded. Places in it are byte offsets into [`Timeline::text`].
#[derive(Debug)]
pub(crate) struct Timeline {
    template: Arc<ResponseTemplate>,
    limits: Limits,
    text: String,
    prefix: usize,
    steps: Vec<Step>,
    entries: Vec<Entry>,
    regions: Vec<Region>,
    delimiters: Vec<(Range<usize>, usize, Edge)>,
    watches: Vec<Watch>,
    /// The text of the response that is in no field of the message.
    unclaimed: Vec<Unclaimed>,
    /// Where markers stand in the text of regions, in its order.
    leaked: Vec<Range<usize>>,
    told: told::Told,
    /// Why the parse failed as a whole.
    failure: Option<ParseError>,
    /// Messages that are kept, each with the number of regions behind which it stood.
    checkpoints: Vec<(usize, Map)>,
    apart: usize,
    message: Map,
}

impl Timeline {
    /// Records the parse of a response that arrives in chunks that end at `ends`.
    pub(crate) fn record(
        template: &Arc<ResponseTemplate>,
        prefix: &str,
        tools: &[Value],
        options: Options,
        response: &str,
        ends: &[usize],
    ) -> Self {
        let mut recorder = Recorder::new(template, prefix, tools, options);
        for &end in ends {
            recorder.feed_to(response, end);
        }
        recorder.finish();
        recorder.into_timeline()
    }

    pub(crate) fn template(&self) -> &ResponseTemplate {
        &self.template
    }

    /// The limits of the parse.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// The parsed text: what the prefix leaves after its anchor, then the response.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How much of the text is the prefix's.
    pub(crate) fn prefix(&self) -> usize {
        self.prefix
    }

    /// How many steps there are; the first is the one before any chunk.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn place(&self, step: usize) -> Arrival {
        let step = &self.steps[step];
        Arrival {
            byte: step.arrived as usize,
            over: step.status == Status::Finalized,
        }
    }

    /// The step at the place; `Err` with the last one before it when there is none.
    pub(crate) fn step_at(&self, place: Arrival) -> Result<usize, usize> {
        let after = partition(self.steps.len(), |step| self.place(step) <= place);
        let step = after.saturating_sub(1);
        if self.place(step) == place {
            Ok(step)
        } else {
            Err(step)
        }
    }

    /// The moment of a step, with all that can be seen at it.
    pub(crate) fn at(&self, step: usize) -> Moment<'_> {
        Moment {
            timeline: self,
            number: step,
            step: self.steps[step],
        }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// For each step of the message's growth the place at which the last piece of it is told.
    pub(crate) fn told_places(&self) -> impl Iterator<Item = Arrival> {
        self.told.last().iter().map(|step| self.place(*step))
    }

    pub(crate) fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The text of the response that is in no field of the message, white space alone left out; places count from where the response begins.
    pub(crate) fn unclaimed(&self) -> impl Iterator<Item = &Unclaimed> {
        self.unclaimed.iter().filter(|lost| !lost.is_white_space())
    }

    pub(crate) fn failure(&self) -> Option<&ParseError> {
        self.failure.as_ref()
    }

    pub(crate) fn field_name(&self, field: usize) -> &str {
        &self.template.fields()[field].name
    }

    /// The name of the field that an entry speaks of.
    pub(crate) fn entry_field(&self, entry: &Entry) -> Option<usize> {
        match entry.kind {
            EntryKind::Failure | EntryKind::Unclaimed => None,
            EntryKind::Stray => self.template.implicit(),
            _ => self.regions.get(entry.region).map(|region| region.field),
        }
    }

    /// The region whose text or delimiters have the byte.
    pub(crate) fn region_at(&self, byte: usize) -> Option<usize> {
        let begin = |region: &Region| {
            region
                .open
                .as_ref()
                .map_or(region.text.start, |open| open.start)
        };
        let after = self.regions.partition_point(|region| begin(region) <= byte);
        let index = after.checked_sub(1)?;
        let region = &self.regions[index];
        let end = region
            .close
            .as_ref()
            .map_or(region.text.end, |close| close.end);
        (byte < end.max(region.text.end)).then_some(index)
    }

    /// The delimiter that has the byte: its span, its field and its side.
    pub(crate) fn delimiter_at(&self, byte: usize) -> Option<&(Range<usize>, usize, Edge)> {
        let after = self
            .delimiters
            .partition_point(|(span, ..)| span.start <= byte);
        let mut before = self.delimiters[..after].iter().rev();
        before.next().filter(|(span, ..)| byte < span.end)
    }

    /// Adds the value of a region to a message, as the parser does when the region is closed.
    pub(crate) fn add(&self, message: &mut Map, region: &Region) {
        add(message, &self.template, region);
    }

    fn message_after(&self, closed: usize) -> Map {
        let kept = self
            .checkpoints
            .partition_point(|(regions, _)| *regions <= closed);
        let (from, mut message) = match kept.checked_sub(1) {
            Some(index) => self.checkpoints[index].clone(),
            None => (0, self.template.defaults().clone()),
        };
        for region in &self.regions[from..closed.min(self.regions.len())] {
            add(&mut message, &self.template, region);
        }
        message
    }
}

/// One step of a [`Timeline`], to be looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'t> {
    pub(crate) timeline: &'t Timeline,
    pub(crate) number: usize,
    step: Step,
}

impl<'t> Moment<'t> {
    /// Up to where the text has arrived, and the parser has been given it.
    pub(crate) fn fed(&self) -> usize {
        self.timeline.prefix + self.step.fed as usize
    }

    /// Bytes of a character whose rest has not arrived.
    pub(crate) fn partial_character(&self) -> usize {
        (self.step.arrived - self.step.fed) as usize
    }

    /// Up to where the text is accounted for.
    pub(crate) fn position(&self) -> usize {
        self.step.position as usize
    }

    /// The text that is held.
    pub(crate) fn held(&self) -> Range<usize> {
        match self.step.status {
            Status::Reading => self.position()..self.fed().max(self.position()),
            _ => self.position()..self.position(),
        }
    }

    pub(crate) fn status(&self) -> Status {
        self.step.status
    }

    /// The growth that the clients of a server would have been told.
    pub(crate) fn told(&self) -> Growths<'t> {
        self.timeline.told.until(self.step.told)
    }

    /// The entries that have happened.
    pub(crate) fn entries(&self) -> &'t [Entry] {
        &self.timeline.entries[..self.step.entries as usize]
    }

    /// Up to where the text of entries has happened.
    pub(crate) fn told_until(&self) -> usize {
        // Behind a close at which a parser stalls, text goes nowhere as soon as it is there.
        match self.step.status {
            Status::Reading | Status::Ended => self.position(),
            Status::Stalled | Status::Finalized => self.fed(),
        }
    }

    /// How much of an entry's text has happened.
    pub(crate) fn span_of(&self, entry: &Entry) -> Range<usize> {
        let until = self.told_until();
        entry.span.start..entry.span.end.min(until).max(entry.span.start)
    }

    /// How many bytes of text no field took, white space alone left out.
    pub(crate) fn unclaimed(&self) -> usize {
        self.step.lost as usize
    }

    /// Where markers stand in the text of regions that have ended.
    pub(crate) fn leaked(&self) -> &'t [Range<usize>] {
        &self.timeline.leaked[..self.step.leaked as usize]
    }

    pub(crate) fn open(&self) -> Option<&'t Region> {
        self.timeline.regions.get(self.open_index()?)
    }

    /// The place of the open region among the regions.
    pub(crate) fn open_index(&self) -> Option<usize> {
        (self.step.open as usize).checked_sub(1)
    }

    /// The text of the open region so far.
    pub(crate) fn open_text(&self) -> Option<&'t str> {
        let start = self.open()?.text.start;
        self.timeline.text.get(start..self.position().max(start))
    }

    pub(crate) fn closed(&self) -> usize {
        self.step.closed as usize
    }

    /// The delimiters that were under way.
    pub(crate) fn watches(&self) -> &'t [Watch] {
        let from = match self.number.checked_sub(1) {
            Some(before) => self.timeline.steps[before].watches as usize,
            None => 0,
        };
        &self.timeline.watches[from..self.step.watches as usize]
    }

    /// The delimiters that count: in the region of an explicit field its close, elsewhere all that open a region and the
    /// implicit field's close.
    pub(crate) fn watched(&self) -> Vec<(usize, Edge, &'t Pattern)> {
        let template = &self.timeline.template;
        let explicit = self
            .open()
            .map(|region| region.field)
            .filter(|field| template.implicit() != Some(*field));
        let fields = template.fields().iter().enumerate();
        match explicit {
            Some(only) => {
                let close = template.fields()[only].close.as_ref();
                close
                    .map(|close| (only, Edge::Close, close))
                    .into_iter()
                    .collect()
            }
            None => fields
                .flat_map(|(index, field)| {
                    let is_implicit = template.implicit() == Some(index);
                    let open = field.open.as_ref().map(|open| (index, Edge::Open, open));
                    let close = field.close.as_ref().filter(|_| is_implicit);
                    open.into_iter()
                        .chain(close.map(|close| (index, Edge::Close, close)))
                })
                .collect(),
        }
    }

    /// The message parsed so far.
    pub(crate) fn message(&self) -> Map {
        if self.number + 1 == self.timeline.steps.len() && self.step.status == Status::Finalized {
            return self.timeline.message.clone();
        }
        self.timeline.message_after(self.closed())
    }
}

/// A delimiter as a response template has it, for people.
pub(crate) fn spelled(pattern: &Pattern) -> String {
    let literals = pattern.quoted_literals();
    literals.unwrap_or_else(|| format!("/{}/", pattern.source()))
}

/// Adds a region's value to the message, if it has one. Where it cannot be added, that was recorded as the region's error.
fn add(message: &mut Map, template: &ResponseTemplate, region: &Region) {
    if let (Some(value), Some(field)) = (&region.value, template.fields().get(region.field)) {
        let _ = add_to_message(message, field, value.clone());
    }
}

/// Places are kept in four bytes. A place beyond what they count is shown as the last one.
fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Returns the first number below `end` for which `holds` is false. It has to be false for all numbers behind that one, too.
fn partition(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
