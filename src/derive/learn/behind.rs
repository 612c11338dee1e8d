//! A text within a call that speaks of what closes it.
//!
//! An argument may speak of what closes a call, as one does that has a line of a chat template in it: `{"text": "</call> ends it"}`. What closes a call so counts only where the body
//! of a call has ended: behind a closing bracket, where the body is JSON, or behind the end of an argument or what opens the call, where arguments stand in tags. For example,
//! `</call>` becomes `(?<=[\}\]]\s{0,64})</call>`. A model may leave out the end of an argument, or write something behind the body. So it also counts where another call or the end
//! of the turn follows it, which hardly any text has behind it.
//!
//! Whatever the renders have within their calls, what closes one stands behind its body, so that all of them are read as before; those responses in which the pattern finds
//! something else than before are parsed once to see to that.

use super::unclosed::{JSON_BEGINS, JSON_ENDS, end_of_turn, ends_of_arguments, opening};
use super::{CALLS_KEY, CONTENT_KEY, reads_as_before, split};
use crate::derive::compare::pattern::{
    SPACE, alternatives, bounded_by, either_of, enclosed, grouped, looks_around,
    optional_beginning, whole_or_missing,
};
use crate::judge::{Case, Scrutiny};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, FieldDocument};

/// How much white space may stand between the end of the body and what closes the call, in characters.
const MAX_SPACE: usize = 64;

/// How long the name of a function is at most that has no arguments, in characters.
const MAX_NAME: usize = 256;

/// Returns the response template with what closes a call counting only behind a body, where no response is read otherwise by that, and true if it also counts where another
/// call or the end of the turn follows; `None` where it stays as it is.
pub(in crate::derive) fn closed_behind_bodies(
    engines: &[Engine],
    document: &Document,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<(Document, bool)> {
    let field = document.fields.get(CALLS_KEY)?;
    let own = split::source(field.close.as_ref()?);
    let follows = follows(field, document.fields.get(CONTENT_KEY));
    let (close, is_followed) = narrowed(&alternatives(&own), &ends(field)?, follows.as_deref())?;
    let (before, now) = (Pattern::regex(&own).ok()?, Pattern::regex(&close).ok()?);
    let found = |pattern: &Pattern, text: &str| {
        let found = pattern.find_iter(text);
        let spans = found.map(|found| found.map(|found| found.span).ok());
        spans.collect::<Option<Vec<_>>>()
    };
    let mut changed = document.clone();
    changed.fields.get_mut(CALLS_KEY)?.close = Some(Delimiter::pattern(close));
    let differs = |case: &&Case| {
        let was = found(&before, &case.response);
        was.is_none() || was != found(&now, &case.response)
    };
    let others = cases.iter().filter(differs);
    let keeps = reads_as_before(engines, document, &changed, others, scrutiny);
    keeps.then_some((changed, is_followed))
}

/// Returns the alternatives of what closes a call, put together, with those that take something of the text only behind what the pattern `behind` looks for, or before what
/// `follows` does, and whether there are any of these; `None` where there are none at all.
fn narrowed(ways: &[String], behind: &str, follows: Option<&str>) -> Option<(String, bool)> {
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
    let own = format!("(?<={behind}){}", grouped(&taking.join("|")));
    // A bracket of the call's own is one of its body as well, where the call ends with it.
    let followed = follows
        .filter(|_| !ways.iter().any(|way| is_bracket(way)))
        .and_then(|follows| {
            // What ends with the response has nothing behind it.
            let whole = taking.into_iter().filter(|way| !way.ends_with("\\Z"));
            let whole = whole.map(|way| match way.contains("\\Z") {
                true => whole_or_missing(way).unwrap_or_else(|| way.to_owned()),
                false => way.to_owned(),
            });
            let whole: Vec<String> = whole.collect();
            let whole = (!whole.is_empty()).then(|| grouped(&whole.join("|")))?;
            let whole = whole.strip_suffix(SPACE).unwrap_or(&whole);
            Some(format!("{whole}{SPACE}(?={follows})"))
        });
    let is_followed = followed.is_some();
    let all = std::iter::once(own).chain(followed);
    let close = either_of(all.chain(others.into_iter().cloned()).collect())?;
    Some((close, is_followed))
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
        let rest = rest.filter(|rest| !looks_around(rest) && !rest.ends_with("\\Z"));
        rest.map(str::to_owned).unwrap_or(way)
    });
    ways.collect::<Vec<_>>().join("|")
}

/// Returns a pattern for what follows a call and no text that speaks of the end of one: the opening of another, or what ends the turn.
fn follows(field: &FieldDocument, content: Option<&FieldDocument>) -> Option<String> {
    let next = Some(field).filter(|field| field.repeats).and_then(|field| {
        let open = opening(field)?;
        let open = open.strip_suffix(SPACE).unwrap_or(&open).to_owned();
        let is_json = field.content.as_deref() == Some("json");
        let begins = if is_json { JSON_BEGINS } else { "" };
        (!open.contains("(?<")).then(|| format!("{open}{begins}"))
    });
    let last = content.and_then(end_of_turn);
    either_of(next.into_iter().chain(last).collect())
}

/// The ends of a text of JSON and of a null. A quote with a backslash before it is within a text.
const OTHER_ENDS: &str = r#"[^\\]"|null"#;

/// Returns true if the body of a call is its arguments alone, for which a model may write a null or the text of an object: its name stands in what opens it, and no bracket of
/// its own is a part of what closes it.
fn has_any_json(field: &FieldDocument) -> bool {
    let close = field.close.as_ref().map(Delimiter::as_pattern);
    let ways = close.as_deref().map(alternatives).unwrap_or_default();
    let is_named = |open: &Delimiter| open.as_pattern().contains("(?P<name>");
    field.open.as_ref().is_some_and(is_named) && !ways.iter().any(|way| is_bracket(way))
}

/// Returns true if what closes a call begins with a bracket of JSON.
fn is_bracket(way: &str) -> bool {
    let way = way.trim_start_matches("(?:");
    way.starts_with("\\}") || way.starts_with("\\]")
}

/// Returns a pattern for what stands before the close of a call: the end of its body, and white space.
fn ends(field: &FieldDocument) -> Option<String> {
    let space = bounded_by(SPACE, MAX_SPACE, MAX_SPACE);
    match field.content.as_deref()? {
        "json" => Some(match has_any_json(field) {
            true => format!("(?:{JSON_ENDS}|{OTHER_ENDS}){space}"),
            false => format!("{JSON_ENDS}{space}"),
        }),
        "xml-inline" if field.repeats => {
            let ends = bounded_by(&ends_of_arguments(field)?, MAX_SPACE, MAX_NAME);
            let open = opening(field)?;
            let (_, open) = optional_beginning(&open);
            // What follows the opening is no part of what stands before the close.
            let open = match open.rfind("(?=") {
                Some(at) if open.ends_with(')') => &open[..at],
                _ => open,
            };
            let open = open.strip_suffix(SPACE).unwrap_or(open);
            let is_plain = !open.is_empty() && !looks_around(open);
            let open = bounded_by(open, MAX_SPACE, MAX_NAME);
            is_plain.then(|| format!("(?:{ends}|{}){space}", grouped(&open)))
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
    use crate::value::json;

    /// The response template with calls that these members tell of, changed if none of the responses is read otherwise by that.
    fn closed(members: &str, responses: &[&str]) -> Option<(Arc<ResponseTemplate>, String)> {
        let document = format!(
            r#"{{"start_anchor": ">>", "fields": {{"tool_calls": {{"repeats": true, {members}}}, "content": {{"close": "<end>"}}}}}}"#
        );
        let value = json::parse(&document).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&value).unwrap());
        let cases = responses.iter();
        let cases: Vec<Case> = cases
            .map(|response| Case::read_by(&template, "", response))
            .collect();
        let document = Document::of(&value).unwrap();
        let (changed, _) = closed_behind_bodies(&[], &document, &cases, Scrutiny::Whole)?;
        let close = split::source(changed.fields.get(CALLS_KEY)?.close.as_ref()?);
        let template = ResponseTemplate::from_value(&changed.to_value()).unwrap();
        Some((Arc::new(template), close))
    }

    /// The message that a response gives, whole and in pieces.
    fn read(template: &Arc<ResponseTemplate>, response: &str) -> String {
        let (read, error) = judge::parse(template, &Case::unread("", response), Scrutiny::Pieces);
        assert!(error.is_none(), "{error:?}");
        json::to_string(&read)
    }

    const OF_JSON: &str = r#""open": "<call>", "close": "</call>", "content": "json""#;

    const IN_TAGS: &str = r#""open_pattern": "<call (?P<name>\\w+)>", "close": "</call>", "content": "xml-inline",
        "content_args": {"tag_pattern": "<(?P<key>\\w)>(?P<value>.*?)</>"}, "transform": {"name": "{name}", "arguments": "{content}"}"#;

    #[test]
    fn a_string_of_json_may_speak_of_what_closes_the_call() {
        let (template, close) = closed(OF_JSON, &[r#"<call>{"a": {}}</call>"#]).unwrap();
        assert!(
            close.starts_with(r"(?:(?<=[\}\]]\s{0,64})</call>|"),
            "{close}"
        );
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
        assert!(
            close.starts_with(r"(?:(?<=(?:</>|<call (?:\w{1,256})>)\s{0,64})</call>|"),
            "{close}"
        );
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
        assert!(is_bracket("(?:\\}|\\]<over>)"));
        assert!(closed(IN_TAGS, &[commented]).is_none());
        let of_text = OF_JSON.replace("json", "text");
        assert!(closed(&of_text, &[]).is_none());
    }

    /// A model may leave out the end of an argument, or write something behind the body.
    #[test]
    fn it_counts_before_another_call_and_the_end_of_the_turn_as_well() {
        let (template, _) = closed(IN_TAGS, &["<call f><a>1</></call>"]).unwrap();
        let two = r#"{"tool_calls": [{"name": "f", "arguments": {"a": "1"}}, {"name": "g", "arguments": {}}]}"#;
        for between in ["</call>", ", </call>\n", "<b></call>"] {
            let response = format!("<call f><a>1</>{between}<call g></call><end>");
            assert_eq!(read(&template, &response), two, "{between}");
        }
        let last = read(&template, "<call f><a>1</></all></call><end>Then.");
        let expected =
            r#"{"tool_calls": [{"name": "f", "arguments": {"a": "1"}}], "content": "Then."}"#;
        assert_eq!(last, expected);
        let name = "f".repeat(200);
        let two = read(&template, &format!("<call {name}></call><call g></call>"));
        assert!(
            two.contains(&name) && two.contains(r#""name": "g""#),
            "{two}"
        );
    }

    /// Where the name stands before it, a null or a text may be in the place of the arguments.
    #[test]
    fn a_body_of_json_may_be_a_null_or_a_text() {
        let named = OF_JSON.replace(
            r#""open": "<call>""#,
            r#""open_pattern": "<call (?P<name>\\w+)>", "transform": {"name": "{name}", "arguments": "{content}"}"#,
        );
        let (template, close) = closed(&named, &[r#"<call f>{"a": {}}</call>"#]).unwrap();
        assert!(
            close.starts_with(r#"(?:(?<=(?:[\}\]]|[^\\]"|null)\s{0,64})</call>"#),
            "{close}"
        );
        for body in ["null", r#""{\"a\": 1}""#, r#"{"a": "\"</call>\""}"#] {
            let read = read(&template, &format!("<call f>{body}</call>Then.<end>"));
            let expected = format!(
                r#"{{"tool_calls": [{{"name": "f", "arguments": {body}}}], "content": "Then."}}"#
            );
            assert_eq!(read, expected, "{body}");
        }
    }

    #[test]
    fn only_what_takes_text_is_looked_behind_for() {
        let ways = |close: &str| Some(narrowed(&alternatives(close), "}", None)?.0);
        assert_eq!(ways("</call>").as_deref(), Some("(?<=})</call>"));
        let followed = "(?:</call>|(?<=a)(?=<call>)|<over>)";
        let expected = "(?:(?<=})(?:</call>|<over>)|(?<=a)(?=<call>))";
        assert_eq!(ways(followed).as_deref(), Some(expected));
        assert_eq!(ways("(?=<call>)"), None);
        // What follows a marker that is cut short cannot be there.
        let cut = r"</call>\s*(?:</all>\s*|</\s*\Z)?";
        let expected = format!(r"(?:(?<=}}){cut}|</call>\s*(?:</all>\s*)?\s*(?=<call>))");
        let followed = |close: &str| narrowed(&alternatives(close), "}", Some("<call>"));
        assert_eq!(followed(cut), Some((expected, true)));
        let expected = r"(?<=})</call>\s*\Z".to_owned();
        assert_eq!(followed(r"</call>\s*\Z"), Some((expected, false)));
        let within = r"</call>(?:</all>|<\Z)?(?:\|)?";
        let (close, is_followed) = followed(within).unwrap();
        assert!(
            is_followed && close.ends_with(&format!(r"|{within}\s*(?=<call>))")),
            "{close}"
        );
        assert_eq!(
            anywhere("(?<=(?:\\)|a))</call>\\s*|(?<=a)(?=b)|(?<=a)c\\Z"),
            "</call>\\s*|(?<=a)(?=b)|(?<=a)c\\Z"
        );
    }
}
