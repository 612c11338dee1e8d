//! Generated documents and responses, parsed by the reference and by Obverse: accepted or refused, messages, events of the
//! whole response and of each chunk, errors.
//!
//! `OBVERSE_SEED` chooses other cases, `OBVERSE_CASES` how many. A case that fails is made small before it is shown.

#![allow(
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test says how much it has seen"
)]

mod compare;
mod generate;
mod pool;
mod shrink;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::random::Random;
use crate::support::reference::Session;
use compare::Wrong;
use generate::{Case, value};

/// How many cases the tests look at where nothing else is asked.
const CASES: usize = 3_000;
/// How many the long test looks at.
const MANY_CASES: usize = 120_000;
/// How many show a delimiter alone.
const ALONE: u64 = 100;
const SEED: u64 = 2026;
/// Cases asked of the reference at once.
const BLOCK: usize = 500;
/// Failing cases that are shown.
const SHOWN: usize = 10;

/// How often something was seen.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    refused: usize,
    failed: usize,
    endless: usize,
    gave_up: usize,
    prefix_differs: usize,
    chunks_differ: usize,
    other_chunks: usize,
    wrong: Vec<(usize, Case, Wrong)>,
}

#[test]
fn generated_cases() {
    run(CASES);
}

#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn many_generated_cases() {
    run(MANY_CASES);
}

/// A delimiter that is late without being of a kind that `docs/differences.md` lists is a mistake, and so is one that is said to
/// be late and never is.
#[test]
fn a_delimiter_is_late_for_a_reason() {
    let Some(mut session) = Session::start("parse_runs.py") else {
        return;
    };
    let mut wrong = Vec::new();
    for (index, delimiter) in pool::DELIMITERS.iter().enumerate() {
        let cases: Vec<Case> = (0..ALONE)
            .map(|number| {
                let mut random = Random::part(SEED + index as u64, number);
                generate::alone(&mut random, delimiter)
            })
            .collect();
        let questions: Vec<String> = cases.iter().map(Case::question).collect();
        let answers = session.ask(&questions);
        let mut late = false;
        for (case, answer) in cases.iter().zip(answers) {
            match case.judge(&value(&answer)) {
                Ok(seen) => late |= seen.chunks_differ || seen.other_chunks,
                Err(Wrong { what, text }) => {
                    wrong.push(format!("{}: {what}: {text}", delimiter.json));
                    break;
                }
            }
        }
        if delimiter.late.is_some() && !late {
            wrong.push(format!("{} is never late", delimiter.json));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn run(cases: usize) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("OBVERSE_SEED").map_or(SEED, |seed: usize| seed as u64);
    let cases = number("OBVERSE_CASES").unwrap_or(cases);
    eprintln!("OBVERSE_SEED={seed} OBVERSE_CASES={cases}");
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, |count| count.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let Some(mut session) = Session::start("parse_runs.py") else {
                    return;
                };
                loop {
                    let first = next.fetch_add(BLOCK, Ordering::Relaxed);
                    if first >= cases {
                        return;
                    }
                    let last = cases.min(first + BLOCK);
                    block(&mut session, seed, first..last, &tally);
                }
            });
        }
    });
    let mut tally = tally.into_inner().expect("no worker panicked");
    if tally.cases == 0 {
        return;
    }
    tally.wrong.sort_by_key(|(index, ..)| *index);
    eprintln!(
        "{} cases: {} documents refused; {} responses failed, of which {} never end in the reference; \
         ours gave up in {}; \
         the reference's answer depends on the chunks in {}, on where the prefix ends in {}; \
         elsewhere the events of some chunk differ in {}; {} wrong",
        tally.cases,
        tally.refused,
        tally.failed,
        tally.endless,
        tally.gave_up,
        tally.chunks_differ,
        tally.prefix_differs,
        tally.other_chunks,
        tally.wrong.len()
    );
    assert!(
        tally.gave_up <= 1 + cases / 10_000,
        "patterns that end at a limit are the exception"
    );
    let mut session = Session::start("parse_runs.py").expect("it was there before");
    let shown: Vec<String> = tally
        .wrong
        .iter()
        .take(SHOWN)
        .map(|(index, case, wrong)| {
            let (case, wrong) = shrink::shrink(case.clone(), wrong.clone(), &mut |case| {
                judge(&mut session, case)
            });
            format!(
                "case {index}, {}: {}\n{}",
                wrong.what,
                wrong.text,
                shrink::as_case(&case, &format!("case {index} of seed {seed}"))
            )
        })
        .collect();
    assert!(shown.is_empty(), "\n{}", shown.join("\n\n"));
}

fn block(session: &mut Session, seed: u64, indices: std::ops::Range<usize>, tally: &Mutex<Tally>) {
    let cases: Vec<Case> = indices
        .clone()
        .map(|index| generate::case(&mut Random::part(seed, index as u64)))
        .collect();
    let questions: Vec<String> = cases.iter().map(Case::question).collect();
    let answers = session.ask(&questions);
    for ((index, case), answer) in indices.zip(cases).zip(answers) {
        let judged = case.judge(&value(&answer));
        let mut tally = tally.lock().expect("no worker panicked");
        tally.cases += 1;
        match judged {
            Ok(seen) => {
                tally.refused += usize::from(seen.refused);
                tally.failed += usize::from(seen.failed);
                tally.endless += usize::from(seen.endless);
                tally.gave_up += usize::from(seen.gave_up);
                tally.prefix_differs += usize::from(seen.prefix_differs);
                tally.chunks_differ += usize::from(seen.chunks_differ);
                tally.other_chunks += usize::from(seen.other_chunks);
            }
            Err(wrong) => tally.wrong.push((index, case, wrong)),
        }
    }
}

fn judge(session: &mut Session, case: &Case) -> Option<Wrong> {
    let answer = session.ask(&[case.question()]).remove(0);
    case.judge(&value(&answer)).err()
}
