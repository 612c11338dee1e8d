//! The response template as it is edited, and the last valid one.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use ratatui::layout::Rect;

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint;
use crate::parser::Edge;
use crate::response_template::{Invalid, ResponseTemplate, config};
use crate::tui::layout;
use crate::tui::text::{Editor, wrapped_to};
use crate::value::json::{self, Format, Places};
use crate::value::{Path, Value};

/// A response template with where it came from.
#[derive(Debug)]
pub struct Template {
    /// The text of the document, as it is edited.
    pub(crate) editor: Editor,
    /// The last text that was valid.
    valid: String,
    /// The response template that the text compiles to.
    pub(crate) compiled: Arc<ResponseTemplate>,
    /// The findings about the text.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// True if the text is a response template.
    pub(crate) is_valid: bool,
    pub(crate) path: Option<PathBuf>,
    /// The text as it is stored.
    stored: String,
    /// The `tokenizer_config.json` that the document is stored in.
    config: Option<String>,
    places: Option<Places>,
}

impl Template {
    /// The rows that tell the first thing that is wrong, in a pane with that inside; true for those of the advice.
    pub(crate) fn told(&self, content: Rect) -> Vec<(String, bool)> {
        let Some(diagnostic) = self.diagnostics.first() else {
            return Vec::new();
        };
        let more = match self.diagnostics.len() {
            1 => String::new(),
            count => format!(" (1 of {count})"),
        };
        let advice = diagnostic.hint.as_deref().unwrap_or(match self.is_valid {
            true => "",
            false => "the last valid template keeps running",
        });
        let advice = match diagnostic.fix {
            Some(_) => format!("r repairs it: {advice}"),
            None => advice.to_owned(),
        };
        let width = usize::from(content.width).saturating_sub(2);
        let most = usize::from(layout::told_height(content));
        // The advice is more use than the end of a long message.
        let kept = usize::from(most > 1 && !advice.is_empty());
        let message = format!("{}{more}", diagnostic.message);
        let mut rows: Vec<(String, bool)> = Vec::new();
        for (number, row) in wrapped_to(&message, width, most - kept).iter().enumerate() {
            let sign = if number == 0 { "✗ " } else { "  " };
            rows.push((format!("{sign}{row}"), false));
        }
        let left = most - rows.len();
        if left > 0 && !advice.is_empty() {
            let advice = wrapped_to(&advice, width, left);
            rows.extend(advice.iter().map(|row| (format!("  {row}"), true)));
        }
        rows
    }

    /// Reads a response template, or a `tokenizer_config.json` that holds one. `path` is where it is saved.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn load(text: &str, path: Option<PathBuf>) -> Result<Self, Invalid> {
        let loaded = config::load_any(text)?;
        let (text, config) = match loaded.source {
            config::Source::Document => (text.to_owned(), None),
            config::Source::TokenizerConfig => {
                let document = Format::indented(2).write(&loaded.document) + "\n";
                (document, Some(text.to_owned()))
            }
        };
        Ok(Self {
            places: places(&text),
            diagnostics: diagnose(&text).1,
            is_valid: true,
            editor: Editor::new(text.clone()),
            compiled: Arc::new(loaded.template),
            valid: text.clone(),
            stored: text,
            config,
            path,
        })
    }

    /// The text as it is now.
    pub fn text(&self) -> &str {
        self.editor.text()
    }

    /// The last text that was valid.
    pub(crate) fn valid_text(&self) -> &str {
        &self.valid
    }

    /// Goes on with a text that was being edited.
    pub(crate) fn resume(&mut self, text: &str) {
        self.editor.set(text);
        self.check();
    }

    /// Returns true if the text is not the one that is stored.
    pub fn is_changed(&self) -> bool {
        self.editor.text() != self.stored
    }

    /// Looks at the text after an edit; says whether there is another valid template now.
    pub(crate) fn check(&mut self) -> bool {
        let (compiled, diagnostics) = diagnose(self.editor.text());
        self.diagnostics = diagnostics;
        self.places = places(self.editor.text()).or(self.places.take());
        self.is_valid = compiled.is_some();
        if let Some(template) = compiled {
            self.compiled = Arc::new(template);
            self.editor.text().clone_into(&mut self.valid);
        }
        self.is_valid
    }

    /// Mends what the linter knows how to mend; says how much that was.
    pub(crate) fn mend(&mut self) -> usize {
        let fixed = lint::fix(self.editor.text(), &lint::Options::default());
        if !fixed.applied.is_empty() {
            self.editor.set(&fixed.text);
        }
        fixed.applied.len()
    }

    /// The text to write to the file that it came from.
    pub(crate) fn file(&self) -> Result<String, String> {
        match &self.config {
            None => Ok(self.editor.text().to_owned()),
            Some(config) => {
                let document =
                    json::parse(self.editor.text()).map_err(|error| error.message().to_owned())?;
                config::write(config, &document).map_err(|error| error.to_string())
            }
        }
    }

    /// The text has been stored.
    pub(crate) fn saved(&mut self) {
        if let Ok(file) = self.file()
            && self.config.is_some()
        {
            self.config = Some(file);
        }
        self.stored = self.editor.text().to_owned();
    }

    /// Where the field stands in the text.
    pub(crate) fn field(&self, name: &str) -> Option<Range<usize>> {
        self.span(&Path::default().key("fields").key(name))
    }

    /// Where a delimiter of the field stands in the text.
    pub(crate) fn delimiter(&self, name: &str, side: Edge) -> Option<Range<usize>> {
        let field = Path::default().key("fields").key(name);
        let key = side.name();
        self.span(&field.key(key))
            .or_else(|| self.span(&field.key(&format!("{key}_pattern"))))
    }

    fn span(&self, path: &Path) -> Option<Range<usize>> {
        let spans = self.places.as_ref()?.get(path)?;
        let start = spans
            .key
            .as_ref()
            .map_or(spans.value.start, |key| key.start);
        Some(start..spans.value.end)
    }
}

/// The findings about the text of a response template, and what it compiles to.
fn diagnose(text: &str) -> (Option<ResponseTemplate>, Vec<Diagnostic>) {
    match ResponseTemplate::from_json(text) {
        Ok(template) => {
            let mut found = lint::lint(text, &lint::Options::default());
            found.retain(|diagnostic| diagnostic.severity >= Severity::Warning);
            (Some(template), found)
        }
        Err(invalid) => (None, invalid.into_diagnostics()),
    }
}

fn places(text: &str) -> Option<Places> {
    let parsed: Result<(Value, Places), _> = json::parse_with_places(text);
    parsed.ok().map(|(_, places)| places)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str =
        "{\"start_anchor\": \"A:\", \"fields\": {\"content\": {\"close\": \"<end>\"}}}";

    #[test]
    fn an_edit_that_is_not_valid_keeps_the_last_one() {
        let mut template = Template::load(DOCUMENT, None).expect("a template");
        assert!(!template.is_changed());
        template.editor.insert("x");
        assert!(!template.check());
        assert_eq!(template.diagnostics.len(), 1);
        assert_eq!(template.compiled.fields().len(), 1);
        assert!(template.field("content").is_some());
        template.editor.undo();
        assert!(template.check());
        assert!(template.is_valid);
        let close = template.delimiter("content", Edge::Close).expect("a place");
        assert_eq!(&DOCUMENT[close], "\"close\": \"<end>\"");
    }

    #[test]
    fn what_the_linter_can_mend_is_mended() {
        let mut template = Template::load(DOCUMENT, None).expect("a template");
        assert!(
            !template.diagnostics.is_empty(),
            "the close loses what stands before a line feed"
        );
        assert!(template.mend() > 0);
        assert!(template.check() && template.text() != DOCUMENT);
        assert!(template.diagnostics.is_empty());
        assert!(template.editor.undo());
        assert_eq!(template.text(), DOCUMENT);
    }

    #[test]
    fn in_a_config_only_the_template_changes() {
        let config = format!("{{\"eos\": \"x\", \"response_template\": {DOCUMENT}}}");
        let mut template = Template::load(&config, None).expect("a template");
        assert!(template.text().starts_with("{\n  \"start_anchor\""));
        let at = template.text().find("<end>").expect("the literal");
        template.editor.go_to(at);
        template.editor.insert("<very>");
        assert!(template.check() && template.is_changed());
        let file = template.file().expect("a file");
        assert!(file.starts_with("{\"eos\": \"x\""), "{file}");
        assert!(file.contains("<very><end>"), "{file}");
        template.saved();
        assert!(!template.is_changed());
    }
}
