//! `--chunks`, spelled the same for every verb.

use obverse::chunking::Chunking;

use super::{escape, input};

/// Reads the chunking of what is not recorded, so that `recorded` is not offered either.
pub(crate) fn of_text(text: &str) -> Result<Chunking, String> {
    chunking(text).map_err(|error| error.replace("words, recorded, ", "words, "))
}

/// Reads the chunking, and the tokenizer's file if it names one.
pub(crate) fn chunking(text: &str) -> Result<Chunking, String> {
    let read = Chunking::read(text, &mut |path| {
        std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", input::name(path)))
    });
    read.map_err(|error| escape::line(&error.to_string()).into_owned())
}
