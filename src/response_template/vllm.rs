//! Patterns as vLLM's reader in Rust compiles them.
//!
//! `rust/src/parser/src/unified/hf/pattern.rs` of vLLM 0.33 hands a pattern to regex-automata unchanged; the same steps are taken here,
//! with the same settings. Positions are looked for by the literals with which every match begins. Text that arrives is
//! matched by an anchored dense DFA, for which memory is limited, both for what it is and for what building it takes; where `\b`
//! asks what a letter is, by a second one without any assertion. The anchor and what stands in `content_args` are compiled as
//! ordinary regular expressions (`compile_regex` in `content.rs`), and need neither. The release of regex-automata may be
//! another, so that a pattern close to the limit may come out on its other side.

use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::{MatchKind, meta};
use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Hir, HirKind};

/// The most that an automaton may take, and building one.
const AUTOMATON_BYTES: usize = 16 << 20;

/// Why the reader refuses a pattern that is matched against a whole text.
pub(super) fn check_regex(source: &str) -> Result<(), String> {
    is_regex(&parse(source)?)
}

/// Why the reader refuses a pattern that opens or closes a region.
pub(super) fn check_boundary(source: &str) -> Result<(), String> {
    let hir = parse(source)?;
    has_prefix(&hir)?;
    fits(&hir, MatchKind::LeftmostFirst)?;
    if hir.properties().look_set().contains_word_unicode() {
        fits(&without_assertions(&hir), MatchKind::All)?;
    }
    is_regex(&hir)
}

fn parse(source: &str) -> Result<Hir, String> {
    regex_syntax::ParserBuilder::new()
        .dot_matches_new_line(true)
        .build()
        .parse(source)
        .map_err(|error| {
            let kind = match &error {
                regex_syntax::Error::Parse(error) => error.kind().to_string(),
                regex_syntax::Error::Translate(error) => error.kind().to_string(),
                _ => "a limit is exceeded".to_owned(),
            };
            not_rust(&kind)
        })
}

fn not_rust(why: &str) -> String {
    format!("vllm compiles patterns as Rust's regular expressions, which this one is not: {why}")
}

fn is_regex(hir: &Hir) -> Result<(), String> {
    let built = meta::Builder::new().build_from_hir(hir);
    built.map_err(|error| not_rust(&error.to_string()))?;
    Ok(())
}

/// Refuses patterns of which some match begins with none of finitely many literals.
fn has_prefix(hir: &Hir) -> Result<(), String> {
    let prefixes = Extractor::new().kind(ExtractKind::Prefix).extract(hir);
    let begins = |literals: &[regex_syntax::hir::literal::Literal]| {
        let whole = |bytes: &[u8]| {
            bytes
                .utf8_chunks()
                .next()
                .is_some_and(|chunk| !chunk.valid().is_empty())
        };
        !literals.is_empty() && literals.iter().all(|literal| whole(literal.as_bytes()))
    };
    if prefixes.literals().is_some_and(begins) {
        Ok(())
    } else {
        Err("vllm needs a literal with which every match of a pattern begins".to_owned())
    }
}

/// Refuses patterns whose automaton cannot be built in the memory that it may take.
fn fits(hir: &Hir, kind: MatchKind) -> Result<(), String> {
    let nfa = thompson::Compiler::new()
        .configure(thompson::Config::new().which_captures(WhichCaptures::None))
        .build_from_hir(hir)
        .map_err(|error| not_rust(&error.to_string()))?;
    let config = dense::Config::new()
        .match_kind(kind)
        .start_kind(StartKind::Anchored)
        .unicode_word_boundary(true)
        .dfa_size_limit(Some(AUTOMATON_BYTES))
        .determinize_size_limit(Some(AUTOMATON_BYTES));
    let built = dense::Builder::new().configure(config).build_from_nfa(&nfa);
    built.map_err(|error| {
        if error.is_size_limit_exceeded() {
            let limit = AUTOMATON_BYTES >> 20;
            format!("vllm builds an automaton of a pattern, and that of this one takes more than {limit} MiB")
        } else {
            format!("vllm builds an automaton of a pattern, which has none: {error}")
        }
    })?;
    Ok(())
}

/// The pattern with nothing in the place of each assertion.
fn without_assertions(hir: &Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(without_assertions).collect();
    match hir.kind() {
        HirKind::Look(_) => Hir::empty(),
        HirKind::Repetition(repetition) => {
            Hir::repetition(repetition.with(without_assertions(&repetition.sub)))
        }
        HirKind::Capture(capture) => {
            let mut capture = capture.clone();
            *capture.sub = without_assertions(&capture.sub);
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_begins_with_a_literal() {
        for source in [
            "<e>\\s*",
            "(?:<s>\\s*)?<c>",
            "(?:<a>|<b>)\\s*",
            "é+",
            "\\n?</r>",
        ] {
            assert_eq!(check_boundary(source), Ok(()), "{source}");
        }
        for source in [
            "\\s*\\}",
            ".*x",
            "(?:^|<a>)",
            "(?=<e>)",
            "<e>|\\Z",
            "(?P<a>x)(?P=a)",
            "$",
        ] {
            assert!(check_boundary(source).is_err(), "{source}");
        }
    }

    /// The words are those of regex-automata's limits, which are vLLM's.
    #[test]
    fn an_automaton_has_a_greatest_size() {
        let words = |count: usize| format!("<c>(?P<name>\\w{{1,{count}}})</c>");
        assert_eq!(check_boundary(&words(8)), Ok(()));
        let error = check_boundary(&words(400)).unwrap_err();
        assert!(error.contains("16 MiB"), "{error}");
        assert_eq!(check_regex(&words(8)), Ok(()));
        // Without the look at what a letter is, and with an end that is not that of a word.
        assert_eq!(check_boundary("<c>[a-z]{1,400}</c>"), Ok(()));
    }

    /// The second automaton, without assertions and for every match, may be the one that is too large.
    #[test]
    fn a_word_boundary_asks_for_a_second_automaton() {
        let name = "<c \\bname=\"(?P<name>[^\"]+)\">";
        assert_eq!(check_boundary(name), Ok(()));
        // The first way matches and is preferred, so that the second is none of the first automaton.
        assert_eq!(check_boundary("<c>(?:|.*a.{16}b)"), Ok(()));
        let error = check_boundary("<c\\b>(?:|.*a.{16}b)").unwrap_err();
        assert!(error.contains("16 MiB"), "{error}");
        let parsed = |source: &str| parse(source).unwrap();
        assert_eq!(
            without_assertions(&parsed("a\\b(b$|^c)*")),
            parsed("a(b|c)*")
        );
    }

    #[test]
    fn other_patterns_need_neither() {
        assert_eq!(check_regex("\\s*<bot>|^"), Ok(()));
        assert!(check_regex("(?=<bot>)").is_err());
    }
}
