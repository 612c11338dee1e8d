//! A pattern under a key for texts.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Subject, sign_of_pattern};
use crate::lint::{Example, Rule, Shows};
use crate::value::json::quote;

pub(super) static RULE: Rule = Rule {
    code: "pattern-in-literal",
    severity: Severity::Warning,
    summary: "a delimiter is written like a pattern, under a key whose texts are taken as they stand",
    why: "`start_anchor`, `open` and `close` are texts: `</bot>\\s*` there is looked for with its backslash and its star, which no \
          model writes. The delimiter is never found, and the region goes on over it.",
    remedy: "Call the key `start_anchor_pattern`, `open_pattern` or `close_pattern`.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"content": {"close": "</bot>\\s*"}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"content": {"close_pattern": "</bot>\\s*"}}}"#,
        chat: None,
        shows: Shows::Message {
            response: "Hello</bot>\n",
            bad: r#"{"content": "Hello</bot>"}"#,
            good: r#"{"content": "Hello"}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let anchor = (
        subject.template().anchor(),
        "start_anchor",
        subject.root().key("start_anchor"),
    );
    let delimiters = subject.delimiters().iter();
    let delimiters =
        delimiters.map(|delimiter| (delimiter.pattern, delimiter.key, delimiter.path.clone()));
    for (pattern, key, path) in std::iter::once(anchor).chain(delimiters) {
        // One literal is all that many a pattern matches.
        if key.ends_with("_pattern") || subject.place(&path).span.is_none() {
            continue;
        }
        let literals = pattern.as_literals().unwrap_or_default();
        let Some((literal, sign)) = literals
            .iter()
            .find_map(|literal| Some((literal, sign_of_pattern(literal)?)))
        else {
            continue;
        };
        let message = format!(
            "`{key}` takes {} as it stands: `{sign}` in it means nothing but itself",
            quote(literal)
        );
        let hint = format!("if a pattern is meant, call the key `{key}_pattern`");
        found.push(subject.at(&RULE, &path, message).with_hint(hint));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{fixed, found};

    fn template(close: &str) -> String {
        format!(
            r#"{{"start_anchor": "<b>", "fields": {{"content": {{"close": {}, "repeats": true}}}}}}"#,
            crate::value::json::quote(close)
        )
    }

    #[test]
    fn what_only_a_pattern_has_is_found_and_left_alone() {
        for close in [
            r"</b>\s*",
            r"<\|end\|>",
            r"</b>\Z",
            "(?:</b>|</c>)",
            "</b>.*",
            "</b>|$",
        ] {
            let text = template(close);
            assert_eq!(found("pattern-in-literal", &text).len(), 1, "{close}");
            assert_eq!(fixed(&text), text);
        }
    }

    #[test]
    fn markers_with_signs_in_them_are_texts() {
        for close in [
            r"\boxed{",
            r"\section",
            "<|end|>",
            "[/INST]",
            "...",
            "$$",
            "(?)",
        ] {
            assert_eq!(found("pattern-in-literal", &template(close)), [], "{close}");
        }
    }

    #[test]
    fn an_anchor_is_a_text_too() {
        let text = r#"{"start_anchor": "<b>\\n?", "fields": {"content": {}}}"#;
        assert_eq!(found("pattern-in-literal", text).len(), 1);
        let text = r#"{"start_anchor_pattern": "<b>\\n", "fields": {"content": {}}}"#;
        assert_eq!(found("pattern-in-literal", text), []);
    }
}
