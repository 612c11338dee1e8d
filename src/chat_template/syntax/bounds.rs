//! How large and how deep a template's source may be, checked on its tokens before the parser recurses over them.

use minijinja::machinery::Token;

/// The number of bytes that a source may have.
pub(super) const SOURCE: usize = 4 << 20;

/// The number of operators that one tag may hold, and of `elif` branches that one `if` may: each can nest.
pub(super) const OPERATORS: usize = 1000;

/// How deep expressions and blocks may nest.
pub(super) const DEPTH: usize = 150;

/// Counts what makes the parser recurse.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    operators: usize,
    elifs: usize,
    depth: usize,
    first: bool,
    /// True if the last token ends an operand.
    operand: bool,
}

impl Bounds {
    /// Takes the next token; false when the template goes beyond what is allowed.
    pub(super) fn allow(&mut self, token: &Token<'_>) -> bool {
        let first = std::mem::take(&mut self.first);
        let after_operand = std::mem::replace(
            &mut self.operand,
            matches!(
                token,
                Token::Ident(_)
                    | Token::Str(_)
                    | Token::String(_)
                    | Token::Int(_)
                    | Token::Int128(_)
                    | Token::Float(_)
                    | Token::ParenClose
                    | Token::BracketClose
                    | Token::BraceClose
            ),
        );
        match token {
            Token::BlockStart | Token::VariableStart => {
                self.operators = 0;
                self.depth = 0;
                self.first = matches!(token, Token::BlockStart);
            }
            Token::Ident("if") if first => self.elifs = 0,
            Token::Ident("elif") if first => self.elifs += 1,
            Token::Ident("not" | "if" | "else" | "and" | "or" | "is" | "in")
            | Token::Plus
            | Token::Minus
            | Token::Mul
            | Token::Div
            | Token::FloorDiv
            | Token::Pow
            | Token::Mod
            | Token::Tilde
            | Token::Dot
            | Token::Pipe
            | Token::Eq
            | Token::Ne
            | Token::Gt
            | Token::Gte
            | Token::Lt
            | Token::Lte => self.operators += 1,
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => {
                self.depth += 1;
                // Behind an operand it calls or subscripts.
                self.operators += usize::from(after_operand);
            }
            Token::ParenClose | Token::BracketClose | Token::BraceClose => {
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
        self.operators <= OPERATORS && self.elifs <= OPERATORS && self.depth <= DEPTH
    }
}
