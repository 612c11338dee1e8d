//! Values that render the same, whatever the chat template: unlike for equality the order of keys counts.

use std::hash::{Hash, Hasher};

use super::{Map, Value};

impl Value {
    /// Returns true if nobody could tell the two apart: they are equal, with all keys in the same order.
    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(a), Self::Array(b)) => are_identical(a, b),
            (Self::Object(a), Self::Object(b)) => a.is_identical(b),
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            _ => self == other,
        }
    }

    /// Feeds the hasher the same for identical values.
    pub(crate) fn hash_into(&self, hasher: &mut impl Hasher) {
        std::mem::discriminant(self).hash(hasher);
        match self {
            Self::Null => {}
            Self::Bool(value) => value.hash(hasher),
            Self::Int(value) => value.hash(hasher),
            Self::Float(value) => value.to_bits().hash(hasher),
            Self::String(text) => text.hash(hasher),
            Self::Array(items) => items.iter().for_each(|item| item.hash_into(hasher)),
            Self::Object(members) => members.hash_into(hasher),
        }
    }
}

impl Map {
    /// Returns true if both have identical values under the same keys in the same order.
    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        self.shares(other)
            || self.len() == other.len()
                && self
                    .iter()
                    .zip(other.iter())
                    .all(|((key, a), (other, b))| key == other && a.is_identical(b))
    }

    /// Feeds the hasher the same for identical objects.
    pub(crate) fn hash_into(&self, hasher: &mut impl Hasher) {
        for (key, value) in self.iter() {
            key.hash(hasher);
            value.hash_into(hasher);
        }
    }
}

/// Returns true if two lists are identical, value by value.
pub(crate) fn are_identical(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_identical(b))
}

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use super::*;
    use crate::value::json;

    #[test]
    fn the_order_of_keys_tells_apart() {
        let value = |text: &str| json::parse(text).unwrap();
        let hash = |value: &Value| {
            let mut hasher = DefaultHasher::new();
            value.hash_into(&mut hasher);
            hasher.finish()
        };
        for (a, b, same) in [
            (r#"{"a": 1, "b": [2]}"#, r#"{"a": 1, "b": [2]}"#, true),
            (r#"{"a": 1, "b": [2]}"#, r#"{"b": [2], "a": 1}"#, false),
            (r#"[{"a": 1, "b": 2}]"#, r#"[{"b": 2, "a": 1}]"#, false),
            ("[1, 2]", "[1]", false),
            ("0.0", "-0.0", false),
            ("NaN", "NaN", true),
        ] {
            let (a, b) = (value(a), value(b));
            assert_eq!(a.is_identical(&b), same, "{a:?} {b:?}");
            assert_eq!(hash(&a) == hash(&b), same, "{a:?} {b:?}");
        }
    }
}
