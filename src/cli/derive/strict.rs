//! The grammar of a derived format, written for who reads with it.

use obverse::derive::Derivation;
use obverse::grammar::StrictReader;
use obverse::value::json;

use crate::cli::problem::Problem;

/// The grammar as text, and what is to be told of it.
pub(super) fn grammar(derivation: &Derivation) -> Result<(String, String), Problem> {
    let Some(reader) = StrictReader::of(derivation) else {
        let message = "no response that came back shows how the format is written, so there is no grammar of it";
        return Err(Problem::failed("no-grammar", message));
    };
    let text = format!("{}\n", json::to_string(&reader.template.to_value()));
    Ok((text, told(&reader, derivation.missed.len())))
}

/// How far the grammar was seen to read.
fn told(reader: &StrictReader, missed: usize) -> String {
    let StrictReader {
        read,
        of,
        read_of_missed,
        ..
    } = reader;
    let more = match missed {
        0 => String::new(),
        _ => format!(
            ", {read_of_missed} of the {missed} among them that do not come back by the response template"
        ),
    };
    format!("  the grammar reads {read} of {of} messages{more}\n")
}
