//! A response with the places of its delimiters and regions.

use std::ops::Range;
use std::sync::Arc;

use crate::derive::probe::CALLS_KEY;
use crate::judge::Case;
use crate::parser::{self, Edge};
use crate::response_template::ResponseTemplate;

/// The part of the message that a delimiter or a region belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Reasoning,
    Calls,
    Other,
}

/// A delimiter of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) part: Part,
    pub(super) opens: bool,
    /// The place of the delimiter, in bytes of the response.
    pub(super) span: Range<usize>,
}

/// A response with its delimiters, in their order.
#[derive(Debug, Clone)]
pub(super) struct Marked<'a> {
    pub(super) case: &'a Case,
    pub(super) marks: Vec<Mark>,
    /// The field that the reasoning goes to.
    pub(super) reasoning: &'a str,
    /// The text that opens the reasoning in the prompt, if any does.
    pub(super) opened: Option<&'a str>,
    /// True if the regions of calls are read as JSON.
    pub(super) is_json: bool,
}

impl<'a> Marked<'a> {
    /// The delimiters that a response template finds; `None` where it does not parse the response.
    pub(super) fn of(
        template: &Arc<ResponseTemplate>,
        case: &'a Case,
        reasoning: &'a str,
    ) -> Option<Self> {
        let (before, passed) =
            parser::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
        let part = |field: usize| match template.fields().get(field) {
            Some(field) if field.name == CALLS_KEY => Part::Calls,
            Some(field) if field.name == reasoning => Part::Reasoning,
            _ => Part::Other,
        };
        let prompt = template.after_last_anchor(&case.prefix).ok()?;
        let mut opened = None;
        let mut marks = Vec::new();
        for passed in passed {
            let opens = passed.side == Edge::Open;
            let part = part(passed.field);
            let Some(start) = passed.span.start.checked_sub(before) else {
                if opens && part == Part::Reasoning {
                    opened = prompt.get(passed.span);
                }
                continue;
            };
            let end = passed.span.end - before;
            marks.push(Mark {
                part,
                opens,
                span: start..end,
            });
        }
        let calls = template.field(CALLS_KEY);
        Some(Self {
            case,
            marks,
            reasoning,
            opened,
            is_json: calls.is_some_and(|field| field.content.name() == "json"),
        })
    }

    /// The delimiters of a part that open, or those that close.
    pub(super) fn of_part(&self, part: Part, opens: bool) -> impl Iterator<Item = &Mark> {
        let marks = self.marks.iter();
        marks.filter(move |mark| mark.part == part && mark.opens == opens)
    }

    /// The text of a delimiter.
    pub(super) fn text(&self, mark: &Mark) -> &'a str {
        &self.case.response[mark.span.clone()]
    }

    /// Returns the regions of calls, in bytes of the response: each from behind the delimiter that opens it to before the one that closes
    /// it.
    pub(super) fn calls(&self) -> Vec<Range<usize>> {
        let opens = self.marks.iter().enumerate();
        let opens = opens.filter(|(_, mark)| mark.part == Part::Calls && mark.opens);
        let regions = opens.map(|(at, open)| {
            let close = self.marks.get(at + 1);
            let end = close.map_or(self.case.response.len(), |close| close.span.start);
            open.span.end..end.max(open.span.end)
        });
        regions.collect()
    }
}
