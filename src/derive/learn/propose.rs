//! Proposals of what to read as well, where a response is not understood.
//!
//! A marker that nobody knows cannot be told from prose by what it looks like. So a text is taken for one where something shows that
//! it is: the chat template or the tokenizer has it, another response has the very same text, it stands between a call's name and its
//! arguments, or it is not in the message that is expected.

use std::collections::HashSet;
use std::ops::Range;

use super::appraise::Appraised;
use super::calls::{self, Spotted};
use super::changes;
use super::constants::Constants;
use super::gaps::{self, Gap};
use super::recorded::Recorded;
use super::several::Several;
use super::spelled::{self, Spelling};
use super::spot::Spot;
use super::supposed;
use super::widening::{self, Edit, How};
use crate::derive::probe::CALLS_KEY;
use crate::response_template::Document;
use crate::value::{Map, Value, json, python};

/// How long what opens a call may be, in bytes.
const MAX_HEAD: usize = 240;

/// The rank of what is taken only where nothing else reads another response right.
pub(super) const FAR: usize = 4;

/// The rank of what is taken only where nothing else helps.
pub(super) const LAST: usize = 5;

/// How far two constants may stand apart to be one marker, in bytes.
const MAX_GAP: usize = 40;

/// A response that is not understood, and the facts that tell markers in it.
pub(super) struct Seen<'a> {
    pub(super) recorded: &'a Recorded,
    pub(super) read: &'a Appraised,
    pub(super) constants: &'a Constants<'a>,
    /// All responses, this one among them.
    pub(super) others: &'a [Recorded],
    /// The texts before calls that are not read, in any of the responses.
    pub(super) heads: &'a [String],
    /// The texts that renders have between the parts of messages.
    pub(super) gaps: &'a [Gap],
}

/// The place of a stretch that is not understood.
struct Surroundings {
    /// True if it is in the text of a field.
    is_in_text: bool,
    /// True if it is where that text begins, or behind a constant.
    begins: bool,
    /// True if it is where that text ends, or before a constant.
    ends: bool,
}

impl Surroundings {
    /// How far-fetched it is that a marker there opens a field; the field in whose text it stands is `is_own`.
    fn rank_open(&self, is_own: bool, how: &How) -> usize {
        match how {
            How::Beside if !self.is_in_text || is_own && self.begins => 0,
            How::Also if !self.is_in_text || !is_own && self.begins => 1,
            _ => 3,
        }
    }

    /// Returns how far-fetched it is that a marker there closes a field, from 0 up; the field in whose text it stands is `is_own`.
    fn rank_close(&self, is_own: bool, how: &How) -> usize {
        match how {
            _ if self.is_in_text && is_own && self.ends => 0,
            How::Beside if !self.is_in_text || !is_own && self.begins => 0,
            How::Also if !self.is_in_text => 1,
            How::Also if is_own => 2,
            _ => 3,
        }
    }
}

/// Returns the texts that may open each call of a response that is not read, up to its name.
pub(super) fn heads(
    recorded: &Recorded,
    read: &Appraised,
    constants: &Constants<'_>,
) -> Vec<String> {
    let seen = Seen {
        recorded,
        read,
        constants,
        others: &[],
        heads: &[],
        gaps: &[],
    };
    let calls = read.missed.iter().flat_map(|call| {
        let text = &recorded.response[..call.start()];
        let begins = seen.begins(call).into_iter();
        begins.map(|begin| {
            text[begin..]
                .trim_start_matches(python::is_space)
                .to_owned()
        })
    });
    calls.filter(|head| !head.is_empty()).collect()
}

impl Seen<'_> {
    /// The widenings that what is not understood of the response suggests, of a document that has some already; `base` has none.
    pub(super) fn edits(&self, base: &Document, document: &Document) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        for call in &self.read.missed {
            self.of_call(document, call, &mut edits);
        }
        for spot in &self.read.spots {
            self.of_spot(document, spot, &mut edits);
        }
        edits.extend(self.around(document));
        // What stands around a name is learnt as one sequence of parts where it can be: it reads combinations that nobody has seen.
        let has_heads = edits.iter().any(|edit| edit.head().is_some());
        let spellings = self.spellings(base).into_iter();
        let is_known = self.recorded.expected.is_some();
        edits.extend(spellings.map(|edit| {
            let is_of_calls = edit.spelling().is_some_and(Spelling::is_of_calls);
            let is_compound = edit.spelling().is_some_and(Spelling::is_compound);
            let rank = match (is_known, is_of_calls) {
                // What lies around the calls that are read is the last thing to look at where nobody says what the message is.
                (false, _) if self.read.missed.is_empty() => FAR,
                (true, true) if !has_heads => 0,
                (true, true) if is_compound => LAST,
                (_, true) => 2,
                // Markers around texts are known for what they are; what lies between two texts may be several things at once.
                (_, false) => FAR,
            };
            edit.ranked(rank)
        }));
        let varying = calls::varying(self.recorded);
        edits.retain(|edit| !varying.iter().any(|text| edit.has(text)));
        self.ids(&mut edits);
        edits
    }

    /// Proposes other delimiters for each text that is expected in one field and was read as a part of another: what stands around it there.
    fn around(&self, document: &Document) -> Vec<Edit> {
        let expected = self.recorded.expected.as_ref().and_then(Value::as_object);
        let texts = |message: &Map| -> Vec<(String, String)> {
            let texts = message.iter().filter_map(|(key, value)| {
                let text = value.as_str().filter(|text| !text.trim().is_empty())?;
                Some((key.to_string(), text.to_owned()))
            });
            texts.collect()
        };
        let wanted = expected.map(texts).unwrap_or_default();
        let read = texts(&self.read.message);
        let is_delimited = |key: &str| {
            let field = document.fields.get(key);
            field.is_some_and(|field| field.open.is_some() && field.close.is_some())
        };
        let mut edits = Vec::new();
        for (key, text) in wanted.iter().filter(|(key, _)| is_delimited(key)) {
            for (other, whole) in read.iter().filter(|(other, _)| other != key) {
                let Some((before, behind)) = whole.split_once(text.as_str()) else {
                    continue;
                };
                let own = wanted.iter().find(|(key, _)| key == other);
                let own = own.and_then(|(_, text)| behind.find(text.as_str()));
                let behind = &behind[..own.unwrap_or(behind.len())];
                let [open, close] =
                    [before, behind].map(|text| text.trim_matches(python::is_space));
                // Where one of them is known, the other is proposed alone.
                let is_known = widening::opened_with(document, open).contains(&key.as_str())
                    || widening::begins_close(document, key, close);
                if !is_known && self.is_delimiter(open) && self.is_delimiter(close) {
                    let close = close.to_owned();
                    edits.push(Edit::open(key, open, How::Around { close }));
                }
            }
        }
        edits
    }

    /// Returns true if a text that stands beside one that is expected may be a delimiter: it is one word, or mostly constants of the chat template.
    fn is_delimiter(&self, text: &str) -> bool {
        let is_word = !text.contains(python::is_space);
        !text.is_empty() && (is_word || self.constants.weigh(text).0 * 2 <= text.len())
    }

    /// The ways to spell what renders have between the parts of the message: of the one that is expected, or else of the calls that are not read.
    fn spellings(&self, base: &Document) -> Vec<Edit> {
        let (known, pieces) = (self.gaps, self.constants.pieces);
        let spellings = |all: Vec<Spelling>| -> Vec<Edit> {
            let edits = all.into_iter().map(Box::new).map(How::Spelled);
            edits.map(|how| Edit::open(CALLS_KEY, "", how)).collect()
        };
        if let Some(expected) = &self.recorded.expected {
            let message = expected.as_object();
            let gaps = message.and_then(|message| gaps::gaps(self.text(), message));
            let gaps = gaps.unwrap_or_default();
            let mut changes = changes::changes(&gaps, known, pieces);
            changes.retain(|change| self.is_marker(&change.now) || !has_words(&change.now));
            let several = Several::of(&gaps, &changes, known);
            return spellings(spelled::spellings(base, &gaps, known, &changes, several));
        }
        if known.is_empty() {
            return Vec::new();
        }
        let gaps = match self.read.missed.as_slice() {
            [] => gaps::gaps(self.text(), &self.without_marked_words()).unwrap_or_default(),
            missed => {
                let mut constants = self.constants.find(self.text());
                let leaked = self.read.spots.iter().filter(|spot| !spot.is_malformed);
                constants.extend(leaked.map(|spot| spot.span.clone()));
                let is_marker = |text: &str| self.is_marker(text);
                supposed::gaps(self.text(), missed, known, pieces, &constants, is_marker)
            }
        };
        let all = changes::changes(&gaps, known, pieces);
        let mut changes = all.clone();
        // Nobody says that there is a call. A text with less around it than a call has may as well speak of one.
        // And what stands around a call may be a text, unless other responses have it, too.
        changes.retain(|change| {
            let is_known = change.is_within_call() || self.is_marker(&change.now);
            is_known && (!change.takes_words_away() || change.is_behind_words())
        });
        changes.extend(supposed::echoes(self.text(), &changes, known));
        let several = Several::of(&gaps, &all, known);
        spellings(spelled::spellings(base, &gaps, known, &changes, several))
    }

    /// The message as it is read, without the words at the ends of its texts in which a marker was left.
    fn without_marked_words(&self) -> Map {
        let mut message = self.read.message.clone();
        for spot in self.read.spots.iter().filter(|spot| !spot.is_malformed) {
            let Some(key) = &spot.field else { continue };
            let Some(text) = message.get(key.as_str()).and_then(Value::as_str) else {
                continue;
            };
            let before = &self.text()[..spot.span.start];
            let start = before.trim_end_matches(|c| !python::is_space(c)).len();
            let behind = &self.text()[spot.span.end..];
            let end = self.text().len() - behind.trim_start_matches(|c| !python::is_space(c)).len();
            let text = text.trim_matches(python::is_space);
            // Something else may directly follow the text.
            let words =
                (0..MAX_GAP * 2).filter_map(|by| end.checked_sub(by).filter(|end| *end > start));
            let word = words
                .filter_map(|end| self.text().get(start..end))
                .find(|word| text.ends_with(word) || text.starts_with(word));
            let Some(word) = word.filter(|word| word.len() >= spot.span.len()) else {
                continue;
            };
            let rest = text.strip_suffix(word).or_else(|| text.strip_prefix(word));
            let rest = rest
                .unwrap_or(text)
                .trim_matches(python::is_space)
                .to_owned();
            match rest.is_empty() {
                true => drop(message.shift_remove(key.as_str())),
                false => drop(message.insert(key.clone(), Value::from(rest))),
            }
        }
        message
    }

    /// Proposes places for the ids of the calls that are expected: a member of the object that a call is, or the name with a little text
    /// around it.
    fn ids(&self, edits: &mut Vec<Edit>) {
        let text = self.text();
        for call in calls::expected(self.recorded) {
            let plain = calls::plain_call(call, true);
            let of = |key: &str| plain.get(key).and_then(Value::as_str);
            let (Some(id), Some(name)) = (of("id"), of("name")) else {
                continue;
            };
            for (at, _) in text.match_indices(name) {
                let Some(body) = calls::enclosing(text, &(at..at + name.len())) else {
                    continue;
                };
                let object = json::parse(&text[body]).unwrap_or(Value::Null);
                let members = object.as_object().into_iter().flatten();
                let has_it = members.filter(|(_, value)| value.as_str() == Some(id));
                edits.extend(
                    has_it.map(|(key, _)| Edit::open(CALLS_KEY, key.as_str(), How::IdMember)),
                );
            }
            if let Some((before, behind)) = id.split_once(name)
                && text.contains(id)
            {
                let behind = behind.to_owned();
                edits.push(Edit::open(CALLS_KEY, before, How::IdAround { behind }));
            }
        }
    }

    fn text(&self) -> &str {
        &self.recorded.response
    }

    /// Proposes how a call may be opened and closed. Its opening begins with a text that is not understood, a constant or the last word,
    /// and goes up to its name; further text may stand between the name and the arguments, and behind them.
    fn of_call(&self, document: &Document, call: &Spotted, edits: &mut Vec<Edit>) {
        let text = self.text();
        let start = call.start();
        for begin in self.begins(call) {
            let before = text[begin..start].trim_matches(python::is_space);
            // What the model says before a call is no part of what opens it.
            if calls::has_sentence(before) {
                continue;
            }
            let how = match call.is_whole() {
                true => How::Also,
                false => How::Head {
                    between: text[call.name.end..call.body.start].to_owned(),
                },
            };
            edits.push(Edit::open(CALLS_KEY, before, how));
        }
        let behind = &text[call.body.end..];
        for end in self.ends(behind) {
            let close = behind[..end].trim_matches(python::is_space);
            edits.push(Edit::close(CALLS_KEY, close, How::Also));
        }
        // A region that goes on up to the call ends there.
        for (name, field) in &document.fields {
            let may_follow = name != CALLS_KEY || field.repeats;
            if may_follow && field.close.is_some() {
                edits.push(Edit::close(name, "", How::Before(CALLS_KEY.to_owned())));
                let unclosed = How::BeforeUnclosed(CALLS_KEY.to_owned());
                edits.push(Edit::close(name, "", unclosed).ranked(1));
            }
        }
    }

    /// Returns the bytes at which the opening of a call may begin.
    fn begins(&self, call: &Spotted) -> Vec<usize> {
        let text = self.text();
        let start = call.start();
        let near = start.saturating_sub(MAX_HEAD);
        let spots = self.read.spots.iter().map(|spot| spot.span.start);
        let constants = self.constants.find(&text[..start]).into_iter();
        // The last word, and what other responses have there.
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let before = text[line..start].trim_end_matches(python::is_space);
        let word = before.rfind(python::is_space).map_or(0, |at| at + 1);
        let others = self
            .heads
            .iter()
            .filter(|head| text[..start].ends_with(head.as_str()));
        let mut begins: Vec<usize> = constants
            .map(|span| span.start)
            .chain(spots)
            .chain(others.map(|head| start - head.len()))
            .chain([line + word])
            .filter(|begin| (near..start).contains(begin))
            .collect();
        begins.sort_unstable();
        begins.dedup();
        if before.is_empty() {
            begins.push(start);
        }
        begins
    }

    /// Adds the edits that a stretch of text which is not understood may call for: it opens or closes a field in another way, or stands
    /// beside a text that does.
    fn of_spot(&self, document: &Document, spot: &Spot, edits: &mut Vec<Edit>) {
        let Some(shown) = self.text().get(spot.span.clone()) else {
            return;
        };
        let place = Surroundings {
            is_in_text: spot.field.is_some() && !spot.is_malformed,
            begins: self.is_edge(&self.text()[..spot.span.start], |text, found| {
                found.end == text.trim_end_matches(python::is_space).len()
            }),
            ends: self.is_edge(&self.text()[spot.span.end..], |text, found| {
                found.start == text.len() - text.trim_start_matches(python::is_space).len()
            }),
        };
        // What stands right before a call belongs to it.
        let opens_call = self.calls_begin().any(|start| {
            let between = self.text().get(spot.span.end..start);
            between.is_some_and(|between| between.trim_matches(python::is_space).is_empty())
        });
        if place.is_in_text && spot.span.end == self.text().trim_end_matches(python::is_space).len()
        {
            let own = spot.field.as_deref().unwrap_or_default();
            if widening::begins_close(document, own, shown.trim_matches(python::is_space)) {
                edits.push(Edit::close(own, shown, How::AtEnd));
            }
        }
        for marker in self.markers(shown, spot) {
            for name in widening::opened_with(document, marker) {
                edits.push(Edit::open(name, marker, How::From).ranked(1));
            }
            // Someone who writes about a marker writes the marker itself, within other text.
            let is_amid = place.is_in_text && !place.begins && !place.ends;
            if is_amid && widening::is_spoken_for(document, marker) {
                continue;
            }
            let opens = widening::opened_with(document, marker);
            for (name, field) in &document.fields {
                // In the midst of a text a marker that is known to open a field may just be quoted there, so that it opens nothing.
                if place.is_in_text && !opens.is_empty() {
                    if opens.contains(&name.as_str()) {
                        edits.push(Edit::open(name, marker, How::Beside));
                    }
                    continue;
                }
                let is_own = spot.field.as_ref() == Some(name);
                for how in [How::Also, How::Beside] {
                    if field.open.is_some() {
                        let rank = match how {
                            How::Beside if opens_call && name == CALLS_KEY => 0,
                            _ => place.rank_open(is_own, &how),
                        };
                        edits.push(Edit::open(name, marker, how.clone()).ranked(rank));
                    }
                    if field.close.is_some() {
                        // It would be taken away wherever a text has it.
                        let least = if opens_call { 2 } else { 0 };
                        let rank = place.rank_close(is_own, &how).max(least);
                        edits.push(Edit::close(name, marker, how).ranked(rank));
                    }
                }
            }
        }
        if let Some(name) = spot.field.as_ref().filter(|_| spot.is_malformed) {
            edits.push(Edit::close(name, "", How::Lax));
        }
        if let Some(name) = &spot.field {
            for other in document.fields.keys().filter(|other| *other != name) {
                edits.push(Edit::close(name, "", How::Before(other.clone())));
            }
        }
    }

    /// The bytes at which calls begin: those that are not read, and the first of the message, as it is read and as it is expected.
    fn calls_begin(&self) -> impl Iterator<Item = usize> {
        let missed = self.read.missed.iter().map(Spotted::start);
        let expected = self.recorded.expected.as_ref();
        let expected = expected.and_then(Value::as_object);
        let messages = expected.into_iter().chain([&self.read.message]);
        let first = messages.filter_map(|message| gaps::first_call(self.text(), message));
        missed.chain(first.map(|span| span.start))
    }

    /// Returns true if the text beside a stretch is nothing, or a constant that `touches` it.
    fn is_edge(&self, text: &str, touches: impl Fn(&str, &Range<usize>) -> bool) -> bool {
        let found = self.constants.find(text);
        text.trim_matches(python::is_space).is_empty()
            || found.iter().any(|found| touches(text, found))
    }

    /// The texts in a stretch that may be markers: what a text has beside what is expected, a constant that leaked, constants with
    /// what stands between them.
    fn markers<'t>(&self, shown: &'t str, spot: &Spot) -> Vec<&'t str> {
        let all = self.constants.find(self.text());
        let own = |span: &Range<usize>| {
            let start = span.start.checked_sub(spot.span.start)?;
            (span.end <= spot.span.end).then(|| start..start + span.len())
        };
        let found: Vec<Range<usize>> = all.iter().filter_map(own).collect();
        let is_in_text = spot.field.is_some() && !spot.is_malformed;
        let mut markers: Vec<&str> = Vec::new();
        // Several words that are no constants are prose, whatever the expected message leaves out.
        let bare = shown.trim_matches(python::is_space);
        let is_known = self.constants.weigh(bare).0 * 2 <= bare.len();
        let is_surplus = self.recorded.expected.is_some() && !bare.contains(python::is_space);
        if is_in_text && (is_surplus || is_known) {
            markers.push(shown);
        }
        for (at, first) in found.iter().enumerate() {
            let mut end = first.end;
            for next in &found[at..] {
                if next.start > end && !self.is_marker(&shown[end..next.start]) {
                    break;
                }
                end = end.max(next.end);
                markers.push(&shown[first.start..end]);
            }
            // What directly follows a constant may belong to it.
            let rest = &shown[end..];
            if self.is_marker(rest) {
                markers.push(&shown[first.start..]);
            }
        }
        if found.is_empty() && self.is_marker(shown) {
            markers.push(shown);
        }
        for marker in &mut markers {
            *marker = marker.trim_matches(python::is_space);
        }
        // A part of a constant is no marker.
        let is_split = |at: usize| all.iter().any(|span| span.start < at && at < span.end);
        markers.retain(|marker| {
            let at = spot.span.start + (marker.as_ptr() as usize - shown.as_ptr() as usize);
            let is_leaked = spot.field.is_some() && marker.len() == shown.len();
            !marker.is_empty() && (is_leaked || !is_split(at) && !is_split(at + marker.len()))
        });
        // Those that stand first come first, and of these the shortest: behind a text, what is not understood begins with the marker that was
        // missed, and not all of a long stretch can be tried.
        let place = |marker: &&str| (marker.as_ptr() as usize, marker.len());
        markers.sort_unstable_by_key(place);
        let mut known = HashSet::new();
        markers.retain(|marker| known.insert(*marker));
        markers
    }

    /// Returns true if models write the unknown text again and again: several responses have it, or it is white space.
    fn is_marker(&self, text: &str) -> bool {
        let shown = text.trim_matches(python::is_space);
        if shown.is_empty() {
            return true;
        }
        let others = self.others.iter();
        shown.len() <= MAX_GAP
            && others
                .filter(|other| other.response.contains(shown))
                .nth(1)
                .is_some()
    }

    /// Returns the bytes at which the text behind a call may end: behind the word that directly follows, and before and behind each of the
    /// constants that follow one another.
    fn ends(&self, text: &str) -> Vec<usize> {
        let mut ends = Vec::new();
        let mut at = 0;
        for span in self.constants.find(text) {
            let gap = text[at..span.start].trim_matches(python::is_space);
            if gap.len() > MAX_GAP || gap.contains(python::is_space) {
                break;
            }
            if !gap.is_empty() {
                ends.push(span.start);
            }
            at = span.end;
            ends.push(at);
        }
        ends
    }
}

/// Returns true if a text has several words with white space between them, as prose and programs have.
fn has_words(text: &str) -> bool {
    let words = text.split(python::is_space);
    let mut words = words.filter(|word| word.contains(char::is_alphanumeric));
    words.nth(1).is_some()
}
