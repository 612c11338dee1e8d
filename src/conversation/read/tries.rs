//! Tries: one reading is rendered until its render agrees with the text, with other values for what the text does not decide.
//!
//! Two things are varied: the variables beside the conversation (`enable_thinking` true or false), and the message that a turn near the
//! difference is read as. A change is kept if the render then agrees with the text further than before, so that this is a hill climb,
//! and it ends. Each try costs a render, and there are at most [`MAX_TRIES`] for one text.

use super::compared::{Compared, compare};
use super::draft::{Draft, completed};
use super::{Reader, ids};
use crate::conversation::render::{Renderer, Talk};
use crate::value::{Map, Value, json};

/// How many conversations are rendered to find the one that a text is the render of.
const MAX_TRIES: usize = 900;

/// How many of these are spent before the texts of turns may speak of delimiters.
const MAX_PLAIN_TRIES: usize = 300;

/// The kwargs of a reading that nothing checks: of the settings under which all of its steps occur the first.
pub(super) fn plain_kwargs(reader: &Reader<'_>, draft: &Draft) -> Map {
    let (settings, _) = settings(reader, draft);
    settings.into_iter().next().unwrap_or_default()
}

/// The settings under which a reading may have been rendered, the likeliest first, and how many of them its steps were seen under.
fn settings(reader: &Reader<'_>, draft: &Draft) -> (Vec<Map>, usize) {
    let all = &reader.format.settings;
    let common = |at: usize| draft.settings.iter().all(|some| some.contains(&at));
    let likely: Vec<usize> = if draft.settings.is_empty() {
        vec![0]
    } else {
        (0..all.len()).filter(|at| common(*at)).collect()
    };
    let others = (0..all.len()).filter(|at| !likely.contains(at));
    let mut found: Vec<Map> = Vec::new();
    let mut first = 0;
    for (number, at) in likely.iter().copied().chain(others).enumerate() {
        // What is printed may be a text, or the JSON of a value.
        for spelled in [false, true] {
            let mut setting = all.get(at).cloned().unwrap_or_default();
            for (name, value) in &draft.kwargs {
                let parsed = value
                    .as_str()
                    .filter(|_| spelled)
                    .and_then(|text| json::parse(text).ok());
                setting.insert(name.clone(), parsed.unwrap_or_else(|| value.clone()));
            }
            if !found.contains(&setting) {
                found.push(setting);
            }
        }
        if number < likely.len() {
            first = found.len();
        }
    }
    if found.is_empty() {
        found.push(draft.kwargs.clone());
    }
    (found, first.max(1))
}

/// A reading as it was rendered.
pub(super) struct Rendered {
    /// The bytes that its render has in common with the text, from the beginning.
    pub(super) shared: usize,
    /// True if its render is the text.
    pub(super) is_same: bool,
    /// True if there is space where the two differ.
    at_space: bool,
    pub(super) messages: Vec<Value>,
    pub(super) kwargs: Map,
    /// True if names and ids were put in that the text does not show.
    is_complete: bool,
}

/// How many renders are left, and what is tried.
pub(super) struct Tries {
    /// Of this attempt.
    pub(super) left: usize,
    /// Of all attempts.
    pub(super) all: usize,
    /// True if texts of turns may speak of delimiters.
    pub(super) speaks: bool,
    /// True if a reading was found, and a better one is looked for.
    pub(super) is_found: bool,
}

impl Tries {
    pub(super) fn new() -> Self {
        Self {
            left: 0,
            all: MAX_TRIES,
            speaks: false,
            is_found: false,
        }
    }

    /// Begins an attempt.
    pub(super) fn begin(&mut self, speaks: bool) {
        self.speaks = speaks;
        self.is_found = false;
        self.left = if speaks { self.all } else { MAX_PLAIN_TRIES }.min(self.all);
    }

    fn spend(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.all = self.all.saturating_sub(1);
    }

    /// The messages and kwargs of a reading that render to most of the text. `known` are the kwargs under which a reading agreed that this
    /// one comes of: others are tried only where these do not lead on.
    pub(super) fn settle(
        &mut self,
        reader: &Reader<'_>,
        renderer: &Renderer<'_>,
        draft: &mut Draft,
        text: &str,
        known: Option<&Map>,
    ) -> Rendered {
        let renderer = Renderer {
            clock: draft.clock.or(renderer.clock),
            ..*renderer
        };
        let (mut settings, likely) = settings(reader, draft);
        let place = known.and_then(|known| settings.iter().position(|one| one == known));
        if let Some(at) = place.filter(|at| draft.settings.is_empty() || *at < likely) {
            let first = settings.remove(at);
            settings.insert(0, first);
        }
        let mut best = self.render(&renderer, draft, &settings[0], text, None);
        if known.is_none() {
            self.other_settings(&renderer, draft, text, &settings[1..], &mut best);
        }
        self.other_turns(reader, &renderer, draft, text, &mut best);
        if known.is_some() && !best.is_same {
            let before = best.shared;
            // To find a better reading than one that is right is not worth a try of every variable.
            let others = match self.is_found {
                true => &settings[1..likely],
                false => &settings[1..],
            };
            self.other_settings(&renderer, draft, text, others, &mut best);
            if best.shared > before {
                self.other_turns(reader, &renderer, draft, text, &mut best);
            }
        }
        best
    }

    fn other_settings(
        &mut self,
        renderer: &Renderer<'_>,
        draft: &Draft,
        text: &str,
        settings: &[Map],
        best: &mut Rendered,
    ) {
        for kwargs in settings {
            if best.is_same || self.left == 0 {
                return;
            }
            let other = self.render(renderer, draft, kwargs, text, Some(best.is_complete));
            if other.is_same || other.shared > best.shared {
                *best = other;
            }
        }
    }

    /// Reads turns near the difference otherwise, as long as that makes it less.
    fn other_turns(
        &mut self,
        reader: &Reader<'_>,
        renderer: &Renderer<'_>,
        draft: &mut Draft,
        text: &str,
        best: &mut Rendered,
    ) {
        while !best.is_same && self.left > 0 {
            let shared = best.shared;
            let units = draft.turns.iter().enumerate().rev();
            let mut doubtful = units
                .filter(|(_, unit)| unit.range.start <= shared && !unit.written.is_empty())
                .map(|(at, _)| at)
                .take(2)
                .collect::<Vec<_>>();
            // A turn may be written otherwise because of one that follows.
            doubtful.extend((0..draft.turns.len()).filter(|at| {
                let unit = &draft.turns[*at];
                unit.range.start > shared && unit.readings.len() > 1
            }));
            let kwargs = best.kwargs.clone();
            if self.join_turns(renderer, draft, text, best) {
                continue;
            }
            let mut improved = None;
            for at in doubtful.into_iter().take(4) {
                let taken = draft.turns[at].taken;
                if draft.turns[at].range.start <= shared {
                    if best.at_space {
                        draft.space(at);
                    }
                    draft.type_arguments(at);
                    if self.speaks {
                        draft.speak(reader, text, at);
                    }
                }
                for other in 0..draft.turns[at].readings.len() {
                    if other == taken || self.left == 0 {
                        continue;
                    }
                    draft.turns[at].taken = other;
                    let complete = Some(best.is_complete);
                    let found = self.render(renderer, draft, &kwargs, text, complete);
                    let least = improved
                        .as_ref()
                        .map_or(shared, |(_, _, one): &(_, _, Rendered)| one.shared);
                    if found.is_same || found.shared > least {
                        improved = Some((at, other, found));
                    }
                }
                draft.turns[at].taken = taken;
                if improved.is_some() {
                    break;
                }
            }
            let Some((at, other, found)) = improved else {
                return;
            };
            draft.turns[at].taken = other;
            *best = found;
        }
    }

    /// Reads turns otherwise whose texts hold what begins and ends messages, if they render to the same.
    pub(super) fn show_turns(
        &mut self,
        reader: &Reader<'_>,
        renderer: &Renderer<'_>,
        draft: &mut Draft,
        text: &str,
        best: &mut Rendered,
    ) {
        let hidden = |reading: &Map| {
            reader
                .markers
                .hidden_in(reading.iter().map(|(_, value)| value))
        };
        for at in 0..draft.turns.len() {
            let unit = &draft.turns[at];
            let taken = unit.taken;
            let counts: Vec<usize> = unit.readings.iter().map(hidden).collect();
            let least = counts.get(taken).copied().unwrap_or_default();
            for (other, count) in counts.iter().enumerate() {
                if *count >= least || self.left == 0 {
                    continue;
                }
                draft.turns[at].taken = other;
                let complete = Some(best.is_complete);
                let found = self.render(renderer, draft, &best.kwargs.clone(), text, complete);
                if found.is_same {
                    *best = found;
                    break;
                }
                draft.turns[at].taken = taken;
            }
        }
    }

    /// Reads turns side by side as one message, which a chat template may write as two; returns true if the render then agrees further.
    fn join_turns(
        &mut self,
        renderer: &Renderer<'_>,
        draft: &mut Draft,
        text: &str,
        best: &mut Rendered,
    ) -> bool {
        for at in draft.joinable(best.shared) {
            if self.left == 0 {
                return false;
            }
            draft.turns[at].joins ^= true;
            let complete = Some(best.is_complete);
            let found = self.render(renderer, draft, &best.kwargs.clone(), text, complete);
            if found.is_same || found.shared > best.shared {
                *best = found;
                return true;
            }
            draft.turns[at].joins ^= true;
        }
        false
    }

    /// A reading rendered, as it is and with the names and ids that it lacks, or in one of the two ways where it is known which.
    fn render(
        &mut self,
        renderer: &Renderer<'_>,
        draft: &Draft,
        kwargs: &Map,
        text: &str,
        complete: Option<bool>,
    ) -> Rendered {
        let bare = draft.messages();
        let completed = completed(&bare);
        let mut ways = vec![(false, bare)];
        if completed != ways[0].1 {
            ways.push((true, completed));
            if let Some(complete) = complete {
                ways.retain(|(is_complete, _)| *is_complete == complete);
            }
        }
        let mut best: Option<Rendered> = None;
        for (is_complete, messages) in ways {
            self.spend();
            let mut talk = Talk {
                messages,
                tools: match draft.kept() {
                    // One tool stands in for the tools whose definitions were kept as text.
                    Some(_) => vec![crate::conversation::find::talks::tool(0)],
                    None => draft.tools.clone(),
                },
                kwargs: kwargs.clone(),
                prompt: draft.prompt,
            };
            let mut compared = compare(renderer, &talk, draft, text);
            for _ in 0..ids::MOST {
                let (Some(rendered), false) = (&compared.rendered, compared.is_same) else {
                    break;
                };
                let Compared {
                    shared,
                    rendered_to,
                    ..
                } = compared;
                let found = ids::found(&talk.messages, (rendered, rendered_to), (text, shared));
                let Some(messages) = found else { break };
                talk.messages = messages;
                compared = compare(renderer, &talk, draft, text);
            }
            let at_space = compared.at_space(text);
            let Compared {
                shared, is_same, ..
            } = compared;
            if is_same || best.as_ref().is_none_or(|best| shared > best.shared) {
                best = Some(Rendered {
                    shared,
                    is_same,
                    at_space,
                    messages: talk.messages,
                    kwargs: talk.kwargs,
                    is_complete,
                });
            }
            if is_same {
                break;
            }
        }
        best.unwrap_or(Rendered {
            shared: 0,
            is_same: false,
            at_space: false,
            messages: Vec::new(),
            kwargs: Map::new(),
            is_complete: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::from_text;
    use crate::conversation::format::ConversationFormat;

    /// A format that was seen with the variables of each setting.
    fn format(settings: &[&str]) -> ConversationFormat {
        let settings = settings.iter().map(|one| {
            let parsed = json::parse(one).expect("JSON");
            parsed.as_object().expect("an object").clone()
        });
        ConversationFormat {
            settings: settings.collect(),
            ..ConversationFormat::default()
        }
    }

    /// The kwargs that render to the text, and how many renders were made.
    fn settled(chat_template: &str, format: ConversationFormat, text: &str) -> (Rendered, usize) {
        let source = from_text("test", chat_template).expect("a chat template");
        let reader = Reader::with_source(format, &source, None);
        let renderer = reader.renderer.expect("a renderer");
        let mut tries = Tries::new();
        tries.begin(false);
        let found = tries.settle(&reader, &renderer, &mut Draft::default(), text, None);
        (found, MAX_PLAIN_TRIES - tries.left)
    }

    const LOUD: &str = "{{ 'LOUD' if loud else 'quiet' }}";

    #[test]
    fn the_variables_are_those_that_render_to_the_text() {
        let settings = ["{}", r#"{"loud": true}"#, r#"{"loud": 1}"#];
        let (found, renders) = settled(LOUD, format(&settings), "LOUD");
        assert!(found.is_same);
        assert_eq!(found.kwargs.get("loud"), Some(&Value::Bool(true)));
        // The third was not asked any more.
        assert_eq!(renders, 2);
    }

    #[test]
    fn where_none_renders_to_the_text_that_counts_which_shares_most() {
        let (found, _) = settled(LOUD, format(&["{}", r#"{"loud": true}"#]), "LOUDER");
        assert_eq!((found.is_same, found.shared), (false, 4));
        assert!(found.kwargs.contains_key("loud"));
    }

    #[test]
    fn settings_of_all_steps_come_before_others() {
        let format = format(&["{}", r#"{"a": 1}"#, r#"{"b": 1}"#]);
        let reader = Reader::new(format);
        let mut draft = Draft::default();
        draft.settings = vec![vec![1, 2], vec![2]];
        let (found, likely) = settings(&reader, &draft);
        assert_eq!((found.len(), likely), (3, 1));
        assert!(found[0].contains_key("b"));
        assert!(plain_kwargs(&reader, &draft).contains_key("b"));
    }

    #[test]
    fn a_text_with_delimiters_in_texts_has_what_is_left_of_all_tries() {
        let mut tries = Tries::new();
        tries.begin(false);
        assert_eq!(tries.left, MAX_PLAIN_TRIES);
        tries.spend();
        tries.begin(true);
        assert_eq!((tries.left, tries.speaks), (MAX_TRIES - 1, true));
    }
}
