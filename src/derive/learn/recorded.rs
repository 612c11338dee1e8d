//! A response that was recorded.

use crate::derive::probe::CALLS_KEY;
use crate::value::Value;

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
                let id = call.get("id").and_then(Value::as_str);
                let is_given = id.is_some_and(|id| !self.response.contains(id));
                if let (Value::Object(call), true) = (call, is_given) {
                    call.shift_remove("id");
                }
            }
        }
        self
    }
}
