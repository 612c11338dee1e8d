//! Where does the prompt end that the model was given before its turn?
//!
//! If the conversation begins with the prompt, it ends there. Otherwise the chat template has written something before the turn in another
//! way than in the prompt. Then the part of the prompt that belongs to the turn is looked for: the text that it has behind its last
//! message, or the text that it has beyond the same messages without a generation prompt. As much of that as possible has to stand where
//! the turn begins. Some of it may stand before the turn, if the chat template writes it at the end of the message before. Where the turn
//! goes on otherwise than its prompt (the prompt opens a reasoning, and the reasoning was dropped), the two part where the prompt has
//! another origin, or else the turn has, so that two markers that begin with the same character are not cut.

use std::cell::OnceCell;

use super::owners::Owners;
use super::parts::part_of;
use super::role;
use crate::chat_template::{ChatTemplate, MAX_STEPS, Origin, RenderInput, Traced};
use crate::text::common_prefix;
use crate::value::{Map, Value};

/// A finder of the prompts of one conversation.
pub(super) struct Prompts<'r> {
    template: &'r ChatTemplate,
    input: &'r RenderInput,
    traced: &'r Traced,
    owners: &'r Owners,
    /// The cues that follow a question in place of the conversation, for turns whose own prompt is refused.
    usual: OnceCell<Vec<Cue>>,
}

/// A text that a prompt may have of the turn that it asks for.
#[derive(Debug, Clone)]
struct Cue {
    text: String,
    /// Where in it another origin begins.
    bounds: Vec<usize>,
}

impl<'r> Prompts<'r> {
    pub(super) fn new(
        template: &'r ChatTemplate,
        input: &'r RenderInput,
        traced: &'r Traced,
        owners: &'r Owners,
    ) -> Self {
        Self {
            template,
            input,
            traced,
            owners,
            usual: OnceCell::new(),
        }
    }

    /// Where in the render the prompt of that message ends: within the message, or at an end of it.
    pub(super) fn end(&self, message: usize) -> usize {
        let Some(range) = self.owners.range(message) else {
            return 0;
        };
        let input = self.before(&self.input.messages[..message]);
        let mut steps = MAX_STEPS;
        let Ok(prompt) = self.template.render_within(&input, &mut steps) else {
            let cues = self.usual.get_or_init(|| self.usual());
            return self.behind(cues, range);
        };
        // A chat template may not ask the model to go on after its own message. Then what it asks with elsewhere counts.
        let is_asked = prompt.len() > range.start
            || message
                .checked_sub(1)
                .is_none_or(|last| role(&self.input.messages[last]) != "assistant");
        if !is_asked {
            let cues = self.usual.get_or_init(|| self.usual());
            return self.behind(cues, range);
        }
        if self.traced.text.starts_with(&prompt) {
            return prompt.len().clamp(range.start, range.end);
        }
        self.behind(&self.cues(&input), range)
    }

    /// Returns the input with other messages, and with the generation prompt.
    fn before(&self, messages: &[Value]) -> RenderInput {
        RenderInput {
            messages: messages.to_vec(),
            add_generation_prompt: true,
            ..self.input.clone()
        }
    }

    /// Returns the texts that a prompt may have of the turn.
    fn cues(&self, input: &RenderInput) -> Vec<Cue> {
        let mut steps = MAX_STEPS;
        let Ok((prompt, layout)) = self.template.render_laid_out(&input.borrowed(), &mut steps)
        else {
            return Vec::new();
        };
        let mut starts = vec![Owners::of(&prompt, &layout).end()];
        let asked = RenderInput {
            add_generation_prompt: false,
            ..input.clone()
        };
        if let Ok(history) = self.template.render(&asked) {
            let common = common_prefix(&history, &prompt.text);
            // If the history is not the beginning of the prompt, the prompt replaces something, and where it begins cannot be told from this.
            if common == history.len() {
                starts.push(common);
            }
        }
        let cues = starts.into_iter().map(|start| Cue {
            text: prompt.text[start..].to_owned(),
            bounds: prompt
                .runs
                .iter()
                .filter_map(|run| run.start.checked_sub(start))
                .collect(),
        });
        cues.collect()
    }

    fn usual(&self) -> Vec<Cue> {
        let user = Map::from_iter([
            ("role".to_owned(), Value::from("user")),
            ("content".to_owned(), Value::from("x")),
        ]);
        self.cues(&self.before(&[Value::Object(user)]))
    }

    /// Where in a message that takes `range` the longest of these ends.
    fn behind(&self, cues: &[Cue], range: std::ops::Range<usize>) -> usize {
        let ends = cues.iter().map(|cue| self.end_of(cue, &range));
        ends.max().unwrap_or(range.start)
    }

    fn end_of(&self, cue: &Cue, range: &std::ops::Range<usize>) -> usize {
        let (before, text) = self.traced.text.split_at(range.start);
        let turn = &text[..range.len()];
        let starts = cue.text.char_indices().map(|(at, _)| at);
        let starts = starts.filter(|at| before.ends_with(&cue.text[..*at]));
        let found = starts.map(|from| {
            let rest = &cue.text[from..];
            let common = common_prefix(rest, turn);
            if common == rest.len() {
                return common;
            }
            let own = self.traced.runs.iter().map(|run| run.start);
            let own = own.filter_map(|at| at.checked_sub(range.start));
            let its = cue.bounds.iter().filter_map(|at| at.checked_sub(from));
            let last = |bounds: &mut dyn Iterator<Item = usize>| {
                bounds.filter(|at| (1..=common).contains(at)).max()
            };
            last(&mut { its })
                .or_else(|| last(&mut { own }))
                .unwrap_or(0)
        });
        let found = found.max().unwrap_or(0);
        if found > 0 || cue.text.is_empty() {
            return range.start + found;
        }
        // The first turn may begin with what begins every conversation.
        let first_input = self.traced.runs.iter().find(|run| {
            run.start >= range.start
                && matches!(&run.origin, Origin::Input { path, .. } if part_of(path).is_some())
        });
        let head_end = first_input.map_or(range.end, |run| run.start.min(range.end));
        let head = &self.traced.text[range.start..head_end];
        let at = head.rfind(&cue.text).map(|at| at + cue.text.len());
        range.start + at.unwrap_or(0)
    }
}
