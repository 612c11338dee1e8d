//! Obverse: the workbench for response templates.

pub mod chat_template;
pub mod content;
pub mod derive;
pub mod diagnostic;
pub mod parser;
pub mod pattern;
pub mod response_template;
pub mod value;
