//! From the graph of a format to one expression for what a model may write.
//!
//! What may follow a place depends on the place, on whether there was a call, and on whether there was reasoning. So it is a function
//! of the three, and each of its values is one expression however many ways lead there. A place that leads back to itself is a
//! repetition; a longer way round is a rule.

use std::collections::HashMap;

use super::calls::Calls;
use super::expr::{Arena, Expr, Id, JsonOf};
use super::format::{Begun, Edge, Format, GraphNode, Kind};
use super::lazy::{Lazy, Trigger};
use super::request::{Reasoning, Request, Tool};
use crate::value::json;

/// A place, and what came before.
type At = (GraphNode, bool, bool);

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
            Begun::In(state) => {
                let Some((body, called, reasoned)) = self.entered(*state, false, false) else {
                    return self.arena.never();
                };
                let follow = self.follow((GraphNode::State(*state), called, reasoned));
                self.arena.seq([body, follow])
            }
            Begun::Before { edges, reasoned } => {
                let at = (GraphNode::Start, false, *reasoned);
                self.along(edges, at)
            }
        }
    }

    /// Returns what may be written from the first sign of a call on, with the texts by which that is seen. Nothing where no call may be
    /// written, or nothing shows that one begins.
    pub(super) fn lazy(&mut self) -> Lazy {
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
        let mut ways = Vec::new();
        for edge in &format.edges {
            let (GraphNode::State(state), false) = (edge.to, is_call(edge.from)) else {
                continue;
            };
            if !is_call(edge.to) {
                continue;
            }
            let text = edge.text[edge.opens..].trim_start();
            let Some((body, called, reasoned)) = self.entered(state, false, true) else {
                continue;
            };
            let Some(trigger) = Trigger::of(text, format) else {
                lazy.is_unseen = true;
                continue;
            };
            if !lazy.triggers.contains(&trigger) {
                lazy.triggers.push(trigger);
            }
            let text = self.arena.text(text);
            let follow = self.follow((edge.to, called, reasoned));
            ways.push(self.arena.seq([text, body, follow]));
        }
        lazy.root = self.arena.choice(ways);
        lazy
    }

    /// The body of a state and what is known behind it; `None` where it may not be written.
    fn entered(&mut self, state: usize, called: bool, reasoned: bool) -> Option<(Id, bool, bool)> {
        let (called, reasoned) = match &self.format.states[state].kind {
            Kind::Call(_) => {
                let is_more = called && !self.request.parallel;
                if self.tools.is_empty() || is_more || self.must_reason(reasoned) {
                    return None;
                }
                (true, reasoned)
            }
            Kind::Text(text) if text.is_content => {
                if self.must_reason(reasoned) {
                    return None;
                }
                (called, reasoned)
            }
            Kind::Text(text) => {
                if self.request.reasoning == Reasoning::Off && text.blank.is_empty() {
                    return None;
                }
                (called, true)
            }
        };
        let body = self.body(state);
        (!self.arena.is_never(body)).then_some((body, called, reasoned))
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
                None => self.arena.add(Expr::Free(text.avoid.clone())),
            },
            Kind::Text(text) if self.request.reasoning == Reasoning::Off => {
                let blank: Vec<Id> = text
                    .blank
                    .iter()
                    .map(|text| self.arena.text(text))
                    .collect();
                self.arena.choice(blank)
            }
            Kind::Text(text) => self.arena.add(Expr::Free(text.avoid.clone())),
            Kind::Call(spellings) => {
                let ends = self.format.ends_of_call(self.format.states[state].field);
                let content = &self.format.template.fields()[field].content;
                let mut calls = Calls {
                    arena: self.arena,
                    format: self.format,
                    ends,
                    is_text: content.is_text(),
                    findings: self.findings,
                };
                calls.any_of(&self.tools, spellings)
            }
        };
        let body = match &self.format.states[state].kind {
            Kind::Text(text) if text.is_content => self.arena.tag("content", body),
            Kind::Text(_) => {
                let fields = self.format.template.fields();
                match self.format.reasoning() {
                    Some(reasoning) if reasoning == field => self.arena.tag("reasoning", body),
                    _ => self.arena.tag(&fields[field].name, body),
                }
            }
            Kind::Call(_) => body,
        };
        self.bodies.insert(state, body);
        body
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
                    let may_end = !self.request.is_call_required() || at.1;
                    if may_end && !self.must_reason(at.2) {
                        on.push(self.end(&edge.text));
                    }
                }
                GraphNode::State(state) => {
                    let Some((body, called, reasoned)) = self.entered(state, at.1, at.2) else {
                        continue;
                    };
                    let text = self.arena.text(self.fixed(edge, state));
                    let next = (edge.to, called, reasoned);
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
    fn fixed<'e>(&self, edge: &'e Edge, to: usize) -> &'e str {
        let is_free = matches!(&self.format.states[to].kind, Kind::Text(text)
            if text.open.is_empty() && self.request.response_format.is_none());
        if is_free {
            edge.text.trim_end()
        } else {
            &edge.text
        }
    }

    /// Returns the end of a turn: an engine may stop where its marker would stand.
    fn end(&mut self, text: &str) -> Id {
        let end = self
            .format
            .ends
            .iter()
            .find(|end| text.ends_with(end.as_str()));
        let end = end.map_or("", String::as_str);
        let needed = text[..text.len() - end.len()].trim_end();
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

fn rule_name((place, called, reasoned): At) -> String {
    let place = match place {
        GraphNode::Start => "start".to_owned(),
        GraphNode::State(state) => format!("after-{state}"),
        GraphNode::End => "end".to_owned(),
    };
    let flag = |is: bool, name: &'static str| if is { name } else { "" };
    format!(
        "{place}{}{}",
        flag(called, "-called"),
        flag(reasoned, "-reasoned")
    )
}
