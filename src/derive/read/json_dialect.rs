//! How arguments are written that are nearly JSON: without quotes around keys, or with other texts around strings.

use std::ops::Range;

use super::arguments::as_written;
use super::limit::{Limit, Lost};
use super::literals::Foreign;
use crate::derive::compare::text;
use crate::value::Map;

/// The ways in which an object that is nearly JSON differs from JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct JsonDialect {
    pub(in crate::derive) unquoted_keys: bool,
    /// The texts that open and close a string.
    pub(in crate::derive) string_delims: (String, String),
    /// The kinds of value that the dialect does not write as JSON. They are looked for apart from its punctuation.
    pub(in crate::derive) foreign: Vec<Foreign>,
}

impl JsonDialect {
    /// Returns the parts of the arguments that no response template reads.
    pub(in crate::derive) fn limits(&self) -> Vec<Limit> {
        let keys = self.unquoted_keys.then(|| Limit {
            text: "names of arguments stand without quotes, and the format's JSON takes only letters, digits and underscores for such a name".to_owned(),
            lost: Lost::Values(|message| {
                let mut calls = message.calls.iter();
                calls.any(|call| call.arguments.keys().any(|key| !is_word(key)))
            }),
        });
        self.foreign
            .iter()
            .map(Foreign::limit)
            .chain(keys)
            .collect()
    }
}

/// Returns true if the name has only letters, digits and underscores in it.
fn is_word(name: &str) -> bool {
    name.chars().all(text::is_part_of_word)
}

/// Reads an object of two strings in a dialect of JSON, and where it is in `text`.
pub(in crate::derive) fn dialect(
    text: &str,
    arguments: &Map,
) -> Option<(JsonDialect, Range<usize>)> {
    let [(first, first_value), (second, second_value)] = as_written(text, arguments)?;
    let start = text[..text.find(first)?].rfind('{')?;
    let (quote, rest) = text[start + 1..].trim_start().split_once(first)?;
    let unquoted_keys = match quote {
        "" => true,
        "\"" => false,
        _ => return None,
    };
    let (open, rest) = rest.split_once(first_value)?;
    let open = open
        .strip_prefix(quote)?
        .trim_start()
        .strip_prefix(':')?
        .trim_start();
    let (middle, rest) = rest.split_once(second)?;
    let close = middle
        .strip_suffix(quote)?
        .trim_end()
        .strip_suffix(',')?
        .trim_end();
    let rest = rest
        .strip_prefix(quote)?
        .trim_start()
        .strip_prefix(':')?
        .trim_start();
    let rest = rest
        .strip_prefix(open)?
        .strip_prefix(second_value)?
        .strip_prefix(close)?;
    let rest = rest.trim_start().strip_prefix('}')?;
    let plain = open == "\"" && close == "\"";
    if open.is_empty() || close.is_empty() || (plain && !unquoted_keys) {
        return None;
    }
    let json = JsonDialect {
        unquoted_keys,
        string_delims: (open.to_owned(), close.to_owned()),
        foreign: Vec::new(),
    };
    Some((json, start..text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::probe;

    #[test]
    fn reads_objects_with_strings_in_other_signs() {
        let arguments = probe::call(0).arguments;
        let text = "|{harbor:<q>opal drift</q>,timber:<q>violet mast</q>}|";
        let (json, span) = dialect(text, &arguments).unwrap();
        assert!(json.unquoted_keys);
        assert_eq!(json.string_delims, ("<q>".to_owned(), "</q>".to_owned()));
        assert_eq!(span, 1..text.len() - 1);
        assert_eq!(dialect(&text.replace("</q>}", "}"), &arguments), None);
        let json = "{\"harbor\": \"opal drift\", \"timber\": \"violet mast\"}";
        assert_eq!(dialect(json, &arguments), None, "that is JSON itself");
    }

    #[test]
    fn the_order_of_the_arguments_is_the_text_s() {
        let arguments = probe::call(0).arguments;
        let text = "{timber:<q>violet mast</q>,harbor:<q>opal drift</q>}";
        assert!(dialect(text, &arguments).is_some());
    }
}
