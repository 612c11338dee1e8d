//! The responses: what a chat template renders of messages of every kind, and variations of it that mean the same.

use std::collections::BTreeSet;

use obverse::chat_template::RenderInput;
use obverse::derive::inspect::{Answers, inspect};
use obverse::derive::{Derivation, Options, Report};
use obverse::value::{Map, Value, json};

use super::peers::{members, plain};
use crate::support::comparison::object;
use crate::support::derived::Derived;

/// A response and the message that it is.
pub struct Response {
    /// What kind of response it is, for the page.
    pub kind: String,
    pub prefix: String,
    pub text: String,
    pub tools: Vec<Value>,
    pub message: Map,
}

/// How many of the derivation's own cases are taken, spread over all.
const CASES: usize = 60;

/// How many settings of kwargs are tried beside the default.
const SETTINGS: usize = 3;

/// A message before it is spelled.
struct Said {
    kind: &'static str,
    reasoning: Option<&'static str>,
    content: Option<&'static str>,
    calls: Vec<Map>,
}

/// All responses of one chat template, none twice.
pub fn responses(derived: &Derived, derivation: &Derivation) -> Vec<Response> {
    let answers = inspect(&derived.source, &Options::default())
        .templates
        .remove(0)
        .answers
        .expect("it can be inspected");
    let mut found: Vec<Response> = Vec::new();
    for said in messages() {
        for (tools, history) in histories(&said) {
            for kwargs in settings(&answers) {
                let mut input = RenderInput::new(history.clone());
                input.tools = tools.then(|| said.calls.iter().map(tool).collect());
                input.kwargs = kwargs;
                input.add_generation_prompt = true;
                found.extend(rendered(derived, &answers, &said, input));
            }
        }
    }
    let varied: Vec<Response> = found
        .iter()
        .flat_map(|response| variations(response, &derivation.report))
        .collect();
    found.extend(varied);
    // A proof also parses turns that begin elsewhere than where the prompt ends; who wrote by hand need not have thought of it.
    let prompts: Vec<&str> = answers
        .generation_prompts
        .iter()
        .filter_map(|prompt| prompt.text.as_deref().filter(|text| !text.is_empty()))
        .collect();
    let cases: Vec<_> = derivation
        .cases
        .iter()
        .filter(|case| prompts.iter().any(|prompt| case.prefix.ends_with(prompt)))
        .collect();
    let step = cases.len().div_ceil(CASES).max(1);
    found.extend(cases.into_iter().step_by(step).map(|case| Response {
        kind: "of the proof".to_owned(),
        prefix: case.prefix.clone(),
        text: case.response.clone(),
        tools: case.tools.clone(),
        message: case.message.as_object().expect("a message").clone(),
    }));
    let mut seen = BTreeSet::new();
    found.retain(|response| seen.insert((response.prefix.clone(), response.text.clone())));
    found
}

fn messages() -> Vec<Said> {
    let call = |name: &str, arguments: &str| {
        members(&format!(
            "{{\"name\": \"{name}\", \"arguments\": {arguments}}}"
        ))
    };
    let one = || call("get_weather", r#"{"city": "Oslo", "days": 3}"#);
    let said = |kind, reasoning, content, calls| Said {
        kind,
        reasoning,
        content,
        calls,
    };
    let mut all = Vec::new();
    for content in [
        "It rains.",
        "First line.\n\nSecond line:\n- a list\n- of two",
        "Say \"hi\", it's {\"json\": [1, 2]} and \\ more.",
        "If a < b && c > d then <b>bold</b>.",
        "\u{fc}n\u{ef}c\u{f6}d\u{e9} \u{4f60}\u{597d} \u{1f600}",
    ] {
        all.push(said("content", None, Some(content), vec![]));
        all.push(said(
            "reasoning and content",
            Some("The sky is grey."),
            Some(content),
            vec![],
        ));
    }
    all.push(said(
        "reasoning and content",
        Some("One.\n\nTwo: a < b, {x} \"y\"."),
        Some("It rains."),
        vec![],
    ));
    for arguments in [
        r#"{"city": "Oslo", "days": 3}"#,
        r#"{"city": "Z\u00fcrich \u4f60\u597d"}"#,
        r#"{"code": "a\nb\n  c"}"#,
        r#"{"quotes": "say \"hi\", it's (well) done"}"#,
        r#"{"markup": "a < b </b> [x] {y}"}"#,
        r#"{"digits": "75001", "truth": "true", "nothing": "null"}"#,
        r#"{"number": -1.5, "flag": true, "off": false}"#,
        r#"{"list": [1, "two", [3]], "object": {"deep": {"er": ["x"]}}}"#,
        r#"{"none": null}"#,
        "{}",
    ] {
        all.push(said("call", None, None, vec![call("run", arguments)]));
    }
    all.push(said(
        "call of a dotted name",
        None,
        None,
        vec![call("files.read-all", r#"{"path": "/tmp"}"#)],
    ));
    all.push(said(
        "reasoning and call",
        Some("I shall look."),
        None,
        vec![one()],
    ));
    all.push(said(
        "content and call",
        None,
        Some("I shall look."),
        vec![one()],
    ));
    all.push(said(
        "reasoning, content and call",
        Some("Hm."),
        Some("I shall look."),
        vec![one()],
    ));
    let two = || vec![one(), call("get_time", r#"{"zone": "CET"}"#)];
    all.push(said("several calls", None, None, two()));
    all.push(said(
        "content and several calls",
        None,
        Some("I shall look."),
        two(),
    ));
    all.push(said(
        "reasoning and several calls",
        Some("Hm."),
        None,
        two(),
    ));
    all
}

/// The conversations before a message: whether there are tools, and the messages.
fn histories(said: &Said) -> Vec<(bool, Vec<Value>)> {
    let user = || message("user", "What is the weather?");
    let mut all = vec![(!said.calls.is_empty(), vec![user()])];
    if said.calls.is_empty() {
        all.push((false, vec![message("system", "Be brief."), user()]));
        all.push((
            false,
            vec![
                user(),
                message("assistant", "Where?"),
                message("user", "In Oslo."),
            ],
        ));
    }
    all
}

fn message(role: &str, content: &str) -> Value {
    object([
        ("role", Value::from(role)),
        ("content", Value::from(content)),
    ])
}

/// The default, and what the kwargs change.
fn settings(answers: &Answers) -> Vec<Map> {
    let effects = answers.kwargs.iter().flat_map(|kwarg| {
        kwarg
            .effects
            .iter()
            .filter(|effect| effect.outcome.is_rendered())
            .map(|effect| Map::from_iter([(kwarg.name.clone(), effect.values[0].clone())]))
    });
    std::iter::once(Map::new())
        .chain(effects.take(SETTINGS))
        .collect()
}

/// A tool whose schema says the type of each argument.
fn tool(call: &Map) -> Value {
    let arguments = call["arguments"].as_object().expect("arguments");
    let properties: Map = arguments
        .iter()
        .map(|(key, value)| {
            let kind = value.schema_type();
            (key.clone(), object([("type", Value::from(kind))]))
        })
        .collect();
    let parameters = object([
        ("type", Value::from("object")),
        ("properties", Value::Object(properties)),
    ]);
    let function = object([
        ("name", call["name"].clone()),
        ("description", Value::from("A tool.")),
        ("parameters", parameters),
    ]);
    object([("type", Value::from("function")), ("function", function)])
}

/// The response of a message, if the chat template renders all of it and goes on from its own prompt.
fn rendered(
    derived: &Derived,
    answers: &Answers,
    said: &Said,
    input: RenderInput,
) -> Option<Response> {
    let template = derived.source.select(input.tools.is_some()).ok()?;
    let prefix = template.render(&input).ok()?;
    let spelling = answers
        .calls
        .spellings
        .iter()
        .find(|spelling| spelling.outcome == answers.calls.outcome);
    let as_text = spelling.is_some_and(|spelling| spelling.arguments == "text");
    let with_empty = spelling.is_some_and(|spelling| spelling.content == "empty");
    let mut written = Map::from_iter([("role".to_owned(), Value::from("assistant"))]);
    let mut expected = written.clone();
    if let Some(reasoning) = said.reasoning {
        let key = answers.reasoning.keys.first()?;
        written.insert(key.clone(), Value::from(reasoning));
        expected.insert("reasoning".to_owned(), Value::from(reasoning));
    }
    match said.content {
        Some(content) => {
            written.insert("content".to_owned(), Value::from(content));
            expected.insert("content".to_owned(), Value::from(content));
        }
        None if with_empty => {
            written.insert("content".to_owned(), Value::from(""));
        }
        None => {}
    }
    if !said.calls.is_empty() {
        let calls = |as_text: bool| {
            let calls = said.calls.iter().enumerate().map(|(index, call)| {
                let mut function = call.clone();
                if as_text {
                    let text = json::to_string(&call["arguments"]);
                    function.insert("arguments".to_owned(), Value::from(text));
                }
                object([
                    ("type", Value::from("function")),
                    ("id", Value::from(format!("call{index:05}"))),
                    ("function", Value::Object(function)),
                ])
            });
            Value::Array(calls.collect())
        };
        written.insert("tool_calls".to_owned(), calls(as_text));
        expected.insert("tool_calls".to_owned(), calls(false));
    }
    let mut with_answer = input.clone();
    with_answer.messages.push(Value::Object(written));
    with_answer.add_generation_prompt = false;
    let full = template.render(&with_answer).ok()?;
    let text = full.strip_prefix(&prefix)?.to_owned();
    let holds = |part: Option<&str>| {
        part.is_none_or(|part| text.contains(part.lines().next().unwrap_or_default()))
    };
    let names = said
        .calls
        .iter()
        .all(|call| text.contains(call["name"].as_str().unwrap_or_default()));
    let is_whole = holds(said.reasoning) && holds(said.content) && names;
    is_whole.then(|| Response {
        kind: said.kind.to_owned(),
        prefix,
        text,
        tools: input.tools.unwrap_or_default(),
        message: plain(&expected),
    })
}

/// The same response with other white space around its markers, without its end, and with its JSON written otherwise.
fn variations(response: &Response, report: &Report) -> Vec<Response> {
    let mut found: Vec<(String, &str)> = Vec::new();
    let text = &response.text;
    let mut add = |kind, text: String| found.push((text, kind));
    add("more after the end", format!("{text}\n"));
    add("no space after the end", text.trim_end().to_owned());
    let end = report.content.close.as_str();
    if let Some(cut) = text
        .trim_end()
        .strip_suffix(end)
        .filter(|_| !end.is_empty())
    {
        add("without the end", cut.to_owned());
    }
    for space in ["", "\n", "\n\n"] {
        if response.message.contains_key("reasoning") {
            add(
                "space after reasoning",
                respaced(text, &report.reasoning.close, space, After),
            );
            add(
                "space before the end of reasoning",
                respaced(text, &report.reasoning.close, space, Before),
            );
        }
        if response.message.contains_key("tool_calls") {
            let (section, each) = (
                (&report.tools.section_open, &report.tools.section_close),
                (&report.tools.open, &report.tools.close),
            );
            let first = if section.0.is_empty() {
                each.0
            } else {
                section.0
            };
            let last = if section.1.is_empty() {
                each.1
            } else {
                section.1
            };
            add("space before calls", respaced(text, first, space, Before));
            add("space after calls", respaced(text, last, space, After));
        }
    }
    for call in response
        .message
        .get("tool_calls")
        .and_then(Value::as_array)
        .unwrap_or_default()
    {
        let Some(arguments) = call
            .get("function")
            .and_then(|function| function.get("arguments"))
        else {
            continue;
        };
        let written = json::to_string(arguments);
        let compact = json::Format::compact().write(arguments);
        let indented = json::Format::indented(2).write(arguments);
        for other in [compact, indented] {
            if written.len() > 2 && text.contains(&written) {
                add("JSON written otherwise", text.replacen(&written, &other, 1));
            }
        }
    }
    found
        .into_iter()
        .filter(|(varied, _)| varied != text)
        .map(|(text, kind)| Response {
            kind: kind.to_owned(),
            text,
            prefix: response.prefix.clone(),
            tools: response.tools.clone(),
            message: response.message.clone(),
        })
        .collect()
}

/// A side of a marker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}
use Side::{After, Before};

/// The text with other white space at one side of the first of these markers, or the last where what follows is meant.
fn respaced(text: &str, marker: &str, space: &str, side: Side) -> String {
    let at = match side {
        Before => text.find(marker),
        After => text.rfind(marker),
    };
    let Some(at) = at.filter(|_| !marker.is_empty()) else {
        return text.to_owned();
    };
    match side {
        Before => format!("{}{space}{}", text[..at].trim_end(), &text[at..]),
        After => {
            let end = at + marker.len();
            format!("{}{space}{}", &text[..end], text[end..].trim_start())
        }
    }
}
