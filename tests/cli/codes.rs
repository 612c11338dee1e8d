//! The pages of codes: every code has one, and what their examples show is what the commands print.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::bench::Bench;
use crate::fetch::model;
use crate::page;
use crate::support::hub::{FakeHub, Reply};

/// Chat templates of the project that examples are taken from.
const CHATS: [&str; 4] = ["gpt_oss", "apertus", "muse_glimmer", "nemotron_nano_2"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_examples_of_what_derive_finds() {
    let bench = CHATS.iter().fold(Bench::new(), |bench, name| {
        let name = format!("chat_templates/{name}.jinja");
        let text = std::fs::read_to_string(root().join(&name)).expect("a chat template");
        bench.file(&name, text)
    });
    page::holds("codes/derive.md", bench);
}

#[test]
fn the_examples_of_what_check_finds() {
    page::holds("codes/check.md", Bench::new());
}

#[test]
fn the_examples_of_what_grammars_cannot_say() {
    let names = [
        "qwen3",
        "command_r7b",
        "command_r_plus",
        "minimax_m2",
        "minimax_m3",
    ];
    let bench = names.iter().fold(Bench::new(), |bench, name| {
        let name = format!("chat_templates/{name}.jinja");
        let text = std::fs::read_to_string(root().join(&name)).expect("a chat template");
        bench.file(&name, text)
    });
    page::holds("codes/grammar.md", bench);
}

#[test]
fn the_examples_of_what_stops_a_command() {
    let name = "chat_templates/qwen3.jinja";
    let text = std::fs::read_to_string(root().join(name)).expect("a chat template");
    page::holds("codes/errors.md", Bench::new().file(name, text));
}

#[test]
fn the_examples_of_responses_without_a_value() {
    page::holds("codes/parse.md", Bench::new());
}

#[test]
fn the_examples_of_what_convert_finds() {
    page::holds("codes/convert.md", Bench::new());
}

/// The Hub of the examples has one model, and refuses others as the real one does.
#[test]
fn the_examples_of_what_keeps_a_model_from_being_read() {
    let hub = FakeHub::saying(
        [("org/model", model()), ("org/new-name", model())],
        |asked, _| {
            let is_of = |name: &str| asked.path.split('/').any(|step| step == name);
            let of_old_name = asked.path.strip_prefix("/api/models/org/old-name/");
            if let Some(rest) = of_old_name {
                let target = format!("/api/models/org/new-name/{rest}");
                return Some(Reply::new(307, &[("Location", &target)], ""));
            }
            let invalid = "Invalid credentials in Authorization header";
            match () {
                () if is_of("gated") => Some(Reply::refusal(403, "GatedRepo")),
                () if is_of("private") => {
                    Some(Reply::new(401, &[("X-Error-Message", invalid)], ""))
                }
                () if is_of("asked-too-often") => {
                    Some(Reply::new(429, &[("Retry-After", "3600")], ""))
                }
                () if is_of("failing") => Some(Reply::new(503, &[("Retry-After", "0")], "")),
                () => None,
            }
        },
    );
    page::holds_beside("codes/hub.md", Bench::new(), Some(&hub));
}

#[test]
fn the_examples_of_grammars() {
    page::holds("grammars.md", Bench::new());
}

/// The pages that show the first commands.
#[test]
fn the_examples_of_the_readme() {
    let name = "chat_templates/qwen3.jinja";
    let text = std::fs::read_to_string(root().join(name)).expect("a chat template");
    let bench = Bench::new().file(name, text);
    page::holds("../README.md", bench);
    let derived = std::fs::read_to_string(root().join("derived/qwen3.json")).expect("a template");
    page::holds("spans.md", Bench::new());
    for name in ["parsing.md", "deltas.md"] {
        page::holds(name, Bench::new().file("derived/qwen3.json", &derived));
    }
}

/// Every page of the documentation is in its table of contents.
#[test]
fn every_page_is_in_the_table_of_contents() {
    let contents = std::fs::read_to_string(root().join("docs/README.md")).expect("a page");
    for folder in ["", "codes/"] {
        let entries = std::fs::read_dir(root().join("docs").join(folder)).expect("a folder");
        for entry in entries {
            let name = entry.expect("an entry").file_name();
            let name = name.to_string_lossy();
            let is_page = name.ends_with(".md") && name != "README.md";
            let link = format!("[{folder}{name}]({folder}{name})");
            let short = format!("]({folder}{name})");
            assert!(!is_page || contents.contains(&short), "{link} is missing");
        }
    }
}

/// The codes that no example shows, each with the reason.
const WITHOUT_EXAMPLE: [(&str, &str); 16] = [
    ("other-chunking", FAULT),
    ("other-deltas", FAULT),
    ("other-split", FAULT),
    ("report", FAULT),
    ("invalid-draft", FAULT),
    (
        "no-peg",
        "no response template is known of which the grammar begins with itself",
    ),
    (
        "changed",
        "another program has to write a file while a person looks at its change",
    ),
    ("output", "the disk has to be full"),
    (
        "chunks",
        "only tokenizers refuse to cut a response, and the build that is tested knows none",
    ),
    (
        "tokenizer",
        "the build that is tested knows no tokenizers, and others say something else",
    ),
    (
        "not-inspected",
        "a chat template has to render for as long as the limit of steps lets it, which takes a minute",
    ),
    ("terminal", "a terminal has to fail while it is written to"),
    ("signals", "the system has to refuse to deliver a signal"),
    ("watch", "the system has to refuse to watch another folder"),
    (
        "unserved",
        "the build that is tested has no `obverse serve`",
    ),
    (
        "few-files",
        "the build that is tested has no `obverse serve`",
    ),
];

/// The reason why the codes of faults have no example.
const FAULT: &str = "it tells of a fault of Obverse, of which none is known";

/// Each code on a page has an example that shows it, or a reason in [`WITHOUT_EXAMPLE`] why it has none.
#[test]
fn each_code_has_an_example_that_shows_it_or_a_reason_why_not() {
    let mut reasons = BTreeMap::from(WITHOUT_EXAMPLE);
    for name in [
        "derive", "convert", "check", "grammar", "hub", "parse", "errors",
    ] {
        let path = root().join(format!("docs/codes/{name}.md"));
        let page = std::fs::read_to_string(path).expect("a page");
        for section in page.split("\n## ").skip(1) {
            let codes = section.lines().next().unwrap_or_default();
            for code in codes.split(", ") {
                let reason = reasons.remove(code);
                let Some((_, shown)) = section.split_once("```console\n") else {
                    assert!(
                        reason.is_some(),
                        "{code} has neither an example nor a reason why it has none"
                    );
                    continue;
                };
                assert_eq!(reason, None, "{code} has an example");
                let printed = shown.lines().filter(|line| !line.starts_with("$ "));
                // Findings of a conversion stand in its account without brackets.
                let (told, listed) = (format!("[{code}]"), format!("  {code}: "));
                let shows = |line: &str| line.contains(&told) || line.starts_with(&listed);
                assert!(
                    printed.into_iter().any(shows),
                    "the example of {code} does not show it"
                );
            }
        }
    }
    assert!(reasons.is_empty(), "of no page: {reasons:?}");
}

/// Every code in the sources of the tool can be explained.
#[test]
fn every_code_has_a_page() {
    let listed = Bench::new().run("explain").done();
    let known: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let mut codes = BTreeSet::new();
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                codes.extend(codes_of(&path));
            }
        }
    }
    assert!(codes.len() > 90, "they are found: {codes:?}");
    let missing: Vec<_> = codes
        .iter()
        .filter(|code| !known.contains(&***code))
        .collect();
    assert!(missing.is_empty(), "without a page: {missing:?}");
}

/// The codes that a source gives to what it finds.
fn codes_of(path: &PathBuf) -> Vec<String> {
    let source = std::fs::read_to_string(path).expect("UTF-8");
    // Tests make findings up.
    let source = source
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    if path.ends_with("tests.rs") {
        return Vec::new();
    }
    let begins = [
        "Finding::error(",
        "Finding::warning(",
        "Finding::info(",
        "Diagnostic::error(",
        "Diagnostic::warning(",
        "Problem::failed(",
        " warning(",
        "code: ",
        "self.note(",
        "LOST_WHEN_CUT: &str = ",
        "INEXPRESSIBLE: &str = ",
        "REFUSED_BY_ENGINE: &str = ",
    ];
    let codes = begins
        .into_iter()
        .flat_map(|begin| codes_after(begin, source));
    // The names of kinds of errors, which verbs tell as codes.
    let kinds = KINDS.iter().any(|room| path.ends_with(room));
    let names = kinds.then(|| codes_after("=> ", source)).into_iter();
    let names = names.flatten().filter(|code| !NOT_TOLD.contains(&&**code));
    codes.chain(names).collect()
}

/// The sources in which a kind of error has its name as a text behind an arrow.
const KINDS: [&str; 4] = [
    "content/error.rs",
    "parser/error.rs",
    "response_schema/error.rs",
    "chat_template/error.rs",
];

/// The names of kinds that no verb meets: the parser of lines takes any text, and every verb asks a parser for its end once.
const NOT_TOLD: [&str; 2] = ["kv-lines", "finalized"];

/// The codes that stand in a source behind a text.
fn codes_after(begin: &str, source: &str) -> Vec<String> {
    let mut codes = Vec::new();
    for call in source.split(begin).skip(1) {
        let code = call
            .trim_start()
            .strip_prefix('"')
            .and_then(|rest| rest.split('"').next());
        let is_code = |code: &&str| code.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        codes.extend(code.filter(is_code).map(str::to_owned));
    }
    codes
}

/// A code that the sources of a verb tell has that verb on its page, with the severity that they give it.
#[test]
fn each_page_names_the_verbs_that_tell_its_code() {
    let pages = tellers();
    let mut untold = Vec::new();
    for entry in std::fs::read_dir(root().join("src/cli")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let verb = format!("obverse {name}");
        let is_verb = VERBS.contains(&&*name);
        for source in sources(&path).into_iter().filter(|_| is_verb) {
            for (begin, severity) in [
                ("Problem::failed(", "error"),
                ("Diagnostic::error(", "error"),
                ("Diagnostic::warning(", "warning"),
                (" warning(", "warning"),
            ] {
                for code in codes_after(begin, &source) {
                    let page = pages.get(&code).map(Vec::as_slice).unwrap_or_default();
                    let is_told = page.iter().any(|(command, told)| {
                        let is_verb = command == "obverse"
                            || command == &verb
                            || command.starts_with(&format!("{verb} "));
                        is_verb && told == severity
                    });
                    if !is_told && !ELSEWHERE.contains(&&*code) {
                        untold.push(format!("{code}: `{verb}`, {severity}"));
                    }
                }
            }
        }
    }
    assert!(untold.is_empty(), "{untold:#?}");
}

/// Codes of which the source does not show who tells them, or how: a review takes what a check has found, and a severity is lowered.
const ELSEWHERE: [&str; 2] = ["changed", "assumed-special-token"];

/// The verbs whose sources are a file or a folder of that name.
const VERBS: [&str; 20] = [
    "annotate", "check", "convert", "debug", "derive", "explain", "grammar", "init", "inspect",
    "lint", "man", "new", "parse", "peg", "propose", "read", "record", "render", "review", "spans",
];

/// The commands that tell each code, with the severity.
fn tellers() -> BTreeMap<String, Vec<(String, String)>> {
    let mut pages: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let told = Bench::new().run("explain --all --format json").done();
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    for page in told["codes"].as_array().expect("a list") {
        let text = |key: &str| page[key].as_str().unwrap_or_default().to_owned();
        let markdown = text("markdown");
        let said = markdown.split("\n\n").nth(1).unwrap_or_default();
        let of_code = pages.entry(text("code")).or_default();
        if let Some(said) = said.strip_prefix('*') {
            for group in said.trim_end_matches('*').split("; ") {
                let (commands, severity) = group.rsplit_once(", ").expect("a severity");
                for command in commands.split('`').skip(1).step_by(2) {
                    let verb = command.strip_prefix("obverse").unwrap_or(command).trim();
                    let full = format!("obverse {verb}").trim().to_owned();
                    of_code.push((full, severity.to_owned()));
                }
            }
        } else {
            let commands = page["told_by"].as_array().expect("a list");
            let commands = commands.iter().filter_map(serde_json::Value::as_str);
            of_code.extend(commands.map(|command| (command.to_owned(), text("severity"))));
        }
    }
    pages
}

/// The texts of a source, or of those in a folder, without their tests.
fn sources(path: &Path) -> Vec<String> {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder");
        return entries
            .flat_map(|entry| sources(&entry.expect("an entry").path()))
            .collect();
    }
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let text = text.split("#[cfg(test)]\nmod tests").next();
    vec![text.unwrap_or_default().to_owned()]
}
