//! Where the characters of a render come from, as [`ChatTemplate::render_traced`](super::ChatTemplate::render_traced) tells.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// One step of a path into the inputs: `messages`, 1, `content`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputStep {
    /// A variable, or a key of a dictionary.
    Key(String),
    /// The index of an item of a list.
    Index(usize),
}

impl Serialize for InputStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Key(key) => serializer.serialize_str(key),
            Self::Index(index) => serializer.serialize_u64(*index as u64),
        }
    }
}

impl From<&str> for InputStep {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for InputStep {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A path into the inputs of a render: a variable's name, and the keys and indices that lead on from it. It names the place
/// where the caller gave the value. Cloning is cheap; it serializes as a list, and displays as `messages[1].content`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputPath(Arc<[InputStep]>);

impl InputPath {
    /// The path of these steps.
    pub fn new(steps: impl IntoIterator<Item = InputStep>) -> Self {
        Self(steps.into_iter().collect())
    }

    /// The path one step further.
    #[must_use]
    pub fn then(&self, step: impl Into<InputStep>) -> Self {
        Self::new(self.iter().cloned().chain([step.into()]))
    }

    /// Returns true if one of the two leads to the other, or both to the same place.
    pub fn is_along(&self, other: &Self) -> bool {
        self.iter().zip(other.iter()).all(|(a, b)| a == b)
    }
}

impl Deref for InputPath {
    type Target = [InputStep];

    fn deref(&self) -> &[InputStep] {
        &self.0
    }
}

impl FromIterator<InputStep> for InputPath {
    fn from_iter<I: IntoIterator<Item = InputStep>>(steps: I) -> Self {
        Self::new(steps)
    }
}

impl Serialize for InputPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl fmt::Display for InputPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.iter().enumerate() {
            match step {
                InputStep::Index(index) => write!(f, "[{index}]")?,
                InputStep::Key(key) if is_name(key) && at == 0 => f.write_str(key)?,
                InputStep::Key(key) if is_name(key) => write!(f, ".{key}")?,
                InputStep::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

fn is_name(key: &str) -> bool {
    key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// A render with the origin of every byte.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traced {
    /// The rendered text, the same as without origins.
    pub text: String,
    /// The runs cover the text, in order and without gaps. Adjacent runs that continue each other are joined.
    pub runs: Vec<Run>,
    /// The inputs that control flow read: what decided a branch, how often a loop ran, which of several values was taken, or
    /// which part of a text. A container's path stands for how many members it has and under which keys; what they hold is
    /// named by the paths of its members.
    ///
    /// An input that is not named here (nor anything that it holds, nor for one that comes or goes what holds it) can change
    /// no other characters than those whose origin names its path, an ancestor or a descendant of it.
    pub decided_by: BTreeSet<InputPath>,
}

impl Traced {
    /// The origin of the byte at `offset` of the text.
    pub fn at(&self, offset: usize) -> Option<&Run> {
        let next = self.runs.partition_point(|run| run.end <= offset);
        self.runs.get(next)
    }

    /// Takes these bytes out of the render. The origin of a run of which a part is left still tells where the whole run came from.
    pub(crate) fn remove(&mut self, bytes: std::ops::Range<usize>) {
        let moved = |at: usize| match at {
            at if at >= bytes.end => at - bytes.len(),
            at => at.min(bytes.start),
        };
        for run in &mut self.runs {
            (run.start, run.end) = (moved(run.start), moved(run.end));
        }
        self.runs.retain(|run| run.start < run.end);
        self.text.replace_range(bytes.clone(), "");
    }

    /// Cuts the render off at the byte `end`.
    pub(crate) fn truncate(&mut self, end: usize) {
        self.text.truncate(end);
        self.runs.retain(|run| run.start < end);
        if let Some(last) = self.runs.last_mut() {
            last.end = last.end.min(end);
        }
    }
}

/// A stretch of a render with one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// Where it starts in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Where it comes from.
    pub origin: Origin,
}

/// The origin of a stretch of a render. Later versions may add fields: match with `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The chat template.
    Source {
        /// Where the place starts in the source as it was given, in bytes. Of a constant, the place is the part that the run shows; of text
        /// that an expression computed from no input, it is the expression.
        start: usize,
        /// Where the place ends. The source between the two is the run's text, unless it has escapes in it (and so is longer), or the run
        /// is derived.
        end: usize,
        /// The bytes of the constant's value that the run shows; `(0, 0)` for an expression.
        from: (usize, usize),
        /// True if the run's text is not the constant's own: its case was changed, it was escaped, or it was computed.
        derived: bool,
    },
    /// An input.
    Input {
        /// Where the input was given.
        path: InputPath,
        /// The bytes of the input string that the run shows. Of an escape, they are those of the character for which it stands.
        from: Option<(usize, usize)>,
        /// True if the run's text is not the input's own: it was escaped, its case was changed, or it was computed or written around it.
        /// The digits of an input that is a number are its own.
        derived: bool,
        /// True if the run is the text of the path's last key and not of what is found there; `from` are bytes of the key.
        key: bool,
        /// Further inputs from which the run was derived.
        also: Vec<InputPath>,
    },
}

impl Origin {
    /// The inputs that are named, the first of them first.
    pub fn inputs(&self) -> impl Iterator<Item = &InputPath> {
        let (path, also) = match self {
            Self::Source { .. } => (None, &[][..]),
            Self::Input { path, also, .. } => (Some(path), also.as_slice()),
        };
        path.into_iter().chain(also)
    }

    /// The name of the variable of whose value alone the run is made, such as a kwarg.
    pub(crate) fn variable(&self) -> Option<&str> {
        let mut inputs = self.inputs();
        let path = inputs.next()?;
        match (&**path, inputs.next()) {
            ([InputStep::Key(name)], None) => Some(name),
            _ => None,
        }
    }

    /// Returns true if the run's text is other than what it comes from.
    pub fn is_derived(&self) -> bool {
        match self {
            Self::Source { derived, .. } | Self::Input { derived, .. } => *derived,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{InputPath, InputStep, Traced};
    use crate::chat_template::{ChatTemplate, RenderInput};
    use crate::value::json;

    #[test]
    fn paths_are_written_as_in_a_template() {
        let path = InputPath::new([
            InputStep::from("messages"),
            InputStep::Index(1),
            InputStep::from("content"),
        ]);
        assert_eq!(path.to_string(), "messages[1].content");
        assert_eq!(path.then("a b").to_string(), "messages[1].content[\"a b\"]");
        assert_eq!(
            serde_json::to_string(&path).expect("JSON"),
            r#"["messages",1,"content"]"#
        );
        assert!(path.is_along(&path.then(0)) && path.then(0).is_along(&path));
        assert!(!path.then(0).is_along(&path.then(1)));
    }

    /// Three constants and a text: what is left of each keeps its origin.
    #[test]
    fn what_is_taken_out_of_a_render_leaves_the_origins_of_the_rest() {
        let source = "<a>{{ messages[0].content }}<b>{{ '<c>' }}";
        let template = ChatTemplate::new(source).unwrap();
        let messages = json::parse(r#"[{"content": "Lantern"}]"#).unwrap();
        let input = RenderInput {
            messages: messages.as_array().unwrap().to_vec(),
            ..RenderInput::default()
        };
        let render = template.render_traced(&input).unwrap();
        let parts = |render: &Traced| -> Vec<String> {
            let runs = render.runs.iter();
            runs.map(|run| render.text[run.start..run.end].to_owned())
                .collect()
        };
        assert_eq!(parts(&render), ["<a>", "Lantern", "<b>", "<c>"]);
        let said = render.runs[1].origin.clone();
        let mut without = render.clone();
        without.remove(3..10);
        assert_eq!(parts(&without), ["<a>", "<b>", "<c>"]);
        let mut within = render.clone();
        within.remove(2..6);
        assert_eq!(parts(&within), ["<a", "tern", "<b>", "<c>"]);
        assert_eq!(within.at(3).map(|run| &run.origin), Some(&said));
        let mut cut = render;
        cut.truncate(11);
        assert_eq!(parts(&cut), ["<a>", "Lantern", "<"]);
    }
}
