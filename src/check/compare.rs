//! In what two JSON values differ, each difference with its path.

use crate::value::{Map, Path, Step, Value};

/// One place where two values differ.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// Where.
    pub path: Path,
    /// The value that was expected there; `None` where none was.
    pub expected: Option<Value>,
    /// The value that was found there; `None` where none was.
    pub found: Option<Value>,
}

/// Every place where `found` is not what was `expected`, in the order of what was expected, then of what was found beside
/// it. The order of an object's keys does not matter; lists are compared item by item.
///
/// ```
/// use obverse::check::differences;
/// use obverse::value::json;
/// let expected = json::parse(r#"{"content": "Hi", "calls": [1, 2]}"#).unwrap();
/// let found = json::parse(r#"{"calls": [1, "2"], "content": "Hi", "thinking": ""}"#).unwrap();
/// let paths: Vec<_> = differences(&expected, &found).iter().map(|found| found.path.to_string()).collect();
/// assert_eq!(paths, ["$.calls[1]", "$.thinking"]);
/// ```
pub fn differences(expected: &Value, found: &Value) -> Vec<Difference> {
    let mut all = Vec::new();
    compare(&Path::default(), Some(expected), Some(found), &mut all);
    all
}

fn compare(
    path: &Path,
    expected: Option<&Value>,
    found: Option<&Value>,
    all: &mut Vec<Difference>,
) {
    match (expected, found) {
        (Some(Value::Object(expected)), Some(Value::Object(found))) => {
            compare_members(path, expected, found, all);
        }
        (Some(Value::Array(expected)), Some(Value::Array(found))) => {
            for index in 0..expected.len().max(found.len()) {
                let path = path.index(index);
                compare(&path, expected.get(index), found.get(index), all);
            }
        }
        (expected, found) if expected == found => {}
        (expected, found) => all.push(Difference {
            path: path.clone(),
            expected: expected.cloned(),
            found: found.cloned(),
        }),
    }
}

fn compare_members(path: &Path, expected: &Map, found: &Map, all: &mut Vec<Difference>) {
    for (key, value) in expected {
        compare(&path.key(key), Some(value), found.get(key), all);
    }
    for (key, value) in found {
        if !expected.contains_key(key) {
            compare(&path.key(key), None, Some(value), all);
        }
    }
}

/// A key of the message that is missing, and one beside it that has its value.
pub(super) fn renamed(differences: &[Difference]) -> Option<(String, String)> {
    let key = |difference: &Difference| match difference.path.steps() {
        [Step::Key(key)] => Some(key.clone()),
        _ => None,
    };
    let missing = |difference: &&Difference| difference.found.is_none();
    differences.iter().filter(missing).find_map(|expected| {
        let has_it = |found: &&Difference| {
            found.expected.is_none()
                && found
                    .found
                    .as_ref()
                    .is_some_and(|value| is_it(value, expected))
        };
        let found = differences.iter().find(has_it)?;
        Some((key(expected)?, key(found)?))
    })
}

/// Returns true if a value is the expected one, but for white space around it.
fn is_it(value: &Value, expected: &Difference) -> bool {
    match (value, &expected.expected) {
        (Value::String(value), Some(Value::String(expected))) => value.trim() == expected.trim(),
        (value, expected) => expected.as_ref() == Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn all(expected: &str, found: &str) -> Vec<String> {
        let parse = |text: &str| json::parse(text).unwrap();
        let show = |value: &Option<Value>| {
            value
                .as_ref()
                .map_or_else(|| "-".to_owned(), json::to_string)
        };
        differences(&parse(expected), &parse(found))
            .iter()
            .map(|d| format!("{} {} {}", d.path, show(&d.expected), show(&d.found)))
            .collect()
    }

    #[test]
    fn equal_values_do_not_differ() {
        assert_eq!(
            all(
                r#"{"a": [1, {"b": NaN}], "c": null}"#,
                r#"{"c": null, "a": [1, {"b": NaN}]}"#
            ),
            [""; 0]
        );
    }

    #[test]
    fn each_difference_has_its_path() {
        assert_eq!(
            all(
                r#"{"a": {"b": [1, 2, 3]}, "gone": 1}"#,
                r#"{"a": {"b": [1, 2.0]}, "new": {"x": 1}}"#
            ),
            [
                "$.a.b[1] 2 2.0",
                "$.a.b[2] 3 -",
                "$.gone 1 -",
                "$.new - {\"x\": 1}"
            ]
        );
        assert_eq!(all("[]", "{}"), ["$ [] {}"]);
    }
}
