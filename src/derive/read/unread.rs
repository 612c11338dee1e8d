//! Values of arguments that are written in a form which no content parser reads.

use super::escaped::Escaped;
use super::limit::{self, Limit, Lost};
use crate::value::Value;

/// Values that are written neither as their own text nor as JSON. Each field has an example of one as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::derive) struct Unread {
    /// Texts with characters that are escaped.
    pub(in crate::derive) texts: Option<String>,
    /// Characters of texts that are written otherwise.
    pub(in crate::derive) signs: Option<Escaped>,
    pub(in crate::derive) arrays: Option<String>,
    pub(in crate::derive) objects: Option<String>,
    pub(in crate::derive) booleans: Option<String>,
    pub(in crate::derive) nulls: Option<String>,
    /// The quote that ends a text, where values are JSON with texts in such quotes and a text is not escaped. A text that has the quote in it is none
    /// then, and is taken as it is written, without the white space around it.
    pub(in crate::derive) quote: Option<String>,
}

impl Unread {
    /// Returns the values of arguments that no response template reads.
    pub(in crate::derive) fn limits(&self) -> Vec<Limit> {
        let limit = |written: &Option<String>, what, is_in| {
            let written = written.as_ref()?;
            let text = format!("{what}, like {written:?}");
            Some(Limit {
                text,
                lost: Lost::Values(is_in),
            })
        };
        let found = [
            limit(
                &self.texts,
                "characters in the text of an argument are escaped, which no content parser undoes",
                |message| {
                    limit::any_value(message, &|value| value.as_str().is_some_and(is_escaped))
                },
            ),
            limit(
                &self.arrays,
                "an argument that is a list is not written as JSON, and no content parser reads it",
                |message| limit::any_argument(message, |value| matches!(value, Value::Array(_))),
            ),
            limit(
                &self.objects,
                "an argument that is an object is not written as JSON, and no content parser reads it",
                |message| limit::any_argument(message, |value| matches!(value, Value::Object(_))),
            ),
            limit(
                &self.booleans,
                "an argument that is true or false is not written as JSON or in a word that the tools' schemas type",
                |message| limit::any_argument(message, |value| matches!(value, Value::Bool(_))),
            ),
            limit(
                &self.nulls,
                "an argument that is null is not written as JSON or in a word that the tools' schemas type",
                |message| limit::any_argument(message, |value| matches!(value, Value::Null)),
            ),
        ];
        let signs = self.signs.as_ref();
        let signs = signs.map(|signs| signs.limit(limit::Part::Arguments));
        let spaced = self.quote.as_ref().map(|quote| Limit {
            text: format!(
                "a text with {quote} in it, between such quotes, comes back without the white space at its ends, since other values are JSON"
            ),
            lost: Lost::SpacedTexts(quote.clone()),
        });
        found
            .into_iter()
            .flatten()
            .chain(signs)
            .chain(spaced)
            .collect()
    }
}

/// The characters beside line feeds and control characters, which JSON escapes, that Python takes for the end of a line.
pub(in crate::derive) const LINE_SEPARATORS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Returns true if the text has a character in it that a template escapes if it escapes any.
fn is_escaped(text: &str) -> bool {
    let is_one =
        |c: char| matches!(c, '\\' | '\'' | '"') || c.is_control() || LINE_SEPARATORS.contains(&c);
    text.contains(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::probe::{self, Assistant};

    #[test]
    fn a_quote_in_a_text_costs_the_white_space_at_its_ends() {
        let unread = Unread {
            quote: Some("'".to_owned()),
            ..Unread::default()
        };
        let limits = unread.limits();
        let [limit] = limits.as_slice() else {
            panic!("{limits:?}")
        };
        let is_lost = |text: &str| {
            let mut call = probe::call(0);
            call.arguments = [("harbor".to_owned(), Value::from(text))]
                .into_iter()
                .collect();
            limit.is_in(&Assistant::calling([call]))
        };
        assert!(is_lost("it's so\n") && is_lost(" it's"));
        assert!(!is_lost("it's so") && !is_lost("its\n"));
        assert!(Unread::default().limits().is_empty());
    }
}
