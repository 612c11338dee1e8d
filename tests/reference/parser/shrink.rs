//! A failing case made small: fields and keys dropped, text dropped, for as long as it fails in the same way.

use std::time::{Duration, Instant};

use obverse::value::{Map, Value, json};

use super::compare::Wrong;
use super::generate::Case;

/// How long smaller cases are tried.
const PATIENCE: Duration = Duration::from_secs(20);

pub fn shrink(
    mut case: Case,
    mut wrong: Wrong,
    judge: &mut dyn FnMut(&Case) -> Option<Wrong>,
) -> (Case, Wrong) {
    let started = Instant::now();
    'again: loop {
        for smaller in smaller(&case) {
            if started.elapsed() > PATIENCE {
                break 'again;
            }
            if let Some(found) = judge(&smaller)
                && found.what == wrong.what
            {
                (case, wrong) = (smaller, found);
                continue 'again;
            }
        }
        break;
    }
    (case, wrong)
}

/// Cases that lack one thing, the larger things first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut found = Vec::new();
    for key in case.template.keys().filter(|key| *key != "fields") {
        if !key.starts_with("start_anchor") {
            let mut smaller = case.clone();
            smaller.template.shift_remove(key);
            found.push(smaller);
        }
    }
    let empty = Map::new();
    let fields = case.template["fields"].as_object().unwrap_or(&empty);
    for (name, field) in fields {
        found.push(with_fields(case, |fields| {
            fields.shift_remove(name);
        }));
        for key in field.as_object().unwrap_or(&empty).keys() {
            found.push(with_fields(case, |fields| {
                if let Some(Value::Object(field)) = fields.get_mut(name) {
                    field.shift_remove(key);
                }
            }));
        }
    }
    if !case.tools.is_empty() {
        found.push(Case {
            tools: Vec::new(),
            ..case.clone()
        });
    }
    for prefix in shorter(&case.prefix) {
        found.push(Case {
            prefix,
            ..case.clone()
        });
    }
    // A piece that loses text loses it from the response too.
    for at in 0..case.cut.len() {
        let mut without = case.clone();
        without.cut.remove(at);
        found.push(without);
        if at + 1 < case.cut.len() {
            let mut together = case.clone();
            let next = together.cut.remove(at + 1);
            together.cut[at].push_str(&next);
            found.push(together);
        }
        for piece in shorter(&case.cut[at]) {
            let mut smaller = case.clone();
            smaller.cut[at] = piece;
            found.push(smaller);
        }
    }
    for case in &mut found {
        case.response = case.cut.concat();
    }
    found
}

fn with_fields(case: &Case, change: impl FnOnce(&mut Map)) -> Case {
    let mut case = case.clone();
    if let Some(Value::Object(fields)) = case.template.get_mut("fields") {
        change(fields);
    }
    case
}

/// The text without its halves, and without each of its characters.
fn shorter(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let half = characters.len() / 2;
    let mut found = Vec::new();
    if half > 1 {
        found.push(characters[half..].iter().collect());
        found.push(characters[..half].iter().collect());
    }
    for at in 0..characters.len() {
        let mut rest = characters.clone();
        rest.remove(at);
        found.push(rest.into_iter().collect());
    }
    found
}

/// The case as a line for `tests/cases/parser`; what is expected is still to be added.
pub fn as_case(case: &Case, name: &str) -> String {
    let mut members = Map::new();
    members.insert("name", name.into());
    members.insert("template", case.template.clone().into());
    members.insert("response", case.response.as_str().into());
    if !case.prefix.is_empty() {
        members.insert("prefix", case.prefix.as_str().into());
    }
    if !case.tools.is_empty() {
        members.insert("tools", case.tools.clone().into());
    }
    json::to_string(&members.into())
}
