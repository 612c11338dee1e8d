//! Running a sequence.

use std::ops::Range;

use memchr::memmem::Finder;

use super::build::{Anchor, Pad, Sequence, Step, Trimmed};
use crate::pattern::bytes::ByteSet;
use crate::pattern::text::{CharSet, Window};

/// The state of a search after the text at hand was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scanned {
    /// The first match.
    Found(Range<usize>),
    /// None begins before this byte offset.
    Hold(usize),
    /// None begins before this byte offset, and the steps do not decide what comes there: the pattern's engine goes on.
    Leave(usize),
}

/// A search under way.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    from: usize,
    /// Up to where the text has been read.
    at: usize,
    /// The try under way.
    attempt: Option<Attempt>,
    /// Where the run that ends at `at` begins, for a sequence that begins with one.
    run_start: usize,
    /// The groups and choices, boxed since only some sequences have them: a search is made for each delimiter of each region, and should be small.
    marks: Option<Box<Marks>>,
    /// Bytes that were read by tries that failed.
    wasted: usize,
}

#[derive(Debug, Clone, Copy)]
struct Attempt {
    start: usize,
    /// Where the next start may be if this one fails.
    next: usize,
    step: usize,
    /// How many characters of a run were read, or up to where an open end was searched.
    progress: usize,
    /// Where the step began.
    entered: usize,
    /// Where the match ends, once the steps that follow are only looked for.
    end: Option<usize>,
}

/// The positions of groups and the choices that are open.
#[derive(Debug, Clone, Default)]
struct Marks {
    groups: Vec<(usize, usize)>,
    /// The choices under way, the innermost last.
    choices: Vec<Chosen>,
    /// How many choices the try has settled: another alternative might have led on as well.
    settled: usize,
}

/// A choice under way.
#[derive(Debug, Clone)]
struct Chosen {
    /// The number of its step, and which of its alternatives is tried.
    step: usize,
    alternative: usize,
    /// Where it began, and with how many choices settled.
    at: usize,
    settled: usize,
}

/// How a step, or the try, ended.
enum Outcome {
    Done,
    NotArrived,
    Fails,
    /// Another way to take the steps before might have led on.
    Undecided,
    /// This try does not match, nor does any later one.
    Never,
}

/// Bytes that failing tries may read before the engine takes over.
const FREE_WASTE: usize = 4096;

/// Below this length a search for the first byte is faster.
const SHORT: usize = 32;

impl Progress {
    pub(crate) fn new(sequence: &Sequence, from: usize) -> Self {
        Self {
            from,
            at: from,
            attempt: None,
            run_start: from,
            marks: sequence.has_marks.then(|| {
                Box::new(Marks {
                    groups: vec![(0, 0); sequence.groups],
                    ..Marks::default()
                })
            }),
            wasted: 0,
        }
    }

    /// Begins again.
    pub(crate) fn restart(&mut self, from: usize) {
        self.from = from;
        self.at = from;
        self.attempt = None;
        self.run_start = from;
        self.wasted = 0;
    }

    /// The span of a group, after a match.
    pub(crate) fn group(&self, number: usize) -> Range<usize> {
        let marks = self.marks.as_ref();
        let (start, end) = marks.map_or((0, 0), |marks| marks.groups[number]);
        start..end
    }

    /// Returns the bytes of which one has to come before the try that is held does anything but go on waiting; `None` where they are not
    /// known.
    pub(crate) fn waits_for(&self, sequence: &Sequence) -> Option<ByteSet> {
        match sequence.steps.get(self.attempt?.step)? {
            Step::Until { literal, .. } | Step::Ahead(literal) => {
                literal.needle().last().copied().map(ByteSet::from)
            }
            _ => None,
        }
    }

    /// Goes on with what has arrived.
    pub(crate) fn scan(&mut self, sequence: &Sequence, window: &Window<'_>) -> Scanned {
        if let ([Step::Literal(literal)], None) = (&sequence.steps[..], self.attempt) {
            let text = &window.text.as_bytes()[self.at - window.start..];
            let start = self.at + find(literal, text, window.complete).unwrap_or(text.len());
            let end = start + literal.needle().len();
            if end <= window.end() {
                self.at = end;
                return Scanned::Found(start..end);
            }
            self.at = start;
            if start == window.end() {
                return Scanned::Hold(start);
            }
        }
        self.scan_steps(sequence, window)
    }

    // Most patterns are one literal. The code for all others is not inlined, so that the search for a literal stays small.
    #[inline(never)]
    fn scan_steps(&mut self, sequence: &Sequence, window: &Window<'_>) -> Scanned {
        loop {
            let Some(mut attempt) = self.attempt.or_else(|| self.start(sequence, window)) else {
                return Scanned::Hold(self.hold(sequence, window));
            };
            let outcome = loop {
                let Some(step) = sequence.steps.get(attempt.step) else {
                    break Outcome::Done;
                };
                match self.take(step, &mut attempt, window) {
                    Outcome::Done => {
                        let next = attempt.step + 1;
                        self.enter(sequence, &mut attempt, next);
                    }
                    Outcome::Fails => match self.go_another_way(sequence, &mut attempt) {
                        Outcome::Done => {}
                        other => break other,
                    },
                    other => break other,
                }
            };
            match outcome {
                Outcome::Done => {
                    self.at = attempt.end.unwrap_or(self.at);
                    return Scanned::Found(attempt.start..self.at);
                }
                Outcome::NotArrived => {
                    self.attempt = Some(attempt);
                    return Scanned::Hold(attempt.start);
                }
                Outcome::Undecided => return Scanned::Leave(attempt.start),
                Outcome::Never => return Scanned::Hold(window.end()),
                Outcome::Fails => {
                    self.wasted += self.at.saturating_sub(attempt.next);
                    self.attempt = None;
                    // A step behind one that was not forced to end where it did.
                    let open = sequence.steps[..attempt.step]
                        .iter()
                        .any(|step| matches!(step, Step::Until { .. }));
                    let settled = self.marks.as_ref().map_or(0, |marks| marks.settled);
                    if open || settled > 0 {
                        return Scanned::Leave(attempt.start);
                    }
                    if self.wasted > FREE_WASTE + 2 * (self.at - self.from) {
                        return Scanned::Leave(attempt.next);
                    }
                    self.at = attempt.next;
                    self.run_start = attempt.next;
                }
            }
        }
    }

    /// Goes on with a step, or behind the choices that it ends.
    fn enter(&mut self, sequence: &Sequence, attempt: &mut Attempt, mut step: usize) {
        if let Some(marks) = &mut self.marks {
            while let Some(chosen) = marks.choices.last()
                && let Step::Choice {
                    alternatives, end, ..
                } = &sequence.steps[chosen.step]
                && step == *alternatives.get(chosen.alternative + 1).unwrap_or(end)
            {
                marks.settled += 1;
                step = *end;
                marks.choices.pop();
            }
        }
        attempt.step = step;
        attempt.progress = 0;
        attempt.entered = self.at;
    }

    /// Goes back to the innermost choice that has another alternative, after a step that failed.
    fn go_another_way(&mut self, sequence: &Sequence, attempt: &mut Attempt) -> Outcome {
        while let Some(marks) = &mut self.marks
            && let Some(mut chosen) = marks.choices.pop()
            && let Step::Choice {
                alternatives,
                end,
                optional,
            } = &sequence.steps[chosen.step]
        {
            if marks.settled > chosen.settled {
                return Outcome::Undecided;
            }
            self.at = chosen.at;
            chosen.alternative += 1;
            let next = alternatives.get(chosen.alternative);
            if next.is_some() {
                marks.choices.push(chosen);
            }
            if let Some(step) = next.or(optional.then_some(end)) {
                self.enter(sequence, attempt, *step);
                return Outcome::Done;
            }
        }
        Outcome::Fails
    }

    /// The next place where a match may begin; what lies before it is read.
    fn start(&mut self, sequence: &Sequence, window: &Window<'_>) -> Option<Attempt> {
        let text = window.text.as_bytes();
        let begin = |start, next| Attempt {
            start,
            next,
            step: 0,
            progress: 0,
            entered: start,
            end: None,
        };
        if let Some(marks) = &mut self.marks {
            marks.choices.clear();
            marks.settled = 0;
        }
        let Some(Anchor { literal, lead }) = &sequence.anchor else {
            // Without an anchor every place is as good as the first, and a match that fails at the first for lack of text fails at all others.
            return Some(begin(self.at, self.at));
        };
        loop {
            let from = self.at - window.start;
            let found = find(literal, &text[from..], window.complete);
            let place = self.at + found.unwrap_or(text.len() - from);
            let Some(lead) = lead else {
                self.at = place;
                return found.map(|_| begin(place, place + 1));
            };
            let (start, count) = self.lead(window, lead, place);
            self.run_start = start;
            self.at = place;
            found?;
            if count < lead.min {
                self.at += 1;
                self.run_start = self.at;
                continue;
            }
            self.at = start;
            return Some(begin(start, place + 1));
        }
    }

    /// The run that ends at `end`: where it begins, and how many they are.
    fn lead(&self, window: &Window<'_>, lead: &Pad, end: usize) -> (usize, u32) {
        let Pad { set, max, .. } = lead;
        let max = *max;
        let mut start = end;
        let mut count = 0;
        while start > self.at.min(end) && count < max {
            match window.before(start).filter(|c| set.contains(*c)) {
                Some(c) => (start, count) = (start - c.len_utf8(), count + 1),
                None => return (start, count),
            }
        }
        // What was read before ends in a run, too, whose length is of no interest unless it is limited.
        while start > self.run_start && count < max {
            if max == u32::MAX {
                // The run has one more character at least, and no more are asked for.
                return (self.run_start, max);
            }
            let Some(c) = window.before(start) else { break };
            (start, count) = (start - c.len_utf8(), count + 1);
        }
        (start, count)
    }

    /// Where a match may begin in what has been read.
    fn hold(&self, sequence: &Sequence, window: &Window<'_>) -> usize {
        if window.complete {
            return window.end();
        }
        let lead = sequence.anchor.as_ref().and_then(|it| it.lead.as_ref());
        if lead.is_some() {
            self.run_start
        } else {
            self.at
        }
    }

    fn take(&mut self, step: &Step, attempt: &mut Attempt, window: &Window<'_>) -> Outcome {
        let text = window.text.as_bytes();
        let rest = &text[self.at - window.start..];
        match step {
            Step::Literal(finder) => {
                let wanted = &finder.needle()[attempt.progress..];
                let length = wanted.len().min(rest.len());
                if rest[..length] != wanted[..length] {
                    return Outcome::Fails;
                }
                self.at += length;
                attempt.progress += length;
                if length == wanted.len() {
                    Outcome::Done
                } else if window.complete {
                    Outcome::Fails
                } else {
                    Outcome::NotArrived
                }
            }
            Step::OneOf(literals) => {
                let begins = |literal: &&str| {
                    let length = literal.len().min(rest.len());
                    rest[..length] == literal.as_bytes()[..length]
                };
                match literals.iter().map(|literal| &**literal).find(begins) {
                    Some(literal) if literal.len() <= rest.len() => {
                        self.at += literal.len();
                        Outcome::Done
                    }
                    Some(_) if !window.complete => Outcome::NotArrived,
                    _ => Outcome::Fails,
                }
            }
            // Its first alternative is what comes next.
            Step::Choice { .. } => {
                let at = self.at;
                if let Some(marks) = &mut self.marks {
                    let settled = marks.settled;
                    marks.choices.push(Chosen {
                        step: attempt.step,
                        alternative: 0,
                        at,
                        settled,
                    });
                }
                Outcome::Done
            }
            Step::End if !rest.is_empty() => Outcome::Fails,
            Step::End if window.complete => Outcome::Done,
            Step::End => Outcome::NotArrived,
            Step::Run { set, min, max } => {
                let (length, count) = run(
                    set,
                    &window.text[self.at - window.start..],
                    *max as usize - attempt.progress,
                );
                self.at += length;
                attempt.progress += count;
                if length == rest.len() && attempt.progress < *max as usize && !window.complete {
                    Outcome::NotArrived
                } else if attempt.progress < *min as usize {
                    Outcome::Fails
                } else {
                    Outcome::Done
                }
            }
            Step::Trimmed(trimmed) => self.trimmed(trimmed, attempt, window),
            Step::Until { pad, literal } => self.until(pad.as_ref(), literal, attempt, window),
            Step::Ahead(literal) => match self.search(literal, attempt, window) {
                Some(_) => Outcome::Done,
                None => missing(literal, attempt, window),
            },
            Step::MatchEnd => {
                attempt.end = Some(self.at);
                Outcome::Done
            }
            Step::Open(group) | Step::Close(group) => {
                if let Some(marks) = &mut self.marks {
                    let (start, end) = &mut marks.groups[*group];
                    let side = if matches!(step, Step::Open(_)) {
                        start
                    } else {
                        end
                    };
                    *side = self.at;
                }
                Outcome::Done
            }
        }
    }

    fn trimmed(&mut self, trimmed: &Trimmed, attempt: &Attempt, window: &Window<'_>) -> Outcome {
        let mut rest = &window.text[self.at - window.start..];
        if self.at == attempt.entered {
            match rest.chars().next() {
                Some(first) if trimmed.first.contains(first) => {
                    self.at += first.len_utf8();
                    rest = &rest[first.len_utf8()..];
                }
                None if !window.complete => return Outcome::NotArrived,
                _ => return Outcome::Fails,
            }
        }
        let (length, _) = run(&trimmed.inner, rest, usize::MAX);
        self.at += length;
        if length == rest.len() && !window.complete {
            return Outcome::NotArrived;
        }
        // The first character alone is no last one.
        let mut characters = window.text[attempt.entered - window.start..].chars();
        let alone = characters
            .next()
            .is_some_and(|c| attempt.entered + c.len_utf8() == self.at);
        let ends = |c: char| trimmed.last.contains(c);
        if alone || window.before(self.at).is_some_and(ends) {
            Outcome::Done
        } else {
            Outcome::Fails
        }
    }

    fn until(
        &mut self,
        pad: Option<&Pad>,
        literal: &Finder<'static>,
        attempt: &mut Attempt,
        window: &Window<'_>,
    ) -> Outcome {
        loop {
            let Some(place) = self.search(literal, attempt, window) else {
                return missing(literal, attempt, window);
            };
            let mut start = place;
            if let Some(pad) = pad {
                let mut count = 0;
                while start > attempt.entered && count < pad.max {
                    match window.before(start).filter(|c| pad.set.contains(*c)) {
                        Some(c) => (start, count) = (start - c.len_utf8(), count + 1),
                        None => break,
                    }
                }
                if count < pad.min {
                    attempt.progress = place + 1;
                    continue;
                }
            }
            self.at = start;
            return Outcome::Done;
        }
    }

    /// The first occurrence of the literal behind the step's beginning. What has been searched is not searched again.
    fn search(
        &mut self,
        literal: &Finder<'static>,
        attempt: &mut Attempt,
        window: &Window<'_>,
    ) -> Option<usize> {
        let from = attempt.progress.max(attempt.entered);
        let text = window.text.as_bytes();
        let found = literal.find(&text[(from - window.start).min(text.len())..]);
        let overlap = literal.needle().len() - 1;
        attempt.progress = match found {
            Some(place) => from + place,
            None => from.max(window.end().saturating_sub(overlap)),
        };
        found.map(|place| from + place)
    }
}

/// The outcome of a try whose next literal, which could stand anywhere, is not in the rest of the text.
fn missing(literal: &Finder<'static>, attempt: &Attempt, window: &Window<'_>) -> Outcome {
    if !window.complete {
        return Outcome::NotArrived;
    }
    let text = &window.text.as_bytes()[attempt.start - window.start..];
    match literal.find(text) {
        // Fewer characters for the steps before would leave it to this one.
        Some(_) => Outcome::Undecided,
        None => Outcome::Never,
    }
}

/// Where the literal begins in the text or, unless it is complete, may begin at its end.
fn find(literal: &Finder<'static>, text: &[u8], complete: bool) -> Option<usize> {
    let needle = literal.needle();
    let first = *needle.first()?;
    let mut at = 0;
    if text.len() >= SHORT.max(needle.len()) {
        if let Some(found) = literal.find(text) {
            return Some(found);
        }
        at = text.len() + 1 - needle.len();
    }
    while let Some(found) = memchr::memchr(first, &text[at..]) {
        at += found;
        let length = needle.len().min(text.len() - at);
        if text[at..at + length] == needle[..length] && (length == needle.len() || !complete) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The bytes and the number of the characters of the set, at most `max`, that the text begins with.
fn run(set: &CharSet, text: &str, max: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let (mut at, mut count) = (0, 0);
    while count < max {
        match bytes.get(at) {
            None => break,
            Some(byte) if byte.is_ascii() => {
                if !set.contains(char::from(*byte)) {
                    break;
                }
                at += 1;
            }
            Some(_) => match text[at..].chars().next().filter(|c| set.contains(*c)) {
                Some(c) => at += c.len_utf8(),
                None => break,
            },
        }
        count += 1;
    }
    (at, count)
}
