//! How the model writes its reasoning, read from a rendered reasoning where the template keeps it, else from the prompts that it writes and
//! from the constants at which it cuts an answer.

use super::anchor::Anchor;
use super::prompted::{
    closed_as_rendered, dropped, dropped_unopened, from_prompts, note_opener, prompts,
    prompts_asked,
};
use super::thought::{Found, Opener, Parts, Reasoning};
use crate::chat_template::REASONING_KEYS;
use crate::derive::choice::{self, Candidate, DecisionId};
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::text;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::judge::slot::Slot;
use crate::value::Map;

/// Looks for reasoning in every way that there is: first in renders, then in prompts and in the constants at which the template cuts an
/// answer.
pub(in crate::derive) fn read(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
    end: &str,
) -> Found {
    let mut prompts = prompts(renderer, context, anchor, settings);
    let mut prefilled = from_prompts(&renderer.pieces, &prompts);
    let rendered = shown(renderer, context, anchor, settings).and_then(|shown| {
        let (reasoning, evidence) = rendered(renderer, anchor, &shown, settings, end)?;
        Some(Found {
            reasoning: Some(reasoning),
            slot: shown.dialect.reasoning,
            evidence,
        })
    });
    // Where reasoning is rendered, the constants need not be asked.
    let is_opened = |found: &Found| {
        let reasoning = found.reasoning.as_ref();
        reasoning.is_some_and(|reasoning| !reasoning.open.is_empty())
    };
    let (rendered, unopened) = match rendered {
        Some(found) if is_opened(&found) => (Some(found), None),
        found => (None, found),
    };
    if rendered.is_none() && unopened.is_none() && prefilled.is_empty() {
        let asked = prompts_asked(renderer, context, anchor);
        prefilled = from_prompts(&renderer.pieces, &asked);
        prompts.extend(asked);
    }
    let cutting = rendered.is_none().then(|| renderer.cutting());
    let rendered = rendered.map(|found| {
        let because = "a reasoning that a message has is rendered between them";
        ("as rendered".to_owned(), because, found)
    });
    let rendered: Vec<_> = rendered
        .into_iter()
        .chain(closed_as_rendered(&prefilled, unopened.as_ref()))
        .collect();
    let unopened = unopened.map(|found| {
        let because =
            "a reasoning that a message has is rendered before it, and nothing before that";
        ("from the beginning".to_owned(), because, found)
    });
    let none = (
        "none".to_owned(),
        "what looks like a reasoning might be something else",
        Found::default(),
    );
    let constants: Vec<&str> = renderer.constants().collect();
    let tokens: Vec<&str> = renderer.added_tokens().collect();
    let mut not_shown = dropped(&prefilled, cutting, [&constants, &tokens]);
    if rendered.is_empty() && unopened.is_none() && prefilled.is_empty() && not_shown.is_empty() {
        let cutting = cutting.into_iter();
        not_shown.extend(cutting.flat_map(|cutting| dropped_unopened(cutting, &tokens)));
    }
    let candidates = rendered
        .into_iter()
        .chain(not_shown)
        .chain(unopened)
        .chain([none]);
    let candidates = candidates.map(|(name, because, found)| {
        let means = match &found.reasoning {
            Some(reasoning) => {
                let [open, close] =
                    [&reasoning.open, &reasoning.close].map(|one| choice::marker(one));
                format!("{open} … {close}")
            }
            None => "no reasoning".to_owned(),
        };
        Candidate::new(name, means, because, found)
    });
    let mut found = renderer
        .choices
        .choose(DecisionId::Reasoning, candidates)
        .unwrap_or_default();
    if let Some(reasoning) = &mut found.reasoning {
        note_opener(&renderer.pieces, &prompts, reasoning);
    }
    found
}

/// Returns the reasoning that the prompt opens where none of the texts that are rendered between markers is one: they stand under keys that no reasoning has, as the
/// calls of a chat template that takes them as a text do, and the prompt opens something else. `known` are the markers of these texts.
pub(in crate::derive) fn opened_beside<'m>(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
    mut known: impl Iterator<Item = &'m Reasoning>,
) -> Option<Reasoning> {
    let is_reasoning = |slot: &Slot| match slot {
        Slot::Key(keys) => keys
            .iter()
            .any(|key| REASONING_KEYS.contains(&key.as_str())),
        Slot::Part { .. } => true,
    };
    if renderer.slots.is_empty() || renderer.slots.iter().any(is_reasoning) {
        return None;
    }
    let prompts = prompts(renderer, context, anchor, settings);
    let prefilled = from_prompts(&renderer.pieces, &prompts);
    let constants: Vec<&str> = renderer.constants().collect();
    let tokens: Vec<&str> = renderer.added_tokens().collect();
    let found = dropped(&prefilled, Some(renderer.cutting()), [&constants, &tokens]);
    let (_, _, found) = found.into_iter().next()?;
    let mut reasoning = found.reasoning?;
    note_opener(&renderer.pieces, &prompts, &mut reasoning);
    let is_known = known.any(|known| known.open.trim() == reasoning.open.trim());
    (reasoning.opened_by == Opener::Prompt && !is_known).then_some(reasoning)
}

/// Returns true if the last token of the anchor opens the reasoning and so does not belong to the anchor. It does if a rendered reasoning
/// follows it directly, if the marker at which the template cuts an answer follows it, or if earlier turns begin without it.
pub(in crate::derive) fn begins_in_anchor(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
) -> bool {
    if let Some(shown) = shown(renderer, context, anchor, settings) {
        return anchor
            .turn(&shown.full, probe::REASONING)
            .is_some_and(|turn_text| turn_text.trim_start().starts_with(probe::REASONING));
    }
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let Ok(turn) = renderer.turn(context, &answer) else {
        return false;
    };
    let turn_text = anchor
        .turn(&turn.full, probe::CONTENT)
        .unwrap_or_default()
        .trim_start();
    let closed = !turn_text.starts_with(probe::CONTENT)
        && renderer
            .cutting()
            .closing
            .first()
            .is_some_and(|cut| turn_text.starts_with(&cut.marker));
    closed || is_shorter_in_history(renderer, context, anchor)
}

/// Returns true if an earlier turn begins with the anchor without its last token. That token then only prefills the last turn.
fn is_shorter_in_history(renderer: &Renderer<'_>, context: &Context, anchor: &Anchor) -> bool {
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let (Some(shorter), Ok(Some(render))) = (
        anchor.without_last_token(&renderer.pieces),
        renderer.answered(context, &answer),
    ) else {
        return false;
    };
    let before = render
        .split(probe::CONTENT)
        .next()
        .unwrap_or_default()
        .trim_end();
    let ends_with = |anchor: &Anchor| {
        anchor
            .literals
            .iter()
            .any(|literal| before.ends_with(literal.trim_end()))
    };
    !ends_with(anchor) && ends_with(&shorter)
}

/// A message whose reasoning the template renders.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) dialect: Dialect,
    pub(super) context: Context,
    /// The message without its reasoning.
    pub(super) plain: Assistant,
    /// The text that the message has after its reasoning.
    pub(super) next: String,
    /// The message with its reasoning, as rendered.
    pub(super) full: String,
}

impl Shown {
    /// Returns the key under which the message has its reasoning.
    fn key(&self) -> String {
        self.dialect.reasoning_key().unwrap_or_default()
    }
}

/// Looks for a message whose reasoning the template renders: beside content, and if that shows none, beside calls.
fn shown(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
) -> Option<Shown> {
    let standard = Dialect::standard();
    let saying = Assistant::saying(probe::CONTENT);
    shown_beside(renderer, context, anchor, settings, &standard, &saying).or_else(|| {
        let calling = Assistant::calling([probe::call(0)]);
        let tooled = renderer.user(true);
        let spellings = standard.spellings();
        let by_id = standard.naming_by_id();
        spellings.chain(by_id.spellings()).find_map(|dialect| {
            shown_beside(renderer, &tooled, anchor, settings, &dialect, &calling)
        })
    })
}

/// The rendered message, under the key at which the template reads a reasoning and a setting under which it renders it.
///
/// The keys tried are those that the template was seen to ask for on an assistant's message.
fn shown_beside(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
    dialect: &Dialect,
    plain: &Assistant,
) -> Option<Shown> {
    let message = plain.clone().thinking(probe::REASONING);
    let next = plain
        .calls
        .first()
        .map_or(probe::CONTENT, |call| call.name.as_str());
    let mut visible: Vec<(bool, Shown)> = Vec::new();
    for kwargs in settings {
        let context = context.under(kwargs);
        let Some(reads) = renderer.reads(&context, dialect, &message) else {
            continue;
        };
        let keys = reads
            .places
            .iter()
            .filter(|read| read.role.as_deref() == Some("assistant"))
            .filter_map(|read| read.path.strip_prefix("messages[]."))
            .filter(|key| {
                !key.contains(['.', '['])
                    && !["role", "content", "tool_calls", "tool_call_id"].contains(key)
            });
        let keys = keys.map(Slot::key);
        let keys = keys.filter(|slot| !renderer.slots_of_calls.contains(slot));
        let others = renderer.slots.iter().cloned();
        for slot in keys.chain(others) {
            let known =
                |(_, shown): &(bool, Shown)| shown.dialect.reasoning.as_ref() == Some(&slot);
            if visible.iter().any(known) {
                continue;
            }
            let key = slot.name();
            let of_others = reads.places.iter().any(|read| {
                read.role.as_deref().is_some_and(|role| role != "assistant")
                    && read.path.strip_prefix("messages[].") == Some(key.as_str())
            });
            let dialect = Dialect {
                reasoning: Some(slot),
                ..dialect.clone()
            };
            let full = renderer
                .turn(&context, &dialect.write(&message))
                .map(|turn| turn.full)
                .ok()
                .filter(|full| {
                    [next, probe::REASONING]
                        .iter()
                        .all(|said| anchor.turn(full, said).is_some())
                });
            if let Some(full) = full {
                let shown = Shown {
                    dialect,
                    context: context.clone(),
                    plain: plain.clone(),
                    next: next.to_owned(),
                    full,
                };
                visible.push((of_others, shown));
            }
        }
    }
    // If a template reads several keys, `thinking` is taken, which every engine knows. A key that messages of other roles have as well is
    // taken last.
    visible.sort_by_key(|(of_others, shown)| (shown.key() != "thinking", *of_others));
    let candidates = visible.into_iter().enumerate();
    let candidates = candidates.map(|(index, (of_others, shown))| {
        let key = shown.key();
        let because = match index {
            0 if key == "thinking" => "it is rendered, and every engine takes a field of that name",
            _ if of_others => "it is rendered, and so it is of other messages",
            0 => "it is rendered, and the first that the template reads of an assistant alone",
            _ => "it is rendered as well",
        };
        let means = format!("the message key {key}");
        Candidate::new(key, means, because, shown)
    });
    renderer
        .choices
        .choose(DecisionId::ReasoningKey, candidates)
}

/// Reads the markers around a reasoning that the template renders in a turn.
pub(super) fn rendered(
    renderer: &Renderer<'_>,
    anchor: &Anchor,
    shown: &Shown,
    settings: &[Map],
    end: &str,
) -> Option<(Reasoning, Vec<Evidence>)> {
    let without = renderer
        .turn(&shown.context, &shown.dialect.write(&shown.plain))
        .ok()?
        .full;
    let turn_text = anchor.turn(&shown.full, probe::REASONING)?;
    let (open, rest) = turn_text.split_once(probe::REASONING)?;
    let Some((close, _)) = rest.split_once(&shown.next) else {
        return behind(renderer, shown, &without, open, rest, end);
    };
    let (lead, _) = anchor
        .turn(&without, &shown.next)?
        .split_once(&shown.next)?;
    let bare = bare_lead(renderer, anchor, shown, settings);
    let is_bare = open.trim().is_empty();
    let is_closed = is_bare || !opens_next_part(renderer, anchor, shown, close, lead);
    let by_next = (!is_closed).then(|| {
        let means = "what opens the next part, or ends the turn";
        let because = "something else follows a reasoning where nothing is said after it";
        Candidate::new("by what follows", means, because, "")
    });
    // Where nothing opens it, what stands between cannot all open the next part: with no text of its own on either side it would be no part.
    let bare = bare.as_deref().filter(|_| !is_bare);
    let candidates = close_candidates((&renderer.pieces, anchor), open, close, lead, bare);
    let candidates = by_next.into_iter().chain(candidates);
    let close = renderer
        .choices
        .choose(DecisionId::ReasoningClose, candidates)?;
    let candidate = |name, because, open: &str| {
        Candidate::new(name, choice::marker(open), because, open.trim().to_owned())
    };
    let candidates = [
        candidate("all that stands before it", "nothing else does", open),
        candidate(
            "the last marker",
            "what stands before it may say something else",
            renderer.pieces.last_token(open),
        ),
    ];
    let message = shown
        .dialect
        .write(&shown.plain.clone().thinking(probe::REASONING));
    let shared = settings.iter().filter_map(|kwargs| {
        let full = renderer
            .turn(&shown.context.under(kwargs), &message)
            .ok()?
            .full;
        let (other, _) = anchor
            .turn(&full, probe::REASONING)?
            .split_once(probe::REASONING)?;
        Some(renderer.pieces.shared_end(open, other))
    });
    let shared = shared.min().unwrap_or(open.len());
    let everywhere = (!open[open.len() - shared..].trim().is_empty()).then(|| {
        candidate(
            "what stands before it under every setting",
            "what stands before that is another thing under another setting",
            &open[open.len() - shared..],
        )
    });
    let candidates = candidates.into_iter().chain(everywhere);
    let open = renderer
        .choices
        .choose(DecisionId::ReasoningOpen, candidates)?;
    let mut reasoning = Reasoning {
        close: close.trim().to_owned(),
        opened_by: Opener::Model,
        opened_where: None,
        is_rendered: true,
        unopened: None,
        space: text::leading(close).to_owned(),
        spaced: close.ends_with(char::is_whitespace),
        parts: parts(renderer, shown, &open, close),
        open,
        is_open_before_calls: false,
        filler: None,
    };
    let mut leads = leads(renderer, anchor, shown, settings);
    reasoning.filler = leads.find_map(|lead| reasoning.filler_in(&lead));
    let key = shown.key();
    let evidence = |decision, marker: &str| Evidence {
        decision,
        marker: marker.to_owned(),
        reading: format!("what stands around a reasoning given as `{key}`"),
        left: RenderExcerpt::new("without reasoning", without.as_str()),
        right: RenderExcerpt::new("with reasoning", shown.full.as_str()),
        places: Vec::new(),
    };
    let mut found = vec![evidence("reasoning open", &reasoning.open)];
    if !reasoning.close.is_empty() {
        found.push(evidence("reasoning close", &reasoning.close));
    }
    (!reasoning.close.is_empty() || !is_closed).then_some((reasoning, found))
}

/// Returns true if the text between a reasoning and the next part opens that part, and does not close the reasoning. It does if it stands
/// there in a message without reasoning as well, and is missing behind a reasoning that is followed by nothing, or by something else.
fn opens_next_part(
    renderer: &Renderer<'_>,
    anchor: &Anchor,
    shown: &Shown,
    between: &str,
    lead: &str,
) -> bool {
    let marker = between.trim();
    if marker.is_empty() || marker != lead.trim() {
        return false;
    }
    let alone = Assistant::default().thinking(probe::REASONING);
    let calling = Assistant::calling([probe::call(0)]).thinking(probe::REASONING);
    let tooled = Context {
        kwargs: shown.context.kwargs.clone(),
        ..renderer.user(true)
    };
    let of_calls = shown.dialect.spellings();
    let of_calls = of_calls.map(|dialect| (&tooled, dialect.write(&calling)));
    let mut others = std::iter::once((&shown.context, shown.dialect.write(&alone))).chain(of_calls);
    others.any(|(context, message)| {
        let full = renderer.turn(context, &message).map(|turn| turn.full);
        full.is_ok_and(|full| {
            let turn_text = anchor.turn(&full, probe::REASONING).unwrap_or_default();
            let after = turn_text.split_once(probe::REASONING);
            after.is_some_and(|(_, after)| !after.trim_start().starts_with(marker))
        })
    })
}

/// Reads the markers around a reasoning that stands behind the content or the call. If only the end of the turn follows it, that end closes
/// the reasoning, and nothing does where nothing ends a turn.
fn behind(
    renderer: &Renderer<'_>,
    shown: &Shown,
    without: &str,
    before: &str,
    after: &str,
    end: &str,
) -> Option<(Reasoning, Vec<Evidence>)> {
    // Where what begins a turn stands before each of its parts, `before` begins behind the last of them.
    let behind_next = before.rsplit_once(&shown.next);
    let open = behind_next.map_or(before, |(_, open)| open);
    let end = end.trim();
    let said = after.trim();
    let shared = renderer.pieces.shared_marker(said, end);
    let own = said.strip_suffix(end);
    let own = own.unwrap_or(&said[..said.len() - shared]).trim();
    let close = if own.is_empty() { end } else { own };
    let reasoning = Reasoning {
        open: open.trim().to_owned(),
        close: close.to_owned(),
        opened_by: Opener::Model,
        opened_where: None,
        is_rendered: true,
        unopened: None,
        space: text::leading(after).to_owned(),
        spaced: true,
        parts: parts(renderer, shown, open, close),
        is_open_before_calls: false,
        filler: None,
    };
    let key = shown.key();
    let evidence = |decision, marker: &str| Evidence {
        decision,
        marker: marker.to_owned(),
        reading: format!("what stands around a reasoning given as `{key}`, behind the content"),
        left: RenderExcerpt::new("without reasoning", without),
        right: RenderExcerpt::new("with reasoning", shown.full.as_str()),
        places: Vec::new(),
    };
    let mut found = vec![evidence("reasoning open", &reasoning.open)];
    if !reasoning.close.is_empty() {
        found.push(evidence("reasoning close", &reasoning.close));
    }
    (!reasoning.open.is_empty()).then_some((reasoning, found))
}

/// Returns how the chat template parts a reasoning: at a text of the message in the place of which what closes a part stands, and then what opens
/// one. It is `None` where a reasoning stays whole.
fn parts(renderer: &Renderer<'_>, shown: &Shown, open: &str, close: &str) -> Option<Parts> {
    let (open, close) = (open.trim(), close.trim());
    if open.is_empty() || close.is_empty() {
        return None;
    }
    let parts = |at: &'static str| {
        let text = format!("{}{at}{}", probe::REASONING, probe::USER);
        let message = shown.dialect.write(&shown.plain.clone().thinking(&text));
        let full = renderer.turn(&shown.context, &message).ok()?.full;
        let (_, rest) = full.rsplit_once(probe::REASONING)?;
        let (between, _) = rest.split_once(probe::USER)?;
        let opens = between.trim().strip_prefix(close)?.trim();
        let is_bare = between.starts_with(close) && between.ends_with(open);
        (opens == open).then_some(Parts { at, is_bare })
    };
    ["\n\n", "\n"].into_iter().find_map(parts)
}

/// Returns the candidates for the part of the text `between` the reasoning and the next part that closes the reasoning. The rest of it
/// opens the next part.
fn close_candidates<'t>(
    (pieces, anchor): (&Pieces, &Anchor),
    open: &str,
    between: &'t str,
    lead: &str,
    bare: Option<&str>,
) -> Vec<Candidate<&'t str>> {
    let candidate =
        |name, because, close: &'t str| Candidate::new(name, choice::marker(close), because, close);
    let opens_next = match bare {
        Some(bare) if bare.len() < between.len() && between.ends_with(bare) => {
            &between[between.len() - bare.len()..]
        }
        _ => next_open(pieces, open, between, lead),
    };
    let mut candidates = vec![candidate(
        "up to what opens the next",
        "what follows stands before a message without reasoning too",
        &between[..between.len() - opens_next.len()],
    )];
    candidates.push(candidate(
        "all that stands between",
        "what stands before a message without reasoning may be another thing",
        between,
    ));
    if let Some(at) = pieces.first_end(between) {
        let first = candidate(
            "the first marker",
            "the others may open what follows",
            &between[..at],
        );
        // Where nothing stands before the content of a message without reasoning, a model may well leave out what stands there beside one. The header of a turn
        // it does not.
        let rest = &between[at..];
        let mut headers = anchor.literals.iter();
        let is_header = headers.any(|header| header.contains(rest.trim()));
        let is_apart = rest.starts_with(char::is_whitespace) && pieces.is_one(rest.trim());
        let is_apart = is_apart && !is_header;
        let rank = if is_apart && lead.trim().is_empty() {
            0
        } else {
            candidates.len()
        };
        candidates.insert(rank, first);
    }
    candidates
}

/// The texts that stand before the content or the call in a message without reasoning, under each of the settings.
fn leads(
    renderer: &Renderer<'_>,
    anchor: &Anchor,
    shown: &Shown,
    settings: &[Map],
) -> impl Iterator<Item = String> {
    let message = shown.dialect.write(&shown.plain);
    settings.iter().filter_map(move |kwargs| {
        let context = shown.context.under(kwargs);
        let full = renderer.turn(&context, &message).ok()?.full;
        let (lead, _) = anchor.turn(&full, &shown.next)?.split_once(&shown.next)?;
        Some(lead.to_owned())
    })
}

/// Returns the shortest text that stands before the content or the call in a message without reasoning, under any of the settings. Where a
/// template writes an empty reasoning there, the text is longer.
fn bare_lead(
    renderer: &Renderer<'_>,
    anchor: &Anchor,
    shown: &Shown,
    settings: &[Map],
) -> Option<String> {
    leads(renderer, anchor, shown, settings)
        .filter(|lead| !lead.trim().is_empty())
        .min_by_key(String::len)
}

/// Returns the text that opens the content or the call itself, at the end of the text between the reasoning and it.
///
/// `lead` stands before it in a message without reasoning. It may hold an empty reasoning, which opens nothing.
fn next_open<'t>(pieces: &Pieces, open: &str, close: &'t str, lead: &str) -> &'t str {
    let empty_reasoning: Vec<&str> = pieces
        .tokens(open)
        .into_iter()
        .chain(pieces.tokens(close))
        .collect();
    if lead.trim().is_empty() {
        return "";
    }
    let shared = text::common_suffix(close, lead);
    let shares_all = close[..close.len() - shared].trim().is_empty();
    if shares_all || pieces.tokens(lead) == empty_reasoning {
        // Where an empty reasoning stands, only the first marker behind it closes it.
        let own = pieces.tokens(close).first().map_or(0, |token| token.len());
        let rest = &close[text::leading(close).len() + own..];
        return if rest.trim().is_empty() { "" } else { rest };
    }
    &close[close.len() - pieces.shared_end(close, lead)..]
}
