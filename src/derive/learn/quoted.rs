//! Calls that are only spoken of: a widening must not make calls of them.
//!
//! A model that writes about calls quotes them: in the midst of a sentence without the markers, or within a reasoning with all of them. Both are
//! made up of what is at hand: the calls of the recorded responses between words, and the rendered calls within a rendered reasoning. A widening
//! may read no more calls of these texts than were read before, but for one that a response has taught in which a call ends the reasoning. That
//! costs a parse for each of them.

use std::sync::Arc;

use super::appraise::Appraised;
use super::recorded::Recorded;
use super::{CONTENT_KEY, calls, gaps};
use crate::derive::probe::CALLS_KEY;
use crate::judge::{self, Case};
use crate::response_template::ResponseTemplate;
use crate::text::common_suffix;
use crate::value::{Value, python};

/// How many calls of recorded responses are quoted, and how many rendered ones.
const MAX_QUOTED: usize = 16;

/// Texts with calls that are only spoken of, with how many calls are read of each.
pub(super) struct Quoted(Vec<(Case, usize)>);

impl Quoted {
    /// Makes such texts of responses, each with the prompt before it and as it is read now, and of renders.
    pub(super) fn of<'r>(
        template: &Arc<ResponseTemplate>,
        responses: impl Iterator<Item = (&'r Recorded, &'r str, &'r Appraised)>,
        cases: &[Case],
    ) -> Self {
        let said = responses.filter_map(|(recorded, prompt, read)| {
            let call = call_of(recorded, read)?;
            Some(Case {
                prefix: prompt.to_owned(),
                response: format!("One may say {call} and the like."),
                tools: recorded.tools.clone(),
                message: Value::Null,
            })
        });
        let thought = thought(cases);
        let all = said.take(MAX_QUOTED).chain(thought);
        Self(
            all.map(|case| {
                let count = calls_in(template, &case);
                (case, count)
            })
            .collect(),
        )
    }

    /// Counts the calls that are read with another response template, for what is widened next.
    pub(super) fn count_again(&mut self, template: &Arc<ResponseTemplate>) {
        for (case, count) in &mut self.0 {
            *count = calls_in(template, case);
        }
    }

    /// Returns true if no more calls are read.
    pub(super) fn hold(&self, template: &Arc<ResponseTemplate>) -> bool {
        let mut all = self.0.iter();
        all.all(|(case, count)| calls_in(template, case) <= *count)
    }
}

/// The text of a call in a response, without the markers around it.
fn call_of<'r>(recorded: &'r Recorded, read: &Appraised) -> Option<&'r str> {
    let text = recorded.response.as_str();
    let expected = recorded.expected.as_ref().and_then(Value::as_object);
    let span = match expected {
        Some(message) => gaps::first_call(text, message)?,
        None => {
            let call = read.missed.first()?;
            call.start()..call.body.end.max(call.name.end)
        }
    };
    text.get(span)
}

/// Renders of a reasoning with rendered calls quoted in it.
fn thought(cases: &[Case]) -> Vec<Case> {
    let text_of = |case: &Case| -> Option<String> {
        let message = case.message.as_object()?;
        let is_other = |key: &str| key != "role" && key != CONTENT_KEY && key != CALLS_KEY;
        let (_, text) = message.iter().find(|(key, _)| is_other(key.as_str()))?;
        let text = text.as_str()?.trim_matches(python::is_space);
        let calls = message.get(CALLS_KEY).is_some_and(Value::is_truthy);
        (!calls && text.len() > 4 && case.response.contains(text)).then(|| text.to_owned())
    };
    let is_call_alone = |case: &&Case| {
        let message = case.message.as_object().into_iter().flatten();
        let mut filled = message.filter(|(key, value)| *key != "role" && value.is_truthy());
        filled.all(|(key, _)| key.as_str() == CALLS_KEY)
    };
    let Some((with, text)) = cases.iter().find_map(|case| Some((case, text_of(case)?))) else {
        return Vec::new();
    };
    let calls = cases.iter().filter(is_call_alone).filter(|case| {
        case.message
            .get(CALLS_KEY)
            .and_then(Value::as_array)
            .is_some_and(|calls| calls.len() == 1)
    });
    calls
        .take(2)
        .map(|case| {
            let ends = common_suffix(&case.response, &with.response);
            let call = &case.response[..case.response.len() - ends];
            let quoting = format!("{text} {call} {text}");
            Case {
                response: with.response.replacen(&text, &quoting, 1),
                ..with.clone()
            }
        })
        .collect()
}

fn calls_in(template: &Arc<ResponseTemplate>, case: &Case) -> usize {
    let message = judge::parse_whole(template, case);
    calls::count(&message)
}
