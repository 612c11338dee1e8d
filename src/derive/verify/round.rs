//! One round of an inversion: render a message, parse its turn, compare.

use std::sync::Arc;

use super::super::analysis::Analysis;
use super::super::emit;
use super::super::finding::Counterexample;
use super::super::lab::{Context, Lab};
use super::super::probe::Assistant;
use super::super::tool_calls::{Members, Shape};
use crate::parser::{Event, ParseError, ResponseParser, join_chunks};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// What one round shows.
#[derive(Debug)]
pub(super) enum Outcome {
    Passed,
    /// The chat template does not render the message, or not all of it.
    Skipped(Reason),
    Failed(Box<Counterexample>),
}

/// Why a message says nothing about the response template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// The chat template refuses the message.
    Refused(String),
    /// A part of the message is not in the render.
    NotRendered(&'static str),
}

/// What a round is run with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) lab: &'a Lab<'a>,
    pub(super) analysis: &'a Analysis,
    pub(super) template: &'a Arc<ResponseTemplate>,
}

/// A prompt or prefix and the response after it.
type Split = (String, String);

impl Bench<'_> {
    /// Renders `message` in `context`, parses the turn whole and in pieces, and compares.
    pub(super) fn run(&self, context: &Context, message: &Assistant) -> Outcome {
        let written = self.analysis.dialect.write(message);
        let turn = match self.lab.turn(context, &written) {
            Ok(turn) => turn,
            Err(error) => return Outcome::Skipped(Reason::Refused(error.to_string())),
        };
        let Some(first) = first_visible(&turn.full, message) else {
            return Outcome::Skipped(Reason::NotRendered("message"));
        };
        for (part, words) in parts(message) {
            if !words.iter().all(|word| turn.full.contains(word)) {
                return Outcome::Skipped(Reason::NotRendered(part));
            }
        }
        let mut splits: Vec<Split> = Vec::new();
        if let Some(response) = turn.full.strip_prefix(&turn.prompt) {
            splits.push((turn.prompt.clone(), response.to_owned()));
        }
        let before = &turn.full[..first];
        if let Some(rest) = self.analysis.anchor.after_last(before) {
            let (prefix, response) = turn.full.split_at(first - rest.len());
            splits.push((prefix.to_owned(), response.to_owned()));
        }
        self.compare_all(&splits, message, &written)
    }

    /// Writes a reasoning that the chat template does not render into the turn that it does render, as the model would,
    /// and parses that.
    pub(super) fn run_spliced(&self, context: &Context, message: &Assistant) -> Outcome {
        let (Some(reasoning), Some(thought)) = (&self.analysis.reasoning, &message.reasoning)
        else {
            return Outcome::Skipped(Reason::NotRendered("reasoning"));
        };
        let written = self.analysis.dialect.write(message);
        let rendered = match self.lab.turn(context, &written) {
            Ok(turn) => turn,
            Err(error) => return Outcome::Skipped(Reason::Refused(error.to_string())),
        };
        let Some(first) = first_visible(&rendered.full, message) else {
            return Outcome::Skipped(Reason::NotRendered("message"));
        };
        let Some(said) = self.analysis.anchor.after_last(&rendered.full[..first]) else {
            return Outcome::Skipped(Reason::NotRendered("turn"));
        };
        let rest = &rendered.full[first - said.len()..];
        let prompted = self
            .analysis
            .anchor
            .after_last(&rendered.prompt)
            .unwrap_or_default();
        let whole = parts(message).iter().all(|(part, words)| {
            *part == "reasoning" || words.iter().all(|word| rest.contains(word))
        });
        if !whole || said.contains(&reasoning.close) || prompted.contains(&reasoning.close) {
            // Under this setting the turn begins with an empty reasoning, or something else is left out too.
            return Outcome::Skipped(Reason::NotRendered("reasoning"));
        }
        let prefilled = prompted.contains(&reasoning.open);
        let open = if prefilled {
            ""
        } else {
            reasoning.open.as_str()
        };
        let response = format!("{open}\n{thought}\n{}\n\n{rest}", reasoning.close);
        self.compare_all(&[(rendered.prompt, response)], message, &written)
    }

    fn compare_all(&self, splits: &[Split], message: &Assistant, written: &Value) -> Outcome {
        let expected = Value::Object(self.expected(message));
        if splits.is_empty() {
            return Outcome::Failed(Box::new(Counterexample {
                message: written.clone(),
                prefix: String::new(),
                response: String::new(),
                expected,
                parsed: Value::Null,
                error: Some("the anchor is not in the render before the message".to_owned()),
            }));
        }
        for (prefix, response) in splits {
            let (parsed, error) = self.parse(prefix, response);
            if error.is_some() || parsed != expected {
                return Outcome::Failed(Box::new(Counterexample {
                    message: written.clone(),
                    prefix: prefix.clone(),
                    response: response.clone(),
                    expected,
                    parsed,
                    error,
                }));
            }
        }
        Outcome::Passed
    }

    /// The message that a response must parse to.
    fn expected(&self, message: &Assistant) -> Map {
        let mut expected = Map::new();
        expected.insert("role".to_owned(), Value::from("assistant"));
        if let Some(reasoning) = &message.reasoning {
            expected.insert(
                emit::reasoning_field(self.analysis).to_owned(),
                Value::from(reasoning.as_str()),
            );
        }
        if let Some(content) = &message.content {
            expected.insert("content".to_owned(), Value::from(content.as_str()));
        }
        if message.calls.is_empty() {
            return expected;
        }
        let with_id = self.analysis.calls.as_ref().is_some_and(|calls| {
            matches!(
                &calls.shape,
                Shape::Object(Members { id: Some(_), .. })
                    | Shape::Array(Members { id: Some(_), .. })
            )
        });
        let calls = message
            .calls
            .iter()
            .map(|call| {
                let mut written = Map::new();
                written.insert("type".to_owned(), Value::from("function"));
                if with_id {
                    written.insert("id".to_owned(), Value::from(call.id.as_str()));
                }
                let function = Map::from_iter([
                    ("name".to_owned(), Value::from(call.name.as_str())),
                    (
                        "arguments".to_owned(),
                        self.analysis.dialect.write_arguments(&call.arguments),
                    ),
                ]);
                written.insert("function".to_owned(), Value::Object(function));
                Value::Object(written)
            })
            .collect::<Vec<_>>();
        expected.insert("tool_calls".to_owned(), calls.into());
        expected
    }

    /// The parsed message, and what went wrong: an error, or an answer that depends on how the response is cut.
    fn parse(&self, prefix: &str, response: &str) -> (Value, Option<String>) {
        let whole = self.parse_in(prefix, [response]);
        let (message, events) = match whole {
            Ok(parsed) => parsed,
            Err((message, error)) => return (Value::Object(message), Some(error.to_string())),
        };
        for size in [1, 7] {
            let characters: Vec<char> = response.chars().collect();
            let pieces: Vec<String> = characters
                .chunks(size)
                .map(|piece| piece.iter().collect())
                .collect();
            let cut = self.parse_in(prefix, pieces.iter().map(String::as_str));
            if cut.as_ref().ok() != Some(&(message.clone(), events.clone())) {
                let error = format!("fed {size} characters at a time it parses differently");
                return (Value::Object(message), Some(error));
            }
        }
        (Value::Object(message), None)
    }

    fn parse_in<'t>(
        &self,
        prefix: &str,
        chunks: impl IntoIterator<Item = &'t str>,
    ) -> Result<(Map, Vec<Event<'static>>), (Map, ParseError)> {
        let mut parser = ResponseParser::new(Arc::clone(self.template), prefix, &[])
            .map_err(|error| (Map::new(), error))?;
        let mut events = parser.initial_events().to_vec();
        for chunk in chunks {
            match parser.feed(chunk) {
                Ok(found) => events.extend(found),
                Err(error) => return Err((parser.message().clone(), error)),
            }
        }
        match parser.finalize() {
            Ok((message, found)) => {
                events.extend(found);
                Ok((message, join_chunks(events)))
            }
            Err(error) => Err((parser.message().clone(), error)),
        }
    }
}

/// Words by which each part of a message can be found in a render.
fn parts(message: &Assistant) -> Vec<(&'static str, Vec<&str>)> {
    let mut parts = Vec::new();
    if let Some(reasoning) = &message.reasoning {
        parts.push(("reasoning", outer_words(reasoning)));
    }
    if let Some(content) = &message.content {
        parts.push(("content", outer_words(content)));
    }
    for call in &message.calls {
        parts.push(("tool calls", vec![call.name.as_str()]));
    }
    parts
}

/// The first and the last word of a text.
fn outer_words(text: &str) -> Vec<&str> {
    let mut words = text.split_whitespace();
    let first = words.next();
    first.into_iter().chain(words.next_back()).collect()
}

/// Where the first part of the message that is in the render's last turn begins.
fn first_visible(full: &str, message: &Assistant) -> Option<usize> {
    parts(message)
        .into_iter()
        .filter_map(|(_, words)| full.rfind(words.first()?))
        .min()
}
