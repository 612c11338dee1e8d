//! Remarks: findings about a derived response template as a whole, made once it is done.

use crate::chat_template::ChatTemplateSource;
use crate::derive::deviate::UnclaimedCounts;
use crate::derive::evidence::finding::{Finding, REFUSED_BY_ENGINE};
use crate::derive::learn;
use crate::derive::proof::Proof;
use crate::parser::UnclaimedCause;
use crate::response_template::{Document, Engine};
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

/// A finding about the text that the response template may lose; `None` where none was lost.
pub(super) fn unclaimed_text(unclaimed: &UnclaimedCounts) -> Option<Finding> {
    let example = unclaimed.example()?;
    let quote = json::quote;
    let (which, so) = match example.cause {
        UnclaimedCause::NoField => (
            "that stands outside of what the model's parts are wrapped in goes to no field",
            "content that takes what is left would lose what renders prove",
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
    let template = source.select(true).ok()?;
    let text = template.source();
    let cases = &proof.judgement.cases;
    let is_seen = |token: &str| {
        let has = |text: &str| text.contains(token);
        cases
            .iter()
            .any(|case| has(&case.prefix) || has(&case.response))
    };
    let tokens = source.tokens.special.iter();
    let unread = tokens.filter(|token| !learn::is_read(document, token) && !is_seen(token));
    let places: Vec<String> = unread
        .filter_map(|token| {
            let at = text.find(token.as_str())?;
            let line = text[..at].matches('\n').count() + 1;
            Some(format!("{} in line {line}", json::quote(token)))
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
