//! A text held to a grammar, as an engine holds a model to it: after each character it is known if the text can still become one that the
//! grammar allows, and what may come next.
//!
//! What is left to be read is a stack: the expression at hand, and what follows it. A grammar may go on in several ways at once, so that there is
//! a set of stacks. For each character those are kept whose expression takes it, and each is then opened down to the characters that it
//! may take next. Stacks share what they have in common, and stacks that are alike are one, as in Tomita's graph-structured
//! stack; engines for constrained decoding do the same on bytes.
//!
//! Why it is right: a stack stands for exactly the texts that it may go on with, and opening one replaces it by stacks that together
//! stand for the same. A repetition is counted no further than to where the count makes a difference, so that what has no upper bound
//! comes back to a stack that is known.
//!
//! What it costs: for each character time linear in the number of stacks, of which grammars of responses have a few. Memory grows with the
//! stacks that were ever met: with the depth of what nests, not with the length of the text. Both have limits.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};

use super::Grammar;
use super::avoid::Tracker;
use super::expr::{Arena, Expr, Id};

/// The most stacks that a text may be in at once, and that may be met in all.
const MAX_LIVE: usize = 20_000;
const MAX_STACKS: usize = 4_000_000;

/// A stack, by its number. The first is the empty one, with which a text is complete.
type Stack = u32;
const EMPTY: Stack = 0;

/// The uppermost of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Top {
    /// An expression, from its beginning.
    Whole(Id),
    /// The rest of a fixed text, from this byte on.
    Text(Id, u32),
    /// Characters of a set, of which so many were read.
    Run(Id, u32),
    /// Free text, and the state of what watches over it.
    Free(Id, u32),
    /// A repetition, of which so many were read.
    Repeat(Id, u32),
}

/// Something that may stand next in a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Next {
    /// Exactly this text.
    Text(String),
    /// A character of this set, which is written as in a regular expression.
    Character(String),
    /// Free text, in which nothing may stand that would end it.
    Free,
    /// The end of the text.
    End,
}

impl std::fmt::Display for Next {
    /// As a word of a sentence, such as `"</call>"` or `the end`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&crate::value::json::quote(text)),
            Self::Character(set) => f.write_str(set),
            Self::Free => f.write_str("text"),
            Self::End => f.write_str("the end"),
        }
    }
}

/// Why a text is not taken any further.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Disallowed {
    /// The grammar does not allow the character at a place.
    #[error("the grammar does not allow what stands at byte {at}")]
    Character {
        /// The place, in bytes from the beginning of the text.
        at: usize,
        /// The length of the character in bytes.
        length: usize,
    },
    /// The grammar can be followed in more ways than are tried.
    #[error("at byte {at} the grammar can be followed in more than {limit} ways")]
    Limit {
        /// The place, in bytes from the beginning of the text.
        at: usize,
        /// The limit.
        limit: usize,
    },
}

impl Disallowed {
    /// The place up to which the text is taken, in bytes.
    pub fn at(&self) -> usize {
        match self {
            Self::Character { at, .. } | Self::Limit { at, .. } => *at,
        }
    }
}

/// Holds a text to a [`Grammar`] as it arrives.
///
/// Schemas are written out, as they are in GBNF: members of objects stand in the order in which the schema declares them.
///
/// ```
/// use obverse::grammar::{Acceptor, Next, Request, WrittenFormat};
/// use obverse::response_template::ResponseTemplate;
/// use obverse::value::json;
///
/// let template = json::parse(r#"{"start_anchor": "A:", "fields": {"thinking": {"open": "<t>", "close": "</t>"}, "content": {}}}"#)?;
/// let template = ResponseTemplate::from_value(&template)?;
/// let grammar = WrittenFormat::from_template(&template, &[]).grammar(&Request::default())?;
/// let mut acceptor = Acceptor::new(&grammar);
/// acceptor.feed("<t>Two and two")?;
/// assert!(acceptor.next().contains(&Next::Text("</t>".to_owned())));
/// acceptor.feed("</t>Four")?;
/// assert!(acceptor.is_complete());
/// // A second thought is not read, so that its delimiter must not be written: not up to its end.
/// assert_eq!(acceptor.feed(" <t>").unwrap_err().at(), 25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Acceptor {
    /// Every schema in it is written out.
    arena: Arc<Arena>,
    trackers: HashMap<Id, Tracker>,
    /// Each stack's top, and the stack below it.
    stacks: Vec<(Top, Stack)>,
    known: HashMap<(Top, Stack), Stack>,
    /// Stacks of which the text so far may be read, each with a top that takes a character; and the empty one.
    live: Vec<Stack>,
    /// How many bytes were read.
    at: usize,
    refused: Option<Disallowed>,
}

impl Acceptor {
    /// An acceptor at the start of a text.
    pub fn new(grammar: &Grammar) -> Self {
        let grammar = grammar.expanded();
        Self::of(grammar.arena, grammar.root)
    }

    /// An acceptor of an expression without JSON.
    fn of(arena: Arena, root: Id) -> Self {
        let root = Top::Whole(root);
        let mut acceptor = Self {
            arena: Arc::new(arena),
            trackers: HashMap::new(),
            // The place of the empty stack, whose top is never looked at.
            stacks: vec![(root, EMPTY)],
            known: HashMap::new(),
            live: Vec::new(),
            at: 0,
            refused: None,
        };
        let start = acceptor.on(root, EMPTY);
        acceptor.live = acceptor.opened(vec![start]);
        acceptor
    }

    /// Reads more of the text.
    ///
    /// # Errors
    ///
    /// When the grammar does not allow a character, or can be followed in too many ways; every later call has the same error, and
    /// [`next`](Self::next) tells what might have stood at the place.
    pub fn feed(&mut self, text: &str) -> Result<(), Disallowed> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        for c in text.chars() {
            let live = std::mem::take(&mut self.live);
            let stepped = live.iter().filter_map(|stack| self.step(*stack, c));
            let stepped: Vec<Stack> = stepped.collect();
            let at = self.at;
            let refused = match stepped.is_empty() {
                true => Some(Disallowed::Character {
                    at,
                    length: c.len_utf8(),
                }),
                false => {
                    self.live = self.opened(stepped);
                    let is_much = self.live.len() > MAX_LIVE || self.stacks.len() > MAX_STACKS;
                    let limit = MAX_LIVE;
                    is_much.then_some(Disallowed::Limit { at, limit })
                }
            };
            if let Some(refused) = refused {
                self.live = live;
                self.refused = Some(refused.clone());
                return Err(refused);
            }
            self.at += c.len_utf8();
        }
        Ok(())
    }

    /// Returns true if the text may end where it is.
    pub fn is_complete(&self) -> bool {
        self.refused.is_none() && self.live.contains(&EMPTY)
    }

    /// Why no more is read; `None` as long as the text is allowed.
    pub fn refused(&self) -> Option<&Disallowed> {
        self.refused.as_ref()
    }

    /// The things that may stand next: behind the text, or at the place at which it was refused. Fixed texts come first, the end last.
    pub fn next(&self) -> Vec<Next> {
        let mut all: Vec<Next> = Vec::new();
        for stack in &self.live {
            let next = self.next_of(*stack);
            if !all.contains(&next) {
                all.push(next);
            }
        }
        let rank = |next: &Next| match next {
            Next::Text(_) => 0,
            Next::Character(_) => 1,
            Next::Free => 2,
            Next::End => 3,
        };
        all.sort_by_key(rank);
        all
    }

    fn next_of(&self, stack: Stack) -> Next {
        if stack == EMPTY {
            return Next::End;
        }
        match self.stacks[stack as usize].0 {
            Top::Text(id, from) => match self.arena.get(id) {
                Expr::Text(text) => Next::Text(text[from as usize..].to_owned()),
                _ => Next::Free,
            },
            Top::Run(id, _) => match self.arena.get(id) {
                Expr::Run { chars, .. } => Next::Character(chars.class_text()),
                _ => Next::Free,
            },
            Top::Whole(_) | Top::Free(..) | Top::Repeat(..) => Next::Free,
        }
    }

    /// The stack with this on top of another.
    fn on(&mut self, top: Top, below: Stack) -> Stack {
        let stacks = &mut self.stacks;
        *self.known.entry((top, below)).or_insert_with(|| {
            stacks.push((top, below));
            Stack::try_from(stacks.len() - 1).unwrap_or(Stack::MAX)
        })
    }

    /// Opens stacks down to characters: those that remain have a top that takes one, or are empty.
    fn opened(&mut self, mut open: Vec<Stack>) -> Vec<Stack> {
        open.reverse();
        let mut seen = HashSet::new();
        let mut live = Vec::new();
        while let Some(stack) = open.pop() {
            if !seen.insert(stack) || self.stacks.len() > MAX_STACKS {
                continue;
            }
            if stack == EMPTY {
                live.push(stack);
                continue;
            }
            let (top, below) = self.stacks[stack as usize];
            match top {
                Top::Whole(id) => self.open_whole(id, below, &mut open),
                Top::Text(..) => live.push(stack),
                Top::Free(..) => {
                    live.push(stack);
                    open.push(below);
                }
                Top::Run(id, done) => {
                    let Expr::Run { min, max, .. } = self.arena.get(id) else {
                        continue;
                    };
                    if max.is_none_or(|max| done < max) {
                        live.push(stack);
                    }
                    if done >= *min {
                        open.push(below);
                    }
                }
                Top::Repeat(id, done) => {
                    let Expr::Repeat { item, min, max } = *self.arena.get(id) else {
                        continue;
                    };
                    if done >= min {
                        open.push(below);
                    }
                    if max.is_none_or(|max| done < max) {
                        let again = self.on(Top::Repeat(id, counted(done, min, max)), below);
                        let first = self.on(Top::Whole(item), again);
                        open.push(first);
                    }
                }
            }
        }
        live
    }

    /// Opens an expression from its beginning.
    fn open_whole(&mut self, id: Id, below: Stack, open: &mut Vec<Stack>) {
        let top = match self.arena.get(id) {
            Expr::Text(_) => Top::Text(id, 0),
            Expr::Run { .. } => Top::Run(id, 0),
            Expr::Free(_) => Top::Free(id, 0),
            Expr::Repeat { .. } => Top::Repeat(id, 0),
            Expr::Tag(_, of) => Top::Whole(*of),
            Expr::Rule(name) => match self.arena.rule(name) {
                Some(body) => Top::Whole(body),
                None => return,
            },
            // The grammar is expanded.
            Expr::Json(_) => return,
            Expr::Seq(items) => {
                let items = items.clone();
                let first = items
                    .into_iter()
                    .rev()
                    .fold(below, |below, item| self.on(Top::Whole(item), below));
                open.push(first);
                return;
            }
            Expr::Choice(items) => {
                // The preferred one is opened first.
                let items = items.clone();
                for item in items.into_iter().rev() {
                    let stack = self.on(Top::Whole(item), below);
                    open.push(stack);
                }
                return;
            }
        };
        let stack = self.on(top, below);
        open.push(stack);
    }

    /// The stack that a character leads to.
    fn step(&mut self, stack: Stack, c: char) -> Option<Stack> {
        if stack == EMPTY {
            return None;
        }
        let (top, below) = self.stacks[stack as usize];
        match top {
            Top::Text(id, from) => {
                let Expr::Text(text) = self.arena.get(id) else {
                    return None;
                };
                let rest = &text[from as usize..];
                if !rest.starts_with(c) {
                    return None;
                }
                if rest.len() == c.len_utf8() {
                    return Some(below);
                }
                let from = from + u32::try_from(c.len_utf8()).ok()?;
                Some(self.on(Top::Text(id, from), below))
            }
            Top::Run(id, done) => {
                let Expr::Run { chars, min, max } = self.arena.get(id) else {
                    return None;
                };
                let done = chars.has(c).then(|| counted(done, *min, *max))?;
                Some(self.on(Top::Run(id, done), below))
            }
            Top::Free(id, state) => {
                let Expr::Free(avoid) = self.arena.get(id) else {
                    return None;
                };
                let tracker = self.trackers.entry(id);
                let tracker = tracker.or_insert_with(|| Tracker::new(avoid));
                let state = tracker.step(state as usize, c)?;
                let state = u32::try_from(state).ok()?;
                Some(self.on(Top::Free(id, state), below))
            }
            Top::Whole(_) | Top::Repeat(..) => None,
        }
    }
}

/// One more, as far as the count makes a difference.
fn counted(done: u32, min: u32, max: Option<u32>) -> u32 {
    match max {
        None => (done + 1).min(min),
        Some(_) => done + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::avoid::{Avoid, Piece};
    use crate::grammar::chars::Chars;

    /// Bytes that are taken of a text, and whether it may end there.
    fn taken(arena: &Arena, root: Id, text: &str) -> (usize, bool) {
        let mut acceptor = Acceptor::of(arena.clone(), root);
        let at = acceptor
            .feed(text)
            .map_or_else(|refused| refused.at(), |()| text.len());
        (at, acceptor.is_complete())
    }

    #[test]
    fn alternatives_are_followed_side_by_side() {
        let mut arena = Arena::default();
        let [short, long, behind] = ["a", "ab", "bc"].map(|text| arena.text(text));
        let either = arena.choice([short, long]);
        let root = arena.seq([either, behind]);
        assert_eq!(taken(&arena, root, "abc"), (3, true));
        assert_eq!(taken(&arena, root, "abbc"), (4, true));
        assert_eq!(taken(&arena, root, "ab"), (2, false));
        assert_eq!(taken(&arena, root, "abx"), (2, false));
    }

    #[test]
    fn rules_nest_as_deep_as_the_text() {
        let mut arena = Arena::default();
        let [open, close] = ["[", "]"].map(|text| arena.text(text));
        let list = arena.rule_ref("list");
        let inner = arena.repeat(list, 0, None);
        let body = arena.seq([open, inner, close]);
        arena.set_rule("list", body);
        let deep = format!("{}{}", "[".repeat(3000), "]".repeat(3000));
        assert_eq!(taken(&arena, list, &deep), (6000, true));
        assert_eq!(taken(&arena, list, "[[][]]]"), (6, false));
    }

    #[test]
    fn what_repeats_is_counted_and_may_be_empty() {
        let mut arena = Arena::default();
        let digits = arena.add(Expr::Run {
            chars: Chars::from_ranges(&[('0', '9')]),
            min: 0,
            max: Some(2),
        });
        let all = arena.repeat(digits, 2, None);
        assert_eq!(taken(&arena, all, ""), (0, true));
        assert_eq!(taken(&arena, all, &"7".repeat(5000)), (5000, true));
        let letter = arena.text("é");
        let some = arena.repeat(letter, 2, Some(3));
        assert_eq!(taken(&arena, some, "é"), (2, false));
        assert_eq!(taken(&arena, some, "éé"), (4, true));
        assert_eq!(taken(&arena, some, "éééé"), (6, false));
    }

    #[test]
    fn free_text_ends_before_what_it_must_not_have() {
        let mut arena = Arena::default();
        let avoid = Avoid::new([vec![Piece::Text("</t>".to_owned())]]);
        let text = arena.add(Expr::Free(avoid));
        let close = arena.text("</t>");
        let root = arena.seq([text, close]);
        assert_eq!(taken(&arena, root, "a </b> c</t>"), (12, true));
        let mut acceptor = Acceptor::of(arena, root);
        acceptor.feed("a</").expect("taken");
        assert_eq!(
            acceptor.next(),
            [
                Next::Text("</t>".to_owned()),
                Next::Text("t>".to_owned()),
                Next::Free
            ]
        );
        acceptor.feed("t>").expect("taken");
        assert_eq!(acceptor.next(), [Next::End]);
        let refused = acceptor.feed("x").expect_err("nothing may follow");
        assert_eq!(refused, Disallowed::Character { at: 5, length: 1 });
        assert_eq!(acceptor.next(), [Next::End]);
        assert!(!acceptor.is_complete());
        assert_eq!(acceptor.feed("").expect_err("nothing more"), refused);
    }
}
