//! The special tokens of a tokenizer, which are markers that no delimiter of a response template need have.

use std::path::Path;

use obverse::value::{Value, json};

use crate::cli::input;

/// Those of the tokenizer whose configuration, a `tokenizer_config.json` at `path`, has this text: its `added_tokens_decoder`, or
/// where it has none the `added_tokens` of the `tokenizer.json` beside it. What cannot be read has none.
pub(super) fn special(config: &str, path: &Path) -> Vec<String> {
    let read = |text: &str| json::parse(text.trim_start_matches('\u{feff}')).ok();
    let config = read(config);
    let decoder = config
        .as_ref()
        .and_then(|config| config.get("added_tokens_decoder"))
        .and_then(Value::as_object);
    if let Some(decoder) = decoder {
        return decoder.values().filter_map(of_token).collect();
    }
    let beside = path.with_file_name("tokenizer.json");
    let tokenizer = match beside.is_file() {
        true => input::read_text(&beside).ok(),
        false => None,
    };
    let tokenizer = tokenizer.and_then(|text| read(&text));
    let added = tokenizer
        .as_ref()
        .and_then(|tokenizer| tokenizer.get("added_tokens"))
        .and_then(Value::as_array);
    added
        .unwrap_or_default()
        .iter()
        .filter_map(of_token)
        .collect()
}

/// The text of an added token, if it is a special one.
fn of_token(token: &Value) -> Option<String> {
    let is_special = token.get("special").is_some_and(Value::is_truthy);
    let text = token.get("content")?.as_str()?;
    is_special.then(|| text.to_owned())
}
