//! Probes: conversations whose every value can be found again in the render.

use crate::value::{Map, Value, json};

/// What the user says first, and later.
pub(super) const USER: &str = "Quern maple";
pub(super) const USER_AGAIN: &str = "Lattice fern";
/// Two answers that share no first letter with each other or with the reasoning.
pub(super) const CONTENT: &str = "Zephyr wold";
pub(super) const OTHER_CONTENT: &str = "Jumble kite";
pub(super) const REASONING: &str = "Brindle oxbow";
pub(super) const SYSTEM: &str = "Umber marble";
pub(super) const TOOL_RESULT: &str = "Pewter sloop";

/// The message key of tool calls.
pub(super) const CALLS_KEY: &str = "tool_calls";

/// One tool call of a message that is to be rendered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: Map,
    /// Nine letters and digits, the narrowest shape that is known to be asked for.
    pub(super) id: String,
}

/// An assistant's message before it is written in a chat template's own keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Assistant {
    pub(super) reasoning: Option<String>,
    pub(super) content: Option<String>,
    pub(super) calls: Vec<Call>,
}

impl Assistant {
    pub(super) fn saying(content: &str) -> Self {
        Self {
            content: Some(content.to_owned()),
            ..Self::default()
        }
    }

    pub(super) fn calling(calls: impl IntoIterator<Item = Call>) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            ..Self::default()
        }
    }

    #[must_use]
    pub(super) fn thinking(mut self, reasoning: &str) -> Self {
        self.reasoning = Some(reasoning.to_owned());
        self
    }

    #[must_use]
    pub(super) fn with_content(mut self, content: &str) -> Self {
        self.content = Some(content.to_owned());
        self
    }
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

/// The same call with no more than `count` arguments.
pub(super) fn call_with(number: usize, count: usize) -> Call {
    let mut call = call(number);
    call.arguments.truncate(count);
    call
}

/// A tool that `call` calls, as a JSON schema that leaves the types of the arguments open where it can.
pub(super) fn tool_for(call: &Call) -> Value {
    let properties: Map = call
        .arguments
        .iter()
        .map(|(key, value)| {
            let schema = object([
                ("type", Value::from(schema_type(value))),
                ("description", Value::from(format!("The {key}."))),
            ]);
            (key.clone(), schema)
        })
        .collect();
    let parameters = object([
        ("type", Value::from("object")),
        ("properties", Value::Object(properties)),
        (
            "required",
            call.arguments
                .keys()
                .map(|key| Value::from(key.as_str()))
                .collect::<Vec<_>>()
                .into(),
        ),
    ]);
    let function = object([
        ("name", Value::from(call.name.as_str())),
        ("description", Value::from(format!("Tool {}.", call.name))),
        ("parameters", parameters),
    ]);
    object([("type", Value::from("function")), ("function", function)])
}

fn schema_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Int(_) => "integer",
        Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A message of another role.
pub(super) fn message(role: &str, content: &str) -> Value {
    object([
        ("role", Value::from(role)),
        ("content", Value::from(content)),
    ])
}

/// A tool's answer to `call`.
pub(super) fn tool_result(call: &Call, content: &str) -> Value {
    object([
        ("role", Value::from("tool")),
        ("name", Value::from(call.name.as_str())),
        ("tool_call_id", Value::from(call.id.as_str())),
        ("content", Value::from(content)),
    ])
}

/// An object from pairs.
pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// How a chat template wants an assistant's message spelled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dialect {
    /// The key of the reasoning; `None` where the template reads none, and reasoning is then left out.
    pub(super) reasoning_key: Option<String>,
    pub(super) arguments: ArgumentsForm,
    pub(super) no_content: NoContent,
}

/// How the arguments of a call are handed to the chat template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentsForm {
    /// As an object.
    Object,
    /// As the text of a JSON object.
    JsonText,
}

/// How a message with calls says that it has no content. A content of `null` is no third way: transformers drops such keys
/// before it renders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoContent {
    Absent,
    Empty,
}

impl NoContent {
    /// The content of a message that has none; `None` where the key is left out.
    pub(super) fn value(self) -> Option<Value> {
        match self {
            Self::Absent => None,
            Self::Empty => Some(Value::from("")),
        }
    }
}

impl Dialect {
    /// The dialect that is tried first.
    pub(super) fn standard() -> Self {
        Self {
            reasoning_key: None,
            arguments: ArgumentsForm::Object,
            no_content: NoContent::Absent,
        }
    }

    /// The ways in which a message with calls may have to be spelled, those first that ask least of a parsed message.
    pub(super) fn spellings(&self) -> impl Iterator<Item = Self> + '_ {
        [ArgumentsForm::Object, ArgumentsForm::JsonText]
            .into_iter()
            .flat_map(|form| [NoContent::Absent, NoContent::Empty].map(|content| (form, content)))
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
        if let (Some(key), Some(reasoning)) = (&self.reasoning_key, &message.reasoning) {
            let at = match self.no_content {
                NoContent::Absent => 1,
                NoContent::Empty => written.len(),
            };
            written.shift_insert(at, key.as_str(), Value::from(reasoning.as_str()));
        }
        if !message.calls.is_empty() {
            let calls = message
                .calls
                .iter()
                .map(|call| self.write_call(call))
                .collect::<Vec<_>>();
            written.insert(CALLS_KEY.to_owned(), calls.into());
        }
        Value::Object(written)
    }

    fn write_call(&self, call: &Call) -> Value {
        let function = object([
            ("name", Value::from(call.name.as_str())),
            ("arguments", self.write_arguments(&call.arguments)),
        ]);
        object([
            ("type", Value::from("function")),
            ("id", Value::from(call.id.as_str())),
            ("function", function),
        ])
    }

    /// The arguments as the template wants them, which is also how a parsed message must have them.
    pub(super) fn write_arguments(&self, arguments: &Map) -> Value {
        let object = Value::Object(arguments.clone());
        match self.arguments {
            ArgumentsForm::Object => object,
            ArgumentsForm::JsonText => Value::from(json::to_string(&object)),
        }
    }
}
