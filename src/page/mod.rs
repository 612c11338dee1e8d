//! The page: what a browser shows of a response template, of its derivation and of responses as they are parsed.
//!
//! The playground asks for its parts one by one, as text is edited: [`Page::open`], [`template`], [`replay`]. The commands write all of
//! them, made beforehand, into one file with [`Page::to_html`], which needs nothing else to be looked at. Both are shown by the same
//! scripts, those in `site/`.
//!
//! ```
//! let page = obverse::page::Page::open("chat", "{% for m in messages %}[{{ m.role }}]{{ m.content }}[/]{% endfor %}")?;
//! assert!(page.template.valid);
//! let replay = obverse::page::replay(&page.template.text, "Hello![/]", &Default::default())?;
//! assert_eq!(replay.message[1].json, "\"Hello!\"");
//! # Ok::<(), obverse::page::PageError>(())
//! ```

mod html;
mod replay;
mod template;
mod utf16;

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

pub use replay::{
    Change, Member, PageReplay, ReplayEntry, ReplayField, ReplayRegion, ReplayWatch, Steps,
};
pub use template::{PageDelimiter, PageFinding, TemplateView};

use crate::chat_template::{self, ChatTemplateSource};
use crate::chunking::Chunking;
use crate::derive::{self, Case, Derivation, Report};
use crate::diagnostic::Severity;
use crate::parser::Options;
use crate::replay::Timeline;
use crate::response_template::{ResponseTemplate, config};
use crate::value::json::{self, Format};
use crate::value::{Key, Map, Value};
use template::Marker;

/// Everything that a page shows.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Page {
    /// The name of what is shown.
    pub title: String,
    /// The response template.
    pub template: TemplateView,
    /// The report of its derivation, as `derive --report` writes it; of one that was read from a file, what is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<serde_json::Value>,
    /// The responses that can be looked at.
    pub samples: Vec<PageSample>,
    /// The number of responses that were left out: others like them are there, or the page would have become too large.
    pub left_out: usize,
}

/// A response that can be looked at.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct PageSample {
    /// The name of it.
    pub name: String,
    /// The response.
    pub response: String,
    /// The prefix that the parser is given before it.
    pub prefix: String,
    /// The list of tools by whose schemas arguments are typed, as JSON; empty for none.
    pub tools: String,
    /// The message that it must parse to, as JSON, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The recorded parse, where it was made beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<PageReplay>,
}

/// The reason why something cannot be shown, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PageError(String);

impl PageError {
    fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// The way in which a response is read for a [`replay`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reading {
    /// The prefix that the parser is given before the response.
    pub prefix: String,
    /// The tools by whose schemas arguments are typed, a list as JSON; empty for none.
    pub tools: String,
    /// The way in which the response is cut into chunks; [`Chunking::Recorded`] takes them from a JSON list, which the response then is.
    pub chunking: Chunking,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            tools: String::new(),
            chunking: Chunking::Words,
        }
    }
}

/// The most that the replays of a page may take, in bytes, about.
const MAX_REPLAYS: usize = 24 << 20;

/// So many of the responses by which a derivation was proved are shown whose messages have the same keys.
const ALIKE: usize = 8;

impl Page {
    /// Opens what somebody pastes: a chat template or a `tokenizer_config.json` with one, from which a response template is derived, or
    /// a response template. Nothing is recorded yet.
    ///
    /// # Errors
    ///
    /// When it is none of these, or when nothing can be derived from it.
    pub fn open(name: &str, text: &str) -> Result<Self, PageError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Ok(Value::Object(members)) = json::parse(text) else {
            let source = chat_template::from_text(name, text).map_err(PageError::of)?;
            return Self::derived(source);
        };
        if members.get("chat_template").is_some() {
            let source = chat_template::from_config(name, text).map_err(PageError::of)?;
            return Self::derived(source);
        }
        let loaded = config::load_any(text).map_err(PageError::of)?;
        let text = match loaded.source {
            config::Source::Document => text.to_owned(),
            config::Source::TokenizerConfig => Format::indented(2).write(&loaded.document) + "\n",
        };
        Ok(Self::of_template(name, &text, None, Vec::new()))
    }

    fn derived(source: ChatTemplateSource) -> Result<Self, PageError> {
        let source = source.assuming_tokens();
        let derivation =
            derive::derive(&source, &derive::Options::default()).map_err(PageError::of)?;
        Ok(Self::of_derivation(&source.name, &derivation))
    }

    /// A page about a derivation, with the responses by which it was proved; those that did not come back are first.
    pub fn of_derivation(title: &str, derivation: &Derivation) -> Self {
        let report = &derivation.report;
        let mut samples = lost(report);
        let mut left_out = 0;
        let mut alike: HashMap<Vec<&Key>, usize> = HashMap::new();
        for (number, case) in derivation.cases.iter().enumerate() {
            let known = alike.entry(keys(case)).or_default();
            *known += 1;
            if *known > ALIKE {
                left_out += 1;
            } else {
                samples.push(PageSample::of_case(number + 1, case));
            }
        }
        let report = serde_json::to_value(report).ok();
        let page = Self::of_template(title, &derivation.document.to_json(), report, samples);
        Self { left_out, ..page }
    }

    /// A page about a response template; `report` is that of its derivation, if there is one.
    pub fn of_template(
        title: &str,
        text: &str,
        report: Option<serde_json::Value>,
        samples: Vec<PageSample>,
    ) -> Self {
        let markers = report.as_ref().map(markers).unwrap_or_default();
        Self {
            title: title.to_owned(),
            template: TemplateView::of(text, &markers),
            report,
            samples,
            left_out: 0,
        }
    }

    /// Records the responses, each cut as `ends` says, so that the page can be looked at without a parser. Those that would make it too
    /// large are left out, and counted.
    pub fn record(&mut self, options: Options, ends: &dyn Fn(usize, &str) -> Vec<usize>) {
        let Ok(template) = ResponseTemplate::from_json(&self.template.text).map(Arc::new) else {
            return;
        };
        let mut size = 0;
        for (index, sample) in self.samples.iter_mut().enumerate() {
            let ends = ends(index, &sample.response);
            // Of each step a dozen numbers are kept.
            size += (sample.prefix.len() + sample.response.len()) * 8 + ends.len() * 64;
            if index > 0 && size > MAX_REPLAYS {
                self.left_out += self.samples.len() - index;
                self.samples.truncate(index);
                return;
            }
            let tools = tools(&sample.tools).unwrap_or_default();
            let (prefix, response) = (&sample.prefix, &sample.response);
            sample.replay = Some(PageReplay::of(&Timeline::record(
                &template, prefix, &tools, options, response, &ends,
            )));
        }
    }

    /// The page as one file, which loads nothing from anywhere.
    pub fn to_html(&self) -> String {
        html::write(self)
    }
}

impl PageSample {
    /// A response of that name.
    pub fn new(name: impl Into<String>, response: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            response: response.into(),
            ..Self::default()
        }
    }

    /// Sets the prefix, the tools, and the message that it must parse to.
    pub fn given(
        self,
        prefix: impl Into<String>,
        tools: &[Value],
        expected: Option<&Value>,
    ) -> Self {
        let tools = match tools {
            [] => String::new(),
            some => json::to_string(&Value::Array(some.to_vec())),
        };
        Self {
            prefix: prefix.into(),
            tools,
            expected: expected.map(|value| Format::indented(2).write(value)),
            ..self
        }
    }

    fn of_case(number: usize, case: &Case) -> Self {
        let keys: Vec<&str> = keys(case).into_iter().map(|key| &**key).collect();
        let name = format!("verified {number}: {}", keys.join(", "));
        let (prefix, response) = (case.prefix.as_str(), case.response.as_str());
        Self::new(name, response).given(prefix, &case.tools, Some(&case.message))
    }
}

/// The keys of a case's message, but for the role, which all have.
fn keys(case: &Case) -> Vec<&Key> {
    let keys = case.message.as_object().into_iter().flat_map(Map::keys);
    keys.filter(|key| ***key != *"role").collect()
}

/// The messages that did not come back, each once.
fn lost(report: &Report) -> Vec<PageSample> {
    let of_findings = report.findings.iter().filter_map(|finding| {
        let found = finding.counterexample.as_ref();
        found.filter(|_| finding.severity == Severity::Error)
    });
    let of_kinds = report
        .kinds
        .iter()
        .filter_map(|kind| kind.smallest.as_ref());
    let mut samples: Vec<PageSample> = Vec::new();
    for found in of_findings.chain(of_kinds) {
        if samples.iter().any(|known| known.response == found.response) {
            continue;
        }
        let name = format!("does not come back {}", samples.len() + 1);
        let sample = PageSample::new(name, found.response.as_str());
        samples.push(sample.given(found.prefix.as_str(), &[], Some(&found.expected)));
    }
    samples
}

/// The markers of a report's evidence.
fn markers(report: &serde_json::Value) -> Vec<Marker> {
    let text = |found: &serde_json::Value, key: &str| {
        let value = found.get(key).and_then(serde_json::Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let evidence = report.get("evidence").and_then(serde_json::Value::as_array);
    let evidence = evidence.into_iter().flatten();
    let markers = evidence.map(|found| Marker {
        decision: text(found, "question"),
        text: text(found, "marker"),
    });
    markers.collect()
}

fn tools(text: &str) -> Result<Vec<Value>, PageError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    match json::parse(text) {
        Ok(Value::Array(tools)) => Ok(tools),
        Ok(_) => Err(PageError("the tools are not a list".to_owned())),
        Err(error) => Err(PageError(format!("the tools are not JSON: {error}"))),
    }
}

/// Looks at a response template that is being edited; `report` is that of the derivation that it comes from, if there is one.
pub fn template(text: &str, report: Option<&serde_json::Value>) -> TemplateView {
    let markers = report.map(markers).unwrap_or_default();
    TemplateView::of(text, &markers)
}

/// The text of chunks that are written as a JSON list, and where each ends.
fn listed(text: &str) -> Result<(String, Vec<usize>), PageError> {
    let error = || {
        PageError::of(
            "the response is to be its tokens or chunks, as a JSON list of texts: [\"Hel\", \"lo\"]",
        )
    };
    let value = json::parse(text).map_err(|_| error())?;
    let (mut whole, mut ends) = (String::new(), Vec::new());
    for chunk in value.as_array().ok_or_else(error)? {
        whole.push_str(chunk.as_str().ok_or_else(error)?);
        ends.push(whole.len());
    }
    Ok((whole, ends))
}

/// Records the parse of a response with the response template in a text. With [`Chunking::Recorded`] the response is a JSON list of its
/// chunks, such as the tokens of a model.
///
/// # Errors
///
/// When the text is no response template, or the tools are no list. A response that does not parse is no error: the replay says so.
pub fn replay(text: &str, response: &str, reading: &Reading) -> Result<PageReplay, PageError> {
    let template = ResponseTemplate::from_json(text).map_err(PageError::of)?;
    let tools = tools(&reading.tools)?;
    let listed = match reading.chunking {
        Chunking::Recorded => Some(listed(response)?),
        _ => None,
    };
    let (response, recorded) = match &listed {
        Some((text, ends)) => (text.as_str(), ends.as_slice()),
        None => (response, &[][..]),
    };
    let ends = reading.chunking.ends(response, recorded);
    let ends = ends.map_err(PageError::of)?;
    Ok(PageReplay::of(&Timeline::record(
        &Arc::new(template),
        &reading.prefix,
        &tools,
        Options::default(),
        response,
        &ends,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"{"start_anchor": "A:", "fields": {"thinking": {"open": "<t>", "close": "</t>"}, "content": {}}}"#;

    fn steps(response: &str, chunking: Chunking) -> Result<usize, String> {
        let reading = Reading {
            chunking,
            ..Reading::default()
        };
        let replay = replay(TEMPLATE, response, &reading).map_err(|error| error.to_string())?;
        Ok(replay.steps.arrived.len())
    }

    #[test]
    fn a_list_of_tokens_is_a_response_with_its_chunks() {
        let listed = r#"["<t", ">a", "b</t>", "Hi"]"#;
        let whole = steps("<t>ab</t>Hi", Chunking::Whole).unwrap();
        assert_eq!(steps(listed, Chunking::Recorded).unwrap(), whole + 3);
        for wrong in ["Hi", "{}", "[1]"] {
            let error = steps(wrong, Chunking::Recorded).unwrap_err();
            assert!(error.contains("a JSON list of texts"), "{error}");
        }
        assert_eq!(steps("[]", Chunking::Recorded), steps("", Chunking::Whole));
    }
}
