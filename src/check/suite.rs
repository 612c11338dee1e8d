//! Finding fixtures: folders with a `response.txt`, and lines of `.jsonl` files.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::change::FileChange;
use super::fixture::{Fixture, FixtureError, MARK, RESPONSE, lacks_response};
use crate::diagnostic::Diagnostic;
use crate::response_schema;
use crate::response_template::config;
use crate::value::{Map, Value, json};

/// Folders may nest so deep.
const DEPTH: usize = 32;

/// A fixture that was found, not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FixtureFile {
    /// Its name: the folder's path, or the file's with the line's number and name.
    pub name: String,
    /// The folder, or the `.jsonl` file.
    pub path: PathBuf,
    /// For a line: its number, counted from one, and its text. None for a folder, and for a `.jsonl` file that is not UTF-8.
    pub line: Option<(usize, String)>,
}

/// Every fixture at or below a path, in the order of the names: a fixture's folder, a `.jsonl` file, or a folder of such.
/// Hidden folders and links are left out, and so are `.jsonl` files whose first line is no fixture. A folder that was meant to be a
/// fixture and has no response is one; that it has none is told where it is read, as is that a `.jsonl` file is not UTF-8.
///
/// # Errors
///
/// That the path, a folder below it or a file cannot be read.
pub fn find(path: &Path) -> Result<Vec<FixtureFile>, FixtureError> {
    let mut found = Vec::new();
    if path.is_file() {
        lines(path, &mut found)?;
    } else {
        folder(path, DEPTH, &mut found)?;
    }
    Ok(found)
}

fn folder(path: &Path, depth: usize, found: &mut Vec<FixtureFile>) -> Result<(), FixtureError> {
    if path.join(RESPONSE).is_file() {
        found.push(FixtureFile::whole(path));
        return Ok(());
    }
    let before = found.len();
    let root = path;
    let entries = fs::read_dir(path).map_err(|error| FixtureError::io(path, "read", &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden || path.is_symlink() {
            continue;
        }
        if path.is_dir() && depth > 0 {
            folder(&path, depth - 1, found)?;
        } else if is_suite_path(&path) && is_suite(&path) {
            lines(&path, found)?;
        }
    }
    // What holds fixtures is none itself, whatever else lies in it.
    if found.len() == before && lacks_response(root) {
        found.push(FixtureFile::whole(root));
    }
    Ok(())
}

/// Returns true if a `.jsonl` file that nobody named holds fixtures, as far as its first line tells.
fn is_suite(path: &Path) -> bool {
    let Ok(bytes) = fs::read(path) else {
        return false;
    };
    let bytes = bytes.strip_prefix(MARK_BYTES).unwrap_or(&bytes);
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let Some(first) = lines.find(|line| !line.trim_ascii().is_empty()) else {
        return false;
    };
    // A line of this kind is no JSON, and was meant for a fixture if it has the key of one.
    let Ok(first) = std::str::from_utf8(first) else {
        let key = b"\"response\"";
        return first.windows(key.len()).any(|bytes| bytes == key);
    };
    let members = json::parse(first).ok();
    members.is_some_and(|members| {
        members
            .get("response")
            .or_else(|| members.get("chunks"))
            .is_some()
    })
}

fn lines(path: &Path, found: &mut Vec<FixtureFile>) -> Result<(), FixtureError> {
    let bytes = fs::read(path).map_err(|error| FixtureError::io(path, "read", &error))?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        found.push(FixtureFile::whole(path));
        return Ok(());
    };
    for (index, line) in unmarked(text).lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let number = index + 1;
        let named = json::parse(line).ok().and_then(|line| {
            let name = line.get("name").or_else(|| line.get("id"))?;
            Some(
                name.as_str()
                    .map_or_else(|| json::to_string(name), str::to_owned),
            )
        });
        let place = format!("{}:{number}", path.display());
        found.push(FixtureFile {
            name: named.map_or_else(|| place.clone(), |name| format!("{place} {name}")),
            path: path.to_owned(),
            line: Some((number, line.to_owned())),
        });
    }
    Ok(())
}

/// The text without a byte order mark.
fn unmarked(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

impl FixtureFile {
    /// A folder, or a `.jsonl` file that cannot be taken line by line.
    fn whole(path: &Path) -> Self {
        Self {
            name: path.display().to_string(),
            path: path.to_owned(),
            line: None,
        }
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// As [`Fixture::read`].
    pub fn read(&self) -> Result<Fixture, FixtureError> {
        let Some((number, line)) = &self.line else {
            return match self.path.is_file() {
                true => Err(not_utf8(&self.path)),
                false => Fixture::read(&self.path),
            };
        };
        let wrong = |message: String| {
            let message = format!("line {number}: {message}");
            FixtureError::new(&self.path, Diagnostic::error("wrong-part", message))
        };
        match json::parse(line) {
            Ok(Value::Object(members)) => {
                Fixture::from_map(members).map_err(|error| wrong(error.to_string()))
            }
            Ok(other) => Err(wrong(format!(
                "a fixture must be an object, not {}",
                other.json_kind()
            ))),
            Err(error) => Err(wrong(format!(
                "not JSON: {} at byte {}",
                error.message(),
                error.offset()
            ))),
        }
    }

    /// The file in which its response stands.
    pub fn file(&self) -> PathBuf {
        match self.line {
            None if !self.path.is_file() => self.path.join(RESPONSE),
            _ => self.path.clone(),
        }
    }
}

/// The mistake of a suite that is not UTF-8, with the line.
fn not_utf8(path: &Path) -> FixtureError {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return FixtureError::io(path, "read", &error),
    };
    let at = match std::str::from_utf8(&bytes) {
        Err(error) => error.valid_up_to(),
        // Somebody mended it meanwhile.
        Ok(_) => bytes.len(),
    };
    let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    let message =
        format!("invalid UTF-8 at byte {at}, in line {line}: none of its fixtures is checked");
    let diagnostic = Diagnostic::error("invalid-utf8", message).with_hint(
        "JSON is UTF-8; a response that ends inside a character is recorded up to that character",
    );
    FixtureError::new(path, diagnostic)
}

/// A byte order mark as it stands in a file.
const MARK_BYTES: &[u8] = "\u{feff}".as_bytes();

/// The ending of a suite's name.
const SUITE: &str = "jsonl";

/// Returns true if a path is, or would be, that of a suite: a `.jsonl` file with a fixture on each line.
pub fn is_suite_path(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == SUITE)
}

/// The change by which fixtures come to stand at the end of a suite, and the names of those that are new; `None` when none is.
/// Those whose names it has already are left out. The suite need not be there; nothing is written.
///
/// # Errors
///
/// That the file cannot be read.
pub fn additions<'n>(
    path: &Path,
    fixtures: &[(&'n str, Fixture)],
) -> Result<Option<(FileChange, Vec<&'n str>)>, FixtureError> {
    let before = match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(FixtureError::io(path, "read", &error)),
    };
    let mut text = before.clone().unwrap_or_default();
    let there: Vec<Option<Value>> = unmarked(&text)
        .lines()
        .map(|line| json::parse(line).ok()?.get("name").cloned())
        .collect();
    let mut added = Vec::new();
    for (name, fixture) in fixtures {
        let named = Some(Value::from(*name));
        if there.contains(&named) {
            continue;
        }
        let mut members = Map::from_iter([("name".to_owned(), Value::from(*name))]);
        members.extend(fixture.to_map());
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&json::to_string(&Value::Object(members)));
        text.push('\n');
        added.push(*name);
    }
    let change = FileChange {
        path: path.to_owned(),
        before,
        after: Some(text),
    };
    Ok((!added.is_empty()).then_some((change, added)))
}

/// The changes of files by which fixtures that were found are kept where they were; of a `.jsonl` file the other lines stay as
/// they are. Nothing is written.
///
/// # Errors
///
/// That a file cannot be read.
pub fn changes(changed: &[(FixtureFile, Fixture)]) -> Result<Vec<FileChange>, FixtureError> {
    let mut all: Vec<FileChange> = Vec::new();
    let mut suites: Vec<(&Path, HashMap<usize, String>)> = Vec::new();
    for (found, fixture) in changed {
        let Some((number, line)) = &found.line else {
            all.extend(fixture.changes(&found.path)?);
            continue;
        };
        let line = json::to_string(&Value::Object(line_of(line, fixture)));
        match suites.iter_mut().find(|(path, _)| *path == found.path) {
            Some((_, lines)) => lines.insert(*number, line),
            None => {
                suites.push((&found.path, HashMap::from([(*number, line)])));
                None
            }
        };
    }
    for (path, lines) in suites {
        let before =
            fs::read_to_string(path).map_err(|error| FixtureError::io(path, "read", &error))?;
        let after = with_lines(&before, &lines);
        all.push(FileChange {
            path: path.to_owned(),
            before: Some(before),
            after: Some(after),
        });
    }
    Ok(all)
}

/// The text with other lines in the place of some, which are counted from one.
fn with_lines(text: &str, lines: &HashMap<usize, String>) -> String {
    let mut written = String::with_capacity(text.len());
    for (index, line) in text.split_inclusive('\n').enumerate() {
        match lines.get(&(index + 1)) {
            Some(new) => {
                if line.starts_with(MARK) {
                    written.push(MARK);
                }
                written.push_str(new);
                written.push_str(&line[line.trim_end_matches(['\r', '\n']).len()..]);
            }
            None => written.push_str(line),
        }
    }
    written
}

/// The members of a line, its name first, with the parts of a fixture.
fn line_of(line: &str, fixture: &Fixture) -> Map {
    let mut members = Map::new();
    if let Ok(Value::Object(before)) = json::parse(line) {
        for key in ["name", "id"] {
            members.extend(before.get(key).map(|value| (key, value.clone())));
        }
    }
    members.extend(fixture.to_map());
    members
}

/// The response template or response schema in whose folder, or below it, a fixture lies: the nearest `response_template.json`,
/// `response_schema.json`, or `tokenizer_config.json` that holds one.
pub fn template_around(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(template_in)
}

/// The response template or response schema that lies in a folder itself: `response_template.json`, `response_schema.json`, or
/// a `tokenizer_config.json` that holds one.
pub fn template_in(folder: &Path) -> Option<PathBuf> {
    let documents = ["response_template.json", "response_schema.json"];
    let mut documents = documents.iter().map(|name| folder.join(name));
    if let Some(document) = documents.find(|document| document.is_file()) {
        return Some(document);
    }
    let tokenizer = folder.join("tokenizer_config.json");
    let text = fs::read_to_string(&tokenizer).ok()?;
    let config = json::parse(&text).ok()?;
    let mut keys = [config::KEY, response_schema::KEY].into_iter();
    let holds = keys.any(|key| config.get(key).is_some_and(|held| *held != Value::Null));
    holds.then_some(tokenizer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in [
            (
                "model/tokenizer_config.json",
                r#"{"response_template": {}}"#,
            ),
            ("model/cases/plain/response.txt", "Hi"),
            ("model/cases/plain/events.jsonl", "{}"),
            ("model/cases/.hidden/response.txt", "Hi"),
            (
                "model/cases/many.jsonl",
                "{\"name\": \"a\", \"response\": \"A\"}\n\n{\"id\": 7, \"response\": \"B\"}\n[]\nx",
            ),
            ("model/cases/other.jsonl", "{\"text\": 1}"),
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn folders_and_lines_are_found() {
        let root = folder();
        let found = find(root.path()).unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|found| {
                found
                    .name
                    .strip_prefix(&root.path().join("model/cases").display().to_string())
                    .unwrap()
            })
            .collect();
        assert_eq!(
            names,
            [
                "/many.jsonl:1 a",
                "/many.jsonl:3 7",
                "/many.jsonl:4",
                "/many.jsonl:5",
                "/plain"
            ]
        );
        assert_eq!(found[1].read().unwrap().response, "B");
        assert_eq!(found[4].read().unwrap().response, "Hi");
        let message = |index: usize| found[index].read().unwrap_err().diagnostic.message.clone();
        assert_eq!(
            message(2),
            "line 4: a fixture must be an object, not a list"
        );
        assert!(message(3).starts_with("line 5: not JSON"), "{}", message(3));
        assert!(find(&root.path().join("nowhere")).is_err());
    }

    #[test]
    fn the_template_is_the_nearest_around() {
        let root = folder();
        let fixture = root.path().join("model/cases/plain");
        assert!(
            template_around(&fixture)
                .unwrap()
                .ends_with("model/tokenizer_config.json")
        );
        fs::write(root.path().join("model/cases/response_template.json"), "{}").unwrap();
        assert!(
            template_around(&fixture)
                .unwrap()
                .ends_with("model/cases/response_template.json")
        );
    }

    #[test]
    fn a_suite_grows_by_what_it_has_not() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("suite.jsonl");
        let fixture = |response: &str| Fixture {
            response: response.to_owned(),
            ..Fixture::default()
        };
        let (change, added) = additions(&path, &[("a", fixture("A"))]).unwrap().unwrap();
        assert_eq!((change.before, added), (None, vec!["a"]));
        assert!(!path.exists(), "nothing is written");
        let text = change.after.unwrap();
        fs::write(&path, text.trim_end()).unwrap();
        let more = [("a", fixture("other")), ("b", fixture("B"))];
        let (change, added) = additions(&path, &more).unwrap().unwrap();
        assert_eq!(added, ["b"]);
        assert_eq!(change.before.as_deref(), Some(text.trim_end()));
        fs::write(&path, change.after.unwrap()).unwrap();
        assert_eq!(additions(&path, &more).unwrap(), None);
        let found = find(&path).unwrap();
        let responses: Vec<String> = found.iter().map(|f| f.read().unwrap().response).collect();
        assert_eq!(responses, ["A", "B"]);
    }

    #[test]
    fn a_line_that_changes_leaves_the_others_alone() {
        let root = folder();
        let found = find(&root.path().join("model/cases/many.jsonl")).unwrap();
        let mut fixture = found[1].read().unwrap();
        fixture.expected = Some(Value::Object(Map::new()));
        let other = found[0].read().unwrap();
        let written = changes(&[(found[1].clone(), fixture), (found[0].clone(), other)]).unwrap();
        assert_eq!(written.len(), 1, "both are lines of one file");
        assert_eq!(
            written[0].after.as_deref(),
            Some(
                "{\"name\": \"a\", \"response\": \"A\"}\n\n{\"id\": 7, \"response\": \"B\", \"expected\": {}}\n[]\nx"
            )
        );
        let new = |number: usize| HashMap::from([(number, "c".to_owned())]);
        assert_eq!(with_lines("a\r\nb", &new(1)), "c\r\nb");
        assert_eq!(with_lines("a\r\nb", &new(2)), "a\r\nc");
    }
}
