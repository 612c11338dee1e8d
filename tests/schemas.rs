//! The JSON Schemas: what is one of them validates, and what is none does not.

mod support;

use std::path::{Path, PathBuf};

use obverse::check::Fixture;
use obverse::lint;
use obverse::value::json;
use serde_json::Value;
use support::schema::mismatch;

fn read(path: impl AsRef<Path>) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON")
}

fn schema(name: &str) -> Value {
    read(format!("schemas/{name}.json"))
}

/// The files in derived/ with or without that ending of their name.
fn derived(reports: bool) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("derived");
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let found: Vec<PathBuf> = paths
        .filter(|path| {
            let name = path.to_string_lossy();
            name.ends_with(".json") && name.ends_with(".report.json") == reports
        })
        .collect();
    assert!(found.len() > 10);
    found
}

#[test]
fn response_templates_validate() {
    let schema = schema("response-template");
    for path in derived(false) {
        assert_eq!(mismatch(&schema, &read(&path)), None, "{}", path.display());
    }
    // What the linter names is valid, but for the arguments that nothing checks.
    for rule in lint::rules() {
        if ["bad-arguments", "unknown-argument"].contains(&rule.code) {
            continue;
        }
        for text in [rule.example.bad, rule.example.good] {
            let value = serde_json::from_str(text).expect("JSON");
            assert_eq!(mismatch(&schema, &value), None, "{text}");
        }
    }
}

#[test]
fn what_is_no_response_template_does_not() {
    let schema = schema("response-template");
    for text in [
        r#"[]"#,
        r#"{"start_anchor": "x"}"#,
        r#"{"fields": {"c": {}}}"#,
        r#"{"start_anchor": "x", "fields": {}}"#,
        r#"{"start_anchor": "x", "start_anchor_pattern": "x", "fields": {"c": {}}}"#,
        r#"{"version": 2, "start_anchor": "x", "fields": {"c": {}}}"#,
        r#"{"start_anchor": [], "fields": {"c": {}}}"#,
        r#"{"start_anchor": "", "fields": {"c": {}}}"#,
        r#"{"start_anchor": "x", "field": {}, "fields": {"c": {}}}"#,
    ] {
        let value = serde_json::from_str(text).expect("JSON");
        assert!(mismatch(&schema, &value).is_some(), "{text}");
    }
    for field in [
        r#"5"#,
        r#"{"opne": "x"}"#,
        r#"{"open": null}"#,
        r#"{"open": "a", "open_pattern": "b"}"#,
        r#"{"close": "a", "close_pattern": "b"}"#,
        r#"{"content": "jsn"}"#,
        r#"{"join": "x"}"#,
        r#"{"repeats": true, "join": 5}"#,
        r#"{"transform_each": true}"#,
        r#"{"content": "xml-inline"}"#,
        r#"{"content": "json", "content_args": {"stirp": true}}"#,
        r#"{"content_args": {"unquoted_keys": true}}"#,
    ] {
        let text = format!(r#"{{"start_anchor": "x", "fields": {{"c": {field}}}}}"#);
        let value = serde_json::from_str(&text).expect("JSON");
        assert!(mismatch(&schema, &value).is_some(), "{text}");
    }
}

/// Lines that are read, and lines that are refused.
#[test]
fn the_lines_of_fixtures_are_those_that_are_read() {
    let schema = schema("fixture");
    for (line, is_one) in [
        (
            r#"{"response": "a", "expected": {"content": "a"}, "name": "n", "id": 5}"#,
            true,
        ),
        (
            r#"{"chunks": ["a", "b"], "prefix": "", "tools": [], "events": [{}]}"#,
            true,
        ),
        (
            r#"{"response": "a", "messages": [{"role": "user"}], "error": {"kind": "json", "field": "x"}}"#,
            true,
        ),
        (
            r#"{"response": "a", "messages": {"messages": [], "kwargs": {}}, "prefix": null}"#,
            true,
        ),
        (r#"{"expected": {}}"#, false),
        (r#"{"response": 5}"#, false),
        (r#"{"response": "a", "expected": []}"#, false),
        (r#"{"response": "a", "chunks": [1]}"#, false),
        (r#"{"response": "a", "messages": {}}"#, false),
        (r#"{"response": "a", "error": {}}"#, false),
        (r#"{"response": "a", "respnse": "a"}"#, false),
    ] {
        let members = json::parse(line)
            .expect("JSON")
            .as_object()
            .cloned()
            .expect("an object");
        assert_eq!(Fixture::from_map(members).is_ok(), is_one, "{line}");
        let value = serde_json::from_str(line).expect("JSON");
        assert_eq!(
            mismatch(&schema, &value).is_none(),
            is_one,
            "{line}: {:?}",
            mismatch(&schema, &value)
        );
    }
}

#[test]
fn reports_of_derivations_validate() {
    let schema = schema("derivation");
    for path in derived(true) {
        assert_eq!(mismatch(&schema, &read(&path)), None, "{}", path.display());
    }
}
