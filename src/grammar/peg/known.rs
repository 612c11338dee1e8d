//! The expressions of the values that every grammar knows.

use super::build::{
    Expr, chars, choice, end, literal, negate, optional, peek, reference, sequence, space,
    string_content, zero_or_more,
};
use super::builtin::Builtin;

/// The rule's expression, in which the others are referred to by their rules.
pub(super) fn expression(value: Builtin) -> Expr {
    let rule = |value: Builtin| reference(value.rule());
    match value {
        Builtin::Json => choice([
            rule(Builtin::JsonObject),
            rule(Builtin::JsonArray),
            rule(Builtin::JsonString),
            rule(Builtin::JsonNumber),
            rule(Builtin::JsonBool),
            rule(Builtin::JsonNull),
        ]),
        Builtin::JsonObject => {
            let value = rule(Builtin::JsonString) << ":" << rule(Builtin::Json);
            list("{", value, "}", false)
        }
        Builtin::JsonArray => list("[", rule(Builtin::Json), "]", false),
        Builtin::JsonString => "\"" + string_content('"') + "\"",
        Builtin::JsonNumber => number(),
        Builtin::JsonBool => literal("true") | "false",
        Builtin::JsonNull => literal("null"),
        Builtin::Python => choice([
            rule(Builtin::PythonDict),
            rule(Builtin::PythonList),
            rule(Builtin::PythonString),
            rule(Builtin::PythonNumber),
            rule(Builtin::PythonBool),
            rule(Builtin::PythonNone),
        ]),
        Builtin::PythonDict => {
            let value = rule(Builtin::PythonString) << ":" << rule(Builtin::Python);
            list("{", value, "}", true)
        }
        Builtin::PythonList => {
            list("[", rule(Builtin::Python), "]", true)
                | list("(", rule(Builtin::Python), ")", true)
        }
        Builtin::PythonString => python_string('\'') | python_string('"'),
        Builtin::PythonNumber => number(),
        Builtin::PythonBool => word("True") | word("False"),
        Builtin::PythonNone => word("None"),
    }
}

/// Items between brackets, with commas between them and white space wherever it may stand; Python allows a comma behind the last.
fn list(open: &str, item: Expr, close: &str, comma: bool) -> Expr {
    let more = zero_or_more(sequence([space(), literal(","), space(), item.clone()]));
    let last = match comma {
        true => vec![space(), optional(literal(",")), space()],
        false => vec![space()],
    };
    let items = sequence([item, more]) + sequence(last) + close;
    literal(open) << (literal(close) | items)
}

/// A number that does not go on: `3` is none while `3.14` may be under way.
fn number() -> Expr {
    let digits = || chars("[0-9]", 1, None);
    let whole = literal("0") | (chars("[1-9]", 1, 1) + chars("[0-9]", 0, None));
    let exponent = sequence([chars("[eE]", 1, 1), optional(chars("[+-]", 1, 1)), digits()]);
    sequence([
        optional(literal("-")),
        whole,
        optional("." + digits()),
        optional(exponent),
        negate(chars("[0-9.eE+-]", 1, 1)),
    ])
}

/// A word that does not go on.
fn word(text: &str) -> Expr {
    literal(text) + (end() | peek(chars("[^0-9A-Za-z_]", 1, 1)))
}

/// A string as Python's `repr` writes it: a backslash takes whatever follows it.
fn python_string(quote: char) -> Expr {
    let plain = chars(format!("[^\\\\{quote}]"), 1, None);
    let escaped = "\\" + super::build::any();
    literal(quote.to_string()) + zero_or_more(plain | escaped) + literal(quote.to_string())
}
