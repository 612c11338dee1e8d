//! Calls and answers with what the chat template asks for by name: functions, arguments, ids and texts.
//!
//! A chat template may compare the name of a function with `python`, that of an argument with `code`, and an id with `call_`, and write such a call in a
//! way of its own. No call of the judge has these by chance. So each constant that the chat template compares anything with is put there, and a call
//! that is then written otherwise, but for the constant, becomes a message to be tried.

use super::manner::Manner;
use super::message::{Asked, Assistant, Call};
use super::probes::{self, Probe};
use super::renderer::{Conversation, Renderer};
use crate::value::Map;

/// How many constants are put into messages.
pub(super) const MAX_ASKED: usize = 16;

/// How many arguments that are asked for in vain are tried for one function.
const MAX_ARGUMENTS: usize = 4;

/// A text that goes on with the beginning of a function's name.
const REST_OF_NAME: &str = "peek";

/// The places at which the arguments of a call are read.
const ARGUMENTS: [&str; 2] = [
    "messages[].tool_calls[].function.arguments.",
    "messages[].tool_calls[].arguments.",
];

/// How many characters a constant has at most with which an id begins.
const MAX_ID: usize = 24;

impl Asked {
    /// The call with that part, and the name or the id that other calls have in its place.
    fn call(&self, other: &Call) -> (Call, String, String) {
        let mut call = other.clone();
        match self {
            Self::Function(name) => {
                call.name.clone_from(name);
                (call, name.clone(), other.name.clone())
            }
            Self::Argument(name) => {
                let usual = with_first_named(&mut call, name);
                (call, name.clone(), usual)
            }
            Self::ArgumentOf { function, argument } => {
                call.name.clone_from(function);
                let usual = with_first_named(&mut call, argument);
                (call, argument.clone(), usual)
            }
            Self::Id(beginning) => {
                call.id = format!("{beginning}{}", other.id);
                (call.clone(), call.id, other.id.clone())
            }
        }
    }
}

/// Returns true if a name ends as names do, and is not the beginning of one.
fn is_whole(name: &str) -> bool {
    name.ends_with(char::is_alphanumeric) || name.ends_with('_')
}

/// Names the first argument of a call so, and returns the name that it had.
fn with_first_named(call: &mut Call, name: &str) -> String {
    let first = call.arguments.keys().next();
    let usual = first.map(ToString::to_string).unwrap_or_default();
    let arguments = std::mem::take(&mut call.arguments).into_iter();
    call.arguments = Map::from_iter(arguments.map(|(key, value)| match key == usual.as_str() {
        true => (name.into(), value),
        false => (key, value),
    }));
    usual
}

/// The call with its first argument alone.
fn with_one_argument(mut call: Call) -> Call {
    call.arguments = call.arguments.into_iter().take(1).collect();
    call
}

/// Calls with what the chat template asks for, and writes otherwise than other calls.
pub(super) fn written_otherwise(
    renderer: &Renderer<'_>,
    place: &Conversation,
    manner: &Manner,
) -> Vec<Probe> {
    let rendered = |call: Call| {
        let message = manner.write(&Assistant::calling([call]), None);
        let full = renderer.answered(place, &message, manner).ok()?;
        Some(full[place.end_in(&full)..].to_owned())
    };
    let other = probes::call(0);
    let Some(usual) = rendered(other.clone()) else {
        return Vec::new();
    };
    let named = || {
        let names = renderer.named().filter(|name| is_whole(name));
        names.take(MAX_ASKED).map(str::to_owned)
    };
    // A constant may be the beginning of a name, as `browser.` is.
    let begun = || {
        let beginnings = renderer.named().filter(|name| !is_whole(name));
        let names = beginnings.map(|name| format!("{name}{REST_OF_NAME}"));
        names.take(MAX_ASKED)
    };
    let is_beginning = |text: &&str| {
        let length = text.chars().count();
        (2..=MAX_ID).contains(&length) && !text.contains(char::is_whitespace)
    };
    let beginnings = renderer.asked().filter(is_beginning).take(MAX_ASKED);
    let all = named()
        .map(Asked::Function)
        .chain(named().map(Asked::Argument))
        .chain(beginnings.map(|text| Asked::Id(text.to_owned())));
    let otherwise = |asked: Asked, base: &Call, usual: &str| {
        let (call, name, others) = asked.call(base);
        let full = rendered(call.clone())?;
        let is_other = full.replace(&name, &others) != usual.replace(&name, &others);
        is_other.then(|| Probe {
            asked: Some(asked),
            ..probes::beside(Assistant::calling([call]))
        })
    };
    let calls = all.filter_map(|asked| otherwise(asked, &other, &usual));
    let mut probes: Vec<Probe> = calls.collect();
    // What is asked of any function comes first, so that no name is told without need.
    for function in [other.name.clone()]
        .into_iter()
        .chain(named())
        .chain(begun())
    {
        let with_name = Call {
            name: function.clone(),
            ..other.clone()
        };
        let bases = [with_name.clone(), with_one_argument(with_name)];
        for argument in asked_in_vain(renderer, place, manner, &bases) {
            let of_any = Some(Asked::Argument(argument.clone()));
            if probes.iter().any(|probe| probe.asked == of_any) {
                continue;
            }
            let asked = match function == other.name {
                true => Asked::Argument(argument),
                false => Asked::ArgumentOf {
                    function: function.clone(),
                    argument,
                },
            };
            for base in &bases {
                // A call without that argument may be refused; then another function's call with it shows how calls are written.
                let usual = rendered(base.clone()).or_else(|| {
                    let (with_argument, ..) = asked.call(base);
                    let of_other = Call {
                        name: other.name.clone(),
                        ..with_argument
                    };
                    Some(rendered(of_other)?.replace(&other.name, &function))
                });
                probes.extend(usual.and_then(|usual| otherwise(asked.clone(), base, &usual)));
            }
        }
    }
    probes
}

/// Answers that begin with what the chat template asks for, end with it or are it, as far as such an answer is written otherwise than others.
///
/// A chat template may end an answer by what stands in it: `{% if '</answer>' in message.content %}<end>{% endif %}`. A text at which answers are cut, as some are at
/// `</think>`, says nothing of that: an answer that has it is not rendered as it is. Nor does a text of which `is_written` says that turns have it, which is a marker.
pub(super) fn answers_otherwise(
    renderer: &Renderer<'_>,
    place: &Conversation,
    manner: &Manner,
    is_written: impl Fn(&str) -> bool,
) -> Vec<Probe> {
    let turn = |text: &str| {
        let message = manner.write(&Assistant::saying(text), None);
        let full = renderer.answered(place, &message, manner).ok()?;
        Some(full[place.end_in(&full)..].to_owned())
    };
    let usual = turn(probes::CONTENT);
    let Some((before, behind)) = usual
        .as_ref()
        .and_then(|turn| turn.split_once(probes::CONTENT))
    else {
        return Vec::new();
    };
    let texts = renderer
        .asked()
        .filter(|text| *text == text.trim() && !text.is_empty() && !is_written(text));
    let answers = texts.take(MAX_ASKED).flat_map(|text| {
        let said = probes::CONTENT;
        let answers = [
            text.to_owned(),
            format!("{text} {said}"),
            format!("{said} {text}"),
        ];
        let turns = answers.each_ref().map(|answer| turn(answer));
        let mut rendered = answers.iter().zip(&turns);
        let is_whole = rendered.all(|(answer, turn)| {
            turn.as_ref()
                .is_some_and(|turn| turn.contains(answer.as_str()))
        });
        let found = answers.into_iter().zip(turns);
        found.filter(move |_| is_whole)
    });
    let otherwise = answers.filter_map(|(answer, turn)| {
        let usual = format!("{before}{answer}{behind}");
        (turn? != usual).then_some(answer)
    });
    otherwise
        .map(|text| probes::other(Assistant::saying(&text)))
        .collect()
}

/// The names of arguments that the chat template asks for where it renders these calls, and that they do not have.
fn asked_in_vain(
    renderer: &Renderer<'_>,
    place: &Conversation,
    manner: &Manner,
    calls: &[Call],
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for call in calls {
        let message = manner.write(&Assistant::calling([call.clone()]), None);
        let reads = renderer.reads_before_an_error(place, &message, manner);
        for read in reads.places.into_iter().filter(|read| !read.found) {
            let mut roots = ARGUMENTS.iter();
            let Some(name) = roots.find_map(|root| read.path.strip_prefix(root)) else {
                continue;
            };
            let is_name = !name.contains(['.', '[']) && !call.arguments.contains_key(name);
            if is_name && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names.truncate(MAX_ARGUMENTS);
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn one_part_of_the_call_is_the_one_that_is_asked_for() {
        let other = probes::call(0);
        let (call, ..) = Asked::Function("run".to_owned()).call(&other);
        assert_eq!(
            (call.name.as_str(), &call.arguments),
            ("run", &other.arguments)
        );
        let (call, name, usual) = Asked::Argument("code".to_owned()).call(&other);
        let first = |call: &Call| {
            call.arguments
                .iter()
                .next()
                .map(|(key, value)| (key.to_string(), value.clone()))
        };
        assert_eq!(
            (name.as_str(), first(&other).map(|(key, _)| key)),
            ("code", Some(usual))
        );
        let value = Value::from("teal ribbon");
        assert_eq!(first(&call), Some(("code".to_owned(), value)));
        let (call, ..) = Asked::Id("call_".to_owned()).call(&other);
        assert_eq!(call.id, format!("call_{}", other.id));
    }
}
