//! Grammars for the upstream: what holds the model to what a client asks for.
//!
//! A client that says `strict`, that forces a call or that wants an answer of some schema asks for something that no parser can bring about;
//! the engine that chooses the tokens can. Such engines take a grammar with the request, each under a name and in a language of its own. The
//! grammar is of the whole response from where the prompt leaves it, by the same derivation that the response is read by.

use std::str::FromStr;
use std::sync::Arc;

use axum::http::StatusCode;

use super::ask::Turn;
use super::refusal::Refusal;
use crate::grammar::emit::Language;
use crate::grammar::{Finding, Request, SpecialToken, ToolChoice, WrittenFormat};
use crate::value::{Map, Value};

/// How an upstream takes a grammar: the member of a request that has it, and its language.
///
/// ```
/// use obverse::serve::TakesGrammar;
/// let vllm: TakesGrammar = "vllm".parse()?;
/// assert_eq!(vllm, "structured_outputs.structural_tag=structural-tag".parse()?);
/// assert!("vlm".parse::<TakesGrammar>().is_err());
/// # Ok::<(), obverse::serve::UnknownUpstream>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakesGrammar {
    /// The names that lead to it, one within the other.
    path: Vec<String>,
    language: Language,
}

/// An upstream of which it is not known how it takes a grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is not known how `{0}` takes a grammar: it is vllm, sglang or llama.cpp, or a member and a language such as structured_outputs.grammar=lark (gbnf, ebnf, lark, structural-tag)"
)]
#[non_exhaustive]
pub struct UnknownUpstream(pub String);

impl FromStr for TakesGrammar {
    type Err = UnknownUpstream;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (path, language) = match text {
            "vllm" => ("structured_outputs.structural_tag", Language::StructuralTag),
            "sglang" => ("ebnf", Language::Ebnf),
            "llama.cpp" => ("grammar", Language::Gbnf),
            other => {
                let unknown = || UnknownUpstream(other.to_owned());
                let (path, language) = other.split_once('=').ok_or_else(unknown)?;
                let language = Language::by_name(language);
                let is_for_engines =
                    |language: &Language| !matches!(language, Language::Peg | Language::Json);
                let language = language.filter(is_for_engines).ok_or_else(unknown)?;
                if path.split('.').any(str::is_empty) {
                    return Err(unknown());
                }
                (path, language)
            }
        };
        Ok(Self {
            path: path.split('.').map(str::to_owned).collect(),
            language,
        })
    }
}

/// Findings of who takes a grammar, which the upstream has shown by then: they are no parts that it leaves open.
const ABOUT_ENGINES: [&str; 2] = ["xgrammar-alone", "embedded-grammar"];

/// The means to hold a model to what clients ask for.
#[derive(Debug, Clone)]
pub struct Constraint {
    written: Arc<WrittenFormat>,
    takes: TakesGrammar,
    special_tokens: Vec<SpecialToken>,
}

impl Constraint {
    /// Grammars of a format as it is written, for an upstream that takes them so. The tokens are those that its engine reads as one.
    pub fn new(
        written: impl Into<Arc<WrittenFormat>>,
        takes: TakesGrammar,
        special_tokens: Vec<SpecialToken>,
    ) -> Self {
        Self {
            written: written.into(),
            takes,
            special_tokens,
        }
    }

    /// Adds the grammar of what a turn asks for to what the upstream is asked, if it asks for anything that needs one. Returns what the
    /// grammar leaves open.
    ///
    /// # Errors
    ///
    /// That nothing which is asked for can be written.
    pub(super) fn add(&self, turn: &mut Turn, prompt: &str) -> Result<Vec<Finding>, Refusal> {
        if wanted(turn).is_none() && !turn.strict {
            return Ok(Vec::new());
        }
        let mut request = Request::default();
        request.tools.clone_from(&turn.tools);
        request.tool_choice = turn.choice.clone();
        request.parallel = !turn.one_call;
        prompt.clone_into(&mut request.prefix);
        request.response_format.clone_from(&turn.response_format);
        request.special_tokens.clone_from(&self.special_tokens);
        let grammar = self.written.grammar(&request).map_err(|error| {
            let message = format!("no grammar says what is asked for: {error}");
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, "no_grammar", message);
            refusal.about(wanted(turn).unwrap_or("tools"))
        })?;
        let mut text = grammar.write(self.takes.language);
        text.findings
            .retain(|finding| !ABOUT_ENGINES.contains(&finding.code));
        let (last, before) = match self.takes.path.split_last() {
            Some(parts) => parts,
            None => return Ok(text.findings),
        };
        let innermost = (last.clone(), Value::from(text.text));
        let member = before.iter().rev().fold(innermost, |(key, value), around| {
            let within = Map::from_iter([(key, value)]);
            (around.clone(), Value::Object(within))
        });
        turn.writing.extend([member]);
        Ok(text.findings)
    }
}

/// The member of a request that only a grammar can fulfil, if there is one. A strict tool is not: without a grammar it is a tool like others.
pub(super) fn wanted(turn: &Turn) -> Option<&'static str> {
    match (&turn.choice, &turn.response_format) {
        (ToolChoice::Required | ToolChoice::Tool(_), _) => Some("tool_choice"),
        (_, Some(_)) => Some("response_format"),
        _ => None,
    }
}

/// Refuses what only a grammar can fulfil.
pub(super) fn refuse(turn: &Turn) -> Result<(), Refusal> {
    match wanted(turn) {
        Some(param) => Err(Refusal::unsupported(
            param,
            "nothing holds the upstream to what it writes: start the server with --grammar to have that",
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_a_name_or_a_member_and_a_language() {
        let of = |text: &str| text.parse::<TakesGrammar>();
        assert_eq!(of("llama.cpp"), of("grammar=gbnf"));
        assert_eq!(of("sglang"), of("ebnf=ebnf"));
        assert_ne!(of("sglang"), of("ebnf=gbnf"));
        for wrong in ["", "vLLM", "grammar", "grammar=bnf", "=gbnf", "a..b=lark"] {
            assert_eq!(of(wrong), Err(UnknownUpstream(wrong.to_owned())));
        }
    }
}
