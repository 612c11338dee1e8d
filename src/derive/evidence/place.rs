//! A place that writes a part of a marker.

use serde::Serialize;

#[cfg(feature = "tui")]
use crate::chat_template::InputStep;
use crate::chat_template::{ChatTemplate, InputPath, Origin, Traced};
#[cfg(feature = "tui")]
use crate::value::Value;

/// The writer of a part of a marker: a place in the chat template's source, or an input. Neighbours are apart where their origins are, so
/// that one marker may be written by several constants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum Writer {
    /// A place in the chat template's source.
    Source {
        /// The name of the chat template, where there are several.
        #[serde(skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        /// The line in which the place starts; the first is 1.
        line: usize,
        /// The column in which the place starts, in characters; the first is 1.
        column: usize,
        /// The offset at which the place starts in the source, in bytes.
        start: usize,
        /// The offset at which the place ends, in bytes.
        end: usize,
        /// The text that it writes in the render: as it stands in the source, but for escapes there.
        text: String,
        /// True if the text was computed, and is not the text that stands in the source.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, schemars(default))]
        derived: bool,
    },
    /// An input: a special token, a role, or the text that fills a slot of the marker.
    Input {
        /// The path to the input.
        #[cfg_attr(test, schemars(with = "Vec<crate::schemas::KeyOrIndex>"))]
        input: InputPath,
        /// The part of the input that stands in the render.
        text: String,
        /// True if the text was computed from the input, and is not the input's text as it is.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, schemars(default))]
        derived: bool,
    },
}

impl Writer {
    /// Returns the writers of these bytes of a render, in order. Text whose place is not known is left out.
    pub(in crate::derive) fn of_range(
        template: (Option<&str>, &ChatTemplate),
        traced: &Traced,
        (from, to): (usize, usize),
    ) -> Vec<Self> {
        let first = traced.runs.partition_point(|run| run.end <= from);
        let runs = traced.runs[first..].iter();
        let runs = runs.take_while(|run| run.start < to);
        runs.filter_map(|run| {
            let (start, end) = (run.start.max(from), run.end.min(to));
            let text = traced.text.get(start..end)?;
            let part = (start - run.start, end - run.start);
            Self::of_part(template, &run.origin, part, text)
        })
        .collect()
    }

    /// Returns the writer of `text`, which is a part of a run of that origin.
    fn of_part(
        (name, template): (Option<&str>, &ChatTemplate),
        origin: &Origin,
        part: (usize, usize),
        text: &str,
    ) -> Option<Self> {
        match origin {
            Origin::Input { path, derived, .. } => Some(Self::Input {
                input: path.clone(),
                text: text.to_owned(),
                derived: *derived,
            }),
            Origin::Source {
                start,
                end,
                from,
                derived,
            } => {
                let whole = (*start, *end);
                let own = (from.0 + part.0, from.0 + part.1);
                let exact = (!derived)
                    .then(|| template.place_of_part(whole, *from, own))
                    .flatten();
                let (start, end) = exact.unwrap_or(whole);
                let (line, column) = line_and_column(template.source(), start);
                (start < end).then(|| Self::Source {
                    template: name.map(str::to_owned),
                    line,
                    column,
                    start,
                    end,
                    text: text.to_owned(),
                    derived: *derived,
                })
            }
        }
    }

    /// The place as a report has it.
    #[cfg(feature = "tui")]
    pub(crate) fn to_value(&self) -> Value {
        // Strings, numbers and a list: nothing in it can fail to serialize.
        let written = serde_json::to_value(self).unwrap_or_default();
        Value::try_from(&written).unwrap_or(Value::Null)
    }

    /// Reads a place from a report's JSON; `None` where the value is none.
    #[cfg(feature = "tui")]
    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        let number = |key: &str| as_usize(value.get(key)?);
        let text = value.get("text")?.as_str()?.to_owned();
        let derived = value.get("derived").is_some_and(Value::is_truthy);
        if let Some(path) = value.get("input") {
            let steps = path.as_array()?.iter().map(|step| match step.as_str() {
                Some(key) => Some(InputStep::from(key)),
                None => as_usize(step).map(InputStep::from),
            });
            return Some(Self::Input {
                input: steps.collect::<Option<InputPath>>()?,
                text,
                derived,
            });
        }
        let template = value.get("template").and_then(Value::as_str);
        Some(Self::Source {
            template: template.map(str::to_owned),
            line: number("line")?,
            column: number("column")?,
            start: number("start")?,
            end: number("end")?,
            text,
            derived,
        })
    }

    /// Returns the place with its text as `show` shows it.
    pub(in crate::derive) fn with_text(mut self, show: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Self::Source { text, .. } | Self::Input { text, .. } => *text = show(text),
        }
        self
    }

    /// The text that it writes.
    pub fn text(&self) -> &str {
        match self {
            Self::Source { text, .. } | Self::Input { text, .. } => text,
        }
    }

    /// Describes the place in words, where the chat template came from `source`: `written at chat.jinja:43:12`.
    pub fn describe(&self, source: &str) -> String {
        match self {
            Self::Source {
                template,
                line,
                column,
                derived,
                ..
            } => {
                let how = if *derived { "computed" } else { "written" };
                match template {
                    Some(name) => {
                        format!("{how} at {source} (chat template `{name}`):{line}:{column}")
                    }
                    None => format!("{how} at {source}:{line}:{column}"),
                }
            }
            Self::Input { input, derived, .. } => {
                let how = if *derived {
                    "computed from"
                } else {
                    "given by"
                };
                format!("{how} the input {input}")
            }
        }
    }
}

/// The number, where it is one that a report could count with.
#[cfg(feature = "tui")]
fn as_usize(value: &Value) -> Option<usize> {
    match value {
        Value::Int(number) => usize::try_from(number.as_i64()?).ok(),
        _ => None,
    }
}

/// The line and the column of a byte of the source, both from 1; columns are counted in characters.
fn line_and_column(source: &str, at: usize) -> (usize, usize) {
    let before = source.get(..at).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (line, before[start..].chars().count() + 1)
}
