//! Fuzzy constraints such as `{e<=1}`: recognized only to be refused by name, and told from a literal brace.

use super::cursor::Cursor;

/// The byte offset just behind a fuzzy constraint's closing brace, when one follows the brace that was just read.
pub(super) fn length(cursor: &Cursor<'_>) -> Option<usize> {
    let mut cursor = cursor.clone();
    loop {
        let start = cursor.at;
        if !constraint(&mut cursor) {
            cursor.at = start;
            if !equation(&mut cursor) {
                return None;
            }
        }
        if !cursor.eat(",") {
            break;
        }
    }
    if cursor.eat(":") {
        // A test for the characters that may be inserted or substituted: the constraint is fuzzy whatever it says.
        return Some(cursor.at);
    }
    cursor.eat("}").then_some(cursor.at)
}

/// `e`, `e<=2`, `1<=e<=2`.
fn constraint(cursor: &mut Cursor<'_>) -> bool {
    if digits(cursor) && !compare(cursor) {
        return false;
    }
    if !kind(cursor) {
        return false;
    }
    !compare(cursor) || digits(cursor)
}

/// `2i+2d+1s<=4`.
fn equation(cursor: &mut Cursor<'_>) -> bool {
    loop {
        digits(cursor);
        if !kind(cursor) {
            return false;
        }
        if !cursor.eat("+") {
            return compare(cursor) && digits(cursor);
        }
    }
}

fn digits(cursor: &mut Cursor<'_>) -> bool {
    !cursor.take_while(|c| c.is_ascii_digit()).is_empty()
}

fn compare(cursor: &mut Cursor<'_>) -> bool {
    cursor.eat("<=") || cursor.eat("<")
}

fn kind(cursor: &mut Cursor<'_>) -> bool {
    ["d", "e", "i", "s"].iter().any(|kind| cursor.eat(kind))
}

#[cfg(test)]
mod tests {
    use super::{Cursor, length};

    #[test]
    fn constraints_are_told_from_braces() {
        for source in [
            "e}",
            "e<=1}",
            "1<=e<3}",
            "i<=1,s<2}",
            "2i+2d+1s<=4}",
            "d<=1:[a-z]}",
        ] {
            assert!(length(&Cursor::new(source)).is_some(), "{source}");
        }
        for source in ["}", "x}", "\"e\"}", "e", "1<=}", "e<=1", "e=1}", " e}"] {
            assert_eq!(length(&Cursor::new(source)), None, "{source}");
        }
    }
}
