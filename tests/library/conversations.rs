//! Whole conversations read back: what chat templates do with them that is not the usual, and chat templates that nothing here was made for.

use obverse::chat_template::{self, ChatTemplateSource, RenderInput};
use obverse::conversation::{self, Conversation, Derivation, Extent, Reader, Verdict};
use obverse::derive;
use obverse::value::{Value, json};

fn source(text: &str) -> ChatTemplateSource {
    chat_template::from_text("example", text).expect("a chat template")
}

fn derived(source: &ChatTemplateSource, extent: Extent) -> Derivation {
    conversation::derive(source, &derive::Options::default(), extent).expect("a format")
}

fn list(text: &str) -> Vec<Value> {
    let value = json::parse(text).expect("JSON");
    value.as_array().expect("a list").to_vec()
}

/// A conversation rendered, and read.
fn read(source: &ChatTemplateSource, messages: &str, tools: &str) -> Conversation {
    let derivation = derived(source, Extent::default().conversations(6));
    let mut input = RenderInput::new(list(messages));
    let tools = list(tools);
    let has_tools = !tools.is_empty();
    if has_tools {
        input.tools = Some(tools);
    }
    let template = source.select(has_tools).expect("a chat template");
    let text = template.render(&input).expect("a render");
    let reader = Reader::with_source(derivation.format, source, None);
    let read = reader.read(&text);
    read.unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn written(messages: &[Value]) -> String {
    json::to_string(&Value::Array(messages.to_vec()))
}

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "weigh", "description": "Weighs it",
    "parameters": {"type": "object", "properties": {"what": {"type": "string", "description": "The thing"},
    "times": {"type": "integer", "description": "How often"}}, "required": ["what"]}}},
    {"type": "function", "function": {"name": "paint", "description": "Paints it",
    "parameters": {"type": "object", "properties": {"wet": {"type": "boolean", "description": "Whether"}}, "required": []}}}]"#;

/// Types and what is needed stand in no text of their own: they are read from the constants that a chat template chooses by them.
#[test]
fn definitions_that_are_no_json_come_back() {
    let source = source(
        "{%- for tool in tools or [] %}{% set f = tool.function %}fn {{ f.name }}(\
         {%- for name, schema in f.parameters.properties.items() %}{{ name }}{{ '' if name in f.parameters.required else '?' }}: \
         {{- {'integer': 'int', 'boolean': 'bool', 'number': 'float'}.get(schema.type, 'str') }} /* {{ schema.description }} */{{ '' if loop.last else ', ' }}{% endfor -%}\
         ) // {{ f.description }};\n{% endfor -%}\
         {%- for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor -%}\
         {%- if add_generation_prompt %}<assistant>{% endif -%}",
    );
    let read = read(&source, r#"[{"role": "user", "content": "q"}]"#, TOOLS);
    assert_eq!(written(&read.tools), written(&list(TOOLS)));
    assert_eq!(read.exact, Some(true));
    assert!(read.added.iter().all(|added| !added.text.contains("weigh")));
}

/// No character of a render comes from a message that a chat template only marks.
#[test]
fn messages_that_show_nothing_come_back() {
    let source = source(
        "{%- for m in messages %}{% if m.role in ['user', 'assistant', 'system'] %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>\
         {%- else %}<other/>{% endif %}{% endfor -%}\
         {%- if add_generation_prompt %}<assistant>{% endif -%}",
    );
    let messages =
        r#"[{"role": "developer", "content": "hidden"}, {"role": "user", "content": "q"}]"#;
    let read = read(&source, messages, "[]");
    let roles: Vec<_> = read
        .messages
        .iter()
        .filter_map(|one| one.get("role")?.as_str())
        .collect();
    assert_eq!(roles, ["developer", "user"]);
}

/// Results stand within the turn of their calls, and what was said beside the calls behind them.
const WITHIN: &str = "{%- for m in messages %}{% if m.role == 'tool' %}{% elif m.role == 'assistant' %}<a>\
     {%- for call in m.tool_calls or [] %}[call {{ call.function.name }} {{ call.function.arguments | tojson }}]{% endfor %}\
     {%- if m.tool_calls %}{% set all = namespace(over=false) %}{% for other in messages[loop.index:] %}\
     {%- if other.role != 'tool' %}{% set all.over = true %}{% endif %}\
     {%- if not all.over %}[result {{ other.content }}]{% endif %}{% endfor %}{% endif %}\
     {{- m.content or '' }}</a>\
     {%- else %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endif %}{% endfor -%}\
     {%- if add_generation_prompt %}<a>{% endif -%}";

#[test]
fn turns_go_on_behind_the_results_within_them() {
    let messages = r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": "said so",
        "tool_calls": [{"type": "function", "id": "c1", "function": {"name": "weigh", "arguments": {"what": "tin"}}}]},
        {"role": "tool", "name": "weigh", "tool_call_id": "c1", "content": "two pounds"}, {"role": "user", "content": "p"}]"#;
    let read = read(&source(WITHIN), messages, "[]");
    let texts: Vec<_> = read
        .messages
        .iter()
        .filter_map(|one| one.get("content")?.as_str())
        .collect();
    assert_eq!(
        texts,
        ["q", "said so", "two pounds", "p"],
        "{}",
        written(&read.messages)
    );
    assert!(read.messages[1].get("tool_calls").is_some());
}

/// A chat template may leave out what a text has already.
#[test]
fn what_is_written_hangs_on_what_a_text_says() {
    let source = source(
        "{%- for m in messages %}<{{ m.role }}>{{ m.content }}{% if m.role == 'system' and '(be brief)' not in m.content %}\n(be brief){% endif %}</{{ m.role }}>{% endfor -%}\
         {%- if add_generation_prompt %}<assistant>{% endif -%}",
    );
    let messages = r#"[{"role": "system", "content": "no rush\n(be brief)</system>"}, {"role": "user", "content": "q"}]"#;
    let read = read(&source, messages, "[]");
    assert_eq!(written(&read.messages), written(&list(messages)));
}

/// The chat templates that were written to have some that nothing here was made for; they are to be found nowhere else.
fn unseen() -> Vec<(String, ChatTemplateSource)> {
    let files = std::fs::read_dir("tests/library/unseen").expect("the folder");
    let mut found: Vec<(String, ChatTemplateSource)> = files
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let source = chat_template::load(&path).expect("a chat template");
            (path.display().to_string(), source.assuming_tokens())
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

fn all_come_back(unseen: &[(String, ChatTemplateSource)], extent: Extent) {
    assert!(!unseen.is_empty());
    for (name, source) in unseen {
        let report = derived(source, extent).report;
        let counts = report.conversations;
        assert_eq!(
            counts.back, extent.conversations,
            "{name}: {:#?}",
            report.findings
        );
        assert_ne!(report.verdict, Verdict::NotProved, "{name}");
    }
}

#[test]
fn a_chat_template_nobody_has_seen() {
    let all = unseen();
    let lisp = all.into_iter().filter(|(name, _)| name.contains("lisp"));
    all_come_back(
        &lisp.collect::<Vec<_>>(),
        Extent::default().conversations(12).seed(11),
    );
}

#[test]
#[ignore = "half a minute; .ci/run runs it"]
fn chat_templates_nobody_has_seen() {
    all_come_back(&unseen(), Extent::default().conversations(100).seed(5));
}
