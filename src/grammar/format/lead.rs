//! White space that a text has to begin with.
//!
//! What a text begins with is free as a rule: where a chat template writes a line feed behind `<think>`, a model need not. But what opens a
//! text may be told from something else by what follows. Where `>>>all` opens an answer and `>>>NAME` a call, `>>>allow` is a call, and the
//! line feed that every render has behind `all` must be written.
//!
//! So it is tried: a response without that white space is parsed, and where it does not say what it said, the white space is part of how
//! the format is written. Each is tried as it is, and with other texts in the place of what follows its first word, such as one that begins with `{`: `>>>allow` may be
//! a call where arguments come next, and nowhere else. For each text of a field that is up to twelve tries of two parses.

use std::ops::Range;
use std::sync::Arc;

use super::parsed::{Parsed, Stretch};
use crate::derive::Case;
use crate::judge;
use crate::response_template::ResponseTemplate;

/// How many responses are tried, and how many texts behind the first word of each.
const TRIES: usize = 3;

/// The white space with which a text of the field has to begin that is opened by this text, or by none for the implicit field; empty where it may begin
/// with anything.
pub(super) fn of(
    template: &Arc<ResponseTemplate>,
    shown: &[(&Case, Parsed)],
    field: usize,
    open: &str,
) -> String {
    let all = shown.iter().flat_map(|(case, parsed)| {
        let spans = parsed.stretches.iter().filter_map(|stretch| match stretch {
            Stretch::Text {
                field: of,
                open: by,
                span,
            } if *of == field && by == open => Some(span),
            _ => None,
        });
        spans.map(move |span| (*case, parsed, span.clone()))
    });
    let mut common: Option<&str> = None;
    let mut tried: Vec<(&Case, Range<usize>, &str)> = Vec::new();
    let mut signed: Vec<&str> = Vec::new();
    for (case, parsed, span) in all {
        let body = &parsed.text[span.clone()];
        let said = body.trim_start();
        if said.is_empty() {
            continue;
        }
        let blank = &body[..body.len() - said.len()];
        common = Some(match common {
            Some(known) if blank.starts_with(known) => known,
            Some(known) if known.starts_with(blank) => blank,
            Some(_) => "",
            None => blank,
        });
        // Punctuation may stand apart from what is before it where a letter does not.
        if !said.starts_with(char::is_alphanumeric) {
            if signed.len() < TRIES && !signed.contains(&said) {
                signed.push(said);
            }
        } else if tried.len() < TRIES {
            // What of the prompt belongs to the response stands before it.
            let start = parsed.text.len() - case.response.len();
            if let Some(start) = span.start.checked_sub(start) {
                tried.push((case, start..start + blank.len(), said));
            }
        }
        if common == Some("") {
            return String::new();
        }
    }
    let means_another = |case: &Case, blank: &Range<usize>| {
        let mut without = case.clone();
        without.response.replace_range(blank.clone(), "");
        let parse = |case: &Case| judge::parse_whole(template, case);
        !judge::says_the_same(&parse(&without), &parse(case))
    };
    let is_needed = tried.into_iter().any(|(case, blank, said)| {
        let word = said.split(|c: char| !c.is_alphanumeric()).next();
        let word = blank.end + word.map_or(0, str::len);
        let mut followed = signed.iter().map(|text| {
            let mut other = case.clone();
            other
                .response
                .replace_range(word..blank.end + said.len(), text);
            other
        });
        means_another(case, &blank) || followed.any(|case| means_another(&case, &blank))
    });
    match common {
        Some(common) if is_needed => common.to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{Acceptor, Request, WrittenFormat};
    use crate::value::json;

    fn case(prefix: &str, response: &str, content: &str) -> Case {
        let message = format!(r#"{{"content": {}}}"#, json::quote(content));
        Case {
            prefix: prefix.to_owned(),
            response: response.to_owned(),
            tools: Vec::new(),
            message: json::parse(&message).unwrap(),
        }
    }

    /// True if the grammar of these two responses allows a text without the white space that they begin with.
    fn is_free(open_of_call: &str) -> bool {
        let template = format!(
            r#"{{"start_anchor": "A:", "fields": {{
                "tool_calls": {{"open_pattern": "{open_of_call}", "close": "!", "repeats": true, "content": "json",
                    "transform": {{"type": "function", "function": {{"name": "{{name}}", "arguments": "{{content}}"}}}}}},
                "content": {{"open": ">all", "close": "!"}}}}}}"#
        );
        let template = ResponseTemplate::from_value(&json::parse(&template).unwrap()).unwrap();
        let cases = [
            case("A:", ">all\nWell!", "Well"),
            case("A:", ">all\n<3!", "<3"),
        ];
        let written = WrittenFormat::new(&Arc::new(template), &cases, &[]);
        let grammar = written.grammar(&Request::default().prefix("A:")).unwrap();
        let allows = |text: &str| Acceptor::new(&grammar).feed(text).is_ok();
        assert!(allows(">all\nGood!"));
        allows(">allGood!")
    }

    #[test]
    fn white_space_is_asked_for_where_a_text_would_be_taken_for_something_else() {
        assert!(!is_free(r">(?!all\\b)(?P<name>\\w+)"));
        assert!(!is_free(r">(?!all\\b)(?P<name>\\w+)(?=<)"));
        assert!(is_free(r"#(?P<name>\\w+)"));
    }
}
