//! A grammar in the language of an engine.

mod gbnf;
mod lark;
mod lazy;
mod peg;
mod rules;
mod structural_tag;
mod tokens;

use super::{Finding, Grammar};
use crate::value::{Map, Value, json};

/// The language that a grammar is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// The grammars of llama.cpp.
    Gbnf,
    /// These as xgrammar reads them, whose EBNF writes tokens differently.
    Ebnf,
    /// The grammar of llama.cpp from the first trigger of a call on, with these triggers, as JSON with the keys of a request.
    LazyGbnf,
    /// Lark as llguidance reads it.
    Lark,
    /// A parsing expression grammar of our own, as JSON: with it Obverse reads what may be written to the message that it says.
    Peg,
    /// A structural tag of xgrammar, as JSON.
    StructuralTag,
    /// All of them with what each cannot say, as one JSON object.
    Json,
}

impl Language {
    /// Returns the language that users call so: `gbnf`, `ebnf`, `lark`, `structural-tag`, `peg` or `json`.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "gbnf" => Self::Gbnf,
            "ebnf" => Self::Ebnf,
            "lark" => Self::Lark,
            "structural-tag" => Self::StructuralTag,
            "peg" => Self::Peg,
            "json" => Self::Json,
            _ => return None,
        })
    }
}

/// A grammar as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Text {
    /// The grammar.
    pub text: String,
    /// Findings of what the language cannot say of it, beside what is known of the grammar itself.
    pub findings: Vec<Finding>,
}

impl Grammar {
    /// Writes the grammar.
    pub fn write(&self, language: Language) -> Text {
        match language {
            Language::Gbnf => gbnf::write(self, gbnf::Reader::LlamaCpp),
            Language::Ebnf => gbnf::write(self, gbnf::Reader::Xgrammar),
            Language::LazyGbnf => lazy::write(self),
            Language::Lark => lark::write(&self.untagged()),
            Language::Peg => peg::write(self),
            Language::StructuralTag => structural_tag::write(&self.untagged()),
            Language::Json => self.all(),
        }
    }

    fn all(&self) -> Text {
        let mut all = Map::new();
        for (key, language) in [
            ("gbnf", Language::Gbnf),
            ("ebnf", Language::Ebnf),
            ("lark", Language::Lark),
            ("peg", Language::Peg),
            ("structural_tag", Language::StructuralTag),
        ] {
            let written = self.write(language);
            let mut one = Map::new();
            let text = Value::from(written.text.as_str());
            let grammar = match language {
                Language::StructuralTag | Language::Peg => {
                    json::parse(&written.text).unwrap_or(text)
                }
                _ => text,
            };
            one.insert("grammar", grammar);
            one.insert("findings", told(&written.findings));
            if language == Language::Gbnf {
                let lazy = self.write(Language::LazyGbnf);
                one.insert("lazy", json::parse(&lazy.text).unwrap_or_default());
            }
            all.insert(key, Value::Object(one));
        }
        let tokens = self.special_tokens().iter();
        let tokens: Vec<Value> = tokens
            .map(|token| Value::from(token.text.as_str()))
            .collect();
        all.insert("preserved_tokens", Value::Array(tokens));
        all.insert("findings", told(self.findings()));
        Text {
            text: json::Format::indented(2).write(&Value::Object(all)),
            findings: self.findings().to_vec(),
        }
    }
}

fn told(findings: &[Finding]) -> Value {
    let one = |finding: &Finding| {
        Value::Object(Map::from_iter([
            ("code".to_owned(), Value::from(finding.code)),
            ("text".to_owned(), Value::from(finding.text.as_str())),
        ]))
    };
    Value::Array(findings.iter().map(one).collect())
}

/// Puts findings to others that are not among them.
fn extend(findings: &mut Vec<Finding>, more: &[Finding]) {
    for finding in more {
        if !findings.contains(finding) {
            findings.push(finding.clone());
        }
    }
}

/// How often something may stand, as GBNF, Lark and regular expressions write it behind it.
fn times(min: u32, max: Option<u32>) -> String {
    match (min, max) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (1, Some(1)) => String::new(),
        (min, None) => format!("{{{min},}}"),
        (min, Some(max)) if min == max => format!("{{{min}}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
    }
}
