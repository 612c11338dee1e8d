//! How wide the terminal is, and text that is broken between words to fit.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// In less than this nothing is made to fit.
const LEAST: usize = 30;

/// The columns of the terminal that results go to; `None` where they go elsewhere.
pub(crate) fn of_results() -> Option<usize> {
    columns(io::stdout().is_terminal())
}

/// The columns of the terminal on which people are told things; `None` where they go elsewhere.
pub(crate) fn of_messages() -> Option<usize> {
    columns(io::stderr().is_terminal())
}

/// `COLUMNS` counts where it is set, which shells do not do by themselves.
fn columns(is_terminal: bool) -> Option<usize> {
    let told = std::env::var("COLUMNS").ok();
    let told = told.and_then(|text| text.parse().ok());
    let known = || {
        let (columns, _) = crossterm::terminal::size().ok()?;
        Some(usize::from(columns))
    };
    told.or_else(|| is_terminal.then(known).flatten())
        .filter(|columns| *columns > 0)
        .map(|columns: usize| columns.max(LEAST))
}

/// Each line that is too long broken between words; what does not fit stands below its beginning. The text may be styled.
pub(crate) fn fit(text: &str, columns: Option<usize>) -> Cow<'_, str> {
    let Some(columns) = columns else {
        return Cow::Borrowed(text);
    };
    if text.lines().all(|line| display_width(line) <= columns) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        if display_width(line) <= columns {
            out.push_str(line);
        } else {
            out.push_str(&broken(line, columns));
        }
        out.push_str(end);
    }
    Cow::Owned(out)
}

fn broken(line: &str, columns: usize) -> String {
    let body = line.trim_start_matches(' ');
    let start = &line[..line.len() - body.len()];
    let indent = " ".repeat(hang(line, columns));
    let options = Options::new(columns)
        .initial_indent(start)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(body, options)
}

/// The column in which further lines begin: that of the text in a row with a name before it, and otherwise a little further in.
fn hang(line: &str, columns: usize) -> usize {
    let plain = anstream::adapter::strip_str(line).to_string();
    let body = plain.trim_start_matches(' ');
    let start = plain.len() - body.len();
    let text = body.find("  ").map(|gap| {
        let rest = &body[gap..];
        let blank = rest.len() - rest.trim_start_matches(' ').len();
        start + display_width(&body[..gap]) + blank
    });
    text.filter(|column| *column <= columns / 3)
        .unwrap_or(start + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        let text = "short\n  name  one two three four\n  one two three four\n\nx";
        assert_eq!(
            fit(text, Some(16)),
            "short\n  name  one two three\n    four\n  one two three\n    four\n\nx".replace(
                "one two three\n    four\n  one",
                "one two\n    three four\n  one"
            )
        );
        assert_eq!(
            fit("  name  one two three four", Some(24)),
            "  name  one two three\n        four"
        );
        assert!(matches!(fit(text, None), Cow::Borrowed(_)));
        assert!(matches!(fit(text, Some(80)), Cow::Borrowed(_)));
    }

    #[test]
    fn styles_take_no_room_and_long_words_stay_whole() {
        let styled = "\u{1b}[1mone\u{1b}[0m two three";
        assert_eq!(fit(styled, Some(13)), styled);
        assert_eq!(fit("a bbbbbbbbbbbb c", Some(8)), "a\n  bbbbbbbbbbbb\n  c");
    }
}
