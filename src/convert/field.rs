//! The field of a property: the place of its text, and the content parser and transform that make a value of it.

use super::call::{content, members};
use super::decisions::Decisions;
use super::parsers::single;
use super::take::{self, Region};
use super::{Finding, finding, substitutions};
use crate::pattern::parts::Part;
use crate::response_schema::Substitution;
use crate::response_schema::node::Node;
use crate::response_template::FieldDocument;

type Carried = Result<(FieldDocument, Vec<Finding>), Box<Finding>>;

/// Returns the field of a property; `region` is the place of its text in the pattern of the root, where that has one.
pub(super) fn field(node: &Node, region: Option<Region>, decisions: Decisions) -> Carried {
    let mut findings = Vec::new();
    let own = node
        .regex
        .as_ref()
        .map(|pattern| single(node, pattern))
        .transpose()?;
    let mut region = match (region, own) {
        (Some(outer), Some(inner)) => Some(within(outer, inner)),
        (outer, inner) => outer.or(inner),
    };
    let mut document = FieldDocument::default();
    let mut item = node;
    if let Some(iterator) = &node.iterator {
        document.repeats = true;
        let children = node.items.as_deref();
        item = children.ok_or_else(|| {
            Box::new(finding(
                "convert-content",
                node,
                "the items of the list are not said one for one",
            ))
        })?;
        let regions = take::regions(iterator);
        let (Some(first), Some(last)) = (regions.first(), regions.last()) else {
            return Err(Box::new(finding(
                "convert-pattern",
                node,
                "the iterator has no group",
            )));
        };
        let called = regions.len() > 1 || !first.name.starts_with(|c: char| c.is_ascii_digit());
        if called {
            return members(item, &regions, document, decisions)
                .map(|document| (document, findings));
        }
        let mut taken = last.clone();
        if !take::has_text(&taken.open) {
            // No text stands around the group, so that the delimiters must be within it: the texts that it begins and ends with.
            let (head, tail) = ends(&taken.body);
            taken.open = [taken.open, head].concat();
            taken.close = [tail, taken.close].concat();
        }
        region = Some(taken);
    }
    let region = region.unwrap_or(Region {
        name: String::new(),
        open: Vec::new(),
        close: Vec::new(),
        body: Vec::new(),
    });
    document.open = take::delimiter(&region.open, decisions.space && document.repeats);
    document.close = match document.open {
        Some(_) => take::delimiter(&region.close, decisions.space),
        None => take::delimiter(&region.close, false),
    };
    // Substitutions by nothing take regions out of the text. What remains is what a field without an open takes anyway, so that they
    // need no counterpart; every other substitution is reported.
    let takes_out = |substitution: &Substitution| substitution.replacement.as_text() == Some("");
    if document.open.is_some() && !node.substitutions.is_empty()
        || !node.substitutions.iter().all(takes_out)
    {
        findings.push(substitutions(node));
    }
    content(item, node, &region, &mut document, decisions)?;
    Ok((document, findings))
}

/// Returns the parts before the first one that is not text or white space, and the parts behind the last one.
fn ends(body: &[Part]) -> (Vec<Part>, Vec<Part>) {
    let is_text = |part: &&Part| matches!(part, Part::Text(_) | Part::Space(_));
    let head: Vec<Part> = body.iter().take_while(is_text).cloned().collect();
    let mut tail: Vec<Part> = body.iter().rev().take_while(is_text).cloned().collect();
    tail.reverse();
    if head.len() == body.len() {
        return (head, Vec::new());
    }
    (head, tail)
}

/// A region within the text of another.
fn within(outer: Region, inner: Region) -> Region {
    Region {
        name: outer.name,
        open: [outer.open, inner.open].concat(),
        close: [inner.close, outer.close].concat(),
        body: inner.body,
    }
}
