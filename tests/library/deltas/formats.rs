//! Ways to write a call, each with the pieces of which responses are made at random: right ones, and wrong in every way.

/// The tools of the responses: arguments of every type, and one of none.
pub(crate) const TOOLS: &str = r#"[
    {"type": "function", "function": {"name": "f", "parameters": {"properties": {
        "a": {"type": "string"}, "n": {"type": "integer"}, "x": {"type": ["number", "null"]}, "b": {"type": "boolean"},
        "o": {"type": "object"}, "l": {"type": "array"}, "s": {"anyOf": [{"type": "string"}, {"type": "null"}]}
    }}}}
]"#;

/// A response template and what its responses are made of.
pub(crate) struct Format {
    pub(crate) document: String,
    pub(crate) pieces: Vec<&'static str>,
}

/// What a call's region has in it, with the pieces of its texts.
struct Region {
    field: &'static str,
    pieces: &'static [&'static str],
}

const CALL: &str = r#""transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}"#;

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"name\"",
    "\"arguments\"",
    "\"id\"",
    "\"function\"",
    "\"f\"",
    "\"g\"",
    " ",
    "\"a\": \"x y\"",
    "\"n\": \"12\"",
    "\"s\": \"null\"",
    "\"x\": 1.5e3",
    "\"l\": [\"1\", \"2\"]",
    "\"n\": [\"1\", \"2\"]",
    "\"o\": \"{}\"",
    "true",
    "nul",
    "\"",
    "\\",
    "{\"name\": \"f\", \"arguments\": {\"a\": \"b\\u00e9\\ud83d\\ude00\", \"n\": \" 7\"}}",
    "{\"arguments\": {\"n\": \"7\", \"q\": [{}]}, \"name\": \"f\"}",
    "{\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}",
    "{\"name\": \"f\", \"name\": \"g\", \"arguments\": {}, \"arguments\": [1]}",
    "{\"name\": \"f\"}",
    "{\"name\": 1, \"arguments\": {}}",
    "{\"id\": \"i1\", \"name\": \"f\", \"arguments\": {\"b\": \"true\"}}",
    "{\"name\": \"f\", \"arguments\": {\"b\": \"0\"}, \"id\": \"i2\"}",
    "{\"id\": \"j\", \"function\": {\"name\": \"f\", \"arguments\": {\"s\": \"nulls\"}}}",
    "{\"function\": {\"arguments\": null, \"name\": \"f\"}}",
    "[{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {\"n\": \"3\"}}]",
    "{\"call\": {\"name\": \"f\", \"arguments\": {\"n\": \"1\"}}}",
];

const TAGS: &[&str] = &[
    "<p=a>",
    "<p=n>",
    "<p=s>",
    "<p=b>",
    "<p=x>",
    "<p=q>",
    "<p=",
    ">",
    "</p>",
    "</p",
    "\n",
    " ",
    "12",
    "null",
    "nul",
    "true",
    "tr\"\\ue",
    "{}",
    "[1",
    "text \u{e9}",
    "<p=a>one</p>",
    "<p=n>\n 42\n</p>",
    "<p=l>[1, 2]</p>",
    "<p=o>{\"a\": 1}</p>",
    "<",
    "<p=a>",
];

const KEYED: &[&str] = &[
    "<a>",
    "</a>",
    "<n>",
    "</n>",
    "12",
    "<n>7</n>",
    "<a>\n",
    "\n</a>",
    "<a/>",
    "<a.>x</ab></a.>",
    "<+>",
    "</+>",
    "<>",
    "</>",
    "</",
    "<",
    ">",
    "a",
    "text \u{e9}",
    "<a>one</n></a>",
    "</a",
    "<a (b>",
    "</a (b>",
];

/// Values that are JSON, in tags and after `=`, with strings of every kind.
const VALUES: &[&str] = &[
    "<p=a>",
    "<p=n>",
    "</p>",
    "</p",
    "a=",
    "n=",
    "s= ",
    ", ",
    ",",
    "'",
    "\"",
    "\\",
    " ",
    "12",
    "-",
    "true",
    "None",
    "{\"q\": 'z'}",
    "[1, '",
    "text \u{e9}",
    "it's",
    "a='it's', n='12'",
    "a=\"b\\u00e9\\ud83d\\ude00\", s='null'",
    "<p=a>\"x'y\"</p>",
    "<p=n>'12'</p><p=s>\"nulls\"</p>",
    "<p=a>\"one\" two</p>",
    "<p=s> 'one' 'two' </p>",
    "<p=a>''</p>",
    "a='', a=\"\"",
    "\u{1}",
];

const LINES: &[&str] = &[
    "a: x", "n: 12", "s:null", "s: none", "a", ":", ": ", "\n", "\n\n", " ", "\u{a0}", "b: true",
    "q:\"\\", "l: [1]", "a = 1",
];

const DIALECT: &[&str] = &[
    "{",
    "}",
    ":",
    ",",
    "<q>",
    "<q",
    "q>",
    "a:",
    "a",
    "n:<q>12<q>",
    "s:<q>null<q>",
    "\"a\": 1",
    "[1,2]",
    "x,y:z",
    "{a:<q>\"\\\n{b:,c:}<q>,n:3}",
    " ",
    "\u{1}",
    "{a:<q><q>}",
    "true",
    "l:[<q>1<q>]",
];

fn regions() -> Vec<Region> {
    vec![
        // JSON behind a name, whole, in members, in lists, with the name behind, with an `id`.
        Region {
            field: r#""content": "json", CALL"#,
            pieces: JSON,
        },
        Region {
            field: r#""content": "json", "transform": {"type": "function", "function": "{content}"}"#,
            pieces: JSON,
        },
        Region {
            field: r#""content": "json", "transform": {"function": "{content.call}"}"#,
            pieces: JSON,
        },
        Region {
            field: r#""content": "json", "transform": {"id": "{content.id}", "function": {"name": "{content.name}", "arguments": "{content.arguments}"}}"#,
            pieces: JSON,
        },
        Region {
            field: r#""content": "json", "transform_each": true, "transform": {"id": "{id}", "function": {"name": "{call}", "arguments": "{arguments}"}}"#,
            pieces: JSON,
        },
        // An empty group stands in for the id of a call that has none.
        Region {
            field: r#""content": "json", "transform_each": true, "transform": {"id": "{id}", "function": {"name": "{name}", "arguments": "{arguments}"}}"#,
            pieces: JSON,
        },
        Region {
            field: r#""content": "json", "transform_each": true, "transform": {"function": {"name": "{nothing}", "arguments": "{arguments}"}}"#,
            pieces: JSON,
        },
        Region {
            field: r#""content": "json""#,
            pieces: JSON,
        },
        Region {
            field: r#""content": "json", "content_args": {"allow_non_json": true}, CALL"#,
            pieces: JSON,
        },
        Region {
            field: r#""content": "json", "content_args": {"unquoted_keys": true, "string_delims": [["<q>", "<q>"]]}, CALL"#,
            pieces: DIALECT,
        },
        Region {
            field: r#""content": "json", "content_args": {"string_delims": [["<q>", "q>"]]}, "transform": {"function": "{content}"}"#,
            pieces: DIALECT,
        },
        // Text.
        Region {
            field: r#""content": "text", CALL"#,
            pieces: TAGS,
        },
        Region {
            field: r#""content": "text""#,
            pieces: TAGS,
        },
        Region {
            field: r#""content": "int""#,
            pieces: &["1", "2", " ", "x"],
        },
        // Tags.
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>\\n?(?P<value>.*?)\\n?</p>"}, CALL"#,
            pieces: TAGS,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>(?P<value>[^<]*)</p>", "value_parser": {"name": "text"}}, CALL"#,
            pieces: TAGS,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>(?P<value>.*?)</p>", "merge_duplicates": true}, CALL"#,
            pieces: TAGS,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>(?P<value>.*?)</p>", "value_parser": {"name": "text"}}, CALL"#,
            pieces: TAGS,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>(?P<value>.*?)</p>", "value_parser": {"name": "json", "args": {"allow_non_json": true}}}, CALL"#,
            pieces: TAGS,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)(?:>\\n(?P<value>.*?)\\n</p>|>(?P<value>.*?)</p>)"}, CALL"#,
            pieces: TAGS,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>(?P<value>.*?)</p>"}"#,
            pieces: TAGS,
        },
        // Tags with values that are JSON, in one form and in several.
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>(?P<value>.*?)</p>", "value_parser": {"name": "json"}}, CALL"#,
            pieces: VALUES,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>(?P<value>.*?)</p>", "value_parser": {"name": "json", "args": {"allow_non_json": true, "strip": true, "string_delims": [["'", "'"]]}}}, CALL"#,
            pieces: VALUES,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<p=(?P<key>\\w+)>(?P<value>.*?)</p>", "merge_duplicates": true, "value_parser": {"name": "json", "args": {"string_delims": [["'", "'"]]}}}, CALL"#,
            pieces: VALUES,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "(?P<key>\\w+)(?:=\\s*(?P<value>'(?:(?!').)*')|=(?!')(?P<value>(?:\"[^\"]*\"|[^\"])*?)|=\\s*'(?P<value>.*?)'|=(?P<value>.*?))(?=\\s*(?:,\\s*\\w+=|\\Z))", "value_parser": {"name": "json", "args": {"allow_non_json": true, "string_delims": [["'", "'"]]}}}, CALL"#,
            pieces: VALUES,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "(?P<key>\\w+)=(?P<value>\"(?:[^\"\\\\]|\\\\.)*\"|[^,]*)(?:,|\\Z)", "value_parser": {"name": "json", "args": {"unquoted_keys": true}}}, CALL"#,
            pieces: VALUES,
        },
        // A value of several forms, one of which is text.
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "(?P<key>\\w+)(?:=(?!')(?P<value>(?:\"[^\"]*\"|[^\"])*?)|='(?P<value>.*?)'|=(?P<value>.*?))(?=\\s*(?:,\\s*\\w+=|\\Z))"}, CALL"#,
            pieces: VALUES,
        },
        // A close that repeats the key, alone and as one of two.
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<(?P<key>[^<>/]*)>(?P<value>.*?)</(?P=key)>"}, CALL"#,
            pieces: KEYED,
        },
        Region {
            field: r#""content": "xml-inline", "content_args": {"tag_pattern": "<(?P<key>[^<>/]+)(?:>\n(?P<value>.*?)\n</(?P=key)>|>(?P<value>.*?)<(?P=key)/>)", "merge_duplicates": true}, CALL"#,
            pieces: KEYED,
        },
        // Lines.
        Region {
            field: r#""content": "kv-lines", CALL"#,
            pieces: LINES,
        },
        Region {
            field: r#""content": "kv-lines", "content_args": {"kv_sep": ": ", "line_sep": "\n\n", "strip": true}, CALL"#,
            pieces: LINES,
        },
        Region {
            field: r#""content": "kv-lines", "content_args": {"strip": false, "value_parser": {"name": "text"}}, CALL"#,
            pieces: LINES,
        },
        Region {
            field: r#""content": "kv-lines", "content_args": {"line_sep": null, "value_parser": {"name": "json", "args": {"allow_non_json": true}}}, CALL"#,
            pieces: LINES,
        },
    ]
}

/// Every region in a field that repeats and in one that keeps its last value, beside text that does either.
pub(crate) fn all() -> Vec<Format> {
    let mut formats = Vec::new();
    for Region { field, pieces } in regions() {
        let field = field.replace("CALL", CALL);
        for (repeats, content) in [
            (r#""repeats": true,"#, r#"{"repeats": true, "join": "+"}"#),
            ("", r#"{"close": "<e>"}"#),
            (
                r#""repeats": true,"#,
                r#"{"content_args": {"strip": false}, "repeats": true}"#,
            ),
        ] {
            let document = format!(
                r#"{{"defaults": {{"role": "assistant", "content": null, "tool_calls": []}}, "start_anchor": "A:", "fields": {{
                    "thinking": {{"open": "<t>", "close": "</t>"}}, "content": {content},
                    "tool_calls": {{"open_pattern": "<c(?P<name>[fg])?>", "close": "</c>", {repeats} {field}}}
                }}}}"#
            )
            // A capture needs a transform, and hides behind a member of the same name.
            .replace("<c(?P<name>[fg])", match field.contains("transform") {
                true if field.contains(r#""id": "{id}", "function": {"name": "{name}""#) => "(?P<id>)<c[fg]",
                true => "<c(?P<name>[fg])",
                false => "<c[fg]",
            })
            .replace(r#""content": null, "#, if content.contains("strip") { "" } else { r#""content": null, "# });
            let edges = [
                "<cf>", "<cg>", "<c>", "</c>", "</c>", "<t>", "</t>", "<e>", "so ", "\n",
            ];
            let pieces = pieces.iter().chain(edges.iter()).copied().collect();
            formats.push(Format { document, pieces });
        }
    }
    formats
}
