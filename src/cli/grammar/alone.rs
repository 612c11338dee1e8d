//! Sources of a grammar that are a response template, with no chat template beside it.

use std::path::Path;

use obverse::grammar::peg::document;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

use crate::cli::input;
use crate::cli::problem::Problem;
use crate::cli::template;

/// The configuration in a model folder.
const CONFIG: &str = "tokenizer_config.json";

/// The files beside a configuration that hold a chat template.
const BESIDE: [&str; 3] = [
    "chat_template.jinja",
    "chat_template.json",
    "additional_chat_templates",
];

/// A response template, and the tokens that end a turn as far as they are known.
pub(super) struct Alone {
    pub(super) template: ResponseTemplate,
    pub(super) end_tokens: Vec<String>,
}

/// A source that was looked at.
pub(super) enum Looked {
    /// It is a response template.
    Alone(Box<Alone>),
    /// It is something else: its text where it was read from standard input.
    Other(Option<String>),
}

/// Looks whether the source is a response template, or a configuration that has one and no chat template.
pub(super) fn look(path: &Path) -> Result<Looked, Problem> {
    if input::is_stdin(path) {
        let text = input::read_text(path)?;
        return match document_alone(&text, None) {
            Some(document) => alone(path, text, &document),
            None => Ok(Looked::Other(Some(text))),
        };
    }
    let file = if path.is_dir() {
        path.join(CONFIG)
    } else {
        path.to_owned()
    };
    let is_json = file
        .extension()
        .is_some_and(|extension| extension == "json");
    if !is_json || !file.is_file() {
        return Ok(Looked::Other(None));
    }
    let text = input::read_text(&file)?;
    match document_alone(&text, file.parent()) {
        Some(document) => alone(&file, text, &document),
        None => Ok(Looked::Other(None)),
    }
}

/// The document in a text that is to be read as a response template, or as a mistake for one; `None` for any other text.
fn document_alone(text: &str, folder: Option<&Path>) -> Option<Value> {
    let document = json::parse(text)
        .ok()
        .filter(|value| value.as_object().is_some())?;
    let has = |key: &str| {
        let value = document.get(key);
        value.is_some_and(|value| *value != Value::Null)
    };
    let is_beside = || {
        let folder = folder.filter(|folder| folder.join(CONFIG).is_file());
        folder.is_some_and(|folder| BESIDE.iter().any(|name| folder.join(name).exists()))
    };
    let is_alone = has("fields")
        || document::is_grammar(&document)
        || (has("response_template") && !has("chat_template") && !is_beside());
    is_alone.then_some(document)
}

fn alone(path: &Path, text: String, document: &Value) -> Result<Looked, Problem> {
    if document::is_grammar(document) {
        let message = format!("{} is a grammar already", input::name(path));
        return Err(Problem::failed("usage", message).with_hint(
            "to read a response with it, use `obverse peg` or `obverse parse`; a grammar is made of a chat template or of a response template",
        ));
    }
    let opened = template::read(path.to_owned(), text)?;
    let token = match document.get("eos_token") {
        Some(Value::String(token)) => Some(token.clone()),
        Some(token) => token
            .get("content")
            .and_then(Value::as_str)
            .map(str::to_owned),
        None => None,
    };
    Ok(Looked::Alone(Box::new(Alone {
        template: opened.loaded.template,
        end_tokens: token.into_iter().collect(),
    })))
}
