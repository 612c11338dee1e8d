//! `obverse grammar`: what a model may write. That engines take the grammars is held by `tests/reference/grammar`.

use serde_json::Value;

use crate::bench::Bench;

const CHAT: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}\
    <call>{\"name\": {{ c.function.name | tojson }}, \"arguments\": {{ c.function.arguments | tojson }}}</call>{% endfor %}</s>{% endfor %}\
    {% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<assistant>{% endif %}";

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "find", "description": "Finds.", "parameters":
    {"type": "object", "properties": {"what": {"type": "string"}, "count": {"type": "integer"}}, "required": ["what"]}}}]"#;

fn bench() -> Bench {
    Bench::new()
        .file("chat.jinja", CHAT)
        .file("tools.json", TOOLS)
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// What is sampled is read back to calls of the tool that there is, with the argument that it wants.
#[test]
fn samples_are_read_by_the_response_template() {
    let bench = bench();
    let template = bench.run("derive chat.jinja").stdout;
    let bench = bench.file("template.json", &template);
    let ask = "grammar chat.jinja --tools tools.json --tool-choice required --sample 25 --seed 3";
    let samples = bench.run(ask).done();
    assert_eq!(samples, bench.run(ask).done(), "a seed says which");
    let texts = lines(&samples);
    assert_eq!(texts.len(), 25);
    let asked = texts.iter().map(|text| {
        let tools: Value = serde_json::from_str(TOOLS).expect("JSON");
        format!(
            "{}\n",
            serde_json::json!({"response": text, "tools": tools})
        )
    });
    let asked: String = asked.collect();
    let read = bench.run_with("parse --jsonl template.json", &asked).done();
    for (read, text) in lines(&read).iter().zip(&texts) {
        let calls = read["message"]["tool_calls"].as_array();
        let calls = calls.unwrap_or_else(|| panic!("{text} is read as {read}"));
        assert!(
            !calls.is_empty() && read.get("unclaimed").is_none(),
            "{read}"
        );
        for call in calls {
            assert_eq!(call["function"]["name"], "find");
            assert!(call["function"]["arguments"]["what"].is_string(), "{call}");
        }
    }
}

#[test]
fn each_format_is_written_and_an_object_has_all_of_them() {
    let bench = bench();
    let of = |format: &str| {
        let ask = format!("grammar chat.jinja --tools tools.json --format {format}");
        bench.run(&ask).stdout
    };
    assert!(of("gbnf").contains("root ::="));
    assert!(of("lark").contains("start:"));
    let tag: Value = serde_json::from_str(&of("structural-tag")).expect("JSON");
    assert_eq!(tag["type"], "structural_tag");
    assert!(of("structural-tag").contains(r#"\"name\": \"find\""#));
    let all: Value = serde_json::from_str(&of("json")).expect("JSON");
    assert!(all.is_object(), "{all}");
}

/// A lazy grammar begins with the sign at which it is held, and says the sign as llama.cpp takes it.
#[test]
fn a_lazy_grammar_begins_with_its_trigger() {
    let bench = bench();
    let lazy = bench.run("grammar chat.jinja --tools tools.json --format gbnf --lazy");
    let lazy: Value = serde_json::from_str(&lazy.stdout).expect("JSON");
    assert_eq!(lazy["grammar_lazy"], true);
    assert_eq!(
        lazy["grammar_triggers"],
        serde_json::json!([{"type": 1, "value": "<call>"}])
    );
    assert_eq!(lazy["preserved_tokens"], serde_json::json!(["<call>"]));
    let grammar = lazy["grammar"].as_str().expect("a text");
    let root = grammar.lines().next().expect("a rule");
    assert!(root.starts_with(r#"root ::= "<call>"#), "{root}");
    let all = bench.run("grammar chat.jinja --tools tools.json --format json");
    let all: Value = serde_json::from_str(&all.stdout).expect("JSON");
    assert_eq!(all["gbnf"]["lazy"], lazy);
    assert_eq!(all["peg"]["grammar"]["peg"], 1);

    let none = bench.run("grammar chat.jinja --format gbnf --lazy");
    assert_eq!(none.stdout, "null\n");
    assert!(
        none.stderr.contains("begins with a call"),
        "{}",
        none.stderr
    );
    let lark = bench.run("grammar chat.jinja --format lark --lazy");
    assert_eq!(lark.status, 2);
}

/// A response is held to the grammar: where it leaves it is shown with what might have stood there, and otherwise what may follow.
#[test]
fn a_response_is_held_to_the_grammar() {
    let bench = bench()
        .file("begun.txt", "Let me see.<call>{\"name\": \"")
        .file(
            "other.txt",
            "Let me see.<call>{\"name\": \"lose\", \"arguments\": {}}</call></s>",
        )
        .file("tailed.txt", "Yes</s>\n");
    let ask = "grammar chat.jinja --tools tools.json --accepts";
    let begun = bench.run(&format!("{ask} begun.txt")).done();
    insta::assert_snapshot!(begun, @r#"
    allowed, 27 bytes; next may come
      "find\", \"arguments\": {"
    "#);
    let other = bench.run(&format!("{ask} other.txt"));
    assert_eq!((other.status, other.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(other.stderr, @r#"
    error[not-allowed]: the grammar of what the model may write does not allow what stands here
                        expected "find\", \"arguments\": {"
                        found    "lose\", \"arguments\": {}}</call></s>"
     --> other.txt:1:28
      |
    1 | Let me see.<call>{"name": "lose", "arguments": {}}</call></s>
      |                            ^
      |
      = help: an engine that holds its model to `obverse grammar` refuses this: the model has to write it otherwise, or the tools are not those that it was given
    "#);
    let tailed = bench.run(&format!("{ask} tailed.txt"));
    insta::assert_snapshot!(tailed.stderr.lines().take(3).collect::<Vec<_>>().join("\n"), @r#"
    error[not-allowed]: the grammar of what the model may write does not allow what stands here
                        expected the end
                        found    "\n"
    "#);
    assert_eq!(tailed.status, 1);
    let template = bench.run("derive chat.jinja").stdout;
    let bench = bench.file("template.json", &template);
    let alone = bench.run("grammar template.json --tools tools.json --accepts tailed.txt");
    assert_eq!(alone.status, 0, "a response template bears white space");
    let both = bench.run(&format!("{ask} begun.txt --format lark"));
    assert_eq!(both.status, 2);
}

/// A message comes back the same by the response template and by the PEG.
#[test]
fn the_peg_reads_what_the_response_template_reads() {
    let bench = bench();
    let template = bench.run("derive chat.jinja").stdout;
    let peg = bench
        .run("grammar chat.jinja --tools tools.json --format peg")
        .stdout;
    let bench = bench
        .file("template.json", &template)
        .file("peg.json", &peg);
    let text =
        "Let me see.<call>{\"name\": \"find\", \"arguments\": {\"what\": \"it\"}}</call></s>";
    let by = |file: &str| bench.run_with(&format!("parse {file}"), text).done();
    let read: Value = serde_json::from_str(&by("peg.json")).expect("JSON");
    assert_eq!(read["content"], "Let me see.");
    assert_eq!(
        read,
        serde_json::from_str::<Value>(&by("template.json")).expect("JSON")
    );
}

#[test]
fn what_cannot_be_asked_for_is_an_error() {
    let run = bench().run("grammar chat.jinja --tools tools.json --tool-choice lose --format lark");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("error[no-grammar]"), "{}", run.stderr);
    let run = bench().run("grammar missing.jinja --format lark");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("error[unreadable]"), "{}", run.stderr);
}

const TEMPLATE: &str = r#"{"start_anchor": "<assistant>", "fields": {"content": {"close": "</s>"}, "tool_calls": {
    "open_pattern": "<call=(?P<name>\\w+)>", "close": "</call>", "repeats": true, "content": "kv-lines",
    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}}}"#;

/// A response template alone has a grammar, in a file of its own, in a configuration and on standard input, and what it cannot say is told.
#[test]
fn a_response_template_alone_has_a_grammar() {
    let config = format!(r#"{{"eos_token": "</s>", "response_template": {TEMPLATE}}}"#);
    let bench = bench()
        .file("template.json", TEMPLATE)
        .file("model/tokenizer_config.json", &config);
    let ask = "--tools tools.json --format gbnf";
    let run = bench.run(&format!("grammar template.json {ask}"));
    assert!(run.stdout.contains("what: "), "{}", run.stdout);
    assert!(
        run.stderr.contains("in which order its fields come"),
        "{}",
        run.stderr
    );
    for source in ["model", "model/tokenizer_config.json"] {
        let of_config = bench.run(&format!("grammar {source} {ask}")).stdout;
        assert!(of_config.contains("what: "), "{of_config}");
    }
    let piped = bench.run_with(&format!("grammar - {ask}"), TEMPLATE);
    assert_eq!(piped.stdout, run.stdout);
    let chat = bench.run_with(&format!("grammar - {ask}"), CHAT);
    assert!(chat.stdout.contains("<call>"), "{}", chat.stderr);

    let peg = bench.run("grammar template.json --tools tools.json --format peg");
    let bench = bench.file("peg.json", &peg.stdout);
    let text = "Let me see.<call=find>what: it\ncount: 3</call></s>";
    let by = |ask: &str| -> Value {
        serde_json::from_str(&bench.run_with(ask, text).done()).expect("JSON")
    };
    let read = by("parse peg.json");
    assert_eq!(
        read["tool_calls"],
        by("parse template.json --tools tools.json")["tool_calls"]
    );
    assert_eq!(read["tool_calls"][0]["function"]["arguments"]["count"], 3);
}

#[test]
fn a_source_that_is_no_chat_template_says_what_to_do() {
    let bench = bench()
        .file("template.json", TEMPLATE)
        .file("peg.json", r#"{"peg": 1, "root": "rest", "rules": {}}"#);
    let run = bench.run("grammar template.json --format lark --kwarg thinking=true");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("--prefix"), "{}", run.stderr);
    let run = bench.run("grammar peg.json --format lark");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("is a grammar already"),
        "{}",
        run.stderr
    );
    let run = bench.run_with(
        "grammar - --format lark",
        r#"{"start_anchor": "A", "fields": {"content": {"opn": "x"}}}"#,
    );
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("opn"), "{}", run.stderr);
}

#[test]
fn any_tool_is_for_who_reads() {
    let bench = bench();
    let ask = "grammar chat.jinja --tools tools.json --any-tool --format";
    let bench_peg = bench.run(&format!("{ask} peg")).done();
    let bench = bench.file("g.json", &bench_peg);
    let response = r#"<call>{"name": "other", "arguments": {"x": [1]}}</call></s>"#;
    let read = bench.run_with("parse g.json", response).done();
    let read: Value = serde_json::from_str(&read).expect("JSON");
    let function = &read["tool_calls"][0]["function"];
    assert_eq!(function["name"], "other");
    assert_eq!(function["arguments"], serde_json::json!({"x": [1]}));
    let wrong = r#"<call>{"name": "find", "arguments": {"what": 1}}</call></s>"#;
    let run = bench.run_with("parse g.json", wrong);
    assert_eq!(run.status, 0, "a tool that is known may be another: {run}");
    let told = bench.run(&format!("{ask} gbnf")).refused(2);
    assert!(
        told.contains("`--any-tool` is for `--format peg` alone"),
        "{told}"
    );
}

/// Calls whose arguments stand between tags.
const TAGS: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}\
    <call {{ c.function.name }}>{% for k, v in c.function.arguments.items() %}<p {{ k }}>{{ v if v is string else v | tojson }}</p>{% endfor %}</call>{% endfor %}</s>{% endfor %}\
    {% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<assistant>{% endif %}";

/// A tool may take arguments that it does not declare, between tags as in JSON.
#[test]
fn arguments_that_are_not_declared_stand_between_tags() {
    let tools = r#"[{"name": "any", "parameters": {"type": "object"}}, {"name": "empty", "parameters": {"type": "object",
        "properties": {"n": {"type": "integer"}}, "additionalProperties": {}}}, {"name": "more", "parameters": {"type": "object",
        "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": {"type": "boolean"}}}]"#;
    let bench = Bench::new()
        .file("tags.jinja", TAGS)
        .file("tools.json", tools);
    let told = bench
        .run("grammar tags.jinja --tools tools.json --format gbnf")
        .stderr;
    for name in ["any", "more"] {
        let note = format!(
            "note[undeclared-arguments]: `{name}` takes arguments that its schema does not declare"
        );
        assert!(told.contains(&note), "{told}");
    }
    for (response, is_allowed) in [
        ("<call any></call></s>", true),
        ("<call any><p x-1>so</p><p y>[1]</p></call></s>", true),
        ("<call empty><p z>true</p><p y>so</p></call></s>", true),
        ("<call more><p n>1</p><p z>true</p></call></s>", true),
        ("<call more><p n>1</p><p z>3</p></call></s>", false),
        ("<call more><p z>true</p></call></s>", false),
    ] {
        let ask = "grammar tags.jinja --tools tools.json --accepts -";
        let run = bench.run_with(ask, response);
        assert_eq!(run.status, i32::from(!is_allowed), "{response}: {run}");
    }
    let template = bench.run("derive tags.jinja").stdout;
    let bench = bench.file("template.json", &template);
    let ask = "grammar tags.jinja --tools tools.json --tool-choice required --sample 25";
    let mut named = 0;
    for text in lines(&bench.run(ask).stdout) {
        let response = text.as_str().expect("a text");
        let read = bench.run_with("parse template.json --tools tools.json", response);
        let read: Value = serde_json::from_str(&read.stdout).expect("JSON");
        for call in read["tool_calls"].as_array().expect("calls") {
            let arguments = call["function"]["arguments"]
                .as_object()
                .expect("arguments");
            named += arguments.len();
            let is_more = call["function"]["name"] == "more";
            assert!(!is_more || arguments["n"].is_i64(), "{call}");
        }
    }
    assert!(named > 25, "{named}");
}

/// An answer that is asked for has to be there: an empty one is no JSON.
#[test]
fn an_answer_that_is_asked_for_is_written() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}"#;
    let bench = bench().file("schema.json", schema);
    let ask = "grammar chat.jinja --response-format schema.json";
    for text in lines(&bench.run(&format!("{ask} --sample 25")).done()) {
        let text = text.as_str().expect("a text");
        let answer: Value = serde_json::from_str(text.trim_end_matches("</s>")).expect("JSON");
        // `-0` is a whole number, too.
        let whole = answer["a"].as_f64().is_some_and(|n| n.fract() == 0.0);
        assert!(whole, "{text}");
    }
    for (response, tools, is_allowed) in [
        ("{\"a\": 1}</s>", "", true),
        ("</s>", "", false),
        ("{\"a\": \"x\"}</s>", "", false),
        (
            "<call>{\"name\": \"find\", \"arguments\": {\"what\": \"x\"}}</call></s>",
            " --tools tools.json",
            true,
        ),
        ("</s>", " --tools tools.json", false),
    ] {
        let run = bench.run_with(&format!("{ask}{tools} --accepts -"), response);
        assert_eq!(run.status, i32::from(!is_allowed), "{response}: {run}");
    }
}

#[test]
fn a_schema_is_an_object_and_a_closed_reasoning_is_over() {
    let bench = Bench::new()
        .file("c.jinja", CLOSING)
        .file("list.json", "[]")
        .file("typo.json", r#"{"type": "strin"}"#);
    let refused = bench
        .run("grammar c.jinja --response-format list.json --format gbnf")
        .refused(2);
    assert!(refused.contains("a JSON Schema is an object"), "{refused}");
    let run = bench.run("grammar c.jinja --response-format typo.json --format gbnf");
    assert!(run.stderr.contains("`type: strin`"), "{run}");
    let refused = bench
        .run("grammar c.jinja --reasoning on --kwarg think=false --format gbnf")
        .refused(2);
    assert!(
        refused.contains("the prompt has closed it already"),
        "{refused}"
    );
    assert_eq!(
        bench
            .run("grammar c.jinja --reasoning on --format gbnf")
            .status,
        0
    );
}

/// A chat template whose prompt closes the reasoning where none is wanted.
const CLOSING: &str = r#"{%- for m in messages -%}
<{{ m.role }}>{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}<end>
{%- endfor -%}
{%- if add_generation_prompt %}<assistant>{% if think is defined and not think %}<think></think>{% endif %}{% endif -%}"#;
