//! From pieces and nodes to what callers are told.

use std::collections::BTreeSet;
use std::rc::Rc;

use foldhash::{HashMap, HashSet};

use super::noted::{By, Noted};
use super::piece::Piece;
use super::{Node, NodeKind, Taint, Trace};
use crate::chat_template::layout::{Layout, Turn, Write};
use crate::chat_template::origins::{InputPath, InputStep, Origin, Run, Traced};
use crate::chat_template::run::Told;
use crate::chat_template::syntax::tree::Tree;

/// How many paths the runs of one render may name beside their first.
const MAX_NAMED: usize = 1 << 20;

/// Stands for the origin of a run that is not told, until the run goes on to where it is.
const UNTOLD: Origin = Origin::Source {
    start: 0,
    end: 0,
    from: (0, 0),
    derived: true,
};

/// Nodes taken apart, each once.
struct Resolver<'a> {
    places: &'a [NodeKind],
    /// By node.
    paths: Vec<Option<InputPath>>,
    inputs: HashMap<Node, Rc<[Node]>>,
    named: usize,
}

impl Trace {
    /// Returns the text that a render printed, with as many of its origins as are told; `None` when there are more of them than one render may have.
    pub(in crate::chat_template::run) fn resolve(
        &self,
        tree: &Tree,
        text: String,
        pieces: &[Piece],
        noted: Noted,
        told: Told,
    ) -> Option<(Traced, Layout)> {
        let told_behind = match told {
            Told::Behind(start) => start,
            Told::Layout => 0,
        };
        let places = self.nodes.borrow();
        let mut resolver = Resolver {
            places: &places,
            paths: vec![None; places.len()],
            inputs: HashMap::default(),
            named: 0,
        };
        let mut runs: Vec<Run> = Vec::with_capacity(pieces.len());
        let mut start = 0;
        let mut last: Option<Piece> = None;
        for piece in pieces {
            if piece.is_empty() {
                continue;
            }
            let end = start + piece.len as usize;
            let is_told = end > told_behind;
            // Pieces that continue each other may have had something empty between them.
            if let (Some(before), Some(run)) = (&mut last, runs.last_mut())
                && before.absorb(piece)
            {
                run.end = end;
                if is_told {
                    run.origin = resolver.origin(tree, before)?;
                }
            } else {
                // Nothing goes on from the run before any more.
                if runs.last().is_some_and(|run| run.end <= told_behind) {
                    runs.pop();
                }
                let origin = match is_told {
                    true => resolver.origin(tree, piece)?,
                    false => UNTOLD,
                };
                runs.push(Run { start, end, origin });
                last = Some(*piece);
            }
            start = end;
        }
        if runs.last().is_some_and(|run| run.end <= told_behind) {
            runs.pop();
        }
        let decided_by = match told_behind {
            0 => resolver.decided(&self.decided.borrow()),
            _ => BTreeSet::new(),
        };
        let turns = noted.turns.into_iter().map(|turn| Turn {
            start: turn.start,
            end: turn.end,
            source: (turn.span.start as usize, turn.span.end as usize),
            items: resolver.items(turn.item),
        });
        let writes = noted.writes.into_iter().map(|write| {
            let (source, is_expression) = match write.by {
                By::Text(index) => {
                    let places = &tree.places[index];
                    (places.source((0, write.end - write.start)), false)
                }
                By::Expression(span) => ((span.start as usize, span.end as usize), true),
            };
            Write {
                start: write.start,
                end: write.end,
                source,
                is_expression,
            }
        });
        let layout = Layout {
            writes: writes.collect(),
            turns: turns.collect(),
            generated: noted.generated,
        };
        let traced = Traced {
            text,
            runs,
            decided_by,
        };
        Some((traced, layout))
    }
}

impl Resolver<'_> {
    fn origin(&mut self, tree: &Tree, piece: &Piece) -> Option<Origin> {
        let derived = piece.is_derived();
        match &self.places[piece.origin as usize] {
            NodeKind::Constant(index) => {
                let from = piece.from().unwrap_or_default();
                let (start, end) = tree.places[*index as usize].source(from);
                Some(Origin::Source {
                    start,
                    end,
                    from,
                    derived,
                })
            }
            NodeKind::Expression(span) => Some(Origin::Source {
                start: span.start as usize,
                end: span.end as usize,
                from: (0, 0),
                derived: true,
            }),
            NodeKind::Key(..) | NodeKind::Item(..) => Some(Origin::Input {
                path: self.path(piece.origin),
                from: piece.from(),
                derived,
                key: piece.is_key(),
                also: Vec::new(),
            }),
            NodeKind::Join(..) => {
                let inputs = self.inputs(piece.origin);
                self.named += inputs.len();
                if self.named > MAX_NAMED {
                    return None;
                }
                let mut paths = inputs.iter().map(|node| self.path(*node));
                let path = paths.next()?;
                Some(Origin::Input {
                    path,
                    from: piece.from(),
                    derived,
                    key: piece.is_key(),
                    also: paths.collect(),
                })
            }
            NodeKind::Nothing => Some(UNTOLD),
        }
    }

    /// The inputs of a value.
    fn items(&mut self, taint: Taint) -> Vec<InputPath> {
        if taint.is_none() {
            return Vec::new();
        }
        let inputs = self.inputs(taint.node());
        inputs.iter().map(|node| self.path(*node)).collect()
    }

    /// The inputs that a node joins, those that count for more first.
    fn inputs(&mut self, node: Node) -> Rc<[Node]> {
        if let Some(known) = self.inputs.get(&node) {
            return known.clone();
        }
        let mut seen = HashSet::default();
        let mut found = Vec::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            match self.places[node as usize] {
                NodeKind::Join(first, second) => open.extend([second, first]),
                NodeKind::Key(..) | NodeKind::Item(..) => found.push(node),
                _ => {}
            }
        }
        // An absent member may have been given a node of its own.
        let mut paths = HashSet::default();
        found.retain(|node| {
            let path = self.path(*node);
            paths.insert(path)
        });
        let found: Rc<[Node]> = found.into();
        self.inputs.insert(node, found.clone());
        found
    }

    fn path(&mut self, node: Node) -> InputPath {
        if let Some(path) = &self.paths[node as usize] {
            return path.clone();
        }
        let mut steps = Vec::new();
        let mut at = node;
        loop {
            match &self.places[at as usize] {
                NodeKind::Key(of, key) => {
                    steps.push(InputStep::Key(key.to_string()));
                    at = *of;
                }
                NodeKind::Item(of, index) => {
                    steps.push(InputStep::Index(*index as usize));
                    at = *of;
                }
                _ => break,
            }
        }
        let path = InputPath::new(steps.into_iter().rev());
        self.paths[node as usize] = Some(path.clone());
        path
    }

    fn decided(&mut self, decided: &[bool]) -> BTreeSet<InputPath> {
        let mut seen = decided.to_vec();
        let mut open: Vec<Node> = (0..decided.len())
            .filter(|node| decided[*node])
            .map(|node| node as Node)
            .collect();
        let mut out = BTreeSet::new();
        while let Some(node) = open.pop() {
            match self.places[node as usize] {
                NodeKind::Join(first, second) => {
                    for part in [first, second] {
                        // A node joins only nodes that are older than itself.
                        if !std::mem::replace(&mut seen[part as usize], true) {
                            open.push(part);
                        }
                    }
                }
                NodeKind::Key(..) | NodeKind::Item(..) => {
                    out.insert(self.path(node));
                }
                _ => {}
            }
        }
        out
    }
}
