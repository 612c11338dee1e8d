//! The part of a parser's state that most parses do without, and a new parser with them.

use std::sync::Arc;

use crate::parser::error::ParseError;
use crate::parser::leaked::{Leaked, Markers};
use crate::parser::snapshot::Passed;
use crate::parser::unclaimed::Account;

/// Errors, delimiters and text that most parses have none of. It takes memory when the first of it comes, so that a new parser is small.
#[derive(Debug, Clone)]
pub(super) struct Rare {
    /// The errors of regions that did not parse, under [`OnError::Keep`](crate::parser::OnError::Keep).
    pub(super) malformed: Vec<ParseError>,
    /// The delimiters since they were last taken, when they are asked for.
    pub(super) passed: Vec<Passed>,
    /// The text that no field took.
    pub(super) unclaimed: Account,
    /// The delimiters' texts that are looked for in the text of regions, if any are.
    pub(super) markers: Option<Arc<Markers>>,
    pub(super) leaked: Vec<Leaked>,
    /// The error that the prefix ended in, for the next call.
    pub(super) deferred: Option<ParseError>,
    /// The limit that ended the parse.
    pub(super) ended: Option<ParseError>,
}

impl Rare {
    pub(super) const NOTHING: &'static Self = &Self {
        malformed: Vec::new(),
        passed: Vec::new(),
        unclaimed: Account::EMPTY,
        markers: None,
        leaked: Vec::new(),
        deferred: None,
        ended: None,
    };

    /// Returns what there is, to be added to.
    pub(super) fn of(rare: &mut Option<Box<Self>>) -> &mut Self {
        rare.get_or_insert_with(|| Box::new(Self::NOTHING.clone()))
    }
}
