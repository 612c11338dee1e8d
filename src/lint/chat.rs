//! Renders of the chat template, as far as the rules ask for them.

use std::cell::Cell;

use crate::chat_template::{ChatTemplate, ChatTemplateSource, RenderInput};
use crate::value::{Map, Value, json};

/// The cost that the renders of one lint may have together, in the steps of a render.
const STEPS: u64 = 40_000_000;

/// Texts that no chat template has, by which a message's content is found in a render.
const ASKED: &str = "obverse-asked";
const RETURNED: &str = "obverse-returned";
const KEY: &str = "obverse-value";
const ARGUMENT: &str = "obverse-argument";
const ID: &str = "call00001";

/// The renders of one chat template.
#[derive(Debug)]
pub(super) struct Chat {
    /// The renders that end where the model's turn begins.
    pub(super) prompts: Vec<Prompt>,
    source: ChatTemplateSource,
    /// The cost that further renders may have.
    steps: Cell<u64>,
}

/// A conversation's prompt.
#[derive(Debug)]
pub(super) struct Prompt {
    /// A few words that describe the conversation.
    pub(super) of: &'static str,
    pub(super) text: String,
    /// True if its last message is a tool's.
    after_tool: bool,
}

impl Prompt {
    /// Returns true if a part of the prompt holds what a message says, so that it is not the model's to parse.
    pub(super) fn has_conversation(part: &str) -> bool {
        part.contains(ASKED) || part.contains(RETURNED)
    }
}

/// Where in a render the parts of a call begin, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallOrder {
    pub(super) name: usize,
    pub(super) argument: usize,
    pub(super) id: Option<usize>,
}

/// The answers to whether a message with a certain key shows it in any render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadBack {
    Yes,
    No,
    /// The chat template refuses such messages.
    Unknown,
}

impl Chat {
    /// The renders of the chat templates; `None` when not even a prompt for one user message comes out.
    pub(super) fn of(source: &ChatTemplateSource) -> Option<Self> {
        let mut chat = Self {
            prompts: Vec::new(),
            source: source.clone(),
            steps: Cell::new(STEPS),
        };
        let turn = [user(), assistant(), user()];
        let called = [user(), calling(), tool()];
        let conversations: [(&'static str, &[Value], bool); 4] = [
            ("one user message", &turn[..1], false),
            ("one user message, with tools", &turn[..1], true),
            ("a second user message", &turn, false),
            ("a tool's result", &called, true),
        ];
        for (of, messages, with_tools) in conversations {
            let text = chat.render(messages.to_vec(), with_tools, true);
            let after_tool = messages.len() == called.len() && with_tools;
            // A chat template that knows no tools may leave their messages out.
            if let Some(text) = text
                && (!after_tool || text.contains(RETURNED))
            {
                chat.prompts.push(Prompt {
                    of,
                    text,
                    after_tool,
                });
            }
        }
        let plain = chat.prompts.iter().any(|prompt| !prompt.after_tool);
        plain.then_some(chat)
    }

    /// Tries if the chat template renders what a message of the model has under `key`.
    pub(super) fn reads_back(&self, key: &str) -> ReadBack {
        let is_calls = key == "tool_calls";
        let mut messages = Vec::new();
        // Some chat templates render calls only beside empty content, some take arguments as text only.
        let contents: &[Option<&str>] = if is_calls {
            &[Some("x"), Some(""), None]
        } else {
            &[Some("x")]
        };
        for content in contents {
            for as_text in [false, true] {
                let mut message = Map::new();
                message.insert("role".to_owned(), Value::from("assistant"));
                if let Some(content) = content {
                    message.insert("content".to_owned(), Value::from(*content));
                }
                let value = if is_calls {
                    calls(KEY, "x", as_text)
                } else {
                    Value::from(KEY)
                };
                message.insert(key.to_owned(), value);
                if !is_calls && as_text {
                    message.insert("tool_calls".to_owned(), calls("x", "x", false));
                }
                messages.push(Value::Object(message));
            }
        }
        let conversations = messages.into_iter().flat_map(|message| {
            [
                (vec![user(), message.clone()], false),
                (vec![user(), message.clone()], true),
                (vec![user(), message.clone(), tool()], true),
                (vec![user(), message, user()], false),
            ]
        });
        let mut answer = ReadBack::Unknown;
        for (messages, with_tools) in conversations {
            match self.render(messages, with_tools, false) {
                Some(text) if text.contains(KEY) => return ReadBack::Yes,
                Some(_) => answer = ReadBack::No,
                None => {}
            }
        }
        answer
    }

    /// The order in which the chat template writes the name, an argument and the `id` of a call: their places in a render, those that it
    /// writes.
    pub(super) fn order_of_call(&self) -> Option<CallOrder> {
        let contents: [Option<&str>; 3] = [Some("x"), Some(""), None];
        let messages = contents.into_iter().flat_map(|content| {
            [false, true].map(|as_text| {
                let mut message = Map::new();
                message.insert("role".to_owned(), Value::from("assistant"));
                if let Some(content) = content {
                    message.insert("content".to_owned(), Value::from(content));
                }
                message.insert("tool_calls".to_owned(), calls(KEY, ARGUMENT, as_text));
                Value::Object(message)
            })
        });
        messages.into_iter().find_map(|message| {
            let text = self.render(vec![user(), message], true, false)?;
            Some(CallOrder {
                name: text.find(KEY)?,
                argument: text.find(ARGUMENT)?,
                id: text.find(ID),
            })
        })
    }

    fn render(
        &self,
        messages: Vec<Value>,
        with_tools: bool,
        add_generation_prompt: bool,
    ) -> Option<String> {
        let template: &ChatTemplate = self.source.select(with_tools).ok()?;
        let input = RenderInput {
            messages,
            tools: with_tools.then(|| vec![parse(TOOL)]),
            add_generation_prompt,
            ..RenderInput::default()
        };
        let mut steps = self.steps.get();
        let text = template.render_within(&input, &mut steps);
        self.steps.set(steps);
        text.ok()
    }
}

const TOOL: &str = r#"{"type": "function", "function": {"name": "x", "description": "x", "parameters": {"type": "object", "properties": {"a": {"type": "string", "description": "x"}}, "required": ["a"]}}}"#;

fn parse(text: &str) -> Value {
    // The chat template that is parsed here stands in this file.
    json::parse(text).unwrap_or_default()
}

fn user() -> Value {
    parse(&format!(r#"{{"role": "user", "content": "{ASKED}"}}"#))
}

fn assistant() -> Value {
    parse(r#"{"role": "assistant", "content": "x"}"#)
}

fn calls(name: &str, argument: &str, as_text: bool) -> Value {
    let mut arguments = format!(r#"{{"a": "{argument}"}}"#);
    if as_text {
        arguments = json::quote(&arguments);
    }
    parse(&format!(
        r#"[{{"id": "{ID}", "type": "function", "function": {{"name": "{name}", "arguments": {arguments}}}}}]"#
    ))
}

fn calling() -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), Value::from("assistant"));
    message.insert("content".to_owned(), Value::from(""));
    message.insert("tool_calls".to_owned(), calls("x", "x", false));
    Value::Object(message)
}

fn tool() -> Value {
    parse(&format!(
        r#"{{"role": "tool", "tool_call_id": "{ID}", "name": "x", "content": "{RETURNED}"}}"#
    ))
}
