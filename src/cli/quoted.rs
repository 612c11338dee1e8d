//! Text in the quotes of what it is written into: a shell's, or Markdown's.

use std::path::Path;

use super::escape;

/// A word of a command line, escaped for the terminal too.
pub(crate) fn shell(word: &str) -> String {
    let is_bare = |c: char| c.is_alphanumeric() || "/._-+:@".contains(c);
    if !word.is_empty() && word.chars().all(is_bare) {
        return word.to_owned();
    }
    escape::line(&format!("'{}'", word.replace('\'', r"'\''"))).into_owned()
}

/// A file as a command takes it, escaped for the terminal too.
pub(crate) fn as_argument(path: &Path) -> String {
    shell(&path.display().to_string())
}

/// Text as code within a line of Markdown.
pub(crate) fn code(text: &str) -> String {
    let ticks = ticks(text, 1);
    // A space keeps a tick of the text's own from joining these.
    let pad = if text.contains('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A sentence in Markdown: what it has between backticks is code, and everything else is shown as it is. A delimiter such as `<think>` would not be
/// seen otherwise, and `<!--` would hide what follows.
pub(crate) fn prose(text: &str) -> String {
    let spans = text.split('`').count();
    let is_paired = spans % 2 == 1;
    let mut shown = String::new();
    for (number, part) in text.split('`').enumerate() {
        if number > 0 {
            shown.push_str(if is_paired { "`" } else { r"\`" });
        }
        if is_paired && number % 2 == 1 {
            shown.push_str(part);
            continue;
        }
        for sign in part.chars() {
            if r"\<>&*_[]~|#".contains(sign) {
                shown.push('\\');
            }
            shown.push(sign);
        }
    }
    shown
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
    fn a_sentence_shows_what_it_has() {
        assert_eq!(
            prose(r#"a call in "<think>" is `a<b>` and <!--"#),
            r#"a call in "\<think\>" is `a<b>` and \<!--"#
        );
        assert_eq!(prose("a`b *c*"), r"a\`b \*c\*");
        assert_eq!(prose("[x](y) & z_1"), r"\[x\](y) \& z\_1");
    }

    #[test]
    fn a_word_of_a_command_line_stays_one() {
        assert_eq!(shell("org/model@v1.5"), "org/model@v1.5");
        assert_eq!(shell("my model"), "'my model'");
        assert_eq!(shell("it's"), r"'it'\''s'");
        assert_eq!(as_argument(Path::new("-")), "-");
        assert_eq!(
            as_argument(Path::new("my model/a.json")),
            "'my model/a.json'"
        );
    }
}
