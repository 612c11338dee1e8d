//! Values to and from serde and `serde_json`.
//!
//! Both are narrower than Python's JSON, so not everything passes: an integer outside `i128` cannot be serialized, and a
//! serializer decides what becomes of `NaN` and the infinities (`serde_json` writes `null`). [`super::json`] writes both.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use super::json::MAX_DEPTH;
use super::{Integer, Key, Map, Value};

/// Why a value has no equal on the other side of a conversion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// Lists and objects nest deeper than [`MAX_DEPTH`].
    #[error("lists and objects nest deeper than the limit of {MAX_DEPTH}")]
    TooDeep,
    /// `serde_json` holds integers from `i64::MIN` to `u64::MAX`.
    #[error("the integer {0} is outside 64 bits")]
    IntegerTooLarge(Integer),
    /// `serde_json` holds no `NaN` and no infinities.
    #[error("{0} is not a number that strict JSON can write")]
    NotFinite(String),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => value.serialize(serializer),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Object(members) => members.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            map.serialize_entry(key.as_str(), value)?;
        }
        map.end()
    }
}

/// Fails for an integer outside `i128`.
impl Serialize for Integer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(small) = self.as_i64() {
            return serializer.serialize_i64(small);
        }
        let digits = self.to_string();
        if let Ok(unsigned) = digits.parse() {
            return serializer.serialize_u64(unsigned);
        }
        match digits.parse() {
            Ok(wide) => serializer.serialize_i128(wide),
            Err(_) => Err(S::Error::custom(
                "the integer is outside 128 bits, which serde cannot carry",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_none<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
                Value::deserialize(deserializer)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Int(Integer::from(value)))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Value::Int(Integer::from(value)))
            }

            fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Value, E> {
                Integer::from_digits(&value.to_string())
                    .map(Value::Int)
                    .ok_or_else(|| E::custom("an integer spells no digits"))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Float(value))
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::String(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Value, E> {
                Ok(Value::String(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(Value::Array(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
                let mut members = Map::new();
                while let Some((key, value)) = access.next_entry::<Key, Value>()? {
                    members.insert(key, value);
                }
                Ok(Value::Object(members))
            }
        }

        deserializer.deserialize_any(Any).map_err(D::Error::custom)
    }
}

/// Fails only for a value that nests deeper than [`MAX_DEPTH`].
impl TryFrom<&serde_json::Value> for Value {
    type Error = ConversionError;

    fn try_from(value: &serde_json::Value) -> Result<Self, ConversionError> {
        from_serde(value, MAX_DEPTH)
    }
}

/// Fails for an integer outside 64 bits, for `NaN` and the infinities, and deeper than [`MAX_DEPTH`].
impl TryFrom<&Value> for serde_json::Value {
    type Error = ConversionError;

    fn try_from(value: &Value) -> Result<Self, ConversionError> {
        to_serde(value, MAX_DEPTH)
    }
}

fn from_serde(value: &serde_json::Value, depth: usize) -> Result<Value, ConversionError> {
    let inner = || depth.checked_sub(1).ok_or(ConversionError::TooDeep);
    Ok(match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(small), _) => Value::Int(Integer::from(small)),
            (None, Some(unsigned)) => Value::Int(Integer::from(unsigned)),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(items) => {
            let depth = inner()?;
            Value::Array(
                items
                    .iter()
                    .map(|item| from_serde(item, depth))
                    .collect::<Result<_, _>>()?,
            )
        }
        serde_json::Value::Object(members) => {
            let depth = inner()?;
            let convert = |(key, value): (&String, _)| Ok((key.clone(), from_serde(value, depth)?));
            Value::Object(members.iter().map(convert).collect::<Result<_, _>>()?)
        }
    })
}

fn to_serde(value: &Value, depth: usize) -> Result<serde_json::Value, ConversionError> {
    let inner = || depth.checked_sub(1).ok_or(ConversionError::TooDeep);
    Ok(match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(integer) => match (integer.as_i64(), integer.to_string().parse::<u64>()) {
            (Some(small), _) => small.into(),
            (None, Ok(unsigned)) => unsigned.into(),
            (None, Err(_)) => return Err(ConversionError::IntegerTooLarge(integer.clone())),
        },
        Value::Float(float) => match serde_json::Number::from_f64(*float) {
            Some(number) => serde_json::Value::Number(number),
            None => return Err(ConversionError::NotFinite(float.to_string())),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            let depth = inner()?;
            serde_json::Value::Array(
                items
                    .iter()
                    .map(|item| to_serde(item, depth))
                    .collect::<Result<_, _>>()?,
            )
        }
        Value::Object(members) => {
            let depth = inner()?;
            let convert = |(key, value): (&Key, _)| Ok((key.to_string(), to_serde(value, depth)?));
            serde_json::Value::Object(members.iter().map(convert).collect::<Result<_, _>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn what_both_sides_hold_goes_there_and_back() {
        let text = r#"{"b": [null, true, -1, 18446744073709551615, 1.0, 0.1], "a": {"é": "x"}}"#;
        let value = json::parse(text).expect("JSON");
        let there = serde_json::Value::try_from(&value).expect("a narrow value");
        assert_eq!(
            json::to_string(&Value::try_from(&there).expect("shallow")),
            text
        );
        let serialized = serde_json::to_string(&value).expect("a narrow value");
        assert_eq!(
            json::to_string(&serde_json::from_str(&serialized).expect("JSON")),
            text
        );
    }

    #[test]
    fn what_one_side_lacks_is_refused_or_documented() {
        let big = json::parse("123456789012345678901234567890").expect("JSON");
        assert!(matches!(
            serde_json::Value::try_from(&big),
            Err(ConversionError::IntegerTooLarge(_))
        ));
        assert_eq!(
            serde_json::to_string(&big).expect("within 128 bits"),
            "123456789012345678901234567890"
        );
        let bigger = json::parse(&"9".repeat(50)).expect("JSON");
        assert!(serde_json::to_string(&bigger).is_err());
        let nan = Value::Float(f64::NAN);
        assert!(matches!(
            serde_json::Value::try_from(&nan),
            Err(ConversionError::NotFinite(_))
        ));
        assert_eq!(serde_json::to_string(&nan).expect("null"), "null");
    }

    #[test]
    fn depth_is_limited() {
        let deep = |levels| {
            (0..levels).fold(serde_json::Value::Null, |inner, _| {
                serde_json::Value::Array(vec![inner])
            })
        };
        assert!(Value::try_from(&deep(MAX_DEPTH)).is_ok());
        assert_eq!(
            Value::try_from(&deep(MAX_DEPTH + 1)),
            Err(ConversionError::TooDeep)
        );
    }
}
