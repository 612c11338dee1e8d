//! The statements that read the tools and nothing else.

use super::TOOLS;
use crate::chat_template::syntax::tree::{Args, Expr, ExprKind, For, Name, Stmt, Target, Tree};

/// Functions that a chat template has without setting them, and that give the same for the same arguments.
const FUNCTIONS: [&str; 4] = ["range", "dict", "namespace", "raise_exception"];

/// Methods that change what they are called on.
const CHANGING: [&str; 13] = [
    "append",
    "clear",
    "extend",
    "insert",
    "next",
    "pop",
    "popitem",
    "remove",
    "reset",
    "reverse",
    "setdefault",
    "sort",
    "update",
];

/// The filter that draws lots.
const RANDOM: &str = "random";

/// Returns the macros that the statement calls, themselves or each other, if it reads the tools, and of everything else only what it makes
/// itself; `None` for every other statement.
pub(super) fn of_tools(tree: &Tree, stmt: &Stmt) -> Option<Vec<(Name, usize)>> {
    let mut walk = Walk {
        tree,
        own: Vec::new(),
        macros: Vec::new(),
        reads_tools: false,
    };
    let is_function = match stmt {
        Stmt::For(stmt) => walk.for_loop(stmt),
        Stmt::Emit(expr) => walk.expr(expr),
        _ => None,
    };
    is_function?;
    walk.reads_tools.then_some(walk.macros)
}

/// A walk over a statement. Each of its steps gives `None` where something is read that is no function of the tools.
struct Walk<'t> {
    tree: &'t Tree,
    /// The names that are bound here, in a stack.
    own: Vec<Name>,
    macros: Vec<(Name, usize)>,
    reads_tools: bool,
}

impl<'t> Walk<'t> {
    /// Walks over something of which the names that it binds are gone afterwards.
    fn scoped(&mut self, inner: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let before = self.own.len();
        let found = inner(self);
        self.own.truncate(before);
        found
    }

    fn for_loop(&mut self, stmt: &'t For) -> Option<()> {
        if stmt.recursive {
            return None;
        }
        self.expr(&stmt.iter)?;
        self.scoped(|walk| {
            walk.bind(&stmt.target)?;
            walk.own.extend(walk.tree.loop_name);
            stmt.filter
                .iter()
                .try_for_each(|filter| walk.expr(filter))?;
            walk.block(&stmt.body)
        })?;
        self.block(&stmt.otherwise)
    }

    /// Walks over statements. A name that is set in one of them is bound in those behind it; behind a branch it is not, since it
    /// may not have been taken.
    fn block(&mut self, body: &'t [Stmt]) -> Option<()> {
        self.scoped(|walk| body.iter().try_for_each(|stmt| walk.stmt(stmt)))
    }

    fn stmt(&mut self, stmt: &'t Stmt) -> Option<()> {
        match stmt {
            Stmt::Raw(..) | Stmt::Break | Stmt::Continue => Some(()),
            Stmt::Emit(expr) => self.expr(expr),
            Stmt::For(stmt) => self.for_loop(stmt),
            Stmt::If {
                test,
                then,
                otherwise,
            } => {
                self.expr(test)?;
                self.block(then)?;
                self.block(otherwise)
            }
            Stmt::Set { target, value } => {
                self.expr(value)?;
                self.bind(target)
            }
            Stmt::SetBlock {
                target,
                filter,
                body,
            } => {
                self.block(body)?;
                filter.iter().try_for_each(|filter| self.expr(filter))?;
                self.bind(target)
            }
            Stmt::With { assignments, body } => self.scoped(|walk| {
                for (target, value) in assignments {
                    walk.expr(value)?;
                    walk.bind(target)?;
                }
                walk.block(body)
            }),
            Stmt::Filter { filter, body } => {
                self.block(body)?;
                self.expr(filter)
            }
            Stmt::Generation(_) | Stmt::Macro(_) | Stmt::Call { .. } | Stmt::Fail { .. } => None,
        }
    }

    /// Binds the names of a target. The attribute of a namespace may be set only if the namespace was made here.
    fn bind(&mut self, target: &'t Target) -> Option<()> {
        match target {
            Target::Name(name) => {
                self.own.push(*name);
                Some(())
            }
            Target::Attr(name, ..) => self.own.contains(name).then_some(()),
            Target::Many(targets, _) => targets.iter().try_for_each(|target| self.bind(target)),
        }
    }

    fn name(&mut self, name: Name) -> Option<()> {
        if self.own.contains(&name) {
            return Some(());
        }
        let text: &str = self.tree.name(name);
        if text == TOOLS {
            self.reads_tools = true;
            return Some(());
        }
        let mut named = (0..self.tree.macros.len()).filter(|at| self.tree.macros[*at].name == name);
        match (named.next(), named.next()) {
            (Some(index), None) => self.call_macro(name, index),
            (None, _) => FUNCTIONS.contains(&text).then_some(()),
            // Of two macros of one name nothing tells which it is.
            (Some(_), Some(_)) => None,
        }
    }

    /// Walks over a macro that is called. What it reads of the place where it is defined is no function of the tools.
    fn call_macro(&mut self, name: Name, index: usize) -> Option<()> {
        if self.macros.contains(&(name, index)) {
            return Some(());
        }
        // Another value under that name would be found in some places alone.
        if sets(self.tree, name) {
            return None;
        }
        self.macros.push((name, index));
        let called = &self.tree.macros[index];
        let around = std::mem::take(&mut self.own);
        let found = called
            .defaults
            .iter()
            .try_for_each(|default| self.expr(default))
            .and_then(|()| {
                self.own.extend(&called.params);
                self.block(&called.body)
            });
        self.own = around;
        // A macro sees the tools under their name where it was defined, which is nowhere set if it is set nowhere.
        let tools = self.tree.find_name(TOOLS);
        found.filter(|()| tools.is_none_or(|tools| !sets(self.tree, tools)))
    }

    fn expr(&mut self, expr: &'t Expr) -> Option<()> {
        match &expr.kind {
            ExprKind::Var(name) => self.name(*name),
            ExprKind::Literal(_) => Some(()),
            ExprKind::List(items) | ExprKind::Tuple(items) => self.all(items),
            ExprKind::Dict(items) => items.iter().try_for_each(|(key, value)| {
                self.expr(key)?;
                self.expr(value)
            }),
            ExprKind::Attr(subject, _) | ExprKind::Not(subject) | ExprKind::Neg(subject) => {
                self.expr(subject)
            }
            ExprKind::Item(subject, item) => {
                self.expr(subject)?;
                self.expr(item)
            }
            ExprKind::Slice {
                subject,
                start,
                stop,
                step,
            } => {
                self.expr(subject)?;
                let bounds = [start, stop, step].into_iter().flatten();
                bounds.into_iter().try_for_each(|bound| self.expr(bound))
            }
            ExprKind::Chain(first, rest) => {
                self.expr(first)?;
                rest.iter().try_for_each(|(_, expr)| self.expr(expr))
            }
            ExprKind::Compare(first, rest) => {
                self.expr(first)?;
                rest.iter().try_for_each(|(_, expr)| self.expr(expr))
            }
            ExprKind::If {
                test,
                then,
                otherwise,
            } => {
                self.expr(test)?;
                self.expr(then)?;
                otherwise.iter().try_for_each(|expr| self.expr(expr))
            }
            ExprKind::Filter {
                name,
                subject,
                args,
            } => {
                subject.iter().try_for_each(|expr| self.expr(expr))?;
                self.args(args)?;
                (**self.tree.name(*name) != *RANDOM).then_some(())
            }
            ExprKind::Test { subject, args, .. } => {
                self.expr(subject)?;
                self.args(args)
            }
            ExprKind::Call { callee, args } => {
                if let ExprKind::Attr(_, method) = &callee.kind
                    && CHANGING.contains(&&**self.tree.name(*method))
                {
                    return None;
                }
                self.expr(callee)?;
                self.args(args)
            }
        }
    }

    fn all(&mut self, items: &'t [Expr]) -> Option<()> {
        items.iter().try_for_each(|item| self.expr(item))
    }

    fn args(&mut self, args: &'t Args) -> Option<()> {
        args.iter().try_for_each(|arg| self.expr(arg.expr()))
    }
}

/// Returns true if anything in the chat template sets that name, other than a macro that has it for its own.
fn sets(tree: &Tree, name: Name) -> bool {
    let mut bodies: Vec<&[Stmt]> = vec![&tree.body];
    for one in &tree.macros {
        if one.params.contains(&name) {
            return true;
        }
        bodies.push(&one.body);
    }
    bodies.iter().any(|body| sets_in(body, name))
}

fn sets_in(body: &[Stmt], name: Name) -> bool {
    fn is_target(target: &Target, name: Name) -> bool {
        match target {
            Target::Name(set) => *set == name,
            Target::Attr(..) => false,
            Target::Many(targets, _) => targets.iter().any(|target| is_target(target, name)),
        }
    }
    body.iter().any(|stmt| match stmt {
        Stmt::For(stmt) => {
            is_target(&stmt.target, name)
                || sets_in(&stmt.body, name)
                || sets_in(&stmt.otherwise, name)
        }
        Stmt::If {
            then, otherwise, ..
        } => sets_in(then, name) || sets_in(otherwise, name),
        Stmt::Set { target, .. } => is_target(target, name),
        Stmt::SetBlock { target, body, .. } => is_target(target, name) || sets_in(body, name),
        Stmt::With { assignments, body } => {
            let mut targets = assignments.iter().map(|(target, _)| target);
            targets.any(|target| is_target(target, name)) || sets_in(body, name)
        }
        Stmt::Generation(body) | Stmt::Filter { body, .. } => sets_in(body, name),
        Stmt::Raw(..)
        | Stmt::Emit(_)
        | Stmt::Macro(_)
        | Stmt::Call { .. }
        | Stmt::Break
        | Stmt::Continue
        | Stmt::Fail { .. } => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::chat_template::syntax;

    /// The first statement of a chat template reads the tools and nothing else.
    fn reads_tools_alone(source: &str) -> bool {
        let tree = syntax::parse(source).unwrap();
        super::of_tools(&tree, &tree.body[0]).is_some()
    }

    /// The last statement of a chat template reads the tools and nothing else.
    fn last_reads_tools_alone(source: &str) -> bool {
        let tree = syntax::parse(source).unwrap();
        super::of_tools(&tree, tree.body.last().unwrap()).is_some()
    }

    #[test]
    fn a_list_of_tools_reads_the_tools() {
        for source in [
            "{{ tools | tojson }}",
            "{{ tools | map(attribute='function') | list | tojson(indent=1) }}",
            "{% for tool in tools %}{{ loop.index }}{{ tool.name }}{% else %}none{% endfor %}",
            "{% for tool in tools if tool.function %}{% set t = tool.function %}{{ t.name }}{% endfor %}",
            "{% for tool in tools %}{% if tool.function %}{% set tool = tool.function %}{% endif %}{{ tool | tojson }}{% endfor %}",
            "{% for tool in tools %}{% set seen = namespace(n=0) %}{% set seen.n = 1 %}{{ seen.n }}{% endfor %}",
            "{% for tool in tools %}{% for key, value in tool.items() %}{{ key ~ value }}{% endfor %}{% endfor %}",
        ] {
            assert!(reads_tools_alone(source), "{source}");
        }
    }

    #[test]
    fn whatever_else_is_read_varies() {
        for source in [
            "{{ bos_token }}",
            "{{ messages[0].content }}",
            "{% for message in messages %}{{ tools | tojson }}{% endfor %}",
            "{% for tool in tools %}{{ tool.name ~ style }}{% endfor %}",
            "{% for tool in tools %}{% if tool.a %}{% set b = 1 %}{% endif %}{{ b }}{% endfor %}",
            "{% for tool in tools %}{% set seen.n = 1 %}{% endfor %}",
            "{{ tools.append(1) }}",
            "{{ tools | random }}",
            "{{ tools ~ strftime_now('%Y') }}",
            "{% for tool in tools recursive %}{{ loop(tool.parts) }}{% endfor %}",
            "{% if tools %}{% endif %}",
        ] {
            assert!(!reads_tools_alone(source), "{source}");
        }
    }

    #[test]
    fn macros_are_looked_into() {
        for (macros, is_function) in [
            ("{% macro shown(t) %}{{ t.name }}{% endmacro %}", true),
            (
                "{% macro shown(t) %}{{ t.name }}{% if t.inner %}{{ shown(t.inner) }}{% endif %}{% endmacro %}",
                true,
            ),
            (
                "{% macro shown(t) %}{{ t.name ~ messages }}{% endmacro %}",
                false,
            ),
            (
                "{% set style = 1 %}{% macro shown(t) %}{{ style }}{% endmacro %}",
                false,
            ),
            (
                "{% macro shown(t) %}{{ t.name }}{% endmacro %}{% set shown = 1 %}",
                false,
            ),
            (
                "{% set tools = [] %}{% macro shown(t) %}{{ tools }}{% endmacro %}",
                false,
            ),
            ("{% macro shown(t) %}{{ caller() }}{% endmacro %}", false),
        ] {
            let source = format!("{macros}{{% for t in tools %}}{{{{ shown(t) }}}}{{% endfor %}}");
            assert_eq!(last_reads_tools_alone(&source), is_function, "{source}");
        }
    }
}
