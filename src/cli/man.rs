//! `obverse man`: the manual's pages.

use std::path::PathBuf;

use clap::CommandFactory as _;

use super::Cli;
use super::input;
use super::output;
use super::problem::Problem;
use super::status::Status;
use super::stop::Stop;

/// Write the manual's pages into a folder: obverse.1, and one for each verb
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder; it is made if it is not there
    dir: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  obverse man ~/.local/share/man/man1   then `man obverse-derive`";

/// Writes them.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let command = Cli::command().disable_help_subcommand(true);
    let written = std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(command, &args.dir));
    written.map_err(|error| {
        let message = format!("cannot write into {}: {error}", input::name(&args.dir));
        Problem::failed("unwritable", message)
    })?;
    output::tell(&format!(
        "wrote the pages into {}\n",
        input::name(&args.dir)
    ));
    Ok(Status::Done)
}
