//! How much people are told on standard error: `--quiet` and `--verbose`, the same for every verb. Results are not changed by it.

use std::sync::OnceLock;

/// How much that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors alone.
    Quiet,
    /// Results, and what was done.
    Normal,
    /// Also with what it was done, and how long that took.
    Verbose,
}

static CHOSEN: OnceLock<Verbosity> = OnceLock::new();

/// The arguments that choose it.
#[derive(Debug, clap::Args)]
pub(crate) struct VerbosityArgs {
    /// Print nothing but errors on standard error
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "verbose",
        display_order = 901
    )]
    quiet: bool,

    /// Say more on standard error: what the command works with, and how long it takes
    #[arg(short, long, global = true, display_order = 902)]
    verbose: bool,
}

impl VerbosityArgs {
    /// Makes these arguments count from now on.
    pub(crate) fn apply(&self) {
        let chosen = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let _ = CHOSEN.set(chosen);
    }
}

/// The verbosity that was chosen.
pub(crate) fn chosen() -> Verbosity {
    CHOSEN.get().copied().unwrap_or(Verbosity::Normal)
}
