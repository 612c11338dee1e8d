//! Arguments one a line: what stands between a key and its value, and between two lines.

use super::tags::{CallTags, SeenTag, Shape, TagAtom};
use crate::content::{ContentParser, Form};
use crate::grammar::avoid::Piece;
use crate::grammar::chars::Chars;
use crate::value::{Map, python};

/// Reads the lines as tags, in which a key and a value stand apart.
pub(super) fn read(
    content: &ContentParser,
    body: &str,
    arguments: &Map,
) -> Result<CallTags, String> {
    let Some(Form::Lines(form)) = content.form() else {
        return Err("the separators of the lines cannot be used".to_owned());
    };
    let mut tags = Vec::new();
    let (mut lead, mut separator) = (None, None);
    let (mut at, mut end) = (0, 0);
    while at < body.len() {
        let rest = &body[at..];
        let (line, between) = match form.line_sep {
            Some(line_sep) => match rest.find(line_sep) {
                Some(found) => (found, line_sep.len()),
                None => (rest.len(), 0),
            },
            None => {
                let found = rest.find(python::is_space).unwrap_or(rest.len());
                let space = rest[found..].chars().next().map_or(0, char::len_utf8);
                (found, space)
            }
        };
        let (start, stop) = (at, at + line);
        at = stop + between;
        let line = &body[start..stop];
        let Some(cut) = line.find(form.kv_sep) else {
            continue;
        };
        let trimmed = |from: usize, to: usize| {
            let text = &body[from..to];
            if !form.strip {
                return from..to;
            }
            let from = from + (text.len() - text.trim_start().len());
            from..from + text.trim().len()
        };
        let key = trimmed(start, start + cut);
        let value = trimmed(start + cut + form.kv_sep.len(), stop);
        let argument = arguments
            .get(&body[key.clone()])
            .ok_or("a line of an argument that the message has not")?;
        let before = body[end..key.start].to_owned();
        match &lead {
            None => lead = Some(before),
            Some(_) => separator = separator.or(Some(before)),
        }
        tags.push(SeenTag {
            atoms: vec![
                TagAtom::Key,
                TagAtom::Text(body[key.end..value.start].to_owned()),
                TagAtom::Value,
            ],
            raw: body[value.clone()].to_owned(),
            value: argument.clone(),
        });
        end = value.end;
    }
    Ok(CallTags {
        shape: Shape::of(body, lead, separator, end),
        tags,
    })
}

/// Returns what ends a line, which no value can have in it; nothing for content that is no lines.
pub(super) fn end(content: &ContentParser) -> Option<Vec<Piece>> {
    let Some(Form::Lines(form)) = content.form() else {
        return None;
    };
    Some(vec![match form.line_sep {
        Some(line_sep) => Piece::Text(line_sep.to_owned()),
        None => Piece::Run(Chars::space(), 1),
    }])
}
