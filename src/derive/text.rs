//! Comparing renders: common beginnings and ends, and the tokens that stand at a cut.
//!
//! Two renders rarely part exactly where a marker ends: `<end>` and `<user>` share their first character. A cut is
//! therefore moved out of any bracket that it would split, which is all that is assumed about what markers look like.

/// The brackets that markers are written in, as pairs.
const BRACKETS: [(char, char); 4] = [('<', '>'), ('[', ']'), ('{', '}'), ('(', ')')];

/// Bytes that the two texts have in common at their beginning.
pub(super) fn common_prefix(a: &str, b: &str) -> usize {
    a.char_indices()
        .zip(b.chars())
        .find(|((_, x), y)| x != y)
        .map_or(a.len().min(b.len()), |((at, _), _)| at)
}

/// Bytes that the two texts have in common at their end.
pub(super) fn common_suffix(a: &str, b: &str) -> usize {
    a.chars()
        .rev()
        .zip(b.chars().rev())
        .take_while(|(x, y)| x == y)
        .map(|(x, _)| x.len_utf8())
        .sum()
}

/// Moves a cut that lies inside a bracket to before it.
pub(super) fn snap_back(text: &str, cut: usize) -> usize {
    if cut >= text.len() {
        return cut;
    }
    before_open_bracket(text, cut)
}

/// Where the first bracket begins that is open at `cut`, on its line; `cut` if none is.
pub(super) fn before_open_bracket(text: &str, cut: usize) -> usize {
    let line = text[..cut].rfind('\n').map_or(0, |at| at + 1);
    BRACKETS
        .iter()
        .filter_map(|&(open, close)| unclosed(&text[line..cut], open, close))
        .min()
        .map_or(cut, |at| line + at)
}

/// Moves a cut between what two texts share and where they part to before the header that it splits: where both go on with
/// a word, the marker before it belongs to that word, unless it is all that they share.
pub(super) fn before_header(a: &str, b: &str, mut cut: usize) -> usize {
    let goes_on = |text: &str, cut: usize| {
        text.get(cut..)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    };
    while goes_on(a, cut) && goes_on(b, cut) && !a[..cut].ends_with(char::is_whitespace) {
        match tokens(&a[..cut]).as_slice() {
            [_, .., last] => cut -= last.len(),
            _ => break,
        }
    }
    cut
}

/// Moves a cut directly behind a word to behind the marker that belongs to that word, unless that is all that follows.
pub(super) fn after_word(text: &str, cut: usize) -> usize {
    match tokens(&text[cut..]).as_slice() {
        [first, _, ..] if text[..cut].ends_with(char::is_alphanumeric) => cut + first.len(),
        _ => cut,
    }
}

/// Moves a cut that lies inside a bracket to after it.
pub(super) fn snap_forward(text: &str, cut: usize) -> usize {
    let start = snap_back(text, cut);
    if start == cut {
        return cut;
    }
    let closing = text[start..].chars().next().and_then(|open| {
        let (_, close) = BRACKETS.iter().find(|(o, _)| *o == open)?;
        let rest = &text[cut..];
        rest.find(*close).map(|at| cut + at + close.len_utf8())
    });
    closing.unwrap_or(cut)
}

/// Where the outermost bracket that is still open at the end of `text` begins.
fn unclosed(text: &str, open: char, close: char) -> Option<usize> {
    let mut stack = Vec::new();
    for (at, c) in text.char_indices() {
        if c == open {
            stack.push(at);
        } else if c == close {
            stack.pop();
        }
    }
    stack.first().copied()
}

/// Splits a run of literal text into its bracketed tokens and what stands between them; blank pieces are left out.
///
/// ```text
/// "<a>\n\n</a>x" is "<a>", "</a>", "x"
/// ```
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((start, end)) = first_bracket(rest) {
        found.push(&rest[..start]);
        found.push(&rest[start..end]);
        rest = &rest[end..];
    }
    found.push(rest);
    found
        .into_iter()
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .collect()
}

/// Whether a token is a bracket with what is in it.
pub(super) fn is_bracketed(token: &str) -> bool {
    first_bracket(token) == Some((0, token.len()))
}

/// The first bracket that closes on its own line and holds something.
fn first_bracket(text: &str) -> Option<(usize, usize)> {
    text.char_indices().find_map(|(start, open)| {
        let (_, close) = BRACKETS.iter().find(|(o, _)| *o == open)?;
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = start + text[start..line_end].find(*close)? + close.len_utf8();
        (end > start + open.len_utf8() + close.len_utf8()).then_some((start, end))
    })
}

/// What stands around things that repeat: around each, around all, and between two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Repeated {
    /// Before and after each.
    pub(super) each: (String, String),
    /// Before the first, beside its own.
    pub(super) before: String,
    /// Between two, beside their own.
    pub(super) separator: String,
    /// After the last, beside its own.
    pub(super) after: String,
}

/// Tells what belongs to each of two things from what belongs to both, by what stands before, between and after them.
pub(super) fn repeated(before: &str, between: &str, after: &str) -> Repeated {
    repeated_alike(before, between, after)
        .unwrap_or_else(|| repeated_bracketed(before, between, after))
}

/// The same where markers begin alike, which then says where each begins.
pub(super) fn repeated_alike(before: &str, between: &str, after: &str) -> Option<Repeated> {
    let ends_alike = common_prefix(between, after);
    let begins_alike = common_suffix(before, between);
    let cut = same_beginning(between, between.len() - begins_alike, ends_alike)?;
    Some(repeated_at(before, between, after, (cut, cut)))
}

/// The same by brackets and words, none of which is split.
pub(super) fn repeated_bracketed(before: &str, between: &str, after: &str) -> Repeated {
    let close = before_open_bracket(between, common_prefix(between, after));
    let close = word_begin(between, close);
    let shared = common_suffix(before, between).min(between.len() - close);
    let open = snap_forward(between, between.len() - shared).max(close);
    let open = word_end(between, open);
    repeated_at(before, between, after, (close, open))
}

/// Where the word begins that a cut would split; the cut itself if it splits none.
fn word_begin(text: &str, cut: usize) -> usize {
    match splits_word(text, cut) {
        true => text[..cut]
            .rfind(|c: char| !c.is_alphanumeric())
            .map_or(0, |at| {
                at + text[at..].chars().next().map_or(0, char::len_utf8)
            }),
        false => cut,
    }
}

/// Where the word ends that a cut would split; the cut itself if it splits none.
fn word_end(text: &str, cut: usize) -> usize {
    match splits_word(text, cut) {
        true => text[cut..]
            .find(|c: char| !c.is_alphanumeric())
            .map_or(text.len(), |at| cut + at),
        false => cut,
    }
}

fn splits_word(text: &str, cut: usize) -> bool {
    text[..cut].ends_with(char::is_alphanumeric) && text[cut..].starts_with(char::is_alphanumeric)
}

/// The same where the first closes and the second opens at these places in `between`.
fn repeated_at(
    before: &str,
    between: &str,
    after: &str,
    (close, open): (usize, usize),
) -> Repeated {
    Repeated {
        each: (between[open..].to_owned(), between[..close].to_owned()),
        before: before[..before.len() - (between.len() - open)].to_owned(),
        separator: between[close..open].to_owned(),
        after: after[close..].to_owned(),
    }
}

/// Where between `from` and `to` the second of two markers begins that begin alike, by as much as says that they do.
fn same_beginning(between: &str, from: usize, to: usize) -> Option<usize> {
    /// A bracket and a sign or two are no prefix that markers share.
    const TELLING: usize = 4;
    between
        .char_indices()
        .map(|(at, _)| at)
        .filter(|&at| at > 0 && (from..=to).contains(&at))
        .map(|at| (common_prefix(&between[at..], between), at))
        .max_by_key(|&(shared, at)| (shared, std::cmp::Reverse(at)))
        .filter(|&(shared, _)| shared >= TELLING)
        .map(|(_, at)| at)
}

/// The last token of a literal with the white space after it: what a search for the end of `text` should look for.
pub(super) fn last_token(text: &str) -> &str {
    tokens(text)
        .last()
        .and_then(|token| text.rfind(token))
        .map_or(text, |at| &text[at..])
}

/// Escapes a literal for Python's `regex`.
pub(super) fn escape(literal: &str) -> String {
    let mut escaped = String::with_capacity(literal.len());
    for c in literal.chars() {
        if matches!(
            c,
            '\\' | '.' | '^' | '$' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|'
        ) {
            escaped.push('\\');
        }
        match c {
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            '\r' => escaped.push_str("\\r"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A pattern for a literal in which each run of white space matches any run of white space, none included.
pub(super) fn escape_loosely(literal: &str) -> String {
    let mut pattern = String::new();
    let mut rest = literal;
    while !rest.is_empty() {
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        pattern.push_str(&escape(&rest[..word]));
        let blank = rest[word..]
            .find(|c: char| !c.is_whitespace())
            .unwrap_or(rest.len() - word);
        if blank > 0 {
            pattern.push_str("\\s*");
        }
        rest = &rest[word + blank..];
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_does_not_split_a_bracket() {
        let text = "Hi<end>\n<user>";
        let cut = common_prefix(text, "Hi<end>\n</s>");
        assert_eq!(&text[..cut], "Hi<end>\n<");
        assert_eq!(&text[..snap_back(text, cut)], "Hi<end>\n");
        assert_eq!(&text[..snap_forward(text, cut)], text);
    }

    #[test]
    fn a_cut_outside_brackets_stays() {
        assert_eq!(snap_back("<a>b<c>", 3), 3);
        assert_eq!(snap_back("<a>b<c>", 4), 4);
        assert_eq!(
            snap_back("2 < 3\n<a>", 6),
            6,
            "a lone bracket on an earlier line is prose"
        );
    }

    #[test]
    fn a_cut_does_not_split_a_header() {
        let cut = |a: &str, b: &str| before_header(a, b, common_prefix(a, b));
        assert_eq!(cut("<end><to>bot<sep>", "<end><to>user<sep>"), 5);
        assert_eq!(cut("<end><to>x y=\"bot\"", "<end><to>x y=\"user\""), 5);
        assert_eq!(cut("<end>", "<end><to>user"), 5);
        assert_eq!(cut("<end>bot", "<end>user"), 5);
        assert_eq!(cut("<end>\nbot", "<end>\nuser"), 6);
    }

    #[test]
    fn a_cut_behind_a_word_takes_its_marker() {
        assert_eq!(after_word("<out>tools<sep><end>", 10), 15);
        assert_eq!(after_word("</tools><sep><end>", 8), 8);
        assert_eq!(after_word("tools<end>", 5), 5);
    }

    #[test]
    fn tokens_are_brackets_and_words() {
        assert_eq!(tokens("<a>\n\n</a>x\n"), ["<a>", "</a>", "x"]);
        assert_eq!(tokens("[X][1]y"), ["[X]", "[1]", "y"]);
        assert_eq!(tokens(" \n"), Vec::<&str>::new());
        assert_eq!(last_token("\"}[/X]\n"), "[/X]\n");
    }

    #[test]
    fn what_repeats_is_told_from_what_does_not() {
        let found = repeated("<all>\n<one>", "</one>, <one>", "</one>\n</all>");
        assert_eq!(found.each, ("<one>".to_owned(), "</one>".to_owned()));
        assert_eq!(
            (found.before.as_str(), found.after.as_str()),
            ("<all>\n", "\n</all>")
        );
        assert_eq!(found.separator, ", ");
    }

    #[test]
    fn what_repeats_does_not_split_a_word() {
        let found = repeated("call ", " call ", " cease");
        assert_eq!(found.each, ("call ".to_owned(), " ".to_owned()));
        assert_eq!(found.after, "cease");
    }

    /// Brackets that do not pair say nothing of where a marker begins, but what all of them begin with does.
    #[test]
    fn markers_with_a_prefix_of_brackets() {
        let found = repeated(
            "]<x[<all>]<x[<one ",
            "]<x[</one>]<x[<one ",
            "]<x[</one>]<x[</all>",
        );
        assert_eq!(
            found.each,
            ("]<x[<one ".to_owned(), "]<x[</one>".to_owned())
        );
        assert_eq!(
            (found.before.as_str(), found.after.as_str()),
            ("]<x[<all>", "]<x[</all>")
        );
    }

    #[test]
    fn loose_patterns_let_white_space_vary() {
        assert_eq!(escape_loosely("<|a|>\n"), "<\\|a\\|>\\s*");
        assert_eq!(escape_loosely("a b"), "a\\s*b");
    }
}
