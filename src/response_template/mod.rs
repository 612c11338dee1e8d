//! Response templates: the document, its validation, its compiled form, and its place in `tokenizer_config.json`.
//!
//! A response template is accepted exactly where `load_response_template` of transformers 5.23 accepts it, odd ones
//! included, and means the same. [`ResponseTemplate`] is the compiled form that a parser runs; [`Document`] is the plain
//! form to fill in and to write; [`config`] finds and stores it; [`Engine`] is what runs it, which may take less.

pub mod config;
mod delimiter;
mod document;
mod engine;
mod findings;
pub(crate) mod nearest;
mod plan;
pub(crate) mod strict;
mod validate;
mod vllm;

use std::fmt;

pub use document::{Delimiter, Document, FieldDocument};
pub use engine::{Engine, UnknownEngine};
pub(crate) use plan::{Plan, Sought};

use crate::content::{ContentParser, Transform};
use crate::diagnostic::Diagnostic;
use crate::pattern::{MatchError, Pattern};
use crate::value::{Key, Map, Path, Value, json};

/// A response template, validated and compiled.
///
/// ```
/// use obverse::response_template::ResponseTemplate;
/// let template = ResponseTemplate::from_json(r#"{
///     "start_anchor": "<|im_start|>assistant\n",
///     "fields": {"thinking": {"open": "<think>", "close": "</think>"}, "content": {"close": "<|im_end|>"}}
/// }"#).unwrap();
/// assert_eq!(template.fields()[template.implicit().unwrap()].name, "content");
/// assert_eq!(template.after_last_anchor("Hi<|im_start|>assistant\n<think>").unwrap(), "<think>");
/// ```
#[derive(Debug, Clone)]
pub struct ResponseTemplate {
    defaults: Map,
    fields: Vec<Field>,
    implicit: Option<usize>,
    anchor: Pattern,
    plan: Plan,
}

/// One field of a response template, compiled.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Field {
    /// The key of the message that it fills.
    pub name: Key,
    /// The pattern that opens its region; `None` for the implicit field.
    pub open: Option<Pattern>,
    /// The pattern that closes its region; without it the region lasts to the end of the response.
    pub close: Option<Pattern>,
    /// The parser that makes a value of its text.
    pub content: ContentParser,
    /// True if its values make a list, instead of the last one counting.
    pub repeats: bool,
    /// The text to put between its values, which are then one string instead of a list.
    pub join: Option<String>,
    /// True if a message without it is complete.
    pub optional: bool,
    /// The value to make of the parsed content and the captures.
    pub transform: Option<Transform>,
    /// True if the transform is for each item of the value.
    pub transform_each: bool,
}

impl ResponseTemplate {
    /// Compiles a document. The diagnostics of a failure have JSON paths but no byte offsets.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the document.
    pub fn from_value(value: &Value) -> Result<Self, Invalid> {
        validate::compile(value, None, &Path::default())
    }

    /// Compiles a document as [`from_value`](Self::from_value) does. Delimiters that this response template has as well need not be compiled,
    /// which takes most of the time.
    pub(crate) fn changed(&self, value: &Value) -> Result<Self, Invalid> {
        let fields = self.fields.iter();
        let delimiters = fields
            .flat_map(|field| [&field.open, &field.close])
            .flatten();
        let known = delimiters.chain([&self.anchor]).cloned();
        validate::compile_with(value, None, &Path::default(), known.collect())
    }

    /// Reads and compiles a document.
    ///
    /// # Errors
    ///
    /// That the text is not JSON, or everything that is wrong with the document; with byte offsets into the text.
    pub fn from_json(text: &str) -> Result<Self, Invalid> {
        let (value, places) =
            json::parse_with_places(text).map_err(|error| Invalid::from_json_error(&error, 0))?;
        validate::compile(
            &value,
            Some(&findings::Source {
                text,
                places: &places,
            }),
            &Path::default(),
        )
    }

    /// The message before anything is parsed; its keys are kept even when they are empty.
    pub fn defaults(&self) -> &Map {
        &self.defaults
    }

    /// The fields in the order of the document.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The index in [`Self::fields`] of the one field that nothing opens.
    pub fn implicit(&self) -> Option<usize> {
        self.implicit
    }

    /// The response template with no field that a message must have.
    pub(crate) fn without_required(&self) -> Self {
        let mut template = self.clone();
        for field in &mut template.fields {
            field.optional = true;
        }
        template
    }

    /// The pattern that marks the start of the model's turn in a prefix.
    pub fn anchor(&self) -> &Pattern {
        &self.anchor
    }

    /// The delimiters as a parser looks for them.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The part of a prefix that belongs to the response: what follows the last match of the anchor, or all of it when
    /// there is none.
    ///
    /// # Errors
    ///
    /// When the matcher gives up at one of its limits.
    pub fn after_last_anchor<'a>(&self, prefix: &'a str) -> Result<&'a str, MatchError> {
        let mut end = 0;
        for found in self.anchor.find_iter(prefix) {
            end = found?.span.end;
        }
        Ok(&prefix[end..])
    }
}

/// A response template that cannot be used: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    diagnostics: Vec<Diagnostic>,
}

impl Invalid {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }

    /// For a text that is not JSON; `start` is where the parsed text starts in the source.
    fn from_json_error(error: &json::JsonError, start: usize) -> Self {
        let at = start + error.offset();
        Self::new(vec![
            Diagnostic::error("json-syntax", format!("not JSON: {}", error.message()))
                .with_span(at..at),
        ])
    }

    /// The findings, in the order of the text where there is one; at least one, each of severity error.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The findings, by value.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }
}

/// One line for each diagnostic.
impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}
