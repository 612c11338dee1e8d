//! `obverse debug`: a response being parsed, to be looked at step by step.

mod open;
mod page;
mod schema;
mod terminal;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use obverse::chunking::Chunking;
use obverse::tui::{Debugger, Host, Theme};
use obverse::value::json;

use super::color::Color;
use super::given::GivenArgs;
use super::problem::Problem;
use super::project::ProjectArgs;
use super::replace::{refuse_other, replace, replace_page};
use super::status::Status;
use super::stop::Stop;
use super::{chunks, input, output};

/// Watch a response being parsed, step by step, both ways
///
/// TEMPLATE is a response template, a tokenizer_config.json or model folder that holds one, a session that was recorded, or a
/// chat template, from which one is derived first. RESPONSES are files, fixtures, .jsonl files of fixtures, or folders of
/// either; - is standard input, shown while it arrives. `?` lists the keys.
///
/// For a response schema, the older form, a tree is printed instead: each node with the text that it was given, the text that each of
/// its keys left, and the value that came of it. A schema is evaluated over the whole response at once, so that there are no steps to
/// go through, no chunks and no session to record.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A response template, a config that holds one, a chat template, or a recorded session
    template: PathBuf,

    /// The responses: files, fixtures, .jsonl files of them, folders of either, or - for standard input; without any, the fixtures that obverse.toml
    /// names for the response template
    responses: Vec<PathBuf>,

    #[command(flatten)]
    given: GivenArgs,

    /// How responses are cut: whole, words, recorded, random:SEED, 3 (characters), 3b (bytes), tokens:FILE (a tokenizer.json)
    #[arg(long, value_name = "HOW", value_parser = chunks::chunking)]
    chunks: Option<Chunking>,

    /// Ignore delimiters that begin inside a string of a `json` region; transformers closes the region there
    #[arg(long)]
    skip_json_strings: bool,

    /// A file that a response is being written to
    #[arg(long, value_name = "FILE")]
    follow: Option<PathBuf>,

    /// The report of the derivation that the template comes from; NAME.report.json beside NAME.json is found
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Write the session to a file when it ends, for somebody else to open
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Print one screen of so many columns and rows, and end
    #[arg(long, value_name = "WxH", value_parser = size)]
    screenshot: Option<(u16, u16)>,

    /// Print the screen as an SVG picture
    #[arg(long, requires = "screenshot")]
    svg: bool,

    /// Write what the debugger shows to a file, a page of its own that a browser opens: all responses with all their steps; - writes it to
    /// standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["screenshot", "keys", "record"])]
    html: Option<PathBuf>,

    /// Keys to press first, such as `<right><right>x`; <enter>, <tab>, <esc>, <c-s> and the like are keys, <lt> is <
    #[arg(long, value_name = "KEYS")]
    keys: Option<String>,

    /// How the tree of a response schema is printed
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,

    #[command(flatten)]
    project: ProjectArgs,
}

/// A value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A tree, with the beginnings of long texts
    Human,
    /// An object a line for each response: its name and its tree, in full
    Json,
}

/// Shows the debugger, or one screen of it.
pub(crate) fn run(args: &Args, color: Color) -> Result<Status, Stop> {
    let mut stdin_paths: Vec<Option<&Path>> = args
        .responses
        .iter()
        .map(|path| Some(path.as_path()))
        .collect();
    stdin_paths.push(Some(args.template.as_path()));
    stdin_paths.extend(args.given.paths());
    input::one_stdin(stdin_paths)?;
    if let Some(loaded) = schema::asked(&args.template)? {
        return schema::run(args, &loaded);
    }
    if args.format.is_some() {
        let message = "--format is for response schemas, and TEMPLATE is none";
        let hint = "--screenshot 80x24 prints a screen of the debugger";
        return Err(Problem::failed("usage", message).with_hint(hint).into());
    }
    let live = args
        .follow
        .as_deref()
        .or_else(|| {
            args.responses
                .iter()
                .map(PathBuf::as_path)
                .find(|path| input::is_stdin(path))
        })
        .filter(|_| args.screenshot.is_none() && args.html.is_none());
    if let Some(path) = &args.record {
        let is_session = |text: &str| {
            json::parse(text).is_ok_and(|value| value.get("obverse_session").is_some())
        };
        let hint =
            "--record FILE is where the session goes: name a file that is not there, or a session";
        refuse_other(path, is_session, "session", hint)?;
    }
    let setup = open::setup(args, live.is_some())?;
    if let Some(path) = &args.html {
        let page = page::page(&input::name(&args.template), &setup);
        return write_page(path, &page);
    }
    let theme = Theme {
        color: color.is_wanted(args.svg),
    };
    let mut debugger = Debugger::new(setup, theme, Files);
    if let Some(keys) = &args.keys {
        let bad = |error: obverse::tui::BadScript| Problem::failed("usage", error.to_string());
        debugger.type_keys(keys).map_err(bad)?;
    }
    if let Some((width, height)) = args.screenshot {
        let screen = debugger.screen(width, height);
        let text = if args.svg {
            screen.to_svg()
        } else {
            screen.to_text()
        };
        let mut out = output::results();
        out.write_all(text.as_bytes())?;
        out.flush()?;
    } else {
        if !std::io::stdout().is_terminal() {
            let problem = Problem::failed("no-terminal", "standard output is not a terminal");
            return Err(problem
                .with_hint("--screenshot 80x24 prints a screen")
                .into());
        }
        terminal::run(&mut debugger, live).map_err(|error| {
            Problem::failed("terminal", format!("the terminal failed: {error}"))
        })?;
    }
    if let Some(path) = &args.record {
        replace(path, &debugger.session())?;
    }
    Ok(Status::Done)
}

/// Writes a page to a file, or to standard output.
fn write_page(path: &Path, page: &str) -> Result<Status, Stop> {
    if input::is_stdin(path) {
        output::print_text(page)?;
    } else {
        replace_page(path, page, false)?;
        output::tell(&format!("wrote {}\n", input::name(path)));
    }
    Ok(Status::Done)
}

/// The files that the debugger reads and writes, and the terminal's clipboard.
#[derive(Debug)]
struct Files;

impl Host for Files {
    fn read(&mut self, path: &Path) -> Result<Option<String>, String> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    }

    fn write(&mut self, path: &Path, text: &str) -> Result<(), String> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        }
        let message = |problem: Problem| {
            let first = problem.diagnostics.into_iter().next();
            first.map_or_else(String::new, |diagnostic| diagnostic.message)
        };
        replace(path, text).map_err(message)
    }

    fn remove(&mut self, path: &Path) -> Result<(), String> {
        std::fs::remove_file(path)
            .map_err(|error| format!("cannot remove {}: {error}", path.display()))
    }

    fn copy(&mut self, text: &str) {
        terminal::copy(text);
    }
}

fn size(text: &str) -> Result<(u16, u16), String> {
    let parse = |number: &str| {
        number
            .parse()
            .ok()
            .filter(|number| (1..=1000).contains(number))
    };
    text.split_once('x')
        .and_then(|(width, height)| Some((parse(width)?, parse(height)?)))
        .ok_or_else(|| "expected columns and rows, such as 80x24, up to 1000x1000".to_owned())
}
