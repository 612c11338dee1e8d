//! Manners: the ways in which a message is handed to a chat template.

use std::fmt;

use super::message::{ArgumentsForm, Assistant, CALLS_KEY, content_to_parts, write_call};
use super::slot::{Slot, add_part};
use crate::chat_template::{InputPath, Rules};
use crate::value::{Map, Value};

/// How a message with calls says that it has no content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoContent {
    Absent,
    Empty,
    /// A null, which transformers drops before it renders, and others keep.
    Null,
}

/// A way to hand a message to a chat template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) rules: Rules,
    pub(super) arguments: ArgumentsForm,
    pub(super) no_content: NoContent,
    /// True if texts of contents are lists of parts.
    pub(super) parts: bool,
    /// True if a message with calls is rendered with another one behind it, for chat templates that render none in the last message.
    pub(super) is_followed: bool,
    /// True if a message with calls alone is rendered with an answer beside them that is then taken out, for chat templates that write no header before calls alone.
    pub(super) is_headless: bool,
    /// The place of the reasoning; without one, the reasoning is left out.
    pub(super) reasoning: Option<Slot>,
    /// The place of a further text.
    pub(super) further: Option<Slot>,
}

impl Manner {
    /// The manner that is tried first: as transformers renders, and as most chat templates take it.
    pub(super) fn usual(parts: bool) -> Self {
        Self {
            rules: Rules::default(),
            arguments: ArgumentsForm::Object,
            no_content: NoContent::Absent,
            parts,
            is_followed: false,
            is_headless: false,
            reasoning: None,
            further: None,
        }
    }

    /// The manners in which calls may have to be handed over, those first that ask least of a renderer.
    pub(super) fn of_calls(&self) -> Vec<Self> {
        let mut manners = Vec::new();
        for list_methods in [false, true] {
            for no_content in [NoContent::Absent, NoContent::Empty, NoContent::Null] {
                for arguments in [ArgumentsForm::Object, ArgumentsForm::JsonText] {
                    let keep_nulls = no_content == NoContent::Null;
                    manners.push(Self {
                        rules: Rules {
                            keep_nulls,
                            list_methods,
                        },
                        arguments,
                        no_content,
                        ..self.clone()
                    });
                }
            }
        }
        manners
    }

    /// Returns the manner with objects for the arguments of calls.
    pub(super) fn with_objects(&self) -> Self {
        Self {
            arguments: ArgumentsForm::Object,
            ..self.clone()
        }
    }

    /// The message as the chat template is given it.
    pub(super) fn write(&self, message: &Assistant, further: Option<&str>) -> Value {
        let mut written = Map::new();
        written.insert("role", Value::from("assistant"));
        if self.no_content == NoContent::Empty
            && message.content.is_none()
            && !message.calls.is_empty()
        {
            written.insert("content", Value::from(""));
        }
        let texts = [
            (&self.reasoning, message.reasoning.as_deref()),
            (&self.further, further),
        ];
        for (slot, text) in &texts {
            if let (Some(slot @ Slot::Key(_)), Some(text)) = (slot, text) {
                let at = written.len();
                slot.put_key(&mut written, at, text);
            }
        }
        match &message.content {
            Some(content) => {
                written.insert("content", Value::from(content.as_str()));
            }
            None if self.no_content == NoContent::Null => {
                written.insert("content", Value::Null);
            }
            None => {}
        }
        if !message.calls.is_empty() {
            let calls = message.calls.iter();
            let calls = calls.map(|call| write_call(call, self.arguments));
            written.insert(CALLS_KEY, calls.collect::<Vec<_>>().into());
        }
        let mut written = Value::Object(written);
        self.divide(&mut written);
        for (slot, text) in texts {
            if let (Some(Slot::Part { kind, key }), Some(text)) = (slot, text) {
                add_part(&mut written, kind, key, text);
            }
        }
        written
    }

    /// Returns the places of the reasoning, the further text and the content in a written message.
    pub(super) fn places(&self, message: &InputPath, written: &Value) -> [Option<InputPath>; 3] {
        let part = |wanted: &str, key: &str| {
            let parts = written.get("content")?.as_array()?;
            let kind = |part: &Value| part.get("type").and_then(Value::as_str) == Some(wanted);
            let at = parts.iter().position(kind)?;
            Some(message.then("content").then(at).then(key))
        };
        let slot = |slot: &Option<Slot>| match slot.as_ref()? {
            Slot::Key(keys) => Some(
                keys.iter()
                    .fold(message.clone(), |path, key| path.then(key.as_str())),
            ),
            Slot::Part { kind, key } => part(kind, key),
        };
        let content = match written.get("content") {
            Some(Value::Array(_)) => part("text", "text"),
            _ => Some(message.then("content")),
        };
        [slot(&self.reasoning), slot(&self.further), content]
    }

    /// Makes the content parts, where that is the manner.
    pub(super) fn divide(&self, message: &mut Value) {
        if self.parts {
            content_to_parts(message);
        }
    }

    /// A parsed message as it is appended to the conversation: in the chat template's own manner, with the ids of `written`
    /// for calls whose text carries none.
    pub(super) fn append(
        &self,
        parsed: &Map,
        written: &Value,
        reasoning_field: Option<&str>,
    ) -> Value {
        let mut message = parsed.clone();
        let no_content = message.get("content").is_none();
        if no_content {
            match self.no_content {
                NoContent::Absent => {}
                NoContent::Empty => {
                    message.insert("content", Value::from(""));
                }
                NoContent::Null => {
                    message.insert("content", Value::Null);
                }
            }
        }
        let mut part = None;
        match &self.reasoning {
            Some(Slot::Part { kind, key }) => {
                let fields: Vec<_> = message.keys().cloned().collect();
                let field = fields.iter().find(|field| !KNOWN.contains(&field.as_str()));
                if let Some(Value::String(text)) =
                    field.and_then(|field| message.shift_remove(field))
                {
                    part = Some((kind, key, text));
                }
            }
            Some(Slot::Key(keys)) => {
                if let (Some(field), [key]) = (reasoning_field, keys.as_slice())
                    && field != key
                    && let Some(at) = message.get_index_of(field)
                    && let Some(text) = message.shift_remove(field)
                {
                    message.shift_insert(at, key.as_str(), text);
                }
            }
            None => {}
        }
        let mut message = Value::Object(message);
        give_ids(&mut message, written);
        self.divide(&mut message);
        if let Some((kind, key, text)) = part {
            add_part(&mut message, kind, key, &text);
        }
        message
    }
}

/// The keys of a message that hold no reasoning.
pub(super) const KNOWN: [&str; 3] = ["role", "content", CALLS_KEY];

/// Gives the calls of a message that have no id those of `written`.
fn give_ids(message: &mut Value, written: &Value) {
    let given = written.get(CALLS_KEY).and_then(Value::as_array);
    if let Value::Object(members) = message
        && let Some(Value::Array(calls)) = members.get_mut(CALLS_KEY)
    {
        for (call, given) in calls.iter_mut().zip(given.unwrap_or_default()) {
            if let (Value::Object(call), Some(id)) = (call, given.get("id"))
                && !call.contains_key("id")
            {
                let at = call.get_index_of("function").unwrap_or(call.len());
                call.shift_insert(at, "id", id.clone());
            }
        }
    }
}

impl fmt::Display for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut facts = Vec::new();
        if let Some(slot) = &self.reasoning {
            facts.push(format!("reasoning under {slot}"));
        }
        if let Some(slot) = &self.further {
            facts.push(format!("a further text under {slot}"));
        }
        if self.parts {
            facts.push("content as parts".to_owned());
        }
        if self.arguments == ArgumentsForm::JsonText {
            facts.push("arguments as text".to_owned());
        }
        match self.no_content {
            NoContent::Absent => {}
            NoContent::Empty => facts.push("an empty content beside calls".to_owned()),
            NoContent::Null => facts.push("a null content beside calls, kept".to_owned()),
        }
        if self.is_headless {
            facts.push("an answer beside calls, taken out again".to_owned());
        }
        if self.is_followed {
            facts.push("calls where another message follows".to_owned());
        }
        if self.rules.list_methods {
            facts.push("methods that change lists allowed".to_owned());
        }
        f.write_str(if facts.is_empty() { "as usual" } else { "" })?;
        f.write_str(&facts.join(", "))
    }
}
