//! Work on all cores.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The stack of a worker, in bytes: values nest, and walking them may recurse.
const STACK: usize = 8 << 20;

/// Does the work for each index, on so many threads if their number is given, else on all cores; the results in order. With
/// `stops` no further work is begun after an error, and all before it is there.
pub(crate) fn spread<T: Send, E: Send>(
    count: usize,
    threads: Option<usize>,
    stops: bool,
    work: &(dyn Fn(usize) -> Result<T, E> + Sync),
) -> Vec<Result<T, E>> {
    let threads = threads
        .and_then(NonZero::new)
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let work_off = || {
        let mut answers = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return answers;
            }
            let answer = work(index);
            if stops && answer.is_err() {
                next.store(count, Ordering::Relaxed);
            }
            answers.push((index, answer));
        }
    };
    let mut answers = thread::scope(|scope| {
        let begun = (1..threads.min(count)).map(|_| {
            thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, work_off)
        });
        // A thread that cannot be started leaves its work to the others.
        let begun: Vec<_> = begun.flatten().collect();
        let mut answers = work_off();
        for worker in begun {
            match worker.join() {
                Ok(more) => answers.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        answers
    });
    answers.sort_unstable_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
