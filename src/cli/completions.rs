//! `obverse completions`: what shells complete.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use super::codes::{self, Page};
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
    let text = String::from_utf8_lossy(&text);
    output::print_text(&with_codes(args.shell, &text))?;
    Ok(Status::Done)
}

/// The script that clap wrote for a shell, with the codes that `obverse explain` takes: for some shells clap completes no argument that has no name.
fn with_codes(shell: Shell, text: &str) -> String {
    let pages = codes::all();
    let lines = |line: fn(&Page) -> String| pages.iter().map(line).collect::<String>();
    match shell {
        Shell::Fish => {
            let codes: Vec<&str> = pages.iter().map(|page| page.code).collect();
            let codes = codes.join(" ");
            format!(
                "{text}complete -c obverse -n \"__fish_obverse_using_subcommand explain\" -f -a \"{codes}\"\n"
            )
        }
        Shell::PowerShell => {
            let added = lines(|page| {
                let (code, summary) = (page.code, page.summary.replace('\'', "''"));
                format!(
                    "            [CompletionResult]::new('{code}', '{code}', [CompletionResultType]::ParameterValue, '{summary}')\n"
                )
            });
            behind_line(text, "'obverse;explain' {", &added)
        }
        Shell::Elvish => {
            let added = lines(|page| {
                let (code, summary) = (page.code, page.summary.replace('\'', "''"));
                format!("            cand {code} '{summary}'\n")
            });
            behind_line(text, "&'obverse;explain'= {", &added)
        }
        _ => text.to_owned(),
    }
}

/// Adds lines to a text behind the line that is this one but for white space around it.
fn behind_line(text: &str, line: &str, added: &str) -> String {
    let lines = text.split_inclusive('\n');
    let with = |found: &str| match found.trim() == line {
        true => format!("{found}{added}"),
        false => found.to_owned(),
    };
    lines.map(with).collect()
}
