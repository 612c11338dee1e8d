//! `obverse review`: what would be written, shown and taken one by one.

mod ask;
mod keys;

use std::io::{self, IsTerminal as _};
use std::path::Path;

use obverse::check::FileChange;
use obverse::value::Value;

use super::check::{Pending, Selection, pending, pending_now, pending_of};
use super::problem::Problem;
use super::shape::ShapeArgs;
use super::status::Status;
use super::stop::Stop;
use super::{output, wire};

/// Show what is pending as diffs, and take or leave each with a key
///
/// Pending are fixtures that record something else than the parser gives (what `obverse check --update` would write) and derived
/// response templates that are not what is derived from their chat template (what `obverse derive` would write). Nothing is
/// written before it is shown and taken: after each change what is pending is found anew, since a response template that is
/// mended may leave its fixtures as they should be.
///
/// Off a terminal the commands that would make the changes are printed instead, with --format json the changes too. Exit status 1 when something is left pending.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    shape: ShapeArgs,
}

const EXAMPLES: &str = "\
Keys:
  y   takes the change
  n   leaves it
  a   takes it and all the rest; their diffs are shown first, and it is asked once
  q   leaves it and all the rest
  ?   tells the keys

Examples:
  obverse review                           all that is pending
  obverse review fixtures/qwen3            what is pending in a folder
  obverse review --no-derive < /dev/null   the commands that would make the changes";

/// Reviews.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let (all, failing) = pending(&args.selection)?;
    let left = if args.shape.is_json() {
        output::print_json(&wire::pretty(&report(&all, failing)))?;
        all.len()
    } else if all.is_empty() {
        output::tell("nothing is pending\n");
        0
    } else if io::stdin().is_terminal() && io::stderr().is_terminal() {
        let changes = OnDisk(&args.selection);
        ask::ask(all, &changes, &mut keys::Terminal, &mut anstream::stderr())?
    } else {
        let commands: Vec<String> = all.iter().map(command).collect();
        output::print_text(&(commands.join("\n") + "\n"))?;
        output::tell(&format!(
            "{} pending; each line makes one change\n",
            all.len()
        ));
        all.len()
    };
    if failing > 0 {
        output::tell(&format!(
            "{failing} more do not hold for other reasons; `obverse check` tells them\n"
        ));
    }
    Ok(if left == 0 {
        Status::Done
    } else {
        Status::Found
    })
}

/// The pending changes, for programs.
fn report(all: &[Pending], failing: usize) -> Value {
    let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
    let change = |change: &FileChange| {
        Value::Object(wire::object([
            ("path", Value::from(change.path.display().to_string())),
            ("before", text(&change.before)),
            ("after", text(&change.after)),
        ]))
    };
    let pending = all.iter().map(|pending| {
        Value::Object(wire::object([
            ("name", Value::from(pending.name.as_str())),
            ("why", Value::from(pending.why)),
            ("command", Value::from(command(pending))),
            (
                "changes",
                pending.shown.iter().map(change).collect::<Vec<_>>().into(),
            ),
        ]))
    });
    Value::Object(wire::object([
        ("pending", pending.collect::<Vec<_>>().into()),
        ("failing", Value::count(failing)),
    ]))
}

/// The changes that are pending by the files as they are.
struct OnDisk<'a>(&'a Selection);

impl ask::Changes for OnDisk<'_> {
    fn now(&self, before: &Pending) -> Result<Option<Pending>, Problem> {
        pending_now(self.0, before)
    }

    fn of_template(&self, template: &Path) -> Result<Vec<Pending>, Problem> {
        pending_of(self.0, template)
    }
}

/// The command that makes a change, for a shell.
fn command(pending: &Pending) -> String {
    let mut command = "obverse".to_owned();
    for word in &pending.arguments {
        command.push(' ');
        command.push_str(&quoted(word));
    }
    if let Some(output) = &pending.output {
        command.push_str(" > ");
        command.push_str(&quoted(output));
    }
    command
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_read_more_into_it() {
        assert_eq!(quoted("fixtures/a-b_1.jsonl"), "fixtures/a-b_1.jsonl");
        assert_eq!(quoted("*a:2 b"), "'*a:2 b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
