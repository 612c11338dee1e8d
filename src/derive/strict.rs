//! Strict calls: whether an engine that makes a grammar of a response template can make one of this, and a response template of which it can.
//!
//! A derived response template lets white space vary where models vary it. An engine that takes delimiters apart into the texts that they stand
//! for cannot do so with `</call>\s*`, and then does not hold a model to its calls. Spelled out, the delimiter is a list of the texts that the proof
//! has seen in its place, each also with fewer line feeds behind it and with one more: `</call>`, `</call>\n` and `</call>\n\n`. That reads what the chat template
//! renders, and less of what models write otherwise; so it is a decision, in which the free delimiters are taken unless somebody prefers
//! the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::DeriveError;
use super::compare::text::escape;
use super::evidence::decision::Decision;
use super::evidence::finding::Finding;
use super::late::WHITE_SPACE;
use super::probe::CALLS_KEY;
use super::proof::Proof;
use crate::judge::Case;
use crate::parser::{self, Edge, Passed};
use crate::pattern::Pattern;
use crate::response_template::strict::{MAX_TEXTS, split_group, texts_of};
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};
use crate::value::Value;

/// An account of strict calls for one response template.
pub(super) enum StrictCalls {
    /// The engines can hold a model to its calls, or have no way to do so, or it has no calls.
    Had,
    /// They cannot, whether its delimiters are spelled out or not.
    NotHad(Finding),
    /// They can if its delimiters are spelled out, as they are in this document, which loses nothing of what is proved.
    IfSpelledOut {
        finding: Finding,
        spelled: Box<(Document, Proof)>,
    },
}

impl StrictCalls {
    /// Looks at a response template and the responses by which it was proved. `keeps` proves another one, and returns the proof if nothing is
    /// lost with it.
    pub(super) fn of(
        engines: &[Engine],
        document: &Document,
        template: &Arc<ResponseTemplate>,
        cases: &[Case],
        mut keeps: impl FnMut(&Arc<ResponseTemplate>) -> Option<Proof>,
    ) -> Self {
        let reasons = |document: &Document| -> Vec<String> {
            let all = engines
                .iter()
                .flat_map(|engine| engine.strict_calls(document));
            all.map(|found| found.to_string()).collect()
        };
        let now = reasons(document);
        if now.is_empty() {
            return Self::Had;
        }
        let head = "vllm makes no structural tag for strict calls of this response template";
        let told = |text: String| Finding::info("no-strict-calls", text);
        let spelled = spelled_out(document, template, cases);
        let Some(spelled) = spelled.filter(|spelled| reasons(spelled).is_empty()) else {
            return Self::NotHad(told(format!("{head}:\n{}", now.join("\n"))));
        };
        let template = ResponseTemplate::from_value(&spelled.to_value()).map(Arc::new);
        match template.ok().and_then(|template| keeps(&template)) {
            Some(proof) => Self::IfSpelledOut {
                finding: told(format!(
                    "{head}, since its delimiters let white space vary; with `--prefer \"{}={}\"` it does, and less is read of what models write otherwise",
                    WHITE_SPACE.name, WHITE_SPACE.candidates[1].name
                )),
                spelled: Box::new((spelled, proof)),
            },
            None => Self::NotHad(told(format!(
                "{head}, since its delimiters let white space vary, and with delimiters that do not some responses are no longer read, in pieces or cut short"
            ))),
        }
    }
}

/// Returns true if the delimiters are to be spelled out.
///
/// # Errors
///
/// When a candidate is preferred that the decision does not have, or one of a decision that does not come up.
pub(super) fn is_preferred(
    prefer: &[(String, String)],
    calls: &StrictCalls,
) -> Result<bool, DeriveError> {
    let why = match calls {
        StrictCalls::IfSpelledOut { .. } => return WHITE_SPACE.takes_other(prefer),
        StrictCalls::Had => ": no engine that this is for asks for it".to_owned(),
        StrictCalls::NotHad(finding) => {
            format!(", since spelling them out is not enough: {}", finding.text)
        }
    };
    WHITE_SPACE.does_not_come_up(prefer, &why)?;
    Ok(false)
}

/// The decision between the two, of which one was taken.
pub(super) fn decision(is_spelled_out: bool) -> Decision {
    let because = [
        "models vary white space",
        "vllm can hold a model to the calls of such a response template",
    ];
    WHITE_SPACE.made(because.map(str::to_owned), is_spelled_out)
}

/// The texts that were seen in the places of delimiters and in tags.
#[derive(Default)]
struct SeenTexts {
    /// Those of each delimiter, by its field and its side.
    delimiters: BTreeMap<(usize, bool), BTreeSet<String>>,
    /// Those before the key of an argument, between key and value, and behind the value.
    tags: [BTreeSet<String>; 3],
}

/// Returns the response template with delimiters spelled out, where an engine could not do so; `None` where the responses do not show all of
/// them, or too many.
fn spelled_out(
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
) -> Option<Document> {
    let seen = SeenTexts::of(template, cases)?;
    let mut document = document.clone();
    for (index, field) in template.fields().iter().enumerate() {
        let is_calls = field.name == CALLS_KEY;
        let written = document.fields.get_mut(field.name.as_str())?;
        // What opens a call is an expression for the engine, and may stay one; what stands around content is not looked at.
        if field.name == "content" {
            continue;
        }
        let sides = [(&mut written.open, true), (&mut written.close, false)];
        for (delimiter, opens) in sides {
            if let Some(Delimiter::Pattern(source)) = delimiter
                && !(is_calls && opens)
                && texts_of(source, false).is_none()
            {
                *delimiter = Some(literals(source, seen.delimiters.get(&(index, opens))?)?);
            }
        }
        if is_calls && let Some(Value::String(tag)) = written.content_args.get("tag_pattern") {
            let tag = spelled_tag(tag, &seen.tags)?;
            written
                .content_args
                .insert("tag_pattern".to_owned(), Value::from(tag));
        }
    }
    Some(document)
}

/// The texts that were seen, each also without the line feeds at its end, with fewer and with one more, where the pattern matches that.
fn literals(source: &str, seen: &BTreeSet<String>) -> Option<Delimiter> {
    let pattern = Pattern::regex(source).ok()?;
    let is_whole = |text: &String| {
        let found = pattern.search(text, 0).ok().flatten();
        found.is_some_and(|found| {
            found.span.end == text.len() && text[..found.span.start].trim_start().is_empty()
        })
    };
    let others = seen.iter().flat_map(|text| {
        let own = text.trim_end_matches('\n');
        (0..=text.len() - own.len() + 1).map(move |feeds| format!("{own}{}", "\n".repeat(feeds)))
    });
    let all: BTreeSet<String> = seen
        .iter()
        .cloned()
        .chain(others.filter(is_whole))
        .collect();
    let is_some = !all.is_empty() && all.len() <= MAX_TEXTS && !all.contains("");
    is_some.then(|| Delimiter::Literals(all.into_iter().collect()))
}

/// A pattern for tags in which what stands around key and value is spelled out.
fn spelled_tag(tag: &str, seen: &[BTreeSet<String>; 3]) -> Option<String> {
    let (before, key, rest) = split_group(tag, "key")?;
    let (middle, value, after) = split_group(rest, "value")?;
    let mut parts = [before, middle, after]
        .into_iter()
        .zip(seen)
        .map(|(part, seen)| {
            if texts_of(part, true).is_some() {
                return Some(part.to_owned());
            }
            let texts: Vec<String> = seen.iter().map(|text| escape(text)).collect();
            let is_some = !texts.is_empty() && texts.len() <= MAX_TEXTS;
            is_some.then(|| match texts.as_slice() {
                [one] => one.clone(),
                several => format!("(?:{})", several.join("|")),
            })
        });
    let mut next = || parts.next().flatten();
    Some(format!(
        "{}(?P<key>{key}){}(?P<value>{value}){}",
        next()?,
        next()?,
        next()?
    ))
}

impl SeenTexts {
    /// Those of these responses; `None` where one is not parsed.
    fn of(template: &Arc<ResponseTemplate>, cases: &[Case]) -> Option<Self> {
        let mut seen = Self::default();
        let calls = template
            .fields()
            .iter()
            .position(|field| field.name == CALLS_KEY);
        let tag = calls.and_then(|at| template.fields()[at].content.tag_pattern());
        for case in cases {
            let (before, passed) =
                parser::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
            let text = |from: usize, to: usize| {
                let from = from.checked_sub(before)?;
                case.response.get(from..to.checked_sub(before)?)
            };
            let mut opened = None;
            for Passed { field, side, span } in passed {
                if let Some(text) = text(span.start, span.end) {
                    let texts = seen
                        .delimiters
                        .entry((field, side == Edge::Open))
                        .or_default();
                    texts.insert(text.to_owned());
                }
                match side {
                    Edge::Open => opened = Some(span.end),
                    Edge::Close if Some(field) == calls => {
                        let body = opened.take().and_then(|from| text(from, span.start));
                        let body = body.unwrap_or_default();
                        seen.see_tags(tag, body);
                        // White space at the end of arguments says nothing to their parser, and an engine that writes them needs to know of it.
                        let blank = &body[body.trim_end().len()..];
                        if let Some(close) = text(span.start, span.end)
                            && template.fields()[field].content.name() != "text"
                        {
                            let texts = seen.delimiters.entry((field, false)).or_default();
                            texts.insert(format!("{blank}{close}"));
                        }
                    }
                    Edge::Close => {}
                }
            }
        }
        Some(seen)
    }

    fn see_tags(&mut self, tag: Option<&Pattern>, body: &str) {
        let found = tag.into_iter().flat_map(|tag| tag.find_iter(body));
        for found in found.filter_map(Result::ok) {
            let (Some(key), Some(value)) = (found.group("key"), found.group("value")) else {
                continue;
            };
            let parts = [
                found.span.start..key.start,
                key.end..value.start,
                value.end..found.span.end,
            ];
            for (texts, part) in self.tags.iter_mut().zip(parts) {
                texts.extend(body.get(part).map(str::to_owned));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::{self, ChatTemplateSource};
    use crate::derive::evidence::decision::Fate;
    use crate::derive::{self, Derivation};

    fn source(call: &str) -> ChatTemplateSource {
        let text = format!(
            "{{% for m in messages %}}<{{{{ m.role }}}}>{{{{ m.content or '' }}}}{{% for call in m.tool_calls or [] %}}{call}{{% endfor %}}<end>\n{{% endfor %}}\
             {{% if add_generation_prompt %}}<assistant>{{% endif %}}"
        );
        chat_template::from_text("test", &text).unwrap()
    }

    const FREE: &str = WHITE_SPACE.candidates[0].name;
    const SPELLED_OUT: &str = WHITE_SPACE.candidates[1].name;

    /// A call with its arguments as JSON.
    const JSON: &str =
        "<call>{{ call.function.name }}={{ call.function.arguments | tojson }}</call>\n";

    fn derived(call: &str, candidate: Option<&str>) -> Result<Derivation, DeriveError> {
        let prefer = candidate.map(|name| (WHITE_SPACE.name.to_owned(), name.to_owned()));
        let options = derive::Options::default()
            .engines(vec![Engine::Vllm])
            .prefer(prefer.into_iter().collect());
        derive::derive(&source(call), &options)
    }

    fn told(derivation: &Derivation) -> Option<&str> {
        let mut findings = derivation.report.findings.iter();
        let found = findings.find(|finding| finding.code == "no-strict-calls");
        found.map(|finding| finding.text.as_str())
    }

    fn close(derivation: &Derivation) -> Option<Delimiter> {
        derivation.document.fields[CALLS_KEY].close.clone()
    }

    #[test]
    fn delimiters_are_spelled_out_where_that_is_preferred() {
        let free = derived(JSON, None).unwrap();
        assert!(matches!(close(&free), Some(Delimiter::Pattern(_))));
        assert!(
            told(&free)
                .unwrap()
                .contains("white space of delimiters=spelled out")
        );
        let spelled = derived(JSON, Some(SPELLED_OUT)).unwrap();
        assert!(spelled.report.verified);
        assert_eq!(told(&spelled), None);
        let closes = ["</call>", "</call>\n", "</call>\n\n"].map(str::to_owned);
        assert_eq!(close(&spelled), Some(Delimiter::Literals(closes.to_vec())));
        let taken = |derivation: &Derivation| {
            let decisions = derivation.report.decisions.iter();
            let mut candidates = decisions
                .filter(|one| one.name == WHITE_SPACE.name)
                .flat_map(|one| &one.candidates);
            candidates
                .find(|one| one.fate == Fate::Taken)
                .map(|one| one.name.clone())
        };
        assert_eq!(taken(&free).as_deref(), Some(FREE));
        assert_eq!(taken(&spelled).as_deref(), Some(SPELLED_OUT));
        assert_eq!(close(&derived(JSON, Some(FREE)).unwrap()), close(&free));
    }

    #[test]
    fn arguments_in_tags_are_spelled_out_too() {
        let tags = "<call {{ call.function.name }}>{% for k, v in call.function.arguments.items() %}<key>{{ k }}</key>\n<value>\
            {{ v if v is string else v | tojson }}</value>\n{% endfor %}</call>\n";
        let spelled = derived(tags, Some(SPELLED_OUT)).unwrap();
        let tag = spelled.document.fields[CALLS_KEY].content_args["tag_pattern"].as_str();
        assert!(
            tag.unwrap().contains("</key>\\n<value>(?P<value>"),
            "{tag:?}"
        );
        let Some(Delimiter::Literals(closes)) = close(&spelled) else {
            panic!("literals");
        };
        // White space at the end of the arguments belongs to the close.
        assert!(
            closes.iter().any(|close| close == "\n</call>\n"),
            "{closes:?}"
        );
    }

    #[test]
    fn what_cannot_be_decided_is_an_error() {
        let error = |call: &str, candidate: &str| match derived(call, Some(candidate)) {
            Err(DeriveError::Preference(text)) => text,
            other => panic!("{:?}", other.map(|found| found.document)),
        };
        assert!(error(JSON, "none").contains("the candidates are `free`, `spelled out`"));
        let whole = "<call>{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}</call>\n";
        assert!(error(whole, SPELLED_OUT).contains("the function's name"));
        assert!(
            told(&derived(whole, None).unwrap())
                .unwrap()
                .contains("$.fields.tool_calls.transform")
        );
        assert!(error("", SPELLED_OUT).contains("no engine that this is for asks for it"));
    }
}
