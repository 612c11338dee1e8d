//! Classes of characters as Python's `regex` has them.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// Every character.
pub(crate) fn any() -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)])
}

/// No character.
pub(crate) fn none() -> ClassUnicode {
    ClassUnicode::empty()
}

/// Every character but the newline.
pub(crate) fn any_but_newline() -> ClassUnicode {
    let mut class = single('\n');
    class.negate();
    class
}

/// One character.
pub(crate) fn single(value: char) -> ClassUnicode {
    range(value, value)
}

/// The characters from `first` to `last`.
pub(crate) fn range(first: char, last: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(first, last)])
}

/// The ASCII characters.
pub(crate) fn ascii() -> ClassUnicode {
    range('\0', '\x7f')
}

/// `\d`: decimal digits.
pub(crate) fn digit() -> ClassUnicode {
    static DIGIT: LazyLock<ClassUnicode> = LazyLock::new(|| unicode("Nd"));
    DIGIT.clone()
}

/// `\s`: white space.
pub(crate) fn space() -> ClassUnicode {
    static SPACE: LazyLock<ClassUnicode> = LazyLock::new(|| unicode("White_Space"));
    SPACE.clone()
}

/// `\h`: spaces and the tabulator.
pub(crate) fn blank() -> ClassUnicode {
    union([unicode("Zs"), single('\t')])
}

/// `\w`: what words are made of.
pub(crate) fn word() -> ClassUnicode {
    static WORD: LazyLock<ClassUnicode> = LazyLock::new(|| {
        union([
            unicode("Alphabetic"),
            unicode("M"),
            digit(),
            unicode("Pc"),
            unicode("Join_Control"),
        ])
    });
    WORD.clone()
}

/// `\s` of `re`: what `str.isspace` is true of.
pub(crate) fn space_of_re() -> ClassUnicode {
    union([space(), range('\x1c', '\x1f')])
}

/// `\w` of `re`: what `str.isalnum` is true of, and the underscore. Marks are none.
pub(crate) fn word_of_re() -> ClassUnicode {
    static WORD: LazyLock<ClassUnicode> =
        LazyLock::new(|| union([unicode("L"), unicode("N"), single('_')]));
    WORD.clone()
}

/// Returns true if Python's `str.isspace` is true of the character.
pub(crate) fn is_python_space(value: char) -> bool {
    value.is_whitespace() || ('\x1c'..='\x1f').contains(&value)
}

/// Returns true if Python's `str.isidentifier` is true of the name.
pub(crate) fn is_identifier(name: &str) -> bool {
    let start = unicode("XID_Start");
    let rest = unicode("XID_Continue");
    name.chars()
        .enumerate()
        .all(|(at, c)| contains(if at == 0 { &start } else { &rest }, c) || c == '_')
}

/// Returns true if the class has the character.
pub(crate) fn contains(class: &ClassUnicode, value: char) -> bool {
    class
        .ranges()
        .binary_search_by(|range| {
            if range.end() < value {
                std::cmp::Ordering::Less
            } else if range.start() > value {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

/// All of the classes together.
pub(crate) fn union(classes: impl IntoIterator<Item = ClassUnicode>) -> ClassUnicode {
    let mut all = none();
    for class in classes {
        all.union(&class);
    }
    all
}

/// Adds every case of the characters in the class. With `ascii`, only ASCII letters have cases.
pub(crate) fn fold(class: &mut ClassUnicode, ascii_only: bool) {
    if ascii_only {
        let mut letters = class.clone();
        letters.intersect(&ascii());
        letters.case_fold_simple();
        letters.intersect(&ascii());
        class.union(&letters);
        return;
    }
    // `regex` takes the letters that Turkic has besides `i` and `I` for cases of these, each for a case of one.
    const TURKIC: [(char, char); 2] = [('i', '\u{130}'), ('I', '\u{131}')];
    let others: Vec<char> = TURKIC
        .iter()
        .flat_map(|(a, b)| [(*a, *b), (*b, *a)])
        .filter(|(has, _)| contains(class, *has))
        .map(|(_, other)| other)
        .collect();
    class.case_fold_simple();
    for other in others {
        class.union(&single(other));
    }
}

/// As [`fold`], with the cases that `re` knows: to it all four letters that Turkic has for `i` are cases of one another.
pub(crate) fn fold_as_re(class: &mut ClassUnicode, ascii_only: bool) {
    if ascii_only {
        return fold(class, true);
    }
    const TURKIC: [char; 4] = ['i', 'I', '\u{130}', '\u{131}'];
    let turkic = TURKIC.iter().any(|letter| contains(class, *letter));
    class.case_fold_simple();
    if turkic {
        class.union(&union(TURKIC.map(single)));
    }
}

/// Returns true if two characters are cases of one another.
pub(crate) fn same_but_for_case(a: char, b: char) -> bool {
    if a == b {
        return true;
    }
    let mut cases = single(a);
    fold(&mut cases, false);
    contains(&cases, b)
}

/// The property `name`, or `property` with the value `name`, written as in `\p{...}`; `None` where it is not known.
pub(crate) fn property(property: Option<&str>, name: &str) -> Option<ClassUnicode> {
    let normal: String = name
        .chars()
        .filter(|c| !matches!(c, ' ' | '_' | '-'))
        .collect::<String>()
        .to_lowercase();
    if let Some(property) = property {
        return lookup(&format!("{property}={name}"));
    }
    let found = match normal.as_str() {
        "alnum" => union([unicode("Alphabetic"), unicode("Nd")]),
        "posixalnum" => union([unicode("Alphabetic"), range('0', '9')]),
        "posixdigit" => range('0', '9'),
        "posixxdigit" => union([range('0', '9'), range('a', 'f'), range('A', 'F')]),
        "posixpunct" => {
            let mut class = union([unicode("P"), unicode("S")]);
            class.difference(&unicode("Alphabetic"));
            class
        }
        "l&" => unicode("L"),
        "cs" | "surrogate" => none(),
        "xdigit" => union([digit(), unicode("Hex_Digit")]),
        "graph" => graph(),
        "print" => {
            let mut class = union([graph(), blank()]);
            class.difference(&unicode("Cc"));
            class
        }
        "digit" => digit(),
        "blank" => blank(),
        "word" => word(),
        "punct" => unicode("P"),
        "cntrl" => unicode("Cc"),
        "any" => any(),
        _ => return lookup(name).or_else(|| lookup(name.strip_prefix("Is")?)),
    };
    Some(found)
}

/// The property as `(?i)` widens it: one of letter case to all that have case.
pub(crate) fn property_of_any_case(of: Option<&str>, name: &str) -> Option<ClassUnicode> {
    let class = property(of, name)?;
    let category = of.is_none_or(|of| {
        ["gc", "generalcategory"].contains(&of.replace('_', "").to_lowercase().as_str())
    });
    let normal = name.replace([' ', '_', '-'], "").to_lowercase();
    Some(match normal.as_str() {
        "lu" | "ll" | "lt" | "uppercaseletter" | "lowercaseletter" | "titlecaseletter"
            if category =>
        {
            unicode("LC")
        }
        "upper" | "lower" | "uppercase" | "lowercase" if of.is_none() => {
            union([unicode("Uppercase"), unicode("Lowercase"), unicode("Lt")])
        }
        _ => class,
    })
}

/// The characters that leave a visible mark: POSIX `graph`.
fn graph() -> ClassUnicode {
    let mut class = union([space(), unicode("Cc"), unicode("Cn")]);
    class.negate();
    class
}

/// A property that the tables have.
fn unicode(name: &str) -> ClassUnicode {
    lookup(name).unwrap_or_else(none)
}

fn lookup(name: &str) -> Option<ClassUnicode> {
    if !name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '='))
    {
        return None;
    }
    match regex_syntax::parse(&format!("\\p{{{name}}}"))
        .ok()?
        .into_kind()
    {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{contains, fold, is_identifier, property, same_but_for_case, single};

    #[test]
    fn the_turkic_letters_are_cases_of_one_letter_each() {
        let cases = |c: char| {
            let mut class = single(c);
            fold(&mut class, false);
            ['i', 'I', '\u{130}', '\u{131}'].map(|c| contains(&class, c))
        };
        assert_eq!(cases('i'), [true, true, true, false]);
        assert_eq!(cases('I'), [true, true, false, true]);
        assert_eq!(cases('\u{130}'), [true, false, true, false]);
        assert!(same_but_for_case('k', '\u{212a}') && !same_but_for_case('k', 'l'));
    }

    #[test]
    fn properties_are_found_by_any_spelling_and_never_by_syntax() {
        for name in [
            "Lu",
            "uppercase letter",
            "Is_Greek",
            "IsGreek",
            "posix_alnum",
            "ASCII",
        ] {
            assert!(property(None, name).is_some(), "{name}");
        }
        for name in ["", "}", "Lu}\\p{Ll", "nonsense"] {
            assert!(property(None, name).is_none(), "{name}");
        }
        assert!(property(Some("Script"), "Greek").is_some());
    }

    #[test]
    fn identifiers_are_those_of_python() {
        assert!(is_identifier("_a1") && is_identifier("\u{e9}t\u{e9}"));
        assert!(!is_identifier("1a") && !is_identifier("a-b"));
    }
}
