//! Chat templates rendered by Obverse and by transformers: the same bytes, and a refusal where it refuses.
//!
//! Two sets of templates: those of `tests/chat_templates_odd/*.jinja`, each file holding many small templates with a
//! line `=====` between them, and a corpus of real ones (`OBVERSE_CORPUS`, or `corpus/` at the top of the checkout).

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use obverse::chat_template::{ChatTemplate, Clock, RenderInput};
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
                let list = |json: &Option<Json>| {
                    json.as_ref()
                        .map(|json| value(json).as_array().expect("a list").to_vec())
                };
                out.push(Case {
                    name: format!("{name}/{index}/{prompt}"),
                    input: RenderInput {
                        messages: value(&conversation["messages"])
                            .as_array()
                            .expect("a list")
                            .to_vec(),
                        tools: list(&tools),
                        documents: list(&documents),
                        add_generation_prompt: prompt,
                        kwargs: value(&kwargs).as_object().cloned().unwrap_or_else(Map::new),
                        clock: Clock::date(2025, 1, 5).and_then(|clock| clock.at(14, 3, 9)),
                    },
                    json: json!({
                        "messages": conversation["messages"],
                        "tools": tools,
                        "documents": documents,
                        "add_generation_prompt": prompt,
                        "kwargs": kwargs,
                    }),
                });
            }
        }
    }
    out
}

/// Renders every template with every case on both sides and lists the differences.
fn compare(templates: &[(String, String)], cases: &[Case]) {
    let lines: Vec<String> = templates
        .iter()
        .map(|(_, source)| {
            let inputs: Vec<&Json> = cases.iter().map(|case| &case.json).collect();
            json!({"template": source, "inputs": inputs}).to_string()
        })
        .collect();
    let Some(answers) = support::reference::ask("render.py", &lines) else {
        return;
    };
    let (mut equal, mut total, mut refused) = (0, 0, 0);
    let mut differences = String::new();
    for ((name, source), answer) in templates.iter().zip(&answers) {
        let answer: Json = serde_json::from_str(answer).expect("JSON");
        let compiled = ChatTemplate::new(source);
        let mut shown = 0;
        let mut differing = 0;
        for (case, theirs) in cases
            .iter()
            .zip(answer["results"].as_array().expect("a list"))
        {
            total += 1;
            let ours = match &compiled {
                Ok(template) => template
                    .render(&case.input)
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            let theirs = theirs["text"]
                .as_str()
                .ok_or_else(|| theirs["error"].to_string());
            match (&ours, &theirs) {
                (Ok(ours), Ok(theirs)) if ours == theirs => equal += 1,
                (Err(_), Err(_)) => {
                    equal += 1;
                    refused += 1;
                }
                _ => {
                    differing += 1;
                    if shown < 2 {
                        shown += 1;
                        let _ = writeln!(
                            differences,
                            "{name} [{}]\n{}",
                            case.name,
                            difference(&ours, &theirs)
                        );
                    }
                }
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
    assert!(
        equal == total,
        "{differences}\n{equal} of {total} renders equal ({refused} refused by both)"
    );
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
    let templates: Vec<(String, String)> = support::corpus::templates()
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
    compare(&odd(), &cases);
}

#[test]
fn real_templates_render_as_in_transformers() {
    let Some(templates) = corpus() else { return };
    compare(&templates, &cases(true));
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
