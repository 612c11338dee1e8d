//! From the graph of a format to one expression for what a model may write.
//!
//! What may follow a place depends on the place, on whether there was a call, and on whether there was reasoning. So it is a function
//! of the three, and each of its values is one expression however many ways lead there. A place that leads back to itself is a
//! repetition; a longer way round is a rule.

use std::collections::HashMap;
use std::ops::Range;

use super::calls::Calls;
use super::expr::{Arena, Expr, Id, JsonOf};
use super::format::{Begun, Edge, Format, GraphNode, Kind, State, Text, bit, space_chars};
use super::lazy::{self, Lazy, Signs};
use super::request::{Reasoning, Request, Tool};
use crate::value::json;

/// A place, and what came before.
type At = (GraphNode, Past);

/// The steps that came before a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Past {
    /// True if there was a call.
    called: bool,
    /// True if there was reasoning.
    reasoned: bool,
    /// True if there was an answer, where one is asked for.
    answered: bool,
    /// The fields that are counted of which there was a region, a bit each.
    written: u64,
}

/// Makes one expression of a graph.
pub(super) struct Walk<'a> {
    pub(super) arena: &'a mut Arena,
    pub(super) format: &'a Format,
    pub(super) request: &'a Request,
    pub(super) tools: Vec<Tool>,
    pub(super) findings: &'a mut Vec<(&'static str, String)>,
    known: HashMap<At, Id>,
    /// The places that are being followed, and whether one led back there.
    under_way: Vec<(At, bool)>,
    bodies: HashMap<usize, Id>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        arena: &'a mut Arena,
        format: &'a Format,
        request: &'a Request,
        findings: &'a mut Vec<(&'static str, String)>,
    ) -> Self {
        Self {
            arena,
            format,
            request,
            tools: request.callable(),
            findings,
            known: HashMap::new(),
            under_way: Vec::new(),
            bodies: HashMap::new(),
        }
    }

    /// Returns what may be written from the place on where the prompt leaves it: in the text of a state, or before these edges.
    pub(super) fn begin(&mut self, begun: &Begun) -> Id {
        match begun {
            Begun::In { state, written } => {
                let past = self.counted(*written);
                // The prompt has written what the text begins with.
                if let Kind::Text(text) = &self.format.states[*state].kind
                    && !text.lead.is_empty()
                {
                    let free = self.free(text);
                    let free = self.tagged(*state, free);
                    self.bodies.insert(*state, free);
                }
                let entered = self.entered(GraphNode::Start, *state, past);
                self.bodies.remove(state);
                let Some((body, past)) = entered else {
                    return self.arena.never();
                };
                let follow = self.follow((GraphNode::State(*state), past));
                self.arena.seq([body, follow])
            }
            Begun::Before {
                edges,
                reasoned,
                written,
                ..
            } => {
                let past = Past {
                    reasoned: *reasoned,
                    ..self.counted(*written)
                };
                self.along(edges, (GraphNode::Start, past))
            }
        }
    }

    /// The past in which there were regions of these fields.
    fn counted(&self, written: u64) -> Past {
        Past {
            written: written & (self.format.once | self.format.required),
            ..Past::default()
        }
    }

    /// Returns what may be written from the first trigger of a call on, with the texts by which that is seen. Nothing where no call may be
    /// written, or nothing shows that one begins.
    pub(super) fn lazy(&mut self, begun: &Begun) -> Lazy {
        let format = self.format;
        let is_call = |node: GraphNode| match node {
            GraphNode::State(state) => matches!(format.states[state].kind, Kind::Call(_)),
            _ => false,
        };
        let mut lazy = Lazy {
            root: self.arena.never(),
            triggers: Vec::new(),
            is_unseen: false,
        };
        // The prompt may have written the trigger of the first call, or a part of it.
        if let Begun::Before { edges, .. } = begun {
            lazy.is_unseen = edges.iter().filter(|rest| is_call(rest.to)).any(|rest| {
                let wholes = format.edges.iter();
                let mut wholes =
                    wholes.filter(|whole| (whole.from, whole.to) == (rest.from, rest.to));
                wholes.any(|whole| {
                    let written = whole.text.strip_suffix(rest.text.as_str());
                    written.is_some_and(|written| written.len() > whole.sign())
                })
            });
        }
        let signs = Signs::of(format);
        let mut ways = Vec::new();
        for edge in &format.edges {
            let (GraphNode::State(state), false) = (edge.to, is_call(edge.from)) else {
                continue;
            };
            if !is_call(edge.to) {
                continue;
            }
            let text = &edge.text[edge.sign()..];
            let past = Past {
                reasoned: true,
                ..Past::default()
            };
            let Some((body, past)) = self.entered(GraphNode::Start, state, past) else {
                continue;
            };
            let heads = lazy::heads(self.arena, body).unwrap_or_else(|| vec![String::new()]);
            let triggers = signs.of_call(text, &heads);
            if triggers.is_empty() {
                lazy.is_unseen = true;
                continue;
            }
            for trigger in triggers {
                if !lazy.triggers.contains(&trigger) {
                    lazy.triggers.push(trigger);
                }
            }
            let part = edge.sign()..edge.text.len();
            let text = self.spaced(edge, part, Past::default());
            let follow = self.follow((edge.to, past));
            ways.push(self.arena.seq([text, body, follow]));
        }
        lazy.root = self.arena.choice(ways);
        lazy
    }

    /// The body of a state and what is known behind it; `None` where it may not be written.
    fn entered(&mut self, from: GraphNode, state: usize, past: Past) -> Option<(Id, Past)> {
        let field = self.format.states[state].field;
        let bit = bit(field);
        // Two calls of one list are in one region.
        let is_apart =
            !matches!(from, GraphNode::State(from) if self.format.states[from].field == field);
        if is_apart && past.written & self.format.once & bit != 0 {
            return None;
        }
        let counted = bit & (self.format.once | self.format.required);
        let mut next = Past {
            written: past.written | counted,
            ..past
        };
        match &self.format.states[state].kind {
            Kind::Call(_) => {
                let is_more = past.called && !self.request.parallel;
                if self.tools.is_empty() || is_more || self.must_reason(past.reasoned) {
                    return None;
                }
                next.called = true;
            }
            Kind::Text(text) if text.is_content => {
                if self.must_reason(past.reasoned) {
                    return None;
                }
                next.answered = self.request.response_format.is_some();
            }
            Kind::Text(text) => {
                if self.request.reasoning == Reasoning::Off && text.blank.is_empty() {
                    return None;
                }
                next.reasoned = true;
            }
        }
        let body = self.body(state);
        (!self.arena.is_never(body)).then_some((body, next))
    }

    fn must_reason(&self, reasoned: bool) -> bool {
        self.request.reasoning == Reasoning::On && !reasoned
    }

    fn body(&mut self, state: usize) -> Id {
        if let Some(body) = self.bodies.get(&state) {
            return *body;
        }
        let field = self.format.states[state].field;
        let body = match &self.format.states[state].kind {
            Kind::Text(text) if text.is_content => match &self.request.response_format {
                Some(schema) => self.arena.add(Expr::Json(JsonOf {
                    schema: json::to_string(schema),
                    avoid: Vec::new(),
                })),
                None => self.free(text),
            },
            Kind::Text(text) if self.request.reasoning == Reasoning::Off => {
                let blank: Vec<Id> = text
                    .blank
                    .iter()
                    .map(|text| self.arena.text(text))
                    .collect();
                self.arena.choice(blank)
            }
            Kind::Text(text) => self.free(text),
            Kind::Call(spellings) => {
                let ends = self.format.ends_of_call(self.format.states[state].field);
                let content = &self.format.template.fields()[field].content;
                let mut calls = Calls {
                    arena: self.arena,
                    format: self.format,
                    ends,
                    is_text: content.is_text(),
                    is_in_lines: self.format.is_in_lines(field),
                    findings: self.findings,
                };
                calls.any_of(&self.tools, spellings)
            }
        };
        let body = self.tagged(state, body);
        let body = self.led(state, body);
        self.bodies.insert(state, body);
        body
    }

    /// The body of a state with the tag by which a reader knows what it is.
    fn tagged(&mut self, state: usize, body: Id) -> Id {
        let State { field, kind } = &self.format.states[state];
        match kind {
            Kind::Text(text) if text.is_content => self.arena.tag("content", body),
            Kind::Text(_) if self.format.reasoning() == Some(*field) => {
                self.arena.tag("reasoning", body)
            }
            Kind::Text(_) => {
                let name = &self.format.template.fields()[*field].name;
                self.arena.tag(name, body)
            }
            Kind::Call(_) => body,
        }
    }

    /// A text that goes on until something stands in it that is avoided.
    fn free(&mut self, text: &Text) -> Id {
        self.arena.add(Expr::Free(text.avoid.clone()))
    }

    /// The body of a state with the white space that it has to begin with, which is none of the text.
    fn led(&mut self, state: usize, body: Id) -> Id {
        let Kind::Text(text) = &self.format.states[state].kind else {
            return body;
        };
        let is_off = self.request.reasoning == Reasoning::Off && !text.is_content;
        if text.lead.is_empty() || is_off {
            return body;
        }
        if text.is_content && self.request.response_format.is_some() {
            let lead = self.arena.text(&text.lead);
            return self.arena.seq([lead, body]);
        }
        let blank = text.blank.iter();
        let blank: Vec<&String> = blank.filter(|one| !one.starts_with(&text.lead)).collect();
        let lead = self.arena.text(&text.lead);
        let mut all = vec![self.arena.seq([lead, body])];
        for blank in blank {
            let blank = self.arena.text(blank);
            all.push(self.tagged(state, blank));
        }
        self.arena.choice(all)
    }

    /// Returns what may follow behind a state.
    fn follow(&mut self, at: At) -> Id {
        if let Some(id) = self.known.get(&at) {
            return *id;
        }
        let rule = rule_name(at);
        if let Some((_, led_back)) = self.under_way.iter_mut().find(|(known, _)| *known == at) {
            *led_back = true;
            return self.arena.rule_ref(&rule);
        }
        self.under_way.push((at, false));
        let format = self.format;
        let edges: Vec<Edge> = format
            .edges
            .iter()
            .filter(|edge| edge.from == at.0)
            .cloned()
            .collect();
        let mut body = self.along(&edges, at);
        if self.under_way.pop().is_some_and(|(_, led_back)| led_back) {
            self.arena.set_rule(&rule, body);
            body = self.arena.rule_ref(&rule);
        }
        self.known.insert(at, body);
        body
    }

    fn along(&mut self, edges: &[Edge], at: At) -> Id {
        let (mut again, mut on) = (Vec::new(), Vec::new());
        for edge in edges {
            match edge.to {
                GraphNode::Start => {}
                GraphNode::End => {
                    let past = at.1;
                    let required = self.format.required;
                    // Who calls a tool answers later.
                    let is_answered = self.request.response_format.is_none() || past.answered;
                    let may_end = past.called || (is_answered && !self.request.is_call_required());
                    let is_whole = past.written & required == required;
                    if may_end && is_whole && !self.must_reason(past.reasoned) {
                        on.push(self.end(edge, past));
                    }
                }
                GraphNode::State(state) => {
                    let Some((body, past)) = self.entered(at.0, state, at.1) else {
                        continue;
                    };
                    let text = self.fixed(edge, state, at.1);
                    let next = (edge.to, past);
                    if next == at {
                        again.push(self.arena.seq([text, body]));
                    } else {
                        let follow = self.follow(next);
                        if !self.arena.is_never(follow) {
                            on.push(self.arena.seq([text, body, follow]));
                        }
                    }
                }
            }
        }
        let on = self.arena.choice(on);
        let again = self.arena.choice(again);
        let again = self.arena.repeat(again, 0, None);
        self.arena.seq([again, on])
    }

    /// The text of an edge, as far as it must be written: white space before a text is the text's.
    fn fixed(&mut self, edge: &Edge, to: usize, past: Past) -> Id {
        let is_free = matches!(&self.format.states[to].kind, Kind::Text(text)
            if text.open.is_empty() && self.request.response_format.is_none());
        if !is_free {
            return self.spaced(edge, 0..edge.text.len(), past);
        }
        let fixed = edge.text.trim_end().len();
        let mut edge = edge.clone();
        for places in [&mut edge.spaces.inner, &mut edge.spaces.outer] {
            places.retain(|at| *at < fixed);
        }
        self.spaced(&edge, 0..fixed, past)
    }

    /// A part of the text of an edge, with white space where some may stand. Outside of regions none may where it would take the place of
    /// the answer, of which one text is kept.
    fn spaced(&mut self, edge: &Edge, part: Range<usize>, past: Past) -> Id {
        let format = self.format;
        let implicit = format.template.implicit().map_or(0, bit);
        let is_taken = past.written & format.once & implicit != 0;
        let spaces = edge.spaces.within(&part);
        let outer = if is_taken { &[][..] } else { &spaces.outer };
        let mut places: Vec<usize> = spaces.inner.iter().chain(outer).copied().collect();
        places.sort_unstable();
        places.dedup();
        let text = &edge.text[part];
        let mut items = Vec::new();
        let mut at = 0;
        for space in places {
            // White space that must be written is not to be taken for some that may.
            if text[space..].starts_with(char::is_whitespace) {
                continue;
            }
            items.push(self.arena.text(&text[at..space]));
            items.push(self.arena.add(Expr::Run {
                chars: space_chars(),
                min: 0,
                max: None,
            }));
            at = space;
        }
        items.push(self.arena.text(&text[at..]));
        self.arena.seq(items)
    }

    /// Returns the end of a turn: an engine may stop where its marker would stand.
    fn end(&mut self, edge: &Edge, past: Past) -> Id {
        let text = &edge.text;
        let end = self
            .format
            .ends
            .iter()
            .find(|end| text.ends_with(end.as_str()));
        let end = end.map_or("", String::as_str);
        let before = &text[..text.len() - end.len()];
        if self.format.is_made_up {
            let cut = before.len();
            let needed = self.spaced(edge, 0..cut, past);
            if end.is_empty() {
                return needed;
            }
            let rest = self.spaced(edge, cut..text.len(), past);
            let rest = self.arena.optional(rest);
            return self.arena.seq([needed, rest]);
        }
        let needed = before.trim_end();
        let rest = &text[needed.len()..];
        let marker = rest.trim_end();
        let blank = self.arena.text(&rest[marker.len()..]);
        let blank = self.arena.optional(blank);
        let marker = self.arena.text(marker);
        let rest = self.arena.seq([marker, blank]);
        let rest = self.arena.optional(rest);
        let needed = self.arena.text(needed);
        self.arena.seq([needed, rest])
    }
}

fn rule_name((place, past): At) -> String {
    let place = match place {
        GraphNode::Start => "start".to_owned(),
        GraphNode::State(state) => format!("after-{state}"),
        GraphNode::End => "end".to_owned(),
    };
    let flag = |is: bool, name: &'static str| if is { name } else { "" };
    let written = match past.written {
        0 => String::new(),
        written => format!("-{written:x}"),
    };
    format!(
        "{place}{}{}{}{written}",
        flag(past.called, "-called"),
        flag(past.reasoned, "-reasoned"),
        flag(past.answered, "-answered")
    )
}
