//! Text under way: what a render prints, and what an operation makes.

use std::ops::Range;
use std::rc::Rc;

use super::piece::{Piece, append};
use super::text::Text;
use super::{Node, Taint, Trace};

/// The bytes that a render is given room for at first.
const ROOM: usize = 1 << 10;

/// Text that is being written, with its origins where they are traced.
#[derive(Debug, Default)]
pub(in crate::chat_template::run) struct Written {
    text: String,
    traced: Option<Traced>,
}

#[derive(Debug)]
struct Traced {
    trace: Rc<Trace>,
    pieces: Vec<Piece>,
    /// The index of the first piece of this text; those before it belong to other text.
    floor: usize,
}

impl Written {
    /// An empty text.
    pub(in crate::chat_template::run) fn new(trace: Option<&Rc<Trace>>) -> Self {
        Self {
            text: String::new(),
            traced: trace.map(|trace| Traced {
                trace: trace.clone(),
                pieces: Vec::new(),
                floor: 0,
            }),
        }
    }

    /// A new, empty text with room for as much as most renders print.
    pub(in crate::chat_template::run) fn with_room(trace: Option<&Rc<Trace>>) -> Self {
        let mut written = Self::new(trace);
        written.text.reserve(ROOM);
        written
    }

    /// Returns the record of the origins, where they are traced.
    pub(in crate::chat_template::run) fn trace(&self) -> Option<&Rc<Trace>> {
        self.traced.as_ref().map(|traced| &traced.trace)
    }

    /// The text, to append to where origins are not traced.
    pub(in crate::chat_template::run) fn buffer(&mut self) -> &mut String {
        &mut self.text
    }

    #[inline]
    pub(in crate::chat_template::run) fn len(&self) -> usize {
        self.text.len()
    }

    /// Makes room for so many bytes more.
    pub(in crate::chat_template::run) fn reserve(&mut self, bytes: usize) {
        self.text.reserve(bytes);
    }

    fn piece(&mut self, piece: Piece) {
        let Some(traced) = &mut self.traced else {
            return;
        };
        if piece.is_empty() {
            let inputs = traced.trace.inputs_of(&piece);
            if inputs.is_none() {
                return;
            }
            // One empty piece stands for all that follow each other, so that there are never many more pieces than bytes.
            if traced.pieces.len() > traced.floor
                && let Some(last) = traced.pieces.last_mut()
                && last.is_empty()
            {
                let both = traced.trace.join(traced.trace.inputs_of(last), inputs);
                *last = Piece::written(0, both.node(), true);
                return;
            }
        }
        append(&mut traced.pieces, traced.floor, piece);
    }

    /// Adds text that comes from no input, but from what the template does here.
    #[inline]
    pub(in crate::chat_template::run) fn push(&mut self, text: &str) {
        self.push_of(text, Taint::NONE);
    }

    /// Adds text of whose origin nothing is told.
    pub(in crate::chat_template::run) fn push_untold(&mut self, text: &str) {
        self.text.push_str(text);
        if self.traced.is_some() {
            self.piece(Piece::written(text.len(), 0, true));
        }
    }

    /// Adds text that was derived from inputs or, where there are none, from what the template does here.
    #[inline]
    pub(in crate::chat_template::run) fn push_of(&mut self, text: &str, taint: Taint) {
        self.text.push_str(text);
        if let Some(traced) = &self.traced {
            let origin = match taint.node() {
                0 => traced.trace.here(),
                node => node,
            };
            self.piece(Piece::written(text.len(), origin, true));
        }
    }

    /// Adds no text, which is so because inputs are what they are.
    #[inline]
    pub(in crate::chat_template::run) fn push_nothing(&mut self, taint: Taint) {
        if !taint.is_none() {
            self.piece(Piece::written(0, taint.node(), true));
        }
    }

    /// Adds the text of a value. It is derived unless the value is an input itself.
    #[inline]
    pub(in crate::chat_template::run) fn push_value(&mut self, text: &str, taint: Taint) {
        if taint.is_itself() {
            self.text.push_str(text);
            self.piece(Piece::written(text.len(), taint.node(), false));
        } else {
            self.push_of(text, taint);
        }
    }

    /// Adds a constant of the template.
    #[inline]
    pub(in crate::chat_template::run) fn push_constant(&mut self, text: &str, origin: Node) {
        self.text.push_str(text);
        if self.traced.is_some() {
            self.piece(Piece::whole(text.len(), origin));
        }
    }

    /// Adds a string.
    #[inline]
    pub(in crate::chat_template::run) fn push_text(&mut self, text: &Text) {
        if self.traced.is_none() {
            self.text.push_str(text);
        } else if text.is_unknown() {
            self.push(text);
        } else {
            self.text.push_str(text);
            text.pieces().iter().for_each(|piece| self.piece(*piece));
        }
    }

    /// Adds a part of a string.
    #[inline]
    pub(in crate::chat_template::run) fn push_part(&mut self, text: &Text, range: Range<usize>) {
        self.push_changed(text, range, |piece| piece);
    }

    fn push_changed(&mut self, text: &Text, range: Range<usize>, change: impl Fn(Piece) -> Piece) {
        if self.traced.is_none() {
            self.text.push_str(&text[range]);
        } else if text.is_unknown() {
            self.push(&text[range]);
        } else {
            self.text.push_str(&text[range.clone()]);
            text.each_in(&range, |piece| self.piece(change(piece)));
        }
    }

    /// Adds text that stands for a part of a string, such as an escape for a character. It comes from the inputs `also` as well.
    pub(in crate::chat_template::run) fn push_instead(
        &mut self,
        shown: &str,
        text: &Text,
        range: Range<usize>,
        also: Taint,
    ) {
        let Some(traced) = &self.traced else {
            self.text.push_str(shown);
            return;
        };
        let mut only: Option<Piece> = None;
        let mut count = 0;
        let mut all = Taint::NONE;
        let mut beside = Taint::NONE;
        text.each_in(&range, |piece| {
            if piece.is_empty() {
                beside = traced.trace.join(beside, traced.trace.inputs_of(&piece));
            } else {
                count += 1;
                only = Some(piece);
            }
            all = traced.trace.join(all, traced.trace.inputs_of(&piece));
        });
        self.text.push_str(shown);
        let is_one = |text: &str| text.chars().nth(1).is_none();
        let is_character = is_one(shown) && is_one(&text[range]);
        let piece = match only {
            Some(piece) if count == 1 && (also.is_none() || all == also) => {
                piece.instead(shown.len(), is_character)
            }
            Some(piece) if count == 1 && !all.is_none() && !piece.is_key() => piece
                .with_origin(
                    traced
                        .trace
                        .join(traced.trace.inputs_of(&piece), also)
                        .node(),
                )
                .instead(shown.len(), is_character),
            _ => {
                let origin = match traced.trace.join(all, also).node() {
                    0 => traced.trace.here(),
                    node => node,
                };
                Piece::written(shown.len(), origin, true)
            }
        };
        // An empty piece beside a character stays beside the text that stands for the character.
        self.push_nothing(beside);
        self.piece(piece);
    }

    /// Adds a string that is there because of further inputs.
    pub(in crate::chat_template::run) fn push_because(&mut self, text: &Text, also: Taint) {
        let trace = match &self.traced {
            Some(traced) if !also.is_none() => traced.trace.clone(),
            _ => return self.push_text(text),
        };
        if text.is_unknown() {
            return self.push_of(text, also);
        }
        self.push_changed(text, 0..text.len(), |piece| {
            let own = trace.inputs_of(&piece);
            if own.is_none() {
                return piece.with_origin(also.node()).without_from();
            }
            if piece.is_key() {
                // The member is named, and so is the object that holds it.
                let member = Taint(piece.origin);
                return piece.with_origin(trace.join(member, also).node());
            }
            piece.with_origin(trace.join(own, also).node())
        });
    }

    /// Adds a text of which some characters are written as something else. For such a character, `change` writes the text that stands for
    /// it and returns true. Without a trace there are faster ways, and this is not used.
    pub(in crate::chat_template::run) fn push_mapped(
        &mut self,
        text: &Text,
        mut change: impl FnMut(char, &mut String) -> bool,
    ) {
        let mut shown = String::new();
        let mut same_from = 0;
        for (at, c) in text.char_indices() {
            shown.clear();
            if !change(c, &mut shown) {
                continue;
            }
            if same_from < at {
                self.push_part(text, same_from..at);
            }
            same_from = at + c.len_utf8();
            self.push_instead(&shown, text, at..same_from, Taint::NONE);
        }
        if same_from < text.len() || text.is_empty() {
            self.push_part(text, same_from..text.len());
        }
    }

    /// Begins a text of its own at the end, and returns what [`take`](Self::take) needs to end it.
    pub(in crate::chat_template::run) fn mark(&mut self) -> (usize, usize) {
        let before = self.traced.as_ref().map_or(0, |traced| traced.floor);
        if let Some(traced) = &mut self.traced {
            traced.floor = traced.pieces.len();
        }
        (self.text.len(), before)
    }

    /// Takes off the text that was begun at a mark.
    pub(in crate::chat_template::run) fn take(&mut self, (at, floor): (usize, usize)) -> Text {
        let text: Rc<str> = Rc::from(&self.text[at..]);
        self.text.truncate(at);
        match &mut self.traced {
            None => Text::plain(text),
            Some(traced) => {
                let pieces = traced.pieces.split_off(traced.floor);
                traced.floor = floor;
                Text::of_pieces(text, pieces)
            }
        }
    }

    /// The text as a string.
    pub(in crate::chat_template::run) fn finish(self) -> Text {
        let text: Rc<str> = Rc::from(self.text);
        match self.traced {
            None => Text::plain(text),
            Some(traced) => Text::of_pieces(text, traced.pieces),
        }
    }

    /// The text, and the pieces that it is made of.
    pub(in crate::chat_template::run) fn into_parts(self) -> (String, Vec<Piece>) {
        let pieces = self.traced.map(|traced| traced.pieces).unwrap_or_default();
        (self.text, pieces)
    }
}
