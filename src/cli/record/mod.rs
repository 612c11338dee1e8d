//! `obverse record`: a fixture out of a response while it is written.

mod lines;
mod outcomes;
#[cfg(feature = "http")]
mod server;
#[cfg(feature = "http")]
mod suite;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obverse::check::{self, Fixture, FixtureFile, Prompt, Setting, template_around};
use obverse::parser::Utf8Decoder;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

use super::given::{self, GivenArgs};
use super::problem::{self, Document, Problem};
use super::project::{self, ProjectArgs, Workspace};
use super::replace::apply;
use super::shape::ShapeArgs;
use super::status::Status;
use super::stop::Stop;
use super::template::{self, Opened};
use super::{escape, input, output, render, source, wire};
use outcomes::Outcomes;

/// Record a response as a fixture, in the chunks in which it arrives
///
/// The response is read from standard input, as raw text or, with --jsonl, as JSON lines or server-sent events; or a server is
/// asked for it. What the response template of the fixture makes of it is recorded as expected.json and written to
/// standard output: read it; with --format json an object with what became of each fixture stands there instead. Exit status 1 when the response does not parse, or when it broke off; what there is of it is
/// recorded all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder to make the fixture in, or the .jsonl suite to add it to
    fixture: PathBuf,

    /// Name of the fixture in the suite
    #[arg(long)]
    name: Option<String>,

    /// Read JSON lines or server-sent events: texts, or completions as servers stream them ({"choices": [{"text": ...}]})
    #[arg(long)]
    jsonl: bool,

    /// The conversation so far: a JSON list of messages, or an object with messages and kwargs. The chat template renders it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prefix", "prefix_file"])]
    messages: Option<PathBuf>,

    /// A further variable for the chat template, such as enable_thinking=false
    #[arg(long = "kwarg", value_name = "K=JSON", value_parser = render::kwarg)]
    kwargs: Vec<(String, Value)>,

    #[command(flatten)]
    given: GivenArgs,

    /// The response template, where neither obverse.toml nor the folders around the fixture tell it
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,

    /// Replace the fixture if there is one already
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    shape: ShapeArgs,

    /// Ask the server for responses of every kind (plain, with reasoning, one call, several, long ones, a refusal) and add each to the
    /// suite, without the message: what `obverse derive --responses` learns from
    #[cfg(feature = "http")]
    #[arg(long, requires = "url", conflicts_with_all = ["name", "messages", "prefix", "prefix_file", "template", "force"])]
    suite: bool,

    #[cfg(feature = "http")]
    #[command(flatten)]
    server: server::ServerArgs,

    #[command(flatten)]
    project: ProjectArgs,
}

#[cfg(feature = "http")]
const EXAMPLES: &str = "\
Examples:
  my-model | obverse record fixtures/qwen3/greeting
  curl -sN ... | obverse record fixtures/qwen3/greeting --jsonl --messages messages.json
  obverse record fixtures/qwen3/greeting --url http://127.0.0.1:8000/v1 --model qwen3 --messages messages.json
  obverse record fixtures/qwen3/greeting --url https://example.org/v1 --model m --messages m.json --api-key-env API_KEY
  obverse record recorded.jsonl --suite --url http://127.0.0.1:8000/v1 --model qwen3 --chat-template qwen3.jinja
  obverse derive qwen3.jinja --responses recorded.jsonl";

#[cfg(not(feature = "http"))]
const EXAMPLES: &str = "\
Examples:
  my-model | obverse record fixtures/qwen3/greeting
  curl -sN ... | obverse record fixtures/qwen3/greeting --jsonl --messages messages.json";

/// How much is read at once, and so the largest chunk.
const PIECE: usize = 64 * 1024;

/// No response may be longer.
const LONGEST: usize = 64 << 20;

/// How many characters of a text that is in no field are shown.
const SHOWN: usize = 80;

/// A response as it arrived.
#[derive(Debug, Default)]
struct Recording {
    /// None of them empty.
    chunks: Vec<String>,
    size: usize,
    /// True if the server wrote as many tokens as it was to write at most.
    is_limited: bool,
    /// Why it ended before its end, if it did.
    broken: Option<String>,
}

impl Recording {
    /// Takes another chunk. Returns whether there is room for more.
    fn push(&mut self, chunk: String) -> bool {
        if self.size + chunk.len() > LONGEST {
            self.broken = Some(format!(
                "it is longer than {} MiB, which is the most that a fixture takes; `obverse parse --max-response` parses longer ones",
                LONGEST >> 20
            ));
            return false;
        }
        self.size += chunk.len();
        if !chunk.is_empty() {
            self.chunks.push(chunk);
        }
        true
    }
}

/// Records.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let workspace = args.project.open()?;
    #[cfg(feature = "http")]
    if args.suite {
        return record_suite(args, &workspace);
    }
    if !args.kwargs.is_empty() && args.messages.is_none() {
        let message =
            "--kwarg is for the chat template that renders --messages, and there are none";
        return Err(Problem::failed("usage", message).into());
    }
    let place = Destination::of(args)?;
    let mut fixture = Fixture {
        prompt: prompt(args)?,
        tools: args.given.tools()?,
        ..Fixture::default()
    };
    // Mistakes in these are told before anything is asked or read.
    let template = template(args, &workspace)?;
    let chat = match &template {
        Some(found) => workspace.chat_template(&found.path, &found.text)?,
        None => workspace.given.clone(),
    };
    if let Some(chat) = &chat {
        source::warn_of_ignored(chat, &args.kwargs.iter().cloned().collect());
    }
    let prefix = match fixture.prefix(chat.as_ref(), args.project.clock()) {
        Ok(prefix) => prefix.into_owned(),
        Err(error) => {
            return Err(Problem::failed("no-prompt", error.to_string())
                .with_hint("give the chat template with --chat-template, or the prompt as text with --prefix-file")
                .into());
        }
    };
    if let Some(found) = &template
        && !given::has_anchor(&found.template, &prefix)
    {
        given::warn_without_anchor(&found.template);
    }
    let mut recording = record(args, &fixture.prompt, &prefix)?;
    if recording.chunks.is_empty() {
        let why = recording
            .broken
            .unwrap_or_else(|| "no text has arrived".to_owned());
        return Err(Problem::failed(
            "nothing-recorded",
            format!("there is nothing to record: {}", escape::line(&why)),
        )
        .into());
    }
    fixture.response = recording.chunks.concat();
    let told = format!(
        "{} in {}",
        crate::cli::words::count(fixture.response.len(), "byte"),
        crate::cli::words::count(recording.chunks.len(), "chunk")
    );
    fixture.chunks = Some(std::mem::take(&mut recording.chunks));
    let mut outcomes = Outcomes::new(args.shape.is_json());
    let mut status = Status::Done;
    let parsed = match &template {
        Some(found) => {
            let setting = Setting::new(&found.template, &prefix, &fixture.tools);
            let whole = setting.replay([fixture.response.as_str()]);
            if let Some(error) = whole.errors.first() {
                status = Status::Found;
                outcomes.tell(&format!(
                    "it does not parse: {}\n",
                    escape::line(&error.to_string())
                ));
            }
            // A message is recorded as expected although text of the response is lost, so that is told.
            for lost in whole.unclaimed.iter().take(problem::MANY) {
                outcomes.tell(&format!(
                    "bytes {} to {}: {}: {}\n",
                    lost.span.start,
                    lost.span.end,
                    lost.fate(),
                    escape::short(&lost.text, SHOWN)
                ));
            }
            fixture = fixture.with(&whole);
            Some(whole)
        }
        None => None,
    };
    place.keep(&fixture)?;
    let name = place.shown();
    outcomes.recorded(&name, &fixture, &recording, parsed.as_ref());
    outcomes.tell(&format!("recorded {name}: {told}\n"));
    if tell_end(&outcomes, &fixture.response, &recording) == Status::Found {
        status = Status::Found;
    }
    match parsed {
        Some(parsed) if !args.shape.is_json() => output::print_json(&wire::line(parsed.message))?,
        Some(_) => {}
        None => outcomes.tell(
            "no response template belongs to it, so that it records no message; name one with --template, or in obverse.toml\n",
        ),
    }
    outcomes.end()?;
    Ok(status)
}

/// Asks for a response of every kind, and adds those to the suite that are not there yet.
#[cfg(feature = "http")]
fn record_suite(args: &Args, workspace: &Workspace<'_>) -> Result<Status, Stop> {
    let path = args.fixture.as_path();
    if !check::is_suite_path(path) {
        let message = format!("{} is no suite", input::name(path));
        let hint = "name a .jsonl file, to which each response is added as a line";
        return Err(Problem::failed("usage", message).with_hint(hint).into());
    }
    let chat = match template(args, workspace)? {
        Some(found) => workspace.chat_template(&found.path, &found.text)?,
        None => workspace.given.clone(),
    };
    let Some(server) = args.server.server()? else {
        return Err(Problem::failed("usage", "--suite needs a server: --url and --model").into());
    };
    let kwargs: Map = args.kwargs.iter().cloned().collect();
    if let Some(chat) = &chat {
        source::warn_of_ignored(chat, &kwargs);
    }
    let mut status = Status::Done;
    let mut outcomes = Outcomes::new(args.shape.is_json());
    let (mut has_come, mut failed) = (false, Vec::new());
    for (name, mut fixture) in suite::fixtures(&kwargs, &args.given.tools()?) {
        let place = Destination::Suite(path, name);
        if place.is_taken(false)? {
            outcomes.there(&place.shown());
            continue;
        }
        let prefix = match fixture.prefix(chat.as_ref(), args.project.clock()) {
            Ok(prefix) => prefix.into_owned(),
            // A chat template may refuse tools, say; what it takes is asked for all the same.
            Err(error) if chat.is_some() => {
                status = Status::Found;
                outcomes.left_out(&place.shown(), &error.to_string());
                continue;
            }
            Err(error) => {
                return Err(Problem::failed("no-prompt", error.to_string())
                    .with_hint("give the chat template with --chat-template")
                    .into());
            }
        };
        let mut recording = match server.record(&prefix) {
            Ok(recording) => recording,
            // One request may be too much for a server that answers the others. What it says twice before anything has come, it says
            // to all of them.
            Err(problem) => {
                let why = problem.message().to_owned();
                let again = failed
                    .iter()
                    .any(|before: &Problem| before.message() == why);
                if again && !has_come {
                    return Err(problem.into());
                }
                outcomes.left_out(&place.shown(), &why);
                failed.push(problem);
                continue;
            }
        };
        has_come = true;
        if recording.chunks.is_empty() {
            status = Status::Found;
            let broken = recording.broken.as_deref();
            let why = broken.unwrap_or("no text has arrived");
            outcomes.left_out(&place.shown(), why);
            continue;
        }
        fixture.response = recording.chunks.concat();
        fixture.chunks = Some(std::mem::take(&mut recording.chunks));
        place.keep(&fixture)?;
        let (name, bytes) = (place.shown(), fixture.response.len());
        outcomes.recorded(&name, &fixture, &recording, None);
        outcomes.tell(&format!("recorded {name}: {bytes} bytes\n"));
        if tell_end(&outcomes, &fixture.response, &recording) == Status::Found {
            status = Status::Found;
        }
    }
    match failed.pop() {
        None => {
            outcomes.end()?;
            Ok(status)
        }
        Some(problem) if !has_come => Err(problem.into()),
        Some(_) => {
            outcomes.tell(&format!(
                "{} not answered; the same command asks for what is missing\n",
                crate::cli::words::count(failed.len() + 1, "request")
            ));
            outcomes.end()?;
            Ok(Status::Found)
        }
    }
}

/// Tells how a response ended, if not as it should.
fn tell_end(outcomes: &Outcomes, response: &str, recording: &Recording) -> Status {
    if recording.is_limited {
        outcomes.tell("it ended at the limit of tokens\n");
    }
    if response.contains(char::REPLACEMENT_CHARACTER) {
        outcomes.tell(
            "it has U+FFFD in it: whoever wrote it cut a character, or wrote one that is none\n",
        );
    }
    let Some(why) = &recording.broken else {
        return Status::Done;
    };
    outcomes.tell(&format!("it broke off: {}\n", escape::line(why)));
    Status::Found
}

/// Returns true if a folder below this one is a fixture.
fn has_fixtures(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut below = entries.map(|entry| entry.path());
    below.any(|path| path.join("response.txt").is_file())
}

/// Where the fixture is kept.
enum Destination<'a> {
    /// In a folder of its own.
    Folder(&'a Path),
    /// As the line of that name.
    Suite(&'a Path, &'a str),
}

impl<'a> Destination<'a> {
    fn of(args: &'a Args) -> Result<Self, Problem> {
        let path = args.fixture.as_path();
        let usage = |message: &str| Err(Problem::failed("usage", message));
        let place = match &args.name {
            Some(name) if check::is_suite_path(path) => Self::Suite(path, name),
            None if check::is_suite_path(path) => {
                return usage("what is added to a suite needs a --name");
            }
            Some(_) => return usage("--name is for suites; a folder has its own name"),
            None => Self::Folder(path),
        };
        if let Self::Folder(path) = place {
            let name = input::name(path);
            if path.is_file() {
                return usage(&format!(
                    "{name} is a file; a fixture is a folder that is made, or the line of a .jsonl suite"
                ));
            }
            if has_fixtures(path) {
                let problem = usage(&format!("{name} has fixtures in it, and is none itself"));
                return problem.map_err(|problem: Problem| {
                    problem.with_hint(format!(
                        "name a folder that is made in it, such as {name}/recorded"
                    ))
                });
            }
        }
        if place.is_taken(args.force)? {
            let hint = "take another name, or replace it with --force";
            let message = format!("there is a fixture already: {}", place.shown());
            return Err(Problem::failed("exists", message).with_hint(hint));
        }
        Ok(place)
    }

    /// Returns true if there is a fixture in its place that is not to be replaced.
    fn is_taken(&self, force: bool) -> Result<bool, Problem> {
        Ok(match self {
            _ if force => false,
            Self::Folder(path) => path.join("response.txt").exists(),
            Self::Suite(path, name) => {
                let text = if path.exists() {
                    input::read_text(path)?
                } else {
                    String::new()
                };
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                text.lines().any(|line| is_called(line, name))
            }
        })
    }

    fn keep(&self, fixture: &Fixture) -> Result<(), Problem> {
        let changes = match self {
            Self::Folder(path) => fixture.changes(path),
            Self::Suite(path, name) => {
                let there = if path.exists() {
                    input::find_fixtures(path)?
                } else {
                    Vec::new()
                };
                let is_it = |found: &FixtureFile| {
                    let line = found.line.as_ref();
                    line.is_some_and(|(_, line)| is_called(line, name))
                };
                match there.into_iter().find(is_it) {
                    Some(found) => check::changes(&[(found, fixture.clone())]),
                    None => check::additions(path, &[(name, fixture.clone())])
                        .map(|added| added.into_iter().map(|(change, _)| change).collect()),
                }
            }
        };
        changes
            .map_err(|error| input::fixture_problem(&error))?
            .iter()
            .try_for_each(apply)
    }

    /// Its name in messages.
    fn shown(&self) -> String {
        match self {
            Self::Folder(path) => input::name(path),
            Self::Suite(path, name) => format!("{} {}", input::name(path), escape::line(name)),
        }
    }
}

/// Returns true if a suite's line has that name.
fn is_called(line: &str, name: &str) -> bool {
    json::parse(line).is_ok_and(|line| line.get("name").and_then(Value::as_str) == Some(name))
}

/// The response, from where the arguments say; `prefix` is the prompt as text.
fn record(args: &Args, prompt: &Prompt, prefix: &str) -> Result<Recording, Problem> {
    #[cfg(feature = "http")]
    if let Some(server) = args.server.server()? {
        if *prompt == Prompt::Untold {
            let message = "a server needs a prompt to write after";
            return Err(Problem::failed("usage", message).with_hint(
                "give a conversation with --messages, or text with --prefix or --prefix-file",
            ));
        }
        return server.record(prefix);
    }
    #[cfg(not(feature = "http"))]
    let _ = (prompt, prefix);
    let path = Path::new("-");
    let mut reading = input::open(path)?;
    let recorded = if args.jsonl {
        lines::read(reading.as_mut())
    } else {
        text(reading.as_mut())
    };
    recorded.map_err(|error| input::unreadable(path, &error))
}

/// Raw text. What is no text ends it.
fn text(reading: &mut dyn Read) -> std::io::Result<Recording> {
    let mut recording = Recording::default();
    let mut decoder = Utf8Decoder::default();
    let mut buffer = vec![0; PIECE];
    loop {
        let piece = input::read_piece(reading, &mut buffer)?;
        if piece.is_empty() {
            recording.broken = decoder.finish().err().map(|error| error.to_string());
            return Ok(recording);
        }
        match decoder.push(piece) {
            Ok(chunk) => {
                if !recording.push(chunk) {
                    return Ok(recording);
                }
            }
            Err(error) => {
                if recording.push(decoder.before_error().to_owned()) {
                    recording.broken = Some(error.to_string());
                }
                return Ok(recording);
            }
        }
    }
}

/// The prompt that the model was given.
fn prompt(args: &Args) -> Result<Prompt, Problem> {
    let Some(path) = &args.messages else {
        let text = args.given.prefix()?;
        return Ok(text.map_or(Prompt::Untold, Prompt::Text));
    };
    let (mut conversation, _) = input::read_json(path)?;
    if !args.kwargs.is_empty() {
        let mut kwargs = match conversation.get("kwargs") {
            Some(Value::Object(kwargs)) => kwargs.clone(),
            _ => Map::new(),
        };
        kwargs.extend(args.kwargs.iter().cloned());
        let list = conversation
            .get("messages")
            .unwrap_or(&conversation)
            .clone();
        conversation = Value::Object(wire::object([
            ("messages", list),
            ("kwargs", kwargs.into()),
        ]));
    }
    // The fixture says what a conversation must be.
    let line = wire::object([("response", "".into()), ("messages", conversation)]);
    let read = Fixture::from_map(line).map_err(|wrong| {
        Problem::failed("wrong-type", wrong.to_string()).about(Document {
            name: input::name(path),
            text: None,
        })
    })?;
    Ok(read.prompt)
}

/// A response template and where it comes from.
struct NamedTemplate {
    path: PathBuf,
    text: String,
    template: Arc<ResponseTemplate>,
}

/// The response template that the fixture belongs to.
fn template(args: &Args, workspace: &Workspace<'_>) -> Result<Option<NamedTemplate>, Problem> {
    let place = std::path::absolute(&args.fixture).unwrap_or_else(|_| args.fixture.clone());
    let owns = |template: &PathBuf| {
        let fixtures = workspace.project.as_ref()?.fixture_place(template)?;
        let fixtures = std::path::absolute(fixtures).ok()?;
        place.starts_with(fixtures).then(|| template.clone())
    };
    let found = args
        .template
        .clone()
        .or_else(|| workspace.response_templates().iter().find_map(owns))
        .or_else(|| template_around(&place));
    let Some(path) = found else { return Ok(None) };
    let path = project::shown(&path);
    let Opened { text, loaded, .. } = template::open(&path)?;
    Ok(Some(NamedTemplate {
        path,
        text,
        template: Arc::new(loaded.template),
    }))
}

/// One line of JSON, for messages.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 200;
    escape::short(text.trim(), SHOWN)
}

/// The message of an error as servers write it: `{"error": {"message": ...}}`, `{"error": ...}` or `{"message": ...}`.
fn server_error(value: &Value) -> Option<String> {
    let member = |key: &str| value.get(key).filter(|error| **error != Value::Null);
    let error = member("error").or_else(|| member("detail")).or_else(|| {
        // vLLM's own form.
        (value.get("object")?.as_str()? == "error").then_some(value)
    })?;
    let message = error.get("message").unwrap_or(error);
    Some(
        message
            .as_str()
            .map_or_else(|| json::to_string(message), str::to_owned),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_fixture_cannot_hold_is_told_with_what_parses_it() {
        let mut recording = Recording::default();
        assert!(recording.push("kept".to_owned()));
        assert!(!recording.push(" ".repeat(LONGEST)));
        let told = recording.broken.unwrap_or_default();
        assert!(told.contains("64 MiB"), "{told}");
        assert!(told.contains("`obverse parse --max-response`"), "{told}");
        assert_eq!(recording.chunks, ["kept"]);
    }
}
