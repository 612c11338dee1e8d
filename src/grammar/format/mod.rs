//! How a format is written: read off responses of which it is known what they say.
//!
//! A response is cut into what the model is free in (a text, the name of a tool, its arguments) and what is fixed between. The response
//! template says where one ends and the next begins, so that whoever reads and whoever writes agree on it; how the fixed
//! parts are spelled is taken from the responses: a pattern reads more spellings than a model should be made to write, and
//! what stands between two calls, or behind the last, only a response shows.
//!
//! What follows what is told as a graph: a [`State`] is a text of a field or a call, an [`Edge`] is the fixed text from one to the
//! next, as it was seen. A format of calls in a list has an edge from a call to a call, which is how often it is seen to be
//! followed by another, and so has one in which each call stands in its own tags.

mod args;
mod begun;
mod call;
mod dialect;
mod lead;
mod lines;
mod made;
mod parsed;
mod reasoned;
mod region;
mod tags;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use args::Style;
pub(crate) use begun::Begun;
pub(crate) use call::{Atom, Spelling, space_chars};
pub(crate) use dialect::Dialect;
pub(crate) use tags::{Shape, Tag, TagAtom, TagForm};

use super::avoid::{Avoid, Piece};
use super::chars::Chars;
use super::reader::Settings;
use crate::derive::Case;
use crate::judge::message::CALLS_KEY;
use crate::parser::ResponseParser;
use crate::pattern::Pattern;
use crate::pattern::spelled::{self, Sought};
use crate::response_template::ResponseTemplate;
use parsed::{Parsed, Stretch};

/// A place of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum GraphNode {
    /// Before everything.
    Start,
    /// A text or a call, by its index in [`Format::states`].
    State(usize),
    /// Behind everything.
    End,
}

/// The fixed text between two places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: GraphNode,
    pub(crate) to: GraphNode,
    pub(crate) text: String,
    /// Where in the text the region of a call opens that it leads to.
    pub(crate) opens: usize,
    /// The places of the text at which white space may stand that is not written.
    pub(crate) spaces: Spaces,
}

/// The places of a text at which white space may stand that is not written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Spaces {
    /// In what opens a region, in it, or in what closes it.
    pub(crate) inner: Vec<usize>,
    /// Before all regions, between two, and behind all. There it is a text of the implicit field, although of nothing.
    pub(crate) outer: Vec<usize>,
}

impl Spaces {
    fn each(&self, place: impl Fn(usize) -> Option<usize>) -> Self {
        let each = |places: &[usize]| places.iter().filter_map(|at| place(*at)).collect();
        Self {
            inner: each(&self.inner),
            outer: each(&self.outer),
        }
    }

    /// The places behind so much more text.
    fn moved(&self, by: usize) -> Self {
        self.each(|at| Some(at + by))
    }

    /// The places in a part of the text, at its beginning and at its end.
    pub(crate) fn within(&self, part: &Range<usize>) -> Self {
        self.each(|at| {
            (part.start..=part.end)
                .contains(&at)
                .then(|| at - part.start)
        })
    }

    fn len(&self) -> usize {
        self.inner.len() + self.outer.len()
    }
}

/// A text of a field, or a call, that is written between two fixed texts.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// The field's index in the response template.
    pub(crate) field: usize,
    pub(crate) kind: Kind,
}

/// The kind of a state.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// A text.
    Text(Text),
    /// A call, in one of these spellings.
    Call(Vec<Spelling>),
}

/// A text of a field.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    /// The text that opens it, as it is written; empty for the implicit field.
    pub(crate) open: String,
    /// The white space that it has to begin with; empty where it may begin with anything.
    pub(crate) lead: String,
    /// True if it is the answer, false if it is anything else that the model says.
    pub(crate) is_content: bool,
    /// The sequences that must not stand in it.
    pub(crate) avoid: Avoid,
    /// How it is written where there is nothing to say.
    pub(crate) blank: BTreeSet<String>,
    seen: Vec<String>,
}

/// How a format is written.
#[derive(Debug, Clone)]
pub(crate) struct Format {
    pub(crate) template: Arc<ResponseTemplate>,
    pub(crate) states: Vec<State>,
    pub(crate) edges: Vec<Edge>,
    /// The texts that end a turn, where an engine may read them as the end instead.
    pub(crate) ends: Vec<String>,
    /// True if the arguments of calls are written in the order of their names.
    pub(crate) sorted: bool,
    /// How arguments are written.
    pub(crate) style: Style,
    /// The ways to write that were left out, each with the reason or an example.
    pub(crate) left_out: Vec<String>,
    /// The fields, a bit each, of which a message keeps one region alone.
    pub(crate) once: u64,
    /// The fields, a bit each, that a message must have.
    pub(crate) required: u64,
    /// True if the responses were made up, so that nothing is known of the order of the fields.
    pub(crate) is_made_up: bool,
    /// True if reasoning may stand before what no response shows it before.
    pub(crate) is_reasoned: bool,
}

/// The bit of a field; none for those beyond the 64th.
pub(crate) fn bit(field: usize) -> u64 {
    u32::try_from(field)
        .ok()
        .and_then(|field| 1_u64.checked_shl(field))
        .unwrap_or(0)
}

/// The fields of further texts, beside the answer and the reasoning, whose opening text calls begin with as well: `to=` before a recipient,
/// and before the name of a function.
fn opened_as_calls(template: &ResponseTemplate, shown: &[(&Case, Parsed)]) -> BTreeSet<usize> {
    let stretches = || {
        let all = shown.iter().map(|(_, parsed)| parsed);
        all.flat_map(|parsed| parsed.stretches.iter().map(move |one| (parsed, one)))
    };
    let texts = stretches().filter_map(|(_, stretch)| match stretch {
        Stretch::Text { field, open, .. } if !open.trim().is_empty() => Some((*field, open.trim())),
        _ => None,
    });
    let reasoning = texts.clone().map(|(field, _)| field).min();
    let is_content = |field: usize| template.fields()[field].name == "content";
    let further = texts.filter(|(field, _)| Some(*field) != reasoning && !is_content(*field));
    let calls: BTreeSet<&str> = stretches()
        .filter_map(|(parsed, stretch)| match stretch {
            Stretch::Call(call) => parsed.text.get(call.opens..call.span.start),
            Stretch::Text { .. } => None,
        })
        .collect();
    let is_of_calls = |open: &str| calls.iter().any(|call| call.trim_start().starts_with(open));
    let opened = further.filter(|(_, open)| is_of_calls(open));
    opened.map(|(field, _)| field).collect()
}

/// Leaves out of all calls of a field what closes them, where that has the name in it in some of them alone: what is written behind calls is one for all.
fn close_alike(shown: &mut [(&Case, Parsed)]) {
    let calls = |shown: &[(&Case, Parsed)], is_closed: bool| -> BTreeSet<usize> {
        let stretches = shown.iter().flat_map(|(_, parsed)| &parsed.stretches);
        let calls = stretches.filter_map(|stretch| match stretch {
            Stretch::Call(call) => Some(call),
            Stretch::Text { .. } => None,
        });
        let such = calls.filter(|call| call.unclosed.is_some() == is_closed);
        such.map(|call| call.field).collect()
    };
    let (with, without) = (calls(shown, true), calls(shown, false));
    let stretches = shown
        .iter_mut()
        .flat_map(|(_, parsed)| &mut parsed.stretches);
    for stretch in stretches {
        if let Stretch::Call(call) = stretch
            && with.contains(&call.field)
            && without.contains(&call.field)
            && let Some((spelling, span)) = call.unclosed.take()
        {
            (call.spelling, call.span) = (spelling, span);
        }
    }
}

impl Format {
    /// Reads it off responses. `end_tokens` are tokens at which an engine stops.
    pub(crate) fn of(
        template: &Arc<ResponseTemplate>,
        cases: &[Case],
        end_tokens: &[String],
    ) -> Self {
        let none = Spaces::default();
        let shown = cases.iter().map(|case| (case, &none));
        Self::of_shown(template, shown, end_tokens, true)
    }

    /// Makes it of the response template alone: of responses that are made up, and that it reads back.
    pub(crate) fn of_template(template: &ResponseTemplate, end_tokens: &[String]) -> Self {
        let optional = Arc::new(template.without_required());
        let made = made::responses(&optional);
        let shown = made.responses.iter();
        let shown = shown.map(|made| (&made.case, &made.spaces));
        let mut format = Self::of_shown(&optional, shown, end_tokens, false);
        for (index, field) in template.fields().iter().enumerate() {
            if !field.repeats {
                format.once |= bit(index);
            }
            if !field.optional {
                format.required |= bit(index);
            }
        }
        for why in made.left_out {
            if !format.left_out.contains(&why) {
                format.left_out.push(why);
            }
        }
        format.is_made_up = true;
        // What was tried and is written in no way that is known is not asked for.
        format.style.unknown.clear();
        format
    }

    fn of_shown<'c>(
        template: &Arc<ResponseTemplate>,
        cases: impl Iterator<Item = (&'c Case, &'c Spaces)>,
        end_tokens: &[String],
        is_rendered: bool,
    ) -> Self {
        let mut format = Self {
            template: Arc::clone(template),
            states: Vec::new(),
            edges: Vec::new(),
            ends: Vec::new(),
            sorted: false,
            style: Style::default(),
            left_out: Vec::new(),
            once: 0,
            required: 0,
            is_made_up: false,
            is_reasoned: false,
        };
        let mut ends: BTreeSet<String> = end_tokens.iter().cloned().collect();
        let mut shown = Vec::new();
        for (case, spaces) in cases {
            match parsed::parse(template, case, spaces) {
                Ok(parsed) => shown.push((case, parsed)),
                Err(why) if !format.left_out.contains(&why) => format.left_out.push(why),
                Err(_) => {}
            }
        }
        if is_rendered {
            let opens = opened_as_calls(template, &shown);
            shown.retain(|(_, parsed)| !opens.iter().any(|field| parsed.has_text_of(*field)));
            for field in opens {
                let name = &template.fields()[field].name;
                format.left_out.push(format!(
                    "texts of the field {name}, since what opens them opens a call as well: a call of a tool that is not there would be such a text"
                ));
            }
        }
        close_alike(&mut shown);
        for (_, parsed) in &shown {
            format.learn(parsed, &mut ends);
        }
        if is_rendered {
            for case in reasoned::missing(template, &shown) {
                if let Ok(parsed) = parsed::parse(template, &case, &Spaces::default()) {
                    format.learn(&parsed, &mut ends);
                    format.is_reasoned = true;
                }
            }
        }
        format.style.settle();
        format.sorted = format.style.is_sorted();
        let end_texts = |format: &Self| -> Vec<String> {
            let ends = format.edges.iter().filter(|edge| edge.to == GraphNode::End);
            ends.map(|edge| edge.text.clone()).collect()
        };
        let all = end_texts(&format);
        format.ends = ends
            .into_iter()
            .filter(|end| {
                !end.trim().is_empty() && all.iter().any(|text| text.ends_with(end.as_str()))
            })
            .collect();
        format.ends.sort_by_key(|end| std::cmp::Reverse(end.len()));
        for state in &mut format.states {
            if let Kind::Call(spellings) = &mut state.kind {
                forget_lone(spellings);
            }
        }
        for index in 0..format.states.len() {
            let field = format.states[index].field;
            if let Kind::Text(text) = &format.states[index].kind {
                let avoid = format.avoided(field, text.open.is_empty(), &text.seen);
                let lead = lead::of(template, &shown, field, &text.open);
                if let Kind::Text(text) = &mut format.states[index].kind {
                    text.avoid = avoid;
                    text.lead = lead;
                    text.seen.clear();
                }
            }
        }
        format
    }

    fn learn(&mut self, parsed: &Parsed, ends: &mut BTreeSet<String>) {
        let mut at = (GraphNode::Start, 0);
        for stretch in &parsed.stretches {
            let (state, span, opens) = match stretch {
                Stretch::Text { field, open, span } => {
                    let text = &parsed.text[span.clone()];
                    (self.text_state(*field, open, text), span.clone(), at.1)
                }
                Stretch::Call(call) => {
                    let state = self.call_state(call.field, &call.spelling);
                    self.style.see(&call.seen);
                    (state, call.span.clone(), call.opens)
                }
            };
            let to = GraphNode::State(state);
            let opens = opens.clamp(at.1, span.start) - at.1;
            self.add_edge(at.0, to, parsed, at.1..span.start, opens);
            at = (to, span.end);
        }
        self.add_edge(at.0, GraphNode::End, parsed, at.1..parsed.text.len(), 0);
        if let Some(end) = parsed.turn_end {
            ends.insert(parsed.text[end.max(at.1)..].to_owned());
        }
    }

    fn add_edge(
        &mut self,
        from: GraphNode,
        to: GraphNode,
        parsed: &Parsed,
        span: Range<usize>,
        opens: usize,
    ) {
        let text = &parsed.text[span.clone()];
        let spaces = parsed.spaces.within(&span);
        let mut known = self.edges.iter_mut();
        let known = known.find(|edge| edge.from == from && edge.to == to && edge.text == text);
        match known {
            // White space may stand where one of those who wrote it so may put some.
            Some(edge) if spaces.len() > edge.spaces.len() => edge.spaces = spaces,
            Some(_) => {}
            None => self.edges.push(Edge {
                from,
                to,
                text: text.to_owned(),
                opens,
                spaces,
            }),
        }
    }

    fn text_state(&mut self, field: usize, open: &str, text: &str) -> usize {
        let is = |state: &State| {
            state.field == field && matches!(&state.kind, Kind::Text(text) if text.open == open)
        };
        let at = self.states.iter().position(is).unwrap_or_else(|| {
            let kind = Kind::Text(Text {
                open: open.to_owned(),
                lead: String::new(),
                is_content: self.template.fields()[field].name == "content",
                avoid: Avoid::new([]),
                blank: BTreeSet::new(),
                seen: Vec::new(),
            });
            self.states.push(State { field, kind });
            self.states.len() - 1
        });
        if let Kind::Text(known) = &mut self.states[at].kind {
            if text.trim().is_empty() {
                known.blank.insert(text.to_owned());
            }
            known.seen.push(text.to_owned());
        }
        at
    }

    /// The place of the calls of the field that begin as the spelling does. Calls of which one begins with its name, and another with a member before
    /// that, stand behind different fixed texts: `{"name": "` and `{"`.
    fn call_state(&mut self, field: usize, spelling: &Spelling) -> usize {
        let first = |spelling: &Spelling| spelling.first().map(std::mem::discriminant);
        let is = |state: &State| {
            let known = match &state.kind {
                Kind::Call(known) => known.first(),
                Kind::Text(_) => None,
            };
            state.field == field && known.is_some_and(|known| first(known) == first(spelling))
        };
        let at = self.states.iter().position(is).unwrap_or_else(|| {
            let kind = Kind::Call(Vec::new());
            self.states.push(State { field, kind });
            self.states.len() - 1
        });
        if let Kind::Call(spellings) = &mut self.states[at].kind
            && !spellings.contains(spelling)
        {
            spellings.push(spelling.clone());
        }
        at
    }

    /// Returns what must not stand in a text of the field: what would end it, or open another.
    fn avoided(&self, field: usize, is_implicit: bool, seen: &[String]) -> Avoid {
        let fields = self.template.fields();
        let mut patterns: Vec<&Pattern> = Vec::from_iter(&fields[field].close);
        if is_implicit {
            patterns.extend(fields.iter().filter_map(|field| field.open.as_ref()));
        }
        let ways = patterns
            .into_iter()
            .filter_map(spelled::beginnings)
            .flatten();
        Avoid::new(ways.map(|way| shortest(pieces(&way), seen)))
    }

    /// Returns what would end the region of a call if it stood in a text of it, as far as no text that was seen has it.
    pub(crate) fn ends_of_call(&self, field: usize) -> Vec<Vec<Piece>> {
        let close = self.template.fields()[field].close.as_ref();
        let ways = close.and_then(spelled::beginnings).unwrap_or_default();
        let mut ways: Vec<Vec<Piece>> = ways.iter().map(|way| pieces(way)).collect();
        ways.sort_by_key(Vec::len);
        let mut fitting: Vec<Vec<Piece>> = Vec::new();
        for way in ways {
            // No text that was seen has one that begins with another which none has.
            let is_known = fitting.iter().any(|known| way.starts_with(known));
            let avoid = || Avoid::new([way.clone()]);
            let fits = |avoid: Avoid| self.style.strings().iter().all(|text| avoid.allows(text));
            if !is_known && fits(avoid()) {
                fitting.push(way);
            }
        }
        let mut ends = Avoid::new(fitting).pieces().to_vec();
        ends.extend(self.end_of_line(field));
        ends
    }

    /// Returns what ends an argument of a call, where the field's calls have one a line.
    fn end_of_line(&self, field: usize) -> Option<Vec<Piece>> {
        lines::end(&self.template.fields()[field].content)
    }

    /// Returns true if the calls of the field have an argument a line.
    pub(crate) fn is_in_lines(&self, field: usize) -> bool {
        self.end_of_line(field).is_some()
    }

    /// The field of the reasoning: the first text that is neither the answer nor calls.
    pub(crate) fn reasoning(&self) -> Option<usize> {
        let states = self.states.iter();
        let texts =
            states.filter(|state| matches!(&state.kind, Kind::Text(text) if !text.is_content));
        texts.map(|state| state.field).min()
    }

    /// How a grammar's reader makes the message: the name of the reasoning, and what the prompt has said of the message already. `begun` is where the prompt leaves
    /// the response; the beginning of a delimiter at its end says nothing.
    pub(crate) fn message(&self, prefix: &str, begun: &Begun) -> Settings {
        let mut settings = Settings::default();
        if let Some(field) = self.reasoning() {
            settings.reasoning = self.template.fields()[field].name.to_string();
        }
        let said = match begun {
            Begun::Before { pending, .. } => prefix.len() - pending,
            Begun::In { .. } => prefix.len(),
        };
        let read = ResponseParser::new(Arc::clone(&self.template), &prefix[..said], &[])
            .and_then(|mut parser| parser.finalize());
        settings.defaults = match read {
            Ok((message, _)) => message,
            Err(_) => self.template.defaults().clone(),
        };
        // Of a prompt that is given all is told; any other is read behind the anchor.
        if let (true, Some(anchors)) = (prefix.is_empty(), self.template.anchor().as_literals()) {
            settings.start_anchor = anchors.to_vec();
        }
        settings
    }

    /// Returns true if the field is that of calls.
    pub(crate) fn is_calls(template: &ResponseTemplate, field: usize) -> bool {
        template.fields()[field].name == CALLS_KEY
    }
}

/// Drops the spellings of calls with one argument that are like one of calls with several.
fn forget_lone(spellings: &mut Vec<Spelling>) {
    let known = spellings.clone();
    let is_like = |a: &Atom, b: &Atom| match (a, b) {
        (
            Atom::Args(Shape::Tags {
                lead,
                separator: None,
                tail,
            }),
            Atom::Args(Shape::Tags {
                lead: other_lead,
                separator: Some(_),
                tail: other_tail,
            }),
        ) => lead == other_lead && tail == other_tail,
        (a, b) => a == b,
    };
    spellings.retain(|one| {
        !known.iter().any(|other| {
            other != one
                && other.len() == one.len()
                && one.iter().zip(other).all(|(a, b)| is_like(a, b))
        })
    });
}

fn pieces(way: &[Sought]) -> Vec<Piece> {
    let piece = |part: &Sought| match part {
        Sought::Text(text) => Piece::Text(text.clone()),
        Sought::Space => Piece::Space,
        Sought::Run(class, min) => Piece::Run(Chars::of(class), *min),
    };
    way.iter().map(piece).collect()
}

/// The end of a beginning that ends with these pieces. Where they are one character that is repeated, what comes next and cannot be that character
/// belongs to it: of `>>>>find` it tells that the call begins behind the first character.
fn told_from_run(pieces: &[Piece], end: usize) -> usize {
    let [Piece::Text(text)] = &pieces[..end] else {
        return end;
    };
    let mut signs = text.chars();
    let Some(sign) = signs
        .next()
        .filter(|sign| signs.all(|other| other == *sign))
    else {
        return end;
    };
    let blank = pieces[end..].iter();
    let blank = blank.take_while(|piece| **piece == Piece::Space).count();
    match pieces.get(end + blank) {
        Some(Piece::Run(chars, 1..)) if !chars.has(sign) => end + blank + 1,
        _ => end,
    }
}

/// The shortest beginning of a delimiter that no text has: what begins as it does is a delimiter to whoever writes it.
fn shortest(pieces: Vec<Piece>, seen: &[String]) -> Vec<Piece> {
    let ends = (1..=pieces.len())
        .filter(|end| matches!(&pieces[end - 1], Piece::Text(text) if text.len() > 1));
    for end in ends {
        let end = told_from_run(&pieces, end);
        let beginning = Avoid::new([pieces[..end].to_vec()]);
        if seen.iter().all(|text| beginning.allows(text)) {
            return pieces[..end].to_vec();
        }
    }
    pieces
}
