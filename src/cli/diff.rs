//! A change of a file as a diff, line by line.

use std::fmt::Write as _;

use super::color::{BLUE, DIM, GREEN, RED, paint};
use super::escape;
use crate::text::diff::{Change, Diff, lines};
use obverse::check::FileChange;

/// How many lines are shown around what changes.
const AROUND: usize = 3;

/// The change, styled and escaped.
pub(crate) fn unified(change: &FileChange) -> String {
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let what = match (&change.before, &change.after) {
        (None, _) => "  (new)",
        (_, None) => "  (to be removed)",
        _ => "",
    };
    let name = escape::line(&change.path.display().to_string()).into_owned();
    let mut out = format!("{}{what}\n", paint(BLUE, &name));
    let diff = Diff::new(lines(before), lines(after), None);
    for (index, group) in diff.groups(AROUND).into_iter().enumerate() {
        if index > 0 {
            let _ = writeln!(out, "{}", paint(DIM, "  ..."));
        }
        for (change, text) in group {
            let (sign, style) = match change {
                Change::Kept => (' ', DIM),
                Change::Removed => ('-', RED),
                Change::Added => ('+', GREEN),
            };
            let ended = text.strip_suffix('\n');
            let shown = format!("{sign} {}", escape::line(ended.unwrap_or(text)));
            let _ = writeln!(out, "{}", paint(style, &shown));
            if ended.is_none() && change != Change::Kept {
                let _ = writeln!(out, "{}", paint(DIM, "  (without a line feed at the end)"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(before: Option<&str>, after: Option<&str>) -> String {
        let change = FileChange::new(
            "a\u{1b}.json",
            before.map(str::to_owned),
            after.map(str::to_owned),
        );
        anstream::adapter::strip_str(&unified(&change)).to_string()
    }

    #[test]
    fn what_changes_is_shown_with_what_is_around() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\u{7}\n9\n";
        let after = before.replace('7', "seven");
        assert_eq!(
            plain(Some(before), Some(&after)),
            "a\\u{1b}.json\n  4\n  5\n  6\n- 7\n+ seven\n  8\\u{7}\n  9\n"
        );
        let far = before.replace('1', "one").replace('9', "nine");
        let shown = plain(Some(before), Some(&far));
        assert!(shown.contains("  4\n  ...\n  6\n"), "{shown}");
    }

    #[test]
    fn a_file_may_come_or_go() {
        assert_eq!(
            plain(None, Some("x")),
            "a\\u{1b}.json  (new)\n+ x\n  (without a line feed at the end)\n"
        );
        assert_eq!(
            plain(Some("x\n"), None),
            "a\\u{1b}.json  (to be removed)\n- x\n"
        );
    }
}
