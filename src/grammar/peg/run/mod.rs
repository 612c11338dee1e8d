//! Reading text with a grammar, whole or as it arrives.

mod failure;
mod leaf;
mod limits;
mod machine;
mod text;
mod tree;

#[cfg(test)]
mod tests;

pub use failure::{Expectation, Expected, Failure};
pub use limits::{LimitError, Limits};
pub use tree::{Node, Tree};

use super::arena::Grammar;
use leaf::Input;
use machine::{Machine, Next};
use text::Text;

/// The answer of a grammar to the text so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The text matches up to this byte, whatever comes behind it.
    Match {
        /// Where the match ends; the text may be longer.
        end: usize,
    },
    /// The text does not match, whatever comes behind it.
    NoMatch,
    /// That depends on what comes.
    NeedsMore,
}

impl Status {
    /// True if the text matches.
    pub fn is_match(self) -> bool {
        matches!(self, Self::Match { .. })
    }
}

/// How a text is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The limits.
    pub limits: Limits,
    /// Makes nodes of rules, too, not of tags alone.
    pub rules: bool,
}

/// Reads a text with a grammar as it arrives.
///
/// After each piece it says if the text matches, does not, or if that depends on what comes; with it comes the tree so far.
/// It goes on where it stopped, so that however a text is cut the same work is done for it, and the same comes out.
///
/// ```
/// use obverse::grammar::peg::{Grammar, Parser, Status, build::*};
///
/// let grammar = Grammar::build("<b>" + tag("bold", until("</b>")) + "</b>")?;
/// let mut parser = Parser::new(&grammar);
/// assert_eq!(parser.feed(b"<b>very bo")?, Status::NeedsMore);
/// assert_eq!(parser.tree().find("bold").map(|node| node.end()), Some(10));
/// // The delimiter may have begun: nothing of it is told.
/// assert_eq!(parser.feed(b"ld</")?, Status::NeedsMore);
/// assert_eq!(parser.tree().find("bold").map(|node| node.end()), Some(12));
/// assert_eq!(parser.feed(b"b>")?, Status::Match { end: 16 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Parser {
    grammar: Grammar,
    machine: Machine,
    text: Text,
    ended: bool,
    halted: Option<LimitError>,
    held_bytes: usize,
    /// Text from here on is kept, whether the grammar may go back to it or not.
    keep_from: usize,
}

impl Parser {
    /// A parser at the start of a text.
    pub fn new(grammar: &Grammar) -> Self {
        Self::with_options(grammar, Options::default())
    }

    /// A parser with options of one's own.
    pub fn with_options(grammar: &Grammar, options: Options) -> Self {
        Self {
            grammar: grammar.clone(),
            machine: Machine::new(grammar, options.limits, options.rules),
            text: Text::default(),
            ended: false,
            halted: None,
            held_bytes: options.limits.held_bytes,
            keep_from: usize::MAX,
        }
    }

    /// Reads more of the text. Characters may be cut.
    ///
    /// Once the text matches, or does not, what is fed changes nothing.
    ///
    /// # Errors
    ///
    /// At a limit; every later call has the same error.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Status, LimitError> {
        if !self.ended && !self.is_done() && self.halted.is_none() {
            self.text.push(bytes);
        }
        self.run()
    }

    /// Ends the text, and says if it matches: never that it [needs more](Status::NeedsMore).
    ///
    /// # Errors
    ///
    /// At a limit.
    pub fn finish(&mut self) -> Result<Status, LimitError> {
        self.ended = true;
        self.run()
    }

    fn run(&mut self) -> Result<Status, LimitError> {
        if let Some(error) = self.halted {
            return Err(error);
        }
        let input = Input {
            text: &self.text,
            ended: self.ended,
        };
        let mut result = self.machine.run(&self.grammar, input);
        if !self.is_done() {
            let behind = self.machine.behind(&self.grammar);
            self.text.release(behind.min(self.keep_from));
            if result.is_ok() && self.text.end() - self.text.start() > self.held_bytes {
                result = Err(LimitError::Held {
                    limit: self.held_bytes,
                });
            }
        }
        self.halted = result.err();
        result.map(|()| self.status())
    }

    fn is_done(&self) -> bool {
        matches!(self.machine.next, Next::Done(_))
    }

    /// Returns what is known of the text.
    pub fn status(&self) -> Status {
        match self.machine.next {
            Next::Done(true) => Status::Match {
                end: self.machine.pos,
            },
            Next::Done(false) => Status::NoMatch,
            _ => Status::NeedsMore,
        }
    }

    /// Returns the parser as it would be if the text ended where it is.
    ///
    /// # Errors
    ///
    /// At a limit.
    pub fn as_it_stands(&self) -> Result<Self, LimitError> {
        let mut copy = self.clone();
        copy.finish()?;
        Ok(copy)
    }

    /// The tree so far. While the text needs more it has what the alternatives that are being tried have read, which may yet be taken
    /// back; of a text that does not match, what was read when nothing was left to try.
    pub fn tree(&self) -> Tree<'_> {
        Tree {
            grammar: &self.grammar,
            entries: &self.machine.entries[..self.machine.shown()],
            reach: self.machine.reach(&self.grammar, &self.text),
        }
    }

    /// The furthest place at which something did not match, and what would have been right there. In a text that matches this
    /// is where an alternative or a repetition ended.
    pub fn failure(&self) -> Failure {
        self.machine.furthest.failure()
    }

    /// How many steps were taken: expressions that were tried, and bytes that they read.
    pub fn steps(&self) -> u64 {
        self.machine.steps()
    }

    /// How many bytes of the text are kept for going back to them.
    pub fn held(&self) -> usize {
        self.text.end() - self.text.start()
    }

    /// Keeps the text from a place on, whether the grammar may go back to it or not. It must not have been let go yet.
    pub(in crate::grammar) fn keep_from(&mut self, at: usize) {
        self.keep_from = at;
    }

    /// The text between two places, as far as it is kept.
    pub(in crate::grammar) fn between(&self, from: usize, to: usize) -> &[u8] {
        self.text.between(from, to)
    }

    /// The nodes that will not be taken back, and the place before which what was read will not be.
    pub(in crate::grammar) fn settled(&self) -> (Tree<'_>, usize) {
        let (nodes, at) = self.machine.settled(&self.grammar, &self.text);
        let tree = Tree {
            grammar: &self.grammar,
            entries: &self.machine.entries[..nodes],
            reach: at,
        };
        (tree, at)
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }
}

impl Grammar {
    /// Reads a whole text.
    ///
    /// # Errors
    ///
    /// At a limit.
    ///
    /// ```
    /// use obverse::grammar::peg::{Grammar, build::*};
    ///
    /// let number = Grammar::build(one_or_more(chars("[0-9]", 1, 1)) + end())?;
    /// assert!(number.read("42")?.status().is_match());
    /// let parser = number.read("4x")?;
    /// assert_eq!(parser.failure().at, 1);
    /// assert_eq!(parser.failure().expectations(&number)[0].what, "[0-9]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(&self, text: impl AsRef<[u8]>) -> Result<Parser, LimitError> {
        let mut parser = Parser::new(self);
        parser.feed(text.as_ref())?;
        parser.finish()?;
        Ok(parser)
    }

    /// Says if a whole text matches to its end. A text at which a limit is reached does not.
    pub fn matches(&self, text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        let whole = Status::Match { end: text.len() };
        self.read(text).is_ok_and(|parser| parser.status() == whole)
    }
}
