//! Chat templates rendered by Obverse and by transformers: the same bytes, and a refusal where it refuses.
//!
//! Two sets of templates: those of `tests/chat_templates_odd/*.jinja`, each file holding many small templates with a
//! line `=====` between them, and a corpus of real ones (`OBVERSE_CORPUS`, or `corpus/` at the top of the checkout).

#![allow(
    unreachable_pub,
    clippy::print_stderr,
    reason = "a test says how much it has seen"
)]

mod changing;
mod expressions;
mod generate;
mod origins;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::support::random::Random;
use obverse::chat_template::{ChatTemplate, Clock, RenderError, RenderInput};
use obverse::value::{Integer, Map, Value};
use serde_json::{Value as Json, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Integer::from_digits(&number.to_string()).map_or_else(
            || Value::Float(number.as_f64().expect("a number")),
            Value::Int,
        ),
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(value).collect()),
        Json::Object(map) => Value::Object(
            map.iter()
                .map(|(key, item)| (key.clone(), value(item)))
                .collect(),
        ),
    }
}

struct Case {
    name: String,
    json: Json,
    input: RenderInput,
}

impl Case {
    /// A case from what the reference is given.
    fn new(name: String, json: Json) -> Self {
        let list = |key: &str| value(&json[key]).as_array().map(<[Value]>::to_vec);
        let mut input = RenderInput::new(list("messages").expect("a list"));
        input.tools = list("tools");
        input.documents = list("documents");
        input.add_generation_prompt = json["add_generation_prompt"] == true;
        let kwargs = value(&json["kwargs"]);
        input.kwargs = kwargs.as_object().cloned().unwrap_or_else(Map::new);
        input.clock = Clock::date(2025, 1, 5).and_then(|clock| clock.at(14, 3, 9));
        Self { name, input, json }
    }
}

/// Every conversation with and without the generation prompt, with each set of kwargs.
fn cases(every_kwargs: bool) -> Vec<Case> {
    let path = root().join("tests/chat_templates_odd/inputs.json");
    let set: Json =
        serde_json::from_str(&std::fs::read_to_string(path).expect("inputs.json")).expect("JSON");
    let mut out = Vec::new();
    for (name, conversation) in set["conversations"].as_object().expect("an object") {
        let tools = conversation.get("tools").map(|names| {
            let names = names.as_array().expect("a list").iter();
            Json::Array(
                names
                    .map(|name| set["tools"][name.as_str().expect("a name")].clone())
                    .collect(),
            )
        });
        let documents = conversation
            .get("documents")
            .map(|_| set["documents"].clone());
        for (index, kwargs) in set["kwargs"].as_array().expect("a list").iter().enumerate() {
            for prompt in [false, true] {
                if index > 0 && !every_kwargs {
                    continue;
                }
                let mut kwargs = kwargs.clone();
                kwargs["bos_token"] = json!("<s>");
                kwargs["eos_token"] = json!("</s>");
                out.push(Case::new(
                    format!("{name}/{index}/{prompt}"),
                    json!({
                        "messages": conversation["messages"],
                        "tools": tools,
                        "documents": documents,
                        "add_generation_prompt": prompt,
                        "kwargs": kwargs,
                    }),
                ));
            }
        }
    }
    out
}

/// Renders every template with its cases on both sides and lists the differences.
fn compare<C: std::borrow::Borrow<[Case]>>(
    script: &str,
    templates: &[(String, String)],
    cases: &dyn Fn(&ChatTemplate) -> C,
) {
    let prepared: Vec<(&str, Result<ChatTemplate, String>, C)> = templates
        .iter()
        .map(|(name, source)| {
            let compiled = ChatTemplate::new(source);
            let none = || ChatTemplate::new("").expect("a template");
            let cases = cases(compiled.as_ref().unwrap_or(&none()));
            (
                name.as_str(),
                compiled.map_err(|error| error.to_string()),
                cases,
            )
        })
        .collect();
    let lines: Vec<String> = templates
        .iter()
        .zip(&prepared)
        .map(|((_, source), (_, _, cases))| {
            let inputs: Vec<&Json> = cases.borrow().iter().map(|case| &case.json).collect();
            json!({"template": source, "inputs": inputs}).to_string()
        })
        .collect();
    let Some(answers) = crate::support::reference::ask(script, &lines) else {
        return;
    };
    let (mut equal, mut total, mut refused, mut raised) = (0, 0, 0, 0);
    let mut differences = String::new();
    for ((name, compiled, cases), answer) in prepared.iter().zip(&answers) {
        let answer: Json = serde_json::from_str(answer).expect("JSON");
        let cases = cases.borrow();
        let (mut shown, mut differing) = (0, 0);
        for (case, theirs) in cases
            .iter()
            .zip(answer["results"].as_array().expect("a list"))
        {
            total += 1;
            let ours = match compiled {
                Ok(template) => template.render(&case.input).map_err(words),
                Err(error) => Err(error.clone()),
            };
            let theirs = theirs["text"]
                .as_str()
                .ok_or_else(|| theirs["error"].as_str().expect("an error").to_owned());
            let same = match (&ours, &theirs) {
                (Ok(ours), Ok(theirs)) => ours == theirs,
                // What the template itself raises is raised in its words; others say in their own what Python does not allow.
                (Err(ours), Err(theirs)) => {
                    refused += 1;
                    let by_template = theirs.starts_with(RAISED);
                    raised += usize::from(by_template);
                    by_template == ours.starts_with(RAISED) && (!by_template || ours == theirs)
                }
                _ => false,
            };
            if same {
                equal += 1;
                continue;
            }
            differing += 1;
            if shown < 2 {
                shown += 1;
                let _ = writeln!(
                    differences,
                    "{name} [{}]\n{}\n  {}",
                    case.name,
                    difference(&ours, &theirs),
                    case.json
                );
            }
        }
        if differing > 0 {
            let _ = writeln!(
                differences,
                "{name}: {differing} of {} differ\n",
                cases.len()
            );
        }
    }
    eprintln!(
        "{total} renders, {refused} refused by both, {raised} of these by the template itself"
    );
    assert!(
        equal == total,
        "{differences}\n{equal} of {total} renders equal"
    );
}

/// The script that renders as transformers does.
const SCRIPT: &str = "render.py";

/// How the reference names what a template raises.
const RAISED: &str = "TemplateError: ";

/// An error as the reference would write it, as far as that is promised.
fn words(error: RenderError) -> String {
    match error {
        RenderError::Raised { message } => format!("{RAISED}{message}").chars().take(300).collect(),
        other => other.to_string(),
    }
}

fn difference(ours: &Result<String, String>, theirs: &Result<&str, String>) -> String {
    let (Ok(ours), Ok(theirs)) = (ours, theirs) else {
        return format!("  ours: {ours:?}\n  theirs: {theirs:?}");
    };
    let same = ours
        .chars()
        .zip(theirs.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let window = |text: &str| {
        text.chars()
            .skip(same.saturating_sub(30))
            .take(90)
            .collect::<String>()
    };
    format!(
        "  ours: ...{:?}\n  theirs: ...{:?}",
        window(ours),
        window(theirs)
    )
}

fn jinja_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            jinja_files(&path, out);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "jinja")
        {
            out.push(path);
        }
    }
}

/// The corpus of real templates, where there is one; with `OBVERSE_ONLY` set, those whose names hold it.
fn corpus() -> Option<Vec<(String, String)>> {
    let only = std::env::var("OBVERSE_ONLY").unwrap_or_default();
    let templates: Vec<(String, String)> = crate::support::corpus::templates()
        .into_iter()
        .filter(|(name, _)| name.contains(&only))
        .map(|(name, path)| (name, std::fs::read_to_string(path).expect("a template")))
        .collect();
    (!templates.is_empty()).then_some(templates)
}

/// Each paragraph of the odd templates, named by its file and number.
fn odd() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    jinja_files(&root().join("tests/chat_templates_odd"), &mut paths);
    let mut out = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a template");
        let file = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        for (index, source) in text.split("\n=====\n").enumerate() {
            out.push((format!("{file}[{index}] {source:.60?}"), source.to_owned()));
        }
    }
    out
}

#[test]
fn odd_templates_render_as_in_transformers() {
    let few = |name: &str| {
        [
            "plain/0",
            "parts/0/false",
            "two_calls/0/true",
            "empty/0",
            "unicode/0/false",
        ]
        .iter()
        .any(|key| name.starts_with(key))
    };
    let cases: Vec<Case> = cases(false)
        .into_iter()
        .filter(|case| few(&case.name))
        .collect();
    compare(SCRIPT, &odd(), &|_| cases.as_slice());
}

/// Each template renders every eleventh case, beginning at another than the one before it.
#[test]
fn real_templates_render_as_in_transformers() {
    const STEP: usize = 11;
    let Some(templates) = corpus() else { return };
    let sampled: Vec<Vec<Case>> = (0..STEP)
        .map(|first| cases(true).into_iter().skip(first).step_by(STEP).collect())
        .collect();
    let turn = std::cell::Cell::new(0);
    compare(SCRIPT, &templates, &|_| {
        sampled[turn.replace(turn.get() + 1) % STEP].as_slice()
    });
}

#[test]
#[ignore = "half a minute; `.ci/run` runs it"]
fn real_templates_render_as_in_transformers_at_length() {
    let Some(templates) = corpus() else { return };
    let cases = cases(true);
    compare(SCRIPT, &templates, &|_| cases.as_slice());
}

/// How many conversations are made up for each template.
const MADE_UP: usize = 7;

/// How many where more time may be taken.
const MANY_MADE_UP: usize = 60;

#[test]
fn made_up_conversations_render_as_in_transformers() {
    made_up(MADE_UP);
}

#[test]
#[ignore = "half a minute; `.ci/run` runs it"]
fn many_made_up_conversations_render_as_in_transformers() {
    made_up(MANY_MADE_UP);
}

/// Conversations made up at random, with values that nobody would expect, under the kwargs that each template reads.
/// `OBVERSE_SEED` chooses others, `OBVERSE_CASES` how many.
fn made_up(many: usize) {
    let Some(templates) = corpus() else { return };
    let many = std::env::var("OBVERSE_CASES")
        .ok()
        .and_then(|many| many.parse().ok())
        .unwrap_or(many);
    let seed = Random::new(20_251_120).next();
    compare(SCRIPT, &templates, &|template| {
        (0..many)
            .map(|index| {
                let mut random = Random::part(seed, index as u64);
                let conversation = generate::conversation(&mut random);
                let json = generate::with_kwarg(&mut random, template, conversation);
                Case::new(format!("made up {index}"), json)
            })
            .collect::<Vec<Case>>()
    });
}

#[test]
fn watching_a_render_does_not_change_it() {
    let Some(templates) = corpus() else { return };
    for (name, source) in &templates {
        let template = ChatTemplate::new(source).unwrap_or_else(|error| panic!("{name}: {error}"));
        for case in cases(false) {
            let plain = template.render(&case.input);
            let watched = template.render_observed(&case.input).map(|(text, _)| text);
            assert_eq!(plain, watched, "{name} {}", case.name);
        }
    }
}

/// Every template of the suite: the odd ones, those that change what they hold, the project's own and the corpus.
fn all() -> Vec<(String, String)> {
    let mut all = odd();
    all.extend(changing::templates());
    let mut own = Vec::new();
    jinja_files(&root().join("chat_templates"), &mut own);
    all.extend(own.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).expect("a template");
        (path.display().to_string(), text)
    }));
    all.extend(corpus().unwrap_or_default());
    all
}

#[test]
fn origins_cover_every_render_and_are_right() {
    let mut seen = 0;
    let inputs = cases(false);
    for (name, source) in all() {
        let Ok(template) = ChatTemplate::new(&source) else {
            continue;
        };
        for case in &inputs {
            let name = format!("{name} {}", case.name);
            seen += usize::from(origins::assert_told(&name, &source, &template, &case.input));
        }
        for index in 0..10 {
            let mut random = Random::part(20_261_120, index);
            let conversation = generate::conversation(&mut random);
            let json = generate::with_kwarg(&mut random, &template, conversation);
            let case = Case::new(format!("{name} made up {index}"), json);
            seen += usize::from(origins::assert_told(
                &case.name,
                &source,
                &template,
                &case.input,
            ));
        }
    }
    assert!(seen > 500, "only {seen} renders");
    eprintln!("{seen} renders told");
}

/// `OBVERSE_SEED` chooses other changes, `OBVERSE_CASES` how many for each template.
#[test]
fn a_changed_input_changes_only_what_comes_from_it() {
    let many = std::env::var("OBVERSE_CASES")
        .ok()
        .and_then(|many| many.parse().ok())
        .unwrap_or(MADE_UP);
    let seed = Random::new(20_261_121).next();
    let inputs = cases(false);
    let mut asked = 0;
    for (name, source) in all() {
        let Ok(template) = ChatTemplate::new(&source) else {
            continue;
        };
        for index in 0..many {
            let mut random = Random::part(seed, index as u64);
            let case = if random.once_in(2) {
                let conversation = generate::conversation(&mut random);
                let json = generate::with_kwarg(&mut random, &template, conversation);
                &Case::new(format!("made up {index}"), json)
            } else {
                &inputs[random.below(inputs.len())]
            };
            let name = format!("{name} {} {index}", case.name);
            let mut input = case.input.clone();
            input.rules.keep_nulls = random.once_in(2);
            input.rules.list_methods = random.once_in(2);
            asked += usize::from(origins::assert_contained(
                &mut random,
                &name,
                &template,
                &input,
            ));
        }
    }
    assert!(asked > 1000, "only {asked} changes");
    eprintln!("{asked} changes");
}

/// The same of templates that are made up as well, of which many fail; `OBVERSE_CASES` says how many.
#[test]
fn made_up_expressions_keep_their_origins() {
    made_up_expressions(1500);
}

#[test]
#[ignore = "five seconds; `.ci/run` runs it"]
fn many_made_up_expressions_keep_their_origins() {
    made_up_expressions(6000);
}

fn made_up_expressions(many: usize) {
    let many = std::env::var("OBVERSE_CASES")
        .ok()
        .and_then(|many| many.parse().ok())
        .unwrap_or(many);
    let seed = Random::new(20_261_123).next();
    let (mut told, mut asked) = (0, 0);
    for index in 0..many {
        let mut random = Random::part(seed, index as u64);
        let source = expressions::template(&mut random);
        let template = ChatTemplate::new(&source).expect(&source);
        for _ in 0..4 {
            let texts = ["a-b c", "ab\n\"a'", "", "- a", "banana\n\nx", "é<&>"];
            let mut text = || random.pick(&texts);
            let json = json!({
                "messages": [
                    {"role": "user", "content": text(), "tool_calls": [{"name": text()}]},
                    {"role": "assistant", "content": text()},
                ],
                "add_generation_prompt": false,
                "kwargs": {"x": text(), "y": [text(), text(), 3], "z": {"k": text()}, "n": 12},
            });
            let case = Case::new(source.clone(), json);
            if origins::assert_told(&source, &source, &template, &case.input) {
                told += 1;
                asked += usize::from(origins::assert_contained(
                    &mut random,
                    &source,
                    &template,
                    &case.input,
                ));
            }
        }
    }
    assert!(
        told * 4 > many && asked * 8 > many,
        "{told} told, {asked} asked"
    );
    eprintln!("{told} renders, {asked} changes");
}
