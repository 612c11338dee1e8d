//! Turns with calls that a chat template renders as the model writes them only where another message follows, or an answer stands beside them.

use super::conversation::Context;
use super::renderer::Renderer;
use crate::chat_template::RenderError;
use crate::derive::probe::{self, Assistant, Dialect};
use crate::judge;
use crate::value::Value;

impl Renderer<'_> {
    /// The conversation and a message with calls, as far as they are rendered before the next message, where calls are rendered only so; or with an answer beside the
    /// calls that is then taken out, where calls alone have no header.
    ///
    /// Any other message is rendered as the last one.
    pub(super) fn answer(&self, context: &Context, message: &Value) -> Result<String, RenderError> {
        if self.calls_followed
            && judge::has_calls(message)
            && let Some(full) = self.followed(context, message)?
        {
            return Ok(full);
        }
        match self.calls_headless.then(|| judge::beside_answer(message)) {
            Some(Some(beside)) => {
                let full = self.messages(&context.and(beside))?;
                Ok(judge::without_answer(full))
            }
            _ => self.messages(&context.and(message.clone())),
        }
    }

    /// The conversation and the message, up to where the next one begins; `None` where nothing tells that.
    fn followed(&self, context: &Context, message: &Value) -> Result<Option<String>, RenderError> {
        let next = || probe::message("user", probe::USER_AGAIN);
        let mut full = self.history(&context.and(message.clone()).and(next()))?;
        let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
        let answer = context.and(answer);
        let alone = self.history(&answer)?;
        let answered = self.history(&answer.and(next()))?;
        let answered = judge::Answered {
            last: &alone,
            followed: &answered,
            said: probe::CONTENT,
            next: probe::USER_AGAIN,
        };
        Ok(answered.next_in(&full).map(|end| {
            full.truncate(end);
            full
        }))
    }
}
