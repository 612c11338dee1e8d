//! Grammars in the engines that they are written for: llama.cpp's reader (GBNF), xgrammar (structural tags, and GBNF again, which its
//! EBNF is nearly the same as) and llguidance (Lark).
//!
//! Everything that is right is allowed: each response by which a derivation was proved is accepted whole, and so is every beginning
//! of it, since it is fed byte by byte. Everything that is allowed is right: texts that a grammar allows are read by the
//! response template to calls that fit their schemas. What is wrong is refused: texts that a grammar of other tools allows, of a
//! tool by another name, without a required argument, with one of another type.
//!
//! The table in `docs/constrained.md` is written by `OBVERSE_UPDATE=1 cargo test --test reference grammar -- --ignored`, and the tests
//! fail where it says something else.

#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test says what it has seen"
)]

mod acceptor;
mod beside;
mod corpus;
mod lazy;
mod limits;
mod tokens;
mod vllm;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use obverse::chat_template::{self, ChatTemplateSource};
use obverse::derive::{self, Case, Derivation};
use obverse::grammar::emit::Language;
use obverse::grammar::{Grammar, Request, Sampler, ToolChoice, WrittenFormat};
use obverse::parser::ResponseParser;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

use crate::support::derived::{self, Derived};
use crate::support::reference::{self, grammar_python};

/// How many engines read grammars, each in a language of its own; xgrammar in two.
const ENGINES: usize = 4;

/// The languages, and what the engines' script calls them.
const LANGUAGES: [(&str, Language); ENGINES] = [
    ("gbnf", Language::Gbnf),
    ("ebnf", Language::Ebnf),
    ("lark", Language::Lark),
    ("structural-tag", Language::StructuralTag),
];

/// The chat templates that are tried each time: one that writes calls as JSON, and one that writes them in tags.
const FEW: [&str; 2] = ["qwen3", "qwen3_coder"];

/// How many texts are sampled of each grammar.
const SAMPLES: u64 = 100;

/// The tools of which calls are sampled.
const TOOLS: &str = r#"[
  {"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": {"type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"type": "string", "enum": ["C", "F"]}},
    "required": ["city", "days"]}}},
  {"type": "function", "function": {"name": "book", "description": "Books.", "parameters": {"type": "object",
    "properties": {"seats": {"type": "array", "items": {"type": "integer"}}, "price": {"type": "number"},
      "options": {"type": "object", "properties": {"window": {"type": "boolean"}}, "required": ["window"]},
      "vip": {"type": "boolean"}}, "required": ["seats"]}}},
  {"type": "function", "function": {"name": "ping", "description": "Pings.", "parameters": {"type": "object", "properties": {}}}}
]"#;

/// What is wrong with the tools of mutants: the names of what is wrong, and what to write for what.
const MUTATIONS: [(&str, &str, &str); 3] = [
    (
        "unknown tool",
        r#""name": "get_weather""#,
        r#""name": "get_whether""#,
    ),
    ("missing argument", r#""days": {"type": "integer"}, "#, ""),
    (
        "wrong type",
        r#""days": {"type": "integer"}"#,
        r#""days": {"type": "string", "enum": ["soon"]}"#,
    ),
];

/// A chat template with what was derived from it.
struct Subject {
    name: String,
    derivation: Derivation,
    template: Arc<ResponseTemplate>,
    written: WrittenFormat,
}

impl Subject {
    fn new(name: &str) -> Self {
        Self::derived(name, &derive::Options::default())
    }

    fn derived(name: &str, options: &derive::Options) -> Self {
        let path = root().join(format!("chat_templates/{name}.jinja"));
        let source = chat_template::load(&path)
            .expect("a chat template")
            .assuming_tokens();
        let derivation = derive::derive(&source, options).expect("derived");
        Self::with(name, &source, derivation)
    }

    /// `None` where nothing could be derived.
    fn of(derived: &Derived) -> Option<Self> {
        let derivation = derived.outcome.as_ref().ok()?.clone();
        Some(Self::with(derived.known_as(), &derived.source, derivation))
    }

    fn with(name: &str, source: &ChatTemplateSource, derivation: Derivation) -> Self {
        let template = ResponseTemplate::from_value(&derivation.document.to_value());
        let template = Arc::new(template.expect("a response template"));
        let written = WrittenFormat::new(&template, &derivation.cases, &source.tokens.end);
        Self {
            name: name.to_owned(),
            derivation,
            template,
            written,
        }
    }

    fn has_calls(&self) -> bool {
        self.cases()
            .any(|case| case.message.get("tool_calls").is_some())
    }

    fn cases(&self) -> impl Iterator<Item = &Case> {
        self.derivation.cases.iter()
    }

    fn grammar(&self, prefix: &str, tools: &[Value], tool_choice: ToolChoice) -> Grammar {
        let request = Request::default()
            .tools(tools.to_vec())
            .tool_choice(tool_choice)
            .prefix(prefix);
        let grammar = self.written.grammar(&request);
        grammar.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// The prompt of a case with calls.
    fn prefix(&self) -> &str {
        let calling = self
            .cases()
            .find(|case| case.message.get("tool_calls").is_some());
        calling.map_or("", |case| case.prefix.as_str())
    }

    /// The cases, those with one prompt and the same tools together.
    fn groups(&self) -> Vec<Vec<&Case>> {
        let mut groups: BTreeMap<(String, String), Vec<&Case>> = BTreeMap::new();
        for case in self.cases() {
            let before = self
                .template
                .after_last_anchor(&case.prefix)
                .expect("an anchor");
            let tools = json::to_string(&Value::Array(case.tools.clone()));
            groups
                .entry((before.to_owned(), tools))
                .or_default()
                .push(case);
        }
        groups.into_values().collect()
    }

    /// What a text parses to, and what of it no field takes.
    fn read(
        &self,
        prefix: &str,
        text: &str,
        tools: &[Value],
    ) -> Result<(Map, Vec<String>), String> {
        let failed = |error: obverse::parser::ParseError| error.to_string();
        let mut parser =
            ResponseParser::new(Arc::clone(&self.template), prefix, tools).map_err(failed)?;
        parser.feed(text).map_err(failed)?;
        let (message, _) = parser.finalize().map_err(failed)?;
        let unclaimed = parser
            .unclaimed()
            .iter()
            .map(|one| one.text.trim().to_owned());
        Ok((message, unclaimed.filter(|text| !text.is_empty()).collect()))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn tools(mutated: Option<(&str, &str)>) -> Vec<Value> {
    let text = match mutated {
        Some((from, to)) => {
            assert!(TOOLS.contains(from), "the mutation finds what it changes");
            TOOLS.replace(from, to).replace(
                r#"["city", "days"]"#,
                if to.is_empty() {
                    r#"["city"]"#
                } else {
                    r#"["city", "days"]"#
                },
            )
        }
        None => TOOLS.to_owned(),
    };
    let tools = json::parse(&text).expect("JSON");
    tools.as_array().expect("a list").to_vec()
}

/// What the engines say of texts: for each how many bytes are a live beginning, and whether it may end there.
fn ask(python: &Path, lines: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = lines.iter().map(json::to_string).collect();
    let answers = reference::ask_with(python, "grammar/engines.py", &lines);
    let parsed = answers
        .iter()
        .map(|answer| json::parse(answer).expect("JSON"));
    parsed.collect()
}

fn line(language: (&str, Language), grammar: &Grammar, texts: &[String]) -> Value {
    let texts = texts.iter().map(|text| Value::from(text.as_str()));
    Value::Object(Map::from_iter([
        ("format".to_owned(), Value::from(language.0)),
        (
            "grammar".to_owned(),
            Value::from(grammar.write(language.1).text),
        ),
        ("texts".to_owned(), Value::Array(texts.collect())),
    ]))
}

/// Which of the texts were accepted whole.
fn accepted(name: &str, answer: &Value) -> Vec<bool> {
    let texts = answer.get("texts").and_then(Value::as_array);
    let texts = texts.unwrap_or_else(|| {
        panic!(
            "{name}: the engine does not take the grammar: {}",
            json::to_string(answer)
        )
    });
    texts
        .iter()
        .map(|text| text.as_array().expect("a pair")[1] == Value::Bool(true))
        .collect()
}

/// How many of how many.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Share {
    right: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, is_right: bool) {
        self.right += usize::from(is_right);
        self.all += 1;
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.right == self.all {
            write!(f, "{}", self.all)
        } else {
            write!(f, "{} of {}", self.right, self.all)
        }
    }
}

/// A row of the table, with so many texts sampled.
fn row(python: &Path, subject: &Subject, samples: u64) -> String {
    let renders = renders(python, subject);
    let (read, taken, refused) = if subject.has_calls() {
        sampled(python, subject, samples)
    } else {
        (Share::default(), Share::default(), Share::default())
    };
    let [gbnf, ebnf, lark, tag] = renders;
    format!(
        "| {} | {gbnf} | {ebnf} | {lark} | {tag} | {read} | {taken} | {refused} |",
        subject.name
    )
}

/// How many of the responses by which the derivation was proved each engine accepts.
fn renders(python: &Path, subject: &Subject) -> [Share; ENGINES] {
    let mut lines = Vec::new();
    let groups = subject.groups();
    for cases in &groups {
        let grammar = subject.grammar(&cases[0].prefix, &cases[0].tools, ToolChoice::Auto);
        let texts: Vec<String> = cases.iter().map(|case| case.response.clone()).collect();
        lines.extend(LANGUAGES.map(|language| line(language, &grammar, &texts)));
    }
    let mut shares = [Share::default(); ENGINES];
    for (at, answer) in ask(python, &lines).iter().enumerate() {
        let all = accepted(&subject.name, answer);
        all.into_iter()
            .for_each(|is_right| shares[at % ENGINES].add(is_right));
    }
    shares
}

/// How many sampled texts are read to what fits the schemas, how many all the engines take too, and how many mutants no engine takes.
fn sampled(python: &Path, subject: &Subject, samples: u64) -> (Share, Share, Share) {
    let known: BTreeSet<String> = subject
        .cases()
        .filter_map(|case| subject.read(&case.prefix, &case.response, &case.tools).ok())
        .flat_map(|(_, unclaimed)| unclaimed)
        .collect();
    let right = tools(None);
    let prefix = subject.prefix();
    let grammar = subject.grammar(prefix, &right, ToolChoice::Required);
    let mut sampler = Sampler::new(&grammar);
    let texts: Vec<String> = (0..samples).map(|seed| sampler.sample(seed)).collect();
    let (mut read, mut taken, mut refused) = (Share::default(), Share::default(), Share::default());
    let mut values = Vec::new();
    let mut owners = Vec::new();
    let mut is_read = vec![true; texts.len()];
    for (at, text) in texts.iter().enumerate() {
        match subject.read(prefix, text, &right) {
            Ok((message, unclaimed)) => {
                let calls = message
                    .get("tool_calls")
                    .and_then(Value::as_array)
                    .unwrap_or_default();
                is_read[at] =
                    !calls.is_empty() && unclaimed.iter().all(|text| known.contains(text));
                for call in calls {
                    values.push(pair(&right, call));
                    owners.push(at);
                }
            }
            Err(_) => is_read[at] = false,
        }
    }
    let schemas = Value::Object(Map::from_iter([
        ("format".to_owned(), Value::from("schema")),
        ("values".to_owned(), Value::Array(values)),
    ]));
    let mut lines = vec![schemas];
    lines.extend(LANGUAGES.map(|language| line(language, &grammar, &texts)));
    let mut mutants = Vec::new();
    for (_, from, to) in MUTATIONS {
        let wrong = subject.grammar(
            prefix,
            &tools(Some((from, to))),
            ToolChoice::Tool(called(to)),
        );
        let mut sampler = Sampler::new(&wrong);
        mutants.extend((0..samples / 5).map(|seed| sampler.sample(seed)));
    }
    lines.extend(LANGUAGES.map(|language| line(language, &grammar, &mutants)));
    let answers = ask(python, &lines);
    let valid = answers[0]
        .get("valid")
        .and_then(Value::as_array)
        .expect("a list");
    for (owner, valid) in owners.iter().zip(valid) {
        is_read[*owner] &= *valid == Value::Bool(true);
    }
    for (at, is_read) in is_read.iter().enumerate() {
        if !is_read {
            eprintln!(
                "{}: not read right: {}",
                subject.name,
                json::quote(&texts[at])
            );
        }
        read.add(*is_read);
    }
    let of = |range: std::ops::Range<usize>| -> Vec<Vec<bool>> {
        answers[range]
            .iter()
            .map(|answer| accepted(&subject.name, answer))
            .collect()
    };
    let by_engine = of(1..1 + ENGINES);
    for at in 0..texts.len() {
        let all = by_engine.iter().all(|accepted| accepted[at]);
        if !all {
            let who: Vec<bool> = by_engine.iter().map(|accepted| accepted[at]).collect();
            eprintln!(
                "{}: not taken by all {who:?}: {}",
                subject.name,
                json::quote(&texts[at])
            );
        }
        taken.add(all);
    }
    let by_engine = of(1 + ENGINES..1 + 2 * ENGINES);
    for at in 0..mutants.len() {
        let none = !by_engine.iter().any(|accepted| accepted[at]);
        if !none {
            eprintln!(
                "{}: a mutant is taken: {}",
                subject.name,
                json::quote(&mutants[at])
            );
        }
        refused.add(none);
    }
    (read, taken, refused)
}

/// The tool that a mutant calls.
fn called(to: &str) -> String {
    if to.contains("whether") {
        "get_whether"
    } else {
        "get_weather"
    }
    .to_owned()
}

/// The schema of a call's tool and its arguments.
fn pair(tools: &[Value], call: &Value) -> Value {
    let function = call.get("function").expect("a function");
    let name = function.get("name");
    let schema = tools.iter().find_map(|tool| {
        let function = tool.get("function")?;
        (function.get("name") == name).then(|| function.get("parameters").cloned())?
    });
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => json::parse(text).unwrap_or(Value::Null),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    // Of a tool that there is not nothing is valid.
    Value::Array(vec![schema.unwrap_or(Value::Bool(false)), arguments])
}

const PAGE: &str = "docs/constrained.md";

fn page() -> String {
    std::fs::read_to_string(root().join(PAGE)).expect("a page")
}

/// Holds the rows of a table to what stands on the page, between two comments; with `OBVERSE_UPDATE` set they are written there. A run over
/// some of the chat templates has some of the rows.
fn hold_rows([begin, end]: [&str; 2], rows: &[String]) {
    let page = page();
    if std::env::var_os("OBVERSE_UPDATE").is_some() {
        let (before, rest) = page.split_once(begin).expect("where the rows begin");
        let (_, after) = rest.split_once(end).expect("where they end");
        let rows = rows.join("\n");
        let page = format!("{before}{begin}{rows}\n{end}{after}");
        std::fs::write(root().join(PAGE), page).expect("written");
        return;
    }
    println!("{}", rows.join("\n"));
    let is_there = |row: &&String| page.lines().any(|line| line == row.as_str());
    let stale: Vec<&str> = rows
        .iter()
        .filter(|row| !is_there(row))
        .map(String::as_str)
        .collect();
    assert!(
        stale.is_empty(),
        "{PAGE} is stale; OBVERSE_UPDATE=1 writes it anew:\n{}",
        stale.join("\n")
    );
}

#[test]
fn the_engines_take_what_is_right_and_refuse_what_is_wrong() {
    let Some(python) = grammar_python() else {
        return;
    };
    let page = page();
    let stale: Vec<String> = FEW
        .iter()
        .map(|name| row(&python, &Subject::new(name), SAMPLES))
        .filter(|row| !page.lines().any(|line| line == row))
        .collect();
    assert!(
        stale.is_empty(),
        "{PAGE} says otherwise:\n{}",
        stale.join("\n")
    );
}

/// Returns true if `OBVERSE_ONLY` is a part of the name, or is not set.
fn is_asked_for(name: &str) -> bool {
    name.contains(&std::env::var("OBVERSE_ONLY").unwrap_or_default())
}

/// The project's own chat templates that are asked for.
fn own_subjects() -> Vec<Subject> {
    let own = derived::all().iter().filter(|one| one.is_own());
    own.filter(|one| is_asked_for(one.stem()))
        .map(|one| Subject::of(one).expect("derived"))
        .collect()
}

/// Every chat template of the project's own. Takes minutes.
#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn the_table_of_all_chat_templates() {
    let Some(python) = grammar_python() else {
        return;
    };
    let rows: Vec<String> = own_subjects()
        .iter()
        .map(|subject| row(&python, subject, SAMPLES))
        .collect();
    hold_rows(["<!-- rows -->\n", "<!-- end -->"], &rows);
}
