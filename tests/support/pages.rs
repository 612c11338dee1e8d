//! Pages of the documentation that tests write.

use std::path::Path;

/// Holds a page, by its path in the checkout, to what it must be, or writes it. `tests` are the arguments of the `cargo test` that
/// writes it anew.
pub fn hold(path: &str, page: &str, tests: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("OBVERSE_UPDATE").is_some() {
        std::fs::write(&file, page).expect("written");
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    let stale = page
        .lines()
        .zip(written.lines().chain(std::iter::repeat("")))
        .find(|(now, then)| now != then);
    assert!(
        page == written,
        "{path} is stale, first at {stale:?}; run `OBVERSE_UPDATE=1 cargo test {tests}` and read the difference"
    );
}
