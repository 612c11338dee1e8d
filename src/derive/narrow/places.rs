//! The places at which delimiters stand in responses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::judge::Case;
use crate::parser::{self, Edge, Passed};
use crate::response_template::ResponseTemplate;

/// A delimiter as it stands in a response.
#[derive(Debug, Clone)]
pub(super) struct Place<'c> {
    pub(super) response: &'c str,
    /// Its bytes in the response.
    pub(super) span: Range<usize>,
    /// The byte at which the delimiter before it ends, or the response begins.
    pub(super) free_from: usize,
    /// The text of the delimiter before it, if any is there.
    pub(super) last: &'c str,
    pub(super) follows: Follows,
}

/// The kind of text that stands behind a delimiter, white space aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// Nothing more.
    End,
    /// Another delimiter: the index of its field, and its side.
    Delimiter(usize, Edge),
    /// Text of a region.
    Text,
}

/// All places of all delimiters in some responses.
#[derive(Debug, Default)]
pub(super) struct Places<'c> {
    /// Those of each delimiter, by the index of its field and its side.
    pub(super) delimiters: BTreeMap<(usize, Edge), Vec<Place<'c>>>,
    /// The texts of the regions of each field that a delimiter opens and closes.
    pub(super) bodies: BTreeMap<usize, Vec<&'c str>>,
}

impl<'c> Places<'c> {
    /// The places in these responses; `None` where one of them is not parsed.
    pub(super) fn of(template: &Arc<ResponseTemplate>, cases: &'c [Case]) -> Option<Self> {
        let mut places = Self::default();
        for case in cases {
            let (before, passed) =
                parser::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
            places.note(&case.response, before, &passed);
        }
        Some(places)
    }

    /// Notes the delimiters that were passed in a response, whose spans also count the bytes `before` it that the parser was given.
    fn note(&mut self, response: &'c str, before: usize, passed: &[Passed]) {
        let in_response = |span: &Range<usize>| {
            let start = span.start.checked_sub(before)?;
            Some(start..span.end.checked_sub(before)?)
        };
        let (mut free_from, mut last) = (0, "");
        for (at, one) in passed.iter().enumerate() {
            let Some(span) = in_response(&one.span) else {
                continue;
            };
            let next = passed.get(at + 1);
            let start = next.and_then(|next| in_response(&next.span));
            let between = &response[span.end..start.map_or(response.len(), |next| next.start)];
            let follows = match next {
                _ if !between.trim().is_empty() => Follows::Text,
                Some(next) => Follows::Delimiter(next.field, next.side),
                None => Follows::End,
            };
            if let Some(next) = next
                && (one.side, next.side) == (Edge::Open, Edge::Close)
                && one.field == next.field
            {
                self.bodies.entry(one.field).or_default().push(between);
            }
            let places = self.delimiters.entry((one.field, one.side)).or_default();
            let free_from = std::mem::replace(&mut free_from, span.end);
            let last = std::mem::replace(&mut last, &response[span.clone()]);
            places.push(Place {
                response,
                span,
                free_from,
                last,
                follows,
            });
        }
    }
}

/// The places of a delimiter in responses, each with its text there.
#[cfg(test)]
pub(super) fn at_texts<'c>(places: &[(&'c str, &str)]) -> Vec<Place<'c>> {
    let place = |(response, own): &(&'c str, &str)| {
        let start = response.find(own).expect("a place");
        Place {
            response,
            span: start..start + own.len(),
            free_from: 0,
            last: "",
            follows: Follows::Text,
        }
    };
    places.iter().map(place).collect()
}
