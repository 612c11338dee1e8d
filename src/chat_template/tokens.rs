//! The lists in a tokenizer's files: its special tokens, and those with which a response ends.

use std::fs;
use std::path::Path;

use crate::value::{Value, json};

/// The tokens of a model that are no text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenLists {
    /// The special tokens, in the order of their ids or in that of the file.
    pub special: Vec<String>,
    /// The tokens at which an engine stops.
    pub end: Vec<String>,
}

/// A token that was added to a vocabulary.
struct Added {
    id: Option<i64>,
    text: String,
    is_special: bool,
}

impl TokenLists {
    /// Those of the model in whose folder the `tokenizer_config.json` lies: the special ones of its `added_tokens_decoder`, or where it
    /// has none those of the `added_tokens` of the `tokenizer.json` beside it; and the `eos_token_id` of the `generation_config.json`
    /// beside it, a number or a list. What cannot be read lists nothing.
    pub fn beside(config: &Path) -> Self {
        let read = |name: &str| text(&config.with_file_name(name));
        let text = text(config);
        let decoded = text.and_then(|text| decoder(&text));
        let added = decoded
            .or_else(|| read("tokenizer.json").map(|text| added(&text)))
            .unwrap_or_default();
        let generation = read("generation_config.json");
        let generation = generation.and_then(|text| parse(&text));
        let ids: Vec<i64> = match generation.as_ref().and_then(|all| all.get("eos_token_id")) {
            Some(Value::Array(ids)) => ids.iter().filter_map(id).collect(),
            Some(one) => id(one).into_iter().collect(),
            None => Vec::new(),
        };
        let of_id = |id: &i64| added.iter().find(|token| token.id == Some(*id));
        Self {
            end: ids
                .iter()
                .filter_map(of_id)
                .map(|token| token.text.clone())
                .collect(),
            special: added
                .iter()
                .filter(|token| token.is_special)
                .map(|token| token.text.clone())
                .collect(),
        }
    }
}

/// The number of bytes that a file may have.
const MAX_FILE: u64 = 64 << 20;

fn text(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    (size <= MAX_FILE).then(|| fs::read_to_string(path).ok())?
}

fn parse(text: &str) -> Option<Value> {
    json::parse(text.trim_start_matches('\u{feff}')).ok()
}

fn id(value: &Value) -> Option<i64> {
    json::to_string(value).parse().ok()
}

/// The `added_tokens_decoder` of a configuration; `None` where there is none.
fn decoder(config: &str) -> Option<Vec<Added>> {
    let config = parse(config)?;
    let decoder = config.get("added_tokens_decoder")?.as_object()?;
    let tokens = decoder
        .iter()
        .filter_map(|(id, token)| of(id.parse().ok(), token));
    Some(tokens.collect())
}

/// The `added_tokens` of a `tokenizer.json`, of which nothing else is read: it may have many megabytes.
fn added(tokenizer: &str) -> Vec<Added> {
    const KEY: &str = "\"added_tokens\"";
    let list = tokenizer.find(KEY).and_then(|at| {
        let rest = tokenizer[at + KEY.len()..].trim_start();
        let rest = rest.strip_prefix(':')?.trim_start();
        json::parse_prefix(rest).ok()
    });
    let list = list.as_ref().and_then(|(list, _)| list.as_array());
    let tokens = list.unwrap_or_default().iter();
    tokens
        .filter_map(|token| of(token.get("id").and_then(id), token))
        .collect()
}

fn of(id: Option<i64>, token: &Value) -> Option<Added> {
    let text = token.get("content")?.as_str()?;
    Some(Added {
        id,
        text: text.to_owned(),
        is_special: token.get("special").is_some_and(Value::is_truthy),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(files: &[(&str, &str)]) -> TokenLists {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        TokenLists::beside(&folder.path().join("tokenizer_config.json"))
    }

    const TOKENIZER: &str = r#"{"version": "1.0", "added_tokens": [
        {"id": 1, "content": "<end>", "special": true}, {"id": 2, "content": "<tool>", "special": false},
        {"id": 3, "content": "<eot>", "special": true}], "model": {"vocab": }"#;

    #[test]
    fn tokens_are_read_from_the_configuration_or_the_tokenizer() {
        let config = r#"{"added_tokens_decoder": {"7": {"content": "<e>", "special": true}}}"#;
        let both = beside(&[
            ("tokenizer_config.json", config),
            ("tokenizer.json", TOKENIZER),
            ("generation_config.json", r#"{"eos_token_id": 7}"#),
        ]);
        assert_eq!(
            (both.special, both.end),
            (vec!["<e>".to_owned()], vec!["<e>".to_owned()])
        );
        let one = beside(&[
            ("tokenizer_config.json", "{}"),
            ("tokenizer.json", TOKENIZER),
            ("generation_config.json", r#"{"eos_token_id": [3, 2, 9]}"#),
        ]);
        assert_eq!(one.special, ["<end>", "<eot>"]);
        assert_eq!(one.end, ["<eot>", "<tool>"]);
    }

    #[test]
    fn the_tokenizers_own_end_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let config = r#"{"chat_template": "", "eos_token": {"content": "<e>"}, "added_tokens_decoder": {
            "1": {"content": "<e>", "special": true}, "2": {"content": "<eot>", "special": true}}}"#;
        let path = folder.path().join("tokenizer_config.json");
        fs::write(&path, config).unwrap();
        let ends = || crate::chat_template::load(&path).unwrap().tokens.end;
        assert_eq!(ends(), ["<e>"]);
        let generation = folder.path().join("generation_config.json");
        fs::write(&generation, r#"{"eos_token_id": [2, 1]}"#).unwrap();
        assert_eq!(ends(), ["<eot>", "<e>"]);
    }

    #[test]
    fn what_cannot_be_read_lists_nothing() {
        assert_eq!(beside(&[]), TokenLists::default());
        let broken = beside(&[
            ("tokenizer_config.json", "{"),
            ("tokenizer.json", "\"added_tokens\": ["),
        ]);
        assert_eq!(broken, TokenLists::default());
    }
}
