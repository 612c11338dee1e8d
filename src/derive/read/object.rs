//! Answers that are one JSON object, with reasoning, content and calls under keys of it.
//!
//! `{"thought": "...", "say": "...", "calls": [...]}` has no markers but JSON's own punctuation, which stands in every argument as well. So
//! its parts are not told by the text around them: the answers are read as JSON, and the values that were given are found under their keys.
//! A key may be missing or `null` where a message has nothing for it. The order of the keys tells which part may follow the calls.

use super::anchor::Anchor;
use super::calls::ToolCalls;
use super::cut::{self, Body};
use crate::derive::choice::Choices;
use crate::derive::compare::json_shape::{self, JsonStep};
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::judge::slot::Slot;
use crate::value::{Map, Value, json, python};

/// The keys of an answer that is one JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct AnswerObject {
    pub(in crate::derive) reasoning: Option<String>,
    pub(in crate::derive) content: String,
    pub(in crate::derive) calls: Option<String>,
    /// The keys that follow the calls in some answer; `None` stands for the end of the object.
    pub(in crate::derive) after_calls: Vec<Option<String>>,
    /// The text behind the object.
    pub(in crate::derive) end: String,
}

impl AnswerObject {
    /// Returns the marker behind the object, without the white space around it; `None` where there is none.
    pub(in crate::derive) fn marker_behind(&self) -> Option<&str> {
        let marker = self.end.trim_matches(python::is_space);
        (!marker.is_empty()).then_some(marker)
    }
}

/// The facts that were found about answers that are one JSON object.
#[derive(Debug)]
pub(in crate::derive) struct Found {
    pub(in crate::derive) object: AnswerObject,
    pub(in crate::derive) calls: Option<ToolCalls>,
    pub(in crate::derive) dialect: Dialect,
    pub(in crate::derive) evidence: Vec<Evidence>,
}

/// The object that a message was rendered as.
struct Rendered {
    full: String,
    members: Map,
    /// The text behind it.
    end: String,
}

/// Reads the answers as JSON objects. `None` where they are none, or have only their content under a key. In that case the text around the
/// content is a marker like any other.
pub(in crate::derive) fn read(
    renderer: &Renderer<'_>,
    context: &Context,
    tooled: &Context,
    slot: Option<&Slot>,
) -> Option<Found> {
    let standard = Dialect {
        reasoning: slot.cloned(),
        ..Dialect::standard()
    };
    let saying = Assistant::saying(probe::CONTENT);
    let plain = rendered(renderer, context, &standard, &saying, probe::CONTENT)?;
    let content = key_of(&plain, probe::CONTENT)?;
    let thinking = saying.clone().thinking(probe::REASONING);
    let thinking = slot
        .and_then(|_| rendered(renderer, context, &standard, &thinking, probe::CONTENT))
        .filter(|thinking| key_of(thinking, probe::CONTENT).as_ref() == Some(&content));
    let reasoning = thinking
        .as_ref()
        .and_then(|thinking| key_of(thinking, probe::REASONING));
    // An answer with nothing but a reasoning must render, too, where there may be one.
    let silent = Assistant::default().thinking(probe::REASONING);
    let bears_silence = |dialect: &Dialect| {
        reasoning.is_none() || renderer.raw(&context.and(dialect.write(&silent))).is_ok()
    };
    let (first, last): (Vec<Dialect>, Vec<Dialect>) = standard.spellings().partition(bears_silence);
    let mut spellings = first.into_iter().chain(last);
    let calls = spellings.find_map(|dialect| calls(renderer, tooled, dialect));
    if reasoning.is_none() && calls.is_none() {
        return None;
    }
    let evidence = |decision, key: &str, right: &Rendered| Evidence {
        decision,
        marker: marker(key),
        reading: "the answer is one JSON object, and has it under this key".to_owned(),
        left: RenderExcerpt::new("content alone", plain.full.as_str()),
        right: RenderExcerpt::new("as rendered", right.full.as_str()),
        places: Vec::new(),
    };
    let mut found = vec![evidence("content open", &content, &plain)];
    if let (Some(key), Some(thinking)) = (&reasoning, &thinking) {
        found.push(evidence("reasoning open", key, thinking));
    }
    let (dialect, calls, after_calls, key) = match calls {
        Some(Calls {
            dialect,
            calls,
            after,
            key,
            one,
        }) => {
            found.push(evidence("tool call open", &key, &one));
            (dialect, Some(calls), after, Some(key))
        }
        None => (standard, None, Vec::new(), None),
    };
    Some(Found {
        object: AnswerObject {
            reasoning,
            content,
            calls: key,
            after_calls,
            end: plain.end,
        },
        calls,
        dialect,
        evidence: found,
    })
}

/// Returns the text before the value of a key.
pub(in crate::derive) fn marker(key: &str) -> String {
    format!("{}: ", json::quote(key))
}

/// The anchor up to the key of a part that the prompt opens: the part is to be read with its key.
pub(in crate::derive) fn anchor_before_keys(anchor: &Anchor, object: &AnswerObject) -> Anchor {
    let keys = [
        object.reasoning.as_ref(),
        Some(&object.content),
        object.calls.as_ref(),
    ];
    let keys: Vec<String> = keys
        .into_iter()
        .flatten()
        .map(|key| json::quote(key))
        .collect();
    let cut = |literal: &String| {
        let at = keys.iter().filter_map(|key| literal.find(key.as_str()));
        literal[..at.min().unwrap_or(literal.len())].to_owned()
    };
    let mut literals: Vec<String> = Vec::new();
    for literal in anchor.literals.iter().map(cut) {
        if !literal.is_empty() && !literals.contains(&literal) {
            literals.push(literal);
        }
    }
    Anchor::of(literals)
}

/// How calls are written in the object.
struct Calls {
    dialect: Dialect,
    calls: ToolCalls,
    key: String,
    after: Vec<Option<String>>,
    one: Rendered,
}

fn calls(renderer: &Renderer<'_>, tooled: &Context, dialect: Dialect) -> Option<Calls> {
    let call = |number| probe::call(number);
    let render = |message: &Assistant| {
        let name = message.calls.first()?.name.clone();
        rendered(renderer, tooled, &dialect, message, &name)
    };
    let one = render(&Assistant::calling([call(0)]))?;
    let (key, value) = one.members.iter().find(|(_, value)| {
        !json_shape::find(value, &Value::from(call(0).name.as_str())).is_empty()
    })?;
    let key = key.to_string();
    let members = |value: &Value| cut::members(value, &call(0), &Choices::default());
    let (body, parallel) = match value {
        Value::Array(items) => {
            let members = items
                .first()
                .filter(|_| items.len() == 1)
                .and_then(members)?;
            let two = render(&Assistant::calling([call(0), call(1)]));
            let two = two.and_then(|two| Some(two.members.get(&key)?.as_array()?.len()));
            (Body::Array(members), two == Some(2))
        }
        value => (Body::Object(members(value)?), false),
    };
    let beside = render(&Assistant::calling([call(0)]).with_content(probe::CONTENT));
    let mut after: Vec<Option<String>> = Vec::new();
    for rendered in std::iter::once(&one).chain(&beside) {
        let mut keys = rendered.members.keys().map(ToString::to_string);
        let next = keys.by_ref().find(|known| *known == key).and(keys.next());
        if !after.contains(&next) {
            after.push(next);
        }
    }
    let calls = ToolCalls {
        body,
        call: (marker(&key), String::new()),
        section: (String::new(), String::new()),
        separator: String::new(),
        turn_end: one.end.clone(),
        parallel,
        no_arguments: None,
        around_id: None,
        id_behind: false,
        named_by_id: false,
        breaks_lines: false,
    };
    Some(Calls {
        dialect,
        calls,
        key,
        after,
        one,
    })
}

/// The outermost object around what the message says, and nothing that others said.
fn rendered(
    renderer: &Renderer<'_>,
    context: &Context,
    dialect: &Dialect,
    message: &Assistant,
    words: &str,
) -> Option<Rendered> {
    let full = renderer.raw(&context.and(dialect.write(message))).ok()?;
    let at = full.rfind(words)?;
    let (span, value) = json_shape::around(&full, at).find(|(span, value)| {
        value.as_object().is_some() && !full[span.clone()].contains(probe::USER)
    })?;
    let members = value.as_object()?.clone();
    let end = full[span.end..].to_owned();
    Some(Rendered { full, members, end })
}

/// The key under which an object has a text.
fn key_of(rendered: &Rendered, text: &str) -> Option<String> {
    let value = Value::Object(rendered.members.clone());
    let places = json_shape::find(&value, &Value::from(text));
    match places.first()?.as_slice() {
        [JsonStep::Key(key)] => Some(key.clone()),
        _ => None,
    }
}
