//! How a verb ends.

use std::io;
use std::process::ExitCode;

use super::problem::Problem;

/// The exit status. The worst of several counts, so the order is from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// Done, and all well.
    Done = 0,
    /// The tool worked and found a failure.
    Found = 1,
    /// The tool could not work.
    Failed = 2,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// What stops a verb before its end.
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
