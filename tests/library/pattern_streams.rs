//! What a search says while text arrives: how much it holds back, and that hostile patterns end.

use std::time::{Duration, Instant};

use obverse::pattern::{MatchError, Matcher, Pattern, Progress, Search, Window};

fn regex(source: &str) -> Pattern {
    Pattern::regex(source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// What the search says when `text` has arrived, character by character, and more may follow.
fn after(pattern: &Pattern, text: &str) -> Progress {
    let mut search = Search::new(pattern, 0);
    let mut last = Progress::Pending { hold: 0 };
    for (at, c) in text.char_indices() {
        let window = Window {
            text: &text[..at + c.len_utf8()],
            start: 0,
            complete: false,
        };
        last = search.advance(&window).expect("no limit is met");
        if let Progress::Found(_) = last {
            break;
        }
    }
    last
}

#[test]
fn no_more_is_held_than_may_begin_a_match() {
    let cases = [
        ("abc", "xxx", 3),
        ("abc", "xxab", 2),
        ("abc", "xaab", 2),
        ("</think>", "a < b </th", 6),
        (r"</think>\s*", "Hm.</think>", 3),
        (r"</think>\s*", "Hm.</think>\n", 3),
        (r"\s*</think>", "Hm. \n", 3),
        (r"\s*</think>", "Hm. x", 5),
        ("a|$", "xx", 2),
        ("a|$", "xx\n", 2),
        ("a|$", "xx\n\n", 3),
        ("<a>|$", "x<\n", 2),
        ("<a>|<$", "x<\n", 1),
        ("<(?:$)a", "x<\n", 3),
        (r"a|\Z", "xx\n", 3),
        ("a?b", "xa", 1),
        (r"foo\b", "foo", 0),
        (r"\bfoo", "xfo", 3),
        (r"\bfoo", " fo", 1),
        ("(?:abcd|b)", "ab", 0),
        ("(?i)</THINK>", "x</th", 1),
        ("é+", "xé", 1),
        // Backtracking.
        (r"<think>(?=[\s\S]*?</think>)", "a<b", 3),
        (r"<think>(?=[\s\S]*?</think>)", "a<thin", 1),
        (r"<think>(?=[\s\S]*?</think>)", "a<think>b", 1),
        ("foo(?!bar)", "xfoob", 1),
        ("foo(?!bar)", "xfobar", 6),
        (r"(?<=\n)a", "xa\n", 3),
        (r"<(?P<n>\w+)>.*?</(?P=n)>", "x<a>b</b>", 1),
        ("(?>a+)b", "xaa", 1),
        ("(?>a+)b", "xaac", 4),
    ];
    for (source, text, hold) in cases {
        assert_eq!(
            after(&regex(source), text),
            Progress::Pending { hold },
            "{source} on {text:?}"
        );
    }
}

#[test]
fn a_match_is_found_as_soon_as_nothing_can_change_it() {
    let cases = [
        ("abc", "xabc", 1..4),
        ("</think>", "Hm.</think>", 3..11),
        (r"</think>\s*", "Hm.</think>\nY", 3..12),
        (r"(?:<s>\s*){0,2}<c>", "x<s>\n<s><c>", 1..11),
        (r"(?:<s>\s*){0,2}<c>", "x<s><s><s><c>", 4..13),
        (r"(?:<s>\s*){0,2}<c>", "x<s<c>", 3..6),
        (r"(?:<c>\s*){1,2}", "x<c>\n<c>y", 1..8),
        (r"(?:<c>\s*){1,2}", "x<c> <y", 1..5),
        ("</think>|$", "Hm.</think>", 3..11),
        ("a{2}", "xaa", 1..3),
        ("a+?", "xa", 1..2),
        ("(?:abcd|b)", "abx", 1..2),
        (r"foo\b", "foo ", 0..3),
        (r"<think>(?=[\s\S]*?</think>)", "a<think>b</think>", 1..8),
        (r"<think>(?=[\s\S]*</think>)", "a<think>b</think>", 1..8),
        ("foo(?!bar)", "xfoobaz", 1..4),
        (r"(?<=\n)a", "x\na", 2..3),
        (r"<(?P<n>\w+)>.*?</(?P=n)>", "x<a>b</a>", 1..9),
        ("(?>a+)b", "xaab", 1..4),
    ];
    for (source, text, span) in cases {
        match after(&regex(source), text) {
            Progress::Found(found) => assert_eq!(found.span, span, "{source} on {text:?}"),
            pending => panic!("{source} on {text:?}: {pending:?}"),
        }
    }
}

#[test]
fn the_longest_literal_waits_only_for_longer_ones() {
    let literals = |list: &[&str]| {
        Pattern::literals(
            &list
                .iter()
                .map(|literal| (*literal).to_owned())
                .collect::<Vec<_>>(),
        )
        .expect("literals")
    };
    let pattern = literals(&["<a>", "<a>\n", "b"]);
    assert_eq!(after(&pattern, "x<a>"), Progress::Pending { hold: 1 });
    assert!(matches!(after(&pattern, "x<a>\n"), Progress::Found(found) if found.span == (1..5)));
    assert!(matches!(after(&pattern, "x<a>x"), Progress::Found(found) if found.span == (1..4)));
    assert!(matches!(after(&pattern, "x<b"), Progress::Found(found) if found.span == (2..3)));
    assert!(Pattern::literals(&[]).is_err());
    assert!(Pattern::literals(&[String::new()]).is_err());
}

#[test]
fn the_engine_is_the_cheapest_that_can_do_it() {
    for (source, engine) in [
        (r"<\|im_end\|>", Matcher::Literal),
        (r"<\|im_end\|>\s*", Matcher::Automaton),
        ("a|$", Matcher::Automaton),
        ("(?i)ab", Matcher::Automaton),
        ("(a+)+$", Matcher::Automaton),
        ("(?:a*)*b", Matcher::Automaton),
        ("a(?=b)", Matcher::Backtracking),
        (r"(a)\1", Matcher::Backtracking),
        ("a*+b", Matcher::Backtracking),
    ] {
        assert_eq!(regex(source).engine(), engine, "{source}");
    }
}

#[test]
fn hostile_patterns_end() {
    let start = Instant::now();
    for (source, text) in [
        ("(a+)+$", "a".repeat(5000) + "b"),
        ("(x*)*y", "x".repeat(5000)),
        ("(?P<g>x*)*y", "x".repeat(5000)),
        ("(?:a|a)*$", "a".repeat(5000) + "b"),
        (r"(a*)*\1b", "a".repeat(5000)),
        (r"(?=(a+)+$)", "a".repeat(5000) + "b"),
        (r"(?:a|aa)+(?=b)c", "a".repeat(5000)),
        (r"[\s\S]*?(?=b)", "a".repeat(20_000)),
        (r"(.*)\1{3}x", "ab".repeat(3000)),
        (r"(?:[a-c]{1,100}){1,20}d", "abc".repeat(5000)),
        (r"\w{1,400}x", "é".repeat(20_000)),
    ] {
        let pattern = regex(source);
        let whole = pattern.search(&text, 0);
        let mut search = Search::new(&pattern, 0);
        let mut chunked = Ok(Progress::Pending { hold: 0 });
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let window = Window {
                text: &text[..end],
                start: 0,
                complete: end == text.len(),
            };
            chunked = search.advance(&window);
            if !matches!(chunked, Ok(Progress::Pending { .. })) {
                break;
            }
        }
        match (whole, chunked) {
            (Ok(None), Ok(Progress::Pending { .. })) => {}
            (Ok(Some(whole)), Ok(Progress::Found(chunked))) => {
                assert_eq!(whole, chunked, "{source}")
            }
            // A complete text may be searched within the limit where a growing one is not.
            (_, Err(MatchError::StepLimit { .. })) => {}
            (whole, chunked) => panic!("{source}: {whole:?} at once, {chunked:?} in chunks"),
        }
    }
    for source in [
        "(?:a{1000}){1000}",
        "(?:(?:a{1000}){1000}){1000}(?=b)",
        "(?:a{0}){4000000000}",
        "(?:a{0}){4000000000}(?=b)",
        "(?P<x>a{0}){4000000000}",
        "(?:^){4000000000}",
        "(?:(?:a?){4000}){4000}",
        r"(?:\w{100}){100}(?=\w{1000})",
    ] {
        let _ = Pattern::regex(source);
    }
    for source in [
        &"(".repeat(60_000),
        &"(?:".repeat(20_000),
        &"a*".repeat(50_000),
        &"[a".repeat(1000),
        &r"\w".repeat(30_000),
        &r"\p{L}".repeat(12_000),
    ] {
        assert!(Pattern::regex(source).is_err());
    }
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn what_is_not_supported_is_refused_by_name_and_place() {
    for (source, span, named) in [
        ("a(?:b){e<=1}", 6..12, "fuzzy"),
        ("a{e}", 1..4, "fuzzy"),
        ("a(?R)", 1..5, "recursion"),
        ("(a)(?1)", 3..7, "recursion"),
        ("(?P<x>a)(?&x)", 8..13, "recursion"),
        (r"a\L<x>", 1..3, "named list"),
        (r"\Ga", 0..2, "search anchor"),
        (r"a\K", 1..3, r"\K"),
        (r"\X", 0..2, "grapheme"),
        (r"\N{DIGIT ONE}", 0..13, "name"),
        ("(?V1)a", 2..4, "V1"),
        ("(?r)a", 2..3, "`r`"),
        ("a(*SKIP)", 1..7, "SKIP"),
        (r"\p{InGreek}", 0..11, "InGreek"),
        ("a{2,1}", 2..5, "repetitions"),
        ("(a", 2..2, "`)` is missing"),
        ("a)", 1..2, "parenthesis"),
        ("[a", 0..2, "set"),
        ("+", 0..1, "repeat"),
    ] {
        let error = Pattern::regex(source).expect_err(source);
        assert!(error.message.contains(named), "{source}: {error}");
        assert_eq!(error.span, span, "{source}: {error}");
    }
}

#[test]
fn the_deepest_patterns_need_little_stack() {
    let deep = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(95), close.repeat(95))
    };
    let sources = [
        deep("(?:", "a", ")*"),
        deep("(", "a", ")?"),
        deep("(?P<x>", "a", ")"),
        deep("(?=", "a", ")"),
        deep("(?>a?", "a", ")"),
        deep("(?(?=a)", "a", "|b)"),
        deep("(?|a|", "a", ")"),
        deep("(?i:a|", "a", "){1,}"),
        deep("(?<!", "b", ")"),
    ];
    let run = move || {
        for source in &sources {
            let pattern = regex(source);
            assert!(pattern.search("aab", 0).is_ok(), "{source}");
        }
    };
    let thread = std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(run)
        .expect("a thread");
    thread.join().expect("the stack is enough");
}
