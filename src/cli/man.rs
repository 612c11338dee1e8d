//! `obverse man`: the manual's pages.

use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::Cli;
use super::input;
use super::output;
use super::problem::Problem;
use super::replace::{make_folder, replace};
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
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    make_folder(&args.dir)?;
    write(&command, &args.dir)?;
    output::tell(&format!(
        "wrote the pages into {}\n",
        input::name(&args.dir)
    ));
    Ok(Status::Done)
}

/// Writes the page of a command, and those of the commands in it.
fn write(command: &Command, folder: &Path) -> Result<(), Problem> {
    for inner in command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
    {
        write(inner, folder)?;
    }
    let page = Man::new(command.clone());
    let path = folder.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| {
        let message = format!("cannot write {}: {error}", input::name(&path));
        Problem::failed("unwritable", message)
    })?;
    replace(&path, &String::from_utf8_lossy(&text))
}
