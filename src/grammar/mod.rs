//! Grammars: what a model may write, for the engines that hold it to that.
//!
//! Whoever knows how a response is read also knows what may be written. A [`Grammar`] is made of a response template and of responses
//! of which it is known what they say: those by which a derivation proved it. The response template says what is fixed
//! and what is free, so that reading and writing cannot disagree; how the fixed parts are spelled, and what follows what, is
//! as the chat template renders it; the arguments of calls obey the tools' schemas.
//!
//! In the order in which it happens:
//!
//! - `format` reads off responses how a format is written, as a graph of texts and calls with what is fixed between;
//! - [`Request`] says what is asked for: tools, which calls, reasoning, from which prompt on;
//! - `graph` and `calls` make one expression of both, in the language of `expr`; `json` writes JSON of a schema in it, `avoid` knows
//!   what must not stand in a text;
//! - `emit` writes it for an engine, and `sample` writes texts that it allows.
//!
//! [`peg`] is another kind of grammar, that reads: parsing expression grammars as data, and text read with them as it arrives; [`reader`]
//! makes messages of what they read, for formats that response templates cannot say.
//!
//! Nothing here knows a model or a marker.

mod accept;
mod avoid;
mod calls;
mod chars;
pub mod emit;
mod expr;
mod format;
mod graph;
mod json;
mod lazy;
mod parts;
pub mod peg;
pub mod reader;
mod request;
mod sample;
mod strict;

use std::sync::Arc;

use crate::derive::Case;
use crate::response_template::ResponseTemplate;
use crate::value::Value;
use avoid::Avoid;
use expr::{Arena, Expr, Id, JsonOf};
use format::{Begun, Format};
use json::JsonWriter;
use lazy::Lazy;

pub use accept::{Acceptor, Disallowed, Next};
pub use request::{Reasoning, Request, SpecialToken, ToolChoice};
pub use sample::Sampler;
pub use strict::StrictReader;

/// Something worth knowing about a grammar.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// A stable name.
    pub code: &'static str,
    /// The finding in a sentence.
    pub text: String,
}

/// How a format is written, read off once and asked for any number of grammars.
#[derive(Debug, Clone)]
pub struct WrittenFormat(Format);

/// A grammar of all that a model may write.
#[derive(Debug, Clone)]
pub struct Grammar {
    arena: Arena,
    root: Id,
    /// The grammar from the first call on.
    lazy: Lazy,
    special: Vec<SpecialToken>,
    /// How the message is made that is read with it.
    message: reader::Settings,
    findings: Vec<Finding>,
}

/// Why there is no grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// The prompt leaves the response where no response is known to go on.
    #[error("{0}")]
    Prompt(String),
    /// Nothing that is asked for can be written in the format.
    #[error("{0}")]
    Nothing(String),
}

impl WrittenFormat {
    /// Reads off responses how a format is written. The cases are those of a derivation; `end_tokens` are the tokens at which an
    /// engine stops, which a grammar need not ask for.
    pub fn new(template: &Arc<ResponseTemplate>, cases: &[Case], end_tokens: &[String]) -> Self {
        Self(Format::of(template, cases, end_tokens))
    }

    /// Makes it of a response template alone. How a format is written is made up, and kept where the response template reads it back. What
    /// it cannot say is left as free as it leaves it: in which order the fields come, and how often those that may repeat.
    /// `end_tokens` are the tokens at which an engine stops, which a grammar need not ask for.
    pub fn from_template(template: &ResponseTemplate, end_tokens: &[String]) -> Self {
        Self(Format::of_template(template, end_tokens))
    }

    /// Returns what of the responses the grammar leaves out and may refuse, since it was not understood or would allow what must not be.
    pub fn left_out(&self) -> impl Iterator<Item = String> {
        let format = &self.0;
        let values = format.style.unknown.iter();
        let values =
            values.map(|raw| format!("an argument written as {}", crate::value::json::quote(raw)));
        format.left_out.iter().cloned().chain(values)
    }

    /// The grammar of what is asked for.
    ///
    /// # Errors
    ///
    /// When the prompt leaves the response in a place that no response shows, or nothing can be written that is asked for.
    pub fn grammar(&self, request: &Request) -> Result<Grammar, GrammarError> {
        let mut arena = Arena::default();
        let mut notes = Vec::new();
        let begun = self
            .0
            .begun(&request.prefix)
            .map_err(GrammarError::Prompt)?;
        let is_closed = matches!(
            begun,
            Begun::Before {
                reasoned: true,
                thought: false,
                ..
            }
        );
        if is_closed && request.reasoning == Reasoning::On {
            let text = "reasoning is asked for, and the prompt has closed it already";
            return Err(GrammarError::Nothing(text.to_owned()));
        }
        let mut walk = graph::Walk::new(&mut arena, &self.0, request, &mut notes);
        let root = walk.begin(&begun);
        if walk.arena.is_never(root) {
            return Err(GrammarError::Nothing(nothing(request)));
        }
        let lazy = walk.lazy(&begun);
        notes.extend(self.0.assumed());
        for text in self.left_out() {
            notes.push(("left-out", format!("a way to write is left out: {text}")));
        }
        let findings = notes.into_iter();
        Ok(Grammar {
            arena,
            root,
            lazy,
            special: request.special_tokens.clone(),
            message: self.0.message(&request.prefix, &begun),
            findings: findings
                .map(|(code, text)| Finding { code, text })
                .collect(),
        })
    }
}

impl Format {
    /// Returns what is assumed of a format that no render shows.
    fn assumed(&self) -> Vec<(&'static str, String)> {
        if self.is_reasoned {
            let text = "the chat template renders reasoning before some of what a response may begin with: the grammar allows it before all of it, as far as the response template reads that";
            return vec![("reasoning-assumed", text.to_owned())];
        }
        if !self.is_made_up {
            return Vec::new();
        }
        let fields = self.template.fields().iter().enumerate();
        let name = |index: usize, name: &str| {
            let is_once = self.once & format::bit(index) != 0;
            format!("`{name}`{}", if is_once { " (once)" } else { "" })
        };
        let names: Vec<String> = fields
            .map(|(index, field)| name(index, &field.name))
            .collect();
        vec![(
            "order-assumed",
            format!(
                "a response template does not say in which order its fields come: the grammar allows any order of {}, each as often as the response template keeps it; a chat template says more",
                names.join(", ")
            ),
        )]
    }
}

fn nothing(request: &Request) -> String {
    let why = match &request.tool_choice {
        ToolChoice::Tool(name) if request.callable().is_empty() => {
            return format!("there is no tool `{name}` to be called");
        }
        ToolChoice::Required if request.callable().is_empty() => {
            "a call is required, and there is no tool to be called"
        }
        ToolChoice::Required | ToolChoice::Tool(_) => {
            "a call is required, and no response shows how one is written"
        }
        _ if request.reasoning == Reasoning::On => {
            "reasoning is asked for, and no response shows any"
        }
        _ if request.response_format.is_some() => {
            "an answer is asked for, and none can be written here that is JSON"
        }
        _ => "nothing that is asked for can be written in this format",
    };
    why.to_owned()
}

impl Grammar {
    /// Returns what is worth knowing about it: what of the schemas is not asked for, what was left out.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The texts that an engine reads as one token.
    pub fn special_tokens(&self) -> &[SpecialToken] {
        &self.special
    }

    /// The grammar with every schema written out, for who knows none.
    #[must_use]
    pub(crate) fn expanded(&self) -> Self {
        let mut ignored = Vec::new();
        let mut expanded = self.copied(&mut |into, of| {
            let schema = crate::value::json::parse(&of.schema).unwrap_or(Value::Bool(true));
            let mut writer = JsonWriter {
                arena: into,
                root: &schema,
                dialect: None,
                avoid: &of.avoid,
                ignored: &mut ignored,
                sorted: false,
                no_backslash: false,
                scope: format!("{}-", json::named(&of.schema)),
            };
            writer.value(&schema, 0)
        });
        for keyword in ignored {
            let text = format!("the grammar does not ask for `{keyword}` of a schema");
            let finding = Finding {
                code: "schema-keyword",
                text,
            };
            if !expanded.findings.contains(&finding) {
                expanded.findings.push(finding);
            }
        }
        expanded
    }

    /// The grammar without its tags, which say nothing to who writes.
    #[must_use]
    pub(crate) fn untagged(&self) -> Self {
        self.copied(&mut |into, of| into.add(Expr::Json(of.clone())))
    }

    fn copied(&self, json: &mut dyn FnMut(&mut Arena, &JsonOf) -> Id) -> Self {
        let mut arena = Arena::default();
        let mut done = foldhash::HashMap::default();
        let root = arena.copy(&self.arena, self.root, &mut done, json);
        let used = self.arena.rules_of(self.root);
        for (name, body) in self.arena.rules() {
            if used.contains(name.as_str()) {
                let body = arena.copy(&self.arena, *body, &mut done, json);
                arena.set_rule(name, body);
            }
        }
        Self {
            arena,
            root,
            lazy: Lazy {
                root,
                triggers: Vec::new(),
                is_unseen: false,
            },
            ..self.clone()
        }
    }
}
