//! Arguments in tags, as `xml-inline` reads them.

use super::calls::{Call, Tell};
use super::members::Members;
use super::shape::{TagShape, ValueShape};
use super::split::{Split, alternative};
use crate::content::ContentParser;
use crate::pattern::{Captures, MatchError, Pattern, Progress, Search, Window};
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
    members: Members,
}

#[derive(Debug, Clone)]
enum Looking {
    /// A tag is looked for, from here on; not directly behind an empty match if that is so.
    Tag(Search),
    /// The end of a value is looked for, which is passed on up to here.
    Close {
        /// The search for the end so far; `None` behind text in which the end cannot begin.
        search: Option<Search>,
        /// The number of the close among the halves.
        close: usize,
        given: usize,
    },
    /// Nothing is looked for: the region has no value, or another than was thought.
    Lost,
}

impl TagReader {
    pub(super) fn new(shape: &TagShape) -> Self {
        Self {
            text: String::new(),
            base: 0,
            hold: 0,
            looking: Looking::Tag(Search::new(tag(shape), 0)),
            members: Members::new(shape.merge_duplicates),
        }
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
        let Looking::Close {
            search,
            close,
            given,
        } = &mut self.looking
        else {
            return false;
        };
        let closes = shape.split.as_ref().map(|split| &split.closes);
        let starts = closes.and_then(|closes| closes.get(*close)?.starts.as_ref());
        let begins = starts.is_none_or(|starts| starts.find(text.as_bytes()).is_some());
        if begins || *given != self.base + self.text.len() {
            return false;
        }
        self.members.push(text, &shape.values, call, tell);
        *search = None;
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
        if !matches!(self.looking, Looking::Tag(_)) {
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
                Looking::Tag(search) => match search.advance(&window) {
                    Ok(Progress::Pending { hold }) => {
                        self.hold = hold;
                        return;
                    }
                    Ok(Progress::Found(found)) => {
                        self.hold = found.span.end;
                        let next = match &shape.split {
                            Some(split) => {
                                opened(&mut self.members, shape, split, &found, &window, call, tell)
                            }
                            None => matched(&mut self.members, shape, &found, &window, call, tell),
                        };
                        self.looking = next.unwrap_or(Looking::Lost);
                    }
                    Err(_) => self.looking = Looking::Lost,
                },
                Looking::Close {
                    search,
                    close,
                    given,
                } => match closing(search, shape, *close, *given, &window) {
                    Ok(Progress::Pending { hold }) => {
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
                    Ok(Progress::Found(found)) => {
                        let piece = window.slice(*given..found.span.start);
                        self.members.push(piece, &shape.values, call, tell);
                        self.hold = found.span.end;
                        let whole = self.members.end(&shape.values, call, tell);
                        self.looking = if whole {
                            Looking::Tag(Search::new(tag(shape), found.span.end))
                        } else {
                            Looking::Lost
                        };
                    }
                    Err(_) => self.looking = Looking::Lost,
                },
            }
        }
    }

    /// Drops text that is not looked at again.
    fn trim(&mut self, shape: &TagShape) {
        let closes = shape.split.iter().flat_map(|split| &split.closes);
        let closes = closes.map(|close| &close.pattern);
        let behind = closes.chain([tag(shape)]).map(Pattern::lookbehind);
        let behind = behind.max().unwrap_or(usize::MAX);
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

/// Takes note that a tag has begun, and its value follows.
fn opened(
    members: &mut Members,
    shape: &TagShape,
    split: &Split,
    found: &Captures,
    window: &Window<'_>,
    call: &mut Call,
    tell: &mut Tell<'_>,
) -> Option<Looking> {
    let key = found.group("key")?;
    let pattern = match split.closes.len() {
        1 => Some(0),
        many => (0..many).find(|number| found.group(&alternative(*number)).is_some()),
    }?;
    members.begin(window.slice(key), &shape.values, call, tell);
    let given = found.span.end;
    Some(Looking::Close {
        search: None,
        close: pattern,
        given,
    })
}

/// Looks for the end of a value, which begins at `given` or later.
fn closing(
    search: &mut Option<Search>,
    shape: &TagShape,
    close: usize,
    given: usize,
    window: &Window<'_>,
) -> Result<Progress, MatchError> {
    let closes = shape.split.as_ref().map(|split| &split.closes);
    let Some(close) = closes.and_then(|closes| closes.get(close)) else {
        return Ok(Progress::Pending { hold: window.end() });
    };
    search
        .get_or_insert_with(|| Search::new(&close.pattern, given))
        .advance(window)
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
    Some(Looking::Tag(Search::after(&shape.pattern, &found.span)))
}
