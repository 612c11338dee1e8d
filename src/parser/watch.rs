//! The boundary between the state machine and the matching engines: which delimiter comes next.

use std::cmp::Reverse;
use std::ops::Range;

use super::snapshot::{Edge, Waiting, Watched};
use crate::pattern::{ByteSet, Cursor, MatchError, Scanned, Window};
use crate::response_template::{Field, Sought};
use crate::value::{Map, Value};

/// The search for one delimiter.
///
/// A watch survives the states in which its delimiter does not count. A match that it found behind the current position stays found, so
/// that text is scanned once for each delimiter however many regions there are.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    cursor: Cursor,
    state: State,
    /// How far the search has come, and how many bytes all searches went over.
    #[cfg(test)]
    work: (usize, usize),
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// No match begins before `hold`.
    Pending { hold: usize },
    /// The first match.
    Found { start: usize, end: usize },
}

/// The next delimiter, as far as it is known.
#[derive(Debug)]
pub(super) enum Next {
    /// This delimiter comes next, whatever text follows. `watch` is its index among the watches.
    Delimiter { watch: usize, span: Range<usize> },
    /// No delimiter begins before `hold`, a byte offset.
    None { hold: usize },
}

impl Watch {
    pub(super) fn new(sought: &Sought) -> Self {
        Self {
            cursor: Cursor::new(&sought.pattern, 0),
            state: State::Pending { hold: 0 },
            #[cfg(test)]
            work: (0, 0),
        }
    }

    /// Returns the named groups that took part in the match that was found. The match begins in the window.
    pub(super) fn captures(&self, sought: &Sought, window: &Window<'_>) -> Map {
        let mut captures = Map::new();
        if let State::Found { start, end } = self.state {
            self.cursor
                .groups(&sought.pattern, window, &(start..end), |name, group| {
                    if let Some(group) = group {
                        captures.insert(name.clone(), Value::from(window.slice(group)));
                    }
                });
        }
        captures
    }

    /// Returns the bytes of which one has to come before more text changes what is known of the delimiter; `None` where they are not known.
    /// The text at hand ends at `end`.
    pub(super) fn waits_for(&self, sought: &Sought, end: usize) -> Option<ByteSet> {
        match self.state {
            State::Pending { hold } => self.cursor.waits_for(&sought.pattern, hold, end),
            State::Found { start, end: till } => {
                (!waits(sought, start..till, end)).then_some(ByteSet::EMPTY)
            }
        }
    }

    /// Returns the snapshot of a watch. `unread` is the text that has arrived and is not accounted for. A match before that text is of no
    /// interest any more; nor does a watch say anything of text that was passed over without asking it.
    pub(super) fn snapshot<'p>(
        watch: Option<&Self>,
        sought: &'p Sought,
        fields: &'p [Field],
        unread: Range<usize>,
    ) -> Watched<'p> {
        Watched {
            field: sought.field,
            name: &fields[sought.field].name,
            side: side(sought),
            pattern: &sought.pattern,
            waiting: match watch.map(|watch| watch.state) {
                Some(State::Pending { hold }) if unread.contains(&hold) => {
                    Waiting::UnderWay { from: hold }
                }
                Some(State::Found { start, end }) if unread.contains(&start) => Waiting::Matched {
                    span: start..end,
                    may_grow: waits(sought, start..end, unread.end),
                },
                _ => Waiting::Nothing,
            },
        }
    }

    fn advance(
        &mut self,
        sought: &Sought,
        window: &Window<'_>,
        from: usize,
    ) -> Result<(), MatchError> {
        let (State::Pending { hold: known } | State::Found { start: known, .. }) = self.state;
        let stale = known < from;
        if stale {
            self.cursor.restart(&sought.pattern, from);
            self.state = State::Pending { hold: from };
            #[cfg(test)]
            (self.work.0 = from);
        }
        if let State::Pending { .. } = self.state {
            self.state = match self.cursor.scan(&sought.pattern, window)? {
                Scanned::Found(Range { start, end }) => State::Found { start, end },
                Scanned::Hold(hold) => State::Pending { hold },
            };
            #[cfg(test)]
            self.note_work(window);
        }
        Ok(())
    }

    #[cfg(test)]
    fn note_work(&mut self, window: &Window<'_>) {
        let reached = match &self.state {
            State::Pending { .. } => window.start + window.text.len(),
            State::Found { end, .. } => *end,
        };
        let (before, total) = self.work;
        self.work = (reached, total + reached.saturating_sub(before));
    }
}

/// Returns which of its field's two delimiters it is.
pub(super) fn side(sought: &Sought) -> Edge {
    if sought.opens {
        Edge::Open
    } else {
        Edge::Close
    }
}

/// Returns true if a match is held although nothing can change it any more. The reference cannot tell that nothing can. If a match reaches
/// the end of the text at hand, it takes only a literal that no other literal of its list extends, and holds every other match. Holding the
/// same makes the events of each chunk the same.
fn waits(sought: &Sought, found: Range<usize>, end: usize) -> bool {
    found.end == end && (sought.patient || found.is_empty())
}

/// Advances the watches at `indices` and says which delimiter is next at or after `from`: the earliest, then the longest, then opens before
/// closes, then by the field's name, as the reference orders them. A delimiter that begins at the very end of a complete text, where
/// nothing is left to open or close, counts neither here nor in the reference.
#[inline]
pub(super) fn next_delimiter(
    watches: &mut [Watch],
    sought: &[Sought],
    indices: &[usize],
    window: &Window<'_>,
    from: usize,
) -> Result<Next, MatchError> {
    let end = window.start + window.text.len();
    let mut hold = end;
    for &index in indices {
        let watch = &mut watches[index];
        watch.advance(&sought[index], window, from)?;
        match watch.state {
            State::Pending { hold: pending } => hold = hold.min(pending),
            State::Found { start, end: till } => {
                if !window.complete && waits(&sought[index], start..till, end) {
                    hold = hold.min(start);
                }
            }
        }
    }
    let best = indices
        .iter()
        .filter_map(|&index| match watches[index].state {
            // A delimiter that is held and begins no later could still turn out to be the next, or the longer one.
            State::Found { start, end } if start < hold => Some((index, start..end)),
            _ => None,
        })
        .min_by_key(|(index, span)| {
            let sought = &sought[*index];
            (
                span.start,
                Reverse(span.end - span.start),
                !sought.opens,
                sought.rank,
            )
        });
    Ok(match best {
        Some((watch, span)) => Next::Delimiter { watch, span },
        None => Next::None { hold },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;

    const CALLS: usize = 20_000;

    /// Passes over all delimiters of `text`, one of `opens` and then the last of the watches, the close, in turn; says
    /// how many there were, and how many bytes the searches went over.
    fn pass_all(opens: &[&str], close: &str, text: &str) -> (usize, usize) {
        let seek = |opens, source: &&str| {
            Sought::new(0, opens, 0, &Pattern::regex(source).expect("a pattern"))
        };
        let mut sought: Vec<Sought> = opens.iter().map(|open| seek(true, open)).collect();
        sought.push(seek(false, &close));
        let mut watches: Vec<Watch> = sought.iter().map(Watch::new).collect();
        let indices: Vec<usize> = (0..watches.len()).collect();
        let (outside, inside) = indices.split_at(opens.len());
        let window = Window {
            text,
            start: 0,
            complete: false,
        };
        let (mut from, mut passed) = (0, 0);
        loop {
            let indices = if passed % 2 == 0 { outside } else { inside };
            match next_delimiter(&mut watches, &sought, indices, &window, from).expect("no limit") {
                Next::Delimiter { span, .. } => (from, passed) = (span.end, passed + 1),
                Next::None { .. } => break,
            }
        }
        (passed, watches.iter().map(|watch| watch.work.1).sum())
    }

    #[test]
    fn nothing_is_searched_again_for_every_region() {
        let text = r#"<tool_call>{"a": "<think> [X] <br>"}</tool_call> and "#.repeat(CALLS);
        let opens = [
            "<tool_call>",
            "<think>",
            r"<\|call (?P<name>\w+)\|>\s*",
            r"\[X\](?=\s)",
            "never",
        ];
        let (passed, bytes) = pass_all(&opens, "</tool_call>", &text);
        assert_eq!(passed, 2 * CALLS);
        assert!(
            bytes <= (opens.len() + 1) * text.len(),
            "{bytes} bytes for a text of {}",
            text.len()
        );
    }
}
