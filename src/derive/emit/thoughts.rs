//! The region of the reasoning.

use super::texts::{LAST_OF_RUN, first_or_all, joined, next_part};
use super::written::Written;
use super::{Ends, Target, ends, markers, unopened};
use crate::derive::choice::{Candidate, Choices, DecisionId};
use crate::derive::compare::{slot, text};
use crate::derive::read::analysis::Analysis;
use crate::derive::read::calls::ToolCalls;
use crate::derive::read::thought::Reasoning;
use crate::response_template::{Delimiter, FieldDocument};
use crate::value::{Map, Value, json};

/// The region of the reasoning, with its texts joined: a model may think again behind a call or an answer, even if its chat template never
/// writes that. Not all servers know such a join.
pub(super) fn thoughts(
    analysis: &Analysis,
    reasoning: &Reasoning,
    ends: &Ends<'_>,
    target: Target,
    choices: &Choices,
) -> FieldDocument {
    let field = self::reasoning(analysis, reasoning, ends, choices);
    let is_joined = field.open.is_some() && !target.served;
    let mut field = joined(field, is_joined);
    field.open = field.open.map(|open| not_filled(open, reasoning));
    if let Some(parts) = reasoning.parts.filter(|_| is_joined) {
        field.join = Some(parts.at.to_owned());
        if parts.is_bare {
            field.content_args = Map::from_iter([("strip".to_owned(), Value::from(false))]);
        }
    }
    field
}

/// The delimiter that opens the reasoning, unless what follows is what stands in its place where there is none. Something has to follow: as long as nothing does, either may.
fn not_filled(open: Delimiter, reasoning: &Reasoning) -> Delimiter {
    let filler = reasoning.filler.as_deref();
    let rest = filler.and_then(|filler| filler.strip_prefix(reasoning.open.as_str()));
    let own = super::either_of(super::patterns(open.clone()));
    match (rest, own) {
        (Some(rest), Some(own)) => {
            let rest = slot::pattern(rest.trim_start());
            Delimiter::pattern(format!("{own}(?=(?!\\s*{rest}).)"))
        }
        _ => open,
    }
}

/// The region of a reasoning, or of another text that stands in markers as one does.
///
/// Where it has no close of its own, it ends where the next part opens or the turn ends.
pub(super) fn reasoning(
    analysis: &Analysis,
    reasoning: &Reasoning,
    ends_of: &Ends<'_>,
    choices: &Choices,
) -> FieldDocument {
    if reasoning.open.is_empty() {
        // It is what the turn begins with, up to what opens the content.
        let delimiters = unopened::delimiters(reasoning, choices);
        let (open, close) = delimiters.map(|[open, close]| (open, close)).unzip();
        let is_own = analysis.content.open.is_some() && !reasoning.close.is_empty();
        let close =
            close.or_else(|| is_own.then(|| markers(vec![reasoning.close.clone()], slot::pattern)));
        return FieldDocument {
            open,
            close,
            content: Some("text".to_owned()),
            ..FieldDocument::default()
        };
    }
    let at_beginning = format!("\\A\\s*{}", slot::pattern(&reasoning.open));
    let anywhere = Candidate::new(
        "anywhere",
        json::quote(&slot::show(&reasoning.open)),
        "a response may go on to think",
        markers(vec![reasoning.open.clone()], slot::pattern),
    );
    let at_beginning = Candidate::new(
        "at the beginning",
        json::quote(&at_beginning),
        "what opens it may stand in a text as well",
        Delimiter::pattern(at_beginning),
    );
    let opens = choices.choose(DecisionId::ReasoningOpenDelimiter, [anywhere, at_beginning]);
    let field = |close| FieldDocument {
        open: opens.clone(),
        close,
        content: Some("text".to_owned()),
        ..FieldDocument::default()
    };
    if reasoning.close.is_empty() {
        let next = next_part(analysis, &reasoning.open, ends_of, choices);
        let because = "it has no close of its own";
        let anywhere = super::pattern_candidate("what follows", because, format!("(?={next})"));
        let because = "what follows may stand within a line of a text as well";
        let pattern = format!("{}(?={next})", super::AT_LINE);
        let name = "what follows, where a line begins";
        let at_line = super::pattern_candidate(name, because, pattern);
        return field(choices.choose(DecisionId::ReasoningCloseDelimiter, [anywhere, at_line]));
    }
    let close = own_close(reasoning, ends_of, choices);
    let Some(calls) = &analysis.calls else {
        return field(close);
    };
    let written = Written::new(analysis, calls, ends_of, choices);
    // What ends the turn does not tell where calls end if it closes the reasoning, too.
    let mut ends = ends_of.markers.iter();
    let ends_with_body = ends.all(|end| end.trim() != reasoning.close.trim());
    let [ended, last] = written.last(ends_with_body, &analysis.turn_end.nexts());
    let [made, spoken_of] = unclosed_examples(reasoning, calls);
    let candidates = [
        ended.is_some().then(|| {
            Candidate::new(
                "ends at the last calls",
                "what opens calls ends a reasoning, too, if nothing closes it and the turn ends behind them",
                format!(
                    "models leave out what closes the reasoning before a call, as in {made}, and a reasoning that speaks of one goes on behind it, as in {spoken_of}"
                ),
                Unclosed::EndsAtTheLastCalls,
            )
        }),
        Some(Candidate::new(
            "goes on",
            "a call that stands in a reasoning is a part of it",
            format!(
                "no call may appear that the model did not make, and a reasoning may speak of one, as in {spoken_of} where the response is cut short"
            ),
            Unclosed::GoesOn,
        )),
        last.is_some().then(|| {
            Candidate::new(
                "ends at calls that end the response",
                "what opens calls ends a reasoning, too, if nothing closes it and the response ends behind them, with what ends the turn or without",
                format!(
                    "an engine may stop before what ends the turn; but a parser that is given the response in pieces takes the end of what has arrived for that of the response, and finds a call in {spoken_of}"
                ),
                Unclosed::EndsAtCallsAtTheEnd,
            )
        }),
        Some(Candidate::new(
            "ends at a call",
            "what opens a call ends a reasoning, too",
            format!("models leave out what closes the reasoning before a call, as in {made}"),
            Unclosed::EndsAtACall,
        )),
    ];
    let mut candidates: Vec<Candidate<Unclosed>> = candidates.into_iter().flatten().collect();
    // Where renders leave it open before calls, a model does so every time; and an engine may stop before what ends the turn.
    if reasoning.is_open_before_calls {
        candidates.sort_by_key(|one| one.value != Unclosed::EndsAtCallsAtTheEnd);
    }
    let unclosed = choices.choose(DecisionId::UnclosedReasoning, candidates);
    let marker = slot::pattern(&reasoning.close);
    let up_to = |last: String| format!("(?:(?!{marker}).)*{last}");
    let behind = match unclosed {
        Some(Unclosed::EndsAtTheLastCalls) => ended.map(up_to),
        Some(Unclosed::EndsAtCallsAtTheEnd) => last.map(up_to),
        Some(Unclosed::EndsAtACall) => Some(String::new()),
        Some(Unclosed::GoesOn) | None => None,
    };
    let Some(behind) = behind else {
        return field(close);
    };
    let next = format!("(?={}{behind})", written.beginning());
    let own = close.map(super::patterns);
    let alternatives = own.into_iter().flatten().chain([next]);
    field(super::either_of(alternatives.collect()).map(Delimiter::pattern))
}

/// The delimiter that closes a reasoning with what renders close it with.
fn own_close(reasoning: &Reasoning, ends_of: &Ends<'_>, choices: &Choices) -> Option<Delimiter> {
    let (needed, _) = ends_of.needed(&reasoning.close);
    if ends_of.is_last && super::is_plain(needed) {
        let first = Delimiter::literal(needed);
        let close = reasoning.close.as_str();
        let all = (needed != close).then(|| match super::is_plain(close) {
            true => Delimiter::literal(close),
            false => Delimiter::pattern(slot::pattern(close)),
        });
        let last = last_of_run(needed).map(last_candidate);
        let candidates = first_or_all(first, all).chain(last);
        return choices.choose(DecisionId::ReasoningCloseDelimiter, candidates);
    }
    let pattern = format!("{}\\s*", slot::pattern(&reasoning.close));
    let mut candidates = vec![
        Candidate::new(
            "pattern",
            json::quote(&pattern),
            if reasoning.spaced {
                "white space follows it, which is neither the reasoning's nor the content's"
            } else {
                "white space may follow it"
            },
            Delimiter::pattern(pattern),
        ),
        Candidate::new(
            "literal",
            json::quote(&slot::show(&reasoning.close)),
            if reasoning.spaced {
                "the content's parser takes white space away as well"
            } else {
                "no white space follows it in a render"
            },
            markers(vec![reasoning.close.clone()], slot::pattern),
        ),
    ];
    if !reasoning.spaced {
        candidates.reverse();
    }
    if !reasoning.space.is_empty() {
        let pattern = format!(
            "{}{}\\s*",
            text::escape(&reasoning.space),
            slot::pattern(&reasoning.close)
        );
        candidates.push(Candidate::new(
            "with the white space before it",
            json::quote(&pattern),
            "what closes it may stand in a text as well, without the white space before it",
            Delimiter::pattern(pattern),
        ));
    }
    if let Some(pattern) = last_of_run(&reasoning.close) {
        candidates.push(last_candidate(format!("{pattern}\\s*")));
        candidates.extend(behind_text(reasoning));
    }
    choices.choose(DecisionId::ReasoningCloseDelimiter, candidates)
}

/// The smallest responses in which nothing closes a reasoning before a call: one that ends with the call, and one that only speaks of it.
fn unclosed_examples(reasoning: &Reasoning, calls: &ToolCalls) -> [String; 2] {
    let shown = |text: &str| slot::show(text).trim().to_owned();
    let open = shown(&reasoning.open);
    let call = shown(&format!("{}{}", calls.section.0, calls.call.0));
    let close = shown(&format!("{}{}", calls.call.1, calls.section.1));
    [
        json::quote(&format!("{open}Hm.{call}…{close}")),
        json::quote(&format!("{open}I may say {call}…{close}, or not.")),
    ]
}

/// A pattern for the last of the closes of a reasoning that overlap, such as the last three of four stars; `None` where none can overlap itself.
fn last_of_run(close: &str) -> Option<String> {
    let next = ends::completion(close, close).filter(|_| !slot::any(close))?;
    Some(ends::not_before(slot::pattern(close), &[next]))
}

/// The candidate of that pattern.
fn last_candidate(pattern: String) -> Candidate<Delimiter> {
    super::pattern_candidate(
        LAST_OF_RUN,
        "a reasoning may end with characters of what closes it, which then stands upon them",
        pattern,
    )
}

/// Returns the close of a reasoning that counts only where some text stands before it.
///
/// Of `***` behind `***`, three stars open the reasoning, and what closes it begins no sooner than one character later. What opens it is told
/// from its like within a longer run by the character before it.
fn behind_text(reasoning: &Reasoning) -> Option<Candidate<Delimiter>> {
    let Reasoning { open, close, .. } = reasoning;
    let first = open.chars().next().filter(|_| !slot::any(open))?;
    let (first, open) = (
        text::escape(first.encode_utf8(&mut [0; 4])),
        text::escape(open),
    );
    let pattern = format!("(?<!(?<!{first}){open}){}", slot::pattern(close));
    Some(Candidate::new(
        "behind some text",
        json::quote(&pattern),
        "a reasoning may be a single character of what closes it, and the content may begin with one",
        Delimiter::pattern(pattern),
    ))
}

/// The fate of a reasoning that nothing closes before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unclosed {
    EndsAtTheLastCalls,
    GoesOn,
    EndsAtCallsAtTheEnd,
    EndsAtACall,
}
