//! Cases made up: a document over the whole grammar of the format, and a response made of its delimiters.

use obverse::value::{Map, Value, json};

use super::pool::{
    ANCHORS, CONTENTS, Content, DEFAULTS, DELIMITERS, Delimiter, EACH, NAMES, NOISE, TOOLS,
    TRANSFORMS, wild,
};
use crate::support::parsing::cut;
use crate::support::random::Random;

/// One document with a response, and a way to cut it.
#[derive(Debug, Clone)]
pub struct Case {
    pub template: Map,
    pub prefix: String,
    pub tools: Vec<Value>,
    pub response: String,
    /// The response in pieces.
    pub cut: Vec<String>,
    /// Whether each chunk's events must be those of the reference.
    pub steady: bool,
}

/// A field of the document, as far as responses are made of it.
struct Part {
    open: Option<Delimiter>,
    close: Option<Delimiter>,
    content: &'static Content,
}

impl Part {
    fn delimiters(&self) -> impl Iterator<Item = &Delimiter> {
        [&self.open, &self.close].into_iter().flatten()
    }

    /// Writes the delimiters into the document's field.
    fn write(&self, field: &mut Map) {
        for (side, delimiter) in [("open", &self.open), ("close", &self.close)] {
            if let Some(delimiter) = delimiter {
                let suffix = if delimiter.pattern { "_pattern" } else { "" };
                field.insert(format!("{side}{suffix}"), value(&delimiter.json));
            }
        }
    }
}

/// A delimiter of the pool alone, beside literals that are never late.
pub fn alone(random: &mut Random, delimiter: &Delimiter) -> Case {
    let content = &CONTENTS[random.below(3)];
    let bracket = |at: usize| Some(DELIMITERS[at].clone());
    let mut part = Part {
        open: bracket(0),
        close: bracket(1),
        content,
    };
    let side = random.below(3);
    match side {
        0 => part.open = Some(delimiter.clone()),
        1 => part.close = Some(delimiter.clone()),
        _ => (part.open, part.close) = (None, Some(delimiter.clone())),
    }
    let mut field = object(content.json);
    part.write(&mut field);
    if delimiter.named {
        field.insert("transform", value(TRANSFORMS[0]));
    }
    let mut fields = Map::from_iter([("thinking".to_owned(), field.into())]);
    if part.open.is_some() {
        fields.insert("content", Map::new().into());
    }
    let mut template = object(ANCHORS[0].0);
    template.insert("fields", fields.into());
    let response = text(random, &[part], 3, false);
    Case {
        template,
        prefix: String::new(),
        tools: Vec::new(),
        cut: cut(random, &response)
            .into_iter()
            .map(str::to_owned)
            .collect(),
        response,
        steady: delimiter.late.is_none(),
    }
}

pub fn case(random: &mut Random) -> Case {
    let steady = random.once_in(2);
    let mut parts = Vec::new();
    let mut fields = Map::new();
    let implicit = !random.once_in(4);
    let count = 1 + random.below(4);
    for number in 0..count {
        let (part, field) = field(random, steady, implicit && number == 0);
        let name = random.pick(NAMES);
        if fields.contains_key(name) {
            continue;
        }
        fields.insert(name.to_owned(), field.into());
        parts.push(part);
    }
    let (anchor, anchors) = &ANCHORS[random.below(ANCHORS.len())];
    let mut template = object(anchor);
    if random.once_in(3) {
        template.insert("defaults", value(random.pick(DEFAULTS)));
    }
    if random.once_in(20) {
        template.insert("version", Value::from(1));
    }
    if random.once_in(30) {
        break_document(random, &mut template, &mut fields);
    }
    // The order of keys means nothing; the fields' order does not either, but for ties that only it could break.
    template.insert("fields", shuffled(random, fields).into());
    let prefix = if random.once_in(4) {
        let mut prefix = random.text(NOISE, 3);
        if !random.once_in(5) {
            prefix.push_str(random.pick(anchors));
        }
        prefix + &text(random, &parts, 2, steady)
    } else {
        String::new()
    };
    let tools = if random.once_in(3) {
        value(random.pick(TOOLS))
            .as_array()
            .unwrap_or_default()
            .to_vec()
    } else {
        Vec::new()
    };
    let response = text(random, &parts, 7, steady);
    let cut = cut(random, &response)
        .into_iter()
        .map(str::to_owned)
        .collect();
    let mut delimiters = parts.iter().flat_map(Part::delimiters);
    Case {
        template,
        prefix,
        tools,
        response,
        cut,
        steady: delimiters.all(|delimiter| delimiter.late.is_none()),
    }
}

/// Makes a document that may have to be refused.
fn break_document(random: &mut Random, template: &mut Map, fields: &mut Map) {
    let at = random.below(fields.len());
    let Some((name, Value::Object(field))) = fields.iter_mut().nth(at) else {
        return;
    };
    let name = name.clone();
    match random.below(7) {
        0 => drop(field.shift_remove("transform")),
        1 => drop(field.insert("open", "<a>".into())),
        2 => drop(field.insert("join", ", ".into())),
        3 => drop(field.insert("close_pattern", "(<a>".into())),
        4 => drop(fields.insert(format!("{name} again"), Map::new().into())),
        5 => drop(field.insert("unknown", Value::Null)),
        _ => {
            let first = template.keys().next().cloned().unwrap_or_default();
            template.shift_remove(&first);
        }
    }
}

fn field(random: &mut Random, steady: bool, implicit: bool) -> (Part, Map) {
    let content = &CONTENTS[if !random.once_in(if implicit { 10 } else { 3 }) {
        random.below(3)
    } else {
        random.below(CONTENTS.len())
    }];
    let mut field = object(content.json);
    let delimiter = |random: &mut Random| {
        let pool: &'static [Delimiter] = DELIMITERS;
        if !steady && random.once_in(4) {
            return wild(random);
        }
        loop {
            let found = &pool[random.below(pool.len())];
            if found.late.is_none() || !steady {
                return found.clone();
            }
        }
    };
    let open = (!implicit).then(|| delimiter(random));
    let close = (!random.once_in(if implicit { 2 } else { 6 })).then(|| delimiter(random));
    let part = Part {
        open,
        close,
        content,
    };
    part.write(&mut field);
    let named = part.delimiters().any(|is| is.named);
    if named || random.once_in(6) {
        let each = random.once_in(6);
        // Most that can be: a transform that asks for more than there is ends the parse.
        let from = match (each, named, random.once_in(4)) {
            (true, ..) => EACH,
            (false, _, true) => TRANSFORMS,
            (false, true, false) => &TRANSFORMS[..3],
            (false, false, false) => &TRANSFORMS[..1],
        };
        field.insert("transform", value(random.pick(from)));
        if each {
            field.insert("transform_each", true.into());
        }
    }
    if random.once_in(3) {
        field.insert("repeats", true.into());
        if random.once_in(2) {
            let separator = random.pick(&["", "\n", ", "]);
            field.insert("join", separator.into());
        }
    }
    if random.once_in(12) {
        field.insert("optional", false.into());
    }
    (part, field)
}

/// Regions, whole and broken, with noise between them.
fn text(random: &mut Random, parts: &[Part], most: usize, steady: bool) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(most) {
        let part = &parts[random.below(parts.len())];
        let sides = [&part.open, &part.close].into_iter().flatten();
        match random.below(8) {
            // More than is kept of what has been read. Patterns made up could take for ever over it.
            0 if steady && random.once_in(25) => {
                let times = 500 + random.below(2_000);
                text.push_str(&random.text(NOISE, 6).repeat(times));
            }
            0 => text.push_str(&random.text(NOISE, 4)),
            1 => text.push_str(random.pick(part.content.texts)),
            2 => {
                for delimiter in sides.take(1 + random.below(2)) {
                    text.push_str(random.pick(delimiter.texts));
                }
            }
            3 => {
                for delimiter in sides {
                    let sample = random.pick(delimiter.texts);
                    text.push_str(&near_miss(random, sample));
                }
            }
            _ => {
                if let Some(open) = &part.open {
                    text.push_str(random.pick(open.texts));
                }
                text.push_str(random.pick(part.content.texts));
                if random.once_in(6) {
                    text.push_str(&random.text(NOISE, 2));
                }
                if let (Some(close), true) = (&part.close, !random.once_in(8)) {
                    text.push_str(random.pick(close.texts));
                }
            }
        }
    }
    text
}

/// A delimiter's text with a character lost, doubled or out of place.
fn near_miss(random: &mut Random, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if characters.is_empty() {
        return String::new();
    }
    let at = random.below(characters.len());
    match random.below(5) {
        0 => characters.truncate(at),
        1 => drop(characters.drain(..at)),
        2 => drop(characters.remove(at)),
        3 => characters.insert(at, characters[at]),
        _ => characters.insert(at, random.pick(NOISE).chars().next().unwrap_or(' ')),
    }
    characters.into_iter().collect()
}

fn shuffled(random: &mut Random, members: Map) -> Map {
    let mut members: Vec<_> = members.into_iter().collect();
    for last in (1..members.len()).rev() {
        members.swap(last, random.below(last + 1));
    }
    members.into_iter().collect()
}

pub fn value(text: &str) -> Value {
    json::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn object(text: &str) -> Map {
    value(text)
        .as_object()
        .unwrap_or_else(|| panic!("{text} is no object"))
        .clone()
}
