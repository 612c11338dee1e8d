//! Parsing expression grammars (PEGs) as data, and a machine that reads text with them as it arrives.
//!
//! The expressions and their meaning are those of llama.cpp's PEG (its `docs/development/parsing.md`), so that whoever has
//! written a parser there knows them; what differs stands in the documentation of grammars. A grammar is written in Rust with the
//! functions of [`build`], or as a JSON document; it prints in the usual notation.
//!
//! ```
//! use obverse::grammar::peg::{Grammar, build::*};
//!
//! let call = "<call>" + tag("name", until(":")) + ":" + tag("arguments", json()) + "</call>";
//! let grammar = Grammar::build(
//!     tag("content", until("<call>")) + zero_or_more(rule("call", call) + space()) + end(),
//! )?;
//! assert_eq!(
//!     grammar.to_string(),
//!     "root ← @content(until(\"<call>\")) (call space)* end\n\
//!      call ← \"<call>\" @name(until(\":\")) \":\" @arguments(json) \"</call>\"\n",
//! );
//!
//! let text = "Let me see. <call>add:{\"a\": 1}</call>";
//! let parser = grammar.read(text)?;
//! assert!(parser.status().is_match());
//! let arguments = parser.tree().find("arguments").expect("a node");
//! assert_eq!(arguments.text(text.as_bytes()), "{\"a\": 1}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arena;
pub mod build;
mod builtin;
mod check;
mod class;
mod delimiters;
pub mod document;
mod error;
mod known;
mod lower;
mod print;
mod run;
#[cfg(test)]
mod tests;

pub use arena::{ExprId, Expression, Grammar, Rule, RuleId};
pub use builtin::Builtin;
pub use class::{CharClass, ClassError};
pub use error::{BuildError, NESTING};
pub use run::{
    Expectation, Expected, Failure, LimitError, Limits, Node, Options, Parser, Status, Tree,
};
