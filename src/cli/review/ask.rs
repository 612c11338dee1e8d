//! The questions, and what the answers do.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;

use super::keys::Keys;
use crate::cli::check::Pending;
use crate::cli::color::{BOLD, DIM, GREEN, paint};
use crate::cli::diff::unified;
use crate::cli::escape;
use crate::cli::problem::Problem;
use crate::cli::stop::Stop;
use crate::cli::width;

/// The help of the keys.
const HELP: &str = "  y  take it: write it now
  n  leave it
  a  take it, and all the rest once their diffs are shown and that is confirmed
  q  leave it and all the rest
  ?  this
";

/// The meaning of a key.
enum Answer {
    Take,
    Leave,
    TakeAll,
    LeaveAll,
}

/// Where changes come from. Writing one can make others stale: a fixture that does not hold under a broken response template
/// holds again once the template is mended. So each is asked for again before it is shown, and before it is written.
pub(super) trait Changes {
    /// The change as it is now; `None` when it is no longer pending.
    fn now(&self, before: &Pending) -> Result<Option<Pending>, Problem>;

    /// Finds the changes that are pending now of the fixtures of a response template.
    fn of_template(&self, template: &Path) -> Result<Vec<Pending>, Problem>;
}

/// A review that is going on.
struct Review<'a> {
    changes: &'a dyn Changes,
    out: &'a mut dyn Write,
    /// The changes that are still to be asked about.
    waiting: VecDeque<Pending>,
    /// The changes that were left.
    left: Vec<Pending>,
    taken: usize,
}

/// Shows each change and does with it what the key says. Returns how many were left.
pub(super) fn ask(
    all: Vec<Pending>,
    changes: &dyn Changes,
    keys: &mut dyn Keys,
    out: &mut dyn Write,
) -> Result<usize, Stop> {
    let mut review = Review {
        changes,
        out,
        waiting: all.into(),
        left: Vec::new(),
        taken: 0,
    };
    while let Some(before) = review.waiting.pop_front() {
        let Some(pending) = changes.now(&before)? else {
            review.no_longer(&before)?;
            continue;
        };
        let number = review.taken + review.left.len() + 1;
        let count = number + review.waiting.len();
        show(&pending, number, count, review.out)?;
        match answer(keys, review.out)? {
            Answer::Take => review.take(pending)?,
            Answer::TakeAll => {
                review.take(pending)?;
                review.take_rest(keys)?;
            }
            Answer::Leave => {
                review.left.push(pending);
                writeln!(review.out, "left\n")?;
            }
            Answer::LeaveAll => {
                review.left.push(pending);
                review.left.extend(review.waiting.drain(..));
                writeln!(review.out, "left, and all the rest\n")?;
            }
        }
    }
    writeln!(
        review.out,
        "{} taken, {} left",
        review.taken,
        review.left.len()
    )?;
    Ok(review.left.len())
}

impl Review<'_> {
    /// Writes a change that was shown. One that has become another meanwhile is asked about again.
    fn take(&mut self, shown: Pending) -> Result<(), Stop> {
        let now = match self.changes.now(&shown)? {
            None => return self.no_longer(&shown),
            Some(now) if !now.is(&shown) => {
                let name = escape::line(&now.name);
                writeln!(self.out, "{name} has changed since it was shown\n")?;
                self.waiting.push_front(now);
                return Ok(());
            }
            Some(now) => now,
        };
        // What cannot be written, as a file that is read-only, is left, and the rest is asked about.
        if let Err(problem) = now.take() {
            writeln!(self.out, "left: {}\n", escape::line(problem.message()))?;
            self.left.push(now);
            return Ok(());
        }
        self.taken += 1;
        let name = escape::line(&now.name);
        writeln!(self.out, "{}  {name}\n", paint(GREEN, "taken"))?;
        if let Some(template) = now.changed_template() {
            self.look_again(template)?;
        }
        Ok(())
    }

    fn no_longer(&mut self, before: &Pending) -> Result<(), Stop> {
        let name = escape::line(&before.name);
        writeln!(self.out, "{name} is no longer pending\n")?;
        Ok(())
    }

    /// Finds anew what is pending of the fixtures of a response template that was written. What was left, and is what it
    /// was, stays left.
    fn look_again(&mut self, template: &Path) -> Result<(), Stop> {
        let fresh = self.changes.of_template(template)?;
        let is_fresh = |known: &Pending| fresh.iter().any(|found| found.is(known));
        self.waiting.retain(|known| !known.is_fixture_of(template));
        self.left
            .retain(|known| !known.is_fixture_of(template) || is_fresh(known));
        for found in fresh.into_iter().rev() {
            if !self.left.iter().any(|known| known.is(&found)) {
                self.waiting.push_front(found);
            }
        }
        Ok(())
    }

    /// Shows all that is still waiting, and takes it when that is confirmed; otherwise each is asked about by itself.
    fn take_rest(&mut self, keys: &mut dyn Keys) -> Result<(), Stop> {
        let mut shown = Vec::new();
        for before in std::mem::take(&mut self.waiting) {
            match self.changes.now(&before)? {
                Some(pending) => shown.push(pending),
                None => self.no_longer(&before)?,
            }
        }
        if shown.is_empty() {
            return Ok(());
        }
        for (index, pending) in shown.iter().enumerate() {
            show(pending, index + 1, shown.len(), self.out)?;
        }
        if confirmed(shown.len(), keys, self.out)? {
            shown.into_iter().try_for_each(|pending| self.take(pending))
        } else {
            self.waiting = shown.into();
            Ok(())
        }
    }
}

/// Asks once for all that was shown, and returns true if it is to be taken.
fn confirmed(count: usize, keys: &mut dyn Keys, out: &mut dyn Write) -> Result<bool, Stop> {
    loop {
        write!(out, "take these {count}? [y, or n to be asked about each] ")?;
        out.flush()?;
        match keys.next()?.map(|key| key.to_ascii_lowercase()) {
            Some('y') => {
                writeln!(out)?;
                return Ok(true);
            }
            None | Some('n' | 'q') => {
                writeln!(out)?;
                return Ok(false);
            }
            Some(_) => writeln!(out)?,
        }
    }
}

fn show(pending: &Pending, number: usize, count: usize, out: &mut dyn Write) -> io::Result<()> {
    let name = paint(BOLD, &escape::line(&pending.name));
    writeln!(
        out,
        "{name}  {}",
        paint(DIM, &format!("{number} of {count}"))
    )?;
    writeln!(out, "{}", pending.why)?;
    for change in &pending.shown {
        let diff = unified(change);
        writeln!(out, "\n{}", width::fit(&diff, width::of_messages()))?;
    }
    Ok(())
}

fn answer(keys: &mut dyn Keys, out: &mut dyn Write) -> io::Result<Answer> {
    loop {
        write!(out, "take it? [y, n, a, q, ?] ")?;
        out.flush()?;
        let key = keys.next()?;
        // The key itself is not shown, and what follows is on a line of its own.
        writeln!(out)?;
        let Some(key) = key else {
            return Ok(Answer::LeaveAll);
        };
        match key.to_ascii_lowercase() {
            'y' => return Ok(Answer::Take),
            'n' => return Ok(Answer::Leave),
            'a' => return Ok(Answer::TakeAll),
            'q' => return Ok(Answer::LeaveAll),
            _ => write!(out, "{HELP}")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use obverse::check::FileChange;

    use super::*;

    struct Typed(&'static str);

    impl Keys for Typed {
        fn next(&mut self) -> io::Result<Option<char>> {
            let mut rest = self.0.chars();
            let key = rest.next();
            self.0 = rest.as_str();
            Ok(key)
        }
    }

    /// Files that are to say "new", whatever they say.
    struct Files;

    fn pending(path: &Path) -> Option<Pending> {
        let before = std::fs::read_to_string(path).ok()?;
        let change = FileChange::new(path, Some(before.clone()), Some("new\n".to_owned()));
        let name = path.display().to_string();
        (before != "new\n").then(|| Pending::of_files(&name, vec![change]))
    }

    impl Changes for Files {
        fn now(&self, before: &Pending) -> Result<Option<Pending>, Problem> {
            Ok(pending(&before.shown[0].path))
        }

        fn of_template(&self, _: &Path) -> Result<Vec<Pending>, Problem> {
            Ok(Vec::new())
        }
    }

    /// Changes of three files, answered with these keys: how many were left, what was shown, and what the files are then.
    fn answered(keys: &'static str) -> (usize, String, String) {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
        for path in &paths {
            std::fs::write(path, "old\n").unwrap();
        }
        let all = paths.iter().filter_map(|path| pending(path)).collect();
        let mut out = Vec::new();
        let left = ask(all, &Files, &mut Typed(keys), &mut out).unwrap();
        let files: Vec<String> = paths
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        let shown = String::from_utf8(out).unwrap();
        (left, shown, files.concat().replace('\n', " "))
    }

    #[test]
    fn each_key_does_what_the_help_says() {
        for (keys, left, files) in [
            ("yny", 1, "new old new "),
            ("nay", 1, "old new new "),
            ("ay", 0, "new new new "),
            ("axy", 0, "new new new "),
            ("anny", 1, "new old new "),
            ("a", 2, "new old old "),
            ("yq", 2, "new old old "),
            ("y", 2, "new old old "),
            ("", 3, "old old old "),
            ("x?YNn", 2, "new old old "),
        ] {
            let (count, shown, after) = answered(keys);
            assert_eq!((count, after.as_str()), (left, files), "{keys:?}: {shown}");
        }
        let (_, shown, _) = answered("?nnn");
        assert!(
            shown.contains("- old") && shown.contains("+ new"),
            "{shown}"
        );
        assert_eq!(shown.matches("q  leave it").count(), 1, "{shown}");
        assert!(shown.ends_with("0 taken, 3 left\n"), "{shown}");
        // All that is taken has been shown before the question.
        let (_, shown, _) = answered("ay");
        let (before, _) = shown.split_once("take these 2?").expect("the question");
        assert_eq!(before.matches("+ new").count(), 3, "{shown}");
    }

    /// Changes a file as the key is pressed, as one does in an editor beside the review.
    struct Meanwhile<'p>(&'p Path, &'static [(char, &'static str)]);

    impl Keys for Meanwhile<'_> {
        fn next(&mut self) -> io::Result<Option<char>> {
            let Some(((key, text), rest)) = self.1.split_first() else {
                return Ok(None);
            };
            self.1 = rest;
            std::fs::write(self.0, text)?;
            Ok(Some(*key))
        }
    }

    #[test]
    fn what_changed_meanwhile_is_shown_anew_before_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let review = |keys: &'static [(char, &'static str)]| {
            std::fs::write(&path, "old\n").unwrap();
            let mut out = Vec::new();
            let all = vec![pending(&path).unwrap()];
            let left = ask(all, &Files, &mut Meanwhile(&path, keys), &mut out).unwrap();
            let file = std::fs::read_to_string(&path).unwrap();
            (left, file, String::from_utf8(out).unwrap())
        };
        for keys in [&[('y', "newer\n")][..], &[('a', "newer\n")]] {
            let (left, file, shown) = review(keys);
            assert_eq!((left, file.as_str()), (1, "newer\n"), "{shown}");
            assert!(
                shown.contains("has changed since") && shown.contains("- newer"),
                "{shown}"
            );
        }
        let (left, file, shown) = review(&[('y', "newer\n"), ('y', "newer\n")]);
        assert_eq!((left, file.as_str()), (0, "new\n"), "{shown}");
        let (left, file, shown) = review(&[('y', "new\n")]);
        assert_eq!((left, file.as_str()), (0, "new\n"), "{shown}");
        assert!(shown.contains("is no longer pending"), "{shown}");
    }
}
