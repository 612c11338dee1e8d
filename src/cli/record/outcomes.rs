//! The outcome of a recording: told to people as it comes, and to programs as one object at the end.

use obverse::check::{Fixture, Replay};
use obverse::parser::Unclaimed;
use obverse::value::{Map, Value};

use super::Recording;
#[cfg(feature = "http")]
use crate::cli::escape;
use crate::cli::{output, wire};

/// The outcome of each fixture.
pub(super) struct Outcomes {
    is_json: bool,
    fixtures: Vec<Value>,
}

impl Outcomes {
    pub(super) fn new(is_json: bool) -> Self {
        Self {
            is_json,
            fixtures: Vec::new(),
        }
    }

    /// Tells people, unless a program is told the same.
    pub(super) fn tell(&self, text: &str) {
        if !self.is_json {
            output::tell(text);
        }
    }

    /// A response was recorded; `parsed` is what its response template makes of it, if it has one.
    pub(super) fn recorded(
        &mut self,
        name: &str,
        fixture: &Fixture,
        recording: &Recording,
        parsed: Option<&Replay>,
    ) {
        let string = |text: Option<&str>| text.map_or(Value::Null, Value::from);
        let error = parsed.and_then(|parsed| parsed.errors.first());
        let unclaimed = parsed.map_or(&[][..], |parsed| &parsed.unclaimed);
        let unclaimed = unclaimed.iter().map(Unclaimed::to_map).map(Value::Object);
        let message = parsed.map(|parsed| Value::Object(parsed.message.clone()));
        self.add(wire::object([
            ("name", Value::from(name)),
            ("status", Value::from("recorded")),
            ("bytes", Value::count(fixture.response.len())),
            (
                "chunks",
                Value::count(fixture.chunks.as_ref().map_or(0, Vec::len)),
            ),
            ("limited", Value::Bool(recording.is_limited)),
            ("broken", string(recording.broken.as_deref())),
            ("message", message.unwrap_or_default()),
            (
                "error",
                string(error.map(|error| error.to_string()).as_deref()),
            ),
            ("unclaimed", Value::Array(unclaimed.collect())),
        ]));
    }

    /// There is a fixture of that name already.
    #[cfg(feature = "http")]
    pub(super) fn there(&mut self, name: &str) {
        self.tell(&format!("{name} is there already\n"));
        self.add(wire::object([
            ("name", Value::from(name)),
            ("status", Value::from("there")),
        ]));
    }

    /// Nothing was recorded, for this reason.
    #[cfg(feature = "http")]
    pub(super) fn left_out(&mut self, name: &str, why: &str) {
        self.tell(&format!("{name} is left out: {}\n", escape::line(why)));
        self.add(wire::object([
            ("name", Value::from(name)),
            ("status", Value::from("left_out")),
            ("why", Value::from(why)),
        ]));
    }

    fn add(&mut self, fixture: Map) {
        self.fixtures.push(Value::Object(fixture));
    }

    /// Tells a program all of it.
    pub(super) fn end(self) -> std::io::Result<()> {
        if !self.is_json {
            return Ok(());
        }
        let report = wire::object([("fixtures", Value::Array(self.fixtures))]);
        output::print_json(&wire::pretty(&Value::Object(report)))
    }
}
