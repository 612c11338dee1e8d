//! Parts of a message whose end an engine keeps to itself, with what ends the turn.
//!
//! A chat template may write two markers at the end of an answer, or of a call, of which the second ends the turn: `<call>{..}</call><end>`. An engine stops there, and most keep
//! that marker to themselves, so that the response ends with `</call>`. Where both are one delimiter nothing closes the call then. So the part ends with the first marker, too, where
//! nothing follows it: `</call><end>` becomes `</call>(?:<end>|\s*\Z)`.
//!
//! The end of the response is a part of the match. A parser that is fed in pieces, and takes the end of what has arrived for that of the response, so waits for more. Each render is
//! read as before, and is once read without what ends its turn: the delimiter is changed only where more of them give their messages so. That costs two parses for each render
//! that ends with the marker, where a delimiter has such an end.

use std::sync::Arc;

use super::{reads_as_before, split};
use crate::derive::compare::pattern::{
    SPACE, alternatives, either_of, looks_around, outside_groups,
};
use crate::derive::compare::text;
use crate::judge::{self, Case, Scrutiny};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};

/// Returns the response template with parts that end where the response does, without the marker `end` of the turn, and the names of their fields; `None` where nothing is to be
/// changed.
pub(in crate::derive) fn ended_without_the_turn(
    engines: &[Engine],
    document: &Document,
    end: &str,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<(Document, Vec<String>)> {
    let end = end.trim();
    let marker = text::escape_loosely(end);
    if marker.is_empty() {
        return None;
    }
    let mut changed = document.clone();
    let mut names = Vec::new();
    for (name, field) in &mut changed.fields {
        let close = field.close.as_ref().map(split::source);
        let Some(close) = close.and_then(|close| without_turn(&close, &marker)) else {
            continue;
        };
        field.close = Some(Delimiter::pattern(close));
        names.push(name.clone());
    }
    if names.is_empty() {
        return None;
    }
    let template = |document: &Document| {
        let template = ResponseTemplate::from_value(&document.to_value()).ok();
        template.map(Arc::new)
    };
    let (before, now) = (template(document)?, template(&changed)?);
    let cut = cases.iter().filter_map(|case| {
        let response = case.response.trim_end().strip_suffix(end)?;
        let response = response.trim_end().to_owned();
        Some(Case {
            response,
            ..case.clone()
        })
    });
    let gives = |template: &Arc<ResponseTemplate>, case: &Case| {
        judge::parse_whole(template, case) == case.message
    };
    let mut is_better = false;
    for case in cut {
        match (gives(&before, &case), gives(&now, &case)) {
            (true, false) => return None,
            (was, is) => is_better |= is && !was,
        }
    }
    let keeps = is_better && reads_as_before(engines, document, &changed, cases.iter(), scrutiny);
    keeps.then_some((changed, names))
}

/// Returns what closes a part with the end of the response in the place of what ends the turn as well; `None` where none of its alternatives has something before that.
fn without_turn(close: &str, marker: &str) -> Option<String> {
    let ways = alternatives(close).into_iter();
    let mut is_changed = false;
    let ways = ways.map(|way| {
        let at = outside_groups(&way, marker).filter(|at| {
            let before = &way[..*at];
            let takes = before.strip_suffix(SPACE).unwrap_or(before);
            let is_whole = Pattern::regex(before).is_ok_and(|own| {
                // What looks around alone takes nothing of its own.
                own.search("", 0).is_ok_and(|found| found.is_none())
            });
            let is_own = !takes.is_empty() && !takes.ends_with(')') && !before.contains("\\Z");
            is_own && is_whole && !looks_around(&way[*at..])
        });
        let Some(at) = at else {
            return way;
        };
        is_changed = true;
        format!("{}(?:{}|{SPACE}\\Z)", &way[..at], &way[at..])
    });
    let ways: Vec<String> = ways.collect();
    either_of(ways).filter(|_| is_changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn ended(close: &str, responses: &[&str]) -> Option<(Arc<ResponseTemplate>, Vec<String>)> {
        let document = format!(
            r#"{{"start_anchor": ">>", "fields": {{"tool_calls": {{"open": "<call>", "close_pattern": {}, "repeats": true, "content": "json"}},
                "content": {{"close": "<end>"}}}}}}"#,
            json::quote(close)
        );
        let document = json::parse(&document).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&document).unwrap());
        let cases = responses.iter();
        let cases: Vec<Case> = cases
            .map(|response| Case::read_by(&template, "", response))
            .collect();
        let document = Document::of(&document).unwrap();
        let (changed, names) =
            ended_without_the_turn(&[], &document, "<end>", &cases, Scrutiny::Whole)?;
        let template = ResponseTemplate::from_value(&changed.to_value()).unwrap();
        Some((Arc::new(template), names))
    }

    #[test]
    fn a_call_ends_with_the_response_where_the_engine_keeps_the_end() {
        let close = r"(?<=[\}\]])</call>\s*<end>\s*";
        let (template, names) = ended(close, &[r#"<call>{"a": {}}</call><end>"#]).unwrap();
        assert_eq!(names, ["tool_calls"]);
        for end in ["", "\n", "<end>", "<end>\n"] {
            let case = Case::unread("", &format!(r#"<call>{{"a": "</call> is"}}</call>{end}"#));
            let (read, error) = judge::parse(&template, &case, Scrutiny::Pieces);
            assert!(error.is_none(), "{error:?}");
            let expected = r#"{"tool_calls": [{"a": "</call> is"}]}"#;
            assert_eq!(json::to_string(&read), expected, "{end:?}");
        }
    }

    #[test]
    fn what_ends_the_turn_alone_stays_as_it_is() {
        let response = r#"<call>{"a": {}}</call><end>"#;
        assert!(ended("</call>", &[response]).is_none());
        for close in [
            "<end>",
            r"\s*<end>",
            r"(?<=a)<end>",
            r"(?:</call>\s*)?<end>",
        ] {
            assert_eq!(without_turn(close, "<end>"), None, "{close}");
        }
        let close = "</call><end>(?=<call>)|</call><end>";
        let expected = r"(?:</call><end>(?=<call>)|</call>(?:<end>|\s*\Z))";
        assert_eq!(without_turn(close, "<end>").as_deref(), Some(expected));
    }
}
