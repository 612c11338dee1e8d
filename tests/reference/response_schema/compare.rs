//! Pairs of a schema and a text, asked of the reference and of Obverse.

use std::collections::BTreeMap;

use obverse::response_schema::ResponseSchema;
use obverse::value::json::Format;
use obverse::value::{Path, Value, json};

use crate::support::comparison::object;
use crate::support::reference::{ask_with, schema_python};

pub struct Pair {
    pub schema: Value,
    pub text: String,
    /// Whether Obverse must refuse the schema.
    pub broken: bool,
}

/// What occurred.
#[derive(Debug, Default)]
pub struct Seen {
    pub values: usize,
    pub refused: usize,
    /// Of the reference's errors.
    pub kinds: BTreeMap<String, usize>,
}

/// How many differences are shown.
const SHOWN: usize = 8;

/// What the reference answers; `None` where there is none.
pub fn ask(pairs: &[Pair]) -> Option<Vec<Value>> {
    let python = schema_python()?;
    let ascii = Format {
        ensure_ascii: true,
        ..Format::compact()
    };
    let questions: Vec<String> = pairs
        .iter()
        .map(|pair| {
            let question = object([
                ("schema", pair.schema.clone()),
                ("text", pair.text.as_str().into()),
            ]);
            ascii.write(&question)
        })
        .collect();
    let answers = ask_with(&python, "schema.py", &questions);
    Some(
        answers
            .iter()
            .map(|answer| json::parse(answer).expect("JSON"))
            .collect(),
    )
}

/// Compares all pairs; `None` where there is no reference.
///
/// # Panics
///
/// When there is a difference.
pub fn compare(pairs: &[Pair]) -> Option<Seen> {
    let answers = ask(pairs)?;
    let mut seen = Seen::default();
    let mut wrong = Vec::new();
    let mut compiled: Option<(&Value, Result<ResponseSchema, String>)> = None;
    for (pair, answer) in pairs.iter().zip(&answers) {
        if compiled
            .as_ref()
            .is_none_or(|(schema, _)| **schema != pair.schema)
        {
            let schema =
                ResponseSchema::from_value(&pair.schema).map_err(|invalid| invalid.to_string());
            compiled = Some((&pair.schema, schema));
        }
        let theirs = match (answer.get("value"), answer.get("error")) {
            (Some(value), _) => {
                seen.values += 1;
                value.as_str().expect("JSON in a string").to_owned()
            }
            (None, Some(error)) => {
                let kind = error.get("kind").and_then(Value::as_str).expect("a kind");
                *seen.kinds.entry(kind.to_owned()).or_default() += 1;
                let steps = error.get("path").and_then(Value::as_array).expect("a path");
                format!("{kind} at {}", path(steps))
            }
            (None, None) => panic!("no answer"),
        };
        let Some((_, schema)) = &compiled else {
            unreachable!("compiled above")
        };
        let ours = match schema {
            Ok(schema) if pair.broken => {
                let _ = schema;
                "accepted, which should be refused".to_owned()
            }
            Ok(schema) => match schema.parse(&pair.text) {
                Ok(value) => json::to_string(&value),
                Err(error) => format!("{} at {}", error.kind.name(), error.path),
            },
            Err(_) if pair.broken => {
                seen.refused += 1;
                continue;
            }
            Err(invalid) => format!("refused: {invalid}"),
        };
        if ours != theirs {
            wrong.push(format!(
                "{}\n  text      {:?}\n  reference {theirs}\n  obverse   {ours}\n  words     {}",
                json::to_string(&pair.schema),
                pair.text,
                answer.get("error").map(json::to_string).unwrap_or_default()
            ));
        }
    }
    let count = wrong.len();
    wrong.sort_by_key(String::len);
    wrong.truncate(SHOWN);
    assert!(
        count == 0,
        "{count} of {} differ, among them\n{}",
        pairs.len(),
        wrong.join("\n")
    );
    Some(seen)
}

fn path(steps: &[Value]) -> Path {
    steps.iter().fold(Path::default(), |path, step| match step {
        Value::String(key) => path.key(key),
        Value::Int(index) => path.index(
            index
                .as_i64()
                .and_then(|index| index.try_into().ok())
                .expect("an index"),
        ),
        other => panic!("{other:?}"),
    })
}
