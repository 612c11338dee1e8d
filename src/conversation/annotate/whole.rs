//! Marks around a whole turn, where the nodes that write it cannot be told apart.
//!
//! A macro may write all of the turn, or one text may write the header at one time and what the model writes at another. Then the text of
//! all nodes that write the turn is kept in a variable first. It begins with one of the headers that were seen, and the text behind that
//! header is printed within marks. Where the same nodes write messages of others, the role is tested first.

use std::ops::Range;

use super::nodes::{Node, leaks, runs_behind};
use super::put::{self, Insertion};
use super::seen::Sights;

/// How many headers are told apart.
const MAX_HEADERS: usize = 8;

/// The texts to put into a source; `None` where a turn is not written by neighbours of one body.
pub(super) fn find(source: &str, nodes: &[Node], sights: &Sights) -> Option<Vec<Insertion>> {
    let mut headers = sights.headers.clone()?;
    if headers.is_empty() || headers.len() > MAX_HEADERS {
        return None;
    }
    // Where one header begins with another, the longer one is tested first.
    headers.sort_by_key(|header| std::cmp::Reverse(header.len()));
    let mut finder = Finder {
        source,
        sights,
        headers,
        variable: put::unused(source),
        insertions: Vec::new(),
    };
    finder.body(nodes, None, &[])?;
    (!finder.insertions.is_empty()).then_some(finder.insertions)
}

struct Finder<'s> {
    source: &'s str,
    sights: &'s Sights,
    headers: Vec<String>,
    variable: String,
    insertions: Vec<Insertion>,
}

impl Finder<'_> {
    /// Returns true if a node writes something of an assistant's turn.
    fn writes(&self, node: &Node) -> bool {
        let mut seen = self.sights.by_place.range(node.range());
        seen.any(|(_, seen)| !seen.own.is_empty())
    }

    fn body(
        &mut self,
        nodes: &[Node],
        message: Option<&str>,
        behind: &[Range<usize>],
    ) -> Option<()> {
        let mut own = nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| self.writes(node));
        let Some((first, node)) = own.next() else {
            return Some(());
        };
        let last = own.next_back().map_or(first, |(last, _)| last);
        if first == last
            && let Node::Block(block) = node
        {
            let name = &self.source[block.open.name.clone()];
            let is_loop = name == "for";
            let own = self.sights.message_of(self.source, node);
            // A loop over something else than messages writes a part of the turn at each of its turns.
            let is_gone_into = name == "if" || own.is_some() || (is_loop && message.is_none());
            if is_gone_into {
                // What is assigned in a loop is forgotten at its end.
                let behind = if is_loop {
                    Vec::new()
                } else {
                    runs_behind(nodes, first, behind)
                };
                for body in &block.bodies {
                    self.body(body, own.or(message), &behind)?;
                }
                return Some(());
            }
        }
        let behind = runs_behind(nodes, last, behind);
        self.keep(&nodes[first..=last], message, &behind)
    }

    /// Keeps what these nodes write.
    fn keep(
        &mut self,
        nodes: &[Node],
        message: Option<&str>,
        behind: &[Range<usize>],
    ) -> Option<()> {
        let (first, last) = (nodes.first()?, nodes.last()?);
        let range = first.range().start..last.range().end;
        // A variable that one of them assigns may be used by the others.
        if nodes.iter().any(|node| leaks(node, self.source, behind)) {
            return None;
        }
        let mut seen = self.sights.by_place.range(range);
        let shared = seen.any(|(_, seen)| !seen.others.is_empty());
        let name = &self.variable;
        let mut text = String::from("{% endset %}");
        let mut word = "if";
        if shared {
            let message = message?;
            text += &format!("{{% if {message}['role'] != 'assistant' %}}{{{{ {name} }}}}");
            word = "elif";
        }
        for header in &self.headers {
            let quoted = quoted(header)?;
            let count = header.chars().count();
            text += &format!(
                "{{% {word} {name}.startswith({quoted}) %}}{{{{ {name}[:{count}] }}}}{{% generation %}}{{{{ {name}[{count}:] }}}}{{% endgeneration %}}"
            );
            word = "elif";
        }
        text += &format!("{{% else %}}{{{{ {name} }}}}{{% endif %}}");
        let open = put::before(self.source, first, &format!("{{% set {name} %}}"));
        self.insertions.push(open);
        self.insertions.push(put::behind(self.source, last, &text));
        Some(())
    }
}

/// A text as a string of the language.
fn quoted(text: &str) -> Option<String> {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' => out += "\\'",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            '\r' => out += "\\r",
            c if c.is_control() => return None,
            c => out.push(c),
        }
    }
    out.push('\'');
    Some(out)
}
