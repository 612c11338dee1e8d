//! Calls as they are written: where in a region the name, the id and the arguments stand.

use std::ops::Range;

use super::args::SeenArguments;
use super::lines;
use super::region::Region;
use super::tags::{self, Shape};
use crate::content::Node;
use crate::grammar::chars::Chars;
use crate::pattern::spelled::{self, Part};
use crate::response_template::{Field, ResponseTemplate};
use crate::value::{Map, Path, Value, json};

/// A part of a call, from the first that is not fixed to the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Atom {
    Text(String),
    /// The tool's name.
    Name,
    /// The call's id.
    Id {
        atoms: Vec<Atom>,
        /// True if the message has it as a number.
        is_number: bool,
    },
    /// Characters of a set: part of an id, a number.
    Run {
        chars: Chars,
        min: u32,
        max: Option<u32>,
    },
    /// The arguments, with the shape of what is around them.
    Args(Shape),
}

/// How a call is written.
pub(crate) type Spelling = Vec<Atom>;

/// A call in a response.
#[derive(Debug)]
pub(super) struct CallStretch {
    pub(super) field: usize,
    /// Where its region opens.
    pub(super) opens: usize,
    pub(super) spelling: Spelling,
    /// From the first part that is not fixed to the last.
    pub(super) span: Range<usize>,
    pub(super) seen: SeenArguments,
    /// The call without what closes it, where its name stands there once more.
    pub(super) unclosed: Option<(Spelling, Range<usize>)>,
}

/// The characters of white space that is written where some may stand.
pub(crate) fn space_chars() -> Chars {
    Chars::from_ranges(&[(' ', ' '), ('\t', '\t'), ('\n', '\n'), ('\r', '\r')])
}

/// The characters of ids.
fn id_chars() -> Chars {
    Chars::of_names().or(&Chars::one(':'))
}

/// Where a value of a call comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// A named group of what opens the region.
    Group(String),
    /// The parsed text of the region, or a value in it.
    Body(Path),
}

/// Where the transform has the value at a path of the call from; `None` where it is fixed or not there.
pub(super) fn source(field: &Field, path: &[&str]) -> Option<Source> {
    let Some(transform) = &field.transform else {
        let steps = path.iter().fold(Path::default(), |path, key| path.key(key));
        return Some(Source::Body(steps));
    };
    let mut node = transform.node();
    for (done, key) in path.iter().enumerate() {
        match node {
            Node::Object(members) => {
                node = &members.iter().find(|(name, _)| name == key)?.1;
            }
            Node::Placeholder { names, .. } => {
                return Some(placed(field, names, &path[done..]));
            }
            _ => return None,
        }
    }
    match node {
        Node::Placeholder { names, .. } => Some(placed(field, names, &[])),
        _ => None,
    }
}

fn placed(field: &Field, names: &[String], further: &[&str]) -> Source {
    let further = further.iter().map(|key| (*key).to_owned());
    let (first, rest) = names
        .split_first()
        .map_or(("", &[][..]), |(first, rest)| (first, rest));
    let path = |names: Vec<String>| {
        names
            .iter()
            .fold(Path::default(), |path, key| path.key(key))
    };
    if first == "content" {
        return Source::Body(path(rest.iter().cloned().chain(further).collect()));
    }
    if field.transform_each {
        return Source::Body(path(names.iter().cloned().chain(further).collect()));
    }
    Source::Group(first.to_owned())
}

/// A part of a call that is not fixed, and where it stands.
#[derive(Clone)]
struct Hole {
    span: Range<usize>,
    atom: Atom,
}

/// The calls of a region. `spaces` are the places of the text at which white space may stand.
pub(super) fn read(
    template: &ResponseTemplate,
    region: &Region,
    (text, spaces): (&str, &[usize]),
    calls: &[Value],
    tools: &[Value],
) -> Result<Vec<CallStretch>, String> {
    let field = &template.fields()[region.field];
    let opened = holes_of_open(field, &text[region.open.clone()], region.open.start)?;
    let sources = ["name", "arguments"].map(|key| source(field, &["function", key]));
    let id = source(field, &["id"]);
    let body = &text[region.body.clone()];
    let start = region.body.start;
    let lead = body.len() - body.trim_start().len();
    let inner = body.trim();
    let inner_at = start + lead;
    let whole = matches!(&sources[1], Some(Source::Body(path)) if path.steps().is_empty());
    if whole {
        let call = calls
            .first()
            .ok_or("there is a call in the text and none in the message")?;
        let arguments = arguments(call)?;
        let (span, shape, seen) = match field.content.name() {
            "xml-inline" => {
                let found = tags::read(&field.content, body, &arguments)?;
                (
                    region.body.clone(),
                    found.shape,
                    SeenArguments::Tags(found.tags),
                )
            }
            "kv-lines" => {
                let found = lines::read(&field.content, body, &arguments)?;
                (
                    region.body.clone(),
                    found.shape,
                    SeenArguments::Tags(found.tags),
                )
            }
            "json" | "text" => {
                let span = inner_at..inner_at + inner.len();
                let seen = SeenArguments::json(inner, &arguments, &field.content);
                (span, Shape::Json, seen)
            }
            other => return Err(format!("how arguments are written is not told: {other}")),
        };
        let seen = seen.in_order(call, &arguments, tools);
        let mut holes = opened;
        holes.push(Hole {
            span,
            atom: Atom::Args(shape),
        });
        let text = (text, spaces);
        let closing = hole_of_close(call, text.0, region.close.clone());
        let unclosed = closing.as_ref().map(|_| spelled_holes(text, holes.clone()));
        holes.extend(closing);
        return Ok(vec![CallStretch {
            unclosed,
            ..stretch(region, text, holes, seen)
        }]);
    }
    let (value, places) = json::parse_with_places(inner)
        .map_err(|error| format!("the text of a call is no JSON: {error}"))?;
    let is_list = field.transform_each || field.transform.is_none();
    let count = match value.as_array() {
        Some(items) if is_list => items.len(),
        _ => 1,
    };
    let mut opened = Some(opened);
    let mut found = Vec::new();
    for index in 0..count {
        let call = calls
            .get(index)
            .ok_or("there are more calls in the text than in the message")?;
        let arguments = arguments(call)?;
        let root = match &value {
            Value::Array(_) if is_list => Path::default().index(index),
            _ => Path::default(),
        };
        let place = |source: &Option<Source>| match source {
            Some(Source::Body(path)) => {
                let spans = places.get(&root.join(path))?;
                Some(inner_at + spans.value.start..inner_at + spans.value.end)
            }
            _ => None,
        };
        let mut holes = opened.take().unwrap_or_default();
        if let Some(span) = place(&sources[0]) {
            let span = inside_quotes(text, span);
            holes.push(Hole {
                span,
                atom: Atom::Name,
            });
        }
        if let Some(span) = place(&id) {
            holes.push(id_hole(text, span));
        }
        let span =
            place(&sources[1]).ok_or("the arguments of a call were not found in its text")?;
        let raw = &text[span.clone()];
        let seen =
            SeenArguments::json(raw, &arguments, &field.content).in_order(call, &arguments, tools);
        holes.push(Hole {
            span,
            atom: Atom::Args(Shape::Json),
        });
        found.push(stretch(region, (text, spaces), holes, seen));
    }
    Ok(found)
}

/// The place of an id, as the text that it is.
fn id_hole(text: &str, span: Range<usize>) -> Hole {
    let is_text = text[span.clone()].starts_with('"');
    let (span, chars) = match is_text {
        true => (inside_quotes(text, span), id_chars()),
        false => (span, Chars::from_ranges(&[('0', '9')])),
    };
    let run = Atom::Run {
        chars,
        min: 1,
        max: Some(if is_text { 64 } else { 12 }),
    };
    let atom = Atom::Id {
        atoms: vec![run],
        is_number: !is_text,
    };
    Hole { span, atom }
}

fn inside_quotes(text: &str, span: Range<usize>) -> Range<usize> {
    if text[span.clone()].starts_with('"') {
        span.start + 1..span.end - 1
    } else {
        span
    }
}

/// The arguments of a call; those that are a text, as the object that the text is.
fn arguments(call: &Value) -> Result<Map, String> {
    let arguments = call
        .get("function")
        .and_then(|function| function.get("arguments"));
    match arguments {
        Some(Value::Object(members)) => Ok(members.clone()),
        Some(Value::String(text)) => match json::parse(text) {
            Ok(Value::Object(members)) => Ok(members),
            _ => Err("the arguments of a call are a text that is no JSON object".to_owned()),
        },
        _ => Err("a call without arguments".to_owned()),
    }
}

/// Returns the holes of an opening delimiter: what is not fixed in it.
fn holes_of_open(field: &Field, text: &str, start: usize) -> Result<Vec<Hole>, String> {
    let Some(open) = field
        .open
        .as_ref()
        .filter(|open| open.as_literals().is_none())
    else {
        return Ok(Vec::new());
    };
    let parts = spelled::spelled(open, text)
        .ok_or_else(|| format!("how a delimiter is spelled was not found out: {text}"))?;
    let name = match source(field, &["function", "name"]) {
        Some(Source::Group(name)) => Some(name),
        _ => None,
    };
    let is_name =
        |part: &spelled::Spelled| name.as_ref().is_some_and(|name| part.groups.contains(name));
    let id = match source(field, &["id"]) {
        Some(Source::Group(id)) => Some(id),
        _ => None,
    };
    // All of the group is the name, however many parts the pattern makes of it.
    let mut holes: Vec<Hole> = Vec::new();
    let mut id_span: Option<Range<usize>> = None;
    for part in parts {
        let span = start + part.start..start + part.end;
        if id.as_ref().is_some_and(|id| part.groups.contains(id)) {
            id_span = Some(id_span.map_or(span.clone(), |known| known.start..span.end));
        }
        if is_name(&part) {
            match holes.last_mut() {
                Some(last) if last.atom == Atom::Name && last.span.end == span.start => {
                    last.span.end = span.end;
                }
                _ => holes.push(Hole {
                    span,
                    atom: Atom::Name,
                }),
            }
            continue;
        }
        match part.part {
            Part::Fixed | Part::Space => {}
            Part::Again(_) => holes.push(Hole {
                span,
                atom: Atom::Name,
            }),
            // One character of a few, such as a quote or another, is written as it was.
            Part::Run { max: Some(1), .. } => {}
            Part::Run { class, min, max } => {
                let atom = Atom::Run {
                    chars: Chars::of(&class),
                    min,
                    max,
                };
                holes.push(Hole { span, atom });
            }
        }
    }
    Ok(match id_span {
        Some(span) => with_id(holes, span, text, start),
        None => holes,
    })
}

/// Returns the hole of what closes a call: its name, where it stands there once more, as in `</f>`. One that has the call's id in it is left as it is: an id may
/// have the name in it, and calls may lack ids.
fn hole_of_close(call: &Value, text: &str, close: Range<usize>) -> Option<Hole> {
    let name = call.get("function")?.get("name")?.as_str()?;
    let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
    let closing = text.get(close.clone())?;
    if name.is_empty() || !id.is_empty() && closing.contains(id) {
        return None;
    }
    let at = close.start + closing.find(name)?;
    Some(Hole {
        span: at..at + name.len(),
        atom: Atom::Name,
    })
}

/// The holes, those of the id as one with the fixed text that belongs to it.
fn with_id(holes: Vec<Hole>, id: Range<usize>, text: &str, start: usize) -> Vec<Hole> {
    let (inside, mut all): (Vec<Hole>, Vec<Hole>) = holes
        .into_iter()
        .partition(|hole| id.start <= hole.span.start && hole.span.end <= id.end);
    let mut atoms = Vec::new();
    let mut at = id.start;
    let fixed = |to: usize, at: usize, atoms: &mut Vec<Atom>| {
        if to > at {
            atoms.push(Atom::Text(text[at - start..to - start].to_owned()));
        }
    };
    for hole in inside {
        fixed(hole.span.start, at, &mut atoms);
        at = hole.span.end;
        atoms.push(hole.atom);
    }
    fixed(id.end, at, &mut atoms);
    all.push(Hole {
        span: id,
        atom: Atom::Id {
            atoms,
            is_number: false,
        },
    });
    all
}

/// The call from its first hole to its last.
fn stretch(
    region: &Region,
    text: (&str, &[usize]),
    holes: Vec<Hole>,
    seen: SeenArguments,
) -> CallStretch {
    let (spelling, span) = spelled_holes(text, holes);
    CallStretch {
        field: region.field,
        opens: region.open.start,
        spelling,
        span,
        seen,
        unclosed: None,
    }
}

/// The spelling of a call from its first hole to its last, and where these stand.
fn spelled_holes(
    (text, spaces): (&str, &[usize]),
    mut holes: Vec<Hole>,
) -> (Spelling, Range<usize>) {
    holes.sort_by_key(|hole| hole.span.start);
    let start = holes.first().map_or(0, |hole| hole.span.start);
    let mut spelling = Vec::new();
    let mut at = start;
    for hole in holes {
        if hole.span.start > at {
            let within = at + 1..=hole.span.start;
            for space in spaces.iter().filter(|space| within.contains(space)) {
                if *space > at {
                    spelling.push(Atom::Text(text[at..*space].to_owned()));
                }
                spelling.push(Atom::Run {
                    chars: space_chars(),
                    min: 0,
                    max: None,
                });
                at = *space;
            }
            if hole.span.start > at {
                spelling.push(Atom::Text(text[at..hole.span.start].to_owned()));
            }
        }
        at = hole.span.end;
        spelling.push(hole.atom);
    }
    (spelling, start..at)
}
