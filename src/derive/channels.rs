//! Is there a channel that the model says things in beside those of its content and its reasoning?
//!
//! Where content and reasoning are opened by the same marker but for a word, the word names a channel. The calls may be
//! written in a third one. Text may stand there too, in front of a call, although no message that is rendered shows it: the
//! model was told of the channel, and the chat template's constants have its marker.

use super::content::Content;
use super::evidence::{Evidence, Sample};
use super::lab::Lab;
use super::reasoning::Reasoning;
use super::pieces::Pieces;
use super::tool_calls::ToolCalls;

/// What else opens content, each with what tells so.
pub(super) fn read(
    lab: &Lab<'_>,
    content: &Content,
    reasoning: Option<&Reasoning>,
    calls: &ToolCalls,
) -> Vec<(String, Evidence)> {
    let (Some(open), Some(reasoning)) = (&content.open, reasoning) else {
        return Vec::new();
    };
    let Some((before, after)) = frame(&lab.pieces, open, &reasoning.open) else {
        return Vec::new();
    };
    let mut found: Vec<(String, Evidence)> = Vec::new();
    for word in words_after(&head(calls), before) {
        let marker = format!("{before}{word}{after}");
        let is_known = [open, &reasoning.open].contains(&&marker)
            || head(calls).contains(&marker)
            || found.iter().any(|(known, _)| *known == marker);
        let constant = lab.constants().find(|constant| constant.contains(&marker));
        if let (false, Some(constant)) = (is_known, constant) {
            let evidence = Evidence {
                question: "content channel",
                marker: marker.clone(),
                reading: "it opens content but for the word, which stands there in front of a call"
                    .to_owned(),
                left: Sample::new("what opens the content", open.as_str()),
                right: Sample::new("a constant of the chat template", constant),
                places: Vec::new(),
            };
            found.push((marker, evidence));
        }
    }
    found
}

/// What stands before and after the one word in which two markers differ, if those are markers themselves.
fn frame<'t>(pieces: &Pieces, one: &'t str, other: &str) -> Option<(&'t str, &'t str)> {
    let (tokens, others) = (pieces.tokens(one), pieces.tokens(other));
    let mut differing = tokens
        .iter()
        .zip(&others)
        .enumerate()
        .filter(|(_, (one, other))| one != other);
    let (index, (word, other)) = differing.next()?;
    let is_alone = differing.next().is_none() && tokens.len() == others.len();
    let around = [index.checked_sub(1)?, index + 1];
    let is_framed = around
        .iter()
        .all(|at| tokens.get(*at).is_some_and(|token| pieces.is_one(token)));
    if !is_alone || !is_framed || ![word, other].into_iter().all(|word| is_word(word)) {
        return None;
    }
    let (before, after) = (tokens[..index].concat(), tokens[index + 1..].concat());
    let rest = one.strip_prefix(&before)?.strip_suffix(&after)?;
    (rest == *word).then(|| (&one[..before.len()], &one[one.len() - after.len()..]))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(char::is_alphabetic)
}

/// All that stands before the arguments of a call, but for its name.
fn head(calls: &ToolCalls) -> String {
    format!("{}{}", calls.section.0, calls.call.0)
}

/// The words that follow each of these markers.
fn words_after<'t>(text: &'t str, marker: &str) -> Vec<&'t str> {
    let words = text.split(marker).skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphabetic());
        &rest[..end.unwrap_or(rest.len())]
    });
    words.filter(|word| is_word(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_around_one_word() {
        let frame = |one, other| frame(one, other);
        assert_eq!(frame("<c>say<m>", "<c>think<m>"), Some(("<c>", "<m>")));
        assert_eq!(frame("<c>say<m>", "<d>think<m>"), None, "two differ");
        assert_eq!(frame("to=you<m>", "to=me<m>"), None, "nothing is before it");
        assert_eq!(frame("<c>say", "<c>think"), None, "nothing is after it");
        assert_eq!(frame("<c>say<m>", "<c>say<m>"), None);
        assert_eq!(frame("<say>", "<think>"), None);
    }

    #[test]
    fn words_follow_a_marker() {
        assert_eq!(words_after(" to=f <c>note json<m>", "<c>"), ["note"]);
        assert_eq!(words_after("<c><m>", "<c>"), Vec::<&str>::new());
    }
}
