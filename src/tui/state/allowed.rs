//! Held to the grammar of what the model may write: the response up to the cursor, and what may come next.

use std::sync::Arc;

use crate::chat_template::ChatTemplateSource;
use crate::derive::{self, Case};
use crate::grammar::{Acceptor, Next, Request, WrittenFormat};
use crate::response_template::ResponseTemplate;
use crate::value::Value;

/// The responses by which the chat template's derivation is proved, and the tokens at which an engine stops.
type Shown = (Vec<Case>, Vec<String>);

/// The grammar, held to what has arrived of a response.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    /// Made once; `None` where there is no chat template, or nothing can be derived from it.
    shown: Option<Option<Shown>>,
    template: Option<(Arc<ResponseTemplate>, WrittenFormat)>,
    held: Option<Held>,
}

/// A grammar for one prompt and its tools, and how far a response was followed in it.
#[derive(Debug)]
struct Held {
    prefix: String,
    tools: Vec<Value>,
    /// At the beginning of the response; or why there is no grammar.
    start: Result<Acceptor, String>,
    now: Acceptor,
    read: String,
}

/// The answer of the grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// These may come next.
    Next(Vec<Next>),
    /// The byte at which the grammar allows something else, and what.
    Disallowed(usize, Vec<Next>),
    /// There is no grammar, and this is why.
    None(String),
}

impl Allowed {
    /// Follows a response up to the cursor.
    pub(crate) fn follow(
        &mut self,
        chat: Option<&ChatTemplateSource>,
        template: &Arc<ResponseTemplate>,
        (prefix, tools): (&str, &[Value]),
        response: &str,
    ) {
        let is_same = |(known, _): &(Arc<ResponseTemplate>, _)| Arc::ptr_eq(known, template);
        if !self.template.as_ref().is_some_and(is_same) {
            let shown = self.shown.get_or_insert_with(|| shown(chat?));
            let written = match shown {
                Some((cases, ends)) => WrittenFormat::new(template, cases, ends),
                None => WrittenFormat::from_template(template, &[]),
            };
            self.template = Some((Arc::clone(template), written));
            self.held = None;
        }
        let Some((_, written)) = &self.template else {
            return;
        };
        let is_held = |held: &Held| held.prefix == prefix && held.tools == tools;
        if !self.held.as_ref().is_some_and(is_held) {
            self.held = Some(Held::new(written, prefix, tools));
        }
        if let Some(held) = &mut self.held {
            held.follow(response);
        }
    }

    /// The answer for what was followed last.
    pub(crate) fn answer(&self) -> Option<Answer> {
        let held = self.held.as_ref()?;
        if let Err(why) = &held.start {
            return Some(Answer::None(why.clone()));
        }
        let next = held.now.next();
        Some(match held.now.refused() {
            Some(refused) => Answer::Disallowed(refused.at(), next),
            None => Answer::Next(next),
        })
    }
}

impl Held {
    fn new(written: &WrittenFormat, prefix: &str, tools: &[Value]) -> Self {
        let request = Request::default().tools(tools.to_vec()).prefix(prefix);
        let grammar = written.grammar(&request);
        let start = grammar.map(|grammar| Acceptor::new(&grammar));
        let start = start.map_err(|error| error.to_string());
        Self {
            prefix: prefix.to_owned(),
            tools: tools.to_vec(),
            now: start.clone().unwrap_or_default(),
            start,
            read: String::new(),
        }
    }

    /// Reads on from where it is, and from the beginning where the cursor went back or the response was changed.
    fn follow(&mut self, response: &str) {
        if !response.starts_with(&self.read) {
            self.now = self.start.clone().unwrap_or_default();
            self.read.clear();
        }
        // A refusal is kept, and told by the answer.
        let _ = self.now.feed(&response[self.read.len()..]);
        response.clone_into(&mut self.read);
    }
}

/// Derives from the chat template, for the responses that it renders.
fn shown(chat: &ChatTemplateSource) -> Option<Shown> {
    let derivation = derive::derive(chat, &derive::Options::default()).ok()?;
    Some((derivation.cases, chat.end_tokens()))
}
