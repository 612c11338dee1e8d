//! The official SDKs as clients of the server, for the fixtures of the project's response templates: what they assemble is the message.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use obverse::chat_template::{self, RenderInput};
use obverse::check;
use obverse::deltas::encode::Protocol;
use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

use super::Server;
use super::upstream::{Fake, response};
use crate::support::clients::{ask, object, parsed, python, seen};
use crate::support::parsing::cut;
use crate::support::random::Random;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The suite or the folder of a model's fixtures.
fn fixtures(model: &str) -> PathBuf {
    let folder = root().join("fixtures").join(model);
    match folder.exists() {
        true => folder,
        false => root().join(format!("fixtures/{model}.jsonl")),
    }
}

/// A fixture that is asked for.
struct Subject {
    name: String,
    question: String,
    tools: Vec<Value>,
    message: Map,
}

/// The fixtures of a model that parse after the prompt of the question that asks for them, each with its response.
fn subjects(model: &str) -> (Vec<Subject>, Vec<String>) {
    let path = root().join(format!("chat_templates/{model}.jinja"));
    let chat = chat_template::load(&path)
        .expect("a chat template")
        .assuming_tokens();
    let document = root().join(format!("derived/{model}.json"));
    let document = std::fs::read_to_string(document).expect("a response template");
    let template = Arc::new(ResponseTemplate::from_json(&document).expect("a response template"));
    let (mut subjects, mut responses) = (Vec::new(), Vec::new());
    for found in check::find(&fixtures(model)).expect("fixtures") {
        let fixture = found.read().expect("a fixture");
        let question = format!("question number {}.", subjects.len());
        let user = object([
            ("role", Value::from("user")),
            ("content", Value::from(question.as_str())),
        ]);
        let mut input = RenderInput::new(vec![user]);
        input.tools = (!fixture.tools.is_empty()).then(|| fixture.tools.clone());
        input.add_generation_prompt = true;
        let template_of = chat
            .select(!fixture.tools.is_empty())
            .expect("a chat template");
        let Ok(prompt) = template_of.render(&input) else {
            continue;
        };
        // What is cut short stays with the client as far as it came.
        let parsed = parse_response(
            &fixture.response,
            Arc::clone(&template),
            &prompt,
            &fixture.tools,
        );
        let Ok(message) = parsed else { continue };
        if found.name.ends_with("truncated") {
            continue;
        }
        subjects.push(Subject {
            name: format!("{model} {}", found.name),
            question,
            tools: fixture.tools,
            message,
        });
        responses.push(fixture.response);
    }
    (subjects, responses)
}

/// One server for each of the models, and each fixture by as many of the protocols, streamed or not.
fn assembled(models: &[String], protocols: usize, random: &mut Random) -> usize {
    let Some(python) = python() else { return 0 };
    let mut asked = 0;
    for model in models {
        let (subjects, responses) = subjects(model);
        let chunked: Vec<Vec<String>> = responses
            .iter()
            .map(|response| {
                cut(random, response)
                    .into_iter()
                    .map(str::to_owned)
                    .collect()
            })
            .collect();
        let fake = Fake::new(move |asked| {
            let prompt = asked
                .get("prompt")
                .and_then(Value::as_str)
                .expect("a prompt");
            let (_, rest) = prompt.split_once("question number ").expect("a question");
            let number: usize = rest
                .split('.')
                .next()
                .expect("a number")
                .parse()
                .expect("a number");
            response(chunked[number].iter().map(String::as_str))
        });
        let path = |name: &str| root().join(name).to_string_lossy().into_owned();
        let chat = path(&format!("chat_templates/{model}.jinja"));
        let template = path(&format!("derived/{model}.json"));
        let server = Server::start(
            root(),
            &[
                "--upstream",
                &fake.url,
                "--model",
                &chat,
                "--template",
                &template,
            ],
        );
        let (mut lines, mut expected) = (Vec::new(), Vec::new());
        for (index, subject) in subjects.iter().enumerate() {
            let all = [Protocol::OpenAi, Protocol::Responses, Protocol::Anthropic];
            for (turn, protocol) in all
                .into_iter()
                .cycle()
                .skip(index)
                .take(protocols)
                .enumerate()
            {
                let stream = (index / 3 + turn) % 2 == 0;
                let line = object([
                    ("protocol", Value::from(protocol.name())),
                    ("url", Value::from(server.url())),
                    ("stream", Value::from(stream)),
                    ("question", Value::from(subject.question.as_str())),
                    ("tools", Value::Array(subject.tools.clone())),
                ]);
                lines.push(json::to_string(&line));
                expected.push((subject, protocol, stream));
            }
        }
        let answers = ask(&python, "clients/ask.py", &lines);
        assert_eq!(answers.len(), expected.len());
        for ((subject, protocol, stream), mut answer) in expected.into_iter().zip(answers) {
            let what = format!(
                "{} by {}, streamed: {stream}",
                subject.name,
                protocol.name()
            );
            let Value::Object(members) = &mut answer else {
                panic!("{what}: no answer");
            };
            let usage = members.shift_remove("usage").unwrap_or_default();
            let id = members.shift_remove("id").unwrap_or_default();
            let id = id
                .as_str()
                .unwrap_or_else(|| panic!("{what}: {}", json::to_string(&answer)));
            assert_eq!(
                json::to_string(&parsed(answer.clone())),
                json::to_string(&seen(&subject.message, id, protocol)),
                "{what}"
            );
            assert_eq!(json::to_string(&usage), "[7, 5]", "{what}");
            asked += 1;
        }
    }
    asked
}

fn models() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("chat_templates")).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let has = |path: &PathBuf| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        let is_whole =
            root().join(format!("derived/{stem}.json")).exists() && fixtures(&stem).exists();
        (path.extension()? == "jinja" && is_whole).then_some(stem)
    };
    let mut models: Vec<String> = paths.filter_map(|path| has(&path)).collect();
    models.sort();
    models
}

#[test]
fn the_sdks_get_the_messages_of_fixtures() {
    let chosen = ["glm4_6", "gpt_oss", "qwen3"].map(str::to_owned);
    if python().is_none() {
        return;
    }
    let asked = assembled(&chosen, 1, &mut Random::new(1));
    assert!(asked >= 9, "{asked}");
}

#[test]
#[ignore = "some minutes; `.ci/run` runs it"]
fn the_sdks_get_the_messages_of_all_fixtures_by_every_protocol() {
    if python().is_none() {
        return;
    }
    let asked = assembled(&models(), 3, &mut Random::new(2));
    eprintln!("{asked} exchanges");
    assert!(asked > 600, "{asked}");
}
