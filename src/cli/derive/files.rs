//! The names of the files that a derivation is written to.

use std::collections::HashSet;
use std::path::Path;

use obverse::chat_template::ChatTemplateSource;

/// A name for the files of a source: its own, or its folder's where all models call the file the same.
pub(crate) fn file_stem(source: &ChatTemplateSource) -> String {
    let folder = source
        .path
        .parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned());
    match (source.name.as_str(), folder) {
        ("tokenizer_config" | "chat_template", Some(folder)) => folder,
        (name, _) => name.to_owned(),
    }
}

/// `name`, or with the first number that makes files of its own of it, also where the case of letters does not count.
pub(super) fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut number = 1;
    loop {
        let candidate = match number {
            1 => name.to_owned(),
            number => format!("{name}-{number}"),
        };
        let key = candidate.to_lowercase();
        let report = format!("{key}.report");
        if !taken.contains(&key) && !taken.contains(&report) {
            taken.insert(key);
            taken.insert(report);
            return candidate;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_unique() {
        let mut taken = HashSet::new();
        let mut name = |name: &str| unique(name, &mut taken);
        assert_eq!(name("a"), "a");
        assert_eq!(name("A"), "A-2");
        assert_eq!(name("a"), "a-3");
        assert_eq!(name("a.report"), "a.report-2");
    }
}
