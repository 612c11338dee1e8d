//! Schemas at the limits of the engines.

use super::{LANGUAGES, Subject, accepted, ask, line};
use crate::support::reference::grammar_python;
use obverse::grammar::emit::Language;
use obverse::grammar::{Grammar, ToolChoice};
use obverse::value::json;

fn grammar(subject: &Subject, schema: &str) -> Grammar {
    let tools = format!(
        r#"[{{"type": "function", "function": {{"name": "find", "parameters": {{"type": "object", "properties": {{"what": {schema}}},
            "required": ["what"], "additionalProperties": false}}}}}}]"#
    );
    let tools = json::parse(&tools).expect("JSON");
    let tools = tools.as_array().expect("a list");
    subject.grammar(subject.prefix(), tools, ToolChoice::Required)
}

/// A response with one call.
fn called(what: &str) -> String {
    format!(
        "<think></think><tool_call>\n{{\"name\": \"find\", \"arguments\": {{\"what\": {what}}}}}\n</tool_call>"
    )
}

/// The codes of what a language cannot say of a grammar.
fn told(grammar: &Grammar, language: Language) -> Vec<&'static str> {
    let findings = grammar.write(language).findings;
    findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn strings_are_as_long_as_the_schema_says() {
    let Some(python) = grammar_python() else {
        return;
    };
    let grammar = grammar(
        &Subject::new("qwen3"),
        r#"{"type": "string", "minLength": 2, "maxLength": 4}"#,
    );
    let right = [r#""ab""#, r#""a\nb<""#, r#""\u00e9漢漢x""#];
    let wrong = [r#""""#, r#""a""#, r#""abcde""#, r#""a\nb\"c""#];
    let texts: Vec<String> = right.into_iter().chain(wrong).map(called).collect();
    let languages = LANGUAGES.map(|language| line(language, &grammar, &texts));
    for (language, answer) in LANGUAGES.iter().zip(ask(&python, &languages)) {
        let taken = accepted(language.0, &answer);
        assert!(!told(&grammar, language.1).contains(&"schema-keyword"));
        // llguidance refuses escapes of what could stand as it is, and xgrammar counts the characters with which an escape is written.
        let of_right = match language.1 {
            Language::StructuralTag => 1,
            Language::Lark => 2,
            _ => 3,
        };
        assert_eq!(taken[..of_right], [true; 3][..of_right], "{}", language.0);
        assert_eq!(taken[3..], [false; 4], "{}", language.0);
    }
}

#[test]
fn what_repeats_more_often_than_llama_cpp_goes_along_is_told() {
    let Some(python) = grammar_python() else {
        return;
    };
    let subject = Subject::new("qwen3");
    let pairs = r#"{"type": "array", "maxItems": 1500, "items": {"type": "object", "properties": {"a": {"type": "integer"},
        "b": {"type": "array", "items": {"type": "integer"}, "maxItems": 1500}}}}"#;
    let many = r#"{"type": "array", "maxItems": 3000, "items": {"type": "integer"}}"#;
    let few = r#"{"type": "array", "minItems": 2500, "items": {"type": "integer"}}"#;
    for (schema, is_told) in [(pairs, false), (many, true), (few, true)] {
        let grammar = grammar(&subject, schema);
        let texts = [called(&format!("[{}]", vec!["1"; 2600].join(", ")))];
        let answers = ask(&python, &[line(("gbnf", Language::Gbnf), &grammar, &texts)]);
        // What is told is taken; what is not is refused.
        assert_eq!(accepted(schema, &answers[0]), [is_told], "{schema}");
        let codes = told(&grammar, Language::Gbnf);
        assert_eq!(
            codes.contains(&"repetition"),
            is_told,
            "{schema}: {codes:?}"
        );
        assert!(!told(&grammar, Language::Ebnf).contains(&"repetition"));
    }
}

#[test]
fn what_is_asked_of_a_text_between_tags_is_named() {
    let subject = Subject::new("qwen3_coder");
    for keyword in [
        r#""maxLength": 3"#,
        r#""pattern": "^a""#,
        r#""format": "date""#,
    ] {
        let grammar = grammar(&subject, &format!(r#"{{"type": "string", {keyword}}}"#));
        let name = keyword.split('"').nth(1).unwrap_or_default();
        let texts: Vec<&str> = grammar
            .findings()
            .iter()
            .map(|finding| finding.text.as_str())
            .collect();
        assert!(
            texts.contains(&format!("the grammar does not ask for `{name}` of a schema").as_str()),
            "{texts:?}"
        );
    }
    let plain = grammar(&subject, r#"{"type": "string"}"#);
    assert!(
        plain
            .findings()
            .iter()
            .all(|finding| finding.code != "schema-keyword")
    );
}
