//! Grammars that are held from the first trigger of a call on: a model writes what it likes until then.
//!
//! The triggers are those at which a response template would end the answer and begin a call, so nothing that is a call to
//! whoever reads escapes the grammar. Where such a trigger stands in what is no call, too, as `>>>` does where `>>>all` opens an answer and
//! `>>>find` a call, the trigger of each call is as much of it as tells it from the others: `>>>f`. Of a tool that nobody named is
//! then nothing held, since nothing shows that it begins.

use super::avoid::{Avoid, Piece};
use super::expr::{Arena, Expr, Id};
use super::format::{Edge, Format, GraphNode, Kind};

/// A grammar that begins with a call.
#[derive(Debug, Clone)]
pub(crate) struct Lazy {
    pub(crate) root: Id,
    /// The triggers with which a call begins; none where it cannot be seen.
    pub(crate) triggers: Vec<Trigger>,
    /// True if a call may begin without any trigger, which is then not held.
    pub(crate) is_unseen: bool,
}

/// A text with which a call begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// This text.
    Word(String),
    /// A text that this regular expression matches, in the syntax that llama.cpp knows.
    Pattern(String),
}

/// The texts in which triggers are looked for.
#[derive(Debug)]
pub(crate) struct Signs<'f> {
    /// The sequences that the response template ends a text at.
    ways: Vec<&'f [Piece]>,
    /// The fixed texts that are written before the first call.
    before: Vec<String>,
}

impl<'f> Signs<'f> {
    pub(crate) fn of(format: &'f Format) -> Self {
        let texts = format.states.iter().filter_map(|state| match &state.kind {
            Kind::Text(text) => Some(&text.avoid),
            Kind::Call(_) => None,
        });
        let call = |node: GraphNode| match node {
            GraphNode::State(state) => match &format.states[state].kind {
                Kind::Call(_) => Some(None),
                Kind::Text(text) => Some(Some(&text.lead)),
            },
            _ => None,
        };
        let is_call = |node: GraphNode| call(node) == Some(None);
        let uncalled = format.edges.iter().filter(|edge| !is_call(edge.from));
        let before = uncalled.map(|edge| match call(edge.to) {
            Some(None) => edge.text[..edge.sign()].to_owned(),
            Some(Some(lead)) => format!("{}{lead}", edge.text),
            None => edge.text.clone(),
        });
        Self {
            ways: texts.flat_map(Avoid::pieces).map(Vec::as_slice).collect(),
            before: before.filter(|text| !text.is_empty()).collect(),
        }
    }

    /// The triggers in the text with which a call begins, behind which one of these names stands; empty where nothing shows that it begins.
    pub(crate) fn of_call(&self, text: &str, heads: &[String]) -> Vec<Trigger> {
        match self.read(text) {
            Some(way) if self.is_apart(&Avoid::new([way.clone()])) => return vec![sign(&way)],
            Some(_) => {}
            // The name of a tool alone is no trigger: it stands in texts.
            None => return Vec::new(),
        }
        let mut signs = Vec::new();
        for head in heads {
            let whole = format!("{text}{head}");
            let ends = whole.char_indices().map(|(at, c)| at + c.len_utf8());
            let apart = |end: &usize| {
                let sign = &whole[..*end];
                !self.before.iter().any(|text| text.contains(sign))
            };
            match ends.clone().find(apart) {
                Some(end) => {
                    let sign = Trigger::Word(whole[..end].to_owned());
                    if !signs.contains(&sign) {
                        signs.push(sign);
                    }
                }
                None => return Vec::new(),
            }
        }
        signs
    }

    /// The trigger by which the response template knows the call.
    fn read(&self, text: &str) -> Option<Vec<Piece>> {
        let begins = |piece: &Piece| matches!(piece, Piece::Text(known) if text.starts_with(known));
        let ways = || {
            self.ways
                .iter()
                .filter(|way| way.first().is_some_and(begins))
        };
        let way = ways().find(|way| way.len() == 1).or_else(|| ways().next());
        let word = text.trim_end();
        match way {
            Some(way) => Some(way.to_vec()),
            None => (!word.is_empty()).then(|| vec![Piece::Text(word.to_owned())]),
        }
    }

    /// Returns true if the trigger stands in nothing that is written before the first call.
    fn is_apart(&self, sign: &Avoid) -> bool {
        self.before.iter().all(|text| sign.allows(text))
    }
}

impl Edge {
    /// Where in the text the trigger of the call begins that it leads to.
    pub(crate) fn sign(&self) -> usize {
        let text = &self.text[self.opens..];
        self.text.len() - text.trim_start().len()
    }
}

/// The texts that an expression begins with; `None` where it may begin with something else.
pub(crate) fn heads(arena: &Arena, id: Id) -> Option<Vec<String>> {
    match arena.get(id) {
        Expr::Text(text) if !text.is_empty() => Some(vec![text.clone()]),
        Expr::Tag(_, of) => heads(arena, *of),
        Expr::Seq(items) => heads(arena, *items.first()?),
        Expr::Choice(items) => {
            let all: Option<Vec<Vec<String>>> = items.iter().map(|id| heads(arena, *id)).collect();
            all.map(|all| all.concat())
        }
        _ => None,
    }
}

fn sign(way: &[Piece]) -> Trigger {
    match way {
        [Piece::Text(word)] => Trigger::Word(word.clone()),
        way => Trigger::Pattern(way.iter().map(pattern).collect()),
    }
}

fn pattern(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => text.chars().map(escaped).collect(),
        Piece::Space => "\\s*".to_owned(),
        Piece::Run(chars, min) => {
            // llama.cpp's expressions know bytes: what is beyond ASCII is in a set or out of it as a whole.
            let (sign, set) = match chars.is_wide() {
                true => ("^", chars.negated()),
                false => ("", chars.clone()),
            };
            let within = (0..128_u8).map(char::from).filter(|c| set.has(*c));
            let within: String = within
                .map(|c| match c {
                    c if c.is_ascii_alphanumeric() => c.to_string(),
                    c => format!("\\x{:02x}", u32::from(c)),
                })
                .collect();
            let count = match min {
                0 => "*".to_owned(),
                1 => "+".to_owned(),
                min => format!("{{{min},}}"),
            };
            format!("[{sign}{within}]{count}")
        }
    }
}

/// A character as it is in a regular expression.
fn escaped(c: char) -> String {
    if "\\.^$|()[]{}*+?".contains(c) {
        format!("\\{c}")
    } else {
        c.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::chars::Chars;

    #[test]
    fn a_pattern_is_in_the_syntax_of_llama_cpp() {
        let name = Chars::from_ranges(&[('>', '>'), (' ', ' ')]).negated();
        let pieces = [
            Piece::Text(">>>".to_owned()),
            Piece::Space,
            Piece::Run(name, 1),
            Piece::Text("{".to_owned()),
        ];
        let all: String = pieces.iter().map(pattern).collect();
        assert_eq!(all, r">>>\s*[^\x20\x3e]+\{");
    }
}
