//! Arguments whose values stand before their keys, as in `1 as harbor`.

use super::tokens::Tokens;
use super::{loose, value_beginning};
use crate::derive::compare::slot;
use crate::derive::read::arguments::{Around, Pairs, Style};

/// A pattern for one argument.
///
/// The value ends where the text between it and the key follows, outside of the texts of JSON where the values are JSON. The key ends where
/// what closes the argument or parts it from the next one begins. Where that is white space, which a key may have in it, it ends where the
/// line ends, if a line does end there; or else where a value of JSON begins behind white space; or else at the first white space.
pub(super) fn pattern(argument: &Pairs) -> String {
    let (around, value) = match &argument.style {
        Style::Json { around, .. } => (Some(around), format!("(?:{})+?", Tokens::json().any())),
        Style::Text | Style::Quoted(..) => (argument.value.first(), ".*?".to_owned()),
    };
    let Some(Around { between, close }) = around else {
        return String::new();
    };
    let between = match between.trim() {
        "" => "\\s+".to_owned(),
        between => format!("\\s*{}\\s*", slot::pattern(between)),
    };
    let gap = format!("{close}{}{}", argument.separator, argument.open);
    let (stop, end) = match (close.trim(), argument.separator.trim()) {
        ("", "") if gap.contains('\n') => (String::new(), "(?=\\s*\\n|\\s*\\Z)".to_owned()),
        ("", "") if argument.are_json() => {
            let next = value_beginning(argument);
            (String::new(), format!("(?=\\s+{next}|\\s*\\Z)"))
        }
        ("", "") => ("\\s".to_owned(), "(?=\\s|\\Z)".to_owned()),
        // A word parts two arguments, of which a name has the letters in it, too.
        ("", separator) if slot::stop(&argument.separator).is_empty() => {
            let separator = slot::pattern(separator);
            (String::new(), format!("(?:\\s+{separator}\\b|\\s*\\Z)"))
        }
        ("", separator) => {
            let stop = slot::stop(separator);
            (stop, format!("\\s*(?:{}|\\Z)", slot::pattern(separator)))
        }
        (close, _) => (slot::stop(close), format!("\\s*{}", slot::pattern(close))),
    };
    format!(
        "{}(?P<value>(?=\\S){value}){between}(?P<key>[^\\s{stop}](?:[^\\r\\n{stop}]*?[^\\s{stop}])??){end}",
        opening(argument)
    )
}

/// A pattern for what an argument begins with, up to its value and with the first character of that where the values are JSON.
pub(super) fn beginning(argument: &Pairs) -> String {
    let value = match argument.are_json() {
        true => value_beginning(argument),
        false => "(?=\\S)",
    };
    format!("{}{value}", opening(argument))
}

/// A pattern for what stands before the value, with the white space behind it.
fn opening(argument: &Pairs) -> String {
    let mut opening = slot::pattern_before(argument.open.trim_start());
    loose::push_space(&mut opening);
    opening
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::read::arguments::Order;
    use crate::derive::read::unread::Unread;
    use crate::pattern::Pattern;

    /// The values and keys that are read off a text, where arguments are written so.
    fn read(
        [open, between, close, separator]: [&str; 4],
        is_json: bool,
        text: &str,
    ) -> Vec<(String, String)> {
        let around = Around {
            between: between.to_owned(),
            close: close.to_owned(),
        };
        let argument = Pairs {
            open: open.to_owned(),
            order: Order::ValueFirst,
            value: vec![around.clone()],
            separator: separator.to_owned(),
            name_quotes: None,
            style: match is_json {
                true => Style::Json {
                    around,
                    is_whole: true,
                },
                false => Style::Text,
            },
            unread: Unread::default(),
        };
        let pattern = Pattern::regex(&pattern(&argument)).unwrap();
        let all = pattern.find_iter(text).map(|found| {
            let found = found.unwrap();
            let group = |name: &str| text[found.group(name).unwrap()].to_owned();
            (group("value"), group("key"))
        });
        all.collect()
    }

    fn told(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(value, key): &(&str, &str)| ((*value).to_owned(), (*key).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn keys_end_where_the_argument_does() {
        let lines = ["\n", " as ", "", ""];
        let text = "\n\"a as b\" as in stock\n[1, \"2\"] as c\n";
        let expected = told(&[("\"a as b\"", "in stock"), ("[1, \"2\"]", "c")]);
        assert_eq!(read(lines, true, text), expected);

        let apart = [" ", "@", "", ""];
        let text = " \"a@b\"@in stock 1@c";
        let expected = told(&[("\"a@b\"", "in stock"), ("1", "c")]);
        assert_eq!(read(apart, true, text), expected);

        let separated = ["", " -> ", "", "; "];
        let text = "\"a; b\" -> in stock; {\"d\": 1} -> c";
        let expected = told(&[("\"a; b\"", "in stock"), ("{\"d\": 1}", "c")]);
        assert_eq!(read(separated, true, text), expected);

        // A word parts two, and its letters may be in a name.
        let joined = [" ", " as ", "", " and"];
        let text = " \"a and b\" as brand and \"x\" as c d";
        let expected = told(&[("\"a and b\"", "brand"), ("\"x\"", "c d")]);
        assert_eq!(read(joined, true, text), expected);

        let closed = ["<put>", "<as>", "</put>", ""];
        let text = "<put>some text<as>in stock</put><put>1<as>c</put>";
        let expected = told(&[("some text", "in stock"), ("1", "c")]);
        assert_eq!(read(closed, false, text), expected);
    }
}
