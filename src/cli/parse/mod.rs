//! `obverse parse`: a message from a response.

mod grammar;
mod lines;
mod schema;
mod session;
mod state;
mod strays;

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obverse::chat_template::{self, TokenLists};
use obverse::chunking::{self, Chunking};
use obverse::deltas::DeltaTemplate;
use obverse::deltas::encode::Protocol;
use obverse::diagnostic::Diagnostic;
use obverse::parser::{self, Event, LimitKind, Limits, Markers, Options, ParseError, Utf8Decoder};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

use super::given::{self, GivenArgs};
use super::input::Size;
use super::problem::{self, Document, Problem};
use super::progress::Progress;
use super::shape::JsonArgs;
use super::status::Status;
use super::stop::Stop;
use super::template::{self, Either, Opened};
use super::{chunks, escape, input, output, width, wire};
use session::{Asked, Ended, Session, Step};

/// How much of a response is read at once.
const PIECE: usize = 64 * 1024;

/// How many characters of a region's raw text a diagnostic shows.
const RAW: usize = 200;

/// Parse a response to the message that it stands for
///
/// The message goes to standard output as JSON. If a region does not parse, {error, message} is written instead: the error, and
/// the message without that region. If several do not, further_errors lists the others.
///
/// With --events standard input is parsed as it arrives, and each event is written as it happens, one on a line. The last line is
/// {"type": "message", "message": {...}}. If a region does not parse, a line {"type": "error", "error": {...}} stands in the
/// place of its region_close, and the last line is {"type": "partial_message", "message": {...}}.
///
/// With --deltas standard input is parsed as it arrives, and each line is what a chat server sends its client as the message grows: in
/// the form of OpenAI's Chat Completions (openai), OpenAI's Responses (responses), Anthropic's Messages (anthropic), or of none of
/// them (growth): more text of a part of the message, the beginning of a call, more of the JSON of its arguments. `growth` ends
/// with a line {"type": "message", ...}.
///
/// With --events --state a line {"type": "state", ...} follows the events of each piece of input. It tells what the parser is doing:
/// the open region and its captures, the delimiters that are looked for and why each of them waits, the text that is held back,
/// and the limits. Places are bytes of the text that is parsed; its first prefix_bytes belong to the prefix. A piece is what one
/// read returns, or one chunk with --chunks. A character whose bytes arrive apart is parsed with its last byte.
///
/// Three things are reported on standard error. Unclaimed text is text of the response that no field of the message has. A leaked marker
/// stands in the text of a field: it is a fixed text of a delimiter or a tag of the response template, or of the tokenizer in whose
/// tokenizer_config.json that was found a special token, or another added one that the chat template names. And a call whose arguments
/// are tags, lines or text may be unended: the response ends before what closes it, so that arguments may be missing. In --jsonl, and in the last line of --events, these are `unclaimed`, a list of
/// {start, end, text} in bytes, `leaked`, a list of {field, start, end, text}, and `unended`, {field, start, end}. White space alone is not
/// reported. Of a response that is parsed as it arrives unclaimed texts are listed until there are 1000 or they have a mebibyte; the
/// one that reaches it is listed. Of leaked markers the first 1000 are listed. The others are counted: `unclaimed_further` {count,
/// bytes} and `leaked_further` {count}.
///
/// A response that is read whole, or a line of --jsonl, may be as long as --max-response says. With --events and --deltas a response
/// may go on for ever. --max-response then limits what has to be kept: the text of one region until it closes, and text
/// that no field takes.
///
/// TEMPLATE may also be a response schema, the older form that transformers ran until 5.14; its content tells which of the two it is. A
/// schema is evaluated over the whole response, so that there are no events, no prefix and no tools. An error names the
/// node of the schema.
///
/// TEMPLATE may also be a grammar, for formats that no response template can describe (docs/grammars.md). The events are the same. The
/// response must match the grammar to its end; if it does not, the error says where. There are no --deltas and no --state.
///
/// With --jsonl each line of input is an object {response or chunks, template?, prefix?, tools?, finalize?, events?,
/// deltas?, certain?, skip_json_strings?, id?}, and each line of output {id?, message, unclaimed?, leaked?, unended?}. With `events` the output
/// has initial_events, events and final_events, too; if `deltas` names one of the forms above, initial_deltas, deltas and final_deltas. A line
/// that fails gives {id?, error, message?, ...}, and the exit status is then 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A response template, a response schema or a grammar, or a tokenizer_config.json or model folder that holds one of the first two
    #[arg(required_unless_present = "jsonl")]
    template: Option<PathBuf>,

    /// The response, or with --jsonl the lines; standard input without it
    response: Option<PathBuf>,

    #[command(flatten)]
    given: GivenArgs,

    /// Write the events as they happen, each on a line
    #[arg(long, group = "live")]
    events: bool,

    /// Write what the clients of a server are sent as the message grows, each on a line
    #[arg(long, value_name = "FORM", group = "live", value_parser = protocol())]
    deltas: Option<Protocol>,

    /// Hold back text that may still turn out to be something else, so that no delta is ever taken back
    #[arg(long, requires = "deltas")]
    certain: bool,

    /// Write what the parser is doing after each piece of input, between the events
    #[arg(long, requires = "events")]
    state: bool,

    /// Read the response to its end, and then parse it in chunks: words, random:SEED, 3 (characters), 3b (bytes), whole, or
    /// tokens:FILE (a tokenizer.json)
    #[arg(long, value_name = "HOW", requires = "live", value_parser = chunks::of_text)]
    chunks: Option<Chunking>,

    /// Ignore delimiters that begin inside a string of a `json` region; transformers closes the region there
    #[arg(long)]
    skip_json_strings: bool,

    /// How long a response, a line of --jsonl, or with --events and --deltas one region may be: bytes, or 512K, 64M, 2G; without it 256M
    #[arg(long, value_name = "SIZE")]
    max_response: Option<Size>,

    #[command(flatten)]
    format: JsonArgs,

    /// How many regions with a value a response may have. Without it there may be 1000000; with --events and --deltas there may be any
    /// number, unless a field of the response template has `repeats` or `join`, since those fields keep every region
    #[arg(long, value_name = "N")]
    max_regions: Option<usize>,

    /// Parse many: one JSON object a line in, one a line out
    #[arg(long, conflicts_with_all = ["prefix", "prefix_file", "tools", "events", "deltas", "state", "chunks", "certain", "skip_json_strings"])]
    jsonl: bool,
}

/// Parses.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let response = args.response.as_deref().unwrap_or(Path::new("-"));
    if args.chunks == Some(Chunking::Recorded) {
        let problem = Problem::failed("usage", "no chunks were recorded of what `parse` reads");
        return Err(problem
            .with_hint(
                "--jsonl takes the `chunks` of a line; words, 3 and random:7 are ways to cut",
            )
            .into());
    }
    let [prefix_file, tools] = args.given.paths();
    input::one_stdin([args.template.as_deref(), Some(response), prefix_file, tools])?;
    let template = args
        .template
        .as_deref()
        .map(template::open_either)
        .transpose()?;
    let given = template.map(|template| match template {
        Either::Template(opened) => {
            let (template, markers) = with_markers(opened);
            lines::Given::Template(template, markers)
        }
        Either::Schema(_, _, loaded) => lines::Given::Schema(Arc::new(loaded.schema)),
        Either::Grammar(grammar) => lines::Given::Grammar(Arc::from(grammar)),
    });
    let (template, markers) = match given {
        Some(lines::Given::Template(template, markers)) if !args.jsonl => (template, markers),
        Some(lines::Given::Schema(schema)) if !args.jsonl => {
            return schema::run(args, &schema, response);
        }
        Some(lines::Given::Grammar(template)) if !args.jsonl => {
            return grammar::run(args, &template, response);
        }
        given => return lines::run(given, response, args.longest(), args.limits()),
    };
    let prefix = args.given.prefix()?.unwrap_or_default();
    let tools = args.given.tools()?;
    if !given::has_anchor(&template, &prefix) {
        given::warn_without_anchor(&template);
    }
    let is_streamed = args.events || args.deltas.is_some();
    let name = input::name(response);
    output::detail(|| {
        let fields: Vec<&str> = template
            .fields()
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        let (prefix, tools) = (prefix.len(), tools.len());
        format!(
            "fields {}; a prefix of {prefix} bytes, {tools} tools",
            fields.join(", ")
        )
    });
    let mut options = Options::default()
        .keep_delimiters(args.state)
        .skip_json_strings(args.skip_json_strings);
    options.limits = args.limits();
    let keeps_each = template
        .fields()
        .iter()
        .any(|field| field.repeats || field.join.is_some());
    if is_streamed && args.max_regions.is_none() && !keeps_each {
        // What is read takes no more memory however many there are.
        options.limits.regions = usize::MAX;
    }
    let asked = args.deltas.map(|protocol| Asked {
        protocol,
        template: Arc::new(DeltaTemplate::new(Arc::clone(&template))),
        certain: args.certain,
    });
    let progress = match is_streamed {
        true => Progress::of_stream(response),
        false => Progress::of_input(response),
    };
    let mut reading = input::open(response)?;
    match Session::begin(
        &template,
        &prefix,
        &tools,
        options,
        &markers,
        asked.as_ref(),
    ) {
        Ok(session) if is_streamed => {
            let states = args.state.then_some(&*template);
            let mut following = Following {
                session,
                name: &name,
                states,
                deltas: args.deltas,
                out: output::results(),
                broken: 0,
                progress,
            };
            let followed = following.follow(args, reading.as_mut(), response);
            let so_far = following.status();
            match followed.and_then(|length| following.end(length)) {
                // Whoever reads the events has read enough; what broke until then counts.
                Err(Stop::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(so_far),
                done => done,
            }
        }
        Ok(session) => {
            let text = args.read_whole(reading.as_mut(), response)?;
            whole(session, &name, &text, progress)
        }
        Err(error) => {
            drop(progress);
            let errors = [*error];
            show(&errors, PREFIX, None, usize::MAX);
            let message = template.defaults().clone();
            if args.events {
                let mut out = output::results();
                write_line(&mut out, "error", "error", errors[0].to_map())?;
                write_line(&mut out, "partial_message", "message", message)?;
                out.flush()?;
            } else {
                let partial = Value::Object(partial(&errors, message));
                output::print_json(&wire::pretty(&partial))?;
            }
            Ok(Status::Found)
        }
    }
}

/// A response template that was read, with its markers.
fn with_markers(opened: Opened) -> (Arc<ResponseTemplate>, Arc<Markers>) {
    let Opened { file, loaded, .. } = opened;
    let mut markers = Markers::of(&loaded.template);
    // In a tokenizer's configuration the document is one member of several.
    if !loaded.path.steps().is_empty() {
        let lists = TokenLists::beside(&file);
        markers = markers.and(lists.special);
        // Without a chat template nothing tells which of the other tokens is one.
        if let Ok(source) = chat_template::load(&file) {
            markers = markers.and_telling(source.named_tokens());
        }
    }
    (Arc::new(loaded.template), Arc::new(markers))
}

impl Args {
    /// A response that is read to its end first.
    fn read_whole(&self, reading: &mut dyn Read, path: &Path) -> Result<String, Problem> {
        const HINT: &str = "--max-response allows more; --events parses what arrives as it arrives, and limits each region alone";
        input::read_at_most(reading, path, self.longest(), HINT)
    }

    /// How long what is read whole may be.
    fn longest(&self) -> Size {
        self.max_response.unwrap_or(input::MOST)
    }

    /// The parser's limits. They give way to a response that was allowed to be longer. What is read whole has been measured before, and a
    /// prefix may come before it, so that only what is parsed as it arrives is held to less than is usual.
    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(regions) = self.max_regions {
            limits.regions = regions;
        }
        let Some(given) = self.max_response.map(Size::in_memory) else {
            return limits;
        };
        let arrives = (self.events || self.deltas.is_some()) && self.chunks.is_none();
        limits.region_bytes = match arrives {
            true => given,
            false => given.max(limits.region_bytes),
        };
        limits.held_bytes = given.max(limits.held_bytes);
        limits
    }
}

/// Parses a response that is there.
fn whole(mut session: Session, name: &str, text: &str, progress: Progress) -> Result<Status, Stop> {
    // An error of the prefix is told by the first call.
    session.feed("", &mut |_| ());
    let mut errors = session.take_errors();
    let of_prefix = errors.len();
    session.feed(text, &mut |_| ());
    let Ended {
        message,
        errors: of_response,
        strays,
    } = session.finish(&mut |_| ());
    drop(progress);
    errors.extend(of_response);
    let tell = || {
        let (of_prefix, of_response) = errors.split_at(of_prefix);
        show(of_prefix, PREFIX, None, usize::MAX);
        show(of_response, name, Some(text), text.len());
        strays.tell(name, Some(text));
    };
    let (written, status) = match errors.is_empty() {
        true => (message, Status::Done),
        false => {
            let mut partial = partial(&errors, message);
            strays.write(&mut partial);
            (partial, Status::Found)
        }
    };
    output::told_beside(tell, || wire::print(&Value::Object(written)))?;
    Ok(status)
}

/// The value in the place of a message that is not whole.
fn partial(errors: &[ParseError], message: Map) -> Map {
    let mut members = Map::new();
    lines::write_errors(errors, &mut members);
    members.insert("message".to_owned(), Value::Object(message));
    members
}

/// A response that is parsed piece by piece, each event written as it happens, and after each piece the state, when there is the
/// template for it.
struct Following<'a, W> {
    session: Session,
    name: &'a str,
    states: Option<&'a ResponseTemplate>,
    /// The form of the deltas that are written in the place of events.
    deltas: Option<Protocol>,
    out: W,
    /// How many regions did not parse.
    broken: usize,
    progress: Progress,
}

impl<W: Write> Following<'_, W> {
    /// Parses all of a response; returns its length in bytes.
    fn follow(&mut self, args: &Args, reading: &mut dyn Read, path: &Path) -> Result<usize, Stop> {
        self.begin()?;
        match &args.chunks {
            Some(chunking) => {
                let text = args.read_whole(reading, path)?;
                self.chunks(&text, chunking)
            }
            None => self.pieces(reading, path),
        }
    }

    /// The status with which the verb ends, as far as the response was parsed.
    fn status(&self) -> Status {
        if self.broken == 0 && !self.session.has_errors() {
            Status::Done
        } else {
            Status::Found
        }
    }

    /// Tells the events of the prefix.
    fn begin(&mut self) -> std::io::Result<()> {
        match self.deltas {
            None => {
                for event in self.session.initial_events() {
                    self.out.write_all(wire::line(event.to_map()).as_bytes())?;
                }
            }
            Some(_) => {
                for delta in self.session.initial_deltas() {
                    write_delta(&mut self.out, delta)?;
                }
            }
        }
        let name = std::mem::replace(&mut self.name, PREFIX);
        self.feed("")?;
        self.name = name;
        Ok(())
    }

    /// Parses a response that is there, in chunks; returns its length in bytes.
    fn chunks(&mut self, text: &str, chunking: &Chunking) -> Result<usize, Stop> {
        let ends = chunking
            .ends(text, &[])
            .map_err(|error| Problem::failed("chunks", error.to_string()))?;
        for chunk in chunking::chunks(text, &ends) {
            self.feed(chunk)?;
        }
        Ok(text.len())
    }

    /// Parses a response as it arrives; returns its length in bytes.
    fn pieces(&mut self, reading: &mut dyn Read, path: &Path) -> Result<usize, Stop> {
        let mut decoder = Utf8Decoder::default();
        // The bytes that the decoder has not returned yet: a character's beginning.
        let mut waiting: Vec<u8> = Vec::new();
        let mut decoded = 0;
        let mut buffer = vec![0; PIECE];
        loop {
            let piece = input::read_piece(reading, &mut buffer)
                .map_err(|error| input::unreadable(path, &error))?;
            if piece.is_empty() {
                break;
            }
            waiting.extend_from_slice(piece);
            let (text, error) = match decoder.push(piece) {
                Ok(text) => (text, None),
                Err(error) => {
                    let valid = &waiting[..error.offset - decoded];
                    (String::from_utf8_lossy(valid).into_owned(), Some(error))
                }
            };
            decoded += text.len();
            waiting.drain(..text.len());
            self.feed(&text)?;
            if self.session.has_halted() {
                // Nothing of what is still to come would be parsed.
                break;
            }
            if let Some(error) = error {
                return Err(bad_utf8(self.name, &error.to_string()).into());
            }
        }
        if !self.session.has_halted()
            && let Err(error) = decoder.finish()
        {
            return Err(bad_utf8(self.name, &error.to_string()).into());
        }
        Ok(decoded)
    }

    /// Feeds text and writes what happens, so that all of it can be seen before more is read.
    fn feed(&mut self, text: &str) -> std::io::Result<()> {
        let mut result = Ok(());
        let (out, deltas) = (&mut self.out, self.deltas);
        self.session
            .feed(text, &mut |step| write_step(out, step, deltas, &mut result));
        result?;
        self.write_state()?;
        self.out.flush()?;
        self.session.take_strays();
        self.tell();
        Ok(())
    }

    /// Tells people of the regions that did not parse since the last time, as long as it is not too many. They are not kept:
    /// what a stream takes does not depend on how much of it is broken.
    fn tell(&mut self) {
        let errors = self.session.take_errors();
        if self.broken < problem::MANY && !errors.is_empty() {
            let tell = || show(&errors, self.name, None, usize::MAX);
            self.progress.aside(tell);
        }
        self.broken += errors.len();
    }

    fn write_state(&mut self) -> std::io::Result<()> {
        let Some(template) = self.states else {
            return Ok(());
        };
        let passed = self.session.take_delimiters();
        let line = state::members(&self.session.snapshot(), &passed, template);
        self.out.write_all(wire::line(line).as_bytes())
    }

    /// Ends the response, so many bytes long, and writes the message.
    fn end(mut self, length: usize) -> Result<Status, Stop> {
        let mut result = Ok(());
        let (out, deltas) = (&mut self.out, self.deltas);
        self.session
            .finalize(&mut |step| write_step(out, step, deltas, &mut result));
        result?;
        self.write_state()?;
        let ended = self.session.stop();
        drop(self.progress);
        if self.broken < problem::MANY {
            show(&ended.errors, self.name, None, length);
        }
        ended.strays.tell(self.name, None);
        let (kind, status) = if self.broken == 0 && ended.errors.is_empty() {
            ("message", Status::Done)
        } else {
            ("partial_message", Status::Found)
        };
        // A protocol of others has no line for it.
        if self
            .deltas
            .is_some_and(|protocol| protocol != Protocol::Growth)
        {
            self.out.flush()?;
            return Ok(status);
        }
        let mut line = wire::object([
            ("type", Value::from(kind)),
            ("message", Value::Object(ended.message)),
        ]);
        ended.strays.write(&mut line);
        wire::write(&mut self.out, &Value::Object(line))?;
        self.out.write_all(b"\n")?;
        self.out.flush()?;
        Ok(status)
    }
}

fn write_step(
    out: &mut dyn Write,
    step: Step<'_>,
    deltas: Option<Protocol>,
    result: &mut std::io::Result<()>,
) {
    if result.is_err() {
        return;
    }
    *result = match step {
        Step::Delta(delta) => write_delta(out, delta),
        Step::Event(_) if deltas.is_some() => Ok(()),
        Step::Error(_) if deltas.is_some_and(|protocol| protocol != Protocol::Growth) => Ok(()),
        Step::Event(event) => write_event(out, &event),
        Step::Error(error) => write_line(out, "error", "error", error.to_map()),
    };
}

/// An event on a line. The value of a region may be long, and is not copied.
fn write_event(out: &mut dyn Write, event: &Event<'_>) -> std::io::Result<()> {
    let Event::RegionClose { field, value } = event else {
        return out.write_all(wire::line(event.to_map()).as_bytes());
    };
    let (kind, field) = (
        event.type_name(),
        escape::json(&json::quote(field)).into_owned(),
    );
    write!(
        out,
        "{{\"type\": \"{kind}\", \"field\": {field}, \"value\": "
    )?;
    wire::write(out, value)?;
    out.write_all(b"}\n")
}

/// A delta, which is an object in every form, on a line.
fn write_delta(out: &mut dyn Write, delta: Value) -> std::io::Result<()> {
    let delta = match delta {
        Value::Object(_) => delta,
        other => Value::Object(wire::object([("delta", other)])),
    };
    wire::write(out, &delta)?;
    out.write_all(b"\n")
}

/// The names of the forms of deltas.
fn protocol() -> impl clap::builder::TypedValueParser<Value = Protocol> {
    use clap::builder::TypedValueParser as _;
    let names = Protocol::ALL.map(Protocol::name);
    clap::builder::PossibleValuesParser::new(names).try_map(|name| name.parse())
}

fn write_line(out: &mut dyn Write, kind: &str, key: &str, members: Map) -> std::io::Result<()> {
    let line = wire::object([("type", Value::from(kind)), (key, Value::Object(members))]);
    wire::write(out, &Value::Object(line))?;
    out.write_all(b"\n")
}

fn bad_utf8(name: &str, message: &str) -> Problem {
    Problem::failed("invalid-utf8", message).about(Document {
        name: name.to_owned(),
        text: None,
    })
}

/// The name of the prefix in messages.
const PREFIX: &str = "the prefix";

/// Returns true if the text that does not parse stands in the prefix, though that shows only in the response: there is such a text, and
/// nothing of the response belongs to it.
fn is_of_prefix(error: &ParseError) -> bool {
    error.span == Some(0..0) && error.raw.as_ref().is_some_and(|raw| !raw.is_empty())
}

/// Tells people why regions did not parse. Without the `text`, which a stream no longer has, the byte ranges must do;
/// `length` is the response's in bytes.
fn show(errors: &[ParseError], name: &str, text: Option<&str>, length: usize) {
    let mut blocks: Vec<String> = errors
        .iter()
        .take(problem::MANY)
        .map(|error| match is_of_prefix(error) {
            true => region_problem(error, PREFIX, None, usize::MAX),
            false => region_problem(error, name, text, length),
        })
        .map(|problem| problem.render(width::of_messages()))
        .collect();
    blocks.extend(problem::more(errors.len()));
    if !blocks.is_empty() {
        output::tell_always(&blocks.join("\n"));
    }
}

/// The argument that raises the limit which was reached, if one does.
fn raised(error: &ParseError) -> Option<String> {
    let parser::ErrorKind::Limit(limit) = error.kind else {
        return None;
    };
    let hint = match limit {
        LimitKind::Regions => "--max-regions allows more, if there is memory for them",
        LimitKind::RegionBytes | LimitKind::HeldBytes => {
            "--max-response allows more, if there is memory for it"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn region_problem(error: &ParseError, name: &str, text: Option<&str>, length: usize) -> Problem {
    let mut diagnostic = Diagnostic::error(error.kind.name(), &*error.message);
    diagnostic.place.span = error.span.clone();
    let hints = error.hint.clone().into_iter().chain(raised(error));
    let hints: Vec<String> = hints.collect();
    diagnostic.hint = (!hints.is_empty()).then(|| hints.join("; "));
    let mut problem = Problem::of(diagnostic).about(Document {
        name: name.to_owned(),
        text: text.map(str::to_owned),
    });
    if let (Some(field), Some(span)) = (&error.field, &error.span)
        && name != PREFIX
    {
        let range = format!("field `{field}`, bytes {} to {}", span.start, span.end);
        problem = problem.with_note(range);
        if span.end == length {
            problem = problem.with_note("the response ends inside this region");
        }
    }
    if let Some(raw) = &error.raw {
        problem = problem.with_note(format!("raw text: {}", escape::short(raw, RAW)));
    }
    problem
}
