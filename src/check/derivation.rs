//! Holding a response template to the chat template that it belongs to.

use std::sync::Arc;

use super::compare::{Difference, differences};
use super::replay::Setting;
use crate::chat_template::ChatTemplateSource;
use crate::derive::{self, Case, Derivation, DeriveError};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// What comes of deriving again.
#[derive(Debug)]
pub struct Rederived {
    /// What is derived now.
    pub derivation: Derivation,
    /// Where the document at hand differs from what is derived now.
    pub differences: Vec<Difference>,
    /// How many of the messages that the derived template brings back were tried with the one at hand.
    pub tried: usize,
    /// Those that it does not bring back.
    pub disagreements: Vec<Disagreement>,
}

/// A response that a response template does not parse to the message from which the chat template rendered it.
#[derive(Debug, Clone, PartialEq)]
pub struct Disagreement {
    /// The response, its prompt, its tools and the message.
    pub case: Case,
    /// What it parses to.
    pub found: Map,
    /// In what that differs from the message.
    pub differences: Vec<Difference>,
}

/// Derives a response template from the chat template and compares: the documents, and what they make of the messages by
/// which the derivation is verified.
///
/// # Errors
///
/// That nothing can be derived from the chat template.
pub fn rederive(
    source: &ChatTemplateSource,
    document: &Value,
    template: &Arc<ResponseTemplate>,
    options: &derive::Options,
) -> Result<Rederived, DeriveError> {
    let derivation = derive::derive(source, options)?;
    let differences = differences(&derivation.document.to_value(), document);
    let disagreements = if differences.is_empty() {
        Vec::new()
    } else {
        derivation
            .cases
            .iter()
            .filter_map(|case| disagreement(case, template))
            .collect()
    };
    Ok(Rederived {
        differences,
        tried: derivation.cases.len(),
        disagreements,
        derivation,
    })
}

fn disagreement(case: &Case, template: &Arc<ResponseTemplate>) -> Option<Disagreement> {
    let found = Setting::of(template, case)
        .replay([case.response.as_str()])
        .message;
    let differences = differences(&case.message, &Value::Object(found.clone()));
    (!differences.is_empty()).then(|| Disagreement {
        case: case.clone(),
        found,
        differences,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template;

    fn rederived(document: &str) -> Rederived {
        let source = chat_template::from_text(
            "example",
            "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}\
             {% if add_generation_prompt %}<assistant>{% endif %}",
        )
        .unwrap();
        let document = crate::value::json::parse(document).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&document).unwrap());
        rederive(&source, &document, &template, &derive::Options::default()).unwrap()
    }

    #[test]
    fn another_document_that_says_the_same_differs_but_agrees() {
        let found = rederived(
            r#"{"defaults": {"role": "assistant"}, "start_anchor": "<assistant>",
                "fields": {"content": {"close_pattern": "</assistant>[\\s]*"}}}"#,
        );
        assert!(!found.differences.is_empty() && found.tried > 0);
        assert_eq!(found.disagreements, []);
    }

    #[test]
    fn a_wrong_one_disagrees_on_a_message() {
        let found = rederived(
            r#"{"start_anchor": "<assistant>", "fields": {"content": {"close": "</user>"}}}"#,
        );
        let first = &found.disagreements[0];
        assert_eq!(first.differences[0].path.to_string(), "$.role");
        assert!(
            first.found["content"]
                .as_str()
                .unwrap()
                .ends_with("</assistant>")
        );
    }
}
