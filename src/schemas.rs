//! The JSON Schemas that are written from types: those in `schemas/` are held to them.

use schemars::{JsonSchema, Schema, schema_for};

/// A list, or its only item.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the shape of a value, for the schema")]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// A step of a path into the inputs of a chat template: a key, or the index of an item of a list.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the shape of a value, for the schema")]
pub(crate) enum KeyOrIndex {
    Key(String),
    Index(usize),
}

/// With `OBVERSE_UPDATE` set the file is written instead.
fn hold(name: &str, schema: &Schema) {
    let path = format!("{}/schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = serde_json::to_string_pretty(schema).expect("JSON") + "\n";
    if std::env::var_os("OBVERSE_UPDATE").is_some() {
        std::fs::write(&path, &text).expect("a file");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "{path} is stale; run this test with OBVERSE_UPDATE=1"
    );
}

#[test]
fn the_schema_of_derivations_is_not_stale() {
    hold("derivation", &schema_for!(crate::derive::Report));
}

#[test]
fn the_schemas_of_conversations_are_not_stale() {
    use crate::conversation::{Conversation, ConversationFormat, Report};
    hold("conversation-format", &schema_for!(ConversationFormat));
    hold("conversation", &schema_for!(Conversation));
    hold("conversation-derivation", &schema_for!(Report));
}

#[cfg(feature = "project")]
#[test]
fn the_schema_of_obverse_toml_is_not_stale() {
    hold("obverse-toml", &schema_for!(crate::project::ProjectFile));
}
