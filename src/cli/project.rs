//! The files of a project, found the same way by every verb that takes them all.

use std::path::{Path, PathBuf};

use obverse::chat_template::{ChatTemplateSource, Clock};
use obverse::check::FixtureFile;
use obverse::project::Project;
use obverse::response_schema;
use obverse::response_template::{Engine, config};
use obverse::value::{Value, json};

use super::problem::{Document, Problem};
use super::source::SourceArgs;
use super::{escape, input, output};

/// How a verb finds what belongs together.
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectArgs {
    /// The chat template of all of them, instead of the one that is found: a .jinja file, a tokenizer_config.json, a model folder
    #[arg(long, value_name = "SOURCE")]
    chat_template: Option<PathBuf>,

    /// The obverse.toml to use, instead of the nearest one around the current folder
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// The project: which files belong together, as the arguments and `obverse.toml` say it.
pub(crate) struct Workspace<'a> {
    source: &'a SourceArgs,
    /// The chat template that was given.
    pub(crate) given: Option<ChatTemplateSource>,
    /// The file of the project, where there is one.
    pub(crate) file: Option<PathBuf>,
    /// The document, read; `None` where there is none.
    pub(crate) project: Option<Project>,
}

impl ProjectArgs {
    /// The names of those that are given and name a file.
    #[cfg(feature = "tui")]
    pub(crate) fn flags(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.chat_template.is_some(), "--chat-template"),
            (self.config.is_some(), "--config"),
        ];
        all.into_iter()
            .filter_map(|(given, name)| given.then_some(name))
    }

    /// The `obverse.toml` that counts, where there is one.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        let given = self.config.clone();
        given.or_else(|| Project::find(Path::new(".")))
    }

    /// Reads the `obverse.toml` that counts, and the chat template that was given.
    pub(crate) fn open(&self) -> Result<Workspace<'_>, Problem> {
        let config = self.file();
        let given = match &self.chat_template {
            Some(path) => Some(self.source.open(path)?.source),
            None => None,
        };
        Ok(Workspace {
            source: &self.source,
            given,
            project: config.as_deref().map(read).transpose()?,
            file: config,
        })
    }

    /// The arguments that say the same.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for (name, path) in [
            ("--chat-template", &self.chat_template),
            ("--config", &self.config),
        ] {
            if let Some(path) = path {
                arguments.extend([name.to_owned(), path.display().to_string()]);
            }
        }
        arguments.extend(self.source.arguments());
        arguments
    }

    /// The time that chat templates are told.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.source.date
    }
}

impl Workspace<'_> {
    /// The folder that `obverse.toml` lies in.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.project.as_ref().map(Project::root)
    }

    /// The next step where `obverse.toml` names no response template.
    pub(crate) fn nothing_named(&self) -> &'static str {
        match self.project {
            Some(_) => {
                "no file matches the `files` of obverse.toml: `obverse init --print` shows what lies in this folder"
            }
            None => "give response templates, or name them in an obverse.toml",
        }
    }

    /// The response templates that `obverse.toml` names.
    pub(crate) fn response_templates(&self) -> Vec<PathBuf> {
        self.project
            .as_ref()
            .map(Project::response_templates)
            .unwrap_or_default()
    }

    /// The chat template that belongs to a response template, where one is found. `text` is that of the response template's
    /// file.
    pub(crate) fn chat_template(
        &self,
        path: &Path,
        text: &str,
    ) -> Result<Option<ChatTemplateSource>, Problem> {
        if let Some(given) = &self.given {
            return Ok(Some(given.clone()));
        }
        if input::is_stdin(path) {
            return Ok(None);
        }
        let named = self
            .project
            .as_ref()
            .and_then(|project| project.belongings(path).chat_template);
        if let Some(named) = named {
            return self.source.open(&named).map(|opened| Some(opened.source));
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
            if let Ok(opened) = self.source.open(&candidate) {
                return Ok(Some(opened.source));
            }
        }
        Ok(None)
    }

    /// The engines that `obverse.toml` says a response template is meant for.
    pub(crate) fn engines(&self, path: &Path) -> Vec<Engine> {
        match &self.project {
            Some(project) if !input::is_stdin(path) => project.belongings(path).engines,
            _ => Vec::new(),
        }
    }

    /// Returns true if `obverse.toml` says that a response template's fixtures are held to its grammar.
    pub(crate) fn has_grammar(&self, path: &Path) -> bool {
        let project = self.project.as_ref();
        project.is_some_and(|project| project.belongings(path).grammar)
    }
}

/// Reads an `obverse.toml`.
fn read(path: &Path) -> Result<Project, Problem> {
    let text = input::read_text(path)?;
    let root = path.parent().unwrap_or_else(|| Path::new(""));
    let root = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    Project::read(&text, root).map_err(|diagnostic| {
        Problem::of(*diagnostic).about(Document::new(input::name(path), text))
    })
}

/// The path as seen from the current folder, where it lies below it.
pub(crate) fn shown(path: &Path) -> PathBuf {
    let current = std::env::current_dir().unwrap_or_default();
    let below = path
        .strip_prefix(&current)
        .or_else(|_| path.strip_prefix("."));
    // The current folder itself has no shorter name.
    match below {
        Ok(below) if !below.as_os_str().is_empty() => below.to_owned(),
        _ => path.to_owned(),
    }
}

/// The path by which two names of a file are the same.
pub(crate) fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The name of a fixture in what people read. A line of a suite is called after its file.
pub(crate) fn fixture_name(found: &FixtureFile) -> String {
    match &found.line {
        Some(_) => {
            let file = found.path.display().to_string();
            let rest = found.name.strip_prefix(&file).unwrap_or_default();
            let file = input::name(&shown(&found.path));
            format!("{file}{}", escape::line(rest))
        }
        None => input::name(&shown(&found.file())),
    }
}

/// The response templates in a folder, as far as a look at each JSON file tells. A file that is broken is among them if its text speaks of what they have;
/// of any other that is not JSON it is told that it is passed over. With `schemas` response schemas are among them.
pub(crate) fn response_templates(
    folder: &Path,
    schemas: bool,
    found: &mut Vec<PathBuf>,
) -> Result<(), Problem> {
    let entries = std::fs::read_dir(folder).map_err(|error| input::unreadable(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let link = path.is_symlink();
        if path.is_dir() && !hidden && !link {
            response_templates(&path, schemas, found)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
            && is_response_template(&path, schemas)
        {
            found.push(path);
        }
    }
    Ok(())
}

/// The keys by which a file that is broken is known as a response template.
const KEYS: [&str; 4] = [
    config::KEY,
    "start_anchor",
    "start_anchor_pattern",
    "fields",
];

/// Returns true if a document is a response schema, and not any JSON Schema: nothing but patterns and parsers reads a response.
fn is_response_schema(value: &Value, text: &str) -> bool {
    let reads = ["\"x-regex", "\"x-parser"]
        .iter()
        .any(|key| text.contains(key));
    reads && value.get("$schema").is_none() && response_schema::is_schema(value)
}

/// Returns true if the file is a response template or holds one, or is broken and may have been meant as one.
fn is_response_template(path: &Path, schemas: bool) -> bool {
    let Ok(bytes) = std::fs::read(path) else {
        return false;
    };
    let text = String::from_utf8_lossy(&bytes);
    let Ok(value) = json::parse(text.trim_start_matches('\u{feff}')) else {
        let is_meant = KEYS.iter().any(|key| text.contains(&json::quote(key)));
        if !is_meant {
            output::tell(&format!(
                "{} is not JSON, and is passed over\n",
                input::name(path)
            ));
        }
        return is_meant;
    };
    let has = |key: &str| value.get(key).is_some_and(|value| *value != Value::Null);
    has(config::KEY)
        || (has("fields") && (has("start_anchor") || has("start_anchor_pattern")))
        || (schemas && is_response_schema(&value, &text))
}
