//! One answer however a text is cut, over grammars with everything in them.

use super::super::build::*;
use super::*;
use crate::value::Value;

fn grammar(expr: Expr) -> Grammar {
    Grammar::build(expr).unwrap_or_else(|error| panic!("{error}"))
}

/// The outcome of a text, all of it that may not depend on how the text is cut.
#[derive(Debug, PartialEq)]
struct Outcome {
    status: Result<Status, LimitError>,
    tree: Value,
    failure: Failure,
    steps: u64,
}

fn outcome(grammar: &Grammar, pieces: &[&[u8]], options: Options) -> Outcome {
    let text = pieces.concat();
    let mut parser = Parser::with_options(grammar, options);
    for piece in pieces {
        // The error comes again at the end.
        let _ = parser.feed(piece);
    }
    Outcome {
        status: parser.finish(),
        tree: parser.tree().to_value(&text),
        failure: parser.failure(),
        steps: parser.steps(),
    }
}

fn same_for_every_cut(grammar: &Grammar, text: &[u8], options: Options) -> Outcome {
    let whole = outcome(grammar, &[text], options);
    let bytes: Vec<&[u8]> = text.chunks(1).collect();
    assert_eq!(
        outcome(grammar, &bytes, options),
        whole,
        "{grammar} byte by byte"
    );
    for at in 1..text.len() {
        let (before, behind) = text.split_at(at);
        let cut = outcome(grammar, &[before, behind], options);
        assert_eq!(cut, whole, "{grammar} cut at {at}");
    }
    whole
}

/// Grammars in which everything occurs, with texts for them.
fn grammars() -> Vec<(Grammar, Vec<&'static [u8]>)> {
    let nested = rule(
        "value",
        chars("[0-9]", 1, None) | ("[" + reference("value") + "]"),
    );
    let call = "<call>"
        + tag("name", chars("[a-zé]", 1, None))
        + peek(literal("("))
        + "("
        + tag("arguments", json())
        + ")</call>";
    vec![
        (
            grammar(
                optional("<t>" + tag("thought", until("</t>")) + "</t>")
                    + tag("content", until_one_of(["<call>", "<end>"]))
                    + zero_or_more(rule("call", call) + space())
                    + optional(literal("<end>"))
                    + end(),
            ),
            vec![
                b"",
                "<t>Grübeln</t>Hallo <call>füé({\"a\": [1, 2.5e3, null]})</call> \n".as_bytes(),
                "<t>Grübeln</t>Hallo <call>fé({\"a\": [1, 2.5e3, null]})</call> \n<end>".as_bytes(),
                b"<t>never closed <call>",
                b"text with <cal",
                b"text with <call>x(\"\\u00e9 \\",
                b"text with <call>x(1.)</call>",
                b"a\xF0\x9F\x98 b\xFF<end>",
                "<t></t><t></t>".as_bytes(),
            ],
        ),
        (
            grammar(nested.clone() + (end() | ("!" + rest()))),
            vec![b"[[12]]", b"[[1]", b"[a]", b"1!\xE4\xB8", b"12!", b"["],
        ),
        (
            grammar(zero_or_more(literal("ab") | "a" | ("b" + cut() + "c")) + rest()),
            vec![b"abaabbc", b"abb", b"aab\xC3", b"abcabc"],
        ),
        (
            grammar(
                repeat(tag("x", any()), 2, 4)
                    + !literal("z")
                    + start_or(string_content('\''))
                    + "'",
            ),
            vec![
                "éab'".as_bytes(),
                "aéz'".as_bytes(),
                b"ab\\'c'",
                b"abcd\\q'",
                "ab\\é'".as_bytes(),
            ],
        ),
        (
            grammar(
                atomic(tag(
                    "a",
                    literal("abc") + tag("b", until("abcabd")) + "abcabd",
                )) | rest(),
            ),
            vec![b"abcabcabcabd", b"abcabcabcab", b"abc"],
        ),
        (
            grammar(python() + end()),
            vec![
                "{'a': [1, -2.5, True], \"b\": 'it\\'s', 'c': (None, ), 'é': {}}".as_bytes(),
                b"Nonesuch",
                b"[True, False,]",
            ],
        ),
    ]
}

fn start_or(expr: Expr) -> Expr {
    (start() + "never") | expr
}

#[test]
fn one_answer_for_every_cut() {
    let with_rules = Options {
        rules: true,
        ..Options::default()
    };
    for (grammar, texts) in grammars() {
        for text in texts {
            same_for_every_cut(&grammar, text, Options::default());
            same_for_every_cut(&grammar, text, with_rules);
        }
    }
}

#[test]
fn limits_are_reached_at_the_same_byte_for_every_cut() {
    let cases = [
        (
            Limits {
                depth: 20,
                ..Limits::default()
            },
            "depth",
        ),
        (
            Limits {
                steps: 40,
                steps_per_byte: 2,
                ..Limits::default()
            },
            "steps",
        ),
        (
            Limits {
                nodes: 3,
                ..Limits::default()
            },
            "nodes",
        ),
    ];
    let value = rule(
        "value",
        tag(
            "v",
            chars("[0-9]", 1, None) | ("[" + reference("value") + "]"),
        ),
    );
    let grammar = grammar(value + end());
    for (limits, name) in cases {
        let options = Options {
            limits,
            rules: false,
        };
        let outcome = same_for_every_cut(&grammar, b"[[[[[[[[[[1]]]]]]]]]]", options);
        let error = outcome.status.expect_err("a limit").to_string();
        assert!(
            error.contains(&format!("({name})")) || error.contains(name),
            "{error}"
        );
    }
}

#[test]
fn text_is_kept_from_the_oldest_place_to_go_back_to() {
    let block = "<t>" + until("</t>") + "</t>";
    let held = |grammar: &Grammar| {
        let mut parser = Parser::new(grammar);
        parser.feed(b"<t>").expect("no limit");
        for _ in 0..1000 {
            parser.feed(b"0123456789").expect("no limit");
        }
        parser.held()
    };
    let open = grammar(optional(block.clone()) + rest());
    assert_eq!(held(&open), 10_003, "the block may yet be none");
    let decided = grammar(optional("<t>" + cut() + until("</t>") + "</t>") + rest());
    assert!(held(&decided) < 10, "a cut lets it go");
    assert!(
        held(&grammar(block)) < 10,
        "there is no other way to read it"
    );
}

#[test]
fn too_much_to_keep_is_an_error() {
    let grammar = grammar(optional("<t>" + until("</t>") + "</t>") + rest());
    let limits = Limits {
        held_bytes: 100,
        ..Limits::default()
    };
    let mut parser = Parser::with_options(
        &grammar,
        Options {
            limits,
            rules: false,
        },
    );
    parser.feed(b"<t>").expect("little is kept");
    let error = parser.feed(&[b'x'; 200]).expect_err("too much is kept");
    assert_eq!(error, LimitError::Held { limit: 100 });
    assert_eq!(parser.feed(b"x"), Err(error), "it stays");
}

#[test]
fn a_grammar_that_tries_everything_ends_at_a_limit() {
    // Each level reads the rest of the text twice: 2^n steps.
    let rule = rule(
        "a",
        ("x" + reference("a") + "y") | ("x" + reference("a") + "z") | "x",
    );
    let grammar = grammar(rule + end());
    let text = vec![b'x'; 64];
    let error = grammar.read(&text).expect_err("too many steps");
    assert!(matches!(error, LimitError::Steps { .. }), "{error}");
}

#[test]
fn depth_is_memory_and_not_the_stack() {
    let value = rule("value", ("[" + optional(reference("value")) + "]") | "1");
    let grammar = grammar(value + end());
    let limits = Limits {
        depth: 10_000_000,
        ..Limits::default()
    };
    let deep = 200_000;
    let text = "[".repeat(deep) + &"]".repeat(deep);
    let mut parser = Parser::with_options(
        &grammar,
        Options {
            limits,
            rules: true,
        },
    );
    parser.feed(text.as_bytes()).expect("no limit");
    assert!(parser.finish().expect("no limit").is_match());
    assert_eq!(parser.tree().nodes().count(), deep);
}

#[test]
fn steps_over_all_chunks_are_those_over_the_whole() {
    let grammar = grammar(
        "<t>" + tag("t", until("</t>")) + "</t>" + one_or_more(tag("j", json()) + space()) + end(),
    );
    let mut text = String::from("<t>");
    text += &"thinking about < and </ ".repeat(200);
    text += "</t>";
    text += &r#"{"a": [1, 2, {"b": "c\n"}], "d": 1.5} "#.repeat(200);
    let whole = grammar.read(&text).expect("no limit");
    assert!(whole.status().is_match());
    let mut parser = Parser::new(&grammar);
    for piece in text.as_bytes().chunks(1) {
        parser.feed(piece).expect("no limit");
    }
    parser.finish().expect("no limit");
    assert_eq!(parser.steps(), whole.steps());
    assert!(
        whole.steps() < 12 * text.len() as u64,
        "{} steps",
        whole.steps()
    );
}

#[test]
fn a_failure_names_the_furthest_place() {
    let weather = "<call>" + (literal("get_weather") | "get_time") + ">";
    let grammar = grammar(until("<call>") + optional(rule("call", weather)) + end());
    let parser = grammar.read("Hi <call>get_money>").expect("no limit");
    assert_eq!(parser.status(), Status::NoMatch);
    let failure = parser.failure();
    assert_eq!(failure.at, 9);
    let expected = failure.expectations(&grammar);
    let what: Vec<&str> = expected.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(what, ["\"get_weather\"", "\"get_time\""]);
    assert_eq!(expected[0].rules, ["call"]);
}

#[test]
fn a_cut_takes_the_other_alternatives_away() {
    let with = grammar(("a" + cut() + "b") | literal("ac") | "d");
    let without = grammar(("a" + literal("b")) | "ac" | "d");
    for (text, has, had) in [("ab", true, true), ("ac", false, true), ("d", true, true)] {
        assert_eq!(with.matches(text), has, "{text}");
        assert_eq!(without.matches(text), had, "{text}");
    }
    // Of a repetition the repeats before stay, and one that has begun must end.
    let list = grammar(zero_or_more("a" + cut() + "b") + rest());
    assert!(list.matches("ababx"));
    assert!(!list.matches("abac"));
    // It decides for the innermost choice only.
    let inner = grammar((("a" + optional("b" + cut() + "c")) + "d") | literal("abx"));
    assert!(inner.matches("abx"));
}

#[test]
fn what_is_atomic_is_shown_when_it_is_whole() {
    let grammar = grammar(tag(
        "call",
        atomic(tag("open", literal("<f=") + tag("name", until(">")) + ">")) + rest(),
    ));
    let mut parser = Parser::new(&grammar);
    parser.feed(b"<f=ad").expect("no limit");
    let tags = |parser: &Parser| -> Vec<String> {
        let nodes = parser.tree().nodes();
        nodes
            .filter_map(|node| node.tag().map(str::to_owned))
            .collect()
    };
    assert_eq!(tags(&parser), ["call"]);
    parser.feed(b"d>x").expect("no limit");
    assert_eq!(tags(&parser), ["call", "open", "name"]);
}

#[test]
fn as_it_stands_leaves_the_parser_as_it_was() {
    let grammar = grammar("hello" + optional(literal(" world")));
    let mut parser = Parser::new(&grammar);
    assert_eq!(parser.feed(b"hello "), Ok(Status::NeedsMore));
    let ended = parser.as_it_stands().expect("no limit");
    assert_eq!(ended.status(), Status::Match { end: 5 });
    assert_eq!(parser.feed(b"world"), Ok(Status::Match { end: 11 }));
}

mod random {
    use proptest::prelude::{Just, Strategy, prop, prop_assert_eq, prop_oneof, proptest};
    use proptest::prelude::{ProptestConfig, any as anything};

    use super::*;

    /// Grammars of a few letters, so that texts of these letters get far in them.
    fn expressions() -> impl Strategy<Value = Expr> {
        let leaf = prop_oneof![
            Just(eps()),
            Just(end()),
            Just(any()),
            Just(space()),
            Just(rest()),
            "[abé ]{1,3}".prop_map(literal),
            Just(chars("[aé]", 1, 2)),
            Just(chars("[^b]", 0, None)),
            "[abé]{1,3}".prop_map(until),
            ("[ab]{1,2}", "[abé]{1,3}").prop_map(|(one, other)| until_one_of([one, other])),
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let several = || prop::collection::vec(inner.clone(), 1..4);
            prop_oneof![
                several().prop_map(sequence),
                several().prop_map(choice),
                inner.clone().prop_map(optional),
                inner.clone().prop_map(|of| zero_or_more(any() + of)),
                (inner.clone(), 1..3_u32).prop_map(|(of, max)| repeat("a" + of, 1, max + 1)),
                inner.clone().prop_map(peek),
                inner.clone().prop_map(negate),
                inner.clone().prop_map(atomic),
                inner.clone().prop_map(|of| tag("t", of)),
                inner.clone().prop_map(|of| sequence([of, cut()])),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn one_answer_for_every_cut(expr in expressions(), text in "[abé ]{0,10}", bad in anything::<Option<u8>>()) {
            let mut text = text.into_bytes();
            text.extend(bad);
            same_for_every_cut(&grammar(expr), &text, Options::default());
        }

        /// Anything that is decided before the end stays so at the end.
        #[test]
        fn what_is_decided_stays(expr in expressions(), text in "[abé ]{0,10}", more in "[abé ]{0,4}") {
            let grammar = grammar(expr);
            let mut parser = Parser::new(&grammar);
            let early = parser.feed(text.as_bytes()).expect("no limit");
            if early != Status::NeedsMore {
                let whole = grammar.read(text + &more).expect("no limit");
                prop_assert_eq!(whole.status(), early);
            }
        }
    }
}
