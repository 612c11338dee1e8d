//! A chat template with `{% generation %}` around what the model writes: the marks by which trainers know it.
//!
//! # How
//!
//! A suite of conversations is rendered, and of each text and each expression of the source it is seen whether it writes what the
//! model writes, by the spans of [`spans`](super::spans): `seen`. The nodes of the source that do are put between marks: `marks`.
//! Nothing of the source is changed but that texts are put between its characters.
//!
//! The result is proved before it is given away: it must render every conversation of the suite to the same text, and its marks must be the
//! spans. With kwargs that change the generation prompt the model may begin elsewhere, which no mark in a source can
//! follow; of those it is said that the marks are other than the spans.
//!
//! It costs a few hundred renders.

mod marks;
mod nodes;
mod put;
mod seen;
mod split;
mod suite;
mod whole;

use std::ops::Range;

use serde::Serialize;

use crate::chat_template::{ChatTemplate, MAX_STEPS, RenderInput};
use crate::conversation::spans::{Examined, examine, joined, role};
use crate::value::{Map, Value};

pub(crate) use marks::Reason;

/// A chat template with marks, proved.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Annotation {
    /// The source with marks.
    pub source: String,
    /// How many stretches of the source were marked; none where it had marks, which were proved as they are.
    pub marks: usize,
    /// With how many conversations it was proved.
    pub proved: usize,
    /// The kwargs with which the marks are other than the spans, since the generation prompt is another one.
    pub other_under: Vec<Map>,
}

/// Why a chat template cannot be marked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnnotateError {
    /// Nothing that the model writes was seen.
    #[error(
        "the chat template renders no conversation with an answer, so that nothing is known of what the model writes"
    )]
    Nothing,
    /// No mark can be put where it would have to be.
    #[error("{}", .0.message())]
    InTheWay(Obstacle),
    /// Marks were found, and they are wrong.
    #[error("the marks that were found are not right for a conversation: {0}")]
    NotProved(Box<WrongMarks>),
}

/// A place in the source that stands in the way of marks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Obstacle {
    /// Where it stands in the source, in bytes.
    pub range: Range<usize>,
    reason: Reason,
}

impl Obstacle {
    /// In a sentence without its end.
    fn message(&self) -> &'static str {
        match self.reason {
            Reason::Unsteady => {
                "this writes what the model writes in one conversation, and in another it writes something else"
            }
            Reason::Uncut => {
                "this writes what the model writes together with something else, and cannot be cut between them"
            }
            Reason::Nameless => {
                "this writes messages of every role, and no variable of a loop holds the message that it writes"
            }
        }
    }
}

/// A conversation for which the marks are wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrongMarks {
    /// The conversation.
    pub messages: Vec<Value>,
    /// In what they are wrong.
    pub difference: String,
}

impl std::fmt::Display for WrongMarks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let roles: Vec<&str> = self.messages.iter().map(role).collect();
        write!(f, "{} ({})", self.difference, roles.join(", "))
    }
}

/// Puts marks around what the model writes. A source that has marks is proved as it is.
///
/// ```
/// use obverse::chat_template::ChatTemplate;
/// use obverse::conversation::annotate::annotate;
///
/// let template = ChatTemplate::new(
///     "{% for m in messages %}{{ '[' + m.role + ']' + m.content }}[/]{% endfor %}\
///      {% if add_generation_prompt %}[assistant]{% endif %}",
/// )?;
/// let annotation = annotate(&template)?;
/// assert!(annotation.source.contains("{% generation %}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When there is no place for the marks, or what was found is not proved.
pub fn annotate(template: &ChatTemplate) -> Result<Annotation, AnnotateError> {
    let source = template.source();
    let nodes = nodes::nodes(source);
    let tags = crate::chat_template::tags(source);
    let is_marked = tags
        .iter()
        .any(|tag| &source[tag.name.clone()] == "generation");
    let cases = suite::cases(template);
    let examined: Vec<(&RenderInput, Examined)> = cases
        .iter()
        .filter_map(|case| Some((case, examine(template, case).ok()?)))
        .collect();
    if is_marked {
        return prove(template, source, &examined).map(|proved| proved.of(0));
    }
    let mut sights = seen::Sights::default();
    // With kwargs the generation prompt may be another one.
    for (case, examined) in examined.iter().filter(|(case, _)| case.kwargs.is_empty()) {
        sights.add(template, case, examined);
    }
    let marks = marks::Marks::find(source, &nodes, &sights);
    let told = match marks.unmarkable.first() {
        Some(first) => AnnotateError::InTheWay(Obstacle {
            range: first.range.clone(),
            reason: first.reason,
        }),
        None if marks.count == 0 => AnnotateError::Nothing,
        None => match prove(template, &put::apply(source, &marks.insertions), &examined) {
            Ok(proved) => return Ok(proved.of(marks.count)),
            Err(error) => error,
        },
    };
    let Some(whole) = whole::find(source, &nodes, &sights) else {
        return Err(told);
    };
    let proved = prove(template, &put::apply(source, &whole), &examined);
    // If the whole turn cannot be marked either, the reason why single nodes could not be is the one to report.
    proved
        .map(|proved| proved.of(whole.len() / 2))
        .map_err(|error| match told {
            AnnotateError::Nothing => error,
            told => told,
        })
}

/// A source that was proved.
#[derive(Debug)]
struct Proved {
    source: String,
    count: usize,
    other_under: Vec<Map>,
}

impl Proved {
    fn of(self, marks: usize) -> Annotation {
        Annotation {
            source: self.source,
            marks,
            proved: self.count,
            other_under: self.other_under,
        }
    }
}

/// Renders all conversations with the marks: how many, and the kwargs with which the marks are not the spans.
fn prove(
    template: &ChatTemplate,
    annotated: &str,
    examined: &[(&RenderInput, Examined)],
) -> Result<Proved, AnnotateError> {
    let wrong = |case: &RenderInput, difference: String| {
        AnnotateError::NotProved(Box::new(WrongMarks {
            messages: case.messages.clone(),
            difference,
        }))
    };
    let Some((first, _)) = examined.first() else {
        return Err(AnnotateError::Nothing);
    };
    let marked = ChatTemplate::new(annotated)
        .map_err(|error| wrong(first, format!("with marks it does not compile: {error}")))?
        .with_special_tokens(template.special_tokens().clone());
    let mut proved = 0;
    let mut other_under: Vec<Map> = Vec::new();
    for (case, examined) in examined {
        let mut steps = MAX_STEPS;
        let (traced, layout) = marked
            .render_laid_out(&case.borrowed(), &mut steps)
            .map_err(|error| wrong(case, format!("with marks it is refused: {error}")))?;
        if traced.text != examined.traced.text {
            let at = crate::text::common_prefix(&traced.text, &examined.traced.text);
            return Err(wrong(
                case,
                format!("with marks it renders otherwise from byte {at} on"),
            ));
        }
        let found = joined(layout.generated);
        if found == examined.generated {
            proved += 1;
        } else if case.kwargs.is_empty() {
            let text = &traced.text;
            return Err(wrong(case, difference(text, &found, &examined.generated)));
        } else if !other_under.contains(&case.kwargs) {
            other_under.push(case.kwargs.clone());
        }
    }
    Ok(Proved {
        source: annotated.to_owned(),
        count: proved,
        other_under,
    })
}

/// The first stretch of a text that only one of two masks has.
fn difference(text: &str, marked: &[(usize, usize)], spans: &[(usize, usize)]) -> String {
    let has = |ranges: &[(usize, usize)], at: usize| {
        ranges
            .iter()
            .any(|(start, end)| (*start..*end).contains(&at))
    };
    let mut bounds: Vec<usize> = marked
        .iter()
        .chain(spans)
        .flat_map(|(start, end)| [*start, *end])
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    let first = bounds
        .windows(2)
        .find(|pair| has(marked, pair[0]) != has(spans, pair[0]));
    let Some([start, end]) = first else {
        return "the marks are not the spans".to_owned();
    };
    let said = if has(marked, *start) {
        "is marked and not written by the model"
    } else {
        "is written by the model and not marked"
    };
    format!("{:?} {said}", &text[*start..*end])
}
