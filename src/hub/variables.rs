//! The variables of the environment by which the Hub's client is told where it keeps what.

use std::ffi::OsString;
use std::path::PathBuf;

/// Gives the value of a variable.
pub(super) type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The home folder.
fn home(variable: Variable<'_>) -> Option<PathBuf> {
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    home.map(PathBuf::from)
}

/// The folder or file that a variable names; a `~` at the beginning stands for the home folder.
pub(super) fn path(variable: Variable<'_>, name: &str) -> Option<PathBuf> {
    let text = PathBuf::from(variable(name).filter(|text| !text.is_empty())?);
    match text.strip_prefix("~") {
        Ok(rest) => Some(home(variable)?.join(rest)),
        Err(_) => Some(text),
    }
}

/// The folder of the client, in which its cache and its token are.
pub(super) fn hf_home(variable: Variable<'_>) -> Option<PathBuf> {
    let below = || {
        let cache = path(variable, "XDG_CACHE_HOME");
        let cache = cache.or_else(|| Some(home(variable)?.join(".cache")));
        Some(cache?.join("huggingface"))
    };
    path(variable, "HF_HOME").or_else(below)
}

/// The text of a variable, if it has one.
pub(super) fn text(variable: Variable<'_>, name: &str) -> Option<String> {
    let text = variable(name)?.into_string().ok()?;
    Some(text).filter(|text| !text.is_empty())
}

/// Returns true if the variable has one of the values that the client takes for a yes.
pub(super) fn is_true(variable: Variable<'_>, name: &str) -> bool {
    let text = text(variable, name).unwrap_or_default();
    ["1", "ON", "YES", "TRUE"].contains(&text.to_ascii_uppercase().as_str())
}
