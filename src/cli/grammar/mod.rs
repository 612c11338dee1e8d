//! `obverse grammar`: what a model may write, for the engines that hold it to that.

mod alone;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use obverse::chat_template::RenderInput;
use obverse::check;
use obverse::derive::{self, Derivation};
use obverse::diagnostic::Diagnostic;
use obverse::grammar::emit::Language;
use obverse::grammar::{
    Acceptor, Grammar, Next, Reasoning, Request, Sampler, SpecialToken, ToolChoice, WrittenFormat,
};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

use crate::cli::derive::derive_problem;
use crate::cli::given::{self, GivenArgs};
use crate::cli::problem::{Document, Problem};
use crate::cli::progress::Progress;
use crate::cli::render::kwarg;
use crate::cli::source::{self, Opened, SourceArgs};
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::{escape, input, output};
use alone::Looked;

/// Derive the grammar of what a model may write: its calls by their schemas, its reasoning, its answer
///
/// A response template is derived from SOURCE, and the grammar is made of it and of the renders by which it was proved: what separates
/// calls, and how a marker is spelled, is as the chat template writes it. Arguments obey the tools' schemas.
///
/// SOURCE may be a response template, too, or a tokenizer_config.json that has one and no chat template. The order of the
/// fields is then free, except where the response template fixes it.
///
/// The grammar covers the response from the end of the prompt on. The prompt is a user's message, rendered with --kwarg, or the text that --prefix
/// gives. Where the prompt has opened the reasoning, the grammar begins within it.
///
/// With --sample N texts are written that the grammar allows, each on a line as a JSON string, in the place of the grammar.
///
/// With --accepts a response is held to the grammar, as an engine holds its model to it. The exit status is 1 if the grammar does not allow it.
///
/// What a language cannot say of the grammar is told on standard error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .jinja file, a tokenizer_config.json, a model folder, a .gguf file, org/model[@REVISION], a model of the Hub, or a response template; - reads a chat template or a response template from standard input
    #[arg(value_name = "SOURCE")]
    source: PathBuf,

    #[command(flatten)]
    given: GivenArgs,

    /// With --format peg: read calls of any tool with any arguments, too; `obverse parse --tools` then says what types these have
    #[arg(long, requires = "format")]
    any_tool: bool,

    /// Which calls may be written: auto, required, none, or the name of the tool that must be called
    #[arg(long, value_name = "CHOICE", default_value = "auto")]
    tool_choice: String,

    /// Allow more than one call: yes or no
    #[arg(long, value_enum, value_name = "YES|NO", default_value_t = Parallel::Yes, hide_possible_values = true)]
    parallel: Parallel,

    /// Let the model reason: auto (as it likes), on or off
    #[arg(long, value_enum, value_name = "MODE", default_value_t = Reasons::Auto, hide_possible_values = true)]
    reasoning: Reasons,

    /// A variable of the chat template, by which the prompt is rendered; may be given several times
    #[arg(long = "kwarg", value_name = "K=JSON", value_parser = kwarg, conflicts_with_all = ["prefix", "prefix_file"])]
    kwargs: Vec<(String, Value)>,

    /// A JSON Schema that the answer must fit
    #[arg(long, value_name = "SCHEMA")]
    response_format: Option<PathBuf>,

    /// A tokenizer.json or model folder: its special tokens are written as tokens, where the language has a way
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,

    /// The language: gbnf (llama.cpp), ebnf (xgrammar), lark (llguidance), structural-tag (xgrammar), peg (Obverse itself, for peg and parse), or json, which has all of them
    #[arg(long, value_enum, value_name = "LANGUAGE", hide_possible_values = true)]
    #[arg(required_unless_present_any = ["sample", "accepts"])]
    format: Option<Format>,

    /// With --format gbnf: the grammar from the text that begins a call on, and these texts, its triggers, as the JSON of a request to llama.cpp
    #[arg(long, requires = "format")]
    lazy: bool,

    /// Write so many texts that the grammar allows
    #[arg(long, value_name = "N", conflicts_with = "format")]
    sample: Option<u64>,

    /// The seed of the texts of --sample: the same seed gives the same texts
    #[arg(long, value_name = "S", default_value_t = 0, requires = "sample")]
    seed: u64,

    /// Hold a response to the grammar: tell where it leaves it, and what might have stood there; or what may follow it
    #[arg(long, value_name = "RESPONSE", conflicts_with_all = ["format", "sample", "lazy"])]
    accepts: Option<PathBuf>,

    #[command(flatten)]
    source_args: SourceArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Parallel {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Reasons {
    Auto,
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Gbnf,
    Ebnf,
    Lark,
    StructuralTag,
    Peg,
    Json,
}

/// Writes a grammar.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let [prefix, tools] = args.given.paths();
    let format = args.response_format.as_deref();
    if args.lazy && args.format != Some(Format::Gbnf) {
        let message = "`--lazy` is for `--format gbnf` alone: other engines have no triggers";
        return Err(Problem::failed("usage", message).into());
    }
    if args.any_tool && args.format != Some(Format::Peg) {
        let message = "`--any-tool` is for `--format peg` alone: an engine is to hold its model to the tools that there are";
        return Err(Problem::failed("usage", message).into());
    }
    let response = args.accepts.as_deref();
    input::one_stdin([Some(args.source.as_path()), prefix, tools, format, response])?;
    let tools = args.given.tools()?;
    let prefix = args.given.prefix()?;
    let response_format = format.map(read_schema).transpose()?;
    let special_tokens = match &args.tokenizer {
        Some(path) => special_tokens(path)?,
        None => Vec::new(),
    };
    let response = response.map(input::read_text).transpose()?;
    let (written, prefix, end_tokens) = match alone::look(&args.source)? {
        Looked::Alone(alone) => {
            if !args.kwargs.is_empty() {
                let message = "`--kwarg` is a variable of a chat template, and the source is a response template alone";
                return Err(Problem::failed("usage", message)
                    .with_hint(
                        "give the prompt with `--prefix`, or the chat template as the source",
                    )
                    .into());
            }
            let prefix = prefix.unwrap_or_default();
            if !given::has_anchor(&alone.template, &prefix) {
                given::warn_without_anchor(&alone.template);
            }
            let written = WrittenFormat::from_template(&alone.template, &alone.end_tokens);
            (written, prefix, alone.end_tokens)
        }
        Looked::Other(text) => derived(args, text.as_deref(), prefix, &tools)?,
    };
    let reasoning = match args.reasoning {
        Reasons::Auto => Reasoning::Auto,
        Reasons::On => Reasoning::On,
        Reasons::Off => Reasoning::Off,
    };
    let request = Request::default()
        .tools(tools)
        .any_tool(args.any_tool)
        // The conversion fails for nothing.
        .tool_choice(ToolChoice::from_str(&args.tool_choice).unwrap_or_default())
        .parallel(args.parallel == Parallel::Yes)
        .reasoning(reasoning)
        .prefix(prefix)
        .response_format(response_format)
        .special_tokens(special_tokens);
    let grammar = written
        .grammar(&request)
        .map_err(|error| Problem::failed("no-grammar", error.to_string()))?;
    if let Some(count) = args.sample {
        let mut sampler = Sampler::new(&grammar);
        let mut text = String::new();
        for seed in args.seed..args.seed.saturating_add(count) {
            text.push_str(&json::quote(&sampler.sample(seed)));
            text.push('\n');
        }
        output::print_text(&text)?;
        return Ok(Status::Done);
    }
    if let (Some(path), Some(response)) = (&args.accepts, response) {
        return accept(path, &response, &grammar, &end_tokens);
    }
    let language = match args.format {
        Some(Format::Gbnf) if args.lazy => Language::LazyGbnf,
        Some(Format::Gbnf) => Language::Gbnf,
        Some(Format::Ebnf) => Language::Ebnf,
        Some(Format::Lark) => Language::Lark,
        Some(Format::Peg) => Language::Peg,
        Some(Format::StructuralTag) => Language::StructuralTag,
        Some(Format::Json) | None => Language::Json,
    };
    let text = grammar.write(language);
    let tell = || {
        for finding in &text.findings {
            let text = escape::line(&finding.text);
            output::tell(&format!("note[{}]: {text}\n", finding.code));
        }
    };
    let written = format!("{}\n", text.text.trim_end());
    output::told_beside(tell, || output::print_text(&written))?;
    Ok(Status::Done)
}

/// Holds a response to the grammar.
fn accept(
    path: &Path,
    response: &str,
    grammar: &Grammar,
    end_tokens: &[String],
) -> Result<Status, Stop> {
    if let Some(found) = check::disallowed(response, grammar, end_tokens) {
        Problem::of(found)
            .about(Document::new(input::name(path), response))
            .show();
        return Ok(Status::Found);
    }
    let mut acceptor = Acceptor::new(grammar);
    let next = match acceptor.feed(response) {
        Ok(()) => acceptor.next(),
        // An engine's own token ends it.
        Err(_) => vec![Next::End],
    };
    let next: Vec<String> = next.iter().map(|next| format!("  {next}\n")).collect();
    let text = format!(
        "allowed, {} bytes; next may come\n{}",
        response.len(),
        next.concat()
    );
    output::print_text(&escape::block(&text))?;
    Ok(Status::Done)
}

/// The format that is derived from a chat template, the prompt, and the tokens at which an engine stops.
fn derived(
    args: &Args,
    text: Option<&str>,
    prefix: Option<String>,
    tools: &[Value],
) -> Result<(WrittenFormat, String, Vec<String>), Stop> {
    let opened = match text {
        Some(text) => args.source_args.text(&args.source, text)?,
        None => args.source_args.open(&args.source)?,
    };
    source::warn_of_ignored(&opened.source, &args.kwargs.iter().cloned().collect());
    let options = derive::Options::default().clock(args.source_args.date);
    let derive = || derive::derive(&opened.source, &options);
    let derivation = Progress::during(&input::name(&opened.source.path), derive)
        .map_err(|error| derive_problem(&error, &opened))?;
    let template = ResponseTemplate::from_value(&derivation.document.to_value());
    let template = Arc::new(template.map_err(|invalid| Problem::all(invalid.into_diagnostics()))?);
    if !derivation.report.verified {
        note(
            "the response template is not proved: the grammar allows what came back, and refuses what did not",
        );
    }
    let prefix = match prefix {
        Some(prefix) => prefix,
        None => prompt(args, &opened, &derivation, tools)?,
    };
    let written = WrittenFormat::new(&template, &derivation.cases, &opened.source.tokens.end);
    Ok((written, prefix, opened.source.end_tokens()))
}

fn note(text: &str) {
    output::tell(&format!("note: {}\n", escape::line(text)));
}

/// The prompt of a user's message with these tools, rendered.
fn prompt(
    args: &Args,
    opened: &Opened,
    derivation: &Derivation,
    tools: &[Value],
) -> Result<String, Problem> {
    let message = [("role", "user"), ("content", "Hello")];
    let message = message.map(|(key, text)| (key.to_owned(), Value::from(text)));
    let input = RenderInput {
        messages: vec![Value::Object(Map::from_iter(message))],
        tools: (!tools.is_empty()).then(|| tools.to_vec()),
        add_generation_prompt: true,
        kwargs: args.kwargs.iter().cloned().collect(),
        clock: args.source_args.date,
        ..RenderInput::default()
    };
    let template = opened.source.select(!tools.is_empty());
    let template = template.map_err(|_| opened.no_template("default"))?;
    match template.render(&input) {
        Ok(prompt) => Ok(prompt),
        // A chat template that needs more than that has been given it for the derivation.
        Err(_) if args.kwargs.is_empty() => {
            let case = derivation
                .cases
                .iter()
                .find(|case| case.tools.is_empty() == tools.is_empty());
            Ok(case.map(|case| case.prefix.clone()).unwrap_or_default())
        }
        Err(error) => Err(source::render_problem(&error, opened.document(template))),
    }
}

/// The JSON Schema in a file.
fn read_schema(path: &Path) -> Result<Value, Problem> {
    let (schema, text) = input::read_json(path)?;
    if matches!(schema, Value::Object(_) | Value::Bool(_)) {
        return Ok(schema);
    }
    let message = format!(
        "a JSON Schema is an object, or true or false, and not {}",
        schema.json_kind()
    );
    let start = text.len() - text.trim_start().len();
    let found = Diagnostic::error("wrong-type", message).with_span(start..start + 1);
    Err(Problem::of(found).about(Document::new(input::name(path), text)))
}

/// The special tokens of a `tokenizer.json`, or of the one in a model folder.
pub(crate) fn special_tokens(path: &Path) -> Result<Vec<SpecialToken>, Problem> {
    let file = if path.is_dir() {
        path.join("tokenizer.json")
    } else {
        path.to_owned()
    };
    let (tokenizer, _) = input::read_json(&file)?;
    let Some(added) = tokenizer.get("added_tokens").and_then(Value::as_array) else {
        let message = format!(
            "{} has no `added_tokens`: it is no tokenizer.json",
            input::name(&file)
        );
        return Err(Problem::failed("usage", message));
    };
    let token = |token: &Value| {
        let is_special = token.get("special").is_some_and(Value::is_truthy);
        let id = match token.get("id")? {
            Value::Int(id) => id.to_string().parse().ok()?,
            _ => return None,
        };
        let text = token.get("content")?.as_str()?.to_owned();
        is_special.then_some(SpecialToken { text, id })
    };
    Ok(added.iter().filter_map(token).collect())
}
