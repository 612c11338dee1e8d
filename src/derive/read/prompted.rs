//! Generation prompts and constants as evidence of a reasoning that no render shows. A prompt may have an empty reasoning from which an
//! answer goes on, or one that is only opened; and the template may cut an answer at a constant, such as the end of a reasoning.

use super::anchor::Anchor;
use super::partner;
use super::thought::{Found, Opener, Reasoning, describe};
use crate::derive::compare::pieces::Pieces;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::cutting::{Cut, Cutting};
use crate::derive::render::renderer::Renderer;
use crate::value::{Map, Value, json};

/// Returns the candidates for the markers of a reasoning that no render shows, the likeliest first. If a prompt has both markers, these are
/// taken. If it has only one, it is combined with each marker at which the template cuts an answer; and if there is none, one that a prompt
/// opens is closed by one of the tokens with the same word, or as other markers in the constants are. Last come the pairs of markers between
/// which the template cuts something out of an answer. Where a render shows the markers, `cutting` is `None`, and only the prompts count.
pub(in crate::derive) fn dropped(
    prefilled: &[Prefilled],
    cutting: Option<&Cutting>,
    [constants, tokens]: [&[&str]; 2],
) -> Vec<(String, &'static str, Found)> {
    let mut found = Vec::new();
    let mut add = |name: String, because, markers: (&str, &str), evidence: Vec<Evidence>| {
        found.push((name, because, not_shown(markers, evidence)));
    };
    for (rank, prompted) in prefilled.iter().enumerate() {
        let name = match rank {
            0 => "as prompted".to_owned(),
            _ => format!("as another prompt has it, {rank}"),
        };
        let of_prompt = prompted.evidence.clone();
        let open = match (&prompted.open, &prompted.close) {
            (Some(open), Some(close)) => {
                let because = "the generation prompt has both";
                add(name, because, (open, close), of_prompt);
                continue;
            }
            (Some(open), None) => open,
            // An answer seems to go on from this text as if it closed a reasoning. If another marker closes one, this text opens it.
            (None, Some(seeming)) => seeming,
            (None, None) => continue,
        };
        let mut closing = cutting.map_or_else(Vec::new, |cutting| cutting.closing_for(open));
        let of_another = |cut: &&Cut| {
            let mut others = prefilled.iter();
            others.any(|other| other.open.is_some() && other.close.as_ref() == Some(&cut.marker))
        };
        closing.sort_by_key(of_another);
        if closing.is_empty() && cutting.is_some() && prompted.open.is_some() {
            if let Some(close) = partner::in_tokens(open, tokens) {
                let because = "the generation prompt opens it, and another token of the tokenizer has the same word";
                let name = format!("{name}, closed by a token");
                add(name, because, (open, close), of_prompt);
                continue;
            }
            let alike = partner::closing(open, constants.iter().copied());
            if let Some(close) = alike {
                let because = "the generation prompt opens it, and other markers of the chat template are closed so";
                let name = format!("{name}, closed as others are");
                add(name, because, (open, &close), of_prompt);
                continue;
            }
        }
        for (rank, cut) in closing.into_iter().enumerate() {
            let name = match rank {
                0 => name.clone(),
                _ => format!("{name}, closed at {}", cut.marker),
            };
            let because = match rank {
                0 => {
                    "the generation prompt opens it, and the template cuts an answer where it ends"
                }
                _ => "the template cuts an answer there as well",
            };
            let mut evidence = of_prompt.clone();
            evidence.push(cut.evidence());
            add(name, because, (open, &cut.marker), evidence);
        }
    }
    let around = cutting.into_iter().flat_map(|cutting| &cutting.around);
    for (rank, (open, cut)) in around.enumerate() {
        let name = match rank {
            0 => "as cut out".to_owned(),
            _ => format!("as cut out, {rank}"),
        };
        let because = "the template cuts what stands between them out of an answer";
        add(name, because, (open, &cut.marker), vec![cut.evidence()]);
    }
    found
}

/// Returns the candidates for a reasoning that no prompt opens, where the chat template drops what an answer says before a constant, and nothing else of the
/// reasoning stands in it. What opens it is one of these tokens with the same word, or else told by the signs of what closes it.
pub(in crate::derive) fn dropped_unopened(
    cutting: &Cutting,
    tokens: &[&str],
) -> Vec<(String, &'static str, Found)> {
    let cuts = cutting.closing.iter().filter_map(|cut| {
        let (open, because) = match partner::in_tokens(&cut.marker, tokens) {
            Some(token) => (
                token.to_owned(),
                "the chat template drops what an answer says before its end, and another token of the tokenizer has the same word",
            ),
            None => (
                partner::opening(&cut.marker)?,
                "the chat template drops what an answer says before its end, which has more signs before its word than behind it",
            ),
        };
        Some((because, not_shown((&open, &cut.marker), vec![cut.evidence()])))
    });
    let found = cuts.enumerate().map(|(rank, (because, found))| {
        let name = match rank {
            0 => "as answers are cut".to_owned(),
            _ => format!("as answers are cut, {rank}"),
        };
        (name, because, found)
    });
    found.collect()
}

/// A reasoning between these markers that no render shows.
fn not_shown((open, close): (&str, &str), evidence: Vec<Evidence>) -> Found {
    Found {
        reasoning: Some(Reasoning {
            opened_by: Opener::Model,
            opened_where: None,
            open: open.to_owned(),
            close: close.to_owned(),
            is_rendered: false,
            unopened: None,
            space: String::new(),
            spaced: true,
            parts: None,
            is_open_before_calls: false,
            filler: None,
        }),
        slot: None,
        evidence,
    }
}

/// Returns the candidates for a reasoning that a prompt opens and that is rendered without what opens it, as `unopened` is: the model goes on behind
/// the prompt's text, and ends the reasoning as renders do.
pub(in crate::derive) fn closed_as_rendered(
    prefilled: &[Prefilled],
    unopened: Option<&Found>,
) -> Vec<(String, &'static str, Found)> {
    let rendered = unopened.and_then(|found| Some((found.reasoning.as_ref()?, found)));
    let Some((rendered, unopened)) = rendered else {
        return Vec::new();
    };
    let opened = prefilled.iter().filter(|prompted| prompted.close.is_none());
    let opened = opened.filter_map(|prompted| Some((prompted.open.clone()?, prompted)));
    let found = opened.map(|(open, prompted)| Found {
        reasoning: Some(Reasoning {
            opened_by: Opener::Prompt,
            opened_where: None,
            open,
            close: rendered.close.clone(),
            is_rendered: false,
            unopened: unopened.slot.clone(),
            space: String::new(),
            spaced: true,
            parts: None,
            is_open_before_calls: false,
            filler: None,
        }),
        slot: None,
        evidence: [prompted.evidence.as_slice(), &unopened.evidence].concat(),
    });
    let because = "the generation prompt opens it, and a rendered reasoning ends with its end";
    found
        .map(|found| ("as the prompt opens it".to_owned(), because, found))
        .take(1)
        .collect()
}

/// The text that the generation prompt writes into the turn under one setting, or behind one conversation.
#[derive(Debug)]
pub(in crate::derive) struct Prompt {
    kwargs: Map,
    /// The conversation in words, where it is another than that of the settings.
    behind: Option<String>,
    tail: String,
    /// True if an answer without reasoning is rendered as this prompt followed by more text.
    goes_on: bool,
}

impl Prompt {
    /// The setting or the conversation in words.
    fn described(&self) -> String {
        let behind = self.behind.clone();
        behind.unwrap_or_else(|| describe(&self.kwargs))
    }
}

/// Returns the prompt behind the conversation under each of the settings.
pub(in crate::derive) fn prompts(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
) -> Vec<Prompt> {
    let prompt = |kwargs: &Map| prompt_behind(renderer, &context.under(kwargs), anchor);
    settings.iter().filter_map(prompt).collect()
}

/// How many of the texts that the chat template compares others with, or searches them for, are put into a message.
const MAX_ASKED: usize = 16;

/// Returns the prompts behind messages that say what the chat template compares texts with or searches them for, as far as they write something into the turn: a
/// system message `/no_think` may have the prompt close a reasoning that no setting shows.
pub(in crate::derive) fn prompts_asked(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
) -> Vec<Prompt> {
    let conversations = renderer.asked().take(MAX_ASKED).flat_map(|text| {
        let mut system = context.clone();
        system.history.insert(0, probe::message("system", text));
        let mut user = context.clone();
        user.history.pop();
        let said = format!("{} {text}", probe::USER);
        let user = user.and(probe::message("user", &said));
        let behind = |role: &str| format!("behind {role} with {}", json::quote(text));
        [
            (behind("a system message"), system),
            (behind("a message of the user"), user),
        ]
    });
    let writes_more = |(_, context): &(String, Context)| {
        let prompt = renderer.prompt(context).ok();
        let tail = prompt
            .as_deref()
            .and_then(|prompt| anchor.after_last(prompt));
        tail.is_some_and(|tail| !tail.trim().is_empty())
    };
    let conversations = conversations.filter(writes_more);
    let prompts = conversations.filter_map(|(behind, context)| {
        let prompt = prompt_behind(renderer, &context, anchor)?;
        Some(Prompt {
            behind: Some(behind),
            ..prompt
        })
    });
    prompts.collect()
}

/// The prompt behind a conversation, with what it writes behind the anchor.
fn prompt_behind(renderer: &Renderer<'_>, context: &Context, anchor: &Anchor) -> Option<Prompt> {
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let turn = renderer.turn(context, &answer).ok()?;
    Some(Prompt {
        kwargs: context.kwargs.clone(),
        behind: None,
        tail: anchor.after_last(&turn.prompt)?.to_owned(),
        goes_on: turn.full.starts_with(&turn.prompt),
    })
}

/// Notes who opens the reasoning: the prompt, if under some setting it writes the opening marker into the turn and nothing else; otherwise the model.
pub(in crate::derive) fn note_opener(
    pieces: &Pieces,
    prompts: &[Prompt],
    reasoning: &mut Reasoning,
) {
    let open = pieces.tokens(&reasoning.open);
    let mut opening = prompts
        .iter()
        .filter(|prompt| pieces.tokens(&prompt.tail) == open);
    let first = opening.next();
    let is_default = |prompt: &Prompt| prompt.kwargs.is_empty() && prompt.behind.is_none();
    let always = first.into_iter().chain(opening).any(is_default);
    reasoning.opened_by = match first {
        Some(_) => Opener::Prompt,
        None => Opener::Model,
    };
    reasoning.opened_where = first
        .filter(|_| !always)
        .map(|prompt| match &prompt.behind {
            Some(behind) => behind.clone(),
            None => format!("under {}", describe(&prompt.kwargs)),
        });
}

/// The reasoning that generation prompts show: an empty one, or one that is only opened.
#[derive(Debug, Default)]
pub(in crate::derive) struct Prefilled {
    open: Option<String>,
    close: Option<String>,
    evidence: Vec<Evidence>,
}

/// Returns the reasoning that all prompts together show, each marker by the first that has it, and then the ones that single prompts show
/// otherwise.
///
/// A prompt from which an answer without reasoning goes on has an empty reasoning, or closes one that was never opened; any
/// other prompt opens one, and may close it as well. A prompt that repeats the value of a setting says nothing of either.
pub(in crate::derive) fn from_prompts(pieces: &Pieces, prompts: &[Prompt]) -> Vec<Prefilled> {
    let mut all = Prefilled::default();
    let mut single = Vec::new();
    for prompt in prompts {
        let tokens = markers(pieces, &prompt.tail, prompts);
        if prompt
            .kwargs
            .values()
            .any(|value| says(&prompt.tail, value))
        {
            continue;
        }
        let (open, close) = match (tokens.as_slice(), prompt.goes_on) {
            ([open, close], _) => (Some(*open), Some(*close)),
            ([close], true) => (None, Some(*close)),
            ([open], false) => (Some(*open), None),
            _ => continue,
        };
        let [open, close] = [open, close].map(|marker| marker.map(str::to_owned));
        let sample = |prompt: &Prompt| RenderExcerpt::new(prompt.described(), prompt.tail.as_str());
        let other = prompts.iter().find(|other| other.tail != prompt.tail);
        let evidence = Evidence {
            decision: match (&open, &close) {
                (Some(_), None) => "reasoning open",
                (None, Some(_)) => "reasoning close",
                _ => "reasoning",
            },
            marker: tokens.join(" "),
            reading: "what the generation prompt writes into the turn".to_owned(),
            left: other.map_or_else(|| RenderExcerpt::new("the turn's beginning", ""), sample),
            right: sample(prompt),
            places: Vec::new(),
        };
        let is_of_all = all.open.is_none() || open.is_none() || open == all.open;
        let is_new = (all.open.is_none() && open.is_some())
            || (all.close.is_none() && close.is_some() && is_of_all);
        if is_new {
            all.evidence.push(evidence.clone());
        }
        all.open = all.open.or_else(|| open.clone());
        // What closes another reasoning does not close this one.
        if is_of_all {
            all.close = all.close.or_else(|| close.clone());
        }
        single.push(Prefilled {
            open,
            close,
            evidence: vec![evidence],
        });
    }
    let says_more = |one: &Prefilled| {
        let differs =
            |own: &Option<String>, of_all: &Option<String>| own.is_some() && own != of_all;
        differs(&one.open, &all.open) || differs(&one.close, &all.close)
    };
    let others: Vec<Prefilled> = single.into_iter().filter(says_more).collect();
    let all = (all.open.is_some() || all.close.is_some()).then_some(all);
    all.into_iter().chain(others).collect()
}

/// Returns the markers of a prompt's tail. What no constant has by itself and what stands right beside it are one marker: the `<think>` that ends as
/// `<call name>` does, of which `>` is a constant. And what another prompt ends with is a marker of its own where this one goes on behind it: with
/// `<think>` there, `<think></think>` is two.
fn markers<'t>(pieces: &Pieces, tail: &'t str, prompts: &[Prompt]) -> Vec<&'t str> {
    let mut markers: Vec<&str> = Vec::new();
    let mut end = 0;
    for token in pieces.tokens(tail) {
        let Some(start) = tail[end..].find(token).map(|at| end + at) else {
            continue;
        };
        let before = markers
            .last()
            .filter(|before| start == end && !(pieces.is_one(before) && pieces.is_one(token)));
        end = start + token.len();
        match before.map(|before| start - before.len()) {
            Some(begin) => {
                markers.pop();
                markers.push(&tail[begin..end]);
            }
            None => markers.push(token),
        }
    }
    if let [one] = markers.as_slice() {
        let others = prompts.iter().map(|other| other.tail.trim());
        let rest = others
            .filter(|other| !other.is_empty())
            .filter_map(|other| one.strip_prefix(other))
            .filter(|rest| !rest.trim().is_empty());
        if let Some(rest) = rest.min_by_key(|rest| rest.len()) {
            let opens = one[..one.len() - rest.len()].trim_end();
            markers = vec![opens, rest.trim_start()];
        }
    }
    markers
}

/// Returns true if a prompt says the value of a setting: as JSON, or as Python writes it.
fn says(prompt: &str, value: &Value) -> bool {
    let written = match value {
        Value::String(text) => text.clone(),
        other => json::to_string(other),
    };
    prompt.to_lowercase().contains(&written.to_lowercase())
}
