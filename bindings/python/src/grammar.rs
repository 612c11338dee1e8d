//! Grammars: what a model may write, for the engines that hold it to that.

use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;

use obverse::derive::{self, Options};
use obverse::grammar::emit::Language;
use obverse::grammar::{
    Acceptor, Grammar, Reasoning, Request, Sampler, SpecialToken, ToolChoice, WrittenFormat,
};
use obverse::response_template::ResponseTemplate;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{self, Foreign};
use crate::errors::{self, Problem};
use crate::{chat, parser, template};

/// A grammar, and its text in one language.
#[pyclass(module = "obverse._native", frozen)]
pub(crate) struct WrittenGrammar {
    grammar: Grammar,
    #[pyo3(get)]
    text: String,
    #[pyo3(get)]
    notes: Vec<String>,
}

#[pymethods]
impl WrittenGrammar {
    /// How many characters of a text are allowed, whether it is allowed and may end there, and what may stand next.
    fn accepts(&self, py: Python<'_>, text: &str) -> (usize, bool, bool, Vec<String>) {
        py.detach(|| {
            let mut acceptor = Acceptor::new(&self.grammar);
            let read = match acceptor.feed(text) {
                Ok(()) => text.len(),
                Err(disallowed) => disallowed.at(),
            };
            let next = acceptor.next();
            (
                text[..read].chars().count(),
                acceptor.refused().is_none(),
                acceptor.is_complete(),
                next.iter().map(ToString::to_string).collect(),
            )
        })
    }

    /// Texts that the grammar allows, one for each number from the seed on.
    fn sample(&self, py: Python<'_>, count: u64, seed: u64) -> Vec<String> {
        py.detach(|| {
            let mut sampler = Sampler::new(&self.grammar);
            let seeds = seed..seed.saturating_add(count);
            seeds.map(|seed| sampler.sample(seed)).collect()
        })
    }
}

/// The grammar of a chat template, or of a response template alone. Without a prefix the prompt is that of a message that proved the response
/// template.
#[pyfunction]
#[pyo3(signature = (*, template = None, path = None, text = None, name = None, special_tokens = None, language, tools = None, tool_choice = "auto", any_tool = false, parallel = true, reasoning = "auto", prefix = None, response_format = None, token_ids = Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn grammar_from(
    py: Python<'_>,
    template: Option<&Bound<'_, PyAny>>,
    path: Option<PathBuf>,
    text: Option<String>,
    name: Option<String>,
    special_tokens: Option<&Bound<'_, PyDict>>,
    language: &str,
    tools: Option<&Bound<'_, PyAny>>,
    tool_choice: &str,
    any_tool: bool,
    parallel: bool,
    reasoning: &str,
    prefix: Option<String>,
    response_format: Option<&Bound<'_, PyAny>>,
    token_ids: Vec<(String, u32)>,
) -> PyResult<WrittenGrammar> {
    let known = Language::by_name(language).filter(|known| *known != Language::Json);
    let language = known.ok_or_else(|| {
        let message = format!(
            "format must be 'gbnf', 'ebnf', 'lark', 'peg' or 'structural-tag', not {language:?}"
        );
        PyValueError::new_err(message)
    })?;
    let reasoning = match reasoning {
        "auto" => Reasoning::Auto,
        "on" => Reasoning::On,
        "off" => Reasoning::Off,
        other => {
            let message = format!("reasoning must be 'auto', 'on' or 'off', not {other:?}");
            return Err(PyValueError::new_err(message));
        }
    };
    if any_tool && language != Language::Peg {
        let message = "any_tool is for the format 'peg' alone, which is read with: an engine is to hold its model to the tools that there are";
        return Err(PyValueError::new_err(message));
    }
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
        .any_tool(any_tool)
        .parallel(parallel)
        .reasoning(reasoning)
        .response_format(schema)
        .special_tokens(tokens.collect());
    let names = chat::tokens(special_tokens)?;
    let template = template.map(template::given).transpose()?;
    let made = chat::interruptible(py, move || {
        let mut notes = Vec::new();
        let (written, prefix) = match template {
            Some(template) => {
                let written = WrittenFormat::from_template(&template, &[]);
                (written, prefix.unwrap_or_default())
            }
            None => {
                let source = chat::open(path, text, name, names)?;
                let derivation = derive::derive(&source, &Options::default())?;
                if !derivation.report.verified {
                    notes.push("the response template is not proved: the grammar allows what came back, and refuses what did not".to_owned());
                }
                let template = ResponseTemplate::from_value(&derivation.document.to_value())
                    .map_err(|invalid| Problem::new("invalid-draft", invalid.to_string()))?;
                let usual = || {
                    let mut cases = derivation.cases.iter();
                    let case = cases.find(|case| case.tools.is_empty() == request.tools.is_empty());
                    case.map(|case| case.prefix.clone()).unwrap_or_default()
                };
                let prefix = prefix.unwrap_or_else(usual);
                let end_tokens = source.end_tokens();
                let written =
                    WrittenFormat::new(&Arc::new(template), &derivation.cases, &end_tokens);
                (written, prefix)
            }
        };
        let grammar = written
            .grammar(&request.prefix(prefix))
            .map_err(|error| Problem::new("no-grammar", error.to_string()))?;
        let text = grammar.write(language);
        notes.extend(text.findings.into_iter().map(|finding| finding.text));
        Ok(WrittenGrammar {
            grammar,
            text: text.text,
            notes,
        })
    })?;
    made.map_err(|problem: Problem| errors::source(py, &problem))
}
