//! Markers that open calls and are written twice.
//!
//! A model may write the marker of a section, or of a call, twice in a row. Where the marker may be missing before a call, or the call begins with it and its body has to
//! follow, the first of the two would be text of the answer. So it may stand there twice: `(?:<calls>\s*)?` becomes `(?:<calls>\s*){0,2}`, and
//! `<call>\s*(?=\{)` becomes `(?:<call>\s*){1,2}(?=\{)`. No call comes of that which would not be one without it.
//!
//! The price is a text that ends by speaking of the very marker, right before a call. Where a render has that, it is read again, and the marker stays as it was.
//! It also stays where it stands in texts of every day, as three dots do, which a text may well end with. And where it is more than a constant: a name that is written twice may be two calls; and where a response with the marker twice gives its message as it is.
//!
//! That costs some parses for each marker, and one for each response that has it twice.

use std::sync::Arc;

use super::again::{Again, Example, TRIES, gives};
use super::{CALLS_KEY, reads_as_before, split};
use crate::derive::compare::pattern::{
    SPACE, UP_TO_TWICE, enclosed, is_constant, optional_beginning, optional_parts,
};
use crate::judge::{self, Case, Scrutiny};
use crate::parser::{self, Edge};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};

/// A marker within the pattern that opens a call.
struct Marker {
    /// The pattern that opens a call, before what reads the marker, that, and behind it.
    around: [String; 3],
    /// The pattern for the marker and the white space behind it.
    own: String,
    /// How often it stands there, once or twice, as a pattern repeats it.
    up_to: &'static str,
}

impl Marker {
    /// The pattern that opens a call with the marker once or twice.
    fn twice(&self) -> String {
        let [before, _, behind] = &self.around;
        format!("{before}(?:{}){}{behind}", self.own, self.up_to)
    }
}

/// Returns the response template that reads the markers before a call where they are written twice; `None` where nothing is to be changed. `markers` are what opens
/// the section of the calls and what opens a call, in renders. With `spares`, one that stands in texts of every day is left alone.
pub(in crate::derive) fn opened_twice(
    engines: &[Engine],
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
    markers: [&str; 2],
    scrutiny: Scrutiny,
    spares: bool,
) -> Option<Again> {
    let mut now = document.clone();
    let mut examples = Vec::new();
    let open = |document: &Document| {
        let field = document.fields.get(CALLS_KEY);
        field.and_then(|field| Some(split::source(field.open.as_ref()?)))
    };
    for at in 0..found(&open(document)?, markers).len() {
        let Some(marker) = found(&open(&now)?, markers).into_iter().nth(at) else {
            break;
        };
        let Ok(own) = Pattern::regex(&marker.own) else {
            continue;
        };
        let trials = cases.iter().filter_map(|case| again(template, case, &own));
        let trials: Vec<(String, Case)> = trials.take(TRIES).collect();
        let is_given = |(_, case): &(String, Case)| gives(template, case, Scrutiny::Whole);
        let is_said = |(marker, _): &(String, Case)| judge::is_said_every_day(marker);
        if trials.iter().all(is_given) || spares && trials.iter().any(is_said) {
            continue;
        }
        let mut changed = now.clone();
        if let Some(field) = changed.fields.get_mut(CALLS_KEY) {
            field.open = Some(Delimiter::pattern(marker.twice()));
        }
        if is_read(engines, [&now, &changed], cases, &trials, scrutiny, &marker) {
            now = changed;
            examples.extend(trials.into_iter().map(|(delimiter, case)| Example {
                response: case.response,
                delimiter,
            }));
        }
    }
    Again::of(now, vec!["opens the calls"], examples)
}

/// Returns true if the changed response template gives the messages of the trials, and reads the responses that have the marker twice as the other one does.
fn is_read(
    engines: &[Engine],
    [document, changed]: [&Document; 2],
    cases: &[Case],
    trials: &[(String, Case)],
    scrutiny: Scrutiny,
    marker: &Marker,
) -> bool {
    let Ok(read) = ResponseTemplate::from_value(&changed.to_value()).map(Arc::new) else {
        return false;
    };
    let Ok(seen) = Pattern::regex(&format!("{0}{SPACE}{0}", marker.own)) else {
        return false;
    };
    let mut all = trials.iter();
    let scrutiny = scrutiny.max(Scrutiny::Pieces);
    let has_it = |case: &&Case| !matches!(seen.search(&case.response, 0), Ok(None));
    all.all(|(_, case)| gives(&read, case, scrutiny))
        && reads_as_before(
            engines,
            document,
            changed,
            cases.iter().filter(has_it),
            scrutiny,
        )
}

/// The markers in the pattern that opens a call which may stand there twice: those that may be missing, as far as renders have them before a call, and the one with which a
/// call begins whose body has to follow.
fn found(open: &str, markers: [&str; 2]) -> Vec<Marker> {
    let mut at = 0;
    let mut found = Vec::new();
    for part in optional_parts(open) {
        let before = &open[..at];
        at += part.len();
        let own = part.strip_suffix(UP_TO_TWICE).or(part.strip_suffix('?'));
        let own = own.and_then(|own| enclosed(own, "(?:"));
        // What opens a turn may stand before a call as well, and belongs to no call.
        let begins = |own: &str| {
            let pattern = Pattern::regex(own).ok();
            let begins = |marker: &&str| {
                let found = pattern
                    .as_ref()
                    .map(|own| own.search(marker.trim_start(), 0));
                matches!(found, Some(Ok(Some(found))) if found.span.start == 0)
            };
            markers.iter().any(begins)
        };
        if let Some(own) = own.filter(|own| is_constant(own) && begins(own)) {
            found.push(Marker {
                around: [before, part, &open[at..]].map(str::to_owned),
                own: own.to_owned(),
                up_to: UP_TO_TWICE,
            });
        }
    }
    let (before, own) = optional_beginning(open);
    let ahead = own.find("(?=").map(|at| own.split_at(at));
    if let Some((own, ahead)) = ahead
        && enclosed(ahead, "(?=").is_some()
        && is_constant(own)
        && !own.trim_end_matches(SPACE).is_empty()
    {
        found.push(Marker {
            around: [before, own, ahead].map(str::to_owned),
            own: own.to_owned(),
            up_to: "{1,2}",
        });
    }
    found
}

/// The marker in what opens the first call of a response, and the case with the marker once more before itself; `None` where it has none.
fn again(template: &Arc<ResponseTemplate>, case: &Case, own: &Pattern) -> Option<(String, Case)> {
    let (before, passed) =
        parser::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
    let open = passed.into_iter().find(|one| {
        let field = template.fields().get(one.field);
        one.side == Edge::Open && field.is_some_and(|field| field.name == CALLS_KEY)
    })?;
    let start = open.span.start.checked_sub(before)?;
    let opening = &case.response[start..open.span.end - before];
    let found = own.search(opening, 0).ok()??.span;
    let marker = &opening[found.clone()];
    let at = start + found.start;
    let (head, rest) = case.response.split_at(at);
    let response = format!("{head}{marker}{rest}");
    Some((
        marker.trim().to_owned(),
        Case {
            response,
            ..case.clone()
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Value, json};

    fn template(document: &Document) -> Arc<ResponseTemplate> {
        Arc::new(ResponseTemplate::from_value(&document.to_value()).unwrap())
    }

    fn document(open: &str) -> Document {
        let text = format!(
            r#"{{"start_anchor": "A:", "fields": {{"tool_calls": {{"open_pattern": {}, "close_pattern": "</c>\\s*", "repeats": true, "content": "json"}},
                "content": {{"close": "<end>", "repeats": true, "join": ""}}}}}}"#,
            json::quote(open)
        );
        Document::of(&json::parse(&text).unwrap()).unwrap()
    }

    /// The pattern that opens a call of which these responses are known, and the response template.
    fn opened(open: &str, responses: &[&str]) -> Option<(String, Arc<ResponseTemplate>)> {
        let document = document(open);
        let read = template(&document);
        let cases = responses.iter();
        let cases: Vec<Case> = cases
            .map(|response| Case::read_by(&read, "A:", response))
            .collect();
        let markers = ["\n<all>\n", "<c>"];
        let again = opened_twice(
            &[],
            &document,
            &read,
            &cases,
            markers,
            Scrutiny::Pieces,
            true,
        )?;
        let open = again.document.fields[CALLS_KEY].open.as_ref()?;
        Some((open.as_pattern(), template(&again.document)))
    }

    fn case(response: &str) -> Case {
        Case::unread("A:", response)
    }

    const ONE: &str = "Hm <all>\n<c>{\"a\": 1}</c><end>";

    #[test]
    fn a_marker_before_a_call_may_be_written_twice() {
        let open = r#"(?:<all>\s*)?<c>\s*(?=\{\s*")"#;
        let (pattern, read) = opened(open, &[ONE]).unwrap();
        assert_eq!(pattern, r#"(?:<all>\s*){0,2}(?:<c>\s*){1,2}(?=\{\s*")"#);
        let message = judge::parse_whole(&template(&document(open)), &case(ONE));
        for response in [
            ONE,
            "Hm <all>\n<all>\n<c>{\"a\": 1}</c><end>",
            "Hm <all><c><c>{\"a\": 1}</c><end>",
            "Hm <all><all>\n<c>\n<c>{\"a\": 1}</c><end>",
        ] {
            let case = Case {
                message: message.clone(),
                ..case(response)
            };
            assert!(gives(&read, &case, Scrutiny::EverySize), "{response}");
        }
        // It opens no call by itself.
        let spoken = "<all><all> and <c><c> so<end>";
        let parsed = judge::parse_whole(&read, &case(spoken));
        assert_eq!(
            parsed.get("content").and_then(Value::as_str),
            Some("<all><all> and <c><c> so")
        );
    }

    #[test]
    fn what_renders_show_is_read_as_it_was() {
        let open = r#"(?:<all>\s*)?<c>\s*(?=\{\s*")"#;
        let said = "So <all> <all>\n<c>{\"a\": 1}</c><end>";
        let (pattern, _) = opened(open, &[ONE, said]).unwrap();
        assert_eq!(pattern, r#"(?:<all>\s*)?(?:<c>\s*){1,2}(?=\{\s*")"#);
    }

    #[test]
    fn only_a_constant_before_a_call_may_be_written_twice() {
        // What no render has before a call is a part of the turn, and a marker without a body behind it may be spoken of.
        assert!(opened(r"(?:Hm\s*)?<c>\s*", &[ONE]).is_none());
        assert!(opened(r"<c\w*>\s*(?=\{)", &["<c1>{}</c><end>"]).is_none());
    }
}
