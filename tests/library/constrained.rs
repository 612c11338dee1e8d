//! Grammars of what a model may write, held against the response templates that they are made of.
//!
//! *Everything that is right is read*: each response that the verification of a derivation rendered is read by the grammar's PEG to the
//! message that the response template reads. *Everything that is allowed is right*: texts sampled from the grammar are
//! read by the response template to a message with no text left over, whose calls fit the tools' schemas, and by the PEG to
//! that same message. What the engines say of the other languages is held by `tests/reference/grammar`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use obverse::derive::Case;
use obverse::grammar::emit::Language;
use obverse::grammar::reader::{self, Template};
use obverse::grammar::{Grammar, Request, Sampler, StrictReader, ToolChoice, WrittenFormat};
use obverse::parser::ResponseParser;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Integer, Map, Value, json};

use crate::support::derived::{self, Derived};
use crate::support::{cores, schema};

/// Chat templates of three kinds, tried each time: calls as JSON, calls in tags, and calls of values that are written otherwise than in JSON.
pub(crate) const FEW: [&str; 3] = ["qwen3", "qwen3_coder", "gemma4"];

/// How many texts are sampled each time, and how many at length.
const SAMPLES: [u64; 2] = [40, 1_000];

/// How many falling short is known of: renders that the PEG does not read to their message, samples that the response template does
/// not read to a message that is right, and samples that the PEG does not read to the message of the response template.
pub(crate) const KNOWN: &[(&str, [usize; 3])] = &[
    // A text between single quotes in which a single quote stands.
    ("lfm2_5", [21, 0, 0]),
    ("llamacpp/LFM2.5-8B-A1B.jinja", [21, 0, 0]),
    ("trl/lfm2_2_5.jinja", [21, 0, 0]),
    ("trl/lfm2_2_5_v2.jinja", [21, 0, 0]),
    // Calls with a line end where other renders have none.
    ("minimax_m3", [8, 0, 0]),
    ("llamacpp/MiniMax-M3.jinja", [8, 0, 0]),
    // A call without an id, which is written as an empty text where a kwarg asks for the ids of messages.
    ("cohere2_moe", [2, 0, 0]),
    ("llamacpp/Cohere2MoE.jinja", [2, 0, 0]),
    // A message to a recipient begins as a call does, and is left out.
    ("muse_glimmer", [7, 0, 0]),
    ("llamacpp/muse-glimmer.jinja", [7, 0, 0]),
    ("trl/muse_glimmer.jinja", [7, 0, 0]),
    ("trl/muse_glimmer_training.jinja", [7, 0, 0]),
];

/// The tools of which calls are sampled.
pub(crate) const TOOLS: &str = r#"[
  {"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": {"type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"type": "string", "enum": ["C", "F"]}},
    "required": ["city", "days"]}}},
  {"type": "function", "function": {"name": "book", "description": "Books.", "parameters": {"type": "object",
    "properties": {"seats": {"type": "array", "items": {"type": "integer"}}, "price": {"type": "number"},
      "options": {"type": "object", "properties": {"window": {"type": "boolean"}}, "required": ["window"]},
      "vip": {"type": "boolean"}}, "required": ["seats"]}}},
  {"type": "function", "function": {"name": "ping", "description": "Pings.", "parameters": {"type": "object", "properties": {}}}}
]"#;

/// A chat template's derivation, and how its format is written.
pub(crate) struct Subject<'d> {
    derived: &'d Derived,
    pub(crate) template: Arc<ResponseTemplate>,
    written: WrittenFormat,
}

impl<'d> Subject<'d> {
    pub(crate) fn new(derived: &'d Derived) -> Self {
        let derivation = derived.expect();
        let template = ResponseTemplate::from_value(&derivation.document.to_value());
        let template = Arc::new(template.expect("a response template"));
        let ends = &derived.source.tokens.end;
        let written = WrittenFormat::new(&template, &derivation.cases, ends);
        Self {
            derived,
            template,
            written,
        }
    }

    pub(crate) fn cases(&self) -> &'d [Case] {
        &self.derived.expect().cases
    }

    pub(crate) fn grammar(&self, prefix: &str, tools: &[Value], choice: ToolChoice) -> Grammar {
        let request = Request::default()
            .prefix(prefix)
            .tools(tools.to_vec())
            .tool_choice(choice);
        let grammar = self.written.grammar(&request);
        grammar.unwrap_or_else(|error| panic!("{}: {error}", self.derived.name))
    }

    /// The message of a response, and the text that goes to no field.
    pub(crate) fn read(
        &self,
        prefix: &str,
        text: &str,
        tools: &[Value],
    ) -> Result<(Map, Vec<String>), String> {
        let failed = |error: obverse::parser::ParseError| error.to_string();
        let template = Arc::clone(&self.template);
        let mut parser = ResponseParser::new(template, prefix, tools).map_err(failed)?;
        parser.feed(text).map_err(failed)?;
        let (message, _) = parser.finalize().map_err(failed)?;
        let left = parser.unclaimed().iter();
        let left = left.map(|one| one.text.trim().to_owned());
        Ok((message, left.filter(|text| !text.is_empty()).collect()))
    }

    /// The renders that the PEG does not read to their message.
    fn renders(&self) -> Vec<String> {
        let mut groups: BTreeMap<(&str, String), Vec<&Case>> = BTreeMap::new();
        for case in self.cases() {
            let before = self.template.after_last_anchor(&case.prefix);
            let tools = json::to_string(&Value::Array(case.tools.clone()));
            let group = groups.entry((before.expect("an anchor"), tools));
            group.or_default().push(case);
        }
        let mut wrong = Vec::new();
        for cases in groups.values() {
            let (prefix, tools) = (&cases[0].prefix, &cases[0].tools);
            let peg = peg(&self.grammar(prefix, tools, ToolChoice::Auto));
            for case in cases {
                let expected = self.read(&case.prefix, &case.response, &case.tools);
                wrong.extend(difference(&expected, &peg, &case.response));
            }
        }
        wrong
    }

    /// The samples that the response template does not read to a message that is right, and those that the PEG does not read to the
    /// message of the response template.
    fn samples(&self, count: u64) -> [Vec<String>; 2] {
        let calling = self
            .cases()
            .iter()
            .find(|case| case.message.get("tool_calls").is_some());
        // What the renders leave over, such as what separates calls, may be left over.
        let over: BTreeSet<String> = self
            .cases()
            .iter()
            .filter_map(|case| self.read(&case.prefix, &case.response, &case.tools).ok())
            .flat_map(|(_, left)| left)
            .collect();
        let case = calling.or(self.cases().first()).expect("a case");
        let tools = match calling {
            Some(_) => json::parse(TOOLS).expect("JSON"),
            None => Value::Array(Vec::new()),
        };
        let tools = tools.as_array().expect("a list");
        let choices = match calling {
            Some(_) => &[ToolChoice::Auto, ToolChoice::Required][..],
            None => &[ToolChoice::Auto],
        };
        let mut wrong = [Vec::new(), Vec::new()];
        for choice in choices {
            let grammar = self.grammar(&case.prefix, tools, choice.clone());
            let peg = peg(&grammar);
            let mut sampler = Sampler::new(&grammar);
            for seed in 0..count / choices.len() as u64 {
                let text = sampler.sample(seed);
                let read = self.read(&case.prefix, &text, tools);
                let is_call = *choice == ToolChoice::Required;
                let fault = match &read {
                    Ok((message, left)) => fault(message, tools, is_call).or_else(|| {
                        let left = left.iter().find(|text| !over.contains(*text))?;
                        Some(format!("{left} is left over"))
                    }),
                    Err(error) => Some(error.clone()),
                };
                if let Some(fault) = fault {
                    wrong[0].push(format!("{}: {fault}", json::quote(&text)));
                }
                wrong[1].extend(difference(&read, &peg, &text));
            }
        }
        wrong
    }
}

pub(crate) fn peg(grammar: &Grammar) -> Template {
    let text = grammar.write(Language::Peg).text;
    Template::from_json(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Says how the PEG reads a text otherwise than the response template does; nothing where that does not read it at all.
pub(crate) fn difference(
    expected: &Result<(Map, Vec<String>), String>,
    peg: &Template,
    text: &str,
) -> Option<String> {
    let (expected, _) = expected.as_ref().ok()?;
    // A reader of a PEG knows no texts but the content and the reasoning, and leaves out what stands under a further key.
    let mut expected = expected.clone();
    expected.retain(|key, _| key != "recipient");
    let expected = &expected;
    let text_of = |map: &Map| json::to_string(&Value::Object(map.clone()));
    match reader::read(text, peg) {
        Ok(message) if comparable(&message) == comparable(expected) => None,
        Ok(message) => Some(format!(
            "{}\n   the PEG reads {}\n   and not       {}",
            json::quote(text),
            text_of(&message),
            text_of(expected)
        )),
        Err(error) => Some(format!("{}: {error}", json::quote(text))),
    }
}

/// The message with its numbers as doubles: a response template reads an argument of type `number` through one, and so loses digits and
/// how it was written.
fn comparable(message: &Map) -> Value {
    fn each(value: &Value) -> Value {
        match value {
            Value::Int(number) => number.to_string().parse().map_or(Value::Null, Value::Float),
            // Minus nothing is nothing.
            Value::Float(number) if *number == 0.0 => Value::Float(0.0),
            Value::Array(items) => Value::Array(items.iter().map(each).collect()),
            Value::Object(members) => {
                let members = members.iter();
                Value::Object(
                    members
                        .map(|(key, value)| (key.to_string(), each(value)))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }
    each(&Value::Object(message.clone()))
}

/// What is wrong with the calls of a message.
pub(crate) fn fault(message: &Map, tools: &[Value], is_call: bool) -> Option<String> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    if is_call && calls.is_none_or(<[Value]>::is_empty) {
        return Some("there is no call".to_owned());
    }
    calls.unwrap_or_default().iter().find_map(|call| {
        let Some(function) = call.get("function") else {
            return Some("a call of nothing".to_owned());
        };
        let named = |tool: &&Value| {
            tool.get("function").and_then(|tool| tool.get("name")) == function.get("name")
        };
        let Some(tool) = tools.iter().find(named) else {
            return Some("a call of no tool that there is".to_owned());
        };
        let asked = tool.get("function")?.get("parameters")?;
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => json::parse(text).unwrap_or_default(),
            Some(other) => other.clone(),
            None => Value::Null,
        };
        let plain = |value: &Value| -> serde_json::Value {
            serde_json::from_str(&json::to_string(value)).expect("JSON")
        };
        schema::mismatch(&plain(asked), &plain(&small(&arguments)))
    })
}

/// The value with whole numbers that fit into 64 bits: the others are whole, too, but the validator does not see it.
fn small(value: &Value) -> Value {
    match value {
        Value::Int(number) if number.to_string().parse::<i64>().is_err() => {
            Value::Int(Integer::from(0))
        }
        Value::Array(items) => Value::Array(items.iter().map(small).collect()),
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(key, value)| (key.to_string(), small(value)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// What falls short otherwise than is known.
fn surprises(subjects: &[&Derived], count: u64, known: &[(&str, [usize; 3])]) -> Vec<String> {
    let found = cores::each(subjects, |derived| {
        let subject = Subject::new(derived);
        let renders = subject.renders();
        let [wrong, other] = subject.samples(count);
        [renders, wrong, other]
    });
    let mut surprises = Vec::new();
    for (derived, found) in subjects.iter().zip(found) {
        let name = derived.known_as();
        let known = known.iter().find(|(known, _)| *known == name);
        let known = known.map_or([0; 3], |(_, known)| *known);
        let counts = found.each_ref().map(Vec::len);
        if counts != known {
            let examples = found
                .iter()
                .filter_map(|wrong| wrong.iter().min_by_key(|text| text.len()));
            let examples: Vec<&str> = examples.map(String::as_str).collect();
            surprises.push(format!(
                "(\"{name}\", {counts:?}), known are {known:?}:\n  {}",
                examples.join("\n  ")
            ));
        }
    }
    surprises
}

#[test]
fn what_may_be_written_is_read_to_one_message() {
    let subjects = derived::own_named(&FEW);
    let subjects: Vec<&Derived> = subjects.iter().collect();
    let surprises = surprises(&subjects, SAMPLES[0], &[]);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
#[ignore = "all chat templates with a thousand texts each; `.ci/run` runs it"]
fn what_may_be_written_is_read_to_one_message_at_length() {
    let subjects: Vec<&Derived> = derived::all()
        .iter()
        .filter(|one| one.outcome.is_ok())
        .collect();
    let surprises = surprises(&subjects, SAMPLES[1], KNOWN);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// How many messages the grammar that reads any tool does not bring back. Command R+ breaks lines of arguments at line separators, so
/// that their text is not that of the message; the others have messages to a recipient, which a grammar leaves out.
const LOST: &[(&str, usize)] = &[
    // A call without an id, as above.
    ("cohere2_moe", 2),
    ("llamacpp/Cohere2MoE.jinja", 2),
    ("command_r_plus", 2),
    ("llamacpp/CohereForAI-c4ai-command-r-plus-tool_use.jinja", 2),
    ("muse_glimmer", 7),
    ("llamacpp/muse-glimmer.jinja", 7),
    ("trl/muse_glimmer.jinja", 7),
    ("trl/muse_glimmer_training.jinja", 7),
];

/// The chat templates of which the grammar does not bring back as many messages as is known.
fn lost(subjects: &[&Derived]) -> Vec<String> {
    let found = cores::each(subjects, |derived| {
        let reader = StrictReader::of(derived.expect()).expect("a reader");
        assert_eq!(
            reader.of - reader.read,
            reader.missed.len(),
            "{}",
            derived.name
        );
        reader.missed.len()
    });
    let subjects = subjects.iter().zip(found);
    let known = |name: &str| {
        LOST.iter()
            .find(|(known, _)| *known == name)
            .map_or(0, |(_, count)| *count)
    };
    let other = subjects.filter(|(derived, count)| *count != known(derived.known_as()));
    other
        .map(|(derived, count)| format!("{}: {count} are lost", derived.known_as()))
        .collect()
}

#[test]
fn the_grammar_reads_what_a_response_template_misses() {
    let subjects = derived::own_named(&["gemma4", "lfm2_5", "minicpm5"]);
    let subjects: Vec<&Derived> = subjects.iter().collect();
    for derived in &subjects {
        assert!(
            !derived.expect().missed.is_empty(),
            "{} misses some",
            derived.name
        );
    }
    assert_eq!(lost(&subjects), Vec::<String>::new());
}

#[test]
#[ignore = "all chat templates; `.ci/run` runs it"]
fn the_grammar_reads_calls_of_any_tool_at_length() {
    let subjects: Vec<&Derived> = derived::all()
        .iter()
        .filter(|one| one.outcome.is_ok())
        .collect();
    assert!(subjects.len() > 60, "there are our own at least");
    assert_eq!(lost(&subjects), Vec::<String>::new());
}

/// A chat template whose calls are closed with their name.
const CLOSED_BY_NAME: &str = r#"{%- for m in messages -%}
<{{ m.role }}>{{ m.content or "" }}
{%- for c in m.tool_calls or [] -%}[do {{ c.function.name }} as {{ c.id }}]{{ c.function.arguments | tojson }}[done {{ c.function.name }}]{%- endfor -%}
<end>
{%- endfor -%}
{%- if tools -%}<tools>{{ tools | tojson }}<end>{%- endif -%}
{%- if add_generation_prompt -%}<assistant>{%- endif -%}"#;

/// What closes a call may have its name in it once more. It is the call's, and not one of the calls that were rendered.
#[test]
fn what_closes_a_call_has_its_own_name() {
    let source = obverse::chat_template::from_text("it", CLOSED_BY_NAME).expect("a template");
    let derivation = obverse::derive::derive(&source, &obverse::derive::Options::default());
    let derivation = derivation.expect("a derivation");
    let template = ResponseTemplate::from_value(&derivation.document.to_value());
    let template = Arc::new(template.expect("a response template"));
    let written = WrittenFormat::new(&template, &derivation.cases, &[]);
    let tools = json::parse(TOOLS).expect("JSON");
    let request = Request::default().tools(tools.as_array().expect("a list").to_vec());
    let grammar = written.grammar(&request.prefix("<user>Hi<end><assistant>".to_owned()));
    let grammar = grammar.expect("a grammar");
    let allows = |close: &str| {
        let response = format!("[do ping as call_7]{{}}[done {close}]<end>");
        obverse::grammar::Acceptor::new(&grammar)
            .feed(&response)
            .is_ok()
    };
    assert!(allows("ping"));
    assert!(!allows("book"));
    assert!(!allows("count_sparrows"));
}
