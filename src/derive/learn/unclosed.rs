//! Calls that nothing closes before the next one begins, or before the turn ends.
//!
//! A model may go straight from the last argument of a call to the next call. Where arguments stand in tags, the first call then goes on to what
//! closes the second, whose opening goes to no field. So a call is taken to end, too, where an argument has just ended and another call begins.
//! For example, `</arg>` and `<call name=` behind it close a call.
//!
//! A call without arguments has no end of one. It ends where it has just been opened and another call begins, unless that is opened by the
//! very same text: `<call f><call g>` are two calls, and in `<call f><call f>` one is opened twice.
//!
//! Where a call's body is JSON, a call ends behind the closing bracket where another one begins, too: `{"a": 1}` and `<call g>{"` behind it. And it ends
//! there where what ends the turn follows as the last of the response, which would not be JSON. (In a call with tags it is text between two of these.) What ends the turn
//! is a part of the delimiter then: transformers, fed in pieces, takes the end of what has arrived for that of the response, and waits for more only where a match
//! reaches that end. A string that says `}` and the very marker would end the call otherwise.
//!
//! Where nothing but the next call ends a call, or nothing at all, its last one ends with the turn in the same way. Renders do not always show that: some chat templates end only
//! the answers that another message follows.
//!
//! An argument may speak of a call, and must not become one by it. It cannot speak of the end of an argument, which ends it; so that a
//! call is looked for right behind that end, or behind what opens a call, alone. A string of JSON may speak of brackets, but
//! nothing in it, or with its end, is the beginning of an object with a key and a colon, whose quotes have no backslash before them; so that the next call counts
//! where it has that. (One without members has not, and is no end.)
//!
//! Responses in which a call begins no more than once, and that do not end with a bracket and what ends the turn, are read as before. The others are parsed once
//! for each way to end a call, of which there are two at most.

use super::{CALLS_KEY, CONTENT_KEY, reads_as_before};
use crate::derive::compare::pattern::{
    SPACE, alternatives, behind_groups, bounded, grouped, looks_around, optional_beginning,
    split_id_ahead, takes, whole_or_missing, without_captures, without_references,
};
use crate::judge::{Case, Scrutiny};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, FieldDocument};

/// Returns the response template with a call ended by what follows it, where its arguments stand in tags or its body is JSON and none of the responses is
/// read otherwise by that, and what ends a call so, in words; `None` where it stays as it is.
pub(in crate::derive) fn ended_by_what_follows(
    engines: &[Engine],
    document: &Document,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<(Document, &'static str)> {
    let field = document.fields.get(CALLS_KEY)?;
    let parts = Parts::of(field, document.fields.get(CONTENT_KEY))?;
    let begins = parts.open.as_deref().map(Pattern::regex);
    let begins = begins.transpose().ok()?;
    let last = parts.last.as_deref();
    let last = last.and_then(|last| Pattern::regex(&format!("{JSON_ENDS}{SPACE}{last}")).ok());
    let may_differ = |case: &&Case| {
        let is_last = |last: &Pattern| matches!(last.search(&case.response, 0), Ok(Some(_)));
        let is_second = |begins: &Pattern| begins.find_iter(&case.response).nth(1).is_some();
        begins.as_ref().is_some_and(is_second) || last.as_ref().is_some_and(is_last)
    };
    let others: Vec<&Case> = cases.iter().filter(may_differ).collect();
    let mut closes = parts.closes().into_iter();
    closes.find_map(|(close, told)| {
        let mut ended = document.clone();
        ended.fields.get_mut(CALLS_KEY)?.close = Some(Delimiter::pattern(close));
        let others = others.iter().copied();
        reads_as_before(engines, document, &ended, others, scrutiny).then_some((ended, told))
    })
}

/// The ends of a JSON object and a list, and the beginning of an object, or of a list of them, as no string of JSON has it.
pub(super) const JSON_ENDS: &str = "[\\}\\]]";
pub(super) const JSON_BEGINS: &str = r#"\s*(?:\[\s*)?\{\s*"[^"\\]{1,64}"\s*:"#;

/// The end of the response, with white space before it.
const AT_THE_END: &str = "\\s*\\Z";

/// The patterns of a call whose arguments stand in tags, or whose body is JSON.
struct Parts {
    /// The pattern that opens another call, without captures; `None` where one list has all calls, or nothing in its body tells it from a string that
    /// speaks of one.
    open: Option<String>,
    /// The pattern that closes a call; empty where nothing does.
    close: String,
    /// The patterns that end an argument in tags, one of them each; `None` where the body is JSON.
    ends: Option<String>,
    /// The pattern for what ends the turn, at the end of the response; `None` where the body is not JSON.
    last: Option<String>,
}

impl Parts {
    /// The patterns of a field; `None` where its calls are neither, or an argument ends where another begins and so has no end of its own. Where a
    /// call is ended by look-around already, which is a reading of what follows it, it may only end with the turn as well.
    fn of(field: &FieldDocument, content: Option<&FieldDocument>) -> Option<Self> {
        let ends = match field.content.as_deref()? {
            "xml-inline" if field.repeats => Some(ends_of_arguments(field)?),
            "json" => None,
            _ => return None,
        };
        // Strings between other delimiters may have quotes in them, so that quotes do not tell where the next call begins.
        let is_parted = field.repeats && (ends.is_some() || field.content_args.is_empty());
        let open = opening(field)?;
        let close = field.close.as_ref().map(Delimiter::as_pattern);
        let close = close.unwrap_or_default();
        let is_followed = close.contains("(?=") || close.is_empty();
        let last = content.filter(|_| ends.is_none()).and_then(at_the_end);
        // Where nothing but what follows a call ends it, the end of the turn may be among that already.
        let taken = Pattern::regex(&takes(&close)).ok();
        let taken = taken.and_then(|taken| taken.search("", 0).ok().flatten());
        let has_no_own = taken.is_some();
        let is_at_end = |last: &String| close.contains(last.trim_end_matches(AT_THE_END));
        let may_end = has_no_own && last.as_ref().is_some_and(|last| !is_at_end(last));
        let is_plain = !open.contains("(?<") && (!is_followed || may_end);
        is_plain.then_some(Self {
            open: (is_parted && !is_followed).then_some(open),
            close,
            ends,
            last,
        })
    }

    /// Returns the patterns that close a call, also where the next one begins, each with where that is, in words: behind an argument or a call that was just
    /// opened; behind an argument alone; behind the bracket of its body.
    fn closes(&self) -> Vec<(String, &'static str)> {
        let Self { open, close, .. } = self;
        let space = bounded(SPACE);
        let Some(ends) = &self.ends else {
            let bracket = own_bracket(close);
            let ended = |follows: &str| match close.as_str() {
                "" => format!("(?<={JSON_ENDS}{space}){follows}"),
                close => format!("(?:{close}|(?<={JSON_ENDS}{space}){bracket}{follows})"),
            };
            let Some(open) = open else {
                let told = "behind its bracket, where the turn ends";
                let last = self.last.iter();
                return last.map(|last| (ended(last), told)).collect();
            };
            let next = format!("{}{JSON_BEGINS}", open.strip_suffix(SPACE).unwrap_or(open));
            let both = self.last.as_ref().map(|last| {
                let told = "behind its bracket, where the next one begins or the turn ends";
                (ended(&format!("(?:(?={next})|{last})")), told)
            });
            let next = (
                ended(&format!("(?={next})")),
                "behind its bracket, where the next one begins",
            );
            return both.into_iter().chain([next]).collect();
        };
        let Some(open) = open else {
            return Vec::new();
        };
        let ends = grouped(&bounded(ends));
        let told = "behind its last argument, where the next one begins";
        let behind_argument = format!("(?:{close}|(?<={ends}{space})(?={open}))");
        // What may be missing before a call does not tell two calls apart.
        let (before, own) = optional_beginning(open);
        let opened = own.strip_suffix(SPACE).unwrap_or(own);
        // A name that nothing follows may go on in the text that arrives next.
        if opened.ends_with(')') {
            return vec![(behind_argument, told)];
        }
        let opened = bounded(opened);
        let behind_both =
            format!("(?:{close}|(?<=(?:{ends}|({opened})){space})(?={before}(?!\\1){own}))");
        vec![(behind_both, told), (behind_argument, told)]
    }
}

/// A pattern for the bracket with which all begins that closes a call, and for white space behind it, if there is one; it may be missing. The arguments stand in an object
/// then whose beginning is a part of what opens the call, as in `{"name": "f", "arguments": {}}`. Where a marker of the call's own follows the bracket, a model that leaves that
/// out leaves out the bracket with it.
fn own_bracket(close: &str) -> &'static str {
    let ways = alternatives(close);
    let mut taking = ways.iter().filter(|way| !way.starts_with("(?"));
    let is_last = ways
        .iter()
        .any(|way| way.starts_with("\\}") && way.contains("\\Z"));
    match is_last && taking.all(|way| way.starts_with("\\}")) {
        true => "(?:\\}\\s*)?",
        false => "",
    }
}

/// A pattern for what closes the content, where nothing follows it; `None` where nothing does without a look at what stands beside it.
fn at_the_end(content: &FieldDocument) -> Option<String> {
    Some(format!("{}{AT_THE_END}", end_of_turn(content)?))
}

/// A pattern for what closes the content; `None` where nothing does without a look at what stands beside it.
pub(super) fn end_of_turn(content: &FieldDocument) -> Option<String> {
    let close = content.close.as_ref()?.as_pattern();
    let ways = alternatives(&close).into_iter();
    // A marker before it that models may write, and that counts behind others alone, need not be there.
    let ways = ways.map(|way| match looks_around(&way) {
        true => optional_beginning(&way).1.to_owned(),
        false => way,
    });
    let ways = ways.filter(|way| !looks_around(way));
    let ways = ways.map(|way| way.strip_suffix(AT_THE_END).unwrap_or(&way).to_owned());
    let (cut, mut ways): (Vec<String>, Vec<String>) = ways.partition(|way| way.contains("\\Z"));
    if ways.is_empty() {
        ways.extend(cut.iter().filter_map(|way| whole_or_missing(way)));
    }
    let plain = without_captures(&ways.join("|")).filter(|plain| !plain.is_empty())?;
    Some(grouped(plain.strip_suffix(SPACE).unwrap_or(&plain)))
}

/// A pattern for what opens a call, which captures nothing and looks ahead for no id; `None` where nothing does, or where what it captured must come once more in a way that
/// cannot be told without.
pub(super) fn opening(field: &FieldDocument) -> Option<String> {
    let own = field.open.as_ref()?.as_pattern();
    let (own, _) = split_id_ahead(&own);
    without_captures(&without_references(own, own)?)
}

/// The patterns that end an argument in tags, one of them each; `None` where one has no end of its own.
pub(super) fn ends_of_arguments(field: &FieldDocument) -> Option<String> {
    let tag = field.content_args.get("tag_pattern")?.as_str()?;
    let mut ends: Vec<String> = Vec::new();
    for end in behind_groups(tag, "value")? {
        let end = without_references(end.trim_start_matches("\\n?"), tag)?;
        // The name of an argument stands there where it comes behind the value.
        let end = without_captures(&end)?;
        if end.is_empty() || looks_around(&end) {
            return None;
        }
        ends.push(end);
    }
    (!ends.is_empty()).then(|| ends.join("|"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::judge;
    use crate::response_template::ResponseTemplate;
    use crate::value::{Value, json};

    /// A response template with these tags whose calls end at the next one, if none of the responses is read otherwise by that.
    fn ended(tag: &str, responses: &[&str]) -> Option<Arc<ResponseTemplate>> {
        let document = format!(
            r#"{{"start_anchor": ">>", "fields": {{
                "tool_calls": {{"open_pattern": "(?:<all>\\s*)?<call (?P<name>\\w+)>\\s*", "close": "</call>", "repeats": true,
                    "content": "xml-inline", "content_args": {{"tag_pattern": {}}},
                    "transform": {{"name": "{{name}}", "arguments": "{{content}}"}}}},
                "content": {{}}}}}}"#,
            json::quote(tag)
        );
        ended_where_the_next_begins(&document, responses)
    }

    fn ended_where_the_next_begins(
        document: &str,
        responses: &[&str],
    ) -> Option<Arc<ResponseTemplate>> {
        let document = json::parse(document).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&document).unwrap());
        let document = Document::of(&document).unwrap();
        let cases = responses.iter();
        let cases: Vec<Case> = cases
            .map(|response| Case::read_by(&template, "", response))
            .collect();
        let (ended, _) = ended_by_what_follows(&[], &document, &cases, Scrutiny::Whole)?;
        Some(Arc::new(
            ResponseTemplate::from_value(&ended.to_value()).unwrap(),
        ))
    }

    /// The calls of a response in short: `f a=1, g`.
    fn calls(template: &Arc<ResponseTemplate>, response: &str) -> String {
        let case = Case::unread("", response);
        let (read, error) = judge::parse(template, &case, Scrutiny::Pieces);
        assert!(error.is_none(), "{error:?}");
        let calls = read.get(CALLS_KEY).and_then(Value::as_array).unwrap();
        let calls = calls.iter().map(|call| {
            let name = call.get("name").and_then(Value::as_str).unwrap();
            let arguments = call.get("arguments").and_then(Value::as_object).unwrap();
            let arguments = arguments
                .iter()
                .map(|(key, value)| format!(" {key}={}", value.as_str().unwrap()));
            format!("{name}{}", arguments.collect::<String>())
        });
        calls.collect::<Vec<_>>().join(", ")
    }

    const TAG: &str = "<(?P<key>\\w)>(?P<value>.*?)</>";

    #[test]
    fn a_call_ends_where_the_next_begins_behind_an_argument() {
        let template = ended(TAG, &["<call f><a>1</></call>\n<call g><b>2</></call>"]).unwrap();
        let read = calls(&template, "<call f><a>1</>\n<call g><b>2</></call>");
        assert_eq!(read, "f a=1, g b=2");
    }

    #[test]
    fn a_call_without_arguments_ends_where_another_begins() {
        let template = ended(TAG, &["<call f></call>"]).unwrap();
        for (response, expected) in [
            ("<call f>\n<call g><b>2</></call>", "f, g b=2"),
            ("<call f><all><call g></call>", "f, g"),
            ("<call f><call ff></call>", "f, ff"),
            (
                "<all><call f>\n<all><call g><call h><a>1</></call>",
                "f, g, h a=1",
            ),
            // One call that is opened twice.
            ("<call f><call f><a>1</></call>", "f a=1"),
            ("<all>\n<call f>\n<all>\n<call f>\n<a>1</></call>", "f a=1"),
            ("<all><call f><call f><a>1</></call>", "f a=1"),
        ] {
            assert_eq!(calls(&template, response), expected, "{response}");
        }
        // The argument of this response speaks of two calls, of which the first has nothing in it.
        let spoken = "<call f><a>So: <call g><call h></></call>";
        let template = ended(TAG, &["<call f></call>", spoken]).unwrap();
        assert_eq!(calls(&template, spoken), "f a=So: <call g><call h>");
        let read = calls(&template, "<call f><a>1</><call g></call>");
        assert_eq!(read, "f a=1, g");
    }

    #[test]
    fn an_argument_may_end_in_several_ways_and_with_its_key() {
        let quoted = "<(?P<key>\\w)(?:=!(?P<value>.*?)!>|>(?P<value>.*?)</>)";
        let template = ended(quoted, &[]).unwrap();
        let read = calls(
            &template,
            "<call f><a=!1!><call g><b>2</><call h><c>3</></call>",
        );
        assert_eq!(read, "f a=1, g b=2, h c=3");
        let keyed = "<(?P<key>\\w+)>(?P<value>.*?)</(?P=key)>";
        let template = ended(keyed, &[]).unwrap();
        let read = calls(&template, "<call f><ab>1</ab><call g><c>2</c></call>");
        assert_eq!(read, "f ab=1, g c=2");
    }

    /// A response template whose calls are JSON and end at the next one, if none of the responses is read otherwise by that.
    fn of_json(args: &str, responses: &[&str]) -> Option<Arc<ResponseTemplate>> {
        let document = format!(
            r#"{{"start_anchor": ">>", "fields": {{"tool_calls": {{"open": "<call>", "close": "</call>", "repeats": true,
                "content": "json", "content_args": {args}}}, "content": {{"close_pattern": "<end>\\s*|(?<=a)b"}}}}}}"#
        );
        ended_where_the_next_begins(&document, responses)
    }

    #[test]
    fn a_call_of_json_ends_where_the_next_begins_behind_its_bracket() {
        let template = of_json("{}", &[]).unwrap();
        let call = |name: &str, argument: &str| {
            format!(r#"<call>{{"name": "{name}", "arguments": {{{argument}}}}}"#)
        };
        let said = r#""a": "so: {}<call>{\"b\"}""#;
        let two = [call("f", said), call("g", r#""b": "2""#)];
        let read = calls(&template, &format!("{}\n{}</call>", two[0], two[1]));
        assert_eq!(read, "f a=so: {}<call>{\"b\"}, g b=2");
        let read = calls(&template, &format!("{}\n{}", two[0], two[1]));
        assert_eq!(read, "f a=so: {}<call>{\"b\"}, g b=2");
        // What ends the turn ends it, too, as the last of a response.
        let said = call("f", r#""a": "{}, <end>""#);
        for end in ["<end>", "\n<end>\n", "</call><end>"] {
            let read = calls(&template, &format!("{said}{end}"));
            assert_eq!(read, "f a={}, <end>", "{end}");
        }
        let ends_so = call("f", r#""a": "{}<call>{", "b": "{}<call>{""#);
        let read = calls(&template, &format!("{ends_so}</call>"));
        assert_eq!(read, "f a={}<call>{ b={}<call>{");
        // Quotes that are no delimiters may stand in a string, so that no next call ends one; but nothing follows what ends the turn.
        let template = of_json(r#"{"string_delims": [["!", "!"]]}"#, &[]).unwrap();
        let said = r#"<call>{"name": "f", "arguments": {"a": !{}<call>{"b": !}}"#;
        for end in ["</call><end>", "<end>"] {
            let read = calls(&template, &format!("{said}{end}"));
            assert_eq!(read, r#"f a={}<call>{"b": "#, "{end}");
        }
    }

    /// The arguments stand in an object that the opening has begun, whose bracket is a part of what closes a call.
    #[test]
    fn a_call_whose_object_is_open_ends_before_the_next() {
        let document = r#"{"start_anchor": ">>", "fields": {"tool_calls": {"open_pattern": "\\{\"name\": \"(?P<name>\\w+)\", \"with\": (?=\\{)",
            "close_pattern": "\\}\\s*(?:<end>|\\Z)", "repeats": true, "content": "json",
            "transform": {"name": "{name}", "arguments": "{content}"}}, "content": {"close": "<end>"}}}"#;
        let template = ended_where_the_next_begins(document, &[]).unwrap();
        let two = r#"{"name": "f", "with": {"a": "}} {"}}"#.to_owned();
        let two = format!("{two}\n{}", two.replace("\"f\"", "\"g\""));
        for end in ["", "<end>"] {
            let read = calls(&template, &format!("{two}{end}"));
            assert_eq!(read, "f a=}} {, g a=}} {");
        }
        for close in ["", "</call>", "(?<=[}\\]])\\n", "\\}|</call>"] {
            assert_eq!(own_bracket(close), "", "{close}");
        }
    }

    /// Behind what ends the turn the tokenizer's end may follow, or its beginning.
    #[test]
    fn a_call_ends_before_all_that_ends_the_turn() {
        let content = FieldDocument {
            close: Some(Delimiter::pattern(
                r"<end>\s*(?:</s>\s*|(?:<(?:/)?)?\s*\Z)\s*".to_owned(),
            )),
            ..FieldDocument::default()
        };
        let last = at_the_end(&content).unwrap();
        assert_eq!(last, r"<end>\s*(?:</s>\s*)?\s*\Z");
    }

    #[test]
    fn an_argument_that_nothing_ends_ends_no_call() {
        let ends = |end: &str| ended(&format!("<(?P<key>\\w)>(?P<value>.*?){end}"), &[]).is_some();
        assert!(ends("(?:</>|<//>)"));
        assert!(!ends("(?=<|\\Z)"));
        assert!(!ends(""));
    }

    /// The argument of this response speaks of a call right behind the like of an argument's end.
    #[test]
    fn what_was_read_is_read_so_still() {
        assert!(ended(TAG, &["<call f><a>1</><call g></call>"]).is_none());
    }
}
