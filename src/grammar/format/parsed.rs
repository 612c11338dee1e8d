//! A response, cut into what the model is free in and what is fixed.

use std::ops::Range;
use std::sync::Arc;

use super::call::{self, CallStretch};
use super::region::regions;
use super::{Format, Spaces};
use crate::derive::Case;
use crate::judge::message::CALLS_KEY;
use crate::parser::{self, Edge, Passed};
use crate::response_template::ResponseTemplate;
use crate::value::Value;

/// A response and its stretches, in their order; what stands between them is fixed.
#[derive(Debug)]
pub(super) struct Parsed {
    /// The response with what of the prompt belongs to it.
    pub(super) text: String,
    pub(super) stretches: Vec<Stretch>,
    /// Where begins what ends the turn and no region.
    pub(super) turn_end: Option<usize>,
    /// The places of the text at which white space may stand.
    pub(super) spaces: Spaces,
}

impl Parsed {
    /// Returns true if it has a text of that field.
    pub(super) fn has_text_of(&self, of: usize) -> bool {
        let mut stretches = self.stretches.iter();
        stretches.any(|one| matches!(one, Stretch::Text { field, .. } if *field == of))
    }
}

#[derive(Debug)]
pub(super) enum Stretch {
    Text {
        field: usize,
        /// The text that opens the region; empty for the implicit field.
        open: String,
        span: Range<usize>,
    },
    Call(Box<CallStretch>),
}

/// Parses a text as a whole and tells its delimiters.
pub(super) fn delimiters(
    template: &Arc<ResponseTemplate>,
    prefix: &str,
    response: &str,
    tools: &[Value],
) -> Result<Vec<Passed>, String> {
    let found = parser::delimiters(template, prefix, response, tools);
    let (_, passed) = found.map_err(|error| error.to_string())?;
    Ok(passed)
}

/// Cuts a response. `spaces` are the places of it at which white space may stand.
pub(super) fn parse(
    template: &Arc<ResponseTemplate>,
    case: &Case,
    spaces: &Spaces,
) -> Result<Parsed, String> {
    let before = template
        .after_last_anchor(&case.prefix)
        .map_err(|error| error.to_string())?;
    let text = format!("{before}{}", case.response);
    let spaces = spaces.moved(before.len());
    let passed = delimiters(template, &case.prefix, &case.response, &case.tools)?;
    let implicit = template.implicit();
    let turn_end = passed.last().and_then(|last| {
        let is_close = last.side == Edge::Close;
        let at = if Some(last.field) == implicit {
            last.span.start
        } else {
            last.span.end
        };
        (is_close && at < text.len()).then_some(at)
    });
    let calls = case.message.get(CALLS_KEY).and_then(Value::as_array);
    let mut calls = calls.unwrap_or_default();
    let mut stretches = Vec::new();
    for region in regions(&passed, implicit, text.len()) {
        if Format::is_calls(template, region.field) {
            let found = call::read(
                template,
                &region,
                (&text, &spaces.inner),
                calls,
                &case.tools,
            )?;
            calls = calls.get(found.len()..).unwrap_or_default();
            stretches.extend(found.into_iter().map(|call| Stretch::Call(Box::new(call))));
        } else {
            let is_implicit = Some(region.field) == implicit;
            if is_implicit && text[region.body.clone()].trim().is_empty() {
                continue;
            }
            stretches.push(Stretch::Text {
                field: region.field,
                open: text[region.open].to_owned(),
                span: region.body,
            });
        }
    }
    Ok(Parsed {
        text,
        stretches,
        turn_end,
        spaces,
    })
}
