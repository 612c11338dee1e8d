//! The rounds: every message rendered in every place in which it is to be tried, with what of it can be seen.
//!
//! Nothing here depends on the response template that is judged, so that any number of them can be held to the same rounds.

use std::collections::HashSet;
use std::rc::Rc;

use super::Setup;
use super::expected::{Expected, Sight};
use super::kind::Kind;
use super::manner::Manner;
use super::slot::Slot;
use super::message::{Assistant, tool_for, tool_result};
use super::probes::{self, Probe};
use super::renderer::{Place, Renderer};
use super::shown;
use super::slots::{self, Slots};
use crate::chat_template::{Path, Step};
use crate::value::{Map, Value, python};

/// How many settings of the kwargs are tried; beyond that they repeat each other.
const MAX_SETTINGS: usize = 8;

/// A message in its place, rendered.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) probe: Rc<Probe>,
    pub(super) place: Rc<Prompted>,
    /// The message as the chat template was given it.
    pub(super) written: Value,
    /// The conversation and the message, without what stands at the end of every conversation.
    pub(super) full: String,
    /// All that was rendered.
    pub(super) rendered: String,
    /// Where the last thing said before the message ends in it.
    pub(super) said: usize,
    /// Where the first part of the message begins that can be seen.
    pub(super) first: usize,
    /// What can be seen of the message, which is what must come back.
    pub(super) expected: Expected,
    /// What the message is made of, as far as it can be seen.
    pub(super) kinds: Vec<Kind>,
    /// The tools whose schemas name the types of its arguments.
    pub(super) tools: Rc<[Value]>,
}

/// A place and its prompt.
#[derive(Debug)]
pub(super) struct Prompted {
    pub(super) place: Place,
    pub(super) prompt: String,
    /// What a finished conversation ends with that is gone once it goes on, and so is no part of its last message.
    pub(super) trailer: String,
    /// Whether a prompt was asked for in vain: the conversation renders the same without.
    pub(super) unasked: bool,
}

/// A message that is no round.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum LeftOut {
    /// The chat template refuses it, in these words.
    Refused(String),
    /// What makes its kind cannot be seen in the render.
    NotShown,
    /// The prompt has what begins a turn, and the render of the answer has not.
    Unmarked,
}

/// Rounds with messages that are handed over in one manner.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) manner: Manner,
    /// How what begins a turn begins, where renders show that.
    pub(super) header: String,
    pub(super) rounds: Vec<Round>,
    pub(super) left_out: Vec<(Kind, LeftOut)>,
}

/// Everything that is asked of a chat template before any response template is judged.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) slots: Slots,
    /// The settings of the kwargs that make a difference, the usual one first.
    pub(super) settings: Vec<Map>,
    /// How many settings made a difference and were left out.
    pub(super) settings_left_out: usize,
    /// Messages without calls.
    pub(super) plain: Group,
    /// Messages with calls, in each manner in which a call is shown and rendered otherwise than in one before.
    pub(super) calling: Vec<Manner>,
    /// Why no call is shown, where none is.
    pub(super) no_calls: Option<String>,
    /// Whether an assistant's calls are asked for.
    pub(super) reads_calls: bool,
    pub(super) tools: Rc<[Value]>,
}

impl Survey {
    pub(super) fn of(renderer: &Renderer<'_>, setup: &Setup<'_>) -> Self {
        let tools: Rc<[Value]> = (0..3)
            .map(|number| tool_for(&probes::call(number)))
            .collect();
        let usual = Manner::usual(setup.parts);
        let users = users(renderer, &tools, &usual);
        let (settings, settings_left_out) = settings(renderer, &users, &usual);
        let under: Vec<Place> = settings
            .iter()
            .flat_map(|kwargs| users.iter().map(|place| place.under(kwargs)))
            .collect();
        let shown = slots::calling(renderer, &under, &usual);
        let slots = slots::find(renderer, &under, &usual, shown.first());
        let manner = Manner {
            reasoning: slots.distinct.first().cloned(),
            further: slots.distinct.get(1).cloned(),
            ..usual
        };
        let calling: Vec<Manner> = shown
            .into_iter()
            .map(|calling| Manner {
                reasoning: manner.reasoning.clone(),
                further: manner.further.clone(),
                ..calling
            })
            .collect();
        let places = places(renderer, &users, &settings, &manner);
        let header = header(renderer, &users, &manner);
        let mut plain = Group::new(manner, &header);
        let mut said = probes::without_calls(setup.thorough);
        let templates = renderer.source().templates.iter();
        let constants = templates.flat_map(|(_, template)| template.constants());
        said.extend(probes::speaking_words(constants.map(String::as_str)));
        plain.fill(renderer, &places, &said, setup.thorough);
        let (no_calls, reads_calls) = about_calls(renderer, &users, &plain.manner);
        Self {
            no_calls: no_calls.filter(|_| calling.is_empty()),
            calling: distinct(renderer, &users, calling),
            slots,
            settings,
            settings_left_out,
            plain,
            reads_calls,
            tools,
        }
    }

    /// The rounds with calls that are handed over in the manner.
    pub(super) fn calls(
        &self,
        renderer: &Renderer<'_>,
        setup: &Setup<'_>,
        manner: &Manner,
    ) -> Group {
        let users = users(renderer, &self.tools, manner);
        let mut places = places(renderer, &users, &self.settings, manner);
        let tooled = users.iter().find(|place| place.tools.is_some());
        if let Some(tooled) = tooled {
            let call = probes::call(2);
            let calling = manner.write(&Assistant::calling([call.clone()]), None);
            let result = renderer.divided(tool_result(&call, probes::TOOL_RESULT));
            let after = Place {
                label: "after a tool's result",
                after_tool: true,
                ..tooled.and([calling, result])
            };
            places.extend(prompted(renderer, &[after], &self.settings, manner));
        }
        let mut group = Group::new(manner.clone(), &self.plain.header);
        let with_tools: Vec<_> = places
            .iter()
            .filter(|at| at.place.tools.is_some())
            .cloned()
            .collect();
        let probes = probes::with_calls(setup.thorough);
        group.fill(renderer, &with_tools, &probes, setup.thorough);
        let after_tool: Vec<_> = places
            .into_iter()
            .filter(|at| at.place.after_tool)
            .collect();
        let probes = probes::without_calls(setup.thorough);
        group.fill(renderer, &after_tool, &probes, setup.thorough);
        group
    }
}

impl Group {
    fn new(manner: Manner, header: &str) -> Self {
        Self {
            manner,
            header: header.to_owned(),
            rounds: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Renders the messages: those that lead their kind in every place, the others in the first of each conversation and where
    /// those that lead were written as nowhere before.
    fn fill(
        &mut self,
        renderer: &Renderer<'_>,
        places: &[Rc<Prompted>],
        probes: &[Probe],
        thorough: bool,
    ) {
        let probes: Vec<Rc<Probe>> = probes.iter().cloned().map(Rc::new).collect();
        let mut seen = HashSet::new();
        for place in places {
            let before = self.rounds.len();
            for probe in probes.iter().filter(|probe| probe.leads) {
                self.render(renderer, place, probe);
            }
            let mut is_new = thorough;
            for round in &self.rounds[before..] {
                let prompt = &place.prompt[place.place.end_in(&place.prompt)..];
                let written = (prompt.to_owned(), round.full[round.said..].to_owned());
                is_new |= seen.insert(written);
            }
            if is_new {
                for probe in probes.iter().filter(|probe| !probe.leads) {
                    self.render(renderer, place, probe);
                }
            }
        }
    }

    /// Makes a round of the message, and notes of which kinds it is none although it was meant to be.
    fn render(&mut self, renderer: &Renderer<'_>, at: &Rc<Prompted>, probe: &Rc<Probe>) {
        let is_taken = (probe.further.is_none() || self.manner.further.is_some())
            && (probe.message.reasoning.is_none() || self.manner.reasoning.is_some());
        if !is_taken {
            return;
        }
        let meant = match probe.further {
            Some(_) => Some(Kind::FurtherTexts),
            None => Kind::of_parts(&probe.message),
        };
        match self.round(renderer, at, probe) {
            Ok(round) => {
                let meant = meant.into_iter().chain(Kind::of_calls(&probe.message));
                let missed = meant.filter(|kind| !round.kinds.contains(kind));
                self.left_out
                    .extend(missed.map(|kind| (kind, LeftOut::NotShown)));
                self.rounds.push(round);
            }
            Err(why) => {
                let after_tool = at.place.after_tool.then_some(Kind::AfterToolResult);
                let kinds = after_tool.into_iter().chain(meant);
                self.left_out.extend(kinds.map(|kind| (kind, why.clone())));
            }
        }
    }

    /// The same round with another message.
    pub(super) fn again(
        &self,
        round: &Round,
        message: &Assistant,
        renderer: &Renderer<'_>,
    ) -> Option<Round> {
        let probe = Probe {
            message: message.clone(),
            ..(*round.probe).clone()
        };
        self.round(renderer, &round.place, &Rc::new(probe)).ok()
    }

    fn round(
        &self,
        renderer: &Renderer<'_>,
        at: &Rc<Prompted>,
        probe: &Rc<Probe>,
    ) -> Result<Round, LeftOut> {
        let rendered = |message: &Assistant| {
            let written = self.manner.write(message, probe.further);
            let full = renderer.answered(&at.place, &written, &self.manner);
            full.map(|full| (written, full))
        };
        let (written, mut full) =
            rendered(&probe.message).map_err(|error| LeftOut::Refused(error.to_string()))?;
        let said = at.place.end_in(&full);
        let message = Path::new([Step::from("messages"), Step::Index(at.place.history.len())]);
        let traced = || {
            let further = std::slice::from_ref(&written);
            renderer.traced(&at.place, further, &self.manner).ok()
        };
        let sight = Sight {
            turn: &full[said..],
            start: said,
            places: self.manner.places(&message, &written),
            message,
            traced: &traced,
        };
        let (mut expected, first) = Expected::of(probe, &sight).ok_or(LeftOut::NotShown)?;
        let prompted = &at.prompt[at.place.end_in(&at.prompt)..];
        let is_begun = |text: &str| text.contains(&self.header);
        if is_begun(prompted) && !is_begun(&full[said..said + first]) {
            return Err(LeftOut::Unmarked);
        }
        expected.forget_unseen(|without| rendered(without).is_ok_and(|(_, other)| other == full));
        // What stands at the end of every conversation is not the message's.
        let rendered = full.clone();
        if let Some(rest) = full.strip_suffix(at.trailer.as_str()) {
            full.truncate(rest.len());
        }
        let shown = expected.shown();
        let mut kinds = match expected.further {
            Some(_) => vec![Kind::FurtherTexts],
            None => Vec::from_iter(Kind::of_parts(&shown)),
        };
        kinds.extend(Kind::of_calls(&shown));
        if expected.has_ids() {
            kinds.push(Kind::Ids);
        }
        if at.place.after_tool {
            kinds.push(Kind::AfterToolResult);
        }
        Ok(Round {
            written,
            said,
            first: said + first,
            expected,
            kinds,
            tools: probe.message.calls.iter().map(tool_for).collect(),
            probe: probe.clone(),
            place: at.clone(),
            full,
            rendered,
        })
    }
}

/// How what begins a turn begins, as far as renders show it: what the plainest prompt adds to its conversation and every answer
/// has before it as well, with reasoning and without. Half of that is enough to tell whether it is there, and does not end
/// amid a marker that only some answers go on with. Nothing where it is white space.
fn header(renderer: &Renderer<'_>, users: &[Place], manner: &Manner) -> String {
    let said = Assistant::saying(probes::CONTENT);
    let answers = [
        (said.clone(), probes::CONTENT),
        (said.thinking(probes::REASONING), probes::REASONING),
    ];
    let mut header: Option<String> = None;
    for user in users {
        let (Ok(prompt), Ok(history)) = (
            renderer.prompt(user, manner),
            renderer.history(user, manner),
        ) else {
            continue;
        };
        let Some(added) = prompt.strip_prefix(&history) else {
            continue;
        };
        for (answer, first) in &answers {
            let full = renderer.answered(user, &manner.write(answer, None), manner);
            let before = full.ok().and_then(|full| {
                let turn = &full[user.end_in(&full)..];
                Some(turn[..turn.find(first)?].to_owned())
            });
            let Some(before) = before else { continue };
            let starts = added.char_indices().map(|(at, c)| at + c.len_utf8());
            let both = starts
                .take_while(|end| before.contains(&added[..*end]))
                .last();
            let both = &added[..both.unwrap_or(0)];
            if header.as_ref().is_none_or(|known| both.len() < known.len()) {
                header = Some(both.to_owned());
            }
        }
    }
    let header = header.unwrap_or_default();
    let header = header.trim_matches(python::is_space);
    let half = header.chars().count().div_ceil(2);
    header.chars().take(half).collect()
}

/// A user's message, without tools and with them, as far as the chat template renders it.
fn users(renderer: &Renderer<'_>, tools: &Rc<[Value]>, manner: &Manner) -> Vec<Place> {
    let mut users = vec![renderer.user(None), renderer.user(Some(tools))];
    users.retain(|place| renderer.prompt(place, manner).is_ok());
    users
}

/// The settings of the kwargs under which a prompt or an answer differs, the usual one first, and how many more there are.
fn settings(renderer: &Renderer<'_>, users: &[Place], usual: &Manner) -> (Vec<Map>, usize) {
    let reasoned = Manner {
        reasoning: Some(Slot::Key(vec!["reasoning".to_owned()])),
        ..usual.clone()
    };
    let message = Assistant::saying(probes::CONTENT).thinking(probes::REASONING);
    let messages = [usual, &reasoned].map(|manner| manner.write(&message, None));
    let tail = |place: &Place, full: String| full[place.end_in(&full)..].to_owned();
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
    for (name, values) in renderer.source().kwargs() {
        for value in values {
            let kwargs = Map::from_iter([(name.clone(), value)]);
            match signature(&kwargs) {
                Some(found) if !seen.contains(&found) => {
                    seen.push(found);
                    if settings.len() < MAX_SETTINGS {
                        settings.push(kwargs);
                    } else {
                        left_out += 1;
                    }
                }
                _ => {}
            }
        }
    }
    (settings, left_out)
}

/// The conversations in which messages are tried, under each setting of the kwargs.
fn places(
    renderer: &Renderer<'_>,
    users: &[Place],
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

fn prompted(
    renderer: &Renderer<'_>,
    conversations: &[Place],
    settings: &[Map],
    manner: &Manner,
) -> Vec<Rc<Prompted>> {
    let places = conversations
        .iter()
        .flat_map(|place| settings.iter().map(|kwargs| place.under(kwargs)));
    places
        .filter_map(|place| {
            // A conversation that the chat template refuses says nothing.
            let prompt = renderer.prompt(&place, manner).ok()?;
            let unasked = renderer
                .history(&place, manner)
                .is_ok_and(|history| history == prompt);
            Some(Rc::new(Prompted {
                trailer: trailer(renderer, &place, manner),
                place,
                prompt,
                unasked,
            }))
        })
        .collect()
}

/// A constant of the chat template at which it cuts an answer: of a text before it nothing is left, and of one behind it all.
pub(super) fn cut(renderer: &Renderer<'_>, plain: &Group) -> Option<String> {
    let at = &plain.rounds.first()?.place;
    let templates = renderer.source().templates.iter();
    let constants = templates.flat_map(|(_, template)| template.constants());
    let signs = constants.map(|constant| constant.trim_matches(python::is_space));
    let markers = signs.filter(|constant| MARKER.contains(&constant.len()));
    let is_cut = |constant: &&str| {
        let said = format!("{}{constant}{}", probes::REASONING, probes::CONTENT);
        let message = plain.manner.write(&Assistant::saying(&said), None);
        renderer
            .answered(&at.place, &message, &plain.manner)
            .is_ok_and(|full| full.contains(probes::CONTENT) && !full.contains(probes::REASONING))
    };
    markers.take(MAX_CONSTANTS).find(is_cut).map(str::to_owned)
}

/// How long a constant may be at which an answer is cut, and how many are tried.
const MARKER: std::ops::RangeInclusive<usize> = 3..=64;
const MAX_CONSTANTS: usize = 64;

/// What is rendered after an answer that ends the conversation and not after one that a question follows, as far as what comes
/// then is not the same from the same place, and the conversation without the answer ends with it too.
fn trailer(renderer: &Renderer<'_>, place: &Place, manner: &Manner) -> String {
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
    // What ends an answer that ends the conversation, and nothing else that does, is the answer's own.
    let is_any = renderer
        .history(place, manner)
        .is_ok_and(|history| history.ends_with(trailer));
    if is_any {
        trailer.to_owned()
    } else {
        String::new()
    }
}

/// The manners in which a call is rendered otherwise than in one before.
fn distinct(renderer: &Renderer<'_>, users: &[Place], manners: Vec<Manner>) -> Vec<Manner> {
    let call = Assistant::calling([probes::call(0), probes::call(1)]);
    let mut seen: Vec<Option<String>> = Vec::new();
    let mut distinct = Vec::new();
    for manner in manners {
        let message = manner.write(&call, None);
        let tooled = users.iter().rfind(|place| place.tools.is_some());
        let full = tooled.and_then(|place| renderer.answered(place, &message, &manner).ok());
        if !seen.contains(&full) {
            seen.push(full);
            distinct.push(manner);
        }
    }
    distinct
}

/// What the chat template says against a call, and whether it asks for an assistant's calls at all.
fn about_calls(
    renderer: &Renderer<'_>,
    users: &[Place],
    manner: &Manner,
) -> (Option<String>, bool) {
    let call = Assistant::calling([probes::call(0)]);
    let message = manner.write(&call, None);
    let Some(place) = users.last() else {
        return (None, false);
    };
    let refusal = renderer
        .answered(place, &message, manner)
        .err()
        .map(|error| error.to_string());
    let path = format!("messages[].{}", super::message::CALLS_KEY);
    let answer = manner.write(&Assistant::saying(probes::CONTENT), None);
    let reads = [message, answer].iter().any(|message| {
        renderer
            .reads(place, message, manner)
            .is_ok_and(|reads| reads.has_for("assistant", &path))
    });
    (refusal, reads)
}
