//! An amendment for a reasoning that nothing opens.
//!
//! `Hm.</think>Hi.</A>` is read with a reasoning that is what no other field takes, and a content that `</think>` opens. So is what an engine adds behind the turn: a
//! line feed behind `</A>` is no field's but the reasoning's, and takes the place of the one that was read. Where the messages that came back still do, the reasoning
//! is what the response begins with instead, up to `</think>`, and the content is all the rest.
//!
//! This costs one proof, for chat templates with such a reasoning alone.

use super::{Amended, Bench};
use crate::derive::emit::{self, Target};
use crate::response_template::{Delimiter, Document};

impl Amended {
    /// Lets the response begin with a reasoning that nothing opens, if the content is what follows it.
    pub(in crate::derive) fn begin_with_reasoning(&mut self, bench: &Bench<'_>) {
        let field = emit::reasoning_field(bench.analysis, bench.target);
        let Some(document) = begun(&self.document, field, bench.target) else {
            return;
        };
        let proof = self.proved(&document, bench.keeps(&self.proof));
        if let Some(proof) = proof {
            let told = "text behind the answer would take the place of a reasoning that nothing opens; so the reasoning is what the response begins with";
            self.take(document, proof, "claimed", told.to_owned());
        }
    }
}

/// Returns the response template with the field at the beginning of the response, up to what opens the content, and the content implicit; `None` where the field is not
/// implicit, or nothing opens the content.
fn begun(document: &Document, field: &str, target: Target) -> Option<Document> {
    let mut document = document.clone();
    let opens = document.fields.get_mut("content")?.open.take()?;
    let reasoning = document.fields.get_mut(field)?;
    if reasoning.open.is_some() || reasoning.close.is_some() {
        return None;
    }
    reasoning.open = Some(Delimiter::pattern("\\A"));
    reasoning.close = Some(opens);
    // Not all servers know a join.
    if !target.served {
        reasoning.repeats = true;
        reasoning.join = Some(String::new());
    }
    Some(document)
}
