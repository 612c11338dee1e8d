//! Obverse: the workbench for response templates.
//!
//! A *chat template* turns messages into the text that a language model reads. A *response template* (the JSON document
//! of Hugging Face transformers) turns the text that the model writes back into a message. Obverse derives the second
//! from the first, proves it by inversion, and parses with it as text arrives.
//!
//! The rooms of this crate, in the order in which data flows through them:
//!
//! - [`chat_template`] loads chat templates (`.jinja`, `tokenizer_config.json`, a model folder, GGUF), renders them as
//!   transformers does, and records what they read;
//! - [`mod@derive`] renders variants of a conversation, reads the model's format off their differences, writes a response
//!   template for it and verifies that it brings messages back; [`derive::inspect`] says what a chat template supports;
//! - [`response_template`] is that document: read, validated with a place for each finding, compiled, written;
//! - [`parser`] reads a response with it, whole or in pieces, and reports events and the message;
//! - [`response_schema`] reads and runs the older documents, JSON schemas with patterns, that response templates took the place of;
//! - [`convert`] carries response schemas over into response templates and, where a schema can say it, back;
//! - [`conversation`] says which characters of a rendered conversation belong to which message, and which of them the model
//!   wrote;
//! - [`deltas`] tells, while a response is read, how the message grows: what the clients of a chat server are sent;
//! - `serve` is such a server, before one that writes raw completions (with the feature of that name);
//! - `replay` records a parse, so that it can be looked at step by step, both ways, in a terminal or on a page;
//! - [`lint`] finds what will go wrong with a response template before it does;
//! - `project` (with the feature of that name) reads `obverse.toml`, which says what files belong together;
//! - [`check`] holds recorded responses to the messages that they must parse to, however they are cut;
//! - [`page`] tells all of that to a page in a browser, and writes such a page into one file;
//! - `tui`, a feature of the binary, shows a response being parsed: the debugger;
//! - `cli`, another one, is the command line, which the binary and the bindings run alike;
//! - [`content`] holds the content parsers, transforms and the typing of tool arguments;
//! - [`pattern`] finds delimiters: Python's regular expressions over text that is still arriving;
//! - [`grammar`] says what a model may write: parsing expression grammars, and a machine that reads with them;
//! - [`chunking`] cuts a response into the chunks in which it arrives, for all that try several cuts;
//! - [`hub`] finds the models that the client of the Hugging Face Hub has fetched.
//!
//! Below all of them lie [`value`], JSON as Python knows it, [`diagnostic`], what is wrong and where, and `text`, what two texts
//! have in common.
//!
//! ```
//! use obverse::{chat_template, derive, parser, response_template::ResponseTemplate};
//!
//! let source = chat_template::from_text(
//!     "example",
//!     "{% for m in messages %}[{{ m.role }}]{{ m.content }}[/{{ m.role }}]{% endfor %}\
//!      {% if add_generation_prompt %}[assistant]{% endif %}",
//! )?;
//! let derivation = derive::derive(&source, &derive::Options::default())?;
//! assert!(derivation.report.verified);
//!
//! let template = ResponseTemplate::from_value(&derivation.document.to_value())?;
//! let message = parser::parse_response("Hello![/assistant]", template, "", &[])?;
//! assert_eq!(message["content"].as_str(), Some("Hello!"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// The command line calls the library by its name, as any program would.
#[cfg(feature = "cli")]
extern crate self as obverse;

pub mod chat_template;
pub mod check;
pub mod chunking;
// For the binary and the bindings, which run the same command line. Its one function is the door.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod content;
pub mod conversation;
pub mod convert;
pub mod deltas;
pub mod derive;
pub mod diagnostic;
pub mod grammar;
pub mod hub;
mod judge;
pub mod lint;
pub mod page;
pub mod parser;
pub mod pattern;
#[cfg(feature = "project")]
pub mod project;
// Without the debugger some of what it looks at is looked at by nobody.
#[cfg_attr(not(feature = "tui"), allow(dead_code))]
mod replay;
pub mod response_schema;
pub mod response_template;
#[cfg(test)]
mod schemas;
#[cfg(feature = "serve")]
pub mod serve;
mod text;
// For the binary alone: it is no part of the interface and may change with any release.
#[cfg(feature = "tui")]
#[doc(hidden)]
pub mod tui;
pub mod value;

#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod library {}

#[cfg(doctest)]
#[doc = include_str!("../docs/deltas.md")]
mod delta_page {}

#[cfg(doctest)]
#[doc = include_str!("../docs/spans.md")]
mod span_page {}

// As in the binary.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
