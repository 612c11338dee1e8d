//! `obverse derive`: a response template from a chat template, with a report of what is proved.

mod conversation;
mod decisions;
mod explain;
mod files;
mod human;
#[cfg(feature = "http")]
mod many;
mod responses;
mod strict;
mod summary;
mod verdict;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use obverse::chunking::Chunking;
use obverse::derive::{self, Derivation, DeriveError, Options, Recorded};
use obverse::page::Page;
use obverse::parser;
use obverse::response_template::{Engine, config};
use obverse::value::Value;

use super::problem::{Document, Problem};
use super::progress::Progress;
use super::replace::{
    make_folder, refuse_protected, refuse_source, replace_or_force, replace_page,
};
use super::shape::Shape;
use super::source::{self, Opened, SourceArgs};
use super::status::Status;
use super::stop::Stop;
use super::verbosity::{self, Verbosity};
use super::{bulk, engine, input, output, wire};
pub(crate) use files::file_stem;
use responses::ResponsesArgs;
use summary::Summary;
#[cfg(feature = "tui")]
pub(crate) use verdict::messages;

/// Derive a response template from a chat template, and prove it by inversion
///
/// The response template goes to standard output, a report for people to standard error. If it cannot be proved, the report says
/// why, the response template is the best one that was found, and the exit status is 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .jinja file, a tokenizer_config.json, a model folder, a .gguf file, or org/model[@REVISION], a model of the Hub; - reads a chat template from standard input
    #[cfg_attr(feature = "http", arg(required_unless_present = "hub_list"))]
    #[cfg_attr(not(feature = "http"), arg(required = true))]
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,

    /// Derive for every model of the Hub that FILE names, one on each line, into the folder of --out-dir. A chat template that several models
    /// share is derived once. DIR/hub-list.json has the result of each model; after an interruption the same command goes on from there
    #[cfg(feature = "http")]
    #[arg(long, value_name = "FILE", requires = "out_dir")]
    #[arg(conflicts_with_all = ["sources", "report", "html", "explain", "write", "conversation", "responses", "grammar"])]
    hub_list: Option<PathBuf>,

    /// Write DIR/NAME.json and DIR/NAME.report.json for each source, instead of to standard output
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,

    /// Write the report as JSON; - writes it to standard output, in the place of the response template
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Write the derivation as a page that a browser opens: the response template, the evidence for each delimiter, and the responses by which it
    /// was proved, step by step; - writes it to standard output, in the place of the response template
    #[arg(long, value_name = "FILE", conflicts_with = "conversation")]
    html: Option<PathBuf>,

    /// Write a grammar of the format as well, which reads messages that no response template can: with Python literals, escapes, odd names.
    /// `obverse parse` takes it as TEMPLATE; - writes it to standard output, in the place of the response template
    #[arg(long, value_name = "FILE")]
    grammar: Option<PathBuf>,

    /// The form of the report: human, on standard error; or json, on standard output in the place of the response template, one report
    /// on each line if there are several sources
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Shape::Human)]
    #[arg(hide_possible_values = true, conflicts_with = "report")]
    format: Shape,

    /// Keep to what ENGINE takes: transformers, vllm or sglang; may be given several times
    #[arg(long = "for", value_name = "ENGINE", value_parser = engine::parser(), hide_possible_values = true)]
    engines: Vec<Engine>,

    /// Take another candidate for a decision than the derivation would, by the names that --explain prints, such as "unclosed
    /// reasoning=goes on"; may be given several times
    #[arg(long, value_name = "DECISION=CANDIDATE", value_parser = preference)]
    prefer: Vec<(String, String)>,

    /// Verify at length: more messages, every size of chunk, every response cut short everywhere
    #[arg(long)]
    thorough: bool,

    /// Show for each marker and each decision what was taken, and why. With a name, such as --explain=anchor, the two renders that it was
    /// read from are shown as a diff, with the other candidates; --explain=all shows these for everything
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    explain: Option<String>,

    /// Store the response template in the source's tokenizer_config.json, instead of writing it to standard output
    #[arg(long)]
    write: bool,

    /// Write files too that are symbolic links, as in the caches of models, or read-only
    #[arg(long)]
    force: bool,

    /// Derive the conversation format instead, by which `obverse read` reads whole conversations back; the response template is in it
    #[arg(long)]
    conversation: bool,

    #[command(flatten)]
    responses: ResponsesArgs,

    #[command(flatten)]
    source_args: SourceArgs,
}

/// A decision and the candidate to take.
fn preference(text: &str) -> Result<(String, String), String> {
    let (decision, candidate) = text
        .split_once('=')
        .ok_or_else(|| "expected DECISION=CANDIDATE".to_owned())?;
    Ok((decision.trim().to_owned(), candidate.trim().to_owned()))
}

impl Args {
    /// How to derive.
    fn options(&self, responses: Vec<Recorded>) -> Options {
        Options::default()
            .clock(self.source_args.date)
            .engines(self.engines.clone())
            .thorough(self.thorough)
            .prefer(self.prefer.clone())
            .alternatives(self.explain.is_some() || self.thorough)
            .responses(responses)
    }
}

/// Refuses two results for standard output, of which one would be lost.
fn one_on_stdout(args: &Args) -> Result<(), Problem> {
    let files = [
        (&args.report, "--report -"),
        (&args.grammar, "--grammar -"),
        (&args.html, "--html -"),
    ];
    let files = files.into_iter().filter_map(|(path, name)| {
        let path = path.as_deref().filter(|path| input::is_stdin(path));
        path.map(|_| name)
    });
    let json = (args.format == Shape::Json).then_some("--format json");
    let all: Vec<&str> = files.chain(json).collect();
    if all.len() < 2 {
        return Ok(());
    }
    let message = format!(
        "{} write to standard output, which takes one of them",
        all.join(" and ")
    );
    Err(Problem::failed("usage", message).with_hint("give a file to the others"))
}

/// Derives, each source for itself; the worst exit status counts.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    input::one_stdin(args.sources.iter().map(|path| Some(path.as_path())))?;
    let several = args.sources.len() > 1;
    if several {
        if args.out_dir.is_none() && !args.write {
            return Err(Problem::failed(
                "usage",
                "several sources need --out-dir DIR, where each gets its files",
            )
            .into());
        }
        if args.report.is_some() {
            return Err(Problem::failed(
                "usage",
                "--report is for one source; with --out-dir each gets a report",
            )
            .into());
        }
        for (path, name) in [(&args.html, "--html"), (&args.grammar, "--grammar")] {
            if path.is_some() {
                let message = format!("{name} is for one source");
                return Err(Problem::failed("usage", message).into());
            }
        }
    }
    one_on_stdout(args)?;
    if let Some(folder) = &args.out_dir {
        make_folder(folder)?;
    }
    #[cfg(feature = "http")]
    if let (Some(list), Some(folder)) = (&args.hub_list, &args.out_dir) {
        return many::run(args, list, folder);
    }
    if args.conversation {
        conversation::refuse_others(args)?;
        return conversation::run(args);
    }
    let mut worst = Status::Done;
    let mut taken = HashSet::new();
    let mut summary = Summary::default();
    let progress = match args.sources.as_slice() {
        [one] => Progress::of_one(&input::name(one)),
        several => Progress::of(several.len()),
    };
    let derive = |path: &PathBuf| {
        let begun = Instant::now();
        let derived = derive_one(args, path);
        if derived.is_ok() {
            output::detail(|| {
                let took = begun.elapsed().as_millis();
                format!("{}: derived and verified in {took} ms", path.display())
            });
        }
        progress.finished(&input::name(path));
        (path.clone(), derived)
    };
    bulk::spread(&args.sources, &derive, |derived| {
        progress.aside(|| {
            let (path, derived) = derived;
            let status = match derived.map_err(Stop::from).and_then(|one| {
                if several && args.format == Shape::Human {
                    output::tell(&summary.line(&one.derivation.report));
                }
                let tell = || tell(args, &one.derivation);
                if several || args.out_dir.is_some() || args.write {
                    tell();
                    return store(args, &one, &mut taken);
                }
                output::told_beside(tell, || store(args, &one, &mut taken))
            }) {
                Ok(status) => status,
                Err(Stop::Problem(problem)) => {
                    if several && args.format == Shape::Human {
                        output::tell(&summary.failed(&input::name(&path)));
                    }
                    problem.show();
                    if args.format == Shape::Json && problem.status == Status::Failed {
                        print_error(&path, &problem, several)?;
                    }
                    problem.status
                }
                Err(stop) => return Err(stop),
            };
            worst = worst.max(status);
            Ok(())
        })
    })?;
    if several && args.format == Shape::Human {
        output::tell(&summary.table());
    }
    Ok(worst)
}

/// Writes what stopped the derivation of a source for programs, in the place of its report: of several sources on a line of its own.
fn print_error(path: &Path, problem: &Problem, several: bool) -> io::Result<()> {
    let error = wire::object([
        ("source", input::name(path).into()),
        ("error", problem.to_value()),
    ]);
    if several {
        return output::print_json(&(wire::line(error) + "\n"));
    }
    if output::is_begun() {
        return Ok(());
    }
    output::print_json(&wire::pretty(&Value::Object(error)))
}

/// One source and what was derived from it.
struct Derived {
    opened: Opened,
    /// The config to write to, if one is to be written to.
    config_path: Option<PathBuf>,
    derivation: Derivation,
}

fn derive_one(args: &Args, path: &Path) -> Result<Derived, Problem> {
    let opened = args.source_args.open(path)?;
    let config_path = match &opened.source.config_path {
        _ if !args.write => None,
        Some(config) => {
            // Deriving takes its time; that it was in vain is told before.
            refuse_protected(config, args.force)?;
            Some(config.clone())
        }
        None => {
            let message = format!(
                "{} has no tokenizer_config.json to write to",
                input::name(path)
            );
            let hint = "give the tokenizer_config.json or the model folder as SOURCE";
            return Err(Problem::failed("no-config", message).with_hint(hint));
        }
    };
    let responses = args.responses.read(&opened.source, args.source_args.date)?;
    let derivation = derive::derive(&opened.source, &args.options(responses))
        .map_err(|error| derive_problem(&error, &opened))?;
    Ok(Derived {
        opened,
        config_path,
        derivation,
    })
}

/// Tells people what was found.
fn tell(args: &Args, derivation: &Derivation) {
    // Of several sources a line each is enough, unless somebody wants to know more.
    let is_whole = args.sources.len() == 1 || verbosity::chosen() == Verbosity::Verbose;
    let is_told = args.format == Shape::Human && is_whole;
    let report = &derivation.report;
    // Who asks for all decisions wants to see them, and has seen the rest before or asks for that.
    let is_brief = args.explain.as_deref() == Some("") && verbosity::chosen() != Verbosity::Verbose;
    let (head, next, rest) = match (is_told, is_brief) {
        (false, _) => <(String, String, String)>::default(),
        (true, true) => {
            let brief = human::brief(report) + &responses::told(report);
            (brief, String::new(), String::new())
        }
        (true, false) => (
            human::head(derivation),
            verdict::next_steps(derivation),
            human::rest(report) + &responses::told(report),
        ),
    };
    let from_the_top = format!("{head}{next}{rest}");
    match args.explain.as_deref() {
        None if !output::fills_the_screen(&from_the_top) => output::tell(&from_the_top),
        // Where results go elsewhere, nobody may be there to leave a pager.
        None if output::is_result_on_screen() && output::is_paged(&from_the_top) => {}
        // What matters most is what one sees without scrolling back.
        None => output::tell(&format!("{}\n{head}{next}", rest.trim_start_matches('\n'))),
        Some(wanted) => {
            let explained = explain::explanation(report, wanted, verbosity::chosen());
            output::tell_long(&match output::is_told_on_screen() {
                true => format!("{head}{rest}{explained}{next}"),
                false => format!("{from_the_top}{explained}"),
            });
        }
    }
}

/// Writes everything where it belongs.
fn store(args: &Args, derived: &Derived, taken: &mut HashSet<String>) -> Result<Status, Stop> {
    let Derived {
        opened,
        config_path,
        derivation,
    } = derived;
    let template = derivation.document.to_json();
    let report = wire::reported("the report", &derivation.report)?;
    let reported = match &report {
        Value::Object(members) if args.sources.len() > 1 => wire::line(members.clone()),
        one => wire::pretty(one),
    };
    let report = wire::pretty(&report);
    let mut wrote = Vec::new();
    if let Some(folder) = &args.out_dir {
        let name = files::unique(&files::file_stem(&opened.source), taken);
        for (file, text) in [
            (format!("{name}.json"), &template),
            (format!("{name}.report.json"), &report),
        ] {
            let file = folder.join(file);
            replace_or_force(&file, text, args.force)?;
            wrote.push(file);
        }
    }
    if let Some(path) = config_path {
        let text = input::read_text(path)?;
        let written = config::write(&text, &derivation.document.to_value()).map_err(|invalid| {
            Problem::all(invalid.into_diagnostics()).about(Document::new(input::name(path), text))
        })?;
        replace_or_force(path, &written, args.force)?;
        wrote.push(path.to_path_buf());
    }
    let report_to_stdout = match &args.report {
        Some(path) if input::is_stdin(path) => true,
        Some(path) => {
            refuse_source(path, &opened.source.path)?;
            replace_or_force(path, &report, args.force)?;
            wrote.push(path.clone());
            false
        }
        None => false,
    };
    let mut status = match derivation.report.verified {
        true => Status::Done,
        false => Status::Found,
    };
    let mut grammar_to_stdout = None;
    if let Some(path) = &args.grammar {
        match strict::grammar(derivation) {
            Ok((text, told)) => {
                if input::is_stdin(path) {
                    grammar_to_stdout = Some(text);
                } else {
                    refuse_source(path, &opened.source.path)?;
                    replace_or_force(path, &text, args.force)?;
                    wrote.push(path.clone());
                }
                output::tell(&told);
            }
            // The response template is written all the same.
            Err(problem) => {
                problem.show();
                status = status.max(problem.status);
            }
        }
    }
    let page = args.html.as_ref().map(|_| page(opened, derivation));
    let page_to_stdout = match (&args.html, &page) {
        (Some(path), Some(page)) if !input::is_stdin(path) => {
            replace_page(path, page, args.force)?;
            wrote.push(path.clone());
            None
        }
        (_, page) => page.as_ref(),
    };
    wrote.extend(args.responses.keep(derivation)?);
    for file in wrote {
        let told = format!("wrote {}", input::name(&file));
        if args.sources.len() > 1 {
            output::detail(|| told);
        } else {
            output::tell(&format!("  {told}\n"));
        }
    }
    if let Some(page) = page_to_stdout {
        output::print_text(page)?;
    } else if let Some(grammar) = grammar_to_stdout {
        output::print_text(&grammar)?;
    } else if args.format == Shape::Json {
        output::print_json(&reported)?;
    } else if report_to_stdout {
        output::print_json(&report)?;
    } else if args.out_dir.is_none() && !args.write {
        output::print_json(&template)?;
    }
    Ok(status)
}

/// The page about a derivation, with its responses cut into words.
fn page(opened: &Opened, derivation: &Derivation) -> String {
    let mut page = Page::of_derivation(&opened.source.name, derivation);
    page.record(parser::Options::default(), &|_, response| {
        Chunking::Words.ends(response, &[]).unwrap_or_default()
    });
    page.to_html()
}

/// The report, as it is written.
pub(crate) fn derive_problem(error: &DeriveError, opened: &Opened) -> Problem {
    let about = |problem: Problem| match opened.source.select(false) {
        Ok(template) => problem.about(opened.document(template)),
        Err(_) => problem,
    };
    match error {
        DeriveError::Render(render) => about(source::not_rendered(render, error.to_string())),
        DeriveError::Preference(_) | DeriveError::UnknownDecision { .. } => {
            Problem::failed("no-decision", error.to_string())
                .with_hint("obverse derive --explain lists the decisions with their candidates")
        }
        DeriveError::Invalid(_) => about(Problem::failed("invalid-draft", error.to_string())),
        _ => about(Problem::failed("not-derived", error.to_string())),
    }
}
