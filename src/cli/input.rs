//! Reading files, with `-` for standard input.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use obverse::check::{self, FixtureError, FixtureFile};
use obverse::diagnostic::Diagnostic;
use obverse::value::{Value, json};

use super::escape;
use super::problem::{Document, Problem};

/// How much of a file or a stream is read whole, where nobody says otherwise. What is read is meant for people's machines: an
/// endless stream must end in an error, not in their memory.
pub(crate) const MOST: Size = Size(256 << 20);

/// A number of bytes, as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

const UNITS: [(char, u32); 3] = [('G', 30), ('M', 20), ('K', 10)];

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS
            .iter()
            .find(|(_, shift)| self.0 > 0 && self.0.is_multiple_of(1 << shift));
        match whole {
            Some((unit, shift)) => write!(f, "{}{unit}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Size {
    /// So many bytes as a length in memory.
    pub(crate) fn in_memory(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unit = UNITS
            .iter()
            .find_map(|(unit, shift)| Some((text.strip_suffix(*unit)?, *shift)));
        let (digits, shift) = unit.unwrap_or((text, 0));
        let number: u64 = digits.parse().map_err(|_| {
            "expected a number of bytes, such as 1000000, 512K, 64M or 2G".to_owned()
        })?;
        let size = number.checked_mul(1 << shift);
        size.map(Self).ok_or_else(|| "that is too much".to_owned())
    }
}

/// Returns true if the path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of the file in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_stdin(path) {
        "<stdin>".to_owned()
    } else {
        escape::line(&path.display().to_string()).into_owned()
    }
}

/// Opens a file for raw reads: whatever is there is returned, nothing waits for a line or a full buffer.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>, Problem> {
    if is_stdin(path) {
        return Ok(Box::new(io::stdin()));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// Returns the problem that a file cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Problem {
    Problem::failed("unreadable", format!("cannot read {}: {error}", name(path)))
}

/// One piece of what arrives; empty at the end. `buffer` is what it is read into.
pub(crate) fn read_piece<'b>(
    input: &mut dyn Read,
    buffer: &'b mut [u8],
) -> Result<&'b [u8], io::Error> {
    loop {
        match input.read(buffer) {
            Ok(count) => return Ok(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The whole text of a file.
pub(crate) fn read_text(path: &Path) -> Result<String, Problem> {
    read_text_from(open(path)?.as_mut(), path)
}

/// The whole text of a file that is open.
fn read_text_from(input: &mut dyn Read, path: &Path) -> Result<String, Problem> {
    const HINT: &str =
        "it is read whole: look whether this is the file that is meant, or give a part of it";
    read_at_most(input, path, MOST, HINT)
}

/// The whole text of a file that is open, which may be so long; `hint` is what to do where it is longer.
pub(crate) fn read_at_most(
    input: &mut dyn Read,
    path: &Path,
    most: Size,
    hint: &str,
) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    input
        .take(most.0.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > most.0 {
        let message = format!(
            "{} is longer than the limit of {} bytes",
            name(path),
            most.0
        );
        return Err(Problem::failed("limit", message).with_hint(hint));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        not_utf8(&name(path), error.as_bytes(), offset)
    })
}

/// Returns the problem that bytes are not UTF-8 from `offset` on.
pub(crate) fn not_utf8(name: &str, bytes: &[u8], offset: usize) -> Problem {
    // Up to the offset the lossy form has the same bytes, so it can show the place.
    let shown = String::from_utf8_lossy(bytes);
    let end = offset + shown[offset..].chars().next().map_or(0, char::len_utf8);
    Problem::of(
        Diagnostic::error("invalid-utf8", format!("invalid UTF-8 at byte {offset}"))
            .with_span(offset..end),
    )
    .about(Document::new(name, shown))
}

/// The longest conversation that is read back.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct MaxText {
    /// How long a text, or a line of --jsonl, may be: bytes, or 512K, 64M, 2G
    #[arg(long = "max-text", value_name = "SIZE", default_value_t = MOST)]
    pub(crate) most: Size,
}

impl MaxText {
    /// The whole text of a file.
    pub(crate) fn read(self, path: &Path) -> Result<String, Problem> {
        const HINT: &str =
            "--max-text allows more; --jsonl takes many conversations, each on a line of its own";
        read_at_most(open(path)?.as_mut(), path, self.most, HINT)
    }
}

/// A JSON document and its text.
pub(crate) fn read_json(path: &Path) -> Result<(Value, String), Problem> {
    let mut text = read_text(path)?;
    // Some editors begin a file with a byte order mark.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    match json::parse(&text) {
        Ok(value) => Ok((value, text)),
        Err(error) => Err(not_json(&name(path), text, &error)),
    }
}

/// Returns the problem that a text is not JSON.
pub(crate) fn not_json(name: &str, text: String, error: &json::JsonError) -> Problem {
    let at = error.offset();
    Problem::of(
        Diagnostic::error("json-syntax", format!("not JSON: {}", error.message()))
            .with_span(at..at),
    )
    .about(Document::new(name, text))
}

/// A JSON list in a file.
pub(crate) fn read_list(path: &Path, what: &str) -> Result<Vec<Value>, Problem> {
    let (value, text) = read_json(path)?;
    match value {
        Value::Array(items) => Ok(items),
        other => {
            let message = format!("{what} must be a list, not {}", other.json_kind());
            let start = text.len() - text.trim_start().len();
            Err(
                Problem::of(Diagnostic::error("wrong-type", message).with_span(start..start + 1))
                    .about(Document::new(name(path), text)),
            )
        }
    }
}

/// The JSON list in a file that may be given.
pub(crate) fn read_given_list(
    path: Option<&Path>,
    what: &str,
) -> Result<Option<Vec<Value>>, Problem> {
    path.map(|path| read_list(path, what)).transpose()
}

/// Refuses to read standard input twice.
pub(crate) fn one_stdin<'p>(
    paths: impl IntoIterator<Item = Option<&'p Path>>,
) -> Result<(), Problem> {
    let taken = paths
        .into_iter()
        .flatten()
        .filter(|path| is_stdin(path))
        .count();
    if taken > 1 {
        return Err(Problem::failed(
            "usage",
            "standard input can be read once, but `-` is given for several files",
        ));
    }
    Ok(())
}

/// Finds the fixtures at a path: a folder of them, or a suite.
pub(crate) fn find_fixtures(path: &Path) -> Result<Vec<FixtureFile>, Problem> {
    check::find(path).map_err(|error| fixture_problem(&error))
}

/// The problem of a fixture that cannot be read or written.
pub(crate) fn fixture_problem(error: &FixtureError) -> Problem {
    let problem = Problem::of(*error.diagnostic.clone());
    let name = name(&error.path);
    problem.about(match &error.text {
        Some(text) => Document::new(name, text.as_str()),
        None => Document { name, text: None },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (text, size) in [
            ("0", 0),
            ("1000", 1000),
            ("3K", 3 << 10),
            ("64M", 64 << 20),
            ("2G", 2 << 30),
        ] {
            let read: Size = text.parse().unwrap();
            assert_eq!((read, read.to_string().as_str()), (Size(size), text));
        }
        assert_eq!("1024".parse(), Ok(Size(1 << 10)));
        for text in [
            "",
            "M",
            "-1",
            "1.5G",
            "1T",
            "99999999999999999999",
            "99999999999G",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_as_long_as_the_limit_is_read() {
        let read = |most| read_at_most(&mut "abc".as_bytes(), Path::new("-"), Size(most), "less");
        assert_eq!(read(3).unwrap(), "abc");
        let problem = read(2).unwrap_err();
        let found = &problem.diagnostics[0];
        assert_eq!(
            (found.message.as_str(), found.hint.as_deref()),
            ("<stdin> is longer than the limit of 2 bytes", Some("less"))
        );
    }
}
