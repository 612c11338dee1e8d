//! Patterns: no panic and no hang; a search over chunks answers as one over the whole text; and every engine that can search a
//! pattern gives the same answer.

use obverse::pattern::{Captures, Matcher, MatchError, Pattern, Progress, Search, Window};

use crate::{cuts, parts};

/// Beyond this a text only takes longer.
const LONGEST: usize = 2000;

/// Checks one input: the source of a pattern, a text, and the sizes of the chunks.
pub fn check(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let [source, text, sizes] = parts(input);
    if text.len() > LONGEST || source.len() > LONGEST {
        return;
    }
    let pattern = match Pattern::regex(source) {
        Ok(pattern) => pattern,
        Err(error) => {
            let span = &error.span;
            assert!(source.get(span.clone()).is_some(), "{span:?} of {source:?}");
            return;
        }
    };
    one_answer(&pattern, text, sizes.as_bytes());
    // A look-ahead that always holds changes nothing but the engine.
    if pattern.engine() != Matcher::Backtracking
        && let Ok(other) = Pattern::regex(&format!("{source}(?=)"))
        && let (Ok(found), Ok(expected)) = (all(&pattern, text), all(&other, text))
    {
        assert_eq!(
            found, expected,
            "{source:?} on {text:?} with another engine"
        );
    }
    let words: Vec<String> = source.split('|').map(str::to_owned).collect();
    if let Ok(literals) = Pattern::literals(&words) {
        one_answer(&literals, text, sizes.as_bytes());
        let same = Pattern::regex(literals.source()).expect("its own source");
        assert_eq!(
            all(&literals, text),
            all(&same, text),
            "{words:?} on {text:?}"
        );
    }
}

fn all(pattern: &Pattern, text: &str) -> Result<Vec<Captures>, MatchError> {
    let mut found: Vec<Captures> = Vec::new();
    for captures in pattern.find_iter(text) {
        let captures = captures?;
        if let Some(last) = found.last() {
            assert!(last.span.end <= captures.span.start, "matches overlap");
        }
        lies_in(text, &captures);
        found.push(captures);
        assert!(found.len() <= 2 * text.len() + 2, "matches without end");
    }
    Ok(found)
}

fn lies_in(text: &str, captures: &Captures) {
    assert!(text.get(captures.span.clone()).is_some(), "{captures:?}");
    for (name, group) in &captures.groups {
        if let Some(group) = group {
            assert!(text.get(group.clone()).is_some(), "{name}: {captures:?}");
            assert_eq!(captures.group(name), Some(group.clone()));
        }
    }
}

/// The search over the whole text, over chunks, and over chunks whose window is cut off where it may be.
fn one_answer(pattern: &Pattern, text: &str, sizes: &[u8]) {
    let Ok(whole) = pattern.search(text, 0) else {
        return;
    };
    if let Ok(all) = all(pattern, text) {
        assert_eq!(all.first(), whole.as_ref(), "{pattern:?} on {text:?}");
    }
    for trimmed in [false, true] {
        for sizes in [sizes, &[]] {
            if let Ok(found) = chunked(pattern, text, sizes, trimmed) {
                assert_eq!(
                    found,
                    whole,
                    "{:?} on {text:?} in chunks, trimmed: {trimmed}",
                    pattern.source()
                );
            }
        }
    }
}

fn chunked(
    pattern: &Pattern,
    text: &str,
    sizes: &[u8],
    trimmed: bool,
) -> Result<Option<Captures>, MatchError> {
    let mut search = Search::new(pattern, 0);
    let mut start = 0;
    let mut before = 0;
    let mut ends = cuts(text, sizes);
    // The end itself comes alone, as it does in a stream.
    ends.push(text.len());
    for (index, &end) in ends.iter().enumerate() {
        let complete = index + 1 == ends.len();
        let window = Window {
            text: &text[start..end],
            start,
            complete,
        };
        match search.advance(&window)? {
            Progress::Found(captures) => {
                assert!(
                    captures.span.start >= before,
                    "a match before what was held"
                );
                assert!(captures.span.end <= end);
                return Ok(Some(captures));
            }
            Progress::Pending { hold } => {
                assert!(hold >= before && hold <= end, "{hold} after {before}");
                assert!(text.is_char_boundary(hold));
                before = hold;
                if trimmed {
                    start = hold.saturating_sub(pattern.lookbehind()).max(start);
                    while !text.is_char_boundary(start) {
                        start -= 1;
                    }
                }
            }
        }
    }
    Ok(None)
}
