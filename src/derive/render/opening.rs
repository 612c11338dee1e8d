//! Opening a chat template: what it requires before it renders anything, and with which tools it renders at all.

use super::renderer::Renderer;
use super::requirements::{Given, Requirements};
use crate::chat_template::{ChatTemplateSource, Clock, RenderError};
use crate::derive::probe::{self, Assistant, Dialect};

/// How many settings of variables are tried.
const MAX_TRIES: usize = 256;

/// Finds out what the chat template requires, and with which tools it renders at all.
///
/// # Errors
///
/// The render error of a single user message, when it renders neither with nor without tools.
pub(in crate::derive) fn open(
    source: &ChatTemplateSource,
    clock: Option<Clock>,
) -> Result<Renderer<'_>, RenderError> {
    let mut renderer = Renderer::bare(source, clock);
    renderer.requirements = requirements(&renderer)?;
    let bare = renderer.prompt(&renderer.user(false));
    let tooled = renderer.prompt(&renderer.user(true));
    renderer.without_tools = bare.is_ok();
    renderer.with_tools = tooled.is_ok();
    if let (Err(error), Err(_)) = (bare, tooled) {
        return Err(error);
    }
    renderer.know(&[]);
    Ok(renderer)
}

/// Returns the requirements of the template, which are none where it renders without.
///
/// # Errors
///
/// The limit that the render of a single user message ran into. No requirement is asked for by that, and each try would take as long again.
fn requirements(renderer: &Renderer<'_>) -> Result<Requirements, RenderError> {
    let mut requirements = Requirements::default();
    match renderer.render_wanting(&requirements, &renderer.user(false), true) {
        Ok(_) => {}
        Err(limit @ RenderError::Limit { .. }) => return Err(limit),
        Err(stopped) => {
            requirements.opening = opening(renderer)?;
            if requirements.opening.is_none() {
                requirements.variables = variables(renderer, &stopped);
            }
        }
    }
    requirements.parts = !shows_texts(renderer, &requirements) && {
        requirements.parts = true;
        shows_texts(renderer, &requirements)
    };
    Ok(requirements)
}

/// Returns true if a render of a conversation has the texts of its messages in it.
fn shows_texts(renderer: &Renderer<'_>, requirements: &Requirements) -> bool {
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let context = renderer.user_wanting(requirements, false).and(answer);
    let rendered = renderer.render_wanting(requirements, &context, false);
    rendered.is_ok_and(|text| {
        let mut words = [probe::USER, probe::CONTENT].iter();
        words.all(|one| text.contains(one))
    })
}

/// The role of the message without which a user's message cannot be rendered, neither with tools nor without, nor as parts; `None` where it can, or that does
/// not help.
fn opening(renderer: &Renderer<'_>) -> Result<Option<&'static str>, RenderError> {
    let renders = |opening| -> Result<bool, RenderError> {
        for (parts, tools) in [(false, false), (false, true), (true, false), (true, true)] {
            let requirements = Requirements {
                opening,
                parts,
                ..Requirements::default()
            };
            let context = renderer.user_wanting(&requirements, tools);
            match renderer.render_wanting(&requirements, &context, true) {
                Ok(_) => return Ok(true),
                Err(limit @ RenderError::Limit { .. }) => return Err(limit),
                Err(_) => {}
            }
        }
        Ok(false)
    };
    if renders(None)? {
        return Ok(None);
    }
    for role in ["system", "developer"] {
        if renders(Some(role))? {
            return Ok(Some(role));
        }
    }
    Ok(None)
}

/// The variables that a single user message cannot be rendered without, where its render `stopped`.
fn variables(renderer: &Renderer<'_>, stopped: &RenderError) -> Vec<(String, Given)> {
    let names: Vec<String> = renderer
        .kwargs()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let words = renderer.asked().map(|word| Given::Word(word.to_owned()));
    let values: Vec<Given> = [Given::Text, Given::List]
        .into_iter()
        .chain(words)
        .collect();
    let all = (names.as_slice(), values.as_slice());
    let requirements = Requirements::default();
    let found = further(renderer, all, requirements, stopped, &mut { MAX_TRIES });
    found.unwrap_or_default().variables
}

/// Sets one variable after another that takes the render further than where it `stopped`, until it does not stop.
fn further(
    renderer: &Renderer<'_>,
    (names, values): (&[String], &[Given]),
    requirements: Requirements,
    stopped: &RenderError,
    tries: &mut usize,
) -> Option<Requirements> {
    let known = |name: &String| {
        requirements
            .variables
            .iter()
            .any(|(known, _)| known == name)
    };
    let context = renderer.user(false);
    let mut better = Vec::new();
    for name in names.iter().filter(|name| !known(name)) {
        for given in values {
            *tries = tries.checked_sub(1)?;
            let mut more = requirements.clone();
            more.variables.push((name.clone(), given.clone()));
            match renderer.render_wanting(&more, &context, true) {
                Ok(_) => return Some(more),
                Err(error) if error != *stopped => better.push((more, error)),
                Err(_) => {}
            }
        }
    }
    better
        .into_iter()
        .find_map(|(more, error)| further(renderer, (names, values), more, &error, tries))
}
