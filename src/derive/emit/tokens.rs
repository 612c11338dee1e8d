//! The tokens of JSON values as patterns, by which a value is passed over: where it ends is told by what follows it.

use super::JSON_STRING;
use crate::derive::compare::{slot, text};

/// How deep within each other lists and objects are taken as a whole. Of those that go deeper the outer levels are taken character by character.
const MAX_NESTED: usize = 6;

/// The patterns of what a value of JSON is made of: texts, which may say anything, and other characters.
pub(super) struct Tokens {
    /// The alternatives for a text.
    texts: String,
    /// A condition on each other character: that no text begins there.
    guard: String,
}

impl Tokens {
    /// The tokens of JSON.
    pub(super) fn json() -> Self {
        Self {
            texts: JSON_STRING.to_owned(),
            guard: String::new(),
        }
    }

    /// The tokens of JSON of which some texts stand between these quotes.
    pub(super) fn between(open: &str, close: &str) -> Self {
        if open == "\"" {
            return Self::json();
        }
        let inner = match open == close && open.chars().count() == 1 {
            true => format!("(?:[^{0}\\\\]|\\\\.)*", slot::stop(open)),
            false => format!("(?:(?!{}).)*", text::escape(close)),
        };
        let [open, close] = [open, close].map(text::escape);
        Self {
            texts: format!("{JSON_STRING}|{open}{inner}{close}"),
            guard: format!("(?!{open})"),
        }
    }

    /// A pattern for one text, or for a character that begins none.
    pub(super) fn flat(&self) -> String {
        format!("{}|{}[^\"]", self.texts, self.guard)
    }

    /// A pattern for one text, list or object, or for a character that begins none.
    pub(super) fn any(&self) -> String {
        let nested = self.nested(MAX_NESTED);
        format!("{}|{nested}|{}[^\"]", self.texts, self.guard)
    }

    /// A pattern for a list or an object with no more than so many within each other.
    ///
    /// Each character has one place in it, so that it is matched in one pass. Its length grows with the depth.
    fn nested(&self, depth: usize) -> String {
        let within = match depth {
            0 | 1 => String::new(),
            _ => format!("|{}", self.nested(depth - 1)),
        };
        let Self { texts, guard } = self;
        format!("[\\[{{](?:{texts}|{guard}[^\"\\[\\]{{}}]{within})*[\\]}}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;

    /// The text that the tokens take up to the first `;` outside of them.
    fn taken(tokens: &Tokens, text: &str) -> String {
        let pattern = Pattern::regex(&format!("^(?:{})*?;", tokens.any())).unwrap();
        let found = pattern.search(text, 0).unwrap().unwrap();
        text[..found.span.end].to_owned()
    }

    #[test]
    fn what_is_nested_is_one_token() {
        let json = Tokens::json();
        for text in [
            "1;",
            r#"";\";";"#,
            "[1; 2, {\"a;\": [;]}];",
            "[[[[[[;]]]]]];",
        ] {
            assert_eq!(taken(&json, &format!("{text} and more;")), text);
        }
        // The outermost of seven levels is taken character by character, and what is within it as a whole.
        assert_eq!(taken(&json, "[[[[[[[;]]]]]]];"), "[[[[[[[;]]]]]]];");
        assert_eq!(taken(&json, "[[[[[[[]]]]]];];"), "[[[[[[[]]]]]];");
        let quoted = Tokens::between("<q>", "</q>");
        let text = "{a: <q>;}]</q>, b: [;]};";
        assert_eq!(taken(&quoted, &format!("{text};")), text);
    }
}
