//! The regions of a response, by the delimiters that were read.

use std::ops::Range;

use crate::parser::{Edge, Passed};

/// A region: the places of its delimiters and its text.
#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) field: usize,
    pub(super) open: Range<usize>,
    pub(super) body: Range<usize>,
    pub(super) close: Range<usize>,
}

/// The regions of a text by its delimiters. The last one may last to the end.
pub(super) fn regions(passed: &[Passed], implicit: Option<usize>, len: usize) -> Vec<Region> {
    let mut regions = Vec::new();
    let mut open: Option<(usize, Range<usize>)> = None;
    let mut at = 0;
    let text = |from: usize, to: usize, close: Range<usize>| {
        implicit.map(|field| Region {
            field,
            open: from..from,
            body: from..to,
            close,
        })
    };
    for one in passed {
        match (one.side, open.take()) {
            (Edge::Open, _) => {
                regions.extend(text(at, one.span.start, one.span.start..one.span.start));
                open = Some((one.field, one.span.clone()));
            }
            (Edge::Close, Some((field, opened))) => regions.push(Region {
                field,
                body: opened.end..one.span.start,
                open: opened,
                close: one.span.clone(),
            }),
            (Edge::Close, None) => regions.extend(text(at, one.span.start, one.span.clone())),
        }
        at = one.span.end;
    }
    match open {
        Some((field, opened)) => regions.push(Region {
            field,
            body: opened.end..len,
            open: opened,
            close: len..len,
        }),
        None => regions.extend(text(at, len, len..len)),
    }
    regions
}
