//! The places in the chat template that write each marker.
//!
//! The conversations whose renders a marker was read from are rendered once more with the origin of every character, and the
//! marker is looked up in them. Of several occurrences the one counts that stands where the marker belongs: behind what it
//! closes, in the model's turn, and in no case before the user's words, where a prompt may tell the model of its format.

use crate::chat_template::{ChatTemplate, Traced};
use crate::derive::compare::slot;
use crate::derive::evidence::place::Writer;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe;
use crate::derive::read::anchor::Anchor;
use crate::derive::render::cache::Conversation;
use crate::derive::render::renderer::Renderer;

/// How many renders are traced.
const MAX_TRACED: usize = 8;

/// The evidence with the places that write its markers. Their slots are shown as words from now on.
pub(in crate::derive) fn tell(
    renderer: &Renderer<'_>,
    anchor: &Anchor,
    mut evidence: Vec<Evidence>,
) -> Vec<Evidence> {
    let mut seen = Seen::of(renderer, anchor, &evidence);
    let mut places: Vec<Vec<Writer>> = evidence
        .iter()
        .map(|found| seen.in_its_renders(found))
        .collect();
    for (found, places) in evidence.iter().zip(&mut places) {
        if places.is_empty() {
            *places = seen.in_any_render(found);
        }
    }
    drop(seen);
    for (found, places) in evidence.iter_mut().zip(places) {
        for text in [
            &mut found.marker,
            &mut found.left.text,
            &mut found.right.text,
        ] {
            *text = slot::show(text);
        }
        found.places = places
            .into_iter()
            .map(|place| place.with_text(slot::show))
            .collect();
    }
    evidence
}

/// The renders that the evidence was read from, and those of them that are traced.
#[derive(Debug)]
struct Seen<'e, 'l> {
    renderer: &'e Renderer<'l>,
    anchor: &'e Anchor,
    /// The texts that the evidence shows, each once, and the conversations that are rendered so.
    texts: Vec<&'e str>,
    conversations: Vec<Option<Conversation>>,
    /// The conversations that were traced.
    traced: Vec<(Conversation, Option<Traces<'l>>)>,
}

/// A traced render, and what rendered it.
#[derive(Debug)]
struct Traces<'l> {
    name: Option<&'l str>,
    template: &'l ChatTemplate,
    render: Traced,
}

impl<'e, 'l> Seen<'e, 'l> {
    fn of(renderer: &'e Renderer<'l>, anchor: &'e Anchor, evidence: &'e [Evidence]) -> Self {
        let mut texts: Vec<&str> = Vec::new();
        let samples = evidence.iter().flat_map(sides);
        for text in samples.map(|sample| sample.text.as_str()) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let conversations = renderer.rendered_as(&texts);
        Self {
            renderer,
            anchor,
            texts,
            conversations,
            traced: Vec::new(),
        }
    }

    /// Returns the writers of a marker in the renders that it was read from.
    fn in_its_renders(&mut self, found: &Evidence) -> Vec<Writer> {
        let texts = sides(found).map(|side| {
            let mut texts = self.texts.iter();
            texts.position(|text| *text == side.text)
        });
        for loosely in [false, true] {
            let mut texts: Vec<usize> = texts.into_iter().flatten().collect();
            texts.sort_by_key(|text| !self.is_traced(*text));
            for text in texts {
                let places = self.in_text(found, text, loosely);
                if !places.is_empty() {
                    return places;
                }
            }
        }
        Vec::new()
    }

    /// Returns the writers of a marker in any render that is traced.
    fn in_any_render(&mut self, found: &Evidence) -> Vec<Writer> {
        for loosely in [false, true] {
            for text in 0..self.texts.len() {
                if self.is_traced(text) {
                    let places = self.in_text(found, text, loosely);
                    if !places.is_empty() {
                        return places;
                    }
                }
            }
        }
        Vec::new()
    }

    /// Returns the writers of a marker in one of the texts.
    fn in_text(&mut self, found: &Evidence, text: usize, loosely: bool) -> Vec<Writer> {
        let spot = spot(
            found.decision,
            &found.marker,
            self.texts[text],
            self.anchor,
            loosely,
        );
        let Some((from, to)) = spot else {
            return Vec::new();
        };
        let shown = self.texts[text];
        let Some((start, traces)) = self.trace(text) else {
            return Vec::new();
        };
        let same = traces.render.text.get(start..);
        if !same.is_some_and(|same| same.starts_with(shown)) {
            return Vec::new();
        }
        let template = (traces.name, traces.template);
        Writer::of_range(template, &traces.render, (start + from, start + to))
    }

    fn is_traced(&self, text: usize) -> bool {
        self.conversations[text]
            .as_ref()
            .is_some_and(|one| self.traced.iter().any(|(other, _)| is_same(one, other)))
    }

    /// The traced render that has the text, and where it has it.
    fn trace(&mut self, text: usize) -> Option<(usize, &Traces<'l>)> {
        let conversation = self.conversations[text].as_ref()?;
        let mut traced = self.traced.iter();
        let at = match traced.position(|(other, _)| is_same(conversation, other)) {
            Some(at) => at,
            None if self.traced.len() == MAX_TRACED => return None,
            None => {
                let traced = self.renderer.traced(conversation);
                let traces = traced.map(|(name, template, render)| Traces {
                    name,
                    template,
                    render,
                });
                self.traced.push((conversation.clone(), traces));
                self.traced.len() - 1
            }
        };
        let traces = self.traced[at].1.as_ref()?;
        Some((conversation.start, traces))
    }
}

/// The renders of a piece of evidence, first the one that has what the other has not.
fn sides(found: &Evidence) -> [&RenderExcerpt; 2] {
    [&found.right, &found.left]
}

/// Returns true if both are rendered alike.
fn is_same(one: &Conversation, other: &Conversation) -> bool {
    one.add_generation_prompt == other.add_generation_prompt && one.context == other.context
}

/// Returns the bytes of the text, which begins with the user's words or within the model's turn, at which the marker stands that answers
/// the question. If it is looked for `loosely`, white space in the marker may be of any length, or be missing.
fn spot(
    decision: &str,
    marker: &str,
    text: &str,
    anchor: &Anchor,
    loosely: bool,
) -> Option<(usize, usize)> {
    let words_end = match text.starts_with(probe::USER) {
        true => probe::USER.len(),
        false => 0,
    };
    if decision == "anchor" {
        let answer = text.find(probe::CONTENT).unwrap_or(text.len());
        let before = occurrences(marker, &text[..answer], words_end, loosely).last();
        return before.or_else(|| occurrences(marker, text, words_end, loosely).last());
    }
    let literals = anchor.literals.iter();
    let begins = literals.filter_map(|literal| {
        let at = words_end + text[words_end..].find(literal.as_str())?;
        Some((at, at + literal.len()))
    });
    let turn = begins.min().map_or(words_end, |(_, end)| end);
    let behind = closes(decision)
        .into_iter()
        .find_map(|words| Some(text.find(&words)? + words.len()));
    [behind, Some(turn), Some(words_end)]
        .into_iter()
        .flatten()
        .find_map(|from| occurrences(marker, text, from, loosely).next())
}

/// Returns the texts behind which the marker of a decision stands. The first of these that occurs in a render counts.
fn closes(decision: &str) -> Vec<String> {
    let value = |number: usize, argument: usize| {
        let call = probe::call(number);
        let value = call.arguments.values().nth(argument).cloned();
        value.and_then(|value| value.as_str().map(str::to_owned))
    };
    let behind = match decision {
        "turn end" | "content close" => [Some(probe::CONTENT.to_owned()), None],
        "reasoning close" => [Some(probe::REASONING.to_owned()), None],
        "tool call close" | "tool call separator" => [value(0, 1), None],
        "tool calls close" => [value(1, 1), value(0, 1)],
        "argument after the key" => [
            probe::call(0)
                .arguments
                .keys()
                .next()
                .map(ToString::to_string),
            None,
        ],
        "argument close" | "argument separator" => [value(0, 0), None],
        _ => [None, None],
    };
    behind.into_iter().flatten().collect()
}

/// Returns the bytes of the text from `from` on at which the marker stands.
fn occurrences<'t>(
    marker: &'t str,
    text: &'t str,
    from: usize,
    loosely: bool,
) -> impl Iterator<Item = (usize, usize)> + 't {
    let rest = text.get(from..).unwrap_or_default();
    rest.char_indices().filter_map(move |(at, _)| {
        let len = length(marker, &rest[at..], loosely).filter(|len| *len > 0)?;
        Some((from + at, from + at + len))
    })
}

/// How long the marker is with which the text begins, its slots filled; `None` where the text does not begin with it.
fn length(marker: &str, text: &str, loosely: bool) -> Option<usize> {
    let mut rest = text;
    let mut wanted = marker.chars().peekable();
    while let Some(c) = wanted.next() {
        rest = if slot::is_one(c) {
            let as_it_is = rest.strip_prefix(c);
            as_it_is.or_else(|| rest.get(slot::filled(c, rest)?..))?
        } else if loosely && c.is_whitespace() {
            while wanted.next_if(|next| next.is_whitespace()).is_some() {}
            rest.trim_start()
        } else {
            rest.strip_prefix(c)?
        };
    }
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template;
    use crate::derive::{Options, Report, derive};

    /// A chat template that says a message's role and content, and for the assistant what is given here.
    fn report(assistant: &str) -> Report {
        let text = format!(
            "{{% for m in messages %}}{{% if m.role == 'assistant' %}}<bot>{assistant}\n\
             {{% else %}}<{{{{ m.role }}}}>{{{{ m.content }}}}</s>\n{{% endif %}}{{% endfor %}}\
             {{% if add_generation_prompt %}}<bot>{{% endif %}}"
        );
        let source = chat_template::from_text("test", &text).unwrap();
        let report = derive(&source.assuming_tokens(), &Options::default()).unwrap();
        let report = report.report;
        for place in report.evidence.iter().flat_map(|found| &found.places) {
            if let Writer::Source {
                line,
                column,
                start,
                end,
                text: written,
                derived: false,
                ..
            } = place
            {
                let stands = text[*start..*end].replace("\\n", "\n");
                assert_eq!(stands, *written, "{place:?}");
                let before: usize = text
                    .split_inclusive('\n')
                    .take(line - 1)
                    .map(str::len)
                    .sum();
                assert_eq!(text[before..*start].chars().count() + 1, *column);
            }
        }
        report
    }

    /// Returns the writers of the marker that answers the question: the texts in the source, or the inputs.
    fn writes(report: &Report, decision: &str) -> Vec<String> {
        let mut found = report.evidence.iter();
        let found = found.find(|found| found.decision == decision);
        let places = &found.expect("evidence").places;
        let told = places.iter().map(|place| match place {
            Writer::Source { line, text, .. } => format!("{line}: {text}"),
            Writer::Input { input, text, .. } => format!("{input}: {text}"),
        });
        told.collect()
    }

    #[test]
    fn raw_text_writes_a_marker() {
        let report = report("\n{{ m.content }}é</bot>");
        assert_eq!(writes(&report, "anchor"), ["4: <bot>"]);
        assert_eq!(writes(&report, "turn end"), ["2: é</bot>\n"]);
    }

    #[test]
    fn a_part_of_a_literal_writes_a_marker() {
        let report = report(
            "{% if m.thinking %}{{ '\\n<muse>\\n' + m.thinking + '\\n</muse>\\n' }}{% endif %}{{ m.content }}</bot>",
        );
        assert_eq!(writes(&report, "reasoning open"), ["1: <muse>"]);
        assert_eq!(writes(&report, "reasoning close"), ["1: </muse>"]);
    }

    #[test]
    fn a_macro_writes_a_marker() {
        let report = report(
            "{% macro shut(word) %}</{{ word }}>{% endmacro %}{{ m.content }}{{ shut('bot') }}",
        );
        assert_eq!(
            writes(&report, "turn end"),
            ["1: </", "1: bot", "1: >", "1: \n"]
        );
    }

    #[test]
    fn two_constants_write_a_marker() {
        let report = report("{{ m.content }}{{ '</' ~ 'bot>' }}");
        assert_eq!(writes(&report, "turn end"), ["1: </", "1: bot>", "1: \n"]);
    }

    #[test]
    fn an_input_writes_a_marker() {
        let report = report("{{ m.content + eos_token }}");
        assert_eq!(writes(&report, "turn end"), ["eos_token: </s>", "1: \n"]);
        let told: Vec<String> = report
            .evidence
            .iter()
            .filter(|found| found.decision == "turn end")
            .flat_map(|found| &found.places)
            .map(|place| place.describe("chat.jinja"))
            .collect();
        assert_eq!(told[0], "given by the input eos_token");
        assert!(told[1].starts_with("written at chat.jinja:1:"), "{told:?}");
    }

    #[test]
    fn a_computed_marker_has_the_place_that_computes_it() {
        let report = report("{{ m.content }}{{ '</BOT>' | lower }}");
        let places = report.evidence.iter().flat_map(|found| &found.places);
        let told: Vec<String> = places.map(|place| place.describe("x")).collect();
        assert!(
            told.iter().any(|told| told.starts_with("computed at x:1:")),
            "{told:?}"
        );
    }

    #[test]
    fn what_fills_a_slot_is_an_input() {
        let report = report(
            "{{ m.content }}{% for call in m.tool_calls %}<call {{ call.function.name }}>\
             {{ call.function.arguments | tojson }}</call {{ call.function.name }}>{% endfor %}</bot>",
        );
        let close = writes(&report, "tool call close");
        assert_eq!(close.len(), 3, "{close:?}");
        assert_eq!(close[0], "1: </call ");
        assert_eq!(
            close[1],
            "messages[1].tool_calls[0].function.name: fetch_lumen"
        );
        let mut found = report.evidence.iter();
        let found = found.find(|found| found.decision == "tool call close");
        assert!(found.unwrap().marker.contains("NAME"), "slots are words");
    }

    #[test]
    fn slots_and_white_space_are_matched() {
        let name = probe::call(1).name;
        let text = format!("</{name}>");
        assert_eq!(
            length(&format!("</{}>", slot::NAME), &text, false),
            Some(text.len())
        );
        assert_eq!(length(&format!("</{}>", slot::ID), &text, false), None);
        assert_eq!(length("<a> <b>", "<a>\n\n<b>c", true), Some(8));
        assert_eq!(length("<a> <b>", "<a><b>c", true), Some(6));
        assert_eq!(length("<a> <b>", "<a><b>c", false), None);
    }
}
