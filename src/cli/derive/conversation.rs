//! `obverse derive --conversation`: the conversation format instead of the response template alone.

use std::collections::HashSet;

use obverse::conversation::{self, Derivation, Extent, Finding, Verdict};
use obverse::derive::Options;

use super::{Args, files};
use crate::cli::color::{DIM, GREEN, RED, YELLOW, paint};
use crate::cli::problem::Problem;
use crate::cli::progress::Progress;
use crate::cli::replace::replace_or_force;
use crate::cli::shape::Shape;
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::{escape, input, output, read, wire};

/// How many conversations a thorough proof reads.
const THOROUGH: usize = 600;

/// Derives the conversation format of each source; the worst exit status counts.
pub(super) fn run(args: &Args) -> Result<Status, Stop> {
    let mut worst = Status::Done;
    let mut taken = HashSet::new();
    for path in &args.sources {
        let opened = args.source_args.open(path)?;
        let options = Options::default()
            .clock(args.source_args.date)
            .engines(args.engines.clone());
        let extent = Extent::default().conversations(if args.thorough {
            THOROUGH
        } else {
            Extent::default().conversations
        });
        let derive = || conversation::derive(&opened.source, &options, extent);
        let derived = match Progress::during(&input::name(path), derive) {
            Ok(derived) => derived,
            Err(error) => {
                let problem = read::not_derived(&error, &opened);
                problem.show();
                worst = worst.max(problem.status);
                continue;
            }
        };
        let name = files::unique(&files::file_stem(&opened.source), &mut taken);
        let tell = || {
            if args.format == Shape::Human {
                output::tell(&told(&input::name(path), &derived));
            }
        };
        output::told_beside(tell, || store(args, &name, &derived))?;
        let is_proved = derived.report.verdict == Verdict::Proved;
        worst = worst.max(if is_proved {
            Status::Done
        } else {
            Status::Found
        });
    }
    Ok(worst)
}

/// Writes the document and the report where they belong.
fn store(args: &Args, name: &str, derived: &Derivation) -> Result<(), Stop> {
    let document = read::document(&derived.format);
    let report = wire::reported("the report", &derived.report)?;
    let report = wire::pretty(&report);
    if let Some(folder) = &args.out_dir {
        for (file, text) in [
            (format!("{name}.conversation.json"), &document),
            (format!("{name}.conversation.report.json"), &report),
        ] {
            replace_or_force(&folder.join(file), text, args.force)?;
        }
    }
    let to_stdout = match &args.report {
        Some(path) if input::is_stdin(path) => true,
        Some(path) => {
            replace_or_force(path, &report, args.force)?;
            false
        }
        None => args.format == Shape::Json,
    };
    if to_stdout {
        output::print_json(&report)?;
    } else if args.out_dir.is_none() {
        output::print_json(&document)?;
    }
    Ok(())
}

/// The report for people.
fn told(name: &str, derived: &Derivation) -> String {
    let report = &derived.report;
    let (words, style) = match report.verdict {
        Verdict::Proved => ("proved", GREEN),
        Verdict::ProvedInPart => ("PROVED IN PART", YELLOW),
        _ => ("NOT PROVED", RED),
    };
    let counts = &report.conversations;
    let mut out = format!(
        "{}  {}  {} of {} conversations came back, {} of them as another that renders to the same text; the chat template refuses {}\n",
        paint(style.bold(), words),
        name,
        counts.back,
        counts.tried,
        counts.alike,
        counts.refused
    );
    let places: Vec<String> = derived
        .format
        .places
        .iter()
        .map(|place| place.name())
        .collect();
    out.push_str(&format!("  reads {}\n", escape::line(&places.join(", "))));
    for finding in &report.findings {
        out.push_str(&one(finding));
    }
    out
}

fn one(finding: &Finding) -> String {
    let text = escape::line(&finding.text);
    let mut out = format!("  [{}] {text}\n", escape::line(&finding.code));
    if let Some(example) = &finding.example {
        let shown = format!("      such as {}", escape::short(&example.text, 160));
        out.push_str(&paint(DIM, &shown));
        out.push('\n');
    }
    out
}

/// That an option of deriving response templates says nothing of a conversation format.
pub(super) fn refuse_others(args: &Args) -> Result<(), Problem> {
    let others = [
        (args.write, "--write"),
        (args.explain.is_some(), "--explain"),
        (!args.prefer.is_empty(), "--prefer"),
        (args.grammar.is_some(), "--grammar"),
    ];
    match others.into_iter().find(|(given, _)| *given) {
        Some((_, name)) => Err(Problem::failed(
            "usage",
            format!("{name} is about response templates; without --conversation it can be given"),
        )),
        None => Ok(()),
    }
}
