//! Applying fixes. A fix is worth something only if it leaves fewer findings than there were: what is right for transformers may be
//! what another engine refuses. Nor may it make a response be read worse, see [`Probes`].

use crate::diagnostic::{Diagnostic, Fix, Severity};
use crate::response_template::config;
use crate::value::json::quote;

use super::probes::Probes;
use super::{Options, findings};

/// One fix can make room for another; after so many there is nothing more to gain.
const MANY: usize = 256;

/// A text with fixes applied.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fixed {
    /// The text. Without its edits it is the original, byte for byte.
    pub text: String,
    /// The findings that were fixed, as they were found; the places are those of the text that each was found in.
    pub applied: Vec<Diagnostic>,
}

/// Applies the fixes of all findings, and of what they lead to, one after the other. Each leaves fewer findings than there were,
/// none makes an error of what was none, and none makes a response that is made of the delimiters be read worse.
pub fn fix(text: &str, options: &Options<'_>) -> Fixed {
    fix_where(text, options, &|_| true)
}

/// Applies the fixes of the findings that are wanted, as [`fix`] does.
pub fn fix_where(
    text: &str,
    options: &Options<'_>,
    is_wanted: &dyn Fn(&Diagnostic) -> bool,
) -> Fixed {
    let mut fixed = Fixed {
        text: text.to_owned(),
        applied: Vec::new(),
    };
    let mut found = findings(text, options);
    for _ in 0..MANY {
        if found.iter().all(|found| found.fix.is_none()) {
            break;
        }
        let probes = Probes::of(&fixed.text);
        let mended = found
            .iter()
            .filter(|found| is_wanted(found))
            .find_map(|one| {
                let fix = one.fix.as_ref()?;
                let tried = try_fix(&fixed.text, fix, options)?;
                let is_good = is_better(&found, &tried.found)
                    && probes
                        .as_ref()
                        .is_none_or(|probes| probes.worse(&tried.text).is_none());
                is_good.then(|| (one.clone(), tried))
            });
        let Some((diagnostic, tried)) = mended else {
            break;
        };
        fixed.applied.push(diagnostic);
        fixed.text = tried.text;
        found = tried.found;
    }
    fixed
}

/// Takes back each fix that would not leave fewer findings, or with which a response would be read worse, and says in its hint what it
/// would lead to.
pub(super) fn withdraw(text: &str, options: &Options<'_>, found: &mut [Diagnostic]) {
    if found.iter().all(|found| found.fix.is_none()) {
        return;
    }
    let probes = Probes::of(text);
    let before = found.to_vec();
    // A fix that is worse alone may be good after another one, as all together are made.
    let mut together: Option<Fixed> = None;
    for diagnostic in found {
        let Some(own) = &diagnostic.fix else { continue };
        let tried = try_fix(text, own, options);
        let reason = match &tried {
            Some(tried) if is_better(&before, &tried.found) => {
                let worse = probes.as_ref().and_then(|probes| probes.worse(&tried.text));
                let Some(response) = worse else { continue };
                let all = together.get_or_insert_with(|| fix(text, options));
                let is_it = |one: &Diagnostic| {
                    one.code == diagnostic.code && one.place.path == diagnostic.place.path
                };
                if all.applied.iter().any(is_it) {
                    continue;
                }
                Some(format!(
                    "the response {} would be read worse",
                    quote(response)
                ))
            }
            Some(tried) => {
                new_code(&before, &tried.found).map(|code| format!("it would lead to `{code}`"))
            }
            None => None,
        };
        diagnostic.fix = None;
        if let (Some(hint), Some(reason)) = (&mut diagnostic.hint, reason) {
            hint.push_str(&format!("; it is not done for you, as {reason}"));
        }
    }
}

/// The code of a finding of which there are more after a fix than before.
fn new_code(before: &[Diagnostic], after: &[Diagnostic]) -> Option<&'static str> {
    let count =
        |all: &[Diagnostic], code: &str| all.iter().filter(|found| found.code == code).count();
    let mut codes = after.iter().map(|found| found.code);
    codes.find(|code| count(after, code) > count(before, code))
}

/// A text after a fix, and what is found in it.
struct Tried {
    text: String,
    found: Vec<Diagnostic>,
}

/// The text after a fix; `None` when that is no response template any more.
fn try_fix(text: &str, fix: &Fix, options: &Options<'_>) -> Option<Tried> {
    let text = apply(text, fix);
    config::load_any(&text).ok()?;
    let found = findings(&text, options);
    Some(Tried { text, found })
}

/// Returns true if there is less to find than before, and no more errors.
fn is_better(before: &[Diagnostic], after: &[Diagnostic]) -> bool {
    let errors = |all: &[Diagnostic]| {
        let errors = all.iter().filter(|found| found.severity == Severity::Error);
        errors.count()
    };
    after.len() < before.len() && errors(after) <= errors(before)
}

/// The text with the edits of a fix, which do not overlap.
fn apply(text: &str, fix: &Fix) -> String {
    let mut edits = fix.edits.clone();
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
    use crate::lint::lint;
    use crate::response_template::Engine;

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
    fn a_fix_that_an_engine_refuses_is_no_fix() {
        // Rust has no `\Z`.
        let text =
            r#"{"start_anchor": "<b>", "fields": {"content": {"close_pattern": "</b>\\s*$"}}}"#;
        let vllm = Options {
            engines: &[Engine::Vllm],
            ..Options::default()
        };
        let dollar = |options: &Options<'_>| {
            let mut found = lint(text, options).into_iter();
            found
                .find(|found| found.code == "dollar")
                .expect("a finding")
        };
        assert!(dollar(&Options::default()).fix.is_some());
        assert_ne!(fix(text, &Options::default()).text, text);
        let found = dollar(&vllm);
        assert_eq!(found.fix, None);
        assert!(
            found
                .hint
                .as_deref()
                .is_some_and(|hint| hint.contains("`unserved-pattern`")),
            "{found:?}"
        );
        let fixed = fix(text, &vllm);
        assert!(
            fixed.applied.iter().all(|found| found.code != "dollar"),
            "{fixed:?}"
        );
    }

    #[test]
    fn a_fix_keeps_the_end_that_a_final_line_feed_follows() {
        for (close, more, expected) in [
            (r"<\|im_end\|>$", "", r"<\|im_end\|>\s*\Z"),
            (
                r"<\|im_end\|>$",
                r#", "repeats": true, "join": """#,
                r"<\|im_end\|>\n?\Z",
            ),
            (r"(?:<\|im_end\|>|<f>)$", "", r"(?:<\|im_end\|>|<f>)\s*\Z"),
            (r"(?i)<\|im_end\|>$", "", r"(?i)<\|im_end\|>\s*\Z"),
        ] {
            let text = format!(
                r#"{{"start_anchor": "A:", "fields": {{"content": {{"close_pattern": {}{more}}}}}}}"#,
                quote(close)
            );
            let fixed = fix(&text, &Options::default()).text;
            assert!(fixed.contains(&quote(expected)), "{fixed}");
            for response in ["Hello<|im_end|>", "Hello<|im_end|>\n"] {
                let template = config::load_any(&fixed)
                    .expect("a response template")
                    .template;
                let message = crate::parser::parse_response(response, template, "", &[]);
                let content = message.expect("a message").get("content").cloned();
                assert_eq!(content, Some("Hello".into()), "{fixed}");
            }
        }
    }

    #[test]
    fn a_fix_does_not_take_what_another_close_begins_with() {
        let text = r#"{"start_anchor": "A:", "fields": {
            "tool_calls": {"open_pattern": "<t>", "close_pattern": "\\n</t>", "content": "json", "repeats": true},
            "content": {"close_pattern": "\\n</b>"}}}"#;
        let fixed = fix(text, &Options::default()).text;
        assert!(fixed.contains(r#""\\n</t>""#), "{fixed}");
        let mut found = lint(text, &Options::default()).into_iter();
        let space = found.find(|found| found.code == "space-after-region");
        let space = space.expect("a finding");
        assert_eq!(space.fix, None);
        let hint = space.hint.expect("a hint");
        assert!(hint.contains("would be read worse"), "{hint}");
    }

    #[test]
    fn what_is_not_wanted_is_not_fixed() {
        let text = r#"{"start_anchor": "<b>", "fields": {"content": {"close_pattern": "</b>|$"}}}"#;
        let fixed = fix_where(text, &Options::default(), &|found| found.code != "dollar");
        let codes: Vec<&str> = fixed.applied.iter().map(|found| found.code).collect();
        assert_eq!(codes, ["text-after-close"]);
        assert!(fixed.text.contains('$'), "{}", fixed.text);
    }

    #[test]
    fn what_is_no_response_template_stays() {
        let fixed = fix("{", &Options::default());
        assert_eq!((fixed.text.as_str(), fixed.applied.len()), ("{", 0));
    }
}
