//! Places: conversations up to the model's turn, in which messages are tried, each under every setting of the kwargs that makes a
//! difference.

use std::rc::Rc;

use super::circumstances;
use super::manner::Manner;
use super::message::Assistant;
use super::probes;
use super::renderer::{Conversation, Renderer};
use super::shown;
use super::slot::Slot;
use crate::chat_template::{ANY_TEXT, InputStep, Origin, Run};
use crate::value::{Map, Value, json};

/// How many settings of the kwargs are tried; beyond that they repeat each other.
const MAX_SETTINGS: usize = 8;

/// How many pairs of settings are compared with each alone.
const MAX_PAIRS: usize = 64;

/// How many conversations like the others a chat template must have steps left for, for unusual ones to be rendered as well.
pub(super) const MOST_UNUSUAL: u64 = 2000;

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

/// The settings of the kwargs that are tried, and the others.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Those under which a prompt or an answer differs, the usual one first.
    pub(super) tried: Vec<Map>,
    /// How many more of these there are.
    pub(super) left_out: usize,
    /// The kwargs that the chat template writes in the model's turn where nothing of its own stands before or behind them, so that they are never set. A kwarg that ends a
    /// turn, such as `{{ message.content + (end or "<end>") }}`, is a delimiter of its own, and no response template could read any text as one.
    pub(super) unset: Vec<String>,
    /// The kwargs under which messages may be lost although nobody may ever set them so.
    pub(super) doubtful: Doubtful,
}

/// The kwargs under which messages may be lost although nobody may ever set them so.
#[derive(Debug, Clone, Default)]
pub(crate) struct Doubtful {
    /// Those that make a difference only with a text that was made up: of which the chat template refuses whatever is no text, as in
    /// `'<bot:' + lang + '>'`, and objects and lists of such texts.
    pub(crate) texts: Vec<String>,
    /// Those that do together what neither of them does alone.
    pub(crate) pairs: Vec<Map>,
}

/// The doubtful kwargs that are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    texts: bool,
    pairs: bool,
}

impl Extent {
    /// All of them.
    pub(crate) const ALL: Self = Self {
        texts: true,
        pairs: true,
    };
    /// Texts, each alone.
    pub(crate) const WITH_TEXTS: Self = Self {
        texts: true,
        pairs: false,
    };
    /// None of them.
    pub(crate) const ALONE: Self = Self {
        texts: false,
        pairs: false,
    };

    /// Returns true if pairs are set.
    pub(super) fn has_pairs(self) -> bool {
        self.pairs
    }
}

/// The part of a render behind the last words of the conversation.
fn tail(place: &Conversation, full: String) -> String {
    full[place.end_in(&full)..].to_owned()
}

/// The settings of the kwargs, those that are doubtful as far as they are in the `extent`, and less of them where
/// rendering is slow. Calls are handed over as in the manner `calling`.
pub(super) fn settings(
    renderer: &Renderer<'_>,
    users: &[Conversation],
    usual: &Manner,
    calling: &Manner,
    extent: Extent,
    is_slow: bool,
) -> Settings {
    let reasoned = Manner {
        reasoning: Some(Slot::key("reasoning")),
        ..usual.clone()
    };
    let message = Assistant::saying(probes::CONTENT).thinking(probes::REASONING);
    let call = Assistant {
        calls: vec![probes::call(0)],
        ..Assistant::default()
    };
    let messages = [
        usual.write(&message, None),
        reasoned.write(&message, None),
        calling.write(&call, None),
    ];
    let combined = circumstances::combined(renderer, users, calling);
    let combined = circumstances::basic(&combined);
    let further: Vec<&Conversation> = match is_slow {
        true => Vec::new(),
        false => users.last().into_iter().chain(combined).collect(),
    };
    let telling = circumstances::whole_answers(calling);
    let signature = |kwargs: &Map| -> Option<Vec<String>> {
        let mut tails = Vec::new();
        for place in users.iter().map(|place| place.under(kwargs)) {
            tails.push(tail(&place, renderer.prompt(&place, usual).ok()?));
            for message in &messages {
                let full = renderer.answered(&place, message, usual);
                tails.push(full.map_or_else(|_| String::new(), |full| tail(&place, full)));
            }
        }
        // A kwarg may matter to answers with several parts, or in longer conversations alone.
        for place in further.iter().map(|place| place.under(kwargs)) {
            for message in &telling {
                let full = renderer.answered(&place, message, calling);
                tails.push(full.map_or_else(|_| String::new(), |full| tail(&place, full)));
            }
        }
        Some(tails)
    };
    let mut settings = Settings {
        tried: vec![Map::new()],
        ..Settings::default()
    };
    let mut seen: Vec<_> = signature(&Map::new()).into_iter().collect();
    // `None` where the chat template refuses it.
    let mut is_other = |kwargs: &Map, settings: &mut Settings| -> Option<bool> {
        let found = signature(kwargs)?;
        let is_other = !seen.contains(&found);
        match is_other {
            true if settings.tried.len() < MAX_SETTINGS => settings.tried.push(kwargs.clone()),
            true => settings.left_out += 1,
            false => {}
        }
        seen.push(found);
        Some(is_other)
    };
    for (name, values) in renderer.source().settings() {
        let before = (settings.tried.len(), settings.left_out);
        let (mut is_read, mut is_refused, mut is_filled) = (false, false, false);
        for value in values {
            let is_made_up = is_in(ANY_TEXT, &value);
            let kwargs = Map::from_iter([(name.clone(), value)]);
            match is_other(&kwargs, &mut settings) {
                Some(is_other) if is_made_up => is_filled |= is_other,
                Some(is_other) => is_read |= is_other,
                None => is_refused = true,
            }
        }
        let unknown = Map::from_iter([(name.clone(), Value::from(ANY_TEXT))]);
        // A text that the chat template does not know matters where it writes the text.
        if is_read {
            is_other(&unknown, &mut settings);
        } else if is_filled || is_refused && is_other(&unknown, &mut settings) == Some(true) {
            settings.doubtful.texts.push(name.clone());
            if !extent.texts {
                settings.tried.truncate(before.0);
                settings.left_out = before.1;
            }
        }
        let mut new = settings.tried[before.0..].iter();
        if new.any(|kwargs| writes(renderer, users, usual, &messages, kwargs)) {
            settings.tried.truncate(before.0);
            settings.left_out = before.1;
            settings.doubtful.texts.retain(|known| *known != name);
            settings.unset.push(name);
        }
    }
    settings
}

impl Settings {
    /// Adds pairs of kwargs that do together what neither of them does alone, to messages in that manner.
    pub(super) fn add_pairs(
        &mut self,
        renderer: &Renderer<'_>,
        users: &[Conversation],
        manner: &Manner,
    ) {
        for kwargs in together(renderer, users, manner, self) {
            if self.tried.len() == MAX_SETTINGS {
                self.left_out += 1;
                continue;
            }
            self.tried.push(kwargs.clone());
            self.doubtful.pairs.push(kwargs);
        }
    }
}

/// The pairs of kwargs that do together what neither of them does alone: `<deep>` may open a reasoning where thinking is on and the effort is high. Pairs
/// whose effects stand side by side are none of these.
fn together(
    renderer: &Renderer<'_>,
    users: &[Conversation],
    manner: &Manner,
    found: &Settings,
) -> Vec<Map> {
    let Some(user) = users.last() else {
        return Vec::new();
    };
    let answers = circumstances::whole_answers(manner);
    let tails = |kwargs: &Map| -> Option<Vec<String>> {
        let place = user.under(kwargs);
        let mut tails = vec![tail(&place, renderer.prompt(&place, manner).ok()?)];
        for message in &answers {
            let full = renderer.answered(&place, message, manner);
            tails.push(full.map_or_else(|_| String::new(), |full| tail(&place, full)));
        }
        Some(tails)
    };
    let Some(usual) = tails(&Map::new()) else {
        return Vec::new();
    };
    let is_left = |name: &String| found.unset.contains(name) || found.doubtful.texts.contains(name);
    let single = |name: &String, value: &Value| {
        let kwargs = Map::from_iter([(name.clone(), value.clone())]);
        let tails = tails(&kwargs)?;
        Some((name.clone(), value.clone(), tails))
    };
    let all = renderer.source().settings();
    let alone: Vec<(String, Value, Vec<String>)> = all
        .iter()
        .filter(|(name, _)| !is_left(name))
        .flat_map(|(name, values)| values.iter().filter_map(|value| single(name, value)))
        .collect();
    let pairs = alone.iter().enumerate().flat_map(|(at, first)| {
        let others = alone[at + 1..].iter();
        others.map(move |second| (first, second))
    });
    let mut seen: Vec<Vec<String>> = Vec::new();
    let mut together = Vec::new();
    let pairs = pairs.filter(|(first, second)| first.0 != second.0);
    for (first, second) in pairs.take(MAX_PAIRS) {
        let kwargs = Map::from_iter([
            (first.0.clone(), first.1.clone()),
            (second.0.clone(), second.1.clone()),
        ]);
        let Some(both) = tails(&kwargs) else { continue };
        let each = usual.iter().zip(&first.2).zip(&second.2).zip(&both);
        let is_sum = each.into_iter().all(|(((usual, first), second), both)| {
            [first, second].contains(&both) || sum(usual, first, second).as_ref() == Some(both)
        });
        if !is_sum && !seen.contains(&both) {
            seen.push(both);
            together.push(kwargs);
        }
    }
    together
}

/// Returns the text with both changes, those of `first` and those of `second`, where they stand side by side.
fn sum(usual: &str, first: &str, second: &str) -> Option<String> {
    let begin = usual.bytes().zip(second.bytes());
    let begin = begin.take_while(|(usual, second)| usual == second).count();
    let begin = (0..=begin).rev().find(|at| usual.is_char_boundary(*at))?;
    let rests = usual[begin..]
        .bytes()
        .rev()
        .zip(second.as_bytes()[begin..].iter().rev());
    let end = rests.take_while(|(usual, second)| usual == *second).count();
    let end = (0..=end)
        .rev()
        .find(|end| usual.is_char_boundary(usual.len() - end))?;
    let (before, behind) = (&usual[..usual.len() - end], &usual[begin..]);
    let changed = &second[begin..second.len() - end];
    if let Some(rest) = first.strip_prefix(before) {
        return Some(format!("{}{changed}{rest}", &usual[..begin]));
    }
    let rest = first.strip_suffix(behind)?;
    Some(format!("{rest}{changed}{}", &usual[usual.len() - end..]))
}

/// Returns true if the chat template writes the value of a kwarg in the model's turn where nothing of its own stands right before it, or right behind it.
fn writes(
    renderer: &Renderer<'_>,
    users: &[Conversation],
    manner: &Manner,
    messages: &[Value],
    kwargs: &Map,
) -> bool {
    let is_kwarg = |run: &Run| {
        let mut inputs = run.origin.inputs();
        let only = inputs.next().filter(|_| inputs.next().is_none());
        only.is_some_and(
            |path| matches!(&**path, [InputStep::Key(name)] if kwargs.contains_key(name)),
        )
    };
    let is_own =
        |run: Option<&Run>| run.is_some_and(|run| matches!(run.origin, Origin::Source { .. }));
    let mut places = users.iter().map(|place| place.under(kwargs));
    places.any(|place| {
        messages.iter().any(|message| {
            let further = std::slice::from_ref(message);
            let Ok(traced) = renderer.traced(&place, further, manner) else {
                return false;
            };
            let begin = place.end_in(&traced.text);
            let runs = traced.runs.iter().filter(|run| run.start < run.end);
            let runs: Vec<&Run> = runs.collect();
            let mut written = (0..runs.len()).filter(|at| {
                let run = runs[*at];
                run.start >= begin && is_kwarg(run)
            });
            written.any(|at| {
                let before = at.checked_sub(1).map(|before| runs[before]);
                !is_own(before) || !is_own(runs.get(at + 1).copied())
            })
        })
    })
}

/// Returns true if a text is the value of one of the kwargs, as a chat template writes it.
pub(super) fn is_given(text: &str, kwargs: &Map) -> bool {
    kwargs.values().any(|value| is_in(text, value))
}

/// Returns true if a text is the value, or a part of it, as a chat template writes it.
fn is_in(text: &str, value: &Value) -> bool {
    let is_part = match value {
        Value::String(given) => given == text || json::quote(given) == text,
        Value::Array(items) => items.iter().any(|item| is_in(text, item)),
        Value::Object(members) => members.values().any(|member| is_in(text, member)),
        _ => false,
    };
    is_part || json::to_string(value).eq_ignore_ascii_case(text)
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
    let steps = renderer.steps_left();
    let mut places = prompted(renderer, &conversations, settings, manner);
    let rounds = u64::try_from(places.len()).unwrap_or(u64::MAX);
    let each = steps.saturating_sub(renderer.steps_left()) / rounds.max(1);
    // What few chat templates need may not use up what a slow one may take.
    if each.saturating_mul(MOST_UNUSUAL) > renderer.steps_left() {
        return places;
    }
    let unusual = circumstances::unusual(renderer, users, manner);
    add_other(renderer, &mut places, unusual, manner);
    let combined = circumstances::combined(renderer, users, manner);
    // What a kwarg changes may be in such a conversation alone.
    let set = settings.iter().filter(|kwargs| !kwargs.is_empty());
    let usual = circumstances::basic(&combined).collect::<Vec<_>>();
    let under = set.flat_map(|kwargs| usual.iter().map(|place| place.under(kwargs)));
    let under: Vec<Conversation> = under.collect();
    add_other(
        renderer,
        &mut places,
        combined.into_iter().chain(under),
        manner,
    );
    places
}

/// Adds those of the conversations behind which the prompt ends as behind none of the places, or an answer is written otherwise.
pub(super) fn add_other(
    renderer: &Renderer<'_>,
    places: &mut Vec<Rc<Prompted>>,
    conversations: impl IntoIterator<Item = Conversation>,
    manner: &Manner,
) {
    let answers = circumstances::answers(manner);
    let shown = |place: &Conversation| {
        let prompt = renderer.prompt(place, manner).ok()?;
        // Where the last words are not found, nothing tells where the turn begins.
        let end = Some(place.end_in(&prompt)).filter(|end| *end > 0)?;
        let answers = answers.iter().map(|answer| {
            let full = renderer.answered(place, answer, manner);
            full.map(|full| full[place.end_in(&full)..].to_owned()).ok()
        });
        // Calls are tried with tools alone.
        let is_tooled = place.tools.is_some();
        Some((
            is_tooled,
            prompt[end..].to_owned(),
            answers.collect::<Vec<_>>(),
        ))
    };
    let mut seen: Vec<_> = places.iter().map(|at| shown(&at.place)).collect();
    for conversation in conversations {
        let found = Some(shown(&conversation)).filter(Option::is_some);
        if let Some(found) = found.filter(|found| !seen.contains(found)) {
            seen.push(found);
            let kwargs = conversation.kwargs.clone();
            places.extend(prompted(renderer, &[conversation], &[kwargs], manner));
        }
    }
}

pub(super) fn prompted(
    renderer: &Renderer<'_>,
    conversations: &[Conversation],
    settings: &[Map],
    manner: &Manner,
) -> Vec<Rc<Prompted>> {
    let of_one = |conversation: &Conversation| {
        let under = settings.iter().map(|kwargs| conversation.under(kwargs));
        let mut places: Vec<Prompted> = under
            .filter_map(|place| {
                // A conversation that the chat template refuses is left out: it shows nothing.
                let prompt = renderer.prompt(&place, manner).ok()?;
                let history = renderer.history(&place, manner).ok();
                let unasked = history.as_ref() == Some(&prompt);
                let listed = history.filter(|history| place.lists_tools(history));
                Some(Prompted {
                    listed,
                    trailer: trailer(renderer, &place, manner),
                    place,
                    prompt,
                    unasked,
                })
            })
            .collect();
        // Where a kwarg adds to a prompt that is empty without it, the turn begins right behind the conversation.
        let is_empty = places.first().is_some_and(|usual| usual.unasked);
        if is_empty && places.iter().any(|place| !place.unasked) {
            for place in &mut places {
                place.unasked = false;
            }
        }
        places
    };
    let places = conversations.iter().flat_map(of_one);
    places.map(Rc::new).collect()
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
