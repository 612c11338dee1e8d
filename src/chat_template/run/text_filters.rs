//! Jinja's filters that make a text of a text.

use std::fmt::Write as _;

use super::arguments::{self, Arguments, int_or};
use super::fault::Fault;
use super::object::{Key, Py, View};
use super::padding::{Padding, Sides};
use super::text_rules::{self, Ends};
use super::trace::{Taint, Text, Written};
use super::{MAX_VALUE, Render, text};
use crate::chat_template::error::Limit;
use crate::value::python;

/// Writes a text with all but letters, digits, `_.-~` and the `safe` characters as percent-encoded bytes.
fn percent_encoded(text: &Text, safe: &str, out: &mut Written) {
    out.push_mapped(text, |c, encoded| {
        if c.is_ascii_alphanumeric() || "_.-~".contains(c) || safe.contains(c) {
            return false;
        }
        // Within a query, Jinja2 writes a space as a plus.
        if c == ' ' && safe.is_empty() {
            encoded.push('+');
            return true;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            let _ = write!(encoded, "%{byte:02X}");
        }
        true
    });
}

impl Render<'_> {
    pub(super) fn text_filter(
        &mut self,
        name: &str,
        subject: &Py,
        args: Arguments,
    ) -> Result<Py, Fault> {
        self.note_whole(subject);
        if let ("string" | "safe", Py::Str(_)) = (name, subject) {
            args.none(name)?;
            return Ok(subject.clone());
        }
        let shown = match subject {
            Py::Str(text) => text.clone(),
            other => {
                let mut out = self.written();
                text::write_str(other, &mut out)?;
                out.finish()
            }
        };
        self.spend(shown.len() as u64 / 16)?;
        let mut out = self.written();
        match name {
            "string" | "safe" => {
                args.none(name)?;
                out.push_text(&shown);
            }
            "trim" => {
                let [chars] = args.bind(name, ["chars"], 0)?;
                let chars = chars.filter(|chars| !matches!(chars, Py::None(_)));
                let taint = chars
                    .as_ref()
                    .map_or(Taint::NONE, |chars| self.taint(chars));
                let chars = chars
                    .as_ref()
                    .map(|chars| arguments::string(name, chars))
                    .transpose()?;
                let kept = text_rules::strip(&shown, chars, Ends::Both);
                self.pay_for(kept.len())?;
                return Ok(Py::Str(self.stripped(&shown, kept, Ends::Both, taint)));
            }
            "upper" | "lower" | "capitalize" | "title" => {
                args.none(name)?;
                let changed = match name {
                    "upper" => shown.to_uppercase(),
                    "lower" => shown.to_lowercase(),
                    "capitalize" => text_rules::capitalize(&shown),
                    _ => title(&shown),
                };
                out = self.recased(&shown, &changed, name);
            }
            "escape" | "e" | "forceescape" => {
                args.none(name)?;
                escape(&shown, &mut out);
            }
            "replace" => {
                let [old, new, count] = args.bind(name, ["old", "new", "count"], 2)?;
                let mut written = [self.written(), self.written()];
                for (out, value) in written.iter_mut().zip([&old, &new]) {
                    text::write_str(value.as_ref().unwrap_or(&Py::NONE), out)?;
                }
                let [old, new] = written.map(Written::finish);
                let count = count.filter(|count| !matches!(count, Py::None(_)));
                let limit = int_or(count.as_ref(), -1)?;
                let counted = count.map_or(Taint::NONE, |count| self.taint(&count));
                let taint = self.join(self.text_taint(&old), counted);
                return self.replaced(&shown, &old, &new, limit, taint);
            }
            "indent" => self.indent(&shown, args, &mut out)?,
            "center" => {
                let [width] = args.bind(name, ["width"], 0)?;
                let taint = width
                    .as_ref()
                    .map_or(Taint::NONE, |width| self.taint(width));
                let because = self.join(self.text_taint(&shown), taint);
                let width = int_or(width.as_ref(), 80)?;
                let pad = Padding::new(&shown, width, ' ', Sides::Both)?;
                pad.before(&mut out, because);
                out.push_text(&shown);
                pad.after(&mut out, because);
            }
            "truncate" => self.truncate(&shown, args, &mut out)?,
            "wordcount" => {
                args.none(name)?;
                let words = shown
                    .split(|c: char| !text_rules::is_word(c))
                    .filter(|word| !word.is_empty());
                return Ok(Py::int(words.count() as i128).with_taint(self.text_taint(&shown)));
            }
            "striptags" => {
                args.none(name)?;
                self.striptags(&shown, &mut out)?;
            }
            "urlencode" => {
                args.none(name)?;
                match subject {
                    Py::Dict(_) | Py::List(_) | Py::Tuple(_) | Py::Generator(..) => {
                        self.query(subject, &mut out)?;
                    }
                    _ => percent_encoded(&shown, "/", &mut out),
                }
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
                super::format::percent(&shown, &values, &mut out)?;
            }
            "pprint" | "random" | "urlize" => {
                return Err(Fault::error(format!(
                    "Jinja2 has the filter `{name}`, but this program does not evaluate it"
                )));
            }
            _ => return Err(Fault::error(format!("there is no filter named `{name}`"))),
        }
        let text = self.text(out)?;
        Ok(self.made_of(text, self.text_taint(&shown)))
    }

    /// Writes pairs as the query of an address, `a=1&b=2`: those of a dictionary, or what is listed.
    fn query(&mut self, pairs: &Py, out: &mut Written) -> Result<(), Fault> {
        self.decide_shape(pairs);
        let taint = self.taint(pairs);
        let pairs = match pairs {
            Py::Dict(dict) => self.iterate(&Py::View(View::Items, dict.clone()))?,
            other => self.iterate(other)?,
        };
        for (index, pair) in pairs.iter().enumerate() {
            let both = self.iterate(pair)?;
            let [name, value] = both.as_slice() else {
                return Err(Fault::error(format!(
                    "`urlencode` needs pairs of a name and a value, not {} values",
                    both.len()
                )));
            };
            if index > 0 {
                out.push_of("&", taint);
            }
            for (between, part) in [("", name), ("=", value)] {
                let mut shown = self.written();
                text::write_str(part, &mut shown)?;
                out.push_of(between, taint);
                percent_encoded(&shown.finish(), "", out);
            }
        }
        Ok(())
    }

    fn indent(&mut self, text: &Text, args: Arguments, out: &mut Written) -> Result<(), Fault> {
        let [width, first, blank] = args.bind("indent", ["width", "first", "blank"], 0)?;
        let margin = match &width {
            Some(Py::Str(margin)) => margin.clone(),
            other => {
                let width = int_or(other.as_ref(), 4)?.clamp(0, 10_000);
                Text::plain(" ".repeat(usize::try_from(width).unwrap_or(0)))
            }
        };
        for value in [&width, &first, &blank].into_iter().flatten() {
            self.decide_shape(value);
        }
        let (first, blank) = (
            first.is_some_and(|value| value.is_true()),
            blank.is_some_and(|value| value.is_true()),
        );
        // A line end is added, so that a text that ends with one keeps it.
        let with_end = format!("{}\n", &**text);
        let lines = text_rules::splitlines(&with_end, false);
        if with_end
            .len()
            .saturating_add(lines.len().saturating_mul(margin.len()))
            > MAX_VALUE
        {
            return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
        }
        if first {
            out.push_text(&margin);
        }
        let mut end = 0;
        for (index, line) in lines.iter().enumerate() {
            let start = (line.as_ptr().addr() - with_end.as_ptr().addr()).min(text.len());
            if index > 0 {
                // Whatever ended the line, it is written as one line end.
                if text[end..start] == *"\n" {
                    out.push_part(text, end..start);
                } else {
                    out.push_instead("\n", text, end..start, Taint::NONE);
                }
                if blank || !line.is_empty() {
                    let next = line.chars().next().map_or(0, char::len_utf8);
                    let because = self.taint_in(text, &(end..start + next));
                    out.push_because(&margin, because);
                }
            }
            end = (start + line.len()).min(text.len());
            if start < end || text.is_empty() {
                out.push_part(text, start..end);
            }
        }
        Ok(())
    }

    fn truncate(&mut self, text: &Text, args: Arguments, out: &mut Written) -> Result<(), Fault> {
        let taint = self.arguments_taint(&args);
        let [length, kill, end, leeway] =
            args.bind("truncate", ["length", "killwords", "end", "leeway"], 0)?;
        let length = usize::try_from(int_or(length.as_ref(), 255)?).unwrap_or(0);
        let leeway = usize::try_from(int_or(
            leeway
                .filter(|leeway| !matches!(leeway, Py::None(_)))
                .as_ref(),
            5,
        )?)
        .unwrap_or(0);
        let end = end.unwrap_or_else(|| Py::str("..."));
        arguments::string("truncate", &end)?;
        let end = end.into_text();
        let count = text.chars().count();
        let room = length
            .checked_sub(end.chars().count())
            .ok_or_else(|| Fault::error("`truncate` to less than its end is long"))?;
        self.cut_by(text, taint);
        if count <= length.saturating_add(leeway) {
            out.push_text(text);
            return Ok(());
        }
        let cut = text
            .char_indices()
            .nth(room)
            .map_or(text.len(), |(at, _)| at);
        let cut = if kill.is_some_and(|value| value.is_true()) {
            cut
        } else {
            text[..cut].rfind(' ').unwrap_or(cut)
        };
        out.push_part(text, 0..cut);
        out.push_because(&end, self.text_taint(text));
        Ok(())
    }
}

/// The text with what HTML gives a meaning replaced.
pub(super) fn escape(text: &Text, out: &mut Written) {
    out.push_mapped(text, |c, escaped| {
        escaped.push_str(match c {
            '&' => "&amp;",
            '>' => "&gt;",
            '<' => "&lt;",
            '\'' => "&#39;",
            '"' => "&#34;",
            _ => return false,
        });
        true
    });
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
