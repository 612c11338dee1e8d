//! What must hold for every input: one module for each fuzz target, which calls its `check`. A check panics where something
//! does not hold.
//!
//! An input is text, so that seeds can be written and read; a check ignores what is not UTF-8. Parts of an input are divided
//! by [`DIVIDER`].

pub mod chunks;
pub mod deltas;
pub mod documents;
pub mod grammars;
pub mod json;
pub mod patterns;
pub mod schemas;

/// Between the parts of an input: U+001E, the record separator.
pub const DIVIDER: char = '\u{1e}';

/// The first `N` parts of an input; empty where there are no more, and the last one with all that is left.
pub fn parts<const N: usize>(text: &str) -> [&str; N] {
    let mut parts = text.splitn(N, DIVIDER);
    [(); N].map(|()| parts.next().unwrap_or_default())
}

/// The ends of the pieces into which `text` is cut: `sizes` says how many characters each one has, again from its beginning
/// when it is used up. Without any, each piece is one character.
pub fn cuts(text: &str, sizes: &[u8]) -> Vec<usize> {
    let sizes = if sizes.is_empty() { &[1][..] } else { sizes };
    let mut ends = Vec::new();
    let mut sizes = sizes.iter().cycle();
    let mut left = *sizes.next().unwrap_or(&1) as usize % 16;
    let mut empties = 0;
    for (at, _) in text.char_indices() {
        while left == 0 && empties < 64 {
            ends.push(at);
            empties += 1;
            left = *sizes.next().unwrap_or(&1) as usize % 16;
        }
        left = left.saturating_sub(1);
    }
    ends.push(text.len());
    ends
}
