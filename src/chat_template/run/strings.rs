//! The methods of Python's `str`.

use std::rc::Rc;

use super::arguments::{self, Arguments, int_or};
use super::fault::Fault;
use super::object::{Key, Py};
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

/// Which ends a `strip` works on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ends {
    Both,
    Start,
    End,
}

pub(super) fn strip<'a>(text: &'a str, chars: Option<&str>, ends: Ends) -> &'a str {
    let matches = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    match ends {
        Ends::Both => text.trim_matches(matches),
        Ends::Start => text.trim_start_matches(matches),
        Ends::End => text.trim_end_matches(matches),
    }
}

pub(super) fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    first + &chars.as_str().to_lowercase()
}

/// `str.title`: a letter is upper case when none stands before it.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        inside = c.is_lowercase() || c.is_uppercase();
    }
    out
}

pub(super) fn splitlines(text: &str, keep_ends: bool) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !matches!(
            c,
            '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
        ) {
            continue;
        }
        let mut end = at + c.len_utf8();
        if c == '\r' && chars.next_if(|(_, next)| *next == '\n').is_some() {
            end += 1;
        }
        out.push(&text[start..if keep_ends { end } else { at }]);
        start = end;
    }
    if start < text.len() {
        out.push(&text[start..]);
    }
    out
}

fn split<'a>(
    text: &'a str,
    separator: Option<&str>,
    limit: i64,
    from_right: bool,
) -> Result<Vec<&'a str>, Fault> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    match separator {
        Some("") => return Err(Fault::error("`split` needs a separator that is not empty")),
        Some(separator) if from_right => {
            out.extend(text.rsplitn(limit.saturating_add(1), separator));
            out.reverse();
        }
        Some(separator) => out.extend(text.splitn(limit.saturating_add(1), separator)),
        None if from_right => {
            let mut rest = text.trim_end_matches(is_space);
            while !rest.is_empty() && out.len() < limit {
                let at = rest.char_indices().rev().find(|(_, c)| is_space(*c));
                let Some((at, c)) = at else { break };
                out.push(&rest[at + c.len_utf8()..]);
                rest = rest[..at].trim_end_matches(is_space);
            }
            if !rest.is_empty() {
                out.push(rest);
            }
            out.reverse();
        }
        None => {
            let mut rest = text.trim_start_matches(is_space);
            while !rest.is_empty() && out.len() < limit {
                let Some(at) = rest.find(is_space) else { break };
                out.push(&rest[..at]);
                rest = rest[at..].trim_start_matches(is_space);
            }
            if !rest.is_empty() {
                out.push(rest);
            }
        }
    }
    Ok(out)
}

/// `str.replace`, the size of the result checked before it is made.
pub(super) fn replace(text: &str, old: &str, new: &str, count: i64) -> Result<String, Fault> {
    let limit = usize::try_from(count).unwrap_or(usize::MAX);
    let found = text.matches(old).take(limit).count();
    if text.len().saturating_add(found.saturating_mul(new.len())) > MAX_VALUE {
        return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
    }
    Ok(text.replacen(old, new, limit))
}

/// Pads to a width in characters; the fill goes left, right, or to both sides as Python shares it out.
pub(super) fn pad(
    text: &str,
    width: i64,
    fill: char,
    left: bool,
    right: bool,
) -> Result<String, Fault> {
    let width = usize::try_from(width).unwrap_or(0);
    if width > MAX_VALUE / 4 {
        return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
    }
    let missing = width.saturating_sub(text.chars().count());
    let before = match (left, right) {
        (true, true) => missing / 2 + (missing & width & 1),
        (true, false) => missing,
        _ => 0,
    };
    let mut out: String = std::iter::repeat_n(fill, before).collect();
    out.push_str(text);
    out.extend(std::iter::repeat_n(fill, missing - before));
    Ok(out)
}

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

fn cased(text: &str, wanted: fn(char) -> bool, unwanted: fn(char) -> bool) -> bool {
    text.chars().any(wanted) && !text.chars().any(unwanted)
}

fn is_title(text: &str) -> bool {
    let mut any = false;
    let mut inside = false;
    for c in text.chars() {
        if c.is_uppercase() && inside || c.is_lowercase() && !inside {
            return false;
        }
        inside = c.is_uppercase() || c.is_lowercase();
        any |= inside;
    }
    any
}

/// Digits that are not decimal: superscripts, circled ones and the like (Unicode's `Numeric_Type=Digit`).
fn is_other_digit(c: char) -> bool {
    matches!(c,
        '²' | '³' | '¹' | '\u{1369}'..='\u{1371}' | '\u{19da}' | '\u{2070}' | '\u{2074}'..='\u{2079}'
        | '\u{2080}'..='\u{2089}' | '\u{2460}'..='\u{2468}' | '\u{2474}'..='\u{247c}' | '\u{2488}'..='\u{2490}'
        | '\u{24ea}' | '\u{24f5}'..='\u{24fd}' | '\u{24ff}' | '\u{2776}'..='\u{277e}' | '\u{2780}'..='\u{2788}'
        | '\u{278a}'..='\u{2792}' | '\u{10a40}'..='\u{10a43}' | '\u{10e60}'..='\u{10e68}'
        | '\u{11052}'..='\u{1105a}' | '\u{1f100}'..='\u{1f10a}')
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
            let width = int_or(Some(&width), 0)? - i64::from(!sign.is_empty());
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

#[cfg(test)]
mod tests {
    use super::{pad, split, splitlines, title};

    #[test]
    fn splitting_is_pythons() {
        let parts = |text, separator, limit, right| {
            split(text, separator, limit, right).expect("a separator")
        };
        assert_eq!(parts("  a b  c ", None, -1, false), ["a", "b", "c"]);
        assert_eq!(parts("  a b  c ", None, 1, false), ["a", "b  c "]);
        assert_eq!(parts("  a b  c ", None, 1, true), ["  a b", "c"]);
        assert_eq!(parts("", None, -1, false), [""; 0]);
        assert_eq!(parts("", Some(","), -1, false), [""]);
        assert_eq!(parts("a,b,c", Some(","), 1, true), ["a,b", "c"]);
        assert!(split("a", Some(""), -1, false).is_err());
        assert_eq!(
            splitlines("a\r\nb\u{2028}c\n", true),
            ["a\r\n", "b\u{2028}", "c\n"]
        );
    }

    #[test]
    fn padding_and_titles_are_pythons() {
        let centre = |text, width| pad(text, width, '*', true, true).expect("short");
        assert_eq!(
            [centre("ab", 5), centre("abc", 6), centre("a", 4)],
            ["**ab*", "*abc**", "*a**"]
        );
        assert_eq!(title("they're bill's UK"), "They'Re Bill'S Uk");
    }
}
