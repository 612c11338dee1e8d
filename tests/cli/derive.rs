//! `obverse derive`.

use crate::bench::{Bench, CHAT, without_counts};
use insta::assert_snapshot;
use obverse::response_template::ResponseTemplate;

/// A chat template that writes something else than it was given.
const LOSSY: &str = "\
{%- for message in messages -%}
<{{ message.role }}>{{ message.content | replace('\\n', ' ') }}</{{ message.role }}>
{%- endfor -%}
{%- if add_generation_prompt -%}<assistant>{%- endif -%}
";

#[test]
fn a_template_is_derived_and_proved() {
    let bench = Bench::new();
    let run = bench.run("derive chat.jinja").without_counts();
    assert_snapshot!(run, @r#"
    exit 0
    --- stdout
    {
      "defaults": {
        "role": "assistant"
      },
      "start_anchor": "<assistant>",
      "fields": {
        "content": {
          "close_pattern": "</assistant>\\s*",
          "repeats": true,
          "join": "",
          "content": "text"
        }
      }
    }
    --- stderr
    proved  chat.jinja  rounds: passed, cut short

      anchor     "<assistant>"
      reasoning  none
      content    plain  … "</assistant>"
      tools      none
      supports   system message, no tools
                 not: tools, calls, several calls, content with calls, tool results, reasoning
      kinds      came back: content, after a tool's result
                 handed over: as usual
      deviations 3 of 3 are read all the same

      info[marker-in-text]: text that looks like a marker is read as one, wherever it stands: in content "</assistant>"
    "#);
    let stdin = bench.run_with("derive -", CHAT);
    assert_eq!((stdin.status, stdin.stdout), (0, run.stdout));
    let empty = bench.run_with("derive -", "");
    assert!(empty.stderr.contains("--> <stdin>"), "{empty}");
}

#[test]
fn what_is_not_proved_is_a_finding_with_its_smallest_message() {
    let bench = Bench::new().file("lossy.jinja", LOSSY);
    let run = bench.run("derive lossy.jinja");
    assert_eq!(run.status, 1, "{run}");
    // The draft is there all the same.
    ResponseTemplate::from_json(&run.stdout).unwrap();
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(
        lines[0].starts_with("NOT WHOLLY EXPRESSIBLE  lossy.jinja  rounds: "),
        "{run}"
    );
    let has = |start: &str| lines.iter().any(|line| line.starts_with(start));
    // A text in two lines is written as the one that has a space there.
    assert!(has("  error[inexpressible]: "), "{run}");
    for name in ["message", "prefix", "response", "expected", "parsed"] {
        assert!(has(&format!("  {name:11}")), "{name} in {run}");
    }
    assert!(has("  differs    at $.content: expected \""), "{run}");
    // What a person wants to know first stands before the details.
    let at = |start: &str| lines.iter().position(|line| line.starts_with(start));
    for name in ["  works ", "  fails ", "  why ", "  what to do next"] {
        assert!(
            at(name).is_some() && at(name) < at("  anchor "),
            "{name} in {run}"
        );
    }
    assert!(has("    obverse debug lossy.jinja"), "{run}");
}

/// A chat template with this between the turns' tags.
fn turns(turn: &str) -> String {
    format!(
        "{{%- for message in messages -%}}<{{{{ message.role }}}}>{turn}</{{{{ message.role }}}}>{{%- endfor -%}}
{{%- if add_generation_prompt -%}}<assistant>{{%- endif -%}}"
    )
}

#[test]
fn why_is_told_by_the_reason_where_one_is_known() {
    let escaped = turns("{{ message.content | replace('*', '') }}");
    let paragraph =
        |key: &str| format!("{{% if message.{key} %}}<p>{{{{ message.{key} }}}}</p>{{% endif %}}");
    let alike = turns(&[paragraph("reasoning"), paragraph("content")].concat());
    for (chat, reason) in [
        (
            escaped,
            "  why        the chat template writes characters of the content otherwise than they are (*)",
        ),
        (
            alike,
            "  why        {\"role\": \"assistant\", \"reasoning\": \"Lantern wharf\", \"content\": \"\"} renders as {\"role\": \"assistant\", \"content\": \"Lantern wharf\"} does",
        ),
    ] {
        let run = Bench::new()
            .file("lossy.jinja", chat)
            .run("derive lossy.jinja");
        let mut lines = run.stderr.lines();
        assert!(
            lines.any(|line| line.starts_with(reason)),
            "{reason} in {run}"
        );
    }
}

#[test]
fn the_evidence_is_shown_as_diffs() {
    let bench = Bench::new();
    let plain = bench.run("derive chat.jinja");
    let explained = bench.run("derive chat.jinja --explain=all");
    assert_eq!(explained.stdout, plain.stdout);
    let evidence = explained.stderr.strip_prefix(&plain.stderr).unwrap();
    for part in [
        "\n  content close  2 candidates\n    taken      pattern: ",
        "\n    no better  literal: ",
        "\n  anchor  \"<assistant>\"\n",
        "\n    written at chat.jinja:",
        "\n    [-left-]  ",
        "\n    {+right+} ",
        "{+<assistant>+}",
    ] {
        assert!(evidence.contains(part), "{part} in {evidence}");
    }
}

#[test]
fn an_explanation_is_short_unless_more_is_asked_for() {
    let bench = Bench::new();
    let short = bench.run("derive chat.jinja --explain").stderr;
    assert!(
        short.contains("    anchor  \"<assistant>\"  written at "),
        "{short}"
    );
    assert!(short.contains("    content close  pattern: "), "{short}");
    assert!(
        short.contains("shown without --explain or with -v: what the chat template supports"),
        "{short}"
    );
    let whole = bench.run("derive chat.jinja --explain -v").stderr;
    assert!(
        whole.contains("  supports   ") && !short.contains("  supports   "),
        "{whole}"
    );
    // Each place would tell it again.
    let plain = bench.run("derive chat.jinja").stderr;
    let named = |text: &str| text.matches("chat.jinja").count();
    assert_eq!(named(&short), named(&plain) + 1, "{short}");
    assert!(!short.contains("[-left-]"), "{short}");
    let one = bench.run("derive chat.jinja --explain=anchor").stderr;
    assert!(
        one.contains("[-left-]") && !one.contains("content close"),
        "{one}"
    );
    let none = bench.run("derive chat.jinja --explain=anchr");
    assert_eq!(none.status, 0, "{none}");
    assert!(
        none.stderr
            .contains("no marker or decision is called `anchr`; did you mean `anchor`?"),
        "{none}"
    );
}

/// Where the name alone stands before a call's arguments, text between such signs is no call: the arguments tell.
#[test]
fn what_was_read_first_is_told_with_what_it_lost_by() {
    let calls = "{{ message.content }}{% for call in message.tool_calls or [] %}<{{ call.function.name }}>\
        {{ call.function.arguments | tojson }}</{{ call.function.name }}>{% endfor %}";
    let bench = Bench::new().file("bare.jinja", CHAT.replace("{{ message.content }}", calls));
    let run = bench.run("derive bare.jinja --explain=call-open");
    assert_eq!(run.status, 0, "{run}");
    for part in [
        "info[corrected]: call open: the first candidate, ",
        "\n    fails      its marker: ",
        "\n    taken      where arguments follow: ",
    ] {
        assert!(run.stderr.contains(part), "{part} in {run}");
    }
}

#[test]
fn a_template_can_be_asked_for_by_the_engines_that_read_it() {
    let chat = CHAT.replace(
        "{{ message.content }}",
        "{% if message.reasoning_content %}[R]{{ message.reasoning_content }}[/R]{% endif %}{{ message.content }}",
    );
    let bench = Bench::new().file("reasoning.jinja", chat);
    let run = bench.run("derive reasoning.jinja");
    assert!(run.stdout.contains("\"reasoning_content\": {"), "{run}");
    let run = bench.run("derive reasoning.jinja --for vllm --for transformers");
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stdout.contains("\"thinking\": {"), "{run}");
    assert!(run.stderr.contains("info[reasoning-renamed]"), "{run}");
    let run = bench.run("derive reasoning.jinja --for llamacpp");
    assert_eq!(run.status, 2, "{run}");
    let told = "[possible values: transformers, vllm, sglang]";
    assert!(run.stderr.contains(told), "{run}");
}

#[test]
fn several_sources_each_get_their_files() {
    let bench = Bench::new()
        .file("other/chat.jinja", CHAT)
        .file(
            "model/tokenizer_config.json",
            r#"{"chat_template": "nothing"}"#,
        )
        .file("lossy.jinja", LOSSY);
    let run = bench.run("derive --out-dir out chat.jinja other/chat.jinja lossy.jinja");
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    assert_eq!(
        bench.list("out"),
        [
            "chat-2.json",
            "chat-2.report.json",
            "chat.json",
            "chat.report.json",
            "lossy.json",
            "lossy.report.json"
        ]
    );
    assert_eq!(
        bench.read("out/chat.json"),
        bench.run("derive chat.jinja").stdout
    );
    let report = bench.read("out/lossy.report.json");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["verified"], false);
    assert_eq!(report["source"], "lossy.jinja");
    // A line for each, and how many there are of each verdict.
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 6, "{run}");
    assert_eq!(lines[0], "proved                  chat.jinja");
    assert!(
        lines[2].starts_with("NOT WHOLLY EXPRESSIBLE  lossy.jinja  "),
        "{run}"
    );
    assert_eq!(
        lines[4..],
        [
            "proved                     2",
            "NOT WHOLLY EXPRESSIBLE     1  lossy.jinja"
        ]
    );
    let long = bench.run("derive -v --out-dir out chat.jinja other/chat.jinja");
    assert!(
        long.stderr.contains("  anchor     \"<assistant>\""),
        "{long}"
    );
    assert_eq!(
        bench
            .run("derive -q --out-dir out chat.jinja other/chat.jinja")
            .stderr,
        ""
    );
    // What cannot be derived stops none of the others, and its status is the worst.
    let run = bench.run("derive --out-dir more missing.jinja chat.jinja model lossy.jinja");
    assert_eq!(run.status, 2);
    assert_eq!(
        bench.list("more"),
        [
            "chat.json",
            "chat.report.json",
            "lossy.json",
            "lossy.report.json"
        ]
    );
}

#[test]
fn several_sources_need_a_place_for_their_files() {
    let bench = Bench::new();
    assert_snapshot!(bench.run("derive chat.jinja chat.jinja").refused(2), @r#"error[usage]: several sources need --out-dir DIR, where each gets its files"#);
    let told = bench
        .run("derive chat.jinja chat.jinja --out-dir out --report r")
        .refused(2);
    assert_snapshot!(told, @r#"error[usage]: --report is for one source; with --out-dir each gets a report"#);
    let told = bench
        .run("derive chat.jinja chat.jinja --out-dir out --grammar g")
        .refused(2);
    assert_snapshot!(told, @"error[usage]: --grammar is for one source");
}

/// A chat template whose arguments are Python's, which no content parser reads.
const PYTHON: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}\
    [call {{ c.function.name }}{% for k, v in c.function.arguments.items() %}|{{ k }}={{ v }};{% endfor %}]{% endfor %}</s>{% endfor %}\
    {% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<assistant>{% endif %}";

#[test]
fn the_grammar_reads_what_no_response_template_does() {
    let bench = Bench::new().file("python.jinja", PYTHON).file(
        "tools.json",
        r#"[{"name": "book", "parameters": {"properties": {"seat": {"type": "string"}}}}]"#,
    );
    let run = bench.run("derive python.jinja --grammar g.json");
    assert_eq!(run.status, 1, "{run}");
    assert!(
        run.stderr
            .contains("obverse derive python.jinja --grammar python.grammar.json"),
        "{run}"
    );
    let numbers = |line: &str| {
        let numbers = line.split(|c: char| !c.is_ascii_digit());
        let numbers = numbers.filter_map(|text| text.parse::<usize>().ok());
        numbers.collect::<Vec<usize>>()
    };
    let line = run
        .stderr
        .lines()
        .find(|line| line.contains("the grammar reads"));
    let [read, of, missed_read, missed] = numbers(line.unwrap_or_default())[..] else {
        panic!("{run}");
    };
    assert!(
        0 < missed_read && missed_read == missed,
        "the grammar reads all that the response template does not: {run}"
    );
    // A text of the grammar has none of what closes it in it.
    assert!(read < of && of - read < of / 10, "{run}");
    let response = "[call book|who=['O\\'Hara', None];|seat=12;]</s>";
    for (more, seat) in [("", "12"), (" --tools tools.json", "\"12\"")] {
        let message = bench
            .run_with(
                &format!("parse g.json{more} --prefix <user>q</s><assistant>"),
                response,
            )
            .done();
        let message: serde_json::Value = serde_json::from_str(&message).expect("JSON");
        let arguments = &message["tool_calls"][0]["function"]["arguments"];
        assert_eq!(
            arguments.to_string(),
            format!(r#"{{"who":["O'Hara",null],"seat":{seat}}}"#)
        );
    }
    let run = bench.run("derive python.jinja --quiet --grammar -");
    let written = std::fs::read_to_string(bench.path("g.json")).expect("the grammar");
    assert_eq!((run.status, run.stdout.as_str()), (1, written.as_str()));
    let told = bench
        .run("derive python.jinja --conversation --grammar g.json")
        .refused(2);
    assert!(told.contains("without --conversation"), "{told}");
    let run = bench.run("derive python.jinja --grammar python.jinja");
    assert_eq!(run.status, 2, "a chat template is not written over: {run}");
}

#[test]
fn the_report_can_be_had_as_json() {
    let bench = Bench::new();
    let plain = bench.run("derive chat.jinja");
    let run = bench.run("derive chat.jinja --report report.json");
    assert_eq!(run.stdout, plain.stdout);
    let report = bench.read("report.json");
    let value: serde_json::Value = serde_json::from_str(&report).unwrap();
    let keys: Vec<&String> = value.as_object().unwrap().keys().take(11).collect();
    assert_eq!(
        keys,
        [
            "source",
            "verified",
            "verdict",
            "rounds",
            "kinds",
            "start_anchor",
            "reasoning",
            "content",
            "tools",
            "supports",
            "findings"
        ]
    );
    // On standard output it stands in the place of the template.
    assert_eq!(bench.run("derive chat.jinja --report -").stdout, report);
    let run = bench.run("derive chat.jinja --report - --out-dir out");
    assert_eq!(run.stdout, report);
    assert_eq!(bench.read("out/chat.json"), plain.stdout);
}

#[test]
fn a_config_keeps_every_other_byte() {
    let chat = obverse::value::json::quote(CHAT);
    let before = "{\r\n\t\"eps\": 1E-5,  \"bos_token\": null,\r\n\t\"a\\u00e9\": \"\\u00e9\",\r\n\t\"chat_template\": ";
    let after = ",\r\n\t\"big\": 123456789012345678901234567890\r\n}\r\n";
    let config = format!("{before}{chat}{after}");
    let bench = Bench::new().file("model/tokenizer_config.json", &config);
    let run = bench.run("derive model --write").without_counts();
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    assert!(
        run.stderr.contains("wrote model/tokenizer_config.json"),
        "{run}"
    );
    let written = bench.read("model/tokenizer_config.json");
    let kept = config.strip_suffix("\r\n}\r\n").unwrap();
    let member = written
        .strip_prefix(kept)
        .unwrap()
        .strip_suffix("\r\n}\r\n")
        .unwrap();
    assert!(
        member.starts_with(",\r\n\t\"response_template\": {\r\n\t\t"),
        "{member}"
    );
    assert_eq!(bench.list("model"), ["tokenizer_config.json"]);
    let message = bench
        .run_with("parse model/tokenizer_config.json", "Hi</assistant>")
        .done();
    assert!(message.contains("\"Hi\""), "{message}");
    // Once more changes nothing.
    bench.run("derive model/tokenizer_config.json --write");
    assert_eq!(bench.read("model/tokenizer_config.json"), written);
}

#[test]
fn without_a_config_there_is_nothing_to_write_to() {
    assert_snapshot!(Bench::new().run("derive chat.jinja --write").refused(2), @r#"
    error[no-config]: chat.jinja has no tokenizer_config.json to write to
     |
     = help: give the tokenizer_config.json or the model folder as SOURCE
    "#);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let bench = Bench::new().file("file", "");
    assert_snapshot!(bench.run("derive chat.jinja --out-dir file/out").refused(2), @r#"error[unwritable]: cannot create file/out: Not a directory (os error 20)"#);
    let run = bench
        .run("derive chat.jinja --report no/report.json")
        .without_counts();
    assert!(run.stderr.contains("cannot write no/report.json"), "{run}");
    assert_eq!(run.status, 2);
}

#[test]
fn the_date_and_the_special_tokens_are_given() {
    let dated = "{{ strftime_now(' %Y') }}{{ '!' if strftime_now('%Y') == '2001' }}";
    let dated = CHAT
        .replace("<assistant>", &format!("<assistant{dated}>"))
        .replace(
            "<{{ message.role }}>",
            &format!("<{{{{ message.role }}}}{dated}>"),
        )
        .replace("</{{ message.role }}>", "{{ eos_token }}");
    let bench = Bench::new().file("dated.jinja", dated);
    let run = bench.run("derive dated.jinja --date 2001-01-01");
    // The turn of the model may begin with any date, and only that of 2001 has another sign behind it.
    assert!(run.stdout.contains(r"<assistant[^\\n!]*!>"), "{run}");
    assert!(run.stdout.contains("</s>"), "{run}");
    assert!(run.stderr.contains("warning[assumed-token]"), "{run}");
    let run = bench.run("derive dated.jinja --special-token eos_token=<e>");
    assert!(run.stdout.contains("<e>"), "{run}");
    assert!(
        !run.stdout.contains("2001") && !run.stdout.contains("!>"),
        "{run}"
    );
    assert!(!run.stderr.contains("assumed"), "{run}");
}

#[test]
fn sources_that_cannot_be_derived_are_errors_with_their_place() {
    let bench = Bench::new()
        .file(
            "syntax.jinja",
            "{% for m in messages %}\n  {{ m.role }}\n{% endif %}",
        )
        .file(
            "endless.jinja",
            "{% for a in range(99999) %}{% set b = range(99999)|list %}{% endfor %}",
        )
        .file("mute.jinja", "nothing")
        .file("attribute.jinja", "a\n{{ messages[0].content.x.y }}")
        .file(
            "no/tokenizer_config.json",
            r#"{"eos_token": "</s>", "model_max_length": 1}"#,
        )
        .file(
            "broken/tokenizer_config.json",
            "{\"chat_template\": \"x\"\n\"a\": 1}",
        )
        .file("bytes.jinja", b"{{ a }}\n\xff");
    assert_snapshot!(bench.run("derive syntax.jinja").refused(2), @r#"
    error[chat-template-syntax]: unknown statement endif
     --> syntax.jinja:3:4
      |
    3 | {% endif %}
      |    ^^^^^
      |
      = help: no block is open here that this tag belongs to, or another one was opened since and is to be ended first
    "#);
    assert_snapshot!(bench.run("derive endless.jinja").refused(2), @r#"
    error[not-rendered]: the chat template does not render a single user message: the chat template exceeds the limit of 20000000 steps of one render
    --> endless.jinja
    "#);
    assert_snapshot!(bench.run("derive mute.jinja").refused(2), @r#"
    error[not-derived]: the chat template renders no assistant message in any conversation that was tried; the answer is not in the render
    --> mute.jinja
    "#);
    assert_snapshot!(bench.run("derive attribute.jinja").refused(2), @r#"
    error[not-rendered]: the chat template does not render a single user message: a `str` has no attribute or item `x`
     --> attribute.jinja:2:4
      |
    2 | {{ messages[0].content.x.y }}
      |    ^^^^^^^^^^^^^^^^^^^^^^^
    "#);
    assert_snapshot!(bench.run("derive no").refused(2), @r#"
    error[no-chat-template]: there is no chat template in it
    --> no
     = note: there is: eos_token, model_max_length
     = help: give a .jinja file, or a tokenizer_config.json, model folder or .gguf file with a chat template
    "#);
    assert_snapshot!(bench.run("derive broken").refused(2), @r#"
    error[json-syntax]: not JSON: expected `,` or the closing bracket
     --> broken/tokenizer_config.json:2:1
      |
    2 | "a": 1}
      | ^
    "#);
    assert_snapshot!(bench.run("derive bytes.jinja").refused(2), @r#"
    error[invalid-utf8]: invalid UTF-8 at byte 8
     --> bytes.jinja:2:1
      |
    2 | �
      | ^
    "#);
    assert_snapshot!(bench.run("derive missing.jinja").refused(2), @r#"error[unreadable]: cannot read missing.jinja: No such file or directory (os error 2)"#);
}

/// The counts are left out by a helper of the tests, which must leave the rest alone.
#[test]
fn only_counts_are_left_out() {
    assert_eq!(
        without_counts("a 1\nx  rounds: 12 passed, 3 failed\n2"),
        "a 1\nx  rounds: passed, failed\n2"
    );
}

/// The snapshots of a model's cache are links to files that several revisions share.
#[cfg(unix)]
#[test]
fn what_others_share_is_not_written_unless_it_is_forced() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let config = "{\"bos_token\": \"<s>\"}";
    let bench = Bench::new()
        .file("blobs/abc", config)
        .file("snapshots/main/chat_template.jinja", CHAT)
        .file("locked/chat_template.jinja", CHAT)
        .file("locked/tokenizer_config.json", config);
    symlink(
        "../../blobs/abc",
        bench.path("snapshots/main/tokenizer_config.json"),
    )
    .expect("a link");
    let locked = bench.path("locked/tokenizer_config.json");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o440)).expect("a mode");
    assert_snapshot!(bench.run("derive snapshots/main --write").refused(2), @r#"
    error[protected]: snapshots/main/tokenizer_config.json is a symbolic link to ../../blobs/abc, which others may share
     |
     = help: --force writes it all the same
    "#);
    assert_snapshot!(bench.run("derive locked --write").refused(2), @r#"
    error[protected]: locked/tokenizer_config.json is read-only
     |
     = help: --force writes it all the same
    "#);
    assert_eq!(bench.read("blobs/abc"), config);
    assert_eq!(bench.read("locked/tokenizer_config.json"), config);
    for model in ["snapshots/main", "locked"] {
        let run = bench.run(&format!("derive {model} --write --force"));
        assert_eq!(run.status, 0, "{run}");
    }
    assert!(bench.read("blobs/abc").contains("response_template"));
    assert!(
        bench
            .path("snapshots/main/tokenizer_config.json")
            .is_symlink()
    );
    let mode = std::fs::metadata(&locked)
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o440);
}

/// A chat template with calls, and three responses: one as it renders them, one with another head, one that is prose.
fn with_responses() -> Bench {
    let chat = "\
{%- if tools %}<tools>{{ tools | tojson }}<end>{% endif -%}
{%- for m in messages -%}
<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}[call {{ c.function.name }}: {{ c.function.arguments | tojson }}]{% endfor %}<end>
{%- endfor -%}
{%- if add_generation_prompt -%}<assistant>{%- endif -%}
";
    let lines = r#"{"name": "as rendered", "response": "[call look: {\"at\": 1}]<end>"}
{"name": "to", "response": "[call to=look {\"at\": 1}]<end>"}
{"name": "prose", "response": "I call look with care.<end>", "message": {"content": "I call look with care."}}
"#;
    let tools = r#"[{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "integer"}}}}}]"#;
    Bench::new()
        .file("calls.jinja", chat)
        .file("said.jsonl", lines)
        .file("tools.json", tools)
}

#[test]
fn recorded_responses_teach_what_no_render_shows() {
    let bench = with_responses();
    let run = bench.run("derive calls.jinja --responses said.jsonl --tools tools.json --keep kept");
    assert_eq!(run.status, 0, "{run}");
    let told = &run.stderr;
    assert!(
        told.contains("3 of 3 responses are read right  2 by the renders alone"),
        "{told}"
    );
    assert!(told.contains("taught by said.jsonl:2 to\n"), "{told}");
    // The fixtures that were kept hold.
    std::fs::write(bench.path("learnt.json"), &run.stdout).unwrap();
    std::fs::write(bench.path("kept/response_template.json"), &run.stdout).unwrap();
    let checked = bench.run("check kept");
    assert_eq!(checked.status, 0, "{checked}");
    let call = bench.run("parse learnt.json kept/said-jsonl-2-to/response.txt --tools tools.json");
    assert!(call.stdout.contains(r#""name": "look""#), "{call}");
    // They are not overwritten.
    let again =
        bench.run("derive calls.jinja --responses said.jsonl --tools tools.json --keep kept");
    assert!(again.refused(2).contains("is there already"));
    let explained = bench
        .run("derive calls.jinja --responses said.jsonl --tools tools.json --explain=response");
    assert!(
        explained.stderr.contains("the nearest render"),
        "{explained}"
    );
}

#[test]
fn the_report_has_what_came_of_responses() {
    let bench = with_responses();
    let run = bench.run("derive calls.jinja --responses said.jsonl --tools tools.json --report -");
    let report = obverse::value::json::parse(&run.stdout).unwrap();
    let responses = report.get("responses").unwrap();
    let widening = responses
        .get("widenings")
        .and_then(|all| all.as_array())
        .unwrap();
    assert_eq!(widening.len(), 1, "{run}");
    assert_eq!(
        widening[0].get("field").and_then(|name| name.as_str()),
        Some("tool_calls")
    );
    // A response that stays short is named, with the reason.
    let bench = with_responses().file(
        "lost.txt",
        "[call nothing-there: {\"at\": 1}] [call look: {\"at\": ]<end>",
    );
    let run = bench.run("derive calls.jinja --responses lost.txt --tools tools.json");
    assert!(run.stderr.contains("not read right: lost.txt: "), "{run}");
    // However long what it quotes of the response is.
    let long = format!("[call look: {}<end>", "[".repeat(100_000));
    let bench = with_responses().file("long.txt", long);
    let run = bench.run("derive calls.jinja --responses long.txt --tools tools.json");
    assert!(run.stderr.contains("not read right: long.txt: "), "{run}");
    let longest = run.stderr.lines().map(|line| line.chars().count()).max();
    assert!(longest < Some(1000), "{longest:?}");
}

#[test]
fn responses_that_cannot_be_read_are_told() {
    let bench = with_responses().file("bad.jsonl", "{\"reply\": 1}\n").file(
        "asked.jsonl",
        "{\"response\": \"Hi\", \"messages\": [{\"role\": 1}]}\n",
    );
    let bench = bench.file("text.jsonl", r#"{"response": "Hi", "message": "Hi"}"#);
    for (path, wanted) in [
        ("nowhere.txt", "cannot read"),
        ("bad.jsonl", "there is no response"),
        ("text.jsonl", "`message` must be an object, not a string"),
    ] {
        let told = bench
            .run(&format!("derive calls.jinja --responses {path}"))
            .refused(2);
        assert!(told.contains(wanted), "{told}");
    }
}
