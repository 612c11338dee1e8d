//! The arguments that a parser is given beside the response, as the commands that parse one take it.

use std::path::{Path, PathBuf};

use obverse::value::Value;

use super::input;
use super::problem::Problem;

/// The prompt and the tools.
#[derive(Debug, clap::Args)]
pub(crate) struct GivenArgs {
    /// The prompt before the response, of which what follows the start anchor is parsed first
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
