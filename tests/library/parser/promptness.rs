//! When text comes out: with the chunk that brings it, unless a delimiter may be under way in it.
//!
//! What the parser gives for a chunk is held against the definition and not against the parser: text that is held must be
//! such that what follows decides whether, or how far, a delimiter that counts goes from its first byte. For literals that can
//! be read off them, for patterns it is tried with endings. Nothing here needs the reference; `tests/reference/parser` compares the
//! events of each chunk with its.

#![allow(
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test says how much it has seen"
)]

#[allow(dead_code, reason = "what only the comparison with the reference asks")]
#[path = "../../reference/parser/generate.rs"]
mod generate;
#[path = "../../reference/parser/pool.rs"]
mod pool;

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::cores;
use crate::support::parsing::{characters, cut};
use crate::support::random::Random;
use obverse::parser::{Event, OnError, Options, ResponseParser, Status};
use obverse::pattern::{MatchError, Pattern, Progress, Search, Window};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

/// How many generated cases are looked at where nothing else is asked.
const CASES: u64 = 1_500;
/// How many the long test looks at.
const MANY_CASES: u64 = 60_000;
/// Longer responses are not fed by characters.
const BY_CHARACTERS: usize = 2_000;
/// Ways to cut a response at random.
const CUTS: usize = 3;
const SEED: u64 = 2026;

/// What completes the delimiters of `tests/cases/parser` that have only begun in all responses of their file.
const MORE_ENDINGS: &[&str] = &["q=a>", "\"name\": \"", "<tool_call>"];

/// Who knows whether text has to wait.
struct Judge {
    /// Texts that may follow what is held, among them one to complete whatever has begun.
    endings: Vec<String>,
    /// The sources of the patterns for which there is such an ending; of all when none are named.
    patterns: BTreeSet<String>,
}

impl Judge {
    /// For the delimiters of the pool: for each there is every end of the texts that it matches.
    fn of_the_pool() -> Self {
        let texts = pool::DELIMITERS
            .iter()
            .flat_map(|delimiter| delimiter.texts);
        let sources = pool::DELIMITERS
            .iter()
            .filter(|known| known.pattern)
            .map(|known| generate::value(&known.json));
        Self {
            patterns: sources
                .map(|source| source.as_str().expect("a source").to_owned())
                .collect(),
            ..Self::of(texts.chain(pool::NOISE).copied())
        }
    }

    /// Every end of the texts, the shortest first.
    fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut ends = BTreeSet::from([""]);
        for text in texts {
            ends.extend(text.char_indices().map(|(at, _)| &text[at..]));
        }
        let mut endings: Vec<String> = ends.into_iter().map(str::to_owned).collect();
        endings.sort_by_key(String::len);
        Self {
            endings,
            patterns: BTreeSet::new(),
        }
    }

    /// Whether the delimiter may be under way at the byte offset `from`, so that the text from there on has to wait.
    fn may_wait(&self, delimiter: &Pattern, text: &str, from: usize) -> bool {
        if let Some(literals) = delimiter.as_literals() {
            return literal_may_wait(literals, &text[from..]);
        }
        let Ok(now) = match_at(delimiter, text, from) else {
            return true;
        };
        // The reference cannot tell whether what has matched up to the end may grow, and waits for one more character.
        now.as_ref().is_some_and(|end| *end == text.len())
            || if self.patterns.is_empty() || self.patterns.contains(delimiter.source()) {
                self.endings_decide(delimiter, text, from, now)
            } else {
                is_held_at_once(delimiter, text, from)
            }
    }

    /// Whether what follows `text` decides how the pattern matches at `from`, where it now matches up to `now`.
    fn endings_decide(
        &self,
        pattern: &Pattern,
        text: &str,
        from: usize,
        now: Option<usize>,
    ) -> bool {
        let decides = |ending: &str| match_at(pattern, &format!("{text}{ending}"), from) != Ok(now);
        // What a back-reference asks for is the first word.
        let mut words =
            text[from..].split(|c: char| c != '_' && c.is_ascii() && !c.is_alphanumeric());
        let again = words.find(|word| !word.is_empty()).unwrap_or_default();
        let again = format!("></{again}>");
        let mut again = again.char_indices().map(|(at, _)| &again[at..]);
        self.endings.iter().any(|ending| decides(ending)) || again.any(decides)
    }
}

/// Where the match that begins at `from` ends, if there is one.
fn match_at(pattern: &Pattern, text: &str, from: usize) -> Result<Option<usize>, MatchError> {
    let found = pattern.search(text, from)?.map(|found| found.span);
    Ok(found.filter(|span| span.start == from).map(|span| span.end))
}

/// Whether a literal may be under way in `held`. Whole ones wait as well where one is the beginning of another.
fn literal_may_wait(literals: &[String], held: &str) -> bool {
    let begins = |short: &str, long: &str| short != long && long.starts_with(short);
    let grow = || {
        literals
            .iter()
            .any(|a| literals.iter().any(|b| begins(a, b)))
    };
    literals.iter().any(|literal| begins(held, literal))
        || (literals.iter().any(|literal| literal == held) && grow())
}

/// What the engine says to the text in one piece: for patterns that were made up, whose endings nobody knows.
fn is_held_at_once(pattern: &Pattern, text: &str, from: usize) -> bool {
    let window = Window {
        text,
        start: 0,
        complete: false,
    };
    Search::new(pattern, from).advance(&window) == Ok(Progress::Pending { hold: from })
}

/// A parse that is followed from outside.
struct Followed<'t> {
    template: &'t ResponseTemplate,
    parser: ResponseParser,
    /// What the parser was given: the prefix behind its anchor, and the chunks.
    text: String,
    /// The field of the open region, and its text as the events told it.
    open: Option<(String, String)>,
}

impl<'t> Followed<'t> {
    /// `None` where the prefix cannot be read.
    fn new(template: &'t ResponseTemplate, prefix: &str, tools: &[Value]) -> Option<Self> {
        let options = Options::default().on_error(OnError::Keep);
        let parser = ResponseParser::with_options(template.clone(), prefix, tools, options).ok()?;
        let mut followed = Self {
            template,
            text: template.after_last_anchor(prefix).ok()?.to_owned(),
            parser,
            open: None,
        };
        let initial = followed.parser.initial_events().to_vec();
        followed.note(&initial);
        Some(followed)
    }

    fn note(&mut self, events: &[Event<'_>]) {
        for event in events {
            match event {
                Event::RegionOpen { field } => self.open = Some((field.to_string(), String::new())),
                Event::RegionChunk { text, .. } => {
                    let (_, said) = self.open.as_mut().expect("chunks come in open regions");
                    said.push_str(text);
                }
                Event::RegionClose { .. } | Event::RegionError { .. } => self.open = None,
                other => panic!("an event that the test does not know: {other:?}"),
            }
        }
    }

    /// Feeds a chunk; whether the parser reads on.
    fn feed(&mut self, chunk: &str) -> bool {
        self.text.push_str(chunk);
        match self.parser.feed(chunk) {
            Ok(events) => {
                self.note(&events);
                self.parser.snapshot().status == Status::Reading
            }
            Err(_) => false,
        }
    }

    /// The delimiters that count: in an explicit region its close, elsewhere every open and the implicit field's close.
    fn counting(&self) -> Vec<&'t Pattern> {
        let fields = self.template.fields();
        let implicit = self.template.implicit().map(|index| &fields[index]);
        let open = self
            .open
            .as_ref()
            .and_then(|(name, _)| self.template.field(name));
        match open {
            Some(open) if implicit.is_none_or(|implicit| implicit.name != open.name) => {
                open.close.iter().collect()
            }
            _ => {
                let opens = fields.iter().filter_map(|field| field.open.as_ref());
                opens
                    .chain(implicit.and_then(|field| field.close.as_ref()))
                    .collect()
            }
        }
    }

    /// What is wrong with what is out and what is held.
    fn check(&self, judge: &Judge) -> Result<(), String> {
        let snapshot = self.parser.snapshot();
        let out = self.text.len() - snapshot.held.len();
        if !self.text.ends_with(snapshot.held)
            || (snapshot.position, snapshot.fed) != (out, self.text.len())
        {
            return Err(format!("the snapshot is not of the text: {snapshot:?}"));
        }
        let region = snapshot.region.map(|region| {
            (
                region.name,
                &self.text[region.span.clone()],
                region.span.end,
            )
        });
        let said = self
            .open
            .as_ref()
            .map(|(name, said)| (name.as_str(), said.as_str(), out));
        if region != said {
            return Err(format!(
                "the open region is {region:?}, the events gave {said:?}"
            ));
        }
        let waits = |pattern: &&Pattern| judge.may_wait(pattern, &self.text, out);
        if !snapshot.held.is_empty() && !self.counting().iter().any(waits) {
            return Err(format!(
                "{:?} is held, and none of {:?} can begin there",
                snapshot.held,
                self.counting()
                    .iter()
                    .map(|pattern| pattern.source())
                    .collect::<Vec<_>>()
            ));
        }
        Ok(())
    }
}

/// A document with a response, wherever it is from.
struct Subject<'c> {
    template: &'c ResponseTemplate,
    prefix: &'c str,
    tools: &'c [Value],
    response: &'c str,
}

impl Subject<'_> {
    /// What is wrong after one of the chunks; else after how many something was held.
    fn check(&self, judge: &Judge, chunks: &[&str]) -> Result<usize, String> {
        let mut held = 0;
        let Some(mut followed) = Followed::new(self.template, self.prefix, self.tools) else {
            return Ok(held);
        };
        for (number, chunk) in chunks.iter().enumerate() {
            if !followed.feed(chunk) {
                break;
            }
            held += usize::from(!followed.parser.snapshot().held.is_empty());
            followed
                .check(judge)
                .map_err(|wrong| format!("{wrong}\n    after {:?}", &chunks[..=number]))?;
        }
        Ok(held)
    }

    fn check_all(&self, judge: &Judge, random: &mut Random) -> Result<usize, String> {
        let mut held = self.check(judge, &[self.response])?;
        if self.response.len() <= BY_CHARACTERS {
            held += self.check(judge, &characters(self.response))?;
        }
        for _ in 0..CUTS {
            held += self.check(judge, &cut(random, self.response))?;
        }
        Ok(held)
    }
}

#[test]
fn generated_responses_come_without_delay() {
    generated(CASES);
}

#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn many_generated_responses_come_without_delay() {
    generated(MANY_CASES);
}

fn generated(cases: u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("OBVERSE_SEED").unwrap_or(SEED);
    let cases = number("OBVERSE_CASES").unwrap_or(cases);
    eprintln!("OBVERSE_SEED={seed} OBVERSE_CASES={cases}");
    let judge = Judge::of_the_pool();
    let generated = |index: &u64| {
        let mut random = Random::part(seed, *index);
        let case = generate::case(&mut random);
        let template = ResponseTemplate::from_value(&case.template.clone().into()).ok()?;
        let subject = Subject {
            template: &template,
            prefix: &case.prefix,
            tools: &case.tools,
            response: &case.response,
        };
        let held = subject.check_all(&judge, &mut random);
        Some(held.map_err(|text| {
            let document = json::to_string(&case.template.into());
            let prefix = case.prefix;
            format!("case {index}, {document}, prefix {prefix:?}: {text}")
        }))
    };
    let all: Vec<u64> = (0..cases).collect();
    let mut wrong = Vec::new();
    let (mut loaded, mut held) = (0, 0);
    for checked in cores::each(&all, generated).into_iter().flatten() {
        loaded += 1;
        match checked {
            Ok(times) => held += times as u64,
            Err(text) => wrong.push(text),
        }
    }
    eprintln!("{loaded} documents, text was held {held} times");
    assert!(2 * loaded > cases, "most documents are good");
    assert!(held > 10 * cases, "text is held in most responses");
    report(wrong);
}

#[test]
fn the_cases_come_without_delay() {
    let mut random = Random::new(SEED);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/parser");
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).expect("tests/cases/parser") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a file");
        let file = json::parse(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let cases = file.get("cases").and_then(Value::as_array).expect("cases");
        let responses = cases
            .iter()
            .filter_map(|case| case.get("response")?.as_str());
        let judge = Judge::of(responses.chain(MORE_ENDINGS.iter().copied()));
        for case in cases {
            let document = match &case.get("template") {
                Some(Value::String(name)) => file.get("templates").and_then(|all| all.get(name)),
                document => *document,
            };
            let document = document.expect("a document");
            let text = |key: &str| case.get(key).and_then(Value::as_str).unwrap_or_default();
            let Ok(template) = ResponseTemplate::from_value(document) else {
                continue;
            };
            let subject = Subject {
                template: &template,
                prefix: text("prefix"),
                tools: &[],
                response: text("response"),
            };
            if let Err(wrong_is) = subject.check_all(&judge, &mut random) {
                wrong.push(format!("{}: {}: {wrong_is}", path.display(), text("name")));
            }
        }
    }
    report(wrong);
}

fn report(mut wrong: Vec<String>) {
    let count = wrong.len();
    wrong.truncate(10);
    assert!(
        count == 0,
        "{count} are wrong, among them\n{}",
        wrong.join("\n")
    );
}
