//! The evaluation of a response schema, as a tree of its nodes. It is evaluated at once, so there is nothing to step through.

use std::path::{Path, PathBuf};

use obverse::check;
use obverse::response_schema::{Loaded, TraceNode, load_any};
use obverse::value::{Value, json};

use super::Args;
use crate::cli::problem::{Document, Problem};
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::{escape, input, output};

/// How many characters of a value are shown.
const SHOWN: usize = 100;

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

/// Prints the tree of each response.
pub(super) fn run(args: &Args, loaded: &Loaded) -> Result<Status, Stop> {
    let stdin = [PathBuf::from("-")];
    let paths = match args.responses.as_slice() {
        [] => &stdin[..],
        paths => paths,
    };
    let mut out = String::new();
    let mut status = Status::Done;
    for path in paths {
        let is_fixtures = path.is_dir()
            || path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
        let mut responses = Vec::new();
        if is_fixtures {
            let wrong = |error: check::FixtureError| Problem::of(*error.diagnostic);
            for found in check::find(path).map_err(wrong)? {
                responses.push((found.name.clone(), found.read().map_err(wrong)?.response));
            }
        } else {
            responses.push((input::name(path), input::read_text(path)?));
        }
        for (name, text) in responses {
            let root = loaded.schema.trace(&text).root;
            if root.result.is_err() {
                status = Status::Found;
            }
            out.push_str(&format!("{}\n", escape::line(&name)));
            write(&root, 1, &mut out);
        }
    }
    output::print_long(&out)?;
    Ok(status)
}

fn write(node: &TraceNode, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let path = node.path.to_string();
    out.push_str(&format!(
        "{indent}{}  {}\n",
        escape::line(&path),
        shown(&node.given)
    ));
    for (key, left) in &node.steps {
        out.push_str(&format!("{indent}  {key}: {}\n", shown(left)));
    }
    for child in &node.children {
        write(child, depth + 1, out);
    }
    match &node.result {
        Ok(value) => out.push_str(&format!("{indent}  = {}\n", shown(value))),
        // An error goes through all nodes above: it is told where it is.
        Err(error) if error.path == node.path => {
            out.push_str(&format!(
                "{indent}  error[{}]: {}\n",
                error.kind.name(),
                escape::line(&error.message)
            ));
        }
        Err(_) => {}
    }
}

fn shown(value: &Value) -> String {
    escape::short(&json::to_string(value), SHOWN)
}
