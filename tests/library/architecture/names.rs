//! The names of what is public: a type that may grow says so, and a name stands for one thing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::sources;
use crate::support::rust_source::scan;

/// The public types that others may build and match on as they are, since they are not to grow: those that are given to the library,
/// and those whose parts are all that there can be. Whatever else is public is `#[non_exhaustive]`.
const COMPLETE: &[&str] = &[
    // Made by whoever calls.
    "Case",
    "ExpectedError",
    "Fixture",
    "Format",
    "Prompt",
    "Recorded",
    "Sample",
    "SpecialToken",
    "Window",
    // Documents, whose keys their formats say.
    "Advance",
    "ArgumentKind",
    "Connection",
    "ConnectionPart",
    "ConversationFormat",
    "DefinitionLayout",
    "DefinitionStep",
    "DefinitionText",
    "Delimiter",
    "Document",
    "Encoding",
    "FieldDocument",
    "Handing",
    "Holds",
    "Hole",
    "InputText",
    // All that there is.
    "Edge",
    "InputStep",
    "Origin",
    "Progress",
    "Severity",
    "Side",
    "Step",
    "Value",
    "Verdict",
];

/// Names that several rooms have, each for its own. They mean the same thing of different rooms, and are written with the room.
const SHARED: &[&str] = &[
    "Conversation",
    "Derivation",
    "DeriveError",
    "Difference",
    "ErrorKind",
    "Example",
    "Failure",
    "Finding",
    "Grammar",
    "Growth",
    "Invalid",
    "Limits",
    "Loaded",
    "Options",
    "Outcome",
    "Reader",
    "Reasoning",
    "Report",
    "Rule",
    "Sample",
    "Source",
    "Status",
    "Step",
    "Template",
    "Verdict",
];

/// A public type.
struct Public {
    name: String,
    file: PathBuf,
    /// True if code outside of the crate can neither build it nor rely on its parts being all.
    may_grow: bool,
}

/// The types that a file declares as `pub` at its own level, and that are no part of the binary.
fn public_types(path: &Path, text: &str) -> Vec<Public> {
    if path.starts_with("cli") {
        return Vec::new();
    }
    let code = scan(text).code;
    let mut found = Vec::new();
    let mut attributes = String::new();
    // A struct without a body, or whose parts are all private, cannot be built outside anyway.
    let lines: Vec<&str> = code.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let words = line.strip_prefix("pub ").unwrap_or_default();
        let declared = ["struct ", "enum "]
            .iter()
            .find_map(|kind| words.strip_prefix(kind));
        if let Some(declared) = declared {
            let name = declared.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let body = lines[at + 1..].iter().take_while(|line| **line != "}");
            let is_closed = words.starts_with("struct ")
                && (!declared.trim_end().ends_with('{')
                    || body.clone().any(|line| {
                        let field = line.strip_prefix("    ").unwrap_or_default();
                        field.starts_with(|c: char| c.is_ascii_lowercase())
                            && !field.starts_with("pub ")
                            && field.contains(':')
                    }));
            found.push(Public {
                name: name.clone().next().unwrap_or_default().to_owned(),
                file: path.to_owned(),
                may_grow: is_closed || attributes.contains("non_exhaustive"),
            });
        }
        match line.starts_with("#[") || !line.ends_with('}') && !attributes.is_empty() {
            true if declared.is_none() && !line.trim().is_empty() => attributes.push_str(line),
            _ if line.trim().is_empty() => {}
            _ => attributes.clear(),
        }
        // An attribute ends where something is declared.
        if line.starts_with("pub ") || line.starts_with("fn ") || line.starts_with("impl") {
            attributes.clear();
        }
    }
    found
}

#[test]
fn what_may_grow_says_so() {
    let closed: Vec<String> = sources()
        .iter()
        .flat_map(|(path, text)| public_types(path, text))
        // The debugger is for the binary alone.
        .filter(|found| !found.file.starts_with("tui"))
        .filter(|found| !found.may_grow && !COMPLETE.contains(&found.name.as_str()))
        .map(|found| format!("{}: {}", found.file.display(), found.name))
        .collect();
    assert!(
        closed.is_empty(),
        "these need #[non_exhaustive], and a way to be made where others make them: {closed:#?}"
    );
    let all: Vec<Public> = sources()
        .iter()
        .flat_map(|(path, text)| public_types(path, text))
        .collect();
    for name in COMPLETE {
        let is_needed = all
            .iter()
            .any(|found| found.name == *name && !found.may_grow);
        assert!(is_needed, "no public type {name} is complete");
    }
}

#[test]
fn a_public_name_stands_for_one_thing() {
    let mut names: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (path, text) in sources() {
        for found in public_types(&path, &text) {
            names.entry(found.name).or_default().push(found.file);
        }
    }
    let several: BTreeMap<_, _> = names.iter().filter(|(_, files)| files.len() > 1).collect();
    let new: Vec<_> = several
        .iter()
        .filter(|(name, _)| !SHARED.contains(&name.as_str()))
        .collect();
    assert!(
        new.is_empty(),
        "one name for several things, name them by what they are: {new:#?}"
    );
    for shared in SHARED {
        assert!(
            several.contains_key(&(*shared).to_owned()),
            "{shared} is there once: take it off the list"
        );
    }
}

/// The names of a module, from the crate's root.
type Module = Vec<String>;

/// The module that a file is; the crate's root is empty.
fn module(path: &Path) -> Module {
    let parts = path.with_extension("");
    let names = parts.iter().map(|part| part.to_string_lossy().into_owned());
    names
        .filter(|name| name != "mod" && name != "lib")
        .collect()
}

/// The re-exports of things that are public where they are declared, too, since every module on the way to them is: these have two paths.
fn public_twice(files: &[(PathBuf, String)]) -> Vec<String> {
    let mut modules: BTreeMap<Module, Vec<String>> = BTreeMap::new();
    let mut uses: Vec<(Module, String)> = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| !path.starts_with("cli")) {
        let code = scan(text).code;
        let here = module(path);
        let declared = |start: &str| -> Vec<String> {
            let all = format!("\n{code}");
            let start = format!("\n{start} ");
            let found = all.split(start.as_str()).skip(1);
            found
                .filter_map(|rest| rest.split([';', '{']).next())
                .map(|name| name.trim().to_owned())
                .collect()
        };
        for used in declared("pub use") {
            uses.push((here.clone(), used));
        }
        let open = declared("pub mod");
        modules.entry(here).or_default().extend(open);
    }
    let mut found = Vec::new();
    for (here, used) in uses {
        // A list of names ends at its brace, and leaves the module's name; a single name stands last.
        let mut steps: Vec<String> = used
            .split("::")
            .map(|step| step.trim().to_owned())
            .collect();
        let name = steps.pop().unwrap_or_default();
        let mut from = match steps.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("super") => here[..here.len().saturating_sub(1)].to_vec(),
            _ => here.clone(),
        };
        let is_named = |step: &&String| matches!(step.as_str(), "crate" | "self" | "super");
        let is_rooted = steps.first().as_ref().is_some_and(is_named);
        let mut is_open = !steps.is_empty();
        for step in &steps[usize::from(is_rooted)..] {
            let known = modules.get(&from);
            is_open &= known.is_some_and(|names| names.contains(step));
            from.push(step.clone());
        }
        if is_open {
            found.push(format!("{}: {}::{name}", here.join("::"), from.join("::")));
        }
    }
    found
}

#[test]
fn nothing_is_public_under_two_paths() {
    let found = public_twice(&sources());
    assert!(
        found.is_empty(),
        "take back the re-export, or make the module that it comes from private: {found:#?}"
    );
}

#[test]
fn a_second_path_is_found() {
    let files = [
        ("lib.rs", "pub mod room;\nmod hidden;\n"),
        (
            "room/mod.rs",
            "pub mod open;\nmod closed;\npub use open::It;\npub use closed::Other;\npub use self::open::{\n    A, B,\n};\n\
             pub use crate::hidden::Third;\npub(crate) use open::Fourth;\n",
        ),
        (
            "room/closed.rs",
            "pub use crate::room::open::Fifth;\npub use super::open::Sixth;\n",
        ),
    ];
    let files = files.map(|(path, text)| (PathBuf::from(path), text.to_owned()));
    assert_eq!(
        public_twice(&files),
        [
            "room: room::open::It",
            "room: room::open::",
            "room::closed: room::open::Fifth",
            "room::closed: room::open::Sixth",
        ]
    );
}

#[test]
fn a_type_that_may_grow_is_told_from_one_that_may_not() {
    let types = |text: &str| -> Vec<(String, bool)> {
        let found = public_types(Path::new("room/it.rs"), text);
        found
            .into_iter()
            .map(|one| (one.name, one.may_grow))
            .collect()
    };
    let text = "/// It.\n#[derive(Debug)]\npub struct Options {\n    pub a: u8,\n}\n\n#[non_exhaustive]\n#[derive(Debug)]\npub enum Error {\n    A,\n}\n\n\
                pub struct Report {\n    a: u8,\n}\n\npub enum Event {\n    A,\n}\npub(crate) struct Limits {\n    pub a: u8,\n}\n";
    let expected = [
        ("Options", false),
        ("Error", true),
        ("Report", true),
        ("Event", false),
    ];
    assert_eq!(
        types(text),
        expected.map(|(name, may_grow)| (name.to_owned(), may_grow))
    );
    assert!(public_types(Path::new("cli/it.rs"), text).is_empty());
}
