//! The mistakes that keep a document from being a response template. The findings themselves come from its validation.

use super::DocumentCode;

const fn code(code: &'static str, text: &'static str, bad: &'static str) -> DocumentCode {
    DocumentCode {
        code,
        text,
        bad,
        engine: None,
    }
}

pub(super) const ALL: &[DocumentCode] = &[
    code(
        "json-syntax",
        "The text is not JSON. The place is where reading stopped.",
        r##"{"start_anchor": "<bot>", "fields": {"content": {}}"##,
    ),
    code(
        "no-response-template",
        "The configuration holds neither a response template nor the older response schema. Derive one with `obverse derive`.",
        r##"{"tokenizer_class": "Tokenizer", "bos_token": "<s>"}"##,
    ),
    code(
        "wrong-type",
        "A value is of another type than its key needs; the message names both.",
        r##"{"start_anchor": "<bot>", "fields": {"content": {"close": 7}}}"##,
    ),
    code(
        "missing-key",
        "A response template needs `fields` and one of `start_anchor` and `start_anchor_pattern`.",
        r##"{"fields": {"content": {"close": "</bot>"}}}"##,
    ),
    code(
        "unknown-key",
        "The format has no such key. Response templates have no room for private ones.",
        r##"{"start_anchor": "<bot>", "fields": {"content": {"closes": "</bot>"}}}"##,
    ),
    code(
        "unsupported-version",
        "The only `version` is 1; the key may be left out.",
        r##"{"version": 2, "start_anchor": "<bot>", "fields": {"content": {}}}"##,
    ),
    code(
        "no-fields",
        "`fields` has no member: give it one for each key of the message.",
        r##"{"start_anchor": "<bot>", "fields": {}}"##,
    ),
    code(
        "two-implicit-fields",
        "More than one field does without an open. Only one can take what no region claims.",
        r##"{"start_anchor": "<bot>", "fields": {"content": {}, "thinking": {"close": "</think>"}}}"##,
    ),
    code(
        "conflicting-keys",
        "A literal and a pattern for one delimiter exclude each other: keep the one that you mean.",
        r##"{"start_anchor": "<bot>", "fields": {"content": {"close": "</bot>", "close_pattern": "</bot>\\s*"}}}"##,
    ),
    code(
        "no-literals",
        "A list of literals is empty.",
        r##"{"start_anchor": "<bot>", "fields": {"content": {"close": []}}}"##,
    ),
    code(
        "empty-literal",
        "A literal is the empty string: leave the key out where nothing stands.",
        r##"{"start_anchor": "<bot>", "fields": {"content": {"close": ""}}}"##,
    ),
    code(
        "bad-pattern",
        "A pattern does not compile, or uses what is not supported. The label marks the place in it.",
        r##"{"start_anchor": "<bot>", "fields": {"content": {"close_pattern": "</bot>("}}}"##,
    ),
    code(
        "unknown-content",
        "There is no content parser of that name.",
        r##"{"start_anchor": "<bot>", "fields": {"tool_calls": {"open": "<call>", "close": "</call>", "content": "yaml"}}}"##,
    ),
    code(
        "join-without-repeats",
        "`join` is for a field that repeats.",
        r##"{"start_anchor": "<bot>", "fields": {"content": {"close": "</bot>", "join": "\n"}}}"##,
    ),
    code(
        "each-without-transform",
        "`transform_each` is for a field with a `transform`.",
        r##"{"start_anchor": "<bot>", "fields": {"tool_calls": {"open": "<call>", "close": "</call>", "content": "json", "transform_each": true}}}"##,
    ),
    code(
        "unused-captures",
        "A pattern has named groups, but without a `transform` nothing uses what they capture.",
        r##"{"start_anchor": "<bot>", "fields": {"tool_calls": {"open_pattern": "<call (?P<name>\\w+)>", "close": "</call>", "content": "json"}}}"##,
    ),
    code(
        "mixed-placeholder",
        "A string of a transform has a placeholder beside other text; nothing is interpolated.",
        r##"{"start_anchor": "<bot>", "fields": {"tool_calls": {"open": "<call>", "close": "</call>", "content": "json", "transform": {"name": "call {content}"}}}}"##,
    ),
    code(
        "bad-replacement",
        "A replacement of `x-regex-substitutions` has an escape that Python does not know, or names a group that the pattern has not.",
        r##"{"type": "string", "x-regex-substitutions": [["(a)", "\\2"]]}"##,
    ),
    code(
        "bad-expression",
        "`x-parser-args.transform` of a response schema is no JMESPath.",
        r##"{"x-parser": "json", "x-parser-args": {"transform": "[*."}}"##,
    ),
];

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn each_example_shows_its_code() {
        for known in ALL.iter().chain(super::super::engine_codes()) {
            let found = known.findings();
            assert!(!found.is_empty(), "{}", known.code);
        }
    }

    /// The codes in the sources of the validation are those that are documented.
    #[test]
    fn each_code_of_the_validation_is_documented() {
        let sources = [
            include_str!("../response_schema/config.rs"),
            include_str!("../response_schema/mod.rs"),
            include_str!("../response_schema/validate.rs"),
            include_str!("../response_template/mod.rs"),
            include_str!("../response_template/validate.rs"),
            include_str!("../response_template/delimiter.rs"),
            include_str!("../response_template/findings.rs"),
            include_str!("../response_template/config.rs"),
        ];
        let mut codes: Vec<&str> = Vec::new();
        for source in sources {
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            for (at, call) in source.match_indices("Diagnostic::error(") {
                let rest = source[at + call.len()..].trim_start();
                let code = rest
                    .strip_prefix('"')
                    .and_then(|rest| rest.split('"').next());
                codes.push(code.expect("a code in quotes"));
            }
        }
        codes.sort_unstable();
        codes.dedup();
        let mut documented: Vec<&str> = ALL.iter().map(|known| known.code).collect();
        documented.sort_unstable();
        assert_eq!(codes, documented);
    }
}
