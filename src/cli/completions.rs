//! `obverse completions`: what shells complete.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use super::status::Status;
use super::stop::Stop;
use super::{codes, output};

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
    if args.shell == Shell::Fish {
        // clap's script for fish completes no argument that has no name.
        let codes: Vec<&str> = codes::all().iter().map(|page| page.code).collect();
        let line = format!(
            "complete -c obverse -n \"__fish_obverse_using_subcommand explain\" -f -a \"{}\"\n",
            codes.join(" ")
        );
        text.extend(line.into_bytes());
    }
    output::print_text(&String::from_utf8_lossy(&text))?;
    Ok(Status::Done)
}
