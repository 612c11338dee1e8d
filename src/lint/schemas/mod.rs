//! The rules for response schemas: what goes wrong with them.
//!
//! A schema fails node by node, and only for the texts that get there. So each node is visited with what is known of what it will be
//! given: text, an object of texts, a list of them, or a value that the text decides.

mod rules;

use crate::diagnostic::{Diagnostic, Severity};
use crate::pattern::facts::Facts;
use crate::pattern::{Pattern, ends_lazily, may_explode};
use crate::response_schema::node::{Additional, KEYS, Kind, Node, Parser};
use crate::response_schema::{Loaded, PARSERS};
use crate::response_template::nearest::nearest;
use crate::value::{Map, Path, Step, Value, json};

use rules::{DOLLAR, GROUPS, LAZY_END, NO_EXTRACTOR, PARSER, SLOW, TYPE, UNREAD};

pub(super) use rules::ALL;
pub use rules::SchemaRule;

/// The knowledge about the value that a node is given.
#[derive(Debug, Clone, PartialEq)]
enum Given {
    Text,
    /// An object of texts, with these members.
    Members(Vec<String>),
    /// An object of texts whose names the response decides.
    AnyMembers,
    /// A list of which each item is this.
    List(Box<Given>),
    Unknown,
}

/// Everything that is found in a schema, in the order of its text.
pub(super) fn findings(loaded: &Loaded) -> Vec<Diagnostic> {
    let mut visit = Visit {
        loaded,
        found: Vec::new(),
    };
    visit.node(loaded.schema.root(), Given::Text, false);
    let mut found = visit.found;
    found.sort_by_key(|diagnostic| diagnostic.place.span.as_ref().map(|span| span.start));
    found
}

struct Visit<'a> {
    loaded: &'a Loaded,
    found: Vec<Diagnostic>,
}

impl Visit<'_> {
    fn add(
        &mut self,
        code: &'static str,
        path: &Path,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let severity = ALL.iter().find(|rule| rule.code == code);
        let mut diagnostic = Diagnostic::warning(code, message).with_path(path.to_string());
        diagnostic.severity = severity.map_or(Severity::Warning, |rule| rule.severity);
        diagnostic.place.span = self
            .loaded
            .places
            .get(path)
            .map(|spans| spans.value.clone());
        let at = self.found.len();
        self.found.push(diagnostic);
        &mut self.found[at]
    }

    /// The node as it is written.
    fn written(&self, node: &Node) -> Option<&Map> {
        let steps = node
            .path
            .steps()
            .iter()
            .skip(self.loaded.path.steps().len());
        let mut value = &self.loaded.document;
        for step in steps {
            value = match (step, value) {
                (Step::Key(key), Value::Object(members)) => members.get(key)?,
                (Step::Index(index), Value::Array(items)) => items.get(*index)?,
                _ => return None,
            };
        }
        value.as_object()
    }

    /// A node, what it is given, and whether its `default` counts.
    fn node(&mut self, node: &Node, given: Given, defaults: bool) {
        self.keys(node, defaults);
        if node.constant.is_some() {
            return;
        }
        self.patterns(node);
        let left = self.extracted(node, given);
        let left = match &node.parser {
            None => left,
            Some(Parser::Json { .. }) => {
                if matches!(left, Given::Members(_) | Given::AnyMembers | Given::List(_)) {
                    let message =
                        "the parser takes text, and the node's patterns make something else";
                    self.add(TYPE, &node.path.key("x-parser"), message);
                }
                Given::Unknown
            }
            Some(Parser::Unknown(name)) => {
                let message = format!("there is no parser {}", json::to_string(name));
                let known = format!("the parsers are {}", PARSERS.join(" and "));
                self.add(PARSER, &node.path.key("x-parser"), message).hint = Some(known);
                Given::Unknown
            }
        };
        match &node.kind {
            Kind::Object => self.object(node, left),
            Kind::Array => self.array(node, left),
            Kind::Any => {}
            Kind::String | Kind::Integer | Kind::Number | Kind::Boolean => {
                if !matches!(left, Given::Text | Given::Unknown) {
                    let message = "the node's patterns make members or items, of which its type cannot be made";
                    self.add(TYPE, &node.path.key("type"), message);
                }
            }
            Kind::Unknown(kind) => {
                let message = format!("there is no type {}", json::to_string(kind));
                let hint = "the types are object, array, string, integer, number, boolean and any";
                self.add(TYPE, &node.path.key("type"), message).hint = Some(hint.to_owned());
            }
        }
    }

    /// Keys that nothing reads.
    fn keys(&mut self, node: &Node, defaults: bool) {
        let Some(members) = self.written(node) else {
            return;
        };
        let mut unread: Vec<(String, String, Option<String>)> = Vec::new();
        for key in members.keys().filter(|key| key.starts_with("x-")) {
            if !KEYS.contains(&key.as_str()) {
                let hint = nearest(key, &KEYS).map(|near| format!("did you mean `{near}`?"));
                unread.push((
                    key.to_string(),
                    format!("nothing reads {}", json::quote(key)),
                    hint,
                ));
            }
        }
        let has = |key: &str| members.contains_key(key);
        let mut note = |key: &str, why: &str| {
            if has(key) {
                unread.push((
                    key.to_owned(),
                    format!("`{key}` is never read: {why}"),
                    None,
                ));
            }
        };
        if node.parser.is_none() {
            note("x-parser-args", "there is no x-parser");
        }
        if has("items") {
            note("prefixItems", "`items` stands before it");
        }
        if !defaults {
            note(
                "default",
                "it counts only where the object above is given members, not text",
            );
        }
        for (key, message, hint) in unread {
            self.add(UNREAD, &node.path.key(&key), message).hint = hint;
        }
    }

    /// Checks the patterns of a node.
    fn patterns(&mut self, node: &Node) {
        let keyed = [
            ("x-regex", &node.regex),
            ("x-regex-iterator", &node.iterator),
            ("x-regex-key-value", &node.key_value),
        ];
        for (key, pattern) in keyed {
            if let Some(pattern) = pattern {
                let path = node.path.key(key);
                self.pattern(pattern, &path);
                self.groups(node, key, pattern, &path);
            }
        }
        for (index, substitution) in node.substitutions.iter().enumerate() {
            let path = node.path.key("x-regex-substitutions").index(index).index(0);
            self.pattern(&substitution.pattern, &path);
        }
    }

    fn pattern(&mut self, pattern: &Pattern, path: &Path) {
        if ends_lazily(pattern) {
            let message = "the pattern ends with a repetition that always takes its least";
            self.add(LAZY_END, path, message).hint =
                Some("say what ends it, or let it take all with `*` or `+` alone".to_owned());
        }
        if Facts::of(pattern).has_dollar() {
            let message = "`$` also matches before a final line feed";
            self.add(DOLLAR, path, message).hint =
                Some(r"`\Z` matches at the very end alone".to_owned());
        }
        if may_explode(pattern) {
            let message =
                "the pattern repeats a repetition: Python may try every way to cut a text";
            self.add(SLOW, path, message).hint =
                Some("write one repetition for the two".to_owned());
        }
    }

    fn groups(&mut self, node: &Node, key: &str, pattern: &Pattern, path: &Path) {
        let (named, unnamed) = groups(pattern);
        if key == "x-regex-key-value" {
            if !["key", "value"]
                .iter()
                .all(|name| named.iter().any(|known| known == name))
            {
                self.add(
                    GROUPS,
                    path,
                    "the pattern must have the groups `key` and `value`",
                );
            }
            return;
        }
        match (named.len(), unnamed) {
            (0, 0) => {
                let hint = "put what is to be taken into parentheses".to_owned();
                self.add(
                    GROUPS,
                    path,
                    "the pattern has no group to say what is taken",
                )
                .hint = Some(hint);
            }
            (0, 1) => {}
            (0, count) => {
                let message =
                    format!("the pattern has {count} unnamed groups, and one alone is read");
                let hint = "write `(?:...)` for all but one, or name them".to_owned();
                self.add(GROUPS, path, message).hint = Some(hint);
            }
            (_, 0) => {}
            (_, _) => {
                let message = "beside named groups an unnamed one is never read";
                self.add(UNREAD, path, message).hint = Some("write `(?:...)`".to_owned());
            }
        }
        if key == "x-regex"
            && node.kind == Kind::Object
            && matches!(node.additional, Additional::Refused)
        {
            let known = |name: &String| {
                node.properties
                    .as_ref()
                    .is_some_and(|properties| properties.contains_key(name))
            };
            for name in named.iter().filter(|name| !known(name)) {
                let message = format!("the group `{name}` is never read: no property has its name");
                self.add(UNREAD, path, message);
            }
        }
    }

    /// The knowledge about the value that the node's patterns leave of the one it is given.
    fn extracted(&mut self, node: &Node, given: Given) -> Given {
        let mut left = given;
        let by = |pattern: &Pattern| match groups(pattern) {
            (named, _) if !named.is_empty() => Given::Members(named),
            _ => Given::Text,
        };
        if node.needs_text && !matches!(left, Given::Text | Given::Unknown) {
            let message = "the node has a pattern and is given members or items, not text";
            self.add(TYPE, &node.path, message);
            return Given::Unknown;
        }
        if node.needs_text {
            left = Given::Text;
        }
        if let Some(pattern) = &node.regex {
            left = by(pattern);
        }
        for (key, pattern, kind, what) in [
            ("x-regex-iterator", &node.iterator, Kind::Array, "an array"),
            (
                "x-regex-key-value",
                &node.key_value,
                Kind::Object,
                "an object",
            ),
        ] {
            let Some(pattern) = pattern else { continue };
            let path = node.path.key(key);
            if node.kind != kind {
                self.add(
                    TYPE,
                    &path,
                    format!("`{key}` makes {what}, and the node's type is another"),
                );
            } else if left != Given::Text {
                self.add(
                    TYPE,
                    &path,
                    "`x-regex` has named groups, so that it leaves no text to search",
                );
            }
            if node.kind != kind {
                return Given::Unknown;
            }
            left = match kind {
                Kind::Array => Given::List(Box::new(by(pattern))),
                _ => Given::AnyMembers,
            };
        }
        left
    }

    fn object(&mut self, node: &Node, left: Given) {
        let members = match left {
            Given::Text => {
                if node.properties.is_none() {
                    let message =
                        "the object is given text and has nothing that makes members of it";
                    self.add(NO_EXTRACTOR, &node.path, message).hint = Some(
                        "an x-regex with named groups, x-regex-key-value, x-parser or properties do".to_owned(),
                    );
                }
                for child in node
                    .properties
                    .iter()
                    .flat_map(|properties| properties.values())
                {
                    self.node(child, Given::Text, false);
                }
                return;
            }
            Given::List(_) => {
                self.add(
                    TYPE,
                    &node.path.key("type"),
                    "an object cannot be made of a list",
                );
                return;
            }
            Given::Members(_) | Given::AnyMembers => Given::Text,
            Given::Unknown => Given::Unknown,
        };
        for child in node.children() {
            self.node(child, members.clone(), true);
        }
    }

    fn array(&mut self, node: &Node, left: Given) {
        if node.items.is_none() && node.prefix_items.is_none() {
            let message = "the array has neither items nor prefixItems";
            self.add(NO_EXTRACTOR, &node.path, message);
            return;
        }
        let single = node.items.is_none()
            && node
                .prefix_items
                .as_ref()
                .is_some_and(|items| items.len() == 1);
        let item = match left {
            Given::List(item) => *item,
            Given::Unknown => Given::Unknown,
            other if single => other,
            _ => {
                let message = "the array is given text and has nothing that makes items of it";
                self.add(NO_EXTRACTOR, &node.path, message).hint =
                    Some("x-regex-iterator or x-parser do".to_owned());
                return;
            }
        };
        let items = node.items.as_deref().into_iter();
        let prefix = node.prefix_items.iter().flatten();
        for child in items.chain(prefix) {
            self.node(child, item.clone(), true);
        }
    }
}

/// The names of a pattern's groups, and how many groups have none.
fn groups(pattern: &Pattern) -> (Vec<String>, usize) {
    let (unnamed, named): (Vec<String>, Vec<String>) = pattern
        .group_names()
        .iter()
        .cloned()
        .partition(|name| name.starts_with(|c: char| c.is_ascii_digit()));
    (named, unnamed.len())
}

#[cfg(test)]
mod tests {
    use super::super::{Options, lint};
    use super::*;
    use crate::response_schema::ResponseSchema;

    #[test]
    fn examples_show_what_they_say() {
        for rule in ALL {
            let found = |text: &str| {
                let found = lint(text, &Options::default());
                found
                    .into_iter()
                    .map(|found| found.code)
                    .collect::<Vec<_>>()
            };
            assert_eq!(found(rule.bad), [rule.code], "{}", rule.code);
            assert_eq!(found(rule.good), [""; 0], "{}", rule.code);
            let [response, bad, good] = rule.shows;
            for (schema, expected) in [(rule.bad, bad), (rule.good, good)] {
                let schema = ResponseSchema::from_json(schema).expect("a schema");
                let shown = match schema.parse(response) {
                    Ok(value) => json::to_string(&value),
                    Err(error) => format!("error: {}", error.kind.name()),
                };
                assert_eq!(shown, expected, "{}", rule.code);
            }
        }
    }

    #[test]
    fn what_is_found_has_its_place_in_a_configuration_too() {
        let text =
            r#"{"bos_token": "<s>", "response_schema": {"type": "string", "x-regex": "a(.*?)"}}"#;
        let found = lint(text, &Options::default());
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].place.path.as_deref(),
            Some("$.response_schema.x-regex")
        );
        assert_eq!(
            found[0].place.span.clone().map(|span| &text[span]),
            Some("\"a(.*?)\"")
        );
    }

    #[test]
    fn what_cannot_be_made_is_found() {
        for (schema, code) in [
            (
                r#"{"type": "array", "x-regex-iterator": "(a)"}"#,
                NO_EXTRACTOR,
            ),
            (r#"{"type": "array", "items": {}}"#, NO_EXTRACTOR),
            (r#"{"type": "string", "x-regex": "(?P<a>b)"}"#, TYPE),
            (r#"{"type": ["string", "null"], "x-regex": "(a)"}"#, TYPE),
            (
                r#"{"type": "object", "x-regex-key-value": "(?P<key>a)"}"#,
                GROUPS,
            ),
            (r#"{"type": "string", "x-parser-args": {}}"#, UNREAD),
            (
                r#"{"type": "object", "properties": {"a": {"type": "string", "default": 1}}}"#,
                UNREAD,
            ),
            (
                r#"{"type": "object", "x-regex": "(?P<a>b)(?P<c>d)", "additionalProperties": false, "properties": {"a": {}}}"#,
                UNREAD,
            ),
            (
                r#"{"type": "object", "x-regex": "(?P<a>b)", "properties": {"a": {"type": "array", "items": {}}}}"#,
                NO_EXTRACTOR,
            ),
            (r#"{"type": "string", "x-regex": "((?:a|[a-z])*)b"}"#, SLOW),
        ] {
            let found = lint(schema, &Options::default());
            assert_eq!(
                found.iter().map(|found| found.code).collect::<Vec<_>>(),
                [code],
                "{schema}"
            );
        }
    }
}
