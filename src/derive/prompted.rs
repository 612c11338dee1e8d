//! What do generation prompts and constants say of a reasoning that no render shows? An empty one that an answer goes on
//! from, one that is only opened, and a marker at which the template cuts an answer.

use super::anchor::Anchor;
use super::evidence::{Evidence, Sample};
use super::lab::{Context, Lab};
use super::probe::{self, Assistant, Dialect};
use super::reasoning::{Found, History, Opener, Reasoning, describe};
use super::text;
use crate::value::Map;

/// Constants longer than this are prose, not markers.
const LONGEST_MARKER: usize = 48;

/// The markers of a reasoning that no render shows: those that the prompts have, and where they have but one, another that
/// the template cuts an answer at in `context`.
pub(super) fn dropped(
    lab: &Lab<'_>,
    context: Option<&Context>,
    prefilled: Prefilled,
) -> Option<Found> {
    let Prefilled {
        open,
        close,
        mut evidence,
    } = prefilled;
    let (open, close) = match (open, close) {
        (Some(open), Some(close)) => (open, close),
        (None, None) => return None,
        (open, close) => {
            let (cut, found) = cut_from_content(lab, context?)?;
            evidence.push(found);
            match (open, close) {
                (Some(open), _) => (open, cut),
                // What an answer seemed to go on from after its reasoning was closed opens one, if another marker closes it.
                (None, Some(seeming)) if cut != seeming => (seeming, cut),
                _ => return None,
            }
        }
    };
    Some(Found {
        reasoning: Some(Reasoning {
            opened_by: Opener::Model,
            open,
            close,
            history: History::Dropped,
            spaced: true,
        }),
        key: None,
        evidence,
    })
}

/// What the generation prompt writes into the turn under one setting.
#[derive(Debug)]
pub(super) struct Prompt {
    kwargs: Map,
    tail: String,
    /// Whether an answer without reasoning is rendered as going on from there.
    goes_on: bool,
}

pub(super) fn prompts(
    lab: &Lab<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
) -> Vec<Prompt> {
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let prompt = |kwargs: &Map| {
        let turn = lab.turn(&context.under(kwargs), &answer).ok()?;
        Some(Prompt {
            kwargs: kwargs.clone(),
            tail: anchor.after_last(&turn.prompt)?.to_owned(),
            goes_on: turn.full.starts_with(&turn.prompt),
        })
    };
    settings.iter().filter_map(prompt).collect()
}

/// The prompt opens the reasoning where, under some setting, that is all that it writes into the turn.
pub(super) fn opener(prompts: &[Prompt], open: &str) -> Opener {
    if prompts
        .iter()
        .any(|prompt| text::tokens(&prompt.tail) == [open])
    {
        Opener::Prompt
    } else {
        Opener::Model
    }
}

/// What generation prompts say of reasoning: an empty one, or one that is only opened.
#[derive(Debug, Default)]
pub(super) struct Prefilled {
    open: Option<String>,
    close: Option<String>,
    evidence: Vec<Evidence>,
}

/// A prompt from which an answer without reasoning goes on has an empty reasoning, or closes one that was never opened; any
/// other prompt opens one, and may close it as well. A prompt that repeats the value of a setting says nothing of either.
pub(super) fn from_prompts(prompts: &[Prompt]) -> Prefilled {
    let mut found = Prefilled::default();
    for prompt in prompts {
        let tokens = text::tokens(&prompt.tail);
        if prompt
            .kwargs
            .values()
            .any(|value| tokens.contains(&crate::value::json::to_string(value).as_str()))
        {
            continue;
        }
        let (open, close) = match (tokens.as_slice(), prompt.goes_on) {
            ([open, close], _) => (Some(*open), Some(*close)),
            ([close], true) => (None, Some(*close)),
            ([open], false) => (Some(*open), None),
            _ => continue,
        };
        let is_new =
            (open.is_some() && found.open.is_none()) || (close.is_some() && found.close.is_none());
        found.open = found.open.or(open.map(str::to_owned));
        found.close = found.close.or(close.map(str::to_owned));
        if is_new {
            let sample =
                |prompt: &Prompt| Sample::new(describe(&prompt.kwargs), prompt.tail.as_str());
            let other = prompts.iter().find(|other| other.tail != prompt.tail);
            found.evidence.push(Evidence {
                question: match (open, close) {
                    (Some(_), None) => "reasoning open",
                    (None, Some(_)) => "reasoning close",
                    _ => "reasoning",
                },
                marker: tokens.join(" "),
                reading: "what the generation prompt writes into the turn".to_owned(),
                left: other.map_or_else(|| Sample::new("the turn's beginning", ""), sample),
                right: sample(prompt),
            });
        }
    }
    found
}

/// The marker at which the template cuts an answer and drops what comes before, found by trying its own constants.
pub(super) fn cut_from_content(lab: &Lab<'_>, context: &Context) -> Option<(String, Evidence)> {
    let mut markers: Vec<&str> = Vec::new();
    for marker in lab.constants().flat_map(text::tokens) {
        if marker.len() <= LONGEST_MARKER && !markers.contains(&marker) {
            markers.push(marker);
        }
    }
    let render = |marker: &str| -> Option<String> {
        let content = format!("{}{marker}{}", probe::REASONING, probe::CONTENT);
        let message = Dialect::standard().write(&Assistant::saying(&content));
        lab.answered(context, &message).ok().flatten()
    };
    markers.into_iter().find_map(|marker| {
        let render_with = render(marker)?;
        (!render_with.contains(probe::REASONING) && render_with.contains(probe::CONTENT)).then(
            || {
                let evidence = Evidence {
                    question: "reasoning close",
                    marker: marker.to_owned(),
                    reading: "a constant of the template; what an answer says before it is dropped"
                        .to_owned(),
                    left: Sample::new(
                        "the answer given",
                        format!("{}{marker}{}", probe::REASONING, probe::CONTENT),
                    ),
                    right: Sample::new("as rendered", render_with),
                };
                (marker.to_owned(), evidence)
            },
        )
    })
}
