//! Wordings that several findings of a check share.

use obverse::response_template::Engine;
use obverse::value::json;

/// How many characters of a prompt are shown.
const PROMPT: usize = 60;

/// A line with the end of the prompt, if there is one.
pub(super) fn after(prompt: &str) -> String {
    if prompt.is_empty() {
        return String::new();
    }
    let from = prompt.char_indices().rev().nth(PROMPT - 1);
    let (dots, end) = match from {
        Some((at, _)) if at > 0 => ("\u{2026}", &prompt[at..]),
        _ => ("", prompt),
    };
    format!("\nafter    {dots}{}", json::quote(end))
}

/// The words with which `obverse` derives for some engines.
pub(super) fn derive_words(engines: &[Engine]) -> Vec<String> {
    let asked = engines.iter().flat_map(|engine| ["--for", engine.name()]);
    ["derive"]
        .into_iter()
        .chain(asked)
        .map(str::to_owned)
        .collect()
}
