//! `$` in a delimiter.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Delimiter, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::pattern::{Pattern, facts};

pub(super) static RULE: Rule = Rule {
    code: "dollar",
    severity: Severity::Warning,
    summary: "`$` in a delimiter also matches before a final line feed, and streaming meets many of those",
    why: "To Python `$` is the end of the text or the place before a line feed that ends it. While a response arrives every line \
          feed is the last for a moment: transformers then closes the region there, and a streamed response gives another \
          message than the same response at once. At once the final line feed is not the region's.",
    remedy: r"Write `\Z`, the very end. Behind a marker write `\s*\Z` or `\n?\Z`: a final line feed would otherwise keep the marker from being found. Where a region lasts to the end anyway, no close is needed for it.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "content": {"close_pattern": "</bot>\\s*|$", "content_args": {"strip": false}}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "content": {"close_pattern": "</bot>\\s*|\\Z", "content_args": {"strip": false}}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "Hello\n",
            bad: r#"{"content": "Hello"}"#,
            good: r#"{"content": "Hello\n"}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for delimiter in subject.delimiters() {
        if !delimiter.facts.has_dollar() {
            continue;
        }
        let end = instead(delimiter);
        let mut diagnostic = subject
            .at(
                &RULE,
                &delimiter.path,
                "`$` also matches before a final line feed",
            )
            .with_hint(match &end {
                Some((TAKING, _)) => {
                    r"`\n?\Z` takes the line feed, and matches at the very end alone"
                }
                _ => r"`\Z` matches at the very end alone",
            });
        diagnostic.fix = end.and_then(|(end, source)| {
            subject.replace_delimiter(delimiter, &source, format!("write `{end}`"))
        });
        found.push(diagnostic);
    }
}

/// The very end.
const BARE: &str = r"\Z";

/// The very end, with the line feed before it that `$` also allows there.
const TAKING: &str = r"\n?\Z";

/// The end that may stand for `$`, and the pattern with it. Where `$` ends a marker, the marker has to be found before a final line feed still.
fn instead(delimiter: &Delimiter<'_>) -> Option<(&'static str, String)> {
    let source = delimiter.pattern.source();
    let bare = facts::without_dollar(source)?;
    let samples = delimiter.samples();
    let keeps = |source: &str| {
        let Ok(pattern) = Pattern::regex(source) else {
            return false;
        };
        samples.iter().all(|sample| {
            let text = format!("{sample}\n");
            let end = |pattern: &Pattern| match pattern.search(&text, 0) {
                Ok(Some(found)) if found.span.start == 0 => found.span.end,
                _ => 0,
            };
            end(&pattern) >= end(delimiter.pattern)
        })
    };
    let all = [(BARE, bare.clone()), (TAKING, taking(source, &bare))];
    all.into_iter().find(|(_, source)| keeps(source))
}

/// The source with [`TAKING`] for each `$`, made of the one with [`BARE`]. A `$` that stands alone in an alternative has no marker before
/// it: there the line feed belongs to the text.
fn taking(source: &str, bare: &str) -> String {
    let mut out = String::with_capacity(bare.len() + TAKING.len());
    let mut rest = bare;
    for c in source.chars() {
        if c == '$' && rest.starts_with(BARE) {
            let is_alone = out.is_empty() || out.ends_with('|');
            out.push_str(if is_alone { BARE } else { TAKING });
            rest = &rest[BARE.len()..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::fixed;

    fn close(close: &str) -> String {
        format!(
            r#"{{"start_anchor": "A:", "fields": {{"content": {{"close_pattern": {}, "repeats": true, "join": ""}}}}}}"#,
            crate::value::json::quote(close)
        )
    }

    #[test]
    fn a_marker_is_found_before_a_final_line_feed_still() {
        for (before, after) in [
            ("<e>$", r"<e>\n?\Z"),
            ("<e>$|$", r"<e>\n?\Z|\Z"),
            (r"<e>\s*$", r"<e>\s*\Z"),
            ("<e>|$", r"<e>|\Z"),
            (r"[$]\$<e>|<f>$", r"[$]\$<e>|<f>\n?\Z"),
        ] {
            assert_eq!(fixed(&close(before)), close(after), "{before}");
        }
    }
}
