//! Patterns of Python's `re` against the module itself: what is accepted, what is found, and the classes of characters.
//!
//! `OBVERSE_SEED` chooses other generated patterns.

#![allow(
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test says what it compared"
)]

use crate::support::random::Random;
use obverse::pattern::{Captures, Pattern};
use serde_json::{Value, json};

#[rustfmt::skip]
const ATOMS: &[&str] = &[
    "a", "b", "ab", "é", ".", "\\n", "\\w", "\\W", "\\s", "\\S", "\\d", "\\D", "[ab]", "[^a]", "[a-c_]", "[^\\W\\d]", "[\\s;]", "<", ">",
    "</a>", "\\b", "\\B", "^", "$", "\\A", "\\Z", "\\x61", "{", "x", "[]a]", " ", "1", "\\.", "[a\\]]", "(?:a|b)", "}", "{,",
];

/// What `re` refuses or reads in its own way.
#[rustfmt::skip]
const ODD: &[&str] = &[
    "\\z", "\\m", "\\h", "\\R", "\\X", "\\G", "\\K", "\\L", "\\p{L}", "\\P", "\\N", "[\\h]", "[\\A]", "[\\b]", "\\g<1>", "\\e", "\\q", "\\8", "\\1",
    "(?P=x)", "(?P<1>a)", "(?P<x>a)(?P<x>b)", "(?<x>a)", "(?|a|b)", "(?R)", "(?1)", "(?&x)", "(?P>x)", "(*FAIL)", "(*)", "(?i)a", "a(?i)b",
    "|(?i)b", "((?i)b)", "(?i)(?m)a", "(?ai)K", "(?u)a", "(?au)a", "(?a:\\w)", "(?-a:a)", "(?i-i:a)", "(?-i)", "(?i-s)", "(?-:a)", "(?L)a", "(?V1)a",
    "(?f)a", "(?p)a", "(?b)a", "(?:)", "(?:)*", "()", "()*", "(?#c)a", "a(?#c)*", "(?#", "(?", "(", ")", "[", "[]", "[^]", "[^]]", "[[:alpha:]]",
    "[:alpha:]", "[[a]", "[a&&b]", "[a--b]", "[a-\\d]", "[\\d-z]", "[\\d-]", "[z-a]", "[a-]", "[-a]", "^*", "$?", "\\b+", "\\A{2}", "(?=a)*", "a**", "a+*",
    "a{2}{3}", "a{2}*", "(?:a*)*", "a{,}", "a{}", "a{x}", "a{1", "a{,3}b", "a{2,1}", "a{e<=1}", "a{99999999999}", "*", "+a", "|*", "(?<=a+)b",
    "(?<=a|bc)d", "(?<=ab|cd)e", "(?<!a?)b", "(?<=^a)b", "\\0", "\\012", "\\101", "\\377", "\\400", "\\777", "[\\400]", "[\\8]", "[\\1]", "\\x", "\\x6",
    "\\u00e9", "\\u00", "\\U0001F980", "\\U00110000", "(a)\\2", "\\2(a)(b)", "(a\\1)", "(?P<x>a(?P=x))", "(a)(?(1)b|c)", "(?(1)a|b)", "(?(2)a)(b)",
    "(?(0)a)", "(?(x)a)", "(?P<x>a)?(?(x)b|c)", "(a)?(?(1)b|c|d)", "(?(?=a)b)", "(?>a*)a", "a*+a", "a++b", "(?x) a b # c", "(?x)[a b]", "(?x:a b)c d",
    "(?i:É)", "(?i)[a-c]", "(?i)[^a-c]", "(?i)İ", "(?i)ı", "(?i)ß", "(?i)ſ", "(?m)^a$", "(?s-s:.)", "(?-s:.)", "(?P<é>a)", "(?P<>a)", "(?P<x", "(?P<x>",
    "(?P=", "(?Px)", "(?<", "(?<a", "(?=", "(?!a", "\\", "a\\", "(?:a", "x{1,2}+", "(?:x{1,2}+)y", "\\d-\\w", "(a|b)*", "(a)|b|(c)", "((a)|b)+",
];

const QUANTIFIERS: &[&str] = &[
    "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,2}", "{1,}", "{0,2}?", "*+", "++", "?+",
];

/// A pattern, and whether it may match nothing. What may match nothing is not repeated: how `re` goes on after an iteration that
/// matched nothing depends on more than the pattern.
fn pattern(random: &mut Random, depth: usize, groups: &mut usize) -> (String, bool) {
    let mut whole = (String::new(), true);
    for at in 0..1 + random.below(3) {
        let alternative = at > 0 && random.once_in(4);
        if alternative {
            whole.0.push('|');
        }
        let kind = if depth == 0 { 0 } else { random.below(14) };
        let (mut text, mut nullable, is_condition) = if kind <= 4 {
            let text = random.pick(ATOMS).to_owned();
            let condition = ["^", "$", "\\b", "\\B", "\\A", "\\Z"].contains(&&*text);
            (text, condition, condition)
        } else {
            let (inner, nullable) = pattern(random, depth - 1, groups);
            let number = 1 + random.below((*groups).max(1));
            let text = match kind {
                5 | 6 => format!("({inner})"),
                7 => format!("(?P<n{groups}>{inner})"),
                8 => format!("(?={inner})"),
                9 => format!("(?!{inner})"),
                10 => format!("(?>{inner})"),
                11 if *groups > 0 => format!("\\{number}"),
                _ => format!("(?:{inner})"),
            };
            *groups += usize::from((5..=7).contains(&kind));
            (text, nullable || (8..=11).contains(&kind), false)
        };
        if !nullable && !is_condition && random.once_in(3) {
            let quantifier = random.pick(QUANTIFIERS);
            text.push_str(quantifier);
            nullable = !quantifier.starts_with(['+', '1', '2'])
                && !quantifier.starts_with("{1")
                && !quantifier.starts_with("{2");
        }
        whole.0.push_str(&text);
        whole.1 = if alternative {
            true
        } else {
            whole.1 && nullable
        };
    }
    whole
}

fn text(random: &mut Random) -> String {
    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "a", "b", "c", "a", "b", "ab", "é", "É", "\n", " ", "<", ">", "</a>", "_", "1", "A", "\r\n", "x", "-", "\u{301}", "\u{1c}", "²", "{", "}",
        ";", "]", "\u{200c}", "i", "K", "İ", "ı", "d", "e",
    ];
    random.text(PIECES, 8)
}

fn described(captures: &Captures) -> Value {
    let groups: serde_json::Map<String, Value> = captures
        .groups
        .iter()
        .map(|(name, range)| {
            let range = range.as_ref().map(|range| json!([range.start, range.end]));
            (name.to_string(), range.unwrap_or(Value::Null))
        })
        .collect();
    json!({"span": [captures.span.start, captures.span.end], "groups": groups})
}

/// `\N{...}` is refused, a pattern may refer to nothing within a look behind, and Python's later modules write octal escapes otherwise.
const OURS: &[&str] = &["\\N"];

fn check(cases: &[(String, Vec<String>)]) {
    let lines: Vec<String> = cases
        .iter()
        .map(|(pattern, texts)| {
            let texts: Vec<_> = texts.iter().map(|text| (text, 0)).collect();
            json!({"pattern": pattern, "module": "re", "texts": texts}).to_string()
        })
        .collect();
    let Some(answers) = crate::support::reference::ask("regex_pairs.py", &lines) else {
        return;
    };
    let (mut pairs, mut refused, mut limited, mut wrong) = (0, 0, 0, Vec::new());
    for ((source, texts), answer) in cases.iter().zip(&answers) {
        let answer: Value = serde_json::from_str(answer).expect("the reference writes JSON");
        let pattern = match (Pattern::re(source), answer.get("error")) {
            (Ok(pattern), None) => pattern,
            (Err(_), Some(_)) => {
                refused += 1;
                continue;
            }
            (Ok(_), Some(error)) => {
                wrong.push(format!(
                    "{source:?} is accepted; the reference says {error}"
                ));
                continue;
            }
            (Err(_), None) if OURS.iter().any(|ours| source.contains(ours)) => continue,
            (Err(error), None) => {
                wrong.push(format!("{source:?} is refused: {error}"));
                continue;
            }
        };
        assert_eq!(answer["names"], json!(pattern.group_names()), "{source:?}");
        for (text, expected) in texts
            .iter()
            .zip(answer["answers"].as_array().expect("a list"))
        {
            pairs += 1;
            let Ok(found) = pattern.search(text, 0) else {
                limited += 1;
                continue;
            };
            let ours = found.as_ref().map_or(Value::Null, described);
            let all: Result<Vec<Value>, _> = pattern
                .find_iter(text)
                .map(|found| found.map(|captures| described(&captures)))
                .collect();
            let all = json!(all.unwrap_or_default());
            if ours != expected["search"] || all != expected["finditer"] {
                wrong.push(format!(
                    "{source:?} ({:?}) on {text:?}: {ours}, {all}; the reference has {expected}",
                    pattern.engine()
                ));
            }
        }
    }
    eprintln!("{pairs} pairs, {refused} patterns refused by both, {limited} searches at a limit");
    let count = wrong.len();
    wrong.sort_by_key(String::len);
    wrong.truncate(12);
    assert!(
        count == 0,
        "{count} differ, among them\n{}",
        wrong.join("\n")
    );
    assert!(pairs > 0 && refused > 0 && limited == 0);
}

#[test]
fn what_re_takes_and_refuses_is_taken_and_refused() {
    let mut random = Random::new(31);
    let mut cases = Vec::new();
    for source in ODD.iter().chain(ATOMS) {
        for (before, after) in [
            ("", ""),
            ("(q)", ""),
            ("", "c"),
            ("(?:", ")"),
            ("a|", "|b"),
            ("(?i:", ")"),
        ] {
            let texts = (0..6).map(|_| text(&mut random)).collect();
            cases.push((format!("{before}{source}{after}"), texts));
        }
    }
    check(&cases);
}

#[test]
fn generated_patterns_find_what_re_finds() {
    let mut random = Random::new(32);
    let cases: Vec<_> = (0..2500)
        .map(|_| {
            let source = if random.once_in(20) {
                format!("{}{}", pattern(&mut random, 1, &mut 0).0, random.pick(ODD))
            } else {
                pattern(&mut random, 3, &mut 0).0
            };
            (source, (0..8).map(|_| text(&mut random)).collect())
        })
        .collect();
    check(&cases);
}

/// Classes that differ from those of `regex`, asked of every character that both know.
#[test]
fn classes_hold_the_characters_that_they_hold_in_re() {
    let classes = [
        "\\w",
        "\\W",
        "\\s",
        "\\S",
        "\\d",
        "[^\\W_]",
        "(?a)\\w",
        "(?a)\\s",
        "(?a)\\d",
        "[\\s\\d]",
        "(?i)i",
        "(?i)[k-s]",
    ];
    let ask = |class: &str| json!({"pattern": class, "module": "re", "classes": true}).to_string();
    let mut lines: Vec<String> = classes.iter().map(|class| ask(class)).collect();
    lines.push(json!({"assigned": true}).to_string());
    let Some(answers) = crate::support::reference::ask("regex_pairs.py", &lines) else {
        return;
    };
    let mut sets = answers.iter().map(|answer| {
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        serde_json::from_value::<Vec<(u32, u32)>>(answer["ranges"].clone()).expect("pairs")
    });
    let assigned = sets.next_back().expect("the last answer");
    let has = |ranges: &[(u32, u32)], c: char| {
        let at = ranges.partition_point(|(_, last)| *last < u32::from(c));
        ranges
            .get(at)
            .is_some_and(|(first, _)| *first <= u32::from(c))
    };
    for (class, ranges) in classes.iter().zip(sets) {
        let pattern = Pattern::re(class).expect("a pattern");
        let wrong: Vec<String> = assigned
            .iter()
            .flat_map(|(first, last)| (*first..=*last).filter_map(char::from_u32))
            .filter(|c| {
                let found = pattern
                    .search(c.encode_utf8(&mut [0; 4]), 0)
                    .expect("no limit");
                found.is_some() != has(&ranges, *c)
            })
            .map(|c| format!("{:x}", u32::from(c)))
            .collect();
        assert!(wrong.is_empty(), "{class}: {wrong:?}");
    }
}
