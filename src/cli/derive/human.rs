//! The report for people: a headline, what to know of a derivation that is not proved, a small table of the format, the findings.

use anstyle::Style;
use obverse::derive::inspect::Supports;
use obverse::derive::{
    ContentMode, ContentReport, Derivation, DeviationVerdict, Finding, KindVerdict, ReasoningMode,
    ReasoningReport, Report, ToolsMode, ToolsReport, Verdict,
};
use obverse::diagnostic::Severity;

use super::verdict;
use crate::cli::color::{BLUE, BOLD, DIM, GREEN, RED, YELLOW, paint};
use crate::cli::escape;
use crate::cli::table::{self, marker};
use crate::cli::words::count;

/// The width of the first column.
const COLUMN: usize = 11;

/// The beginning of a report behind which the decisions and their evidence are to be seen on the same screen: what works, what does not,
/// why, and the format; the rest is named.
pub(super) fn brief(report: &Report) -> String {
    let mut out = headline(report);
    out.push_str(&verdict::brief(report));
    out.push('\n');
    format_rows(&mut out, report);
    let mut rest = Vec::new();
    if report.verdict != Verdict::Proved {
        rest.push("the smallest message that shows it, what to do next".to_owned());
    }
    rest.push("what the chat template supports".to_owned());
    rest.push("which deviations of models are read all the same".to_owned());
    if !report.findings.is_empty() {
        rest.push(count(report.findings.len(), "finding"));
    }
    let last = rest.pop().unwrap_or_default();
    let told = format!(
        "\n  left out here, and shown without --explain or with -v: {} and {last}\n",
        rest.join(", ")
    );
    out.push_str(&paint(DIM, &told));
    out
}

/// The rows about the format.
fn format_rows(out: &mut String, report: &Report) {
    for (name, text) in [
        ("anchor", anchor(&report.start_anchor)),
        ("reasoning", reasoning(&report.reasoning)),
        ("content", content(&report.content)),
        ("tools", tools(&report.tools)),
    ] {
        row(out, name, &text);
    }
}

/// The beginning of the report, styled and escaped: the verdict, what works and what does not, and why.
pub(super) fn head(derivation: &Derivation) -> String {
    headline(&derivation.report) + &verdict::of(derivation)
}

/// The rest of the report behind an empty line, styled and escaped: the format, and the findings.
pub(super) fn rest(report: &Report) -> String {
    let mut out = "\n".to_owned();
    format_rows(&mut out, report);
    for (name, text) in [
        ("supports", supports(&report.supports)),
        (
            "kinds",
            kinds(&report.kinds, report.verdict == Verdict::Proved),
        ),
        ("deviations", deviations(&report.deviations)),
    ] {
        row(&mut out, name, &text);
    }
    let mut findings: Vec<&Finding> = report.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    if !findings.is_empty() {
        out.push('\n');
    }
    // The same may have been found several times, with other counterexamples.
    let mut told: Vec<&Finding> = Vec::new();
    for finding in &findings {
        let is_same = |other: &&Finding| other.code == finding.code && other.text == finding.text;
        if told.iter().any(is_same) {
            continue;
        }
        told.push(finding);
        let (style, name) = match finding.severity {
            Severity::Error => (RED, "error"),
            Severity::Warning => (YELLOW, "warning"),
            Severity::Info => (BLUE, "info"),
        };
        let text = escape::block(&finding.text);
        let text = text.trim_end().replace('\n', "\n      ");
        let label = paint(style.bold(), name);
        let times = match findings
            .iter()
            .copied()
            .filter(|other| is_same(other))
            .count()
        {
            1 => String::new(),
            times => format!(" ({times} times)"),
        };
        out.push_str(&format!("  {label}[{}]: {text}{times}\n", finding.code));
    }
    out
}

/// A verdict as people read it, and its style.
pub(super) fn verdict_words(verdict: Verdict) -> (&'static str, Style) {
    match verdict {
        Verdict::Proved => ("proved", GREEN.bold()),
        Verdict::ProvedInPart => ("PROVED IN PART", YELLOW.bold()),
        Verdict::Inexpressible => ("NOT WHOLLY EXPRESSIBLE", YELLOW.bold()),
        Verdict::NotProved => ("NOT PROVED", RED.bold()),
    }
}

fn headline(report: &Report) -> String {
    let (words, style) = verdict_words(report.verdict);
    let verdict = paint(style, words);
    let rounds = &report.rounds;
    let mut counts = vec![format!("{} passed", rounds.passed)];
    for (count, what) in [
        (rounds.failed, "failed"),
        (rounds.inexpressible, "inexpressible"),
        (rounds.alike, "alike"),
        (rounds.skipped, "skipped"),
        (rounds.injected, "injected"),
        (rounds.cut, "cut short"),
    ] {
        if count > 0 {
            counts.push(format!("{count} {what}"));
        }
    }
    format!(
        "{verdict}  {}  {}\n",
        paint(BOLD, &escape::line(&report.source)),
        paint(DIM, &format!("rounds: {}", counts.join(", ")))
    )
}

/// A row of the report.
fn row(out: &mut String, name: &str, text: &str) {
    table::row(out, COLUMN, name, text);
}

fn anchor(literals: &[String]) -> String {
    let quoted: Vec<String> = literals.iter().map(|literal| marker(literal)).collect();
    quoted.join("  or  ")
}

fn reasoning(reasoning: &ReasoningReport) -> String {
    let mode = mode_name(&reasoning.mode);
    if reasoning.mode == ReasoningMode::None {
        return mode;
    }
    let mut facts = Vec::new();
    if let Some(key) = &reasoning.key {
        facts.push(format!("key {}", escape::line(key)));
    }
    if let Some(opened_by) = reasoning.opened_by {
        let only = reasoning.opened_where.iter();
        let only: String = only.map(|place| format!(" {place}")).collect();
        facts.push(format!("opened by the {opened_by}{only}"));
    }
    if let Some(history) = reasoning.history {
        facts.push(history.to_string());
    }
    format!(
        "{mode}  {}\n{}",
        between(&reasoning.open, &reasoning.close),
        paint(DIM, &facts.join(", "))
    )
}

fn content(content: &ContentReport) -> String {
    let mode = mode_name(&content.mode);
    match content.mode {
        ContentMode::Plain if content.close.is_empty() => mode,
        ContentMode::Plain => format!("{mode}  … {}", marker(&content.close)),
        _ => format!("{mode}  {}", between(&content.open, &content.close)),
    }
}

/// Two markers and what is between them, as far as there are any.
fn between(open: &str, close: &str) -> String {
    match (open, close) {
        ("", "") => String::new(),
        ("", close) => format!("… {}", marker(close)),
        (open, "") => format!("{} …", marker(open)),
        (open, close) => format!("{} … {}", marker(open), marker(close)),
    }
}

fn tools(tools: &ToolsReport) -> String {
    let mode = mode_name(&tools.mode);
    if tools.mode == ToolsMode::None {
        return mode;
    }
    let pair = |what: &str, open: &str, close: &str| {
        (!open.is_empty() || !close.is_empty()).then(|| format!("{what} {}", between(open, close)))
    };
    let markers: Vec<String> = [
        pair("all", &tools.section_open, &tools.section_close),
        pair("each", &tools.open, &tools.close),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut facts = Vec::new();
    for (what, place) in [
        ("name", &tools.name),
        ("arguments", &tools.arguments),
        ("id", &tools.id),
    ] {
        if let Some(place) = place {
            facts.push(format!("{what} at {}", escape::line(place)));
        }
    }
    if tools.array {
        facts.push("all calls in one array".to_owned());
    }
    if tools.arguments_as_text {
        facts.push("arguments as the text of an object".to_owned());
    }
    let markers = if markers.is_empty() {
        "without markers".to_owned()
    } else {
        markers.join(", ")
    };
    let mut text = format!("{mode}  {markers}");
    if !facts.is_empty() {
        text.push('\n');
        text.push_str(&paint(DIM, &facts.join(", ")));
    }
    text
}

fn supports(supports: &Supports) -> String {
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    for (name, holds) in [
        ("system message", supports.system),
        ("no tools", supports.without_tools),
        ("tools", supports.tools),
        ("calls", supports.tool_calls),
        ("several calls", supports.parallel_calls),
        ("content with calls", supports.content_with_calls),
        ("tool results", supports.tool_results),
        ("reasoning", supports.reasoning.is_some()),
    ] {
        if holds { yes.push(name) } else { no.push(name) }
    }
    let mut lines = vec![yes.join(", ")];
    if !no.is_empty() {
        lines.push(paint(DIM, &format!("not: {}", no.join(", "))));
    }
    if !supports.kwargs.is_empty() {
        let names = supports.kwargs.join(", ");
        lines.push(format!("changed by: {}", escape::line(&names)));
    }
    lines.join("\n")
}

/// How many kinds that came back are named; of more the number tells as much.
const NAMED: usize = 4;

/// The kinds of messages, those that came back only where the screen above has not told them.
fn kinds(kinds: &[KindVerdict], is_proved: bool) -> String {
    let (whole, others): (Vec<&KindVerdict>, Vec<&KindVerdict>) =
        kinds.iter().partition(|kind| verdict::is_whole(kind));
    let silent = others.iter().filter(|kind| !kind.rendered);
    let silent: Vec<&str> = silent.map(|kind| kind.kind.words()).collect();
    let mut lines = Vec::new();
    if is_proved && whole.len() > NAMED {
        lines.push(format!("{} kinds of messages came back whole", whole.len()));
    } else if is_proved && !whole.is_empty() {
        let words: Vec<&str> = whole.iter().map(|kind| kind.kind.words()).collect();
        lines.push(format!("came back: {}", words.join(", ")));
    }
    if !silent.is_empty() {
        lines.push(paint(DIM, &format!("not rendered: {}", silent.join(", "))));
    }
    let mut manners: Vec<&str> = kinds.iter().map(|kind| kind.manner.as_str()).collect();
    manners.dedup();
    lines.push(paint(
        DIM,
        &format!(
            "handed over: {}",
            escape::line(&manners.join("; with calls: "))
        ),
    ));
    lines.join("\n")
}

/// The deviations, which models write otherwise than the chat template renders: how many are borne, and which are not.
fn deviations(deviations: &[DeviationVerdict]) -> String {
    let borne = |one: &&DeviationVerdict| one.came_back == one.tried;
    let count = deviations.iter().filter(borne).count();
    let others: Vec<&str> = deviations
        .iter()
        .filter(|one| !borne(one))
        .map(|one| one.deviation.words())
        .collect();
    let text = format!("{count} of {} are read all the same", deviations.len());
    match others.as_slice() {
        [] => text,
        others => format!(
            "{text}\n{}",
            paint(DIM, &format!("not: {}", others.join(", ")))
        ),
    }
}

/// A mode by its name in the JSON report.
fn mode_name(mode: &impl serde::Serialize) -> String {
    serde_json::to_value(mode)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_hostile_report_is_escaped() {
        let hostile = "\u{1b}]0;x\u{7}\u{202e}".to_owned();
        let mut out = anchor(std::slice::from_ref(&hostile));
        let mut report = ContentReport::default();
        report.mode = ContentMode::AlwaysWrapped;
        report.open.clone_from(&hostile);
        report.close = hostile;
        out += &content(&report);
        let plain = anstream::adapter::strip_str(&out).to_string();
        assert_eq!(escape::block(&plain), plain);
        assert!(!out.contains("\u{1b}]"));
    }
}
