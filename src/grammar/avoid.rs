//! Free text: what must not stand in it, and the automaton that knows.
//!
//! Where a text lasts to its delimiter, everything may stand in it but the delimiter. A delimiter of a response template is a
//! pattern, so what is avoided is a sequence of texts, white space and runs of characters. That none of several such sequences
//! stands anywhere in a text is a regular language; its automaton is made by the subset construction, over the few classes of
//! characters that the sequences tell apart. It has at most as many states as there are subsets that occur: for plain texts those
//! of Aho and Corasick's automaton. A grammar without complements is written from it, a state a rule.

use std::collections::{BTreeSet, HashMap};

use super::chars::Chars;

/// A part of something that is avoided.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Piece {
    /// Exactly this text.
    Text(String),
    /// White space, or none.
    Space,
    /// Characters of a set, at least so many.
    Run(Chars, u32),
}

/// The sequences that must not stand in a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Avoid(Vec<Vec<Piece>>);

/// The most states of an automaton.
const MAX_STATES: usize = 600;

/// The automaton of the texts in which nothing stands that is avoided. The first state is where it begins; a text may end in any.
#[derive(Debug, Clone)]
pub(crate) struct Automaton {
    pub(crate) states: Vec<Vec<(Chars, usize)>>,
}

impl Avoid {
    /// Collects what is avoided. A sequence that begins as another that is avoided anyway is not told again. One that has another behind its
    /// beginning is: no text has it either way, but whoever reads to the first that is avoided is to stop before it, and not in it.
    pub(crate) fn new(avoided: impl IntoIterator<Item = Vec<Piece>>) -> Self {
        let mut kept: Vec<Vec<Piece>> = Vec::new();
        let mut all: Vec<Vec<Piece>> = avoided
            .into_iter()
            .map(trimmed)
            .filter(|pieces| !pieces.is_empty())
            .collect();
        all.sort_by_key(|pieces| pieces.len());
        for pieces in all {
            if !kept.iter().any(|known| begins(&pieces, known)) {
                kept.retain(|other| !begins(other, &pieces));
                kept.push(pieces);
            }
        }
        kept.sort();
        Self(kept)
    }

    /// With these tokens, what is avoided ends where the first token in it does: a text is followed by the token, or has it nowhere.
    pub(crate) fn up_to_tokens<'t>(&self, tokens: impl Iterator<Item = &'t str> + Clone) -> Self {
        let cut = |pieces: &Vec<Piece>| {
            let mut kept = Vec::new();
            for piece in pieces {
                if let Piece::Text(text) = piece {
                    let ends = tokens.clone().filter(|token| !token.is_empty());
                    let ends = ends.filter_map(|token| Some(text.find(token)? + token.len()));
                    if let Some(end) = ends.min() {
                        kept.push(Piece::Text(text[..end].to_owned()));
                        break;
                    }
                }
                kept.push(piece.clone());
            }
            kept
        };
        Self::new(self.0.iter().map(cut))
    }

    pub(crate) fn pieces(&self) -> &[Vec<Piece>] {
        &self.0
    }

    /// The texts that are avoided, where all of it is plain text.
    pub(crate) fn literals(&self) -> Option<Vec<&str>> {
        let text = |pieces: &Vec<Piece>| matches!(pieces.as_slice(), [Piece::Text(_)]);
        let all = self.0.iter().all(text);
        all.then(|| {
            let texts = self.0.iter().flatten().filter_map(|piece| match piece {
                Piece::Text(text) => Some(text.as_str()),
                _ => None,
            });
            texts.collect()
        })
    }

    /// Returns true if nothing that is avoided stands in the text.
    pub(crate) fn allows(&self, text: &str) -> bool {
        let nfa = Nfa::of(&self.0);
        let mut at = nfa.start();
        for c in text.chars() {
            at = nfa.step(&at, c);
            if nfa.is_found(&at) {
                return false;
            }
        }
        true
    }

    /// The automaton; `None` where it would be too large.
    pub(crate) fn automaton(&self) -> Option<Automaton> {
        let nfa = Nfa::of(&self.0);
        let classes = nfa.classes();
        let mut states: Vec<Vec<(Chars, usize)>> = Vec::new();
        let start = nfa.start();
        let mut known = HashMap::from([(start.clone(), 0)]);
        let mut open = vec![start];
        let mut next = 0;
        while let Some(at) = open.get(next).cloned() {
            next += 1;
            let mut steps: Vec<(Chars, usize)> = Vec::new();
            for class in &classes {
                let Some((c, _)) = class.ranges().first() else {
                    continue;
                };
                let to = nfa.step(&at, *c);
                if nfa.is_found(&to) {
                    continue;
                }
                let index = *known.entry(to.clone()).or_insert_with(|| {
                    open.push(to);
                    open.len() - 1
                });
                if index >= MAX_STATES {
                    return None;
                }
                match steps.iter_mut().find(|(_, to)| *to == index) {
                    Some((chars, _)) => *chars = chars.or(class),
                    None => steps.push((class.clone(), index)),
                }
            }
            states.push(steps);
        }
        Some(Automaton { states })
    }
}

/// Returns true if a sequence begins with another, of which the last text may end within one of its.
fn begins(pieces: &[Piece], with: &[Piece]) -> bool {
    let Some((last, before)) = with.split_last() else {
        return true;
    };
    let Some(rest) = pieces.strip_prefix(before) else {
        return false;
    };
    match (rest.first(), last) {
        (Some(Piece::Text(longer)), Piece::Text(text)) => longer.starts_with(text),
        (first, last) => first == Some(last),
    }
}

/// Without white space at its ends, which says nothing.
fn trimmed(mut pieces: Vec<Piece>) -> Vec<Piece> {
    while pieces.first() == Some(&Piece::Space) {
        pieces.remove(0);
    }
    while pieces.last() == Some(&Piece::Space) {
        pieces.pop();
    }
    pieces
}

/// The sequences as places between characters: a place has steps to others, and may go on to the next for nothing.
#[derive(Debug, Clone)]
struct Nfa {
    /// For each place, the characters that lead on or stay, and whether the next place is reached for nothing.
    places: Vec<NfaState>,
    starts: Vec<usize>,
}

#[derive(Debug, Clone)]
struct NfaState {
    steps: Vec<(Chars, usize)>,
    free: Option<usize>,
    found: bool,
}

impl Nfa {
    fn of(avoided: &[Vec<Piece>]) -> Self {
        let mut nfa = Self {
            places: Vec::new(),
            starts: Vec::new(),
        };
        let space = Chars::space();
        for pieces in avoided {
            let start = nfa.place();
            nfa.starts.push(start);
            let mut at = start;
            for piece in pieces {
                match piece {
                    Piece::Text(text) => {
                        for c in text.chars() {
                            at = nfa.on(at, Chars::one(c));
                        }
                    }
                    Piece::Space => at = nfa.any(at, space.clone()),
                    Piece::Run(chars, min) => {
                        for _ in 0..*min {
                            at = nfa.on(at, chars.clone());
                        }
                        at = nfa.any(at, chars.clone());
                    }
                }
            }
            nfa.places[at].found = true;
        }
        nfa
    }

    fn place(&mut self) -> usize {
        self.places.push(NfaState {
            steps: Vec::new(),
            free: None,
            found: false,
        });
        self.places.len() - 1
    }

    fn on(&mut self, at: usize, chars: Chars) -> usize {
        let next = self.place();
        self.places[at].steps.push((chars, next));
        next
    }

    fn any(&mut self, at: usize, chars: Chars) -> usize {
        let stay = self.place();
        self.places[at].free = Some(stay);
        self.places[stay].steps.push((chars, stay));
        let next = self.place();
        self.places[stay].free = Some(next);
        next
    }

    fn start(&self) -> BTreeSet<usize> {
        self.closed(self.starts.iter().copied())
    }

    fn closed(&self, places: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        for place in places {
            let mut at = Some(place);
            while let Some(place) = at.filter(|place| all.insert(*place)) {
                at = self.places[place].free;
            }
        }
        all
    }

    fn step(&self, at: &BTreeSet<usize>, c: char) -> BTreeSet<usize> {
        let on = at.iter().flat_map(|place| &self.places[*place].steps);
        let on = on.filter(|(chars, _)| chars.has(c)).map(|(_, to)| *to);
        self.closed(on.chain(self.starts.iter().copied()))
    }

    fn is_found(&self, at: &BTreeSet<usize>) -> bool {
        at.iter().any(|place| self.places[*place].found)
    }

    /// The classes of characters that no step tells apart.
    fn classes(&self) -> Vec<Chars> {
        let mut classes = vec![Chars::all()];
        let sets: BTreeSet<&Chars> = self
            .places
            .iter()
            .flat_map(|place| place.steps.iter().map(|(chars, _)| chars))
            .collect();
        for set in sets {
            let outside = set.negated();
            classes = classes
                .iter()
                .flat_map(|class| [class.and(set), class.and(&outside)])
                .filter(|class| !class.is_empty())
                .collect();
        }
        classes
    }
}

/// The automaton made as far as it is needed, however large it is: for who reads one text.
#[derive(Debug, Clone)]
pub(crate) struct Tracker {
    nfa: Nfa,
    states: Vec<BTreeSet<usize>>,
    known: HashMap<BTreeSet<usize>, usize>,
    steps: HashMap<(usize, char), Option<usize>>,
}

impl Tracker {
    /// The one of a text in which none of these stands; it begins in state 0.
    pub(crate) fn new(avoid: &Avoid) -> Self {
        let nfa = Nfa::of(&avoid.0);
        let start = nfa.start();
        Self {
            nfa,
            states: vec![start.clone()],
            known: HashMap::from([(start, 0)]),
            steps: HashMap::new(),
        }
    }

    /// The state that a character leads to; `None` where the text would have what is avoided.
    pub(crate) fn step(&mut self, at: usize, c: char) -> Option<usize> {
        if let Some(to) = self.steps.get(&(at, c)) {
            return *to;
        }
        let set = self.nfa.step(&self.states[at], c);
        let to = (!self.nfa.is_found(&set)).then(|| {
            let states = &mut self.states;
            *self.known.entry(set.clone()).or_insert_with(|| {
                states.push(set);
                states.len() - 1
            })
        });
        self.steps.insert((at, c), to);
        to
    }
}

impl Automaton {
    /// The state that a character leads to.
    pub(crate) fn step(&self, at: usize, c: char) -> Option<usize> {
        self.states[at]
            .iter()
            .find(|(chars, _)| chars.has(c))
            .map(|(_, to)| *to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[test]
    fn a_text_is_allowed_where_nothing_avoided_stands_in_it() {
        let word = Chars::from_ranges(&[('a', 'z')]);
        let avoid = Avoid::new([
            vec![text("</t>")],
            vec![text("{"), Piece::Space, text("\"n\":"), Piece::Run(word, 2)],
        ]);
        for (given, allowed) in [
            ("", true),
            ("</t", true),
            ("a<</t>", false),
            ("{ \"n\":a1", true),
            ("{\n\"n\":ab", false),
            ("{{\"n\":abc", false),
        ] {
            assert_eq!(avoid.allows(given), allowed, "{given}");
            let automaton = avoid.automaton().expect("small");
            let end = given.chars().try_fold(0, |at, c| automaton.step(at, c));
            assert_eq!(end.is_some(), allowed, "{given}");
            let mut tracker = Tracker::new(&avoid);
            let end = given.chars().try_fold(0, |at, c| tracker.step(at, c));
            assert_eq!(end.is_some(), allowed, "{given}");
        }
    }

    #[test]
    fn what_begins_as_another_is_told_once_and_what_ends_as_another_twice() {
        let kept = |texts: [&str; 2]| Avoid::new(texts.map(|one| vec![text(one)])).0.len();
        assert_eq!(kept(["<a><b>", "<a>"]), 1);
        assert_eq!(kept(["<a>", "<a><b>"]), 1);
        assert_eq!(kept(["<a><b>", "<b>"]), 2);
        let run = |rest: Piece| vec![text("<a>"), Piece::Space, rest];
        assert_eq!(
            Avoid::new([run(text("b")), run(text("bc"))]).0,
            [run(text("b"))]
        );
    }
}
