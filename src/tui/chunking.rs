//! How a response is cut into the chunks in which a parser gets it.

use std::fmt;
use std::str::FromStr;

/// A way to cut a response. Written as `whole`, `3` (characters), `3b` (bytes), `words`, `random:7` (the seed) or `recorded`.
///
/// ```
/// use obverse::tui::Chunking;
///
/// let words: Chunking = "words".parse()?;
/// assert_eq!(words.cut("Hello, all  of you", &[]), [6, 10, 14, 18]);
/// assert_eq!("2b".parse::<Chunking>()?.to_string(), "2b");
/// # Ok::<(), obverse::tui::ChunkingError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
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
    /// Pieces of one to eight characters, the same for the same seed.
    Random(u64),
    /// As it was recorded; as words where it was not.
    Recorded,
}

/// What is not the name of a chunking.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no chunking: whole, words, recorded, random:SEED, 3 (characters) or 3b (bytes)")]
pub struct ChunkingError(String);

/// The longest piece of a random chunking, in characters.
const RANDOM_MOST: u64 = 8;

impl Chunking {
    /// The byte offset at which each chunk ends; none is empty, and the last is the text's end. `recorded` are the ends that
    /// were recorded, in order.
    pub fn cut(self, text: &str, recorded: &[usize]) -> Vec<usize> {
        let mut ends = match self {
            Self::Whole => Vec::new(),
            Self::Characters(size) => text
                .char_indices()
                .map(|(at, _)| at)
                .step_by(size.max(1))
                .skip(1)
                .collect(),
            Self::Bytes(size) => (0..text.len()).step_by(size.max(1)).skip(1).collect(),
            Self::Recorded if !recorded.is_empty() => {
                let within = recorded
                    .iter()
                    .copied()
                    .filter(|end| (1..text.len()).contains(end));
                within.collect()
            }
            Self::Words | Self::Recorded => words(text),
            Self::Random(seed) => random(text, seed),
        };
        ends.dedup();
        if !text.is_empty() {
            ends.push(text.len());
        }
        ends
    }
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
    // Steele, Lea and Flood's SplitMix64.
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        1 + (mixed ^ (mixed >> 31)) % RANDOM_MOST
    };
    let mut ends = Vec::new();
    let mut left = next();
    for (at, _) in text.char_indices() {
        if left == 0 {
            ends.push(at);
            left = next();
        }
        left -= 1;
    }
    ends
}

impl FromStr for Chunking {
    type Err = ChunkingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ChunkingError(text.to_owned());
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

    #[test]
    fn chunks_cover_the_text() {
        for chunking in ALL {
            for text in ["", "é", "Hello, <|im|> wörld\n", "  a  b  "] {
                let ends = chunking.cut(text, &[2, 2, 5, 99]);
                assert!(
                    ends.is_sorted_by(|a, b| a < b),
                    "{chunking} {text:?} {ends:?}"
                );
                assert_eq!(ends.last().copied().unwrap_or(0), text.len(), "{chunking}");
            }
            assert_eq!(chunking.to_string().parse(), Ok(chunking));
        }
    }

    #[test]
    fn bytes_cut_characters_and_characters_do_not() {
        assert_eq!(Chunking::Bytes(1).cut("é!", &[]), [1, 2, 3]);
        assert_eq!(Chunking::Characters(1).cut("é!", &[]), [2, 3]);
        assert_eq!(Chunking::Recorded.cut("abcd", &[1, 3]), [1, 3, 4]);
    }

    #[test]
    fn a_seed_cuts_the_same_each_time() {
        let text = "some words and more of them";
        assert_eq!(
            Chunking::Random(1).cut(text, &[]),
            Chunking::Random(1).cut(text, &[])
        );
        assert_ne!(
            Chunking::Random(1).cut(text, &[]),
            Chunking::Random(2).cut(text, &[])
        );
    }

    #[test]
    fn what_is_no_chunking_is_refused() {
        for text in ["", "0", "0b", "b", "random:", "random:x", "-1", "sentences"] {
            assert!(text.parse::<Chunking>().is_err(), "{text}");
        }
    }
}
