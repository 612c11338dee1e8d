//! Jinja's filters, with transformers' own `tojson`.

use std::cmp::Ordering;
use std::rc::Rc;

use indexmap::IndexMap;

use super::arguments::{self, Arguments, int_or};
use super::fault::Fault;
use super::items::weight;
use super::json;
use super::object::{Key, Missing, Py};
use super::strings::{self, Ends};
use super::{MAX_VALUE, Render, text};
use crate::chat_template::error::Limit;
use crate::chat_template::syntax::tree::BinaryOp;
use crate::value::python;

/// Whether there is a filter of that name.
pub(super) fn is_filter(name: &str) -> bool {
    const NAMES: &str = " abs attr batch capitalize center count d default dictsort e escape first float forceescape \
        format indent int items join last length list lower map max min reject rejectattr replace reverse round safe \
        select selectattr slice sort string sum title tojson trim truncate unique upper urlencode wordcount ";
    !name.is_empty() && NAMES.contains(&format!(" {name} "))
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
        if !is_filter(name) {
            return Err(Fault::error(format!("there is no filter named `{name}`")));
        }
        self.note_whole(subject);
        let shown = text::str_of(subject)?;
        self.spend(shown.len() as u64 / 16)?;
        let out = match name {
            "string" | "safe" => {
                args.none(name)?;
                shown
            }
            "trim" => {
                let [chars] = args.bind(name, ["chars"], 0)?;
                let chars = chars.filter(|chars| !matches!(chars, Py::None));
                let chars = chars
                    .as_ref()
                    .map(|chars| arguments::string(name, chars))
                    .transpose()?;
                strings::strip(&shown, chars, Ends::Both).to_owned()
            }
            "upper" => args.none(name).map(|()| shown.to_uppercase())?,
            "lower" => args.none(name).map(|()| shown.to_lowercase())?,
            "capitalize" => args.none(name).map(|()| strings::capitalize(&shown))?,
            "title" => args.none(name).map(|()| title(&shown))?,
            "escape" | "e" | "forceescape" => {
                args.none(name)?;
                escape(&shown)
            }
            "replace" => {
                let [old, new, count] = args.bind(name, ["old", "new", "count"], 2)?;
                let (old, new) = (
                    text::str_of(&old.unwrap_or(Py::None))?,
                    text::str_of(&new.unwrap_or(Py::None))?,
                );
                let count = count.filter(|count| !matches!(count, Py::None));
                strings::replace(&shown, &old, &new, int_or(count.as_ref(), -1)?)?
            }
            "indent" => indent(&shown, args)?,
            "center" => {
                let [width] = args.bind(name, ["width"], 0)?;
                strings::pad(&shown, int_or(width.as_ref(), 80)?, ' ', true, true)?
            }
            "truncate" => truncate(&shown, args)?,
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
            _ => {
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
                super::format::percent(&shown, &values)?
            }
        };
        self.string(out)
    }

    /// What an `attribute` argument leads to: dotted names and indices.
    fn path(&mut self, value: &Py, path: &Py) -> Result<Py, Fault> {
        let Py::Str(names) = path else {
            return self.item(value, path);
        };
        let mut value = value.clone();
        for name in names.split('.') {
            let key = if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
                name.parse().map_or_else(|_| Py::str(name), Py::Int)
            } else {
                Py::str(name)
            };
            value = self.item(&value, &key)?;
        }
        Ok(value)
    }

    fn map_filter(&mut self, subject: &Py, mut args: Arguments) -> Result<Py, Fault> {
        // These two take anything false for nothing to walk over.
        let items = if subject.is_true() {
            self.iterate(subject)?
        } else {
            Vec::new()
        };
        self.room_for(items.len())?;
        let mut out = Vec::with_capacity(items.len());
        if args.positional.is_empty() {
            let [attribute, default] = args.bind("map", ["attribute", "default"], 1)?;
            let attribute = attribute.unwrap_or(Py::None);
            for item in items {
                let value = self.path(&item, &attribute)?;
                out.push(match &default {
                    Some(default) if value.is_undefined() => default.clone(),
                    _ => value,
                });
            }
        } else {
            let name = args.positional.remove(0);
            let name = arguments::string("map", &name)?.to_owned();
            for item in items {
                let args = Arguments {
                    positional: args.positional.clone(),
                    named: args.named.clone(),
                };
                out.push(self.filter(&name, item, args)?);
            }
        }
        Ok(Py::generator(out))
    }

    fn select_filter(
        &mut self,
        name: &str,
        subject: &Py,
        mut args: Arguments,
    ) -> Result<Py, Fault> {
        // These two take anything false for nothing to walk over.
        let items = if subject.is_true() {
            self.iterate(subject)?
        } else {
            Vec::new()
        };
        self.room_for(items.len())?;
        let mut positional = args.positional.into_iter();
        let attribute =
            if name.ends_with("attr") {
                Some(positional.next().ok_or_else(|| {
                    Fault::error(format!("`{name}` needs the name of an attribute"))
                })?)
            } else {
                None
            };
        let test = positional.next();
        let test = test
            .as_ref()
            .map(|test| arguments::string(name, test))
            .transpose()?;
        args.positional = positional.collect();
        let mut out = Vec::new();
        for item in items {
            let value = match &attribute {
                Some(path) => self.path(&item, path)?,
                None => item.clone(),
            };
            let holds = match test {
                Some(test) => {
                    let args = Arguments {
                        positional: args.positional.clone(),
                        named: args.named.clone(),
                    };
                    self.test(test, &value, args)?
                }
                None => value.is_true(),
            };
            if holds != name.starts_with("reject") {
                out.push(item);
            }
        }
        Ok(Py::generator(out))
    }

    fn sorted(&mut self, mut keyed: Vec<(Py, Py)>, reverse: bool) -> Result<Vec<Py>, Fault> {
        let mut failed = None;
        keyed.sort_by(|(a, _), (b, _)| match (&failed, self.order("<", a, b)) {
            (None, Ok(order)) => {
                let order = order.unwrap_or(Ordering::Equal);
                if reverse { order.reverse() } else { order }
            }
            (None, Err(fault)) => {
                failed = Some(fault);
                Ordering::Equal
            }
            _ => Ordering::Equal,
        });
        match failed {
            Some(fault) => Err(fault),
            None => Ok(keyed.into_iter().map(|(_, item)| item).collect()),
        }
    }

    /// Strings sort and compare without their case unless told otherwise.
    fn fold(&mut self, value: Py, cased: bool) -> Result<Py, Fault> {
        match &value {
            Py::Str(text) if !cased => self.string(text.to_lowercase()),
            _ => Ok(value),
        }
    }

    fn portions(&mut self, name: &str, subject: &Py, args: Arguments) -> Result<Py, Fault> {
        let [count, fill] = args.bind(name, ["count", "fill_with"], 1)?;
        let count = usize::try_from(int_or(count.as_ref(), 0)?)
            .ok()
            .filter(|count| *count > 0);
        let count =
            count.ok_or_else(|| Fault::error(format!("`{name}` needs a number above zero")))?;
        let fill = fill.filter(|fill| !matches!(fill, Py::None));
        let items = self.iterate(subject)?;
        self.room_for(items.len().saturating_add(count))?;
        let mut out = Vec::new();
        if name == "batch" {
            for portion in items.chunks(count) {
                let mut portion = portion.to_vec();
                if let Some(fill) = &fill {
                    portion.resize(count, fill.clone());
                }
                out.push(Py::list(portion));
            }
            return Ok(Py::generator(out));
        }
        let (each, more) = (items.len() / count, items.len() % count);
        let mut rest = items.into_iter();
        for at in 0..count {
            let mut portion: Vec<Py> = rest.by_ref().take(each + usize::from(at < more)).collect();
            if let Some(fill) = &fill
                && at >= more
                && more > 0
            {
                portion.push(fill.clone());
            }
            out.push(Py::list(portion));
        }
        Ok(Py::generator(out))
    }

    fn number_filter(&mut self, name: &str, subject: &Py, args: Arguments) -> Result<Py, Fault> {
        if let Py::Undefined(missing) = subject {
            return Err(Fault::error(missing.message()));
        }
        match name {
            "int" => {
                let [default, base] = args.bind(name, ["default", "base"], 0)?;
                let base = u32::try_from(int_or(base.as_ref(), 10)?).unwrap_or(10);
                let direct = match subject {
                    Py::Str(text) => parse_int(text, base),
                    Py::Float(number) if number.is_finite() => {
                        Some(Py::int(number.trunc() as i128))
                    }
                    other => other
                        .as_int()
                        .map(Py::int)
                        .or_else(|| matches!(other, Py::Big(_)).then(|| other.clone())),
                };
                let through_float = || match subject {
                    Py::Str(text) => python::float(text)
                        .filter(|number| number.is_finite())
                        .map(|number| Py::int(number.trunc() as i128)),
                    _ => None,
                };
                Ok(direct
                    .or_else(through_float)
                    .or(default)
                    .unwrap_or(Py::Int(0)))
            }
            "float" => {
                let [default] = args.bind(name, ["default"], 0)?;
                let number = match subject {
                    Py::Str(text) => python::float(text),
                    other => other.as_float(),
                };
                Ok(number.map(Py::Float).or(default).unwrap_or(Py::Float(0.0)))
            }
            "abs" => {
                args.none(name)?;
                match (subject, subject.as_int()) {
                    (Py::Float(number), _) => Ok(Py::Float(number.abs())),
                    (_, Some(number)) => Ok(Py::int(number.abs())),
                    (other, None) => Err(Fault::error(format!(
                        "`abs` needs a number, not a `{}`",
                        other.type_name()
                    ))),
                }
            }
            _ => {
                let [precision, method] = args.bind(name, ["precision", "method"], 0)?;
                let precision = int_or(precision.as_ref(), 0)?;
                let number = subject.as_float().ok_or_else(|| {
                    Fault::error(format!(
                        "`round` needs a number, not a `{}`",
                        subject.type_name()
                    ))
                })?;
                let places = usize::try_from(precision).unwrap_or(0).min(300);
                let scale = 10f64.powi(i32::try_from(precision.clamp(-300, 300)).unwrap_or(0));
                Ok(match method.as_ref().map_or(Some("common"), Py::as_str) {
                    // Python rounds to even what lies exactly between, as Rust's formatting does.
                    Some("common") if matches!(subject, Py::Float(_)) && precision >= 0 => {
                        Py::Float(format!("{number:.places$}").parse().unwrap_or(number))
                    }
                    Some("common") if precision >= 0 => subject.clone(),
                    Some("common") => {
                        let rounded = (number * scale).round_ties_even() / scale;
                        if matches!(subject, Py::Float(_)) {
                            Py::Float(rounded)
                        } else {
                            Py::int(rounded as i128)
                        }
                    }
                    Some("ceil") => Py::Float((number * scale).ceil() / scale),
                    Some("floor") => Py::Float((number * scale).floor() / scale),
                    _ => return Err(Fault::error("`round` rounds `common`, `ceil` or `floor`")),
                })
            }
        }
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
    let lines = strings::splitlines(&text, false);
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

/// Python's `int(text, base)`.
fn parse_int(text: &str, base: u32) -> Option<Py> {
    if base == 10 {
        let number = python::int(text)?;
        return Some(
            number
                .as_i64()
                .map_or_else(|| Py::Big(Rc::new(number)), Py::Int),
        );
    }
    let trimmed = python::strip(text);
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let marks = match base {
        16 => ["0x", "0X"],
        8 => ["0o", "0O"],
        2 => ["0b", "0B"],
        _ => ["", ""],
    };
    let digits = marks
        .iter()
        .find_map(|mark| digits.strip_prefix(mark))
        .unwrap_or(digits);
    let misplaced =
        digits.starts_with(['_', '+', '-']) || digits.ends_with('_') || digits.contains("__");
    if misplaced || !(2..=36).contains(&base) {
        return None;
    }
    let number = i128::from_str_radix(&digits.replace('_', ""), base).ok()?;
    Some(Py::int(if negative { -number } else { number }))
}
