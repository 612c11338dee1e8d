//! Where each value of a parsed document stands in its text.

use std::collections::HashMap;
use std::ops::Range;

use crate::value::{Path, Step};

/// Where one value and, if it is a member, its key stand: byte offsets into the text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberSpans {
    /// The key with its quotes; `None` for the root and for items of a list.
    pub key: Option<Range<usize>>,
    /// The value, from its first byte to its last.
    pub value: Range<usize>,
}

/// The places of all values of one document. Of duplicate keys it knows the last, which is the one that counts.
#[derive(Debug, Clone, Default)]
pub struct Places {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
struct Node {
    spans: MemberSpans,
    children: Children,
}

#[derive(Debug, Clone)]
enum Children {
    None,
    Members(HashMap<String, usize>),
    Items(Vec<usize>),
}

impl Places {
    /// The place of the value at `path`; `None` when the document has no such value.
    pub fn get(&self, path: &Path) -> Option<&MemberSpans> {
        self.find(path).map(|node| &node.spans)
    }

    /// The places of an object's members, in no particular order; none for anything that is not an object.
    pub fn members(&self, path: &Path) -> impl Iterator<Item = &MemberSpans> {
        let members = match self.find(path).map(|node| &node.children) {
            Some(Children::Members(members)) => Some(members),
            _ => None,
        };
        members
            .into_iter()
            .flat_map(HashMap::values)
            .map(|index| &self.nodes[*index].spans)
    }

    /// Moves all places `by` bytes on, for a text that is part of a longer one.
    pub fn shift(&mut self, by: usize) {
        let shifted = |span: &Range<usize>| span.start + by..span.end + by;
        for Node { spans, .. } in &mut self.nodes {
            spans.key = spans.key.as_ref().map(shifted);
            spans.value = shifted(&spans.value);
        }
    }

    fn find(&self, path: &Path) -> Option<&Node> {
        let mut node = self.nodes.first()?;
        for step in path.steps() {
            let index = match (&node.children, step) {
                (Children::Members(members), Step::Key(key)) => members.get(key),
                (Children::Items(items), Step::Index(index)) => items.get(*index),
                _ => None,
            };
            node = &self.nodes[*index?];
        }
        Some(node)
    }

    /// Adds a value that begins at `start` to its parent; returns its number.
    pub(super) fn begin(
        &mut self,
        parent: Option<usize>,
        key: Option<(&str, Range<usize>)>,
        start: usize,
    ) -> usize {
        let index = self.nodes.len();
        let spans = MemberSpans {
            key: key.as_ref().map(|(_, span)| span.clone()),
            value: start..start,
        };
        self.nodes.push(Node {
            spans,
            children: Children::None,
        });
        if let Some(parent) = parent {
            let children = &mut self.nodes[parent].children;
            match key {
                Some((key, _)) => {
                    if !matches!(children, Children::Members(_)) {
                        *children = Children::Members(HashMap::new());
                    }
                    if let Children::Members(members) = children {
                        members.insert(key.to_owned(), index);
                    }
                }
                None => {
                    if !matches!(children, Children::Items(_)) {
                        *children = Children::Items(Vec::new());
                    }
                    if let Children::Items(items) = children {
                        items.push(index);
                    }
                }
            }
        }
        index
    }

    /// Says where the value `index` ends.
    pub(super) fn end(&mut self, index: usize, end: usize) {
        self.nodes[index].spans.value.end = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn each_value_has_its_place() {
        let text = r#" {"a" : [1, {"b":"x"}], "c": null, "\u0061": true } "#;
        let (_, places) = json::parse_with_places(text).expect("JSON");
        let root = Path::default();
        let at = |path: &Path| {
            places.get(path).map(|spans| {
                (
                    spans.key.clone().map(|key| &text[key]),
                    &text[spans.value.clone()],
                )
            })
        };
        assert_eq!(at(&root), Some((None, text.trim())));
        assert_eq!(at(&root.key("c")), Some((Some("\"c\""), "null")));
        assert_eq!(
            at(&root.key("a")),
            Some((Some("\"\\u0061\""), "true")),
            "of duplicate keys the last counts"
        );
        assert_eq!(at(&root.key("a").index(0)), None);
        assert_eq!(places.members(&root).count(), 2);

        let text = r#"{"a": [1, {"b":"x"}]}"#;
        let (_, places) = json::parse_with_places(text).expect("JSON");
        let spans = places
            .get(&root.key("a").index(1).key("b"))
            .expect("a place");
        assert_eq!(
            (spans.key.clone(), spans.value.clone()),
            (Some(11..14), 15..18)
        );
    }
}
