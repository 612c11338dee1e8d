//! Where in a JSON document something is.

use std::fmt;

/// One step from a value into it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the member of an object.
    Key(String),
    /// To the item of a list, counted from zero.
    Index(usize),
}

/// The way from a document's root to one of its values; written as `$.fields.content["odd key"][0]`.
///
/// ```
/// use obverse::value::Path;
/// let path = Path::default().key("fields").key("a b").index(0);
/// assert_eq!(path.to_string(), r#"$.fields["a b"][0]"#);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Path(Vec<Step>);

impl Path {
    /// The path one member further.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.step(Step::Key(key.to_owned()))
    }

    /// The path one item further.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    fn step(&self, step: Step) -> Self {
        let mut path = self.clone();
        path.push(step);
        path
    }

    /// The path that goes on with the steps of another.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// Goes one step further, in place.
    pub fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Goes one step back, in place; the root stays the root.
    pub fn pop(&mut self) -> Option<Step> {
        self.0.pop()
    }

    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        for step in &self.0 {
            match step {
                Step::Key(key) if is_plain(key) => write!(f, ".{key}")?,
                Step::Key(key) => write!(f, "[{}]", super::quote::quote(key))?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Returns true if a key can stand after a dot and still be read in one way.
fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}
