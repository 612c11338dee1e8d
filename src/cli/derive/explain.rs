//! The decisions of a derivation and their evidence: in short, or of one marker or decision with all that belongs to it: the two renders that it
//! was read from, as a diff, and the other candidates.

use obverse::derive::{Decision, Evidence, Fate, Report, Side, Writer};

use super::decisions::decisions;
use crate::cli::color::{BOLD, DIM, GREEN, RED, YELLOW, paint};
use crate::cli::verbosity::Verbosity;
use crate::cli::{escape, near};

/// The name that means everything.
const ALL: &str = "all";

/// How many of the places that write a marker are told; `--verbose` tells all.
const PLACES: usize = 3;

/// How many lines of what the renders share are shown beside a difference.
const LINES: usize = 2;

/// And how many characters.
const CHARACTERS: usize = 160;

/// Explains what is `wanted`: all in short (with every place where much is to be told), the marker or the decision of that name, or everything; styled and escaped.
pub(super) fn explanation(report: &Report, wanted: &str, verbosity: Verbosity) -> String {
    if wanted.is_empty() {
        return short(
            &report.source,
            &report.decisions,
            &report.evidence,
            verbosity,
        );
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
    if markers.is_empty()
        && settled.is_empty()
        && let Some(responses) = report.responses.as_ref().filter(|_| is_meant("response"))
    {
        return format!(
            "\n  all {} responses are read as the chat template renders, and nothing was learnt from them\n",
            responses.given
        );
    }
    if markers.is_empty() && settled.is_empty() {
        return unknown(report, wanted);
    }
    evidence(&markers, &report.source) + &decisions(&settled)
}

/// The decisions, a line for each, and then the markers that were read, a line for each: who asks first wants to see all of it on
/// a screen or two, and asks for the rest by name.
fn short(source: &str, settled: &[Decision], read: &[Evidence], verbosity: Verbosity) -> String {
    let mut out = String::new();
    if !settled.is_empty() {
        out.push_str(&format!(
            "\n  {}\n",
            paint(BOLD, "what was decided between several candidates, and why")
        ));
    }
    for decision in settled {
        out.push_str(&taken(decision));
    }
    out.push_str(&format!(
        "\n  {} {}\n",
        paint(
            BOLD,
            "what marks the parts of a response, and what writes it"
        ),
        paint(
            DIM,
            &format!("(lines and columns of {})", escape::line(source))
        )
    ));
    let most = match verbosity {
        Verbosity::Verbose => usize::MAX,
        _ => PLACES,
    };
    for (index, evidence) in read.iter().enumerate() {
        let marker = obverse::value::json::quote(&evidence.marker);
        let writes = places(evidence, read, most);
        out.push_str(&format!(
            "    {}  {}{}\n",
            escape::line(evidence.decision),
            paint(GREEN, &escape::json(&marker)),
            match writes.as_str() {
                "" => String::new(),
                writes => format!("  {}", escape::line(writes)),
            }
        ));
        // Markers that were read off together share the sentence that says how.
        let next = read.get(index + 1);
        if next.is_none_or(|next| next.reading != evidence.reading) {
            let reading = evidence.reading.lines().next().unwrap_or_default();
            out.push_str(&format!("        {}\n", paint(DIM, &escape::line(reading))));
        }
    }
    out.push_str(&format!(
        "\n  {}\n",
        paint(DIM, "--explain=NAME shows of one of these the renders, as a diff, and the other candidates; --explain=all shows those of all")
    ));
    out
}

/// The candidates that were taken, each with its reason, and what became of the others.
fn taken(decision: &Decision) -> String {
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
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(" (others: {})", others.join(", ")),
    };
    decision
        .candidates
        .iter()
        .filter(|option| option.fate == Fate::Taken)
        .map(|option| {
            format!(
                "    {}  {}: {}\n",
                escape::line(decision.name),
                paint(GREEN, &escape::line(&option.name)),
                paint(DIM, &format!("{}{others}", escape::line(&option.because))),
            )
        })
        .collect()
}

/// The places that write a marker, each once and at most so many. Those that fewest other markers share are told before others, since a
/// macro that writes into all of them says nothing of this one; those that are told keep the order of the text.
fn places(evidence: &Evidence, all: &[Evidence], most: usize) -> String {
    let mut once: Vec<&Writer> = Vec::new();
    for place in &evidence.places {
        if !once.iter().any(|known| is_same_place(known, place)) {
            once.push(place);
        }
    }
    let sharers = |place: &Writer| {
        let has = |other: &&Evidence| other.places.iter().any(|one| is_same_place(one, place));
        all.iter().filter(has).count()
    };
    let mut by_worth: Vec<usize> = (0..once.len()).collect();
    by_worth.sort_by_key(|index| sharers(once[*index]));
    by_worth.truncate(most);
    by_worth.sort_unstable();
    let mut out = String::new();
    let mut said = None;
    for index in &by_worth {
        let (how, at) = told(once[*index]);
        let separator = if out.is_empty() { "" } else { ", " };
        let how = match said.replace(how) {
            Some(before) if before == how => "",
            _ => how,
        };
        out.push_str(&format!("{separator}{how}{at}"));
    }
    match once.len() - by_worth.len() {
        0 => out,
        more => format!("{out} and {more} more"),
    }
}

/// How a place writes, and where it is, without the name of the file, which the heading has.
fn told(place: &Writer) -> (&'static str, String) {
    match place {
        Writer::Source {
            template,
            line,
            column,
            derived,
            ..
        } => {
            let how = if *derived {
                "computed at "
            } else {
                "written at "
            };
            match template {
                Some(name) => (how, format!("{line}:{column} of `{name}`")),
                None => (how, format!("{line}:{column}")),
            }
        }
        Writer::Input { input, derived, .. } => {
            let how = if *derived {
                "computed from "
            } else {
                "given by "
            };
            (how, format!("the input {input}"))
        }
    }
}

/// Returns true if the two are one place, whatever they write there.
fn is_same_place(one: &Writer, other: &Writer) -> bool {
    told(one) == told(other)
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
    use obverse::derive::ReportedCandidate;

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

    fn at(line: usize) -> Writer {
        Writer::Source {
            template: None,
            line,
            column: 1,
            start: line,
            end: line + 1,
            text: "<".to_owned(),
            derived: false,
        }
    }

    fn marker(places: &[usize]) -> Evidence {
        let mut evidence = Evidence::default();
        evidence.decision = "turn end";
        evidence.marker = "<e>".to_owned();
        evidence.reading = "what follows".to_owned();
        evidence.places = places.iter().map(|line| at(*line)).collect();
        evidence
    }

    #[test]
    fn a_place_is_told_once_and_what_all_markers_share_last() {
        // Lines 1 and 2 are a macro's, which both call.
        let all = [marker(&[1, 5, 2, 6, 1, 2, 7]), marker(&[1, 8, 2])];
        assert_eq!(
            places(&all[0], &all, PLACES),
            "written at 5:1, 6:1, 7:1 and 2 more"
        );
        assert_eq!(places(&all[1], &all, PLACES), "written at 1:1, 8:1, 2:1");
        assert_eq!(
            places(&all[0], &all, usize::MAX),
            "written at 1:1, 5:1, 2:1, 6:1, 7:1"
        );
        assert_eq!(places(&marker(&[]), &all, PLACES), "");
        let mut mixed = marker(&[4]);
        mixed.places.push(Writer::Input {
            input: InputPath::new([InputStep::from("x")]),
            text: "y".to_owned(),
            derived: false,
        });
        assert_eq!(
            places(&mixed, &all, PLACES),
            "written at 4:1, given by the input x"
        );
    }

    #[test]
    fn decisions_come_first_and_each_reading_is_told_once() {
        let read = [marker(&[4, 5, 6, 7]), marker(&[4])];
        let option = |name, fate| ReportedCandidate::new(name, name, "nothing else does", fate);
        let options = vec![
            option("whole", Fate::Taken),
            option("first", Fate::Fails),
            option("last", Fate::NoBetter),
        ];
        let settled = [Decision::new("anchor", options)];
        let plain = |verbosity| {
            let text = short("chat.jinja", &settled, &read, verbosity);
            anstream::adapter::strip_str(&text).to_string()
        };
        insta::assert_snapshot!(plain(Verbosity::Normal), @r#"

        what was decided between several candidates, and why
          anchor  whole: nothing else does (others: 1 fails, 1 no better)

        what marks the parts of a response, and what writes it (lines and columns of chat.jinja)
          turn end  "<e>"  written at 5:1, 6:1, 7:1 and 1 more
          turn end  "<e>"  written at 4:1
              what follows

        --explain=NAME shows of one of these the renders, as a diff, and the other candidates; --explain=all shows those of all
        "#);
        assert!(plain(Verbosity::Verbose).contains("written at 4:1, 5:1, 6:1, 7:1\n"));
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
