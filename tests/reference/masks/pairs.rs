//! TRL's training templates and the chat templates that they were made of.

use std::collections::BTreeMap;
use std::path::PathBuf;

use obverse::conversation::spans::{Part, Span, Spans};
use obverse::value::Value;

use super::stretches::beyond;
use super::{Case, cases, code, object, rendered, row, template, told};
use crate::support::corpus;

const TEXT: &str = "
## Beside marks that were put in by hand

TRL ships training templates: chat templates of others with marks written in by hand, and some with other changes, so that
they render some conversations otherwise. Below, *same* counts the conversations of which the mask of the unmarked chat template is the
mask of the marked one, *other text* those that the two render otherwise or one refuses, and *other mask* the rest. For these it says what
only one of the two masks has, and why.

- *prompt*: only TRL's mask has it, and the generation prompt has it too. The model reads it there and does not write it.
- *behind the end*: only TRL's mask has it; it stands behind the end of the last turn and behind no other. With a further question it is gone.
- *white space*: only the mask here has it: it belongs to the end of the turn, and TRL's mask takes it in of other chat templates.
- *result*: only the mask here has it: the chat template ends the turn with it when calls are the last thing said and no result follows them.
- *unseen result*: only the mask here has it: a result of which nothing is rendered stands within a turn, and nothing tells that it is not the model's.
- *no prompt*: only the mask here has it: the generation prompt of this chat template does not write the header after such a result, so that nobody but the model can.

";

/// What only one of two masks has.
struct Other {
    kind: &'static str,
    text: String,
    conversation: String,
}

/// A training template, and the chat template that it was made of.
pub(super) struct Pair {
    /// The name of the training template.
    name: String,
    /// The name of the chat template.
    original: String,
    marked: PathBuf,
    unmarked: PathBuf,
}

/// All pairs of the corpus.
pub(super) fn all() -> Vec<Pair> {
    let templates = corpus::templates();
    let pair = |(name, marked): &(String, PathBuf)| {
        let original = format!("{}.jinja", name.strip_suffix("_training.jinja")?);
        let unmarked = templates.iter().find(|(known, _)| *known == original)?;
        Some(Pair {
            name: name.clone(),
            marked: marked.clone(),
            unmarked: unmarked.1.clone(),
            original,
        })
    };
    templates.iter().filter_map(pair).collect()
}

pub(super) fn section() -> String {
    let mut out = TEXT.to_owned();
    let heads = [
        "chat template",
        "same",
        "other text",
        "other mask",
        "what differs",
    ];
    out += &row(&heads.map(str::to_owned));
    out += &row(&heads.map(|_| "---".to_owned()));
    let compared: Vec<Compared> = all().iter().map(Compared::of).collect();
    out.extend(compared.iter().map(|compared| compared.row.as_str()));
    let all_same: usize = compared.iter().map(|compared| compared.same).sum();
    let whole = compared.iter().filter(|compared| compared.is_whole).count();
    let pairs = compared.len();
    out += &format!(
        "\nOf {pairs} pairs {whole} have the same mask in every conversation that both render alike, {all_same} conversations in all are the \
         same, and every difference is one of the kinds above.\n"
    );
    out
}

/// The outcome for a pair.
pub(super) struct Compared {
    /// Its row of the table.
    pub(super) row: String,
    /// How many conversations have the same mask.
    same: usize,
    /// True if all have that both render alike.
    is_whole: bool,
}

impl Compared {
    /// # Panics
    ///
    /// When a difference is of none of the kinds that the page tells of.
    pub(super) fn of(pair: &Pair) -> Self {
        let name = &pair.name;
        let read = |path| std::fs::read_to_string(path).expect("a chat template");
        let (source, marked) = (read(&pair.unmarked), read(&pair.marked));
        let cases = cases(&source);
        let mut results = rendered(&[&source, &marked], &cases).expect("the reference");
        let (theirs, plain) = (results.remove(1), results.remove(0));
        let template = template(&pair.unmarked);
        let (mut same, mut other_text, mut differing) = (0, 0, Vec::new());
        for (case, (plain, theirs)) in cases.iter().zip(plain.iter().zip(&theirs)) {
            let (Some((text, _)), Some(spans)) = (plain, told(&template, case)) else {
                continue;
            };
            assert_eq!(*text, spans.text, "{name}: {}", case.name);
            match theirs {
                Some((text, mask)) if *text == spans.text => {
                    if *mask == spans.generated {
                        same += 1;
                    } else {
                        differing.push((case, spans, mask));
                    }
                }
                _ => other_text += 1,
            }
        }
        let others = explained(&source, &differing);
        let mut kinds: BTreeMap<&str, (usize, &Other)> = BTreeMap::new();
        for other in &others {
            kinds.entry(other.kind).or_insert((0, other)).0 += 1;
        }
        let unexplained = others.iter().filter(|other| other.kind.is_empty());
        let unexplained: Vec<String> = unexplained
            .map(|other| format!("{:?} in {}", other.text, other.conversation))
            .collect();
        assert!(
            unexplained.is_empty(),
            "{name}: nothing explains {unexplained:#?}"
        );
        let told = kinds.iter().map(|(kind, (_, other))| {
            format!("{kind}: {} in “{}”", code(&other.text), other.conversation)
        });
        let row = row(&[
            pair.original.trim_start_matches("trl/").to_owned(),
            same.to_string(),
            other_text.to_string(),
            differing.len().to_string(),
            told.collect::<Vec<_>>().join("; "),
        ]);
        Self {
            row,
            same,
            is_whole: differing.is_empty(),
        }
    }
}

/// A conversation, its spans here, and the other mask of it.
type Differing<'a> = (&'a Case, Spans, &'a Vec<(usize, usize)>);

/// The differences of two masks, each with its kind.
fn explained(source: &str, differing: &[Differing<'_>]) -> Vec<Other> {
    // The prompts of the turns, and the messages before them without one.
    let mut asked = Vec::new();
    for (case, spans, _) in differing {
        for message in turns(spans) {
            for prompt in [false, true] {
                let mut input = case.input.clone();
                input.messages.truncate(message);
                if input.messages.is_empty() {
                    // Most chat templates refuse to ask for the first word of all.
                    input.messages = vec![object([
                        ("role", Value::from("user")),
                        ("content", Value::from("x")),
                    ])];
                }
                input.add_generation_prompt = prompt;
                asked.push(Case {
                    name: String::new(),
                    input,
                });
            }
        }
    }
    let answers = rendered(&[source], &asked)
        .expect("the reference")
        .remove(0);
    let mut answers = answers
        .into_iter()
        .map(|rendered| rendered.map(|(text, _)| text));
    let mut out = Vec::new();
    for (case, spans, mask) in differing {
        let prompts: Vec<(usize, Option<String>, Option<String>)> = turns(spans)
            .map(|message| (message, answers.next().flatten(), answers.next().flatten()))
            .collect();
        let mut add = |kind, (start, end): (usize, usize)| {
            out.push(Other {
                kind,
                text: spans.text[start..end].to_owned(),
                conversation: case.name.clone(),
            });
        };
        for range in beyond(mask, &spans.generated) {
            let text = &spans.text[range.0..range.1];
            let last = spans.spans.iter().map(|span| span.end).max().unwrap_or(0);
            let is_asked = prompts.iter().any(|(message, history, prompt)| {
                let is_its = spans.spans.iter().any(|span| {
                    span.message == *message && span.start <= range.0 && range.1 <= span.end
                });
                is_its && has(text, history.as_deref(), prompt.as_deref())
            });
            add(
                if is_asked {
                    "prompt"
                } else if range.0 >= last {
                    "behind the end"
                } else {
                    ""
                },
                range,
            );
        }
        for range in beyond(&spans.generated, mask) {
            let text = &spans.text[range.0..range.1];
            let is_in = |part: Part| {
                spans
                    .spans
                    .iter()
                    .any(|span| span.part == part && span.start <= range.0 && range.1 <= span.end)
            };
            let begins_turn = prompts.iter().any(|(message, history, prompt)| {
                let starts = spans
                    .spans
                    .iter()
                    .any(|span| span.message == *message && span.start == range.0);
                starts && prompt.is_some() && !has(text, history.as_deref(), prompt.as_deref())
            });
            let is_unseen = {
                let has_result = |span: &Span| span.role == "tool";
                let messages = case.input.messages.iter();
                let mut roles = messages.filter_map(|message| message.get("role")?.as_str());
                roles.any(|role| role == "tool") && !spans.spans.iter().any(has_result)
            };
            add(
                if text.trim().is_empty() {
                    "white space"
                } else if is_unseen {
                    "unseen result"
                } else if begins_turn {
                    "no prompt"
                } else if is_in(Part::End) {
                    "result"
                } else {
                    ""
                },
                range,
            );
        }
    }
    out
}

/// The messages of the model.
fn turns(spans: &Spans) -> impl Iterator<Item = usize> {
    let own = spans
        .spans
        .iter()
        .filter(|span| span.part == Part::Message && span.role == "assistant");
    own.map(|span| span.message)
}

/// Whether a generation prompt has a text in what it adds to the messages before, or what they end with is that text.
fn has(text: &str, history: Option<&str>, prompt: Option<&str>) -> bool {
    let Some(prompt) = prompt else {
        return false;
    };
    let added = history.and_then(|history| prompt.strip_prefix(history));
    added.unwrap_or(prompt).contains(text)
        || prompt.ends_with(text)
        || history.is_some_and(|history| history.ends_with(text))
}
