//! `--responses`: what models wrote, read from wherever it is kept, and kept as fixtures.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use obverse::chat_template::{ChatTemplateSource, Clock};
use obverse::check::{self, Fixture, Prompt};
use obverse::derive::{Derivation, Recorded, Report, Responses};
use obverse::response_template::ResponseTemplate;
use obverse::value::Value;

use crate::cli::color::{DIM, GREEN, YELLOW, paint};
use crate::cli::problem::Problem;
use crate::cli::{escape, input};

/// How many responses are named where several taught the same.
const NAMED: usize = 3;

/// How many characters are shown of the reason why a response is not read right; it quotes the response.
const SHOWN: usize = 400;

/// Responses that were recorded, and the tools of those that name none.
#[derive(Debug, clap::Args)]
pub(crate) struct ResponsesArgs {
    /// Learn from what models wrote, too: text files, .jsonl files, fixtures, folders of these; may be given several times
    #[arg(long, value_name = "PATH", num_args = 1..)]
    responses: Vec<PathBuf>,

    /// The tools that the models could call where a response does not say: a JSON list of their schemas
    #[arg(long, value_name = "FILE", requires = "responses")]
    tools: Option<PathBuf>,

    /// Keep the responses that are read right as fixtures, each in a folder of its own
    #[arg(long, value_name = "DIR", requires = "responses")]
    keep: Option<PathBuf>,
}

impl ResponsesArgs {
    /// All responses, in the order in which they were given.
    ///
    /// # Errors
    ///
    /// That a file cannot be read or is no response, that a prompt cannot be rendered, and that there is none.
    pub(super) fn read(
        &self,
        chat: &ChatTemplateSource,
        clock: Option<Clock>,
    ) -> Result<Vec<Recorded>, Problem> {
        let tools = match &self.tools {
            Some(path) => input::read_list(path, "the tools")?,
            None => Vec::new(),
        };
        let mut all = Vec::new();
        for path in &self.responses {
            let before = all.len();
            for (name, fixture) in fixtures(path)? {
                all.push(recorded(name, fixture, chat, clock, &tools)?);
            }
            if all.len() == before {
                let message = format!("there is no response in {}", input::name(path));
                let hint = "give text files, .jsonl files with a response on each line, fixtures, or folders of these";
                return Err(Problem::failed("no-responses", message).with_hint(hint));
            }
        }
        Ok(all)
    }

    /// Writes the responses that are read right as fixtures. Returns the folders.
    ///
    /// # Errors
    ///
    /// That a file cannot be written, and that a fixture is there already.
    pub(super) fn keep(&self, derivation: &Derivation) -> Result<Vec<PathBuf>, Problem> {
        let Some(folder) = &self.keep else {
            return Ok(Vec::new());
        };
        let document = derivation.document.to_value();
        let template = ResponseTemplate::from_value(&document).map(Arc::new);
        let mut kept = Vec::new();
        for (name, case) in &derivation.responses {
            let path = folder.join(slug(name));
            if path.exists() {
                let message = format!("{} is there already", input::name(&path));
                let hint = "remove it, or keep the responses elsewhere";
                return Err(Problem::failed("exists", message).with_hint(hint));
            }
            let fixture = Fixture {
                response: case.response.clone(),
                prompt: match case.prefix.as_str() {
                    "" => Prompt::Untold,
                    prefix => Prompt::Text(prefix.to_owned()),
                },
                tools: case.tools.clone(),
                expected: Some(case.message.clone()),
                // A message may be right although some text of the response goes to no field.
                unclaimed: template.as_ref().map_or_else(
                    |_| Vec::new(),
                    |template| {
                        let setting = check::Setting::new(template, &case.prefix, &case.tools);
                        let whole = setting.replay([case.response.as_str()]);
                        whole.unclaimed.into_iter().map(|lost| lost.text).collect()
                    },
                ),
                ..Fixture::default()
            };
            fixture
                .write(&path)
                .map_err(|error| input::fixture_problem(&error))?;
            kept.push(path);
        }
        Ok(kept)
    }
}

/// The responses at a path, each with its name.
fn fixtures(path: &Path) -> Result<Vec<(String, Fixture)>, Problem> {
    let text = |path: &Path| -> Result<(String, Fixture), Problem> {
        let response = input::read_text(path)?;
        let fixture = Fixture {
            response,
            ..Fixture::default()
        };
        Ok((input::name(path), fixture))
    };
    if !path.is_dir() && !check::is_suite_path(path) {
        return Ok(vec![text(path)?]);
    }
    let found = input::find_fixtures(path)?;
    let mut all = Vec::new();
    for found in found {
        let fixture = found
            .read()
            .map_err(|error| input::fixture_problem(&error))?;
        all.push((found.name, fixture));
    }
    if all.is_empty() && path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| input::unreadable(path, &error))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "txt"));
        files.sort();
        for file in files {
            all.push(text(&file)?);
        }
    }
    Ok(all)
}

fn recorded(
    name: String,
    fixture: Fixture,
    chat: &ChatTemplateSource,
    clock: Option<Clock>,
    tools: &[Value],
) -> Result<Recorded, Problem> {
    let prefix = match &fixture.prompt {
        Prompt::Untold => None,
        _ => Some(
            fixture
                .prefix(Some(chat), clock)
                .map_err(|error| Problem::failed("no-prompt", format!("{name}: {error}")))?,
        ),
    };
    // A message that was recorded with text lost, or with an error, is not the message of the response.
    let is_whole = fixture.unclaimed.is_empty() && fixture.error.is_none();
    Ok(Recorded {
        prefix: prefix.map(|prefix| prefix.into_owned()),
        tools: match fixture.tools.is_empty() {
            true => tools.to_vec(),
            false => fixture.tools.clone(),
        },
        expected: fixture.expected.clone().filter(|_| is_whole),
        response: fixture.response,
        name,
    })
}

/// A name as a folder has it.
fn slug(name: &str) -> String {
    let name = name.trim_start_matches(['.', '/']);
    let plain = name.chars().map(|c| match c {
        c if c.is_alphanumeric() || c == '-' || c == '_' => c,
        _ => '-',
    });
    plain.collect()
}

/// The outcome of the responses, for people.
pub(super) fn told(report: &Report) -> String {
    let Some(responses) = &report.responses else {
        return String::new();
    };
    let Responses {
        given,
        right_before,
        right,
        added,
        widenings,
        short,
        ..
    } = responses;
    let style = if right == given { GREEN } else { YELLOW };
    let mut out = format!(
        "\n  {}  {}\n",
        paint(
            style.bold(),
            &format!("{right} of {given} responses are read right")
        ),
        paint(DIM, &format!("{right_before} by the renders alone"))
    );
    for addition in added {
        out.push_str(&format!(
            "    {}: a field that no render shows; taught by {}\n",
            escape::line(&addition.field),
            named(&addition.taught_by)
        ));
    }
    for widening in widenings {
        out.push_str(&format!(
            "    {} {}: {}; taught by {}\n",
            escape::line(&widening.field),
            widening.side,
            escape::line(&widening.text),
            named(&widening.taught_by)
        ));
        let was = format!("      - {}\n", escape::line(&widening.was));
        let now = format!("      + {}\n", escape::line(&widening.now));
        out.push_str(&paint(DIM, &was));
        out.push_str(&paint(DIM, &now));
    }
    for one in short {
        out.push_str(&format!(
            "    {} {}: {}\n",
            paint(YELLOW.bold(), "not read right:"),
            escape::line(&one.name),
            escape::short(&one.why, SHOWN)
        ));
    }
    out
}

/// The first of some names, and how many more there are.
fn named(names: &[String]) -> String {
    let first = names.iter().take(NAMED);
    let first: Vec<String> = first.map(|name| escape::line(name).into_owned()).collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
