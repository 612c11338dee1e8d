//! Responses that end too early, as they do where a model is stopped.
//!
//! Cut at any character, a response must parse without an error, and lose no field that was finished before the cut. The part of an open
//! region before the cut may parse to anything.

use std::sync::Arc;

use super::{Case, Counterexample};
use crate::parser::{CutShort, Growing, OnError, Options, ParseError, ResponseParser, is_kept};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// Returns the number of places at which a response can be cut.
pub(crate) fn count(case: &Case) -> usize {
    cuts(&case.response).count()
}

/// The first cut at which the response raises an error or loses something.
pub(crate) fn first_loss(template: &Arc<ResponseTemplate>, case: &Case) -> Option<Counterexample> {
    let options = Options {
        on_error: OnError::Keep,
        ..Options::default()
    };
    let shown = |response: &str, finished: Map, parsed: Map, error: String| Counterexample {
        message: case.message.clone(),
        prefix: case.prefix.clone(),
        response: response.to_owned(),
        expected: Value::Object(finished),
        parsed: Value::Object(parsed),
        error: Some(error),
    };
    let template = Arc::clone(template);
    let mut growing =
        match ResponseParser::with_options(template, &case.prefix, &case.tools, options) {
            Ok(parser) => Growing::new(parser),
            Err(error) => {
                let error = does_not_parse(&error);
                return Some(shown("", Map::new(), Map::new(), error));
            }
        };
    let mut finished = Map::new();
    let mut fed = 0;
    for cut in cuts(&case.response) {
        let response = &case.response[..cut];
        growing.feed(&case.response[fed..cut]);
        fed = cut;
        let (parsed, error) = match growing.cut_short() {
            CutShort {
                after,
                error: Some(error),
                ..
            } => (after, does_not_parse(&error)),
            CutShort {
                before,
                finished: now,
                after,
                ..
            } => {
                let lost = [&finished, &now]
                    .into_iter()
                    .flat_map(Map::iter)
                    .any(|(key, value)| !is_kept(value, after.get(key)));
                finished = before;
                if !lost {
                    continue;
                }
                let lost = "cut here, it loses a field that was finished";
                (after, lost.to_owned())
            }
        };
        return Some(shown(response, finished, parsed, error));
    }
    None
}

fn does_not_parse(error: &ParseError) -> String {
    format!("cut here, it does not parse: {error}")
}

fn cuts(response: &str) -> impl Iterator<Item = usize> {
    response.char_indices().map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(template: &str, response: &str) -> Option<String> {
        let template = ResponseTemplate::from_json(template).expect("valid");
        let case = Case {
            prefix: String::new(),
            response: response.to_owned(),
            tools: Vec::new(),
            message: Value::Null,
        };
        first_loss(&Arc::new(template), &case).map(|found| found.response)
    }

    #[test]
    fn an_open_region_may_be_lost_and_a_finished_one_not() {
        let joined = r#"{"start_anchor": "<a>", "fields": {
            "calls": {"open": "<c>", "close": "</c>", "content": "json", "repeats": true},
            "content": {"close_pattern": "<e>\\s*", "repeats": true, "join": ""}}}"#;
        let response = "One <c>{\"é\": [1]}</c> two <c>2</c><e>\n";
        assert_eq!(loss(joined, response), None);
        let single = joined.replace(r#", "repeats": true, "join": """#, "");
        assert_eq!(
            loss(&single, response).as_deref(),
            Some("One <c>{\"é\": [1]}</c> "),
            "text after a call takes the place of the text before it"
        );
    }

    #[test]
    fn what_waits_for_a_second_marker_is_finished_too() {
        let template =
            r#"{"start_anchor": "<a>", "fields": {"content": {"close_pattern": "<e>(?:</s>)?"}}}"#;
        assert_eq!(loss(template, "Hi<e></s>").as_deref(), Some("Hi<e><"));
        let whole = template.replace("(?:</s>)?", "(?:</s>|<(?:/[^>]*)?\\\\Z)?");
        assert_eq!(loss(&whole, "Hi<e></s>"), None);
    }

    #[test]
    fn what_the_end_adds_must_not_overwrite() {
        let template = r#"{"start_anchor": "<a>", "fields": {"content": {"close": "<e>"}}}"#;
        assert_eq!(loss(template, "Hi<e>"), None);
        assert_eq!(loss(template, "Hi<e>\n ").as_deref(), Some("Hi<e>\n"));
    }
}
