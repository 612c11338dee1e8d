//! A response that was recorded.

use crate::derive::probe::CALLS_KEY;
use crate::value::{Value, json};

/// A response that a model wrote.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// The name by which reports call the response.
    pub name: String,
    /// The response, every character of it.
    pub response: String,
    /// The prompt that the model had been given. `None` where that is not told: then it is taken for the prompt that the chat template
    /// renders for one question.
    pub prefix: Option<String>,
    /// The tools that the model could call.
    pub tools: Vec<Value>,
    /// The message that it must parse to, where that is known.
    pub expected: Option<Value>,
}

impl Recorded {
    /// Returns the response without those ids of expected calls that stand nowhere in it: a server gave them to the calls, and no response template reads them.
    #[must_use]
    pub(in crate::derive) fn without_given_ids(mut self) -> Self {
        if let Some(Value::Object(message)) = &mut self.expected
            && let Some(Value::Array(calls)) = message.get_mut(CALLS_KEY)
        {
            for call in calls {
                let is_given = call
                    .get("id")
                    .is_some_and(|id| !stands_in(id, &self.response));
                if let (Value::Object(call), true) = (call, is_given) {
                    call.shift_remove("id");
                }
            }
        }
        self
    }
}

/// Returns true if an id stands in the response, and is no part of another word or number.
fn stands_in(id: &Value, response: &str) -> bool {
    let id = match id {
        Value::String(id) => id.clone(),
        Value::Null => return false,
        other => json::to_string(other),
    };
    let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_whole = |(at, _): (usize, &str)| {
        let (before, behind) = (&response[..at], &response[at + id.len()..]);
        !goes_on(before.chars().next_back()) && !goes_on(behind.chars().next())
    };
    !id.is_empty() && response.match_indices(&id).any(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stands_in_a_response_as_a_word_of_its_own() {
        for (id, response, stands) in [
            (r#""a1""#, r#"<c id="a1">"#, true),
            (r#""0""#, "<c>f:0</c>", true),
            (r#""0""#, "<c>{\"a\": 10}</c>", false),
            ("7", "<c>#7</c>", true),
            ("7", "<c>#17</c>", false),
            (r#""""#, "<c></c>", false),
            ("null", "null", false),
        ] {
            let id = json::parse(id).unwrap();
            assert_eq!(stands_in(&id, response), stands, "{id:?} in {response}");
        }
    }
}
