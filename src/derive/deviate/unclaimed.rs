//! Text that is in no field, counted over all that deviations are tried on.

use std::sync::Arc;

use serde::Serialize;

use crate::judge::{self, Case};
use crate::parser::{OnError, Options, ResponseParser, UnclaimedCause};
use crate::response_template::ResponseTemplate;
use crate::value::Value;

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
    pub(super) fn count(&mut self, template: &Arc<ResponseTemplate>, case: &Case) {
        self.renders.count(template, case, &case.response);
        let ends = case.response.char_indices().map(|(at, _)| at);
        let step = case.response.chars().count().div_ceil(CUTS).max(1);
        for end in ends.skip(1).step_by(step) {
            self.cuts.count(template, case, &case.response[..end]);
        }
    }
}

impl UnclaimedCount {
    /// Counts a response to the prompt of a case. Returns the message that it parses to, without regions that do not; `None` where it is not
    /// read to its end.
    pub(super) fn count(
        &mut self,
        template: &Arc<ResponseTemplate>,
        case: &Case,
        response: &str,
    ) -> Option<Value> {
        self.tried += 1;
        let (message, lost) = read(template, case, response)?;
        // A marker that the parser passed over is no lost text where the message comes back whole.
        let is_marker = |one: &Lost| {
            one.cause == UnclaimedCause::PassedOver && judge::says_the_same(&message, &case.message)
        };
        let mut lost = lost.into_iter();
        let lost = lost.find(|one| !one.is_under_way(response) && !is_marker(one));
        if let Some(Lost { text, cause, .. }) = lost {
            self.lost += 1;
            let smallest = self.smallest.as_ref();
            if smallest.is_none_or(|smallest| smallest.response.len() > response.len()) {
                self.smallest = Some(UnclaimedExample {
                    response: response.to_owned(),
                    text,
                    cause,
                });
            }
        }
        Some(message)
    }
}

/// A text that is in no field.
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

/// The message that a response parses to, and the texts of it that are in no field, white space aside.
fn read(
    template: &Arc<ResponseTemplate>,
    case: &Case,
    response: &str,
) -> Option<(Value, Vec<Lost>)> {
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
    Some((Value::Object(parser.into_message()), lost))
}
