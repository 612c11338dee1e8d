//! Jinja's filters, with transformers' own `tojson`.

use std::cmp::Ordering;

use super::arguments::Arguments;
use super::fault::Fault;
use super::items::weight;
use super::json;
use super::object::Key;
use super::object::OrderedMap;
use super::object::{Missing, Py};
use super::trace::Taint;
use super::tracing::Other;
use super::{MAX_VALUE, Render, text};
use crate::chat_template::error::Limit;
use crate::chat_template::syntax::tree::BinaryOp;

/// Returns true if Jinja2 has a filter of that name. Three of these are not evaluated here: `pprint`, `random` and `urlize`.
pub(super) fn is_filter(name: &str) -> bool {
    const NAMES: &str = " abs attr batch capitalize center count d default dictsort e escape filesizeformat first float \
        forceescape format groupby indent int items join last length list lower map max min pprint random reject \
        rejectattr replace reverse round safe select selectattr slice sort string striptags sum title tojson trim \
        truncate unique upper urlencode urlize wordcount wordwrap xmlattr ";
    NAMES.split_whitespace().any(|known| known == name)
}

impl Render<'_> {
    pub(super) fn filter(&mut self, name: &str, subject: Py, args: Arguments) -> Result<Py, Fault> {
        self.spend(1 + weight(&subject))?;
        let marked_up = matches!(subject, Py::Markup(_));
        let subject = match name {
            // Text that is marked as safe already is not escaped again.
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
                for value in [&ascii, &indent, &separators, &sort].into_iter().flatten() {
                    self.decide_whole(value);
                }
                let style = json::Style::new(ascii, indent, separators, sort)?;
                let mut out = self.written();
                json::dumps(&subject, &style, &mut out)?;
                self.text(out)
            }
            "default" | "d" => {
                let [default, boolean] = args.bind(name, ["default_value", "boolean"], 0)?;
                let missing = subject.is_undefined()
                    || (boolean.is_some_and(|value| value.is_true()) && !subject.is_true());
                let taint = self.taint(&subject);
                let is_empty = matches!(&default, None | Some(Py::Str(_)))
                    && !default.as_ref().is_some_and(Py::is_true);
                if missing && is_empty && self.trace.is_some() {
                    let own = default.map_or(Taint::NONE, |default| self.taint(&default));
                    return Ok(self.nothing(self.join(taint, own)));
                }
                let other = match &default {
                    Some(default) if missing || default.is_scalar() => Other::Telling,
                    _ if is_empty => Other::Telling,
                    _ => Other::Silent,
                };
                let value = if missing {
                    default.unwrap_or_else(|| Py::str(""))
                } else {
                    subject
                };
                Ok(self.chosen_by(value, taint, other))
            }
            "length" | "count" => {
                args.none(name)?;
                let len = subject.len().ok_or_else(|| {
                    Fault::error(format!("a `{}` has no length", subject.type_name()))
                })?;
                let taint = self.taint(&subject).derived();
                Ok(Py::int(len as i128).with_taint(taint))
            }
            "list" => {
                args.none(name)?;
                let shape = self.taint(&subject);
                let items = self.iterate(&subject)?;
                self.room_for(items.len())?;
                Ok(Py::list_of(items, shape))
            }
            "items" => {
                args.none(name)?;
                match &subject {
                    Py::Undefined(_, taint) => Ok(Py::generator(Vec::new(), *taint)),
                    Py::Dict(dict) => {
                        let items =
                            self.iterate(&Py::View(super::object::View::Items, dict.clone()))?;
                        Ok(Py::generator(items, dict.shape()))
                    }
                    other => Err(Fault::error(format!(
                        "`items` needs a dictionary, not a `{}`",
                        other.type_name()
                    ))),
                }
            }
            "join" => {
                let [separator, attribute] = args.bind(name, ["d", "attribute"], 0)?;
                let mut between = self.written();
                if let Some(separator) = &separator {
                    text::write_str(separator, &mut between)?;
                }
                let separator = between.finish();
                self.decide_shape(&subject);
                let mut items = self.iterate(&subject)?;
                if let Some(attribute) =
                    attribute.filter(|attribute| !matches!(attribute, Py::None(_)))
                {
                    items = items
                        .iter()
                        .map(|item| self.path(item, &attribute))
                        .collect::<Result<_, _>>()?;
                }
                let mut out = self.written();
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push_text(&separator);
                    }
                    text::write_str(item, &mut out)?;
                    if out.len() > MAX_VALUE {
                        return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
                    }
                }
                self.text(out)
            }
            "first" => {
                args.none(name)?;
                let shape = self.end_shape(&subject, true);
                let items = self.iterate(&subject)?;
                Ok(items.into_iter().next().unwrap_or_else(|| {
                    Py::missing_of(Missing::Nothing("there is no first item"), shape)
                }))
            }
            "last" => {
                args.none(name)?;
                if matches!(subject, Py::Generator(..)) {
                    return Err(Fault::error("`last` cannot walk a generator backwards"));
                }
                let shape = self.end_shape(&subject, false);
                let items = self.iterate(&subject)?;
                Ok(items.into_iter().last().unwrap_or_else(|| {
                    Py::missing_of(Missing::Nothing("there is no last item"), shape)
                }))
            }
            "reverse" => {
                args.none(name)?;
                if let Py::Str(text) = &subject {
                    let mut out = self.written();
                    for (at, c) in text.char_indices().rev() {
                        out.push_part(text, at..at + c.len_utf8());
                    }
                    if text.is_empty() {
                        out.push_text(text);
                    }
                    return self.text(out);
                }
                let shape = self.taint(&subject);
                let mut items = self.iterate(&subject)?;
                items.reverse();
                Ok(Py::generator(items, shape))
            }
            "map" => self.map_filter(&subject, args),
            "select" | "reject" | "selectattr" | "rejectattr" => {
                self.select_filter(name, &subject, args)
            }
            "sort" => {
                let [reverse, cased, attribute] =
                    args.bind(name, ["reverse", "case_sensitive", "attribute"], 0)?;
                self.decide_options(&[&reverse, &cased, &attribute]);
                let shape = self.taint(&subject);
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
                        Some(path) if !matches!(path, Py::None(_)) => {
                            let key = self.path(&item, path)?;
                            self.fold(key, cased)?
                        }
                        _ => self.fold(item.clone(), cased)?,
                    };
                    keyed.push((key, item));
                }
                let items = self.sorted(keyed, reverse.is_some_and(|value| value.is_true()))?;
                self.room_for(items.len())?;
                Ok(Py::list_of(items, shape))
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
                self.decide_options(&[&cased, &by, &reverse]);
                let cased = cased.is_some_and(|value| value.is_true());
                let at = match by.as_ref().map_or(Some("key"), Py::as_str) {
                    Some("key") => 0,
                    Some("value") => 1,
                    _ => return Err(Fault::error("`dictsort` sorts by `key` or by `value`")),
                };
                let mut keyed = Vec::with_capacity(dict.len());
                for (key, item) in dict.items().iter() {
                    let pair = [key.0.clone(), item.clone()];
                    keyed.push((
                        self.fold(pair[at].clone(), cased)?,
                        Py::tuple_of(pair, dict.shape()),
                    ));
                }
                let items = self.sorted(keyed, reverse.is_some_and(|value| value.is_true()))?;
                self.room_for(items.len())?;
                Ok(Py::list_of(items, dict.shape()))
            }
            "unique" => {
                let [cased, attribute] = args.bind(name, ["case_sensitive", "attribute"], 0)?;
                let cased = cased.is_some_and(|value| value.is_true());
                self.decide_options(&[&attribute]);
                let shape = self.taint(&subject);
                let mut seen: OrderedMap<Key, ()> = OrderedMap::default();
                let mut out = Vec::new();
                for item in self.iterate(&subject)? {
                    let key = match &attribute {
                        Some(path) if !matches!(path, Py::None(_)) => self.path(&item, path)?,
                        _ => item.clone(),
                    };
                    self.decide_whole(&key);
                    if seen
                        .insert(super::hashable(&self.fold(key, cased)?)?, ())
                        .is_none()
                    {
                        out.push(item);
                    }
                }
                Ok(Py::generator(out, shape))
            }
            "min" | "max" => {
                let [cased, attribute] = args.bind(name, ["case_sensitive", "attribute"], 0)?;
                let cased = cased.is_some_and(|value| value.is_true());
                self.decide_options(&[&attribute]);
                let shape = self.taint(&subject);
                self.decided_by(shape);
                let mut best: Option<(Py, Py)> = None;
                for item in self.iterate(&subject)? {
                    let key = match &attribute {
                        Some(path) if !matches!(path, Py::None(_)) => self.path(&item, path)?,
                        _ => item.clone(),
                    };
                    self.decide_whole(&key);
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
                    || Py::missing_of(Missing::Nothing("nothing to choose from"), shape),
                    |(_, item)| item,
                ))
            }
            "sum" => {
                let [attribute, start] = args.bind(name, ["attribute", "start"], 0)?;
                self.decide_shape(&subject);
                let mut total = start.unwrap_or_else(|| Py::int(0));
                for item in self.iterate(&subject)? {
                    let item = match &attribute {
                        Some(path) if !matches!(path, Py::None(_)) => self.path(&item, path)?,
                        _ => item,
                    };
                    total = self.binary(BinaryOp::Add, &total, &item)?;
                }
                Ok(total)
            }
            "batch" | "slice" => self.portions(name, &subject, args),
            "groupby" => self.group_filter(&subject, args),
            "filesizeformat" => self.file_size(&subject, args),
            "wordwrap" => self.wordwrap(&subject, args),
            "xmlattr" => self.xmlattr(&subject, args),
            "attr" => {
                let attribute = args.one(name, "name")?;
                self.decide_shape(&attribute);
                let attribute = text::str_of(&attribute)?;
                if let Py::Undefined(missing, _) = &subject {
                    return Err(Fault::error(missing.message()));
                }
                Ok(self.own_attribute(&subject, &attribute).unwrap_or_else(|| {
                    Py::missing(Missing::Attr(
                        subject.type_name().to_owned(),
                        format!("`{attribute}`"),
                    ))
                }))
            }
            "int" | "float" | "abs" | "round" => {
                let taint = match &self.trace {
                    Some(_) => self.join(self.taint(&subject), self.arguments_taint(&args)),
                    None => Taint::NONE,
                };
                let number = self.number_filter(name, &subject, args)?;
                Ok(self.chosen_by(number, taint, Other::Telling))
            }
            _ => self.text_filter(name, &subject, args),
        }
    }
}
