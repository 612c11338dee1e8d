//! The plainest conversations: one question of a user, behind the message with which the chat template demands that a conversation begins.

use super::conversation::Context;
use super::renderer::Renderer;
use super::requirements::Requirements;
use crate::derive::probe;
use crate::value::{Map, Value};

impl Renderer<'_> {
    /// The plainest context: one user message, with tools if they are asked for or the template cannot do without, behind the message with which
    /// conversations have to begin.
    pub(in crate::derive) fn user(&self, tools: bool) -> Context {
        self.user_wanting(&self.requirements, tools)
    }

    /// The plainest context of a chat template with these requirements.
    pub(super) fn user_wanting(&self, requirements: &Requirements, tools: bool) -> Context {
        let tools = (tools && self.with_tools) || !self.without_tools;
        let opening = requirements.opening_message().into_iter();
        let asked = probe::message("user", probe::USER);
        Context {
            history: opening.chain([asked]).collect(),
            tools: tools.then(|| self.tools.clone()),
            kwargs: Map::new(),
        }
    }

    /// The prompt for one question with these tools; `None` where it does not render.
    pub(in crate::derive) fn prompt_of_question(&self, tools: &[Value]) -> Option<String> {
        let context = Context {
            tools: (!tools.is_empty()).then(|| tools.into()),
            ..self.user(false)
        };
        self.prompt(&context).ok()
    }

    /// The message with which conversations have to begin, if any has.
    pub(in crate::derive) fn opening(&self) -> Option<Value> {
        self.requirements.opening_message()
    }
}
