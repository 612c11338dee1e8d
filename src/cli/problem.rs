//! Problems: reasons for a verb to stop, and warnings, rendered with their place in the source.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};
use obverse::diagnostic::{Diagnostic, Severity};
use obverse::value::Value;

use super::status::Status;
use super::{escape, output, width};

/// How many characters of a line are shown, where there is room for them.
const WIDTH: usize = 120;

/// How many at least.
const LEAST: usize = 24;

/// How many diagnostics are shown; after so many nobody reads on.
pub(crate) const MANY: usize = 20;

/// A line that says how many of `count` diagnostics are not shown, if there are such.
pub(crate) fn more(count: usize) -> Option<String> {
    (count > MANY).then(|| format!("... and {} more\n", count - MANY))
}

/// A text that diagnostics speak of.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Its file's name, or what else it is called.
    pub(crate) name: String,
    /// The text into which spans point; `None` when there is nothing to show.
    pub(crate) text: Option<String>,
}

impl Document {
    /// A text of that name.
    pub(crate) fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: Some(text.into()),
        }
    }
}

/// Diagnostics about one document, and the exit status that they lead to.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// The status with which the tool exits if this stops it.
    pub(crate) status: Status,
    /// At least one.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The document that they speak of.
    pub(crate) document: Option<Document>,
    /// Further facts, each a line, shown below every diagnostic.
    pub(crate) notes: Vec<String>,
}

impl Problem {
    /// Something that kept the tool from working, without a place.
    pub(crate) fn failed(code: &'static str, message: impl Into<String>) -> Self {
        Self::of(Diagnostic::error(code, message))
    }

    /// The problem with a diagnostic.
    pub(crate) fn of(diagnostic: Diagnostic) -> Self {
        Self::all(vec![diagnostic])
    }

    /// The problem with several diagnostics.
    pub(crate) fn all(diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            status: Status::Failed,
            diagnostics,
            document: None,
            notes: Vec::new(),
        }
    }

    /// The message of its first diagnostic.
    pub(crate) fn message(&self) -> &str {
        self.diagnostics
            .first()
            .map_or("", |first| first.message.as_str())
    }

    /// Its code.
    pub(crate) fn code(&self) -> String {
        let first = self.diagnostics.first();
        first.map_or_else(String::new, |first| first.code.to_string())
    }

    /// Its first diagnostic for programs: `kind`, `message`, and where they are known `hint` and `file`.
    pub(crate) fn to_value(&self) -> Value {
        let first = self.diagnostics.first();
        let text = |text: Option<&str>| text.map(Value::from);
        let members = [
            ("kind", text(first.map(|first| first.code))),
            ("message", text(first.map(|first| first.message.as_str()))),
            ("hint", text(first.and_then(|first| first.hint.as_deref()))),
            (
                "file",
                text(
                    self.document
                        .as_ref()
                        .map(|document| document.name.as_str()),
                ),
            ),
        ];
        let known = members
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Value::Object(known.collect())
    }

    /// Everything that it says, in lines without a place.
    pub(crate) fn told(&self) -> String {
        let diagnostics = self.diagnostics.iter().flat_map(|one| {
            let hint = one.hint.iter().map(|hint| format!("help: {hint}"));
            std::iter::once(one.message.clone()).chain(hint)
        });
        let notes = self.notes.iter().cloned();
        diagnostics.chain(notes).collect::<Vec<_>>().join("\n")
    }

    /// The problem, about a document.
    #[must_use]
    pub(crate) fn about(mut self, document: Document) -> Self {
        self.document = Some(document);
        self
    }

    /// The problem with another exit status.
    #[must_use]
    pub(crate) fn with_status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// The problem with advice.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(first) = self.diagnostics.first_mut() {
            first.hint = Some(hint.into());
        }
        self
    }

    /// The problem with a further fact.
    #[must_use]
    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Shows it on standard error.
    pub(crate) fn show(&self) {
        let text = self.render(width::of_messages());
        let severity = |diagnostic: &Diagnostic| diagnostic.severity;
        if self.diagnostics.iter().map(severity).max() == Some(Severity::Error) {
            output::tell_always(&text);
        } else {
            output::tell(&text);
        }
    }

    /// Each diagnostic as a block of lines, styled, everything from outside escaped. Of a line of the source so much is shown
    /// as fits in `columns`.
    pub(crate) fn render(&self, columns: Option<usize>) -> String {
        let mut blocks: Vec<String> = self
            .diagnostics
            .iter()
            .take(MANY)
            .map(|diagnostic| self.render_one(diagnostic, columns))
            .collect();
        blocks.extend(more(self.diagnostics.len()));
        blocks.join("\n")
    }

    fn render_one(&self, diagnostic: &Diagnostic, columns: Option<usize>) -> String {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Info => Level::INFO,
        };
        let mut group = level
            .primary_title(escape::block(&diagnostic.message))
            .id(diagnostic.code)
            .elements(Vec::<Element<'_>>::new());
        let places = self.places(diagnostic, columns);
        for place in &places {
            group = group.element(
                Snippet::source(&place.excerpt.shown)
                    .path(&place.name)
                    .line_start(place.excerpt.line)
                    .annotation(
                        place
                            .kind
                            .span(place.excerpt.span.clone())
                            .label(place.label.as_ref()),
                    ),
            );
        }
        if let (Some(document), true) = (&self.document, places.is_empty()) {
            group = group.element(Origin::path(escape::line(&document.name)));
        }
        if let Some(path) = diagnostic.place.path.as_deref().filter(|path| *path != "$") {
            group = group.element(Level::NOTE.message(format!("at {}", escape::line(path))));
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(escape::block(note)));
        }
        if let Some(hint) = &diagnostic.hint {
            group = group.element(Level::HELP.message(escape::block(hint)));
        }
        let mut text = Renderer::styled().render(&[group]);
        // The renderer counts columns in what is shown, which of a long or an escaped line is not the line itself.
        for place in &places {
            let shown = place.heading(place.excerpt.shown_column());
            text = text.replacen(&shown, &place.heading(place.excerpt.column), 1);
        }
        text.push('\n');
        text
    }

    /// The place of a diagnostic and of its labels.
    fn places(&self, diagnostic: &Diagnostic, columns: Option<usize>) -> Vec<ShownPlace<'_>> {
        let Some((document, text)) = self
            .document
            .as_ref()
            .and_then(|document| Some((document, document.text.as_deref()?)))
        else {
            return Vec::new();
        };
        // Where a label points into the place itself, such as at a sign in a pattern, it is the better place.
        let primary = diagnostic.place.span.iter().filter(|span| {
            !diagnostic
                .labels
                .iter()
                .any(|label| span.start <= label.span.start && label.span.end <= span.end)
        });
        let labels = diagnostic.labels.iter().map(|label| {
            let text = (!label.text.is_empty()).then(|| escape::line(&label.text).into_owned());
            (&label.span, text)
        });
        primary
            .map(|span| (span, None))
            .chain(labels)
            .enumerate()
            .map(|(index, (span, label))| ShownPlace {
                name: escape::line(&document.name),
                excerpt: Excerpt::of(text, span, room(columns, label.as_deref())),
                label,
                kind: if index == 0 {
                    AnnotationKind::Primary
                } else {
                    AnnotationKind::Context
                },
            })
            .collect()
    }
}

/// How many characters of a line there is room for: beside its number and the frame stand the signs of what was left out, and
/// behind the place its label.
fn room(columns: Option<usize>, label: Option<&str>) -> usize {
    const FRAME: usize = 10;
    let Some(columns) = columns else {
        return WIDTH;
    };
    let label = label.map_or(0, |label| label.chars().count() + 1);
    let room = columns.saturating_sub(FRAME);
    // A label that takes all the room breaks on its own; the line is still to be seen.
    let beside = room.saturating_sub(label);
    let room = if beside < LEAST { room } else { beside };
    room.clamp(LEAST, WIDTH)
}

/// One place to be shown.
struct ShownPlace<'d> {
    name: Cow<'d, str>,
    excerpt: Excerpt,
    label: Option<String>,
    kind: AnnotationKind,
}

impl ShownPlace<'_> {
    fn heading(&self, column: usize) -> String {
        format!("{}:{}:{column}", self.name, self.excerpt.line)
    }
}

/// One line of a text, made fit to be shown.
#[derive(Debug, PartialEq, Eq)]
struct Excerpt {
    /// Counted from one.
    line: usize,
    /// Counted in characters, from one.
    column: usize,
    /// The line, or of a long one what is near the place; escaped.
    shown: String,
    /// The place in `shown`, in bytes.
    span: Range<usize>,
}

impl Excerpt {
    /// The place's column in what is shown.
    fn shown_column(&self) -> usize {
        self.shown[..self.span.start].chars().count() + 1
    }

    /// The line on which `span` begins, at most `room` characters of it.
    fn of(text: &str, span: &Range<usize>, room: usize) -> Self {
        let start = boundary(text, span.start);
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let rest = &text[start..];
        let mut to = start + rest.find('\n').unwrap_or(rest.len());
        if text[from..to].ends_with('\r') && to > start {
            to -= 1;
        }
        let end = boundary(text, span.end).clamp(start, to);
        let before = &text[from..start];
        let (before_width, width) = if text[from..to].chars().count() <= room {
            (room, room)
        } else {
            (room / 3, room - room / 3)
        };
        let marked = cut_end(&text[start..end], width);
        let after = &text[start + marked.len()..to];
        let mut shown = String::new();
        let near = cut_start(before, before_width);
        if near.len() < before.len() {
            shown.push('…');
        }
        shown.push_str(&escape::line(near));
        let begin = shown.len();
        shown.push_str(&escape::line(marked));
        let finish = shown.len();
        let near = cut_end(after, width - marked.chars().count());
        shown.push_str(&escape::line(near));
        if near.len() < after.len() {
            shown.push('…');
        }
        Self {
            line: text[..start].matches('\n').count() + 1,
            column: before.chars().count() + 1,
            shown,
            span: begin..finish,
        }
    }
}

/// The last boundary of a character at or before a byte offset.
fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// At most the first `limit` characters.
fn cut_end(text: &str, limit: usize) -> &str {
    text.char_indices()
        .nth(limit)
        .map_or(text, |(at, _)| &text[..at])
}

/// At most the last `limit` characters.
fn cut_start(text: &str, limit: usize) -> &str {
    text.char_indices()
        .rev()
        .nth(limit.saturating_sub(1))
        .map_or(text, |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(problem: &Problem) -> String {
        anstream::adapter::strip_str(&problem.render(None)).to_string()
    }

    #[test]
    fn the_place_is_counted_in_characters() {
        let excerpt = Excerpt::of("a\r\nés\u{1b}ts\r\nb", &(6..8), WIDTH);
        assert_eq!(
            excerpt,
            Excerpt {
                line: 2,
                column: 3,
                shown: "és\\u{1b}ts".to_owned(),
                span: 3..10
            }
        );
    }

    #[test]
    fn places_at_the_end_and_beyond_it_are_shown() {
        for span in [0..0, 2..2, 5..9] {
            let excerpt = Excerpt::of("ab", &span, WIDTH);
            assert_eq!((excerpt.line, excerpt.shown.as_str()), (1, "ab"));
        }
        assert_eq!(Excerpt::of("a\n", &(2..2), WIDTH).line, 2);
        assert_eq!(Excerpt::of("", &(0..0), WIDTH).shown, "");
    }

    #[test]
    fn of_a_long_line_only_the_surroundings_are_shown() {
        let text = "é".repeat(1000);
        for room in [30, WIDTH] {
            let excerpt = Excerpt::of(&text, &(1000..1002), room);
            assert_eq!(excerpt.column, 501);
            assert_eq!(excerpt.shown.chars().count(), room + 2);
            assert_eq!(&excerpt.shown[excerpt.span], "é");
            let excerpt = Excerpt::of(&text, &(0..2000), room);
            let marked = room - room / 3;
            assert_eq!(excerpt.shown.chars().count(), marked + 1);
            assert_eq!(excerpt.span, 0..2 * marked);
        }
    }

    #[test]
    fn of_many_diagnostics_the_first_are_shown() {
        let many = vec![Diagnostic::error("unknown-key", "no"); MANY + 3];
        let shown = plain(&Problem::all(many));
        assert_eq!(shown.matches("error[").count(), MANY);
        assert!(shown.ends_with("\n... and 3 more\n"), "{shown}");
        assert_eq!(more(MANY), None);
    }

    #[test]
    fn a_diagnostic_shows_place_line_and_hint() {
        let diagnostic = Diagnostic::error("unknown-key", "no key \"opne\"")
            .with_path("$.fields")
            .with_span(4..10)
            .with_hint("did you mean `open`?");
        let problem = Problem::of(diagnostic).about(Document::new("a.json", "{\n  \"opne\": 1\n}"));
        insta::assert_snapshot!(plain(&problem), @r#"
        error[unknown-key]: no key "opne"
         --> a.json:2:3
          |
        2 |   "opne": 1
          |   ^^^^^^
          |
          = note: at $.fields
          = help: did you mean `open`?
        "#);
    }
}
