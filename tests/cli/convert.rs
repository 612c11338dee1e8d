//! `obverse convert`, and what else the verbs do with response schemas.

use crate::bench::Bench;
use insta::assert_snapshot;

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "role": {"const": "assistant"},
    "thinking": {"type": "string", "x-regex": "<think>(.*?)</think>"},
    "tool_calls": {
      "type": "array",
      "x-regex-iterator": "<call>(.*?)</call>",
      "items": {"x-parser": "json", "x-parser-args": {"transform": "{type: 'function', function: @}"}}
    }
  }
}
"#;

fn bench() -> Bench {
    Bench::new().file("schema.json", SCHEMA).file(
        "response",
        "<think>Hm.</think><call>{\"name\": \"f\"}</call>\n",
    )
}

#[test]
fn a_response_schema_parses() {
    let message = bench().run("parse schema.json response").done();
    assert_snapshot!(message, @r#"
    {
      "role": "assistant",
      "thinking": "Hm.",
      "tool_calls": [
        {
          "type": "function",
          "function": {
            "name": "f"
          }
        }
      ]
    }
    "#);
    let config = format!("{{\"eos_token\": \"x\", \"response_schema\": {SCHEMA}}}");
    let bench = bench().file("model/tokenizer_config.json", config);
    assert_eq!(bench.run("parse model response").done(), message);
}

#[test]
fn what_does_not_parse_is_told_by_its_node_and_the_rest_is_parsed() {
    let ran = bench().run_with("parse schema.json", "<think>Hm.</think><call>{oops</call>");
    assert_eq!(ran.status, 1);
    assert_snapshot!(ran.stdout, @r#"
    {
      "error": {
        "kind": "json",
        "message": "the text is not JSON: expected a key in double quotes at byte 1",
        "path": "$.properties.tool_calls.items",
        "hint": "where it may be plain text, x-parser-args.allow_non_json takes it",
        "raw": "{oops"
      },
      "message": {
        "role": "assistant",
        "thinking": "Hm."
      }
    }
    "#);
    assert!(
        ran.stderr.contains("$.properties.tool_calls.items"),
        "{}",
        ran.stderr
    );
}

#[test]
fn events_and_prefixes_are_refused() {
    for arguments in [
        "--events",
        "--deltas growth",
        "--prefix x",
        "--max-regions 7",
    ] {
        let ran = bench().run(&format!("parse schema.json response {arguments}"));
        assert_eq!(ran.status, 2, "{arguments}");
        assert!(ran.stderr.contains("obverse convert"), "{}", ran.stderr);
    }
}

#[test]
fn lines_may_have_either() {
    let line = |id: usize, more: &str| {
        format!("{{\"id\": {id}, \"response\": \"<think>7</think>\"{more}}}\n")
    };
    let input = [
        line(1, ""),
        line(
            2,
            r#", "template": {"type": "integer", "x-regex": "(\\d)"}"#,
        ),
        line(
            3,
            r#", "template": {"start_anchor": "x", "fields": {"content": {}}}"#,
        ),
        line(4, r#", "template": {"x-regex": "("}"#),
        line(5, r#", "events": true"#),
    ];
    let ran = bench().run_with("parse --jsonl schema.json", input.concat());
    assert_eq!(ran.status, 1);
    assert_snapshot!(ran.stdout, @r#"
    {"id": 1, "message": {"role": "assistant", "thinking": "7"}}
    {"id": 2, "message": 7}
    {"id": 3, "message": {"content": "<think>7</think>"}}
    {"id": 4, "error": {"kind": "template", "message": "$.x-regex: the pattern does not compile: `)` is missing"}}
    {"id": 5, "error": {"kind": "input", "message": "a response schema is evaluated over the whole response: it knows no events, no deltas, no prefix and no tools"}}
    "#);
}

#[test]
fn the_tree_of_nodes_is_printed() {
    let ran = bench().run("debug schema.json response");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_snapshot!(ran.stdout, @r#"
    response
      $
        given  "<think>Hm.</think><call>{\"name\": \"f\"}</call>\n"
        properties.role
          given  all of it
          =      "assistant"
        properties.thinking
          given  all of it
          x-regex  "Hm."
          =      "Hm."
        properties.tool_calls
          given  all of it
          x-regex-iterator  ["{\"name\": \"f\"}"]
          items
            given  "{\"name\": \"f\"}"
            x-parser  {"type": "function", "function": {"name": "f"}}
            =      {"type": "function", "function": {"name": "f"}}
          =      [{"type": "function", "function": {"name": "f"}}]
        =      {"role": "assistant", … 77 characters … "f"}}]}
    "#);
    let long = "long ".repeat(100);
    let bench = bench().file(
        "long",
        format!("<think>{long}</think><call>{{\u{1b}</call>"),
    );
    let ran = bench.run("debug schema.json long");
    assert_eq!(ran.status, 1);
    let widths = ran.stdout.lines().map(|line| line.chars().count());
    assert!(widths.max() <= Some(80), "{}", ran.stdout);
    assert!(ran.stdout.contains("error[json]"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    let ran = bench.run("debug schema.json response long --format json");
    let trees: Vec<serde_json::Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(trees.len(), 2);
    assert_eq!(trees[0]["response"], "response");
    assert_eq!(trees[0]["tree"]["children"][1]["result"], "Hm.");
    assert_eq!(trees[1]["tree"]["error"]["kind"], "json");
}

#[test]
fn what_a_tree_does_not_have_is_refused() {
    for flag in [
        "--prefix x",
        "--prefix-file response",
        "--tools response",
        "--chunks words",
        "--skip-json-strings",
        "--follow response",
        "--report response",
        "--record session.json",
        "--screenshot 80x24",
        "--keys q",
        "--chat-template response",
        "--config response",
    ] {
        let ran = bench().run(&format!("debug schema.json response {flag}"));
        assert_eq!(ran.status, 2, "{flag}: {}", ran.stdout);
        let name = flag.split(' ').next().unwrap_or_default();
        assert!(ran.stderr.contains(name), "{flag}: {}", ran.stderr);
        assert!(ran.stderr.contains("obverse convert"), "{}", ran.stderr);
    }
    let bench = Bench::new().file("response", "Hi");
    let ran = bench.run("debug template.json response --format json");
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("--screenshot"), "{}", ran.stderr);
}

#[test]
fn a_schema_becomes_a_response_template_and_a_schema_again() {
    let bench = bench();
    let ran = bench.run("convert schema.json");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("proved: "), "{}", ran.stderr);
    assert_snapshot!(ran.stdout, @r#"
    {
      "defaults": {
        "role": "assistant"
      },
      "start_anchor_pattern": "\\Z",
      "fields": {
        "thinking": {
          "open": "<think>",
          "close_pattern": "</think>\\s*",
          "content_args": {
            "strip": false
          }
        },
        "tool_calls": {
          "open_pattern": "<call>\\s*",
          "close_pattern": "</call>\\s*",
          "repeats": true,
          "content": "json",
          "transform": {
            "type": "function",
            "function": "{content}"
          }
        }
      }
    }
    "#);
    let bench = bench.file("template.json", ran.stdout);
    let message = bench.run("parse schema.json response").done();
    assert_eq!(bench.run("parse template.json response").done(), message);
    let back = bench.run("convert --to response-schema template.json");
    let bench = bench.file("again.json", back.stdout);
    assert_eq!(bench.run("parse again.json response").done(), message);
}

#[test]
fn what_cannot_be_carried_over_is_told() {
    let bench = bench()
        .file("sub.json", SCHEMA.replacen("\"type\"", "\"x-regex-substitutions\": [[\"a\", \"b\"]], \"type\"", 1))
        .file(
            "kv.json",
            r#"{"start_anchor": "x", "fields": {"a": {"open": "<a>", "close": "</a>", "content": "kv-lines"}}}"#,
        );
    let ran = bench.run("convert sub.json");
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("inexpressible") && ran.stderr.contains("substitutions"),
        "{}",
        ran.stderr
    );
    let ran = bench.run("convert --to response-schema kv.json");
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("kv-lines"), "{}", ran.stderr);
    for arguments in [
        "convert kv.json",
        "convert --to response-schema schema.json",
        "convert --write schema.json",
    ] {
        assert_eq!(bench.run(arguments).status, 2, "{arguments}");
    }
}

#[test]
fn given_responses_count_and_the_smallest_difference_is_shown() {
    let bench = bench().file("odd", "<think>a<think>b</think>\n");
    let schema = SCHEMA.replace("<think>(.*?)</think>", "<think>([^<]*)</think>");
    let bench = bench.file("other.json", schema);
    let ran = bench.run("convert other.json --responses odd response --report -");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(
        ran.stdout.contains(r#""origin": "given""#),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.contains("\"<think>a\""), "{}", ran.stderr);
}

#[test]
fn what_is_no_schema_and_what_has_no_responses_is_told() {
    let bench = bench()
        .file("neither.json", "{\"a\": 1}")
        .file("empty/x", "");
    for (arguments, wanted) in [
        ("convert neither.json", "neither a response schema"),
        ("convert empty", "holds no response schema"),
        ("convert nowhere.json", "cannot read nowhere.json"),
        (
            "convert schema.json --responses empty",
            "no fixture in empty",
        ),
        (
            "convert schema.json --responses nowhere",
            "cannot read nowhere",
        ),
        (
            "convert schema.json --chat-template nowhere",
            "cannot read nowhere",
        ),
    ] {
        let ran = bench.run(arguments);
        assert_eq!(ran.status, 2, "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(wanted), "{arguments}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{arguments}");
    }
}

#[test]
fn samples_that_are_long_together_have_a_limit_that_is_told() {
    let long = format!("<think>{}</think>", "long ".repeat(1 << 20));
    let bench = bench().file("long", long);
    let ran = bench.run("convert schema.json --responses long response");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("longer ones were held to the best alone")
            && ran.stderr.contains("2 of 2 given"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_result_is_stored_beside_the_old_key() {
    let config = format!("{{\n  \"eos_token\": \"x\",\n  \"response_schema\": {SCHEMA}}}\n");
    let bench = bench().file("model/tokenizer_config.json", config.clone());
    assert_eq!(bench.run("convert --write model").status, 0);
    let written = bench.read("model/tokenizer_config.json");
    assert!(
        written.starts_with(config.trim_end().trim_end_matches('}').trim_end()),
        "{written}"
    );
    assert!(written.contains("\"response_template\": {"), "{written}");
    let message = bench.run("parse schema.json response").done();
    assert_eq!(bench.run("parse model response").done(), message);
}

#[test]
fn fixtures_of_a_schema_are_checked_and_recorded() {
    let suite = concat!(
        "{\"name\": \"a\", \"response\": \"<think>Hm.</think>\", \"expected\": {\"role\": \"assistant\", \"thinking\": \"Hm.\"}}\n",
        "{\"name\": \"b\", \"response\": \"<think>Oh.</think>\", \"expected\": {\"role\": \"assistant\", \"thinking\": \"Ah.\"}}\n",
        "{\"name\": \"c\", \"response\": \"<call>{</call>\", \"expected\": {\"role\": \"assistant\"}}\n",
    );
    let bench = Bench::new()
        .file("suite/response_schema.json", SCHEMA)
        .file("suite/cases.jsonl", suite);
    let ran = bench.run("check suite");
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    let told = ran.stdout + &ran.stderr;
    assert!(
        told.contains("other-message") && told.contains("\"Ah.\""),
        "{told}"
    );
    assert!(told.contains("does-not-parse"), "{told}");
    bench.run("check suite --update");
    let ran = bench.run("check suite");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        bench
            .read("suite/cases.jsonl")
            .contains("$.properties.tool_calls.items")
    );
}

/// It has neither form, and is what most people have at hand.
#[test]
fn a_chat_template_is_told_as_one() {
    let bench = Bench::new();
    for (arguments, expected) in [
        ("convert chat.jinja", "a response schema"),
        (
            "convert chat.jinja --to response-schema",
            "a response template",
        ),
    ] {
        let told = bench.run(arguments).refused(2);
        let message =
            format!("error[no-response-template]: this is a chat template, not {expected}\n");
        assert!(told.starts_with(&message), "{told}");
        assert!(
            told.contains("`obverse derive chat.jinja` prints it"),
            "{told}"
        );
    }
    let chat = bench.read("chat.jinja");
    let told = bench.run_with("convert -", chat).refused(2);
    assert!(told.contains("`obverse derive -` prints it"), "{told}");
    // A command can be pasted, whatever the file is called.
    let bench = bench.file("my chat.jinja", crate::bench::CHAT).file(
        "my model/tokenizer_config.json",
        r#"{"chat_template": "x"}"#,
    );
    for (arguments, hint) in [
        (
            ["convert", "my chat.jinja"],
            "`obverse derive 'my chat.jinja'` prints it",
        ),
        (
            ["parse", "my model"],
            "`obverse derive --write 'my model/tokenizer_config.json'` stores it there",
        ),
    ] {
        let run = bench.run_all(&arguments, "");
        assert!(run.stderr.contains(hint), "{run}");
    }
}
