//! Values read and written as Python reads and writes them.

use crate::support::comparison::{Case, Failure, compare, object, parsed};
use crate::support::random::Random;
use crate::support::values::value;
use obverse::value::json::{self, Format};
use obverse::value::{Map, Value, python};

/// Pieces that JSON texts and near misses are made of.
#[rustfmt::skip]
const JSON_PIECES: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"b\": ", "\"é\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"", "\"\\ude00\"", "\\u12", "\\ud83d", "0", "-", "1", "12", ".5", "1.0", "e", "E+5", "1e400", "-0",
    "-0.0", "123456789012345678901234567890", "1e16", "1e-7", "0.1", "null", "true", "false", "NaN", "Infinity",
    "-Infinity", "nul", " ", "\n", "\t", "\r", "\u{b}", "\u{a0}", "\u{1}", "\u{7f}", "\u{feff}", "x", "🦀", "{\"a\": ",
    "[1, ", "{\"a\": 1}", "[1, 2]", "\u{1f}",
];

/// Texts that end or go wrong at one place each.
#[rustfmt::skip]
const JSON_TEXTS: &[&str] = &[
    "", " ", "{\"a\"", "{\"a\":1,}", "[1,]", "\"a", "01", "1.", "1.e5", "{1:2}", "\"\\", "\"\\u", "\"\\u1234",
    "\"\\ud83d\\u\"", "\"\\ud83d\\u12\"x", "{\"a\":1,\"b\":2,\"a\":3}", "[1 2]", "{\"a\" 1}", "-Infinit", "+1", ".5",
    "1_0", "٣", "\"\u{7f}\"", " \u{a0}1", "[[[[[[]]]]]]", "{\"a\":{\"a\":{\"a\":[]}}}", "\"\\ud83d\\ud83d\\ude00\"",
];

#[test]
fn json_is_read_as_python_reads_it() {
    let mut random = Random::new(1);
    let mut texts: Vec<String> = JSON_PIECES
        .iter()
        .chain(JSON_TEXTS)
        .map(|text| (*text).to_owned())
        .collect();
    texts.extend((0..3000).map(|_| random.text(JSON_PIECES, 6)));
    texts.extend((0..1500).map(|_| {
        let mut text = json::to_string(&value(&mut random, 3));
        let somewhere = random.below(text.len() + 1);
        let at = (0..=somewhere)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        text.insert_str(
            at,
            if random.once_in(3) {
                ""
            } else {
                random.pick(JSON_PIECES)
            },
        );
        text
    }));
    let case = |text: String| Case {
        answer: match json::parse(&text) {
            Ok(value) => Ok(json::to_string(&value)),
            Err(error) => Err(Failure {
                at: Some(error.offset()),
                ..Failure::new(error.to_string())
            }),
        },
        question: object([("ask", "json".into()), ("text", text.into())]),
    };
    compare(
        "values.py",
        &texts.into_iter().map(case).collect::<Vec<_>>(),
    );
}

#[test]
fn values_are_written_as_python_writes_them() {
    let mut random = Random::new(2);
    let mut cases = Vec::new();
    for _ in 0..1200 {
        let value = value(&mut random, 3);
        let text = json::to_string(&value);
        let (ensure_ascii, sort_keys) = (random.once_in(2), random.once_in(2));
        let mut options = Map::new();
        options.insert("ensure_ascii".to_owned(), ensure_ascii.into());
        options.insert("sort_keys".to_owned(), sort_keys.into());
        let format = match random.below(4) {
            0 => {
                options.insert("indent".to_owned(), 2.into());
                Format::indented(2)
            }
            1 => {
                options.insert("indent".to_owned(), "\t".into());
                Format {
                    indent: Some("\t".to_owned()),
                    ..Format::indented(0)
                }
            }
            2 => {
                options.insert("separators".to_owned(), parsed(r#"[",", ":"]"#));
                Format::compact()
            }
            _ => Format::default(),
        };
        let format = Format {
            ensure_ascii,
            sort_keys,
            ..format
        };
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
    let question = object([("ask", "repr".into()), ("text", "[".into())]);
    cases.push(Case {
        question,
        answer: Err(Failure::new("not JSON")),
    });
    compare("values.py", &cases);
}

/// Pieces that numbers, near misses and the space around them are made of.
#[rustfmt::skip]
const NUMBER_PIECES: &[&str] = &[
    "0", "1", "12", "_", "__", "+", "-", ".", "e", "E5", "e-400", "inf", "INF", "Infinity", "nan", "٣", "߀", "᠐", "𝟗",
    "²", "Ⅷ", " ", "\n", "\u{1c}", "\u{1f}", "\u{85}", "\u{a0}", "\u{2003}", "\u{3000}", "\u{200b}", "\u{7f}", "\0", "x",
    "0x1", "1e5", "1.5", "\u{feff}", "\u{180e}",
];

#[test]
fn numbers_are_read_and_text_is_stripped_as_in_python() {
    let mut random = Random::new(3);
    let mut cases = Vec::new();
    for _ in 0..4000 {
        let text = random.text(NUMBER_PIECES, 4);
        let mut ask = |what: &str, answer: Option<Value>| {
            let question = object([("ask", what.into()), ("text", text.as_str().into())]);
            let answer = answer
                .map(|value| json::to_string(&value))
                .ok_or_else(|| Failure::new("no number"));
            cases.push(Case { question, answer });
        };
        ask("int", python::int(&text).map(Value::Int));
        ask("float", python::float(&text).map(Value::Float));
        ask("strip", Some(python::strip(&text).into()));
    }
    compare("values.py", &cases);
}

#[test]
fn every_space_and_digit_is_pythons() {
    let mut cases = Vec::new();
    for c in (0..=0x3_ffff).filter_map(char::from_u32) {
        let interesting = python::is_space(c)
            || python::int(&c.to_string()).is_some()
            || c.is_numeric()
            || c < '\u{3100}';
        if !interesting {
            continue;
        }
        let text = format!("1{c}");
        let mut ask = |what: &str, answer: Option<Value>| {
            let question = object([("ask", what.into()), ("text", text.as_str().into())]);
            let answer = answer
                .map(|value| json::to_string(&value))
                .ok_or_else(|| Failure::new("no number"));
            cases.push(Case { question, answer });
        };
        ask("int", python::int(&text).map(Value::Int));
        ask("strip", Some(python::strip(&text).into()));
    }
    compare("values.py", &cases);
}
