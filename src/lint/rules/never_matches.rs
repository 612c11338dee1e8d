//! Delimiters that another one always beats.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Delimiter, Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::value::json::quote;

pub(super) static RULE: Rule = Rule {
    code: "never-matches",
    severity: Severity::Error,
    summary: "a delimiter can never win because another matches wherever it does",
    why: "Of delimiters that match at one place the longest wins, then an open before a close, then the field whose name comes \
          first. A delimiter whose every match is also one of a better placed delimiter never has its turn.",
    remedy: "Make the two different: take what follows into the delimiter, or merge the fields.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "plan": {"open": "<x>", "close": "</x>"},
  "thinking": {"open": "<x>", "close": "</x>"}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "plan": {"open": "<x>plan:", "close": "</x>"},
  "thinking": {"open": "<x>", "close": "</x>"}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<x>plan: go</x><x>hm</x>",
            bad: r#"{"plan": "hm"}"#,
            good: r#"{"plan": "go", "thinking": "hm"}"#,
        },
    },
    check,
};

/// So many delimiters are compared with each other; a response template has a handful.
const MOST: usize = 200;

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let implicit = subject.template().implicit();
    // Within an explicit region its own close is all that counts.
    let rivals: Vec<&Delimiter<'_>> = subject
        .delimiters()
        .iter()
        .filter(|delimiter| delimiter.side == Side::Open || implicit == Some(delimiter.field))
        .take(MOST)
        .collect();
    let rank = |delimiter: &Delimiter<'_>| (delimiter.side, subject.name(delimiter));
    for loser in &rivals {
        for winner in rivals.iter().filter(|winner| rank(winner) < rank(loser)) {
            let beaten: Vec<String> = match loser.pattern.as_literals() {
                Some(literals) => literals
                    .iter()
                    .filter(|literal| always_matches(winner, literal))
                    .cloned()
                    .collect(),
                None if loser.pattern.source() == winner.pattern.source() => {
                    vec![loser.pattern.source().to_owned()]
                }
                None => continue,
            };
            for text in beaten {
                let what = match winner.side {
                    Side::Open => "opens",
                    Side::Close => "closes",
                };
                let message = format!(
                    "{} never counts here: where it stands it {what} {}",
                    quote(&text),
                    quote(subject.name(winner))
                );
                let mut diagnostic = subject
                    .at(&RULE, &loser.path, message)
                    .with_hint("make the two different, or merge the fields");
                diagnostic
                    .labels
                    .extend(subject.label(&winner.path, "always wins"));
                found.push(diagnostic);
            }
        }
    }
}

/// Returns true if the delimiter matches wherever the literal stands, and at least as much.
fn always_matches(delimiter: &Delimiter<'_>, literal: &str) -> bool {
    match delimiter.pattern.as_literals() {
        Some(literals) => literals.iter().any(|other| other == literal),
        None => {
            delimiter.facts.is_plain()
                && matches!(
                    delimiter.pattern.search(literal, 0),
                    Ok(Some(found)) if found.span == (0..literal.len())
                )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;

    #[test]
    fn who_wins_is_a_matter_of_length_then_rank() {
        let fields = |a: &str, b: &str| {
            format!(
                r#"{{"start_anchor": "a", "fields": {{"a": {{"open_pattern": "{a}", "close": "x"}}, "b": {{"open": {b}, "close": "x"}}}}}}"#
            )
        };
        for (a, b, count) in [
            ("<x>", r#""<x>""#, 1),
            (r"<x>\\s*", r#""<x>""#, 1),
            (r"<x>\\s*", r#"["<x>", "<y>"]"#, 1),
            ("<x", r#""<x>""#, 0),
            (r"<x>(?!y)", r#""<x>""#, 0),
            (r"<x>\\s+", r#""<x>""#, 0),
        ] {
            let text = fields(a, b);
            assert_eq!(found("never-matches", &text).len(), count, "{text}");
        }
        let close =
            r#"{"start_anchor": "a", "fields": {"a": {"close": "<x>"}, "b": {"open": "<x>"}}}"#;
        assert_eq!(
            found("never-matches", close).len(),
            1,
            "an open beats a close"
        );
    }
}
