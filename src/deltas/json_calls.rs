//! Calls in JSON: their names, and the text of their arguments as it is written.

use super::calls::{Call, Known, Slot, Tell, TypedText};
use super::dialect::Rewriter;
use super::reader::{JsonReader, Kind, Visit};
use super::shape::{JsonShape, List, Role};
use crate::value::{Key, Path, json};

/// Reads a region's JSON and passes on the calls in it.
#[derive(Debug, Clone)]
pub(super) struct JsonCalls {
    reader: JsonReader,
    rewriter: Rewriter,
    state: State,
    /// True if the content parser does not take the text, or the text is not of the shape that it was taken for.
    lost: bool,
}

#[derive(Debug, Clone)]
struct State {
    /// The values that are open, from the whole inwards.
    frames: Vec<Frame>,
    /// The place of the value that comes next, if it is looked into.
    next: Option<usize>,
    /// The `id` and the name that a call has from the delimiter, before anything of it is read.
    fresh: (Known, Known),
    /// The call that is being read.
    call: Option<Call>,
    /// The outcomes of the calls so far; an item of the list that is no call has an empty one.
    slots: Vec<Slot>,
    /// True if the calls are items of a list.
    in_list: bool,
    /// The text of the name, the `id` or the argument that is being read.
    text: String,
    /// A string among the arguments that may get another type.
    typed: TypedText,
    /// The key of that argument.
    key: String,
    /// The byte of the piece at hand from which on it is the arguments' text.
    raw: Option<usize>,
    /// The byte of the piece at hand from which on it belongs to a list among the arguments that is gathered.
    gathered: Option<usize>,
    /// True if a key that counts came twice.
    twice: bool,
}

/// A value that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// A value that is not looked into.
    Other,
    /// A list of calls.
    Calls,
    /// A call, or an object in one or around it: its place, and the members that count and have come.
    Object {
        place: usize,
        came: u64,
        call: bool,
    },
    Id,
    Name,
    /// The arguments, which are passed on as they are written.
    Raw,
    /// Arguments that are a string, of which the text is passed on.
    Unquoted,
    /// Arguments whose members may get the types that the tool declares.
    Typed,
    /// A string among those, which may get another type.
    TypedText,
    /// A list among those, whose items may get another type.
    TypedList,
}

impl State {
    /// Takes a piece that is nothing but text of a string.
    #[inline]
    fn pass(&mut self, text: &str, tell: &mut Tell<'_>) {
        if self.gathered.is_some() {
            self.text.push_str(text);
        } else if let (Some(_), Some(call)) = (self.raw, &mut self.call) {
            call.write(text, tell);
        }
    }
}

impl JsonCalls {
    /// Makes a reader for a region whose delimiter gives these members of its calls.
    pub(super) fn new(shape: &JsonShape, id: Known, name: Known) -> Self {
        let mut calls = Self {
            reader: JsonReader::default(),
            rewriter: Rewriter::default(),
            state: State {
                frames: Vec::new(),
                next: None,
                call: None,
                fresh: (Known::NotYet, Known::NotYet),
                slots: Vec::new(),
                in_list: false,
                text: String::new(),
                typed: TypedText::default(),
                key: String::new(),
                raw: None,
                gathered: None,
                twice: false,
            },
            lost: false,
        };
        calls.reset(shape, id, name);
        calls
    }

    /// Makes it as new for another region, with the memory that it has.
    pub(super) fn reset(&mut self, shape: &JsonShape, id: Known, name: Known) {
        self.reader.reset();
        self.rewriter = Rewriter::default();
        self.lost = false;
        let state = &mut self.state;
        state.fresh = (id, name);
        let direct = shape.places[0].role == Role::Arguments;
        state.call = direct.then(|| Call::of(&state.fresh));
        state.next = Some(0);
        state.frames.clear();
        state.slots.clear();
        state.in_list = false;
        state.text.clear();
        state.typed.reset();
        state.key.clear();
        state.raw = None;
        state.gathered = None;
        state.twice = false;
    }

    /// Passes on a call of which the delimiter gives all but the arguments.
    pub(super) fn begin(&mut self, base: &Path, tell: &mut Tell<'_>) {
        if let Some(call) = &mut self.state.call {
            call.open_if_known(|| base.clone(), tell);
        }
    }

    pub(super) fn feed(&mut self, shape: &JsonShape, base: &Path, text: &str, tell: &mut Tell<'_>) {
        if self.lost {
            return;
        }
        if shape.dialect.strings.is_none() && !shape.dialect.unquoted_keys {
            // Nearly every piece of a long argument.
            if self.reader.passes(text) {
                return self.state.pass(text, tell);
            }
            return self.read(shape, base, text, tell);
        }
        let mut plain = String::new();
        let rewritten = self.rewriter.push(&shape.dialect, text, &mut plain);
        self.read(shape, base, &plain, tell);
        self.lost |= !rewritten;
    }

    fn read(&mut self, shape: &JsonShape, base: &Path, text: &str, tell: &mut Tell<'_>) {
        let mut visitor = Visitor {
            state: &mut self.state,
            shape,
            base,
            piece: text,
            tell,
        };
        let read = self.reader.feed(text, &mut visitor);
        visitor.flush(read);
        if let Some(from) = &mut self.state.raw {
            *from = 0;
        }
        if let Some(from) = &mut self.state.gathered {
            self.state.text.push_str(&text[*from..]);
            *from = 0;
        }
        self.lost |= self.reader.is_broken() || self.state.twice;
    }

    /// Ends the region, and returns true if the text is of the shape that it was taken for.
    pub(super) fn finish(&mut self, shape: &JsonShape, base: &Path, tell: &mut Tell<'_>) -> bool {
        if !self.lost && (shape.dialect.strings.is_some() || shape.dialect.unquoted_keys) {
            let mut plain = String::new();
            self.lost |= !self.rewriter.finish(&shape.dialect, &mut plain);
            self.read(shape, base, &plain, tell);
        }
        let mut visitor = Visitor {
            state: &mut self.state,
            shape,
            base,
            piece: "",
            tell,
        };
        self.reader.finish(&mut visitor);
        if let Some(call) = self.state.call.take() {
            self.state.slots.push(call.slot);
        }
        !self.lost && self.reader.is_over()
    }

    /// The outcomes of its calls, once it has ended.
    pub(super) fn slots(&self) -> &[Slot] {
        &self.state.slots
    }

    /// The calls that were passed on.
    pub(super) fn passed(&self) -> impl Iterator<Item = usize> + '_ {
        let open = self.state.call.as_ref().map(|call| call.slot);
        self.state
            .slots
            .iter()
            .copied()
            .chain(open)
            .filter_map(|slot| slot.index)
    }
}

struct Visitor<'v, 't> {
    state: &'v mut State,
    shape: &'v JsonShape,
    base: &'v Path,
    piece: &'v str,
    tell: &'v mut Tell<'t>,
}

impl Visitor<'_, '_> {
    /// Passes on the arguments' text up to this byte of the piece.
    fn flush(&mut self, end: usize) {
        let Some(from) = self.state.raw else { return };
        let text = &self.piece[from..end.max(from)];
        self.state.raw = Some(end);
        match &mut self.state.call {
            Some(call) if !text.is_empty() => call.write(text, self.tell),
            _ => {}
        }
    }

    fn open_if_known(&mut self) {
        if self.state.twice {
            return;
        }
        let (base, place) = (self.base, self.state.slots.len());
        let in_list = self.state.in_list;
        if let Some(call) = &mut self.state.call {
            let path = || {
                if in_list {
                    base.index(place)
                } else {
                    base.clone()
                }
            };
            call.open_if_known(path, self.tell);
        }
    }

    /// Begins the arguments.
    fn arguments(&mut self, at: usize, kind: Kind) -> Frame {
        let Some(call) = &mut self.state.call else {
            return Frame::Other;
        };
        if kind == Kind::String {
            return Frame::Unquoted;
        }
        self.state.raw = Some(at);
        if call.is_open() {
            if kind == Kind::Object && call.types(self.tell.tools).is_some() {
                return Frame::Typed;
            }
        } else {
            call.untyped = kind == Kind::Object;
        }
        Frame::Raw
    }

    /// The frame of a value that begins at a place.
    fn frame(&mut self, place: usize, item: bool, at: usize, kind: Kind) -> Frame {
        if self.state.twice {
            return Frame::Other;
        }
        let list = self.shape.list;
        match self.shape.places[place].role {
            Role::Calls if !item && kind == Kind::Array && list != List::Never => {
                self.state.in_list = true;
                Frame::Calls
            }
            Role::Calls if kind == Kind::Object && (item || list != List::Always) => {
                self.state.call = Some(Call::of(&self.state.fresh));
                self.open_if_known();
                Frame::Object {
                    place,
                    came: 0,
                    call: true,
                }
            }
            Role::Calls if item => {
                self.state.slots.push(Slot::default());
                Frame::Other
            }
            Role::Around if kind == Kind::Object => Frame::Object {
                place,
                came: 0,
                call: false,
            },
            Role::Calls | Role::Around => Frame::Other,
            Role::Arguments => self.arguments(at, kind),
            Role::Id | Role::Name => {
                let is_id = self.shape.places[place].role == Role::Id;
                if kind == Kind::String {
                    return if is_id { Frame::Id } else { Frame::Name };
                }
                if let Some(call) = &mut self.state.call {
                    let member = if is_id { &mut call.id } else { &mut call.name };
                    *member = Known::Nothing;
                }
                self.open_if_known();
                Frame::Other
            }
        }
    }
}

impl Visit for Visitor<'_, '_> {
    fn begin(&mut self, at: usize, kind: Kind) -> bool {
        let frame = match self.state.frames.last() {
            Some(Frame::Calls) => {
                // Its items have the place of the list.
                let calls = |place: &usize| self.shape.places[*place].role == Role::Calls;
                let place = (0..self.shape.places.len()).find(calls);
                place.map_or(Frame::Other, |place| self.frame(place, true, at, kind))
            }
            Some(Frame::Typed) => {
                let call = self.state.call.as_ref();
                let types = call.and_then(|call| call.types(self.tell.tools));
                let types = types.map_or(&[][..], |types| types.of(&self.state.key));
                match kind {
                    Kind::String if !types.is_empty() => Frame::TypedText,
                    Kind::Array if !types.is_empty() => Frame::TypedList,
                    _ => Frame::Other,
                }
            }
            None | Some(Frame::Object { .. }) => match self.state.next.take() {
                Some(place) => self.frame(place, false, at, kind),
                None => Frame::Other,
            },
            Some(_) => Frame::Other,
        };
        match frame {
            Frame::TypedText | Frame::TypedList => {
                self.flush(at);
                self.state.raw = None;
                self.state.text.clear();
                self.state.gathered = (frame == Frame::TypedList).then_some(at);
            }
            Frame::Id | Frame::Name => self.state.text.clear(),
            _ => {}
        }
        self.state.frames.push(frame);
        matches!(
            frame,
            Frame::Id | Frame::Name | Frame::Unquoted | Frame::TypedText
        )
    }

    fn text(&mut self, text: &str) {
        match self.state.frames.last() {
            Some(Frame::Id | Frame::Name) => self.state.text.push_str(text),
            Some(Frame::Unquoted) => {
                if let Some(call) = &mut self.state.call {
                    call.write(text, self.tell);
                }
            }
            Some(Frame::TypedText) => {
                if let Some(call) = &mut self.state.call {
                    let mut out = String::new();
                    let types = call.types(self.tell.tools);
                    self.state
                        .typed
                        .push(text, types, &self.state.key, &mut out);
                    call.write(&out, self.tell);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, at: usize) {
        let Some(frame) = self.state.frames.pop() else {
            return;
        };
        match frame {
            Frame::Id | Frame::Name => {
                let text = Known::Text(Key::new(&self.state.text));
                if let Some(call) = &mut self.state.call {
                    let is_id = frame == Frame::Id;
                    *(if is_id { &mut call.id } else { &mut call.name }) = text;
                }
                self.open_if_known();
            }
            Frame::Raw | Frame::Typed | Frame::Unquoted => {
                self.flush(at);
                self.state.raw = None;
                if let Some(call) = &mut self.state.call {
                    call.slot.complete = true;
                }
            }
            Frame::TypedText => {
                if let Some(call) = &mut self.state.call {
                    let mut out = String::new();
                    let types = call.types(self.tell.tools);
                    self.state.typed.end(types, &self.state.key, &mut out);
                    call.write(&out, self.tell);
                }
                self.state.raw = Some(at);
            }
            Frame::TypedList => {
                if let Some(from) = self.state.gathered.take() {
                    self.state.text.push_str(&self.piece[from..at]);
                }
                let text = std::mem::take(&mut self.state.text);
                if let Some(call) = &mut self.state.call {
                    let mut out = None;
                    if let (Ok(mut value), Some(types)) =
                        (json::parse(&text), call.types(self.tell.tools))
                    {
                        types.coerce(&self.state.key, &mut value);
                        out = Some(json::to_string(&value));
                    }
                    call.write(&out.unwrap_or(text), self.tell);
                }
                self.state.raw = Some(at);
            }
            Frame::Object { call: true, .. } => {
                if let Some(call) = &mut self.state.call
                    && let Some(absent) = &self.shape.absent_id
                    && call.id == Known::NotYet
                {
                    call.id = absent.clone();
                }
                self.open_if_known();
                if let Some(mut call) = self.state.call.take() {
                    // A call may have no arguments at all.
                    call.slot.complete = true;
                    self.state.slots.push(call.slot);
                }
            }
            Frame::Other | Frame::Calls | Frame::Object { .. } => {}
        }
    }

    fn wants_keys(&self) -> bool {
        matches!(
            self.state.frames.last(),
            Some(Frame::Object { .. } | Frame::Typed)
        )
    }

    fn key(&mut self, key: &str) {
        match self.state.frames.last_mut() {
            Some(Frame::Object { place, came, .. }) => {
                let members = &self.shape.places[*place].members;
                let member = members.iter().position(|(name, _)| name == key);
                self.state.next = member.map(|member| members[member].1);
                if let Some(member) = member {
                    let bit = 1 << (member % 64);
                    self.state.twice |= *came & bit != 0;
                    *came |= bit;
                }
            }
            Some(Frame::Typed) => {
                self.state.key.clear();
                self.state.key.push_str(key);
            }
            _ => {}
        }
    }
}
