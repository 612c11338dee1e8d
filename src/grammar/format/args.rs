//! How arguments are written, as far as responses show it.

use super::dialect::{self, Dialect};
use super::tags::{self, SeenTag, Tag, TagForm};
use crate::content::{ContentParser, Form};
use crate::value::{Map, Value, json};

/// The arguments of one call as they were written.
#[derive(Debug)]
pub(super) enum SeenArguments {
    Tags(Vec<SeenTag>),
    Json(SeenJson),
    /// With what is known of their order.
    Ordered(Box<SeenArguments>, Option<bool>),
}

#[derive(Debug)]
pub(super) struct SeenJson {
    raw: String,
    value: Value,
    candidates: Vec<Dialect>,
}

impl SeenArguments {
    pub(super) fn json(raw: &str, arguments: &Map, content: &ContentParser) -> Self {
        Self::Json(SeenJson {
            raw: raw.to_owned(),
            value: Value::Object(arguments.clone()),
            candidates: candidates(content),
        })
    }

    /// With what the order of the arguments tells: whether it is that of their names, and not that of the tool's schema.
    pub(super) fn in_order(self, call: &Value, arguments: &Map, tools: &[Value]) -> Self {
        let name = call
            .get("function")
            .and_then(|function| function.get("name"));
        let tool = tools.iter().find_map(|tool| {
            let function = tool.get("function").unwrap_or(tool);
            (function.get("name") == name).then_some(function)
        });
        let properties = tool
            .and_then(|tool| tool.get("parameters")?.get("properties"))
            .and_then(Value::as_object);
        let declared: Vec<&str> = properties.map_or_else(Vec::new, |properties| {
            let known = properties.keys().filter(|key| arguments.contains_key(key));
            known.map(|key| key.as_str()).collect()
        });
        let written: Vec<&str> = arguments.keys().map(|key| key.as_str()).collect();
        let mut sorted = declared.clone();
        sorted.sort_unstable();
        let told = (sorted != declared).then(|| written == sorted);
        Self::Ordered(Box::new(self), told)
    }
}

fn candidates(content: &ContentParser) -> Vec<Dialect> {
    match content.form() {
        Some(Form::Json {
            string_delims,
            unquoted_keys,
        }) => dialect::candidates(string_delims, unquoted_keys),
        _ => Vec::new(),
    }
}

/// How arguments are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Style {
    /// The tags, those that were seen most first.
    pub(crate) tags: Vec<Tag>,
    /// True if they are a text in which the JSON stands, as a string of JSON.
    pub(crate) is_string: bool,
    /// The dialect, where it is not JSON.
    pub(crate) dialect: Option<Dialect>,
    /// The arguments that were written in no way that is known.
    pub(crate) unknown: Vec<String>,
    sorted: Option<bool>,
    counts: Vec<usize>,
    texts: Vec<(String, Value)>,
    strings: Vec<String>,
    has_backslash_in_tag: bool,
    candidates: Vec<Dialect>,
}

/// The texts by which a dialect is told.
const MAX_TEXTS: usize = 300;

impl Style {
    pub(super) fn see(&mut self, seen: &SeenArguments) {
        match seen {
            SeenArguments::Ordered(seen, sorted) => {
                if let Some(sorted) = sorted {
                    self.sorted = Some(self.sorted.unwrap_or(true) && *sorted);
                }
                self.see(seen);
            }
            SeenArguments::Json(json) => {
                self.candidates.clone_from(&json.candidates);
                self.see_json(&json.raw, &json.value);
            }
            SeenArguments::Tags(tags) => tags.iter().for_each(|tag| self.see_tag(tag)),
        }
    }

    fn see_json(&mut self, raw: &str, value: &Value) {
        self.see_string(raw);
        match json::parse(raw) {
            Ok(read) if read == *value => {}
            Ok(Value::String(_)) => self.is_string = true,
            _ if self.texts.len() < MAX_TEXTS => self.texts.push((raw.to_owned(), value.clone())),
            _ => {}
        }
    }

    fn see_string(&mut self, raw: &str) {
        if !self.strings.iter().any(|known| known == raw) {
            self.strings.push(raw.to_owned());
        }
    }

    /// True if a text with a backslash was read back.
    pub(crate) fn has_backslash(&self) -> bool {
        self.strings.iter().any(|text| text.contains('\\'))
    }

    /// The texts that were seen within calls.
    pub(super) fn strings(&self) -> &[String] {
        &self.strings
    }

    /// True if a text in a tag that has a backslash was read back.
    pub(crate) fn has_backslash_in_tag(&self) -> bool {
        self.has_backslash_in_tag
    }

    fn see_tag(&mut self, seen: &SeenTag) {
        self.see_string(&seen.raw);
        self.has_backslash_in_tag |=
            matches!(&seen.value, Value::String(text) if text.contains('\\'));
        let Some(form) = tags::form_of(&seen.raw, &seen.value) else {
            if !self.unknown.contains(&seen.raw) && self.unknown.len() < 3 {
                self.unknown.push(seen.raw.clone());
            }
            return;
        };
        if form == TagForm::Dialect && self.texts.len() < MAX_TEXTS {
            self.candidates = dialect::candidates(&[("'".to_owned(), "'".to_owned())], false);
            self.texts.push((seen.raw.clone(), seen.value.clone()));
        }
        let tag = Tag {
            of: seen.value.schema_type(),
            atoms: seen.atoms.clone(),
            form,
        };
        match self.tags.iter().position(|known| *known == tag) {
            Some(at) => self.counts[at] += 1,
            None => {
                self.tags.push(tag);
                self.counts.push(1);
            }
        }
    }

    /// Decides by all that was seen.
    pub(super) fn settle(&mut self) {
        let mut order: Vec<usize> = (0..self.tags.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.counts[*at]));
        self.tags = order.iter().map(|at| self.tags[*at].clone()).collect();
        let right = |dialect: &Dialect| {
            let texts = self.texts.iter();
            texts
                .filter(|(raw, value)| dialect.write(value) == *raw)
                .count()
        };
        let best = self
            .candidates
            .iter()
            .rev()
            .max_by_key(|dialect| right(dialect));
        self.dialect = best.filter(|best| right(best) > 0).cloned();
        for (raw, value) in &self.texts {
            let is_told = self
                .dialect
                .as_ref()
                .is_some_and(|dialect| dialect.write(value) == *raw);
            if !is_told && self.unknown.len() < 3 {
                self.unknown.push(raw.clone());
            }
        }
        self.texts.clear();
    }

    pub(super) fn is_sorted(&self) -> bool {
        self.sorted == Some(true)
    }
}
