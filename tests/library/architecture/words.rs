//! The words of doc comments: a comment that begins with "What", "Whether" or "The same" is a fragment in rustdoc, which shows it
//! apart from the code that completes it.

use std::path::Path;

use super::sources;

/// The beginnings that make a fragment of a doc comment.
const FRAGMENTS: &[&str] = &["What", "Whether", "The same"];

/// The doc comments of a file that begin with a fragment, each with its file and line. Consecutive lines are one comment.
fn fragments(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_within = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let doc = ["///", "//!"]
            .iter()
            .find_map(|sign| line.strip_prefix(sign));
        // Four slashes are an ordinary comment.
        let doc = doc.filter(|doc| !doc.starts_with('/'));
        if let Some(doc) = doc.filter(|_| !is_within) {
            let doc = doc.trim_start();
            let begins = |start: &&&str| {
                let rest = doc.strip_prefix(**start);
                rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            };
            if FRAGMENTS.iter().any(|start| begins(&start)) {
                found.push(format!("{}:{}: {doc}", path.display(), number + 1));
            }
        }
        is_within = doc.is_some();
    }
    found
}

#[test]
fn no_doc_comment_begins_with_a_fragment() {
    let found: Vec<String> = sources()
        .iter()
        .flat_map(|(path, text)| fragments(path, text))
        .collect();
    assert!(
        found.is_empty(),
        "say in a whole sentence, or as rustdoc has it (\"Returns true if ...\"), what the item is:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_fragment_is_found() {
    let found = |text: &str| fragments(Path::new("it.rs"), text).len();
    assert_eq!(found("/// What it is.\nfn f() {}"), 1);
    assert_eq!(found("//! The same.\n\n    /// Whether it is so."), 2);
    assert_eq!(found("/// Whatever is left.\n/// The sameness."), 0);
    assert_eq!(found("/// The text.\n/// What follows goes on."), 0);
    assert_eq!(found("// What an ordinary comment says.\n//// What"), 0);
}
