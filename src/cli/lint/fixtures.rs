//! The fixtures of a response template that is linted: whether the model writes as the chat template does.

use std::path::Path;
use std::sync::Arc;

use obverse::chat_template::{ChatTemplateSource, Clock};
use obverse::check::{self, FixtureFile};
use obverse::diagnostic::Diagnostic;
use obverse::lint::DEVIATES;
use obverse::response_template::config;

use crate::cli::deviating;
use crate::cli::input;
use crate::cli::problem::Problem;
use crate::cli::project::{self, Workspace};
use crate::cli::words::count;

/// The fixtures of a response template: those that `obverse.toml` names for it; without such, those below its folder for which it is the
/// nearest response template.
pub(super) fn of(path: &Path, workspace: &Workspace<'_>) -> Result<Vec<FixtureFile>, Problem> {
    if input::is_stdin(path) {
        return Ok(Vec::new());
    }
    let project = workspace.project.iter();
    let named = project.flat_map(|project| project.belongings(path).fixtures);
    let named: Vec<Vec<FixtureFile>> = named
        .map(|fixture| input::find_fixtures(&project::shown(&fixture)))
        .collect::<Result<_, _>>()?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let is_owner = |inner: &Path| {
        let owner = check::template_around(inner);
        owner.is_some_and(|owner| project::real(&owner) == project::real(path))
    };
    if !named.is_empty() || !is_owner(&folder.join("fixture")) {
        return Ok(named.concat());
    }
    let mut below = input::find_fixtures(folder)?;
    below.retain(|found| is_owner(&found.path));
    Ok(below)
}

/// The finding that the responses of some fixtures are written otherwise than the chat template renders their messages. What else is wrong
/// with a fixture is for `obverse check` to tell.
pub(super) fn deviating(
    text: &str,
    chat: &ChatTemplateSource,
    fixtures: &[FixtureFile],
    clock: Option<Clock>,
) -> Option<Diagnostic> {
    let template = Arc::new(config::load_any(text).ok()?.template);
    let of = |found: &FixtureFile| {
        let fixture = found.read().ok()?;
        let prefix = fixture.prefix(Some(chat), clock).ok()?;
        let other = check::rendered_otherwise(&fixture, &template, &prefix, chat, clock)?;
        Some((project::fixture_name(found), other))
    };
    let mut all = fixtures.iter().filter_map(of);
    let (name, first) = all.next()?;
    let deviating = 1 + all.count();
    let verb = if deviating == 1 { "has" } else { "have" };
    let message = format!(
        "{deviating} of {} {verb} a response that no render of the message is; in {name} {}",
        count(fixtures.len(), "fixture"),
        deviating::nearest(&first)
    );
    Some(Diagnostic::info(DEVIATES, message).with_hint(
        "models write otherwise than their chat templates: `obverse derive SOURCE --responses FIXTURES` has it read after the next derivation, too, \
         and `obverse check` tells of each fixture",
    ))
}
