//! Work on all cores.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::PyClass;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;

use crate::errors;

/// The stack of a worker, in bytes: values nest, and walking them may recurse.
const STACK: usize = 8 << 20;

/// How long Ctrl-C may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Why a parser that is at work cannot be used.
const AT_WORK: &str = "this parser is at work in another thread, and reads one response in one thread at a time: give each thread a parser of its own";

/// The object, to be changed.
///
/// # Errors
///
/// While another thread changes it, which has the interpreter released.
pub(crate) fn lent_mut<'py, T: PyClass<Frozen = False>>(
    object: &Bound<'py, T>,
) -> PyResult<PyRefMut<'py, T>> {
    let lent = object.try_borrow_mut();
    lent.map_err(|_| PyRuntimeError::new_err(AT_WORK))
}

/// The object, to be read.
///
/// # Errors
///
/// While another thread changes it.
pub(crate) fn lent<'py, T: PyClass>(object: &Bound<'py, T>) -> PyResult<PyRef<'py, T>> {
    let lent = object.try_borrow();
    lent.map_err(|_| PyRuntimeError::new_err(AT_WORK))
}

/// Does the work for each index with the interpreter released, on so many threads if their number is given, else on all cores; the results in
/// order. With `stops` no further work is begun after an error, and all before it is there. The calling thread waits, so that a signal ends the
/// work, once what is under way is done.
pub(crate) fn spread<T: Send, E: Send>(
    py: Python<'_>,
    count: usize,
    threads: Option<isize>,
    stops: bool,
    work: &(dyn Fn(usize) -> Result<T, E> + Sync),
) -> PyResult<Vec<Result<T, E>>> {
    let threads = threads
        .map(|threads| {
            let message = format!(
                "threads must be how many threads work, or None for one on each core, not {threads}"
            );
            let count = usize::try_from(threads).map_err(|_| PyValueError::new_err(message))?;
            Ok::<_, PyErr>(count)
        })
        .transpose()?
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
        let (sender, mut receiver) = mpsc::channel();
        let begin = |_| {
            let sender = sender.clone();
            let work_off = &work_off;
            let begun = thread::Builder::new().stack_size(STACK);
            // Whoever was interrupted does not listen any more.
            begun.spawn_scoped(scope, move || drop(sender.send(work_off())))
        };
        // A thread that cannot be started leaves its work to the others.
        let begun = (0..threads.min(count)).filter_map(|index| begin(index).ok());
        let mut open = begun.count();
        drop(sender);
        let mut answers = Vec::new();
        if open == 0 {
            return Ok(py.detach(work_off));
        }
        while open > 0 {
            let waiting = &mut receiver;
            match py.detach(move || waiting.recv_timeout(PATIENCE)) {
                Ok(more) => {
                    answers.extend(more);
                    open -= 1;
                }
                Err(RecvTimeoutError::Timeout) => {
                    py.check_signals()
                        .inspect_err(|_| next.store(count, Ordering::Relaxed))?;
                }
                // A worker ended without an answer.
                Err(RecvTimeoutError::Disconnected) => return Err(errors::panicked()),
            }
        }
        Ok(answers)
    })?;
    answers.sort_unstable_by_key(|(index, _)| *index);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}
