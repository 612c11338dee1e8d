//! Calls that nothing closes before the next one begins.
//!
//! A model may go straight from the last argument of a call to the next call. Where arguments stand in tags, the first call then goes on to what
//! closes the second, whose opening goes to no field. So a call is taken to end, too, where an argument has just ended and another call begins.
//! For example, `</arg>` and `<call name=` behind it close a call.
//!
//! An argument may speak of a call, and must not become one by it. It cannot speak of the end of an argument, which ends it; so that a
//! call is looked for right behind that end alone.
//!
//! Responses in which a call begins no more than once are read as before. The others are parsed once.

use std::sync::Arc;

use super::CALLS_KEY;
use crate::judge::{self, Case, Scrutiny};
use crate::pattern::Pattern;
use crate::response_template::strict::split_group;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};
use crate::value::Value;

/// How much white space may stand between an argument's end and the next call. A bound lets a parser forget the text before it.
const MAX_SPACE: usize = 4;

/// Returns the response template with a call ended by the next one, where its arguments stand in tags and none of the responses is read
/// otherwise by that; `None` where it stays as it is.
pub(in crate::derive) fn ended_by_the_next(
    engines: &[Engine],
    document: &Document,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<Document> {
    let field = document.fields.get(CALLS_KEY)?;
    let is_of_tags = field.repeats && field.content.as_deref() == Some("xml-inline");
    let tag = field
        .content_args
        .get("tag_pattern")
        .and_then(Value::as_str);
    let (_, _, argument_end) = split_group(tag.filter(|_| is_of_tags)?, "value")?;
    // An argument that ends where another begins has no end of its own. What several patterns give is not looked into.
    let mut signs = argument_end.split('\\').enumerate();
    let is_marker = !argument_end.is_empty()
        && signs.all(|(at, text)| {
            let unescaped = text.get(usize::from(at > 0)..).unwrap_or_default();
            !unescaped.contains(['|', '('])
        });
    let argument_end = argument_end.trim_start_matches("\\n?");
    let open = field.open.as_ref()?.as_pattern();
    let close = field.close.as_ref()?.as_pattern();
    let next = open.replace("(?P<name>", "(?:").replace("(?P<id>", "(?:");
    // A call that is ended by look-around already has its own reading of what follows it.
    if !is_marker || next.contains("(?P") || next.contains("(?<") || close.contains("(?=") {
        return None;
    }
    let mut ended = document.clone();
    ended.fields.get_mut(CALLS_KEY)?.close = Some(Delimiter::pattern(format!(
        "(?:{close}|(?<={argument_end}\\s{{0,{MAX_SPACE}}})(?={next}))"
    )));
    if Engine::refusals(engines, &ended) > Engine::refusals(engines, document) {
        return None;
    }
    let template = Arc::new(ResponseTemplate::from_value(&ended.to_value()).ok()?);
    let begins = Pattern::regex(&next).ok()?;
    let mut several = cases
        .iter()
        .filter(|case| begins.find_iter(&case.response).nth(1).is_some());
    let is_kept = several.all(|case| {
        let (parsed, error) = judge::parse(&template, case, scrutiny);
        error.is_none() && parsed == case.message
    });
    is_kept.then_some(ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    /// A response template whose calls have their arguments in tags that end so, and its calls with what a response is read to.
    fn ended(argument_end: &str, responses: &[&str]) -> Option<Vec<Value>> {
        let document = format!(
            r#"{{"start_anchor": ">>", "fields": {{
                "tool_calls": {{"open_pattern": "<call (?P<name>\\w+)>\\s*", "close": "</call>", "repeats": true,
                    "content": "xml-inline", "content_args": {{"tag_pattern": "<(?P<key>\\w)>(?P<value>.*?){argument_end}"}},
                    "transform": {{"name": "{{name}}", "arguments": "{{content}}"}}}},
                "content": {{}}}}}}"#
        );
        let document = json::parse(&document).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&document).unwrap());
        let document = Document::of(&document).unwrap();
        let case = |response: &&str| Case {
            prefix: String::new(),
            response: (*response).to_owned(),
            tools: Vec::new(),
            message: Value::Null,
        };
        let cases = responses.iter().map(|response| {
            let case = case(response);
            let message = judge::parse_whole(&template, &case);
            Case { message, ..case }
        });
        let cases: Vec<Case> = cases.collect();
        let ended = ended_by_the_next(&[], &document, &cases, Scrutiny::Whole)?;
        let ended = Arc::new(ResponseTemplate::from_value(&ended.to_value()).unwrap());
        let unclosed = case(&"<call f><a>1</>\n<call g><b>2</></call>");
        let read = judge::parse_whole(&ended, &unclosed);
        Some(read.get(CALLS_KEY)?.as_array()?.to_vec())
    }

    #[test]
    fn a_call_ends_where_the_next_begins_behind_an_argument() {
        let calls = ended("</>", &["<call f><a>1</></call>\n<call g><b>2</></call>"]).unwrap();
        let expected =
            r#"[{"name": "f", "arguments": {"a": "1"}}, {"name": "g", "arguments": {"b": "2"}}]"#;
        assert_eq!(Value::from(calls), json::parse(expected).unwrap());
    }

    #[test]
    fn an_argument_that_nothing_ends_ends_no_call() {
        assert_eq!(ended("(?=<|\\\\Z)", &[]), None);
        assert_eq!(ended("(?:</>|<//>)", &[]), None);
        assert_eq!(ended("", &[]), None);
    }

    /// The argument of this response speaks of a call right behind the like of an argument's end.
    #[test]
    fn what_was_read_is_read_so_still() {
        assert_eq!(ended("</>", &["<call f><a>1</><call g></call>"]), None);
    }
}
