//! The survey of a chat template before any response template is judged: where it takes texts, in which manners it shows calls, what begins
//! a turn, and the messages that every response template is held to.

use std::collections::HashSet;
use std::rc::Rc;

use super::Setup;
use super::absent;
use super::asked::{MAX_ASKED, answers_otherwise, written_otherwise};
use super::characters::{self, Beside};
use super::circumstances::{after_tool, with_results};
use super::everyday;
use super::manner::Manner;
use super::message::{Assistant, CALLS_KEY, tool_for};
use super::places::{
    Doubtful, MOST_UNUSUAL, Prompted, Settings, add_other, places, prompted, settings, users,
};
use super::probes;
use super::renderer::{Conversation, Renderer};
use super::rounds::{Group, Seen};
use super::slots::{self, Slots};
use super::turns;
use crate::value::{Map, Value, python};

/// The results of the survey of a chat template.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) slots: Slots,
    /// The settings of the kwargs that make a difference, the usual one first.
    pub(super) settings: Vec<Map>,
    /// How many settings made a difference and were left out.
    pub(super) settings_left_out: usize,
    /// The kwargs that are never set.
    pub(super) unset: Vec<String>,
    /// The kwargs under which messages may be lost although nobody may ever set them so.
    pub(super) doubtful: Doubtful,
    /// Messages without calls.
    pub(super) plain: Group,
    /// The turns of messages without calls.
    seen: Seen,
    /// Messages with calls, in each manner in which a call is shown and rendered otherwise than in one before.
    pub(super) calling: Vec<Manner>,
    /// The reason why no call is shown, where none is.
    pub(super) no_calls: Option<String>,
    /// True if the chat template asks for an assistant's calls.
    pub(super) reads_calls: bool,
    /// The conversations that end with a tool's result and that nobody means to be answered.
    pub(super) unmeant: Vec<Rc<Prompted>>,
    pub(super) tools: Rc<[Value]>,
    /// The texts that the chat template writes next to the texts of messages.
    beside: Beside,
    /// True if renders take so many steps that no message is rendered on which no verdict is given.
    is_slow: bool,
}

/// How many renders like the others a chat template must have steps left for, for ordinary texts to be rendered as well.
const MOST_ORDINARY: u64 = 2000;

impl Survey {
    pub(super) fn of(renderer: &Renderer<'_>, setup: &Setup<'_>) -> Self {
        let tools: Rc<[Value]> = (0..3)
            .map(|number| tool_for(&probes::call(number)))
            .collect();
        let usual = Manner::usual(setup.parts);
        let steps = renderer.steps_left();
        let users = users(renderer, &tools, &usual);
        let each = steps.saturating_sub(renderer.steps_left()) / 2;
        let is_slow = each.saturating_mul(MOST_UNUSUAL) > renderer.steps_left();
        let as_called = match is_slow {
            true => usual.clone(),
            false => {
                let shown = slots::calling(renderer, &users, &usual);
                let slot = slots::find(renderer, &users, &usual, shown.first());
                Manner {
                    reasoning: slot.distinct.into_iter().next(),
                    ..shown.into_iter().next().unwrap_or_else(|| usual.clone())
                }
            }
        };
        let mut settings = settings(renderer, &users, &usual, &as_called, setup.extent, is_slow);
        let under: Vec<Conversation> = settings
            .tried
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
        if setup.extent.has_pairs() && !is_slow {
            let manner = calling.first().unwrap_or(&manner);
            settings.add_pairs(renderer, &users, manner);
        }
        let Settings {
            tried: settings,
            left_out: settings_left_out,
            unset,
            doubtful,
        } = settings;
        let mut places = places(renderer, &users, &settings, &manner);
        let mut unmeant = Vec::new();
        // Where no call is shown a tool's result may be.
        if let Some(user) = users.first().filter(|_| calling.is_empty()) {
            let after = after_tool(renderer, user, &manner, "");
            let after = prompted(renderer, &[after], &settings, &manner);
            // Where the call has to have a content, and no prompt asks for an answer to its result, nobody means it to be answered.
            let bare = manner.write(&Assistant::calling([probes::call(2)]), None);
            let is_meant = |at: &Rc<Prompted>| !at.unasked || at.place.history.contains(&bare);
            let is_shown = |at: &Rc<Prompted>| at.prompt.contains(probes::TOOL_RESULT);
            let (meant, others): (Vec<_>, Vec<_>) =
                after.into_iter().filter(is_shown).partition(is_meant);
            places.extend(meant);
            unmeant.extend(others);
        }
        let header = header(renderer, &users, &manner);
        let mut plain = Group::new(manner, &header);
        let mut said = probes::without_calls(setup.thorough);
        let constants: Vec<&str> = constants(renderer).collect();
        let turns = turns::of(renderer, &users, &settings, &plain.manner, calling.first());
        said.extend(probes::speaking_words(constants.iter().copied(), |word| {
            turns.says(word)
        }));
        let first = users.first();
        said.extend(first.and_then(|user| absent::reasoning(renderer, user, &plain.manner)));
        let mut seen = Seen::nothing(setup.thorough);
        let steps = renderer.steps_left();
        plain.fill(renderer, &places, &said, &mut seen);
        let rounds = u64::try_from(plain.rounds.len()).unwrap_or(u64::MAX);
        let each = steps.saturating_sub(renderer.steps_left()) / rounds.max(1);
        // What no verdict needs may not use up what a slow chat template may take.
        let ordinary = match each.saturating_mul(MOST_ORDINARY) < renderer.steps_left() {
            true => everyday::ordinary(),
            false => Vec::new(),
        };
        let asked = first
            .map(|user| answers_otherwise(renderer, user, &plain.manner, |text| turns.says(text)));
        let beside = characters::next_to_texts(renderer, &users, &plain.manner, calling.first());
        for probes in [
            probes::with_characters(&beside.characters),
            probes::with_characters(&beside.between),
            probes::beginning_with(&characters::asked_for(renderer.asked(), &beside.characters)),
            asked.unwrap_or_default(),
            everyday::of_every_day(&constants),
            probes::with_longer_words(&beside.longer),
            ordinary.clone(),
        ] {
            plain.fill_first(renderer, &places, &probes);
        }
        // A slow chat template needs its steps.
        let (no_calls, reads_calls) = match calling.is_empty() && renderer.speaks_of_calls() {
            true => about_calls(renderer, &users, &plain.manner),
            false => (None, false),
        };
        Self {
            no_calls,
            unmeant,
            calling: distinct(renderer, &users, calling),
            slots,
            settings,
            settings_left_out,
            unset,
            doubtful,
            plain,
            seen,
            reads_calls,
            tools,
            beside,
            is_slow: ordinary.is_empty(),
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
            let after = after_tool(renderer, tooled, manner, "");
            places.extend(prompted(renderer, &[after], &self.settings, manner));
            if !self.is_slow {
                let asked = renderer.asked().take(MAX_ASKED);
                let after =
                    asked.map(|text| after_tool(renderer, tooled, manner, &format!(" {text}")));
                let several = with_results(renderer, tooled, manner);
                add_other(
                    renderer,
                    &mut places,
                    several.into_iter().chain(after),
                    manner,
                );
            }
        }
        let mut group = Group::new(manner.clone(), &self.plain.header);
        let with_tools: Vec<_> = places
            .iter()
            .filter(|at| at.place.tools.is_some())
            .cloned()
            .collect();
        let mut probes = probes::with_calls(setup.thorough);
        probes.extend(
            tooled.and_then(|tooled| absent::content_beside_a_call(renderer, tooled, manner)),
        );
        let mut of_calls = Seen::nothing(setup.thorough);
        group.fill(renderer, &with_tools, &probes, &mut of_calls);
        group.fill_first(
            renderer,
            &with_tools,
            &probes::with_calls_and_characters(
                &self.beside.characters,
                &self.beside.between,
                &self.beside.closing,
            ),
        );
        let constants: Vec<&str> = constants(renderer).collect();
        group.fill_first(
            renderer,
            &with_tools,
            &everyday::of_every_day_with_calls(&constants),
        );
        let after_tool: Vec<_> = places
            .into_iter()
            .filter(|at| at.place.after_tool)
            .collect();
        let probes = probes::without_calls(setup.thorough);
        group.fill(renderer, &after_tool, &probes, &mut self.seen.clone());
        // Those that no verdict is given on are the last.
        let mut beside = probes::with_calls_and_longer_words(&self.beside.longer);
        if !self.is_slow {
            beside.extend(everyday::ordinary_with_calls());
        }
        if let Some(tooled) = tooled {
            beside.extend(written_otherwise(renderer, tooled, manner));
        }
        group.fill_first(renderer, &with_tools, &beside);
        group
    }
}

/// Returns the beginning of the marker that begins a turn, as far as renders show it: the text that the plainest prompt adds to its
/// conversation and that every answer has before it as well, with reasoning and without. Half of that is enough to tell whether it is
/// there, and does not end amid a marker that only some answers go on with. The result is empty where it is white space.
fn header(renderer: &Renderer<'_>, users: &[Conversation], manner: &Manner) -> String {
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

/// The constants of all templates of the chat template.
fn constants<'r>(renderer: &'r Renderer<'_>) -> impl Iterator<Item = &'r str> {
    let templates = renderer.source().templates.iter();
    let constants = templates.flat_map(|(_, template)| template.constants());
    constants.map(String::as_str)
}

/// Returns a constant of the chat template at which it cuts an answer: a text before it is dropped, and a text behind it is kept. Of several it is the shortest, since an
/// answer is cut at a longer one for the shorter one in it.
pub(super) fn cut(renderer: &Renderer<'_>, plain: &Group) -> Option<String> {
    let at = &plain.rounds.first()?.place;
    let trimmed = constants(renderer).map(|constant| constant.trim_matches(python::is_space));
    let mut tried: HashSet<&str> = HashSet::new();
    let markers = trimmed
        .filter(|constant| MARKER.contains(&constant.chars().count()) && tried.insert(constant));
    let is_cut = |constant: &&str| {
        let said = format!("{}{constant}{}", probes::REASONING, probes::CONTENT);
        let message = plain.manner.write(&Assistant::saying(&said), None);
        renderer
            .answered(&at.place, &message, &plain.manner)
            .is_ok_and(|full| full.contains(probes::CONTENT) && !full.contains(probes::REASONING))
    };
    let cuts = markers.take(MAX_CONSTANTS).filter(is_cut);
    cuts.min_by_key(|constant| constant.len())
        .map(str::to_owned)
}

/// How many characters a constant may have at which an answer is cut, and how many are tried.
const MARKER: std::ops::RangeInclusive<usize> = 1..=64;
const MAX_CONSTANTS: usize = 96;

/// The manners in which a call is rendered otherwise than in one before.
fn distinct(renderer: &Renderer<'_>, users: &[Conversation], manners: Vec<Manner>) -> Vec<Manner> {
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

/// Returns why the chat template shows no call, as far as that is known, and true if it asks for an assistant's calls at all. The reason is its error, or that
/// it renders a call only where its result follows.
fn about_calls(
    renderer: &Renderer<'_>,
    users: &[Conversation],
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
    let path = format!("messages[].{}", CALLS_KEY);
    let answer = manner.write(&Assistant::saying(probes::CONTENT), None);
    let earlier = after_tool(renderer, place, manner, "");
    let reads = [(place, &message), (place, &answer), (&earlier, &answer)];
    let reads = reads.into_iter().any(|(place, message)| {
        renderer
            .reads(place, message, manner)
            .is_ok_and(|reads| reads.has_for("assistant", &path))
    });
    let arguments = probes::call(2).arguments;
    let shows = |text: String| {
        let mut said = arguments.values().filter_map(Value::as_str);
        said.all(|said| text.contains(said))
    };
    let is_earlier = || renderer.history(&earlier, manner).is_ok_and(shows);
    let only_earlier =
        || is_earlier().then(|| "it renders them only where their results follow".to_owned());
    (refusal.or_else(only_earlier), reads)
}
