//! Texts of which every line begins with a mark.
//!
//! Some chat templates quote, indent or number the lines of a text. `> It rains.` and `> I stay.` below it are one reasoning of two lines. No delimiter
//! brings such a text back, since the marks stand within it. But each line may be a region of its own, which its mark opens and the line's end closes, and the
//! field joins them again.
//!
//! The mark is what stands before each line but the first in the messages of several lines that do not come back: the same text, with any number where numbers
//! differ. Behind an empty line it may be missing. A mark counts only right behind a line of the same text, which is looked back at from where
//! the text begins: so that an answer may have a list whose items begin with the like of it. The text begins with what stands before its first line in
//! all of these messages, and ends with what stands behind its last one.
//!
//! Each way of writing this is a response template to be proved, and there are two of them at most. Looking for the lines costs one walk
//! over each response. To read such a text takes time that grows with the square of its length, since each mark looks back to where the text begins.

use std::ops::Range;
use std::sync::Arc;

use crate::derive::compare::pattern::SPACE;
use crate::derive::compare::text::{self, escape};
use crate::judge::Case;
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, FieldDocument, ResponseTemplate};
use crate::value::{Map, Value, python};

/// How many bytes the mark of a line has at most.
const MAX_MARK: usize = 32;

/// The end of a line.
const LINE_END: &str = "\\n";

/// How many lines a text has that is read to see that many can be.
const MANY: usize = 300;

/// How many such texts are read.
const MAX_LONG: usize = 2;

/// How many messages of several lines are needed at least to tell a mark.
const LEAST: usize = 2;

/// Returns response templates in which the text of a field is read line by line, if messages of several lines show marks before their lines. `cases` are
/// messages that come back, and `lost` are those that do not, with the message that each should have come back as.
pub(in crate::derive) fn lined(
    engines: &[Engine],
    document: &Document,
    template: &Arc<ResponseTemplate>,
    lost: &[Case],
    cases: &[Case],
    field: &str,
) -> Vec<Document> {
    let text = |case: &Case| {
        let text = case.message.get(field).and_then(Value::as_str);
        let before = template.after_last_anchor(&case.prefix).ok();
        text.zip(before)
            .map(|(text, before)| (format!("{before}{}", case.response), text.to_owned()))
    };
    let several: Vec<(String, String)> = lost
        .iter()
        .filter_map(text)
        .filter(|(_, text)| text.contains('\n'))
        .collect();
    let lines: Vec<Lines<'_>> = several
        .iter()
        .filter_map(|(whole, text)| Lines::find(whole, text, |_| true))
        .collect();
    if lines.len() < LEAST || 2 * lines.len() < several.len() {
        return Vec::new();
    }
    let others: Vec<(String, String)> = cases.iter().chain(lost).filter_map(text).collect();
    let Some(seen) = Seen::of(&lines).map(|seen| seen.behind_others(&lines, &others)) else {
        return Vec::new();
    };
    // A short text may stand somewhere else by chance, where something else is before it.
    let begins = if seen.is_whole { "\\A" } else { "" };
    let Ok(head) = Pattern::regex(&format!("{begins}(?:{})\\Z", seen.head)) else {
        return Vec::new();
    };
    let is_head = |text: &str| matches!(head.search(text, 0), Ok(Some(_)));
    let tails = others
        .iter()
        .filter_map(|(whole, text)| Lines::find(whole, text, is_head))
        .map(|lines| lines.tail);
    let end = common_beginning(tails);
    let own = document.fields.get(field);
    let own_close = own.and_then(|field| field.close.as_ref());
    let refused = Engine::refusals(engines, document);
    let changed = seen.fields(&end, own_close).into_iter().map(|lined| {
        let mut changed = document.clone();
        changed.fields.shift_remove(field);
        // A field that has no opening takes what is left, and stands last.
        let at = match lined.open {
            Some(_) => 0,
            None => changed.fields.len(),
        };
        changed.fields.shift_insert(at, field.to_owned(), lined);
        changed
    });
    changed
        .filter(|changed| Engine::refusals(engines, changed) <= refused)
        .collect()
}

/// Returns true if messages that come back by a response template do so with many more lines as well: a pattern that looks back at too much is given
/// up, and all that the model said with it. `lost` are messages that did not come back before.
pub(in crate::derive) fn reads_many(
    template: &Arc<ResponseTemplate>,
    lost: &[Case],
    field: &str,
) -> bool {
    let reads = |case: &Case| crate::judge::parse_whole(template, case) == case.message;
    let back = lost.iter().filter(|case| reads(case));
    let mut longer = back.filter_map(|case| longer(case, field)).take(MAX_LONG);
    longer.all(|case| reads(&case))
}

/// The case with the further lines of a field's text many times; `None` where it has but one, or they stand nowhere.
fn longer(case: &Case, field: &str) -> Option<Case> {
    let text = case.message.get(field)?.as_str()?;
    let lines = Lines::find(&case.response, text, |_| true)?;
    let (first, further) = text.split_once('\n')?;
    let times = MANY.div_ceil(lines.marks.len());
    let marked: String = std::iter::zip(&lines.marks, further.split('\n'))
        .map(|((mark, _), line)| format!("\n{mark}{line}"))
        .collect();
    let Value::Object(mut message) = case.message.clone() else {
        return None;
    };
    let long = format!("{first}{}", format!("\n{further}").repeat(times));
    message.insert(field, Value::from(long));
    let (head, tail) = (lines.head, lines.tail);
    Some(Case {
        response: format!("{head}{first}{}{tail}", marked.repeat(times)),
        message: Value::Object(message),
        ..case.clone()
    })
}

/// A text of several lines, as it stands in a response.
#[derive(Debug, PartialEq)]
struct Lines<'t> {
    /// The text before its first line.
    head: &'t str,
    /// The text before each further line, and true where that line is empty.
    marks: Vec<(&'t str, bool)>,
    /// The text behind its last line.
    tail: &'t str,
}

impl<'t> Lines<'t> {
    /// The first place where the lines stand behind such a head.
    fn find(whole: &'t str, text: &str, is_head: impl Fn(&str) -> bool) -> Option<Self> {
        let mut lines = text.split('\n');
        let first = lines.next().filter(|first| !first.is_empty())?;
        let mut starts = whole.match_indices(first);
        starts.find_map(|(at, _)| {
            let is_head = is_head(&whole[..at]);
            is_head.then(|| Self::at(whole, at..at + first.len(), lines.clone()))?
        })
    }

    /// The lines of a text whose first one stands in these bytes.
    fn at<'l>(
        whole: &'t str,
        first: Range<usize>,
        lines: impl Iterator<Item = &'l str>,
    ) -> Option<Self> {
        let mut marks = Vec::new();
        let mut rest = &whole[first.end..];
        let mut lines = lines.peekable();
        while let Some(line) = lines.next() {
            rest = rest.strip_prefix('\n')?;
            let row = &rest[..rest.find('\n').unwrap_or(rest.len())];
            // What closes the text may follow its last line.
            let mark = match lines.peek() {
                Some(_) => row.strip_suffix(line)?,
                None => &row[..row.find(line)?],
            };
            if mark.len() > MAX_MARK {
                return None;
            }
            rest = &rest[mark.len() + line.len()..];
            marks.push((mark, line.is_empty()));
        }
        Some(Self {
            head: &whole[..first.start],
            marks,
            tail: rest,
        })
    }
}

/// The patterns of the texts before lines.
struct Seen {
    /// Before the first line: the same in all texts from their beginning on, or a text that ends what stands there.
    head: String,
    is_whole: bool,
    mark: String,
    /// True if an empty line may have no mark.
    is_free: bool,
}

impl Seen {
    fn of(lines: &[Lines<'_>]) -> Option<Self> {
        let all = lines.iter().flat_map(|lines| &lines.marks);
        let is_free = all
            .clone()
            .any(|(mark, is_empty)| *is_empty && mark.is_empty());
        let marks = all.filter(|(mark, is_empty)| !(*is_empty && mark.is_empty()));
        let mark = alike(marks.map(|(mark, _)| *mark)).filter(|mark| !mark.is_empty())?;
        let heads = || lines.iter().map(|lines| lines.head);
        let (head, is_whole) = match alike(heads()) {
            Some(head) => (head, true),
            None => {
                let end = common_end(heads());
                (escape(end), false)
            }
        };
        let is_known = is_whole || !head.trim().is_empty();
        is_known.then_some(Self {
            head,
            is_whole,
            mark,
            is_free,
        })
    }

    /// These patterns where the text may stand behind another part of the message: then its first line begins with what stands before it in all of the
    /// messages, at the beginning of a line if that is always so.
    fn behind_others(self, lines: &[Lines<'_>], others: &[(String, String)]) -> Self {
        let Some(first) = lines.first().filter(|_| self.is_whole) else {
            return self;
        };
        let head = first.head;
        let is_known = escape(head) == self.head && !head.trim().is_empty();
        let further = others.iter().filter_map(|(whole, text)| {
            Lines::find(whole, text, |other| {
                other.len() > head.len() && other.ends_with(head)
            })
        });
        let mut before = further.map(|lines| &lines.head[..lines.head.len() - head.len()]);
        let Some(one) = before.next().filter(|_| is_known) else {
            return self;
        };
        let begins_line = one.ends_with('\n') && before.all(|before| before.ends_with('\n'));
        Self {
            head: match begins_line {
                true => format!("(?<![^\\n]){}", self.head),
                false => self.head,
            },
            is_whole: false,
            ..self
        }
    }

    /// The fields that read such lines, where this text stands behind the last one.
    fn fields(&self, end: &str, own_close: Option<&Delimiter>) -> Vec<FieldDocument> {
        let Self { head, mark, .. } = self;
        let row = match self.is_free {
            true => format!("(?:{mark}[^\\n]*)?\\n"),
            false => format!("{mark}[^\\n]*\\n"),
        };
        let open = match self.is_whole {
            true if head.is_empty() => None,
            true => Some(format!("\\A{head}")),
            false => Some(head.clone()),
        };
        let opened = |mark: &str| {
            let open = open.as_ref()?;
            Some(format!("(?:{open}|(?<={open}[^\\n]*\\n(?:{row})*){mark})"))
        };
        // An empty line that has no mark is a line of the text as well, where its end follows.
        let bare = self.is_free.then(|| opened(&format!("(?:{mark}|(?=\\n))")));
        let opens = bare.flatten().into_iter().map(Some).chain([opened(mark)]);
        let own = own_close.map(Delimiter::as_pattern);
        let ends = [Some(last(end)), own].into_iter().flatten();
        let ends: Vec<String> = ends.filter(|end| !end.is_empty()).collect();
        let all = opens.flat_map(|open| ends.iter().cloned().map(move |end| (open.clone(), end)));
        let fields = all.map(|(open, end)| {
            // The mark of the next line opens its region, where there is one for each; else it is between two lines.
            let close = match (&open, end.as_str()) {
                (Some(_), LINE_END) => end,
                (Some(_), _) => format!("(?:{end}|{LINE_END}(?={mark}))"),
                (None, _) => format!("(?:{end}|{LINE_END}{mark})"),
            };
            FieldDocument {
                open: open.map(Delimiter::Pattern),
                close: Some(Delimiter::Pattern(close)),
                repeats: true,
                join: Some("\n".to_owned()),
                content: Some("text".to_owned()),
                content_args: Map::from_iter([("strip".to_owned(), Value::from(false))]),
                ..FieldDocument::default()
            }
        });
        fields.collect()
    }
}

/// The pattern of what stands behind the last line.
fn last(end: &str) -> String {
    let own = end.trim_end_matches(python::is_space);
    match own.len() {
        length if 0 < length && length < end.len() => format!("{}{SPACE}", escape(own)),
        _ => escape(end),
    }
}

/// One pattern for texts that are the same but for their numbers; `None` where they are not.
fn alike<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Option<String> {
    let parts: Vec<Vec<&str>> = texts.map(parts).collect();
    let first = parts.first()?;
    let mut pattern = String::new();
    for (index, part) in first.iter().enumerate() {
        let mut others = parts.iter().map(|parts| parts.get(index).copied());
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        if others.clone().all(|other| other == Some(part)) {
            pattern.push_str(&escape(part));
        } else if others.all(|other| other.is_some_and(is_number)) {
            pattern.push_str("\\d+");
        } else {
            return None;
        }
    }
    let is_one_length = parts.iter().all(|parts| parts.len() == first.len());
    is_one_length.then_some(pattern)
}

/// A text as numbers and what stands between them.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number);
        let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(part);
        rest = behind;
    }
    parts
}

/// The longest beginning that all texts have but empty ones: a response may be cut off behind a text.
fn common_beginning<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut texts = texts.filter(|text| !text.is_empty());
    let first = texts.next().unwrap_or_default();
    let common = texts.fold(first, |common, text| {
        &common[..text::common_prefix(common, text)]
    });
    common.to_owned()
}

/// The longest end that all texts have.
fn common_end<'t>(mut texts: impl Iterator<Item = &'t str>) -> &'t str {
    let first = texts.next().unwrap_or_default();
    texts.fold(first, |common, text| {
        &common[common.len() - text::common_suffix(common, text)..]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn case(response: &str, field: &str, text: &str) -> Case {
        let message = Map::from_iter([(field.to_owned(), Value::from(text))]);
        Case {
            prefix: ">>".to_owned(),
            response: response.to_owned(),
            tools: Vec::new(),
            message: Value::Object(message),
        }
    }

    /// The response templates that read a field line by line.
    fn found(fields: &str, lost: &[(&str, &str)], field: &str) -> Vec<Arc<ResponseTemplate>> {
        let document = format!(r#"{{"start_anchor": ">>", "fields": {{{fields}}}}}"#);
        let document = Document::of(&json::parse(&document).unwrap()).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&document.to_value()).unwrap());
        let lost = lost.iter();
        let lost: Vec<Case> = lost
            .map(|(response, text)| case(response, field, text))
            .collect();
        let all = lined(&[], &document, &template, &lost, &[], field).into_iter();
        all.map(|document| {
            let template = ResponseTemplate::from_value(&document.to_value());
            Arc::new(template.unwrap_or_else(|error| panic!("{document:?}: {error}")))
        })
        .collect()
    }

    fn read(template: &Arc<ResponseTemplate>, response: &str, field: &str) -> Option<String> {
        let message = crate::judge::parse_whole(template, &case(response, field, ""));
        let text = message.get(field).and_then(Value::as_str);
        text.map(str::to_owned)
    }

    /// Quoted lines, an empty one among them; an answer may have a quotation, too.
    #[test]
    fn lines_are_opened_by_their_marks_and_joined() {
        let lost = [
            ("> It rains.\n>   I stay.\n\nYes", "It rains.\n  I stay."),
            ("> It\n> \n> is.\n\n> No", "It\n\nis."),
        ];
        let all = found(r#""content": {}"#, &lost, "thought");
        let [template] = all.as_slice() else {
            panic!("{all:?}");
        };
        for (response, text) in lost {
            assert_eq!(read(template, response, "thought").as_deref(), Some(text));
        }
        let response = "> a\n> b\n\nHe said:\n> c";
        assert_eq!(read(template, response, "thought").as_deref(), Some("a\nb"));
        let content = read(template, response, "content");
        assert_eq!(content.as_deref(), Some("He said:\n> c"));
    }

    /// Numbers may differ, and nothing but numbers.
    #[test]
    fn a_mark_may_have_a_number() {
        let lost = [
            ("1) a\n2) b\nso: Yes", "a\nb"),
            ("1) c\n2) d\n3) e\nso: No", "c\nd\ne"),
        ];
        let all = found(r#""content": {}"#, &lost, "thought");
        let response = "1) x\n2) y\n13) z\nso: Yes";
        let texts: Vec<_> = all
            .iter()
            .map(|template| read(template, response, "thought"))
            .collect();
        assert!(texts.contains(&Some("x\ny\nz".to_owned())), "{texts:?}");
        let other = [("1) a\n2) b\n", "a\nb"), ("1) c\n2. d\n", "c\nd")];
        assert!(found(r#""content": {}"#, &other, "thought").is_empty());
    }

    /// Lines that are indented but for the first and for empty ones, up to what closes the text.
    #[test]
    fn what_stands_between_lines_may_close_them() {
        let lost = [
            ("a\n   b\n\n   c\n.\n", "a\nb\n\nc"),
            ("d\n     e\n.\n", "d\n  e"),
        ];
        let close = r#""content": {"close": "\n.\n"}"#;
        let all = found(close, &lost, "content");
        assert!(!all.is_empty());
        for template in &all {
            for (response, text) in lost {
                assert_eq!(read(template, response, "content").as_deref(), Some(text));
            }
        }
    }

    /// The lines of an answer behind a thought: its heading begins a line then, and is not where the response begins. An empty line has no mark.
    #[test]
    fn lines_may_stand_behind_another_part() {
        let lost = [
            (
                "say:\n  It rains.\n\n  I stay.\n.\n",
                "It rains.\n\nI stay.",
            ),
            ("say:\n  a\n  b\n.\n", "a\nb"),
        ];
        let document = r#"{"start_anchor": ">>", "fields": {"content": {}}}"#;
        let document = Document::of(&json::parse(document).unwrap()).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&document.to_value()).unwrap());
        let lost = lost.map(|(response, text)| case(response, "content", text));
        let behind = case("think: no\nsay:\n  Yes\n.\n", "content", "Yes");
        let all = lined(
            &[],
            &document,
            &template,
            &lost,
            std::slice::from_ref(&behind),
            "content",
        );
        let reads = |document: &Document, one: &Case| {
            let template = Arc::new(ResponseTemplate::from_value(&document.to_value()).unwrap());
            let message = crate::judge::parse_whole(&template, one);
            message.get("content") == one.message.get("content")
        };
        let first = all.first().unwrap();
        let mut cases = lost.iter().chain([&behind]);
        assert!(cases.all(|one| reads(first, one)), "{first:?}");
        // Within a line it is no heading.
        let within = case("I say:\n  no\n", "content", "no");
        assert!(!reads(first, &within), "{first:?}");
    }

    /// Every line of an answer looks back to where a thought might have begun, which is too much where there are many.
    #[test]
    fn a_text_of_many_lines_has_to_be_read_as_well() {
        let lost = [case("> a\n> b\n\n", "thought", "a\nb")];
        let reads = |template| crate::judge::parse_whole(template, &lost[0]) == lost[0].message;
        let read = |open: &str| {
            let thought = format!(
                r#"{{"open_pattern": "{open}", "close_pattern": "(?:\\n\\n|\\n(?=> ))", "repeats": true, "join": "\n", "content_args": {{"strip": false}}}}"#
            );
            let document = format!(
                r#"{{"start_anchor": ">>", "fields": {{"thought": {thought}, "content": {{}}}}}}"#
            );
            Arc::new(ResponseTemplate::from_json(&document).unwrap())
        };
        let whole = read("(?:\\\\A> |(?<=\\\\A> [^\\\\n]*\\\\n(?:> [^\\\\n]*\\\\n)*)> )");
        assert!(reads(&whole) && reads_many(&whole, &lost, "thought"));
        // It reads two lines and no more.
        let short = read("(?:\\\\A> |(?<=\\\\A> [^\\\\n]*\\\\n)> )");
        assert!(reads(&short));
        assert!(!reads_many(&short, &lost, "thought"));
    }

    /// Lines without marks are a text as others are; and one message shows too little.
    #[test]
    fn lines_without_marks_stay_as_they_are() {
        let plain = [("a\nb", "a\nb"), ("c\nd", "c\nd")];
        assert!(found(r#""content": {}"#, &plain, "content").is_empty());
        assert!(found(r#""content": {}"#, &[("a\n# b", "a\nb")], "content").is_empty());
    }

    #[test]
    fn what_texts_have_in_common() {
        assert_eq!(common_beginning(["ab", "", "ac"].into_iter()), "a");
        assert_eq!(common_beginning(["é!", "é?"].into_iter()), "é");
        assert_eq!(common_end(["xab", "ab", "cab"].into_iter()), "ab");
        assert_eq!(common_end(["a", "b"].into_iter()), "");
        assert_eq!(
            alike(["1/2> ", "10/3> "].into_iter()).as_deref(),
            Some("\\d+/\\d+> ")
        );
        assert_eq!(
            alike(["1/2> ", "1/3> "].into_iter()).as_deref(),
            Some("1/\\d+> ")
        );
        assert_eq!(alike(["1> ", "1"].into_iter()), None);
    }
}
