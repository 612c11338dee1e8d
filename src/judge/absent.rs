//! Words that a chat template writes in the place of a text that a message does not have.
//!
//! A chat template may write `null` where a message of calls has no content. A content that says `null` then renders to the same text, and
//! nobody can tell the two apart. Such a word is found by two renders, of a message with the text and of the same without it, that differ
//! in nothing else. It counts where it is a word: prose has it, and it mentions no marker.

use super::manner::Manner;
use super::message::Assistant;
use super::probes::{self, Probe};
use super::renderer::{Conversation, Renderer};

/// Returns messages with a text that is the word for none: a content beside calls where there are some, and a reasoning before a content.
pub(super) fn said(
    renderer: &Renderer<'_>,
    place: &Conversation,
    manner: &Manner,
    calls: usize,
) -> Vec<Probe> {
    let bare = Assistant::calling((0..calls).map(probes::call));
    let said = Assistant::saying(probes::CONTENT);
    let saying = |text: &str| bare.clone().with_content(text);
    let thinking = |text: &str| said.clone().thinking(text);
    let word = |without: &Assistant, with: Assistant, text: &str| {
        let render = |message: &Assistant| {
            let written = manner.write(message, None);
            renderer.answered(place, &written, manner).ok()
        };
        word_for_nothing(&render(without)?, &render(&with)?, text).map(str::to_owned)
    };
    let content = match calls {
        0 => None,
        _ => word(&bare, saying(probes::CONTENT), probes::CONTENT).map(|word| saying(&word)),
    };
    let reasoning = manner.reasoning.as_ref().filter(|_| calls == 0);
    let reasoning =
        reasoning.and_then(|_| word(&said, thinking(probes::REASONING), probes::REASONING));
    let reasoning = reasoning.map(|word| thinking(&word));
    content
        .into_iter()
        .chain(reasoning)
        .map(probes::prose)
        .collect()
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
