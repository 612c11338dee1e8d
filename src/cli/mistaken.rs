//! A chat template in the place of something else, which is told as that and not by all that is wrong with it.

use std::path::Path;

use obverse::diagnostic::Diagnostic;
use obverse::response_template::config;
use obverse::value::json;

use super::input;
use super::problem::{Document, Problem};

/// The code of what holds no response template.
const NONE: &str = "no-response-template";

/// Returns true if a text is a chat template.
pub(crate) fn is_chat_template(text: &str) -> bool {
    // JSON that holds no response template has the same code, and is no chat template.
    json::parse(text).is_err()
        && config::load_any(text)
            .is_err_and(|invalid| invalid.diagnostics().iter().any(|found| found.code == NONE))
}

/// That a file is a chat template and not, say, a grammar.
pub(crate) fn chat_template(path: &Path, expected: &str, hint: String) -> Problem {
    let message = format!("this is a chat template, not {expected}");
    Problem::of(Diagnostic::error(NONE, message).with_hint(hint)).about(Document {
        name: input::name(path),
        text: None,
    })
}
