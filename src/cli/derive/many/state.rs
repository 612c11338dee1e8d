//! The state of a list: what was done with its models, in the file by which a run goes on where another one was ended, and the summary for programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use obverse::derive::Report;
use obverse::value::Value;

use crate::cli::input;
use crate::cli::problem::Problem;
use crate::cli::replace::replace_or_force;
use crate::cli::wire;

/// The name of the file.
const FILE: &str = "hub-list.json";

/// Saving waits for so long after it was done, and for so many times as long as that took: the file of many models is a large one.
const REST: Duration = Duration::from_secs(2);
const SHARE: u32 = 20;

/// A failure, by its code and in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) message: String,
    /// True if it may go well another time.
    pub(super) may_pass: bool,
}

/// A model that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) commit: Option<String>,
    pub(super) renamed: Option<String>,
    /// The name of the files that its chat template has, or why it has none.
    pub(super) outcome: Result<String, Failure>,
}

/// A chat template, of however many models.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Template {
    /// The first model of the list that has it.
    pub(super) model: String,
    pub(super) outcome: Result<Format, Failure>,
}

/// The verdict of a derivation, and what kind of format it is, by the words of its report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Format {
    pub(super) verdict: String,
    pub(super) reasoning: String,
    pub(super) content: String,
    pub(super) tools: String,
}

/// All that was done.
#[derive(Debug)]
pub(super) struct State {
    path: PathBuf,
    /// The version and the options: with others everything is derived anew.
    made_with: String,
    pub(super) models: BTreeMap<String, Model>,
    pub(super) templates: BTreeMap<String, Template>,
    saved: Instant,
    rest: Duration,
}

impl Format {
    pub(super) fn of(report: &Report) -> Result<Self, Problem> {
        let report = wire::reported("the report", report)?;
        let at = |path: &[&str]| {
            let found = path.iter().try_fold(&report, |value, key| value.get(key));
            let found = found.and_then(Value::as_str);
            found.unwrap_or_default().to_owned()
        };
        Ok(Self {
            verdict: at(&["verdict"]),
            reasoning: at(&["reasoning", "mode"]),
            content: at(&["content", "mode"]),
            tools: at(&["tools", "mode"]),
        })
    }

    fn read(value: &Value) -> Option<Self> {
        Some(Self {
            verdict: text(value, "verdict")?,
            reasoning: text(value, "reasoning")?,
            content: text(value, "content")?,
            tools: text(value, "tools")?,
        })
    }
}

impl State {
    /// The state that a run before this one has left in the folder, if it was made in the same way.
    pub(super) fn open(folder: &Path, made_with: String) -> Result<Self, Problem> {
        let mut state = Self {
            path: folder.join(FILE),
            made_with,
            models: BTreeMap::new(),
            templates: BTreeMap::new(),
            saved: Instant::now(),
            rest: REST,
        };
        if !state.path.exists() {
            return Ok(state);
        }
        let (value, _) = input::read_json(&state.path)?;
        if text(&value, "made_with").as_deref() == Some(state.made_with.as_str())
            && state.take(&value).is_none()
        {
            let message = format!("{} is no state of a list", input::name(&state.path));
            let hint = "take it away to begin anew, or name another folder with --out-dir";
            return Err(Problem::failed("state", message).with_hint(hint));
        }
        // Of a chat template whose files are gone nothing is known.
        let is_there = |name: &str| folder.join(format!("{name}.json")).is_file();
        state
            .templates
            .retain(|name, template| template.outcome.is_err() || is_there(name));
        Ok(state)
    }

    fn take(&mut self, value: &Value) -> Option<()> {
        for one in value.get("templates")?.as_array()? {
            let outcome = match failure(one) {
                Some(failure) => Err(failure),
                None => Ok(Format::read(one)?),
            };
            let model = text(one, "model")?;
            self.templates
                .insert(text(one, "name")?, Template { model, outcome });
        }
        for one in value.get("models")?.as_array()? {
            let outcome = match failure(one) {
                Some(failure) => Err(failure),
                None => Ok(text(one, "template")?),
            };
            let model = Model {
                commit: text(one, "commit"),
                renamed: text(one, "renamed"),
                outcome,
            };
            self.models.insert(text(one, "model")?, model);
        }
        Some(())
    }

    /// Returns true if nothing more is to be done for the model.
    pub(super) fn is_done(&self, model: &str) -> bool {
        let found = self.models.get(model);
        found.is_some_and(|model| match &model.outcome {
            Ok(name) => self.templates.contains_key(name),
            Err(failure) => !failure.may_pass,
        })
    }

    /// Saves it, unless that was done a moment ago.
    pub(super) fn save_now_and_then(&mut self) -> Result<(), Problem> {
        match self.saved.elapsed() < self.rest {
            true => Ok(()),
            false => self.save(),
        }
    }

    pub(super) fn save(&mut self) -> Result<(), Problem> {
        let begun = Instant::now();
        replace_or_force(&self.path, &wire::pretty(&self.document()), false)?;
        self.rest = REST.max(begun.elapsed() * SHARE);
        self.saved = Instant::now();
        Ok(())
    }

    /// How many models have a chat template.
    pub(super) fn models_of(&self, template: &str) -> usize {
        let models = self.models.values();
        let of = models.filter(|model| model.outcome.as_deref() == Ok(template));
        of.count()
    }

    /// All of it, as JSON.
    pub(super) fn document(&self) -> Value {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in self.models.values().flat_map(|model| &model.outcome) {
            *counts.entry(name).or_default() += 1;
        }
        let optional =
            |text: Option<&String>| text.map_or(Value::Null, |text| text.as_str().into());
        let models = self.models.iter().map(|(name, model)| {
            Value::Object(wire::object([
                ("model", name.as_str().into()),
                ("commit", optional(model.commit.as_ref())),
                ("renamed", optional(model.renamed.as_ref())),
                ("template", optional(model.outcome.as_ref().ok())),
                ("error", error(model.outcome.as_ref().err())),
            ]))
        });
        let templates = self.templates.iter().map(|(name, template)| {
            let format = template.outcome.as_ref().ok();
            let of = |part: fn(&Format) -> &String| optional(format.map(part));
            let count = counts.get(name.as_str()).copied().unwrap_or_default();
            Value::Object(wire::object([
                ("name", name.as_str().into()),
                ("model", template.model.as_str().into()),
                ("models", Value::count(count)),
                ("verdict", of(|format| &format.verdict)),
                ("reasoning", of(|format| &format.reasoning)),
                ("content", of(|format| &format.content)),
                ("tools", of(|format| &format.tools)),
                ("error", error(template.outcome.as_ref().err())),
            ]))
        });
        Value::Object(wire::object([
            ("made_with", self.made_with.as_str().into()),
            ("templates", Value::Array(templates.collect())),
            ("models", Value::Array(models.collect())),
        ]))
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_str()?.to_owned())
}

fn error(failure: Option<&Failure>) -> Value {
    failure.map_or(Value::Null, |failure| {
        Value::Object(wire::object([
            ("code", failure.code.as_str().into()),
            ("message", failure.message.as_str().into()),
            ("may_pass", failure.may_pass.into()),
        ]))
    })
}

fn failure(value: &Value) -> Option<Failure> {
    let error = value.get("error")?;
    Some(Failure {
        code: text(error, "code")?,
        message: text(error, "message")?,
        may_pass: error.get("may_pass") == Some(&Value::Bool(true)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(may_pass: bool) -> Failure {
        Failure {
            code: "gated".to_owned(),
            message: "closed".to_owned(),
            may_pass,
        }
    }

    #[test]
    fn a_state_is_read_as_it_was_saved() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = |with: &str| State::open(folder.path(), with.to_owned());
        let mut state = open("1").expect("a state");
        let format = Format {
            verdict: "proved".to_owned(),
            reasoning: "none".to_owned(),
            content: "plain".to_owned(),
            tools: "none".to_owned(),
        };
        for (name, outcome) in [
            ("t", Ok(format.clone())),
            ("gone", Ok(format)),
            ("bad", Err(failure(false))),
        ] {
            let model = "a/a".to_owned();
            state
                .templates
                .insert(name.to_owned(), Template { model, outcome });
        }
        std::fs::write(folder.path().join("t.json"), "{}").expect("written");
        for (name, outcome) in [
            ("a/a", Ok("t".to_owned())),
            ("a/gone", Ok("gone".to_owned())),
            ("a/bad", Ok("bad".to_owned())),
            ("a/now", Err(failure(true))),
            ("a/never", Err(failure(false))),
        ] {
            let model = Model {
                commit: Some("c".to_owned()),
                renamed: None,
                outcome,
            };
            state.models.insert(name.to_owned(), model);
        }
        state.save().expect("saved");
        let again = open("1").expect("a state");
        assert_eq!(again.models, state.models);
        assert_eq!(again.templates.len(), 2);
        let done =
            ["a/a", "a/gone", "a/bad", "a/now", "a/never", "a/new"].map(|name| again.is_done(name));
        assert_eq!(done, [true, false, true, false, true, false]);
        assert_eq!(again.models_of("t"), 1);
        assert!(open("2").expect("a state").models.is_empty());
        std::fs::write(folder.path().join(FILE), r#"{"made_with": "1"}"#).expect("written");
        assert_eq!(open("1").expect_err("none").diagnostics[0].code, "state");
    }
}
