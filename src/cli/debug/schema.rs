//! The evaluation of a response schema, as a tree of its nodes. It is evaluated at once, so there is nothing to step through.

use std::path::{Path, PathBuf};

use obverse::response_schema::{Loaded, TraceNode, load_any};
use obverse::value::{Value, json};

use super::{Args, Format};
use crate::cli::problem::{Document, Problem};
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::{escape, input, output, width, wire};

/// For how many columns a tree is written where it goes to no terminal.
const COLUMNS: usize = 80;

/// How many characters of a value are shown however narrow it is.
const LEAST: usize = 12;

/// The response schema at a path; `None` where there is something else, which the debugger opens.
pub(super) fn asked(path: &Path) -> Result<Option<Loaded>, Problem> {
    let file = match path.is_dir() {
        true => path.join("tokenizer_config.json"),
        false => path.to_owned(),
    };
    // Standard input can be read once.
    if input::is_stdin(path)
        || file.extension().is_none_or(|extension| extension != "json")
        || !file.is_file()
    {
        return Ok(None);
    }
    let text = input::read_text(&file)?;
    match load_any(&text) {
        None => Ok(None),
        Some(Ok(loaded)) => Ok(Some(loaded)),
        Some(Err(invalid)) => {
            let document = Document::new(input::name(&file), text);
            Err(Problem::all(invalid.into_diagnostics()).about(document))
        }
    }
}

/// Returns the first argument that a tree of a response schema does not have, in a sentence.
fn refused(args: &Args) -> Option<String> {
    let own = [
        (args.chunks.is_some(), "--chunks"),
        (args.skip_json_strings, "--skip-json-strings"),
        (args.follow.is_some(), "--follow"),
        (args.report.is_some(), "--report"),
        (args.record.is_some(), "--record"),
        (args.screenshot.is_some(), "--screenshot"),
        (args.keys.is_some(), "--keys"),
    ];
    let own = own
        .into_iter()
        .filter_map(|(given, name)| given.then_some(name));
    let all: Vec<&str> = own
        .chain(args.given.flags())
        .chain(args.project.flags())
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Prints the tree of each response.
pub(super) fn run(args: &Args, loaded: &Loaded) -> Result<Status, Stop> {
    if let Some(flags) = refused(args) {
        let message = format!(
            "TEMPLATE is a response schema, which is evaluated at once over the whole response: it takes no {flags}"
        );
        let hint =
            "`obverse convert` makes a response template of it, which can be stepped through";
        return Err(Problem::failed("usage", message).with_hint(hint).into());
    }
    let stdin = [PathBuf::from("-")];
    let paths = match args.responses.as_slice() {
        [] => &stdin[..],
        paths => paths,
    };
    let columns = width::of_results().unwrap_or(COLUMNS);
    let mut out = String::new();
    let mut status = Status::Done;
    for path in paths {
        let is_fixtures = path.is_dir()
            || path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
        let mut responses = Vec::new();
        if is_fixtures {
            for found in input::find_fixtures(path)? {
                let fixture = found
                    .read()
                    .map_err(|error| input::fixture_problem(&error))?;
                responses.push((found.name.clone(), fixture.response));
            }
        } else {
            responses.push((input::name(path), input::read_text(path)?));
        }
        for (name, text) in responses {
            let root = loaded.schema.trace(&text).root;
            if root.result.is_err() {
                status = Status::Found;
            }
            if args.format == Some(Format::Json) {
                out.push_str(&wire::line(wire::object([
                    ("response", Value::from(name)),
                    ("tree", root.to_value()),
                ])));
                continue;
            }
            out.push_str(&format!("{}\n", escape::line(&name)));
            let mut tree = Tree {
                columns,
                out: &mut out,
            };
            tree.node(&root, "", None, 1);
        }
    }
    if args.format == Some(Format::Json) {
        output::print_json(&out)?;
    } else {
        output::print_long(&out)?;
    }
    Ok(status)
}

/// The lines of a tree.
struct Tree<'o> {
    columns: usize,
    out: &'o mut String,
}

impl Tree<'_> {
    /// A node below the one at the path `above`, whose children are given `whole`.
    fn node(&mut self, node: &TraceNode, above: &str, whole: Option<&Value>, depth: usize) {
        let path = node.path.to_string();
        let name = path.strip_prefix(above).unwrap_or(&path);
        let name = name.strip_prefix('.').unwrap_or(name);
        let indent = "  ".repeat(depth);
        self.out
            .push_str(&format!("{indent}{}\n", escape::line(name)));
        let below = depth + 1;
        if whole == Some(&node.given) {
            self.line(below, "given", "all of it");
        } else {
            self.value(below, "given", &node.given);
        }
        let mut left = &node.given;
        for (key, value) in &node.steps {
            self.value(below, key, value);
            left = value;
        }
        for child in &node.children {
            self.node(child, &path, Some(left), below);
        }
        match &node.result {
            Ok(Value::Null) if node.given != Value::Null => {
                self.line(below, "=", "nothing was found")
            }
            Ok(value) => self.value(below, "=", value),
            // An error goes through all nodes above: it is told where it is.
            Err(error) if error.path == node.path => {
                let words = format!(
                    "error[{}]: {}",
                    error.kind.name(),
                    escape::line(&error.message)
                );
                self.words(below, &words);
                if let Some(hint) = &error.hint {
                    self.words(below, &format!("hint: {}", escape::line(hint)));
                }
            }
            Err(error) => {
                let words = format!(
                    "no value, because of {}",
                    escape::line(&error.path.to_string())
                );
                self.line(below, "=", &words);
            }
        }
    }

    fn line(&mut self, depth: usize, key: &str, text: &str) {
        self.out
            .push_str(&format!("{}{key:<5}  {text}\n", "  ".repeat(depth)));
    }

    /// Words, on as many lines as they need.
    fn words(&mut self, depth: usize, text: &str) {
        let line = format!("{}{text}\n", "  ".repeat(depth));
        self.out.push_str(&width::fit(&line, Some(self.columns)));
    }

    /// A value, as much of it as fits on a line.
    fn value(&mut self, depth: usize, key: &str, value: &Value) {
        /// How many bytes the note takes that text is left out.
        const SAID: usize = " … 1000000 characters … ".len();
        let text = json::to_string(value);
        let room = self
            .columns
            .saturating_sub(2 * depth + key.len().max(5) + 2);
        let shown = match text.chars().count() <= room {
            true => escape::short(&text, room),
            false => escape::short(&text, room.saturating_sub(SAID).max(LEAST)),
        };
        self.line(depth, key, &shown);
    }
}
