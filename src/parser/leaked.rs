//! Markers that stand in the text of a region: delimiters that were not read as such, special tokens.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::pattern::{Pattern, anywhere, fixed_texts};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, python};

/// The texts that are told when they stand in a region's text; see [`super::ResponseParser::find_leaked`].
///
/// Of a response template these are the fixed texts of its delimiters and of the tags of `xml-inline` ([`fixed_texts`]): a literal, or of a
/// pattern each run of plain characters. White space around such a text is no part of it. It counts if prose and JSON do not write it anyway:
/// it has a letter or a digit, and a character that is neither that nor white space nor `_`, and no quote or brace. `</think>`,
/// `[TOOL_CALLS]` and `to=functions.` count; `final`, `>>>` and `{"name": "` do not.
///
/// An opening delimiter of which no text counts, that has words in quotes, and that counts only at some places, since its pattern begins
/// with a look-around, is told where it stands at another place: `{"name": "f", "parameters": ` behind a sentence.
#[derive(Debug, Clone, Default)]
pub struct Markers {
    texts: BTreeSet<String>,
    /// The opening delimiters that are told as a whole, without what tells where they count.
    whole: Vec<Pattern>,
    /// Finds any of the texts, the longest where several begin at one place; `None` where there are no texts.
    pattern: Option<Pattern>,
}

impl Markers {
    /// Collects the markers of a response template.
    ///
    /// ```
    /// use obverse::{parser::Markers, response_template::ResponseTemplate};
    ///
    /// let template = ResponseTemplate::from_json(
    ///     r#"{"start_anchor": "A:", "fields": {
    ///         "thinking": {"open": "<think>\n", "close_pattern": "\\s*</think>\\s*"},
    ///         "content": {"open": "final", "close_pattern": "(?:<\\|end\\|>|</s>)\\s*"},
    ///         "call": {"open_pattern": "<function=(?:\\w+)>\\s*\\{\"args\": ", "close": "}"}
    ///     }}"#,
    /// )?;
    /// let markers = Markers::of(&template);
    /// let texts: Vec<&str> = markers.texts().collect();
    /// assert_eq!(texts, ["</s>", "</think>", "<function=", "<think>", "<|end|>"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(template: &ResponseTemplate) -> Self {
        let fields = template.fields().iter();
        let patterns = fields.flat_map(|field| {
            let delimiters = field.open.iter().chain(&field.close);
            delimiters.chain(field.content.tag_pattern())
        });
        let texts = patterns.flat_map(fixed_texts);
        let texts = texts.map(|text| python::strip(&text).to_owned());
        let markers = Self::default().and(texts.filter(|text| is_telling(text)));
        let opens = template.fields().iter().flat_map(|field| &field.open);
        let whole = opens.filter(|open| {
            let texts = fixed_texts(open);
            let is_quoted =
                |text: &String| text.contains('"') && text.chars().any(char::is_alphanumeric);
            texts.iter().any(is_quoted) && !texts.iter().any(|text| is_telling(python::strip(text)))
        });
        Self {
            whole: whole.filter_map(anywhere).filter(takes_text).collect(),
            ..markers
        }
    }

    /// Adds further texts, such as the special tokens of a tokenizer. These count whatever characters they are made of; white space alone
    /// is left out.
    #[must_use]
    pub fn and(mut self, others: impl IntoIterator<Item = String>) -> Self {
        let others = others.into_iter();
        self.texts
            .extend(others.filter(|text| !python::strip(text).is_empty()));
        let texts: Vec<String> = self.texts.iter().cloned().collect();
        // Without texts there is nothing to compile, and nobody has more of them than can be compiled.
        self.pattern = Pattern::literals(&texts).ok();
        self
    }

    /// Adds further texts that count by the rule for those of delimiters, such as the tokens of a tokenizer that are not special.
    #[must_use]
    pub fn and_telling(self, others: impl IntoIterator<Item = String>) -> Self {
        self.and(others.into_iter().filter(|text| is_telling(text)))
    }

    /// The texts, in the order of their characters.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    /// Returns the markers that stand in the text of a field's region, which begins at `start`. Of markers that overlap the first counts,
    /// and of those that begin at one place the longest. A marker that begins in the prefix, whose length is given, is left out.
    pub(super) fn leaked<'t>(
        &'t self,
        field: &'t str,
        text: &'t str,
        start: usize,
        prefix: usize,
    ) -> impl Iterator<Item = Leaked> + 't {
        let patterns = self.pattern.iter().chain(&self.whole);
        let found = patterns.flat_map(|pattern| pattern.find_iter(text));
        let spans = found.filter_map(|found| Some(found.ok()?.span));
        spans.filter_map(move |span| {
            let at = (start + span.start).checked_sub(prefix)?;
            Some(Leaked {
                field: field.to_owned(),
                span: at..at + span.len(),
                text: text[span].to_owned(),
            })
        })
    }
}

/// Returns true if a fixed text of a delimiter is one that neither prose nor JSON writes anyway.
fn is_telling(text: &str) -> bool {
    let is_sign = |c: char| !c.is_alphanumeric() && !python::is_space(c) && c != '_';
    text.chars().any(char::is_alphanumeric)
        && text.chars().any(is_sign)
        && !text.contains(['"', '{', '}'])
}

/// A marker that stands in a region's text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leaked {
    /// The field whose region it is.
    pub field: String,
    /// Where it stands: byte offsets into the response.
    pub span: Range<usize>,
    /// The marker.
    pub text: String,
}

impl Leaked {
    /// Returns true if it stands in a string of the value, or in a key.
    pub(super) fn stands_in(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => text.contains(&self.text),
            Value::Array(items) => items.iter().any(|item| self.stands_in(item)),
            Value::Object(members) => members
                .iter()
                .any(|(key, value)| key.contains(&self.text) || self.stands_in(value)),
            _ => false,
        }
    }

    /// The marker as an object: `field`, `start`, `end` and `text`.
    pub fn to_map(&self) -> Map {
        let mut members = Map::new();
        members.insert("field".to_owned(), Value::from(self.field.as_str()));
        members.insert("start".to_owned(), Value::count(self.span.start));
        members.insert("end".to_owned(), Value::count(self.span.end));
        members.insert("text".to_owned(), Value::from(self.text.as_str()));
        members
    }
}

/// Returns true if no match of the pattern is empty: what opens a region by what it only looks ahead for would else stand everywhere.
fn takes_text(pattern: &Pattern) -> bool {
    matches!(pattern.search("", 0), Ok(None))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::parser::{OnError, Options, ResponseParser};

    const CALLS: &str = r#"{"start_anchor": "A:", "fields": {
        "thinking": {"open": "<think>\n", "close_pattern": "\\s*</think>"},
        "calls": {"open_pattern": "<call>\\s*", "close": "</call>", "content": "json", "repeats": true},
        "content": {}
    }}"#;

    #[test]
    fn what_a_content_parser_takes_for_structure_has_not_leaked() {
        let template = r#"{"start_anchor": "A:", "fields": {"call": {"open": "<a> <call>", "close": "</call>",
            "content": "xml-inline", "content_args": {"tag_pattern": "<a>(?P<key>\\w+)</a>(?P<value>.*?)<end>"}}}}"#;
        let seen = |response: &str| -> Vec<Range<usize>> {
            let template = ResponseTemplate::from_json(template).expect("a template");
            let mut parser = ResponseParser::new(template, "", &[]).expect("no prefix");
            let markers = Markers::default().and(["<a>".to_owned(), "<b>".to_owned()]);
            parser.find_leaked(markers);
            parser.feed(response).expect("no limit");
            parser.finalize().expect("a message");
            parser.leaked().iter().map(|one| one.span.clone()).collect()
        };
        assert!(seen("<a> <call><a>x</a>1<end></call>").is_empty());
        assert_eq!(seen("<a> <call><a>x</a>1<b><end></call>"), vec![19..22]);
    }

    fn seen(prefix: &str, chunks: &[&str]) -> Vec<(String, Range<usize>, String)> {
        let template = ResponseTemplate::from_json(CALLS).expect("a template");
        let markers = Markers::of(&template).and(["<pad>".to_owned(), " ".to_owned()]);
        let options = Options {
            on_error: OnError::Keep,
            ..Options::default()
        };
        let mut parser =
            ResponseParser::with_options(template, prefix, &[], options).expect("a prefix");
        parser.find_leaked(Arc::new(markers));
        for chunk in chunks {
            parser.feed(chunk).expect("no limit");
        }
        parser.finalize().expect("a message");
        let leaked = parser.leaked().iter();
        leaked
            .map(|one| (one.field.clone(), one.span.clone(), one.text.clone()))
            .collect()
    }

    #[test]
    fn tags_within_the_value_of_a_tag_are_told_and_no_others() {
        let template = r#"{"start_anchor": "A:", "fields": {"content": {}, "call": {"open": "<call>", "close": "</call>", "repeats": true,
            "content": "xml-inline", "content_args": {"tag_pattern": "<k>(?P<key>\\w+)</k>\\s*<v>(?P<value>.*?)</v>"}}}}"#;
        let seen = |response: &str| -> Vec<(Range<usize>, String)> {
            let template = ResponseTemplate::from_json(template).expect("a template");
            let markers = Markers::of(&template);
            let mut parser = ResponseParser::new(template, "", &[]).expect("no prefix");
            parser.find_leaked(markers);
            parser.feed(response).expect("no limit");
            parser.finalize().expect("a message");
            let leaked = parser.leaked().iter();
            leaked
                .map(|one| (one.span.clone(), one.text.clone()))
                .collect()
        };
        assert_eq!(seen("<call><k>a</k><v>1</v> <k>b</k> <v>2</v></call>"), []);
        // The first value is not closed.
        let told = seen("<call><k>a</k><v>1\n<k>b</k><v>2</v><k>c</k><v>3</v></call>");
        let expected = [(19..22, "<k>"), (23..27, "</k>"), (27..30, "<v>")];
        assert_eq!(told, expected.map(|(span, text)| (span, text.to_owned())));
        assert_eq!(seen("A </v> b"), [(2..6, "</v>".to_owned())]);
    }

    #[test]
    fn a_delimiter_of_json_is_told_where_it_does_not_count() {
        let template = r#"{"start_anchor": "A:", "fields": {"content": {}, "call": {"close": "}<e>", "content": "json",
            "open_pattern": "(?<![^\\n])\\{\\s*\"name\"\\s*:\\s*\"(?P<name>\\w+)\"\\s*,\\s*\"args\"\\s*:\\s*", "transform": {"{name}": "{content}"}}}}"#;
        let seen = |response: &str| -> Vec<String> {
            let template = ResponseTemplate::from_json(template).expect("a template");
            let markers = Markers::of(&template);
            let mut parser = ResponseParser::new(template, "", &[]).expect("no prefix");
            parser.find_leaked(markers);
            parser.feed(response).expect("no limit");
            parser.finalize().expect("a message");
            parser.leaked().iter().map(|one| one.text.clone()).collect()
        };
        let call = r#"{"name": "f", "args": {"a": 1}}<e>"#;
        assert_eq!(seen(call), [""; 0]);
        assert_eq!(seen(&format!("Hm. {call}")), [r#"{"name": "f", "args": "#]);
        assert_eq!(
            seen(r#"So {"name": "f", "about": 1} and "args": 2"#),
            [""; 0]
        );
    }

    #[test]
    fn further_texts_may_count_as_those_of_delimiters_do() {
        let tokens = ["<tool>", "the", "  ", "{\"a\""].map(str::to_owned);
        let markers = Markers::default().and_telling(tokens);
        assert_eq!(markers.texts().collect::<Vec<_>>(), ["<tool>"]);
    }

    #[test]
    fn markers_in_the_text_of_regions_are_found_however_it_is_cut() {
        let response = "<think>é</think><call>{\"a\": \"<think>\"</call></call><pad>";
        let expected = [
            ("content".to_owned(), 0..7, "<think>".to_owned()),
            ("content".to_owned(), 9..17, "</think>".to_owned()),
            ("calls".to_owned(), 30..37, "<think>".to_owned()),
            ("content".to_owned(), 45..52, "</call>".to_owned()),
            ("content".to_owned(), 52..57, "<pad>".to_owned()),
        ];
        assert_eq!(seen("", &[response]), expected);
        let characters: Vec<&str> = response.split_inclusive(|_: char| true).collect();
        assert_eq!(seen("", &characters), expected);
    }

    #[test]
    fn delimiters_that_are_read_have_not_leaked() {
        assert_eq!(
            seen("", &["<think>\nhm</think><call>[1]</call>Hi < think >"]),
            []
        );
    }

    #[test]
    fn what_the_prefix_has_is_not_the_responses() {
        let prefix = "A:<think>\nso <call> <thi";
        let found = seen(prefix, &["nk> </call></think>"]);
        assert_eq!(
            found,
            [("thinking".to_owned(), 4..11, "</call>".to_owned())]
        );
    }
}
