//! `obverse completions`: what shells complete.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use super::output;
use super::status::Status;
use super::stop::Stop;

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  obverse completions bash > ~/.local/share/bash-completion/completions/obverse
  obverse completions zsh > ~/.zfunc/_obverse      with ~/.zfunc in fpath
  obverse completions fish > ~/.config/fish/completions/obverse.fish
  obverse completions powershell >> $PROFILE";

/// Prints them.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "obverse", &mut text);
    output::print_text(&String::from_utf8_lossy(&text))?;
    Ok(Status::Done)
}
