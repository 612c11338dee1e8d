//! The law of deltas: what a client puts together is the message, for every template, response and chunking.

#![allow(clippy::print_stdout, reason = "a test says how much it has seen")]

mod clients;
mod formats;
mod guesses;
mod latency;
mod memory;
mod taken_back;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::parsing::{characters, cut};
use crate::support::random::Random;
use obverse::check;
use obverse::deltas::{Assembly, DeltaParser, DeltaTemplate, Growth, Options, push_joined};
use obverse::parser::{self, OnError, ParseError};
use obverse::project::Project;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

/// A response to be parsed.
struct Subject<'s> {
    template: Arc<DeltaTemplate>,
    prefix: &'s str,
    tools: &'s [Value],
    response: &'s str,
}

/// What came of it.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// The growth, adjacent pieces joined.
    growth: Vec<Growth<'static>>,
    /// What ended it.
    error: Option<ParseError>,
    retractions: usize,
}

impl Subject<'_> {
    /// Parses it in these chunks and holds the outcome to the law.
    fn parse(&self, chunks: &[&str], on_error: OnError, certain: bool) -> Result<Outcome, String> {
        let mut options = Options::default();
        options.parser = parser::Options::default().on_error(on_error);
        options.certain = certain;
        let mut assembly = Assembly::default();
        let mut growth = Vec::new();
        let parser =
            DeltaParser::with_options(Arc::clone(&self.template), self.prefix, self.tools, options);
        let mut parser = match parser {
            Ok(parser) => parser,
            Err(error) => {
                return Ok(Outcome {
                    growth,
                    error: Some(error),
                    retractions: 0,
                });
            }
        };
        let mut take = |one: Growth<'_>| {
            if matches!(&one, Growth::Text { text, .. } | Growth::Arguments { text, .. } if text.is_empty())
            {
                return Err("an empty piece".to_owned());
            }
            assembly.add(&one);
            push_joined(&mut growth, one);
            Ok(())
        };
        for one in parser.initial_growth() {
            take(one.clone())?;
        }
        let mut ended = None;
        'chunks: for chunk in chunks {
            let mut text = *chunk;
            loop {
                match parser.feed(text) {
                    Ok(grown) => {
                        for one in grown {
                            take(one)?;
                        }
                        break;
                    }
                    Err(error) if error.is_final() => {
                        ended = Some(error);
                        break 'chunks;
                    }
                    Err(_) => text = "",
                }
            }
        }
        while ended.is_none() {
            match parser.finalize() {
                Ok((message, grown)) => {
                    for one in grown {
                        take(one)?;
                    }
                    if let Some(difference) = assembly.difference(&message) {
                        return Err(difference);
                    }
                    break;
                }
                Err(error) if error.is_final() => ended = Some(error),
                Err(_) => {}
            }
        }
        Ok(Outcome {
            retractions: assembly.retractions(),
            growth,
            error: ended,
        })
    }

    /// The same for a number of chunkings; what was taken back of the response as a whole.
    fn hold(&self, random: &mut Random, cuts: usize) -> Result<usize, String> {
        let mut retractions = 0;
        for (on_error, certain) in [
            (OnError::Keep, false),
            (OnError::Return, false),
            (OnError::Keep, true),
        ] {
            let whole = self.parse(&[self.response], on_error, certain);
            let whole = whole.map_err(|error| format!("whole: {error}"))?;
            if certain && whole.retractions > 0 {
                return Err(format!(
                    "what is certain was taken back: {:?}",
                    whole.growth
                ));
            }
            if !certain {
                retractions = whole.retractions;
            }
            let mut chunkings = vec![characters(self.response)];
            chunkings.extend((0..cuts).map(|_| cut(random, self.response)));
            for chunks in chunkings {
                let told = |what: String| format!("{what}\n  chunks {chunks:?}");
                let outcome = self.parse(&chunks, on_error, certain).map_err(told)?;
                let same = outcome.growth == whole.growth || whole.error.is_some();
                if !same || outcome.error.is_some() != whole.error.is_some() {
                    let (a, b) = (&outcome.growth, &whole.growth);
                    return Err(told(format!("grows otherwise: {a:?}\n  than whole: {b:?}")));
                }
            }
        }
        Ok(retractions)
    }
}

/// A fixture of one of the project's own response templates.
struct Fixed {
    /// The response template's name and the fixture's.
    name: String,
    template: Arc<DeltaTemplate>,
    prefix: String,
    fixture: check::Fixture,
}

/// All of them.
fn fixtures() -> Vec<Fixed> {
    let text = std::fs::read_to_string(root().join("obverse.toml")).expect("the file");
    let project = Project::read(&text, root()).expect("a project");
    let mut all = Vec::new();
    for path in project.response_templates() {
        let document = std::fs::read_to_string(&path).expect("a response template");
        let template = ResponseTemplate::from_json(&document).expect("a response template");
        let template = Arc::new(DeltaTemplate::new(template));
        let places: Vec<PathBuf> = project.belongings(&path).fixtures;
        for found in places
            .iter()
            .flat_map(|place| check::find(place).expect("fixtures"))
        {
            let fixture = found.read().expect("a fixture");
            let stem = path.file_stem().expect("a name").to_string_lossy();
            all.push(Fixed {
                name: format!("{stem} {}", found.name),
                template: Arc::clone(&template),
                prefix: fixture.prefix(None, None).expect("a text").into_owned(),
                fixture,
            });
        }
    }
    all
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_cases_of_the_parser_keep_the_law() {
    let mut random = Random::new(1);
    let mut seen = 0;
    let folder = root().join("tests/cases/parser");
    for entry in std::fs::read_dir(folder).expect("the cases") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a file");
        let file = json::parse(&text).expect("JSON");
        for case in file.get("cases").and_then(Value::as_array).expect("cases") {
            let text = |key: &str| case.get(key).and_then(Value::as_str);
            let named = text("template").and_then(|name| file.get("templates")?.get(name));
            let document = named.or(case.get("template")).expect("a template");
            let Ok(template) = ResponseTemplate::from_value(document) else {
                continue;
            };
            let subject = Subject {
                template: Arc::new(DeltaTemplate::new(template)),
                prefix: text("prefix").unwrap_or_default(),
                tools: case
                    .get("tools")
                    .and_then(Value::as_array)
                    .unwrap_or_default(),
                response: text("response").expect("a response"),
            };
            if let Err(error) = subject.hold(&mut random, 6) {
                panic!("{}: {error}", text("name").expect("a name"));
            }
            seen += 1;
        }
    }
    assert!(seen > 250, "{seen}");
    println!("{seen} cases");
}

#[test]
fn the_fixtures_keep_the_law_and_take_nothing_back() {
    let mut random = Random::new(2);
    let (mut seen, mut broken) = (0, 0);
    for Fixed {
        name,
        template,
        prefix,
        fixture,
    } in fixtures()
    {
        let hold = |response: &str, random: &mut Random, cuts| {
            let subject = Subject {
                template: Arc::clone(&template),
                prefix: &prefix,
                tools: &fixture.tools,
                response,
            };
            let held = subject.hold(random, cuts);
            held.unwrap_or_else(|error| panic!("{name}: {response:?}: {error}"))
        };
        let retractions = hold(&fixture.response, &mut random, 4);
        // Only a response that ends in the middle of a call takes one back.
        let cut_short = name.ends_with("truncated");
        assert!(retractions == 0 || cut_short, "{name}");
        seen += 1;
        // Responses that went wrong: a piece is lost, or comes twice, or the end is.
        for _ in 0..4 {
            let pieces = cut(&mut random, &fixture.response);
            let at = random.below(pieces.len().max(1));
            let response = match random.below(3) {
                0 => pieces[..at].concat(),
                1 => pieces[..at].concat() + &pieces[(at + 1).min(pieces.len())..].concat(),
                _ => pieces.concat() + &pieces[at.min(pieces.len())..].concat(),
            };
            broken += usize::from(hold(&response, &mut random, 1) > 0);
        }
    }
    assert!(seen > 250, "{seen}");
    println!("{seen} fixtures; of those with faults {broken} take something back");
}

#[test]
fn what_goes_wrong_in_every_way_keeps_the_law() {
    let rounds = std::env::var("OBVERSE_DELTAS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let rounds: usize = rounds.unwrap_or(60);
    let mut random = Random::new(3);
    let mut retracted = 0;
    for format in formats::all() {
        let template = ResponseTemplate::from_json(&format.document);
        let template = template.unwrap_or_else(|error| panic!("{}: {error}", format.document));
        let template = Arc::new(DeltaTemplate::new(template));
        let tools = json::parse(formats::TOOLS).expect("JSON");
        let tools = tools.as_array().expect("a list");
        for _ in 0..rounds {
            let response = random.text(&format.pieces, 14);
            for tools in [&[][..], tools] {
                let subject = Subject {
                    template: Arc::clone(&template),
                    prefix: "",
                    tools,
                    response: &response,
                };
                match subject.hold(&mut random, 2) {
                    Ok(retractions) => retracted += usize::from(retractions > 0),
                    Err(error) => panic!("{}\n{response:?}: {error}", format.document),
                }
            }
        }
    }
    assert!(retracted > 0);
}
