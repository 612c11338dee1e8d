//! The decisions of a derivation and their evidence: in short, or of one marker or decision with all that belongs to it: the two renders that it
//! was read from, as a diff, and the other candidates.

use obverse::derive::{Decision, Evidence, Fate, Report, Side};

use super::decisions::decisions;
use crate::cli::color::{BOLD, DIM, GREEN, RED, YELLOW, paint};
use crate::cli::{escape, near};

/// The name that means everything.
const ALL: &str = "all";

/// How many lines of what the renders share are shown beside a difference.
const LINES: usize = 2;

/// And how many characters.
const CHARACTERS: usize = 160;

/// Explains what is `wanted`: all in short, the marker or the decision of that name, or everything; styled and escaped.
pub(super) fn explanation(report: &Report, wanted: &str) -> String {
    if wanted.is_empty() {
        return short(report);
    }
    let is_meant = |question: &str| {
        wanted == ALL
            || question
                .to_lowercase()
                .contains(&wanted.to_lowercase().replace('-', " "))
    };
    let markers: Vec<Evidence> = report
        .evidence
        .iter()
        .filter(|evidence| is_meant(evidence.decision))
        .cloned()
        .collect();
    let settled: Vec<Decision> = report
        .decisions
        .iter()
        .filter(|decision| is_meant(decision.name))
        .cloned()
        .collect();
    if markers.is_empty() && settled.is_empty() {
        return unknown(report, wanted);
    }
    evidence(&markers, &report.source) + &decisions(&settled)
}

/// A few lines for each marker and each decision.
fn short(report: &Report) -> String {
    let mut out = format!(
        "\n  {}\n",
        paint(
            BOLD,
            "what marks the parts of a response, and what writes it"
        )
    );
    for evidence in &report.evidence {
        let marker = obverse::value::json::quote(&evidence.marker);
        out.push_str(&format!(
            "    {}  {}\n        {}\n",
            escape::line(evidence.decision),
            paint(GREEN, &escape::json(&marker)),
            paint(
                DIM,
                &escape::line(evidence.reading.lines().next().unwrap_or_default())
            ),
        ));
        for place in &evidence.places {
            out.push_str(&format!(
                "        {}\n",
                escape::line(&place.describe(&report.source))
            ));
        }
    }
    if !report.decisions.is_empty() {
        out.push_str(&format!(
            "\n  {}\n",
            paint(BOLD, "what was decided between several candidates")
        ));
    }
    for decision in &report.decisions {
        let taken = decision
            .candidates
            .iter()
            .filter(|option| option.fate == Fate::Taken);
        for option in taken {
            out.push_str(&format!(
                "    {}  {}\n        {}\n",
                escape::line(decision.name),
                paint(GREEN, &escape::line(&option.name)),
                paint(DIM, &escape::line(&option.because)),
            ));
        }
        let count = |fate: Fate| {
            decision
                .candidates
                .iter()
                .filter(|option| option.fate == fate)
                .count()
        };
        let fates = [Fate::Fails, Fate::NoBetter, Fate::Same, Fate::NotTried];
        let others: Vec<String> = fates
            .into_iter()
            .filter(|fate| count(*fate) > 0)
            .map(|fate| format!("{} {fate}", count(fate)))
            .collect();
        if !others.is_empty() {
            out.push_str(&format!("        others: {}\n", others.join(", ")));
        }
    }
    out.push_str(&format!(
        "\n  {}\n",
        paint(DIM, "--explain=NAME shows of one of these the renders, as a diff, and the other candidates; --explain=all shows those of all")
    ));
    out
}

/// That nothing is called so, and what there is.
fn unknown(report: &Report, wanted: &str) -> String {
    let markers = report.evidence.iter().map(|evidence| evidence.decision);
    let mut names: Vec<&str> = markers.collect();
    for decision in &report.decisions {
        if !names.contains(&decision.name) {
            names.push(decision.name);
        }
    }
    let hint = match near::nearest(wanted, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are: {}", names.join(", ")),
    };
    let label = paint(YELLOW.bold(), "warning");
    format!(
        "\n  {label}: no marker or decision is called `{}`; {}\n",
        escape::line(wanted),
        escape::line(&hint)
    )
}

/// All of it, styled and escaped. What only the left render has is `[-like this-]`, what only the right one has
/// `{+like this+}`, so that it can be read without colours too; `⏎` stands where a line ends. `source` is where the chat
/// template came from.
fn evidence(all: &[Evidence], source: &str) -> String {
    let mut out = String::new();
    for evidence in all {
        out.push('\n');
        out.push_str(&one(evidence, source));
    }
    out
}

fn one(evidence: &Evidence, source: &str) -> String {
    let marker = obverse::value::json::quote(&evidence.marker);
    let mut out = format!(
        "  {}  {}\n    {}\n",
        paint(BOLD, &escape::line(evidence.decision)),
        escape::json(&marker),
        escape::block(&evidence.reading).replace('\n', "\n    "),
    );
    for place in &evidence.places {
        let written = obverse::value::json::quote(place.text());
        let told = format!(
            "    {}  {}\n",
            escape::line(&place.describe(source)),
            escape::json(&written)
        );
        out.push_str(&told);
    }
    out.push_str(&format!(
        "    {} {}\n    {} {}\n",
        paint(RED, "[-left-] "),
        escape::line(&evidence.left.variant),
        paint(GREEN, "{+right+}"),
        escape::line(&evidence.right.variant),
    ));
    let pieces = evidence.diff();
    let mut body = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        match piece.side {
            Side::Both => {
                let (first, last) = (index == 0, index + 1 == pieces.len());
                body.push_str(&styled(DIM, &context(&piece.text, first, last), "", ""));
            }
            Side::Left => body.push_str(&styled(RED, &piece.text, "[-", "-]")),
            Side::Right => body.push_str(&styled(GREEN, &piece.text, "{+", "+}")),
        }
    }
    for line in body.lines() {
        out.push_str("    │ ");
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Text in a style, each of its lines for itself, so that what stands before a line is not styled with it. A line feed
/// at its end follows what closes it.
fn styled(style: anstyle::Style, text: &str, open: &str, close: &str) -> String {
    let visible = escape::block(text).replace('\n', "⏎\n");
    let (body, end) = match visible.strip_suffix('\n') {
        Some(body) => (body, "\n"),
        None => (visible.as_str(), ""),
    };
    let marked = format!("{open}{body}{close}");
    let lines: Vec<String> = marked.split('\n').map(|line| paint(style, line)).collect();
    lines.join("\n") + end
}

/// The part of a shared piece that is near a difference: its end, unless it is the `last` piece, and its beginning, unless it is
/// the `first`.
fn context(text: &str, first: bool, last: bool) -> String {
    let head = if first { "" } else { beginning(text) };
    let tail = if last { "" } else { ending(text) };
    if head.len() + tail.len() >= text.len() {
        return text.to_owned();
    }
    let gap = if head.is_empty() || tail.is_empty() {
        "…"
    } else {
        " … "
    };
    format!("{head}{gap}{tail}")
}

fn beginning(text: &str) -> &str {
    let lines = text
        .match_indices('\n')
        .nth(LINES - 1)
        .map_or(text.len(), |(at, _)| at);
    let characters = text
        .char_indices()
        .nth(CHARACTERS)
        .map_or(text.len(), |(at, _)| at);
    &text[..lines.min(characters)]
}

fn ending(text: &str) -> &str {
    let lines = text
        .rmatch_indices('\n')
        .nth(LINES)
        .map_or(0, |(at, _)| at + 1);
    let characters = text
        .char_indices()
        .rev()
        .nth(CHARACTERS - 1)
        .map_or(0, |(at, _)| at);
    &text[lines.max(characters)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use obverse::chat_template::{InputPath, InputStep};
    use obverse::derive::Writer;

    #[test]
    fn a_diff_shows_both_sides_and_what_is_near() {
        let shared = "one\ntwo\nthree\nfour\n".to_owned();
        let mut evidence = Evidence::default();
        evidence.decision = "turn end";
        evidence.marker = "<e>\n".to_owned();
        evidence.reading = "what follows".to_owned();
        evidence.left.variant = "with".to_owned();
        evidence.left.text = shared.clone() + "a<e>\n\u{1b}";
        evidence.right.variant = "without".to_owned();
        evidence.right.text = shared + "b<e>\n\u{1b}";
        evidence.places = vec![
            Writer::Source {
                template: None,
                line: 4,
                column: 12,
                start: 50,
                end: 53,
                text: "<e>".to_owned(),
                derived: false,
            },
            Writer::Input {
                input: InputPath::new([InputStep::from("\u{1b}")]),
                text: "\n".to_owned(),
                derived: true,
            },
        ];
        let plain = anstream::adapter::strip_str(&one(&evidence, "chat.jinja")).to_string();
        insta::assert_snapshot!(plain, @r#"
        turn end  "<e>\n"
          what follows
          written at chat.jinja:4:12  "<e>"
          computed from the input ["\u{1b}"]  "\n"
          [-left-]  with
          {+right+} without
          │ …three⏎
          │ four⏎
          │ [-a-]{+b+}<e>⏎
          │ \u{1b}
        "#);
    }

    #[test]
    fn short_context_is_whole() {
        assert_eq!(context("a\nb", false, false), "a\nb");
        assert_eq!(
            context("a\nb\nc\nd\ne\nf\ng", false, false),
            "a\nb … e\nf\ng"
        );
        assert_eq!(context("a\nb\nc\nd", true, false), "…b\nc\nd");
    }
}
