//! The things that the debugger is started on.

use std::path::{Path, PathBuf};

use obverse::chat_template::ChatTemplateSource;
use obverse::check;
use obverse::derive;
use obverse::hub::Wanted;
use obverse::tui::{Derivation, Sample, Setup, Template, session};
use obverse::value::Value;

use super::Args;
use crate::cli::derive::{derive_problem, messages};
use crate::cli::given;
use crate::cli::hub;
use crate::cli::input;
use crate::cli::problem::Problem;
use crate::cli::progress::Progress;
use crate::cli::project;
use crate::cli::template;

/// The contents of the template's file.
struct Opened {
    setup: Setup,
    /// The chat template that belongs to it.
    chat: Option<ChatTemplateSource>,
    /// The place of its fixtures, where obverse.toml names one.
    recorded: Option<PathBuf>,
}

/// The template, the samples, and how they are cut.
pub(super) fn setup(args: &Args, live: bool) -> Result<Setup, Problem> {
    let mut opened = template(args)?;
    let prefix = args.given.prefix()?;
    let tools = args.given.tools()?;
    let mut samples = Vec::new();
    if let Some(path) = &args.follow {
        samples.push(response(path, live)?);
    }
    for path in &args.responses {
        if path.is_dir() || check::is_suite_path(path) {
            samples.extend(fixtures(args, path, opened.chat.as_ref())?);
        } else {
            samples.push(response(path, live && input::is_stdin(path))?);
        }
    }
    if samples.is_empty()
        && opened.setup.samples.is_empty()
        && let Some(place) = &opened.recorded
    {
        // One that cannot be read is for `obverse check` to tell.
        samples = fixtures(args, place, opened.chat.as_ref()).unwrap_or_default();
    }
    for sample in &mut samples {
        if let Some(prefix) = &prefix {
            sample.prefix.clone_from(prefix);
        }
        if !tools.is_empty() {
            sample.tools.clone_from(&tools);
        }
    }
    let setup = &mut opened.setup;
    // The given ones come before those that came with the template.
    samples.append(&mut setup.samples);
    setup.samples = samples;
    if let Some(chunking) = &args.chunks {
        setup.chunking = chunking.clone();
    }
    setup.options.skip_json_strings |= args.skip_json_strings;
    let template = std::sync::Arc::clone(&setup.template.compiled);
    for sample in &mut setup.samples {
        if sample.trouble.is_none() && !given::has_anchor(&template, &sample.prefix) {
            sample.trouble = Some(given::lacks_anchor(&template));
        }
    }
    Ok(opened.setup)
}

/// A response of which nothing else is known.
fn response(path: &Path, live: bool) -> Result<Sample, Problem> {
    let text = if live {
        String::new()
    } else {
        input::read_text(path)?
    };
    Ok(Sample {
        live,
        ..Sample::new(input::name(path), text)
    })
}

/// The fixtures at or below a path. One whose prompt cannot be had is shown without, and says why.
fn fixtures(
    args: &Args,
    path: &Path,
    chat: Option<&ChatTemplateSource>,
) -> Result<Vec<Sample>, Problem> {
    let found = input::find_fixtures(path)?;
    if found.is_empty() {
        let message = format!("there is no fixture in {}", input::name(path));
        return Err(Problem::failed("no-fixture", message)
            .with_hint("a fixture is a folder with a response.txt, or a line of a .jsonl file"));
    }
    found
        .into_iter()
        .map(|found| {
            let fixture = found
                .read()
                .map_err(|error| input::fixture_problem(&error))?;
            let (prefix, trouble) = match fixture.prefix(chat, args.project.clock()) {
                Ok(prefix) => (prefix.into_owned(), None),
                Err(error) => (String::new(), Some(error.to_string())),
            };
            Ok(Sample {
                trouble,
                folder: found.line.is_none().then_some(found.path),
                ..Sample::of_fixture(found.name, fixture, prefix)
            })
        })
        .collect()
}

/// The kind of a file.
enum OpenedFile {
    Template(Box<Opened>),
    /// A report, which tells what else to open.
    Report(Derivation),
}

/// The template, and what else its file brings.
fn template(args: &Args) -> Result<Opened, Problem> {
    let path = &args.template;
    let derivation = match found(args, path)? {
        OpenedFile::Template(opened) => return Ok(*opened),
        OpenedFile::Report(derivation) => derivation,
    };
    let subject = subject_of_report(path, &derivation)?;
    match found(args, &subject)? {
        OpenedFile::Template(mut opened) => {
            opened.setup.derivation = Some(derivation);
            Ok(*opened)
        }
        OpenedFile::Report(_) => Err(no_source(path, &subject)),
    }
}

/// Opens a response template, a session, or a chat template.
fn found(args: &Args, source: &Path) -> Result<OpenedFile, Problem> {
    let opened = |opened| OpenedFile::Template(Box::new(opened));
    let cached = hub::folder(source, Wanted::ChatTemplates)?;
    let path = cached.as_deref().unwrap_or(source);
    let in_folder = path.join("tokenizer_config.json");
    let file = if path.is_dir() { &in_folder } else { path };
    let is_chat_template = file
        .extension()
        .is_some_and(|extension| extension == "jinja" || extension == "gguf");
    if is_chat_template || !file.is_file() && path.is_dir() {
        return derived(args, source).map(opened);
    }
    let text = input::read_text(file)?;
    if let Some(session) = session::read(&text) {
        let setup = session.map_err(|error| Problem::failed("session", error.to_string()))?;
        return Ok(opened(Opened {
            setup,
            chat: None,
            recorded: None,
        }));
    }
    let stored = (!input::is_stdin(file)).then(|| file.to_owned());
    match Template::load(&text, stored) {
        Ok(template) => {
            let mut setup = Setup::new(template, Vec::new());
            setup.derivation = report(args, file)?;
            let workspace = args.project.open()?;
            let chat = workspace.chat_template(file, &text)?;
            setup.chat_template.clone_from(&chat);
            let project = workspace.project.as_ref();
            let recorded = project.and_then(|project| project.fixture_place(file));
            Ok(opened(Opened {
                setup,
                chat,
                recorded: recorded
                    .filter(|place| place.exists())
                    .map(|place| project::shown(&place)),
            }))
        }
        Err(invalid) => {
            let has_none = invalid
                .diagnostics()
                .iter()
                .any(|diagnostic| diagnostic.code == "no-response-template");
            // The chat template of a configuration may lie beside it.
            if has_none && args.project.source.open(source).is_ok() {
                return derived(args, source).map(opened);
            }
            if let Some(derivation) = Derivation::of_json(&text) {
                return Ok(OpenedFile::Report(derivation));
            }
            Err(template::refused(file, text, invalid))
        }
    }
}

/// The subject of a report: the response template beside it, or the chat template that is its source.
fn subject_of_report(path: &Path, derivation: &Derivation) -> Result<PathBuf, Problem> {
    let written = path
        .to_str()
        .and_then(|path| path.strip_suffix(".report.json"))
        .map(|stem| PathBuf::from(format!("{stem}.json")));
    let source = Path::new(&derivation.source);
    let beside = path.parent().unwrap_or(Path::new("")).join(source);
    let known = [written, Some(source.to_owned()), Some(beside)];
    let mut there = known.into_iter().flatten().filter(|path| path.exists());
    there.next().ok_or_else(|| no_source(path, source))
}

fn no_source(report: &Path, source: &Path) -> Problem {
    let message = format!(
        "{} is the report of a derivation, but its source is not there: {}",
        input::name(report),
        input::name(source)
    );
    Problem::failed("no-source", message)
        .with_hint("debug the response template, and name the report with --report")
}

/// Derives from a chat template: the response template, the evidence, and the responses by which it was verified.
fn derived(args: &Args, path: &Path) -> Result<Opened, Problem> {
    let opened = args.project.source.open(path)?;
    let options = derive::Options::default().clock(args.project.clock());
    let progress = Progress::of_one(&input::name(path));
    let derivation = derive::derive(&opened.source, &options);
    drop(progress);
    let derivation = derivation.map_err(|error| derive_problem(&error, &opened))?;
    let text = derivation.document.to_json();
    let template =
        Template::load(&text, None).map_err(|invalid| Problem::all(invalid.into_diagnostics()))?;
    // A message that does not come back is why somebody opens the debugger.
    let lost = messages(&derivation.report).into_iter().enumerate();
    let lost = lost.map(|(number, found)| {
        Sample::of_lost(number + 1, found, tools_of(&derivation.cases, found))
    });
    let cases = derivation.cases.iter().enumerate();
    let samples = lost.chain(cases.map(|(number, case)| Sample::of_case(number + 1, case)));
    let setup = Setup {
        derivation: Some(Derivation::of_report(&derivation.report)),
        chat_template: Some(opened.source.clone()),
        ..Setup::new(template, samples.collect())
    };
    Ok(Opened {
        recorded: None,
        setup,
        chat: Some(opened.source),
    })
}

/// The tools that a message was rendered with: those of a message that calls one of the same name.
fn tools_of(cases: &[derive::Case], found: &derive::Counterexample) -> Vec<Value> {
    let name = |call: &Value| {
        call.get("function")?
            .get("name")?
            .as_str()
            .map(str::to_owned)
    };
    let calls = found.message.get("tool_calls").and_then(Value::as_array);
    let Some(called) = calls.and_then(|calls| calls.iter().find_map(name)) else {
        return Vec::new();
    };
    let has = |case: &&derive::Case| {
        let mut names = case.tools.iter().filter_map(name);
        names.any(|name| name == called)
    };
    cases
        .iter()
        .find(has)
        .map_or(Vec::new(), |case| case.tools.clone())
}

/// The report that is given, or that lies beside the template.
fn report(args: &Args, template: &Path) -> Result<Option<Derivation>, Problem> {
    if let Some(path) = &args.report {
        let text = input::read_text(path)?;
        let read = Derivation::of_json(&text);
        let message = format!("{} is not the report of a derivation", input::name(path));
        return read
            .map(Some)
            .ok_or_else(|| Problem::failed("no-report", message));
    }
    let beside = template.with_extension("report.json");
    let text = std::fs::read_to_string(beside).unwrap_or_default();
    Ok(Derivation::of_json(&text))
}
