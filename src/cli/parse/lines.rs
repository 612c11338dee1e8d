//! `obverse parse --jsonl`: many responses, each on a line.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use obverse::deltas::DeltaTemplate;
use obverse::deltas::encode::Protocol;
use obverse::grammar::peg::document;
use obverse::grammar::reader::Template as Grammar;
use obverse::parser::{Limits, Markers, Options, ParseError};
use obverse::response_schema::{self, ResponseSchema};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

use super::session::{Asked, Ended, Session, Step};
use super::{grammar, schema};
use crate::cli::bulk::{self, Answer};
use crate::cli::input::Size;
use crate::cli::progress::Progress;
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::{given, input, output, wire};

/// How many response templates given on lines are kept compiled.
const KEPT: usize = 64;

/// A template with which responses are parsed.
#[derive(Debug, Clone)]
pub(super) enum Given {
    /// A response template and its markers.
    Template(Arc<ResponseTemplate>, Arc<Markers>),
    /// A response schema.
    Schema(Arc<ResponseSchema>),
    /// A grammar.
    Grammar(Arc<Grammar>),
}

/// Answers each line of `path`.
pub(super) fn run(
    template: Option<Given>,
    path: &Path,
    longest: Size,
    limits: Limits,
) -> Result<Status, Stop> {
    let templates = Templates {
        given: template,
        limits,
        without_anchor: AtomicUsize::new(0),
        compiled: Mutex::default(),
    };
    let progress = Progress::of_stream(path);
    let mut reading = input::open(path)?;
    let mut out = output::results();
    let answer = |line: &[u8]| answer(&templates, line);
    let ended = bulk::answer_lines(reading.as_mut(), &mut out, longest, &answer);
    drop(progress);
    let ended = ended?;
    given::warn_of_lines_without_anchor(templates.without_anchor.into_inner());
    bulk::status(ended, path)
}

/// The response templates of the lines.
struct Templates {
    given: Option<Given>,
    /// The limits of each parse.
    limits: Limits,
    /// How many lines have a prefix in which the start anchor does not stand.
    without_anchor: AtomicUsize,
    /// Compiled ones by their text, the last used at the end.
    compiled: Mutex<VecDeque<(String, Compiled)>>,
}

/// The template with which a line is parsed, or the error that answers lines which give it.
type Compiled = Result<Given, Map>;

impl Templates {
    fn of(&self, document: Option<&Value>) -> Compiled {
        let Some(document) = document else {
            return self.given.clone().ok_or_else(|| {
                wire::error(
                    "input",
                    "the line has no `template`, and none is given as an argument",
                )
            });
        };
        let text = json::to_string(document);
        if let Some(cached) = self.cached(&text) {
            return cached;
        }
        let compiled = if document::is_grammar(document) {
            Grammar::from_value(document)
                .map(|grammar| Given::Grammar(Arc::new(grammar)))
                .map_err(|invalid| wire::error("template", &invalid.to_string()))
        } else if response_schema::is_schema(document) {
            ResponseSchema::from_value(document)
                .map(|schema| Given::Schema(Arc::new(schema)))
                .map_err(|invalid| wire::error("template", &invalid.to_string()))
        } else {
            ResponseTemplate::from_value(document)
                .map(|template| {
                    let markers = Markers::of(&template);
                    Given::Template(Arc::new(template), Arc::new(markers))
                })
                .map_err(|invalid| wire::error("template", &invalid.to_string()))
        };
        if let Ok(mut kept) = self.compiled.lock() {
            if kept.len() >= KEPT {
                kept.pop_front();
            }
            kept.push_back((text, compiled.clone()));
        }
        compiled
    }

    fn cached(&self, text: &str) -> Option<Compiled> {
        let mut kept = self.compiled.lock().ok()?;
        let at = kept.iter().position(|(source, _)| source == text)?;
        let found = kept.remove(at)?;
        let compiled = found.1.clone();
        kept.push_back(found);
        Some(compiled)
    }
}

/// The request of a line.
struct Request {
    given: Given,
    chunks: Vec<String>,
    prefix: String,
    tools: Vec<Value>,
    finalize: bool,
    events: bool,
    protocol: Option<Protocol>,
    certain: bool,
    options: Options,
}

impl Request {
    fn read(templates: &Templates, mut members: Map) -> Result<Self, Map> {
        let chunks = match (
            wire::take_string(&mut members, "response")?,
            wire::take_list(&mut members, "chunks")?,
        ) {
            (Some(response), None) => vec![response],
            (None, Some(chunks)) => chunks
                .into_iter()
                .map(|chunk| match chunk {
                    Value::String(text) => Ok(text),
                    other => Err(wire::wrong_type("a chunk", "a string", &other)),
                })
                .collect::<Result<_, _>>()?,
            (None, None) => {
                let message = "the line has neither `response` nor `chunks`";
                return Err(wire::error("input", message));
            }
            (Some(_), Some(_)) => {
                let message = "the line has both `response` and `chunks`";
                return Err(wire::error("input", message));
            }
        };
        let template = wire::take(&mut members, "template");
        let given = templates.of(template.as_ref())?;
        let protocol = wire::take_string(&mut members, "deltas")?
            .map(|name| name.parse::<Protocol>())
            .transpose()
            .map_err(|unknown| wire::error("input", &unknown.to_string()))?;
        let certain = wire::take_bool(&mut members, "certain", false)?;
        let mut options = Options::default().skip_json_strings(wire::take_bool(
            &mut members,
            "skip_json_strings",
            false,
        )?);
        options.limits = templates.limits;
        Ok(Self {
            given,
            protocol,
            certain,
            chunks,
            prefix: wire::take_string(&mut members, "prefix")?.unwrap_or_default(),
            tools: wire::take_list(&mut members, "tools")?.unwrap_or_default(),
            finalize: wire::take_bool(&mut members, "finalize", true)?,
            events: wire::take_bool(&mut members, "events", false)?,
            options,
        })
    }

    fn answer(&self, out: &mut Map) {
        match &self.given {
            Given::Template(template, markers) => self.answer_with(template, markers, out),
            Given::Grammar(_) if self.protocol.is_some() => {
                let message = "a grammar knows no deltas: they are for response templates";
                out.insert("error", Value::Object(wire::error("input", message)));
            }
            Given::Grammar(template) => {
                let answer = grammar::answer(
                    grammar::reader(template, &self.options.limits, &self.tools),
                    &self.prefix,
                    &self.chunks,
                    self.finalize,
                );
                write_errors(&answer.errors, out);
                out.insert("message", Value::Object(answer.message));
                if self.events {
                    let keys = ["initial_events", "events", "final_events"];
                    out.extend(keys.into_iter().zip(answer.events));
                }
            }
            Given::Schema(_)
                if self.events
                    || self.protocol.is_some()
                    || !self.prefix.is_empty()
                    || !self.tools.is_empty() =>
            {
                let message = "a response schema is evaluated over the whole response: it knows no events, no deltas, no prefix and no tools";
                out.insert("error", Value::Object(wire::error("input", message)));
            }
            Given::Schema(compiled) => {
                let outcome = compiled.parse_all(&self.chunks.concat());
                schema::write(outcome, out);
            }
        }
    }

    fn answer_with(&self, template: &Arc<ResponseTemplate>, markers: &Arc<Markers>, out: &mut Map) {
        let asked = self.protocol.map(|protocol| Asked {
            protocol,
            template: Arc::new(DeltaTemplate::new(Arc::clone(template))),
            certain: self.certain,
        });
        let begun = Session::begin(
            template,
            &self.prefix,
            &self.tools,
            self.options,
            markers,
            asked.as_ref(),
        );
        let mut session = match begun {
            Ok(session) => session,
            Err(error) => {
                write_errors(&[*error], out);
                let defaults = template.defaults().clone();
                out.insert("message".to_owned(), Value::Object(defaults));
                return;
            }
        };
        let initial = session
            .initial_events()
            .iter()
            .map(|event| Value::Object(event.to_map()))
            .collect();
        let (mut events, mut deltas) = (Vec::new(), Vec::new());
        let initial_deltas = session.initial_deltas();
        for chunk in &self.chunks {
            let mut list = Lists::default();
            session.feed(chunk, &mut |step| self.collect(step, &mut list));
            events.push(Value::Array(list.events));
            deltas.push(Value::Array(list.deltas));
        }
        let mut last = Lists::default();
        let Ended {
            message,
            errors,
            strays,
        } = if self.finalize {
            session.finish(&mut |step| self.collect(step, &mut last))
        } else {
            session.stop()
        };
        write_errors(&errors, out);
        out.insert("message".to_owned(), Value::Object(message));
        strays.write(out);
        if self.events {
            for (key, list) in [
                ("initial_events", initial),
                ("events", events),
                ("final_events", last.events),
            ] {
                out.insert(key.to_owned(), Value::Array(list));
            }
        }
        if self.protocol.is_some() {
            for (key, list) in [
                ("initial_deltas", initial_deltas),
                ("deltas", deltas),
                ("final_deltas", last.deltas),
            ] {
                out.insert(key.to_owned(), Value::Array(list));
            }
        }
    }

    fn collect(&self, step: Step<'_>, lists: &mut Lists) {
        match step {
            Step::Event(event) if self.events => lists.events.push(Value::Object(event.to_map())),
            Step::Delta(delta) => lists.deltas.push(delta),
            Step::Event(_) | Step::Error(_) => {}
        }
    }
}

/// The events of a chunk.
#[derive(Default)]
struct Lists {
    events: Vec<Value>,
    deltas: Vec<Value>,
}

fn answer(templates: &Templates, line: &[u8]) -> Answer {
    let mut out = Map::new();
    let request = wire::members(line).and_then(|mut members| {
        out.extend(members.shift_remove("id").map(|id| ("id".to_owned(), id)));
        Request::read(templates, members)
    });
    match request {
        Ok(request) => {
            if let Given::Template(template, _) = &request.given
                && !given::has_anchor(template, &request.prefix)
            {
                templates.without_anchor.fetch_add(1, Ordering::Relaxed);
            }
            request.answer(&mut out);
        }
        Err(error) => {
            out.insert("error".to_owned(), Value::Object(error));
        }
    }
    Answer {
        failed: out.contains_key("error"),
        line: wire::line(out),
    }
}

/// Writes the first error as `error` and the others, if there are any, as `further_errors`.
pub(super) fn write_errors(errors: &[ParseError], out: &mut Map) {
    let mut written = errors.iter().map(|error| Value::Object(error.to_map()));
    out.extend(written.next().map(|first| ("error".to_owned(), first)));
    let further: Vec<Value> = written.collect();
    if !further.is_empty() {
        out.insert("further_errors".to_owned(), Value::Array(further));
    }
}
