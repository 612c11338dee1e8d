//! `obverse propose`: the folder for a pull request that adds a response template to a model.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;

use obverse::check;
use obverse::derive::{self, Derivation, Finding, KindVerdict, Options, Report, Verdict};
use obverse::diagnostic::Severity;
use obverse::hub::ModelId;
use obverse::parser;
use obverse::response_template::{Engine, ResponseTemplate, config};
use obverse::value::{Value, json};

use super::derive::derive_problem;
use super::problem::{Document, Problem};
use super::progress::Progress;
use super::quoted::{block, code, prose, shell};
use super::replace::{make_folder, replace_or_force};
use super::shape::ShapeArgs;
use super::source::SourceArgs;
use super::status::Status;
use super::stop::Stop;
use super::{engine, escape, input, output, wire};

/// The files of the folder.
const CONFIG: &str = "tokenizer_config.json";
const REQUEST: &str = "PULL_REQUEST.md";
const FIXTURES: &str = "fixtures";

/// The title of the request.
const TITLE: &str = "Add a response template";

/// Make the folder for a pull request that adds a response template to a model
///
/// A response template is derived from SOURCE. DIR then has the model's tokenizer_config.json with it, in which nothing else is changed; PULL_REQUEST.md, the
/// text of the request: what was derived, how it was proved, what was not, and how to check it; and fixtures, by which `obverse check DIR` does.
///
/// Nothing is sent anywhere. The command that opens the pull request is written to standard output, with --format json the verdict and the paths too. Exit status 1 where the response template is not proved.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A model folder, its tokenizer_config.json, or org/model[@REVISION], a model of the Hub
    #[arg(value_name = "SOURCE")]
    source: PathBuf,

    /// The folder to make
    #[arg(long, value_name = "DIR", default_value = "proposal")]
    out_dir: PathBuf,

    /// The model on the Hub, where SOURCE is not its name
    #[arg(long, value_name = "ORG/MODEL", value_parser = model_name)]
    model: Option<String>,

    /// Keep to what ENGINE takes: transformers, vllm or sglang; may be given several times
    #[arg(long = "for", value_name = "ENGINE", value_parser = engine::parser(), hide_possible_values = true)]
    engines: Vec<Engine>,

    /// Write into a folder that is there already
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    shape: ShapeArgs,

    #[command(flatten)]
    source_args: SourceArgs,
}

const EXAMPLES: &str = "\
Examples:
  obverse propose org/model                       from the Hub, or from its cache
  obverse propose models/kite --model org/kite    from a folder";

/// The name of a model, without a revision: the request is made to the one that SOURCE names.
fn model_name(text: &str) -> Result<String, String> {
    let id = ModelId::from_str(text).map_err(|error| error.to_string())?;
    Ok(id.repo().to_owned())
}

/// Derives, and writes the folder.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    refuse_others(&args.out_dir, args.force)?;
    let opened = args.source_args.open(&args.source)?;
    let Some(path) = opened.source.config_path.clone() else {
        let message = format!("{} has no {CONFIG} to add to", input::name(&args.source));
        let hint = "give the tokenizer_config.json, the model folder or the model's name as SOURCE";
        return Err(Problem::failed("no-config", message).with_hint(hint).into());
    };
    let text = input::read_text(&path)?;
    let invalid = |invalid: obverse::response_template::Invalid| {
        let document = Document::new(input::name(&path), text.clone());
        Problem::all(invalid.into_diagnostics()).about(document)
    };
    // One that is there and is wrong is replaced like any other.
    let before = config::read(&text).ok().flatten();
    let options = Options::default()
        .clock(args.source_args.date)
        .engines(args.engines.clone());
    let derive = || derive::derive(&opened.source, &options);
    let derivation = Progress::during(&input::name(&opened.source.path), derive)
        .map_err(|error| derive_problem(&error, &opened))?;
    let document = derivation.document.to_value();
    if before
        .as_ref()
        .is_some_and(|before| before.document == document)
    {
        if args.shape.is_json() {
            let report = report(&model(args), &derivation.report, None)?;
            output::print_json(&wire::pretty(&report))?;
        } else {
            output::tell(&format!(
                "{} has this response template already: there is nothing to propose\n",
                input::name(&path)
            ));
        }
        return Ok(Status::Done);
    }
    let written = config::write(&text, &document).map_err(invalid)?;
    let template = ResponseTemplate::from_value(&document);
    let template = Arc::new(template.map_err(|invalid| Problem::all(invalid.into_diagnostics()))?);
    let model = model(args);
    let request = Request {
        model: &model,
        derivation: &derivation,
        template: &template,
        engines: &args.engines,
        replaces: before.is_some(),
    };
    let text = request.text();
    make_folder(&args.out_dir)?;
    replace_or_force(&args.out_dir.join(CONFIG), &written, args.force)?;
    replace_or_force(&args.out_dir.join(REQUEST), &text, args.force)?;
    let mut kept = Vec::new();
    for scaffold in check::scaffold(&template, &derivation.cases) {
        let Some(fixture) = scaffold.fixture else {
            continue;
        };
        let folder = args.out_dir.join(FIXTURES).join(scaffold.name);
        fixture
            .write(&folder)
            .map_err(|error| input::fixture_problem(&error))?;
        kept.push(scaffold.name);
    }
    let command = command(&model, revision(args).as_deref(), &args.out_dir);
    if args.shape.is_json() {
        let made = Made {
            folder: &args.out_dir,
            fixtures: &kept,
            command: &command,
        };
        let report = report(&model, &derivation.report, Some(&made))?;
        output::print_json(&wire::pretty(&report))?;
    } else {
        tell(args, &derivation.report, &kept);
        output::print_text(&format!("{command}\n"))?;
    }
    Ok(if derivation.report.verified {
        Status::Done
    } else {
        Status::Found
    })
}

/// That the folder has something in it.
fn refuse_others(folder: &Path, force: bool) -> Result<(), Problem> {
    let is_empty = std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if force || is_empty {
        return Ok(());
    }
    let message = format!("there is something in {} already", input::name(folder));
    let hint = "name another folder with --out-dir; --force writes into this one";
    Err(Problem::failed("exists", message).with_hint(hint))
}

/// The name of the model on the Hub, as far as it is known.
fn model(args: &Args) -> String {
    let given = args.model.clone();
    let of_source = || ModelId::from_str(args.source.to_str()?).ok();
    let is_on_disk = args.source.exists();
    given
        .or_else(|| Some(of_source().filter(|_| !is_on_disk)?.repo().to_owned()))
        .unwrap_or_else(|| "ORG/MODEL".to_owned())
}

/// The revision of the model that was asked for, to which the pull request is made; `None` for the one that is meant without.
fn revision(args: &Args) -> Option<String> {
    let id = ModelId::from_str(args.source.to_str()?).ok();
    let id = id.filter(|id| !args.source.exists() && id.revision() != "main");
    Some(id?.revision().to_owned())
}

/// The command that opens the pull request.
fn command(model: &str, revision: Option<&str>, folder: &Path) -> String {
    let file = |name: &str| shell(&folder.join(name).to_string_lossy());
    let revision = revision.map_or_else(String::new, |name| format!(" --revision {}", shell(name)));
    format!(
        "hf upload {} {} {CONFIG}{revision} --create-pr --commit-message '{TITLE}' --commit-description \"$(cat {})\"",
        shell(model),
        file(CONFIG),
        file(REQUEST)
    )
}

/// The folder that was made.
struct Made<'a> {
    folder: &'a Path,
    fixtures: &'a [&'a str],
    command: &'a str,
}

/// The outcome for programs; nothing is made for a model that has the response template already.
fn report(model: &str, report: &Report, made: Option<&Made<'_>>) -> Result<Value, Problem> {
    let strings = |items: Vec<String>| {
        let items = items.into_iter().map(Value::from);
        Value::Array(items.collect())
    };
    let within = |made: &Made<'_>, name: &str| made.folder.join(name).display().to_string();
    let files = made.map(|made| [CONFIG, REQUEST].map(|name| within(made, name)).to_vec());
    let fixtures = made.map(|made| {
        let folder = Path::new(FIXTURES);
        let named = made.fixtures.iter().map(|name| folder.join(name));
        let named = named.map(|name| within(made, &name.to_string_lossy()));
        named.collect::<Vec<_>>()
    });
    Ok(Value::Object(wire::object([
        ("model", Value::from(model)),
        ("verdict", wire::reported("the verdict", &report.verdict)?),
        ("files", strings(files.unwrap_or_default())),
        ("fixtures", strings(fixtures.unwrap_or_default())),
        (
            "command",
            made.map_or(Value::Null, |made| Value::from(made.command)),
        ),
    ])))
}

/// Tells people what was written.
fn tell(args: &Args, report: &Report, fixtures: &[&str]) {
    let folder = |name: &str| escape::line(&input::name(&args.out_dir.join(name))).into_owned();
    let verdict = match report.verdict {
        Verdict::Proved => "is proved",
        Verdict::ProvedInPart => "is proved in part",
        Verdict::Inexpressible => "cannot say all of the format",
        Verdict::NotProved => "is not proved",
    };
    output::tell(&format!(
        "the response template {verdict}; {} says what that means\n  {}\n  {}  {}\n",
        folder(REQUEST),
        folder(CONFIG),
        folder(FIXTURES),
        fixtures.join(", "),
    ));
    output::tell("read them, and open the pull request with\n");
}

/// The facts that a pull request tells.
struct Request<'r> {
    model: &'r str,
    derivation: &'r Derivation,
    template: &'r Arc<ResponseTemplate>,
    /// The engines that it is for.
    engines: &'r [Engine],
    /// True if the model has another response template.
    replaces: bool,
}

impl Request<'_> {
    /// The text of the request, in Markdown.
    fn text(&self) -> String {
        let report = &self.derivation.report;
        let mut text = format!("# {TITLE}\n\n");
        let fields = self.template.fields().iter();
        let fields: Vec<String> = fields.map(|field| code(&field.name)).collect();
        let verb = if self.replaces {
            "gets another"
        } else {
            "gets a"
        };
        let _ = write!(
            text,
            "`{CONFIG}` {verb} `response_template`: by it transformers (`tokenizer.parse_response`) and TRL turn what the model writes \
             back into a message with {}. {} Nothing else in the file changes.\n\n",
            listed(&fields),
            self.servers()
        );
        let document = self.derivation.document.to_json();
        text.push_str(&block("json", document.trim_end()));
        text.push_str("\n## How it was made\n\n");
        let _ = writeln!(
            text,
            "Derived from the chat template of this repository by Obverse {}, with no knowledge of the model: the chat template is rendered with \
             variants of a conversation, and what differs tells which parts are markers and which are the message's.",
            env!("OBVERSE_VERSION")
        );
        text.push_str("\n## How it was proved\n\n");
        text.push_str(&proof(report));
        text.push_str("\n## What was not\n\n");
        text.push_str(&unproved(report));
        text.push_str("\n## How to check it\n\n");
        let model = code(self.model);
        let _ = write!(
            text,
            "With transformers, once the pull request is there (its number stands in the place of `N`):\n\n{}\n",
            block("python", self.script().trim_end())
        );
        let engines = self.engines.iter().map(|engine| format!(" --for {engine}"));
        let again = format!(
            "obverse derive {}@refs/pr/N{}",
            shell(self.model),
            engines.collect::<String>()
        );
        let _ = write!(
            text,
            "Obverse derives it anew from {model}, and tells where each delimiter comes from:\n\n{}",
            block("sh", &format!("{again} --explain"))
        );
        text
    }

    /// Says which of the servers that read response templates take this one.
    fn servers(&self) -> String {
        let servers = Engine::ALL.into_iter().filter(|engine| engine.is_server());
        let (taking, others): (Vec<Engine>, Vec<Engine>) =
            servers.partition(|engine| engine.check(&self.derivation.document).is_empty());
        let names = |engines: &[Engine]| {
            let names: Vec<String> = engines.iter().map(ToString::to_string).collect();
            listed(&names)
        };
        let reason = others
            .first()
            .and_then(|engine| engine.check(&self.derivation.document).into_iter().next());
        let mut sentences = Vec::new();
        if !taking.is_empty() {
            sentences.push(format!(
                "Of the servers that read it {} {} it.",
                names(&taking),
                if taking.len() == 1 { "takes" } else { "take" }
            ));
        }
        if let (Some(reason), Some(first)) = (reason, others.first()) {
            sentences.push(format!(
                "{} of {} {} less than the format has, and not this one ({}); `obverse derive --for {first}` writes one that {first} takes.",
                if others.len() == 1 { "The parser" } else { "The parsers" },
                names(&others),
                if others.len() == 1 { "takes" } else { "take" },
                prose(&escape::line(&reason.message))
            ));
        }
        sentences.join(" ")
    }

    /// A script that parses a response of the format.
    fn script(&self) -> String {
        // The shortest with a call, if there is one.
        let is_without = |message: &Value| message.get("tool_calls").is_none();
        let cases = self.derivation.cases.iter();
        let wanted = cases.min_by_key(|case| (is_without(&case.message), case.response.len()));
        let python = |value: &Value| obverse::value::python::repr(value);
        let Some(case) = wanted else {
            return String::new();
        };
        // Of a prompt what stands behind the start anchor is all that counts, and tools count where arguments have other types by them.
        let end = case.prefix.char_indices().rev().nth(PROMPT - 1);
        let end = end.map_or(case.prefix.as_str(), |(at, _)| &case.prefix[at..]);
        let is_enough = |prefix: &str, tools: &[Value]| {
            let parsed =
                parser::parse_response(&case.response, Arc::clone(self.template), prefix, tools);
            parsed.is_ok_and(|message| Value::Object(message) == case.message)
        };
        let prefix = [end, case.prefix.as_str()].into_iter();
        let prefix = prefix
            .filter(|prefix| is_enough(prefix, &case.tools))
            .min_by_key(|prefix| prefix.len());
        let prefix = prefix.unwrap_or(&case.prefix);
        let tools = match is_enough(prefix, &[]) {
            true => String::new(),
            false => format!(", tools={}", python(&Value::Array(case.tools.clone()))),
        };
        format!(
            "from transformers import AutoTokenizer\n\n\
             tokenizer = AutoTokenizer.from_pretrained({}, revision=\"refs/pr/N\")\n\
             prefix, response = {}, {}\n\
             print(tokenizer.parse_response(response, prefix=prefix{tools}))\n\
             # {}\n",
            python(&Value::from(self.model)),
            python(&Value::from(prefix)),
            python(&Value::from(case.response.as_str())),
            python(&case.message),
        )
    }
}

/// How many characters of a prompt are shown if they are enough.
const PROMPT: usize = 60;

/// The messages that were tried and came back.
fn proof(report: &Report) -> String {
    let rounds = report.rounds;
    let mut text = format!(
        "{} messages were rendered by the chat template, and all that can be seen of them came back from their text by the rules of transformers, whole and \
         in chunks, with the same text when they were rendered again; {} responses that were cut short lost nothing that was finished.\n\n\
         | kind of message | tried | came back |\n|---|--:|--:|\n",
        rounds.passed, rounds.cut
    );
    for kind in report.kinds.iter().filter(|kind| kind.rendered) {
        let back = kind.came_back + kind.alike;
        let _ = writeln!(text, "| {} | {} | {back} |", kind.kind.words(), kind.tried);
    }
    text
}

/// How many characters of a text that did not come back are shown.
const SHOWN: usize = 400;

/// The messages that did not come back, the first of each kind of finding, and what no render shows.
fn unproved(report: &Report) -> String {
    let mut text = String::new();
    let silent = report.kinds.iter().filter(|kind| !kind.rendered);
    let silent: Vec<&str> = silent.map(|kind: &KindVerdict| kind.kind.words()).collect();
    if !silent.is_empty() {
        let _ = writeln!(
            text,
            "- Not rendered by the chat template: {}.",
            silent.join(", ")
        );
    }
    let mut told: Vec<(&Finding, usize)> = Vec::new();
    let findings = report.findings.iter();
    for finding in findings.filter(|finding| finding.severity != Severity::Info) {
        let alike = |(known, _): &&mut (&Finding, usize)| known.code == finding.code;
        match told.iter_mut().find(alike) {
            Some((_, count)) => *count += 1,
            None => told.push((finding, 1)),
        }
    }
    for (finding, count) in told {
        let line = finding.text.lines().next().unwrap_or_default();
        let more = match count {
            1 => String::new(),
            _ => format!(" ({} more of this kind)", count - 1),
        };
        let _ = writeln!(
            text,
            "- {} {}{more}",
            code(finding.code),
            prose(&escape::line(line))
        );
        let Some(found) = &finding.counterexample else {
            continue;
        };
        for (name, shown) in [
            ("response", found.response.clone()),
            ("expected", json::to_string(&found.expected)),
            ("parsed", json::to_string(&found.parsed)),
        ] {
            let _ = writeln!(text, "  - {name}: {}", code(&escape::short(&shown, SHOWN)));
        }
    }
    if text.is_empty() {
        text.push_str("Nothing that the chat template renders was lost. What a model writes otherwise than its chat template renders it is not proved by that.\n");
    }
    text
}

/// Names in a sentence.
fn listed(names: &[String]) -> String {
    match names {
        [] => "its fields".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
