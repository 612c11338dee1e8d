//! The methods of Python's `str`.

use std::rc::Rc;

use super::arguments::{self, Arguments, int_or};
use super::fault::Fault;
use super::key::Key;
use super::object::Py;
use super::text_rules::{
    Ends, capitalize, cased, is_other_digit, is_title, pad, replace, split, splitlines, strip,
    title,
};
use super::{MAX_VALUE, Render, format};
use crate::chat_template::error::Limit;
use crate::value::python::{self, is_space};

/// Every method that a template can call.
pub(super) const METHODS: [&str; 47] = [
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "maketrans",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
];

/// The part of the text that `start` and `end`, counted in characters, leave, and its offset in characters.
fn window<'a>(
    text: &'a str,
    start: Option<&Py>,
    end: Option<&Py>,
) -> Result<Option<(usize, &'a str)>, Fault> {
    let present = |bound: Option<&Py>| bound.filter(|bound| !matches!(bound, Py::None)).cloned();
    let (start, end) = (present(start), present(end));
    if start.is_none() && end.is_none() {
        return Ok(Some((0, text)));
    }
    let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let bound = |value: i64| {
        if value < 0 {
            (value + count).max(0)
        } else {
            value
        }
    };
    let start = bound(int_or(start.as_ref(), 0)?);
    let end = bound(int_or(end.as_ref(), count)?).min(count);
    if start > end {
        return Ok(None);
    }
    let byte = |chars: i64| {
        text.char_indices()
            .nth(usize::try_from(chars).unwrap_or(0))
            .map_or(text.len(), |(at, _)| at)
    };
    Ok(Some((
        usize::try_from(start).unwrap_or(0),
        &text[byte(start)..byte(end)],
    )))
}

fn affix(text: &str, name: &str, args: Arguments) -> Result<Py, Fault> {
    let [affix, start, end] = args.bind(name, [name, "start", "end"], 1)?;
    let Some((_, text)) = window(text, start.as_ref(), end.as_ref())? else {
        return Ok(Py::Bool(false));
    };
    let one = |affix: &Py| {
        let affix = arguments::string(name, affix)?;
        Ok::<bool, Fault>(if name == "startswith" {
            text.starts_with(affix)
        } else {
            text.ends_with(affix)
        })
    };
    match affix.unwrap_or(Py::None) {
        Py::Tuple(items) => {
            for item in items.iter() {
                if one(item)? {
                    return Ok(Py::Bool(true));
                }
            }
            Ok(Py::Bool(false))
        }
        other => one(&other).map(Py::Bool),
    }
}

/// Calls a method of a string.
pub(super) fn call(
    render: &mut Render<'_>,
    text: &Rc<str>,
    name: &str,
    args: Arguments,
) -> Result<Py, Fault> {
    render.spend(text.len() as u64 / 16)?;
    let named = matches!(
        name,
        "split" | "rsplit" | "splitlines" | "expandtabs" | "format"
    );
    let args = if named {
        args
    } else {
        args.without_names(name)?
    };
    let all = |test: fn(char) -> bool| Py::Bool(!text.is_empty() && text.chars().all(test));
    let strings = |render: &mut Render<'_>, parts: Vec<&str>| {
        render.spend(text.len() as u64 / 16)?;
        render.list(parts.into_iter().map(Py::str).collect())
    };
    match name {
        "strip" | "lstrip" | "rstrip" => {
            let [chars] = args.bind(name, ["chars"], 0)?;
            let chars = chars.filter(|chars| !matches!(chars, Py::None));
            let chars = chars
                .as_ref()
                .map(|chars| arguments::string(name, chars))
                .transpose()?;
            let ends = match name {
                "strip" => Ends::Both,
                "lstrip" => Ends::Start,
                _ => Ends::End,
            };
            let stripped = strip(text, chars, ends);
            if stripped.len() == text.len() {
                return Ok(Py::Str(text.clone()));
            }
            Ok(Py::str(stripped))
        }
        "split" | "rsplit" => {
            let [separator, limit] = args.bind(name, ["sep", "maxsplit"], 0)?;
            let separator = separator.filter(|separator| !matches!(separator, Py::None));
            let separator = separator
                .as_ref()
                .map(|separator| arguments::string(name, separator))
                .transpose()?;
            let parts = split(
                text,
                separator,
                int_or(limit.as_ref(), -1)?,
                name == "rsplit",
            )?;
            strings(render, parts)
        }
        "splitlines" => {
            let [keep] = args.bind(name, ["keepends"], 0)?;
            strings(
                render,
                splitlines(text, keep.is_some_and(|keep| keep.is_true())),
            )
        }
        "partition" | "rpartition" => {
            let separator = args.one(name, "sep")?;
            let separator = arguments::string(name, &separator)?;
            if separator.is_empty() {
                return Err(Fault::error(format!(
                    "`{name}` needs a separator that is not empty"
                )));
            }
            let parts = if name == "partition" {
                text.split_once(separator)
                    .map_or([text, "", ""], |(a, b)| [a, separator, b])
            } else {
                text.rsplit_once(separator)
                    .map_or(["", "", text], |(a, b)| [a, separator, b])
            };
            Ok(Py::tuple(parts.map(Py::str)))
        }
        "startswith" | "endswith" => affix(text, name, args),
        "removeprefix" | "removesuffix" => {
            let affix = args.one(name, "affix")?;
            let affix = arguments::string(name, &affix)?;
            let rest = if name == "removeprefix" {
                text.strip_prefix(affix)
            } else {
                text.strip_suffix(affix)
            };
            Ok(rest.map_or_else(|| Py::Str(text.clone()), Py::str))
        }
        "replace" => {
            let [old, new, count] = args.bind(name, ["old", "new", "count"], 2)?;
            let (old, new) = (old.unwrap_or(Py::None), new.unwrap_or(Py::None));
            let (old, new) = (
                arguments::string(name, &old)?,
                arguments::string(name, &new)?,
            );
            let replaced = replace(text, old, new, int_or(count.as_ref(), -1)?)?;
            render.string(replaced)
        }
        "find" | "rfind" | "index" | "rindex" | "count" => {
            let [part, start, end] = args.bind(name, ["sub", "start", "end"], 1)?;
            let part = part.unwrap_or(Py::None);
            let part = arguments::string(name, &part)?;
            let Some((offset, inside)) = window(text, start.as_ref(), end.as_ref())? else {
                return match name {
                    "count" => Ok(Py::Int(0)),
                    "find" | "rfind" => Ok(Py::Int(-1)),
                    _ => Err(Fault::error(format!(
                        "`{name}` of what is not in the string"
                    ))),
                };
            };
            if name == "count" {
                return Ok(Py::int(inside.matches(part).count() as i128));
            }
            let at = if name.starts_with('r') {
                inside.rfind(part)
            } else {
                inside.find(part)
            };
            match at {
                Some(at) => Ok(Py::int((offset + inside[..at].chars().count()) as i128)),
                None if name.ends_with("find") => Ok(Py::Int(-1)),
                None => Err(Fault::error(format!(
                    "`{name}` of what is not in the string"
                ))),
            }
        }
        "join" => {
            let items = args.one(name, "iterable")?;
            let mut out = String::new();
            for (index, item) in render.iterate(&items)?.iter().enumerate() {
                if index > 0 {
                    out.push_str(text);
                }
                out.push_str(arguments::string(name, item)?);
                if out.len() > MAX_VALUE {
                    return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
                }
            }
            render.string(out)
        }
        "format" => {
            let out = format::braces(render, text, &args)?;
            render.string(out)
        }
        "format_map" => {
            let mapping = args.one(name, "mapping")?;
            let Py::Dict(dict) = &mapping else {
                return Err(Fault::error("`format_map` needs a dictionary"));
            };
            let mut named = Arguments::default();
            for (key, item) in &dict.items {
                if let Key(Py::Str(name)) = key {
                    named.named.push((name.clone(), item.clone()));
                }
            }
            let out = format::braces(render, text, &named)?;
            render.string(out)
        }
        "ljust" | "rjust" | "center" => {
            let [width, fill] = args.bind(name, ["width", "fillchar"], 1)?;
            let fill = fill.unwrap_or_else(|| Py::str(" "));
            let fill = match fill
                .as_str()
                .map(|fill| fill.chars().collect::<Vec<_>>())
                .as_deref()
            {
                Some([fill]) => *fill,
                _ => return Err(Fault::error(format!("`{name}` fills with one character"))),
            };
            let padded = pad(
                text,
                int_or(width.as_ref(), 0)?,
                fill,
                name != "ljust",
                name != "rjust",
            )?;
            render.string(padded)
        }
        "zfill" => {
            let width = args.one(name, "width")?;
            let (sign, digits) = match text.chars().next() {
                Some('+' | '-') => text.split_at(1),
                _ => ("", &**text),
            };
            let width = int_or(Some(&width), 0)?.saturating_sub(i64::from(!sign.is_empty()));
            let padded = pad(digits, width, '0', true, false)?;
            render.string(format!("{sign}{padded}"))
        }
        "expandtabs" => {
            let [size] = args.bind(name, ["tabsize"], 0)?;
            let size = usize::try_from(int_or(size.as_ref(), 8)?).unwrap_or(0);
            let mut out = String::new();
            let mut column = 0;
            for c in text.chars() {
                match c {
                    '\t' if size > 0 => {
                        let width = size - column % size;
                        if out.len().saturating_add(width) > MAX_VALUE {
                            return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
                        }
                        out.extend(std::iter::repeat_n(' ', width));
                        column += width;
                    }
                    '\t' => {}
                    c => {
                        column = if matches!(c, '\n' | '\r') {
                            0
                        } else {
                            column + 1
                        };
                        out.push(c);
                    }
                }
            }
            render.string(out)
        }
        "encode" | "translate" | "maketrans" => Err(Fault::error(format!(
            "`{name}` makes values that chat templates do not have here"
        ))),
        _ => {
            args.none(name)?;
            let changed = match name {
                "upper" => text.to_uppercase(),
                "lower" => text.to_lowercase(),
                "casefold" => text.to_lowercase().replace('ß', "ss"),
                "title" => title(text),
                "capitalize" => capitalize(text),
                "swapcase" => text
                    .chars()
                    .map(|c| {
                        if c.is_uppercase() {
                            c.to_lowercase().to_string()
                        } else {
                            c.to_uppercase().to_string()
                        }
                    })
                    .collect(),
                _ => {
                    return Ok(match name {
                        "isalnum" => all(char::is_alphanumeric),
                        "isalpha" => all(char::is_alphabetic),
                        "isascii" => Py::Bool(text.is_ascii()),
                        "isdecimal" => all(|c| python::int(c.encode_utf8(&mut [0; 4])).is_some()),
                        "isdigit" => all(|c| {
                            python::int(c.encode_utf8(&mut [0; 4])).is_some() || is_other_digit(c)
                        }),
                        "isnumeric" => all(char::is_numeric),
                        "isspace" => all(is_space),
                        "isprintable" => Py::Bool(text.chars().all(super::text::printable)),
                        "isidentifier" => Py::Bool(
                            text.chars()
                                .next()
                                .is_some_and(|c| c == '_' || c.is_alphabetic())
                                && text.chars().all(|c| c == '_' || c.is_alphanumeric()),
                        ),
                        "islower" => Py::Bool(cased(text, char::is_lowercase, char::is_uppercase)),
                        "isupper" => Py::Bool(cased(text, char::is_uppercase, char::is_lowercase)),
                        _ => Py::Bool(is_title(text)),
                    });
                }
            };
            render.string(changed)
        }
    }
}
