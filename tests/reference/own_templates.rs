//! The chat templates that this project wrote render like the real ones that they stand for, and Obverse renders them like
//! the reference.
//!
//! `tests/corpus/pairs.tsv` says which belong together, `tests/corpus/conversations.json` what is rendered.

#![allow(clippy::print_stdout, reason = "a test says how much it has seen")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use obverse::chat_template::{ChatTemplate, RenderInput};
use serde_json::{Value, json};

/// One of the project's templates and the real one that it must render like.
struct Pair {
    ours: String,
    real: String,
    same: Same,
}

/// How much of the text must be the same.
#[derive(Clone, Copy, PartialEq)]
enum Same {
    /// The whole of it.
    All,
    /// What follows the instructions at the beginning.
    Turns,
    /// What follows the last instructions: some formats put words of their own beside all that the system says.
    Answers,
    /// What follows the instructions at the beginning, up to the text of the last message: some formats instruct once more
    /// at the end.
    Within,
}

fn pairs() -> Vec<Pair> {
    include_str!("../corpus/pairs.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let columns: Vec<_> = line.split('\t').collect();
            let [ours, real, same] = columns[..] else {
                panic!("three columns: {line:?}");
            };
            Pair {
                ours: ours.to_owned(),
                real: real.to_owned(),
                same: match same {
                    "all" => Same::All,
                    "turns" => Same::Turns,
                    "answers" => Same::Answers,
                    "within" => Same::Within,
                    _ => panic!("unknown: {same:?}"),
                },
            }
        })
        .collect()
}

/// Every conversation with and without tools, with thinking on, off and not mentioned, to be answered or complete. Thinking
/// stays unmentioned where none of the templates' `sources` reads it.
///
/// Of these every `step`th is returned, for each template `index` beginning elsewhere, so that no conversation is left out.
fn inputs(sources: &[&str], index: usize, step: usize) -> Vec<(String, Value)> {
    let switched = sources
        .iter()
        .any(|source| source.contains("enable_thinking"));
    let thinkings: &[Option<bool>] = if switched {
        &[None, Some(true), Some(false)]
    } else {
        &[None]
    };
    static DATA: LazyLock<Value> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../corpus/conversations.json")).expect("conversations")
    });
    let conversations = DATA["conversations"].as_array().expect("a list");
    let mut variants = Vec::new();
    for conversation in conversations {
        for tools in [false, true] {
            for thinking in thinkings.iter().copied() {
                variants
                    .extend([false, true].map(|prompt| (conversation, tools, thinking, prompt)));
            }
        }
    }
    let sampled = variants.into_iter().skip(index % step).step_by(step);
    let sampled = sampled.map(|(conversation, tools, thinking, prompt)| {
        let mut input =
            json!({"messages": conversation["messages"], "add_generation_prompt": prompt});
        if let Some(more) = conversation.get("inputs") {
            input
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
        }
        if tools {
            input["tools"] = DATA["tools"].clone();
        }
        if let Some(thinking) = thinking {
            input["enable_thinking"] = thinking.into();
        }
        let name = conversation["name"].as_str().expect("a name");
        let name = format!("{name} (tools {tools}, thinking {thinking:?}, prompt {prompt})");
        (name, input)
    });
    sampled.collect()
}

/// Of how many inputs one is rendered where nothing else is asked. No divisor of the number of variants of a conversation, so that
/// all of them have their turn.
const STEP: usize = 97;

/// The text of a message as it can be found in a render.
fn text_of(message: &Value) -> Option<&str> {
    let content = &message["content"];
    let text = content
        .as_str()
        .or_else(|| {
            content
                .as_array()?
                .iter()
                .find_map(|part| part["text"].as_str())
        })?
        .trim();
    (!text.is_empty()).then_some(text)
}

/// What follows the instructions: from the first message's text on, with the end of the turn header before it. Without
/// instructions that come `later`, the first message is one after all of them.
fn turns<'a>(render: &'a str, input: &Value, later: bool) -> &'a str {
    /// Enough for the end of a turn and the header of the next one in every format.
    const HEADER: usize = 16;
    // Text about tools and documents may follow the system message's own.
    let described = ["tools", "documents", "custom_tools", "available_tools"]
        .iter()
        .any(|key| input.get(key).is_some());
    let messages = input["messages"].as_array().expect("messages");
    let instructs = |message: &Value| {
        ["system", "developer", "root"]
            .iter()
            .any(|role| message["role"] == *role)
    };
    let instructed = messages.iter().rposition(instructs);
    for (index, message) in messages.iter().enumerate() {
        let system = instructs(message);
        let skipped = if later {
            system && described
        } else {
            instructed.is_some_and(|last| index <= last)
        };
        if skipped {
            continue;
        }
        if let Some(start) = text_of(message).and_then(|text| render.find(text)) {
            let before = if system { 0 } else { HEADER };
            let start = start.saturating_sub(before);
            let boundary = (0..=start).rfind(|at| render.is_char_boundary(*at));
            return &render[boundary.expect("the beginning is one")..];
        }
    }
    ""
}

/// What stands before the end of the last message's text, or everything.
fn until_last_text<'a>(render: &'a str, input: &Value) -> &'a str {
    let messages = input["messages"].as_array().expect("messages");
    messages
        .iter()
        .rev()
        .filter_map(text_of)
        .find_map(|text| Some(&render[..render.rfind(text)? + text.len()]))
        .unwrap_or(render)
}

#[test]
fn every_own_template_has_a_real_one() {
    let paired: BTreeSet<_> = pairs().into_iter().map(|pair| pair.ours).collect();
    let written: BTreeSet<_> =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("chat_templates"))
            .expect("chat_templates/")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .filter(|name| name.ends_with(".jinja"))
            .collect();
    assert_eq!(paired, written);
}

/// One of the project's templates as Obverse renders it, with the special tokens that the reference is given.
fn obverse(template: &ChatTemplate, input: &Value) -> Result<String, String> {
    let obverse::value::Value::Object(mut kwargs) =
        obverse::value::json::parse(&input.to_string()).expect("JSON")
    else {
        panic!("an object");
    };
    let mut list = |key: &str| {
        kwargs
            .shift_remove(key)
            .map(|value| value.as_array().expect("a list").to_vec())
    };
    let (messages, tools, documents) = (list("messages"), list("tools"), list("documents"));
    let prompt = kwargs.shift_remove("add_generation_prompt");
    for (name, token) in [("bos_token", "<s>"), ("eos_token", "</s>")] {
        kwargs.insert(name.to_owned(), token.into());
    }
    let mut input = RenderInput::new(messages.expect("messages"));
    input.tools = tools;
    input.documents = documents;
    input.add_generation_prompt = prompt.is_some_and(|prompt| prompt.is_truthy());
    input.kwargs = kwargs;
    template.render(&input).map_err(|error| error.to_string())
}

#[test]
fn obverse_renders_own_templates_like_the_reference() {
    obverse_beside_the_reference(STEP);
}

#[test]
#[ignore = "a minute; `.ci/run` runs it"]
fn obverse_renders_own_templates_like_the_reference_at_length() {
    obverse_beside_the_reference(1);
}

fn obverse_beside_the_reference(step: usize) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("chat_templates");
    let ours: BTreeSet<_> = pairs().into_iter().map(|pair| pair.ours).collect();
    let Some(mut reference) = crate::support::reference::Session::start("own_templates.py") else {
        return;
    };
    for (index, name) in ours.into_iter().enumerate() {
        let path = own.join(&name);
        let source = std::fs::read_to_string(&path).expect("a template");
        let template = ChatTemplate::new(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut inputs = inputs(&[&source], index, step);
        if source.contains("strftime_now") {
            for (_, input) in &mut inputs {
                input["date_string"] = "1 Jan 2030".into();
            }
        }
        let lines: Vec<_> = inputs
            .iter()
            .map(|(_, input)| json!({"ours": path, "input": input}).to_string())
            .collect();
        let answers = reference.ask(&lines);
        for ((conversation, input), answer) in inputs.iter().zip(answers) {
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            let expected = answer["ours"]["text"].as_str();
            let found = obverse(&template, input);
            if let (Err(error), Some(_)) = (&found, expected) {
                panic!("{name}: {conversation}: {error}");
            }
            assert_eq!(
                found.ok().as_deref(),
                expected,
                "{name}: {conversation}: {answer}"
            );
        }
    }
}

#[test]
fn own_templates_render_like_the_real_ones() {
    own_beside_real(STEP);
}

#[test]
#[ignore = "minutes; `.ci/run` runs it"]
fn own_templates_render_like_the_real_ones_at_length() {
    own_beside_real(1);
}

fn own_beside_real(step: usize) {
    let Some(corpus) = crate::support::corpus::dir() else {
        return;
    };
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("chat_templates");
    let Some(mut reference) = crate::support::reference::Session::start("own_templates.py") else {
        return;
    };
    for (index, pair) in pairs().into_iter().enumerate() {
        let [ours, real] = [own.join(&pair.ours), corpus.join(&pair.real)].map(|path| {
            std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        });
        let inputs = inputs(&[&ours, &real], index, step);
        let lines: Vec<_> = inputs
            .iter()
            .map(|(_, input)| {
                json!({"ours": own.join(&pair.ours), "real": corpus.join(&pair.real), "input": input}).to_string()
            })
            .collect();
        let answers = reference.ask(&lines);
        let mut rendered = 0;
        for ((name, input), answer) in inputs.iter().zip(answers) {
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            let (ours, real) = (&answer["ours"], &answer["real"]);
            let place = format!("{} beside {}: {name}", pair.ours, pair.real);
            let Some(real_text) = real["text"].as_str() else {
                // What a template refuses belongs to its format; what it merely stumbles over does not.
                if real["error"] == "TemplateError" {
                    assert_eq!(
                        ours["error"], "TemplateError",
                        "{place}: the real one refuses it: {real}"
                    );
                }
                continue;
            };
            let our_text = ours["text"]
                .as_str()
                .unwrap_or_else(|| panic!("{place}: {ours}"));
            let [our_text, real_text] = [our_text, real_text].map(|text| match pair.same {
                Same::All => text,
                Same::Turns => turns(text, input, true),
                Same::Answers => turns(text, input, false),
                Same::Within => until_last_text(turns(text, input, true), input),
            });
            assert_eq!(our_text, real_text, "{place}");
            rendered += 1;
        }
        println!(
            "{} beside {}: {rendered} of {} rendered",
            pair.ours,
            pair.real,
            inputs.len()
        );
        // A few of them may all be what the real one refuses.
        assert!(rendered > 0 || step > 1, "{} renders nothing", pair.real);
    }
}
