//! The official SDKs as clients, and what they are to see of a message.

use std::path::{Path, PathBuf};

use obverse::deltas::encode::Protocol;
use obverse::value::{Key, Map, Value, json};

use super::reference;

/// The Python that has the SDKs: `OBVERSE_CLIENTS_PYTHON`, or that of `.venv-clients`.
pub fn python() -> Option<PathBuf> {
    let found = std::env::var_os("OBVERSE_CLIENTS_PYTHON")
        .map(PathBuf::from)
        .or_else(|| Some(root().join(".venv-clients/bin/python")))
        .filter(|path| path.exists());
    if found.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "CI must have the SDKs: `.ci/run` installs them"
        );
        eprintln!("skipped: no SDKs; `tests/reference/install` sets them up");
    }
    found
}

/// The answers of one of the scripts in `tests/reference` to lines of JSON, as JSON.
pub fn ask(python: &Path, script: &str, lines: &[String]) -> Vec<Value> {
    let answers = reference::ask_with(python, script, lines);
    let parsed = answers.iter().map(|line| json::parse(line).expect("JSON"));
    parsed.collect()
}

/// What clients are to see of a message in the reply with that `id`.
pub fn seen(message: &Map, id: &str, protocol: Protocol) -> Value {
    let texts = |keys: &[&str]| {
        let texts = keys.iter().filter_map(|key| message.get(key)?.as_str());
        Value::from(texts.collect::<String>())
    };
    let mut calls = Vec::new();
    for call in message
        .get("tool_calls")
        .and_then(Value::as_array)
        .unwrap_or_default()
    {
        let function = call.get("function").expect("a function");
        let made_up = format!("call_{id}_{}", calls.len());
        let arguments = function.get("arguments").cloned().unwrap_or_default();
        // Anthropic's SDK gives the value, and takes a string for the text of one; the others give the text.
        let arguments = match arguments {
            Value::String(text) => json::parse(&text).unwrap_or(Value::from(text)),
            other => other,
        };
        calls.push(object([
            (
                "id",
                call.get("id").cloned().unwrap_or(Value::from(made_up)),
            ),
            ("name", function.get("name").cloned().expect("a name")),
            ("arguments", arguments),
        ]));
    }
    let ending = match (protocol, calls.is_empty()) {
        (Protocol::OpenAi, true) => "stop",
        (Protocol::OpenAi, false) => "tool_calls",
        (Protocol::Anthropic, true) => "end_turn",
        (Protocol::Anthropic, false) => "tool_use",
        _ => "completed",
    };
    object([
        ("content", texts(&["content"])),
        (
            "reasoning",
            texts(&["thinking", "reasoning", "reasoning_content"]),
        ),
        ("calls", Value::Array(calls)),
        ("ending", Value::from(ending)),
    ])
}

/// The same of what a client said, the arguments parsed where they came as text.
pub fn parsed(mut answer: Value) -> Value {
    if let Value::Object(members) = &mut answer
        && let Some(Value::Array(calls)) = members.get_mut("calls")
    {
        for call in calls {
            if let Value::Object(call) = call
                && let Some(arguments) = call.get_mut("arguments")
                && let Some(value) = arguments.as_str().and_then(|text| json::parse(text).ok())
            {
                *arguments = value;
            }
        }
    }
    answer
}

pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members
        .into_iter()
        .map(|(key, value)| (Key::from(key), value));
    Value::Object(members.collect())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
