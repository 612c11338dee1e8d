//! Numbers that the chat template counts: of messages, of turns, of calls.
//!
//! `[[{{ loop.index }}:assistant]]` begins every turn otherwise. Origins tell that the number stands neither in the source nor in an
//! input, so it is no part of a marker: where it stands, a marker has a slot. Renders are read with these slots in them, so that all
//! that compares them sees `[[NUMBER:assistant]]`, and one delimiter is found where the numbers differ.
//!
//! A render with origins takes about twice as long as one without. Only a chat template of which one of the first renders has such a
//! number is rendered so throughout.

use crate::chat_template::{Run, Traced};
use crate::derive::compare::slot;

/// Returns true if the render has a number that was counted.
pub(in crate::derive) fn any(render: &Traced) -> bool {
    let mut runs = render.runs.iter();
    runs.any(|run| is_counted(run, &render.text))
}

/// The render with a slot for each number that was counted.
pub(in crate::derive) fn to_slots(render: &Traced) -> Traced {
    let mut text = String::with_capacity(render.text.len());
    let mut runs = Vec::with_capacity(render.runs.len());
    for run in &render.runs {
        let start = text.len();
        match is_counted(run, &render.text) {
            true => text.push(slot::NUMBER),
            false => text.push_str(&render.text[run.start..run.end]),
        }
        runs.push(Run {
            start,
            end: text.len(),
            origin: run.origin.clone(),
        });
    }
    Traced {
        text,
        runs,
        decided_by: render.decided_by.clone(),
    }
}

fn is_counted(run: &Run, text: &str) -> bool {
    let text = &text[run.start..run.end];
    run.origin.is_derived() && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::{self, Inputs};
    use crate::value::{Map, json};

    #[test]
    fn what_is_counted_is_a_slot_and_what_is_said_is_none() {
        let text = "{% for m in messages %}[{{ loop.index }}]7{{ m.content }}{{ m.size }}{% endfor %}\
                    ({{ messages | length }})";
        let source = chat_template::from_text("test", text).unwrap();
        let template = source.select(false).unwrap();
        let messages = json::parse(r#"[{"content": "12", "size": 5}]"#).unwrap();
        let kwargs = Map::new();
        let inputs = Inputs {
            messages: messages.as_array().unwrap(),
            tools: None,
            documents: None,
            add_generation_prompt: false,
            kwargs: &kwargs,
            clock: None,
            rules: Default::default(),
            printed_tools: None,
        };
        let mut steps = 10_000;
        let render = template
            .render_borrowed_traced(&inputs, &mut steps)
            .unwrap();
        assert_eq!(render.text, "[1]7125(1)");
        assert!(any(&render));
        let read = to_slots(&render);
        assert_eq!(slot::show(&read.text), "[NUMBER]7125(NUMBER)");
        let said = read.text.find("12").unwrap();
        let path = read.at(said).unwrap().origin.inputs().next().unwrap();
        assert_eq!(path.to_string(), "messages[0].content");
    }
}
