//! The masks of unmarked chat templates beside those of marked ones: TRL's training templates, marked by hand, and what
//! `obverse annotate` marks; both rendered by transformers, which tells what its marks hold.
//!
//! The page is written by this test with `OBVERSE_UPDATE` set, and it fails when the page is stale.

mod marked;
mod pairs;
mod stretches;

use std::path::Path;
use std::sync::{Mutex, OnceLock};

use obverse::chat_template::{self, ChatTemplate, Clock, RenderInput};
use obverse::conversation::spans::{self, Spans};
use obverse::value::{Map, Value, json};

use crate::support::reference::{self, Session};
use crate::support::{corpus, pages};

const PAGE: &str = "docs/masks.md";

const HEAD: &str = "\
# Masks

Which characters of a conversation did the model write? [`obverse spans`](spans.md) tells it of every chat template, and trainers know it
of those alone whose authors put `{% generation %}` marks into them. This page holds the two against each other. The conversations are
those of `tests/corpus/conversations.json`, with and without tools, and with thinking on, off and not mentioned where a chat template
reads that. What is marked is told by transformers as it renders. The page is written by
`OBVERSE_UPDATE=1 cargo test --test reference masks -- --ignored`, and the same test without it fails when the page is stale.
";

/// A conversation as it is rendered.
struct Case {
    name: String,
    input: RenderInput,
}

impl Case {
    /// A line's worth for the reference.
    fn to_value(&self) -> Value {
        let input = &self.input;
        let list = |list: &Option<Vec<Value>>| list.clone().map_or(Value::Null, Value::Array);
        let mut kwargs = input.kwargs.clone();
        if input.add_generation_prompt {
            kwargs.insert("add_generation_prompt".to_owned(), Value::Bool(true));
        }
        object([
            ("messages", Value::Array(input.messages.clone())),
            ("tools", list(&input.tools)),
            ("kwargs", Value::Object(kwargs)),
        ])
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter();
    Value::Object(
        members
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

fn list_at(value: &Value, key: &str) -> Vec<Value> {
    let list = value.get(key).and_then(Value::as_array);
    list.expect("a list").to_vec()
}

/// The conversations for a source.
fn cases(source: &str) -> Vec<Case> {
    let data = json::parse(include_str!("../../corpus/conversations.json")).expect("JSON");
    let tools = list_at(&data, "tools");
    let thinkings: &[Option<bool>] = if source.contains("enable_thinking") {
        &[None, Some(true), Some(false)]
    } else {
        &[None]
    };
    let mut out = Vec::new();
    for conversation in &list_at(&data, "conversations") {
        let name = conversation
            .get("name")
            .and_then(Value::as_str)
            .expect("a name");
        for with_tools in [false, true] {
            for thinking in thinkings {
                let mut kwargs = Map::from_iter([
                    ("bos_token".to_owned(), Value::from("<s>")),
                    ("eos_token".to_owned(), Value::from("</s>")),
                ]);
                if let Some(thinking) = thinking {
                    kwargs.insert("enable_thinking".to_owned(), Value::Bool(*thinking));
                }
                let mut own = with_tools.then(|| tools.clone());
                if let Some(Value::Object(inputs)) = conversation.get("inputs") {
                    kwargs.extend(inputs.clone());
                    if let Some(Value::Array(named)) = kwargs.shift_remove("tools") {
                        own = Some(named);
                    }
                    kwargs.shift_remove("documents");
                }
                let mut input = RenderInput::new(list_at(conversation, "messages"));
                input.tools = own;
                input.kwargs = kwargs;
                input.clock = Clock::date(2025, 1, 5).and_then(|clock| clock.at(14, 3, 9));
                let name = name.to_owned();
                out.push(Case { name, input });
            }
        }
    }
    out
}

/// What the reference makes of a conversation: the text, and what is marked of it, in bytes.
type Rendered = Option<(String, Vec<(usize, usize)>)>;

/// Renders cases with some sources by the reference, which is started once for all of them; `None` where there is none.
fn rendered(sources: &[&str], cases: &[Case]) -> Option<Vec<Vec<Rendered>>> {
    static SESSION: OnceLock<Option<Mutex<Session>>> = OnceLock::new();
    let start = || Session::start("generated.py").map(Mutex::new);
    let session = SESSION.get_or_init(start).as_ref()?;
    let inputs = Value::Array(cases.iter().map(Case::to_value).collect());
    let lines: Vec<String> = sources
        .iter()
        .map(|source| {
            let question = [
                ("template", Value::from(*source)),
                ("inputs", inputs.clone()),
            ];
            json::to_string(&object(question))
        })
        .collect();
    let answers = session.lock().expect("nobody has failed").ask(&lines);
    let read = |answer: &String| {
        let answer = json::parse(answer).expect("JSON");
        list_at(&answer, "results").iter().map(of_result).collect()
    };
    Some(answers.iter().map(read).collect())
}

fn of_result(result: &Value) -> Rendered {
    let text = result.get("text")?.as_str()?.to_owned();
    let starts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let ranges = list_at(result, "generated").into_iter().map(|range| {
        let at = |index: usize| {
            let at = range.as_array().and_then(|range| range.get(index));
            let at = json::to_string(at.expect("an offset")).parse::<usize>();
            starts[at.expect("an offset")]
        };
        (at(0), at(1))
    });
    Some((text, stretches::joined(ranges.collect())))
}

/// What is told of a case here.
fn told(template: &ChatTemplate, case: &Case) -> Option<Spans> {
    spans::of_messages(template, &case.input).ok()
}

fn template(path: &Path) -> ChatTemplate {
    let source = chat_template::load(path).expect("a chat template");
    source.select(false).expect("a template").clone()
}

fn row(cells: &[String]) -> String {
    let cells = cells.iter().map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// A text in a table, its ends alone where it is long.
fn code(text: &str) -> String {
    let shown = text.replace('\n', "\\n");
    let count = shown.chars().count();
    if count <= 40 {
        return format!("`{shown}`");
    }
    let start: String = shown.chars().take(24).collect();
    let end: String = shown.chars().skip(count - 12).collect();
    format!("`{start}…{end}`")
}

/// The rows of a few chat templates stand in the page.
#[test]
fn a_few_rows_of_the_page() {
    /// One in so many.
    const STEP: usize = 24;
    if reference::python().is_none() || corpus::dir().is_none() {
        return;
    }
    let written = std::fs::read_to_string(PAGE).expect("the page");
    let paired = pairs::all().into_iter().step_by(STEP);
    let rows = paired.map(|pair| pairs::Compared::of(&pair).row);
    let marked = marked::all().into_iter().step_by(STEP);
    let rows = rows.chain(marked.map(|(name, path)| marked::Marked::of(&name, &path).row));
    for row in rows {
        assert!(written.contains(&row), "{PAGE} has no\n{row}");
    }
}

#[test]
#[ignore = "annotates the whole corpus; `.ci/run` runs it"]
fn the_masks_are_those_of_marked_templates() {
    if reference::python().is_none() || corpus::dir().is_none() {
        return;
    }
    let page = format!("{HEAD}{}{}", pairs::section(), marked::section());
    pages::hold(PAGE, &page, "--test reference masks -- --ignored");
}
