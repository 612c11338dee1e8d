//! A chat template's syntax tree, owned, with names interned and spans in bytes of the source as it was given.

use std::sync::Arc;

pub(in crate::chat_template) use super::places::Places;

/// A name of the template, an index into [`Tree::names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::chat_template) struct Name(pub(super) u32);

impl Name {
    /// The index into [`Tree::names`].
    pub(in crate::chat_template) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A byte range of the source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::chat_template) struct Span {
    pub(in crate::chat_template) start: u32,
    pub(in crate::chat_template) end: u32,
}

/// A whole template.
#[derive(Debug, Default)]
pub(in crate::chat_template) struct Tree {
    pub(in crate::chat_template) body: Vec<Stmt>,
    pub(in crate::chat_template) names: Vec<Arc<str>>,
    pub(in crate::chat_template) literals: Vec<Literal>,
    /// Where the constants stand that raw text and string literals are, by their index.
    pub(in crate::chat_template) places: Vec<Places>,
    pub(in crate::chat_template) macros: Vec<Macro>,
    /// `loop`, when the template mentions it.
    pub(in crate::chat_template) loop_name: Option<Name>,
}

impl Tree {
    pub(in crate::chat_template) fn name(&self, name: Name) -> &Arc<str> {
        &self.names[name.index()]
    }

    /// The name, when the template mentions it.
    pub(in crate::chat_template) fn find_name(&self, text: &str) -> Option<Name> {
        let at = self.names.iter().position(|name| **name == *text)?;
        u32::try_from(at).ok().map(Name)
    }
}

/// A constant.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::chat_template) enum Literal {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    /// With the index of its places.
    Str(String, usize),
}

/// A macro, or the body of a `call` block.
#[derive(Debug)]
pub(in crate::chat_template) struct Macro {
    pub(in crate::chat_template) name: Name,
    pub(in crate::chat_template) params: Vec<Name>,
    /// The defaults of the last parameters.
    pub(in crate::chat_template) defaults: Vec<Expr>,
    pub(in crate::chat_template) body: Vec<Stmt>,
    /// True if the body mentions `varargs`, `kwargs` and `caller`: only then may they be given.
    pub(in crate::chat_template) uses_varargs: bool,
    pub(in crate::chat_template) uses_kwargs: bool,
    pub(in crate::chat_template) uses_caller: bool,
}

/// The target of an assignment.
#[derive(Debug)]
pub(in crate::chat_template) enum Target {
    Name(Name),
    /// `namespace.attribute`.
    Attr(Name, Name, Span),
    Many(Vec<Target>, Span),
}

#[derive(Debug)]
pub(in crate::chat_template) enum Stmt {
    /// With the index of its places.
    Raw(String, usize),
    Emit(Expr),
    For(Box<For>),
    If {
        test: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Set {
        target: Target,
        value: Expr,
    },
    SetBlock {
        target: Target,
        filter: Option<Expr>,
        body: Vec<Stmt>,
    },
    /// `with`, and every other block that only opens a scope.
    With {
        assignments: Vec<(Target, Expr)>,
        body: Vec<Stmt>,
    },
    /// A `generation` block: text that the model writes, by the chat template's own account.
    Generation(Vec<Stmt>),
    Filter {
        filter: Expr,
        body: Vec<Stmt>,
    },
    /// Defines the macro of that index.
    Macro(usize),
    /// Calls with the macro of that index as `caller`.
    Call {
        callee: Expr,
        args: Args,
        body: usize,
        span: Span,
    },
    Break,
    Continue,
    /// A statement that always fails, such as `include` where there is nothing to include from.
    Fail {
        message: String,
        span: Span,
    },
}

#[derive(Debug)]
pub(in crate::chat_template) struct For {
    pub(in crate::chat_template) target: Target,
    pub(in crate::chat_template) iter: Expr,
    pub(in crate::chat_template) filter: Option<Expr>,
    pub(in crate::chat_template) recursive: bool,
    pub(in crate::chat_template) body: Vec<Stmt>,
    pub(in crate::chat_template) otherwise: Vec<Stmt>,
}

#[derive(Debug)]
pub(in crate::chat_template) struct Expr {
    pub(in crate::chat_template) kind: ExprKind,
    pub(in crate::chat_template) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat_template) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Rem,
    Pow,
    Concat,
    And,
    Or,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat_template) enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
}

#[derive(Debug)]
pub(in crate::chat_template) enum ExprKind {
    Var(Name),
    /// An index into [`Tree::literals`].
    Literal(usize),
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Attr(Box<Expr>, Name),
    Item(Box<Expr>, Box<Expr>),
    Slice {
        subject: Box<Expr>,
        start: Option<Box<Expr>>,
        stop: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
    },
    Not(Box<Expr>),
    Neg(Box<Expr>),
    /// A chain of binary operators that associate to the left: `a + b - c`.
    Chain(Box<Expr>, Vec<(BinaryOp, Expr)>),
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    If {
        test: Box<Expr>,
        then: Box<Expr>,
        otherwise: Option<Box<Expr>>,
    },
    /// Without a subject inside a `filter` block, where the block's text is the subject.
    Filter {
        name: Name,
        subject: Option<Box<Expr>>,
        args: Args,
    },
    Test {
        name: Name,
        subject: Box<Expr>,
        args: Args,
    },
    Call {
        callee: Box<Expr>,
        args: Args,
    },
}

/// The arguments of a call, in the order in which they are evaluated.
pub(in crate::chat_template) type Args = Vec<Arg>;

#[derive(Debug)]
pub(in crate::chat_template) enum Arg {
    Pos(Expr),
    Named(Name, Expr),
    Splat(Expr),
    NamedSplat(Expr),
}

impl Arg {
    pub(in crate::chat_template) fn expr(&self) -> &Expr {
        match self {
            Self::Pos(expr) | Self::Named(_, expr) | Self::Splat(expr) | Self::NamedSplat(expr) => {
                expr
            }
        }
    }
}
