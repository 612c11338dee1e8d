//! `obverse explain`: what a code means.

use std::io::{self, IsTerminal as _};

use obverse::value::{Map, Value};

use super::codes::Page;
use super::completed::Completed;
use super::problem::Problem;
use super::shape::ShapeArgs;
use super::status::Status;
use super::stop::Stop;
use super::{codes, markdown, output, width, wire};

/// Explain the code of a finding or an error of any command: what was found, why it matters, what to do, and an example
///
/// On a terminal the page is made to be read there; elsewhere it is Markdown.
///
/// With --format json it is an object of code, told_by (commands), severity, summary, why, what_to_do, example and markdown, which is the
/// whole page. A part that the page does not have is null. Of several codes there is {"codes": [...]}. With --all each has all of these
/// parts. Without it each has code, told_by, severity and summary.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The code, such as text-after-close; without it all are listed
    #[arg(value_parser = CODE, hide_possible_values = true)]
    code: Option<String>,

    /// Print the pages of all codes
    #[arg(long, conflicts_with = "code")]
    all: bool,

    #[command(flatten)]
    shape: ShapeArgs,
}

/// The codes, for shells to complete. One that is none is told where it is looked up.
const CODE: Completed = Completed {
    names: || codes::all().iter().map(|page| page.code).collect(),
    read: |text| Ok(text.to_owned()),
};

/// Explains.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let is_json = args.shape.is_json();
    if let Some(code) = &args.code {
        let code = bare(code);
        let page = codes::page(code).ok_or_else(|| unknown(code))?;
        match is_json {
            true => output::print_json(&wire::pretty(&Value::Object(parts(&page))))?,
            false => show(&page.text)?,
        }
    } else if is_json {
        let members = if args.all { parts } else { heading };
        let pages = codes::all();
        let listed = pages.iter().map(|page| Value::Object(members(page)));
        let listed = wire::object([("codes", Value::Array(listed.collect()))]);
        output::print_json(&wire::pretty(&Value::Object(listed)))?;
    } else if args.all {
        let pages = codes::all();
        let texts: Vec<&str> = pages.iter().map(|page| page.text.trim_end()).collect();
        show(&(texts.join("\n\n") + "\n"))?;
    } else {
        output::print_long(&width::fit(&list(), width::of_results()))?;
    }
    Ok(Status::Done)
}

/// The code as it is written in a finding, without the severity around it.
fn bare(text: &str) -> &str {
    let code = text.trim().trim_end_matches(':');
    let inner = code.strip_suffix(']').and_then(|code| code.split_once('['));
    inner.map_or(code, |(_, code)| code)
}

/// The members of a code in a list.
fn heading(page: &Page) -> Map {
    let told_by = page.told_by().into_iter().map(Value::from);
    wire::object([
        ("code", page.code.into()),
        ("told_by", Value::Array(told_by.collect())),
        ("severity", page.severity().into()),
        ("summary", (&*page.summary).into()),
    ])
}

/// All parts of a page.
fn parts(page: &Page) -> Map {
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    let mut members = heading(page);
    members.extend(wire::object([
        ("why", text(page.why())),
        ("what_to_do", text(page.what_to_do())),
        ("example", page.example().map_or(Value::Null, Value::from)),
        ("markdown", (&*page.text).into()),
    ]));
    members
}

/// Markdown, made to be read where people read it.
fn show(page: &str) -> io::Result<()> {
    if io::stdout().is_terminal() {
        output::print_long(&markdown::render(page, width::of_results()))
    } else {
        output::print_text(page)
    }
}

/// Each code with what it means in short, those that the same verbs tell together.
fn list() -> String {
    let mut out = String::new();
    for page in codes::all() {
        out.push_str(&format!("{:<26}  {}\n", page.code, page.summary));
    }
    out
}

fn unknown(code: &str) -> Problem {
    let hint = match codes::nearest(code) {
        Some(near) => format!("did you mean `{near}`? `obverse explain` lists all codes"),
        None => "`obverse explain` lists all codes".to_owned(),
    };
    Problem::failed("usage", format!("there is no code `{code}`")).with_hint(hint)
}
