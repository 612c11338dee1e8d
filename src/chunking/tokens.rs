//! The tokens of a real tokenizer, where the feature `tokenizers` builds them in.

use std::path::{Path, PathBuf};

use super::ChunkingError;

/// A tokenizer, as a model's `tokenizer.json` has it.
#[derive(Debug, Clone)]
pub struct Tokens {
    file: PathBuf,
    tokenizer: engine::Tokenizer,
}

impl Tokens {
    /// Reads the text of a `tokenizer.json`; `file` is what it is called.
    ///
    /// # Errors
    ///
    /// That it is no tokenizer, or that none are built in.
    pub fn of_json(file: &Path, json: &str) -> Result<Self, ChunkingError> {
        Ok(Self {
            file: file.to_owned(),
            tokenizer: engine::read(file, json)?,
        })
    }

    /// The file that it was read from.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Refuses where tokenizers are not built in.
    ///
    /// # Errors
    ///
    /// That they are not.
    pub fn is_built_in() -> Result<(), ChunkingError> {
        engine::is_built_in()
    }

    /// The tokens of a text, with no special tokens but those that stand in it.
    ///
    /// # Errors
    ///
    /// That the tokenizer does not take the text.
    pub fn encode(&self, text: &str) -> Result<Vec<Token>, ChunkingError> {
        engine::encode(&self.tokenizer, text)
    }

    /// Where tokens end, in bytes, in ascending order.
    pub(super) fn ends(&self, text: &str) -> Result<Vec<usize>, ChunkingError> {
        engine::ends(&self.tokenizer, text)
    }
}

/// A token of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Token {
    /// Its id.
    pub id: u32,
    /// Where it starts and ends in the text, in bytes. Each of several tokens that share a character has the whole of it.
    pub bytes: (usize, usize),
}

impl PartialEq for Tokens {
    /// Two are the same when they were read from the same file.
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

impl Eq for Tokens {}

#[cfg(feature = "tokenizers")]
mod engine {
    use std::path::Path;
    use std::sync::Arc;

    use super::Token;
    use crate::chunking::ChunkingError;

    pub(super) type Tokenizer = Arc<tokenizers::Tokenizer>;

    pub(super) fn is_built_in() -> Result<(), ChunkingError> {
        Ok(())
    }

    pub(super) fn read(file: &Path, json: &str) -> Result<Tokenizer, ChunkingError> {
        let read = tokenizers::Tokenizer::from_bytes(json);
        let mut tokenizer = read.map_err(|error| ChunkingError::NoTokenizer {
            file: file.display().to_string(),
            message: error.to_string(),
        })?;
        // What is cut short or filled up for a batch would not be the response.
        let _ = tokenizer.with_truncation(None);
        tokenizer.with_padding(None);
        Ok(Arc::new(tokenizer))
    }

    pub(super) fn encode(tokenizer: &Tokenizer, text: &str) -> Result<Vec<Token>, ChunkingError> {
        let encoding = tokenizer
            .encode(text, false)
            .map_err(|error| ChunkingError::Failed(error.to_string()))?;
        let tokens = encoding.get_ids().iter().zip(encoding.get_offsets());
        let tokens = tokens.map(|(id, bytes)| Token {
            id: *id,
            bytes: *bytes,
        });
        Ok(tokens.collect())
    }

    /// The tokenizer's offsets are bytes of the text, whatever its normalizer made of it; each of several tokens that share a
    /// character has the whole of it.
    pub(super) fn ends(tokenizer: &Tokenizer, text: &str) -> Result<Vec<usize>, ChunkingError> {
        // A model writes no beginning of a sequence.
        let encoding = tokenizer
            .encode(text, false)
            .map_err(|error| ChunkingError::Failed(error.to_string()))?;
        let mut ends: Vec<usize> = Vec::new();
        for (_, end) in encoding.get_offsets() {
            let is_further = *end > ends.last().copied().unwrap_or(0);
            if is_further && *end < text.len() && text.is_char_boundary(*end) {
                ends.push(*end);
            }
        }
        Ok(ends)
    }
}

#[cfg(not(feature = "tokenizers"))]
mod engine {
    use std::convert::Infallible;
    use std::path::Path;

    use super::Token;
    use crate::chunking::ChunkingError;

    /// There is none.
    pub(super) type Tokenizer = Infallible;

    pub(super) fn is_built_in() -> Result<(), ChunkingError> {
        Err(ChunkingError::NotBuiltIn)
    }

    pub(super) fn read(_: &Path, _: &str) -> Result<Tokenizer, ChunkingError> {
        Err(ChunkingError::NotBuiltIn)
    }

    pub(super) fn encode(tokenizer: &Tokenizer, _: &str) -> Result<Vec<Token>, ChunkingError> {
        match *tokenizer {}
    }

    pub(super) fn ends(tokenizer: &Tokenizer, _: &str) -> Result<Vec<usize>, ChunkingError> {
        match *tokenizer {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "tokenizers"))]
    #[test]
    fn without_tokenizers_it_is_said_how_to_build_them_in() {
        use crate::chunking::Chunking;
        let read = Chunking::read("tokens:x.json", &mut |_| panic!("nothing is read"));
        let message = read.expect_err("none are built in").to_string();
        assert!(message.contains("--features tokenizers"), "{message}");
        assert!(Tokens::of_json(Path::new("x.json"), "{}").is_err());
    }

    #[cfg(feature = "tokenizers")]
    mod built_in {
        use super::*;
        use crate::chunking::Chunking;

        /// Bytes as tokens, two of them merged once: `th`; and one special token.
        fn bytes() -> Tokens {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/tokenizer.json");
            let json = std::fs::read_to_string(&path).expect("a file");
            Tokens::of_json(&path, &json).expect("a tokenizer")
        }

        fn cut(text: &str) -> Vec<&str> {
            let ends = Chunking::Tokens(bytes()).ends(text, &[]).expect("tokens");
            crate::chunking::chunks(text, &ends).collect()
        }

        #[test]
        fn tokens_are_chunks() {
            assert_eq!(cut("the <|end|>th"), ["th", "e", " ", "<|end|>", "th"]);
            assert_eq!(cut(""), [""; 0]);
        }

        #[test]
        fn tokens_of_one_character_are_one_chunk() {
            // Three tokens, a token and a half, and a token that ends one character and begins another are held until whole
            // characters are there.
            assert_eq!(cut("a\u{20ac}b"), ["a", "\u{20ac}", "b"]);
            assert_eq!(cut("\u{e9}\u{e9}"), ["\u{e9}", "\u{e9}"]);
            assert_eq!(cut("\u{1f600}\n"), ["\u{1f600}", "\n"]);
        }

        #[test]
        fn what_is_no_tokenizer_is_refused() {
            for json in ["", "{}", "[1, 2]", r#"{"model": {"type": "x"}}"#] {
                let error = Tokens::of_json(Path::new("x.json"), json).expect_err("none");
                assert!(
                    error.to_string().starts_with("x.json is no tokenizer"),
                    "{error}"
                );
            }
        }
    }
}
