//! Bulk work on all cores, its results in order: [`spread`] for a few big items, [`answer_lines`] for lines.
//!
//! Of lines there is one out for one in. A reader cuts the input into batches of whole lines, workers answer them, and the writer writes the answers in the
//! order of the batches. For each batch in flight the writer holds the end of a channel of its own, so waiting for them
//! in order is all the ordering there is. Their number is bounded, and with it the memory: a slow writer stops the
//! reader. A line that arrives alone is a batch, and the writer flushes whenever it would have to wait.

use std::io::{self, Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TryRecvError};
use std::thread;

use obverse::value::Value;

use super::input::{self, Size};
use super::status::Status;
use super::stop::Stop;
use super::wire;

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// From this size on, lines that arrived together are answered as several batches.
const BATCH: usize = 8 * 1024;

/// The stack of a worker: values nest, and walking them may recurse.
const STACK: usize = 8 * 1024 * 1024;

/// The answer to one line.
#[derive(Debug)]
pub(crate) struct Answer {
    /// A line, with its line feed.
    pub(crate) line: String,
    /// True if it is an error.
    pub(crate) failed: bool,
}

/// How bulk work ends.
#[derive(Debug)]
pub(crate) enum Ended {
    /// All lines are answered; `all_well` is true if none of the answers is an error.
    Answered { all_well: bool },
    /// The input broke off, for this reason. What came before is answered.
    Unreadable(io::Error),
}

/// The exit status of bulk work on the lines of `path`.
///
/// # Errors
///
/// That the lines could not all be read.
pub(crate) fn status(ended: Ended, path: &Path) -> Result<Status, Stop> {
    match ended {
        Ended::Answered { all_well: true } => Ok(Status::Done),
        Ended::Answered { all_well: false } => Ok(Status::Found),
        Ended::Unreadable(error) => Err(input::unreadable(path, &error).into()),
    }
}

struct Batch {
    content: Content,
    reply: SyncSender<Reply>,
}

enum Content {
    /// Whole lines.
    Lines(Vec<u8>),
    /// One line, which was too long to be kept.
    TooLong(Size),
}

#[derive(Default)]
struct Reply {
    lines: String,
    failed: bool,
}

/// Answers each line of `input`, without its line feed, and writes the answers to `output`; to a line that is longer than
/// `longest`, that it is. When nobody reads these any more,
/// that is the end; it counts what was answered until then.
///
/// # Errors
///
/// When `output` fails.
pub(crate) fn answer_lines(
    input: &mut (dyn Read + Send),
    output: &mut dyn Write,
    longest: Size,
    answer: &(dyn Fn(&[u8]) -> Answer + Sync),
) -> io::Result<Ended> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let (batches, work) = mpsc::sync_channel::<Batch>(workers);
    let (order, replies) = mpsc::sync_channel::<Receiver<Reply>>(4 * workers);
    let work = Mutex::new(work);
    thread::scope(|scope| {
        // Owned here, so that the workers end even when not all of them can be started.
        let (batches, order) = (batches, order);
        for _ in 0..workers {
            thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || work_off(&work, answer))?;
        }
        let reader = scope.spawn(move || read(input, longest, &batches, &order));
        let mut all_well = true;
        let written = write(&replies, output, &mut all_well);
        // The reader stops when nobody takes its replies any more. If it waits for one to be taken, dropping the receiver wakes it.
        drop(replies);
        let read = reader.join().unwrap_or(Ok(()));
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Ok(Ended::Answered { all_well });
            }
            written => written?,
        }
        Ok(match read {
            Ok(()) => Ended::Answered { all_well },
            Err(error) => Ended::Unreadable(error),
        })
    })
}

/// Does the same work on each item, on all cores, and hands the results on in the order of the items, each as soon as it
/// is its turn.
///
/// # Errors
///
/// The error that `take` returns; no further item is begun then.
pub(crate) fn spread<T: Sync, R: Send, E>(
    items: &[T],
    work: &(dyn Fn(&T) -> R + Sync),
    take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    spread_over(None, items, work, take)
}

/// Spreads work over so many threads, if their number is given.
///
/// # Errors
///
/// As [`spread`].
pub(crate) fn spread_over<T: Sync, R: Send, E>(
    workers: Option<NonZero<usize>>,
    items: &[T],
    work: &(dyn Fn(&T) -> R + Sync),
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let workers = workers
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZero::get);
    let (senders, receivers): (Vec<_>, Vec<_>) = items.iter().map(|_| mpsc::channel::<R>()).unzip();
    let senders: Vec<Mutex<Option<Sender<R>>>> = senders
        .into_iter()
        .map(|sender| Mutex::new(Some(sender)))
        .collect();
    let next = AtomicUsize::new(0);
    let work_off = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                return;
            };
            // Gone with this turn, so that the receiver does not wait for a worker that panicked.
            let sender = senders[index]
                .lock()
                .ok()
                .and_then(|mut sender| sender.take());
            let result = work(item);
            if let Some(sender) = sender {
                let _ = sender.send(result);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers.min(items.len()) {
            let started = thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, work_off);
            if started.is_err() {
                work_off();
            }
        }
        for receiver in receivers {
            let Ok(result) = receiver.recv() else {
                break;
            };
            if let Err(error) = take(result) {
                next.store(items.len(), Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    })
}

/// Hands batches of whole lines to the workers, and the ends of their channels to the writer. Ends early without an
/// error when nobody takes them any more. Of a line that is longer than `longest` nothing is kept.
fn read(
    input: &mut dyn Read,
    longest: Size,
    batches: &SyncSender<Batch>,
    order: &SyncSender<Receiver<Reply>>,
) -> io::Result<()> {
    let send = |content: Content| {
        let (reply, replied) = mpsc::sync_channel(1);
        order.send(replied).is_ok() && batches.send(Batch { content, reply }).is_ok()
    };
    let mut buffer = vec![0; PIECE];
    let mut begun = Vec::new();
    // How much of that is a line whose end has not come yet; and whether the rest of one is passed over.
    let mut open = 0;
    let mut skips = false;
    loop {
        let piece = input::read_piece(input, &mut buffer)?;
        if piece.is_empty() {
            break;
        }
        for line in piece.split_inclusive(|byte| *byte == b'\n') {
            let is_whole = line.ends_with(b"\n");
            if skips {
                skips = !is_whole;
                continue;
            }
            let length = open + line.len();
            if (length - usize::from(is_whole)) as u64 > longest.0 {
                begun.truncate(begun.len() - open);
                open = 0;
                skips = !is_whole;
                let before = std::mem::take(&mut begun);
                if !before.is_empty() && !send(Content::Lines(before)) {
                    return Ok(());
                }
                if !send(Content::TooLong(longest)) {
                    return Ok(());
                }
                continue;
            }
            begun.extend_from_slice(line);
            open = if is_whole { 0 } else { length };
            if is_whole && begun.len() >= BATCH && !send(Content::Lines(std::mem::take(&mut begun)))
            {
                return Ok(());
            }
        }
        let whole = begun.len() - open;
        if whole > 0 {
            let rest = begun.split_off(whole);
            if !send(Content::Lines(std::mem::replace(&mut begun, rest))) {
                return Ok(());
            }
        }
    }
    if !begun.is_empty() {
        send(Content::Lines(begun));
    }
    Ok(())
}

/// The answer to a line that was not kept.
fn too_long(longest: Size) -> Answer {
    let message = format!("the line is longer than the limit of {} bytes", longest.0);
    let error = wire::error("input", &message);
    Answer {
        line: wire::line(wire::object([("error", Value::Object(error))])),
        failed: true,
    }
}

fn work_off(work: &Mutex<Receiver<Batch>>, answer: &(dyn Fn(&[u8]) -> Answer + Sync)) {
    loop {
        let next = match work.lock() {
            Ok(work) => work.recv(),
            Err(_) => return,
        };
        let Ok(batch) = next else {
            return;
        };
        let mut reply = Reply::default();
        let mut add = |answer: Answer| {
            reply.lines.push_str(&answer.line);
            reply.failed |= answer.failed;
        };
        match batch.content {
            Content::TooLong(longest) => add(too_long(longest)),
            Content::Lines(lines) => {
                for line in lines.split_inclusive(|byte| *byte == b'\n') {
                    add(answer(line.strip_suffix(b"\n").unwrap_or(line)));
                }
            }
        }
        // A writer that is gone has nothing to be told.
        let _ = batch.reply.send(reply);
    }
}

/// Writes the replies in their order. `all_well` becomes false when one of them failed.
fn write(
    replies: &Receiver<Receiver<Reply>>,
    output: &mut dyn Write,
    all_well: &mut bool,
) -> io::Result<()> {
    while let Some(next) = receive(replies, output)? {
        let Some(reply) = receive(&next, output)? else {
            break;
        };
        *all_well &= !reply.failed;
        output.write_all(reply.lines.as_bytes())?;
    }
    output.flush()
}

/// The next item of a channel; before waiting for it, what is written is flushed.
fn receive<T>(from: &Receiver<T>, output: &mut dyn Write) -> io::Result<Option<T>> {
    match from.try_recv() {
        Ok(item) => Ok(Some(item)),
        Err(TryRecvError::Disconnected) => Ok(None),
        Err(TryRecvError::Empty) => {
            output.flush()?;
            Ok(from.recv().ok())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shout(line: &[u8]) -> Answer {
        let text = String::from_utf8_lossy(line).to_uppercase();
        Answer {
            failed: text.contains("BAD"),
            line: format!("{text}\n"),
        }
    }

    /// Gives its pieces one by one, then an error if there is one.
    struct Pieces(Vec<Vec<u8>>, Option<io::Error>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return self.1.take().map_or(Ok(0), Err);
            }
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    fn answered(pieces: Vec<Vec<u8>>) -> (String, bool) {
        let mut out = Vec::new();
        let ended = answer_lines(&mut Pieces(pieces, None), &mut out, input::MOST, &shout).unwrap();
        let all_well = matches!(ended, Ended::Answered { all_well: true });
        (String::from_utf8(out).unwrap(), all_well)
    }

    #[test]
    fn every_cut_of_the_input_gives_the_same_answers() {
        let text = "a\n\nbc\r\nlast";
        for cut in 0..=text.len() {
            let (head, tail) = text.split_at(cut);
            let pieces = [head, tail]
                .into_iter()
                .filter(|piece| !piece.is_empty())
                .map(|piece| piece.as_bytes().to_vec())
                .collect();
            assert_eq!(answered(pieces), ("A\n\nBC\r\nLAST\n".to_owned(), true));
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_in_its_place() {
        let text = "four\nlonger\nfour\n\nmuch longer";
        for cut in 1..text.len() {
            let (head, tail) = text.as_bytes().split_at(cut);
            let mut pieces = Pieces(vec![head.to_vec(), tail.to_vec()], None);
            let mut out = Vec::new();
            answer_lines(&mut pieces, &mut out, Size(4), &shout).unwrap();
            let long = too_long(Size(4)).line;
            let expected = format!("FOUR\n{long}FOUR\n\n{long}");
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{cut}");
        }
    }

    #[test]
    fn many_lines_keep_their_order() {
        let lines: Vec<String> = (0..20_000)
            .map(|number| format!("line {number}\n"))
            .collect();
        let text = lines.concat();
        let pieces = text
            .as_bytes()
            .chunks(PIECE - 7)
            .map(<[u8]>::to_vec)
            .collect();
        assert_eq!(answered(pieces).0, text.to_uppercase());
    }

    #[test]
    fn one_failure_is_remembered_and_stops_nothing() {
        assert_eq!(
            answered(vec![b"a\nbad\nb\n".to_vec()]),
            ("A\nBAD\nB\n".to_owned(), false)
        );
    }

    #[test]
    fn what_came_before_a_read_error_is_answered() {
        let mut out = Vec::new();
        let broken = Some(io::Error::other("gone"));
        let ended = answer_lines(
            &mut Pieces(vec![b"a\nb".to_vec()], broken),
            &mut out,
            input::MOST,
            &shout,
        )
        .unwrap();
        assert!(matches!(ended, Ended::Unreadable(_)));
        assert_eq!(out, b"A\n");
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..200).collect();
        let mut seen = Vec::new();
        let slow_first = |item: &u64| {
            thread::sleep(std::time::Duration::from_millis(
                5 * u64::from(item.is_multiple_of(7)),
            ));
            *item
        };
        let all = spread(&items, &slow_first, |item| {
            seen.push(item);
            Ok::<_, ()>(())
        });
        assert_eq!((all, &seen), (Ok(()), &items));
        let stopped = spread(&items, &slow_first, |item| {
            if item == 3 { Err(item) } else { Ok(()) }
        });
        assert_eq!(stopped, Err(3));
        assert_eq!(spread(&[], &slow_first, Err), Ok(()));
    }

    #[test]
    fn an_output_that_is_closed_ends_the_work() {
        struct Endless(&'static str);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let line = self.0.as_bytes();
                buffer[..line.len()].copy_from_slice(line);
                Ok(line.len())
            }
        }
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for (line, well) in [("\n", true), ("bad\n", false)] {
            let mut endless = Endless(line);
            let ended = answer_lines(&mut endless, &mut Closed, input::MOST, &shout).unwrap();
            assert!(matches!(ended, Ended::Answered { all_well } if all_well == well));
        }
    }
}
