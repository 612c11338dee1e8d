//! Calls of given tools as a format writes them.

use super::avoid::{Avoid, Piece};
use super::expr::{Arena, Expr, Id, JsonOf, OR_PYTHON};
use super::format::{Atom, Dialect, Format, Shape, Spelling, Tag, TagAtom, TagForm};
use super::json::{JsonWriter, OF_TEXTS, members};
use super::parts::{literals, sorted, standing_alone, typed};
use super::request::Tool;
use crate::value::{Map, Value, json};

/// Writes calls into an arena.
#[derive(Debug)]
pub(crate) struct Calls<'a> {
    pub(crate) arena: &'a mut Arena,
    pub(crate) format: &'a Format,
    /// The sequences that would end the region of a call if they stood in a text of it.
    pub(crate) ends: Vec<Vec<Piece>>,
    /// True if the message has the arguments as the text that they are.
    pub(crate) is_text: bool,
    /// True if each argument stands on a line, so that none has more than one.
    pub(crate) is_in_lines: bool,
    pub(crate) findings: &'a mut Vec<(&'static str, String)>,
}

impl Calls<'_> {
    /// A call of one of the tools, in one of the spellings.
    pub(crate) fn any_of(&mut self, tools: &[Tool], spellings: &[Spelling]) -> Id {
        let mut all = Vec::new();
        for tool in tools {
            for spelling in spellings {
                if let Some(call) = self.call(tool, spelling) {
                    all.push(call);
                }
            }
        }
        self.arena.choice(all)
    }

    fn note(&mut self, code: &'static str, text: String) {
        if !self.findings.iter().any(|(_, known)| *known == text) {
            self.findings.push((code, text));
        }
    }

    /// A call of a tool; `None` where it cannot be spelled so.
    fn call(&mut self, tool: &Tool, spelling: &Spelling) -> Option<Id> {
        let call = self.atoms(tool, spelling)?;
        Some(self.arena.tag("tool", call))
    }

    fn atoms(&mut self, tool: &Tool, atoms: &[Atom]) -> Option<Id> {
        let mut items = Vec::new();
        for atom in atoms {
            items.push(match atom {
                Atom::Text(text) => self.arena.text(text),
                Atom::Name => {
                    let name = self.arena.text(&tool.name);
                    self.arena.tag("tool-name", name)
                }
                Atom::Id { atoms, is_number } => {
                    let mut id = self.atoms(tool, atoms)?;
                    if *is_number {
                        id = self.arena.tag("json", id);
                    }
                    self.arena.tag("tool-id", id)
                }
                Atom::Run { chars, min, max } => self.arena.add(Expr::Run {
                    chars: chars.clone(),
                    min: *min,
                    max: *max,
                }),
                Atom::Args(shape) => self.arguments(tool, shape)?,
            });
        }
        Some(self.arena.seq(items))
    }

    fn arguments(&mut self, tool: &Tool, shape: &Shape) -> Option<Id> {
        match shape {
            Shape::Json => {
                let mut arguments = self.json(&tool.parameters);
                if self.is_text {
                    arguments = self.arena.tag("text", arguments);
                }
                Some(self.arena.tag("tool-args", arguments))
            }
            Shape::Empty(text) => {
                let required = tool.parameters.get("required").and_then(Value::as_array);
                required
                    .is_none_or(<[Value]>::is_empty)
                    .then(|| self.arena.text(text))
            }
            Shape::Tags {
                lead,
                separator,
                tail,
            } => {
                let separator = separator.as_deref().unwrap_or_default();
                let inner = self.tags(tool, separator, tail)?;
                let (lead, tail) = (self.arena.text(lead), self.arena.text(tail));
                Some(self.arena.seq([lead, inner, tail]))
            }
        }
    }

    /// Returns the plain texts that must not stand in a string.
    fn plain_ends(&self) -> Vec<String> {
        let plain = self
            .ends
            .iter()
            .filter_map(|pieces| match pieces.as_slice() {
                [Piece::Text(text)] => Some(text.clone()),
                _ => None,
            });
        plain.collect()
    }

    fn json(&mut self, schema: &Value) -> Id {
        if self.format.style.is_string {
            self.note(
                "arguments-as-text",
                "arguments are a string of JSON in which JSON stands: no engine holds what stands in a string to a schema".to_owned(),
            );
            return self.native(&Value::Object(Map::from_iter([(
                "type".to_owned(),
                Value::from("string"),
            )])));
        }
        match self.format.style.dialect.clone() {
            Some(dialect) => self.written(schema, schema, Some(&dialect)),
            None => self.native(schema),
        }
    }

    /// JSON as engines know it.
    fn native(&mut self, schema: &Value) -> Id {
        let avoid = self.plain_ends();
        let schema = if self.format.sorted {
            sorted(schema.clone())
        } else {
            schema.clone()
        };
        self.arena.add(Expr::Json(JsonOf {
            schema: json::to_string(&schema),
            avoid,
        }))
    }

    fn written(&mut self, schema: &Value, root: &Value, dialect: Option<&Dialect>) -> Id {
        let avoid = self.plain_ends();
        let mut ignored = Vec::new();
        let scope = super::json::named(&json::to_string(root));
        let mut writer = JsonWriter {
            arena: self.arena,
            root,
            dialect,
            avoid: &avoid,
            ignored: &mut ignored,
            sorted: self.format.sorted,
            no_backslash: !self.format.style.has_backslash(),
            scope: format!("{scope}-"),
        };
        let id = writer.value(schema, 0);
        for keyword in ignored {
            self.note_keyword(&keyword);
        }
        id
    }

    fn note_keyword(&mut self, keyword: &str) {
        self.note(
            "schema-keyword",
            format!("the grammar does not ask for `{keyword}` of a schema"),
        );
    }

    /// Tells what a schema asks of a text that goes on to its close, of which nothing is asked.
    fn note_unasked(&mut self, schema: &Value) {
        for keyword in OF_TEXTS {
            if schema.get(keyword).is_some() {
                self.note_keyword(keyword);
            }
        }
    }

    /// The tags of a tool's arguments; `None` where it has none.
    fn tags(&mut self, tool: &Tool, separator: &str, tail: &str) -> Option<Id> {
        let required: Vec<&str> = tool
            .parameters
            .get("required")
            .and_then(Value::as_array)
            .map_or_else(Vec::new, |keys| {
                keys.iter().filter_map(Value::as_str).collect()
            });
        let properties = tool.parameters.get("properties").and_then(Value::as_object);
        let mut properties: Vec<(String, Value)> = properties.map_or_else(Vec::new, |properties| {
            let each = properties.iter();
            each.map(|(key, value)| (key.to_string(), value.clone()))
                .collect()
        });
        if self.format.sorted {
            properties.sort_by(|a, b| a.0.cmp(&b.0));
        }
        let items: Vec<(Id, bool)> = properties
            .iter()
            .map(|(key, schema)| {
                let tag = self.tag(key, schema, &tool.parameters, separator, tail);
                (tag, required.contains(&key.as_str()))
            })
            .collect();
        let separator = self.arena.text(separator);
        members(self.arena, &items, separator)
    }

    /// The tag of an argument, in each way in which a value of its types is written.
    fn tag(&mut self, key: &str, schema: &Value, root: &Value, separator: &str, tail: &str) -> Id {
        let mut ways = Vec::new();
        for (of, schema) in typed(schema, root, 0) {
            let tags = self.tags_of(of);
            if tags.is_empty() {
                self.note(
                    "type-not-shown",
                    format!("no response shows how an argument of type {of} is written"),
                );
            }
            for tag in tags {
                if let Some(way) = self.one_tag(&tag, key, of, &schema, root, separator, tail) {
                    ways.push(way);
                }
            }
        }
        self.arena.choice(ways)
    }

    /// The tags in which a value of the type is written.
    fn tags_of(&self, of: &str) -> Vec<Tag> {
        let all = &self.format.style.tags;
        let like: &[&str] = match of {
            "integer" => &["integer", "number"],
            "number" => &["number", "integer"],
            "object" => &["object", "array"],
            "array" => &["array", "object"],
            "boolean" => &["boolean"],
            other => std::slice::from_ref(match other {
                "null" => &"null",
                _ => &"string",
            }),
        };
        let found = like.iter().map(|of| {
            let of = all.iter().filter(|tag| tag.of == *of);
            of.cloned().collect::<Vec<Tag>>()
        });
        found
            .into_iter()
            .find(|tags| !tags.is_empty())
            .unwrap_or_default()
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "what a tag is made of, none of which belongs together"
    )]
    fn one_tag(
        &mut self,
        tag: &Tag,
        key: &str,
        of: &str,
        schema: &Value,
        root: &Value,
        separator: &str,
        tail: &str,
    ) -> Option<Id> {
        let quoted = quoted(tag).filter(|_| !self.reads_backslash());
        let tag = quoted.as_ref().unwrap_or(tag);
        let mut items = Vec::new();
        for (at, atom) in tag.atoms.iter().enumerate() {
            items.push(match atom {
                TagAtom::Text(text) => self.arena.text(text),
                TagAtom::Key => {
                    let is_first = !tag.atoms[..at].contains(&TagAtom::Key);
                    let name = self.arena.text(key);
                    if is_first {
                        self.arena.tag("tool-arg-name", name)
                    } else {
                        name
                    }
                }
                TagAtom::Value => {
                    let close = match tag.atoms.get(at + 1) {
                        Some(TagAtom::Text(text)) => vec![text.clone()],
                        _ => vec![separator.to_owned(), tail.to_owned()],
                    };
                    self.tag_value(&tag.form, of, schema, root, &close)?
                }
            });
        }
        let whole = self.arena.seq(items);
        Some(self.arena.tag("tool-arg", whole))
    }

    fn tag_value(
        &mut self,
        form: &TagForm,
        of: &str,
        schema: &Value,
        root: &Value,
        close: &[String],
    ) -> Option<Id> {
        if let Some(values) = literals(schema) {
            let values: Vec<Id> = values
                .iter()
                .filter_map(|value| self.literal(form, value))
                .collect();
            return (!values.is_empty()).then(|| self.arena.choice(values));
        }
        Some(match form {
            TagForm::Raw => {
                self.note_unasked(schema);
                let text = self.free(close);
                self.arena.tag("tool-arg-string-value", text)
            }
            TagForm::Quoted(open, end) => {
                self.note_unasked(schema);
                let text = self.free(std::slice::from_ref(end));
                let quoted = self.quoted(open, text, end);
                match open == end && ["'", "\""].contains(&open.as_str()) && !self.reads_backslash()
                {
                    true => self.arena.tag(OR_PYTHON, quoted),
                    false => quoted,
                }
            }
            TagForm::Word(word) => self.word(word, of),
            TagForm::Dialect => {
                let dialect = self.format.style.dialect.clone()?;
                let value = self.written(schema, root, Some(&dialect));
                self.value(value)
            }
            TagForm::Json if self.is_in_lines => {
                let value = self.written(schema, root, Some(&Dialect::on_one_line()));
                self.value(value)
            }
            // A text that need not be JSON is JSON where it is written so.
            TagForm::Json if of == "string" || is_scalar(of) => {
                let value = self.written(schema, root, None);
                self.value(value)
            }
            TagForm::Json => {
                let value = self.native(&standing_alone(schema, root));
                self.value(value)
            }
        })
    }

    /// The value of an argument, which whoever reads may take for a Python literal where it is not what it should be.
    fn value(&mut self, value: Id) -> Id {
        let value = self.arena.tag("tool-arg-value", value);
        // A Python literal may go on in the next line.
        match self.is_in_lines {
            true => value,
            false => self.arena.tag(OR_PYTHON, value),
        }
    }

    /// Returns true if renders with a backslash in a text are read back, so that it is no escape.
    fn reads_backslash(&self) -> bool {
        self.format.is_made_up || self.format.style.has_backslash_in_tag()
    }

    /// A value that the schema lists; `None` where the form is another value's.
    fn literal(&mut self, form: &TagForm, value: &Value) -> Option<Id> {
        Some(match (form, value) {
            (TagForm::Raw, Value::String(text)) => {
                let text = self.arena.text(text);
                self.arena.tag("tool-arg-string-value", text)
            }
            (TagForm::Quoted(open, end), Value::String(text)) => {
                let text = self.arena.text(text);
                self.quoted(open, text, end)
            }
            (TagForm::Word(word), Value::Bool(value)) => {
                if !word.eq_ignore_ascii_case(&value.to_string()) {
                    return None;
                }
                self.word(word, "boolean")
            }
            (TagForm::Word(word), Value::Null) => self.word(word, "null"),
            (TagForm::Dialect, value) => {
                let dialect = self.format.style.dialect.clone()?;
                let constant = Value::Object(Map::from_iter([("const".to_owned(), value.clone())]));
                let value = self.written(&constant, &constant, Some(&dialect));
                self.arena.tag("tool-arg-value", value)
            }
            (TagForm::Json, value) => {
                let value = self.arena.text(&json::to_string(value));
                self.arena.tag("tool-arg-value", value)
            }
            _ => return None,
        })
    }

    /// A text between two others.
    fn quoted(&mut self, open: &str, text: Id, end: &str) -> Id {
        let text = self.arena.tag("tool-arg-string-value", text);
        let (open, end) = (self.arena.text(open), self.arena.text(end));
        self.arena.seq([open, text, end])
    }

    /// A word for a value of the type, of which there is one.
    fn word(&mut self, word: &str, of: &str) -> Id {
        let text = self.arena.text(word);
        let value = match of {
            "null" => "null",
            _ if word.eq_ignore_ascii_case("true") => "true",
            _ if word.eq_ignore_ascii_case("false") => "false",
            _ => "text",
        };
        let value = self.arena.tag(value, text);
        self.arena.tag("tool-arg-value", value)
    }

    /// A text that goes on to its close, or that of the call.
    fn free(&mut self, close: &[String]) -> Id {
        let close = close.iter().map(|text| match text.trim() {
            // Where nothing but white space separates, that is what no text has in it.
            "" if self.is_in_lines => text.as_str(),
            trimmed => trimmed,
        });
        let close = close.filter(|text| !text.is_empty());
        let close = close.map(|text| vec![Piece::Text(text.to_owned())]);
        let ends = self.ends.clone();
        // Where no render that has one is read back, a backslash may be read as an escape.
        let backslash = (!self.reads_backslash()).then(|| vec![Piece::Text("\\".to_owned())]);
        let all = close.chain(ends).chain(backslash);
        self.arena.add(Expr::Free(Avoid::new(all)))
    }
}

/// The tag with the quotes around its text as quotes, where they are told as what stands before and behind it.
fn quoted(tag: &Tag) -> Option<Tag> {
    let at = tag.atoms.iter().position(|atom| *atom == TagAtom::Value)?;
    let (TagAtom::Text(before), TagAtom::Text(quote)) =
        (tag.atoms.get(at.checked_sub(1)?)?, tag.atoms.get(at + 1)?)
    else {
        return None;
    };
    let before = before.strip_suffix(quote.as_str())?;
    if tag.form != TagForm::Raw || !["'", "\""].contains(&quote.as_str()) {
        return None;
    }
    let mut quoted = tag.clone();
    quoted.form = TagForm::Quoted(quote.clone(), quote.clone());
    quoted.atoms.remove(at + 1);
    quoted.atoms[at - 1] = TagAtom::Text(before.to_owned());
    Some(quoted)
}

fn is_scalar(of: &str) -> bool {
    matches!(of, "integer" | "number" | "boolean" | "null")
}
