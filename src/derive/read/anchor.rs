//! The beginning of the model's turn: the start anchor, read from the generation prompt or from the text before an answer.

use crate::chat_template::ANY_TEXT;
use crate::derive::choice::Candidate;
use crate::derive::compare::pieces::Pieces;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Call, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::value::{Map, Value, json};

/// The literals that begin the model's turn. In a prompt the turn begins where the last one of them ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::derive) struct Anchor {
    pub(in crate::derive) literals: Vec<String>,
    /// The literal that begins the turn within the response, where the prompt does not end with it and the answered conversation goes on
    /// with it.
    pub(in crate::derive) in_response: Option<String>,
}

impl Anchor {
    /// The anchor of these literals.
    pub(in crate::derive) fn of(literals: impl IntoIterator<Item = String>) -> Self {
        Self {
            literals: literals.into_iter().collect(),
            in_response: None,
        }
    }

    /// The text behind the last literal of the anchor.
    pub(in crate::derive) fn after_last<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.literals
            .iter()
            .filter_map(|literal| text.rfind(literal).map(|at| at + literal.len()))
            .max()
            .map(|end| &text[end..])
    }

    /// The anchor without its last token, which turned out to belong to the turn; `None` if nothing would be left.
    pub(in crate::derive) fn without_last_token(&self, pieces: &Pieces) -> Option<Self> {
        let shorter = |literal: &String| without_last_token(literal, pieces);
        let literals = self.literals.iter().map(shorter).collect::<Option<_>>()?;
        Some(Self {
            literals,
            in_response: None,
        })
    }

    /// Returns true if a turn that ends with `end` is followed by another one in `text`.
    pub(in crate::derive) fn follows(&self, text: &str, end: &str) -> bool {
        let end = end.trim();
        !end.is_empty()
            && text.match_indices(end).any(|(at, _)| {
                let rest = text[at + end.len()..].trim_start();
                self.literals
                    .iter()
                    .any(|literal| rest.starts_with(literal.trim()))
            })
    }

    /// Returns true if a turn begins behind the last place of `words` in the prompt.
    pub(in crate::derive) fn begins_after(&self, prompt: &str, words: &str) -> bool {
        prompt
            .rfind(words)
            .is_some_and(|at| self.after_last(&prompt[at..]).is_some())
    }

    /// Returns the turn with which `render` ends, and in which `first_probe` is the first probe. Only the text before that probe is
    /// searched for the anchor, so that a prompt which prefills the turn otherwise than the history writes it does not hide the turn.
    pub(in crate::derive) fn turn<'t>(
        &self,
        render: &'t str,
        first_probe: &str,
    ) -> Option<&'t str> {
        let probe_at = render.rfind(first_probe)?;
        let rest = self.after_last(&render[..probe_at])?;
        Some(&render[probe_at - rest.len()..])
    }

    /// Returns the turn of a message that has this call and nothing else; `None` where the chat template does not render it, or without
    /// the call's name.
    pub(in crate::derive) fn turn_calling(
        &self,
        renderer: &Renderer<'_>,
        context: &Context,
        dialect: &Dialect,
        call: Call,
    ) -> Option<String> {
        let name = call.name.clone();
        let message = dialect.write(&Assistant::calling([call]));
        let turn = renderer.turn(context, &message).ok()?;
        self.turn(&turn.full, &name).map(str::to_owned)
    }
}

/// A literal that begins the model's turn, or may.
#[derive(Debug, Clone)]
pub(in crate::derive) struct Beginning {
    /// The name of the candidate among those that were found.
    name: &'static str,
    because: &'static str,
    pub(in crate::derive) anchor: Anchor,
    pub(in crate::derive) evidence: Evidence,
}

/// Returns the candidates for the beginning of the turn: each literal that was found, the best first, whole or without its last token,
/// which may belong to the turn. `opens_a_region` is true if the last token of the best one was seen to open something; then the candidate
/// without it comes first. `asked` is the conversation before the turn: what stands in it belongs to the headers of all messages, and opens nothing.
pub(in crate::derive) fn candidates(
    pieces: &Pieces,
    found: Vec<Beginning>,
    opens_a_region: bool,
    asked: &str,
) -> Vec<Candidate<Beginning>> {
    let mut candidates = Vec::new();
    let mut trimmed = Vec::new();
    for (rank, beginning) in found.into_iter().enumerate() {
        let opens_a_region = opens_a_region && rank == 0;
        let candidate = |name: String, because: &str, beginning: Beginning| {
            let literals = beginning.anchor.literals.iter();
            let means: Vec<String> = literals.map(|one| json::quote(one)).collect();
            Candidate::new(name, means.join(" or "), because, beginning)
        };
        let shorter = beginning.without_last_token(pieces).map(|shorter| {
            let name = match beginning.name {
                WHOLE => "without its last token".to_owned(),
                name => format!("{name}, without its last token"),
            };
            let because = if opens_a_region {
                "what its last token opens is rendered right behind it: a reasoning, a call, or what the last turn is prefilled with"
            } else {
                "its last token might open something that no render shows"
            };
            candidate(name, because, shorter)
        });
        let because = match (beginning.name, opens_a_region) {
            (WHOLE, false) => {
                "it stands before every answer, and nothing was seen that its last token opens"
            }
            _ => beginning.because,
        };
        trimmed.extend(beginning.without_space(pieces).map(|shorter| {
            let name = format!("{}, without white space", beginning.name);
            let because = "a prompt, an answer and a call may have other white space around it";
            candidate(name, because, shorter)
        }));
        trimmed.extend(beginning.without_last_constant(pieces, asked).map(|shorter| {
            let name = format!("{}, without its last constant", beginning.name);
            let because = "the last of the constants of which it is made might open something, though the chat template never parts them";
            candidate(name, because, shorter)
        }));
        let whole = candidate(beginning.name.to_owned(), because, beginning);
        match shorter {
            Some(shorter) if opens_a_region => candidates.extend([shorter, whole]),
            shorter => candidates.extend(std::iter::once(whole).chain(shorter)),
        }
    }
    candidates.append(&mut trimmed);
    candidates
}

/// The name of the candidate that takes the end of the conversation for the beginning of the turn.
const BEHIND: &str = "what the conversation ends with";

/// The name of the candidate that takes all of a generation prompt for the beginning of the turn.
const WHOLE: &str = "whole";

impl Beginning {
    fn without_last_token(&self, pieces: &Pieces) -> Option<Self> {
        let anchor = self.anchor.without_last_token(pieces)?;
        Some(Self {
            anchor,
            ..self.clone()
        })
    }

    /// Returns the beginning without the last constant of its literals; `None` if one would be left empty, or if one ends with what stands in
    /// `asked`.
    fn without_last_constant(&self, pieces: &Pieces, asked: &str) -> Option<Self> {
        let shorter = |literal: &String| {
            let rest = pieces.without_last_constant(literal)?;
            let last = literal[rest.len()..].trim();
            (!asked.contains(last)).then(|| rest.to_owned())
        };
        let literals = self.anchor.literals.iter().map(shorter);
        Some(Self {
            anchor: Anchor::of(literals.collect::<Option<Vec<_>>>()?),
            ..self.clone()
        })
    }

    /// Returns the beginning with the first markers of its literals alone, up to white space; `None` if there is no white space at all.
    fn without_space(&self, pieces: &Pieces) -> Option<Self> {
        let mut literals: Vec<String> = Vec::new();
        for literal in &self.anchor.literals {
            let first = first_marker(literal, pieces);
            if !first.is_empty() && !literals.iter().any(|known| known == first) {
                literals.push(first.to_owned());
            }
        }
        let is_other = !literals.is_empty() && literals != self.anchor.literals;
        is_other.then(|| Self {
            anchor: Anchor::of(literals),
            ..self.clone()
        })
    }
}

/// Returns the candidates for the literal that begins the model's turn in `context`, the likeliest first. Where there is a generation
/// prompt, it is the text that this adds, in the same words under every one of the `settings`; where there is none, the text before an
/// answer tells. `known` has the literals that begin a turn elsewhere.
pub(in crate::derive) fn read(
    renderer: &Renderer<'_>,
    context: &Context,
    settings: &[Map],
    known: &Anchor,
    label: &str,
) -> Vec<Beginning> {
    let dialect = Dialect::standard();
    let mut header: Option<String> = None;
    let mut own: Vec<String> = Vec::new();
    // True if a prompt begins the turn with a text that it is given.
    let mut begins_with_any = false;
    let mut gap: Vec<Beginning> = Vec::new();
    // The text that all prompts end with, where they differ before it.
    let mut tail: Option<String> = None;
    // True if the prompt adds nothing under the first of the settings.
    let mut is_empty = false;
    let mut before: Option<String> = None;
    // The markers before an answer that all prompts have as well.
    let mut both: Option<Vec<String>> = None;
    let mut evidence = None;
    for kwargs in settings {
        let context = context.under(kwargs);
        let (Ok(prompt), Ok(history)) = (renderer.prompt(&context), renderer.history(&context))
        else {
            continue;
        };
        let begin = match prompt.starts_with(&history) {
            true => history.len(),
            false => renderer.pieces.shared_start(&prompt, &history),
        };
        let adds_nothing = begin == prompt.len();
        is_empty |= adds_nothing && kwargs.is_empty();
        for content in [probe::CONTENT, probe::OTHER_CONTENT] {
            let Ok(turn) = renderer.turn(&context, &dialect.write(&Assistant::saying(content)))
            else {
                continue;
            };
            if gap.is_empty() {
                gap = read_gap(
                    renderer, &context, &turn.full, content, &history, known, label,
                );
            }
            if adds_nothing {
                continue;
            }
            let shared = match turn.shared() {
                shared if shared == turn.prompt.len() => shared,
                _ => renderer
                    .pieces
                    .shared_before_header(&turn.prompt, &turn.full),
            };
            let found = if shared < begin {
                // If the answer stands before the text with which the prompt ends, that prompt tells where the answer begins only if the
                // answered conversation has the same text before the answer.
                let added = &turn.prompt[begin..];
                let is_begun_so = turn
                    .full
                    .rfind(content)
                    .is_some_and(|answer| turn.full[..answer].ends_with(added));
                match &header {
                    _ if is_begun_so => added,
                    Some(_) => continue,
                    None => "",
                }
            } else {
                &turn.prompt[begin..shared]
            };
            // What was said before may stand in the header of the turn. The turn then begins with what follows it, which every header has.
            let found = &found[end_of_words(found)..];
            let end = renderer.pieces.whole(found);
            let begins = &found[..end];
            // A text that was made up for a kwarg is no delimiter.
            if begins.contains(ANY_TEXT) {
                begins_with_any = true;
            } else if !begins.trim().is_empty() && !own.iter().any(|known| known == begins) {
                own.push(begins.to_owned());
            }
            let added = &turn.prompt[begin..];
            let answer = turn.full.rfind(content).unwrap_or(turn.full.len());
            let shown = &turn.full[..answer];
            // White space at the end may be the answer's alone.
            let is_spaced = renderer.pieces.shared_end(added, shown) == 0;
            let [end, shown] = [added, shown].map(|text| match is_spaced {
                true => text.trim_end(),
                false => text,
            });
            let ends = [Some(shown), tail.as_deref()].into_iter().flatten();
            let shared = ends
                .map(|other| renderer.pieces.shared_end(end, other))
                .min();
            let shared = &end[end.len() - shared.unwrap_or(0)..];
            tail = Some(shared[end_of_words(shared)..].to_owned());
            both.get_or_insert_with(|| {
                let gap = &turn.full[begin.min(answer)..answer];
                let markers = renderer.pieces.constants(gap).into_iter();
                markers.map(|marker| gap[marker].to_owned()).collect()
            })
            .retain(|marker| added.contains(marker));
            before.get_or_insert_with(|| {
                let words_end = end_of_words(&turn.prompt[..begin]);
                renderer
                    .pieces
                    .last_token(&turn.prompt[words_end..begin])
                    .to_owned()
            });
            header = Some(match header {
                Some(before) => {
                    let shared = renderer.pieces.shared_before_header(&before, found);
                    before[..shared].to_owned()
                }
                None => found.to_owned(),
            });
            evidence.get_or_insert_with(|| Evidence {
                decision: "anchor",
                marker: String::new(),
                reading: format!("what the generation prompt adds {label}, as far as the answered conversation has it too"),
                left: RenderExcerpt::new("conversation", history.as_str()),
                right: RenderExcerpt::new("with the generation prompt", turn.prompt.as_str()),
                places: Vec::new(),
            });
        }
    }
    let header = header.map(|found| {
        let end = renderer.pieces.whole(&found);
        let found = &found[..end];
        // White space alone begins no turn; together with the marker before it, it does.
        match before {
            Some(before) if !found.is_empty() && found.trim().is_empty() => before + found,
            _ => found.to_owned(),
        }
    });
    let ending = |evidence: &Evidence| {
        let marker = tail.filter(|tail| !tail.trim().is_empty())?;
        Some(Beginning {
            name: "what all prompts end with",
            because: "under some settings the prompt begins the turn with something else, and ends as the others do",
            anchor: Anchor::of([marker.clone()]),
            evidence: Evidence {
                marker,
                ..evidence.clone()
            },
        })
    };
    // Where only a kwarg adds to the prompt, the turn begins right behind the conversation.
    let behind = gap.iter().find(|beginning| beginning.name == BEHIND);
    let behind = behind.filter(|_| is_empty && evidence.is_some()).cloned();
    let others = match (header, evidence) {
        (Some(marker), Some(evidence)) if !marker.trim().is_empty() => {
            let ending = ending(&evidence);
            let whole = Beginning {
                name: WHOLE,
                because: "it stands before every answer",
                anchor: Anchor::of([marker.clone()]),
                evidence: Evidence { marker, ..evidence },
            };
            let is_cut = |ending: &Beginning| {
                let marker = ending.evidence.marker.trim();
                !whole.evidence.marker.trim().ends_with(marker)
            };
            // Behind what all prompts end with, nothing is left of what begins the turn, whatever stands before it.
            let is_last = (own.len() > 1 || begins_with_any) && ending.as_ref().is_some_and(is_cut);
            let whole = std::iter::once(whole);
            match is_last {
                true => ending.into_iter().chain(whole).collect(),
                false => whole.chain(ending).collect(),
            }
        }
        (_, Some(evidence)) if own.len() > 1 || (begins_with_any && !own.is_empty()) => {
            let ending = ending(&evidence);
            let shared = last_of_each(&own, &renderer.pieces).map(|marker| Beginning {
                name: "the last markers of each prompt",
                because: "under some settings the prompt begins the turn with something else, before and behind markers that all of them have",
                evidence: Evidence {
                    marker: marker.to_owned(),
                    ..evidence.clone()
                },
                anchor: Anchor::of([marker.to_owned()]),
            });
            let each = Beginning {
                name: "as each prompt has it",
                because: "under some settings the prompt begins the turn with something else",
                evidence: Evidence {
                    marker: own[0].clone(),
                    ..evidence
                },
                anchor: Anchor::of(own),
            };
            let all = shared.into_iter();
            // A prompt that begins the turn has the model go on behind that, so that the turn does not begin before it.
            let gap = gap.into_iter().filter(|one| one.name != BEHIND);
            let each = (!begins_with_any).then_some(each);
            each.into_iter()
                .chain(ending)
                .chain(gap)
                .chain(all)
                .collect()
        }
        (_, Some(evidence)) => {
            let both = both.unwrap_or_default();
            let is_shared = |first: &Beginning| {
                let marker = first.evidence.marker.trim();
                both.iter().any(|shared| shared.trim() == marker)
            };
            // What some prompts lack may be of the turn: such as what closes a reasoning that others open.
            let is_whole = |marker: &String| renderer.pieces.is_one(marker.trim());
            let is_first = both.last().is_some_and(is_whole)
                && gap.first().is_some_and(|first| !is_shared(first));
            let both = both.last().map(|marker| Beginning {
                name: "the last marker of both",
                because: "the prompt begins the turn otherwise than the answered conversation does, and both have it",
                anchor: Anchor::of([marker.clone()]),
                evidence: Evidence {
                    marker: marker.clone(),
                    ..evidence
                },
            });
            match is_first {
                true => both.into_iter().chain(gap).collect(),
                false => gap.into_iter().chain(both).collect(),
            }
        }
        _ => gap,
    };
    behind.into_iter().chain(others).collect()
}

/// Returns the last markers of the first of these texts that stand in all of them one after the other, without the white space around them.
fn last_of_each<'t>(texts: &'t [String], pieces: &Pieces) -> Option<&'t str> {
    let (first, others) = texts.split_first()?;
    let is_shared = |text: &str| others.iter().all(|other| other.contains(text.trim()));
    let mut end = first.trim_end().len();
    let mut begin = end;
    while begin > 0 {
        let shorter = begin - pieces.last_token(&first[..begin]).len();
        match is_shared(&first[shorter..end]) {
            true => begin = shorter,
            false if first[begin..end].trim().is_empty() => (begin, end) = (shorter, shorter),
            false => break,
        }
    }
    Some(first[begin..end].trim()).filter(|shared| !shared.is_empty())
}

/// Returns the byte at which the last words of the user, of the system message or of a tool's result end in a text.
pub(super) fn end_of_words(text: &str) -> usize {
    let words = [
        probe::USER,
        probe::USER_AGAIN,
        probe::SYSTEM,
        probe::TOOL_RESULT,
    ];
    let ends = words
        .iter()
        .filter_map(|words| Some(text.rfind(words)? + words.len()));
    ends.max().unwrap_or(0)
}

/// Returns the literal of the anchor that stands at the beginning of the response: the prompt ends without it, and the answered
/// conversation goes on with it.
pub(in crate::derive) fn in_response(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
) -> Option<(String, Evidence)> {
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let turn = renderer.turn(context, &answer).ok()?;
    let rest = turn.full.strip_prefix(&turn.prompt)?;
    let marker = anchor
        .literals
        .iter()
        .find(|literal| rest.starts_with(literal.as_str()))?;
    let evidence = Evidence {
        decision: "anchor",
        marker: marker.clone(),
        reading:
            "the answered conversation goes on from the prompt with what begins a turn elsewhere"
                .to_owned(),
        left: RenderExcerpt::new("the prompt", turn.prompt.as_str()),
        right: RenderExcerpt::new("answered", turn.full.as_str()),
        places: Vec::new(),
    };
    Some((marker.clone(), evidence))
}

/// Returns the literal behind which a call begins that answers a tool's result, where no literal of the anchor stands between the two.
///
/// Some chat templates write the answer behind a result as their prompt begins it, and a call without what the prompt has there. The
/// text behind the result that the prompt and the call have in common then stands right before such a call. In a prompt it changes
/// nothing, since what begins an answer stands behind it.
///
/// For example, `</result>` is that literal where the prompt ends with `</result></results>`, behind which an answer begins, and a
/// call is rendered as `</result><call>`.
pub(in crate::derive) fn before_call(
    renderer: &Renderer<'_>,
    after_tool: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
) -> Option<(String, Evidence)> {
    let call = probe::call(0);
    let turn = renderer
        .turn(
            after_tool,
            &dialect.write(&Assistant::calling([call.clone()])),
        )
        .ok()?;
    let behind_result = |text: &'_ str| {
        let at = text.rfind(probe::TOOL_RESULT)?;
        Some(at + probe::TOOL_RESULT.len())
    };
    let before = &turn.full[..turn.full.rfind(&call.name)?];
    let gap = &before[behind_result(before)?..];
    if anchor.after_last(gap).is_some() {
        return None;
    }
    let prompted = &turn.prompt[behind_result(&turn.prompt)?..];
    let shared = &gap[..renderer.pieces.shared_start(gap, prompted)];
    let marker = shared[..renderer.pieces.whole(shared)].trim_end();
    if marker.trim().is_empty() {
        return None;
    }
    let evidence = Evidence {
        decision: "anchor",
        marker: marker.to_owned(),
        reading: "a call behind a tool's result is written without what begins an answer there; this is what both have behind the result".to_owned(),
        left: RenderExcerpt::new("the prompt", turn.prompt.as_str()),
        right: RenderExcerpt::new("with a call", turn.full.as_str()),
        places: Vec::new(),
    };
    Some((marker.to_owned(), evidence))
}

/// Returns the first marker of a literal, without the white space around it.
fn first_marker<'t>(literal: &'t str, pieces: &Pieces) -> &'t str {
    let mut marker = literal.trim_end();
    loop {
        let shorter = marker[..marker.len() - pieces.last_token(marker).len()].trim_end();
        match shorter.trim().is_empty() {
            true => return marker.trim_start(),
            false => marker = shorter,
        }
    }
}

/// Returns the literal without its last token; `None` if nothing would be left.
fn without_last_token(literal: &str, pieces: &Pieces) -> Option<String> {
    let rest = literal.strip_suffix(pieces.last_token(literal))?;
    (!rest.trim().is_empty()).then(|| rest.to_owned())
}

/// Reads the beginning of the turn where there is no generation prompt: from the gap between what was said last and the answer. It is the
/// last marker of that gap, or more of the gap, since the last marker may belong to the answer. If the gap ends with a `known` literal,
/// which the prompt then lacks, the markers before that one count; if a known one stands elsewhere in the gap, nothing else begins the
/// turn.
fn read_gap(
    renderer: &Renderer<'_>,
    context: &Context,
    full: &str,
    content: &str,
    history: &str,
    known: &Anchor,
    label: &str,
) -> Vec<Beginning> {
    let members = context
        .history
        .last()
        .and_then(Value::as_object)
        .map(|message| {
            let members = message.iter();
            members.filter(|(key, _)| ["content", "tool_call_id"].contains(&key.as_str()))
        });
    let gap = full.rfind(content).and_then(|answer| {
        let before = &full[..answer];
        let words = members?.filter_map(|(_, value)| value.as_str());
        let ends = words.filter_map(|value| before.rfind(value).map(|at| at + value.len()));
        Some(&before[ends.max()?..])
    });
    let Some(whole) = gap else {
        return Vec::new();
    };
    let mut literals = known.literals.iter();
    let gap = match literals.find_map(|literal| whole.strip_suffix(literal.as_str())) {
        Some(gap) => gap,
        None if known.after_last(whole).is_some() => return Vec::new(),
        None => whole,
    };
    let last = renderer.pieces.last_token(gap);
    let two = &gap[gap.len()
        - last.len()
        - renderer
            .pieces
            .last_token(&gap[..gap.len() - last.len()])
            .len()..];
    let beginnings = [
        (
            "the last marker",
            "it is the last that stands before an answer, and there is no generation prompt",
            last,
        ),
        (
            "the last two markers",
            "the last one alone may stand elsewhere as well",
            two,
        ),
        (
            "all that stands between",
            "the end of what was said before may be a part of it",
            gap.trim_start(),
        ),
    ];
    // A message of the user may end with what begins the turn.
    let begun = full.strip_prefix(history).and_then(|answer| {
        let own = whole.strip_suffix(&answer[..answer.find(content)?])?;
        (own.len() < whole.len()).then(|| {
            (
                BEHIND,
                "the answer goes on from it, and there is no generation prompt",
                renderer.pieces.last_token(own),
            )
        })
    });
    let beginnings = beginnings.into_iter().chain(begun);
    let beginnings = beginnings.map(|(name, because, marker)| {
        // White space that the prompt lacks belongs to the turn.
        let is_there = history.trim_end().ends_with(marker.trim_end());
        let marker = if is_there && !history.ends_with(marker) {
            marker.trim_end()
        } else {
            marker
        };
        Beginning {
            name,
            because,
            anchor: Anchor::of([marker.to_owned()]),
            evidence: Evidence {
                decision: "anchor",
                marker: marker.to_owned(),
                reading: format!("what stands between what was said and the answer {label}; there is no generation prompt"),
                left: RenderExcerpt::new("conversation", history),
                right: RenderExcerpt::new("answered", full),
                places: Vec::new(),
            },
        }
    });
    beginnings
        .filter(|beginning| !beginning.evidence.marker.trim().is_empty())
        .collect()
}
