//! `obverse convert`: a response schema as a response template, and back.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use obverse::convert::{self, Difference, Report, Sample, SampleOrigin, Tally, Verdict};
use obverse::derive::{self, Derivation, Options};
use obverse::parser::parse_response;
use obverse::response_schema;
use obverse::response_template::{Document as Template, ResponseTemplate, config};
use obverse::value::{Map, Value, json};

use super::mistaken::{chat_template, is_chat_template};
use super::problem::{Document, Problem};
use super::progress::Progress;
use super::quoted::as_argument;
use super::replace::{refuse_protected, refuse_source, replace_or_force};
use super::shape::Shape;
use super::source::SourceArgs;
use super::status::Status;
use super::stop::Stop;
use super::template::{self, Either};
use super::{derive as derive_verb, escape, input, output, wire};

/// Carry a response schema over into a response template, or back
///
/// SCHEMA is a response schema, the older form that transformers ran until 5.14, or a tokenizer_config.json that holds one. Its patterns
/// are taken apart into fields, and every candidate for each is held to samples: responses that are given, responses that the chat template
/// renders, and responses made up of the schema's own patterns. The response template goes to standard output, to standard error a report
/// of what agrees, what cannot be carried over, and the smallest responses on which the two differ. Exit status 1 when not all samples agree.
///
/// With --to response-schema the other way, for those who must stay on transformers 5.0 to 5.14: where a schema can say it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A response schema, or a tokenizer_config.json or model folder that holds one; with --to response-schema a response template
    #[arg(value_name = "SCHEMA")]
    source: PathBuf,

    /// Form to convert it to
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::ResponseTemplate)]
    to: Form,

    /// The chat template: what it renders are samples, it says where the model's turn begins, and what is derived from it is compared
    #[arg(long, value_name = "SOURCE")]
    chat_template: Option<PathBuf>,

    /// Recorded responses: text files, .jsonl files of fixtures, or folders of fixtures
    #[arg(long, value_name = "PATH", num_args = 1..)]
    responses: Vec<PathBuf>,

    /// Write the report as JSON; - writes it to standard output, in the place of the result
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// How to tell the report: human, on standard error; or json, on standard output in the place of the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Shape::Human, hide_possible_values = true, conflicts_with = "report")]
    format: Shape,

    /// Store the result in the tokenizer_config.json, beside the old key, instead of writing it to standard output
    #[arg(long)]
    write: bool,

    /// Write files too that are symbolic links, as in the caches of models, or read-only
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    source_args: SourceArgs,
}

impl Args {
    /// Tells people, unless a program is told the same.
    fn tell(&self, text: &str) {
        if self.format == Shape::Human {
            output::tell(text);
        }
    }
}

/// A value of `--to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A response template
    ResponseTemplate,
    /// A response schema
    ResponseSchema,
}

/// Converts.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    input::one_stdin([Some(args.source.as_path()), args.chat_template.as_deref()])?;
    let opened = template::open_either(&args.source).map_err(|problem| neither(args, problem))?;
    let mut samples = recorded(&args.responses)?;
    let derived = args
        .chat_template
        .as_deref()
        .map(|path| derived(args, path))
        .transpose()?;
    if let Some(derivation) = &derived {
        samples.extend(derivation.cases.iter().map(|case| Sample {
            text: case.response.clone(),
            origin: SampleOrigin::Rendered,
        }));
    }
    match (args.to, opened) {
        (Form::ResponseTemplate, Either::Schema(file, text, loaded)) => {
            let place = Destination::new(args, file, text, loaded.path.steps().is_empty())?;
            forward(args, &loaded, derived.as_ref(), &samples, &place)
        }
        (Form::ResponseSchema, Either::Template(opened)) => {
            let is_alone = opened.loaded.path.steps().is_empty();
            let place = Destination::new(args, opened.file, opened.text, is_alone)?;
            back(args, &opened.loaded.document, &samples, &place)
        }
        (_, Either::Grammar(_)) => Err(wrong("a grammar")),
        (Form::ResponseTemplate, Either::Template(_)) => Err(wrong("a response template already")),
        (Form::ResponseSchema, Either::Schema(..)) => Err(wrong("a response schema already")),
    }
}

/// Rewords the findings for a file that has neither form: it was meant to have the one that is converted.
fn neither(args: &Args, mut problem: Problem) -> Problem {
    let text = problem
        .document
        .as_ref()
        .and_then(|about| about.text.as_deref());
    if text.is_some_and(is_chat_template) {
        let expected = match args.to {
            Form::ResponseTemplate => "a response schema",
            Form::ResponseSchema => "a response template",
        };
        let name = as_argument(&args.source);
        let hint = format!("derive a response template from it: `obverse derive {name}` prints it");
        return chat_template(&args.source, expected, hint);
    }
    for found in &mut problem.diagnostics {
        if found.code == "no-response-template" && args.to == Form::ResponseTemplate {
            found.message = match args.source.is_dir() {
                true => {
                    "the folder's tokenizer_config.json, if it has one, holds no response schema"
                }
                false => {
                    "this is neither a response schema nor a tokenizer_config.json that holds one"
                }
            }
            .to_owned();
            found.hint = Some(
                "a response schema is a JSON schema with `x-regex` and the like: `obverse schema response-schema` describes it"
                    .to_owned(),
            );
        }
    }
    problem
}

fn wrong(what: &str) -> Stop {
    Problem::failed("usage", format!("this is {what}"))
        .with_hint("--to says what to make of it: response-template or response-schema")
        .into()
}

/// The configuration that a result is to be written to.
struct Destination {
    file: PathBuf,
    text: String,
}

impl Destination {
    fn new(args: &Args, file: PathBuf, text: String, is_alone: bool) -> Result<Self, Problem> {
        if args.write {
            if is_alone {
                let message = format!(
                    "{} is no tokenizer_config.json to write to",
                    input::name(&file)
                );
                return Err(Problem::failed("no-config", message)
                    .with_hint("give the tokenizer_config.json or the model folder"));
            }
            refuse_protected(&file, args.force)?;
        }
        Ok(Self { file, text })
    }

    /// Writes the result, or prints it.
    fn store(&self, args: &Args, key: &str, value: &Value, report: &Value) -> Result<(), Stop> {
        if let Some(path) = args.report.as_deref().filter(|path| !input::is_stdin(path)) {
            refuse_source(path, &self.file)?;
            replace_or_force(path, &wire::pretty(report), args.force)?;
        }
        if args.write {
            let written = config::write_member(&self.text, key, value).map_err(|invalid| {
                let document = Document::new(input::name(&self.file), self.text.as_str());
                Problem::all(invalid.into_diagnostics()).about(document)
            })?;
            replace_or_force(&self.file, &written, args.force)?;
            args.tell(&format!("  wrote {}\n", input::name(&self.file)));
        }
        let is_asked = args.format == Shape::Json;
        if is_asked || args.report.as_deref().is_some_and(input::is_stdin) {
            output::print_json(&wire::pretty(report))?;
        } else if !args.write {
            output::print_json(&wire::pretty(value))?;
        }
        Ok(())
    }
}

/// The responses of files and fixtures.
fn recorded(paths: &[PathBuf]) -> Result<Vec<Sample>, Problem> {
    let given = |text: String| Sample {
        text,
        origin: SampleOrigin::Given,
    };
    let mut samples = Vec::new();
    for path in paths {
        let is_fixtures = path.is_dir()
            || path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
        if !is_fixtures {
            samples.push(given(input::read_text(path)?));
            continue;
        }
        let found = input::find_fixtures(path)?;
        if found.is_empty() {
            let message = format!("there is no fixture in {}", input::name(path));
            return Err(Problem::failed("no-fixture", message).with_hint(
                "a fixture is a folder with a response.txt, or a line of a .jsonl file; other files are responses themselves",
            ));
        }
        for fixture in found {
            let fixture = fixture
                .read()
                .map_err(|error| input::fixture_problem(&error))?;
            samples.push(given(fixture.response));
        }
    }
    Ok(samples)
}

fn derived(args: &Args, path: &Path) -> Result<Derivation, Problem> {
    let opened = args.source_args.open(path)?;
    let options = Options::default().clock(args.source_args.date);
    let derive = || derive::derive(&opened.source, &options);
    Progress::during(&input::name(&opened.source.path), derive)
        .map_err(|error| derive_verb::derive_problem(&error, &opened))
}

fn forward(
    args: &Args,
    loaded: &response_schema::Loaded,
    derived: Option<&Derivation>,
    samples: &[Sample],
    place: &Destination,
) -> Result<Status, Stop> {
    let anchor = derived.map(|derivation| derivation.document.start_anchor.clone());
    let conversion = convert::to_template(&loaded.schema, anchor, samples);
    let report = &conversion.report;
    let mut told = human(report);
    let mut written = wire::reported("the report", report)?;
    if derived.is_none() {
        told.push_str(
            "  note: a schema does not say where the model's turn begins, so nothing of a prefix is read; --chat-template tells it\n",
        );
    }
    if let Some(derivation) = derived {
        let differs = first_difference(&conversion.document, derivation);
        told.push_str(&match &differs {
            None => {
                "  derived: what is derived from the chat template parses all its renders alike\n"
                    .to_owned()
            }
            Some(difference) => format!(
                "  derived: what is derived from the chat template differs\n{}",
                shown(difference, "converted", "derived")
            ),
        });
        if let Value::Object(members) = &mut written {
            let value = differs
                .as_ref()
                .map(|difference| wire::reported("the difference", difference));
            members.insert("derived", value.transpose()?.unwrap_or_default());
        }
    }
    let document = conversion.document.to_value();
    let store = || place.store(args, config::KEY, &document, &written);
    output::told_beside(|| args.tell(&told), store)?;
    Ok(match report.verdict {
        Verdict::Proved => Status::Done,
        _ => Status::Found,
    })
}

/// The first message that tells what was converted from what was derived.
fn first_difference(document: &Template, derivation: &Derivation) -> Option<Difference> {
    let compile = |document: &Template| {
        ResponseTemplate::from_value(&document.to_value())
            .ok()
            .map(std::sync::Arc::new)
    };
    let (ours, theirs) = (compile(document)?, compile(&derivation.document)?);
    let parse = |template: &std::sync::Arc<ResponseTemplate>, text: &str| {
        parse_response(text, std::sync::Arc::clone(template), "", &[]).map_or_else(
            |error| Err(error.to_string()),
            |message| Ok(Value::Object(message)),
        )
    };
    let spell = |parsed: Result<Value, String>| {
        parsed.map_or_else(|error| error, |value| json::to_string(&value))
    };
    let mut cases: Vec<&derive::Case> = derivation.cases.iter().collect();
    cases.sort_by_key(|case| case.response.len());
    cases.into_iter().find_map(|case| {
        let (one, other) = (parse(&ours, &case.response), parse(&theirs, &case.response));
        (one != other).then(|| {
            let response = case.response.clone();
            Difference::new(SampleOrigin::Rendered, response, spell(one), spell(other))
        })
    })
}

fn back(
    args: &Args,
    document: &Value,
    samples: &[Sample],
    place: &Destination,
) -> Result<Status, Stop> {
    let template = Template::of(document).ok_or_else(|| {
        Problem::failed(
            "no-response-template",
            "the document cannot be read field by field",
        )
    })?;
    let found = convert::to_schema(&template, samples).map_err(|refused| {
        Problem::failed(
            "inexpressible",
            format!("no response schema does the same: {refused}"),
        )
        .with_status(Status::Found)
    })?;
    let mut told = format!(
        "  {}: {}\n",
        if found.is_proved() {
            "proved"
        } else {
            "not proved"
        },
        tallies(&found.samples)
    );
    for difference in &found.differences {
        told.push_str(&shown(difference, "schema", "template"));
    }
    let report = Value::Object(Map::from([
        ("proved", Value::Bool(found.is_proved())),
        ("samples", wire::reported("the report", &found.samples)?),
        (
            "differences",
            wire::reported("the report", &found.differences)?,
        ),
    ]));
    let store = || place.store(args, response_schema::KEY, &found.document, &report);
    output::told_beside(|| args.tell(&told), store)?;
    Ok(if found.is_proved() {
        Status::Done
    } else {
        Status::Found
    })
}

/// The report for people.
fn human(report: &Report) -> String {
    let verdict = match report.verdict {
        Verdict::Proved => "proved",
        Verdict::ProvedInPart => "proved in part",
        Verdict::Inexpressible => "inexpressible",
        _ => "not proved",
    };
    let mut out = format!("  {verdict}: {}\n", tallies(&report.samples));
    for finding in &report.findings {
        out.push_str(&format!(
            "  {}: {} ({})\n",
            finding.code,
            escape::line(&finding.message),
            escape::line(&finding.path.to_string())
        ));
    }
    if report.left_out > 0 {
        out.push_str(&format!(
            "  note: the {} ways to write it were held to the shortest samples, as far as they make {} MiB together; {} longer ones were held to the best alone\n",
            report.candidates,
            convert::CHOSEN_BY >> 20,
            report.left_out
        ));
    }
    for difference in &report.differences {
        out.push_str(&shown(difference, "schema", "template"));
    }
    out
}

fn tallies(samples: &[Tally]) -> String {
    if samples.is_empty() {
        return "there are no samples".to_owned();
    }
    let each = samples.iter().map(|tally| {
        let what = match tally.origin {
            SampleOrigin::Given => "given",
            SampleOrigin::Rendered => "rendered",
            SampleOrigin::Generated => "made of its patterns",
            _ => "beyond them",
        };
        format!("{} of {} {what}", tally.agree, tally.tried)
    });
    format!("{} agree", each.collect::<Vec<_>>().join(", "))
}

/// How many characters of a value are shown.
const SHOWN: usize = 300;

fn shown(difference: &Difference, one: &str, other: &str) -> String {
    let width = one.len().max(other.len()).max("response".len());
    let mut out = String::from("  differs\n");
    for (name, text) in [
        ("response", json::quote(&difference.response)),
        (one, difference.schema.clone()),
        (other, difference.template.clone()),
    ] {
        out.push_str(&format!(
            "    {name:<width$}  {}\n",
            escape::short(&text, SHOWN)
        ));
    }
    out
}
