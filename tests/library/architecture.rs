//! The house's rules, read off the source: who may import whom, how long a file may be, and that the deriver knows no
//! format by heart.

mod cycles;
mod names;
mod words;

use std::path::{Path, PathBuf};

use crate::support::rust_source::{Source, scan};

/// The rooms in the order in which data flows, each with the rooms that it may use beside itself. Everything may use
/// `value`, `diagnostic` and `text`, which lie below.
const ROOMS: &[(&str, &[&str])] = &[
    ("value", &[]),
    ("diagnostic", &["value"]),
    ("text", &[]),
    ("hub", &[]),
    ("pattern", &[]),
    ("content", &["pattern"]),
    ("response_schema", &["pattern", "content"]),
    ("response_template", &["pattern", "content"]),
    ("parser", &["pattern", "content", "response_template"]),
    (
        "convert",
        &[
            "pattern",
            "content",
            "response_schema",
            "response_template",
            "parser",
        ],
    ),
    (
        "deltas",
        &["pattern", "content", "response_template", "parser"],
    ),
    ("chunking", &[]),
    (
        "replay",
        &[
            "pattern",
            "content",
            "response_template",
            "parser",
            "deltas",
            "chunking",
        ],
    ),
    ("chat_template", &["hub"]),
    (
        "lint",
        &[
            "pattern",
            "content",
            "response_schema",
            "response_template",
            "parser",
            "deltas",
            "chat_template",
        ],
    ),
    ("project", &["lint", "response_template"]),
    (
        "judge",
        &["pattern", "chat_template", "response_template", "parser"],
    ),
    (
        "derive",
        &[
            "pattern",
            "content",
            "chat_template",
            "response_template",
            "parser",
            "judge",
        ],
    ),
    (
        "conversation",
        &["chat_template", "response_template", "parser", "derive"],
    ),
    (
        "grammar",
        &[
            "pattern",
            "content",
            "response_template",
            "parser",
            "judge",
            "derive",
        ],
    ),
    (
        "check",
        &[
            "pattern",
            "chat_template",
            "derive",
            "grammar",
            "response_schema",
            "response_template",
            "parser",
            "deltas",
            "chunking",
            "lint",
            "project",
        ],
    ),
    (
        "serve",
        &[
            "chat_template",
            "response_template",
            "parser",
            "deltas",
            "derive",
            "grammar",
            "check",
        ],
    ),
    ("schemas", &["project", "derive", "conversation"]),
    (
        "page",
        &[
            "pattern",
            "chat_template",
            "response_template",
            "parser",
            "chunking",
            "replay",
            "lint",
            "derive",
        ],
    ),
    (
        "tui",
        &[
            "pattern",
            "content",
            "chat_template",
            "grammar",
            "response_template",
            "parser",
            "deltas",
            "chunking",
            "replay",
            "lint",
            "derive",
            "check",
        ],
    ),
    (
        "cli",
        &[
            "pattern",
            "content",
            "response_schema",
            "response_template",
            "parser",
            "deltas",
            "chunking",
            "replay",
            "hub",
            "chat_template",
            "conversation",
            "convert",
            "lint",
            "project",
            "derive",
            "conversation",
            "grammar",
            "check",
            "serve",
            "page",
            "tui",
        ],
    ),
];

/// The deriver's own rooms, in the same way.
const DERIVER: &[(&str, &[&str])] = &[
    ("probe", &[]),
    ("evidence", &["probe"]),
    ("compare", &["probe"]),
    ("choice", &["compare"]),
    ("render", &["probe", "evidence", "compare", "choice"]),
    (
        "read",
        &["probe", "evidence", "compare", "choice", "render"],
    ),
    ("emit", &["probe", "evidence", "compare", "choice", "read"]),
    ("proof", &["probe", "evidence", "compare", "read", "emit"]),
    ("learn", &["probe", "evidence", "compare"]),
    ("late", &["evidence"]),
    ("strict", &["probe", "evidence", "compare", "proof", "late"]),
    ("narrow", &["compare"]),
    (
        "amend",
        &[
            "probe", "evidence", "compare", "read", "emit", "proof", "learn", "late", "strict",
            "narrow",
        ],
    ),
    ("deviate", &["probe", "compare"]),
    ("retaken", &["choice", "evidence"]),
    (
        "draft",
        &[
            "amend", "evidence", "read", "render", "emit", "proof", "search", "late",
        ],
    ),
    (
        "search",
        &[
            "probe", "evidence", "choice", "render", "read", "emit", "proof",
        ],
    ),
    (
        "inspect",
        &["probe", "evidence", "compare", "render", "read"],
    ),
    (
        "report",
        &[
            "probe", "evidence", "compare", "render", "read", "inspect", "learn", "deviate",
        ],
    ),
    ("remarks", &["evidence", "proof", "learn", "deviate"]),
];

/// Below everything.
const BASE: &[&str] = &["value", "diagnostic", "text"];

/// A file that is longer needs to be split.
const LINES: usize = 700;

/// What only a marker of some format looks like.
const MARKERS: &[&str] = &[
    "<|",
    "|>",
    "<｜",
    "｜>",
    "<think",
    "think>",
    "<reason",
    "tool_call>",
    "tool_calls>",
    "tool_response>",
    "<tool",
    "<function",
    "<parameter",
    "<arg_",
    "[TOOL",
    "[INST",
    "INST]",
    "[THINK",
    "[ARGS]",
    "[CALL_ID]",
    "im_start",
    "im_end",
    "eot_id",
    "eom_id",
    "header_id",
    "python_tag",
    "end_of_text",
    "end_of_turn",
    "start_of_turn",
    "start_of_role",
    "end_of_role",
    "tool▁",
    "▁of▁",
    "```json",
];

/// Models and their makers, in lower case. A word, or the beginning of one.
const MODELS: &[&str] = &[
    "apertus",
    "apriel",
    "cohere",
    "command-r",
    "deepseek",
    "devstral",
    "ernie",
    "exaone",
    "falcon",
    "gemma",
    "gigachat",
    "glm4",
    "gpt-oss",
    "gpt_oss",
    "gptoss",
    "granite",
    "hermes",
    "kimi",
    "lfm2",
    "llama",
    "magistral",
    "mimo",
    "minicpm",
    "minimax",
    "ministral",
    "mistral",
    "mixtral",
    "moonshot",
    "nemotron",
    "nousresearch",
    "olmo",
    "openai",
    "phi3",
    "phi4",
    "phi-3",
    "phi-4",
    "qwen",
    "qwq",
    "seed-oss",
    "seed_oss",
    "smollm",
    "solar",
    "stepfun",
];

/// Every Rust file below `src/`, its path from there.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                found.push((
                    path.strip_prefix(&root).expect("below src/").to_owned(),
                    text,
                ));
            }
        }
    }
    found.sort();
    assert!(found.len() > 10, "src/ was found");
    found
}

/// The room of a file, by its path below `src/`; `None` for the crate's own `lib.rs` and `main.rs`.
fn room_of(path: &Path) -> Option<String> {
    let first = path.iter().next()?.to_str()?;
    let room = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib", "main"].contains(&room)).then(|| room.to_owned())
}

/// The rooms that a file's `crate::` paths lead to.
fn used(source: &Source) -> Vec<String> {
    let mut rooms = Vec::new();
    for (start, found) in source.code.match_indices("crate::") {
        // `my_crate::` is another word, `$crate::` and `pub(in crate::room)` are not.
        if source.code[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = source.code[start + found.len()..].trim_start();
        if let Some(group) = rest.strip_prefix('{') {
            rooms.extend(group_heads(group));
        } else {
            rooms.extend(head(rest));
        }
    }
    rooms
}

/// The first identifier.
fn head(text: &str) -> Option<String> {
    let word: String = text
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!word.is_empty()).then_some(word)
}

/// The first identifier of each path of a `{...}` whose brace has been taken off.
fn group_heads(group: &str) -> Vec<String> {
    let mut heads = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                heads.extend(head(&group[start..at]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                heads.extend(head(&group[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    heads
}

/// What is wrong with a file's imports.
fn wrong_imports(path: &Path, text: &str) -> Vec<String> {
    let Some(room) = room_of(path) else {
        return Vec::new();
    };
    let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
        return vec![format!(
            "{}: a room that the table does not know",
            path.display()
        )];
    };
    let below = !BASE.contains(&room.as_str());
    used(&scan(text))
        .into_iter()
        .filter(|target| {
            let known = ROOMS.iter().any(|(name, _)| name == target);
            // A name that is no room is an item of the crate's root, which has none that a room may use.
            !known
                || (*target != room
                    && !allowed.contains(&target.as_str())
                    && !(below && BASE.contains(&target.as_str())))
        })
        .map(|target| format!("{}: `{room}` may not use `{target}`", path.display()))
        .collect()
}

/// What is wrong with the imports of one of the deriver's rooms. What stands at its top, the door, may use all of them.
fn wrong_within_the_deriver(path: &Path, text: &str) -> Vec<String> {
    let Ok(below) = path.strip_prefix("derive") else {
        return Vec::new();
    };
    let Some(room) = room_of(below).filter(|room| room != "mod") else {
        return Vec::new();
    };
    let Some((_, allowed)) = DERIVER.iter().find(|(name, _)| *name == room) else {
        return vec![format!(
            "{}: a room that the table does not know",
            path.display()
        )];
    };
    let code = scan(text).code;
    let paths = code.match_indices("crate::derive::");
    let heads = paths.filter_map(|(start, found)| head(&code[start + found.len()..]));
    heads
        .filter(|target| {
            let is_room = DERIVER.iter().any(|(name, _)| name == target);
            is_room && *target != room && !allowed.contains(&target.as_str())
        })
        .map(|target| format!("{}: `{room}` may not use `{target}`", path.display()))
        .collect()
}

/// The markers and names of models in a file, outside comments and tests.
fn known_by_heart(path: &Path, text: &str) -> Vec<String> {
    if path.file_stem().is_some_and(|stem| stem == "tests") {
        return Vec::new();
    }
    let source = scan(text);
    let tests = source.test_only();
    let in_tests = |at: usize| tests.iter().any(|range| range.contains(&at));
    let mut found = Vec::new();
    for (at, string) in source.strings.iter().filter(|(at, _)| !in_tests(*at)) {
        let line = text[..*at].matches('\n').count() + 1;
        for marker in MARKERS.iter().filter(|marker| string.contains(**marker)) {
            found.push(format!("{}:{line}: the marker {marker:?}", path.display()));
        }
        for model in models_in(string) {
            found.push(format!("{}:{line}: the model {model:?}", path.display()));
        }
    }
    for (number, line) in source.code.split_inclusive('\n').scan(0, |start, line| {
        let at = *start;
        *start += line.len();
        Some((at, line))
    }) {
        if !in_tests(number) {
            for model in models_in(line) {
                let line = text[..number].matches('\n').count() + 1;
                found.push(format!("{}:{line}: the model {model:?}", path.display()));
            }
        }
    }
    found
}

/// The models that a text names.
fn models_in(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    let begins = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric());
    MODELS
        .iter()
        .filter(|model| text.match_indices(**model).any(|(at, _)| begins(at)))
        .copied()
        .collect()
}

#[test]
fn imports_run_one_way() {
    let wrong: Vec<_> = sources()
        .iter()
        .flat_map(|(path, text)| {
            let within = wrong_within_the_deriver(path, text);
            [wrong_imports(path, text), within].concat()
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "imports against the house's table:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn no_files_import_each_other() {
    let found = cycles::cycles(&sources());
    assert!(found.is_empty(), "import each other: {found:#?}");
}

#[test]
fn no_file_is_too_long() {
    let long: Vec<_> = sources()
        .iter()
        .map(|(path, text)| (path.display().to_string(), text.lines().count()))
        .filter(|(_, lines)| *lines > LINES)
        .collect();
    assert!(long.is_empty(), "longer than {LINES} lines: {long:?}");
}

#[test]
fn the_deriver_knows_no_format_by_heart() {
    let found: Vec<_> = sources()
        .iter()
        .filter(|(path, _)| {
            let room = room_of(path);
            matches!(room.as_deref(), Some("derive" | "conversation"))
        })
        .flat_map(|(path, text)| known_by_heart(path, text))
        .collect();
    assert!(
        found.is_empty(),
        "delimiters come from evidence:\n{}",
        found.join("\n")
    );
}

#[test]
fn an_import_against_the_table_is_found() {
    let wrong = |path: &str, text: &str| wrong_imports(Path::new(path), text).len();
    assert_eq!(wrong("pattern/mod.rs", "use crate::parser::Parser;"), 1);
    assert_eq!(
        wrong(
            "pattern/a.rs",
            "use crate::{\n    value::{Map, Value}, pattern::{a, b}, content\n};"
        ),
        1
    );
    assert_eq!(
        wrong(
            "chat_template/mod.rs",
            "fn f() -> crate::derive::Report { todo!() }"
        ),
        1
    );
    assert_eq!(
        wrong("value/mod.rs", "use crate::diagnostic::Diagnostic;"),
        1
    );
    assert_eq!(wrong("diagnostic.rs", "use crate::value::Value;"), 0);
    assert_eq!(
        wrong(
            "derive/emit.rs",
            "use crate::response_template::Document; use crate::value::Value;"
        ),
        0
    );
    assert_eq!(
        wrong(
            "content/mod.rs",
            "/// See [`crate::parser`].\nfn f() { \"crate::parser\"; }"
        ),
        0
    );
    assert_eq!(
        wrong("content/mod.rs", "use crate::Thing;"),
        1,
        "the root has nothing to use"
    );
    assert_eq!(
        wrong("attic/mod.rs", ""),
        1,
        "a new room goes into the table"
    );
    assert_eq!(wrong("main.rs", "use crate::parser;"), 0);
}

#[test]
fn an_import_against_the_derivers_table_is_found() {
    let wrong = |path: &str, text: &str| wrong_within_the_deriver(Path::new(path), text).len();
    assert_eq!(
        wrong("derive/read/a.rs", "use crate::derive::emit::emit;"),
        1
    );
    assert_eq!(
        wrong("derive/emit/a.rs", "use crate::derive::read::cut::Body;"),
        0
    );
    assert_eq!(wrong("derive/mod.rs", "use crate::derive::emit::emit;"), 0);
    assert_eq!(wrong("derive/attic/a.rs", ""), 1);
}

#[test]
fn a_marker_or_a_model_is_found() {
    let found = |text: &str| known_by_heart(Path::new("derive/anchor.rs"), text).len();
    assert_eq!(
        found("const OPEN: &str = \"<think>\";"),
        2,
        "two of the list's"
    );
    assert_eq!(found("if text.contains(r#\"<|im_start|>\"#) {}"), 3);
    assert_eq!(found("fn is_qwen() {}"), 1);
    assert_eq!(found("match name { \"Mistral\" => 1, _ => 2 }"), 1);
    assert_eq!(
        found("// as <think> in Qwen\nfn f<'a>(x: &'a str) -> char { '<' }"),
        0
    );
    assert_eq!(
        found("/* <think> /* nested */ Qwen */ let x = \"a < b || c > d\";"),
        0
    );
    assert_eq!(
        found("fn f() {}\n#[cfg(test)]\nmod tests { fn g() { \"<think>\"; } }"),
        0
    );
    assert_eq!(
        found("#[cfg(test)]\nmod tests;\nconst A: &str = \"[INST]\";"),
        2
    );
    assert_eq!(
        found("let c = '\\''; let d = '\"'; let e = \"x\\\"[TOOL_CALLS]\";"),
        1
    );
    assert_eq!(
        known_by_heart(Path::new("derive/tests.rs"), "\"<think>\""),
        [""; 0]
    );
}
