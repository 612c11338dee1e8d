//! Schemas and texts made up from a seed. Both are put together of the same few pieces, so that patterns match, and every key and
//! every error occurs.

use obverse::value::{Map, Value};

use crate::support::comparison::parsed;
use crate::support::random::Random;

/// The kinds of errors that must occur.
pub const KINDS: &[&str] = &[
    "not-text",
    "iterator-type",
    "key-value-type",
    "no-group",
    "many-groups",
    "key-value-groups",
    "extracted-not-text",
    "parser-not-text",
    "json",
    "transform",
    "unknown-parser",
    "object-text",
    "not-object",
    "required",
    "not-list",
    "prefix-not-list",
    "prefix-length",
    "no-items",
    "wrong-value",
    "integer",
    "number",
    "boolean",
    "unknown-type",
];

pub struct Generated {
    pub schema: Value,
    /// Whether something in it makes a document that Obverse refuses.
    pub broken: bool,
}

pub fn schema(random: &mut Random) -> Generated {
    let mut broken = false;
    let schema = node(random, 3, &mut broken);
    Generated { schema, broken }
}

#[rustfmt::skip]
const ONE_GROUP: &[&str] = &[
    "<a>(.*?)</a>", "(.*)", r"^(\w+)", r"(\d+)", "(?:x|y)(z)?", "\"(.*?)\"", "([^<]*)$", "(a+)+", "(?:</a>)?(.*?)(?:</b>|$)",
    r"(\{.*\})", r"(\[.*\])", "(true|False|0|1)", "([a-z]+)", r"\b(\w+)\b", "(?i)(TRUE|A|B)", "(?m)^(.*)$", r"(\S+)",
    "(?<=<a>)(.+?)(?=<)", "(.*?)", "()", r"(?:\s|^)(\S*)\Z", r"\B(.)", "(a|b|<a>)", r"((?:(?!<b>).)*)", r"([-\d.]+)", "(?s:(.+)) ",
    r"(.)(?=.*\n)", "(?>a|x)(.)", "(.++)", "(?:(a)|b)", r"(\W+)", r"([\s;]+)", "(?<!a)([bxy])",
];

#[rustfmt::skip]
const NO_GROUP: &[&str] = &["a", "<a>", "", r"\d", "x|y"];

#[rustfmt::skip]
const MANY_GROUPS: &[&str] = &["(a)(b)?", "(<)(.)", r"(\w)(\w)"];

#[rustfmt::skip]
const NAMED: &[&str] = &[
    "<a>(?P<a>.*?)</a>(?P<b>.*)", r"(?P<key>\w+)=(?P<value>[^;]*)", r"(?P<key>\w)(?:=(?P<value>\w))?", r"(?P<a>\d+)?(?P<b>[a-z]+)?",
    "(?P<a>x)(y)?", "(?P<c>.*)", "(?P<a>.)(?P<b>.)(?P<c>.)", r"(?P<key>[a-z]+)\W+(?P<value>\w+)", "(?P<value>.)(?P<key>.)",
    "(?P<a>a)|(?P<b>b)|(?P<role>x)", "(?P<a><(?P<b>.)>).*</(?P=b)>",
];

#[rustfmt::skip]
const SUBSTITUTIONS: &[(&str, &str)] = &[
    ("<a>", "["), (r"\s+", " "), (r"(\w+)=(\w+)", r"\2=\1"), ("x*", "-"), ("(a)|b", r"<\1>"), ("'", "\""),
    (r"(?P<q>\d)", r"\g<q>\g<0>\g<1>"), (";", r"\n\t\\"), (r"\{(\w+):", r#"{"\1":"#), ("$", "!"), ("", "_"), ("[yz]", ""),
    ("(?=a)", r"\."), (r"(.)(.)", r"\2\0\1\060"), (r"\W", "."),
];

#[rustfmt::skip]
const TRANSFORMS: &[&str] = &[
    "@", "a", "a.b", "[*].a", "{type: 'function', function: @}", "[{a: a, b: b}]", "[*].{a: a, b: b}", "*.a", "*", "length(@)",
    "keys(@)", "values(@)", "[0]", "[-1]", "[::2]", "[::-1]", "[1:]", "[]", "[?a]", "[?a==`1`].b", "a || b", "a && b", "!a", "a == b",
    "a < b", "to_string(@)", "to_number(a)", "type(@)", "sort(@)", "sort_by(@, &a)", "max(@)", "max_by(@, &a)", "min_by(@, &b)",
    "min(@)", "sum(@)", "avg(@)", "map(&a, @)", "merge(@, {c: `1`})", "merge(`{}`, @)", "merge(@, a)", "not_null(a, b)", "contains(@, 'a')", "join(',', @)",
    "reverse(@)", "starts_with(a, 'x')", "ends_with(b, 'x')", "nope(@)", "length(a, b)", "abs(a)", "ceil(a)", "floor(b)",
    "to_array(a)", "@ | [0]", "\"a\"", "a[0][1:2]", "a[*][0]", "[*][*]", "[*].*", "a.b[*].c | [0]", "a[:1]", "[?@ > `1`]",
    "[?a > `1` && b != `2`]", "[?contains(@, 'a')]", "a.b[0]", "a[].b", "[*].[a, b]", "`{\"z\": 1, \"a\": 2}`", "'raw\\'text'",
    "a.*.b", "[5]", "[*] | length(@)", "a != b", "a >= `1`", "!(a && b)", "`text`", "[?a].a | [0]", "{a: a, \"b c\": b}.a",
    "not_null(z, `null`)", "contains(b, a)", "[::0]", "[-2:]", "max(a)", "to_string(a)", "[a, b, @][2].a", "(a || b).b",
];

#[rustfmt::skip]
const KEYS: &[&str] = &["a", "b", "c", "role", "key", "value", "x", "type", "function"];

#[rustfmt::skip]
const CONSTANTS: &[&str] = &["\"assistant\"", "null", "1", "[1]", "{\"a\": null}", "false", "\"\""];

fn node(random: &mut Random, depth: usize, broken: &mut bool) -> Value {
    let mut members = Map::new();
    if random.once_in(14) {
        members.insert("const", parsed(random.pick(CONSTANTS)));
        if random.once_in(2) {
            return Value::Object(members);
        }
    }
    let kind = match random.below(if depth == 0 { 12 } else { 22 }) {
        0..3 => "string",
        3 | 4 => "integer",
        5 | 6 => "number",
        7 | 8 => "boolean",
        9 => "any",
        10 => "",
        11 => "?",
        12..18 => "object",
        _ => "array",
    };
    match kind {
        "" => {}
        "?" => {
            let odd = [
                "\"strin\"",
                "null",
                "[\"string\", \"null\"]",
                "5",
                "\"null\"",
            ];
            members.insert("type", parsed(random.pick(&odd)));
        }
        kind => {
            members.insert("type", kind.into());
        }
    }
    if random.once_in(8) {
        members.insert("default", parsed(random.pick(CONSTANTS)));
    }
    extractors(random, &mut members, kind, broken);
    if random.once_in(if depth > 1 { 4 } else { 5 }) {
        parser(random, &mut members, broken);
    }
    if depth > 0 && (kind == "object" && !random.once_in(8) || random.once_in(30)) {
        properties(random, &mut members, depth, broken);
    }
    if depth > 0 && (kind == "array" || random.once_in(40)) {
        match random.below(8) {
            0 => {}
            1 | 2 => {
                let count = 1 + random.below(3);
                let items = (0..count).map(|_| node(random, depth - 1, broken));
                members.insert("prefixItems", Value::Array(items.collect()));
            }
            _ => {
                members.insert("items", node(random, depth - 1, broken));
            }
        }
    }
    if random.once_in(150) {
        break_it(random, &mut members);
        *broken = true;
    }
    Value::Object(members)
}

fn pattern(random: &mut Random) -> Value {
    Value::from(match random.below(12) {
        0 => random.pick(NO_GROUP),
        1 => random.pick(MANY_GROUPS),
        2..5 => random.pick(NAMED),
        _ => random.pick(ONE_GROUP),
    })
}

fn extractors(random: &mut Random, members: &mut Map, kind: &str, broken: &mut bool) {
    if random.once_in(8) {
        let pairs = (0..random.below(3)).map(|_| {
            let (pattern, replacement) = SUBSTITUTIONS[random.below(SUBSTITUTIONS.len())];
            Value::Array(vec![pattern.into(), replacement.into()])
        });
        members.insert("x-regex-substitutions", Value::Array(pairs.collect()));
    }
    if random.once_in(3) {
        members.insert("x-regex", pattern(random));
    }
    if kind == "array" && !random.once_in(3) || random.once_in(40) {
        members.insert("x-regex-iterator", pattern(random));
    }
    if kind == "object" && random.once_in(4) || random.once_in(40) {
        let sources = [
            "(?P<key>\\w+)=(?P<value>[^;]*)",
            "(?P<key>[a-z]+)\\W+(?P<value>\\w+)",
        ];
        let source = if random.once_in(4) {
            pattern(random)
        } else {
            random.pick(&sources).into()
        };
        members.insert("x-regex-key-value", source);
    }
    if random.once_in(40) {
        let key = ["x-regex", "x-regex-iterator", "x-regex-key-value"];
        members.insert(random.pick(&key), Value::Null);
    }
    if random.once_in(200) {
        members.insert("x-regex", "(".into());
        *broken = true;
    }
}

fn parser(random: &mut Random, members: &mut Map, broken: &mut bool) {
    let name = match random.below(24) {
        0 => "yaml".into(),
        1 => Value::Null,
        2..5 => "gemma4-tool-call".into(),
        _ => "json".into(),
    };
    let is_known = name.as_str().is_some_and(|name| name != "yaml");
    members.insert("x-parser", name);
    if random.once_in(3) {
        return;
    }
    let mut arguments = Map::new();
    if random.once_in(2) {
        let values = ["true", "true", "false", "1", "0", "null", "\"\""];
        arguments.insert("allow_non_json", parsed(random.pick(&values)));
    }
    if random.once_in(2) {
        arguments.insert("transform", random.pick(TRANSFORMS).into());
        if random.once_in(30) {
            let wrong = [
                "\"a.\"", "\"[\"", "\"\"", "5", "\"'\"", "\"a b\"", "\"=\"", "\"{a}\"",
            ];
            arguments.insert("transform", parsed(random.pick(&wrong)));
            *broken |= is_known;
        }
    } else if random.once_in(10) {
        arguments.insert("transform", Value::Null);
    }
    members.insert("x-parser-args", Value::Object(arguments));
}

fn properties(random: &mut Random, members: &mut Map, depth: usize, broken: &mut bool) {
    let mut properties = Map::new();
    for _ in 0..random.below(4) {
        let key = random.pick(KEYS);
        // A text that is planted in a property must not be written over.
        if !properties.contains_key(key) {
            properties.insert(key, node(random, depth - 1, broken));
        }
    }
    members.insert("properties", Value::Object(properties));
    match random.below(6) {
        0 => {
            members.insert("additionalProperties", Value::Bool(false));
        }
        1 => {
            members.insert("additionalProperties", node(random, depth - 1, broken));
        }
        2 => {
            let values = ["true", "{}", "null", "0"];
            members.insert("additionalProperties", parsed(random.pick(&values)));
        }
        _ => {}
    }
    if random.once_in(3) {
        let names = (0..random.below(3)).map(|_| Value::from(random.pick(KEYS)));
        members.insert("required", Value::Array(names.collect()));
    }
}

/// Plants a key that makes the document one that is refused.
fn break_it(random: &mut Random, members: &mut Map) {
    #[rustfmt::skip]
    let faults = [
        ("x-regex", "5"), ("x-regex", "\"(?<n>a)\""), ("x-regex", r#""(?<=a+)b""#), ("x-regex-iterator", "[]"), ("x-regex-key-value", "\"[\""),
        ("x-regex-substitutions", "\"ab\""), ("x-regex-substitutions", "[[\"a\"]]"), ("x-regex-substitutions", r#"[["a", "\\q"]]"#),
        ("x-regex-substitutions", r#"[["a", "\\1"]]"#), ("x-regex-substitutions", "[[\"(\", \"\"]]"), ("x-regex-substitutions", "null"),
        ("properties", "[]"), ("properties", "{\"a\": 1}"), ("items", "true"), ("items", "null"), ("prefixItems", "{}"),
        ("prefixItems", "[1]"), ("required", "5"), ("required", "null"), ("required", "[1]"),
    ];
    let (key, value) = faults[random.below(faults.len())];
    members.insert(key, parsed(value));
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "<a>", "</a>", "<b>", "</b>", "a", "b", "x", "y", "z", " ", "\n", "12", "-3", "1.5", "true", "False", "0", "1", "=", ";", "a=b;",
    "{\"a\": 1}", "{\"a\": {\"b\": [1, 2]}, \"b\": \"x\"}", "[1, 2.5, 3]", "[\"b\", \"a\"]", "[{\"a\": 1, \"b\": 2}, {\"a\": 3}]",
    "\"x\"", "null", "{a:<|\"|>x<|\"|>,b:1}", "key=value;", "é", "١", "\u{301}", "{", "}", "\"", "'", "\u{0}", "\u{1c}", "²", "K",
];

#[rustfmt::skip]
const WHOLE: &[&str] = &[
    "12", " -3 ", "1.5", "true", "FALSE", "0", "1", "1_000", "nan", "", "null", "[]", "{}", "[1, 2.5, 3]", "[\"b\", \"a\"]", "x",
    "{\"a\": {\"b\": [1, 2]}, \"b\": \"x\"}", "[{\"a\": 1, \"b\": 2}, {\"a\": 3, \"b\": \"1\"}]", "{\"a\": true, \"b\": 1, \"c\": [true, 0]}",
    "[[1, 2], [3], 4]", "{a:<|\"|>x\"<|\"|>,b:[1,{c:<|\"|><|\"|>}]}", "\"text\"", "12345678901234567890123", "[1e400, -0.0]",
    "{\"a\": \"x\", \"b\": \"xa\", \"z\": {\"b\": null}}", "a=1;b=2;x=true", "<a>12</a><b>{\"a\": 1}</b>", "[true, 1, \"1\"]", "{\"a\": 2.5, \"b\": 2.5}",
    "<a>a=1;b=2</a> x", "1e5", "[NaN, Infinity]", "{\"type\": \"f\", \"function\": {\"a\": 1}}", "[\"10\", \"9\", \"é\"]",
    "{\"a\": [{\"b\": 1}, {\"b\": 2}, {}]}", "{\"a\": \"7\", \"b\": -2}", "[0, false, \"\", null, [], {}]",
];

pub fn text(random: &mut Random) -> String {
    if random.once_in(3) {
        return random.pick(WHOLE).to_owned();
    }
    random.text(PIECES, 9)
}
