//! `derived/` is what `obverse derive` makes of `chat_templates/`.

use std::path::Path;

use obverse::derive::Verdict;

use crate::support::derived;

/// With `OBVERSE_UPDATE` set the files are written instead, which `obverse derive --out-dir derived chat_templates/*.jinja`
/// does as well.
#[test]
fn derived_is_up_to_date() {
    let mut stale = Vec::new();
    let mut expected = Vec::new();
    for derived in derived::own() {
        let name = derived.stem();
        let derivation = derived.expect();
        assert_ne!(
            derivation.report.verdict,
            Verdict::NotProved,
            "{name}: {:#?}",
            derivation.report.findings
        );
        for (file, text) in [
            (format!("{name}.json"), derivation.document.to_json()),
            (format!("{name}.report.json"), derivation.report.to_json()),
        ] {
            let path = Path::new("derived").join(&file);
            if std::env::var_os("OBVERSE_UPDATE").is_some() {
                std::fs::write(&path, &text).expect("written");
            }
            if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                stale.push(file.clone());
            }
            expected.push(file);
        }
    }
    assert!(
        stale.is_empty(),
        "derived/ is stale: {stale:?}; run `obverse derive --out-dir derived chat_templates/*.jinja` and read the difference"
    );
    for entry in std::fs::read_dir("derived").expect("the folder") {
        let file = entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned();
        assert!(
            expected.contains(&file) || file == "README.md",
            "derived/{file} belongs to no chat template"
        );
    }
}
