//! The filters that walk over items and pick, map or order them.

use std::cmp::Ordering;

use super::Render;
use super::arguments::{self, Arguments, int_or};
use super::fault::Fault;
use super::object::Py;
use super::trace::Taint;
use super::tracing::Other;

impl Render<'_> {
    /// The value that an `attribute` argument leads to: dotted names and indices. None leads to the value itself.
    pub(super) fn path(&mut self, value: &Py, path: &Py) -> Result<Py, Fault> {
        self.path_or(value, path, None)
    }

    /// Returns the value that an `attribute` argument leads to. The default stands in for each step that finds nothing, and the next step is taken from it.
    fn path_or(&mut self, value: &Py, path: &Py, default: Option<&Py>) -> Result<Py, Fault> {
        let mut value = value.clone();
        for step in steps(path) {
            value = self.item(&value, &step)?;
            match default {
                Some(default) if value.is_undefined() => {
                    let taint = self.taint(&value);
                    value = self.chosen_by(default.clone(), taint, Other::Telling);
                }
                Some(default) if !default.is_scalar() => self.decide_shape(&value),
                _ => {}
            }
        }
        Ok(value)
    }

    pub(super) fn map_filter(&mut self, subject: &Py, mut args: Arguments) -> Result<Py, Fault> {
        let shape = self.taint(subject);
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
            let attribute = attribute.unwrap_or(Py::NONE);
            let default = default.filter(|default| !matches!(default, Py::None(_)));
            for item in items {
                out.push(self.path_or(&item, &attribute, default.as_ref())?);
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
        Ok(Py::generator(out, shape))
    }

    pub(super) fn select_filter(
        &mut self,
        name: &str,
        subject: &Py,
        mut args: Arguments,
    ) -> Result<Py, Fault> {
        let shape = self.taint(subject);
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
                    self.decided_by(self.tested_taint(test, &value, &args));
                    self.test(test, &value, args)?
                }
                None => self.decide(&value),
            };
            if holds != name.starts_with("reject") {
                out.push(item);
            }
        }
        Ok(Py::generator(out, shape))
    }

    /// Puts the items that have an attribute in common into groups, which are in the order of the attribute.
    pub(super) fn group_filter(&mut self, subject: &Py, args: Arguments) -> Result<Py, Fault> {
        let parameters = ["attribute", "default", "case_sensitive"];
        let [attribute, default, cased] = args.bind("groupby", parameters, 1)?;
        self.decide_options(&[&attribute, &default, &cased]);
        let attribute = attribute.unwrap_or(Py::NONE).plain();
        let default = default.filter(|default| !matches!(default, Py::None(_)));
        let cased = cased.is_some_and(|value| value.is_true());
        let shape = self.taint(subject);
        let items = self.iterate(subject)?;
        self.room_for(items.len())?;
        let mut keyed = Vec::with_capacity(items.len());
        for item in items {
            let shown = self.path_or(&item, &attribute, default.as_ref())?;
            let key = self.fold(shown.clone().plain(), cased)?;
            keyed.push((key, (shown, item)));
        }
        self.sort_by_key(&mut keyed, false)?;
        let mut groups: Vec<(Py, Py, Vec<Py>)> = Vec::new();
        for (key, (shown, item)) in keyed {
            let belongs = match groups.last() {
                Some((first, ..)) => self.same(first, &key)?,
                None => false,
            };
            if belongs && let Some((.., members)) = groups.last_mut() {
                members.push(item);
            } else {
                // A group is named as its first item has it, whatever its case.
                groups.push((key, shown, vec![item]));
            }
        }
        self.room_for(groups.len())?;
        let groups = groups
            .into_iter()
            .map(|(_, shown, members)| Py::group(shown, members, shape))
            .collect();
        Ok(Py::list_of(groups, shape))
    }

    pub(super) fn sorted(
        &mut self,
        mut keyed: Vec<(Py, Py)>,
        reverse: bool,
    ) -> Result<Vec<Py>, Fault> {
        self.sort_by_key(&mut keyed, reverse)?;
        Ok(keyed.into_iter().map(|(_, item)| item).collect())
    }

    /// Sorts by the keys, which stand in front.
    fn sort_by_key<T>(&mut self, keyed: &mut [(Py, T)], reverse: bool) -> Result<(), Fault> {
        keyed.iter().for_each(|(key, _)| self.decide_whole(key));
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
        failed.map_or(Ok(()), Err)
    }

    /// Strings sort and compare without their case unless told otherwise.
    pub(super) fn fold(&mut self, value: Py, cased: bool) -> Result<Py, Fault> {
        match &value {
            Py::Str(text) if !cased => {
                let folded = self.string(text.to_lowercase())?;
                Ok(self.made_of(folded, self.text_taint(text)))
            }
            _ => Ok(value),
        }
    }

    pub(super) fn portions(
        &mut self,
        name: &str,
        subject: &Py,
        args: Arguments,
    ) -> Result<Py, Fault> {
        let [count, fill] = args.bind(name, ["count", "fill_with"], 1)?;
        let counted = count
            .as_ref()
            .map_or(Taint::NONE, |count| self.taint(count));
        let shape = self.join(self.taint(subject), counted).derived();
        let count = usize::try_from(int_or(count.as_ref(), 0)?)
            .ok()
            .filter(|count| *count > 0);
        let count =
            count.ok_or_else(|| Fault::error(format!("`{name}` needs a number above zero")))?;
        let fill = fill.filter(|fill| !matches!(fill, Py::None(_)));
        let items = self.iterate(subject)?;
        self.room_for(items.len().saturating_add(count))?;
        let mut out = Vec::new();
        if name == "batch" {
            for portion in items.chunks(count) {
                let mut portion = portion.to_vec();
                if let Some(fill) = &fill {
                    portion.resize(count, fill.clone());
                }
                out.push(Py::list_of(portion, shape));
            }
            return Ok(Py::generator(out, shape));
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
            out.push(Py::list_of(portion, shape));
        }
        Ok(Py::generator(out, shape))
    }
}

/// Returns the steps of an `attribute` argument: the parts between the dots of a string, of which those of digits are indices.
fn steps(path: &Py) -> Vec<Py> {
    let names = match path {
        Py::None(_) => return Vec::new(),
        Py::Str(names) => names,
        other => return vec![other.clone()],
    };
    let step = |name: &str| {
        let is_index = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        match name.parse::<i64>() {
            Ok(index) if is_index => Py::int(i128::from(index)),
            _ => Py::str(name),
        }
    };
    names.split('.').map(step).collect()
}
