//! The fixtures of the project's own response templates: there are such for each, and transformers parses them to the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use obverse::check::{self, Effort, Fixture};
use obverse::diagnostic::Diagnostic;
use obverse::project::Project;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

/// Every response template of the project, with the names and contents of its fixtures.
fn all() -> Vec<(PathBuf, Vec<(String, Fixture)>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("obverse.toml")).expect("the file");
    let project = Project::read(&text, root).expect("a project");
    let templates = project.response_templates();
    templates
        .into_iter()
        .map(|template| {
            let places = project.belongings(&template).fixtures;
            let found = places
                .iter()
                .flat_map(|place| check::find(place).expect("fixtures"));
            let fixtures = found
                .map(|found| (found.name.clone(), found.read().expect("a fixture")))
                .collect();
            (template, fixtures)
        })
        .collect()
}

#[test]
fn every_response_template_has_its_fixtures() {
    let all = all();
    assert!(all.len() > 60, "{}", all.len());
    for (template, fixtures) in &all {
        for kind in ["plain", "truncated"] {
            assert!(
                fixtures.iter().any(|(name, _)| name.ends_with(kind)),
                "{} has no fixture `{kind}`",
                template.display()
            );
        }
        // A field that nothing fills is a field that nothing checks.
        let document =
            json::parse(&std::fs::read_to_string(template).expect("a file")).expect("JSON");
        let fields = document
            .get("fields")
            .and_then(Value::as_object)
            .expect("fields");
        for (field, _) in fields {
            let filled = |fixture: &Fixture| {
                fixture
                    .expected
                    .as_ref()
                    .is_some_and(|message| message.get(field).is_some_and(Value::is_truthy))
            };
            assert!(
                fixtures.iter().any(|(_, fixture)| filled(fixture)),
                "no fixture of {} fills `{field}`",
                template.display()
            );
        }
    }
}

/// A delimiter's path in the document, and the document with that delimiter misspelt; of a list of literals the first is.
fn broken(document: &Value) -> Vec<(String, Value)> {
    let fields = document
        .get("fields")
        .and_then(Value::as_object)
        .expect("fields");
    let keys = ["open", "open_pattern", "close", "close_pattern"];
    let anchors =
        ["start_anchor", "start_anchor_pattern"].map(|key| (vec![key], format!("$.{key}")));
    let delimiters = fields.iter().flat_map(|(field, _)| {
        keys.map(|key| {
            (
                vec!["fields", field.as_str(), key],
                format!("$.fields.{field}.{key}"),
            )
        })
    });
    anchors
        .into_iter()
        .chain(delimiters)
        .filter_map(|(path, name)| {
            let mut document = document.clone();
            let mut at = &mut document;
            for key in path {
                let Value::Object(members) = at else {
                    return None;
                };
                at = members.get_mut(key)?;
            }
            if let Value::Array(literals) = at {
                at = literals.first_mut()?;
            }
            let spelt = at.as_str()?.to_owned();
            *at = Value::from(misspelt(&spelt)?);
            Some((name, document))
        })
        .collect()
}

/// Returns true if a pattern that begins so looks behind at its end: a word there is no part of what the delimiter takes.
fn looks_behind(before: &str) -> bool {
    let mut groups = Vec::new();
    let mut is_escaped = false;
    for (at, c) in before.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '(' => groups.push(before[at..].starts_with("(?<=")),
            ')' => drop(groups.pop()),
            _ => {}
        }
    }
    groups.contains(&true)
}

/// With a sign put into its first word that it does not only look behind for, wherever it stands; `None` where it has none.
fn misspelt(delimiter: &str) -> Option<String> {
    let is_word = |at: usize| {
        let (before, from) = delimiter.split_at(at);
        // Not inside a word, not the name of a group, and not a class.
        let begins = !before.ends_with(|c: char| c.is_alphabetic() || c == '\\');
        let name = before.rfind("(?P").map(|group| &before[group..]);
        let is_name = name.is_some_and(|name| !name.contains(['>', ')']));
        begins
            && !is_name
            && !looks_behind(before)
            && from.chars().take_while(|c| c.is_alphabetic()).count() >= 3
    };
    let (at, first) = delimiter
        .char_indices()
        .find(|(at, c)| c.is_alphabetic() && is_word(*at))?;
    let word: String = delimiter[at..]
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect();
    let (head, tail) = word.split_at(first.len_utf8());
    let misspelt = format!("{head}~{tail}");
    // The names of groups stay as they are.
    let mut parts = delimiter.split("(?P");
    let mut spoilt = parts.next()?.replace(&word, &misspelt);
    for part in parts {
        let (name, rest) = part.split_at(part.find(['>', ')'])?);
        spoilt.push_str("(?P");
        spoilt.push_str(name);
        spoilt.push_str(&rest.replace(&word, &misspelt));
    }
    Some(spoilt)
}

/// The fixtures alone find nearly every delimiter that is misspelt, and tell which it is.
#[test]
fn a_misspelt_delimiter_is_found_and_named() {
    let (mut tried, mut unfound, mut unnamed) = (0, Vec::new(), Vec::new());
    for (path, fixtures) in all() {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let document = json::parse(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
        for (delimiter, document) in broken(&document) {
            let template = ResponseTemplate::from_value(&document).expect("a response template");
            let template = Arc::new(template);
            let told: Vec<Diagnostic> = fixtures
                .iter()
                .flat_map(|(_, fixture)| {
                    let prefix = fixture.prefix(None, None).expect("a prefix");
                    let (_, failures) =
                        check::check(fixture, &template, &prefix, &Effort::default());
                    check::explain(fixture, &template, &prefix, &failures, None)
                })
                .collect();
            let names = |told: &Diagnostic| {
                told.hint
                    .as_deref()
                    .is_some_and(|hint| hint.contains(&delimiter))
            };
            tried += 1;
            if told.is_empty() {
                unfound.push(format!("{name} {delimiter}"));
            } else if !told.iter().any(names) {
                unnamed.push(format!("{name} {delimiter}"));
            }
        }
    }
    assert!(tried > 300, "{tried}");
    // Left are branches for what comes before and after other turns, of which a response is one.
    for (what, list) in [("unfound", unfound), ("unnamed", unnamed)] {
        assert!(
            list.len() * 30 < tried,
            "{what}: {} of {tried}: {list:#?}",
            list.len()
        );
    }
}

/// Where the response does not parse, transformers raises, and what it had before is what is expected.
#[test]
fn transformers_parses_them_to_the_same() {
    let mut questions = Vec::new();
    let mut expected = Vec::new();
    for (template, fixtures) in all() {
        let document = std::fs::read_to_string(&template).expect("a file");
        let document = json::parse(&document).expect("JSON");
        for (name, fixture) in fixtures {
            let prefix = fixture.prefix(None, None).expect("a prefix");
            let question = Map::from_iter([
                ("template".to_owned(), document.clone()),
                ("prefix".to_owned(), Value::from(prefix.as_ref())),
                (
                    "response".to_owned(),
                    Value::from(fixture.response.as_str()),
                ),
                ("tools".to_owned(), Value::from(fixture.tools.clone())),
            ]);
            questions.push(json::to_string(&Value::Object(question)));
            expected.push((name, fixture));
        }
    }
    let Some(answers) = crate::support::reference::ask("parse.py", &questions) else {
        return;
    };
    for ((name, fixture), answer) in expected.iter().zip(&answers) {
        let answer = json::parse(answer).expect("JSON");
        let error = answer.get("error");
        assert_eq!(
            error.is_some(),
            fixture.error.is_some(),
            "{name}: {answer:?}"
        );
        let key = if error.is_some() { "output" } else { "message" };
        let found = answer
            .get(key)
            .and_then(Value::as_object)
            .expect("a message");
        // Empty values leave the message at its end, which an error does not reach.
        let wanted = fixture.expected.as_ref().expect("a message");
        let found: Map = found
            .iter()
            .filter(|(key, value)| value.is_truthy() || wanted.get(key).is_some())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let differences = check::differences(wanted, &Value::Object(found));
        assert!(differences.is_empty(), "{name}: {differences:#?}");
    }
}
