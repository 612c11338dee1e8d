//! Content parsers and transforms against the reference.

use crate::support::comparison::{Case, Failure, compare, lines, object, parsed};
use crate::support::random::Random;
use crate::support::reference;
use crate::support::values::value;
use obverse::content::{self, ContentParser, ToolSchemas, Transform};
use obverse::value::json;
use obverse::value::{Map, Value, python};

fn failure(error: &content::ContentError) -> Failure {
    Failure {
        limit: error.kind() == "limit",
        ..Failure::new(error.to_string())
    }
}

fn content_case(name: &str, args: &Value, text: &str) -> Case {
    let content = ContentParser::compile(name, args).expect("a content parser");
    let question = [
        ("ask", "content".into()),
        ("name", name.into()),
        ("args", args.clone()),
        ("text", text.into()),
    ];
    Case {
        answer: content
            .parse(text)
            .map(|value| json::to_string(&value))
            .map_err(|error| failure(&error)),
        question: object(question),
    }
}

/// Arguments that are odd for every parser.
const ODD_ARGS: &str = r#"
    null
    []
    1
    "x"
    {}
    {"strip": false}
    {"strip": null}
    {"strip": 0}
    {"strip": "no"}
    {"strip": []}
    {"unknown": 1}
"#;

#[test]
fn scalars_are_parsed_as_by_the_reference() {
    let mut random = Random::new(4);
    #[rustfmt::skip]
    let pieces = [
        "true", "True", "TRUE", "1", "0", "false", " ", "\n", "12", "-3", "1_0", "٣", "1.5", "nan", "inf", "\u{1c}",
        "\u{a0}", "x", "İ", "",
    ];
    let odd = lines(ODD_ARGS);
    let mut cases = Vec::new();
    for name in ["text", "int", "float", "bool"] {
        for _ in 0..500 {
            let args = if random.once_in(3) {
                random.pick(&odd)
            } else {
                "{}"
            };
            cases.push(content_case(name, &parsed(args), &random.text(&pieces, 3)));
        }
    }
    compare("content.py", &cases);
}

const JSON_ARGS: &str = r#"
    {"allow_non_json": true}
    {"allow_non_json": true, "strip": false}
    {"unquoted_keys": true}
    {"unquoted_keys": 1, "allow_non_json": 1}
    {"string_delims": [["<|\"|>", "<|\"|>"]]}
    {"string_delims": [["<|\"|>", "<|\"|>"]], "unquoted_keys": true}
    {"string_delims": [["'", "'"], ["`", "`"]], "unquoted_keys": true, "allow_non_json": true}
    {"string_delims": [["1", "2"], ["0", "0"]]}
    {"string_delims": [["'", ""]]}
    {"string_delims": [["", "'"]]}
    {"string_delims": [["", ""]]}
    {"string_delims": [["", ""], ["", ""]], "allow_non_json": true}
    {"string_delims": []}
    {"string_delims": ""}
    {"string_delims": "ab"}
    {"string_delims": {}}
    {"string_delims": null}
    {"string_delims": 0}
    {"string_delims": true}
    {"string_delims": ["''"]}
    {"string_delims": ["'"]}
    {"string_delims": {"''": 1}}
    {"string_delims": [{"'": 1, "`": 2}]}
    {"string_delims": [["'", 1]]}
    {"string_delims": [["'"]]}
    {"string_delims": [[null, "'"]]}
    {"string_delims": [[]]}
"#;

#[test]
fn json_regions_are_parsed_as_by_the_reference() {
    let mut random = Random::new(5);
    #[rustfmt::skip]
    let pieces = [
        "{", "}", "[", "]", ",", ", ", ":", ": ", "\"", "'", "`", "<|\"|>", "a", "key", "a_1", "é", "中", "1", "2", "0",
        "\n", "\"x\"", "'x'", "null", "true", "\\", "\\n", "\u{1}", "\u{2}", "{a:", "{a:1}", "{a:'b'}",
        "{key:<|\"|>v\"<|\"|>,b:1}", ",b:'x,y:z'", "{a:1, b:2}", "[\"{a:1, b:2\"]", "²", "\u{301}", "-", "١",
    ];
    let mut cases = Vec::new();
    let all = [lines(JSON_ARGS), lines(ODD_ARGS)].concat();
    for args in all.iter().map(|args| parsed(args)) {
        for _ in 0..60 {
            cases.push(content_case("json", &args, &random.text(&pieces, 7)));
        }
        cases.push(content_case(
            "json",
            &args,
            "{name:'f',args:{x:'it\"s',y:[1,`b`]}}",
        ));
        cases.push(content_case(
            "json",
            &args,
            "{\"name\": \"f\", \"arguments\": {\"x\": 1}}",
        ));
        cases.push(content_case("json", &args, "  no json "));
    }
    for _ in 0..1500 {
        let text = json::to_string(&value(&mut random, 2));
        cases.push(content_case("json", &parsed(random.pick(&all)), &text));
    }
    compare("content.py", &cases);
}

/// Value parsers, whole and broken.
const VALUE_PARSERS: &str = r#"
    null
    {}
    1
    "json"
    []
    false
    {"name": "json"}
    {"name": "nope"}
    {"name": null}
    {"name": []}
    {"name": "json", "args": {"allow_non_json": true}}
    {"name": "json", "args": {"unquoted_keys": true}}
    {"name": "json", "args": null}
    {"args": {"strip": false}}
    {"name": "text", "args": 5}
    {"name": "int"}
    {"name": "float"}
    {"name": "bool"}
    {"name": "bool", "args": {"strip": false}}
    {"name": "xml-inline"}
    {"name": "xml-inline", "args": {"tag_pattern": "(?P<key>[a-z]+)=(?P<value>[0-9]*)"}}
    {"name": "kv-lines", "args": {"line_sep": ",", "kv_sep": "=", "value_parser": {"name": "int"}}}
"#;

const TAG_PATTERNS: &str = r#"
    "<(?P<key>\\w+)>(?P<value>.*?)</\\w+>"
    "<parameter=(?P<key>[^>]+)>\\n?(?P<value>.*?)\\n?</parameter>"
    "<(?P<key>a)|<b>(?P<value>x)?"
    "<(?P<key>\\w+)>"
    "(?P<value>.)"
    "<(?P<key>\\w+)>(?:(?P<value>\\d+)|-)"
    "(?P<key>)x*"
    "("
    ""
    null
    1
    []
"#;

#[test]
fn xml_inline_regions_are_parsed_as_by_the_reference() {
    let mut random = Random::new(6);
    let (patterns, parsers) = (lines(TAG_PATTERNS), lines(VALUE_PARSERS));
    #[rustfmt::skip]
    let pieces = [
        "<a>", "</a>", "<b>", "</b>", "x", "1", "12", " ", "\n", "-", "{\"a\": 1}", "[1]", "a=1", ",",
        "<parameter=city>", "</parameter>", "Paris", "é", "<é>", "true", "{a:1}",
    ];
    let mut cases = Vec::new();
    for _ in 0..3000 {
        let mut args = Map::new();
        let mut put = |random: &mut Random, key: &str, values: &[&str]| {
            args.insert(key.to_owned(), parsed(random.pick(values)));
        };
        if !random.once_in(20) {
            put(&mut random, "tag_pattern", &patterns);
        }
        if random.once_in(2) {
            put(
                &mut random,
                "merge_duplicates",
                &["true", "false", "1", "null"],
            );
        }
        if random.once_in(2) {
            put(&mut random, "value_parser", &parsers);
        }
        cases.push(content_case(
            "xml-inline",
            &args.into(),
            &random.text(&pieces, 8),
        ));
    }
    cases.extend(
        lines(ODD_ARGS)
            .iter()
            .map(|args| content_case("xml-inline", &parsed(args), "<a>1</a>")),
    );
    compare("content.py", &cases);
}

#[test]
fn kv_lines_regions_are_parsed_as_by_the_reference() {
    let mut random = Random::new(7);
    let parsers = lines(VALUE_PARSERS);
    #[rustfmt::skip]
    let pieces = [
        "a", "b", "city", ":", "::", "=", ";", "\n", " ", "1", "x", "\u{1c}", "\u{a0}", "é", "{\"a\": 1}", "true",
        "a: 1\n", "b=2;",
    ];
    let mut cases = Vec::new();
    for _ in 0..3000 {
        let mut args = Map::new();
        let mut put = |random: &mut Random, key: &str, values: &[&str]| {
            args.insert(key.to_owned(), parsed(random.pick(values)));
        };
        if random.once_in(2) {
            put(
                &mut random,
                "line_sep",
                &[r#""\n""#, r#"";""#, r#""""#, "null", "1", r#""::""#, "[]"],
            );
        }
        if random.once_in(2) {
            put(
                &mut random,
                "kv_sep",
                &[r#"":""#, r#""=""#, r#""""#, "null", "3", r#""::""#],
            );
        }
        if random.once_in(3) {
            put(&mut random, "strip", &["false", "true", "0"]);
        }
        if random.once_in(2) {
            put(&mut random, "value_parser", &parsers);
        }
        cases.push(content_case(
            "kv-lines",
            &args.into(),
            &random.text(&pieces, 8),
        ));
    }
    cases.extend(
        lines(ODD_ARGS)
            .iter()
            .map(|args| content_case("kv-lines", &parsed(args), "a: 1")),
    );
    compare("content.py", &cases);
}

/// Strings of transforms: placeholders that are there, that are not, and that are none.
#[rustfmt::skip]
const TRANSFORM_STRINGS: &[&str] = &[
    "{content}", "{content.a}", "{content.a.b}", "{name}", "{id}", "{a}", "{b}", "{missing}", "plain", "", "{", "}",
    "{}", "{a b}", "{a.}", "{.a}", "{{a}}", "{é}", "{a-b}", "function", "{name", "content", "{a..b}", "{\n}", "{a²}",
];

fn transform(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0..4 => Value::from(random.pick(TRANSFORM_STRINGS)),
        4 => value(random, 0),
        5 => Value::Array(
            (0..random.below(3))
                .map(|_| transform(random, depth - 1))
                .collect(),
        ),
        _ => {
            let keys = ["type", "function", "name", "{name}", "arguments"];
            let member = |_| (random.pick(&keys).to_owned(), transform(random, depth - 1));
            Value::Object((0..3).map(member).collect())
        }
    }
}

const JSON_BODIES: &str = r#"
    1
    "x"
    null
    {}
    []
    {"a": 1}
    {"a": {"b": [1]}}
    [{"a": 1, "b": 2}, {"a": {"b": 3}}]
    [{}]
    [1]
    [{"a": 1}, 2]
    {"name": "f", "a": null}
    [{"name": "own", "content": 5, "a": {"b": 1}}]
    nope
"#;

const CAPTURES: &str = r#"
    {}
    {"name": "f"}
    {"name": "f", "id": "1"}
    {"content": "hidden", "a": "x"}
"#;

#[test]
fn transforms_are_applied_as_by_the_reference() {
    let mut random = Random::new(8);
    let (bodies, captures) = (lines(JSON_BODIES), lines(CAPTURES));
    let mut cases = Vec::new();
    while cases.len() < 3000 {
        let template = transform(&mut random, 2);
        // Null is no transform, and what mixes placeholders with text does not load.
        let Ok(compiled) = Transform::compile(&template) else {
            continue;
        };
        let compiled = (template != Value::Null).then_some(compiled);
        let (name, each) = (random.pick(&["json", "json", "text"]), random.once_in(3));
        let (body, captures) = (random.pick(&bodies), parsed(random.pick(&captures)));
        let content = ContentParser::compile(name, &parsed("{}")).expect("a content parser");
        let scope = captures.as_object().expect("an object");
        let answer = content::process(body, &content, compiled.as_ref(), each, scope.clone());
        cases.push(Case {
            answer: answer
                .map(|value| json::to_string(&value))
                .map_err(|error| failure(&error)),
            question: object([
                ("ask", "process".into()),
                ("name", name.into()),
                ("transform", template),
                ("each", each.into()),
                ("captures", captures),
                ("text", body.into()),
            ]),
        });
    }
    compare("content.py", &cases);
}

/// What the reference answers and Obverse on purpose does not; the list is in the docs of `obverse::content`.
#[test]
fn differences_are_the_ones_that_are_documented() {
    let digits = "7".repeat(5000);
    let tools = |schema: &str| {
        parsed(&format!(
            r#"[{{"name": "f", "parameters": {{"properties": {{"n": {schema}}}}}}}]"#
        ))
    };
    let call = parsed(r#"{"function": {"name": "f", "arguments": {"n": "1"}}}"#);
    let shared = r#"{"function": {"name": "f", "arguments": "{content}"}, "raw": "{content}"}"#;
    let parse = |name: &str, args: &str, text: &str| {
        let value = ContentParser::compile(name, &parsed(args))
            .expect("a content parser")
            .parse(text);
        value.map_or_else(
            |error| error.kind().to_owned(),
            |value| json::to_string(&value),
        )
    };
    let coerce = |tools: &Value, value: Value| {
        json::to_string(&ToolSchemas::from_tools(tools.as_array().expect("a list")).coerce(value))
    };
    let ask = |name: &str, args: &str, text: &str| content_case(name, &parsed(args), text).question;
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let transformed = {
        let json = ContentParser::compile("json", &parsed("{}")).expect("a content parser");
        let transform = Transform::compile(&parsed(shared)).expect("a transform");
        content::process(r#"{"n": "1"}"#, &json, Some(&transform), false, Map::new())
            .expect("a value")
    };
    let integer = tools(r#"{"type": "integer"}"#);
    let odd = tools(r#"{"type": "integer", "anyOf": 5}"#);
    let questions = [
        (
            ask("int", "{}", &digits),
            parse("int", "{}", &digits),
            digits.as_str(),
            "ValueError",
        ),
        (
            ask("json", "{}", &deep),
            parse("json", "{}", &deep),
            "limit",
            deep.as_str(),
        ),
        (
            object([
                ("ask", "process".into()),
                ("name", "json".into()),
                ("transform", parsed(shared)),
                ("each", false.into()),
                ("captures", parsed("{}")),
                ("text", r#"{"n": "1"}"#.into()),
                ("tools", integer.clone()),
            ]),
            coerce(&integer, transformed),
            r#"{"function": {"name": "f", "arguments": {"n": 1}}, "raw": {"n": "1"}}"#,
            r#"{"function": {"name": "f", "arguments": {"n": 1}}, "raw": {"n": 1}}"#,
        ),
        (
            object([
                ("ask", "coerce".into()),
                ("tools", odd.clone()),
                ("value", call.clone()),
            ]),
            coerce(&odd, call),
            r#"{"function": {"name": "f", "arguments": {"n": 1}}}"#,
            "TypeError",
        ),
        (
            ask("json", r#"{"string_delims": [[["'"], ["'"]]]}"#, "'x'"),
            parse("json", r#"{"string_delims": [[["'"], ["'"]]]}"#, "'x'"),
            "content-args",
            r#""x""#,
        ),
    ];
    let lines: Vec<String> = questions
        .iter()
        .map(|(question, ..)| json::to_string(question))
        .collect();
    let answers = reference::ask("content.py", &lines);
    for (index, (_, answer, ours, theirs)) in questions.iter().enumerate() {
        assert_eq!(answer, ours);
        let Some(answers) = &answers else { continue };
        let answer = parsed(&answers[index]);
        let text = answer
            .get("value")
            .or(answer.get("error"))
            .and_then(Value::as_str)
            .expect("an answer");
        assert!(text.starts_with(theirs), "{text} is not {theirs}");
    }
}

#[test]
fn hostile_depth_ends_in_an_error_that_names_the_limit() {
    let content = ContentParser::compile("json", &parsed(r#"{"allow_non_json": true}"#))
        .expect("a content parser");
    let error = content.parse(&"[".repeat(1_000_000)).expect_err("too deep");
    assert_eq!(error.kind(), "limit");
    assert!(
        error.to_string().contains(&json::MAX_DEPTH.to_string()),
        "{error}"
    );

    let deepest = format!(
        "{}{}",
        "[".repeat(json::MAX_DEPTH),
        "]".repeat(json::MAX_DEPTH)
    );
    let value = content.parse(&deepest).expect("just deep enough");
    assert_eq!(json::to_string(&value.clone()), deepest);
    assert_eq!(python::repr(&value), deepest);
}
