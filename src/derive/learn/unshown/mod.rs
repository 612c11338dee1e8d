//! Parts of a message that no render shows: the chat template leaves them out, and the model writes them all the same.
//!
//! A chat template that knows no `tool_calls` renders a message with calls as if it had none, and so nothing can be derived for them.
//! Recorded responses with the messages that they must parse to show it: they are renders in all but name. Each is taken apart by its
//! message ([`seen`]): where the names, the keys and the values stand. The text around them in most of the responses ([`agreed`]) tells how
//! the model writes calls. That is written down as a chat template ([`rewrite`]), which puts the calls into the content of a message and
//! then goes on as the given one does, and from that one is derived as from any other. Nothing here makes delimiters.
//!
//! The text around the parts must be the same in most of the responses, or it is not believed; one response with two calls tells the text
//! between calls, one call with two arguments the text between these. The response template that comes of it is taken only if it reads more
//! of the responses than before, none worse, and loses nothing of what the given chat template proves.

mod agreed;
mod parts;
mod rewrite;
mod seen;

pub(super) use seen::place_of;

use super::calls;
use super::recorded::Recorded;
use crate::chat_template::ChatTemplateSource;
use crate::derive::probe::CALLS_KEY;
use crate::response_template::Document;
use crate::value::Value;

/// A chat template that shows what the given one leaves out.
pub(in crate::derive) struct Unshown {
    /// The chat template.
    pub(in crate::derive) source: ChatTemplateSource,
    /// The keys of messages that it shows.
    pub(in crate::derive) keys: Vec<String>,
    /// The names of the responses that tell how they are written.
    pub(in crate::derive) taught_by: Vec<String>,
}

/// The chat template that the responses imply where their messages have something for which the document has no field; `None` where they have
/// nothing of the kind, or do not tell how it is written. `opened` is the text of the prompt behind the start anchor: it opens what the
/// responses begin with.
pub(in crate::derive) fn unshown(
    source: &ChatTemplateSource,
    recorded: &[Recorded],
    document: &Document,
    opened: &str,
) -> Option<Unshown> {
    let keys = lacking(recorded, document);
    let close = document.fields.get(super::CONTENT_KEY)?.close.as_ref();
    let calls = document.fields.get(CALLS_KEY);
    let open = calls.and_then(|field| field.open.as_ref());
    let known = seen::Known {
        close: close.map(super::split::source),
        opens_calls: open.map(super::split::source),
    };
    let parts = agreed::parts(recorded, &keys, &known, opened)?;
    let prelude = rewrite::prelude(&parts);
    let mut keys: Vec<String> = parts.texts.iter().map(|text| text.key.clone()).collect();
    keys.extend(parts.calls.is_some().then(|| CALLS_KEY.to_owned()));
    Some(Unshown {
        source: source.preceded_by(&prelude).ok()?,
        keys,
        taught_by: parts.taught_by,
    })
}

/// The keys of expected messages for which there is no field.
fn lacking(recorded: &[Recorded], document: &Document) -> Vec<String> {
    let is_known = |key: &str| key == "role" || key == super::CONTENT_KEY;
    let is_text = |key: &str| !is_known(key) && key != CALLS_KEY;
    let has_text = document.fields.keys().any(|name| is_text(name));
    let mut keys: Vec<String> = Vec::new();
    for message in recorded
        .iter()
        .filter_map(|one| one.expected.as_ref()?.as_object())
    {
        for (key, value) in message {
            // A reasoning may have another key than its field.
            let is_there = match key.as_str() {
                CALLS_KEY => document.fields.contains_key(CALLS_KEY),
                key => is_known(key) || has_text || value.as_str().is_none(),
            };
            if !is_there && value.is_truthy() && !keys.iter().any(|known| known == key.as_str()) {
                keys.push(key.to_string());
            }
        }
    }
    keys
}

/// The arguments of a call as data.
fn arguments(call: &Value) -> Option<crate::value::Map> {
    calls::plain_call(call, false)
        .get("arguments")?
        .as_object()
        .cloned()
}
