//! Where a prompt leaves the response: in the middle of the reasoning, behind it, or at the beginning.

use super::parsed::delimiters;
use super::region::regions;
use super::{Edge, Format, GraphNode, Kind};

/// Where a prompt leaves a response.
#[derive(Debug, Clone)]
pub(crate) enum Begun {
    /// In the text of a state.
    In {
        state: usize,
        /// The fields of which a region is behind, a bit each.
        written: u64,
    },
    /// Before what is left of these edges.
    Before {
        edges: Vec<Edge>,
        /// How many bytes at the prompt's end begin one of the edges; they are no text of any field.
        pending: usize,
        /// True if reasoning is behind.
        reasoned: bool,
        /// True if that reasoning has a text.
        thought: bool,
        /// The fields of which a region is behind, a bit each.
        written: u64,
    },
}

impl Format {
    /// Where the prompt leaves the response.
    pub(crate) fn begun(&self, prefix: &str) -> Result<Begun, String> {
        let template = &self.template;
        let text = template
            .after_last_anchor(prefix)
            .map_err(|error| error.to_string())?;
        let passed = delimiters(template, prefix, "", &[])?;
        let implicit = template.implicit();
        let (mut from, mut at) = (GraphNode::Start, 0);
        let (mut reasoned, mut thought) = (false, false);
        let mut written_fields = 0;
        for region in regions(&passed, implicit, text.len()) {
            let body = &text[region.body.clone()];
            let is_implicit = Some(region.field) == implicit;
            if is_implicit && body.trim().is_empty() {
                continue;
            }
            let open = &text[region.open.clone()];
            let is = |kind: &Kind| matches!(kind, Kind::Text(text) if text.open == open);
            // White space may stand in what opens it that was not seen there.
            let is_like =
                |kind: &Kind| matches!(kind, Kind::Text(text) if text.open.trim() == open.trim());
            let mut of_field = self.states.iter().enumerate();
            let found = of_field
                .clone()
                .find(|(_, state)| state.field == region.field && is(&state.kind))
                .or_else(|| {
                    of_field.find(|(_, state)| state.field == region.field && is_like(&state.kind))
                })
                .map(|(index, _)| index);
            let Some(state) = found else {
                return Err(if self.is_made_up {
                    "the prompt ends in a part of the response of which nothing is known, such as within a call".to_owned()
                } else {
                    "the prompt ends in a part of the response that no render shows".to_owned()
                });
            };
            let is_last = region.close.is_empty() && region.body.end == text.len();
            if is_last && is_implicit && self.is_begun_delimiter(from, state, &text[at..]) {
                break;
            }
            if is_last {
                return Ok(Begun::In {
                    state,
                    written: written_fields,
                });
            }
            written_fields |= super::bit(region.field);
            let is_reasoning =
                matches!(&self.states[state].kind, Kind::Text(text) if !text.is_content);
            reasoned |= is_reasoning;
            thought |= is_reasoning && !body.trim().is_empty();
            (from, at) = (GraphNode::State(state), region.body.end);
        }
        let written = &text[at..];
        let rest = self.edges_from(from).filter_map(|edge| {
            let rest = rest(&edge.text, written)?;
            let gone = edge.text.len() - rest.len();
            Some(Edge {
                text: rest.to_owned(),
                opens: edge.opens.saturating_sub(gone),
                spaces: edge.spaces.within(&(gone..edge.text.len())),
                ..edge.clone()
            })
        });
        let edges: Vec<Edge> = rest.collect();
        if edges.is_empty() {
            let text = crate::value::json::quote(written);
            let seen = if self.is_made_up {
                "is known"
            } else {
                "was rendered"
            };
            return Err(format!(
                "the prompt ends with {text}, which no response that {seen} goes on from"
            ));
        }
        Ok(Begun::Before {
            edges,
            pending: written.len(),
            reasoned,
            thought,
            written: written_fields,
        })
    }

    /// Returns true if the end of the prompt is the beginning of a delimiter, and not the text of a field that nothing opens. A parser cannot tell: `>>>` may
    /// be text as long as `>>>all` has not come. The responses tell it, if in none of them a text begins there without a delimiter before it.
    fn is_begun_delimiter(&self, from: GraphNode, state: usize, written: &str) -> bool {
        let begins =
            |edge: &Edge| edge.text.len() > written.len() && edge.text.starts_with(written);
        let bare = |edge: &Edge| edge.to == GraphNode::State(state) && edge.text.trim().is_empty();
        self.edges_from(from).any(begins) && !self.edges_from(from).any(bare)
    }

    fn edges_from(&self, from: GraphNode) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == from)
    }
}

/// Returns what is left of a text of which something was written, white space aside.
fn rest<'t>(text: &'t str, written: &str) -> Option<&'t str> {
    if let Some(rest) = text.strip_prefix(written) {
        return Some(rest);
    }
    let mut rest = text;
    for c in written.chars() {
        match rest.strip_prefix(c) {
            Some(further) => rest = further,
            None if c.is_whitespace() => {}
            None => rest = rest.trim_start().strip_prefix(c)?,
        }
    }
    Some(rest)
}
