//! Response templates stored in a `tokenizer_config.json`: what Python reads there, and what stays as it was.

use std::ops::Range;

use crate::support::comparison::{object, parsed};
use crate::support::random::Random;
use crate::support::reference;
use crate::support::values::value;
use obverse::response_template::config;
use obverse::value::json::{self, Format, MemberSpans};
use obverse::value::{Map, Path, Value};

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
    let ascii = Format {
        ensure_ascii: true,
        ..Format::compact()
    };
    for _ in 0..3000 {
        let text = config_text(&mut random);
        let template = value(&mut random, 3);
        let written =
            config::write(&text, &template).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let body = text.trim_start_matches('\u{feff}');
        let mark = text.len() - body.len();
        let (before, places) = json::parse_with_places(body).expect("a config");
        let removed = changed(&text, &written);
        match places.get(&Path::default().key(config::KEY)) {
            None => assert!(removed.is_empty(), "{removed:?} of {text:?} changed"),
            Some(MemberSpans { value, .. }) => {
                let inside = written == text
                    || removed.start >= value.start + mark && removed.end <= value.end + mark;
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
        questions.push(ascii.write(&object([
            ("ask", "member".into()),
            ("text", written.into()),
        ])));
        expected.push(json::to_string(&template));
    }
    let Some(answers) = reference::ask("documents.py", &questions) else {
        return;
    };
    for ((question, expected), answer) in questions.iter().zip(&expected).zip(&answers) {
        let answer = parsed(answer);
        let read = answer.get("value").and_then(Value::as_str);
        assert_eq!(read, Some(expected.as_str()), "{question}");
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

#[test]
fn a_config_as_transformers_writes_it_stays_one() {
    let mut random = Random::new(13);
    for _ in 0..500 {
        let config: Map = (0..1 + random.below(5))
            .map(|index| (format!("k{index}"), value(&mut random, 2)))
            .collect();
        let template = value(&mut random, 3);
        let format = Format::indented(random.below(5));
        let write = |config: &Map| format!("{}\n", format.write(&Value::Object(config.clone())));
        let mut expected = config.clone();
        expected.insert(config::KEY.to_owned(), template.clone());
        assert_eq!(
            config::write(&write(&config), &template).as_deref(),
            Ok(write(&expected).as_str())
        );
        // Again in the middle, over another value.
        let mut before = expected.clone();
        before.insert(config::KEY.to_owned(), 5.into());
        before.insert("last".to_owned(), 1.into());
        expected.insert("last".to_owned(), 1.into());
        assert_eq!(
            config::write(&write(&before), &template).as_deref(),
            Ok(write(&expected).as_str())
        );
    }
}
