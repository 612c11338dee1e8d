//! Opening chat templates, the same way for every verb that takes one.

use std::path::Path;

use clap::Args;
use obverse::chat_template::{
    self, ChatTemplate, ChatTemplateSource, Clock, LoadError, RenderError,
};
use obverse::diagnostic::{Diagnostic, Severity};
use obverse::hub::{ModelId, Wanted};
use obverse::value::{Map, Value, json};

use super::problem::{Document, Problem};
use super::status::Status;
use super::{escape, hub, input, near};

/// Variables that chat templates read and that are no kwargs.
const GIVEN: [&str; 4] = ["messages", "tools", "documents", "add_generation_prompt"];

/// The arguments about a chat template, beside its input.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// A special token of the tokenizer, such as bos_token='<s>'; <s> and </s> are assumed where there is no tokenizer_config.json
    #[arg(long = "special-token", value_name = "NAME=TEXT", value_parser = special_token)]
    special_tokens: Vec<(String, String)>,

    /// The date that the chat template's strftime_now prints. Without it that is today when a text is rendered, and always the same day when something is derived
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    pub(crate) date: Option<Clock>,
}

/// A chat template source, ready to be used.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The chat templates, which know their special tokens.
    pub(crate) source: ChatTemplateSource,
}

impl SourceArgs {
    /// The arguments that say the same.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let tokens = self.special_tokens.iter();
        let tokens = tokens
            .flat_map(|(name, text)| ["--special-token".to_owned(), format!("{name}={text}")]);
        let date = self
            .date
            .map(|clock| ["--date".to_owned(), clock.to_string()]);
        tokens.chain(date.into_iter().flatten()).collect()
    }

    /// The chat templates at `path`, or of the model of the Hub that it names, with their special tokens.
    pub(crate) fn open(&self, path: &Path) -> Result<Opened, Problem> {
        self.open_any(path)?.whole()
    }

    /// The chat templates at `path`, as [`SourceArgs::open`] opens them, also where one that transformers may choose does not compile.
    pub(crate) fn open_any(&self, path: &Path) -> Result<Opened, Problem> {
        let folder = hub::folder(path, Wanted::ChatTemplates)?;
        self.load_any(path, folder.as_deref())
    }

    /// The chat templates at `path`, or where it names a model of the Hub, in the folder that has its files.
    #[cfg(feature = "http")]
    pub(crate) fn load(&self, path: &Path, folder: Option<&Path>) -> Result<Opened, Problem> {
        self.load_any(path, folder)?.whole()
    }

    fn load_any(&self, path: &Path, folder: Option<&Path>) -> Result<Opened, Problem> {
        let loaded = if input::is_stdin(path) {
            let text = input::read_text(path)?;
            chat_template::from_text(STDIN, &text)
        } else {
            chat_template::load(folder.unwrap_or(path))
        };
        let loaded = loaded.map(|mut source| {
            if folder.is_some() {
                // Reports are to say the same on every machine.
                path.clone_into(&mut source.path);
            }
            source
        });
        self.opened(loaded, path, folder)
    }

    /// The chat template that is this text, which was read from standard input.
    pub(crate) fn text(&self, path: &Path, text: &str) -> Result<Opened, Problem> {
        self.opened(chat_template::from_text(STDIN, text), path, None)?
            .whole()
    }

    fn opened(
        &self,
        loaded: Result<ChatTemplateSource, LoadError>,
        path: &Path,
        folder: Option<&Path>,
    ) -> Result<Opened, Problem> {
        let given = self.special_tokens.iter();
        let given = given.map(|(name, text)| (name.clone(), Value::from(text.as_str())));
        let id = path.to_str().and_then(|text| text.parse().ok());
        let source = loaded
            .map_err(|error| match (folder, id) {
                (Some(folder), Some(id)) => hub::about_cached(load_problem(&error), &id, folder),
                _ => load_problem(&error),
            })?
            .assuming_tokens()
            .with_special_tokens(given.collect());
        Ok(Opened { source })
    }
}

impl Opened {
    /// The chat templates, where those that transformers chooses by itself compile. Of others that do not it is told.
    fn whole(self) -> Result<Self, Problem> {
        for (name, error) in &self.source.broken {
            if ["default", "tool_use"].contains(&name.as_str()) {
                return Err(load_problem(error));
            }
            let mut problem = load_problem(error);
            for diagnostic in &mut problem.diagnostics {
                diagnostic.severity = Severity::Warning;
            }
            problem.show();
        }
        Ok(self)
    }

    /// A sentence that says what was assumed; `None` when nothing was that a template reads or `given` does not give.
    pub(crate) fn assumption(&self, given: &Map) -> Option<String> {
        let tokens: Vec<String> = self
            .source
            .assumed_tokens
            .iter()
            .filter(|name| !given.contains_key(name))
            .filter_map(|name| {
                let token = self.source.special_tokens.get(name)?.as_str()?;
                Some(format!("{name} is {token}"))
            })
            .collect();
        (!tokens.is_empty()).then(|| {
            format!(
                "the chat template prints special tokens that its source does not tell; assumed: {}. Give them with --special-token",
                tokens.join(", ")
            )
        })
    }

    /// The chat template of that name.
    pub(crate) fn named(&self, name: &str) -> Result<&ChatTemplate, Problem> {
        let found = self.source.named(name);
        let found = found.ok_or_else(|| self.no_template(name))?;
        found.map_err(|error| load_problem(&error))
    }

    /// That there is no chat template of that name, and which there are.
    pub(crate) fn no_template(&self, name: &str) -> Problem {
        let compiled = self.source.templates.iter().map(|(name, _)| name);
        let broken = self.source.broken.iter().map(|(name, _)| name);
        let names = compiled.chain(broken).map(|name| format!("`{name}`"));
        let names: Vec<String> = names.collect();
        let path = input::name(&self.source.path);
        Problem::failed(
            "no-chat-template",
            format!("{path} has no chat template `{name}`"),
        )
        .with_hint(format!(
            "there are {}; choose one with --template",
            names.join(", ")
        ))
    }

    /// A chat template as a text with a name, to show a place in it.
    pub(crate) fn document(&self, template: &ChatTemplate) -> Document {
        let several = self.source.templates.len() > 1 || self.source.config_path.is_some();
        let path = self.source.path.display();
        let name = self
            .source
            .templates
            .iter()
            .find(|(_, known)| known.source() == template.source())
            .filter(|_| several)
            .map_or_else(
                || path.to_string(),
                |(name, _)| in_file(&path.to_string(), name),
            );
        let name = match name == STDIN {
            true => input::name(Path::new("-")),
            false => name,
        };
        Document::new(name, template.source())
    }
}

/// The name of a chat template from standard input.
const STDIN: &str = "stdin";

fn in_file(path: &str, template: &str) -> String {
    format!("{path} (chat template `{template}`)")
}

/// Tells of each variable that is given with --kwarg and that no chat template of the source reads, so that it changes nothing.
pub(crate) fn warn_of_ignored(source: &ChatTemplateSource, given: &Map) {
    for found in ignored(source, given, |name| format!("--kwarg {name}=...")) {
        Problem::of(found).show();
    }
}

/// The members of an object with messages that have options of their own.
const OPTIONS: [(&str, &str); 3] = [
    ("tools", "--tools FILE gives the tools"),
    ("documents", "--documents FILE gives the documents"),
    (
        "add_generation_prompt",
        "--add-generation-prompt asks for the generation prompt",
    ),
];

/// Tells of the members of an object with messages that are read by nothing, and that somebody may have meant for something.
fn warn_of_members(members: &Map, file: &str) {
    for name in members.keys().map(|name| name.as_str()) {
        let known = ["messages", "kwargs"];
        if known.contains(&name) {
            continue;
        }
        let option = OPTIONS.iter().find(|(option, _)| *option == name);
        let hint = match (option, near::nearest(name, known.into_iter())) {
            (Some((_, hint)), _) => (*hint).to_owned(),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => continue,
        };
        let message = format!("`{}` in {file} is not read", escape::line(name));
        Problem::of(Diagnostic::warning("ignored-member", message).with_hint(hint)).show();
    }
}

/// A warning for each variable that no chat template of the source reads; `spelled` is how it was given.
pub(crate) fn ignored(
    source: &ChatTemplateSource,
    given: &Map,
    spelled: impl Fn(&str) -> String,
) -> Vec<Diagnostic> {
    let templates = source.templates.iter();
    let read: Vec<&str> = templates
        .flat_map(|(_, template)| template.variables())
        .map(String::as_str)
        .collect();
    let unread = given.keys().filter(|name| {
        let name = name.as_str();
        GIVEN.contains(&name) || !read.contains(&name)
    });
    let told = unread.map(|name| {
        if GIVEN.contains(&name.as_str()) {
            let message = format!(
                "`{name}` is no variable of the chat template's own, so {} changes nothing",
                spelled(name)
            );
            let hint = format!(
                "`obverse render` has --{} for it, and a line of --jsonl has `{name}` beside `kwargs`",
                name.replace('_', "-")
            );
            return Diagnostic::warning("ignored-kwarg", message).with_hint(hint);
        }
        let kwargs = read.iter().copied().filter(|known| !GIVEN.contains(known));
        let hint = match near::nearest(name, kwargs) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`obverse inspect` lists the kwargs that it reads".to_owned(),
        };
        let message = format!(
            "the chat template reads no variable `{name}`, so {} changes nothing",
            spelled(name)
        );
        Diagnostic::warning("ignored-kwarg", message).with_hint(hint)
    });
    told.collect()
}

/// A conversation that is rendered.
pub(crate) struct Conversation {
    pub(crate) messages: Vec<Value>,
    pub(crate) kwargs: Map,
}

/// Reads the conversation that --messages names: a list, or an object with messages and kwargs. Those that are given come before its own.
pub(crate) fn conversation(
    path: Option<&Path>,
    opened: &Opened,
    given: Map,
) -> Result<Conversation, Problem> {
    let Some(path) = path else {
        return Ok(Conversation {
            messages: Vec::new(),
            kwargs: given,
        });
    };
    let (value, text) = input::read_json(path)?;
    let wrong = |message: String| {
        let start = text.len() - text.trim_start().len();
        Problem::of(Diagnostic::error("wrong-type", message).with_span(start..start + 1))
            .about(Document::new(input::name(path), text.as_str()))
    };
    let (messages, own) = match value {
        Value::Object(members) if !members.contains_key("messages") => {
            return Err(wrong(
                "the object has no `messages`; a list of messages is taken, or an object that has them as `messages`".to_owned(),
            ));
        }
        Value::Object(mut members) => {
            warn_of_members(&members, &input::name(path));
            let own = match members.shift_remove("kwargs") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(own)) => own,
                Some(other) => {
                    let message = format!("kwargs must be an object, not {}", other.json_kind());
                    return Err(wrong(message));
                }
            };
            (members.shift_remove("messages").unwrap_or(Value::Null), own)
        }
        other => (other, Map::new()),
    };
    let Value::Array(messages) = messages else {
        let message = format!("the messages must be a list, not {}", messages.json_kind());
        return Err(wrong(message));
    };
    for found in ignored(&opened.source, &own, |name| {
        format!("`{name}` in the kwargs of {}", input::name(path))
    }) {
        Problem::of(found).show();
    }
    let mut kwargs = own;
    kwargs.extend(given);
    Ok(Conversation { messages, kwargs })
}

fn special_token(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, token)) if !name.is_empty() => Ok((name.to_owned(), token.to_owned())),
        _ => Err("expected NAME=TEXT, such as bos_token=<s>".to_owned()),
    }
}

pub(super) fn date(text: &str) -> Result<Clock, String> {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return Err("expected YYYY-MM-DD".to_owned());
    };
    let number = |digits: &str| {
        digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse().ok())
            .flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year), number(month), number(day)) else {
        return Err("expected YYYY-MM-DD".to_owned());
    };
    Clock::date(i32::try_from(year).unwrap_or(i32::MAX), month, day)
        .ok_or_else(|| "the calendar has no such day".to_owned())
}

/// The problem with a path at which nothing is, if it looks like a model of the Hub that is named otherwise than models are.
pub(crate) fn misnamed(path: &Path) -> Option<Problem> {
    let is_model = |text: &str| text.parse::<ModelId>().is_ok();
    let text = path
        .to_str()
        .filter(|text| !is_model(text) && !path.exists() && !path.is_symlink())?;
    let is_file = path.extension().is_some_and(|extension| {
        ["jinja", "json", "gguf", "txt", "j2"].contains(&extension.to_string_lossy().as_ref())
    });
    let whole = text.trim_end_matches('/');
    let (model, revision) = text.split_once('@').unwrap_or((text, ""));
    let hint = if text.contains("://") {
        "a model of the Hub is named ORG/MODEL or ORG/MODEL@REVISION, or by the address of its page"
            .to_owned()
    } else if !text.contains('/') && is_model(&format!("org/{text}")) && !is_file {
        format!("a model of the Hub is named with its owner: ORG/{text}")
    } else if whole != text && is_model(whole) {
        format!("a model of the Hub is named without a slash at its end: {whole}")
    } else if !revision.is_empty() && is_model(model) {
        format!("what stands behind {model}@ is to be a branch, a tag or a commit")
    } else {
        return None;
    };
    let message = format!(
        "cannot read {}: there is no such file or folder",
        input::name(path)
    );
    Some(Problem::failed("unreadable", message).with_hint(hint))
}

/// Returns true if one of these files is a GGUF file, which has its chat template in it.
fn has_gguf(files: &[String]) -> bool {
    files.iter().any(|file| file.ends_with(".gguf"))
}

pub(crate) fn load_problem(error: &LoadError) -> Problem {
    match error {
        LoadError::Unreadable { path, .. } if path.is_symlink() && !path.exists() => {
            let target = std::fs::read_link(path).unwrap_or_default();
            let message = format!(
                "cannot read {}: it is a symbolic link to {}, which is not there",
                input::name(path),
                input::name(&target)
            );
            Problem::failed("unreadable", message)
        }
        LoadError::Unreadable { path, reason } => misnamed(path).unwrap_or_else(|| {
            let message = format!("cannot read {}: {reason}", input::name(path));
            Problem::failed("unreadable", message)
        }),
        LoadError::NotUtf8 { path, offset } => match std::fs::read(path) {
            Ok(bytes) if std::str::from_utf8(&bytes).is_err() => {
                input::not_utf8(&input::name(path), &bytes, *offset)
            }
            _ => Problem::failed("invalid-utf8", error.to_string()),
        },
        LoadError::InvalidJson { path, reason } => {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            match json::parse(&text) {
                Err(found) => input::not_json(&input::name(path), text, &found),
                Ok(_) => {
                    Problem::failed("json-syntax", format!("not JSON: {reason}")).about(Document {
                        name: input::name(path),
                        text: None,
                    })
                }
            }
        }
        LoadError::NoTemplate { path, seen } => {
            let problem = Problem::failed("no-chat-template", "there is no chat template in it")
                .about(Document {
                    name: input::name(path),
                    text: None,
                })
                .with_hint(match has_gguf(seen) {
                    true => "give one of the GGUF files, which have it in them",
                    false => "give a .jinja file, or a tokenizer_config.json, model folder or .gguf file with a chat template",
                });
            if seen.iter().any(|key| key == "chat_template") {
                problem.with_note("`chat_template` is there, and is neither a text nor a list of objects with a `name` and a `template`")
            } else if seen.is_empty() {
                problem
            } else {
                problem.with_note(format!("there is: {}", seen.join(", ")))
            }
        }
        LoadError::Template {
            path,
            name,
            source_text,
            error,
        } => {
            let path_name = input::name(path);
            let is_file = path
                .extension()
                .is_some_and(|extension| extension == "jinja");
            let shown = if path_name == STDIN {
                input::name(Path::new("-"))
            } else if is_file {
                path_name
            } else {
                in_file(&path_name, name)
            };
            Problem::of((*error.diagnostic).clone()).about(Document::new(shown, source_text))
        }
    }
}

/// Tells which special tokens were assumed, if any were.
pub(crate) fn tell_assumption(opened: &Opened, given: &Map) {
    if let Some(text) = opened.assumption(given) {
        let mut diagnostic = Diagnostic::error("assumed-special-token", text);
        diagnostic.severity = Severity::Info;
        Problem::of(diagnostic).show();
    }
}

/// That a chat template renders nothing, for the reason that `message` tells too.
pub(crate) fn not_rendered(error: &RenderError, message: String) -> Problem {
    let mut diagnostic = Diagnostic::error("not-rendered", message);
    if let Some(found) = render_diagnostic(error) {
        diagnostic.place = found.place.clone();
        diagnostic.hint = found.hint.clone();
    }
    Problem::of(diagnostic)
}

/// A render that did not finish. That a chat template refuses a conversation is a finding; that it runs into a limit
/// keeps the tool from working.
pub(crate) fn render_problem(error: &RenderError, document: Document) -> Problem {
    let bare = |document: Document| Document {
        text: None,
        ..document
    };
    match error {
        RenderError::Raised { message } => Problem::failed(
            "raised",
            format!("the chat template refuses the conversation: {message}"),
        )
        .about(bare(document))
        .with_status(Status::Found),
        RenderError::Template { diagnostic } => Problem::of((**diagnostic).clone())
            .about(document)
            .with_status(Status::Found),
        error => Problem::failed(render_kind(error), error.to_string()).about(bare(document)),
    }
}

/// The error's stable name in the lines of `--jsonl`.
pub(crate) fn render_kind(error: &RenderError) -> &'static str {
    match error {
        RenderError::Raised { .. } => "raised",
        RenderError::Template { .. } => "template",
        RenderError::Limit { which, .. } => which.name(),
    }
}

/// A diagnostic of a failed render, if it has one.
pub(crate) fn render_diagnostic(error: &RenderError) -> Option<&Diagnostic> {
    match error {
        RenderError::Template { diagnostic } => Some(diagnostic),
        _ => None,
    }
}
