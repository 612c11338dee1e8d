//! Text before an answer that counts only where a part of the message begins.
//!
//! Where nothing opens the content, what a chat template writes before an answer closes what stands before it, which is nothing: of `RESULT: Hi`, `RESULT:` goes. An answer
//! that says `RESULT:` itself would lose it. Where renders have the text only where the turn begins or behind what closes a part, it counts only there.
//!
//! Of each alternative of what closes the content, all places are looked at in which a parse closes with it. One that ends a turn stands behind an answer,
//! and stays as it is; so does one that no response has. The responses that have the text elsewhere are read again, and must be read as before. Nothing is changed
//! where answers that name the text come back already, or do not afterwards. That costs a parse for each response, and some for each alternative.

use std::sync::Arc;

use super::again::Example;
use super::within::{behind_parts, spared};
use super::{CONTENT_KEY, split};
use crate::derive::compare::pattern::{alternatives, grouped, looks_around};
use crate::judge::{Case, Scrutiny};
use crate::parser::{self, Edge};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};

/// Returns the response template in which text before an answer counts only where a part of the message begins, with the shortest answer that names one; `None`
/// where nothing is to be changed.
pub(in crate::derive) fn begun_where_parts_begin(
    engines: &[Engine],
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<(Document, Example)> {
    let content = document.fields.get(CONTENT_KEY)?;
    if content.open.is_some() {
        return None;
    }
    let close = split::source(content.close.as_ref()?);
    let closed = closings(template, cases);
    // Where an answer has an end of its own before that of the turn, what begins it is no mere label, and models write text before it.
    if closed
        .iter()
        .any(|(_, closes)| closes.iter().any(|close| close.is_twice))
    {
        return None;
    }
    let mut found: Option<(Document, Example)> = None;
    let mut ways = alternatives(&close);
    let mut known: Vec<String> = Vec::new();
    for at in 0..ways.len() {
        let own = ways[at].clone();
        if known.contains(&own) || looks_around(&own) {
            continue;
        }
        known.push(own.clone());
        let place = behind_parts(document, None, Some(&own));
        let narrow = format!("{place}{}", grouped(&own));
        let patterns = [&own, &narrow].map(|source| Pattern::regex(source));
        let [Ok(own_pattern), Ok(narrow_pattern)] = &patterns else {
            continue;
        };
        let Some(marker) = only_at_beginnings(&closed, own_pattern, narrow_pattern) else {
            continue;
        };
        let mut changed_ways = ways.clone();
        for way in changed_ways.iter_mut().filter(|way| **way == own) {
            way.clone_from(&narrow);
        }
        let mut changed = document.clone();
        let field = changed.fields.get_mut(CONTENT_KEY)?;
        field.close = Some(Delimiter::pattern(grouped(&changed_ways.join("|"))));
        let documents = [document, &changed];
        let patterns = [own_pattern, narrow_pattern];
        let example = spared(
            engines,
            documents,
            template,
            cases.iter(),
            marker,
            patterns,
            scrutiny,
        );
        if let Some(example) = example {
            ways = changed_ways;
            found = Some((changed, example));
        }
    }
    found
}

/// A place in which something closes the content, by the byte at which it begins.
struct Closing {
    at: usize,
    /// True if an answer follows it, or what opens another part.
    begins: bool,
    /// True if it stands behind a text, and something closes the content once more right behind it.
    is_twice: bool,
}

/// The text of each response behind the anchor, with the places in which something closes the content.
fn closings(template: &Arc<ResponseTemplate>, cases: &[Case]) -> Vec<(String, Vec<Closing>)> {
    let of = cases.iter().filter_map(|case| {
        let before = template.after_last_anchor(&case.prefix).ok()?;
        let text = format!("{before}{}", case.response);
        let (_, all) =
            parser::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
        let closes = all.iter().enumerate().filter(|(_, one)| {
            let field = template.fields().get(one.field);
            let is_content = field.is_some_and(|field| field.name == CONTENT_KEY);
            is_content && one.side == Edge::Close && !one.span.is_empty()
        });
        let closes = closes.map(|(index, one)| {
            let next = all.get(index + 1);
            let end = next.map_or(text.len(), |next| next.span.start);
            let said = text.get(one.span.end..end).unwrap_or_default();
            let is_empty = said.trim().is_empty();
            let before = index.checked_sub(1).and_then(|last| all.get(last));
            let begin = before.map_or(0, |before| before.span.end);
            let is_behind_text = text
                .get(begin..one.span.start)
                .is_some_and(|said| !said.trim().is_empty());
            let follows = |side: Edge| next.is_some_and(|next| next.side == side);
            Closing {
                at: one.span.start,
                begins: !is_empty || follows(Edge::Open),
                is_twice: is_behind_text && is_empty && follows(Edge::Close),
            }
        });
        let closes = closes.collect();
        Some((text, closes))
    });
    of.collect()
}

/// The text of an alternative of what closes the content, if some response has it and all have it only where a part begins, before an answer or what opens another part.
fn only_at_beginnings(
    closed: &[(String, Vec<Closing>)],
    own: &Pattern,
    narrow: &Pattern,
) -> Option<String> {
    let mut marker = None;
    for (text, closes) in closed {
        for close in closes {
            let here = |pattern: &Pattern| {
                let found = pattern.search(text, close.at).ok().flatten()?;
                (found.span.start == close.at).then_some(found.span)
            };
            let Some(span) = here(own) else { continue };
            here(narrow).filter(|_| close.begins)?;
            marker.get_or_insert_with(|| text[span].trim().to_owned());
        }
    }
    marker.filter(|marker| !marker.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::chat_template;
    use crate::derive::{Options, derive};
    use crate::parser::parse_response;
    use crate::response_template::ResponseTemplate;
    use crate::value::Value;

    /// The content of a response to the prompt `<assistant>`, by a chat template that writes an answer so, and the codes of what is found.
    fn read(answer: &str, response: &str) -> (String, Vec<&'static str>) {
        let chat = format!(
            "{{%- for m in messages -%}}<{{{{ m.role }}}}>{{%- if m.role == 'assistant' -%}}{answer}{{%- else -%}}{{{{ m.content }}}}{{%- endif -%}}<end>{{%- endfor -%}}\
             {{%- if add_generation_prompt -%}}<assistant>{{%- endif -%}}"
        );
        let source = chat_template::from_text("it", &chat).unwrap();
        let derived = derive(&source, &Options::default()).unwrap();
        let template = ResponseTemplate::from_value(&derived.document.to_value()).unwrap();
        let message = parse_response(response, template, "<assistant>", &[]).unwrap();
        let content = message.get("content").and_then(Value::as_str);
        let findings = derived.report.findings.iter().map(|finding| finding.code);
        (content.unwrap_or_default().to_owned(), findings.collect())
    }

    #[test]
    fn an_answer_may_say_what_stands_before_one() {
        for (response, content) in [
            ("RESULT: The RESULT: 5<end>", "The RESULT: 5"),
            ("RESULT: RESULT: 5<end>", "RESULT: 5"),
            ("The RESULT: 5<end>", "The RESULT: 5"),
            ("Yes.", "Yes."),
        ] {
            let (read, codes) = read("RESULT: {{ m.content }}", response);
            assert_eq!(read, content, "{response}");
            assert!(codes.contains(&"answer-beginning"), "{codes:?}");
        }
    }

    #[test]
    fn a_number_before_an_answer_may_be_missing() {
        for (response, content) in [
            ("[3] See [7] there.<end>", "See [7] there."),
            ("See [7] there.<end>", "See [7] there."),
            ("[1] [2] are notes.<end>", "[2] are notes."),
        ] {
            let (read, _) = read("[{{ loop.index }}] {{ m.content }}", response);
            assert_eq!(read, content, "{response}");
        }
    }

    #[test]
    fn what_has_an_end_of_its_own_is_no_label() {
        let (read, codes) = read("<say>{{ m.content }}</say>", "Well. <say>Hi</say><end>");
        assert_eq!(read, "Well.Hi");
        assert!(!codes.contains(&"answer-beginning"), "{codes:?}");
    }
}
