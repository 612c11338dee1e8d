//! Renders of conversations of every kind with the origin of every character, for callers that look for the texts which the chat template
//! writes of its own.

use std::collections::HashSet;

use super::Judge;
use super::places::Prompted;
use super::probes;
use super::renderer::Conversation;
use super::rounds::{Group, Round};
use crate::chat_template::Traced;
use std::rc::Rc;

/// How many conversations are traced, of those without calls and of those with.
const MAX_TRACED: usize = 64;

/// The messages that lead their kind, each in its place, where the texts differ; and where another message follows.
pub(super) fn all(judge: &Judge<'_>) -> Vec<Traced> {
    let mut traced = of(judge, &judge.survey.plain);
    if !judge.calling.is_empty() {
        let group = judge.calls(0);
        traced.extend(of(judge, group));
        traced.extend(without_tools(judge, group));
    }
    traced
}

/// Calls in a conversation without tools, which a chat template may end otherwise: `</call><eom>` and `</call><eot>` tell where the marker of a
/// call ends.
fn without_tools(judge: &Judge<'_>, group: &Group) -> Option<Traced> {
    let round = group.rounds.iter().find(|round| round.probe.leads)?;
    let place = Conversation {
        tools: None,
        ..round.place.place.clone()
    };
    let written = [round.written.clone()];
    let traced = judge.renderer.traced(&place, &written, &group.manner);
    traced.ok()
}

fn of(judge: &Judge<'_>, group: &Group) -> Vec<Traced> {
    let mut shapes = HashSet::new();
    let mut places: Vec<*const Prompted> = Vec::new();
    let mut traced = Vec::new();
    let leads: Vec<&Round> = group
        .rounds
        .iter()
        .filter(|round| round.probe.leads)
        .collect();
    // Every place once, and then every shape of message.
    let (first, others): (Vec<&Round>, Vec<&Round>) = leads.into_iter().partition(|round| {
        let known = Rc::as_ptr(&round.place);
        let is_new = !places.contains(&known);
        if is_new {
            places.push(known);
        }
        is_new
    });
    let all = first.iter().map(|round| (round, true));
    for (round, is_first) in all.chain(others.iter().map(|round| (round, false))) {
        if traced.len() >= MAX_TRACED {
            break;
        }
        let place = &round.place.place;
        if is_first {
            traced.extend(judge.renderer.traced_prompt(place, &group.manner).ok());
        }
        if shapes.insert(shape(round)) {
            let written = round.written.clone();
            let next = judge.renderer.said("user", probes::USER_AGAIN);
            for further in [&[written.clone()][..], &[written, next][..]] {
                traced.extend(judge.renderer.traced(place, further, &group.manner).ok());
            }
        }
    }
    traced
}

/// Returns the parts that a message has and the types of its arguments, with the text before them and the setting of kwargs, as one key.
fn shape(round: &Round) -> String {
    let message = &round.probe.message;
    let types: Vec<String> = message
        .calls
        .iter()
        .map(|call| {
            let types = call.arguments.values().map(|value| {
                use crate::value::Value;
                match value {
                    Value::String(_) => "s",
                    Value::Array(_) => "a",
                    Value::Object(_) => "o",
                    Value::Bool(_) => "b",
                    Value::Null => "n",
                    _ => "i",
                }
            });
            types.collect()
        })
        .collect();
    format!(
        "{} {} {types:?} {} {}",
        message.reasoning.is_some(),
        message.content.is_some(),
        round.place.place.label,
        crate::value::json::to_string(&crate::value::Value::Object(
            round.place.place.kwargs.clone()
        ))
    )
}
