//! Places: conversations up to the model's turn, in which messages are tried, each under every setting of the kwargs that makes a
//! difference.

use std::rc::Rc;

use super::manner::Manner;
use super::message::{Assistant, function_name};
use super::probes;
use super::renderer::{Conversation, Renderer};
use super::shown;
use super::slot::Slot;
use crate::value::{Map, Value};

/// A value for kwargs that no chat template compares one with.
const UNKNOWN: &str = "zircon";

/// How many settings of the kwargs are tried; beyond that they repeat each other.
const MAX_SETTINGS: usize = 8;

/// A place and its prompt.
#[derive(Debug)]
pub(super) struct Prompted {
    pub(super) place: Conversation,
    pub(super) prompt: String,
    /// The text at the end of a finished conversation that is gone once the conversation goes on, and so is no part of its last message.
    pub(super) trailer: String,
    /// True if a prompt was asked for in vain: the conversation renders the same without.
    pub(super) unasked: bool,
    /// The conversation without a prompt, where its tools are listed behind its last words.
    pub(super) listed: Option<String>,
}

impl Prompted {
    /// The part of the prompt behind the last words of the conversation: what the model is told right before it writes.
    pub(super) fn told(&self) -> &str {
        &self.prompt[self.place.end_in(&self.prompt)..]
    }

    /// Returns the byte of a render at which the model's turn begins: behind the last words of the conversation, and behind the list of its
    /// tools where that stands there.
    pub(super) fn turn_start(&self, render: &str) -> usize {
        let listed = self.listed.as_deref();
        let listed = listed.filter(|history| render.starts_with(history));
        self.place.end_in(render).max(listed.map_or(0, str::len))
    }
}

/// A user's message, without tools and with them, as far as the chat template renders it.
pub(super) fn users(
    renderer: &Renderer<'_>,
    tools: &Rc<[Value]>,
    manner: &Manner,
) -> Vec<Conversation> {
    let mut users = vec![renderer.user(None), renderer.user(Some(tools))];
    users.retain(|place| renderer.prompt(place, manner).is_ok());
    users
}

/// The settings of the kwargs under which a prompt or an answer differs, the usual one first, and how many more there are.
pub(super) fn settings(
    renderer: &Renderer<'_>,
    users: &[Conversation],
    usual: &Manner,
) -> (Vec<Map>, usize) {
    let reasoned = Manner {
        reasoning: Some(Slot::key("reasoning")),
        ..usual.clone()
    };
    let message = Assistant::saying(probes::CONTENT).thinking(probes::REASONING);
    let messages = [usual, &reasoned].map(|manner| manner.write(&message, None));
    let tail = |place: &Conversation, full: String| full[place.end_in(&full)..].to_owned();
    let signature = |kwargs: &Map| -> Option<Vec<String>> {
        let mut tails = Vec::new();
        for place in users.iter().map(|place| place.under(kwargs)) {
            tails.push(tail(&place, renderer.prompt(&place, usual).ok()?));
            for message in &messages {
                let full = renderer.answered(&place, message, usual);
                tails.push(full.map_or_else(|_| String::new(), |full| tail(&place, full)));
            }
        }
        Some(tails)
    };
    let mut settings = vec![Map::new()];
    let mut seen: Vec<_> = signature(&Map::new()).into_iter().collect();
    let mut left_out = 0;
    let mut is_other = |kwargs: &Map| {
        let found = signature(kwargs).filter(|found| !seen.contains(found));
        let is_other = found.is_some();
        seen.extend(found);
        match is_other {
            true if settings.len() < MAX_SETTINGS => settings.push(kwargs.clone()),
            true => left_out += 1,
            false => {}
        }
        is_other
    };
    for (name, values) in renderer.source().kwargs() {
        let mut is_read = false;
        for value in values {
            is_read |= is_other(&Map::from_iter([(name.clone(), value)]));
        }
        // A text that the chat template does not know matters where it writes the text.
        if is_read {
            is_other(&Map::from_iter([(name, Value::from(UNKNOWN))]));
        }
    }
    (settings, left_out)
}

/// The conversations in which messages are tried, under each setting of the kwargs.
pub(super) fn places(
    renderer: &Renderer<'_>,
    users: &[Conversation],
    settings: &[Map],
    manner: &Manner,
) -> Vec<Rc<Prompted>> {
    let mut conversations = users.to_vec();
    if let Some(user) = users.first() {
        let mut system = user.clone();
        system.label = "with a system message";
        system
            .history
            .insert(0, renderer.said("system", probes::SYSTEM));
        conversations.push(system);
        let earlier = manner.write(&Assistant::saying(probes::EARLIER), None);
        let mut later = user.and([earlier, renderer.said("user", probes::USER_AGAIN)]);
        later.label = "in a later turn";
        conversations.push(later);
    }
    prompted(renderer, &conversations, settings, manner)
}

pub(super) fn prompted(
    renderer: &Renderer<'_>,
    conversations: &[Conversation],
    settings: &[Map],
    manner: &Manner,
) -> Vec<Rc<Prompted>> {
    let places = conversations
        .iter()
        .flat_map(|place| settings.iter().map(|kwargs| place.under(kwargs)));
    places
        .filter_map(|place| {
            // A conversation that the chat template refuses is left out: it shows nothing.
            let prompt = renderer.prompt(&place, manner).ok()?;
            let history = renderer.history(&place, manner).ok();
            let unasked = history.as_ref() == Some(&prompt);
            let listed = history.filter(|history| lists_tools(&place, history));
            Some(Rc::new(Prompted {
                listed,
                trailer: trailer(renderer, &place, manner),
                place,
                prompt,
                unasked,
            }))
        })
        .collect()
}

/// Returns true if the names of the conversation's tools stand behind its last words.
fn lists_tools(place: &Conversation, history: &str) -> bool {
    let behind = &history[place.end_in(history)..];
    let tools = place.tools.iter().flat_map(|tools| tools.iter());
    let mut names = tools.filter_map(function_name);
    names.any(|name| behind.contains(name))
}

/// Returns the text that is rendered after an answer that ends the conversation and not after one that a question follows. It is empty
/// where the text that comes then is the same from the same place, or where the conversation without the answer does not end with it too.
fn trailer(renderer: &Renderer<'_>, place: &Conversation, manner: &Manner) -> String {
    let answer = manner.write(&Assistant::saying(probes::CONTENT), None);
    let next = renderer.said("user", probes::USER_AGAIN);
    let (Ok(full), Ok(later)) = (
        renderer.answered(place, &answer, manner),
        renderer.history(&place.and([answer.clone(), next.clone()]), manner),
    ) else {
        return String::new();
    };
    if later.starts_with(&full) {
        return String::new();
    }
    let (Ok(full), Ok(later)) = (
        renderer.traced(place, std::slice::from_ref(&answer), manner),
        renderer.traced(place, &[answer, next], manner),
    ) else {
        return String::new();
    };
    let both = shown::common(&full, &later);
    let said = full
        .text
        .rfind(probes::CONTENT)
        .map(|at| at + probes::CONTENT.len());
    let trailer = full
        .text
        .get(both..)
        .filter(|_| said.is_some_and(|said| both >= said));
    let trailer = trailer.unwrap_or_default();
    // Only text that stands at the end of a conversation whatever its last message is belongs to no message. Text that follows
    // an answer alone belongs to the answer.
    let is_any = renderer
        .history(place, manner)
        .is_ok_and(|history| history.ends_with(trailer));
    if is_any {
        trailer.to_owned()
    } else {
        String::new()
    }
}
