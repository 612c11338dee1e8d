//! The parts of a field that can be passed on while it is written, read off the response template once.

use crate::content::{ContentParser, Form, Lines, Node, Tags, Values};
use crate::pattern::Pattern;
use crate::response_template::Field;
use crate::value::{Key, Value};

use super::calls::Known;
use super::split::Split;

/// How the text of a field's region becomes growth.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// The value is the text.
    Text { strip: bool },
    /// The value is a call, or a list of them.
    Calls(Box<CallShape>),
    /// The value is known when the region ends.
    Whole,
}

/// The places in a region where a call is written.
#[derive(Debug, Clone)]
pub(super) struct CallShape {
    pub(super) id: Source,
    pub(super) name: Source,
    pub(super) body: Body,
}

/// The source of a member of a call.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// The call has no such member.
    Absent,
    /// The template gives the member.
    Literal(Key),
    /// A named group of the opening delimiter.
    Capture(String),
    /// The text of the region.
    Content,
}

/// The value that the text of the region spells.
#[derive(Debug, Clone)]
pub(super) enum Body {
    /// The arguments, which are a string.
    Text {
        strip: bool,
    },
    Json(JsonShape),
    Tags(TagShape),
    Lines(LineShape),
}

/// JSON with a call, or a list of them, in it.
#[derive(Debug, Clone)]
pub(super) struct JsonShape {
    pub(super) dialect: Dialect,
    pub(super) list: List,
    /// The id of a call that has none; `None` where that is no call.
    pub(super) absent_id: Option<Known>,
    /// The objects and values that are looked into, the first being the whole.
    pub(super) places: Vec<JsonPlace>,
}

/// The ways in which the JSON of a region differs from plain JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Dialect {
    /// The texts that open and close strings beside double quotes.
    pub(super) strings: Option<(String, String)>,
    pub(super) unquoted_keys: bool,
}

/// How the calls are held: by a list, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Never,
    Always,
    /// The text decides.
    Either,
}

/// A value in the JSON on the way to a member of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct JsonPlace {
    pub(super) members: Vec<(Key, usize)>,
    pub(super) role: Role,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// An object around those, which is passed through.
    #[default]
    Around,
    /// A call, or a list of them.
    Calls,
    Id,
    Name,
    Arguments,
}

/// Arguments in tags.
#[derive(Debug, Clone)]
pub(super) struct TagShape {
    pub(super) pattern: Pattern,
    /// The tag's pattern in two halves, where its values can be passed on before their end.
    pub(super) split: Option<Split>,
    pub(super) values: ValueShape,
    /// The strings among values that are JSON, where they can be passed on before their end.
    pub(super) strings: Option<Strings>,
    pub(super) merge_duplicates: bool,
}

/// The strings among values that are JSON, beside those in double quotes.
#[derive(Debug, Clone)]
pub(super) struct Strings {
    /// The texts that open and close strings.
    pub(super) delims: Option<(String, String)>,
    /// The form of a text that is no JSON, where that is a string as well.
    pub(super) bare: Option<ValueShape>,
}

/// Arguments in lines.
#[derive(Debug, Clone)]
pub(super) struct LineShape {
    pub(super) line_sep: Option<String>,
    pub(super) kv_sep: String,
    pub(super) strip: bool,
    pub(super) values: ValueShape,
}

/// The parser that makes values of the pieces.
#[derive(Debug, Clone)]
pub(super) enum ValueShape {
    Text { strip: bool },
    Whole(ContentParser),
}

impl ValueShape {
    fn new(values: Values<'_>) -> Self {
        match values {
            Values::Text { strip } => Self::Text { strip },
            Values::Whole(content) => Self::Whole(content.clone()),
        }
    }
}

impl TagShape {
    fn new(pattern: &Pattern, values: Values<'_>, merge_duplicates: bool) -> Self {
        let json = match values {
            // Values that are gathered are needed whole.
            Values::Whole(content) if !merge_duplicates => content.string_forms(),
            _ => None,
        };
        let strings = json.map(|json| Strings {
            delims: match json.delims {
                [(open, close)] if !open.is_empty() && !close.is_empty() => {
                    Some((open.clone(), close.clone()))
                }
                _ => None,
            },
            bare: json.bare.map(|strip| ValueShape::Text { strip }),
        });
        let split = match &strings {
            None => Split::new(pattern),
            Some(strings) => {
                let close = strings.delims.as_ref().map(|(_, close)| close.as_str());
                Split::of_json(pattern, close)
            }
        };
        Self {
            pattern: pattern.clone(),
            split,
            values: ValueShape::new(values),
            strings,
            merge_duplicates,
        }
    }
}

/// A path into the JSON, from the object that is the call or its list's item.
type JsonPath = Vec<String>;

/// The source of a member of a call, before the content parser is considered.
#[derive(Debug, Clone)]
enum From {
    Absent,
    Literal(String),
    Capture(String),
    Content(JsonPath),
}

impl Shape {
    pub(super) fn new(field: &Field) -> Self {
        let Some(form) = field.content.form() else {
            return Self::Whole;
        };
        let transform = field.transform.as_ref().map(|transform| transform.node());
        if let Form::Text { strip } = form {
            let is_text = match transform {
                None => true,
                Some(Node::Placeholder { names, .. }) => {
                    !field.transform_each && names.iter().eq(["content"])
                }
                Some(_) => false,
            };
            if is_text {
                return Self::Text { strip };
            }
        }
        if field.join.is_some() {
            return Self::Whole;
        }
        call_shape(field, &form, transform)
            .map_or(Self::Whole, |shape| Self::Calls(Box::new(shape)))
    }
}

fn call_shape(field: &Field, form: &Form<'_>, transform: Option<&Node>) -> Option<CallShape> {
    let each = field.transform_each && transform.is_some();
    // A member of an item hides a capture of its name. Only the end of the item tells which of the two it is, and what it is unless nothing was captured.
    let captures = field.open.as_ref().map_or(&[][..], Pattern::group_names);
    let captures_nothing = |name: &str| {
        let open = field.open.as_ref();
        open.is_some_and(|open| open.source().contains(&format!("(?P<{name}>)")))
    };
    let place = |names: &[String]| -> Option<From> {
        let (root, rest) = names.split_first()?;
        if each {
            return (!captures.contains(root)).then(|| From::Content(names.to_vec()));
        }
        if root == "content" {
            return Some(From::Content(rest.to_vec()));
        }
        (rest.is_empty() && captures.contains(root)).then(|| From::Capture(root.clone()))
    };
    let text = |node: Option<&Node>| -> Option<From> {
        match node {
            None => Some(From::Absent),
            Some(Node::Literal(Value::String(text))) => Some(From::Literal(text.clone())),
            Some(Node::Placeholder { names, .. }) => place(names),
            Some(_) => None,
        }
    };
    let member = |node: &Node, key: &str| -> Option<Node> {
        let Node::Object(members) = node else {
            return None;
        };
        members
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, member)| member.clone())
    };
    let below = |path: &[String], keys: &[&str]| -> From {
        From::Content(
            path.iter()
                .cloned()
                .chain(keys.iter().map(|key| (*key).to_owned()))
                .collect(),
        )
    };
    let mut at: JsonPath = Vec::new();
    let mut list = if each { List::Always } else { List::Never };
    let mut absent_id = None;
    let (id, name, arguments) = match transform {
        Some(node @ Node::Object(_)) => {
            let id = match member(node, "id") {
                Some(Node::Placeholder { names, .. })
                    if each && names.first().is_some_and(|root| captures_nothing(root)) =>
                {
                    absent_id = Some(Known::Text(Key::default()));
                    From::Content(names)
                }
                id => text(id.as_ref())?,
            };
            match member(node, "function")? {
                function @ Node::Object(_) => {
                    let name = text(member(&function, "name").as_ref())?;
                    let arguments = match member(&function, "arguments")? {
                        Node::Placeholder { names, .. } => place(&names)?,
                        _ => return None,
                    };
                    (id, name, arguments)
                }
                Node::Placeholder { names, .. } => {
                    let From::Content(path) = place(&names)? else {
                        return None;
                    };
                    (id, below(&path, &["name"]), below(&path, &["arguments"]))
                }
                _ => return None,
            }
        }
        None | Some(Node::Placeholder { .. }) => {
            if let Some(Node::Placeholder { names, .. }) = transform {
                let (false, From::Content(path)) = (each, place(names)?) else {
                    return None;
                };
                at = path;
            }
            list = List::Either;
            absent_id = Some(Known::Nothing);
            (
                below(&[], &["id"]),
                below(&[], &["function", "name"]),
                below(&[], &["function", "arguments"]),
            )
        }
        Some(_) => return None,
    };
    let From::Content(arguments) = arguments else {
        return None;
    };
    if let From::Absent = name {
        return None;
    }
    let whole = || list == List::Never && at.is_empty() && arguments.is_empty();
    let from_delimiter = |from: &From| !matches!(from, From::Content(_));
    let body = match form {
        Form::Json {
            string_delims,
            unquoted_keys,
        } => {
            let strings = match string_delims {
                [] => None,
                [(open, close)] if !open.is_empty() && !close.is_empty() => {
                    Some((open.clone(), close.clone()))
                }
                _ => return None,
            };
            let paths = [
                (Role::Id, &id),
                (Role::Name, &name),
                (Role::Arguments, &From::Content(arguments.clone())),
            ];
            Body::Json(JsonShape {
                dialect: Dialect {
                    strings,
                    unquoted_keys: *unquoted_keys,
                },
                list,
                absent_id,
                places: places(&at, list, &paths)?,
            })
        }
        Form::Other => return None,
        _ if !whole() || !from_delimiter(&id) || !from_delimiter(&name) => return None,
        Form::Text { strip } => Body::Text { strip: *strip },
        Form::Tags(Tags {
            pattern,
            values,
            merge_duplicates,
        }) => Body::Tags(TagShape::new(pattern, *values, *merge_duplicates)),
        Form::Lines(Lines {
            line_sep,
            kv_sep,
            strip,
            values,
        }) => Body::Lines(LineShape {
            line_sep: line_sep.map(str::to_owned),
            kv_sep: (*kv_sep).to_owned(),
            strip: *strip,
            values: ValueShape::new(*values),
        }),
    };
    let source = |from: From| match from {
        From::Absent => Source::Absent,
        From::Literal(text) => Source::Literal(text.into()),
        From::Capture(name) => Source::Capture(name),
        From::Content(_) => Source::Content,
    };
    Some(CallShape {
        id: source(id),
        name: source(name),
        body,
    })
}

/// The places that are looked into; `None` where one member of a call is written inside another.
fn places(at: &[String], list: List, paths: &[(Role, &From)]) -> Option<Vec<JsonPlace>> {
    let mut places = vec![JsonPlace::default()];
    let call = walk(&mut places, 0, at);
    places[call].role = Role::Calls;
    for (role, from) in paths {
        let From::Content(path) = from else { continue };
        if path.is_empty() {
            // The whole value is the arguments: there is no object around them.
            if list != List::Never || !places[call].members.is_empty() || call != 0 {
                return None;
            }
        }
        let place = walk(&mut places, call, path);
        if places[place].role != Role::Around && !path.is_empty() {
            return None;
        }
        places[place].role = *role;
    }
    let inside = |place: &JsonPlace| {
        matches!(place.role, Role::Id | Role::Name | Role::Arguments) && !place.members.is_empty()
    };
    (!places.iter().any(inside)).then_some(places)
}

/// The place that the keys lead to, made where it is not there.
fn walk(places: &mut Vec<JsonPlace>, from: usize, keys: &[String]) -> usize {
    let mut at = from;
    for key in keys {
        let known = places[at].members.iter().find(|(name, _)| name == key);
        at = match known {
            Some((_, place)) => *place,
            None => {
                let new = places.len();
                places.push(JsonPlace::default());
                places[at].members.push((Key::new(key), new));
                new
            }
        };
    }
    at
}
