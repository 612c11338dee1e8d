//! One case put to the reference and to Obverse.

use obverse::parser::{ErrorKind, join_chunks};
use obverse::response_template::ResponseTemplate;
use obverse::value::json::{self, Format};
use obverse::value::{Map, Value};

use super::generate::Case;
use crate::support::parsing::{Outcome, characters, parse, short};

/// What one case showed, when nothing was wrong with it.
#[derive(Debug, Default, Clone, Copy)]
pub struct Seen {
    pub refused: bool,
    pub failed: bool,
    pub endless: bool,
    /// Ours gave up at a pattern that backtracks.
    pub gave_up: bool,
    /// The reference's answer depends on where the prefix ends.
    pub prefix_differs: bool,
    /// The reference's answer depends on the chunks.
    pub chunks_differ: bool,
    /// It does not, but the events of some chunk are not those of the reference.
    pub other_chunks: bool,
}

/// What is wrong: what was compared, and the two answers.
#[derive(Debug, Clone)]
pub struct Wrong {
    pub what: &'static str,
    pub text: String,
}

impl Case {
    /// The question for the reference: the response whole, in pieces, and with the prefix before it as one text.
    pub fn question(&self) -> String {
        let strings =
            |texts: &[&str]| Value::Array(texts.iter().map(|text| Value::from(*text)).collect());
        let pieces: Vec<&str> = self.cut.iter().map(String::as_str).collect();
        let mut question = Map::new();
        question.insert("template", self.template.clone().into());
        question.insert(
            "runs",
            vec![strings(&[self.response.as_str()]), strings(&pieces)].into(),
        );
        question.insert("prefix", self.prefix.as_str().into());
        if !self.tools.is_empty() {
            question.insert("tools", self.tools.clone().into());
        }
        if !self.prefix.is_empty() {
            question.insert("as_one", true.into());
        }
        let ascii = Format {
            ensure_ascii: true,
            ..Format::compact()
        };
        ascii.write(&question.into())
    }

    /// Compares the reference's answer with ours.
    pub fn judge(&self, answer: &Value) -> Result<Seen, Wrong> {
        let wrong = |what, text| Err(Wrong { what, text });
        let mut seen = Seen::default();
        let template = ResponseTemplate::from_value(&self.template.clone().into());
        let (template, runs) = match (template, answer.get("runs").and_then(Value::as_array)) {
            (Err(_), None) => {
                seen.refused = true;
                return Ok(seen);
            }
            (Ok(_), None) => {
                let reason = answer.get("refused").map_or(String::new(), json::to_string);
                return wrong("documents", format!("only the reference refuses: {reason}"));
            }
            (Err(invalid), Some(_)) => {
                return wrong("documents", format!("only ours refuses: {invalid}"));
            }
            (Ok(template), Some(runs)) => (template, runs),
        };
        let ours = |chunks: &[&str]| parse(&template, &self.prefix, &self.tools, chunks);
        let whole = ours(&[self.response.as_str()]);
        let (reference, in_pieces) = (&runs[0], &runs[1]);
        seen.failed = reference.get("error").is_some();
        seen.endless = is_endless(reference);
        if let Err(failure) = &whole.result
            && failure.error.kind.is_limit()
            && !self.steady
            && !seen.endless
        {
            seen.gave_up = true;
            return Ok(seen);
        }
        if let Err(text) = compare_whole(&whole, reference, true) {
            // Where the prefix ends is where a chunk ends: what counts is the text as one.
            let as_one = answer.get("as_one").filter(|_| !self.prefix.is_empty());
            match as_one.map(|as_one| compare_whole(&whole, as_one, false)) {
                Some(Ok(())) => seen.prefix_differs = true,
                _ => return wrong("the whole response", text),
            }
        }
        let pieces: Vec<&str> = self.cut.iter().map(String::as_str).collect();
        let cut = ours(&pieces);
        for (pieces, outcome) in [
            (&pieces, &cut),
            (
                &characters(&self.response),
                &ours(&characters(&self.response)),
            ),
        ] {
            if outcome.essence() != whole.essence() {
                return wrong(
                    "chunks",
                    format!(
                        "whole {}\n    cut as {pieces:?} {}",
                        whole.essence(),
                        outcome.essence()
                    ),
                );
            }
        }
        if reference.get("error").is_some() || seen.prefix_differs {
            return Ok(seen);
        }
        seen.chunks_differ = !same_essence(reference, in_pieces);
        if seen.chunks_differ {
            return if self.steady {
                wrong(
                    "the reference's answer",
                    format!(
                        "depends on the chunks {pieces:?}, and no delimiter is said to be late"
                    ),
                )
            } else {
                Ok(seen)
            };
        }
        let theirs = in_pieces
            .get("events")
            .and_then(Value::as_array)
            .unwrap_or_default();
        for (number, (ours, theirs)) in cut.events.iter().zip(theirs).enumerate() {
            let (ours, theirs) = (short(ours), json::to_string(theirs));
            if ours != theirs && self.steady {
                return wrong(
                    "the events of a chunk",
                    format!(
                        "cut as {pieces:?}: in chunk {number} the reference gives {theirs}, ours {ours}"
                    ),
                );
            }
            seen.other_chunks |= ours != theirs;
        }
        Ok(seen)
    }
}

fn is_endless(answer: &Value) -> bool {
    answer.get("error").and_then(|error| error.get("type")) == Some(&Value::from("Timeout"))
}

fn compare_whole(ours: &Outcome, reference: &Value, apart: bool) -> Result<(), String> {
    let text = |key: &str| {
        reference
            .get(key)
            .map_or("none".to_owned(), json::to_string)
    };
    let member =
        |error: &Value, key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
    let different = |what: &str, theirs: String, ours: String| {
        Err(format!("{what}: the reference gives {theirs}, ours {ours}"))
    };
    match (&ours.result, reference.get("error")) {
        (Ok(message), None) => {
            let message = json::to_string(&message.clone().into());
            if message != text("message") {
                return different("message", text("message"), message);
            }
            let lost = ours.unclaimed.iter().filter(|lost| lost.field.is_none());
            let lost = lost.map(|lost| Value::from(lost.text.as_str())).collect();
            let lost = json::to_string(&Value::Array(lost));
            // Text of the prefix is told only where it stands in the response, too.
            if apart && lost != text("discarded") {
                return different("unclaimed text", text("discarded"), lost);
            }
            let mut initial = ours.initial.clone();
            let mut events: Vec<_> = ours.events.iter().flatten().cloned().collect();
            if !apart {
                initial.append(&mut events);
                std::mem::swap(&mut initial, &mut events);
            }
            let theirs = joined(reference, "initial");
            if short(&initial) != theirs {
                return different("initial events", theirs, short(&initial));
            }
            let (ours, theirs) = (short(&join_chunks(events)), joined(reference, "events"));
            if ours != theirs {
                return different("events", theirs, ours);
            }
            Ok(())
        }
        (Ok(message), Some(error)) => different(
            "result",
            json::to_string(error),
            json::to_string(&message.clone().into()),
        ),
        (Err(failure), None) => different("result", text("message"), failure.error.to_string()),
        (Err(failure), Some(error)) => {
            let kind = failure.error.kind;
            if is_endless(reference) {
                return if kind.is_limit() {
                    Ok(())
                } else {
                    different("error", json::to_string(error), kind.name().to_owned())
                };
            }
            let stage = member(error, "stage").unwrap_or_default();
            // Ours may hold for longer what the reference takes at once.
            let in_prefix = |stage: &str| apart && stage == "prefix";
            if in_prefix(&stage) != in_prefix(failure.stage)
                || !exceptions(kind).contains(&member(error, "type").unwrap_or_default().as_str())
                || member(error, "field").as_deref() != failure.error.field.as_deref()
            {
                let ours = format!(
                    "{} of {:?} in {}: {}",
                    kind.name(),
                    failure.error.field,
                    failure.stage,
                    failure.error
                );
                return different("error", json::to_string(error), ours);
            }
            let ours = failure.output.clone().map(Value::Object);
            match ours.as_ref().map(json::to_string) {
                Some(ours) if ours != text("output") => different("output", text("output"), ours),
                _ => Ok(()),
            }
        }
    }
}

/// What the reference raises for an error of ours.
fn exceptions(kind: ErrorKind) -> &'static [&'static str] {
    match kind.name() {
        "merge" => &["ValueError", "AttributeError", "TypeError"],
        "transform" => &["KeyError", "ValueError"],
        "xml-inline" => &["ValueError", "AttributeError", "TypeError"],
        _ => &["ValueError"],
    }
}

/// The reference's events of a key, flat or a list for each chunk, with adjacent chunks of a region joined.
fn joined(answer: &Value, key: &str) -> String {
    let mut joined: Vec<Value> = Vec::new();
    let lists = answer
        .get(key)
        .and_then(Value::as_array)
        .unwrap_or_default();
    let events: Vec<&Value> = if key == "events" {
        lists
            .iter()
            .flat_map(|events| events.as_array().unwrap_or_default())
            .collect()
    } else {
        lists.iter().collect()
    };
    for event in events {
        let parts = event.as_array().unwrap_or_default();
        if let ([Value::String(kind), _, Value::String(text)], Some(Value::Array(last))) =
            (parts, joined.last_mut())
            && kind != "close"
            && last[..2] == parts[..2]
            && let Some(Value::String(before)) = last.get_mut(2)
        {
            before.push_str(text);
        } else {
            joined.push(event.clone());
        }
    }
    json::to_string(&Value::Array(joined))
}

fn same_essence(a: &Value, b: &Value) -> bool {
    let essence = |answer: &Value| {
        let text = |key: &str| answer.get(key).map_or("none".to_owned(), json::to_string);
        (text("message"), joined(answer, "events"))
    };
    essence(a) == essence(b)
}
