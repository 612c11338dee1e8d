//! Why a render stops.

use crate::chat_template::error::{Limit, RenderError};
use crate::chat_template::syntax::tree::Span;
use crate::diagnostic::Diagnostic;

/// A failure on its way out; the innermost expression that knows its place adds it.
#[derive(Debug)]
pub(super) enum Fault {
    Raised(String),
    Error(Box<(String, Option<Span>)>),
    Limit(Limit, u64),
}

impl Fault {
    pub(super) fn error(message: impl Into<String>) -> Self {
        Self::Error(Box::new((message.into(), None)))
    }

    pub(super) fn at(mut self, span: Span) -> Self {
        if let Self::Error(inner) = &mut self {
            inner.1.get_or_insert(span);
        }
        self
    }
}

impl From<Fault> for RenderError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Raised(message) => Self::Raised { message },
            Fault::Error(inner) => {
                let (message, span) = *inner;
                let mut diagnostic = Diagnostic::error("chat-template-error", message);
                if let Some(span) = span {
                    diagnostic = diagnostic.with_span(span.start as usize..span.end as usize);
                }
                Self::Template {
                    diagnostic: Box::new(diagnostic),
                }
            }
            Fault::Limit(which, limit) => Self::Limit { which, limit },
        }
    }
}
