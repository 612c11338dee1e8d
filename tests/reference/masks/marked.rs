//! What `obverse annotate` makes of the corpus, rendered by transformers.

use std::path::{Path, PathBuf};

use obverse::conversation::annotate::{AnnotateError, annotate};
use obverse::value::json;

use super::{cases, code, rendered, row, template, told};
use crate::support::corpus;

const TEXT: &str = "
## What `obverse annotate` marks

Each chat template of the corpus that TRL has not marked by hand, marked by [`obverse annotate`](spans.md#marks-for-trainers), which proves its marks with
conversations of its own. Here transformers renders the result with the conversations of this page, which are others. *same text*
counts the conversations that it renders as it renders the unmarked chat template; where one is missing the test fails. *same mask* counts
those whose marks are what `obverse spans` tells, of those that are rendered without further kwargs; the first other one is named. Of the
chat templates that cannot be marked it is told what stands in the way.

";

/// The chat templates that are marked here: the path below the corpus's folder, and the file.
pub(super) fn all() -> Vec<(String, PathBuf)> {
    let mut all = corpus::templates();
    all.retain(|(name, _)| !name.ends_with("_training.jinja") && name.ends_with(".jinja"));
    all
}

pub(super) fn section() -> String {
    let mut out = TEXT.to_owned();
    let heads = [
        "chat template",
        "marks",
        "same text",
        "same mask",
        "first other mask, or what stands in the way",
    ];
    out += &row(&heads.map(str::to_owned));
    out += &row(&heads.map(|_| "---".to_owned()));
    let marked = all();
    let marked: Vec<Marked> = marked
        .iter()
        .map(|(name, path)| Marked::of(name, path))
        .collect();
    out.extend(marked.iter().map(|marked| marked.row.as_str()));
    let all = marked.len();
    let proved = marked.iter().filter(|marked| marked.is_proved).count();
    let held = marked.iter().filter(|marked| marked.is_held).count();
    out += &format!(
        "\nOf {all} chat templates {proved} are marked and proved, and of these {held} have the same mask in each of the conversations here too.\n"
    );
    assert!(proved * 10 >= all * 8, "{proved} of {all}");
    out
}

/// The outcome for a chat template.
pub(super) struct Marked {
    /// Its row of the table.
    pub(super) row: String,
    is_proved: bool,
    /// True if the mask is the same in every conversation here.
    is_held: bool,
}

impl Marked {
    pub(super) fn of(name: &str, path: &Path) -> Self {
        let template = template(path);
        let annotation = match annotate(&template) {
            Ok(annotation) => annotation,
            Err(error) => {
                let none = || "–".to_owned();
                let why = obstacle(&error, template.source());
                return Self {
                    row: row(&[name.to_owned(), none(), none(), none(), why]),
                    is_proved: false,
                    is_held: false,
                };
            }
        };
        let mut cases = cases("");
        // Each conversation once, every other one with tools. With kwargs the prompt may be another one, which no mark can follow.
        let mut index = 0;
        cases.retain(|case| {
            index += 1;
            case.input.kwargs.len() == 2 && matches!(index % 4, 0 | 1)
        });
        let mut results =
            rendered(&[template.source(), &annotation.source], &cases).expect("the reference");
        let (marked, plain) = (results.remove(1), results.remove(0));
        let (mut same_text, mut same_mask, mut first) = (0, 0, None);
        for (case, (plain, marked)) in cases.iter().zip(plain.iter().zip(&marked)) {
            let text = |rendered: &super::Rendered| rendered.as_ref().map(|(text, _)| text.clone());
            assert_eq!(
                text(plain),
                text(marked),
                "{name}: {}: marks change the text",
                case.name
            );
            let (Some((_, mask)), Some(spans)) = (marked, told(&template, case)) else {
                continue;
            };
            same_text += 1;
            if *mask == spans.generated {
                same_mask += 1;
            } else if first.is_none() {
                first = Some(case.name.clone());
            }
        }
        let is_held = first.is_none();
        let marks = match annotation.marks {
            0 => "its own".to_owned(),
            marks => marks.to_string(),
        };
        let row = row(&[
            name.to_owned(),
            marks,
            same_text.to_string(),
            same_mask.to_string(),
            first.map_or_else(String::new, |first| format!("“{first}”")),
        ]);
        Self {
            row,
            is_proved: true,
            is_held,
        }
    }
}

fn obstacle(error: &AnnotateError, source: &str) -> String {
    match error {
        AnnotateError::InTheWay(obstacle) => {
            let line = source[..obstacle.range.start].matches('\n').count() + 1;
            format!(
                "line {line}, {}: {error}",
                code(&source[obstacle.range.clone()])
            )
        }
        AnnotateError::NotProved(counterexample) => {
            format!(
                "{} in {}",
                counterexample.difference.replace('\n', " "),
                code(&json::to_string(&counterexample.messages.clone().into()))
            )
        }
        error => error.to_string(),
    }
}
