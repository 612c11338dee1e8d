//! The answers of the reference, transformers' own parser, held against the parse here. How the reference
//! is run is the caller's business: this makes the questions and reads the answers.

use super::compare::{Difference, differences};
use super::cuts::in_words;
use super::explain::shown;
use super::fixture::Fixture;
use super::replay::{Replay, Setting};
use super::run::joined;
use crate::chunking::{Chunking, chunks};
use crate::diagnostic::{Diagnostic, Severity};
use crate::value::{Map, Value};

/// A response is cut into at most so many chunks: the reference searches what it holds again with each.
const CHUNKS: usize = 1024;

/// A question for the reference: to parse a response with a response template, in several ways.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    document: &'a str,
    tools: &'a [Value],
    runs: Vec<Run<'a>>,
}

/// One way to parse it.
#[derive(Debug, Clone)]
struct Run<'a> {
    prefix: &'a str,
    chunks: Vec<String>,
    /// How the response arrives, to say it in a sentence.
    how: String,
}

/// The reference's answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// It takes no such response template, for this reason.
    Refused(String),
    /// The outcome of each way.
    Runs(Vec<Outcome>),
}

/// The outcome of one parse.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The events, those of the prefix included, adjacent chunks of a region joined.
    events: Vec<Value>,
    /// The message, or the error in Python's words.
    message: Result<Map, String>,
}

impl<'a> Question<'a> {
    /// The question whether the reference takes a response template, whose text this is.
    pub fn about_document(document: &'a str) -> Self {
        Self {
            document,
            tools: &[],
            runs: Vec::new(),
        }
    }

    /// The question about a fixture: whole, whole with what the prompt has already, in the recorded chunks, and in
    /// small ones. `document` is the text of the response template.
    pub fn about_fixture(document: &'a str, setting: &Setting<'a>, fixture: &Fixture) -> Self {
        let response = &fixture.response;
        let run = |how: &str, prefix: &'a str, chunks: Vec<String>| Run {
            prefix,
            chunks,
            how: how.to_owned(),
        };
        // The reference reads the prompt by itself first. Here it is text like any other.
        let begun = setting.template.after_last_anchor(setting.prefix);
        let as_one = begun.unwrap_or_default().to_owned() + response;
        let mut runs = vec![
            run("after the prompt", setting.prefix, vec![response.clone()]),
            run("at once", "", vec![as_one]),
        ];
        if let Some(chunks) = &fixture.chunks {
            runs.push(run(
                "in the recorded chunks",
                setting.prefix,
                chunks.clone(),
            ));
        }
        let small = Chunking::Bytes(response.len().div_ceil(CHUNKS).max(1));
        let ends = small.ends(response, &[]).unwrap_or_default();
        let chunks = chunks(response, &ends).map(str::to_owned).collect();
        runs.push(run(&in_words(&small), setting.prefix, chunks));
        Self {
            document,
            tools: setting.tools,
            runs,
        }
    }

    /// The question as an object: `template`, `tools` and `runs`, each with its `prefix` and `chunks`.
    pub fn to_value(&self) -> Value {
        let object = |members: Vec<(&str, Value)>| {
            Value::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect(),
            )
        };
        let runs: Vec<Value> = self
            .runs
            .iter()
            .map(|run| {
                let chunks: Vec<Value> = run
                    .chunks
                    .iter()
                    .map(|chunk| chunk.as_str().into())
                    .collect();
                object(vec![
                    ("prefix", run.prefix.into()),
                    ("chunks", chunks.into()),
                ])
            })
            .collect();
        object(vec![
            ("template", self.document.into()),
            ("tools", self.tools.to_vec().into()),
            ("runs", runs.into()),
        ])
    }

    /// In what the reference's answer is not what the response gives here when it arrives at once; nothing when it is. An
    /// error where it gives something else whatever way it is asked, a warning where it gives something else only in pieces.
    pub fn disagreement(&self, whole: &Replay, answer: &Answer) -> Option<Diagnostic> {
        let outcomes = match answer {
            Answer::Refused(_) => return None,
            Answer::Runs(outcomes) => outcomes,
        };
        let here = Outcome::of(whole);
        let at_once = outcomes.iter().take(2).find(|outcome| here.agrees(outcome));
        let Some(at_once) = at_once else {
            let told = told(&here, outcomes.first()?);
            let message = format!("transformers gives something else\n{told}");
            return Some(Diagnostic::error("reference-disagrees", message).with_hint(
                "docs/differences.md lists what is meant to differ; where this is not on the list, please report it",
            ));
        };
        let (run, other) = self
            .runs
            .iter()
            .zip(outcomes)
            // What follows an error does not matter.
            .find(|(_, outcome)| !at_once.agrees(outcome))?;
        let how = &run.how;
        let told = told(&here, other);
        let message =
            format!("transformers gives something else when the response arrives {how}\n{told}");
        let mut diagnostic = Diagnostic::error("reference-streams-otherwise", message).with_hint(
            "transformers does not agree with itself: a delimiter of the response template matches what has arrived \
             otherwise than the whole; here every chunking gives what the whole response gives",
        );
        diagnostic.severity = Severity::Warning;
        Some(diagnostic)
    }
}

impl Answer {
    /// Reads an answer: `{"refused": TEXT}` or `{"runs": [...]}`; `None` when it is neither.
    pub fn from_value(value: &Value) -> Option<Self> {
        if let Some(refused) = value.get("refused") {
            return Some(Self::Refused(refused.as_str()?.to_owned()));
        }
        let runs = value.get("runs")?.as_array()?;
        runs.iter()
            .map(Outcome::from_value)
            .collect::<Option<_>>()
            .map(Self::Runs)
    }
}

impl Outcome {
    fn from_value(value: &Value) -> Option<Self> {
        let message = match value.get("error") {
            Some(error) => Err(error.as_str()?.to_owned()),
            None => Ok(value.get("message")?.as_object()?.clone()),
        };
        Some(Self {
            events: joined(value.get("events")?.as_array()?),
            message,
        })
    }

    /// The outcome of a parse here.
    fn of(replay: &Replay) -> Self {
        let events = replay
            .events
            .iter()
            .map(|event| Value::Object(event.to_map()));
        Self {
            events: events.collect(),
            message: match replay.errors.first() {
                Some(error) => Err(error.to_string()),
                None => Ok(replay.message.clone()),
            },
        }
    }

    /// Returns true if both fail, or both give the same. How far a parse that fails comes is not compared.
    fn agrees(&self, other: &Self) -> bool {
        match (&self.message, &other.message) {
            (Err(_), Err(_)) => true,
            (Ok(message), Ok(other_message)) => {
                message == other_message && self.events == other.events
            }
            _ => false,
        }
    }
}

/// The first difference, on a line for each side.
fn told(here: &Outcome, reference: &Outcome) -> String {
    let side = |message: &Result<Map, String>| match message {
        Ok(message) => shown(&Value::Object(message.clone())),
        Err(error) => format!("an error: {error}"),
    };
    let found = match (&here.message, &reference.message) {
        (Ok(here), Ok(reference)) => differences(&reference.clone().into(), &here.clone().into()),
        _ => {
            return format!(
                "transformers {}\nhere         {}",
                side(&reference.message),
                side(&here.message)
            );
        }
    };
    let (what, found) = if found.is_empty() {
        let events = |outcome: &Outcome| Value::from(outcome.events.clone());
        ("events", differences(&events(reference), &events(here)))
    } else {
        ("message", found)
    };
    let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), shown);
    let Some(Difference {
        path,
        expected,
        found,
    }) = found.first()
    else {
        return String::new();
    };
    format!(
        "in the {what} at {path}\ntransformers {}\nhere         {}",
        value(expected),
        value(found)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::response_template::ResponseTemplate;
    use crate::value::json;

    const DOCUMENT: &str = r#"{"start_anchor": "A:", "fields": {"content": {"close": "<e>"}}}"#;

    /// The finding for an answer to a question about the response `Hi`.
    fn told_of(answer: &str) -> Option<(Severity, String)> {
        let template = Arc::new(ResponseTemplate::from_json(DOCUMENT).unwrap());
        let setting = Setting::new(&template, "A:", &[]);
        let fixture = Fixture {
            response: "Hi".to_owned(),
            ..Fixture::default()
        };
        let question = Question::about_fixture(DOCUMENT, &setting, &fixture);
        assert_eq!(
            json::to_string(question.to_value().get("runs").unwrap()),
            r#"[{"prefix": "A:", "chunks": ["Hi"]}, {"prefix": "", "chunks": ["Hi"]}, {"prefix": "A:", "chunks": ["H", "i"]}]"#
        );
        let answer = Answer::from_value(&json::parse(answer).unwrap()).unwrap();
        let whole = setting.replay(["Hi"]);
        let found = question.disagreement(&whole, &answer)?;
        Some((found.severity, found.message))
    }

    fn run(texts: &[&str]) -> String {
        let chunks: Vec<String> = texts
            .iter()
            .map(|text| format!(r#"{{"type": "region_chunk", "field": "content", "text": "{text}", "dirty": false}}, "#))
            .collect();
        let all = texts.concat();
        format!(
            r#"{{"events": [{{"type": "region_open", "field": "content"}}, {} {{"type": "region_close", "field": "content",
                "value": "{all}"}}], "message": {{"content": "{all}"}}}}"#,
            chunks.concat()
        )
    }

    fn answer(runs: [&str; 3]) -> String {
        format!(r#"{{"runs": [{}]}}"#, runs.join(", "))
    }

    #[test]
    fn the_same_in_other_chunks_is_no_disagreement() {
        let (whole, pieces) = (run(&["Hi"]), run(&["H", "i"]));
        assert_eq!(told_of(&answer([&whole, &whole, &pieces])), None);
        assert_eq!(told_of(r#"{"refused": "no"}"#), None);
    }

    #[test]
    fn something_else_is_told_with_both_values() {
        let other = run(&["Ho"]);
        let (severity, message) = told_of(&answer([&other, &other, &other])).unwrap();
        assert_eq!(severity, Severity::Error);
        assert_eq!(
            message,
            "transformers gives something else\nin the message at $.content\ntransformers \"Ho\"\nhere         \"Hi\""
        );
        let events = run(&["Hi"]).replace("false", "true");
        let (_, message) = told_of(&answer([&events, &events, &events])).unwrap();
        assert!(
            message.contains("in the events at $[1].dirty\ntransformers true\nhere         false"),
            "{message}"
        );
        let failed = r#"{"events": [], "error": "ValueError: no"}"#;
        let (severity, message) = told_of(&answer([failed, failed, failed])).unwrap();
        assert!(
            severity == Severity::Error && message.contains("an error: ValueError: no"),
            "{message}"
        );
    }

    #[test]
    fn a_reference_that_does_not_agree_with_itself_is_a_warning() {
        let (whole, other) = (run(&["Hi"]), run(&["H"]));
        let (severity, message) = told_of(&answer([&whole, &whole, &other])).unwrap();
        assert_eq!(severity, Severity::Warning);
        assert!(
            message.contains("when the response arrives byte by byte"),
            "{message}"
        );
        let (severity, message) = told_of(&answer([&other, &whole, &whole])).unwrap();
        assert_eq!(severity, Severity::Warning);
        assert!(message.contains("arrives after the prompt"), "{message}");
    }
}
