//! The search for the slots in which the chat template takes texts beside the content, and for the manners in which it shows calls. Every
//! key that the chat template asks for is given a text. A key counts, whatever it is called, if that text is then in the model's turn. The
//! text may stand under a key, under a key within a key, or in a part of the content.

use super::calls_alone;
use super::manner::{KNOWN, Manner};
use super::message::{Assistant, content_to_parts};
use super::probes;
use super::renderer::{Conversation, Renderer};
use super::slot::Slot;
use crate::chat_template::REASONING_KEYS;
use crate::value::{Map, Value, json, python};

/// How many types of parts are tried.
const MAX_PARTS: usize = 24;

/// How many keys of a message are tried.
const MAX_KEYS: usize = 24;

/// A type of parts, and a key, that no chat template knows.
const INVENTED: &str = "herald";

/// Keys of the chat format that say who speaks, or to which call a message answers: nothing that a model writes.
const OF_ANYONE: [&str; 2] = ["name", "tool_call_id"];

/// The beginning of all paths into messages.
const MESSAGE: &str = "messages[].";

/// The slots in which the chat template takes texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    /// The slots that show their texts at once, each its own; the first is the reasoning's.
    pub(super) distinct: Vec<Slot>,
    /// Other keys under which a text renders as it does under the first of the slots.
    pub(super) aliases: Vec<String>,
    /// Those under which calls are handed over as the text that is written of them: it stands where calls do.
    pub(super) of_calls: Vec<Slot>,
    /// Those keys that the chat template asks for under which transformers hands on a reasoning.
    pub(super) reasoning_asked: Vec<String>,
}

/// Finds where texts are taken, in any of the places; calls are handed over in the manner `calling`.
pub(super) fn find(
    renderer: &Renderer<'_>,
    places: &[Conversation],
    usual: &Manner,
    calling: Option<&Manner>,
) -> Slots {
    let bench = Bench {
        renderer,
        places,
        usual,
        calling,
    };
    let mut slots = Slots::default();
    for key in bench.asked() {
        if REASONING_KEYS.contains(&key.as_str()) {
            slots.reasoning_asked.push(key.clone());
        }
        let slot = Slot::Key(vec![key.clone()]);
        let found = if bench.shows(&slot) {
            Some(slot)
        } else {
            bench.nested(&key)
        };
        match found {
            Some(slot) if bench.is_of_calls(&slot) => slots.of_calls.push(slot),
            Some(slot) => bench.add(slot, &mut slots),
            None => {}
        }
    }
    // Transformers hands a reasoning on under several names, whichever it came under, so the other names count as well.
    for name in REASONING_KEYS {
        let slot = Slot::Key(vec![name.to_owned()]);
        let is_new =
            !slots.distinct.contains(&slot) && !slots.aliases.iter().any(|known| known == name);
        if let Some(first) = slots.distinct.first().filter(|_| is_new)
            && bench.alike(&slot, first)
        {
            slots.aliases.push(name.to_owned());
        }
    }
    if bench.walks_over_parts() {
        // If parts of an invented type are shown too, the chat template shows the text of any part, as it shows content.
        let invented = |key: &str| Slot::Part {
            kind: INVENTED.to_owned(),
            key: key.to_owned(),
        };
        let shows_any = bench.shows(&invented("text"));
        for slot in bench.parts() {
            let Slot::Part { key, .. } = &slot else {
                continue;
            };
            let is_any = if key == "text" {
                shows_any
            } else {
                bench.shows(&invented(key))
            };
            if !is_any && bench.shows(&slot) && !bench.is_content(&slot) {
                bench.add(slot, &mut slots);
            }
        }
    }
    slots
}

/// The manners in which the texts of a call are shown, in any of the places.
///
/// A chat template that takes objects for arguments and writes a text as JSON once more (`{{ call.arguments | tojson }}` does both) is given
/// objects alone: in the usual form a message then has no JSON within JSON, and a response template that reads nothing else would lose it.
///
/// One that prints an object as Python does (`{{ call.arguments }}` writes `{'city': 'Rome'}`) is made for arguments as text, and is given those alone where it prints
/// them as they are: models write JSON there, as they were trained.
pub(super) fn calling(
    renderer: &Renderer<'_>,
    places: &[Conversation],
    usual: &Manner,
) -> Vec<Manner> {
    let call = probes::call(0);
    let texts: Vec<&str> = call.arguments.values().filter_map(Value::as_str).collect();
    let message = Assistant::calling([call.clone()]);
    let mut shown: Vec<(Manner, String)> = Vec::new();
    let followed = Manner {
        is_followed: true,
        ..usual.clone()
    };
    for manner in usual.of_calls().into_iter().chain(followed.of_calls()) {
        let is_needless = || !shown.is_empty() || !renderer.speaks_of_calls();
        if manner == followed && is_needless() {
            break;
        }
        let written = manner.write(&message, None);
        let with_tools = places.iter().filter(|place| place.tools.is_some());
        let turn = with_tools.into_iter().find_map(|place| {
            let full = renderer.answered(place, &written, &manner).ok()?;
            let turn = &full[place.end_in(&full)..];
            let is_shown = texts.iter().all(|text| turn.contains(text));
            is_shown.then(|| turn.to_owned())
        });
        let Some(turn) = turn else { continue };
        let is_written_again = match manner.arguments.write(&call.arguments) {
            Value::String(text) => !turn.contains(&text),
            _ => false,
        };
        let objects = manner.with_objects();
        let has_objects = shown.iter().any(|(other, _)| *other == objects);
        if !(is_written_again && has_objects) {
            shown.push((manner, turn));
        }
    }
    let object = Value::Object(call.arguments.clone());
    let (as_python, as_json) = (python::repr(&object), json::to_string(&object));
    let is_meant_as_text = |(manner, turn): &(Manner, String)| {
        let mut others = shown.iter();
        let is_same = |other: &str| turn.replace(&as_python, &as_json) == other;
        turn.contains(&as_python)
            && others.any(|(other, text)| {
                other != manner && other.with_objects() == *manner && is_same(text)
            })
    };
    let kept: Vec<bool> = shown.iter().map(|one| !is_meant_as_text(one)).collect();
    let all = shown.into_iter().zip(kept);
    let all = all.filter_map(|((manner, _), is_kept)| is_kept.then_some(manner));
    let tooled = places.iter().find(|place| place.tools.is_some());
    let headed = all.map(|manner| Manner {
        is_headless: !manner.is_followed
            && tooled.is_some_and(|place| calls_alone::is_headless(renderer, place, &manner)),
        ..manner
    });
    headed.collect()
}

struct Bench<'b, 'a> {
    renderer: &'b Renderer<'a>,
    places: &'b [Conversation],
    usual: &'b Manner,
    calling: Option<&'b Manner>,
}

impl Bench<'_, '_> {
    /// An answer, and a call where calls are rendered, each with a text at `slot`.
    fn messages(&self, place: &Conversation, slot: Option<&Slot>) -> Vec<(Value, Manner)> {
        let with = |manner: &Manner, message: Assistant| {
            let manner = Manner {
                reasoning: slot.cloned(),
                ..manner.clone()
            };
            let message = message.thinking(probes::REASONING);
            (manner.write(&message, None), manner)
        };
        let mut messages = vec![with(self.usual, Assistant::saying(probes::CONTENT))];
        if let (Some(manner), Some(_)) = (self.calling, &place.tools) {
            messages.push(with(manner, Assistant::calling([probes::call(0)])));
        }
        messages
    }

    /// The keys that are asked for of an assistant's message itself, but for those that everyone knows.
    fn asked(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for place in self.places {
            for (message, manner) in self.messages(place, None) {
                let Ok(reads) = self.renderer.reads(place, &message, &manner) else {
                    continue;
                };
                for path in reads.of_role("assistant") {
                    let key = path.strip_prefix(MESSAGE).filter(|key| is_name(key));
                    if let Some(key) = key
                        && !KNOWN.contains(&key)
                        && !OF_ANYONE.contains(&key)
                        && !keys.iter().any(|known| known == key)
                        && keys.len() < MAX_KEYS
                    {
                        keys.push(key.to_owned());
                    }
                }
            }
        }
        // The names that everyone knows of a reasoning come first.
        keys.sort_by_key(|key| !REASONING_KEYS.contains(&key.as_str()));
        keys
    }

    /// Returns true if the parts of an assistant's content are told apart by their type.
    fn walks_over_parts(&self) -> bool {
        self.places.iter().any(|place| {
            let mut message = self.usual.write(&Assistant::saying(probes::CONTENT), None);
            content_to_parts(&mut message);
            let reads = self.renderer.reads(place, &message, self.usual);
            reads.is_ok_and(|reads| reads.has_for("assistant", "messages[].content[].type"))
        })
    }

    /// Parts of the types that the chat template may know by name, with their text under that name or under `text`.
    fn parts(&self) -> Vec<Slot> {
        let templates = self.renderer.source().templates.iter();
        let words = templates.flat_map(|(_, template)| template.constants());
        let words = words.filter(|word| is_name(word) && *word != "text");
        let slots = words.take(MAX_PARTS).flat_map(|word| {
            [word.as_str(), "text"].map(|key| Slot::Part {
                kind: word.clone(),
                key: key.to_owned(),
            })
        });
        slots.collect()
    }

    /// Returns true if a model writes the text at the slot. In some place, the text stands behind a prompt from which the turn goes on; or
    /// it stands in the turn, and nowhere in the turn's header. What stands behind that with which another place's prompt ends is in no header.
    fn shows(&self, slot: &Slot) -> bool {
        let (mut is_shown, mut is_header) = (false, false);
        let mut heads: Vec<String> = Vec::new();
        for place in self.places {
            for (message, manner) in self.messages(place, Some(slot)) {
                let Ok(full) = self.renderer.answered(place, &message, &manner) else {
                    continue;
                };
                let words_end = place.end_in(&full);
                let Some(at) = full[words_end..].find(probes::REASONING) else {
                    continue;
                };
                let prompt = self.renderer.prompt(place, &manner);
                if prompt.is_ok_and(|prompt| full.starts_with(&prompt)) {
                    return true;
                }
                let (head, after) = full[words_end..].split_at(at);
                is_header |= self.is_header(place, &manner, &after[probes::REASONING.len()..]);
                is_shown = true;
                heads.push(head.to_owned());
            }
        }
        is_shown && (!is_header || heads.iter().any(|head| self.ends_a_prompt(head)))
    }

    /// Returns true if a prompt, in any of the places, adds this text to the words before it.
    fn ends_a_prompt(&self, head: &str) -> bool {
        self.places.iter().any(|place| {
            let prompt = self.renderer.prompt(place, self.usual);
            !head.is_empty() && prompt.is_ok_and(|prompt| prompt[place.end_in(&prompt)..] == *head)
        })
    }

    /// Returns true if a text stands in the header of the turn, which no model writes. Behind it, in `after`, the header then goes on as
    /// the prompt ends, and the answer follows as it does without the text.
    fn is_header(&self, place: &Conversation, manner: &Manner, after: &str) -> bool {
        let without = manner.write(&Assistant::saying(probes::CONTENT), None);
        let (Ok(prompt), Ok(full)) = (
            self.renderer.prompt(place, manner),
            self.renderer.answered(place, &without, manner),
        ) else {
            return false;
        };
        let rest = full.strip_prefix(&prompt);
        let header = rest.and_then(|rest| after.strip_suffix(rest));
        header.is_some_and(|header| !header.is_empty() && prompt.ends_with(header))
    }

    /// Returns the slot within an object under the key where a text is taken. An object with a name and arguments is a call by another key, as `function_call` was
    /// before there were several: what stands in it is no text of the message.
    fn nested(&self, key: &str) -> Option<Slot> {
        let prefix = format!("{MESSAGE}{key}.");
        for place in self.places {
            for (mut message, manner) in self.messages(place, None) {
                if let Value::Object(members) = &mut message {
                    // The object is not empty: many templates test if it is before they ask for what is in it.
                    let invented = Map::from_iter([(INVENTED.to_owned(), Value::from(INVENTED))]);
                    members.insert(key, Value::Object(invented));
                }
                let Ok(reads) = self.renderer.reads(place, &message, &manner) else {
                    continue;
                };
                let inner = reads.of_role("assistant").filter_map(|path| {
                    let inner = path.strip_prefix(&prefix)?;
                    is_name(inner).then(|| inner.to_owned())
                });
                let inner: Vec<String> = inner.collect();
                let is_read = |key: &&str| inner.iter().any(|inner| inner == key);
                if ["name", "arguments"].iter().all(is_read) {
                    continue;
                }
                for inner in inner {
                    let slot = Slot::Key(vec![key.to_owned(), inner]);
                    if self.shows(&slot) {
                        return Some(slot);
                    }
                }
            }
        }
        None
    }

    /// Returns true if a part is the content by another name: in every place it renders, alone, as a part with the content would.
    fn is_content(&self, slot: &Slot) -> bool {
        let alone = Manner {
            reasoning: Some(slot.clone()),
            parts: true,
            ..self.usual.clone()
        };
        let part = alone.write(&Assistant::default().thinking(probes::REASONING), None);
        let content = alone.write(&Assistant::saying(probes::REASONING), None);
        self.places.iter().all(|place| {
            let [part, content] = [&part, &content]
                .map(|message| self.renderer.answered(place, message, &alone).ok());
            part == content
        })
    }

    /// Returns true if a text at the slot stands where calls do, between the very texts that stand around these: the text of calls that somebody has written out.
    fn is_of_calls(&self, slot: &Slot) -> bool {
        let Some(calling) = self.calling else {
            return false;
        };
        let manner = Manner {
            reasoning: Some(slot.clone()),
            ..calling.clone()
        };
        let said = Assistant::saying(probes::CONTENT);
        let calls = Assistant {
            calls: vec![probes::call(0)],
            ..said.clone()
        };
        let both = calls.clone().thinking(probes::REASONING);
        let messages = [said.clone(), said.thinking(probes::REASONING), calls, both];
        let with_tools = self.places.iter().filter(|place| place.tools.is_some());
        with_tools.into_iter().any(|place| {
            let full = |message: &Assistant| {
                let written = manner.write(message, None);
                self.renderer.answered(place, &written, &manner).ok()
            };
            let [Some(plain), Some(shown), Some(called), both] = messages.each_ref().map(full)
            else {
                return false;
            };
            // What stands there beside calls is another thing.
            let call = &messages[2].calls[0];
            let has_both = both.is_some_and(|both| {
                let mut said = call.arguments.values().filter_map(Value::as_str);
                both.contains(probes::REASONING) && said.all(|said| both.contains(said))
            });
            if has_both {
                return false;
            }
            let Some((before, behind)) = shown.split_once(probes::REASONING) else {
                return false;
            };
            !plain.starts_with(before)
                && called.starts_with(before)
                && called.ends_with(behind)
                && called.len() > before.len() + behind.len()
        })
    }

    /// Adds a slot that shows its text: as another name for the first where both render alike and never at once, else as one of its own where
    /// it shows beside the others.
    fn add(&self, slot: Slot, slots: &mut Slots) {
        if let (Slot::Key(keys), Some(first)) = (&slot, slots.distinct.first())
            && let [key] = keys.as_slice()
            && self.alike(&slot, first)
            && !self.at_once(first, &slot)
        {
            slots.aliases.push(key.clone());
        } else if slots
            .distinct
            .iter()
            .all(|known| self.at_once(known, &slot))
        {
            slots.distinct.push(slot);
        }
    }

    /// Returns true if a text at the one slot renders as it does at the other, in every place.
    fn alike(&self, slot: &Slot, other: &Slot) -> bool {
        self.places.iter().all(|place| {
            let [mine, its] = [slot, other].map(|slot| {
                let messages = self.messages(place, Some(slot));
                let full = |(message, manner): &(Value, Manner)| {
                    self.renderer.answered(place, message, manner).ok()
                };
                messages.iter().map(full).collect::<Vec<_>>()
            });
            mine == its
        })
    }

    /// Returns true if texts at both slots show at once.
    fn at_once(&self, first: &Slot, second: &Slot) -> bool {
        let manner = Manner {
            reasoning: Some(first.clone()),
            further: Some(second.clone()),
            ..self.usual.clone()
        };
        let message = Assistant::saying(probes::CONTENT).thinking(probes::REASONING);
        let written = manner.write(&message, Some(probes::FURTHER));
        self.places.iter().any(|place| {
            let full = self.renderer.answered(place, &written, &manner);
            full.is_ok_and(|full| {
                let turn = &full[place.end_in(&full)..];
                [probes::REASONING, probes::FURTHER]
                    .iter()
                    .all(|text| turn.contains(text))
            })
        })
    }
}

/// Returns true if the text is one name: the last step of a path, or the type of a part.
fn is_name(text: &str) -> bool {
    let is_usual = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.len() <= 40 && text.chars().all(is_usual)
}
