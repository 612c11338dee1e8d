//! Arguments in lines of key, separator, value, as `kv-lines` reads them.

use super::calls::{Call, Tell};
use super::members::Members;
use super::shape::{LineShape, ValueShape};
use crate::value::{Value, python};

/// The longest part of a line, in bytes, that is looked at again for every piece until the separator comes. A longer one is passed on with
/// the region.
const MOST_HELD: usize = 1 << 16;

#[derive(Debug, Clone, Default)]
pub(super) struct LineReader {
    /// The text that has come of the line and is not passed on.
    held: String,
    /// True if the line's key has been passed on, and its value is.
    in_value: bool,
    members: Members,
    /// True if a value could not be parsed.
    lost: bool,
}

impl LineReader {
    /// Begins another region.
    pub(super) fn reset(&mut self) {
        self.held.clear();
        self.in_value = false;
        self.members.reset();
        self.lost = false;
    }

    pub(super) fn feed(
        &mut self,
        shape: &LineShape,
        text: &str,
        call: &mut Call,
        tell: &mut Tell<'_>,
    ) {
        if self.lost {
            return;
        }
        self.held.push_str(text);
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while let Some((line, after)) = split_line(shape, rest) {
            self.end_line(shape, line, call, tell);
            rest = after;
        }
        let sure = rest.len() - shape.line_sep.as_deref().map_or(0, |sep| begun(rest, sep));
        let used = self.go_on(shape, &rest[..sure], call, tell);
        let rest = &rest[used..];
        if rest.len() > MOST_HELD {
            self.lost = true;
        } else {
            self.held.push_str(rest);
        }
    }

    /// Ends the region, and returns true if all of its arguments were passed on.
    pub(super) fn finish(
        &mut self,
        shape: &LineShape,
        call: &mut Call,
        tell: &mut Tell<'_>,
    ) -> bool {
        let held = std::mem::take(&mut self.held);
        self.end_line(shape, &held, call, tell);
        self.members.finish(call, tell);
        !self.lost
    }

    /// Reads more of a line that has not ended, and returns how many of its bytes are passed on.
    fn go_on(
        &mut self,
        shape: &LineShape,
        text: &str,
        call: &mut Call,
        tell: &mut Tell<'_>,
    ) -> usize {
        if self.in_value {
            self.members.push(text, &in_pieces(shape), call, tell);
            return text.len();
        }
        if matches!(shape.values, ValueShape::Whole(_)) {
            return 0;
        }
        let line = if shape.strip {
            text.trim_start_matches(python::is_space)
        } else {
            text
        };
        let Some((key, value)) = line.split_once(shape.kv_sep.as_str()) else {
            return 0;
        };
        // White space behind the separator may be the end of the line, and the separator's own with it.
        if shape.strip && value.chars().all(python::is_space) {
            return 0;
        }
        let key = if shape.strip { python::strip(key) } else { key };
        let values = in_pieces(shape);
        self.members.begin(key, &values, call, tell);
        self.members.push(value, &values, call, tell);
        self.in_value = true;
        text.len()
    }

    fn end_line(&mut self, shape: &LineShape, rest: &str, call: &mut Call, tell: &mut Tell<'_>) {
        let values = in_pieces(shape);
        if std::mem::take(&mut self.in_value) {
            self.members.push(rest, &values, call, tell);
            self.lost |= !self.members.end(&values, call, tell);
            return;
        }
        let strip = |text| {
            if shape.strip {
                python::strip(text)
            } else {
                text
            }
        };
        let Some((key, value)) = strip(rest).split_once(shape.kv_sep.as_str()) else {
            return;
        };
        let value = match &shape.values {
            ValueShape::Text { strip: false } => Some(Value::from(strip(value))),
            ValueShape::Text { strip: true } => Some(Value::from(python::strip(value))),
            ValueShape::Whole(content) => content.parse(strip(value)).ok(),
        };
        match value {
            Some(value) => self.members.whole(strip(key), value, call, tell),
            None => self.lost = true,
        }
    }
}

/// Returns the shape of values that are passed on in pieces, which come with the white space around them. Values that are needed whole come
/// as lines.
fn in_pieces(shape: &LineShape) -> ValueShape {
    let own = matches!(shape.values, ValueShape::Text { strip: true });
    ValueShape::Text {
        strip: own || shape.strip,
    }
}

/// Returns the first line, if its end has come, and the text behind it.
fn split_line<'t>(shape: &LineShape, text: &'t str) -> Option<(&'t str, &'t str)> {
    match &shape.line_sep {
        Some(separator) => text.split_once(separator.as_str()),
        None => text.split_once(python::is_space),
    }
}

/// How many bytes at the end of the text may be the beginning of the separator.
fn begun(text: &str, separator: &str) -> usize {
    (1..separator.len().min(text.len() + 1))
        .rev()
        .find(|length| text.as_bytes().ends_with(&separator.as_bytes()[..*length]))
        .unwrap_or(0)
}
