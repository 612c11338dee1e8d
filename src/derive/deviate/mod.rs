//! Deviations: what models and engines write otherwise than a chat template renders, tried on every derivation.
//!
//! No chat template shows them, so they prove nothing and spoil no verdict. They tell how much a response template bears: an end marker
//! that is missing or doubled, other white space around markers, a reasoning that is never closed, JSON with its members in another order.
//! Each is a change to a rendered response ([`change`]), made where the parser finds the delimiters and regions of it ([`marked`]), and so
//! none of them knows a format. The changed response must give the same message, or that without the part that was cut.
//!
//! The responses are those by which the response template was proved: of each shape of a message the first few whose texts are plain. That is
//! some thirty responses and twenty changes, each a parse.

mod change;
mod marked;
#[cfg(test)]
mod tests;
mod unclaimed;

use std::sync::Arc;

use serde::Serialize;

use crate::derive::compare::pieces::Pieces;
use crate::derive::probe::CALLS_KEY;
use crate::judge::{self, Case, Counterexample, Scrutiny};
use crate::response_template::ResponseTemplate;
use crate::value::{Key, Value, json};

use marked::Marked;
use unclaimed::Readings;
pub use unclaimed::{UnclaimedCount, UnclaimedCounts, UnclaimedExample};

/// How many responses of each shape are changed.
const OF_A_SHAPE: usize = 3;

/// A way in which models write otherwise than their chat template renders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Deviation {
    /// The end marker is missing, as where an engine stops before it.
    EndMissing,
    /// The last of several markers at the end is missing, as where an engine stops at it and the others have been written.
    LastEndMissing,
    /// The end marker is written twice.
    EndTwice,
    /// The tokenizer's end token follows.
    EndToken,
    /// One more line feed stands around each marker.
    SpaceAdded,
    /// No white space stands around the markers.
    SpaceRemoved,
    /// The white space within markers is written twice.
    SpaceDoubled,
    /// An empty reasoning comes first.
    ReasoningEmpty,
    /// The reasoning is missing, with its markers.
    ReasoningMissing,
    /// The reasoning is opened twice, or by the model although the prompt had opened it.
    ReasoningOpenedTwice,
    /// The reasoning is closed twice.
    ReasoningClosedTwice,
    /// The reasoning quotes a whole call.
    ReasoningQuotesCall,
    /// The answer names what opens the reasoning.
    AnswerNamesReasoning,
    /// The answer names what opens a call.
    AnswerNamesCall,
    /// The reasoning is not closed before a call.
    ReasoningUnclosedBeforeCall,
    /// The reasoning is not closed before the end.
    ReasoningUnclosed,
    /// Text stands before the calls.
    TextBeforeCalls,
    /// Text stands between two calls.
    TextBetweenCalls,
    /// Text stands behind the calls.
    TextBehindCalls,
    /// The section of the calls is opened twice.
    SectionOpenedTwice,
    /// The calls stand without their section: what opens it before the first call and what closes it behind the last are missing.
    SectionMissing,
    /// A call is opened twice.
    CallOpenedTwice,
    /// A call is not closed before the next.
    CallUnclosed,
    /// The last call is not closed before the end.
    LastCallUnclosed,
    /// The parameters of a call, each in tags, stand in another order.
    ParametersReordered,
    /// The JSON of calls is indented.
    JsonIndented,
    /// The members of the JSON of calls stand in another order.
    JsonReordered,
    /// The JSON of calls has one more member beside the arguments, which is dropped or stands beside them in the message.
    JsonMember,
    /// The arguments are the text of an object.
    ArgumentsAsText,
    /// The ids of calls are missing, with what stands between them and a name before them.
    IdsMissing,
}

/// The outcome of one deviation over all responses that it was tried on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DeviationVerdict {
    /// The deviation.
    pub deviation: Deviation,
    /// How many responses were changed in this way.
    pub tried: usize,
    /// How many of them still gave their message.
    pub came_back: usize,
    /// The smallest response that did not give its message, and the message that it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(default))]
    pub smallest: Option<Counterexample>,
}

impl Deviation {
    /// All deviations, in the order in which reports have them.
    pub const ALL: [Self; 30] = [
        Self::EndMissing,
        Self::LastEndMissing,
        Self::EndTwice,
        Self::EndToken,
        Self::SpaceAdded,
        Self::SpaceRemoved,
        Self::SpaceDoubled,
        Self::ReasoningEmpty,
        Self::ReasoningMissing,
        Self::ReasoningOpenedTwice,
        Self::ReasoningClosedTwice,
        Self::ReasoningQuotesCall,
        Self::AnswerNamesReasoning,
        Self::AnswerNamesCall,
        Self::ReasoningUnclosedBeforeCall,
        Self::ReasoningUnclosed,
        Self::TextBeforeCalls,
        Self::TextBetweenCalls,
        Self::TextBehindCalls,
        Self::SectionOpenedTwice,
        Self::SectionMissing,
        Self::CallOpenedTwice,
        Self::CallUnclosed,
        Self::LastCallUnclosed,
        Self::ParametersReordered,
        Self::JsonIndented,
        Self::JsonReordered,
        Self::JsonMember,
        Self::ArgumentsAsText,
        Self::IdsMissing,
    ];

    /// The deviation's name in words, for people.
    ///
    /// ```
    /// assert_eq!(obverse::derive::Deviation::EndTwice.words(), "end marker twice");
    /// ```
    pub fn words(self) -> &'static str {
        match self {
            Self::EndMissing => "end marker missing",
            Self::LastEndMissing => "last end marker missing",
            Self::EndTwice => "end marker twice",
            Self::EndToken => "end token behind",
            Self::SpaceAdded => "white space added around markers",
            Self::SpaceRemoved => "white space around markers removed",
            Self::SpaceDoubled => "white space in markers doubled",
            Self::ReasoningEmpty => "empty reasoning first",
            Self::ReasoningMissing => "reasoning missing",
            Self::ReasoningOpenedTwice => "reasoning opened twice",
            Self::ReasoningClosedTwice => "reasoning closed twice",
            Self::ReasoningQuotesCall => "call quoted in the reasoning",
            Self::AnswerNamesReasoning => "reasoning's marker named in the answer",
            Self::AnswerNamesCall => "call's opening named in the answer",
            Self::ReasoningUnclosedBeforeCall => "reasoning not closed before a call",
            Self::ReasoningUnclosed => "reasoning not closed before the end",
            Self::TextBeforeCalls => "text before calls",
            Self::TextBetweenCalls => "text between calls",
            Self::TextBehindCalls => "text behind calls",
            Self::SectionOpenedTwice => "section opened twice",
            Self::SectionMissing => "calls without their section",
            Self::CallOpenedTwice => "call opened twice",
            Self::CallUnclosed => "call not closed before the next",
            Self::LastCallUnclosed => "last call not closed",
            Self::ParametersReordered => "parameters in another order",
            Self::JsonIndented => "JSON indented",
            Self::JsonReordered => "JSON members in another order",
            Self::JsonMember => "a JSON member more",
            Self::ArgumentsAsText => "arguments as text",
            Self::IdsMissing => "ids missing",
        }
    }
}

/// The outcomes of all deviations.
pub(in crate::derive) struct Tried {
    pub(in crate::derive) verdicts: Vec<DeviationVerdict>,
    pub(in crate::derive) unclaimed: UnclaimedCounts,
}

/// The markers that are known beside what the delimiters are.
#[derive(Debug, Clone, Copy)]
pub(in crate::derive) struct Markers<'a> {
    /// The tokenizer's end tokens; where none are known and nothing ends a turn, what begins the next message.
    pub(in crate::derive) ends: &'a [String],
    /// The markers of the chat template.
    pub(in crate::derive) pieces: &'a Pieces,
    /// The marker behind an answer that is one JSON object. No delimiter has it.
    pub(in crate::derive) behind_object: Option<&'a str>,
}

/// Tries all deviations on what was proved. `reasoning` is the field that the reasoning goes to.
pub(in crate::derive) fn tried<'c>(
    template: &Arc<ResponseTemplate>,
    cases: impl Iterator<Item = &'c Case>,
    reasoning: &str,
    markers: Markers<'_>,
) -> Tried {
    let cases = chosen(cases);
    let mut readings = Readings::by(template);
    let mut unclaimed = UnclaimedCounts::default();
    for case in &cases {
        unclaimed.count(&mut readings, case);
    }
    let marked: Vec<Marked<'_>> = cases
        .iter()
        .filter_map(|case| Marked::of(template, case, reasoning))
        .collect();
    let mut verdicts = Vec::new();
    for deviation in Deviation::ALL {
        let mut verdict = DeviationVerdict {
            deviation,
            tried: 0,
            came_back: 0,
            smallest: None,
        };
        let changed = marked
            .iter()
            .filter_map(|one| change::changed(deviation, one, &marked, markers, template));
        for case in changed {
            verdict.tried += 1;
            let reading = unclaimed
                .deviations
                .count(&mut readings, &case, &case.response);
            let size = |found: &Counterexample| found.response.len();
            let smallest = verdict.smallest.as_ref();
            let is_smallest = smallest.is_none_or(|found| size(found) > case.response.len());
            let says_it = |parsed: &Value| {
                let parsed = change::without_what_is_no_loss(deviation, parsed);
                judge::says_the_same(&parsed, &case.message)
            };
            // What is read to its end and parses everywhere is read alike where a region that does not parse ends it.
            let (mut parsed, mut error) = match reading.filter(|reading| reading.is_whole) {
                Some(reading) => (reading.message.clone(), None),
                None => judge::parse(template, &case, Scrutiny::Whole),
            };
            let mut is_back = error.is_none() && says_it(&parsed);
            // Our parser gives one answer however a response is cut. That transformers, a character at a time, reads a deviation as we do is
            // tried with one response of each deviation alone, since it costs five times as much as reading the whole.
            if is_back && verdict.came_back == 0 {
                let scrutiny = match deviation {
                    // No call may appear that the model did not make, in whatever pieces the response arrives.
                    Deviation::ReasoningQuotesCall => Scrutiny::EverySize,
                    _ => Scrutiny::Pieces,
                };
                (parsed, error) = judge::parse(template, &case, scrutiny);
                is_back = error.is_none() && says_it(&parsed);
            }
            if is_back {
                verdict.came_back += 1;
                continue;
            }
            if is_smallest {
                verdict.smallest = Some(Counterexample {
                    message: case.message.clone(),
                    prefix: case.prefix,
                    response: case.response,
                    expected: case.message,
                    parsed,
                    error,
                });
            }
        }
        if verdict.tried > 0 {
            verdicts.push(verdict);
        }
    }
    Tried {
        verdicts,
        unclaimed,
    }
}

/// Returns the first cases of each shape of a message, of those whose texts are nothing but plain words.
fn chosen<'c>(cases: impl Iterator<Item = &'c Case>) -> Vec<&'c Case> {
    let mut shapes: Vec<(Vec<String>, usize, usize)> = Vec::new();
    let mut chosen = Vec::new();
    for case in cases {
        let Some(message) = case.message.as_object().filter(|_| is_plain(&case.message)) else {
            continue;
        };
        let filled = message.iter().filter(|(_, value)| value.is_truthy());
        let calls = message.get(CALLS_KEY).and_then(Value::as_array);
        let calls = calls.map_or(0, <[Value]>::len);
        let keys: Vec<String> = filled.map(|(key, _)| key.to_string()).collect();
        let known = shapes
            .iter_mut()
            .find(|(known, count, _)| *known == keys && *count == calls);
        match known {
            Some((.., taken)) if *taken == OF_A_SHAPE => continue,
            Some((.., taken)) => *taken += 1,
            None => shapes.push((keys, calls, 1)),
        }
        chosen.push(case);
    }
    chosen
}

/// Returns true if every text of a message consists of letters, digits, spaces, underscores and dashes. Arguments may be the text of an object of such texts.
fn is_plain(value: &Value) -> bool {
    let is_member_plain = |(key, value): (&Key, &Value)| {
        let object = || json::parse(value.as_str()?).ok();
        let object = (*key == *"arguments").then(object).flatten();
        is_plain(object.as_ref().unwrap_or(value))
    };
    match value {
        Value::String(text) => text
            .chars()
            .all(|c| c.is_alphanumeric() || " _-".contains(c)),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(members) => members.iter().all(is_member_plain),
        _ => true,
    }
}
