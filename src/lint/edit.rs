//! Applying fixes.

use crate::diagnostic::{Diagnostic, Edit};
use crate::response_template::config;

use super::{Options, lint};

/// One fix can make room for another; after so many rounds there is nothing more to gain.
const ROUNDS: usize = 8;

/// A text with fixes applied.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// The text. Without its edits it is the original, byte for byte.
    pub text: String,
    /// What was fixed, as it was found; the places are those of the text that each was found in.
    pub applied: Vec<Diagnostic>,
}

/// Applies the fixes of all findings, and of what they lead to. A round of fixes after which the document would be no
/// response template any more is not applied.
pub fn fix(text: &str, options: &Options<'_>) -> Fixed {
    let mut fixed = Fixed {
        text: text.to_owned(),
        applied: Vec::new(),
    };
    for _ in 0..ROUNDS {
        let mut edits: Vec<Edit> = Vec::new();
        let mut applied = Vec::new();
        for diagnostic in lint(&fixed.text, options) {
            let Some(fix) = &diagnostic.fix else { continue };
            let free = |edit: &Edit| edits.iter().all(|other| are_apart(edit, other));
            if fix.edits.iter().all(free) {
                edits.extend(fix.edits.iter().cloned());
                applied.push(diagnostic);
            }
        }
        if applied.is_empty() {
            break;
        }
        let text = apply(&fixed.text, edits);
        if config::load_any(&text).is_err() {
            break;
        }
        fixed.text = text;
        fixed.applied.extend(applied);
    }
    fixed
}

/// Whether two edits can both be made, in either order.
fn are_apart(a: &Edit, b: &Edit) -> bool {
    a.span.end < b.span.start
        || b.span.end < a.span.start
        || (a.span != b.span && (a.span.end == b.span.start || b.span.end == a.span.start))
}

/// The text with edits made that do not overlap.
fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.span.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.span.start]);
        out.push_str(&edit.text);
        at = edit.span.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_byte_stays_as_it_is() {
        let text = "\u{feff}{\r\n\t\"eps\" : 1E-5,\r\n\t\"response_template\":{\"start_anchor\":\"<b>\",\r\n\t\"fields\":{\"content\":{\"close\":\"\\u00abe\\u00bb\"}}}, \"é\": 1.0}";
        let fixed = fix(text, &Options::default());
        assert_eq!(fixed.applied.len(), 1, "{:?}", fixed.applied);
        assert_eq!(
            fixed.text,
            text.replace(
                r#""close":"\u00abe\u00bb""#,
                r#""close_pattern":"\u00abe\u00bb\\s*""#
            )
        );
    }

    #[test]
    fn fixes_that_overlap_come_one_after_the_other() {
        let text = r#"{"start_anchor": "<b>", "fields": {"content": {"close_pattern": "</b>|$"}}}"#;
        let fixed = fix(text, &Options::default());
        let codes: Vec<&str> = fixed.applied.iter().map(|found| found.code).collect();
        assert_eq!(codes.len(), 2, "{codes:?}");
        let left = lint(&fixed.text, &Options::default());
        assert!(left.iter().all(|found| found.fix.is_none()), "{left:?}");
        assert_eq!(fix(&fixed.text, &Options::default()).text, fixed.text);
    }

    #[test]
    fn what_is_no_response_template_stays() {
        let fixed = fix("{", &Options::default());
        assert_eq!((fixed.text.as_str(), fixed.applied.len()), ("{", 0));
    }
}
