//! Response templates accepted, rejected and understood as by the reference; configs written as Python reads them.

mod support;

use std::ops::Range;

use obverse::response_template::{Field, ResponseTemplate, config};
use obverse::value::json::{self, Format, Spans};
use obverse::value::{Map, Path, Value};
use support::random::Random;
use support::reference;

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

fn ask(questions: &[Value]) -> Option<Vec<Value>> {
    let ascii = Format {
        ensure_ascii: true,
        ..Format::compact()
    };
    let lines: Vec<String> = questions
        .iter()
        .map(|question| ascii.write(question))
        .collect();
    reference::ask("documents.py", &lines)
        .map(|answers| answers.iter().map(|answer| parsed(answer)).collect())
}

/// What the reference tells of a template that it loaded.
fn summary(template: &ResponseTemplate) -> Value {
    let strings =
        |texts: &[String]| Value::Array(texts.iter().map(|text| text.as_str().into()).collect());
    let delimiter = |pattern: &Option<obverse::pattern::Pattern>| match pattern {
        None => Value::Bool(false),
        Some(pattern) => pattern.as_literals().map_or(Value::Bool(true), strings),
    };
    let field = |field: &Field| {
        object([
            ("name", field.name.as_str().into()),
            ("open", delimiter(&field.open)),
            ("close", delimiter(&field.close)),
            ("content", field.content.name().into()),
            ("repeats", field.repeats.into()),
            (
                "join",
                field.join.as_deref().map_or(Value::Null, Value::from),
            ),
            ("optional", field.optional.into()),
            ("transform", field.transform.is_some().into()),
            ("transform_each", field.transform_each.into()),
        ])
    };
    let implicit = template
        .implicit()
        .map(|index| template.fields()[index].name.as_str());
    object([
        ("defaults", template.defaults().clone().into()),
        ("implicit", implicit.map_or(Value::Null, Value::from)),
        (
            "anchor",
            template.anchor().as_literals().map_or(Value::Null, strings),
        ),
        (
            "fields",
            Value::Array(template.fields().iter().map(field).collect()),
        ),
    ])
}

/// Values that are right somewhere and wrong elsewhere.
const ODD: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "1",
    "1.0",
    "2",
    "\"\"",
    "\"x\"",
    "\"text\"",
    "[]",
    "{}",
    "[\"a\"]",
    "[1]",
    "{\"a\": 1}",
    "\"{content}\"",
];

const DELIMITERS: &[&str] = &[
    "\"<a>\"",
    "\"</a>\"",
    "[\"<a>\", \"<b>\"]",
    "[\"<a>\", \"<a>\", \"<a>b\"]",
    "[]",
    "[\"\"]",
    "[\"a\", 1]",
    "[\"a\", \"\"]",
    "\"\"",
    "\"\\n\"",
    "\"🦀\"",
    "[null]",
    "[[\"a\"]]",
];

const PATTERNS: &[&str] = &[
    "\"<a>\\\\s*\"",
    "\"<(?P<name>\\\\w+)>\"",
    "\"(\"",
    "\"\"",
    "\"<a>|<b>\"",
    "\"(?<id>x)(?P<name>y)\"",
    "\"[\"",
    "\"*\"",
    "\"a{2}\"",
    "\"(?:x)\"",
    "\"(x)\"",
    "\"a)\"",
    "\"(?P<a>x\"",
];

const TRANSFORMS: &[&str] = &[
    "null",
    "\"{content}\"",
    "{\"type\": \"function\", \"function\": \"{content}\"}",
    "{\"name\": \"{name}\", \"arguments\": \"{content.args}\"}",
    "\"x {content}\"",
    "[\"{a}\", {\"b\": [\"{a} \"]}]",
    "\"{}\"",
    "5",
    "{}",
    "[]",
    "\"\"",
    "false",
    "{\"{x} y\": 1}",
    "\"{a.b.c}\"",
    "\"{a.}x\"",
    "\"{{a}}\"",
];

fn put(random: &mut Random, members: &mut Map, key: &str, once_in: usize, values: &[&str]) {
    if random.once_in(once_in) {
        let from = if random.once_in(12) { ODD } else { values };
        members.insert(key.to_owned(), parsed(random.pick(from)));
    }
}

fn field(random: &mut Random) -> Value {
    if random.once_in(40) {
        return parsed(random.pick(ODD));
    }
    let mut members = Map::new();
    let contents = [
        "\"text\"",
        "\"json\"",
        "\"int\"",
        "\"float\"",
        "\"bool\"",
        "\"kv-lines\"",
        "\"xml-inline\"",
        "\"xml-inline\"",
        "\"Json\"",
    ];
    let args = [
        "{}",
        "{\"strip\": false}",
        "{\"tag_pattern\": \"(\"}",
        "{\"string_delims\": 5}",
        "{\"unknown\": 1}",
    ];
    if random.once_in(4) {
        put(random, &mut members, "open_pattern", 1, PATTERNS);
    } else {
        put(random, &mut members, "open", 1, DELIMITERS);
    }
    if random.once_in(12) {
        members.clear();
    }
    put(random, &mut members, "close", 2, DELIMITERS);
    put(random, &mut members, "close_pattern", 8, PATTERNS);
    put(random, &mut members, "content", 3, &contents);
    put(random, &mut members, "content_args", 4, &args);
    put(
        random,
        &mut members,
        "repeats",
        3,
        &["true", "true", "1", "\"yes\"", "false"],
    );
    put(
        random,
        &mut members,
        "join",
        10,
        &["\"\\n\"", "\"\"", "null"],
    );
    put(random, &mut members, "optional", 6, &["true", "false", "0"]);
    put(random, &mut members, "transform", 2, TRANSFORMS);
    put(
        random,
        &mut members,
        "transform_each",
        8,
        &["true", "false"],
    );
    put(random, &mut members, "opne", 60, ODD);
    members.into()
}

fn document(random: &mut Random) -> Value {
    let mut members = Map::new();
    put(
        random,
        &mut members,
        "version",
        6,
        &["1", "1.0", "true", "2", "\"1\"", "null", "1.5", "false"],
    );
    put(
        random,
        &mut members,
        "defaults",
        2,
        &["{}", "{\"role\": \"assistant\"}", "{\"content\": []}"],
    );
    if random.once_in(4) {
        put(random, &mut members, "start_anchor_pattern", 1, PATTERNS);
    } else if !random.once_in(30) {
        put(random, &mut members, "start_anchor", 1, DELIMITERS);
    }
    put(random, &mut members, "start_anchor_pattern", 40, PATTERNS);
    put(random, &mut members, "unknown", 40, ODD);
    if random.once_in(30) {
        put(random, &mut members, "fields", 2, ODD);
    } else {
        let names = ["content", "thinking", "tool_calls", "role", "", "a.b", "é"];
        let fields = (0..1 + random.below(3))
            .map(|_| (random.pick(&names).to_owned(), field(random)))
            .collect();
        members.insert("fields".to_owned(), Value::Object(fields));
    }
    members.into()
}

/// A document that loads, so that one change at a time decides.
fn sound() -> Map {
    let document = r#"{"version": 1, "defaults": {"role": "assistant"}, "start_anchor": "<s>", "fields": {
        "tool_calls": {"open": ["<t>", "<tt>"], "close_pattern": "</t>|$", "repeats": true, "content": "json", "content_args": {},
            "transform": {"function": "{content}"}, "optional": true},
        "thinking": {"open_pattern": "<think>", "close": "</think>", "repeats": true, "join": "\n"},
        "content": {"close": "<e>"}}}"#;
    parsed(document).as_object().cloned().expect("an object")
}

/// The sound document with each of its values and each further key replaced by each odd value.
fn sound_but_for_one() -> Vec<Value> {
    let odd = || {
        ODD.iter()
            .chain(DELIMITERS)
            .chain(PATTERNS)
            .chain(TRANSFORMS)
            .map(|text| parsed(text))
    };
    let mut documents = Vec::new();
    let top = [
        "version",
        "defaults",
        "start_anchor",
        "start_anchor_pattern",
        "fields",
        "other",
    ];
    let inner = [
        "open",
        "open_pattern",
        "close",
        "close_pattern",
        "content",
        "content_args",
        "repeats",
        "join",
        "optional",
        "transform",
        "transform_each",
        "other",
    ];
    for value in odd() {
        documents.push(value.clone());
        for key in top {
            let mut document = sound();
            document.insert(key.to_owned(), value.clone());
            documents.push(document.into());
        }
        for name in ["tool_calls", "thinking", "content"] {
            for key in inner {
                let mut document = sound();
                if let Some(Value::Object(fields)) = document.get_mut("fields")
                    && let Some(Value::Object(field)) = fields.get_mut(name)
                {
                    field.insert(key.to_owned(), value.clone());
                }
                documents.push(document.into());
            }
        }
    }
    for key in top {
        let mut document = sound();
        document.shift_remove(key);
        documents.push(document.into());
    }
    documents
}

#[test]
fn documents_load_where_they_load_in_the_reference_and_mean_the_same() {
    let mut random = Random::new(10);
    let mut documents = sound_but_for_one();
    documents.extend((0..5000).map(|_| document(&mut random)));
    let questions: Vec<Value> = documents
        .iter()
        .map(|document| object([("ask", "load".into()), ("document", document.clone())]))
        .collect();
    let Some(answers) = ask(&questions) else {
        return;
    };
    let (mut accepted, mut wrong) = (0, Vec::new());
    for (document, answer) in documents.iter().zip(&answers) {
        let ours = ResponseTemplate::from_value(document);
        let from_text = ResponseTemplate::from_json(&json::to_string(document));
        assert_eq!(
            ours.is_ok(),
            from_text.is_ok(),
            "a document and its text are one"
        );
        if let Err(invalid) = &from_text {
            assert!(!invalid.diagnostics().is_empty());
            for diagnostic in invalid.diagnostics() {
                let place = &diagnostic.place;
                assert!(
                    place.path.is_some() && place.span.is_some(),
                    "{diagnostic} has a place"
                );
            }
        }
        accepted += usize::from(ours.is_ok());
        let agrees = match (&ours, answer.get("value")) {
            (Ok(template), Some(theirs)) => summary(template) == *theirs,
            (ours, theirs) => ours.is_err() && theirs.is_none(),
        };
        if !agrees {
            let ours = ours.map_or_else(
                |invalid| invalid.to_string(),
                |template| json::to_string(&summary(&template)),
            );
            wrong.push(format!(
                "{}\n  reference {}\n  obverse   {ours}",
                json::to_string(document),
                json::to_string(answer)
            ));
        }
    }
    eprintln!("{} documents, {accepted} accepted", documents.len());
    assert!(
        accepted > documents.len() / 10 && accepted < documents.len() * 9 / 10,
        "both kinds occur"
    );
    let count = wrong.len();
    wrong.truncate(8);
    assert!(
        count == 0,
        "{count} of {} differ, among them\n{}",
        documents.len(),
        wrong.join("\n")
    );
}

#[test]
fn prefixes_are_cut_where_the_reference_cuts_them() {
    let mut random = Random::new(11);
    let anchors = [
        r#"{"start_anchor": "<a>"}"#,
        r#"{"start_anchor": ["<a>", "<a>b"]}"#,
        r#"{"start_anchor_pattern": "<a>\\s*"}"#,
        r#"{"start_anchor_pattern": "<[ab]>(?:b|$)"}"#,
        r#"{"start_anchor": ["aa"]}"#,
        r#"{"start_anchor": "é"}"#,
    ];
    let pieces = ["<a>", "<b>", "b", "a", " ", "\n", "é", "🦀", "<", ">"];
    let mut questions = Vec::new();
    let mut cut = Vec::new();
    for _ in 0..1000 {
        let mut document = parsed(random.pick(&anchors));
        let prefix = random.text(&pieces, 8);
        if let Value::Object(members) = &mut document {
            members.insert("fields".to_owned(), parsed(r#"{"content": {}}"#));
        }
        let template = ResponseTemplate::from_value(&document).expect("a sound document");
        cut.push(
            template
                .after_last_anchor(&prefix)
                .expect("no limit is near")
                .to_owned(),
        );
        questions.push(object([
            ("ask", "truncate".into()),
            ("document", document),
            ("prefix", prefix.into()),
        ]));
    }
    let Some(answers) = ask(&questions) else {
        return;
    };
    for ((question, cut), answer) in questions.iter().zip(&cut).zip(&answers) {
        assert_eq!(
            answer.get("value").and_then(Value::as_str),
            Some(cut.as_str()),
            "{}",
            json::to_string(question)
        );
    }
}

/// A config as some tool might have written it: any indentation, line ends, spelling of numbers, escapes.
fn config_text(random: &mut Random) -> String {
    let values = [
        "1",
        "1E-5",
        "1.50",
        "-0",
        "1e400",
        "123456789012345678901234567890",
        "true",
        "null",
        "\"x\"",
        "\"\\u00e9\"",
        "\"é\"",
        "\"a\\/b\"",
        "{}",
        "[ ]",
        "{ \"a\" : [1,\n 2] }",
        "\"\\\"}\"",
        "NaN",
        "[{\"response_template\": 5}]",
    ];
    let newline = random.pick(&["\n", "\r\n"]);
    let (open, comma, close) = match random.below(5) {
        0 => (String::new(), ",".to_owned(), String::new()),
        1 => (String::new(), ", ".to_owned(), String::new()),
        2 => (" ".to_owned(), " , ".to_owned(), " ".to_owned()),
        _ => {
            let gap = format!("{newline}{}", random.pick(&["  ", "    ", "\t", "", " "]));
            (gap.clone(), format!(",{gap}"), newline.to_owned())
        }
    };
    let colon = random.pick(&[": ", ":", " : "]);
    let mut members: Vec<String> = (0..random.below(4))
        .map(|index| format!("\"k{index}\"{colon}{}", random.pick(&values)))
        .collect();
    for _ in 0..random.below(3) {
        let key = random.pick(&[
            "\"response_template\"",
            "\"response\\u005ftemplate\"",
            "\"chat_template\"",
        ]);
        members.insert(
            random.below(members.len() + 1),
            format!("{key}{colon}{}", random.pick(&values)),
        );
    }
    let end = random.pick(&["", newline, " "]);
    let mark = if random.once_in(6) { "\u{feff}" } else { "" };
    if members.is_empty() {
        return format!("{mark}{{{close}}}{end}");
    }
    format!("{mark}{{{open}{}{close}}}{end}", members.join(&comma))
}

#[test]
fn configs_keep_every_byte_outside_the_template() {
    let mut random = Random::new(12);
    let (mut questions, mut expected) = (Vec::new(), Vec::new());
    for _ in 0..3000 {
        let text = config_text(&mut random);
        let template = document(&mut random);
        let written =
            config::write(&text, &template).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let body = text.trim_start_matches('\u{feff}');
        let mark = text.len() - body.len();
        let (before, places) = json::parse_with_places(body).expect("a config");
        let removed = changed(&text, &written);
        match places.get(&Path::default().key(config::KEY)) {
            None => assert!(removed.is_empty(), "{removed:?} of {text:?} changed"),
            Some(Spans { value, .. }) => {
                let inside = removed.start >= value.start + mark && removed.end <= value.end + mark;
                assert!(inside, "{removed:?} of {text:?} changed");
            }
        }
        let after = parsed(written.trim_start_matches('\u{feff}'));
        let others = |config: &Value| {
            let members = config
                .as_object()
                .expect("an object")
                .iter()
                .filter(|(key, _)| *key != config::KEY);
            members
                .map(|(key, value)| (key.clone(), json::to_string(value)))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            others(&before),
            others(&after),
            "{text:?} became {written:?}"
        );
        let bare = |text: &str| text.matches('\n').count() - text.matches("\r\n").count();
        if before != parsed("{}") && !text.contains('\n') {
            assert!(!written.contains('\n'), "{text:?} became {written:?}");
        } else if text.contains("\r\n") {
            assert!(bare(&written) <= bare(&text), "{text:?} became {written:?}");
        }
        assert_eq!(
            config::write(&written, &template).expect("a config"),
            written,
            "writing again changes nothing"
        );
        questions.push(object([("ask", "member".into()), ("text", written.into())]));
        expected.push(json::to_string(&template));
    }
    let Some(answers) = ask(&questions) else {
        return;
    };
    for ((question, expected), answer) in questions.iter().zip(&expected).zip(&answers) {
        assert_eq!(
            answer.get("value").and_then(Value::as_str),
            Some(expected.as_str()),
            "{}",
            json::to_string(question)
        );
    }
}

/// The bytes of `before` that are not also there at the start or at the end of `after`.
fn changed(before: &str, after: &str) -> Range<usize> {
    let start = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let longest = before.len().min(after.len()) - start;
    let end = before
        .bytes()
        .rev()
        .zip(after.bytes().rev())
        .take(longest)
        .take_while(|(a, b)| a == b)
        .count();
    start..before.len() - end
}
