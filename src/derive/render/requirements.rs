//! Requirements of a chat template, without which it renders nothing: content as a list of parts instead of a text, a system message in front, and variables
//! that it cannot do without: the tools, in another place or in another shape, or one of a few words, such as an effort that has to be `low` or `high`.

use crate::chat_template::{Inputs, RenderInput, Rules};
use crate::derive::evidence::finding::Finding;
use crate::derive::probe;
use crate::value::{Map, Value, json};

/// The requirements of a chat template, beside the inputs that every one is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::derive) struct Requirements {
    /// True if a message's content has to be a list of parts.
    pub(in crate::derive) parts: bool,
    /// The role of the message with which every conversation has to begin.
    pub(in crate::derive) opening: Option<&'static str>,
    /// The rules by which it renders calls.
    pub(in crate::derive) rules: Rules,
    /// The variables without which it does not render.
    pub(super) variables: Vec<(String, Given)>,
}

/// The value that a variable is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    /// The tools as the text of their JSON.
    Text,
    /// The tools as a list.
    List,
    /// A text that the chat template compares something with.
    Word(String),
}

impl Requirements {
    /// Returns the inputs with the requirements met; `None` where that changes nothing.
    pub(in crate::derive) fn meet(&self, inputs: &Inputs<'_>) -> Option<RenderInput> {
        if *self == Self::default() {
            return None;
        }
        let mut input = inputs.to_input();
        input.rules = self.rules;
        if self.parts {
            input.messages.iter_mut().for_each(probe::content_to_parts);
        }
        let variables = self.given(input.tools.as_deref().unwrap_or_default());
        for (name, value) in variables {
            if !input.kwargs.contains_key(&name) {
                input.kwargs.insert(name, value);
            }
        }
        Some(input)
    }

    /// The message with which every conversation has to begin, if any has.
    pub(super) fn opening_message(&self) -> Option<Value> {
        let role = self.opening?;
        Some(probe::message(role, probe::SYSTEM))
    }

    /// The variables without which it does not render, some of them made of the tools.
    pub(in crate::derive) fn given(&self, tools: &[Value]) -> Map {
        // Every render asks, and hardly any chat template has such variables.
        if self.variables.is_empty() {
            return Map::new();
        }
        let tools = Value::from(tools.to_vec());
        let value = |given: &Given| match given {
            Given::Text => Value::from(json::to_string(&tools)),
            Given::List => tools.clone(),
            Given::Word(word) => Value::from(word.as_str()),
        };
        let given = self.variables.iter();
        given
            .map(|(name, given)| (name.clone(), value(given)))
            .collect()
    }

    /// Returns findings about the requirements, for whoever renders with this chat template.
    pub(in crate::derive) fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.parts {
            findings.push(Finding::info(
                "content-as-parts",
                "the chat template reads content as a list of parts only: the text of a parsed message has to be made one before it is appended",
            ));
        }
        if let Some(role) = self.opening {
            findings.push(Finding::info(
                "wants-system-message",
                format!("the chat template renders no conversation that does not begin with a {role} message, so each that was rendered begins with one"),
            ));
        }
        if self.rules.keep_nulls {
            findings.push(Finding::warning(
                "wants-nulls",
                "the chat template renders calls only beside a content that is null, which transformers 5.23 drops before it renders and others keep",
            ));
        }
        if self.rules.list_methods {
            findings.push(Finding::warning(
                "wants-list-methods",
                "the chat template renders calls only where it may change lists, which transformers refuses and others allow",
            ));
        }
        if !self.variables.is_empty() {
            let names: Vec<String> = self
                .variables
                .iter()
                .map(|(name, given)| match given {
                    Given::Text => format!("{name} (the tools, as a text)"),
                    Given::List => format!("{name} (the tools, as a list)"),
                    Given::Word(word) => format!("{name} ({})", json::quote(word)),
                })
                .collect();
            findings.push(Finding::info(
                "wants-variables",
                format!(
                    "the chat template renders nothing without variables of its own, which were given: {}",
                    names.join(", ")
                ),
            ));
        }
        findings
    }
}
