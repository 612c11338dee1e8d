//! One derivation as the cells of a row.

use obverse::derive::{Derivation, Verdict};
use obverse::diagnostic::Severity;
use obverse::grammar::StrictReader;
use obverse::value::json::quote;
use serde_json::Value as Json;

use crate::support::derived::Derived;

/// How many characters of a reason and of a marker are told.
const REASON: usize = 160;
const MARKER: usize = 60;

/// The heads of the columns.
pub const HEADS: [&str; 9] = [
    "chat template",
    "verdict",
    "kinds",
    "rounds",
    "reasoning",
    "content",
    "tool calls",
    "arguments",
    "ids",
];

/// The cells of one chat template.
pub fn cells(derived: &Derived) -> [String; 9] {
    let name = derived
        .name
        .rsplit_once('.')
        .map_or(&*derived.name, |(stem, _)| stem);
    let name = name
        .strip_prefix("chat_templates/")
        .unwrap_or(name)
        .to_owned();
    match &derived.outcome {
        Err(error) => [
            name,
            format!("**not derived**: {}", text(&error.to_string())),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
        ],
        Ok(derivation) => {
            let report = serde_json::to_value(&derivation.report).expect("a report");
            [
                name,
                verdict(derivation),
                kinds(derivation),
                format!("{}{}", rounds(&report["rounds"]), strictly(derivation)),
                reasoning(&report["reasoning"]),
                content(&report["content"]),
                tools(&report["tools"]),
                arguments(&report["tools"]),
                ids(derivation),
            ]
        }
    }
}

/// How many of the messages that do not come back the grammar of the format reads; nothing where all come back.
fn strictly(derivation: &Derivation) -> String {
    if derivation.missed.is_empty() {
        return String::new();
    }
    let reader = StrictReader::of(derivation).expect("a grammar that reads any tool");
    let [read, missed] = [reader.read_of_missed, derivation.missed.len()];
    format!("; of {missed} missed, its grammar reads {read}")
}

/// The word for a verdict.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => "proved",
        Verdict::ProvedInPart => "proved in part",
        Verdict::Inexpressible => "inexpressible",
        Verdict::NotProved => "not proved",
    }
}

fn verdict(derivation: &Derivation) -> String {
    let report = &derivation.report;
    let word = word(report.verdict);
    let mut reasons: Vec<String> = Vec::new();
    for finding in &report.findings {
        let is_reason = match report.verdict {
            Verdict::ProvedInPart => IN_PART.contains(&finding.code),
            _ => finding.severity == Severity::Error,
        };
        if !is_reason {
            continue;
        }
        let found = &finding.counterexample;
        let reason = match found.as_ref().and_then(|found| found.error.clone()) {
            Some(error) => format!("{}: {error}", finding.text),
            None => finding.text.clone(),
        };
        let reason = text(&reason);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    match reasons.first() {
        Some(reason) if report.verdict == Verdict::NotProved => format!("**{word}**: {reason}"),
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_owned(),
    }
}

/// The codes of what no render shows.
const IN_PART: [&str; 6] = [
    "answer-cut",
    "calls-not-rendered",
    "field-not-shown",
    "prompt-not-shown",
    "reasoning-not-shown",
    "turn-not-marked",
];

/// How many of the kinds that are rendered came back, and which did not.
fn kinds(derivation: &Derivation) -> String {
    let rendered = derivation.report.kinds.iter().filter(|kind| kind.rendered);
    let (whole, short): (Vec<_>, Vec<_>) =
        rendered.partition(|kind| kind.came_back + kind.alike == kind.tried);
    let count = whole.len() + short.len();
    if short.is_empty() {
        return format!("all {count}");
    }
    let short = short.into_iter().map(|kind| {
        format!(
            "{} ({} of {})",
            kind.kind.words(),
            kind.came_back,
            kind.tried
        )
    });
    let short: Vec<String> = short.collect();
    format!("{} of {count}; not {}", whole.len(), short.join(", "))
}

fn rounds(rounds: &Json) -> String {
    let mut counts = vec![rounds["passed"].to_string()];
    for what in ["failed", "inexpressible", "alike", "skipped", "injected"] {
        let count = &rounds[what];
        if count.as_u64().is_some_and(|count| count > 0) {
            counts.push(format!("{count} {what}"));
        }
    }
    counts.join(", ")
}

fn reasoning(reasoning: &Json) -> String {
    let mode = words(&reasoning["mode"]);
    if mode == "none" {
        return "—".to_owned();
    }
    let mut facts = vec![between(&reasoning["open"], &reasoning["close"])];
    if let Some(key) = reasoning["key"].as_str() {
        facts.push(format!("key `{key}`"));
    }
    if let Some(by) = reasoning["opened_by"].as_str()
        && by != "model"
    {
        facts.push(format!("opened by the {by}"));
    }
    if let Some(history) = reasoning["history"].as_str()
        && history != "kept"
    {
        facts.push(history.replace('_', " "));
    }
    format!("{mode} {}", facts.join(", "))
}

fn content(content: &Json) -> String {
    format!(
        "{} {}",
        words(&content["mode"]),
        between(&content["open"], &content["close"])
    )
}

fn tools(tools: &Json) -> String {
    let mode = words(&tools["mode"]);
    if mode == "none" {
        return "—".to_owned();
    }
    let mut out = mode;
    for (what, open, close) in [
        ("all", "section_open", "section_close"),
        ("each", "open", "close"),
    ] {
        let markers = between(&tools[open], &tools[close]);
        if !markers.is_empty() {
            out.push_str(&format!(", {what} {markers}"));
        }
    }
    if tools["array"] == true {
        out.push_str(", one array");
    }
    out
}

fn arguments(tools: &Json) -> String {
    if tools["mode"] == "none" {
        return "—".to_owned();
    }
    let mut facts = Vec::new();
    for (what, key) in [("name", "name"), ("arguments", "arguments")] {
        if let Some(place) = tools[key].as_str() {
            facts.push(format!("{what} at `{place}`"));
        }
    }
    if let Some(literals) = tools["argument"].as_array() {
        let literals: Vec<String> = literals
            .iter()
            .map(code)
            .filter(|text| !text.is_empty())
            .collect();
        facts.push(literals.join(" "));
    }
    if tools["arguments_as_text"] == true {
        facts.push("as text".to_owned());
    }
    if facts.is_empty() {
        facts.push("JSON".to_owned());
    }
    facts.join(", ")
}

/// Whether a call's id is in the text, as the response template has it.
fn ids(derivation: &Derivation) -> String {
    let document = derivation.document.to_value();
    let calls = document
        .get("fields")
        .and_then(|fields| fields.get("tool_calls"));
    let Some(transform) = calls.and_then(|calls| calls.get("transform")) else {
        return "—".to_owned();
    };
    if transform.get("id").is_some() {
        "read"
    } else {
        "none"
    }
    .to_owned()
}

/// A mode in words.
fn words(mode: &Json) -> String {
    mode.as_str().unwrap_or_default().replace('_', " ")
}

fn between(open: &Json, close: &Json) -> String {
    match (code(open), code(close)) {
        (open, close) if open.is_empty() && close.is_empty() => String::new(),
        (open, close) => [open, "…".to_owned(), close]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// A marker as code in a table; empty where there is none.
fn code(marker: &Json) -> String {
    match marker.as_str() {
        None | Some("") => String::new(),
        Some(marker) => {
            let short: String = marker.chars().take(MARKER).collect();
            let more = if short.len() < marker.len() {
                "…"
            } else {
                ""
            };
            verbatim(&short) + more
        }
    }
}

/// Text as code in a table, on one line.
pub fn verbatim(text: &str) -> String {
    let quoted = quote(text);
    // The quotes are dropped; escapes stay.
    let inner = quoted[1..quoted.len() - 1]
        .replace("\\\"", "\"")
        .replace('|', "\\|");
    if inner.contains('`') {
        format!("`` {inner} ``")
    } else {
        format!("`{inner}`")
    }
}

/// A sentence in a table, on one line and not too long.
pub fn text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(REASON).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
        .replace('|', "\\|")
        .replace('<', "\\<")
        .replace('`', "'")
}
