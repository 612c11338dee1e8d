//! `obverse read`: a rendered conversation back into messages.

use std::path::{Path, PathBuf};

use obverse::chat_template::{ChatTemplateSource, Clock};
use obverse::conversation::{
    self, Conversation, ConversationFormat, Extent, ReadError, Reader, Reason,
};
use obverse::derive::Options;
use obverse::diagnostic::Diagnostic;
use obverse::value::{Map, Value, json};

use super::bulk::{self, Answer};
use super::problem::{Document, Problem};
use super::progress::Progress;
use super::shape::JsonArgs;
use super::source::{self, SourceArgs};
use super::status::Status;
use super::stop::Stop;
use super::{escape, input, output, wire};

/// Read a rendered conversation back: its messages, its tools, and what belongs to neither
///
/// With a chat template its conversation format is derived first, and what is read must render to the very text again. With a
/// conversation format (see `obverse derive --conversation`) the format alone decides. Prints {messages, tools, added, spans,
/// add_generation_prompt, kwargs?, date?, exact?}; `added` is what belongs to no message, in bytes. A text that does not fit is an
/// error with the byte from which on it does not, and what was read before it is printed. With --jsonl each line of standard input is
/// an object {text, id?}, and each line of output what was read, or {id?, error, ...} beside what was read before.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A chat template (a .jinja file, a tokenizer_config.json, a model folder or a .gguf file) or a conversation format; - is standard input
    source: PathBuf,

    /// The rendered conversation; standard input without one
    #[arg(conflicts_with = "jsonl")]
    text: Option<PathBuf>,

    /// Read many: one JSON object a line in, one a line out
    #[arg(long)]
    jsonl: bool,

    #[command(flatten)]
    format: JsonArgs,

    #[command(flatten)]
    max_text: input::MaxText,

    #[command(flatten)]
    source_args: SourceArgs,
}

/// The format that conversations are read with, and the chat template if it is known.
enum Known {
    Format(ConversationFormat),
    Source(Box<ChatTemplateSource>, ConversationFormat),
}

/// Reads.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let text = args.text.as_deref().unwrap_or(Path::new("-"));
    input::one_stdin([Some(args.source.as_path()), Some(text)])?;
    let known = open(args)?;
    let reader = match &known {
        Known::Format(format) => Reader::new(format.clone()),
        Known::Source(source, format) => {
            Reader::with_source(format.clone(), source, args.source_args.date)
        }
    };
    if args.jsonl {
        let mut out = output::results();
        let answer = |line: &[u8]| answer(&reader, line);
        let progress = Progress::of_stream(Path::new("-"));
        let ended =
            bulk::answer_lines(&mut std::io::stdin(), &mut out, args.max_text.most, &answer);
        drop(progress);
        return bulk::status(ended?, Path::new("-"));
    }
    let name = input::name(text);
    let progress = Progress::of_input(text);
    let text = args.max_text.read(text)?;
    let read = reader.read(&text);
    drop(progress);
    match read {
        Ok(conversation) => {
            output::print_json(&wire::pretty(&told(&conversation)?))?;
            Ok(Status::Done)
        }
        Err(error) => {
            output::print_json(&wire::pretty(&told(&error.read)?))?;
            Err(unread(&error, name, text).into())
        }
    }
}

/// The chat template with its format, or the format.
fn open(args: &Args) -> Result<Known, Problem> {
    let is_json = args
        .source
        .extension()
        .is_some_and(|extension| extension == "json");
    if is_json && args.source.is_file() {
        let (value, text) = input::read_json(&args.source)?;
        if ConversationFormat::is_one(&value) {
            let format = ConversationFormat::from_value(&value).map_err(|invalid| {
                Problem::all(invalid.diagnostics().to_vec())
                    .about(Document::new(input::name(&args.source), text))
            })?;
            return Ok(Known::Format(format));
        }
    }
    let opened = args.source_args.open(&args.source)?;
    let format = derived(&opened, args.source_args.date)?;
    Ok(Known::Source(Box::new(opened.source), format))
}

/// The conversation format of a chat template.
pub(super) fn derived(
    opened: &source::Opened,
    date: Option<Clock>,
) -> Result<ConversationFormat, Problem> {
    let options = Options::default().clock(date);
    // What is read is checked by rendering it; a proof beside that would take time and change nothing.
    let extent = Extent::default().conversations(0);
    let derive = || conversation::derive(&opened.source, &options, extent);
    let derived = Progress::during(&input::name(&opened.source.path), derive)
        .map_err(|error| not_derived(&error, opened))?;
    Ok(derived.format)
}

/// Returns the problem that a text of this name could not be read.
pub(super) fn unread(error: &ReadError, name: String, text: String) -> Problem {
    let diagnostic =
        Diagnostic::error(code(error.reason), message(error)).with_span(error.at..error.at);
    Problem::of(diagnostic)
        .about(Document::new(name, text))
        .with_status(Status::Found)
}

/// Returns the problem that a chat template renders no conversation.
pub(super) fn not_derived(error: &conversation::DeriveError, opened: &source::Opened) -> Problem {
    let conversation::DeriveError::Render(render) = error;
    let problem = source::not_rendered(render, error.to_string());
    match opened.source.select(false) {
        Ok(template) => problem.about(opened.document(template)),
        Err(_) => problem,
    }
}

fn code(reason: Reason) -> &'static str {
    match reason {
        Reason::Differs => "conversation-differs",
        _ => "conversation-unfit",
    }
}

/// Says what is wrong and what was expected, each expectation cut to what a line can hold.
fn message(error: &ReadError) -> String {
    let expected: Vec<String> = error
        .expected
        .iter()
        .map(|text| format!("\"{}\"", escape::short(text, 60)))
        .collect();
    let told = match expected.as_slice() {
        [] => String::new(),
        several => format!("; expected {}", several.join(" or ")),
    };
    format!("{} at byte {}{told}", error.reason, error.at)
}

fn told(conversation: &Conversation) -> Result<Value, Problem> {
    wire::reported("the conversation", conversation)
}

fn answer(reader: &Reader<'_>, line: &[u8]) -> Answer {
    let (id, text) = match wire::members(line) {
        Ok(mut members) => {
            let id = members.shift_remove("id");
            let text = wire::take_string(&mut members, "text").and_then(|text| {
                text.ok_or_else(|| wire::error("input", "the line has no `text`"))
            });
            (id, text)
        }
        Err(error) => (None, Err(error)),
    };
    let mut out = Map::new();
    out.extend(id.map(|id| ("id".to_owned(), id)));
    let (read, error) = match text.map(|text| reader.read(&text)) {
        Ok(Ok(conversation)) => (Some(conversation), None),
        Ok(Err(error)) => {
            let mut written = wire::error(code(error.reason), &message(&error));
            written.insert("at", Value::count(error.at));
            (Some(*error.read), Some(written))
        }
        Err(error) => (None, Some(error)),
    };
    let failed = error.is_some();
    if let Some(Ok(Value::Object(members))) = read.as_ref().map(told) {
        for (key, value) in &members {
            out.insert(key.clone(), value.clone());
        }
    }
    if let Some(error) = error {
        out.insert("error", Value::Object(error));
    }
    Answer {
        line: wire::line(out),
        failed,
    }
}

/// The conversation format as it is written.
pub(super) fn document(format: &ConversationFormat) -> String {
    escape::json(&json::Format::indented(2).write(&format.to_value())).into_owned() + "\n"
}
