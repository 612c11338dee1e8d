//! What is derived from every chat template at hand. It is the dearest thing that tests want, so that each template is derived
//! once in a process, and all cores derive.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use obverse::chat_template::{self, ChatTemplateSource};
use obverse::derive::{Derivation, DeriveError, Options, derive};

use super::{cores, corpus};

/// One chat template and its derivation.
pub struct Derived {
    /// `chat_templates/NAME.jinja` for the project's own, the name below the corpus for others.
    pub name: String,
    /// The chat template.
    pub source: ChatTemplateSource,
    /// What was derived.
    pub outcome: Result<Derivation, DeriveError>,
}

impl Derived {
    /// Whether the chat template is one of the project's own.
    pub fn is_own(&self) -> bool {
        self.name.starts_with("chat_templates/")
    }

    /// The file's name without its folder and extension.
    pub fn stem(&self) -> &str {
        let file = self.name.rsplit('/').next().unwrap_or(&self.name);
        file.strip_suffix(".jinja").unwrap_or(file)
    }

    /// The stem of the project's own, the name below the corpus of others.
    pub fn known_as(&self) -> &str {
        match self.is_own() {
            true => self.stem(),
            false => &self.name,
        }
    }

    /// # Panics
    ///
    /// When nothing could be derived.
    pub fn expect(&self) -> &Derivation {
        let outcome = self.outcome.as_ref();
        outcome.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// The derivations of the project's own chat templates, sorted by name.
pub fn own() -> &'static [Derived] {
    static OWN: OnceLock<Vec<Derived>> = OnceLock::new();
    OWN.get_or_init(|| derive_all(&own_templates()))
}

/// The derivations of the project's own chat templates and then of the corpus; of the former alone where there is no corpus.
pub fn all() -> &'static [Derived] {
    static ALL: OnceLock<Vec<Derived>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut files = own_templates();
        files.extend(corpus::templates());
        derive_all(&files)
    })
}

/// The project's own chat templates, sorted: the path and the file.
pub fn own_templates() -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = std::fs::read_dir("chat_templates")
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jinja")
        })
        .map(|path| (path.display().to_string(), path))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "chat_templates/ holds chat templates");
    found
}

/// The derivations of a few of all of these, spread over their list, so that formats of every age and author are among them: for tests
/// that run daily, beside others that are ignored and take all.
pub fn few() -> &'static [Derived] {
    /// One in so many.
    const STEP: usize = 16;
    static FEW: OnceLock<Vec<Derived>> = OnceLock::new();
    FEW.get_or_init(|| {
        let mut files = own_templates();
        files.extend(corpus::templates());
        let files: Vec<_> = files.into_iter().step_by(STEP).collect();
        derive_all(&files)
    })
}

/// The derivations of some of the project's own chat templates, by their names.
pub fn own_named(names: &[&str]) -> Vec<Derived> {
    let file = |name: &&str| format!("chat_templates/{name}.jinja");
    let files: Vec<_> = names
        .iter()
        .map(file)
        .map(|name| (name.clone(), PathBuf::from(name)))
        .collect();
    derive_all(&files)
}

/// The derivations of some chat templates of the corpus, by their names below its folder; none where there is no corpus.
pub fn of_corpus(names: &[&str]) -> Vec<Derived> {
    let mut files = corpus::templates();
    files.retain(|(name, _)| names.contains(&name.as_str()));
    derive_all(&files)
}

fn derive_all(files: &[(String, PathBuf)]) -> Vec<Derived> {
    cores::each(files, |(name, path)| derive_one(name, path))
}

fn derive_one(name: &str, path: &Path) -> Derived {
    let source = chat_template::load(path)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .assuming_tokens();
    Derived {
        name: name.to_owned(),
        outcome: derive(&source, &Options::default()),
        source,
    }
}
