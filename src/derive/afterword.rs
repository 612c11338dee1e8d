//! Does the template write something after the last message that belongs to no message? What stands there before the
//! generation prompt, and vanishes once the model has answered, the model never writes.

use super::probe;

/// What a conversation ends with that belongs to none of its messages, if anything does.
///
/// `asked` is a user's message, `prompt` the same with the generation prompt, and `answered` goes on with an answer. Where the
/// answer begins as the prompt says, whatever it has before its content, what stands before that ends the user's message; what the conversation has beyond is
/// the afterword, if the answered one ends with it as well.
pub(super) fn read<'t>(asked: &'t str, prompt: &str, answered: &str) -> Option<&'t str> {
    let begins = prompt
        .strip_prefix(asked)
        .filter(|begins| !begins.trim().is_empty())?;
    let (before, after) = answered.rsplit_once(probe::CONTENT)?;
    let (_, before) = before.rsplit_once(probe::USER)?;
    let (end, _) = before.split_once(begins)?;
    let (_, rest) = asked.rsplit_once(probe::USER)?;
    let afterword = rest.strip_prefix(end)?;
    (!afterword.trim().is_empty() && after.ends_with(afterword)).then_some(afterword)
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
        read(&asked, &prompted, &answered).map(str::to_owned)
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
}
