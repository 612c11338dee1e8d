//! How a response is cut into the chunks in which a parser gets it.
//!
//! One notion for all that cuts responses: the debugger, `parse --chunks`, and the checks that try many cuts, so that what one
//! of them names the others understand.

mod tokens;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use fastrand::Rng;

pub use tokens::{Token, Tokens};

/// A way to cut a response. Written as `whole`, `3` (characters), `3b` (bytes), `words`, `random:7` (the seed), `recorded` or
/// `tokens:FILE` (a `tokenizer.json`).
///
/// ```
/// use obverse::chunking::Chunking;
///
/// let words: Chunking = "words".parse()?;
/// assert_eq!(words.ends("Hello, all  of you", &[])?, [6, 10, 14, 18]);
/// assert_eq!("2b".parse::<Chunking>()?.to_string(), "2b");
/// # Ok::<(), obverse::chunking::ChunkingError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chunking {
    /// In one piece.
    Whole,
    /// Pieces of so many characters.
    Characters(usize),
    /// Pieces of so many bytes, which may cut a character.
    Bytes(usize),
    /// Each word with the white space before it, which is about what a tokenizer does.
    #[default]
    Words,
    /// Pieces of one to sixteen characters, the same for the same seed.
    Random(u64),
    /// As it was recorded; as words where it was not.
    Recorded,
    /// The tokens that a tokenizer cuts the text into. Several tokens that share a character are one piece.
    Tokens(Tokens),
}

/// Why a response cannot be cut as was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkingError {
    /// The name of no chunking.
    #[error(
        "`{0}` is no chunking: whole, words, recorded, random:SEED, 3 (characters), 3b (bytes) or tokens:FILE (a tokenizer.json)"
    )]
    Unknown(String),
    /// A tokenizer, where no file can be read.
    #[error("`{0}` names a file, which cannot be read here")]
    NoFiles(String),
    /// A tokenizer, of which this build knows nothing.
    #[error(
        "this build of obverse knows no tokenizers; cargo's `--features tokenizers` builds them in"
    )]
    NotBuiltIn,
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file is no tokenizer.
    #[error("{file} is no tokenizer: {message}")]
    NoTokenizer {
        /// The file.
        file: String,
        /// The reason why it cannot be used.
        message: String,
    },
    /// The tokenizer does not take the text.
    #[error("the tokenizer does not take this response: {0}")]
    Failed(String),
}

/// The longest piece of a random chunking, in characters.
const RANDOM_MOST: usize = 16;

/// The word that comes before the file of a tokenizer.
const TOKENS: &str = "tokens:";

impl Chunking {
    /// Reads what is written; `read` gives the text of a file, or says in a sentence why it cannot.
    ///
    /// # Errors
    ///
    /// A text that is no chunking; a tokenizer that cannot be read or is none.
    pub fn read(
        text: &str,
        read: &mut dyn FnMut(&Path) -> Result<String, String>,
    ) -> Result<Self, ChunkingError> {
        match Self::tokenizer_file(text) {
            Some(file) => {
                Tokens::is_built_in()?;
                let json = read(file).map_err(ChunkingError::Unreadable)?;
                Tokens::of_json(file, &json).map(Self::Tokens)
            }
            None => text.parse(),
        }
    }

    /// The file of the tokenizer that is asked for; `None` for what needs no file.
    pub fn tokenizer_file(text: &str) -> Option<&Path> {
        text.trim().strip_prefix(TOKENS).map(Path::new)
    }

    /// The byte offset at which each chunk ends; none is empty, and the last is the text's end. `recorded` are the ends that
    /// were recorded, in order.
    ///
    /// # Errors
    ///
    /// That a tokenizer does not take the text. Every other chunking cuts every text.
    pub fn ends(&self, text: &str, recorded: &[usize]) -> Result<Vec<usize>, ChunkingError> {
        let mut ends: Vec<usize> = match self {
            Self::Whole => Vec::new(),
            Self::Characters(size) => text
                .char_indices()
                .map(|(at, _)| at)
                .step_by(*size.max(&1))
                .skip(1)
                .collect(),
            Self::Bytes(size) => (0..text.len()).step_by(*size.max(&1)).skip(1).collect(),
            Self::Recorded if !recorded.is_empty() => {
                let within = recorded
                    .iter()
                    .copied()
                    .filter(|end| (1..text.len()).contains(end));
                within.collect()
            }
            Self::Words | Self::Recorded => words(text),
            Self::Random(seed) => random(text, *seed),
            Self::Tokens(tokens) => tokens.ends(text)?,
        };
        ends.dedup();
        if !text.is_empty() {
            ends.push(text.len());
        }
        Ok(ends)
    }
}

/// The chunks that end at these bytes, of whole characters: one that is cut arrives with its last byte. None is empty.
///
/// ```
/// use obverse::chunking::chunks;
///
/// let parts: Vec<&str> = chunks("a\u{20ac}b", &[2, 4, 5]).collect();
/// assert_eq!(parts, ["a", "\u{20ac}", "b"]);
/// ```
pub fn chunks<'t>(text: &'t str, ends: &[usize]) -> impl Iterator<Item = &'t str> {
    let mut start = 0;
    ends.iter().filter_map(move |end| {
        let end = text.floor_char_boundary(*end).max(start);
        let chunk = &text[start..end];
        start = end;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Where white space follows what is none.
fn words(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() && in_word {
            ends.push(at);
        }
        in_word = !c.is_whitespace();
    }
    ends
}

fn random(text: &str, seed: u64) -> Vec<usize> {
    let mut rng = Rng::with_seed(seed);
    let mut ends = Vec::new();
    let mut left = rng.usize(1..=RANDOM_MOST);
    for (at, _) in text.char_indices() {
        if left == 0 {
            ends.push(at);
            left = rng.usize(1..=RANDOM_MOST);
        }
        left -= 1;
    }
    ends
}

impl FromStr for Chunking {
    type Err = ChunkingError;

    /// As [`Chunking::read`], where there are no files.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if Self::tokenizer_file(text).is_some() {
            return Err(ChunkingError::NoFiles(text.to_owned()));
        }
        let bad = || ChunkingError::Unknown(text.to_owned());
        let size = |digits: &str| {
            let size = digits.parse().ok().filter(|size: &usize| *size > 0);
            size.ok_or_else(bad)
        };
        Ok(match text.trim() {
            "whole" => Self::Whole,
            "words" => Self::Words,
            "recorded" => Self::Recorded,
            other => match (other.strip_prefix("random:"), other.strip_suffix('b')) {
                (Some(seed), _) => Self::Random(seed.parse().map_err(|_| bad())?),
                (None, Some(digits)) => Self::Bytes(size(digits)?),
                (None, None) => Self::Characters(size(other)?),
            },
        })
    }
}

impl fmt::Display for Chunking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Characters(size) => write!(f, "{size}"),
            Self::Bytes(size) => write!(f, "{size}b"),
            Self::Words => f.write_str("words"),
            Self::Random(seed) => write!(f, "random:{seed}"),
            Self::Recorded => f.write_str("recorded"),
            Self::Tokens(tokens) => write!(f, "{TOKENS}{}", tokens.file().display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Chunking; 6] = [
        Chunking::Whole,
        Chunking::Characters(2),
        Chunking::Bytes(3),
        Chunking::Words,
        Chunking::Random(7),
        Chunking::Recorded,
    ];

    fn ends(chunking: &Chunking, text: &str) -> Vec<usize> {
        chunking
            .ends(text, &[2, 2, 5, 99])
            .expect("no tokenizer that could fail")
    }

    #[test]
    fn chunks_cover_the_text() {
        for chunking in ALL {
            for text in ["", "é", "Hello, <|im|> wörld\n", "  a  b  "] {
                let ends = ends(&chunking, text);
                assert!(
                    ends.is_sorted_by(|a, b| a < b),
                    "{chunking} {text:?} {ends:?}"
                );
                assert_eq!(ends.last().copied().unwrap_or(0), text.len(), "{chunking}");
                let parts: Vec<&str> = chunks(text, &ends).collect();
                assert_eq!(parts.concat(), text, "{chunking}");
                assert!(!parts.contains(&""), "{chunking}");
            }
            assert_eq!(chunking.to_string().parse(), Ok(chunking));
        }
    }

    #[test]
    fn bytes_cut_characters_and_characters_do_not() {
        assert_eq!(ends(&Chunking::Bytes(1), "é!"), [1, 2, 3]);
        assert_eq!(ends(&Chunking::Characters(1), "é!"), [2, 3]);
        assert_eq!(ends(&Chunking::Recorded, "abcdef"), [2, 5, 6]);
    }

    #[test]
    fn a_character_arrives_with_its_last_byte() {
        let cut = |text| chunks(text, &ends(&Chunking::Bytes(2), text)).collect::<Vec<_>>();
        assert_eq!(cut("a\u{20ac}bc"), ["a", "\u{20ac}", "bc"]);
        assert_eq!(cut(""), [""; 0]);
    }

    #[test]
    fn a_seed_cuts_the_same_each_time() {
        let text = "some words and more of them, enough for several pieces";
        let cut = |seed| ends(&Chunking::Random(seed), text);
        assert_eq!(cut(1), cut(1));
        assert_ne!(cut(1), cut(2));
    }

    #[test]
    fn what_is_no_chunking_is_refused() {
        for text in ["", "0", "0b", "b", "random:", "random:x", "-1", "sentences"] {
            let error = text.parse::<Chunking>().expect_err("no chunking");
            assert!(matches!(error, ChunkingError::Unknown(_)), "{text}");
        }
        let without_files = "tokens:x.json".parse::<Chunking>();
        assert!(matches!(without_files, Err(ChunkingError::NoFiles(_))));
    }
}
