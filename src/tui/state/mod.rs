//! All that the debugger knows. It knows no terminal: a screen is what `view` makes of it.

mod allowed;
mod breakpoint;
mod derivation;
pub(crate) mod detail;
mod mode;
mod sample;
mod template;
mod told;
pub(crate) mod tree;

use std::collections::HashSet;
use std::time::Duration;

use ratatui::layout::Rect;

pub(crate) use allowed::{Allowed, Answer};
pub(crate) use breakpoint::{Breakpoint, Trigger};
pub(crate) use derivation::object;
pub use derivation::{Derivation, Marker};
pub(crate) use mode::{
    Asked, Confirm, Edited, Mode, Pick, Picked, Prompt, Quit, Saves, Shown, breakpoint_row,
};
pub use sample::{Conversation, Sample};
pub use template::Template;
pub(crate) use told::Told;

use super::layout::{self, Layout, Pane};
use super::text::{Editor, Motion, Rows};
use crate::chat_template::ChatTemplateSource;
use crate::chunking::{Chunking, ChunkingError, Tokens};
use crate::parser::{Options, Utf8Decoder};
use crate::replay::{Arrival, Moment, Recorder, Timeline};
use crate::value::{Map, Path, Value};

/// The setup that a debugger begins with.
#[derive(Debug)]
pub struct Setup {
    /// The response template.
    pub template: Template,
    /// The responses; the first one is shown. There is an empty one when there is none.
    pub samples: Vec<Sample>,
    /// How they are cut.
    pub chunking: Chunking,
    /// The options of the parser: its limits, and which delimiters count. Errors are kept and shown whatever it says of them.
    pub options: Options,
    /// The derivation of the response template.
    pub derivation: Option<Derivation>,
    /// The chat template that belongs to it, by which is told what a model may write next.
    pub chat_template: Option<ChatTemplateSource>,
    /// Where to begin: how many bytes of the response have arrived.
    pub byte: usize,
    /// The breakpoints, as they are written: `field NAME`, `event KIND`, `text TEXT`. What cannot be read is left out.
    pub breakpoints: Vec<String>,
}

impl Setup {
    /// A response template with its responses, and nothing else.
    pub fn new(template: Template, samples: Vec<Sample>) -> Self {
        Self {
            template,
            samples,
            chunking: Chunking::default(),
            options: Options::default(),
            derivation: None,
            chat_template: None,
            byte: 0,
            breakpoints: Vec::new(),
        }
    }
}

/// Playing: how fast, and the time that has gone into no step yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Play {
    pub(crate) rate: usize,
    pub(crate) on: bool,
    pub(crate) waited: Duration,
}

/// The chunks a second that can be chosen.
pub(crate) const RATES: [usize; 9] = [1, 2, 5, 10, 20, 50, 200, 1000, 10_000];

/// Something to tell in the last line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) is_bad: bool,
}

/// Where a pane shows its content from, and which of its rows is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Scroll {
    pub(crate) top: usize,
    pub(crate) row: usize,
}

/// All that the debugger knows.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) template: Template,
    pub(crate) samples: Vec<Sample>,
    pub(crate) sample: usize,
    pub(crate) chunking: Chunking,
    /// The tokenizer that was asked for last.
    pub(crate) tokens: Option<Tokens>,
    pub(crate) options: Options,
    pub(crate) derivation: Option<Derivation>,
    pub(crate) chat_template: Option<ChatTemplateSource>,
    /// The grammar of what may be written; `None` while nobody asks for it.
    pub(crate) allowed: Option<Allowed>,
    /// The parse in the chosen chunks.
    pub(crate) recorder: Recorder,
    /// The parse in single characters, recorded when a step needs it.
    pub(crate) fine: Option<Timeline>,
    pub(crate) place: Arrival,
    /// The chosen entry of the events; the last one that has happened when there is none.
    pub(crate) entry: Option<usize>,
    /// The chosen step of the message's growth; the last one that was told when there is none.
    pub(crate) grown: Option<usize>,
    pub(crate) message: Map,
    /// The message before the last move.
    pub(crate) before: Map,
    pub(crate) folded: HashSet<Path>,
    /// The rows of the message's tree.
    pub(crate) message_rows: usize,
    /// True if the sample parses to something else than it must.
    pub(crate) is_unexpected: bool,
    pub(crate) focus: Pane,
    pub(crate) zoom: bool,
    pub(crate) mode: Mode,
    /// The response or the prefix while it is edited.
    pub(crate) draft: Editor,
    pub(crate) play: Play,
    pub(crate) breakpoints: Vec<Breakpoint>,
    pub(crate) search: String,
    pub(crate) field: Option<usize>,
    pub(crate) all_spaces: bool,
    pub(crate) notice: Option<Notice>,
    pub(crate) decoder: Utf8Decoder,
    /// True if the cursor goes along with what arrives.
    pub(crate) follows: bool,
    pub(crate) area: Rect,
    pub(crate) rows: Rows,
    /// Counts the texts that the response pane has shown; the rows were made of one of them.
    pub(crate) version: usize,
    rows_of: usize,
    pub(crate) template_rows: Rows,
    /// True if the response was scrolled by hand since the last move.
    pub(crate) scrolled: bool,
    pub(crate) scrolls: [Scroll; 7],
}

impl State {
    pub(crate) fn new(setup: Setup) -> Self {
        let mut samples = setup.samples;
        if samples.is_empty() {
            samples.push(Sample::new("empty", ""));
        }
        let breakpoints = setup
            .breakpoints
            .iter()
            .filter_map(|text| text.parse().ok());
        let options = setup.options;
        let (recorder, failed) = record(&setup.template, &samples[0], &setup.chunking, options);
        let follows = samples[0].live;
        let mut state = Self {
            recorder,
            fine: None,
            place: Arrival {
                byte: setup.byte,
                over: false,
            },
            entry: None,
            grown: None,
            message: Map::new(),
            before: Map::new(),
            folded: HashSet::new(),
            message_rows: 0,
            is_unexpected: false,
            focus: Pane::Response,
            zoom: false,
            mode: Mode::Normal,
            draft: Editor::default(),
            play: Play {
                rate: RATES[4],
                on: false,
                waited: Duration::ZERO,
            },
            breakpoints: breakpoints
                .map(|at| Breakpoint { at, enabled: true })
                .collect(),
            search: String::new(),
            field: None,
            all_spaces: false,
            notice: None,
            decoder: Utf8Decoder::default(),
            follows,
            area: Rect::new(0, 0, 80, 24),
            rows: Rows::default(),
            version: 1,
            rows_of: 0,
            template_rows: Rows::default(),
            scrolled: false,
            scrolls: [Scroll::default(); 7],
            template: setup.template,
            samples,
            sample: 0,
            tokens: match &setup.chunking {
                Chunking::Tokens(tokens) => Some(tokens.clone()),
                _ => None,
            },
            chunking: setup.chunking,
            options,
            derivation: setup.derivation,
            chat_template: setup.chat_template,
            allowed: None,
        };
        state.tell_trouble();
        state.tell_failed(failed);
        state.settle();
        state.refresh();
        state.before = state.message.clone();
        state.compare();
        state
    }

    pub(crate) fn sample(&self) -> &Sample {
        &self.samples[self.sample]
    }

    /// The edits that are in no file, each in a few words.
    pub(crate) fn unsaved(&self) -> Vec<String> {
        let template = self.template.is_changed().then(|| {
            let path = self.template.path.as_ref();
            path.map_or_else(
                || "the template".to_owned(),
                |path| format!("the template, {}", path.display()),
            )
        });
        let samples = self.samples.iter().filter(|sample| sample.is_edited());
        let samples = samples.map(|sample| format!("the response of {}", sample.name));
        template.into_iter().chain(samples).collect()
    }

    pub(crate) fn timeline(&self) -> &Timeline {
        self.recorder.timeline()
    }

    /// The parse at the place.
    pub(crate) fn now(&self) -> Moment<'_> {
        let timeline = self.timeline();
        match (timeline.step_at(self.place), &self.fine) {
            (Ok(step), _) | (Err(step), None) => timeline.at(step),
            (Err(_), Some(fine)) => match fine.step_at(self.place) {
                Ok(step) | Err(step) => fine.at(step),
            },
        }
    }

    /// Returns true if the place lies within a chunk, and is shown as if characters arrived one by one.
    pub(crate) fn is_within_chunk(&self) -> bool {
        self.timeline().step_at(self.place).is_err()
    }

    /// Chooses no entry and no step of growth, so that the last one of each counts.
    pub(crate) fn choose_last(&mut self) {
        self.entry = None;
        self.grown = None;
    }

    /// The number of the entry that is chosen.
    pub(crate) fn chosen(&self) -> Option<usize> {
        chosen_of(self.entry, self.now().entries().len())
    }

    /// The number of the step of the message's growth that is chosen.
    pub(crate) fn chosen_growth(&self) -> Option<usize> {
        chosen_of(self.grown, self.now().told().len())
    }

    /// Makes the place one that there is.
    pub(crate) fn settle(&mut self) {
        let timeline = self.timeline();
        if let Err(step) = timeline.step_at(self.place) {
            let exact = self.fine.as_ref().map(|fine| fine.step_at(self.place));
            if !matches!(exact, Some(Ok(_))) {
                self.place = timeline.place(step);
            }
        }
    }

    /// Shows another sample, from its beginning.
    pub(crate) fn show_sample(&mut self, number: usize) {
        self.sample = number;
        self.place = Arrival::default();
        self.follows = false;
        self.rerun();
        self.tell_trouble();
    }

    /// Parses the sample anew, and stays at the byte.
    pub(crate) fn rerun(&mut self) {
        let sample = &self.samples[self.sample];
        let (recorder, failed) = record(&self.template, sample, &self.chunking, self.options);
        self.recorder = recorder;
        self.tell_failed(failed);
        self.fine = None;
        self.version += 1;
        let timeline = self.recorder.timeline();
        if let Err(step) = timeline.step_at(self.place) {
            // The byte is within a chunk: the chunk's end is shown, unless characters were stepped over.
            let last = timeline.len() - 1;
            let next = (step + 1).min(last);
            self.place = if timeline.place(next).byte >= self.place.byte {
                timeline.place(next)
            } else {
                timeline.place(step)
            };
        }
        self.choose_last();
        self.refresh();
        self.compare();
    }

    /// Brings up to date what follows from the place.
    pub(crate) fn refresh(&mut self) {
        let message = self.now().message();
        self.before = std::mem::replace(&mut self.message, message);
        self.count_rows();
    }

    /// Holds what has arrived to the grammar, where that is asked for.
    pub(crate) fn follow_grammar(&mut self) {
        let Some(allowed) = &mut self.allowed else {
            return;
        };
        let sample = &self.samples[self.sample];
        let end = sample.response.floor_char_boundary(self.place.byte);
        allowed.follow(
            self.chat_template.as_ref(),
            &self.template.compiled,
            (&sample.prefix, &sample.tools),
            &sample.response[..end],
        );
    }

    /// Folds a member of the message, or unfolds it.
    pub(crate) fn fold(&mut self, path: Path) {
        if !self.folded.remove(&path) {
            self.folded.insert(path);
        }
        self.count_rows();
    }

    fn count_rows(&mut self) {
        self.message_rows = tree::count(&self.message, &self.folded);
    }

    /// The parse in single characters.
    pub(crate) fn fine(&mut self) -> &Timeline {
        let sample = &self.samples[self.sample];
        self.fine.get_or_insert_with(|| {
            let characters = sample.response.char_indices();
            let ends: Vec<usize> = characters.map(|(at, c)| at + c.len_utf8()).collect();
            Timeline::record(
                &self.template.compiled,
                &sample.prefix,
                &sample.tools,
                self.options,
                &sample.response,
                &ends,
            )
        })
    }

    /// Asks for a line, which begins as `text`.
    pub(crate) fn ask(&mut self, asked: Asked, text: &str) {
        let mut editor = Editor::new(text);
        editor.go(Motion::End);
        self.enter(Mode::Prompt(Prompt { asked, editor }));
    }

    /// Makes a sample of its own of what is there of a response that is still arriving, so that it can be worked on while the rest goes on
    /// arriving.
    pub(crate) fn detach(&mut self) {
        if !self.sample().live {
            return;
        }
        let copy = Sample {
            live: false,
            name: format!("{} (copy)", self.sample().name),
            ..self.sample().clone()
        };
        self.samples.push(copy);
        self.sample = self.samples.len() - 1;
        self.chunking = Chunking::Recorded;
        self.follows = false;
        self.rerun();
        self.tell("a copy of what has arrived; o goes back to the response that is arriving");
    }

    /// Changes what the keys mean.
    pub(crate) fn enter(&mut self, mode: Mode) {
        self.mode = mode;
        self.version += 1;
    }

    pub(crate) fn scroll(&self, pane: Pane) -> &Scroll {
        &self.scrolls[pane as usize]
    }

    pub(crate) fn scroll_mut(&mut self, pane: Pane) -> &mut Scroll {
        &mut self.scrolls[pane as usize]
    }

    pub(crate) fn tell(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice {
            text: text.into(),
            is_bad: false,
        });
    }

    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice {
            text: text.into(),
            is_bad: true,
        });
    }

    /// Tells what there is to know of the sample.
    pub(crate) fn tell_trouble(&mut self) {
        if let Some(trouble) = self.sample().trouble.clone() {
            self.warn(trouble);
        }
    }

    /// Tells that the response is not cut as was asked.
    fn tell_failed(&mut self, failed: Option<ChunkingError>) {
        if let Some(error) = failed {
            self.warn(format!("{error}; it is cut into words"));
        }
    }

    /// Compares what the sample parses to with what it must parse to.
    pub(crate) fn compare(&mut self) {
        let expected = self.sample().expected.as_ref();
        let last = self.timeline().at(self.timeline().len() - 1);
        self.is_unexpected =
            expected.is_some_and(|expected| *expected != Value::Object(last.message()));
    }

    pub(crate) fn layout(&self) -> Layout {
        let told = Told::of(self).map_or(0, |told| told.rows(self.area.width).len());
        let has_derivation = self.derivation.is_some();
        layout::of(self.area, self.focus, self.zoom, has_derivation, told)
    }

    /// The text that the response pane shows: what is parsed, or what is edited.
    pub(crate) fn shown_text(&self) -> &str {
        match &self.mode {
            Mode::Edit(Edited::Response | Edited::Prefix) => self.draft.text(),
            _ => self.timeline().text(),
        }
    }

    /// Fits to a screen: wraps what is shown, and scrolls to where the cursor is.
    pub(crate) fn fit(&mut self, area: Rect) {
        self.area = area;
        let layout = self.layout();
        if let Some(rect) = layout.content(Pane::Response) {
            let width = layout::text_width(rect);
            if self.rows.width() != width || self.rows_of != self.version {
                self.rows = Rows::new(self.shown_text(), width);
                self.rows_of = self.version;
            } else if self.rows.length() < self.shown_text().len() {
                let mut rows = std::mem::take(&mut self.rows);
                rows.grow(self.shown_text());
                self.rows = rows;
            }
            let byte = match &self.mode {
                Mode::Edit(Edited::Response | Edited::Prefix) => self.draft.cursor(),
                _ => self.now().fed(),
            };
            let row = self.rows.row_of(byte);
            let (count, scrolled) = (self.rows.count(), self.scrolled);
            let scroll = self.scroll_mut(Pane::Response);
            scroll.row = row;
            keep_in_view(scroll, usize::from(rect.height), count, !scrolled);
        }
        if let Some(rect) = layout.content(Pane::Template) {
            let width = layout::text_width(rect);
            self.template_rows = Rows::new(self.template.text(), width);
            let count = self.template_rows.count();
            let at = match &self.mode {
                Mode::Edit(Edited::Template) => Some(self.template.editor.cursor()),
                _ => None,
            };
            let row = at.map(|byte| self.template_rows.row_of(byte));
            let told = self.template.told(rect).len();
            let height = usize::from(layout::template_height(rect, told));
            let scroll = self.scroll_mut(Pane::Template);
            scroll.row = row.unwrap_or(scroll.top);
            keep_in_view(scroll, height, count, row.is_some());
        }
        if let Some(rect) = layout.content(Pane::Events) {
            let row = self.chosen().unwrap_or(0);
            let count = self.now().entries().len();
            let scroll = self.scroll_mut(Pane::Events);
            scroll.row = row;
            keep_in_view(scroll, usize::from(rect.height), count, true);
        }
        if let Some(rect) = layout.content(Pane::Deltas) {
            let row = self.chosen_growth().unwrap_or(0);
            let count = self.now().told().len();
            let scroll = self.scroll_mut(Pane::Deltas);
            scroll.row = row;
            keep_in_view(scroll, usize::from(rect.height), count, true);
        }
        if let Some(rect) = layout.content(Pane::Message) {
            let count = self.message_rows;
            let height = usize::from(layout::tree_height(rect, self.now().open().is_some()));
            let scroll = self.scroll_mut(Pane::Message);
            scroll.row = scroll.row.min(count.saturating_sub(1));
            keep_in_view(scroll, height, count, true);
        }
    }
}

/// The one of so many that is chosen: the last one unless another was.
fn chosen_of(chosen: Option<usize>, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(chosen.unwrap_or(last).min(last))
}

/// Scrolls so that no more rows are missing at the end than need be and, if asked, the chosen row is shown.
fn keep_in_view(scroll: &mut Scroll, height: usize, count: usize, follow: bool) {
    if follow {
        // A row beside the chosen one is shown too, where there is room.
        let margin = usize::from(height > 4);
        if scroll.row < scroll.top + margin {
            scroll.top = scroll.row.saturating_sub(margin);
        } else if scroll.row + margin >= scroll.top + height {
            scroll.top = (scroll.row + margin + 1).saturating_sub(height);
        }
    }
    scroll.top = scroll.top.min(count.saturating_sub(height.max(1)));
}

/// The parse of a sample, in words where it cannot be cut as is asked.
fn record(
    template: &Template,
    sample: &Sample,
    chunking: &Chunking,
    options: Options,
) -> (Recorder, Option<ChunkingError>) {
    let mut recorder = Recorder::new(&template.compiled, &sample.prefix, &sample.tools, options);
    let (ends, failed) = sample.ends(chunking);
    for end in ends {
        recorder.feed_to(&sample.response, end);
    }
    if !sample.live {
        recorder.finish();
    }
    (recorder, failed)
}
