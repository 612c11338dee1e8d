//! Grammars of real chat templates, in the engines: fewer responses of each than of the project's own, since there are twice as many.
//!
//! The table in `docs/constrained.md` is written by `OBVERSE_UPDATE=1 cargo test --test reference of_real -- --ignored`.

use std::path::Path;

use super::{Subject, hold_rows, is_asked_for, row};
use crate::support::reference::grammar_python;
use crate::support::{cores, derived};

const BEGIN: &str = "<!-- real -->\n";
const END: &str = "<!-- real end -->";

/// How many responses of each chat template are tried at most.
const RESPONSES: usize = 60;

/// How many texts are sampled of each grammar.
const SAMPLES: u64 = 40;

/// The row of a chat template; `None` where nothing could be derived or it has no calls.
fn real_row(python: &Path, derived: &derived::Derived) -> Option<String> {
    let mut subject = Subject::of(derived)?;
    if !subject.has_calls() {
        return None;
    }
    // What was taken out are every second, third, ... of its responses, so that those that are left are of all kinds.
    let cases = &mut subject.derivation.cases;
    let step = cases.len().div_ceil(RESPONSES).max(1);
    *cases = cases.drain(..).step_by(step).collect();
    Some(row(python, &subject, SAMPLES))
}

#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn the_table_of_real_chat_templates() {
    let Some(python) = grammar_python() else {
        return;
    };
    let all: Vec<_> = derived::all()
        .iter()
        .filter(|derived| !derived.is_own() && is_asked_for(&derived.name))
        .collect();
    if all.is_empty() {
        return;
    }
    let rows = cores::each(&all, |derived| real_row(&python, derived));
    let rows: Vec<String> = rows.into_iter().flatten().collect();
    hold_rows([BEGIN, END], &rows);
}
