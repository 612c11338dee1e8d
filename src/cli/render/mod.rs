//! `obverse render`: what a chat template makes of a conversation.

mod origins;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use obverse::chat_template::{ChatTemplate, Clock, LoadError, RenderError, RenderInput};
use obverse::value::{Map, Value, json};

use crate::cli::bulk::{self, Answer};
use crate::cli::problem::Problem;
use crate::cli::source::{self, Opened, SourceArgs};
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::{input, output, wire};

/// Render a conversation with a chat template, byte for byte as transformers' apply_chat_template(tokenize=False)
///
/// On a terminal control characters are shown escaped; a pipe or a file gets every byte. With --jsonl each line of
/// standard input is an object {messages, tools?, documents?, add_generation_prompt?, kwargs?, id?}, and each line of
/// output {id?, text} or {id?, error}; the exit status is 1 if any line is an error.
///
/// With --origins the origin of every byte of the render is told: the place in the chat template, or the path of the input
/// and its bytes. Off a terminal that is JSON, {text, origins, decided_by} (`obverse schema origins`), also for each line of
/// --jsonl; on a terminal, or with --color always, the text is coloured.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .jinja file, a tokenizer_config.json, a model folder, a .gguf file, or org/model[@REVISION], a model of the Hub; - reads a chat template from standard input
    source: PathBuf,

    /// The conversation: a JSON list of messages, or an object with messages and kwargs, as fixtures have it
    #[arg(long, value_name = "FILE", required_unless_present = "jsonl")]
    messages: Option<PathBuf>,

    /// The tools: a JSON list of their schemas
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,

    /// Documents for retrieval: a JSON list
    #[arg(long, value_name = "FILE")]
    documents: Option<PathBuf>,

    /// End with the beginning of the model's turn
    #[arg(long)]
    add_generation_prompt: bool,

    /// A further variable, such as enable_thinking=false; with --jsonl, those of a line come before it
    #[arg(long = "kwarg", value_name = "K=JSON", value_parser = kwarg)]
    kwargs: Vec<(String, Value)>,

    /// The chat template to use of several; otherwise tool_use when there are tools, else default
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    /// Read one JSON object for each line of stdin, and write one for each
    #[arg(long, conflicts_with_all = ["messages", "tools", "documents", "add_generation_prompt"])]
    jsonl: bool,

    /// Write the origin of every byte: the input or the place in the chat template that it comes from
    #[arg(long)]
    origins: bool,

    /// The form of the output; otherwise text on a terminal or with --color always, else json
    #[arg(long, value_enum, requires = "origins", conflicts_with = "jsonl")]
    format: Option<Format>,

    #[command(flatten)]
    source_args: SourceArgs,
}

/// How origins are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// An object for programs
    Json,
    /// The text, coloured
    Text,
}

/// Renders.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let lines = args.jsonl.then(|| Path::new("-"));
    input::one_stdin([
        Some(args.source.as_path()),
        args.messages.as_deref(),
        args.tools.as_deref(),
        args.documents.as_deref(),
        lines,
    ])?;
    let name = args.template.as_deref();
    let (opened, kwargs) = open(&args.source_args, &args.source, &args.kwargs, name)?;
    if args.jsonl {
        return run_lines(args, &opened, &kwargs);
    }
    let conversation = source::conversation(args.messages.as_deref(), &opened, kwargs)?;
    let render = RenderInput {
        messages: conversation.messages,
        tools: input::read_given_list(args.tools.as_deref(), "the tools")?,
        documents: input::read_given_list(args.documents.as_deref(), "the documents")?,
        add_generation_prompt: args.add_generation_prompt,
        kwargs: conversation.kwargs,
        clock: args.source_args.date,
        ..RenderInput::default()
    };
    let template = select(&opened, name, render.tools.is_some())?;
    output::detail(|| {
        let known = opened.source.templates.iter();
        let mut known = known.filter(|(_, known)| known.source() == template.source());
        let name = known.next().map_or("default", |(name, _)| name.as_str());
        format!(
            "rendering the chat template `{name}` of {}",
            opened.source.path.display()
        )
    });
    let problem = |error| source::render_problem(&error, opened.document(template));
    if args.origins {
        let traced = template.render_traced(&render).map_err(problem)?;
        origins::print(template, &traced, args.format)?;
    } else {
        let text = template.render(&render).map_err(problem)?;
        output::print_text(&text)?;
    }
    Ok(Status::Done)
}

fn run_lines(args: &Args, opened: &Opened, kwargs: &Map) -> Result<Status, Stop> {
    let kwargs = LineKwargs::new(kwargs);
    let answer = |line: &[u8]| answer(args, opened, &kwargs, line);
    let mut out = output::results();
    let ended = bulk::answer_lines(&mut std::io::stdin(), &mut out, input::MOST, &answer)?;
    kwargs.warn_of_ignored(opened);
    bulk::status(ended, Path::new("-"))
}

fn answer(args: &Args, opened: &Opened, kwargs: &LineKwargs<'_>, line: &[u8]) -> Answer {
    let (id, result) = match wire::members(line) {
        Ok(mut members) => {
            let id = members.shift_remove("id");
            (id, render_line(args, opened, kwargs, members))
        }
        Err(error) => (None, Err(error)),
    };
    let mut out = Map::new();
    out.extend(id.map(|id| ("id".to_owned(), id)));
    let failed = result.is_err();
    match result {
        Ok(rendered) => out.extend(rendered),
        Err(error) => {
            out.insert("error".to_owned(), Value::Object(error));
        }
    }
    Answer {
        line: wire::line(out),
        failed,
    }
}

fn render_line(
    args: &Args,
    opened: &Opened,
    kwargs: &LineKwargs<'_>,
    mut members: Map,
) -> Result<Map, Map> {
    let mut render = of_line(&mut members, kwargs, args.source_args.date)?;
    render.add_generation_prompt = wire::take_bool(&mut members, "add_generation_prompt", false)?;
    let template = select_for_line(opened, args.template.as_deref(), &render)?;
    let rendered = if args.origins {
        template
            .render_traced(&render)
            .map(|traced| origins::members(template, &traced))
    } else {
        template
            .render(&render)
            .map(|text| wire::object([("text", Value::String(text))]))
    };
    rendered.map_err(|error| not_rendered(&error))
}

/// Opens the source of a verb that renders, and tells what is worth knowing of it. That the name of a chat template is wrong is seen
/// before any input is read.
pub(super) fn open(
    args: &SourceArgs,
    source: &Path,
    kwargs: &[(String, Value)],
    name: Option<&str>,
) -> Result<(Opened, Map), Problem> {
    let opened = args.open_any(source)?;
    let kwargs: Map = kwargs.iter().cloned().collect();
    source::tell_assumption(&opened, &kwargs);
    source::warn_of_ignored(&opened.source, &kwargs);
    select(&opened, name, false)?;
    Ok((opened, kwargs))
}

/// The variables of the lines of --jsonl.
#[derive(Debug)]
pub(super) struct LineKwargs<'k> {
    /// Those that are given for all lines.
    given: &'k Map,
    /// Those that lines give, each once.
    own: Mutex<Map>,
}

impl<'k> LineKwargs<'k> {
    /// Those that are given for all lines.
    pub(super) fn new(given: &'k Map) -> Self {
        let own = Mutex::default();
        Self { given, own }
    }

    /// The variables of a line.
    fn of(&self, members: &mut Map) -> Result<Map, Map> {
        let mut kwargs = self.given.clone();
        match wire::take(members, "kwargs") {
            None => {}
            Some(Value::Object(own)) => {
                let names = own.keys().map(|name| (name.to_owned(), Value::Null));
                let mut seen = self.own.lock().unwrap_or_else(PoisonError::into_inner);
                seen.extend(names);
                kwargs.extend(own);
            }
            Some(other) => return Err(wire::wrong_type("kwargs", "an object", &other)),
        }
        Ok(kwargs)
    }

    /// Tells of each variable of a line that no chat template of the source reads, once.
    pub(super) fn warn_of_ignored(self, opened: &Opened) {
        let own = self
            .own
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let found = source::ignored(&opened.source, &own, |name| {
            format!("`{name}` in the kwargs of a line")
        });
        for found in found {
            Problem::of(found).show();
        }
    }
}

/// The conversation of a line of --jsonl, or what is wrong with the line.
pub(super) fn of_line(
    members: &mut Map,
    kwargs: &LineKwargs<'_>,
    clock: Option<Clock>,
) -> Result<RenderInput, Map> {
    let kwargs = kwargs.of(members)?;
    let messages = wire::take_list(members, "messages")?
        .ok_or_else(|| wire::error("input", "the line has no `messages`"))?;
    Ok(RenderInput {
        messages,
        tools: wire::take_list(members, "tools")?,
        documents: wire::take_list(members, "documents")?,
        kwargs,
        clock,
        ..RenderInput::default()
    })
}

/// The chat template for a line, or why there is none.
pub(super) fn select_for_line<'s>(
    opened: &'s Opened,
    name: Option<&str>,
    render: &RenderInput,
) -> Result<&'s ChatTemplate, Map> {
    select(opened, name, render.tools.is_some())
        .map_err(|problem| wire::error("input", &problem.diagnostics[0].message))
}

/// Returns the error that the conversation of a line could not be rendered.
pub(super) fn not_rendered(error: &RenderError) -> Map {
    let mut written = wire::error(source::render_kind(error), &error.to_string());
    let span = source::render_diagnostic(error).and_then(|found| found.place.span.clone());
    written.extend(span.map(|span| ("span".to_owned(), wire::span(span))));
    written
}

/// The chat template of that name, or the one that transformers would choose.
pub(crate) fn select<'s>(
    opened: &'s Opened,
    name: Option<&str>,
    with_tools: bool,
) -> Result<&'s ChatTemplate, Problem> {
    match name {
        Some(name) => opened.named(name),
        None => opened
            .source
            .select(with_tools)
            .map_err(|error| match error {
                LoadError::Template { .. } => source::load_problem(&error),
                _ => opened.no_template("default"),
            }),
    }
}

pub(crate) fn kwarg(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| "expected K=JSON, such as enable_thinking=false".to_owned())?;
    let value = json::parse(value).map_err(|error| {
        // As Python has it, and as it stands in chat templates.
        let python = [("True", "true"), ("False", "false"), ("None", "null")];
        if let Some((_, json)) = python.into_iter().find(|(python, _)| *python == value) {
            return format!("{value} is written {json} in JSON: {name}={json}");
        }
        if value.starts_with(char::is_alphabetic) && !value.contains('\'') {
            return format!("a string needs its quotes: {name}='{}'", json::quote(value));
        }
        format!(
            "{} at byte {} of {value}; a string needs its quotes: {name}='\"...\"'",
            error.message(),
            error.offset()
        )
    })?;
    Ok((name.to_owned(), value))
}
