//! Calls that nothing closes before the next one begins.
//!
//! A model may go straight from the last argument of a call to the next call. Where arguments stand in tags, the first call then goes on to what
//! closes the second, whose opening goes to no field. So a call is taken to end, too, where an argument has just ended and another call begins.
//! For example, `</arg>` and `<call name=` behind it close a call.
//!
//! A call without arguments has no end of one. It ends where it has just been opened and another call begins, unless that is opened by the
//! very same text: `<call f><call g>` are two calls, and in `<call f><call f>` one is opened twice.
//!
//! An argument may speak of a call, and must not become one by it. It cannot speak of the end of an argument, which ends it; so that a
//! call is looked for right behind that end, or behind what opens a call, alone.
//!
//! Responses in which a call begins no more than once are read as before. The others are parsed once for each of the two ways to end a call.

use std::sync::Arc;

use super::CALLS_KEY;
use crate::derive::compare::pattern::{
    SPACE, behind_groups, bounded, grouped, looks_around, optional_beginning, without_captures,
    without_references,
};
use crate::judge::{self, Case, Scrutiny};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, FieldDocument, ResponseTemplate};
use crate::value::Value;

/// How much white space may stand between an argument's end and the next call. A bound lets a parser forget the text before it.
const MAX_SPACE: usize = 4;

/// How many characters a name or a key has at most in what is looked back at.
const MAX_NAME: usize = 64;

/// Returns the response template with a call ended by the next one, where its arguments stand in tags and none of the responses is read
/// otherwise by that; `None` where it stays as it is.
pub(in crate::derive) fn ended_by_the_next(
    engines: &[Engine],
    document: &Document,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<Document> {
    let field = document.fields.get(CALLS_KEY)?;
    let parts = Parts::of(field)?;
    let begins = Pattern::regex(&parts.open).ok()?;
    let is_twice = |case: &&Case| begins.find_iter(&case.response).nth(1).is_some();
    let several: Vec<&Case> = cases.iter().filter(is_twice).collect();
    let refused = Engine::refusals(engines, document);
    let mut closes = parts.closes().into_iter();
    closes.find_map(|close| {
        let mut ended = document.clone();
        ended.fields.get_mut(CALLS_KEY)?.close = Some(Delimiter::pattern(close));
        if Engine::refusals(engines, &ended) > refused {
            return None;
        }
        let template = Arc::new(ResponseTemplate::from_value(&ended.to_value()).ok()?);
        let is_kept = several.iter().all(|case| {
            let (parsed, error) = judge::parse(&template, case, scrutiny);
            error.is_none() && parsed == case.message
        });
        is_kept.then_some(ended)
    })
}

/// The patterns of a call whose arguments stand in tags.
struct Parts {
    /// The pattern that opens a call, without captures.
    open: String,
    close: String,
    /// The patterns that end an argument, one of them each.
    ends: String,
}

impl Parts {
    /// The patterns of a field; `None` where its calls are no tags, or an argument ends where another begins and so has no end of its own, or a
    /// call is ended by look-around already, which is a reading of what follows it.
    fn of(field: &FieldDocument) -> Option<Self> {
        let is_of_tags = field.repeats && field.content.as_deref() == Some("xml-inline");
        let tag = field.content_args.get("tag_pattern");
        let tag = tag.and_then(Value::as_str).filter(|_| is_of_tags)?;
        let mut ends: Vec<String> = Vec::new();
        for end in behind_groups(tag, "value")? {
            let end = without_references(end.trim_start_matches("\\n?"), tag)?;
            if end.is_empty() || looks_around(&end) {
                return None;
            }
            ends.push(end);
        }
        let own = field.open.as_ref()?.as_pattern();
        let open = without_captures(&without_references(&own, &own)?)?;
        let close = field.close.as_ref()?.as_pattern();
        let is_plain = !ends.is_empty() && !open.contains("(?<") && !close.contains("(?=");
        is_plain.then(|| Self {
            open,
            close,
            ends: ends.join("|"),
        })
    }

    /// Returns the patterns that close a call, also where the next one begins: behind an argument or a call that was just opened; behind an
    /// argument alone.
    fn closes(&self) -> Vec<String> {
        let Self { open, close, .. } = self;
        let bounded = |source: &str| bounded(source, MAX_SPACE, MAX_NAME);
        let (ends, space) = (grouped(&bounded(&self.ends)), bounded(SPACE));
        let behind_argument = format!("(?:{close}|(?<={ends}{space})(?={open}))");
        // What may be missing before a call does not tell two calls apart.
        let (before, own) = optional_beginning(open);
        let opened = own.strip_suffix(SPACE).unwrap_or(own);
        // A name that nothing follows may go on in the text that arrives next.
        if opened.ends_with(')') {
            return vec![behind_argument];
        }
        let opened = bounded(opened);
        let behind_both =
            format!("(?:{close}|(?<=(?:{ends}|({opened})){space})(?={before}(?!\\1){own}))");
        vec![behind_both, behind_argument]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    /// A response template with these tags whose calls end at the next one, if none of the responses is read otherwise by that.
    fn ended(tag: &str, responses: &[&str]) -> Option<Arc<ResponseTemplate>> {
        let document = format!(
            r#"{{"start_anchor": ">>", "fields": {{
                "tool_calls": {{"open_pattern": "(?:<all>\\s*)?<call (?P<name>\\w+)>\\s*", "close": "</call>", "repeats": true,
                    "content": "xml-inline", "content_args": {{"tag_pattern": {}}},
                    "transform": {{"name": "{{name}}", "arguments": "{{content}}"}}}},
                "content": {{}}}}}}"#,
            json::quote(tag)
        );
        let document = json::parse(&document).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&document).unwrap());
        let document = Document::of(&document).unwrap();
        let cases = responses.iter().map(|response| {
            let case = case(response);
            let message = judge::parse_whole(&template, &case);
            Case { message, ..case }
        });
        let cases: Vec<Case> = cases.collect();
        let ended = ended_by_the_next(&[], &document, &cases, Scrutiny::Whole)?;
        Some(Arc::new(
            ResponseTemplate::from_value(&ended.to_value()).unwrap(),
        ))
    }

    fn case(response: &str) -> Case {
        Case {
            prefix: String::new(),
            response: response.to_owned(),
            tools: Vec::new(),
            message: Value::Null,
        }
    }

    /// The calls of a response in short: `f a=1, g`.
    fn calls(template: &Arc<ResponseTemplate>, response: &str) -> String {
        let case = case(response);
        let (read, error) = judge::parse(template, &case, Scrutiny::Pieces);
        assert!(error.is_none(), "{error:?}");
        let calls = read.get(CALLS_KEY).and_then(Value::as_array).unwrap();
        let calls = calls.iter().map(|call| {
            let name = call.get("name").and_then(Value::as_str).unwrap();
            let arguments = call.get("arguments").and_then(Value::as_object).unwrap();
            let arguments = arguments
                .iter()
                .map(|(key, value)| format!(" {key}={}", value.as_str().unwrap()));
            format!("{name}{}", arguments.collect::<String>())
        });
        calls.collect::<Vec<_>>().join(", ")
    }

    const TAG: &str = "<(?P<key>\\w)>(?P<value>.*?)</>";

    #[test]
    fn a_call_ends_where_the_next_begins_behind_an_argument() {
        let template = ended(TAG, &["<call f><a>1</></call>\n<call g><b>2</></call>"]).unwrap();
        let read = calls(&template, "<call f><a>1</>\n<call g><b>2</></call>");
        assert_eq!(read, "f a=1, g b=2");
    }

    #[test]
    fn a_call_without_arguments_ends_where_another_begins() {
        let template = ended(TAG, &["<call f></call>"]).unwrap();
        for (response, expected) in [
            ("<call f>\n<call g><b>2</></call>", "f, g b=2"),
            ("<call f><all><call g></call>", "f, g"),
            ("<call f><call ff></call>", "f, ff"),
            (
                "<all><call f>\n<all><call g><call h><a>1</></call>",
                "f, g, h a=1",
            ),
            // One call that is opened twice.
            ("<call f><call f><a>1</></call>", "f a=1"),
            ("<all>\n<call f>\n<all>\n<call f>\n<a>1</></call>", "f a=1"),
            ("<all><call f><call f><a>1</></call>", "f a=1"),
        ] {
            assert_eq!(calls(&template, response), expected, "{response}");
        }
        // The argument of this response speaks of two calls, of which the first has nothing in it.
        let spoken = "<call f><a>So: <call g><call h></></call>";
        let template = ended(TAG, &["<call f></call>", spoken]).unwrap();
        assert_eq!(calls(&template, spoken), "f a=So: <call g><call h>");
        let read = calls(&template, "<call f><a>1</><call g></call>");
        assert_eq!(read, "f a=1, g");
    }

    #[test]
    fn an_argument_may_end_in_several_ways_and_with_its_key() {
        let quoted = "<(?P<key>\\w)(?:=!(?P<value>.*?)!>|>(?P<value>.*?)</>)";
        let template = ended(quoted, &[]).unwrap();
        let read = calls(
            &template,
            "<call f><a=!1!><call g><b>2</><call h><c>3</></call>",
        );
        assert_eq!(read, "f a=1, g b=2, h c=3");
        let keyed = "<(?P<key>\\w+)>(?P<value>.*?)</(?P=key)>";
        let template = ended(keyed, &[]).unwrap();
        let read = calls(&template, "<call f><ab>1</ab><call g><c>2</c></call>");
        assert_eq!(read, "f ab=1, g c=2");
    }

    #[test]
    fn an_argument_that_nothing_ends_ends_no_call() {
        let ends = |end: &str| ended(&format!("<(?P<key>\\w)>(?P<value>.*?){end}"), &[]).is_some();
        assert!(ends("(?:</>|<//>)"));
        assert!(!ends("(?=<|\\Z)"));
        assert!(!ends(""));
    }

    /// The argument of this response speaks of a call right behind the like of an argument's end.
    #[test]
    fn what_was_read_is_read_so_still() {
        assert!(ended(TAG, &["<call f><a>1</><call g></call>"]).is_none());
    }
}
