//! The files of a project, found the same way by every verb that takes them all.

use std::path::{Path, PathBuf};

use obverse::chat_template::ChatTemplateSource;
use obverse::project::Project;
use obverse::response_template::config;
use obverse::value::{Value, json};

use super::input;
use super::problem::{Document, Problem};
use super::source::SourceArgs;

/// The `obverse.toml` that counts.
pub(crate) fn open(given: Option<&Path>) -> Result<Option<Project>, Problem> {
    let found = match given {
        Some(path) => Some(path.to_owned()),
        None => Project::find(Path::new(".")),
    };
    let Some(path) = found else { return Ok(None) };
    let text = input::read_text(&path)?;
    let root = path.parent().unwrap_or_else(|| Path::new(""));
    let root = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    Project::read(&text, root).map(Some).map_err(|diagnostic| {
        Problem::of(*diagnostic).about(Document::new(input::name(&path), text))
    })
}

/// The path as seen from the current folder, where it lies below it.
pub(crate) fn shown(path: &Path) -> PathBuf {
    let current = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&current).unwrap_or(path).to_owned()
}

/// The response templates in a folder, as far as a look at each JSON file tells.
pub(crate) fn response_templates(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Problem> {
    let entries = std::fs::read_dir(folder).map_err(|error| input::unreadable(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let link = path.is_symlink();
        if path.is_dir() && !hidden && !link {
            response_templates(&path, found)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
            && is_response_template(&path)
        {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether the file is a response template or holds one. What is not JSON is none.
fn is_response_template(path: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(path) else {
        return false;
    };
    let Ok(value) = json::parse(text.trim_start_matches('\u{feff}')) else {
        return false;
    };
    let has = |key: &str| value.get(key).is_some_and(|value| *value != Value::Null);
    has(config::KEY) || (has("fields") && (has("start_anchor") || has("start_anchor_pattern")))
}

/// The chat template that belongs to a response template, where one is found.
pub(crate) fn chat_template(
    args: &SourceArgs,
    path: &Path,
    text: &str,
    project: Option<&Project>,
) -> Result<Option<ChatTemplateSource>, Problem> {
    if input::is_stdin(path) {
        return Ok(None);
    }
    let named = project.and_then(|project| project.belongings(path).chat_template);
    if let Some(named) = named {
        return args.open(&named).map(|opened| Some(opened.source));
    }
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let holds = json::parse(text).is_ok_and(|value| value.get(config::KEY).is_some());
    let beside = [
        holds.then(|| path.to_owned()),
        Some(path.with_extension("jinja")),
        Some(folder.join("chat_template.jinja")),
        Some(folder.join("tokenizer_config.json")),
    ];
    for candidate in beside.into_iter().flatten().filter(|path| path.is_file()) {
        // A file beside it that is none, or that does not compile, is not what was asked about.
        if let Ok(opened) = args.open(&candidate) {
            return Ok(Some(opened.source));
        }
    }
    Ok(None)
}
