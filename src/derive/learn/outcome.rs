//! The recorded responses once all is done: how many are read right, and why others are not.
//!
//! Much is done to a response template after it was learnt from responses: calls open only before their body, or an ordinary text is spared. What a report says of the
//! responses, and the fixtures that are kept of them, are those of the response template that is written.

use std::sync::Arc;

use super::{Draft, Lessons, MAX_SHOWN, Recorded, Short, State, calls, nearest};
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::judge::Case;
use crate::response_template::{Document, ResponseTemplate};
use crate::value::Value;

/// The responses that are read right in the end, and those that are not.
pub(in crate::derive) struct Outcome {
    /// How many are read right.
    pub(in crate::derive) right: usize,
    /// Those that are not, and why.
    pub(in crate::derive) short: Vec<Short>,
    /// Those that are.
    pub(in crate::derive) read: Vec<(String, Case)>,
    /// Those that are not, beside the render that each is nearest to.
    pub(in crate::derive) evidence: Vec<Evidence>,
}

impl Lessons<'_> {
    /// Appraises the responses once more, with the response template that all amendments led to.
    pub(in crate::derive) fn outcome(
        &self,
        document: &Document,
        template: Arc<ResponseTemplate>,
        cases: &[Case],
    ) -> Outcome {
        let prompts = self.prompts_taken(&template);
        let draft = Draft {
            document: document.clone(),
            template,
            edits: Vec::new(),
        };
        let state = self.state(draft, &prompts, None);
        let all = self.recorded.iter().zip(&state.read);
        let short = all.filter_map(|(recorded, read)| {
            Some(Short {
                name: recorded.name.clone(),
                why: read.why(recorded)? + &self.contradicting(recorded),
            })
        });
        Outcome {
            right: state.right(),
            short: short.collect(),
            read: self.read_right(&state, &prompts),
            evidence: self.still_short(&state, cases),
        }
    }

    /// The responses that are read right, by their names.
    pub(super) fn read_right(&self, state: &State, prompts: &[&str]) -> Vec<(String, Case)> {
        let all = self.recorded.iter().zip(&state.read).zip(prompts);
        let right = all.filter(|((_, read), _)| read.is_right());
        let read = right.map(|((recorded, read), prompt)| {
            let case = Case {
                prefix: (*prompt).to_owned(),
                response: recorded.response.clone(),
                tools: recorded.tools.clone(),
                message: Value::Object(read.message.clone()),
            };
            (recorded.name.clone(), case)
        });
        read.collect()
    }

    /// The responses that are not read right, each beside the nearest render.
    fn still_short(&self, state: &State, cases: &[Case]) -> Vec<Evidence> {
        let all = self.recorded.iter().zip(&state.read);
        // Renders that do not come back are told elsewhere.
        let all = all.filter(|_| !self.gaps.is_empty());
        let short = all.filter_map(|(recorded, read)| {
            let why = read.why(recorded)?;
            Some(Evidence {
                decision: "response",
                marker: String::new(),
                reading: format!("{} is not read right: {why}", recorded.name),
                left: RenderExcerpt {
                    variant: "the nearest render".to_owned(),
                    text: nearest(cases, recorded, &read.message).to_owned(),
                },
                right: RenderExcerpt {
                    variant: recorded.name.clone(),
                    text: recorded.response.clone(),
                },
                places: Vec::new(),
            })
        });
        short.take(MAX_SHOWN).collect()
    }

    /// Says of which other response the same text has another message; nothing where there is none.
    fn contradicting(&self, recorded: &Recorded) -> String {
        let Some(expected) = &recorded.expected else {
            return String::new();
        };
        let is_other = |other: &&Recorded| {
            let message = other.expected.as_ref().and_then(Value::as_object);
            other.response == recorded.response
                && other.prefix == recorded.prefix
                && message.is_some_and(|message| !calls::is_same(message, expected))
        };
        match self.recorded.iter().find(is_other) {
            Some(other) => format!(
                "; {} has the same text and another message, so only one of them can be read right",
                other.name
            ),
            None => String::new(),
        }
    }
}
