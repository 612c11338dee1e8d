//! Where the first of several delimiters stands, in text that arrives in pieces.
//!
//! An automaton as Aho and Corasick describe it (CACM 1975): a trie of the delimiters whose nodes know where to go on when the text
//! departs from them. `until` wants the delimiter that *begins* first, whereas the automaton finds the one that ends first. So
//! when one is found, reading goes on for as long as a delimiter that began before it may still be completed; the automaton's
//! node says so, its depth being the length of the longest delimiter's beginning that the text ends with.
//!
//! Every byte is looked at once. Where no delimiter has begun the search skips to the next byte with which one may.

use memchr::{memchr, memchr2, memchr3};
use smol_str::SmolStr;

/// The automata of a grammar, one for each `until` with delimiters.
#[derive(Debug)]
pub(super) struct Searches {
    /// By the number of the expression.
    of: Vec<Option<Delimiters>>,
}

impl Searches {
    /// Those of expressions with these delimiters; with none there is nothing to look for.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a [SmolStr]>) -> Self {
        let of = all.map(|delimiters| {
            let texts = delimiters.iter().map(|text| text.as_bytes());
            (!delimiters.is_empty()).then(|| Delimiters::new(texts))
        });
        Self { of: of.collect() }
    }

    pub(super) fn get(&self, expression: usize) -> Option<&Delimiters> {
        self.of.get(expression)?.as_ref()
    }
}

/// A search for the first of several delimiters.
#[derive(Debug)]
pub(super) struct Delimiters {
    nodes: Vec<Node>,
    /// The bytes with which a delimiter begins.
    first: Vec<u8>,
    begins: [bool; 256],
}

#[derive(Debug)]
struct Node {
    /// Sorted by the byte.
    next: Vec<(u8, u32)>,
    /// The node of the longest proper end of this one's text that is a delimiter's beginning.
    fail: u32,
    depth: u32,
    /// The length of the longest delimiter that this node's text ends with; 0 if there is none.
    longest: u32,
}

/// How far a search has come. Places are counted from where the search began.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Search {
    node: u32,
    /// Bytes that were read.
    read: usize,
    /// Where the first delimiter found so far begins.
    found: Option<usize>,
}

impl Search {
    /// Bytes that were read.
    pub(super) fn read(&self) -> usize {
        self.read
    }

    /// Where the first delimiter begins that was found, though one that begins before it might yet have come.
    pub(super) fn found(&self) -> Option<usize> {
        self.found
    }
}

const ROOT: u32 = 0;

impl Delimiters {
    /// A search for delimiters, none of which is empty.
    fn new<'a>(delimiters: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut nodes = vec![Node::at(0)];
        for delimiter in delimiters {
            let mut at = ROOT as usize;
            for byte in delimiter {
                at = match nodes[at].get(*byte) {
                    Some(next) => next as usize,
                    None => {
                        let new = nodes.len();
                        let depth = nodes[at].depth + 1;
                        nodes.push(Node::at(depth));
                        let place = nodes[at].next.partition_point(|(other, _)| other < byte);
                        nodes[at].next.insert(place, (*byte, new as u32));
                        new
                    }
                };
            }
            nodes[at].longest = nodes[at].depth;
        }
        let first: Vec<u8> = nodes[ROOT as usize]
            .next
            .iter()
            .map(|(byte, _)| *byte)
            .collect();
        let mut begins = [false; 256];
        for byte in &first {
            begins[usize::from(*byte)] = true;
        }
        let mut searching = Self {
            nodes,
            first,
            begins,
        };
        searching.link();
        searching
    }

    /// Gives each node the one to go on at, by breadth: that of a node stands nearer to the root.
    fn link(&mut self) {
        let mut queue: Vec<u32> = self.nodes[ROOT as usize]
            .next
            .iter()
            .map(|(_, to)| *to)
            .collect();
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            next += 1;
            let fail = self.nodes[at as usize].fail;
            if self.nodes[at as usize].longest == 0 {
                self.nodes[at as usize].longest = self.nodes[fail as usize].longest;
            }
            for at_next in 0..self.nodes[at as usize].next.len() {
                let (byte, to) = self.nodes[at as usize].next[at_next];
                self.nodes[to as usize].fail = self.step(fail, byte);
                queue.push(to);
            }
        }
    }

    fn step(&self, mut at: u32, byte: u8) -> u32 {
        loop {
            if let Some(next) = self.nodes[at as usize].get(byte) {
                return next;
            }
            if at == ROOT {
                return ROOT;
            }
            at = self.nodes[at as usize].fail;
        }
    }

    /// Reads on in `text`, which continues what was read; returns where the first delimiter begins once that is certain.
    pub(super) fn read(&self, search: &mut Search, text: &[u8]) -> Option<usize> {
        let before = search.read;
        let mut at = 0;
        while at < text.len() {
            if search.node == ROOT && search.found.is_none() {
                match self.skip(&text[at..]) {
                    Some(skipped) => at += skipped,
                    None => break,
                }
            }
            search.node = self.step(search.node, text[at]);
            at += 1;
            let node = &self.nodes[search.node as usize];
            let end = before + at;
            if node.longest > 0 {
                let start = end - node.longest as usize;
                if search.found.is_none_or(|found| start < found) {
                    search.found = Some(start);
                }
            }
            if let Some(found) = search.found
                && end - node.depth as usize >= found
            {
                search.read = end;
                return Some(found);
            }
        }
        search.read = before + text.len();
        None
    }

    /// How far no delimiter can have begun or be under way.
    pub(super) fn safe(&self, search: &Search) -> usize {
        let under_way = search.read - self.nodes[search.node as usize].depth as usize;
        search.found.map_or(under_way, |found| found.min(under_way))
    }

    fn skip(&self, text: &[u8]) -> Option<usize> {
        match *self.first.as_slice() {
            [a] => memchr(a, text),
            [a, b] => memchr2(a, b, text),
            [a, b, c] => memchr3(a, b, c, text),
            _ => text.iter().position(|byte| self.begins[usize::from(*byte)]),
        }
    }
}

impl Node {
    fn at(depth: u32) -> Self {
        Self {
            next: Vec::new(),
            fail: ROOT,
            depth,
            longest: 0,
        }
    }

    fn get(&self, byte: u8) -> Option<u32> {
        match self.next.as_slice() {
            [(only, to)] if *only == byte => Some(*to),
            [] | [_] => None,
            next => {
                let at = next.binary_search_by_key(&byte, |(other, _)| *other).ok()?;
                Some(next[at].1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(delimiters: &[&str], text: &str, cut: usize) -> (Option<usize>, usize) {
        let searching = Delimiters::new(delimiters.iter().map(|text| text.as_bytes()));
        let mut search = Search::default();
        for piece in text.as_bytes().chunks(cut) {
            if let Some(found) = searching.read(&mut search, piece) {
                return (Some(found), found);
            }
        }
        (search.found(), searching.safe(&search))
    }

    fn by_hand(delimiters: &[&str], text: &str) -> Option<usize> {
        (0..text.len()).find(|at| {
            let rest = &text.as_bytes()[*at..];
            delimiters
                .iter()
                .any(|text| rest.starts_with(text.as_bytes()))
        })
    }

    #[test]
    fn the_delimiter_that_begins_first_is_found_however_the_text_is_cut() {
        let sets: &[&[&str]] = &[
            &["</x>"],
            &["abcd", "bc"],
            &["abcd", "bc", "c"],
            &["aab", "ab"],
            &["aaa", "b"],
            &["<", "[", "{", "(", "x"],
            &["abab", "baa"],
        ];
        let texts = [
            "",
            "abcd",
            "abcx",
            "aabcd",
            "zzabc",
            "aaab",
            "ababaa",
            "a</x></x>",
            "a</</x>",
            "bca",
            "aaaaaaaab",
            "abcabcabcd",
            "hello x",
            "ababababaa",
        ];
        for delimiters in sets {
            for text in texts {
                let expected = by_hand(delimiters, text);
                for cut in 1..=text.len().max(1) {
                    let (found, safe) = search(delimiters, text, cut);
                    assert_eq!(found, expected, "{delimiters:?} in {text:?} cut at {cut}");
                    assert!(expected.is_none_or(|at| safe <= at));
                }
            }
        }
    }

    #[test]
    fn what_cannot_belong_to_a_delimiter_is_safe() {
        assert_eq!(search(&["</x>"], "ab</", 1), (None, 2));
        assert_eq!(search(&["</x>"], "ab</y", 1), (None, 5));
        assert_eq!(search(&["abcd", "bc"], "zabc", 4), (Some(2), 1));
    }
}
