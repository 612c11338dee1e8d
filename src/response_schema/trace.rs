//! The trace of an evaluation: the input and the result of each node, for debugging.

use super::error::SchemaError;
use super::evaluate::{Observer, visit};
use super::given::Given;
use super::node::Node;
use crate::value::{Map, Path, Value};

/// An evaluation, recorded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trace {
    /// The root and, below it, all nodes that were reached.
    pub root: TraceNode,
}

/// A node that was reached.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TraceNode {
    /// The node of the schema.
    pub path: Path,
    /// The input of the node: text, or a value.
    pub given: Value,
    /// The value that each of its keys left, in the order in which they were applied.
    pub steps: Vec<(&'static str, Value)>,
    /// The nodes that this node gave something to.
    pub children: Vec<TraceNode>,
    /// The result of the node.
    pub result: Result<Value, SchemaError>,
}

impl TraceNode {
    /// The node as an object: `path`, `given`, `steps`, `children`, and `result` or `error`.
    pub fn to_value(&self) -> Value {
        let mut members = Map::new();
        members.insert("path", Value::from(self.path.to_string()));
        members.insert("given", self.given.clone());
        let steps = self.steps.iter().map(|(key, left)| {
            let step = [("key", Value::from(*key)), ("left", left.clone())];
            Value::Object(Map::from(step))
        });
        members.insert("steps", Value::Array(steps.collect()));
        let children = self.children.iter().map(Self::to_value);
        members.insert("children", Value::Array(children.collect()));
        match &self.result {
            Ok(value) => members.insert("result", value.clone()),
            Err(error) => members.insert("error", Value::Object(error.to_map())),
        };
        Value::Object(members)
    }
}

/// The nodes that are open, the innermost last.
#[derive(Default)]
struct Recorder {
    open: Vec<TraceNode>,
    done: Option<TraceNode>,
}

impl Observer for Recorder {
    fn enter(&mut self, node: &Node, given: &Given<'_>) {
        self.open.push(TraceNode {
            path: node.path.clone(),
            given: given.clone().into_value(),
            steps: Vec::new(),
            children: Vec::new(),
            result: Ok(Value::Null),
        });
    }

    fn step(&mut self, what: &'static str, given: &Given<'_>) {
        if let Some(node) = self.open.last_mut() {
            node.steps.push((what, given.clone().into_value()));
        }
    }

    fn leave(&mut self, result: &Result<Value, SchemaError>) {
        let Some(mut node) = self.open.pop() else {
            return;
        };
        node.result = result.clone();
        match self.open.last_mut() {
            Some(parent) => parent.children.push(node),
            None => self.done = Some(node),
        }
    }
}

pub(super) fn trace(root: &Node, text: &str) -> Trace {
    let mut recorder = Recorder::default();
    let result = visit(root, Given::Text(text.into()), &mut recorder);
    let root = recorder.done.unwrap_or(TraceNode {
        path: root.path.clone(),
        given: Value::from(text),
        steps: Vec::new(),
        children: Vec::new(),
        result,
    });
    Trace { root }
}
