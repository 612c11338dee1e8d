//! Arguments in tags, as `xml-inline` reads them.
//!
//! Where values are JSON, a string among them is passed on from its first character on, by a guess of where it ends ([`Split`]). Its tag is kept meanwhile,
//! and what the match of the whole pattern gives must be what was passed on. Example: `it's` of `say(text='it's', times=2)`, where `'` closes a string only
//! before `,` or the end.

mod ending;
mod guess;

use std::ops::Range;

use self::ending::Ending;
use self::guess::{Form, Guess, Guessed, StringText, TEXT, form_of};

use super::calls::{Call, Tell};
use super::members::Members;
use super::reader::JsonReader;
use super::shape::{TagShape, ValueShape};
use super::split::Split;
use crate::pattern::{Captures, Cursor, Pattern, Progress, Scanned, Search, Window};
use crate::value::Value;

/// How many bytes of text that is not needed any more are dropped at once, at least.
const TRIM_BYTES: usize = 4096;

#[derive(Debug, Clone)]
pub(super) struct TagReader {
    /// The region's text from byte `base` on.
    text: String,
    base: usize,
    /// The offset before which nothing but look-behind looks at the text.
    hold: usize,
    looking: Looking,
    /// The search for the tag that comes next, where its pattern comes apart.
    open: Cursor,
    /// The search for the end of a value; kept for its memory.
    ending: Option<Ending>,
    /// The string that is passed on by a guess.
    guess: Option<Guess>,
    members: Members,
}

#[derive(Debug, Clone)]
enum Looking {
    /// The next tag is searched for; its value is passed on while it arrives.
    Tag,
    /// A tag is searched for from here on, and passed on once it is there as a whole. Directly behind an empty match there must be no other
    /// empty match.
    Whole(Box<Search>),
    /// The end of a value is searched for. The value was passed on up to `given`.
    Close {
        given: usize,
        /// False behind text in which the end cannot begin: the search begins anew.
        under_way: bool,
    },
    /// The value of a tag begins here. Its first characters tell of which kind it is.
    Begin(Box<Begun>),
    /// The end of a string in double quotes is looked for, which was read up to `read`.
    Quote {
        read: usize,
        reader: Box<JsonReader>,
    },
    /// Nothing is looked for any more: the region has no value, or another one than was thought.
    Lost,
}

/// A tag up to where its value begins, with the places of it in the text.
#[derive(Debug, Clone)]
struct Begun {
    tag: usize,
    key: Range<usize>,
    /// The beginning of the value.
    at: usize,
    /// The number of the alternative.
    alternative: usize,
}

/// The text that there is, and what comes of it.
struct Now<'n, 't> {
    shape: &'n TagShape,
    window: &'n Window<'n>,
    call: &'n mut Call,
    tell: &'n mut Tell<'t>,
}

/// The outcome of looking.
enum Step {
    Go(Looking),
    /// More text must come.
    Wait(Looking),
    /// Nothing is looked for any more.
    Lost,
}

impl Looking {
    fn first(shape: &TagShape) -> Self {
        match &shape.split {
            Some(_) => Self::Tag,
            None => Self::Whole(Box::new(Search::new(&shape.pattern, 0))),
        }
    }
}

impl TagReader {
    pub(super) fn new(shape: &TagShape) -> Self {
        Self {
            text: String::new(),
            base: 0,
            hold: 0,
            looking: Looking::first(shape),
            open: Cursor::new(tag(shape), 0),
            ending: None,
            guess: None,
            members: Members::new(shape.merge_duplicates),
        }
    }

    /// Begins another region of the same field.
    pub(super) fn reset(&mut self, shape: &TagShape) {
        self.text.clear();
        self.base = 0;
        self.hold = 0;
        self.looking = Looking::first(shape);
        self.open.restart(tag(shape), 0);
        self.guess = None;
        self.members.reset();
    }

    pub(super) fn feed(
        &mut self,
        shape: &TagShape,
        text: &str,
        call: &mut Call,
        tell: &mut Tell<'_>,
    ) {
        if self.pass_over(shape, text, call, tell) {
            return;
        }
        self.text.push_str(text);
        self.read(shape, false, call, tell);
        self.trim(shape);
    }

    /// Passes on text of a value in which its end cannot begin, if nothing is held, and returns true if it did. Nothing of the text is
    /// kept.
    fn pass_over(
        &mut self,
        shape: &TagShape,
        text: &str,
        call: &mut Call,
        tell: &mut Tell<'_>,
    ) -> bool {
        let Looking::Close { given, under_way } = &mut self.looking else {
            return false;
        };
        if self.guess.is_some() {
            return false;
        }
        let split = shape.split.as_ref().filter(|split| split.lookbehind == 0);
        let close = split.and_then(|split| self.ending.as_ref()?.close(split));
        let starts = close.and_then(|close| close.starts.as_ref());
        let begins = starts.is_none_or(|starts| starts.find(text.as_bytes()).is_some());
        if begins || *given != self.base + self.text.len() {
            return false;
        }
        self.members.push(text, &shape.values, call, tell);
        *under_way = false;
        *given += text.len();
        self.text.clear();
        self.base = *given;
        self.hold = *given;
        true
    }

    /// Ends the region, and returns true if all of its arguments were passed on.
    pub(super) fn finish(
        &mut self,
        shape: &TagShape,
        call: &mut Call,
        tell: &mut Tell<'_>,
    ) -> bool {
        self.read(shape, true, call, tell);
        // A guess that no match has confirmed was wrong: there is no such tag.
        if !matches!(self.looking, Looking::Tag | Looking::Whole(_)) || self.guess.is_some() {
            return false;
        }
        self.members.finish(call, tell);
        true
    }

    fn read(&mut self, shape: &TagShape, complete: bool, call: &mut Call, tell: &mut Tell<'_>) {
        let text = std::mem::take(&mut self.text);
        let window = Window {
            text: &text,
            start: self.base,
            complete,
        };
        loop {
            let looking = std::mem::replace(&mut self.looking, Looking::Lost);
            let mut now = Now {
                shape,
                window: &window,
                call,
                tell,
            };
            match self.step(looking, &mut now) {
                Step::Go(looking) => self.looking = looking,
                Step::Wait(looking) => {
                    self.looking = looking;
                    break;
                }
                Step::Lost => break,
            }
        }
        self.text = text;
    }

    /// Goes on until something is found.
    fn step(&mut self, looking: Looking, now: &mut Now<'_, '_>) -> Step {
        match looking {
            Looking::Lost => Step::Lost,
            Looking::Whole(mut search) => match search.advance(now.window) {
                Ok(Progress::Pending { hold }) => {
                    self.hold = hold;
                    Step::Wait(Looking::Whole(search))
                }
                Ok(Progress::Found(found)) => self.found(&found, now),
                Err(_) => Step::Lost,
            },
            Looking::Tag => match &now.shape.split {
                Some(split) => self.tag(split, now),
                None => Step::Lost,
            },
            Looking::Begin(begun) => {
                let Some(strings) = &now.shape.strings else {
                    return Step::Lost;
                };
                let Some(form) = form_of(strings, now.window, begun.at) else {
                    self.hold = begun.tag;
                    return Step::Wait(Looking::Begin(begun));
                };
                self.begin(form, &begun, now)
            }
            Looking::Quote { read, mut reader } => {
                let mut string = StringText::default();
                let end = now.window.start + now.window.text.len();
                reader.feed(now.window.slice(read..end), &mut string);
                self.members.push(&string.text, &TEXT, now.call, now.tell);
                match (string.end, &mut self.guess) {
                    (Some(end), Some(guess)) => {
                        guess.end = Some(read + end);
                        Step::Go(whole_from(now.shape, guess.tag))
                    }
                    _ if reader.is_broken() => Step::Lost,
                    _ => Step::Wait(Looking::Quote { read: end, reader }),
                }
            }
            Looking::Close { given, under_way } => self.close(given, under_way, now),
        }
    }

    /// Looks for the next tag.
    fn tag(&mut self, split: &Split, now: &mut Now<'_, '_>) -> Step {
        let span = match self.open.scan(&split.open, now.window) {
            Ok(Scanned::Hold(hold)) => {
                self.hold = hold;
                return Step::Wait(Looking::Tag);
            }
            Ok(Scanned::Found(span)) => span,
            Err(_) => return Step::Lost,
        };
        let (mut key, mut alternative) = (None, None);
        self.open
            .groups(&split.open, now.window, &span, |name, group| {
                if name == "key" {
                    key = group;
                } else if alternative.is_none() && group.is_some() {
                    alternative = split.alternative(name);
                }
            });
        let alternative = alternative.or(split.is_single().then_some(0));
        let (Some(key), Some(alternative)) = (key, alternative) else {
            return Step::Lost;
        };
        if now.shape.strings.is_some() {
            return Step::Go(Looking::Begin(Box::new(Begun {
                tag: span.start,
                key,
                at: span.end,
                alternative,
            })));
        }
        let key = now.window.slice(key);
        if !self.look_for_end(split, alternative, key) {
            return Step::Go(whole_from(now.shape, span.start));
        }
        self.members
            .begin(key, &now.shape.values, now.call, now.tell);
        self.hold = span.end;
        Step::Go(Looking::Close {
            given: span.end,
            under_way: false,
        })
    }

    /// Makes the search for the end of a value. Returns `false` where it cannot be looked for.
    fn look_for_end(&mut self, split: &Split, number: usize, key: &str) -> bool {
        let ending = self.ending.take();
        self.ending = ending
            .filter(|ending| ending.is_of(number, key))
            .or_else(|| Ending::new(split, number, key));
        self.ending.is_some()
    }

    /// Begins a value that is JSON.
    fn begin(&mut self, form: Form, begun: &Begun, now: &mut Now<'_, '_>) -> Step {
        let Begun {
            tag, alternative, ..
        } = *begun;
        let key = now.window.slice(begun.key.clone());
        self.hold = tag;
        let (Some(split), Some(strings)) = (&now.shape.split, &now.shape.strings) else {
            return Step::Lost;
        };
        let (start, number, guessed) = match (form, &strings.bare) {
            (Form::Json(start), _) => (start, None, Guessed::Json),
            (Form::Delimited(start), _) => {
                let number = split.string_close(alternative);
                (start, Some(number), Guessed::Text(TEXT))
            }
            (Form::Bare(start), Some(bare)) => {
                (start, Some(alternative), Guessed::Text(bare.clone()))
            }
            (Form::Bare(_) | Form::Other, _) => return Step::Go(whole_from(now.shape, tag)),
        };
        if number.is_some_and(|number| !self.look_for_end(split, number, key)) {
            return Step::Go(whole_from(now.shape, tag));
        }
        let guess = self.guess.insert(Guess {
            tag,
            start,
            end: None,
            form: guessed,
        });
        self.members.begin(key, guess.values(), now.call, now.tell);
        Step::Go(match number {
            Some(_) => Looking::Close {
                given: start,
                under_way: false,
            },
            None => Looking::Quote {
                read: start,
                reader: Box::default(),
            },
        })
    }

    /// Looks for the end of a value of which everything up to here was passed on.
    fn close(&mut self, given: usize, under_way: bool, now: &mut Now<'_, '_>) -> Step {
        let searched = match (&now.shape.split, &mut self.ending) {
            (Some(split), Some(ending)) => ending.search(split),
            _ => None,
        };
        let Some((pattern, cursor)) = searched else {
            return Step::Lost;
        };
        if !under_way {
            cursor.restart(pattern, given);
        }
        let values = self.guess.as_ref().map_or(&now.shape.values, Guess::values);
        match cursor.scan(pattern, now.window) {
            Ok(Scanned::Hold(hold)) => {
                let mut given = given;
                // At the end nothing is certain any more: there is no such tag.
                if !now.window.complete {
                    let hold = hold.max(given);
                    let piece = now.window.slice(given..hold);
                    self.members.push(piece, values, now.call, now.tell);
                    given = hold;
                    self.hold = self.guess.as_ref().map_or(hold, |guess| guess.tag);
                }
                Step::Wait(Looking::Close {
                    given,
                    under_way: true,
                })
            }
            Ok(Scanned::Found(span)) => {
                let piece = now.window.slice(given..span.start);
                self.members.push(piece, values, now.call, now.tell);
                if let Some(guess) = &mut self.guess {
                    guess.end = Some(span.start);
                    return Step::Go(whole_from(now.shape, guess.tag));
                }
                self.hold = span.end;
                if !self.members.end(&now.shape.values, now.call, now.tell) {
                    return Step::Lost;
                }
                Step::Go(self.behind(&span, now.shape))
            }
            Err(_) => Step::Lost,
        }
    }

    /// Takes note that a tag has come whole.
    fn found(&mut self, found: &Captures, now: &mut Now<'_, '_>) -> Step {
        self.hold = found.span.end;
        let Some((key, value)) = matched(now.shape, found, now.window) else {
            return Step::Lost;
        };
        match self.guess.take() {
            None => self.members.whole(key, value, now.call, now.tell),
            Some(guess) => {
                let is_right = found.span.start == guess.tag
                    && self.members.is_of(key)
                    && guess
                        .told(now.window)
                        .is_some_and(|told| value.as_str() == Some(told.as_str()));
                if !is_right || !self.members.end(guess.values(), now.call, now.tell) {
                    return Step::Lost;
                }
            }
        }
        Step::Go(self.behind(&found.span, now.shape))
    }

    /// Begins to look for the next tag, behind one.
    fn behind(&mut self, span: &Range<usize>, shape: &TagShape) -> Looking {
        if shape.split.is_some() && !span.is_empty() {
            self.open.restart(tag(shape), span.end);
            return Looking::Tag;
        }
        // Past an empty match.
        Looking::Whole(Box::new(Search::after(&shape.pattern, span)))
    }

    /// Drops text that is not looked at again.
    fn trim(&mut self, shape: &TagShape) {
        let split = shape.split.as_ref().map_or(0, |split| split.lookbehind);
        let behind = shape.pattern.lookbehind().max(split);
        let mut kept = self.hold.saturating_sub(behind).max(self.base) - self.base;
        if kept < TRIM_BYTES.max(self.text.len() / 2) {
            return;
        }
        while !self.text.is_char_boundary(kept) {
            kept -= 1;
        }
        self.text.drain(..kept);
        self.base += kept;
    }
}

/// Returns the pattern that is searched first: the opening half of a split pattern, else the whole pattern.
fn tag(shape: &TagShape) -> &Pattern {
    shape
        .split
        .as_ref()
        .map_or(&shape.pattern, |split| &split.open)
}

/// Looks for a whole tag from here on.
fn whole_from(shape: &TagShape, from: usize) -> Looking {
    Looking::Whole(Box::new(Search::new(&shape.pattern, from)))
}

/// The key and the value of a tag that has come whole; `None` where it has no value.
fn matched<'w>(
    shape: &TagShape,
    found: &Captures,
    window: &Window<'w>,
) -> Option<(&'w str, Value)> {
    let key = found.group("key")?;
    let value = found.groups.iter().find(|(name, _)| name == "value");
    let value = match (value.map(|(_, span)| span), &shape.values) {
        (None, ValueShape::Text { .. }) => Value::from(""),
        (None, ValueShape::Whole(content)) => content.parse("").ok()?,
        (Some(Some(span)), ValueShape::Text { strip }) => {
            let text = window.slice(span.clone());
            Value::from(if *strip {
                crate::value::python::strip(text)
            } else {
                text
            })
        }
        (Some(Some(span)), ValueShape::Whole(content)) => {
            content.parse(window.slice(span.clone())).ok()?
        }
        (Some(None), ValueShape::Text { strip: false }) => Value::Null,
        (Some(None), _) => return None,
    };
    Some((
        &window.text[key.start - window.start..key.end - window.start],
        value,
    ))
}
