//! The account of the text that is in no field of the message.
//!
//! The format drops text in four places. Two are outside of regions: where no implicit field takes it, and behind a close
//! without text that met a region without text, where the reference stops reading. Whatever of a response is neither a
//! delimiter nor inside a region is here, so that the three together are the response. Two are inside of regions, which
//! the account has beside that: the value of a region takes the place of an earlier one where the field neither repeats
//! nor joins, and `xml-inline` and `kv-lines` pass over what is no tag or line as they read them.

use std::ops::Range;

use crate::value::{Map, Value, python};

/// A stretch of a response that is in no field of the message: that no field takes, or that the field which took it drops.
///
/// A stretch that no field takes stands between two regions, before the first or behind the last. It is as long as can be:
/// two of them never touch. Delimiters are no part of it, and neither is the white space that
/// a content parser strips from a region, which is inside the region. A stretch may be white space alone, such as the
/// line break between two calls; [`is_white_space`](Self::is_white_space) tells, and who tells people of lost text leaves
/// such stretches out. What the prefix has of it is not the response's.
///
/// ```
/// use obverse::{parser::ResponseParser, response_template::ResponseTemplate};
///
/// let template = ResponseTemplate::from_json(
///     r#"{"start_anchor": "A:", "fields": {"content": {"open": "<say>", "close": "</say>"}}}"#,
/// )?;
/// let mut parser = ResponseParser::new(template, "", &[])?;
/// parser.feed("Well. <say>Hello!</say>\n")?;
/// parser.finalize()?;
/// let lost: Vec<_> = parser.unclaimed().iter().map(|lost| (lost.span.clone(), &*lost.text)).collect();
/// assert_eq!(lost, [(0..6, "Well. "), (23..24, "\n")]);
/// assert!(parser.unclaimed()[1].is_white_space());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unclaimed {
    /// Where it stands: byte offsets into the response.
    pub span: Range<usize>,
    /// The text as the model wrote it.
    pub text: String,
    /// The reason why it is in no field.
    pub cause: UnclaimedCause,
    /// The field that took it and dropped it; `None` where no field took it.
    pub field: Option<String>,
}

/// The reason why a text is in no field of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnclaimedCause {
    /// It stands outside of all regions, and no implicit field takes it.
    NoField,
    /// A later region of the field took its place. A parser that forgets the text of such regions does not tell of it.
    Replaced,
    /// The field's content parser passes over it: text with a letter or a digit between the tags of `xml-inline`, such as a tag that is
    /// broken or a sentence that the model says within a call, a line of `kv-lines` without its separator, or a value of which a later one
    /// with its key takes the place. Text behind the last tag that closes what the opening delimiter opened, such as `</function>` behind
    /// `<function=`, is no loss.
    PassedOver,
}

impl UnclaimedCause {
    /// The name: `no-field`, `replaced` or `passed-over`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoField => "no-field",
            Self::Replaced => "replaced",
            Self::PassedOver => "passed-over",
        }
    }
}

impl Unclaimed {
    /// The fate of the text in words for people: `no field takes it`, for example.
    pub fn fate(&self) -> String {
        let field = self.field.as_deref().unwrap_or_default();
        match self.cause {
            UnclaimedCause::NoField => "no field takes it".to_owned(),
            UnclaimedCause::Replaced => {
                format!("a later text of the field `{field}` takes its place")
            }
            UnclaimedCause::PassedOver => {
                format!("the content parser of the field `{field}` passes over it")
            }
        }
    }

    /// Returns true if it is nothing but what Python's `str.isspace()` takes for white space.
    pub fn is_white_space(&self) -> bool {
        self.text.chars().all(python::is_space)
    }

    /// The span without the white space at its ends, which is what to point at; of white space alone all of it.
    pub fn visible_span(&self) -> Range<usize> {
        let from_start = self.text.trim_start_matches(python::is_space);
        let visible = from_start.trim_end_matches(python::is_space);
        if visible.is_empty() {
            return self.span.clone();
        }
        let start = self.span.end - from_start.len();
        start..start + visible.len()
    }

    /// The advice for people who write the response template.
    pub fn remedy(&self) -> &'static str {
        match self.cause {
            UnclaimedCause::NoField => {
                "let a field take it: one without an open takes all that no other does"
            }
            UnclaimedCause::Replaced => {
                "put the texts together with `repeats` and `join`, or let the field open only once"
            }
            UnclaimedCause::PassedOver => {
                "let the content parser's pattern take it, or the region end before it"
            }
        }
    }

    /// The stretch as an object: `start`, `end` and `text`, and `cause` and `field` where a field took it.
    pub fn to_map(&self) -> Map {
        let mut members = Map::new();
        members.insert("start".to_owned(), Value::count(self.span.start));
        members.insert("end".to_owned(), Value::count(self.span.end));
        members.insert("text".to_owned(), Value::from(self.text.as_str()));
        if let Some(field) = &self.field {
            members.insert("cause".to_owned(), Value::from(self.cause.name()));
            members.insert("field".to_owned(), Value::from(&**field));
        }
        members
    }
}

/// The account of the stretches so far. Text is added to it as the parser passes over it.
#[derive(Debug, Clone)]
pub(super) struct Account {
    stretches: Vec<Unclaimed>,
    /// The offset at which the text that was added last ended; the prefix counts.
    end: usize,
}

impl Account {
    pub(super) const EMPTY: Self = Self {
        stretches: Vec::new(),
        end: 0,
    };

    pub(super) fn stretches(&self) -> &[Unclaimed] {
        &self.stretches
    }

    /// Takes the stretches that are as long as they will be. The last one stays, as text that follows may belong to it.
    pub(super) fn take(&mut self) -> Vec<Unclaimed> {
        let may_grow = self
            .stretches
            .last()
            .is_some_and(|last| last.field.is_none());
        let done = self.stretches.len() - usize::from(may_grow);
        let last = self.stretches.split_off(done);
        std::mem::replace(&mut self.stretches, last)
    }

    /// Returns the offset at which the text that was added last ended; the prefix counts.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Returns the length of the last stretch if it ends at `at`, and 0 otherwise.
    pub(super) fn length_until(&self, at: usize) -> usize {
        match self.stretches.last() {
            Some(last) if self.end == at && last.field.is_none() => last.text.len(),
            _ => 0,
        }
    }

    /// Adds text that begins at `start`, no earlier than what was added before; the first `prefix` bytes are not the
    /// response's.
    pub(super) fn add(&mut self, start: usize, text: &str, prefix: usize) {
        let touches = start == self.end;
        self.end = start + text.len();
        let text = &text[prefix.saturating_sub(start).min(text.len())..];
        if text.is_empty() {
            return;
        }
        let span = self.end - text.len() - prefix..self.end - prefix;
        match self.stretches.last_mut() {
            Some(last) if touches && last.field.is_none() => {
                last.span.end = span.end;
                last.text.push_str(text);
            }
            _ => self.stretches.push(Unclaimed {
                span,
                text: text.to_owned(),
                cause: UnclaimedCause::NoField,
                field: None,
            }),
        }
    }

    /// Adds a text that a field took and dropped. Of what begins at `start`, the first `prefix` bytes are not the response's.
    pub(super) fn drop(
        &mut self,
        field: &str,
        cause: UnclaimedCause,
        start: usize,
        text: &str,
        prefix: usize,
    ) {
        let mut cut = prefix.saturating_sub(start).min(text.len());
        while !text.is_char_boundary(cut) {
            cut += 1;
        }
        let (start, text) = (start + cut, &text[cut..]);
        if !text.is_empty() {
            self.stretches.push(Unclaimed {
                span: start - prefix..start - prefix + text.len(),
                text: text.to_owned(),
                cause,
                field: Some(field.to_owned()),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::{Limits, ResponseParser};
    use crate::response_template::ResponseTemplate;

    fn parser(fields: &str, prefix: &str, limits: Limits) -> ResponseParser {
        let source = format!(r#"{{"start_anchor": "A:", "fields": {fields}}}"#);
        let template = ResponseTemplate::from_json(&source).expect("a template");
        ResponseParser::with_limits(template, prefix, &[], limits).expect("a prefix")
    }

    fn seen(parser: &ResponseParser) -> Vec<(Range<usize>, &str)> {
        let stretches = parser.unclaimed().iter();
        stretches
            .filter(|lost| lost.field.is_none())
            .map(|lost| (lost.span.clone(), lost.text.as_str()))
            .collect()
    }

    const TAGS: &str = r#"{"a": {"open": "<a>", "close": "</a>"}, "b": {"open": "<b>"}}"#;
    const STALLS: &str = r#"{"content": {"close_pattern": "(?=<)"}}"#;

    #[test]
    fn text_outside_all_regions_is_unclaimed_as_soon_as_it_is_passed() {
        let mut parser = parser(TAGS, "", Limits::default());
        parser.feed("so <").expect("no error");
        assert_eq!(seen(&parser), [(0..3, "so ")]);
        parser.feed("c").expect("no error");
        assert_eq!(seen(&parser), [(0..5, "so <c")]);
        parser.feed(">é <a>1</a></a> <b>2</a>").expect("no error");
        assert_eq!(seen(&parser), [(0..9, "so <c>é "), (17..22, "</a> ")]);
        parser.finalize().expect("a message");
        assert_eq!(seen(&parser).len(), 2);
    }

    #[test]
    fn an_implicit_field_leaves_nothing() {
        let mut parser = parser(
            r#"{"content": {"close": "</s>"}, "b": {"open": "<b>", "close": "</b>"}}"#,
            "",
            Limits::default(),
        );
        parser.feed(" x</s>y<b>1</b>\n").expect("no error");
        parser.finalize().expect("a message");
        assert_eq!(seen(&parser), []);
    }

    #[test]
    fn the_prefix_is_not_the_responses() {
        let mut first = parser(TAGS, "A:é <a>1</a> x<", Limits::default());
        assert_eq!(seen(&first), []);
        first.feed("c>").expect("no error");
        assert_eq!(seen(&first), [(0..2, "c>")]);
        let mut opened = parser(TAGS, "A:x<a>", Limits::default());
        opened.feed("1</a>.").expect("no error");
        opened.finalize().expect("a message");
        assert_eq!(seen(&opened), [(5..6, ".")]);
    }

    #[test]
    fn what_a_stalled_parser_does_not_read_is_unclaimed() {
        let text = "a<b> c";
        for at in 0..=text.len() {
            let mut parser = parser(STALLS, "", Limits::default());
            let (head, tail) = text.split_at(at);
            parser.feed(head).expect("no error");
            parser.feed(tail).expect("no error");
            parser.finalize().expect("a message");
            assert_eq!(seen(&parser), [(1..6, "<b> c")], "{at}");
        }
    }

    fn dropped(fields: &str, text: &str) -> Vec<(String, UnclaimedCause)> {
        let mut parser = parser(fields, "", Limits::default());
        for character in text.split_inclusive(|_| true) {
            parser.feed(character).expect("no error");
        }
        parser.finalize().expect("a message");
        let dropped = parser.unclaimed().iter().map(|lost| {
            assert_eq!(text[lost.span.clone()], lost.text);
            assert_eq!(lost.field.is_some(), lost.cause != UnclaimedCause::NoField);
            (lost.text.clone(), lost.cause)
        });
        dropped.collect()
    }

    #[test]
    fn text_whose_place_a_later_one_takes_is_told() {
        use UnclaimedCause::{NoField, Replaced};
        let found = |fields: &str, text: &str| dropped(fields, text);
        let lost = |text: &str, cause| (text.to_owned(), cause);
        let implicit = r#"{"content": {"close": "</s>"}, "b": {"open": "<b>", "close": "</b>"}}"#;
        assert_eq!(
            found(implicit, " One. </s>\nTwo.</s>"),
            [lost("One.", Replaced)]
        );
        // Nothing is lost with a text that is white space, but with one that white space takes the place of.
        assert_eq!(found(implicit, "\n</s>Two."), []);
        assert_eq!(found(implicit, "One.</s>\n"), [lost("One.", Replaced)]);
        let two = found(implicit, "<b>1</b><b>2</b>x<b>3</b>");
        assert_eq!(two, [lost("1", Replaced), lost("2", Replaced)]);
        let joined = r#"{"content": {"close": "</s>", "repeats": true, "join": ""}}"#;
        assert_eq!(found(joined, "One.</s>Two."), []);
        // A value that has another form in the message is told as it stands in the response.
        let json = r#"{"j": {"open": "<j>", "close": "</j>", "content": "json"}}"#;
        let both = found(json, r#"<j> {"a": 1}</j>x<j>2</j>"#);
        assert_eq!(both, [lost("x", NoField), lost(r#" {"a": 1}"#, Replaced)]);
    }

    #[test]
    fn parts_that_a_content_parser_passes_over_are_told() {
        use UnclaimedCause::PassedOver;
        let tags = r#"{"call": {"open": "<c>", "close": "</c>", "content": "xml-inline",
            "content_args": {"tag_pattern": "<k=(?P<key>\\w+)>(?P<value>.*?)</k>"}}}"#;
        let found = |text: &str| -> Vec<String> {
            let all = dropped(tags, text).into_iter();
            all.inspect(|(_, cause)| assert_eq!(*cause, PassedOver))
                .map(|(text, _)| text)
                .collect()
        };
        assert_eq!(found("<c>\n<k=a>1</k>, <k=b>2</k>\n;</c>"), [""; 0]);
        // A sentence of the model, at any place, and what should have been an argument.
        let said = "Now, I say.";
        assert_eq!(found(&format!("<c>{said}<k=a>1</k></c>")), [said]);
        assert_eq!(
            found(&format!("<c><k=a>1</k>{said}</f></c>")),
            [format!("{said}</f>")]
        );
        assert_eq!(found("<c><k=a>1</k>b<k=c>2</k></c>"), ["b"]);
        // The arguments in another form than that of tags, of several words or of one.
        for body in [r#"{"a": 1, "b": 2}"#, r#"{"a":1}"#, "<a>1</a>", "'a'", "a"] {
            assert_eq!(found(&format!("<c>{body}</c>")), [body]);
            assert_eq!(found(&format!("<c><k=a>1</k>{body}</c>")), [body]);
        }
        assert_eq!(found("<c><k=a>1</k><k=b>2</c>"), ["<k=b>2"]);
        assert_eq!(found("<c><k=a>1</k></k> <k=b>2</k></c>"), ["</k> "]);
        assert_eq!(found("<c><k=a>1</k></f>\n<c><k=b>2</k></c>"), ["</f>\n<c>"]);
        assert_eq!(
            found("<c><k=a>1</k><k=b>2</k><k=a>3</k></c>"),
            ["<k=a>1</k>"]
        );
        let lines = r#"{"call": {"open": "<c>", "close": "</c>", "content": "kv-lines"}}"#;
        let found = dropped(lines, "<c>\na: 1\nand more\nb: 2\na: 3\n</c>");
        let texts: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, ["and more", "a: 1"]);
        // Each takes the place of the one before it.
        let thrice = dropped(lines, "<c>a: 1\nb: 2\na: 3\nb: 4\na: 5</c>");
        let texts: Vec<&str> = thrice.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, ["a: 1", "b: 2", "a: 3"]);
    }

    #[test]
    fn what_closes_the_opening_delimiter_again_is_no_loss() {
        let calls = r#"{"call": {"open_pattern": "<c>\\s*<f=(?P<name>\\w+)>", "close": "</c>", "content": "xml-inline",
            "content_args": {"tag_pattern": "<k=(?P<key>\\w+)>(?P<value>.*?)</k>"}, "transform": {"n": "{name}", "a": "{content}"}}}"#;
        let found = |body: &str| -> Vec<String> {
            let all = dropped(calls, &format!("<c>\n<f=say_it>{body}</c>")).into_iter();
            all.map(|(text, _)| text).collect()
        };
        assert_eq!(found("<k=a>1</k>\n</f>\n"), [""; 0]);
        assert_eq!(found("\n</f>\n"), [""; 0]);
        assert_eq!(found("<k=a>1</k></say_it>"), [""; 0]);
        assert_eq!(found("<k=a>1</k></say>\n"), [""; 0]);
        // The words as a text of their own, beside others, and as the beginning of the next call.
        assert_eq!(found("f"), ["f"]);
        assert_eq!(found("<k=a>1</k></f>so"), ["</f>so"]);
        assert_eq!(found("<k=a>1</k></g>"), ["</g>"]);
        assert_eq!(found("<k=a>1</k></f><f=say_it>"), ["</f><f=say_it>"]);
    }

    #[test]
    fn the_beginning_of_a_tag_at_which_a_response_is_cut_is_no_loss() {
        let tags = r#"{"call": {"open": "<call>", "close": "</call>", "content": "xml-inline",
            "content_args": {"tag_pattern": "<key=(?P<key>\\w+)>(?P<value>.*?)</key>"}}}"#;
        let found = |text: &str| -> Vec<String> {
            let all = dropped(tags, text).into_iter();
            all.map(|(text, _)| text).collect()
        };
        for cut in [
            "<call><key=a>1</key>\n<ke",
            "<call><ke",
            "<call><key=a>1</key></call",
        ] {
            assert_eq!(found(cut), [""; 0], "{cut}");
        }
        assert_eq!(found("<call><key=a>1</key><ke</call>"), ["<ke"]);
        assert_eq!(found("<call><key=a>1</key>so <ke"), ["so <ke"]);
        assert_eq!(found("<call><key=a>1</key><key=b"), ["<key=b"]);
    }

    #[test]
    fn what_is_passed_over_within_a_value_is_told() {
        let nested = r#"{"call": {"open": "<c>", "close": "</c>", "content": "xml-inline", "content_args": {
            "tag_pattern": "<k=(?P<key>\\w+)>(?P<value>.*?)</k>", "value_parser": {"name": "kv-lines"}}}}"#;
        let found = dropped(nested, "<c><k=é>a: 1\nso\nb: 2</k></c>");
        assert_eq!(found, [("so".to_owned(), UnclaimedCause::PassedOver)]);
        let lines = r#"{"call": {"open": "<c>", "close": "</c>", "content": "kv-lines", "content_args": {
            "value_parser": {"name": "xml-inline", "args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"}}}}}"#;
        let found = dropped(lines, "<c>é: <a>1</> so <b>2</>\n</c>");
        assert_eq!(found, [(" so ".to_owned(), UnclaimedCause::PassedOver)]);
    }

    #[test]
    fn what_is_taken_meanwhile_is_what_is_there_at_the_end() {
        let text = "so <c>é <a>1</a></a> <a>2</a> <b>2</a>";
        let mut whole = parser(TAGS, "", Limits::default());
        whole.feed(text).expect("no error");
        whole.finalize().expect("a message");
        let mut piecewise = parser(TAGS, "", Limits::default());
        let mut taken = Vec::new();
        for character in text.split_inclusive(|_| true) {
            piecewise.feed(character).expect("no error");
            taken.extend(piecewise.take_unclaimed());
            assert!(piecewise.unclaimed().len() <= 1);
        }
        piecewise.finalize().expect("a message");
        taken.extend(piecewise.unclaimed().iter().cloned());
        assert_eq!(taken, whole.unclaimed());
    }

    #[test]
    fn a_stretch_has_a_greatest_size() {
        let limits = Limits {
            region_bytes: 4,
            ..Limits::default()
        };
        for (fields, before) in [(TAGS, ""), (STALLS, "<")] {
            let text = format!("{before:4<4}5");
            for at in 0..text.len() {
                let mut parser = parser(fields, "", limits);
                parser.feed(&text[..at]).expect("it fits");
                let error = parser.feed(&text[at..]).expect_err("it does not fit");
                assert!(error.kind.is_limit());
                assert!(error.message.contains("no field takes"), "{error}");
                assert_eq!(parser.feed("").unwrap_err(), error);
            }
        }
    }

    #[test]
    fn white_space_is_told_apart() {
        let lost = |text: &str| Unclaimed {
            span: 3..3 + text.len(),
            text: text.to_owned(),
            cause: UnclaimedCause::NoField,
            field: None,
        };
        assert!(lost(" \n\u{1c}\u{a0}").is_white_space());
        assert!(!lost(" . ").is_white_space());
        assert_eq!(lost("\n é. \n").visible_span(), 5..8);
        assert_eq!(lost(" ").visible_span(), 3..4);
        let written = crate::value::json::to_string(&Value::Object(lost("é").to_map()));
        assert_eq!(written, r#"{"start": 3, "end": 5, "text": "é"}"#);
    }
}
