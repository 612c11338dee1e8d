//! The first screen of a report that is not wholly proved: what works, what does not, why, the smallest message of that cause, and what
//! can be done.

use std::cmp::Reverse;
use std::path::Path;

use obverse::derive::{Counterexample, Derivation, Finding, KindVerdict, Report, Verdict};
use obverse::diagnostic::Severity;
use obverse::grammar::StrictReader;
use obverse::value::Value;
use obverse::value::json::to_string;

use crate::cli::color::{BOLD, DIM, GREEN, RED, paint};
use crate::cli::escape;
use crate::cli::quoted::shell;
use crate::cli::table;

/// The width of the first column.
const COLUMN: usize = 11;

/// How many causes are told.
const CAUSES: usize = 3;

/// How many characters of a text in a counterexample are shown.
const SHOWN: usize = 400;

/// How many of a prefix, of which only the end matters.
const PREFIX: usize = 120;

/// Findings that say themselves what is wrong, so that nothing has to be told from messages.
const CAUSE: [&str; 5] = [
    "calls-not-understood",
    "calls-without-name",
    "refused-by-engine",
    "calls-not-rendered",
    "text-in-delimiter",
];

/// A message that did not come back, and why.
struct Lost<'r> {
    found: &'r Counterexample,
    why: String,
    /// True if nothing but words stands in the message, as in most that a model writes.
    is_plain: bool,
}

/// All of it but what to do next, styled and escaped; nothing for a derivation that is proved.
pub(super) fn of(derivation: &Derivation) -> String {
    let report = &derivation.report;
    if report.verdict == Verdict::Proved {
        return String::new();
    }
    let mut out = brief(report);
    let lost = lost(report);
    if let Some(first) = lost.first() {
        out.push_str(&counterexample(first.found));
    }
    out
}

/// The commands that can be run next, each with its purpose; none for a derivation that is proved.
pub(super) fn next_steps(derivation: &Derivation) -> String {
    let report = &derivation.report;
    if report.verdict == Verdict::Proved {
        return String::new();
    }
    next(report, !lost(report).is_empty(), strictly(derivation))
}

/// Tells which kinds come back, which do not, and why, without a message that shows it; nothing of a derivation that is proved.
pub(super) fn brief(report: &Report) -> String {
    if report.verdict == Verdict::Proved {
        return String::new();
    }
    let mut out = String::from("\n");
    row(
        &mut out,
        "works",
        &names(report.kinds.iter().filter(|kind| is_whole(kind))),
    );
    let fails = report
        .kinds
        .iter()
        .filter(|kind| kind.rendered && !is_whole(kind));
    row(
        &mut out,
        "fails",
        &fails.map(failing).collect::<Vec<_>>().join(", "),
    );
    let causes = causes(report, &lost(report));
    row(&mut out, "why", &causes.join("\n"));
    out
}

/// Why a derivation is not proved, in a sentence.
pub(super) fn cause(report: &Report) -> Option<String> {
    causes(report, &lost(report)).into_iter().next()
}

/// The causes, the likeliest first, escaped.
fn causes(report: &Report, lost: &[Lost<'_>]) -> Vec<String> {
    let mut causes: Vec<String> = said(report).map(str::to_owned).collect();
    let mut findings = report.findings.iter();
    let only_under = findings.find(|finding| finding.code == "lost-under-kwargs");
    if causes.is_empty() {
        causes.extend(only_under.map(first_line).map(str::to_owned));
        causes.extend(lost.iter().map(|lost| lost.why.clone()));
    }
    if causes.is_empty() {
        causes.extend(warned(report).map(str::to_owned));
    }
    let mut told: Vec<String> = Vec::new();
    for cause in causes {
        let cause = escape::line(&cause).into_owned();
        if !told.contains(&cause) && told.len() < CAUSES {
            told.push(cause);
        }
    }
    told
}

fn row(out: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        table::row(out, COLUMN, name, text);
    }
}

/// Returns true if every message of the kind came back.
pub(super) fn is_whole(kind: &KindVerdict) -> bool {
    kind.rendered && kind.came_back + kind.alike == kind.tried
}

fn names<'k>(kinds: impl Iterator<Item = &'k KindVerdict>) -> String {
    let names: Vec<&str> = kinds.map(|kind| kind.kind.words()).collect();
    if names.is_empty() {
        return paint(RED, "no kind of message comes back whole");
    }
    names.join(", ")
}

/// The kind, and how many of its messages do not come back.
fn failing(kind: &KindVerdict) -> String {
    let count = format!(
        "{} of {}",
        kind.tried - kind.came_back - kind.alike,
        kind.tried
    );
    format!("{} ({})", kind.kind.words(), paint(RED, &count))
}

/// The findings that tell the cause of a failure without a message.
fn said(report: &Report) -> impl Iterator<Item = &str> {
    let findings = report.findings.iter();
    findings
        .filter(|finding| finding.severity == Severity::Error && CAUSE.contains(&finding.code))
        .map(first_line)
}

/// The warnings, about what no render shows.
fn warned(report: &Report) -> impl Iterator<Item = &str> {
    let findings = report.findings.iter();
    findings
        .filter(|finding| finding.severity == Severity::Warning && finding.code != "assumed-token")
        .map(first_line)
}

fn first_line(finding: &Finding) -> &str {
    finding
        .text
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches(':')
}

/// The messages that did not come back: plain ones before others, since a failure of those is what people meet, and short ones before long ones.
fn lost(report: &Report) -> Vec<Lost<'_>> {
    let lost = |found, why| Lost {
        found,
        why,
        is_plain: is_plain(&found.expected),
    };
    let findings = report.findings.iter();
    let errors = findings.filter(|finding| finding.severity == Severity::Error);
    let of_findings = errors.filter_map(|finding| {
        let found = finding.counterexample.as_ref()?;
        let why = finding
            .why
            .as_deref()
            .unwrap_or(first_line(finding))
            .to_owned();
        Some(lost(found, why))
    });
    let mut all: Vec<Lost<'_>> = of_findings.collect();
    let kinds = report.kinds.iter().filter(|kind| !is_whole(kind));
    let of_kinds = kinds.filter_map(|kind| {
        let found = kind.smallest.as_ref()?;
        // A finding that shows the same response may know more.
        let known = all.iter().find(|one| one.found.response == found.response);
        Some(lost(
            found,
            known.map_or_else(|| found.why(), |one| one.why.clone()),
        ))
    });
    let of_kinds: Vec<Lost<'_>> = of_kinds.collect();
    all.extend(of_kinds);
    all.sort_by_key(|lost| (!lost.is_plain, lost.found.response.len()));
    all
}

/// The messages that do not come back, each once, that which the report shows first.
#[cfg(feature = "tui")]
pub(crate) fn messages(report: &Report) -> Vec<&Counterexample> {
    let mut all: Vec<&Counterexample> = Vec::new();
    for lost in lost(report) {
        if !all
            .iter()
            .any(|known| known.response == lost.found.response)
        {
            all.push(lost.found);
        }
    }
    all
}

/// Returns true if all texts of a message are words.
fn is_plain(message: &Value) -> bool {
    let words = |text: &str| {
        let is_word = |c: char| c.is_alphanumeric() || " _-.".contains(c);
        text.chars().all(is_word)
    };
    match message {
        Value::String(text) => words(text),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(members) => members
            .iter()
            .all(|(key, value)| words(key) && is_plain(value)),
        _ => true,
    }
}

/// How many of the messages that do not come back the grammar of the format reads, and of how many that was tried.
fn strictly(derivation: &Derivation) -> Option<[usize; 2]> {
    if derivation.missed.is_empty() {
        return None;
    }
    let read = StrictReader::of(derivation)?.read_of_missed;
    (read > 0).then_some([read, derivation.missed.len()])
}

/// These commands.
fn next(report: &Report, is_lost: bool, strictly: Option<[usize; 2]>) -> String {
    let source = shell(&report.source);
    let name = Path::new(&report.source)
        .file_stem()
        .map_or("model".into(), |stem| stem.to_string_lossy());
    let fixture = shell(&format!("fixtures/{name}/recorded"));
    let mut rows: Vec<(String, &str)> = Vec::new();
    let brings = strictly.map(|[read, of]| {
        format!("writes a grammar, too, that reads {read} of {of} messages that do not come back; `obverse parse` takes it as TEMPLATE")
    });
    if let Some(what) = &brings {
        rows.push((
            format!(
                "obverse derive {source} --grammar {}",
                shell(&format!("{name}.grammar.json"))
            ),
            what,
        ));
    }
    if is_lost {
        let what = "steps through this message, and lets you edit the response template meanwhile";
        rows.push((format!("obverse debug {source}"), what));
    }
    let what =
        "keeps what the model really writes, from standard input, to hold the response template to";
    rows.push((format!("my-model | obverse record {fixture}"), what));
    if report.responses.is_none() {
        let what = "learns from responses that were recorded, too: files, .jsonl files, fixtures";
        rows.push((format!("obverse derive {source} --responses PATH"), what));
    }
    let code = report
        .findings
        .iter()
        .filter(|finding| finding.code != "assumed-token" && finding.severity > Severity::Info)
        .min_by_key(|finding| (Reverse(finding.severity), !CAUSE.contains(&finding.code)));
    if let Some(finding) = code {
        rows.push((format!("obverse explain {}", finding.code), "tells more"));
    }
    let mut out = format!("\n  {}\n", paint(BOLD, "what to do next"));
    for (command, what) in rows {
        out.push_str(&format!("    {command}\n        {}\n", paint(DIM, what)));
    }
    out.push_str(&format!(
        "    {}\n",
        paint(DIM, "or take it as it is, if the model never writes such messages: the response template is written all the same")
    ));
    out
}

fn counterexample(found: &Counterexample) -> String {
    let mut out = format!(
        "\n  {}\n",
        paint(BOLD, "the smallest message that shows it")
    );
    let text = |text: &str| escape::short(text, SHOWN);
    let value = |value: &Value| text(&to_string(value));
    let mut line = |name: &str, text: String| row(&mut out, name, &text);
    line("message", value(&found.message));
    if !found.prefix.is_empty() {
        line("prefix", escape::end(&found.prefix, PREFIX));
    }
    line("response", text(&found.response));
    line("expected", paint(GREEN, &value(&found.expected)));
    line("parsed", paint(RED, &value(&found.parsed)));
    if let Some(error) = &found.error {
        line("error", text(error));
    }
    if let Some((path, expected, parsed)) = found.difference() {
        let side = |value: Option<&Value>| {
            value.map_or("nothing".to_owned(), |value| {
                escape::short(&to_string(value), SHOWN / 2)
            })
        };
        line(
            "differs",
            format!(
                "at {}: expected {}, parsed {}",
                escape::line(&path.to_string()),
                paint(GREEN, &side(expected)),
                paint(RED, &side(parsed))
            ),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use obverse::value::json::parse;

    fn call(argument: &str) -> String {
        format!(
            r#"{{"tool_calls": [{{"function": {{"name": "f", "arguments": {{"x": {argument}}}}}}}]}}"#
        )
    }

    #[test]
    fn a_plain_message_is_one_of_words() {
        assert!(is_plain(&parse(&call(r#""teal ribbon""#)).unwrap()));
        assert!(!is_plain(&parse(&call(r#"",v=""#)).unwrap()));
        assert!(!is_plain(&parse(r#"{"a[]": 1}"#).unwrap()));
    }

    #[test]
    fn a_command_line_names_any_file() {
        assert_eq!(shell("a/b.jinja"), "a/b.jinja");
        assert_eq!(shell("it's\u{1b}.jinja"), r"'it'\''s\u{1b}.jinja'");
    }

    #[test]
    fn a_hostile_counterexample_is_escaped() {
        let hostile = "\u{1b}]0;x\u{7}\u{202e}".to_owned();
        let mut found = Counterexample::default();
        found.message = Value::from(hostile.clone());
        found.prefix.clone_from(&hostile);
        found.response.clone_from(&hostile);
        found.expected = Value::from(hostile.clone());
        found.error = Some(hostile);
        let out = counterexample(&found);
        let plain = anstream::adapter::strip_str(&out).to_string();
        assert_eq!(escape::block(&plain), plain);
        assert!(!out.contains("\u{1b}]"));
    }
}
