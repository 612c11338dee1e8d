//! Walking over values, taking items and slices of them.

use std::rc::Rc;

use super::Render;
use super::fault::Fault;
use super::object::Key;
use super::object::{Dict, List};
use super::object::{Missing, Py, View};
use super::text;
use super::trace::{Taint, Text};

impl Render<'_> {
    /// Notes that a container of the inputs is walked over.
    pub(super) fn note_walk(&mut self, value: &Py) {
        match value {
            Py::List(list) => {
                if let Some(at) = list.read.clone() {
                    self.note(&at, "[]", list.len() > 0);
                }
            }
            Py::View(_, dict) => self.note_whole(&Py::Dict(dict.clone())),
            other => self.note_whole(other),
        }
    }

    /// The items that `for` walks over.
    pub(super) fn iterate(&mut self, value: &Py) -> Result<Vec<Py>, Fault> {
        if let Some(len) = value.len() {
            self.room_for(len)?;
        }
        match value {
            Py::Undefined(..) => Ok(Vec::new()),
            Py::Str(text) => {
                self.cut_by(text, Taint::NONE);
                Ok(text
                    .char_indices()
                    .map(|(at, c)| Py::Str(text.part(at..at + c.len_utf8())))
                    .collect())
            }
            Py::List(list) => {
                self.note_walk(value);
                Ok(list.items().clone())
            }
            Py::Tuple(items) => Ok(items.items().clone()),
            Py::Dict(dict) => {
                self.note_walk(value);
                Ok(dict.items().keys().map(|key| key.0.clone()).collect())
            }
            Py::View(kind, dict) => {
                self.note_walk(value);
                Ok(match kind {
                    View::Keys => dict.items().keys().map(|key| key.0.clone()).collect(),
                    View::Values => dict.items().values().cloned().collect(),
                    View::Items => dict
                        .items()
                        .iter()
                        .map(|(key, item)| {
                            Py::tuple_of([key.0.clone(), item.clone()], dict.shape())
                        })
                        .collect(),
                })
            }
            Py::Range(start, _, step, taint) => {
                let count = value.len().unwrap_or(0);
                let (start, step) = (i128::from(*start), i128::from(*step));
                Ok((0..count as i128)
                    .map(|index| Py::int(start + index * step).with_taint(taint.derived()))
                    .collect())
            }
            Py::Generator(items, _) => Ok(items.borrow_mut().drain(..).collect()),
            Py::Loop(state) => {
                self.reach(state, usize::MAX)?;
                Ok(state.items.borrow().clone())
            }
            other => Err(Fault::error(format!(
                "a `{}` cannot be walked over",
                other.type_name()
            ))),
        }
    }

    /// `value[key]`: an item, or for a string key that is none, an attribute.
    pub(super) fn item(&mut self, value: &Py, key: &Py) -> Result<Py, Fault> {
        if let Py::Undefined(missing, _) = value {
            return Err(Fault::error(missing.message()));
        }
        self.spend(weight(value) + weight(key))?;
        if let (Py::Loop(state), Py::Str(name)) = (value, key) {
            self.look_ahead(state, name)?;
        }
        if let Some(found) = self.own_item(value, key) {
            return Ok(found);
        }
        if let Py::Str(name) = key
            && let Some(attribute) = self.own_attribute(value, name)
        {
            return Ok(attribute);
        }
        let why = Missing::Attr(value.type_name().to_owned(), text::repr_of(key)?);
        let taint = match key {
            Py::Str(name) => self.not_found(value, name),
            _ => self.taint(value),
        };
        Ok(Py::missing_of(why, taint))
    }

    /// The item, as Python's subscription gives it; `None` where it raises.
    pub(super) fn own_item(&mut self, value: &Py, key: &Py) -> Option<Py> {
        let at = |len: usize| {
            let index = key.as_int()?;
            let index = if index < 0 {
                index + len as i128
            } else {
                index
            };
            usize::try_from(index).ok().filter(|index| *index < len)
        };
        match value {
            Py::Dict(dict) => {
                self.decide_shape(key);
                match key {
                    Py::Str(name) => self.member(dict, name),
                    other => Key::new(other).and_then(|key| dict.items().get(&key).cloned()),
                }
            }
            Py::List(list) => {
                let found = at(list.len()).map(|index| list.items()[index].clone());
                self.decide_index(list, key);
                if let (Some(at), Some(_)) = (&list.read, key.as_int()) {
                    self.note(&at.clone(), "[]", found.is_some());
                }
                found
            }
            Py::Tuple(items) => {
                self.decide_index(items, key);
                at(items.len()).map(|index| items.items()[index].clone())
            }
            Py::Str(text) => {
                let index = at(text.chars().count())?;
                self.cut_by(text, self.taint(key));
                text.char_indices()
                    .nth(index)
                    .map(|(at, c)| Py::Str(text.part(at..at + c.len_utf8())))
            }
            Py::Range(start, _, step, taint) => {
                let index = at(value.len()?)? as i128;
                let taint = self.join(*taint, self.taint(key));
                let item = i128::from(*start) + index * i128::from(*step);
                Some(Py::int(item).with_taint(taint))
            }
            _ => None,
        }
    }

    /// The value that a dictionary has under a name.
    pub(super) fn member(&mut self, dict: &Dict, name: &str) -> Option<Py> {
        let found = dict.get_str(name);
        if let Some(at) = &dict.read {
            self.note(&at.clone(), &format!(".{name}"), found.is_some());
        }
        found
    }

    /// `value[start:stop:step]`.
    pub(super) fn slice(&mut self, value: &Py, bounds: &[Py; 3]) -> Result<Py, Fault> {
        if let Py::Undefined(missing, _) = value {
            return Err(Fault::error(missing.message()));
        }
        let mut taint = Taint::NONE;
        for bound in bounds {
            taint = self.join(taint, self.taint(bound));
        }
        // Jinja turns the errors of a subscription into something undefined.
        let undefined = || {
            let why = Missing::Attr(value.type_name().to_owned(), "of a slice".to_owned());
            Ok(Py::missing_of(why, taint))
        };
        let mut numbers = [None; 3];
        for (number, bound) in numbers.iter_mut().zip(bounds) {
            *number = match bound {
                Py::None(_) => None,
                other => match other.as_int() {
                    Some(value) => Some(value),
                    None => return undefined(),
                },
            };
        }
        let [start, stop, step] = numbers;
        let step = step.unwrap_or(1);
        match value {
            Py::Str(text) => {
                if step == 0 {
                    return Err(Fault::error("the step of a slice cannot be zero"));
                }
                self.spend(text.len() as u64 / 16)?;
                self.cut_by(text, taint);
                let picked = match step {
                    1 => contiguous(text, start, stop, |part| self.found_part(text, part)),
                    _ => self.scattered(text, start, stop, step),
                };
                self.pay_for(picked.len())?;
                Ok(Py::Str(picked))
            }
            Py::List(list) => {
                if step == 0 {
                    return Err(Fault::error("the step of a slice cannot be zero"));
                }
                let items: Vec<Py> = indices(list.len(), start, stop, step)
                    .map(|index| list.items()[index].clone())
                    .collect();
                self.room_for(items.len())?;
                let shape = self.join(list.shape(), taint).derived();
                Ok(Py::List(Rc::new(List::new(
                    items,
                    list.read.clone(),
                    shape,
                ))))
            }
            Py::Tuple(items) => {
                if step == 0 {
                    return Err(Fault::error("the step of a slice cannot be zero"));
                }
                Ok(Py::tuple_of(
                    indices(items.len(), start, stop, step)
                        .map(|index| items.items()[index].clone()),
                    self.join(items.shape(), taint),
                ))
            }
            Py::Range(first, _, stride, of) => {
                if step == 0 {
                    return Err(Fault::error("the step of a slice cannot be zero"));
                }
                let (low, high) = bounds_of(value.len().unwrap_or(0), start, stop, step);
                let at = |index: i128| i128::from(*first) + index * i128::from(*stride);
                let whole = |number: i128| {
                    i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })
                };
                Ok(Py::Range(
                    whole(at(low)),
                    whole(at(high)),
                    whole(step.saturating_mul(i128::from(*stride))),
                    self.join(*of, taint),
                ))
            }
            _ => undefined(),
        }
    }

    /// The characters of a text that a slice picks one by one.
    fn scattered(&self, text: &Text, start: Option<i128>, stop: Option<i128>, step: i128) -> Text {
        let chars: Vec<(usize, char)> = text.char_indices().collect();
        let mut out = self.written();
        let mut any = false;
        for index in indices(chars.len(), start, stop, step) {
            let (at, c) = chars[index];
            out.push_part(text, at..at + c.len_utf8());
            any = true;
        }
        if any {
            out.finish()
        } else {
            self.nothing_of(text)
        }
    }

    /// Which item of a list an index finds depends on what the index was made of, and on how long the list is, unless it is
    /// counted from the start of an input.
    fn decide_index(&self, list: &List, key: &Py) {
        if self.trace.is_some() {
            self.decide_shape(key);
            if !list.shape().is_itself() || key.as_int().is_some_and(|index| index < 0) {
                self.decided_by(list.shape());
            }
        }
    }
}

/// The part of a text that a slice without steps picks.
fn contiguous(
    text: &Text,
    start: Option<i128>,
    stop: Option<i128>,
    part: impl FnOnce(&str) -> Text,
) -> Text {
    let (start, stop) = bounds_of(text.chars().count(), start, stop, 1);
    let byte = |chars: i128| {
        let chars = usize::try_from(chars).unwrap_or(0);
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(at, _)| at)
    };
    let start = byte(start);
    part(&text[start..byte(stop).max(start)])
}

/// The steps that looking through a string once costs; lists and dictionaries are found in at once.
pub(super) fn weight(value: &Py) -> u64 {
    value.as_str().map_or(0, |text| text.len() as u64 / 16)
}

/// Where a slice starts and where it stops, as Python's `slice.indices` counts them.
fn bounds_of(len: usize, start: Option<i128>, stop: Option<i128>, step: i128) -> (i128, i128) {
    let len = len as i128;
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let clamp = |bound: Option<i128>, default: i128| match bound {
        None => default,
        Some(bound) if bound < 0 => (bound + len).max(low),
        Some(bound) => bound.min(high),
    };
    (
        clamp(start, if step > 0 { low } else { high }),
        clamp(stop, if step > 0 { high } else { low }),
    )
}

/// The indices that a slice picks.
fn indices(
    len: usize,
    start: Option<i128>,
    stop: Option<i128>,
    step: i128,
) -> impl Iterator<Item = usize> {
    let (mut at, stop) = bounds_of(len, start, stop, step);
    std::iter::from_fn(move || {
        let inside = if step > 0 { at < stop } else { at > stop };
        let index = inside.then(|| usize::try_from(at).ok()).flatten()?;
        at = at.saturating_add(step);
        Some(index)
    })
}
