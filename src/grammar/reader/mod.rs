//! The strict reader: messages by grammars.
//!
//! A response template finds delimiters in text and can say much, but not everything: a Python literal with quotes within quotes,
//! texts with escapes, tags within tags to any depth. A [grammar](super::peg) reads these. Its tags say what the parts of the
//! text are:
//!
//! | tag | holds |
//! |---|---|
//! | `reasoning`, `content` | a text of the message; several are joined |
//! | `tool` | all of one call |
//! | `tool-name`, `tool-id` | its name and its id; the name may stand within the id |
//! | `tool-args` | its arguments, as one JSON object |
//! | `tool-arg` | one argument, with `tool-arg-name` and `tool-arg-value` (JSON, or a Python literal) or `tool-arg-string-value` (the text as it is) |
//! | `tool-open`, `tool-close` | where a call begins and ends, if no `tool` is around it |
//!
//! These are the tags of llama.cpp's message shapes: *simple* (reasoning and content), *native* (a call's arguments are one
//! JSON object) and *constructed* (they stand one by one). Where a value is written in another way, a tag within says how: see
//! [`value`].
//!
//! The events are those of [`parser`](crate::parser): a region for each reasoning, content and call. Only what can no longer be taken back
//! is told, so the events are the same however the text is cut; content without any text is not told at all. A [cut](super::peg::build::cut) in the grammar says where that is certain
//! early.

mod call;
mod python;
mod settings;
mod types;
pub mod value;

use std::borrow::Cow;

use super::peg::document::{self, Invalid};
use super::peg::{Failure, Grammar, LimitError, Options, Parser, Status, Tree};
use crate::parser::{ErrorKind, Event, LimitKind, ParseError};
use crate::value::{Map, Value};

pub use settings::Settings;
use types::Types;

/// A grammar with what is made of its tags: what a grammar's document says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Template {
    /// The grammar.
    pub grammar: Grammar,
    /// The names of the message's members, and what it has at any rate.
    pub settings: Settings,
}

impl Template {
    /// A grammar whose message has the usual members.
    pub fn new(grammar: Grammar) -> Self {
        Self {
            grammar,
            settings: Settings::default(),
        }
    }

    /// Reads a grammar's document.
    ///
    /// # Errors
    ///
    /// When the document is wrong; with byte offsets into the text.
    pub fn from_json(text: &str) -> Result<Self, Invalid> {
        let grammar = Grammar::from_json(text)?;
        let (value, places) = document::parse(text)?;
        let settings = Settings::read(&value, Some(&places))?;
        Ok(Self { grammar, settings })
    }

    /// Reads a grammar's document that is a value already.
    ///
    /// # Errors
    ///
    /// When the document is wrong.
    pub fn from_value(value: &Value) -> Result<Self, Invalid> {
        let grammar = Grammar::from_value(value)?;
        let settings = Settings::read(value, None)?;
        Ok(Self { grammar, settings })
    }

    /// The document.
    pub fn to_value(&self) -> Value {
        match self.grammar.to_value() {
            Value::Object(mut document) => {
                self.settings.write(&mut document);
                Value::Object(document)
            }
            other => other,
        }
    }
}

/// The field of calls.
const CALLS: &str = "tool_calls";

/// The field of the text for people.
const CONTENT: &str = "content";

/// The message of a whole response.
///
/// # Errors
///
/// When the response does not match, at a limit, and when a value cannot be read: the first of these. What there is of the message in
/// spite of it can be had from a [`Reader`].
///
/// ```
/// use obverse::grammar::reader::{self, Template};
///
/// let template = Template::from_json(r#"{
///   "peg": 1,
///   "root": {"sequence": [
///     {"tag": "content", "of": {"until": "[call "}},
///     {"zero_or_more": {"tag": "tool", "of": {"sequence": [
///       {"literal": "[call "}, {"tag": "tool-name", "of": {"until": "("}}, {"literal": "("},
///       {"tag": "tool-args", "of": {"tag": "python", "of": "python"}}, {"literal": ")]"}
///     ]}}},
///     "end"
///   ]}
/// }"#)?;
/// let message = reader::read("Hm. [call say({'text': \"it's )] there\", 'loud': None})]", &template)?;
/// assert_eq!(
///     obverse::value::json::to_string(&message["tool_calls"]),
///     r#"[{"type": "function", "function": {"name": "say", "arguments": {"text": "it's )] there", "loud": null}}}]"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(response: &str, template: &Template) -> Result<Map, ParseError> {
    let mut reader = Reader::new(template);
    let sink = &mut |_: Event<'_>| ();
    reader.feed(response.as_bytes(), sink);
    reader.finish(sink);
    match reader.take_errors().into_iter().next() {
        Some(error) => Err(error),
        None => Ok(reader.into_message()),
    }
}

/// Reads a response with a grammar as it arrives.
#[derive(Debug, Clone)]
pub struct Reader {
    parser: Parser,
    settings: Settings,
    types: Types,
    message: Map,
    calls: Vec<Value>,
    /// The node in the list from which on nothing was told.
    next: usize,
    open: Option<Open>,
    /// The place before which all was told.
    told: usize,
    /// Bytes of the prefix, before which the response does not begin.
    prefix: usize,
    errors: Vec<ParseError>,
    ended: bool,
}

/// A region that is being read.
#[derive(Debug, Clone)]
struct Open {
    kind: Kind,
    /// Its node.
    node: usize,
    start: usize,
    /// The place in the list of nodes from which on its end is looked for.
    looked: usize,
    /// True once it was told that it is open: of the content that is with its first text.
    is_told: bool,
    /// The text so far, of a region that is a text.
    text: String,
}

/// The kind of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reasoning,
    Content,
    Call,
    /// A call of which only the beginning and the end are tagged.
    Loose,
}

impl Kind {
    fn of(tag: &str) -> Option<Self> {
        match tag {
            "reasoning" => Some(Self::Reasoning),
            "content" => Some(Self::Content),
            "tool" => Some(Self::Call),
            "tool-open" => Some(Self::Loose),
            _ => None,
        }
    }

    fn is_text(self) -> bool {
        matches!(self, Self::Reasoning | Self::Content)
    }
}

type Sink<'s> = &'s mut dyn FnMut(Event<'_>);

impl Reader {
    /// A reader at the start of a response.
    pub fn new(template: &Template) -> Self {
        Self::with_options(template, Options::default())
    }

    /// A reader with options of one's own; nodes of rules are not needed.
    pub fn with_options(template: &Template, options: Options) -> Self {
        let mut parser = Parser::with_options(&template.grammar, options);
        parser.keep_from(0);
        Self {
            parser,
            settings: template.settings.clone(),
            types: Types::default(),
            message: template.settings.defaults.clone(),
            calls: Vec::new(),
            next: 0,
            open: None,
            told: 0,
            prefix: 0,
            errors: Vec::new(),
            ended: false,
        }
    }

    /// Gives arguments the types that these tools declare, as a chat template takes them: between tags `5` is the text `"5"` where
    /// the schema asks for a text.
    #[must_use]
    pub fn tools(mut self, tools: &[Value]) -> Self {
        self.types = Types::of(tools);
        self
    }

    /// Reads what the prompt has already written of the message: of the prefix what follows the last start anchor, or all of it if the
    /// template has none or it does not occur.
    pub fn read_prefix(&mut self, prefix: &str, sink: Sink<'_>) {
        let begun = self.settings.begins(prefix);
        self.prefix = prefix.len() - begun;
        if self.prefix == 0 {
            return;
        }
        self.feed(&prefix.as_bytes()[begun..], sink);
    }

    /// Reads more of the response, and tells the events. Characters may be cut.
    pub fn feed(&mut self, bytes: &[u8], sink: Sink<'_>) {
        if self.ended {
            return;
        }
        let result = self.parser.feed(bytes);
        self.advance(sink);
        self.judge(result);
    }

    /// Ends the response.
    pub fn finish(&mut self, sink: Sink<'_>) {
        if self.ended {
            return;
        }
        let result = self.parser.finish();
        self.advance(sink);
        self.judge(result);
        self.ended = true;
    }

    /// Notes that the response does not match, once that is known.
    fn judge(&mut self, result: Result<Status, LimitError>) {
        let error = match result {
            Err(limit) => ParseError::new(ErrorKind::Limit(kind_of(&limit)), limit.to_string()),
            Ok(Status::NoMatch) => self.no_match(),
            Ok(_) => return,
        };
        self.ended = true;
        self.errors.push(error);
    }

    fn no_match(&self) -> ParseError {
        let failure = self.parser.failure();
        let at = failure.at.saturating_sub(self.prefix);
        let expected = expected(&failure, self.parser.grammar());
        let mut error = ParseError::new(
            ErrorKind::Grammar,
            format!("the response does not match the grammar: at byte {at} {expected}"),
        );
        error.span = Some(at..at);
        error.field = self
            .open
            .as_ref()
            .map(|open| self.field(open.kind).to_owned());
        error
    }

    /// The errors so far, which are then no longer kept.
    pub fn take_errors(&mut self) -> Vec<ParseError> {
        std::mem::take(&mut self.errors)
    }

    /// True if the response does not match, or a limit was reached: nothing more is read.
    pub fn has_halted(&self) -> bool {
        self.ended
    }

    /// The parser that reads.
    pub fn parser(&self) -> &Parser {
        &self.parser
    }

    /// The message so far, with what there is of a text that is being read.
    pub fn into_message(mut self) -> Map {
        if let Some(open) = self.open.take()
            && open.kind.is_text()
        {
            self.add_text(open.kind, &open.text);
        }
        let mut message = self.message;
        if !self.calls.is_empty() {
            message.insert(CALLS, Value::Array(self.calls));
        }
        message
    }

    fn field(&self, kind: Kind) -> &str {
        match kind {
            Kind::Reasoning => &self.settings.reasoning,
            Kind::Content => CONTENT,
            Kind::Call | Kind::Loose => CALLS,
        }
    }

    /// Tells everything that is settled and was not told.
    fn advance(&mut self, sink: Sink<'_>) {
        loop {
            let (tree, settled) = self.parser.settled();
            let Some(open) = &self.open else {
                let regions = tree.nodes_from(self.next);
                let mut regions = regions.filter_map(|node| Some((node, Kind::of(node.tag()?)?)));
                let Some((node, kind)) = regions.next() else {
                    self.next = tree.len();
                    self.told = settled;
                    break;
                };
                let (node, start) = (node.index(), node.start());
                self.open = Some(Open {
                    kind,
                    node,
                    start,
                    looked: node,
                    is_told: kind != Kind::Content,
                    text: String::new(),
                });
                self.told = start;
                if kind != Kind::Content {
                    let field = Cow::Borrowed(self.field(kind));
                    sink(Event::RegionOpen { field });
                }
                continue;
            };
            let (end, behind, looked) = region(tree, open);
            let told = end.unwrap_or(settled).max(self.told);
            let text = String::from_utf8_lossy(self.parser.between(self.told, told)).into_owned();
            self.told = told;
            let (kind, is_told) = (open.kind, open.is_told);
            if !text.is_empty() {
                if !is_told {
                    let field = Cow::Borrowed(self.field(kind));
                    sink(Event::RegionOpen { field });
                }
                sink(Event::RegionChunk {
                    field: Cow::Borrowed(self.field(kind)),
                    text: Cow::Borrowed(&text),
                    dirty: !kind.is_text(),
                });
            }
            if let Some(open) = &mut self.open {
                open.looked = looked;
                open.is_told |= !text.is_empty();
                if kind.is_text() {
                    open.text.push_str(&text);
                }
            }
            if end.is_none() {
                break;
            }
            self.close(behind, sink);
        }
        let keep = match &self.open {
            Some(open) => open.start,
            None => self.told,
        };
        self.parser.keep_from(keep);
    }

    /// Closes the open region, the nodes before `behind` being told with it.
    fn close(&mut self, behind: usize, sink: Sink<'_>) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.next = behind;
        let value = {
            let (tree, _) = self.parser.settled();
            let values = value::Values::new(tree, &self.parser);
            match tree.node(open.node) {
                Some(node) if open.kind.is_text() => values.text(node),
                _ => call::call(&values, open.node..behind, &self.types),
            }
        };
        match value {
            Ok(value) => {
                match (&value, open.kind) {
                    (Value::String(text), Kind::Reasoning | Kind::Content) => {
                        self.add_text(open.kind, text);
                    }
                    _ => self.calls.push(value.clone()),
                }
                if open.is_told {
                    sink(Event::RegionClose {
                        field: Cow::Borrowed(self.field(open.kind)),
                        value: Cow::Owned(value),
                    });
                }
            }
            Err(mut error) => {
                let bytes = self.parser.between(open.start, self.told);
                error.raw = Some(String::from_utf8_lossy(bytes).into());
                error.field = Some(self.field(open.kind).to_owned());
                let from = |at: usize| at.saturating_sub(self.prefix);
                error.span = Some(from(open.start)..from(self.told));
                self.errors.push(error);
            }
        }
    }

    fn add_text(&mut self, kind: Kind, text: &str) {
        if text.is_empty() {
            return;
        }
        let field = self.field(kind).to_owned();
        match self.message.get_mut(&field) {
            Some(Value::String(before)) => before.push_str(text),
            _ => {
                self.message.insert(field, Value::from(text));
            }
        }
    }
}

/// Where a region ends, if it has ended, the place in the list of nodes behind it, and the one from which on its end is to be looked
/// for the next time.
fn region(tree: Tree<'_>, open: &Open) -> (Option<usize>, usize, usize) {
    let last = match open.kind {
        Kind::Loose => {
            let mut nodes = tree.nodes_from(open.looked);
            nodes.find(|node| node.tag() == Some("tool-close"))
        }
        _ => tree.node(open.node),
    };
    match last {
        Some(last) if !last.is_partial() => (Some(last.end()), last.behind(), open.looked),
        Some(last) => (None, open.node, last.index()),
        None => (None, open.node, tree.len()),
    }
}

/// Says what would have been right, as the end of a sentence.
pub(super) fn expected(failure: &Failure, grammar: &Grammar) -> String {
    const MOST: usize = 8;
    let all = failure.expectations(grammar);
    let mut names: Vec<&str> = all.iter().take(MOST).map(|one| one.what.as_str()).collect();
    let more = match failure.more || all.len() > MOST {
        true => ", among others",
        false => "",
    };
    match (names.pop(), names.is_empty()) {
        (None, _) => "nothing is expected".to_owned(),
        (Some(only), true) => format!("{only} is expected{more}"),
        (Some(last), false) => format!("{} or {last} is expected{more}", names.join(", ")),
    }
}

/// Returns the kind of a limit that reading by a grammar reached.
fn kind_of(limit: &LimitError) -> LimitKind {
    match limit {
        LimitError::Depth { .. } => LimitKind::Depth,
        LimitError::Steps { .. } => LimitKind::Steps,
        LimitError::Held { .. } => LimitKind::HeldBytes,
        LimitError::Nodes { .. } => LimitKind::Nodes,
    }
}

#[cfg(test)]
mod tests;
