//! Delimiters of the reasoning that a model writes once more.
//!
//! A prompt may open the reasoning, or open and close it at once where none is asked for. A model that was trained on whole turns may write that
//! delimiter again: behind `<think>` in the prompt comes `<think>`, and behind `<think></think>` comes `</think>`. A model also stutters where it has written
//! the first itself. The second `<think>` would be text of the
//! reasoning, the second `</think>` text of the answer. So a delimiter that stands right behind itself is taken to be the one that was written already:
//!
//! - A reasoning ends right behind what opened it, with no text, where it is opened once more.
//! - An answer that nothing opens ends where what closes the reasoning stands right behind another such, with no text before it; that delimiter goes with it.
//!
//! Both look back at the delimiter, over no more white space than a few characters, so that a parser can forget the text before. A reasoning that begins by
//! speaking of `<think>`, and an answer that begins with `</think>`, lose that. No render does: all those in which a delimiter stands behind
//! itself are read again, and one that is read otherwise keeps the delimiter as it was. Nor is anything changed where a response that is changed so does not
//! give its message, or gives it already. That costs some parses for each of the two.

use std::ops::Range;
use std::sync::Arc;

use super::CONTENT_KEY;
use super::split;
use crate::derive::compare::pattern::{SPACE, alternatives, bounded, plain};
use crate::judge::{self, Case, Scrutiny};
use crate::parser::{self, Edge};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};

/// How many responses a delimiter is written into once more.
pub(super) const TRIES: usize = 3;

/// A response template that reads delimiters where they are written twice.
pub(in crate::derive) struct Again {
    pub(in crate::derive) document: Document,
    /// Words for what these delimiters do.
    pub(in crate::derive) told: Vec<&'static str>,
    /// The shortest response with one of them that was tried.
    pub(in crate::derive) example: Example,
}

/// A response in which a delimiter stands right behind itself, be the first in the prompt.
pub(in crate::derive) struct Example {
    pub(in crate::derive) response: String,
    pub(in crate::derive) delimiter: String,
}

/// Returns the response template that reads the delimiters of the reasoning where they are written twice; `None` where
/// nothing is to be changed. `reasoning` is the field of the reasoning. With `spares`, what closes a reasoning is left alone where texts of every day have it twice in a row:
/// two blocks of code stand one behind the other in an answer, with three backticks twice between them.
pub(in crate::derive) fn written_again<'c>(
    engines: &[Engine],
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: impl Iterator<Item = &'c Case> + Clone,
    reasoning: &str,
    scrutiny: Scrutiny,
    spares: bool,
) -> Option<Again> {
    let refused = Engine::refusals(engines, document);
    let mut now = document.clone();
    let mut told = Vec::new();
    let mut examples = Vec::new();
    let sides = [
        (Edge::Open, "opens the reasoning"),
        (Edge::Close, "closes the reasoning"),
    ];
    for (side, words) in sides {
        let Some(Twice { changed, seen }) = twice(&now, reasoning, side) else {
            continue;
        };
        let Ok(read) = ResponseTemplate::from_value(&changed.to_value()).map(Arc::new) else {
            continue;
        };
        let trials = cases
            .clone()
            .filter_map(|case| again(template, case, reasoning, side));
        let trials: Vec<(String, Case)> = trials.take(TRIES).collect();
        let gives = |(_, case): &(String, Case)| gives(&read, case, scrutiny.max(Scrutiny::Pieces));
        let is_said = |(delimiter, _): &(String, Case)| judge::is_said_twice_every_day(delimiter);
        if spares && side == Edge::Close && trials.iter().any(is_said) {
            continue;
        }
        let is_given = |(_, case): &(String, Case)| {
            judge::says_the_same(&judge::parse_whole(template, case), &case.message)
        };
        let has_it = |case: &&Case| {
            let before = template.after_last_anchor(&case.prefix).unwrap_or_default();
            let text = format!("{before}{}", case.response);
            !matches!(seen.search(&text, 0), Ok(None))
        };
        let is_kept = |case: &Case| judge::parse_whole(&read, case) == case.message;
        let is_taken = !trials.iter().all(is_given)
            && Engine::refusals(engines, &changed) <= refused
            && trials.iter().all(gives)
            && cases.clone().filter(has_it).all(is_kept);
        if is_taken {
            now = changed;
            told.push(words);
            examples.extend(trials.into_iter().map(|(delimiter, case)| Example {
                response: case.response,
                delimiter,
            }));
        }
    }
    Again::of(now, told, examples)
}

impl Again {
    /// Puts together what was found, with the shortest of the examples. Returns `None` where there is none.
    pub(super) fn of(
        document: Document,
        told: Vec<&'static str>,
        examples: Vec<Example>,
    ) -> Option<Self> {
        let examples = examples.into_iter();
        let example = examples.min_by_key(|example| example.response.len())?;
        Some(Self {
            document,
            told,
            example,
        })
    }
}

/// A response template with a delimiter that may be written twice, and the pattern of that.
struct Twice {
    changed: Document,
    seen: Pattern,
}

/// Lets a delimiter of the reasoning be written twice; `None` where it cannot.
fn twice(document: &Document, reasoning: &str, side: Edge) -> Option<Twice> {
    let mut changed = document.clone();
    let field = changed.fields.get(reasoning)?;
    let own = match side {
        Edge::Open => plain(&split::source(field.open.as_ref()?))?,
        Edge::Close => plain(&split::source(field.close.as_ref()?))?,
    };
    // What begins what closes a reasoning is no second opening of it.
    let close = field.close.as_ref().map(split::source);
    let closes_so = |way: &String| side == Edge::Open && way.starts_with(&own);
    if close.is_some_and(|close| alternatives(&close).iter().any(closes_so)) {
        return None;
    }
    let behind = bounded(&format!("{own}{SPACE}"));
    let (field, way) = match side {
        Edge::Open => (reasoning, format!("(?<={behind})(?={own})")),
        Edge::Close => (CONTENT_KEY, format!("(?<={behind}){own}{SPACE}")),
    };
    let field = changed.fields.get_mut(field)?;
    if side == Edge::Close && field.open.is_some() {
        return None;
    }
    let close = match &field.close {
        Some(close) => split::either(&split::source(close), &way),
        None => way,
    };
    field.close = Some(Delimiter::pattern(close));
    let seen = Pattern::regex(&format!("{behind}{own}")).ok()?;
    Some(Twice { changed, seen })
}

/// Returns true if a response gives its message.
pub(super) fn gives(template: &Arc<ResponseTemplate>, case: &Case, scrutiny: Scrutiny) -> bool {
    let (parsed, error) = judge::parse(template, case, scrutiny);
    error.is_none() && judge::says_the_same(&parsed, &case.message)
}

/// A delimiter as a parse reads it: the side of the region on which it stands, and its bytes in the text behind the anchor.
pub(super) type Delimited = (Edge, Range<usize>);

/// The text behind the anchor, and the delimiters of the reasoning that a parse reads.
pub(super) fn delimiters(
    template: &Arc<ResponseTemplate>,
    case: &Case,
    reasoning: &str,
) -> Option<(String, Vec<Delimited>)> {
    let before = template.after_last_anchor(&case.prefix).ok()?;
    let (_, passed) =
        parser::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
    let of_reasoning = |one: &parser::Passed| {
        let field = template.fields().get(one.field);
        field.is_some_and(|field| field.name == reasoning)
    };
    let passed = passed.into_iter().filter(of_reasoning);
    let all = passed.map(|one| (one.side, one.span)).collect();
    Some((format!("{before}{}", case.response), all))
}

/// The last delimiter of that side, and the case with it once more behind itself; `None` where it has none.
fn again(
    template: &Arc<ResponseTemplate>,
    case: &Case,
    reasoning: &str,
    side: Edge,
) -> Option<(String, Case)> {
    let before = template.after_last_anchor(&case.prefix).ok()?;
    let (text, all) = delimiters(template, case, reasoning)?;
    let mut last = all.into_iter().rev();
    let (_, span) = last.find(|(of, span)| *of == side && !span.is_empty())?;
    let own = text[span.clone()].trim();
    // The prompt may have white space behind it, and nothing else: the delimiter can be written into the response alone.
    let at = span.end.max(before.len());
    let is_behind = text[span.end..at].trim().is_empty();
    let response = format!("{}{own}{}", &text[before.len()..at], &text[at..]);
    (is_behind && !own.is_empty()).then(|| {
        let case = Case {
            response,
            ..case.clone()
        };
        (own.to_owned(), case)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn template(document: &Document) -> Arc<ResponseTemplate> {
        Arc::new(ResponseTemplate::from_value(&document.to_value()).unwrap())
    }

    /// A response template whose reasoning stands between `<t>` and `</t>`.
    fn document(content: &str) -> Document {
        let text = format!(
            r#"{{"start_anchor": "A:", "fields": {{
                "thinking": {{"open": "<t>", "close_pattern": "(?:</t>\\s*|(?=<c>))", "repeats": true, "join": ""}},
                "tool_calls": {{"open": "<c>", "close": "</c>", "content": "json"}}, "content": {content}}}}}"#
        );
        Document::of(&json::parse(&text).unwrap()).unwrap()
    }

    fn case(document: &Document, prefix: &str, response: &str) -> Case {
        Case::read_by(&template(document), prefix, response)
    }

    /// Reads what is written twice: the response template that does, and what it reads so.
    fn again(
        document: &Document,
        cases: &[Case],
    ) -> Option<(Arc<ResponseTemplate>, Vec<&'static str>)> {
        let again = written_again(
            &[],
            document,
            &template(document),
            cases.iter(),
            "thinking",
            Scrutiny::Pieces,
            true,
        )?;
        Some((template(&again.document), again.told))
    }

    /// Three backticks that close a reasoning stand twice in a row between two blocks of code, too.
    #[test]
    fn what_texts_of_every_day_have_twice_in_a_row_is_left_alone() {
        let with = |close: &str, spares: bool| {
            let document = json::parse(&format!(
                r#"{{"start_anchor": "A:", "fields": {{"thinking": {{"open": "<t>", "close": "{close}"}},
                    "content": {{"close": "<end>", "repeats": true, "join": ""}}}}}}"#
            ));
            let document = Document::of(&document.unwrap()).unwrap();
            let cases = [case(&document, "A:<t>", &format!("hm{close}Yes<end>"))];
            let template = template(&document);
            let again = written_again(
                &[],
                &document,
                &template,
                cases.iter(),
                "thinking",
                Scrutiny::Pieces,
                spares,
            );
            again.is_some_and(|again| again.told.contains(&"closes the reasoning"))
        };
        assert!(with("</t>", true) && with("```", false));
        assert!(!with("```", true));
    }

    const IMPLICIT: &str = r#"{"close": "<end>", "repeats": true, "join": ""}"#;

    #[test]
    fn what_the_prompt_has_written_may_be_written_again() {
        let document = document(IMPLICIT);
        let cases = [
            case(&document, "A:<t>", "hm</t>Yes<end>"),
            case(&document, "A:<t>\n", "hm\n</t>\n\n<c>[1]</c><end>"),
        ];
        let (read, told) = again(&document, &cases).unwrap();
        assert_eq!(told, ["opens the reasoning", "closes the reasoning"]);
        for (prefix, response, as_if) in [
            ("A:<t>", "<t>hm</t>Yes<end>", "hm</t>Yes<end>"),
            ("A:<t>\n", "<t>\nhm</t>Yes<end>", "hm</t>Yes<end>"),
            ("A:<t>", "<t><t>hm</t></t></t>Yes<end>", "hm</t>Yes<end>"),
            ("A:<t>\n</t>\n", "</t>\n\nYes<end>", "Yes<end>"),
            ("A:<t></t>", "</t><c>[1]</c><end>", "<c>[1]</c><end>"),
            // Spoken of further on, it is text as it was.
            (
                "A:<t>",
                "so <t> it</t>or </t> so<end>",
                "so <t> it</t>or </t> so<end>",
            ),
        ] {
            let meant = case(&document, prefix, as_if);
            let (message, error) = judge::parse(
                &read,
                &Case {
                    response: response.to_owned(),
                    ..meant.clone()
                },
                Scrutiny::Pieces,
            );
            assert!(error.is_none(), "{error:?}");
            assert!(
                judge::says_the_same(&message, &meant.message),
                "{response}: {message:?}"
            );
        }
    }

    #[test]
    fn a_model_may_write_its_own_delimiter_again() {
        let document = document(IMPLICIT);
        let cases = [case(&document, "A:", "<t>hm</t>Yes<end>")];
        let (read, _) = again(&document, &cases).unwrap();
        for response in ["<t>\n<t>hm</t>Yes<end>", "<t>hm</t></t>Yes<end>"] {
            let case = Case {
                response: response.to_owned(),
                ..cases[0].clone()
            };
            assert!(gives(&read, &case, Scrutiny::Pieces), "{response}");
        }
        // Where there is no reasoning, nothing can be written twice.
        let cases = [case(&document, "A:", "Yes<end>")];
        assert!(again(&document, &cases).is_none());
    }

    #[test]
    fn an_opening_that_begins_the_closing_is_left_alone() {
        let text = json::to_string(&document(IMPLICIT).to_value()).replace("</t>", "<t>!");
        let document = Document::of(&json::parse(&text).unwrap()).unwrap();
        let cases = [case(&document, "A:", "<t>hm<t>!Yes<end>")];
        let (_, told) = again(&document, &cases).unwrap();
        assert_eq!(told, ["closes the reasoning"]);
    }

    #[test]
    fn what_renders_show_is_read_as_it_was() {
        let document = document(IMPLICIT);
        let cases = [
            case(&document, "A:<t>", "hm</t>Yes<end>"),
            case(&document, "A:<t>", "<t> is a tag</t>Yes<end>"),
            case(&document, "A:<t>", "hm</t></t> ends it<end>"),
        ];
        assert!(again(&document, &cases).is_none());
    }

    #[test]
    fn an_answer_that_something_opens_needs_nothing() {
        let document = document(r#"{"open": "<a>", "close": "</a>"}"#);
        let cases = [case(&document, "A:<t>", "hm</t><a>Yes</a>")];
        let (_, told) = again(&document, &cases).unwrap();
        assert_eq!(told, ["opens the reasoning"]);
    }
}
