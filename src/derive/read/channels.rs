//! Channels in which the model writes text beside those of its content and its reasoning.
//!
//! Where content and reasoning are opened by the same marker but for a word, the word names a channel. The calls may be
//! written in a third one. Text may stand there too, in front of a call, although no message that is rendered shows it: the
//! model was told of the channel, and the chat template's constants have its marker.

use super::calls::ToolCalls;
use super::content::Content;
use super::thought::Reasoning;
use crate::derive::compare::text::{common_prefix, common_suffix};
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::render::renderer::Renderer;

/// Returns the further texts that open content, each with its evidence.
pub(in crate::derive) fn read(
    renderer: &Renderer<'_>,
    content: &Content,
    reasoning: Option<&Reasoning>,
    calls: &ToolCalls,
) -> Vec<(String, Evidence)> {
    let (Some(open), Some(reasoning)) = (&content.open, reasoning) else {
        return Vec::new();
    };
    let Some((before, after)) = frame(open, &reasoning.open) else {
        return Vec::new();
    };
    let mut found: Vec<(String, Evidence)> = Vec::new();
    for word in words_after(&head(calls), before, after) {
        let marker = format!("{before}{word}{after}");
        let is_known = [open, &reasoning.open].contains(&&marker)
            || head(calls).contains(&marker)
            || found.iter().any(|(known, _)| *known == marker);
        let constant = renderer
            .constants()
            .find(|constant| constant.contains(&marker));
        if let (false, Some(constant)) = (is_known, constant) {
            let evidence = Evidence {
                decision: "content channel",
                marker: marker.clone(),
                reading: "it opens content but for the word, which stands there in front of a call"
                    .to_owned(),
                left: RenderExcerpt::new("what opens the content", open.as_str()),
                right: RenderExcerpt::new("a constant of the chat template", constant),
                places: Vec::new(),
            };
            found.push((marker, evidence));
        }
    }
    found
}

/// Returns the texts before and after the one word in which two markers differ, if there is anything around it.
fn frame<'t>(one: &'t str, other: &'t str) -> Option<(&'t str, &'t str)> {
    let shared = common_prefix(one, other);
    let before = match one[..shared].trim_end_matches(char::is_alphabetic) {
        // The marker before the word is a word itself.
        "" => &one[..shared],
        before => before,
    };
    let (mine, its) = (&one[before.len()..], &other[before.len()..]);
    let shared = &mine[mine.len() - common_suffix(mine, its)..];
    let after = match shared.trim_start_matches(char::is_alphabetic) {
        "" => shared,
        after => after,
    };
    let is_framed = !before.is_empty() && !after.is_empty();
    let are_words = [mine, its]
        .iter()
        .all(|rest| is_word(&rest[..rest.len() - after.len()]));
    (is_framed && are_words && one != other).then_some((before, after))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(char::is_alphabetic)
}

/// Returns the text before the arguments of a call, without its name.
fn head(calls: &ToolCalls) -> String {
    format!("{}{}", calls.section.0, calls.call.0)
}

/// The words that follow each of these markers, up to the text that ends one.
fn words_after<'t>(text: &'t str, marker: &str, end: &str) -> Vec<&'t str> {
    let words = text.split(marker).skip(1).map(|rest| {
        let rest = rest.split(end).next().unwrap_or(rest);
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
        assert_eq!(frame("you<m>", "me<m>"), None, "nothing is before it");
        assert_eq!(frame("<c>say", "<c>think"), None, "nothing is after it");
        assert_eq!(frame("<c>say<m>", "<c>say<m>"), None);
        assert_eq!(frame("<c>say<m>", "<c>stay<m>"), Some(("<c>", "<m>")));
        let wordy = frame("kupasaylom", "kupathinklom");
        assert_eq!(wordy, Some(("kupa", "lom")), "the markers are words, too");
    }

    #[test]
    fn words_follow_a_marker() {
        assert_eq!(words_after(" to=f <c>note json<m>", "<c>", "<m>"), ["note"]);
        assert_eq!(words_after("<c><m>", "<c>", "<m>"), Vec::<&str>::new());
    }
}
