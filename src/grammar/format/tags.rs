//! Arguments between tags: how a tag is written for a value of each type.

use crate::content::{ContentParser, Form};
use crate::value::{Map, Value, json};

/// The shape of what stands around arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// They are one text of JSON.
    Json,
    /// There are none, and this is written instead.
    Empty(String),
    /// One tag after the other.
    Tags {
        lead: String,
        /// Unknown where never more than one tag was seen.
        separator: Option<String>,
        tail: String,
    },
}

impl Shape {
    /// The shape of a body whose last tag ends at the byte `end`. `lead` stands before the first tag, if there is one.
    pub(super) fn of(
        body: &str,
        lead: Option<String>,
        separator: Option<String>,
        end: usize,
    ) -> Self {
        match lead {
            None => Self::Empty(body.to_owned()),
            Some(lead) => Self::Tags {
                lead,
                separator,
                tail: body[end..].to_owned(),
            },
        }
    }
}

/// A part of a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TagAtom {
    Text(String),
    /// The argument's name.
    Key,
    Value,
}

/// A tag around a value of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag {
    /// The type, as JSON Schema calls it.
    pub(crate) of: &'static str,
    pub(crate) atoms: Vec<TagAtom>,
    pub(crate) form: TagForm,
}

/// How a value is written in a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TagForm {
    /// A text as it is.
    Raw,
    /// JSON.
    Json,
    /// A text between two others, in which the second does not stand.
    Quoted(String, String),
    /// These words for true, false and null.
    Word(String),
    /// As the dialect of the format has it.
    Dialect,
}

/// The tags of one call.
pub(super) struct CallTags {
    pub(super) shape: Shape,
    pub(super) tags: Vec<SeenTag>,
}

/// A tag and what was written in it.
#[derive(Debug, Clone)]
pub(super) struct SeenTag {
    pub(super) atoms: Vec<TagAtom>,
    pub(super) raw: String,
    pub(super) value: Value,
}

pub(super) fn read(
    content: &ContentParser,
    body: &str,
    arguments: &Map,
) -> Result<CallTags, String> {
    let Some(Form::Tags(form)) = content.form() else {
        return Err("the pattern of the tags cannot be used".to_owned());
    };
    let mut tags = Vec::new();
    let mut at = 0;
    let (mut lead, mut separator) = (None, None);
    for found in form.pattern.find_iter(body) {
        let found = found.map_err(|error| error.to_string())?;
        let group = |name: &str| {
            let group = found.groups.iter().find(|(group, _)| group == name);
            group.and_then(|(_, span)| span.clone())
        };
        let (Some(key), Some(value)) = (group("key"), group("value")) else {
            return Err("a tag without a key or a value".to_owned());
        };
        let before = body[at..found.span.start].to_owned();
        match &lead {
            None => lead = Some(before),
            Some(_) => separator = separator.or(Some(before)),
        }
        let name = &body[key.clone()];
        let argument = arguments
            .get(name)
            .ok_or("a tag of an argument that the message has not")?;
        tags.push(SeenTag {
            atoms: atoms(body, found.span.clone(), key.clone(), value.clone()),
            raw: body[value].to_owned(),
            value: argument.clone(),
        });
        at = found.span.end;
    }
    Ok(CallTags {
        shape: Shape::of(body, lead, separator, at),
        tags,
    })
}

type Span = std::ops::Range<usize>;

/// The parts of a tag; its key may come again behind the value.
fn atoms(body: &str, span: Span, key: Span, value: Span) -> Vec<TagAtom> {
    let name = body[key.clone()].to_owned();
    let mut atoms = Vec::new();
    let push = |atoms: &mut Vec<TagAtom>, text: &str| {
        if !text.is_empty() {
            atoms.push(TagAtom::Text(text.to_owned()));
        }
    };
    let mut parts = [(key, TagAtom::Key), (value, TagAtom::Value)];
    parts.sort_by_key(|(span, _)| span.start);
    let mut at = span.start;
    for (part, atom) in parts {
        push(&mut atoms, &body[at..part.start]);
        at = part.end;
        atoms.push(atom);
    }
    let rest = &body[at..span.end];
    match rest.split_once(name.as_str()) {
        Some((before, after)) if name.len() > 2 => {
            push(&mut atoms, before);
            atoms.push(TagAtom::Key);
            push(&mut atoms, after);
        }
        _ => push(&mut atoms, rest),
    }
    atoms
}

/// How a value was written, by what it is; `None` where that is none of the ways that are known.
pub(super) fn form_of(raw: &str, value: &Value) -> Option<TagForm> {
    match value {
        Value::String(text) if text == raw => Some(TagForm::Raw),
        Value::String(text) => {
            if json::parse(raw).is_ok_and(|read| read == *value) {
                return Some(TagForm::Json);
            }
            let at = raw.find(text.as_str()).filter(|_| !text.is_empty())?;
            let (open, close) = (&raw[..at], &raw[at + text.len()..]);
            (!open.trim().is_empty() && !close.trim().is_empty())
                .then(|| TagForm::Quoted(open.to_owned(), close.to_owned()))
        }
        Value::Null | Value::Bool(_) => Some(TagForm::Word(raw.to_owned())),
        _ if json::parse(raw).is_ok_and(|read| read == *value) => Some(TagForm::Json),
        Value::Array(_) | Value::Object(_) => Some(TagForm::Dialect),
        _ => None,
    }
}
