//! The judge: the test that a response template brings back the messages that a chat template renders.
//!
//! Messages of every kind are rendered in conversations of every kind, in the manner in which the chat template takes them, and whatever
//! can be *seen* of a message in the render of its turn must come back: in the field under which it went in, with its type where the tools'
//! schema names it, and nothing beside it; and the parsed message, appended to the conversation, must render as the same text. That is
//! decided from renders and messages alone. The judge does not ask where the response template came from, which beliefs of the format it
//! was written by, or which limits its author met. Nothing of that is at hand here, since the room imports nothing of the analysis.
//!
//! A message that is left out has a reason that the render shows, and is counted by [kind](Kind): the chat template refuses the message, or
//! a part of it cannot be seen. There is one excuse: a text in which something stands that is no plain word can render to the very text
//! that another message renders to (a closing marker that is spoken of in an answer); then nobody could tell the two apart, and the
//! [`Judgement`] shows both.
//!
//! In the order in which it happens:
//!
//! - `renderer` renders, `manner` says how a message is handed over, `slots` finds the keys that are shown, `survey` asks for all that;
//! - `probes` has the messages, `characters` finds the characters of the render that are put into their texts, `places` has the conversations,
//!   `rounds` renders each in its place, `expected` tells the parts of it that can be seen;
//! - `trial` tries one round with one response template: `parses` reads its responses and keeps what they parse to, `arrival` checks that
//!   transformers reads them alike in pieces, `compare` that the message came back, and `prompts` that renders show the text behind a prompt's
//!   end;
//! - `judgement` adds up, by kind.
//!
//! The rounds depend on the chat template alone, so that several response templates can be held to the same ones.

mod absent;
mod alike;
mod arrival;
mod asked;
mod calls_alone;
mod characters;
mod circumstances;
mod compare;
mod cuts;
mod difference;
mod everyday;
mod expected;
mod judgement;
mod kind;
mod manner;
pub(crate) mod message;
mod parses;
mod places;
mod probes;
mod prompts;
mod renderer;
mod rounds;
mod shown;
mod shrink;
pub(crate) mod slot;
mod slots;
mod survey;
#[cfg(test)]
mod tests;
mod traces;
mod trial;
mod turns;
mod twins;
mod unproved;
mod why;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::chat_template::{ChatTemplateSource, Clock, Rules, Traced};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, json};

pub(crate) use calls_alone::{Answered, beside_answer, without_answer};
pub(crate) use compare::says_the_same;
pub(crate) use cuts::{count as count_cuts, first_loss};
pub(crate) use everyday::{is_said_every_day, is_said_twice_every_day};
pub(crate) use judgement::{Failure, Judgement, NOT_SHOWN, UNMARKED};
pub use judgement::{KindVerdict, LeftOutCount, Rounds};
pub use kind::Kind;
use message::Assistant;
pub(crate) use message::{Asked, has_calls};
use parses::Parses;
pub(crate) use parses::Scrutiny;
pub(crate) use places::{Doubtful, Extent};
use renderer::Renderer;
pub(crate) use rounds::RoundId;
use rounds::{Group, Round};
use slot::Slot;
use survey::Survey;
pub use trial::Counterexample;
use trial::{Outcome, Tried};
pub(crate) use unproved::{PromptTail, Unproved};

/// The user's text, behind which a turn of the model stands in every render.
pub(crate) const ASKED: &str = probes::USER;

/// A response of the judged format and the message that it was seen to parse to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Case {
    /// The prefix that the parser is given before the response.
    pub prefix: String,
    /// The response.
    pub response: String,
    /// The tools by whose schemas its arguments are typed.
    pub tools: Vec<Value>,
    /// The message.
    pub message: Value,
}

impl Case {
    /// The response with a text between the first two words of its answer, and the message that has it there; `None` where the answer has no two words, or does not
    /// stand in the response as it is.
    pub(crate) fn naming(&self, named: &str) -> Option<Self> {
        let mut message = self.message.as_object()?.clone();
        let answer = message.get("content")?.as_str()?;
        let (first, rest) = answer.split_once(' ')?;
        let (before, behind) = self.response.rsplit_once(answer)?;
        let said = format!("{first} {named} {rest}");
        let response = between(before, &said, behind);
        message.insert("content".to_owned(), Value::from(said));
        Some(Self {
            response,
            message: Value::Object(message),
            ..self.clone()
        })
    }
}

#[cfg(test)]
impl Case {
    /// A response without a message.
    pub(crate) fn unread(prefix: &str, response: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
            response: response.to_owned(),
            tools: Vec::new(),
            message: Value::Null,
        }
    }

    /// A response with the message that a response template reads.
    pub(crate) fn read_by(template: &Arc<ResponseTemplate>, prefix: &str, response: &str) -> Self {
        let case = Self::unread(prefix, response);
        let message = parse_whole(template, &case);
        Self { message, ..case }
    }
}

/// Returns a response with another text in the place of one, as a model writes it there: where a text of JSON stands, with the escapes of JSON. That is between
/// quotes, with what JSON has before a text and behind it around these.
pub(crate) fn between(before: &str, text: &str, behind: &str) -> String {
    let quoted = before.strip_suffix('"').zip(behind.strip_prefix('"'));
    let json = quoted.filter(|(before, behind)| {
        let stands_behind = before.trim_end().ends_with([':', ',', '[', '{']);
        stands_behind && behind.trim_start().starts_with([',', ']', '}'])
    });
    match json {
        Some((before, behind)) => format!("{before}{}{behind}", json::quote(text)),
        None => format!("{before}{text}{behind}"),
    }
}

/// The facts that the judge has to know in order to render with a chat template at all.
pub(crate) struct Setup<'a> {
    /// The time that the chat template is told.
    pub(crate) clock: Option<Clock>,
    /// The account of steps on which it is rendered.
    pub(crate) steps: &'a Cell<u64>,
    /// True if every content has to be a list of parts.
    pub(crate) parts: bool,
    /// The role of the message with which every conversation has to begin.
    pub(crate) opening: Option<&'static str>,
    /// The variables without which it does not render, for these tools.
    pub(crate) variables: &'a dyn Fn(&[Value]) -> Map,
    /// True to try more, however long that takes.
    pub(crate) thorough: bool,
    /// The kwargs that are set beside those that alone make a difference.
    pub(crate) extent: Extent,
}

impl std::fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup")
            .field("parts", &self.parts)
            .field("thorough", &self.thorough)
            .finish_non_exhaustive()
    }
}

impl Setup<'_> {
    fn kwargs(&self, tools: Option<&[Value]>) -> Map {
        (self.variables)(tools.unwrap_or_default())
    }
}

/// A chat template, rendered in every way in which a response template is to be tried.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    setup: &'a Setup<'a>,
    renderer: Renderer<'a>,
    survey: Survey,
    /// The rounds with calls, for each manner in which they are rendered differently, once they are needed.
    calling: Vec<OnceCell<Group>>,
    /// The parses of the last response template that was tried.
    last: RefCell<Option<Rc<Parses>>>,
    /// The constant at which the chat template cuts an answer, once it is asked for.
    cut: OnceCell<Option<String>>,
    /// The rounds of the messages that others were shrunk to. Every response template that is judged shrinks the same messages.
    shrunk: RefCell<HashMap<RoundId, Vec<Shrunk>>>,
}

/// The rounds of which shrunk messages are kept at most.
const MAX_SHRUNK: usize = 512;

/// A message in the place of a round, and its own round, if it makes one.
type Shrunk = (Assistant, Option<Rc<Round>>);

/// A response template to be judged, and the form in which it is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) template: &'a Arc<ResponseTemplate>,
    /// The field for reasoning, where it is renamed before it is appended.
    pub(crate) reasoning_field: Option<&'a str>,
    pub(crate) scrutiny: Scrutiny,
}

/// Parses a case's response, and returns the message and the error, if there is one.
pub(crate) fn parse(
    template: &Arc<ResponseTemplate>,
    case: &Case,
    scrutiny: Scrutiny,
) -> (Value, Option<String>) {
    let parses = Rc::new(Parses::new(Arc::clone(template), scrutiny));
    let tried = Tried::new(None, &[], parses);
    let (parsed, error) = tried.parse(&case.prefix, &case.response, &case.tools);
    (Value::Object(parsed), error)
}

/// Parses a case's response as a whole and returns the message, as far as it can be parsed.
pub(crate) fn parse_whole(template: &Arc<ResponseTemplate>, case: &Case) -> Value {
    parse(template, case, Scrutiny::Whole).0
}

impl<'a> Judge<'a> {
    /// Renders everything that can be rendered before there is a response template.
    pub(crate) fn new(source: &'a ChatTemplateSource, setup: &'a Setup<'a>) -> Self {
        let renderer = Renderer::new(source, setup);
        let survey = Survey::of(&renderer, setup);
        Self {
            calling: survey.calling.iter().map(|_| OnceCell::new()).collect(),
            setup,
            renderer,
            survey,
            last: RefCell::default(),
            cut: OnceCell::new(),
            shrunk: RefCell::default(),
        }
    }

    /// The rules by which calls are rendered; transformers' where none are.
    pub(crate) fn rules(&self) -> Rules {
        let first = self.survey.calling.first();
        first.map(|manner| manner.rules).unwrap_or_default()
    }

    /// Returns the messages that are lost of those on which no verdict is given: their texts have longer words in them than those of markers, or what stands
    /// otherwise in every render.
    pub(crate) fn lost_beside(&self, subject: Subject<'_>) -> Vec<RoundId> {
        let tried = self.tried(subject);
        let lost_of = |calling: Option<usize>, group: &Group| {
            let rounds = group.rounds.iter().enumerate();
            let beside =
                rounds.filter(|(_, round)| round.probe.is_beside && round.probe.asked.is_none());
            let lost = beside
                .filter(|(_, round)| !tried.run(round, &group.manner, &self.renderer).is_back());
            let lost = lost.map(|(index, _)| RoundId { calling, index });
            lost.collect::<Vec<RoundId>>()
        };
        // A manner that no verdict needed has no rounds. Of several that have some, one counts: that in which least is lost.
        let calling = self.calling.iter().enumerate();
        let calling = calling.filter_map(|(at, group)| Some(lost_of(Some(at), group.get()?)));
        let mut lost = lost_of(None, &self.survey.plain);
        lost.extend(calling.min_by_key(Vec::len).unwrap_or_default());
        lost
    }

    /// Judges a response template by all rounds.
    pub(crate) fn judge(&self, subject: Subject<'_>) -> Judgement {
        judgement::judge(self, subject)
    }

    /// Parses a case's response, and returns the message and the error, if there is one.
    pub(crate) fn parse(&self, subject: Subject<'_>, case: &Case) -> (Value, Option<String>) {
        let tried = self.tried(subject);
        let (parsed, error) = tried.parse(&case.prefix, &case.response, &case.tools);
        (Value::Object(parsed), error)
    }

    /// Returns the first of the rounds whose message is lost: it does not come back, nor is that excused by another message that renders to
    /// the same text. `None` as well where calls are rendered in several manners, since it then also depends on the manner in which they
    /// are judged.
    pub(crate) fn first_lost(&self, subject: Subject<'_>, rounds: &[RoundId]) -> Option<RoundId> {
        let mut rounds = rounds.iter().copied();
        (self.calling.len() < 2)
            .then(|| rounds.find(|round| self.try_one(subject, *round).is_lost()))
            .flatten()
    }

    /// Returns true if the message of a round comes back.
    pub(crate) fn brings_back(&self, subject: Subject<'_>, round: RoundId) -> bool {
        self.try_one(subject, round).is_back()
    }

    /// Returns the counterexample of a round that does not come back: the smallest message that fails as it does, where its texts are more
    /// than plain words.
    pub(crate) fn failure(&self, subject: Subject<'_>, round: RoundId) -> Option<Counterexample> {
        let found = self.try_one(subject, round).counterexample()?;
        if self.round(round).1.probe.leads {
            return Some(found);
        }
        Some(self.smallest(subject, round, found).1)
    }

    /// Returns the smallest message that fails as that of the round does, and its counterexample.
    pub(crate) fn smallest(
        &self,
        subject: Subject<'_>,
        round: RoundId,
        found: Counterexample,
    ) -> (Assistant, Counterexample) {
        let id = round;
        let (group, round) = self.round(id);
        let tried = self.tried(subject);
        let again = |message: &Assistant| {
            let round = self.again(id, message)?;
            tried
                .run(&round, &group.manner, &self.renderer)
                .counterexample()
        };
        let smallest = shrink::shrink(round.probe.message.clone(), |message| {
            again(message).is_some()
        });
        let found = again(&smallest).unwrap_or(found);
        (smallest, found)
    }

    /// Returns the round with another message, made now or before.
    fn again(&self, id: RoundId, message: &Assistant) -> Option<Rc<Round>> {
        let known = |(of, _): &&Shrunk| of == message;
        if let Some((_, round)) = self
            .shrunk
            .borrow()
            .get(&id)
            .and_then(|shrunk| shrunk.iter().find(known))
        {
            return round.clone();
        }
        let (group, round) = self.round(id);
        let again = group.again(round, message, &self.renderer).map(Rc::new);
        let mut shrunk = self.shrunk.borrow_mut();
        if shrunk.len() > MAX_SHRUNK {
            shrunk.clear();
        }
        let of_round = shrunk.entry(id).or_default();
        of_round.push((message.clone(), again.clone()));
        again
    }

    /// Takes a message with an empty text and one without it for the same from now on, though they render differently.
    ///
    /// A response template cannot give the empty text in the one response alone. As long as it may give it in all, or in none, and a chat template renders one of these
    /// again as it was, the difference tells the two apart; so this is for the end, when nothing else brings the messages back.
    pub(crate) fn take_empty_for_none(&self) {
        self.renderer.take_empty_for_none();
    }

    /// Tries messages that speak of a marker, and returns those that did not come back as they were: the part of the message that speaks of
    /// it, and the counterexample.
    pub(crate) fn speaks_of(
        &self,
        subject: Subject<'_>,
        marker: &str,
    ) -> Vec<(&'static str, Counterexample)> {
        let tried = self.tried(subject);
        let mut found = Vec::new();
        for (part, message) in probes::speaking_of(marker) {
            let group = self.group(
                (!message.calls.is_empty())
                    .then_some(0)
                    .filter(|_| !self.calling.is_empty()),
            );
            let of_user = |round: &&Round| {
                !round.place.place.after_tool && round.place.place.kwargs.is_empty()
            };
            let round = group.rounds.iter().find(of_user);
            let round = round.and_then(|round| group.again(round, &message, &self.renderer));
            // The round counts only if all of the message can be seen in the render; otherwise something else was tried than was meant.
            let is_whole = |round: &Round| round.expected.shown() == message;
            if let Some(round) = round.filter(is_whole)
                && let Some(shown) = tried
                    .run(&round, &group.manner, &self.renderer)
                    .counterexample()
            {
                found.push((part, shown));
            }
        }
        found
    }

    /// Returns a text of the messages that were tried whose longest word stands in one of these delimiters, with that delimiter, unless the chat template has the word in
    /// a constant.
    ///
    /// Such a delimiter was read off the messages, and is found in no other conversation. Between the words, a pattern may have anything for the white space.
    pub(crate) fn spoken_by<'d>(
        &self,
        delimiters: &[&'d str],
        further: impl IntoIterator<Item = String>,
    ) -> Option<(&'d str, String)> {
        let constants = || {
            let templates = self.renderer.source().templates.iter();
            templates.flat_map(|(_, template)| template.constants())
        };
        let mut texts = probes::texts().into_iter().chain(further);
        texts.find_map(|text| {
            let word = text.split(' ').max_by_key(|word| word.len())?;
            let mut all = delimiters.iter();
            let delimiter = all.find(|delimiter| delimiter.contains(word))?;
            let is_own = constants().any(|constant| constant.contains(word));
            (!is_own).then_some((*delimiter, text))
        })
    }

    /// Returns the rest of `text` behind the last text of the messages before a turn.
    pub(crate) fn behind_texts<'t>(&self, text: &'t str) -> &'t str {
        let said = probes::BEFORE.iter();
        let ends = said.filter_map(|said| Some(text.rfind(said)? + said.len()));
        &text[ends.max().unwrap_or(0)..]
    }

    /// The message of a round.
    pub(crate) fn message(&self, id: RoundId) -> &Assistant {
        &self.round(id).1.probe.message
    }

    /// The tools by whose schemas the arguments of a round's message are typed.
    pub(crate) fn tools(&self, id: RoundId) -> &[Value] {
        &self.round(id).1.tools
    }

    /// Returns the places where the chat template takes texts beside the content, that of the reasoning first.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.survey.slots.distinct
    }

    /// Returns the places where the chat template takes the text of calls.
    pub(crate) fn slots_of_calls(&self) -> &[Slot] {
        &self.survey.slots.of_calls
    }

    /// Renders of messages of every kind with the origin of every character.
    pub(crate) fn traced(&self) -> Vec<Traced> {
        traces::all(self)
    }

    /// Returns true if calls are handed over with their arguments as text alone.
    pub(crate) fn has_text_arguments(&self) -> bool {
        let mut manners = self.survey.calling.iter();
        manners.len() > 0 && manners.all(|manner| manner.with_objects() != *manner)
    }

    /// Returns true if calls are rendered only where another message follows.
    pub(crate) fn has_followed_calls(&self) -> bool {
        self.survey.calling.iter().any(|manner| manner.is_followed)
    }

    /// Returns true if calls alone are rendered without the header of a turn.
    pub(crate) fn has_headless_calls(&self) -> bool {
        self.survey.calling.iter().any(|manner| manner.is_headless)
    }

    /// The kwargs that are never set, since the chat template writes them in the model's turn where nothing of its own stands before or behind them.
    pub(crate) fn unset(&self) -> &[String] {
        &self.survey.unset
    }

    /// The kwargs under which messages may be lost although nobody may ever set them so.
    pub(crate) fn doubtful(&self) -> &Doubtful {
        &self.survey.doubtful
    }

    /// Returns how many renders were made so far, and how long they took.
    pub(crate) fn rendered(&self) -> (usize, Duration) {
        self.renderer.rendered()
    }

    fn try_one(&self, subject: Subject<'_>, id: RoundId) -> Outcome {
        let (group, round) = self.round(id);
        self.tried(subject)
            .run(round, &group.manner, &self.renderer)
    }

    fn tried<'s>(&'s self, subject: Subject<'s>) -> Tried<'s> {
        let mut last = self.last.borrow_mut();
        let known = last
            .take()
            .filter(|last| last.are_of(subject.template, subject.scrutiny));
        let parses = known.unwrap_or_else(|| {
            let template = Arc::clone(subject.template);
            Rc::new(Parses::new(template, subject.scrutiny))
        });
        *last = Some(Rc::clone(&parses));
        let aliases = &self.survey.slots.aliases;
        Tried::new(subject.reasoning_field, aliases, parses)
    }

    /// The rounds with calls in the manner of that index.
    fn calls(&self, index: usize) -> &Group {
        self.calling[index].get_or_init(|| {
            let manner = &self.survey.calling[index];
            self.survey.calls(&self.renderer, self.setup, manner)
        })
    }

    fn group(&self, index: Option<usize>) -> &Group {
        index.map_or(&self.survey.plain, |index| self.calls(index))
    }

    fn round(&self, id: RoundId) -> (&Group, &Round) {
        let group = self.group(id.calling);
        (group, &group.rounds[id.index])
    }
}
