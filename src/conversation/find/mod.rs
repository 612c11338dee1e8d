//! Finding the conversation format of a chat template.
//!
//! Conversations in which every kind of message stands behind every other are rendered, with tools and without, under every setting
//! that makes a difference, and on other days. The origins of the characters tell which stretches of a render are texts of messages
//! (`pieces`); what stands between two of them is a seam (`seams`). All seams that occur, with the response template that is derived
//! for the assistant's turns, are the format. Nothing is compared with what formats usually look like: a header is a header because it
//! stands before the text of a message.
//!
//! The renders are some hundreds, each a few messages long, whatever the chat template: the cost is linear in what one render costs.

mod cut;
mod definitions;
mod handing;
mod kept;
mod pieces;
mod seams;
mod settings;
mod silent;
pub(crate) mod talks;

use std::collections::{BTreeMap, BTreeSet};

use crate::chat_template::{ChatTemplateSource, Clock, RenderError};
use crate::conversation::format::{
    ConnectionPart, ConversationFormat, Encoding, Holds, InputText, VERSION, append, markers,
};
use crate::conversation::render::{Renderer, Talk};
use crate::response_template::Document;
use crate::value::Map;
use pieces::{Spot, What};
use seams::{Seam, Varying};
use talks::Dress;

/// A conversation format that was found, and how the chat template reads reasoning.
#[derive(Debug)]
pub(crate) struct FoundFormat {
    pub(crate) format: ConversationFormat,
    /// The key of the reasoning that the chat template reads.
    pub(crate) reasoning: String,
}

/// Finds the format; the assistant's turns are read with the response template, if there is one.
pub(crate) fn find(
    source: &ChatTemplateSource,
    response: Option<&Document>,
    clock: Option<Clock>,
) -> Result<FoundFormat, RenderError> {
    let reasoning = response
        .and_then(|document| {
            let mut fields = document.fields.keys();
            fields.find(|field| !["content", "tool_calls", "role"].contains(&field.as_str()))
        })
        .map_or("reasoning_content", String::as_str)
        .to_owned();
    let mut format = ConversationFormat {
        version: VERSION,
        response_template: response.map(Document::to_value),
        ..ConversationFormat::default()
    };
    let mut renderer = Renderer::new(source, clock);
    renderer.handing = handing::choose(renderer, format.template(), &reasoning)?;
    format.handing = renderer.handing;
    format.settings = settings::choose(&renderer, &reasoning);
    format.dates = dates(source);
    let mut bench = Bench {
        renderer,
        reasoning: &reasoning,
        seams: BTreeMap::new(),
        silent: BTreeMap::new(),
        varying: Varying::default(),
        written: BTreeMap::new(),
        layouts: definitions::Layouts::default(),
        reads_definitions: false,
    };
    bench.render_all(&format.settings);
    bench.write(&mut format);
    // What a chat template writes may hang on whether a text holds what it writes itself.
    bench.render_speaking(&markers::constants(&format));
    bench.write(&mut format);
    if !bench.reads_definitions && format.keeps_definitions() {
        bench.render_definitions();
        format.definitions = bench.layouts.layout();
    }
    Ok(FoundFormat { format, reasoning })
}

/// The formats of dates among the constants of the chat templates.
fn dates(source: &ChatTemplateSource) -> Vec<String> {
    let constants = source.templates.iter().flat_map(|(_, one)| one.constants());
    let is_format = |text: &&String| {
        let codes = text.matches('%').count();
        codes > 0
            && text.len() < 60
            && text.split('%').skip(1).all(|code| {
                let code = code.trim_start_matches('-');
                code.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%')
            })
    };
    let found: BTreeSet<String> = constants.filter(is_format).cloned().collect();
    found.into_iter().collect()
}

/// How many constants the texts of conversations are made to hold.
const MAX_CONSTANTS: usize = 48;

/// The renders, as they come in.
struct Bench<'a> {
    renderer: Renderer<'a>,
    reasoning: &'a str,
    /// The seams, each with the settings under which it was seen.
    seams: BTreeMap<Seam, BTreeSet<usize>>,
    /// The seams before and behind messages that show nothing.
    silent: BTreeMap<(Seam, Seam), BTreeSet<usize>>,
    varying: Varying,
    /// The ways in which each place may be written.
    written: BTreeMap<Spot, BTreeMap<Encoding, usize>>,
    /// How definitions of tools are written.
    layouts: definitions::Layouts,
    /// True if definitions are written as JSON where no variable says otherwise.
    reads_definitions: bool,
}

impl Bench<'_> {
    fn render_all(&mut self, settings: &[Map]) {
        let orders = talks::orders();
        for order in &orders {
            for tools in [0, 2] {
                self.add(order, tools, Dress::Plain, 0, settings);
            }
        }
        for order in talks::FEW {
            for (tools, dress) in [
                (1, Dress::Plain),
                (3, Dress::Plain),
                (4, Dress::Plain),
                (5, Dress::Plain),
                (6, Dress::Plain),
                (7, Dress::Plain),
                (9, Dress::Plain),
                (0, Dress::Signs),
                (2, Dress::Signs),
                (0, Dress::Bare),
                (1, Dress::Bare),
            ] {
                self.add(order, tools, dress, 0, settings);
            }
            for setting in 1..settings.len() {
                for tools in [0, 1, 2, 4, 5, 9] {
                    self.add(order, tools, Dress::Plain, setting, settings);
                }
            }
        }
        for setting in 1..settings.len() {
            for pair in talks::pairs() {
                self.add(&format!("u{pair}u"), 0, Dress::Plain, setting, settings);
            }
        }
        self.find_dates();
    }

    /// Renders conversations whose texts hold constants of the format: a chat template may leave out what a text already has.
    fn render_speaking(&mut self, constants: &[String]) {
        for constant in constants.iter().take(MAX_CONSTANTS) {
            for order in ["u", "su", "uau", "suaua", "du", "uctau"] {
                for tools in [0, 2] {
                    let mut talk = self.talk(order, tools, Dress::Plain);
                    talk.messages
                        .iter_mut()
                        .for_each(|message| talks::speak(message, constant));
                    for prompt in [false, true] {
                        talk.prompt = prompt;
                        self.note(&talk, 0);
                    }
                }
            }
        }
    }

    /// Renders tools of many kinds, for the layout of definitions that are no JSON.
    fn render_definitions(&mut self) {
        for tools in definitions::offers() {
            for order in ["u", "su"] {
                let talk = Talk {
                    tools: tools.clone(),
                    ..self.talk(order, 0, Dress::Plain)
                };
                if let Ok(traced) = self.renderer.traced(&talk) {
                    self.layouts.note(&traced, &talk.tools);
                }
            }
        }
    }

    fn talk(&self, order: &str, tools: usize, dress: Dress) -> Talk {
        talks::talk(order, tools, dress, self.reasoning)
    }

    fn add(&mut self, order: &str, tools: usize, dress: Dress, setting: usize, all: &[Map]) {
        for prompt in [false, true] {
            let talk = Talk {
                kwargs: all.get(setting).cloned().unwrap_or_default(),
                prompt,
                ..self.talk(order, tools, dress)
            };
            self.note(&talk, setting);
        }
    }

    /// Renders a conversation, and notes how it is written.
    fn note(&mut self, talk: &Talk, setting: usize) {
        let Ok(traced) = self.renderer.traced(talk) else {
            return;
        };
        let pieces = pieces::pieces(&traced, talk, &self.renderer);
        for piece in &pieces {
            if let What::InputText { spot, written, .. } = &piece.what {
                let counts = self.written.entry(spot.clone()).or_default();
                written
                    .iter()
                    .for_each(|encoding| *counts.entry(*encoding).or_default() += 1);
            }
        }
        let is_json = pieces.iter().any(|piece| match &piece.what {
            What::InputText { spot, .. } => {
                matches!(spot.holds, Holds::Definition | Holds::Definitions)
            }
            _ => false,
        });
        match is_json {
            true => self.reads_definitions |= setting == 0,
            false => self.layouts.note(&traced, &talk.tools),
        }
        let seams = seams::seams(&traced.text, &pieces, talk);
        self.varying.note(&seams);
        for seam in seams {
            self.seams.entry(seam).or_default().insert(setting);
        }
        if let Some(pieces) = silent::with_silent(&traced.text, &pieces, talk, &self.renderer) {
            let seams = seams::seams(&traced.text, &pieces, talk);
            let is_silent = |spot: &Option<Spot>| {
                let holds = spot.as_ref().map(|spot| spot.holds);
                holds == Some(Holds::Nothing)
            };
            let pairs = seams.windows(2).filter(|pair| is_silent(&pair[0].before));
            for pair in pairs {
                let pair = (pair[0].clone(), pair[1].clone());
                self.silent.entry(pair).or_default().insert(setting);
            }
        }
    }

    /// Which computed texts are others on another day.
    fn find_dates(&mut self) {
        let computed = |clock: Option<Clock>, order: &str, tools: usize| {
            let renderer = Renderer {
                clock,
                ..self.renderer
            };
            let talk = self.talk(order, tools, Dress::Plain);
            let traced = renderer.traced(&talk).ok()?;
            let pieces = pieces::pieces(&traced, &talk, &renderer);
            let found = pieces.into_iter().filter_map(|piece| match piece.what {
                What::Computed(place) => Some((place, traced.text[piece.range].to_owned())),
                _ => None,
            });
            Some(found.collect::<BTreeMap<_, _>>())
        };
        let mut dates = BTreeSet::new();
        for (order, tools) in [("u", 0), ("su", 0), ("u", 1), ("su", 1)] {
            let days = [(1987, 3, 14), (2011, 11, 26)];
            let [one, other] = days.map(|(y, m, d)| computed(Clock::date(y, m, d), order, tools));
            let (Some(one), Some(other)) = (one, other) else {
                continue;
            };
            let differing = one
                .iter()
                .filter(|(place, text)| other.get(place) != Some(text));
            dates.extend(differing.map(|(place, _)| *place));
        }
        self.varying.dates = dates;
    }

    /// Puts the format together.
    fn write(&self, format: &mut ConversationFormat) {
        let silent: Vec<(&(Seam, Seam), &BTreeSet<usize>)> = self
            .silent
            .iter()
            .filter(|(pair, _)| !self.is_told(pair))
            .collect();
        let pairs = silent.iter().flat_map(|((one, other), _)| [one, other]);
        let spots: BTreeSet<&Spot> = self
            .seams
            .keys()
            .chain(pairs.clone())
            .flat_map(|seam| seam.after.iter().chain(&seam.before))
            .collect();
        let index: BTreeMap<&Spot, usize> = spots.iter().copied().zip(0..).collect();
        format.places = spots.iter().map(|spot| self.place(spot)).collect();
        let mut seen: BTreeMap<cut::Between, BTreeSet<usize>> = BTreeMap::new();
        let settings = silent.iter().flat_map(|(_, settings)| [*settings; 2]);
        for (seam, settings) in self.seams.iter().chain(pairs.zip(settings)) {
            let between = cut::Between {
                after: seam.after.as_ref().map(|spot| index[spot]),
                before: seam.before.as_ref().map(|spot| index[spot]),
                within: seam.within,
                moved: seam.moved,
                resumes: seam.resumes,
                prompt: seam.prompt,
                parts: self.varying.parts(seam),
            };
            seen.entry(between).or_default().extend(settings);
        }
        let seen = kept::widened(seen);
        format.openers = cut::openers(&seen, &format.places);
        format.steps = cut::steps(&seen, &format.places);
    }

    /// Returns true if a message that shows nothing is written as one whose text is empty.
    fn is_told(&self, (one, other): &(Seam, Seam)) -> bool {
        let role = one.before.as_ref().and_then(|spot| spot.role.as_ref());
        let whole = |one: &Seam, other: &Seam| {
            let mut parts = self.varying.parts(one);
            for part in self.varying.parts(other) {
                append(&mut parts, part);
            }
            parts
        };
        let wanted = whole(one, other);
        let before = self.seams.keys().filter(|seam| {
            let spot = seam.before.as_ref();
            seam.after == one.after && spot.is_some_and(|spot| spot.role.as_ref() == role)
        });
        before.into_iter().any(|before| {
            let mut behind = self.seams.keys().filter(|seam| {
                let key = (&seam.after, &seam.before, seam.prompt);
                key == (&before.before, &other.before, other.prompt)
            });
            behind.any(|behind| whole(before, behind) == wanted)
        })
    }

    fn place(&self, spot: &Spot) -> InputText {
        let counts = self.written.get(spot);
        let most = counts.and_then(|counts| {
            // Of ways that explain the same renders the first is the plainest.
            counts
                .iter()
                .max_by_key(|(encoding, count)| (**count, std::cmp::Reverse(**encoding)))
        });
        InputText {
            holds: spot.holds,
            role: spot.role.clone(),
            key: spot.key.clone(),
            written: most.map_or(Encoding::Changed, |(encoding, _)| *encoding),
        }
    }
}

/// Returns true if a constant text is among the parts.
fn has_text(parts: &[ConnectionPart]) -> bool {
    parts.iter().any(|part| part.text().is_some())
}
