//! Where two values differ.

use crate::value::{Map, Path, Value};

/// The first place where two values differ, and what is there in each.
pub(super) fn difference<'v>(
    expected: &'v Value,
    parsed: &'v Value,
    path: &Path,
) -> Option<(Path, Option<&'v Value>, Option<&'v Value>)> {
    match (expected, parsed) {
        _ if expected == parsed => None,
        (Value::Object(left), Value::Object(right)) => members(left, right, path),
        (Value::Array(left), Value::Array(right)) => (0..left.len().max(right.len()))
            .find_map(|index| meet(left.get(index), right.get(index), path.index(index))),
        _ => Some((path.clone(), Some(expected), Some(parsed))),
    }
}

fn members<'v>(
    left: &'v Map,
    right: &'v Map,
    path: &Path,
) -> Option<(Path, Option<&'v Value>, Option<&'v Value>)> {
    left.keys()
        .chain(right.keys().filter(|key| !left.contains_key(key)))
        .find_map(|key| meet(left.get(key), right.get(key), path.key(key)))
}

fn meet<'v>(
    left: Option<&'v Value>,
    right: Option<&'v Value>,
    path: Path,
) -> Option<(Path, Option<&'v Value>, Option<&'v Value>)> {
    match (left, right) {
        (Some(left), Some(right)) => difference(left, right, &path),
        (left, right) => Some((path, left, right)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json::{parse, to_string};

    fn found(expected: &str, parsed: &str) -> Option<String> {
        let (expected, parsed) = (parse(expected).unwrap(), parse(parsed).unwrap());
        let (path, left, right) = difference(&expected, &parsed, &Path::default())?;
        let side = |value: Option<&Value>| value.map_or("-".to_owned(), to_string);
        Some(format!("{path} {} {}", side(left), side(right)))
    }

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        assert_eq!(found(r#"{"a": [1]}"#, r#"{"a": [1]}"#), None);
        assert_eq!(
            found(r#"{"a": [1, {"b": 1}]}"#, r#"{"a": [1, {"b": "1"}]}"#).unwrap(),
            r#"$.a[1].b 1 "1""#
        );
        assert_eq!(
            found(r#"{"a": []}"#, r#"{"a": [2]}"#).unwrap(),
            "$.a[0] - 2"
        );
        assert_eq!(found("{}", r#"{"x": null}"#).unwrap(), "$.x - null");
        assert_eq!(found("1", "1.0").unwrap(), "$ 1 1.0");
    }
}
