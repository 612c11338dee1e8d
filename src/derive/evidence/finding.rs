//! Findings: the statements of a derivation that stand beside its result.

use serde::Serialize;

use crate::diagnostic::Severity;
pub use crate::judge::Counterexample;
use crate::value::json;

/// The code of findings about something that the response template format cannot express.
pub(in crate::derive) const INEXPRESSIBLE: &str = "inexpressible";

/// The code of findings about an engine that refuses a response template which has to be as it is.
pub(in crate::derive) const REFUSED_BY_ENGINE: &str = "refused-by-engine";

/// A fact worth knowing about a derivation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    /// The severity. An error means that the response template is not proved.
    pub severity: Severity,
    /// A stable name.
    pub code: &'static str,
    /// The finding, in a sentence.
    pub text: String,
    /// The smallest message that shows the finding, and the message that came back instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Counterexample>,
    /// Why it is so, in a sentence, as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Finding {
    fn new(severity: Severity, code: &'static str, text: impl Into<String>) -> Self {
        Self {
            severity,
            code,
            text: text.into(),
            counterexample: None,
            why: None,
        }
    }

    pub(in crate::derive) fn error(code: &'static str, text: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, text)
    }

    /// Returns true if it says that calls are rendered and cannot be read.
    pub(in crate::derive) fn is_of_calls(&self) -> bool {
        ["calls-not-understood", "calls-without-name"].contains(&self.code)
    }

    /// Returns true if the finding says that the format or an engine allows nothing better.
    pub(in crate::derive) fn is_inexpressible(&self) -> bool {
        [INEXPRESSIBLE, REFUSED_BY_ENGINE].contains(&self.code)
    }

    /// A finding about something that the response template format cannot express, shown with the smallest example.
    pub(in crate::derive) fn inexpressible(
        text: impl Into<String>,
        smallest: Option<Counterexample>,
    ) -> Self {
        Self::error(INEXPRESSIBLE, text).with(smallest)
    }

    /// A finding about what some prompts begin a turn with, where they have a mark behind what the others begin it with; `None` if none has.
    pub(in crate::derive) fn marks(marks: &[String]) -> Option<Self> {
        let told: Vec<String> = marks.iter().map(|mark| json::quote(mark)).collect();
        let text = format!(
            "some prompts go on behind what begins a turn with a mark of their own, and answers stand behind it: {}; the turn is read behind each",
            told.join(", ")
        );
        (!told.is_empty()).then(|| Self::info("prompt-mark", text))
    }

    pub(in crate::derive) fn warning(code: &'static str, text: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, text)
    }

    pub(in crate::derive) fn info(code: &'static str, text: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, text)
    }

    #[must_use]
    pub(in crate::derive) fn with(mut self, counterexample: Option<Counterexample>) -> Self {
        self.counterexample = counterexample;
        self
    }

    #[must_use]
    pub(in crate::derive) fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }
}
