//! Arguments in tags, as `xml-inline` reads them.

use std::borrow::Cow;

use super::calls::{Call, Tell};
use super::members::Members;
use super::shape::{TagShape, ValueShape};
use super::split::{Close, Closing, Split};
use crate::content::ContentParser;
use crate::pattern::{Captures, Cursor, Pattern, Progress, Scanned, Search, Window};
use crate::value::Value;

/// How many bytes of text in front there are at least when it is dropped.
const TRIM_BYTES: usize = 4096;

#[derive(Debug, Clone)]
pub(super) struct TagReader {
    /// The region's text from byte `base` on.
    text: String,
    base: usize,
    /// No text before this is looked at but by look-behind.
    hold: usize,
    looking: Looking,
    /// The search for the tag that comes next, where its pattern comes apart.
    open: Cursor,
    /// The search for the end of a value; kept for its memory.
    ending: Option<Ending>,
    members: Members,
}

/// The search for the end of a value.
#[derive(Debug, Clone)]
struct Ending {
    /// The number of the close among the halves.
    number: usize,
    /// Where the close repeats the key: the key, and the pattern that was made of it.
    own: Option<(String, Close)>,
    cursor: Cursor,
}

impl Ending {
    /// The search for the end of a value under a key; `None` if no pattern can be made of the key.
    fn new(split: &Split, number: usize, key: &str) -> Option<Self> {
        let close = split.closes.get(number)?.of(key)?;
        let cursor = Cursor::new(&close.pattern, 0);
        let own = match close {
            Cow::Borrowed(_) => None,
            Cow::Owned(close) => Some((key.to_owned(), close)),
        };
        Some(Self {
            number,
            own,
            cursor,
        })
    }

    /// Returns true if it is the search for that.
    fn is_of(&self, number: usize, key: &str) -> bool {
        let same_key = |(of, _): &(String, Close)| of == key;
        self.number == number && self.own.as_ref().is_none_or(same_key)
    }

    /// The close that is searched.
    fn close<'e>(&'e self, split: &'e Split) -> Option<&'e Close> {
        close_of(self.own.as_ref(), split, self.number)
    }

    /// The pattern that is searched, and how far the search is.
    fn search<'e>(&'e mut self, split: &'e Split) -> Option<(&'e Pattern, &'e mut Cursor)> {
        let close = close_of(self.own.as_ref(), split, self.number)?;
        Some((&close.pattern, &mut self.cursor))
    }
}

fn close_of<'e>(
    own: Option<&'e (String, Close)>,
    split: &'e Split,
    number: usize,
) -> Option<&'e Close> {
    match (own, split.closes.get(number)?) {
        (Some((_, close)), _) | (None, Closing::Fixed(close)) => Some(close),
        (None, Closing::Keyed(_)) => None,
    }
}

#[derive(Debug, Clone)]
enum Looking {
    /// A tag is looked for of which the value is passed on while it comes.
    Tag,
    /// A tag is looked for that comes whole, from here on; not directly behind an empty match if that is so.
    Whole(Box<Search>),
    /// The end of a value is looked for, which is passed on up to here.
    Close {
        given: usize,
        /// False behind text in which the end cannot begin: the search begins anew.
        under_way: bool,
    },
    /// Nothing is looked for: the region has no value, or another than was thought.
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
        if !matches!(self.looking, Looking::Tag | Looking::Whole(_)) {
            return false;
        }
        self.members.finish(call, tell);
        true
    }

    fn read(&mut self, shape: &TagShape, complete: bool, call: &mut Call, tell: &mut Tell<'_>) {
        loop {
            let window = Window {
                text: &self.text,
                start: self.base,
                complete,
            };
            match &mut self.looking {
                Looking::Lost => return,
                Looking::Whole(search) => match search.advance(&window) {
                    Ok(Progress::Pending { hold }) => {
                        self.hold = hold;
                        return;
                    }
                    Ok(Progress::Found(found)) => {
                        self.hold = found.span.end;
                        let next = matched(&mut self.members, shape, &found, &window, call, tell);
                        self.looking = next.unwrap_or(Looking::Lost);
                    }
                    Err(_) => self.looking = Looking::Lost,
                },
                Looking::Tag => {
                    let Some(split) = &shape.split else {
                        self.looking = Looking::Lost;
                        return;
                    };
                    match self.open.scan(&split.open, &window) {
                        Ok(Scanned::Hold(hold)) => {
                            self.hold = hold;
                            return;
                        }
                        Ok(Scanned::Found(span)) => {
                            self.hold = span.end;
                            let (mut key, mut way) = (None, None);
                            self.open
                                .groups(&split.open, &window, &span, |name, group| {
                                    if name == "key" {
                                        key = group;
                                    } else if way.is_none() && group.is_some() {
                                        way = split.ways.iter().position(|known| known == name);
                                    }
                                });
                            let close = way.or(split.ways.is_empty().then_some(0));
                            self.looking = match (key, close) {
                                (Some(key), Some(close)) => {
                                    let key = window.slice(key);
                                    let ending = self.ending.take();
                                    self.ending = ending
                                        .filter(|ending| ending.is_of(close, key))
                                        .or_else(|| Ending::new(split, close, key));
                                    if self.ending.is_some() {
                                        self.members.begin(key, &shape.values, call, tell);
                                        Looking::Close {
                                            given: span.end,
                                            under_way: false,
                                        }
                                    } else {
                                        self.hold = span.start;
                                        let whole = Search::new(&shape.pattern, span.start);
                                        Looking::Whole(Box::new(whole))
                                    }
                                }
                                _ => Looking::Lost,
                            };
                        }
                        Err(_) => self.looking = Looking::Lost,
                    }
                }
                Looking::Close { given, under_way } => {
                    let searched = match (&shape.split, &mut self.ending) {
                        (Some(split), Some(ending)) => ending.search(split),
                        _ => None,
                    };
                    let Some((pattern, cursor)) = searched else {
                        self.looking = Looking::Lost;
                        return;
                    };
                    if !*under_way {
                        cursor.restart(pattern, *given);
                    }
                    *under_way = true;
                    match cursor.scan(pattern, &window) {
                        Ok(Scanned::Hold(hold)) => {
                            // At the end nothing is certain any more: there is no such tag.
                            if !complete {
                                let hold = hold.max(*given);
                                let piece = window.slice(*given..hold);
                                self.members.push(piece, &shape.values, call, tell);
                                *given = hold;
                                self.hold = hold;
                            }
                            return;
                        }
                        Ok(Scanned::Found(span)) => {
                            let piece = window.slice(*given..span.start);
                            self.members.push(piece, &shape.values, call, tell);
                            self.hold = span.end;
                            if self.members.end(&shape.values, call, tell) {
                                self.open.restart(tag(shape), span.end);
                                self.looking = Looking::Tag;
                            } else {
                                self.looking = Looking::Lost;
                            }
                        }
                        Err(_) => self.looking = Looking::Lost,
                    }
                }
            }
        }
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

/// Takes note that a tag has come whole.
fn matched(
    members: &mut Members,
    shape: &TagShape,
    found: &Captures,
    window: &Window<'_>,
    call: &mut Call,
    tell: &mut Tell<'_>,
) -> Option<Looking> {
    let key = found.group("key")?;
    let value = found.groups.iter().find(|(name, _)| name == "value");
    let parse = |content: &ContentParser, text: &str| content.parse(text).ok();
    let value = match (value.map(|(_, span)| span), &shape.values) {
        (None, ValueShape::Text { .. }) => Value::from(""),
        (None, ValueShape::Whole(content)) => parse(content, "")?,
        (Some(Some(span)), ValueShape::Text { strip }) => {
            let text = window.slice(span.clone());
            Value::from(if *strip {
                crate::value::python::strip(text)
            } else {
                text
            })
        }
        (Some(Some(span)), ValueShape::Whole(content)) => {
            parse(content, window.slice(span.clone()))?
        }
        (Some(None), ValueShape::Text { strip: false }) => Value::Null,
        (Some(None), _) => return None,
    };
    members.whole(window.slice(key), value, call, tell);
    // The search goes on behind the match, and past an empty one.
    let next = Search::after(&shape.pattern, &found.span);
    Some(Looking::Whole(Box::new(next)))
}
