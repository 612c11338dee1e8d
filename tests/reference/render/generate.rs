//! Conversations made up at random: the keys that chat templates read, with values that they may not expect, and the kwargs of
//! the template itself.

use obverse::chat_template::ChatTemplate;
use serde_json::{Map, Value as Json, json};

use crate::support::random::Random;

/// A conversation and how it is rendered, as `tests/reference/render.py` takes it.
pub fn conversation(random: &mut Random) -> Json {
    let count = 1 + random.below(6);
    let calm = !random.once_in(3);
    let messages: Vec<Json> = (0..count)
        .map(|index| message(random, index, calm))
        .collect();
    let tools = match random.below(4) {
        0 | 1 => Json::Null,
        2 => json!([tool(random), tool(random)]),
        _ => json!([tool(random)]),
    };
    let documents = match random.below(8) {
        0 => json!([{"title": text(random), "text": text(random)}]),
        _ => Json::Null,
    };
    json!({
        "messages": messages,
        "tools": tools,
        "documents": documents,
        "add_generation_prompt": random.once_in(2),
        "kwargs": {"bos_token": "<s>", "eos_token": "</s>"},
    })
}

/// The same with a variable of the template set to a value that the template compares it with, or to another.
pub fn with_kwarg(random: &mut Random, template: &ChatTemplate, mut conversation: Json) -> Json {
    // The last is a parameter of `apply_chat_template`, which does not hand it on.
    let given = [
        "messages",
        "tools",
        "documents",
        "add_generation_prompt",
        "continue_final_message",
    ];
    let names: Vec<&str> = template
        .variables()
        .iter()
        .map(String::as_str)
        .filter(|name| !given.contains(name))
        .collect();
    if names.is_empty() {
        return conversation;
    }
    for _ in 0..=random.below(2) {
        let name = random.pick(&names);
        let candidates = template.candidates(name);
        let value = if candidates.is_empty() || random.once_in(3) {
            odd(random, 1)
        } else {
            let value = &candidates[random.below(candidates.len())];
            serde_json::from_str(&obverse::value::json::to_string(value)).expect("JSON")
        };
        conversation["kwargs"][name] = value;
    }
    conversation
}

/// A message whose role and keys are likely ones; where it is not `calm`, any value may be an odd one.
fn message(random: &mut Random, index: usize, calm: bool) -> Json {
    let role = match (calm, index % 2) {
        (true, 0) => random.pick(&["user", "user", "user", "system", "tool"]),
        (true, _) => "assistant",
        _ => random.pick(&[
            "user",
            "assistant",
            "tool",
            "system",
            "developer",
            "critic",
            "",
        ]),
    };
    let mut message = Map::new();
    message.insert("role".to_owned(), json!(role));
    if !random.once_in(12) {
        message.insert("content".to_owned(), content(random, calm));
    }
    if role == "assistant" {
        if random.once_in(3) {
            let key = random.pick(&["reasoning_content", "thinking", "reasoning", "thought"]);
            let value = if calm {
                json!(text(random))
            } else {
                odd(random, 2)
            };
            message.insert(key.to_owned(), value);
        }
        if random.once_in(3) {
            let calls: Vec<Json> = (0..random.below(4)).map(|_| call(random, calm)).collect();
            message.insert("tool_calls".to_owned(), json!(calls));
        }
    }
    if role == "tool" {
        message.insert("tool_call_id".to_owned(), json!("abcdefgh1"));
        message.insert("name".to_owned(), json!("lookup"));
    }
    if !calm && random.once_in(3) {
        let key = random.pick(&[
            "name",
            "prefix",
            "tool_calls",
            "tool_call_id",
            "recipient",
            "weight",
            "content",
        ]);
        message.insert(key.to_owned(), odd(random, 2));
    }
    Json::Object(message)
}

fn content(random: &mut Random, calm: bool) -> Json {
    match random.below(if calm { 6 } else { 9 }) {
        0..5 => json!(text(random)),
        5 => {
            let parts: Vec<Json> = (0..1 + random.below(3)).map(|_| part(random)).collect();
            json!(parts)
        }
        _ => odd(random, 3),
    }
}

fn part(random: &mut Random) -> Json {
    match random.below(7) {
        0..4 => json!({"type": "text", "text": text(random)}),
        4 => json!({"type": "image"}),
        5 => json!({"type": "image_url", "image_url": {"url": "a"}}),
        _ => {
            json!({"type": random.pick(&["video", "audio", "file", "thinking"]), "text": text(random)})
        }
    }
}

fn call(random: &mut Random, calm: bool) -> Json {
    let mut arguments = Map::new();
    for _ in 0..random.below(4) {
        let key = random.pick(&["city", "days", "the key", "q\"uote", "ключ", "code"]);
        arguments.insert(key.to_owned(), odd(random, 2));
    }
    let arguments = match random.below(if calm { 4 } else { 6 }) {
        0..3 => Json::Object(arguments),
        3 => json!(Json::Object(arguments).to_string()),
        4 => odd(random, 1),
        _ => Json::Null,
    };
    let function =
        json!({"name": random.pick(&["look_up", "files.read", "ünï", ""]), "arguments": arguments});
    let id = random.pick(&["abcdefgh1", "call_1", "functions.look_up:0", ""]);
    match random.below(if calm { 6 } else { 8 }) {
        0..5 => json!({"id": id, "type": "function", "function": function}),
        5 => json!({"type": "function", "function": function}),
        6 => function,
        _ => json!({"id": 7, "function": {"name": "f"}}),
    }
}

fn tool(random: &mut Random) -> Json {
    let mut properties = Map::new();
    for _ in 0..random.below(4) {
        let key = random.pick(&["city", "days", "ratio", "flags", "where"]);
        let mut schema = Map::new();
        schema.insert(
            "type".to_owned(),
            match random.below(5) {
                0 => json!(["string", "null"]),
                1 => json!("array"),
                2 => json!("object"),
                3 => json!("integer"),
                _ => json!("string"),
            },
        );
        for key in [
            "description",
            "default",
            "enum",
            "items",
            "properties",
            "format",
        ] {
            if random.once_in(4) {
                let value = match key {
                    "description" | "format" => json!(text(random)),
                    "enum" => json!([text(random), 1, null, true]),
                    "items" => json!({"type": "string"}),
                    "properties" => json!({"lat": {"type": "number"}}),
                    _ => odd(random, 1),
                };
                schema.insert(key.to_owned(), value);
            }
        }
        properties.insert(key.to_owned(), Json::Object(schema));
    }
    let mut function = json!({"name": random.pick(&["look_up", "files.read", "brave_search"]), "description": text(random)});
    if !random.once_in(6) {
        function["parameters"] =
            json!({"type": "object", "properties": properties, "required": ["city"]});
    }
    if random.once_in(5) {
        function["return"] = json!({"type": "string", "description": text(random)});
    }
    if random.once_in(8) {
        function
    } else {
        json!({"type": "function", "function": function})
    }
}

fn text(random: &mut Random) -> String {
    random.text(PIECES, 5)
}

/// A value of any kind, at most so deep.
fn odd(random: &mut Random, depth: usize) -> Json {
    match random.below(if depth == 0 { 7 } else { 9 }) {
        0..3 => json!(text(random)),
        3 => serde_json::from_str(random.pick(NUMBERS)).expect("JSON"),
        4 => json!(random.once_in(2)),
        5 => Json::Null,
        6 => json!(random.pick(&["", "7", "true", "null", "[1, 2]", "{\"a\": 1}"])),
        7 => Json::Array(
            (0..random.below(3))
                .map(|_| odd(random, depth - 1))
                .collect(),
        ),
        _ => {
            let mut members = Map::new();
            for _ in 0..random.below(3) {
                let key = random.pick(&["type", "text", "a b", "content", "é"]);
                members.insert(key.to_owned(), odd(random, depth - 1));
            }
            Json::Object(members)
        }
    }
}

#[rustfmt::skip]
const NUMBERS: &[&str] = &["0", "-7", "3", "2.5", "1e-7", "1e16", "-0.0", "123456789012345678901234567890", "1.0"];

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "Hello", " ", "\n", "\n\n", "  padded  ", "a < b && c > d", "\"q\"", "'a'", "\\", "{\"k\": [1]}", "}}", "{% x %}", "{{ y }}",
    "<think>", "</think>", "<tool_call>", "/no_think", "ünï", "日本", "🎉", "\u{301}", "\u{1b}[0m", "\u{0}", "\r\n", "\t",
    "\u{a0}", "\u{200b}", "\u{feff}", "\u{2028}", "ß", "İ", "ǆ", "```py\nx\n```", "%s", "&amp;", "|", ":", ",",
];
