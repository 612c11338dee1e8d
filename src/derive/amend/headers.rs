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
//! But a prompt that has the reasoning's marker with something more written into it, `<think effort="low">` where the history has `<think>`, opens the reasoning, unless
//! something is switched off by its kwargs. That these two are alike is all that tells so; the alternative is that the reasoning comes back as content, with what closes it.
//!
//! What is known to open a part of the message is no such text. Of `<ai><effort:low><think>` all before `<think>` becomes an anchor, and of `<ai><think>Briefly: ` nothing
//! does: the message whose reasoning begins with `Briefly: ` is rendered as this prompt and what the model goes on with. And where a kwarg writes a part of the prompt, as
//! `low` here, any value may stand there.
//!
//! Each prompt that no answer goes on from costs a proof for each of the constants that it ends with, until one is taken. Most chat templates have no such prompt.

use std::sync::Arc;

use super::{Amended, Bench};
use crate::chat_template::ANY_TEXT;
use crate::derive::compare::{self, slot};
use crate::derive::emit;
use crate::derive::evidence::finding::Finding;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::narrow::Proposal;
use crate::derive::proof::Proof;
use crate::judge::{PromptTail, RoundId, Unproved};
use crate::parser::{self, Edge};
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
        let anchors = self.anchors()?;
        let literals = literals(&anchors);
        let failing = self.proof.failing();
        let mut headers: Vec<String> = Vec::new();
        for failure in failing {
            let header = begun_with(&literals, &failure.found.prefix);
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
            document: with_anchor(&self.document, &anchors, &header).0,
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
        let headers = |literals: &[&str], tail: &PromptTail| match has_anchor(literals, tail) {
            true => Vec::new(),
            false => {
                let begins = tail.headers.iter();
                begins
                    .map(|header| tail.added.len() - header.len())
                    .collect()
            }
        };
        self.begin_behind(bench, headers, |headers| {
            format!(
                "a prompt begins the turn with {headers}, and no answer of the history does; the turn is read behind it as it is behind what answers begin with"
            )
        });
    }

    /// Lets the turn begin behind all of a prompt that has the anchor and goes on behind it, where that would come back as a part of the message.
    pub(in crate::derive) fn pass_over_prompts(&mut self, bench: &Bench<'_>) {
        let whole = |literals: &[&str], tail: &PromptTail| {
            let is_read = has_anchor(literals, tail) && !tail.headers.is_empty();
            let begun = is_read.then(|| begun_with(literals, &tail.added));
            let begun = begun.flatten().into_iter();
            begun
                .map(|header| tail.added.len() - header.len())
                .collect()
        };
        self.begin_behind(bench, whole, |headers| {
            format!(
                "a prompt begins the turn with {headers}, and nothing shows what that opens, if anything; it is the prompt's, and no part of the message"
            )
        });
    }

    /// Lets what prompts open the reasoning with open it, where they write something more into the marker than the history does: `<think effort="low">` for `<think>`.
    pub(in crate::derive) fn open_as_prompts_do(&mut self, bench: &Bench<'_>) {
        let Some(reasoning) = &bench.analysis.reasoning else {
            return;
        };
        let open = reasoning.open.trim();
        let field = emit::reasoning_field(bench.analysis, bench.target);
        let mut all = Vec::new();
        while let Some((document, proof, header)) = self.opened_as_one(bench, field, open) {
            (self.document, self.proof) = (document, proof);
            all.push(header);
        }
        if !all.is_empty() {
            let (open, all) = (json::quote(open), shown(&all));
            let told = format!(
                "a prompt opens the reasoning with {all}, where the history has {open}; no render shows an answer behind that"
            );
            self.findings.push(Finding::info("prompt-header", told));
        }
    }

    /// Returns the response template by which one more prompt opens the reasoning, and what opens it there.
    fn opened_as_one(
        &self,
        bench: &Bench<'_>,
        field: &str,
        open: &str,
    ) -> Option<(Document, Proof, String)> {
        let anchors = self.anchors()?;
        let literals = literals(&anchors);
        let template = self.template().ok()?;
        let mut keeps = bench.keeps(&self.proof);
        let before = leaking(&self.proof);
        // Where something is switched off, that may well be the reasoning.
        let is_off = |tail: &&PromptTail| tail.kwargs.values().any(|value| !value.is_truthy());
        let leaks = |tail: &&PromptTail| {
            !tail.headers.is_empty() && opened_at(&template, &tail.added).is_none()
        };
        let mut openings = tails(&self.proof)
            .filter(|tail| leaks(tail) && !is_off(tail))
            .filter_map(|tail| {
                let header = begun_with(&literals, &tail.added)?;
                let anchor = literals
                    .iter()
                    .filter_map(|anchor| header.strip_prefix(anchor));
                let begin = tail.added.len() - anchor.min_by_key(|rest| rest.len())?.len();
                let opening = slotted(tail, begin, tail.added.len())?.trim().to_owned();
                let is_open = has_more_in_it(&opening, open) && !opening.contains(ANY_TEXT);
                is_open.then_some(opening)
            })
            .filter_map(|opening| {
                let document = opened_with(&self.document, field, &opening)?;
                let proof = self.proved(&document, &mut keeps)?;
                (leaking(&proof) < before).then_some((document, proof, opening))
            });
        openings.next()
    }

    /// Lets the turn begin behind what `begins` names of the ends of prompts, with the literals of the anchor at hand, as long as fewer of them come back in the message by
    /// that. It names the bytes at which that may begin in what the prompt adds.
    fn begin_behind(
        &mut self,
        bench: &Bench<'_>,
        begins: impl Fn(&[&str], &PromptTail) -> Vec<usize>,
        told: impl FnOnce(&str) -> String,
    ) {
        let mut all = Vec::new();
        while let Some(begun) = self.begun_behind_one(bench, &begins) {
            self.evidence.push(Evidence {
                decision: "anchor",
                marker: slot::show(&begun.header),
                reading: "what a prompt begins the turn with, and no answer of the history does"
                    .to_owned(),
                left: RenderExcerpt::new(
                    "what begins answers",
                    shown(&self.anchors().unwrap_or_default()),
                ),
                right: RenderExcerpt::new("what the prompt adds", begun.prompt),
                places: Vec::new(),
            });
            (self.document, self.proof) = (begun.document, begun.proof);
            self.anchors = Some(begun.anchors);
            all.push(begun.header);
        }
        if !all.is_empty() {
            let told = told(&shown(&all));
            self.findings.push(Finding::info("prompt-header", told));
        }
    }

    /// Returns the response template with one more anchor, by which fewer prompts leave a text of their own in the message.
    fn begun_behind_one(
        &self,
        bench: &Bench<'_>,
        begins: impl Fn(&[&str], &PromptTail) -> Vec<usize>,
    ) -> Option<Begun> {
        let before = leaking(&self.proof);
        let mut keeps = bench.keeps(&self.proof);
        let anchors = self.anchors()?;
        let literals = literals(&anchors);
        let template = self.template().ok()?;
        // What stands around a text that was made up may be anything, unless origins tell that a kwarg writes it.
        let is_made_up = |header: &String| header.contains(ANY_TEXT);
        let mut headers = tails(&self.proof)
            .flat_map(|tail| {
                let end = opened_at(&template, &tail.added).unwrap_or(tail.added.len());
                let begins = begins(&literals, tail).into_iter();
                let headers = begins.filter_map(move |begin| slotted(tail, begin, end));
                headers.map(move |header| (header, tail.added.clone()))
            })
            .filter(|(header, _)| !is_made_up(header) && !anchors.contains(header))
            .filter_map(|(header, prompt)| {
                let (document, anchors) = with_anchor(&self.document, &anchors, &header);
                let proof = self.proved(&document, &mut keeps)?;
                (leaking(&proof) < before).then_some(Begun {
                    document,
                    proof,
                    anchors,
                    header,
                    prompt,
                })
            });
        headers.next()
    }

    /// The texts that begin a turn, with slots for what kwargs write; `None` where the start anchor was read as a pattern.
    fn anchors(&self) -> Option<Vec<String>> {
        self.anchors.clone().or(match &self.document.start_anchor {
            Delimiter::Literals(literals) => Some(literals.clone()),
            Delimiter::Pattern(_) => None,
        })
    }
}

/// A response template with one more anchor.
struct Begun {
    document: Document,
    proof: Proof,
    /// All of its anchors, with slots.
    anchors: Vec<String>,
    header: String,
    /// The text that the prompt adds to its conversation.
    prompt: String,
}

/// How many prompts leave a text of their own in the message.
fn leaking(proof: &Proof) -> usize {
    let leaking = tails(proof).filter(|tail| !tail.headers.is_empty());
    leaking.count()
}

/// Returns true if a text is the marker with something more behind its words: as `<think low>` is `<think>`, and neither `<thinking>` nor `</think>` is.
fn has_more_in_it(text: &str, marker: &str) -> bool {
    let end_of_words = marker.rfind(compare::text::is_part_of_word);
    let Some(at) = end_of_words.and_then(|at| Some(at + marker[at..].chars().next()?.len_utf8()))
    else {
        return false;
    };
    let (words, end) = marker.split_at(at);
    let more = text.strip_prefix(words);
    let more = more.and_then(|more| more.strip_suffix(end));
    // With the end of the marker in it, it would be two.
    let more = more.filter(|more| !end.is_empty() && !more.contains(end));
    more.and_then(|more| more.chars().next())
        .is_some_and(|first| !compare::text::is_part_of_word(first))
}

/// Returns the response template with one more text that opens the field.
fn opened_with(document: &Document, field: &str, opening: &str) -> Option<Document> {
    let mut document = document.clone();
    let open = &mut document.fields.get_mut(field)?.open;
    let one_more = match open.take()? {
        Delimiter::Literals(mut literals) if !slot::any(opening) => {
            literals.push(opening.to_owned());
            Delimiter::Literals(literals)
        }
        Delimiter::Literals(literals) => {
            let literals = literals.iter().map(|one| compare::text::escape(one));
            let literals = literals.collect::<Vec<_>>().join("|");
            Delimiter::Pattern(format!("(?:{literals}|{})", slot::exact_pattern(opening)))
        }
        Delimiter::Pattern(pattern) => {
            Delimiter::Pattern(format!("(?:{pattern}|{})", slot::exact_pattern(opening)))
        }
    };
    *open = Some(one_more);
    Some(document)
}

/// Returns the texts in words.
fn shown(headers: &[String]) -> String {
    let quoted = headers.iter().map(|one| json::quote(&slot::show(one)));
    quoted.collect::<Vec<_>>().join(" or ")
}

/// Returns the byte at which a prompt opens the part of the message that the model goes on with; `None` if it does not, or if the part is what no marker opens.
fn opened_at(template: &Arc<ResponseTemplate>, prompt: &str) -> Option<usize> {
    // To the end of the response, as if the prompt were all of it: what closes the part may hold on for more.
    let (given, mut passed) = parser::delimiters(template, prompt, "", &[]).ok()?;
    let start = prompt.len() - given;
    let last = passed.pop()?;
    (last.side == Edge::Open).then_some(start + last.span.start)
}

/// Returns what a prompt adds from one byte up to another, with slots for what kwargs write; `None` if that is blank.
fn slotted(tail: &PromptTail, begin: usize, end: usize) -> Option<String> {
    let mut header = tail.added.get(begin..end)?.to_owned();
    for given in tail.given.iter().rev() {
        if begin <= given.start && given.end <= end {
            header.replace_range(
                given.start - begin..given.end - begin,
                &slot::GIVEN.to_string(),
            );
        }
    }
    (!header.trim().is_empty()).then_some(header)
}

/// Returns true if a prompt has the start anchor.
fn has_anchor(literals: &[&str], tail: &PromptTail) -> bool {
    literals
        .iter()
        .any(|known| tail.added.contains(known.trim()))
}

/// The anchors that are written the same each time.
fn literals(anchors: &[String]) -> Vec<&str> {
    let literals = anchors.iter().map(String::as_str);
    literals.filter(|anchor| !slot::any(anchor)).collect()
}

/// Returns what a prompt begins the turn with, from the last start anchor on, if that is more than the anchor.
fn begun_with<'p>(literals: &[&str], prompt: &'p str) -> Option<&'p str> {
    let ends = literals.iter().filter_map(|literal| {
        let at = prompt.rfind(literal)?;
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

/// Returns the response template with one more text that begins a turn, and all of these, without those that end with it.
fn with_anchor(document: &Document, anchors: &[String], header: &str) -> (Document, Vec<String>) {
    let others = anchors.iter().filter(|known| !known.ends_with(header));
    let anchors: Vec<String> = others.cloned().chain([header.to_owned()]).collect();
    let start_anchor = match anchors.iter().any(|anchor| slot::any(anchor)) {
        false => Delimiter::Literals(anchors.clone()),
        true => {
            // Of alternatives that match at the same place the first one counts.
            let mut longest_first = anchors.clone();
            longest_first.sort_by_key(|anchor| std::cmp::Reverse(anchor.len()));
            let patterns = longest_first.iter().map(|one| slot::exact_pattern(one));
            Delimiter::Pattern(format!("(?:{})", patterns.collect::<Vec<_>>().join("|")))
        }
    };
    let document = Document {
        start_anchor,
        ..document.clone()
    };
    (document, anchors)
}

#[cfg(test)]
mod tests {
    use super::has_more_in_it;

    #[test]
    fn what_a_marker_has_more_in_it_stands_behind_its_words() {
        for (text, marker) in [
            ("<think low>", "<think>"),
            ("<think effort=\"low\">", "<think>"),
            ("[denk: kurz]", "[denk]"),
            ("Thought (brief):", "Thought:"),
        ] {
            assert!(has_more_in_it(text, marker), "{text} {marker}");
        }
        for (text, marker) in [
            ("<think>", "<think>"),
            ("<thinking>", "<think>"),
            ("<think_off>", "<think>"),
            ("</think>", "<think>"),
            ("<quick>", "<think>"),
            ("<think><brief>", "<think>"),
            ("[[ low ]]", "[[]]"),
        ] {
            assert!(!has_more_in_it(text, marker), "{text} {marker}");
        }
    }
}
