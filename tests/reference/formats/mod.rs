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

use crate::support::derived::{self, Derived};
use crate::support::pages;

/// Everything there is; empty where there is no corpus.
fn all() -> &'static [Derived] {
    match crate::support::corpus::dir() {
        Some(_) => derived::all(),
        None => &[],
    }
}

const PAGE: &str = "docs/formats.md";

#[test]
fn the_page_is_up_to_date() {
    let all = all();
    let Some(peers) = peers::compared(all).filter(|_| !all.is_empty()) else {
        return;
    };
    pages::hold(PAGE, &page::write(all, peers), "--test reference formats");
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
