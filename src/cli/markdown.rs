//! Markdown for a terminal: what the pages of `obverse explain` are written in, with styles in the place of marks.
//!
//! Headings, paragraphs, lists, tables and blocks of code are all that these pages have. Comments, which only tests read, are left out.

use pulldown_cmark::{CodeBlockKind, Event, Options as Extensions, Parser, Tag, TagEnd};
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

use super::color::{BLUE, BOLD, DIM, paint};
use super::escape;

/// Lines of text are no longer than this, however wide the terminal is.
const WIDEST: usize = 100;

/// A space at which no line is broken, until the page is written: a character for private use, which no page has.
const KEPT: char = '\u{e000}';

/// Before a line of code.
const INDENT: &str = "    ";

/// The text, styled and escaped, its paragraphs broken to fit.
pub(crate) fn render(markdown: &str, columns: Option<usize>) -> String {
    let mut page = Page {
        columns: columns.unwrap_or(WIDEST).min(WIDEST),
        ..Page::default()
    };
    for event in Parser::new_ext(markdown, Extensions::ENABLE_TABLES) {
        page.take(event);
    }
    page.out.trim_end().replace(KEPT, " ") + "\n"
}

#[derive(Default)]
struct Page {
    columns: usize,
    out: String,
    /// The paragraph, the item or the cell that is under way, styled.
    text: String,
    is_strong: bool,
    is_faint: bool,
    is_code: bool,
    /// True in code that is JSON, which means the same on more lines.
    is_json: bool,
    is_heading: bool,
    is_table: bool,
    /// How deep in lists.
    depth: usize,
    /// The rows of the table that is under way.
    rows: Vec<Vec<String>>,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.is_code => self.code(&text),
            Event::Text(text) => self.words(&text),
            Event::Code(code) => {
                let shown = escape::line(&code);
                // Code says something else when it is torn, and is broken only where no line has room for it.
                let styled = match display_width(&shown) <= self.room() {
                    true => paint(BLUE, &shown.replace(' ', KEPT.encode_utf8(&mut [0; 4]))),
                    false => each_word(&shown, BLUE),
                };
                self.text.push_str(&styled);
            }
            Event::SoftBreak | Event::HardBreak => self.text.push(' '),
            Event::Rule => self.out.push('\n'),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { .. } => self.is_heading = true,
            Tag::Strong => self.is_strong = true,
            Tag::Emphasis => self.is_faint = true,
            Tag::CodeBlock(kind) => {
                self.is_code = true;
                self.is_json =
                    matches!(kind, CodeBlockKind::Fenced(language) if &**language == "json");
            }
            Tag::List(_) => self.depth += 1,
            Tag::Table(_) => {
                self.rows.clear();
                self.is_table = true;
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.is_heading = false;
                self.paragraph("");
            }
            TagEnd::Paragraph if self.depth == 0 => self.paragraph(""),
            TagEnd::Item => self.paragraph(&("  ".repeat(self.depth - 1) + "- ")),
            TagEnd::Strong => self.is_strong = false,
            TagEnd::Emphasis => self.is_faint = false,
            TagEnd::CodeBlock => {
                self.is_code = false;
                self.out.push('\n');
            }
            TagEnd::List(_) => {
                self.depth -= 1;
                self.out.push('\n');
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                self.is_table = false;
                self.table();
            }
            _ => {}
        }
    }

    /// The columns that a line of text has at least, further in as it may stand.
    fn room(&self) -> usize {
        match self.is_table {
            true => self.columns / 2,
            false => self.columns.saturating_sub(2 * self.depth),
        }
    }

    fn words(&mut self, text: &str) {
        let shown = escape::line(text);
        let styled = match (self.is_heading || self.is_strong, self.is_faint) {
            (true, _) => each_word(&shown, BOLD),
            (_, true) => each_word(&shown, DIM),
            _ => shown.into_owned(),
        };
        self.text.push_str(&styled);
    }

    fn code(&mut self, text: &str) {
        for line in text.lines() {
            let shown = escape::line(line);
            let styled = match shown.strip_prefix("$ ") {
                Some(command) => paint(DIM, "$ ") + &paint(BOLD, command),
                None if self.is_json => self.json(&shown),
                None => shown.into_owned(),
            };
            self.out.push_str(&format!("{INDENT}{styled}\n"));
        }
    }

    /// A line of JSON, broken at spaces outside of strings where it is too long. A string that no line has room for stays whole.
    fn json(&self, line: &str) -> String {
        let room = self.columns.saturating_sub(INDENT.len());
        let start = line.len() - line.trim_start().len();
        let mut out = line[..start].to_owned();
        let mut column = start;
        for (index, piece) in json_pieces(&line[start..]).into_iter().enumerate() {
            let width = display_width(piece);
            if index > 0 {
                if column + 1 + width > room {
                    let further = format!("\n{INDENT}{}  ", &line[..start]);
                    column = start + 2;
                    out.push_str(&further);
                } else {
                    out.push(' ');
                    column += 1;
                }
            }
            out.push_str(piece);
            column += width;
        }
        out
    }

    /// The paragraph that is under way, after `start`; of an item no empty line follows.
    fn paragraph(&mut self, start: &str) {
        let text = std::mem::take(&mut self.text);
        let hang = " ".repeat(start.len());
        self.out.push_str(&self.filled(&text, start, &hang));
        self.out
            .push_str(if start.is_empty() { "\n\n" } else { "\n" });
    }

    fn filled(&self, text: &str, first: &str, further: &str) -> String {
        let options = Options::new(self.columns)
            .initial_indent(first)
            .subsequent_indent(further)
            .break_words(false)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation);
        textwrap::fill(text, options)
    }

    /// The table: the last column takes what room is left.
    fn table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| display_width(cell)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in rows {
            let mut start = String::new();
            for (cell, width) in row.iter().zip(&widths).take(columns.saturating_sub(1)) {
                let padding = " ".repeat(width - display_width(cell) + 2);
                start.push_str(&format!("{cell}{padding}"));
            }
            let hang = " ".repeat(display_width(&start).min(self.columns / 2));
            let last = row
                .get(columns.saturating_sub(1))
                .map_or("", String::as_str);
            self.out
                .push_str(self.filled(last, &start, &hang).trim_end());
            self.out.push('\n');
        }
        self.out.push('\n');
    }
}

/// Each word styled for itself, so that a line may be broken anywhere between words.
fn each_word(text: &str, style: anstyle::Style) -> String {
    let word = |word: &str| match word {
        "" => String::new(),
        word => paint(style, word),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The parts of a line of JSON between spaces, those in strings aside.
fn json_pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut in_string, mut is_escaped) = (0, false, false);
    for (at, c) in line.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = in_string,
            '"' => in_string = !in_string,
            ' ' if !in_string => {
                pieces.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&line[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "## a-code\n\n*`obverse derive`, info*\n\nA **bold word** and `some code` in a paragraph that is broken.\n\n\
        - one\n- two of them, which is longer\n\n<!-- file: x -->\n```console\n$ obverse x\nout  put\n```\n\n\
        | a | b |\n|---|---|\n| `x` | a cell of words |\n";

    #[test]
    fn marks_are_gone_and_lines_fit() {
        let text = render(PAGE, Some(30));
        let plain = anstream::adapter::strip_str(&text).to_string();
        insta::assert_snapshot!(plain, @r"
        a-code

        obverse derive, info

        A bold word and some code in a
        paragraph that is broken.

        - one
        - two of them, which is longer

            $ obverse x
            out  put

        a  b
        x  a cell of words
        ");
        assert!(text.contains("\u{1b}[1ma-code"), "{text:?}");
    }

    #[test]
    fn code_stays_whole_where_a_line_has_room_for_it() {
        let text = "One two three `\"close\": \"x\"` four.\n\n- and `a b` there `obverse derive x --explain --out-dir y`\n";
        let plain = anstream::adapter::strip_str(&render(text, Some(24))).to_string();
        insta::assert_snapshot!(plain, @r#"
        One two three
        "close": "x" four.

        - and a b there obverse
          derive x --explain
          --out-dir y
        "#);
    }

    #[test]
    fn json_is_broken_between_members_and_not_in_strings() {
        let text = "```json\n{\"open\": \"<a b>\", \"close\": \"a string that no line has room for\", \"c\": 1}\n```\n";
        let plain = anstream::adapter::strip_str(&render(text, Some(24))).to_string();
        insta::assert_snapshot!(plain, @r#"
            {"open": "<a b>",
              "close":
              "a string that no line has room for",
              "c": 1}
        "#);
    }

    #[test]
    fn nothing_acts_upon_the_terminal() {
        let text = render(
            "a \u{1b}]0;x\u{7} `\u{1b}[2J`\n\n```\n\u{1b}[2J\n```\n",
            None,
        );
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert!(
            !plain.contains('\u{1b}') && !text.contains("\u{1b}["[..].repeat(2).as_str()),
            "{text:?}"
        );
        assert_eq!(escape::block(&plain), plain);
    }
}
