//! Opening response templates, the same way for every verb that takes one.

use std::path::{Path, PathBuf};

use obverse::chat_template;
use obverse::diagnostic::Diagnostic;
use obverse::grammar::peg::document;
use obverse::grammar::reader::Template as Grammar;
use obverse::hub::Wanted;
use obverse::response_schema;
use obverse::response_template::Invalid;
use obverse::response_template::config::{self, Loaded};
use obverse::value;

use super::hub;
use super::input;
use super::peg;
use super::problem::{Document, Problem};
use super::quoted::as_argument;

/// The configuration in a model folder.
pub(crate) const CONFIG: &str = "tokenizer_config.json";

/// A response template that was read.
pub(crate) struct Opened {
    /// The file that it stands in.
    pub(crate) file: PathBuf,
    /// The file's text.
    pub(crate) text: String,
    /// The document and its compiled form.
    pub(crate) loaded: Loaded,
}

/// A response template, a response schema or a grammar, told apart by what is in it.
pub(crate) enum Either {
    /// A response template.
    Template(Opened),
    /// A response schema, in this file with this text.
    Schema(PathBuf, String, response_schema::Loaded),
    /// A grammar.
    Grammar(Box<Grammar>),
}

/// The response template, response schema or grammar in a file, or in the configuration of a model folder.
pub(crate) fn open_either(path: &Path) -> Result<Either, Problem> {
    let file = file_of(path)?;
    if file
        .extension()
        .is_some_and(|extension| extension == "gguf")
    {
        return open(path).map(Either::Template);
    }
    let text = input::read_text(&file)?;
    if value::json::parse(&text).is_ok_and(|value| document::is_grammar(&value)) {
        let name = input::name(&file);
        let grammar = Grammar::from_json(&text).map_err(|found| peg::invalid(found, name, text))?;
        return Ok(Either::Grammar(Box::new(grammar)));
    }
    match response_schema::load_any(&text) {
        Some(Ok(loaded)) => Ok(Either::Schema(file, text, loaded)),
        Some(Err(invalid)) => {
            let document = Document::new(input::name(&file), text);
            Err(Problem::all(invalid.into_diagnostics()).about(document))
        }
        None => read(file, text).map(Either::Template),
    }
}

/// The response template in a file, or in the configuration of a model folder.
pub(crate) fn open(path: &Path) -> Result<Opened, Problem> {
    let file = file_of(path)?;
    if file
        .extension()
        .is_some_and(|extension| extension == "gguf")
    {
        let message = "this is a model with its chat template, not a response template";
        return Err(none(&file, Diagnostic::error(NONE, message)));
    }
    let text = input::read_text(&file)?;
    read(file, text)
}

/// The response template in a text that was read from a file.
pub(crate) fn read(file: PathBuf, text: String) -> Result<Opened, Problem> {
    match config::load_any(&text) {
        Ok(loaded) => Ok(Opened { file, text, loaded }),
        Err(invalid) => Err(refused(&file, text, invalid)),
    }
}

/// The file of a response template: the path itself, or the configuration in a model folder.
fn file_of(path: &Path) -> Result<PathBuf, Problem> {
    let cached = hub::folder(path, Wanted::ChatTemplates)?;
    let path = cached.as_deref().unwrap_or(path);
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let config = path.join(CONFIG);
    if config.is_file() {
        return Ok(config);
    }
    let message = format!("the folder has no {CONFIG}, so there is no response template in it");
    Err(none(path, Diagnostic::error(NONE, message)))
}

const NONE: &str = "no-response-template";

/// Returns true if a response template can be derived from what lies there.
pub(crate) fn is_source(path: &Path) -> bool {
    !input::is_stdin(path) && chat_template::load(path).is_ok()
}

/// Returns the problem that a text is no response template.
pub(crate) fn refused(path: &Path, text: String, invalid: Invalid) -> Problem {
    let mut diagnostics = invalid.into_diagnostics();
    for diagnostic in diagnostics.iter_mut().filter(|found| found.code == NONE) {
        diagnostic.hint = Some(hint(path));
    }
    Problem::all(diagnostics).about(Document::new(input::name(path), text))
}

/// The problem that there is no response template at a path, with how to make one.
pub(crate) fn none(path: &Path, diagnostic: Diagnostic) -> Problem {
    Problem::of(diagnostic.with_hint(hint(path))).about(Document {
        name: input::name(path),
        text: None,
    })
}

/// The command that makes a response template where there is none.
pub(crate) fn hint(path: &Path) -> String {
    let name = as_argument(path);
    let is_config = path.file_name().is_some_and(|file| file == CONFIG);
    let is_made_of = is_source(path) || is_config && path.parent().is_some_and(is_source);
    if !is_made_of {
        return "derive one: `obverse derive SOURCE` takes a .jinja file, a tokenizer_config.json, a model folder or a .gguf file with a chat template"
            .to_owned();
    }
    if is_config {
        format!(
            "derive one from the chat template: `obverse derive --write {name}` stores it there"
        )
    } else {
        format!("derive one from the chat template: `obverse derive {name}` prints it")
    }
}
