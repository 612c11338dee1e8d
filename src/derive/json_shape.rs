//! Finding JSON in a render, and values in that JSON.

use std::ops::Range;

use crate::value::{Value, json};

/// One step into a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Key(String),
    Index(usize),
}

/// The outermost JSON array or object that begins at or after `from` and holds what stands at `inside`.
pub(super) fn outermost(text: &str, from: usize, inside: usize) -> Option<(Range<usize>, Value)> {
    text[from..inside]
        .match_indices(['{', '['])
        .find_map(|(at, _)| {
            let start = from + at;
            let (value, len) = json::parse_prefix(&text[start..]).ok()?;
            (start + len > inside).then_some((start..start + len, value))
        })
}

/// The way to the first place in `value` that equals `wanted`.
pub(super) fn find(value: &Value, wanted: &Value) -> Option<Vec<Place>> {
    if value == wanted {
        return Some(Vec::new());
    }
    let below = |place: Place, child: &Value| {
        find(child, wanted).map(|mut path| {
            path.insert(0, place);
            path
        })
    };
    match value {
        Value::Object(map) => map
            .iter()
            .find_map(|(key, child)| below(Place::Key(key.to_string()), child)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, child)| below(Place::Index(index), child)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_outermost_value_around_a_place() {
        let text = r#"[CALLS] [{"name": "f"}, {"name": "g"}] [x]"#;
        let (span, value) = outermost(text, 0, text.find('f').unwrap()).unwrap();
        assert_eq!(&text[span], r#"[{"name": "f"}, {"name": "g"}]"#);
        assert_eq!(
            find(&value, &Value::from("g")),
            Some(vec![Place::Index(1), Place::Key("name".to_owned())])
        );
    }

    #[test]
    fn a_bracket_that_is_not_json_is_passed_over() {
        assert!(outermost("[a] b", 0, 4).is_none());
    }
}
