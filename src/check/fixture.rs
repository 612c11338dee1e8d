//! A recorded response with the message that it must parse to, as it is kept in files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::change::FileChange;
use crate::diagnostic::Diagnostic;
use crate::response_template::nearest::nearest;
use crate::value::json::{self, Format};
use crate::value::{Map, Value};

/// A recorded response and what it must parse to.
///
/// Kept in a folder, each part is a file: `response.txt`, `expected.json`, and as far as there are such `prefix.txt` or
/// `messages.json`, `tools.json`, `chunks.json`, `error.json`, `unclaimed.json`, `events.jsonl` and `deltas.jsonl`. Kept as a line of a `.jsonl` file, the parts are
/// the members `response`, `expected` and so on of one object, beside its `name`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fixture {
    /// The response, every character of it.
    pub response: String,
    /// The chunks in which it arrived, when they were recorded.
    pub chunks: Option<Vec<String>>,
    /// The prompt that the model had been given.
    pub prompt: Prompt,
    /// The tools, whose schemas type the arguments of calls.
    pub tools: Vec<Value>,
    /// The message; `None` until it is recorded. With an error it is what there is of the message.
    pub expected: Option<Value>,
    /// The first error, when the response is one that does not parse.
    pub error: Option<ExpectedError>,
    /// The texts of the response that are in no field of the message, and that are meant to go nowhere. White space alone is not listed.
    pub unclaimed: Vec<String>,
    /// The events, adjacent chunks of a region joined or not, when they were recorded.
    pub events: Option<Vec<Value>>,
    /// How the message grows, adjacent pieces of a text or of arguments joined or not, when it was recorded.
    pub deltas: Option<Vec<Value>>,
}

/// The prompt that the model had been given before it wrote.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Prompt {
    /// Not told: the response holds the whole message.
    #[default]
    Untold,
    /// This text.
    Text(String),
    /// The render of this conversation by the chat template, the generation prompt included: a list of messages, or an object
    /// with `messages` and `kwargs`.
    Conversation(Value),
}

/// An error that a response must end with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedError {
    /// Its kind, as [`crate::parser::ErrorKind::name`] spells it.
    pub kind: String,
    /// The field whose region does not parse.
    pub field: Option<String>,
}

/// A fixture that cannot be read or written, with the file and the place in it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}: {}", path.display(), diagnostic.message)]
#[non_exhaustive]
pub struct FixtureError {
    /// The file.
    pub path: PathBuf,
    /// Its text, when it was read.
    pub text: Option<String>,
    /// The mistake and its place.
    pub diagnostic: Box<Diagnostic>,
}

/// A part of a fixture: the key that it has on a line, and the file that it has in a folder.
#[derive(Debug, Clone, Copy)]
struct Part {
    key: &'static str,
    file: &'static str,
    form: Form,
}

/// How a part is kept in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Lines,
}

/// The file that makes a folder a fixture.
pub(super) const RESPONSE: &str = "response.txt";

/// A byte order mark, with which some editors begin a file. JSON is read over it; in a text it is a character.
pub(super) const MARK: char = '\u{feff}';

/// The files that no folder but a fixture's has. Conversations and tools may lie elsewhere, too.
const OWN: [&str; 5] = [
    "expected.json",
    "error.json",
    "unclaimed.json",
    "prefix.txt",
    "chunks.json",
];

const PARTS: [Part; 10] = [
    part("response", RESPONSE, Form::Text),
    part("expected", "expected.json", Form::Json),
    part("error", "error.json", Form::Json),
    part("unclaimed", "unclaimed.json", Form::Json),
    part("prefix", "prefix.txt", Form::Text),
    part("messages", "messages.json", Form::Json),
    part("tools", "tools.json", Form::Json),
    part("chunks", "chunks.json", Form::Json),
    part("events", "events.jsonl", Form::Lines),
    part("deltas", "deltas.jsonl", Form::Lines),
];

const fn part(key: &'static str, file: &'static str, form: Form) -> Part {
    Part { key, file, form }
}

impl Fixture {
    /// Reads the fixture in a folder.
    ///
    /// # Errors
    ///
    /// That a file cannot be read, is not UTF-8 or not JSON; that a part is of the wrong type; that the chunks are not those of the
    /// response; that a file looks like a part but is none.
    pub fn read(folder: &Path) -> Result<Self, FixtureError> {
        refuse_strangers(folder)?;
        let mut members = Map::new();
        let mut texts = Vec::new();
        for part in PARTS {
            let path = folder.join(part.file);
            let bytes = match fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound && part.file != RESPONSE => {
                    continue;
                }
                Err(error) if part.file == RESPONSE => {
                    return Err(FixtureError::new(&path, no_response(&path, &error)));
                }
                Err(error) => return Err(FixtureError::io(&path, "read", &error)),
            };
            let text = String::from_utf8(bytes).map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                FixtureError::new(
                    &path,
                    Diagnostic::error("invalid-utf8", format!("invalid UTF-8 at byte {at}"))
                        .with_hint("a response that ends inside a character is recorded up to that character"),
                )
            })?;
            let value = part
                .form
                .parse(&text)
                .map_err(|diagnostic| FixtureError::new(&path, *diagnostic).about(&text))?;
            members.insert(part.key.to_owned(), value);
            texts.push((part, text));
        }
        Self::from_map(members).map_err(|wrong| {
            let found = texts.iter().find(|(part, _)| part.key == wrong.key);
            let file = found.map_or(RESPONSE, |(part, _)| part.file);
            let error = FixtureError::new(&folder.join(file), wrong.diagnostic());
            match found {
                Some((_, text)) => error.about(text),
                None => error,
            }
        })
    }

    /// Writes the fixture into a folder, which is made if it is not there; files of parts that the fixture does not have
    /// are removed.
    ///
    /// # Errors
    ///
    /// That a file cannot be written or removed.
    pub fn write(&self, folder: &Path) -> Result<(), FixtureError> {
        fs::create_dir_all(folder).map_err(|error| FixtureError::io(folder, "make", &error))?;
        let texts = self.texts();
        for part in PARTS {
            let path = folder.join(part.file);
            let text = texts.iter().find(|(file, _)| *file == part.file);
            match text {
                Some((_, text)) => {
                    fs::write(&path, text)
                        .map_err(|error| FixtureError::io(&path, "write", &error))?;
                }
                None => match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(FixtureError::io(&path, "remove", &error));
                    }
                    _ => {}
                },
            }
        }
        Ok(())
    }

    /// The names of all files that a fixture's folder may have.
    pub fn files() -> impl Iterator<Item = &'static str> {
        PARTS.iter().map(|part| part.file)
    }

    /// The changes of a folder's files by which it holds the fixture; nothing is written. Files of parts that the fixture
    /// does not have are to be removed, and what stays as it is is not listed.
    ///
    /// # Errors
    ///
    /// That a file cannot be read.
    pub fn changes(&self, folder: &Path) -> Result<Vec<FileChange>, FixtureError> {
        let mut texts = self.texts();
        let mut all = Vec::new();
        for part in PARTS {
            let path = folder.join(part.file);
            let before = match fs::read_to_string(&path) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(FixtureError::io(&path, "read", &error)),
            };
            let after = texts
                .iter_mut()
                .find(|(file, _)| *file == part.file)
                .map(|(_, text)| std::mem::take(text));
            if before != after {
                all.push(FileChange {
                    path,
                    before,
                    after,
                });
            }
        }
        Ok(all)
    }

    /// The files of the fixture's folder, each with its text.
    pub fn texts(&self) -> Vec<(&'static str, String)> {
        let members = self.to_map();
        PARTS
            .iter()
            .filter_map(|part| Some((part.file, part.form.write(members.get(part.key)?))))
            .collect()
    }

    /// The fixture of one line, from the members of its object; `name` and `id` are the caller's.
    ///
    /// # Errors
    ///
    /// A part that is missing, of the wrong type or unknown.
    pub fn from_map(mut members: Map) -> Result<Self, WrongPart> {
        let mut take = |key: &'static str| {
            members
                .shift_remove(key)
                .filter(|value| *value != Value::Null)
                .map(|value| (key, value))
        };
        let chunks = take("chunks").map(texts_of).transpose()?;
        let response = match (take("response").map(text_of).transpose()?, &chunks) {
            (Some(response), Some(chunks)) if chunks.concat() != response => {
                return Err(WrongPart::new(
                    "chunks",
                    "the chunks are not those of the response",
                ));
            }
            (Some(response), _) => response,
            (None, Some(chunks)) => chunks.concat(),
            (None, None) => return Err(WrongPart::new("response", "there is no response")),
        };
        let prompt = match (take("prefix").map(text_of).transpose()?, take("messages")) {
            (Some(_), Some(_)) => {
                let message = "there is a prefix too; the prompt is one or the other";
                return Err(WrongPart::new("messages", message));
            }
            (Some(prefix), None) => Prompt::Text(prefix),
            (None, Some(messages)) => Prompt::Conversation(conversation_of(messages)?),
            (None, None) => Prompt::Untold,
        };
        let fixture = Self {
            response,
            chunks,
            prompt,
            tools: take("tools").map(list_of).transpose()?.unwrap_or_default(),
            // As other programs call it.
            expected: take("expected")
                .or_else(|| take("message"))
                .map(object_of)
                .transpose()?
                .map(Value::Object),
            error: take("error").map(error_of).transpose()?,
            unclaimed: take("unclaimed")
                .map(texts_of)
                .transpose()?
                .unwrap_or_default(),
            events: take("events").map(list_of).transpose()?,
            deltas: take("deltas").map(list_of).transpose()?,
        };
        match members
            .keys()
            .find(|key| !["name", "id"].contains(&key.as_str()))
        {
            None => Ok(fixture),
            Some(key) => Err(WrongPart {
                key: "",
                message: format!("unknown part `{key}`"),
            }),
        }
    }

    /// The members of the fixture's line, without a name.
    pub fn to_map(&self) -> Map {
        let mut members = Map::new();
        let mut add = |key: &str, value: Option<Value>| {
            members.extend(value.map(|value| (key.to_owned(), value)));
        };
        add("response", Some(self.response.as_str().into()));
        match &self.prompt {
            Prompt::Untold => {}
            Prompt::Text(prefix) => add("prefix", Some(prefix.as_str().into())),
            Prompt::Conversation(messages) => add("messages", Some(messages.clone())),
        }
        add(
            "tools",
            Some(&self.tools)
                .filter(|tools| !tools.is_empty())
                .map(|tools| tools.clone().into()),
        );
        let texts = |texts: &Vec<String>| -> Value {
            let texts = texts.iter().map(|text| Value::from(text.as_str()));
            Value::Array(texts.collect())
        };
        add("chunks", self.chunks.as_ref().map(texts));
        add("expected", self.expected.clone());
        add("error", self.error.as_ref().map(ExpectedError::to_value));
        add(
            "unclaimed",
            Some(&self.unclaimed)
                .filter(|lost| !lost.is_empty())
                .map(texts),
        );
        add("events", self.events.clone().map(Value::from));
        add("deltas", self.deltas.clone().map(Value::from));
        members
    }
}

impl ExpectedError {
    fn to_value(&self) -> Value {
        let mut members = Map::from_iter([("kind".to_owned(), self.kind.as_str().into())]);
        members.extend(
            self.field
                .as_deref()
                .map(|field| ("field".to_owned(), field.into())),
        );
        Value::Object(members)
    }
}

impl Form {
    fn parse(self, text: &str) -> Result<Value, Box<Diagnostic>> {
        let body = text.strip_prefix(MARK).unwrap_or(text);
        let begin = text.len() - body.len();
        let json = |text: &str, start: usize| {
            json::parse(text).map_err(|error| {
                let at = start + error.offset();
                let message = format!("not JSON: {}", error.message());
                Box::new(Diagnostic::error("json-syntax", message).with_span(at..at))
            })
        };
        match self {
            Self::Text => Ok(Value::from(text)),
            Self::Json => json(body, begin),
            Self::Lines => {
                let mut values = Vec::new();
                let mut start = begin;
                for line in body.split_inclusive('\n') {
                    if !line.trim().is_empty() {
                        values.push(json(line, start)?);
                    }
                    start += line.len();
                }
                Ok(values.into())
            }
        }
    }

    fn write(self, value: &Value) -> String {
        let line = |value: &Value| Format::default().write(value) + "\n";
        match (self, value) {
            (Self::Text, Value::String(text)) => text.clone(),
            (Self::Lines, Value::Array(values)) => values.iter().map(line).collect(),
            _ => Format::indented(2).write(value) + "\n",
        }
    }
}

/// A part of a fixture that is not what it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct WrongPart {
    /// The part's key on a line; empty where it is no part's.
    pub key: &'static str,
    /// The mistake.
    pub message: String,
}

impl WrongPart {
    fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self {
            key,
            message: message.into(),
        }
    }

    fn kind(key: &'static str, wanted: &str, value: &Value) -> Self {
        Self::new(
            key,
            format!("`{key}` must be {wanted}, not {}", value.json_kind()),
        )
    }

    fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error("wrong-part", self.message.clone())
    }
}

type Member = (&'static str, Value);

fn text_of((key, value): Member) -> Result<String, WrongPart> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(WrongPart::kind(key, "a string", &other)),
    }
}

fn list_of((key, value): Member) -> Result<Vec<Value>, WrongPart> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(WrongPart::kind(key, "a list", &other)),
    }
}

fn object_of((key, value): Member) -> Result<Map, WrongPart> {
    match value {
        Value::Object(members) => Ok(members),
        other => Err(WrongPart::kind(key, "an object", &other)),
    }
}

fn texts_of(member: Member) -> Result<Vec<String>, WrongPart> {
    let key = member.0;
    list_of(member)?
        .into_iter()
        .map(|text| match text {
            Value::String(text) => Ok(text),
            other => Err(WrongPart::new(
                key,
                format!(
                    "`{key}` must be a list of strings, not of {}",
                    other.json_kind()
                ),
            )),
        })
        .collect()
}

fn conversation_of((key, value): Member) -> Result<Value, WrongPart> {
    let has_messages = |value: &Value| {
        value
            .get("messages")
            .is_some_and(|messages| messages.as_array().is_some())
    };
    if value.as_array().is_some() || has_messages(&value) {
        return Ok(value);
    }
    Err(WrongPart::kind(
        key,
        "a list of messages, or an object with such a list under `messages`",
        &value,
    ))
}

fn error_of(member: Member) -> Result<ExpectedError, WrongPart> {
    let key = member.0;
    let mut members = object_of(member)?;
    let mut text = |name: &str| {
        members
            .shift_remove(name)
            .map(|value| text_of((key, value)))
            .transpose()
    };
    let (kind, field) = (text("kind")?, text("field")?);
    let kind = kind.ok_or_else(|| WrongPart::new(key, "`error` has no `kind`"))?;
    Ok(ExpectedError { kind, field })
}

/// Returns true if a folder was meant to be a fixture although there is no response in it: if it has several parts of one, or one and a file whose name is nearly that
/// of the response, and no other files.
pub(super) fn lacks_response(folder: &Path) -> bool {
    let response = folder.join(RESPONSE);
    if response.exists() || response.is_symlink() {
        return true;
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    let is_part = |name: &String| PARTS.iter().any(|part| part.file == name);
    let (parts, others): (Vec<String>, Vec<String>) = names
        .filter(|name| !name.starts_with('.'))
        .partition(is_part);
    let is_like_it = |name: &String| nearest(name, &[RESPONSE]).is_some();
    let has_own = parts.iter().any(|name| OWN.contains(&name.as_str()));
    has_own && others.iter().all(is_like_it) && parts.len() + others.len() > 1
}

/// The mistake that a fixture's response cannot be read, and what to do.
fn no_response(path: &Path, error: &io::Error) -> Diagnostic {
    let (message, hint) = match error.kind() {
        _ if path.is_dir() => (
            "this is a folder, and must be the file with the response".to_owned(),
            "put what the model wrote into a file of that name; a fixture has no folders in it",
        ),
        io::ErrorKind::NotFound => (
            "the fixture has no response: this file is not there".to_owned(),
            "put what the model wrote into it, or remove the folder if it is no fixture",
        ),
        _ => return Diagnostic::error("unreadable", format!("cannot read it: {error}")),
    };
    Diagnostic::error("unreadable", message).with_hint(hint)
}

/// Refuses a file that is called like a part but is none: a misspelt one would go unread.
fn refuse_strangers(folder: &Path) -> Result<(), FixtureError> {
    let entries = fs::read_dir(folder).map_err(|error| FixtureError::io(folder, "read", &error))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let like_a_part = [".txt", ".json", ".jsonl"]
            .iter()
            .any(|end| name.ends_with(end));
        if like_a_part && PARTS.iter().all(|part| part.file != name) {
            let files: Vec<&str> = Fixture::files().collect();
            let diagnostic = Diagnostic::error("unknown-file", "a fixture has no such file")
                .with_hint(format!("its files are {}", files.join(", ")));
            return Err(FixtureError::new(&entry.path(), diagnostic));
        }
    }
    Ok(())
}

impl FixtureError {
    pub(super) fn new(path: &Path, diagnostic: Diagnostic) -> Self {
        Self {
            path: path.to_owned(),
            text: None,
            diagnostic: Box::new(diagnostic),
        }
    }

    pub(super) fn io(path: &Path, what: &str, error: &io::Error) -> Self {
        Self::new(
            path,
            Diagnostic::error("unreadable", format!("cannot {what} it: {error}")),
        )
    }

    fn about(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Value {
        json::parse(text).unwrap()
    }

    fn map(text: &str) -> Map {
        parse(text).as_object().unwrap().clone()
    }

    fn full() -> Fixture {
        Fixture {
            response: "<t>a\r\n</t>{oops".to_owned(),
            chunks: Some(vec!["<t>a\r".to_owned(), "\n</t>{oops".to_owned()]),
            prompt: Prompt::Conversation(parse(r#"[{"role": "user", "content": "q"}]"#)),
            tools: vec![parse(r#"{"type": "function"}"#)],
            expected: Some(parse(r#"{"role": "assistant", "thinking": "a"}"#)),
            error: Some(ExpectedError {
                kind: "json".to_owned(),
                field: Some("calls".to_owned()),
            }),
            unclaimed: vec!["</t>".to_owned()],
            events: Some(vec![parse(
                r#"{"type": "region_open", "field": "thinking"}"#,
            )]),
            deltas: Some(vec![parse(
                r#"{"type": "text", "path": ["thinking"], "text": "a\r\n"}"#,
            )]),
        }
    }

    #[test]
    fn a_folder_and_a_line_keep_everything() {
        let folder = tempfile::tempdir().unwrap();
        full().write(folder.path()).unwrap();
        assert_eq!(Fixture::read(folder.path()).unwrap(), full());
        assert_eq!(Fixture::from_map(full().to_map()).unwrap(), full());
        let response = fs::read(folder.path().join(RESPONSE)).unwrap();
        assert_eq!(response, b"<t>a\r\n</t>{oops", "every byte");

        let less = Fixture {
            response: "Hi".to_owned(),
            prompt: Prompt::Text(String::new()),
            ..Fixture::default()
        };
        less.write(folder.path()).unwrap();
        assert_eq!(
            Fixture::read(folder.path()).unwrap(),
            less,
            "what is gone is removed"
        );
    }

    #[test]
    fn what_is_wrong_names_the_file_and_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = |file: &str, text: &[u8]| {
            full().write(folder.path()).unwrap();
            fs::write(folder.path().join(file), text).unwrap();
            let error = Fixture::read(folder.path()).unwrap_err();
            let _ = fs::remove_file(folder.path().join(file));
            assert!(error.path.ends_with(file), "{error}");
            (
                error.diagnostic.message.clone(),
                error.diagnostic.place.span.clone(),
            )
        };
        assert_eq!(
            wrong("expected.json", b"{\"a\": x}")
                .1
                .map(|span| span.start),
            Some(6)
        );
        assert_eq!(
            wrong("events.jsonl", b"{}\n\n{,}\n")
                .1
                .map(|s| s.start..s.start),
            Some(5..5)
        );
        assert_eq!(
            wrong("tools.json", b"{}").0,
            "`tools` must be a list, not an object"
        );
        assert_eq!(
            wrong("chunks.json", b"[\"a\"]").0,
            "the chunks are not those of the response"
        );
        assert_eq!(wrong("expeted.json", b"{}").0, "a fixture has no such file");
        assert_eq!(wrong("response.txt", b"a\xff").0, "invalid UTF-8 at byte 1");
        full().write(folder.path()).unwrap();
        fs::write(folder.path().join("prefix.txt"), "p").unwrap();
        let both = Fixture::read(folder.path()).unwrap_err();
        assert!(both.path.ends_with("messages.json"), "{both}");
    }

    #[test]
    fn a_line_needs_a_response_and_nothing_unknown() {
        let message = |text: &str| Fixture::from_map(map(text)).unwrap_err().message;
        assert_eq!(message("{}"), "there is no response");
        assert_eq!(
            message(r#"{"response": "a", "expect": {}}"#),
            "unknown part `expect`"
        );
        assert_eq!(
            message(r#"{"response": "a", "error": {}}"#),
            "`error` has no `kind`"
        );
        let chunked = Fixture::from_map(map(r#"{"name": "n", "chunks": ["a", "b"]}"#)).unwrap();
        assert_eq!(chunked.response, "ab");
    }
}
