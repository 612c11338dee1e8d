//! `obverse.toml`: which files of a project belong together, and what its linter allows.
//!
//! ```toml
//! # Which chat template and which fixtures belong to which response templates. Paths are relative to this file; {name} is
//! # the name of a response template's file without its extension. Of several entries that match, the first counts.
//! [[template]]
//! files = ["derived/*.json"]
//! exclude = ["derived/*.report.json"]
//! chat_template = "chat_templates/{name}.jinja"
//! fixtures = ["fixtures/{name}/*"]
//! # What these are to run in beside transformers: they are derived again and linted for it.
//! engines = ["vllm", "sglang"]
//!
//! [lint]
//! deny = ["warnings"]
//!
//! # A finding that is meant: by its code, with a reason, for some files or all.
//! [[lint.allow]]
//! code = "holds-back"
//! files = ["derived/deepseek_*.json"]
//! reason = "the prompt may or may not open the reasoning, and only its close tells"
//! ```

mod files;

use std::ops::Range;
use std::path::{Path, PathBuf};

use globset::GlobSet;
use serde::Deserialize;
use toml::Spanned;

use crate::diagnostic::Diagnostic;
use crate::lint;
use crate::response_template::nearest::nearest;
use crate::response_template::{Engine, UnknownEngine};

/// The file's name.
pub const FILE: &str = "obverse.toml";

/// The placeholder for the name of a response template.
const NAME: &str = "{name}";

/// A character that no file is called by, to stand for the name where a glob is looked through for wildcards.
const STAND_IN: &str = "\0";

/// The file as it is written.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProjectFile {
    /// The files that belong to each group of response templates.
    #[serde(default)]
    pub template: Vec<TemplateEntry>,
    /// The settings of the linter.
    #[serde(default)]
    pub lint: LintEntry,
}

/// The files that belong to some response templates.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TemplateEntry {
    /// Globs for the response templates, or the `tokenizer_config.json` files that hold them.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub files: Vec<Spanned<String>>,
    /// Globs for files that are none although `files` matches them.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub exclude: Vec<Spanned<String>>,
    /// The chat template: a `.jinja` file, a `tokenizer_config.json` or a model folder. `{name}` is the name of the response
    /// template's file without its extension.
    pub chat_template: Option<String>,
    /// Globs for the fixtures of such a response template, with `{name}` as above. A folder is taken with all that it holds.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub fixtures: Vec<Spanned<String>>,
    /// The engines that these are meant for: `transformers`, `vllm`, `sglang`. They are derived again and linted for all of them; without
    /// any, for transformers alone.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "engine_names"))]
    pub engines: Vec<Spanned<String>>,
    /// True holds their fixtures to the grammar of what the model may write, as `obverse grammar` makes it.
    #[serde(default)]
    pub grammar: bool,
}

#[cfg(test)]
fn engine_names(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "items": {"type": "string", "enum": Engine::ALL.map(Engine::name)},
    })
}

/// The settings of the linter.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LintEntry {
    /// Codes whose findings are errors; `warnings` stands for all that are warnings.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub deny: Vec<Spanned<String>>,
    /// Findings that are meant.
    #[serde(default)]
    pub allow: Vec<AllowEntry>,
}

/// A finding that is meant.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AllowEntry {
    /// The code.
    #[cfg_attr(test, schemars(with = "String"))]
    pub code: Spanned<String>,
    /// Globs for the response templates; absent means all.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub files: Option<Vec<Spanned<String>>>,
    /// Why it is meant. A reason is required.
    #[cfg_attr(test, schemars(with = "String"))]
    pub reason: Spanned<String>,
}

/// An `obverse.toml`, ready to be asked.
#[derive(Debug, Clone)]
pub struct Project {
    root: PathBuf,
    templates: Vec<Template>,
    deny: Vec<String>,
    allow: Vec<Allow>,
}

#[derive(Debug, Clone)]
struct Template {
    files: Vec<String>,
    included: GlobSet,
    excluded: GlobSet,
    chat_template: Option<String>,
    fixtures: Vec<String>,
    engines: Vec<Engine>,
    grammar: bool,
}

#[derive(Debug, Clone)]
struct Allow {
    code: String,
    /// `None`: all.
    files: Option<GlobSet>,
}

/// The files that belong to one response template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Belongings {
    /// Its chat template, which need not exist.
    pub chat_template: Option<PathBuf>,
    /// Its fixtures: files and folders that exist, in the order of their names.
    pub fixtures: Vec<PathBuf>,
    /// The engines that it is meant for; none means transformers alone.
    pub engines: Vec<Engine>,
    /// True if its fixtures are held to the grammar of what the model may write.
    pub grammar: bool,
}

impl Template {
    /// Returns true if a path from the root is that of such a response template.
    fn takes(&self, relative: &Path) -> bool {
        self.included.is_match(relative) && !self.excluded.is_match(relative)
    }
}

impl Project {
    /// Reads the text of an `obverse.toml` that lies in the folder `root`.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it, with its place in the text: its syntax, an unknown key, code or engine, a
    /// glob that is none, an empty reason.
    pub fn read(text: &str, root: &Path) -> Result<Self, Box<Diagnostic>> {
        let written: ProjectFile = toml::from_str(text).map_err(|error| {
            let diagnostic = Diagnostic::error("obverse-toml", error.message().to_owned());
            Box::new(match error.span() {
                Some(span) => diagnostic.with_span(span),
                None => diagnostic,
            })
        })?;
        let mut project = Self {
            root: root.to_owned(),
            templates: Vec::new(),
            deny: Vec::new(),
            allow: Vec::new(),
        };
        for entry in written.template {
            files::set(&entry.fixtures)?;
            project.templates.push(Template {
                included: files::set(&entry.files)?,
                excluded: files::set(&entry.exclude)?,
                files: entry.files.into_iter().map(Spanned::into_inner).collect(),
                chat_template: entry.chat_template,
                fixtures: entry
                    .fixtures
                    .into_iter()
                    .map(Spanned::into_inner)
                    .collect(),
                engines: entry.engines.iter().map(engine).collect::<Result<_, _>>()?,
                grammar: entry.grammar,
            });
        }
        for code in written.lint.deny {
            if code.get_ref() != lint::WARNINGS {
                known(&code)?;
            }
            project.deny.push(code.into_inner());
        }
        for entry in written.lint.allow {
            known(&entry.code)?;
            if entry.reason.get_ref().trim().is_empty() {
                let message = "a finding that is allowed needs a reason";
                return Err(wrong(entry.reason.span(), message));
            }
            project.allow.push(Allow {
                code: entry.code.into_inner(),
                files: entry.files.as_deref().map(files::set).transpose()?,
            });
        }
        Ok(project)
    }

    /// The `obverse.toml` in a folder or in the nearest one around it; `None` when there is none.
    pub fn find(folder: &Path) -> Option<PathBuf> {
        let folder = std::path::absolute(folder).ok()?;
        folder
            .ancestors()
            .map(|folder| folder.join(FILE))
            .find(|file| file.is_file())
    }

    /// The folder that the file lies in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The codes whose findings are errors.
    pub fn deny(&self) -> &[String] {
        &self.deny
    }

    /// All response templates that the file names, in the order of its entries and then of their names.
    pub fn response_templates(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for template in &self.templates {
            for path in files::find(&self.root, &template.files) {
                let is_one = self
                    .relative(&path)
                    .is_some_and(|relative| template.takes(&relative));
                if is_one && !found.contains(&path) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Finds the files that belong to a response template; nothing when the file does not name it.
    pub fn belongings(&self, path: &Path) -> Belongings {
        let Some(relative) = self.relative(path) else {
            return Belongings::default();
        };
        let entry = self
            .templates
            .iter()
            .find(|template| template.takes(&relative));
        let Some(entry) = entry else {
            return Belongings::default();
        };
        let name = path.file_stem().map(|name| name.to_string_lossy());
        let name = name.as_deref().unwrap_or_default();
        let named = |text: &String| text.replace(NAME, name);
        // A name may have in it what globs have a meaning for.
        let glob = |text: &String| text.replace(NAME, &globset::escape(name));
        let globs: Vec<String> = entry.fixtures.iter().map(glob).collect();
        Belongings {
            chat_template: entry
                .chat_template
                .as_ref()
                .map(|path| self.root.join(named(path))),
            fixtures: files::find_outermost(&self.root, &globs),
            engines: entry.engines.clone(),
            grammar: entry.grammar,
        }
    }

    /// Where a response template's new fixtures belong: what stands before the first wildcard of the first glob for its fixtures. That
    /// is a suite when it ends in `.jsonl`, and a folder of fixtures otherwise.
    pub fn fixture_place(&self, path: &Path) -> Option<PathBuf> {
        let relative = self.relative(path)?;
        let entry = self
            .templates
            .iter()
            .find(|template| template.takes(&relative))?;
        let name = path.file_stem()?.to_string_lossy();
        let glob = entry.fixtures.first()?.replace(NAME, STAND_IN);
        let place = files::literal_folder(&glob).replace(STAND_IN, &name);
        Some(self.root.join(place))
    }

    /// Returns true if a finding about a response template is meant.
    pub fn allows(&self, code: &str, path: &Path) -> bool {
        let relative = self.relative(path);
        self.allow.iter().any(|allow| {
            allow.code == code
                && match (&allow.files, &relative) {
                    (None, _) => true,
                    (Some(files), Some(relative)) => files.is_match(relative),
                    (Some(_), None) => false,
                }
        })
    }

    /// The path from the root; `None` for one that lies elsewhere.
    fn relative(&self, path: &Path) -> Option<PathBuf> {
        let real = |path: &Path| {
            std::fs::canonicalize(path)
                .or_else(|_| std::path::absolute(path))
                .ok()
        };
        let root = real(&self.root)?;
        real(path)?.strip_prefix(root).ok().map(Path::to_owned)
    }
}

fn known(code: &Spanned<String>) -> Result<(), Box<Diagnostic>> {
    if lint::is_code(code.get_ref()) {
        return Ok(());
    }
    let message = format!("there is no code `{}`", code.get_ref());
    let mut problem = wrong(code.span(), &message);
    let codes: Vec<&str> = lint::codes().chain([lint::WARNINGS]).collect();
    problem.hint = Some(match nearest(code.get_ref(), &codes) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`obverse explain` lists them".to_owned(),
    });
    Err(problem)
}

fn engine(name: &Spanned<String>) -> Result<Engine, Box<Diagnostic>> {
    name.get_ref()
        .parse()
        .map_err(|error: UnknownEngine| wrong(name.span(), &error.to_string()))
}

fn wrong(span: Range<usize>, message: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("obverse-toml", message).with_span(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().expect("a folder");
        for file in [
            "a/x.json",
            "a/x.report.json",
            "a/y.json",
            "f/x/1/response.txt",
            "f/x/2.jsonl",
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, "{}").expect("a file");
        }
        let project = Project::read(text, folder.path()).expect("a project");
        (folder, project)
    }

    #[test]
    fn files_are_found_and_what_belongs_to_them() {
        let (folder, project) = project(
            r#"
            [[template]]
            files = ["a/*.json"]
            exclude = ["a/*.report.json"]
            chat_template = "c/{name}.jinja"
            fixtures = ["f/{name}/*"]
            engines = ["vllm", "transformers"]
            grammar = true
            [[template]]
            files = ["f/*/*.jsonl"]
            fixtures = ["g/{name}.jsonl", "g/{name}/*"]
            [[lint.allow]]
            code = "dollar"
            files = ["a/x*"]
            reason = "meant"
            "#,
        );
        let at = |path: &str| folder.path().join(path);
        assert_eq!(
            project.response_templates(),
            [at("a/x.json"), at("a/y.json"), at("f/x/2.jsonl")]
        );
        let belongings = project.belongings(&at("a/x.json"));
        assert_eq!(belongings.chat_template, Some(at("c/x.jinja")));
        assert_eq!(belongings.fixtures, [at("f/x/1"), at("f/x/2.jsonl")]);
        assert_eq!(belongings.engines, [Engine::Vllm, Engine::Transformers]);
        assert!(belongings.grammar);
        assert_eq!(project.belongings(&at("f/x/2.jsonl")).engines, []);
        assert!(!project.belongings(&at("f/x/2.jsonl")).grammar);
        // A glob that goes to any depth finds the same: what is in a fixture's folder is no fixture.
        let text = r#"
            [[template]]
            files = ["a/*.json"]
            fixtures = ["f/{name}/**"]
            "#;
        let deep = Project::read(text, folder.path()).expect("a project");
        assert_eq!(
            deep.belongings(&at("a/x.json")).fixtures,
            belongings.fixtures
        );
        assert_eq!(
            project.belongings(&at("f/x/1/response.txt")),
            Belongings::default()
        );
        let place = |path: &str| project.fixture_place(&at(path));
        // What globs have a meaning for is part of a name there.
        assert_eq!(place("a/[y].json"), Some(at("f/[y]")));
        let odd = r#"[[template]]
            files = ["a/[[]y].json"]
            fixtures = ["b/[[]z[]]/{name}/*"]"#;
        let odd = Project::read(odd, folder.path()).expect("a project");
        assert_eq!(odd.fixture_place(&at("a/[y].json")), Some(at("b/[z]/[y]")));
        assert_eq!(place("a/x.json"), Some(at("f/x")));
        assert_eq!(place("f/x/2.jsonl"), Some(at("g/2.jsonl")));
        assert_eq!(place("f/x/1/response.txt"), None);
        assert!(project.allows("dollar", &at("a/x.json")));
        assert!(!project.allows("dollar", &at("a/y.json")));
        assert!(!project.allows("zero-width", &at("a/x.json")));
        let found = Project::find(&at("a"));
        assert_ne!(found, Some(at(FILE)));
        std::fs::write(at(FILE), "").expect("a file");
        assert_eq!(Project::find(&at("a")), Some(at(FILE)));
    }

    #[test]
    fn a_code_that_is_nearly_one_is_told() {
        for (code, near) in [("dolar", "dollar"), ("warnngs", "warnings")] {
            let text = format!("[lint]\ndeny = [\"{code}\"]");
            let problem = Project::read(&text, Path::new(".")).expect_err("no project");
            assert_eq!(problem.hint, Some(format!("did you mean `{near}`?")));
        }
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, at, words) in [
            ("[lint]\ndeny = [\"dolar\"]", "\"dolar\"", "no code"),
            (
                "[[lint.allow]]\ncode = \"dollar\"\nreason = \" \"",
                "\" \"",
                "reason",
            ),
            (
                "[[lint.allow]]\ncode = \"dollar\"",
                "[[lint.allow]]",
                "reason",
            ),
            ("[[template]]\nfiles = [\"a[\"]", "\"a[\"", "glob"),
            (
                "[[template]]\nfiles = []\nengines = [\"vllm\", \"sglnag\"]",
                "\"sglnag\"",
                "the engines are transformers, vllm, sglang",
            ),
            (
                "[[template]]\nfiles = []\nfixture = []",
                "fixture",
                "unknown field",
            ),
            ("x =", "", ""),
        ] {
            let error = Project::read(text, Path::new(".")).expect_err(text);
            let span = error.place.span.clone().expect(text);
            assert!(
                text[span.clone()].starts_with(at),
                "{text}: {:?}",
                &text[span]
            );
            assert!(error.message.contains(words), "{text}: {}", error.message);
        }
    }
}
