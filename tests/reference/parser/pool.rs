//! What documents are made of: delimiters with texts that they match, content parsers with texts that they read.

use std::borrow::Cow;

use crate::support::random::Random;

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
    /// Why events may come later than those of the reference; without a reason each chunk's events must be equal.
    pub late: Option<Late>,
}

/// The kinds of delimiters that `docs/differences.md` lists: the reference takes what later text could change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// An alternative, or a literal of a list, may stand inside one that has begun.
    Inside,
    /// It could match more.
    Greedy,
    /// A look-ahead is decided late.
    Ahead,
    /// The end of the text is part of it.
    End,
    /// It was made up, and nobody knows.
    Wild,
}

const fn literal(json: &'static str, texts: &'static [&'static str]) -> Delimiter {
    Delimiter {
        json: Cow::Borrowed(json),
        pattern: false,
        named: false,
        texts,
        late: None,
    }
}

const fn pattern(json: &'static str, texts: &'static [&'static str]) -> Delimiter {
    let mut delimiter = literal(json, texts);
    delimiter.pattern = true;
    delimiter
}

const fn named(json: &'static str, texts: &'static [&'static str]) -> Delimiter {
    let mut delimiter = pattern(json, texts);
    delimiter.named = true;
    delimiter
}

impl Delimiter {
    const fn late(mut self, kind: Late) -> Self {
        self.late = Some(kind);
        self
    }
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
    literal(r#"["<a>", "<a>b"]"#, &["<a>", "<a>b"]),
    literal(r#"["a", "aa", "ab"]"#, &["a", "aa", "ab"]),
    literal(
        r#"["<end>", "<end>\n", "</s>"]"#,
        &["<end>", "<end>\n", "</s>"],
    ),
    literal(r#"["abcd", "b"]"#, &["abcd", "b", "abcb"]).late(Late::Inside),
    literal(r#"["é>", "é>>", "é"]"#, &["é>", "é>>", "é"]),
    literal(r#"["<tool>", "[tool]", "<"]"#, &["<tool>", "[tool]", "<"]).late(Late::Inside),
    pattern(r#""<a>\\s*""#, &["<a>", "<a> \n", "<a>\u{a0}"]),
    pattern(r#""\\s*</a>""#, &["</a>", " \n</a>"]),
    pattern(r#""</think>\\s*""#, &["</think>", "</think>\n\n"]),
    pattern(r#""<a>|<b>""#, &["<a>", "<b>"]),
    pattern(r#""<a+>""#, &["<a>", "<aaa>"]),
    pattern(r#""<\\|[a-z_]+\\|>""#, &["<|eot|>", "<|a_b|>"]),
    pattern(r#""<(a|b)>""#, &["<a>", "<b>"]),
    pattern(r#""\\[[^\\]]*\\]""#, &["[]", "[x]", "[a b]"]),
    pattern(r#""\\d{2,3}x""#, &["12x", "123x", "1x"]),
    pattern(r#""(?i)end\\.""#, &["end.", "END.", "eNd."]),
    pattern(r#""\\p{Lu}+:""#, &["ABC:", "É:", "a:"]),
    pattern(r#""(?#comment)<(?:x)?>""#, &["<x>", "<>"]),
    named(r#""<(?P<name>\\w+)>""#, &["<f>", "<get_x>", "<é1>"]),
    pattern(r#""(?<=x)y""#, &["y", "xy"]),
    pattern(r#""(?<!x)y""#, &["y", "xy"]),
    pattern(r#""<(?!b)""#, &["<", "<b", "<a"]),
    named(
        r#""<f=(?<name>[^>]*)>\\s*""#,
        &["<f=x>", "<f=>", "<f=a b> "],
    ),
    named(
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
    )
    .late(Late::Ahead),
    pattern(r#""</s>|\\Z""#, &["</s>"]).late(Late::End),
    pattern(r#""</s>|$""#, &["</s>", "\n"]).late(Late::End),
    pattern(r#""\\Z""#, &[""]),
    pattern(r#""$""#, &["\n"]).late(Late::End),
    pattern(r#""(?=<)""#, &["<"]),
    pattern(r#""(?<=>)""#, &[">"]),
    pattern(r#""(?=\\[TOOL\\])|\\Z""#, &["[TOOL]"]).late(Late::End),
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
    )
    .late(Late::Inside),
    pattern(r#""(?>a+)b""#, &["aab", "ab"]),
    pattern(r#""a++b""#, &["aab", "aaa"]),
    pattern(r#"".*\\n""#, &["x\n", "\n"]).late(Late::Greedy),
    pattern(r#"".*?\\n""#, &["x\n", "\n"]),
    pattern(r#""\\n+""#, &["\n", "\n\n"]),
    pattern(r#""(?m)^#""#, &["\n#", "#"]),
    pattern(r#""^<a>""#, &["<a>"]),
    pattern(r#""(?m)$""#, &["\n"]),
    pattern(r#""x?""#, &["x"]),
    pattern(r#""""#, &[""]),
    pattern(r#"".+""#, &["x"]),
    pattern(r#""<.*>""#, &["<a>", "<a>x>"]).late(Late::Greedy),
    pattern(r#""<.*?>""#, &["<a>", "<a>x>"]),
    pattern(r#""abcd|b""#, &["abcd", "b", "abc"]).late(Late::Inside),
    pattern(r#""ab|abc""#, &["ab", "abc"]),
    pattern(r#""(?:ab)*?c""#, &["abc", "c", "ababc"]),
    pattern(r#""(?:a|ab)(?:c|bcd)(d*)""#, &["abcd", "acd", "abcdd"]),
    pattern(r#""\\w+""#, &["word", "é1"]),
    pattern(r#""[^<]+<""#, &["x<", "ab <"]),
    pattern(r#""\\s+""#, &[" ", "\n \u{2003}"]),
    pattern(r#""(?=a)""#, &["a"]),
    pattern(r#""(a)?b(?(1)c|d)""#, &["abc", "bd", "bc"]),
    pattern(r#""\\W$""#, &[".", "\n"]).late(Late::End),
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
        late: Some(Late::Wild),
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
