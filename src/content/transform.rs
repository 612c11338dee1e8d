//! Transforms: a template of the value, with placeholders for what was parsed.

use std::collections::BTreeSet;

use super::error::{ContentError, ContentErrorKind as Kind};
use crate::value::{Key, Map, Path, Step, Value, json, python};

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

/// A node of a transform: a placeholder, or the value that it stands for.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Literal(Value),
    /// The dotted path, its first part being the name in scope.
    Placeholder {
        names: Vec<String>,
        /// True if no other placeholder stands for the same value or a part of it, so that it need not be copied.
        only: bool,
    },
    Array(Vec<Node>),
    Object(Vec<(Key, Node)>),
}

/// A string of a transform that holds a placeholder beside other text, which is not supported: nothing is interpolated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MixedPlaceholder {
    /// Where the string stands in the transform.
    pub path: Path,
    /// The string.
    pub text: String,
}

/// A placeholder of a transform.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placeholder {
    /// Where it stands in the transform.
    pub path: Path,
    /// Its dotted parts, the first being the name in scope; at least one.
    pub names: Vec<String>,
}

/// All placeholders of a transform as it is written, in its order.
pub fn placeholders(template: &Value) -> Vec<Placeholder> {
    let mut found = Vec::new();
    collect(template, &mut Path::default(), &mut found);
    found
}

fn collect(template: &Value, path: &mut Path, found: &mut Vec<Placeholder>) {
    match template {
        Value::String(text) => {
            if let PlaceholderText::Whole(names) = placeholder(text) {
                let path = path.clone();
                found.push(Placeholder { path, names });
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                collect(item, path, found);
                path.pop();
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                path.push(Step::Key(key.to_string()));
                collect(value, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

impl Transform {
    /// Makes a transform of a document's `transform`.
    ///
    /// # Errors
    ///
    /// All strings that mix a placeholder with other text.
    pub fn compile(template: &Value) -> Result<Self, Vec<MixedPlaceholder>> {
        let mut mixed = Vec::new();
        let mut node = Node::compile(template, &mut Path::default(), &mut mixed);
        let mut paths = Vec::new();
        node.placeholders(&mut |names, _| paths.push(names.to_vec()));
        node.placeholders(&mut |names, only| {
            let shared = |other: &&Vec<String>| other.iter().zip(names).all(|(a, b)| a == b);
            *only = paths.iter().filter(shared).count() == 1;
        });
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
    /// When a placeholder names nothing in scope, a missing key, or a key of something that is not an object; and when
    /// the value would be out of all proportion to what is in scope.
    pub fn apply(&self, scope: &Map) -> Result<Value, ContentError> {
        let mut budget = Budget::for_input(scope.values().map(weight).sum());
        let mut scope = Scope {
            outer: Outer::Often(&Map::new()),
            inner: Inner::Members(&mut scope.clone()),
        };
        self.apply_in(&mut scope, &mut budget)
    }

    /// The template as it was read.
    pub(crate) fn node(&self) -> &Node {
        &self.0
    }

    pub(super) fn apply_in(
        &self,
        scope: &mut Scope<'_>,
        budget: &mut Budget,
    ) -> Result<Value, ContentError> {
        self.0.apply(scope, budget)
    }
}

/// The names that placeholders can use.
pub(super) struct Scope<'a> {
    pub(super) outer: Outer<'a>,
    /// Hides what has the same name outside. What is asked for once is taken out.
    pub(super) inner: Inner<'a>,
}

/// The captures of the delimiters.
pub(super) enum Outer<'a> {
    /// For this one transform: what is asked for once is taken out.
    Once(&'a mut Map),
    /// For others, too.
    Often(&'a Map),
}

impl Outer<'_> {
    fn members(&self) -> &Map {
        match self {
            Self::Once(members) => members,
            Self::Often(members) => members,
        }
    }
}

/// The parsed content of the region.
pub(super) enum Inner<'a> {
    /// The name `content` alone.
    Content(&'a mut Value),
    Members(&'a mut Map),
}

const CONTENT: &str = "content";

impl Scope<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        let inner = match &self.inner {
            Inner::Content(value) => (name == CONTENT).then_some(&**value),
            Inner::Members(members) => members.get(name),
        };
        inner.or_else(|| self.outer.members().get(name))
    }

    /// Takes a value out of the scope, if it can be had for good.
    fn take(&mut self, names: &[String]) -> Option<Value> {
        let (root, keys) = names.split_first()?;
        let inner = match &mut self.inner {
            Inner::Content(value) => (root == CONTENT).then_some(&mut **value),
            Inner::Members(members) => members.get_mut(root),
        };
        let mut value = match (inner, &mut self.outer) {
            (Some(value), _) => value,
            (None, Outer::Once(members)) => members.get_mut(root)?,
            (None, Outer::Often(_)) => return None,
        };
        for key in keys {
            let Value::Object(members) = value else {
                return None;
            };
            value = members.get_mut(key)?;
        }
        Some(std::mem::take(value))
    }

    fn names(&self) -> Vec<&str> {
        let outer = self.outer.members().keys().map(Key::as_str);
        match &self.inner {
            Inner::Content(_) => outer.chain([CONTENT]).collect(),
            Inner::Members(members) => outer.chain(members.keys().map(Key::as_str)).collect(),
        }
    }
}

/// How much a transform may still write, in [`weight`]: a few placeholders for a large value, many times over, would
/// fill any memory.
pub(super) struct Budget(usize);

impl Budget {
    /// How many bytes any transform may write, however small its input.
    const FREE: usize = 16 << 20;
    /// How many times its input a transform may write beyond that.
    const FACTOR: usize = 64;

    pub(super) fn for_input(size: usize) -> Self {
        Self(size.saturating_mul(Self::FACTOR).saturating_add(Self::FREE))
    }

    fn spend(&mut self, value: &Value) -> Result<(), ContentError> {
        self.0 = self.0.checked_sub(weight(value)).ok_or_else(|| {
            let (factor, free) = (Self::FACTOR, Self::FREE >> 20);
            let message = format!("the transform writes more than the limit of {factor} times its input and {free} MiB");
            ContentError::new(Kind::Limit, message)
        })?;
        Ok(())
    }
}

/// How much memory a value takes, roughly: its values and the bytes of its text.
fn weight(value: &Value) -> usize {
    1 + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| key.len() + weight(value))
            .sum(),
        _ => 0,
    }
}

impl Node {
    fn compile(template: &Value, path: &mut Path, mixed: &mut Vec<MixedPlaceholder>) -> Self {
        match template {
            Value::Array(items) => {
                let compile = |(index, item)| {
                    path.push(Step::Index(index));
                    let node = Self::compile(item, path, mixed);
                    path.pop();
                    node
                };
                Self::Array(items.iter().enumerate().map(compile).collect())
            }
            Value::Object(members) => {
                let compile = |(key, value): (&Key, _)| {
                    path.push(Step::Key(key.to_string()));
                    let node = Self::compile(value, path, mixed);
                    path.pop();
                    (key.clone(), node)
                };
                Self::Object(members.iter().map(compile).collect())
            }
            Value::String(text) => match placeholder(text) {
                PlaceholderText::Whole(names) => Self::Placeholder { names, only: false },
                PlaceholderText::Inside => {
                    mixed.push(MixedPlaceholder {
                        path: path.clone(),
                        text: text.clone(),
                    });
                    Self::Literal(template.clone())
                }
                PlaceholderText::None => Self::Literal(template.clone()),
            },
            other => Self::Literal(other.clone()),
        }
    }

    /// Shows every placeholder.
    fn placeholders(&mut self, show: &mut dyn FnMut(&[String], &mut bool)) {
        match self {
            Self::Literal(_) => {}
            Self::Placeholder { names, only } => show(names, only),
            Self::Array(items) => items.iter_mut().for_each(|item| item.placeholders(show)),
            Self::Object(members) => {
                members
                    .iter_mut()
                    .for_each(|(_, member)| member.placeholders(show));
            }
        }
    }

    fn apply(&self, scope: &mut Scope<'_>, budget: &mut Budget) -> Result<Value, ContentError> {
        let value = match self {
            Self::Literal(value) => value,
            Self::Placeholder { names, only } => {
                // A value that is moved is not written a second time. A key that is missing is an error.
                if *only && let Some(value) = scope.take(names) {
                    return Ok(value);
                }
                look_up(names, scope)?
            }
            Self::Array(items) => {
                return items
                    .iter()
                    .map(|item| item.apply(scope, budget))
                    .collect::<Result<_, _>>()
                    .map(Value::Array);
            }
            Self::Object(members) => {
                let mut map = Map::with_capacity(members.len());
                for (key, node) in members {
                    map.insert(key.clone(), node.apply(scope, budget)?);
                }
                return Ok(Value::Object(map));
            }
        };
        budget.spend(value)?;
        Ok(value.clone())
    }
}

fn look_up<'a>(names: &[String], scope: &'a Scope<'_>) -> Result<&'a Value, ContentError> {
    let error = |message: String| {
        ContentError::new(
            Kind::Transform,
            format!("{{{}}} {message}", names.join(".")),
        )
    };
    let (root, keys) = names
        .split_first()
        .map_or(("", names), |(root, keys)| (root.as_str(), keys));
    let mut value = scope.get(root).ok_or_else(|| {
        let error = error(format!(
            "of the transform names nothing: there is no `{root}`"
        ));
        error.with_hint(there_are(scope.names()))
    })?;
    for key in keys {
        let Value::Object(members) = value else {
            let message = format!(
                "of the transform cannot index into {} at '{key}'",
                value.type_name()
            );
            return Err(error(message));
        };
        value = members.get(key).ok_or_else(|| {
            let error = error(format!("of the transform is missing key '{key}'"));
            error.with_hint(there_are(members.keys().map(Key::as_str)))
        })?;
    }
    Ok(value)
}

/// The names that a placeholder could have used, for advice.
fn there_are<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 20;
    let names: BTreeSet<String> = names.into_iter().take(MOST).map(json::quote).collect();
    let names: Vec<String> = names.into_iter().collect();
    if names.is_empty() {
        "there is nothing to name".to_owned()
    } else {
        format!("there are {}", names.join(", "))
    }
}

enum PlaceholderText {
    Whole(Vec<String>),
    Inside,
    None,
}

/// Looks for `{name}` or `{name.key.key}`, each part one word or more characters long.
fn placeholder(text: &str) -> PlaceholderText {
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let after = &rest[open + 1..];
        let inner = after
            .find(|c| !(python::is_word(c) || c == '.'))
            .unwrap_or(after.len());
        let names = &after[..inner];
        if after[inner..].starts_with('}') && names.split('.').all(|name| !name.is_empty()) {
            return if names.len() + 2 == text.len() {
                PlaceholderText::Whole(names.split('.').map(str::to_owned).collect())
            } else {
                PlaceholderText::Inside
            };
        }
        rest = &after[inner..];
    }
    PlaceholderText::None
}
