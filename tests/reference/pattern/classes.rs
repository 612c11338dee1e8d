//! Classes of characters against Python's `regex`, asked of every character.
//!
//! The reference's tables are of a later Unicode than the ones here, so that only characters which both know are asked.

#![allow(
    clippy::print_stderr,
    unreachable_pub,
    reason = "what the tests share says what it skips"
)]

use std::collections::BTreeSet;

use obverse::pattern::Pattern;
use serde_json::{Value, json};

/// Everything that stands for a class of characters, asked of every character.
#[rustfmt::skip]
const CLASSES: &[&str] = &[
    "\\w", "\\W", "\\d", "\\s", "\\h", ".", "(?-s:.)", "(?a)\\w", "(?a)\\s", "(?a)\\d", "[[:alpha:]]",
    "[[:alnum:]]", "[[:digit:]]", "[[:punct:]]", "[[:xdigit:]]", "[[:space:]]", "[[:upper:]]", "[[:lower:]]",
    "[[:word:]]", "[[:blank:]]", "[[:cntrl:]]", "[[:graph:]]", "[[:print:]]", "[[:ascii:]]", "[[:^alpha:]]",
    "\\p{L}", "\\pL", "\\PL", "\\p{Lu}", "\\p{Ll}", "\\p{Lt}", "\\p{LC}", "\\p{N}", "\\p{Nd}", "\\p{P}",
    "\\p{S}", "\\p{Z}", "\\p{Zs}", "\\p{C}", "\\p{Cc}", "\\p{Cn}", "\\p{M}", "\\p{Letter}",
    "\\p{Uppercase_Letter}", "\\p{Alphabetic}", "\\p{alpha}", "\\p{alnum}", "\\p{digit}", "\\p{punct}",
    "\\p{xdigit}", "\\p{graph}", "\\p{print}", "\\p{posix_alnum}", "\\p{posix_punct}", "\\p{posix_digit}",
    "\\p{posix_xdigit}", "\\p{Uppercase}", "\\p{Lowercase}", "\\p{Upper}", "\\p{Lower}", "\\p{White_Space}",
    "\\p{space}", "\\p{Greek}", "\\p{Han}", "\\p{Latin}", "\\p{Cyrillic}", "\\p{Script=Greek}", "\\p{sc=Greek}",
    "\\p{gc=Lu}", "\\p{General_Category=Letter}", "\\p{IsGreek}", "\\p{Any}", "\\p{ASCII}", "\\p{Assigned}",
    "\\p{Emoji}", "\\p{^L}", "\\P{^L}", "\\p{ID_Start}", "\\p{XID_Continue}", "\\p{word}", "\\p{blank}",
    "\\p{cntrl}", "(?i)\\p{Lu}", "(?i)\\p{Ll}", "(?i)\\P{Lu}", "(?i)[\\p{Lu}]", "(?i)[^\\p{Lu}]",
    "(?i)\\p{Greek}", "(?i)[\\p{Greek}]", "(?i)[a-z]", "(?i)[^a-z]", "(?i)i", "(?i)I", "(?i)\\u0130",
    "(?i)\\u0131", "(?i)k", "(?i)ß", "(?i)s", "(?i)[α-ω]", "(?i)[\\w]", "(?i)\\w", "(?ai)[a-z]", "(?ai)k",
    "(?i)\\p{Upper}", "(?i)[[:upper:]]", "(?i)ς", "(?i)ǆ", "(?i)ﬅ", "(?i)[\\u0250-\\u03ff]",
    "(?i)[\\u1e00-\\u2fff]", "\\p{nonsense}", "\\p{L&}", "\\p{Script_Extensions=Greek}", "\\p{Lao}", "\\p{l}",
    "\\p{ lu }", "\\p{uppercase letter}", "\\p{Cs}", "\\p{Unassigned}",
];

/// Characters that the later Unicode has put into another class.
const RECLASSIFIED: &[char] = &['\u{295}'];

fn chars_of(ranges: &Value) -> BTreeSet<char> {
    let ranges: Vec<(u32, u32)> = serde_json::from_value(ranges.clone()).expect("a list of pairs");
    ranges
        .into_iter()
        .flat_map(|(first, last)| (first..=last).filter_map(char::from_u32))
        .collect()
}

#[test]
fn classes_hold_the_characters_that_they_hold_in_the_reference() {
    let lines: Vec<String> = CLASSES
        .iter()
        .map(|class| json!({"pattern": class, "classes": true}).to_string())
        .collect();
    let Some(answers) = crate::support::reference::ask("regex_pairs.py", &lines) else {
        return;
    };
    let matched = |pattern: &Pattern, text: &str| -> BTreeSet<char> {
        let spans = pattern
            .find_iter(text)
            .map(|found| found.expect("no limit is met").span);
        spans.filter_map(|span| text[span].chars().next()).collect()
    };
    // The characters between are unassigned, and those behind are for private use.
    let all: String = ('\0'..'\u{33500}')
        .chain('\u{e0000}'..'\u{e0200}')
        .collect();
    let assigned = matched(&Pattern::regex("\\p{Assigned}").expect("a pattern"), &all);
    let known: BTreeSet<char> = assigned
        .into_iter()
        .filter(|c| !RECLASSIFIED.contains(c))
        .collect();
    let text: String = known.iter().collect();
    let mut wrong = Vec::new();
    for (class, answer) in CLASSES.iter().zip(&answers) {
        let answer: Value = serde_json::from_str(answer).expect("the reference writes JSON");
        let pattern = match (Pattern::regex(class), answer.get("error")) {
            (Ok(pattern), None) => pattern,
            (Err(_), Some(_)) => continue,
            (ours, theirs) => {
                wrong.push(format!(
                    "{class}: {:?}; the reference says {theirs:?}",
                    ours.map(|_| ())
                ));
                continue;
            }
        };
        let ours = matched(&pattern, &text);
        let mut theirs = chars_of(&answer["ranges"]);
        theirs.retain(|c| known.contains(c));
        let show = |more: &BTreeSet<char>, less: &BTreeSet<char>| {
            let codes: Vec<u32> = more.difference(less).map(|c| u32::from(*c)).collect();
            format!("{} {:x?}", codes.len(), &codes[..codes.len().min(12)])
        };
        if ours != theirs {
            wrong.push(format!(
                "{class}: too many: {}; too few: {}",
                show(&ours, &theirs),
                show(&theirs, &ours)
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
