//! One thing to check.

use obverse::check::FixtureFile;

/// One thing to check.
#[derive(Debug)]
pub(super) enum Task {
    /// A response template, by its index: whether it is one, and what its chat template says to it.
    Template(usize),
    /// A fixture, and the index of its response template.
    Fixture(Option<usize>, FixtureFile),
}
