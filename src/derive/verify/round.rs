//! One round of an inversion: render a message, parse its turn, compare.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::super::analysis::Analysis;
use super::super::emit::{self, Target};
use super::super::finding::Counterexample;
use super::super::lab::{Context, Lab, Turn};
use super::super::probe::{self, Assistant};
use super::super::tool_calls::ToolCalls;
use super::{Case, alike};
use crate::parser::{Event, ParseError, ResponseParser, join_chunks, push_joined};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// What one round shows.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The message came back from each of these.
    Passed(Vec<Case>),
    /// The chat template does not render the message, or not all of it.
    Skipped(Reason),
    Failed(Box<Counterexample>),
    /// The message goes on from a prompt that opens a reasoning, and nothing closes it: nobody can tell it from one.
    AsReasoning(Box<Counterexample>),
}

/// Why a message says nothing about the response template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// The chat template refuses the message.
    Refused(String),
    /// A part of the message is not in the render.
    NotRendered(&'static str),
    /// The message is rendered as more than one turn.
    SeveralTurns,
    /// Nothing in the render marks where the message begins.
    Unmarked,
    /// Another message, with an argument of another type, is rendered the same.
    TypeNotTold,
    /// Another message, with the same texts in other fields, is rendered the same.
    FieldNotTold,
}

/// What a round is run with.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Bench<'a> {
    pub(in super::super) lab: &'a Lab<'a>,
    pub(in super::super) analysis: &'a Analysis,
    pub(in super::super) target: Target,
    pub(in super::super) template: &'a Arc<ResponseTemplate>,
    pub(in super::super) proved: &'a Proved,
    /// Whether to spare no time.
    pub(in super::super) thorough: bool,
}

/// What parses as it must: a text that comes in many contexts is parsed in one.
#[derive(Debug, Default)]
pub(in super::super) struct Proved(RefCell<HashMap<String, Vec<(String, Value)>>>);

impl Proved {
    /// Whether the response after so much of a prompt is known to parse to the message.
    fn has(&self, prompted: &str, response: &str, message: &Value) -> bool {
        let known = self.0.borrow();
        let mut known = known.get(response).into_iter().flatten();
        known.any(|(before, parsed)| before == prompted && parsed == message)
    }

    fn add(&self, prompted: &str, response: &str, message: &Value) {
        let mut known = self.0.borrow_mut();
        let of_response = known.entry(response.to_owned()).or_default();
        of_response.push((prompted.to_owned(), message.clone()));
    }
}

/// A message in its render.
#[derive(Debug)]
struct Rendered {
    turn: Turn,
    /// Where the message's turn begins in the full render, if the anchor is there.
    start: Option<usize>,
    /// The message in the chat template's keys.
    written: Value,
}

/// A prompt or prefix and the response after it.
pub(super) type Split = (String, String);

impl Bench<'_> {
    /// Renders `message` in `context`, parses the turn whole and in pieces, and compares.
    pub(super) fn run(&self, context: &Context, message: &Assistant) -> Outcome {
        let rendered = match self.render(context, message) {
            Ok(rendered) => rendered,
            Err(reason) => return Outcome::Skipped(reason),
        };
        let full = &rendered.turn.full;
        if let Some(part) = missing(message, &full[rendered.start.unwrap_or(0)..]) {
            return Outcome::Skipped(Reason::NotRendered(part));
        }
        let splits = self.split(context, &rendered);
        match self.compare(&splits, message, &rendered.written) {
            Outcome::Passed(cases) => self.render_again(context, message, rendered, cases),
            Outcome::Failed(found) if self.is_written_as_reasoning(message, &rendered.turn) => {
                Outcome::AsReasoning(found)
            }
            Outcome::Failed(found) => self.tell_apart(context, found, full),
            other => other,
        }
    }

    /// What the parser is given of a message: its turn after the prompt that it goes on from, and after its beginning.
    fn split(&self, context: &Context, rendered: &Rendered) -> Vec<Split> {
        let Turn { prompt, full } = &rendered.turn;
        // A prompt that does not begin a turn asks for none.
        let asked = &prompt[end_of_context(context, prompt)..];
        let begun = self.analysis.anchor.after_last(asked);
        let continued = full
            .strip_prefix(prompt.as_str())
            .filter(|_| begun.is_some())
            // What stands before a generation prompt is gone once it is answered.
            .or_else(|| {
                let is_only_begun = begun == Some("") && self.lab.afterword(context).is_some();
                rendered
                    .start
                    .filter(|_| is_only_begun)
                    .map(|start| &full[start..])
            })
            .map(|response| (prompt.clone(), response.to_owned()));
        let anchored = rendered.start.map(|start| {
            let (prefix, response) = full.split_at(start);
            (prefix.to_owned(), response.to_owned())
        });
        let mut splits: Vec<Split> = continued.into_iter().chain(anchored).collect();
        splits.dedup();
        splits
    }

    /// How a message is written: each response that the parser is given of it, after what a parser reads of its prompt. There are
    /// none of a message that is not rendered.
    pub(super) fn written(&self, context: &Context, message: &Assistant) -> Vec<Split> {
        let Ok(rendered) = self.render(context, message) else {
            return Vec::new();
        };
        let mut splits = self.split(context, &rendered);
        for (prefix, _) in &mut splits {
            *prefix = self.prompted(prefix).to_owned();
        }
        splits
    }

    /// What a parser reads of a prompt.
    fn prompted<'t>(&self, prompt: &'t str) -> &'t str {
        self.template.after_last_anchor(prompt).unwrap_or(prompt)
    }

    /// Whether a message that came back as another one could have come back at all: not where the chat template writes both
    /// alike, the two differing in nothing but values of arguments, or in the fields that the same texts stand in.
    fn tell_apart(&self, context: &Context, found: Box<Counterexample>, full: &str) -> Outcome {
        let (expected, parsed) = (&found.expected, &found.parsed);
        let reason = if found.error.is_some() {
            None
        } else if alike::same_but_arguments(expected, parsed) {
            Some(Reason::TypeNotTold)
        } else if alike::same_but_fields(expected, parsed) {
            Some(Reason::FieldNotTold)
        } else if alike::without_nulls(expected) == *parsed {
            Some(Reason::NotRendered("arguments that are null"))
        } else {
            None
        };
        let again = || {
            let parsed = self.as_appended(parsed.clone(), &found.message);
            self.lab
                .turn(context, &parsed)
                .is_ok_and(|turn| turn.full == full)
        };
        match reason {
            Some(reason) if again() => Outcome::Skipped(reason),
            _ => Outcome::Failed(found),
        }
    }

    /// The parsed message, which is the expected one, appended to the conversation must render as the same text.
    fn render_again(
        &self,
        context: &Context,
        message: &Assistant,
        rendered: Rendered,
        cases: Vec<Case>,
    ) -> Outcome {
        let parsed = Value::Object(self.expected(message));
        let parsed = self.as_appended(parsed, &rendered.written);
        let again = self.lab.turn(context, &parsed).map(|turn| turn.full);
        let error = match again {
            Ok(full) if full == rendered.turn.full => return Outcome::Passed(cases),
            Ok(full) => format!(
                "appended to the conversation, the parsed message renders differently: {full}"
            ),
            Err(error) => {
                format!("appended to the conversation, the parsed message does not render: {error}")
            }
        };
        Outcome::Failed(Box::new(Counterexample {
            message: rendered.written,
            prefix: rendered.turn.prompt,
            response: rendered.turn.full,
            expected: parsed.clone(),
            parsed,
            error: Some(error),
        }))
    }

    /// A parsed message as it is appended to the conversation: with ids for its calls where the text carries none, and in
    /// the chat template's own keys where the target takes others.
    fn as_appended(&self, parsed: Value, written: &Value) -> Value {
        let mut message = with_ids(parsed, written);
        let dialect = &self.analysis.dialect;
        let Value::Object(members) = &mut message else {
            return message;
        };
        let field = emit::reasoning_field(self.analysis, self.target);
        if let Some(key) = &dialect.reasoning_key
            && let Some(at) = members.get_index_of(field)
            && let Some(reasoning) = members.shift_remove(field)
        {
            members.shift_insert(at, key.as_str(), reasoning);
        }
        if let Some(content) = dialect.no_content.value()
            && !members.contains_key("content")
        {
            members.insert("content", content);
        }
        message
    }

    /// Writes a reasoning that the chat template does not render into the turn that it does render, as the model would,
    /// and parses that. Skipped under a setting whose prompt or turn has a reasoning of its own, an empty one.
    pub(super) fn run_spliced(&self, context: &Context, message: &Assistant) -> Outcome {
        let (Some(reasoning), Some(thought)) = (&self.analysis.reasoning, &message.reasoning)
        else {
            return Outcome::Skipped(Reason::NotRendered("reasoning"));
        };
        let rendered = match self.render(context, message) {
            Ok(rendered) => rendered,
            Err(reason) => return Outcome::Skipped(reason),
        };
        let rest = Assistant {
            reasoning: None,
            ..message.clone()
        };
        let said = if self.is_written_as_reasoning(&rest, &rendered.turn) {
            self.earlier(context, &rest).map(|(_, (_, said))| said)
        } else {
            let said = rendered.start.map(|start| &rendered.turn.full[start..]);
            Ok(said.unwrap_or_default().to_owned())
        };
        let said = match said {
            Ok(said) => said,
            Err(reason) => return Outcome::Skipped(reason),
        };
        let prompted = self
            .analysis
            .anchor
            .after_last(&rendered.turn.prompt)
            .unwrap_or_default();
        let content = &self.analysis.content;
        if missing(&rest, &said).is_some()
            || said.contains(&reasoning.close)
            || prompted.contains(&reasoning.close)
            || content
                .open
                .as_ref()
                .is_some_and(|open| prompted.contains(open))
        {
            return Outcome::Skipped(Reason::NotRendered("reasoning"));
        }
        let open = if prompted.contains(&reasoning.open) {
            ""
        } else {
            reasoning.open.as_str()
        };
        let response = format!("{open}\n{thought}\n{}\n\n{said}", reasoning.close);
        self.compare(
            &[(rendered.turn.prompt, response)],
            message,
            &rendered.written,
        )
    }

    /// The message as rendered, if its render is one turn whose beginning can be told.
    fn render(&self, context: &Context, message: &Assistant) -> Result<Rendered, Reason> {
        let written = self.analysis.dialect.write(message);
        let turn = self
            .lab
            .turn(context, &written)
            .map_err(|error| Reason::Refused(error.to_string()))?;
        let said = end_of_context(context, &turn.full);
        let first = first_visible(&turn.full[said..], message)
            .map(|at| said + at)
            .ok_or(Reason::NotRendered("message"))?;
        let before = &turn.full[..first];
        let start = self
            .analysis
            .anchor
            .after_last(before)
            .map(|rest| first - rest.len());
        if let Some(start) = start {
            if start < said {
                return Err(Reason::Unmarked);
            }
            let end = self.analysis.turn_end.marker();
            if self.analysis.anchor.follows(&turn.full[start..], end) {
                return Err(Reason::SeveralTurns);
            }
        }
        Ok(Rendered {
            turn,
            start,
            written,
        })
    }

    pub(super) fn compare(
        &self,
        splits: &[Split],
        message: &Assistant,
        written: &Value,
    ) -> Outcome {
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
        let tools: Vec<Value> = message.calls.iter().map(probe::tool_for).collect();
        for (prefix, response) in splits {
            let prompted = self.prompted(prefix);
            if self.proved.has(prompted, response, &expected) {
                continue;
            }
            let (parsed, error) = self.parse(prefix, response, &tools);
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
            self.proved.add(prompted, response, &expected);
        }
        let cases = splits.iter().map(|(prefix, response)| Case {
            prefix: prefix.clone(),
            response: response.clone(),
            tools: tools.clone(),
            message: expected.clone(),
        });
        Outcome::Passed(cases.collect())
    }

    /// The message that a response must parse to.
    pub(super) fn expected(&self, message: &Assistant) -> Map {
        let mut expected = self.template.defaults().clone();
        if let Some(reasoning) = &message.reasoning {
            expected.insert(
                emit::reasoning_field(self.analysis, self.target).to_owned(),
                Value::from(reasoning.as_str()),
            );
        }
        if let Some(content) = &message.content {
            expected.insert("content".to_owned(), Value::from(content.as_str()));
        }
        if message.calls.is_empty() {
            return expected;
        }
        let with_id = self.analysis.calls.as_ref().is_some_and(ToolCalls::has_id);
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
        expected.insert(probe::CALLS_KEY.to_owned(), calls.into());
        expected
    }

    /// The parsed message, and what went wrong: an error, or an answer that depends on how the response is cut.
    pub(super) fn parse(
        &self,
        prefix: &str,
        response: &str,
        tools: &[Value],
    ) -> (Value, Option<String>) {
        let whole = self.parse_in(prefix, [response], tools);
        if let (message, Err(error)) = whole {
            return (Value::Object(message), Some(error.to_string()));
        }
        let some = [1, 7];
        let sizes: Vec<usize> = if self.thorough {
            (1..response.chars().count()).collect()
        } else {
            some.into()
        };
        for size in sizes {
            let cut = self.parse_in(prefix, pieces(response, size), tools);
            if cut != whole {
                let error = format!("fed {size} characters at a time it parses differently");
                return (Value::Object(whole.0), Some(error));
            }
        }
        (Value::Object(whole.0), None)
    }

    /// The message as far as it was parsed, and the joined events or what broke.
    fn parse_in<'t>(
        &self,
        prefix: &str,
        chunks: impl IntoIterator<Item = &'t str>,
        tools: &[Value],
    ) -> (Map, Result<Vec<Event<'static>>, Box<ParseError>>) {
        let mut parser = match ResponseParser::new(Arc::clone(self.template), prefix, tools) {
            Ok(parser) => parser,
            Err(error) => return (Map::new(), Err(Box::new(error))),
        };
        let mut events = join_chunks(parser.initial_events().to_vec());
        let mut note = |event: Event<'_>| push_joined(&mut events, event);
        let fed = chunks
            .into_iter()
            .try_for_each(|chunk| parser.feed_with(chunk, &mut note));
        let ended = fed.and_then(|()| parser.finalize_with(&mut note));
        (
            parser.into_message(),
            ended.map(|()| events).map_err(Box::new),
        )
    }
}

/// A text in pieces of so many characters.
fn pieces(text: &str, characters: usize) -> impl Iterator<Item = &str> {
    let starts = || text.char_indices().step_by(characters).map(|(at, _)| at);
    let ends = starts().skip(1).chain(std::iter::once(text.len()));
    starts().zip(ends).map(|(start, end)| &text[start..end])
}

/// The message with the ids of `written` where its calls have none.
pub(super) fn with_ids(mut message: Value, written: &Value) -> Value {
    let given = written
        .get(probe::CALLS_KEY)
        .and_then(Value::as_array)
        .unwrap_or_default();
    if let Value::Object(members) = &mut message
        && let Some(Value::Array(calls)) = members.get_mut(probe::CALLS_KEY)
    {
        for (call, given) in calls.iter_mut().zip(given) {
            if let (Value::Object(call), Some(id)) = (call, given.get("id"))
                && !call.contains_key("id")
            {
                let at = call.get_index_of("function").unwrap_or(call.len());
                call.shift_insert(at, "id", id.clone());
            }
        }
    }
    message
}

/// Where the last thing said in the context ends in a render.
pub(super) fn end_of_context(context: &Context, render: &str) -> usize {
    context
        .history
        .last()
        .and_then(|message| message.get("content")?.as_str())
        .and_then(|said| render.rfind(said).map(|at| at + said.len()))
        .unwrap_or(0)
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

/// The first part of the message that is not in the render.
pub(super) fn missing(message: &Assistant, render: &str) -> Option<&'static str> {
    parts(message)
        .into_iter()
        .find(|(_, words)| !words.iter().all(|word| render.contains(word)))
        .map(|(part, _)| part)
}

/// The first and the last word of a text.
fn outer_words(text: &str) -> Vec<&str> {
    let mut words = text.split_whitespace();
    let first = words.next();
    first.into_iter().chain(words.next_back()).collect()
}

/// Where the first part of the message begins that is in what was rendered after the context.
pub(super) fn first_visible(rendered: &str, message: &Assistant) -> Option<usize> {
    parts(message)
        .into_iter()
        .filter_map(|(_, words)| rendered.find(words.first()?))
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_counted_in_characters() {
        assert_eq!(pieces("aéb", 1).collect::<Vec<_>>(), ["a", "é", "b"]);
        assert_eq!(pieces("aéb", 2).collect::<Vec<_>>(), ["aé", "b"]);
        assert_eq!(pieces("", 2).count(), 0);
    }
}
