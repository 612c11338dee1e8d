//! Patterns against Python's `regex`: what is accepted, what is found, and that the way a text is cut changes nothing.
//!
//! `OBVERSE_SEED` and `OBVERSE_CASES` choose other generated patterns, and more of them.

#![allow(
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test says what it compared"
)]

use obverse::pattern::{Captures, MatchError, Pattern, Progress, Search, Window};
use serde_json::{Value, json};

/// A generator of numbers that a seed determines.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

struct Case {
    pattern: String,
    /// What the pattern is an alternation of, for patterns that are made of literals.
    literals: Option<Vec<String>>,
    texts: Vec<(String, usize)>,
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

#[rustfmt::skip]
const ATOMS: &[&str] = &[
    "a", "b", "c", "ab", "é", ".", "\\n", "\\w", "\\W", "\\s", "\\d", "[ab]", "[^a]", "[a-c_]", "[^\\W\\d]",
    "<", ">", "</a>", "\\b", "\\B", "^", "$", "\\A", "\\Z", "\\m", "\\M", "[[:alpha:]]", "\\p{L}", "\\x61", "{",
    "x", "[]a]", "[[a]", " ", "\\<", "\\R", "1",
];

const QUANTIFIERS: &[&str] = &[
    "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,2}", "{1,}", "{0,2}?", "{2,}?", "{0}",
];

/// A generated pattern.
struct Source {
    text: String,
    /// Whether it may match nothing.
    nullable: bool,
    captures: bool,
}

/// A pattern over all constructs; `plain` leaves out what needs backtracking.
///
/// No group that may match nothing is repeated: after an iteration that matched nothing, how `regex` goes on depends on
/// what it remembers of earlier failures, not on the pattern alone. And `(?i:...)` is left to the written patterns: beside it,
/// `regex` takes a negated set such as `[^a]` at the start of another alternative for one without case.
fn pattern(random: &mut Random, depth: usize, plain: bool, groups: &mut usize) -> Source {
    let mut whole = Source {
        text: String::new(),
        nullable: false,
        captures: false,
    };
    for at in 0..1 + random.below(3) {
        if at > 0 && random.below(4) == 0 {
            whole.text.push('|');
        }
        let kind = if depth == 0 {
            0
        } else {
            random.below(if plain { 9 } else { 16 })
        };
        let mut item = if kind <= 4 {
            let text = random.pick(ATOMS).to_owned();
            let nullable = ["^", "$"].contains(&text.as_str())
                || (text.len() == 2 && text.starts_with('\\') && "bBAZmM".contains(&text[1..]));
            Source {
                text,
                nullable,
                captures: false,
            }
        } else {
            let mut inner = pattern(random, depth - 1, plain, groups);
            let text = &inner.text;
            let numbered = 1 + random.below((*groups).max(1));
            inner.text = match kind {
                6 => format!("({text})"),
                7 => format!("({}{text})", random.pick(&["?P<x>", "?<y>", "?P<z>"])),
                8 => format!(
                    "{}{text})",
                    random.pick(&["(?m:", "(?-s:", "(?s:", "(?-m:"])
                ),
                9 => format!("(?={text})"),
                10 => format!("(?!{text})"),
                11 => format!("(?<={text})"),
                12 => format!("(?<!{text})"),
                13 => format!("(?>{text})"),
                14 if *groups > 0 => format!("\\{numbered}"),
                15 if *groups > 0 => format!("(?({numbered})a|{text})"),
                _ => format!("(?:{text})"),
            };
            *groups += usize::from(matches!(kind, 6 | 7));
            inner.captures |= matches!(kind, 6 | 7 | 14 | 15);
            inner.nullable |= (9..=12).contains(&kind) || kind == 14;
            inner
        };
        if !(item.nullable && item.captures) && random.below(3) == 0 {
            let quantifier = if plain || random.below(4) > 0 {
                random.pick(QUANTIFIERS)
            } else {
                random.pick(&["*+", "++", "?+", "{1,2}+"])
            };
            item.text.push_str(quantifier);
            item.nullable |= !quantifier.starts_with(['+', '1', '2'])
                && !quantifier.starts_with("{1")
                && !quantifier.starts_with("{2");
        }
        whole.text.push_str(&item.text);
        whole.nullable |= item.nullable;
        whole.captures |= item.captures;
    }
    whole
}

fn text(random: &mut Random) -> String {
    const PIECES: &[&str] = &[
        "a", "b", "c", "a", "b", "ab", "é", "É", "\n", " ", "<", ">", "</a>", "_", "1", "A",
        "\r\n", "x", "-", "\u{301}", "<a>", "<b>",
    ];
    (0..random.below(9)).map(|_| random.pick(PIECES)).collect()
}

fn texts(random: &mut Random, count: usize) -> Vec<(String, usize)> {
    (0..count)
        .map(|_| {
            let text = text(random);
            let pos = if random.below(3) == 0 {
                random.below(text.chars().count() + 1)
            } else {
                0
            };
            (text, pos)
        })
        .collect()
}

/// What `tests/reference/regex_pairs.py` writes for a match.
fn described(captures: &Captures) -> Value {
    let groups: serde_json::Map<String, Value> = captures
        .groups
        .iter()
        .map(|(name, range)| {
            (
                name.to_string(),
                range
                    .as_ref()
                    .map_or(Value::Null, |range| json!([range.start, range.end])),
            )
        })
        .collect();
    json!({"span": [captures.span.start, captures.span.end], "groups": groups})
}

/// Searches `text` cut at the byte offsets `cuts`, each window trimmed as far as it may be, and checks every hold.
fn in_chunks(
    pattern: &Pattern,
    text: &str,
    from: usize,
    cuts: &[usize],
    expected: Option<&Captures>,
) -> Result<Option<Captures>, MatchError> {
    let mut search = Search::new(pattern, from);
    let mut hold = from;
    for &cut in cuts {
        let mut start = hold
            .saturating_sub(pattern.lookbehind())
            .min(from.max(hold));
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let window = Window {
            text: &text[start..cut],
            start,
            complete: cut == text.len(),
        };
        match search.advance(&window)? {
            Progress::Found(captures) => return Ok(Some(captures)),
            Progress::Pending { hold: next } => {
                assert!(
                    next >= hold && next <= cut,
                    "{:?} on {text:?}: hold {next} after {hold}",
                    pattern.source()
                );
                assert!(
                    text.is_char_boundary(next),
                    "{:?} on {text:?}: hold {next}",
                    pattern.source()
                );
                if let Some(expected) = expected {
                    assert!(
                        next <= expected.span.start,
                        "{:?} on {text:?} cut at {cuts:?}: hold {next} passes {:?}",
                        pattern.source(),
                        expected.span
                    );
                }
                hold = next;
            }
        }
    }
    Ok(None)
}

/// The ends of all windows: at every character, or some of them, and always at the end.
fn cuts(random: &mut Random, text: &str, from: usize, every: bool) -> Vec<usize> {
    let mut cuts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .filter(|at| *at >= from && (every || random.below(3) == 0))
        .collect();
    cuts.push(text.len());
    cuts
}

fn check(cases: &[Case], random: &mut Random) {
    let lines: Vec<String> = cases
        .iter()
        .map(|case| json!({"pattern": case.pattern, "texts": case.texts}).to_string())
        .collect();
    let Some(answers) = crate::support::reference::ask("regex_pairs.py", &lines) else {
        return;
    };
    let (mut pairs, mut refused, mut limited, mut wrong) = (0, 0, 0, Vec::new());
    let mut engines = std::collections::BTreeMap::new();
    for (case, answer) in cases.iter().zip(&answers) {
        let answer: Value = serde_json::from_str(answer).expect("the reference writes JSON");
        let compiled = match &case.literals {
            Some(literals) => Pattern::literals(literals),
            None => Pattern::regex(&case.pattern),
        };
        let pattern = match (compiled, answer.get("error")) {
            (Ok(pattern), None) => pattern,
            (Err(_), Some(_)) => {
                refused += 1;
                continue;
            }
            (Ok(_), Some(error)) => {
                wrong.push(format!(
                    "{:?} is accepted; the reference says {error}",
                    case.pattern
                ));
                continue;
            }
            (Err(error), None) => {
                assert!(error.span.end <= case.pattern.len());
                wrong.push(format!("{:?} is refused: {error}", case.pattern));
                continue;
            }
        };
        if answer["names"] != json!(pattern.group_names()) {
            wrong.push(format!(
                "{:?}: names {} and {:?}",
                case.pattern,
                answer["names"],
                pattern.group_names()
            ));
        }
        *engines
            .entry(format!("{:?}", pattern.engine()))
            .or_insert(0) += 1;
        for ((text, pos), expected) in case
            .texts
            .iter()
            .zip(answer["answers"].as_array().expect("a list"))
        {
            if expected.is_null() {
                continue;
            }
            pairs += 1;
            let from = text
                .char_indices()
                .nth(*pos)
                .map_or(text.len(), |(at, _)| at);
            let found = match pattern.search(text, from) {
                Ok(found) => found,
                Err(_) => {
                    limited += 1;
                    continue;
                }
            };
            let place = format!(
                "{:?} ({:?}) on {text:?} from {from}",
                case.pattern,
                pattern.engine()
            );
            let ours = found.as_ref().map_or(Value::Null, described);
            if ours != expected["search"] {
                wrong.push(format!(
                    "{place}: {ours}; the reference has {}",
                    expected["search"]
                ));
                continue;
            }
            let all: Result<Vec<Value>, _> = pattern
                .find_iter(text)
                .map(|found| found.map(|captures| described(&captures)))
                .collect();
            if let Ok(all) = all
                && json!(all) != expected["finditer"]
            {
                wrong.push(format!(
                    "{place}, all: {}; the reference has {}",
                    json!(all),
                    expected["finditer"]
                ));
            }
            for every in [true, false, false] {
                let cuts = cuts(random, text, from, every);
                let chunked = in_chunks(&pattern, text, from, &cuts, found.as_ref());
                if chunked != Ok(found.clone()) {
                    wrong.push(format!(
                        "{place}, cut at {cuts:?}: {chunked:?} instead of {found:?}"
                    ));
                }
            }
        }
    }
    eprintln!(
        "{pairs} pairs by {engines:?}; {refused} patterns refused by both, {limited} searches limited"
    );
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    assert!(
        limited * 100 <= pairs,
        "{limited} of {pairs} searches met the limit on steps"
    );
}

#[test]
fn generated_patterns_match_as_in_the_reference() {
    let seed = setting("OBVERSE_SEED", 20_261_120);
    eprintln!("OBVERSE_SEED={seed}");
    let mut random = Random(seed | 1);
    let count = setting("OBVERSE_CASES", 3000);
    let cases: Vec<Case> = (0..count)
        .map(|at| {
            let mut pattern = pattern(&mut random, 3, at % 2 == 0, &mut 0).text;
            if random.below(10) == 0 {
                pattern.insert_str(0, random.pick(&["(?a)", "(?i)", "(?m)", "(?ai)"]));
            }
            Case {
                pattern,
                literals: None,
                texts: texts(&mut random, 6),
            }
        })
        .collect();
    check(&cases, &mut random);
}

/// A pattern as delimiters are: one simple step after the other, some of them optional, on an alphabet so small that one is
/// easily taken for another.
fn delimiter(random: &mut Random) -> String {
    const LITERALS: &[&str] = &["<a>", "</a>", "<a", "<", ">", "ab", "b", "<b>", "é"];
    const RUNS: &[&str] = &[
        "\\s*", "\\s+", "[ab]*", "[^<]+", "[^>\\s]+", "\\n?", "\\d{1,2}",
    ];
    let mut source = String::new();
    let mut groups = 0;
    for at in 0..1 + random.below(5) {
        match random.below(if at == 0 { 6 } else { 9 }) {
            0 | 1 => source.push_str(random.pick(LITERALS)),
            2 => {
                let (a, b) = (random.pick(LITERALS), random.pick(LITERALS));
                let group = random.pick(&["(?:", "(?P<a>", "(?:(?P<a>x)|"]);
                let group = if at == 0 { group } else { "(?:" };
                source.push_str(&format!("{group}{a}|{b})"));
            }
            3 => {
                let (literal, run) = (random.pick(LITERALS), random.pick(RUNS));
                let quantifier = random.pick(&["?", "?", "?", "?+", "??"]);
                source.push_str(&format!("(?:{literal}{run}){quantifier}"));
            }
            4 => {
                let (a, b) = (random.pick(LITERALS), random.pick(LITERALS));
                let run = random.pick(RUNS);
                source.push_str(&match random.below(5) {
                    0 => format!("(?:{a}(?:{a}|{b}))?"),
                    1 => format!("(?:{a}{run}|<(?:/[^>]*)?\\s*\\Z)?"),
                    2 => format!("(?:{a}|{b}{run}|\\Z)"),
                    3 => format!("(?:{a}(?:{b}{run})?{b}|{a})"),
                    _ => format!("(?:{a}(?:{b}{run}|{run}$)?|{b}\\Z)?"),
                });
            }
            5 | 6 => source.push_str(random.pick(RUNS)),
            7 => {
                groups += 1;
                let inner = random.pick(&[".*?", "[^>\\s]+", "[ab]*"]);
                source.push_str(&format!("(?P<g{groups}>{inner})"));
            }
            _ => source.push_str(&format!(".*?{}", random.pick(LITERALS))),
        }
    }
    source
}

#[test]
fn delimiters_match_as_in_the_reference() {
    let seed = setting("OBVERSE_SEED", 20_261_120);
    eprintln!("OBVERSE_SEED={seed}");
    let mut random = Random(seed | 1);
    let cases: Vec<Case> = (0..setting("OBVERSE_CASES", 3000))
        .map(|_| Case {
            pattern: delimiter(&mut random),
            literals: None,
            texts: texts(&mut random, 8),
        })
        .collect();
    check(&cases, &mut random);
}

/// Patterns that people write, and the corners of the syntax.
#[rustfmt::skip]
const WRITTEN: &[&str] = &[
    // Delimiters of response templates.
    "<\\|im_end\\|>", "<\\|im_end\\|>\\s*", "</think>\\s*", "<think>\\n?", "\\s*<think>\\s*",
    "<\\|im_end\\|>|$", "\\n?</a>|\\Z", "<a(?: x=\"(?P<x>[^\"]*)\")?>", "<(?P<x>\\w+)=(?P<y>[^>]+)>",
    "(?P<x>\\w+)\\s*[:=]\\s*(?P<y>.*?)(?:\\n|$)", "<think>(?=[\\s\\S]*?</think>)", "<a>(?=[\\s\\S]*</a>)",
    "(?<=</a>)\\s*", "(?<!<)a", "a(?!b)", "(?s).*?a", "[\\s\\S]*?a", "(?=a)",
    "<(?P<x>[a-c]+)>(?P<y>.*?)</(?P=x)>", "(?:<a>)?(?=\\S)", "\\A\\s*", "^", "$", "(?m)^a", "(?m)a$", "\\Z",
    "\\b", "", "\\[\\{\"name\": ", "{\"a\": ", "\\{\\s*\"(?P<x>a)\"", "(?P<x>a)|(?P<x>b)",
    "(?:(?P<x>a)|(?P<x>b))*",
    // Quantifiers and braces.
    "{", "a{", "a{}", "a{,}", "a{,2}", "a{1", "a{1,", "a{ 1}", "a{1 }", "a{x}", "}", "]", "a}", "*", "a**",
    "a*+", "a*?+", "a{2}{3}", "(?:a{2}){2}", "a{2,1}", "a{4294967295}", "{2}", "|*", "(*)", "(|a)+", "^*",
    "\\b+a", "(?:)*", "()*", "a{0}", "(?:a{1,1})*", "a{1,1}*", "(?P<x>a*)*", "(?P<x>a*)+", "(?P<x>a|b*)*",
    "(?P<x>a??)*", "(?:a|(?P<x>))*", "(?:|a)*", "(?:|a)+", "(?:a?)*?b", "(?:a?){3}",
    // Sets.
    "[]a]", "[^]a]", "[]", "[^]", "[a", "[[a]", "[a[]", "[a-\\d]", "[\\d-a]", "[a-]", "[-a]", "[b-a]", "[a-a]",
    "[\\b]", "[\\]]", "[[:alpha:]", "[[:alpha:]]", "[[:foo:]]", "[[:alpha]", "[:alpha:]", "[a&&b]", "[a||b]",
    "[a--b]", "[a~~b]", "[\\n\\t ]", "[.]", "[$^]", "[\\w-]", "[\\x61-\\x63]", "[\\1]", "[\\8]", "[^\\S\\n]",
    "[\\p{L}\\d]", "[[.a.]]", "[[=a=]]", "[(?#x)]",
    // Escapes.
    "\\", "\\e", "\\q", "\\_", "\\-", "\\/", "\\<", "\\é", "\\a", "\\f", "\\v", "\\r", "\\t", "\\0", "\\01",
    "\\08", "\\012", "\\141", "\\400", "\\777", "\\1", "(a)\\1", "(a)\\2", "(a\\1)", "(a)\\10", "\\8", "\\x6",
    "\\x61", "\\u0061", "\\u006", "\\U00000061", "\\U00110000", "\\ud800", "[\\ud800-\\ue000]", "\\N", "\\Na",
    "\\p", "\\p{", "\\p{foo}", "\\pL", "\\pX", "\\z", "\\H", "\\R", "\\g", "\\g<1>", "(a)\\g<1>",
    "(?P<x>a)\\g<x>", "\\g<x>", "[\\g]", "[\\A]", "[\\R]", "[\\w\\W]", "\\h", "[\\h]", "\\Ba", "\\ma", "a\\M",
    // Groups.
    "(", ")", "(a", "a)", "(?", "(?a", "(?:a", "(?P", "(?P<", "(?P<x", "(?P<x>", "(?P<>a)", "(?P<1>a)",
    "(?P<x y>a)", "(?<x>a)", "(?<é>a)", "(?<x-y>a)", "(?P=x)", "(?P<x>a)(?P=x)", "(?P<x>a)(?P=y)",
    "(?P<x>a(?P<x>b))", "(?P<x>a(?P=x))", "(?'x'a)", "(?#a)b", "(?#a", "a(?#b)*", "(?>a|ab)c", "(?>a*)a",
    "a++a", "a?+a", "(?|(a)|(b))\\1", "(?|(?P<x>a)|(?P<y>b))", "(?|(?P<x>a)|(b)(c))(?P<y>a)", "(?(1)a|b)",
    "(a)?(?(1)b|c)", "(?P<x>a)?(?(x)b|c)", "(?(x)a)", "(?(0)a)", "(a)(?(1)b|c|d)", "(?(?=a)a|b)", "(?(?!a)b|a)",
    "(?(?<=a)b|c)", "(?(?<!a)b|c)", "(?=a)(?!ab)", "(?<=a|bc)b", "(?<=(?P<x>a+))b", "(?<=(?P<x>a)+)b",
    "(?<=a.*)b", "(?<=(?=ab)a)b", "(?<=\\1(a))b", "(?=(?P<x>a))b?", "(?!(?P<x>a))", "(?=(?P<x>a+))(?P=x)", "(?=(?>a+)b)a", "(?!(?>a+?)b)a", "(?:a*bb)*?(?=c)", "(?=a*?b)[ab]*+",
    "(?<=^a)b", "(?<=\\ba)b", "(?<!^)a", "(*FAIL)", "(*F)", "a(*F)|b", "(*FOO)", "(*F", "(**)",
    // Flags.
    "(?i)A", "(?i:A)a", "a(?i)B", "(a(?i)B)C", "a(?i)|B", "(?i)a(?-i)B", "(?s-s)a", "(?-)a", "(?)a", "(?i",
    "(?z)", "(?m)^", "(?m:^)a|$", "(?-s).", "(?-s:.)", "(?s:.)", "(?x) a b # c", "(?x: a b )c",
    "(?x)a b(?-x) c", "(?x)[ a]", "(?x)a {2}", "(?x)a{ 2}", "(?x)\\ ", "(?x)( ?:a)", "(?x)(? :a)", "(?x)a#b\nc",
    "(?x)(?P<x> a )", "(?a)\\w", "(?a:\\w)", "(?u)\\w", "(?au)a", "(?i)É", "(?ai)É", "(?i)(?P<x>a)(?P=x)",
    "(?V0)[[a]", "(?b)a", "(?e)a", "(?i-b)a", "(?im)^A",
];

#[test]
fn written_patterns_match_as_in_the_reference() {
    let mut random = Random(setting("OBVERSE_SEED", 20_261_120) | 1);
    let fixed = [
        "",
        "a",
        "ab",
        "aab",
        "abab",
        "A",
        "aB",
        "abc",
        "b",
        "ba",
        "a b",
        "c",
        "é",
        "É",
        "\n",
        "a\n",
        "a\nb",
        "\r\n",
        "a\r\nb",
        "{",
        "a{}",
        "a{1",
        "<|im_end|>",
        "x<|im_end|>\n\n y",
        "<think>\nab</think>\n\nc",
        "<a>a</a> b",
        "<a x=\"a b\">",
        "<ab=c d>",
        "a: b\nc=d",
        "[{\"name\": ",
        "{\"a\": 1}",
        "{ \"a\"",
        "<b>a</b></a>",
        "<think>a",
        "  a",
        "[",
        "]",
        "-",
        "\\",
        "1",
        "_",
        "a1_é",
        "\u{8}",
        "aa",
        "aaaa",
        "g<1>",
        "N",
        "p{",
        "*",
        "}",
        "a {2}",
        "aca",
        "abb",
        "bb",
        "abbbc",
    ];
    let cases: Vec<Case> = WRITTEN
        .iter()
        .map(|pattern| {
            let mut texts: Vec<(String, usize)> =
                fixed.iter().map(|text| ((*text).to_owned(), 0)).collect();
            texts.extend(self::texts(&mut random, 40));
            Case {
                pattern: (*pattern).to_owned(),
                literals: None,
                texts,
            }
        })
        .collect();
    check(&cases, &mut random);
}

#[test]
fn literals_match_as_their_alternation_in_the_reference() {
    const PIECES: &[&str] = &[
        "<", "a", "b", "</", ">", "é", "|", "\\", "\n", "[", "{1}", "aa", "ab", "à",
    ];
    let mut random = Random(setting("OBVERSE_SEED", 20_261_120) | 1);
    let cases: Vec<Case> = (0..600)
        .map(|_| {
            let mut of_pieces =
                |count: usize| -> String { (0..count).map(|_| random.pick(PIECES)).collect() };
            let literals: Vec<String> =
                [1, 2, 1, 3].iter().map(|count| of_pieces(*count)).collect();
            let mut texts: Vec<(String, usize)> = (0..8).map(|at| (of_pieces(2 * at), 0)).collect();
            for (at, (text, pos)) in texts.iter_mut().enumerate() {
                text.insert_str(0, literals[at % literals.len()].trim_end_matches('>'));
                *pos = at % 2;
            }
            let pattern = Pattern::literals(&literals).expect("no literal is empty");
            assert_eq!(pattern.as_literals(), Some(&literals[..]));
            Case {
                pattern: pattern.source().to_owned(),
                literals: Some(literals),
                texts,
            }
        })
        .collect();
    check(&cases, &mut random);
}

/// Where we differ on purpose, with both answers: the module's documentation gives the reasons.
#[test]
fn the_differences_from_the_reference_are_these() {
    let cases = [
        // A set of another alternative taken for one without case.
        ("[^a]|1|(?i:b)", "A", Some(0..1), None, Value::Null),
        // A set taken for the same one under another flag.
        (
            "(?a:[^\\W\\d]x)?[^\\W\\d]",
            "é",
            Some(0..2),
            None,
            Value::Null,
        ),
        // A group repeated after it matched nothing.
        (
            "(?P<y>\\n*?){,2}x",
            "\nx",
            Some(0..2),
            Some(0..1),
            json!({"span": [0, 2], "groups": {"y": [1, 1]}}),
        ),
    ];
    let lines: Vec<String> = cases
        .iter()
        .map(|(pattern, text, ..)| json!({"pattern": pattern, "texts": [(text, 0)]}).to_string())
        .collect();
    let Some(answers) = crate::support::reference::ask("regex_pairs.py", &lines) else {
        return;
    };
    for ((pattern, text, span, group, theirs), answer) in cases.iter().zip(&answers) {
        let answer: Value = serde_json::from_str(answer).expect("the reference writes JSON");
        assert_eq!(
            &answer["answers"][0]["search"], theirs,
            "{pattern}: the reference has changed"
        );
        let found = Pattern::regex(pattern)
            .expect("a pattern")
            .search(text, 0)
            .expect("no limit");
        assert_eq!(
            found.as_ref().map(|found| &found.span),
            span.as_ref(),
            "{pattern}"
        );
        assert_eq!(
            found.and_then(|found| found.group("y")),
            *group,
            "{pattern}"
        );
    }
}
