//! `obverse new`: the fixtures that a response template should have.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use obverse::check::{self, Fixture};
use obverse::derive;
use obverse::diagnostic::Diagnostic;
use obverse::value::Value;

use super::problem::Problem;
use super::progress::Progress;
use super::project::{ProjectArgs, Workspace};
use super::replace::apply;
use super::shape::ShapeArgs;
use super::status::Status;
use super::stop::Stop;
use super::template::{self, Opened};
use super::{escape, input, near, output, project, wire};

/// Scaffold the fixtures that a response template should have
///
/// They are plain content, reasoning and content, one call, parallel calls, and a response that ends too early: a folder each, or a line
/// each where obverse.toml names a .jsonl file, filled in from the chat template where there is one. Read what they record: it is what
/// the response template gives. Fixtures that are there already are left alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The response templates' names in obverse.toml: their files' without the extension. With --template a name may be given, which
    /// becomes the name of the folder below fixtures, where obverse.toml does not say the place
    names: Vec<String>,

    /// Every response template that obverse.toml names
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// The response template, where obverse.toml does not name it
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    template: Option<PathBuf>,

    /// The folder to make them in, or the .jsonl file to add them to, where obverse.toml does not say it
    #[arg(long, value_name = "PATH", alias = "dir", conflicts_with = "all")]
    to: Option<PathBuf>,

    #[command(flatten)]
    shape: ShapeArgs,

    #[command(flatten)]
    project: ProjectArgs,
}

/// Scaffolds.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let workspace = args.project.open()?;
    if args.names.len() > 1 && (args.template.is_some() || args.to.is_some()) {
        let message = "--template and --to are for one name at a time";
        return Err(Problem::failed("usage", message).into());
    }
    if args.names.is_empty() && !args.all && args.template.is_none() {
        let message = "no response template is given";
        let hint = "give the names that they have in obverse.toml, --all for all of them, or the file of one with --template";
        return Err(Problem::failed("usage", message).with_hint(hint).into());
    }
    let named = workspace.response_templates();
    if args.all && named.is_empty() {
        let message = "no response template is named, and so no fixture is made";
        let hint = "`obverse init` writes an obverse.toml that names what is there; or give one with --template";
        return Err(Problem::failed("usage", message).with_hint(hint).into());
    }
    let paths = match &args.template {
        _ if args.all => named,
        // It is its file that is meant, whatever it is called.
        Some(path) => vec![path.clone()],
        None => {
            let found = args.names.iter().map(|name| template(name, &named));
            found.collect::<Result<_, _>>()?
        }
    };
    let mut told = Vec::new();
    for path in paths {
        of_template(args, &path, &workspace, &mut told)?;
    }
    if args.shape.is_json() {
        let fixtures: Vec<Value> = told.iter().map(Told::to_value).collect();
        let report = wire::object([("fixtures", fixtures.into())]);
        output::print_json(&wire::pretty(&Value::Object(report)))?;
    }
    Ok(Status::Done)
}

/// Scaffolds the fixtures of one response template.
fn of_template(
    args: &Args,
    path: &Path,
    workspace: &Workspace<'_>,
    told: &mut Vec<Told>,
) -> Result<(), Stop> {
    let mut tell = |how, name, fixture| {
        let one = Told { how, name, fixture };
        if !args.shape.is_json() {
            output::tell(&one.line());
        }
        told.push(one);
    };
    let Opened { text, loaded, .. } = template::open(path)?;
    let chat = workspace.chat_template(path, &text)?;
    let cases = match &chat {
        Some(chat) => {
            let options = derive::Options::default().clock(args.project.clock());
            let progress = Progress::of_one(&input::name(path));
            let derived = derive::derive(chat, &options);
            drop(progress);
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
    let place = project::shown(&place(args, path, workspace)?);
    let mut made: Vec<(&'static str, Fixture)> = Vec::new();
    for scaffold in check::scaffold(&Arc::new(loaded.template), &cases) {
        match scaffold.fixture {
            Some(fixture) => made.push((scaffold.name, fixture)),
            None if chat.is_some() => {
                let fixture = called(&place, scaffold.name);
                tell(How::LeftOut, scaffold.name, fixture);
            }
            None => made.push((scaffold.name, Fixture::default())),
        }
    }
    let how = if chat.is_some() {
        How::Made
    } else {
        How::ToFill
    };
    let added = if check::is_suite_path(&place) {
        lines(&place, &made)?
    } else {
        folders(&place, &made)?
    };
    for (name, _) in &made {
        let how = if added.contains(name) {
            how
        } else {
            How::There
        };
        tell(how, name, called(&place, name));
    }
    if chat.is_none() && !added.is_empty() && !args.shape.is_json() {
        output::tell(&to_fill(&place));
    }
    Ok(())
}

/// Where the fixtures of a response template are made.
fn place(args: &Args, path: &Path, workspace: &Workspace<'_>) -> Result<PathBuf, Problem> {
    if let Some(place) = &args.to {
        return Ok(place.clone());
    }
    // A response template that was given may be called anything.
    let given = args.template.as_ref().and(args.names.first());
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    let is_model = path
        .file_name()
        .is_some_and(|file| file == template::CONFIG);
    let project = workspace.project.as_ref();
    let said = match project.and_then(|project| project.fixture_place(path)) {
        Some(place) => Some((place, "obverse.toml says that they belong")),
        // The fixtures of a model lie in its folder, where `check` finds them to be the model's.
        None if is_model => {
            let place = path.with_file_name("fixtures");
            Some((place, "the fixtures of a model belong"))
        }
        None => None,
    };
    if let Some((place, why)) = said {
        let other = given.filter(|name| Some(name.as_str()) != stem.as_deref() && !is_model);
        let Some(name) = other else {
            return Ok(place);
        };
        let shown = input::name(&project::shown(&place));
        let message = format!(
            "the fixtures are not made below `{}`: {why} in {shown}",
            escape::line(name)
        );
        return Err(Problem::failed("usage", message)
            .with_hint("leave the name out, or say another place with --to"));
    }
    let Some(name) = given else {
        return Ok(Path::new("fixtures").join(stem.as_deref().unwrap_or_default()));
    };
    let mut steps = Path::new(name).components();
    let is_below = !name.is_empty()
        && steps.all(|step| matches!(step, Component::Normal(_) | Component::CurDir));
    if !is_below {
        let message = format!(
            "`{}` is no name of a folder below fixtures",
            escape::line(name)
        );
        return Err(
            Problem::failed("usage", message).with_hint("--to PATH makes them in any folder")
        );
    }
    Ok(Path::new("fixtures").join(name))
}

/// How fixtures are filled in that no chat template shows.
fn to_fill(place: &Path) -> String {
    let (what, from) = match check::is_suite_path(place) {
        true => ("as `response` into each line", "line"),
        false => ("into response.txt of each", "folder"),
    };
    format!(
        "\nThere is no chat template to fill these in from. Put what the model wrote {what}, and remove each {from} that has no such response;\n\
         `obverse record` does the first from a running model. Then `obverse review` shows what each parses to, and records it.\n"
    )
}

/// The outcome for a fixture.
#[derive(Debug, Clone, Copy)]
enum How {
    Made,
    ToFill,
    There,
    LeftOut,
}

/// The kind of response that is to be put into a fixture that this verb made empty, by the fixture's name.
pub(crate) fn wanted(name: &str) -> Option<&'static str> {
    match name {
        "plain" => Some("a response with content alone"),
        "reasoning" => Some("a response with reasoning and content"),
        "one_call" => Some("a response with one tool call"),
        "parallel_calls" => Some("a response with two tool calls or more"),
        "truncated" => Some("a response that breaks off in the middle"),
        _ => None,
    }
}

struct Told {
    how: How,
    /// Its name in the checklist.
    name: &'static str,
    fixture: String,
}

impl Told {
    fn line(&self) -> String {
        let (how, why) = match self.how {
            How::Made => ("made", None),
            How::ToFill => ("to be filled in", wanted(self.name)),
            How::There => ("there already", None),
            How::LeftOut => ("left out", Some("the chat template shows no such message")),
        };
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        format!("{how:<16} {}{why}\n", self.fixture)
    }

    fn to_value(&self) -> Value {
        let status = match self.how {
            How::Made => "made",
            How::ToFill => "to_fill",
            How::There => "there",
            How::LeftOut => "left_out",
        };
        Value::Object(wire::object([
            ("name", Value::from(self.fixture.as_str())),
            ("status", Value::from(status)),
        ]))
    }
}

/// The name of a fixture in that folder, or on a line of that file.
fn called(place: &Path, name: &str) -> String {
    if check::is_suite_path(place) {
        format!("{} {name}", input::name(place))
    } else {
        input::name(&place.join(name))
    }
}

/// Makes a folder for each fixture that has none yet; the names of those that were made.
fn folders<'n>(place: &Path, fixtures: &[(&'n str, Fixture)]) -> Result<Vec<&'n str>, Problem> {
    let mut made = Vec::new();
    for (name, fixture) in fixtures {
        let path = place.join(name);
        if path.exists() {
            continue;
        }
        let changes = fixture
            .changes(&path)
            .map_err(|error| input::fixture_problem(&error))?;
        changes.iter().try_for_each(apply)?;
        made.push(*name);
    }
    Ok(made)
}

/// Adds a line to a suite for each fixture that it has not yet; the names of those that were added.
fn lines<'n>(place: &Path, fixtures: &[(&'n str, Fixture)]) -> Result<Vec<&'n str>, Problem> {
    let added =
        check::additions(place, fixtures).map_err(|error| input::fixture_problem(&error))?;
    let Some((change, names)) = added else {
        return Ok(Vec::new());
    };
    apply(&change)?;
    Ok(names)
}

/// The response template that a name means.
fn template(name: &str, named: &[PathBuf]) -> Result<PathBuf, Problem> {
    let is_it = |path: &&PathBuf| {
        path.file_stem()
            .is_some_and(|stem| stem.to_string_lossy() == name)
    };
    let file = [name.to_owned(), format!("{name}.json")];
    let file = file
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file());
    let is_there = |path: &PathBuf| template::open(path).is_ok();
    let found = named.iter().find(is_it).cloned();
    // A model folder is meant by the response template in its configuration, also where it has a chat template as well.
    let config = Path::new(name).join(template::CONFIG);
    let config = Some(config).filter(|config| config.is_file());
    let found = found.or_else(|| file.or(config).filter(is_there));
    found.ok_or_else(|| {
        let path = Path::new(name);
        if template::is_source(path) {
            let message = format!("{name} is a chat template, and fixtures belong to a response template");
            return template::none(path, Diagnostic::error("no-response-template", message));
        }
        let message = format!("no response template is called `{name}`");
        let stems = named.iter().filter_map(|path| path.file_stem()?.to_str());
        let hint = match near::nearest(name, stems) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`obverse init` writes an obverse.toml that names what is there; or give it with --template".to_owned(),
        };
        Problem::failed("usage", message).with_hint(hint)
    })
}
