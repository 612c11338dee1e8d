//! A reasoning that nothing opens: what the response begins with, or what no other field takes.

use super::markers;
use crate::derive::choice::{Candidate, Choices, DecisionId};
use crate::derive::compare::slot;
use crate::derive::read::analysis::Analysis;
use crate::derive::read::thought::Reasoning;
use crate::response_template::Delimiter;

/// The reasoning, if nothing opens it and it is what no other field takes.
pub(super) fn unclaimed<'a>(analysis: &'a Analysis, choices: &Choices) -> Option<&'a Reasoning> {
    let reasoning = analysis.reasoning.as_ref();
    let reasoning = reasoning.filter(|reasoning| reasoning.open.is_empty());
    reasoning.filter(|reasoning| delimiters(reasoning, choices).is_none())
}

/// The delimiters of a reasoning that nothing opens; `None` where it has none, and is what no other field takes.
pub(super) fn delimiters(reasoning: &Reasoning, choices: &Choices) -> Option<[Delimiter; 2]> {
    let claimed_by_none = Candidate::new(
        "what no other field takes",
        "no delimiters",
        "it stands at the beginning, before what opens the content",
        None,
    );
    let close = Some(&reasoning.close).filter(|close| !close.is_empty());
    let at_beginning = |name, means, because, open: String| {
        let close = markers(vec![close?.clone()], slot::pattern);
        let delimiters = Some([Delimiter::pattern(open), close]);
        Some(Candidate::new(name, means, because, delimiters))
    };
    let always = at_beginning(
        "from the beginning",
        "the beginning of the response",
        "text behind calls is no reasoning",
        "\\A".to_owned(),
    );
    // A response is held back until it is seen, so that this comes last.
    let where_closed = at_beginning(
        "from the beginning, where something closes it",
        "the beginning of a response that has what closes it",
        "a message without a reasoning has nothing that closes one",
        format!("\\A(?=.*?{})", slot::pattern(&reasoning.close)),
    );
    let candidates = std::iter::once(claimed_by_none)
        .chain(always)
        .chain(where_closed);
    choices
        .choose(DecisionId::ReasoningOpenDelimiter, candidates)
        .flatten()
}
