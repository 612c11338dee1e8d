//! Python's two ways of formatting: `"%s" % value` and `"{}".format(value)`.

use super::arguments::Arguments;
use super::fault::Fault;
use super::object::Py;
use super::padding::{Padding, Sides};
use super::trace::{Taint, Text, Written};
use super::{MAX_VALUE, Render, text};
use crate::chat_template::error::Limit;
use crate::value::python;

fn bad(message: impl Into<String>) -> Fault {
    Fault::error(message)
}

/// How one value is laid out.
#[derive(Debug, Clone, Default)]
struct Layout {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    zero: bool,
    width: i64,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
    /// The inputs that the width was made of.
    because: Taint,
}

/// `text % values`, appended.
pub(super) fn percent(text: &Text, values: &Py, out: &mut Written) -> Result<(), Fault> {
    decide_places(text, out);
    let mut positional = match values {
        Py::Tuple(items) => items.items().clone(),
        other => vec![other.clone()],
    }
    .into_iter();
    let mut rest = &**text;
    while let Some(at) = rest.find('%') {
        push_borrowed(text, &rest[..at], out);
        let percent = &rest[at..=at];
        let mut chars = rest[at + 1..].chars().peekable();
        let mut value = None;
        if chars.next_if_eq(&'(').is_some() {
            let key: String = chars.by_ref().take_while(|c| *c != ')').collect();
            let Py::Dict(dict) = values else {
                return Err(bad("`%(name)` needs a dictionary"));
            };
            value = Some(
                dict.get_str(&key)
                    .ok_or_else(|| bad(format!("`%` has no value for `{key}`")))?,
            );
        }
        let mut layout = Layout::default();
        while let Some(flag) = chars.next_if(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => layout.align = Some('<'),
                '+' => layout.sign = Some('+'),
                ' ' if layout.sign.is_none() => layout.sign = Some(' '),
                '#' => layout.alternate = true,
                '0' => layout.zero = true,
                _ => {}
            }
        }
        let mut next = || {
            positional
                .next()
                .ok_or_else(|| bad("`%` has fewer values than places"))
        };
        if chars.next_if_eq(&'*').is_some() {
            let width = next()?;
            if let Some(trace) = out.trace() {
                layout.because = trace.taint(&width);
            }
            layout.width = super::arguments::int_or(Some(&width), 0)?;
        } else {
            layout.width = digits(&mut chars).unwrap_or(0);
        }
        if chars.next_if_eq(&'.').is_some() {
            layout.precision = usize::try_from(digits(&mut chars).unwrap_or(0)).ok();
        }
        while chars.next_if(|c| "hlL".contains(*c)).is_some() {}
        let Some(kind) = chars.next() else {
            return Err(bad("`%` at the end of a format"));
        };
        let left: usize = chars.map(char::len_utf8).sum();
        rest = &rest[rest.len() - left..];
        if kind == '%' {
            push_borrowed(text, percent, out);
            continue;
        }
        let value = match value {
            Some(value) => value,
            None => next()?,
        };
        if layout.align == Some('<') {
            layout.zero = false;
        }
        percent_one(&value, kind, &layout, out)?;
        check(out)?;
    }
    push_borrowed(text, rest, out);
    if positional.next().is_some() && !matches!(values, Py::Dict(_) | Py::List(_)) {
        return Err(bad("`%` has more values than places"));
    }
    Ok(())
}

/// Where a format that comes from the inputs has its places decides what is written.
fn decide_places(text: &Text, out: &Written) {
    if let Some(trace) = out.trace() {
        trace.decide(trace.inputs_of_all(text.pieces()));
    }
}

fn push_borrowed(text: &Text, part: &str, out: &mut Written) {
    match text.range_of(part) {
        Some(range) => out.push_part(text, range),
        None => out.push(part),
    }
}

fn check(out: &Written) -> Result<(), Fault> {
    if out.len() > MAX_VALUE {
        Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64))
    } else {
        Ok(())
    }
}

fn digits(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<i64> {
    let mut text = String::new();
    while let Some(c) = chars.next_if(char::is_ascii_digit) {
        text.push(c);
    }
    (!text.is_empty()).then(|| text.parse().unwrap_or(i64::MAX))
}

fn percent_one(value: &Py, kind: char, layout: &Layout, out: &mut Written) -> Result<(), Fault> {
    let mut layout = layout.clone();
    match kind {
        's' | 'r' | 'a' => {
            let shown = shown(value, kind == 's', out)?;
            layout.zero = false;
            lay_out(&cut(shown, layout.precision, out), "", &layout, '>', out)
        }
        'd' | 'i' | 'u' => {
            let number = match value {
                Py::Float(number, _) => number.trunc() as i128,
                other => other.as_int().ok_or_else(|| {
                    bad(format!("`%d` needs a number, not `{}`", other.type_name()))
                })?,
            };
            layout.kind = Some('d');
            layout.precision = None;
            let taint = out.trace().map_or(Taint::NONE, |trace| match value {
                Py::Int(_, taint) => *taint,
                other => trace.taint(other).derived(),
            });
            number_of(&Py::int(number).with_taint(taint), &layout, out)
        }
        'c' => match value {
            Py::Str(text) if text.chars().count() == 1 => lay_out(text, "", &layout, '>', out),
            other => {
                let c = other
                    .as_int()
                    .and_then(|code| u32::try_from(code).ok())
                    .and_then(char::from_u32);
                let c = c.ok_or_else(|| bad("`%c` needs a character"))?;
                let taint = out
                    .trace()
                    .map_or(Taint::NONE, |trace| trace.taint(other).derived());
                let body = written_value(&c.to_string(), taint, out);
                lay_out(&body, "", &layout, '>', out)
            }
        },
        'x' | 'X' | 'o' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
            if value.as_float().is_none()
                || (matches!(kind, 'x' | 'X' | 'o') && value.as_int().is_none())
            {
                return Err(bad(format!(
                    "`%{kind}` needs a number, not `{}`",
                    value.type_name()
                )));
            }
            layout.kind = Some(kind);
            if matches!(kind, 'x' | 'X' | 'o') {
                layout.precision = None;
            }
            number_of(value, &layout, out)
        }
        other => Err(bad(format!("`%{other}` is not a format"))),
    }
}

/// `text.format(...)`.
pub(super) fn braces(
    render: &mut Render<'_>,
    text: &Text,
    args: &Arguments,
    out: &mut Written,
) -> Result<(), Fault> {
    decide_places(text, out);
    let mut automatic = 0;
    format_fields(render, text, args, &mut automatic, 3, out)
}

fn format_fields(
    render: &mut Render<'_>,
    text: &Text,
    args: &Arguments,
    automatic: &mut usize,
    levels: usize,
    out: &mut Written,
) -> Result<(), Fault> {
    if levels == 0 {
        return Err(bad("fields of a format nest too deep"));
    }
    let mut rest = &**text;
    while let Some(at) = rest.find(['{', '}']) {
        push_borrowed(text, &rest[..at], out);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if rest.starts_with(brace) {
            push_borrowed(text, brace, out);
            rest = &rest[1..];
            continue;
        }
        if brace == "}" {
            return Err(bad("a single `}` in a format"));
        }
        let mut depth = 1;
        let end = rest
            .char_indices()
            .find(|(_, c)| {
                depth += match c {
                    '{' => 1,
                    '}' => -1,
                    _ => 0,
                };
                depth == 0
            })
            .map(|(at, _)| at)
            .ok_or_else(|| bad("a `{` in a format that is not closed"))?;
        let field = &rest[..end];
        rest = &rest[end + 1..];
        let (name, spec) = field.split_once(':').unwrap_or((field, ""));
        let (name, conversion) = match name.split_once('!') {
            Some((name, conversion)) => (name, Some(conversion)),
            None => (name, None),
        };
        let value = field_value(render, name, args, automatic)?;
        let value = match conversion {
            None => value,
            Some("s") => Py::Str(shown(&value, true, out)?),
            Some("r" | "a") => Py::Str(shown(&value, false, out)?),
            Some(other) => return Err(bad(format!("`!{other}` is not a conversion"))),
        };
        let mut filled = Written::new(out.trace());
        let spec = text
            .range_of(spec)
            .map_or_else(|| Text::plain(spec), |range| text.part(range));
        format_fields(render, &spec, args, automatic, levels - 1, &mut filled)?;
        format_value(&value, &filled.finish(), out)?;
        check(out)?;
    }
    push_borrowed(text, rest, out);
    Ok(())
}

fn field_value(
    render: &mut Render<'_>,
    name: &str,
    args: &Arguments,
    automatic: &mut usize,
) -> Result<Py, Fault> {
    let end = name.find(['.', '[']).unwrap_or(name.len());
    let (first, mut rest) = name.split_at(end);
    let mut value = if first.is_empty() {
        *automatic += 1;
        args.positional.get(*automatic - 1).cloned()
    } else if let Ok(index) = first.parse::<usize>() {
        args.positional.get(index).cloned()
    } else {
        args.named
            .iter()
            .find(|(name, _)| **name == *first)
            .map(|(_, value)| value.clone())
    }
    .ok_or_else(|| bad(format!("`format` has no value for `{{{first}}}`")))?;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            value = render.attribute(&value, &after[..end])?;
            rest = &after[end..];
        } else if let Some((key, after)) =
            rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        {
            let key = key
                .parse::<i64>()
                .map_or_else(|_| Py::str(key), |index| Py::int(i128::from(index)));
            value = render.item(&value, &key)?;
            rest = after;
        } else {
            return Err(bad(format!("`{name}` is not a field of a format")));
        }
    }
    Ok(value)
}

/// Python's `format(value, spec)`.
fn format_value(value: &Py, spec: &Text, out: &mut Written) -> Result<(), Fault> {
    if spec.is_empty() {
        return text::write_str(value, out);
    }
    decide_places(spec, out);
    let spec = &**spec;
    let mut layout = Layout::default();
    let all: Vec<char> = spec.chars().collect();
    let mut chars = spec.chars().peekable();
    if all.len() > 1 && "<>=^".contains(all[1]) {
        layout.fill = chars.next();
        layout.align = chars.next();
    } else {
        layout.align = chars.next_if(|c| "<>=^".contains(*c));
    }
    layout.sign = chars.next_if(|c| "+- ".contains(*c)).filter(|c| *c != '-');
    layout.alternate = chars.next_if_eq(&'#').is_some();
    layout.zero = chars.next_if_eq(&'0').is_some();
    layout.width = digits(&mut chars).unwrap_or(0);
    layout.grouping = chars.next_if(|c| ",_".contains(*c));
    if chars.next_if_eq(&'.').is_some() {
        layout.precision = Some(
            digits(&mut chars)
                .and_then(|digits| usize::try_from(digits).ok())
                .ok_or_else(|| bad("a format without its precision"))?,
        );
    }
    layout.kind = chars.next();
    if chars.next().is_some() {
        return Err(bad(format!("`{spec}` is not a format")));
    }
    match value {
        Py::Str(text) => {
            if layout.kind.is_some_and(|kind| kind != 's')
                || layout.sign.is_some()
                || layout.align == Some('=')
            {
                return Err(bad(format!("`{spec}` does not format a string")));
            }
            let shown = cut(text.clone(), layout.precision, out);
            if layout.zero && layout.fill.is_none() {
                layout.fill = Some('0');
            }
            layout.zero = false;
            lay_out(&shown, "", &layout, '<', out)
        }
        Py::Int(..) | Py::Big(..) | Py::Float(..) | Py::Bool(..) => number_of(value, &layout, out),
        other => Err(bad(format!("a `{}` takes no format", other.type_name()))),
    }
}

fn number_of(value: &Py, layout: &Layout, out: &mut Written) -> Result<(), Fault> {
    let mut layout = layout.clone();
    if layout.precision.is_some_and(|precision| precision > 10_000) {
        return Err(Fault::Limit(Limit::Memory, 10_000));
    }
    let integral = !matches!(value, Py::Float(..))
        && matches!(
            layout.kind,
            None | Some('d' | 'x' | 'X' | 'o' | 'b' | 'c' | 'n')
        );
    let (negative, mut digits, prefix) = if integral {
        let number = value
            .as_int()
            .ok_or_else(|| bad("an integer is too large to be formatted"))?;
        let size = number.unsigned_abs();
        let (digits, prefix) = match layout.kind {
            Some('x') => (format!("{size:x}"), "0x"),
            Some('X') => (format!("{size:X}"), "0X"),
            Some('o') => (format!("{size:o}"), "0o"),
            Some('b') => (format!("{size:b}"), "0b"),
            _ => (size.to_string(), ""),
        };
        (
            number < 0,
            digits,
            if layout.alternate { prefix } else { "" },
        )
    } else {
        let number = value.as_float().ok_or_else(|| bad("a number is needed"))?;
        let size = number.abs();
        let kind = layout.kind;
        let shown = match kind {
            _ if !size.is_finite() => {
                layout.zero = false;
                python::float_repr(size)
            }
            Some('f' | 'F') => format!("{size:.*}", layout.precision.unwrap_or(6)),
            Some('%') => format!("{:.*}%", layout.precision.unwrap_or(6), size * 100.0),
            Some('e' | 'E') => exponent(size, layout.precision.unwrap_or(6)),
            Some('g' | 'G' | 'n') => {
                general(size, layout.precision.unwrap_or(6).max(1), layout.alternate)
            }
            None => match layout.precision {
                None => python::float_repr(size),
                Some(precision) => {
                    let shown = general(size, precision.max(1), false);
                    if shown.contains(['.', 'e']) {
                        shown
                    } else {
                        format!("{shown}.0")
                    }
                }
            },
            Some(other) => return Err(bad(format!("`{other}` does not format a float"))),
        };
        let shown = if kind.is_some_and(|kind| kind.is_ascii_uppercase()) {
            shown.to_uppercase()
        } else {
            shown
        };
        (number.is_sign_negative() && !number.is_nan(), shown, "")
    };
    if let Some(separator) = layout.grouping {
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        let grouped: String = digits[..end]
            .chars()
            .enumerate()
            .flat_map(|(at, c)| {
                (at > 0 && (end - at) % 3 == 0)
                    .then_some(separator)
                    .into_iter()
                    .chain([c])
            })
            .collect();
        digits = grouped + &digits[end..];
    }
    let sign = match (negative, layout.sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(_)) => " ",
        (false, None) => "",
    };
    let taint = out.trace().map_or(Taint::NONE, |trace| {
        let is_plain = match value {
            Py::Int(number, _) => {
                layout.kind.is_none_or(|kind| kind == 'd')
                    && number.unsigned_abs().to_string() == digits
            }
            _ => false,
        };
        let taint = trace.taint(value);
        // A sign that was asked for and digits that were grouped are not the number as it is.
        if is_plain && !negative {
            taint
        } else {
            taint.derived()
        }
    });
    let body = written_value(&digits, taint, out);
    lay_out(&body, &format!("{sign}{prefix}"), &layout, '>', out)
}

fn exponent(size: f64, precision: usize) -> String {
    let shown = format!("{size:.precision$e}");
    match shown.split_once('e') {
        Some((digits, exponent)) => {
            let exponent: i32 = exponent.parse().unwrap_or(0);
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        None => shown,
    }
}

/// C's `%g`: so many digits that count, in whichever notation is shorter.
fn general(size: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponent(size, precision - 1);
    let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let limit = i32::try_from(precision).unwrap_or(i32::MAX);
    let shorten = |digits: &str| {
        if keep_zeros || !digits.contains('.') {
            digits.to_owned()
        } else {
            digits
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        }
    };
    if (-4..limit).contains(&power) {
        let places = usize::try_from(limit - 1 - power).unwrap_or(0);
        shorten(&format!("{size:.places$}"))
    } else {
        let sign = if power < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", shorten(mantissa), power.unsigned_abs())
    }
}

/// A value's text, as `str()` or else `repr()` gives it.
fn shown(value: &Py, plainly: bool, out: &Written) -> Result<Text, Fault> {
    let mut shown = Written::new(out.trace());
    if plainly {
        text::write_str(value, &mut shown)?;
    } else {
        text::write_repr(value, &mut shown, 0)?;
    }
    Ok(shown.finish())
}

fn written_value(shown: &str, taint: Taint, out: &Written) -> Text {
    let mut written = Written::new(out.trace());
    written.push_value(shown, taint);
    written.finish()
}

/// So many characters of a text.
fn cut(text: Text, precision: Option<usize>, out: &Written) -> Text {
    let end = precision.and_then(|precision| text.char_indices().nth(precision));
    let Some((end, _)) = end else { return text };
    if let Some(trace) = out.trace()
        && !trace.is_of_one(text.pieces())
    {
        trace.decide(trace.inputs_of_all(text.pieces()));
    }
    text.part(0..end)
}

fn lay_out(
    body: &Text,
    sign: &str,
    layout: &Layout,
    default: char,
    out: &mut Written,
) -> Result<(), Fault> {
    let because = out.trace().map_or(Taint::NONE, |trace| {
        trace.join(trace.inputs_of_all(body.pieces()), layout.because)
    });
    let mut align = layout.align.unwrap_or(default);
    let mut fill = layout.fill.unwrap_or(' ');
    if layout.zero && layout.fill.is_none() && layout.align.is_none() {
        align = '=';
        fill = '0';
    } else if layout.zero && layout.fill.is_none() {
        fill = '0';
    }
    let sides = match align {
        '<' => Sides::After,
        '^' => Sides::BothEvenly,
        _ => Sides::Before,
    };
    let width = layout
        .width
        .saturating_sub(i64::try_from(sign.chars().count()).unwrap_or(0));
    let pad = Padding::new(body, width, fill, sides)?;
    if align == '=' {
        out.push_of(sign, because);
        pad.before(out, because);
        out.push_text(body);
        return Ok(());
    }
    pad.before(out, because);
    out.push_of(sign, because);
    out.push_text(body);
    pad.after(out, because);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{format_value, percent};
    use crate::chat_template::run::object::Py;
    use crate::chat_template::run::trace::{Text, Written};

    #[test]
    fn specs_are_pythons() {
        let shown = |value: Py, spec: &str| {
            let mut out = Written::default();
            format_value(&value, &Text::plain(spec), &mut out).expect("a format");
            out.into_parts().0
        };
        assert_eq!(shown(Py::int(1_234_567), ","), "1,234,567");
        assert_eq!(shown(Py::int(-5), "05d"), "-0005");
        assert_eq!(shown(Py::float(2.71), ".1f"), "2.7");
        assert_eq!(shown(Py::float(0.25), ".0%"), "25%");
        assert_eq!(shown(Py::float(1e10), "g"), "1e+10");
        assert_eq!(shown(Py::str("ab"), "*^5"), "*ab**");
        assert_eq!(shown(Py::int(-7), "^6"), "  -7  ");
        assert_eq!(shown(Py::int(255), "#x"), "0xff");
    }

    #[test]
    fn percent_is_pythons() {
        let shown = |text: &str, values: &Py| {
            let mut out = Written::default();
            percent(&Text::plain(text), values, &mut out).map(|()| out.into_parts().0)
        };
        let two = Py::tuple([Py::str("a"), Py::float(2.5)]);
        assert_eq!(shown("%s=%05.1f%%", &two).expect("a format"), "a=002.5%");
        assert!(shown("%s", &two).is_err());
        assert!(shown("%d", &Py::str("x")).is_err());
    }
}
