//! The methods of Python's `str`.

use super::arguments::{self, Arguments, int_or};
use super::fault::Fault;
use super::object::Key;
use super::object::Py;
use super::padding::{Padding, Sides};
use super::text_rules::{
    Ends, capitalize, cased, is_other_digit, is_title, split, splitlines, strip, title,
};
use super::trace::{Taint, Text, Written};
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
    let present = |bound: Option<&Py>| bound.filter(|bound| !matches!(bound, Py::None(_))).cloned();
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
        return Ok(Py::bool(false));
    };
    let one = |affix: &Py| {
        let affix = arguments::string(name, affix)?;
        Ok::<bool, Fault>(if name == "startswith" {
            text.starts_with(affix)
        } else {
            text.ends_with(affix)
        })
    };
    match affix.unwrap_or(Py::NONE) {
        Py::Tuple(items) => {
            for item in items.items().iter() {
                if one(item)? {
                    return Ok(Py::bool(true));
                }
            }
            Ok(Py::bool(false))
        }
        other => one(&other).map(Py::bool),
    }
}

impl Render<'_> {
    /// Calls a method of a string.
    pub(super) fn string_method(
        &mut self,
        text: &Text,
        name: &str,
        args: Arguments,
    ) -> Result<Py, Fault> {
        self.spend(text.len() as u64 / 16)?;
        let named = matches!(
            name,
            "split" | "rsplit" | "splitlines" | "expandtabs" | "format"
        );
        let args = if named {
            args
        } else {
            args.without_names(name)?
        };
        let taint = match &self.trace {
            Some(_) => self.join(self.text_taint(text), self.arguments_taint(&args)),
            None => Taint::NONE,
        };
        let value = match name {
            "strip" | "lstrip" | "rstrip" | "split" | "rsplit" | "splitlines" | "partition"
            | "rpartition" | "removeprefix" | "removesuffix" => {
                self.cutting_method(text, name, args)
            }
            "startswith" | "endswith" => affix(text, name, args),
            "find" | "rfind" | "index" | "rindex" | "count" => finding_method(text, name, args),
            "join" | "format" | "format_map" | "replace" => self.joining_method(text, name, args),
            "ljust" | "rjust" | "center" | "zfill" | "expandtabs" => {
                self.padding_method(text, name, args)
            }
            "encode" | "translate" | "maketrans" => Err(Fault::error(format!(
                "`{name}` makes values that chat templates do not have here"
            ))),
            _ => {
                args.none(name)?;
                match changed(text, name) {
                    Some(shown) => {
                        let out = self.recased(text, &shown, name);
                        self.text(out)
                    }
                    None => Ok(Py::bool(is(text, name))),
                }
            }
        }?;
        if self.trace.is_none() {
            return Ok(value);
        }
        Ok(self.made_of(value, taint))
    }

    /// The methods that give parts of a text.
    fn cutting_method(&mut self, text: &Text, name: &str, args: Arguments) -> Result<Py, Fault> {
        match name {
            "strip" | "lstrip" | "rstrip" => {
                let [chars] = args.bind(name, ["chars"], 0)?;
                let chars = chars.filter(|chars| !matches!(chars, Py::None(_)));
                let taint = chars
                    .as_ref()
                    .map_or(Taint::NONE, |chars| self.taint(chars));
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
                Ok(Py::Str(self.stripped(text, stripped, ends, taint)))
            }
            "split" | "rsplit" => {
                let [separator, limit] = args.bind(name, ["sep", "maxsplit"], 0)?;
                let separator = separator.filter(|separator| !matches!(separator, Py::None(_)));
                let taint = self.join(
                    separator
                        .as_ref()
                        .map_or(Taint::NONE, |value| self.taint(value)),
                    limit
                        .as_ref()
                        .map_or(Taint::NONE, |value| self.taint(value)),
                );
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
                self.cut_by(text, taint);
                self.parts(text, parts, taint)
            }
            "splitlines" => {
                let [keep] = args.bind(name, ["keepends"], 0)?;
                let taint = keep.as_ref().map_or(Taint::NONE, |keep| self.taint(keep));
                let parts = splitlines(text, keep.is_some_and(|keep| keep.is_true()));
                self.cut_by(text, taint);
                self.parts(text, parts, taint)
            }
            "partition" | "rpartition" => {
                let separator = args.one(name, "sep")?;
                let taint = self.taint(&separator);
                let separator = arguments::string(name, &separator)?;
                if separator.is_empty() {
                    return Err(Fault::error(format!(
                        "`{name}` needs a separator that is not empty"
                    )));
                }
                let at = if name == "partition" {
                    text.find(separator)
                } else {
                    text.rfind(separator)
                };
                let parts = match at {
                    Some(at) => {
                        let end = at + separator.len();
                        [&text[..at], &text[at..end], &text[end..]]
                    }
                    None if name == "partition" => [&**text, "", ""],
                    None => ["", "", &**text],
                };
                self.cut_by(text, taint);
                Ok(Py::tuple(
                    parts.map(|part| Py::Str(self.found_part(text, part))),
                ))
            }
            _ => {
                let affix = args.one(name, "affix")?;
                let taint = self.taint(&affix);
                let affix = arguments::string(name, &affix)?;
                let rest = if name == "removeprefix" {
                    text.strip_prefix(affix)
                } else {
                    text.strip_suffix(affix)
                };
                self.cut_by(text, taint);
                Ok(Py::Str(match rest {
                    Some(rest) => self.found_part(text, rest),
                    None => text.clone(),
                }))
            }
        }
    }

    /// A list of parts of a text, which was cut because of further inputs.
    fn parts(&mut self, text: &Text, parts: Vec<&str>, taint: Taint) -> Result<Py, Fault> {
        self.spend(text.len() as u64 / 16)?;
        self.room_for(parts.len())?;
        let shape = self.join(self.text_taint(text), taint);
        let parts = parts
            .into_iter()
            .map(|part| Py::Str(self.found_part(text, part)))
            .collect();
        Ok(Py::list_of(parts, shape))
    }

    /// The methods that put texts together.
    fn joining_method(&mut self, text: &Text, name: &str, args: Arguments) -> Result<Py, Fault> {
        let mut out = self.written();
        match name {
            "replace" => {
                let [old, new, count] = args.bind(name, ["old", "new", "count"], 2)?;
                let (old, new) = (old.unwrap_or(Py::NONE), new.unwrap_or(Py::NONE));
                arguments::string(name, &old)?;
                arguments::string(name, &new)?;
                let limit = int_or(count.as_ref(), -1)?;
                let taint = match &self.trace {
                    Some(_) => self.join(
                        self.taint(&old),
                        count.map_or(Taint::NONE, |count| self.taint(&count)),
                    ),
                    None => Taint::NONE,
                };
                return self.replaced(text, &old.into_text(), &new.into_text(), limit, taint);
            }
            "join" => {
                let items = args.one(name, "iterable")?;
                self.decide_shape(&items);
                for (index, item) in self.iterate(&items)?.iter().enumerate() {
                    if index > 0 {
                        out.push_text(text);
                    }
                    match item {
                        Py::Str(item) | Py::Markup(item) => out.push_text(item),
                        other => {
                            arguments::string(name, other)?;
                        }
                    }
                    if out.len() > MAX_VALUE {
                        return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
                    }
                }
            }
            "format" => format::braces(self, text, &args, &mut out)?,
            _ => {
                let mapping = args.one(name, "mapping")?;
                let Py::Dict(dict) = &mapping else {
                    return Err(Fault::error("`format_map` needs a dictionary"));
                };
                let mut named = Arguments::default();
                for (key, item) in dict.items().iter() {
                    if let Key(Py::Str(name)) = key {
                        named.named.push((name.clone(), item.clone()));
                    }
                }
                format::braces(self, text, &named, &mut out)?;
            }
        }
        self.text(out)
    }

    /// The methods that put something beside or between what is there.
    fn padding_method(&mut self, text: &Text, name: &str, args: Arguments) -> Result<Py, Fault> {
        let mut out = self.written();
        match name {
            "zfill" => {
                let width = args.one(name, "width")?;
                let because = self.join(self.text_taint(text), self.taint(&width));
                let sign = usize::from(text.starts_with(['+', '-']));
                let width = int_or(Some(&width), 0)?.saturating_sub(sign as i64);
                let pad = Padding::new(&text[sign..], width, '0', Sides::Before)?;
                out.push_part(text, 0..sign);
                pad.before(&mut out, because);
                out.push_part(text, sign..text.len());
            }
            "expandtabs" => {
                let [size] = args.bind(name, ["tabsize"], 0)?;
                let because = match &size {
                    Some(size) => self.taint(size),
                    None => Taint::NONE,
                };
                let size = usize::try_from(int_or(size.as_ref(), 8)?).unwrap_or(0);
                expand_tabs(text, size, because, &mut out)?;
            }
            _ => {
                let [width, fill] = args.bind(name, ["width", "fillchar"], 1)?;
                let taint = match &self.trace {
                    Some(_) => {
                        let [width, fill] = [&width, &fill].map(|value| {
                            value
                                .as_ref()
                                .map_or(Taint::NONE, |value| self.taint(value))
                        });
                        self.join(fill, width)
                    }
                    None => Taint::NONE,
                };
                let because = self.join(self.text_taint(text), taint);
                let fill = fill.unwrap_or_else(|| Py::str(" "));
                let fill = match fill
                    .as_str()
                    .map(|fill| fill.chars().collect::<Vec<_>>())
                    .as_deref()
                {
                    Some([fill]) => *fill,
                    _ => return Err(Fault::error(format!("`{name}` fills with one character"))),
                };
                let sides = match name {
                    "ljust" => Sides::After,
                    "rjust" => Sides::Before,
                    _ => Sides::Both,
                };
                let pad = Padding::new(text, int_or(width.as_ref(), 0)?, fill, sides)?;
                pad.before(&mut out, because);
                out.push_text(text);
                pad.after(&mut out, because);
            }
        }
        self.text(out)
    }
}

fn expand_tabs(text: &Text, size: usize, because: Taint, out: &mut Written) -> Result<(), Fault> {
    // How wide a tab is depends on what stands before it in the line.
    let because = match out.trace() {
        Some(trace) => trace.join(trace.inputs_of_all(text.pieces()), because),
        None => because,
    };
    let mut column = 0;
    for (at, c) in text.char_indices() {
        match c {
            '\t' if size > 0 => {
                let width = size - column % size;
                if out.len().saturating_add(width) > MAX_VALUE {
                    return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
                }
                out.push_instead(&" ".repeat(width), text, at..at + 1, because);
                column += width;
            }
            '\t' => {}
            c => {
                column = if matches!(c, '\n' | '\r') {
                    0
                } else {
                    column + 1
                };
                out.push_part(text, at..at + c.len_utf8());
            }
        }
    }
    Ok(())
}

/// The methods that say where something stands in a text.
fn finding_method(text: &str, name: &str, args: Arguments) -> Result<Py, Fault> {
    let [part, start, end] = args.bind(name, ["sub", "start", "end"], 1)?;
    let part = part.unwrap_or(Py::NONE);
    let part = arguments::string(name, &part)?;
    let nowhere = || {
        Err(Fault::error(format!(
            "`{name}` of what is not in the string"
        )))
    };
    let Some((offset, inside)) = window(text, start.as_ref(), end.as_ref())? else {
        return match name {
            "count" => Ok(Py::int(0)),
            "find" | "rfind" => Ok(Py::int(-1)),
            _ => nowhere(),
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
        None if name.ends_with("find") => Ok(Py::int(-1)),
        None => nowhere(),
    }
}

/// The text in another case, by the method of that name.
fn changed(text: &str, name: &str) -> Option<String> {
    Some(match name {
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
        _ => return None,
    })
}

/// Returns the answer of the method of that name about all characters of a text.
fn is(text: &str, name: &str) -> bool {
    let all = |test: fn(char) -> bool| !text.is_empty() && text.chars().all(test);
    match name {
        "isalnum" => all(char::is_alphanumeric),
        "isalpha" => all(char::is_alphabetic),
        "isascii" => text.is_ascii(),
        "isdecimal" => all(|c| python::int(c.encode_utf8(&mut [0; 4])).is_some()),
        "isdigit" => {
            all(|c| python::int(c.encode_utf8(&mut [0; 4])).is_some() || is_other_digit(c))
        }
        "isnumeric" => all(char::is_numeric),
        "isspace" => all(is_space),
        "isprintable" => text.chars().all(super::text::printable),
        "isidentifier" => {
            text.chars()
                .next()
                .is_some_and(|c| c == '_' || c.is_alphabetic())
                && text.chars().all(|c| c == '_' || c.is_alphanumeric())
        }
        "islower" => cased(text, char::is_lowercase, char::is_uppercase),
        "isupper" => cased(text, char::is_uppercase, char::is_lowercase),
        _ => is_title(text),
    }
}
