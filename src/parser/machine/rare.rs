//! The part of a parser's state that most parses do without, so that a new parser need not have it.

use std::sync::Arc;

use crate::parser::error::ParseError;
use crate::parser::leaked::{Leaked, Markers};
use crate::parser::snapshot::Passed;
use crate::parser::unclaimed::Account;
use crate::parser::unended::Unended;

/// Errors, delimiters and text that most parses do not have. Memory for them is taken when the first of them comes, so that a new parser is
/// small.
#[derive(Debug, Clone)]
pub(super) struct Rare {
    /// The errors of regions that did not parse, under [`OnError::Keep`](crate::parser::OnError::Keep).
    pub(super) malformed: Vec<ParseError>,
    /// The delimiters that were read since they were last taken, if the options say that they are kept.
    pub(super) passed: Vec<Passed>,
    /// The text that is in no field of the message.
    pub(super) unclaimed: Account,
    /// The region that the end of the response closed.
    pub(super) unended: Option<Unended>,
    /// The markers that are looked for in the text of regions, if any are.
    pub(super) markers: Option<Arc<Markers>>,
    pub(super) leaked: Vec<Leaked>,
    /// The last text of each field whose later text replaces the earlier one.
    pub(super) replaceable: Vec<Replaceable>,
    /// The error in which the prefix ended. The next call returns it.
    pub(super) deferred: Option<ParseError>,
    /// The limit that ended the parse.
    pub(super) ended: Option<ParseError>,
}

/// The text of a region that a later region of the same field would replace.
#[derive(Debug, Clone)]
pub(super) struct Replaceable {
    /// The field's index.
    pub(super) field: usize,
    /// Where in the text its value begins, the prefix counted.
    pub(super) start: usize,
    /// The text; `None` where the message has it exactly as it stands in the response.
    pub(super) text: Option<String>,
}

impl Rare {
    pub(super) const NOTHING: &'static Self = &Self {
        malformed: Vec::new(),
        passed: Vec::new(),
        unclaimed: Account::EMPTY,
        unended: None,
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
