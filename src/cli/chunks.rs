//! `--chunks`, spelled the same for every verb.

use obverse::chunking::Chunking;

use super::{escape, input};

/// Reads the chunking, and the tokenizer's file if it names one.
pub(crate) fn chunking(text: &str) -> Result<Chunking, String> {
    let read = Chunking::read(text, &mut |path| {
        std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", input::name(path)))
    });
    read.map_err(|error| escape::line(&error.to_string()).into_owned())
}
