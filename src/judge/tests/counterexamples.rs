//! Counterexamples: the smallest message that fails, a plain one where a plain one fails.

use super::super::{Case, Failure, count_cuts, first_loss, parse};
use super::*;
use crate::value::Value;

#[test]
fn the_smallest_plain_message_stands_for_its_kind() {
    let chat = chat(&[SAID, CALLED].concat(), "");
    // Hostile texts fail alone, and of them the shortest is shown.
    let hostile = fields(&[
        r#""content": {"open": "<t>", "close": ["\"", "</t>"]}"#,
        CALLS,
    ]);
    let judgement = judged(&chat, &hostile);
    let smallest = row(&judgement, Kind::Content)
        .unwrap()
        .smallest
        .as_ref()
        .unwrap();
    assert!(smallest.response.contains('"'));
    assert!(judgement.failures.iter().all(|failure| !failure.plain));
    // A plain text fails as well, longer than the shortest hostile one.
    let both = hostile.replace(r#"["\"", "#, r#"["\"", "two", "#);
    let judgement = judged(&chat, &both);
    let first = &judgement.failures[0];
    assert!(first.plain);
    let hostile = judgement.failures.iter().filter(|failure| !failure.plain);
    let shortest = hostile
        .map(|failure| failure.found.response.len())
        .min()
        .unwrap();
    assert!(
        shortest < first.found.response.len(),
        "or the order proves nothing"
    );
    let smallest = row(&judgement, Kind::Content)
        .unwrap()
        .smallest
        .as_ref()
        .unwrap();
    assert_eq!(smallest.response, first.found.response);
    let lengths = |plain: bool| -> Vec<usize> {
        let failures = judgement
            .failures
            .iter()
            .filter(|failure| failure.plain == plain);
        failures
            .map(|failure| failure.found.response.len())
            .collect()
    };
    assert!(lengths(true).is_sorted() && lengths(false).is_sorted());
    assert!(
        judgement
            .failures
            .is_sorted_by_key(|failure| !failure.plain)
    );
}

#[test]
fn of_several_plain_messages_the_smallest_is_shown() {
    let judgement = judged(&chat(SAID, ""), &fields(&[THINKING]));
    let smallest = row(&judgement, Kind::Content)
        .unwrap()
        .smallest
        .as_ref()
        .unwrap();
    assert_eq!(smallest.response, "<t>Marigold thicket</t><end>");
    assert_eq!(judgement.failures[0].found.response, smallest.response);
}

/// A hostile message that leads the failures is made as small as it can be; a plain one is shown as it is.
#[test]
fn the_first_failure_is_shrunk_where_it_is_no_plain_one() {
    let response = fields(&[
        THINKING,
        r#""content": {"open": "<t>", "close": ["\"", "</t>"]}"#,
    ]);
    let judgement = judged(&chat(&[THOUGHT, SAID].concat(), ""), &response);
    let first = &judgement.failures[0].found;
    assert_eq!(first.response, "<t>{\"marigold\": null}</t><end>");
    assert_eq!(
        first.message.get("content").unwrap().as_str(),
        Some("{\"marigold\": null}")
    );
    assert_eq!(first.prefix, "<user>Cinder plume<end><bot>");
    let field = |value: &Value| {
        value
            .get("content")
            .map(|text| text.as_str().unwrap().to_owned())
    };
    assert_eq!(
        field(&first.expected).as_deref(),
        Some("{\"marigold\": null}")
    );
    assert_eq!(field(&first.parsed).as_deref(), Some("{"));
}

#[test]
fn a_failure_can_be_asked_for_again_and_made_smaller() {
    let chat = chat(&[THOUGHT, SAID, CALLED].concat(), "");
    let lone = CALLS.replace(r#""open": "<c>""#, r#""open_pattern": "(?<!</c>)<c>""#);
    Setting::default().ask(
        &chat,
        &fields(&[THINKING, CONTENT, &lone]),
        |judge, subject| {
            let judgement = judge.judge(subject);
            let failure: &Failure = judgement
                .failures
                .iter()
                .max_by_key(|failure| failure.found.response.len())
                .unwrap();
            assert!(!judge.brings_back(subject, failure.round));
            let shown = judge.failure(subject, failure.round).expect("it fails");
            assert!(shown.response.len() <= failure.found.response.len());
            let (message, found) = judge.smallest(subject, failure.round, failure.found.clone());
            assert_eq!(
                (message.reasoning.as_deref(), message.content.as_deref()),
                (None, None)
            );
            assert_eq!(message.calls.len(), 2, "two calls are needed");
            assert!(message.calls.iter().all(|call| call.arguments.is_empty()));
            assert!(found.response.len() < failure.found.response.len());
            assert!(
                judgement
                    .back
                    .iter()
                    .all(|round| judge.brings_back(subject, *round))
            );
            assert!(judge.message(failure.round).calls.len() > 1);
            assert!(judge.rendered().0 > 100);
            assert_eq!(judge.rules(), Default::default());
        },
    );
}

#[test]
fn what_speaks_of_a_marker_is_shown_where_it_is_taken_for_one() {
    let chat = chat(&[THOUGHT, SAID, CALLED].concat(), "");
    Setting::default().ask(
        &chat,
        &fields(&[THINKING, CONTENT, CALLS]),
        |judge, subject| {
            let parts = |marker: &str| -> Vec<&str> {
                judge
                    .speaks_of(subject, marker)
                    .into_iter()
                    .map(|(part, _)| part)
                    .collect()
            };
            assert_eq!(parts("</t>"), ["content"]);
            assert_eq!(parts("</r>"), ["reasoning"]);
            assert_eq!(parts("</c>"), ["arguments"]);
            assert!(parts("<x>").is_empty());
        },
    );
}

/// A message that speaks of a marker is handed over in the manner of the calls; where there are no calls, no call speaks of it.
#[test]
fn what_speaks_of_a_marker_is_handed_over_as_calls_are() {
    let called = "{% for c in m.tool_calls or [] %}<c>{{ c.function.name }}|{{ c.function.arguments + '' }}</c>{% endfor %}";
    let calls = named_calls("text");
    for (answer, expected) in [
        ([SAID, called].concat(), vec!["arguments"]),
        (SAID.to_owned(), vec![]),
    ] {
        Setting::default().ask(
            &chat(&answer, ""),
            &fields(&[CONTENT, &calls]),
            |judge, subject| {
                let found = judge.speaks_of(subject, "</c>").into_iter();
                assert_eq!(found.map(|(part, _)| part).collect::<Vec<_>>(), expected);
            },
        );
    }
    let changing = "{% set ns = [] %}{% for c in m.tool_calls or [] %}{% set _ = ns.append(c) %}{% endfor %}\
        {% for c in ns %}<c>{{ c.function | tojson }}</c>{% endfor %}";
    Setting::default().ask(
        &chat(&[SAID, changing].concat(), ""),
        &fields(&[CONTENT, CALLS]),
        |judge, _| {
            assert!(judge.rules().list_methods);
        },
    );
}

#[test]
fn cases_parse_to_their_messages() {
    let chat = chat(&[THOUGHT, SAID, CALLED].concat(), "");
    let response = fields(&[THINKING, CONTENT, CALLS]);
    let template = Arc::new(ResponseTemplate::from_json(&response).unwrap());
    let judgement = judged(&chat, &response);
    assert!(judgement.cases.len() >= judgement.rounds.passed);
    for case in &judgement.cases {
        assert_eq!(
            parse(&template, case, Scrutiny::Pieces),
            (case.message.clone(), None)
        );
        assert_eq!(first_loss(&template, case), None);
        assert_eq!(count_cuts(case), case.response.chars().count());
    }
    let broken = Case {
        response: "<c>{".to_owned(),
        ..judgement.cases[0].clone()
    };
    assert!(parse(&template, &broken, Scrutiny::EverySize).1.is_some());
    // Cut at its marker, it asks for a tool's arguments that are not there.
    let open = CALLS.replace(
        r#""content": "json""#,
        r#""content": "json", "optional": false"#,
    );
    let open = ResponseTemplate::from_json(&fields(&[THINKING, CONTENT, &open])).unwrap();
    let loss = first_loss(&Arc::new(open), &judgement.cases[0]).expect("a field is missing");
    assert!(
        loss.error
            .unwrap()
            .starts_with("cut here, it does not parse: ")
    );
}

#[test]
fn to_be_thorough_is_to_try_more() {
    let chat = chat(&[THOUGHT, SAID, CALLED].concat(), "");
    let response = fields(&[THINKING, CONTENT, CALLS]);
    let thorough = Setting {
        thorough: true,
        ..Setting::default()
    };
    let judgement = thorough.judge(&chat, &response);
    assert_all_back(&judgement);
    assert!(judgement.rounds.passed > judged(&chat, &response).rounds.passed);
}
