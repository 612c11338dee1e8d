//! Derived response templates load in transformers and parse there what they parse here.

mod support;

use obverse::chat_template;
use obverse::derive::{Derivation, Options, Verdict, derive};
use obverse::value::{Map, Value, json};

fn derive_file(name: &str, path: &std::path::Path) -> Option<Derivation> {
    let source = chat_template::load(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    derive(&source.assuming_tokens(), &Options::default()).ok()
}

/// Every chat template on the list comes to this verdict.
fn come_to(verdict: Verdict, list: &str) {
    let corpus = support::corpus::templates();
    if corpus.is_empty() {
        return;
    }
    let list = std::fs::read_to_string(list).expect("the list");
    for name in list.lines().filter(|line| !line.starts_with('#')) {
        let (_, path) = corpus
            .iter()
            .find(|(known, _)| known == name)
            .unwrap_or_else(|| panic!("the corpus has no {name}"));
        let derivation = derive_file(name, path).unwrap_or_else(|| panic!("{name} is not derived"));
        let report = &derivation.report;
        assert_eq!(report.verdict, verdict, "{name}: {:#?}", report.findings);
        assert!(report.rounds.passed >= 10, "{name}: {:?}", report.rounds);
    }
}

#[test]
fn real_chat_templates_are_proved() {
    come_to(Verdict::Proved, "tests/corpus/proved.txt");
}

#[test]
fn real_chat_templates_are_derived_as_far_as_the_format_goes() {
    come_to(Verdict::Inexpressible, "tests/corpus/inexpressible.txt");
}

/// Whatever comes back here, of the whole corpus and of the project's own chat templates, is parsed by the reference to the
/// same messages.
#[test]
fn the_reference_parses_the_same() {
    let mut files = support::corpus::templates();
    for entry in std::fs::read_dir("chat_templates").expect("the folder") {
        let path = entry.expect("an entry").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jinja")
        {
            files.push((path.display().to_string(), path));
        }
    }
    let mut questions = Vec::new();
    let mut expected = Vec::new();
    let mut proved = 0;
    for (name, path) in &files {
        let Some(derivation) = derive_file(name, path)
            .filter(|derivation| derivation.report.verdict != Verdict::NotProved)
        else {
            continue;
        };
        proved += 1;
        let template = derivation.document.to_value();
        for case in derivation.cases {
            let question = Map::from_iter([
                ("template".to_owned(), template.clone()),
                ("prefix".to_owned(), Value::from(case.prefix)),
                ("response".to_owned(), Value::from(case.response)),
                ("tools".to_owned(), Value::from(case.tools)),
            ]);
            questions.push(json::to_string(&Value::Object(question)));
            expected.push((name, case.message));
        }
    }
    let Some(answers) = support::reference::ask("parse.py", &questions) else {
        return;
    };
    for ((answer, (name, message)), question) in answers.iter().zip(expected).zip(&questions) {
        let answer = json::parse(answer).expect("JSON");
        assert_eq!(
            answer.get("message"),
            Some(&message),
            "{name}: the reference parses differently: {question}\n{answer:?}"
        );
    }
    println!("{} messages of {proved} response templates", answers.len());
    assert!(proved > 10 && answers.len() > 500);
}
