//! Definitions of tools that are no JSON, read by their layout.
//!
//! The search is that of `chart`, on a smaller scale: it goes depth first, ends each text where a step fits, those first that say most,
//! and remembers from where no way leads on. What it finds is put together as tools; texts that are written more than once have to be the
//! same, and a step that was only seen of arguments of some kinds tells the kind of an argument.

use std::collections::HashSet;

use crate::conversation::format::{
    Advance, ArgumentKind, DefinitionLayout, DefinitionStep, DefinitionText, Encoding,
};
use crate::conversation::render::object;
use crate::value::{Map, Value, json};

/// How many ways on are looked at for one stretch of definitions.
const MAX_WORK: usize = 40_000;

/// How many occurrences of a step's text are looked at behind one text.
const MAX_OCCURRENCES: usize = 12;

/// How long the text of a tool may be that is not JSON, in bytes.
const MAX_TEXT: usize = 16_384;

/// The tools that are defined in a text from `from` on, and where what comes from them ends.
pub(super) fn read(
    layout: &DefinitionLayout,
    text: &str,
    from: usize,
) -> Option<(Vec<Value>, usize)> {
    let mut search = Search {
        layout,
        text,
        work: MAX_WORK,
        dead: HashSet::new(),
        taken: Vec::new(),
    };
    let starts = search.starts(from);
    starts.into_iter().find_map(|(step, at)| {
        search.taken.clear();
        search.walk(step, at).and_then(|end| {
            let tools = build(layout, text, &search.taken)?;
            Some((tools, end))
        })
    })
}

/// A text that was passed: the step that leads to it, and where it stands.
#[derive(Debug, Clone, Copy)]
struct Passed {
    step: usize,
    start: usize,
    end: usize,
}

struct Search<'a> {
    layout: &'a DefinitionLayout,
    text: &'a str,
    work: usize,
    dead: HashSet<(usize, usize)>,
    taken: Vec<Passed>,
}

/// The ways on from a text, the next to be tried last.
struct Frame {
    step: usize,
    start: usize,
    ways: Vec<(usize, usize)>,
}

impl Search<'_> {
    /// Where the first text may begin: each step to it, with the place where it ends.
    fn starts(&self, from: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (step, one) in self.layout.steps.iter().enumerate() {
            if one.after.is_some() {
                continue;
            }
            let most = (from + one.text.len()).min(self.text.len());
            let ends = (from..=most).filter(|at| {
                let before = self.text.get(..*at);
                before.is_some_and(|before| before.ends_with(one.text.as_str()))
            });
            found.extend(ends.map(|at| (step, at)));
        }
        found.sort_by_key(|(step, at)| {
            let len = self.layout.steps[*step].text.len();
            (usize::MAX - len, *at)
        });
        found
    }

    /// From a first text to the end; where that is.
    fn walk(&mut self, step: usize, at: usize) -> Option<usize> {
        let first = self.frame(step, at)?;
        let mut frames = vec![first];
        while let Some(frame) = frames.last_mut() {
            let (step, start) = (frame.step, frame.start);
            let Some((next, end)) = frame.ways.pop() else {
                if let Some(place) = self.layout.steps[step].before {
                    self.dead.insert((place, start));
                }
                frames.pop();
                continue;
            };
            self.work = self.work.checked_sub(1)?;
            let one = &self.layout.steps[next];
            match one.before {
                None => {
                    let mut passed: Vec<Passed> = Vec::new();
                    for (at, frame) in frames.iter().enumerate() {
                        let end = frames.get(at + 1).map_or(end, |behind| {
                            behind.start - self.layout.steps[behind.step].text.len()
                        });
                        passed.push(Passed {
                            step: frame.step,
                            start: frame.start,
                            end,
                        });
                    }
                    passed.push(Passed {
                        step: next,
                        start: end,
                        end,
                    });
                    self.taken = passed;
                    return Some(end);
                }
                Some(place) => {
                    let start = end + one.text.len();
                    if self.dead.contains(&(place, start)) {
                        continue;
                    }
                    frames.extend(self.frame(next, start));
                }
            }
        }
        None
    }

    /// The ways on from the text behind a step.
    fn frame(&self, step: usize, start: usize) -> Option<Frame> {
        let place = self.layout.steps[step].before?;
        let written = self.layout.texts[place].written;
        let rest = self.text.get(start..)?;
        let fixed = match written {
            Encoding::Json => Some(start + json::parse_prefix(rest).ok()?.1),
            _ => None,
        };
        let mut ways: Vec<(usize, usize)> = Vec::new();
        let next = self.layout.steps.iter().enumerate();
        for (at, next) in next.filter(|(_, next)| next.after == Some(place)) {
            let text = next.text.as_str();
            if let Some(fixed) = fixed {
                let fits = self.text[fixed..].starts_with(text);
                ways.extend(fits.then_some((at, fixed)));
                continue;
            }
            if text.is_empty() {
                continue;
            }
            let within = (0..=rest.len().min(MAX_TEXT))
                .rev()
                .find(|end| rest.is_char_boundary(*end))
                .unwrap_or(0);
            let occurrences = rest[..within].match_indices(text);
            let ends = occurrences.map(|(found, _)| (at, start + found));
            ways.extend(ends.take(MAX_OCCURRENCES));
        }
        // The last is tried first: the nearest, and of several there the one that says most.
        ways.sort_by_key(|(at, end)| {
            let next = &self.layout.steps[*at];
            (
                std::cmp::Reverse(*end),
                next.text.len(),
                next.before.is_some(),
            )
        });
        Some(Frame { step, start, ways })
    }
}

/// A tool as far as it was read.
#[derive(Debug, Default)]
struct Tool {
    texts: Vec<(Vec<String>, Value)>,
    arguments: Vec<Argument>,
    /// The argument that was read last.
    at: Option<usize>,
}

#[derive(Debug, Default)]
struct Argument {
    name: Option<String>,
    texts: Vec<(Vec<String>, Value)>,
    kinds: Option<Vec<ArgumentKind>>,
}

impl Argument {
    /// Narrows down what kind of argument it is; `None` if nothing is left.
    fn narrow(&mut self, to: &[ArgumentKind]) -> Option<()> {
        if to.is_empty() {
            return Some(());
        }
        let left: Vec<ArgumentKind> = match &self.kinds {
            None => to.to_vec(),
            Some(known) => known
                .iter()
                .filter(|one| to.contains(one))
                .cloned()
                .collect(),
        };
        let is_one = !left.is_empty();
        self.kinds = Some(left);
        is_one.then_some(())
    }
}

/// The tools that a way through a text tells of; `None` where it contradicts itself.
fn build(layout: &DefinitionLayout, text: &str, taken: &[Passed]) -> Option<Vec<Value>> {
    let mut tools: Vec<Tool> = Vec::new();
    let mut tool: Option<usize> = None;
    let mut before: Option<usize> = None;
    for passed in taken {
        let step = &layout.steps[passed.step];
        if let (Some(tool), Some(argument)) = (tool, before) {
            tools[tool].arguments[argument].narrow(&step.of)?;
        }
        let Some(place) = step.before else { break };
        let at = advanced(tool, step.tool)?;
        if at == tools.len() {
            tools.push(Tool::default());
        }
        tool = Some(at);
        let written = &text[passed.start..passed.end];
        before = take(tools.get_mut(at)?, &layout.texts[place], step, written)?;
    }
    Some(tools.into_iter().map(Tool::finish).collect())
}

/// Where a list is after a step.
fn advanced(from: Option<usize>, by: Advance) -> Option<usize> {
    match by {
        Advance::Same => from,
        Advance::Next => from.map(|from| from + 1),
        Advance::First => Some(0),
    }
}

/// Puts a text into a tool; which argument it belongs to. `None` if the tool has another text there.
fn take(
    tool: &mut Tool,
    place: &DefinitionText,
    step: &DefinitionStep,
    written: &str,
) -> Option<Option<usize>> {
    let value = match place.written {
        Encoding::Json => json::parse(written).ok()?,
        Encoding::Escaped => json::parse(&format!("\"{written}\"")).ok()?,
        _ => Value::from(written),
    };
    // What cannot be undone says nothing that another text does not say.
    let is_known = |texts: &[(Vec<String>, Value)], path: &[String]| {
        place.written == Encoding::Changed && texts.iter().any(|(known, _)| known == path)
    };
    let Some(open) = place.path.iter().position(|key| key == "*") else {
        if !is_known(&tool.texts, &place.path) {
            put(&mut tool.texts, &place.path, value)?;
        }
        return Some(None);
    };
    let at = advanced(tool.at, step.argument)?;
    while tool.arguments.len() <= at {
        tool.arguments.push(Argument::default());
    }
    tool.at = Some(at);
    let argument = &mut tool.arguments[at];
    argument.narrow(&step.to)?;
    if place.names {
        let name = value.as_str()?;
        match &argument.name {
            Some(_) if place.written == Encoding::Changed => {}
            Some(known) if known != name => return None,
            _ => argument.name = Some(name.to_owned()),
        }
    } else if !is_known(&argument.texts, &place.path[open + 1..]) {
        put(&mut argument.texts, &place.path[open + 1..], value)?;
    }
    Some(Some(at))
}

fn put(texts: &mut Vec<(Vec<String>, Value)>, path: &[String], value: Value) -> Option<()> {
    let is_item = path.last().is_some_and(|last| last == "#");
    if !is_item && let Some((_, known)) = texts.iter().find(|(known, _)| known == path) {
        return (*known == value).then_some(());
    }
    texts.push((path.to_vec(), value));
    Some(())
}

impl Tool {
    /// The definition, with what is known of it in the usual order.
    fn finish(self) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for argument in self.arguments {
            let name = argument.name.unwrap_or_default();
            let kind = argument.kinds.and_then(|kinds| kinds.into_iter().next());
            let mut schema = Value::Object(Map::new());
            if let Some(kind) = kind {
                schema = object([("type", Value::from(kind.kind.as_str()))]);
                if kind.required {
                    required.push(Value::from(name.as_str()));
                }
            }
            for (path, value) in argument.texts {
                set(&mut schema, &path, value);
            }
            properties.insert(name, schema);
        }
        let parameters = object([
            ("type", Value::from("object")),
            ("properties", Value::Object(properties)),
            ("required", Value::Array(required)),
        ]);
        let function = object([
            ("name", Value::from("")),
            ("description", Value::from("")),
            ("parameters", parameters),
        ]);
        let mut tool = object([("type", Value::from("function")), ("function", function)]);
        let items: Vec<Vec<String>> = self
            .texts
            .iter()
            .filter(|(path, _)| path.last().is_some_and(|last| last == "#"))
            .map(|(path, _)| path[..path.len() - 1].to_vec())
            .collect();
        for list in items {
            set(&mut tool, &list, Value::Array(Vec::new()));
        }
        for (path, value) in self.texts {
            set(&mut tool, &path, value);
        }
        tool
    }
}

/// Sets what is found at a path, and makes the objects on the way to it. `#` is one more item of a list.
fn set(value: &mut Value, path: &[String], new: Value) {
    let Some((key, rest)) = path.split_first() else {
        *value = new;
        return;
    };
    if key == "#" {
        if let Value::Array(items) = value {
            items.push(new);
        }
        return;
    }
    if !matches!(value, Value::Object(_)) {
        *value = Value::Object(Map::new());
    }
    if let Value::Object(members) = value {
        set(members.get_or_insert_null(key.as_str()), rest, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name(argument: int, ...)`, one after the other; `int` is only written for an integer.
    fn layout() -> DefinitionLayout {
        let text = |path: &[&str], names: bool| DefinitionText {
            path: path.iter().map(|key| (*key).to_owned()).collect(),
            names,
            again: 0,
            written: Encoding::AsIs,
        };
        let name = text(&["function", "name"], false);
        let argument = text(&["function", "parameters", "properties", "*"], true);
        let kind = |kind: &str| ArgumentKind {
            kind: kind.to_owned(),
            required: true,
        };
        let step = |after, text: &str, before, tool, argument, of: &[&str]| DefinitionStep {
            after,
            text: text.to_owned(),
            before,
            tool,
            argument,
            of: of.iter().map(|one| kind(one)).collect(),
            to: Vec::new(),
        };
        use Advance::{First, Next, Same};
        let mut steps = vec![
            step(None, "tools: ", Some(0), First, Same, &[]),
            step(Some(0), "(", Some(1), Same, First, &[]),
        ];
        for (written, of) in [("int", "integer"), ("str", "string")] {
            let more = format!(": {written}, ");
            steps.push(step(Some(1), &more, Some(1), Same, Next, &[of]));
            let over = format!(": {written}); ");
            steps.push(step(Some(1), &over, Some(0), Next, Same, &[of]));
            let end = format!(": {written}).");
            steps.push(step(Some(1), &end, None, Same, Same, &[of]));
        }
        DefinitionLayout {
            texts: vec![name, argument],
            steps,
        }
    }

    #[test]
    fn kinds_are_read_from_constants() {
        let text = "tools: weigh(what: str, times: int); paint(x: str).";
        let from = text.find("weigh").expect("the first");
        let (tools, end) = read(&layout(), text, from).expect("tools");
        assert_eq!(&text[end..], ": str).");
        let shown = json::to_string(&Value::Array(tools));
        let argument = |name: &str, kind: &str| format!(r#""{name}": {{"type": "{kind}"}}"#);
        for wanted in [
            r#""name": "weigh""#.to_owned(),
            argument("what", "string"),
            argument("times", "integer"),
            r#""required": ["what", "times"]"#.to_owned(),
            r#""name": "paint""#.to_owned(),
        ] {
            assert!(shown.contains(&wanted), "{wanted} in {shown}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_no_definition() {
        let layout = layout();
        assert_eq!(read(&layout, "tools: weigh(what: bool).", 7), None);
        assert_eq!(read(&layout, "tolls: weigh(what: str).", 7), None);
        // A kind that no step allows both before and behind the name.
        let mut narrow = layout;
        narrow.steps[1].to = vec![ArgumentKind {
            kind: "integer".to_owned(),
            required: true,
        }];
        assert_eq!(read(&narrow, "tools: weigh(what: str).", 7), None);
        assert!(read(&narrow, "tools: weigh(what: int).", 7).is_some());
    }
}
