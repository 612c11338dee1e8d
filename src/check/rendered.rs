//! How a response is written otherwise than its chat template writes the message.
//!
//! A recorded response shows what a model writes. The chat template renders the message that it stands for, in each manner in which the message
//! can be handed over; where none of the renders is the response, the model deviates, and the nearest render tells in what. A response that
//! ends before the render does is none that deviates: engines stop before the end marker. A render that leaves out a text of the message, such as a
//! reasoning of an earlier turn, is none to compare with.
//!
//! That costs a handful of renders for each fixture.

use std::ops::Range;
use std::sync::Arc;

use super::{Fixture, Prompt};
use crate::chat_template::{ChatTemplateSource, Clock};
use crate::response_template::ResponseTemplate;
use crate::text::{common_prefix, common_suffix};
use crate::value::{Map, Value, json, python};

/// Where a response differs from the render that is nearest to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendered {
    /// The part of the response that differs, in bytes.
    pub span: Range<usize>,
    /// The text of that part.
    pub written: String,
    /// The text that the chat template writes in its place.
    pub rendered: String,
}

/// In what a fixture's response differs from all renders of its message; `None` where it does not, where there is no expected message, or where
/// nothing can be rendered to compare it with. `prefix` is the prompt as text.
pub fn rendered_otherwise(
    fixture: &Fixture,
    template: &Arc<ResponseTemplate>,
    prefix: &str,
    chat: &ChatTemplateSource,
    clock: Option<Clock>,
) -> Option<Rendered> {
    let expected = fixture.expected.as_ref()?.as_object()?;
    if fixture.error.is_some() {
        return None;
    }
    // What is in no field at the end is the beginning of a part that the model did not finish.
    let ends = |text: &String| {
        let text = text.trim_end_matches(python::is_space);
        let response = fixture.response.trim_end_matches(python::is_space);
        !text.is_empty() && response.ends_with(text)
    };
    if fixture.unclaimed.last().is_some_and(ends) {
        return None;
    }
    let begun = template.after_last_anchor(prefix).ok()?;
    let written = format!("{begun}{}", fixture.response);
    let messages = manners(expected).into_iter();
    let renders = messages.filter_map(|message| {
        let render = render(fixture, message, chat, clock)?;
        let turn = template.after_last_anchor(&render).ok()?;
        // Without an anchor the whole conversation is the turn, which compares with nothing; so does a turn that leaves something out.
        (turn.len() < render.len() && shows(turn, expected)).then(|| turn.to_owned())
    });
    let renders: Vec<String> = renders.collect();
    let told = written.trim_end_matches(python::is_space);
    if renders.iter().any(|turn| turn.starts_with(told)) {
        return None;
    }
    let nearest = renders
        .iter()
        .map(|turn| (Differing::of(turn, &written), turn))
        .min_by_key(|(differing, _)| differing.size());
    let (differing, turn) = nearest?;
    let start = differing.of_written.start.checked_sub(begun.len())?;
    let end = differing.of_written.end.checked_sub(begun.len())?;
    Some(Rendered {
        span: start..end,
        written: written[differing.of_written].to_owned(),
        rendered: turn[differing.of_rendered].to_owned(),
    })
}

/// Returns true if a turn has the texts of a message and the names of its calls.
fn shows(turn: &str, message: &Map) -> bool {
    let texts = message.iter().filter(|(key, _)| key.as_str() != "role");
    let texts = texts.filter_map(|(_, value)| value.as_str());
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let names = calls.unwrap_or_default().iter();
    let names = names.filter_map(|call| call.get("function")?.get("name")?.as_str());
    texts.chain(names).all(|text| turn.contains(text))
}

/// The parts of two texts between those that they share at both ends.
struct Differing {
    of_rendered: Range<usize>,
    of_written: Range<usize>,
}

impl Differing {
    fn of(rendered: &str, written: &str) -> Self {
        let start = common_prefix(rendered, written);
        let end = common_suffix(&rendered[start..], &written[start..]);
        Self {
            of_rendered: start..rendered.len() - end,
            of_written: start..written.len() - end,
        }
    }

    fn size(&self) -> usize {
        self.of_rendered.len() + self.of_written.len()
    }
}

/// The message as it may be handed to a chat template: as it is, with the content absent or empty, and with the arguments of calls as text.
fn manners(message: &Map) -> Vec<Map> {
    let mut plain = message.clone();
    if !plain.contains_key("role") {
        plain.shift_insert(0, "role", Value::from("assistant"));
    }
    let mut all = vec![plain.clone()];
    if !plain.get("content").is_some_and(Value::is_truthy) {
        for content in [Value::Null, Value::from("")] {
            let mut other = plain.clone();
            other.insert("content", content);
            all.push(other);
        }
    }
    let as_text: Vec<Map> = all.iter().filter_map(with_arguments_as_text).collect();
    all.extend(as_text);
    all
}

/// The message with the arguments of its calls as the text of JSON; `None` where no call has an object.
fn with_arguments_as_text(message: &Map) -> Option<Map> {
    let mut message = message.clone();
    let Value::Array(calls) = message.get_mut("tool_calls")? else {
        return None;
    };
    let mut has_any = false;
    for call in calls {
        let Value::Object(call) = call else {
            return None;
        };
        let Some(Value::Object(function)) = call.get_mut("function") else {
            return None;
        };
        let arguments = function.get_mut("arguments")?;
        if arguments.as_object().is_some() {
            *arguments = Value::from(json::to_string(arguments));
            has_any = true;
        }
    }
    has_any.then_some(message)
}

/// The conversation of the fixture with the message as its last turn, or that after some question where the conversation is not known.
fn render(
    fixture: &Fixture,
    message: Map,
    chat: &ChatTemplateSource,
    clock: Option<Clock>,
) -> Option<String> {
    let mut input = match &fixture.prompt {
        Prompt::Conversation(conversation) => fixture.asked(conversation, clock),
        Prompt::Text(_) | Prompt::Untold => {
            let question = [("role", "user"), ("content", "Question")];
            let question = question.map(|(key, text)| (key.to_owned(), Value::from(text)));
            let question = Value::Object(Map::from_iter(question));
            fixture.asked(&Value::from(vec![question]), clock)
        }
    };
    input.messages.push(Value::Object(message));
    let template = chat.select(input.tools.is_some()).ok()?;
    template.render(&input).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template;

    const CHAT: &str = "{% for m in messages %}<{{ m.role }}>{% for c in m.tool_calls or [] %}<call>{{ c.function.name }} {{ c.function.arguments }}</call>{% endfor %}\
                        {{ m.content or '' }}</{{ m.role }}>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

    fn told(response: &str, expected: &str) -> Option<Rendered> {
        let chat = chat_template::from_text("it", CHAT).unwrap();
        let template =
            r#"{"start_anchor": "<assistant>", "fields": {"content": {"close": "</assistant>"}}}"#;
        let template = Arc::new(ResponseTemplate::from_json(template).unwrap());
        let fixture = format!(
            r#"{{"response": {}, "expected": {expected}}}"#,
            json::quote(response)
        );
        let fixture = json::parse(&fixture).unwrap();
        let fixture = Fixture::from_map(fixture.as_object().unwrap().clone()).unwrap();
        rendered_otherwise(&fixture, &template, "<assistant>", &chat, None)
    }

    #[test]
    fn a_response_that_is_rendered_so_does_not_deviate() {
        for response in ["Hello</assistant>", "Hello", "Hello\n"] {
            assert_eq!(
                told(response, r#"{"content": "Hello"}"#),
                None,
                "{response}"
            );
        }
        let call = r#"{"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}"#;
        assert_eq!(told("<call>f {\"a\": 1}</call></assistant>", call), None);
    }

    #[test]
    fn the_part_that_differs_from_the_nearest_render_is_told() {
        let call = r#"{"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}"#;
        let found = told("<call> f {\"a\": 1}</call></assistant>", call).unwrap();
        assert_eq!(
            (found.span, found.written.as_str(), found.rendered.as_str()),
            (6..7, " ", "")
        );
        let found = told("Hello</end>", r#"{"content": "Hello"}"#).unwrap();
        assert_eq!(
            (found.written.as_str(), found.rendered.as_str()),
            ("end", "assistant")
        );
    }

    #[test]
    fn a_part_that_is_not_finished_is_written_as_far_as_it_goes() {
        let cut = r#"{"content": "Hello"}, "unclaimed": ["<", "</e"]"#;
        assert_eq!(told("Hello</e", cut), None);
        assert!(told("Hello</e>", cut).is_some());
    }
}
