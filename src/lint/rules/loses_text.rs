//! Text that no field takes.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::{Side, Subject};
use crate::lint::{Example, Rule, Shows};
use crate::value::json::quote;

pub(super) static RULE: Rule = Rule {
    code: "loses-text",
    severity: Severity::Warning,
    summary: "no field takes the text outside the regions, which is in no message then",
    why: "Where every field has an open, nothing is open before the first region and behind a close, and the text that stands there is \
          dropped. A model that writes an answer without its marker, a word before a call, or a marker in another way than \
          the chat template renders it, loses that text without an error. `obverse parse` tells what text that is, and \
          `obverse check` fails a fixture with such text. (vLLM's reader in Python adds a plain `content` to every response template \
          that has no field without an open, so that it and transformers answer differently.)",
    remedy: "Give one field no open: it takes all text that no other field takes.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "thinking": {"open": "<think>", "close": "</think>"},
  "content": {"open": "<say>", "close_pattern": "</say>\\s*"}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "thinking": {"open": "<think>", "close": "</think>"},
  "content": {"close_pattern": "</say>\\s*"}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<think>A greeting.</think>Hello!",
            bad: r#"{"thinking": "A greeting."}"#,
            good: r#"{"thinking": "A greeting.", "content": "Hello!"}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    if subject.implicit().is_some() {
        return;
    }
    let sample = |side| {
        let of_side = subject.delimiters().iter().filter(|one| one.side == side);
        let mut samples = of_side.flat_map(|one| one.samples());
        samples.next().map(|sample| quote(&sample))
    };
    let places: Vec<String> = [("before", Side::Open), ("behind", Side::Close)]
        .into_iter()
        .filter_map(|(word, side)| Some(format!("{word} {}", sample(side)?)))
        .collect();
    let such_as = match places.is_empty() {
        true => String::new(),
        false => format!(", such as {},", places.join(" and ")),
    };
    let message = format!("every field has an open: text outside the regions{such_as} is lost");
    let content = subject.template().field("content").is_some();
    let hint = match content {
        true => "let one field have no open: it takes what no other field takes",
        false => {
            "add a field without an open, as in \"content\": {}: it takes what no other field takes"
        }
    };
    let path = subject.root().key("fields");
    found.push(subject.at_key(&RULE, &path, message).with_hint(hint));
}

#[cfg(test)]
mod tests {
    use crate::lint::rules::found;

    fn messages(fields: &str) -> Vec<(String, String)> {
        let found = found(
            "loses-text",
            &format!(r#"{{"start_anchor": "x", "fields": {fields}}}"#),
        );
        let told = found.into_iter();
        told.map(|found| (found.message, found.hint.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn the_delimiters_around_lost_text_are_named() {
        let [(message, hint)] = &messages(r#"{"thinking": {"open": "<t>", "close": "</t>"}}"#)[..]
        else {
            panic!("one finding");
        };
        assert_eq!(
            message,
            "every field has an open: text outside the regions, such as before \"<t>\" and behind \"</t>\", is lost"
        );
        assert!(hint.contains("\"content\": {}"), "{hint}");
        let [(message, hint)] = &messages(r#"{"content": {"open": "<c>"}}"#)[..] else {
            panic!("one finding");
        };
        assert!(
            message.ends_with("such as before \"<c>\", is lost"),
            "{message}"
        );
        assert!(!hint.contains("add"), "{hint}");
    }

    #[test]
    fn an_implicit_field_takes_it() {
        assert_eq!(
            messages(r#"{"content": {}, "thinking": {"open": "<t>"}}"#),
            []
        );
        assert_eq!(messages(r#"{"content": {"close": "</c>"}}"#), []);
    }
}
