//! Finding the chat templates of a model on disk, as transformers finds them.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::error::{LoadError, TemplateError};
use super::{ChatTemplate, TokenLists, gguf};
use crate::hub;
use crate::value::{Map, Value, json};

/// Variables that every template is given; the others are kwargs to try.
const GIVEN: [&str; 4] = ["messages", "tools", "documents", "add_generation_prompt"];

/// The documents for retrieval, which are no part of most conversations.
pub(crate) const DOCUMENTS: &str = "documents";

/// How many variables are tried as kwargs, and how many constants of each.
const MAX_KWARGS: usize = 64;
const MAX_VALUES: usize = 16;

/// The number of bytes that one file may have.
const MAX_FILE: u64 = 64 << 20;

/// The file of one raw chat template, beside a model's configuration.
const RAW: &str = "chat_template.jinja";

/// The folder of further ones.
const FURTHER: &str = "additional_chat_templates";

/// The JSON file that processors kept their chat template in.
const LEGACY: &str = "chat_template.json";

const CONFIG: &str = "tokenizer_config.json";

/// The special tokens that every tokenizer has, in the order in which transformers tells them.
const SPECIAL_TOKENS: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// The chat templates of one model and what its configuration says of them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChatTemplateSource {
    /// A name for output files: the file's stem, or the folder's name where the file's name says nothing.
    pub name: String,
    /// Where it was loaded from, as it was given.
    pub path: PathBuf,
    /// The templates by name, the only one being called `default`; never empty.
    pub templates: Vec<(String, ChatTemplate)>,
    /// The templates that do not compile, by name, each with its error; at least one other compiles. They stop only what would render with them, since
    /// transformers compiles no other.
    pub broken: Vec<(String, LoadError)>,
    /// The model's `tokenizer_config.json`, when there is one.
    pub config_path: Option<PathBuf>,
    /// The special tokens that the templates are given: `bos_token`, `eos_token`, ... Each is a string.
    pub special_tokens: Map,
    /// The special tokens that were assumed because nothing names them; see [`ChatTemplateSource::assuming_tokens`].
    pub assumed_tokens: Vec<String>,
    /// The configuration's response template, as it stands there.
    pub response_template: Option<Value>,
    /// The lists of the tokenizer's files.
    pub tokens: TokenLists,
}

/// The tokens of the lists at which an engine stops, and the tokenizer's own end.
fn end_tokens(tokens: &TokenLists, special_tokens: &Map) -> Vec<String> {
    let own = special_tokens.get("eos_token").and_then(Value::as_str);
    let own = own.filter(|end| !end.is_empty() && !tokens.end.iter().any(|known| known == end));
    let own = own.map(str::to_owned);
    tokens.end.iter().cloned().chain(own).collect()
}

/// The most common tokens for the beginning and the end of a text, for templates that come without a configuration.
const ASSUMED_TOKENS: [(&str, &str); 2] = [("bos_token", "<s>"), ("eos_token", "</s>")];

impl ChatTemplateSource {
    /// The source with special tokens, which win over those that it had.
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

    /// The source with `<s>` for a `bos_token` and `</s>` for an `eos_token` that a template reads, if there is no
    /// configuration that could name them, as is the case of a `.jinja` file on its own.
    #[must_use]
    pub fn assuming_tokens(self) -> Self {
        if self.config_path.is_some() || !self.special_tokens.is_empty() {
            return self;
        }
        let read = |name: &str| {
            self.templates
                .iter()
                .any(|(_, template)| template.variables().iter().any(|variable| variable == name))
        };
        let tokens: Map = ASSUMED_TOKENS
            .into_iter()
            .filter(|(name, _)| read(name))
            .map(|(name, token)| (name.to_owned(), Value::from(token)))
            .collect();
        let assumed_tokens = tokens.keys().map(ToString::to_string).collect();
        Self {
            assumed_tokens,
            ..self.with_special_tokens(tokens)
        }
    }

    /// The tokens at which an engine stops: those of the tokenizer's files, and the `eos_token`, also where it is assumed.
    pub fn end_tokens(&self) -> Vec<String> {
        end_tokens(&self.tokens, &self.special_tokens)
    }

    /// The texts that are markers wherever they stand: special tokens that the templates are given, texts that they search others for, and tokens that were added to the
    /// vocabulary. (Not those without signs, which may be parts of longer words.)
    pub(crate) fn marks(&self) -> impl Iterator<Item = &str> {
        let given = self.special_tokens.values().filter_map(Value::as_str);
        let templates = self.templates.iter();
        let sought = templates.flat_map(|(_, template)| template.sought());
        let added = self.tokens.added();
        let added = added.filter(|token| !token.chars().all(char::is_alphanumeric));
        given.chain(sought.map(String::as_str)).chain(added)
    }

    /// The tokens that were added to the vocabulary without being special, and that the source of a chat template has in it.
    pub fn named_tokens(&self) -> Vec<String> {
        let is_named = |token: &&String| {
            let mut templates = self.templates.iter();
            templates.any(|(_, template)| template.source().contains(token.as_str()))
        };
        let tokens = self.tokens.ordinary.iter().filter(is_named);
        tokens.cloned().collect()
    }

    /// The source with a text before each of its templates.
    ///
    /// # Errors
    ///
    /// When one of them does not compile then.
    pub(crate) fn preceded_by(&self, text: &str) -> Result<Self, TemplateError> {
        let templates = self.templates.iter().map(|(name, template)| {
            let whole = ChatTemplate::new(&format!("{text}{}", template.source()))?;
            let tokens = template.special_tokens().clone();
            Ok((name.clone(), whole.with_special_tokens(tokens)))
        });
        Ok(Self {
            templates: templates.collect::<Result<_, _>>()?,
            ..self.clone()
        })
    }

    /// The template that transformers chooses: `tool_use` when tools are given and there is one, else `default`.
    ///
    /// # Errors
    ///
    /// [`LoadError::NoTemplate`] with the names that there are, when neither is among them; [`LoadError::Template`] when it does not compile.
    pub fn select(&self, with_tools: bool) -> Result<&ChatTemplate, LoadError> {
        let tools = with_tools.then(|| self.named("tool_use")).flatten();
        let chosen = tools.or_else(|| self.named("default"));
        chosen.unwrap_or_else(|| {
            let names = self.templates.iter().map(|(name, _)| name.clone());
            Err(LoadError::NoTemplate {
                path: self.path.clone(),
                seen: names.collect(),
            })
        })
    }

    /// The template of that name; `None` when there is none.
    ///
    /// # Errors
    ///
    /// [`LoadError::Template`] when it does not compile.
    pub fn named(&self, name: &str) -> Option<Result<&ChatTemplate, LoadError>> {
        let compiled = self.templates.iter().find(|(known, _)| known == name);
        let broken = self.broken.iter().find(|(known, _)| known == name);
        let broken = broken.map(|(_, error)| Err(error.clone()));
        compiled.map(|(_, template)| Ok(template)).or(broken)
    }

    /// The variables that make a difference beside the conversation, each with the values worth trying: true, false, and each
    /// constant that a template compares it with. At most 64 variables, and 18 values of each. What the template itself sets to something of the
    /// conversation is none of them.
    pub fn kwargs(&self) -> Vec<(String, Vec<Value>)> {
        let mut found: Vec<(String, Vec<Value>)> = Vec::new();
        for (_, template) in &self.templates {
            for name in template.variables() {
                let given =
                    GIVEN.contains(&name.as_str()) || self.special_tokens.contains_key(name);
                if given || template.sets(name) || found.iter().any(|(known, _)| known == name) {
                    continue;
                }
                if found.len() == MAX_KWARGS {
                    return found;
                }
                found.push((name.clone(), worth_trying(template, name)));
            }
        }
        found
    }

    /// The kwargs, also with objects and lists that have what a template asks of them, and documents where a template reads any: what a conversation may be
    /// rendered with beside its messages and tools. Most conversations have no documents, so that they are tried as a kwarg is.
    pub(crate) fn settings(&self) -> Vec<(String, Vec<Value>)> {
        let mut kwargs = self.kwargs();
        for (name, values) in &mut kwargs {
            for (_, template) in &self.templates {
                values.extend(template.shaped(name).into_iter().take(MAX_VALUES));
            }
        }
        let mut templates = self.templates.iter();
        let reads = templates.find(|(_, template)| {
            let mut variables = template.variables().iter();
            variables.any(|name| name == DOCUMENTS)
        });
        let documents =
            reads.map(|(_, template)| (DOCUMENTS.to_owned(), vec![documents(template)]));
        kwargs.into_iter().chain(documents).collect()
    }
}

/// True, false, and what a template compares a variable with.
fn worth_trying(template: &ChatTemplate, name: &str) -> Vec<Value> {
    let mut values = vec![Value::Bool(true), Value::Bool(false)];
    let constants = template.candidates(name).iter().cloned();
    for value in constants.take(MAX_VALUES) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// A document for retrieval as transformers documents it, with a title and a text, and whatever else the template asks of one.
fn documents(template: &ChatTemplate) -> Value {
    let mut document = Map::from_iter([
        ("title".to_owned(), Value::from("Harbours")),
        ("text".to_owned(), Value::from("Boats wait there.")),
    ]);
    if let Some(Value::Array(items)) = template.shaped(DOCUMENTS).first()
        && let Some(Value::Object(asked)) = items.first()
    {
        for (key, value) in asked {
            if !document.contains_key(key) {
                document.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Array(vec![Value::Object(document)])
}

/// A chat template whose text is at hand, such as from standard input; `name` is used for output files and in errors.
///
/// # Errors
///
/// [`LoadError::Template`] when it does not compile.
pub fn from_text(name: &str, text: &str) -> Result<ChatTemplateSource, LoadError> {
    let mut found = Uncompiled::default();
    found.add("default", text.to_owned(), Path::new(name));
    found.compile(name.to_owned(), Path::new(name))
}

/// The chat templates of a `tokenizer_config.json` whose text is at hand, with its special tokens; `name` is as in [`from_text`]. What lies
/// beside such a file in a model folder is not there.
///
/// # Errors
///
/// When the text is not JSON, or has no chat template, or that does not compile.
pub fn from_config(name: &str, text: &str) -> Result<ChatTemplateSource, LoadError> {
    let path = Path::new(name);
    let config = parse_json(text, path)?;
    let mut found = Uncompiled::default();
    found.take_templates(&config, path);
    if found.texts.is_empty() {
        return Err(LoadError::NoTemplate {
            path: path.to_path_buf(),
            seen: keys(&config),
        });
    }
    found.special_tokens = special_tokens(&config);
    found.take_response_template(&config);
    found.end_at_own_token();
    found.compile(name.to_owned(), path)
}

/// The chat templates at `path`:
///
/// - a model folder: `chat_template.jinja` and `additional_chat_templates/*.jinja`, else `chat_template.json`, else the
///   `chat_template` of `tokenizer_config.json`, a string or a list of named ones;
/// - a `tokenizer_config.json`: the same folder, since those files win over it in transformers;
/// - a `chat_template.json`;
/// - a `.gguf` file: its `tokenizer.chat_template` and the named ones;
/// - anything else is taken for the source of a chat template.
///
/// # Errors
///
/// See [`LoadError`].
pub fn load(path: &Path) -> Result<ChatTemplateSource, LoadError> {
    let file_name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let is_folder = path.is_dir();
    let folder = if is_folder {
        path
    } else {
        path.parent().unwrap_or_else(|| Path::new(""))
    };
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let config = folder.join(CONFIG);
    let mut found = Uncompiled::default();
    match extension.as_deref() {
        _ if is_folder => found.in_folder(folder)?,
        Some("json") if file_name == CONFIG => {
            if !path.exists() {
                // If the file itself cannot be read, the files beside it must not make up for it.
                read(path)?;
            }
            found.in_folder(folder)?;
        }
        Some("json") if file_name == LEGACY => {
            found.legacy(path)?;
            found.configured(&config, false)?;
        }
        Some("json") => {
            read(path)?;
            found.configured(path, true)?;
        }
        Some("gguf") => {
            let model = gguf::read(path)?;
            found.special_tokens = model.special_tokens;
            found.tokens = model.tokens;
            for (name, text) in model.templates {
                found.add(&name, text, path);
            }
        }
        _ => {
            found.add("default", read(path)?, path);
            if file_name == RAW {
                found.configured(&config, false)?;
            }
        }
    }
    if found.texts.is_empty() {
        return Err(LoadError::NoTemplate {
            path: path.to_path_buf(),
            seen: found.seen,
        });
    }
    found.compile(name_of(path, is_folder, &file_name), path)
}

/// A folder's name says more than the file names that every model has.
fn name_of(path: &Path, is_folder: bool, file_name: &str) -> String {
    let named_after_folder = is_folder || [CONFIG, RAW, LEGACY].contains(&file_name);
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = if is_folder {
        Some(full.as_path())
    } else {
        full.parent()
    };
    let folder = folder.filter(|_| named_after_folder);
    // In the cache of the Hub the folder has the name of a commit.
    if let Some(model) = folder.and_then(hub::model_of_snapshot) {
        return model;
    }
    folder
        .and_then(Path::file_name)
        .or_else(|| path.file_stem())
        .map_or_else(
            || "chat_template".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
}

/// The contents of a source before it is compiled.
#[derive(Debug, Default)]
struct Uncompiled {
    /// Name, source and the file that holds it.
    texts: Vec<(String, String, PathBuf)>,
    seen: Vec<String>,
    config_path: Option<PathBuf>,
    special_tokens: Map,
    response_template: Option<Value>,
    tokens: TokenLists,
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| LoadError::unreadable(folder, error))? {
        out.push(
            entry
                .map_err(|error| LoadError::unreadable(folder, error))?
                .path(),
        );
    }
    out.sort();
    Ok(out)
}

impl Uncompiled {
    /// A later template of the same name wins, as in a dictionary.
    fn add(&mut self, name: &str, text: String, holder: &Path) {
        self.texts.retain(|(known, ..)| known != name);
        self.texts
            .push((name.to_owned(), text, holder.to_path_buf()));
    }

    fn compile(self, name: String, path: &Path) -> Result<ChatTemplateSource, LoadError> {
        let mut templates = Vec::new();
        let mut broken = Vec::new();
        for (name, text, holder) in self.texts {
            match ChatTemplate::new(&text) {
                Ok(template) => {
                    templates.push((
                        name,
                        template.with_special_tokens(self.special_tokens.clone()),
                    ));
                }
                Err(error) => {
                    let error = LoadError::Template {
                        path: holder,
                        name: name.clone(),
                        source_text: text,
                        error,
                    };
                    broken.push((name, error));
                }
            }
        }
        if templates.is_empty() && !broken.is_empty() {
            return Err(broken.swap_remove(0).1);
        }
        Ok(ChatTemplateSource {
            name,
            path: path.to_path_buf(),
            templates,
            broken,
            config_path: self.config_path,
            special_tokens: self.special_tokens,
            assumed_tokens: Vec::new(),
            response_template: self.response_template,
            tokens: self.tokens,
        })
    }

    /// Takes what a model folder has.
    fn in_folder(&mut self, folder: &Path) -> Result<(), LoadError> {
        let raw = folder.join(RAW);
        if raw.exists() {
            self.add("default", read(&raw)?, &raw);
        }
        let further = folder.join(FURTHER);
        if further.is_dir() {
            for path in entries(&further)? {
                if path
                    .extension()
                    .is_some_and(|extension| extension == "jinja")
                {
                    let name = path
                        .file_stem()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    self.add(&name, read(&path)?, &path);
                }
            }
        }
        let legacy = folder.join(LEGACY);
        if self.texts.is_empty() && legacy.exists() {
            self.legacy(&legacy)?;
        }
        let wanted = self.texts.is_empty();
        self.configured(&folder.join(CONFIG), wanted)?;
        if self.texts.is_empty() && self.config_path.is_none() {
            let names = entries(folder)?;
            self.seen = names
                .iter()
                .filter_map(|path| path.file_name())
                .map(|name| name.to_string_lossy().into_owned())
                .take(20)
                .collect();
        }
        Ok(())
    }

    /// Takes the chat template of a `chat_template.json`.
    fn legacy(&mut self, path: &Path) -> Result<(), LoadError> {
        let document = read_json(path)?;
        self.take_templates(&document, path);
        self.seen = keys(&document);
        Ok(())
    }

    /// Takes what a `tokenizer_config.json` has, when there is one; its chat templates only when `wanted`.
    fn configured(&mut self, path: &Path, wanted: bool) -> Result<(), LoadError> {
        if !path.exists() {
            return Ok(());
        }
        let config = read_json(path)?;
        if wanted {
            self.take_templates(&config, path);
            self.seen = keys(&config);
        }
        self.special_tokens = special_tokens(&config);
        if config.get("added_tokens_decoder").is_none() {
            let older = path.with_file_name("special_tokens_map.json");
            if older.exists() {
                self.special_tokens
                    .extend(special_tokens(&read_json(&older)?));
            }
        }
        self.take_response_template(&config);
        self.tokens = TokenLists::beside(path);
        self.end_at_own_token();
        self.config_path = Some(path.to_path_buf());
        Ok(())
    }

    fn take_response_template(&mut self, config: &Value) {
        self.response_template = config
            .get("response_template")
            .filter(|template| !matches!(template, Value::Null))
            .cloned();
    }

    /// Whatever else the generation configuration lists, an engine stops at the tokenizer's own end.
    fn end_at_own_token(&mut self) {
        self.tokens.end = end_tokens(&self.tokens, &self.special_tokens);
    }

    fn take_templates(&mut self, document: &Value, holder: &Path) {
        let mut add = |name: &str, text: &str| self.add(name, text.to_owned(), holder);
        match document.get("chat_template") {
            Some(Value::String(text)) => add("default", text),
            Some(Value::Array(items)) => {
                for item in items {
                    let text = |key| item.get(key).and_then(Value::as_str);
                    if let (Some(name), Some(text)) = (text("name"), text("template")) {
                        add(name, text);
                    }
                }
            }
            Some(Value::Object(named)) => {
                for (name, text) in named {
                    if let Value::String(text) = text {
                        add(name, text);
                    }
                }
            }
            _ => {}
        }
    }
}

fn keys(document: &Value) -> Vec<String> {
    document
        .as_object()
        .map(|map| map.keys().map(ToString::to_string).collect())
        .unwrap_or_default()
}

/// The special tokens that transformers passes to chat templates: the seven that every tokenizer has, then those of the
/// model, which are every other `..._token` of the configuration and its named extra ones.
fn special_tokens(config: &Value) -> Map {
    let mut out = Map::new();
    let mut add = |name: &str, token: Option<&Value>| {
        let text = match token {
            Some(Value::String(text)) => Some(text.as_str()),
            // A saved `AddedToken`.
            Some(token) => token.get("content").and_then(Value::as_str),
            None => None,
        };
        if let Some(text) = text {
            out.insert(name.to_owned(), Value::from(text));
        }
    };
    for name in SPECIAL_TOKENS {
        add(name, config.get(name));
    }
    for (name, token) in config.as_object().into_iter().flatten() {
        if name.ends_with("_token") && !SPECIAL_TOKENS.contains(&name.as_str()) {
            add(name, Some(token));
        }
    }
    for extra in ["extra_special_tokens", "model_specific_special_tokens"] {
        for (name, token) in config
            .get(extra)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            add(name, Some(token));
        }
    }
    out
}

fn read_json(path: &Path) -> Result<Value, LoadError> {
    parse_json(&read(path)?, path)
}

fn parse_json(text: &str, path: &Path) -> Result<Value, LoadError> {
    json::parse(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
        LoadError::InvalidJson {
            path: path.to_path_buf(),
            reason: format!("not JSON: {} at byte {}", error.message(), error.offset()),
        }
    })
}

fn read(path: &Path) -> Result<String, LoadError> {
    let failed = |error: std::io::Error| LoadError::unreadable(path, error);
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(LoadError::unreadable(
            path,
            format!("larger than the limit of {MAX_FILE} bytes"),
        ));
    }
    String::from_utf8(bytes).map_err(|error| LoadError::NotUtf8 {
        path: path.to_path_buf(),
        offset: error.utf8_error().valid_up_to(),
    })
}
