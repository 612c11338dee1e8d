//! Walking over values, taking items and slices of them.

use std::rc::Rc;

use super::Render;
use super::fault::Fault;
use super::key::Key;
use super::object::{List, Missing, Py, View};
use super::text;

impl Render<'_> {
    /// The items that `for` walks over.
    pub(super) fn iterate(&mut self, value: &Py) -> Result<Vec<Py>, Fault> {
        if let Some(len) = value.len() {
            self.room_for(len)?;
        }
        match value {
            Py::Undefined(_) => Ok(Vec::new()),
            Py::Str(text) => {
                let mut buffer = [0; 4];
                Ok(text
                    .chars()
                    .map(|c| Py::str(c.encode_utf8(&mut buffer)))
                    .collect())
            }
            Py::List(list) => {
                if let Some(origin) = list.origin.clone() {
                    self.note(&origin, "[]", !list.items.is_empty());
                }
                Ok(list.items.clone())
            }
            Py::Tuple(items) => Ok(items.to_vec()),
            Py::Dict(dict) => {
                self.note_whole(value);
                Ok(dict.items.keys().map(|key| key.0.clone()).collect())
            }
            Py::View(kind, dict) => {
                self.note_whole(&Py::Dict(dict.clone()));
                Ok(match kind {
                    View::Keys => dict.items.keys().map(|key| key.0.clone()).collect(),
                    View::Values => dict.items.values().cloned().collect(),
                    View::Items => dict
                        .items
                        .iter()
                        .map(|(key, item)| Py::tuple([key.0.clone(), item.clone()]))
                        .collect(),
                })
            }
            Py::Range(start, _, step) => {
                let count = value.len().unwrap_or(0);
                let (start, step) = (i128::from(*start), i128::from(*step));
                Ok((0..count as i128)
                    .map(|index| Py::int(start + index * step))
                    .collect())
            }
            Py::Generator(items) => Ok(items.borrow_mut().drain(..).collect()),
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
        if let Py::Undefined(missing) = value {
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
        Ok(Py::missing(Missing::Attr(
            value.type_name().to_owned(),
            text::repr_of(key)?,
        )))
    }

    /// What Python's subscription gives; `None` where it raises.
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
                let found = match key {
                    Py::Str(name) => dict.get_str(name).cloned(),
                    other => Key::new(other).and_then(|key| dict.items.get(&key).cloned()),
                };
                if let (Some(origin), Py::Str(name)) = (&dict.origin, key) {
                    self.note(&origin.clone(), &format!(".{name}"), found.is_some());
                }
                found
            }
            Py::List(list) => {
                let found = at(list.items.len()).map(|index| list.items[index].clone());
                if let (Some(origin), Some(_)) = (&list.origin, key.as_int()) {
                    self.note(&origin.clone(), "[]", found.is_some());
                }
                found
            }
            Py::Tuple(items) => at(items.len()).map(|index| items[index].clone()),
            Py::Str(text) => {
                let index = at(text.chars().count())?;
                text.chars()
                    .nth(index)
                    .map(|c| Py::str(c.encode_utf8(&mut [0; 4])))
            }
            Py::Range(start, _, step) => {
                let index = at(value.len()?)? as i128;
                Some(Py::int(i128::from(*start) + index * i128::from(*step)))
            }
            _ => None,
        }
    }

    /// `value[start:stop:step]`.
    pub(super) fn slice(&mut self, value: &Py, bounds: &[Py; 3]) -> Result<Py, Fault> {
        if let Py::Undefined(missing) = value {
            return Err(Fault::error(missing.message()));
        }
        // Jinja turns the errors of a subscription into something undefined.
        let undefined = || {
            Ok(Py::missing(Missing::Attr(
                value.type_name().to_owned(),
                "of a slice".to_owned(),
            )))
        };
        let mut numbers = [None; 3];
        for (number, bound) in numbers.iter_mut().zip(bounds) {
            *number = match bound {
                Py::None => None,
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
                let chars: Vec<char> = text.chars().collect();
                let picked = indices(chars.len(), start, stop, step)
                    .map(|index| chars[index])
                    .collect();
                self.string(picked)
            }
            Py::List(list) => {
                if step == 0 {
                    return Err(Fault::error("the step of a slice cannot be zero"));
                }
                let items: Vec<Py> = indices(list.items.len(), start, stop, step)
                    .map(|index| list.items[index].clone())
                    .collect();
                self.room_for(items.len())?;
                Ok(Py::List(Rc::new(List::new(items, list.origin.clone()))))
            }
            Py::Tuple(items) => {
                if step == 0 {
                    return Err(Fault::error("the step of a slice cannot be zero"));
                }
                Ok(Py::tuple(
                    indices(items.len(), start, stop, step).map(|index| items[index].clone()),
                ))
            }
            Py::Range(first, _, stride) => {
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
                ))
            }
            _ => undefined(),
        }
    }
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
