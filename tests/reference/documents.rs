//! Response templates accepted, rejected and understood as by the reference.

use crate::support::comparison::{lines, object, parsed};
use crate::support::random::Random;
use crate::support::reference;
use obverse::pattern::Pattern;
use obverse::response_template::{Field, ResponseTemplate};
use obverse::value::json::{self, Format};
use obverse::value::{Map, Value};

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
    let delimiter = |pattern: &Option<Pattern>| match pattern {
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
const ODD: &str = r#"
    null
    true
    false
    0
    1
    1.0
    2
    ""
    "x"
    "text"
    []
    {}
    ["a"]
    [1]
    {"a": 1}
    "{content}"
"#;

const DELIMITERS: &str = r#"
    "<a>"
    "</a>"
    "\n"
    "🦀"
    ["<a>", "<b>"]
    ["<a>", "<a>", "<a>b"]
"#;

const BROKEN_DELIMITERS: &str = r#"
    ""
    []
    [""]
    ["a", 1]
    ["a", ""]
    [null]
    [["a"]]
"#;

const PATTERNS: &str = r#"
    ""
    "<a>\\s*"
    "<a>|<b>"
    "a{2}"
    "(?:x)"
    "(x)"
"#;

/// Patterns that are wrong, and those that are wrong without a transform.
const BROKEN_PATTERNS: &str = r#"
    "("
    "["
    "*"
    "a)"
    "(?P<a>x"
    "<(?P<name>\\w+)>"
    "(?<id>x)(?P<name>y)"
"#;

const TRANSFORMS: &str = r#"
    null
    "{content}"
    {"type": "function", "function": "{content}"}
    {"name": "{name}", "arguments": "{content.args}"}
    "{}"
    5
    {}
    []
    ""
    false
    {"{x} y": 1}
    "{a.b.c}"
"#;

const BROKEN_TRANSFORMS: &str = r#"
    "x {content}"
    ["{a}", {"b": ["{a} "]}]
    "{a.}x"
    "{{a}}"
    "{a.b}{c}"
"#;

/// Adds a member once in so many times: mostly one of the values, now and then one that breaks the document.
fn put(
    random: &mut Random,
    members: &mut Map,
    key: &str,
    once_in: usize,
    values: &str,
    broken: &str,
) {
    if random.once_in(once_in) {
        let from = match random.below(24) {
            0 => lines(ODD),
            1 | 2 if !broken.is_empty() => lines(broken),
            _ => lines(values),
        };
        members.insert(key.to_owned(), parsed(random.pick(&from)));
    }
}

fn field(random: &mut Random) -> Value {
    if random.once_in(60) {
        return parsed(random.pick(&lines(ODD)));
    }
    let mut members = Map::new();
    let contents = "\"text\"\n\"json\"\n\"int\"\n\"float\"\n\"bool\"\n\"kv-lines\"\n\"xml-inline\"";
    let args = "{}\n{\"strip\": false}\n{\"tag_pattern\": \"(\"}\n{\"string_delims\": 5}\n{\"unknown\": 1}";
    if random.once_in(4) {
        put(
            random,
            &mut members,
            "open_pattern",
            1,
            PATTERNS,
            BROKEN_PATTERNS,
        );
    } else {
        put(
            random,
            &mut members,
            "open",
            1,
            DELIMITERS,
            BROKEN_DELIMITERS,
        );
    }
    if random.once_in(12) {
        members.truncate(0);
    }
    put(
        random,
        &mut members,
        "close",
        2,
        DELIMITERS,
        BROKEN_DELIMITERS,
    );
    put(
        random,
        &mut members,
        "close_pattern",
        10,
        PATTERNS,
        BROKEN_PATTERNS,
    );
    put(random, &mut members, "content", 3, contents, "\"Json\"");
    put(random, &mut members, "content_args", 4, args, "");
    put(
        random,
        &mut members,
        "repeats",
        2,
        "true\n1\n\"yes\"\ntrue",
        "false",
    );
    put(random, &mut members, "join", 10, "\"\\n\"\n\"\"\nnull", "");
    put(random, &mut members, "optional", 6, "true\nfalse\n0", "");
    put(
        random,
        &mut members,
        "transform",
        2,
        TRANSFORMS,
        BROKEN_TRANSFORMS,
    );
    put(random, &mut members, "transform_each", 8, "true\nfalse", "");
    put(random, &mut members, "opne", 80, ODD, "");
    members.into()
}

fn document(random: &mut Random) -> Value {
    let mut members = Map::new();
    put(
        random,
        &mut members,
        "version",
        6,
        "1\n1.0\ntrue",
        "2\n\"1\"\nnull\n1.5\nfalse",
    );
    put(
        random,
        &mut members,
        "defaults",
        2,
        "{}\n{\"role\": \"assistant\"}\n{\"content\": []}",
        "",
    );
    if random.once_in(4) {
        put(
            random,
            &mut members,
            "start_anchor_pattern",
            1,
            PATTERNS,
            BROKEN_PATTERNS,
        );
    } else if !random.once_in(40) {
        put(
            random,
            &mut members,
            "start_anchor",
            1,
            DELIMITERS,
            BROKEN_DELIMITERS,
        );
    }
    put(
        random,
        &mut members,
        "start_anchor_pattern",
        60,
        PATTERNS,
        "",
    );
    put(random, &mut members, "unknown", 60, ODD, "");
    if random.once_in(40) {
        put(random, &mut members, "fields", 2, ODD, "");
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
const SOUND: &str = r#"{"version": 1, "defaults": {"role": "assistant"}, "start_anchor": "<s>", "fields": {
    "tool_calls": {"open": ["<t>", "<tt>"], "close_pattern": "</t>|$", "repeats": true, "content": "json",
        "content_args": {}, "transform": {"function": "{content}"}, "optional": true},
    "thinking": {"open_pattern": "<think>", "close": "</think>", "repeats": true, "join": "\n"},
    "content": {"close": "<e>"}}}"#;

const KEYS: [&str; 6] = [
    "version",
    "defaults",
    "start_anchor",
    "start_anchor_pattern",
    "fields",
    "other",
];

#[rustfmt::skip]
const FIELD_KEYS: [&str; 12] = [
    "open", "open_pattern", "close", "close_pattern", "content", "content_args", "repeats", "join", "optional",
    "transform", "transform_each", "other",
];

/// The sound document with each of its values and each further key replaced by each value, and without each key.
fn sound_but_for_one() -> Vec<Value> {
    let sound = parsed(SOUND).as_object().cloned().expect("an object");
    let mut documents = vec![parsed(SOUND)];
    let all = [
        ODD,
        DELIMITERS,
        BROKEN_DELIMITERS,
        PATTERNS,
        BROKEN_PATTERNS,
        TRANSFORMS,
        BROKEN_TRANSFORMS,
    ]
    .concat();
    for value in lines(&all).into_iter().map(parsed) {
        documents.push(value.clone());
        for key in KEYS {
            let mut document = sound.clone();
            document.insert(key.to_owned(), value.clone());
            documents.push(document.into());
        }
        for (name, key) in ["tool_calls", "thinking", "content"]
            .iter()
            .flat_map(|name| FIELD_KEYS.map(|key| (name, key)))
        {
            let mut document = sound.clone();
            if let Some(Value::Object(fields)) = document.get_mut("fields")
                && let Some(Value::Object(field)) = fields.get_mut(name)
            {
                field.insert(key.to_owned(), value.clone());
            }
            documents.push(document.into());
        }
    }
    for key in KEYS {
        let mut document = sound.clone();
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
