//! What no response template can say: for each reason the smallest message, its render, and what comes of it instead.

use indexmap::IndexMap;
use obverse::content::{ContentParser, PARSERS};
use obverse::derive::Counterexample;
use obverse::value::{Map, Value, json};

use super::rows;
use crate::support::derived::Derived;

/// How many chat templates are named.
const NAMED: usize = 3;

/// The code of such a finding.
const CODE: &str = "inexpressible";

/// How the finding begins that two messages have one render.
const ALIKE: &str = "messages render to the very text";

/// The rows of the table.
pub fn rows(all: &[Derived]) -> Vec<[String; 4]> {
    let mut reasons: IndexMap<String, (Vec<&str>, Counterexample)> = IndexMap::new();
    for derived in all {
        let Ok(derivation) = &derived.outcome else {
            continue;
        };
        let findings = derivation.report.findings.iter();
        for finding in findings.filter(|finding| finding.code == CODE) {
            let Some(found) = &finding.counterexample else {
                continue;
            };
            // Two messages of one render are those of one chat template.
            let reason = reason(&finding.text);
            let key = match reason.starts_with(ALIKE) {
                true => format!("{reason}\n{}", derived.name),
                false => reason,
            };
            let known = reasons
                .entry(key)
                .or_insert_with(|| (Vec::new(), found.clone()));
            known.0.push(name(&derived.name));
        }
    }
    reasons
        .into_iter()
        .map(|(key, (names, found))| {
            let reason = key.lines().next().unwrap_or_default();
            let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>();
            let more = match names.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            [
                format!("{} ({}{more})", rows::text(reason), shown.join(", ")),
                rows::verbatim(&found.response),
                rows::verbatim(&json::to_string(&said(&found.expected))),
                instead(&found),
            ]
        })
        .collect()
}

/// A finding without its counts and its example.
fn reason(text: &str) -> String {
    let text = text.split("; ").next().unwrap_or_default();
    let text = text.split(", like ").next().unwrap_or_default();
    text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ')
        .to_owned()
}

fn name(path: &str) -> &str {
    let path = path.strip_prefix("chat_templates/").unwrap_or(path);
    path.rsplit_once('.').map_or(path, |(stem, _)| stem)
}

/// What a message says: its texts, and of each call the arguments.
fn said(message: &Value) -> Value {
    let mut said = Map::new();
    for (key, value) in message.as_object().into_iter().flatten() {
        if let Value::Array(calls) = value {
            let calls = calls.iter().map(|call| {
                let function = call.get("function").unwrap_or(call);
                function.get("arguments").cloned().unwrap_or(Value::Null)
            });
            said.insert(key.to_string(), Value::Array(calls.collect()));
        } else if key.as_str() != "role" && value.is_truthy() {
            said.insert(key.to_string(), value.clone());
        }
    }
    Value::Object(said)
}

/// What came of the response, and what each content parser makes of a value that came back as text.
fn instead(found: &Counterexample) -> String {
    if let Some(error) = &found.error {
        return rows::text(error);
    }
    let parsed = rows::verbatim(&json::to_string(&said(&found.parsed)));
    let Some((text, wanted)) = value(&found.parsed, &found.expected) else {
        return format!("the other message: {parsed}");
    };
    let attempts = PARSERS.iter().filter_map(|parser| {
        let content = ContentParser::compile(parser, &Value::Object(Map::new()))?;
        Some(match content.parse(&text) {
            Ok(value) if value == wanted => format!("**{parser}: right**"),
            Ok(value) => format!("{parser}: {}", rows::verbatim(&json::to_string(&value))),
            Err(_) => format!("{parser}: an error"),
        })
    });
    let attempts: Vec<String> = attempts.collect();
    format!(
        "{parsed}; the value by each content parser: {}",
        attempts.join(", ")
    )
}

/// The first argument that came back as another text, and what it was.
fn value(parsed: &Value, expected: &Value) -> Option<(String, Value)> {
    let arguments = |message: &Value| -> Option<Map> {
        let calls = message.get("tool_calls")?.as_array()?;
        let function = calls.first()?.get("function")?;
        function.get("arguments")?.as_object().cloned()
    };
    let (parsed, expected) = (arguments(parsed)?, arguments(expected)?);
    parsed.iter().find_map(|(key, value)| {
        let wanted = expected.get(key.as_str())?;
        let text = value.as_str()?;
        (value != wanted).then(|| (text.to_owned(), wanted.clone()))
    })
}
