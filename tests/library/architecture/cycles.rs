//! Files and folders that import each other.
//!
//! Each folder is looked at for itself. Its files and the folders in it are the nodes; one leads to another where some file of the
//! first imports something that is written in the second. An import that a `mod.rs` passes on counts as one of the file that it
//! comes from. A folder's own `mod.rs` is its door: what stands there all of the folder may use, and it may use all of the folder.
//! What is left once everything that imports nothing is taken away, and again, is in a cycle or imports one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::rust_source::scan;

/// A module's names from the crate's root.
type Module = Vec<String>;

/// One file's imports, tests left out.
#[derive(Debug, Default)]
struct File {
    /// The paths that are used, each as its names.
    used: Vec<Vec<String>>,
    /// The names that are passed on, with the path that each stands for.
    passed_on: BTreeMap<String, Vec<String>>,
}

/// The imports that close a cycle, by the folder they stand in: `folder: file -> file`.
pub(super) fn cycles(sources: &[(PathBuf, String)]) -> Vec<String> {
    let files = read(sources);
    let mut edges: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (module, file) in &files {
        for path in &file.used {
            let Some(target) = resolve(&files, module, path, 0) else {
                continue;
            };
            let shared = module.iter().zip(&target).take_while(|(a, b)| a == b);
            let shared = shared.count();
            // One of the two is the other's door.
            if shared == module.len() || shared == target.len() {
                continue;
            }
            let folder = edges.entry(module[..shared].to_vec()).or_default();
            let from = folder.entry(module[shared].clone()).or_default();
            from.insert(target[shared].clone());
        }
    }
    edges
        .iter()
        .flat_map(|(folder, edges)| {
            let left = in_cycles(edges);
            let lines = left.iter().flat_map(|(from, to)| {
                to.iter()
                    .map(|to| format!("{}: {from} -> {to}", folder.join("::")))
                    .collect::<Vec<_>>()
            });
            lines.collect::<Vec<_>>()
        })
        .collect()
}

/// The edges between nodes of which each leads on and each is led to.
fn in_cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    let mut left = edges.clone();
    loop {
        let before: usize = left.values().map(BTreeSet::len).sum();
        let led_to: BTreeSet<String> = left.values().flatten().cloned().collect();
        let leading: BTreeSet<String> = left.keys().cloned().collect();
        left.retain(|from, to| {
            to.retain(|to| leading.contains(to));
            !to.is_empty() && led_to.contains(from)
        });
        if left.values().map(BTreeSet::len).sum::<usize>() == before {
            return left;
        }
    }
}

fn read(sources: &[(PathBuf, String)]) -> BTreeMap<Module, File> {
    let mut files = BTreeMap::new();
    let mut only_tests: Vec<Module> = Vec::new();
    for (path, text) in sources {
        let Some(module) = module_of(path) else {
            continue;
        };
        let source = scan(text);
        let mut code = source.code.clone();
        for range in source.test_only() {
            for statement in source.code[range.clone()].split_inclusive(';') {
                if let Some(("", name)) = statement
                    .trim()
                    .rsplit_once("mod ")
                    .map(|(before, name)| (before.rsplit(']').next().unwrap_or("").trim(), name))
                {
                    let name = name.trim_end_matches(';').trim();
                    only_tests.push([module.clone(), vec![name.to_owned()]].concat());
                }
            }
            code.replace_range(range.clone(), &" ".repeat(range.len()));
        }
        files.insert(module, imports(&code));
    }
    files.retain(|module, _| !only_tests.iter().any(|tests| module.starts_with(tests)));
    files
}

/// The module that a file below `src/` is; `None` for the binary's own.
fn module_of(path: &Path) -> Option<Module> {
    let path = path.with_extension("");
    let mut names: Module = path
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    if names.last().is_some_and(|last| last == "mod") {
        names.pop();
    }
    match names[..] {
        [ref only] if only == "main" => None,
        [ref only] if only == "lib" => Some(Vec::new()),
        _ => Some(names),
    }
}

/// The imports in a file's code.
fn imports(code: &str) -> File {
    let mut file = File::default();
    let mut rest = code;
    let mut body = String::new();
    while let Some(at) = find_word(rest, "use ") {
        let (before, from) = rest.split_at(at);
        body.push_str(before);
        let Some(end) = from.find(';') else { break };
        let is_public = before
            .trim_end()
            .rsplit([';', '}', ']'])
            .next()
            .is_some_and(|words| words.trim_start().starts_with("pub"));
        for path in expanded(&from["use ".len()..end]) {
            if let (true, Some(last)) = (is_public, path.last()) {
                file.passed_on.insert(last.clone(), path.clone());
            }
            file.used.push(path);
        }
        rest = &from[end..];
    }
    body.push_str(rest);
    for word in ["crate::", "super::", "self::"] {
        for (start, _) in body.match_indices(word) {
            let before = body[..start].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '$')) {
                continue;
            }
            let end = body[start..]
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')))
                .map_or(body.len(), |length| start + length);
            file.used.push(names(&body[start..end]));
        }
    }
    file
}

/// Where a word begins that no other ends in.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let mut found = text.match_indices(word).map(|(at, _)| at);
    found.find(|at| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '}' | ')' | ']'))
    })
}

/// The names of a path, without what it is called here.
fn names(path: &str) -> Vec<String> {
    let path = path.split(" as ").next().unwrap_or(path);
    let names = path.split("::").map(str::trim);
    names
        .filter(|name| !name.is_empty() && *name != "self")
        .map(str::to_owned)
        .collect()
}

/// Every path of a tree of imports.
fn expanded(tree: &str) -> Vec<Vec<String>> {
    let Some((head, group)) = tree.split_once('{') else {
        return vec![names(tree)];
    };
    let head = names(head);
    let mut all = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' | ',' if depth == 0 => {
                let part = &group[start..at];
                if !part.trim().is_empty() {
                    let tails = expanded(part).into_iter();
                    all.extend(tails.map(|tail| [head.clone(), tail].concat()));
                }
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    all
}

/// The file that a path leads to, by way of what doors pass on; `None` outside the crate.
fn resolve(
    files: &BTreeMap<Module, File>,
    from: &[String],
    path: &[String],
    passed: usize,
) -> Option<Module> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let (mut module, mut rest) = match path.first()?.as_str() {
        "crate" => (Vec::new(), &path[1..]),
        "super" => (from[..from.len().checked_sub(ups)?].to_vec(), &path[ups..]),
        first => {
            // A file's own child, or the crate of that name.
            let child = [from, &[first.to_owned()]].concat();
            files.get(&child)?;
            (from.to_vec(), path)
        }
    };
    while let Some((first, tail)) = rest.split_first() {
        let child = [module.clone(), vec![first.clone()]].concat();
        if !files.contains_key(&child) {
            break;
        }
        (module, rest) = (child, tail);
    }
    // A module may pass on what was passed on to it; no chain of these is longer than the folders are deep.
    let passed_on = rest
        .first()
        .and_then(|name| files.get(&module)?.passed_on.get(name));
    match passed_on {
        Some(path) if passed < 8 => resolve(files, &module, path, passed + 1).or(Some(module)),
        _ => Some(module),
    }
}

#[test]
fn a_cycle_is_found_through_doors_and_within_folders() {
    let source = |files: &[(&str, &str)]| -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()))
            .collect();
        cycles(&files)
    };
    let plain = [
        ("room/mod.rs", "mod a;\nmod b;"),
        ("room/a.rs", "use super::b::B;"),
        ("room/b.rs", "fn f() { super::a::g() }"),
    ];
    assert_eq!(source(&plain), ["room: a -> b", "room: b -> a"]);
    let by_the_door = [
        (
            "room/mod.rs",
            "mod a;\nmod b;\npub(crate) use a::{A, C as D};",
        ),
        ("room/a.rs", "use crate::room::b::{B, E};"),
        ("room/b.rs", "use super::A;"),
    ];
    assert_eq!(source(&by_the_door).len(), 2);
    let folders = [
        ("room/mod.rs", "mod a;\nmod b;"),
        ("room/a/mod.rs", "mod c;"),
        ("room/a/c.rs", "use crate::room::{b::B};"),
        ("room/b.rs", "use super::a;"),
    ];
    assert_eq!(source(&folders), ["room: a -> b", "room: b -> a"]);
    let fine = [
        ("room/mod.rs", "mod a;\nmod b;\nuse a::A;\npub struct Z;"),
        ("room/a.rs", "use super::b::B;\nuse super::Z;"),
        (
            "room/b.rs",
            "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more { use crate::room::a::A; }",
        ),
        ("room/b/tests.rs", "use crate::room::a::A;"),
    ];
    assert_eq!(source(&fine), [""; 0]);
}
