//! The prompt of a fixture as text.

use std::borrow::Cow;

use super::fixture::{Fixture, Prompt};
use crate::chat_template::{ChatTemplateSource, Clock, LoadError, RenderError, RenderInput};
use crate::value::Value;

/// Why the prompt of a fixture cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The prompt is a conversation, and there is no chat template to render it.
    #[error("the prompt is a conversation, but no chat template belongs to the response template")]
    NoChatTemplate,
    /// Of several chat templates none is the one to use.
    #[error(transparent)]
    Select(#[from] LoadError),
    /// The chat template does not render the conversation.
    #[error("the chat template does not render the conversation: {0}")]
    Render(#[from] RenderError),
}

impl Fixture {
    /// The prompt that the model had been given, as text; `""` when that is not told. A conversation is rendered with the fixture's tools and
    /// the generation prompt; `clock` is the time that the chat template is told.
    ///
    /// # Errors
    ///
    /// That a conversation cannot be rendered.
    pub fn prefix(
        &self,
        chat: Option<&ChatTemplateSource>,
        clock: Option<Clock>,
    ) -> Result<Cow<'_, str>, PromptError> {
        let conversation = match &self.prompt {
            Prompt::Untold => return Ok("".into()),
            Prompt::Text(text) => return Ok(text.into()),
            Prompt::Conversation(conversation) => conversation,
        };
        let template = chat
            .ok_or(PromptError::NoChatTemplate)?
            .select(!self.tools.is_empty())?;
        let input = RenderInput {
            add_generation_prompt: true,
            ..self.asked(conversation, clock)
        };
        Ok(template.render(&input)?.into())
    }

    /// A conversation as it is handed to a chat template, with the fixture's tools: a list of messages, or an object with `messages` and
    /// `kwargs`.
    pub(super) fn asked(&self, conversation: &Value, clock: Option<Clock>) -> RenderInput {
        let list = conversation.get("messages").unwrap_or(conversation);
        let kwargs = conversation.get("kwargs").and_then(Value::as_object);
        RenderInput {
            messages: list.as_array().unwrap_or_default().to_vec(),
            tools: (!self.tools.is_empty()).then(|| self.tools.clone()),
            kwargs: kwargs.cloned().unwrap_or_default(),
            clock,
            ..RenderInput::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template;
    use crate::value::json;

    #[test]
    fn a_conversation_is_rendered_with_its_kwargs() {
        let source = chat_template::from_text(
            "example",
            "{% for m in messages %}[{{ m.content }}]{% endfor %}{% if add_generation_prompt %}A{{ mood }}:{% endif %}",
        )
        .unwrap();
        let fixture = |conversation: &str| Fixture {
            prompt: Prompt::Conversation(json::parse(conversation).unwrap()),
            ..Fixture::default()
        };
        let plain = fixture(r#"[{"role": "user", "content": "q"}]"#);
        assert_eq!(plain.prefix(Some(&source), None).unwrap(), "[q]A:");
        let moody =
            fixture(r#"{"messages": [{"role": "user", "content": "q"}], "kwargs": {"mood": "!"}}"#);
        assert_eq!(moody.prefix(Some(&source), None).unwrap(), "[q]A!:");
        assert!(matches!(
            plain.prefix(None, None),
            Err(PromptError::NoChatTemplate)
        ));
    }
}
