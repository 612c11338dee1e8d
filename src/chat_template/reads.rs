//! The inputs that a render has read.

use std::collections::BTreeSet;

/// One place in the inputs that a template asked for, whether or not something was there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Read {
    /// The place from the top-level variable down, list indices folded: `messages[].tool_calls[].function.name`.
    pub path: String,
    /// The role of the message that the place belongs to, when it belongs to one that has a string for a role.
    pub role: Option<String>,
    /// True if the input had something there.
    pub found: bool,
}

/// Everything that one render asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reads {
    /// The places in the inputs.
    pub places: BTreeSet<Read>,
    /// The top-level variables that were looked up and that nothing defined, such as an `enable_thinking` that the
    /// input did not give.
    pub undefined: BTreeSet<String>,
}

impl Reads {
    /// Returns true if `path` was asked for, on a message of any role.
    pub fn has(&self, path: &str) -> bool {
        self.places.iter().any(|read| read.path == path)
    }

    /// Returns true if `path` was asked for on a message of this role.
    pub fn has_for(&self, role: &str, path: &str) -> bool {
        self.places
            .iter()
            .any(|read| read.path == path && read.role.as_deref() == Some(role))
    }

    /// The places that were asked for on messages of this role.
    pub fn of_role<'r>(&'r self, role: &'r str) -> impl Iterator<Item = &'r str> {
        let places = self.places.iter();
        places
            .filter(move |read| read.role.as_deref() == Some(role))
            .map(|read| read.path.as_str())
    }
}
