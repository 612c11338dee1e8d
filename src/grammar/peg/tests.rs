//! Tests of what is refused when a grammar is built, and of how grammars print.

use super::build::*;
use super::*;

fn refused(expr: Expr) -> String {
    match Grammar::build(expr) {
        Ok(grammar) => panic!("not refused:\n{grammar}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn mistakes_are_found_when_a_grammar_is_built() {
    let cases = [
        (
            rule("a", reference("b") + "x"),
            "rule `a` refers to `b`, and there is no such rule",
        ),
        (
            reference("a"),
            "rule `root` refers to `a`, and there is no such rule",
        ),
        (rule("a", reference("a") + "x"), "left recursion: a → a"),
        (
            rule(
                "a",
                (space()
                    + rule(
                        "b",
                        peek(literal("x")) + rule("c", optional(reference("a")) + "x"),
                    ))
                    | "y",
            ),
            "left recursion: a → b → c → a",
        ),
        (
            rule("list", zero_or_more(space() | "x")),
            "rule `list` repeats what may match nothing: space / \"x\"",
        ),
        (
            rule("a", repeat(optional(literal("x")), 2, 3)),
            "rule `a` repeats what may match nothing: \"x\"?",
        ),
        (
            rule("a", repeat(any(), 3, 2)),
            "rule `a` repeats at least 3 and at most 2 times",
        ),
        (
            rule("a", chars("a-z", 3, 2)),
            "rule `a` repeats at least 3 and at most 2 times",
        ),
        (
            rule("a", chars("[z-a]", 1, None)),
            "rule `a` has the class \"[z-a]\": the range 'z' to 'a' runs backwards",
        ),
        (
            rule("a", until("")),
            "rule `a` reads until an empty delimiter, which stands everywhere",
        ),
        (
            rule("a", choice([])),
            "rule `a` has a choice between no alternatives, which never matches",
        ),
        (
            rule("a", literal("x")) + rule("a", literal("y")),
            "rule `a` is defined twice, and not alike",
        ),
        (
            (0..300).fold(literal("x"), |of, at| rule(format!("r{at}"), of)),
            "rule `r99` nests deeper than 100; rules of its own for what lies inside make it flat",
        ),
        (
            (0..200).fold(literal("x"), |of, _| peek(of)),
            "rule `root` nests deeper than 100; rules of its own for what lies inside make it flat",
        ),
    ];
    for (expr, expected) in cases {
        assert_eq!(refused(expr), expected);
    }
}

#[test]
fn what_is_no_mistake_is_built() {
    let fine = [
        rule("a", literal("x")) + rule("a", literal("x")),
        // Right recursion, and recursion behind something.
        rule("a", "x" + optional(reference("a"))),
        rule("a", ("(" + reference("a") + ")") | "x"),
        // At most once nothing does no harm.
        optional(space()),
        repeat(space(), 1, 1),
        (0..150).fold(literal("x"), |of, at| rule(format!("r{at}"), of)),
    ];
    for expr in fine {
        Grammar::build(expr).unwrap_or_else(|error| panic!("{error}"));
    }
    // A chain of rules as long as one likes.
    let next = |at: usize| (format!("r{at}").into(), reference(format!("r{}", at + 1)));
    let rules = (0..20_000)
        .map(next)
        .chain([("r20000".into(), literal("x"))]);
    let chained = Grammar::with_rules(reference("r0"), rules).expect("a grammar");
    assert!(chained.matches("x"));
}

#[test]
fn grammars_print_as_they_are_read() {
    let cases = [
        (("a" + literal("b")) | "c", "\"a\" \"b\" / \"c\""),
        ((literal("a") | "b") + "c", "(\"a\" / \"b\") \"c\""),
        (zero_or_more(literal("a") | "b"), "(\"a\" / \"b\")*"),
        (one_or_more("a" + literal("b")), "(\"a\" \"b\")+"),
        (
            repeat(literal("a"), 2, 3) + repeat(any(), 2, None) + repeat_exactly(any(), 4),
            "\"a\"{2,3} any{2,} any{4}",
        ),
        (zero_or_more(chars("a-z", 1, 1)), "[a-z]*"),
        (zero_or_more(chars("a-z", 1, None)), "([a-z]+)*"),
        (optional(one_or_more(any())), "(any+)?"),
        (
            !(literal("a") | "b") + peek(one_or_more(any())),
            "!(\"a\" / \"b\") &(any+)",
        ),
        (
            until_one_of(["\n", "\""]) + rest(),
            r#"until("\n", "\"") rest"#,
        ),
        (
            string_content('\'') + json_string_content(),
            "string_content('\\'') json_string_content",
        ),
        (
            atomic(tag("a", eps())) + cut() + start() + end(),
            "atomic(@a(eps)) cut start end",
        ),
        (
            schema(json(), "s", crate::value::Value::Null, false),
            "schema[s](json)",
        ),
        ("a" << literal("b"), "\"a\" space \"b\""),
        (
            json_member("k\"", json()),
            r#""\"k\\\"\"" space ":" space json"#,
        ),
    ];
    for (expr, expected) in cases {
        let grammar = Grammar::build(expr).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(grammar.to_string(), format!("root ← {expected}\n"));
    }
    let grammar = Grammar::build(trigger_rule("t", literal("a"))).expect("a grammar");
    assert_eq!(grammar.to_string(), "root ← t\nt ⇐ \"a\"\n");
}

#[test]
fn a_rule_of_ones_own_takes_the_place_of_one_that_every_grammar_knows() {
    let single = "'" + string_content('\'') + "'";
    let double = "\"" + string_content('"') + "\"";
    let own = Grammar::with_rules(json() + end(), [("json-string".into(), double | single)]);
    let own = own.expect("a grammar");
    for (text, has) in [("{'name': \"test\"}", true), ("[']", false), ("{}", true)] {
        assert_eq!(own.matches(text), has, "{text}");
    }
    assert!(
        !Grammar::build(json())
            .expect("a grammar")
            .matches("{'name': 1}")
    );
}
