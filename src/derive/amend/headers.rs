//! Amendments for prompts that begin the turn otherwise than the start anchor does.
//!
//! A prompt may have a mark behind the anchor, as `<assistant><draft>` has under a kwarg, with tools or in a long conversation, and answers then stand behind it. What
//! the prompt has behind the anchor would come back as the beginning of the message. Where messages do not come back, what their prompt begins the turn with is tried as
//! an anchor as well, and taken if more of them come back and none is lost.
//!
//! A chat template may write `<|ai|>` before the answers of the history and `<|assistant|>` at the end of a prompt. No render has an answer behind such a prompt, so that
//! its verdict stays what it is. But the anchor that was read from the answers is not in the prompt: whatever the prompt ends with would come back as the beginning of the
//! message. Where the answers of the history come back behind the prompt as soon as its own last constants are an anchor as well, they become one.
//!
//! A prompt that has the anchor and goes on behind it, as `<ai><quick>` does under a kwarg, may open something or say something. Where nothing is known of it, it would come
//! back as the beginning of the message, though the model has not written it. So all of it becomes an anchor. That comes last, since recorded responses may still show that
//! it opens a reasoning. (A chat template that renders a content with its reasoning in it, `<think>` and all, gets such a content back without that first `<think>`.)
//!
//! Each prompt that no answer goes on from costs a proof for each of the constants that it ends with, until one is taken. Most chat templates have no such prompt.

use std::sync::Arc;

use super::{Amended, Bench};
use crate::chat_template::ANY_TEXT;
use crate::derive::evidence::finding::Finding;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::narrow::Proposal;
use crate::derive::proof::Proof;
use crate::judge::{PromptTail, RoundId, Unproved};
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};
use crate::value::json;

/// How many marks are added to the start anchor.
const MAX_MARKS: usize = 8;

impl Amended {
    /// Lets the turn begin behind a mark that only some prompts have behind the start anchor, where messages come back by it that did not.
    pub(in crate::derive) fn begin_behind_marks(&mut self, bench: &Bench<'_>, engines: &[Engine]) {
        while self.marks.len() < MAX_MARKS
            && let Some((document, proof, mark)) = self.begun_behind_mark(bench, engines)
        {
            (self.document, self.proof) = (document, proof);
            self.marks.push(mark);
        }
        self.findings.extend(Finding::marks(&self.marks));
    }

    /// Returns the response template with one more anchor, by which more messages come back, and that anchor.
    fn begun_behind_mark(
        &self,
        bench: &Bench<'_>,
        engines: &[Engine],
    ) -> Option<(Document, Proof, String)> {
        let literals = literals(&self.document)?;
        let failing = self.proof.failing();
        let mut headers: Vec<String> = Vec::new();
        for failure in failing {
            let header = begun_with(literals, &failure.found.prefix);
            let header = header.map(|header| bench.judge.behind_texts(header));
            let header =
                header.filter(|header| !header.contains(ANY_TEXT) && !header.trim().is_empty());
            if let Some(header) =
                header.filter(|header| !headers.iter().any(|known| known == header))
            {
                headers.push(header.to_owned());
            }
        }
        let proposals = headers.into_iter().map(|header| Proposal {
            document: with_anchor(&self.document, literals, &header),
            told: header,
        });
        let lost: Vec<RoundId> = failing.iter().map(|failure| failure.round).collect();
        let all = bench.bringing_back(proposals, &lost, bench.scrutiny, engines, &self.document);
        let mut proves = bench.brings_more_back(&self.proof);
        let mut all = all.into_iter().take(MAX_MARKS);
        all.find_map(|(_, template, proposal)| {
            let proof = proves(&template)?;
            Some((proposal.document, proof, proposal.told))
        })
    }

    /// Lets the turn begin behind the last constants of prompts that begin it otherwise than answers do.
    pub(in crate::derive) fn begin_behind_prompts(&mut self, bench: &Bench<'_>) {
        let headers = |literals: &[String], tail: &PromptTail| match has_anchor(literals, tail) {
            true => Vec::new(),
            false => tail.headers.clone(),
        };
        self.begin_behind(bench, headers, |headers| {
            format!(
                "a prompt begins the turn with {headers}, and no answer of the history does; the turn is read behind it as it is behind what answers begin with"
            )
        });
    }

    /// Lets the turn begin behind all of a prompt that has the anchor and goes on behind it, where that would come back as a part of the message.
    pub(in crate::derive) fn pass_over_prompts(&mut self, bench: &Bench<'_>) {
        let whole = |literals: &[String], tail: &PromptTail| {
            let is_read = has_anchor(literals, tail) && !tail.headers.is_empty();
            let begun = is_read.then(|| begun_with(literals, &tail.added));
            begun.flatten().map(str::to_owned).into_iter().collect()
        };
        self.begin_behind(bench, whole, |headers| {
            format!(
                "a prompt begins the turn with {headers}, and nothing shows what that opens, if anything; it is the prompt's, and no part of the message"
            )
        });
    }

    /// Lets the turn begin behind what `headers` names of the ends of prompts, with the literals of the anchor at hand, as long as fewer of them come back in the message by that.
    fn begin_behind(
        &mut self,
        bench: &Bench<'_>,
        headers: impl Fn(&[String], &PromptTail) -> Vec<String>,
        told: impl FnOnce(&str) -> String,
    ) {
        let mut all = Vec::new();
        while let Some((document, proof, [header, prompt])) = self.begun_behind_one(bench, &headers)
        {
            self.evidence.push(Evidence {
                decision: "anchor",
                marker: header.clone(),
                reading: "what a prompt begins the turn with, and no answer of the history does"
                    .to_owned(),
                left: RenderExcerpt::new("what begins answers", anchors(&self.document)),
                right: RenderExcerpt::new("what the prompt adds", prompt),
                places: Vec::new(),
            });
            (self.document, self.proof) = (document, proof);
            all.push(json::quote(&header));
        }
        if !all.is_empty() {
            let told = told(&all.join(", "));
            self.findings.push(Finding::info("prompt-header", told));
        }
    }

    /// Returns the response template with one more anchor, by which fewer prompts leave a text of their own in the message; and that anchor, with what the
    /// prompt adds to its conversation.
    fn begun_behind_one(
        &self,
        bench: &Bench<'_>,
        headers: impl Fn(&[String], &PromptTail) -> Vec<String>,
    ) -> Option<(Document, Proof, [String; 2])> {
        let leaking = |proof: &Proof| tails(proof).filter(|tail| !tail.headers.is_empty()).count();
        let before = leaking(&self.proof);
        let mut keeps = bench.keeps(&self.proof);
        let literals = literals(&self.document)?;
        // What stands around a text that was made up may be anything.
        let is_made_up = |tail: &&PromptTail| tail.added.contains(ANY_TEXT);
        let tails = tails(&self.proof).filter(|tail| !is_made_up(tail));
        let mut headers = tails
            .flat_map(|tail| {
                let headers = headers(literals, tail).into_iter();
                headers.map(|header| [header, tail.added.clone()])
            })
            .filter_map(|[header, added]| {
                let document = with_anchor(&self.document, literals, &header);
                if !self.reads_recorded(&document) {
                    return None;
                }
                let template = ResponseTemplate::from_value(&document.to_value()).ok()?;
                let proof = keeps(&Arc::new(template))?;
                (leaking(&proof) < before).then_some((document, proof, [header, added]))
            });
        headers.next()
    }
}

/// Returns the literals of the start anchor as one text.
fn anchors(document: &Document) -> String {
    let literals = literals(document).unwrap_or_default().iter();
    literals
        .map(|one| json::quote(one))
        .collect::<Vec<_>>()
        .join(" or ")
}

/// Returns true if a prompt has the start anchor.
fn has_anchor(literals: &[String], tail: &PromptTail) -> bool {
    literals
        .iter()
        .any(|known| tail.added.contains(known.trim()))
}

/// The literals of the start anchor; `None` where it is a pattern.
fn literals(document: &Document) -> Option<&[String]> {
    match &document.start_anchor {
        Delimiter::Literals(literals) => Some(literals),
        Delimiter::Pattern(_) => None,
    }
}

/// Returns what a prompt begins the turn with, from the last start anchor on, if that is more than the anchor.
fn begun_with<'p>(literals: &[String], prompt: &'p str) -> Option<&'p str> {
    let ends = literals.iter().filter_map(|literal| {
        let at = prompt.rfind(literal.as_str())?;
        Some((at + literal.len(), at))
    });
    let (end, at) = ends.max()?;
    (!prompt[end..].trim().is_empty()).then(|| &prompt[at..])
}

/// The ends of prompts that no answer has.
fn tails(proof: &Proof) -> impl Iterator<Item = &PromptTail> {
    let unproved = proof.judgement.unproved.iter();
    unproved.filter_map(|unproved| match unproved {
        Unproved::PromptTail(tail) => Some(tail),
        _ => None,
    })
}

/// Returns the response template with one more literal that begins a turn, without those that end with it.
fn with_anchor(document: &Document, literals: &[String], header: &str) -> Document {
    let others = literals.iter().filter(|known| !known.ends_with(header));
    let literals = others.cloned().chain([header.to_owned()]).collect();
    Document {
        start_anchor: Delimiter::Literals(literals),
        ..document.clone()
    }
}
