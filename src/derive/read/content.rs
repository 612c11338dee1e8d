//! Markers around the content, read from the text before it in a turn, once reasoning is accounted for.

use super::anchor::Anchor;
use super::calls::ToolCalls;
use super::thought::Reasoning;
use crate::derive::choice::{self, Candidate, DecisionId};
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::{Context, Turn};
use crate::derive::render::renderer::Renderer;

/// The markers around the content. `open` is `None` where the content is whatever nothing else claims.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::derive) struct Content {
    pub(in crate::derive) open: Option<String>,
    /// The further texts that open the content, where the chat template writes none.
    pub(in crate::derive) others: Vec<String>,
    /// The text that ends the turn behind content beside a reasoning, where that content is closed by a marker of its own first.
    pub(in crate::derive) end_beside_reasoning: Option<String>,
    /// The texts that end the turn in this way beside texts under further keys.
    pub(in crate::derive) ends_beside_further: Vec<String>,
    /// True if only a message with reasoning wraps its content.
    pub(in crate::derive) only_with_reasoning: bool,
    /// The text between content that has an opening marker and the calls behind it, without the markers of either; `None` where calls never
    /// follow content.
    pub(in crate::derive) before_calls: Option<String>,
    /// The white space between the calls and the marker that opens the content behind them; `None` where content does not follow calls in this way.
    pub(in crate::derive) behind_calls: Option<String>,
    /// The texts that stand beside the content only in some messages, those with calls, those with a reasoning or those that are written where there are tools,
    /// and that open or close nothing elsewhere.
    pub(in crate::derive) beside: Vec<Beside>,
}

/// A text that stands beside the content in some messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct Beside {
    pub(in crate::derive) text: String,
    /// True if it stands behind the content, and false if it stands before it.
    pub(in crate::derive) is_behind: bool,
}

impl Beside {
    fn before(text: String) -> Self {
        Self {
            text,
            is_behind: false,
        }
    }

    /// Those of these two texts, before the content and behind it, that are there.
    fn around([before, behind]: [String; 2]) -> impl Iterator<Item = Self> {
        let all = [(before, false), (behind, true)].into_iter();
        let all = all.map(|(text, is_behind)| Self { text, is_behind });
        all.filter(|one| !one.text.is_empty())
    }
}

/// The part that a marker before the content has.
#[derive(Debug, Clone)]
enum Open {
    /// It opens the content.
    Always(String),
    /// It stands there only beside a reasoning, or only where there is none, and is passed over.
    Beside(String),
    /// None stands there.
    Never,
}

impl Content {
    /// Reads what stands around the content of a message without calls where there are tools, and only there. `contexts` are
    /// one without tools and one with them, and `end` is what ends the turn.
    pub(in crate::derive) fn read_with_tools(
        &mut self,
        renderer: &Renderer<'_>,
        contexts: [&Context; 2],
        anchor: &Anchor,
        dialect: &Dialect,
        end: &str,
    ) {
        if self.open.is_some() {
            return;
        }
        let message = dialect.write(&Assistant::saying(probe::CONTENT));
        let around = contexts.map(|context| {
            let turn = renderer.turn(context, &message).ok()?;
            let (before, behind) = anchor
                .turn(&turn.full, probe::CONTENT)?
                .split_once(probe::CONTENT)?;
            let behind = behind.split(end).next().unwrap_or_default();
            Some([before, behind].map(|text| text.trim().to_owned()))
        });
        if let [Some(without), Some(with)] = around
            && with[0] != without[0]
            && with[1] != without[1]
            && with.iter().all(|one| !one.is_empty())
        {
            self.beside.extend(Beside::around(with));
        }
    }

    /// Reads what closes the content where calls follow. What was taken for the beginning of the calls' section is none where it opens the
    /// content, and stands before that alone where calls follow.
    pub(in crate::derive) fn read_close(
        &mut self,
        renderer: &Renderer<'_>,
        context: &Context,
        anchor: &Anchor,
        dialect: &Dialect,
        calls: &mut ToolCalls,
        reasoning: Option<&Reasoning>,
    ) {
        let message = Assistant::calling([probe::call(0)]).with_content(probe::CONTENT);
        let Ok(turn) = renderer.turn(context, &dialect.write(&message)) else {
            return;
        };
        let mut own = format!("{}{}", calls.section.0, calls.call.0);
        let around = anchor
            .turn(&turn.full, probe::CONTENT)
            .and_then(|turn_text| turn_text.split_once(probe::CONTENT));
        let Some((before, rest)) = around else {
            return;
        };
        // Text that also stands before the content of a message without calls is no part of the calls.
        let plain = Assistant::saying(probe::CONTENT);
        let plain = renderer.turn(context, &dialect.write(&plain)).ok();
        let lead = plain.as_ref().and_then(|turn| {
            let turn_text = anchor.turn(&turn.full, probe::CONTENT)?;
            Some(turn_text.split_once(probe::CONTENT)?.0.trim())
        });
        let is_empty_reasoning = |before: &str| {
            let stripped = reasoning.map(|reasoning| reasoning.strip(before));
            lead == Some(before.trim())
                || stripped.is_some_and(|stripped| stripped.trim().is_empty())
        };
        let form = calls.body.form();
        let behind = form
            .cut(&renderer.pieces, rest, &message.calls, &renderer.choices)
            .and_then(|cut| cut.literals.into_iter().next());
        let opens = self.open.as_deref().map(str::trim);
        if let Some(behind) = &behind
            && opens == Some(calls.section.0.trim())
            && !behind.ends_with(&own)
            && behind.ends_with(&calls.call.0)
        {
            calls.section.0.clear();
            own.clone_from(&calls.call.0);
        }
        let behind = behind.and_then(|behind| Some(behind.strip_suffix(&own)?.trim().to_owned()));
        if self.open.is_some() {
            self.before_calls = behind;
            let calls = Some(before).filter(|before| before.contains(&message.calls[0].name));
            let calls = calls.and_then(|calls| calls.trim_end().strip_suffix(opens?));
            self.behind_calls = calls.map(|calls| calls[calls.trim_end().len()..].to_owned());
            // In a message with calls something else may open the content.
            let other = before.trim();
            let opens_reasoning = reasoning.is_some_and(|reasoning| {
                !reasoning.open.is_empty() && other.contains(reasoning.open.trim())
            });
            if !other.is_empty()
                && !opens_reasoning
                && !before.contains(&message.calls[0].name)
                && !is_empty_reasoning(before)
            {
                self.others.push(other.to_owned());
            }
        } else if before.contains(&message.calls[0].name) {
            let cut = form.cut(&renderer.pieces, before, &message.calls, &renderer.choices);
            let lead = cut.and_then(|mut cut| cut.literals.pop());
            let around = behind_calls(&lead.unwrap_or_default(), rest, calls);
            self.beside
                .extend(around.into_iter().flat_map(Beside::around));
        } else if !is_empty_reasoning(before) {
            let around = [before.trim().to_owned(), behind.unwrap_or_default()];
            self.beside.extend(Beside::around(around));
        }
    }
}

/// Returns the texts around a content that stands behind the calls, where such stand there: `lead` is the text between the last call's body and
/// the content, and `rest` is all behind the content.
fn behind_calls(lead: &str, rest: &str, calls: &ToolCalls) -> Option<[String; 2]> {
    let closes = format!("{}{}", calls.call.1, calls.section.1);
    let open = lead.trim().strip_prefix(closes.trim()).map(str::trim);
    let close = match calls.turn_end.trim() {
        "" => rest,
        end => rest.split(end).next().unwrap_or_default(),
    };
    let around = [open?, close.trim()];
    let is_wrapped = around.iter().all(|text| !text.is_empty());
    is_wrapped.then(|| around.map(str::to_owned))
}

pub(in crate::derive) fn read(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
    reasoning: Option<&Reasoning>,
) -> (Content, Vec<Evidence>) {
    let plain = Assistant::saying(probe::CONTENT);
    let lead = |message: &Assistant| -> Option<(String, Turn)> {
        let turn = renderer.turn(context, &dialect.write(message)).ok()?;
        let full = &turn.full;
        let turn_text = anchor.turn(full, probe::CONTENT)?;
        let lead = turn_text.split_once(probe::CONTENT)?.0;
        let own = match (lead.split_once(probe::REASONING), reasoning) {
            (Some((_, after)), Some(reasoning)) => after
                .split_once(&reasoning.close)
                .map_or(after, |(_, own)| own)
                .to_owned(),
            (Some((_, after)), None) => after.to_owned(),
            (None, Some(reasoning)) => reasoning.strip(lead),
            (None, None) => lead.to_owned(),
        };
        // A marker of a reasoning that stands alone before the content does not open the content: a closing one belongs to the anchor, and
        // an opening one is a prefill.
        let own = own.trim();
        let own = reasoning
            .and_then(|reasoning| {
                let close = Some(&reasoning.close).filter(|close| !close.is_empty());
                close
                    .and_then(|close| own.strip_prefix(close))
                    .or_else(|| own.strip_prefix(&reasoning.open))
            })
            .unwrap_or(own);
        let own = own.trim().to_owned();
        Some((own, turn))
    };
    let Some((without, bare)) = lead(&plain) else {
        return (Content::default(), Vec::new());
    };
    let mut is_bare_beside_reasoning = false;
    let (marker, left, right, only_with_reasoning) = if without.is_empty() {
        match lead(&plain.clone().thinking(probe::REASONING)) {
            Some((with, turn)) if !with.is_empty() => {
                let left = RenderExcerpt::new("without reasoning", bare.full);
                let right = RenderExcerpt::new("with reasoning", turn.full);
                (with, left, right, true)
            }
            _ => return (Content::default(), Vec::new()),
        }
    } else {
        let beside = reasoning.and_then(|_| lead(&plain.clone().thinking(probe::REASONING)));
        // A reasoning that is written although it is empty stands there for another reason.
        let is_of_reasoning = reasoning.is_some_and(|reasoning| {
            let mut markers = [&reasoning.open, &reasoning.close].into_iter();
            markers.any(|marker| !marker.is_empty() && without.contains(marker.trim()))
        });
        is_bare_beside_reasoning =
            !is_of_reasoning && beside.is_some_and(|(with, _)| with.is_empty());
        let left = RenderExcerpt::new("the prompt", bare.prompt);
        let right = RenderExcerpt::new("answered", bare.full);
        (without, left, right, false)
    };
    let because = if only_with_reasoning {
        "it stands before the content where there is a reasoning"
    } else {
        "it stands before the content although there is no reasoning"
    };
    let beside = only_with_reasoning.then(|| {
        let means = format!("{} beside a reasoning alone", choice::marker(&marker));
        Candidate::new(
            "beside a reasoning",
            means,
            "nothing stands before the content where there is none",
            Open::Beside(marker.clone()),
        )
    });
    let without_reasoning = is_bare_beside_reasoning.then(|| {
        let means = format!("{} where there is no reasoning", choice::marker(&marker));
        Candidate::new(
            "without a reasoning alone",
            means,
            "nothing stands before the content where there is one",
            Open::Beside(marker.clone()),
        )
    });
    let last = Candidate::new(
        "the last marker",
        choice::marker(renderer.pieces.last_token(&marker)),
        "what stands before it may say something else",
        Open::Always(renderer.pieces.last_token(&marker).to_owned()),
    );
    let wrapped = Candidate::new(
        "wrapped",
        choice::marker(&marker),
        because,
        Open::Always(marker),
    );
    let plain = Candidate::new(
        "plain",
        "whatever nothing else claims",
        "what stands before the content might be text",
        Open::Never,
    );
    let open = renderer.choices.choose(
        DecisionId::ContentOpen,
        beside
            .into_iter()
            .chain([wrapped, last])
            .chain(without_reasoning)
            .chain([plain]),
    );
    let (open, beside) = match open {
        Some(Open::Always(marker)) => (Some(marker), Vec::new()),
        Some(Open::Beside(marker)) => (None, vec![Beside::before(marker)]),
        Some(Open::Never) | None => (None, Vec::new()),
    };
    let markers = open.iter().chain(beside.iter().map(|one| &one.text));
    let evidence = markers.map(|marker| Evidence {
        decision: "content open",
        marker: marker.clone(),
        reading: because.to_owned(),
        left: left.clone(),
        right: right.clone(),
        places: Vec::new(),
    });
    let evidence = evidence.collect();
    let content = Content {
        only_with_reasoning: only_with_reasoning && (open.is_some() || !beside.is_empty()),
        open,
        others: Vec::new(),
        end_beside_reasoning: None,
        ends_beside_further: Vec::new(),
        before_calls: None,
        behind_calls: None,
        beside,
    };
    (content, evidence)
}
