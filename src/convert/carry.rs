//! Response templates that might do what a schema does: candidates, one for each combination of the decisions that a schema leaves open.
//!
//! A schema says with one pattern where a text stands, and leaves open whether white space around it counts, whether that behind a close
//! belongs to the close, and where the body of a call begins. There are five such decisions with 32 combinations, all of which are written
//! down, the plainest first, and those that come out alike once. Which of them is right is settled by samples (`judge`), not here.

use super::decisions::Decisions;
use super::field::field;
use super::take;
use super::{Finding, finding, substitutions};
use crate::pattern::parts::{self, Part};
use crate::response_schema::node::{Kind, Node};
use crate::response_template::{Delimiter, Document, FieldDocument};
use crate::value::Value;

/// A response template that may do what the schema does.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) document: Document,
    /// Findings about the parts of the schema that are not in the draft.
    pub(super) findings: Vec<Finding>,
}

/// Returns all drafts, each once; the plainest first.
pub(super) fn drafts(root: &Node, anchor: &Delimiter) -> Vec<Draft> {
    let mut found: Vec<Draft> = Vec::new();
    for begins in [false, true] {
        for header in [true, false] {
            for space in [true, false] {
                for (strip, strip_rest) in
                    [(true, true), (false, false), (true, false), (false, true)]
                {
                    let decisions = Decisions {
                        strip,
                        strip_rest,
                        space,
                        header,
                        begins,
                    };
                    let draft = draft(root, anchor, decisions);
                    if !draft.document.fields.is_empty()
                        && !found.iter().any(|known| known.document == draft.document)
                    {
                        found.push(draft);
                    }
                }
            }
        }
    }
    found
}

/// Returns the findings about a schema of which no draft has a field: the reasons why its parts were refused.
///
/// They are those of the plainest draft, since a part that no decision can carry over is refused in each of them.
pub(super) fn refusals(root: &Node, anchor: &Delimiter) -> Vec<Finding> {
    let plainest = Decisions {
        strip: true,
        strip_rest: true,
        space: true,
        header: true,
        begins: false,
    };
    draft(root, anchor, plainest).findings
}

fn draft(root: &Node, anchor: &Delimiter, decisions: Decisions) -> Draft {
    let mut draft = Draft {
        document: Document::new(anchor.clone()),
        findings: Vec::new(),
    };
    if root.kind != Kind::Object
        || root.constant.is_some()
        || root.parser.is_some()
        || root.key_value.is_some()
    {
        let message =
            "a message is an object, of which the schema says property by property how it is found";
        draft.findings.push(finding("convert-root", root, message));
        return draft;
    }
    if !root.substitutions.is_empty() {
        draft.findings.push(substitutions(root));
    }
    let regions = root.regex.as_ref().map(take::regions).unwrap_or_default();
    let mut implicit: Option<(String, FieldDocument)> = None;
    for (name, node) in root.properties.iter().flatten() {
        if let Some(constant) = &node.constant {
            if *constant != Value::Null {
                draft
                    .document
                    .defaults
                    .insert(name.as_str(), constant.clone());
            }
            continue;
        }
        let region = match &root.regex {
            None => None,
            Some(_) => match regions.iter().find(|region| region.name == *name) {
                Some(region) => Some(region.clone()),
                None => {
                    if let Some(default) = &node.default {
                        draft
                            .document
                            .defaults
                            .insert(name.as_str(), default.clone());
                    }
                    continue;
                }
            },
        };
        match field(node, region, decisions) {
            Ok((document, further)) => {
                draft.findings.extend(further);
                if document.open.is_some() {
                    draft.document.fields.insert(name.clone(), document);
                } else if implicit.is_none() {
                    implicit = Some((name.clone(), document));
                } else {
                    let message =
                        format!("{name} has nothing that opens it, and so has another property");
                    draft
                        .findings
                        .push(finding("convert-implicit", node, message));
                }
            }
            Err(why) => draft.findings.push(*why),
        }
    }
    if let Some((name, mut document)) = implicit {
        if document.close.is_none() {
            let node = root
                .properties
                .iter()
                .flatten()
                .find(|(key, _)| **key == name);
            document.close = node.and_then(|(_, node)| taken_out(node));
        }
        close_implicit(&mut document, &draft.document, decisions);
        draft.document.fields.insert(name, document);
    }
    if decisions.begins {
        begin_at_the_start(&mut draft.document);
    }
    draft
}

/// Returns the texts with which a substitution takes out the text behind them. They close a field that takes the rest.
fn taken_out(node: &Node) -> Option<Delimiter> {
    let empty = node
        .substitutions
        .iter()
        .filter(|substitution| substitution.replacement.as_text() == Some(""));
    let texts = empty.filter_map(|substitution| {
        let parts = parts::parts(&substitution.pattern);
        let first = parts
            .into_iter()
            .find(|part| !part.is_condition() && !matches!(part, Part::Space(_)));
        first.map(|part| take::texts(&part))
    });
    let texts: Vec<String> = texts.flatten().collect();
    (!texts.is_empty()).then_some(Delimiter::Literals(texts))
}

/// Sets the close of the field without an open. Texts that open or close another field are left out, and the white space behind the close
/// is taken with it, since text there would open the field again.
fn close_implicit(document: &mut FieldDocument, whole: &Document, decisions: Decisions) {
    if let Some(Delimiter::Literals(texts)) = &mut document.close {
        texts.retain(|text| {
            !whole.fields.values().any(|field| {
                let sides = [&field.open, &field.close];
                sides.into_iter().flatten().any(|side| match side {
                    Delimiter::Literals(known) => known.contains(text),
                    Delimiter::Pattern(source) => source.contains(&parts::escaped(text)),
                })
            })
        });
        if texts.is_empty() {
            document.close = None;
        } else if decisions.space {
            let written: Vec<String> = texts.iter().map(|text| parts::escaped(text)).collect();
            let source = match written.as_slice() {
                [only] => only.clone(),
                several => format!("(?:{})", several.join("|")),
            };
            document.close = Some(Delimiter::pattern(source + r"\s*"));
        }
    }
}

/// Lets the first field that is opened and closed by literals begin at the start too, where only its close stands: as when the prompt
/// has opened it.
fn begin_at_the_start(document: &mut Document) {
    let first = document.fields.values_mut().find(|field| !field.repeats);
    let Some(field) = first else { return };
    let (Some(Delimiter::Literals(open)), Some(close)) = (&field.open, &field.close) else {
        return;
    };
    let close = match close {
        Delimiter::Literals(texts) => match texts.as_slice() {
            [only] => parts::escaped(only),
            _ => return,
        },
        Delimiter::Pattern(source) => source.strip_suffix(r"\s*").unwrap_or(source).to_owned(),
    };
    let [open] = open.as_slice() else { return };
    let open = parts::escaped(open);
    field.open = Some(Delimiter::pattern(format!(
        r"{open}|\A(?!{open})(?=(?:(?!{open}).)*?{close})"
    )));
}
