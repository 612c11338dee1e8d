//! The orders in which messages may stand, and those that a chat template refuses.

use serde::Serialize;

use super::outcome::Outcome;
use super::subject::Subject;
use crate::derive::probe;
use crate::value::Value;

/// A message of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Turn {
    /// A system message.
    System,
    /// A user's message.
    User,
    /// An assistant's message with content.
    Assistant,
    /// An assistant's message with a tool call.
    Call,
    /// A tool's result.
    Tool,
}

use Turn::{Assistant, Call, System, Tool, User};

/// The orders that are tried.
const ORDERS: [&[Turn]; 19] = [
    &[User],
    &[System, User],
    &[User, Assistant],
    &[User, Assistant, User],
    &[System, User, Assistant, User],
    &[System],
    &[Assistant],
    &[Assistant, User],
    &[User, User],
    &[User, Assistant, Assistant],
    &[System, System, User],
    &[User, System],
    &[User, Assistant, System, User],
    &[User, Call, Tool],
    &[User, Call, Tool, Assistant, User],
    &[User, Call, Tool, Call, Tool],
    &[User, Call, Tool, User],
    &[User, Call, User],
    &[User, Tool],
];

/// The outcome of a conversation whose messages stand in some order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Order {
    /// The messages.
    pub order: Vec<Turn>,
    /// The outcome for all of the messages together.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The messages that are not in the text, counted from zero.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<usize>,
}

/// Tries the orders; those with calls only where `calls` are rendered.
pub(super) fn read(subject: &Subject<'_>, calls: bool) -> Vec<Order> {
    ORDERS
        .iter()
        .filter(|order| calls || !order.contains(&Call))
        .map(|order| tried(subject, order))
        .collect()
}

fn tried(subject: &Subject<'_>, order: &[Turn]) -> Order {
    let messages = order
        .iter()
        .enumerate()
        .map(|(index, turn)| message(subject, *turn, index));
    let messages = messages.map(|message| subject.divided(message));
    let context = subject.talk_alone(order.contains(&Call), messages);
    let render = subject.render(&context);
    let missing: Vec<usize> = match &render {
        Ok(text) => (0..order.len())
            .filter(|index| {
                let words = match order[*index] {
                    Call => call(*index).name,
                    _ => text_of(*index),
                };
                !text.contains(&words)
            })
            .collect(),
        Err(_) => Vec::new(),
    };
    let outcome = match &render {
        Err(error) => Outcome::refused(error),
        Ok(_) if missing.is_empty() => Outcome::Rendered,
        Ok(_) => Outcome::Dropped,
    };
    Order {
        order: order.to_vec(),
        outcome,
        missing,
    }
}

/// Returns the text of the message at this place. No two messages have the same one.
fn text_of(index: usize) -> String {
    format!("{} {index}.", probe::CONTENT)
}

/// The call at this place: the probes' own, in turn.
fn call(index: usize) -> probe::Call {
    probe::call(index / 2)
}

fn message(subject: &Subject<'_>, turn: Turn, index: usize) -> Value {
    let text = text_of(index);
    match turn {
        System => probe::message("system", &text),
        User => probe::message("user", &text),
        Assistant => subject.answer(&text),
        Call => subject.calling([call(index)]),
        Tool => probe::tool_result(&call(index - 1), &text),
    }
}

/// The words by which the refused orders are refused, each with the orders.
pub fn refusals(orders: &[Order]) -> Vec<(&str, Vec<&[Turn]>)> {
    let mut found: indexmap::IndexMap<&str, Vec<&[Turn]>> = indexmap::IndexMap::new();
    for order in orders {
        if let Outcome::Refused { error } = &order.outcome {
            found.entry(error).or_default().push(&order.order);
        }
    }
    found.into_iter().collect()
}
