//! The linter: what will go wrong with a response template, found before it does.
//!
//! A response template can be valid and still lose text. Each rule, in a file of its own below `rules`, knows one way in
//! which that happens; what it asserts of patterns it asks of their syntax, so that a finding is certain or says what it
//! depends on. What keeps a document from being a response template at all comes out of the same stream.
//!
//! ```
//! use obverse::lint;
//! let text = r#"{"start_anchor": "<bot>", "fields": {"content": {"close_pattern": "</bot>|$"}}}"#;
//! let found = lint::lint(text, &lint::Options::default());
//! assert!(found.iter().any(|found| found.code == "dollar"));
//!
//! let fixed = lint::fix(text, &lint::Options::default());
//! assert!(fixed.text.contains(r#""(?:</bot>|\\Z)\\s*""#));
//! ```

mod chat;
mod documents;
mod edit;
mod engines;
mod example;
mod probes;
mod rules;
mod schemas;
mod subject;

use crate::chat_template::ChatTemplateSource;
use crate::diagnostic::{Diagnostic, Severity};
use crate::response_schema;
use crate::response_template::{Engine, config};

pub use edit::{Fixed, fix, fix_where};
#[doc(hidden)]
pub use example::{Example, Shows};
pub use schemas::SchemaRule;

use subject::Subject;

/// The word that stands for every code where findings that are warnings are made errors.
pub const WARNINGS: &str = "warnings";

/// The code of the finding that the response of a fixture is written otherwise than the chat template renders its message. It is about
/// fixtures, so that it is told where these are at hand: by `obverse lint` and by `obverse check`.
pub const DEVIATES: &str = "deviates";

/// The options of the linter, beside the response template.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Options<'a> {
    /// The chat template that belongs to it; some rules need one.
    pub chat: Option<&'a ChatTemplateSource>,
    /// The engines that the response template is to run in beside transformers.
    pub engines: &'a [Engine],
}

impl<'a> Options<'a> {
    /// Sets the chat template that belongs to the response template.
    pub fn chat(self, chat: Option<&'a ChatTemplateSource>) -> Self {
        Self { chat, ..self }
    }

    /// Sets the engines that the response template is to run in beside transformers.
    pub fn engines(self, engines: &'a [Engine]) -> Self {
        Self { engines, ..self }
    }
}

/// One thing that can be wrong with a response template that is valid.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Its stable name.
    pub code: &'static str,
    /// How much a finding matters, at most.
    pub severity: Severity,
    /// A sentence that says what it finds.
    pub summary: &'static str,
    /// Why that is bad.
    pub why: &'static str,
    /// How to mend it.
    pub remedy: &'static str,
    /// A response template that has it, one that has not, and what comes of them.
    pub example: Example,
    check: fn(&Subject<'_>, &mut Vec<Diagnostic>),
}

/// One reason why a document is no response template.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DocumentCode {
    /// Its stable name.
    pub code: &'static str,
    /// The explanation: why it is wrong, and what to do about it.
    pub text: &'static str,
    /// A document that has it.
    pub bad: &'static str,
    /// The engine that it is for, where it is not for transformers.
    pub engine: Option<Engine>,
}

impl DocumentCode {
    /// The findings of this code in a document that has the mistake.
    fn findings(&self) -> Vec<Diagnostic> {
        let options = Options {
            engines: self.engine.as_slice(),
            ..Options::default()
        };
        let mut found = lint(self.bad, &options);
        found.retain(|found| found.code == self.code);
        found
    }

    /// The code's documentation, in Markdown.
    pub fn explain(&self) -> String {
        let mut page = format!(
            "## {}\n\nerror: {}\n\n```json\n{}\n```\n",
            self.code, self.text, self.bad
        );
        let with = match self.engine {
            Some(engine) => format!("obverse lint --for {}", engine.name()),
            None => "obverse lint".to_owned(),
        };
        for found in self.findings().iter().take(1) {
            page.push_str(&format!("\n`{with}` says\n\n```text\n{}\n", found.message));
            if let Some(hint) = &found.hint {
                page.push_str(&format!("help: {hint}\n"));
            }
            page.push_str("```\n");
        }
        page
    }
}

/// All rules, in the order in which they are documented.
pub fn rules() -> &'static [&'static Rule] {
    rules::ALL
}

/// The mistakes that keep a document from being a response template. Each is an error.
pub fn document_codes() -> &'static [DocumentCode] {
    documents::ALL
}

/// Why an engine does not take a response template that is valid. Each is an error where the engine is asked for.
pub fn engine_codes() -> &'static [DocumentCode] {
    engines::CODES
}

/// The rules for a response schema that is valid, in the order in which it is documented.
pub fn schema_rules() -> &'static [SchemaRule] {
    schemas::ALL
}

/// The codes of all findings.
pub fn codes() -> impl Iterator<Item = &'static str> {
    let rules = rules().iter().map(|rule| rule.code);
    let schemas = schema_rules().iter().map(|rule| rule.code);
    let others = other_codes().map(|known| known.code);
    [DEVIATES]
        .into_iter()
        .chain(rules)
        .chain(schemas)
        .chain(others)
}

/// Returns true if there is such a code.
pub fn is_code(code: &str) -> bool {
    codes().any(|known| known == code)
}

fn other_codes() -> impl Iterator<Item = &'static DocumentCode> {
    document_codes().iter().chain(engine_codes())
}

/// The documentation of a code, in Markdown; `None` when there is no such code.
pub fn explain(code: &str) -> Option<String> {
    if let Some(rule) = rules().iter().find(|rule| rule.code == code) {
        return Some(rule.explain());
    }
    if let Some(rule) = schema_rules().iter().find(|rule| rule.code == code) {
        return Some(rule.explain());
    }
    let known = other_codes().find(|known| known.code == code)?;
    Some(known.explain())
}

impl Rule {
    /// The rule's documentation, in Markdown.
    pub fn explain(&self) -> String {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        format!(
            "## {}\n\n{severity}: {}\n\n**Why it matters.** {}\n\n**What to do.** {}\n\n{}",
            self.code,
            self.summary,
            self.why,
            self.remedy,
            self.example.to_markdown()
        )
    }
}

/// Everything that is wrong with the response template or response schema in a text, which is the document or a `tokenizer_config.json` that
/// holds it; in the order of the text. Of a document that is no response template only that is told. A finding has a fix
/// only where fewer findings are left after it, those for the engines included, and where responses made of its own delimiters
/// are read as well as before.
pub fn lint(text: &str, options: &Options<'_>) -> Vec<Diagnostic> {
    let mut found = findings(text, options);
    edit::withdraw(text, options, &mut found);
    found
}

/// The findings of [`lint`], with fixes that may be none.
fn findings(text: &str, options: &Options<'_>) -> Vec<Diagnostic> {
    match response_schema::load_any(text) {
        Some(Ok(loaded)) => return schemas::findings(&loaded),
        Some(Err(invalid)) => return invalid.into_diagnostics(),
        None => {}
    }
    let loaded = match config::load_any(text) {
        Ok(loaded) => loaded,
        Err(invalid) => return invalid.into_diagnostics(),
    };
    let subject = Subject::new(text, &loaded, options.chat);
    let mut found = Vec::new();
    for rule in rules() {
        (rule.check)(&subject, &mut found);
    }
    for engine in options.engines {
        engines::check(&subject, *engine, &mut found);
    }
    found.sort_by_key(|diagnostic| diagnostic.place.span.as_ref().map(|span| span.start));
    found
}

/// The documentation of all codes as one page, in Markdown.
pub fn manual() -> String {
    let mut page = String::from(MANUAL);
    page.push_str("\n| code | severity | finds |\n|---|---|---|\n");
    for rule in rules() {
        let severity = format!("{:?}", rule.severity).to_lowercase();
        page.push_str(&format!(
            "| [`{0}`](#{0}) | {severity} | {1} |\n",
            rule.code, rule.summary
        ));
    }
    for rule in rules() {
        page.push('\n');
        page.push_str(&rule.explain());
    }
    page.push_str(SCHEMAS);
    for rule in schema_rules() {
        let severity = format!("{:?}", rule.severity).to_lowercase();
        page.push_str(&format!(
            "| [`{0}`](#{0}) | {severity} | {1} |\n",
            rule.code, rule.summary
        ));
    }
    for rule in schema_rules() {
        page.push('\n');
        page.push_str(&rule.explain());
    }
    for (heading, codes) in [(DOCUMENTS, document_codes()), (ENGINES, engine_codes())] {
        page.push_str(heading);
        for known in codes {
            page.push_str(&format!("| `{}` | {} |\n", known.code, known.text));
        }
        for known in codes {
            page.push('\n');
            page.push_str(&known.explain());
        }
    }
    page
}

const MANUAL: &str = "# What `obverse lint` finds

A response template can be valid and still lose text. Each rule here knows one way in which that happens. The responses and
messages of the examples are not written by hand: a test parses them. This page is written from the rules' own documentation;
`obverse explain CODE` prints a part of it.

An *error* does not work, a *warning* works but probably not as meant, an *info* is worth knowing and is shown with
`--level info`. A finding that is meant is allowed in `obverse.toml`, by its code and with a reason.

With `--level info`, or where `--deny` names it, [`deviates`](codes/check.md#deviates) tells how many of a response template's fixtures have a response that is
no render of the chat template. Its fixtures are those that `obverse.toml` names for it, or those in its folder and below.

Some findings can be fixed: `--diff` shows the changes, `--fix` makes them and says what it fixed. A fix is made only if fewer findings
are left after it, and if responses that are made of the response template's own delimiters are read as well as before: no word of them
is lost, and no marker is left in a text. With `--for` the findings for the engine count too: `$` is not changed to `\\Z` for vLLM, whose
reader in Rust has no `\\Z`.
";

const ENGINES: &str = "
## Response templates that an engine does not take

With `--for`, or `engines` in `obverse.toml`, each is an error: the engine refuses the response template, or loses what it parses.
vLLM has two readers, and what is for vLLM is for both.

| reader | fields | defaults | text | patterns |
|---|---|---|---|---|
| SGLang 0.5.23, vLLM 0.33 in Python | `thinking`, `content`, `tool_calls` | `role` | as it comes | those of transformers |
| vLLM 0.33 in Rust | `reasoning_content` as well | any | `join` as well | Rust's, each with a literal with which every match begins and an automaton of at most 16 MiB |

| code | what is wrong |
|---|---|
";

const SCHEMAS: &str = "
## Response schemas

A [response schema](response-schemas.md), the older form, is told by what is in it and has rules of its own.

| code | severity | finds |
|---|---|---|
";

const DOCUMENTS: &str = "
## Documents that are no response template

transformers refuses these, and so does everything here. Each is an error.

| code | what is wrong |
|---|---|
";
