//! Probes: conversations whose every value can be found again in the render.

use crate::judge::message::write_call;
pub(super) use crate::judge::message::{
    ArgumentsForm, Assistant, CALLS_KEY, Call, content_to_parts, function_name, message, object,
    tool_for, tool_result,
};
use crate::judge::slot::Slot;
use crate::value::{Map, Value};

/// The field for reasoning where the chat template reads none back; the name that every engine takes.
pub(in crate::derive) const REASONING_FIELD: &str = "thinking";

/// The texts that the user says first, and later.
pub(super) const USER: &str = "Quern maple";
pub(super) const USER_AGAIN: &str = "Lattice fern";
/// Two answers that share no first letter with each other or with the reasoning.
pub(super) const CONTENT: &str = "Zephyr wold";
pub(super) const OTHER_CONTENT: &str = "Jumble kite";
pub(super) const REASONING: &str = "Brindle oxbow";
pub(super) const SYSTEM: &str = "Umber marble";
pub(super) const TOOL_RESULT: &str = "Pewter sloop";

/// The texts of all probes.
pub(super) fn texts() -> Vec<String> {
    let said = [
        USER,
        USER_AGAIN,
        CONTENT,
        OTHER_CONTENT,
        REASONING,
        SYSTEM,
        TOOL_RESULT,
    ];
    let mut texts: Vec<String> = said.map(str::to_owned).to_vec();
    texts.extend((0..3).map(call).flat_map(|call| call.texts()));
    texts
}

/// The calls that probes are made of, by number; no two share a value.
pub(super) fn call(number: usize) -> Call {
    const NAMES: [&str; 3] = ["fetch_lumen", "store_quartz", "weigh_cobalt"];
    const KEYS: [[&str; 2]; 3] = [
        ["harbor", "timber"],
        ["meadow", "anvil"],
        ["ferry", "gravel"],
    ];
    const VALUES: [[&str; 2]; 3] = [
        ["opal drift", "violet mast"],
        ["saffron reef", "hazel dune"],
        ["indigo spire", "russet cove"],
    ];
    let number = number % NAMES.len();
    Call {
        name: NAMES[number].to_owned(),
        arguments: KEYS[number]
            .iter()
            .zip(VALUES[number])
            .map(|(key, value)| ((*key).to_owned(), Value::from(value)))
            .collect(),
        id: format!("prb00000{number}"),
    }
}

/// Returns that call with no more than `count` arguments.
pub(super) fn call_with(number: usize, count: usize) -> Call {
    let mut call = call(number);
    call.arguments.truncate(count);
    call
}

/// How a chat template wants an assistant's message spelled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dialect {
    /// The place of the reasoning; `None` where the template reads none, and reasoning is then left out.
    pub(super) reasoning: Option<Slot>,
    pub(super) arguments: ArgumentsForm,
    pub(super) no_content: NoContent,
    /// True if a call's id is its name, for chat templates that write no name beside the id.
    pub(super) named_by_id: bool,
}

/// How a message with calls says that it has no content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoContent {
    Absent,
    Empty,
    /// A null, which the chat template needs and only some renderers keep.
    Null,
}

impl NoContent {
    /// The content of a message that has none; `None` where the key is left out.
    pub(super) fn value(self) -> Option<Value> {
        match self {
            Self::Absent => None,
            Self::Empty => Some(Value::from("")),
            Self::Null => Some(Value::Null),
        }
    }
}

impl Dialect {
    /// The dialect that is tried first.
    pub(super) fn standard() -> Self {
        Self {
            reasoning: None,
            arguments: ArgumentsForm::Object,
            no_content: NoContent::Absent,
            named_by_id: false,
        }
    }

    /// The dialect with calls whose ids are their names.
    pub(super) fn naming_by_id(&self) -> Self {
        Self {
            named_by_id: true,
            ..self.clone()
        }
    }

    /// The spellings that a message with calls may need, those first that ask least of a parsed message.
    pub(super) fn spellings(&self) -> impl Iterator<Item = Self> + '_ {
        [ArgumentsForm::Object, ArgumentsForm::JsonText]
            .into_iter()
            .flat_map(|form| {
                [NoContent::Absent, NoContent::Empty, NoContent::Null]
                    .map(|content| (form, content))
            })
            .map(|(arguments, no_content)| Self {
                arguments,
                no_content,
                ..self.clone()
            })
    }

    /// The spelling of a message with calls, in words.
    pub(super) fn describe_calls(&self) -> &'static str {
        match (self.arguments, self.no_content) {
            (ArgumentsForm::Object, NoContent::Absent) => "arguments as an object, no content",
            (ArgumentsForm::Object, NoContent::Empty) => "arguments as an object, empty content",
            (ArgumentsForm::Object, NoContent::Null) => "arguments as an object, content null",
            (ArgumentsForm::JsonText, NoContent::Null) => "arguments as text, content null",
            (ArgumentsForm::JsonText, NoContent::Absent) => "arguments as text, no content",
            (ArgumentsForm::JsonText, NoContent::Empty) => "arguments as text, empty content",
        }
    }

    /// The message in the chat template's keys, in the order in which a parsed message has them: a content that may not be
    /// absent is among the defaults, which come first.
    pub(super) fn write(&self, message: &Assistant) -> Value {
        let mut written = Map::new();
        written.insert("role".to_owned(), Value::from("assistant"));
        let content = match &message.content {
            Some(content) => Some(Value::from(content.as_str())),
            None => self.no_content.value(),
        };
        written.extend(content.map(|content| ("content".to_owned(), content)));
        if !message.calls.is_empty() {
            let calls = message
                .calls
                .iter()
                .map(|call| match self.named_by_id {
                    true => {
                        let id = call.name.clone();
                        write_call(&Call { id, ..call.clone() }, self.arguments)
                    }
                    false => write_call(call, self.arguments),
                })
                .collect::<Vec<_>>();
            written.insert(CALLS_KEY.to_owned(), calls.into());
        }
        let at = match self.no_content {
            NoContent::Absent => 1,
            NoContent::Empty | NoContent::Null => written.len().min(2),
        };
        let mut written = Value::Object(written);
        if let (Some(slot), Some(reasoning)) = (&self.reasoning, &message.reasoning) {
            slot.put(&mut written, at, reasoning);
        }
        written
    }

    /// The key of the reasoning, in words.
    pub(super) fn reasoning_key(&self) -> Option<String> {
        self.reasoning.as_ref().map(Slot::name)
    }
}
