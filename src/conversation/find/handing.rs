//! In which form messages have to be handed to a chat template, found by trying.

use std::sync::Arc;

use super::pieces::{self, What};
use super::talks::{self, Dress};
use crate::chat_template::RenderError;
use crate::conversation::format::{Handing, Holds};
use crate::conversation::render::{CALLS, Renderer};
use crate::parser::parse_response;
use crate::response_template::ResponseTemplate;
use crate::value::Value;

/// The form in which a question is shown, and calls come back, or at least are shown.
pub(super) fn choose(
    renderer: Renderer<'_>,
    template: Option<Arc<ResponseTemplate>>,
    reasoning: &str,
) -> Result<Handing, RenderError> {
    let mut refused = None;
    let parts = [false, true].into_iter().find(|parts| {
        let handing = Handing {
            parts: *parts,
            ..Handing::default()
        };
        // Some chat templates ask for tools.
        [0, 1].into_iter().any(|tools| {
            let talk = talks::talk("u", tools, Dress::Plain, reasoning);
            match (Renderer {
                handing,
                ..renderer
            })
            .text(&talk)
            {
                Ok(text) => text.contains(&talks::words(0)),
                Err(error) => {
                    refused.get_or_insert(error);
                    false
                }
            }
        })
    });
    let parts = match (parts, refused) {
        (Some(parts), _) => parts,
        (None, Some(error)) => return Err(error),
        (None, None) => false,
    };
    let mut best: Option<(usize, Handing)> = None;
    for list_methods in [false, true] {
        for (empty_content, null_content) in [(false, false), (true, false), (false, true)] {
            for arguments_as_text in [false, true] {
                let handing = Handing {
                    arguments_as_text,
                    empty_content,
                    null_content,
                    parts,
                    list_methods,
                };
                let renderer = Renderer {
                    handing,
                    ..renderer
                };
                let worth = worth(&renderer, template.as_ref(), reasoning);
                if worth > best.map_or(0, |(worth, _)| worth) {
                    best = Some((worth, handing));
                }
            }
        }
    }
    Ok(best.map_or(
        Handing {
            parts,
            ..Handing::default()
        },
        |(_, handing)| handing,
    ))
}

/// How many conversations with calls are shown, counting those from which the calls come back many times.
fn worth(
    renderer: &Renderer<'_>,
    template: Option<&Arc<ResponseTemplate>>,
    reasoning: &str,
) -> usize {
    let mut worth = 0;
    for order in ["uc", "ucta", "uk", "uktta"] {
        for tools in [0, 1] {
            let talk = talks::talk(order, tools, Dress::Plain, reasoning);
            let Ok(traced) = renderer.traced(&talk) else {
                continue;
            };
            let pieces = pieces::pieces(&traced, &talk, renderer);
            let turn = pieces.iter().find(|piece| match &piece.what {
                What::InputText { spot, message, .. } => {
                    spot.holds == Holds::Turn && *message == Some(1)
                }
                _ => false,
            });
            let Some(turn) = turn else { continue };
            let written = format!("{:?}", talk.messages[1].get(CALLS));
            let words = (0..4).map(talks::words);
            let shown = words.filter(|words| {
                written.contains(words.as_str())
                    && traced.text[turn.range.clone()].contains(words.as_str())
            });
            if shown.count() == 0 {
                continue;
            }
            worth += 1;
            let next = pieces
                .iter()
                .find(|piece| piece.range.start >= turn.range.end);
            if next.is_some_and(|next| matches!(next.what, What::InputText { .. })) {
                continue;
            }
            let (prefix, response) = traced.text.split_at(turn.range.start);
            let parsed = template.and_then(|template| {
                parse_response(response, Arc::clone(template), prefix, &talk.tools).ok()
            });
            let arguments = |calls: Option<&Value>| -> Vec<Value> {
                let calls = calls.and_then(Value::as_array).unwrap_or_default();
                let arguments = calls
                    .iter()
                    .filter_map(|call| call.get("function")?.get("arguments").cloned());
                arguments.collect()
            };
            let meant = arguments(talk.messages[1].get(CALLS));
            let found = parsed.as_ref().and_then(|parsed| parsed.get(CALLS));
            if arguments(found) == meant {
                worth += 10;
            }
        }
    }
    worth
}
