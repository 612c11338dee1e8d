//! Transforms: a template of the value, with placeholders for what was parsed.

use super::error::{ContentError, ContentErrorKind as Kind};
use crate::value::{Map, Path, Value, json, python};

/// A transform, ready to apply. A string that is a placeholder as a whole, such as `"{name}"` or `"{content.args}"`,
/// stands for a value in scope or for a member of it; everything else stands for itself.
///
/// ```
/// use obverse::content::Transform;
/// use obverse::value::json;
/// let template = json::parse(r#"{"type": "function", "function": "{content.call}"}"#).unwrap();
/// let scope = json::parse(r#"{"content": {"call": {"name": "f"}}}"#).unwrap();
/// let value = Transform::compile(&template).unwrap().apply(scope.as_object().unwrap()).unwrap();
/// assert_eq!(json::to_string(&value), r#"{"type": "function", "function": {"name": "f"}}"#);
/// ```
#[derive(Debug, Clone)]
pub struct Transform(Node);

#[derive(Debug, Clone)]
enum Node {
    Literal(Value),
    /// The dotted path, its first part being the name in scope.
    Placeholder(Vec<String>),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// A string of a transform that holds a placeholder beside other text, which is not supported: nothing is interpolated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedPlaceholder {
    /// Where the string stands in the transform.
    pub path: Path,
    /// The string.
    pub text: String,
}

impl Transform {
    /// Makes a transform of a document's `transform`.
    ///
    /// # Errors
    ///
    /// All strings that mix a placeholder with other text.
    pub fn compile(template: &Value) -> Result<Self, Vec<MixedPlaceholder>> {
        let mut mixed = Vec::new();
        let node = Node::compile(template, &Path::default(), &mut mixed);
        if mixed.is_empty() {
            Ok(Self(node))
        } else {
            Err(mixed)
        }
    }

    /// The value that the template describes, with `scope` for the placeholders.
    ///
    /// # Errors
    ///
    /// When a placeholder names nothing in scope, a missing key, or a key of something that is not an object.
    pub fn apply(&self, scope: &Map) -> Result<Value, ContentError> {
        self.0.apply(scope)
    }

    /// The placeholders in the order in which they stand, each as its dotted path split at the dots.
    pub fn placeholders(&self) -> Vec<&[String]> {
        let mut found = Vec::new();
        self.0.collect(&mut found);
        found
    }
}

impl Node {
    fn compile(template: &Value, path: &Path, mixed: &mut Vec<MixedPlaceholder>) -> Self {
        match template {
            Value::Array(items) => Self::Array(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| Self::compile(item, &path.index(index), mixed))
                    .collect(),
            ),
            Value::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(key, value)| (key.clone(), Self::compile(value, &path.key(key), mixed)))
                    .collect(),
            ),
            Value::String(text) => match placeholder(text) {
                Found::Whole(names) => Self::Placeholder(names),
                Found::Inside => {
                    mixed.push(MixedPlaceholder {
                        path: path.clone(),
                        text: text.clone(),
                    });
                    Self::Literal(template.clone())
                }
                Found::None => Self::Literal(template.clone()),
            },
            other => Self::Literal(other.clone()),
        }
    }

    fn apply(&self, scope: &Map) -> Result<Value, ContentError> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Placeholder(names) => look_up(names, scope).cloned(),
            Self::Array(items) => items
                .iter()
                .map(|item| item.apply(scope))
                .collect::<Result<_, _>>()
                .map(Value::Array),
            Self::Object(members) => members
                .iter()
                .map(|(key, node)| Ok((key.clone(), node.apply(scope)?)))
                .collect::<Result<_, _>>()
                .map(Value::Object),
        }
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a [String]>) {
        match self {
            Self::Literal(_) => {}
            Self::Placeholder(names) => found.push(names),
            Self::Array(items) => items.iter().for_each(|item| item.collect(found)),
            Self::Object(members) => members.iter().for_each(|(_, node)| node.collect(found)),
        }
    }
}

fn look_up<'a>(names: &[String], scope: &'a Map) -> Result<&'a Value, ContentError> {
    let error = |message: String, available: &Map| {
        let mut keys: Vec<String> = available.keys().map(|key| json::quote(key)).collect();
        keys.sort();
        let hint = if keys.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are {}", keys.join(", "))
        };
        ContentError::new(
            Kind::Transform,
            format!("the transform's {{{}}} {message}", names.join(".")),
        )
        .with_hint(hint)
    };
    let (root, keys) = names
        .split_first()
        .map_or(("", names), |(root, keys)| (root.as_str(), keys));
    let mut value = scope
        .get(root)
        .ok_or_else(|| error(format!("names nothing: no `{root}` was parsed"), scope))?;
    for key in keys {
        let Value::Object(members) = value else {
            let message = format!(
                "looks for `{key}` in a value that is {}, not an object",
                value.type_name()
            );
            return Err(error(message, &Map::new()));
        };
        value = members.get(key).ok_or_else(|| {
            error(
                format!("looks for the key `{key}`, which is missing"),
                members,
            )
        })?;
    }
    Ok(value)
}

enum Found {
    Whole(Vec<String>),
    Inside,
    None,
}

/// Looks for `{name}` or `{name.key.key}`, each part one word or more characters long.
fn placeholder(text: &str) -> Found {
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let after = &rest[open + 1..];
        let inner = after
            .find(|c| !(python::is_word(c) || c == '.'))
            .unwrap_or(after.len());
        let names = &after[..inner];
        if after[inner..].starts_with('}') && names.split('.').all(|name| !name.is_empty()) {
            return if names.len() + 2 == text.len() {
                Found::Whole(names.split('.').map(str::to_owned).collect())
            } else {
                Found::Inside
            };
        }
        rest = &after[inner..];
    }
    Found::None
}
