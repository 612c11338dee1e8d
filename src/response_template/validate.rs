//! From the document to its compiled form, or to everything that is wrong with it.

use crate::content::{Content, PARSERS, Transform};
use crate::diagnostic::Diagnostic;
use crate::pattern::Pattern;
use crate::value::json::{Places, quote, to_string};
use crate::value::{Integer, Map, Path, Value};

use super::nearest::nearest;
use super::{Field, Invalid, ResponseTemplate};

const TOP_KEYS: [&str; 5] = [
    "version",
    "defaults",
    "fields",
    "start_anchor",
    "start_anchor_pattern",
];

const FIELD_KEYS: [&str; 11] = [
    "open",
    "open_pattern",
    "close",
    "close_pattern",
    "content",
    "content_args",
    "repeats",
    "join",
    "optional",
    "transform",
    "transform_each",
];

/// Compiles the document that is found at `root` of the source whose places are `places`.
pub(super) fn compile(
    document: &Value,
    places: Option<&Places>,
    root: &Path,
) -> Result<ResponseTemplate, Invalid> {
    let mut findings = Findings {
        places,
        diagnostics: Vec::new(),
    };
    let template = template(document, root, &mut findings);
    match template {
        Some(template) if findings.diagnostics.is_empty() => Ok(template),
        _ => Err(Invalid::new(findings.diagnostics)),
    }
}

/// The diagnostics so far, and what gives them their places.
struct Findings<'a> {
    places: Option<&'a Places>,
    diagnostics: Vec<Diagnostic>,
}

impl Findings<'_> {
    /// Adds a finding about the value at `path`.
    fn value(&mut self, path: &Path, diagnostic: Diagnostic) {
        let span = self
            .places
            .and_then(|places| places.get(path))
            .map(|spans| spans.value.clone());
        self.add(path, span, diagnostic);
    }

    /// Adds a finding about the key at `path`.
    fn key(&mut self, path: &Path, diagnostic: Diagnostic) {
        let span = self
            .places
            .and_then(|places| places.get(path))
            .and_then(|spans| spans.key.clone());
        self.add(path, span, diagnostic);
    }

    fn add(
        &mut self,
        path: &Path,
        span: Option<std::ops::Range<usize>>,
        mut diagnostic: Diagnostic,
    ) {
        diagnostic = diagnostic.with_path(path.to_string());
        diagnostic.place.span = span;
        self.diagnostics.push(diagnostic);
    }

    fn wrong_type(&mut self, path: &Path, name: &str, expected: &str, found: &Value) {
        let message = format!("{name} must be {expected}, not {}", described(found));
        self.value(path, Diagnostic::error("wrong-type", message));
    }

    fn unknown_keys(&mut self, path: &Path, members: &Map, known: &[&str], what: &str) {
        for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
            let mut diagnostic =
                Diagnostic::error("unknown-key", format!("{what} has no key {}", quote(key)));
            diagnostic.hint = Some(match nearest(key, known) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("its keys are {}", known.join(", ")),
            });
            self.key(&path.key(key), diagnostic);
        }
    }
}

/// The value by its JSON type, for messages.
fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn template(
    document: &Value,
    root: &Path,
    findings: &mut Findings<'_>,
) -> Option<ResponseTemplate> {
    let Value::Object(members) = document else {
        findings.wrong_type(root, "a response template", "an object", document);
        return None;
    };
    if let Some(version) = members.get("version").filter(|version| !is_one(version)) {
        let message = format!("version {} is not supported", to_string(version));
        let hint = "the only version is 1; the key may be left out";
        findings.value(
            &root.key("version"),
            Diagnostic::error("unsupported-version", message).with_hint(hint),
        );
    }
    findings.unknown_keys(root, members, &TOP_KEYS, "a response template");
    let defaults = match members.get("defaults") {
        None => Map::new(),
        Some(Value::Object(defaults)) => defaults.clone(),
        Some(other) => {
            findings.wrong_type(&root.key("defaults"), "defaults", "an object", other);
            Map::new()
        }
    };
    let anchor = pattern(
        members,
        root,
        "start_anchor",
        "start_anchor_pattern",
        findings,
    );
    if !members.contains_key("start_anchor") && !members.contains_key("start_anchor_pattern") {
        let message = "a response template needs start_anchor or start_anchor_pattern";
        let hint = "it is what the prompt ends its last assistant header with, such as \"<|im_start|>assistant\\n\"";
        findings.value(
            root,
            Diagnostic::error("missing-key", message).with_hint(hint),
        );
    }
    let fields = fields(members, root, findings);
    let implicit = implicit(members, root, findings);
    Some(ResponseTemplate {
        defaults,
        fields,
        implicit,
        anchor: anchor?,
    })
}

/// Whether Python finds the value equal to 1.
fn is_one(value: &Value) -> bool {
    match value {
        Value::Int(version) => *version == Integer::from(1),
        Value::Float(version) => *version == 1.0,
        Value::Bool(version) => *version,
        _ => false,
    }
}

fn fields(members: &Map, root: &Path, findings: &mut Findings<'_>) -> Vec<Field> {
    let path = root.key("fields");
    match members.get("fields") {
        Some(Value::Object(fields)) if !fields.is_empty() => fields
            .iter()
            .filter_map(|(name, value)| field(name, value, &path.key(name), findings))
            .collect(),
        None => {
            let message = "a response template needs fields";
            let hint = "an object with one member for each key of the message";
            findings.value(
                root,
                Diagnostic::error("missing-key", message).with_hint(hint),
            );
            Vec::new()
        }
        Some(Value::Object(_)) => {
            findings.value(
                &path,
                Diagnostic::error("no-fields", "fields must have at least one field"),
            );
            Vec::new()
        }
        Some(other) => {
            findings.wrong_type(&path, "fields", "an object", other);
            Vec::new()
        }
    }
}

/// The index of the field that nothing opens; a finding for each further one.
fn implicit(members: &Map, root: &Path, findings: &mut Findings<'_>) -> Option<usize> {
    let fields = members.get("fields").and_then(Value::as_object)?;
    let opened = |value: &Value| value.get("open").is_some() || value.get("open_pattern").is_some();
    let mut unopened = fields
        .iter()
        .enumerate()
        .filter(|(_, (_, value))| value.as_object().is_some() && !opened(value));
    let (first, (first_name, _)) = unopened.next()?;
    for (_, (name, _)) in unopened {
        let message = format!(
            "nothing opens {}, nor {}: only one field may do without",
            quote(name),
            quote(first_name)
        );
        let hint = "give it open or open_pattern";
        let path = root.key("fields").key(name);
        findings.key(
            &path,
            Diagnostic::error("two-implicit-fields", message).with_hint(hint),
        );
    }
    Some(first)
}

fn field(name: &str, value: &Value, path: &Path, findings: &mut Findings<'_>) -> Option<Field> {
    let Value::Object(members) = value else {
        findings.wrong_type(path, "a field", "an object", value);
        return None;
    };
    findings.unknown_keys(path, members, &FIELD_KEYS, "a field");
    let content = content(members, path, findings);
    let open = pattern(members, path, "open", "open_pattern", findings);
    let close = pattern(members, path, "close", "close_pattern", findings);
    let repeats = members.get("repeats").is_some_and(Value::is_truthy);
    let join = match members.get("join") {
        None | Some(Value::Null) => None,
        Some(Value::String(join)) => Some(join.clone()),
        Some(other) => {
            findings.wrong_type(&path.key("join"), "join", "a string", other);
            None
        }
    };
    if join.is_some() && !repeats {
        let message = "join is for a field that repeats";
        let hint = "add \"repeats\": true, or leave join out";
        findings.key(
            &path.key("join"),
            Diagnostic::error("join-without-repeats", message).with_hint(hint),
        );
    }
    let (transform, transform_each) = transform(members, path, findings);
    if members
        .get("transform")
        .is_none_or(|transform| *transform == Value::Null)
    {
        for (key, pattern) in [("open_pattern", &open), ("close_pattern", &close)] {
            let names = pattern.as_ref().map_or(&[][..], Pattern::group_names);
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let message = format!(
                    "{key} captures {}, but nothing uses captures without a transform",
                    names.join(", ")
                );
                let hint =
                    "add a transform that uses them, or make the groups unnamed with (?:...)";
                findings.value(
                    &path.key(key),
                    Diagnostic::error("unused-captures", message).with_hint(hint),
                );
            }
        }
    }
    let optional = members.get("optional").is_none_or(Value::is_truthy);
    let name = name.to_owned();
    Some(Field {
        name,
        open,
        close,
        content: content?,
        repeats,
        join,
        optional,
        transform,
        transform_each,
    })
}

fn content(members: &Map, path: &Path, findings: &mut Findings<'_>) -> Option<Content> {
    let name = match members.get("content") {
        None => "text",
        Some(Value::String(name)) => name,
        Some(other) => {
            findings.wrong_type(
                &path.key("content"),
                "content",
                "the name of a content parser",
                other,
            );
            return None;
        }
    };
    let none = Value::Object(Map::new());
    let content = Content::compile(name, members.get("content_args").unwrap_or(&none));
    if content.is_none() {
        let hint = match nearest(name, &PARSERS) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("the content parsers are {}", PARSERS.join(", ")),
        };
        let message = format!("there is no content parser {}", quote(name));
        findings.value(
            &path.key("content"),
            Diagnostic::error("unknown-content", message).with_hint(hint),
        );
    }
    content
}

/// The transform and whether it is for each item.
fn transform(members: &Map, path: &Path, findings: &mut Findings<'_>) -> (Option<Transform>, bool) {
    let transform = members
        .get("transform")
        .filter(|transform| **transform != Value::Null);
    let each = match members.get("transform_each") {
        None => false,
        Some(Value::Bool(each)) => *each,
        Some(other) => {
            findings.wrong_type(
                &path.key("transform_each"),
                "transform_each",
                "true or false",
                other,
            );
            false
        }
    };
    if each && transform.is_none() {
        let message = "transform_each is for a field with a transform";
        let hint = "add a transform, or leave transform_each out";
        findings.key(
            &path.key("transform_each"),
            Diagnostic::error("each-without-transform", message).with_hint(hint),
        );
    }
    let Some(transform) = transform else {
        return (None, each);
    };
    match Transform::compile(transform) {
        Ok(transform) => (Some(transform), each),
        Err(mixed) => {
            for mixed in mixed {
                let place = mixed
                    .path
                    .steps()
                    .iter()
                    .cloned()
                    .fold(path.key("transform"), |path, step| path.step(step));
                let message = format!("{} mixes a placeholder with other text", quote(&mixed.text));
                let hint = "nothing is interpolated: a string is one placeholder, such as \"{content}\", or plain text";
                findings.value(
                    &place,
                    Diagnostic::error("mixed-placeholder", message).with_hint(hint),
                );
            }
            (None, each)
        }
    }
}

/// The pattern under one of two keys; `None` when there is neither, or after a finding.
fn pattern(
    members: &Map,
    path: &Path,
    literal_key: &str,
    pattern_key: &str,
    findings: &mut Findings<'_>,
) -> Option<Pattern> {
    match (members.get(literal_key), members.get(pattern_key)) {
        (Some(_), Some(_)) => {
            let message = format!("{literal_key} and {pattern_key} exclude each other");
            let hint = "keep the one that you mean; a list of literals may stand under the first";
            findings.key(
                &path.key(pattern_key),
                Diagnostic::error("conflicting-keys", message).with_hint(hint),
            );
            None
        }
        (Some(literals), None) => {
            literal_pattern(literals, &path.key(literal_key), literal_key, findings)
        }
        (None, Some(Value::String(source))) => {
            let path = path.key(pattern_key);
            Pattern::regex(source)
                .map_err(|error| {
                    let message = format!("{pattern_key} does not compile: {error}");
                    findings.value(&path, Diagnostic::error("bad-pattern", message));
                })
                .ok()
        }
        (None, Some(other)) => {
            findings.wrong_type(&path.key(pattern_key), pattern_key, "a string", other);
            None
        }
        (None, None) => None,
    }
}

fn literal_pattern(
    literals: &Value,
    path: &Path,
    key: &str,
    findings: &mut Findings<'_>,
) -> Option<Pattern> {
    let items = match literals {
        Value::String(_) => std::slice::from_ref(literals),
        Value::Array(items) => items,
        other => {
            findings.wrong_type(path, key, "a string or a list of strings", other);
            return None;
        }
    };
    if items.is_empty() {
        findings.value(
            path,
            Diagnostic::error(
                "no-literals",
                format!("the list of {key} must not be empty"),
            ),
        );
        return None;
    }
    let before = findings.diagnostics.len();
    let mut texts: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = if literals.as_array().is_some() {
            path.index(index)
        } else {
            path.clone()
        };
        match item {
            Value::String(text) if text.is_empty() => {
                let diagnostic =
                    Diagnostic::error("empty-literal", format!("{key} must not be empty text"));
                findings.value(
                    &path,
                    diagnostic.with_hint("leave the key out where nothing stands"),
                );
            }
            Value::String(text) if !texts.contains(text) => texts.push(text.clone()),
            Value::String(_) => {}
            other => findings.wrong_type(&path, key, "a string", other),
        }
    }
    if findings.diagnostics.len() > before {
        return None;
    }
    let compiled = Pattern::literals(&texts);
    compiled
        .map_err(|error| {
            findings.value(
                path,
                Diagnostic::error("bad-pattern", format!("{key} does not compile: {error}")),
            );
        })
        .ok()
}
