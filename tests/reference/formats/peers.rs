//! Our response templates beside the ones that TRL's authors wrote by hand, on the same responses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use obverse::derive::Verdict;
use obverse::parser::parse_response;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

use crate::support::comparison::parsed;
use crate::support::derived::Derived;
use crate::support::{corpus, reference};

use super::responses::{Response, responses};

/// How both fare with the responses of one chat template.
pub struct Peer {
    pub name: String,
    /// The name of their response template.
    pub theirs: String,
    verdict: Verdict,
    pub responses: usize,
    pub ours_right: usize,
    pub theirs_right: usize,
    /// What they parse and we do not, each to be shown.
    pub missed: Vec<String>,
    /// The kinds of responses that theirs get wrong, with how many of how many.
    pub wrong: Vec<String>,
}

impl Peer {
    /// Whether all that was tried of ours is proved.
    pub fn is_proved(&self) -> bool {
        self.verdict == Verdict::Proved
    }
}

/// One chat template with both response templates and the responses.
struct Bench<'a> {
    name: &'a str,
    theirs: &'a str,
    verdict: Verdict,
    documents: [Value; 2],
    responses: Vec<Response>,
}

/// Those of the chat templates beside their peers that have one; `None` where the peers or the reference are not there.
///
/// # Panics
///
/// When `are_all` and a peer has no chat template among them.
pub fn compared(all: &[Derived], are_all: bool) -> Option<Vec<Peer>> {
    reference::python()?;
    let path = corpus::dir()?.join("trl/response_templates.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        assert!(
            std::env::var_os("CI").is_none(),
            "the corpus lacks {}",
            path.display()
        );
        eprintln!(
            "skipped: no hand-written response templates; `tests/corpus/fetch.py` fetches them"
        );
        return None;
    };
    let theirs = parsed(&text);
    let chosen = theirs.get("chat_templates")?.as_object()?;
    let benches: Vec<Bench<'_>> = chosen
        .iter()
        .filter_map(|(file, name)| {
            let mut derived = all.iter();
            let derived =
                derived.find(|derived| derived.name.strip_prefix("trl/") == Some(file.as_str()));
            assert!(derived.is_some() || !are_all, "the corpus has no {file}");
            Some((file, name.as_str().expect("a name"), derived?))
        })
        .map(|(file, name, derived)| {
            let derivation = derived
                .outcome
                .as_ref()
                .unwrap_or_else(|error| panic!("{file} is not derived: {error}"));
            Bench {
                name: file,
                theirs: name,
                verdict: derivation.report.verdict,
                documents: [
                    derivation.document.to_value(),
                    theirs
                        .get("templates")
                        .and_then(|all| all.get(name))
                        .expect("a document")
                        .clone(),
                ],
                responses: responses(derived, derivation),
            }
        })
        .collect();
    let by_reference = ask(&benches);
    let mut by_reference = by_reference.chunks(2);
    Some(
        benches
            .iter()
            .map(|bench| {
                let answers: Vec<&[Option<Map>]> =
                    by_reference.by_ref().take(bench.responses.len()).collect();
                judge(bench, &answers)
            })
            .collect(),
    )
}

/// What the reference makes of every response with both documents, in turn.
fn ask(benches: &[Bench<'_>]) -> Vec<Option<Map>> {
    let questions: Vec<String> = benches
        .iter()
        .flat_map(|bench| {
            bench.responses.iter().flat_map(|response| {
                bench.documents.iter().map(|document| {
                    let question = Map::from_iter([
                        ("template".to_owned(), document.clone()),
                        ("prefix".to_owned(), Value::from(response.prefix.as_str())),
                        ("response".to_owned(), Value::from(response.text.as_str())),
                        ("tools".to_owned(), Value::from(response.tools.clone())),
                    ]);
                    json::to_string(&Value::Object(question))
                })
            })
        })
        .collect();
    let answers = reference::ask("parse.py", &questions).expect("the reference");
    answers
        .iter()
        .map(|answer| match members(answer).shift_remove("message") {
            Some(Value::Object(message)) => Some(message),
            _ => None,
        })
        .collect()
}

fn judge(bench: &Bench<'_>, answers: &[&[Option<Map>]]) -> Peer {
    let templates = bench.documents.clone().map(|document| {
        Arc::new(ResponseTemplate::from_value(&document).expect("a response template"))
    });
    let mut peer = Peer {
        name: bench.name.to_owned(),
        theirs: bench.theirs.to_owned(),
        verdict: bench.verdict,
        responses: bench.responses.len(),
        ours_right: 0,
        theirs_right: 0,
        missed: Vec::new(),
        wrong: Vec::new(),
    };
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut differing = BTreeSet::new();
    for (response, answers) in bench.responses.iter().zip(answers) {
        let expected = plain(&response.message);
        let mut right = [false; 2];
        for ((template, theirs), right) in templates.iter().zip(*answers).zip(&mut right) {
            let ours = parse_response(
                &response.text,
                Arc::clone(template),
                &response.prefix,
                &response.tools,
            )
            .ok();
            *right = ours.as_ref().map(plain) == Some(expected.clone());
            if ours != *theirs {
                differing.insert(response.kind.as_str());
            }
        }
        let [ours, theirs] = right;
        peer.ours_right += usize::from(ours);
        peer.theirs_right += usize::from(theirs);
        let (wrong, all) = kinds.entry(&response.kind).or_default();
        *all += 1;
        *wrong += usize::from(!theirs);
        if theirs && !ours {
            peer.missed.push(format!(
                "{} ({}): {:?} after {:?}\n  expected {}\n  ours     {:?}",
                bench.name,
                response.kind,
                response.text,
                response
                    .prefix
                    .chars()
                    .rev()
                    .take(60)
                    .collect::<Vec<_>>()
                    .iter()
                    .rev()
                    .collect::<String>(),
                json::to_string(&Value::Object(expected)),
                parse_response(
                    &response.text,
                    Arc::clone(&templates[0]),
                    &response.prefix,
                    &response.tools
                ),
            ));
        }
    }
    // The engines differ only where `docs/differences.md` says so, which has no place among these responses.
    assert!(
        differing.is_empty(),
        "{}: the reference parses otherwise: {differing:?}",
        bench.name
    );
    peer.wrong = kinds
        .into_iter()
        .filter(|(_, (wrong, _))| *wrong > 0)
        .map(|(kind, (wrong, all))| format!("{kind} ({wrong} of {all})"))
        .collect();
    peer
}

/// The members of a JSON object.
pub fn members(text: &str) -> Map {
    match parsed(text) {
        Value::Object(members) => members,
        other => panic!("{other:?}"),
    }
}

/// A message without what is not compared: the name of the reasoning's key, empty values, ids, and whether arguments are an
/// object or its text.
pub fn plain(message: &Map) -> Map {
    let mut out = Map::new();
    for (key, value) in message {
        if value.as_str() == Some("") || *value == Value::Array(Vec::new()) {
            continue;
        }
        let key = match key.as_str() {
            "reasoning_content" | "thinking" | "reasoning" => "reasoning",
            other => other,
        };
        out.insert(key.to_owned(), value.clone());
    }
    if let Some(Value::Array(calls)) = out.get_mut("tool_calls") {
        for call in calls {
            if let Value::Object(call) = call {
                call.shift_remove("id");
                if let Some(Value::Object(function)) = call.get_mut("function")
                    && let Some(text) = function.get("arguments").and_then(Value::as_str)
                    && let Ok(object) = json::parse(text)
                {
                    function.insert("arguments".to_owned(), object);
                }
            }
        }
    }
    out.sort_keys();
    out
}
