//! Text that is in no field, counted over all that deviations are tried on.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use serde::Serialize;

use crate::judge::{self, Case};
use crate::parser::{OnError, Options, ResponseParser, UnclaimedCause};
use crate::response_template::ResponseTemplate;
use crate::value::{Value, are_identical};

/// How often a response is cut short.
const CUTS: usize = 12;

/// The counts of responses of which some text went to no field: as they were rendered, changed as models change them, and cut short.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnclaimedCounts {
    /// Responses as the chat template renders them.
    pub renders: UnclaimedCount,
    /// Responses with a deviation.
    pub deviations: UnclaimedCount,
    /// Responses that are cut short.
    pub cuts: UnclaimedCount,
}

/// The count of responses of one sort of which some text went to no field.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnclaimedCount {
    /// How many responses were parsed.
    pub tried: usize,
    /// How many of them lost text other than white space.
    pub lost: usize,
    /// The shortest response that lost some.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(default))]
    pub smallest: Option<UnclaimedExample>,
}

/// A response that lost text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnclaimedExample {
    /// The response.
    pub response: String,
    /// The first text of it that is in no field.
    pub text: String,
    #[serde(skip)]
    pub(in crate::derive) cause: UnclaimedCause,
}

impl UnclaimedCounts {
    /// How many responses were parsed in all.
    pub fn tried(&self) -> usize {
        self.counts().map(|count| count.tried).sum()
    }

    /// How many responses lost text in all.
    pub fn lost(&self) -> usize {
        self.counts().map(|count| count.lost).sum()
    }

    /// A response that lost text: a rendered one if there is one, then a changed one, then one cut short.
    pub fn example(&self) -> Option<&UnclaimedExample> {
        self.counts().find_map(|count| count.smallest.as_ref())
    }

    fn counts(&self) -> impl Iterator<Item = &UnclaimedCount> {
        [&self.renders, &self.deviations, &self.cuts].into_iter()
    }

    /// Counts a response as it was rendered, and cut short.
    pub(super) fn count(&mut self, readings: &mut Readings<'_>, case: &Case) {
        self.renders.count(readings, case, &case.response);
        let ends = case.response.char_indices().map(|(at, _)| at);
        let step = case.response.chars().count().div_ceil(CUTS).max(1);
        for end in ends.skip(1).step_by(step) {
            self.cuts.count(readings, case, &case.response[..end]);
        }
    }
}

impl UnclaimedCount {
    /// Counts a response to the prompt of a case, and returns how it is read; `None` where it is not read to its end.
    pub(super) fn count(
        &mut self,
        readings: &mut Readings<'_>,
        case: &Case,
        response: &str,
    ) -> Option<Rc<Reading>> {
        self.tried += 1;
        let reading = readings.of(case, response)?;
        // A marker that the parser passed over is no lost text where the message comes back whole.
        let is_marker = |one: &Lost| {
            one.cause == UnclaimedCause::PassedOver
                && judge::says_the_same(&reading.message, &case.message)
        };
        let mut lost = reading.lost.iter();
        let lost = lost.find(|one| !one.is_under_way(response) && !is_marker(one));
        if let Some(Lost { text, cause, .. }) = lost {
            self.lost += 1;
            let smallest = self.smallest.as_ref();
            if smallest.is_none_or(|smallest| smallest.response.len() > response.len()) {
                self.smallest = Some(UnclaimedExample {
                    response: response.to_owned(),
                    text: text.clone(),
                    cause: *cause,
                });
            }
        }
        Some(reading)
    }
}

/// A response as it was read.
#[derive(Debug)]
pub(super) struct Reading {
    /// The message, without regions that do not parse.
    pub(super) message: Value,
    /// True if every region parses.
    pub(super) is_whole: bool,
    /// The texts that are in no field, white space aside.
    lost: Vec<Lost>,
}

/// The readings of responses by one response template. The same response comes up in several cases, and is read once.
pub(super) struct Readings<'t> {
    template: &'t Arc<ResponseTemplate>,
    known: HashMap<String, Vec<Known>>,
}

/// A reading, with what it depends on beside the response.
struct Known {
    /// The part of the prompt that a parser reads.
    prompted: String,
    tools: Vec<Value>,
    reading: Option<Rc<Reading>>,
}

impl<'t> Readings<'t> {
    /// Nothing was read yet.
    pub(super) fn by(template: &'t Arc<ResponseTemplate>) -> Self {
        Self {
            template,
            known: HashMap::new(),
        }
    }

    /// Reads a response to the prompt of a case now, or returns how it was read before; `None` where it is not read to its end.
    fn of(&mut self, case: &Case, response: &str) -> Option<Rc<Reading>> {
        let prompted = self.template.after_last_anchor(&case.prefix);
        let prompted = prompted.unwrap_or(&case.prefix);
        let mut known = self.known.get(response).into_iter().flatten();
        let known =
            known.find(|of| of.prompted == prompted && are_identical(&of.tools, &case.tools));
        if let Some(known) = known {
            return known.reading.clone();
        }
        let reading = read(self.template, case, response).map(Rc::new);
        let of_response = self.known.entry(response.to_owned()).or_default();
        of_response.push(Known {
            prompted: prompted.to_owned(),
            tools: case.tools.clone(),
            reading: reading.clone(),
        });
        reading
    }
}

/// A text that is in no field.
#[derive(Debug)]
struct Lost {
    text: String,
    end: usize,
    cause: UnclaimedCause,
}

impl Lost {
    /// Returns true if the response was cut short within the text: a part of a call that is not written out yet.
    fn is_under_way(&self, response: &str) -> bool {
        self.cause == UnclaimedCause::PassedOver && self.end == response.len()
    }
}

fn read(template: &Arc<ResponseTemplate>, case: &Case, response: &str) -> Option<Reading> {
    let options = Options {
        on_error: OnError::Keep,
        ..Options::default()
    };
    let mut parser =
        ResponseParser::with_options(Arc::clone(template), &case.prefix, &case.tools, options)
            .ok()?;
    let mut ignore = |_: crate::parser::Event<'_>| ();
    parser.feed_with(response, &mut ignore).ok()?;
    parser.finalize_with(&mut ignore).ok()?;
    let visible = parser.unclaimed().iter();
    let lost = visible.filter(|one| !one.is_white_space()).map(|one| Lost {
        text: one.text.clone(),
        end: one.span.end,
        cause: one.cause,
    });
    let lost = lost.collect();
    Some(Reading {
        lost,
        is_whole: parser.malformed().is_empty(),
        message: Value::Object(parser.into_message()),
    })
}
