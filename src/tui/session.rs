//! Sessions: what a debugger shows, in a file that can be sent to somebody and opened there.
//!
//! A session is a JSON object whose `obverse_session` is 1; it has the response template's text (and the `draft` of an edit that is not
//! valid yet), the samples with the chunks in which they arrived, how they are cut, the breakpoints, the derivation if there is one, and
//! where the cursor is.

use std::path::PathBuf;

use super::state::{Derivation, Sample, Setup, State, Template, object};
use crate::chunking::Chunking;
use crate::parser::Options;
use crate::value::Value;
use crate::value::json::{self, Format};

const KEY: &str = "obverse_session";
const VERSION: i64 = 1;

/// Why a session cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session cannot be opened: {0}")]
pub struct SessionError(String);

/// The session of a debugger.
pub(super) fn write(state: &State) -> String {
    let numbers = |values: &[usize]| {
        Value::from(
            values
                .iter()
                .map(|value| Value::count(*value))
                .collect::<Vec<_>>(),
        )
    };
    let samples = state.samples.iter().map(|sample| {
        let mut members = object([
            ("name", Value::from(sample.name.as_str())),
            ("response", Value::from(sample.response.as_str())),
        ]);
        let mut put = |key: &str, value: Value| members.insert(key.to_owned(), value);
        if !sample.prefix.is_empty() {
            put("prefix", Value::from(sample.prefix.as_str()));
        }
        if !sample.tools.is_empty() {
            put("tools", Value::Array(sample.tools.clone()));
        }
        // The session may be opened where the tokenizer is not.
        let ends = match &state.chunking {
            Chunking::Tokens(_) => sample.ends(&state.chunking).0,
            _ => sample.chunks.clone(),
        };
        if !ends.is_empty() {
            put("chunk_ends", numbers(&ends));
        }
        if let Some(expected) = &sample.expected {
            put("expected", expected.clone());
        }
        Value::Object(members)
    });
    let chunking = match &state.chunking {
        Chunking::Tokens(_) => &Chunking::Recorded,
        other => other,
    };
    let breakpoints = state
        .breakpoints
        .iter()
        .filter(|breakpoint| breakpoint.enabled);
    let mut members = object([
        (KEY, Value::from(VERSION)),
        ("template", Value::from(state.template.valid_text())),
    ]);
    if !state.template.is_valid {
        let draft = Value::from(state.template.text());
        members.insert("draft".to_owned(), draft);
    }
    if let Some(path) = &state.template.path {
        members.insert(
            "template_path".to_owned(),
            Value::from(path.display().to_string()),
        );
    }
    members.extend(object([
        ("samples", samples.collect::<Vec<_>>().into()),
        ("sample", Value::count(state.sample)),
        ("chunking", Value::from(chunking.to_string())),
        (
            "skip_json_strings",
            Value::from(state.options.skip_json_strings),
        ),
        ("byte", Value::count(state.place.byte)),
        (
            "breakpoints",
            breakpoints
                .map(|breakpoint| Value::from(breakpoint.at.to_string()))
                .collect::<Vec<_>>()
                .into(),
        ),
    ]));
    if let Some(derivation) = &state.derivation {
        members.insert("derivation".to_owned(), derivation.to_value());
    }
    Format::indented(2).write(&Value::Object(members)) + "\n"
}

/// Opens a session; `None` when the text is none.
///
/// # Errors
///
/// When it is a session, but not one that can be opened.
pub fn read(text: &str) -> Option<Result<Setup, SessionError>> {
    let value = json::parse(text).ok()?;
    let version = value.get(KEY)?;
    if *version != Value::from(VERSION) {
        let message = format!("it is of version {}", json::to_string(version));
        return Some(Err(SessionError(message)));
    }
    Some(setup(&value))
}

fn setup(value: &Value) -> Result<Setup, SessionError> {
    let missing = |key: &str| SessionError(format!("`{key}` is missing, or not what it must be"));
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let template = text(value, "template").ok_or_else(|| missing("template"))?;
    let path = text(value, "template_path").map(PathBuf::from);
    let mut template =
        Template::load(&template, path).map_err(|invalid| SessionError(invalid.to_string()))?;
    if let Some(draft) = text(value, "draft") {
        template.resume(&draft);
    }
    let samples = value
        .get("samples")
        .and_then(Value::as_array)
        .ok_or_else(|| missing("samples"))?;
    let mut read = Vec::new();
    for sample in samples {
        let ends = sample
            .get("chunk_ends")
            .and_then(Value::as_array)
            .unwrap_or_default();
        let mut chunks: Vec<usize> = ends.iter().filter_map(number).collect();
        chunks.sort_unstable();
        read.push(Sample {
            name: text(sample, "name").unwrap_or_default(),
            response: text(sample, "response").ok_or_else(|| missing("response"))?,
            prefix: text(sample, "prefix").unwrap_or_default(),
            tools: sample
                .get("tools")
                .and_then(Value::as_array)
                .unwrap_or_default()
                .to_vec(),
            chunks,
            expected: sample.get("expected").cloned(),
            ..Sample::default()
        });
    }
    // The sample that was shown comes first.
    if let Some(shown) = value
        .get("sample")
        .and_then(number)
        .filter(|shown| *shown < read.len())
    {
        read[..=shown].rotate_right(1);
    }
    let chunking = text(value, "chunking").and_then(|text| text.parse().ok());
    let breakpoints = value
        .get("breakpoints")
        .and_then(Value::as_array)
        .unwrap_or_default();
    let options = Options {
        skip_json_strings: value.get("skip_json_strings").is_some_and(Value::is_truthy),
        ..Options::default()
    };
    Ok(Setup {
        options,
        derivation: value.get("derivation").and_then(Derivation::of_value),
        chat_template: None,
        chunking: chunking.unwrap_or(Chunking::Recorded),
        byte: value.get("byte").and_then(number).unwrap_or(0),
        breakpoints: breakpoints
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        ..Setup::new(template, read)
    })
}

fn number(value: &Value) -> Option<usize> {
    match value {
        Value::Int(integer) => integer.to_string().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"{"start_anchor": "A:", "fields": {"content": {"close": "<end>"}}}"#;

    #[test]
    fn what_is_written_is_opened() {
        let mut sample = Sample::new("b", "Hé<end>");
        sample.chunks = vec![1, 3, 8];
        sample.expected = Some(Value::Null);
        let template = Template::load(TEMPLATE, Some("t.json".into())).expect("a template");
        let setup = Setup {
            byte: 3,
            chunking: Chunking::Recorded,
            breakpoints: vec!["event stray".to_owned()],
            ..Setup::new(template, vec![sample, Sample::new("a", "x")])
        };
        let mut state = State::new(setup);
        let written = write(&state);
        state = State::new(read(&written).expect("a session").expect("one that opens"));
        assert_eq!(write(&state), written);
        assert_eq!(state.place.byte, 3);
    }

    #[test]
    fn what_is_no_session_is_told_from_a_broken_one() {
        assert!(read(TEMPLATE).is_none());
        assert!(read("{").is_none());
        let broken = |text: &str| {
            read(text)
                .expect("a session")
                .expect_err("a broken one")
                .to_string()
        };
        assert!(broken(r#"{"obverse_session": 2}"#).contains("version 2"));
        assert!(broken(r#"{"obverse_session": 1, "template": "{}"}"#).contains("start_anchor"));
        assert!(broken(r#"{"obverse_session": 1}"#).contains("`template`"));
    }
}
