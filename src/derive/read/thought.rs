//! The form of reasoning: its markers, who writes them, and how long the chat template keeps it.

use std::fmt;

use serde::Serialize;

use super::anchor::Anchor;
use crate::derive::evidence::sample::Evidence;
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::judge::slot::Slot;
use crate::value::Map;

/// The markers of the reasoning and who writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct Reasoning {
    pub(in crate::derive) open: String,
    pub(in crate::derive) close: String,
    pub(in crate::derive) opened_by: Opener,
    /// Where the prompt opens it, in words such as `under think=true`, if it does not do so by default.
    pub(in crate::derive) opened_where: Option<String>,
    /// True if renders show it; otherwise prompts and cuts alone tell of it, and no inversion can.
    pub(in crate::derive) is_rendered: bool,
    /// The place in messages that it is given in, where renders show it without what opens it, which only the prompt has.
    pub(in crate::derive) unopened: Option<Slot>,
    /// The white space before the closing marker in renders.
    pub(in crate::derive) space: String,
    /// True if white space follows the closing marker in renders.
    pub(in crate::derive) spaced: bool,
    /// How the chat template parts a reasoning, to put markers around each part, where it does.
    pub(in crate::derive) parts: Option<Parts>,
    /// True if no render closes it before a call that follows it at once, although something closes it before an answer.
    pub(in crate::derive) is_open_before_calls: bool,
    /// The words in the place of a reasoning where a message has none, with the same markers around them: `<think>Skipped.</think>`.
    pub(in crate::derive) filler: Option<String>,
}

/// The parts of a reasoning, each between markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) struct Parts {
    /// The text between two of them in the message.
    pub(in crate::derive) at: &'static str,
    /// True if no white space stands between a part and its markers: then the white space at its ends is its own.
    pub(in crate::derive) is_bare: bool,
}

/// The writer of the opening marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Opener {
    /// The model.
    Model,
    /// The generation prompt, at least under some setting.
    Prompt,
}

impl fmt::Display for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            Self::Prompt => "prompt",
        })
    }
}

/// The result of the search for the reasoning.
#[derive(Debug, Default)]
pub(in crate::derive) struct Found {
    pub(in crate::derive) reasoning: Option<Reasoning>,
    pub(in crate::derive) slot: Option<Slot>,
    pub(in crate::derive) evidence: Vec<Evidence>,
}

impl Reasoning {
    /// Sees whether it is closed before a call that follows it at once.
    pub(super) fn read_before_calls(
        &mut self,
        renderer: &Renderer<'_>,
        context: &Context,
        anchor: &Anchor,
        dialect: &Dialect,
    ) {
        let calling = Assistant::calling([probe::call(0)]);
        let name = calling.calls[0].name.clone();
        // The text before the call's name, from the beginning of the turn or from the reasoning on.
        let lead = |message: &Assistant, from: &str| {
            let turn = renderer.turn(context, &dialect.write(message)).ok()?;
            let text = anchor.turn(&turn.full, &name)?;
            let (before, _) = text.split_once(name.as_str())?;
            Some(before[before.find(from)? + from.len()..].trim().to_owned())
        };
        let thinking = calling.clone().thinking(probe::REASONING);
        let leads = lead(&calling, "").zip(lead(&thinking, probe::REASONING));
        let close = self.close.trim();
        self.is_open_before_calls = !close.is_empty()
            && leads.is_some_and(|(without, with)| {
                !with.is_empty() && !with.contains(close) && without.ends_with(&with)
            });
    }

    /// Returns the words that stand between the markers of a reasoning at the beginning of what a message without one has before its first part, markers and all.
    pub(super) fn filler_in(&self, lead: &str) -> Option<String> {
        let lead = lead.trim_start();
        let (open, close) = (self.open.as_str(), self.close.as_str());
        if close.is_empty() {
            return None;
        }
        let (words, _) = lead.strip_prefix(open)?.split_once(close)?;
        let end = open.len() + words.len() + close.len();
        (!words.trim().is_empty()).then(|| lead[..end].to_owned())
    }

    /// Returns the literal without the reasoning's own markers, which around nothing are an empty reasoning.
    pub(in crate::derive) fn strip(&self, literal: &str) -> String {
        if self.open.is_empty() {
            let rest = literal.split_once(&self.close);
            return rest
                .map_or(literal, |(_, rest)| rest.trim_start())
                .to_owned();
        }
        let empty = [literal.find(&self.open), literal.find(&self.close)];
        match empty {
            [Some(open), Some(close)] if open < close => {
                let rest = literal[close + self.close.len()..].trim_start();
                format!("{}{rest}", &literal[..open])
            }
            _ => literal.to_owned(),
        }
    }
}

/// A setting in words.
pub(in crate::derive) fn describe(kwargs: &Map) -> String {
    if kwargs.is_empty() {
        return "no kwargs".to_owned();
    }
    kwargs
        .iter()
        .map(|(name, value)| format!("{name}={}", crate::value::json::to_string(value)))
        .collect::<Vec<_>>()
        .join(", ")
}
