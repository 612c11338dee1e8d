//! Parsing expression grammars: what may be written, for our own engine to read.
//!
//! The alternatives of a grammar are alike; those of a parsing expression grammar are tried in their order, and the first that matches is
//! taken, whatever follows. So an alternative must know what follows it. Between the parts of a message each expression is written
//! together with all that may come behind it (`a` or `b`, then `c`, is `a c / b c`), which matches the same texts as the grammar
//! does and is the usual way from regular expressions to parsing expressions (Medeiros, Mascarenhas, Ierusalimschy, *From Regexes to Parsing
//! Expression Grammars*). What comes behind is a rule, written once however many ways lead there, so the grammar stays as large as
//! the graph that it is made of. Within a part, such as a call, the way on is told by what stands there, and `parts` writes it as it is.
//!
//! A text of a message is read as the response template reads it: without the white space around it, and to the first place at which something
//! stands that closes it. Where the first text of an alternative tells it from all that come later, a cut behind it says so: what
//! was read is then told at once, and none of it is kept.

mod beginnings;
mod firsts;
mod inline;
mod parts;
mod text;
mod unknown;
mod walk;

use super::{Finding, Text, extend};
use crate::grammar::Grammar;
use crate::grammar::peg;
use crate::grammar::reader::Template;
use crate::value::json;
use walk::Writer;

/// Writes a grammar.
pub(super) fn write(grammar: &Grammar) -> Text {
    let mut findings = grammar.findings().to_vec();
    let mut writer = Writer::new(grammar);
    let root = writer.all();
    let (root, rules) = inline::inlined(root, writer.rules());
    let text = match peg::Grammar::with_rules(root, rules) {
        Ok(peg) => {
            let mut template = Template::new(peg);
            template.settings = grammar.message.clone();
            json::to_string(&template.to_value())
        }
        Err(error) => {
            let finding = Finding {
                code: "no-peg",
                text: format!("it is no parsing expression grammar: {error}"),
            };
            extend(&mut findings, &[finding]);
            "null".to_owned()
        }
    };
    Text { text, findings }
}
