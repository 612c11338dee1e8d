//! The message as a tree whose parts can be folded.

use std::collections::HashSet;
use std::ops::Range;

use crate::value::{Map, Path, Step, Value};

/// One row of the tree.
#[derive(Debug, Clone)]
pub(crate) struct Row<'m> {
    pub(crate) path: Path,
    pub(crate) value: &'m Value,
    pub(crate) is_folded: bool,
}

impl Row<'_> {
    /// How deep it lies; the members of the message lie at 0.
    pub(crate) fn depth(&self) -> usize {
        self.path.steps().len().saturating_sub(1)
    }

    /// Its key, or its number in a list.
    pub(crate) fn label(&self) -> String {
        match self.path.steps().last() {
            Some(Step::Key(key)) => key.clone(),
            Some(Step::Index(index)) => index.to_string(),
            None => String::new(),
        }
    }

    pub(crate) fn has_parts(&self) -> bool {
        has_parts(self.value)
    }
}

fn has_parts(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    }
}

/// How many rows there are.
pub(crate) fn count(message: &Map, folded: &HashSet<Path>) -> usize {
    let mut walk = Walk {
        folded,
        wanted: usize::MAX..usize::MAX,
        number: 0,
        rows: Vec::new(),
    };
    walk.members(message, &mut Path::default());
    walk.number
}

/// Some of the rows.
pub(crate) fn rows<'m>(
    message: &'m Map,
    folded: &HashSet<Path>,
    wanted: Range<usize>,
) -> Vec<Row<'m>> {
    let mut walk = Walk {
        folded,
        wanted,
        number: 0,
        rows: Vec::new(),
    };
    walk.members(message, &mut Path::default());
    walk.rows
}

/// The value at a path.
pub(crate) fn value_at<'m>(message: &'m Map, path: &Path) -> Option<&'m Value> {
    let (first, rest) = path.steps().split_first()?;
    let Step::Key(key) = first else {
        return None;
    };
    rest.iter()
        .try_fold(message.get(key)?, |value, step| match (step, value) {
            (Step::Key(key), value) => value.get(key),
            (Step::Index(index), Value::Array(items)) => items.get(*index),
            (Step::Index(_), _) => None,
        })
}

/// A walk over the tree that makes rows of those alone that are wanted.
struct Walk<'f, 'm> {
    folded: &'f HashSet<Path>,
    wanted: Range<usize>,
    number: usize,
    rows: Vec<Row<'m>>,
}

impl<'m> Walk<'_, 'm> {
    fn members(&mut self, members: &'m Map, path: &mut Path) {
        for (key, value) in members {
            if self.number >= self.wanted.end {
                return;
            }
            path.push(Step::Key(key.to_string()));
            self.value(value, path);
            path.pop();
        }
    }

    fn value(&mut self, value: &'m Value, path: &mut Path) {
        let is_folded = has_parts(value) && self.folded.contains(path);
        if self.wanted.contains(&self.number) {
            self.rows.push(Row {
                path: path.clone(),
                value,
                is_folded,
            });
        }
        self.number += 1;
        match value {
            _ if is_folded => {}
            Value::Object(members) => self.members(members, path),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if self.number >= self.wanted.end {
                        return;
                    }
                    path.push(Step::Index(index));
                    self.value(item, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn folding_hides_what_is_inside() {
        let value = json::parse(r#"{"a": [1, {"b": 2}], "c": {}}"#).expect("JSON");
        let message = value.as_object().expect("an object");
        let mut folded = HashSet::new();
        let paths = |folded: &HashSet<Path>| {
            let rows = rows(message, folded, 0..9);
            assert_eq!(rows.len(), count(message, folded));
            let paths = rows
                .iter()
                .map(|row| format!("{} {}", row.depth(), row.path));
            paths.collect::<Vec<_>>()
        };
        assert_eq!(
            paths(&folded),
            ["0 $.a", "1 $.a[0]", "1 $.a[1]", "2 $.a[1].b", "0 $.c"]
        );
        let path = Path::default().key("a");
        assert_eq!(
            value_at(message, &path.index(1).key("b")),
            Some(&Value::from(2))
        );
        folded.insert(path);
        assert_eq!(paths(&folded), ["0 $.a", "0 $.c"]);
        assert_eq!(rows(message, &folded, 1..2)[0].label(), "c");
    }
}
