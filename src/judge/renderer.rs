//! Rendering conversations for the judge, on an account of steps.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::Setup;
use super::manner::Manner;
use super::message::content_to_parts;
use super::probes;
use crate::chat_template::{
    self, ChatTemplate, ChatTemplateSource, Inputs, Reads, RenderError, Traced,
};
use crate::text::common_suffix;
use crate::value::{Map, Value};

/// A chat template as the judge renders it.
#[derive(Debug)]
pub(super) struct Renderer<'a> {
    source: &'a ChatTemplateSource,
    setup: &'a Setup<'a>,
    /// How often was rendered, and what that took.
    rendered: Cell<(usize, Duration)>,
}

/// A conversation up to the model's turn.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// What came before, in words: `after a user's message`.
    pub(super) label: &'static str,
    pub(super) history: Vec<Value>,
    pub(super) tools: Option<Rc<[Value]>>,
    pub(super) kwargs: Map,
    /// Whether a tool's result comes last.
    pub(super) after_tool: bool,
}

impl Place {
    pub(super) fn under(&self, kwargs: &Map) -> Self {
        Self {
            kwargs: kwargs.clone(),
            ..self.clone()
        }
    }

    /// The conversation with further messages.
    pub(super) fn and(&self, messages: impl IntoIterator<Item = Value>) -> Self {
        let mut next = self.clone();
        next.history.extend(messages);
        next
    }

    /// Where the last thing that was said in the conversation ends in a render.
    pub(super) fn end_in(&self, render: &str) -> usize {
        let said = self.history.iter().rev().find_map(|message| {
            let content = message.get("content")?;
            let text = content.as_str().or_else(|| {
                let last = content.as_array()?.last()?;
                last.get("text")?.as_str()
            });
            text.filter(|text| !text.is_empty())
        });
        said.and_then(|said| Some(render.rfind(said)? + said.len()))
            .unwrap_or(0)
    }
}

impl<'a> Renderer<'a> {
    pub(super) fn new(source: &'a ChatTemplateSource, setup: &'a Setup<'a>) -> Self {
        Self {
            source,
            setup,
            rendered: Cell::default(),
        }
    }

    /// A message from the user, with tools or without.
    pub(super) fn user(&self, tools: Option<&Rc<[Value]>>) -> Place {
        Place {
            label: if tools.is_some() {
                "with tools"
            } else {
                "after a user's message"
            },
            history: vec![self.said("user", probes::USER)],
            tools: tools.cloned(),
            kwargs: Map::new(),
            after_tool: false,
        }
    }

    /// A message of another role than the assistant's.
    pub(super) fn said(&self, role: &str, text: &str) -> Value {
        self.divided(super::message::message(role, text))
    }

    /// The message with its content in the form that the chat template takes.
    pub(super) fn divided(&self, mut message: Value) -> Value {
        if self.setup.parts {
            content_to_parts(&mut message);
        }
        message
    }

    /// The conversation with the prompt for the model's turn.
    pub(super) fn prompt(&self, place: &Place, manner: &Manner) -> Result<String, RenderError> {
        self.spend(
            place,
            &place.history,
            manner,
            true,
            ChatTemplate::render_borrowed,
        )
    }

    /// The conversation as it is.
    pub(super) fn history(&self, place: &Place, manner: &Manner) -> Result<String, RenderError> {
        self.spend(
            place,
            &place.history,
            manner,
            false,
            ChatTemplate::render_borrowed,
        )
    }

    /// The conversation and the assistant's message.
    pub(super) fn answered(
        &self,
        place: &Place,
        message: &Value,
        manner: &Manner,
    ) -> Result<String, RenderError> {
        let mut messages = place.history.clone();
        messages.push(message.clone());
        self.spend(
            place,
            &messages,
            manner,
            false,
            ChatTemplate::render_borrowed,
        )
    }

    /// The conversation and the message as an earlier turn, up to where the next message begins: what stands before that is the same
    /// as before the conversation's own first message.
    pub(super) fn earlier(
        &self,
        place: &Place,
        message: &Value,
        manner: &Manner,
    ) -> Option<String> {
        let next = self.said("user", probes::USER_AGAIN);
        let full = self
            .history(&place.and([message.clone(), next]), manner)
            .ok()?;
        let before = &full[..full.rfind(probes::USER_AGAIN)?];
        let first = &full[..full.find(probes::USER)?];
        let header = common_suffix(before, first);
        Some(before[..before.len() - header].to_owned())
    }

    /// The conversation and further messages, with the origin of every character.
    pub(super) fn traced(
        &self,
        place: &Place,
        further: &[Value],
        manner: &Manner,
    ) -> Result<Traced, RenderError> {
        let messages = [place.history.as_slice(), further].concat();
        self.spend(
            place,
            &messages,
            manner,
            false,
            ChatTemplate::render_borrowed_traced,
        )
    }

    /// The same of the prompt.
    pub(super) fn traced_prompt(
        &self,
        place: &Place,
        manner: &Manner,
    ) -> Result<Traced, RenderError> {
        self.spend(
            place,
            &place.history,
            manner,
            true,
            ChatTemplate::render_borrowed_traced,
        )
    }

    /// What the chat template asks of its inputs where it renders the conversation and the message.
    pub(super) fn reads(
        &self,
        place: &Place,
        message: &Value,
        manner: &Manner,
    ) -> Result<Reads, RenderError> {
        let mut messages = place.history.clone();
        messages.push(message.clone());
        let observed = self.spend(
            place,
            &messages,
            manner,
            false,
            |template, inputs, steps| template.render_borrowed_observed(inputs, steps),
        );
        observed.map(|(_, reads)| reads)
    }

    fn spend<T>(
        &self,
        place: &Place,
        messages: &[Value],
        manner: &Manner,
        add_generation_prompt: bool,
        render: impl FnOnce(&ChatTemplate, &Inputs<'_>, &mut u64) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let raised = |message: String| RenderError::Raised { message };
        let template = self
            .source
            .select(place.tools.is_some())
            .map_err(|error| raised(error.to_string()))?;
        let mut kwargs = self.setup.kwargs(place.tools.as_deref());
        let kwargs = if kwargs.is_empty() {
            &place.kwargs
        } else {
            for (name, value) in &place.kwargs {
                kwargs.insert(name.clone(), value.clone());
            }
            &kwargs
        };
        let inputs = Inputs {
            messages,
            tools: place.tools.as_deref(),
            documents: None,
            add_generation_prompt,
            kwargs,
            clock: self.setup.clock,
            rules: manner.rules,
        };
        let account = self.setup.steps;
        let mut steps = account.get().min(chat_template::MAX_STEPS);
        let before = steps;
        let started = Instant::now();
        let rendered = render(template, &inputs, &mut steps);
        let (count, took) = self.rendered.get();
        self.rendered.set((count + 1, took + started.elapsed()));
        account.set(account.get() - (before - steps));
        rendered
    }

    /// How often was rendered so far, and what that took.
    pub(super) fn rendered(&self) -> (usize, Duration) {
        self.rendered.get()
    }

    pub(super) fn source(&self) -> &'a ChatTemplateSource {
        self.source
    }
}
