//! `obverse peg`: a text read with a grammar, and why it does not match.

use std::path::PathBuf;

use obverse::diagnostic::Diagnostic;
use obverse::grammar::peg::document::Invalid;
use obverse::grammar::peg::{Failure, Options, Parser, Status as Matched};
use obverse::grammar::reader::{Reader, Template};
use obverse::value::{Map, Value};

use super::mistaken::{chat_template, is_chat_template};
use super::problem::{Document, Problem};
use super::quoted::as_argument;
use super::shape::ShapeArgs;
use super::status::Status;
use super::stop::Stop;
use super::{escape, input, output, width, wire};

/// How many characters of a node's text are shown.
const SHOWN: usize = 60;

/// How many of the expressions that would have been right are shown.
const EXPECTED: usize = 12;

/// Read a text with a parsing expression grammar: show the tree, or where and why it does not match
///
/// A grammar is a JSON document; docs/grammars.md says what is in it, and `obverse schema grammar` is its JSON Schema. Without TEXT the
/// grammar itself is printed, in the notation in which such grammars are written (or, with --format json, as a document).
///
/// The tree has the tags of the grammar with the bytes that they took, and with --rules its rules, too. What the tags make of a
/// message follows it, if there are tags for that. Where the text does not match, the furthest place is shown at which
/// something would have had to stand, and what.
///
/// The exit status is 1 if the text does not match, or not to its end.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The grammar, a JSON document
    grammar: PathBuf,

    /// The file of the text; - reads it from standard input
    text: Option<PathBuf>,

    /// The text is only the beginning of one: that it may go on is no mistake
    #[arg(long, requires = "text")]
    partial: bool,

    /// Show rules in the tree, not tags alone
    #[arg(long, requires = "text")]
    rules: bool,

    #[command(flatten)]
    shape: ShapeArgs,
}

/// Reads.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    input::one_stdin([Some(&*args.grammar), args.text.as_deref()])?;
    let written = input::read_text(&args.grammar)?;
    let name = input::name(&args.grammar);
    if is_chat_template(&written) {
        let source = as_argument(&args.grammar);
        let hint = format!(
            "`obverse grammar {source} --format gbnf` derives the grammar of what its model may write, `obverse derive {source}` a response template"
        );
        return Err(chat_template(&args.grammar, "a grammar", hint).into());
    }
    let template = Template::from_json(&written).map_err(|found| invalid(found, name, written))?;
    let Some(path) = &args.text else {
        match args.shape.is_json() {
            true => output::print_json(&wire::pretty(&template.to_value()))?,
            false => output::print_text(&template.grammar.to_string())?,
        }
        return Ok(Status::Done);
    };
    let text = input::read_text(path)?;
    let reading = Reading::of(&template, &text, args)?;
    match args.shape.is_json() {
        true => output::print_json(&wire::pretty(&Value::Object(reading.to_map())))?,
        false => output::print_styled(&width::fit(&reading.to_text(), width::of_results()))?,
    }
    if reading.is_fine(args.partial) {
        return Ok(Status::Done);
    }
    reading
        .problem()
        .about(Document::new(input::name(path), text.as_str()))
        .show();
    Ok(Status::Found)
}

/// A document that is no grammar.
pub(super) fn invalid(found: Invalid, name: String, text: String) -> Problem {
    Problem::all(found.into_diagnostics()).about(Document::new(name, text))
}

/// The outcome of reading a text.
struct Reading<'a> {
    text: &'a str,
    parser: Parser,
    status: Matched,
    /// The message, if there are tags for one.
    message: Option<Map>,
}

impl<'a> Reading<'a> {
    fn of(template: &Template, text: &'a str, args: &Args) -> Result<Self, Problem> {
        let mut options = Options::default();
        options.rules = args.rules;
        let mut parser = Parser::with_options(&template.grammar, options);
        let limit = |error: &dyn std::error::Error| {
            Problem::failed("limit", error.to_string()).with_status(Status::Found)
        };
        let mut status = parser
            .feed(text.as_bytes())
            .map_err(|error| limit(&error))?;
        if !args.partial {
            status = parser.finish().map_err(|error| limit(&error))?;
        }
        let mut reader = Reader::new(template);
        let mut regions = 0;
        let mut sink = |_: obverse::parser::Event<'_>| regions += 1;
        reader.feed(text.as_bytes(), &mut sink);
        if !args.partial {
            reader.finish(&mut sink);
        }
        let message = (regions > 0).then(|| reader.into_message());
        Ok(Self {
            text,
            parser,
            status,
            message,
        })
    }

    fn is_fine(&self, partial: bool) -> bool {
        match self.status {
            Matched::Match { end } => end == self.text.len(),
            Matched::NeedsMore => partial,
            Matched::NoMatch => false,
        }
    }

    fn status_name(&self) -> &'static str {
        match self.status {
            Matched::Match { .. } => "match",
            Matched::NoMatch => "no-match",
            Matched::NeedsMore => "needs-more",
        }
    }

    fn failure(&self) -> Failure {
        self.parser.failure()
    }

    fn to_map(&self) -> Map {
        let mut map = Map::new();
        map.insert("status", Value::from(self.status_name()));
        if let Matched::Match { end } = self.status {
            map.insert("end", Value::count(end));
        }
        map.insert("bytes", Value::count(self.text.len()));
        map.insert("tree", self.parser.tree().to_value(self.text.as_bytes()));
        if let Some(message) = &self.message {
            map.insert("message", Value::Object(message.clone()));
        }
        if !self.is_fine(false) {
            let failure = self.failure();
            let expected = failure
                .expectations(self.parser.grammar())
                .into_iter()
                .map(|one| {
                    let rules = one.rules.into_iter().map(Value::from).collect::<Vec<_>>();
                    Value::Object(wire::object([
                        ("what", Value::from(one.what)),
                        ("rules", Value::Array(rules)),
                    ]))
                });
            let expected = Value::Array(expected.collect());
            let at = Value::count(failure.at);
            let failure = wire::object([("at", at), ("expected", expected)]);
            map.insert("failure", Value::Object(failure));
        }
        map
    }

    fn to_text(&self) -> String {
        let length = self.text.len();
        let mut out = match self.status {
            Matched::Match { end } if end == length => format!("match, {length} bytes\n"),
            Matched::Match { end } => format!("match up to byte {end} of {length}\n"),
            Matched::NoMatch if self.parser.tree().nodes().next().is_none() => {
                "no match\n".to_owned()
            }
            Matched::NoMatch => "no match; what was read:\n".to_owned(),
            Matched::NeedsMore => format!("needs more after {length} bytes; so far:\n"),
        };
        for node in self.parser.tree().nodes() {
            let name = match (node.tag(), node.rule()) {
                (Some(tag), _) => format!("@{}", escape::line(tag)),
                (None, rule) => escape::line(rule.unwrap_or_default()).into_owned(),
            };
            let (start, end) = (node.start(), node.end());
            let text = escape::short(&node.text(self.text.as_bytes()), SHOWN);
            let open = if node.is_partial() { " …" } else { "" };
            let indent = "  ".repeat(node.depth() + 1);
            out.push_str(&format!("{indent}{name} {start}..{end} \"{text}\"{open}\n"));
        }
        if let Some(message) = &self.message {
            out.push_str(&format!(
                "message\n{}",
                wire::pretty(&Value::Object(message.clone()))
            ));
        }
        out
    }

    /// Why it does not match to its end.
    fn problem(&self) -> Problem {
        let failure = self.failure();
        let at = failure.at;
        let message = match self.status {
            Matched::Match { end } => {
                format!("the grammar matches up to byte {end}, and the text goes on")
            }
            _ if at >= self.text.len() => "the text ends too early".to_owned(),
            _ => "the text does not match the grammar".to_owned(),
        };
        let end = self.text[at.min(self.text.len())..].chars().next();
        let end = at + end.map_or(0, char::len_utf8);
        let mut problem = Problem::of(Diagnostic::error("no-match", message).with_span(at..end));
        let expected = failure.expectations(self.parser.grammar());
        for one in expected.iter().take(EXPECTED) {
            let what = escape::line(&one.what);
            let rules: Vec<String> = one.rules.iter().map(|rule| format!("`{rule}`")).collect();
            let rules = match rules.is_empty() {
                true => String::new(),
                false => format!(", for rule {}", escape::line(&rules.join(", "))),
            };
            problem = problem.with_note(format!("expected {what}{rules}"));
        }
        if expected.len() > EXPECTED || failure.more {
            problem = problem.with_note("and others");
        }
        problem
    }
}
