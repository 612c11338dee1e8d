//! What a traced render tells, held against the text it renders and against what it renders when one input is another.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use obverse::chat_template::{
    ChatTemplate, InputPath, InputStep, Origin, RenderError, RenderInput, Run, Traced,
};
use obverse::value::{Integer, Map, Value};

use crate::support::random::Random;

/// Asserts what holds for every traced render: the text is that of the plain one, the runs cover it, and where they say that
/// they show an input or the source, that is what is there.
pub fn assert_told(name: &str, source: &str, template: &ChatTemplate, input: &RenderInput) -> bool {
    let plain = template.render(input);
    let traced = match (plain, template.render_traced(input)) {
        (Ok(plain), Ok(traced)) => {
            assert_eq!(plain, traced.text, "{name}: tracing changes the text");
            traced
        }
        (Err(plain), Err(traced)) => {
            assert_eq!(plain, traced, "{name}: tracing changes the error");
            return false;
        }
        (plain, traced) => panic!("{name}: {plain:?} without tracing, {traced:?} with it"),
    };
    let mut at = 0;
    for run in &traced.runs {
        assert!(run.start == at && run.end > at, "{name}: {run:?} at {at}");
        at = run.end;
        let shown = traced.text.get(run.start..run.end);
        let shown = shown.unwrap_or_else(|| panic!("{name}: {run:?} cuts a character"));
        assert_origin(name, source, template, input, run, shown);
    }
    assert_eq!(at, traced.text.len(), "{name}: the runs end early");
    true
}

fn assert_origin(
    name: &str,
    source: &str,
    template: &ChatTemplate,
    input: &RenderInput,
    run: &Run,
    shown: &str,
) {
    match &run.origin {
        Origin::Source {
            start,
            end,
            from,
            derived,
        } => {
            let written = source
                .get(*start..*end)
                .unwrap_or_else(|| panic!("{name}: {run:?} is not in the source"));
            if !derived {
                assert_eq!(from.1 - from.0, shown.len(), "{name}: {run:?}");
                // An escape is longer than what it stands for.
                assert!(written.len() >= shown.len(), "{name}: {run:?}: {written:?}");
                if written.len() == shown.len() {
                    assert_eq!(written, shown, "{name}: {run:?}");
                }
            }
        }
        Origin::Input {
            path,
            from,
            derived,
            key,
            also,
        } => {
            assert!(!path.is_empty() && !also.contains(path), "{name}: {run:?}");
            let Some((start, end)) = *from else {
                if !derived {
                    let value = at_path(template, input, path);
                    let number = match value {
                        Some(Value::Int(number)) => number.to_string(),
                        Some(Value::Bool(value)) => value.to_string(),
                        Some(Value::Null) | None => "null".to_owned(),
                        // Python has its own way to write those.
                        Some(Value::Float(_)) => return,
                        other => panic!("{name}: {run:?} shows {other:?}"),
                    };
                    assert_eq!(number, shown, "{name}: {run:?}");
                }
                return;
            };
            let text = match (key, path.last()) {
                (true, Some(InputStep::Key(key))) => key.clone(),
                (true, other) => panic!("{name}: {run:?} is no key: {other:?}"),
                (false, _) => match at_path(template, input, path) {
                    Some(Value::String(text)) => text,
                    other => panic!("{name}: {run:?} shows bytes of {other:?}"),
                },
            };
            let part = text
                .get(start..end)
                .unwrap_or_else(|| panic!("{name}: {run:?} is not in {text:?}"));
            if !derived {
                assert_eq!(part, shown, "{name}: {run:?}");
            }
        }
    }
}

/// What the caller gave at a path.
fn at_path(template: &ChatTemplate, input: &RenderInput, path: &InputPath) -> Option<Value> {
    let Some((InputStep::Key(first), rest)) = path.split_first() else {
        return None;
    };
    let mut value = match first.as_str() {
        "messages" => Value::Array(input.messages.clone()),
        "tools" => Value::Array(input.tools.clone()?),
        "documents" => Value::Array(input.documents.clone()?),
        "add_generation_prompt" => Value::Bool(input.add_generation_prompt),
        name => input
            .kwargs
            .get(name)
            .or_else(|| template.special_tokens().get(name))?
            .clone(),
    };
    for step in rest {
        value = match (step, value) {
            (InputStep::Key(key), Value::Object(map)) => map.get(key)?.clone(),
            (InputStep::Index(index), Value::Array(items)) => items.get(*index)?.clone(),
            _ => return None,
        };
    }
    Some(value)
}

/// The inputs of a render as one value, and back.
fn gather(input: &RenderInput) -> Value {
    let list = |items: &Option<Vec<Value>>| items.clone().map_or(Value::Null, Value::Array);
    let mut map = input.kwargs.clone();
    map.insert("messages".to_owned(), Value::Array(input.messages.clone()));
    map.insert("tools".to_owned(), list(&input.tools));
    map.insert("documents".to_owned(), list(&input.documents));
    map.insert(
        "add_generation_prompt".to_owned(),
        Value::Bool(input.add_generation_prompt),
    );
    Value::Object(map)
}

fn scatter(value: &Value, input: &RenderInput) -> RenderInput {
    let list = |key: &str| {
        value
            .get(key)
            .and_then(Value::as_array)
            .map(<[Value]>::to_vec)
    };
    let given = ["messages", "tools", "documents", "add_generation_prompt"];
    let kwargs: Map = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !given.contains(&key.as_str()))
        .map(|(key, item)| (key.clone(), item.clone()))
        .collect();
    let mut scattered = input.clone();
    scattered.messages = list("messages").unwrap_or_default();
    scattered.tools = list("tools");
    scattered.documents = list("documents");
    scattered.add_generation_prompt =
        value.get("add_generation_prompt") == Some(&Value::Bool(true));
    scattered.kwargs = kwargs;
    scattered
}

/// One change of an input: where, and whether something came there or went away, which changes what holds it too.
struct Change {
    path: InputPath,
    whole: Value,
    is_shape: bool,
}

fn change(random: &mut Random, input: &RenderInput) -> Change {
    let mut whole = gather(input);
    let mut steps = Vec::new();
    let mut is_shape = false;
    descend(random, &mut whole, &mut steps, &mut is_shape);
    Change {
        path: InputPath::new(steps),
        whole,
        is_shape,
    }
}

fn descend(
    random: &mut Random,
    value: &mut Value,
    steps: &mut Vec<InputStep>,
    is_shape: &mut bool,
) {
    let at_top = steps.is_empty();
    match value {
        Value::Object(map) if !map.is_empty() && (at_top || !random.once_in(6)) => {
            let at = random.below(map.len());
            let key = map.keys().nth(at).cloned().unwrap_or_default();
            let only_value = ["messages", "tools", "documents", "add_generation_prompt"];
            steps.push(InputStep::Key(key.as_str().to_owned()));
            if random.once_in(8) && !(at_top && only_value.contains(&key.as_str())) {
                map.shift_remove(&key);
                *is_shape = true;
            } else if let Some(item) = map.get_mut(&key) {
                let is_list = at_top && key.as_str() == "messages";
                if !is_list || !random.once_in(4) {
                    descend(random, item, steps, is_shape);
                } else {
                    another(random, item);
                }
            }
        }
        Value::Object(map) if !at_top => {
            let key = random.pick(&["name", "content", "reasoning_content", "extra", "thinking"]);
            if map.get(key).is_none() {
                steps.push(InputStep::Key(key.to_owned()));
                *is_shape = true;
            } else {
                steps.push(InputStep::Key(key.to_owned()));
            }
            map.insert(key.to_owned(), Value::from("put there"));
        }
        Value::Array(items) if !items.is_empty() && !random.once_in(6) => {
            let at = random.below(items.len());
            steps.push(InputStep::Index(at));
            descend(random, &mut items[at], steps, is_shape);
        }
        other => another(random, other),
    }
}

/// Puts something else there.
fn another(random: &mut Random, value: &mut Value) {
    *value = match value {
        Value::String(text) => {
            let changed = match random.below(7) {
                0 => String::new(),
                1 => format!("{text}!"),
                2 => format!("  <b>\n{text}\n "),
                3 => "user".to_owned(),
                4 => text.to_uppercase(),
                5 => format!("{text}\n</think>\n'\"{text}é"),
                _ => "zwölf".to_owned(),
            };
            Value::from(changed.as_str())
        }
        Value::Bool(value) => Value::Bool(!*value),
        Value::Int(number) => {
            let more = number.as_i64().unwrap_or(0).wrapping_add(11);
            Integer::from_digits(&more.to_string()).map_or(Value::Null, Value::Int)
        }
        Value::Float(number) => Value::Float(*number + 1.5),
        Value::Null => Value::from("no longer null"),
        Value::Array(items) => {
            let mut items = items.clone();
            match items.pop() {
                Some(last) if random.once_in(2) => items.extend([last.clone(), last]),
                _ => {}
            }
            Value::Array(items)
        }
        Value::Object(map) => {
            let mut map = map.clone();
            map.insert("extra".to_owned(), Value::from("put there"));
            Value::Object(map)
        }
    };
}

/// Whether a change at `path` may change anything, since control flow read there.
fn is_excused(decided: &BTreeSet<InputPath>, path: &InputPath, is_shape: bool) -> bool {
    decided.iter().any(|read| {
        let leads_on = read.len() >= path.len();
        // The value that holds the place was read for its shape, which is another only when something came or went.
        let is_holder = is_shape && read.len() + 1 == path.len();
        (leads_on || is_holder) && read.is_along(path)
    })
}

/// The text without the runs that a change at `path` may change.
fn fixed(traced: &Traced, path: &InputPath) -> String {
    traced
        .runs
        .iter()
        .filter(|run| !run.origin.inputs().any(|input| input.is_along(path)))
        .map(|run| &traced.text[run.start..run.end])
        .collect()
}

/// A traced render, to look at.
fn shown(traced: &Traced) -> String {
    let mut out = String::new();
    for run in &traced.runs {
        let inputs: Vec<String> = run.origin.inputs().map(ToString::to_string).collect();
        let text = &traced.text[run.start..run.end];
        let _ = writeln!(out, "  {text:?} of {inputs:?}");
    }
    let decided: Vec<String> = traced.decided_by.iter().map(ToString::to_string).collect();
    out + &format!("  decided by {decided:?}")
}

/// Changes one input and asserts that nothing else than what comes from it changes, unless control flow read it. Whether that
/// could be asked.
pub fn assert_contained(
    random: &mut Random,
    name: &str,
    template: &ChatTemplate,
    input: &RenderInput,
) -> bool {
    let Ok(before) = template.render_traced(input) else {
        return false;
    };
    let change = change(random, input);
    // A variable that comes or goes has nothing that holds it.
    if is_excused(&before.decided_by, &change.path, change.is_shape) {
        return false;
    }
    let changed = scatter(&change.whole, input);
    let after: Result<Traced, RenderError> = template.render_traced(&changed);
    let path = &change.path;
    match after {
        Ok(after) => {
            assert_eq!(
                fixed(&before, path),
                fixed(&after, path),
                "{name}: a change at {path} changes more than what comes from there\n{}\n{}\n{:?}\n{:?}",
                shown(&before),
                shown(&after),
                at_path(template, input, path),
                at_path(template, &changed, path),
            );
            true
        }
        // An operation that the other value does not allow raises, as it does in Python.
        Err(_) => false,
    }
}
