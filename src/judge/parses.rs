//! The parses of one response template: of each response once, and in pieces as well where that is asked for.
//!
//! [`Scrutiny`] says how a response is read. To read it in pieces and as the reference does costs ten times as much as to read it whole, and
//! hardly ever tells anything else. A response comes up in many rounds, in those of other prompts and again where the outcome is reported, so
//! that [`Parses`] keeps what each was parsed to. What a parse depends on is the response, the part of the prompt that a parser reads, and
//! the tools; of the tools there are few lists, and each is kept once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::arrival;
use crate::parser::{Event, ParseError, ResponseParser, join_chunks, push_joined};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, are_identical, json};

/// The ways in which a response is read before its message is believed, the cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scrutiny {
    /// The whole response at once. That is enough to tell candidates apart, and proves nothing.
    Whole,
    /// The whole, and one character at a time, by our parser and as transformers reads it.
    Pieces,
    /// As [`Self::Pieces`], and in pieces of every size, however much of it has to be read again.
    EverySize,
}

/// The input of a parser.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'i> {
    /// The prompt or the prefix.
    pub(super) prefix: &'i str,
    pub(super) response: &'i str,
    pub(super) tools: &'i [Value],
}

/// The message that a response parsed to, and the error, if there is one.
pub(super) type Parsed = (Map, Option<String>);

/// The parses of a response template by their responses, all under one scrutiny. A response that comes up in many places is parsed once.
#[derive(Debug)]
pub(super) struct Parses {
    template: Arc<ResponseTemplate>,
    scrutiny: Scrutiny,
    known: RefCell<HashMap<String, Vec<Known>>>,
    /// The lists of tools that were seen, of which there are few.
    tools: RefCell<Vec<Rc<[Value]>>>,
    /// The matches of its delimiters in texts that are held.
    looks: arrival::Looks,
}

/// A parse of a response, with the inputs that it depends on.
#[derive(Debug)]
struct Known {
    /// The part of the prompt that a parser reads.
    prompted: String,
    tools: Rc<[Value]>,
    parsed: Parsed,
    /// The delimiter that transformers reads otherwise in pieces, if that was asked and there is one. It does not depend on the tools.
    misread: Option<Misread>,
}

/// The outcome of [`arrival::misread`].
type Misread = Option<String>;

impl Parses {
    pub(super) fn new(template: Arc<ResponseTemplate>, scrutiny: Scrutiny) -> Self {
        Self {
            template,
            scrutiny,
            known: RefCell::default(),
            tools: RefCell::default(),
            looks: arrival::Looks::default(),
        }
    }

    pub(super) fn template(&self) -> &ResponseTemplate {
        &self.template
    }

    /// Returns true if these are the parses of the template under the scrutiny.
    pub(super) fn are_of(&self, template: &Arc<ResponseTemplate>, scrutiny: Scrutiny) -> bool {
        Arc::ptr_eq(&self.template, template) && self.scrutiny == scrutiny
    }

    /// Parses a response now, or returns what it was parsed to before.
    pub(super) fn of(&self, input: Input<'_>) -> Parsed {
        let prompted = self.prompted(input.prefix);
        let mut misread = None;
        if let Some(of_response) = self.known.borrow().get(input.response) {
            let after_prompt = || of_response.iter().filter(|of| of.prompted == prompted);
            if let Some(known) = after_prompt().find(|of| is_same(&of.tools, input.tools)) {
                return known.parsed.clone();
            }
            misread = after_prompt().find_map(|of| of.misread.clone());
        }
        let parsed = self.read(input, prompted, &mut misread);
        let known = Known {
            prompted: prompted.to_owned(),
            tools: self.listed(input.tools),
            parsed: parsed.clone(),
            misread,
        };
        let mut all = self.known.borrow_mut();
        all.entry(input.response.to_owned())
            .or_default()
            .push(known);
        parsed
    }

    /// The one list of these tools.
    fn listed(&self, tools: &[Value]) -> Rc<[Value]> {
        let mut lists = self.tools.borrow_mut();
        if let Some(list) = lists.iter().find(|list| is_same(list, tools)) {
            return Rc::clone(list);
        }
        let list: Rc<[Value]> = tools.into();
        lists.push(Rc::clone(&list));
        list
    }

    /// The part of a prompt that a parser reads.
    fn prompted<'p>(&self, prefix: &'p str) -> &'p str {
        self.template.after_last_anchor(prefix).unwrap_or(prefix)
    }

    /// Reads a response after the part of its prompt that a parser reads. `misread` is known before, or afterwards if it was asked for.
    fn read(&self, input: Input<'_>, prompted: &str, misread: &mut Option<Misread>) -> Parsed {
        let response = input.response;
        let sizes: Vec<usize> = match self.scrutiny {
            Scrutiny::Whole => Vec::new(),
            Scrutiny::Pieces => vec![1],
            Scrutiny::EverySize => (1..response.chars().count()).collect(),
        };
        let (parsed, error) = in_pieces(response, &sizes, |chunks| self.read_in(input, chunks));
        if self.scrutiny == Scrutiny::Whole || error.is_some() {
            return (parsed, error);
        }
        let limit = match self.scrutiny {
            Scrutiny::EverySize => arrival::MAX_SEARCHED_AT_LENGTH,
            Scrutiny::Whole | Scrutiny::Pieces => arrival::MAX_SEARCHED,
        };
        let find = || arrival::misread(&self.template, prompted, response, limit, &self.looks);
        let error = misread.get_or_insert_with(find).as_deref().map(|misread| {
            format!(
                "transformers, fed one character at a time, reads {} otherwise",
                json::quote(misread)
            )
        });
        (parsed, error)
    }

    /// Returns the message as far as it was parsed, and the joined events or the error.
    fn read_in(
        &self,
        input: Input<'_>,
        chunks: &[&str],
    ) -> (Map, Result<Vec<Event<'static>>, Box<ParseError>>) {
        let template = Arc::clone(&self.template);
        let mut parser = match ResponseParser::new(template, input.prefix, input.tools) {
            Ok(parser) => parser,
            Err(error) => return (Map::new(), Err(Box::new(error))),
        };
        let mut events = join_chunks(parser.initial_events().to_vec());
        let mut note = |event: Event<'_>| push_joined(&mut events, event);
        let fed = chunks
            .iter()
            .try_for_each(|chunk| parser.feed_with(chunk, &mut note));
        let ended = fed.and_then(|()| parser.finalize_with(&mut note));
        let result = ended.map(|()| events).map_err(Box::new);
        (parser.into_message(), result)
    }
}

/// Returns true if two lists of tools are identical.
fn is_same(a: &[Value], b: &[Value]) -> bool {
    std::ptr::eq(a, b) || are_identical(a, b)
}

/// Returns the message and the error that `parse` gives for the whole response. It is an error as well if pieces of one of the sizes, in
/// characters, parse differently.
pub(super) fn in_pieces<E: PartialEq>(
    response: &str,
    sizes: &[usize],
    parse: impl Fn(&[&str]) -> (Map, Result<E, Box<ParseError>>),
) -> Parsed {
    let whole = parse(&[response]);
    if let (message, Err(error)) = whole {
        return (message, Some(error.to_string()));
    }
    for size in sizes {
        if parse(&pieces(response, *size).collect::<Vec<_>>()) != whole {
            let error = format!("fed {size} characters at a time it parses differently");
            return (whole.0, Some(error));
        }
    }
    (whole.0, None)
}

/// A text in pieces of so many characters.
pub(super) fn pieces(text: &str, characters: usize) -> impl Iterator<Item = &str> {
    let starts = || text.char_indices().step_by(characters).map(|(at, _)| at);
    let ends = starts().skip(1).chain(std::iter::once(text.len()));
    starts().zip(ends).map(|(start, end)| &text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parses(close: &str, scrutiny: Scrutiny) -> Parses {
        let document = format!(
            r#"{{"start_anchor": "A:", "fields": {{
                "tool_calls": {{"open_pattern": "<(?P<name>f) ", "close": ">", "repeats": true, "content": "xml-inline",
                    "content_args": {{"tag_pattern": "(?P<key>\\w)=(?P<value>\\d)"}},
                    "transform": {{"type": "function", "function": {{"name": "{{name}}", "arguments": "{{content}}"}}}}}},
                "content": {{"close_pattern": "{close}"}}}}}}"#
        );
        let template = ResponseTemplate::from_json(&document).expect("a response template");
        Parses::new(Arc::new(template), scrutiny)
    }

    fn tools(kind: &str) -> Vec<Value> {
        let tool = format!(
            r#"[{{"type": "function", "function": {{"name": "f",
                "parameters": {{"type": "object", "properties": {{"n": {{"type": "{kind}"}}}}}}}}}}]"#
        );
        let tools = json::parse(&tool).expect("JSON");
        tools.as_array().expect("a list").to_vec()
    }

    /// The message, as JSON, and the error.
    fn read(parses: &Parses, prefix: &str, tools: &[Value]) -> (String, Option<String>) {
        let (message, error) = parses.of(Input {
            prefix,
            response: "<f n=1>Hi<end of turn>",
            tools,
        });
        (json::to_string(&message.into()), error)
    }

    #[test]
    fn a_parse_is_kept_with_its_prompt_and_its_tools() {
        let parses = parses("<end>|$", Scrutiny::Whole);
        let (numbers, texts) = (tools("integer"), tools("string"));
        let number = read(&parses, "A:", &numbers);
        assert!(number.0.contains(r#"{"n": 1}"#), "{}", number.0);
        let text = read(&parses, "A:", &texts);
        assert!(text.0.contains(r#"{"n": "1"}"#), "{}", text.0);
        let behind = read(&parses, "A:<f n=2>", &numbers);
        assert!(behind.0.contains(r#"{"n": 2}"#), "{}", behind.0);
        // Asked again, each is what it was. What stands before the anchor is not read.
        for (prefix, tools, known) in [
            ("A:", &numbers, &number),
            ("A:", &texts, &text),
            ("more A:<f n=2>", &numbers, &behind),
        ] {
            assert_eq!(&read(&parses, prefix, tools), known);
        }
        assert_eq!(
            parses.known.borrow().values().map(Vec::len).sum::<usize>(),
            3
        );
    }

    /// Of `<end of turn>|end` transformers takes the `end` as soon as one more character has come.
    #[test]
    fn a_delimiter_that_is_read_otherwise_in_pieces_is_told_whatever_the_tools() {
        let in_pieces = parses("<end of turn>|end", Scrutiny::Pieces);
        let whole = parses("<end of turn>|end", Scrutiny::Whole);
        for tools in [tools("integer"), tools("string")] {
            let (message, error) = read(&in_pieces, "A:", &tools);
            assert_eq!((message, None), read(&whole, "A:", &tools));
            assert!(error.expect("an error").contains("reads \"end\" otherwise"));
        }
    }
}
