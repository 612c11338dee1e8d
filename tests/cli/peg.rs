//! `obverse peg`, and `obverse parse` with a grammar.

use serde_json::{Value, json};

use crate::bench::Bench;

/// Reasoning and content, decided by the marker; calls.
const GRAMMAR: &str = r#"{
  "peg": 1,
  "root": {"sequence": [
    {"optional": {"sequence": [{"literal": "<t>"}, "cut", {"tag": "reasoning", "of": {"until": "</t>"}}, {"literal": "</t>"}]}},
    {"tag": "content", "of": {"until": "<c>"}},
    {"zero_or_more": {"tag": "tool", "of": {"sequence": [
      {"literal": "<c>"}, "cut", {"tag": "tool-name", "of": {"until": ":"}}, {"literal": ":"}, {"tag": "tool-args", "of": "python_dict"},
      {"literal": "</c>"}
    ]}}},
    "end"
  ]},
  "message": {"start_anchor": "[A]", "reasoning": "thinking"}
}"#;

fn bench() -> Bench {
    Bench::new().file("grammar.json", GRAMMAR)
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_exit_status_says_if_the_text_matches() {
    let bench = bench();
    for (arguments, text, status) in [
        ("peg grammar.json -", "<t>Hm</t>Yes.", 0),
        ("peg grammar.json -", "<t>Hm", 1),
        ("peg grammar.json - --partial", "<t>Hm", 0),
        ("peg grammar.json - --partial", "<c>f:[", 1),
        ("peg grammar.json nowhere", "", 2),
        ("peg template.json -", "", 2),
        ("peg grammar.json --rules", "", 2),
        ("peg - -", "", 2),
    ] {
        let run = bench.run_with(arguments, text);
        assert_eq!(run.status, status, "{arguments} {text}: {}", run.stderr);
        assert_eq!(run.stderr.is_empty(), status == 0, "{}", run.stderr);
    }
}

/// Without a start anchor all of the prefix is read, and what does not match there is not shown in the response.
#[test]
fn a_prefix_that_does_not_match_is_told_as_that() {
    let grammar = r#"{"peg": 1, "root": {"sequence": [{"literal": "<t>"}, {"tag": "content", "of": {"until": "<c>"}}, "end"]}, "message": {}}"#;
    let bench = bench().file("bare.json", grammar);
    let run = bench.run_with("parse bare.json --prefix SYSTEM", "<t>Hi");
    assert_eq!(run.status, 1, "{}", run.stderr);
    for told in [
        "--> the prefix",
        "give what the prompt has begun of the message alone",
    ] {
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("<stdin>"), "{}", run.stderr);
    assert_eq!(bench.run_with("parse bare.json", "<t>Hi").status, 0);
    let inside = bench.run_with("parse bare.json --prefix <t>", "Hi<c>");
    assert!(inside.stderr.contains("<stdin>"), "{}", inside.stderr);
}

#[test]
fn the_document_for_programs() {
    let run = bench().run_with("peg grammar.json - --format json", "Yes.<c>f:{'a': 1}</d>");
    assert_eq!(run.status, 1);
    let found = value(&run.stdout);
    assert_eq!(found["status"], "no-match");
    assert_eq!(
        found["failure"],
        json!({"at": 17, "expected": [{"what": "\"</c>\"", "rules": []}]})
    );
    assert_eq!(found["tree"][1]["children"][1]["text"], "{'a': 1}");
    assert_eq!(found["tree"][1]["partial"], true);
    assert_eq!(
        found["message"],
        json!({"role": "assistant", "content": "Yes."})
    );
    let printed = bench().run("peg grammar.json --format json").done();
    assert_eq!(value(&printed), value(GRAMMAR));
}

#[test]
fn what_the_text_holds_reaches_no_terminal() {
    let run = bench().run_with("peg grammar.json -", "\u{1b}[31mred<c>\u{1b}[31m");
    assert!(
        !run.stdout.contains("\u{1b}[31m") && !run.stderr.contains("\u{1b}[31m"),
        "{run:?}"
    );
}

#[test]
fn a_grammar_parses_responses_and_tells_the_events() {
    let bench = bench();
    let response = "Hm</t>Yes.<c>say:{'a': \"it's\", 'b': None}</c>";
    let whole = "parse grammar.json --prefix [A]<t>";
    let expected = json!({
        "role": "assistant", "thinking": "Hm", "content": "Yes.",
        "tool_calls": [{"type": "function", "function": {"name": "say", "arguments": {"a": "it's", "b": null}}}]
    });
    assert_eq!(value(&bench.run_with(whole, response).done()), expected);
    let events = |how: &str| {
        let told = bench
            .run_with(&format!("{whole} --events {how}"), response)
            .done();
        let mut joined: Vec<Value> = Vec::new();
        for line in told.lines().map(value) {
            match joined.last_mut() {
                Some(last) if last["type"] == "region_chunk" && line["type"] == "region_chunk" => {
                    let text = [&last["text"], &line["text"]]
                        .map(|text| text.as_str().unwrap_or_default());
                    last["text"] = text.concat().into();
                }
                _ => joined.push(line),
            }
        }
        joined
    };
    let told = events("");
    let kinds: Vec<&str> = told
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    let region = ["region_open", "region_chunk", "region_close"];
    assert_eq!(
        kinds,
        [&region[..], &region, &region, &["message"]].concat()
    );
    assert_eq!(told.last().map(|event| &event["message"]), Some(&expected));
    for how in ["--chunks 1b", "--chunks 3", "--chunks words"] {
        assert_eq!(events(how), told, "{how}");
    }
}

#[test]
fn a_response_that_does_not_match_gives_what_was_read() {
    let run = bench().run_with("parse grammar.json", "Yes.<c>say:{'a': }</c>");
    assert_eq!(run.status, 1);
    let found = value(&run.stdout);
    assert_eq!(found["error"]["kind"], "no-match");
    assert_eq!(found["error"]["span"], json!([17, 17]));
    assert_eq!(
        found["message"],
        json!({"role": "assistant", "content": "Yes."})
    );
    for refused in [
        "--deltas growth",
        "--events --state",
        "--skip-json-strings",
        "--max-regions 7",
    ] {
        let run = bench().run_with(&format!("parse grammar.json {refused}"), "");
        assert_eq!(run.status, 2, "{refused}");
        assert!(
            run.stderr.contains("TEMPLATE is a grammar"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn lines_may_be_parsed_with_grammars() {
    let line = json!({"id": 7, "chunks": ["Y", "es.<c>f:{}", "</c>"], "events": true, "template": value(GRAMMAR)});
    let answer = value(&bench().run_with("parse --jsonl", line.to_string()).done());
    assert_eq!(answer["id"], 7);
    assert_eq!(answer["message"]["content"], "Yes.");
    assert_eq!(answer["events"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        answer["events"][2][1]["value"]["function"],
        json!({"name": "f", "arguments": {}})
    );
    let tools = json!([{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}]);
    let line =
        json!({"response": "<c>f:{'a': '5'}</c>", "tools": tools, "template": value(GRAMMAR)});
    let answer = value(&bench().run_with("parse --jsonl", line.to_string()).done());
    let call = &answer["message"]["tool_calls"][0]["function"];
    assert_eq!(call["arguments"], json!({"a": 5}), "{answer}");
    let line = json!({"response": "", "template": {"peg": 1, "root": {"ref": "x"}}});
    let run = bench().run_with("parse --jsonl", line.to_string());
    assert_eq!(run.status, 1);
    assert!(
        run.stdout.contains("there is no such rule"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_chat_template_is_told_as_one() {
    let told = Bench::new().run("peg chat.jinja").refused(2);
    assert!(
        told.contains("error[no-response-template]: this is a chat template, not a grammar"),
        "{told}"
    );
    assert!(told.contains("`obverse grammar chat.jinja"), "{told}");
}
