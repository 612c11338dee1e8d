//! The member `message` of a grammar's document.

use crate::diagnostic::Diagnostic;
use crate::grammar::peg::document::{self, Invalid};
use crate::value::json::Places;
use crate::value::{Map, Path, Value};

/// The member of the document.
const KEY: &str = "message";

/// The code of all that is wrong with it.
const CODE: &str = "grammar";

/// How the members of a message are called, and what it has at any rate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The members that the message begins with. By default `{"role": "assistant"}`.
    pub defaults: Map,
    /// The text in a prefix behind which the model's turn begins.
    pub start_anchor: Option<String>,
    /// The member that holds the reasoning. By default `reasoning_content`.
    pub reasoning: String,
}

impl Default for Settings {
    fn default() -> Self {
        let mut defaults = Map::new();
        defaults.insert("role", Value::from("assistant"));
        Self {
            defaults,
            start_anchor: None,
            reasoning: "reasoning_content".to_owned(),
        }
    }
}

impl Settings {
    pub(super) fn read(value: &Value, places: Option<&Places>) -> Result<Self, Invalid> {
        let mut settings = Self::default();
        let Some(written) = value.get(KEY) else {
            return Ok(settings);
        };
        let path = Path::default().key(KEY);
        let mut found = Vec::new();
        let mut add = |path: &Path, message: String| {
            let diagnostic = Diagnostic::error(CODE, message);
            found.push(document::at(path, places, diagnostic));
        };
        let wanted =
            |what: &str, value: &Value| format!("this must be {what}, not {}", value.json_kind());
        match written {
            Value::Object(members) => {
                for (key, value) in members {
                    let path = path.key(key);
                    match (key.as_str(), value) {
                        ("defaults", Value::Object(defaults)) => {
                            settings.defaults = defaults.clone();
                        }
                        ("defaults", other) => add(&path, wanted("an object", other)),
                        ("start_anchor", Value::String(anchor)) => {
                            settings.start_anchor = Some(anchor.clone());
                        }
                        ("reasoning", Value::String(name)) => settings.reasoning = name.clone(),
                        ("start_anchor" | "reasoning", other) => {
                            add(&path, wanted("a string", other));
                        }
                        (key, _) => add(
                            &path,
                            format!(
                                "there is no `{key}`, only `defaults`, `start_anchor` and `reasoning`"
                            ),
                        ),
                    }
                }
            }
            other => add(&path, wanted("an object", other)),
        }
        match found.is_empty() {
            true => Ok(settings),
            false => Err(Invalid::of(found)),
        }
    }

    pub(super) fn write(&self, document: &mut Map) {
        let usual = Self::default();
        if *self == usual {
            return;
        }
        let mut members = Map::new();
        if self.defaults != usual.defaults {
            members.insert("defaults", Value::Object(self.defaults.clone()));
        }
        if let Some(anchor) = &self.start_anchor {
            members.insert("start_anchor", Value::from(anchor.as_str()));
        }
        if self.reasoning != usual.reasoning {
            members.insert("reasoning", Value::from(self.reasoning.as_str()));
        }
        document.insert(KEY, Value::Object(members));
    }
}
