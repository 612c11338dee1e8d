//! The report for people: a headline, a small table, the findings, and the smallest counterexample.

use obverse::derive::{
    ContentMode, ContentReport, Counterexample, Finding, KindVerdict, ReasoningMode,
    ReasoningReport, Report, Supports, ToolsMode, ToolsReport, Verdict,
};
use obverse::diagnostic::Severity;
use obverse::value::json::to_string;
use obverse::value::{Map, Path, Value};

use crate::cli::color::{BLUE, BOLD, DIM, GREEN, RED, YELLOW, paint};
use crate::cli::escape;
use crate::cli::table::{self, marker};

/// The width of the first column.
const COLUMN: usize = 11;

/// How many characters of a text in a counterexample are shown.
const SHOWN: usize = 400;

/// How many of a prefix, of which only the end matters.
const PREFIX: usize = 120;

/// The report, styled and escaped.
pub(super) fn report(report: &Report) -> String {
    let mut out = headline(report);
    out.push('\n');
    for (name, text) in [
        ("anchor", anchor(&report.start_anchor)),
        ("reasoning", reasoning(&report.reasoning)),
        ("content", content(&report.content)),
        ("tools", tools(&report.tools)),
        ("supports", supports(&report.supports)),
        ("kinds", kinds(&report.kinds)),
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
    if let Some(smallest) = smallest(&findings) {
        out.push_str(&counterexample(smallest));
    }
    out
}

fn headline(report: &Report) -> String {
    let verdict = match report.verdict {
        Verdict::Proved => paint(GREEN.bold(), "proved"),
        Verdict::ProvedInPart => paint(YELLOW.bold(), "PROVED IN PART"),
        Verdict::Inexpressible => paint(YELLOW.bold(), "NOT WHOLLY EXPRESSIBLE"),
        Verdict::NotProved => paint(RED.bold(), "NOT PROVED"),
    };
    let rounds = &report.rounds;
    let mut counts = vec![format!("{} passed", rounds.passed)];
    for (count, what) in [
        (rounds.failed, "failed"),
        (rounds.inexpressible, "inexpressible"),
        (rounds.alike, "alike"),
        (rounds.skipped, "skipped"),
        (rounds.spliced, "spliced"),
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
        facts.push(format!("opened by the {opened_by}"));
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
        ContentMode::AlwaysWrapped | ContentMode::WrappedWithReasoning => {
            format!("{mode}  {}", between(&content.open, &content.close))
        }
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

/// The kinds of messages: those that came back together, and each other one with how many of it did.
fn kinds(kinds: &[KindVerdict]) -> String {
    let (whole, others): (Vec<&KindVerdict>, Vec<&KindVerdict>) = kinds
        .iter()
        .partition(|kind| kind.rendered && kind.came_back + kind.alike == kind.tried);
    let (short, silent): (Vec<&KindVerdict>, Vec<&KindVerdict>) =
        others.into_iter().partition(|kind| kind.rendered);
    let mut lines = Vec::new();
    if whole.len() > NAMED {
        lines.push(format!("{} kinds of messages came back whole", whole.len()));
    } else if !whole.is_empty() {
        let words: Vec<&str> = whole.iter().map(|kind| kind.kind.words()).collect();
        lines.push(format!("came back: {}", words.join(", ")));
    }
    for kind in short {
        let count = format!("{} of {} came back", kind.came_back, kind.tried);
        lines.push(format!("{}: {}", kind.kind.words(), paint(RED, &count)));
    }
    if !silent.is_empty() {
        let words: Vec<&str> = silent.iter().map(|kind| kind.kind.words()).collect();
        lines.push(paint(DIM, &format!("not rendered: {}", words.join(", "))));
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

/// A mode by its name in the JSON report.
fn mode_name(mode: &impl serde::Serialize) -> String {
    serde_json::to_value(mode)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// The shortest of the counterexamples of the worst findings. What is merely worth knowing needs none here; the JSON report has it.
fn smallest<'f>(findings: &[&'f Finding]) -> Option<&'f Counterexample> {
    let shown = |finding: &&&'f Finding| {
        finding.severity > Severity::Info && finding.counterexample.is_some()
    };
    let worst = findings
        .iter()
        .filter(shown)
        .map(|finding| finding.severity)
        .max()?;
    findings
        .iter()
        .filter(|finding| finding.severity == worst)
        .filter_map(|finding| finding.counterexample.as_ref())
        .min_by_key(|counterexample| counterexample.response.len())
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
    if let Some((path, expected, parsed)) =
        difference(&found.expected, &found.parsed, &Path::default())
    {
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

/// The first place where two values differ, and what is there in each.
fn difference<'v>(
    expected: &'v Value,
    parsed: &'v Value,
    path: &Path,
) -> Option<(Path, Option<&'v Value>, Option<&'v Value>)> {
    match (expected, parsed) {
        _ if expected == parsed => None,
        (Value::Object(left), Value::Object(right)) => members(left, right, path),
        (Value::Array(left), Value::Array(right)) => (0..left.len().max(right.len()))
            .find_map(|index| meet(left.get(index), right.get(index), path.index(index))),
        _ => Some((path.clone(), Some(expected), Some(parsed))),
    }
}

fn members<'v>(
    left: &'v Map,
    right: &'v Map,
    path: &Path,
) -> Option<(Path, Option<&'v Value>, Option<&'v Value>)> {
    left.keys()
        .chain(right.keys().filter(|key| !left.contains_key(key)))
        .find_map(|key| meet(left.get(key), right.get(key), path.key(key)))
}

fn meet<'v>(
    left: Option<&'v Value>,
    right: Option<&'v Value>,
    path: Path,
) -> Option<(Path, Option<&'v Value>, Option<&'v Value>)> {
    match (left, right) {
        (Some(left), Some(right)) => difference(left, right, &path),
        (left, right) => Some((path, left, right)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use obverse::value::json::parse;

    fn found(expected: &str, parsed: &str) -> Option<String> {
        let (expected, parsed) = (parse(expected).unwrap(), parse(parsed).unwrap());
        let (path, left, right) = difference(&expected, &parsed, &Path::default())?;
        let side = |value: Option<&Value>| value.map_or("-".to_owned(), to_string);
        Some(format!("{path} {} {}", side(left), side(right)))
    }

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        assert_eq!(found(r#"{"a": [1]}"#, r#"{"a": [1]}"#), None);
        assert_eq!(
            found(r#"{"a": [1, {"b": 1}]}"#, r#"{"a": [1, {"b": "1"}]}"#).unwrap(),
            r#"$.a[1].b 1 "1""#
        );
        assert_eq!(
            found(r#"{"a": []}"#, r#"{"a": [2]}"#).unwrap(),
            "$.a[0] - 2"
        );
        assert_eq!(found("{}", r#"{"x": null}"#).unwrap(), "$.x - null");
        assert_eq!(found("1", "1.0").unwrap(), "$ 1 1.0");
    }

    #[test]
    fn a_hostile_report_is_escaped() {
        let hostile = "\u{1b}]0;x\u{7}\u{202e}".to_owned();
        let mut out = anchor(std::slice::from_ref(&hostile));
        out += &counterexample(&Counterexample {
            message: Value::from(hostile.clone()),
            prefix: hostile.clone(),
            response: hostile.clone(),
            expected: Value::from(hostile.clone()),
            parsed: Value::Null,
            error: Some(hostile),
        });
        let plain = anstream::adapter::strip_str(&out).to_string();
        assert_eq!(escape::block(&plain), plain);
        assert!(!out.contains("\u{1b}]"));
    }
}
