//! Turns with calls that a chat template renders only where another message follows.

use super::conversation::Context;
use super::renderer::Renderer;
use crate::chat_template::RenderError;
use crate::derive::probe::{self, Assistant, Dialect};
use crate::judge;
use crate::value::Value;

impl Renderer<'_> {
    /// The conversation and a message with calls, as far as they are rendered before the next message, where calls are rendered only so.
    ///
    /// `None` where calls are rendered in the last message as well, or where the message has none.
    pub(super) fn followed(
        &self,
        context: &Context,
        message: &Value,
    ) -> Result<Option<String>, RenderError> {
        if !self.calls_followed || !judge::has_calls(message) {
            return Ok(None);
        }
        let next = || probe::message("user", probe::USER_AGAIN);
        let mut full = self.history(&context.and(message.clone()).and(next()))?;
        let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
        let answer = context.and(answer);
        let alone = self.history(&answer)?;
        let answered = self.history(&answer.and(next()))?;
        let header = judge::next_header(&alone, &answered, probe::CONTENT, probe::USER_AGAIN);
        if let Some((header, at)) = header.zip(full.rfind(probe::USER_AGAIN))
            && full[..at].ends_with(header)
        {
            full.truncate(at - header.len());
        }
        Ok(Some(full))
    }
}
