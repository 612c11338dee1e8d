//! Does the template write something after the last message that belongs to no message? What stands there before the
//! generation prompt, and vanishes once the model has answered, the model never writes.

use super::choice::{self, Reading};
use super::probe;

/// What stands after the last message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Afterword<'t> {
    pub(super) text: &'t str,
    /// Whether something else ends a message.
    is_apart: bool,
}

impl<'t> Afterword<'t> {
    /// Whether it is an afterword or the end of the last message. Where nothing else ends a message, it is likelier the end.
    pub(super) fn readings(self) -> Vec<Reading<Option<&'t str>>> {
        let marker = choice::marker(self.text);
        let afterword = Reading::new(
            "of no message",
            format!("{marker} is not a part of the turn"),
            "it is gone once the model has answered",
            Some(self.text),
        );
        let end = Reading::new(
            "the last message's end",
            format!("{marker} ends the turn"),
            "the last message may end otherwise than the others",
            None,
        );
        if self.is_apart {
            vec![afterword, end]
        } else {
            vec![end, afterword]
        }
    }
}

/// What a conversation ends with that belongs to none of its messages, if anything does.
///
/// `asked` is a user's message, `prompt` the same with the generation prompt, and `answered` goes on with an answer. Where the
/// answer begins as the prompt says, whatever it has before its content, what stands before that ends the user's message; what the conversation has beyond is
/// the afterword, if the answered one ends with it as well.
pub(super) fn read<'t>(asked: &'t str, prompt: &str, answered: &str) -> Option<Afterword<'t>> {
    let begins = prompt
        .strip_prefix(asked)
        .filter(|begins| !begins.trim().is_empty())?;
    let (before, after) = answered.rsplit_once(probe::CONTENT)?;
    let (_, before) = before.rsplit_once(probe::USER)?;
    let (end, _) = before.split_once(begins)?;
    let (_, rest) = asked.rsplit_once(probe::USER)?;
    let afterword = rest.strip_prefix(end)?;
    let is_one = !afterword.trim().is_empty() && after.ends_with(afterword);
    is_one.then(|| Afterword {
        text: afterword,
        is_apart: !end.trim().is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(end: &str, afterword: &str, after_answer: &str, prompt: &str) -> Option<String> {
        found_after("<bot>", [end, afterword, after_answer, prompt])
    }

    fn found_after(
        begun: &str,
        [end, afterword, after_answer, prompt]: [&str; 4],
    ) -> Option<String> {
        let asked = format!("<user>{}{end}{afterword}", probe::USER);
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
            let afterword = Afterword {
                text: "<end>",
                is_apart,
            };
            afterword.readings()[0].value
        };
        assert_eq!(first(true), Some("<end>"));
        assert_eq!(first(false), None);
    }
}
