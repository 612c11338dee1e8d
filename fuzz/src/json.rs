//! JSON: what is written is read again as it was, places are those of the values, and no content parser panics.

use std::sync::LazyLock;

use obverse::content::ContentParser;
use obverse::value::json::{self, Format, Places};
use obverse::value::{Map, Path, Value};

use crate::parts;

/// Checks one input: a text, and the arguments of the content parsers, which may be left out.
pub fn check(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let [text, args] = parts(input);
    read_and_written(text);
    let mut given = Vec::new();
    if let Ok(args) = json::parse(args) {
        read_and_written(&json::to_string(&args));
        given = parsers(&args);
    }
    for content in DIALECTS.iter().chain(&given) {
        match content.parse(text) {
            Ok(value) => read_and_written(&json::to_string(&value)),
            Err(error) => {
                let at = error.offset().unwrap_or(0);
                let parser = content.name();
                assert!(text.is_char_boundary(at), "{parser}: {at} of {text:?}");
                assert!(!error.message().is_empty());
            }
        }
    }
    plain_is_plain(text);
}

/// Every content parser with these arguments.
fn parsers(args: &Value) -> Vec<ContentParser> {
    let compile = |parser| ContentParser::compile(parser, args).expect("a parser of that name");
    obverse::content::PARSERS.into_iter().map(compile).collect()
}

/// Every content parser in every dialect: compiled once, since that takes longer than a parse.
static DIALECTS: LazyLock<Vec<ContentParser>> =
    LazyLock::new(|| arguments().iter().flat_map(parsers).collect());

/// Dialects as templates use them, and some that no one should.
fn arguments() -> Vec<Value> {
    const ARGUMENTS: &str = r#"[
        {},
        {"unquoted_keys": true},
        {"unquoted_keys": true, "string_delims": [["<|\"|>", "<|\"|>"]], "tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</\\w+>"},
        {"string_delims": [["'", "'"], ["<", ">"]], "allow_non_json": true, "strip": false,
         "tag_pattern": "(?P<key>\\w*)=(?P<value>[^,]*)", "merge_duplicates": true},
        {"line_sep": ";", "kv_sep": "=", "value_parser": "json", "tag_pattern": "(?P<key>.)(?P<value>.)?"},
        {"line_sep": null, "value_parser": {"name": "json", "args": {"allow_non_json": true, "unquoted_keys": true}},
         "tag_pattern": "(?P<key>)(?P<value>)"}
    ]"#;
    let Ok(Value::Array(arguments)) = json::parse(ARGUMENTS) else {
        panic!("a list");
    };
    arguments
}

fn read_and_written(text: &str) {
    let parsed = json::parse_with_places(text);
    let value = match (json::parse(text), &parsed) {
        (Ok(value), Ok((same, _))) => {
            assert_eq!(&value, same);
            value
        }
        (Err(error), Err(same)) => {
            assert_eq!(error.offset(), same.offset());
            assert!(text.is_char_boundary(error.offset()), "{error}: {text:?}");
            return;
        }
        (one, other) => panic!("{text:?}: {one:?}, but with places {other:?}"),
    };
    let (prefix, len) = json::parse_prefix(text.trim_start()).expect("it parses");
    assert_eq!(prefix, value);
    assert!(text.trim_start()[len..].trim().is_empty());
    if let Ok((_, places)) = &parsed {
        every_place_is_its_values(text, &value, places, &Path::default());
    }
    let ascii = Format {
        ensure_ascii: true,
        ..Format::compact()
    };
    let sorted = Format {
        sort_keys: true,
        ..Format::indented(2)
    };
    for format in [Format::compact(), Format::indented(4), ascii, sorted] {
        let written = format.write(&value);
        let again = json::parse(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(again, value, "{written}");
        assert_eq!(format.write(&again), written);
        assert!(!format.ensure_ascii || written.is_ascii());
    }
}

fn every_place_is_its_values(text: &str, value: &Value, places: &Places, path: &Path) {
    let spans = places
        .get(path)
        .unwrap_or_else(|| panic!("no place for {path}"));
    let stands = json::parse(&text[spans.value.clone()]).expect("a value");
    assert_eq!(&stands, value, "at {path} of {text:?}");
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                every_place_is_its_values(text, item, places, &path.index(index));
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let path = path.key(key);
                let spans = places.get(&path).and_then(|spans| spans.key.clone());
                let written = &text[spans.expect("a key has a place")];
                assert_eq!(json::parse(written).ok(), Some(Value::from(key.as_str())));
                every_place_is_its_values(text, member, places, &path);
            }
        }
        _ => {}
    }
}

/// Without a dialect the content parser `json` reads what JSON is, and nothing else.
fn plain_is_plain(text: &str) {
    static PLAIN: LazyLock<ContentParser> =
        LazyLock::new(|| ContentParser::compile("json", &Value::Object(Map::new())).expect("json"));
    assert_eq!(PLAIN.parse(text).ok(), json::parse(text).ok());
}
