//! The lists in a tokenizer's files: its special tokens, and those with which a response ends.

use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use crate::value::{Value, json};

/// The tokens of a model that are no text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenLists {
    /// The special tokens, in the order of their ids or in that of the file.
    pub special: Vec<String>,
    /// The tokens that were added to the vocabulary and are not special, in that order too.
    pub ordinary: Vec<String>,
    /// The tokens at which an engine stops.
    pub end: Vec<String>,
    /// The files beside the configuration, or parts of them, that could not be read: for each a sentence without its full stop.
    pub unread: Vec<String>,
}

/// A token that was added to a vocabulary.
struct Added {
    id: Option<i64>,
    text: String,
    is_special: bool,
}

impl TokenLists {
    /// The tokens that were added to the vocabulary, the special ones first.
    pub(crate) fn added(&self) -> impl Iterator<Item = &str> {
        let added = self.special.iter().chain(&self.ordinary);
        added.map(String::as_str)
    }

    /// Those of the model in whose folder the `tokenizer_config.json` lies: those of its `added_tokens_decoder`, and of the `added_tokens` of
    /// the `tokenizer.json` beside it those with other ids; and the `eos_token_id` of the `generation_config.json` beside it, a number or a
    /// list. What cannot be read lists nothing, and `unread` tells of it.
    pub fn beside(config: &Path) -> Self {
        let mut unread = Vec::new();
        let mut read = |name: &str| match text(&config.with_file_name(name)) {
            Ok(text) => text,
            Err(why) => {
                unread.push(format!("{name} cannot be read: {why}"));
                None
            }
        };
        let (tokenizer, generation) = (read(TOKENIZER), read(GENERATION));
        let own = text(config).ok().flatten();
        let mut all = own.and_then(|text| decoder(&text)).unwrap_or_default();
        if let Some(tokenizer) = tokenizer {
            match added(&tokenizer) {
                Ok(added) => join(&mut all, added),
                Err(why) => unread.push(format!("{TOKENIZER} is not read: {why}")),
            }
        }
        let generation = generation.and_then(|text| match parse(&text) {
            Ok(generation) => Some(generation),
            Err(why) => {
                unread.push(format!("{GENERATION} is not read: {why}"));
                None
            }
        });
        if let Some(other) = generation.as_ref().filter(|all| all.as_object().is_none()) {
            let kind = other.json_kind();
            unread.push(format!(
                "{GENERATION} is not read: it must be an object, not {kind}"
            ));
        }
        let ids = match generation.as_ref().and_then(|all| all.get("eos_token_id")) {
            Some(Value::Array(ids)) => ids.as_slice(),
            None | Some(Value::Null) => &[],
            Some(one) => std::slice::from_ref(one),
        };
        let mut end: Vec<String> = Vec::new();
        for value in ids {
            let Some(id) = id(value) else {
                unread.push(format!(
                    "{GENERATION} has {} in its eos_token_id, which is no id of a token",
                    json::to_string(value)
                ));
                continue;
            };
            match all.iter().find(|token| token.id == Some(id)) {
                Some(token) => end.push(token.text.clone()),
                // Where nothing lists tokens, the configuration's own `eos_token` is the one that is meant.
                None if all.is_empty() => {}
                None => unread.push(format!(
                    "{GENERATION} has the id {id} in its eos_token_id, and no token that the tokenizer's files add has that id"
                )),
            }
        }
        let texts = |special: bool| {
            let of_kind = all.iter().filter(|token| token.is_special == special);
            of_kind.map(|token| token.text.clone()).collect()
        };
        Self {
            special: texts(true),
            ordinary: texts(false),
            end,
            unread,
        }
    }
}

const TOKENIZER: &str = "tokenizer.json";
const GENERATION: &str = "generation_config.json";

/// Adds the tokens of another list. Where both have an id or a text, the first list counts.
fn join(all: &mut Vec<Added>, others: Vec<Added>) {
    let ids: HashSet<i64> = all.iter().filter_map(|token| token.id).collect();
    let texts: HashSet<String> = all.iter().map(|token| token.text.clone()).collect();
    all.extend(others.into_iter().filter(|token| {
        token.id.is_none_or(|id| !ids.contains(&id)) && !texts.contains(&token.text)
    }));
}

/// The number of bytes that a file may have.
const MAX_FILE: u64 = 64 << 20;

/// The text of a file; `None` where there is no file, and otherwise the reason why it cannot be read.
fn text(path: &Path) -> Result<Option<String>, String> {
    let size = match fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if size > MAX_FILE {
        let most = MAX_FILE >> 20;
        return Err(format!("it has more than {most} MiB, which is the limit"));
    }
    fs::read_to_string(path)
        .map(Some)
        .map_err(|error| error.to_string())
}

fn parse(text: &str) -> Result<Value, String> {
    json::parse(text.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("it is not JSON: {}", error.message()))
}

fn id(value: &Value) -> Option<i64> {
    json::to_string(value).parse().ok()
}

/// The `added_tokens_decoder` of a configuration; `None` where there is none.
fn decoder(config: &str) -> Option<Vec<Added>> {
    let config = parse(config).ok()?;
    let decoder = config.get("added_tokens_decoder")?.as_object()?;
    let tokens = decoder
        .iter()
        .filter_map(|(id, token)| of(id.parse().ok(), token));
    Some(tokens.collect())
}

/// The `added_tokens` of a `tokenizer.json`, of which nothing else is read: it may have many megabytes.
fn added(tokenizer: &str) -> Result<Vec<Added>, String> {
    const KEY: &str = "\"added_tokens\"";
    let Some(at) = tokenizer.find(KEY) else {
        // A tokenizer without such tokens lists none.
        return parse(tokenizer).map(|_| Vec::new());
    };
    let rest = tokenizer[at + KEY.len()..].trim_start();
    let rest = rest.strip_prefix(':').unwrap_or(rest).trim_start();
    let list = json::parse_prefix(rest);
    let (list, _) =
        list.map_err(|error| format!("its added_tokens are not JSON: {}", error.message()))?;
    let tokens = list.as_array().unwrap_or_default().iter();
    Ok(tokens
        .filter_map(|token| of(token.get("id").and_then(id), token))
        .collect())
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
        assert_eq!(both.special, ["<e>", "<end>", "<eot>"]);
        assert_eq!(both.ordinary, ["<tool>"]);
        assert_eq!(both.end, ["<e>"]);
        // Of an id or a text that both have, the configuration tells what it is.
        let config = r#"{"added_tokens_decoder": {"1": {"content": "<e>", "special": true}, "7": {"content": "<eot>"}}}"#;
        let both = beside(&[
            ("tokenizer_config.json", config),
            ("tokenizer.json", TOKENIZER),
            ("generation_config.json", r#"{"eos_token_id": [1, 2]}"#),
        ]);
        assert_eq!(both.special, ["<e>"]);
        assert_eq!(both.ordinary, ["<eot>", "<tool>"]);
        assert_eq!(both.end, ["<e>", "<tool>"]);
        assert_eq!(both.unread, [""; 0]);
        let one = beside(&[
            ("tokenizer_config.json", "{}"),
            ("tokenizer.json", TOKENIZER),
            ("generation_config.json", r#"{"eos_token_id": [3, 2, 9]}"#),
        ]);
        assert_eq!(one.special, ["<end>", "<eot>"]);
        assert_eq!(one.end, ["<eot>", "<tool>"]);
        assert_eq!(one.unread.len(), 1);
        assert!(one.unread[0].contains("the id 9"), "{:?}", one.unread);
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
    fn what_cannot_be_read_lists_nothing_and_is_told() {
        assert_eq!(beside(&[]), TokenLists::default());
        let broken = beside(&[
            ("tokenizer_config.json", "{"),
            ("tokenizer.json", "\"added_tokens\": ["),
            ("generation_config.json", "{\"eos_token_id\": "),
        ]);
        let unread = &broken.unread;
        assert_eq!(unread.len(), 2, "{unread:?}");
        assert!(unread[0].starts_with("tokenizer.json is not read: its added_tokens are not JSON"));
        assert!(unread[1].starts_with("generation_config.json is not read: it is not JSON"));
        let nothing = TokenLists::default();
        assert_eq!(
            (&broken.special, &broken.end),
            (&nothing.special, &nothing.end)
        );
        for (generation, told) in [
            (
                r#"{"eos_token_id": "abc"}"#,
                "has \"abc\" in its eos_token_id",
            ),
            (r#"{"eos_token_id": [1, 2.5]}"#, "has 2.5 in its"),
            (r#"{"eos_token_id": true}"#, "has true in its"),
            ("[]", "it must be an object, not a list"),
        ] {
            let odd = beside(&[
                ("tokenizer.json", TOKENIZER),
                ("generation_config.json", generation),
            ]);
            assert_eq!(odd.unread.len(), 1, "{:?}", odd.unread);
            assert!(odd.unread[0].contains(told), "{:?}", odd.unread);
        }
        let none = beside(&[("generation_config.json", r#"{"eos_token_id": null}"#)]);
        assert_eq!(none, nothing);
        let cut = beside(&[("tokenizer.json", "{\"version\": ")]);
        assert!(cut.unread[0].starts_with("tokenizer.json is not read: it is not JSON"));
        // A tokenizer without added tokens, and one whose ids nothing lists.
        let plain = beside(&[
            ("tokenizer.json", "{\"version\": \"1.0\"}"),
            ("generation_config.json", r#"{"eos_token_id": 9}"#),
        ]);
        assert_eq!(plain, nothing);
    }
}
