//! Finding the chat templates of a model on disk.

use std::path::{Path, PathBuf};

use super::{ChatTemplate, TemplateError};
use crate::value::{Integer, Map, Value};

/// A chat template source that cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// The file or folder is not there or cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The file is not UTF-8.
    #[error("{}: not UTF-8 at byte {offset}", path.display())]
    NotUtf8 {
        /// Which.
        path: PathBuf,
        /// How many bytes are valid before the first that is not.
        offset: usize,
    },
    /// The file is not JSON.
    #[error("{}: {reason}", path.display())]
    InvalidJson {
        /// Which.
        path: PathBuf,
        /// What is wrong and where.
        reason: String,
    },
    /// There is no chat template there.
    #[error("{}: no chat template in it (found: {})", path.display(), seen.join(", "))]
    NoTemplate {
        /// Where it was looked for.
        path: PathBuf,
        /// What was there instead: keys of the document, or files of the folder.
        seen: Vec<String>,
    },
    /// A chat template does not compile.
    #[error("{}: chat template `{name}`: {error}", path.display())]
    Template {
        /// The file that holds it.
        path: PathBuf,
        /// Its name, `default` for the only one.
        name: String,
        /// Its source.
        source_text: String,
        /// What is wrong with it.
        error: TemplateError,
    },
}

/// The chat templates of one model and what its configuration says of them.
#[derive(Debug, Clone)]
pub struct ChatTemplateSource {
    /// A name for output files: the file's stem, or the folder's name.
    pub name: String,
    /// Where it was loaded from.
    pub path: PathBuf,
    /// The templates by name, the only one being called `default`.
    pub templates: Vec<(String, ChatTemplate)>,
    /// The model's `tokenizer_config.json`, when there is one.
    pub config_path: Option<PathBuf>,
    /// The special tokens that the templates are given: `bos_token`, `eos_token`, ...
    pub special_tokens: Map,
    /// The special tokens that were assumed because nothing names them; see [`ChatTemplateSource::assuming_tokens`].
    pub assumed_tokens: Vec<String>,
}

/// What the beginning and the end of a text are most often called, for templates that come without a configuration.
const ASSUMED_TOKENS: [(&str, &str); 2] = [("bos_token", "<s>"), ("eos_token", "</s>")];

impl ChatTemplateSource {
    /// The same source with special tokens, which win over those that it had.
    #[must_use]
    pub fn with_special_tokens(mut self, tokens: Map) -> Self {
        self.assumed_tokens
            .retain(|name| !tokens.contains_key(name));
        self.special_tokens.extend(tokens);
        for (_, template) in &mut self.templates {
            *template = template
                .clone()
                .with_special_tokens(self.special_tokens.clone());
        }
        self
    }

    /// The same source with `<s>` for a `bos_token` and `</s>` for an `eos_token` that a template reads and nothing
    /// names, as is the case of a `.jinja` file on its own. The field `assumed_tokens` tells which.
    #[must_use]
    pub fn assuming_tokens(self) -> Self {
        let missing: Vec<(&str, &str)> = ASSUMED_TOKENS
            .into_iter()
            .filter(|(name, _)| !self.special_tokens.contains_key(*name))
            .filter(|(name, _)| {
                let reads = |(_, template): &(String, ChatTemplate)| {
                    template.variables().iter().any(|variable| variable == name)
                };
                self.templates.iter().any(reads)
            })
            .collect();
        let tokens = missing
            .iter()
            .map(|(name, token)| ((*name).to_owned(), Value::from(*token)));
        let mut source = self.with_special_tokens(tokens.collect());
        source
            .assumed_tokens
            .extend(missing.iter().map(|(name, _)| (*name).to_owned()));
        source
    }

    /// The template that transformers would choose: `tool_use` when tools are given and there is one, else `default`;
    /// the error lists the names that there are.
    pub fn select(&self, with_tools: bool) -> Result<&ChatTemplate, LoadError> {
        let find = |name: &str| {
            self.templates
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, template)| template)
        };
        with_tools
            .then(|| find("tool_use"))
            .flatten()
            .or_else(|| find("default"))
            .ok_or_else(|| LoadError::NoTemplate {
                path: self.path.clone(),
                seen: self
                    .templates
                    .iter()
                    .map(|(name, _)| name.clone())
                    .collect(),
            })
    }
}

/// A chat template whose text is at hand, such as from standard input.
pub fn from_text(name: &str, text: &str) -> Result<ChatTemplateSource, LoadError> {
    let path = PathBuf::from(name);
    let template = compile(&path, "default", text, &Map::new())?;
    Ok(ChatTemplateSource {
        name: name.to_owned(),
        path,
        templates: vec![("default".to_owned(), template)],
        config_path: None,
        special_tokens: Map::new(),
        assumed_tokens: Vec::new(),
    })
}

/// The chat templates at `path`: a `.jinja` file, a `tokenizer_config.json`, or a model folder.
pub fn load(path: &Path) -> Result<ChatTemplateSource, LoadError> {
    let is_dir = path.is_dir();
    let folder = if is_dir {
        path
    } else {
        path.parent().unwrap_or_else(|| Path::new("."))
    };
    let mut named = Vec::new();
    let mut config_path = None;
    let mut special_tokens = Map::new();
    if !is_dir && path.extension().is_none_or(|extension| extension != "json") {
        named.push(("default".to_owned(), read(path)?));
    } else {
        let config_file = if is_dir {
            path.join("tokenizer_config.json")
        } else {
            path.to_path_buf()
        };
        let mut seen = Vec::new();
        if config_file.exists() || !is_dir {
            let text = read(&config_file)?;
            let config: serde_json::Value =
                serde_json::from_str(&text).map_err(|error| LoadError::InvalidJson {
                    path: config_file.clone(),
                    reason: error.to_string(),
                })?;
            let config = from_json(&config);
            special_tokens = tokens(&config);
            match config.get("chat_template") {
                Some(Value::String(text)) => named.push(("default".to_owned(), text.clone())),
                Some(Value::Array(items)) => {
                    for item in items {
                        if let (Some(name), Some(text)) = (
                            item.get("name").and_then(Value::as_str),
                            item.get("template").and_then(Value::as_str),
                        ) {
                            named.push((name.to_owned(), text.to_owned()));
                        }
                    }
                }
                _ => {}
            }
            seen = config
                .as_object()
                .map(|map| map.keys().cloned().collect())
                .unwrap_or_default();
            config_path = Some(config_file);
        }
        let beside = folder.join("chat_template.jinja");
        if beside.exists() {
            named = vec![("default".to_owned(), read(&beside)?)];
        }
        if named.is_empty() {
            return Err(LoadError::NoTemplate {
                path: path.to_path_buf(),
                seen,
            });
        }
    }
    let templates = named
        .into_iter()
        .map(|(name, text)| {
            compile(path, &name, &text, &special_tokens).map(|template| (name, template))
        })
        .collect::<Result<_, _>>()?;
    let name = if is_dir {
        path.file_name()
    } else {
        path.file_stem()
    };
    Ok(ChatTemplateSource {
        name: name.map_or_else(
            || "chat_template".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        ),
        path: path.to_path_buf(),
        templates,
        config_path,
        special_tokens,
        assumed_tokens: Vec::new(),
    })
}

fn compile(path: &Path, name: &str, text: &str, tokens: &Map) -> Result<ChatTemplate, LoadError> {
    ChatTemplate::new(text)
        .map(|template| template.with_special_tokens(tokens.clone()))
        .map_err(|error| LoadError::Template {
            path: path.to_path_buf(),
            name: name.to_owned(),
            source_text: text.to_owned(),
            error,
        })
}

fn read(path: &Path) -> Result<String, LoadError> {
    let bytes = std::fs::read(path).map_err(|error| LoadError::Unreadable {
        path: path.to_path_buf(),
        reason: error.to_string(),
    })?;
    String::from_utf8(bytes).map_err(|error| LoadError::NotUtf8 {
        path: path.to_path_buf(),
        offset: error.utf8_error().valid_up_to(),
    })
}

fn tokens(config: &Value) -> Map {
    let names = [
        "bos_token",
        "eos_token",
        "unk_token",
        "sep_token",
        "pad_token",
        "cls_token",
        "mask_token",
    ];
    let mut out = Map::new();
    for name in names {
        let text = match config.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(token) => token
                .get("content")
                .and_then(Value::as_str)
                .map(str::to_owned),
            None => None,
        };
        if let Some(text) = text {
            out.insert(name.to_owned(), Value::String(text));
        }
    }
    out
}

fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => Integer::from_digits(&number.to_string())
            .map(Value::Int)
            .unwrap_or_else(|| Value::Float(number.as_f64().unwrap_or(f64::NAN))),
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(from_json).collect()),
        serde_json::Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.clone(), from_json(value)))
                .collect(),
        ),
    }
}
