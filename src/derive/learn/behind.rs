//! A text within a call that speaks of what closes it.
//!
//! An argument may speak of what closes a call, as one does that has a line of a chat template in it: `{"text": "</call> ends it"}`. What closes a call so counts only where the body
//! of a call has ended: behind a closing bracket, where the body is JSON, or behind the end of an argument or what opens the call, where arguments stand in tags. For example,
//! `</call>` becomes `(?<=[\}\]]\s{0,64})</call>`.
//!
//! Whatever the renders have within their calls, what closes one stands behind its body, so that all of them are read as before; those responses in which the pattern finds
//! something else than before are parsed once to see to that. A body that is no JSON, or an argument whose own end is missing, is not closed any more. The former is an error
//! either way, and of the latter the argument was lost.

use super::unclosed::{JSON_ENDS, ends_of_arguments};
use super::{CALLS_KEY, reads_as_before, split};
use crate::derive::compare::pattern::{
    SPACE, alternatives, bounded, bounded_by, enclosed, grouped, looks_around, optional_beginning,
    split_id_ahead, without_captures, without_references,
};
use crate::judge::{Case, Scrutiny};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, FieldDocument};

/// How much white space may stand between the end of the body and what closes the call, in characters.
const MAX_SPACE: usize = 64;

/// Returns the response template with what closes a call counting only behind a body, where no response is read otherwise by that; `None` where it stays as it is.
pub(in crate::derive) fn closed_behind_bodies(
    engines: &[Engine],
    document: &Document,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<Document> {
    let field = document.fields.get(CALLS_KEY)?;
    let own = split::source(field.close.as_ref()?);
    let close = narrowed(&alternatives(&own), &ends(field)?)?;
    let (before, now) = (Pattern::regex(&own).ok()?, Pattern::regex(&close).ok()?);
    let found = |pattern: &Pattern, text: &str| {
        let found = pattern.find_iter(text);
        let spans = found.map(|found| found.map(|found| found.span).ok());
        spans.collect::<Option<Vec<_>>>()
    };
    let mut changed = document.clone();
    changed.fields.get_mut(CALLS_KEY)?.close = Some(Delimiter::pattern(close));
    let differs = |case: &&Case| {
        let of = |pattern| found(pattern, &case.response);
        of(&before).is_none() || of(&before) != of(&now)
    };
    let others = cases.iter().filter(differs);
    reads_as_before(engines, document, &changed, others, scrutiny).then_some(changed)
}

/// Returns the alternatives of what closes a call, put together, with those that take something of the text only behind what these patterns look for; `None` where there are
/// none.
fn narrowed(ways: &[String], behind: &str) -> Option<String> {
    let takes = |way: &&String| {
        !["(?<", "(?=", "(?!"]
            .iter()
            .any(|look| way.starts_with(look))
    };
    let (taking, others): (Vec<&String>, Vec<&String>) = ways.iter().partition(takes);
    let taking: Vec<&str> = taking.into_iter().map(String::as_str).collect();
    if taking.is_empty() || taking.contains(&"") {
        return None;
    }
    let taking = grouped(&taking.join("|"));
    let own = format!("(?<={behind}){taking}");
    let all: Vec<&str> = std::iter::once(own.as_str())
        .chain(others.into_iter().map(String::as_str))
        .collect();
    Some(match all.as_slice() {
        [own] => (*own).to_owned(),
        several => format!("(?:{})", several.join("|")),
    })
}

/// Returns what closes a call without what it looks for behind it, as far as it takes something of the text and the response goes on: `</call>` for `(?<=[\}\]])</call>`.
pub(super) fn anywhere(close: &str) -> String {
    let ways = alternatives(close).into_iter();
    let ways = ways.map(|way| {
        let rest = way.strip_prefix("(?<=").and_then(|_| {
            let ends = way.match_indices(')').map(|(at, _)| at + 1);
            let mut ends = ends.filter(|end| enclosed(&way[..*end], "(?<=").is_some());
            ends.next().map(|end| &way[end..])
        });
        let rest = rest.filter(|rest| !looks_around(rest) && !rest.contains("\\Z"));
        rest.map(str::to_owned).unwrap_or(way)
    });
    ways.collect::<Vec<_>>().join("|")
}

/// Returns a pattern for what stands before the close of a call: the end of its body, and white space.
fn ends(field: &FieldDocument) -> Option<String> {
    let space = bounded_by(SPACE, MAX_SPACE, MAX_SPACE);
    match field.content.as_deref()? {
        "json" => Some(format!("{JSON_ENDS}{space}")),
        "xml-inline" if field.repeats => {
            let ends = bounded(&ends_of_arguments(field)?);
            let own = field.open.as_ref()?.as_pattern();
            let (own, _) = split_id_ahead(&own);
            let open = without_captures(&without_references(own, own)?)?;
            let (_, open) = optional_beginning(&open);
            // What follows the opening is no part of what stands before the close.
            let open = match open.rfind("(?=") {
                Some(at) if open.ends_with(')') => &open[..at],
                _ => open,
            };
            let open = open.strip_suffix(SPACE).unwrap_or(open);
            let is_plain = !open.is_empty() && !looks_around(open);
            is_plain.then(|| format!("(?:{ends}|{}){space}", grouped(&bounded(open))))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::judge;
    use crate::response_template::ResponseTemplate;
    use crate::value::{Value, json};

    /// The response template with calls that these members tell of, changed if none of the responses is read otherwise by that.
    fn closed(members: &str, responses: &[&str]) -> Option<(Arc<ResponseTemplate>, String)> {
        let document = format!(
            r#"{{"start_anchor": ">>", "fields": {{"tool_calls": {{"repeats": true, {members}}}, "content": {{"close": "<end>"}}}}}}"#
        );
        let value = json::parse(&document).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&value).unwrap());
        let cases = responses.iter().map(|response| {
            let case = case(response);
            let message = judge::parse_whole(&template, &case);
            Case { message, ..case }
        });
        let cases: Vec<Case> = cases.collect();
        let document = Document::of(&value).unwrap();
        let changed = closed_behind_bodies(&[], &document, &cases, Scrutiny::Whole)?;
        let close = split::source(changed.fields.get(CALLS_KEY)?.close.as_ref()?);
        let template = ResponseTemplate::from_value(&changed.to_value()).unwrap();
        Some((Arc::new(template), close))
    }

    fn case(response: &str) -> Case {
        Case {
            prefix: String::new(),
            response: response.to_owned(),
            tools: Vec::new(),
            message: Value::Null,
        }
    }

    /// The message that a response gives, whole and in pieces.
    fn read(template: &Arc<ResponseTemplate>, response: &str) -> String {
        let (read, error) = judge::parse(template, &case(response), Scrutiny::Pieces);
        assert!(error.is_none(), "{error:?}");
        json::to_string(&read)
    }

    const OF_JSON: &str = r#""open": "<call>", "close": "</call>", "content": "json""#;

    const IN_TAGS: &str = r#""open_pattern": "<call (?P<name>\\w+)>", "close": "</call>", "content": "xml-inline",
        "content_args": {"tag_pattern": "<(?P<key>\\w)>(?P<value>.*?)</>"}, "transform": {"name": "{name}", "arguments": "{content}"}"#;

    #[test]
    fn a_string_of_json_may_speak_of_what_closes_the_call() {
        let (template, close) = closed(OF_JSON, &[r#"<call>{"a": {}}</call>"#]).unwrap();
        assert_eq!(close, r"(?<=[\}\]]\s{0,64})</call>");
        for space in ["", "\n", "\n        "] {
            let response =
                format!(r#"<call>{{"a": "so </call> it {{}} ends"}}{space}</call>Then.<end>"#);
            let expected =
                r#"{"tool_calls": [{"a": "so </call> it {} ends"}], "content": "Then."}"#;
            assert_eq!(read(&template, &response), expected);
        }
    }

    #[test]
    fn an_argument_in_a_tag_may_speak_of_it_as_well() {
        let (template, close) = closed(IN_TAGS, &["<call f><a>1</></call>"]).unwrap();
        assert_eq!(close, r"(?<=(?:</>|<call (?:\w{1,64})>)\s{0,64})</call>");
        let expected = r#"{"tool_calls": [{"name": "f", "arguments": {"a": "so </call> ends"}}, {"name": "g", "arguments": {}}]}"#;
        let response = "<call f><a>so </call> ends</>\n</call>\n<call g>\n</call><end>";
        assert_eq!(read(&template, response), expected);
    }

    /// A body may end otherwise than with a bracket: with a string, or a comment behind it.
    #[test]
    fn what_was_read_is_read_so_still() {
        for response in [r#"<call>"a"</call>"#, r#"<call>7</call>"#] {
            assert!(closed(OF_JSON, &[response]).is_none(), "{response}");
        }
        let commented = "<call f><a>1</> and so on</call>Then.<end>";
        assert!(closed(IN_TAGS, &[commented]).is_none());
        let of_text = OF_JSON.replace("json", "text");
        assert!(closed(&of_text, &[]).is_none());
    }

    #[test]
    fn only_what_takes_text_is_looked_behind_for() {
        let ways = |close: &str| narrowed(&alternatives(close), "}");
        assert_eq!(ways("</call>").as_deref(), Some("(?<=})</call>"));
        let followed = "(?:</call>|(?<=a)(?=<call>)|<over>)";
        let expected = "(?:(?<=})(?:</call>|<over>)|(?<=a)(?=<call>))";
        assert_eq!(ways(followed).as_deref(), Some(expected));
        assert_eq!(ways("(?=<call>)"), None);
        assert_eq!(
            anywhere("(?<=(?:\\)|a))</call>\\s*|(?<=a)(?=b)|(?<=a)c\\Z"),
            "</call>\\s*|(?<=a)(?=b)|(?<=a)c\\Z"
        );
    }
}
