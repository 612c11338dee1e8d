//! Words that a chat template writes in the place of a text that a message does not have.
//!
//! A chat template may write `null` where a message of calls has no content. A content that says `null` then renders to the same text, and
//! nobody can tell the two apart. Such a word is found by two renders, of a message with the text and of the same without it, that differ
//! in nothing else. It counts where it is a word: prose has it, and it mentions no marker.

use super::manner::Manner;
use super::message::Assistant;
use super::probes::{self, Probe};
use super::renderer::{Conversation, Renderer};

/// Returns a call with the word for none as its content, where the chat template writes one for a call that has no content.
pub(super) fn content_beside_a_call(
    renderer: &Renderer<'_>,
    place: &Conversation,
    manner: &Manner,
) -> Option<Probe> {
    let call = Assistant::calling([probes::call(0)]);
    let saying = |text: &str| call.clone().with_content(text);
    word(renderer, place, manner, &call, saying, probes::CONTENT)
}

/// Returns an answer with the word for none as its reasoning, where the chat template writes one for an answer without reasoning.
pub(super) fn reasoning(
    renderer: &Renderer<'_>,
    place: &Conversation,
    manner: &Manner,
) -> Option<Probe> {
    manner.reasoning.as_ref()?;
    let answer = Assistant::saying(probes::CONTENT);
    let thinking = |text: &str| answer.clone().thinking(text);
    word(
        renderer,
        place,
        manner,
        &answer,
        thinking,
        probes::REASONING,
    )
}

/// Returns the message with the word for none in the place of the text that `without` has not and `with` puts there.
fn word(
    renderer: &Renderer<'_>,
    place: &Conversation,
    manner: &Manner,
    without: &Assistant,
    with: impl Fn(&str) -> Assistant,
    text: &str,
) -> Option<Probe> {
    let render = |message: &Assistant| {
        let written = manner.write(message, None);
        renderer.answered(place, &written, manner).ok()
    };
    let (without, with_text) = (render(without)?, render(&with(text))?);
    let word = word_for_nothing(&without, &with_text, text)?;
    Some(probes::prose(with(word)))
}

/// Returns the word that stands in one render where the text stands in the other, all else being alike.
fn word_for_nothing<'r>(without: &'r str, with: &str, text: &str) -> Option<&'r str> {
    let (before, behind) = with.split_once(text)?;
    let word = without.strip_prefix(before)?.strip_suffix(behind)?.trim();
    (!word.is_empty() && word.chars().all(char::is_alphanumeric)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_the_place_of_a_text_is_the_word_for_none() {
        let found = |without| word_for_nothing(without, "<b>so be it</b>", "so be it");
        assert_eq!(found("<b>null</b>"), Some("null"));
        assert_eq!(found("<b> None </b>"), Some("None"));
        assert_eq!(found("<b></b>"), None, "nothing is written");
        assert_eq!(found("<b>\\void</b>"), None, "it is no word");
        assert_eq!(found("<c>null</c>"), None, "something else differs, too");
        assert_eq!(found("null"), None);
    }
}
