//! A Pratt parser: each token has a binding power, and an expression goes on for as long as the next token binds more strongly than the
//! operator before it. It makes one pass over the tokens, and the depth of recursion is limited.

use super::lexer::{Token, tokens};
use super::{Ast, Comparator, Fault, NESTING};

pub(super) fn parse(source: &str) -> Result<Ast, Fault> {
    if source.is_empty() {
        return Err(Fault::new("the expression is empty"));
    }
    let mut parser = Parser {
        tokens: tokens(source)?,
        next: 0,
        depth: 0,
    };
    let ast = parser.expression(0)?;
    parser.expect(&Token::End)?;
    Ok(ast)
}

/// Tokens that bind less than this end a projection.
const PROJECTION_STOP: u8 = 10;

const STAR: u8 = 20;
const FILTER: u8 = 21;
const FLATTEN: u8 = 9;
const DOT: u8 = 40;

fn power(token: &Token) -> u8 {
    match token {
        Token::Pipe => 1,
        Token::Or => 2,
        Token::And => 3,
        Token::Equal
        | Token::Unequal
        | Token::Less
        | Token::LessOrEqual
        | Token::Greater
        | Token::GreaterOrEqual => 5,
        Token::Flatten => FLATTEN,
        Token::Star => STAR,
        Token::Filter => FILTER,
        Token::Dot => DOT,
        Token::Not => 45,
        Token::OpenBrace => 50,
        Token::OpenBracket => 55,
        Token::OpenParenthesis => 60,
        _ => 0,
    }
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        // The last token is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)].0
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn wrong<T>(&self) -> Result<T, Fault> {
        let (token, at) = &self.tokens[self.next.min(self.tokens.len() - 1)];
        Err(Fault::new(match token {
            Token::End => "the expression ends too early".to_owned(),
            _ => format!("the expression cannot go on as it does at byte {at}"),
        }))
    }

    fn expect(&mut self, token: &Token) -> Result<(), Fault> {
        if self.peek() != token {
            return self.wrong();
        }
        self.next += 1;
        Ok(())
    }

    fn expression(&mut self, binding: u8) -> Result<Ast, Fault> {
        let too_deep = || Fault::limit(format!("the expression nests more than {NESTING} deep"));
        self.depth += 1;
        if self.depth > NESTING {
            return Err(too_deep());
        }
        let mut left = self.prefix()?;
        while binding < power(self.peek()) {
            left = self.infix(left)?;
            if left.depth() > NESTING {
                return Err(too_deep());
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Parses the beginning of an expression.
    fn prefix(&mut self) -> Result<Ast, Fault> {
        let at = self.next;
        Ok(match self.advance() {
            Token::Literal(value) => Ast::Literal(value),
            Token::Name(_, true) if *self.peek() == Token::OpenParenthesis => return self.wrong(),
            Token::Name(name, _) => Ast::Field(name),
            Token::Star => {
                let right = if *self.peek() == Token::CloseBracket {
                    Ast::Current
                } else {
                    self.projected(STAR)?
                };
                Ast::ValueProjection(Box::new([Ast::Current, right]))
            }
            Token::Filter => self.filter(Ast::Current)?,
            Token::OpenBrace => self.hash()?,
            Token::OpenParenthesis => {
                let inner = self.expression(0)?;
                self.expect(&Token::CloseParenthesis)?;
                inner
            }
            Token::Flatten => self.flatten(Ast::Current)?,
            Token::Not => Ast::Not(Box::new(self.expression(45)?)),
            Token::OpenBracket => match self.peek() {
                Token::Number(_) | Token::Colon => {
                    let index = self.index()?;
                    self.indexed(Ast::Current, index)?
                }
                Token::Star
                    if self.tokens.get(self.next + 1).map(|(token, _)| token)
                        == Some(&Token::CloseBracket) =>
                {
                    self.next += 2;
                    Ast::Projection(Box::new([Ast::Current, self.projected(STAR)?]))
                }
                _ => self.list()?,
            },
            Token::Current => Ast::Current,
            Token::Reference => Ast::Reference(Box::new(self.expression(0)?)),
            _ => {
                self.next = at;
                return self.wrong();
            }
        })
    }

    /// Parses the operator that goes on from an expression, with its right side.
    fn infix(&mut self, left: Ast) -> Result<Ast, Fault> {
        let at = self.next;
        let token = self.advance();
        let pair = |right: Ast, left: Ast| Box::new([left, right]);
        let comparator = match token {
            Token::Dot if *self.peek() == Token::Star => {
                self.next += 1;
                return Ok(Ast::ValueProjection(pair(self.projected(DOT)?, left)));
            }
            Token::Dot => {
                let right = self.behind_dot(DOT)?;
                return Ok(match left {
                    Ast::Chain {
                        mut nodes,
                        indexed: false,
                    } => {
                        nodes.push(right);
                        Ast::Chain {
                            nodes,
                            indexed: false,
                        }
                    }
                    left => Ast::Chain {
                        nodes: vec![left, right],
                        indexed: false,
                    },
                });
            }
            Token::Pipe => return Ok(Ast::Pipe(pair(self.expression(1)?, left))),
            Token::Or => return Ok(Ast::Or(pair(self.expression(2)?, left))),
            Token::And => return Ok(Ast::And(pair(self.expression(3)?, left))),
            Token::OpenParenthesis => return self.call(left, at),
            Token::Filter => return self.filter(left),
            Token::Flatten => return self.flatten(left),
            Token::OpenBracket => {
                if matches!(self.peek(), Token::Number(_) | Token::Colon) {
                    let index = self.index()?;
                    return match left {
                        Ast::Chain {
                            mut nodes,
                            indexed: true,
                        } => {
                            nodes.push(index);
                            Ok(Ast::Chain {
                                nodes,
                                indexed: true,
                            })
                        }
                        left => self.indexed(left, index),
                    };
                }
                self.expect(&Token::Star)?;
                self.expect(&Token::CloseBracket)?;
                return Ok(Ast::Projection(pair(self.projected(STAR)?, left)));
            }
            Token::Equal => Comparator::Equal,
            Token::Unequal => Comparator::Unequal,
            Token::Less => Comparator::Less,
            Token::LessOrEqual => Comparator::LessOrEqual,
            Token::Greater => Comparator::Greater,
            Token::GreaterOrEqual => Comparator::GreaterOrEqual,
            _ => {
                self.next = at;
                return self.wrong();
            }
        };
        Ok(Ast::Comparison(comparator, pair(self.expression(5)?, left)))
    }

    fn call(&mut self, left: Ast, at: usize) -> Result<Ast, Fault> {
        let Ast::Field(name) = left else {
            self.next = at;
            return self.wrong();
        };
        let mut arguments = Vec::new();
        while *self.peek() != Token::CloseParenthesis {
            arguments.push(self.expression(0)?);
            if *self.peek() == Token::Comma {
                self.next += 1;
            }
        }
        self.next += 1;
        Ok(Ast::Function(name, arguments))
    }

    fn filter(&mut self, left: Ast) -> Result<Ast, Fault> {
        let condition = self.expression(0)?;
        self.expect(&Token::CloseBracket)?;
        let right = if *self.peek() == Token::Flatten {
            Ast::Current
        } else {
            self.projected(FILTER)?
        };
        Ok(Ast::Filter(Box::new([left, right, condition])))
    }

    fn flatten(&mut self, left: Ast) -> Result<Ast, Fault> {
        let right = self.projected(FLATTEN)?;
        Ok(Ast::Projection(Box::new([
            Ast::Flatten(Box::new(left)),
            right,
        ])))
    }

    /// Parses the expression for each item of a projection.
    fn projected(&mut self, binding: u8) -> Result<Ast, Fault> {
        match self.peek() {
            token if power(token) < PROJECTION_STOP => Ok(Ast::Current),
            Token::OpenBracket | Token::Filter => self.expression(binding),
            Token::Dot => {
                self.next += 1;
                self.behind_dot(binding)
            }
            _ => self.wrong(),
        }
    }

    fn behind_dot(&mut self, binding: u8) -> Result<Ast, Fault> {
        match self.peek() {
            Token::Name(..) | Token::Star => self.expression(binding),
            Token::OpenBracket => {
                self.next += 1;
                self.list()
            }
            Token::OpenBrace => {
                self.next += 1;
                self.hash()
            }
            _ => self.wrong(),
        }
    }

    /// Parses an index or a slice behind its bracket: `1]`, `1:2]`, `::2]`.
    fn index(&mut self) -> Result<Ast, Fault> {
        let is_slice = *self.peek() == Token::Colon
            || self.tokens.get(self.next + 1).map(|(token, _)| token) == Some(&Token::Colon);
        if !is_slice {
            let Token::Number(number) = self.advance() else {
                return self.wrong();
            };
            self.expect(&Token::CloseBracket)?;
            return Ok(Ast::Index(number));
        }
        let mut parts = [None; 3];
        let mut part = 0;
        loop {
            match self.peek() {
                Token::CloseBracket => break,
                Token::Colon if part < 2 => part += 1,
                Token::Number(number) => parts[part] = Some(*number),
                _ => return self.wrong(),
            }
            self.next += 1;
        }
        self.next += 1;
        Ok(Ast::Slice(parts))
    }

    /// Makes an index of `left`; a slice begins a projection.
    fn indexed(&mut self, left: Ast, index: Ast) -> Result<Ast, Fault> {
        let is_slice = matches!(index, Ast::Slice(_));
        let chain = Ast::Chain {
            nodes: vec![left, index],
            indexed: true,
        };
        if !is_slice {
            return Ok(chain);
        }
        Ok(Ast::Projection(Box::new([chain, self.projected(STAR)?])))
    }

    fn list(&mut self) -> Result<Ast, Fault> {
        let mut nodes = Vec::new();
        loop {
            nodes.push(self.expression(0)?);
            if *self.peek() == Token::CloseBracket {
                break;
            }
            self.expect(&Token::Comma)?;
        }
        self.next += 1;
        Ok(Ast::List(nodes))
    }

    fn hash(&mut self) -> Result<Ast, Fault> {
        let mut pairs = Vec::new();
        loop {
            let Token::Name(name, _) = self.peek().clone() else {
                return self.wrong();
            };
            self.next += 1;
            self.expect(&Token::Colon)?;
            pairs.push((name, self.expression(0)?));
            match self.peek() {
                Token::Comma => self.next += 1,
                Token::CloseBrace => break,
                _ => return self.wrong(),
            }
        }
        self.next += 1;
        Ok(Ast::Hash(pairs))
    }
}
