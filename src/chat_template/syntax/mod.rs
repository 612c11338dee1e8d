//! From a chat template's source to its syntax tree. Lexer and parser are minijinja's; what they do differently from
//! Jinja is put right on the way: line ends, string escapes, the `generation` tag, and how deep a source may nest.

mod bounds;
mod generation;
mod literal;
mod lower;
mod newlines;
mod places;
pub(super) mod tags;
pub(super) mod tree;

use minijinja::machinery;
use minijinja::syntax::SyntaxConfig;

use self::newlines::Newlines;
use super::error::TemplateError;
use crate::diagnostic::Diagnostic;

/// Parses a template as transformers does: blocks trimmed, one line end at the very end dropped.
pub(super) fn parse(source: &str) -> Result<tree::Tree, TemplateError> {
    if source.len() > bounds::SOURCE {
        return Err(too_big(format!(
            "the chat template is larger than the limit of {} bytes",
            bounds::SOURCE
        )));
    }
    let mut lines = Newlines::normalize(source);
    let (neutral, generations) = generation::neutralize(&lines.text);
    lines.text = neutral;
    let located = |error: &minijinja::Error| {
        let message = error
            .detail()
            .map_or_else(|| error.to_string(), str::to_owned);
        let mut diagnostic = Diagnostic::error("chat-template-syntax", message.clone());
        if let Some(range) = error.range() {
            let [mut start, mut end] = [range.start, range.end]
                .map(|at| lines.original(u32::try_from(at).unwrap_or(u32::MAX)) as usize)
                .map(|at| at.min(source.len()));
            // The lexer counts one byte for a character that it does not know.
            while !source.is_char_boundary(start) {
                start -= 1;
            }
            end = end.max(start);
            while !source.is_char_boundary(end) {
                end += 1;
            }
            diagnostic = diagnostic.with_span(start..end);
        }
        if let Some(hint) = hint(&message) {
            diagnostic = diagnostic.with_hint(hint);
        }
        TemplateError::new(diagnostic)
    };
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(|error| located(&error))?;
    let mut bounds = bounds::Bounds::default();
    for token in machinery::tokenize(&lines.text, false, syntax.clone()) {
        let (token, span) = token.map_err(|error| located(&error))?;
        if !bounds.allow(&token) {
            let at = lines.original(span.start_offset) as usize;
            let mut error = too_big(format!(
                "one tag of the chat template exceeds the limit of {} operators or {} levels of nesting",
                bounds::OPERATORS,
                bounds::DEPTH
            ));
            error.diagnostic.place.span = Some(at..at);
            return Err(error);
        }
    }
    let tree =
        machinery::parse(&lines.text, "chat template", syntax).map_err(|error| located(&error))?;
    lower::lower(&tree, &lines, &generations)
}

fn too_big(message: String) -> TemplateError {
    TemplateError::new(Diagnostic::error("chat-template-limit", message))
}

/// The tags that end a block, or stand within one.
const WITHIN_BLOCKS: [&str; 12] = [
    "endif",
    "endfor",
    "endset",
    "endmacro",
    "endblock",
    "endfilter",
    "endcall",
    "endraw",
    "endgeneration",
    "endwith",
    "else",
    "elif",
];

/// Returns true if a message tells of a tag that stands outside of the block that it belongs to.
fn is_of_a_block(message: &str) -> bool {
    let (_, tag) = message
        .rsplit_once("unknown statement ")
        .unwrap_or_default();
    WITHIN_BLOCKS.contains(&tag.trim())
}

/// Advice for the errors that people run into most.
fn hint(message: &str) -> Option<&'static str> {
    if message.contains("end of input") {
        Some(
            "a block is not closed: every `if`, `for`, `set` block and `macro` needs its `end...` tag",
        )
    } else if is_of_a_block(message) {
        Some(
            "no block is open here that this tag belongs to, or another one was opened since and is to be ended first",
        )
    } else if message.contains("unknown statement") {
        Some("the tags of chat templates are those of Jinja, `break`, `continue` and `generation`")
    } else if message.contains("unexpected end of string") {
        Some("a string begins before this and is never closed")
    } else if message.contains("unexpected end of block")
        || message.contains("unexpected end of variable block")
    {
        Some("the tag ends before it is complete")
    } else if message.contains("unexpected end of") {
        Some("a comment or raw block is opened here and never closed")
    } else {
        None
    }
}
