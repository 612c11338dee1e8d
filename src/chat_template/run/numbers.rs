//! The filters that make numbers.

use std::rc::Rc;

use super::Render;
use super::arguments::{Arguments, int_or};
use super::fault::Fault;
use super::object::Py;
use super::trace::Taint;
use crate::value::python;

impl Render<'_> {
    /// Writes a number of bytes as people do, in powers of 1000 or of 1024.
    pub(super) fn file_size(&mut self, subject: &Py, args: Arguments) -> Result<Py, Fault> {
        let taint = self.join(self.taint(subject), self.arguments_taint(&args));
        let [binary] = args.bind("filesizeformat", ["binary"], 0)?;
        let number = match subject {
            Py::Undefined(missing, _) => return Err(Fault::error(missing.message())),
            Py::Str(text) => python::float(text),
            // Python refuses an integer that no float can hold.
            Py::Big(..) => subject.as_float().filter(|number| number.is_finite()),
            other => other.as_float(),
        };
        let size =
            number.and_then(|number| size(number, binary.is_some_and(|value| value.is_true())));
        let size = size.ok_or_else(|| {
            Fault::error(format!(
                "`filesizeformat` needs a number of bytes, not this `{}`",
                subject.type_name()
            ))
        })?;
        let mut out = self.written();
        out.push_of(&size, taint);
        self.text(out)
    }

    pub(super) fn number_filter(
        &mut self,
        name: &str,
        subject: &Py,
        args: Arguments,
    ) -> Result<Py, Fault> {
        if let Py::Undefined(missing, _) = subject {
            return Err(Fault::error(missing.message()));
        }
        match name {
            "int" => {
                let [default, base] = args.bind(name, ["default", "base"], 0)?;
                let base = u32::try_from(int_or(base.as_ref(), 10)?).unwrap_or(10);
                let direct = match subject {
                    Py::Str(text) => parse_int(text, base),
                    Py::Float(number, _) if number.is_finite() => {
                        Some(Py::int(number.trunc() as i128))
                    }
                    other => other
                        .as_int()
                        .map(Py::int)
                        .or_else(|| matches!(other, Py::Big(..)).then(|| other.clone())),
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
                    .unwrap_or_else(|| Py::int(0)))
            }
            "float" => {
                let [default] = args.bind(name, ["default"], 0)?;
                let number = match subject {
                    Py::Str(text) => python::float(text),
                    other => other.as_float(),
                };
                Ok(number
                    .map(Py::float)
                    .or(default)
                    .unwrap_or_else(|| Py::float(0.0)))
            }
            "abs" => {
                args.none(name)?;
                match (subject, subject.as_int()) {
                    (Py::Float(number, _), _) => Ok(Py::float(number.abs())),
                    (_, Some(number)) => Ok(Py::int(number.saturating_abs())),
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
                    Some("common") if matches!(subject, Py::Float(..)) && precision >= 0 => {
                        Py::float(format!("{number:.places$}").parse().unwrap_or(number))
                    }
                    Some("common") if precision >= 0 => subject.clone(),
                    Some("common") => {
                        let rounded = (number * scale).round_ties_even() / scale;
                        if matches!(subject, Py::Float(..)) {
                            Py::float(rounded)
                        } else {
                            Py::int(rounded as i128)
                        }
                    }
                    Some("ceil") => Py::float((number * scale).ceil() / scale),
                    Some("floor") => Py::float((number * scale).floor() / scale),
                    _ => return Err(Fault::error("`round` rounds `common`, `ceil` or `floor`")),
                })
            }
        }
    }
}

/// Counts bytes in the largest unit of which there is at least one. It is `None` for negative infinity, of which Python makes no integer.
fn size(bytes: f64, binary: bool) -> Option<String> {
    let base: u128 = if binary { 1024 } else { 1000 };
    if bytes == 1.0 {
        return Some("1 Byte".to_owned());
    }
    if bytes < base as f64 {
        let whole = bytes.trunc();
        // Python's integers have no negative zero.
        let whole = if whole == 0.0 { 0.0 } else { whole };
        return whole.is_finite().then(|| format!("{whole:.0} Bytes"));
    }
    let (mut above, mut prefix) = (base, ' ');
    for next in "kMGTPEZY".chars() {
        above *= base;
        prefix = next;
        // Python compares a float with an integer exactly: as floats, 1e24 and the 24th power of ten are equal.
        if !bytes.is_nan() && (bytes as u128) < above {
            break;
        }
    }
    let count = base as f64 * bytes / above as f64;
    let count = if count.is_nan() {
        "nan".to_owned()
    } else {
        format!("{count:.1}")
    };
    Some(if binary {
        format!("{count} {}iB", prefix.to_ascii_uppercase())
    } else {
        format!("{count} {prefix}B")
    })
}

/// Python's `int(text, base)`.
fn parse_int(text: &str, base: u32) -> Option<Py> {
    if base == 10 {
        let number = python::int(text)?;
        return Some(number.as_i64().map_or_else(
            || Py::Big(Rc::new(number), Taint::NONE),
            |value| Py::Int(value, Taint::NONE),
        ));
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

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_jinjas() {
        let told = |bytes, binary| size(bytes, binary).unwrap_or_default();
        assert_eq!(told(0.0, false), "0 Bytes");
        assert_eq!(told(1.0, true), "1 Byte");
        assert_eq!(told(999.9, false), "999 Bytes");
        assert_eq!(told(1000.0, false), "1.0 kB");
        assert_eq!(told(1000.0, true), "1000 Bytes");
        assert_eq!(told(-0.5, false), "0 Bytes");
        assert_eq!(told(-1e22, false), "-10000000000000000000000 Bytes");
        assert_eq!(told(1048576.0, true), "1.0 MiB");
        assert_eq!(told(1e24, false), "1000.0 ZB");
        assert_eq!(told(1e27, false), "1000.0 YB");
        assert_eq!(told(f64::INFINITY, false), "inf YB");
        assert_eq!(told(f64::NAN, true), "nan YiB");
        assert_eq!(size(f64::NEG_INFINITY, false), None);
    }
}
