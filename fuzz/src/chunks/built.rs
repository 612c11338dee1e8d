//! Documents over the grammar of the format, and responses out of their delimiters, near-misses and noise.

use arbitrary::Arbitrary;
use obverse::value::{Map, Value, json};

/// A document, the pieces of a prefix and of a response, and the sizes of the chunks.
#[derive(Debug, Arbitrary)]
pub struct Built {
    fields: Vec<Field>,
    prefix: Vec<Piece>,
    response: Vec<Piece>,
    sizes: Vec<u8>,
}

#[derive(Debug, Arbitrary)]
struct Field {
    open: Option<Delimiter>,
    close: Option<Delimiter>,
    content: u8,
    repeats: bool,
    join: bool,
    required: bool,
    transform: u8,
}

#[derive(Debug, Arbitrary)]
enum Delimiter {
    Literal(u8),
    Literals(u8, u8),
    Pattern(u8),
}

#[derive(Debug, Arbitrary)]
enum Piece {
    Literal(u8),
    /// The first so many characters of one.
    Begun(u8, u8),
    Word(u8),
    Text(String),
}

const LITERALS: [&str; 16] = [
    "<a>",
    "</a>",
    "<a>\n",
    "<b>",
    "</b>",
    "<|end|>",
    "<|end|>\n",
    "[C]",
    "[/C]",
    "{",
    "}",
    "\n",
    "é",
    "a",
    "ab",
    "<",
];

const PATTERNS: [&str; 32] = [
    r"<a>\s*",
    r"\s*</a>",
    r"\n?</a>\n{0,2}",
    r"<\|end\|>\s*",
    r"<\|end\|>|$",
    r"<(?P<name>\w+)>",
    r"</(?P<name>\w+)>\s*",
    r"<a(?: id=(?P<id>\d+))?>",
    r"\[(?P<name>[^\]\n]*)\]",
    r"(?=<a>)",
    r"(?=<b>)|<\|end\|>",
    r"(?<=\n)<a>",
    r"<a>(?=[\s\S]*?</a>)",
    r"<a>(?!b)",
    r"\b[ab]+\b",
    r"a*",
    r"(?:<a>|<b>)+",
    r"(?P<q>['<]).*?(?P=q)",
    r"<.*>",
    r"<[^>]*>",
    r"(?i)<A>",
    r"(?m)^<b>",
    r"</b>\Z",
    r"\n$",
    r"(?>a+)b",
    r"ab|a|abcd",
    r"é+",
    r"(?s:.)b",
    r"\s*\{",
    r"\}\s*(?=\{|$)",
    r"[CD]\]",
    r"(?P<name>a)|(?P<other>b)",
];

const WORDS: [&str; 16] = [
    "text",
    " ",
    "\n",
    "{\"a\": 1}",
    "{\"name\": \"f\", \"arguments\": {}}",
    "[1, 2]",
    "1",
    "x: 1\n",
    "<a",
    "</",
    "  \n\n",
    "\u{1f600}",
    "key=",
    "null",
    "\"",
    "b",
];

const TRANSFORMS: [&str; 4] = [
    "\"{content}\"",
    r#"{"name": "{name}", "value": "{content}"}"#,
    r#"{"function": {"name": "{content.name}"}}"#,
    "[\"{content}\", 1]",
];

fn of<'a>(list: &[&'a str], index: u8) -> &'a str {
    list[index as usize % list.len()]
}

impl Built {
    pub fn document(&self) -> Value {
        let mut fields = Map::new();
        for (index, field) in self.fields.iter().take(5).enumerate() {
            fields.insert(format!("f{index}"), field.document());
        }
        let mut document = Map::new();
        document.insert("start_anchor", "[C]".into());
        document.insert("fields", fields.into());
        document.into()
    }

    pub fn prefix(&self) -> String {
        text(&self.prefix)
    }

    pub fn response(&self) -> String {
        text(&self.response)
    }

    pub fn sizes(&self) -> &[u8] {
        &self.sizes
    }
}

fn text(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Literal(index) => of(&LITERALS, *index).to_owned(),
            Piece::Begun(index, length) => of(&LITERALS, *index)
                .chars()
                .take(*length as usize % 8)
                .collect(),
            Piece::Word(index) => of(&WORDS, *index).to_owned(),
            Piece::Text(text) => text.clone(),
        })
        .collect()
}

impl Field {
    fn document(&self) -> Value {
        let mut members = Map::new();
        for (side, delimiter) in [("open", &self.open), ("close", &self.close)] {
            let (key, value) = match delimiter {
                None => continue,
                Some(Delimiter::Literal(index)) => (side.to_owned(), of(&LITERALS, *index).into()),
                Some(Delimiter::Literals(one, other)) => {
                    let both = [one, other].map(|index| of(&LITERALS, *index).into());
                    (side.to_owned(), Value::Array(both.into()))
                }
                Some(Delimiter::Pattern(index)) => {
                    (format!("{side}_pattern"), of(&PATTERNS, *index).into())
                }
            };
            members.insert(key, value);
        }
        let parsers = [
            "text",
            "text",
            "json",
            "kv-lines",
            "int",
            "xml-inline",
            "float",
            "bool",
        ];
        let content = of(&parsers, self.content);
        members.insert("content", content.into());
        if content == "xml-inline" {
            let args = r#"{"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</\\w+>"}"#;
            members.insert("content_args", json::parse(args).expect("JSON"));
        }
        if self.repeats || self.join {
            members.insert("repeats", true.into());
        }
        if self.join {
            members.insert("join", "\n".into());
        }
        if self.required {
            members.insert("optional", false.into());
        }
        let named = matches!(self.open, Some(Delimiter::Pattern(_)));
        if self.transform % 2 == 1 || named && self.transform % 4 == 2 {
            let transform = of(&TRANSFORMS, self.transform / 2);
            members.insert("transform", json::parse(transform).expect("JSON"));
        }
        members.into()
    }
}
