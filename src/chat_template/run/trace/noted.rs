//! Notes of who writes what, as they are taken while rendering.

use super::Taint;
use crate::chat_template::syntax::tree::Span;

/// The notes that were taken while rendering.
#[derive(Debug, Default)]
pub(in crate::chat_template::run) struct Noted {
    pub(in crate::chat_template::run) writes: Vec<Wrote>,
    pub(in crate::chat_template::run) turns: Vec<Turned>,
    pub(in crate::chat_template::run) generated: Vec<(usize, usize)>,
}

/// Something was written.
#[derive(Debug)]
pub(in crate::chat_template::run) struct Wrote {
    pub(in crate::chat_template::run) start: usize,
    pub(in crate::chat_template::run) end: usize,
    pub(in crate::chat_template::run) by: By,
}

/// Who wrote it.
#[derive(Debug)]
pub(in crate::chat_template::run) enum By {
    /// The text between tags that is the constant of that index.
    Text(usize),
    Expression(Span),
}

/// A turn of a loop was made.
#[derive(Debug)]
pub(in crate::chat_template::run) struct Turned {
    pub(in crate::chat_template::run) start: usize,
    pub(in crate::chat_template::run) end: usize,
    pub(in crate::chat_template::run) span: Span,
    pub(in crate::chat_template::run) item: Taint,
}
