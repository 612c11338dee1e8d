//! `obverse render`.

use crate::bench::Bench;
use insta::assert_snapshot;

const MESSAGES: &str = r#"[{"role": "user", "content": "Hé <b>\n"}]"#;

fn bench() -> Bench {
    Bench::new().file("messages.json", MESSAGES)
}

/// Nothing is added, nothing escaped.
#[test]
fn the_render_is_written_byte_for_byte() {
    let bench = bench();
    let text = bench
        .run("render chat.jinja --messages messages.json")
        .done();
    assert_eq!(text, "<user>Hé <b>\n</user>");
    let prompt = bench
        .run("render chat.jinja --messages messages.json --add-generation-prompt")
        .done();
    assert_eq!(prompt, "<user>Hé <b>\n</user><assistant>");
    let hostile = r#"[{"role": "user", "content": "\u001b[31m\u202e\r\n"}]"#;
    let text = bench
        .run_with("render chat.jinja --messages -", hostile)
        .done();
    assert_eq!(text, "<user>\u{1b}[31m\u{202e}\r\n</user>");
    let chat = bench.read("chat.jinja");
    let text = bench
        .run_with("render - --messages messages.json", chat)
        .done();
    assert_eq!(text, "<user>Hé <b>\n</user>");
}

#[test]
fn every_input_reaches_the_template() {
    let bench = bench()
        .file(
            "all.jinja",
            "{{ tools | tojson }}|{{ documents | tojson }}|{{ a | tojson }}|{{ b }}|{{ strftime_now('%d %b %Y') }}|{{ bos_token }}",
        )
        .file("tools.json", r#"[{"name": "é"}]"#)
        .file("documents.json", r#"[{"title": "t"}]"#);
    let run = bench.run_all(
        &[
            "render",
            "all.jinja",
            "--messages",
            "messages.json",
            "--tools",
            "tools.json",
            "--documents",
            "documents.json",
            "--kwarg",
            r#"a={"x": [1.0, null]}"#,
            "--kwarg",
            r#"b="=""#,
            "--date",
            "2024-02-29",
            "--special-token",
            "bos_token=<b>",
        ],
        "",
    );
    assert_snapshot!(run.done(), @r#"[{"name": "é"}]|[{"title": "t"}]|{"x": [1.0, null]}|=|29 Feb 2024|<b>"#);
}

#[test]
fn special_tokens_are_assumed_only_where_nothing_tells_them() {
    let bench = bench()
        .file("bos.jinja", "{{ bos_token }}.{{ eos_token }}")
        .file("model/tokenizer_config.json", r#"{"bos_token": {"content": "<b>"}, "chat_template": "{{ bos_token }}.{{ eos_token }}"}"#);
    assert_snapshot!(bench.run("render bos.jinja --messages messages.json"), @r#"
    exit 0
    --- stdout
    <s>.</s>--- stderr
    info[assumed-special-token]: the chat template prints special tokens that its source does not tell; assumed: bos_token is <s>, eos_token is </s>. Give them with --special-token
    "#);
    let told = bench.run("render bos.jinja --messages messages.json --special-token eos_token=<e> --kwarg bos_token=1");
    assert_eq!(told.done(), "1.<e>");
    for source in ["model", "model/tokenizer_config.json"] {
        let text = bench
            .run(&format!("render {source} --messages messages.json"))
            .done();
        assert_eq!(text, "<b>.");
    }
    // A config that names no token says that there is none.
    let silent = "{\"chat_template\": \"[{{ bos_token }}]\"}";
    let text = bench
        .file("silent/tokenizer_config.json", silent)
        .run("render silent --messages messages.json");
    assert_eq!(text.done(), "[]");
}

#[test]
fn a_named_template_can_be_chosen() {
    let config = r#"{"chat_template": [
        {"name": "default", "template": "plain"},
        {"name": "tool_use", "template": "tools"},
        {"name": "rag", "template": "rag"}]}"#;
    let bench = bench()
        .file("tokenizer_config.json", config)
        .file("tools.json", "[{}]");
    let render = |arguments: &str| {
        bench.run(&format!(
            "render tokenizer_config.json --messages messages.json {arguments}"
        ))
    };
    assert_eq!(render("").done(), "plain");
    assert_eq!(render("--tools tools.json").done(), "tools");
    assert_eq!(render("--tools tools.json --template rag").done(), "rag");
    assert_snapshot!(render("--template rga").refused(2), @r#"
    error[no-chat-template]: tokenizer_config.json has no chat template `rga`
     |
     = help: there are `default`, `tool_use`, `rag`; choose one with --template
    "#);
}

#[test]
fn a_template_that_refuses_the_conversation_is_a_finding() {
    let bench = bench()
        .file(
            "raise.jinja",
            "\n{{ raise_exception('no \u{1b}[31m' ~ messages[0].role) }}",
        )
        .file("undefined.jinja", "a\n{{ messages[0].nothing.at_all }}");
    assert_snapshot!(bench.run("render raise.jinja --messages messages.json").refused(1), @r#"
    error[raised]: the chat template refuses the conversation: no \u{1b}[31muser
    --> raise.jinja
    "#);
    assert_snapshot!(bench.run("render undefined.jinja --messages messages.json").refused(1), @r#"
    error[chat-template-error]: a `dict` has no attribute or item `nothing`
     --> undefined.jinja:2:4
      |
    2 | {{ messages[0].nothing.at_all }}
      |    ^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn a_template_that_cannot_be_used_is_an_error() {
    let bench = bench()
        .file(
            "syntax.jinja",
            "{% for m in messages %}\n  {{ m.role }\n{% endfor %}",
        )
        .file(
            "endless.jinja",
            "{% for a in range(99999) %}{% set b = range(99999)|list %}{% endfor %}",
        )
        .file("tokenizer_config.json", r#"{"chat_template": "{% if %}"}"#);
    assert_snapshot!(bench.run("render syntax.jinja --messages messages.json").refused(2), @r#"
    error[chat-template-syntax]: unexpected `}`, expected end of variable block
     --> syntax.jinja:2:13
      |
    2 |   {{ m.role }
      |             ^
    "#);
    assert_snapshot!(bench.run("render endless.jinja --messages messages.json").refused(2), @r#"
    error[fuel-limit]: the chat template exceeds the limit of 20000000 steps of one render
    --> endless.jinja
    "#);
    assert_snapshot!(bench.run("render tokenizer_config.json --messages messages.json").refused(2), @r#"
    error[chat-template-syntax]: unexpected end of block
     --> tokenizer_config.json (chat template `default`):1:7
      |
    1 | {% if %}
      |       ^^
      |
      = help: the tag ends before it is complete
    "#);
}

#[test]
fn input_that_cannot_be_read_is_an_error() {
    let bench = bench()
        .file("broken.json", "[{]")
        .file("object.json", "{}")
        .file("empty/tokenizer_config.json", r#"{"eos_token": "</s>"}"#)
        .file("broken/tokenizer_config.json", "{\n\"a\" 1}");
    assert_snapshot!(bench.run("render chat.jinja --messages missing").refused(2), @r#"error[unreadable]: cannot read missing: No such file or directory (os error 2)"#);
    assert_snapshot!(bench.run("render missing.jinja --messages messages.json").refused(2), @r#"error[unreadable]: cannot read missing.jinja: No such file or directory (os error 2)"#);
    assert_snapshot!(bench.run("render chat.jinja --messages broken.json").refused(2), @r#"
    error[json-syntax]: not JSON: expected a key in double quotes
     --> broken.json:1:3
      |
    1 | [{]
      |   ^
    "#);
    assert_snapshot!(bench.run("render chat.jinja --messages object.json").refused(2), @r#"
    error[wrong-type]: the object has no `messages`; a list of messages is taken, or an object that has them as `messages`
     --> object.json:1:1
      |
    1 | {}
      | ^
    "#);
    assert_snapshot!(bench.run("render empty --messages messages.json").refused(2), @r#"
    error[no-chat-template]: there is no chat template in it
    --> empty
     = note: there is: eos_token
     = help: give a .jinja file, or a tokenizer_config.json, model folder or .gguf file with a chat template
    "#);
    assert_snapshot!(bench.run("render broken --messages messages.json").refused(2), @r#"
    error[json-syntax]: not JSON: expected `:` after the key
     --> broken/tokenizer_config.json:2:5
      |
    2 | "a" 1}
      |     ^
    "#);
}

#[test]
fn each_line_is_answered() {
    let bench = bench().file(
        "all.jinja",
        "{% if add_generation_prompt %}{{ raise_exception('no') }}{% endif %}{{ messages | tojson }}{{ tools | tojson }}{{ documents | tojson }}{{ k }}{{ messages[0].a.b }}",
    );
    let lines = r#"{"id": 1, "messages": [{"a": {"b": "é"}}]}
{"id": 2, "messages": [{"a": {}}], "tools": [1], "documents": [2], "kwargs": {"k": "own"}}
{"id": 3, "messages": [{}], "add_generation_prompt": true}
{"id": 4, "messages": [{}]}
{"id": 5}
{"id": 6, "messages": {}}
{"id": 7, "messages": [], "kwargs": []}
nonsense
"#;
    let run = bench.run_all(
        &["render", "all.jinja", "--jsonl", "--kwarg", "k=\"given\""],
        lines,
    );
    assert_snapshot!(run, @r#"
    exit 1
    --- stdout
    {"id": 1, "text": "[{\"a\": {\"b\": \"é\"}}]nullnullgivené"}
    {"id": 2, "text": "[{\"a\": {}}][1][2]own"}
    {"id": 3, "error": {"kind": "raised", "message": "the chat template raised: no"}}
    {"id": 4, "error": {"kind": "template", "message": "a `dict` has no attribute or item `a`", "span": [145, 160]}}
    {"id": 5, "error": {"kind": "input", "message": "the line has no `messages`"}}
    {"id": 6, "error": {"kind": "input", "message": "messages must be a list, not an object"}}
    {"id": 7, "error": {"kind": "input", "message": "kwargs must be an object, not a list"}}
    {"error": {"kind": "input", "message": "the line is not JSON: expected a value at byte 0", "span": [0, 0]}}
    --- stderr
    "#);
    let fine = bench
        .run_with(
            "render chat.jinja --jsonl",
            "{\"messages\": []}\n{\"messages\": []}",
        )
        .done();
    assert_eq!(fine, "{\"text\": \"\"}\n{\"text\": \"\"}\n");
}

#[test]
fn origins_are_told() {
    let bench = bench().file(
        "o.jinja",
        "{# é #}<b>{{ messages[0].content|trim }}\n{{ messages[0]|tojson }}{{ messages|length }}{{ k or 'é' }}",
    );
    let told = bench
        .run("render o.jinja --messages messages.json --origins")
        .done();
    assert_snapshot!(told, @r#"{"text": "<b>Hé <b>\n{\"role\": \"user\", \"content\": \"Hé <b>\\n\"}1é", "origins": [{"start": 0, "end": 3, "source": {"line": 1, "column": 8, "start": 8, "end": 11}}, {"start": 3, "end": 10, "input": ["messages", 0, "content"], "from": [0, 7]}, {"start": 10, "end": 11, "source": {"line": 1, "column": 41, "start": 41, "end": 42}}, {"start": 11, "end": 12, "input": ["messages", 0], "derived": true}, {"start": 12, "end": 13, "input": ["messages", 0, "role"], "derived": true}, {"start": 13, "end": 17, "input": ["messages", 0, "role"], "from": [0, 4], "key": true}, {"start": 17, "end": 18, "input": ["messages", 0, "role"], "derived": true}, {"start": 18, "end": 20, "input": ["messages", 0], "derived": true}, {"start": 20, "end": 21, "input": ["messages", 0, "role"], "derived": true}, {"start": 21, "end": 25, "input": ["messages", 0, "role"], "from": [0, 4]}, {"start": 25, "end": 26, "input": ["messages", 0, "role"], "derived": true}, {"start": 26, "end": 28, "input": ["messages", 0], "derived": true}, {"start": 28, "end": 29, "input": ["messages", 0, "content"], "derived": true}, {"start": 29, "end": 36, "input": ["messages", 0, "content"], "from": [0, 7], "key": true}, {"start": 36, "end": 37, "input": ["messages", 0, "content"], "derived": true}, {"start": 37, "end": 39, "input": ["messages", 0], "derived": true}, {"start": 39, "end": 40, "input": ["messages", 0, "content"], "derived": true}, {"start": 40, "end": 47, "input": ["messages", 0, "content"], "from": [0, 7]}, {"start": 47, "end": 49, "input": ["messages", 0, "content"], "from": [7, 8], "derived": true}, {"start": 49, "end": 50, "input": ["messages", 0, "content"], "derived": true}, {"start": 50, "end": 51, "input": ["messages", 0], "derived": true}, {"start": 51, "end": 52, "input": ["messages"], "derived": true}, {"start": 52, "end": 54, "source": {"line": 2, "column": 55, "start": 96, "end": 98}}], "decided_by": [["k"]]}"#);
    let lines = bench
        .run_with(
            "render chat.jinja --origins --jsonl",
            "{\"id\": 1, \"messages\": []}",
        )
        .done();
    assert!(
        lines.starts_with("{\"id\": 1, \"text\": \"\", \"origins\": [], \"decided_by\": ["),
        "{lines}"
    );
}

/// Coloured text is for a terminal: nothing of an input may reach it unescaped.
#[test]
fn origins_are_coloured() {
    let hostile = r#"[{"role": "user", "content": "\u001b[31m\u202ea\n"}]"#;
    let bench = bench().file(
        "o.jinja",
        "<b>{{ messages[0].content }}{{ messages[0].role|upper }}",
    );
    let text = bench
        .run_with(
            "render o.jinja --messages - --origins --color always",
            hostile,
        )
        .done_quietly();
    assert_eq!(
        text,
        "\u{1b}[2m<b>\u{1b}[0m\u{1b}[32m\\u{1b}[31m\\u{202e}a\n\u{1b}[0m\u{1b}[33mUSER\u{1b}[0m"
    );
    let plain = bench
        .run_with(
            "render o.jinja --messages - --origins --format text",
            hostile,
        )
        .done_quietly();
    assert_eq!(plain, "<b>\\u{1b}[31m\\u{202e}a\nUSER");
    let json = bench
        .run_with(
            "render o.jinja --messages - --origins --format json --color always",
            hostile,
        )
        .done();
    assert!(
        json.starts_with("{\"text\": \"<b>\\u001b[31m\\u202ea\\nUSER\""),
        "{json}"
    );
}

#[test]
fn a_chat_template_that_is_not_used_may_be_broken() {
    let config = r#"{"chat_template": [{"name": "default", "template": "{{ messages[0].content }}"},
        {"name": "tool_use", "template": "{% if %}"}, {"name": "rag", "template": "rag"}]}"#;
    let bench = Bench::new()
        .file("tokenizer_config.json", config)
        .file("m.json", r#"[{"role": "user", "content": "Hi"}]"#)
        .file("t.json", "[]");
    let render = |more: &str| {
        bench.run(&format!(
            "render tokenizer_config.json --messages m.json {more}"
        ))
    };
    assert_eq!(render("").done(), "Hi");
    assert_eq!(render("--template rag").done(), "rag");
    for more in ["--tools t.json", "--template tool_use"] {
        let run = render(more);
        assert_eq!(run.status, 2, "{run}");
        assert!(run.stderr.contains("chat-template-syntax"), "{run}");
    }
    // What is derived depends on both.
    assert_eq!(bench.run("derive tokenizer_config.json").status, 2);
}
