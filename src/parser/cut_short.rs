//! A response that ends too early, as it does where a model is stopped: the message before the parser is told of the end, and the message
//! after that.

use super::merge::{add_to_message, is_empty};
use super::{Event, ParseError, ResponseParser};
use crate::value::{Map, Value};

/// The message before and after the end of a response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CutShort {
    /// The message before the parser was told of the end: the regions that were closed by then.
    pub before: Map,
    /// That message, and the regions whose closing delimiter was held back until the end showed that it was whole.
    pub finished: Map,
    /// The message after the end.
    pub after: Map,
    /// The field whose region the end closed. The region was open, or the text that was held back opened it.
    pub closed: Option<String>,
    /// The error that ended the parse too early, or that the end of the response raises.
    pub error: Option<ParseError>,
}

/// A response that grows, and that tells at each place what the outcome would be if it ended there. Together that costs little more than to
/// parse it once, where parsing it anew up to each place would take time that is quadratic in its length.
#[derive(Debug, Clone)]
pub struct Growing {
    parser: ResponseParser,
    /// The field whose region is open.
    open: Option<String>,
    /// The error that ended the parse.
    error: Option<ParseError>,
}

impl Growing {
    /// Begins with a fresh parser, which has read nothing of the response.
    pub fn new(parser: ResponseParser) -> Self {
        let mut open = None;
        for event in parser.initial_events() {
            note(&mut open, event);
        }
        Self {
            parser,
            open,
            error: None,
        }
    }

    /// Reads more of the response.
    pub fn feed(&mut self, text: &str) {
        if self.error.is_none() {
            let open = &mut self.open;
            self.error = self
                .parser
                .feed_with(text, &mut |event| note(open, &event))
                .err();
        }
    }

    /// The outcome if this is all of the response.
    pub fn cut_short(&self) -> CutShort {
        self.clone().end()
    }

    fn end(mut self) -> CutShort {
        let before = self.parser.message().clone();
        let mut open = self.open;
        // A region after which another one opens was closed by a delimiter and not by the end itself.
        let (mut last, mut closed) = (None, Vec::new());
        if self.error.is_none() {
            let mut note = |event: Event<'_>| match event {
                Event::RegionOpen { field } => {
                    open = Some(field.into_owned());
                    closed.extend(last.take());
                }
                Event::RegionClose { field, value } => {
                    last = Some((field.into_owned(), value.into_owned()));
                }
                Event::RegionChunk { .. } | Event::RegionError { .. } => {}
            };
            self.error = self.parser.finalize_with(&mut note).err();
        }
        let mut finished = before.clone();
        for (field, value) in closed {
            if let Some(field) = self.parser.machine.template().field(&field) {
                // Text that cannot be added has ended the parse with an error.
                let _ = add_to_message(&mut finished, field, value);
            }
        }
        CutShort {
            before,
            finished,
            after: self.parser.into_message(),
            closed: open,
            error: self.error,
        }
    }
}

fn note(open: &mut Option<String>, event: &Event<'_>) {
    match event {
        Event::RegionOpen { field } => *open = Some(field.clone().into_owned()),
        Event::RegionChunk { .. } => {}
        Event::RegionClose { .. } | Event::RegionError { .. } => *open = None,
    }
}

/// Returns true if a finished value is still there later: it is the same, the beginning of the later one, or empty, so that it may be left
/// out.
pub fn is_kept(finished: &Value, later: Option<&Value>) -> bool {
    match (finished, later) {
        (finished, _) if is_empty(finished) => true,
        (Value::String(text), Some(Value::String(later))) => later.starts_with(text.as_str()),
        (Value::Array(items), Some(Value::Array(later))) => later.starts_with(items),
        (finished, later) => later == Some(finished),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response_template::ResponseTemplate;
    use crate::value::json;

    const TEMPLATE: &str = r#"{"start_anchor": "A:", "fields": {"content": {"close": "<e>"},
        "calls": {"open": "<c>", "close": "</c>", "content": "json", "repeats": true}}}"#;

    /// Feeds a fresh parser the response and tells it that this is the end.
    fn parse(parser: ResponseParser, response: &str) -> CutShort {
        let mut growing = Growing::new(parser);
        growing.feed(response);
        growing.end()
    }

    fn cut(response: &str) -> CutShort {
        let template = ResponseTemplate::from_json(TEMPLATE).unwrap();
        parse(ResponseParser::new(template, "", &[]).unwrap(), response)
    }

    fn map(text: &str) -> Map {
        json::parse(text).unwrap().as_object().unwrap().clone()
    }

    #[test]
    fn what_grows_ends_as_what_is_parsed_up_to_there() {
        let response = "Hi<c>[1]</c><c>[2, \u{20ac}</c><e>\n!<c>";
        let template = ResponseTemplate::from_json(TEMPLATE).unwrap();
        let mut growing = Growing::new(ResponseParser::new(template, "A:<c>[0]", &[]).unwrap());
        for (at, c) in response.char_indices() {
            let template = ResponseTemplate::from_json(TEMPLATE).unwrap();
            let parser = ResponseParser::new(template, "A:<c>[0]", &[]).unwrap();
            assert_eq!(growing.cut_short(), parse(parser, &response[..at]), "{at}");
            growing.feed(&response[at..at + c.len_utf8()]);
        }
    }

    #[test]
    fn the_end_closes_what_is_open() {
        let open = cut("Hi");
        assert_eq!(
            (open.before, open.after),
            (map("{}"), map(r#"{"content": "Hi"}"#))
        );
        assert_eq!(
            (open.closed.as_deref(), open.error),
            (Some("content"), None)
        );
        let closed = cut("Hi<e>");
        assert_eq!(closed.before, closed.after);
        assert_eq!(closed.closed, None);
        assert_eq!(closed.finished, closed.before);
        let reopened = cut("Hi<e>\n");
        assert_eq!(reopened.before, map(r#"{"content": "Hi"}"#));
        assert_eq!(
            (reopened.after, reopened.closed.as_deref()),
            (map("{}"), Some("content"))
        );
    }

    #[test]
    fn what_only_the_end_tells_to_be_whole_is_finished_too() {
        let document =
            TEMPLATE.replace(r#""close": "<e>"}"#, r#""close_pattern": "<e>(?:</s>)?"}"#);
        let template = ResponseTemplate::from_json(&document).unwrap();
        let parser = ResponseParser::new(template, "", &[]).unwrap();
        let held = parse(parser, "<c>1</c>Hi<e></");
        assert_eq!(held.before, map(r#"{"calls": [1]}"#));
        let finished = map(r#"{"calls": [1], "content": "Hi"}"#);
        assert_eq!(held.finished, finished);
        assert_eq!(held.after, map(r#"{"calls": [1], "content": "</"}"#));
    }

    #[test]
    fn what_does_not_parse_is_told_beside_what_there_is() {
        let broken = cut("Hi<c>[1");
        assert_eq!(broken.after, map(r#"{"content": "Hi"}"#));
        assert_eq!(broken.error.unwrap().field.as_deref(), Some("calls"));
    }

    #[test]
    fn a_value_is_kept_when_it_has_only_grown() {
        let kept = |finished: &str, later: Option<&str>| {
            let parse = |text: &str| json::parse(text).unwrap();
            is_kept(&parse(finished), later.map(parse).as_ref())
        };
        assert!(kept("\"a\"", Some("\"ab\"")) && !kept("\"a\"", Some("\"b\"")));
        assert!(kept("[1]", Some("[1, 2]")) && !kept("[1]", Some("[2, 1]")));
        assert!(kept("{\"a\": 1}", Some("{\"a\": 1}")) && !kept("0", None));
        assert!(kept("\"\"", None) && kept("[]", Some("7")));
    }
}
