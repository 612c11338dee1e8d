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

use crate::support::{corpus, derived, pages};

const PAGE: &str = "docs/formats.md";

#[test]
#[ignore = "derives the whole corpus; `.ci/run` runs it"]
fn the_page_is_up_to_date() {
    if corpus::dir().is_none() {
        return;
    }
    let all = derived::all();
    let Some(peers) = peers::compared(all, true) else {
        return;
    };
    pages::hold(
        PAGE,
        &page::write(all, &peers),
        "--test reference formats -- --ignored",
    );
    no_peer_parses_more(&peers);
}

/// The rows of a few chat templates stand in the page as they are derived now.
#[test]
fn a_few_rows_of_the_page() {
    let written = std::fs::read_to_string(PAGE).expect("the page");
    for derived in derived::few() {
        let row = page::row(&rows::cells(derived));
        assert!(written.contains(&row), "{PAGE} has no\n{row}");
    }
}

/// A few of the chat templates for which others wrote a response template, and theirs beside ours.
#[test]
fn what_others_parse_is_parsed() {
    let few = derived::of_corpus(&["trl/llama3_2.jinja", "trl/qwen3.jinja"]);
    if let Some(peers) = peers::compared(&few, false) {
        no_peer_parses_more(&peers);
    }
}

/// What a hand-written response template parses, a proved one of ours parses too.
fn no_peer_parses_more(peers: &[peers::Peer]) {
    let missed: Vec<&str> = peers
        .iter()
        .flat_map(|peer| &peer.missed)
        .map(String::as_str)
        .collect();
    assert!(
        missed.is_empty(),
        "{} responses that they parse and we do not, among them\n{}",
        missed.len(),
        missed[..missed.len().min(6)].join("\n")
    );
}
