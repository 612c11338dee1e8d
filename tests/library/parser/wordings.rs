//! Errors have the words in them that the reference's have: people search for them, and tests of programs that move from one to
//! the other look for them.

use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

/// A template with the members and the fields, as JSON.
fn template(fields: &str) -> Value {
    let text = format!(r#"{{"start_anchor": "A:", "fields": {{{fields}}}}}"#);
    json::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// What is said about a template that is refused, or about a response that it does not parse.
fn error(document: &Value, response: &str) -> String {
    match ResponseTemplate::from_value(document) {
        Err(invalid) => {
            let all = invalid.diagnostics().iter();
            all.map(ToString::to_string).collect::<Vec<_>>().join("\n")
        }
        Ok(template) => parse_response(response, template, "", &[])
            .expect_err("an error")
            .to_string(),
    }
}

#[test]
fn documents_are_refused_in_the_references_words() {
    let x = |members: &str| template(&format!(r#""x": {{"open": "<x>", {members}}}"#));
    for (document, words) in [
        (x(r#""join": """#), vec!["requires 'repeats'"]),
        (x(r#""repeats": true, "join": 7"#), vec!["must be a string"]),
        (x(r#""transform": {"v": "pre {content.a}"}"#), vec!["mixes"]),
        (
            x(r#""transform": {"v": "name: {content}"}"#),
            vec!["interpolation", "{content}"],
        ),
        (x(r#""content": "no-such""#), vec!["unknown content parser"]),
        (
            template(r#""x": {"open_pattern": "<(?P<name>\\w+)>"}"#),
            vec!["transform", "name"],
        ),
        (
            json::parse(r#"{"start_anchor": "A:", "version": 2, "fields": {"x": {}}}"#)
                .expect("JSON"),
            vec!["version"],
        ),
        (
            json::parse(r#"{"fields": {"x": {}}}"#).expect("JSON"),
            vec!["start_anchor"],
        ),
    ] {
        assert!(ResponseTemplate::from_value(&document).is_err());
        let told = error(&document, "");
        for word in words {
            assert!(told.contains(word), "{word:?} is not in {told:?}");
        }
    }
}

#[test]
fn responses_fail_in_the_references_words() {
    let x = |members: &str| {
        template(&format!(
            r#""x": {{"open": "<x>", "close": "</x>", {members}}}"#
        ))
    };
    for (document, response, words) in [
        (
            x(r#""content": "json", "transform": {"a": "{content.args}"}"#),
            r#"<x>{"name": "n"}</x>"#,
            "missing key 'args'",
        ),
        (
            x(r#""content": "json", "transform": {"a": "{content.name.x}"}"#),
            r#"<x>{"name": "n"}</x>"#,
            "cannot index into str",
        ),
        (
            x(r#""content": "json", "transform": {"a": "{absent}"}"#),
            "<x>{}</x>",
            "absent",
        ),
        (
            x(r#""content": "json", "repeats": true, "join": """#),
            "<x>{}</x>",
            "parse to a string",
        ),
        (x(r#""optional": false"#), "none", "x"),
    ] {
        let told = error(&document, response);
        assert!(told.contains(words), "{words:?} is not in {told:?}");
    }
}
