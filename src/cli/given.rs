//! The arguments that a parser is given beside the response, as the commands that parse one take it.

use std::path::{Path, PathBuf};

use obverse::diagnostic::Diagnostic;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

use super::input;
use super::problem::Problem;

/// The prompt and the tools.
#[derive(Debug, clap::Args)]
pub(crate) struct GivenArgs {
    /// The prompt that stands before the response. What follows the last start anchor in it is parsed as the beginning of the response
    #[arg(long, value_name = "TEXT", conflicts_with = "prefix_file")]
    prefix: Option<String>,

    /// File that holds the prompt
    #[arg(long, value_name = "FILE")]
    prefix_file: Option<PathBuf>,

    /// The tools: a JSON list of their schemas, by which arguments are typed
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
}

impl GivenArgs {
    /// The files that are read, one of which may be standard input.
    pub(crate) fn paths(&self) -> [Option<&Path>; 2] {
        [self.prefix_file.as_deref(), self.tools.as_deref()]
    }

    /// The names of those that are given.
    #[cfg(feature = "tui")]
    pub(crate) fn flags(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.prefix.is_some(), "--prefix"),
            (self.prefix_file.is_some(), "--prefix-file"),
            (self.tools.is_some(), "--tools"),
        ];
        all.into_iter()
            .filter_map(|(given, name)| given.then_some(name))
    }

    /// The prompt, if one is given.
    pub(crate) fn prefix(&self) -> Result<Option<String>, Problem> {
        match (&self.prefix, &self.prefix_file) {
            (Some(text), _) => Ok(Some(text.clone())),
            (None, Some(path)) => input::read_text(path).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The tools, none if none are given.
    pub(crate) fn tools(&self) -> Result<Vec<Value>, Problem> {
        match &self.tools {
            Some(path) => input::read_list(path, "the tools"),
            None => Ok(Vec::new()),
        }
    }
}

/// Returns false if a prefix is given and nothing in it marks where the model's turn begins.
pub(crate) fn has_anchor(template: &ResponseTemplate, prefix: &str) -> bool {
    prefix.is_empty() || !matches!(template.anchor().search(prefix, 0), Ok(None))
}

/// Tells that nothing in the prefix marks where the model's turn begins, so that all of it counts as the model's.
pub(crate) fn warn_without_anchor(template: &ResponseTemplate) {
    Problem::of(without_anchor(lacks_anchor(template))).show();
}

/// The finding that says so of the prefix of a fixture.
pub(crate) fn found_without_anchor(template: &ResponseTemplate) -> Diagnostic {
    without_anchor(lacks_anchor(template))
}

/// Says so in a sentence.
pub(crate) fn lacks_anchor(template: &ResponseTemplate) -> String {
    let anchor = template.anchor();
    let spelled = anchor
        .quoted_literals()
        .unwrap_or_else(|| json::quote(anchor.source()));
    format!(
        "the start anchor, {spelled}, does not stand in the prefix: all of it is parsed as if the model had written it"
    )
}

/// Tells the same of the prefixes of so many lines.
pub(crate) fn warn_of_lines_without_anchor(lines: usize) {
    let lines = match lines {
        0 => return,
        1 => "one line".to_owned(),
        lines => format!("{lines} lines"),
    };
    let found = without_anchor(format!(
        "the start anchor does not stand in the prefix of {lines}: all of it is parsed as if the model had written it"
    ));
    Problem::of(found).show();
}

fn without_anchor(message: String) -> Diagnostic {
    Diagnostic::warning("no-anchor", message).with_hint(
        "give the prompt as `obverse render --add-generation-prompt` prints it, or no prefix",
    )
}
