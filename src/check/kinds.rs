//! Disagreements by what they have in common, so that one look at each kind is enough.

use std::collections::HashMap;

use super::compare::{Difference, renamed};
use super::derivation::Disagreement;
use crate::value::{Path, Step};

/// Places that are further down than this count as the same place: below it the names are those of some tool.
const DEPTH: usize = 4;

/// Disagreements of one kind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DisagreementKind<'d> {
    /// How many there are.
    pub count: usize,
    /// The one with the shortest response.
    pub smallest: &'d Disagreement,
    /// The difference that they have in common.
    pub what: What,
}

/// In what a message is not the expected one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum What {
    /// One key has the value of another.
    Renamed {
        /// The key that should have it.
        expected: String,
        /// The key that has it.
        found: String,
    },
    /// Nothing is there.
    Missing(Path),
    /// Something is there, where nothing is expected.
    Added(Path),
    /// Something else is there.
    Other(Path),
}

/// The disagreements by their first difference, in the order in which the kinds come first.
pub fn kinds(all: &[Disagreement]) -> Vec<DisagreementKind<'_>> {
    let mut kinds: Vec<DisagreementKind<'_>> = Vec::new();
    let mut known: HashMap<What, usize> = HashMap::new();
    for disagreement in all {
        let Some(what) = what(&disagreement.differences) else {
            continue;
        };
        let at = *known.entry(what.clone()).or_insert_with(|| {
            kinds.push(DisagreementKind {
                count: 0,
                smallest: disagreement,
                what,
            });
            kinds.len() - 1
        });
        let kind = &mut kinds[at];
        kind.count += 1;
        if disagreement.case.response.len() < kind.smallest.case.response.len() {
            kind.smallest = disagreement;
        }
    }
    kinds
}

fn what(differences: &[Difference]) -> Option<What> {
    let renamed = renamed(differences);
    let renamed = renamed.map(|(expected, found)| What::Renamed { expected, found });
    renamed.or_else(|| {
        let first = differences.first()?;
        let path = || beginning(&first.path);
        Some(match (&first.expected, &first.found) {
            (Some(_), None) => What::Missing(path()),
            (None, Some(_)) => What::Added(path()),
            _ => What::Other(path()),
        })
    })
}

/// The first steps of a path, without the numbers of items of lists.
fn beginning(path: &Path) -> Path {
    path.steps()
        .iter()
        .take(DEPTH)
        .fold(Path::default(), |path, step| match step {
            Step::Key(key) => path.key(key),
            Step::Index(_) => path.index(0),
        })
}

impl std::fmt::Display for What {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Renamed { expected, found } => {
                write!(f, "`{found}` has what `{expected}` should have")
            }
            Self::Missing(path) => write!(f, "there is no {path}"),
            Self::Added(path) => write!(f, "there is {path}, which is not expected"),
            Self::Other(path) => write!(f, "{path} has another value"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::differences;
    use super::*;
    use crate::derive::Case;
    use crate::value::json;

    fn disagreement(response: &str, expected: &str, found: &str) -> Disagreement {
        let expected = json::parse(expected).unwrap();
        let found = json::parse(found).unwrap();
        Disagreement {
            differences: differences(&expected, &found),
            found: found.as_object().unwrap().clone(),
            case: Case {
                prefix: String::new(),
                response: response.to_owned(),
                tools: Vec::new(),
                message: expected,
            },
        }
    }

    #[test]
    fn what_has_the_same_cause_is_one_kind_with_its_smallest_example() {
        let all = [
            disagreement(
                "longer",
                r#"{"reasoning": "a", "content": "b"}"#,
                r#"{"thinking": "a\n", "content": "b"}"#,
            ),
            disagreement(
                "c",
                r#"{"calls": [{"f": {"args": {"x": 1}}}]}"#,
                r#"{"calls": [{"f": {"args": {"x": "1"}}}]}"#,
            ),
            disagreement("short", r#"{"reasoning": "c"}"#, r#"{"thinking": "c"}"#),
            disagreement(
                "d",
                r#"{"calls": [1, {"f": {"args": {"y": 2}}}]}"#,
                r#"{"calls": [1, {"f": {"args": {"y": 3}}}]}"#,
            ),
            disagreement(
                "e",
                r#"{"content": "a"}"#,
                r#"{"content": "a", "role": "assistant"}"#,
            ),
            disagreement("f", r#"{"content": "a"}"#, "{}"),
        ];
        let told: Vec<(usize, &str, String)> = kinds(&all)
            .iter()
            .map(|kind| {
                (
                    kind.count,
                    kind.smallest.case.response.as_str(),
                    kind.what.to_string(),
                )
            })
            .collect();
        let expected = [
            (2, "short", "`thinking` has what `reasoning` should have"),
            (2, "c", "$.calls[0].f.args has another value"),
            (1, "e", "there is $.role, which is not expected"),
            (1, "f", "there is no $.content"),
        ];
        assert_eq!(
            told,
            expected.map(|(count, response, what)| (count, response, what.to_owned()))
        );
    }
}
