//! The decisions of a derivation: what was taken, what else was tried, and why it lost.

use obverse::derive::{Counterexample, Decision, Fate, ReportedCandidate};
use obverse::value::json::to_string;

use crate::cli::color::{BLUE, BOLD, DIM, GREEN, RED, paint};
use crate::cli::escape;

/// How many characters of a response or a message are shown.
const SHOWN: usize = 160;

/// All of it, styled and escaped.
pub(super) fn decisions(all: &[Decision]) -> String {
    let mut out = String::new();
    for decision in all {
        out.push_str(&format!(
            "\n  {}  {}\n",
            paint(BOLD, &escape::line(decision.name)),
            paint(DIM, &format!("{} candidates", decision.candidates.len()))
        ));
        for candidate in &decision.candidates {
            out.push_str(&one(candidate));
        }
    }
    out
}

fn one(candidate: &ReportedCandidate) -> String {
    let style = match candidate.fate {
        Fate::Taken => GREEN,
        Fate::Fails => RED,
        Fate::NoBetter | Fate::Same | Fate::NotTried => BLUE,
    };
    let mut out = format!(
        "    {}  {}",
        paint(style, &format!("{:<9}", candidate.fate.to_string())),
        escape::line(&candidate.name),
    );
    if candidate.means != candidate.name {
        out.push_str(&format!(": {}", escape::short(&candidate.means, SHOWN)));
    }
    out.push('\n');
    let mut line = |text: &str| out.push_str(&format!("{}{text}\n", " ".repeat(15)));
    line(&paint(DIM, &escape::line(&candidate.because)));
    if let Some(why) = &candidate.why {
        line(&escape::line(why));
    }
    if let Some(found) = &candidate.counterexample {
        for text in lost(found) {
            line(&text);
        }
    }
    out
}

/// The message that does not come back, in lines.
fn lost(found: &Counterexample) -> Vec<String> {
    let value = |value| escape::short(&to_string(value), SHOWN);
    let mut lines = vec![
        format!("response {}", escape::short(&found.response, SHOWN)),
        format!("expected {}", paint(GREEN, &value(&found.expected))),
        format!("parsed   {}", paint(RED, &value(&found.parsed))),
    ];
    if let Some(error) = &found.error {
        lines.push(format!("error    {}", escape::short(error, SHOWN)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use obverse::value::Value;

    #[test]
    fn a_loser_shows_why() {
        let candidate =
            |way, fate| ReportedCandidate::new(way, "\"<e>\"", "it follows\u{1b} an answer", fate);
        let mut fails = candidate("the first marker", Fate::Fails);
        let mut lost = Counterexample::default();
        lost.response = "Hi<e>".to_owned();
        lost.expected = Value::from("Hi");
        lost.parsed = Value::from("H");
        fails.counterexample = Some(lost);
        let options = vec![candidate("all that is shared", Fate::Taken), fails];
        let decision = Decision::new("turn end", options);
        let plain = anstream::adapter::strip_str(&decisions(&[decision])).to_string();
        insta::assert_snapshot!(plain, @r#"

        turn end  2 candidates
          taken      all that is shared: "<e>"
                     it follows\u{1b} an answer
          fails      the first marker: "<e>"
                     it follows\u{1b} an answer
                     response Hi<e>
                     expected "Hi"
                     parsed   "H"
        "#);
    }
}
