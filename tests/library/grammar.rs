//! Grammars: llama.cpp's own cases, and the project's examples.

use std::path::Path;

use obverse::grammar::peg::{Grammar, Parser, Status};
use obverse::grammar::reader::{Reader, Template};
use obverse::parser::Event;
use obverse::value::{Map, Value, json};

fn cases() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/peg/llama.json");
    json::parse(&std::fs::read_to_string(path).expect("a file")).expect("JSON")
}

/// A member that is there.
fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value
        .get(key)
        .map(|found| found.as_str().expect("a string"))
}

fn input(case: &Value) -> Vec<u8> {
    match text(case, "bytes") {
        Some(bytes) => bytes
            .split(' ')
            .map(|byte| u8::from_str_radix(byte, 16).expect("a byte"))
            .collect(),
        None => text(case, "text").expect("a text").as_bytes().to_vec(),
    }
}

/// A parser that has read a text in pieces, and its status.
fn read(grammar: &Grammar, pieces: &[&[u8]], partial: bool) -> (Parser, Status) {
    let mut parser = Parser::new(grammar);
    for piece in pieces {
        parser.feed(piece).expect("no limit");
    }
    if !partial {
        parser.finish().expect("no limit");
    }
    let status = parser.status();
    (parser, status)
}

struct Case<'a> {
    name: String,
    grammar: &'a Grammar,
    template: &'a Template,
    case: &'a Value,
    input: Vec<u8>,
}

impl Case<'_> {
    fn is(&self, key: &str) -> bool {
        self.case.get(key) == Some(&Value::from(true))
    }

    fn run(&self, pieces: &[&[u8]]) {
        let partial = self.is("partial");
        let (parser, status) = read(self.grammar, pieces, partial);
        let expected = text(self.case, "status").expect("a status");
        let name = &self.name;
        match (expected, status) {
            ("match", Status::Match { end }) => {
                if let Some(expected) = self.case.get("end") {
                    assert_eq!(&Value::count(end), expected, "{name}");
                }
            }
            // It would if the text ended here; more of it can change that.
            ("match", Status::NeedsMore) if partial => {
                let ended = parser.as_it_stands().expect("no limit");
                assert!(ended.status().is_match(), "{name}");
            }
            ("no-match", Status::NoMatch) | ("needs-more", Status::NeedsMore) => {}
            (expected, status) => panic!("{name}: {status:?} instead of {expected}"),
        }
        let tree = parser.tree();
        let bytes = &self.input;
        if let Some(expected) = self.case.get("tags").and_then(Value::as_object) {
            let mut found = Map::new();
            for node in tree.nodes() {
                found.insert(node.tag().expect("a tag"), Value::from(node.text(bytes)));
            }
            for (tag, expected) in expected {
                assert_eq!(found.get(tag), Some(expected), "{name}: {tag}");
            }
            assert_eq!(expected.is_empty(), found.is_empty(), "{name}");
        }
        if let Some(tag) = text(self.case, "tree_has_no") {
            assert!(tree.find(tag).is_none(), "{name}");
        }
        self.run_message(pieces, partial);
        self.run_read(pieces);
    }

    fn run_message(&self, pieces: &[&[u8]], partial: bool) {
        let Some(expected) = self.case.get("message") else {
            return;
        };
        let mut reader = Reader::new(self.template);
        let sink = &mut |_: Event<'_>| ();
        for piece in pieces {
            reader.feed(piece, sink);
        }
        if !partial {
            reader.finish(sink);
        }
        assert_eq!(reader.take_errors(), [], "{}", self.name);
        let message = Value::Object(reader.into_message());
        assert_eq!(&message, expected, "{}", self.name);
    }

    /// How far it was read for certain: the end of a tag around everything.
    fn run_read(&self, pieces: &[&[u8]]) {
        let Some(expected) = self.case.get("read") else {
            return;
        };
        let mut document = self.grammar.to_value();
        if let Value::Object(members) = &mut document {
            let root = members.get("root").cloned().expect("a root");
            let mut tagged = Map::new();
            tagged.insert("tag", Value::from("all"));
            tagged.insert("of", root);
            members.insert("root", Value::Object(tagged));
        }
        let grammar = Grammar::from_value(&document).expect("a grammar");
        let (parser, _) = read(&grammar, pieces, true);
        let all = parser.tree().find("all").expect("a node");
        assert_eq!(&Value::count(all.end()), expected, "{}", self.name);
    }

    /// A text in which the grammar matches somewhere, or nowhere.
    fn run_anywhere(&self) {
        let expected = text(self.case, "status") == Some("match");
        let found = (0..self.input.len()).find_map(|at| {
            let (parser, status) = read(self.grammar, &[&self.input[at..]], false);
            status.is_match().then_some((at, parser))
        });
        assert_eq!(found.is_some(), expected, "{}", self.name);
        let tags = self.case.get("tags").and_then(Value::as_object);
        if let (Some((at, parser)), Some(tags)) = (found, tags) {
            for (tag, expected) in tags {
                let node = parser.tree().find(tag).expect("a node");
                assert_eq!(
                    &Value::from(node.text(&self.input[at..])),
                    expected,
                    "{}",
                    self.name
                );
            }
        }
    }
}

#[test]
fn what_llama_cpp_expects_is_so_however_a_text_is_cut() {
    let cases = cases();
    let groups = cases
        .get("groups")
        .and_then(Value::as_array)
        .expect("groups");
    let mut count = 0;
    for group in groups {
        let title = text(group, "name").expect("a name");
        let document = group.get("grammar").expect("a grammar");
        let template =
            Template::from_value(document).unwrap_or_else(|error| panic!("{title}: {error}"));
        for case in group.get("cases").and_then(Value::as_array).expect("cases") {
            let input = input(case);
            let case = Case {
                name: format!("{title}: {:?}", String::from_utf8_lossy(&input)),
                grammar: &template.grammar,
                template: &template,
                case,
                input: input.clone(),
            };
            count += 1;
            if case.is("anywhere") {
                case.run_anywhere();
                continue;
            }
            case.run(&[&input]);
            case.run(&input.chunks(1).collect::<Vec<_>>());
            case.run(&input.chunks(3).collect::<Vec<_>>());
        }
    }
    assert!(count > 150, "{count} cases");
}

#[test]
fn documents_of_grammars_validate() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/grammar.json");
    let schema = std::fs::read_to_string(path).expect("a file");
    let schema = serde_json::from_str(&schema).expect("JSON");
    let cases = cases();
    for group in cases
        .get("groups")
        .and_then(Value::as_array)
        .expect("groups")
    {
        let written = group.get("grammar").expect("a grammar");
        let grammar = Grammar::from_value(written).expect("a grammar");
        for document in [written, &grammar.to_value()] {
            let document = serde_json::Value::try_from(document).expect("JSON");
            assert_eq!(
                crate::support::schema::mismatch(&schema, &document),
                None,
                "{document}"
            );
        }
    }
    for wrong in [
        r#"{"root": "any"}"#,
        r#"{"peg": 1}"#,
        r#"{"peg": 1, "root": "<x>"}"#,
        r#"{"peg": 1, "root": {"untill": "x"}}"#,
        r#"{"peg": 1, "root": {"until": "x", "min": 1}}"#,
        r#"{"peg": 1, "root": "any", "message": {"reasonin": "x"}}"#,
    ] {
        let value = serde_json::from_str(wrong).expect("JSON");
        assert!(
            crate::support::schema::mismatch(&schema, &value).is_some(),
            "{wrong}"
        );
        assert!(Template::from_json(wrong).is_err(), "{wrong}");
    }
}
