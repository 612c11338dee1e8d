//! Patterns: the syntax of Python's `regex` module, searched by Rust engines, over texts that arrive in chunks.
//!
//! A [`Pattern`] is read from a source as Python's `regex.compile(source, regex.DOTALL)` reads it, or made of literals.
//! It is searched over a complete text ([`Pattern::search`], [`Pattern::find_iter`]) or, with [`Search`], over one that
//! grows: the answer is then the one that the complete text gives, however the text was cut.
//!
//! | matcher | for | work |
//! |---|---|---|
//! | sequence | patterns that are simple steps one after the other, before the engine is asked | linear; one pass |
//! | direct | complete texts, before the engine is asked | a budget that is linear in the text |
//! | literal | literals, and patterns that are one | linear |
//! | automaton | all that a finite automaton can do | linear in the text, times the pattern's size |
//! | backtracking | look-around, back-references, atomic groups, conditionals | limited; linear where no group is asked for |
//!
//! # Why it is our own
//!
//! Three things are asked at once, and no crate at hand does them together. The syntax and the choices are those of Python's `regex`
//! (look-around, back-references, atomic groups, conditionals, the leftmost match that backtracking finds first), since response
//! templates are written for it. Text arrives in chunks, so that a search must say of a position whether *later text could still
//! change the match* there, as `regex` does with `partial=True`; `fancy-regex` reports no such thing, `regex-automata` does only for what
//! an automaton can do, and PCRE2, which does, speaks Perl's syntax and is C behind `unsafe` calls. And work is linear in the text
//! however it is cut, so that a search must go on where the last chunk left it, which a backtracking engine of others does not. What can be had is used: `regex-automata` compiles the automaton (its NFA is simulated here, state
//! by state, since its own engines take whole haystacks), `regex-syntax` knows the classes of Unicode, `memchr` finds literals.
//!
//! Before its engine, a pattern that is a sequence of simple steps, as nearly all delimiters are, is searched step by step:
//! its literals by vectorised search, everything else in one pass. Where the steps leave a choice the engine goes on. A complete
//! text is then tried directly, by a backtracking search whose budget is linear in the text (`direct`), before the engine is asked.
//!
//! # Where it differs from `regex`
//!
//! - Refused by name: fuzzy matching, recursion, named lists, `\G`, `\K`, `\X`, `\N{...}`, `(*PRUNE)`, `(*SKIP)`, the flags
//!   `V1 f L p r w`, and character properties that are neither categories, scripts nor binary (blocks, numeric values).
//!   No engine here does them, and response templates have no use for them.
//! - Refused by size: sources beyond 64 KiB, groups nested beyond 100 deep, too many large sets, repetitions that write
//!   out too long; and searches that take too many steps for their text. `regex` has no limits, and hangs.
//! - Letters and digits that the later Unicode of `regex` has are not known here.
//! - A repeated group that matched nothing in an iteration: how `regex` goes on depends on what it remembers of earlier
//!   failures, as in `(?P<y>\n*?){,2}x`; here on the pattern alone. Three of ten thousand generated patterns showed it.
//! - `regex` confuses sets that differ in the flags `a` or `i` alone and stand in one pattern, as in
//!   `(?a:[^\W\d]x)?[^\W\d]` and `[^a]|1|(?i:b)`; here each keeps its own.

mod automaton;
mod backtrack;
mod bytes;
pub mod dialect;
mod direct;
mod error;
pub mod facts;
mod limits;
mod literal;
#[cfg(test)]
mod numbers;
pub(crate) mod parts;
mod repeats;
mod search;
mod sequence;
pub(crate) mod spelled;
mod syntax;
mod text;
mod texts;
mod tokens;
pub(crate) mod written;

use std::sync::{Arc, OnceLock};

pub use error::{MatchError, PatternError};
pub use repeats::{ends_lazily, may_explode};
pub use search::Captures;
#[doc(hidden)]
pub use search::{Progress, Search};
#[doc(hidden)]
pub use text::Window;
pub(crate) use texts::anywhere;
pub use texts::fixed_texts;

pub(crate) use bytes::ByteSet;
pub(crate) use search::Cursor;
pub(crate) use text::Scanned;

use automaton::{Automaton, BuildError};
use backtrack::Program;
use literal::Literals;
use sequence::Sequence;
use syntax::Dialect;
use syntax::ast::Node;

use crate::value::{Key, json};

/// A compiled pattern. Cloning it is cheap.
#[derive(Debug, Clone)]
pub struct Pattern(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: String,
    dialect: Dialect,
    literals: Option<Vec<String>>,
    /// Names and numbers of the named groups.
    groups: Vec<(String, usize)>,
    names: Vec<String>,
    /// The names of the groups as shared keys, for captures.
    keys: Vec<Key>,
    strategy: Strategy,
    /// The faster way to the same answers, where there is one.
    sequence: Option<Sequence>,
    /// The faster way through a complete text, where there is one; made when it is first wanted.
    direct: OnceLock<Option<direct::Program>>,
    first: Option<ByteSet>,
    /// True if a match in a text is there in every text that begins with it.
    grows: bool,
}

/// A matcher with what the pattern was compiled to for it.
#[derive(Debug)]
pub(crate) enum Strategy {
    Literal(Literals),
    Automaton(Automaton),
    Backtracking(Program),
}

/// The algorithm by which a pattern is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Matcher {
    /// An Aho-Corasick automaton for fixed strings.
    Literal,
    /// A simulated finite automaton.
    Automaton,
    /// Backtracking, with a limit on its steps.
    Backtracking,
}

impl Matcher {
    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Literal => "literal",
            Self::Automaton => "automaton",
            Self::Backtracking => "backtracking",
        }
    }
}

impl Pattern {
    /// Compiles a source in the syntax of Python's `regex`, version 0 behaviour, with the flag `DOTALL`.
    ///
    /// # Errors
    ///
    /// Where `regex` refuses the source, where it uses what no engine here can do (fuzzy matching, recursion, named lists,
    /// `\G`, `\K`, `\X`, `\N{...}`, the flags `V1 f L p r w`), and where it exceeds a limit on length, nesting or size.
    pub fn regex(source: &str) -> Result<Self, PatternError> {
        Self::compile(source, Dialect::Regex)
    }

    /// Compiles a source in the syntax of Python's `re` (of Python 3.11), with the flag `DOTALL`.
    ///
    /// Every group is kept: an unnamed one under its number, `"1"` for the first. They stand in the order of their numbers.
    ///
    /// # Errors
    ///
    /// Where `re` refuses the source, where it exceeds a limit on length, nesting or size, and for two constructs that no engine
    /// here has: `\N{...}`, and a back-reference within a look behind.
    ///
    /// ```
    /// use obverse::pattern::Pattern;
    /// let pattern = Pattern::re(r"<(\w+)>(?P<rest>.*)")?;
    /// assert_eq!(pattern.group_names(), ["1", "rest"]);
    /// let found = pattern.search("<a>bc", 0)?.unwrap();
    /// assert_eq!(found.group("1"), Some(1..2));
    /// assert!(Pattern::re(r"(?<name>a)").is_err() && Pattern::re(r"(?<=a+)b").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn re(source: &str) -> Result<Self, PatternError> {
        Self::compile(source, Dialect::Re)
    }

    fn compile(source: &str, dialect: Dialect) -> Result<Self, PatternError> {
        let parsed = syntax::parse_as(source, dialect)?;
        let too_large = || {
            let message = "the pattern is too large when its repetitions are written out";
            PatternError::new(message, 0..source.len())
                .with_hint("lower the counts of its repetitions")
        };
        let strategy = match fixed(&parsed.node) {
            Some(text) if !text.is_empty() => Strategy::Literal(Literals::new(&[text])),
            _ => match Automaton::new(&parsed) {
                Ok(automaton) => Strategy::Automaton(automaton),
                // A pattern that makes a large automaton, byte by byte, may still make a short program.
                Err(BuildError::TooLarge | BuildError::Unsuitable) => {
                    Strategy::Backtracking(Program::new(&parsed).ok_or_else(too_large)?)
                }
            },
        };
        let names: Vec<String> = parsed.names.iter().map(|(name, _)| name.clone()).collect();
        let sequence = Sequence::new(&parsed.node, &parsed.names);
        Ok(Self(Arc::new(Inner {
            source: source.to_owned(),
            dialect,
            literals: None,
            first: match (&sequence, &strategy) {
                (Some(sequence), _) => sequence.first_bytes(),
                (None, Strategy::Literal(literals)) => Some(literals.first_bytes()),
                (None, Strategy::Automaton(automaton)) => automaton.first_bytes(),
                (None, Strategy::Backtracking(program)) => program.first_bytes(),
            },
            sequence,
            grows: facts::grows(&parsed.node),
            direct: OnceLock::new(),
            groups: parsed.names,
            keys: names.iter().map(Key::from).collect(),
            names,
            strategy,
        })))
    }

    /// Compiles a list of fixed strings: any of them matches, and where several begin at one place, the longest.
    ///
    /// # Errors
    ///
    /// When the list or a string in it is empty, and when they are too long together.
    pub fn literals(literals: &[String]) -> Result<Self, PatternError> {
        if literals.is_empty() || literals.iter().any(String::is_empty) {
            return Err(PatternError::new("a literal cannot be empty", 0..0));
        }
        let length: usize = literals.iter().map(String::len).sum();
        if length > limits::PATTERN_BYTES {
            return Err(PatternError::new(
                format!(
                    "the literals are longer than {} bytes together",
                    limits::PATTERN_BYTES
                ),
                0..0,
            ));
        }
        let mut ordered: Vec<&String> = literals.iter().collect();
        ordered.sort_by_key(|literal| std::cmp::Reverse(literal.chars().count()));
        let source = ordered
            .iter()
            .map(|literal| escape(literal))
            .collect::<Vec<_>>()
            .join("|");
        let compiled = Literals::new(literals);
        Ok(Self(Arc::new(Inner {
            source,
            dialect: Dialect::Regex,
            literals: Some(literals.to_vec()),
            groups: Vec::new(),
            names: Vec::new(),
            keys: Vec::new(),
            first: Some(compiled.first_bytes()),
            grows: true,
            strategy: Strategy::Literal(compiled),
            direct: OnceLock::new(),
            sequence: match literals {
                [literal] => Some(Sequence::literal(literal)),
                _ => None,
            },
        })))
    }

    /// The list that [`Pattern::literals`] was given; `None` for a pattern that was compiled from a source.
    pub fn as_literals(&self) -> Option<&[String]> {
        self.0.literals.as_deref()
    }

    /// The literals as they are told to people, each in quotes; `None` for a pattern that was compiled from a source.
    pub fn quoted_literals(&self) -> Option<String> {
        let quoted: Vec<String> = self
            .as_literals()?
            .iter()
            .map(|literal| json::quote(literal))
            .collect();
        Some(quoted.join(" or "))
    }

    /// The source; for literals, a source that matches the same.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The names of the named groups, in the order in which they first appear; of a pattern of `re`, of all groups.
    pub fn group_names(&self) -> &[String] {
        &self.0.names
    }

    /// How the pattern is searched.
    pub fn engine(&self) -> Matcher {
        match self.0.strategy {
            Strategy::Literal(_) => Matcher::Literal,
            Strategy::Automaton(_) => Matcher::Automaton,
            Strategy::Backtracking(_) => Matcher::Backtracking,
        }
    }

    /// How many bytes before the place where a match may begin a search can read; `usize::MAX` where there is no bound.
    pub fn lookbehind(&self) -> usize {
        match &self.0.strategy {
            Strategy::Literal(_) => 0,
            Strategy::Automaton(automaton) => automaton.lookbehind(),
            Strategy::Backtracking(program) => program.lookbehind(),
        }
    }

    /// The first match in a complete text at or after the byte offset `from`, which lies between two characters: what
    /// Python's `pattern.search(text, from)` gives. `^` matches at 0 only, and look-behind sees what stands before `from`.
    ///
    /// # Errors
    ///
    /// When the search takes too many steps.
    ///
    /// # Panics
    ///
    /// When `from` lies within a character or behind the end.
    pub fn search(&self, text: &str, from: usize) -> Result<Option<Captures>, MatchError> {
        let mut whole = search::Whole::new(self, text);
        whole.search(from, false)
    }

    /// All matches in a complete text that do not overlap, as Python's `finditer` gives them. An empty match may directly
    /// follow another; after one, the next match does not end at the same place. An error ends the iteration.
    ///
    /// ```
    /// use obverse::pattern::Pattern;
    ///
    /// let pattern = Pattern::regex(r"(?P<key>\w+)=")?;
    /// let text = "a=1 b=2";
    /// let keys = pattern.find_iter(text).map(|found| Ok(&text[found?.group("key").unwrap_or_default()]));
    /// assert_eq!(keys.collect::<Result<Vec<_>, obverse::pattern::MatchError>>()?, ["a", "b"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find_iter<'t>(
        &'t self,
        text: &'t str,
    ) -> impl Iterator<Item = Result<Captures, MatchError>> + 't {
        self.iterate(text, u64::MAX)
    }

    /// As [`Self::find_iter`], but all searches together take no more steps than one search of the whole text may.
    pub(crate) fn find_iter_bounded<'t>(
        &'t self,
        text: &'t str,
    ) -> impl Iterator<Item = Result<Captures, MatchError>> + 't {
        let per_byte = match self.0.strategy {
            Strategy::Backtracking(_) => limits::STEPS_PER_BYTE,
            Strategy::Literal(_) | Strategy::Automaton(_) => limits::AUTOMATON_STEPS_PER_BYTE,
        };
        self.iterate(text, limits::STEPS + per_byte * text.len() as u64)
    }

    fn iterate<'t>(
        &'t self,
        text: &'t str,
        limit: u64,
    ) -> impl Iterator<Item = Result<Captures, MatchError>> + 't {
        let mut from = Some((0, false));
        let mut whole = search::Whole::new(self, text);
        std::iter::from_fn(move || {
            let (start, advance) = from?;
            let found = match whole.search(start, advance) {
                Ok(_) if whole.steps() > limit => {
                    Some(Err(MatchError::StepLimit { limit, at: start }))
                }
                Ok(found) => found.map(Ok),
                Err(error) => Some(Err(error)),
            };
            from = match &found {
                Some(Ok(captures)) => Some((captures.span.end, captures.span.is_empty())),
                _ => None,
            };
            found
        })
    }

    /// The bytes of which one comes wherever a match begins; `None` where they are not known, or nothing need come.
    pub(crate) fn first_bytes(&self) -> Option<ByteSet> {
        self.0.first
    }

    /// Returns true if a text in which the pattern matches also has a match, from the same place on, however the text goes on. A match that
    /// is not in a text is then in no beginning of it either. Only true is certain.
    pub(crate) fn grows(&self) -> bool {
        self.0.grows
    }

    /// The source's tree.
    fn parsed(&self) -> Result<syntax::Parsed, PatternError> {
        syntax::parse_as(&self.0.source, self.0.dialect)
    }

    fn keys(&self) -> &[Key] {
        &self.0.keys
    }

    pub(crate) fn sequence(&self) -> Option<&Sequence> {
        self.0.sequence.as_ref()
    }

    /// How a complete text is tried directly; `None` where it is not.
    fn direct(&self) -> Option<&direct::Program> {
        let compile = || match self.0.strategy {
            Strategy::Literal(_) => None,
            _ => direct::Program::new(&self.parsed().ok()?),
        };
        self.0.direct.get_or_init(compile).as_ref()
    }

    pub(crate) fn strategy(&self) -> &Strategy {
        &self.0.strategy
    }

    /// The numbers of the named groups, in the order of [`group_names`](Self::group_names).
    fn group_numbers(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.groups.iter().map(|(_, number)| *number)
    }
}

/// Returns true if Python's `str.isalnum` is true of the character: a letter or a number of any script.
pub(crate) fn is_alphanumeric_to_python(value: char) -> bool {
    if value.is_ascii() {
        return value.is_ascii_alphanumeric();
    }
    static WORD: std::sync::LazyLock<text::CharSet> =
        std::sync::LazyLock::new(|| text::CharSet::new(&syntax::class::word_of_re()));
    WORD.contains(value)
}

/// The one string that the node matches, if it is so.
fn fixed(node: &Node) -> Option<String> {
    match node {
        Node::Empty => Some(String::new()),
        Node::Char(value) => Some(value.to_string()),
        Node::Concat(nodes) => nodes.iter().map(fixed).collect(),
        _ => None,
    }
}

/// A source that matches the literal.
fn escape(literal: &str) -> String {
    let mut source = String::new();
    for c in literal.chars() {
        if c.is_ascii_punctuation() && c != '_' {
            source.push('\\');
        }
        source.push(c);
    }
    source
}

#[cfg(test)]
mod tests {
    use super::{Matcher, Pattern, Search};

    fn spans(source: &str, text: &str) -> Vec<(usize, usize)> {
        let pattern = Pattern::regex(source).expect("a pattern");
        let found = pattern
            .find_iter(text)
            .map(|found| found.expect("no limit").span);
        found.map(|span| (span.start, span.end)).collect()
    }

    #[test]
    fn empty_matches_are_found_as_by_finditer() {
        assert_eq!(spans("a*", "aab"), [(0, 2), (2, 2), (3, 3)]);
        assert_eq!(spans("|a", "a"), [(0, 0), (0, 1), (1, 1)]);
        assert_eq!(spans("$", "a\n"), [(1, 1), (2, 2)]);
        assert_eq!(spans("(?=a)", "aa"), [(0, 0), (1, 1)]);
    }

    #[test]
    fn look_behind_sees_what_stands_before_the_search() {
        let search = |source: &str, from| {
            let found = Pattern::regex(source)
                .expect("a pattern")
                .search("abc", from)
                .expect("no limit");
            found.map(|found| found.span)
        };
        assert_eq!(search("(?<=a)b", 1), Some(1..2));
        assert_eq!(search(r"\bb", 1), None);
        assert_eq!(search("^b", 1), None);
        assert_eq!(search("c", 3), None);
        assert_eq!(search("$", 3), Some(3..3));
    }

    #[test]
    fn the_source_of_literals_matches_the_same() {
        let literals = ["a.".to_owned(), "<|x|>\n".to_owned(), "a.b".to_owned()];
        let pattern = Pattern::literals(&literals).expect("literals");
        assert_eq!(pattern.source(), "\\<\\|x\\|\\>\n|a\\.b|a\\.");
        assert_eq!(
            (pattern.engine(), pattern.lookbehind()),
            (Matcher::Literal, 0)
        );
        let same = Pattern::regex(pattern.source()).expect("a pattern");
        let text = "ab a. a.b <|x|>\n";
        let found = |pattern: &Pattern| pattern.find_iter(text).collect::<Vec<_>>();
        assert_eq!(found(&pattern), found(&same));
    }

    #[test]
    fn patterns_and_searches_go_from_thread_to_thread() {
        fn check<T: Send + Sync + Clone + 'static>() {}
        check::<Pattern>();
        check::<Search>();
    }
}
