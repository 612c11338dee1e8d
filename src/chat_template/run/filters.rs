//! Jinja's filters, with transformers' own `tojson`.

use std::cmp::Ordering;

use indexmap::IndexMap;

use super::arguments::{self, Arguments, int_or};
use super::fault::Fault;
use super::items::weight;
use super::json;
use super::key::Key;
use super::object::{Missing, Py};
use super::text_rules::{self, Ends};
use super::{MAX_VALUE, Render, text};
use crate::chat_template::error::Limit;
use crate::chat_template::syntax::tree::BinaryOp;
use crate::value::python;

/// Whether there is a filter of that name.
pub(super) fn is_filter(name: &str) -> bool {
    const NAMES: &str = " abs attr batch capitalize center count d default dictsort e escape first float forceescape \
        format indent int items join last length list lower map max min reject rejectattr replace reverse round safe \
        select selectattr slice sort string sum title tojson trim truncate unique upper urlencode wordcount ";
    NAMES.split_whitespace().any(|known| known == name)
}

impl Render<'_> {
    pub(super) fn filter(&mut self, name: &str, subject: Py, args: Arguments) -> Result<Py, Fault> {
        self.spend(1 + weight(&subject))?;
        let marked_up = matches!(subject, Py::Markup(_));
        let subject = match name {
            // What is marked up already is not escaped again.
            "safe" | "string" | "escape" | "e" if marked_up => {
                return args.none(name).map(|()| subject);
            }
            "default" | "d" => subject,
            _ => subject.plain(),
        };
        let keeps = matches!(
            name,
            "upper" | "lower" | "trim" | "capitalize" | "title" | "indent" | "center"
        );
        let makes = matches!(name, "safe" | "escape" | "e" | "forceescape");
        let value = self.plain_filter(name, subject, args)?;
        Ok(if makes || (keeps && marked_up) {
            value.marked_up()
        } else {
            value
        })
    }

    fn plain_filter(&mut self, name: &str, subject: Py, args: Arguments) -> Result<Py, Fault> {
        match name {
            "tojson" => {
                let [ascii, indent, separators, sort] = args.bind(
                    name,
                    ["ensure_ascii", "indent", "separators", "sort_keys"],
                    0,
                )?;
                self.note_whole(&subject);
                let out = json::dumps(
                    &subject,
                    &json::Style::new(ascii, indent, separators, sort)?,
                )?;
                self.string(out)
            }
            "default" | "d" => {
                let [default, boolean] = args.bind(name, ["default_value", "boolean"], 0)?;
                let missing = subject.is_undefined()
                    || (boolean.is_some_and(|value| value.is_true()) && !subject.is_true());
                Ok(if missing {
                    default.unwrap_or_else(|| Py::str(""))
                } else {
                    subject
                })
            }
            "length" | "count" => {
                args.none(name)?;
                let len = subject.len().ok_or_else(|| {
                    Fault::error(format!("a `{}` has no length", subject.type_name()))
                })?;
                Ok(Py::int(len as i128))
            }
            "list" => {
                args.none(name)?;
                let items = self.iterate(&subject)?;
                self.list(items)
            }
            "items" => {
                args.none(name)?;
                match &subject {
                    Py::Undefined(_) => Ok(Py::generator(Vec::new())),
                    Py::Dict(dict) => {
                        let items =
                            self.iterate(&Py::View(super::object::View::Items, dict.clone()))?;
                        Ok(Py::generator(items))
                    }
                    other => Err(Fault::error(format!(
                        "`items` needs a dictionary, not a `{}`",
                        other.type_name()
                    ))),
                }
            }
            "join" => {
                let [separator, attribute] = args.bind(name, ["d", "attribute"], 0)?;
                let separator = separator
                    .map_or_else(|| Ok(String::new()), |separator| text::str_of(&separator))?;
                let mut items = self.iterate(&subject)?;
                if let Some(attribute) =
                    attribute.filter(|attribute| !matches!(attribute, Py::None))
                {
                    items = items
                        .iter()
                        .map(|item| self.path(item, &attribute))
                        .collect::<Result<_, _>>()?;
                }
                let mut out = String::new();
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push_str(&separator);
                    }
                    text::write_str(item, &mut out)?;
                    if out.len() > MAX_VALUE {
                        return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
                    }
                }
                self.string(out)
            }
            "first" => {
                args.none(name)?;
                let items = self.iterate(&subject)?;
                Ok(items
                    .into_iter()
                    .next()
                    .unwrap_or_else(|| Py::missing(Missing::Nothing("there is no first item"))))
            }
            "last" => {
                args.none(name)?;
                if matches!(subject, Py::Generator(_)) {
                    return Err(Fault::error("`last` cannot walk a generator backwards"));
                }
                let items = self.iterate(&subject)?;
                Ok(items
                    .into_iter()
                    .last()
                    .unwrap_or_else(|| Py::missing(Missing::Nothing("there is no last item"))))
            }
            "reverse" => {
                args.none(name)?;
                if let Py::Str(text) = &subject {
                    let reversed = text.chars().rev().collect();
                    return self.string(reversed);
                }
                let mut items = self.iterate(&subject)?;
                items.reverse();
                Ok(Py::generator(items))
            }
            "map" => self.map_filter(&subject, args),
            "select" | "reject" | "selectattr" | "rejectattr" => {
                self.select_filter(name, &subject, args)
            }
            "sort" => {
                let [reverse, cased, attribute] =
                    args.bind(name, ["reverse", "case_sensitive", "attribute"], 0)?;
                let items = self.iterate(&subject)?;
                let cased = cased.is_some_and(|value| value.is_true());
                let mut keyed = Vec::new();
                for item in items {
                    let key = match &attribute {
                        Some(Py::Str(paths)) => {
                            let keys = paths
                                .split(',')
                                .map(|path| {
                                    self.path(&item, &Py::str(path))
                                        .and_then(|key| self.fold(key, cased))
                                })
                                .collect::<Result<Vec<_>, _>>()?;
                            Py::list(keys)
                        }
                        Some(path) if !matches!(path, Py::None) => {
                            let key = self.path(&item, path)?;
                            self.fold(key, cased)?
                        }
                        _ => self.fold(item.clone(), cased)?,
                    };
                    keyed.push((key, item));
                }
                let items = self.sorted(keyed, reverse.is_some_and(|value| value.is_true()))?;
                self.list(items)
            }
            "dictsort" => {
                let [cased, by, reverse] =
                    args.bind(name, ["case_sensitive", "by", "reverse"], 0)?;
                let Py::Dict(dict) = &subject else {
                    return Err(Fault::error(format!(
                        "`dictsort` needs a dictionary, not a `{}`",
                        subject.type_name()
                    )));
                };
                self.note_whole(&subject);
                let cased = cased.is_some_and(|value| value.is_true());
                let at = match by.as_ref().map_or(Some("key"), Py::as_str) {
                    Some("key") => 0,
                    Some("value") => 1,
                    _ => return Err(Fault::error("`dictsort` sorts by `key` or by `value`")),
                };
                let mut keyed = Vec::with_capacity(dict.items.len());
                for (key, item) in &dict.items {
                    let pair = [key.0.clone(), item.clone()];
                    keyed.push((self.fold(pair[at].clone(), cased)?, Py::tuple(pair)));
                }
                let items = self.sorted(keyed, reverse.is_some_and(|value| value.is_true()))?;
                self.list(items)
            }
            "unique" => {
                let [cased, attribute] = args.bind(name, ["case_sensitive", "attribute"], 0)?;
                let cased = cased.is_some_and(|value| value.is_true());
                let mut seen: IndexMap<Key, ()> = IndexMap::new();
                let mut out = Vec::new();
                for item in self.iterate(&subject)? {
                    let key = match &attribute {
                        Some(path) if !matches!(path, Py::None) => self.path(&item, path)?,
                        _ => item.clone(),
                    };
                    if seen
                        .insert(super::hashable(&self.fold(key, cased)?)?, ())
                        .is_none()
                    {
                        out.push(item);
                    }
                }
                Ok(Py::generator(out))
            }
            "min" | "max" => {
                let [cased, attribute] = args.bind(name, ["case_sensitive", "attribute"], 0)?;
                let cased = cased.is_some_and(|value| value.is_true());
                let mut best: Option<(Py, Py)> = None;
                for item in self.iterate(&subject)? {
                    let key = match &attribute {
                        Some(path) if !matches!(path, Py::None) => self.path(&item, path)?,
                        _ => item.clone(),
                    };
                    let key = self.fold(key, cased)?;
                    let wanted = if name == "min" {
                        Ordering::Less
                    } else {
                        Ordering::Greater
                    };
                    let better = match &best {
                        None => true,
                        Some((held, _)) => self.order("<", &key, held)? == Some(wanted),
                    };
                    if better {
                        best = Some((key, item));
                    }
                }
                Ok(best.map_or_else(
                    || Py::missing(Missing::Nothing("nothing to choose from")),
                    |(_, item)| item,
                ))
            }
            "sum" => {
                let [attribute, start] = args.bind(name, ["attribute", "start"], 0)?;
                let mut total = start.unwrap_or(Py::Int(0));
                for item in self.iterate(&subject)? {
                    let item = match &attribute {
                        Some(path) if !matches!(path, Py::None) => self.path(&item, path)?,
                        _ => item,
                    };
                    total = self.binary(BinaryOp::Add, &total, &item)?;
                }
                Ok(total)
            }
            "batch" | "slice" => self.portions(name, &subject, args),
            "attr" => {
                let attribute = args.one(name, "name")?;
                let attribute = text::str_of(&attribute)?;
                if let Py::Undefined(missing) = &subject {
                    return Err(Fault::error(missing.message()));
                }
                Ok(self.own_attribute(&subject, &attribute).unwrap_or_else(|| {
                    Py::missing(Missing::Attr(
                        subject.type_name().to_owned(),
                        format!("`{attribute}`"),
                    ))
                }))
            }
            "int" | "float" | "abs" | "round" => self.number_filter(name, &subject, args),
            _ => self.text_filter(name, &subject, args),
        }
    }

    fn text_filter(&mut self, name: &str, subject: &Py, args: Arguments) -> Result<Py, Fault> {
        self.note_whole(subject);
        if let ("string" | "safe", Py::Str(_)) = (name, subject) {
            args.none(name)?;
            return Ok(subject.clone());
        }
        let written;
        let shown = match subject {
            Py::Str(text) => &**text,
            other => {
                written = text::str_of(other)?;
                &written
            }
        };
        self.spend(shown.len() as u64 / 16)?;
        let out = match name {
            "string" | "safe" => {
                args.none(name)?;
                shown.to_owned()
            }
            "trim" => {
                let [chars] = args.bind(name, ["chars"], 0)?;
                let chars = chars.filter(|chars| !matches!(chars, Py::None));
                let chars = chars
                    .as_ref()
                    .map(|chars| arguments::string(name, chars))
                    .transpose()?;
                text_rules::strip(shown, chars, Ends::Both).to_owned()
            }
            "upper" => args.none(name).map(|()| shown.to_uppercase())?,
            "lower" => args.none(name).map(|()| shown.to_lowercase())?,
            "capitalize" => args.none(name).map(|()| text_rules::capitalize(shown))?,
            "title" => args.none(name).map(|()| title(shown))?,
            "escape" | "e" | "forceescape" => {
                args.none(name)?;
                escape(shown)
            }
            "replace" => {
                let [old, new, count] = args.bind(name, ["old", "new", "count"], 2)?;
                let (old, new) = (
                    text::str_of(&old.unwrap_or(Py::None))?,
                    text::str_of(&new.unwrap_or(Py::None))?,
                );
                let count = count.filter(|count| !matches!(count, Py::None));
                text_rules::replace(shown, &old, &new, int_or(count.as_ref(), -1)?)?
            }
            "indent" => indent(shown, args)?,
            "center" => {
                let [width] = args.bind(name, ["width"], 0)?;
                text_rules::pad(shown, int_or(width.as_ref(), 80)?, ' ', true, true)?
            }
            "truncate" => truncate(shown, args)?,
            "wordcount" => {
                args.none(name)?;
                let words = shown
                    .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .filter(|word| !word.is_empty());
                return Ok(Py::int(words.count() as i128));
            }
            "urlencode" => {
                args.none(name)?;
                if matches!(subject, Py::Dict(_) | Py::List(_) | Py::Tuple(_)) {
                    return Err(Fault::error(
                        "`urlencode` of anything but text is not supported",
                    ));
                }
                shown
                    .bytes()
                    .map(|byte| match byte {
                        b'a'..=b'z'
                        | b'A'..=b'Z'
                        | b'0'..=b'9'
                        | b'_'
                        | b'.'
                        | b'-'
                        | b'~'
                        | b'/' => char::from(byte).to_string(),
                        other => format!("%{other:02X}"),
                    })
                    .collect()
            }
            "format" => {
                let values = if args.named.is_empty() {
                    Py::tuple(args.positional)
                } else {
                    Py::dict(
                        args.named
                            .into_iter()
                            .map(|(name, value)| (Key(Py::Str(name)), value))
                            .collect(),
                    )
                };
                super::format::percent(shown, &values)?
            }
            _ => return Err(Fault::error(format!("there is no filter named `{name}`"))),
        };
        self.string(out)
    }
}

/// The text with what HTML gives a meaning replaced.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('>', "&gt;")
        .replace('<', "&lt;")
        .replace('\'', "&#39;")
        .replace('"', "&#34;")
}

/// Jinja's own `title`: a word starts behind white space, a hyphen or an opening bracket.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut starts = true;
    for c in text.chars() {
        if starts {
            out.extend(c.to_uppercase());
        } else {
            out.extend(c.to_lowercase());
        }
        starts = python::is_space(c) || matches!(c, '-' | '(' | '{' | '[' | '<');
    }
    out
}

fn indent(text: &str, args: Arguments) -> Result<String, Fault> {
    let [width, first, blank] = args.bind("indent", ["width", "first", "blank"], 0)?;
    let margin = match &width {
        Some(Py::Str(margin)) => margin.to_string(),
        other => {
            " ".repeat(usize::try_from(int_or(other.as_ref(), 4)?.clamp(0, 10_000)).unwrap_or(0))
        }
    };
    let (first, blank) = (
        first.is_some_and(|value| value.is_true()),
        blank.is_some_and(|value| value.is_true()),
    );
    let text = format!("{text}\n");
    let lines = text_rules::splitlines(&text, false);
    if text
        .len()
        .saturating_add(lines.len().saturating_mul(margin.len()))
        > MAX_VALUE
    {
        return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
    }
    let mut out = if first { margin.clone() } else { String::new() };
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            out.push('\n');
            if blank || !line.is_empty() {
                out.push_str(&margin);
            }
        }
        out.push_str(line);
    }
    Ok(out)
}

fn truncate(text: &str, args: Arguments) -> Result<String, Fault> {
    let [length, kill, end, leeway] =
        args.bind("truncate", ["length", "killwords", "end", "leeway"], 0)?;
    let length = usize::try_from(int_or(length.as_ref(), 255)?).unwrap_or(0);
    let leeway = usize::try_from(int_or(
        leeway.filter(|leeway| !matches!(leeway, Py::None)).as_ref(),
        5,
    )?)
    .unwrap_or(0);
    let end = end.unwrap_or_else(|| Py::str("..."));
    let end = arguments::string("truncate", &end)?;
    let chars: Vec<char> = text.chars().collect();
    let room = length
        .checked_sub(end.chars().count())
        .ok_or_else(|| Fault::error("`truncate` to less than its end is long"))?;
    if chars.len() <= length.saturating_add(leeway) {
        return Ok(text.to_owned());
    }
    let cut: String = chars[..room].iter().collect();
    if kill.is_some_and(|value| value.is_true()) {
        return Ok(cut + end);
    }
    Ok(cut
        .rsplit_once(' ')
        .map_or(cut.as_str(), |(words, _)| words)
        .to_owned()
        + end)
}
