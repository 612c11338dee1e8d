//! The text that is rendered of turns, whose words may be markers.
//!
//! A text with a marker in it is no plain prose: nobody expects `<end>` to come back in an answer that `<end>` closes. A marker may be a word
//! as well, so that a text which says that word says the marker. Whether a marker has punctuation in it must make no difference: `<end>` and
//! `fin` are left out of texts alike, and so is `namespacefin`, which has `fin` in it as `namespace<end>` has `<end>`.

use std::collections::BTreeSet;

use super::manner::Manner;
use super::message::Assistant;
use super::probes;
use super::renderer::{Conversation, Renderer};
use crate::chat_template::{InputStep, Origin, Traced};
use crate::text::{common_prefix, common_suffix};
use crate::value::{Map, python};

/// The fewest letters of a marker that is looked for within a word. A shorter one stands in words by chance.
const SHORTEST: usize = 3;

/// The fewest letters with which two words begin or end alike where neither is the other's beginning or end, if a marker is suspected in them:
/// `Finassistant` and `Finsystem` have `Fin` in common, as `<fin>assistant` and `<fin>system` have `<fin>`.
const ALIKE: usize = 6;

/// The turns of a chat template.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The text of prompts and answers behind the last words before them, and of what follows an answer.
    text: String,
    /// The texts of letters alone that the chat template writes there as one.
    wordy: BTreeSet<String>,
    /// The words of what it writes there.
    words: BTreeSet<String>,
}

impl Turns {
    /// Returns true if the word stands in a turn, if something that the chat template writes in a turn stands in the word, or if a word
    /// of turns is alike at one end and not at the other.
    pub(super) fn says(&self, word: &str) -> bool {
        self.text.contains(word)
            || self
                .wordy
                .iter()
                .any(|marker| word.contains(marker.as_str()))
            || self.words.iter().any(|known| are_alike(word, known))
            || self.has_two(word)
    }

    /// Returns true if two words of turns stand in the word, one right behind the other, as in `<call></call>`.
    fn has_two(&self, word: &str) -> bool {
        let known = || {
            let known = self.words.iter();
            known.filter(|known| known.chars().count() >= SHORTEST)
        };
        known().any(|one| {
            let mut places = word.match_indices(one.as_str());
            places.any(|(at, _)| {
                let rest = &word[at + one.len()..];
                known().any(|other| rest.starts_with(other.as_str()))
            })
        })
    }

    fn add(&mut self, place: &Conversation, full: &str) {
        self.text.push_str(&full[place.end_in(full)..]);
        self.text.push('\n');
    }

    /// Adds what the chat template itself writes in the turn, each constant and each given token by itself.
    fn add_written(&mut self, place: &Conversation, traced: &Traced) {
        let begin = place.end_in(&traced.text);
        let own = traced
            .runs
            .iter()
            .filter(|run| run.start >= begin && is_own(&run.origin));
        for run in own {
            let written = traced.text[run.start..run.end].trim_matches(python::is_space);
            let words = written.split(|c: char| !c.is_alphabetic());
            self.words.extend(words.map(str::to_owned));
            if written.chars().count() >= SHORTEST && written.chars().all(char::is_alphabetic) {
                self.wordy.insert(written.to_owned());
            }
        }
    }
}

/// Returns true if two words begin or end with the same letters, and both go on otherwise.
fn are_alike(one: &str, other: &str) -> bool {
    let shared = [common_prefix(one, other), common_suffix(one, other)];
    let heads = [&one[..shared[0]], &one[one.len() - shared[1]..]];
    let is_shared = |head: &str| {
        head.chars().count() >= ALIKE && head.len() < one.len() && head.len() < other.len()
    };
    heads.into_iter().any(is_shared)
}

/// Returns true for text of no message and no tool: a constant of the chat template, or a token that it is given.
fn is_own(origin: &Origin) -> bool {
    let Origin::Input { path, .. } = origin else {
        return true;
    };
    let of_conversation = ["messages", "tools", "documents"];
    !matches!(path.first(), Some(InputStep::Key(first)) if of_conversation.contains(&first.as_str()))
}

/// Renders turns: prompts and answers with a reasoning under each setting of the kwargs, and under the usual one answers without it and calls,
/// with an answer and a reasoning, with a reasoning and alone, too, as the last message and before another one.
pub(super) fn of(
    renderer: &Renderer<'_>,
    users: &[Conversation],
    settings: &[Map],
    manner: &Manner,
    calling: Option<&Manner>,
) -> Turns {
    let plain = Assistant::saying(probes::CONTENT);
    let answer = plain.clone().thinking(probes::REASONING);
    let calls: Vec<_> = (0..2).map(probes::call).collect();
    let messages = [
        answer.clone(),
        Assistant::default().thinking(probes::REASONING),
        Assistant::default(),
    ];
    let calls = messages.map(|message| Assistant {
        calls: calls.clone(),
        ..message
    });
    let of_calls = calling
        .into_iter()
        .flat_map(|manner| calls.iter().map(move |message| (manner, message)));
    let usual = [(manner, &answer), (manner, &plain)];
    let usual: Vec<_> = usual.into_iter().chain(of_calls).collect();
    let mut turns = Turns::default();
    for (number, kwargs) in settings.iter().enumerate() {
        let messages = if number == 0 { &usual[..] } else { &usual[..1] };
        for (index, place) in users.iter().enumerate() {
            let place = &place.under(kwargs);
            if let Ok(prompt) = renderer.prompt(place, manner) {
                turns.add(place, &prompt);
            }
            for (manner, message) in messages {
                let written = manner.write(message, Some(probes::FURTHER));
                let next = renderer.said("user", probes::USER_AGAIN);
                let both = [written.clone(), next];
                let further = place.and(both.clone());
                let full = renderer.answered(place, &written, manner);
                let followed = renderer.history(&further, manner);
                for full in [full, followed].into_iter().flatten() {
                    turns.add(place, &full);
                }
                // The place with the tools has what the other one has.
                if index + 1 == users.len()
                    && let Ok(traced) = renderer.traced(place, &both, manner)
                {
                    turns.add_written(place, &traced);
                }
            }
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_markers_that_stand_together_are_said_as_one_word() {
        let turns = Turns {
            words: ["kupa", "lom"].map(str::to_owned).into(),
            ..Turns::default()
        };
        assert!(turns.says("kupalom") && turns.says("behindkupalom"));
        assert!(!turns.says("kupas") && !turns.says("lomkup"));
    }

    #[test]
    fn words_with_a_marker_in_common_are_alike() {
        assert!(are_alike("kupalomassistant", "kupalomsystem"));
        assert!(are_alike("assistantkupalom", "systemkupalom"));
        assert!(
            !are_alike("assistants", "assistant"),
            "one is a beginning of the other"
        );
        assert!(
            !are_alike("content", "conversation"),
            "they share too little"
        );
        assert!(!are_alike("content", "content"));
    }
}
