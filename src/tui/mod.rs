//! The debugger: a response being parsed, step by step, both ways.
//!
//! - `crate::replay` records the parse, so that stepping back is an index;
//! - `state` is all that the debugger knows, `update` what each action does to it, without a terminal or a file;
//! - `keys` says which key is which action, `view` draws the state and changes nothing;
//! - [`Debugger`] is the loop around them, for any backend. What it cannot do itself, its [`Host`] does.
//!
//! ```
//! use obverse::tui::{Debugger, Host, Sample, Setup, Template, Theme};
//!
//! struct Nothing;
//! impl Host for Nothing {
//!     fn read(&mut self, _: &std::path::Path) -> Result<Option<String>, String> { Ok(None) }
//!     fn write(&mut self, _: &std::path::Path, _: &str) -> Result<(), String> { Ok(()) }
//!     fn remove(&mut self, _: &std::path::Path) -> Result<(), String> { Ok(()) }
//!     fn copy(&mut self, _: &str) {}
//! }
//!
//! let template = Template::load(
//!     r#"{"start_anchor": "A:", "fields": {"content": {"close": "<end>"}}}"#,
//!     None,
//! )?;
//! let setup = Setup::new(template, vec![Sample::new("greeting", "Hello<end>")]);
//! let mut debugger = Debugger::new(setup, Theme { color: false }, Nothing);
//! debugger.type_keys("<right>")?;
//! assert!(debugger.screen(80, 24).to_text().contains("content \"Hello\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod app;
mod keys;
mod layout;
mod screen;
pub mod session;
mod state;
mod text;
mod theme;
mod update;
mod view;

pub use app::{BadScript, Debugger, Host, Incoming, Input};
pub use screen::Screen;
pub use state::{Conversation, Derivation, Marker, Sample, Setup, Template};
pub use theme::Theme;
