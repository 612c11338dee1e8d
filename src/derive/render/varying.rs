//! The parts of a chat template's own texts that vary: numbers that it counts, kwargs that it writes, and the date.
//!
//! `[[{{ loop.index }}:assistant]]` begins every turn otherwise, and `<think max={{ budget }}>` begins the reasoning as whoever calls the
//! chat template wants it. Origins tell that such a text is no constant, so it is no part of a marker: where it stands, a marker has a slot.
//! Renders are read with these slots in them, so that all that compares them sees `[[NUMBER:assistant]]` and `<think max=GIVEN>`, and one
//! delimiter is found where the texts differ.
//!
//! Where a kwarg is not given, the chat template often writes a constant in its place, as `512` of `budget | default(512)`. A constant that
//! stands between the very constants between which a kwarg stands in another render is such a default, and has the same slot.
//!
//! A render with origins takes about twice as long as one without. Only a chat template of which one of the first renders has such a
//! part within a turn is rendered so throughout.

use crate::chat_template::{Origin, Run, Traced};
use crate::derive::compare::slot;
use crate::judge;

/// The parts of a chat template's own texts that vary.
#[derive(Debug, Default)]
pub(in crate::derive) struct Varying {
    /// True if it counts.
    counts: bool,
    /// The kwargs that it writes within a turn, and the function of the date if it writes that there.
    given: Vec<String>,
    /// The bytes in the source of the constants that it writes where such a kwarg is not given.
    defaults: Vec<(usize, usize)>,
}

impl Varying {
    /// The parts that vary in these renders. `names` are those of the variables that nobody need give.
    pub(in crate::derive) fn of(renders: &[&Traced], names: &[String]) -> Self {
        let mut varying = Self::default();
        let mut around = Vec::new();
        for render in renders {
            let asked = render.text.find(judge::ASKED).unwrap_or(render.text.len());
            for (at, run) in render.runs.iter().enumerate() {
                varying.counts |= is_counted(run, &render.text);
                let Some(name) = given(run, names).filter(|_| run.start > asked) else {
                    continue;
                };
                if !varying.given.contains(name) {
                    varying.given.push(name.clone());
                }
                around.extend(neighbours(&render.runs, at));
            }
        }
        if around.is_empty() {
            return varying;
        }
        for render in renders {
            for (at, run) in render.runs.iter().enumerate() {
                let Some(place) = constant(run) else { continue };
                let is_default =
                    neighbours(&render.runs, at).is_some_and(|own| around.contains(&own));
                if is_default && !varying.defaults.contains(&place) {
                    varying.defaults.push(place);
                }
            }
        }
        varying
    }

    /// Returns true if nothing varies.
    pub(in crate::derive) fn is_nothing(&self) -> bool {
        !self.counts && self.given.is_empty()
    }

    /// The render with a slot for each part that varies.
    pub(in crate::derive) fn to_slots(&self, render: &Traced) -> Traced {
        let mut text = String::with_capacity(render.text.len());
        let mut runs = Vec::with_capacity(render.runs.len());
        for run in &render.runs {
            let start = text.len();
            match self.slot(run, &render.text) {
                Some(slot) => text.push(slot),
                None => text.push_str(&render.text[run.start..run.end]),
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

    fn slot(&self, run: &Run, text: &str) -> Option<char> {
        if run.start == run.end {
            return None;
        }
        let is_default = || constant(run).is_some_and(|place| self.defaults.contains(&place));
        if given(run, &self.given).is_some() || is_default() {
            return Some(slot::GIVEN);
        }
        (self.counts && is_counted(run, text)).then_some(slot::NUMBER)
    }
}

/// Returns true if the run is a number that was counted.
fn is_counted(run: &Run, text: &str) -> bool {
    let text = &text[run.start..run.end];
    run.origin.is_derived() && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the kwarg, or the function of the date, of which alone the run is made.
fn given<'k>(run: &Run, names: &'k [String]) -> Option<&'k String> {
    let variable = run.origin.variable().filter(|_| run.start < run.end)?;
    names.iter().find(|known| known.as_str() == variable)
}

/// Returns the bytes in the source of the constant that the run shows.
fn constant(run: &Run) -> Option<(usize, usize)> {
    match run.origin {
        Origin::Source { start, end, .. } => Some((start, end)),
        Origin::Input { .. } => None,
    }
}

/// Returns the constants right before and right behind a run.
fn neighbours(runs: &[Run], at: usize) -> Option<[(usize, usize); 2]> {
    Some([
        constant(runs.get(at.checked_sub(1)?)?)?,
        constant(runs.get(at + 1)?)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::{self, Inputs};
    use crate::value::{Map, Value, json};

    fn traced(text: &str, messages: &str, kwargs: &Map) -> Traced {
        let source = chat_template::from_text("test", text).unwrap();
        let template = source.select(false).unwrap();
        let messages = json::parse(messages).unwrap();
        let inputs = Inputs {
            messages: messages.as_array().unwrap(),
            tools: None,
            documents: None,
            add_generation_prompt: false,
            kwargs,
            clock: None,
            rules: Default::default(),
            printed_tools: None,
        };
        let mut steps = 10_000;
        template
            .render_borrowed_traced(&inputs, &mut steps)
            .unwrap()
    }

    #[test]
    fn what_is_counted_is_a_slot_and_what_is_said_is_none() {
        let text = "{% for m in messages %}[{{ loop.index }}]7{{ m.content }}{{ m.size }}{% endfor %}\
                    ({{ messages | length }})";
        let messages = r#"[{"content": "12", "size": 5}]"#;
        let render = traced(text, messages, &Map::new());
        assert_eq!(render.text, "[1]7125(1)");
        let varying = Varying::of(&[&render], &[]);
        assert!(!varying.is_nothing());
        let read = varying.to_slots(&render);
        assert_eq!(slot::show(&read.text), "[NUMBER]7125(NUMBER)");
        let said = read.text.find("12").unwrap();
        let path = read.at(said).unwrap().origin.inputs().next().unwrap();
        assert_eq!(path.to_string(), "messages[0].content");
    }

    /// A constant in the place of a kwarg that is not given is a slot, too; a kwarg that stands before all turns is none.
    #[test]
    fn a_kwarg_that_is_written_in_a_turn_is_a_slot() {
        let text = "{{ place }}{% for m in messages %}<{{ m.content }}>{% endfor %}\
                    {{ '<think max=' ~ budget | default('many') ~ '>' }}{{ 'Walls' }}";
        let messages = format!(r#"[{{"content": "{}"}}]"#, judge::ASKED);
        let names = ["place", "budget"].map(str::to_owned);
        let given = |name: &str| Map::from_iter([(name.to_owned(), Value::from("Ur"))]);
        let renders = [Map::new(), given("place"), given("budget")];
        let renders = renders.map(|kwargs| traced(text, &messages, &kwargs));
        let varying = Varying::of(&renders.iter().collect::<Vec<_>>(), &names);
        let asked = judge::ASKED;
        for (render, place) in renders.iter().zip(["", "Ur", ""]) {
            let read = slot::show(&varying.to_slots(render).text);
            assert_eq!(read, format!("{place}<{asked}><think max=GIVEN>Walls"));
        }
        assert!(Varying::of(&[&renders[0], &renders[1]], &names).is_nothing());
    }
}
