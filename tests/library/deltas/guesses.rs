//! Strings among values that are JSON, which are passed on before the pattern has told what they are.

use std::sync::Arc;

use super::Subject;
use crate::support::parsing::characters;
use crate::support::random::Random;
use obverse::deltas::{DeltaParser, DeltaTemplate, Growth};
use obverse::response_template::ResponseTemplate;
use obverse::value::json;

const IN_TAGS: &str = r"<p=(?P<key>\\w+)>(?P<value>.*?)</p>";

/// Keyword arguments: a string in single quotes ends where another argument or the end follows.
const KEYWORDS: &str = r#"(?P<key>\\w+)(?:=\\s*(?P<value>'(?:(?!').)*')|=(?!')(?P<value>(?:\"[^\"]*\"|[^\"])*?)|=\\s*'(?P<value>.*?)')(?=\\s*(?:,\\s*\\w+=|\\Z))"#;

const STRICT: &str = "{}";
const LOOSE: &str = r#"{"allow_non_json": true, "string_delims": [["'", "'"]]}"#;

/// A template whose calls are `<c>NAME ARGUMENTS</c>`.
fn template(tag_pattern: &str, args: &str) -> Arc<DeltaTemplate> {
    let document = format!(
        r#"{{
        "start_anchor": "A:",
        "fields": {{
            "content": {{"repeats": true}},
            "tool_calls": {{
                "open_pattern": "<c>(?P<name>\\w+) ", "close": "</c>", "repeats": true, "content": "xml-inline",
                "content_args": {{"tag_pattern": "{tag_pattern}", "value_parser": {{"name": "json", "args": {args}}}}},
                "transform": {{"type": "function", "function": {{"name": "{{name}}", "arguments": "{{content}}"}}}}
            }}
        }}
    }}"#
    );
    let template = ResponseTemplate::from_json(&document).expect("a template");
    Arc::new(DeltaTemplate::new(template))
}

/// The arguments that are passed on while this stands in a region that is open.
fn passed_on(template: &Arc<DeltaTemplate>, tools: &str, region: &str) -> String {
    let tools = json::parse(tools).expect("JSON");
    let tools = tools.as_array().expect("a list");
    let mut parser = DeltaParser::new(Arc::clone(template), "", tools).expect("a parser");
    let mut told = String::new();
    for chunk in characters(&format!("<c>f {region}")) {
        for one in parser.feed(chunk).expect("growth") {
            if let Growth::Arguments { text, .. } = one {
                told.push_str(&text);
            }
        }
    }
    told
}

#[test]
fn strings_are_passed_on_as_they_are_written() {
    let strict = template(IN_TAGS, STRICT);
    let loose = template(IN_TAGS, LOOSE);
    let keywords = template(KEYWORDS, LOOSE);
    for (template, region, told) in [
        (&strict, r#"<p=a>"x\u00e9\ny"#, r#"{"a": "xé\ny"#),
        (
            &strict,
            r#"<p=a> "x" </p><p=n>12</p><p=b>"z"#,
            r#"{"a": "x", "n": 12, "b": "z"#,
        ),
        // What a number or an object is comes to light at its end, and what is no JSON has no value.
        (&strict, "<p=n>12", ""),
        (&strict, r#"<p=o>{"a": "b"#, ""),
        (&strict, "<p=a>Paris", ""),
        (&loose, "<p=a>Paris, f", r#"{"a": "Paris, f"#),
        (&loose, "<p=a>trend", ""),
        (&loose, "<p=a>'it's", r#"{"a": "it's"#),
        (&loose, "<p=a>'it'</", r#"{"a": "it"#),
        (&keywords, "a='it's', n=1", r#"{"a": "it's""#),
        (&keywords, "a='it's, b", r#"{"a": "it's, b"#),
        (&keywords, "a=5, b='c", r#"{"a": 5, "b": "c"#),
        (&keywords, r#"a="b'c"#, r#"{"a": "b'c"#),
        (&keywords, "a=b", ""),
    ] {
        assert_eq!(passed_on(template, "[]", region), told, "{region}");
    }
}

#[test]
fn a_string_that_may_have_another_type_waits() {
    let tools = r#"[{"type": "function", "function": {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}}]"#;
    let strict = template(IN_TAGS, STRICT);
    assert_eq!(passed_on(&strict, tools, r#"<p=n>"12"#), r#"{"n": "#);
    assert_eq!(
        passed_on(&strict, tools, r#"<p=n>"12" </p>"#),
        r#"{"n": 12"#
    );
    assert_eq!(passed_on(&strict, tools, r#"<p=n>"tw"#), r#"{"n": "tw"#);
}

#[test]
fn what_was_guessed_wrongly_is_not_in_the_message() {
    for (pattern, args, region) in [
        // The string is closed, and its tag is not.
        (IN_TAGS, STRICT, r#"<p=a>"x" y"#),
        (IN_TAGS, STRICT, r#"<p=a>"x</p>"#),
        (IN_TAGS, STRICT, r#"<p=a>"x" "y"</p>"#),
        (IN_TAGS, LOOSE, r#"<p=a>"x" y</p><p=b>1</p>"#),
        (IN_TAGS, LOOSE, "<p=a>'x' 'y'</p>"),
        (IN_TAGS, LOOSE, "<p=a>x\u{1}</p>"),
        (KEYWORDS, LOOSE, r#"a='{"it's": 1}', b='c'"#),
        (KEYWORDS, LOOSE, r#"a="b" c, d='e'"#),
        (KEYWORDS, LOOSE, "a='b"),
    ] {
        let response = format!("<c>f {region}</c>.");
        let subject = Subject {
            template: template(pattern, args),
            prefix: "",
            tools: &[],
            response: &response,
        };
        let held = subject.hold(&mut Random::new(1), 4);
        assert!(matches!(held, Ok(1..)), "{region}: {held:?}");
    }
}
