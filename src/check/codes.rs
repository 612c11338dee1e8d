//! The codes of what a check finds.

/// A code, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// The code.
    pub code: &'static str,
    /// What it means and what to do, in a few sentences.
    pub text: &'static str,
}

const fn code(code: &'static str, text: &'static str) -> Code {
    Code { code, text }
}

/// All codes of checks, in the order in which a fixture and a response template are looked at. What is wrong with a document or a
/// file as such has the codes of [`crate::lint`].
pub const CODES: &[Code] = &[
    code(
        "no-template",
        "A fixture belongs to no response template. Put it below a folder with a response_template.json, or a tokenizer_config.json that \
         holds one, or name it in obverse.toml.",
    ),
    code(
        "unknown-file",
        "A file in a fixture's folder is none of a fixture's parts. A part whose name is misspelt would go unread: rename it, or move it \
         elsewhere.",
    ),
    code(
        "wrong-part",
        "A part of a fixture is not what it must be, such as chunks that do not make up the response, or a prefix beside messages.",
    ),
    code(
        "invalid-utf8",
        "A file of a fixture is not UTF-8. A response that ends inside a character is recorded up to that character.",
    ),
    code(
        "no-prompt",
        "The prompt of a fixture is a conversation, and it cannot be rendered: there is no chat template, or it refuses the conversation.",
    ),
    code(
        "not-recorded",
        "A fixture has no expected.json. Record what the parser gives with --update, and read it before it is committed.",
    ),
    code(
        "other-message",
        "The response parses to another message than the recorded one. The path says where they differ; the hint names the delimiter that \
         is the likely cause. Mend the response template, or record the message anew with --update if it is meant to change.",
    ),
    code(
        "unclaimed",
        "No field of the response template takes a text of the response, so that it is in no message: it stands outside all regions, and \
         there is no field without an open. White space alone does not count. Let a field take it, or a delimiter; or list it in the \
         fixture's unclaimed.json (the key `unclaimed`), if it is to go nowhere. A text that is listed and is taken is told too.",
    ),
    code(
        "other-events",
        "The message is the recorded one, but the events on the way to it are not.",
    ),
    code(
        "does-not-parse",
        "A region of the response cannot be parsed as its field says. The place is that of the region, or of what is wrong in it. A response \
         that is meant not to parse has an error.json.",
    ),
    code(
        "other-error",
        "The response does not parse, as recorded, but the first error is another one.",
    ),
    code(
        "no-error",
        "The response parses, and error.json says that it must not.",
    ),
    code(
        "other-chunking",
        "Cut into other chunks, the response gives another message, other events or other errors. This is a fault of the parser, not of the \
         response template.",
    ),
    code(
        "other-split",
        "With the first bytes of the response in the prompt, the rest of it gives something else than the response at once. A pattern that \
         looks back past the anchor does this.",
    ),
    code(
        "lost-at-the-end",
        "When the response ends at the place, the value of a field that was finished is gone: something after it reopens the field. Let the close \
         take the white space after it, or let the field repeat.",
    ),
    code(
        "stale",
        "A derived response template, one with a report beside it, is not what is derived from its chat template now. Derive it again with \
         `obverse derive --out-dir` and read what changes.",
    ),
    code(
        "not-inverted",
        "Messages that the chat template renders are not parsed to themselves again, although what is derived from the chat template brings \
         them back. Each kind of disagreement is told by itself, with its smallest message. That a key has another name, of which the chat \
         template makes the same, is none.",
    ),
    code(
        "not-derived",
        "Nothing can be derived from the chat template, so that the response template is held to its fixtures alone.",
    ),
    code(
        "not-proved",
        "The response template is what is derived from its chat template, and the derivation is not proved: some messages do not come back. \
         Its report has the smallest.",
    ),
    code(
        "reference-disagrees",
        "With --reference: transformers makes something else of the response, at once and in pieces. docs/differences.md lists what is meant to \
         differ.",
    ),
    code(
        "reference-streams-otherwise",
        "With --reference: transformers makes something else of the response when it arrives in pieces, and so disagrees with itself.",
    ),
    code(
        "reference-refuses",
        "With --reference: transformers refuses a response template that is taken here.",
    ),
    code(
        "reference-takes",
        "With --reference: transformers takes a response template that is refused here.",
    ),
    code(
        "reference-silent",
        "With --reference: transformers gave no answer, or took too long for one.",
    ),
];

/// What a code of a check means, in Markdown; `None` for other codes.
pub fn explain_code(code: &str) -> Option<String> {
    let known = CODES.iter().find(|known| known.code == code)?;
    Some(format!("## {}\n\n{}\n", known.code, known.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code that a source gives to a diagnostic is told.
    #[test]
    fn every_code_of_the_sources_is_told() {
        let sources = [
            include_str!("explain.rs"),
            include_str!("fixture.rs"),
            include_str!("suite.rs"),
            include_str!("reference.rs"),
        ];
        let mut found = 0;
        for source in sources {
            let (source, _) = source.split_once("#[cfg(test)]").unwrap_or((source, ""));
            for call in source.split("Diagnostic::error(").skip(1) {
                let Some(code) = call.trim_start().strip_prefix('"') else {
                    continue;
                };
                let code = code.split('"').next().unwrap_or_default();
                found += 1;
                let elsewhere = ["json-syntax", "unreadable"].contains(&code);
                assert!(elsewhere || explain_code(code).is_some(), "{code}");
            }
        }
        assert!(found > 8, "{found}");
    }
}
