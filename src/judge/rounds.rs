//! The rounds: every message rendered in every place in which it is to be tried, with the parts of it that can be seen.
//!
//! Nothing here depends on the response template that is judged, so that any number of them can be held to the same rounds.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use super::expected::{Expected, Sight};
use super::kind::Kind;
use super::manner::Manner;
use super::message::{Assistant, tool_for};
use super::places::Prompted;
use super::probes::Probe;
use super::renderer::Renderer;
use crate::chat_template::{InputPath, InputStep, Traced};
use crate::value::Value;

/// A round, by the manner of its calls and its place among the rounds of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RoundId {
    pub(super) calling: Option<usize>,
    pub(super) index: usize,
}

/// A message in its place, rendered.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) probe: Rc<Probe>,
    pub(super) place: Rc<Prompted>,
    /// The message as the chat template was given it.
    pub(super) written: Value,
    /// The conversation and the message, without the trailer.
    pub(super) full: String,
    /// The whole render.
    pub(super) rendered: String,
    /// The byte of the render at which the last words before the message end.
    pub(super) history_end: usize,
    /// The byte at which the first part of the message begins that can be seen.
    pub(super) first: usize,
    /// The parts of the message that can be seen, which must come back.
    pub(super) expected: Expected,
    /// The kinds of the message, as far as they can be seen.
    pub(super) kinds: Vec<Kind>,
    /// The tools whose schemas name the types of its arguments.
    pub(super) tools: Rc<[Value]>,
    /// The byte ranges of `rendered` that are numbers which come from no input as they are, once they are asked for.
    counted: OnceCell<Vec<Range<usize>>>,
}

impl Round {
    /// The byte ranges of the render's numbers behind the history that come from no input as they are, such as the `0` of `functions.f:0`
    /// where the chat template counts calls.
    ///
    /// Rendering with origins costs more than reading the response does, so that it is done once for all response templates.
    pub(super) fn counted(&self, manner: &Manner, renderer: &Renderer<'_>) -> &[Range<usize>] {
        self.counted.get_or_init(|| {
            let further = std::slice::from_ref(&self.written);
            let start = self.history_end;
            let traced = renderer.traced_behind(&self.place.place, further, manner, start);
            traced.map_or_else(|_| Vec::new(), |traced| counted(&traced, self.history_end))
        })
    }
}

/// The byte ranges of a render's numbers from byte `start` on that come from no input as they are.
fn counted(traced: &Traced, start: usize) -> Vec<Range<usize>> {
    let runs = traced.runs.iter();
    let numbers = runs.filter(|run| {
        let text = &traced.text[run.start..run.end];
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number && run.start >= start && run.origin.is_derived()
    });
    numbers.map(|run| run.start..run.end).collect()
}

/// The reason why a message makes no round.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum LeftOut {
    /// The chat template refuses it, in these words.
    Refused(String),
    /// The render does not show the parts that make its kind.
    NotShown,
    /// The prompt has the marker that begins a turn, and the render of the answer has not.
    Unmarked,
}

/// Rounds with messages that are handed over in one manner.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) manner: Manner,
    /// The beginning of the marker that begins a turn, where renders show it.
    pub(super) header: String,
    pub(super) rounds: Vec<Round>,
    pub(super) left_out: Vec<(Kind, LeftOut)>,
}

/// The turns that were written so far, each with what the model is told right before it.
///
/// A chat template that writes an answer behind a tool's result byte for byte as behind a question, after the same prompt, gives the parser
/// nothing there that it has not read already.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    turns: HashSet<(String, String)>,
    thorough: bool,
}

impl Seen {
    /// Nothing was written yet. Where the trial is `thorough`, everything counts as new.
    pub(super) fn nothing(thorough: bool) -> Self {
        Self {
            turns: HashSet::new(),
            thorough,
        }
    }

    /// Notes the turns of these rounds, and returns true if one of them is new.
    fn is_new(&mut self, rounds: &[Round]) -> bool {
        let mut is_new = self.thorough;
        for round in rounds {
            let told = round.place.told().to_owned();
            let turn = round.full[round.history_end..].to_owned();
            is_new |= self.turns.insert((told, turn));
        }
        is_new
    }
}

impl Group {
    pub(super) fn new(manner: Manner, header: &str) -> Self {
        Self {
            manner,
            header: header.to_owned(),
            rounds: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Renders the messages: those that lead their kind in every place, the others where those that lead were written as nowhere before,
    /// in this group or in one whose `seen` is handed on.
    pub(super) fn fill(
        &mut self,
        renderer: &Renderer<'_>,
        places: &[Rc<Prompted>],
        probes: &[Probe],
        seen: &mut Seen,
    ) {
        let probes: Vec<Rc<Probe>> = probes.iter().cloned().map(Rc::new).collect();
        for place in places {
            let before = self.rounds.len();
            for probe in probes.iter().filter(|probe| probe.leads) {
                self.render(renderer, place, probe);
            }
            if seen.is_new(&self.rounds[before..]) {
                for probe in probes.iter().filter(|probe| !probe.leads) {
                    self.render(renderer, place, probe);
                }
            }
        }
    }

    /// Renders the messages in the first place alone.
    pub(super) fn fill_first(
        &mut self,
        renderer: &Renderer<'_>,
        places: &[Rc<Prompted>],
        probes: &[Probe],
    ) {
        if let Some(place) = places.first() {
            for probe in probes {
                self.render(renderer, place, &Rc::new(probe.clone()));
            }
        }
    }

    /// Makes a round of the message, and notes the kinds that the message was meant to be of and is not.
    fn render(&mut self, renderer: &Renderer<'_>, at: &Rc<Prompted>, probe: &Rc<Probe>) {
        let is_taken = (probe.further.is_none() || self.manner.further.is_some())
            && (probe.message.reasoning.is_none() || self.manner.reasoning.is_some());
        if !is_taken {
            return;
        }
        // No verdict is given on it, so that it does not matter why it is left out.
        if probe.is_beside {
            self.rounds.extend(self.round(renderer, at, probe));
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

    /// Returns the rounds that a verdict is given on. They come before the others, so that both are counted alike.
    pub(super) fn judged(&self) -> impl Iterator<Item = &Round> {
        let rounds = self.rounds.iter();
        rounds.take_while(|round| !round.probe.is_beside)
    }

    /// Returns the round with another message.
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
        let history_end = at.turn_start(&full);
        let message = InputPath::new([
            InputStep::from("messages"),
            InputStep::Index(at.place.history.len()),
        ]);
        let kept = OnceCell::new();
        let traced = || {
            let render = || {
                let further = std::slice::from_ref(&written);
                let traced = renderer.traced_behind(&at.place, further, &self.manner, history_end);
                traced.ok()
            };
            kept.get_or_init(render).as_ref()
        };
        let from = |start: usize| {
            let sight = Sight {
                turn: &full[start..],
                start,
                places: self.manner.places(&message, &written),
                message: &message,
                traced: &traced,
            };
            let (expected, first) = Expected::of(probe, &sight)?;
            Some((expected, start + first))
        };
        let (mut expected, mut first) = from(history_end).ok_or(LeftOut::NotShown)?;
        let prompted = at.told();
        let is_begun = |text: &str| text.contains(&self.header);
        if is_begun(prompted) && !is_begun(&full[history_end..first]) {
            // Behind the last message may stand the like of a text of this one, before the header: `null` in `"error": null`.
            let header = full[history_end..].find(&self.header);
            let behind = header.and_then(|header| from(history_end + header));
            // Calls before the header are the message's own, and not the like of a text.
            let calls = expected.calls.len();
            let behind = behind.filter(|(behind, _)| behind.calls.len() == calls);
            (expected, first) = behind.ok_or(LeftOut::Unmarked)?;
        }
        // Where the origins were asked for, the numbers are told from them as well.
        let traced: Option<&Traced> = kept.get().and_then(Option::as_ref);
        let counted = traced.map(|traced| OnceCell::from(counted(traced, history_end)));
        expected.forget_unseen(|without| rendered(without).is_ok_and(|(_, other)| other == full));
        // The trailer, which ends every conversation, is not part of the message.
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
            history_end,
            first,
            expected,
            kinds,
            tools: probe.message.calls.iter().map(tool_for).collect(),
            probe: probe.clone(),
            place: at.clone(),
            full,
            rendered,
            counted: counted.unwrap_or_default(),
        })
    }
}
