//! Derived structural tags beside those that xgrammar's authors wrote by hand, with xgrammar as the judge of both.
//!
//! For each format that both know: which responses with calls that the chat template renders does each accept, and which broken ones does each
//! refuse? A response is broken by its tools, so that the text is one that was rendered and what is wrong is known: the tool has
//! another name, needs one more argument, or has arguments of another type; and by its text, which is cut short.
//!
//! xgrammar's tags are made for a state of the reasoning. Behind each prompt that state counts whose tag accepts the most rendered responses.
//!
//! The table in `docs/constrained.md` is written by `OBVERSE_UPDATE=1 cargo test --test reference beside -- --ignored`.

use std::path::Path;

use obverse::derive::Case;
use obverse::grammar::ToolChoice;
use obverse::grammar::emit::Language;
use obverse::value::{Map, Value, json};

use super::{PAGE, Share, Subject, accepted, ask, hold_rows, is_asked_for, page};
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

/// How a tag tells a text of each kind wrong.
const WORDS: [&str; KINDS] = [
    "refuse a render",
    "take a call of a tool by another name",
    "take a call that lacks an argument",
    "take a call with an argument of another type",
    "take a call that is cut off",
];

/// The kind of those that are cut short.
const CUT: usize = 4;

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

/// Where what ends the turn begins in a response, if something does: what closes the implicit field.
fn end_of_turn(subject: &Subject, text: &str) -> Option<usize> {
    let template = &subject.template;
    let close = template.fields()[template.implicit()?].close.as_ref()?;
    let mut ends = close.find_iter(text).filter_map(Result::ok);
    let last = ends.find(|found| found.span.end == text.len())?;
    Some(last.span.start)
}

/// How many texts a tag tells right, and the shortest that it does not.
#[derive(Debug, Default, Clone)]
struct Told {
    share: Share,
    smallest: Option<String>,
}

fn shorter(one: Option<String>, other: Option<String>) -> Option<String> {
    let both = one.into_iter().chain(other);
    both.min_by_key(|text| (text.len(), text.clone()))
}

/// Responses with one prompt and the same tools, of one of the kinds.
struct Asked<'s> {
    group: &'s [&'s Case],
    kind: usize,
    tools: Vec<Value>,
    texts: Vec<String>,
}

impl Asked<'_> {
    /// Returns true if nothing of the message stands behind the first so many bytes of the text.
    fn is_whole(&self, subject: &Subject, text: &str, bytes: usize) -> bool {
        let read = |text: &str| {
            let (message, left) = subject
                .read(&self.group[0].prefix, text, &self.group[0].tools)
                .ok()?;
            left.is_empty().then_some(message)
        };
        let part = text.get(..bytes).and_then(read);
        part.is_some() && part == read(text)
    }

    /// The text up to the last character without which something of the message is missing, and without that one. A cut in what ends the turn
    /// would take away no part of a call.
    fn cut<'t>(&self, subject: &Subject, text: &'t str) -> &'t str {
        let text = &text[..end_of_turn(subject, text).unwrap_or(text.len())];
        let ends = text.char_indices().rev().map(|(at, _)| at);
        let end = ends
            .into_iter()
            .find(|at| !self.is_whole(subject, text, *at));
        &text[..end.unwrap_or(0)]
    }

    /// How many of the responses are told right: accepted, or refused where they are broken. A response is accepted, too, where the engine
    /// may end it before it ends, in what ends the turn or where nothing of the message is missing: a grammar may leave it to the engine to
    /// know the token that ends a turn.
    fn told(&self, subject: &Subject, answer: &Value) -> Told {
        let accepted = accepted(&subject.name, answer);
        let answers = answer.get("texts").and_then(Value::as_array);
        let answers = answers.expect("a list").iter();
        let mut told = Told::default();
        for ((text, is_accepted), answer) in self.texts.iter().zip(accepted).zip(answers) {
            let answer = answer.as_array().expect("a list");
            let stops = json::to_string(&answer[0]).parse().ok();
            let is_accepted = is_accepted
                || (self.kind != CUT
                    && answer.get(2) == Some(&Value::Bool(true))
                    && stops.is_some_and(|stops| {
                        end_of_turn(subject, text).is_some_and(|end| end <= stops)
                            || self.is_whole(subject, text, stops)
                    }));
            let is_right = is_accepted == (self.kind == 0);
            told.share.add(is_right);
            if !is_right {
                told.smallest = shorter(told.smallest, Some(text.clone()));
            }
        }
        told
    }

    /// Asks for xgrammar's own tag.
    fn of_theirs(&self, model: &str, (reasoning, force): (&str, bool)) -> Value {
        let asked = Map::from_iter([
            ("model".to_owned(), Value::from(model)),
            ("tools".to_owned(), Value::Array(self.tools.clone())),
            ("reasoning".to_owned(), Value::from(reasoning)),
            ("force".to_owned(), Value::Bool(force)),
        ]);
        let texts = self.texts.iter().map(|text| Value::from(text.as_str()));
        Value::Object(Map::from_iter([
            ("format".to_owned(), Value::from("builtin")),
            ("grammar".to_owned(), Value::Object(asked)),
            ("texts".to_owned(), Value::Array(texts.collect())),
        ]))
    }
}

/// The responses with calls, of each kind, in groups.
fn all_asked<'s>(subject: &Subject, groups: &'s [Vec<&'s Case>]) -> Vec<[Asked<'s>; KINDS]> {
    let each = groups.iter().map(|group| {
        let mut kinds = tools(&group[0].tools).into_iter().enumerate();
        std::array::from_fn(|_| {
            let (kind, tools) = kinds.next().expect("as many tools as kinds");
            let mut asked = Asked {
                group,
                kind,
                tools,
                texts: Vec::new(),
            };
            for case in group {
                let text = case.response.trim_end();
                let text = match kind {
                    CUT => asked.cut(subject, text),
                    _ => text,
                };
                asked.texts.push(text.to_owned());
            }
            asked
        })
    });
    each.collect()
}

/// A row of the table, and the shortest text that a tag tells wrong, of each kind.
fn row(python: &Path, (name, model): (&str, &str)) -> (String, Vec<String>) {
    let subject = Subject::new(name);
    let mut groups = subject.groups();
    for group in &mut groups {
        group.retain(|case| case.message.get("tool_calls").is_some());
    }
    groups.retain(|group| !group.is_empty());
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups.truncate(MAX_GROUPS);
    let asked = all_asked(&subject, &groups);
    let told = |lines: &[Value]| -> Vec<[Told; KINDS]> {
        let answers = ask(python, lines);
        let groups = asked.iter().zip(answers.chunks(KINDS));
        let told = groups.map(|(asked, answers)| {
            std::array::from_fn(|kind| asked[kind].told(&subject, &answers[kind]))
        });
        told.collect()
    };
    let all = || asked.iter().flatten();
    let ours: Vec<Value> = all()
        .map(|asked| {
            let grammar = subject.grammar(&asked.group[0].prefix, &asked.tools, ToolChoice::Auto);
            let language = ("structural-tag", Language::StructuralTag);
            super::line(language, &grammar, &asked.texts)
        })
        .collect();
    let ours = told(&ours);
    let theirs = REASONING.map(|state| {
        let lines: Vec<Value> = all().map(|asked| asked.of_theirs(model, state)).collect();
        told(&lines)
    });
    // Behind each prompt a server would ask for the state that fits. Of those that accept as many the first counts.
    let best = (0..groups.len()).map(|group| {
        let states = theirs.iter().rev().map(|state| state[group].clone());
        states
            .max_by_key(|told| told[0].share.right)
            .expect("a state")
    });
    let best: Vec<[Told; KINDS]> = best.collect();
    let cells = (0..KINDS).map(|kind| {
        let right = |groups: &[[Told; KINDS]]| -> usize {
            groups.iter().map(|told| told[kind].share.right).sum()
        };
        let all: usize = ours.iter().map(|told| told[kind].share.all).sum();
        format!("{} / {} of {all}", right(&ours), right(&best))
    });
    let cells: Vec<String> = cells.collect();
    let mut wrong = Vec::new();
    for (whose, groups) in [("ours", &ours), ("theirs", &best)] {
        for (kind, words) in WORDS.iter().enumerate() {
            let each = groups.iter().map(|told| told[kind].smallest.clone());
            if let Some(text) = each.reduce(shorter).flatten() {
                let text = json::quote(&text);
                wrong.push(format!("- {name}, {whose} {words}: `{text}`"));
            }
        }
    }
    let row = format!("| {name} | `{model}` | {} |", cells.join(" | "));
    (row, wrong)
}

const BEGIN: &str = "<!-- beside -->\n";
const END: &str = "<!-- beside end -->";
const WRONG: [&str; 2] = ["<!-- wrong -->\n", "<!-- wrong end -->"];

/// One format each time.
#[test]
fn a_derived_tag_stands_beside_a_hand_written_one() {
    let Some(python) = grammar_python() else {
        return;
    };
    let (row, _) = row(&python, ("qwen3", "qwen_3"));
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
    let both = BOTH.iter().filter(|(name, _)| is_asked_for(name));
    let (rows, wrong): (Vec<String>, Vec<Vec<String>>) =
        both.map(|both| row(&python, *both)).unzip();
    hold_rows([BEGIN, END], &rows);
    hold_rows(WRONG, &wrong.concat());
}
