//! The linter's documentation, and what it finds in the project's own response templates.

use std::path::Path;

use obverse::lint;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// With `OBVERSE_UPDATE` set the page is written instead.
#[test]
fn the_documentation_of_the_codes_is_not_stale() {
    let path = root().join("docs/lint.md");
    let manual = lint::manual();
    if std::env::var_os("OBVERSE_UPDATE").is_some() {
        std::fs::write(&path, &manual).expect("a file");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == manual,
        "docs/lint.md is stale; OBVERSE_UPDATE=1 writes it anew"
    );
}
