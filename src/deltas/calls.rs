//! Calls: telling them from other values, and passing one on while it is written.

use std::borrow::Cow;

use super::Growth;
use crate::content::{ToolSchemas, Types};
use crate::value::{Key, Path, Value, json};

/// A call of a message, as coercion and servers know one: an object with a `function` that has a name.
pub(super) struct CallParts<'v> {
    pub(super) id: Option<&'v str>,
    pub(super) name: &'v str,
    pub(super) arguments: Option<&'v Value>,
}

pub(super) fn as_call(value: &Value) -> Option<CallParts<'_>> {
    let members = value.as_object()?;
    let function = members.get("function")?.as_object()?;
    Some(CallParts {
        id: members.get("id").and_then(Value::as_str),
        name: function.get("name")?.as_str()?,
        arguments: function.get("arguments"),
    })
}

/// Returns true if the value is a call or a list, however deep, with one.
pub(super) fn holds_call(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_call),
        value => as_call(value).is_some(),
    }
}

/// The text of a call's arguments as clients get them: a string stands for itself.
fn arguments_text(arguments: Option<&Value>) -> Cow<'_, str> {
    match arguments {
        None => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(value) => Cow::Owned(json::to_string(value)),
    }
}

/// The receiver of growth, and the counts that hold for the whole message.
pub(super) struct Tell<'t> {
    pub(super) sink: &'t mut dyn FnMut(Growth<'_>),
    /// The number of the next call.
    pub(super) next: &'t mut usize,
    pub(super) tools: &'t ToolSchemas,
}

impl Tell<'_> {
    /// Passes on a call that has begun, and gives its number.
    fn open(
        &mut self,
        path: &Path,
        id: Option<&str>,
        name: &str,
        replaces: Option<usize>,
    ) -> usize {
        let index = *self.next;
        *self.next += 1;
        (self.sink)(Growth::Call {
            index,
            path: Cow::Borrowed(path),
            id: id.map(Cow::Borrowed),
            name: Cow::Borrowed(name),
            replaces,
        });
        index
    }

    pub(super) fn arguments(&mut self, index: usize, text: &str) {
        if !text.is_empty() {
            (self.sink)(Growth::Arguments {
                index,
                text: Cow::Borrowed(text),
            });
        }
    }

    pub(super) fn text(&mut self, path: &Path, text: &str) {
        if !text.is_empty() {
            (self.sink)(Growth::Text {
                path: Cow::Borrowed(path),
                text: Cow::Borrowed(text),
            });
        }
    }

    /// Passes on a value that is whole; the numbers of its calls are added to `calls`.
    pub(super) fn value(&mut self, path: &Path, value: &Value, calls: &mut Vec<usize>) {
        self.value_in_place_of(&[], path, value, calls);
    }

    /// Passes on a value that is whole, in the place of one whose calls were dropped. `dropped` has the outcomes of these calls, and the
    /// numbers of the value's own calls are added to `calls`.
    pub(super) fn value_in_place_of(
        &mut self,
        dropped: &[Slot],
        path: &Path,
        value: &Value,
        calls: &mut Vec<usize>,
    ) {
        if let Some(call) = as_call(value) {
            let replaces = dropped.first().and_then(|slot| slot.index);
            let index = self.open(path, call.id, call.name, replaces);
            self.arguments(index, &arguments_text(call.arguments));
            (self.sink)(Growth::CallDone { index });
            calls.push(index);
            return;
        }
        match value {
            Value::Array(items) if holds_call(value) => {
                for (place, item) in items.iter().enumerate() {
                    let dropped = dropped.get(place..).unwrap_or_default();
                    let dropped = &dropped[..dropped.len().min(1)];
                    self.value_in_place_of(dropped, &path.index(place), item, calls);
                }
            }
            Value::String(text) if !text.is_empty() => self.text(path, text),
            value => (self.sink)(Growth::Value {
                path: Cow::Borrowed(path),
                value: Cow::Borrowed(value),
            }),
        }
    }
}

/// A member of a call, such as its name, as far as it is known while the call arrives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Known {
    /// The member may still come.
    #[default]
    NotYet,
    /// The call has no such member.
    Nothing,
    Text(Key),
}

impl Known {
    fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A call while it is written: its name and `id` come first, whenever they are written, and then its arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) id: Known,
    pub(super) name: Known,
    /// The part of the call that was passed on.
    pub(super) slot: Slot,
    /// The text of arguments that wait for the name or the `id`.
    pub(super) waiting: String,
    /// True if the text that waits spells an object, whose members can still get the types that the tool declares.
    pub(super) untyped: bool,
}

/// The outcome of a call that was passed on while its region was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slot {
    /// The call's number; `None` where the call was not passed on.
    pub(super) index: Option<usize>,
    /// True if all of its arguments were passed on.
    pub(super) complete: bool,
}

impl Call {
    /// A call with what is known of its `id` and its name so far.
    pub(super) fn of((id, name): &(Known, Known)) -> Self {
        Self {
            id: id.clone(),
            name: name.clone(),
            ..Self::default()
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.slot.index.is_some()
    }

    /// Begins another call, with what is known of its `id` and its name.
    pub(super) fn reset(&mut self, id: Known, name: Known) {
        self.id = id;
        self.name = name;
        self.slot = Slot::default();
        self.waiting.clear();
        self.untyped = false;
    }

    /// The types of its arguments, if the name is known and its tool declares any.
    pub(super) fn types<'t>(&self, tools: &'t ToolSchemas) -> Option<&'t Types> {
        tools.of_tool(self.name.as_str()?)
    }

    /// If all is known that must come before the arguments of the call, passes the call on, and the arguments that waited.
    pub(super) fn open_if_known(&mut self, path: impl FnOnce() -> Path, tell: &mut Tell<'_>) {
        if self.is_open() || self.id == Known::NotYet {
            return;
        }
        let Known::Text(name) = &self.name else {
            return;
        };
        let index = tell.open(&path(), self.id.as_str(), name, None);
        self.slot.index = Some(index);
        if self.waiting.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut self.waiting);
        let typed = self.types(tell.tools).filter(|_| self.untyped);
        match typed.and_then(|types| retyped(&waiting, types)) {
            Some(text) => tell.arguments(index, &text),
            None => tell.arguments(index, &waiting),
        }
    }

    /// Adds more of the text of the call's arguments.
    pub(super) fn write(&mut self, text: &str, tell: &mut Tell<'_>) {
        match self.slot.index {
            Some(index) => tell.arguments(index, text),
            None => self.waiting.push_str(text),
        }
    }
}

/// The arguments with the types that are declared for them; `None` where they are no object.
fn retyped(arguments: &str, types: &Types) -> Option<String> {
    let Ok(Value::Object(mut members)) = json::parse(arguments) else {
        return None;
    };
    for (name, argument) in &mut members {
        types.coerce(name, argument);
    }
    Some(json::to_string(&Value::Object(members)))
}

/// A string on its way into JSON text, which may turn out to be of another type that is declared for it.
#[derive(Debug, Clone, Default)]
pub(super) struct TypedText {
    /// The text that has come of it while it may still be of another type.
    held: String,
    /// True if it is passed on as a string.
    is_text: bool,
}

impl TypedText {
    /// Returns true if the piece of the string is passed on as it is: nothing in it is escaped, and it is clear that the value is a string.
    pub(super) fn is_plain(&self, piece: &str) -> bool {
        self.is_text && json::plain(piece.as_bytes()) == piece.len()
    }

    /// Adds more of the string.
    pub(super) fn push(
        &mut self,
        piece: &str,
        types: Option<&Types>,
        name: &str,
        out: &mut String,
    ) {
        if self.is_text {
            return json::write_piece(out, piece);
        }
        let types = types.map_or(&[][..], |types| types.of(name));
        if types.is_empty() {
            if !piece.is_empty() {
                self.is_text = true;
                out.push('"');
                json::write_piece(out, piece);
            }
            return;
        }
        self.held.push_str(piece);
        if !types.iter().any(|declared| declared.may_begin(&self.held)) {
            self.is_text = true;
            out.push('"');
            json::write_piece(out, &self.held);
            self.held.clear();
        }
    }

    /// Begins another string.
    pub(super) fn reset(&mut self) {
        self.held.clear();
        self.is_text = false;
    }

    /// Ends the string.
    pub(super) fn end(&mut self, types: Option<&Types>, name: &str, out: &mut String) {
        if std::mem::take(&mut self.is_text) {
            return out.push('"');
        }
        if self.held.is_empty() && types.is_none() {
            return out.push_str("\"\"");
        }
        let mut value = Value::from(std::mem::take(&mut self.held));
        if let Some(types) = types {
            types.coerce(name, &mut value);
        }
        out.push_str(&json::to_string(&value));
    }
}
