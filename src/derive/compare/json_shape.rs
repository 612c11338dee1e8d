//! Finding JSON in a render, and values in that JSON.

use std::ops::Range;

use crate::value::{Value, json};

/// One step into a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) enum JsonStep {
    Key(String),
    Index(usize),
}

/// The JSON arrays and objects that hold what stands at `inside`, the outermost first.
pub(in crate::derive) fn around(
    text: &str,
    inside: usize,
) -> impl Iterator<Item = (Range<usize>, Value)> {
    text[..inside]
        .match_indices(['{', '['])
        .filter_map(move |(start, _)| {
            let (value, len) = json::parse_prefix(&text[start..]).ok()?;
            (start + len > inside).then_some((start..start + len, value))
        })
}

/// The JSON strings that hold what stands at `inside`, the innermost first, as far as [`MAX_QUOTES`] quotes before it.
pub(in crate::derive) fn strings_around(
    text: &str,
    inside: usize,
) -> impl Iterator<Item = (Range<usize>, Value)> {
    let quotes = text[..inside].rmatch_indices('"').take(MAX_QUOTES);
    quotes.filter_map(move |(start, _)| {
        let (value, len) = json::parse_prefix(&text[start..]).ok()?;
        (start + len > inside).then_some((start..start + len, value))
    })
}

/// How many quotes before a place are tried as the beginning of a string around it.
const MAX_QUOTES: usize = 8;

/// The paths to all places in `value` that equal `wanted`, in the order in which they are written.
pub(in crate::derive) fn find(value: &Value, wanted: &Value) -> Vec<Vec<JsonStep>> {
    find_where(value, &|value| value == wanted)
}

/// The paths to all places in `value` where a text is the JSON of `wanted`.
pub(in crate::derive) fn find_text(value: &Value, wanted: &Value) -> Vec<Vec<JsonStep>> {
    find_where(value, &|value| {
        let text = value.as_str().filter(|text| text.starts_with(['{', '[']));
        text.is_some_and(|text| json::parse(text).is_ok_and(|inner| inner == *wanted))
    })
}

fn find_where(value: &Value, is_wanted: &dyn Fn(&Value) -> bool) -> Vec<Vec<JsonStep>> {
    if is_wanted(value) {
        return vec![Vec::new()];
    }
    let below = |place: JsonStep, child: &Value| {
        let paths = find_where(child, is_wanted).into_iter();
        let paths = paths.map(move |path| std::iter::once(place.clone()).chain(path).collect());
        paths.collect::<Vec<_>>()
    };
    match value {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, child)| below(JsonStep::Key(key.to_string()), child))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, child)| below(JsonStep::Index(index), child))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_json_is_a_string_around_its_keys() {
        let text = r#"{"with": "{\"a\": \"b\"}"}"#;
        let strings = strings_around(text, text.find('a').unwrap());
        let texts: Vec<Value> = strings.map(|(_, value)| value).collect();
        assert!(texts.contains(&Value::from(r#"{"a": "b"}"#)), "{texts:?}");
    }

    #[test]
    fn finds_the_values_around_a_place() {
        let text = r#"[CALLS] [{"name": "f"}, {"name": "g"}] [x]"#;
        let mut around = around(text, text.find("\"g").unwrap());
        let (span, value) = around.next().unwrap();
        assert_eq!(&text[span], r#"[{"name": "f"}, {"name": "g"}]"#);
        let name = JsonStep::Key("name".to_owned());
        assert_eq!(
            find(&value, &Value::from("g")),
            [vec![JsonStep::Index(1), name]]
        );
        assert_eq!(&text[around.next().unwrap().0], r#"{"name": "g"}"#);
        assert!(around.next().is_none());
    }

    #[test]
    fn all_places_are_found() {
        let value = json::parse(r#"{"a": 1, "b": {"c": 1}, "d": 2}"#).unwrap();
        let key = |key: &str| JsonStep::Key(key.to_owned());
        let found = find(&value, &Value::from(1));
        assert_eq!(found, [vec![key("a")], vec![key("b"), key("c")]]);
    }

    #[test]
    fn a_bracket_that_is_not_json_is_passed_over() {
        assert!(around("[a] b", 4).next().is_none());
    }
}
