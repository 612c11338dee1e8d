//! Markers that end a turn and are made of the role of who speaks.
//!
//! Where a chat template writes `</user>` behind what a user says, from `</`, the role and `>`, it writes `</assistant>` behind what the model says. Where that always
//! stands behind another marker, as in `</answer></assistant>`, no two renders of the model's turns part the two. The user's turn does.

use crate::chat_template::{InputStep, Origin, Traced};
use crate::derive::probe;

/// The marker with which a turn of the model ends, if that is made of its role as the one of a user is: `</assistant>` where `</user>` follows what a user says.
pub(super) fn of(render: &Traced) -> Option<String> {
    let said = render.text.find(probe::USER)? + probe::USER.len();
    let is_role = |origin: &Origin| match origin {
        Origin::Input { path, derived, .. } => {
            !derived && path.iter().last() == Some(&InputStep::Key("role".to_owned()))
        }
        Origin::Source { .. } => false,
    };
    let at = render
        .runs
        .iter()
        .position(|run| run.start >= said && is_role(&run.origin))?;
    let [before, role, behind] = [at.checked_sub(1)?, at, at + 1].map(|at| render.runs.get(at));
    let (before, role, behind) = (before?, role?, behind?);
    if before.start != said || render.text.get(role.start..role.end)? != "user" {
        return None;
    }
    let before = render.text.get(before.start..before.end)?;
    let behind = render.text.get(behind.start..behind.end)?;
    let before = before.rsplit(char::is_whitespace).next()?;
    let behind = behind.split(char::is_whitespace).next()?;
    (!before.is_empty() && !behind.is_empty()).then(|| format!("{before}assistant{behind}"))
}
