//! Finding a response schema: alone in a file, or in a `tokenizer_config.json`. Its content tells which of the two a text is.

use super::ResponseSchema;
use super::validate::{self, Invalid};
use crate::diagnostic::Diagnostic;
use crate::value::json::{self, Places};
use crate::value::{Map, Path, Value};

/// The member of a `tokenizer_config.json` that holds the response schema.
pub const KEY: &str = "response_schema";

/// The place where a response schema was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The text is the document.
    Document,
    /// The text is a `tokenizer_config.json` that holds it.
    TokenizerConfig,
}

/// A response schema as it was found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The place where it was found.
    pub source: Source,
    /// The document as it is written.
    pub document: Value,
    /// The compiled form of the document.
    pub schema: ResponseSchema,
    /// The path to the document from the root of the text.
    pub path: Path,
    /// The place of each value in the text.
    pub places: Places,
}

/// Returns true if a value is meant to be a response schema: an object that has a key of a schema's nodes which no response template and no
/// `tokenizer_config.json` has.
///
/// ```
/// use obverse::response_schema::is_schema;
/// use obverse::value::json;
/// assert!(is_schema(&json::parse(r#"{"type": "object", "properties": {}}"#).unwrap()));
/// assert!(!is_schema(&json::parse(r#"{"start_anchor": "x", "fields": {}}"#).unwrap()));
/// ```
pub fn is_schema(value: &Value) -> bool {
    let Value::Object(members) = value else {
        return false;
    };
    let has = |key: &str| members.contains_key(key);
    let is_template = has("fields") || has("start_anchor") || has("start_anchor_pattern");
    !is_template
        && (members
            .keys()
            .any(|key| key.starts_with("x-regex") || key.starts_with("x-parser"))
            || has("properties")
            || has("prefixItems")
            || has("type") && (has("items") || has("const")))
}

/// The response schema that a text is, or that it holds as a `tokenizer_config.json` without a response template; `None` where there
/// is neither, and for what is not JSON.
///
/// # Errors
///
/// Everything that is wrong with the response schema; with byte offsets into the text.
pub fn load_any(text: &str) -> Option<Result<Loaded, Invalid>> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (value, mut places) = json::parse_with_places(body).ok()?;
    places.shift(text.len() - body.len());
    if let Value::Object(members) = &value
        && is_set(members, KEY)
    {
        if is_set(members, TEMPLATE_KEY) {
            return None;
        }
        let path = Path::default().key(KEY);
        let document = members.get(KEY).cloned().unwrap_or_default();
        return Some(load(Source::TokenizerConfig, document, path, places));
    }
    is_schema(&value).then(|| load(Source::Document, value, Path::default(), places))
}

/// The member that holds a response template, which is preferred.
const TEMPLATE_KEY: &str = "response_template";

fn is_set(members: &Map, key: &str) -> bool {
    members.get(key).is_some_and(|value| *value != Value::Null)
}

fn load(source: Source, document: Value, path: Path, places: Places) -> Result<Loaded, Invalid> {
    if document.as_object().is_none() {
        let message = format!(
            "a response schema is an object, not {}",
            document.json_kind()
        );
        let diagnostic = Diagnostic::error("wrong-type", message).with_path(path.to_string());
        return Err(Invalid::new(vec![diagnostic]));
    }
    let schema = validate::compile(&document, Some(&places), &path)?;
    Ok(Loaded {
        source,
        document,
        schema,
        path,
        places,
    })
}
