//! Markers around things that repeat, such as calls: the texts that belong to each of two things, told from those that belong to both
//! together.

use super::pieces::Pieces;

/// The texts around things that repeat: around each, around all, and between two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::derive) struct Repeated {
    /// The texts before and after each.
    pub(in crate::derive) each: (String, String),
    /// The text before the first thing that does not belong to that thing alone.
    pub(in crate::derive) before: String,
    /// The text between two things that belongs to neither of them.
    pub(in crate::derive) separator: String,
    /// The text after the last thing that does not belong to that thing alone.
    pub(in crate::derive) after: String,
}

/// Tells the text that belongs to each of two things from the text that belongs to both, by the texts before, between and after them. The
/// likeliest candidate comes first.
///
/// The text between two things begins with the end of the first, which it shares with the text after the last one, and ends with the
/// beginning of the second, which it shares with the text before the first one. Pieces are not split. In `[f(1)][g(2)]` the text between is
/// `][`, of which `]` ends each call and `[` begins it. The two may overlap, where the end of a thing begins as its beginning does. Then
/// there are two candidates, and in each of them one of the two is cut short.
///
/// A piece of the text before the first thing, or after the last one, is split where whole markers of the text between are a part of it: of
/// `<all><one>`, one constant, before the first and `</one><one>` between two, `<one>` begins each.
pub(in crate::derive) fn candidates(
    pieces: &Pieces,
    before: &str,
    between: &str,
    after: &str,
) -> Vec<Repeated> {
    let close = pieces.shared_start(between, after);
    let close = close.max(pieces.start_within(between, after));
    let open = pieces.shared_end(before, between);
    let open = between.len() - open.max(pieces.end_within(between, before));
    let candidates = if close <= open {
        vec![(close, open)]
    } else if between[open..close].trim().is_empty() {
        // White space behind a line feed indents what follows it.
        let line = between[open..close].rfind('\n').map(|at| open + at + 1);
        let cut = line.unwrap_or(close);
        vec![(cut, cut)]
    } else {
        vec![(open, open), (close, close)]
    };
    candidates
        .into_iter()
        .map(|(close, open)| Repeated {
            each: (between[open..].to_owned(), between[..close].to_owned()),
            before: before[..before.len() - (between.len() - open)].to_owned(),
            separator: between[close..open].to_owned(),
            after: after[close..].to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(known: &[&str], before: &str, between: &str, after: &str) -> Vec<Repeated> {
        candidates(
            &Pieces::of([], known.iter().copied()),
            before,
            between,
            after,
        )
    }

    #[test]
    fn what_repeats_is_told_from_what_does_not() {
        let known = ["<all>", "<one>", "</one>", "</all>", ", "];
        let found = &repeated(&known, "<all>\n<one>", "</one>, <one>", "</one>\n</all>")[0];
        assert_eq!(found.each, ("<one>".to_owned(), "</one>".to_owned()));
        assert_eq!(
            (found.before.as_str(), found.after.as_str()),
            ("<all>\n", "\n</all>")
        );
        assert_eq!(found.separator, ", ");
    }

    #[test]
    fn white_space_that_indents_belongs_to_what_follows() {
        let found = &repeated(&[], "run x\n    ", "\n    ", "\n  run y")[0];
        assert_eq!(found.each, ("    ".to_owned(), "\n".to_owned()));
        assert_eq!(found.after, "  run y");
    }

    #[test]
    fn a_piece_is_not_split() {
        let found = &repeated(&["call", "cease"], "call ", " call ", " cease")[0];
        assert_eq!(found.each, ("call ".to_owned(), " ".to_owned()));
        assert_eq!(found.after, "cease");
    }

    #[test]
    fn a_piece_around_all_is_split_where_one_of_those_between_is_a_part_of_it() {
        let known = ["<all><one>", "<one>", "</one>", "</one></all>"];
        let found = &repeated(&known, "<all><one>", "</one><one>", "</one></all>")[0];
        assert_eq!(found.each, ("<one>".to_owned(), "</one>".to_owned()));
        assert_eq!(
            (found.before.as_str(), found.after.as_str()),
            ("<all>", "</all>")
        );
        let known = ["recall", "call", "end"];
        let found = &repeated(&known, "recall", "end call", "end")[0];
        assert_eq!(found.each.0, "", "a word is not split");
    }

    #[test]
    fn markers_that_begin_alike() {
        let known = ["]<x[", "<all>", "<one ", "</one>", "</all>"];
        let found = &repeated(
            &known,
            "]<x[<all>]<x[<one ",
            "]<x[</one>]<x[<one ",
            "]<x[</one>]<x[</all>",
        )[0];
        assert_eq!(
            found.each,
            ("]<x[<one ".to_owned(), "]<x[</one>".to_owned())
        );
        assert_eq!(
            (found.before.as_str(), found.after.as_str()),
            ("]<x[<all>", "]<x[</all>")
        );
    }
}
