//! What does the chat template want before it renders anything? Content as a list of parts instead of a text, and variables
//! that it cannot do without: the tools, in another place or in another shape.

use super::finding::Finding;
use super::lab::Lab;
use super::probe::{self, Assistant, Dialect};
use crate::chat_template::{Inputs, RenderError, RenderInput, Rules};
use crate::value::{Map, Value, json};

/// How many settings of variables are tried.
const MAX_TRIES: usize = 256;

/// What a chat template wants, beside what every one is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Wants {
    /// Whether a message's content has to be a list of parts.
    pub(super) parts: bool,
    /// The rules by which it renders calls.
    pub(super) rules: Rules,
    /// The variables without which it does not render.
    variables: Vec<(String, Shape)>,
}

/// The shape in which the tools are given as a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    List,
}

impl Wants {
    /// Finds out what `lab`'s template wants, which is none of it where it renders without.
    pub(super) fn of(lab: &Lab<'_>) -> Self {
        let mut wants = Self {
            parts: false,
            rules: Rules::default(),
            variables: variables(lab),
        };
        wants.parts = !wants.shows_texts(lab) && {
            wants.parts = true;
            wants.shows_texts(lab)
        };
        wants
    }

    /// Whether a conversation shows what its messages say.
    fn shows_texts(&self, lab: &Lab<'_>) -> bool {
        let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
        let context = lab.user(false).and(answer);
        lab.render_wanting(self, &context, false).is_ok_and(|text| {
            [probe::USER, probe::CONTENT]
                .iter()
                .all(|said| text.contains(said))
        })
    }

    /// The input with what is wanted; `None` where that changes nothing.
    pub(super) fn meet(&self, inputs: &Inputs<'_>) -> Option<RenderInput> {
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

    /// The variables without which it does not render, made of the tools.
    pub(super) fn given(&self, tools: &[Value]) -> Map {
        let tools = Value::from(tools.to_vec());
        let value = |shape: &Shape| match shape {
            Shape::Text => Value::from(json::to_string(&tools)),
            Shape::List => tools.clone(),
        };
        let given = self.variables.iter();
        given
            .map(|(name, shape)| (name.clone(), value(shape)))
            .collect()
    }

    /// What whoever renders with this chat template has to know.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.parts {
            findings.push(Finding::info(
                "content-as-parts",
                "the chat template reads content as a list of parts only: the text of a parsed message has to be made one before it is appended",
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
                .map(|(name, shape)| match shape {
                    Shape::Text => format!("{name} (a text)"),
                    Shape::List => format!("{name} (a list)"),
                })
                .collect();
            findings.push(Finding::info(
                "wants-variables",
                format!(
                    "the chat template renders nothing without {}; each was given the tools",
                    names.join(", ")
                ),
            ));
        }
        findings
    }
}

/// The variables that a single user message cannot be rendered without.
fn variables(lab: &Lab<'_>) -> Vec<(String, Shape)> {
    let wants = Wants::default();
    let Err(stopped) = lab.render_wanting(&wants, &lab.user(false), true) else {
        return Vec::new();
    };
    let names: Vec<String> = lab.kwargs().into_iter().map(|(name, _)| name).collect();
    further(lab, &names, wants, &stopped, &mut { MAX_TRIES })
        .unwrap_or_default()
        .variables
}

/// Sets one variable after another that takes the render further than where it `stopped`, until it does not stop.
fn further(
    lab: &Lab<'_>,
    names: &[String],
    wants: Wants,
    stopped: &RenderError,
    tries: &mut usize,
) -> Option<Wants> {
    let known = |name: &String| wants.variables.iter().any(|(known, _)| known == name);
    let context = lab.user(false);
    let mut better = Vec::new();
    for name in names.iter().filter(|name| !known(name)) {
        for shape in [Shape::Text, Shape::List] {
            *tries = tries.checked_sub(1)?;
            let mut more = wants.clone();
            more.variables.push((name.clone(), shape));
            match lab.render_wanting(&more, &context, true) {
                Ok(_) => return Some(more),
                Err(error) if error != *stopped => better.push((more, error)),
                Err(_) => {}
            }
        }
    }
    better
        .into_iter()
        .find_map(|(more, error)| further(lab, names, more, &error, tries))
}
