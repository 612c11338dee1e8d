//! Deriving from chat templates small enough to be read in a test.

use obverse::chat_template;
use obverse::derive::{Derivation, DeriveError, Options, derive};
use obverse::response_template::Engine;

/// What is derived from a template.
pub fn derive_text(text: &str) -> Result<Derivation, DeriveError> {
    let source = chat_template::from_text("test", text).expect("a template");
    derive(&source, &Options::default())
}

/// The derivation from a template whose assistant's turns are rendered by `assistant`, an expression block over `m`.
pub fn turns(assistant: &str, prompt: &str) -> Derivation {
    derive_text(&turns_text(assistant, prompt)).expect("derived")
}

/// The same for the engines named.
pub fn turns_for(engines: &[Engine], assistant: &str) -> Derivation {
    turns_with(assistant, &Options::default().engines(engines.to_vec()))
}

/// The same with these options.
pub fn turns_with(assistant: &str, options: &Options) -> Derivation {
    let source =
        chat_template::from_text("test", &turns_text(assistant, "<bot>")).expect("a template");
    derive(&source, options).expect("derived")
}

fn turns_text(assistant: &str, prompt: &str) -> String {
    format!(
        "{{%- for m in messages %}}\
         {{%- if m.role == 'assistant' %}}<bot>{assistant}<end>\
         {{%- else %}}<{{{{ m.role }}}}>{{{{ m.content }}}}<end>\
         {{%- endif %}}\
         {{%- endfor %}}\
         {{%- if add_generation_prompt %}}{prompt}{{%- endif %}}"
    )
}

/// The codes of what was found.
pub fn findings(derivation: &Derivation) -> Vec<&str> {
    derivation
        .report
        .findings
        .iter()
        .map(|finding| finding.code)
        .collect()
}

/// The texts of the findings with this code.
pub fn told(derivation: &Derivation, code: &str) -> String {
    let all = derivation.report.findings.iter();
    let texts = all.filter(|finding| finding.code == code);
    texts.map(|finding| finding.text.as_str()).collect()
}
