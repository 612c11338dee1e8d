//! Which characters of a rendered conversation belong to which message, and which of them did the model write?
//!
//! # How
//!
//! Nothing is known of markers. A chat template is rendered with the origin of every character and with who wrote what, and
//! three questions are answered from that:
//!
//! - *Whose is a character?* That message's at which the innermost loop around the writing statement was. A loop over something else
//!   than messages (over their indices) is at the message that it first writes something of. What no such loop wrote belongs to the
//!   message of which the writing statement wrote something, or to none: see `owners`.
//! - *Where does the model begin to write?* Where the prompt ends that it was given: the messages before the turn, rendered with the
//!   generation prompt. If the conversation begins with that text, that is all. Where the chat template writes earlier turns
//!   otherwise once they are earlier turns (reasoning that is dropped), what the prompt ends with is looked for where the turn
//!   begins: see `prompts`.
//! - *Where does it end?* With the last character of its turn: the end of turn belongs to it. Where the chat template ends no turn, the
//!   next message's first marker does: see `ends`.
//!
//! What is written in the midst of a turn while the chat template is at another message (a tool's result within the turn of the
//! assistant that called it) is not the model's.
//!
//! It costs two renders of the conversation, and one of each conversation that an assistant's turn answers.

mod ends;
mod owners;
mod parts;
mod prompts;

use serde::Serialize;

use crate::chat_template::{ChatTemplate, Layout, MAX_STEPS, RenderError, RenderInput, Traced};
use crate::value::Value;

pub(in crate::conversation) use owners::Owners;

/// The spans of a conversation, with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spans {
    /// The rendered conversation.
    pub text: String,
    /// Each message that is rendered, followed by its parts, in the order in which the messages begin in the text.
    pub spans: Vec<Span>,
    /// The ranges that the assistant generates, in bytes, in order; none is empty and no two touch.
    pub generated: Vec<(usize, usize)>,
}

/// The range of a rendered conversation that a message or a part of it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Span {
    /// The message: its index.
    pub message: usize,
    /// Its role; empty where it has none.
    pub role: String,
    /// Which part of it.
    pub part: Part,
    /// Which of its calls, where the part is a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// Where it starts in the text, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}

/// A stretch of a conversation of which one thing is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stretch {
    /// Where it starts in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The message that it belongs to, if it belongs to one.
    pub message: Option<usize>,
    /// The part of that message, if it is of one.
    pub part: Option<Part>,
    /// True if the model wrote it.
    pub is_generated: bool,
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Part {
    /// All of it. What stands of other messages within it is not taken off.
    Message,
    /// The text before its texts. Of an assistant's message: what the generation prompt has of it.
    Header,
    /// A reasoning.
    Reasoning,
    /// Content, and the result of a tool.
    Content,
    /// A call, with what the chat template writes around it for each call.
    Call,
    /// The text behind its texts.
    End,
}

impl Part {
    /// The name that stands in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Header => "header",
            Self::Reasoning => "reasoning",
            Self::Content => "content",
            Self::Call => "call",
            Self::End => "end",
        }
    }
}

/// The spans of a conversation, from its messages. The role of the model is `assistant`.
///
/// ```
/// use obverse::chat_template::{ChatTemplate, RenderInput};
/// use obverse::conversation::spans;
/// use obverse::value::json;
///
/// let template = ChatTemplate::new(
///     "{% for m in messages %}[{{ m.role }}]{{ m.content }}[/]{% endfor %}\
///      {% if add_generation_prompt %}[assistant]{% endif %}",
/// )?;
/// let messages = json::parse(
///     r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]"#,
/// )?;
/// let input = RenderInput::new(messages.as_array().unwrap().to_vec());
/// let found = spans::of_messages(&template, &input)?;
/// let (start, end) = found.generated[0];
/// assert_eq!(&found.text[start..end], "Hello[/]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When the chat template refuses the conversation. That it refuses the beginning of it is no error.
pub fn of_messages(template: &ChatTemplate, input: &RenderInput) -> Result<Spans, RenderError> {
    let examined = examine(template, input)?;
    Ok(Spans {
        text: examined.traced.text,
        spans: examined.spans,
        generated: examined.generated,
    })
}

/// A conversation, and all that is known of its render.
pub(in crate::conversation) struct Examined {
    pub(in crate::conversation) traced: Traced,
    pub(in crate::conversation) layout: Layout,
    pub(in crate::conversation) owners: Owners,
    pub(in crate::conversation) spans: Vec<Span>,
    pub(in crate::conversation) generated: Vec<(usize, usize)>,
}

/// Examines a conversation.
pub(in crate::conversation) fn examine(
    template: &ChatTemplate,
    input: &RenderInput,
) -> Result<Examined, RenderError> {
    let mut steps = MAX_STEPS;
    let (traced, layout) = template.render_laid_out(&input.borrowed(), &mut steps)?;
    let owners = Owners::of(&traced, &layout);
    let prompts = prompts::Prompts::new(template, input, &traced, &owners);
    let ends = ends::Ends::new(template, input, &traced, &layout, &owners);
    let mut spans = Vec::new();
    let mut generated = Vec::new();
    let mut indices: Vec<usize> = (0..input.messages.len()).collect();
    indices.sort_by_key(|index| owners.range(*index).map(|range| range.start));
    for index in indices {
        let Some(range) = owners.range(index) else {
            continue;
        };
        let role = role(&input.messages[index]);
        let begun = (role == "assistant").then(|| prompts.end(index));
        if let Some(begun) = begun {
            let own = owners.stretches(index);
            generated.extend(own.filter_map(|own| {
                let start = own.start.max(begun);
                (start < own.end).then_some((start, own.end))
            }));
        }
        let span = |part, call, range: std::ops::Range<usize>| Span {
            message: index,
            role: role.to_owned(),
            part,
            call,
            start: range.start,
            end: range.end,
        };
        let end = range.end;
        spans.push(span(Part::Message, None, range));
        let parts = parts::of(&traced, &layout, &owners, index, begun);
        if begun.is_some_and(|begun| begun < end)
            && parts.last().is_some_and(|last| last.0 != Part::End)
        {
            generated.extend(ends.behind(end).map(|end| (end.start, end.end)));
        }
        spans.extend(
            parts
                .into_iter()
                .map(|(part, call, range)| span(part, call, range)),
        );
    }
    Ok(Examined {
        traced,
        layout,
        owners,
        spans,
        generated: joined(generated),
    })
}

/// Ranges in order, those that touch made one.
pub(in crate::conversation) fn joined(mut ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    ranges
}

impl Spans {
    /// The text in stretches of one message, one part and one answer to whether the model wrote it. They cover the text.
    pub fn stretches(&self) -> Vec<Stretch> {
        let mut bounds = vec![0, self.text.len()];
        bounds.extend(self.spans.iter().flat_map(|span| [span.start, span.end]));
        bounds.extend(
            self.generated
                .iter()
                .flat_map(|(start, end)| [*start, *end]),
        );
        bounds.sort_unstable();
        bounds.dedup();
        let ranges = bounds.windows(2).map(|pair| (pair[0], pair[1]));
        let ranges =
            ranges.map(|(start, end)| {
                // Spans are sorted, outer ones first: the last span around a range is the innermost.
                let around = self.spans.iter().rfind(|span| {
                    span.part != Part::Message && span.start <= start && end <= span.end
                });
                let message = self.spans.iter().rfind(|span| {
                    span.part == Part::Message && span.start <= start && end <= span.end
                });
                let message = message.map(|span| span.message);
                Stretch {
                    start,
                    end,
                    message,
                    part: around
                        .filter(|span| Some(span.message) == message)
                        .map(|span| span.part),
                    is_generated: self.mask(&[(start, end)])[0],
                }
            });
        ranges.collect()
    }

    /// Returns for each of some ranges of bytes, such as tokens, true if the model wrote it: if a character of it is generated. A range
    /// without bytes is not.
    pub fn mask(&self, ranges: &[(usize, usize)]) -> Vec<bool> {
        ranges
            .iter()
            .map(|(start, end)| {
                let next = self.generated.partition_point(|(_, until)| until <= start);
                self.generated
                    .get(next)
                    .is_some_and(|(from, _)| from < end && start < end)
            })
            .collect()
    }
}

/// The role of a message.
pub(in crate::conversation) fn role(message: &Value) -> &str {
    message
        .get("role")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
