//! Remarks: findings about a derived response template as a whole, made once it is done.

use crate::chat_template::ChatTemplateSource;
use crate::derive::deviate::UnclaimedCounts;
use crate::derive::evidence::finding::{Finding, REFUSED_BY_ENGINE};
use crate::derive::learn;
use crate::derive::proof::Proof;
use crate::parser::UnclaimedCause;
use crate::pattern::{Pattern, fixed_texts};
use crate::response_template::{Document, Engine, ResponseTemplate};
use crate::text::{common_prefix, common_suffix};
use crate::value::{Value, json};

/// Returns a finding for each special token that the chat template reads, nothing names, and was assumed.
pub(super) fn assumed_tokens(source: &ChatTemplateSource) -> impl Iterator<Item = Finding> {
    source.assumed_tokens.iter().map(|name| {
        let token = source.special_tokens.get(name).and_then(Value::as_str);
        Finding::warning(
            "assumed-token",
            format!(
                "the chat template reads {name}, which nothing here names; '{}' was assumed: derive from the tokenizer_config.json, or give the token",
                token.unwrap_or_default()
            ),
        )
    })
}

/// Returns a finding for each file of the tokenizer, or part of one, that could not be read.
pub(super) fn unread_files(source: &ChatTemplateSource) -> impl Iterator<Item = Finding> {
    source.tokens.unread.iter().map(|why| {
        Finding::warning(
            "tokens-not-read",
            format!(
                "{why}; derived without, so that a token at which an engine stops may be missing"
            ),
        )
    })
}

/// A finding for calls whose arguments are handed over as text, since an object is printed as Python writes it.
pub(super) fn printed_arguments() -> Finding {
    Finding::info(
        "arguments-printed",
        "the chat template prints the arguments of a call as they are, and an object as Python writes it; so calls were handed over with arguments as the text of JSON, and come back so; a call with `{'a': 1}` in it is not read",
    )
}

/// A finding for calls that are rendered only where another message follows.
pub(super) fn calls_before_next() -> Finding {
    Finding::info(
        "calls-before-next",
        "the chat template renders calls only where another message follows, and drops those of the last message; so calls were read where a question of the user follows",
    )
}

/// A finding for calls that are rendered without the header of a turn where nothing is said beside them.
pub(super) fn calls_without_header() -> Finding {
    Finding::info(
        "calls-without-header",
        "the chat template writes no header before calls beside which nothing is said, although its prompt ends with one; so such calls were rendered with an answer beside them, and that was taken out",
    )
}

/// A finding about calls that no render shows and no field takes, for a chat template that tells the model of tools.
pub(super) fn unread_calls() -> Finding {
    Finding::warning(
        "calls-not-shown",
        "the chat template tells the model of tools, and renders no calls; what the model writes to call one stays in the content, unless recorded responses show it (--responses)",
    )
}

/// A finding about the text that the response template may lose; `None` where none was lost.
pub(super) fn unclaimed_text(unclaimed: &UnclaimedCounts) -> Option<Finding> {
    let example = unclaimed.example()?;
    let quote = json::quote;
    let (which, so) = match example.cause {
        UnclaimedCause::NoField => (
            "that stands outside of what the model's parts are wrapped in goes to no field",
            "if the content took it, messages that are proved would no longer come back",
        ),
        UnclaimedCause::Replaced => ("goes to no field", "a later text takes its place"),
        _ => (
            "within calls goes to no field",
            "of a call that is not written out, so that it has less or more than the model meant: `unclaimed` tells of it",
        ),
    };
    Some(Finding::warning(
        "text-unclaimed",
        format!(
            "text {which}, in {} of {} responses as rendered, changed and cut short: {} in {}; {so}",
            unclaimed.lost(),
            unclaimed.tried(),
            quote(&example.text),
            quote(&example.response),
        ),
    ))
}

/// The special tokens that the chat template writes somewhere, and that neither a delimiter nor any render has.
pub(super) fn unread_tokens(
    source: &ChatTemplateSource,
    document: &Document,
    proof: &Proof,
) -> Option<Finding> {
    let places: Vec<String> = unread(source, document, proof)
        .filter_map(|token| {
            Some(format!(
                "{} in {}",
                json::quote(token),
                line(source, token)?
            ))
        })
        .collect();
    (!places.is_empty()).then(|| {
        Finding::info(
            "special-token-unread",
            format!(
                "special tokens of the tokenizer stand in the chat template, but in no render and no delimiter: {}",
                places.join(", ")
            ),
        )
    })
}

/// The special tokens that no delimiter and no render has, and that look like the partner of one that a delimiter has.
///
/// That two tokens look like a pair is told by the pairs that open and close one field: `<think>` and `</think>` differ by a `/`, and so do
/// `<call>` and `</call>`. Where a `<call>` opens calls that something else closes, the `</call>` of the tokenizer may be what the model closes
/// them with.
pub(super) fn unread_partners(
    source: &ChatTemplateSource,
    template: &ResponseTemplate,
    document: &Document,
    proof: &Proof,
) -> Option<Finding> {
    let special = &source.tokens.special;
    let of = |pattern: &Option<Pattern>| -> Vec<&String> {
        let texts = pattern.as_ref().map(fixed_texts).unwrap_or_default();
        let is_in = |token: &&String| texts.iter().any(|text| text.contains(token.as_str()));
        special.iter().filter(is_in).collect()
    };
    let fields = template.fields().iter();
    let ends: Vec<_> = fields
        .map(|field| (of(&field.open), of(&field.close)))
        .collect();
    let mut pairs: Vec<(&String, &String)> = Vec::new();
    for (opens, closes) in &ends {
        for open in opens {
            pairs.extend(
                closes
                    .iter()
                    .filter(|close| close != &open)
                    .map(|close| (*open, *close)),
            );
        }
    }
    let partner = |token: &String| {
        let as_pair = |open: &String, close: &String| {
            let difference = Difference::between(open, close)?;
            let mut others = pairs.iter().copied();
            others.find(|(a, b)| Difference::between(a, b).as_ref() == Some(&difference))
        };
        ends.iter().find_map(|(opens, closes)| {
            let opened = opens
                .iter()
                .find_map(|open| Some((*open, "open", as_pair(open, token)?)));
            let closed = || {
                closes
                    .iter()
                    .find_map(|close| Some((*close, "close", as_pair(token, close)?)))
            };
            opened.or_else(closed)
        })
    };
    let told: Vec<String> = unread(source, document, proof)
        .filter_map(|token| {
            let (read, does, (open, close)) = partner(token)?;
            let stands = line(source, read).map(|line| format!(", in {line},")).unwrap_or_default();
            let [token, read, open, close] = [token, read, open, close].map(|text| json::quote(text));
            Some(format!(
                "{token} looks like a pair with {read}{stands} as {close} with {open}; {read} {does}s a field"
            ))
        })
        .collect();
    (!told.is_empty()).then(|| {
        Finding::info(
            "special-token-pair",
            format!(
                "special tokens of the tokenizer are in no render and no delimiter: {}",
                told.join("; ")
            ),
        )
    })
}

/// The special tokens that neither a delimiter nor any render has.
fn unread<'s>(
    source: &'s ChatTemplateSource,
    document: &'s Document,
    proof: &'s Proof,
) -> impl Iterator<Item = &'s String> {
    let cases = &proof.judgement.cases;
    let is_seen = |token: &str| {
        let has = |text: &str| text.contains(token);
        cases
            .iter()
            .any(|case| has(&case.prefix) || has(&case.response))
    };
    let tokens = source.tokens.special.iter();
    tokens.filter(move |token| !learn::is_read(document, token) && !is_seen(token))
}

/// The line of the chat template in which a text stands first; `None` where it stands in none.
fn line(source: &ChatTemplateSource, text: &str) -> Option<String> {
    let template = source.select(true).ok()?;
    let before = &template.source()[..template.source().find(text)?];
    Some(format!("line {}", before.matches('\n').count() + 1))
}

/// The parts by which one text differs from another, between what both begin and end with.
#[derive(Debug, PartialEq, Eq)]
struct Difference<'t> {
    from: &'t str,
    to: &'t str,
}

impl<'t> Difference<'t> {
    /// The difference of two texts; `None` where they have nothing in common at one of their ends.
    fn between(from: &'t str, to: &'t str) -> Option<Self> {
        let start = common_prefix(from, to);
        let (from, to) = (&from[start..], &to[start..]);
        let end = common_suffix(from, to);
        (start > 0 && end > 0).then(|| Self {
            from: &from[..from.len() - end],
            to: &to[..to.len() - end],
        })
    }
}

/// Returns a finding for each engine that refuses the response template, which then is the closest that could be found.
pub(super) fn refusals(engines: &[Engine], document: &Document) -> Vec<Finding> {
    let refused = |engine: &Engine| {
        let diagnostics = engine.check(document);
        let text = diagnostics
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n");
        (!text.is_empty()).then(|| Finding::error(REFUSED_BY_ENGINE, text))
    };
    engines.iter().filter_map(refused).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_what_stands_between_equal_ends() {
        let between = |a, b| Difference::between(a, b).map(|found| (found.from, found.to));
        assert_eq!(between("<a>", "</a>"), Some(("", "/")));
        assert_eq!(between("[a begin]", "[a end]"), Some(("begin", "end")));
        assert_eq!(between("<a>", "<a>"), None);
        assert_eq!(between("<a>", "[/a]"), None);
    }
}
