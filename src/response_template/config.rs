//! A response template inside a `tokenizer_config.json`: reading it, and storing it without touching the rest.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::value::json::{self, Format, Places};
use crate::value::{Map, Path, Value};

use super::findings::Source as Text;
use super::{Invalid, ResponseTemplate, validate};

/// The member of a `tokenizer_config.json` that holds the response template.
pub const KEY: &str = "response_template";

/// The keys of a response template. What has none of them is not meant to be one.
const DOCUMENT_KEYS: [&str; 5] = [
    "version",
    "defaults",
    "fields",
    "start_anchor",
    "start_anchor_pattern",
];

/// Keys by which a `tokenizer_config.json` without a response template is known.
const CONFIG_KEYS: [&str; 8] = [
    KEY,
    "tokenizer_class",
    "chat_template",
    "added_tokens_decoder",
    "bos_token",
    "eos_token",
    "model_max_length",
    "processor_class",
];

/// Where a response template was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The text is the document.
    Document,
    /// The text is a `tokenizer_config.json` that holds it.
    TokenizerConfig,
}

/// A response template as it was found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The place where it was found.
    pub source: Source,
    /// The document as it is written.
    pub document: Value,
    /// Its compiled form.
    pub template: ResponseTemplate,
    /// The path to it from the root of the text.
    pub path: Path,
    /// The place of each value in the text.
    pub places: Places,
}

/// The response template of a `tokenizer_config.json`; `None` when it has none, or a null.
///
/// # Errors
///
/// That the text is not a JSON object, or everything that is wrong with the response template; with byte offsets into
/// the text.
pub fn read(text: &str) -> Result<Option<Loaded>, Invalid> {
    let (config, places) = parse(text)?;
    let Value::Object(members) = config else {
        let message = format!(
            "a tokenizer_config.json must be a JSON object, not {}",
            config.type_name()
        );
        return Err(Invalid::new(vec![
            Diagnostic::error("wrong-type", message).with_path("$"),
        ]));
    };
    from_config(
        &members,
        &Text {
            text,
            places: &places,
        },
    )
}

/// The response template in a text that is either the document or a `tokenizer_config.json`.
///
/// # Errors
///
/// That the text is not JSON or holds no response template, or everything that is wrong with the one it holds; with
/// byte offsets into the text.
pub fn load_any(text: &str) -> Result<Loaded, Invalid> {
    let (value, places) = parse(text).map_err(|invalid| {
        if is_jinja(text) {
            let message = "this is a chat template, not a response template";
            let hint = "derive a response template from it with `obverse derive`";
            let diagnostic = Diagnostic::error("no-response-template", message).with_hint(hint);
            return Invalid::new(vec![diagnostic]);
        }
        invalid
    })?;
    let source = Text {
        text,
        places: &places,
    };
    if let Value::Object(members) = &value {
        if let Some(loaded) = from_config(members, &source)? {
            return Ok(loaded);
        }
        if let Some(diagnostic) = no_template(members, &places) {
            return Err(Invalid::new(vec![diagnostic]));
        }
    }
    let template = validate::compile(&value, Some(&source), &Path::default())?;
    Ok(Loaded {
        source: Source::Document,
        document: value,
        template,
        path: Path::default(),
        places,
    })
}

fn from_config(members: &Map, source: &Text<'_>) -> Result<Option<Loaded>, Invalid> {
    let Some(document) = members
        .get(KEY)
        .filter(|document| **document != Value::Null)
    else {
        return Ok(None);
    };
    let path = Path::default().key(KEY);
    let template = validate::compile(document, Some(source), &path)?;
    Ok(Some(Loaded {
        source: Source::TokenizerConfig,
        document: document.clone(),
        template,
        path,
        places: source.places.clone(),
    }))
}

/// Returns true if a text that is not JSON is the source of a chat template. A document with a mistake begins as an object does.
fn is_jinja(text: &str) -> bool {
    let text = text.trim_start_matches(BYTE_ORDER_MARK).trim_start();
    let inside = text.strip_prefix('{').map(str::trim_start);
    let is_object =
        inside.is_some_and(|inside| inside.starts_with(['"', '}']) || inside.is_empty());
    let has = |open: &str, close: &str| {
        let after = text.find(open).map(|at| &text[at..]);
        after.is_some_and(|after| after.contains(close))
    };
    !is_object && (has("{%", "%}") || has("{{", "}}"))
}

/// Why an object without a response template is not meant to be one itself; `None` when it seems to be.
fn no_template(members: &Map, places: &Places) -> Option<Diagnostic> {
    let has = |key: &str| members.contains_key(key);
    if members.is_empty() || DOCUMENT_KEYS.iter().any(|key| has(key)) {
        return None;
    }
    let is_schema = has("x-regex") || has("x-regex-iterator") || has("properties") && has("type");
    let (key, message) = if has("response_schema") {
        (
            "response_schema",
            "the config holds a response schema, the older form that transformers has removed",
        )
    } else if is_schema {
        let key = if has("x-regex") {
            "x-regex"
        } else {
            "properties"
        };
        (
            key,
            "this is a response schema, the older form that transformers has removed",
        )
    } else if CONFIG_KEYS.iter().any(|key| has(key)) {
        (KEY, "the config holds no response template")
    } else {
        (KEY, "this is no response template: it has none of its keys")
    };
    let path = Path::default().key(key);
    let hint =
        "derive a response template from the chat template and store it under `response_template`";
    let mut diagnostic = Diagnostic::error("no-response-template", message).with_hint(hint);
    if let Some(spans) = places.get(&path) {
        diagnostic = diagnostic.with_path(path.to_string());
        diagnostic.place.span = spans.key.clone();
    }
    Some(diagnostic)
}

/// Reads the text, over a byte order mark if there is one.
fn parse(text: &str) -> Result<(Value, Places), Invalid> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let start = text.len() - body.len();
    let (value, mut places) =
        json::parse_with_places(body).map_err(|error| Invalid::from_json_error(&error, start))?;
    places.shift(start);
    Ok((value, places))
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Stores a response template in the text of a `tokenizer_config.json`: in the place of the one that is there, or as the
/// last member. Not a byte outside that member changes, and the new one is written in the file's own style:
/// indentation, line ends, spaces after colons, escapes.
///
/// # Errors
///
/// That the text is not a JSON object.
///
/// ```
/// use obverse::response_template::config;
/// use obverse::value::json;
/// let template = json::parse(r#"{"fields": {}}"#).unwrap();
/// let written = config::write("{\n\t\"eps\": 1E-5\n}\n", &template).unwrap();
/// assert_eq!(written, "{\n\t\"eps\": 1E-5,\n\t\"response_template\": {\n\t\t\"fields\": {}\n\t}\n}\n");
/// ```
pub fn write(text: &str, template: &Value) -> Result<String, Invalid> {
    write_member(text, KEY, template)
}

/// Stores a value as any member of the configuration, as [`write()`] does.
///
/// # Errors
///
/// That the text is not a JSON object.
pub fn write_member(text: &str, key: &str, template: &Value) -> Result<String, Invalid> {
    let (config, places) = parse(text)?;
    if config.as_object().is_none() {
        let message = format!(
            "a tokenizer_config.json must be a JSON object, not {}",
            config.type_name()
        );
        return Err(Invalid::new(vec![
            Diagnostic::error("wrong-type", message).with_path("$"),
        ]));
    }
    let root = Path::default();
    let whole = places.get(&root).map_or(0..0, |spans| spans.value.clone());
    let mut members: Vec<(Range<usize>, Range<usize>)> = places
        .members(&root)
        .filter_map(|spans| Some((spans.key.clone()?, spans.value.clone())))
        .collect();
    members.sort_by_key(|(key, _)| key.start);
    let replaced = places.get(&root.key(key)).map(|spans| &spans.value);
    let style = FileStyle::of(text, &members, replaced);
    if let Some(value) = replaced {
        return Ok(format!(
            "{}{}{}",
            &text[..value.start],
            style.value(template),
            &text[value.end..]
        ));
    }
    let member = format!(
        "{}{}{}",
        json::quote(key),
        style.colon,
        style.value(template)
    );
    let (at, before, after) = match members.last() {
        Some((_, value)) => (value.end, format!(",{}", style.gap), String::new()),
        None => {
            let inside = &text[whole.start + 1..whole.end - 1];
            let after = if inside.contains('\n') {
                String::new()
            } else {
                style.newline.to_owned()
            };
            (whole.start + 1, style.gap.clone(), after)
        }
    };
    Ok(format!(
        "{}{before}{member}{after}{}",
        &text[..at],
        &text[at..]
    ))
}

/// How the top level of a file is written.
struct FileStyle {
    /// The white space between `,` and a key.
    gap: String,
    /// The text from a key's last quote to its value.
    colon: String,
    newline: &'static str,
    /// The indentation of one level; `None` when the file has no lines.
    indent: Option<String>,
    ensure_ascii: bool,
}

impl FileStyle {
    /// The style of a text, to be judged without the value that is about to be replaced.
    fn of(
        text: &str,
        members: &[(Range<usize>, Range<usize>)],
        replaced: Option<&Range<usize>>,
    ) -> Self {
        let rest = replaced.map_or([text, ""], |value| {
            [&text[..value.start], &text[value.end..]]
        });
        let newline = if rest.iter().any(|part| part.contains("\r\n")) {
            "\r\n"
        } else {
            "\n"
        };
        // A file that is ASCII because it escapes what is not stays so.
        let ensure_ascii = rest.iter().all(|part| part.is_ascii())
            && rest.iter().any(|part| escapes_beyond_ascii(part));
        let Some((key, value)) = members.last() else {
            let indent = "  ".to_owned();
            return Self {
                gap: format!("{newline}{indent}"),
                colon: ": ".to_owned(),
                newline,
                indent: Some(indent),
                ensure_ascii,
            };
        };
        let colon = text[key.end..value.start].to_owned();
        let before = &text[..key.start];
        let lead = &before[before.trim_end_matches([' ', '\t', '\n', '\r']).len()..];
        let indent = lead.rsplit_once('\n').map(|(_, indent)| indent.to_owned());
        // One member on one line shows no gap; the space after the colon tells the habit.
        let gap = match (members.len(), &indent) {
            (1, None) if lead.is_empty() && colon.ends_with(' ') => " ".to_owned(),
            _ => lead.to_owned(),
        };
        Self {
            gap,
            colon,
            newline,
            indent,
            ensure_ascii,
        }
    }

    /// The value as it stands in a member of the top level.
    fn value(&self, value: &Value) -> String {
        let item_separator = match &self.indent {
            Some(_) => ",".to_owned(),
            None => format!(",{}", self.gap),
        };
        let format = Format {
            ensure_ascii: self.ensure_ascii,
            sort_keys: false,
            indent: self.indent.clone(),
            item_separator,
            key_separator: self.colon.clone(),
        };
        let written = format.write(value);
        match &self.indent {
            // In JSON a line feed is never part of a string, so each one begins a line.
            Some(indent) => written.replace('\n', &format!("{}{indent}", self.newline)),
            None => written,
        }
    }
}

/// Returns true if a `\uXXXX` in the text stands for something outside ASCII.
fn escapes_beyond_ascii(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let escape = &rest.as_bytes()[at + 1..];
        if escape.first() == Some(&b'u')
            && escape
                .get(1..5)
                .is_some_and(|digits| digits > b"007f".as_slice())
        {
            return true;
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"{"start_anchor": "é", "fields": {"content": {}}}"#;

    fn written(text: &str) -> String {
        let template = json::parse(TEMPLATE).expect("JSON");
        write(text, &template).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn the_member_is_written_in_the_style_of_the_file() {
        let cases = [
            (
                r#"{"a":1}"#,
                r#"{"a":1,"response_template":{"start_anchor":"é","fields":{"content":{}}}}"#,
            ),
            (
                r#"{"a": 1}"#,
                r#"{"a": 1, "response_template": {"start_anchor": "é", "fields": {"content": {}}}}"#,
            ),
            (
                "{\n    \"a\": 1\n}",
                "{\n    \"a\": 1,\n    \"response_template\": {\n        \"start_anchor\": \"é\",\n        \"fields\": {\n            \
                 \"content\": {}\n        }\n    }\n}",
            ),
            (
                "{\r\n\t\"a\" : 1,\r\n\t\"b\" : 2\r\n}\r\n",
                "{\r\n\t\"a\" : 1,\r\n\t\"b\" : 2,\r\n\t\"response_template\" : {\r\n\t\t\"start_anchor\" : \"é\",\r\n\t\t\"fields\" : {\r\n\t\t\t\
                 \"content\" : {}\r\n\t\t}\r\n\t}\r\n}\r\n",
            ),
            (
                r#"{"a":"\u00e8"}"#,
                r#"{"a":"\u00e8","response_template":{"start_anchor":"\u00e9","fields":{"content":{}}}}"#,
            ),
            (
                r#"{"response_template": 1, "a": 2}"#,
                r#"{"response_template": {"start_anchor": "é", "fields": {"content": {}}}, "a": 2}"#,
            ),
            (
                "{}\n",
                "{\n  \"response_template\": {\n    \"start_anchor\": \"é\",\n    \"fields\": {\n      \"content\": {}\n    }\n  }\n}\n",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(written(text), expected);
        }
    }

    #[test]
    fn what_is_written_is_found_again() {
        for text in [
            "{}",
            "\u{feff}{\"a\": 1}\n",
            "{\n\"response_template\": null\n}",
        ] {
            assert!(read(text).expect("a config").is_none());
            let loaded = load_any(&written(text)).expect("a config with a template");
            assert_eq!(loaded.source, Source::TokenizerConfig);
            assert_eq!(loaded.document, json::parse(TEMPLATE).expect("JSON"));
        }
        assert_eq!(
            load_any(TEMPLATE).expect("a document").source,
            Source::Document
        );
    }

    #[test]
    fn what_holds_no_template_says_why() {
        let cases = [
            (
                r#"{"response_schema": {}, "tokenizer_class": "T"}"#,
                "no-response-template",
                "response schema",
            ),
            (
                r#"{"type": "object", "properties": {"content": {"x-regex": "x"}}}"#,
                "no-response-template",
                "response schema",
            ),
            (
                r#"{"tokenizer_class": "T", "chat_template": "x"}"#,
                "no-response-template",
                "no response template",
            ),
            (
                r#"{"response_template": null}"#,
                "no-response-template",
                "no response template",
            ),
            (
                r#"{"eos_token": "</s>", "padding_side": "left"}"#,
                "no-response-template",
                "the config holds no response template",
            ),
            (
                r#"{"a": 1, "b": 2}"#,
                "no-response-template",
                "none of its keys",
            ),
            (
                "{%- for message in messages %}{{ message.content }}{% endfor %}",
                "no-response-template",
                "this is a chat template",
            ),
            (
                "<s>{{ messages[0].content }}",
                "no-response-template",
                "this is a chat template",
            ),
            (
                r#"{"start_anchor": "{{ a }}", "fields""#,
                "json-syntax",
                "not JSON",
            ),
            (
                r#"{"fields": {"content": {}}}"#,
                "missing-key",
                "start_anchor",
            ),
            (r#"{"a": 1"#, "json-syntax", "not JSON"),
            (r#"[]"#, "wrong-type", "an object"),
        ];
        for (text, code, words) in cases {
            let invalid = load_any(text).expect_err("no template");
            assert!(
                invalid.diagnostics().iter().any(|found| found.code == code),
                "{text}: {invalid:?}"
            );
            assert!(invalid.to_string().contains(words), "{text}: {invalid}");
        }
    }

    #[test]
    fn diagnostics_point_into_the_config() {
        let text = "\u{feff}{\"a\": 1, \"response_template\": {\"start_anchor\": \"x\", \"fields\": {\"c\": {\"opn\": 1}}}}";
        let invalid = read(text).expect_err("an unknown key");
        let place = &invalid.diagnostics()[0].place;
        assert_eq!(
            place.path.as_deref(),
            Some("$.response_template.fields.c.opn")
        );
        assert_eq!(place.span.clone().map(|span| &text[span]), Some("\"opn\""));
    }
}
