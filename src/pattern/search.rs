//! Searching: over a complete text, and over one that arrives in chunks.
//!
//! A pattern has up to three searchers, and the cheap ones come first: the sequence of its steps, the direct search of a complete text, and
//! the pattern's own engine, which alone can always answer. A searcher that cannot go on does not fail. It says up to where no match
//! begins, and the next one goes on from there. So each answer is the engine's, and a place that one searcher has ruled out is not tried by
//! the next.
//!
//! A search over chunks keeps the state of one searcher and answers of the window at hand either with the first match, once no later text
//! can change it, or with `hold`, the first place where a match may still begin. `hold` never goes back, and the text before it is not
//! needed again but for what the pattern looks back at. That makes the answer independent of the cuts, and the work linear in the text: a
//! searcher goes on where it stood and does not begin anew with each chunk.

use std::ops::Range;

use super::automaton::{self, Simulation};
use super::backtrack::{Attempt, Machine, Program};
use super::error::MatchError;
use super::literal::Scan;
use super::sequence;
use super::text::{Scanned, Window};
use super::{ByteSet, Pattern, Strategy, direct};
use crate::value::Key;

/// A match: where it is, and what its named groups matched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Captures {
    /// Byte offsets into the complete text.
    pub span: Range<usize>,
    /// Every named group of the pattern, in the order of [`Pattern::group_names`]; `None` for one that took no part.
    pub groups: Vec<(Key, Option<Range<usize>>)>,
}

impl Captures {
    /// The span that the named group matched; `None` when it took no part and when there is none of that name.
    pub fn group(&self, name: &str) -> Option<Range<usize>> {
        self.groups
            .iter()
            .find(|(known, _)| known == name)
            .and_then(|(_, range)| range.clone())
    }
}

/// The state of a search over the text that is there so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The first match; whatever follows, a search over the complete text would give this one.
    Found(Captures),
    /// No match begins before the byte offset `hold`, whatever follows; one may begin there or later. When the window is
    /// complete there is no match at all, and `hold` is its end.
    Pending {
        /// A byte offset in the complete text, between two characters.
        hold: usize,
    },
}

/// The search for the first match at or after a place, in a text that grows at its end.
///
/// ```
/// use obverse::pattern::{Pattern, Progress, Search, Window};
///
/// let pattern = Pattern::regex(r"</think>\s*")?;
/// let mut search = Search::new(&pattern, 0);
/// let text = "Hm.</think>\n\nYes.";
/// let seen = |end: usize| Window { text: &text[..end], start: 0, complete: end == text.len() };
/// assert_eq!(search.advance(&seen(2))?, Progress::Pending { hold: 2 });
/// assert_eq!(search.advance(&seen(6))?, Progress::Pending { hold: 3 });
/// assert_eq!(search.advance(&seen(12))?, Progress::Pending { hold: 3 });
/// assert!(matches!(search.advance(&seen(14))?, Progress::Found(found) if found.span == (3..13)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Search {
    pattern: Pattern,
    cursor: Cursor,
    /// A position at which a match must not end.
    no_end_at: Option<usize>,
    answer: Option<Progress>,
}

/// The state of a search, for callers that keep the pattern elsewhere and hand it to every call.
#[derive(Debug, Clone)]
pub(crate) struct Cursor(State);

#[derive(Debug, Clone)]
enum State {
    Sequence(sequence::Progress),
    Literal {
        scan: Scan,
        /// Up to where the text has been read.
        read: usize,
    },
    Automaton(Box<Simulation>),
    Backtracking {
        machine: Box<Machine>,
        /// The start that is being tried, or is to be tried next.
        start: usize,
        /// True if the try is under way.
        under_way: bool,
    },
}

/// Searches of one complete text, one after the other.
#[derive(Debug)]
pub(super) struct Whole<'t> {
    pattern: &'t Pattern,
    window: Window<'t>,
    direct: Option<direct::Machine>,
    /// How many steps the engine has taken.
    steps: u64,
}

impl<'t> Whole<'t> {
    pub(super) fn new(pattern: &'t Pattern, text: &'t str) -> Self {
        Self {
            pattern,
            window: Window {
                text,
                start: 0,
                complete: true,
            },
            direct: None,
            steps: 0,
        }
    }

    /// How many steps the pattern's engine has taken; none are counted where the work is in proportion to what was read.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// The first match at or after `from`. With `advance`, an empty match at `from` itself does not count.
    pub(super) fn search(
        &mut self,
        from: usize,
        advance: bool,
    ) -> Result<Option<Captures>, MatchError> {
        let pattern = self.pattern;
        let mut from = from;
        if let (Some(sequence), false) = (pattern.sequence(), advance) {
            let mut progress = sequence::Progress::new(sequence, from);
            match progress.scan(sequence, &self.window) {
                sequence::Scanned::Hold(_) => return Ok(None),
                sequence::Scanned::Found(span) => {
                    return Ok(Some(captures(pattern, span, |number| {
                        Some(progress.group(number))
                    })));
                }
                sequence::Scanned::Leave(at) => from = at,
            }
        }
        let no_end_at = advance.then_some(from);
        if let Some(program) = pattern.direct() {
            let length = self.window.text.len();
            let machine = self
                .direct
                .get_or_insert_with(|| direct::Machine::new(length));
            match machine.search(program, self.window.text, from, no_end_at) {
                direct::Outcome::Nothing => return Ok(None),
                direct::Outcome::Found(span) => {
                    return Ok(Some(captures(pattern, span, |number| {
                        machine.group(number)
                    })));
                }
                direct::Outcome::GivenUp(at) => from = at,
            }
        }
        let mut cursor = Cursor(State::of_engine(pattern, from));
        let progress = cursor.advance(pattern, &self.window, no_end_at);
        self.steps = self.steps.saturating_add(cursor.steps());
        Ok(match progress? {
            Progress::Found(captures) => Some(captures),
            Progress::Pending { .. } => None,
        })
    }
}

fn captures(
    pattern: &Pattern,
    span: Range<usize>,
    group: impl Fn(usize) -> Option<Range<usize>>,
) -> Captures {
    let names = pattern.keys().iter().enumerate();
    Captures {
        span,
        groups: names
            .map(|(number, name)| (name.clone(), group(number)))
            .collect(),
    }
}

impl Search {
    /// A search that begins at the byte offset `from`, which lies between two characters. What stands before it is
    /// seen by look-behind and word boundaries, but no match begins there.
    pub fn new(pattern: &Pattern, from: usize) -> Self {
        Self::new_past(pattern, from, false)
    }

    /// The search that goes on behind a match, as [`Pattern::find_iter`] does.
    pub(crate) fn after(pattern: &Pattern, span: &Range<usize>) -> Self {
        Self::new_past(pattern, span.end, span.is_empty())
    }

    /// With `advance`, an empty match at `from` itself does not count.
    pub(super) fn new_past(pattern: &Pattern, from: usize, advance: bool) -> Self {
        Self {
            pattern: pattern.clone(),
            cursor: if advance {
                Cursor(State::of_engine(pattern, from))
            } else {
                Cursor::new(pattern, from)
            },
            no_end_at: advance.then_some(from),
            answer: None,
        }
    }

    /// Goes on with what has arrived.
    ///
    /// `window` begins no later than [`Pattern::lookbehind`] bytes before the last `hold` (before `from`, in the first
    /// call), or at 0; its beginning may be trimmed up to there between two calls. It ends no earlier than in the last
    /// call, and what it holds at one place does not change. Once it is complete, or the match is found, the answer stays.
    ///
    /// # Errors
    ///
    /// When the search takes too many steps.
    ///
    /// # Panics
    ///
    /// When the window lacks text that it must hold.
    pub fn advance(&mut self, window: &Window<'_>) -> Result<Progress, MatchError> {
        if let Some(answer) = &self.answer {
            return Ok(answer.clone());
        }
        let progress = self.cursor.advance(&self.pattern, window, self.no_end_at)?;
        if window.complete || matches!(progress, Progress::Found(_)) {
            self.answer = Some(progress.clone());
        }
        Ok(progress)
    }
}

impl Cursor {
    /// As [`Search::new`].
    pub(crate) fn new(pattern: &Pattern, from: usize) -> Self {
        Self(match pattern.sequence() {
            Some(sequence) => State::Sequence(sequence::Progress::new(sequence, from)),
            None => State::of_engine(pattern, from),
        })
    }

    /// Begins again at another place, as [`new`](Self::new) does, and keeps what memory it has.
    pub(crate) fn restart(&mut self, pattern: &Pattern, from: usize) {
        match &mut self.0 {
            State::Sequence(progress) => progress.restart(from),
            State::Automaton(simulation) if pattern.sequence().is_none() => {
                simulation.restart(from);
            }
            _ => *self = Self::new(pattern, from),
        }
    }

    /// How many steps the engine has taken; none are counted where the work is in proportion to what was read.
    fn steps(&self) -> u64 {
        match &self.0 {
            State::Sequence(_) | State::Literal { .. } => 0,
            State::Automaton(simulation) => simulation.steps(),
            State::Backtracking { machine, .. } => machine.steps(),
        }
    }

    /// Does the work of [`Search::advance`] for callers that do not ask again for a match that was found.
    pub(crate) fn advance(
        &mut self,
        pattern: &Pattern,
        window: &Window<'_>,
        no_end_at: Option<usize>,
    ) -> Result<Progress, MatchError> {
        Ok(match self.scan_past(pattern, window, no_end_at)? {
            Scanned::Hold(hold) => Progress::Pending { hold },
            Scanned::Found(span) => {
                let mut groups = Vec::new();
                self.each_group(pattern, window, &span, no_end_at, |name, range| {
                    groups.push((name.clone(), range));
                });
                Progress::Found(Captures { span, groups })
            }
        })
    }

    /// Does that work without telling the groups, which [`groups`](Self::groups) has.
    pub(crate) fn scan(
        &mut self,
        pattern: &Pattern,
        window: &Window<'_>,
    ) -> Result<Scanned, MatchError> {
        self.scan_past(pattern, window, None)
    }

    fn scan_past(
        &mut self,
        pattern: &Pattern,
        window: &Window<'_>,
        no_end_at: Option<usize>,
    ) -> Result<Scanned, MatchError> {
        if let (State::Sequence(progress), Some(sequence)) = (&mut self.0, pattern.sequence()) {
            match progress.scan(sequence, window) {
                sequence::Scanned::Hold(hold) => return Ok(Scanned::Hold(hold)),
                sequence::Scanned::Found(span) => return Ok(Scanned::Found(span)),
                sequence::Scanned::Leave(from) => self.0 = State::of_engine(pattern, from),
            }
        }
        match (pattern.strategy(), &mut self.0) {
            (Strategy::Literal(literals), State::Literal { scan, read }) => {
                let text = &window.text.as_bytes()[*read - window.start..];
                let scanned = literals.scan(scan, text, *read, window.complete);
                *read = window.end();
                Ok(scanned)
            }
            (Strategy::Automaton(automaton), State::Automaton(simulation)) => {
                simulation.scan(automaton, window, no_end_at)
            }
            (
                Strategy::Backtracking(program),
                State::Backtracking {
                    machine,
                    start,
                    under_way,
                },
            ) => Ok(
                match backtrack(program, machine, start, under_way, window, no_end_at)? {
                    Some(span) => Scanned::Found(span),
                    None if window.complete => Scanned::Hold(window.end()),
                    None => Scanned::Hold(*start),
                },
            ),
            _ => unreachable!("the state was made for the pattern's strategy"),
        }
    }

    /// Hands over every named group with what it matched, after [`scan`](Self::scan) found `span` in a window that still has
    /// what it may look at.
    pub(crate) fn groups(
        &self,
        pattern: &Pattern,
        window: &Window<'_>,
        span: &Range<usize>,
        take: impl FnMut(&Key, Option<Range<usize>>),
    ) {
        self.each_group(pattern, window, span, None, take);
    }

    fn each_group(
        &self,
        pattern: &Pattern,
        window: &Window<'_>,
        span: &Range<usize>,
        no_end_at: Option<usize>,
        mut take: impl FnMut(&Key, Option<Range<usize>>),
    ) {
        let names = pattern.keys();
        if names.is_empty() {
            return;
        }
        match (pattern.strategy(), &self.0) {
            (_, State::Sequence(progress)) => {
                for (number, name) in names.iter().enumerate() {
                    take(name, Some(progress.group(number)));
                }
            }
            (Strategy::Automaton(automaton), State::Automaton(_)) => {
                let groups = automaton::groups(automaton, window, span, no_end_at);
                for (name, group) in names.iter().zip(groups) {
                    take(name, group);
                }
            }
            (_, State::Backtracking { machine, .. }) => {
                for (name, number) in names.iter().zip(pattern.group_numbers()) {
                    take(name, machine.group(number));
                }
            }
            // Literals have no groups.
            _ => {}
        }
    }

    /// Returns the bytes of which one has to come before more text changes an answer that was `hold`; `None` where they are not known. The
    /// text at hand ends at `end`.
    pub(crate) fn waits_for(&self, pattern: &Pattern, hold: usize, end: usize) -> Option<ByteSet> {
        match (&self.0, pattern.sequence()) {
            _ if hold == end => pattern.first_bytes(),
            (State::Sequence(progress), Some(sequence)) => progress.waits_for(sequence),
            _ => None,
        }
    }
}

impl State {
    /// The beginning of a search by the pattern's engine.
    fn of_engine(pattern: &Pattern, from: usize) -> Self {
        match pattern.strategy() {
            Strategy::Literal(_) => Self::Literal {
                scan: Scan::default(),
                read: from,
            },
            Strategy::Automaton(automaton) => {
                Self::Automaton(Box::new(Simulation::new(automaton, from)))
            }
            Strategy::Backtracking(_) => Self::Backtracking {
                machine: Box::new(Machine::new(from)),
                start: from,
                under_way: false,
            },
        }
    }
}

/// Tries one start after the other; `None` when more text is needed, or when the complete text holds no match.
fn backtrack(
    program: &Program,
    machine: &mut Machine,
    start: &mut usize,
    under_way: &mut bool,
    window: &Window<'_>,
    no_end_at: Option<usize>,
) -> Result<Option<Range<usize>>, MatchError> {
    loop {
        if !*under_way {
            let rest = &window.text[*start - window.start..];
            match program.skip(rest) {
                Some(skipped) => *start += skipped,
                None => {
                    *start += rest.len();
                    return Ok(None);
                }
            }
            machine.begin(program, *start);
            *under_way = true;
        }
        match machine.resume(program, window, no_end_at) {
            Attempt::Match(end) => return Ok(Some(*start..end)),
            Attempt::NotArrived => return Ok(None),
            Attempt::OutOfSteps(limit) => return Err(MatchError::StepLimit { limit, at: *start }),
            Attempt::NoMatch => {}
        }
        let Some(next) = window.text[*start - window.start..].chars().next() else {
            // Nothing begins at the window's end so far; what arrives there cannot change that.
            return Ok(None);
        };
        *under_way = false;
        *start += next.len_utf8();
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Progress, Search, State, Window};
    use crate::pattern::numbers::Numbers;

    #[test]
    fn steps_say_what_the_engine_says_after_each_chunk() {
        let pieces = [
            "<a>", "</a>", "<", "<a", "</", ">", " ", "\n", "\u{a0}", "x", "1", "=", "\u{e9}",
            "<b=", "<a> ", "aab",
        ];
        let mut numbers = Numbers(7);
        for source in [
            "<a>",
            "aab",
            r"<a>\s*",
            r"\s*</a>\s*",
            r"\s+</a>",
            r"\n?</a>\n?",
            r"[^<]<a>",
            r"<a>\s*<b=(?P<n>[^\s>]+)>\s*",
            r"<b=(?P<k>[^>]*)>(?P<v>.*?)</a>",
            r"<b=(?P<k>\d{1,2})>\s*(?P<v>.*?)\s*</a>\s*",
            r"<a>(?P<v>.*?)\n</a>",
            r"<a>\s*(?P<v>.*?)\n</a>",
            r"<a>.*?x\d",
            r"<[^>]+>",
            r"(?P<s>\s*)(?P<o><a>)",
            r"<b=(?P<k>[^\s>](?:[^\n>]*[^\s>])?)>(?P<v>.*?)</a>",
            r"<a(?P<k>[x\u00e9](?:[^\n>]*[^\s>])?)>\s*",
            r"<a>(?=x)",
            r"<a>\s*(?=x\s*[1=])",
            r"\s*</a>\s*(?=<(?:a>|b=))",
            r"(?:<a>\s*)?<b=(?P<k>[^\s<>]+)(?=>|<)",
            r"<a>(?=\s*</a>\s*)",
            r"<a>(?=\s*)",
            r"<a>(?=x.*?</a>)",
            r"<a>(?=x1+)",
            r"<a>(?=(?:xa|x\s*))",
            r"<a>(?=(?:x|<b)\s*(?:=1|1\s+))",
            r"<a>(?=\Z|x)",
            r"<a>(?:x\s*|<b=)?(?=x1?)",
        ] {
            let pattern = Pattern::regex(source).expect("a pattern");
            assert!(pattern.sequence().is_some(), "{source}");
            for _ in 0..2000 {
                let length = numbers.below(14);
                let text: String = (0..length)
                    .map(|_| pieces[numbers.below(pieces.len())])
                    .collect();
                let mut steps = Search::new(&pattern, 0);
                let mut engine = Search::new(&pattern, 0);
                engine.cursor.0 = State::of_engine(&pattern, 0);
                let mut end = 0;
                while end <= text.len() {
                    let window = Window {
                        text: &text[..end],
                        start: 0,
                        complete: end == text.len(),
                    };
                    assert_eq!(
                        steps.advance(&window),
                        engine.advance(&window),
                        "{source:?} in {text:?} up to {end}"
                    );
                    end += 1 + numbers.below(4);
                    if end > text.len() && !window.complete {
                        end = text.len();
                    }
                    while !text.is_char_boundary(end.min(text.len())) {
                        end += 1;
                    }
                }
            }
        }
    }

    /// How fast delimiters are searched in text that arrives, by their steps and by their engine. It asserts nothing about speed, which
    /// is the machine's; the numbers in `sequence/mod.rs` and `docs/performance.md` are from here.
    #[test]
    #[ignore = "a measurement"]
    #[allow(clippy::print_stderr, reason = "a measurement is told")]
    fn sequence_beside_engine() {
        let prose = "The quick brown fox, it is said, <b>jumps</b> over 3 < 4 lazy dogs.\n";
        let text = prose.repeat((1 << 20) / prose.len());
        for source in [
            "</think>",
            r"<\|im_end\|>\s*",
            r"\s*</think>\s*",
            r"<tool_call>\s*<function=(?P<name>[^\s>]+)>\s*",
            r"<parameter=(?P<key>\w+)>(?P<value>.*?)</parameter>",
        ] {
            let pattern = Pattern::regex(source).expect("a pattern");
            assert!(pattern.sequence().is_some(), "{source}");
            let seconds = |by_engine: bool| {
                let mut search = Search::new(&pattern, 0);
                if by_engine {
                    search.cursor.0 = State::of_engine(&pattern, 0);
                }
                let begun = std::time::Instant::now();
                for end in (20..text.len()).step_by(20) {
                    let window = Window {
                        text: &text[..end],
                        start: 0,
                        complete: false,
                    };
                    search.advance(&window).expect("no limit");
                }
                begun.elapsed().as_secs_f64()
            };
            let speed = |seconds: f64| text.len() as f64 / seconds / 1e6;
            // The best of several: the first pays for what is not yet in the caches.
            let best =
                |by_engine: bool| (0..5).map(|_| seconds(by_engine)).fold(f64::MAX, f64::min);
            let (steps, engine) = (speed(best(false)), speed(best(true)));
            eprintln!("{source:55} {steps:8.0} MB/s by steps, {engine:8.0} MB/s by its engine");
        }
    }

    #[test]
    fn the_window_may_be_trimmed_to_the_last_hold_less_what_is_looked_back() {
        for source in [r"\bab", "(?<=x)ab", "(?<=x)(?P<n>a)b"] {
            let pattern = Pattern::regex(source).expect("a pattern");
            let text = "ab aab xa";
            let mut search = Search::new(&pattern, 2);
            let window = Window {
                text,
                start: 0,
                complete: false,
            };
            let Ok(Progress::Pending { hold }) = search.advance(&window) else {
                panic!("{source}")
            };
            let start = hold - pattern.lookbehind().min(hold);
            let text = "ab aab xab, ab";
            let window = Window {
                text: &text[start..],
                start,
                complete: true,
            };
            let found = search.advance(&window).expect("no limit");
            let span = if source.starts_with('(') {
                8..10
            } else {
                12..14
            };
            assert!(
                matches!(&found, Progress::Found(found) if found.span == span),
                "{source}: {found:?}"
            );
            // The answer stays.
            assert_eq!(search.advance(&window), Ok(found));
        }
    }

    #[test]
    fn without_a_match_the_complete_text_ends_the_search() {
        for source in ["ab", "a+b", "a(?=b)"] {
            let pattern = Pattern::regex(source).expect("a pattern");
            let window = Window {
                text: "xa",
                start: 5,
                complete: true,
            };
            assert_eq!(
                Search::new(&pattern, 5).advance(&window),
                Ok(Progress::Pending { hold: 7 })
            );
        }
    }
}
