//! `obverse check`: fixtures and derivations, held to what is recorded.

mod beside;
mod disagreements;
mod pass;
mod pending;
mod schema;
mod selection;
mod subject;
mod task;
mod watch;
mod words;
mod work;

use obverse::check::Effort;

use super::problem::Problem;
use super::project::Workspace;
use super::reference::ReferenceArgs;
use super::report::FormatArgs;
use super::status::Status;
use super::stop::Stop;
pub(crate) use pending::{Pending, pending, pending_now, pending_of};
use selection::Selected;
pub(crate) use selection::Selection;

/// Check recorded responses, and response templates against their chat templates
///
/// A fixture is a folder with response.txt and expected.json (and prefix.txt or messages.json, tools.json, chunks.json,
/// error.json, unclaimed.json, events.jsonl, deltas.jsonl), or a line of a .jsonl file with the same keys. Each is parsed whole, in many chunkings, split between
/// prompt and response, and cut short. A response template whose chat template is at hand is derived again and compared.
///
/// What belongs together is said by obverse.toml; a fixture that it does not name belongs to the nearest response_template.json, or
/// tokenizer_config.json with a response template, around it. Exit status 1 when something does not hold.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,

    /// Replace each recorded result that no longer matches with what the parser gives now
    #[arg(long)]
    update: bool,

    /// Stop at the first failure
    #[arg(long)]
    fail_fast: bool,

    /// Try every chunk size and every end of longer responses too
    #[arg(long)]
    thorough: bool,

    /// Seed with which the chunkings and ends of long responses are sampled
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Tell which took longest, on standard error
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10", value_parser = slowest)]
    slowest: Option<usize>,

    /// Check, and check again what a file belongs to whenever it changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["update", "fail_fast"])]
    watch: bool,

    #[command(flatten)]
    reference: ReferenceArgs,

    #[command(flatten)]
    report: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  obverse check                                all that obverse.toml names; silent about what holds
  obverse check fixtures/qwen3 --watch         again whenever a file changes
  obverse check --filter parallel --thorough   what has `parallel` in its name, at length
  obverse check --reference                    beside the installed transformers
  obverse check --format github                annotations for a pull request";

impl Args {
    fn effort(&self) -> Effort {
        if self.thorough {
            return Effort::thorough(self.seed);
        }
        Effort::default().seed(self.seed)
    }

    /// Gathers the tasks. A response template is looked at itself where it is none, where it can be derived again and
    /// where transformers is asked about it.
    fn gather(&self, workspace: &Workspace<'_>) -> Result<Selected, Problem> {
        self.selection.gather(workspace, |subject| {
            subject.loaded.is_none() || self.selection.derives(subject) || self.reference.is_asked()
        })
    }
}

fn slowest(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        "expected how many are told; paths stand before --slowest, or it is written --slowest=N"
            .to_owned()
    })
}

/// Checks.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    if args.watch {
        return watch::run(args);
    }
    let workspace = args.selection.project.open()?;
    let reference = args.reference.start(workspace.root())?;
    let selected = args.gather(&workspace)?;
    let pass = pass::Pass {
        args,
        reference: reference.as_ref(),
        ended: None,
    };
    pass.run(&selected.subjects, &selected.tasks)
}
