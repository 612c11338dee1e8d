//! Texts that last to what closes them, as parsing expressions.

use crate::grammar::avoid::{Avoid, Piece};
use crate::grammar::chars::Chars;
use crate::grammar::peg::build::{
    Expr, any, chars, choice, eps, literal, negate, one_or_more, rest, sequence, until_one_of,
    zero_or_more,
};

/// White space, as much as there is.
pub(super) fn blanks() -> Expr {
    chars(Chars::space().class_text(), 0, None)
}

/// Characters of a set.
pub(super) fn run(of: &Chars, min: u32, max: Option<u32>) -> Expr {
    chars(of.class_text(), min, max)
}

/// A text of words, without the white space around it, in which nothing stands that is avoided.
pub(super) fn words(avoid: &Avoid) -> Expr {
    let black = Chars::space().negated();
    let sought = sought(avoid);
    let starts = avoid.pieces().iter().filter_map(|pieces| pieces.first());
    // Of most characters no delimiter begins: they are passed over together.
    let easy = starts.fold(black.clone(), |easy, piece| {
        let start = match piece {
            Piece::Text(text) => text.chars().next().map(Chars::one),
            Piece::Run(chars, _) => Some(chars.clone()),
            Piece::Space => None,
        };
        start.map_or(easy.clone(), |start| easy.and(&start.negated()))
    });
    let word = match sought {
        None => run(&black, 1, None),
        Some(sought) => {
            let one = sequence([negate(sought), run(&black, 1, Some(1))]);
            if easy.is_empty() {
                one_or_more(one)
            } else {
                one_or_more(choice([run(&easy, 1, None), one]))
            }
        }
    };
    zero_or_more(sequence([blanks(), word]))
}

/// A text as it is, to the first place at which one of these follows, or something stands that is avoided.
pub(super) fn until(avoid: &Avoid, following: &[String]) -> Expr {
    let following = following.iter().map(String::as_str);
    match avoid.literals() {
        Some(texts) => {
            let mut all: Vec<&str> = following.chain(texts).collect();
            all.sort_unstable();
            all.dedup();
            match all.is_empty() {
                true => rest(),
                false => until_one_of(all),
            }
        }
        None => {
            let all = following.map(literal).chain(sought(avoid));
            zero_or_more(sequence([negate(choice(all)), any()]))
        }
    }
}

/// A name that goes on to where this follows. It has a character at least, and no line feed: otherwise it would go on from one call into the next where
/// the first has no arguments, and something else behind its name.
pub(super) fn name_before(stop: Expr) -> Expr {
    one_or_more(sequence([negate(stop), chars("[^\r\n]", 1, Some(1))]))
}

/// Any of what is avoided; `None` where nothing is.
fn sought(avoid: &Avoid) -> Option<Expr> {
    let each = avoid.pieces().iter();
    let mut each: Vec<Expr> = each.map(|pieces| found(pieces)).collect();
    match each.len() {
        0 => None,
        1 => each.pop(),
        _ => Some(choice(each)),
    }
}

/// These pieces one after the other. A run of characters stops where what is behind it begins, which it might take otherwise.
fn found(pieces: &[Piece]) -> Expr {
    let Some((first, rest)) = pieces.split_first() else {
        return eps();
    };
    let piece = match first {
        Piece::Text(text) => literal(text),
        Piece::Space => blanks(),
        Piece::Run(chars, min) if rest.is_empty() => run(chars, *min, None),
        Piece::Run(chars, min) => {
            let more = sequence([negate(found(rest)), run(chars, 1, Some(1))]);
            let least = (*min > 0).then(|| run(chars, *min, Some(*min)));
            sequence(least.into_iter().chain([zero_or_more(more)]))
        }
    };
    match rest {
        [] => piece,
        rest => sequence([piece, found(rest)]),
    }
}
