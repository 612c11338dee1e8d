//! JSON as a format has it that writes it otherwise: other quotes, keys without quotes, other words.

use crate::value::{Value, json};

/// A way to write what JSON can say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The texts that open and close a string. The one that closes it cannot stand in it.
    pub(crate) quotes: (String, String),
    pub(crate) bare_keys: bool,
    /// Between two items, and between a key and its value.
    pub(crate) separators: (String, String),
    /// `true`, `false` and `null`.
    pub(crate) words: [&'static str; 3],
    /// True if a string has no control characters in it.
    pub(crate) is_printed: bool,
}

const WORDS: [[&str; 3]; 2] = [["true", "false", "null"], ["True", "False", "None"]];
const ITEM: [&str; 2] = [", ", ","];
const COLON: [&str; 2] = [": ", ":"];

/// The dialects that a content parser of these arguments reads.
pub(super) fn candidates(string_delims: &[(String, String)], bare_keys: bool) -> Vec<Dialect> {
    let double = ("\"".to_owned(), "\"".to_owned());
    let quotes = string_delims.iter().cloned().chain([double]);
    let mut all = Vec::new();
    for quotes in quotes {
        for bare_keys in [bare_keys, false] {
            for words in WORDS {
                for item in ITEM {
                    for colon in COLON {
                        all.push(Dialect {
                            quotes: quotes.clone(),
                            bare_keys,
                            separators: (item.to_owned(), colon.to_owned()),
                            words,
                            is_printed: false,
                        });
                    }
                }
            }
        }
    }
    all
}

impl Dialect {
    /// JSON on one line, with no escapes in its strings.
    pub(crate) fn on_one_line() -> Self {
        let [words, _] = WORDS;
        Self {
            quotes: ("\"".to_owned(), "\"".to_owned()),
            bare_keys: false,
            separators: (ITEM[0].to_owned(), COLON[0].to_owned()),
            words,
            is_printed: true,
        }
    }

    /// The value as the dialect has it.
    pub(crate) fn write(&self, value: &Value) -> String {
        let (item, colon) = (self.separators.0.as_str(), &self.separators.1);
        match value {
            Value::Null => self.words[2].to_owned(),
            Value::Bool(true) => self.words[0].to_owned(),
            Value::Bool(false) => self.words[1].to_owned(),
            Value::String(text) => self.quoted(text),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.write(item)).collect();
                format!("[{}]", items.join(item))
            }
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| format!("{}{colon}{}", self.key(key), self.write(value)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(item))
            }
            number => json::to_string(number),
        }
    }

    /// A key as the dialect has it.
    pub(crate) fn key(&self, key: &str) -> String {
        if self.bare_keys {
            key.to_owned()
        } else {
            self.quoted(key)
        }
    }

    fn quoted(&self, text: &str) -> String {
        format!("{}{text}{}", self.quotes.0, self.quotes.1)
    }
}
