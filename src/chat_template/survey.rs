//! A survey of a template's syntax tree, without rendering: its constants, its variables, and what it compares them with.

use std::collections::{HashMap, HashSet};

use super::shapes::{ANY_TEXT, Place, Shape, Step};
use super::syntax::tree::{
    Arg, BinaryOp, CompareOp, Expr, ExprKind, Literal, Macro, Name, Stmt, Target, Tree,
};
use crate::value::{Integer, Value};

/// The findings of a survey, each list in source order without repetitions.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) constants: Vec<String>,
    /// The constants that texts are searched for, or cut at.
    pub(super) sought: Vec<String>,
    /// Those, and the constants that anything is compared with or a name is set to.
    pub(super) asked: Vec<String>,
    pub(super) variables: Vec<String>,
    pub(super) candidates: Vec<(String, Vec<Value>)>,
    /// The members and items that are asked of each variable.
    pub(super) shapes: Vec<(String, Shape)>,
    /// The variables that the template sets to something of the conversation, such as `thought` in `{% set thought = message.thought %}`. Where one is
    /// read that was not set, it stands for nothing, and is not meant to be given.
    pub(super) own: Vec<String>,
}

/// Names that stand for something in every template.
const GLOBALS: [&str; 13] = [
    "range",
    "dict",
    "namespace",
    "raise_exception",
    "strftime_now",
    "lipsum",
    "cycler",
    "joiner",
    "loop",
    "self",
    "caller",
    "varargs",
    "kwargs",
];

/// The methods of a text that search it for another one.
const SEARCHES: [&str; 16] = [
    "split",
    "rsplit",
    "partition",
    "rpartition",
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "replace",
    "find",
    "rfind",
    "index",
    "count",
    "strip",
    "lstrip",
    "rstrip",
];

struct Walk<'t> {
    tree: &'t Tree,
    found: Survey,
    seen: HashSet<&'t str>,
    /// The names set so far, by scope.
    bound: Vec<HashSet<Name>>,
    /// The names that were set to a variable from outside, or to what stands in its place, with that variable: `effort` in
    /// `{% set effort = reasoning_effort | default("low") %}`.
    aliases: HashMap<Name, &'t str>,
    /// The names that stand for a part of a variable from outside: of `{% for document in documents %}` the `document`.
    parts: HashMap<Name, Place<'t>>,
    /// The names that were set to an object that the template writes.
    objects: HashMap<Name, &'t [(Expr, Expr)]>,
    /// The names that were read, in order.
    read: Vec<Name>,
    /// The names that the tests around the statement read.
    tested: Vec<Name>,
}

impl Survey {
    pub(super) fn of(tree: &Tree) -> Self {
        let mut walk = Walk {
            tree,
            found: Self::default(),
            seen: HashSet::new(),
            bound: vec![HashSet::new()],
            aliases: HashMap::new(),
            parts: HashMap::new(),
            objects: HashMap::new(),
            read: Vec::new(),
            tested: Vec::new(),
        };
        walk.body(&tree.body);
        walk.found
    }
}

impl<'t> Walk<'t> {
    fn constant(&mut self, text: &'t str) {
        if !text.is_empty() && self.seen.insert(text) {
            self.found.constants.push(text.to_owned());
        }
    }

    fn body(&mut self, body: &'t [Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn scoped(&mut self, inner: impl FnOnce(&mut Self)) {
        self.bound.push(HashSet::new());
        inner(self);
        self.bound.pop();
    }

    fn bind(&mut self, name: Name) {
        if let Some(scope) = self.bound.last_mut() {
            scope.insert(name);
        }
    }

    fn target(&mut self, target: &'t Target) {
        match target {
            Target::Name(name) => self.bind(*name),
            Target::Attr(name, ..) => self.variable(*name),
            Target::Many(targets, _) => targets.iter().for_each(|target| self.target(target)),
        }
    }

    /// Notes a name that is set to something of the conversation; `read` is how many names were read before its value. `set effort = effort or "low"` is about
    /// what is given, as is whatever a test for the name itself decides, and what is set to another variable that is given.
    fn set(&mut self, name: Name, read: usize) {
        let value = &self.read[read..];
        let is_bound = |name: &Name| self.bound.iter().any(|scope| scope.contains(name));
        let is_of_conversation = value
            .iter()
            .any(|read| is_bound(read) && !self.aliases.contains_key(read));
        let is_asked = value.contains(&name) || self.tested.contains(&name);
        let text = self.tree.name(name);
        if is_of_conversation && !is_asked && !self.found.own.iter().any(|known| **known == **text)
        {
            self.found.own.push(text.to_string());
        }
    }

    fn free(&self, name: Name) -> Option<&'t str> {
        let text: &'t str = self.tree.name(name);
        let set = self.bound.iter().any(|scope| scope.contains(&name));
        (!set && !GLOBALS.contains(&text)).then_some(text)
    }

    fn variable(&mut self, name: Name) {
        self.read.push(name);
        if let Some(text) = self.free(name)
            && !self.found.variables.iter().any(|known| known == text)
        {
            self.found.variables.push(text.to_owned());
        }
    }

    fn function(&mut self, function: &'t Macro) {
        function
            .defaults
            .iter()
            .for_each(|default| self.expr(default));
        self.scoped(|this| {
            function.params.iter().for_each(|param| this.bind(*param));
            this.body(&function.body);
        });
    }

    fn stmt(&mut self, stmt: &'t Stmt) {
        match stmt {
            Stmt::Raw(text, _) => self.constant(text),
            Stmt::Emit(expr) => self.expr(expr),
            Stmt::For(stmt) => {
                self.expr(&stmt.iter);
                self.loops_over(&stmt.iter, &stmt.target);
                self.scoped(|this| {
                    this.target(&stmt.target);
                    stmt.filter.iter().for_each(|filter| this.expr(filter));
                    this.body(&stmt.body);
                });
                self.scoped(|this| this.body(&stmt.otherwise));
            }
            Stmt::If {
                test,
                then,
                otherwise,
            } => {
                let (read, tested) = (self.read.len(), self.tested.len());
                self.expr(test);
                self.truth(test);
                self.tested.extend_from_slice(&self.read[read..]);
                // What only one branch sets may still come from outside after it.
                let before = self.bound.last().cloned().unwrap_or_default();
                self.body(then);
                let after_then =
                    std::mem::replace(self.bound.last_mut().unwrap_or(&mut HashSet::new()), before);
                self.body(otherwise);
                if let Some(scope) = self.bound.last_mut() {
                    scope.retain(|name| after_then.contains(name));
                }
                self.tested.truncate(tested);
            }
            Stmt::Set { target, value } => {
                // A text may be compared with the name later.
                self.asked(value);
                let read = self.read.len();
                self.expr(value);
                if let Target::Name(name) = target {
                    self.set(*name, read);
                    match self.variable_of(value) {
                        Some(variable) => self.aliases.insert(*name, variable),
                        None => self.aliases.remove(name),
                    };
                    self.is_part(*name, self.place_of(value));
                    match self.object_of(value) {
                        Some(members) => self.objects.insert(*name, members),
                        None => self.objects.remove(name),
                    };
                }
                self.target(target);
            }
            Stmt::SetBlock {
                target,
                filter,
                body,
            } => {
                filter.iter().for_each(|filter| self.expr(filter));
                self.scoped(|this| this.body(body));
                self.target(target);
            }
            Stmt::With { assignments, body } => self.scoped(|this| {
                for (target, value) in assignments {
                    this.expr(value);
                    this.target(target);
                }
                this.body(body);
            }),
            Stmt::Generation(body) => self.scoped(|this| this.body(body)),
            Stmt::Filter { filter, body } => {
                self.expr(filter);
                self.scoped(|this| this.body(body));
            }
            Stmt::Macro(index) => {
                let function = &self.tree.macros[*index];
                self.bind(function.name);
                self.function(function);
            }
            Stmt::Call {
                callee, args, body, ..
            } => {
                self.expr(callee);
                self.args(args);
                self.function(&self.tree.macros[*body]);
            }
            Stmt::Break | Stmt::Continue | Stmt::Fail { .. } => {}
        }
    }

    fn args(&mut self, args: &'t [Arg]) {
        args.iter().for_each(|arg| self.expr(arg.expr()));
    }

    fn expr(&mut self, expr: &'t Expr) {
        match &expr.kind {
            ExprKind::Var(name) => self.variable(*name),
            ExprKind::Literal(index) => {
                if let Literal::Str(text, _) = &self.tree.literals[*index] {
                    self.constant(text);
                }
            }
            ExprKind::List(items) | ExprKind::Tuple(items) => {
                items.iter().for_each(|item| self.expr(item))
            }
            ExprKind::Dict(items) => {
                for (key, value) in items {
                    self.expr(key);
                    self.expr(value);
                }
            }
            ExprKind::Attr(subject, _) => {
                self.expr(subject);
                self.asks(expr);
            }
            ExprKind::Neg(subject) => self.expr(subject),
            ExprKind::Not(subject) => {
                self.expr(subject);
                self.truth(subject);
            }
            ExprKind::Item(subject, key) => {
                self.expr(subject);
                self.expr(key);
                self.asks(expr);
                self.looks_up(subject, key);
            }
            ExprKind::Slice {
                subject,
                start,
                stop,
                step,
            } => {
                self.expr(subject);
                [start, stop, step]
                    .into_iter()
                    .flatten()
                    .for_each(|bound| self.expr(bound));
            }
            ExprKind::Chain(first, rest) => {
                self.expr(first);
                self.stands_for_object(first, rest);
                for (op, right) in rest {
                    self.expr(right);
                    if matches!(op, BinaryOp::And | BinaryOp::Or) {
                        self.truth(first);
                        self.truth(right);
                    }
                }
            }
            ExprKind::Compare(first, rest) => {
                self.expr(first);
                let mut left: &Expr = first;
                for (op, right) in rest {
                    self.expr(right);
                    if matches!(
                        op,
                        CompareOp::Eq | CompareOp::Ne | CompareOp::In | CompareOp::NotIn
                    ) {
                        self.compared(left, right);
                        self.compared(right, left);
                        self.asked(left);
                        self.asked(right);
                        if matches!(op, CompareOp::In | CompareOp::NotIn) {
                            self.has_item(right, left);
                        }
                    } else {
                        self.bounded(left, right);
                        self.bounded(right, left);
                    }
                    left = right;
                }
            }
            ExprKind::If {
                test,
                then,
                otherwise,
            } => {
                self.expr(then);
                self.expr(test);
                self.truth(test);
                otherwise.iter().for_each(|otherwise| self.expr(otherwise));
            }
            ExprKind::Filter {
                name,
                subject,
                args,
            } => {
                subject.iter().for_each(|subject| self.expr(subject));
                self.args(args);
                match &**self.tree.name(*name) {
                    "replace" => self.sought(args),
                    "join" | "map" | "selectattr" | "rejectattr" | "first" | "last" => {
                        if let Some(place) = subject.as_ref().and_then(|list| self.place_of(list)) {
                            self.shape(&place.and(Step::Item));
                        }
                    }
                    _ => {}
                }
            }
            ExprKind::Test {
                name,
                subject,
                args,
            } => {
                self.expr(subject);
                self.args(args);
                match &**self.tree.name(*name) {
                    "true" | "false" | "boolean" => self.truth(subject),
                    "none" => self.candidate(subject, Value::Null),
                    "eq" | "equalto" | "==" | "ne" | "in" => {
                        if let Some(arg) = args.first() {
                            self.asked(arg.expr());
                            self.compared(subject, arg.expr());
                        }
                    }
                    _ => {}
                }
            }
            ExprKind::Call { callee, args } => {
                // A method is no member.
                match &callee.kind {
                    ExprKind::Attr(subject, _) => self.expr(subject),
                    _ => self.expr(callee),
                }
                self.args(args);
                if let ExprKind::Attr(subject, name) = &callee.kind {
                    let method = &**self.tree.name(*name);
                    if SEARCHES.contains(&method) {
                        self.sought(args);
                    }
                    // A text that begins or ends with the constant is the constant itself.
                    if ["startswith", "endswith"].contains(&method)
                        && let Some(affix) = args.first()
                    {
                        self.compared(subject, affix.expr());
                    }
                    if method == "get"
                        && let Some(key) = args.first().map(Arg::expr)
                    {
                        self.asks(expr);
                        self.looks_up(subject, key);
                    }
                }
            }
        }
    }

    /// The first argument of a search, if it is a constant.
    fn sought(&mut self, args: &'t [Arg]) {
        let Some(arg) = args.first().map(Arg::expr) else {
            return;
        };
        self.asked(arg);
        if let Some(text) = self.text(arg)
            && !self.found.sought.contains(text)
        {
            self.found.sought.push(text.clone());
        }
    }

    /// Notes a constant that something is compared with, or each of several.
    fn asked(&mut self, expr: &'t Expr) {
        if let ExprKind::List(items) | ExprKind::Tuple(items) = &expr.kind {
            items.iter().for_each(|item| self.asked(item));
        } else if let Some(text) = self.text(expr)
            && !self.found.asked.contains(text)
        {
            self.found.asked.push(text.clone());
        }
    }

    /// The text of a constant.
    fn text(&self, expr: &'t Expr) -> Option<&'t String> {
        let ExprKind::Literal(index) = &expr.kind else {
            return None;
        };
        match &self.tree.literals[*index] {
            Literal::Str(text, _) => Some(text),
            _ => None,
        }
    }

    /// A variable whose truth decides something is worth trying both ways.
    fn truth(&mut self, expr: &'t Expr) {
        if matches!(expr.kind, ExprKind::Var(_)) {
            self.candidate(expr, Value::Bool(true));
            self.candidate(expr, Value::Bool(false));
        }
    }

    /// Notes the numbers on both sides of a bound: one more than it is, and one less.
    fn bounded(&mut self, subject: &'t Expr, bound: &'t Expr) {
        let ExprKind::Literal(index) = &bound.kind else {
            return;
        };
        let Literal::Int(bound) = &self.tree.literals[*index] else {
            return;
        };
        for number in [bound.saturating_add(1), bound.saturating_sub(1)] {
            if let Ok(number) = i64::try_from(number) {
                self.candidate(subject, Value::from(number));
            }
        }
    }

    fn compared(&mut self, subject: &'t Expr, other: &'t Expr) {
        match &other.kind {
            ExprKind::Literal(index) => {
                let value = match &self.tree.literals[*index] {
                    Literal::None => Value::Null,
                    Literal::Bool(value) => Value::Bool(*value),
                    Literal::Int(value) => match Integer::from_digits(&value.to_string()) {
                        Some(value) => Value::Int(value),
                        None => return,
                    },
                    Literal::Float(value) => Value::Float(*value),
                    Literal::Str(text, _) => Value::from(text.as_str()),
                };
                self.candidate(subject, value);
            }
            ExprKind::List(items) | ExprKind::Tuple(items) => {
                items.iter().for_each(|item| self.compared(subject, item));
            }
            _ => {}
        }
    }

    /// Returns the variable from outside that an expression has the value of, where that is given: `enable_thinking | default(true)` is about
    /// `enable_thinking`, and so are `enable_thinking or false` and what was set to any of these.
    fn variable_of(&self, expr: &'t Expr) -> Option<&'t str> {
        let place = self.place_of(expr)?;
        place.path.is_empty().then_some(place.variable)
    }

    fn candidate(&mut self, subject: &'t Expr, value: Value) {
        let Some(text) = self.variable_of(subject) else {
            let place = self.place_of(subject);
            if let Some(shape) = place.and_then(|place| self.shape(&place)) {
                shape.compared_with(value);
            }
            return;
        };
        let candidates = &mut self.found.candidates;
        let at = candidates
            .iter()
            .position(|(known, _)| known == text)
            .unwrap_or_else(|| {
                candidates.push((text.to_owned(), Vec::new()));
                candidates.len() - 1
            });
        let values = &mut candidates[at].1;
        if !values.contains(&value) {
            values.push(value);
        }
    }

    /// Returns the place that an expression has the value of: a variable from outside, or a member or an item of one.
    fn place_of(&self, expr: &'t Expr) -> Option<Place<'t>> {
        let key = |text: &str| Step::Key(text.to_owned());
        match &expr.kind {
            ExprKind::Var(name) => {
                let alias = || self.aliases.get(name).copied();
                let variable = self.free(*name).or_else(alias);
                let whole = variable.map(|variable| Place {
                    variable,
                    path: Vec::new(),
                });
                whole.or_else(|| self.parts.get(name).cloned())
            }
            ExprKind::Attr(subject, name) => {
                Some(self.place_of(subject)?.and(key(self.tree.name(*name))))
            }
            ExprKind::Item(subject, index) => {
                let ExprKind::Literal(index) = &index.kind else {
                    return None;
                };
                let step = match &self.tree.literals[*index] {
                    Literal::Str(text, _) => key(text),
                    Literal::Int(_) => Step::Item,
                    _ => return None,
                };
                Some(self.place_of(subject)?.and(step))
            }
            ExprKind::Call { callee, args } => {
                let ExprKind::Attr(subject, name) = &callee.kind else {
                    return None;
                };
                let asked = args.first().and_then(|arg| self.text(arg.expr()))?;
                let is_get = &**self.tree.name(*name) == "get";
                Some(is_get.then(|| self.place_of(subject))??.and(key(asked)))
            }
            ExprKind::Filter {
                subject: Some(subject),
                ..
            } => self.place_of(subject),
            ExprKind::If { then, .. } => self.place_of(then),
            ExprKind::Chain(first, rest) => {
                let is_or = |(op, _): &(BinaryOp, Expr)| matches!(op, BinaryOp::Or);
                rest.iter().all(is_or).then(|| self.place_of(first))?
            }
            _ => None,
        }
    }

    /// The shape at a place, which is made where it is not known yet.
    fn shape(&mut self, place: &Place<'t>) -> Option<&mut Shape> {
        let shapes = &mut self.found.shapes;
        let known = |(name, _): &(String, Shape)| name == place.variable;
        let at = shapes.iter().position(known).unwrap_or_else(|| {
            shapes.push((place.variable.to_owned(), Shape::default()));
            shapes.len() - 1
        });
        shapes[at].1.at(&place.path)
    }

    /// Notes that a member or an item is asked for.
    fn asks(&mut self, expr: &'t Expr) {
        if let Some(place) = self.place_of(expr) {
            self.shape(&place);
        }
    }

    /// Notes the place that a name stands for, if it is a part of a variable from outside.
    fn is_part(&mut self, name: Name, place: Option<Place<'t>>) {
        match place.filter(|place| !place.path.is_empty()) {
            Some(place) => self.parts.insert(name, place),
            None => self.parts.remove(&name),
        };
    }

    /// Notes that a loop takes the items of a list, or the members of an object.
    fn loops_over(&mut self, iter: &'t Expr, target: &'t Target) {
        let members = match &iter.kind {
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Attr(subject, name) if &**self.tree.name(*name) == "items" => {
                    Some(&**subject)
                }
                _ => None,
            },
            ExprKind::Filter {
                name,
                subject: Some(subject),
                ..
            } if matches!(&**self.tree.name(*name), "items" | "dictsort") => Some(&**subject),
            _ => None,
        };
        let step = match members {
            Some(_) => Step::Key(ANY_TEXT.to_owned()),
            None => Step::Item,
        };
        let place = self.place_of(members.unwrap_or(iter));
        let place = place.map(|place| place.and(step));
        if let Some(place) = &place {
            self.shape(place);
        }
        let part = match (target, members) {
            (Target::Name(name), None) => Some(*name),
            (Target::Many(targets, _), Some(_)) => match targets.last() {
                Some(Target::Name(name)) => Some(*name),
                _ => None,
            },
            _ => None,
        };
        if let Some(name) = part {
            self.is_part(name, place);
        }
    }

    /// Returns the members of the object that an expression has the value of, where the template writes it.
    fn object_of(&self, expr: &'t Expr) -> Option<&'t [(Expr, Expr)]> {
        match &expr.kind {
            ExprKind::Dict(members) => Some(members),
            ExprKind::Var(name) => self.objects.get(name).copied(),
            _ => None,
        }
    }

    /// Notes the keys of an object that the template writes, where something is looked up in it.
    fn looks_up(&mut self, object: &'t Expr, key: &'t Expr) {
        for (known, _) in self.object_of(object).unwrap_or_default() {
            self.compared(key, known);
        }
    }

    /// Notes the keys of an object that stands in the place of a variable which is not given: `names or {"user": "U"}`.
    fn stands_for_object(&mut self, first: &'t Expr, rest: &'t [(BinaryOp, Expr)]) {
        let [(BinaryOp::Or, other)] = rest else {
            return;
        };
        let (Some(place), Some(members)) = (self.place_of(first), self.object_of(other)) else {
            return;
        };
        for (key, _) in members {
            if let Some(key) = self.text(key) {
                self.shape(&place.clone().and(Step::Key(key.clone())));
            }
        }
    }

    /// Notes a constant that is looked for in a list. A text would have it as well, and is tried beside the list.
    fn has_item(&mut self, list: &'t Expr, item: &'t Expr) {
        let (Some(place), Some(text)) = (self.place_of(list), self.text(item)) else {
            return;
        };
        if let Some(shape) = self.shape(&place.and(Step::Item)) {
            shape.compared_with(Value::from(text.as_str()));
        }
    }
}
