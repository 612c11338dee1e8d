//! Grammars of a response template alone, with no chat template beside it.
//!
//! *Everything that is allowed is right*: texts sampled from the grammar are read by the response template to a message with nothing left
//! over, whose calls fit the tools' schemas, and by the PEG to that same message.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use obverse::grammar::{Grammar, Request, Sampler, ToolChoice, WrittenFormat};
use obverse::parser::ResponseParser;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

use crate::constrained::{TOOLS, difference, fault, peg};
use crate::support::cores;

/// How many texts are sampled of each grammar.
const SAMPLES: u64 = 40;

/// Response templates as people write them: calls as JSON beside texts that are kept once, lines with a blank behind the sign, lines with
/// JSON in them, a list of calls, a field that a message must have.
const WRITTEN: [(&str, &str); 5] = [
    (
        "once",
        r#"{"start_anchor": "A:", "fields": {"thinking": {"open": "<think>", "close": "</think>"},
          "tool_calls": {"open": "<tool_call>", "close": "</tool_call>", "repeats": true, "content": "json",
            "transform": {"type": "function", "function": "{content}"}}, "content": {"close": "<|im_end|>"}}}"#,
    ),
    (
        "lines",
        r#"{"start_anchor": "A:", "fields": {"tool_calls": {"open_pattern": "<call=(?P<name>\\w+)>", "close": "</call>", "repeats": true,
          "content": "kv-lines", "content_args": {"kv_sep": "="},
          "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}, "content": {}}}"#,
    ),
    (
        "lines_of_json",
        r#"{"start_anchor": "A:", "fields": {"tool_calls": {"open_pattern": "call (?P<name>\\w+)\n", "close": "\n.\n", "repeats": true,
          "content": "kv-lines", "content_args": {"value_parser": {"name": "json"}},
          "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}}}"#,
    ),
    (
        "listed",
        r#"{"start_anchor": "A:", "fields": {"tool_calls": {"open": "<|ACTION|>", "close": "<|END|>", "content": "json", "transform_each": true,
          "transform": {"type": "function", "function": {"name": "{tool_name}", "arguments": "{parameters}"}}}}}"#,
    ),
    (
        "required",
        r#"{"start_anchor": "A:", "fields": {"content": {}, "verdict": {"open": "<v>", "close": "</v>", "optional": false}}}"#,
    ),
];

struct Subject {
    name: String,
    template: Arc<ResponseTemplate>,
    written: WrittenFormat,
}

impl Subject {
    fn new(name: &str, text: &str) -> Self {
        let template = ResponseTemplate::from_json(text).expect("a response template");
        Self {
            name: name.to_owned(),
            written: WrittenFormat::from_template(&template, &[]),
            template: Arc::new(template),
        }
    }

    fn written(name: &str) -> Self {
        let (_, text) = WRITTEN
            .iter()
            .find(|(known, _)| *known == name)
            .expect("a response template of that name");
        Self::new(name, text)
    }

    fn has_calls(&self) -> bool {
        self.template.field("tool_calls").is_some()
    }

    fn grammar(&self, choice: ToolChoice) -> Grammar {
        let request = Request::default().tools(tools()).tool_choice(choice);
        let grammar = self.written.grammar(&request);
        grammar.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    fn read(&self, text: &str) -> Result<(Map, Vec<String>), String> {
        let failed = |error: obverse::parser::ParseError| error.to_string();
        let template = Arc::clone(&self.template);
        let mut parser = ResponseParser::new(template, "", &tools()).map_err(failed)?;
        parser.feed(text).map_err(failed)?;
        let (message, _) = parser.finalize().map_err(failed)?;
        let left = parser.unclaimed().iter();
        let left = left.map(|one| one.text.trim().to_owned());
        Ok((message, left.filter(|text| !text.is_empty()).collect()))
    }

    /// The samples that the response template reads wrong, and those that the PEG reads otherwise.
    fn samples(&self, choice: ToolChoice) -> [Vec<String>; 2] {
        let is_call = choice == ToolChoice::Required;
        let grammar = self.grammar(choice);
        let mut sampler = Sampler::new(&grammar);
        let peg = peg(&grammar);
        let mut wrong = [Vec::new(), Vec::new()];
        for seed in 0..SAMPLES {
            let text = sampler.sample(seed);
            let read = self.read(&text);
            let why = match &read {
                Ok((message, left)) if left.is_empty() => fault(message, &tools(), is_call),
                Ok((_, left)) => Some(format!("left over: {left:?}")),
                Err(error) => Some(error.clone()),
            };
            if let Some(why) = why {
                wrong[0].push(format!("{}: {why}", json::quote(&text)));
            }
            wrong[1].extend(difference(&read, &peg, &text));
        }
        wrong
    }
}

fn tools() -> Vec<Value> {
    let tools = json::parse(TOOLS).expect("JSON");
    tools.as_array().expect("a list").to_vec()
}

/// How many samples of response templates that were derived the response template reads wrong, and the PEG otherwise.
const KNOWN: &[(&str, [usize; 2])] = &[
    // A text that ends with a blank: the PEG reads the blank, the response template strips it.
    ("lines", [0, 3]),
    // A close of the implicit field in the middle of a text is left out, and so are other closes that depend on what stands around them.
    ("command_r_plus", [0, 4]),
    ("lfm2_5", [0, 12]),
    // The recipient is any name, which what follows tells from a function's.
    ("muse_glimmer", [0, 5]),
    // A text of a line feed alone, which belongs to what closes it.
    ("qwen3_coder", [0, 1]),
];

#[test]
fn what_a_response_template_alone_allows_is_right() {
    let mut subjects: Vec<Subject> = WRITTEN
        .iter()
        .map(|(name, text)| Subject::new(name, text))
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("derived");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("the derived templates")
        .filter_map(|entry| entry.expect("a file").file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| !name.ends_with(".report"))
        .collect();
    names.sort_unstable();
    for name in names {
        let text = fs::read_to_string(folder.join(format!("{name}.json"))).expect("a template");
        subjects.push(Subject::new(&name, &text));
    }
    let subjects: Vec<&Subject> = subjects.iter().collect();
    let found = cores::each(&subjects, |subject| {
        let left_out: Vec<String> = subject.written.left_out().collect();
        if subject.has_calls() && left_out.iter().any(|text| text.contains("tool_calls")) {
            return [
                left_out.iter().map(|text| (*text).to_owned()).collect(),
                Vec::new(),
            ];
        }
        let choice = if subject.has_calls() {
            ToolChoice::Required
        } else {
            ToolChoice::Auto
        };
        subject.samples(choice)
    });
    let mut surprises = Vec::new();
    for (subject, found) in subjects.iter().zip(found) {
        let known = KNOWN.iter().find(|(known, _)| *known == subject.name);
        let known = known.map_or([0; 2], |(_, known)| *known);
        let counts = found.each_ref().map(Vec::len);
        if counts != known {
            let shortest = found
                .iter()
                .filter_map(|wrong| wrong.iter().min_by_key(|text| text.len()));
            let shortest: Vec<&str> = shortest.map(String::as_str).collect();
            let shortest = shortest.join("\n  ");
            surprises.push(format!("(\"{}\", {counts:?}),\n  {shortest}", subject.name));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// Which texts a grammar allows is seen by its PEG.
fn allows(subject: &Subject, texts: &[(&str, bool)]) {
    let peg = peg(&subject.grammar(ToolChoice::Auto));
    for (text, is_allowed) in texts {
        let read = obverse::grammar::reader::read(text, &peg);
        assert_eq!(
            read.is_ok(),
            *is_allowed,
            "{}: {text:?}: {read:?}",
            subject.name
        );
    }
}

#[test]
fn white_space_may_stand_where_the_response_template_reads_it() {
    let call = "{\"name\": \"ping\", \"arguments\": {}}";
    let twice = format!("<tool_call>\n{call}\n</tool_call>\n<tool_call>\n{call}\n</tool_call>");
    let with_text =
        format!("<think>\nHm.\n</think>\n\nHello.<tool_call>{call}</tool_call><|im_end|>");
    // The line feed between calls would take the place of the text before them, which is kept once.
    let lost = format!("Hello.{twice}");
    let texts = [
        (twice.as_str(), true),
        (&with_text, true),
        (&lost, false),
        ("Hello.", true),
        ("<think>Hm.", false),
        (
            "<tool_call>{\"name\": \"pong\", \"arguments\": {}}</tool_call>",
            false,
        ),
    ];
    allows(&Subject::written("once"), &texts);
}

#[test]
fn arguments_stand_one_a_line() {
    let texts = [
        ("<call=get_weather>\ncity= New York\ndays=3\n</call>", true),
        (
            "<call=get_weather>city=Rome\ndays=3</call><call=ping></call>",
            true,
        ),
        ("<call=get_weather>city=Rome\ndays=soon</call>", false),
        ("<call=get_weather>city=Rome</call>", false),
        ("<call=get_weather>city=Rome days=3</call>", false),
    ];
    allows(&Subject::written("lines"), &texts);
    let texts = [
        ("call book\nseats: [1, 2]\nvip: true\n.\n", true),
        ("call book\nseats: [1,\n 2]\n.\n", false),
    ];
    allows(&Subject::written("lines_of_json"), &texts);
}

#[test]
fn a_field_that_a_message_must_have_is_asked_for() {
    let texts = [
        ("<v>good</v>", true),
        ("Hm.<v>good</v>", true),
        ("Hm.", false),
    ];
    allows(&Subject::written("required"), &texts);
}

/// What a field without a name for the tool lacks is told, and the rest of the response template has a grammar all the same.
#[test]
fn what_cannot_be_made_up_is_told() {
    let text = r#"{"start_anchor": "A:", "fields": {"content": {}, "tool_calls": {"open": "<c>", "close": "</c>", "content": "json",
        "repeats": true, "transform": {"function": {"arguments": "{content}"}}}}}"#;
    let subject = Subject::new("nameless", text);
    let told: Vec<String> = subject.written.left_out().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("name of a tool"), "{told:?}");
    allows(&subject, &[("Hello.", true)]);
}
