//! `obverse inspect`.

use insta::assert_snapshot;

use crate::bench::Bench;

#[test]
fn a_table_for_people() {
    assert_snapshot!(Bench::new().run("inspect chat.jinja").done(), @r#"
    chat.jinja

      roles      system, user, assistant, tool
                 others rendered
      orders     14 of 14 are rendered
      system     rendered, in a turn of its own
      keys       system: content
                 user: content
                 assistant: content
                 tool: content
      content    text  system, user, assistant, tool
                 parts system (printed as a value), user (printed as a value), assistant (printed as a value), tool (printed as a value)
      tools      dropped
      calls      dropped
      results    rendered
                 an object printed as a value
                 between two "</tool><tool>"
      reasoning  never rendered
      documents  dropped
      kwargs     none
      tokens     none are read
      prompts    "<assistant>"  after user, tool, assistant
      growth     prefix-preserving: yes; without reasoning: yes; answers go on from the prompt: yes
    "#);
}

#[test]
fn the_document_for_programs() {
    let written = Bench::new().run("inspect chat.jinja --format json").done();
    let found: serde_json::Value = serde_json::from_str(&written).unwrap();
    let template = &found["templates"][0];
    let keys: Vec<&String> = template.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "name",
            "roles",
            "orders",
            "system",
            "message_keys",
            "content",
            "tools",
            "calls",
            "results",
            "reasoning",
            "documents",
            "kwargs",
            "special_tokens",
            "dated",
            "generation_prompts",
            "growth"
        ]
    );
    assert_eq!(template["system"]["outcome"], "rendered");
    assert_eq!(template["generation_prompts"][0]["text"], "<assistant>");
}

#[test]
fn a_chat_template_that_renders_nothing_is_an_error_beside_the_others() {
    let bench = Bench::new().file(
        "model/tokenizer_config.json",
        r#"{"chat_template": [{"name": "default", "template": "{% for m in messages %}{{ m.content }}{% endfor %}"}, {"name": "rag", "template": "{{ documents[0].x.y }}"}]}"#,
    );
    let run = bench.run("inspect model");
    assert_eq!(run.status, 2);
    assert!(run.stdout.starts_with("model  template default\n"), "{run}");
    assert_snapshot!(run.stderr, @r#"
    error[not-rendered]: the chat template does not render a single user message: a `NoneType` has no attribute or item 0
     --> model (chat template `rag`):1:4
      |
    1 | {{ documents[0].x.y }}
      |    ^^^^^^^^^^^^^^
    "#);
    assert_eq!(bench.run("inspect model --template default").status, 0);
    assert_snapshot!(bench.run("inspect model --template no").refused(2), @r#"
    error[no-chat-template]: model has no chat template `no`
     |
     = help: there are `default`, `rag`; choose one with --template
    "#);
}

#[test]
fn nothing_of_a_hostile_template_reaches_the_terminal() {
    let hostile = "{% set x = '\u{1b}[31mrole\u{202e}' %}\u{1b}]0;x\u{7}{{ message }}{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('\u{1b}[2J') }}{% endif %}\u{9b}{{ m.content }}{% if m['\u{1b}k'] %}{% endif %}{% endfor %}{% if add_generation_prompt %}\u{1b}{{ kw }}{% endif %}";
    let bench = Bench::new().file("hostile.jinja", hostile);
    for arguments in [
        "inspect hostile.jinja",
        "inspect hostile.jinja --format json",
    ] {
        let shown = bench.run(arguments).done();
        let harmless = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!(shown.chars().all(harmless), "{shown:?}");
    }
}
