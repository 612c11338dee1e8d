//! `docs/conversations.md`: the conversation format of every chat template, and whether whole conversations come back.
//!
//! All of them take long, so that the whole page is held by a test that is ignored, which `.ci/run` runs; a few of them are looked up in
//! the page by every run.

#![allow(clippy::print_stderr, reason = "a test says how much it has seen")]

use obverse::conversation::{self, Derivation, Extent, Holds, Reader, Verdict};
use obverse::derive;

use crate::support::derived::{self, Derived};
use crate::support::{cores, corpus, pages};

const PAGE: &str = "docs/conversations.md";

const HEAD: &str = "\
# Conversations

The conversation format of every chat template that is at hand, and whether whole conversations come back by it: those of this project,
and the real ones that `tests/corpus/fetch.py` fetches. How they are read is told in [reading.md](reading.md). This page is written by
`OBVERSE_UPDATE=1 cargo test --test reference conversations -- --ignored`; the same test without it fails when the page is stale.

For each chat template conversations of up to ten turns are made up from a seed, rendered, and read: a third in which questions and
answers take turns, a third in any order, a third with empty texts, other scripts, and texts that look like headers. *back*: what was read
renders to the very same text again, and of plain words everything that the render shows is in the message that it came from. *alike*: of
these, another conversation came back, which renders to the same text, so that nobody could tell the two apart. *proved*: all came back.
*proved in part*: all came back, but definitions of tools that could not be read are kept as text in `added`. *not proved*: some did not; the
first reason is given. *render*: what the chat template drops or trims, as far as the conversations show it.
";

/// A chat template and what came of it.
struct Row {
    name: String,
    own: bool,
    verdict: Option<Verdict>,
    line: String,
}

fn row(derived: &Derived) -> Row {
    let document = derived.outcome.as_ref().ok().map(|one| &one.document);
    let derivation = conversation::derive_with(&derived.source, document, None, Extent::default());
    let name = match derived.is_own() {
        true => derived.stem().to_owned(),
        false => derived.name.trim_end_matches(".jinja").to_owned(),
    };
    let verdict = derivation.as_ref().ok().map(|one| one.report.verdict);
    let cells = match &derivation {
        Ok(derivation) => cells(derivation),
        Err(error) => [
            format!("renders nothing: {error}"),
            String::new(),
            String::new(),
            String::new(),
        ],
    };
    let cells = cells.map(|cell| escaped(&cell));
    Row {
        line: format!("| {name} | {} |", cells.join(" | ")),
        name,
        own: derived.is_own(),
        verdict,
    }
}

fn cells(derivation: &Derivation) -> [String; 4] {
    let report = &derivation.report;
    let told = |codes: &[&str]| {
        let findings = report.findings.iter();
        findings
            .filter(|finding| codes.contains(&finding.code.as_str()))
            .map(|finding| finding.text.clone())
            .collect::<Vec<_>>()
    };
    let reasons = told(&["lost", "differs", "unfit"]);
    let verdict = match report.verdict {
        Verdict::Proved => "proved".to_owned(),
        Verdict::ProvedInPart => "proved in part".to_owned(),
        _ => {
            let reason = reasons.first().map_or("", String::as_str);
            let short: String = reason.chars().take(140).collect();
            let more = if short.len() < reason.len() {
                "…"
            } else {
                ""
            };
            format!("**not proved**: {short}{more}")
        }
    };
    let counts = &report.conversations;
    let alike = match counts.alike {
        0 => String::new(),
        count => format!(", {count} alike"),
    };
    let places: Vec<String> = derivation
        .format
        .places
        .iter()
        .map(|place| place.name())
        .collect();
    let made: Vec<String> = ["dropped", "trimmed"]
        .into_iter()
        .filter(|code| report.findings.iter().any(|finding| finding.code == *code))
        .map(str::to_owned)
        .collect();
    [
        verdict,
        format!("{} of {}{alike}", counts.back, counts.tried),
        places.join(", "),
        made.join(", "),
    ]
}

fn escaped(cell: &str) -> String {
    let spelled: String = cell
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    spelled.replace('|', "\\|").replace('<', "\\<")
}

fn page(rows: &[Row]) -> String {
    let mut out = HEAD.to_owned();
    for (title, own) in [("The project's own", true), ("Real ones", false)] {
        let some: Vec<&Row> = rows.iter().filter(|row| row.own == own).collect();
        let count = |verdict: Verdict| {
            some.iter()
                .filter(|row| row.verdict == Some(verdict))
                .count()
        };
        let rendered = some.iter().filter(|row| row.verdict.is_some()).count();
        out.push_str(&format!(
            "\n## {title}\n\nOf {} that render a conversation {} are proved, {} in part, {} are not proved.\n\n",
            rendered,
            count(Verdict::Proved),
            count(Verdict::ProvedInPart),
            rendered - count(Verdict::Proved) - count(Verdict::ProvedInPart),
        ));
        out.push_str(
            "| chat template | verdict | back | places | render |\n|---|---|---|---|---|\n",
        );
        for row in some {
            out.push_str(&row.line);
            out.push('\n');
        }
    }
    out
}

#[test]
#[ignore = "minutes; .ci/run runs it"]
fn the_page_is_up_to_date() {
    if corpus::dir().is_none() {
        return;
    }
    let all: Vec<&Derived> = derived::all().iter().collect();
    let page = page(&cores::each(&all, |derived| row(derived)));
    pages::hold(PAGE, &page, "--test reference conversations -- --ignored");
}

/// A few chat templates, whose rows are in the page.
#[test]
fn a_few_rows_of_the_page() {
    let written = std::fs::read_to_string(PAGE).expect("the page");
    for name in ["qwen3", "hermes", "mistral_nemo", "phi3_5"] {
        let path = std::path::PathBuf::from(format!("chat_templates/{name}.jinja"));
        let source = obverse::chat_template::load(&path).expect("a chat template");
        let source = source.assuming_tokens();
        let derived = Derived {
            name: path.display().to_string(),
            outcome: derive::derive(&source, &derive::Options::default()),
            source,
        };
        let row = row(&derived);
        assert_eq!(row.name, name);
        assert_eq!(row.verdict, Some(Verdict::Proved), "{}", row.line);
        assert!(written.contains(&row.line), "{PAGE} has no {}", row.line);
    }
}

/// A format alone reads what it reads with its chat template at hand.
#[test]
fn a_format_alone_reads_plain_conversations() {
    let source = obverse::chat_template::load(std::path::Path::new("chat_templates/hermes.jinja"))
        .expect("a chat template")
        .assuming_tokens();
    let options = derive::Options::default();
    let derivation = conversation::derive(&source, &options, Extent::default()).expect("a format");
    let text = derivation.format.to_json();
    let format = conversation::ConversationFormat::from_json(&text).expect("the same");
    assert_eq!(format, derivation.format);
    assert!(format.places.iter().any(|place| place.holds == Holds::Turn));
    let roles = ["user", "assistant", "user"].into_iter();
    let messages = roles.zip(["one", "two", "three"]).map(|(role, text)| {
        let message = format!(r#"{{"role": "{role}", "content": "{text}"}}"#);
        obverse::value::json::parse(&message).expect("JSON")
    });
    let input = obverse::chat_template::RenderInput::new(messages.collect());
    let template = source.select(false).expect("a chat template");
    let rendered = template.render(&input).expect("a render");
    let alone = Reader::new(format.clone()).read(&rendered).expect("read");
    let held = Reader::with_source(format, &source, None)
        .read(&rendered)
        .expect("read");
    assert_eq!(alone.messages, input.messages);
    assert_eq!(alone.messages, held.messages);
    assert_eq!((alone.exact, held.exact), (None, Some(true)));
    // What does not fit says where, and what was read so far is kept.
    let cut = &rendered[..rendered.len() - 3];
    let error = Reader::new(derivation.format)
        .read(cut)
        .expect_err("cut short");
    assert_eq!(error.read.messages[..2], input.messages[..2]);
    assert!(
        error.at > rendered.find("two").expect("the answer"),
        "{error}"
    );
}
