//! `obverse parse --jsonl`.

use std::fmt::Write as _;

use crate::bench::{Bench, TEMPLATE};
use insta::assert_snapshot;

/// Runs one line with a given template. The exit status and the answer.
fn answer(line: &str) -> String {
    let run = Bench::new().run_with("parse --jsonl template.json", line);
    assert_eq!(run.stderr, "");
    format!("exit {}\n{}", run.status, run.stdout)
}

#[test]
fn each_line_is_answered_in_its_place() {
    let bench = Bench::new();
    let mut input = String::new();
    let mut expected = String::new();
    for number in 0..2000 {
        let filler = "x".repeat(number % 37 * 40);
        writeln!(
            input,
            r#"{{"id": {number}, "response": "{filler}{number}"}}"#
        )
        .unwrap();
        writeln!(
            expected,
            r#"{{"id": {number}, "message": {{"role": "assistant", "content": "{filler}{number}"}}}}"#
        )
        .unwrap();
    }
    assert_eq!(
        bench.run_with("parse --jsonl template.json", &input).done(),
        expected
    );
    let bench = bench.file("lines", &input);
    assert_eq!(
        bench.run("parse --jsonl template.json lines").done(),
        expected
    );
}

#[test]
fn a_line_can_bring_everything() {
    let line = r#"{"id": {"any": [1e400]}, "prefix": "<assistant><think>", "events": true,
        "chunks": ["hm</th", "ink>a<call>{\"arguments\": {\"n\": \"1\"}, \"name\": \"f\"}</call>", "b"],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}}]}"#;
    assert_snapshot!(answer(&line.replace('\n', "")), @r#"
    exit 0
    {"id": {"any": [Infinity]}, "message": {"role": "assistant", "thinking": "hm", "content": "b", "tool_calls": [{"type": "function", "function": {"arguments": {"n": 1}, "name": "f"}}]}, "unclaimed": [{"start": 10, "end": 11, "text": "a", "cause": "replaced", "field": "content"}], "initial_events": [{"type": "region_open", "field": "thinking"}], "events": [[{"type": "region_chunk", "field": "thinking", "text": "hm", "dirty": false}], [{"type": "region_close", "field": "thinking", "value": "hm"}, {"type": "region_open", "field": "content"}, {"type": "region_chunk", "field": "content", "text": "a", "dirty": false}, {"type": "region_close", "field": "content", "value": "a"}, {"type": "region_open", "field": "tool_calls"}, {"type": "region_chunk", "field": "tool_calls", "text": "{\"arguments\": {\"n\": \"1\"}, \"name\": \"f\"}", "dirty": true}, {"type": "region_close", "field": "tool_calls", "value": {"type": "function", "function": {"arguments": {"n": 1}, "name": "f"}}}], [{"type": "region_open", "field": "content"}, {"type": "region_chunk", "field": "content", "text": "b", "dirty": false}]], "final_events": [{"type": "region_close", "field": "content", "value": "b"}]}
    "#);
}

#[test]
fn a_line_can_ask_for_deltas() {
    let line = r#"{"deltas": "growth", "chunks": ["Hi<call>{\"name\": \"f\", \"arg", "uments\": {\"a\": ", "1}}</call>"]}"#;
    assert_snapshot!(answer(line), @r#"
    exit 0
    {"message": {"role": "assistant", "content": "Hi", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}, "initial_deltas": [{"type": "text", "path": ["role"], "text": "assistant"}], "deltas": [[{"type": "text", "path": ["content"], "text": "Hi"}, {"type": "call", "index": 0, "path": ["tool_calls", 0], "name": "f"}], [{"type": "arguments", "index": 0, "text": "{\"a\": "}], [{"type": "arguments", "index": 0, "text": "1}"}, {"type": "call_done", "index": 0}]], "final_deltas": []}
    "#);
    let certain = answer(&line.replace("\"deltas\"", "\"certain\": true, \"deltas\""));
    assert!(!certain.contains(r#""text": "{\"a\": ""#), "{certain}");
    assert_snapshot!(answer(r#"{"deltas": "smoke", "response": ""}"#), @r#"
    exit 1
    {"error": {"kind": "input", "message": "\"smoke\" is no form of deltas; there are growth, openai, responses and anthropic"}}
    "#);
}

#[test]
fn strings_of_json_are_skipped_when_asked_for() {
    let line = r#"{"response": "<call>{\"name\": \"</call>\"}</call>", "skip_json_strings": true}"#;
    assert_snapshot!(answer(line), @r#"
    exit 0
    {"message": {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "</call>"}}]}}
    "#);
}

#[test]
fn a_message_can_be_had_before_the_end() {
    let line = r#"{"chunks": ["<think>a</think>b"], "finalize": false, "events": true}"#;
    assert_snapshot!(answer(line), @r#"
    exit 0
    {"message": {"role": "assistant", "thinking": "a"}, "initial_events": [], "events": [[{"type": "region_open", "field": "thinking"}, {"type": "region_chunk", "field": "thinking", "text": "a", "dirty": false}, {"type": "region_close", "field": "thinking", "value": "a"}, {"type": "region_open", "field": "content"}, {"type": "region_chunk", "field": "content", "text": "b", "dirty": false}]], "final_events": []}
    "#);
}

#[test]
fn a_null_is_as_good_as_nothing() {
    let line = r#"{"response": "a", "chunks": null, "prefix": null, "tools": null, "template": null, "finalize": null, "events": null, "id": null}"#;
    assert_snapshot!(answer(line), @r#"
    exit 0
    {"id": null, "message": {"role": "assistant", "content": "a"}}
    "#);
}

#[test]
fn a_template_on_the_line_wins() {
    let other = TEMPLATE
        .replace("\"content\": {", "\"text\": {")
        .replace('\n', "");
    let line = format!("{{\"response\": \"a\", \"template\": {other}}}\n{{\"response\": \"b\"}}\n");
    assert_snapshot!(answer(&line), @r#"
    exit 0
    {"message": {"role": "assistant", "text": "a"}}
    {"message": {"role": "assistant", "content": "b"}}
    "#);
    let bench = Bench::new();
    let lines =
        format!("{{\"response\": \"a\", \"template\": {other}}}\n{{\"response\": \"b\"}}\n");
    assert_snapshot!(bench.run_with("parse --jsonl", lines), @r#"
    exit 1
    --- stdout
    {"message": {"role": "assistant", "text": "a"}}
    {"error": {"kind": "input", "message": "the line has no `template`, and none is given as an argument"}}
    --- stderr
    "#);
}

#[test]
fn a_bad_line_is_answered_and_stops_nothing() {
    let bench = Bench::new();
    let mut input = Vec::new();
    for line in [
        r#"{"response": "first"}"#.as_bytes(),
        b"",
        b"{\"response\": ",
        b"[1]",
        b"{\"response\": \"\xff\"}",
        br#"{"id": 1}"#,
        br#"{"id": 2, "response": "a", "chunks": []}"#,
        br#"{"id": 3, "response": 1}"#,
        br#"{"id": 4, "chunks": ["a", 1]}"#,
        br#"{"id": 5, "response": "a", "events": 1}"#,
        br#"{"id": 6, "response": "a", "tools": {}}"#,
        br#"{"id": 7, "response": "a", "template": {"fields": {"a": {"opne": "x"}}}}"#,
        br#"{"id": 8, "response": "a<call>[</call>b", "events": true}"#,
        br#"{"id": 9, "response": "a", "prefix": "<assistant><call>[</call>"}"#,
        br#"{"response": "last"}"#,
    ] {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    assert_snapshot!(bench.run_with("parse --jsonl template.json", input), @r#"
    exit 1
    --- stdout
    {"message": {"role": "assistant", "content": "first"}}
    {"error": {"kind": "input", "message": "the line is not JSON: expected a value at byte 0", "span": [0, 0]}}
    {"error": {"kind": "input", "message": "the line is not JSON: expected a value at byte 13", "span": [13, 13]}}
    {"error": {"kind": "input", "message": "the line must be an object, not a list"}}
    {"error": {"kind": "input", "message": "invalid UTF-8 at byte 14 of the line", "span": [14, 15]}}
    {"id": 1, "error": {"kind": "input", "message": "the line has neither `response` nor `chunks`"}}
    {"id": 2, "error": {"kind": "input", "message": "the line has both `response` and `chunks`"}}
    {"id": 3, "error": {"kind": "input", "message": "response must be a string, not a number"}}
    {"id": 4, "error": {"kind": "input", "message": "a chunk must be a string, not a number"}}
    {"id": 5, "error": {"kind": "input", "message": "events must be a boolean, not a number"}}
    {"id": 6, "error": {"kind": "input", "message": "tools must be a list, not an object"}}
    {"id": 7, "error": {"kind": "template", "message": "$: a response template needs start_anchor or start_anchor_pattern\n$.fields.a.opne: a field has no key \"opne\""}}
    {"id": 8, "error": {"kind": "json", "message": "field 'tool_calls': the region is not JSON: expected a value", "field": "tool_calls", "span": [7, 8], "raw": "[", "hint": "where such a region may be plain text, content_args.allow_non_json takes it"}, "message": {"role": "assistant", "content": "b"}, "unclaimed": [{"start": 0, "end": 1, "text": "a", "cause": "replaced", "field": "content"}], "initial_events": [], "events": [[{"type": "region_open", "field": "content"}, {"type": "region_chunk", "field": "content", "text": "a", "dirty": false}, {"type": "region_close", "field": "content", "value": "a"}, {"type": "region_open", "field": "tool_calls"}, {"type": "region_chunk", "field": "tool_calls", "text": "[", "dirty": true}, {"type": "region_open", "field": "content"}, {"type": "region_chunk", "field": "content", "text": "b", "dirty": false}]], "final_events": [{"type": "region_close", "field": "content", "value": "b"}]}
    {"id": 9, "error": {"kind": "json", "message": "field 'tool_calls': the region is not JSON: expected a value", "field": "tool_calls", "span": [0, 0], "raw": "[", "hint": "where such a region may be plain text, content_args.allow_non_json takes it"}, "message": {"role": "assistant", "content": "a"}}
    {"message": {"role": "assistant", "content": "last"}}
    --- stderr
    "#);
}

#[test]
fn a_template_that_is_broken_is_refused_before_any_line() {
    let bench = Bench::new().file("broken.json", "{");
    let told = bench
        .run_with("parse --jsonl broken.json", "{\"response\": \"a\"}")
        .refused(2);
    assert!(told.contains("broken.json:1:2"), "{told}");
}

/// What a stream takes does not grow with what is lost of it: the first strays are told one by one, and the others counted.
#[test]
fn strays_of_a_stream_are_counted_where_they_are_many() {
    let fields =
        r#"{"fields": {"content": {"open": "<c>", "close": "</c>"}}, "start_anchor": "<a>"}"#;
    let bench = Bench::new().file("t.json", fields);
    let response = "lost <c>x</c>".repeat(1200);
    let run = bench.run_with("parse t.json --events", &response);
    assert_eq!(run.status, 0, "{run}");
    let last = run.stdout.lines().last().expect("a line");
    let last: serde_json::Value = serde_json::from_str(last).expect("JSON");
    let kept = last["unclaimed"].as_array().expect("a list").len();
    let further = &last["unclaimed_further"];
    // Between the texts that no field takes are those of which a later one takes the place.
    assert_eq!(kept, 1000);
    assert_eq!(further["count"], 1200 + 1199 - 1000);
    assert!(
        run.stderr
            .contains("2399 texts of the response are not in the message"),
        "{}",
        run.stderr
    );
    let bytes = 1200 * "lost ".len() + 1199;
    assert!(
        run.stderr
            .contains(&format!("the first of 2399 with {bytes} bytes in all")),
        "{}",
        run.stderr
    );
    // What is read whole is listed as a whole.
    let line = serde_json::json!({"response": response}).to_string();
    let whole: serde_json::Value =
        serde_json::from_str(&bench.run_with("parse --jsonl t.json", line).done()).expect("JSON");
    assert_eq!(whole["unclaimed"].as_array().map(Vec::len), Some(2399));
}

/// Markers in the text of fields are counted beyond the first of them, too, and each of them once.
#[test]
fn what_a_stream_leaks_is_listed_as_far_as_one_reads() {
    let template = r#"{"start_anchor": "<a>", "fields": {"content": {"open": "<c>", "close": "</c>", "repeats": true}, "thinking": {"open": "<t>", "close": "</t>"}}}"#;
    let bench = Bench::new().file("t.json", template);
    let response = "<c>a <t> b</c>".repeat(1200);
    for how in ["--events", "--deltas growth"] {
        let run = bench.run_with(&format!("parse t.json {how} --chunks 1000"), &response);
        let last = run.stdout.lines().last().expect("a line");
        let last: serde_json::Value = serde_json::from_str(last).expect("JSON");
        let leaked = last["leaked"].as_array().expect("a list");
        assert_eq!(leaked.len(), 1000);
        assert_eq!(
            leaked[999]["start"],
            999 * "<c>a <t> b</c>".len() + "<c>a ".len()
        );
        assert_eq!(last["leaked_further"]["count"], 200);
        assert!(
            run.stderr
                .contains("1200 markers stand in the text of fields"),
            "{}",
            run.stderr
        );
    }
}

/// Few texts that no field takes may be long ones.
#[test]
fn what_a_stream_loses_is_listed_up_to_a_mebibyte() {
    let template = r#"{"start_anchor": "<a>", "fields": {"content": {"open": "<c>", "close": "</c>", "repeats": true}}}"#;
    let bench = Bench::new().file("t.json", template);
    let lost = "lost ".repeat(60 << 10);
    let response = format!("{lost}<c>x</c>").repeat(6);
    let run = bench.run_with("parse t.json --events --chunks whole", &response);
    let last = run.stdout.lines().last().expect("a line");
    let last: serde_json::Value = serde_json::from_str(last).expect("JSON");
    // Three have 900 KiB; the fourth reaches a mebibyte.
    assert_eq!(last["unclaimed"].as_array().map(Vec::len), Some(4));
    let further = &last["unclaimed_further"];
    assert_eq!(
        (&further["count"], &further["bytes"]),
        (&2.into(), &(2 * lost.len()).into())
    );
}

/// A stream whose regions replace each other may have any number of them; where the message keeps each there is a limit, and an option for it.
#[test]
fn the_number_of_regions_is_limited_where_they_are_kept() {
    let bench = Bench::new();
    let most = |template: &str, arguments: &str| -> serde_json::Value {
        let run = bench.run_with(
            &format!("parse {template} --events --state {arguments}"),
            "",
        );
        let state = run.stdout.lines().find(|line| line.contains("\"limits\""));
        let state: serde_json::Value = serde_json::from_str(state.expect("a state")).expect("JSON");
        state["limits"]["regions"]["most"].clone()
    };
    std::fs::write(
        bench.path("replaces.json"),
        r#"{"fields": {"content": {"open": "<c>", "close": "</c>"}}, "start_anchor": "<a>"}"#,
    )
    .expect("a file");
    assert_eq!(most("template.json", ""), 1_000_000);
    // As many as a number in JSON can tell.
    assert_eq!(most("replaces.json", ""), i64::MAX);
    assert_eq!(most("replaces.json", "--max-regions 7"), 7);
    let calls = r#"<call>{"name": "f", "arguments": {}}</call>"#.repeat(3);
    let run = bench.run_with("parse template.json --max-regions 2", &calls);
    assert_eq!(run.status, 1, "{run}");
    assert!(
        run.stderr.contains("there are more than 2 regions"),
        "{run}"
    );
    assert!(run.stderr.contains("--max-regions allows more"), "{run}");
    assert_eq!(
        bench
            .run_with("parse template.json --max-regions 3", &calls)
            .status,
        0
    );
}

/// Values are written piece by piece, whatever stands where one piece ends.
#[test]
fn a_long_value_is_written_as_a_short_one_is() {
    let bench = Bench::new();
    let text = "é\u{1}\"\\\n\u{202e}𝄞".repeat(20_000);
    let response = format!("<think>{text}</think>{text}</assistant>");
    let run = bench.run_with("parse template.json", &response);
    let message: serde_json::Value = serde_json::from_str(&run.done()).expect("JSON");
    assert_eq!(message["thinking"], text);
    assert_eq!(message["content"].as_str(), Some(text.trim()));
    let events = bench
        .run_with("parse template.json --events", &response)
        .done();
    let close = events.lines().find(|line| {
        line.starts_with(r#"{"type": "region_close", "field": "thinking", "value": "#)
    });
    let close: serde_json::Value = serde_json::from_str(close.expect("an event")).expect("JSON");
    assert_eq!(close["value"], text);
    let last: serde_json::Value =
        serde_json::from_str(events.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["message"], message);
}
