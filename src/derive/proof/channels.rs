//! Text in a channel in which the chat template writes none: proved by writing it in by hand.

use super::Bench;
use crate::derive::evidence::finding::Finding;
use crate::derive::probe::{self, CALLS_KEY};
use crate::judge::Case;
use crate::value::{Value, json};

/// Parses the responses of some cases with their content in each of the other channels, and with text there before a call; tells
/// how many came back, or shows the first that did not.
pub(super) fn find(bench: &Bench<'_>, cases: &[Case]) -> Vec<Finding> {
    let content = &bench.analysis.content;
    let found = content.others.iter().map(|other| {
        let in_place = cases.iter().filter_map(|case| in_place(bench, case, other));
        let before = cases.iter().find(|case| calls_alone(case));
        let before = before.map(|case| before_call(bench, case, other));
        let injected: Vec<Case> = in_place.chain(before.into_iter().flatten()).collect();
        let failed = injected.iter().find_map(|case| bench.parse(case));
        let marker = json::quote(other);
        match failed {
            None => Finding::info(
                "content-in-other-channel",
                format!(
                    "what the model says behind {marker}, where it calls tools, is kept as content; the chat template writes no answer there, so that no inversion can prove it, but {} responses with such a text written in by hand parsed as expected",
                    injected.len()
                ),
            ),
            Some(failed) => Finding::error(
                "not-inverted",
                format!("a text behind {marker} does not come back where it is written in by hand"),
            )
            .with(Some(failed)),
        }
    });
    found.collect()
}

/// The case with its content in the other channel.
fn in_place(bench: &Bench<'_>, case: &Case, other: &str) -> Option<Case> {
    let open = bench.analysis.content.open.as_deref()?;
    let response = case.response.split_once(open);
    let response = response.map(|(before, rest)| format!("{before}{other}{rest}"));
    let response = response.or_else(|| {
        let begun = begun(&case.prefix, bench.analysis.anchor.literals.first()?);
        let rest = case.response.strip_prefix(open.strip_prefix(begun)?)?;
        Some(format!("{}{rest}", other.strip_prefix(begun)?))
    });
    Some(Case {
        response: response?,
        ..case.clone()
    })
}

fn calls_alone(case: &Case) -> bool {
    let names_of = |message: &Value| {
        let members = message.as_object()?;
        let mut names = members.keys().map(AsRef::<str>::as_ref);
        Some(names.all(|name| [CALLS_KEY, "role"].contains(&name)))
    };
    case.message.get(CALLS_KEY).is_some() && names_of(&case.message) == Some(true)
}

/// The case with a text in the other channel before its call, ended by each of the ends of a turn.
fn before_call(bench: &Bench<'_>, case: &Case, other: &str) -> Vec<Case> {
    let analysis = bench.analysis;
    let Some(anchor) = analysis.anchor.literals.first() else {
        return Vec::new();
    };
    let mut message = case.message.clone();
    if let Value::Object(members) = &mut message {
        members.insert("content", Value::from(probe::CONTENT));
    }
    // Where texts are JSON, this one is as well.
    let text = match analysis.json_texts.contains(&probe::CONTENT) {
        true => json::quote(probe::CONTENT),
        false => probe::CONTENT.to_owned(),
    };
    let [other, anchor] = after_prompt(&case.prefix, other, anchor);
    let ends = analysis.turn_end.markers.iter().map(|end| end.trim());
    let cases = ends.map(|end| Case {
        response: format!("{other}{text}{end}{anchor}{}", case.response),
        message: message.clone(),
        ..case.clone()
    });
    cases.collect()
}

/// Returns what a prompt has of a header behind the anchor: the arrow of `<bot→` behind `<bot`.
fn begun<'p>(prefix: &'p str, anchor: &str) -> &'p str {
    prefix.rsplit_once(anchor).map_or("", |(_, begun)| begun)
}

/// Returns how what opens the other channel is written behind the prompt, and how the anchor is written before the response that the prompt asked
/// for.
///
/// A prompt may have the beginning of a header behind the anchor, as the arrow of `<bot→` behind `<bot`. The other channel goes on from there, and
/// the beginning stands behind the next anchor as well.
fn after_prompt(prefix: &str, other: &str, anchor: &str) -> [String; 2] {
    let begun = begun(prefix, anchor);
    match other.strip_prefix(begun) {
        Some(rest) => [rest.to_owned(), format!("{anchor}{begun}")],
        None => [other.to_owned(), anchor.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::after_prompt;

    #[test]
    fn another_channel_goes_on_where_the_prompt_has_begun_its_header() {
        let written = |prefix: &str| after_prompt(prefix, "→user aside>", "<bot");
        assert_eq!(written("<user>Hi<bot→"), ["user aside>", "<bot→"]);
        assert_eq!(written("<user>Hi<bot"), ["→user aside>", "<bot"]);
        let other = "the prompt has begun something else";
        assert_eq!(
            written("<user>Hi<bot: "),
            ["→user aside>", "<bot"],
            "{other}"
        );
    }
}
