//! Holding a response template to the chat template that it belongs to.

use std::collections::HashMap;
use std::sync::Arc;

use super::compare::{Difference, differences, renamed};
use super::replay::Setting;
use crate::chat_template::{ChatTemplateSource, Clock, RenderInput};
use crate::derive::{self, Case, Derivation, DeriveError};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Path, Value};

/// The outcome of deriving again.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rederived {
    /// The derivation of now.
    pub derivation: Derivation,
    /// Where the document at hand differs from what is derived now.
    pub differences: Vec<Difference>,
    /// How many of the messages that the derived template brings back were tried with the one at hand.
    pub tried: usize,
    /// The messages that it does not bring back. A key with another name, of which the chat template makes the same, does not count.
    pub disagreements: Vec<Disagreement>,
}

/// A response that a response template does not parse to the message from which the chat template rendered it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Disagreement {
    /// The response, its prompt, its tools and the message.
    pub case: Case,
    /// The message that it parses to.
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
        let mut names = Names {
            source,
            clock: options.clock,
            same: HashMap::new(),
        };
        derivation
            .cases
            .iter()
            .filter_map(|case| disagreement(case, template, &mut names))
            .collect()
    };
    Ok(Rederived {
        differences,
        tried: derivation.cases.len(),
        disagreements,
        derivation,
    })
}

fn disagreement(
    case: &Case,
    template: &Arc<ResponseTemplate>,
    names: &mut Names<'_>,
) -> Option<Disagreement> {
    let setting = Setting::new(template, &case.prefix, &case.tools);
    let found = setting.replay([case.response.as_str()]).message;
    let mut differences = differences(&case.message, &Value::Object(found.clone()));
    if let Some((expected, other)) = renamed(&differences)
        && names.are_the_same(case, &expected, &other)
    {
        let of_names = [&expected, &other].map(|name| Path::default().key(name));
        differences.retain(|difference| !of_names.contains(&difference.path));
    }
    (!differences.is_empty()).then(|| Disagreement {
        case: case.clone(),
        found,
        differences,
    })
}

/// Names of one key of a message.
struct Names<'a> {
    source: &'a ChatTemplateSource,
    clock: Option<Clock>,
    /// The cases that were tried.
    same: HashMap<(String, String), bool>,
}

impl Names<'_> {
    /// Returns true if the chat template makes the same of a message whose key has the other name: it reads both, or neither.
    fn are_the_same(&mut self, case: &Case, name: &str, other: &str) -> bool {
        let names = (name.to_owned(), other.to_owned());
        if let Some(same) = self.same.get(&names) {
            return *same;
        }
        let same = self.try_out(case, name, other);
        self.same.insert(names, same);
        same
    }

    fn try_out(&self, case: &Case, name: &str, other: &str) -> bool {
        let Some(message) = case.message.as_object() else {
            return false;
        };
        let renamed: Map = message
            .iter()
            .map(|(key, value)| (if key == name { other } else { key }, value.clone()))
            .collect();
        let question = |text: &str| {
            let members = [("role", "user"), ("content", text)];
            Value::Object(
                members
                    .into_iter()
                    .map(|(key, text)| (key, text.into()))
                    .collect(),
            )
        };
        // The last turn, and one that others follow, are often rendered in different ways.
        let renders = |message: &Map| {
            let turn = vec![question("One?"), Value::Object(message.clone())];
            let earlier = [turn.clone(), vec![question("Two?")]].concat();
            [turn, earlier].map(|messages| self.render(case, messages))
        };
        let (right, left) = (renders(message), renders(&renamed));
        // A conversation that is refused tells nothing.
        right.iter().any(Option::is_some) && right == left
    }

    fn render(&self, case: &Case, messages: Vec<Value>) -> Option<String> {
        let has_tools = !case.tools.is_empty();
        let input = RenderInput {
            messages,
            tools: has_tools.then(|| case.tools.clone()),
            clock: self.clock,
            ..RenderInput::default()
        };
        self.source.select(has_tools).ok()?.render(&input).ok()
    }
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

    #[test]
    fn a_key_may_have_each_name_that_the_chat_template_reads() {
        let tried = |reads: &str| {
            let source = chat_template::from_text(
                "example",
                &format!(
                    "{{% for m in messages %}}<{{{{ m.role }}}}>{{% set plan = {reads} %}}{{% if plan %}}<plan>{{{{ plan }}}}</plan>{{% endif %}}\
                     {{{{ m.content }}}}</{{{{ m.role }}}}>{{% endfor %}}{{% if add_generation_prompt %}}<assistant>{{% endif %}}"
                ),
            )
            .unwrap();
            let document = crate::value::json::parse(
                r#"{"defaults": {"role": "assistant"}, "start_anchor": "<assistant>", "fields": {
                    "reasoning_content": {"open": "<plan>", "close": "</plan>"}, "content": {"close_pattern": "</assistant>\\s*"}}}"#,
            )
            .unwrap();
            let template = Arc::new(ResponseTemplate::from_value(&document).unwrap());
            let found =
                rederive(&source, &document, &template, &derive::Options::default()).unwrap();
            assert!(found.tried > 0);
            let kinds = super::super::kinds::kinds(&found.disagreements);
            kinds
                .iter()
                .map(|kind| kind.what.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(tried("m.reasoning or m.reasoning_content"), [""; 0]);
        assert_eq!(
            tried("m.reasoning"),
            ["`reasoning_content` has what `reasoning` should have"]
        );
    }
}
