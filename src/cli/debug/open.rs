//! What the debugger is started on.

use std::path::{Path, PathBuf};

use obverse::check::Fixture;
use obverse::derive;
use obverse::tui::{Chunking, Derivation, Sample, Setup, Template, session};

use super::Args;
use crate::cli::derive::derive_problem;
use crate::cli::input;
use crate::cli::problem::{Document, Problem};

/// How deep below a folder fixtures are looked for.
const DEPTH: usize = 8;

/// The template, the samples, and how they are cut.
pub(super) fn setup(args: &Args, live: bool) -> Result<Setup, Problem> {
    let mut setup = template(args)?;
    let prefix = match (&args.prefix, &args.prefix_file) {
        (Some(text), _) => Some(text.clone()),
        (None, Some(path)) => Some(input::read_text(path)?),
        (None, None) => None,
    };
    let tools = match &args.tools {
        Some(path) => input::read_list(path, "the tools")?,
        None => Vec::new(),
    };
    let mut samples = Vec::new();
    if let Some(path) = &args.follow {
        let mut sample = Sample::new(input::name(path), "");
        sample.live = live;
        if !live {
            sample.response = input::read_text(path)?;
        }
        samples.push(sample);
    }
    for path in &args.responses {
        if path.is_dir() {
            let before = samples.len();
            fixtures(path, DEPTH, &mut samples)?;
            if samples.len() == before {
                let message = format!("there is no fixture in {}", input::name(path));
                return Err(Problem::failed("no-fixture", message)
                    .with_hint("a fixture is a folder with a response.txt"));
            }
            continue;
        }
        let mut sample = Sample::new(input::name(path), "");
        sample.live = live && input::is_stdin(path);
        if !sample.live {
            sample.response = input::read_text(path)?;
        }
        samples.push(sample);
    }
    for sample in &mut samples {
        if let Some(prefix) = &prefix {
            sample.prefix.clone_from(prefix);
        }
        if !tools.is_empty() {
            sample.tools.clone_from(&tools);
        }
    }
    // The given ones come before those that came with the template.
    samples.append(&mut setup.samples);
    setup.samples = samples;
    if let Some(chunking) = args.chunks {
        setup.chunking = chunking;
    }
    Ok(setup)
}

fn fixtures(folder: &Path, depth: usize, samples: &mut Vec<Sample>) -> Result<(), Problem> {
    if folder.join("response.txt").is_file() {
        let fixture = Fixture::read(folder).map_err(|error| {
            let document = Document {
                name: input::name(&error.path),
                text: error.text.clone(),
            };
            Problem::of(*error.diagnostic).about(document)
        })?;
        samples.push(Sample::of_fixture(input::name(folder), fixture, None));
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).map_err(|error| input::unreadable(folder, &error))?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    for folder in folders {
        fixtures(&folder, depth - 1, samples)?;
    }
    Ok(())
}

/// The template, and what else its file brings.
fn template(args: &Args) -> Result<Setup, Problem> {
    let path = &args.template;
    let in_folder = path.join("tokenizer_config.json");
    let file = if path.is_dir() { &in_folder } else { path };
    let is_chat_template = file
        .extension()
        .is_some_and(|extension| extension == "jinja" || extension == "gguf");
    if is_chat_template || !file.is_file() && path.is_dir() {
        return derived(args);
    }
    let text = input::read_text(file)?;
    if let Some(session) = session::read(&text) {
        return session.map_err(|error| Problem::failed("session", error.to_string()));
    }
    let stored = (!input::is_stdin(file)).then(|| file.clone());
    match Template::load(&text, stored) {
        Ok(template) => {
            let mut setup = Setup::new(template, Vec::new());
            setup.derivation = report(args, file)?;
            Ok(setup)
        }
        Err(invalid) => {
            let has_none = invalid
                .diagnostics()
                .iter()
                .any(|diagnostic| diagnostic.code == "no-response-template");
            if has_none && config_has_chat_template(&text) {
                return derived(args);
            }
            Err(Problem::all(invalid.into_diagnostics())
                .about(Document::new(input::name(file), text)))
        }
    }
}

fn config_has_chat_template(text: &str) -> bool {
    let config = obverse::value::json::parse(text).ok();
    config.is_some_and(|config| config.get("chat_template").is_some())
}

/// What is derived from a chat template: the template, the evidence, and the responses by which it was verified.
fn derived(args: &Args) -> Result<Setup, Problem> {
    let opened = args.source_args.open(&args.template)?;
    let options = derive::Options {
        clock: args.source_args.date,
        ..derive::Options::default()
    };
    let derivation = derive::derive(&opened.source, &options)
        .map_err(|error| derive_problem(&error, &opened))?;
    let text = derivation.document.to_json();
    let template =
        Template::load(&text, None).map_err(|invalid| Problem::all(invalid.into_diagnostics()))?;
    let cases = derivation.cases.iter().enumerate();
    let samples = cases.map(|(number, case)| Sample::of_case(number + 1, case));
    Ok(Setup {
        derivation: Some(Derivation::of_report(&derivation.report)),
        chunking: Chunking::Words,
        ..Setup::new(template, samples.collect())
    })
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
