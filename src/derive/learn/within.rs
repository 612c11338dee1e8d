//! A reasoning that opens only where a part of the message begins.
//!
//! Models speak of their own markers: ``The `<think>` tag begins it`` is an answer. Where nothing more than the marker is asked for, a reasoning opens there, and takes
//! the rest of the answer. But no chat template writes a reasoning within a text. So what opens it counts where the turn begins, and behind what closes a part of the
//! message: a reasoning, a call, an answer. Behind text it is text, unless the reasoning is empty, as some models write one behind their answer: it takes nothing of
//! the answer with it. A pattern that looks back says so, over white space alone: `(?:(?<=(?:\A|</think>|</call>)\s{0,64})|(?=<think>\s*</think>))<think>`.
//!
//! Nothing that the renders prove is lost. A response in which each marker of the reasoning stands in such a place is read as before, since the same delimiters are
//! found in it. The others are parsed again. That costs a search for each response, and some parses.

use std::sync::Arc;

use super::again::{Example, TRIES, delimiters, gives};
use super::behind::anywhere;
use super::{CALLS_KEY, reads_as_before, split};
use crate::derive::compare::pattern::{
    MAX_RUN, SPACE, alternatives, bounded_by, grouped, plain, whole_or_missing, without_captures,
};
use crate::judge::{self, Case, Scrutiny};
use crate::parser::Edge;
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};

/// Returns the response template whose reasoning opens only where a part of the message begins, with the shortest of the responses that were tried; `None` where
/// nothing is to be changed. `reasoning` is the field of the reasoning.
pub(in crate::derive) fn opened_where_parts_begin<'c>(
    engines: &[Engine],
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: impl Iterator<Item = &'c Case> + Clone,
    reasoning: &str,
    scrutiny: Scrutiny,
) -> Option<(Document, Example)> {
    let (changed, own, narrowed) = narrowed(document, reasoning)?;
    let marker = marker(template, cases.clone(), reasoning)?;
    let documents = [document, &changed];
    let example = spared(
        engines,
        documents,
        template,
        cases,
        marker,
        [&own, &narrowed],
        scrutiny,
    )?;
    Some((changed, example))
}

/// Returns the shortest answer that names the marker, if such answers do not come back before a change and do after it, and all responses that have the marker elsewhere
/// than where it counts then are read as before. The documents are the one before the change and the one after it, and `template` is the first; the patterns
/// are the marker, anywhere and where it counts.
pub(super) fn spared<'c>(
    engines: &[Engine],
    [document, changed]: [&Document; 2],
    template: &Arc<ResponseTemplate>,
    cases: impl Iterator<Item = &'c Case> + Clone,
    marker: String,
    [own, narrowed]: [&Pattern; 2],
    scrutiny: Scrutiny,
) -> Option<Example> {
    let read = Arc::new(ResponseTemplate::from_value(&changed.to_value()).ok()?);
    let trials = cases.clone().filter_map(|case| case.naming(&marker));
    let trials: Vec<Case> = trials.take(TRIES).collect();
    let is_given =
        |case: &Case| judge::says_the_same(&judge::parse_whole(template, case), &case.message);
    let is_needed = !trials.iter().all(is_given);
    let is_enough = || {
        let mut trials = trials.iter();
        trials.all(|case| gives(&read, case, scrutiny.max(Scrutiny::Pieces)))
    };
    let is_within = |case: &&Case| {
        let before = template.after_last_anchor(&case.prefix).unwrap_or_default();
        has_another(&format!("{before}{}", case.response), own, narrowed)
    };
    let is_taken = is_needed
        && is_enough()
        && reads_as_before(
            engines,
            document,
            changed,
            cases.filter(is_within),
            scrutiny,
        );
    let shortest = trials.into_iter().min_by_key(|case| case.response.len());
    let shortest = shortest.filter(|_| is_taken)?;
    Some(Example {
        response: shortest.response,
        delimiter: marker,
    })
}

/// The response template with the narrower opening, and the patterns of the marker anywhere and where it opens a reasoning; `None` where there is nothing to narrow.
fn narrowed(document: &Document, reasoning: &str) -> Option<(Document, Pattern, Pattern)> {
    let open = split::source(document.fields.get(reasoning)?.open.as_ref()?);
    let behind_parts = behind_parts(document, Some(&open), None);
    // A reasoning without text takes none of the answer with it, wherever it stands.
    let close = document.fields.get(reasoning)?.close.as_ref();
    let close = close.and_then(|close| plain(&split::source(close)));
    let empty = without_captures(&open).zip(close);
    let empty = empty.map(|(open, close)| format!("|(?={}{SPACE}{close})", grouped(&open)));
    let place = match empty {
        Some(empty) => format!("(?:{behind_parts}{empty})"),
        None => behind_parts,
    };
    let narrow = format!("{place}{}", grouped(&open));
    let patterns = [&open, &narrow].map(|source| Pattern::regex(source).ok());
    let [Some(seen), Some(narrowed)] = patterns else {
        return None;
    };
    let mut changed = document.clone();
    changed.fields.get_mut(reasoning)?.open = Some(Delimiter::pattern(narrow));
    Some((changed, seen, narrowed))
}

/// A look-behind for the beginning of the turn and for what ends a part of the message, with white space behind it: the closes of all fields, the anchor, and `open`,
/// which begins the part that the look-behind is for. What stands in `but` is left out.
pub(super) fn behind_parts(document: &Document, open: Option<&str>, but: Option<&str>) -> String {
    let mut places = vec!["\\A".to_owned()];
    let anchor = split::source(&document.start_anchor);
    let closes = document.fields.iter().filter_map(|(name, field)| {
        let close = split::source(field.close.as_ref()?);
        Some(match name.as_str() {
            CALLS_KEY => anywhere(&close),
            _ => close,
        })
    });
    let parts = open
        .map(str::to_owned)
        .into_iter()
        .chain([anchor])
        .chain(closes);
    for place in parts.filter_map(|part| plain(&part)) {
        for way in alternatives(&place) {
            if but.is_some_and(|but| plain(but).as_deref() == Some(way.as_str())) {
                continue;
            }
            // Nothing stands behind the end of the response.
            let way = match way.contains("\\Z") {
                true => whole_or_missing(&way),
                false => Some(way),
            };
            let way = way.map(|way| behind(&way));
            if let Some(way) = way.filter(|way| !places.contains(way)) {
                places.push(way);
            }
        }
    }
    format!("(?<=(?:{}){})", places.join("|"), behind(SPACE))
}

/// A pattern to look back with: over as much white space as anybody writes, and with a bound, so that a parser can forget the text before it.
fn behind(pattern: &str) -> String {
    bounded_by(pattern, MAX_RUN, MAX_RUN)
}

/// The text that opens a reasoning.
fn marker<'c>(
    template: &Arc<ResponseTemplate>,
    mut cases: impl Iterator<Item = &'c Case>,
    reasoning: &str,
) -> Option<String> {
    cases.find_map(|case| {
        let (text, all) = delimiters(template, case, reasoning)?;
        let (_, span) = all.into_iter().find(|(side, _)| *side == Edge::Open)?;
        let marker = text[span].trim();
        (!marker.is_empty()).then(|| marker.to_owned())
    })
}

/// Returns true if the marker stands where it opens no reasoning.
fn has_another(text: &str, marker: &Pattern, opening: &Pattern) -> bool {
    let mut at = 0;
    while let Ok(Some(found)) = marker.search(text, at) {
        let span = found.span;
        let opens = opening.search(text, span.start);
        if !matches!(opens, Ok(Some(opens)) if opens.span == span) {
            return true;
        }
        let Some(next) = text[span.start..].chars().next() else {
            return false;
        };
        at = span.end.max(span.start + next.len_utf8());
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::chat_template;
    use crate::derive::{Derivation, Options, derive};
    use crate::parser::parse_response;
    use crate::response_template::{Engine, ResponseTemplate};
    use crate::value::Value;

    /// A chat template whose turns have a reasoning as `thought` writes it, for a variable `m`, before the answer; the prompt ends with `begun`.
    fn derived(thought: &str, begun: &str, options: Options) -> Derivation {
        let source = format!(
            "{{%- for m in messages -%}}<{{{{ m.role }}}}>
{{%- if m.role == 'assistant' and m.reasoning_content %}}{thought}{{% endif -%}}
{{{{ m.content or '' }}}}
{{%- for c in m.tool_calls or [] -%}}<call>{{{{ c.function | tojson }}}}</call>{{%- endfor -%}}
<end>{{%- endfor -%}}
{{%- if add_generation_prompt %}}<assistant>{begun}{{% endif -%}}"
        );
        let source = chat_template::from_text("it", &source).unwrap();
        let derived = derive(&source, &options).unwrap();
        assert!(derived.report.verified, "{:#?}", derived.report.findings);
        derived
    }

    const THOUGHT: &str = "<t>{{ m.reasoning_content }}</t>";

    /// The reasoning and the content of a response.
    fn read(derived: &Derivation, prefix: &str, response: &str) -> [String; 2] {
        let template = ResponseTemplate::from_value(&derived.document.to_value()).unwrap();
        let message = parse_response(response, template, prefix, &[]).unwrap();
        ["reasoning_content", "content"].map(|key| {
            let text = message.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        })
    }

    fn open(derived: &Derivation) -> String {
        let fields = ["reasoning_content", "thinking"];
        let mut fields = fields
            .iter()
            .filter_map(|name| derived.document.fields.get(*name));
        fields.next().unwrap().open.as_ref().unwrap().as_pattern()
    }

    #[test]
    fn a_marker_that_is_spoken_of_opens_no_reasoning() {
        let derived = derived(THOUGHT, "", Options::default());
        for (response, expected) in [
            ("Put <t> first.<end>", ["", "Put <t> first."]),
            ("<t>Hm</t>Put\n<t> first.<end>", ["Hm", "Put\n<t> first."]),
            ("See `<t>x</t>`.<end>", ["", "See `<t>x</t>`."]),
            // One without text takes none of the answer with it.
            ("Yes, I do<t></t>.<end>", ["", "Yes, I do."]),
            // Where a part of the message begins, it opens one.
            (" <t>Hm</t>Yes<end>", ["Hm", "Yes"]),
            ("<t>Hm</t>\n<t>So</t>Yes<end>", ["HmSo", "Yes"]),
            ("<call>{}</call><t>Hm</t>Yes<end>", ["Hm", "Yes"]),
        ] {
            assert_eq!(
                read(&derived, "<assistant>", response),
                expected,
                "{response}"
            );
        }
        assert_eq!(
            open(&derived),
            r"(?:(?<=(?:\A|<t>|<assistant>|</t>|</call>|<end>)\s{0,64})|(?=<t>\s*</t>))<t>"
        );
    }

    #[test]
    fn a_reasoning_that_the_prompt_has_opened_stays_open() {
        let derived = derived(THOUGHT, "<t>", Options::default());
        let read = |response| read(&derived, "<assistant><t>", response);
        assert_eq!(read("Hm</t>Put <t> first.<end>"), ["Hm", "Put <t> first."]);
        assert_eq!(read("<t>Hm</t>Yes<end>"), ["Hm", "Yes"]);
    }

    /// A reasoning that stands behind the answer in renders opens there.
    #[test]
    fn a_reasoning_behind_a_text_opens_wherever_it_stands() {
        let behind =
            "{{ m.content or '' }}<t>{{ m.reasoning_content }}</t>{% set m = {'content': ''} %}";
        let derived = derived(behind, "", Options::default());
        assert_eq!(open(&derived), "<t>");
        assert_eq!(
            read(&derived, "<assistant>", "Yes<t>Hm</t><end>"),
            ["Hm", "Yes"]
        );
    }

    /// An engine that cannot look back reads the marker wherever it stands, and so does what somebody prefers.
    #[test]
    fn the_marker_alone_opens_a_reasoning_where_that_is_asked_for() {
        let engine = Options::default().engines(vec![Engine::Vllm]);
        let prefer = [("reasoning behind text", "is a reasoning")];
        let prefer = prefer.map(|(name, candidate)| (name.to_owned(), candidate.to_owned()));
        let preferred = Options::default().prefer(prefer.to_vec());
        for options in [engine, preferred] {
            assert_eq!(open(&derived(THOUGHT, "", options)), "<t>");
        }
    }
}
