//! `obverse explain`: what a code means.

use std::io::{self, IsTerminal as _};

use obverse::lint;

use super::problem::Problem;
use super::status::Status;
use super::stop::Stop;
use super::{codes, markdown, output, width};

/// Explain the code of a finding or an error of any command: what was found, why it matters, what to do, and an example
///
/// On a terminal the page is made to be read there; elsewhere it is Markdown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The code, such as text-after-close; without it all are listed
    code: Option<String>,

    /// Print the whole documentation of all codes of obverse lint, in Markdown
    #[arg(long, conflicts_with = "code")]
    all: bool,
}

/// Explains.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    if args.all {
        show(&lint::manual())?;
    } else if let Some(code) = &args.code {
        let page = codes::page(code).ok_or_else(|| unknown(code))?;
        show(&page.text)?;
    } else {
        output::print_long(&width::fit(&list(), width::of_results()))?;
    }
    Ok(Status::Done)
}

/// Markdown, made to be read where people read it.
fn show(page: &str) -> io::Result<()> {
    if io::stdout().is_terminal() {
        output::print_long(&markdown::render(page, width::of_results()))
    } else {
        output::print_text(page)
    }
}

/// Each code with what it means in short, those that the same verbs tell together.
fn list() -> String {
    let mut out = String::new();
    for page in codes::all() {
        out.push_str(&format!("{:<26}  {}\n", page.code, page.summary));
    }
    out
}

fn unknown(code: &str) -> Problem {
    let hint = match codes::nearest(code) {
        Some(near) => format!("did you mean `{near}`? `obverse explain` lists all codes"),
        None => "`obverse explain` lists all codes".to_owned(),
    };
    Problem::failed("usage", format!("there is no code `{code}`")).with_hint(hint)
}
