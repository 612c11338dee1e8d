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
    /// The text that is in no field of the message.
    pub(super) unclaimed: Account,
    /// The delimiters' texts that are looked for in the text of regions, if any are.
    pub(super) markers: Option<Arc<Markers>>,
    pub(super) leaked: Vec<Leaked>,
    /// The last text of each field of which a later one would take the place.
    pub(super) replaceable: Vec<Replaceable>,
    /// The error that the prefix ended in, for the next call.
    pub(super) deferred: Option<ParseError>,
    /// The limit that ended the parse.
    pub(super) ended: Option<ParseError>,
}

/// The text of a region of which a later one would take the place.
#[derive(Debug, Clone)]
pub(super) struct Replaceable {
    /// The field's index.
    pub(super) field: usize,
    /// Where in the text its value begins, the prefix counted.
    pub(super) start: usize,
    /// `None` where the message has it, as it stands in the response.
    pub(super) text: Option<String>,
}

impl Rare {
    pub(super) const NOTHING: &'static Self = &Self {
        malformed: Vec::new(),
        passed: Vec::new(),
        unclaimed: Account::EMPTY,
        markers: None,
        leaked: Vec::new(),
        replaceable: Vec::new(),
        deferred: None,
        ended: None,
    };

    /// Returns what there is, to be added to.
    pub(super) fn of(rare: &mut Option<Box<Self>>) -> &mut Self {
        rare.get_or_insert_with(|| Box::new(Self::NOTHING.clone()))
    }
}
