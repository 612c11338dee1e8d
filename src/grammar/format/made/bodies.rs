//! Texts that may stand between the delimiters of made-up regions.

use super::arguments;
use super::{Says, TOOL};
use crate::content::{ContentParser, Form};
use crate::grammar::format::call::{Source, source};
use crate::grammar::format::dialect;
use crate::pattern::written::{Written, written};
use crate::response_template::Field;
use crate::value::{Map, Step, Value, json};

/// A text between delimiters, and what it says.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) written: Written,
    pub(super) says: Says,
    /// True if it is tried beside other regions.
    pub(super) is_plain: bool,
}

/// The name of the group that the name of a tool stands in, where it stands in what opens the region.
pub(super) fn name_group(field: &Field) -> Option<String> {
    match source(field, &["function", "name"]) {
        Some(Source::Group(name)) => Some(name),
        _ => None,
    }
}

/// Makes up what stands in a region of the field.
pub(super) fn of(field: &Field, is_calls: bool) -> Result<Vec<Body>, String> {
    if is_calls {
        return calls(field);
    }
    let one = |text: &str, says: Says| Body {
        written: Written::of(text),
        says,
        is_plain: true,
    };
    Ok(match field.content.form() {
        None => return Err("the arguments of its content parser cannot be used".to_owned()),
        Some(Form::Text { .. }) => {
            let mut bodies = vec![one("Wombat", Says::Text("Wombat"))];
            if field.transform.is_some() {
                bodies[0].says = Says::Other;
            }
            bodies
        }
        Some(Form::Json { .. }) => vec![one("{}", Says::Other)],
        Some(Form::Tags(_) | Form::Lines(_)) => vec![one("", Says::Other)],
        Some(Form::Other) => vec![one("1", Says::Other)],
    })
}

/// The steps of a path into the body, all of them keys; `None` for any other source.
fn keys(source: Option<&Source>) -> Option<Vec<String>> {
    let Some(Source::Body(path)) = source else {
        return None;
    };
    let key = |step: &Step| match step {
        Step::Key(key) => Some(key.clone()),
        Step::Index(_) => None,
    };
    path.steps().iter().map(key).collect()
}

fn calls(field: &Field) -> Result<Vec<Body>, String> {
    let [name, arguments] = ["name", "arguments"].map(|key| source(field, &["function", key]));
    if name.is_none() {
        return Err("its transform does not say where the name of a tool stands".to_owned());
    }
    let path = keys(arguments.as_ref()).ok_or(
        "its transform does not say where in the region the arguments of a call stand: they are to be `{content}` or a member of it",
    )?;
    if path.is_empty() {
        return Ok(match field.content.form() {
            Some(Form::Tags(_)) => tags(&field.content),
            Some(Form::Lines(_)) => lines(&field.content),
            None => return Err("the arguments of its content parser cannot be used".to_owned()),
            _ => json_arguments(&field.content)
                .into_iter()
                .map(|(text, arguments)| {
                    let mut written = Written::default();
                    written.space();
                    written.push(&Written::of(text));
                    written.space();
                    one_call(written, arguments)
                })
                .collect(),
        });
    }
    let name = keys(name.as_ref());
    let id = keys(source(field, &["id"]).as_ref());
    // A call of a list without its id is read with an empty one, and is nothing that a model should write.
    let ids = match (&id, field.transform_each) {
        (Some(id), true) => vec![Some(id)],
        (id, _) => vec![id.as_ref(), None],
    };
    let mut bodies = Vec::new();
    for (text, arguments) in json_arguments(&field.content) {
        for id in ids.iter().copied() {
            let members = [
                name.as_ref()
                    .map(|path| (path.as_slice(), json::quote(TOOL))),
                Some((path.as_slice(), text.clone())),
                id.map(|path| (path.as_slice(), "\"call_1\"".to_owned())),
            ];
            let members: Vec<(&[String], String)> = members.into_iter().flatten().collect();
            let call = object(&members);
            let one = one_call(padded("", &[&call], ""), arguments.clone());
            let list = one_call(padded("[", &[&call], "]"), arguments.clone());
            let mut two = list.clone();
            two.written = padded("[", &[&call, &call], "]");
            two.says = Says::Calls(vec![arguments.clone(), arguments.clone()]);
            two.is_plain = false;
            let is_known = |known: &Body| known.written == one.written;
            if !bodies.iter().any(is_known) {
                bodies.extend([one, list, two]);
            }
        }
    }
    Ok(bodies)
}

fn one_call(written: Written, arguments: Map) -> Body {
    Body {
        written,
        is_plain: true,
        says: Says::Calls(vec![arguments]),
    }
}

/// Texts between two others, with commas between them and white space around each.
fn padded(open: &str, items: &[&Written], close: &str) -> Written {
    let mut all = Written::default();
    all.space();
    all.push(&Written::of(open));
    for (index, item) in items.iter().enumerate() {
        all.space();
        all.push(item);
        all.space();
        if index + 1 < items.len() {
            all.push(&Written::of(","));
        }
    }
    all.push(&Written::of(close));
    all.space();
    all
}

/// A JSON object with these texts at these paths.
fn object(members: &[(&[String], String)]) -> Written {
    if let [(path, text)] = members
        && path.is_empty()
    {
        return Written::of(text.as_str());
    }
    let mut names: Vec<&String> = Vec::new();
    for (path, _) in members {
        let first = path.first().filter(|first| !names.contains(first));
        names.extend(first);
    }
    let each = names.iter().map(|name| {
        let inner = members
            .iter()
            .filter(|(path, _)| path.first() == Some(*name));
        let inner: Vec<(&[String], String)> = inner
            .map(|(path, text)| (&path[1..], text.clone()))
            .collect();
        let mut member = Written::of(json::quote(name));
        member.space();
        member.push(&Written::of(":"));
        member.space();
        member.push(&object(&inner));
        member
    });
    let each: Vec<Written> = each.collect();
    padded("{", &each.iter().collect::<Vec<_>>(), "}")
}

/// Arguments as one text: no arguments, and all.
fn json_arguments(content: &ContentParser) -> Vec<(String, Map)> {
    let all = arguments::all();
    let text = match content.form() {
        Some(Form::Json {
            string_delims,
            unquoted_keys,
        }) if !string_delims.is_empty() || unquoted_keys => {
            let value = Value::Object(all.clone());
            let written = dialect::candidates(string_delims, unquoted_keys).into_iter();
            written
                .map(|dialect| dialect.write(&value))
                .find(|text| content.parse(text).is_ok_and(|read| read == value))
        }
        _ => None,
    };
    let text = text.unwrap_or_else(|| json::to_string(&Value::Object(all.clone())));
    vec![(text, all), ("{}".to_owned(), Map::new())]
}

/// The texts that a value may be written as, the usual one first.
fn spellings(value: &Value, delims: &[(String, String)]) -> Vec<String> {
    match value {
        Value::String(text) => {
            let quoted = delims
                .iter()
                .map(|(open, close)| format!("{open}{text}{close}"));
            let mut all = vec![text.clone(), json::quote(text)];
            all.extend(quoted);
            all
        }
        Value::Bool(true) => vec!["true".to_owned(), "True".to_owned()],
        Value::Bool(false) => vec!["false".to_owned(), "False".to_owned()],
        Value::Null => vec!["null".to_owned(), "None".to_owned()],
        other => vec![json::to_string(other)],
    }
}

/// How the pieces of arguments are put together.
struct Pieces<'p> {
    separator: &'p str,
    /// True if white space may stand before the first of them and behind the last.
    is_spaced: bool,
    /// Writes one argument.
    one: &'p dyn Fn(&str, &str) -> Option<String>,
}

/// Arguments one by one: none, each in each of its spellings, two of them, and all.
fn pieces(how: &Pieces<'_>, delims: &[(String, String)], is_first: bool) -> Vec<Body> {
    let mut bodies = Vec::new();
    let mut add = |texts: &[String], arguments: Map, is_plain: bool| {
        let mut written = Written::default();
        if how.is_spaced {
            written.space();
        }
        written.push(&Written::of(texts.join(how.separator)));
        if how.is_spaced {
            written.space();
        }
        bodies.push(Body {
            written,
            says: Says::Calls(vec![arguments]),
            is_plain,
        });
    };
    let all = arguments::all();
    // What is true may be written otherwise than what is false.
    let off = Value::Bool(false);
    let switches = all.iter().filter(|(_, value)| **value == Value::Bool(true));
    let switches = switches.map(|(name, _)| (name, &off));
    let mut firsts: Vec<(String, Value, String)> = Vec::new();
    for (name, value) in all.iter().chain(switches) {
        let name: &str = name;
        for spelling in spellings(value, delims) {
            let Some(text) = (how.one)(name, &spelling) else {
                continue;
            };
            let is_plain = firsts.is_empty();
            if firsts.iter().all(|(known, ..)| known != name) {
                firsts.push((name.to_owned(), value.clone(), text.clone()));
            }
            let one = Map::from_iter([(name.to_owned(), value.clone())]);
            add(&[text], one, is_plain);
        }
    }
    for (name, value, text) in firsts.iter().skip(1) {
        let Some((first, of_first, begun)) = firsts.first() else {
            continue;
        };
        let two = Map::from_iter([
            (first.clone(), of_first.clone()),
            (name.clone(), value.clone()),
        ]);
        add(&[begun.clone(), text.clone()], two, false);
    }
    if is_first {
        bodies.push(Body {
            written: Written::default(),
            says: Says::Calls(vec![Map::new()]),
            is_plain: true,
        });
    }
    bodies
}

/// The separators of tags that are tried.
const SEPARATORS: [&str; 4] = ["", ", ", ",", " "];

/// A tag with this white space around its value, and elsewhere a blank where two words would stand together otherwise.
fn spread(made: &Written, value: &str, filling: &str) -> String {
    let text = &made.text;
    let value = text.rfind(value).map(|at| [at, at + value.len()]);
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "\"'_".contains(c));
    let mut all = String::new();
    let mut at = 0;
    for place in &made.spaces {
        all.push_str(&text[at..*place]);
        at = *place;
        if value.is_some_and(|value| value.contains(place)) {
            all.push_str(filling);
        } else if is_word(text[..at].chars().next_back()) && is_word(text[at..].chars().next()) {
            all.push(' ');
        }
    }
    all + &text[at..]
}

/// Arguments in tags: with line feeds around the values, where white space may stand there, and without.
fn tags(content: &ContentParser) -> Vec<Body> {
    let Some(Form::Tags(form)) = content.form() else {
        return Vec::new();
    };
    let delims = match form.values {
        crate::content::Values::Whole(content) => content.string_delims().unwrap_or_default(),
        crate::content::Values::Text { .. } => &[],
    };
    let made = |key: &str, value: &str| written(form.pattern, &[("key", key), ("value", value)]);
    let mut bodies = Vec::new();
    let has_spaces = made("zetext", "Quokka")
        .first()
        .is_some_and(|made| !made.spaces.is_empty());
    let fillings: &[&str] = if has_spaces { &["\n", ""] } else { &[""] };
    for filling in fillings {
        let reads = |text: &str, arguments: &Map| {
            let read = content.parse(text);
            read.is_ok_and(|read| {
                read.as_object().is_some_and(|read| {
                    read.len() == arguments.len()
                        && arguments.keys().all(|key| read.contains_key(key))
                })
            })
        };
        let one = |key: &str, value: &str| {
            let argument = Map::from_iter([(key.to_owned(), Value::Null)]);
            let made = made(key, value)
                .into_iter()
                .map(|made| spread(&made, value, filling));
            made.into_iter().find(|text| reads(text, &argument))
        };
        let (Some(first), Some(second)) = (one("zetext", "Quokka"), one("vitems", "[1, 2]")) else {
            continue;
        };
        let two = Map::from_iter([
            ("zetext".to_owned(), Value::Null),
            ("vitems".to_owned(), Value::Null),
        ]);
        let separators = [*filling].into_iter().chain(SEPARATORS);
        let is_read = |separator: &&str| reads(&format!("{first}{separator}{second}"), &two);
        let mut separators = separators.filter(is_read);
        let how = Pieces {
            separator: separators.next().unwrap_or_default(),
            is_spaced: true,
            one: &one,
        };
        bodies.extend(pieces(&how, delims, filling.is_empty()));
    }
    bodies
}

/// Arguments one a line: with a blank behind the colon and without.
fn lines(content: &ContentParser) -> Vec<Body> {
    let Some(Form::Lines(form)) = content.form() else {
        return Vec::new();
    };
    let delims = match form.values {
        crate::content::Values::Whole(content) => content.string_delims().unwrap_or_default(),
        crate::content::Values::Text { .. } => &[],
    };
    let separator = form.line_sep.unwrap_or(" ");
    // Where lines end at any white space none can stand within one.
    let is_blank = form.strip && form.line_sep.is_some();
    let candidates: &[&str] = if is_blank { &[" ", ""] } else { &[""] };
    let mut bodies = Vec::new();
    for (index, blank) in candidates.iter().enumerate() {
        let one = |key: &str, value: &str| {
            let text = format!("{key}{}{blank}{value}", form.kv_sep);
            content.parse(&text).is_ok().then_some(text)
        };
        let how = Pieces {
            separator,
            is_spaced: form.strip || form.line_sep.is_none(),
            one: &one,
        };
        bodies.extend(pieces(&how, delims, index + 1 == candidates.len()));
    }
    bodies
}
