//! `obverse spans`: which characters of a conversation belong to which message, and which of them the model wrote.

mod page;
mod shown;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use obverse::chat_template::RenderInput;
use obverse::chunking::Tokens;
use obverse::conversation::Reader;
use obverse::conversation::spans::{self, Spans};
use obverse::diagnostic::Diagnostic;
use obverse::value::{Map, Value};

use super::bulk::{self, Answer};
use super::problem::{Document, Problem};
use super::render::{self, LineKwargs, kwarg};
use super::source::{self, Opened, SourceArgs};
use super::status::Status;
use super::stop::Stop;
use super::{escape, input, output, read, wire};

/// Tell which characters, and which tokens, of a conversation belong to which message, and which the model wrote
///
/// Nothing has to be marked in the chat template: the origin of every character is known. `generated` is what the model writes,
/// from behind the generation prompt to the end of its turn, the end included. With --tokenizer the ids of the tokens are told too,
/// and `assistant_masks`, 1 for each token of which a character is generated.
///
/// Of a text alone (TEXT) the conversation is read back first, as `obverse read` does.
///
/// With --jsonl each line of standard input is an object {messages, tools?, documents?, kwargs?, characters?, id?}, and each line of
/// output {id?, text, spans, generated} or {id?, error}; the exit status is 1 if any line is an error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .jinja file, a tokenizer_config.json, a model folder, a .gguf file, or org/model[@REVISION], a model of the Hub; - reads a chat template from standard input
    source: PathBuf,

    /// The file of a rendered conversation, which is read back first; - reads it from standard input
    #[arg(conflicts_with_all = ["messages", "tools", "documents", "kwargs", "jsonl"])]
    text: Option<PathBuf>,

    /// The conversation: a JSON list of messages, or an object with messages and kwargs, as fixtures have it
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,

    /// The tools: a JSON list of their schemas
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,

    /// Documents for retrieval: a JSON list
    #[arg(long, value_name = "FILE")]
    documents: Option<PathBuf>,

    /// A further variable, such as enable_thinking=false; with --jsonl, those of a line come before it
    #[arg(long = "kwarg", value_name = "K=JSON", value_parser = kwarg)]
    kwargs: Vec<(String, Value)>,

    /// Also write the range of tokens of each part, as this tokenizer.json counts them
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,

    /// Also write the range of each part in characters
    #[arg(long)]
    characters: bool,

    /// The chat template to use of several; otherwise tool_use when there are tools, else default
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    /// Read one JSON object for each line of stdin, and write one for each
    #[arg(long, conflicts_with_all = ["messages", "tools", "documents"])]
    jsonl: bool,

    /// The form of the output: json, text (coloured) or html (a page); otherwise text on a terminal or with --color always, else json
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,

    #[command(flatten)]
    max_text: input::MaxText,

    #[command(flatten)]
    source_args: SourceArgs,
}

/// How spans are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// An object for programs.
    Json,
    /// The text, coloured.
    Text,
    /// A page to look at.
    Html,
}

/// The way in which each conversation is told.
struct Teller {
    tokens: Option<Tokens>,
    characters: bool,
    format: Format,
}

/// Tells.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    if args.text.is_none() && args.messages.is_none() && !args.jsonl {
        let message = "there is no conversation whose spans could be told";
        let hint = "give its messages with --messages FILE, its rendered text as TEXT, or many with --jsonl";
        return Err(Problem::failed("usage", message).with_hint(hint).into());
    }
    let lines = args.jsonl.then(|| Path::new("-"));
    input::one_stdin([
        Some(args.source.as_path()),
        args.text.as_deref(),
        args.messages.as_deref(),
        args.tools.as_deref(),
        args.documents.as_deref(),
        args.tokenizer.as_deref(),
        lines,
    ])?;
    let name = args.template.as_deref();
    let (opened, kwargs) = render::open(&args.source_args, &args.source, &args.kwargs, name)?;
    let tokens = args.tokenizer.as_deref().map(tokenizer).transpose()?;
    let teller = Teller {
        tokens,
        characters: args.characters,
        format: args.format.unwrap_or_else(|| usual(args.jsonl)),
    };
    if args.jsonl {
        return run_lines(args, &opened, &kwargs, &teller);
    }
    let input = match &args.text {
        Some(text) => read_back(args, &opened, text)?,
        None => {
            let conversation = source::conversation(args.messages.as_deref(), &opened, kwargs)?;
            RenderInput {
                messages: conversation.messages,
                tools: input::read_given_list(args.tools.as_deref(), "the tools")?,
                documents: input::read_given_list(args.documents.as_deref(), "the documents")?,
                kwargs: conversation.kwargs,
                clock: args.source_args.date,
                ..RenderInput::default()
            }
        }
    };
    let template = render::select(&opened, name, input.tools.is_some())?;
    let found = spans::of_messages(template, &input)
        .map_err(|error| source::render_problem(&error, opened.document(template)))?;
    match teller.format {
        Format::Json => {
            let members = teller.members(&found);
            let members = members.map_err(|message| Problem::failed("tokenizer", message))?;
            output::print_json(&wire::line(members))?;
        }
        Format::Text => {
            output::tell(&shown::legend());
            output::print_long(&shown::coloured(&found))?;
        }
        Format::Html => {
            let mut text = page::head(&input::name(&args.source));
            text += &page::conversation(None, &found);
            text += page::FOOT;
            output::print_text(&text)?;
        }
    }
    Ok(Status::Done)
}

/// The conversation that was rendered to a text, such that it renders to that text again.
fn read_back(args: &Args, opened: &Opened, path: &Path) -> Result<RenderInput, Stop> {
    let date = args.source_args.date;
    let format = read::derived(opened, date)?;
    let name = input::name(path);
    let text = args.max_text.read(path)?;
    let reader = Reader::with_source(format, &opened.source, date);
    let read = match reader.read(&text) {
        Ok(read) => read,
        Err(error) => return Err(read::unread(&error, name, text).into()),
    };
    let shown = read
        .date
        .as_deref()
        .and_then(|date| source::date(date).ok());
    let input = RenderInput {
        add_generation_prompt: read.add_generation_prompt,
        tools: (!read.tools.is_empty()).then_some(read.tools),
        messages: read.messages,
        kwargs: read.kwargs,
        clock: date.or(shown),
        ..RenderInput::default()
    };
    let template = render::select(opened, args.template.as_deref(), input.tools.is_some())?;
    let again = template.render(&input);
    if again.is_ok_and(|again| again == text) {
        return Ok(input);
    }
    let message = "what was read does not render to this text again, so that the origins of its characters are not known";
    let diagnostic = Diagnostic::error("conversation-differs", message).with_hint(
        "definitions of tools that are not written as JSON cannot be read back; give the conversation with --messages and --tools",
    );
    let problem = Problem::of(diagnostic)
        .about(Document::new(name, text))
        .with_status(Status::Found);
    Err(problem.into())
}

/// The format where none is asked for.
fn usual(jsonl: bool) -> Format {
    let is_seen = std::io::stdout().is_terminal()
        || matches!(
            ColorChoice::global(),
            ColorChoice::Always | ColorChoice::AlwaysAnsi
        );
    if is_seen && !jsonl {
        Format::Text
    } else {
        Format::Json
    }
}

fn tokenizer(path: &Path) -> Result<Tokens, Problem> {
    let failed = |error: obverse::chunking::ChunkingError| {
        Problem::failed("tokenizer", escape::line(&error.to_string()).into_owned())
    };
    Tokens::is_built_in().map_err(failed)?;
    Tokens::of_json(path, &input::read_text(path)?).map_err(failed)
}

impl Teller {
    /// The members of what is told to programs, or why the tokenizer does not take the text.
    fn members(&self, found: &Spans) -> Result<Map, String> {
        let characters = self.characters.then(|| Characters::of(&found.text));
        let spans = found.spans.iter().map(|span| {
            let mut out = wire::object([
                ("message", Value::count(span.message)),
                ("role", Value::from(span.role.as_str())),
                ("part", Value::from(span.part.name())),
            ]);
            if let Some(call) = span.call {
                out.insert("call".to_owned(), Value::count(call));
            }
            out.insert("start".to_owned(), Value::count(span.start));
            out.insert("end".to_owned(), Value::count(span.end));
            if let Some(characters) = &characters {
                let range = characters.range((span.start, span.end));
                out.insert("characters".to_owned(), range);
            }
            Value::Object(out)
        });
        let pair = |(start, end): &(usize, usize)| wire::span(*start..*end);
        let mut out = wire::object([
            ("text", Value::from(found.text.as_str())),
            ("spans", Value::Array(spans.collect())),
            (
                "generated",
                Value::Array(found.generated.iter().map(pair).collect()),
            ),
        ]);
        if let Some(characters) = &characters {
            let ranges = found.generated.iter().map(|own| characters.range(*own));
            out.insert(
                "generated_characters".to_owned(),
                Value::Array(ranges.collect()),
            );
        }
        if let Some(tokens) = &self.tokens {
            let tokens = tokens.encode(&found.text);
            let tokens = tokens.map_err(|error| error.to_string())?;
            let ranges: Vec<(usize, usize)> = tokens.iter().map(|token| token.bytes).collect();
            let mask = found.mask(&ranges);
            let list = |items: Vec<Value>| Value::Array(items);
            let ids = tokens.iter().map(|token| Value::count(token.id as usize));
            out.insert("input_ids".to_owned(), list(ids.collect()));
            let mask = mask.into_iter().map(|is| Value::count(usize::from(is)));
            out.insert("assistant_masks".to_owned(), list(mask.collect()));
            out.insert("tokens".to_owned(), list(ranges.iter().map(pair).collect()));
        }
        Ok(out)
    }
}

/// Offsets in characters.
struct Characters {
    /// The byte at which each character starts.
    starts: Vec<usize>,
}

impl Characters {
    fn of(text: &str) -> Self {
        Self {
            starts: text.char_indices().map(|(at, _)| at).collect(),
        }
    }

    fn range(&self, (start, end): (usize, usize)) -> Value {
        let count = |at: usize| self.starts.partition_point(|known| *known < at);
        wire::span(count(start)..count(end))
    }
}

fn run_lines(args: &Args, opened: &Opened, kwargs: &Map, teller: &Teller) -> Result<Status, Stop> {
    let kwargs = LineKwargs::new(kwargs);
    let answer = |line: &[u8]| answer(args, opened, &kwargs, teller, line);
    let mut out = output::results();
    let is_page = teller.format == Format::Html;
    if is_page {
        out.write_all(page::head(&input::name(&args.source)).as_bytes())?;
    }
    let ended = bulk::answer_lines(&mut std::io::stdin(), &mut out, args.max_text.most, &answer)?;
    if is_page {
        out.write_all(page::FOOT.as_bytes())?;
        out.flush()?;
    }
    kwargs.warn_of_ignored(opened);
    bulk::status(ended, Path::new("-"))
}

fn answer(
    args: &Args,
    opened: &Opened,
    kwargs: &LineKwargs<'_>,
    teller: &Teller,
    line: &[u8],
) -> Answer {
    let (id, result) = match wire::members(line) {
        Ok(mut members) => {
            let id = members.shift_remove("id");
            (id, tell_line(args, opened, kwargs, teller, members))
        }
        Err(error) => (None, Err(error)),
    };
    let failed = result.is_err();
    let line = match (teller.format, result) {
        (Format::Html, Ok((found, _))) => page::conversation(id.as_ref(), &found),
        (Format::Html, Err(error)) => page::error(id.as_ref(), &error),
        (Format::Text, Ok((found, _))) => shown::coloured(&found) + "\n",
        (Format::Json, Ok((_, members))) => wire::line(with_id(id, members)),
        (_, Err(error)) => {
            let error = wire::object([("error", Value::Object(error))]);
            wire::line(with_id(id, error))
        }
    };
    Answer { line, failed }
}

fn with_id(id: Option<Value>, members: Map) -> Map {
    let mut out = Map::new();
    out.extend(id.map(|id| ("id".to_owned(), id)));
    out.extend(members);
    out
}

fn tell_line(
    args: &Args,
    opened: &Opened,
    kwargs: &LineKwargs<'_>,
    teller: &Teller,
    mut members: Map,
) -> Result<(Spans, Map), Map> {
    let input = render::of_line(&mut members, kwargs, args.source_args.date)?;
    let characters = wire::take_bool(&mut members, "characters", teller.characters)?;
    let template = render::select_for_line(opened, args.template.as_deref(), &input)?;
    let found = spans::of_messages(template, &input);
    let found = found.map_err(|error| render::not_rendered(&error))?;
    let teller = Teller {
        tokens: teller.tokens.clone(),
        characters,
        format: teller.format,
    };
    let members = match teller.format {
        Format::Json => {
            let members = teller.members(&found);
            members.map_err(|message| wire::error("tokenizer", &message))?
        }
        Format::Text | Format::Html => Map::new(),
    };
    Ok((found, members))
}
