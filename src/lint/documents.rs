//! What keeps a document from being a response template. The findings themselves come from its validation.

use super::DocumentCode;

const fn code(code: &'static str, text: &'static str) -> DocumentCode {
    DocumentCode { code, text }
}

pub(super) const ALL: &[DocumentCode] = &[
    code(
        "json-syntax",
        "The text is not JSON. The place is where reading stopped.",
    ),
    code(
        "no-response-template",
        "The configuration holds no response template, or only the older response schema. Derive one with `obverse derive`.",
    ),
    code(
        "wrong-type",
        "A value is of another type than its key needs; the message names both.",
    ),
    code(
        "missing-key",
        "A response template needs `fields` and one of `start_anchor` and `start_anchor_pattern`.",
    ),
    code(
        "unknown-key",
        "The format has no such key. Response templates have no room for private ones.",
    ),
    code(
        "unsupported-version",
        "The only `version` is 1; the key may be left out.",
    ),
    code(
        "no-fields",
        "`fields` has no member: give it one for each key of the message.",
    ),
    code(
        "two-implicit-fields",
        "More than one field does without an open. Only one can take what no region claims.",
    ),
    code(
        "conflicting-keys",
        "A literal and a pattern for one delimiter exclude each other: keep the one that you mean.",
    ),
    code("no-literals", "A list of literals is empty."),
    code(
        "empty-literal",
        "A literal is the empty string: leave the key out where nothing stands.",
    ),
    code(
        "bad-pattern",
        "A pattern does not compile, or uses what is not supported. The label marks the place in it.",
    ),
    code(
        "unknown-content",
        "There is no content parser of that name.",
    ),
    code(
        "join-without-repeats",
        "`join` is for a field that repeats.",
    ),
    code(
        "each-without-transform",
        "`transform_each` is for a field with a `transform`.",
    ),
    code(
        "unused-captures",
        "A pattern has named groups, but without a `transform` nothing uses what they capture.",
    ),
    code(
        "mixed-placeholder",
        "A string of a transform has a placeholder beside other text; nothing is interpolated.",
    ),
];

#[cfg(test)]
mod tests {
    use super::ALL;

    /// The codes in the sources of the validation are those that are documented.
    #[test]
    fn each_code_of_the_validation_is_documented() {
        let sources = [
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
