//! Rendering conversations for the judge, on an account of steps.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::rc::Rc;
use std::time::Duration;

use web_time::Instant;

use super::Setup;
use super::manner::Manner;
use super::message::{CALLS_KEY, content_to_parts, function_name};
use super::probes;
use crate::chat_template::{
    self, ChatTemplate, ChatTemplateSource, Inputs, PrintedLists, Reads, RenderError, Rules, Traced,
};
use crate::text::common_suffix;
use crate::value::{Map, Value, are_identical};

/// The bytes of renders that are kept at most, counting each conversation as so many beside its render.
const MAX_KEPT: usize = 32 << 20;
const CONVERSATION: usize = 4 << 10;

/// A chat template as the judge renders it.
#[derive(Debug)]
pub(super) struct Renderer<'a> {
    source: &'a ChatTemplateSource,
    setup: &'a Setup<'a>,
    /// How many renders were made, and how long they took.
    rendered: Cell<(usize, Duration)>,
    /// The renders made without origins. The messages that several response templates parse to, and those that failing messages shrink to,
    /// are often the same.
    cache: RefCell<RenderCache>,
    /// The texts that were printed of each list of tools.
    printed: PrintedLists,
    /// True if a message with an empty text and one without it count as the same.
    takes_empty_for_none: Cell<bool>,
}

/// Renders by the hash of their inputs.
#[derive(Debug, Default)]
struct RenderCache {
    renders: HashMap<u64, Vec<Render>, foldhash::fast::RandomState>,
    bytes: usize,
}

/// A conversation as it was rendered.
#[derive(Debug)]
struct Render {
    messages: Vec<Value>,
    tools: Option<Rc<[Value]>>,
    kwargs: Map,
    add_generation_prompt: bool,
    rules: Rules,
    rendered: Result<String, RenderError>,
    /// How many steps it took. They are charged again each time, so that a chat template's allowance does not depend on how often it is
    /// asked.
    steps: u64,
}

impl Render {
    fn is_of(
        &self,
        place: &Conversation,
        messages: &[Value],
        manner: &Manner,
        add_generation_prompt: bool,
    ) -> bool {
        let same_tools = match (&self.tools, &place.tools) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b) || are_identical(a, b),
            (None, None) => true,
            _ => false,
        };
        same_tools
            && self.add_generation_prompt == add_generation_prompt
            && self.rules == manner.rules
            && self.kwargs.is_identical(&place.kwargs)
            && are_identical(&self.messages, messages)
    }
}

/// A conversation up to the model's turn.
#[derive(Debug, Clone)]
pub(super) struct Conversation {
    /// The message before it, in words: `after a user's message`.
    pub(super) label: &'static str,
    pub(super) history: Vec<Value>,
    pub(super) tools: Option<Rc<[Value]>>,
    pub(super) kwargs: Map,
    /// True if a tool's result comes last.
    pub(super) after_tool: bool,
}

impl Conversation {
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

    /// Returns true if the names of the conversation's tools stand behind its last words.
    pub(super) fn lists_tools(&self, history: &str) -> bool {
        let behind = &history[self.end_in(history)..];
        let tools = self.tools.iter().flat_map(|tools| tools.iter());
        let mut names = tools.filter_map(function_name);
        names.any(|name| behind.contains(name))
    }

    /// Returns the byte of a render at which the last words of the conversation end.
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
            cache: RefCell::default(),
            printed: PrintedLists::default(),
            takes_empty_for_none: Cell::default(),
        }
    }

    /// Returns true if a message with an empty text and one without it are taken for the same, though they render differently.
    pub(super) fn takes_empty_for_none(&self) -> bool {
        self.takes_empty_for_none.get()
    }

    /// Takes a message with an empty text and one without it for the same from now on.
    pub(super) fn take_empty_for_none(&self) {
        self.takes_empty_for_none.set(true);
    }

    /// A message from the user, with tools or without.
    pub(super) fn user(&self, tools: Option<&Rc<[Value]>>) -> Conversation {
        Conversation {
            label: if tools.is_some() {
                "with tools"
            } else {
                "after a user's message"
            },
            history: self
                .opening()
                .chain([self.said("user", probes::USER)])
                .collect(),
            tools: tools.cloned(),
            kwargs: Map::new(),
            after_tool: false,
        }
    }

    /// The message with which every conversation has to begin, if any has.
    fn opening(&self) -> impl Iterator<Item = Value> {
        let role = self.setup.opening.into_iter();
        role.map(|role| self.said(role, probes::SYSTEM))
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
    pub(super) fn prompt(
        &self,
        place: &Conversation,
        manner: &Manner,
    ) -> Result<String, RenderError> {
        self.plain(place, Cow::Borrowed(&place.history), manner, true)
    }

    /// The conversation as it is.
    pub(super) fn history(
        &self,
        place: &Conversation,
        manner: &Manner,
    ) -> Result<String, RenderError> {
        self.plain(place, Cow::Borrowed(&place.history), manner, false)
    }

    /// The conversation and the assistant's message.
    pub(super) fn answered(
        &self,
        place: &Conversation,
        message: &Value,
        manner: &Manner,
    ) -> Result<String, RenderError> {
        if let Some(full) = self.calls_alone(place, message, manner)? {
            return Ok(full);
        }
        let mut messages = place.history.clone();
        messages.push(message.clone());
        self.plain(place, Cow::Owned(messages), manner, false)
    }

    /// The text of a conversation, rendered now or before.
    fn plain(
        &self,
        place: &Conversation,
        messages: Cow<'_, [Value]>,
        manner: &Manner,
        add_generation_prompt: bool,
    ) -> Result<String, RenderError> {
        let mut cache = self.cache.borrow_mut();
        let mut hasher = cache.renders.hasher().build_hasher();
        (add_generation_prompt, place.tools.is_some(), manner.rules).hash(&mut hasher);
        messages
            .iter()
            .for_each(|message| message.hash_into(&mut hasher));
        place.kwargs.hash_into(&mut hasher);
        let hash = hasher.finish();
        let account = self.setup.steps;
        let mut renders = cache.renders.get(&hash).into_iter().flatten();
        let found =
            renders.find(|known| known.is_of(place, &messages, manner, add_generation_prompt));
        if let Some(found) = found
            && found.steps < account.get()
        {
            account.set(account.get() - found.steps);
            return found.rendered.clone();
        }
        let before = account.get();
        let rendered = self.spend(
            place,
            &messages,
            manner,
            add_generation_prompt,
            ChatTemplate::render_borrowed,
        );
        cache.bytes += CONVERSATION + rendered.as_ref().map_or(0, String::len);
        if cache.bytes > MAX_KEPT {
            *cache = RenderCache::default();
        }
        cache.renders.entry(hash).or_default().push(Render {
            messages: messages.into_owned(),
            tools: place.tools.clone(),
            kwargs: place.kwargs.clone(),
            add_generation_prompt,
            rules: manner.rules,
            rendered: rendered.clone(),
            steps: before - account.get(),
        });
        rendered
    }

    /// Renders the conversation and the message as an earlier turn, up to the beginning of the next message. The text before that is the
    /// same as before the conversation's own first message.
    pub(super) fn earlier(
        &self,
        place: &Conversation,
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
        place: &Conversation,
        further: &[Value],
        manner: &Manner,
    ) -> Result<Traced, RenderError> {
        self.traced_behind(place, further, manner, 0)
    }

    /// The conversation and further messages, with the origins of the characters behind the byte `start`.
    pub(super) fn traced_behind(
        &self,
        place: &Conversation,
        further: &[Value],
        manner: &Manner,
        start: usize,
    ) -> Result<Traced, RenderError> {
        if let Some(traced) = self.traced_alone(place, further, manner, start)? {
            return Ok(traced);
        }
        let messages = [place.history.as_slice(), further].concat();
        self.spend(
            place,
            &messages,
            manner,
            false,
            |template, inputs, steps| template.render_borrowed_traced_behind(inputs, start, steps),
        )
    }

    /// Renders the prompt with the origins of its characters.
    pub(super) fn traced_prompt(
        &self,
        place: &Conversation,
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

    /// Returns the inputs that the chat template asks for where it renders the conversation and the message.
    pub(super) fn reads(
        &self,
        place: &Conversation,
        message: &Value,
        manner: &Manner,
    ) -> Result<Reads, RenderError> {
        self.spend_with(place, message, manner, |template, inputs, steps| {
            let (_, reads) = template.render_borrowed_observed(inputs, steps)?;
            Ok(reads)
        })
    }

    /// Returns the inputs that the chat template asks for with the conversation and this message, be it before an error.
    pub(super) fn reads_before_an_error(
        &self,
        place: &Conversation,
        message: &Value,
        manner: &Manner,
    ) -> Reads {
        let reads = self.spend_with(place, message, manner, |template, inputs, steps| {
            Ok(template.reads_of(inputs, steps))
        });
        reads.unwrap_or_default()
    }

    /// Renders the conversation with this message behind it, without a generation prompt, as `render` does.
    fn spend_with<T>(
        &self,
        place: &Conversation,
        message: &Value,
        manner: &Manner,
        render: impl FnOnce(&ChatTemplate, &Inputs<'_>, &mut u64) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let mut messages = place.history.clone();
        messages.push(message.clone());
        self.spend(place, &messages, manner, false, render)
    }

    /// The steps that renders may still take.
    pub(super) fn steps_left(&self) -> u64 {
        self.setup.steps.get()
    }

    fn spend<T>(
        &self,
        place: &Conversation,
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
        let tools = place.tools.as_ref();
        let printed_tools = tools.map(|tools| self.printed.of(tools, manner.rules));
        let inputs = Inputs {
            messages,
            tools: place.tools.as_deref(),
            documents: None,
            add_generation_prompt,
            kwargs,
            clock: self.setup.clock,
            rules: manner.rules,
            printed_tools: printed_tools.as_deref(),
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

    /// Returns how many renders were made so far, and how long they took.
    pub(super) fn rendered(&self) -> (usize, Duration) {
        self.rendered.get()
    }

    /// The constants that the chat template compares anything with, or looks for in a text.
    pub(super) fn asked(&self) -> impl Iterator<Item = &'a str> {
        let templates = self.source.templates.iter();
        let asked = templates.flat_map(|(_, template)| template.asked());
        asked.map(String::as_str)
    }

    /// Those of the constants that may be names of functions, dots and dashes in them, or the beginnings of such names.
    pub(super) fn named(&self) -> impl Iterator<Item = &'a str> {
        self.asked().filter(|text| {
            let mut characters = text.chars();
            characters.next().is_some_and(char::is_alphabetic)
                && characters.all(|c| c.is_alphanumeric() || "_.-".contains(c))
        })
    }

    pub(super) fn source(&self) -> &'a ChatTemplateSource {
        self.source
    }

    /// Returns true if a chat template names the key of calls. One that does not asks for none.
    pub(super) fn speaks_of_calls(&self) -> bool {
        let mut templates = self.source.templates.iter();
        templates.any(|(_, template)| template.source().contains(CALLS_KEY))
    }
}
