//! Small tables for people: a name and what there is to say of it.

use obverse::value::json::quote;

use super::color::{BOLD, paint};
use super::escape;

/// A row, its first column `width` wide; further lines of `text`, which is styled and escaped, stand below its first.
pub(crate) fn row(out: &mut String, width: usize, name: &str, text: &str) {
    let mut label = paint(BOLD, name) + &" ".repeat(width.saturating_sub(name.len()));
    for line in text.lines() {
        out.push_str(&format!("  {label}{line}\n"));
        label = " ".repeat(width);
    }
}

/// A text in quotes, white space and all.
pub(crate) fn marker(text: &str) -> String {
    escape::json(&quote(text)).into_owned()
}
