//! Text between two calls of which nothing closes the first.
//!
//! Where a call ends only where the next one begins, a text that a model writes between the two would be a part of its body, which then is no JSON. So a call is taken to
//! end, too, behind a bracket where a text without quotes and braces follows, and then what ended the call already: the beginning of the next one.
//!
//! No string of JSON is cut by that which was whole before: from within one, its quote comes before the next call, or the next call is in it and ended its call before. Nor
//! is a bracket within the body taken for its last, since a brace or a quote follows it. Both ways to end the call are there with the same character, so that also a parser
//! that is fed in pieces takes the one that begins earlier. A text of more than a few hundred characters is not found, so that little is held back as it arrives.
//!
//! Responses with two calls or more are read again, once, and some with a text between two.

use std::sync::Arc;

use super::unclosed::JSON_ENDS;
use super::{CALLS_KEY, CONTENT_KEY, again, reads_as_before, split};
use crate::derive::compare::pattern::{
    alternatives, enclosed, looks_around, without_captures, without_references,
};
use crate::judge::{Case, Scrutiny};
use crate::parser::{self, Edge};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};
use crate::value::Value;

/// A visible text without quotes and braces.
const TEXT: &str = r#"\s*[^\s"{}][^"{}]{0,255}"#;

/// A text that a model may write between two calls.
const SAID: &str = "Let me see";

/// Returns the response template with a call ended before a text that stands between it and the next one; `None` where that is not read, is read already, or a response
/// would be read otherwise.
pub(in crate::derive) fn parted_by_text(
    engines: &[Engine],
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<Document> {
    let field = document.fields.get(CALLS_KEY)?;
    let content = document.fields.get(CONTENT_KEY)?;
    let is_json = field.content.as_deref() == Some("json") && field.content_args.is_empty();
    let close = field.close.as_ref()?.as_pattern();
    let mut ways = alternatives(&close);
    let next = ways.iter().find_map(|way| enclosed(way, "(?="))?;
    if !is_json || !field.repeats || content.open.is_some() {
        return None;
    }
    let own = split::source(field.open.as_ref()?);
    let open = without_captures(&without_references(&own, &own)?)?;
    if looks_around(&open) {
        return None;
    }
    let begins = Pattern::regex(&open).ok()?;
    let parted = format!("(?<={JSON_ENDS})(?={TEXT}{next})");
    ways.push(parted);
    let mut changed = document.clone();
    changed.fields.get_mut(CALLS_KEY)?.close =
        Some(Delimiter::pattern(format!("(?:{})", ways.join("|"))));
    let read = ResponseTemplate::from_value(&changed.to_value()).map(Arc::new);
    let read = read.ok()?;
    let trials = cases.iter().filter_map(|case| with_text(template, case));
    let trials: Vec<Case> = trials.take(again::TRIES).collect();
    let is_given = |case: &Case| again::gives(template, case, Scrutiny::Whole);
    let scrutiny = scrutiny.max(Scrutiny::Pieces);
    let is_second = |case: &&Case| begins.find_iter(&case.response).nth(1).is_some();
    let is_taken = !trials.iter().all(is_given)
        && trials
            .iter()
            .all(|case| again::gives(&read, case, scrutiny))
        && reads_as_before(
            engines,
            document,
            &changed,
            cases.iter().filter(is_second),
            scrutiny,
        );
    is_taken.then_some(changed)
}

/// The case with a text between its first two calls; `None` where it has no two, or a content already.
fn with_text(template: &Arc<ResponseTemplate>, case: &Case) -> Option<Case> {
    let mut message = case.message.as_object()?.clone();
    if message.get(CONTENT_KEY).is_some_and(Value::is_truthy) {
        return None;
    }
    let (before, passed) =
        parser::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
    let opens = passed.into_iter().filter(|one| {
        let field = template.fields().get(one.field);
        one.side == Edge::Open && field.is_some_and(|field| field.name == CALLS_KEY)
    });
    let second = opens.map(|one| one.span.start).nth(1)?;
    let (first, rest) = case.response.split_at(second.checked_sub(before)?);
    message.insert(CONTENT_KEY.to_owned(), Value::from(SAID));
    Some(Case {
        response: format!("{first}{SAID}{rest}"),
        message: Value::Object(message),
        ..case.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn document(open: &str, close: &str) -> Document {
        let [open, close] = [open, close].map(json::quote);
        let text = format!(
            r#"{{"start_anchor": "A:", "fields": {{"tool_calls": {{"open_pattern": {open}, "close_pattern": {close}, "repeats": true, "content": "json",
                "transform": {{"name": "{{name}}", "arguments": "{{content}}"}}}},
                "content": {{"close": "<end>", "repeats": true, "join": ""}}}}}}"#
        );
        Document::of(&json::parse(&text).unwrap()).unwrap()
    }

    fn case(template: &Arc<ResponseTemplate>, response: &str) -> Case {
        Case::read_by(template, "A:", response)
    }

    fn parted(open: &str, close: &str, responses: &[&str]) -> Option<Arc<ResponseTemplate>> {
        let document = document(open, close);
        let read = |document: &Document| {
            Arc::new(ResponseTemplate::from_value(&document.to_value()).unwrap())
        };
        let template = read(&document);
        let cases: Vec<Case> = responses.iter().map(|one| case(&template, one)).collect();
        let parted = parted_by_text(&[], &document, &template, &cases, Scrutiny::Pieces)?;
        Some(read(&parted))
    }

    const OPEN: &str = r"<call>(?P<name>\w+)<of>\s*";
    const CLOSE: &str = r"(?:<end>\s*|(?=<call>(?:\w+)<of>\s*\{))";
    const TWO: &str = r#"<call>f<of>{"a": {"b": [1]}}<call>g<of>{"c": "2"}<end>"#;

    /// The content of a response and the arguments of its calls.
    fn read(template: &Arc<ResponseTemplate>, response: &str) -> (String, String) {
        let case = case(template, response);
        assert!(
            again::gives(template, &case, Scrutiny::EverySize),
            "{response}"
        );
        let calls = case.message.get(CALLS_KEY).and_then(Value::as_array);
        let calls = calls.unwrap_or_default().iter();
        let calls: Vec<String> = calls
            .filter_map(|call| Some(json::to_string(call.get("arguments")?)))
            .collect();
        let content = case.message.get(CONTENT_KEY).and_then(Value::as_str);
        (content.unwrap_or_default().to_owned(), calls.join(" "))
    }

    #[test]
    fn a_text_between_two_calls_is_content() {
        let template = parted(OPEN, CLOSE, &[TWO]).unwrap();
        for (between, said) in [("", ""), ("\n", ""), ("So: [it], then ", "So: [it], then")] {
            let response = TWO.replace("}<call>g", &format!("}}{between}<call>g"));
            let calls = r#"{"a": {"b": [1]}} {"c": "2"}"#;
            assert_eq!(
                read(&template, &response),
                (said.to_owned(), calls.to_owned())
            );
        }
        // A text behind a bracket is no text between calls where it is in a string, or no call follows.
        let spoken = r#"<call>f<of>{"a": "if {x} so <call>", "c": [1], "d": {}}<end>"#;
        let calls = r#"{"a": "if {x} so <call>", "c": [1], "d": {}}"#;
        assert_eq!(read(&template, spoken), (String::new(), calls.to_owned()));
    }

    #[test]
    fn calls_that_have_an_end_of_their_own_need_nothing() {
        let closed = r#"<call>f<of>{"a": 1}</call><call>g<of>{"c": "2"}</call><end>"#;
        assert!(parted(OPEN, r"</call>\s*", &[closed]).is_none());
        // Where no response has two calls, nothing shows that it is read.
        assert!(parted(OPEN, CLOSE, &[r#"<call>f<of>{"a": 1}<end>"#]).is_none());
    }
}
