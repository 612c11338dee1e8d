//! Ending a verb early.

use std::io;

use super::problem::Problem;

/// The reason why a verb ends before its work is done.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something to tell the user.
    Problem(Box<Problem>),
    /// Standard output takes no more.
    Output(io::Error),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

/// The only errors that are not [`Problem`]s are those of writing results.
impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
