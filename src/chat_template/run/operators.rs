//! Python's operators on the values of a render.

use std::cmp::Ordering;
use std::rc::Rc;

use super::fault::Fault;
use super::format;
use super::items::weight;
use super::object::Key;
use super::object::List;
use super::object::{Py, View};
use super::text;
use super::text_filters::escape;
use super::{MAX_VALUE, Render};
use crate::chat_template::error::Limit;
use crate::chat_template::syntax::tree::{BinaryOp, CompareOp};

fn unsupported(symbol: &str, left: &Py, right: &Py) -> Fault {
    for side in [left, right] {
        if let Py::Undefined(missing, _) = side {
            return Fault::error(missing.message());
        }
    }
    Fault::error(format!(
        "`{symbol}` does not work between `{}` and `{}`",
        left.type_name(),
        right.type_name()
    ))
}

fn beyond() -> Fault {
    Fault::error("an integer outgrows the 128 bits that chat templates can calculate with")
}

impl Render<'_> {
    pub(super) fn binary(&mut self, op: BinaryOp, left: &Py, right: &Py) -> Result<Py, Fault> {
        let logical = matches!(op, BinaryOp::And | BinaryOp::Or);
        if !logical && (matches!(left, Py::Markup(_)) || matches!(right, Py::Markup(_))) {
            return self.with_markup(op, left, right);
        }
        let value = match op {
            BinaryOp::Add => self.add(left, right),
            BinaryOp::Concat if matches!((left, right), (Py::Str(_), Py::Str(_))) => {
                self.add(left, right)
            }
            BinaryOp::Concat => {
                let mut out = self.written();
                text::write_str(left, &mut out)?;
                text::write_str(right, &mut out)?;
                self.text(out)
            }
            BinaryOp::Mul => self.multiply(left, right),
            BinaryOp::Rem if matches!(left, Py::Str(_)) && !right.is_undefined() => {
                let Py::Str(text) = left else {
                    return arithmetic(op, left, right);
                };
                let mut out = self.written();
                format::percent(text, right, &mut out)?;
                self.text(out)
            }
            BinaryOp::And | BinaryOp::Or => Ok(if left.is_true() == (op == BinaryOp::And) {
                right
            } else {
                left
            }
            .clone()),
            _ => arithmetic(op, left, right),
        }?;
        if logical || self.trace.is_none() || !value.is_scalar() {
            return Ok(value);
        }
        let taint = self.join(self.taint(left), self.taint(right));
        Ok(self.made_of(value, taint))
    }

    /// Markup stays markup when something is added, and escapes what is not.
    fn with_markup(&mut self, op: BinaryOp, left: &Py, right: &Py) -> Result<Py, Fault> {
        match (op, left.as_str(), right.as_str()) {
            (BinaryOp::Add, Some(_), Some(_)) => {
                let mut out = self.written();
                for side in [left, right] {
                    match side {
                        Py::Str(text) => escape(text, &mut out),
                        Py::Markup(text) => out.push_text(text),
                        _ => {}
                    }
                }
                Ok(self.text(out)?.marked_up())
            }
            (BinaryOp::Mul, ..) => Ok(self
                .binary(op, &left.clone().plain(), &right.clone().plain())?
                .marked_up()),
            _ => self.binary(op, &left.clone().plain(), &right.clone().plain()),
        }
    }

    fn add(&mut self, left: &Py, right: &Py) -> Result<Py, Fault> {
        match (left, right) {
            (Py::Str(a), Py::Str(b)) if self.trace.is_none() => {
                let mut out = String::with_capacity(a.len() + b.len());
                out.push_str(a);
                out.push_str(b);
                self.string(out)
            }
            (Py::Str(a), Py::Str(b)) => {
                let mut out = self.written();
                out.reserve(a.len() + b.len());
                out.push_text(a);
                out.push_text(b);
                self.text(out)
            }
            (Py::List(a), Py::List(b)) => {
                self.room_for(a.len() + b.len())?;
                let items = a.items().iter().chain(b.items().iter()).cloned().collect();
                // A list of the inputs is still one of the inputs after something was appended to it.
                let read = a.read.clone().or_else(|| b.read.clone());
                let shape = self.join(a.shape(), b.shape());
                Ok(Py::List(Rc::new(List::new(items, read, shape.derived()))))
            }
            (Py::Tuple(a), Py::Tuple(b)) => {
                self.room_for(a.len() + b.len())?;
                Ok(Py::tuple_of(
                    a.items().iter().chain(b.items().iter()).cloned(),
                    self.join(a.shape(), b.shape()),
                ))
            }
            _ => arithmetic(BinaryOp::Add, left, right),
        }
    }

    fn multiply(&mut self, left: &Py, right: &Py) -> Result<Py, Fault> {
        let (repeated, times) = match (left, right) {
            (Py::Str(_) | Py::List(_) | Py::Tuple(_), times) => (left, times),
            (times, Py::Str(_) | Py::List(_) | Py::Tuple(_)) => (right, times),
            _ => return arithmetic(BinaryOp::Mul, left, right),
        };
        self.decide_shape(times);
        let times = times
            .as_int()
            .ok_or_else(|| unsupported("*", left, right))?
            .max(0);
        let times = usize::try_from(times).unwrap_or(usize::MAX);
        match repeated {
            Py::Str(text) => {
                if text.len().saturating_mul(times) > MAX_VALUE {
                    return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
                }
                let mut out = self.written();
                out.reserve(text.len() * times);
                for _ in 0..times {
                    out.push_text(text);
                }
                self.text(out)
            }
            Py::List(list) => {
                self.room_for(list.len().saturating_mul(times))?;
                let held = list.items();
                let items = held.iter().cloned().cycle();
                Ok(Py::list_of(
                    items.take(list.len() * times).collect(),
                    list.shape(),
                ))
            }
            Py::Tuple(items) => {
                self.room_for(items.len().saturating_mul(times))?;
                Ok(Py::tuple_of(
                    items
                        .items()
                        .iter()
                        .cloned()
                        .cycle()
                        .take(items.len() * times),
                    items.shape(),
                ))
            }
            _ => arithmetic(BinaryOp::Mul, left, right),
        }
    }

    pub(super) fn compare(&mut self, op: CompareOp, left: &Py, right: &Py) -> Result<bool, Fault> {
        if matches!(left, Py::Markup(_)) || matches!(right, Py::Markup(_)) {
            return self.compare(op, &left.clone().plain(), &right.clone().plain());
        }
        Ok(match op {
            CompareOp::Eq => self.same(left, right)?,
            CompareOp::Ne => !self.same(left, right)?,
            CompareOp::Lt => self.order("<", left, right)? == Some(Ordering::Less),
            CompareOp::Le => matches!(
                self.order("<=", left, right)?,
                Some(Ordering::Less | Ordering::Equal)
            ),
            CompareOp::Gt => self.order(">", left, right)? == Some(Ordering::Greater),
            CompareOp::Ge => matches!(
                self.order(">=", left, right)?,
                Some(Ordering::Greater | Ordering::Equal)
            ),
            CompareOp::In => self.contains(right, left)?,
            CompareOp::NotIn => !self.contains(right, left)?,
        })
    }

    /// Python's `==`, paid for.
    pub(super) fn same(&mut self, left: &Py, right: &Py) -> Result<bool, Fault> {
        let same = left.equals(right, &mut self.fuel);
        self.spend(u64::from(self.fuel == 0))?;
        Ok(same)
    }

    /// Python's `<` and its like, paid for.
    pub(super) fn order(
        &mut self,
        symbol: &str,
        left: &Py,
        right: &Py,
    ) -> Result<Option<Ordering>, Fault> {
        let order = order(symbol, left, right, &mut self.fuel);
        self.spend(1)?;
        order
    }

    /// Python's `in`.
    pub(super) fn contains(&mut self, container: &Py, item: &Py) -> Result<bool, Fault> {
        self.spend(weight(container) + weight(item))?;
        Ok(match container {
            Py::Str(text) => match item {
                Py::Str(part) => text.contains(&**part),
                other => {
                    return Err(Fault::error(format!(
                        "`in` a string needs a string, not `{}`",
                        other.type_name()
                    )));
                }
            },
            Py::Dict(dict) | Py::View(View::Keys, dict) => {
                if let (Some(key), Some(at)) = (item.as_str(), &dict.read) {
                    let found = dict.get_str(key).is_some();
                    self.note(&at.clone(), &format!(".{key}"), found);
                }
                let key = Key::new(item).ok_or_else(|| {
                    Fault::error(format!("a `{}` cannot be a key", item.type_name()))
                })?;
                dict.items().contains_key(&key)
            }
            other => {
                let items = self.iterate(other)?;
                for other in &items {
                    if self.same(other, item)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }
}

/// How two values are ordered; `Ok(None)` for `NaN`. Steps are taken as in [`Py::equals`].
pub(super) fn order(
    symbol: &str,
    left: &Py,
    right: &Py,
    steps: &mut u64,
) -> Result<Option<Ordering>, Fault> {
    match (left, right) {
        (Py::Str(a), Py::Str(b)) => {
            *steps = steps.saturating_sub(1 + a.len().min(b.len()) as u64 / 64);
            Ok(Some(a.cmp(b)))
        }
        (Py::List(a), Py::List(b)) | (Py::Tuple(a), Py::Tuple(b)) => {
            for (a, b) in a.items().iter().zip(b.items().iter()) {
                if !a.equals(b, steps) {
                    return order(symbol, a, b, steps);
                }
            }
            Ok(Some(a.len().cmp(&b.len())))
        }
        _ => match (left.as_int(), right.as_int()) {
            (Some(a), Some(b)) => Ok(Some(a.cmp(&b))),
            _ => match (left.as_float(), right.as_float()) {
                (Some(a), Some(b)) => Ok(a.partial_cmp(&b)),
                _ => Err(unsupported(symbol, left, right)),
            },
        },
    }
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::FloorDiv => "//",
        BinaryOp::Rem => "%",
        BinaryOp::Pow => "**",
        BinaryOp::Concat => "~",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}

fn arithmetic(op: BinaryOp, left: &Py, right: &Py) -> Result<Py, Fault> {
    let zero = || Fault::error("division by zero");
    if let (Some(a), Some(b)) = (left.as_int(), right.as_int()) {
        let exact = match op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Sub => a.checked_sub(b),
            BinaryOp::Mul => a.checked_mul(b),
            BinaryOp::FloorDiv if b == 0 => return Err(zero()),
            BinaryOp::FloorDiv => a.checked_div_euclid(b).map(|q| {
                // Python rounds down, not toward zero nor by the divisor's sign.
                if b < 0 && a.rem_euclid(b) != 0 {
                    q - 1
                } else {
                    q
                }
            }),
            BinaryOp::Rem if b == 0 => return Err(zero()),
            BinaryOp::Rem => a.checked_rem(b).map(|r| {
                if r != 0 && (r < 0) != (b < 0) {
                    r + b
                } else {
                    r
                }
            }),
            BinaryOp::Pow if b >= 0 => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            BinaryOp::Pow if a == 0 => return Err(zero()),
            BinaryOp::Pow | BinaryOp::Div => None,
            _ => return Err(unsupported(symbol(op), left, right)),
        };
        match (op, exact) {
            (_, Some(value)) => return Ok(Py::int(value)),
            (BinaryOp::Div, None) => {}
            (BinaryOp::Pow, None) if b < 0 => {}
            _ => return Err(beyond()),
        }
    }
    let (Some(a), Some(b)) = (left.as_float(), right.as_float()) else {
        return Err(unsupported(symbol(op), left, right));
    };
    Ok(Py::float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem if b == 0.0 => return Err(zero()),
        BinaryOp::Div => a / b,
        BinaryOp::FloorDiv => (a / b).floor(),
        BinaryOp::Rem => {
            let r = a % b;
            if r != 0.0 && (r < 0.0) != (b < 0.0) {
                r + b
            } else {
                r
            }
        }
        BinaryOp::Pow => a.powf(b),
        _ => return Err(unsupported(symbol(op), left, right)),
    }))
}

/// Python's unary minus.
pub(super) fn negate(value: &Py) -> Result<Py, Fault> {
    match (value, value.as_int()) {
        (Py::Float(value, _), _) => Ok(Py::float(-value)),
        (_, Some(value)) => value.checked_neg().map(Py::int).ok_or_else(beyond),
        (Py::Undefined(missing, _), _) => Err(Fault::error(missing.message())),
        (other, _) => Err(Fault::error(format!(
            "`-` does not work on a `{}`",
            other.type_name()
        ))),
    }
}
