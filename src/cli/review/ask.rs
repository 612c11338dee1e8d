//! The questions, and what the answers do.

use std::io::{self, Write};

use super::diff::unified;
use super::keys::Keys;
use crate::cli::check::Pending;
use crate::cli::color::{BOLD, DIM, GREEN, paint};
use crate::cli::escape;
use crate::cli::status::Stop;

/// What the keys do.
const HELP: &str = "\
  y  take it: write it now
  n  leave it
  a  take it and all the rest
  q  leave it and all the rest
  ?  this
";

/// What a key means.
enum Answer {
    Take,
    Leave,
    TakeAll,
    LeaveAll,
}

/// Shows each change and does with it what the key says. Returns how many were taken.
pub(super) fn ask(
    all: &[Pending],
    keys: &mut dyn Keys,
    out: &mut dyn Write,
) -> Result<usize, Stop> {
    let mut taken = 0;
    let mut takes_all = false;
    for (index, pending) in all.iter().enumerate() {
        if !takes_all {
            show(pending, index + 1, all.len(), out)?;
            match answer(keys, out)? {
                Answer::Take => {}
                Answer::TakeAll => takes_all = true,
                Answer::Leave => {
                    writeln!(out, "left\n")?;
                    continue;
                }
                Answer::LeaveAll => {
                    writeln!(out, "left, and all the rest\n")?;
                    break;
                }
            }
        }
        pending.take()?;
        taken += 1;
        writeln!(
            out,
            "{}  {}\n",
            paint(GREEN, "taken"),
            escape::line(&pending.name)
        )?;
    }
    writeln!(out, "{taken} taken, {} left", all.len() - taken)?;
    Ok(taken)
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
        writeln!(out, "\n{}", unified(change))?;
    }
    Ok(())
}

fn answer(keys: &mut dyn Keys, out: &mut dyn Write) -> io::Result<Answer> {
    loop {
        write!(out, "take it? [y, n, a, q, ?] ")?;
        out.flush()?;
        let Some(key) = keys.next()? else {
            return Ok(Answer::LeaveAll);
        };
        match key.to_ascii_lowercase() {
            'y' => return Ok(Answer::Take),
            'n' => return Ok(Answer::Leave),
            'a' => return Ok(Answer::TakeAll),
            'q' => return Ok(Answer::LeaveAll),
            _ => write!(out, "\n{HELP}")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use obverse::check::Change;

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

    /// Changes of three files, answered with these keys: how many were taken, what was shown, and what the files are then.
    fn answered(keys: &'static str) -> (usize, String, String) {
        let folder = tempfile::tempdir().unwrap();
        let pending = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "old\n").unwrap();
            Pending::of_files(
                name,
                vec![Change {
                    path,
                    before: Some("old\n".to_owned()),
                    after: Some("new\n".to_owned()),
                }],
            )
        };
        let all = ["a", "b", "c"].map(pending);
        let mut out = Vec::new();
        let taken = ask(&all, &mut Typed(keys), &mut out).unwrap();
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        let files: Vec<String> = all
            .iter()
            .map(|pending| read(&pending.shown[0].path))
            .collect();
        let shown = String::from_utf8(out).unwrap();
        (taken, shown, files.concat().replace('\n', " "))
    }

    #[test]
    fn each_key_does_what_the_help_says() {
        for (keys, taken, files) in [
            ("yny", 2, "new old new "),
            ("na", 2, "old new new "),
            ("yq", 1, "new old old "),
            ("y", 1, "new old old "),
            ("", 0, "old old old "),
            ("x?YNn", 1, "new old old "),
        ] {
            let (count, shown, after) = answered(keys);
            assert_eq!((count, after.as_str()), (taken, files), "{keys:?}: {shown}");
        }
        let (_, shown, _) = answered("?nnn");
        assert!(
            shown.contains("- old") && shown.contains("+ new"),
            "{shown}"
        );
        assert_eq!(shown.matches("q  leave it").count(), 1, "{shown}");
        assert!(shown.ends_with("0 taken, 3 left\n"), "{shown}");
    }

    #[test]
    fn what_changed_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "newer\n").unwrap();
        let change = Change {
            path: path.clone(),
            before: Some("old\n".to_owned()),
            after: Some("new\n".to_owned()),
        };
        let pending = Pending::of_files("a", vec![change]);
        let stopped = ask(&[pending], &mut Typed("y"), &mut Vec::new());
        assert!(
            matches!(stopped, Err(Stop::Problem(problem)) if problem.diagnostics[0].code == "changed")
        );
        assert_eq!(std::fs::read_to_string(path).unwrap(), "newer\n");
    }
}
