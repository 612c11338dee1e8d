//! Derived structural tags beside those that xgrammar's authors wrote by hand, with xgrammar as the judge of both.
//!
//! For each format that both know: which responses with calls that the chat template renders does each accept, and which broken ones does each
//! refuse? A response is broken by its tools, so that the text is one that was rendered and what is wrong is known: the tool has
//! another name, needs one more argument, or has arguments of another type; and by its text, which is cut short.
//!
//! xgrammar's tags are made for a state of the reasoning. Of the ways to ask for them, the one counts that accepts the most rendered responses.
//!
//! The table in `docs/constrained.md` is written by `OBVERSE_UPDATE=1 cargo test --test reference beside -- --ignored`.

use std::path::PathBuf;

use obverse::grammar::ToolChoice;
use obverse::grammar::emit::Language;
use obverse::value::{Map, Value, json};

use super::{PAGE, Share, Subject, accepted, ask, hold_rows, page};
use crate::support::reference::grammar_python;

/// The chat templates of formats that xgrammar has a structural tag for, and its name for them.
const BOTH: [(&str, &str); 14] = [
    ("deepseek_r1_distill_tools", "deepseek_r1"),
    ("deepseek_v3_1", "deepseek_v3_1"),
    ("deepseek_v3_2", "deepseek_v3_2"),
    ("deepseek_v4", "deepseek_v4"),
    ("glm4_7", "glm_4_7"),
    ("gpt_oss", "harmony"),
    ("kimi_k2", "kimi"),
    ("kimi_k3", "kimi_k3"),
    ("llama3_1", "llama"),
    ("minimax_m2", "minimax"),
    ("minimax_m3", "minimax_m3"),
    ("qwen3", "qwen_3"),
    ("qwen3_5", "qwen_3_5"),
    ("qwen3_coder", "qwen_3_coder"),
];

/// How many groups of responses with the same prompt and tools are tried at most, those with the most responses first.
const MAX_GROUPS: usize = 12;

/// The states of the reasoning for which xgrammar makes a tag.
const REASONING: [(&str, bool); 4] = [
    ("auto", false),
    ("enabled", false),
    ("enabled", true),
    ("disabled", false),
];

/// What is done to responses: nothing, or how they are broken.
const KINDS: usize = 5;

/// The tools as they are, and as they are for responses to be wrong.
fn tools(right: &[Value]) -> [Vec<Value>; KINDS] {
    let changed = |change: &dyn Fn(&mut Map)| -> Vec<Value> {
        let each = right.iter().map(|tool| {
            let mut tool = tool.clone();
            if let Value::Object(tool) = &mut tool
                && let Some(Value::Object(function)) = tool.get_mut("function")
            {
                change(function);
            }
            tool
        });
        each.collect()
    };
    let renamed = changed(&|function| {
        let name = function.get("name").and_then(Value::as_str);
        let name = format!("{}_other", name.unwrap_or_default());
        function.insert("name", Value::from(name));
    });
    let more = changed(&|function| {
        let parameters = parameters(function);
        let mut properties = object(parameters.get("properties"));
        properties.insert(
            "zz_more",
            json::parse(r#"{"type": "string"}"#).expect("JSON"),
        );
        let mut required = match parameters.get("required") {
            Some(Value::Array(names)) => names.clone(),
            _ => Vec::new(),
        };
        required.push(Value::from("zz_more"));
        set(function, properties, required);
    });
    let typed = changed(&|function| {
        let parameters = parameters(function);
        let properties = object(parameters.get("properties"));
        // No rendered value is this one.
        let never = json::parse(r#"{"type": "string", "enum": ["zz_never"]}"#).expect("JSON");
        let properties = properties
            .keys()
            .map(|key| (key.to_string(), never.clone()))
            .collect();
        let required = match parameters.get("required") {
            Some(Value::Array(names)) => names.clone(),
            _ => Vec::new(),
        };
        set(function, properties, required);
    });
    [right.to_vec(), renamed, more, typed, right.to_vec()]
}

fn object(value: Option<&Value>) -> Map {
    value
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn parameters(function: &Map) -> Map {
    object(function.get("parameters"))
}

fn set(function: &mut Map, properties: Map, required: Vec<Value>) {
    let parameters = Map::from_iter([
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), Value::Array(required)),
    ]);
    function.insert("parameters", Value::Object(parameters));
}

/// The text without the token that ends a turn, which an engine reads as the end.
fn unended(text: &str, ends: &[String]) -> String {
    let text = text.trim_end();
    let end = ends.iter().find_map(|end| text.strip_suffix(end.as_str()));
    end.unwrap_or(text).to_owned()
}

/// The text without the last of what is not white space, of which a few characters belong to what closes a call.
fn cut(text: &str) -> String {
    let mut text = text.trim_end().to_owned();
    for _ in 0..4 {
        text.pop();
    }
    text
}

/// How many responses of each kind are told right: accepted, or refused where they are broken.
fn told(name: &str, answers: &[Value]) -> [Share; KINDS] {
    let mut shares = [Share::default(); KINDS];
    for (at, answer) in answers.iter().enumerate() {
        let is_right = at % KINDS == 0;
        for accepted in accepted(name, answer) {
            shares[at % KINDS].add(accepted == is_right);
        }
    }
    shares
}

/// A row of the table.
fn row(python: &PathBuf, (name, model): (&str, &str)) -> String {
    let subject = Subject::new(name);
    let mut groups = subject.groups();
    let calling = |case: &&&obverse::derive::Case| case.message.get("tool_calls").is_some();
    for group in &mut groups {
        *group = group.iter().filter(calling).copied().collect();
    }
    groups.retain(|group| !group.is_empty());
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups.truncate(MAX_GROUPS);
    let mut ours = Vec::new();
    let mut theirs: [Vec<Value>; REASONING.len()] = Default::default();
    for group in &groups {
        let texts: Vec<String> = group
            .iter()
            .map(|case| unended(&case.response, &subject.ends))
            .collect();
        for (kind, tools) in tools(&group[0].tools).into_iter().enumerate() {
            let texts: Vec<String> = match kind {
                4 => texts.iter().map(|text| cut(text)).collect(),
                _ => texts.clone(),
            };
            let grammar = subject.grammar(&group[0].prefix, &tools, ToolChoice::Auto);
            let language = ("structural-tag", Language::StructuralTag);
            ours.push(super::line(language, &grammar, &texts));
            for (at, (reasoning, force)) in REASONING.iter().enumerate() {
                let asked = Map::from_iter([
                    ("model".to_owned(), Value::from(model)),
                    ("tools".to_owned(), Value::Array(tools.clone())),
                    ("reasoning".to_owned(), Value::from(*reasoning)),
                    ("force".to_owned(), Value::Bool(*force)),
                ]);
                let texts = texts.iter().map(|text| Value::from(text.as_str()));
                theirs[at].push(Value::Object(Map::from_iter([
                    ("format".to_owned(), Value::from("builtin")),
                    ("grammar".to_owned(), Value::Object(asked)),
                    ("texts".to_owned(), Value::Array(texts.collect())),
                ])));
            }
        }
    }
    let ours = told(name, &ask(python, &ours));
    let each = theirs.iter().map(|lines| told(name, &ask(python, lines)));
    // Of those that accept as many the first counts.
    let mut best: Option<[Share; KINDS]> = None;
    for shares in each {
        if best.is_none_or(|best| shares[0].right > best[0].right) {
            best = Some(shares);
        }
    }
    let best = best.expect("a way to ask");
    let cells = (0..KINDS).map(|kind| {
        format!(
            "{} / {} of {}",
            ours[kind].right, best[kind].right, ours[kind].all
        )
    });
    let cells: Vec<String> = cells.collect();
    format!("| {name} | `{model}` | {} |", cells.join(" | "))
}

const BEGIN: &str = "<!-- beside -->\n";
const END: &str = "<!-- beside end -->";

/// One format each time.
#[test]
fn a_derived_tag_stands_beside_a_hand_written_one() {
    let Some(python) = grammar_python() else {
        return;
    };
    let row = row(&python, ("qwen3", "qwen_3"));
    assert!(
        page().lines().any(|line| line == row),
        "{PAGE} says otherwise:\n{row}"
    );
}

#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn the_table_beside_hand_written_tags() {
    let Some(python) = grammar_python() else {
        return;
    };
    let only = std::env::var("OBVERSE_ONLY").unwrap_or_default();
    let both = BOTH.iter().filter(|(name, _)| name.contains(&only));
    let rows: Vec<String> = both.map(|both| row(&python, *both)).collect();
    hold_rows([BEGIN, END], &rows);
}
