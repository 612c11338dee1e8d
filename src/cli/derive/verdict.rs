//! The first screen of a report that is not wholly proved: what works, what does not, why, the smallest message of that cause, and what
//! can be done.

use std::cmp::Reverse;
use std::path::Path;

use obverse::derive::{Counterexample, Derivation, Finding, KindVerdict, Report, Verdict};
use obverse::diagnostic::Severity;
use obverse::grammar::StrictReader;
use obverse::value::json::{quote, to_string};
use obverse::value::{self, Step, Value};

use super::difference::difference;
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

/// How many of a text that ends a field too early.
const STOP: usize = 12;

/// Findings that say themselves what is wrong, so that nothing has to be told from messages.
const CAUSE: [&str; 4] = [
    "calls-not-understood",
    "calls-without-name",
    "refused-by-engine",
    "calls-not-rendered",
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
    if causes.is_empty() {
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
        let why = match (&finding.why, finding.code) {
            (Some(why), _) => why.clone(),
            (None, "not-inverted" | "inexpressible") => why(found),
            (None, _) => first_line(finding).to_owned(),
        };
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
            known.map_or_else(|| why(found), |one| one.why.clone()),
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

/// Why a message does not come back, in a sentence, as far as it and its render tell.
fn why(found: &Counterexample) -> String {
    if let Some(error) = &found.error {
        return format!("the response does not parse: {error}");
    }
    let Some((path, expected, parsed)) =
        difference(&found.expected, &found.parsed, &value::Path::default())
    else {
        return "the message comes back as another one".to_owned();
    };
    let place = place(&path);
    match (expected, parsed) {
        // A default stands where a text went elsewhere.
        (Some(wanted @ Value::String(text)), Some(Value::String(read)))
            if read.is_empty() && !text.is_empty() =>
        {
            of_lost(wanted, &path, &place, found)
        }
        (Some(Value::String(text)), Some(Value::String(read))) => {
            of_texts(text, read, &place, &found.response)
        }
        (Some(wanted), Some(read)) => {
            let (wanted, read) = (kind(wanted), kind(read));
            format!(
                "{place} that is {wanted} comes back as {read}: the chat template writes both alike"
            )
        }
        (Some(_), None) if place == "a call" => {
            "a call is not recognised, and what stands for it is read as other text".to_owned()
        }
        (Some(wanted), None) => of_lost(wanted, &path, &place, found),
        (None, _) => format!("{place} comes back that the message does not have"),
    }
}

/// The reason where a member of the message does not come back, as far as what does come back in its place tells it.
fn of_lost(wanted: &Value, path: &value::Path, place: &str, found: &Counterexample) -> String {
    let (steps, key) = match path.steps() {
        [steps @ .., Step::Key(key)] => (steps, key.as_str()),
        _ => return format!("{place} is lost"),
    };
    let (Some(Value::Object(whole)), Some(Value::Object(read))) =
        (at(&found.expected, steps), at(&found.parsed, steps))
    else {
        return format!("{place} is lost");
    };
    let others = || read.iter().filter(|(name, _)| !whole.contains_key(name));
    if place == "an argument" {
        let cut = others().find(|(name, _)| !name.is_empty() && key.starts_with(name.as_str()));
        let Some((name, _)) = cut else {
            return format!("{place} is lost");
        };
        // In quotes a name has an end, and something else is the matter.
        let begin = found.response.find(key);
        let before = begin.map(|begin| found.response[..begin].chars().next_back());
        let how = match before {
            Some(before) if !before.is_some_and(is_quote) => {
                ": the chat template writes names without quotes, so nothing tells where one ends"
            }
            _ => "",
        };
        return format!(
            "the argument {} comes back as {}{how}",
            quote(key),
            quote(name)
        );
    }
    let Value::String(text) = wanted else {
        return format!("{place} is lost");
    };
    let taker = read.iter().find_map(|(name, value)| match value {
        Value::String(taken) if !text.is_empty() && taken.contains(text.as_str()) => {
            Some((name, taken == text))
        }
        _ => None,
    });
    let Some((name, is_all)) = taker else {
        return format!("{place} is lost");
    };
    let part = if is_all { "" } else { "a part of " };
    let before = match found.response.trim_start().starts_with(text.as_str()) {
        true => ", since nothing stands before it in the response that tells the two apart",
        false => "",
    };
    format!(
        "{place} comes back as {part}the {}{before}",
        name.replace('_', " ")
    )
}

/// The part of a value at a place; `None` where there is none.
fn at<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key.as_str()),
        Step::Index(index) => value.as_array()?.get(*index),
    })
}

/// Returns true for the signs that texts are quoted by.
fn is_quote(sign: char) -> bool {
    matches!(sign, '"' | '\'' | '`')
}

/// The parts of two texts between what they begin and what they end with alike.
fn apart<'t>(text: &'t str, read: &'t str) -> (&'t str, &'t str) {
    let shared = |one: &mut dyn Iterator<Item = char>, other: &mut dyn Iterator<Item = char>| {
        one.zip(other)
            .take_while(|(one, other)| one == other)
            .map(|(one, _)| one.len_utf8())
            .sum::<usize>()
    };
    let head = shared(&mut text.chars(), &mut read.chars());
    let (text, read) = (&text[head..], &read[head..]);
    let tail = shared(&mut text.chars().rev(), &mut read.chars().rev());
    (&text[..text.len() - tail], &read[..read.len() - tail])
}

/// The reason where a text comes back as another text.
fn of_texts(text: &str, read: &str, place: &str, response: &str) -> String {
    if text.trim() == read.trim() {
        return format!("white space at the ends of {place} does not come back as it was");
    }
    if let Some(rest) = text.strip_prefix(read) {
        let stop: String = rest.chars().take(STOP).collect();
        let begin = response.find(text).unwrap_or_default();
        let before = response[..begin].chars().next_back();
        let how = match before.filter(|before| is_quote(*before)) {
            Some(quote) if stop.starts_with(quote) => "without escaping them",
            // The quotes would tell.
            Some(_) => return format!("{} in {place} is taken for the end of it", quote(&stop)),
            None => "without quotes",
        };
        return format!(
            "{} in {place} is taken for the end of it: the chat template writes texts {how}, so nothing tells the two apart",
            quote(&stop)
        );
    }
    if let Some(rest) = read.strip_prefix(text) {
        let rest: String = rest.chars().take(STOP).collect();
        return format!(
            "what follows {place} is read as a part of it: {}",
            quote(&rest)
        );
    }
    if text.ends_with(read) {
        return format!("the beginning of {place} is lost");
    }
    let (own, other) = apart(text, read);
    let is_short = own.chars().count() <= STOP && other.chars().count() <= STOP;
    let is_as_written = response.contains(read) && !response.contains(text);
    if !own.is_empty() && is_short && is_as_written {
        return format!(
            "the chat template writes {} in {place} as {}, which is read as it stands",
            quote(own),
            quote(other)
        );
    }
    format!("another text comes back for {place}")
}

/// The place of a message in words.
fn place(path: &value::Path) -> String {
    let keys: Vec<&str> = path
        .steps()
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
        .collect();
    match keys.as_slice() {
        [.., "arguments"] => "the arguments of a call".to_owned(),
        keys if keys.contains(&"arguments") => "an argument".to_owned(),
        ["tool_calls", .., "name"] => "the name of a call".to_owned(),
        ["tool_calls", ..] => "a call".to_owned(),
        [key, ..] => format!("the {}", key.replace('_', " ")),
        [] => "the message".to_owned(),
    }
}

/// A few words that say what a value is.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        _ => "a number",
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
    if let Some((path, expected, parsed)) =
        difference(&found.expected, &found.parsed, &value::Path::default())
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

#[cfg(test)]
mod tests {
    use super::*;
    use obverse::value::json::parse;

    fn found(expected: &str, parsed: &str, response: &str) -> Counterexample {
        let mut found = Counterexample::default();
        found.response = response.to_owned();
        found.expected = parse(expected).unwrap();
        found.parsed = parse(parsed).unwrap();
        found
    }

    fn call(argument: &str) -> String {
        format!(
            r#"{{"tool_calls": [{{"function": {{"name": "f", "arguments": {{"x": {argument}}}}}}}]}}"#
        )
    }

    #[test]
    fn a_cause_is_told_from_a_message() {
        let why =
            |expected: &str, parsed: &str, response: &str| why(&found(expected, parsed, response));
        assert_eq!(
            why(&call(r#""a, b""#), &call(r#""a""#), "f(x=a, b)"),
            "\", b\" in an argument is taken for the end of it: the chat template writes texts without quotes, so nothing tells the two apart"
        );
        assert!(
            why(&call(r#""a\" b""#), &call(r#""a""#), "f(x=\"a\" b\")")
                .contains("without escaping them")
        );
        assert_eq!(
            why(&call(r#""a);""#), &call(r#""a""#), r#"f({"x": "a);"});"#),
            r#"");" in an argument is taken for the end of it"#
        );
        assert_eq!(
            why(&call("1"), &call(r#""1""#), "f(x=1)"),
            "an argument that is a number comes back as a text: the chat template writes both alike"
        );
        assert_eq!(
            why(r#"{"content": "a "}"#, r#"{"content": "a"}"#, "a "),
            "white space at the ends of the content does not come back as it was"
        );
        assert!(
            why(&call("1"), r#"{"content": "f(x=1)"}"#, "f(x=1)")
                .starts_with("a call is not recognised")
        );
    }

    /// In each of them the headline was the symptom: that something is lost, or another.
    #[test]
    fn a_cause_is_told_in_terms_of_the_chat_template() {
        let why =
            |expected: &str, parsed: &str, response: &str| why(&found(expected, parsed, response));
        let named = |name: &str, text: &str| {
            format!(
                r#"{{"tool_calls": [{{"function": {{"name": "f", "arguments": {{"{name}": "{text}"}}}}}}]}}"#
            )
        };
        let (wanted, read) = (named("orchard gate", "teal"), named("orchard", "gate teal"));
        assert_eq!(
            why(&wanted, &read, "(f :orchard gate teal)"),
            r#"the argument "orchard gate" comes back as "orchard": the chat template writes names without quotes, so nothing tells where one ends"#
        );
        assert_eq!(
            why(&wanted, &read, r#"(f "orchard gate" teal)"#),
            r#"the argument "orchard gate" comes back as "orchard""#
        );
        assert_eq!(
            why(&wanted, &named("b", "c"), "(f :orchard gate teal)"),
            "an argument is lost"
        );
        assert_eq!(
            why(r#"{"thinking": "A"}"#, r#"{"content": "A"}"#, "A\n\n</>"),
            "the thinking comes back as the content, since nothing stands before it in the response that tells the two apart"
        );
        assert_eq!(
            why(
                r#"{"content": "A", "tool_calls": []}"#,
                r#"{"content": "", "thinking": "A", "tool_calls": []}"#,
                "<p>A"
            ),
            "the content comes back as the thinking"
        );
        assert_eq!(
            why(
                r#"{"reasoning_content": "A", "content": "B"}"#,
                r#"{"content": "A~B"}"#,
                "<p>A~B"
            ),
            "the reasoning content comes back as a part of the content"
        );
        assert_eq!(
            why(r#"{"thinking": "A"}"#, r#"{"content": "B"}"#, "B"),
            "the thinking is lost"
        );
        assert_eq!(
            why(r#"{"content": "a\nb"}"#, r#"{"content": "a\\nb"}"#, r"a\nb"),
            r#"the chat template writes "\n" in the content as "\\n", which is read as it stands"#
        );
        assert_eq!(
            why(
                r#"{"thinking": "A"}"#,
                r#"{"thinking": "A</p>"}"#,
                "<p>A</p>"
            ),
            r#"what follows the thinking is read as a part of it: "</p>""#
        );
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
