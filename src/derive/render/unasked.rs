//! Generation prompts that the template writes at the end of every conversation, asked for or not. Such a prompt then looks like the end of
//! the last message.

use crate::derive::choice::{Candidate, marker};
use crate::derive::compare::pieces::Pieces;
use crate::derive::probe;

/// Renders of one conversation that grows, none of which asks for a generation prompt.
#[derive(Debug)]
pub(in crate::derive) struct Renders<'t> {
    /// The conversation up to a user's message.
    pub(in crate::derive) asked: &'t str,
    /// The conversation with the answer.
    pub(in crate::derive) answered: &'t str,
    /// The conversation with another message of the user.
    pub(in crate::derive) asked_again: &'t str,
}

/// Returns the candidates for the prompt with which each of the renders ends; none where they do not end with one.
///
/// Behind an answer stands the end of its turn, and then either the header of the next message or the prompt. The text at the end is a
/// prompt if it also stands behind the user's message, and if an answer there was rendered as going on from the beginning of that text.
pub(in crate::derive) fn candidates<'t>(
    renders: &Renders<'t>,
    pieces: &Pieces,
) -> Vec<Candidate<Option<&'t str>>> {
    let Some((longer, shorter)) = prompts(renders, pieces) else {
        return Vec::new();
    };
    let candidate = |name, because, prompt: &'t str| {
        let means = format!("{} at the end of all", marker(prompt));
        Candidate::new(name, means, because, Some(prompt))
    };
    let mut candidates = Vec::new();
    candidates.extend(longer.map(|prompt| {
        candidate(
            "with what begins every message",
            "the conversation begins with it as well",
            prompt,
        )
    }));
    candidates.push(candidate(
        "where the next message would be another",
        "up to there an answer is followed by the same where another message follows",
        shorter,
    ));
    // If the longer prompt would leave nothing that ends an answer, the text with which the conversation begins ends its messages, and the
    // shorter one is likelier.
    if longer.is_some_and(|longer| ends_nothing(renders, longer)) {
        candidates.reverse();
    }
    candidates.push(Candidate::new(
        "none",
        "no prompt",
        "it may end the last message",
        None,
    ));
    candidates
}

/// Returns true if nothing stands between an answer and this prompt.
fn ends_nothing(renders: &Renders<'_>, prompt: &str) -> bool {
    let before = renders.answered.strip_suffix(prompt).unwrap_or_default();
    before.trim_end().ends_with(probe::CONTENT)
}

/// Returns the prompt, and before it the longer one that includes the header of every message, if there is such a header.
fn prompts<'t>(renders: &Renders<'t>, pieces: &Pieces) -> Option<(Option<&'t str>, &'t str)> {
    let Renders {
        asked,
        answered,
        asked_again,
    } = renders;
    let (_, at_end) = answered.rsplit_once(probe::CONTENT)?;
    let (_, rest) = asked_again.rsplit_once(probe::CONTENT)?;
    let (in_middle, _) = rest.split_once(probe::USER_AGAIN)?;
    let end = pieces.shared_before_header(at_end, in_middle);
    let end = pieces.before_header(at_end, end, asked);
    let own = at_end[end..].trim_start();
    let (_, after_user) = asked.rsplit_once(probe::USER)?;
    let (_, rest) = answered.rsplit_once(probe::USER)?;
    let (before_answer, _) = rest.split_once(probe::CONTENT)?;
    let begun = pieces.shared_start(after_user, before_answer);
    if own.is_empty() || !after_user.ends_with(own) || begun <= after_user.len() - own.len() {
        return None;
    }
    // The prompt may begin with the header of every message, with which the whole conversation begins as well.
    let shorter = at_end.len() - own.len();
    let mut start = shorter;
    while let Some(token) = pieces.tokens(&at_end[..start]).last()
        && pieces.opening(asked).contains(token)
    {
        start = at_end[..start].rfind(token)?;
    }
    let longer = (start < shorter).then(|| &at_end[start..]);
    Some((longer, &at_end[shorter..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(end: &str, prompt_after_user: &str, prompt: &str) -> Option<String> {
        found_after("", end, prompt_after_user, prompt)
    }

    fn found_after(
        beginning: &str,
        end: &str,
        prompt_after_user: &str,
        prompt: &str,
    ) -> Option<String> {
        let turn = if beginning.is_empty() { "<turn>" } else { "" };
        let said = |role: &str, text: &str| format!("{turn}<{role}>{text}{end}");
        let user = said("user", probe::USER);
        let answer = said("bot", probe::CONTENT);
        let again = said("user", probe::USER_AGAIN);
        let renders = Renders {
            asked: &format!("{beginning}{user}{prompt_after_user}"),
            answered: &format!("{user}{answer}{prompt}"),
            asked_again: &format!("{user}{answer}{again}{prompt_after_user}"),
        };
        let known = [
            "<turn>", "<user>", "<bot>", "</turn>", "<sep>", "<no>", "<done>",
        ];
        let pieces = Pieces::of([], known);
        let first = candidates(&renders, &pieces).into_iter().next()?;
        first.value.map(str::to_owned)
    }

    #[test]
    fn a_prompt_ends_every_render() {
        assert_eq!(
            found("</turn>", "<turn><bot>", "<turn><bot>").as_deref(),
            Some("<turn><bot>")
        );
        assert_eq!(
            found("</turn>\n", "<turn><bot><no>", "<turn><bot><no>").as_deref(),
            Some("<turn><bot><no>")
        );
    }

    #[test]
    fn what_ends_each_message_is_not_the_prompt_s() {
        assert_eq!(
            found_after("<sep>", "<sep>", "<bot>", "<bot>").as_deref(),
            Some("<bot>")
        );
    }

    #[test]
    fn an_end_of_all_is_no_prompt() {
        assert_eq!(found("</turn>", "", ""), None);
        assert_eq!(found("</turn>", "<done>", "<done>"), None);
        assert_eq!(found("</turn>", "", "<turn><bot>"), None);
    }
}
