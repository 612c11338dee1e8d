//! Structural tags that vLLM's own module makes of response templates that are derived for vLLM.
//!
//! `Engine::strict_calls` says for which it makes none; here the module is asked. Where it makes one, responses that call and say nothing else are
//! held to it, from behind the reasoning that the prompt has opened up to the end of their last call.
//!
//! The table in `docs/constrained.md` is written by `OBVERSE_UPDATE=1 cargo test --test reference vllm -- --ignored`.

use std::path::Path;

use obverse::derive::{self, Case};
use obverse::parser::{Edge, Options, ResponseParser};
use obverse::response_template::Engine;
use obverse::value::{Map, Value};

use super::{PAGE, Share, Subject, accepted, ask, hold_rows, is_asked_for, page};
use crate::support::derived;
use crate::support::reference::grammar_python;

const BEGIN: &str = "<!-- vllm -->\n";
const END: &str = "<!-- vllm end -->";

const DECISION: &str = "white space of delimiters";

/// A response's part that the tag of a forced call has to take.
struct Part {
    text: String,
    /// True if the prompt has opened no reasoning.
    has_reasoning: bool,
    /// True if the response begins where the message does.
    is_start: bool,
}

impl Part {
    /// The part of a response; `None` where it says something else than calls and reasoning.
    fn of(subject: &Subject, case: &Case) -> Option<Self> {
        let has = |key: &str| case.message.get(key).is_some_and(Value::is_truthy);
        if has("content") || !has("tool_calls") {
            return None;
        }
        let options = Options::default().keep_delimiters(true);
        let template = subject.template.clone();
        let parser = ResponseParser::with_options(template, &case.prefix, &case.tools, options);
        let mut parser = parser.expect("a prefix");
        let opened = parser.snapshot().region.is_some();
        let before = parser.snapshot().prefix_bytes;
        parser.feed(&case.response).expect("fed");
        parser.finalize().expect("parsed");
        let name = |field: usize| subject.template.fields()[field].name.as_str();
        let passed = parser.take_delimiters();
        let close_of = |wanted: &str| {
            let mut closes = passed.iter().rev();
            closes.find(|one| one.side == Edge::Close && name(one.field) == wanted)
        };
        let end = close_of("tool_calls")?.span.end - before;
        let begin = match opened {
            true => close_of("thinking")?.span.end - before,
            false => 0,
        };
        let after = subject.template.after_last_anchor(&case.prefix);
        Some(Self {
            text: case.response[begin..end].trim_end().to_owned(),
            has_reasoning: !opened && subject.template.field("thinking").is_some(),
            is_start: !opened && after.is_ok_and(str::is_empty),
        })
    }

    fn line(&self, subject: &Subject, tools: &[Value]) -> Value {
        let functions = tools
            .iter()
            .filter_map(|tool| tool.get("function").cloned());
        let asked = Map::from_iter([
            (
                "template".to_owned(),
                subject.derivation.document.to_value(),
            ),
            ("functions".to_owned(), Value::Array(functions.collect())),
            ("reasoning".to_owned(), Value::Bool(self.has_reasoning)),
            ("start".to_owned(), Value::Bool(self.is_start)),
        ]);
        Value::Object(Map::from_iter([
            ("format".to_owned(), Value::from("vllm")),
            ("grammar".to_owned(), Value::Object(asked)),
            (
                "texts".to_owned(),
                Value::Array(vec![Value::from(self.text.as_str())]),
            ),
        ]))
    }
}

/// How many of the responses vLLM's tag accepts; or why there is none.
fn told(python: &Path, subject: &Subject) -> Result<Share, Vec<String>> {
    let parts: Vec<(Part, &Case)> = subject
        .cases()
        .filter_map(|case| Part::of(subject, case).map(|part| (part, case)))
        .collect();
    let lines: Vec<Value> = parts
        .iter()
        .map(|(part, case)| part.line(subject, &case.tools))
        .collect();
    let answers = ask(python, &lines);
    let error = |answer: &Value| {
        answer
            .get("error")
            .map(|error| error.as_str().unwrap_or_default().to_owned())
    };
    // A tool's schema may be one that it cannot ask for. Where it makes no tag for any tool, the reason is the response template.
    if answers.iter().all(|answer| error(answer).is_some()) {
        let mut errors: Vec<String> = answers.iter().filter_map(error).collect();
        errors.sort();
        errors.dedup();
        return Err(errors);
    }
    let mut share = Share::default();
    for (answer, (part, _)) in answers.iter().zip(&parts) {
        let is_right = error(answer).is_none() && accepted(&subject.name, answer)[0];
        if !is_right {
            eprintln!(
                "{}: {:?} is not accepted: {}",
                subject.name,
                part.text,
                error(answer).unwrap_or_default()
            );
        }
        share.add(is_right);
    }
    Ok(share)
}

/// The row of a chat template; `None` where it renders no calls.
fn row(python: &Path, name: &str) -> Option<String> {
    let options = derive::Options::default().engines(vec![Engine::Vllm]);
    let subject = Subject::derived(name, &options);
    subject.derivation.document.fields.get("tool_calls")?;
    let free = cell(python, &subject);
    let is_offered = subject
        .derivation
        .report
        .decisions
        .iter()
        .any(|one| one.name == DECISION);
    let spelled = match is_offered {
        true => {
            let prefer = vec![(DECISION.to_owned(), "spelled out".to_owned())];
            cell(python, &Subject::derived(name, &options.prefer(prefer)))
        }
        false => "".to_owned(),
    };
    Some(format!("| {name} | {free} | {spelled} |"))
}

/// What vLLM says of the subject's response template; what we say has to be the same.
fn cell(python: &Path, subject: &Subject) -> String {
    let reasons = Engine::Vllm.strict_calls(&subject.derivation.document);
    match told(python, subject) {
        Ok(share) => {
            assert!(
                reasons.is_empty(),
                "{}: vllm makes a tag, and we say: {reasons:?}",
                subject.name
            );
            share.to_string()
        }
        Err(errors) => {
            assert!(
                !reasons.is_empty(),
                "{}: vllm makes no tag, and we say nothing: {errors:?}",
                subject.name
            );
            "none".to_owned()
        }
    }
}

/// One each time: its delimiters have to be spelled out.
#[test]
fn vllm_makes_a_tag_where_delimiters_come_apart() {
    let Some(python) = grammar_python() else {
        return;
    };
    let row = row(&python, "glm4_7").expect("it has calls");
    assert!(
        page().lines().any(|line| line == row),
        "{PAGE} says otherwise:\n{row}"
    );
}

#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn the_table_of_tags_that_vllm_makes() {
    let Some(python) = grammar_python() else {
        return;
    };
    let names = derived::own_templates().into_iter();
    let names = names.filter_map(|(_, path)| Some(path.file_stem()?.to_str()?.to_owned()));
    let rows: Vec<String> = names
        .filter(|name| is_asked_for(name))
        .filter_map(|name| row(&python, &name))
        .collect();
    hold_rows([BEGIN, END], &rows);
}
