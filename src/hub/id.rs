//! The names of models.

use std::fmt;
use std::str::FromStr;

/// The revision that is meant where none is given.
const DEFAULT_REVISION: &str = "main";

/// How many characters the names of a model and of its owner may have, each.
const MAX_NAME: usize = 96;

/// The name of a model on the Hub: `org/name`, or `org/name@revision`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelId {
    repo: String,
    revision: Option<String>,
}

/// The error for a text that is no model's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no model of the Hub: org/name or org/name@revision")]
#[non_exhaustive]
pub struct NotAModelId {
    /// The text.
    pub text: String,
}

impl ModelId {
    /// The owner and the name, as `org/name`.
    pub fn repo(&self) -> &str {
        &self.repo
    }

    /// The branch, tag or commit; `main` where none was given.
    pub fn revision(&self) -> &str {
        self.revision.as_deref().unwrap_or(DEFAULT_REVISION)
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repo)?;
        match &self.revision {
            Some(revision) => write!(f, "@{revision}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ModelId {
    type Err = NotAModelId;

    /// Reads `org/name` or `org/name@revision` by the rules of `huggingface_hub`, except that the owner may not be missing; and the address of
    /// a model's page, of one of its revisions too.
    fn from_str(text: &str) -> Result<Self, NotAModelId> {
        let mut pages = PAGES.iter();
        let paged = pages.find_map(|page| text.strip_prefix(page));
        let named = paged.map_or(text, |rest| rest.trim_end_matches('/'));
        // As in `https://huggingface.co/org/name/tree/revision`.
        let of_page = paged.and_then(|_| named.split_once("/tree/"));
        let (repo, revision) = match of_page.or_else(|| named.split_once('@')) {
            // A browser shows `refs/pr/3` so.
            Some((repo, revision)) => (repo, Some(revision.replace("%2F", "/"))),
            None => (named, None),
        };
        let revision = revision.as_deref();
        let is_name = |name: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            let edges = ['-', '.'];
            (1..=MAX_NAME).contains(&name.len())
                && name.chars().all(allowed)
                && !name.starts_with(edges)
                && !name.ends_with(edges)
                && !name.contains("--")
                && !name.contains("..")
        };
        let is_repo = repo
            .split_once('/')
            .is_some_and(|(owner, name)| is_name(owner) && is_name(name));
        // A revision becomes a path below the folder of references.
        let is_revision = |revision: &str| {
            let mut steps = revision.split('/');
            steps.all(|step| !matches!(step, "" | "." | ".."))
                && !revision.contains(['\\', ':'])
                && !revision.contains(char::is_control)
        };
        if !is_repo || repo.ends_with(".git") || !revision.is_none_or(is_revision) {
            return Err(NotAModelId {
                text: text.to_owned(),
            });
        }
        Ok(Self {
            repo: repo.to_owned(),
            revision: revision.map(str::to_owned),
        })
    }
}

/// The beginnings of the addresses of models' pages, and of one by the scheme of the Hub's file system.
const PAGES: [&str; 4] = [
    "https://huggingface.co/",
    "http://huggingface.co/",
    "https://hf.co/",
    "hf://",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_page_names_its_model() {
        for (address, repo, revision) in [
            ("https://huggingface.co/a/b", "a/b", "main"),
            ("https://huggingface.co/a/b/", "a/b", "main"),
            ("https://huggingface.co/a/b/tree/v1.0", "a/b", "v1.0"),
            ("https://hf.co/a/b", "a/b", "main"),
            ("hf://a/b@refs/pr/3", "a/b", "refs/pr/3"),
            ("https://hf.co/a/b/tree/refs%2Fpr%2F3", "a/b", "refs/pr/3"),
        ] {
            let id: ModelId = address.parse().expect(address);
            assert_eq!((id.repo(), id.revision()), (repo, revision), "{address}");
        }
        for other in [
            "https://huggingface.co/a",
            "https://huggingface.co/datasets/a/b",
            "https://example.org/a/b",
        ] {
            assert!(other.parse::<ModelId>().is_err(), "{other}");
        }
    }

    #[test]
    fn names_of_models_are_told_from_paths() {
        for text in [
            "a/b",
            "Qwen/Qwen2.5-7B",
            "a_b/c",
            "a/b@v1.0",
            "a/b@refs/pr/3",
        ] {
            let id: ModelId = text.parse().expect(text);
            assert!(text.starts_with(id.repo()), "{text}");
        }
        for text in [
            "", "a", "a/b/c", "./a/b", "../a", "/a/b", "a/", "a/.b", "a/b--c", "a/b..c", "a/b.git",
            "a b/c", "a\\b", "a/b@", "a/b@../x", "a/b@x//y", "a/b@c:d",
        ] {
            assert!(text.parse::<ModelId>().is_err(), "{text}");
        }
        let long = format!("a/{}", "b".repeat(MAX_NAME + 1));
        assert!(long.parse::<ModelId>().is_err());
    }
}
