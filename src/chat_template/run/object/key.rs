//! Dictionary keys: hashed and compared as Python does.

use std::hash::{Hash, Hasher};

use indexmap::Equivalent;

use super::Py;

/// How deep a tuple that is a key may nest.
const MAX_KEY_DEPTH: usize = 5;

/// A dictionary's key: anything that Python can hash.
#[derive(Debug, Clone)]
pub(in crate::chat_template::run) struct Key(pub(in crate::chat_template::run) Py);

/// A string that finds the key equal to it.
pub(in crate::chat_template::run) struct StrKey<'a>(pub(in crate::chat_template::run) &'a str);

impl Hash for StrKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        0u8.hash(state);
        self.0.hash(state);
    }
}

impl Equivalent<Key> for StrKey<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        matches!(&key.0, Py::Str(text) if **text == *self.0)
    }
}

impl Key {
    /// The value as a key; `None` when Python cannot hash it.
    pub(in crate::chat_template::run) fn new(value: &Py) -> Option<Self> {
        match value {
            Py::List(_) | Py::Dict(_) => None,
            // Hashing walks through a tuple, as often as something in it is shared.
            Py::Tuple(items) if items.depth() > MAX_KEY_DEPTH => None,
            Py::Tuple(items) => items
                .items()
                .iter()
                .all(|item| Self::new(item).is_some())
                .then(|| Self(value.clone())),
            _ => Some(Self(value.clone())),
        }
    }
}

fn hash_key<H: Hasher>(value: &Py, state: &mut H) {
    match value {
        Py::Str(text) => {
            0u8.hash(state);
            text.hash(state);
        }
        // Numbers that are equal are the same key.
        Py::Bool(value, _) => (1u8, i64::from(*value)).hash(state),
        Py::Int(value, _) => (1u8, *value).hash(state),
        #[allow(
            clippy::cast_possible_truncation,
            reason = "only whole floats get here"
        )]
        Py::Float(value, _) if value.fract() == 0.0 && value.abs() < 9e18 => {
            (1u8, *value as i64).hash(state)
        }
        Py::Float(value, _) => (2u8, value.to_bits()).hash(state),
        Py::Big(value, _) => {
            3u8.hash(state);
            value.hash(state);
        }
        Py::Tuple(items) => {
            4u8.hash(state);
            items.items().iter().for_each(|item| hash_key(item, state));
        }
        Py::None(_) => 5u8.hash(state),
        _ => 6u8.hash(state),
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_key(&self.0, state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&other.0, &mut 1_000_000)
    }
}

impl Eq for Key {}
