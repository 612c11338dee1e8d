//! Grammars: what a model may write, for the engines that hold it to that.

use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;

use obverse::derive::{self, Options};
use obverse::grammar::emit::Language;
use obverse::grammar::{Reasoning, Request, SpecialToken, ToolChoice, WrittenFormat};
use obverse::response_template::ResponseTemplate;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{self, Foreign};
use crate::{chat, errors, parser};

/// The grammar's text, and what is to be known of it. Without a prefix it is that of a message that proved the response template.
#[pyfunction]
#[pyo3(signature = (*, path = None, text = None, name = None, special_tokens = None, language, tools = None, tool_choice = "auto", parallel = true, reasoning = "auto", prefix = None, response_format = None, token_ids = Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn grammar_from(
    py: Python<'_>,
    path: Option<PathBuf>,
    text: Option<String>,
    name: Option<String>,
    special_tokens: Option<&Bound<'_, PyDict>>,
    language: &str,
    tools: Option<&Bound<'_, PyAny>>,
    tool_choice: &str,
    parallel: bool,
    reasoning: &str,
    prefix: Option<String>,
    response_format: Option<&Bound<'_, PyAny>>,
    token_ids: Vec<(String, u32)>,
) -> PyResult<(String, Vec<String>)> {
    let language = match language {
        "gbnf" => Language::Gbnf,
        "lark" => Language::Lark,
        "structural-tag" => Language::StructuralTag,
        other => {
            let message =
                format!("format must be 'gbnf', 'lark' or 'structural-tag', not {other:?}");
            return Err(PyValueError::new_err(message));
        }
    };
    let reasoning = match reasoning {
        "auto" => Reasoning::Auto,
        "on" => Reasoning::On,
        "off" => Reasoning::Off,
        other => {
            let message = format!("reasoning must be 'auto', 'on' or 'off', not {other:?}");
            return Err(PyValueError::new_err(message));
        }
    };
    let schema = response_format
        .map(|schema| convert::from_python(schema, Foreign::Refuse))
        .transpose()?;
    let tokens = token_ids
        .into_iter()
        .map(|(text, id)| SpecialToken { text, id });
    let request = Request::default()
        .tools(parser::schemas(tools)?)
        // The conversion fails for nothing.
        .tool_choice(ToolChoice::from_str(tool_choice).unwrap_or_default())
        .parallel(parallel)
        .reasoning(reasoning)
        .response_format(schema)
        .special_tokens(tokens.collect());
    let names = chat::tokens(special_tokens)?;
    let made = chat::interruptible(py, move || {
        let source = chat::open(path, text, name, names)?;
        let derivation =
            derive::derive(&source, &Options::default()).map_err(|error| error.to_string())?;
        let template = ResponseTemplate::from_value(&derivation.document.to_value())
            .map_err(|invalid| invalid.to_string())?;
        let usual = || {
            let mut cases = derivation.cases.iter();
            let case = cases.find(|case| case.tools.is_empty() == request.tools.is_empty());
            case.map(|case| case.prefix.clone()).unwrap_or_default()
        };
        let prefix = prefix.unwrap_or_else(usual);
        let written =
            WrittenFormat::new(&Arc::new(template), &derivation.cases, &source.tokens.end);
        let grammar = written
            .grammar(&request.prefix(prefix))
            .map_err(|error| error.to_string())?;
        let text = grammar.write(language);
        let mut notes = Vec::new();
        if !derivation.report.verified {
            notes.push("the response template is not proved: the grammar allows what came back, and refuses what did not".to_owned());
        }
        notes.extend(text.findings.into_iter().map(|finding| finding.text));
        Ok((text.text, notes))
    })?;
    made.map_err(|message: String| errors::source(py, &message))
}
