//! Response schemas against the reference, transformers 5.14.1: values, kinds and places of errors.

#![allow(
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test says what it compared"
)]

mod compare;
mod generate;
mod page;
mod written;

use crate::support::random::Random;
use compare::Pair;
use obverse::response_schema::ResponseSchema;
use obverse::value::json;

/// How many schemas are made up, each with this many texts.
const TEXTS: usize = 10;

fn generated(seed: u64, schemas: usize) {
    let mut random = Random::new(seed);
    let mut pairs = Vec::with_capacity(schemas * TEXTS);
    for _ in 0..schemas {
        let generated = generate::schema(&mut random);
        let texts = (0..TEXTS).map(|_| generate::text(&mut random));
        pairs.extend(texts.map(|text| Pair {
            schema: generated.schema.clone(),
            text,
            broken: generated.broken,
        }));
    }
    let Some(seen) = compare::compare(&pairs) else {
        return;
    };
    eprintln!("{seen:#?}");
    let missing: Vec<&str> = generate::KINDS
        .iter()
        .filter(|kind| !seen.kinds.contains_key(**kind))
        .copied()
        .collect();
    assert!(
        missing.is_empty(),
        "kinds of errors that did not occur: {missing:?}"
    );
    assert!(seen.values > pairs.len() / 5, "values occur");
}

#[test]
fn made_up_schemas_are_evaluated_as_by_the_reference() {
    generated(16, 600);
}

#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn many_made_up_schemas_are_evaluated_as_by_the_reference() {
    generated(17, 6_000);
}

#[test]
fn the_schemas_of_known_formats_are_evaluated_as_by_the_reference() {
    let mut random = Random::new(18);
    let mut pairs = Vec::new();
    let mut schemas = written::schemas();
    schemas.extend(written::public());
    schemas.extend(written::at_hand());
    assert!(schemas.len() >= 14);
    for (name, schema) in schemas {
        ResponseSchema::from_value(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let texts = written::RESPONSES.iter().map(|text| (*text).to_owned());
        let mixed = (0..200)
            .map(|_| written::mixed(&mut random))
            .collect::<Vec<_>>();
        pairs.extend(texts.chain(mixed).map(|text| Pair {
            schema: schema.clone(),
            text,
            broken: false,
        }));
    }
    if let Some(seen) = compare::compare(&pairs) {
        eprintln!("{seen:#?}");
    }
}

/// What Obverse does and the reference does not; the list is in the docs of `obverse::response_schema`.
#[test]
fn differences_are_the_ones_that_are_documented() {
    let digits = "7".repeat(5000);
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let ours = |schema: &str, text: &str| {
        let schema = match ResponseSchema::from_json(schema) {
            Ok(schema) => schema,
            Err(invalid) => return invalid.diagnostics()[0].code.to_owned(),
        };
        match schema.parse(text) {
            Ok(value) => json::to_string(&value),
            Err(error) => error.kind.name().to_owned(),
        }
    };
    let grows = r#"{"x-regex-substitutions": [["a", "aaaaaaaaaaaaaaaaaaaa"]]}"#;
    let cases = [
        (
            r#"{"type": "integer"}"#,
            digits.as_str(),
            digits.as_str(),
            "integer",
        ),
        (
            r#"{"x-parser": "json"}"#,
            deep.as_str(),
            "limit",
            deep.as_str(),
        ),
        (
            r#"{"x-parser": "json"}"#,
            r#""\ud800""#,
            "\"\u{fffd}\"",
            "\"\u{fffd}\"",
        ),
        (grows, &"a".repeat(70_000), "limit", "\"aaa"),
        (
            r#"{"properties": {"a": {"x-regex": "("}}, "type": "object", "const": 1}"#,
            "",
            "bad-pattern",
            "1",
        ),
        (
            r#"{"x-regex": "\\N{EM DASH}(a)"}"#,
            "",
            "bad-pattern",
            "null",
        ),
    ];
    let pairs: Vec<Pair> = cases
        .iter()
        .map(|(schema, text, ..)| Pair {
            schema: json::parse(schema).expect("JSON"),
            text: (*text).to_owned(),
            broken: true,
        })
        .collect();
    let theirs = compare::ask(&pairs);
    for (index, (schema, text, expected, their)) in cases.iter().enumerate() {
        assert_eq!(ours(schema, text), *expected, "{schema}");
        let Some(theirs) = &theirs else { continue };
        let answer = json::to_string(&theirs[index]).replace("\\ud800", "\u{fffd}");
        let their: String = their.chars().take(200).collect();
        assert!(
            answer.contains(&their.replace('"', "\\\"")) || answer.contains(&their),
            "{schema}: {}",
            answer.chars().take(300).collect::<String>()
        );
    }
}

/// A text that is hostile to a schema ends in a value or an error, and soon.
#[test]
fn hostile_patterns_end() {
    let begun = std::time::Instant::now();
    for (schema, text) in [
        (r#"{"x-regex": "(a+)+$"}"#, "a".repeat(100_000) + "b"),
        (r#"{"x-regex": "((?:a|aa)+)\\1b"}"#, "a".repeat(5_000)),
        (
            r#"{"type": "array", "x-regex-iterator": "(a.*c|a)", "items": {}}"#,
            "a".repeat(100_000),
        ),
        (
            r#"{"type": "array", "x-regex-iterator": "(a(?=.*c)|a)", "items": {}}"#,
            "a".repeat(100_000),
        ),
        (
            r#"{"x-regex-substitutions": [["a", "\\g<0>\\g<0>"], ["a", "\\g<0>\\g<0>"], ["a", "\\g<0>\\g<0>"], ["a", "\\g<0>\\g<0>"], ["a", "\\g<0>\\g<0>"], ["a", "\\g<0>\\g<0>"]]}"#,
            "a".repeat(100_000),
        ),
        (
            r#"{"x-parser": "json", "x-parser-args": {"transform": "[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]"}}"#,
            "1".to_owned(),
        ),
        (
            r#"{"x-parser": "gemma4-tool-call"}"#,
            "<|\"|>\u{0}<|\"|>".repeat(20_000),
        ),
    ] {
        let schema = ResponseSchema::from_json(schema).expect("a schema");
        if let Err(error) = schema.parse(&text) {
            assert!(matches!(error.kind.name(), "limit" | "json"), "{error}");
        }
    }
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    for nested in ["!", "(", "[", "{a:", "a.", "&"] {
        let expression = json::quote(&nested.repeat(1000));
        let schema =
            format!(r#"{{"x-parser": "json", "x-parser-args": {{"transform": {expression}}}}}"#);
        ResponseSchema::from_json(&schema).expect_err("no expression");
    }
}
