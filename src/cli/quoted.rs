//! Text in the quotes of what it is written into: a shell's, or Markdown's.

use super::escape;

/// A word of a command line, escaped for the terminal too.
pub(crate) fn shell(word: &str) -> String {
    let is_bare = |c: char| c.is_alphanumeric() || "/._-+:@".contains(c);
    if !word.is_empty() && word.chars().all(is_bare) {
        return word.to_owned();
    }
    escape::line(&format!("'{}'", word.replace('\'', r"'\''"))).into_owned()
}

/// Text as code within a line of Markdown.
pub(crate) fn code(text: &str) -> String {
    let ticks = ticks(text, 1);
    // A space keeps a tick of the text's own from joining these.
    let pad = if text.contains('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Text as a block of code in Markdown, of this language.
pub(crate) fn block(language: &str, text: &str) -> String {
    let ticks = ticks(text, 3);
    format!("{ticks}{language}\n{text}\n{ticks}\n")
}

/// Backticks, one more than the text has in a row.
fn ticks(text: &str, least: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(least.max(longest + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_has_ticks_stays_code() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a``"), "``` a`` ```");
        assert_eq!(block("text", "```json"), "````text\n```json\n````\n");
    }

    #[test]
    fn a_word_of_a_command_line_stays_one() {
        assert_eq!(shell("org/model@v1.5"), "org/model@v1.5");
        assert_eq!(shell("my model"), "'my model'");
        assert_eq!(shell("it's"), r"'it'\''s'");
    }
}
