//! `obverse new`: the fixtures that a response template should have.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use obverse::check::{self, Scaffold};
use obverse::derive;
use obverse::response_template::config;

use super::problem::{Document, Problem};
use super::project::{ProjectArgs, Workspace};
use super::status::{Status, Stop};
use super::{input, output, project};

/// Scaffold the fixtures that a response template should have
///
/// They are plain content, reasoning and content, one call, parallel calls, and a response that ends too early: a folder each, filled in from
/// the chat template where there is one. Read what they record: it is what the response template gives. Folders that are there
/// already are left alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The response template's name in obverse.toml: its file's without the extension
    name: String,

    /// The response template, where obverse.toml does not name it
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,

    /// The folder to make them in, where obverse.toml does not say it
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(flatten)]
    project: ProjectArgs,
}

/// Scaffolds.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let workspace = args.project.open()?;
    let path = template(args, &workspace)?;
    let text = input::read_text(&path)?;
    let loaded = config::load_any(&text).map_err(|invalid| {
        Problem::all(invalid.into_diagnostics())
            .about(Document::new(input::name(&path), text.as_str()))
    })?;
    let chat = workspace.chat_template(&path, &text)?;
    let cases = match &chat {
        Some(chat) => {
            let options = derive::Options {
                clock: args.project.clock(),
                ..derive::Options::default()
            };
            let derived = derive::derive(chat, &options);
            derived
                .map_err(|error| {
                    Problem::failed(
                        "not-derived",
                        format!("nothing can be derived from the chat template: {error}"),
                    )
                })?
                .cases
        }
        None => Vec::new(),
    };
    let named = workspace
        .project
        .as_ref()
        .and_then(|project| project.fixture_folder(&path));
    let folder = args
        .dir
        .clone()
        .or(named)
        .unwrap_or_else(|| Path::new("fixtures").join(&args.name));
    let folder = project::shown(&folder);
    for scaffold in check::scaffold(&Arc::new(loaded.template), &cases) {
        make(&folder, &scaffold, chat.is_some())?;
    }
    Ok(Status::Done)
}

fn make(folder: &Path, scaffold: &Scaffold, has_chat: bool) -> Result<(), Stop> {
    let path = folder.join(scaffold.name);
    let name = input::name(&path);
    if path.exists() {
        output::tell(&format!("there already  {name}\n"));
        return Ok(());
    }
    let fixture = match &scaffold.fixture {
        Some(fixture) => fixture.clone(),
        None if has_chat => {
            output::tell(&format!(
                "left out       {name}: the chat template shows no such message\n"
            ));
            return Ok(());
        }
        None => check::Fixture::default(),
    };
    fixture
        .write(&path)
        .map_err(|error| super::check::fixture_problem(&error))?;
    let how = if scaffold.fixture.is_some() {
        "made         "
    } else {
        "to be filled in"
    };
    output::tell(&format!("{how}  {name}\n"));
    Ok(())
}

/// The response template that is meant.
fn template(args: &Args, workspace: &Workspace<'_>) -> Result<PathBuf, Problem> {
    if let Some(path) = &args.template {
        return Ok(path.clone());
    }
    let is_it = |path: &PathBuf| {
        path.file_stem()
            .is_some_and(|stem| stem.to_string_lossy() == args.name)
    };
    let mut named = workspace.response_templates().into_iter();
    named.find(is_it).ok_or_else(|| {
        let message = format!("no response template is called `{}`", args.name);
        Problem::failed("usage", message)
            .with_hint("name it in an obverse.toml, or give it with --template")
    })
}
