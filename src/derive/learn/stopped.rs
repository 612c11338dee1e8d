//! A reasoning in which the model stops.
//!
//! A model may end its turn within a reasoning: `<think>Hm.<end>`. Nothing closes the reasoning then, which would have what ends the turn in it. So a reasoning is taken to
//! end, too, before what ends a turn, where nothing follows that. The content takes that end, as it does behind an answer.
//!
//! What ends a turn is each alternative of what closes the content that ends a response in some case. Within a reasoning that is closed nothing is read otherwise: what
//! closes it comes before the end of the response. A parser that is fed in pieces, and takes the end of what has arrived for that of the response, may find such an end within
//! a reasoning that speaks of one; so the cases whose reasoning has one in it are read again, once, and an end that is a part of the reasoning's own delimiters is left out.

use std::ops::Range;
use std::sync::Arc;

use super::again::{TRIES, delimiters, gives};
use super::{CONTENT_KEY, reads_as_before, split};
use crate::derive::compare::pattern::{SPACE, alternatives, either_of};
use crate::derive::compare::text;
use crate::judge::{Case, Scrutiny};
use crate::parser::{self, Edge};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};
use crate::value::{Map, Value};

/// Returns the response template with a reasoning that ends before what ends the turn, with the shortest response in which it does; `None` where nothing is to be changed.
/// `reasoning` is its field.
pub(in crate::derive) fn stopped_in_reasoning<'c>(
    engines: &[Engine],
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: impl Iterator<Item = &'c Case> + Clone,
    reasoning: &str,
    scrutiny: Scrutiny,
) -> Option<(Document, String)> {
    let own = split::source(document.fields.get(reasoning)?.close.as_ref()?);
    let content = document.fields.get(CONTENT_KEY)?;
    let ways = alternatives(&split::source(content.close.as_ref()?));
    let mut ends = ends(template, cases.clone(), &ways);
    let thoughts = cases
        .clone()
        .filter(|case| case.message.get(reasoning).is_some());
    let delimiters = thoughts.take(TRIES).filter_map(|case| {
        let (text, all) = delimiters(template, case, reasoning)?;
        let all = all.into_iter().map(|(_, span)| text[span].to_owned());
        Some(all.collect::<Vec<String>>())
    });
    // A parser that is fed in pieces takes the end of what has arrived for that of the response, and would find such an end within the delimiter.
    let delimiters: Vec<String> = delimiters.flatten().collect();
    ends.retain(|(_, end)| !delimiters.iter().any(|own| own.contains(end.trim())));
    let mut texts: Vec<String> = Vec::new();
    for (way, end) in &ends {
        // In the place of a pattern with parts that may vary stands the text that ends a response.
        let own = way.strip_suffix(SPACE).unwrap_or(way);
        let text = match !own.contains("(?:") && !own.contains("(?<") {
            true => own.to_owned(),
            false => text::escape_loosely(end.trim()),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let way = format!("(?={}{SPACE}\\Z)", either_of(texts)?);
    let mut changed = document.clone();
    let field = changed.fields.get_mut(reasoning)?;
    field.close = Some(Delimiter::pattern(split::either(&own, &way)));
    let read = ResponseTemplate::from_value(&changed.to_value()).ok()?;
    let read = Arc::new(read);
    let trials = cases
        .clone()
        .filter_map(|case| stopped(template, case, reasoning));
    let trials: Vec<Case> = trials
        .flat_map(|case| {
            let ends = ends.iter();
            ends.map(move |(_, end)| Case {
                response: format!("{}{end}", case.response),
                ..case.clone()
            })
        })
        .take(TRIES)
        .collect();
    let gives = |read: &Arc<ResponseTemplate>, case: &Case| gives(read, case, Scrutiny::Whole);
    let is_new = trials.iter().any(|case| !gives(template, case));
    // Only a reasoning that has such an end in it may be read otherwise.
    let has_one = |case: &&Case| {
        let said = case.message.get(reasoning).and_then(Value::as_str);
        said.is_some_and(|said| ends.iter().any(|(_, end)| said.contains(end.trim())))
    };
    let is_taken = is_new
        && trials.iter().all(|case| gives(&read, case))
        && reads_as_before(engines, document, &changed, cases.filter(has_one), scrutiny);
    let example = trials.into_iter().map(|case| case.response);
    is_taken.then_some((changed, example.min_by_key(String::len)?))
}

/// The alternatives of what closes the content with which responses end, each with such an end and the white space before it.
fn ends<'c>(
    template: &Arc<ResponseTemplate>,
    cases: impl Iterator<Item = &'c Case>,
    ways: &[String],
) -> Vec<(String, String)> {
    let all = ways
        .iter()
        .filter_map(|way| Some((way, Pattern::regex(way).ok()?)));
    let mut left: Vec<(&String, Pattern)> = all.collect();
    let mut ends = Vec::new();
    for case in cases {
        if left.is_empty() {
            break;
        }
        let said = case.response.trim_end();
        let may_end = |pattern: &Pattern| {
            let mut found = pattern.find_iter(&case.response).flatten();
            found.any(|found| found.span.end >= said.len() && !found.span.is_empty())
        };
        if !left.iter().any(|(_, pattern)| may_end(pattern)) {
            continue;
        }
        let Some((text, span)) = last_close(template, case) else {
            continue;
        };
        let is_it = |pattern: &Pattern| {
            let found = pattern.search(&text, span.start).ok().flatten();
            found.is_some_and(|found| found.span == span)
        };
        if let Some(at) = left.iter().position(|(_, pattern)| is_it(pattern)) {
            let (way, _) = left.remove(at);
            let before = text[..span.start].trim_end().len();
            ends.push((way.clone(), text[before..span.end].trim_end().to_owned()));
        }
    }
    ends
}

/// The text of a response behind the anchor, and the bytes of what closes the content at its end; `None` where something else is there.
fn last_close(template: &Arc<ResponseTemplate>, case: &Case) -> Option<(String, Range<usize>)> {
    let before = template.after_last_anchor(&case.prefix).ok()?;
    let text = format!("{before}{}", case.response);
    let (_, all) = parser::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
    let last = all.last()?;
    let field = template.fields().get(last.field)?;
    let is_end = field.name == CONTENT_KEY
        && last.side == Edge::Close
        && !last.span.is_empty()
        && text.get(last.span.end..)?.trim().is_empty();
    is_end.then(|| (text, last.span.clone()))
}

/// The case without what closes its reasoning and all behind that, with the reasoning alone as its message; `None` where no text closes it.
fn stopped(template: &Arc<ResponseTemplate>, case: &Case, reasoning: &str) -> Option<Case> {
    let before = template.after_last_anchor(&case.prefix).ok()?;
    let (text, all) = delimiters(template, case, reasoning)?;
    let mut closes = all.iter().filter(|(side, _)| *side == Edge::Close);
    let (_, close) = closes.next().filter(|(_, close)| !close.is_empty())?;
    let said = case.message.get(reasoning)?.clone();
    let is_own = closes.next().is_none() && close.start >= before.len();
    is_own.then(|| Case {
        response: text[before.len()..close.start].trim_end().to_owned(),
        message: Value::Object(Map::from_iter([
            ("role".to_owned(), Value::from("assistant")),
            (reasoning.to_owned(), said),
        ])),
        ..case.clone()
    })
}

#[cfg(test)]
mod tests {
    use crate::chat_template;
    use crate::derive::{Derivation, Options, derive};
    use crate::parser::parse_response;
    use crate::response_template::{Engine, ResponseTemplate};
    use crate::value::{Value, json};

    const TAGS: [&str; 4] = ["<think>", "</think>", "<over>", "bot:"];
    const WORDS: [&str; 4] = ["ponder ", " pondered", " zzyx\\n", "bot "];

    /// The derivation from a chat template with these markers.
    fn derived([open, close, end, bot]: [&str; 4], engines: &[Engine]) -> Derivation {
        let source = format!(
            "{{%- for m in messages -%}}{{{{ '{bot}' if m.role == 'assistant' else m.role ~ ': ' }}}}
{{%- if m.reasoning_content -%}}{{{{ '{open}' ~ m.reasoning_content ~ '{close}' }}}}{{%- endif -%}}
{{{{ m.content ~ '{end}' }}}}{{%- endfor -%}}{{%- if add_generation_prompt -%}}{{{{ '{bot}' }}}}{{%- endif -%}}"
        );
        let source = chat_template::from_text("it", &source).unwrap();
        let options = Options::default().engines(engines.to_vec());
        let derived = derive(&source, &options).unwrap();
        assert!(derived.report.verified, "{:#?}", derived.report.findings);
        derived
    }

    fn read(derived: &Derivation, response: &str) -> String {
        let template = ResponseTemplate::from_value(&derived.document.to_value()).unwrap();
        json::to_string(&Value::Object(
            parse_response(response, template, "", &[]).unwrap(),
        ))
    }

    fn is_told(derived: &Derivation) -> bool {
        let mut findings = derived.report.findings.iter();
        findings.any(|finding| finding.code == "reasoning-stopped")
    }

    #[test]
    fn a_reasoning_ends_with_the_turn_that_ends_in_it() {
        for markers in [TAGS, WORDS] {
            let derived = derived(markers, &[]);
            assert!(is_told(&derived), "{:#?}", derived.report.findings);
            let [open, close, end, _] = markers.map(|marker| marker.replace("\\n", "\n"));
            let thought = r#"{"role": "assistant", "reasoning_content": "Hm, over there."}"#;
            for stopped in [end.as_str(), end.trim_end(), ""] {
                let response = format!("{open}Hm, over there.{stopped}");
                assert_eq!(read(&derived, &response), thought);
            }
            // A reasoning that is closed may speak of the end.
            let said = format!("{open}I say {end} then{close}Yes.{end}");
            let whole = json::parse(&read(&derived, &said)).unwrap();
            let text = |key: &str| whole.get(key).and_then(Value::as_str).map(str::to_owned);
            assert_eq!(text("content").as_deref(), Some("Yes."));
            assert!(text("reasoning_content").unwrap().ends_with("then"));
        }
    }

    /// Their patterns cannot look ahead.
    #[test]
    fn an_engine_that_could_not_read_it_is_spared() {
        let derived = derived(TAGS, &[Engine::Vllm]);
        assert!(!is_told(&derived), "{:#?}", derived.report.findings);
    }
}
