//! What `tests/cases/parser` expects is what the reference gives.

#![allow(clippy::print_stdout, reason = "a test says how much it has seen")]

use std::path::Path;

use serde_json::{Value, json};

#[test]
fn the_reference_agrees_with_the_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/parser");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("tests/cases/parser")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let lines: Vec<_> = files.iter().map(|path| json!(path).to_string()).collect();
    let Some(answers) = crate::support::reference::ask("check_cases.py", &lines) else {
        return;
    };
    let mut wrong = Vec::new();
    for (file, answer) in files.iter().zip(answers) {
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let name = file.file_name().expect("a name").to_string_lossy();
        println!("{name}: {} cases", answer["cases"]);
        for finding in answer["wrong"].as_array().expect("a list") {
            wrong.push(format!("{name}: {}", finding.as_str().expect("a text")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
