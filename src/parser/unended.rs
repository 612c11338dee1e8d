//! A region that the end of the response closed, and whose value may be a part of what the model meant.

use std::ops::Range;

use crate::value::{Map, Value};

/// A region that nothing closed before the response ended, though a delimiter closes such regions.
///
/// Only regions of tags and of lines are told, and of a text that a transform takes, unless it is an object or a list of JSON. Each beginning of
/// such a text is a whole one, so that a call whose last arguments have not arrived looks like a call without them. JSON that is cut is an
/// error, and a text that is the field's value can be seen to be cut.
///
/// A model may as well have left out the delimiter, or an engine have kept it back, where the end of the turn closes a call. So this is
/// something to look at and no error: what the model did not finish should not be done.
///
/// ```
/// use obverse::{parser::ResponseParser, response_template::ResponseTemplate};
///
/// let template = ResponseTemplate::from_json(
///     r#"{"start_anchor": "A:", "fields": {"content": {}, "call": {"open": "<call>", "close": "</call>",
///         "content": "xml-inline", "content_args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"}}}}"#,
/// )?;
/// let mut parser = ResponseParser::new(template, "", &[])?;
/// parser.feed("<call><city>Paris</>")?;
/// parser.finalize()?;
/// let unended = parser.unended().unwrap();
/// assert_eq!((unended.field.as_str(), unended.span.clone()), ("call", 6..20));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unended {
    /// The field of the region.
    pub field: String,
    /// Where the region's text stands: byte offsets into the response.
    pub span: Range<usize>,
}

impl Unended {
    /// The region as an object: `field`, `start` and `end`.
    pub fn to_map(&self) -> Map {
        let mut members = Map::new();
        members.insert("field".to_owned(), Value::from(self.field.as_str()));
        members.insert("start".to_owned(), Value::count(self.span.start));
        members.insert("end".to_owned(), Value::count(self.span.end));
        members
    }
}

#[cfg(test)]
mod tests {
    use crate::parser::ResponseParser;
    use crate::response_template::ResponseTemplate;

    /// The field and the text of the region that the end of a response closes.
    fn unended(content: &str, response: &str) -> Option<(String, String)> {
        let document = format!(
            r#"{{"start_anchor": "A:", "fields": {{"content": {{}}, "call": {{"open": "<c>", "close": "</c>", {content}}}}}}}"#
        );
        let template = ResponseTemplate::from_json(&document).unwrap();
        let mut parser = ResponseParser::new(template, "", &[]).unwrap();
        for at in 0..response.len() {
            parser.feed(&response[at..=at]).unwrap();
        }
        parser.finalize().unwrap();
        let unended = parser.unended()?;
        Some((
            unended.field.clone(),
            response[unended.span.clone()].to_owned(),
        ))
    }

    const TAGS: &str = r#""content": "xml-inline", "content_args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"}"#;

    #[test]
    fn a_call_in_tags_that_the_end_closes_is_told() {
        let told = |text: &str| Some(("call".to_owned(), text.to_owned()));
        assert_eq!(unended(TAGS, "Hm.<c><a>1</>"), told("<a>1</>"));
        // A piece of the delimiter is none.
        assert_eq!(unended(TAGS, "<c><a>1</></"), told("<a>1</></"));
        assert_eq!(unended(r#""content": "kv-lines""#, "<c>a: 1"), told("a: 1"));
        assert_eq!(unended(TAGS, "<c><a>1</></c>"), None);
        assert_eq!(unended(TAGS, "<c></c> Hm."), None);
        assert_eq!(unended(TAGS, "Hm."), None);
    }

    #[test]
    fn a_call_whose_arguments_are_text_is_told() {
        let call = r#""content": "text", "transform": {"arguments": "{content}"}"#;
        let told = |text: &str| Some(("call".to_owned(), text.to_owned()));
        for cut in [
            "",
            "\n{\"a\": \"b",
            "{\"a\": 1}, {",
            "{\"a\": 1}\n```",
            "1",
            "Hm.",
        ] {
            assert_eq!(unended(call, &format!("<c>{cut}")), told(cut));
        }
        assert_eq!(unended(call, "<c>{\"a\": 1}\n"), None);
        assert_eq!(unended(call, "<c>[1]"), None);
        assert_eq!(unended(call, "<c>{\"a</c>"), None);
    }

    #[test]
    fn a_value_that_shows_its_end_is_not() {
        assert_eq!(unended(r#""content": "json""#, r#"<c>{"a": 1}"#), None);
        assert_eq!(unended(r#""content": "text""#, "<c>Hm."), None);
    }
}
