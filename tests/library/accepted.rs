//! Grammars held to texts by [`Acceptor`], which reads a grammar as it is, before it is written in any language.
//!
//! *What is right is allowed*: each response that the verification of a derivation rendered, and each text that is sampled from the grammar.
//! *What is wrong is refused*: the calls of a render where the tools have other names, at the end of the name; where they need one more argument; and renders
//! whose marks behind the last call are broken, by a character that is missing or by a text that stands there, at each place. Of these some are right
//! all the same, such as one whose white space is missing: what is allowed has to be read to the same calls, with nothing left over.

use std::collections::{BTreeMap, BTreeSet};

use obverse::derive::Case;
use obverse::grammar::{Acceptor, Sampler, ToolChoice};
use obverse::value::{Map, Value, json};

use crate::constrained::{FEW, Subject, TOOLS};
use crate::support::cores;
use crate::support::derived::{self, Derived};

/// How many renders are refused, as far as that is known. Nothing else is.
const KNOWN: [(&str, usize); 12] = [
    // A text between single quotes in which a single quote stands.
    ("lfm2_5", 21),
    ("llamacpp/LFM2.5-8B-A1B.jinja", 21),
    ("trl/lfm2_2_5.jinja", 21),
    ("trl/lfm2_2_5_v2.jinja", 21),
    // Calls with a line end where other renders have none.
    ("minimax_m3", 8),
    ("llamacpp/MiniMax-M3.jinja", 8),
    // A call without an id, which is written as an empty text where a kwarg asks for the ids of messages.
    ("cohere2_moe", 2),
    ("llamacpp/Cohere2MoE.jinja", 2),
    // A message to a recipient begins as a call does: were it allowed, a call of a tool that is not there would be.
    ("muse_glimmer", 7),
    ("llamacpp/muse-glimmer.jinja", 7),
    ("trl/muse_glimmer.jinja", 7),
    ("trl/muse_glimmer_training.jinja", 7),
];

/// How many renders with calls are broken, the shortest first.
const BROKEN: usize = 4;

/// How many texts are sampled.
const SAMPLES: u64 = 60;

/// A text that no format has a meaning for.
const STRAY: &str = "zz";

/// Says what is wrong with a text that is to be allowed whole.
fn refused(acceptor: &Acceptor, text: &str) -> Option<String> {
    let mut acceptor = acceptor.clone();
    match acceptor.feed(text) {
        Ok(()) if acceptor.is_complete() => None,
        Ok(()) => Some(format!("{} is not complete", json::quote(text))),
        Err(error) => {
            let next: Vec<String> = acceptor.next().iter().map(ToString::to_string).collect();
            Some(format!(
                "{}: {error}, but {}",
                json::quote(text),
                next.join(", ")
            ))
        }
    }
}

/// The tools with something changed in each function.
fn changed(tools: &[Value], change: impl Fn(&mut Map)) -> Vec<Value> {
    let tools = tools.iter().map(|tool| {
        let mut tool = tool.as_object().expect("a tool").clone();
        match tool.get_mut("function") {
            Some(Value::Object(function)) => change(function),
            _ => change(&mut tool),
        }
        Value::Object(tool)
    });
    tools.collect()
}

fn renamed(function: &mut Map) {
    if let Some(name) = function.get("name").and_then(Value::as_str) {
        let name = Value::from(format!("{name}_{STRAY}"));
        function.insert("name".to_owned(), name);
    }
}

fn with_one_more(function: &mut Map) {
    let Some(Value::Object(parameters)) = function.get_mut("parameters") else {
        return;
    };
    let text = Value::Object(Map::from_iter([("type".to_owned(), Value::from("string"))]));
    if let Some(Value::Object(properties)) = parameters.get_mut("properties") {
        properties.insert(STRAY.to_owned(), text);
    }
    let required = parameters.get("required").and_then(Value::as_array);
    let mut required = required.unwrap_or_default().to_vec();
    required.push(Value::from(STRAY));
    parameters.insert("required".to_owned(), Value::Array(required));
}

/// The names of the tools that are called.
fn called(case: &Case) -> Vec<&str> {
    let calls = case.message.get("tool_calls").and_then(Value::as_array);
    let calls = calls.unwrap_or_default().iter();
    let names = calls.filter_map(|call| call.get("function")?.get("name")?.as_str());
    names.collect()
}

impl Subject<'_> {
    /// Everything that is allowed and must not be, or is not and must be: of renders, of samples, of calls of other tools, of broken marks.
    fn wrong(&self) -> [Vec<String>; 4] {
        let mut wrong = [const { Vec::new() }; 4];
        let mut groups: BTreeMap<(&str, String), Vec<&Case>> = BTreeMap::new();
        for case in self.cases() {
            let before = self.template.after_last_anchor(&case.prefix);
            let tools = json::to_string(&Value::Array(case.tools.clone()));
            let group = groups.entry((before.expect("an anchor"), tools));
            group.or_default().push(case);
        }
        let mut broken = BROKEN;
        for cases in groups.values() {
            let (prefix, tools) = (&cases[0].prefix, &cases[0].tools);
            let grammar = self.grammar(prefix, tools, ToolChoice::Auto);
            let acceptor = Acceptor::new(&grammar);
            let all = cases.iter();
            wrong[0].extend(all.filter_map(|case| refused(&acceptor, &case.response)));
            let calling = cases.iter().filter(|case| !called(case).is_empty());
            let calling = calling.filter(|case| refused(&acceptor, &case.response).is_none());
            let mut calling: Vec<&Case> = calling.copied().collect();
            calling.sort_by_key(|case| case.response.len());
            if calling.is_empty() {
                continue;
            }
            for is_renamed in [true, false] {
                let tools = match is_renamed {
                    true => changed(tools, renamed),
                    false => changed(tools, with_one_more),
                };
                let acceptor = Acceptor::new(&self.grammar(prefix, &tools, ToolChoice::Auto));
                for case in &calling {
                    let mut acceptor = acceptor.clone();
                    let response = &case.response;
                    let Err(refused) = acceptor.feed(response) else {
                        wrong[2].push(format!("{} is allowed", json::quote(response)));
                        continue;
                    };
                    let before = &response[..refused.at()];
                    let is_there = called(case).iter().any(|name| before.contains(name));
                    if is_renamed && !is_there {
                        let text = json::quote(before);
                        wrong[2].push(format!("{text} is before the name ends"));
                    }
                }
            }
            for case in calling.into_iter().take(broken) {
                broken -= 1;
                wrong[3].extend(self.broken(&acceptor, case));
            }
        }
        wrong[1] = self.refused_samples();
        wrong
    }

    /// The sampled texts that are not allowed.
    fn refused_samples(&self) -> Vec<String> {
        let Some(case) = self.cases().iter().find(|case| !called(case).is_empty()) else {
            return Vec::new();
        };
        let tools = json::parse(TOOLS).expect("JSON");
        let tools = tools.as_array().expect("a list");
        let grammar = self.grammar(&case.prefix, tools, ToolChoice::Auto);
        let acceptor = Acceptor::new(&grammar);
        let mut sampler = Sampler::new(&grammar);
        let texts = (0..SAMPLES).map(|seed| sampler.sample(seed));
        texts.filter_map(|text| refused(&acceptor, &text)).collect()
    }

    /// The broken renders that are allowed and not read to the same calls.
    fn broken(&self, acceptor: &Acceptor, case: &Case) -> Vec<String> {
        let response = &case.response;
        let Ok((whole, left)) = self.read(&case.prefix, response, &case.tools) else {
            return Vec::new();
        };
        let known: BTreeSet<String> = left.into_iter().collect();
        let calls = |message: &Map| message.get("tool_calls").cloned();
        let is_same = |text: &str| {
            let read = self.read(&case.prefix, text, &case.tools);
            read.is_ok_and(|(message, left)| {
                calls(&message) == calls(&whole) && left.iter().all(|text| known.contains(text))
            })
        };
        // The message is whole behind the last place at which the response could not end.
        let mut ends = response.char_indices().map(|(at, _)| at);
        let from = ends.rfind(|at| !is_same(&response[..*at])).unwrap_or(0);
        let places = response.char_indices().filter(|(at, _)| *at >= from);
        let mutants = places.flat_map(|(at, c)| {
            let (before, rest) = response.split_at(at);
            [
                format!("{before}{}", &rest[c.len_utf8()..]),
                format!("{before}{STRAY}{rest}"),
            ]
        });
        let mut begun = acceptor.clone();
        begun
            .feed(&response[..from])
            .expect("a render that is allowed");
        let is_allowed = |text: &str| refused(&begun, &text[from..]).is_none();
        let is_wrong = |text: &String| is_allowed(text) && !is_same(text);
        let wrong = mutants.filter(is_wrong);
        wrong
            .map(|text| format!("{} is allowed", json::quote(&text)))
            .collect()
    }
}

/// What is otherwise than is known.
fn surprises(subjects: &[&Derived]) -> Vec<String> {
    let found = cores::each(subjects, |derived| Subject::new(derived).wrong());
    let mut surprises = Vec::new();
    for (derived, found) in subjects.iter().zip(found) {
        let known = KNOWN.iter().find(|(name, _)| *name == derived.known_as());
        let known = known.map_or(0, |(_, known)| *known);
        let counts = found.each_ref().map(Vec::len);
        if counts != [known, 0, 0, 0] {
            let examples = found
                .iter()
                .filter_map(|wrong| wrong.iter().min_by_key(|text| text.len()));
            let examples: Vec<&str> = examples.map(String::as_str).collect();
            surprises.push(format!(
                "{}: {counts:?}:\n  {}",
                derived.name,
                examples.join("\n  ")
            ));
        }
    }
    surprises
}

#[test]
fn what_is_right_is_allowed_and_what_is_wrong_is_not() {
    let subjects = derived::own_named(&FEW);
    let subjects: Vec<&Derived> = subjects.iter().collect();
    let surprises = surprises(&subjects);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
#[ignore = "all chat templates; `.ci/run` runs it"]
fn what_is_right_is_allowed_and_what_is_wrong_is_not_at_length() {
    let subjects: Vec<&Derived> = derived::all()
        .iter()
        .filter(|one| one.outcome.is_ok())
        .collect();
    let surprises = surprises(&subjects);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}
