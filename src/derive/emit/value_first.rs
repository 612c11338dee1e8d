//! Arguments whose values stand before their keys, as in `1 as harbor`.

use super::JSON_BEGINNING;
use super::tokens::Tokens;
use crate::derive::compare::slot;
use crate::derive::read::arguments::{Around, Pairs, Style};

/// A pattern for one argument.
///
/// The value ends where the text between it and the key follows, outside of the texts of JSON where the values are JSON. The key ends where
/// what closes the argument or parts it from the next one begins. Where that is white space, which a key may have in it, it ends where the
/// line ends, if a line does end there; or else where a value of JSON begins behind white space; or else at the first white space.
pub(super) fn pattern(argument: &Pairs) -> String {
    let (around, value) = match &argument.style {
        Style::Json(around) => (Some(around), format!("(?:{})+?", Tokens::json().any())),
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
            (String::new(), format!("(?=\\s+{JSON_BEGINNING}|\\s*\\Z)"))
        }
        ("", "") => ("\\s".to_owned(), "(?=\\s|\\Z)".to_owned()),
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

/// A pattern for what an argument begins with, up to its value and with the first sign of that where the values are JSON.
pub(super) fn beginning(argument: &Pairs) -> String {
    let value = match argument.are_json() {
        true => JSON_BEGINNING,
        false => "(?=\\S)",
    };
    format!("{}{value}", opening(argument))
}

/// A pattern for what stands before the value, with the white space behind it.
fn opening(argument: &Pairs) -> String {
    let open = argument.open.trim();
    format!("{}\\s*", slot::pattern(open))
}
