//! Renders that are kept. The decisions of an analysis and the rounds of a verification ask for the same conversations again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::conversation::Context;
use crate::chat_template::{Reads, RenderError};
use crate::derive::probe;
use crate::value::are_identical;

/// The bytes that are kept at most, counting each conversation as so many beside its render.
const MAX_BYTES: usize = 32 << 20;
const CONVERSATION: usize = 4 << 10;

/// The renders that were asked for.
#[derive(Debug, Default)]
pub(in crate::derive) struct RenderCache(RefCell<Renders>);

#[derive(Debug, Default)]
struct Renders {
    by_hash: HashMap<u64, Vec<Render>>,
    /// The inputs that the template asked for, of the renders that were observed.
    observed: HashMap<u64, Vec<Observed>>,
    bytes: usize,
    /// How many renders were made.
    count: usize,
}

/// A context, and the inputs that were asked for where it was rendered; `None` where it is refused.
type Observed = (Context, Option<Rc<Reads>>);

#[derive(Debug)]
struct Render {
    context: Context,
    add_generation_prompt: bool,
    rendered: Result<String, RenderError>,
    /// How many renders were made before.
    number: usize,
}

/// A render that has a certain text.
#[derive(Debug, Clone, Copy)]
struct Match<'r> {
    /// How many bytes the render has beside the text, and how many were rendered before it: the least is the best.
    rank: (usize, usize),
    /// The byte at which the text begins in it.
    start: usize,
    render: &'r Render,
}

/// A conversation whose render has a certain text.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::derive) struct Conversation {
    pub(in crate::derive) context: Context,
    pub(in crate::derive) add_generation_prompt: bool,
    /// The byte at which the text begins in the render.
    pub(in crate::derive) start: usize,
}

impl RenderCache {
    /// Returns the kept render of the context, or renders it now.
    pub(in crate::derive) fn get_or_render(
        &self,
        context: &Context,
        add_generation_prompt: bool,
        render: impl FnOnce() -> Result<String, RenderError>,
    ) -> Result<String, RenderError> {
        let hash = hash_of(context, add_generation_prompt);
        if let Some(kept) = self.0.borrow().by_hash.get(&hash) {
            let kept = kept.iter().find(|kept| {
                kept.add_generation_prompt == add_generation_prompt
                    && is_identical(&kept.context, context)
            });
            if let Some(kept) = kept {
                return kept.rendered.clone();
            }
        }
        let rendered = render();
        let mut renders = self.0.borrow_mut();
        renders.bytes += CONVERSATION + rendered.as_ref().map_or(0, String::len);
        if renders.bytes > MAX_BYTES {
            *renders = Renders::default();
        }
        let number = renders.count;
        renders.count += 1;
        renders.by_hash.entry(hash).or_default().push(Render {
            context: context.clone(),
            add_generation_prompt,
            rendered: rendered.clone(),
            number,
        });
        rendered
    }

    /// Returns what the template asked for where it rendered the context, or observes that now. Every candidate of a search asks for it.
    pub(in crate::derive) fn reads(
        &self,
        context: &Context,
        observe: impl FnOnce() -> Option<Reads>,
    ) -> Option<Rc<Reads>> {
        let hash = hash_of(context, false);
        if let Some(kept) = self.0.borrow().observed.get(&hash) {
            let kept = kept.iter().find(|(kept, _)| is_identical(kept, context));
            if let Some((_, reads)) = kept {
                return reads.clone();
            }
        }
        let reads = observe().map(Rc::new);
        let mut renders = self.0.borrow_mut();
        renders.bytes += CONVERSATION;
        let of_hash = renders.observed.entry(hash).or_default();
        of_hash.push((context.clone(), reads.clone()));
        reads
    }

    /// Returns for each text a conversation whose render, from the user's first words on, begins with it, or whose prompt ends with it: the
    /// one whose render has the least beside the text, and of several the first.
    pub(in crate::derive) fn rendered_as(&self, texts: &[&str]) -> Vec<Option<Conversation>> {
        let renders = self.0.borrow();
        let mut best: Vec<Option<Match<'_>>> = vec![None; texts.len()];
        for render in renders.by_hash.values().flatten() {
            let Ok(rendered) = &render.rendered else {
                continue;
            };
            let user = rendered.find(probe::USER).unwrap_or(0);
            for (text, best) in texts.iter().zip(&mut best) {
                let start = if rendered[user..].starts_with(text) {
                    user
                } else if render.add_generation_prompt && rendered.ends_with(text) {
                    rendered.len() - text.len()
                } else {
                    continue;
                };
                let found = Match {
                    rank: (rendered.len() - text.len(), render.number),
                    start,
                    render,
                };
                if !text.is_empty() && best.is_none_or(|known| found.rank < known.rank) {
                    *best = Some(found);
                }
            }
        }
        let conversation = |found: Match<'_>| Conversation {
            context: found.render.context.clone(),
            add_generation_prompt: found.render.add_generation_prompt,
            start: found.start,
        };
        best.into_iter()
            .map(|found| found.map(conversation))
            .collect()
    }
}

/// Returns true if both render the same, whatever the chat template: unlike for equality the order of keys counts.
fn is_identical(a: &Context, b: &Context) -> bool {
    let same_tools = match (&a.tools, &b.tools) {
        (Some(a), Some(b)) => Rc::ptr_eq(a, b) || are_identical(a, b),
        (None, None) => true,
        _ => false,
    };
    same_tools && are_identical(&a.history, &b.history) && a.kwargs.is_identical(&b.kwargs)
}

/// Returns a hash that is equal for identical contexts. The tools, which are long and nearly always the same, do not count.
fn hash_of(context: &Context, add_generation_prompt: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    add_generation_prompt.hash(&mut hasher);
    context.tools.is_some().hash(&mut hasher);
    for message in &context.history {
        message.hash_into(&mut hasher);
    }
    context.kwargs.hash_into(&mut hasher);
    hasher.finish()
}
