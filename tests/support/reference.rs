//! The reference, transformers as pinned in `tests/reference/requirements.txt`, run beside Obverse.
//!
//! A test asks a script in `tests/reference/` one JSON line at a time. Where there is no Python with the reference the
//! test is skipped and says so; in CI it fails.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The Python that has the reference installed: `OBVERSE_REFERENCE_PYTHON`, or `.venv/bin/python` of this checkout.
///
/// # Panics
///
/// In CI (`CI` set in the environment) when there is none.
pub fn python() -> Option<PathBuf> {
    let found = std::env::var_os("OBVERSE_REFERENCE_PYTHON")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/python")))
        .filter(|path| path.exists());
    if found.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "CI must have the reference: `.ci/run` installs it"
        );
        eprintln!("skipped: no reference; `tests/reference/install` sets one up");
    }
    found
}

/// Runs `tests/reference/SCRIPT` with `lines` on its standard input and returns the lines that it writes; `None` where
/// there is no reference.
///
/// # Panics
///
/// When the script fails or does not answer every line.
pub fn ask(script: &str, lines: &[String]) -> Option<Vec<String>> {
    let python = python()?;
    let mut child = Command::new(python)
        // What transformers has to say of missing frameworks is not for the tests.
        .env("TRANSFORMERS_VERBOSITY", "error")
        .arg(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/reference")
                .join(script),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the reference starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text = lines
        .iter()
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("the reference ends");
    writer
        .join()
        .expect("the writer ends")
        .expect("the reference reads");
    assert!(output.status.success(), "{script} failed");
    let answers: Vec<String> = String::from_utf8(output.stdout)
        .expect("the reference writes UTF-8")
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(answers.len(), lines.len(), "{script} answers every line");
    Some(answers)
}
