//! `obverse parse`.

use std::io::Write as _;
use std::process::Stdio;

use crate::bench::{self, Bench, TEMPLATE};
use insta::assert_snapshot;

#[test]
fn a_response_becomes_a_message() {
    let bench = Bench::new().file("response", "<think>hm</think>Hé!</assistant>\n");
    let message = bench.run("parse template.json response").done();
    assert_snapshot!(message, @r#"
    {
      "role": "assistant",
      "thinking": "hm",
      "content": "Hé!"
    }
    "#);
    for arguments in ["parse template.json", "parse template.json -"] {
        let input = bench.read("response");
        assert_eq!(bench.run_with(arguments, input).done(), message);
    }
    let template = bench.read("template.json");
    assert_eq!(bench.run_with("parse - response", template).done(), message);
}

#[test]
fn a_tokenizer_config_holds_the_template_too() {
    let config = format!("{{\"eos_token\": \"x\", \"response_template\": {TEMPLATE}}}");
    let bench = Bench::new().file("model/tokenizer_config.json", config);
    let message = bench
        .run_with("parse model/tokenizer_config.json", "Hi")
        .done();
    assert_eq!(bench.run_with("parse model", "Hi").done(), message);
    assert_eq!(message, bench.run_with("parse template.json", "Hi").done());
}

#[test]
fn what_follows_the_anchor_in_the_prefix_is_parsed_first() {
    let bench = Bench::new().file("prefix", "<user>x</user>\n<assistant><think>");
    let message = bench
        .run_with("parse template.json --prefix-file prefix", "hm</think>Hi")
        .done();
    assert_snapshot!(message, @r#"
    {
      "role": "assistant",
      "thinking": "hm",
      "content": "Hi"
    }
    "#);
    let arguments = ["parse", "template.json", "--prefix", &bench.read("prefix")];
    assert_eq!(bench.run_all(&arguments, "hm</think>Hi").done(), message);
}

#[test]
fn tools_type_the_arguments() {
    let tools = r#"[{"type": "function", "function": {"name": "f", "parameters":
        {"type": "object", "properties": {"n": {"type": "integer"}}}}}]"#;
    let bench = Bench::new().file("tools.json", tools);
    let response =
        r#"<call>{"name": "f", "arguments": {"n": "123456789012345678901234567890"}}</call>"#;
    let typed = bench
        .run_with("parse template.json --tools tools.json", response)
        .done();
    assert!(
        typed.contains("\"n\": 123456789012345678901234567890\n"),
        "{typed}"
    );
    let bare = bench.run_with("parse template.json", response).done();
    assert!(
        bare.contains("\"n\": \"123456789012345678901234567890\"\n"),
        "{bare}"
    );
}

#[test]
fn values_are_spelled_as_python_spells_them() {
    let response = r#"<call>{"a": [NaN, -Infinity, 1e16, 1.0, "\u202e\u0000\u007f"]}</call>"#;
    let message = Bench::new()
        .run_with("parse template.json", response)
        .done();
    assert_snapshot!(message, @r#"
    {
      "role": "assistant",
      "tool_calls": [
        {
          "type": "function",
          "function": {
            "a": [
              NaN,
              -Infinity,
              1e+16,
              1.0,
              "\u202e\u0000\u007f"
            ]
          }
        }
      ]
    }
    "#);
}

#[test]
fn events_come_one_a_line() {
    let run = Bench::new().run_all(
        &[
            "parse",
            "template.json",
            "--events",
            "--prefix",
            "<assistant><think>a",
        ],
        "b</think>\n<call>{\"name\": 1}</call>",
    );
    assert_snapshot!(run.done(), @r#"
    {"type": "region_open", "field": "thinking"}
    {"type": "region_chunk", "field": "thinking", "text": "a", "dirty": false}
    {"type": "region_chunk", "field": "thinking", "text": "b", "dirty": false}
    {"type": "region_close", "field": "thinking", "value": "ab"}
    {"type": "region_open", "field": "content"}
    {"type": "region_chunk", "field": "content", "text": "\n", "dirty": false}
    {"type": "region_close", "field": "content", "value": ""}
    {"type": "region_open", "field": "tool_calls"}
    {"type": "region_chunk", "field": "tool_calls", "text": "{\"name\": 1}", "dirty": true}
    {"type": "region_close", "field": "tool_calls", "value": {"type": "function", "function": {"name": 1}}}
    {"type": "message", "message": {"role": "assistant", "thinking": "ab", "tool_calls": [{"type": "function", "function": {"name": 1}}]}}
    "#);
}

#[test]
fn deltas_come_one_a_line() {
    let response = "<think>hm</think>Hi<call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</call>";
    let bench = Bench::new();
    let run = bench.run_with("parse template.json --deltas growth --chunks 23", response);
    assert_snapshot!(run.done(), @r#"
    {"type": "text", "path": ["role"], "text": "assistant"}
    {"type": "text", "path": ["thinking"], "text": "hm"}
    {"type": "text", "path": ["content"], "text": "Hi"}
    {"type": "call", "index": 0, "path": ["tool_calls", 0], "name": "f"}
    {"type": "arguments", "index": 0, "text": "{\"a\": 1}"}
    {"type": "call_done", "index": 0}
    {"type": "message", "message": {"role": "assistant", "thinking": "hm", "content": "Hi", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}}
    "#);
    let run = bench.run_with(
        "parse template.json --deltas growth --certain --chunks 23",
        response,
    );
    assert_snapshot!(run.done(), @r#"
    {"type": "text", "path": ["role"], "text": "assistant"}
    {"type": "call", "index": 0, "path": ["tool_calls", 0], "name": "f"}
    {"type": "arguments", "index": 0, "text": "{\"a\": 1}"}
    {"type": "call_done", "index": 0}
    {"type": "text", "path": ["thinking"], "text": "hm"}
    {"type": "text", "path": ["content"], "text": "Hi"}
    {"type": "message", "message": {"role": "assistant", "thinking": "hm", "content": "Hi", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}}
    "#);
    let run = bench.run_with("parse template.json --deltas openai", "Hi");
    assert_snapshot!(run.done(), @r#"
    {"id": "reply", "object": "chat.completion.chunk", "created": 0, "model": "model", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null}]}
    {"id": "reply", "object": "chat.completion.chunk", "created": 0, "model": "model", "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}
    {"id": "reply", "object": "chat.completion.chunk", "created": 0, "model": "model", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    "#);
    // In each form the last event says how the reply ended.
    for (form, last) in [
        ("responses", "response.completed"),
        ("anthropic", "message_stop"),
    ] {
        let run = bench.run_with(&format!("parse template.json --deltas {form}"), response);
        let run = run.done();
        let line = run.lines().next_back().expect("a line");
        assert!(
            line.starts_with(&format!("{{\"type\": \"{last}\"")),
            "{line}"
        );
    }
    assert_eq!(bench.run("parse template.json --deltas smoke").status, 2);
    assert_eq!(
        bench
            .run("parse template.json --deltas growth --events")
            .status,
        2
    );
    assert_eq!(bench.run("parse template.json --certain").status, 2);
}

#[test]
fn a_call_that_does_not_parse_is_dropped() {
    let bench = Bench::new();
    let response = "<call>{\"name\": \"f\", \"arguments\": {oops</call>\u{1b}[31m";
    let run = bench.run_with("parse template.json --deltas growth", response);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("error[json]"), "{}", run.stderr);
    assert_snapshot!(run.stdout, @r#"
    {"type": "text", "path": ["role"], "text": "assistant"}
    {"type": "call", "index": 0, "path": ["tool_calls", 0], "name": "f"}
    {"type": "arguments", "index": 0, "text": "{"}
    {"type": "call_dropped", "index": 0}
    {"type": "error", "error": {"kind": "json", "message": "field 'tool_calls': the region is not JSON: expected a key in double quotes", "field": "tool_calls", "span": [6, 38], "raw": "{\"name\": \"f\", \"arguments\": {oops", "hint": "where such a region may be plain text, content_args.allow_non_json takes it"}}
    {"type": "text", "path": ["content"], "text": "\u001b[31m"}
    {"type": "partial_message", "message": {"role": "assistant", "content": "\u001b[31m"}}
    "#);
    // A protocol of others has no line for it.
    let run = bench.run_with("parse template.json --deltas openai", response);
    assert_eq!(run.status, 1);
    assert!(
        !run.stdout.contains("error") && !run.stdout.contains("message\": {"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains('\u{1b}'));
}

#[test]
fn deltas_are_written_before_more_is_read() {
    let bench = Bench::new();
    let mut child = std::process::Command::new(bench::binary())
        .args(["parse", "template.json", "--deltas", "growth"])
        .current_dir(bench.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut next = bench::lines_of(child.stdout.take().unwrap());
    assert!(next().contains("assistant"));
    input.write_all(b"<call>{\"name\": \"f\", \"argu").unwrap();
    assert!(next().contains("\"name\": \"f\""));
    input.write_all(b"ments\": {\"a\": \"b").unwrap();
    assert!(next().contains(r#""text": "{\"a\": \"b""#));
    input.write_all(b"c\"}}</call>").unwrap();
    assert!(next().contains(r#""text": "c\"}""#));
    drop(input);
    while !next().starts_with(r#"{"type": "message""#) {}
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn states_come_between_the_events() {
    let bench = Bench::new();
    let run = bench.run_with("parse template.json --events --state", "<think>hm</thi");
    let states = run.done();
    let states: Vec<&str> = states
        .lines()
        .filter(|line| line.contains("\"state\""))
        .collect();
    assert_snapshot!(states.join("\n"), @r#"
    {"type": "state", "status": "reading", "prefix_bytes": 0, "fed": 0, "position": 0, "held": "", "region": null, "watched": [{"field": "content", "side": "close", "engine": "automaton", "pattern": "</assistant>\\s*", "waiting": "nothing"}, {"field": "thinking", "side": "open", "engine": "literal", "literals": ["<think>"], "waiting": "nothing"}, {"field": "tool_calls", "side": "open", "engine": "literal", "literals": ["<call>"], "waiting": "nothing"}], "delimiters": [], "limits": {"region_bytes": {"used": 0, "most": 268435456}, "held_bytes": {"used": 0, "most": 67108864}, "regions": {"used": 0, "most": 1000000}}}
    {"type": "state", "status": "reading", "prefix_bytes": 0, "fed": 14, "position": 9, "held": "</thi", "region": {"field": "thinking", "span": [7, 9], "captures": {}}, "watched": [{"field": "thinking", "side": "close", "engine": "literal", "literals": ["</think>"], "waiting": "under_way", "from": 9, "reason": "the last bytes are the beginning of it"}], "delimiters": [{"field": "thinking", "side": "open", "span": [0, 7]}], "limits": {"region_bytes": {"used": 2, "most": 268435456}, "held_bytes": {"used": 5, "most": 67108864}, "regions": {"used": 0, "most": 1000000}}}
    {"type": "state", "status": "finalized", "prefix_bytes": 0, "fed": 14, "position": 14, "held": "", "region": null, "watched": [{"field": "content", "side": "close", "engine": "automaton", "pattern": "</assistant>\\s*", "waiting": "nothing"}, {"field": "thinking", "side": "open", "engine": "literal", "literals": ["<think>"], "waiting": "nothing"}, {"field": "tool_calls", "side": "open", "engine": "literal", "literals": ["<call>"], "waiting": "nothing"}], "delimiters": [], "limits": {"region_bytes": {"used": 0, "most": 268435456}, "held_bytes": {"used": 0, "most": 67108864}, "regions": {"used": 1, "most": 1000000}}}
    "#);
    assert_eq!(bench.run("parse template.json --state").status, 2);
}

#[test]
fn events_are_written_before_more_is_read() {
    let bench = Bench::new();
    let mut child = std::process::Command::new(bench::binary())
        .args(["parse", "template.json", "--events"])
        .current_dir(bench.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut next = bench::lines_of(child.stdout.take().unwrap());
    // A character of four bytes and a delimiter arrive cut in two, and no line ever ends.
    input.write_all(b"a\xf0\x9f").unwrap();
    assert!(next().contains("region_open"));
    assert!(next().contains("\"text\": \"a\""));
    input.write_all(b"\x98\x80b<thi").unwrap();
    assert!(next().contains("\"text\": \"\u{1f600}b\""));
    input.write_all(b"nk>").unwrap();
    assert!(next().contains("region_close"));
    assert!(next().contains("\"field\": \"thinking\""));
    drop(input);
    assert!(next().contains("region_close"));
    assert!(next().starts_with(r#"{"type": "message""#));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn states_follow_each_piece_that_arrives() {
    let bench = Bench::new();
    let mut child = std::process::Command::new(bench::binary())
        .args(["parse", "template.json", "--events", "--state"])
        .current_dir(bench.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut next = bench::lines_of(child.stdout.take().unwrap());
    assert!(next().contains("\"fed\": 0"));
    // Each piece is seen with what it left the parser in, before the next one is written.
    for (piece, fed, held) in [("<thi", 4, "<thi"), ("nk>h", 8, ""), ("m</", 11, "</")] {
        input.write_all(piece.as_bytes()).unwrap();
        let state = loop {
            let line = next();
            if line.starts_with(r#"{"type": "state""#) {
                break line;
            }
        };
        assert!(state.contains(&format!("\"fed\": {fed},")), "{state}");
        assert!(state.contains(&format!("\"held\": \"{held}\"")), "{state}");
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn events_of_a_response_that_is_cut() {
    let bench = Bench::new();
    let run = |chunks: &str| {
        bench.run_with(
            &format!("parse template.json --events --chunks {chunks}"),
            "Some \u{20ac} words</assistant>",
        )
    };
    let texts = |chunks: &str| {
        let lines = run(chunks).done();
        let texts = lines.lines().filter_map(|line| {
            let (_, rest) = line.split_once("\"text\": \"")?;
            Some(rest.split_once('"')?.0.to_owned())
        });
        texts.collect::<Vec<_>>()
    };
    assert_eq!(texts("whole"), ["Some \u{20ac} words"]);
    assert_eq!(texts("words"), ["Some", " \u{20ac}", " words"]);
    assert_eq!(texts("4"), ["Some", " \u{20ac} w", "ords"]);
    // A character that is cut arrives with its last byte.
    assert_eq!(texts("6b"), ["Some ", "\u{20ac} wor", "ds"]);
    assert_eq!(texts("random:3"), texts("random:3"));
    let states = bench.run_with(
        "parse template.json --events --state --chunks 1",
        "Hi</assistant>",
    );
    let states = states.done();
    assert_eq!(states.matches("\"type\": \"state\"").count(), 1 + 14 + 1);
    assert!(
        run("recorded")
            .refused(2)
            .contains("no chunks were recorded")
    );
    assert!(run("0").refused(2).contains("no chunking"));
    let without_events = bench.run_with("parse template.json --chunks 1", "Hi");
    assert!(without_events.refused(2).contains("--events"));
}

#[test]
fn a_template_that_is_not_json_is_shown_with_its_place() {
    let bench = Bench::new().file(
        "broken.json",
        "{\n  \"fields\": {\n    \"content\": {},\n  }\n}\n",
    );
    assert_snapshot!(bench.run("parse broken.json").refused(2), @r#"
    error[json-syntax]: not JSON: expected a key in double quotes
     --> broken.json:4:3
      |
    4 |   }
      |   ^
    "#);
}

#[test]
fn an_unknown_key_is_shown_with_the_nearest_known_one() {
    let broken = TEMPLATE.replace("\"close\": \"</think>\"", "\"closes\": \"</think>\"");
    let bench = Bench::new().file("broken.json", broken);
    assert_snapshot!(bench.run("parse broken.json").refused(2), @r#"
    error[unknown-key]: a field has no key "closes"
     --> broken.json:5:37
      |
    5 |     "thinking": {"open": "<think>", "closes": "</think>"},
      |                                     ^^^^^^^^
      |
      = note: at $.fields.thinking.closes
      = help: did you mean `close`?
    "#);
}

#[test]
fn a_bad_pattern_is_shown_with_the_place_inside_it() {
    let broken = TEMPLATE.replace("</assistant>\\\\s*", "\\\\s*(?<end></assistant>");
    let bench = Bench::new().file("broken.json", broken);
    assert_snapshot!(bench.run("parse broken.json").refused(2), @r#"
    error[bad-pattern]: close_pattern does not compile: `)` is missing
     --> broken.json:6:58
      |
    6 |     "content": {"close_pattern": "\\s*(?<end></assistant>"},
      |                                                          ^ `)` is missing
      |
      = note: at $.fields.content.close_pattern
    "#);
}

#[test]
fn everything_that_is_wrong_is_shown() {
    let broken = r#"{"start_anchor": "", "fields": {"a": {"open": 1}, "b": {}, "c": {"content": "xml"}}, "x": 1}"#;
    let bench = Bench::new().file("broken.json", broken);
    assert_snapshot!(bench.run("parse broken.json").refused(2), @r#"
    error[empty-literal]: start_anchor must not be empty text
     --> broken.json:1:18
      |
    1 | {"start_anchor": "", "fields": {"a": {"open": 1}, "b": {}, "c": {"content": "xml"}}, "x": 1}
      |                  ^^
      |
      = note: at $.start_anchor
      = help: leave the key out where nothing stands

    error[wrong-type]: open must be a string or a list of strings, not a number
     --> broken.json:1:47
      |
    1 | {"start_anchor": "", "fields": {"a": {"open": 1}, "b": {}, "c": {"content": "xml"}}, "x": 1}
      |                                               ^
      |
      = note: at $.fields.a.open

    error[two-implicit-fields]: nothing opens "c", nor "b": only one field may do without
     --> broken.json:1:60
      |
    1 | {"start_anchor": "", "fields": {"a": {"open": 1}, "b": {}, "c": {"content": "xml"}}, "x": 1}
      |                                                            ^^^
      |
      = note: at $.fields.c
      = help: give it open or open_pattern

    error[unknown-content]: unknown content parser "xml"
     --> broken.json:1:77
      |
    1 | {"start_anchor": "", "fields": {"a": {"open": 1}, "b": {}, "c": {"content": "xml"}}, "x": 1}
      |                                                                             ^^^^^
      |
      = note: at $.fields.c.content
      = help: the content parsers are text, int, float, bool, json, xml-inline, kv-lines

    error[unknown-key]: a response template has no key "x"
     --> broken.json:1:86
      |
    1 | {"start_anchor": "", "fields": {"a": {"open": 1}, "b": {}, "c": {"content": "xml"}}, "x": 1}
      |                                                                                      ^^^
      |
      = note: at $.x
      = help: its keys are version, defaults, fields, start_anchor, start_anchor_pattern
    "#);
}

#[test]
fn a_config_without_a_response_template_is_told_from_one() {
    let bench = Bench::new().file("config.json", r#"{"chat_template": "x"}"#);
    assert_snapshot!(bench.run("parse config.json").refused(2), @r#"
    error[no-response-template]: the config holds no response template
    --> config.json
     = help: derive one from the chat template: `obverse derive config.json` prints it
    "#);
}

#[test]
fn a_file_that_is_missing_is_named() {
    let bench = Bench::new();
    assert_snapshot!(bench.run("parse missing.json").refused(2), @r#"error[unreadable]: cannot read missing.json: No such file or directory (os error 2)"#);
    assert_snapshot!(bench.run("parse template.json missing").refused(2), @r#"error[unreadable]: cannot read missing: No such file or directory (os error 2)"#);
    assert_snapshot!(bench.run("parse template.json --tools missing").refused(2), @r#"error[unreadable]: cannot read missing: No such file or directory (os error 2)"#);
    assert_snapshot!(bench.run("parse template.json --prefix-file missing").refused(2), @r#"error[unreadable]: cannot read missing: No such file or directory (os error 2)"#);
    assert_snapshot!(bench.run("parse template.json .").refused(2), @r#"error[unreadable]: cannot read .: Is a directory (os error 21)"#);
}

#[test]
fn tools_that_are_no_list_are_refused() {
    let bench = Bench::new().file("tools.json", "\n {\"a\": 1}");
    assert_snapshot!(bench.run("parse template.json --tools tools.json").refused(2), @r#"
    error[wrong-type]: the tools must be a list, not an object
     --> tools.json:2:2
      |
    2 |  {"a": 1}
      |  ^
    "#);
}

/// The rest of the message is there, and not as a message.
#[test]
fn a_truncated_tool_call_leaves_the_rest_of_the_message() {
    let response = "<think>hm</think>one moment\n<call>{\"name\": \"f\", \"argu";
    let run = Bench::new().run_with("parse template.json", response);
    assert_snapshot!(run, @r#"
    exit 1
    --- stdout
    {
      "error": {
        "kind": "json",
        "message": "field 'tool_calls': the region is not JSON: the string that begins here does not end",
        "field": "tool_calls",
        "span": [
          34,
          53
        ],
        "raw": "{\"name\": \"f\", \"argu",
        "hint": "where such a region may be plain text, content_args.allow_non_json takes it"
      },
      "message": {
        "role": "assistant",
        "thinking": "hm",
        "content": "one moment"
      }
    }
    --- stderr
    error[json]: field 'tool_calls': the region is not JSON: the string that begins here does not end
     --> <stdin>:2:7
      |
    2 | <call>{"name": "f", "argu
      |       ^^^^^^^^^^^^^^^^^^^
      |
      = note: field `tool_calls`, bytes 34 to 53
      = note: the response ends inside this region
      = note: raw text: {"name": "f", "argu
      = help: where such a region may be plain text, content_args.allow_non_json takes it
    "#);
}

#[test]
fn what_follows_a_broken_region_is_parsed() {
    let response = "a\n<call>[1</call>b<call>{\"name\": 1}</call><call>\u{1b}[31m\u{202e}</call>";
    let run = Bench::new().run_with("parse template.json", response);
    assert_snapshot!(run, @r#"
    exit 1
    --- stdout
    {
      "error": {
        "kind": "json",
        "message": "field 'tool_calls': the region is not JSON: expected `,` or the closing bracket",
        "field": "tool_calls",
        "span": [
          8,
          10
        ],
        "raw": "[1",
        "hint": "where such a region may be plain text, content_args.allow_non_json takes it"
      },
      "further_errors": [
        {
          "kind": "json",
          "message": "field 'tool_calls': the region is not JSON: expected a value",
          "field": "tool_calls",
          "span": [
            48,
            56
          ],
          "raw": "\u001b[31m\u202e",
          "hint": "where such a region may be plain text, content_args.allow_non_json takes it"
        }
      ],
      "message": {
        "role": "assistant",
        "content": "b",
        "tool_calls": [
          {
            "type": "function",
            "function": {
              "name": 1
            }
          }
        ]
      },
      "unclaimed": [
        {
          "start": 0,
          "end": 1,
          "text": "a",
          "cause": "replaced",
          "field": "content"
        }
      ]
    }
    --- stderr
    error[json]: field 'tool_calls': the region is not JSON: expected `,` or the closing bracket
     --> <stdin>:2:7
      |
    2 | <call>[1</call>b<call>{"name": 1}</call><call>\u{1b}[31m\u{202e}</call>
      |       ^^
      |
      = note: field `tool_calls`, bytes 8 to 10
      = note: raw text: [1
      = help: where such a region may be plain text, content_args.allow_non_json takes it

    error[json]: field 'tool_calls': the region is not JSON: expected a value
     --> <stdin>:2:47
      |
    2 | <call>[1</call>b<call>{"name": 1}</call><call>\u{1b}[31m\u{202e}</call>
      |                                               ^^^^^^^^^^^^^^^^^^
      |
      = note: field `tool_calls`, bytes 48 to 56
      = note: raw text: \u{1b}[31m\u{202e}
      = help: where such a region may be plain text, content_args.allow_non_json takes it
    warning[unclaimed]: a text of the response is not in the message: a later text of the field `content` takes its place
     --> <stdin>:1:1
      |
    1 | a
      | ^
      |
      = note: bytes 0 to 1: a
      = help: put the texts together with `repeats` and `join`, or let the field open only once
    "#);
}

#[test]
fn broken_regions_are_events_too() {
    let response = "a<call>[1</call>b";
    let run = Bench::new().run_with("parse template.json --events", response);
    assert_snapshot!(run, @r#"
    exit 1
    --- stdout
    {"type": "region_open", "field": "content"}
    {"type": "region_chunk", "field": "content", "text": "a", "dirty": false}
    {"type": "region_close", "field": "content", "value": "a"}
    {"type": "region_open", "field": "tool_calls"}
    {"type": "region_chunk", "field": "tool_calls", "text": "[1", "dirty": true}
    {"type": "error", "error": {"kind": "json", "message": "field 'tool_calls': the region is not JSON: expected `,` or the closing bracket", "field": "tool_calls", "span": [7, 9], "raw": "[1", "hint": "where such a region may be plain text, content_args.allow_non_json takes it"}}
    {"type": "region_open", "field": "content"}
    {"type": "region_chunk", "field": "content", "text": "b", "dirty": false}
    {"type": "region_close", "field": "content", "value": "b"}
    {"type": "partial_message", "message": {"role": "assistant", "content": "b"}, "unclaimed": [{"start": 0, "end": 1, "text": "a", "cause": "replaced", "field": "content"}]}
    --- stderr
    error[json]: field 'tool_calls': the region is not JSON: expected `,` or the closing bracket
    --> <stdin>
     = note: field `tool_calls`, bytes 7 to 9
     = note: raw text: [1
     = help: where such a region may be plain text, content_args.allow_non_json takes it
    warning[unclaimed]: a text of the response is not in the message: a later text of the field `content` takes its place
    --> <stdin>
     = note: bytes 0 to 1: a
     = help: put the texts together with `repeats` and `join`, or let the field open only once
    "#);
}

/// What closes the region counts only before something else, so that the response tells that it does not parse.
#[test]
fn a_broken_region_of_the_prefix_is_not_shown_in_the_response() {
    let template = TEMPLATE.replace(
        "\"close\": \"</call>\"",
        "\"close_pattern\": \"</call>(?=[A-Z])\"",
    );
    assert_ne!(template, TEMPLATE);
    let bench = Bench::new().file("ahead.json", template);
    let run = bench.run_all(
        &[
            "parse",
            "ahead.json",
            "--prefix",
            "<assistant><call>[</call>",
        ],
        "Hi",
    );
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stderr.contains("--> the prefix"), "{run}");
    assert!(!run.stderr.contains("bytes 0 to 0"), "{run}");
}

#[test]
fn a_prefix_with_a_broken_region_is_an_error() {
    let bench = Bench::new();
    let arguments = [
        "parse",
        "template.json",
        "--prefix",
        "<assistant><call>[</call>",
    ];
    assert_snapshot!(bench.run_all(&arguments, "Hi"), @r#"
    exit 1
    --- stdout
    {
      "error": {
        "kind": "json",
        "message": "field 'tool_calls': the region is not JSON: expected a value",
        "field": "tool_calls",
        "span": [
          0,
          0
        ],
        "raw": "[",
        "hint": "where such a region may be plain text, content_args.allow_non_json takes it"
      },
      "message": {
        "role": "assistant",
        "content": "Hi"
      }
    }
    --- stderr
    error[json]: field 'tool_calls': the region is not JSON: expected a value
    --> the prefix
     = note: raw text: [
     = help: where such a region may be plain text, content_args.allow_non_json takes it
    "#);
    let with_events = [arguments.as_slice(), &["--events"]].concat();
    let run = bench.run_all(&with_events, "Hi");
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout, @r#"
    {"type": "region_open", "field": "tool_calls"}
    {"type": "region_chunk", "field": "tool_calls", "text": "[", "dirty": true}
    {"type": "error", "error": {"kind": "json", "message": "field 'tool_calls': the region is not JSON: expected a value", "field": "tool_calls", "span": [0, 0], "raw": "[", "hint": "where such a region may be plain text, content_args.allow_non_json takes it"}}
    {"type": "region_open", "field": "content"}
    {"type": "region_chunk", "field": "content", "text": "Hi", "dirty": false}
    {"type": "region_close", "field": "content", "value": "Hi"}
    {"type": "partial_message", "message": {"role": "assistant", "content": "Hi"}}
    "#);
}

#[test]
fn a_close_inside_a_json_string_need_not_count() {
    let response = r#"<call>{"name": "</call>"}</call>"#;
    let bench = Bench::new();
    assert_eq!(bench.run_with("parse template.json", response).status, 1);
    assert_snapshot!(bench.run_with("parse template.json --skip-json-strings", response).done(), @r#"
    {
      "role": "assistant",
      "tool_calls": [
        {
          "type": "function",
          "function": {
            "name": "</call>"
          }
        }
      ]
    }
    "#);
}

#[test]
fn a_required_field_that_is_missing_is_an_error() {
    let required = TEMPLATE.replace(
        "\"open\": \"<think>\"",
        "\"optional\": false, \"open\": \"<think>\"",
    );
    let bench = Bench::new().file("required.json", required);
    assert_snapshot!(bench.run_with("parse required.json", "Hi"), @r#"
    exit 1
    --- stdout
    {
      "error": {
        "kind": "required",
        "message": "required by the response template, but not in the response: thinking"
      },
      "message": {
        "role": "assistant",
        "content": "Hi"
      }
    }
    --- stderr
    error[required]: required by the response template, but not in the response: thinking
    --> <stdin>
    "#);
}

#[test]
fn invalid_utf8_is_shown_with_its_place() {
    let bench = Bench::new();
    let response = b"one\ntw\xffo";
    assert_snapshot!(bench.run_with("parse template.json", response).refused(2), @r#"
    error[invalid-utf8]: invalid UTF-8 at byte 6
     --> <stdin>:2:3
      |
    2 | tw�o
      |   ^
    "#);
    // The events before it have happened; the message has not.
    assert_snapshot!(bench.run_with("parse template.json --events", response), @r#"
    exit 2
    --- stdout
    {"type": "region_open", "field": "content"}
    {"type": "region_chunk", "field": "content", "text": "one\ntw", "dirty": false}
    --- stderr
    error[invalid-utf8]: invalid UTF-8 at byte 6
    --> <stdin>
    "#);
    let truncated = bench.run_with("parse template.json --events", b"one\xe2\x82");
    assert_snapshot!(truncated, @r#"
    exit 2
    --- stdout
    {"type": "region_open", "field": "content"}
    {"type": "region_chunk", "field": "content", "text": "one", "dirty": false}
    --- stderr
    error[invalid-utf8]: invalid UTF-8 at byte 3 (the input ends inside a character)
    --> <stdin>
    "#);
    let bench = bench.file("bad.json", b"{\n\"a\": \"\xff\"}");
    assert_snapshot!(bench.run("parse bad.json").refused(2), @r#"
    error[invalid-utf8]: invalid UTF-8 at byte 8
     --> bad.json:2:7
      |
    2 | "a": "�"}
      |       ^
    "#);
}

/// A response template in which no field takes what stands outside the regions.
const TAGS: &str = r#"{"start_anchor": "A:", "fields": {
    "thinking": {"open": "<think>", "close": "</think>"},
    "content": {"open": "<say>", "close_pattern": "</say>\\s*"}}}"#;

#[test]
fn text_that_no_field_takes_is_told() {
    let bench = Bench::new().file("tags.json", TAGS).file(
        "response",
        "<think>hm</think>\nSo:\u{1b}\n<say>Hi</say>\n<eos>",
    );
    let run = bench.run("parse tags.json response");
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stderr, @r"
    warning[unclaimed]: no field takes 2 texts of the response, so that they are not in the message
     --> response:2:1
      |
    2 | So:\u{1b}
      | ^^^^^^^^^
      |
      = note: bytes 18 to 22: So:\u{1b}, the first of 2 with 11 bytes in all
      = help: let a field take it: one without an open takes all that no other does
    ");
    assert_snapshot!(run.stdout, @r#"
    {
      "thinking": "hm",
      "content": "Hi"
    }
    "#);
    let run = bench.run("parse tags.json response --events");
    assert_snapshot!(run.stdout.lines().last().unwrap_or_default(), @r#"{"type": "message", "message": {"thinking": "hm", "content": "Hi"}, "unclaimed": [{"start": 17, "end": 23, "text": "\nSo:\u001b\n"}, {"start": 37, "end": 42, "text": "<eos>"}]}"#);
    assert_snapshot!(run.stderr, @r"
    warning[unclaimed]: no field takes 2 texts of the response, so that they are not in the message
    --> response
     = note: bytes 18 to 22: So:\u{1b}, the first of 2 with 11 bytes in all
     = help: let a field take it: one without an open takes all that no other does
    ");
    // White space alone is nothing to speak of, and the prompt's text is not the response's.
    let quiet = ["<say>Hi</say>\n \n", "\n<think>hm</think>\n<say>Hi</say>"];
    for response in quiet {
        let run = bench.run_with("parse tags.json --prefix A:lost", response);
        assert_eq!(run.stderr, "", "{response:?}");
        assert!(!run.stdout.contains("unclaimed"));
    }
}

#[test]
fn markers_in_the_text_of_fields_are_told() {
    let bench = Bench::new().file("tags.json", TAGS);
    let run = bench.run_with("parse tags.json", "<say>Hi<say> <think></say>");
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stderr, @r"
    warning[leaked]: 2 markers stand in the text of fields, the first in the field `content`
     --> <stdin>:1:8
      |
    1 | <say>Hi<say> <think></say>
      |        ^^^^^
      |
      = note: bytes 7 to 12: <say>
      = help: unless the model speaks of it, a delimiter should have taken it
    ");
    // Special tokens are known where the tokenizer's configuration is.
    let config = |tokens: &str| format!(r#"{{"response_template": {TAGS}, {tokens}}}"#);
    let tokens = r#"{"content": "<eos>", "special": true}, {"content": "word", "special": false}"#;
    let bench = Bench::new()
        .file(
            "one/tokenizer_config.json",
            config(r#""added_tokens_decoder": {"0": {"content": "<eos>", "special": true}, "1": {"content": "word"}}"#),
        )
        .file("two/tokenizer_config.json", config(r#""eos_token": "<eos>""#))
        .file("two/tokenizer.json", format!(r#"{{"added_tokens": [{tokens}]}}"#));
    for folder in ["one", "two"] {
        let run = bench.run_with(&format!("parse {folder}"), "<say>word<eos></say>");
        assert!(
            run.stderr.contains("bytes 9 to 14: <eos>"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("a marker stands"), "{}", run.stderr);
    }
    // Of the tokens that are not special those count that the chat template names, by the rule for delimiters.
    let tokens = r#""added_tokens_decoder": {"0": {"content": "<result>"}, "1": {"content": "<other>"}, "2": {"content": "word"}},
        "chat_template": "{{ '<result>word' }}""#;
    let bench = Bench::new().file("model/tokenizer_config.json", config(tokens));
    let run = bench.run_with("parse model", "<say>word<other><result></say>");
    assert!(run.stderr.contains("a marker stands"), "{}", run.stderr);
    assert!(
        run.stderr.contains("bytes 16 to 24: <result>"),
        "{}",
        run.stderr
    );
}

#[test]
fn lines_have_what_went_astray() {
    let bench = Bench::new().file("tags.json", TAGS);
    let lines = [
        r#"{"response": "a <say>b<think></say>\n", "events": true}"#,
        r#"{"chunks": ["a <sa", "y>b<th", "ink></say>\n"]}"#,
        r#"{"response": "<say>b</say>\n"}"#,
        r#"{"chunks": ["é x", "<"], "finalize": false}"#,
    ];
    let run = bench.run_with("parse --jsonl tags.json", lines.join("\n"));
    assert_snapshot!(run.done_quietly(), @r#"
    {"message": {"content": "b<think>"}, "unclaimed": [{"start": 0, "end": 2, "text": "a "}], "leaked": [{"field": "content", "start": 8, "end": 15, "text": "<think>"}], "initial_events": [], "events": [[{"type": "region_open", "field": "content"}, {"type": "region_chunk", "field": "content", "text": "b<think>", "dirty": false}]], "final_events": [{"type": "region_close", "field": "content", "value": "b<think>"}]}
    {"message": {"content": "b<think>"}, "unclaimed": [{"start": 0, "end": 2, "text": "a "}], "leaked": [{"field": "content", "start": 8, "end": 15, "text": "<think>"}]}
    {"message": {"content": "b"}}
    {"message": {}, "unclaimed": [{"start": 0, "end": 4, "text": "é x"}]}
    "#);
}

#[test]
fn what_is_read_whole_has_a_limit() {
    let bench = Bench::new();
    assert_snapshot!(bench.run_with("parse template.json --max-response 2", "abc").refused(2), @r#"
    error[limit]: <stdin> is longer than the limit of 2 bytes
     |
     = help: --max-response allows more; --events parses what arrives as it arrives, and limits each region alone
    "#);
    assert_snapshot!(bench.run_with("parse template.json --max-response 2 --events --chunks 1", "abc").refused(2), @r#"
    error[limit]: <stdin> is longer than the limit of 2 bytes
     |
     = help: --max-response allows more; --events parses what arrives as it arrives, and limits each region alone
    "#);
    assert_eq!(
        bench
            .run_with("parse template.json --max-response 3", "abc")
            .status,
        0
    );
    // A response that is parsed as it arrives may be longer, if no region of it is.
    assert_eq!(
        bench
            .run_with(
                "parse template.json --max-response 2 --events",
                "<call>1</call>".repeat(10)
            )
            .status,
        0
    );
    assert_snapshot!(bench.run("parse template.json --max-response much").refused(2), @r#"
    error: invalid value 'much' for '--max-response <SIZE>': expected a number of bytes, such as 1000000, 512K, 64M or 2G

    For more information, try '--help'.
    "#);
    // A line that is too long is answered, and the next ones are read.
    let lines = "{\"response\": \"a\", \"id\": 1}\n{\"response\": \"aaaaaaaaaaaaaaaa\", \"id\": 2}\n{\"response\": \"b\"}\n";
    assert_snapshot!(bench.run_with("parse --jsonl template.json --max-response 30", lines), @r#"
    exit 1
    --- stdout
    {"id": 1, "message": {"role": "assistant", "content": "a"}}
    {"error": {"kind": "input", "message": "the line is longer than the limit of 30 bytes"}}
    {"message": {"role": "assistant", "content": "b"}}
    --- stderr
    "#);
}

/// The argument reaches the parser: down, and up beyond its usual limits.
#[test]
fn what_is_parsed_as_it_arrives_has_a_limit_for_each_region() {
    let bench = Bench::new();
    for form in ["--events", "--deltas growth"] {
        let run = bench.run_with(
            &format!("parse template.json --max-response 2 {form}"),
            "abc",
        );
        assert_eq!(run.status, 1, "{}", run.stderr);
        for told in [
            "error[limit]: the region is longer than 2 bytes",
            "= help: --max-response allows more, if there is memory for it",
        ] {
            assert!(run.stderr.contains(told), "{}", run.stderr);
        }
    }
    let limits = |given: &str| {
        let run = bench.run_with(
            &format!("parse template.json --events --state {given}"),
            "abc",
        );
        let last = run.done_quietly();
        let last = last.lines().rev().nth(1).expect("a state").to_owned();
        last[last.find("\"limits\"").expect("limits")..].to_owned()
    };
    assert_snapshot!(limits("--max-response 1G"), @r#""limits": {"region_bytes": {"used": 0, "most": 1073741824}, "held_bytes": {"used": 0, "most": 1073741824}, "regions": {"used": 1, "most": 1000000}}}"#);
    // A response that is to be cut into chunks is read whole first, and measured then.
    assert_snapshot!(limits("--max-response 4 --chunks 1"), @r#""limits": {"region_bytes": {"used": 0, "most": 268435456}, "held_bytes": {"used": 0, "most": 67108864}, "regions": {"used": 1, "most": 1000000}}}"#);
}

/// An endless stream ends in an error and not in the machine's memory; what is parsed as it arrives goes on.
#[cfg(target_os = "linux")]
#[test]
fn an_endless_stream_does_not_fill_the_memory() {
    use std::process::{Command, Stdio};
    let bench = Bench::new();
    let limited = |command: &str| {
        let script = format!("ulimit -v 1000000; {command}");
        Command::new("sh")
            .args(["-c", &script])
            .current_dir(bench.path(""))
            .env("OBVERSE", crate::bench::binary())
            .stdin(Stdio::null())
            .output()
            .expect("a shell")
    };
    for command in [
        "yes | \"$OBVERSE\" parse template.json --max-response 64M",
        "yes | tr -d '\\n' | head -c 900000000 | \"$OBVERSE\" parse --jsonl template.json --max-response 32M",
    ] {
        let output = limited(command);
        let told = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            told.contains("longer than the limit of"),
            "{command}: {told}"
        );
    }
}
