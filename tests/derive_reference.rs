//! Derived response templates load in transformers and parse there what they parse here.

mod support;

use obverse::chat_template;
use obverse::derive::{Derivation, Options, Report, Verdict, derive};
use obverse::value::{Map, Value, json};

fn derive_file(name: &str, path: &std::path::Path) -> Option<Derivation> {
    let source = chat_template::load(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    derive(&source.assuming_tokens(), &Options::default()).ok()
}

/// Derives from each chat template of the corpus that the file lists and hands over its name and its report. Nothing
/// happens where there is no corpus.
fn for_each_listed(list: &str, check: impl Fn(&str, &Report)) {
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
        assert!(report.rounds.passed >= 10, "{name}: {:?}", report.rounds);
        check(name, report);
    }
}

#[test]
fn real_chat_templates_are_proved() {
    for_each_listed("tests/corpus/proved.txt", |name, report| {
        assert!(
            report.verified,
            "{name} is not proved: {:#?}",
            report.findings
        );
    });
}

#[test]
fn what_real_chat_templates_write_beyond_the_format_is_told_and_the_rest_proved() {
    for_each_listed("tests/corpus/inexpressible.txt", |name, report| {
        assert_eq!(
            report.verdict,
            Verdict::Inexpressible,
            "{name}: {:#?}",
            report.findings
        );
    });
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
        let Some(derivation) =
            derive_file(name, path).filter(|found| found.report.verdict != Verdict::NotProved)
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
    println!(
        "{} messages of {proved} proved response templates",
        answers.len()
    );
    assert!(proved > 10 && answers.len() > 500);
}
