//! How a verb ends.

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
