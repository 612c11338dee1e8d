//! How a chat template writes definitions of tools that it does not write as JSON: as declarations of functions, as elements, as lists.
//!
//! As a conversation is places with steps between them, so is the stretch of definitions: it is texts that come from a tool (its name, the
//! description of an argument) with constant texts between. What a chat template chooses its constants by (the type of an argument, and
//! whether it is needed) stands in no text of its own; a step says of which arguments it was seen.

use serde::{Deserialize, Serialize};

use super::{Encoding, is_false};

/// How definitions of tools are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DefinitionLayout {
    /// The texts that come from tools. Steps name them by their index.
    pub texts: Vec<DefinitionText>,
    /// The constants that may stand before the first of them, between two, and behind the last.
    pub steps: Vec<DefinitionStep>,
}

/// A text that comes from a tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DefinitionText {
    /// Where it stands in the tool: keys, `*` for the name of an argument, and `#` for the index of an item.
    pub path: Vec<String>,
    /// True if it is the last key of the path, and not what is found there.
    #[serde(default, skip_serializing_if = "is_false")]
    pub names: bool,
    /// How often the same text of a tool was written before.
    #[serde(default)]
    pub again: usize,
    /// How it is written.
    #[serde(default)]
    pub written: Encoding,
}

/// A constant text between two texts that come from tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DefinitionStep {
    /// The text before; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    /// The constant text between the two. Of the first and the last step it is as much as was seen to be constant.
    pub text: String,
    /// The text after; absent behind the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
    /// To which tool the text after belongs.
    #[serde(default)]
    pub tool: Advance,
    /// To which argument of its tool the text after belongs, if it belongs to one.
    #[serde(default)]
    pub argument: Advance,
    /// The arguments of which the text before may be; absent where it is of none, or of any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<ArgumentKind>,
    /// The arguments of which the text after may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<ArgumentKind>,
}

/// From one thing to another of a list.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Advance {
    /// It is the same one.
    #[default]
    Same,
    /// It is the one after it.
    Next,
    /// It is the first one, from the beginning or once more.
    First,
}

/// The kind of an argument, by which a chat template may choose the constants around it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArgumentKind {
    /// Its type, as JSON Schema names it.
    #[serde(rename = "type")]
    pub kind: String,
    /// True if every call needs it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
}

impl DefinitionLayout {
    /// Returns where it does not fit together, and why.
    pub(super) fn wrong(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            for (name, text) in [("after", step.after), ("before", step.before)] {
                if text.is_some_and(|text| text >= self.texts.len()) {
                    let message = format!("there are {} texts", self.texts.len());
                    found.push((format!("definitions.steps[{at}].{name}"), message));
                }
            }
            if step.after.is_none() && step.before.is_none() {
                let message = "it has neither a text before nor one after".to_owned();
                found.push((format!("definitions.steps[{at}]"), message));
            }
        }
        found
    }
}
