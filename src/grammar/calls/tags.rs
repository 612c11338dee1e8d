//! Arguments that stand one by one, each in a tag of its own.

use super::Calls;
use crate::grammar::expr::{ANY_VALUE, Id, OR_PYTHON};
use crate::grammar::format::{Dialect, Tag, TagAtom, TagForm};
use crate::grammar::json::members_and;
use crate::grammar::parts::{literals, standing_alone, typed, undeclared};
use crate::grammar::request::Tool;
use crate::value::{Map, Value, json};

impl Calls<'_> {
    /// The tags of a tool's arguments; `None` where it has none.
    pub(super) fn tags(&mut self, tool: &Tool, separator: &str, tail: &str) -> Option<Id> {
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
        let around = Around { separator, tail };
        let items: Vec<(Id, bool)> = properties
            .iter()
            .map(|(key, schema)| {
                let types = typed(schema, &tool.parameters, 0);
                let tag = self.tag(Some(key), types, &tool.parameters, around);
                (tag, required.contains(&key.as_str()))
            })
            .collect();
        let additional = tool.parameters.get("additionalProperties");
        let further = undeclared(additional, !properties.is_empty()).map(|schema| match &schema {
            // An empty schema asks for nothing.
            Value::Object(asked) if !asked.is_empty() => typed(&schema, &tool.parameters, 0),
            _ => any_type(),
        });
        if let (Some(_), Some(name)) = (&further, &tool.name) {
            self.note(
                "undeclared-arguments",
                format!("`{name}` takes arguments that its schema does not declare: their names are letters, digits and the characters _ - . and nothing keeps a model from writing one twice"),
            );
        }
        let further = further.map(|types| self.tag(None, types, &tool.parameters, around));
        let separator = self.arena.text(separator);
        members_and(self.arena, &items, further, separator)
    }

    /// The tag of an argument, in each way in which a value of these types is written. Without a key it may be any.
    fn tag(
        &mut self,
        key: Option<&str>,
        types: Vec<(&'static str, Value)>,
        root: &Value,
        around: Around<'_>,
    ) -> Id {
        let mut all: Vec<(Vec<TagAtom>, Vec<Form>)> = Vec::new();
        for (of, schema) in types {
            let tags = self.tags_of(of);
            if tags.is_empty() && key.is_some() {
                self.note(
                    "type-not-shown",
                    format!("no response shows how an argument of type {of} is written"),
                );
            }
            for tag in tags {
                let quoted = quoted(&tag).filter(|_| !self.reads_backslash());
                let Tag { atoms, form, .. } = quoted.unwrap_or(tag);
                let form = Form {
                    form,
                    of,
                    schema: schema.clone(),
                };
                // What an unknown name has for its value is told by the value alone, so that all of them stand behind one name.
                match all.iter_mut().find(|(known, _)| *known == atoms) {
                    Some((_, forms)) if key.is_none() => forms.push(form),
                    _ => all.push((atoms, vec![form])),
                }
            }
        }
        // Where tags begin alike they are told apart by what stands behind the name, which may be anything.
        let mut ways: Vec<(Vec<TagAtom>, Vec<Id>)> = Vec::new();
        for (atoms, mut forms) in all {
            // Any text is a text.
            forms.sort_by_key(|form| form.form == TagForm::Raw);
            let named = atoms.iter().position(|atom| *atom == TagAtom::Key);
            let behind = match (key, named) {
                (None, Some(at)) => at + 1,
                _ => 0,
            };
            let Some(rest) = self.tag_from(behind, &atoms, key, &forms, root, around) else {
                continue;
            };
            let before = atoms[..behind].to_vec();
            match ways.iter_mut().find(|(known, _)| *known == before) {
                Some((_, rests)) => rests.push(rest),
                None => ways.push((before, vec![rest])),
            }
        }
        let mut tags = Vec::new();
        for (before, rests) in ways {
            let rest = self.arena.choice(rests);
            let before: Vec<Id> = (0..before.len())
                .map(|at| self.tag_atom(at, &before, key))
                .collect();
            let whole = self.arena.seq(before.into_iter().chain([rest]));
            tags.push(self.arena.tag("tool-arg", whole));
        }
        self.arena.choice(tags)
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

    /// A part of a tag that is no value.
    fn tag_atom(&mut self, at: usize, atoms: &[TagAtom], key: Option<&str>) -> Id {
        let TagAtom::Text(text) = &atoms[at] else {
            let name = match key {
                Some(key) => self.arena.text(key),
                None => self.any_name(),
            };
            let is_first = !atoms[..at].contains(&TagAtom::Key);
            return match is_first {
                true => self.arena.tag("tool-arg-name", name),
                false => name,
            };
        };
        self.arena.text(text)
    }

    /// A tag of these parts from one of them on, around a value in one of the forms; `None` where there is no such value.
    fn tag_from(
        &mut self,
        from: usize,
        atoms: &[TagAtom],
        key: Option<&str>,
        forms: &[Form],
        root: &Value,
        around: Around<'_>,
    ) -> Option<Id> {
        let mut items = Vec::new();
        for (at, atom) in atoms.iter().enumerate().skip(from) {
            if *atom != TagAtom::Value {
                items.push(self.tag_atom(at, atoms, key));
                continue;
            }
            let close = match atoms.get(at + 1) {
                Some(TagAtom::Text(text)) => vec![text.clone()],
                _ => vec![around.separator.to_owned(), around.tail.to_owned()],
            };
            let mut values = Vec::new();
            for Form { form, of, schema } in forms {
                values.extend(self.tag_value(form, of, schema, root, &close));
            }
            if values.is_empty() {
                return None;
            }
            let value = self.arena.choice(values);
            items.push(match key {
                Some(_) => value,
                None => self.arena.tag(ANY_VALUE, value),
            });
        }
        Some(self.arena.seq(items))
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
    pub(super) fn reads_backslash(&self) -> bool {
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
}

/// The text that stands between two tags, and the one behind the last.
#[derive(Debug, Clone, Copy)]
struct Around<'t> {
    separator: &'t str,
    tail: &'t str,
}

/// A way in which a value is written in a tag.
struct Form {
    form: TagForm,
    /// The type, as JSON Schema calls it.
    of: &'static str,
    schema: Value,
}

/// Every type, those first that are told by how their values begin.
fn any_type() -> Vec<(&'static str, Value)> {
    let types = ["null", "boolean", "number", "array", "object", "string"];
    let of = |name: &'static str| {
        let schema = [("type".to_owned(), Value::from(name))];
        (name, Value::Object(Map::from_iter(schema)))
    };
    types.map(of).into()
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
