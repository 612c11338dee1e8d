//! What documents are made of: delimiters with texts that they match, content parsers with texts that they read.

use std::borrow::Cow;

use super::support::random::Random;

/// A delimiter, as a document writes it.
#[derive(Clone)]
pub struct Delimiter {
    /// JSON: a literal, a list of literals, or the source of a pattern.
    pub json: Cow<'static, str>,
    pub pattern: bool,
    /// Whether it has named groups, which a document may have only beside a transform.
    pub named: bool,
    /// Texts that it matches, or nearly.
    pub texts: &'static [&'static str],
    /// Whether the reference finds it in the same place however the text is cut, so that each chunk's events must be equal.
    pub steady: bool,
}

const fn literal(json: &'static str, texts: &'static [&'static str]) -> Delimiter {
    Delimiter {
        json: Cow::Borrowed(json),
        pattern: false,
        named: false,
        texts,
        steady: true,
    }
}

/// A list of literals of which one may begin while another is under way.
const fn list(json: &'static str, texts: &'static [&'static str]) -> Delimiter {
    let mut delimiter = literal(json, texts);
    delimiter.steady = false;
    delimiter
}

const fn steady(json: &'static str, texts: &'static [&'static str]) -> Delimiter {
    let mut delimiter = literal(json, texts);
    delimiter.pattern = true;
    delimiter
}

const fn pattern(json: &'static str, texts: &'static [&'static str]) -> Delimiter {
    let mut delimiter = steady(json, texts);
    delimiter.steady = false;
    delimiter
}

const fn named(json: &'static str, texts: &'static [&'static str]) -> Delimiter {
    let mut delimiter = pattern(json, texts);
    delimiter.named = true;
    delimiter
}

const fn steady_named(json: &'static str, texts: &'static [&'static str]) -> Delimiter {
    let mut delimiter = named(json, texts);
    delimiter.steady = true;
    delimiter
}

pub const DELIMITERS: &[Delimiter] = &[
    literal(r#""<think>""#, &["<think>"]),
    literal(r#""</think>""#, &["</think>"]),
    literal(r#""<a>""#, &["<a>"]),
    literal(r#""</a>""#, &["</a>"]),
    literal(r#""<""#, &["<"]),
    literal(r#""<a""#, &["<a"]),
    literal(r#""\n""#, &["\n"]),
    literal(r#""\n\n""#, &["\n\n", "\n\n\n"]),
    literal(r#""🦀""#, &["🦀"]),
    literal(r#""é>""#, &["é>"]),
    literal(r#""aba""#, &["aba", "ababa"]),
    literal(r#""aa""#, &["aa", "aaa"]),
    literal(r#""<|im_end|>""#, &["<|im_end|>"]),
    literal(r#""```""#, &["```"]),
    literal(r#""[TOOL]""#, &["[TOOL]"]),
    literal(r#""(.*)""#, &["(.*)"]),
    literal(r#"["</a>"]"#, &["</a>"]),
    list(r#"["<a>", "<a>b"]"#, &["<a>", "<a>b"]),
    list(r#"["a", "aa", "ab"]"#, &["a", "aa", "ab"]),
    list(
        r#"["<end>", "<end>\n", "</s>"]"#,
        &["<end>", "<end>\n", "</s>"],
    ),
    list(r#"["abcd", "b"]"#, &["abcd", "b", "abcb"]),
    list(r#"["é>", "é>>", "é"]"#, &["é>", "é>>", "é"]),
    list(r#"["<tool>", "[tool]", "<"]"#, &["<tool>", "[tool]", "<"]),
    steady(r#""<a>\\s*""#, &["<a>", "<a> \n", "<a>\u{a0}"]),
    steady(r#""\\s*</a>""#, &["</a>", " \n</a>"]),
    steady(r#""</think>\\s*""#, &["</think>", "</think>\n\n"]),
    steady(r#""<a>|<b>""#, &["<a>", "<b>"]),
    steady(r#""<a+>""#, &["<a>", "<aaa>"]),
    steady(r#""<\\|[a-z_]+\\|>""#, &["<|eot|>", "<|a_b|>"]),
    steady(r#""<(a|b)>""#, &["<a>", "<b>"]),
    steady(r#""\\[[^\\]]*\\]""#, &["[]", "[x]", "[a b]"]),
    steady(r#""\\d{2,3}x""#, &["12x", "123x", "1x"]),
    steady(r#""(?i)end\\.""#, &["end.", "END.", "eNd."]),
    steady(r#""\\p{Lu}+:""#, &["ABC:", "É:", "a:"]),
    steady(r#""(?#comment)<(?:x)?>""#, &["<x>", "<>"]),
    steady_named(r#""<(?P<name>\\w+)>""#, &["<f>", "<get_x>", "<é1>"]),
    steady(r#""(?<=x)y""#, &["y", "xy"]),
    steady(r#""(?<!x)y""#, &["y", "xy"]),
    steady(r#""<(?!b)""#, &["<", "<b", "<a"]),
    steady_named(
        r#""<f=(?<name>[^>]*)>\\s*""#,
        &["<f=x>", "<f=>", "<f=a b> "],
    ),
    steady_named(
        r#""\\{\"name\":\\s*\"(?P<name>\\w+)\",\\s*\"args\":\\s*""#,
        &["{\"name\": \"f\", \"args\": ", "{\"name\":\"g\",\"args\":"],
    ),
    named(r#""(?P<name>a)|(?P<id>b)""#, &["a", "b"]),
    named(
        r#""<(?P<name>[a-z]+)(?: id=(?P<id>\\d+))?>""#,
        &["<f>", "<f id=12>"],
    ),
    named(
        r#""<(?P<name>\\w+)>(?=[\\s\\S]*?</(?P=name)>)""#,
        &["<f>", "<f></f>", "</f>"],
    ),
    pattern(r#""</s>|\\Z""#, &["</s>"]),
    pattern(r#""</s>|$""#, &["</s>", "\n"]),
    pattern(r#""\\Z""#, &[""]),
    pattern(r#""$""#, &["\n"]),
    pattern(r#""(?=<)""#, &["<"]),
    pattern(r#""(?<=>)""#, &[">"]),
    pattern(r#""(?=\\[TOOL\\])|\\Z""#, &["[TOOL]"]),
    pattern(
        r#""<think>(?=[\\s\\S]*?</think>)""#,
        &["<think>", "<think>x</think>"],
    ),
    pattern(r#""<a+?>?""#, &["<a", "<a>"]),
    pattern(r#""a*b""#, &["b", "aab"]),
    pattern(r#""[abc]+""#, &["a", "cab"]),
    pattern(r#""\\bend\\b""#, &["end", " end ", "endx"]),
    pattern(
        r#""<(a|b)>.*?</\\1>""#,
        &["<a>x</a>", "<b>y</b>", "<a></b>"],
    ),
    pattern(r#""(?>a+)b""#, &["aab", "ab"]),
    pattern(r#""a++b""#, &["aab", "aaa"]),
    pattern(r#"".*\\n""#, &["x\n", "\n"]),
    pattern(r#"".*?\\n""#, &["x\n", "\n"]),
    pattern(r#""\\n+""#, &["\n", "\n\n"]),
    pattern(r#""(?m)^#""#, &["\n#", "#"]),
    pattern(r#""^<a>""#, &["<a>"]),
    pattern(r#""(?m)$""#, &["\n"]),
    pattern(r#""x?""#, &["x"]),
    pattern(r#""""#, &[""]),
    pattern(r#"".+""#, &["x"]),
    pattern(r#""<.*>""#, &["<a>", "<a>x>"]),
    pattern(r#""<.*?>""#, &["<a>", "<a>x>"]),
    pattern(r#""abcd|b""#, &["abcd", "b", "abc"]),
    pattern(r#""ab|abc""#, &["ab", "abc"]),
    pattern(r#""(?:ab)*?c""#, &["abc", "c", "ababc"]),
    pattern(r#""(?:a|ab)(?:c|bcd)(d*)""#, &["abcd", "acd", "abcdd"]),
    pattern(r#""\\w+""#, &["word", "é1"]),
    pattern(r#""[^<]+<""#, &["x<", "ab <"]),
    pattern(r#""\\s+""#, &[" ", "\n \u{2003}"]),
    pattern(r#""(?=a)""#, &["a"]),
    pattern(r#""(a)?b(?(1)c|d)""#, &["abc", "bd", "bc"]),
    pattern(r#""\\W$""#, &[".", "\n"]),
    pattern(r#""a{2}|{b}""#, &["aa", "{b}"]),
    pattern(r#""[[a]+""#, &["[", "a["]),
];

/// A content parser with arguments, and texts that it reads, or nearly.
pub struct Content {
    /// Members of the field, as JSON.
    pub json: &'static str,
    pub texts: &'static [&'static str],
}

const OBJECTS: &[&str] = &[
    r#"{"name": "f", "arguments": {"a": "1", "b": "x"}}"#,
    r#"{"name":"f","arguments":{"n":"3","o":"{}","flag":"true"}}"#,
    r#"{"a": 1, "b": [true, null, 1.5e3]}"#,
    r#"{"s": "<a></a> <think>", "e": "é🦀\n"}"#,
    r#"[{"name": "f", "arguments": {"n": 7}}, {"name": "g"}]"#,
    r#"[{"name": "f", "arguments": {"n": "7"}}]"#,
    "{}",
    "[]",
    "12345678901234567890123",
    r#"{"a": NaN, "b": -Infinity}"#,
    r#"{"a": 1, "a": 2}"#,
    r#"{"a": 1"#,
    "\"text\"",
    " {\"a\": 1}\n",
    "{'a': 1}",
    "{a: 1, b: <q>x \"y\"</q>}",
    "",
    "nonsense",
];

const NUMBERS: &[&str] = &[
    "7",
    " -12\n",
    "+3",
    "1_000",
    "007",
    "１２",
    "1.5",
    "1e3",
    "nan",
    "-inf",
    "",
    " ",
    "x",
    "0x1",
    "99999999999999999999",
];

const TEXTS: &[&str] = &[
    "x",
    "Hello",
    " padded \n",
    "a < b",
    "```py\n<a>\n```",
    "é🦀",
    "\u{a0}\u{2003}",
    "true",
    "FALSE",
    "1",
    "",
    "line\nline",
];

const TAGGED: &[&str] = &[
    "<k=a>1</k>",
    "<k=a>1</k>\n<k=b>x y</k>",
    "<k=a>1</k><k=a>2</k><k=a>3</k>",
    "<k=>x</k>",
    "no tags",
    "<k=a>{\"b\": 1}</k>",
    "<k=a>true",
    "",
];

const LINES: &[&str] = &[
    "a: 1\nb: 2",
    "a: 1",
    " key :  value \n\nother: x:y\n",
    "a=1;b=2",
    "no separator",
    "a: 1\na: x",
    "",
];

pub const CONTENTS: &[Content] = &[
    Content {
        json: r#"{}"#,
        texts: TEXTS,
    },
    Content {
        json: r#"{"content": "text"}"#,
        texts: TEXTS,
    },
    Content {
        json: r#"{"content": "text", "content_args": {"strip": false}}"#,
        texts: TEXTS,
    },
    Content {
        json: r#"{"content": "int"}"#,
        texts: NUMBERS,
    },
    Content {
        json: r#"{"content": "float"}"#,
        texts: NUMBERS,
    },
    Content {
        json: r#"{"content": "bool"}"#,
        texts: TEXTS,
    },
    Content {
        json: r#"{"content": "json"}"#,
        texts: OBJECTS,
    },
    Content {
        json: r#"{"content": "json", "content_args": {"allow_non_json": true}}"#,
        texts: OBJECTS,
    },
    Content {
        json: r#"{"content": "json", "content_args": {"unquoted_keys": true, "string_delims": [["<q>", "</q>"], ["'", "'"]]}}"#,
        texts: OBJECTS,
    },
    Content {
        json: r#"{"content": "xml-inline", "content_args": {"tag_pattern": "<k=(?P<key>\\w*)>(?P<value>.*?)</k>"}}"#,
        texts: TAGGED,
    },
    Content {
        json: r#"{"content": "xml-inline", "content_args": {"tag_pattern": "<k=(?P<key>\\w*)>(?P<value>.*?)(?:</k>|$)", "merge_duplicates": true, "value_parser": {"name": "json", "args": {"allow_non_json": true}}}}"#,
        texts: TAGGED,
    },
    Content {
        json: r#"{"content": "kv-lines"}"#,
        texts: LINES,
    },
    Content {
        json: r#"{"content": "kv-lines", "content_args": {"line_sep": ";", "kv_sep": "=", "value_parser": {"name": "int"}}}"#,
        texts: LINES,
    },
];

/// The first needs no capture, the first three at most `name`.
pub const TRANSFORMS: &[&str] = &[
    r#""{content}""#,
    r#"{"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}"#,
    r#"{"name": "{name}", "text": "{content}"}"#,
    r#"{"type": "function", "function": {"name": "{content.name}", "arguments": "{content.arguments}"}}"#,
    r#"{"function": "{content}"}"#,
    r#"{"id": "{id}", "all": ["{content}", 1, null, "plain"]}"#,
    r#""{content.a}""#,
    r#""fixed""#,
    "[]",
];

pub const EACH: &[&str] = &[
    r#"{"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}}"#,
    r#"["{name}"]"#,
    r#""{a}""#,
];

pub const NAMES: &[&str] = &[
    "thinking",
    "content",
    "tool_calls",
    "reasoning_content",
    "x",
    "",
    "é b",
    "role",
    "Content",
];

pub const DEFAULTS: &[&str] = &[
    r#"{"role": "assistant"}"#,
    r#"{"role": "assistant", "content": "", "tool_calls": []}"#,
    r#"{"thinking": null, "x": "start"}"#,
    r#"{"tool_calls": [1]}"#,
    "{}",
];

pub const TOOLS: &[&str] = &[
    r#"[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": ["number", "string"]}, "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "o": {"type": "object"}, "flag": {"type": "boolean"}}}}}]"#,
    r#"[{"name": "get_x", "parameters": {"properties": {"a": {"type": "array"}}}}, {"name": "f", "parameters": {"properties": {"a": {"type": "number", "nullable": true}, "n": {"type": "number"}}}}]"#,
];

/// An anchor as a member of the document, and texts that it matches.
pub const ANCHORS: &[(&str, &[&str])] = &[
    (r#"{"start_anchor": "<|assistant|>"}"#, &["<|assistant|>"]),
    (r#"{"start_anchor": ["A:", "A:\n"]}"#, &["A:", "A:\n"]),
    (r#"{"start_anchor": "\n"}"#, &["\n"]),
    (
        r#"{"start_anchor_pattern": "<(?P<who>bot|model)>\\s*"}"#,
        &["<bot>", "<model>\n"],
    ),
    (r#"{"start_anchor_pattern": "^"}"#, &[""]),
];

pub const NOISE: &[&str] = &[
    " ", "\n", "\t", "  ", "\n\n", "\u{a0}", "\u{3000}", "x", "y", "ab", "a", "b", "c", "<", ">",
    "[", "]", "|", "/", "{", "\"", "\\", "$", "é", "🦀", "e\u{301}", "\r\n", ".", ":", "word",
    "The end.", "\u{0}", "\u{1}",
];

/// What the patterns of [`wild`] speak of.
const LETTERS: &[&str] = &["a", "b", "<", ">", "/", " ", "\\n", "é"];
pub const WILD_TEXTS: &[&str] = &[
    "a", "b", "ab", "aab", "<a>", "<b>", "</a>", "<", ">", " ", "\n", "é", "<ab/>", "", "bb\n",
    "a>", "<<",
];

/// A pattern made up: it may match anything, and nothing.
pub fn wild(random: &mut Random) -> Delimiter {
    let source = alternatives(random, 2);
    Delimiter {
        json: Cow::Owned(obverse::value::json::quote(&source)),
        pattern: true,
        named: source.contains("(?P<"),
        texts: WILD_TEXTS,
        steady: false,
    }
}

fn alternatives(random: &mut Random, depth: usize) -> String {
    let count = 1 + usize::from(random.once_in(3));
    let all: Vec<String> = (0..count).map(|_| sequence(random, depth)).collect();
    all.join("|")
}

fn sequence(random: &mut Random, depth: usize) -> String {
    (0..=random.below(4))
        .map(|_| {
            let item = item(random, depth);
            let times = match random.below(10) {
                0 => random.pick(&["*", "+", "?", "{1,2}", "{2}"]),
                1 => random.pick(&["*?", "+?", "??", "*+", "++"]),
                _ => "",
            };
            item + times
        })
        .collect()
}

fn item(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 => random
            .pick(&[".", "[ab]", "[^<]", "\\w", "\\s", "\\W", "[<>]", "\\S"])
            .to_owned(),
        1 if depth == 2 && random.once_in(4) => random
            .pick(&["(?:^)", "(?:$)", "(?:\\Z)", "(?:\\b)", "(?:\\B)"])
            .to_owned(),
        6..9 => {
            let inner = alternatives(random, depth - 1);
            let open = match random.below(12) {
                0 => "(?=",
                1 => "(?!",
                2 => "(?<=",
                3 => "(?<!",
                4 => "(?>",
                5..9 => "(?:",
                _ => "(",
            };
            format!("{open}{inner})")
        }
        _ => random.pick(LETTERS).to_owned(),
    }
}
