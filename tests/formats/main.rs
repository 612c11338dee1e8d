//! `docs/formats.md`: every format with what was derived of it, and our response templates beside hand-written ones.
//!
//! The page is written by this test with `OBVERSE_UPDATE` set, and it fails when the page is stale. Markers stand there and
//! nowhere in `src/`.

#![allow(
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test says how much it has seen"
)]

mod limits;
mod page;
mod peers;
mod responses;
mod rows;
#[path = "../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use obverse::chat_template::{self, ChatTemplateSource};
use obverse::derive::{Derivation, DeriveError, Options, derive};

/// One chat template and what was derived from it.
pub struct Derived {
    /// `chat_templates/NAME.jinja` for the project's own, the name below the corpus for others.
    pub name: String,
    /// The chat template.
    pub source: ChatTemplateSource,
    /// What was derived.
    pub outcome: Result<Derivation, DeriveError>,
}

/// Everything there is, derived once; empty where there is no corpus.
fn all() -> &'static [Derived] {
    static ALL: OnceLock<Vec<Derived>> = OnceLock::new();
    ALL.get_or_init(|| {
        let corpus = support::corpus::templates();
        if corpus.is_empty() {
            return Vec::new();
        }
        let mut files = own();
        files.extend(corpus);
        derive_all(&files)
    })
}

/// The project's own chat templates, sorted.
fn own() -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = std::fs::read_dir("chat_templates")
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jinja")
        })
        .map(|path| (path.display().to_string(), path))
        .collect();
    found.sort();
    found
}

fn derive_all(files: &[(String, PathBuf)]) -> Vec<Derived> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, path)) = files.get(index) else {
                        return;
                    };
                    let derived = derive_one(name, path);
                    done.lock().expect("the others").push((index, derived));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("everything");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, derived)| derived).collect()
}

fn derive_one(name: &str, path: &Path) -> Derived {
    let source = chat_template::load(path)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .assuming_tokens();
    let clock = obverse::chat_template::Clock::date(2026, 1, 1);
    Derived {
        name: name.to_owned(),
        outcome: derive(
            &source,
            &Options {
                clock,
                ..Options::default()
            },
        ),
        source,
    }
}

const PAGE: &str = "docs/formats.md";

#[test]
fn the_page_is_up_to_date() {
    let all = all();
    let Some(peers) = peers::compared(all).filter(|_| !all.is_empty()) else {
        return;
    };
    let page = page::write(all, peers);
    if std::env::var_os("OBVERSE_UPDATE").is_some() {
        std::fs::write(PAGE, &page).expect("written");
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    let stale = page
        .lines()
        .zip(written.lines().chain(std::iter::repeat("")))
        .find(|(now, then)| now != then);
    assert!(
        page == written,
        "{PAGE} is stale, first at {stale:?}; run `OBVERSE_UPDATE=1 cargo test --test formats` and read the difference"
    );
}

/// What a hand-written response template parses, a proved one of ours parses too.
#[test]
fn what_others_parse_is_parsed() {
    let Some(peers) = peers::compared(all()) else {
        return;
    };
    let missed: Vec<String> = peers
        .iter()
        .flat_map(|peer| &peer.missed)
        .cloned()
        .collect();
    assert!(
        missed.is_empty(),
        "{} responses that they parse and we do not, among them\n{}",
        missed.len(),
        missed[..missed.len().min(6)].join("\n")
    );
}
