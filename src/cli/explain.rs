//! `obverse explain`: what a code means.

use std::io::Write as _;

use obverse::{check, lint};

use super::output;
use super::problem::Problem;
use super::status::{Status, Stop};

/// Tell what a code of obverse lint or obverse check means: what it finds, why that is bad, an example, what to do
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
        output::print_text(&lint::manual())?;
        return Ok(Status::Done);
    }
    let Some(code) = &args.code else {
        let mut out = output::results();
        for rule in lint::rules() {
            writeln!(out, "{:<22} {}", rule.code, rule.summary)?;
        }
        for known in lint::document_codes().iter().chain(lint::engine_codes()) {
            writeln!(out, "{:<22} {}", known.code, known.text)?;
        }
        for known in check::CODES {
            writeln!(out, "{:<22} {}", known.code, known.text)?;
        }
        out.flush()?;
        return Ok(Status::Done);
    };
    match of_code(code) {
        Some(text) => {
            output::print_text(&text)?;
            Ok(Status::Done)
        }
        None => Err(
            Problem::failed("usage", format!("there is no code `{code}`"))
                .with_hint("`obverse explain` lists them")
                .into(),
        ),
    }
}

/// What a code means, in Markdown; `None` when there is no such code.
pub(crate) fn of_code(code: &str) -> Option<String> {
    lint::explain(code).or_else(|| check::explain_code(code))
}
