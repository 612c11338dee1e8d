//! Which text ends the model's turn? It follows the turn's last word both at the end of a conversation and before the next message.

use super::anchor::Anchor;
use crate::derive::choice::{self, Candidate, DecisionId};
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::slot;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Call, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::judge;
use crate::value::{Map, python};

/// The fewest characters of what begins a message, where it is one piece with what ends the message before it.
const SHORTEST: usize = 3;

/// The markers that end a turn, and the text behind them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::derive) struct TurnEnd {
    /// The markers, white space included, that of the default setting first; none where nothing ends a turn.
    pub(in crate::derive) markers: Vec<String>,
    /// The text that follows only at the end of the conversation, and belongs to it rather than to the turn.
    pub(in crate::derive) epilogue: String,
    /// The markers that stand behind an answer before the next message, where nothing stands behind the last answer.
    pub(in crate::derive) before_next: Vec<String>,
    /// The markers that end a turn of calls where a tool's result follows, if it ends otherwise there.
    pub(in crate::derive) before_results: Vec<String>,
    /// The texts that begin the message behind an answer or behind calls, where nothing ends either: each up to the end of its first marker, with the white
    /// space before it, and what else stands before the words of the message.
    pub(in crate::derive) next_begin: Vec<[String; 2]>,
}

impl TurnEnd {
    /// The marker of the default setting; empty where nothing ends a turn.
    pub(in crate::derive) fn marker(&self) -> &str {
        self.markers.first().map_or("", String::as_str)
    }

    /// Returns what begins the next message and ends an answer, too, where the answer ends with it. Words do not, since an answer may well end with them.
    pub(in crate::derive) fn ending_answers(&self) -> Vec<[String; 2]> {
        let begins = self.next_begin.iter();
        let begins = begins.filter(|[begin, _]| !is_word(begin.trim()));
        begins.cloned().collect()
    }

    /// The markers at which an engine stops where nothing ends a turn: those behind answers that another message follows, and those that begin that message.
    pub(in crate::derive) fn nexts(&self) -> Vec<&str> {
        let begins = self.next_begin.iter().map(|[begin, _]| begin);
        let nexts = self.before_next.iter().chain(begins);
        nexts.map(|next| next.trim()).collect()
    }
}

/// Reads what follows an answer under each of the settings.
pub(in crate::derive) fn read(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
) -> (TurnEnd, Vec<Evidence>) {
    let mut end = TurnEnd::default();
    let mut evidence = Vec::new();
    for kwargs in settings {
        let Some((found, epilogue, before_next, seen)) =
            read_under(renderer, &context.under(kwargs), anchor)
        else {
            continue;
        };
        if let Some(marker) = before_next
            && !end.before_next.contains(&marker)
        {
            end.before_next.push(marker);
        }
        for marker in found {
            // Nothing tells where a text begins that a kwarg writes right behind the answer.
            let given = marker.trim_start().strip_prefix(slot::GIVEN);
            let marker = given.map_or_else(|| marker.clone(), str::to_owned);
            let known = end
                .markers
                .iter()
                .any(|known| known.trim() == marker.trim());
            if !known && !marker.trim().is_empty() {
                evidence.push(Evidence {
                    marker: marker.clone(),
                    ..seen.clone()
                });
                end.markers.push(marker);
            }
        }
        if end.epilogue.is_empty() {
            end.epilogue = epilogue;
        }
    }
    (end, evidence)
}

/// Reads what begins the messages that may follow the model's turn: that of a user behind an answer, and in `after_tool` that of a tool. Where nothing ends a
/// turn, the model writes what begins the next, and engines stop there. What people write every day is left out, such as a colon.
///
/// A marker may begin all results of a turn, and another one each of them, right behind it. The model writes the first. What stands before a second result of
/// `call` tells the two apart.
pub(in crate::derive) fn next_begin(
    renderer: &Renderer<'_>,
    user: &Context,
    after_tool: &Context,
    call: &Call,
) -> Vec<[String; 2]> {
    let mut found: Vec<[String; 2]> = Vec::new();
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let answered = user.and(answer);
    let asked = answered.and(probe::message("user", probe::USER_AGAIN));
    for (context, text) in [
        (&asked, probe::USER_AGAIN),
        (after_tool, probe::TOOL_RESULT),
    ] {
        let mut before = context.clone();
        before.history.pop();
        let (Ok(longer), Ok(shorter)) = (renderer.history(context), renderer.history(&before))
        else {
            continue;
        };
        let space = &shorter[shorter.trim_end_matches(python::is_space).len()..];
        // The beginning of a turn may be another one where a message follows.
        let behind_content = || {
            let (_, ended) = shorter.rsplit_once(probe::CONTENT)?;
            let (_, behind) = longer.rsplit_once(probe::CONTENT)?;
            behind.strip_prefix(ended)
        };
        let begun = longer.strip_prefix(&shorter).or_else(behind_content);
        let Some((begun, _)) = begun.and_then(|begun| begun.split_once(text)) else {
            continue;
        };
        let second = match text {
            probe::TOOL_RESULT => before_results(renderer, after_tool, call),
            _ => None,
        };
        // How much of it stands before each result.
        let of_each = second.map_or(0, |[_, between]| {
            renderer.pieces.shared_constants(begun, &between)
        });
        let of_all = begun[..begun.len() - of_each].trim();
        let first = renderer.pieces.tokens(begun).first().copied();
        let is_marker =
            |first: &&str| renderer.pieces.is_one(first) && !judge::is_said_every_day(first);
        // Both may be one piece, since the first never stands alone.
        let first = first.filter(is_marker).map(|first| {
            let is_split = of_each > 0 && !of_all.is_empty() && first.starts_with(of_all);
            // Words before all results, such as `Results:`, stand in answers as well.
            let is_split = is_split && !of_all.starts_with(char::is_alphanumeric);
            if is_split { of_all } else { first }
        });
        let Some((lead, rest)) = first.and_then(|first| {
            let end = begun.find(first)? + first.len();
            Some(begun.split_at(end))
        }) else {
            continue;
        };
        let one = [format!("{space}{lead}"), rest.trim().to_owned()];
        match found.iter_mut().find(|known| known[0] == one[0]) {
            Some(known) if known[1].is_empty() => *known = one,
            Some(_) => {}
            None => found.push(one),
        }
    }
    found
}

/// Returns the render up to the first result of a call, and the text between that and a second result of it. `after_tool` ends with the first.
fn before_results(
    renderer: &Renderer<'_>,
    after_tool: &Context,
    call: &Call,
) -> Option<[String; 2]> {
    let again = after_tool.and(probe::tool_result(call, probe::USER_AGAIN));
    let full = renderer.history(&again).ok()?;
    let (full, _) = full.split_once(probe::USER_AGAIN)?;
    let (first, between) = full.rsplit_once(probe::TOOL_RESULT)?;
    Some([first.to_owned(), between.to_owned()])
}

/// Returns the marker that ends a turn of calls where a tool's result follows, if the turn ends otherwise there than at the end of the conversation: a chat
/// template may write `<pause>` where the model waits for a result, and `<over>` where it does not. `after_tool` ends with the result of this call, and
/// `end` is the text behind the calls at the end of the conversation.
///
/// How much of the text between the two is the header of the result is told by what stands before a second one. A token of `opening`, the beginning of a
/// conversation, belongs to a header as well.
pub(in crate::derive) fn before_result(
    renderer: &Renderer<'_>,
    after_tool: &Context,
    call: &Call,
    end: &str,
    opening: &str,
) -> Option<String> {
    let mut last = after_tool.clone();
    last.history.pop();
    let at_end = renderer.history(&last).ok()?;
    let [full, between] = before_results(renderer, after_tool, call)?;
    let pieces = &renderer.pieces;
    let shared = pieces.shared_start(&at_end, &full);
    let (ended, behind) = (&at_end[shared..], &full[shared..]);
    // Where the conversation ends as the turn does, what follows here may be no more than a header. And the calls themselves may be written otherwise, as with
    // an id that they are given with their results.
    if ended.trim().is_empty() || !end.trim().ends_with(ended.trim()) {
        return None;
    }
    let own = &behind[..behind.len() - pieces.shared_constants(behind, &between)];
    let marker = *pieces.tokens(own).first()?;
    let is_marker = pieces.whole(marker) == marker.len() && !judge::is_said_every_day(marker);
    (is_marker && !opening.contains(marker)).then(|| marker.to_owned())
}

/// Returns true for a text of letters and digits.
fn is_word(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || c.is_whitespace())
}

/// The first marker behind an answer that another message follows, where nothing stands behind the last one; `None` where that marker begins messages.
fn before_next(
    pieces: &Pieces,
    at_end: &str,
    in_middle: Option<&str>,
    asked: &str,
) -> Option<String> {
    let token = *pieces.tokens(in_middle?).first()?;
    let begun = asked.split(probe::USER).next().unwrap_or_default();
    let is_free = at_end.trim().is_empty() && !begun.contains(token);
    let is_one = is_free && pieces.is_one(token);
    // What begins every message may be one piece with what ends the one before it.
    let next = pieces.tokens(asked).first().copied();
    let next = next.filter(|next| next.chars().count() >= SHORTEST);
    let marker = next.and_then(|next| token.strip_suffix(next));
    let marker = marker.unwrap_or(token).trim_end();
    (is_one && !marker.is_empty()).then(|| marker.to_owned())
}

/// Returns the candidates for the part of `at_end` that ends the last answer's turn, in bytes from its beginning; `in_middle` is the text
/// behind an earlier answer.
fn candidates(
    pieces: &Pieces,
    at_end: &str,
    in_middle: Option<&str>,
    asked: &str,
) -> Vec<Candidate<usize>> {
    let candidate = |name, because, end: usize| {
        Candidate::new(name, choice::marker(&at_end[..end]), because, end)
    };
    let mut candidates = Vec::new();
    match in_middle {
        Some(middle) => {
            let shared = pieces.shared_before_header(at_end, middle);
            let before_header = pieces.before_header(at_end, shared, asked);
            if at_end[..before_header].trim().is_empty() && !at_end.trim().is_empty() {
                let next = pieces.tokens(middle).first().copied().unwrap_or_default();
                let means = format!("{}, then {}", choice::marker(at_end), choice::marker(next));
                let because = "the end and the next message share nothing: the last turn has an end of its own";
                let name = "one at the end, another before";
                candidates.push(Candidate::new(name, means, because, before_header));
            } else {
                candidates.push(candidate(
                    "up to the next header",
                    "it follows an answer at the end and before the next message, where the next header has another word",
                    before_header,
                ));
            }
            candidates.push(candidate(
                "all that is shared",
                "it follows an answer at the end and before the next message",
                shared,
            ));
        }
        None => candidates.push(candidate(
            "everything",
            "nothing can follow an answer, so that it cannot be told from what ends the conversation",
            at_end.len(),
        )),
    }
    if let Some(first) = pieces.first_end(at_end) {
        candidates.push(candidate(
            "the first marker",
            "engines may stop at it; what follows it would be passed over",
            first,
        ));
    }
    candidates
}

/// The markers under one setting, the epilogue, the marker before the next message where the last turn has none, and what they were read from.
fn read_under(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
) -> Option<(Vec<String>, String, Option<String>, Evidence)> {
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let turn = renderer.turn(context, &answer).ok()?;
    let tail = |render: &str| -> Option<String> {
        let turn_text = anchor.turn(render, probe::CONTENT)?;
        let (_, tail) = turn_text.rsplit_once(probe::CONTENT)?;
        Some(tail.to_owned())
    };
    let at_end = tail(&turn.full)?;
    let answered = renderer.answered(context, &answer).ok().flatten();
    let in_middle = answered.as_deref().and_then(tail);
    let asked = renderer.history(context).ok()?;
    let candidates = candidates(&renderer.pieces, &at_end, in_middle.as_deref(), &asked);
    let shared = renderer.choices.choose(DecisionId::TurnEnd, candidates)?;
    let (marker, rest) = at_end.split_at(shared);
    let before_next = before_next(&renderer.pieces, &at_end, in_middle.as_deref(), &asked);
    let (markers, epilogue) = match &in_middle {
        // The last turn of a conversation may end with a marker of its own. Then the other turns end with the first marker before the next
        // message.
        Some(middle) if marker.trim().is_empty() && !rest.trim().is_empty() => {
            let before_next = renderer
                .pieces
                .tokens(middle)
                .first()
                .map(|token| (*token).to_owned());
            (
                std::iter::once(at_end.clone()).chain(before_next).collect(),
                String::new(),
            )
        }
        _ => (vec![marker.to_owned()], rest.to_owned()),
    };
    let evidence = Evidence {
        decision: "turn end",
        marker: String::new(),
        reading: "what follows the answer at the end and before the next message".to_owned(),
        left: RenderExcerpt::new("at the end", turn.full),
        right: RenderExcerpt::new("before the next message", answered.unwrap_or_default()),
        places: Vec::new(),
    };
    Some((markers, epilogue, before_next, evidence))
}
