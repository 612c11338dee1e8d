//! Recording: the parser is fed, and what it reports becomes a timeline.
//!
//! Events say what happened but not where; the parser's delimiters say where. Both come in the order in which they were
//! read, so that walking along the two gives each event its place.

use std::ops::Range;
use std::sync::Arc;

use super::told::Told;
use super::{CHECKPOINTS, Entry, EntryKind, Region, Step, Timeline, Watch, add, number};
use crate::deltas::{self, DeltaParser, DeltaTemplate};
use crate::parser::{
    Edge, Event, Markers, OnError, Options, ParseError, Passed, ResponseParser, Status, Waiting,
};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, python};

/// An event without its field, which is known from the place.
#[derive(Debug)]
enum RecordedEvent {
    Open(usize),
    Text(usize),
    Close(Value),
    Error(ParseError),
}

/// A parse that is being recorded.
#[derive(Debug)]
pub(crate) struct Recorder {
    timeline: Timeline,
    /// `None` once nothing more can be fed.
    parser: Option<DeltaParser>,
    /// How much of the response has arrived.
    arrived: usize,
    /// The offset up to which events have been given their places.
    at: usize,
    /// White space before that offset that no field took.
    blank: Range<usize>,
    /// The bytes of text that no field took.
    lost: usize,
    /// The open region.
    open: Option<usize>,
    /// For each field the last region that gave it a value.
    filled: Vec<Option<usize>>,
    /// The message as the regions make it.
    message: Map,
    events: Vec<RecordedEvent>,
}

impl Recorder {
    /// Begins with the prefix; of the options those count that change what is parsed.
    pub(crate) fn new(
        template: &Arc<ResponseTemplate>,
        prefix: &str,
        tools: &[Value],
        options: Options,
    ) -> Self {
        let options = Options {
            on_error: OnError::Keep,
            keep_delimiters: true,
            ..options
        };
        let rest = template.after_last_anchor(prefix).unwrap_or_default();
        let timeline = Timeline {
            template: Arc::clone(template),
            limits: options.limits,
            text: rest.to_owned(),
            prefix: rest.len(),
            steps: Vec::new(),
            entries: Vec::new(),
            regions: Vec::new(),
            delimiters: Vec::new(),
            watches: Vec::new(),
            unclaimed: Vec::new(),
            leaked: Vec::new(),
            told: Told::default(),
            failure: None,
            checkpoints: Vec::new(),
            apart: 64,
            message: Map::new(),
        };
        let mut recorder = Self {
            timeline,
            parser: None,
            arrived: 0,
            at: 0,
            blank: 0..0,
            lost: 0,
            open: None,
            filled: vec![None; template.fields().len()],
            message: template.defaults().clone(),
            events: Vec::new(),
        };
        let deltas = DeltaTemplate::new(Arc::clone(template));
        let options = deltas::Options {
            parser: options,
            ..deltas::Options::default()
        };
        match DeltaParser::with_options(deltas, prefix, tools, options) {
            Ok(mut parser) => {
                parser.find_leaked(Markers::of(template));
                for event in parser.initial_events() {
                    recorder.events.extend(recorded(template, event));
                }
                for growth in parser.initial_growth() {
                    recorder.timeline.told.push(growth.clone(), 0);
                }
                recorder.parser = Some(parser);
                recorder.note(false);
            }
            Err(error) => {
                recorder.note(false);
                recorder.fail(error);
            }
        }
        recorder
    }

    pub(crate) fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    pub(crate) fn into_timeline(self) -> Timeline {
        self.timeline
    }

    /// Feeds the chunk of `response` that ends at the byte `end`. Of a character that is cut nothing is fed before all of it is
    /// there.
    pub(crate) fn feed_to(&mut self, response: &str, end: usize) {
        let from = self.timeline.text.len() - self.timeline.prefix;
        let mut to = end.min(response.len());
        self.arrived = to;
        while !response.is_char_boundary(to) {
            to -= 1;
        }
        let chunk = response.get(from..to).unwrap_or_default();
        self.timeline.text.push_str(chunk);
        let template = Arc::clone(&self.timeline.template);
        let step = self.timeline.steps.len();
        let (events, told) = (&mut self.events, &mut self.timeline.told);
        let fed = match &mut self.parser {
            Some(parser) => parser.feed_steps(chunk, &mut |one| match one {
                deltas::Step::Event(event) => events.extend(recorded(&template, &event)),
                deltas::Step::Growth(growth) => told.push(growth, step),
            }),
            None => Ok(()),
        };
        self.note(false);
        if let Err(error) = fed {
            self.fail(error);
        }
    }

    /// Ends the response.
    pub(crate) fn finish(&mut self) {
        let template = Arc::clone(&self.timeline.template);
        let step = self.timeline.steps.len();
        let (events, told) = (&mut self.events, &mut self.timeline.told);
        let ended = match &mut self.parser {
            Some(parser) => parser.finalize_steps(&mut |one| match one {
                deltas::Step::Event(event) => events.extend(recorded(&template, &event)),
                deltas::Step::Growth(growth) => told.push(growth, step),
            }),
            None => Ok(()),
        };
        self.note(true);
        match ended {
            Ok(()) => {
                let parsed = self.parser.as_ref().map(DeltaParser::parser);
                let parsed = parsed.map(ResponseParser::message);
                self.timeline.message = parsed.unwrap_or(&self.message).clone();
            }
            Err(error) => {
                self.timeline.message = self.message.clone();
                self.fail(error);
            }
        }
    }

    /// Ends the recording with an error of the parse as a whole. It belongs to the step at which it happened.
    fn fail(&mut self, error: ParseError) {
        self.parser = None;
        let timeline = &mut self.timeline;
        timeline.failure = Some(error);
        let step = timeline.steps.len() - 1;
        timeline.entries.push(Entry {
            kind: EntryKind::Failure,
            region: timeline.regions.len(),
            span: self.at..self.at,
            first: step,
            last: step,
        });
        if let Some(last) = timeline.steps.last_mut() {
            last.entries += 1;
        }
    }

    /// Records a step: the events since the last one, and what the parser is doing.
    fn note(&mut self, over: bool) {
        let passed = match &mut self.parser {
            Some(parser) => parser.take_delimiters(),
            None => Vec::new(),
        };
        let events = std::mem::take(&mut self.events);
        let (position, until) = match &self.parser {
            Some(parser) => {
                let snapshot = parser.parser().snapshot();
                let until = match snapshot.status {
                    Status::Reading | Status::Ended => snapshot.position,
                    // Text that is not read is taken by no field.
                    Status::Stalled | Status::Finalized => self.timeline.text.len(),
                };
                (snapshot.position, until)
            }
            None => (self.at, self.at),
        };
        self.events = self.walk(events, passed, until);
        let mut status = if over {
            Status::Finalized
        } else {
            Status::Ended
        };
        if let Some(parser) = self.parser.as_ref().map(DeltaParser::parser) {
            // The last stretch may have grown.
            let known = &mut self.timeline.unclaimed;
            known.pop();
            let all = parser.unclaimed();
            known.extend(all[known.len().min(all.len())..].iter().cloned());
            let prefix = self.timeline.prefix;
            let told = &mut self.timeline.leaked;
            let new = parser.leaked()[told.len()..].iter();
            told.extend(new.map(|leaked| leaked.span.start + prefix..leaked.span.end + prefix));
            let snapshot = parser.snapshot();
            if !over {
                status = snapshot.status;
            }
            if let (Some(open), Some(region)) = (self.open, &snapshot.region)
                && !region.captures.is_empty()
            {
                self.timeline.regions[open]
                    .captures
                    .clone_from(region.captures);
            }
            for watched in &snapshot.watched {
                let Some(reason) = watched.reason() else {
                    continue;
                };
                let (span, matched) = match &watched.waiting {
                    Waiting::Nothing => continue,
                    Waiting::UnderWay { from } => (*from..snapshot.fed, false),
                    Waiting::Matched { span, .. } => (span.clone(), true),
                };
                self.timeline.watches.push(Watch {
                    field: watched.field,
                    side: watched.side,
                    span,
                    matched,
                    reason,
                });
            }
        }
        let timeline = &mut self.timeline;
        let regions = timeline.regions.len();
        timeline.steps.push(Step {
            arrived: number(self.arrived),
            fed: number(timeline.text.len() - timeline.prefix),
            position: number(position),
            entries: number(timeline.entries.len()),
            closed: number(regions - usize::from(self.open.is_some())),
            watches: number(timeline.watches.len()),
            lost: number(self.lost),
            leaked: number(timeline.leaked.len()),
            open: number(self.open.map_or(0, |open| open + 1)),
            told: timeline.told.mark(),
            status,
        });
    }

    /// Gives events their places, all of which lie before `until`. Returns the emptied list, for its memory.
    fn walk(
        &mut self,
        mut events: Vec<RecordedEvent>,
        passed: Vec<Passed>,
        until: usize,
    ) -> Vec<RecordedEvent> {
        let step = self.timeline.steps.len();
        let mut rest = events.drain(..).peekable();
        for Passed { field, side, span } in passed {
            self.text(&mut rest, span.start, step);
            self.skip(span.start, step);
            let ended = rest.next_if(|event| {
                matches!(event, RecordedEvent::Close(_) | RecordedEvent::Error(_))
            });
            match ended {
                Some(ended) => {
                    let close = (side == Edge::Close).then(|| span.clone());
                    self.close(ended, close, step);
                }
                None if side == Edge::Close => {
                    self.push(
                        EntryKind::Stray,
                        self.timeline.regions.len(),
                        span.clone(),
                        step,
                    );
                }
                None => {}
            }
            self.timeline.delimiters.push((span.clone(), field, side));
            self.at = span.end;
            if side == Edge::Open
                && rest
                    .next_if(|event| matches!(event, RecordedEvent::Open(_)))
                    .is_some()
            {
                self.open(field, Some(span), step);
            }
        }
        self.text(&mut rest, usize::MAX, step);
        // The end of the response closes without a delimiter.
        if let Some(ended) = rest.next() {
            self.close(ended, None, step);
        }
        drop(rest);
        if self.open.is_none() {
            self.skip(until, step);
        }
        self.at = self.at.max(until);
        events
    }

    /// Passes over text up to `until` of which no event told: no field took it. White space alone is no entry.
    fn skip(&mut self, until: usize, step: usize) {
        let from = self.at;
        if until <= from {
            return;
        }
        self.at = until;
        if let Some(entry) = self.timeline.entries.last_mut()
            && entry.kind == EntryKind::Unclaimed
            && entry.span.end == from
        {
            entry.span.end = until;
            entry.last = step;
            self.lost += until - from;
            return;
        }
        let start = match self.blank.end == from {
            true => self.blank.start,
            false => from,
        };
        let text = self.timeline.text.get(start..until).unwrap_or_default();
        if text.chars().all(python::is_space) {
            self.blank = start..until;
            return;
        }
        self.lost += until - start;
        let regions = self.timeline.regions.len();
        self.push(EntryKind::Unclaimed, regions, start..until, step);
    }

    /// Reads text of the open region up to the next delimiter, which may be the one that opens the implicit field. Events behind that
    /// delimiter are left, since two delimiters may stand side by side.
    fn text(
        &mut self,
        rest: &mut std::iter::Peekable<std::vec::Drain<'_, RecordedEvent>>,
        until: usize,
        step: usize,
    ) {
        while self.at < until {
            match rest.peek() {
                Some(RecordedEvent::Open(field)) if self.open.is_none() => {
                    // The region of an explicit field opens behind its delimiter. Only that of the implicit field opens with a text.
                    if Some(*field) != self.timeline.template.implicit() {
                        return;
                    }
                    let field = *field;
                    rest.next();
                    self.open(field, None, step);
                }
                Some(RecordedEvent::Text(length)) => {
                    let length = *length;
                    rest.next();
                    self.extend(length, step);
                }
                _ => return,
            }
        }
    }

    fn open(&mut self, field: usize, open: Option<Range<usize>>, step: usize) {
        let index = self.timeline.regions.len();
        let span = open.clone().unwrap_or(self.at..self.at);
        self.timeline.regions.push(Region {
            field,
            open,
            text: self.at..self.at,
            close: None,
            captures: Map::new(),
            value: None,
            error: None,
            replaces: None,
        });
        self.open = Some(index);
        self.push(EntryKind::Open, index, span, step);
    }

    fn extend(&mut self, length: usize, step: usize) {
        let from = self.at;
        self.at += length;
        let Some(index) = self.open else {
            return;
        };
        self.timeline.regions[index].text.end = self.at;
        match self.timeline.entries.last_mut() {
            Some(entry) if entry.kind == EntryKind::Text && entry.region == index => {
                entry.span.end = self.at;
                entry.last = step;
            }
            _ => self.push(EntryKind::Text, index, from..self.at, step),
        }
    }

    fn close(&mut self, ended: RecordedEvent, close: Option<Range<usize>>, step: usize) {
        let Some(index) = self.open.take() else {
            return;
        };
        let timeline = &mut self.timeline;
        let template = &timeline.template;
        let region = &mut timeline.regions[index];
        region.close.clone_from(&close);
        let span = close.unwrap_or(region.text.end..region.text.end);
        let kind = match ended {
            RecordedEvent::Error(error) => {
                region.error = Some(error);
                EntryKind::Error
            }
            RecordedEvent::Close(value) => {
                region.value = Some(value);
                let field = &template.fields()[region.field];
                let before = self.filled[region.field].replace(index);
                if !field.repeats && field.join.is_none() {
                    region.replaces = before;
                }
                EntryKind::Close
            }
            RecordedEvent::Open(_) | RecordedEvent::Text(_) => return,
        };
        add(&mut self.message, template, region);
        self.push(kind, index, span, step);
        self.checkpoint(index + 1);
    }

    /// Keeps the message now and then. When too many are kept, every second one is dropped, and from then on they are kept half as often.
    fn checkpoint(&mut self, closed: usize) {
        let timeline = &mut self.timeline;
        if !closed.is_multiple_of(timeline.apart) {
            return;
        }
        timeline.checkpoints.push((closed, self.message.clone()));
        if timeline.checkpoints.len() > CHECKPOINTS {
            timeline.apart *= 2;
            let apart = timeline.apart;
            timeline
                .checkpoints
                .retain(|(closed, _)| closed.is_multiple_of(apart));
        }
    }

    fn push(&mut self, kind: EntryKind, region: usize, span: Range<usize>, step: usize) {
        self.timeline.entries.push(Entry {
            kind,
            region,
            span,
            first: step,
            last: step,
        });
    }
}

fn recorded(template: &ResponseTemplate, event: &Event<'_>) -> Option<RecordedEvent> {
    Some(match event {
        Event::RegionOpen { field } => {
            let mut fields = template.fields().iter();
            RecordedEvent::Open(fields.position(|known| known.name == **field)?)
        }
        Event::RegionChunk { text, .. } => RecordedEvent::Text(text.len()),
        Event::RegionClose { value, .. } => RecordedEvent::Close(value.as_ref().clone()),
        Event::RegionError { error, .. } => RecordedEvent::Error(error.as_ref().as_ref().clone()),
    })
}
