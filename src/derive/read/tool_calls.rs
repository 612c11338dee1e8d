//! How the model writes tool calls: where name and arguments stand, and which text repeats around each call.

use super::anchor::Anchor;
use super::argument_names;
use super::argument_values;
use super::call_evidence;
use super::calls::ToolCalls;
use super::content::Content;
use super::cut::{Body, Cut, Form, cut};
use super::literals;
use super::no_arguments::NoArguments;
use super::spelling::{Spelled, rendered, spell};
use super::thought::Reasoning;
use crate::derive::choice::{self, Candidate, DecisionId};
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::repeated::{self, Repeated};
use crate::derive::compare::{slot, text};
use crate::derive::evidence::finding::Finding;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Call, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::judge::slot::Slot;
use crate::value::Value;

/// The result of the search for tool calls.
#[derive(Debug)]
pub(in crate::derive) struct Found {
    pub(in crate::derive) calls: Option<ToolCalls>,
    /// The dialect in which the template renders calls.
    pub(in crate::derive) dialect: Dialect,
    pub(in crate::derive) evidence: Vec<Evidence>,
    /// The reason why no calls were found, where there ought to be some, or why they cannot be read as they are meant.
    pub(in crate::derive) obstacle: Option<Box<Finding>>,
}

/// The facts that are known of a turn before its calls.
#[derive(Debug, Clone, Copy)]
pub(in crate::derive) struct BeforeCalls<'a> {
    pub(in crate::derive) reasoning: Option<&'a Reasoning>,
    pub(in crate::derive) slot: Option<&'a Slot>,
    pub(in crate::derive) content: &'a Content,
    /// The text that ends a turn that ends with content.
    pub(in crate::derive) end: &'a str,
}

impl BeforeCalls<'_> {
    /// Returns the text behind an empty content: a content that is opened, and closed at once by what the end of the turn begins with.
    /// `None` where there is no such content.
    fn after_empty_content<'t>(&self, pieces: &Pieces, literal: &'t str) -> Option<&'t str> {
        let open = self.content.open.as_deref()?;
        let rest = literal.trim_start().strip_prefix(open)?.trim_start();
        let end = self.end.trim_start();
        let close = pieces.shared_start(rest, end);
        (!rest[..close].trim().is_empty()).then(|| &rest[close..])
    }
}

impl Cut {
    /// Returns true if the texts before and behind all calls are the same in both cuts, but for numbers.
    fn is_around_as(&self, other: &Self) -> bool {
        let ends = |cut: &Self| {
            let ends = [cut.literals.first(), cut.literals.last()];
            ends.map(|literal| literal.map(|literal| slot::without_numbers(literal.trim())))
        };
        ends(self) == ends(other)
    }

    /// Puts a slot in the place of the one word in which the texts before all calls differ, and returns true; false where they differ in more than a
    /// word, or the texts behind the calls differ. `{"several": false, "calls": [` stands before one call, for example, and `{"several": true, "calls": [`
    /// before two.
    fn put_slot_for_word(&mut self, other: &mut Self) -> bool {
        let last =
            |cut: &Self| slot::without_numbers(cut.literals.last().map_or("", |last| last.trim()));
        let is_ended_alike = last(self) == last(other);
        let (Some(mine), Some(its)) = (self.literals.first_mut(), other.literals.first_mut())
        else {
            return false;
        };
        let Some((before, _, behind)) =
            text::differing_words(&[mine, its]).filter(|_| is_ended_alike)
        else {
            return false;
        };
        let opening = format!("{before}{}{behind}", slot::WORD);
        mine.clone_from(&opening);
        *its = opening;
        true
    }

    /// Returns the cut without an empty reasoning and an empty content before the first call.
    fn after(mut self, pieces: &Pieces, before: BeforeCalls<'_>) -> Self {
        if let Some(first) = self.literals.first_mut() {
            if let Some(reasoning) = before.reasoning {
                *first = reasoning.strip(first);
            }
            if let Some(rest) = before.after_empty_content(pieces, first) {
                *first = rest.to_owned();
            }
        }
        self
    }
}

pub(in crate::derive) fn read(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    before: BeforeCalls<'_>,
) -> Found {
    let end = before.end;
    let standard = Dialect {
        reasoning: before.slot.cloned(),
        ..Dialect::standard()
    };
    let Spelled { dialect, full } = match spell(renderer, context, anchor, &standard, end) {
        Ok(spelled) => spelled,
        Err(obstacle) => {
            return Found {
                calls: None,
                dialect: standard,
                evidence: Vec::new(),
                obstacle,
            };
        }
    };
    let after_content = after_content(renderer, context, anchor, &dialect);
    let end = after_content
        .as_ref()
        .map_or(end, |found| found.marker.as_str());
    let two = Assistant::calling([probe::call(0), probe::call(1)]);
    let double_render = rendered(renderer, context, &dialect, &two).ok().flatten();
    let one = [probe::call(0)];
    let turn_with_one = anchor.turn(&full, &one[0].name).unwrap_or_default();
    let forms = forms(renderer, turn_with_one, &one);
    let Some((mut single, form)) = renderer.choices.choose(DecisionId::CallForm, forms) else {
        return Found {
            calls: None,
            dialect,
            evidence: Vec::new(),
            obstacle: None,
        };
    };
    let double = double_render.as_deref().and_then(|full| {
        let turn_text = anchor.turn(full, &two.calls[0].name)?;
        let mut cut = form.cut(&renderer.pieces, turn_text, &two.calls, &renderer.choices);
        let is_alike = cut
            .as_mut()
            .is_some_and(|cut| cut.is_around_as(&single) || cut.put_slot_for_word(&mut single));
        if is_alike {
            return cut;
        }
        let any = || self::cut(&renderer.pieces, turn_text, &two.calls, &renderer.choices);
        otherwise(renderer, cut.or_else(any)?)
    });
    let single = single.after(&renderer.pieces, before);
    let double = double.map(|cut| cut.after(&renderer.pieces, before));
    let mut calls = assemble(renderer, single, double, end);
    if let Some(section) = section_within(renderer, context, anchor, before, &dialect, form, &calls)
    {
        calls.section.0 = section;
    }
    calls.id_behind = reads_id_behind(renderer, &calls);
    match &mut calls.body {
        Body::Pairs(pairs) => {
            argument_values::learn(renderer, context, anchor, &dialect, pairs);
            argument_names::learn(renderer, context, anchor, &dialect, pairs);
            let none = probe::call_with(0, 0);
            let turn = anchor.turn_calling(renderer, context, &dialect, none.clone());
            if let Some(turn) = turn {
                if let Some((_, behind_name)) = turn.split_once(&none.name) {
                    pairs.take_what_none_has(&mut calls.call, behind_name);
                }
                let around = (calls.call.0.as_str(), calls.call.1.as_str());
                let after_calls = calls.ending();
                calls.no_arguments =
                    NoArguments::of(&slot::of_call(&turn, &none), around, &after_calls);
            }
        }
        Body::Dialect(json) => {
            json.foreign = literals::foreign(renderer, context, anchor, &dialect);
        }
        _ => {}
    }
    let is_member = matches!(&calls.body, Body::Object(members) if members.id.is_some());
    let is_written = |marker: &str| marker.contains(slot::ID);
    if is_member || is_written(&calls.call.0) || is_written(&calls.call.1) {
        calls.around_id = around_id(renderer, context, anchor, &dialect);
    }
    calls.named_by_id = dialect.named_by_id;
    calls.breaks_lines = breaks_lines(renderer, context, &dialect);
    let mut evidence =
        call_evidence::collect(renderer, context, &dialect, &calls, (full, double_render));
    evidence.extend(after_content);
    let obstacle = dialect.named_by_id.then(|| {
        Box::new(Finding::warning(
            "calls-named-by-id",
            "calls are rendered with their ids and without their names; so a name is read from the id, which is the name itself, or has `functions.` before it and a number behind it, as in `functions.f:0`",
        ))
    });
    Found {
        calls: Some(calls),
        dialect,
        evidence,
        obstacle,
    }
}

/// Returns the texts before and behind the id of a call that are missing with it; `None` where that is another text, or nothing.
fn around_id(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
) -> Option<(String, String)> {
    let call = probe::call(0);
    let nameless = Call {
        id: String::new(),
        ..call.clone()
    };
    let with = anchor.turn_calling(renderer, context, dialect, call.clone())?;
    let without = anchor.turn_calling(renderer, context, dialect, nameless)?;
    let (before, behind) = with.split_once(&call.id)?;
    let same = text::common_prefix(before, &without);
    let around = behind.strip_suffix(&without[same..])?;
    let before = &before[same..];
    let is_marked = !before.trim().is_empty();
    is_marked.then(|| (before.to_owned(), around.to_owned()))
}

/// Returns true if a line separator in the text of an argument is written neither as it is nor as JSON may write it.
fn breaks_lines(renderer: &Renderer<'_>, context: &Context, dialect: &Dialect) -> bool {
    let mut call = probe::call_with(0, 1);
    if let Some(value) = call.arguments.values_mut().next() {
        *value = Value::from("opal\u{2028}drift");
    }
    let written = renderer.turn(context, &dialect.write(&Assistant::calling([call])));
    written.is_ok_and(|turn| {
        let is_shown = turn.full.contains("opal") && turn.full.contains("drift");
        let known = [
            "opal\u{2028}drift",
            "opal\\u2028drift",
            "opal\\\\u2028drift",
        ];
        is_shown && !known.iter().any(|form| turn.full.contains(form))
    })
}

/// Returns true if the last token of the anchor opens each call and so does not belong to the anchor: the name of the first call follows it
/// directly, and the same token stands before the name of the second.
pub(in crate::derive) fn begin_in_anchor(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
) -> bool {
    let Some(shorter) = anchor.without_last_token(&renderer.pieces) else {
        return false;
    };
    let two = Assistant::calling([probe::call(0), probe::call(1)]);
    let [first, second] = [0, 1].map(|number| probe::call(number).name);
    Dialect::standard().spellings().any(|dialect| {
        let Ok(Some(full)) = rendered(renderer, context, &dialect, &two) else {
            return false;
        };
        let begins = |anchor: &Anchor| anchor.turn(&full, &first).map(str::to_owned);
        let (Some(turn_text), Some(longer)) = (begins(anchor), begins(&shorter)) else {
            return false;
        };
        let opening = longer.strip_suffix(turn_text.as_str()).unwrap_or_default();
        turn_text.starts_with(&first)
            && !opening.trim().is_empty()
            && turn_text.contains(&format!("{opening}{second}"))
    })
}

/// Decides what to do where several calls are written otherwise than a single one. A response template can read only one of the two.
fn otherwise(renderer: &Renderer<'_>, cut: Cut) -> Option<Cut> {
    let several = Candidate::new(
        "as several are",
        "calls as they are written beside another",
        "two calls in a message are written otherwise than one, which may be missing a part",
        Some(cut),
    );
    let one = Candidate::new(
        "as one is",
        "a call alone in its message",
        "most messages have one call",
        None,
    );
    let candidates = [several, one];
    renderer
        .choices
        .choose(DecisionId::SeveralCalls, candidates)
        .flatten()
}

/// The forms in which the calls of a turn can be read.
fn forms(renderer: &Renderer<'_>, turn: &str, calls: &[Call]) -> Vec<Candidate<(Cut, Form)>> {
    let found: Vec<(Cut, Form)> = Form::ALL
        .into_iter()
        .filter_map(|form| {
            let cut = form.cut(&renderer.pieces, turn, calls, &renderer.choices)?;
            Some((cut, form))
        })
        .collect();
    // Arguments that are JSON are read as JSON, and not key by key, since text patterns would read them less well.
    let has_json = found.iter().any(|(cut, _)| cut.body.is_json());
    let found = found
        .into_iter()
        .filter(|(cut, _)| !has_json || cut.body.is_json());
    let candidate = |(rank, (cut, form)): (usize, (Cut, Form))| {
        let because = match rank {
            0 => {
                "a call's name and arguments are found in it, and no candidate that takes more text for a part of the call finds them"
            }
            _ => {
                "a call's name and arguments are found in it, and so they are by a candidate that takes more text for a part of the call"
            }
        };
        Candidate::new(form.describe(), form.describe(), because, (cut, form))
    };
    // If only the bracket of a list stands before a call, nothing but the call's own beginning can open it, and that is a marker then. Such
    // a form comes last.
    let is_marked = |literal: &String| {
        !literal
            .trim_matches(|c: char| c == '[' || c.is_whitespace())
            .is_empty()
    };
    let (marked, bare): (Vec<_>, Vec<_>) = found.partition(|(cut, form)| {
        let is_whole = matches!(form, Form::Array | Form::Object);
        !is_whole || cut.literals.first().is_some_and(is_marked)
    });
    let all = marked.into_iter().chain(bare);
    all.enumerate().map(candidate).collect()
}

/// Returns what opens the section of the calls within what wraps the content and the calls; `None` where nothing wraps both: of `<out><calls>` it is `<calls>`, since
/// that stands behind a content, `<out>Hi<calls>`.
fn section_within(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    before: BeforeCalls<'_>,
    dialect: &Dialect,
    form: Form,
    calls: &ToolCalls,
) -> Option<String> {
    let open = before
        .content
        .open
        .as_deref()
        .filter(|open| !open.trim().is_empty())?;
    let own = calls.section.0.trim_start().strip_prefix(open)?;
    let one = [probe::call(0)];
    let message = Assistant::calling(one.clone()).with_content(probe::CONTENT);
    let full = renderer.turn(context, &dialect.write(&message)).ok()?.full;
    let turn = anchor.turn(&full, probe::CONTENT)?;
    let cut = form.cut(&renderer.pieces, turn, &one, &renderer.choices)?;
    let (_, beside) = cut.literals.first()?.split_once(probe::CONTENT)?;
    let is_beside = beside.trim_start().starts_with(own.trim());
    let own = format!("{}{}", text::leading(beside), own.trim_start());
    (is_beside && !own.trim().is_empty()).then_some(own)
}

/// Returns the evidence for the text that ends a turn whose content stands after its calls.
fn after_content(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
) -> Option<Evidence> {
    let call = probe::call(0);
    let calling = Assistant::calling([call.clone()]);
    let without = renderer.turn(context, &dialect.write(&calling)).ok()?.full;
    let with = calling.with_content(probe::CONTENT);
    let with = renderer.turn(context, &dialect.write(&with)).ok()?.full;
    let turn_text = anchor.turn(&with, probe::CONTENT)?;
    let (_, rest) = turn_text.split_once(&call.name)?;
    let (_, end) = rest.split_once(probe::CONTENT)?;
    (!end.trim().is_empty()).then(|| Evidence {
        decision: "turn end",
        marker: end.to_owned(),
        reading: "what follows content that stands after the calls".to_owned(),
        left: RenderExcerpt::new("calls alone", without),
        right: RenderExcerpt::new("calls and content", with.as_str()),
        places: Vec::new(),
    })
}

/// Tells what belongs to each call from what belongs to all of them.
fn assemble(renderer: &Renderer<'_>, single: Cut, double: Option<Cut>, end: &str) -> ToolCalls {
    let last = single.literals.last().cloned().unwrap_or_default();
    let first = single.literals.first().cloned().unwrap_or_default();
    let parallel = double.is_some();
    let body = match &double {
        Some(cut) => cut.body.clone(),
        None => single.body,
    };
    let repeated = double.as_ref().map(|cut| cut.literals.as_slice());
    let around = match repeated {
        Some([before, between, after]) => {
            let counting = slot::counting(&last, after);
            let after = counting.as_deref().unwrap_or(after);
            let mut candidates = around_candidates(&renderer.pieces, before, between, after);
            if let Some((between, after)) = slot::differing_word(between, after) {
                let found = repeated::candidates(&renderer.pieces, before, &between, &after);
                candidates.extend(found.into_iter().next().map(|found| {
                    let because =
                        "what stands behind a call differs in a word where no other call follows";
                    around_candidate("what begins each, but for a word", because, found)
                }));
            }
            let around = renderer.choices.choose(DecisionId::AroundCall, candidates);
            around.unwrap_or_default()
        }
        _ => {
            let (close, after) = split_end(renderer, &last, end, true);
            Repeated {
                each: (first, close),
                after,
                ..Repeated::default()
            }
        }
    };
    let has_section = !parallel || !around.before.trim().is_empty();
    let (section_close, turn_end) = split_end(renderer, &around.after, end, has_section);
    ToolCalls {
        body,
        call: around.each,
        section: (around.before, section_close),
        separator: around.separator,
        turn_end,
        parallel,
        no_arguments: None,
        around_id: None,
        id_behind: false,
        named_by_id: false,
        breaks_lines: false,
    }
}

/// Decides where ids are looked for, and returns true if the id of a call is to be looked for behind its arguments, where it is nowhere
/// else.
fn reads_id_behind(renderer: &Renderer<'_>, calls: &ToolCalls) -> bool {
    let is_object = matches!(calls.body, Body::Object(_) | Body::Array(_));
    if is_object || calls.has_id() || !calls.call.1.contains(slot::ID) {
        return false;
    }
    let ahead = [
        "looked for ahead",
        "the id behind the arguments, for which what opens a call looks ahead",
        "a call's id is rendered there",
    ];
    let none = [
        "left out",
        "no id, which whoever runs the call has to give it",
        "what opens a call does not wait for its end then",
    ];
    renderer
        .choices
        .whether(DecisionId::IdBehind, [ahead, none])
}

/// Returns the candidates for the text that belongs to each of two calls and the text that belongs to both, by the texts before, between
/// and after them.
fn around_candidates(
    pieces: &Pieces,
    before: &str,
    between: &str,
    after: &str,
) -> Vec<Candidate<Repeated>> {
    let found = repeated::candidates(pieces, before, between, after);
    let candidates = found.into_iter().enumerate().map(|(rank, found)| {
        let (name, because) = match rank {
            0 => (
                "what begins each",
                "what stands between two calls also stands before the first or after the last, as far as pieces are whole",
            ),
            _ => (
                "what ends each",
                "what ends a call begins as what begins one does",
            ),
        };
        around_candidate(name, because, found)
    });
    candidates.collect()
}

fn around_candidate(name: &str, because: &str, found: Repeated) -> Candidate<Repeated> {
    let Repeated {
        each, separator, ..
    } = &found;
    let [open, close, separator] = [&each.0, &each.1, separator].map(|one| choice::marker(one));
    let means = format!("{open} … {close}, then {separator}");
    Candidate::new(name, means, because, found)
}

/// Splits the text behind the calls into what closes them and the end of the turn. `end` is the end of a turn that ends with content; that
/// of a turn with calls is the same or ends alike, or is another one. Where nothing opens a section of calls, nothing closes one.
fn split_end(
    renderer: &Renderer<'_>,
    tail: &str,
    end: &str,
    has_section: bool,
) -> (String, String) {
    let mark = end.trim();
    let candidate = |name, because, at: usize| {
        let (close, end) = tail.split_at(at);
        let means = format!("{}, then {}", choice::marker(close), choice::marker(end));
        Candidate::new(name, means, because, at)
    };
    let mut candidates = Vec::new();
    if mark.is_empty() {
        candidates.push(candidate(
            "nothing ends it",
            "nothing ends a turn with content either",
            tail.len(),
        ));
    } else if let (Some(first), Some(last)) = (tail.find(mark), tail.rfind(mark)) {
        candidates.push(candidate(
            "where content ends",
            "it is what ends a turn with content",
            first,
        ));
        candidates.push(candidate(
            "where content ends, at the last such place",
            "what ends a turn with content may be part of what closes the calls",
            last,
        ));
    } else {
        let length = tail.trim_end().len();
        let shared = renderer.pieces.shared_marker(&tail[..length], mark);
        if shared == 0 && length > 0 && !has_section {
            candidates.push(candidate(
                "all of it",
                "nothing opens a section that it could close",
                0,
            ));
        }
        let tokens = renderer.pieces.tokens(tail);
        if let [.., before, last] = tokens.as_slice()
            && shared == 0
            && has_section
            && let Some(at) = tail.rfind(last)
        {
            let is_token = renderer.added_tokens().any(|token| token == *last);
            let is_apart = [before, last]
                .iter()
                .all(|token| renderer.pieces.is_one(token));
            let because = match is_token {
                true => {
                    "it is a token of the tokenizer, and a turn of calls may end otherwise than one with content"
                }
                false => {
                    "it is a marker of its own, and a turn of calls may end otherwise than one with content"
                }
            };
            if is_token || is_apart {
                candidates.push(candidate("its last marker", because, at));
            }
        }
        let at = match shared {
            0 => tail.len(),
            shared => length - shared,
        };
        candidates.push(candidate(
            "as far as it ends alike",
            "a turn with content ends with the same",
            at,
        ));
        candidates.push(candidate(
            "nothing ends it",
            "what ends a turn with content is not there",
            tail.len(),
        ));
    }
    let at = renderer.choices.choose(DecisionId::EndOfCalls, candidates);
    let (close, end) = tail.split_at(at.unwrap_or(tail.len()));
    (close.to_owned(), end.to_owned())
}
