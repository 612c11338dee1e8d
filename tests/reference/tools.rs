//! Tool arguments coerced by the tools' JSON schemas, against the reference.

use crate::support::comparison::{Case, Failure, compare, object, parsed};
use crate::support::random::Random;
use crate::support::values::string;
use obverse::content::ToolSchemas;
use obverse::value::json;
use obverse::value::{Map, Value};

#[rustfmt::skip]
const TYPES: &[&str] = &[
    r#""integer""#, r#""number""#, r#""boolean""#, r#""null""#, r#""object""#, r#""array""#, r#""string""#, r#""odd""#,
    r#"["integer", "null"]"#, r#"["string", "integer"]"#, r#"["boolean", 1, "number"]"#, r#"["array", "integer"]"#, "[]", "null", "5",
];

/// A JSON schema of a parameter, odd ones included.
fn schema(random: &mut Random, depth: usize) -> Value {
    if random.once_in(12) {
        return parsed(random.pick(&["null", "\"integer\"", "[]", "{}", "true"]));
    }
    let mut schema = Map::new();
    if !random.once_in(4) {
        schema.insert("type".to_owned(), parsed(random.pick(TYPES)));
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

#[rustfmt::skip]
const ARGUMENTS: &[&str] = &[
    "1", " 1 ", "-3", "3.0", "3.5", "1e5", "1e400", "1e23", "12345678901234567890", "nan", "inf", "-Infinity", "1_000",
    "٣", "true", " True ", "FALSE", "0", "null", "None", " null", "NULL", "{}", "{\"a\": 1}", "[1, 2]", " [1]", "[1",
    "text", "", "1.", ".5", "1.0e2", "+4", "0x10", "\u{1c}5", "{\"a\": NaN}", "\"x\"",
];

fn argument(random: &mut Random) -> Value {
    match random.below(8) {
        0..4 => Value::from(random.pick(ARGUMENTS)),
        4 | 5 => Value::Array((0..random.below(4)).map(|_| argument(random)).collect()),
        6 => parsed(random.pick(&["1", "null", "{}", "{\"n\": \"1\"}", "2.5", "true"])),
        _ => Value::from(string(random)),
    }
}

const NAMES: &[&str] = &["f", "g", "h"];
const KEYS: &[&str] = &["n", "m", "k"];

fn tool(random: &mut Random) -> Value {
    if random.once_in(12) {
        let odd = [
            "null",
            "{}",
            r#"{"name": 1}"#,
            r#"{"name": "f"}"#,
            r#"{"function": null, "name": "f"}"#,
            "[]",
        ];
        return parsed(random.pick(&odd));
    }
    let property = |_| (random.pick(KEYS).to_owned(), schema(random, 2));
    let properties = Value::Object((0..3).map(property).collect());
    let parameters = match random.below(12) {
        0 => Value::Null,
        1 => object([("properties", parsed("[]"))]),
        _ => object([("type", "object".into()), ("properties", properties)]),
    };
    let function = object([
        ("name", random.pick(NAMES).into()),
        ("parameters", parameters),
    ]);
    if random.once_in(3) {
        function
    } else {
        object([("type", "function".into()), ("function", function)])
    }
}

fn call(random: &mut Random) -> Value {
    let arguments = match random.below(12) {
        0 => Value::from("text"),
        1 => Value::Null,
        _ => Value::Object(
            (0..3)
                .map(|_| (random.pick(KEYS).to_owned(), argument(random)))
                .collect(),
        ),
    };
    let function = object([
        ("name", random.pick(NAMES).into()),
        ("arguments", arguments),
    ]);
    object([("type", "function".into()), ("function", function)])
}

#[test]
fn tool_arguments_are_coerced_as_by_the_reference() {
    let mut random = Random::new(9);
    let mut cases = Vec::new();
    for _ in 0..4000 {
        let tools: Vec<Value> = (0..random.below(3)).map(|_| tool(&mut random)).collect();
        let value = match random.below(8) {
            0 => argument(&mut random),
            1 => parsed(r#"{"function": {"name": 1, "arguments": {"n": "1"}}}"#),
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
    // A region that fails, since a comparison wants to see the reference fail too.
    let question = r#"{"ask": "content", "name": "int", "args": {}, "text": "x"}"#;
    cases.push(Case {
        question: parsed(question),
        answer: Err(Failure::new("not an integer")),
    });
    compare("content.py", &cases);
}
