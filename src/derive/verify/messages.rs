//! The messages that a derived template must bring back from their own render.

use super::super::probe::{Assistant, Call, call, call_with};
use crate::value::{Integer, Map, Value};

/// Texts as models write them. Each begins and ends with a word by which it can be found in a render.
const TEXTS: [&str; 6] = [
    "Zephyr wold",
    "Zephyr first line\nsecond line\n\n- a list\n- of two wold",
    "Zephyr \"quoted\" 'single' back\\slash {\"json\": [1, 2]} wold",
    "Zephyr if a < b && c > d: `<p class=\"x\">markup</p>` wold",
    "Zephyr \u{fc}n\u{ef}c\u{f6}d\u{e9} \u{4f60}\u{597d} \u{1f600} wold",
    "Zephyr\n\n```python\nprint({1: [2]})\n```\n\nwold",
];

const REASONINGS: [&str; 3] = [
    "Brindle oxbow",
    "Brindle step one.\n\nStep \"two\": a < b, {x} oxbow",
    "Brindle \u{e9}t\u{e9} \u{6771}\u{4eac} oxbow",
];

/// The messages that are tried.
pub(super) struct Messages {
    /// A message of each kind: with and without each part, and with one call or more.
    pub(super) kinds: Vec<Assistant>,
    /// The others, simple ones first.
    pub(super) others: Vec<Assistant>,
}

impl Messages {
    /// Those that a format can have, with calls and reasoning or without.
    pub(super) fn new(calls: bool, reasoning: bool, thorough: bool) -> Self {
        let kinds = of_each_kind(calls, reasoning);
        let mut others = all(calls, reasoning, thorough);
        others.retain(|message| !kinds.contains(message));
        Self { kinds, others }
    }
}

fn all(calls: bool, reasoning: bool, thorough: bool) -> Vec<Assistant> {
    let mut messages: Vec<Assistant> = TEXTS.iter().map(|text| Assistant::saying(text)).collect();
    let thoughts: Vec<Option<&str>> = if reasoning {
        std::iter::once(None).chain(REASONINGS.map(Some)).collect()
    } else {
        vec![None]
    };
    for thought in thoughts.iter().flatten() {
        messages.extend(
            [TEXTS[0], TEXTS[1], TEXTS[2]]
                .iter()
                .map(|text| Assistant::saying(text).thinking(thought)),
        );
    }
    if thorough {
        for thought in thoughts.iter().flatten() {
            messages.extend(
                TEXTS
                    .iter()
                    .map(|text| Assistant::saying(text).thinking(thought)),
            );
        }
    }
    if !calls {
        return messages;
    }
    if thorough {
        for value in argument_values() {
            for (content, thought) in TEXTS.iter().zip(thoughts.iter().cycle()) {
                let mut message = Assistant::calling([calling_with(value.clone()), call(1)])
                    .with_content(content);
                message.reasoning = thought.map(str::to_owned);
                messages.push(message);
            }
        }
    }
    for value in argument_values() {
        messages.push(Assistant::calling([calling_with(value)]));
    }
    messages.push(Assistant::calling([call_with(0, 0)]));
    for count in 1..=3 {
        for thought in thoughts.iter().take(2) {
            for content in [None, Some(TEXTS[0]), Some(TEXTS[1])] {
                let mut message = Assistant::calling((0..count).map(call));
                message.content = content.map(str::to_owned);
                message.reasoning = thought.map(str::to_owned);
                messages.push(message);
            }
        }
    }
    messages
}

fn of_each_kind(calls: bool, reasoning: bool) -> Vec<Assistant> {
    let contents = [None, Some(TEXTS[1])];
    let thoughts = [None, Some(REASONINGS[0])];
    let counts = [0, 1, 2];
    let mut messages = Vec::new();
    for count in counts.iter().take(if calls { 3 } else { 1 }) {
        for thought in thoughts.iter().take(if reasoning { 2 } else { 1 }) {
            for content in contents {
                if *count > 0 || content.is_some() {
                    let mut message = Assistant::calling((0..*count).map(call));
                    message.content = content.map(str::to_owned);
                    message.reasoning = thought.map(str::to_owned);
                    messages.push(message);
                }
            }
        }
    }
    messages
}

/// The first probe's call with `value` for an argument.
fn calling_with(value: Value) -> Call {
    let mut call = call(0);
    if let Some((_, first)) = call.arguments.iter_mut().next() {
        *first = value;
    }
    call
}

/// A value of each kind that JSON knows, and strings that look like something else.
fn argument_values() -> Vec<Value> {
    let strings = [
        "",
        "two\nlines",
        "say \"hi\" and 'bye' \\ /",
        "a < b && c > d <b>bold</b>",
        "\u{fc}n\u{ef} \u{4f60}\u{597d} \u{1f600}",
        "7",
        "true",
        "null",
        "{\"looks\": \"like json\"}",
        "}}]",
        "a: b, c = d",
        "print(f(1), g(x=2))",
    ];
    let object = |key: &str, value: Value| Value::Object(Map::from_iter([(key.to_owned(), value)]));
    let nested = |key: &str| object(key, object("inner", Value::from(1)));
    let mut values: Vec<Value> = strings.into_iter().map(Value::from).collect();
    values.extend([
        Value::from(42),
        Value::from(-7),
        Value::Int(Integer::from(i64::MAX)),
        Value::from(2.5),
        Value::from(1e-7),
        Value::Bool(true),
        Value::Bool(false),
        Value::Null,
        Value::Array(Vec::new()),
        Value::Array(vec![Value::from(1), Value::from("two"), Value::Null]),
        Value::Array(vec![Value::from("one"), Value::from("two")]),
        Value::Object(Map::new()),
        object(
            "inner",
            Value::Array(vec![object("deep", Value::from("yes"))]),
        ),
        Value::Array(vec![nested("one"), nested("two")]),
    ]);
    values
}
