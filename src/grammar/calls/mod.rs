//! Calls of given tools as a format writes them.

mod tags;

use crate::grammar::avoid::{Avoid, Piece};
use crate::grammar::chars::Chars;
use crate::grammar::expr::{ANY_NAME, Arena, Expr, Id, JsonOf};
use crate::grammar::format::{Atom, Dialect, Format, Shape, Spelling};
use crate::grammar::json::{JsonWriter, OF_TEXTS};
use crate::grammar::parts::sorted;
use crate::grammar::request::Tool;
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
                    let name = match &tool.name {
                        Some(name) => self.arena.text(name),
                        None => self.any_name(),
                    };
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

    /// A name that is not known.
    fn any_name(&mut self) -> Id {
        let name = self.arena.add(Expr::Run {
            chars: Chars::of_names(),
            min: 1,
            max: Some(64),
        });
        self.arena.tag(ANY_NAME, name)
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
