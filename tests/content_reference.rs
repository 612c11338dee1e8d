//! Values, content parsers, transforms and tool arguments against Python and the reference.

mod support;

use std::collections::BTreeMap;

use obverse::content::{self, Content, ToolSchemas, Transform};
use obverse::value::json::{self, Format};
use obverse::value::{Map, Value, python};
use support::random::Random;
use support::reference;

/// A question for the reference, and what Obverse answers: a value in Python's JSON, or an error with its place.
struct Case {
    question: Value,
    answer: Result<String, Failure>,
}

struct Failure {
    message: String,
    at: Option<usize>,
    /// Obverse stops at a limit of its own, where the reference has none or another.
    limit: bool,
}

fn failure(error: &content::ContentError) -> Failure {
    Failure {
        message: error.to_string(),
        at: None,
        limit: error.kind() == "limit",
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

fn parsed(text: &str) -> Value {
    json::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Asks the reference all questions and compares; values and errors must both occur.
fn compare(cases: Vec<Case>) {
    let ascii = Format {
        ensure_ascii: true,
        ..Format::compact()
    };
    let lines: Vec<String> = cases
        .iter()
        .map(|case| ascii.write(&case.question))
        .collect();
    let Some(answers) = reference::ask("content.py", &lines) else {
        return;
    };
    let mut wrong = Vec::new();
    let mut outcomes: BTreeMap<bool, usize> = BTreeMap::new();
    for ((case, line), answer) in cases.iter().zip(&lines).zip(&answers) {
        let answer = parsed(answer);
        let expected = answer
            .get("value")
            .map(|value| value.as_str().expect("a string"));
        *outcomes.entry(expected.is_some()).or_default() += 1;
        let agrees = match (&case.answer, expected) {
            (Ok(ours), Some(theirs)) => ours == theirs,
            (Err(ours), None) => {
                ours.at.is_none() || answer.get("at").is_none_or(|at| *at == place(ours.at))
            }
            (Err(ours), Some(_)) => ours.limit,
            (Ok(_), None) => false,
        };
        if !agrees {
            let ours = match &case.answer {
                Ok(value) => value.clone(),
                Err(failure) => format!("{} at {:?}", failure.message, failure.at),
            };
            wrong.push(format!(
                "{line}\n  reference {}\n  obverse   {ours}",
                json::to_string(&answer)
            ));
        }
    }
    eprintln!(
        "{} values, {} errors",
        outcomes.get(&true).unwrap_or(&0),
        outcomes.get(&false).unwrap_or(&0)
    );
    assert!(outcomes.len() == 2, "values and errors both occur");
    let count = wrong.len();
    wrong.truncate(8);
    assert!(
        count == 0,
        "{count} of {} differ, among them\n{}",
        cases.len(),
        wrong.join("\n")
    );
}

fn place(at: Option<usize>) -> Value {
    at.and_then(|at| i64::try_from(at).ok())
        .map_or(Value::Null, Value::from)
}

/// Pieces that JSON texts and near misses are made of.
const JSON_PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\"a\"",
    "\"b\": ",
    "\"é\"",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\ude00\"",
    "\\u12",
    "\\ud83d",
    "0",
    "-",
    "1",
    "12",
    ".5",
    "1.0",
    "e",
    "E+5",
    "1e400",
    "-0",
    "-0.0",
    "123456789012345678901234567890",
    "1e16",
    "1e-7",
    "0.1",
    "null",
    "true",
    "false",
    "NaN",
    "Infinity",
    "-Infinity",
    "nul",
    " ",
    "\n",
    "\t",
    "\r",
    "\u{b}",
    "\u{a0}",
    "\u{1}",
    "\u{7f}",
    "\u{feff}",
    "x",
    "🦀",
    "{\"a\": ",
    "[1, ",
    "{\"a\": 1}",
    "[1, 2]",
    "\u{1f}",
];

/// A value such as messages and arguments hold.
fn value(random: &mut Random, depth: usize) -> Value {
    let scalar = [
        "null",
        "true",
        "false",
        "0",
        "-7",
        "10000000000000000000000",
        "1.0",
        "0.1",
        "1e16",
        "1e-5",
        "123456.789",
        "NaN",
        "-Infinity",
        "5e-324",
        "1.7976931348623157e308",
        "-0.0",
        "9007199254740993",
        "1e22",
        "1e15",
        "123456789012345680.0",
    ];
    match random.below(if depth == 0 { 6 } else { 10 }) {
        0..3 => parsed(random.pick(&scalar)),
        3..6 => Value::from(string(random)),
        6 | 7 => Value::Array(
            (0..random.below(4))
                .map(|_| value(random, depth - 1))
                .collect(),
        ),
        _ => Value::Object(
            (0..random.below(4))
                .map(|_| (string(random), value(random, depth - 1)))
                .collect(),
        ),
    }
}

fn string(random: &mut Random) -> String {
    let pieces = [
        "a",
        "b",
        "name",
        " ",
        "'",
        "\"",
        "\\",
        "\n",
        "\t",
        "é",
        "🦀",
        "\u{1}",
        "\u{7f}",
        "\u{a0}",
        "\u{ad}",
        "\u{200b}",
        "\u{2028}",
        "\u{e000}",
        "\u{378}",
        "\u{1f}",
        "{",
        "}",
        "<",
        "&",
        "1",
        "true",
        "\u{10ffff}",
        "中",
    ];
    random.text(&pieces, 4)
}

#[test]
fn json_is_read_as_python_reads_it() {
    let mut random = Random::new(1);
    let mut texts: Vec<String> = JSON_PIECES
        .iter()
        .map(|piece| (*piece).to_owned())
        .collect();
    texts.extend(
        [
            "",
            " ",
            "{\"a\"",
            "{\"a\":1,}",
            "[1,]",
            "\"a",
            "01",
            "1.",
            "1.e5",
            "{1:2}",
            "\"\\",
            "\"\\u",
            "\"\\u1234",
            "\"\\ud83d\\u\"",
            "\"\\ud83d\\u12\"x",
            "{\"a\":1,\"b\":2,\"a\":3}",
            "[1 2]",
            "{\"a\" 1}",
            "-Infinit",
            "+1",
            ".5",
            "1_0",
            "٣",
            "\"\u{7f}\"",
            " \u{a0}1",
            "[[[[[[]]]]]]",
            "{\"a\":{\"a\":{\"a\":[]}}}",
            "\"\\ud83d\\ud83d\\ude00\"",
        ]
        .map(str::to_owned),
    );
    texts.extend((0..3000).map(|_| random.text(JSON_PIECES, 6)));
    texts.extend((0..1500).map(|_| {
        // A whole text with one piece put in somewhere.
        let mut text = json::to_string(&value(&mut random, 3));
        let at = (0..=text.len())
            .rev()
            .find(|at| *at <= random.below(text.len() + 1) && text.is_char_boundary(*at));
        text.insert_str(
            at.unwrap_or(0),
            if random.once_in(3) {
                ""
            } else {
                random.pick(JSON_PIECES)
            },
        );
        text
    }));
    compare(
        texts
            .into_iter()
            .map(|text| Case {
                answer: json::parse(&text)
                    .map(|value| json::to_string(&value))
                    .map_err(|error| Failure {
                        message: error.to_string(),
                        at: Some(error.offset()),
                        limit: false,
                    }),
                question: object([("ask", "json".into()), ("text", text.into())]),
            })
            .collect(),
    );
}

#[test]
fn values_are_written_as_python_writes_them() {
    let mut random = Random::new(2);
    let mut cases = Vec::new();
    for _ in 0..1200 {
        let value = value(&mut random, 3);
        let text = json::to_string(&value);
        let mut options = Map::new();
        let mut format = Format::default();
        options.insert("ensure_ascii".to_owned(), false.into());
        if random.once_in(2) {
            format.ensure_ascii = true;
            options.insert("ensure_ascii".to_owned(), true.into());
        }
        if random.once_in(2) {
            format.sort_keys = true;
            options.insert("sort_keys".to_owned(), true.into());
        }
        match random.below(5) {
            0 => {
                format = Format {
                    ensure_ascii: format.ensure_ascii,
                    sort_keys: format.sort_keys,
                    ..Format::indented(2)
                };
                options.insert("indent".to_owned(), 2.into());
            }
            1 => {
                format = Format {
                    indent: Some("\t".to_owned()),
                    item_separator: ",".to_owned(),
                    ..format
                };
                options.insert("indent".to_owned(), "\t".into());
            }
            2 => {
                format = Format {
                    ensure_ascii: format.ensure_ascii,
                    sort_keys: format.sort_keys,
                    ..Format::compact()
                };
                options.insert("separators".to_owned(), parsed(r#"[",", ":"]"#));
            }
            _ => {}
        }
        let question = [
            ("ask", "dumps".into()),
            ("text", text.as_str().into()),
            ("options", options.into()),
        ];
        cases.push(Case {
            question: object(question),
            answer: Ok(json::quote(&format.write(&value))),
        });
        let question = object([("ask", "repr".into()), ("text", text.into())]);
        cases.push(Case {
            question,
            answer: Ok(json::quote(&python::repr(&value))),
        });
    }
    cases.push(Case {
        question: object([("ask", "repr".into()), ("text", "[".into())]),
        answer: Err(Failure {
            message: "not JSON".to_owned(),
            at: None,
            limit: false,
        }),
    });
    compare(cases);
}

#[test]
fn numbers_are_read_and_text_is_stripped_as_in_python() {
    let mut random = Random::new(3);
    let pieces = [
        "0", "1", "12", "_", "__", "+", "-", ".", "e", "E5", "e-400", "inf", "INF", "Infinity",
        "nan", "٣", "߀", "᠐", "𝟗", "²", "Ⅷ", " ", "\n", "\u{1c}", "\u{1f}", "\u{85}", "\u{a0}",
        "\u{2003}", "\u{3000}", "\u{200b}", "\u{7f}", "\0", "x", "0x1", "1e5", "1.5", "\u{feff}",
        "\u{180e}",
    ];
    let mut cases = Vec::new();
    let failure = |what: &str| Failure {
        message: what.to_owned(),
        at: None,
        limit: false,
    };
    for _ in 0..4000 {
        let text = random.text(&pieces, 4);
        let ask = |what: &str| object([("ask", what.into()), ("text", text.as_str().into())]);
        let write = |value: Value| json::to_string(&value);
        let int = python::int(&text)
            .map(|int| write(Value::Int(int)))
            .ok_or_else(|| failure("no int"));
        cases.push(Case {
            question: ask("int"),
            answer: int,
        });
        let float = python::float(&text)
            .map(|float| write(float.into()))
            .ok_or_else(|| failure("no float"));
        cases.push(Case {
            question: ask("float"),
            answer: float,
        });
        cases.push(Case {
            question: ask("strip"),
            answer: Ok(json::quote(python::strip(&text))),
        });
    }
    compare(cases);
}

fn content_case(name: &str, args: &Value, text: &str) -> Case {
    let content = Content::compile(name, args).expect("a content parser");
    Case {
        answer: content
            .parse(text)
            .map(|value| json::to_string(&value))
            .map_err(|error| failure(&error)),
        question: object([
            ("ask", "content".into()),
            ("name", name.into()),
            ("args", args.clone()),
            ("text", text.into()),
        ]),
    }
}

/// Arguments that are odd for every parser.
const ODD_ARGS: &[&str] = &[
    "null",
    "[]",
    "1",
    "\"x\"",
    "{}",
    "{\"strip\": false}",
    "{\"strip\": null}",
    "{\"strip\": 0}",
    "{\"strip\": \"no\"}",
    "{\"strip\": []}",
    "{\"unknown\": 1}",
];

#[test]
fn scalars_are_parsed_as_by_the_reference() {
    let mut random = Random::new(4);
    let pieces = [
        "true", "True", "TRUE", "1", "0", "false", " ", "\n", "12", "-3", "1_0", "٣", "1.5", "nan",
        "inf", "\u{1c}", "\u{a0}", "x", "İ", "",
    ];
    let mut cases = Vec::new();
    for name in ["text", "int", "float", "bool"] {
        for _ in 0..500 {
            let args = if random.once_in(3) {
                random.pick(ODD_ARGS)
            } else {
                "{}"
            };
            cases.push(content_case(name, &parsed(args), &random.text(&pieces, 3)));
        }
    }
    compare(cases);
}

#[test]
fn json_regions_are_parsed_as_by_the_reference() {
    let mut random = Random::new(5);
    let args = [
        "{}",
        "{\"allow_non_json\": true}",
        "{\"allow_non_json\": true, \"strip\": false}",
        "{\"unquoted_keys\": true}",
        "{\"unquoted_keys\": 1, \"allow_non_json\": 1}",
        "{\"string_delims\": [[\"<|\\\"|>\", \"<|\\\"|>\"]]}",
        "{\"string_delims\": [[\"<|\\\"|>\", \"<|\\\"|>\"]], \"unquoted_keys\": true}",
        "{\"string_delims\": [[\"'\", \"'\"], [\"`\", \"`\"]], \"unquoted_keys\": true, \"allow_non_json\": true}",
        "{\"string_delims\": [[\"1\", \"2\"], [\"0\", \"0\"]]}",
        "{\"string_delims\": [[\"'\", \"\"]]}",
        "{\"string_delims\": [[\"\", \"'\"]]}",
        "{\"string_delims\": [[\"\", \"\"]]}",
        "{\"string_delims\": [[\"\", \"\"], [\"\", \"\"]], \"allow_non_json\": true}",
        "{\"string_delims\": []}",
        "{\"string_delims\": \"\"}",
        "{\"string_delims\": {}}",
        "{\"string_delims\": null}",
        "{\"string_delims\": 0}",
        "{\"string_delims\": [\"''\"]}",
        "{\"string_delims\": [\"'\"]}",
        "{\"string_delims\": {\"''\": 1}}",
        "{\"string_delims\": [{\"'\": 1, \"`\": 2}]}",
        "{\"string_delims\": [[\"'\", 1]]}",
        "{\"string_delims\": [[\"'\"]]}",
        "{\"string_delims\": [[[1], \"'\"]]}",
        "{\"string_delims\": \"ab\"}",
        "{\"string_delims\": [[null, \"'\"]]}",
        "{\"string_delims\": true}",
        "{\"string_delims\": [[]]}",
    ];
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ", ",
        ":",
        ": ",
        "\"",
        "'",
        "`",
        "<|\"|>",
        "a",
        "key",
        "a_1",
        "é",
        "中",
        "1",
        "2",
        "0",
        "\n",
        "\"x\"",
        "'x'",
        "null",
        "true",
        "\\",
        "\\n",
        "\u{1}",
        "\u{2}",
        "{a:",
        "{a:1}",
        "{a:'b'}",
        "{key:<|\"|>v\"<|\"|>,b:1}",
        ",b:'x,y:z'",
        "²",
        "\u{301}",
        "-",
        "١",
    ];
    let mut cases = Vec::new();
    for args in args.iter().chain(ODD_ARGS) {
        for _ in 0..60 {
            cases.push(content_case(
                "json",
                &parsed(args),
                &random.text(&pieces, 7),
            ));
        }
        cases.push(content_case(
            "json",
            &parsed(args),
            "{name:'f',args:{x:'it\"s',y:[1,`b`]}}",
        ));
        cases.push(content_case(
            "json",
            &parsed(args),
            "{\"name\": \"f\", \"arguments\": {\"x\": 1}}",
        ));
        cases.push(content_case("json", &parsed(args), "  no json "));
    }
    for _ in 0..1500 {
        cases.push(content_case(
            "json",
            &parsed(random.pick(&args)),
            &json::to_string(&value(&mut random, 2)),
        ));
    }
    compare(cases);
}

/// Value parsers, whole and broken.
const VALUE_PARSERS: &[&str] = &[
    "null",
    "{}",
    "1",
    "\"json\"",
    "[]",
    "false",
    "{\"name\": \"json\"}",
    "{\"name\": \"nope\"}",
    "{\"name\": null}",
    "{\"name\": []}",
    "{\"name\": \"json\", \"args\": {\"allow_non_json\": true}}",
    "{\"name\": \"json\", \"args\": null}",
    "{\"args\": {\"strip\": false}}",
    "{\"name\": \"int\"}",
    "{\"name\": \"float\"}",
    "{\"name\": \"bool\"}",
    "{\"name\": \"bool\", \"args\": {\"strip\": false}}",
    "{\"name\": \"xml-inline\", \"args\": {\"tag_pattern\": \"(?P<key>[a-z]+)=(?P<value>[0-9]*)\"}}",
    "{\"name\": \"xml-inline\"}",
    "{\"name\": \"kv-lines\", \"args\": {\"line_sep\": \",\", \"kv_sep\": \"=\", \"value_parser\": {\"name\": \"int\"}}}",
    "{\"name\": \"json\", \"args\": {\"unquoted_keys\": true}}",
    "{\"name\": \"text\", \"args\": 5}",
];

#[test]
fn xml_inline_regions_are_parsed_as_by_the_reference() {
    let mut random = Random::new(6);
    let patterns = [
        r#""<(?P<key>\\w+)>(?P<value>.*?)</\\w+>""#,
        r#""<parameter=(?P<key>[^>]+)>\\n?(?P<value>.*?)\\n?</parameter>""#,
        r#""<(?P<key>a)|<b>(?P<value>x)?""#,
        r#""<(?P<key>\\w+)>""#,
        r#""(?P<value>.)""#,
        r#""<(?P<key>\\w+)>(?:(?P<value>\\d+)|-)""#,
        r#""(?P<key>)x*""#,
        "\"(\"",
        "\"\"",
        "null",
        "1",
        "[]",
    ];
    let pieces = [
        "<a>",
        "</a>",
        "<b>",
        "</b>",
        "x",
        "1",
        "12",
        " ",
        "\n",
        "-",
        "{\"a\": 1}",
        "[1]",
        "a=1",
        ",",
        "<parameter=city>",
        "</parameter>",
        "Paris",
        "é",
        "<é>",
        "true",
        "{a:1}",
    ];
    let mut cases = Vec::new();
    for _ in 0..3000 {
        let mut args = Map::new();
        if !random.once_in(20) {
            args.insert("tag_pattern".to_owned(), parsed(random.pick(&patterns)));
        }
        if random.once_in(2) {
            args.insert(
                "merge_duplicates".to_owned(),
                parsed(random.pick(&["true", "false", "1", "null"])),
            );
        }
        if random.once_in(2) {
            args.insert(
                "value_parser".to_owned(),
                parsed(random.pick(VALUE_PARSERS)),
            );
        }
        cases.push(content_case(
            "xml-inline",
            &args.into(),
            &random.text(&pieces, 8),
        ));
    }
    for args in ODD_ARGS {
        cases.push(content_case("xml-inline", &parsed(args), "<a>1</a>"));
    }
    compare(cases);
}

#[test]
fn kv_lines_regions_are_parsed_as_by_the_reference() {
    let mut random = Random::new(7);
    let line_seps = ["\"\\n\"", "\";\"", "\"\"", "null", "1", "\"::\"", "[]"];
    let kv_seps = ["\":\"", "\"=\"", "\"\"", "null", "3", "\"::\""];
    let pieces = [
        "a",
        "b",
        "city",
        ":",
        "::",
        "=",
        ";",
        "\n",
        " ",
        "1",
        "x",
        "\u{1c}",
        "\u{a0}",
        "é",
        "{\"a\": 1}",
        "true",
        "a: 1\n",
        "b=2;",
    ];
    let mut cases = Vec::new();
    for _ in 0..3000 {
        let mut args = Map::new();
        if random.once_in(2) {
            args.insert("line_sep".to_owned(), parsed(random.pick(&line_seps)));
        }
        if random.once_in(2) {
            args.insert("kv_sep".to_owned(), parsed(random.pick(&kv_seps)));
        }
        if random.once_in(3) {
            args.insert(
                "strip".to_owned(),
                parsed(random.pick(&["false", "true", "0"])),
            );
        }
        if random.once_in(2) {
            args.insert(
                "value_parser".to_owned(),
                parsed(random.pick(VALUE_PARSERS)),
            );
        }
        cases.push(content_case(
            "kv-lines",
            &args.into(),
            &random.text(&pieces, 8),
        ));
    }
    for args in ODD_ARGS {
        cases.push(content_case("kv-lines", &parsed(args), "a: 1"));
    }
    compare(cases);
}

/// A transform made of placeholders that are there, placeholders that are not, and plain values.
fn transform(random: &mut Random, depth: usize) -> Value {
    let strings = [
        "{content}",
        "{content.a}",
        "{content.a.b}",
        "{name}",
        "{id}",
        "{a}",
        "{b}",
        "{missing}",
        "plain",
        "",
        "{",
        "}",
        "{}",
        "{a b}",
        "{a.}",
        "{.a}",
        "{{a}}",
        "{é}",
        "{a-b}",
        "function",
        "{name",
        "content",
        "{a..b}",
        "{\n}",
        "{a²}",
    ];
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0..4 => Value::from(random.pick(&strings)),
        4 => value(random, 0),
        5 => Value::Array(
            (0..random.below(3))
                .map(|_| transform(random, depth - 1))
                .collect(),
        ),
        _ => {
            let keys = ["type", "function", "name", "{name}", "arguments"];
            Value::Object(
                (0..random.below(4))
                    .map(|_| (random.pick(&keys).to_owned(), transform(random, depth - 1)))
                    .collect(),
            )
        }
    }
}

#[test]
fn transforms_are_applied_as_by_the_reference() {
    let mut random = Random::new(8);
    let bodies = [
        "1",
        "\"x\"",
        "null",
        "{}",
        "[]",
        "{\"a\": 1}",
        "{\"a\": {\"b\": [1]}}",
        "[{\"a\": 1, \"b\": 2}, {\"a\": {\"b\": 3}}]",
        "[{}]",
        "[1]",
        "[{\"a\": 1}, 2]",
        "{\"name\": \"f\", \"a\": null}",
        "[{\"name\": \"own\", \"content\": 5, \"a\": {\"b\": 1}}]",
        "nope",
    ];
    let captures = [
        "{}",
        "{\"name\": \"f\"}",
        "{\"name\": \"f\", \"id\": \"1\"}",
        "{\"content\": \"hidden\", \"a\": \"x\"}",
    ];
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
        let content = Content::compile(name, &parsed("{}")).expect("a content parser");
        let scope = captures.as_object().expect("an object");
        let answer = content::process(body, &content, compiled.as_ref(), each, scope);
        cases.push(Case {
            answer: answer
                .map(|value| json::to_string(&value))
                .map_err(|error| failure(&error)),
            question: object([
                ("ask", "process".into()),
                ("name", name.into()),
                ("args", parsed("{}")),
                ("transform", template),
                ("each", each.into()),
                ("captures", captures),
                ("text", body.into()),
            ]),
        });
    }
    compare(cases);
}

/// A JSON schema of a parameter, odd ones included.
fn schema(random: &mut Random, depth: usize) -> Value {
    let types = [
        "\"integer\"",
        "\"number\"",
        "\"boolean\"",
        "\"null\"",
        "\"object\"",
        "\"array\"",
        "\"string\"",
        "\"odd\"",
        "[\"integer\", \"null\"]",
        "[\"string\", \"integer\"]",
        "[\"boolean\", 1, \"number\"]",
        "[]",
        "null",
        "5",
    ];
    if random.once_in(12) {
        return parsed(random.pick(&["null", "\"integer\"", "[]", "{}", "true"]));
    }
    let mut schema = Map::new();
    if !random.once_in(4) {
        schema.insert("type".to_owned(), parsed(random.pick(&types)));
    }
    if random.once_in(4) {
        schema.insert(
            "nullable".to_owned(),
            parsed(random.pick(&["true", "false", "1", "\"yes\""])),
        );
    }
    for union in ["anyOf", "oneOf"] {
        if depth > 0 && random.once_in(4) {
            let choices = if random.once_in(6) {
                parsed(random.pick(&["null", "{}", "{\"type\": \"integer\"}", "\"x\"", "false"]))
            } else {
                Value::Array(
                    (0..random.below(3))
                        .map(|_| self::schema(random, depth - 1))
                        .collect(),
                )
            };
            schema.insert(union.to_owned(), choices);
        }
    }
    schema.into()
}

fn argument(random: &mut Random) -> Value {
    let texts = [
        "1",
        " 1 ",
        "-3",
        "3.0",
        "3.5",
        "1e5",
        "1e400",
        "1e23",
        "12345678901234567890",
        "nan",
        "inf",
        "-Infinity",
        "1_000",
        "٣",
        "true",
        " True ",
        "FALSE",
        "0",
        "null",
        "None",
        " null",
        "NULL",
        "{}",
        "{\"a\": 1}",
        "[1, 2]",
        " [1]",
        "[1",
        "text",
        "",
        "1.",
        ".5",
        "1.0e2",
        "+4",
        "0x10",
        "\u{1c}5",
        "{\"a\": NaN}",
        "\"x\"",
    ];
    match random.below(8) {
        0..5 => Value::from(random.pick(&texts)),
        5 => Value::Array((0..random.below(4)).map(|_| argument(random)).collect()),
        6 => parsed(random.pick(&["1", "null", "{}", "{\"n\": \"1\"}", "2.5", "true"])),
        _ => Value::from(string(random)),
    }
}

#[test]
fn tool_arguments_are_coerced_as_by_the_reference() {
    let mut random = Random::new(9);
    let names = ["f", "g", "h"];
    let keys = ["n", "m", "k"];
    let mut cases = Vec::new();
    for _ in 0..4000 {
        let tools: Vec<Value> = (0..random.below(3))
            .map(|_| {
                if random.once_in(12) {
                    return parsed(random.pick(&[
                        "null",
                        "{}",
                        "{\"name\": 1}",
                        "{\"name\": \"f\"}",
                        "{\"function\": null, \"name\": \"f\"}",
                        "[]",
                    ]));
                }
                let properties = (0..random.below(4))
                    .map(|_| (random.pick(&keys).to_owned(), schema(&mut random, 2)))
                    .collect();
                let parameters = match random.below(12) {
                    0 => Value::Null,
                    1 => object([("properties", parsed("[]"))]),
                    _ => object([
                        ("type", "object".into()),
                        ("properties", Value::Object(properties)),
                    ]),
                };
                let function = object([
                    ("name", random.pick(&names).into()),
                    ("parameters", parameters),
                ]);
                if random.once_in(3) {
                    function
                } else {
                    object([("type", "function".into()), ("function", function)])
                }
            })
            .collect();
        let call = |random: &mut Random| {
            let arguments = match random.below(12) {
                0 => Value::from("text"),
                1 => Value::Null,
                _ => Value::Object(
                    (0..random.below(4))
                        .map(|_| (random.pick(&keys).to_owned(), argument(random)))
                        .collect(),
                ),
            };
            let function = object([
                ("name", random.pick(&names).into()),
                ("arguments", arguments),
            ]);
            object([("type", "function".into()), ("function", function)])
        };
        let value = match random.below(8) {
            0 => argument(&mut random),
            1 => parsed("{\"function\": {\"name\": 1, \"arguments\": {\"n\": \"1\"}}}"),
            2 => Value::Array(vec![
                call(&mut random),
                Value::Array(vec![call(&mut random), Value::Null]),
            ]),
            _ => call(&mut random),
        };
        let answer = ToolSchemas::from_tools(&tools).coerce(value.clone());
        cases.push(Case {
            answer: Ok(json::to_string(&answer)),
            question: object([
                ("ask", "coerce".into()),
                ("tools", tools.into()),
                ("value", value),
            ]),
        });
    }
    // Both sides must be able to fail here, too.
    cases.push(content_case("int", &parsed("{}"), "x"));
    compare(cases);
}

#[test]
fn hostile_depth_ends_in_an_error_that_names_the_limit() {
    let deep = "[".repeat(1_000_000);
    let content =
        Content::compile("json", &parsed("{\"allow_non_json\": true}")).expect("a content parser");
    let error = content.parse(&deep).expect_err("too deep");
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
    assert!(value == value.clone());
    assert_eq!(
        format!("{value:?}").matches("Array").count(),
        json::MAX_DEPTH
    );
}
