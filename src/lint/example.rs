//! Examples that show what a rule is about, by parsing.

#[cfg(test)]
use crate::{
    chat_template::{self, RenderInput},
    parser::{ResponseParser, parse_response},
    response_template::ResponseTemplate,
    value::{Value, json},
};

/// A response template that falls into the trap, and its twin that does not.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Example {
    /// The response template that has it.
    pub bad: &'static str,
    /// The example without the mistake.
    pub good: &'static str,
    /// The source of the chat template that both belong to, for rules that need one.
    pub chat: Option<&'static str>,
    /// The difference that they make.
    pub shows: Shows,
}

/// The difference that is visible with both response templates of an [`Example`]. A test holds what stands here to what happens.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Shows {
    /// The message of a response, or the error that begins with `error: `.
    Message {
        /// The response.
        response: &'static str,
        /// The result of the bad one.
        bad: &'static str,
        /// The result of the good one.
        good: &'static str,
    },
    /// The text that has been handed on before the response, which arrives character by character, ends.
    Streamed {
        /// The response.
        response: &'static str,
        /// With the bad one, as a JSON string.
        bad: &'static str,
        /// With the good one.
        good: &'static str,
    },
    /// The message of a response with the prompt for `Hi` as its prefix.
    Prompted {
        /// The response.
        response: &'static str,
        /// The result of the bad one.
        bad: &'static str,
        /// The result of the good one.
        good: &'static str,
    },
    /// The message of a response, appended to the conversation and rendered again.
    Rendered {
        /// The response.
        response: &'static str,
        /// The result of the bad one.
        bad: &'static str,
        /// The result of the good one.
        good: &'static str,
    },
    /// Nothing here: the difference is one for other programs.
    Elsewhere,
}

impl Example {
    pub(super) fn to_markdown(self) -> String {
        let mut out = format!("```json\n{}\n```\n", self.bad);
        if let Some(chat) = self.chat {
            out.push_str(&format!(
                "\nwith the chat template\n\n```jinja\n{chat}\n```\n"
            ));
        }
        let (what, response, bad, good) = match self.shows {
            Shows::Message {
                response,
                bad,
                good,
            } => ("parses", response, bad, good),
            Shows::Streamed {
                response,
                bad,
                good,
            } => ("before its end has been handed on as", response, bad, good),
            Shows::Prompted {
                response,
                bad,
                good,
            } => ("behind the prompt for `Hi` parses", response, bad, good),
            Shows::Rendered {
                response,
                bad,
                good,
            } => ("parsed and rendered again becomes", response, bad, good),
            Shows::Elsewhere => {
                out.push_str(&format!("\nBetter:\n\n```json\n{}\n```\n", self.good));
                return out;
            }
        };
        let response = crate::value::json::quote(response);
        let to = if what.ends_with("parses") { " to" } else { "" };
        out.push_str(&format!(
            "\nThe response `{response}` {what}{to}\n\n```text\n{bad}\n```\n\nBetter:\n\n```json\n{}\n```\n\nThe same response {what}{to}\n\n```text\n{good}\n```\n",
            self.good
        ));
        out
    }
}

#[cfg(test)]
impl Example {
    /// The result of one of the two, beside the one that the example tells.
    pub(super) fn outcome(self, document: &str) -> Option<(String, &'static str, &'static str)> {
        let template = ResponseTemplate::from_json(document).expect("a response template");
        let said = |result: Result<crate::value::Map, String>| match result {
            Ok(message) => json::to_string(&Value::Object(message)),
            Err(error) => format!("error: {error}"),
        };
        let parse = |prefix: &str, response: &str| {
            parse_response(response, template.clone(), prefix, &[]).map_err(|e| e.to_string())
        };
        match self.shows {
            Shows::Message {
                response,
                bad,
                good,
            } => Some((said(parse("", response)), bad, good)),
            Shows::Streamed {
                response,
                bad,
                good,
            } => {
                let mut parser = ResponseParser::new(template.clone(), "", &[]).expect("a parser");
                let mut out = String::new();
                for c in response.chars() {
                    for event in parser.feed(&c.to_string()).expect("no limit") {
                        if let crate::parser::Event::RegionChunk { text, .. } = event {
                            out.push_str(&text);
                        }
                    }
                }
                Some((json::quote(&out), bad, good))
            }
            Shows::Prompted {
                response,
                bad,
                good,
            } => {
                let prompt = self.render(vec![user()], true);
                Some((said(parse(&prompt, response)), bad, good))
            }
            Shows::Rendered {
                response,
                bad,
                good,
            } => {
                let message = parse("", response).expect("a message");
                let text = self.render(vec![user(), Value::Object(message)], false);
                Some((json::quote(&text), bad, good))
            }
            Shows::Elsewhere => None,
        }
    }

    fn render(self, messages: Vec<Value>, add_generation_prompt: bool) -> String {
        let source = chat_template::from_text("example", self.chat.expect("a chat template"))
            .expect("a chat template");
        let input = RenderInput {
            messages,
            add_generation_prompt,
            ..RenderInput::default()
        };
        source.templates[0].1.render(&input).expect("a render")
    }
}

#[cfg(test)]
fn user() -> Value {
    json::parse(r#"{"role": "user", "content": "Hi"}"#).expect("JSON")
}
