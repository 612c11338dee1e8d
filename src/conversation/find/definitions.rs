//! How definitions of tools are written that are no JSON, found from renders with tools of many kinds.
//!
//! The origins tell which characters come from which part of a tool. Between two of these is a constant text, which a chat template
//! chooses by what it does not write: the type of an argument (`number` for an integer), whether it is needed (`?`). So tools with arguments
//! of every kind beside every other are rendered, and each constant text is noted with the kinds of the arguments around it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::pieces;
use super::talks::words;
use crate::chat_template::{InputPath, InputStep, Origin, Run, Traced};
use crate::conversation::format::{
    Advance, ArgumentKind, DefinitionLayout, DefinitionStep, DefinitionText, Encoding,
};
use crate::conversation::render::object;
use crate::value::{Map, Value, json};

/// The types of which arguments are tried, the plainest first.
const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// How much of the constant text before the first and behind the last text of tools is looked at, in bytes.
const AROUND: usize = 160;

/// How many steps a layout may have: one with more is not understood.
const MAX_STEPS: usize = 1500;

/// Where a text of a tool stands in the tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    path: Vec<String>,
    names: bool,
    again: usize,
}

/// A text of a tool in a render.
#[derive(Debug)]
struct ToolText {
    range: Range<usize>,
    spot: Spot,
    tool: usize,
    /// The argument that it belongs to, by its place among those that the render shows of the tool, and its kind.
    argument: Option<(usize, ArgumentKind)>,
    written: BTreeSet<Encoding>,
}

/// The parts of a step by which it is told from others.
type Between = (Option<Spot>, String, Option<Spot>, Advance, Advance);

/// The kinds of the arguments before and behind a step.
type Kinds = (BTreeSet<ArgumentKind>, BTreeSet<ArgumentKind>);

/// The texts of tools that were seen in renders, and the constants between them.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    steps: BTreeMap<Between, Kinds>,
    written: BTreeMap<Spot, BTreeMap<Encoding, usize>>,
}

impl Layouts {
    /// Notes how the tools of a render are written.
    pub(super) fn note(&mut self, traced: &Traced, tools: &[Value]) {
        let texts = found(traced, tools);
        if texts.is_empty() || self.steps.len() > MAX_STEPS {
            return;
        }
        for one in &texts {
            let counts = self.written.entry(one.spot.clone()).or_default();
            for encoding in &one.written {
                *counts.entry(*encoding).or_default() += 1;
            }
        }
        let mut tool: Option<usize> = None;
        // The argument of each tool that was shown last.
        let mut arguments: Vec<Option<usize>> = vec![None; tools.len()];
        let mut before: Option<&ToolText> = None;
        for one in &texts {
            let Some(to_tool) = advance(tool, one.tool) else {
                return;
            };
            let to_argument = match &one.argument {
                None => Some(Advance::Same),
                Some((at, _)) => advance(arguments[one.tool], *at),
            };
            let Some(to_argument) = to_argument else {
                return;
            };
            tool = Some(one.tool);
            if let Some((at, _)) = &one.argument {
                arguments[one.tool] = Some(*at);
            }
            let text = match before {
                None => constant_before(traced, one.range.start),
                Some(before) => constant_between(traced, before.range.end..one.range.start),
            };
            let Some(text) = text else { return };
            self.add(before, text, Some(one), (to_tool, to_argument));
            before = Some(one);
        }
        if let Some(last) = before {
            let text = constant_behind(traced, last.range.end);
            self.add(before, text, None, (Advance::Same, Advance::Same));
        }
    }

    fn add(
        &mut self,
        before: Option<&ToolText>,
        text: String,
        after: Option<&ToolText>,
        (tool, argument): (Advance, Advance),
    ) {
        let spot = |one: Option<&ToolText>| one.map(|one| one.spot.clone());
        let kind = |one: Option<&ToolText>| one.and_then(|one| one.argument.clone());
        let between = (spot(before), text, spot(after), tool, argument);
        let (of, to) = self.steps.entry(between).or_default();
        of.extend(kind(before).map(|(_, kind)| kind));
        to.extend(kind(after).map(|(_, kind)| kind));
    }

    /// The layout; `None` where the render shows nothing of tools, or too many constants.
    pub(super) fn layout(self) -> Option<DefinitionLayout> {
        if self.steps.is_empty() || self.steps.len() > MAX_STEPS {
            return None;
        }
        let index: BTreeMap<&Spot, usize> = self.written.keys().zip(0..).collect();
        let texts = self.written.iter().map(|(spot, counts)| {
            let most = counts
                .iter()
                .max_by_key(|(encoding, count)| (**count, std::cmp::Reverse(**encoding)));
            DefinitionText {
                path: spot.path.clone(),
                names: spot.names,
                again: spot.again,
                written: most.map_or(Encoding::Changed, |(encoding, _)| *encoding),
            }
        });
        let steps = self.steps.iter().map(|(between, (of, to))| {
            let (after, text, before, tool, argument) = between;
            DefinitionStep {
                after: after.as_ref().map(|spot| index[spot]),
                text: text.clone(),
                before: before.as_ref().map(|spot| index[spot]),
                tool: *tool,
                argument: *argument,
                of: plainest_first(of),
                to: plainest_first(to),
            }
        });
        Some(DefinitionLayout {
            steps: steps.collect(),
            texts: texts.collect(),
        })
    }
}

/// The kinds in the order of [`TYPES`], so that of several that are written alike the plainest is read.
fn plainest_first(kinds: &BTreeSet<ArgumentKind>) -> Vec<ArgumentKind> {
    let mut kinds: Vec<ArgumentKind> = kinds.iter().cloned().collect();
    let place = |kind: &ArgumentKind| TYPES.iter().position(|one| *one == kind.kind);
    kinds.sort_by_key(|kind| (place(kind).unwrap_or(TYPES.len()), kind.required));
    kinds
}

/// From one of a list to another; `None` if it is neither the next nor the first.
fn advance(from: Option<usize>, to: usize) -> Option<Advance> {
    match from {
        Some(from) if from == to => Some(Advance::Same),
        _ if to == 0 => Some(Advance::First),
        Some(from) if from + 1 == to => Some(Advance::Next),
        _ => None,
    }
}

/// The texts of tools in a render, in order.
fn found(traced: &Traced, tools: &[Value]) -> Vec<ToolText> {
    let mut found: Vec<ToolText> = Vec::new();
    let mut times: BTreeMap<(usize, Vec<String>, bool), usize> = BTreeMap::new();
    // The names of the arguments of each tool, in the order in which they are shown.
    let mut shown: Vec<Vec<String>> = vec![Vec::new(); tools.len()];
    let mut last: Option<(InputPath, bool)> = None;
    let mut end = 0;
    for run in traced.runs.iter().filter(|run| run.start < run.end) {
        let Origin::Input {
            path, key, from, ..
        } = &run.origin
        else {
            last = None;
            continue;
        };
        let Some((tool, inner)) = of_tool(path) else {
            last = None;
            continue;
        };
        if run.start < end {
            continue;
        }
        let Some(value) = tools.get(tool).and_then(|tool| at(tool, inner)) else {
            continue;
        };
        // What is written around a text, such as quotes, is as constant as any text between two.
        if from.is_none() && (*key || value.as_str().is_some()) {
            last = None;
            continue;
        }
        // The runs of one text follow each other.
        if last.as_ref() == Some(&(path.clone(), *key))
            && let Some(one) = found.last_mut().filter(|one| one.range.end == run.start)
        {
            one.range.end = run.end;
            end = run.end;
            continue;
        }
        let names = *key && names_argument(inner);
        let Some(range) = extent(traced, run, value, names, *key, inner) else {
            last = None;
            continue;
        };
        end = range.end;
        last = Some((path.clone(), *key));
        let keys: Vec<String> = inner.iter().map(written_key).collect();
        let again = times.entry((tool, keys, names)).or_default();
        let argument = argument_name(inner).map(|name| {
            let of_tool = &mut shown[tool];
            let at = of_tool.iter().position(|known| known == name);
            let at = at.unwrap_or_else(|| {
                of_tool.push(name.to_owned());
                of_tool.len() - 1
            });
            (at, kind(&tools[tool], name))
        });
        found.push(ToolText {
            range,
            spot: Spot {
                path: pattern(inner),
                names,
                again: *again,
            },
            tool,
            argument,
            written: BTreeSet::new(),
        });
        *again += 1;
    }
    let values = found.iter().map(|one| value_of(one, tools, &shown));
    let written: Vec<BTreeSet<Encoding>> = found
        .iter()
        .zip(values)
        .map(|(one, value)| ways(&traced.text[one.range.clone()], value.as_ref()))
        .collect();
    for (one, ways) in found.iter_mut().zip(written) {
        one.written = ways;
    }
    found
}

/// The tool that a path leads into, and the rest of the path.
fn of_tool(path: &InputPath) -> Option<(usize, &[InputStep])> {
    match path.split_first() {
        Some((InputStep::Key(first), rest)) if first == "tools" => match rest.split_first() {
            Some((InputStep::Index(tool), inner)) => Some((*tool, inner)),
            _ => None,
        },
        _ => None,
    }
}

fn at<'v>(value: &'v Value, path: &[InputStep]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match step {
        InputStep::Key(key) => value.get(key.as_str()),
        InputStep::Index(index) => value.as_array()?.get(*index),
    })
}

fn written_key(step: &InputStep) -> String {
    match step {
        InputStep::Key(key) => key.clone(),
        InputStep::Index(index) => index.to_string(),
    }
}

/// The keys below which the schemas of arguments stand in a tool.
const ARGUMENTS: [&str; 3] = ["function", "parameters", "properties"];

/// The name of the argument that a path leads to.
fn argument_name(path: &[InputStep]) -> Option<&str> {
    let leads = ARGUMENTS
        .iter()
        .zip(path)
        .all(|(key, step)| matches!(step, InputStep::Key(one) if one == key));
    match path.get(ARGUMENTS.len()) {
        Some(InputStep::Key(name)) if leads => Some(name),
        _ => None,
    }
}

fn names_argument(path: &[InputStep]) -> bool {
    argument_name(path).is_some() && path.len() == ARGUMENTS.len() + 1
}

/// The path with the names of arguments and the indices of items left open.
fn pattern(path: &[InputStep]) -> Vec<String> {
    let is_argument = argument_name(path).is_some();
    let steps = path.iter().enumerate();
    let steps = steps.map(|(at, step)| match step {
        InputStep::Key(_) if is_argument && at == ARGUMENTS.len() => "*".to_owned(),
        InputStep::Key(key) => key.clone(),
        InputStep::Index(_) => "#".to_owned(),
    });
    steps.collect()
}

/// The kind of an argument.
fn kind(tool: &Value, name: &str) -> ArgumentKind {
    let function = tool.get("function");
    let parameters = function.and_then(|one| one.get("parameters"));
    let schema = parameters
        .and_then(|one| one.get("properties"))
        .and_then(|one| one.get(name));
    let kind = schema
        .and_then(|one| one.get("type"))
        .and_then(Value::as_str);
    let required = parameters.and_then(|one| one.get("required"));
    let required = required.and_then(Value::as_array).unwrap_or_default();
    ArgumentKind {
        kind: kind.unwrap_or_default().to_owned(),
        required: required.iter().any(|one| one.as_str() == Some(name)),
    }
}

/// The range of the text that a run begins; `None` where the run is a constant as good as any: a type, a key of a schema.
fn extent(
    traced: &Traced,
    run: &Run,
    value: &Value,
    names: bool,
    key: bool,
    path: &[InputStep],
) -> Option<Range<usize>> {
    if names {
        return Some(run.start..run.end);
    }
    let is_type = matches!(path.last(), Some(InputStep::Key(last)) if last == "type");
    match value {
        _ if key => None,
        Value::String(_) if !is_type => Some(run.start..run.end),
        Value::Object(_) | Value::Array(_) => {
            let (spelled, len) = json::parse_prefix(&traced.text[run.start..]).ok()?;
            (spelled == *value).then(|| run.start..run.start + len)
        }
        _ => None,
    }
}

/// The value that a text shows.
fn value_of(one: &ToolText, tools: &[Value], shown: &[Vec<String>]) -> Option<Value> {
    let name = one
        .argument
        .as_ref()
        .and_then(|(at, _)| shown[one.tool].get(*at));
    if one.spot.names {
        return name.map(|name| Value::from(name.as_str()));
    }
    let mut value = tools.get(one.tool)?;
    for step in &one.spot.path {
        value = match step.as_str() {
            "*" => value.get(name?)?,
            // Which item it is does not matter to the way in which it is written.
            "#" => return None,
            key => value.get(key)?,
        };
    }
    Some(value.clone())
}

/// The ways in which a value may have been written.
fn ways(seen: &str, value: Option<&Value>) -> BTreeSet<Encoding> {
    match value {
        Some(Value::String(_)) => pieces::encodings(seen, value),
        Some(_) => BTreeSet::from([Encoding::Json]),
        None => BTreeSet::from([Encoding::AsIs]),
    }
}

/// Returns true if a run is the chat template's own, or says of a tool what is chosen from few.
fn is_constant(run: &Run) -> bool {
    match &run.origin {
        Origin::Source { .. } => true,
        Origin::Input { path, .. } => of_tool(path).is_some(),
    }
}

fn constant_between(traced: &Traced, range: Range<usize>) -> Option<String> {
    let within = traced
        .runs
        .iter()
        .filter(|run| run.start < range.end && run.end > range.start);
    let is_constant = within.into_iter().all(is_constant);
    let text = traced.text.get(range)?;
    is_constant.then(|| text.to_owned())
}

fn constant_before(traced: &Traced, end: usize) -> Option<String> {
    let runs = traced.runs.iter().rev().filter(|run| run.start < end);
    let start = runs
        .take_while(|run| is_constant(run))
        .map(|run| run.start)
        .last()
        .unwrap_or(end);
    let least = end.saturating_sub(AROUND).max(start);
    let start = (least..=end).find(|at| traced.text.is_char_boundary(*at))?;
    Some(traced.text[start..end].to_owned())
}

fn constant_behind(traced: &Traced, start: usize) -> String {
    let runs = traced.runs.iter().filter(|run| run.end > start);
    let end = runs
        .take_while(|run| is_constant(run))
        .map(|run| run.end)
        .last()
        .unwrap_or(start);
    let most = (start + AROUND).min(end);
    let end = (start..=most)
        .rev()
        .find(|at| traced.text.is_char_boundary(*at))
        .unwrap_or(start);
    traced.text[start..end].to_owned()
}

/// Lists of tools with arguments of every kind beside every other, and alone.
pub(super) fn offers() -> Vec<Vec<Value>> {
    let kinds: Vec<ArgumentKind> = TYPES
        .iter()
        .flat_map(|kind| {
            [false, true].map(|required| ArgumentKind {
                kind: (*kind).to_owned(),
                required,
            })
        })
        .collect();
    let mut offers = vec![vec![tool(0, &[])], vec![tool(0, &[]), tool(1, &kinds[..1])]];
    for (at, one) in kinds.iter().enumerate() {
        let next = &kinds[(at + 1) % kinds.len()];
        let three = [one.clone(), next.clone(), one.clone()];
        offers.push(vec![tool(0, &three[..1])]);
        offers.push(vec![tool(0, &three[..1]), tool(1, &three[1..2])]);
        offers.push(vec![
            tool(0, &three),
            tool(1, &three[..2]),
            tool(2, &three[..1]),
        ]);
        for other in &kinds {
            let two = [one.clone(), other.clone()];
            offers.push(vec![tool(0, &two), tool(1, &two[1..])]);
        }
    }
    offers
}

const NAMES: [&str; 3] = ["lift_anchor", "ring_bell", "trim_sail"];
const ARGUMENT_NAMES: [&str; 3] = ["harbour", "lantern", "compass"];

fn tool(number: usize, kinds: &[ArgumentKind]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (at, kind) in kinds.iter().enumerate() {
        let name = ARGUMENT_NAMES[(at + number) % ARGUMENT_NAMES.len()];
        let schema = object([
            ("type", Value::from(kind.kind.as_str())),
            ("description", Value::from(words(60 + 10 * number + at))),
        ]);
        properties.insert(name, schema);
        if kind.required {
            required.push(Value::from(name));
        }
    }
    let parameters = object([
        ("type", Value::from("object")),
        ("properties", Value::Object(properties)),
        ("required", Value::Array(required)),
    ]);
    let function = object([
        ("name", Value::from(NAMES[number % NAMES.len()])),
        ("description", Value::from(words(120 + number))),
        ("parameters", parameters),
    ]);
    object([("type", Value::from("function")), ("function", function)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::from_text;
    use crate::conversation::render::{Renderer, Talk};

    /// The layout of all tools that are tried, as the chat template writes them.
    fn layout(chat_template: &str) -> Option<DefinitionLayout> {
        let source = from_text("test", chat_template).expect("a chat template");
        let renderer = Renderer::new(&source, None);
        let mut layouts = Layouts::default();
        for tools in offers() {
            let talk = Talk {
                tools,
                ..Talk::default()
            };
            let traced = renderer.traced(&talk).expect("a render");
            layouts.note(&traced, &talk.tools);
        }
        layouts.layout()
    }

    const DECLARED: &str = "Tools:\n{% for t in tools %}fn {{ t.function.name }}(\
        {% for name, p in t.function.parameters.properties.items() %}\
        {{ name }}{{ '?' if name not in t.function.parameters.required }}: \
        {{ 'number' if p.type == 'integer' else p.type }}{{ ', ' if not loop.last }}{% endfor %});\n{% endfor %}End";

    #[test]
    fn a_constant_is_known_with_the_kinds_of_arguments_that_it_was_seen_of() {
        let layout = layout(DECLARED).expect("a layout");
        let path = ["function", "parameters", "properties", "*"];
        let at = |names: bool| {
            let mut texts = layout.texts.iter();
            texts.position(|text| text.names == names).expect("a text")
        };
        let (name, argument) = (at(false), at(true));
        assert_eq!(layout.texts.len(), 2);
        assert_eq!(layout.texts[name].path, ["function", "name"]);
        assert_eq!(layout.texts[argument].path, path);

        let begins = layout.steps.iter().find(|step| step.after.is_none());
        assert_eq!(begins.expect("a first step").text, "Tools:\nfn ");
        let of = |text: &str| -> Vec<(&str, bool)> {
            let mut steps = layout.steps.iter();
            let step = steps.find(|step| step.after == Some(argument) && step.text == text);
            let kinds = step.expect(text).of.iter();
            kinds.map(|one| (one.kind.as_str(), one.required)).collect()
        };
        // Of an integer and a number the same is written; the plainer one comes first.
        assert_eq!(of(": number, "), [("integer", true), ("number", true)]);
        assert_eq!(of("?: string, "), [("string", false)]);
        assert_eq!(of(": object);\nEnd"), [("object", true)]);
        // From the last argument of a tool it goes on to the next tool, and there to the first argument.
        let onward = |before: usize, tool: Advance, argument: Advance| {
            layout.steps.iter().any(|step| {
                (step.before, step.tool, step.argument) == (Some(before), tool, argument)
            })
        };
        assert!(onward(name, Advance::Next, Advance::Same));
        assert!(onward(argument, Advance::Same, Advance::First));
        assert!(onward(argument, Advance::Same, Advance::Next));
    }

    #[test]
    fn without_tools_in_the_render_there_is_no_layout() {
        assert_eq!(layout("{{ 'tools' if tools }}"), None);
    }
}
