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
    /// The texts in a prefix behind the last of which the model's turn begins.
    pub start_anchor: Vec<String>,
    /// The member that holds the reasoning. By default `reasoning_content`.
    pub reasoning: String,
}

impl Default for Settings {
    fn default() -> Self {
        let mut defaults = Map::new();
        defaults.insert("role", Value::from("assistant"));
        Self {
            defaults,
            start_anchor: Vec::new(),
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
                            settings.start_anchor = vec![anchor.clone()];
                        }
                        ("start_anchor", Value::Array(anchors)) => {
                            for (index, anchor) in anchors.iter().enumerate() {
                                match anchor {
                                    Value::String(anchor) => {
                                        settings.start_anchor.push(anchor.clone());
                                    }
                                    other => add(&path.index(index), wanted("a string", other)),
                                }
                            }
                        }
                        ("reasoning", Value::String(name)) => settings.reasoning = name.clone(),
                        ("start_anchor", other) => {
                            add(&path, wanted("a string or a list of strings", other));
                        }
                        ("reasoning", other) => add(&path, wanted("a string", other)),
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

    /// Where in a prefix the model's turn begins: behind the last anchor, or at its start where there is none.
    pub(super) fn begins(&self, prefix: &str) -> usize {
        let ends = self.start_anchor.iter().filter_map(|anchor| {
            let at = prefix.rfind(anchor.as_str())?;
            Some(at + anchor.len())
        });
        ends.max().unwrap_or(0)
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
        match self.start_anchor.as_slice() {
            [] => {}
            [anchor] => {
                members.insert("start_anchor", Value::from(anchor.as_str()));
            }
            anchors => {
                let anchors = anchors.iter().map(|anchor| Value::from(anchor.as_str()));
                members.insert("start_anchor", Value::Array(anchors.collect()));
            }
        }
        if self.reasoning != usual.reasoning {
            members.insert("reasoning", Value::from(self.reasoning.as_str()));
        }
        document.insert(KEY, Value::Object(members));
    }
}
