//! The chat template under examination, and conversations to try it with.

use crate::chat_template::RenderError;
use crate::derive::probe::{self, Assistant, Call, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::judge;
use crate::value::Value;

/// A name that no chat template knows, for a role or the type of a part.
pub(super) const INVENTED: &str = "herald";

/// A text to fill a key with.
pub(super) const FILLING: &str = "Kestrel plum";

/// A chat template, and how it wants an assistant's message spelled.
#[derive(Debug, Clone)]
pub(in crate::derive) struct Subject<'l> {
    pub(super) renderer: &'l Renderer<'l>,
    pub(super) dialect: Dialect,
    /// True if contents are written in parts, for a template that takes nothing else.
    pub(super) in_parts: bool,
    /// True if calls are rendered only where another message follows.
    pub(super) calls_followed: bool,
}

impl<'l> Subject<'l> {
    pub(in crate::derive) fn new(renderer: &'l Renderer<'l>, dialect: Dialect) -> Self {
        Self {
            renderer,
            dialect,
            in_parts: false,
            calls_followed: false,
        }
    }

    /// The subject whose messages with calls are rendered with another message behind them, or as they are.
    pub(in crate::derive) fn calling_before_next(self, calls_followed: bool) -> Self {
        Self {
            calls_followed,
            ..self
        }
    }

    /// Returns the subject with its messages in another spelling.
    pub(super) fn spelled(&self, dialect: Dialect) -> Self {
        Self {
            dialect,
            ..self.clone()
        }
    }

    /// A conversation of these messages, their contents in the form that the template takes.
    pub(super) fn talk(&self, tools: bool, messages: impl IntoIterator<Item = Value>) -> Context {
        self.talk_as_is(
            tools,
            messages.into_iter().map(|message| self.divided(message)),
        )
    }

    /// A message with its content in the form that the template takes.
    pub(super) fn divided(&self, mut message: Value) -> Value {
        if self.in_parts
            && let Value::Object(members) = &mut message
            && let Some(content) = members.get_mut("content")
            && let Some(text) = content.as_str()
        {
            *content = Value::Array(vec![text_part(text)]);
        }
        message
    }

    /// A conversation of these messages as they are, behind the message with which conversations have to begin.
    pub(super) fn talk_as_is(
        &self,
        tools: bool,
        messages: impl IntoIterator<Item = Value>,
    ) -> Context {
        let mut context = self.talk_alone(tools, messages);
        let begins = context.history.first().and_then(role);
        if !matches!(begins, Some("system" | "developer")) {
            context.history.splice(0..0, self.renderer.opening());
        }
        context
    }

    /// A conversation of just these messages.
    pub(super) fn talk_alone(
        &self,
        tools: bool,
        messages: impl IntoIterator<Item = Value>,
    ) -> Context {
        Context {
            history: messages.into_iter().collect(),
            ..self.renderer.user(tools)
        }
    }

    /// The conversation as it is rendered to be gone on with: up to the model's turn, where it is the model's.
    pub(super) fn render(&self, context: &Context) -> Result<String, RenderError> {
        match context.history.last() {
            Some(last) if self.calls_followed && judge::has_calls(last) => {
                let next = self.divided(user_again());
                self.renderer.history(&context.and(next))
            }
            Some(last) if role(last) == Some("assistant") => self.renderer.history(context),
            _ => self.renderer.prompt(context),
        }
    }

    /// An assistant's message in the template's own spelling.
    pub(super) fn write(&self, message: &Assistant) -> Value {
        self.dialect.write(message)
    }

    pub(super) fn answer(&self, content: &str) -> Value {
        self.write(&Assistant::saying(content))
    }

    pub(super) fn calling(&self, calls: impl IntoIterator<Item = Call>) -> Value {
        self.write(&Assistant::calling(calls))
    }
}

/// One part of a content, as transformers knows it.
pub(super) fn text_part(text: &str) -> Value {
    probe::object([("type", Value::from("text")), ("text", Value::from(text))])
}

pub(super) fn user() -> Value {
    probe::message("user", probe::USER)
}

pub(super) fn user_again() -> Value {
    probe::message("user", probe::USER_AGAIN)
}

pub(super) fn system() -> Value {
    probe::message("system", probe::SYSTEM)
}

pub(super) fn role(message: &Value) -> Option<&str> {
    message.get("role")?.as_str()
}

/// The constants of the templates that could be names of roles or of kinds of parts, the first of them.
pub(super) fn names(renderer: &Renderer<'_>) -> Vec<String> {
    const MOST: usize = 48;
    let is_name = |text: &&str| {
        (2..=24).contains(&text.len())
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let mut found: Vec<String> = Vec::new();
    for name in renderer.constants().filter(is_name) {
        if found.len() < MOST && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

/// A render that has the invented name, with another name in its place, in any case of letters.
pub(super) fn renamed(render: &Result<String, RenderError>, name: &str) -> Result<String, String> {
    let capital = |name: &str| {
        let mut letters = name.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_uppercase().chain(letters).collect()
        })
    };
    let rename = |text: &str| {
        text.replace(INVENTED, name)
            .replace(&capital(INVENTED), &capital(name))
            .replace(&INVENTED.to_uppercase(), &name.to_uppercase())
    };
    match render {
        Ok(text) => Ok(rename(text)),
        Err(error) => Err(rename(&error.to_string())),
    }
}

/// Returns true if a template treats a name otherwise than one that it does not know.
pub(super) fn is_known(
    render: &Result<String, RenderError>,
    invented: &Result<String, RenderError>,
    name: &str,
) -> bool {
    let found = render.clone().map_err(|error| error.to_string());
    found != renamed(invented, name)
}
