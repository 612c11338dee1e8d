//! The analysis: the steps of reading the format in their order, and all of their results together.

use super::anchor::{self, Anchor};
use super::calls::ToolCalls;
use super::channels;
use super::closed_first;
use super::content::{self, Content};
use super::content_close;
use super::escaped;
use super::further::{self, Further};
use super::limit::Limit;
use super::object::{self, AnswerObject};
use super::reasoning;
use super::thought::{Opener, Reasoning};
use super::tool_calls::{self, BeforeCalls};
use super::turn_end::{self, TurnEnd};
use crate::derive::choice::DecisionId;
use crate::derive::compare::pieces::Pieces;
use crate::derive::evidence::finding::Finding;
use crate::derive::evidence::sample::Evidence;
use crate::derive::probe::{self, Assistant, Call, Dialect, NoContent};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::judge::slot::Slot;
use crate::value::{Map, Value, json};
use std::rc::Rc;

/// The facts that are known of a chat template's wire format.
#[derive(Debug, Clone)]
pub(in crate::derive) struct Analysis {
    pub(in crate::derive) anchor: Anchor,
    pub(in crate::derive) reasoning: Option<Reasoning>,
    /// Texts under other keys of the message.
    pub(in crate::derive) further: Vec<Further>,
    pub(in crate::derive) content: Content,
    pub(in crate::derive) calls: Option<ToolCalls>,
    /// The keys of the answer, where it is one JSON object.
    pub(in crate::derive) object: Option<AnswerObject>,
    pub(in crate::derive) turn_end: TurnEnd,
    pub(in crate::derive) dialect: Dialect,
    /// The markers with which texts begin that the chat template writes behind the last message and that belong to none.
    pub(in crate::derive) behind_messages: Vec<String>,
    /// The settings of kwargs that make a difference to the model's turn.
    pub(in crate::derive) settings: Vec<Map>,
    /// The texts of probes that the template writes as JSON.
    pub(in crate::derive) json_texts: Vec<&'static str>,
    /// The pieces of which renders are made.
    pub(in crate::derive) pieces: Rc<Pieces>,
    /// The parts of the format that no response template can read.
    pub(in crate::derive) limits: Vec<Limit>,
    pub(in crate::derive) evidence: Vec<Evidence>,
    pub(in crate::derive) findings: Vec<Finding>,
}

/// The reason why nothing can be derived.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// The template renders no assistant's message in any conversation that was tried.
    #[error(
        "the chat template renders no assistant message in any conversation that was tried; {reason}"
    )]
    NoTurn {
        /// The template's error for the plainest conversation.
        reason: String,
    },
    /// Nothing marks the beginning of the model's turn.
    #[error("nothing in the rendered conversation marks where the model's turn begins")]
    NoAnchor,
}

pub(in crate::derive) fn analyse(renderer: &Renderer<'_>) -> Result<Analysis, Unreadable> {
    let plain = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let user = renderer.user(false);
    let turn = renderer
        .turn(&user, &plain)
        .map_err(|error| Unreadable::NoTurn {
            reason: error.to_string(),
        })?;
    if !turn.full.contains(probe::CONTENT) {
        return Err(Unreadable::NoTurn {
            reason: "the answer is not in the render".to_owned(),
        });
    }
    let reasoned = probe::object([
        ("role", Value::from("assistant")),
        ("content", Value::from(probe::CONTENT)),
        ("reasoning", Value::from(probe::REASONING)),
    ]);
    let settings = renderer.settings(&user, &[plain.clone(), reasoned]);
    let mut evidence = Vec::new();
    let mut findings = renderer.requirements.findings();
    if let Some(trailer) = renderer.trailer(&user) {
        let text = format!(
            "the chat template writes {} after the last message, which stands before the generation prompt and is gone once that is answered: the model never writes it",
            json::quote(&trailer)
        );
        findings.push(Finding::info("trailer", text));
    }

    let found = anchor::read(
        renderer,
        &user,
        &settings,
        &Anchor::default(),
        "after a user's message",
    );
    let best = found.first().ok_or(Unreadable::NoAnchor)?;
    let anchor = best.anchor.clone();
    let tooled = renderer.user(true);
    let behind_messages = renderer.behind_messages(&user);
    let opens_a_region = reasoning::begins_in_anchor(renderer, &user, &anchor, &settings)
        || tool_calls::begin_in_anchor(renderer, &tooled, &anchor);
    let asked = renderer.history(&user).unwrap_or_default();
    let candidates = anchor::candidates(&renderer.pieces, found, opens_a_region, &asked);
    let begins = renderer.choices.choose(DecisionId::Anchor, candidates);
    let begins = begins.ok_or(Unreadable::NoAnchor)?;
    let mut anchor = begins.anchor;
    evidence.push(begins.evidence);
    let marks = renderer.marks();
    findings.extend(Finding::marks(&marks));
    anchor.literals.extend(marks);

    let (mut turn_end, found) = turn_end::read(renderer, &user, &anchor, &settings);
    evidence.extend(found);

    let reasoning = reasoning::read(renderer, &user, &anchor, &settings, turn_end.marker());
    evidence.extend(reasoning.evidence);
    let mut dialect = Dialect {
        reasoning: reasoning.slot,
        ..Dialect::standard()
    };
    let mut reasoning = reasoning.reasoning;
    let slot = dialect.reasoning.as_ref().or(renderer.slots.first());
    if let Some(found) = object::read(renderer, &user, &tooled, slot)
        && is_object(renderer)
    {
        evidence.extend(found.evidence);
        let opened = |key: &String| Reasoning {
            open: object::marker(key),
            close: String::new(),
            opened_by: Opener::Model,
            opened_where: None,
            is_rendered: true,
            unopened: None,
            space: String::new(),
            spaced: false,
            parts: None,
            is_open_before_calls: false,
            filler: None,
        };
        return Ok(Analysis {
            anchor: object::anchor_before_keys(&anchor, &found.object),
            reasoning: found.object.reasoning.as_ref().map(opened),
            further: Vec::new(),
            content: Content {
                open: Some(object::marker(&found.object.content)),
                ..Content::default()
            },
            calls: found.calls,
            object: Some(found.object),
            turn_end,
            dialect: found.dialect,
            behind_messages,
            settings,
            json_texts: renderer.json_texts.clone(),
            pieces: renderer.pieces.clone(),
            limits: Vec::new(),
            evidence,
            findings,
        });
    }
    let mut further: Vec<Further> = Vec::new();
    if let Some(known) = &dialect.reasoning {
        for slot in renderer.slots.iter().filter(|slot| *slot != known) {
            let found = further::read(renderer, &user, &anchor, &settings, slot, turn_end.marker());
            // A second key for the same reasoning is no other text.
            let is_known = |found: &Further| {
                let others = further.iter().map(|one| &one.markers);
                let mut known = reasoning.iter().chain(others);
                known.any(|known| known.open == found.markers.open)
            };
            let found = found.filter(|found| !is_known(found));
            further.extend(found);
        }
    }

    if !further.is_empty() {
        let left_out = [
            "left out",
            "no field for them",
            "what stands under another key may be no text of the answer",
        ];
        let fields = [
            "as fields",
            "a field for each",
            "what stands under another key is rendered between markers of its own",
        ];
        let is_left_out = renderer
            .choices
            .whether(DecisionId::FurtherTexts, [left_out, fields]);
        if is_left_out {
            further.clear();
        }
    }

    // Where nothing opens a reasoning, the marker that closes it is the one that opens the content.
    if let Some(reasoning) = reasoning.as_ref().filter(is_closed) {
        for (literal, found) in closed_first::with_closed_reasoning(
            renderer,
            &user,
            &anchor,
            &settings,
            &reasoning.close,
        ) {
            anchor.literals.push(literal);
            evidence.push(found);
        }
        let markers = (reasoning.open.as_str(), reasoning.close.as_str());
        if let Some(found) =
            closed_first::closing_first(renderer, &user, &anchor, &settings, markers)
        {
            anchor.in_response = Some(found.marker.clone());
            evidence.push(found);
        }
    }

    let (mut content, found) =
        content::read(renderer, &user, &anchor, &dialect, reasoning.as_ref());
    evidence.extend(found);
    content.read_with_tools(
        renderer,
        [&user, &tooled],
        &anchor,
        &dialect,
        turn_end.marker(),
    );

    if let Some((end, found)) =
        content_close::beside("reasoning", renderer, &user, &anchor, &dialect, &turn_end)
    {
        content.end_beside_reasoning = Some(end);
        evidence.push(found);
    }
    for text in &further {
        let dialect = Dialect {
            reasoning: Some(text.slot.clone()),
            ..dialect.clone()
        };
        if let Some((end, found)) = content_close::beside(
            "further text",
            renderer,
            &user,
            &anchor,
            &dialect,
            &turn_end,
        ) {
            content.ends_beside_further.push(end);
            evidence.push(found);
        }
    }

    let said = BeforeCalls {
        reasoning: reasoning.as_ref(),
        slot: dialect.reasoning.as_ref(),
        content: &content,
        end: turn_end.marker(),
    };
    let mut calls = tool_calls::read(renderer, &tooled, &anchor, said);
    evidence.extend(calls.evidence);
    findings.extend(calls.obstacle.map(|finding| *finding));
    let mut limits = calls
        .calls
        .as_ref()
        .map_or_else(Vec::new, ToolCalls::limits);
    // The characters of texts that are JSON are those of JSON, which is read.
    if renderer.json_texts.is_empty() {
        limits.extend(escaped::limits(
            dialect.reasoning.is_some(),
            |message, first| {
                let turn = renderer.turn(&user, &dialect.write(message)).ok()?;
                anchor.turn(&turn.full, first).map(str::to_owned)
            },
        ));
    }
    if let Some(found) = &mut calls.calls {
        dialect = calls.dialect;
        content.read_close(
            renderer,
            &tooled,
            &anchor,
            &dialect,
            found,
            reasoning.as_ref(),
        );
        if let Some(reasoning) = &mut reasoning {
            reasoning.read_before_calls(renderer, &tooled, &anchor, &dialect);
        }
        for (marker, found) in channels::read(renderer, &content, reasoning.as_ref(), found) {
            content.others.push(marker);
            evidence.push(found);
        }
    }
    let has_calls = calls.calls.is_some();
    let context = if has_calls { &tooled } else { &user };
    let after_tool = after_tool(context, &dialect);
    let known = reasoning
        .iter()
        .chain(further.iter().map(|one| &one.markers));
    let beside = reasoning::opened_beside(renderer, &user, &anchor, &settings, known);
    further.extend(beside.map(|markers| Further {
        slot: Slot::key(probe::REASONING_FIELD),
        markers,
        is_json: false,
        ends_content: false,
    }));
    if turn_end.marker().is_empty() && turn_end.before_next.is_empty() {
        turn_end.next_begin =
            turn_end::next_begin(renderer, &user, &after_tool, &call_before_result());
    }
    if let Some(calls) = &calls.calls {
        let call = call_before_result();
        let opening = renderer.history(&user).unwrap_or_default();
        let opening = opening.split(probe::USER).next().unwrap_or_default();
        let end = &calls.turn_end;
        let found = turn_end::before_result(renderer, &after_tool, &call, end, opening);
        turn_end.before_results.extend(found);
    }
    // Where no call is rendered a tool's result may be: an answer to it is a turn as well, and may begin otherwise than one to a question.
    let begins_otherwise = || {
        let prompt = renderer.prompt(&after_tool);
        prompt.is_ok_and(|prompt| prompt.contains(probe::TOOL_RESULT))
            && anchor::in_response(renderer, &after_tool, &anchor).is_none()
    };
    if has_calls || begins_otherwise() {
        let reasoning = reasoning.as_ref();
        begin_after(
            renderer,
            &after_tool,
            &settings,
            reasoning,
            &mut anchor,
            &mut evidence,
        );
    }
    if has_calls
        && let Some((literal, found)) =
            anchor::before_call(renderer, &after_tool, &anchor, &dialect)
    {
        anchor.literals.push(literal);
        evidence.push(found);
    }
    if reasoning.is_some()
        && dialect.no_content == NoContent::Absent
        && needs_content(renderer, &user, &dialect)
    {
        dialect.no_content = NoContent::Empty;
    }
    Ok(Analysis {
        anchor,
        reasoning,
        further,
        content,
        calls: calls.calls,
        object: None,
        turn_end,
        dialect,
        behind_messages,
        settings,
        json_texts: renderer.json_texts.clone(),
        pieces: renderer.pieces.clone(),
        limits,
        evidence,
        findings,
    })
}

/// Reads what begins a turn behind a tool's result, and adds it to what begins one elsewhere.
fn begin_after(
    renderer: &Renderer<'_>,
    after_tool: &Context,
    settings: &[Map],
    reasoning: Option<&Reasoning>,
    anchor: &mut Anchor,
    evidence: &mut Vec<Evidence>,
) {
    // If the prompt after a tool's result ends with the anchor that is known, the turn begins there.
    let known = renderer
        .prompt(after_tool)
        .is_ok_and(|prompt| anchor.begins_after(&prompt, probe::TOOL_RESULT));
    if !known && let Some((literal, found)) = anchor::in_response(renderer, after_tool, anchor) {
        anchor.in_response = Some(literal);
        evidence.push(found);
    }
    let found = match known {
        true => Vec::new(),
        false => anchor::read(
            renderer,
            after_tool,
            settings,
            anchor,
            "after a tool's result",
        ),
    };
    let asked = renderer.history(after_tool).unwrap_or_default();
    let candidates = anchor::candidates(&renderer.pieces, found, false, &asked);
    if let Some(begins) = renderer
        .choices
        .choose(DecisionId::AnchorAfterTool, candidates)
    {
        evidence.push(begins.evidence);
        let begins = begins.anchor;
        if let Some(reasoning) = reasoning.filter(is_closed) {
            let closed = closed_first::with_closed_reasoning(
                renderer,
                after_tool,
                &begins,
                settings,
                &reasoning.close,
            );
            for (literal, found) in closed {
                anchor.literals.push(literal);
                evidence.push(found);
            }
        }
        anchor.literals.extend(begins.literals);
    }
}

/// Returns true if markers stand on both sides of a reasoning, and can be told from each other: a turn that begins with the one that closes it
/// does not begin with the one that opens it.
fn is_closed(reasoning: &&Reasoning) -> bool {
    let Reasoning { open, close, .. } = reasoning;
    !close.is_empty() && !open.is_empty() && open != close
}

/// Decides how answers that are JSON objects are read, and returns true if they are read as such.
fn is_object(renderer: &Renderer<'_>) -> bool {
    let object = [
        "read as JSON",
        "one JSON object, with the parts of the message under its keys",
        "every answer is one, and has what was given under the same keys",
    ];
    let markers = [
        "by what stands around its parts",
        "parts between markers",
        "what stands around the parts may be enough",
    ];
    let choices = &renderer.choices;
    choices.whether(DecisionId::AnswerObject, [object, markers])
}

/// Returns true if a message with nothing but a reasoning is rendered only if it has a content, an empty one.
fn needs_content(renderer: &Renderer<'_>, user: &Context, dialect: &Dialect) -> bool {
    let without = Assistant::default().thinking(probe::REASONING);
    let with = without.clone().with_content("");
    let renders = |message| renderer.turn(user, &dialect.write(message)).is_ok();
    !renders(&without) && renders(&with)
}

/// The context in which the model reads a tool's result.
pub(in crate::derive) fn after_tool(context: &Context, dialect: &Dialect) -> Context {
    let call = call_before_result();
    let calling = Assistant::calling([call.clone()]);
    context
        .and(dialect.write(&calling))
        .and(probe::tool_result(&call, probe::TOOL_RESULT))
}

/// The call of which [`after_tool`] has the result.
fn call_before_result() -> Call {
    probe::call(2)
}
