//! From the document to its compiled form, or to everything that is wrong with it.

use crate::content::{ContentParser, PARSERS, Transform};
use crate::diagnostic::Diagnostic;
use crate::pattern::Pattern;
use crate::value::json::{quote, to_string};
use crate::value::{Integer, Map, Path, Value};

use super::delimiter::pattern;
use super::findings::{Findings, Source};
use super::nearest::nearest;
use super::{Field, Invalid, Plan, ResponseTemplate};

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

/// Compiles the document that is found at `root` of the source.
pub(super) fn compile(
    document: &Value,
    source: Option<&Source<'_>>,
    root: &Path,
) -> Result<ResponseTemplate, Invalid> {
    compile_with(document, source, root, Vec::new())
}

/// Compiles the document as [`compile`] does, without those of its patterns that are `known`.
pub(super) fn compile_with(
    document: &Value,
    source: Option<&Source<'_>>,
    root: &Path,
    known: Vec<Pattern>,
) -> Result<ResponseTemplate, Invalid> {
    let mut findings = Findings {
        source,
        diagnostics: Vec::new(),
        known,
    };
    let template = template(document, root, &mut findings);
    match template {
        Some(template) if findings.diagnostics.is_empty() => Ok(template),
        _ => {
            findings
                .diagnostics
                .sort_by_key(|found| found.place.span.as_ref().map(|span| span.start));
            Err(Invalid::new(findings.diagnostics))
        }
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
        plan: Plan::new(&fields, implicit),
        fields,
        implicit,
        anchor: anchor?,
    })
}

/// Returns true if Python finds the value equal to 1.
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
        let message = "join requires 'repeats'";
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
    let mut content = content?;
    content.know_delimiters(open.as_ref(), close.as_ref());
    Some(Field {
        name: name.into(),
        open,
        close,
        content,
        repeats,
        join,
        optional,
        transform,
        transform_each,
    })
}

fn content(members: &Map, path: &Path, findings: &mut Findings<'_>) -> Option<ContentParser> {
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
    let content = ContentParser::compile(name, members.get("content_args").unwrap_or(&none));
    if content.is_none() {
        let hint = match nearest(name, &PARSERS) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("the content parsers are {}", PARSERS.join(", ")),
        };
        let message = format!("unknown content parser {}", quote(name));
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
                let place = path.key("transform").join(&mixed.path);
                let message = format!(
                    "{} mixes a placeholder with other text, and string interpolation is not supported",
                    quote(&mixed.text)
                );
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

#[cfg(test)]
mod tests {
    use super::super::ResponseTemplate;

    /// Each finding as code, path and the text at its span.
    fn findings(text: &str) -> Vec<(&'static str, String, String)> {
        let invalid = ResponseTemplate::from_json(text).expect_err("an invalid document");
        let describe = |diagnostic: &crate::diagnostic::Diagnostic| {
            let place = diagnostic.place.clone();
            let span = place.span.expect("a span");
            (
                diagnostic.code,
                place.path.unwrap_or_default(),
                text[span].to_owned(),
            )
        };
        invalid.diagnostics().iter().map(describe).collect()
    }

    fn only(text: &str) -> (&'static str, String, String) {
        let mut findings = findings(text);
        assert_eq!(findings.len(), 1, "{findings:?}");
        findings.remove(0)
    }

    #[test]
    fn each_finding_has_its_code_and_place() {
        let cases = [
            (r#"[]"#, "wrong-type", "$", "[]"),
            (
                r#"{"start_anchor": "x"}"#,
                "missing-key",
                "$",
                r#"{"start_anchor": "x"}"#,
            ),
            (
                r#"{"start_anchor": "x", "fields": {}}"#,
                "no-fields",
                "$.fields",
                "{}",
            ),
            (
                r#"{"start_anchor": "x", "fields": 1}"#,
                "wrong-type",
                "$.fields",
                "1",
            ),
            (
                r#"{"version": 2, "start_anchor": "x", "fields": {"c": {}}}"#,
                "unsupported-version",
                "$.version",
                "2",
            ),
            (
                r#"{"field": 1, "start_anchor": "x", "fields": {"c": {}}}"#,
                "unknown-key",
                "$.field",
                r#""field""#,
            ),
            (
                r#"{"start_anchor": [], "fields": {"c": {}}}"#,
                "no-literals",
                "$.start_anchor",
                "[]",
            ),
            (
                r#"{"start_anchor": ["a", ""], "fields": {"c": {}}}"#,
                "empty-literal",
                "$.start_anchor[1]",
                r#""""#,
            ),
            (
                r#"{"start_anchor": ["a", 1], "fields": {"c": {}}}"#,
                "wrong-type",
                "$.start_anchor[1]",
                "1",
            ),
            (
                r#"{"start_anchor_pattern": "(", "fields": {"c": {}}}"#,
                "bad-pattern",
                "$.start_anchor_pattern",
                r#""(""#,
            ),
        ];
        for (text, code, path, at) in cases {
            assert_eq!(only(text), (code, path.to_owned(), at.to_owned()), "{text}");
        }
    }

    #[test]
    fn each_finding_about_a_field_has_its_code_and_place() {
        let cases = [
            (r#"5"#, "wrong-type", "", "5"),
            (r#"{"opne": "x"}"#, "unknown-key", ".opne", r#""opne""#),
            (r#"{"open": null}"#, "wrong-type", ".open", "null"),
            (
                r#"{"open": "a", "open_pattern": "b"}"#,
                "conflicting-keys",
                ".open_pattern",
                r#""open_pattern""#,
            ),
            (
                r#"{"content": "jsn"}"#,
                "unknown-content",
                ".content",
                r#""jsn""#,
            ),
            (r#"{"content": []}"#, "wrong-type", ".content", "[]"),
            (
                r#"{"join": "x"}"#,
                "join-without-repeats",
                ".join",
                r#""join""#,
            ),
            (r#"{"repeats": 1, "join": 5}"#, "wrong-type", ".join", "5"),
            (
                r#"{"transform_each": 1}"#,
                "wrong-type",
                ".transform_each",
                "1",
            ),
            (
                r#"{"transform_each": true}"#,
                "each-without-transform",
                ".transform_each",
                r#""transform_each""#,
            ),
            (
                r#"{"transform": {"a b": ["-{x}"]}}"#,
                "mixed-placeholder",
                r#".transform["a b"][0]"#,
                r#""-{x}""#,
            ),
            (
                r#"{"close_pattern": "(?P<n>x)"}"#,
                "unused-captures",
                ".close_pattern",
                r#""(?P<n>x)""#,
            ),
        ];
        for (field, code, path, at) in cases {
            let text = format!(r#"{{"start_anchor": "x", "fields": {{"c": {field}}}}}"#);
            assert_eq!(
                only(&text),
                (code, format!("$.fields.c{path}"), at.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn all_findings_come_at_once_and_in_order() {
        let text = r#"{"start_anchor": "", "fields": {"a": {"close": 1, "join": "x"}, "b": {}, "c": {"opn": "x"}}}"#;
        let codes: Vec<&str> = findings(text).into_iter().map(|(code, ..)| code).collect();
        let expected = [
            "empty-literal",
            "wrong-type",
            "join-without-repeats",
            "two-implicit-fields",
            "two-implicit-fields",
            "unknown-key",
        ];
        assert_eq!(codes, expected);
    }

    #[test]
    fn a_pattern_is_marked_where_it_is_wrong() {
        let text = r#"{"start_anchor_pattern": "\u003cé\nx)y", "fields": {"c": {}}}"#;
        let invalid = ResponseTemplate::from_json(text).expect_err("a broken pattern");
        let label = invalid.diagnostics()[0]
            .labels
            .first()
            .cloned()
            .expect("a label");
        assert_eq!(&text[label.span], ")");
    }

    #[test]
    fn a_slip_is_met_with_the_key_that_was_meant() {
        let invalid = ResponseTemplate::from_json(
            r#"{"start_anchor": "x", "fields": {"c": {"repeat": true}}}"#,
        );
        let hint = invalid.expect_err("an unknown key").diagnostics()[0]
            .hint
            .clone();
        assert_eq!(hint.as_deref(), Some("did you mean `repeats`?"));
    }
}
