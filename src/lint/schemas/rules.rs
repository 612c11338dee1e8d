//! The texts of the rules for response schemas: why each matters, what to do, and an example that is run.

use crate::diagnostic::Severity;

/// One thing that can be wrong with a response schema that is valid.
#[derive(Debug)]
#[non_exhaustive]
pub struct SchemaRule {
    /// Its stable name.
    pub code: &'static str,
    /// How much a finding matters.
    pub severity: Severity,
    /// A sentence that says what it finds.
    pub summary: &'static str,
    /// Why that is bad.
    pub why: &'static str,
    /// How to mend it.
    pub remedy: &'static str,
    /// A schema that has it.
    pub bad: &'static str,
    /// One that has not.
    pub good: &'static str,
    /// A response, and what the two give: a value, or the kind of the error behind `error: `.
    pub shows: [&'static str; 3],
}

impl SchemaRule {
    /// The rule's documentation, in Markdown.
    pub fn explain(&self) -> String {
        let severity = format!("{:?}", self.severity).to_lowercase();
        let [response, bad, good] = self.shows;
        format!(
            "## {}\n\n{severity}: {}\n\n**Why it matters.** {}\n\n**What to do.** {}\n\n```json\n{}\n```\n\n\
             The response\n\n```text\n{response}\n```\n\nparses to `{bad}`. Better:\n\n```json\n{}\n```\n\nparses it to `{good}`.\n",
            self.code, self.summary, self.why, self.remedy, self.bad, self.good
        )
    }
}

/// All rules.
pub(in crate::lint) const ALL: &[SchemaRule] = &[
    SchemaRule {
        code: NO_EXTRACTOR,
        severity: Severity::Error,
        summary: "An object or an array is given text and has nothing that makes members or items of it.",
        why: "Every response that gets to the node is an error.",
        remedy: "Give an object `properties`, an `x-regex` with named groups, an `x-regex-key-value` or an `x-parser`; give an array an `x-regex-iterator` or an `x-parser`, and `items` or `prefixItems`.",
        bad: r#"{"type": "object", "properties": {
  "arguments": {"type": "object", "x-regex": "<args>(.*?)</args>"}
}}"#,
        good: r#"{"type": "object", "properties": {
  "arguments": {"type": "object", "x-regex": "<args>(.*?)</args>", "x-parser": "json"}
}}"#,
        shows: [
            r#"<args>{"a": 1}</args>"#,
            "error: object-text",
            r#"{"arguments": {"a": 1}}"#,
        ],
    },
    SchemaRule {
        code: GROUPS,
        severity: Severity::Error,
        summary: "A pattern has not the groups that its key reads.",
        why: "A pattern that has no named group must have exactly one group, and `x-regex-key-value` must have `key` and `value`: every response that it matches is an error.",
        remedy: "Put what is to be taken into one pair of parentheses and write `(?:...)` for all others, or name the groups.",
        bad: r#"{"type": "object", "properties": {
  "content": {"type": "string", "x-regex": "<(say|tell)>(.*)"}
}}"#,
        good: r#"{"type": "object", "properties": {
  "content": {"type": "string", "x-regex": "<(?:say|tell)>(.*)"}
}}"#,
        shows: ["<say>Hi", "error: many-groups", r#"{"content": "Hi"}"#],
    },
    SchemaRule {
        code: TYPE,
        severity: Severity::Error,
        summary: "A node's `type` does not go with what the node is given or with its other keys, or there is no such type.",
        why: "Every response that gets to the node is an error: lists of types are not understood, an iterator makes arrays, a key-value pattern makes objects, and a string cannot be made of members.",
        remedy: "Write one of object, array, string, integer, number, boolean and any that fits.",
        bad: r#"{"type": "object", "properties": {
  "calls": {"type": "object", "x-regex-iterator": "<c>(.*?)</c>"}
}}"#,
        good: r#"{"type": "object", "properties": {
  "calls": {"type": "array", "x-regex-iterator": "<c>(.*?)</c>", "items": {"type": "string"}}
}}"#,
        shows: ["<c>f</c>", "error: iterator-type", r#"{"calls": ["f"]}"#],
    },
    SchemaRule {
        code: PARSER,
        severity: Severity::Error,
        summary: "`x-parser` names no parser.",
        why: "Every response that gets to the node is an error.",
        remedy: "Write `json`, or `gemma4-tool-call` for calls whose strings stand between marks of their own.",
        bad: r#"{"type": "object", "properties": {
  "call": {"x-regex": "<c>(.*?)</c>", "x-parser": "JSON"}
}}"#,
        good: r#"{"type": "object", "properties": {
  "call": {"x-regex": "<c>(.*?)</c>", "x-parser": "json"}
}}"#,
        shows: ["<c>[1]</c>", "error: unknown-parser", r#"{"call": [1]}"#],
    },
    SchemaRule {
        code: UNREAD,
        severity: Severity::Warning,
        summary: "A key or a group of a pattern is never read.",
        why: "What it says does not happen. An unnamed group beside named ones is dropped, a group without a property is dropped where additional properties are; `default` counts only where the object above was given members, not text.",
        remedy: "Take it away, or spell it as it is known.",
        bad: r#"{"type": "object", "properties": {
  "content": {"type": "string", "x-regx": "<say>(.*)"}
}}"#,
        good: r#"{"type": "object", "properties": {
  "content": {"type": "string", "x-regex": "<say>(.*)"}
}}"#,
        shows: [
            "<say>Hi",
            r#"{"content": "<say>Hi"}"#,
            r#"{"content": "Hi"}"#,
        ],
    },
    SchemaRule {
        code: LAZY_END,
        severity: Severity::Warning,
        summary: "A pattern ends with a repetition that takes as little as it can.",
        why: "Nothing follows that would make it take more, so it always takes its least: `(.*?)` at the end is always empty.",
        remedy: "Write `(.*)` for all that follows, or say what ends it.",
        bad: r#"{"type": "object", "properties": {
  "content": {"type": "string", "x-regex": "<say>(.*?)"}
}}"#,
        good: r#"{"type": "object", "properties": {
  "content": {"type": "string", "x-regex": "<say>(.*?)(?:</say>|\\Z)"}
}}"#,
        shows: ["<say>Hi", r#"{"content": ""}"#, r#"{"content": "Hi"}"#],
    },
    SchemaRule {
        code: DOLLAR,
        severity: Severity::Warning,
        summary: "`$` stands in a pattern: it also matches before a final line feed.",
        why: "The last line feed of the response is lost where a lazy group ends at `$`.",
        remedy: r"Write `\Z`, the very end.",
        bad: r#"{"type": "object", "properties": {
  "content": {"type": "string", "x-regex": "<say>(.*?)(?:</say>|$)"}
}}"#,
        good: r#"{"type": "object", "properties": {
  "content": {"type": "string", "x-regex": "<say>(.*?)(?:</say>|\\Z)"}
}}"#,
        shows: [
            "<say>Hi\n",
            r#"{"content": "Hi"}"#,
            r#"{"content": "Hi\n"}"#,
        ],
    },
    SchemaRule {
        code: SLOW,
        severity: Severity::Warning,
        summary: "A pattern repeats a repetition, so that a text can be cut in many ways.",
        why: "Python's `re` may try all of them, which takes twice as long with each character: a response of thirty can take a minute. Obverse reads most such patterns in linear time and stops at a limit with the others; transformers does not.",
        remedy: "Write one repetition for the two.",
        bad: r#"{"type": "object", "properties": {
  "words": {"type": "string", "x-regex": "<w>((?:\\w+\\s*)+)</w>"}
}}"#,
        good: r#"{"type": "object", "properties": {
  "words": {"type": "string", "x-regex": "<w>([\\w\\s]+)</w>"}
}}"#,
        shows: ["<w>a b</w>", r#"{"words": "a b"}"#, r#"{"words": "a b"}"#],
    },
];

pub(super) const NO_EXTRACTOR: &str = "schema-no-extractor";
pub(super) const GROUPS: &str = "schema-groups";
pub(super) const TYPE: &str = "schema-type";
pub(super) const PARSER: &str = "schema-parser";
pub(super) const UNREAD: &str = "schema-unread";
pub(super) const LAZY_END: &str = "schema-lazy-end";
pub(super) const DOLLAR: &str = "schema-dollar";
pub(super) const SLOW: &str = "schema-slow";
