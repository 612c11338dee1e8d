//! Constants of the template at which it cuts an answer, and the text that it drops there.
//!
//! All constants are tried in one answer, with a word of their own between each two: the words that are not rendered tell
//! where it was cut. Templates that cut nothing are known by one render.

use crate::derive::compare::pieces::Pieces;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe;

/// Constants of more characters than this are prose, not markers.
const LONGEST_MARKER: usize = 48;

/// How many constants are tried, and how many of those at which an answer seems to be cut are tried by themselves.
const MAX_MARKERS: usize = 1024;
const MAX_SUSPECTS: usize = 32;

/// How often an answer is tried with the constants that are left. Each time, the constants at which it is cut are found and left out.
const MAX_TRIES: usize = 32;

/// The constants at which the template drops a part of an answer. For example, a template that renders `content.split('</think>')[-1]`
/// drops what stands before `</think>`.
#[derive(Debug, Default)]
pub(in crate::derive) struct Cutting {
    /// The constants before which everything in an answer is dropped, in source order.
    pub(in crate::derive) closing: Vec<Cut>,
    /// Pairs of constants, the opening one first, of which only what stands between the two is dropped.
    pub(in crate::derive) around: Vec<(String, Cut)>,
}

/// A constant at which an answer is cut, and what was seen of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct Cut {
    pub(in crate::derive) marker: String,
    /// The answer that was given.
    pub(in crate::derive) given: String,
    /// The conversation with it, as rendered.
    pub(in crate::derive) rendered: String,
}

impl Cutting {
    /// The cuts that may close what this marker opens: first those that have a word in common with it, such as `<think>` and `</think>`,
    /// then the others in source order.
    pub(in crate::derive) fn closing_for(&self, open: &str) -> Vec<&Cut> {
        let cuts = self.closing.iter().filter(|cut| cut.marker != open);
        let mut cuts: Vec<&Cut> = cuts.collect();
        cuts.sort_by_key(|cut| !shares_word(open, &cut.marker));
        cuts
    }
}

impl Cut {
    pub(in crate::derive) fn evidence(&self) -> Evidence {
        Evidence {
            decision: "reasoning close",
            marker: self.marker.clone(),
            reading: "a constant of the template; what an answer says before it is dropped"
                .to_owned(),
            left: RenderExcerpt::new("the answer given", self.given.as_str()),
            right: RenderExcerpt::new("as rendered", self.rendered.as_str()),
            places: Vec::new(),
        }
    }
}

/// Returns true if the two markers have a word in common.
fn shares_word(a: &str, b: &str) -> bool {
    let words = |marker: &str| -> Vec<String> {
        let words = marker.split(|c: char| !c.is_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let of_b = words(b);
    words(a).iter().any(|word| of_b.contains(word))
}

/// Finds the constants at which an answer is cut where another message follows. `render` renders a conversation with the given answer,
/// followed by another message.
pub(in crate::derive) fn read<'a>(
    pieces: &Pieces,
    constants: impl Iterator<Item = &'a str>,
    render: &dyn Fn(&str) -> Option<String>,
) -> Cutting {
    let markers = markers(pieces, constants);
    let mut cutting = Cutting::default();
    let mut suspects = suspects(&markers, &render, &mut { MAX_TRIES });
    suspects.sort_unstable();
    suspects.dedup();
    suspects.truncate(MAX_SUSPECTS);
    for &suspect in &suspects {
        let marker = markers[suspect];
        cutting.closing.extend(closing(marker, &render));
    }
    // An answer is cut at a longer constant only for the shorter one in it.
    let all: Vec<String> = cutting
        .closing
        .iter()
        .map(|cut| cut.marker.clone())
        .collect();
    let is_longer = |cut: &Cut| {
        let mut others = all.iter().filter(|other| **other != cut.marker);
        others.any(|other| cut.marker.contains(other.as_str()))
    };
    cutting.closing.retain(|cut| !is_longer(cut));
    let opening = suspects.into_iter().filter(|suspect| {
        let mut closing = cutting.closing.iter();
        !closing.any(|cut| markers[*suspect].contains(&cut.marker))
    });
    let around = opening.filter_map(|open| {
        let close = closed_by(&markers, open, &render)?;
        around(markers[open], markers[close], &render)
    });
    cutting.around = around.collect();
    cutting
}

/// Returns the texts of the template's constants that may be markers, in source order.
fn markers<'a>(pieces: &Pieces, constants: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut markers: Vec<&str> = Vec::new();
    for marker in constants.flat_map(|constant| pieces.tokens(constant)) {
        if markers.len() == MAX_MARKERS {
            break;
        }
        if marker.chars().count() <= LONGEST_MARKER && !markers.contains(&marker) {
            markers.push(marker);
        }
    }
    markers
}

/// The word that stands after the marker of this number.
fn word(index: usize) -> String {
    format!("{}{index}q", probe::REASONING)
}

/// Returns the numbers of the markers at which an answer with all of them in it is cut.
fn suspects(
    markers: &[&str],
    render: &impl Fn(&str) -> Option<String>,
    tries: &mut usize,
) -> Vec<usize> {
    let mut left: Vec<usize> = (0..markers.len()).collect();
    let mut found = Vec::new();
    search(markers, &mut left, &mut found, render, tries);
    found
}

/// Adds the markers among those `left` at which an answer is cut to `found`. Where the template refuses an answer with all of them, each
/// half is searched by itself.
fn search(
    markers: &[&str],
    left: &mut Vec<usize>,
    found: &mut Vec<usize>,
    render: &impl Fn(&str) -> Option<String>,
    tries: &mut usize,
) {
    while !left.is_empty() && *tries > 0 {
        *tries -= 1;
        let Some(cuts) = cuts(probe::CONTENT, markers, left, render) else {
            if left.len() > 1 {
                let mut second = left.split_off(left.len() / 2);
                search(markers, left, found, render, tries);
                search(markers, &mut second, found, render, tries);
            }
            return;
        };
        if cuts.is_empty() {
            return;
        }
        left.retain(|index| !cuts.contains(index));
        found.extend(cuts);
    }
}

/// Returns the number of the marker that ends what `open` begins: the first marker, in an answer with `open` and then every other one,
/// behind which the answer is rendered again.
fn closed_by(
    markers: &[&str],
    open: usize,
    render: &impl Fn(&str) -> Option<String>,
) -> Option<usize> {
    let others: Vec<usize> = (0..markers.len()).filter(|other| *other != open).collect();
    let before = format!("{} {} {}", probe::CONTENT, markers[open], word(open));
    cuts(&before, markers, &others, render)?.into_iter().next()
}

/// Returns the markers at which the template begins or stops to drop text, in an answer that begins with `beginning` and then has each
/// marker `among` them, with a word behind it. `None` where the template refuses that answer.
fn cuts(
    beginning: &str,
    markers: &[&str],
    among: &[usize],
    render: &impl Fn(&str) -> Option<String>,
) -> Option<Vec<usize>> {
    let mut answer = beginning.to_owned();
    for &index in among {
        answer.push_str(&format!(" {} {}", markers[index], word(index)));
    }
    let rendered = render(&answer)?;
    let last = beginning.rsplit(' ').next().unwrap_or_default();
    let mut before = rendered.contains(last);
    let cuts = among.iter().copied().filter(|&index| {
        let after = rendered.contains(&word(index));
        std::mem::replace(&mut before, after) != after
    });
    Some(cuts.collect())
}

/// Returns the cut at a marker, if what an answer says before it is dropped, and what it says after it is not.
fn closing(marker: &str, render: &impl Fn(&str) -> Option<String>) -> Option<Cut> {
    let given = format!("{}{marker}{}", probe::REASONING, probe::CONTENT);
    let rendered = render(&given)?;
    let is_cut = !rendered.contains(probe::REASONING) && rendered.contains(probe::CONTENT);
    is_cut.then(|| Cut {
        marker: marker.to_owned(),
        given,
        rendered,
    })
}

/// Returns the opening marker and the cut at the closing one, if only what an answer says between them is dropped.
fn around(
    open: &str,
    close: &str,
    render: &impl Fn(&str) -> Option<String>,
) -> Option<(String, Cut)> {
    let given = format!(
        "{}{open}{}{close}{}",
        probe::OTHER_CONTENT,
        probe::REASONING,
        probe::CONTENT
    );
    let rendered = render(&given)?;
    let (_, rest) = rendered.split_once(probe::OTHER_CONTENT)?;
    let (between, _) = rest.split_once(probe::CONTENT)?;
    between.trim().is_empty().then(|| {
        let cut = Cut {
            marker: close.to_owned(),
            given,
            rendered,
        };
        (open.to_owned(), cut)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer is cut at `</muse>`, and at the longer constant only for the `</muse>` in it.
    #[test]
    fn the_shortest_of_the_constants_at_which_an_answer_is_cut() {
        let constants = ["<bot></muse>", "<bot>", "</muse>", "<muse>"];
        let render = |answer: &str| {
            let kept = answer.split_once("</muse>");
            Some(kept.map_or(answer, |(_, kept)| kept).to_owned())
        };
        let cutting = read(&Pieces::default(), constants.into_iter(), &render);
        let markers: Vec<&str> = cutting.closing.iter().map(|cut| &*cut.marker).collect();
        assert_eq!(markers, ["</muse>"]);
        assert!(cutting.around.is_empty(), "{:?}", cutting.around);
    }
}
