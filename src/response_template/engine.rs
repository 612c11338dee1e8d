//! The engines that run response templates beside transformers, and how much of the format each of them takes.
//!
//! Servers read the same document and take only a part of what transformers takes. The rules are those of their readers:
//!
//! - vLLM 0.33 has two. `vllm/parser/response_template.py` (`validate_response_template_for_serving`) takes three fields,
//!   no default but the role, and plain text for text. `rust/src/parser/src/unified/hf` (`pattern.rs`, `template.rs`) also takes
//!   `reasoning_content`, further defaults and `join`, but matches with Rust's regular expressions: it starts only where a literal
//!   stands with which every match begins, and the automaton of a pattern takes at most 16 MiB. What is for vLLM is for both.
//! - SGLang 0.5.23 has one, `python/sglang/srt/parser/response_template.py`, with the same rules as the first.
//!
//! Both drop a tool call that is not an object with a function's name and arguments.

use std::fmt;
use std::str::FromStr;

use super::{Delimiter, Document, FieldDocument, strict, vllm};
use crate::diagnostic::Diagnostic;
use crate::value::json::quote;
use crate::value::{Path, Value};

/// Something that parses responses by a response template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// transformers 5.23, the reference: it takes every valid response template.
    Transformers,
    /// vLLM 0.33.
    Vllm,
    /// SGLang 0.5.23.
    Sglang,
}

/// The fields that servers can stream.
const SERVED_FIELDS: [&str; 3] = ["thinking", "content", TOOL_CALLS];

/// The one of them that is not text.
const TOOL_CALLS: &str = "tool_calls";

/// The one default that servers take.
const SERVED_DEFAULT: &str = "role";

impl Engine {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Transformers, Self::Vllm, Self::Sglang];

    /// The name by which it is asked for, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transformers => "transformers",
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
        }
    }

    /// Returns true if it is a server, which streams three fields and nothing else.
    pub fn is_server(self) -> bool {
        self != Self::Transformers
    }

    /// How much some engines refuse of a valid response template, all in all; see [`check`](Self::check).
    pub(crate) fn refusals(engines: &[Self], document: &Document) -> usize {
        engines
            .iter()
            .map(|engine| engine.check(document).len())
            .sum()
    }

    /// Everything for which it refuses a valid response template, or would lose what the template parses; in the order of
    /// the document, each of severity error and with its JSON path. Nothing is said about documents that are not valid.
    ///
    /// ```
    /// use obverse::response_template::{Delimiter, Document, Engine, FieldDocument};
    /// let mut document = Document::new(Delimiter::literal("<bot>"));
    /// document.fields.insert("reasoning".to_owned(), FieldDocument {
    ///     open: Some(Delimiter::literal("<r>")),
    ///     close: Some(Delimiter::pattern("\\s*</r>")),
    ///     ..FieldDocument::default()
    /// });
    /// assert!(Engine::Transformers.check(&document).is_empty());
    /// let found: Vec<_> = Engine::Vllm.check(&document).into_iter().map(|found| found.code).collect();
    /// assert_eq!(found, ["unserved-field", "unserved-pattern"]);
    /// ```
    pub fn check(self, document: &Document) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if !self.is_server() {
            return found;
        }
        let root = Path::default();
        for key in document
            .defaults
            .keys()
            .filter(|key| *key != SERVED_DEFAULT)
        {
            let message = format!(
                "{self} takes no default but {SERVED_DEFAULT}, and so not {}",
                quote(key)
            );
            found.push(error(
                "unserved-default",
                message,
                &root.key("defaults").key(key),
            ));
        }
        if self == Self::Vllm
            && let Delimiter::Pattern(source) = &document.start_anchor
            && let Err(why) = vllm::check_regex(source)
        {
            found.push(error(
                "unserved-pattern",
                why,
                &root.key("start_anchor_pattern"),
            ));
        }
        for (name, field) in &document.fields {
            let path = root.key("fields").key(name);
            if !SERVED_FIELDS.contains(&name.as_str()) {
                let message = format!("{self} takes no field {}", quote(name));
                let hint = format!("its fields are {}", SERVED_FIELDS.join(", "));
                found.push(error("unserved-field", message, &path).with_hint(hint));
            } else if name != TOOL_CALLS {
                self.check_text(name, field, &path, &mut found);
            } else {
                self.check_calls(field, &path, &mut found);
            }
            if self == Self::Vllm {
                check_patterns(field, &path, &mut found);
            }
        }
        found
    }

    /// Everything for which the engine cannot hold a model to the calls of a response template that it takes, although it has a way to do so
    /// (strict calls); each of severity info and with its JSON path. Only vLLM has one. Where nothing is found, a tool's schema may still be one that
    /// it cannot ask for.
    ///
    /// ```
    /// use obverse::response_template::{Document, Engine};
    /// use obverse::value::json;
    /// let document = |close: &str| {
    ///     let text = format!(
    ///         r#"{{"start_anchor": "<bot>", "fields": {{"tool_calls": {{"open_pattern": "<call (?P<name>\\\\w+)>", "close_pattern": "{close}",
    ///         "content": "json", "transform": {{"function": {{"name": "{{name}}", "arguments": "{{content}}"}}}}}}}}}}"#
    ///     );
    ///     Document::of(&json::parse(&text).unwrap()).unwrap()
    /// };
    /// assert!(Engine::Vllm.strict_calls(&document("</call>\\\\n?")).is_empty());
    /// assert_eq!(Engine::Vllm.strict_calls(&document("</call>\\\\s*"))[0].code, "no-strict-calls");
    /// ```
    pub fn strict_calls(self, document: &Document) -> Vec<Diagnostic> {
        match self {
            Self::Vllm => strict::refusals(document),
            _ => Vec::new(),
        }
    }

    fn check_text(
        self,
        name: &str,
        field: &FieldDocument,
        path: &Path,
        found: &mut Vec<Diagnostic>,
    ) {
        for (key, is_there) in [
            (
                "content",
                field
                    .content
                    .as_deref()
                    .is_some_and(|content| content != "text"),
            ),
            (
                "transform",
                field
                    .transform
                    .as_ref()
                    .is_some_and(|transform| *transform != Value::Null),
            ),
            ("join", field.join.is_some()),
        ] {
            if is_there {
                let message =
                    format!("{self} streams {name} as plain text, and takes no {key} there");
                found.push(error("unserved-text", message, &path.key(key)));
            }
        }
    }

    fn check_calls(self, field: &FieldDocument, path: &Path, found: &mut Vec<Diagnostic>) {
        let Some(transform) = &field.transform else {
            return;
        };
        let function = transform.get("function");
        let has_parts = |function: &Value| match function {
            Value::Object(members) => ["name", "arguments"]
                .iter()
                .all(|part| members.contains_key(part)),
            Value::String(_) => true,
            _ => false,
        };
        if matches!(transform, Value::Object(_)) && !function.is_some_and(has_parts) {
            let message =
                format!("{self} drops calls that have no function with name and arguments");
            found.push(error("unserved-call", message, &path.key("transform")));
        }
        if field.join.is_some() {
            let message = format!("{self} takes no join of calls");
            found.push(error("unserved-call", message, &path.key("join")));
        }
    }
}

/// The patterns of a field, as vLLM's Rust reader compiles them.
fn check_patterns(field: &FieldDocument, path: &Path, found: &mut Vec<Diagnostic>) {
    for (key, delimiter) in [
        ("open_pattern", &field.open),
        ("close_pattern", &field.close),
    ] {
        if let Some(Delimiter::Pattern(source)) = delimiter
            && let Err(why) = vllm::check_boundary(source)
        {
            found.push(error("unserved-pattern", why, &path.key(key)));
        }
    }
    if let Some(Value::String(source)) = field.content_args.get("tag_pattern")
        && let Err(why) = vllm::check_regex(source)
    {
        let path = path.key("content_args").key("tag_pattern");
        found.push(error("unserved-pattern", why, &path));
    }
}

fn error(code: &'static str, message: String, path: &Path) -> Diagnostic {
    Diagnostic::error(code, message).with_path(path.to_string())
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No engine has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no engine {}; the engines are {}", quote(.0), Engine::ALL.map(Engine::name).join(", "))]
pub struct UnknownEngine(String);

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Self, UnknownEngine> {
        Self::ALL
            .into_iter()
            .find(|engine| engine.name() == name)
            .ok_or_else(|| UnknownEngine(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Map;

    fn codes(engine: Engine, change: impl FnOnce(&mut Document)) -> Vec<(&'static str, String)> {
        let mut document = Document::new(Delimiter::literal("<bot>"));
        document.defaults = Map::from_iter([("role".to_owned(), Value::from("assistant"))]);
        for name in SERVED_FIELDS {
            document
                .fields
                .insert(name.to_owned(), FieldDocument::default());
        }
        change(&mut document);
        let found = engine.check(&document).into_iter();
        found
            .map(|found| (found.code, found.place.path.unwrap_or_default()))
            .collect()
    }

    fn field<'d>(document: &'d mut Document, name: &str) -> &'d mut FieldDocument {
        document.fields.get_mut(name).expect("the field")
    }

    #[test]
    fn names_are_read_and_written() {
        for engine in Engine::ALL {
            assert_eq!(engine.name().parse(), Ok(engine));
        }
        let error = "llamacpp".parse::<Engine>().unwrap_err().to_string();
        assert_eq!(
            error,
            r#"there is no engine "llamacpp"; the engines are transformers, vllm, sglang"#
        );
    }

    #[test]
    fn transformers_takes_what_is_valid() {
        let found = codes(Engine::Transformers, |document| {
            document
                .defaults
                .insert("content".to_owned(), Value::from(""));
            field(document, "content").join = Some(String::new());
        });
        assert_eq!(found, []);
    }

    #[test]
    fn servers_take_three_fields_and_the_role() {
        for engine in [Engine::Vllm, Engine::Sglang] {
            assert_eq!(codes(engine, |_| {}), []);
            let found = codes(engine, |document| {
                document
                    .defaults
                    .insert("content".to_owned(), Value::from(""));
                document
                    .fields
                    .insert("reasoning_content".to_owned(), FieldDocument::default());
            });
            let at = |code, path: &str| (code, path.to_owned());
            assert_eq!(
                found,
                [
                    at("unserved-default", "$.defaults.content"),
                    at("unserved-field", "$.fields.reasoning_content"),
                ]
            );
        }
    }

    #[test]
    fn servers_take_text_as_it_is() {
        let found = codes(Engine::Sglang, |document| {
            field(document, "content").join = Some(" ".to_owned());
            field(document, "content").content = Some("text".to_owned());
            field(document, "thinking").content = Some("json".to_owned());
            field(document, "thinking").transform = Some(Value::from("{content}"));
        });
        let paths: Vec<&str> = found.iter().map(|(_, path)| path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "$.fields.thinking.content",
                "$.fields.thinking.transform",
                "$.fields.content.join"
            ]
        );
    }

    #[test]
    fn servers_drop_calls_of_another_shape() {
        let transform = |text: &str| {
            let transform = crate::value::json::parse(text).expect("JSON");
            codes(Engine::Sglang, |document| {
                field(document, "tool_calls").transform = Some(transform)
            })
        };
        assert_eq!(
            transform(r#"{"type": "function", "function": "{content}"}"#),
            []
        );
        assert_eq!(
            transform(r#"{"function": {"name": "{name}", "arguments": "{content}"}}"#),
            []
        );
        assert_eq!(transform(r#"{"name": "{name}"}"#).len(), 1);
        assert_eq!(transform(r#"{"function": {"name": "{name}"}}"#).len(), 1);
    }

    #[test]
    fn vllm_begins_with_a_literal_and_sglang_need_not() {
        let found = |engine: Engine| {
            codes(engine, |document| {
                field(document, "content").close = Some(Delimiter::pattern("(?=<e>)"));
            })
        };
        let close = "$.fields.content.close_pattern".to_owned();
        assert_eq!(found(Engine::Vllm), [("unserved-pattern", close)]);
        assert_eq!(found(Engine::Sglang), [], "it matches as transformers does");
    }

    #[test]
    fn other_patterns_need_only_compile() {
        let found = codes(Engine::Vllm, |document| {
            document.start_anchor = Delimiter::pattern("\\s*<bot>");
            let arguments = &mut field(document, "tool_calls").content_args;
            arguments.insert(
                "tag_pattern".to_owned(),
                Value::from("<(?P<key>\\w+)>(?P<value>.*?)</(?P=key)>"),
            );
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].1.ends_with("tag_pattern"), "{found:?}");
    }
}
