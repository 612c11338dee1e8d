//! How does the model write tool calls? Where name and arguments stand, and what repeats around each call.

use super::anchor::Anchor;
use super::arguments::{self, ArgumentTag};
use super::evidence::{Evidence, Sample};
use super::finding::Finding;
use super::json_shape::{self, Place};
use super::lab::{Context, Lab};
use super::probe::{self, ArgumentsForm, Assistant, CALLS_KEY, Call, Dialect, NoContent};
use super::reasoning::Reasoning;
use super::text::{self, Repeated};
use crate::chat_template::RenderError;
use crate::value::Value;

/// How a chat template writes tool calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolCalls {
    pub(super) shape: Shape,
    /// What stands around each call, white space included.
    pub(super) call: (String, String),
    /// What stands around all calls together.
    pub(super) section: (String, String),
    /// What stands between two calls, beside their own markers.
    pub(super) separator: String,
    /// What ends a turn that ends with calls, as rendered.
    pub(super) turn_end: String,
    /// Whether the template renders more than one call in a message.
    pub(super) parallel: bool,
}

/// What a call is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// Each call is a JSON object.
    Object(Members),
    /// All calls are the elements of one JSON array.
    Array(Members),
    /// The name stands in a tag and the arguments are a JSON object.
    Tagged {
        /// What stands between name and arguments.
        between: String,
    },
    /// The name and each argument stand in tags of their own.
    Tags {
        /// What stands between name and arguments.
        between: String,
        argument: ArgumentTag,
    },
}

/// Where in a call's JSON object its parts are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Members {
    pub(super) name: Vec<String>,
    pub(super) arguments: Vec<String>,
    pub(super) id: Option<Vec<String>>,
    /// The object's own keys in order.
    pub(super) keys: Vec<String>,
    /// The object as text, when it is written in one go: before the name, between name and arguments, after them.
    pub(super) literals: [String; 3],
}

/// What the search for tool calls found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) calls: Option<ToolCalls>,
    /// The dialect in which the template renders calls.
    pub(super) dialect: Dialect,
    pub(super) evidence: Vec<Evidence>,
    /// Why there is no answer, where there ought to be one.
    pub(super) obstacle: Option<Box<Finding>>,
}

/// One rendered turn with calls, cut where the calls are.
#[derive(Debug)]
struct Cut {
    /// Before the first call, between the first and the second, ..., after the last.
    literals: Vec<String>,
    shape: Shape,
}

impl Cut {
    /// The same without an empty reasoning before the first call.
    fn after(mut self, reasoning: Option<&Reasoning>) -> Self {
        if let (Some(reasoning), Some(first)) = (reasoning, self.literals.first_mut()) {
            *first = reasoning.strip(first);
        }
        self
    }
}

pub(super) fn read(
    lab: &Lab<'_>,
    context: &Context,
    anchor: &Anchor,
    (reasoning, reasoning_key): (Option<&Reasoning>, Option<&str>),
    end: &str,
) -> Found {
    let standard = Dialect {
        reasoning_key: reasoning_key.map(str::to_owned),
        ..Dialect::standard()
    };
    let Spelled {
        dialect,
        single,
        full,
    } = match spell(lab, context, anchor, &standard, end) {
        Ok(spelled) => spelled,
        Err(obstacle) => {
            return Found {
                calls: None,
                dialect: standard,
                evidence: Vec::new(),
                obstacle,
            };
        }
    };
    let two = Assistant::calling([probe::call(0), probe::call(1)]);
    let double_render = rendered(lab, context, &dialect, &two).ok().flatten();
    let double = double_render
        .as_deref()
        .and_then(|full| cut(anchor.turn(full, &two.calls[0].name)?, &two.calls));
    let mut calls = assemble(
        single.after(reasoning),
        double.map(|cut| cut.after(reasoning)),
        end,
    );
    if let Shape::Tags { argument, .. } = &mut calls.shape {
        learn_types(lab, context, anchor, &dialect, argument);
    }
    let evidence = collect(&calls, full, double_render.unwrap_or_default());
    Found {
        calls: Some(calls),
        dialect,
        evidence,
        obstacle: None,
    }
}

/// A spelling in which the template renders a call, and the call in it.
struct Spelled {
    dialect: Dialect,
    single: Cut,
    full: String,
}

/// Finds a spelling in which a message with one call is rendered as one turn after which the conversation can go on; failing
/// that, one in which it is rendered. The error says why there is none, where the template ought to have one.
fn spell(
    lab: &Lab<'_>,
    context: &Context,
    anchor: &Anchor,
    standard: &Dialect,
    end: &str,
) -> Result<Spelled, Option<Box<Finding>>> {
    let one = Assistant::calling([probe::call(0)]);
    let mut found: Vec<(usize, Spelled)> = Vec::new();
    let mut not_understood = None;
    let mut refusal = None;
    for (arguments, no_content) in spellings() {
        let dialect = Dialect {
            arguments,
            no_content,
            ..standard.clone()
        };
        let full = match rendered(lab, context, &dialect, &one) {
            Ok(Some(full)) => full,
            Ok(None) => continue,
            Err(error) => {
                refusal.get_or_insert(error);
                continue;
            }
        };
        let Some(said) = anchor.turn(&full, &one.calls[0].name) else {
            continue;
        };
        let Some(single) = cut(said, &one.calls) else {
            not_understood.get_or_insert_with(|| said.to_owned());
            continue;
        };
        let answer = probe::tool_result(&one.calls[0], probe::TOOL_RESULT);
        let goes_on = context.and(dialect.write(&one)).and(answer);
        let defects =
            usize::from(anchor.follows(said, end)) + usize::from(lab.prompt(&goes_on).is_err());
        found.push((
            defects,
            Spelled {
                dialect,
                single,
                full,
            },
        ));
    }
    found.sort_by_key(|(defects, _)| *defects);
    if let Some((_, spelled)) = found.into_iter().next() {
        return Ok(spelled);
    }
    let finding = match (not_understood, refusal) {
        (Some(said), _) => Finding::error(
            "calls-not-understood",
            format!(
                "calls are rendered, but not as JSON, nor as a name beside arguments that are JSON or stand in tags:\n{said}"
            ),
        ),
        (None, Some(error)) if lab.constants().any(|constant| constant == CALLS_KEY) => {
            Finding::warning(
                "calls-not-rendered",
                format!(
                    "the chat template speaks of {CALLS_KEY}, but renders none in any spelling that was tried; {error}"
                ),
            )
        }
        _ => return Err(None),
    };
    Err(Some(Box::new(finding)))
}

/// The ways in which a message with calls may have to be spelled, those first that ask least of a parsed message.
fn spellings() -> impl Iterator<Item = (ArgumentsForm, NoContent)> {
    [ArgumentsForm::Object, ArgumentsForm::JsonText]
        .into_iter()
        .flat_map(|form| [NoContent::Absent, NoContent::Empty].map(|content| (form, content)))
}

/// The render of a message with calls, if every call is in it.
fn rendered(
    lab: &Lab<'_>,
    context: &Context,
    dialect: &Dialect,
    message: &Assistant,
) -> Result<Option<String>, RenderError> {
    let full = lab.turn(context, &dialect.write(message))?.full;
    let shown = |call: &Call| {
        full.contains(&call.name)
            && call
                .arguments
                .values()
                .all(|value| value.as_str().is_some_and(|text| full.contains(text)))
    };
    Ok(message.calls.iter().all(shown).then_some(full))
}

/// Looks at arguments that are no strings: some templates say so beside the key.
fn learn_types(
    lab: &Lab<'_>,
    context: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
    argument: &mut ArgumentTag,
) {
    for (value, written) in [
        (Value::from(8_675_309), "8675309"),
        (Value::Array(vec![Value::from(8_675_309)]), "[8675309]"),
    ] {
        let mut call = probe::call_with(0, 1);
        let Some((key, member)) = call.arguments.iter_mut().next() else {
            continue;
        };
        *member = value;
        let key = key.clone();
        let name = call.name.clone();
        let message = dialect.write(&Assistant::calling([call]));
        if let Ok(turn) = lab.turn(context, &message)
            && let Some(said) = anchor.turn(&turn.full, &name)
        {
            argument.learn(said, &key, written);
        }
    }
}

/// Finds the calls in a turn.
fn cut(said: &str, calls: &[Call]) -> Option<Cut> {
    cut_array(said, calls)
        .or_else(|| cut_objects(said, calls))
        .or_else(|| cut_tagged(said, calls))
        .or_else(|| cut_tags(said, calls))
}

fn cut_array(said: &str, calls: &[Call]) -> Option<Cut> {
    let (span, value) = json_shape::outermost(said, 0, said.find(&calls[0].name)?)?;
    let items = value.as_array()?;
    let members = items
        .iter()
        .zip(calls)
        .map(|(item, call)| members(item, call, &said[span.clone()]))
        .collect::<Option<Vec<_>>>()?;
    (items.len() == calls.len()).then_some(())?;
    Some(Cut {
        literals: vec![said[..span.start].to_owned(), said[span.end..].to_owned()],
        shape: Shape::Array(members.into_iter().next()?),
    })
}

fn cut_objects(said: &str, calls: &[Call]) -> Option<Cut> {
    let mut literals = Vec::new();
    let mut shape = None;
    let mut from = 0;
    for call in calls {
        let name = from + said[from..].find(&call.name)?;
        let (span, value) = json_shape::outermost(said, from, name)?;
        let members = members(&value, call, &said[span.clone()])?;
        literals.push(said[from..span.start].to_owned());
        from = span.end;
        shape.get_or_insert(Shape::Object(members));
    }
    literals.push(said[from..].to_owned());
    Some(Cut {
        literals,
        shape: shape?,
    })
}

fn cut_tagged(said: &str, calls: &[Call]) -> Option<Cut> {
    let mut literals = Vec::new();
    let mut shape = None;
    let mut from = 0;
    for call in calls {
        let name = from + said[from..].find(&call.name)?;
        let name_end = name + call.name.len();
        let key = call.arguments.keys().next()?;
        let key = name_end + said[name_end..].find(key)?;
        let (span, value) = json_shape::outermost(said, name_end, key)?;
        (value == Value::Object(call.arguments.clone())).then_some(())?;
        literals.push(said[from..name].to_owned());
        shape.get_or_insert(Shape::Tagged {
            between: said[name_end..span.start].to_owned(),
        });
        from = span.end;
    }
    literals.push(said[from..].to_owned());
    Some(Cut {
        literals,
        shape: shape?,
    })
}

fn cut_tags(said: &str, calls: &[Call]) -> Option<Cut> {
    let mut literals = Vec::new();
    let mut shape = None;
    let mut from = 0;
    for call in calls {
        let name = from + said[from..].find(&call.name)?;
        let name_end = name + call.name.len();
        let (tags, end) = arguments::tags(&said[name_end..], &call.arguments)?;
        let lead = &said[from..name];
        if from == 0 && text::tokens(lead).is_empty() {
            // A name with nothing before it could be any word.
            return None;
        }
        literals.push(lead.to_owned());
        shape.get_or_insert(Shape::Tags {
            between: tags.before,
            argument: tags.argument,
        });
        from = name_end + end;
    }
    literals.push(said[from..].to_owned());
    Some(Cut {
        literals,
        shape: shape?,
    })
}

/// Where the parts of `call` are in its JSON object.
fn members(value: &Value, call: &Call, written: &str) -> Option<Members> {
    let name = json_shape::find(value, &Value::from(call.name.as_str()))?;
    let arguments = json_shape::find(value, &Value::Object(call.arguments.clone()))?;
    let name_literal = crate::value::json::quote(&call.name);
    let arguments_literal = crate::value::json::to_string(&Value::Object(call.arguments.clone()));
    let literals = written
        .split_once(&name_literal)
        .and_then(|(before, rest)| {
            let (between, after) = rest.split_once(&arguments_literal)?;
            Some([before.to_owned(), between.to_owned(), after.to_owned()])
        })
        .unwrap_or_default();
    Some(Members {
        name: keys_only(name)?,
        arguments: keys_only(arguments)?,
        id: json_shape::find(value, &Value::from(call.id.as_str())).and_then(keys_only),
        keys: value.as_object()?.keys().cloned().collect(),
        literals,
    })
}

fn keys_only(path: Vec<Place>) -> Option<Vec<String>> {
    path.into_iter()
        .map(|place| match place {
            Place::Key(key) => Some(key),
            Place::Index(_) => None,
        })
        .collect()
}

/// Tells what belongs to each call from what belongs to all of them.
fn assemble(single: Cut, double: Option<Cut>, end: &str) -> ToolCalls {
    let last = single.literals.last().cloned().unwrap_or_default();
    let first = single.literals.first().cloned().unwrap_or_default();
    let parallel = double.is_some();
    let shape = match &double {
        Some(cut) => cut.shape.clone(),
        None => single.shape,
    };
    let repeated = double.as_ref().map(|cut| cut.literals.as_slice());
    let around = match repeated {
        Some([before, between, after]) => text::repeated(before, between, after),
        _ => {
            let (close, after) = split_end(&last, end);
            Repeated {
                each: (first, close),
                after,
                ..Repeated::default()
            }
        }
    };
    let (section_close, turn_end) = split_end(&around.after, end);
    ToolCalls {
        shape,
        call: around.each,
        section: (around.before, section_close),
        separator: around.separator,
        turn_end,
        parallel,
    }
}

/// Splits what follows the calls into their own closing and the end of the turn, which `end` is known to be.
fn split_end(tail: &str, end: &str) -> (String, String) {
    let mark = end.trim();
    match tail.find(mark).filter(|_| !mark.is_empty()) {
        Some(at) => (tail[..at].to_owned(), tail[at..].to_owned()),
        None => (tail.to_owned(), String::new()),
    }
}

fn collect(calls: &ToolCalls, one: String, two: String) -> Vec<Evidence> {
    let markers = [
        ("tool calls open", &calls.section.0),
        ("tool call open", &calls.call.0),
        ("tool call close", &calls.call.1),
        ("tool calls close", &calls.section.1),
    ];
    markers
        .into_iter()
        .filter(|(_, marker)| !marker.trim().is_empty())
        .map(|(question, marker)| Evidence {
            question,
            marker: marker.clone(),
            reading:
                "what one call and two calls have in common around a call, and what they do not"
                    .to_owned(),
            left: Sample::new("one call", one.as_str()),
            right: Sample::new("two calls", two.as_str()),
        })
        .collect()
}
