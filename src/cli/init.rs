//! `obverse init`: an `obverse.toml` for what lies in a folder.
//!
//! What belongs together is told from names: the chat template of `derived/kite.json` is `kite.jinja` or a model folder `kite`, its
//! fixtures are those in a folder or a file of lines called `kite`. Response templates for which the same patterns hold share an entry.

use std::path::{Path, PathBuf};

use obverse::check;
use obverse::project::FILE;
use obverse::value::Value;

use super::problem::Problem;
use super::quoted::as_argument;
use super::replace::{refuse_protected, replace_or_force};
use super::shape::ShapeArgs;
use super::status::Status;
use super::stop::Stop;
use super::{input, output, project, template, wire};

/// The placeholder in patterns for the name of a response template.
const NAME: &str = "{name}";

/// Where `obverse new` makes fixtures when there are none yet.
const FIXTURES: &str = "fixtures/{name}/*";

/// Where it makes those of a model, whose response template is called like that of every other model: in the model's folder.
const OF_MODEL: &str = "fixtures";

/// Write an obverse.toml for what lies in a folder
///
/// It says which chat template and which fixtures belong to which response template, told from their names. Nothing is asked; read what
/// it writes, and change it as you like. `obverse check`, `lint`, `new` and `review` read it from then on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder to look through, in which the file is written
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,

    /// Write it to standard output instead
    #[arg(long)]
    print: bool,

    /// Replace an obverse.toml that is there, also one that is a symbolic link or read-only: the file that a link leads to is written
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    shape: ShapeArgs,
}

/// Looks and writes.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let file = project::shown(&args.folder.join(FILE));
    if !args.print && file.is_symlink() {
        // That there is one already would be true, but --force would then write into another folder without a word.
        refuse_protected(&file, args.force)?;
    }
    if !args.print && !args.force && file.exists() {
        let message = format!("there is an {} already", shown(&file));
        return Err(Problem::failed("exists", message)
            .with_hint("--force replaces it, --print shows what would be written")
            .into());
    }
    let seen = FolderContents::of(&args.folder)?;
    if seen.response_templates.is_empty() {
        return Err(nothing(&args.folder, &seen).into());
    }
    let entries = seen.entries();
    let text = written(&entries);
    if !args.print {
        replace_or_force(&file, &text, args.force)?;
    }
    if args.shape.is_json() {
        let written = (!args.print).then_some(file.as_path());
        output::print_json(&wire::pretty(&report(written, &text, &entries)))?;
    } else if args.print {
        output::print_text(&text)?;
    } else {
        output::tell(&told(&file, &entries, &seen.chat_templates));
    }
    Ok(Status::Done)
}

/// The outcome for programs.
fn report(written: Option<&Path>, text: &str, entries: &[Entry]) -> Value {
    let string = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    let entries = entries.iter().map(|entry| {
        let files = entry.files.iter().map(|file| Value::from(file.as_str()));
        Value::Object(wire::object([
            ("files", Value::Array(files.collect())),
            ("chat_template", string(entry.chat_template.as_deref())),
            ("fixtures", string(entry.fixtures.as_deref())),
        ]))
    });
    Value::Object(wire::object([
        ("written", string(written.map(shown).as_deref())),
        ("text", Value::from(text)),
        ("templates", Value::Array(entries.collect())),
    ]))
}

/// That there is nothing that an entry could be about, and what can be done.
fn nothing(folder: &Path, seen: &FolderContents) -> Problem {
    let problem = Problem::failed("usage", "there is no response template in this folder");
    problem.with_hint(match seen.chat_templates.first() {
        Some(chat) => {
            let source = match chat.as_os_str().is_empty() {
                true => folder.to_owned(),
                false => project::shown(&folder.join(chat)),
            };
            let out = project::shown(&folder.join("derived"));
            let [out, source] = [out, source].map(|path| as_argument(&path));
            format!("derive one first: `obverse derive --out-dir {out} {source}`")
        }
        None => "derive one first, from a chat template: `obverse derive --out-dir derived SOURCE`"
            .to_owned(),
    })
}

/// The contents of the folder, by paths that begin there.
#[derive(Debug, Default)]
struct FolderContents {
    response_templates: Vec<PathBuf>,
    /// `.jinja` files, and folders of models.
    chat_templates: Vec<PathBuf>,
    /// Folders of fixtures and files of lines.
    fixtures: Vec<PathBuf>,
    /// The folders with reports of derivations in them.
    reports: Vec<PathBuf>,
}

impl FolderContents {
    fn of(root: &Path) -> Result<Self, Problem> {
        let mut found = Vec::new();
        project::response_templates(root, false, &mut found)?;
        let mut seen = Self::default();
        let below = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_owned();
        seen.response_templates = found.iter().map(|path| below(path)).collect();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries =
                std::fs::read_dir(&folder).map_err(|error| input::unreadable(&folder, &error))?;
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            for path in paths {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with('.') || path.is_symlink() {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else if ["chat_template.jinja", "tokenizer_config.json"].contains(&&*name) {
                    seen.chat_templates.push(below(&folder));
                } else if name.ends_with(".jinja") {
                    seen.chat_templates.push(below(&path));
                } else if name == "response.txt" {
                    let group = folder.parent().unwrap_or(&folder);
                    seen.fixtures.push(below(group));
                } else if check::is_suite_path(&path) && is_suite(&path) {
                    seen.fixtures.push(below(&path));
                } else if name.ends_with(".report.json") {
                    seen.reports.push(below(&folder));
                }
            }
        }
        for list in [&mut seen.chat_templates, &mut seen.fixtures] {
            list.sort();
            list.dedup();
        }
        Ok(seen)
    }

    /// The entries of the file, each with its response templates.
    fn entries(&self) -> Vec<Entry> {
        let only = match (&*self.response_templates, &*self.chat_templates) {
            ([_], [chat]) if !chat.as_os_str().is_empty() => Some(slashed(chat)),
            _ => None,
        };
        let entry = |path: &PathBuf| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            let is_model = is_config(path);
            let place = match is_model {
                true => of_model(&folder, &self.fixtures),
                false => nearest(path, &name, &self.fixtures),
            };
            let fixtures = place.map(|place| match place.ends_with(".jsonl") {
                true => place,
                false => place + "/*",
            });
            let chat = match is_model {
                true => None,
                // Where there is one of each they are taken to belong together, whatever they are called.
                false => nearest(path, &name, &self.chat_templates).or_else(|| only.clone()),
            };
            Entry {
                files: vec![globset::escape(&slashed(path))],
                chat_template: chat,
                is_model,
                folder,
                lacks: fixtures.is_none(),
                fixtures,
                has_reports: self
                    .reports
                    .iter()
                    .any(|folder| path.parent() == Some(folder)),
            }
        };
        let all: Vec<Entry> = self.response_templates.iter().map(entry).collect();
        // Those that have no fixtures yet are to have them where others of the folder have theirs.
        let neighbour = |entry: &Entry| {
            let mut alike = all.iter().filter(|other| {
                !entry.is_model
                    && !other.is_model
                    && other.folder == entry.folder
                    && other.chat_template == entry.chat_template
            });
            alike.find_map(|other| other.fixtures.clone())
        };
        let mut entries: Vec<Entry> = Vec::new();
        for one in &all {
            let mut entry = one.clone();
            entry.fixtures = entry.fixtures.or_else(|| neighbour(one));
            let is_like = |other: &&mut Entry| {
                !entry.is_model
                    && !other.is_model
                    && other.folder == entry.folder
                    && other.chat_template == entry.chat_template
                    && other.fixtures == entry.fixtures
            };
            match entries.iter_mut().find(is_like) {
                Some(same) => {
                    same.files.extend(entry.files);
                    same.lacks |= entry.lacks;
                }
                None => entries.push(entry),
            }
        }
        // New response templates of a folder are to belong to the entry that most of them belong to, which therefore comes last.
        entries.sort_by_key(|entry| (entry.folder.clone(), entry.files.len()));
        for index in 0..entries.len() {
            let next = entries.get(index + 1).map(|next| next.folder.clone());
            let entry = &mut entries[index];
            if next.as_ref() != Some(&entry.folder) && entry.files.len() > 1 {
                entry.files = vec![slashed(&entry.folder.join("*.json"))];
            }
        }
        entries
    }
}

/// An entry of the file.
#[derive(Debug, Clone)]
struct Entry {
    files: Vec<String>,
    folder: PathBuf,
    chat_template: Option<String>,
    fixtures: Option<String>,
    /// True if some of its response templates have no fixtures.
    lacks: bool,
    has_reports: bool,
    /// True if it is for the configuration of a model.
    is_model: bool,
}

impl Entry {
    /// The glob for its fixtures, also where there are none yet.
    fn fixtures_glob(&self) -> String {
        let made = || match self.is_model {
            true => globset::escape(&slashed(&self.folder.join(OF_MODEL))) + "/*",
            false => FIXTURES.to_owned(),
        };
        self.fixtures.clone().unwrap_or_else(made)
    }

    /// A pattern as people read it: of one response template, with its name.
    fn told(&self, pattern: &str) -> String {
        match &*self.files {
            [file] if !file.contains('*') => {
                let name = Path::new(file).file_stem().unwrap_or_default();
                pattern.replace(NAME, &name.to_string_lossy())
            }
            _ => pattern.to_owned(),
        }
    }
}

/// Returns true if a response template is one in the configuration of a model.
fn is_config(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|file| file == template::CONFIG)
}

/// The fixtures of a model, as a glob: those in its folder, or those that are called after it.
fn of_model(folder: &Path, places: &[PathBuf]) -> Option<String> {
    let called =
        |place: &&PathBuf| folder.file_name().is_some() && place.file_stem() == folder.file_name();
    let inside =
        |place: &&PathBuf| place.parent() == Some(folder) || **place == folder.join(OF_MODEL);
    let place = places
        .iter()
        .find(inside)
        .or_else(|| places.iter().find(called))?;
    Some(globset::escape(&slashed(place)))
}

/// Returns true if a file of lines holds fixtures: each has a response.
fn is_suite(path: &Path) -> bool {
    check::find(path).is_ok_and(|found| {
        let mut found = found.into_iter();
        found.next().is_some_and(|first| first.read().is_ok())
    })
}

/// Of several places of that name the one with most of its path in common with the response template's; as a pattern.
fn nearest(path: &Path, name: &str, places: &[PathBuf]) -> Option<String> {
    let common = |place: &Path| {
        let pairs = place.components().zip(path.components());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let called = |place: &&PathBuf| {
        place
            .file_stem()
            .is_some_and(|stem| stem.to_string_lossy() == name)
    };
    let place = places
        .iter()
        .filter(called)
        .max_by_key(|place| (common(place), std::cmp::Reverse(place.components().count())))?;
    let end = place
        .extension()
        .map_or(String::new(), |end| format!(".{}", end.to_string_lossy()));
    let parent = place.parent().unwrap_or(Path::new(""));
    Some(slashed(&parent.join(format!("{NAME}{end}"))))
}

/// A path as the file has it on every system.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

/// The file's text.
fn written(entries: &[Entry]) -> String {
    let list = |items: &[String]| {
        let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
        format!("[{}]", items.join(", "))
    };
    let mut out = String::from(
        "# Which chat template and which fixtures belong to which response template. Paths begin at this file, and {name} is\n\
         # the name of the response template's file without its extension. Of several entries that match, the first counts.\n",
    );
    for entry in entries {
        out.push_str(&format!("\n[[template]]\nfiles = {}\n", list(&entry.files)));
        let is_glob = entry.files.iter().any(|file| file.contains('*'));
        if is_glob && entry.has_reports {
            let reports = slashed(&entry.folder.join("*.report.json"));
            out.push_str(&format!("exclude = {}\n", list(&[reports])));
        }
        if let Some(chat) = &entry.chat_template {
            out.push_str(&format!("chat_template = {}\n", quoted(chat)));
        }
        out.push_str(&format!("fixtures = {}\n", list(&[entry.fixtures_glob()])));
    }
    out.push_str(
        "\n[lint]\n# Warnings of `obverse lint` fail a check as well. A finding that is meant is allowed by an entry [[lint.allow]], with a reason.\n\
         deny = [\"warnings\"]\n",
    );
    out
}

/// A string as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// The file's name, without the current folder.
fn shown(file: &Path) -> String {
    input::name(file.strip_prefix(".").unwrap_or(file))
}

/// Tells what was written and what comes next.
fn told(file: &Path, entries: &[Entry], chat_templates: &[PathBuf]) -> String {
    let mut out = format!("wrote {}\n", shown(file));
    for entry in entries {
        let chat = entry
            .chat_template
            .as_deref()
            .map_or_else(|| unnamed(entry, chat_templates), |chat| entry.told(chat));
        let fixtures = entry.fixtures.as_deref().map(|glob| entry.told(glob));
        out.push_str(&format!(
            "\n  {}\n    chat template  {chat}\n",
            entry.files.join(", ")
        ));
        out.push_str(&format!(
            "    fixtures       {}\n",
            fixtures.as_deref().unwrap_or("none yet")
        ));
    }
    out.push_str(if entries.iter().all(|entry| !entry.lacks) {
        "\nnext: `obverse check`\n"
    } else {
        "\nnext: `obverse new --all` makes the fixtures that are missing, `obverse check` checks everything\n"
    });
    out
}

/// How an entry comes to a chat template where none is called like its response template: by what `check` finds beside it, or by a name
/// that somebody has to write, since one of another name need not be its own.
fn unnamed(entry: &Entry, chat_templates: &[PathBuf]) -> String {
    let is_beside = |chat: &&PathBuf| match chat.extension() {
        Some(end) if end == "jinja" => false,
        _ => **chat == entry.folder,
    };
    match chat_templates.first() {
        Some(chat) if !chat_templates.iter().any(|chat| is_beside(&chat)) => format!(
            "none of that name; if it is {}, write chat_template = {}",
            slashed(chat),
            quoted(&slashed(chat))
        ),
        _ => "the one next to it, if there is one".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_that_name_counts() {
        let places =
            ["chat/kite.jinja", "old/chat/kite.jinja", "chat/tern.jinja"].map(PathBuf::from);
        let found = |path: &str, name| nearest(Path::new(path), name, &places);
        assert_eq!(
            found("derived/kite.json", "kite").as_deref(),
            Some("chat/{name}.jinja")
        );
        assert_eq!(
            found("old/kite.json", "kite").as_deref(),
            Some("old/chat/{name}.jinja")
        );
        assert_eq!(found("derived/gull.json", "gull"), None);
    }
}
