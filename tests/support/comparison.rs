//! Questions that the reference and Obverse both answer.

use std::collections::BTreeMap;

use obverse::value::Value;
use obverse::value::json::{self, Format};

use super::reference;

/// A question for the reference, and what Obverse answers: a value in Python's JSON, or why there is none.
pub struct Case {
    pub question: Value,
    pub answer: Result<String, Failure>,
}

/// Why Obverse has no value.
pub struct Failure {
    pub message: String,
    /// The byte offset, which must be the reference's where it gives one.
    pub at: Option<usize>,
    /// Obverse stopped at a limit of its own, where the reference has none or another.
    pub limit: bool,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at: None,
            limit: false,
        }
    }
}

/// An object of these members.
pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// The value of a JSON text that the test itself wrote.
pub fn parsed(text: &str) -> Value {
    json::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The lines of a list that is written as text, one item a line.
pub fn lines(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}

/// Asks the reference all questions and compares; values and errors must both be among its answers.
pub fn compare(script: &str, cases: &[Case]) {
    let ascii = Format {
        ensure_ascii: true,
        ..Format::compact()
    };
    let questions: Vec<String> = cases
        .iter()
        .map(|case| ascii.write(&case.question))
        .collect();
    let Some(answers) = reference::ask(script, &questions) else {
        return;
    };
    let mut wrong = Vec::new();
    let mut outcomes: BTreeMap<bool, usize> = BTreeMap::new();
    for ((case, question), answer) in cases.iter().zip(&questions).zip(&answers) {
        let answer = parsed(answer);
        let expected = answer
            .get("value")
            .map(|value| value.as_str().expect("JSON in a string"));
        *outcomes.entry(expected.is_some()).or_default() += 1;
        let agrees = match (&case.answer, expected) {
            (Ok(ours), Some(theirs)) => ours == theirs,
            (Err(ours), None) => {
                ours.at.is_none() || answer.get("at").is_none_or(|at| *at == number(ours.at))
            }
            (Err(ours), Some(_)) => ours.limit,
            (Ok(_), None) => false,
        };
        if !agrees {
            let ours = match &case.answer {
                Ok(value) => value.clone(),
                Err(failure) => format!("{} at {:?}", failure.message, failure.at),
            };
            wrong.push(format!(
                "{question}\n  reference {}\n  obverse   {ours}",
                json::to_string(&answer)
            ));
        }
    }
    eprintln!("{outcomes:?} of {} answers are values", cases.len());
    assert!(outcomes.len() == 2, "values and errors both occur");
    let count = wrong.len();
    wrong.truncate(8);
    assert!(
        count == 0,
        "{count} of {} differ, among them\n{}",
        cases.len(),
        wrong.join("\n")
    );
}

fn number(at: Option<usize>) -> Value {
    at.and_then(|at| i64::try_from(at).ok())
        .map_or(Value::Null, Value::from)
}
