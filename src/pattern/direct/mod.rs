//! Complete texts, tried directly: backtracking over bytes that jumps from one place where the pattern can go on to the next.
//!
//! A schema's pattern is mostly "anything, up to where this comes or the text ends". Python's `re` runs through such a stretch in C, and a
//! simulated automaton reads it byte by byte for every thread. Here each repetition of single characters knows what can come
//! behind it (a literal, a few bytes, the end of the text: see [`ahead`]), and goes there by vectorised search; what it passes over cannot
//! be the place. Everything else is tried in the order in which Python tries it, so that the first match found is the one that Python
//! finds, groups included: what is skipped is only what must fail.
//!
//! Two things more are known beforehand: a literal that stands on every way from a step to the end must come, so that without it, or
//! behind its last occurrence, nothing is tried; and what fails at a step and a place fails there again, whatever led to it.
//!
//! Backtracking takes exponential time on some patterns and quadratic time on many. So it has a budget in proportion to the text, shared
//! by all searches of one iteration. Where that is used up, what fails is remembered from then on, a bit for each step and place, which
//! bounds the work by their product as in a bounded backtracker. Where that has come to an end too, the pattern's own engine
//! goes on from the start that was being tried, all starts before having failed. So a search costs at most the budgets more than the engine
//! alone: the work is linear in the text wherever it was.
//!
//! There is no program for what refers to groups, looks back over a length that is not fixed, or repeats what may match nothing; there the
//! engine is all.
//!
//! # What it buys
//!
//! A simulated automaton read the choice "anything, up to this or the end" byte by byte, nine to fifty times slower than Python, and a response
//! schema is read as a whole, where Python's speed is what people have. With this folder every input that was measured is read several times as fast as by
//! Python, and of 2310 cases two were slower (`docs/performance.md`).

mod ahead;
mod compile;
mod expect;
mod memory;
mod program;
mod run;
mod set;

pub(crate) use program::Program;
pub(crate) use run::{Machine, Outcome};

#[cfg(test)]
mod tests {
    use super::{Machine, Outcome, Program};
    use crate::pattern::numbers::Numbers;
    use crate::pattern::search::{Progress, Search};
    use crate::pattern::syntax::{Dialect, parse_as};
    use crate::pattern::{Pattern, Window};

    #[rustfmt::skip]
    const ATOMS: &[&str] = &[
        "a", "b", "<a>", "</a>", "<", ".", r"\s", r"\w", "[^<]", "\u{e9}", r"\n", r"\d", "[^a]", "(?:a|b)", "(?:<a>|<b>)", "(?!</a>).", "(?!a|$).",
    ];
    const QUANTIFIERS: &[&str] = &[
        "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}?", "{,2}", "*+",
    ];
    #[rustfmt::skip]
    const WHOLE: &[&str] = &[
        "", "", "", "^", "$", r"\Z", r"\b", "(?m:^)", "(?m:$)", r"(?:</a>|\Z)", "(?:<a>|$)", "(?=<)", "(?!a)", r"\B", "(?<=a)", "(?<!<)", "(?<=a>|<.)",
    ];

    fn pattern(numbers: &mut Numbers, depth: usize) -> String {
        let mut source = String::new();
        for _ in 0..1 + numbers.below(4) {
            source.push_str(numbers.pick(WHOLE));
            if depth > 0 && numbers.below(3) == 0 {
                let inner = pattern(numbers, depth - 1);
                let open = numbers.pick(&["(", "(?:", "(?>", "(?:x|", "(?="]);
                let close = numbers.pick(&[")", ")?", ")??", ")"]);
                source.push_str(&format!("{open}{inner}{close}"));
            } else {
                let atom = numbers.pick(ATOMS);
                let quantifier = numbers.pick(QUANTIFIERS);
                let is_one = atom.chars().count() == 1 || atom.starts_with(['\\', '[']);
                if is_one || quantifier.is_empty() {
                    source.push_str(&format!("{atom}{quantifier}"));
                } else {
                    source.push_str(&format!("(?:{atom}){quantifier}"));
                }
            }
        }
        source
    }

    #[rustfmt::skip]
    const PIECES: &[&str] = &["a", "b", "<a>", "</a>", "<b>", "<", " ", "\n", "\u{e9}", "\u{1f600}", "1", "x", "aab", "</", "abba "];

    /// The engine alone.
    fn by_engine(pattern: &Pattern, text: &str, from: usize) -> Option<crate::pattern::Captures> {
        // The sequence before it is the engine's equal, which other tests hold.
        let window = Window {
            text,
            start: 0,
            complete: true,
        };
        match Search::new(pattern, from)
            .advance(&window)
            .expect("no limit")
        {
            Progress::Found(captures) => Some(captures),
            Progress::Pending { .. } => None,
        }
    }

    #[test]
    fn what_is_found_directly_is_what_the_engine_finds() {
        let mut numbers = Numbers(11);
        let (mut tried, mut found_some) = (0, 0);
        for _ in 0..4000 {
            let source = pattern(&mut numbers, 2);
            let (Ok(pattern), Ok(parsed)) = (Pattern::re(&source), parse_as(&source, Dialect::Re))
            else {
                continue;
            };
            let Some(program) = Program::new(&parsed) else {
                continue;
            };
            for _ in 0..12 {
                let length = numbers.below(12);
                let text: String = (0..length).map(|_| numbers.pick(PIECES)).collect();
                let mut from = numbers.below(3).min(text.len());
                while !text.is_char_boundary(from) {
                    from += 1;
                }
                let expected = by_engine(&pattern, &text, from);
                for remembers in [false, true] {
                    let mut machine = Machine::new(1 << 20);
                    if remembers {
                        machine.remember(&program, 1 << 20);
                    }
                    let found = match machine.search(&program, &text, from, None) {
                        Outcome::Found(span) => Some(span),
                        Outcome::Nothing => None,
                        Outcome::GivenUp(at) => panic!("{source:?} in {text:?} at {at}"),
                    };
                    tried += 1;
                    found_some += usize::from(found.is_some());
                    let about = format!("{source:?} in {text:?} from {from}, {remembers}");
                    let span = expected.as_ref().map(|all| all.span.clone());
                    assert_eq!(found, span, "{about}");
                    if let Some(expected) = &expected {
                        let groups = (0..expected.groups.len()).map(|number| machine.group(number));
                        let wanted = expected.groups.iter().map(|(_, range)| range.clone());
                        assert!(groups.eq(wanted), "{about}");
                    }
                }
            }
        }
        assert!(
            tried > 40_000 && found_some > 10_000,
            "{tried}, {found_some}"
        );
    }

    #[test]
    fn what_cuts_a_text_in_every_way_is_tried_once_at_each_place() {
        let text = "a".repeat(20_000) + "!";
        for source in [
            "^((?:a+b?)+)$",
            "(?:<|(a+))+</a>",
            "(a.*?b)+c",
            r"^(.*?\S.*?)\n?</a>",
            r"(a*?)(a*?)(a*)[^a!]",
        ] {
            let parsed = parse_as(source, Dialect::Re).expect("a pattern");
            let program = Program::new(&parsed).expect("a program");
            let mut machine = Machine::new(text.len());
            let outcome = machine.search(&program, &text, 0, None);
            assert_eq!(outcome, Outcome::Nothing, "{source}");
        }
        // Places that a look visits are not remembered: the engine would go on from them.
        let source = r"^(?:(?=(?:a+)+\d)a|b)+";
        let parsed = parse_as(source, Dialect::Re).expect("a pattern");
        let program = Program::new(&parsed).expect("a program");
        let given_up = Machine::new(text.len()).search(&program, &text, 0, None);
        assert_eq!(given_up, Outcome::GivenUp(0));
    }
}
