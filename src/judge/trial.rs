//! The trial of a response template by one round: parse the turn, compare, render again.
//!
//! A round is a message that was rendered as a turn. From the render come the inputs of a parser: the prompt and the text behind it, or the
//! part of the turn behind its start anchor. The message comes back if three things hold: the parse has all that can be seen of the message
//! and nothing beside it, the parse is the same in pieces of several sizes and for the reference fed a character at a time, and the parsed
//! message, appended to the conversation, renders to the same text. The last one is what makes the proof independent of any belief about
//! the format. Where another message came back that renders to the same text too, the two cannot be told apart by anybody, and the round
//! says so.
//!
//! A response that comes up in many rounds is parsed once, as [`Parses`] keeps them. The cost of a round is otherwise some parses of its turn
//! and one render.

use std::ops::Range;
use std::rc::Rc;

use serde::Serialize;

use super::Case;
use super::alike::{
    could_be_meant, dense, is_divided_otherwise, is_spelled_otherwise, same_but_arguments,
};
use super::expected::{Expected, ExpectedCall};
use super::manner::Manner;
use super::message::CALLS_KEY;
use super::parses::{Input, Parsed, Parses};
use super::places::is_given;
use super::renderer::Renderer;
use super::rounds::Round;
use crate::response_template::ResponseTemplate;
use crate::text;
use crate::value::{Map, Value, json};

/// A message that does not come back from its own render.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Counterexample {
    /// The message that was rendered.
    #[cfg_attr(test, schemars(with = "serde_json::Value"))]
    pub message: Value,
    /// The prompt or prefix that the parser was given.
    pub prefix: String,
    /// The response that it parsed.
    pub response: String,
    /// The message that the response had to parse to.
    #[cfg_attr(test, schemars(with = "serde_json::Value"))]
    pub expected: Value,
    /// The message that it parsed to instead, or as far as it could be parsed.
    #[cfg_attr(test, schemars(with = "serde_json::Value"))]
    pub parsed: Value,
    /// The error with which parsing failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The outcome of a round.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// The message came back from each of these responses.
    Back(Vec<Case>),
    /// The message came back as an earlier turn, and not as the last one. The counterexample has the message that came back there.
    Earlier(Case, Box<Counterexample>),
    /// Another message came back, and both render to the same text.
    Alike {
        /// The message that came back.
        found: Box<Counterexample>,
        /// True if that is excused: a text of the message is more than plain words, and is what makes them alike. The types of arguments
        /// are no excuse, since the schemas of the tools tell them, whatever the text looks like; nor is that the chat template writes two texts alike.
        excused: bool,
    },
    /// Another message came back, or none.
    Lost(Box<Counterexample>),
}

impl Outcome {
    pub(super) fn is_back(&self) -> bool {
        matches!(self, Self::Back(_) | Self::Earlier(..))
    }

    /// Returns true if something else came back than the message, and nothing excuses it.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Back(_) | Self::Earlier(..) => false,
            Self::Alike { excused, .. } => !excused,
            Self::Lost(_) => true,
        }
    }

    /// Returns the counterexample, where something else came back than the message.
    pub(super) fn counterexample(self) -> Option<Counterexample> {
        match self {
            Self::Back(_) | Self::Earlier(..) => None,
            Self::Alike { found, .. } | Self::Lost(found) => Some(*found),
        }
    }
}

/// A response template, and the parses that it made so far.
#[derive(Debug)]
pub(super) struct Tried<'a> {
    /// The field for reasoning where the engines take no other name. The reasoning is then renamed before it is appended.
    pub(super) reasoning_field: Option<&'a str>,
    /// The keys under which a reasoning renders alike.
    pub(super) aliases: &'a [String],
    parses: Rc<Parses>,
}

/// Prompts or prefixes, each with the response after it.
struct Splits<'r> {
    all: Vec<(&'r str, &'r str)>,
    /// True if it is enough that the message comes back from one of them.
    any_will_do: bool,
}

/// At how many places of an earlier turn its text is looked for.
const MAX_PLACES: usize = 8;

impl<'a> Tried<'a> {
    pub(super) fn new(
        reasoning_field: Option<&'a str>,
        aliases: &'a [String],
        parses: Rc<Parses>,
    ) -> Self {
        Self {
            reasoning_field,
            aliases,
            parses,
        }
    }

    /// The response template.
    pub(super) fn template(&self) -> &ResponseTemplate {
        self.parses.template()
    }

    /// Parses the round's turn from each of its possible beginnings, and compares. Where the message does not come back, the turn is tried
    /// as an earlier one too.
    pub(super) fn run(&self, round: &Round, manner: &Manner, renderer: &Renderer<'_>) -> Outcome {
        let outcome = self.run_last(round, manner, renderer);
        if outcome.is_back() {
            return outcome;
        }
        match self.run_earlier(round, manner, renderer) {
            Some(case) => match outcome.clone().counterexample() {
                Some(found) => Outcome::Earlier(case, Box::new(found)),
                None => outcome,
            },
            None => outcome,
        }
    }

    /// The case of the message as an earlier turn, if it comes back so.
    ///
    /// Some chat templates write the last message as if it went on from their prompt, which has opened a reasoning, and the same message
    /// otherwise where a question follows. The earlier turn then shows how the model writes it. It counts only where the two are written
    /// differently.
    fn run_earlier(&self, round: &Round, manner: &Manner, renderer: &Renderer<'_>) -> Option<Case> {
        let opened = self
            .after_anchor(&round.place.prompt)
            .filter(|after| !after.is_empty());
        let goes_on = round.full.starts_with(&round.place.prompt);
        if !goes_on || opened.is_none() || round.expected.reasoning.is_some() {
            return None;
        }
        let full = renderer.earlier(&round.place.place, &round.written, manner)?;
        let last = self.after_anchor(&round.full[..round.first])?;
        let last = &round.full[round.first - last.len()..];
        let said = round.place.turn_start(&round.full).min(full.len());
        // No more than the text itself is looked for: what follows it is written otherwise.
        let seen = &round.full[round.first..];
        let content = round.expected.content.as_ref();
        let content = content.filter(|content| seen.starts_with(content.as_str()));
        let first: String = content
            .map_or(seen, String::as_str)
            .chars()
            .take(8)
            .collect();
        // A short text may stand in the turn's header as well.
        let places = full.get(said..)?.match_indices(first.as_str());
        let mut cases = places.take(MAX_PLACES).filter_map(|(at, _)| {
            let first = said + at;
            let start = first - self.after_anchor(&full[..first])?.len();
            let (prefix, response) = full.split_at(start);
            let is_other = start >= said && last != response;
            let (parsed, error) = self.parse(prefix, response, &round.tools);
            let is_back =
                is_other && error.is_none() && self.is_round(&parsed, round, manner, renderer);
            is_back.then(|| Case {
                prefix: prefix.to_owned(),
                response: response.to_owned(),
                tools: round.tools.to_vec(),
                message: Value::Object(parsed),
            })
        });
        cases.next()
    }

    fn run_last(&self, round: &Round, manner: &Manner, renderer: &Renderer<'_>) -> Outcome {
        let splits = self.splits(round);
        let expected = || self.expected_message(&round.expected, manner);
        let shown = |prefix: &str, response: &str, parsed: Map, error: Option<String>| {
            Box::new(Counterexample {
                message: round.written.clone(),
                prefix: prefix.to_owned(),
                response: response.to_owned(),
                expected: expected(),
                parsed: Value::Object(parsed),
                error,
            })
        };
        if splits.all.is_empty() {
            let response = &round.full[round.history_end..];
            let error = "nothing before the message is the start anchor".to_owned();
            return Outcome::Lost(shown(
                &round.full[..round.history_end],
                response,
                Map::new(),
                Some(error),
            ));
        }
        let mut cases = Vec::new();
        let mut failed = None;
        for (prefix, response) in splits.all {
            let (parsed, error) = self.parse(prefix, response, &round.tools);
            if error.is_none() && self.is_round(&parsed, round, manner, renderer) {
                cases.push((prefix, response, parsed));
            } else {
                failed.get_or_insert((prefix, response, parsed, error));
            }
        }
        if splits.any_will_do {
            cases.truncate(1);
        }
        if let Some((prefix, response, parsed, error)) = failed
            && (!splits.any_will_do || cases.is_empty())
        {
            let is_error = error.is_some();
            let found = shown(prefix, response, parsed.clone(), error);
            if is_error
                || self.lacks_an_id(&parsed, round, manner, renderer)
                || self
                    .renders_again(&parsed, round, manner, renderer)
                    .is_some()
            {
                return Outcome::Lost(found);
            }
            let calls = |message: &Value| message.get(CALLS_KEY).cloned().unwrap_or(Value::Null);
            let (meant, other) = (calls(&found.expected), calls(&found.parsed));
            let is_type = meant != other && same_but_arguments(&meant, &other);
            let offered = round.place.place.tools.iter().flat_map(|tools| &**tools);
            let tools = offered.chain(&*round.tools);
            let is_meant = could_be_meant(&found.expected, &found.parsed, tools)
                || is_divided_otherwise(&found.expected, &found.parsed);
            let is_spelled_otherwise = is_spelled_otherwise(&found.expected, &found.parsed);
            if !is_type && !is_meant && !is_spelled_otherwise {
                return Outcome::Lost(found);
            }
            return Outcome::Alike {
                excused: !round.probe.plain && !is_type && is_meant && !is_spelled_otherwise,
                found,
            };
        }
        let (prefix, response, parsed) = &cases[0];
        if let Some(error) = self.renders_again(parsed, round, manner, renderer) {
            return Outcome::Lost(shown(prefix, response, parsed.clone(), Some(error)));
        }
        let cases = cases.into_iter().map(|(prefix, response, parsed)| Case {
            prefix: prefix.to_owned(),
            response: response.to_owned(),
            tools: round.tools.to_vec(),
            message: Value::Object(parsed),
        });
        Outcome::Back(cases.collect())
    }

    /// Returns the inputs of the parser: the turn after the prompt that it goes on from, and the turn after its own beginning, which is the
    /// end of the last start anchor before it.
    ///
    /// A turn goes on from a prompt that has other white space, too, and from one that is written otherwise before its end, if that end stands right before
    /// the message as well, or has the value of a kwarg before it. Where it does not go on from the prompt, the history leaves out the end of the prompt: alone, or together with the text
    /// that the model wrote behind it up to the beginning of the message. No render tells which, so that either will do.
    fn splits<'r>(&self, round: &'r Round) -> Splits<'r> {
        let prompt = round.place.prompt.as_str();
        let before = &round.full[..round.first];
        let anchored = self
            .after_anchor(before)
            .map(|rest| round.first - rest.len());
        let anchored = anchored.filter(|start| *start >= round.history_end);
        let after_prompt = self.after_anchor(&prompt[round.place.place.end_in(prompt)..]);
        let goes_on = || {
            let rest = text::behind(before, prompt)?;
            Some(&round.full[round.first - rest.len()..])
        };
        let agrees = || {
            let is_alike = text::ends_alike(before, prompt) || has_given_text(round);
            is_alike.then(|| &round.full[round.first..])
        };
        let continued = round.full.strip_prefix(prompt);
        let continued = continued.or_else(goes_on).or_else(agrees);
        let continued = continued.filter(|_| after_prompt.is_some());
        // A parser whose prompt has no start anchor would read the whole conversation as a response, so such a prompt is not tried.
        // Where none was asked for, the turn may begin behind it, unless it has all that begins the turn but for white space.
        let is_begun = |start: usize| {
            text::behind(&round.full[..start], prompt).is_some_and(|rest| rest.trim().is_empty())
        };
        let may_begin =
            |start: &usize| after_prompt.is_some() || (round.place.unasked && !is_begun(*start));
        let anchored = anchored.filter(may_begin);
        let mut all = Vec::new();
        if let Some(response) = continued {
            all.push((prompt, response));
        }
        if let Some(start) = anchored {
            all.push(round.full.split_at(start));
            if continued.is_none() && after_prompt.is_some() {
                all.push((prompt, &round.full[start..]));
            }
        }
        all.dedup();
        Splits {
            // Behind a bare header there is nothing that could have been left out.
            any_will_do: continued.is_none() && after_prompt.is_some_and(|after| !after.is_empty()),
            all,
        }
    }

    /// Returns true if these parts of the round's message come back from this response after this prompt.
    pub(super) fn comes_back(
        &self,
        prompt: &str,
        response: &str,
        expected: &Expected,
        round: &Round,
        manner: &Manner,
        renderer: &Renderer<'_>,
    ) -> bool {
        let (parsed, error) = self.parse(prompt, response, &round.tools);
        error.is_none() && self.is_message(&parsed, expected, round, manner, renderer)
    }

    /// Returns true if the parsed message has all that can be seen of the round's, and nothing else but ids that the chat template made.
    fn is_round(
        &self,
        parsed: &Map,
        round: &Round,
        manner: &Manner,
        renderer: &Renderer<'_>,
    ) -> bool {
        self.is_message(parsed, &round.expected, round, manner, renderer)
    }

    /// Returns true if the parsed message has these parts of the round's, and nothing else but ids that the chat template made.
    fn is_message(
        &self,
        parsed: &Map,
        expected: &Expected,
        round: &Round,
        manner: &Manner,
        renderer: &Renderer<'_>,
    ) -> bool {
        self.is_as_expected(parsed, expected, manner)
            || without_made_ids(parsed, round, manner, renderer)
                .is_some_and(|parsed| self.is_as_expected(&parsed, expected, manner))
    }

    /// Returns the text behind the last start anchor in a text, if there is one.
    pub(super) fn after_anchor<'t>(&self, text: &'t str) -> Option<&'t str> {
        let found = self.template().anchor().find_iter(text).last()?.ok()?;
        Some(&text[found.span.end..])
    }

    /// Parses a response, and returns the message and the error, if there is one: of the parser, or that the message depends on how the
    /// response is cut.
    pub(super) fn parse(&self, prefix: &str, response: &str, tools: &[Value]) -> Parsed {
        self.parses.of(Input {
            prefix,
            response,
            tools,
        })
    }

    /// Returns true if a call came back without its id, and another id would be rendered otherwise. To be rendered again, a call without an id is given that of the
    /// message, so that this would not be seen.
    fn lacks_an_id(
        &self,
        parsed: &Map,
        round: &Round,
        manner: &Manner,
        renderer: &Renderer<'_>,
    ) -> bool {
        let calls = parsed.get(CALLS_KEY).and_then(Value::as_array);
        let mut calls = calls.unwrap_or_default().iter().zip(&round.expected.calls);
        let lacks =
            |(call, meant): (&Value, &ExpectedCall)| meant.id.is_some() && call.get("id").is_none();
        if !calls.any(lacks) {
            return false;
        }
        let written = with_other_ids(&round.written);
        let appended = manner.append(parsed, &written, self.reasoning_field);
        let rendered = renderer.answered(&round.place.place, &appended, manner);
        rendered.is_ok_and(|full| full != round.rendered)
    }

    /// Returns true if a message renders as that of the round where it has the texts of that which are empty, and comes back from the render `without` them as well, so that
    /// the chat template writes nothing else otherwise.
    fn renders_with_empty_texts(
        &self,
        (appended, without): (&Value, &str),
        round: &Round,
        manner: &Manner,
        renderer: &Renderer<'_>,
    ) -> bool {
        let prompt = round.place.prompt.as_str();
        let Some(response) = without.strip_prefix(prompt) else {
            return false;
        };
        let comes_back =
            self.comes_back(prompt, response, &round.expected, round, manner, renderer);
        comes_back
            && with_empty_texts(appended, &round.written).is_some_and(|with| {
                let full = renderer.answered(&round.place.place, &with, manner);
                full.is_ok_and(|full| full == round.rendered)
            })
    }

    /// Returns the error where the parsed message, appended to the conversation, renders otherwise than the message did.
    fn renders_again(
        &self,
        parsed: &Map,
        round: &Round,
        manner: &Manner,
        renderer: &Renderer<'_>,
    ) -> Option<String> {
        let appended = manner.append(parsed, &round.written, self.reasoning_field);
        // Objects are equal in whatever order their members come, and renders are not.
        let calls = |message: &Value| message.get(CALLS_KEY).map(json::to_string);
        if appended == round.written && calls(&appended) == calls(&round.written) {
            return None;
        }
        match renderer.answered(&round.place.place, &appended, manner) {
            Ok(full) if full == round.rendered => None,
            // A chat template that cuts a text may leave white space at the cut. The parser strips it, so that the second render lacks it.
            Ok(full) if is_cut(round) && dense(&full) == dense(&round.rendered) => None,
            // A text that is empty and one that is missing are the same message, though a chat template may write markers for the one alone.
            Ok(full)
                if renderer.takes_empty_for_none()
                    && self.renders_with_empty_texts(
                        (&appended, &full),
                        round,
                        manner,
                        renderer,
                    ) =>
            {
                None
            }
            Ok(full) => Some(format!(
                "appended to the conversation, the parsed message renders differently: {}",
                &full[round.place.place.end_in(&full)..]
            )),
            Err(error) => Some(format!(
                "appended to the conversation, the parsed message does not render: {error}"
            )),
        }
    }
}

/// The message with the texts of another that are empty, where it has none; `None` where there are no such texts.
fn with_empty_texts(message: &Value, of: &Value) -> Option<Value> {
    let (Value::Object(message), Value::Object(of)) = (message, of) else {
        return None;
    };
    let mut with = message.clone();
    for (key, value) in of {
        let is_missing = message.get(key).is_none_or(|own| *own == Value::Null);
        if is_missing && value.as_str() == Some("") {
            with.insert(key.clone(), value.clone());
        }
    }
    (with != *message).then_some(Value::Object(with))
}

/// The message with another last character in each id of its calls. A chat template may ask for ids of a certain length.
fn with_other_ids(message: &Value) -> Value {
    let mut message = message.clone();
    let calls = match &mut message {
        Value::Object(members) => members.get_mut(CALLS_KEY),
        _ => None,
    };
    if let Some(Value::Array(calls)) = calls {
        for call in calls {
            if let Value::Object(call) = call
                && let Some(id) = call.get("id").and_then(Value::as_str)
            {
                let mut other = id.to_owned();
                other.pop();
                other.push('z');
                call.insert("id", Value::from(other));
            }
        }
    }
    message
}

/// Returns true if the prompt of a round has the value of a kwarg in what begins the turn, where the render has something else or nothing: the prompt ends with
/// `<bot lang=VALUE>`, and `<bot lang=en>` or `<bot lang=>` stands before the message.
fn has_given_text(round: &Round) -> bool {
    let (place, before) = (&round.place.place, round.full[..round.first].trim_end());
    let prompt = round.place.prompt.trim_end();
    let start = text::common_prefix(prompt, before);
    let (tail, begins) = (&prompt[start..], start >= round.history_end);
    let again = text::common_suffix(tail, &before[start..]);
    let (given, again) = tail.split_at(tail.len() - again);
    let other = &before[start..before.len() - again.len()];
    let is_word = !other.contains(char::is_whitespace) && !other.contains(again);
    begins && is_word && !again.trim().is_empty() && is_given(given.trim(), &place.kwargs)
}

/// The parsed message without the ids of its calls, if the chat template made them: it writes none that the message has, and what came back
/// stands in the turn, with a number in it that comes from no input as it is. `None` where there are no such ids.
///
/// Such an id is `functions.f:0`, written by a chat template that counts calls. A call may be known by it as well as by none: whatever id a
/// message has, it is rendered the same.
fn without_made_ids(
    parsed: &Map,
    round: &Round,
    manner: &Manner,
    renderer: &Renderer<'_>,
) -> Option<Map> {
    let is_unseen = |call: &ExpectedCall| call.id.is_none();
    let calls = parsed.get(CALLS_KEY)?.as_array()?;
    if round.expected.calls.is_empty() || !round.expected.calls.iter().all(is_unseen) {
        return None;
    }
    let mut ids = calls.iter().map(|call| call.get("id")?.as_str());
    let ids: Vec<&str> = ids.by_ref().collect::<Option<_>>()?;
    let is_apart = |(at, id): (usize, &&str)| !id.is_empty() && !ids[..at].contains(id);
    if !ids.iter().enumerate().all(is_apart) {
        return None;
    }
    let said = round.rendered.get(round.history_end..)?;
    let counted = round.counted(manner, renderer);
    let is_counted = |span: Range<usize>| {
        let mut numbers = counted.iter();
        numbers.any(|number| span.start <= number.start && number.end <= span.end)
    };
    let is_made = |id: &&str| {
        let mut all = said.match_indices(*id);
        all.any(|(at, id)| is_counted(round.history_end + at..round.history_end + at + id.len()))
    };
    ids.iter().all(is_made).then(|| {
        let without = calls.iter().map(|call| {
            let mut call = call.clone();
            if let Value::Object(members) = &mut call {
                members.shift_remove("id");
            }
            call
        });
        let mut parsed = parsed.clone();
        parsed.insert(CALLS_KEY, Value::Array(without.collect()));
        parsed
    })
}

/// Returns true if only a part of one of the message's texts can be seen.
fn is_cut(round: &Round) -> bool {
    let message = &round.probe.message;
    let texts = [
        (&message.reasoning, &round.expected.reasoning),
        (&message.content, &round.expected.content),
    ];
    texts
        .iter()
        .any(|(text, seen)| seen.is_some() && text != seen)
}
