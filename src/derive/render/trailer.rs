//! The trailer: a text that the template writes after the last message and that belongs to no message. If it stands there before the
//! generation prompt and vanishes once the model has answered, the model never writes it.

use crate::derive::choice::{self, Candidate};
use crate::derive::probe;

/// The text after the last message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) struct Trailer<'t> {
    pub(in crate::derive) text: &'t str,
    /// True if some other text stands between the user's last words and the trailer, and so ends the message.
    is_apart: bool,
}

impl<'t> Trailer<'t> {
    /// Returns the candidates: the text is a trailer, or the end of the last message. Where no other text ends a message, it is likelier
    /// the end.
    pub(in crate::derive) fn candidates(self) -> Vec<Candidate<Option<&'t str>>> {
        let marker = choice::marker(self.text);
        let trailer = Candidate::new(
            "of no message",
            format!("{marker} is not a part of the turn"),
            "it is gone once the model has answered",
            Some(self.text),
        );
        let end = Candidate::new(
            "the last message's end",
            format!("{marker} ends the turn"),
            "the last message may end otherwise than the others",
            None,
        );
        if self.is_apart {
            vec![trailer, end]
        } else {
            vec![end, trailer]
        }
    }
}

/// Returns the text at the end of a conversation that belongs to none of its messages, if there is any.
///
/// `asked` is a user's message, `prompt` is the same with the generation prompt, and `answered` has an answer as well. The generation
/// prompt is looked for in `answered`, before the answer: what stands between the user's words and it is the end of the user's message.
/// What `asked` has behind that end is the trailer, if `answered` ends with it as well. For example, in `<u>Hi</u>{END}`,
/// `<u>Hi</u>{END}<bot>` and `<u>Hi</u><bot>Yes{END}` the trailer is `{END}`.
pub(in crate::derive) fn read<'t>(
    asked: &'t str,
    prompt: &str,
    answered: &str,
) -> Option<Trailer<'t>> {
    let begins = prompt
        .strip_prefix(asked)
        .filter(|begins| !begins.trim().is_empty())?;
    let (before, after) = answered.rsplit_once(probe::CONTENT)?;
    let (_, before) = before.rsplit_once(probe::USER)?;
    let (end, _) = before.split_once(begins)?;
    let (_, rest) = asked.rsplit_once(probe::USER)?;
    let trailer = rest.strip_prefix(end)?;
    let is_one = !trailer.trim().is_empty() && after.ends_with(trailer);
    is_one.then(|| Trailer {
        text: trailer,
        is_apart: !end.trim().is_empty(),
    })
}

/// Returns the list of the tools where the chat template writes it behind the last message. It is the text by which a conversation with
/// tools is longer than the same conversation without them.
///
/// `without` and `with` are an answered conversation, `asked` is the one with tools before its answer, and `later` goes on with a question,
/// before which nothing of it stands. `name` is that of a tool.
pub(in crate::derive) fn of_tools<'t>(
    without: &str,
    with: &'t str,
    asked: &str,
    later: &str,
    name: &str,
) -> Option<&'t str> {
    let after = |render: &'t str| Some(render.rsplit_once(probe::CONTENT)?.1);
    let (_, end) = without.rsplit_once(probe::CONTENT)?;
    let listed = after(with)?.strip_prefix(end)?;
    let (_, next) = later.rsplit_once(probe::CONTENT)?;
    let (before_next, _) = next.split_once(probe::USER_AGAIN)?;
    let is_one = listed.contains(name) && asked.ends_with(listed);
    (is_one && !before_next.contains(listed.trim())).then_some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_are_listed_behind_the_last_message_are_no_part_of_it() {
        let (said, asked, again) = (probe::CONTENT, probe::USER, probe::USER_AGAIN);
        let listed = "<tools>fetch</tools>";
        let without = format!("<user>{asked}.<bot>{said}.");
        let found = |end: &str, asked_end: &str, between: &str| {
            let with = format!("<user>{asked}.<bot>{said}{end}");
            let asked = format!("<user>{asked}{asked_end}");
            let later = format!("<user>{asked}<bot>{said}{between}<user>{again}.{listed}");
            of_tools(&without, &with, &asked, &later, "fetch").map(str::to_owned)
        };
        let end = format!(".{listed}");
        assert_eq!(found(&end, &end, ".").as_deref(), Some(listed));
        assert_eq!(found(&end, ".", "."), None, "the question has none");
        assert_eq!(found(&end, &end, &end), None, "every answer has them");
        let inside = format!("{listed}.");
        assert_eq!(found(&inside, &inside, "."), None, "its end stands behind");
        assert_eq!(found(".!", ".!", "."), None, "no tool is told");
    }

    fn found(end: &str, trailer: &str, after_answer: &str, prompt: &str) -> Option<String> {
        found_after("<bot>", [end, trailer, after_answer, prompt])
    }

    fn found_after(begun: &str, [end, trailer, after_answer, prompt]: [&str; 4]) -> Option<String> {
        let asked = format!("<user>{}{end}{trailer}", probe::USER);
        let prompted = format!("{asked}{prompt}");
        let answered = format!(
            "<user>{}{end}{begun}{}{end}{after_answer}",
            probe::USER,
            probe::CONTENT
        );
        read(&asked, &prompted, &answered).map(|found| found.text.to_owned())
    }

    #[test]
    fn what_stands_before_the_prompt_is_nobodys() {
        let word = "<system>Answer now.<end>";
        assert_eq!(found("<end>", word, word, "<bot>").as_deref(), Some(word));
        assert_eq!(found("<end>", word, "", "<bot>"), None);
        assert_eq!(found("<end>\n", "", "", "<bot>"), None);
        assert_eq!(found("<end>", word, word, ""), None, "it may be the prompt");
        assert_eq!(found("<end>", word, word, "<bot><open>"), None);
        let closed = found_after("<bot><open><close>", ["<end>", word, word, "<bot><open>"]);
        assert_eq!(closed.as_deref(), Some(word));
    }

    #[test]
    fn where_nothing_else_ends_a_message_it_is_its_end() {
        let first = |is_apart| {
            let trailer = Trailer {
                text: "<end>",
                is_apart,
            };
            trailer.candidates()[0].value
        };
        assert_eq!(first(true), Some("<end>"));
        assert_eq!(first(false), None);
    }
}
