//! The evidence for each marker of the calls: the renders that it was read from.

use super::argument_values;
use super::arguments::{Around, Pairs};
use super::calls::ToolCalls;
use super::cut::Body;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::value::Value;

/// The evidence for every marker of the calls, of which there are the renders of one and, where the template renders more than
/// one, of two.
pub(in crate::derive) fn collect(
    renderer: &Renderer<'_>,
    context: &Context,
    dialect: &Dialect,
    calls: &ToolCalls,
    (one, two): (String, Option<String>),
) -> Vec<Evidence> {
    let written =
        |message: &Assistant| Some(renderer.turn(context, &dialect.write(message)).ok()?.full);
    let pairs = match &calls.body {
        Body::Pairs(pairs) => Some(pairs),
        _ => None,
    };
    let markers = [
        ("tool calls open", calls.section.0.as_str()),
        ("tool call open", calls.call.0.as_str()),
        ("tool call close", &calls.call.1),
        ("tool call separator", &calls.separator),
        ("tool calls close", &calls.section.1),
    ];
    let mut found = Vec::new();
    if let Some(two) = two {
        let reading =
            "what one call and two calls have in common around a call, and what they do not";
        let pair = (
            RenderExcerpt::new("one call", one),
            RenderExcerpt::new("two calls", two),
        );
        add(&mut found, markers, reading, &pair);
    } else if let Some(none) = written(&Assistant::saying(probe::CONTENT)) {
        let reading = "what a message with a call has around it that others have not";
        let pair = (
            RenderExcerpt::new("no call", none),
            RenderExcerpt::new("one call", one),
        );
        add(&mut found, markers, reading, &pair);
    }
    if let Some(pairs) = pairs {
        of_argument(&written, pairs, &mut found);
    }
    found
}

/// The evidence for the markers of an argument in tags.
fn of_argument(
    written: &impl Fn(&Assistant) -> Option<String>,
    pairs: &Pairs,
    found: &mut Vec<Evidence>,
) {
    let Some((first, others)) = pairs.value.split_first() else {
        return;
    };
    let with = |count| written(&Assistant::calling([probe::call_with(0, count)]));
    let (Some(one), Some(two)) = (with(1), with(2)) else {
        return;
    };
    let reading = "what one argument and two arguments have in common around an argument";
    let markers = [
        ("argument open", pairs.open.as_str()),
        ("argument after the key", &first.between),
        ("argument close", &first.close),
        ("argument separator", &pairs.separator),
    ];
    let one = RenderExcerpt::new("one argument, a text", one);
    let two = RenderExcerpt::new("two arguments", two);
    add(found, markers, reading, &(one.clone(), two));
    for Around { between, close } in others {
        let texts = argument_values::ODD_TEXTS.map(Value::from);
        let mut values = argument_values::of_each_kind().into_iter().chain(texts);
        let shown = values.find_map(|value| {
            let mut call = probe::call_with(0, 1);
            let (key, first) = call.arguments.iter_mut().next()?;
            *first = value;
            let written_so = format!("{key}{between}");
            written(&Assistant::calling([call])).filter(|full| full.contains(&written_so))
        });
        if let Some(shown) = shown {
            let reading = "what stands around a value of another kind";
            let markers = [
                ("argument after the key", between.as_str()),
                ("argument close", close),
            ];
            let pair = (
                one.clone(),
                RenderExcerpt::new("one argument of another kind", shown),
            );
            add(found, markers, reading, &pair);
        }
    }
}

/// Adds the same evidence for several markers, as far as there are such and they are new. They keep their slots until their
/// places in the chat template are known.
fn add<'m>(
    found: &mut Vec<Evidence>,
    markers: impl IntoIterator<Item = (&'static str, &'m str)>,
    reading: &str,
    (left, right): &(RenderExcerpt, RenderExcerpt),
) {
    for (decision, marker) in markers {
        let mut known = found.iter();
        if marker.trim().is_empty()
            || known.any(|known| (known.decision, known.marker.as_str()) == (decision, marker))
        {
            continue;
        }
        found.push(Evidence {
            decision,
            marker: marker.to_owned(),
            reading: reading.to_owned(),
            left: left.clone(),
            right: right.clone(),
            places: Vec::new(),
        });
    }
}
