//! Schemas that are written down: ours for the wire formats that public ones are for, and those that the reference's packages hold.

use std::path::Path;

use obverse::value::{Map, Value, json};

use crate::support::random::Random;
use crate::support::reference::{ask_with, schema_python};

/// Ours, with their names.
pub fn schemas() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/response_schema");
    let mut found: Vec<(String, Value)> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("UTF-8");
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, json::parse(&text).expect("JSON"))
        })
        .collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

/// Those of the installed packages; none where there is no reference.
pub fn public() -> Vec<(String, Value)> {
    let Some(python) = schema_python() else {
        return Vec::new();
    };
    let answers = ask_with(&python, "schema.py", &[r#"{"schemas": true}"#.to_owned()]);
    let schemas = named(&answers[0]);
    assert!(schemas.len() >= 5, "the packages hold response schemas");
    schemas
}

/// Those of a folder that `OBVERSE_SCHEMAS` names: assignments in Python files, such as the reference's own tests, and JSON files of
/// schemas by name. None where it is not set.
pub fn at_hand() -> Vec<(String, Value)> {
    let (Some(python), Ok(folder)) = (schema_python(), std::env::var("OBVERSE_SCHEMAS")) else {
        return Vec::new();
    };
    let question = Value::Object(Map::from([("folder", Value::from(folder))]));
    let answers = ask_with(&python, "schema.py", &[json::to_string(&question)]);
    let schemas = named(&answers[0]);
    assert!(!schemas.is_empty(), "the folder holds response schemas");
    schemas
}

fn named(answer: &str) -> Vec<(String, Value)> {
    let answer = json::parse(answer).expect("JSON");
    let schemas = answer
        .get("schemas")
        .and_then(Value::as_array)
        .expect("a list");
    let named = schemas.iter().map(|named| {
        let name = named.get("name").and_then(Value::as_str).expect("a name");
        let schema = named.get("schema").cloned().expect("a schema");
        (name.to_owned(), schema)
    });
    named.collect()
}

/// Responses in the formats that the schemas are for.
#[rustfmt::skip]
pub const RESPONSES: &[&str] = &[
    "Hello!", "", "Hello!<|im_end|>", "Hello!<|im_end|>\n", "<think>\nHm.\n</think>\n\nHello!<|im_end|>", "Hm.\n</think>\n\nHello!",
    "<think>\n\n</think>\n\nHello!", "<think>Hm.</think>Hello!<|eot_id|>",
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call><|im_end|>",
    "<think>\nHm.\n</think>\n\nText\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call><|im_end|>",
    "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nx\ny\n</parameter>\n</function>\n</tool_call><|im_end|>",
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>b</arg_key>\n<arg_value>x</arg_value>\n</tool_call>",
    "\n<think>Hm.</think>\nText\n<tool_call>f\n</tool_call>", "<tool_call>{\"name\": </tool_call>", "<think>never closed",
    "{\"name\": \"f\", \"parameters\": {\"a\": 1}}<|eot_id|>", "{\"name\": \"f\", \"parameters\": {\"a\": {\"b\": 1}}}",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello!<|return|>",
    "<|channel|>final<|message|>Hello!", "<|channel|>analysis<|message|>Hm.<|end|>",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.f<|channel|>commentary json<|message|>{\"a\": 1}<|call|>",
    " to=functions.f<|channel|>commentary json<|message|>{\"a\": 1}<|call|>", "to=functions.f<|channel|>commentary json<|message|>{\"a\": }<|call|>",
    "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Hello!<|END_RESPONSE|>",
    "<|START_THINKING|>Hm.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"f\", \"parameters\": {\"a\": 1}}\n]<|END_ACTION|>",
    "<|START_ACTION|>[]<|END_ACTION|>", "<|START_ACTION|>{\"a\": 1}<|END_ACTION|>",
    "Hm.\n</think>\n\n<response>\nHello!\n</response>\n</s>", "Hm.\n</think>\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>\n</s>",
    "<|channel>thought\nHm.<channel|>Hello!<turn|>", "<|tool_call>call:f{a:<|\"|>x, y<|\"|>,b:{c:1,d:[true,<|\"|>z<|\"|>]}}<tool_call|>",
    "<think>\n\n</think>", "<think>a\n</think>\n\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", "<response>\n\n</response>", "{\"a\": [1, null]}",
    "<|channel>thought\nHm.<channel|>Text<|tool_call>call:f{}<tool_call|><|tool_call>call:g{a:1}<tool_call|><turn|>",
];

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "<think>", "</think>", "\n", "\n\n", " ", "Hm.", "Hello!", "<tool_call>", "</tool_call>", "{\"name\": \"f\", \"arguments\": {\"a\": 1}}",
    "<|im_end|>", "<function=f>", "</function>", "<parameter=a>\n1\n</parameter>", "<|channel|>", "analysis", "final", "commentary", "<|message|>",
    "<|end|>", "<|call|>", "to=functions.f", " <|constrain|>json", "json", "{\"a\": 1}", "<|START_THINKING|>", "<|END_THINKING|>",
    "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_ACTION|>", "<|END_ACTION|>", "[{\"tool_name\": \"f\", \"parameters\": {}}]", "<response>\n",
    "</response>", "<|start|>assistant", "<arg_key>a</arg_key>\n<arg_value>1</arg_value>", "f\n", "{\"name\": \"f\", \"parameters\": {\"a\": 1}}",
    "<|eot_id|>", "<|channel>thought\n", "<channel|>", "<|tool_call>call:f", "{a:<|\"|>x<|\"|>}", "<tool_call|>", "<turn|>",
];

/// Parts of such responses in any order.
pub fn mixed(random: &mut Random) -> String {
    random.text(PIECES, 10)
}
