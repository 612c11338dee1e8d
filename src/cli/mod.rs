//! The command line: one file a verb, and what the verbs share.
//!
//! Results go to standard output, everything else to standard error. What a verb ends with is a `Status`; what stops
//! it is a `Stop`, which [`run`] shows.

#![allow(
    clippy::field_reassign_with_default,
    reason = "options that may grow are filled in here as code outside of the library does it"
)]
#![allow(
    rustdoc::invalid_html_tags,
    reason = "the comments of arguments are their help, which a terminal shows"
)]

mod annotate;
mod bulk;
mod check;
mod chunks;
mod codes;
mod color;
mod completed;
mod completions;
mod convert;
#[cfg(feature = "tui")]
mod debug;
mod derive;
mod deviating;
mod diff;
mod engine;
mod escape;
mod explain;
mod given;
mod grammar;
mod hub;
mod init;
mod input;
mod inspect;
mod lint;
mod man;
mod markdown;
mod mistaken;
mod near;
mod new;
mod output;
mod pager;
mod parse;
mod peg;
mod problem;
mod progress;
mod project;
mod propose;
mod quoted;
mod read;
mod record;
mod reference;
mod render;
mod replace;
mod report;
mod review;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod shape;
mod source;
mod spans;
mod status;
mod stop;
mod table;
mod template;
mod verbosity;
mod width;
mod wire;
mod words;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Parser, Subcommand};

use color::Color;
use obverse::hub::Wanted;
use obverse::value::Value;
use pager::PagerArgs;
use problem::Problem;
use status::Status;
use stop::Stop;
use verbosity::VerbosityArgs;

/// The workbench for response templates: derive them from chat templates, prove them, parse with them.
#[derive(Debug, Parser)]
#[command(name = "obverse", version = env!("OBVERSE_VERSION"), after_help = EXIT)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,

    /// When to colour what people read: auto, always or never; auto honours NO_COLOR
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    #[arg(display_order = 900, hide_possible_values = true)]
    color: Color,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    #[command(flatten)]
    pager: PagerArgs,
}

const EXIT: &str = "Exit status: 0 done and all well; 1 a failure was found (a derivation that does not verify, a \
response that does not parse, a lint error); 2 the work could not be done (usage, unreadable or invalid input).";

#[derive(Debug, Subcommand)]
enum Verb {
    #[cfg(feature = "tui")]
    Debug(Box<debug::Args>),
    Derive(derive::Args),
    Convert(convert::Args),
    Inspect(inspect::Args),
    Parse(parse::Args),
    Grammar(Box<grammar::Args>),
    Peg(peg::Args),
    Render(render::Args),
    Spans(spans::Args),
    Annotate(annotate::Args),
    Read(read::Args),
    Check(check::Args),
    Review(review::Args),
    Propose(propose::Args),
    Init(init::Args),
    New(new::Args),
    Record(Box<record::Args>),
    #[cfg(feature = "serve")]
    Serve(Box<serve::Args>),
    Lint(lint::Args),
    Explain(explain::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the verb that the arguments name, and shows what stopped it. The first argument is the program's own name. It
/// returns the exit status and leaves it to the caller to end the process.
///
/// Whatever was written is flushed, so that a caller whose own end does not flush Rust's streams loses nothing.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let status = run_verb(&arguments);
    // Who cannot write any more has been told, or has nobody to tell.
    let _ = std::io::stdout().flush();
    status as u8
}

/// The folder with the files of the model of the Hub that a source names, as all verbs take it: from the cache of the Hub's client, or fetched into
/// it; `None` where the source is on disk, or names none. For the bindings, whose sources are those of the command.
///
/// # Errors
///
/// When the model is not there, may not be read, or cannot be reached: the code of the error, and a text that says which, and what can be done.
pub fn model_folder(source: &Path) -> Result<Option<PathBuf>, (String, String)> {
    let folder = match source::misnamed(source) {
        Some(problem) => Err(problem),
        None => hub::folder(source, Wanted::ChatTemplates),
    };
    folder.map_err(|problem| (problem.code(), problem.told()))
}

fn run_verb(arguments: &[OsString]) -> Status {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            color::before_parsing(arguments).apply();
            return usage(&error);
        }
    };
    output::reset();
    cli.color.apply();
    cli.verbosity.apply();
    cli.pager.apply();
    let begun = Instant::now();
    let done = match &cli.verb {
        #[cfg(feature = "tui")]
        Verb::Debug(args) => debug::run(args, cli.color),
        Verb::Derive(args) => derive::run(args),
        Verb::Convert(args) => convert::run(args),
        Verb::Inspect(args) => inspect::run(args),
        Verb::Parse(args) => parse::run(args),
        Verb::Grammar(args) => grammar::run(args),
        Verb::Peg(args) => peg::run(args),
        Verb::Render(args) => render::run(args),
        Verb::Spans(args) => spans::run(args),
        Verb::Annotate(args) => annotate::run(args),
        Verb::Read(args) => read::run(args),
        Verb::Check(args) => check::run(args),
        Verb::Review(args) => review::run(args),
        Verb::Propose(args) => propose::run(args),
        Verb::Init(args) => init::run(args),
        Verb::New(args) => new::run(args),
        Verb::Record(args) => record::run(args),
        #[cfg(feature = "serve")]
        Verb::Serve(args) => serve::run(args),
        Verb::Lint(args) => lint::run(args),
        Verb::Explain(args) => explain::run(args),
        Verb::Schema(args) => schema::run(args),
        Verb::Completions(args) => completions::run(args),
        Verb::Man(args) => man::run(args),
    };
    output::detail(|| format!("it took {} ms", begun.elapsed().as_millis()));
    match done {
        Ok(status) => status,
        Err(Stop::Problem(problem)) => {
            problem.show();
            // Who reads JSON gets some, also where there is no result.
            if asks_for_json(arguments) && !output::is_begun() {
                let error = wire::object([("error", problem.to_value())]);
                let _ = output::print_json(&wire::pretty(&Value::Object(error)));
            }
            problem.status
        }
        // Whoever read the results has read enough.
        Err(Stop::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Status::Done,
        Err(Stop::Output(error)) => unwritten(&error),
    }
}

/// Returns true if `--format json` is among the arguments. That verbs whose results are always JSON have it as their default does not
/// count.
fn asks_for_json(arguments: &[OsString]) -> bool {
    let has = |name: &str| arguments.iter().any(|one| one == name);
    let is_asked = |pair: &[OsString]| pair[0] == "--format" && pair[1] == "json";
    // Lines are written as they come, and end where they end.
    let is_lines = has("--jsonl") || has("--events");
    !is_lines && (arguments.windows(2).any(is_asked) || has("--format=json"))
}

/// Tells that the results cannot be written.
fn unwritten(error: &std::io::Error) -> Status {
    let message = format!("cannot write to standard output: {error}");
    Problem::failed("output", message).show();
    Status::Failed
}

/// Help and version go to standard output, a usage error to standard error.
fn usage(error: &clap::Error) -> Status {
    let text = error.render();
    if error.use_stderr() {
        output::tell_always(&text.ansi().to_string());
        Status::Failed
    } else {
        match output::help(&text.ansi().to_string()) {
            Ok(()) => Status::Done,
            Err(error) => unwritten(&error),
        }
    }
}
