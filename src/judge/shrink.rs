//! Shrinking: the way from a message that fails to the smallest one that still does.
//!
//! Greedy, as property testing does it: of all messages that have one thing less, the first that still fails is taken, and the search
//! begins again with that. Big cuts are tried before small ones (the whole reasoning, a call, half of a text, a word). It ends since every
//! cut makes the message smaller. The result is a local minimum: nothing more can be left out of it alone, though two things together might
//! be. Each try costs a render and a parse; there are few, since texts are halved and messages have a handful of parts.

use super::message::Assistant;
use crate::value::Value;

/// The smallest message, reached from `message` by leaving things out, for which `fails` still holds.
pub(super) fn shrink(mut message: Assistant, fails: impl Fn(&Assistant) -> bool) -> Assistant {
    while let Some(smaller) = smaller(&message)
        .into_iter()
        .find(|candidate| fails(candidate))
    {
        message = smaller;
    }
    message
}

/// Messages with one thing less, the biggest cuts first.
fn smaller(message: &Assistant) -> Vec<Assistant> {
    let mut candidates = Vec::new();
    let mut add = |change: &dyn Fn(&mut Assistant)| {
        let mut candidate = message.clone();
        change(&mut candidate);
        if candidate != *message {
            candidates.push(candidate);
        }
    };
    add(&|m| m.reasoning = None);
    add(&|m| {
        if !m.calls.is_empty() {
            m.content = None;
        }
    });
    for index in 0..message.calls.len() {
        add(&|m| {
            m.calls.remove(index);
            if m.calls.is_empty() && m.content.is_none() {
                m.content = Some(super::probes::CONTENT.to_owned());
            }
        });
        for key in message.calls[index].arguments.keys() {
            add(&|m| {
                m.calls[index].arguments.shift_remove(key);
            });
        }
        for (key, value) in &message.calls[index].arguments {
            for simpler in simpler_values(value) {
                add(&|m| {
                    m.calls[index]
                        .arguments
                        .insert(key.clone(), simpler.clone());
                });
            }
        }
    }
    for half in message.reasoning.iter().flat_map(|text| shorter(text)) {
        add(&|m| m.reasoning = Some(half.clone()));
    }
    for half in message.content.iter().flat_map(|text| shorter(text)) {
        add(&|m| m.content = Some(half.clone()));
    }
    candidates
}

fn simpler_values(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => shorter(text).into_iter().map(Value::String).collect(),
        Value::Array(items) => items.clone(),
        Value::Object(members) => members.values().cloned().collect(),
        _ => Vec::new(),
    }
}

/// The text without the first or the second half of its words, or one of them. The first and the last word stay, since
/// by them the text is found in a render.
fn shorter(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let count = words.len();
    if count < 3 {
        return Vec::new();
    }
    let half = (count - 2).div_ceil(2);
    [
        1..1 + half,
        count - 1 - half..count - 1,
        1..2,
        count - 2..count - 1,
    ]
    .map(|cut| [&words[..cut.start], &words[cut.end..]].concat().concat())
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_smallest_text_that_fails() {
        let message = Assistant::saying("some words and a < sign here").thinking("a thought");
        let smallest = shrink(message, |m| {
            m.content.as_deref().is_some_and(|text| text.contains('<'))
        });
        assert_eq!(smallest, Assistant::saying("some < here"));
    }
}
