//! The Hub's own account of a model: its name, the commit, and the files that it has.

use super::ask::Got;
use super::cache::{self, FURTHER};
use super::id::ModelId;
use crate::value::{Value, json};

/// How many further chat templates are taken.
const MAX_FURTHER: usize = 64;

/// How long a tag may be.
const MAX_ETAG: usize = 128;

/// A model at one of its commits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listing {
    /// The name that it has now.
    pub(super) repo: Option<ModelId>,
    pub(super) commit: String,
    pub(super) files: Vec<Listed>,
}

/// A file of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) size: Option<u64>,
    /// The tag of its content, where the Hub tells it.
    pub(super) etag: Option<String>,
}

impl Listing {
    /// Reads what the Hub says under `/api/models`, or why it cannot be read.
    pub(super) fn read(got: &Got) -> Result<Self, String> {
        let text = std::str::from_utf8(&got.body).map_err(|_| "it is no text".to_owned())?;
        let value = json::parse(text).map_err(|_| "it is no JSON".to_owned())?;
        let commit = value.get("sha").and_then(Value::as_str);
        let commit = commit.filter(|commit| cache::is_commit(commit));
        let commit = commit.ok_or("it names no commit")?.to_owned();
        let Some(Value::Array(siblings)) = value.get("siblings") else {
            return Err("it lists no files".to_owned());
        };
        let name = value.get("id").and_then(Value::as_str);
        Ok(Self {
            repo: name.and_then(|name| name.parse().ok()),
            commit,
            files: siblings.iter().filter_map(Listed::read).collect(),
        })
    }

    /// The file of that name.
    pub(super) fn file(&self, name: &str) -> Option<&Listed> {
        self.files.iter().find(|file| file.name == name)
    }

    /// The names of the GGUF files.
    pub(super) fn gguf(&self) -> impl Iterator<Item = &str> {
        let names = self.files.iter().map(|file| file.name.as_str());
        names.filter(|name| name.ends_with(".gguf"))
    }

    /// The files of further chat templates. A name that is no plain one is left out, since it becomes a path.
    pub(super) fn further(&self) -> impl Iterator<Item = &Listed> {
        let is_plain = |name: &str| {
            !name.starts_with('.')
                && !name.contains(['/', '\\', ':'])
                && !name.contains(char::is_control)
        };
        let is_one = move |file: &&Listed| {
            let name = file.name.strip_prefix(FURTHER);
            let name = name.and_then(|name| name.strip_prefix('/'));
            name.is_some_and(|name| name.ends_with(".jinja") && is_plain(name))
        };
        self.files.iter().filter(is_one).take(MAX_FURTHER)
    }
}

impl Listed {
    fn read(value: &Value) -> Option<Self> {
        let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
        // The content of a large file is elsewhere, under a tag of its own.
        let etag = match value.get("lfs") {
            Some(large @ Value::Object(_)) => text(large, "sha256"),
            _ => text(value, "blobId"),
        };
        Some(Self {
            name: text(value, "rfilename")?,
            size: match value.get("size") {
                Some(Value::Int(size)) => size.as_i64().and_then(|size| u64::try_from(size).ok()),
                _ => None,
            },
            etag: etag.filter(|etag| is_etag(etag)),
        })
    }
}

/// Returns true if a tag can be the name of a file.
pub(super) fn is_etag(etag: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=MAX_ETAG).contains(&etag.len())
        && etag.chars().all(is_allowed)
        && !etag.starts_with('.')
        && !etag.ends_with(".incomplete")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn read(text: &str) -> Result<Listing, String> {
        Listing::read(&Got {
            body: text.as_bytes().to_vec(),
            ..Got::default()
        })
    }

    #[test]
    fn a_listing_has_files_with_their_tags() {
        let listing = read(&format!(
            r#"{{"id": "new/name", "sha": "{COMMIT}", "siblings": [
                {{"rfilename": "a.json", "size": 7, "blobId": "aa"}},
                {{"rfilename": "b.json", "size": 9, "blobId": "bb", "lfs": {{"sha256": "cc", "size": 9}}}},
                {{"rfilename": "c.json", "blobId": "../x", "size": -1}},
                {{"blobId": "dd"}}, 7]}}"#
        ));
        let listing = listing.expect("a listing");
        assert_eq!(listing.repo, "new/name".parse().ok());
        let told = |name| {
            let file = listing.file(name).expect(name);
            (file.size, file.etag.as_deref())
        };
        assert_eq!(told("a.json"), (Some(7), Some("aa")));
        assert_eq!(told("b.json"), (Some(9), Some("cc")));
        assert_eq!(told("c.json"), (None, None));
        assert_eq!(listing.files.len(), 3);
    }

    #[test]
    fn what_is_no_listing_is_told() {
        for (text, why) in [
            ("<html>", "no JSON"),
            ("[]", "no commit"),
            (r#"{"sha": "../..", "siblings": []}"#, "no commit"),
            (&format!(r#"{{"sha": "{COMMIT}"}}"#), "no files"),
        ] {
            let told = read(text).expect_err(text);
            assert!(told.contains(why), "{told}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_no_chat_templates() {
        let names = [
            "additional_chat_templates/rag.jinja",
            "additional_chat_templates/../../x.jinja",
            "additional_chat_templates/a/b.jinja",
            "additional_chat_templates/.hidden.jinja",
            "additional_chat_templates/x.txt",
            "other/rag.jinja",
        ];
        let file = |name: &&str| Listed {
            name: (*name).to_owned(),
            size: None,
            etag: None,
        };
        let listing = Listing {
            repo: None,
            commit: COMMIT.to_owned(),
            files: names.iter().map(file).collect(),
        };
        let further: Vec<&str> = listing.further().map(|file| file.name.as_str()).collect();
        assert_eq!(further, names[..1]);
        assert!(is_etag("0a-b_c.d") && !is_etag("") && !is_etag("a/b") && !is_etag("..a"));
    }
}
